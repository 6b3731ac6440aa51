#include <string.h>

#include "text.h"
#include "view_code_internal.h"

const char *index_name(const struct code *code, unsigned dim)
{
    static const char *const names[SPEC_DIMS_MAX] = {"i", "j", "k"};
    return name_in_view(code, names[dim % SPEC_DIMS_MAX]);
}

const char *extent_name(const struct code *code, const struct array *array, unsigned dim)
{
    return name_fresh(code, array->dim_count == 1 ? "extent" : arena_printf(code->arena, "extent_%u", dim));
}

/* The number of a record, the last dimension fastest: "(i * extent_1 + j) * extent_2 + k". */
const char *linear_text(const struct code *code, const struct array *array, unsigned dims)
{
    const char *text = index_name(code, 0);
    for (unsigned d = 1; d < dims; d++)
        text = arena_printf(code->arena, d == 1 ? "%s * %s + %s" : "(%s) * %s + %s", text, extent_name(code, array, d),
                            index_name(code, d));
    return text;
}

static const char *times(struct arena *arena, const char *text, bool sum, const char *factor)
{
    return arena_printf(arena, sum ? "(%s) * %s" : "%s * %s", text, factor);
}

/* "12 + q0 * 4" */
const char *offset_text(struct arena *arena, uint64_t offset, const struct part *part, const struct mapping *mapping)
{
    const char *text = offset == 0 ? "" : arena_printf(arena, " + %llu", (unsigned long long)offset);
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t stride = mapping == NULL ? loop->stride_bytes : loop_stride(mapping, part, loop);
        text = arena_printf(arena, stride == 1 ? "%s + %s" : "%s + %s * %llu", text, loop->variable,
                            (unsigned long long)stride);
    }
    return text;
}

const char *part_offset_text(struct arena *arena, const struct part *part)
{
    const char *text = offset_text(arena, part->offset, part, NULL);
    return text[0] == '\0' ? "0" : text + 3;
}

const char *record_address(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    bool rows = array->mapping->row_bytes != 0 && a->dim_count > 1;
    const char *base = name_fresh(code, "base"), *stride = name_fresh(code, "record_bytes");
    if (!rows)
        return arena_printf(arena, "%s + %s", base,
                            times(arena, linear_text(code, a, a->dim_count), a->dim_count > 1, stride));
    const char *row =
        times(arena, linear_text(code, a, a->dim_count - 1), a->dim_count > 2, name_fresh(code, "row_bytes"));
    return arena_printf(arena, "%s + %s + %s * %s", base, row, index_name(code, a->dim_count - 1), stride);
}

/* " + (3 + q0) * column(4)" for the columns of one size that come before the part's own. */
static const char *columns_before(const struct code *code, const struct array_code *array, const struct part *part,
                                  size_t s)
{
    struct arena *arena = code->arena;
    const uint32_t *before = array->before[s];
    uint64_t fixed = before[part->leaf];
    const char *text = fixed == 0 ? "" : arena_printf(arena, "%llu", (unsigned long long)fixed);
    unsigned terms = fixed != 0;
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t step = loop->count > 1 ? before[part->leaf + loop->stride_leaves] - before[part->leaf] : 0;
        if (step == 0)
            continue;
        const char *term =
            step == 1 ? loop->variable : arena_printf(arena, "%s * %llu", loop->variable, (unsigned long long)step);
        text = terms++ == 0 ? term : arena_printf(arena, "%s + %s", text, term);
    }
    if (terms == 0)
        return "";
    return arena_printf(arena, terms == 1 ? " + %s * %s(%llu)" : " + (%s) * %s(%llu)", text, name_fresh(code, "column"),
                        (unsigned long long)array->sizes[s]);
}

static const char *soa_address(const struct code *code, const struct array_code *array, const struct part *part)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    const char *text = name_fresh(code, "base");
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, part, s));
    struct part inner = *part; /* the loops below a leaf */
    size_t below = 0;
    struct part_loop *loops = arena_array(arena, part->loop_count, sizeof(*loops));
    for (size_t i = 0; i < part->loop_count; i++)
        if (part->loops[i].stride_leaves == 0)
            loops[below++] = part->loops[i];
    inner.loops = loops;
    inner.loop_count = below;
    const char *linear = linear_text(code, a, a->dim_count);
    const char *size = arena_printf(arena, "%llu", (unsigned long long)a->record->leaves[part->leaf].size);
    return arena_printf(arena, "%s + %s%s", text, times(arena, linear, a->dim_count > 1, size),
                        offset_text(arena, part->inner_offset, &inner, NULL));
}

static const char *aosoa_address(const struct code *code, const struct array_code *array, const struct part *part)
{
    const struct array *a = array->array;
    const char *record = a->dim_count == 1 ? index_name(code, 0) : name_fresh(code, "record");
    const struct placement *place = &array->mapping->leaves[part->leaf];
    return arena_printf(code->arena, "%s + (%s >> %s) * %s%s + (%s & %s) * %llu", name_fresh(code, "base"), record,
                        name_fresh(code, "tile_shift"), name_fresh(code, "tile_bytes"),
                        offset_text(code->arena, place->offset + part->inner_offset, part, array->mapping), record,
                        name_fresh(code, "tile_mask"), (unsigned long long)place->stride);
}

const char *address_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    if (array->mapping->tile_records != 0)
        return aosoa_address(code, array, part);
    if (array->mapping->record_stride == 0)
        return soa_address(code, array, part);
    return arena_printf(code->arena, "%s%s", record_address(code, array),
                        offset_text(code->arena, part->offset, part, array->mapping));
}

/* Where a leaf is at the described extents, in bytes, for readers: "8388608 + q0 * 4194304 + i * 4". */
const char *place_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    static const char *const names[SPEC_DIMS_MAX] = {"i", "j", "k"};
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct placement *place = &mapping->leaves[part->leaf];
    const char *text =
        arena_printf(arena, "%llu%s", (unsigned long long)place->offset, offset_text(arena, 0, part, mapping));
    if (mapping->tile_records != 0) {
        const char *record = array->array->dim_count == 1 ? "i" : "record";
        return arena_printf(arena, "%s + %s / %llu * %llu + %s %% %llu * %llu", text, record,
                            (unsigned long long)mapping->tile_records, (unsigned long long)mapping->tile_bytes, record,
                            (unsigned long long)mapping->tile_records, (unsigned long long)place->stride);
    }
    for (unsigned d = 0; d < array->array->dim_count; d++)
        text = arena_printf(arena, "%s + %s * %llu", text, names[d % SPEC_DIMS_MAX],
                            (unsigned long long)layout_step(mapping, part->leaf, d));
    return text;
}

const char *joined_extents(const struct code *code, const struct array *array, unsigned dims, const char *with)
{
    const char *text = extent_name(code, array, 0);
    for (unsigned d = 1; d < dims; d++)
        text = arena_printf(code->arena, "%s%s%s", text, with, extent_name(code, array, d));
    return text;
}

/* The number of bytes that the whole array takes, as a function of its extents. */
const char *bytes_text(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct array *a = array->array;
    const char *records = arena_printf(arena, "%s()", name_fresh(code, "records"));
    if (mapping->tile_records != 0)
        return arena_printf(arena, "((%s + %s) >> %s) * %s", records, name_fresh(code, "tile_mask"),
                            name_fresh(code, "tile_shift"), name_fresh(code, "tile_bytes"));
    if (mapping->record_stride != 0 && mapping->row_bytes != 0)
        return a->dim_count == 1 ? name_fresh(code, "row_bytes")
                                 : arena_printf(arena, "%s * %s", joined_extents(code, a, a->dim_count - 1, " * "),
                                                name_fresh(code, "row_bytes"));
    if (mapping->record_stride != 0)
        return arena_printf(arena, "%s * %s", records, name_fresh(code, "record_bytes"));
    size_t last = a->record->leaf_count - 1;
    const struct part part = {.leaf = last};
    const char *text = "";
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, &part, s));
    text = arena_printf(arena, "%s + %s * %llu", text, records, (unsigned long long)a->record->leaves[last].size);
    return text + 3;
}

unsigned shift_of(uint64_t power)
{
    unsigned shift = 0;
    while (power >> shift > 1)
        shift++;
    return shift;
}

/* What a member of the view is called in C; NULL where it is none: an index or a number. */
static const char *c_member(const struct code *code, const struct array_code *array, const char *name)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const char *view = name_fresh(code, "view");
    const struct {
        const char *name;
        uint64_t number;
    } constants[] = {{"record_bytes", mapping->record_stride},
                     {"row_bytes", mapping->row_bytes},
                     {"tile_bytes", mapping->tile_bytes},
                     {"tile_mask", mapping->tile_records - 1},
                     {"tile_shift", shift_of(mapping->tile_records)}};
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (strcmp(name, name_fresh(code, constants[i].name)) == 0)
            return arena_printf(arena, "%llu", (unsigned long long)constants[i].number);
    for (unsigned d = 0; d < array->array->dim_count; d++)
        if (strcmp(name, extent_name(code, array->array, d)) == 0)
            return arena_printf(arena, "%s->%s", view, name);
    if (strcmp(name, name_fresh(code, "base")) == 0)
        return arena_printf(arena, "%s->%s", view, name);
    if (strcmp(name, name_fresh(code, "records")) == 0 || strcmp(name, name_fresh(code, "column")) == 0)
        return arena_printf(arena, "%s_%s", array->c_name, name);
    return NULL;
}

/* C++ of a view's member functions as C functions have it: members through a pointer, types without std. */
const char *c_text(const struct code *code, const struct array_code *array, const char *text)
{
    struct text out = {0};
    while (*text != '\0') {
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        const char *word = arena_copy(code->arena, text, length);
        const char *member = length > 0 ? c_member(code, array, word) : NULL;
        text += length;
        if (strcmp(word, "std") == 0 && strncmp(text, "::", 2) == 0) {
            text += 2;
            continue;
        }
        text_puts(&out, member != NULL ? member : word);
        if (member != NULL && *text == '(') {
            text_printf(&out, "(%s%s", name_fresh(code, "view"), text[1] == ')' ? "" : ", ");
            text++;
        } else if (length == 0) {
            text_putc(&out, *text++);
        }
    }
    const char *result = arena_copy(code->arena, text_string(&out), out.length);
    text_free(&out);
    return result;
}
