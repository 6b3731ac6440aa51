#include <string.h>

#include "view_code_internal.h"

const char *tile_name(const struct code *code, const struct array *array)
{
    return name_fresh(code, arena_printf(code->arena, "%s_tile", array->name.text));
}

static const char *origin_name(const struct code *code, const struct stage *stage, unsigned dim)
{
    return name_fresh(code, stage->dim_count == 1 ? "origin" : arena_printf(code->arena, "origin_%u", dim));
}

/* Where the box begins in a dimension: "std::int64_t(blockIdx.x) * 32 - 1". */
static const char *origin_text(const struct code *code, const struct stage *stage, unsigned dim)
{
    const char *text = "";
    for (unsigned b = 0; b < 3; b++) {
        int64_t step = stage->origin_step[dim][b];
        if (step == 0 || stage->kernel->grid[b] == 1)
            continue;
        text = arena_printf(code->arena, "%s%sstd::int64_t(blockIdx.%c)", text, text[0] == '\0' ? "" : " + ", "xyz"[b]);
        if (step != 1)
            text = arena_printf(code->arena, "%s * %s", text, code_number(code->arena, step));
    }
    if (text[0] == '\0')
        return code_number(code->arena, stage->origin[dim]);
    if (stage->origin[dim] == 0)
        return text;
    return arena_printf(code->arena, "%s + %s", text, code_number(code->arena, stage->origin[dim]));
}

/* Where a record is in the copy, from its first byte; before swizzling. */
static const char *record_text(const struct code *code, const struct stage *stage)
{
    const char *text = "";
    for (unsigned d = 0; d < stage->dim_count; d++)
        text = arena_printf(code->arena, "%s%s(%s - %s) * %llu", text, d == 0 ? "" : " + ", index_name(code, d),
                            origin_name(code, stage, d), (unsigned long long)stage_step(stage, d));
    return text;
}

/* The address of what is at `place` of the copy. */
static const char *place_address(const struct code *code, const struct stage *stage, const char *place)
{
    const char *base = name_fresh(code, "base");
    if (stage->swizzle_unit == 0)
        return arena_printf(code->arena, "%s + %s", base, place);
    return arena_printf(code->arena, "%s + %s(unsigned(%s))", base, name_fresh(code, "swizzled"), place);
}

/* Which words of a record copy-out writes, as a test of `word`; "" where it is all. */
static const char *written_text(const struct code *code, const struct stage *stage, uint64_t record_bytes)
{
    const char *text = "";
    if (stage->copy_out_whole || stage->written == NULL)
        return text;
    const unsigned width = stage->out_word_bytes;
    const uint64_t words = record_bytes / width;
    bool all = true;
    for (uint64_t w = 0; w < words; w++) {
        uint64_t begin = w;
        while (w < words && memchr(stage->written + w * width, 1, width) != NULL)
            w++;
        all = all && w == words && begin == 0;
        if (w == begin)
            continue;
        const char *range =
            begin == 0 ? arena_printf(code->arena, "word < %llu", (unsigned long long)w)
                       : arena_printf(code->arena, w == begin + 1 ? "word == %llu" : "word >= %llu && word < %llu",
                                      (unsigned long long)begin, (unsigned long long)w);
        text = arena_printf(code->arena, text[0] == '\0' ? "%s(%s)" : "%s || (%s)", text, range);
    }
    return all ? "" : text;
}

/* Which record of the box word `w` is in, along the dimension of this rank among the box's, the slowest first: words of
 * a record are faster still. */
static const char *position_text(const struct code *code, const struct stage *stage, unsigned rank)
{
    unsigned dim = stage->order[stage->dim_count - 1 - rank], middle = stage->order[1];
    if (stage->dim_count == 1)
        return arena_printf(code->arena, "from_%u + w / record_words", dim);
    if (rank == stage->dim_count - 1)
        return arena_printf(code->arena, "from_%u + w %% row_words / record_words", dim);
    if (stage->dim_count == 2)
        return arena_printf(code->arena, "from_%u + w / row_words", dim);
    return arena_printf(code->arena,
                        rank == 0 ? "from_%u + w / row_words / count_%u" : "from_%u + w / row_words %% count_%u", dim,
                        middle);
}

static json_t *tile_dim(const struct code *code, const struct stage *stage, unsigned d)
{
    json_t *view = json_object();
    put_number(view, "number", d);
    put_text(view, "origin", origin_name(code, stage, d));
    put_text(view, "origin_value", origin_text(code, stage, d));
    put_text(view, "extent", extent_name(code, stage->array, d));
    put_number(view, "count", stage->extent[d]);
    put_number(view, "stride", stage_step(stage, d));
    return view;
}

/* The dimensions as the box is walked, the slowest first. */
static json_t *tile_dims(const struct code *code, const struct stage *stage)
{
    json_t *list = json_array();
    for (unsigned rank = 0; rank < stage->dim_count; rank++) {
        json_t *view = tile_dim(code, stage, stage->order[stage->dim_count - 1 - rank]);
        put_text(view, "position", position_text(code, stage, rank));
        add(list, view);
    }
    mark_ends(list);
    return list;
}

/* ... and as an index has them. */
static json_t *tile_indices(const struct code *code, const struct stage *stage)
{
    json_t *list = json_array();
    for (unsigned d = 0; d < stage->dim_count; d++)
        add(list, tile_dim(code, stage, d));
    mark_ends(list);
    return list;
}

/* A number that may differ on the way in and out. */
static const char *either_way(const struct code *code, uint64_t in, uint64_t out)
{
    return in == out ? arena_printf(code->arena, "%llu", (unsigned long long)in)
                     : arena_printf(code->arena, "(IN ? %llu : %llu)", (unsigned long long)in, (unsigned long long)out);
}

/* Blocks whose boxes overlap would write one another's records back. */
static bool boxes_are_apart(const struct stage *stage)
{
    for (unsigned b = 0; stage->copy_out && b < 3; b++) {
        bool apart = stage->kernel->grid[b] == 1;
        for (unsigned d = 0; d < stage->dim_count; d++) {
            int64_t step = stage->origin_step[d][b];
            apart = apart || (uint64_t)(step < 0 ? -step : step) >= stage->extent[d];
        }
        if (!apart)
            return false;
    }
    return true;
}

/* Whether a block's box goes past an end of the array, as it is described. */
static bool boxes_are_cut(const struct stage *stage)
{
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t low = stage->origin[d], high = stage->origin[d] + (int64_t)stage->extent[d];
        for (unsigned b = 0; b < 3; b++) {
            int64_t reach = stage->origin_step[d][b] * (int64_t)(stage->kernel->grid[b] - 1);
            low += reach < 0 ? reach : 0;
            high += reach > 0 ? reach : 0;
        }
        if (low < 0 || high > (int64_t)stage->array->extent[d])
            return true;
    }
    return false;
}

const char *no_text(const void *context, const struct access *access, size_t number)
{
    (void)context;
    (void)access;
    (void)number;
    return "0";
}

/* Flags of the accessors through which the kernel gets at the array. */
static const bool *used_accessors(const struct kernel_code *kernel, const struct array_code *array)
{
    const struct code *code = kernel->code;
    bool *used = arena_array(code->arena, array->parts.count + 1, sizeof(*used));
    for (unsigned i = 0; i < kernel->kernel->access_count; i++) {
        const struct access *access = kernel->kernel->accesses[i];
        const struct field_path *path = access->array == array->array ? paths_of(code, access, no_text, NULL) : NULL;
        for (; path != NULL; path = path->next) {
            struct shape shape;
            struct parts parts = array_parts(code, array, path->segments, &shape);
            for (size_t p = 0; p < parts.count; p++) {
                const struct accessor *accessor = find_accessor(array, parts.items[p].key);
                if (accessor->borrowed)
                    accessor = find_accessor(array, accessor->part->vector_key);
                used[accessor - array->accessors] = true;
            }
        }
    }
    return used;
}

json_t *tile_view(const struct kernel_code *kernel, const struct array_code *array, const struct stage *stage)
{
    const struct code *code = kernel->code;
    const struct array *a = array->array;
    if (!boxes_are_apart(stage)) {
        diag_error(code->diags, "not-generated", kernel->kernel->name.where,
                   "blocks of kernel '%s' stage overlapping parts of '%s' and write them back",
                   kernel->kernel->name.text, a->name.text);
        return NULL;
    }
    const uint64_t record_bytes = array->mapping->record_stride;
    json_t *view = json_object();
    put_text(
        view, "type",
        name_fresh(code, arena_printf(code->arena, "%s_%s_tile", code->kernel_names[kernel->number], a->name.text)));
    put_text(view, "object", tile_name(code, a));
    put_text(view, "qualifier", "__device__");
    put_text(view, "array", a->name.text);
    put_text(view, "array_view", array->view_name);
    put(view, "dims", tile_dims(code, stage));
    put(view, "indices", tile_indices(code, stage));
    put_text(view, "word_bytes", either_way(code, stage->word_bytes, stage->out_word_bytes));
    put_text(view, "record_words",
             either_way(code, record_bytes / stage->word_bytes, record_bytes / stage->out_word_bytes));
    put_flag(view, "swizzles", stage->swizzle_unit != 0);
    put_number(view, "swizzle_unit", stage->swizzle_unit);
    put_number(view, "swizzle_line", stage->swizzle_line);
    put_number(view, "swizzle_keys", stage->swizzle_keys);
    put_number(view, "bytes", stage->bytes);
    put_flag(view, "cuts", boxes_are_cut(stage));
    put_flag(view, "copy_in", stage->copy_in);
    put_flag(view, "copy_out", stage->copy_out);
    const char *written = written_text(code, stage, record_bytes);
    put_text(view, "written", written);
    put_flag(view, "writes_some", written[0] != '\0');
    put_number(view, "last_dim", stage->order[0]);
    put_flag(view, "one_dimension", stage->dim_count == 1);
    json_t *accessors = json_array();
    const bool *used = used_accessors(kernel, array);
    for (size_t i = 0; i < array->parts.count; i++) {
        const struct part *part = array->accessors[i].part;
        const char *offset = offset_text(code->arena, stored_offset(array->mapping, part), part, NULL);
        const char *place = arena_printf(code->arena, "%s%s", record_text(code, stage), offset);
        if (used[i])
            add(accessors, accessor_view_at(code, array, &array->accessors[i], place_address(code, stage, place)));
    }
    put(view, "accessors", accessors);
    return view;
}
