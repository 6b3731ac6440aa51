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

const struct group *group_of(const struct mapping *mapping, const struct part *part)
{
    return &mapping->groups[mapping->leaves[part->leaf].group];
}

uint64_t stored_offset(const struct mapping *mapping, const struct part *part)
{
    return mapping->leaves[part->leaf].offset - group_of(mapping, part)->offset + part->inner_offset;
}

/* Whether a power of two can be had by shifts. */
static bool is_power(uint64_t number)
{
    return (number & (number - 1)) == 0;
}

/* "i >> 5" or "i / 12"; `rest`: "i & 31" or "i % 12". */
static const char *divided(struct arena *arena, const char *text, uint64_t by, bool rest)
{
    if (is_power(by))
        return rest ? arena_printf(arena, "(%s & %llu)", text, (unsigned long long)by - 1)
                    : arena_printf(arena, "(%s >> %u)", text, shift_of(by));
    return arena_printf(arena, rest ? "%s %% %llu" : "%s / %llu", text, (unsigned long long)by);
}

/* How many tiles there are along a dimension: "tiles_1". */
static const char *tiles_name(const struct code *code, unsigned dim)
{
    return name_fresh(code, arena_printf(code->arena, "tiles_%u", dim));
}

/* Tile after tile, and record after record inside: "((i >> 3) * tiles_1() + (j >> 5)) * 256 + (i & 7) * 32 + (j & 31)".
 */
static const char *tiled_text(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const uint64_t *side = array->mapping->layout.tiled;
    const char *tile = "", *inside = "";
    uint64_t volume = 1;
    for (unsigned d = 0; d < array->array->dim_count; d++) {
        const char *index = index_name(code, d);
        const char *number = divided(arena, index, side[d], false), *rest = divided(arena, index, side[d], true);
        volume *= side[d];
        tile = d == 0 ? number
                      : arena_printf(arena, d == 1 ? "%s * %s() + %s" : "(%s) * %s() + %s", tile, tiles_name(code, d),
                                     number);
        inside = d == 0 ? rest
                        : arena_printf(arena, d == 1 ? "%s * %llu + %s" : "(%s) * %llu + %s", inside,
                                       (unsigned long long)side[d], rest);
    }
    return arena_printf(arena, "(%s) * %llu + %s", tile, (unsigned long long)volume, inside);
}

/* The first dimension fastest: "i + extent_0 * (j + extent_1 * k)". */
static const char *column_text(const struct code *code, const struct array *array)
{
    const char *text = index_name(code, array->dim_count - 1);
    for (unsigned d = array->dim_count - 1; d-- > 0;)
        text = arena_printf(code->arena, d + 2 == array->dim_count ? "%s + %s * %s" : "%s + %s * (%s)",
                            index_name(code, d), extent_name(code, array, d), text);
    return text;
}

/* The number of a record in the order in which whole records are kept. */
static const char *order_text(const struct code *code, const struct array_code *array)
{
    switch (array->mapping->layout.kind) {
    case LAYOUT_COLUMN_MAJOR:
        return column_text(code, array->array);
    case LAYOUT_TILED:
        return tiled_text(code, array);
    case LAYOUT_AOS:
    case LAYOUT_SOA:
    case LAYOUT_AOSOA:
    case LAYOUT_SPLIT:
    case LAYOUT_ROW_MAJOR:
    case LAYOUT_PITCH:
        break;
    }
    return linear_text(code, array->array, array->array->dim_count);
}

static bool is_only(const struct array_code *array)
{
    return array->mapping->group_count == 1;
}

const char *start_name(const struct code *code, unsigned group)
{
    return name_fresh(code, arena_printf(code->arena, "start_%u", group));
}

/* " + start_1()" where a group is not the first. */
static const char *start_text(const struct code *code, const struct array_code *array, const struct group *group)
{
    unsigned number = (unsigned)(group - array->mapping->groups);
    return number == 0 ? "" : arena_printf(code->arena, " + %s()", start_name(code, number));
}

const char *record_address(const struct code *code, const struct array_code *array, const struct group *group)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    const char *base = arena_printf(arena, "%s%s", name_fresh(code, "base"), start_text(code, array, group));
    const char *stride = is_only(array) ? name_fresh(code, "record_bytes")
                                        : arena_printf(arena, "%llu", (unsigned long long)group->record_stride);
    if (array->mapping->row_bytes == 0 || a->dim_count == 1)
        return arena_printf(arena, "%s + %s", base, times(arena, order_text(code, array), a->dim_count > 1, stride));
    const char *row =
        times(arena, linear_text(code, a, a->dim_count - 1), a->dim_count > 2, name_fresh(code, "row_bytes"));
    return arena_printf(arena, "%s + %s + %s * %s", base, row, index_name(code, a->dim_count - 1), stride);
}

/* " + (3 + q0) * column(4)" for the columns of one size that come before the part's own in its group. */
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
    const char *text =
        arena_printf(arena, "%s%s", name_fresh(code, "base"), start_text(code, array, group_of(array->mapping, part)));
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, part, s));
    struct part inner = *part; /* the loops below a leaf, and those of one trip: their variables are parameters, too */
    size_t below = 0;
    struct part_loop *loops = arena_array(arena, part->loop_count, sizeof(*loops));
    for (size_t i = 0; i < part->loop_count; i++)
        if (part->loops[i].stride_leaves == 0 || part->loops[i].count == 1)
            loops[below++] = part->loops[i];
    for (size_t i = 0; i < below; i++)
        loops[i].stride_bytes = loops[i].count == 1 ? 0 : loops[i].stride_bytes;
    inner.loops = loops;
    inner.loop_count = below;
    const char *linear = linear_text(code, a, a->dim_count);
    const char *size = arena_printf(arena, "%llu", (unsigned long long)a->record->leaves[part->leaf].size);
    return arena_printf(arena, "%s + %s%s", text, times(arena, linear, a->dim_count > 1, size),
                        offset_text(arena, part->inner_offset, &inner, NULL));
}

/* What is said of the tiles of an aosoa: by the name of the view's constant, or by number in one group of several. */
static const char *tile_constant(const struct code *code, const struct array_code *array, const char *name,
                                 uint64_t number)
{
    return is_only(array) ? name_fresh(code, name) : arena_printf(code->arena, "%llu", (unsigned long long)number);
}

static const char *aosoa_address(const struct code *code, const struct array_code *array, const struct part *part)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    const struct group *group = group_of(array->mapping, part);
    const char *record = a->dim_count == 1 ? index_name(code, 0) : name_fresh(code, "record");
    const struct placement *place = &array->mapping->leaves[part->leaf];
    return arena_printf(
        arena, "%s%s + (%s >> %s) * %s%s + (%s & %s) * %llu", name_fresh(code, "base"), start_text(code, array, group),
        record, tile_constant(code, array, "tile_shift", shift_of(group->tile_records)),
        tile_constant(code, array, "tile_bytes", group->tile_bytes),
        offset_text(arena, stored_offset(array->mapping, part), part, array->mapping), record,
        tile_constant(code, array, "tile_mask", group->tile_records - 1), (unsigned long long)place->stride);
}

const char *address_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    const struct group *group = group_of(array->mapping, part);
    if (group->tile_records != 0)
        return aosoa_address(code, array, part);
    if (group->record_stride == 0)
        return soa_address(code, array, part);
    return arena_printf(code->arena, "%s%s", record_address(code, array, group),
                        offset_text(code->arena, stored_offset(array->mapping, part), part, array->mapping));
}

/* Where a leaf is at the described extents, in bytes, for readers: "8388608 + q0 * 4194304 + i * 4". */
const char *place_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    static const char *const names[SPEC_DIMS_MAX] = {"i", "j", "k"};
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct axes axes = layout_axes(mapping, part->leaf);
    const char *text = arena_printf(arena, "%llu%s", (unsigned long long)mapping->leaves[part->leaf].offset,
                                    offset_text(arena, 0, part, mapping));
    for (unsigned d = 0; d < axes.count; d++) {
        const struct axis *axis = &axes.items[d];
        const char *name = axes.by_number && array->array->dim_count > 1 ? "record" : names[d % SPEC_DIMS_MAX];
        if (axis->tile == 0)
            text = arena_printf(arena, "%s + %s * %llu", text, name, (unsigned long long)axis->bytes);
        else
            text = arena_printf(arena, "%s + %s / %llu * %llu + %s %% %llu * %llu", text, name,
                                (unsigned long long)axis->tile, (unsigned long long)axis->tile_bytes, name,
                                (unsigned long long)axis->tile, (unsigned long long)axis->bytes);
    }
    return text;
}

const char *joined_extents(const struct code *code, const struct array *array, unsigned dims, const char *with)
{
    const char *text = extent_name(code, array, 0);
    for (unsigned d = 1; d < dims; d++)
        text = arena_printf(code->arena, "%s%s%s", text, with, extent_name(code, array, d));
    return text;
}

/* The columns of an soa group: all that come before the last, and that. */
static const char *columns_bytes(const struct code *code, const struct array_code *array, const struct group *group)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    size_t last = a->record->leaf_count - 1;
    if (group->member_count > 0) {
        const struct member *member = &group->members[group->member_count - 1];
        last = member->leaf + member->leaf_count - 1;
    }
    const struct part part = {.leaf = last};
    const char *text = "";
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, &part, s));
    text = arena_printf(arena, "%s + %s() * %llu", text, name_fresh(code, "records"),
                        (unsigned long long)a->record->leaves[last].size);
    return text + 3;
}

/* Whole records: with the gaps between rows, or up to whole tiles. */
static const char *whole_bytes(const struct code *code, const struct array_code *array, const struct group *group)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct array *a = array->array;
    const char *stride = is_only(array) ? name_fresh(code, "record_bytes")
                                        : arena_printf(arena, "%llu", (unsigned long long)group->record_stride);
    if (mapping->row_bytes != 0)
        return a->dim_count == 1 ? name_fresh(code, "row_bytes")
                                 : arena_printf(arena, "%s * %s", joined_extents(code, a, a->dim_count - 1, " * "),
                                                name_fresh(code, "row_bytes"));
    if (mapping->layout.kind != LAYOUT_TILED)
        return arena_printf(arena, "%s() * %s", name_fresh(code, "records"), stride);
    uint64_t volume = 1;
    const char *tiles = "";
    for (unsigned d = 0; d < a->dim_count; d++) {
        volume *= mapping->layout.tiled[d];
        tiles = arena_printf(arena, "%s%s() * ", tiles, tiles_name(code, d));
    }
    return arena_printf(arena, "%s%llu * %s", tiles, (unsigned long long)volume, stride);
}

static const char *group_bytes(const struct code *code, const struct array_code *array, const struct group *group)
{
    if (group->tile_records != 0)
        return arena_printf(code->arena, "((%s() + %s) >> %s) * %s", name_fresh(code, "records"),
                            tile_constant(code, array, "tile_mask", group->tile_records - 1),
                            tile_constant(code, array, "tile_shift", shift_of(group->tile_records)),
                            tile_constant(code, array, "tile_bytes", group->tile_bytes));
    return group->record_stride != 0 ? whole_bytes(code, array, group) : columns_bytes(code, array, group);
}

/* The number of bytes that the whole array takes, as a function of its extents. */
const char *bytes_text(const struct code *code, const struct array_code *array)
{
    const struct mapping *mapping = array->mapping;
    const struct group *last = &mapping->groups[mapping->group_count - 1];
    const char *text = group_bytes(code, array, last);
    return is_only(array) ? text
                          : arena_printf(code->arena, "%s%s", start_text(code, array, last) + 3,
                                         arena_printf(code->arena, " + %s", text));
}

static void add_measure(const struct code *code, const struct array_code *array, json_t *list, const char *name,
                        const char *title, const char *value)
{
    json_t *view = json_object();
    put_text(view, "name", name);
    put_text(view, "title", title);
    put_text(view, "value", value);
    put_text(view, "c_name", array->c_name);
    put_text(view, "c_value", c_text(code, array, value));
    add(list, view);
}

/* What addresses are made of besides constants: the numbers of tiles, and where the groups of a split begin. */
json_t *measures_view(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    json_t *list = json_array();
    for (unsigned d = 0; mapping->layout.kind == LAYOUT_TILED && d < array->array->dim_count; d++) {
        uint64_t side = mapping->layout.tiled[d];
        const char *extent = extent_name(code, array->array, d);
        const char *up = arena_printf(arena, "(%s + %llu)", extent, (unsigned long long)side - 1);
        add_measure(code, array, list, tiles_name(code, d),
                    arena_printf(arena, "Tiles of %llu along dimension %u", (unsigned long long)side, d),
                    divided(arena, side == 1 ? extent : up, side, false));
    }
    for (unsigned g = 1; g < mapping->group_count; g++) {
        const struct group *before = &mapping->groups[g - 1];
        const char *end =
            g == 1 ? group_bytes(code, array, before)
                   : arena_printf(arena, "%s() + %s", start_name(code, g - 1), group_bytes(code, array, before));
        const char *align = name_fresh(code, "base_align");
        add_measure(code, array, list, start_name(code, g), arena_printf(arena, "Where group %u begins, in bytes", g),
                    arena_printf(arena, "(%s + %s - 1) & -%s", end, align, align));
    }
    return list;
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
                     {"tile_shift", shift_of(mapping->tile_records)},
                     {"base_align", array->array->align}};
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (strcmp(name, name_fresh(code, constants[i].name)) == 0)
            return arena_printf(arena, "%llu", (unsigned long long)constants[i].number);
    for (unsigned d = 0; d < array->array->dim_count; d++)
        if (strcmp(name, extent_name(code, array->array, d)) == 0)
            return arena_printf(arena, "%s->%s", view, name);
    if (strcmp(name, name_fresh(code, "base")) == 0)
        return arena_printf(arena, "%s->%s", view, name);
    bool function = strcmp(name, name_fresh(code, "records")) == 0 || strcmp(name, name_fresh(code, "column")) == 0;
    for (unsigned d = 0; d < array->array->dim_count; d++)
        function = function || strcmp(name, tiles_name(code, d)) == 0;
    for (unsigned g = 1; g < mapping->group_count; g++)
        function = function || strcmp(name, start_name(code, g)) == 0;
    return function ? arena_printf(arena, "%s_%s", array->c_name, name) : NULL;
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
