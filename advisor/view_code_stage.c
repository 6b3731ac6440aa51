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

static uint64_t tile_stride(const struct stage *stage, unsigned dim)
{
    unsigned from_last = stage->dim_count - 1 - dim;
    return from_last == 0 ? stage->record_bytes : from_last == 1 ? stage->row_bytes : stage->plane_bytes;
}

static const char *record_text(const struct code *code, const struct stage *stage)
{
    const char *text = name_fresh(code, "base");
    for (unsigned d = 0; d < stage->dim_count; d++)
        text = arena_printf(code->arena, "%s + (%s - %s) * %llu", text, index_name(code, d),
                            origin_name(code, stage, d), (unsigned long long)tile_stride(stage, d));
    return text;
}

/* Which words of a record copy-out writes, as a test of `word`; "" where it is all. */
static const char *written_text(const struct code *code, const struct stage *stage, uint64_t words)
{
    const char *text = "";
    if (stage->copy_out_whole || stage->written == NULL)
        return text;
    const unsigned width = stage->word_bytes;
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

/* Which record of the box word `w` is in: the last dimension is fastest, words of a record are faster still. */
static const char *position_text(const struct code *code, unsigned dim_count, unsigned dim)
{
    static const char *const texts[SPEC_DIMS_MAX][SPEC_DIMS_MAX] = {
        {"w / record_words", "", ""},
        {"w / row_words", "w % row_words / record_words", ""},
        {"w / row_words / count_1", "w / row_words % count_1", "w % row_words / record_words"},
    };
    return arena_printf(code->arena, "from_%u + %s", dim, texts[(dim_count - 1) % SPEC_DIMS_MAX][dim % SPEC_DIMS_MAX]);
}

static json_t *tile_dims(const struct code *code, const struct stage *stage)
{
    json_t *list = json_array();
    for (unsigned d = 0; d < stage->dim_count; d++) {
        json_t *view = json_object();
        put_number(view, "number", d);
        put_text(view, "origin", origin_name(code, stage, d));
        put_text(view, "origin_value", origin_text(code, stage, d));
        put_text(view, "extent", extent_name(code, stage->array, d));
        put_number(view, "count", stage->extent[d]);
        put_text(view, "index", index_name(code, d));
        put_number(view, "stride", tile_stride(stage, d));
        put_text(view, "position", position_text(code, stage->dim_count, d));
        add(list, view);
    }
    mark_ends(list);
    return list;
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

static const char *no_text(const void *context, const struct access *access, size_t number)
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
    uint64_t record_words = array->mapping->record_stride / stage->word_bytes;
    json_t *view = json_object();
    put_text(
        view, "type",
        name_fresh(code, arena_printf(code->arena, "%s_%s_tile", code->kernel_names[kernel->number], a->name.text)));
    put_text(view, "object", tile_name(code, a));
    put_text(view, "qualifier", "__device__");
    put_text(view, "array", a->name.text);
    put_text(view, "array_view", array->view_name);
    put(view, "dims", tile_dims(code, stage));
    put_number(view, "word_bytes", stage->word_bytes);
    put_number(view, "record_words", record_words);
    put_number(view, "bytes", stage->bytes);
    put_flag(view, "copy_in", stage->copy_in);
    put_flag(view, "copy_out", stage->copy_out);
    const char *written = written_text(code, stage, record_words);
    put_text(view, "written", written);
    put_flag(view, "writes_some", written[0] != '\0');
    put_number(view, "last_dim", stage->dim_count - 1);
    put_flag(view, "one_dimension", stage->dim_count == 1);
    json_t *accessors = json_array();
    const bool *used = used_accessors(kernel, array);
    for (size_t i = 0; i < array->parts.count; i++)
        if (used[i])
            add(accessors, accessor_view_at(code, array, &array->accessors[i], record_text(code, stage)));
    put(view, "accessors", accessors);
    return view;
}
