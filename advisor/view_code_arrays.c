#include <string.h>

#include "text.h"
#include "view_code_internal.h"

static const char *parameters_text(const struct code *code, const struct array *array, const struct part *part,
                                   bool typed)
{
    const char *type = typed ? "std::int64_t " : "";
    const char *text = arena_printf(code->arena, "%s%s", type, index_name(code, 0));
    for (unsigned d = 1; d < array->dim_count; d++)
        text = arena_printf(code->arena, "%s, %s%s", text, type, index_name(code, d));
    for (size_t i = 0; part != NULL && i < part->loop_count; i++)
        text = arena_printf(code->arena, "%s, %s%s", text, type, part->loops[i].variable);
    return text;
}

/* A path as the description writes it, its subscripts their extents: "box.lo[3]". */
static const char *part_title(const struct code *code, const struct part *part)
{
    struct text title = {0};
    const char *at = part->member[0] == '.' ? part->member + 1 : part->member;
    size_t loop = 0;
    while (*at != '\0') {
        text_putc(&title, *at);
        if (*at++ != '[' || (*at >= '0' && *at <= '9'))
            continue;
        text_printf(&title, "%llu", (unsigned long long)part->loops[loop++].count);
        at += strcspn(at, "]");
    }
    const char *result = arena_copy(code->arena, text_string(&title), title.length);
    text_free(&title);
    return result[0] == '\0' ? "The record itself" : result;
}

void put_accessor_names(const struct code *code, const struct accessor *accessor, json_t *view)
{
    put_text(view, "suffix", accessor->suffix);
    put_text(view, "getter", name_fresh(code, arena_printf(code->arena, "get_%s", accessor->name)));
    put_text(view, "setter", name_fresh(code, arena_printf(code->arena, "set_%s", accessor->name)));
    put_text(view, "address_function", name_fresh(code, arena_printf(code->arena, "address_%s", accessor->name)));
}

static json_t *accessor_view(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                             const char *address, bool needs_record)
{
    const struct part *part = accessor->part;
    json_t *view = json_object();
    put_text(view, "name", accessor->name);
    put_text(view, "type", type_text(code, part->type));
    put_text(view, "c_type", type_text_c(code, part->type));
    put_text(view, "title", part_title(code, part));
    put_text(view, "parameters", parameters_text(code, array->array, part, true));
    put_text(view, "arguments", parameters_text(code, array->array, part, false));
    put_text(view, "c_name", accessor->c_name);
    put_text(view, "array_c_name", array->c_name);
    put_text(view, "c_parameters", c_text(code, array, parameters_text(code, array->array, part, true)));
    put_text(view, "c_address", c_text(code, array, address));
    put_text(view, "address", address);
    put_flag(view, "needs_record", needs_record);
    put_accessor_names(code, accessor, view);
    put_flag(view, "reference", accessor->piece == 0);
    put_number(view, "piece", accessor->piece);
    return view;
}

json_t *accessor_view_at(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                         const char *address)
{
    return accessor_view(code, array, accessor, address, false);
}

/* Whether C's record has a part where it is not aligned as its type is, which C++ would take for granted: in a packed
 * struct. */
bool is_loose(const struct array *array, const struct part *part)
{
    uint64_t all = part->offset | array->record->type->align;
    for (size_t i = 0; i < part->loop_count; i++)
        all |= part->loops[i].stride_bytes;
    return (all & (~all + 1)) < part->type->align;
}

/* A leaf on its way between a C record and its place in the array. */
json_t *leaf_view(const struct code *code, const struct array_code *array, const struct part *part)
{
    const struct accessor *accessor = find_accessor(array, part->key);
    json_t *view = json_object();
    put(view, "loops", loops_view(code, part));
    put_text(view, "indent", indent_text(code->arena, loops_open(part)));
    put_text(view, "member", part->member);
    put_text(view, "type", type_text(code, part->type));
    put_text(view, "accessor", accessor->name);
    put_accessor_names(code, accessor, view);
    put_text(view, "arguments", parameters_text(code, array->array, part, false));
    put_text(view, "offset", part_offset_text(code->arena, part));
    put_flag(view, "reference", accessor->piece == 0);
    put_flag(view, "loose", is_loose(array->array, part));
    return view;
}

static const char *padded(struct arena *arena, const char *text, size_t width)
{
    return arena_printf(arena, "%-*s", (int)width, text);
}

/* The rows of the map of an array: field, type, place in C's record, place in the array. */
static json_t *map_view(const struct code *code, const struct array_code *array)
{
    const struct parts *leaves = &array->leaves;
    size_t widths[3] = {5, 4, 10};
    const char *(*cells)[4] = arena_array(code->arena, leaves->count, sizeof(*cells));
    for (size_t i = 0; i < leaves->count; i++) {
        const struct part *part = &leaves->items[i];
        const char *member = part->member[0] == '.' ? part->member + 1 : part->member;
        cells[i][0] = member[0] == '\0' ? "(record)" : member;
        cells[i][1] = part->type->name.text;
        cells[i][2] = part_offset_text(code->arena, part);
        cells[i][3] = place_text(code, array, part);
        for (size_t c = 0; c < 3; c++)
            if (strlen(cells[i][c]) > widths[c])
                widths[c] = strlen(cells[i][c]);
    }
    json_t *rows = json_array();
    const char *format = "%s  %s  %s  %s";
    add(rows, json_string(arena_printf(code->arena, format, padded(code->arena, "field", widths[0]),
                                       padded(code->arena, "type", widths[1]),
                                       padded(code->arena, "C's record", widths[2]), "here, in bytes")));
    for (size_t i = 0; i < leaves->count; i++)
        add(rows, json_string(arena_printf(code->arena, format, padded(code->arena, cells[i][0], widths[0]),
                                           padded(code->arena, cells[i][1], widths[1]),
                                           padded(code->arena, cells[i][2], widths[2]), cells[i][3])));
    return rows;
}

/* An index of the record that has the number `record`: "record / view.extent_1". */
static const char *split_text(const struct code *code, const struct array *array, unsigned dim)
{
    struct arena *arena = code->arena;
    const char *text = name_fresh(code, "record"), *view = name_fresh(code, "view");
    for (unsigned d = array->dim_count - 1; d > dim; d--)
        text = arena_printf(arena, "%s / %s.%s", text, view, extent_name(code, array, d));
    return dim == 0 ? text : arena_printf(arena, "%s %% %s.%s", text, view, extent_name(code, array, dim));
}

static const char *split_all(const struct code *code, const struct array *array)
{
    const char *text = split_text(code, array, 0);
    for (unsigned d = 1; d < array->dim_count; d++)
        text = arena_printf(code->arena, "%s, %s", text, split_text(code, array, d));
    return text;
}

/* What an access to the array takes of its leaves: members of unions, components of vectors, so many `bytes`. */
static uint64_t places_within_leaves(const struct access *access)
{
    uint64_t all = access->bytes;
    for (size_t i = 0; i < access->selected_count; i++) {
        const struct selected *selected = &access->selected[i];
        all |= selected->inner_offset | selected->size;
        for (size_t k = 0; k < selected->subscript_count; k++)
            all |= selected->subscripts[k].stride_leaves == 0 ? selected->subscripts[k].stride_bytes : 0;
    }
    return all;
}

/* The largest power of two (16 at most) that divides the places and sizes of the record, its leaves, and what is
 * accessed of them. */
uint64_t array_granule(const struct code *code, const struct array *array)
{
    const struct record *record = array->record;
    uint64_t all = VECTOR_BYTES_MAX | record->type->size;
    for (size_t i = 0; i < record->leaf_count; i++)
        all |= record->leaves[i].offset | record->leaves[i].size;
    for (const struct kernel *kernel = code->spec->kernels; kernel != NULL; kernel = kernel->next)
        for (unsigned i = 0; i < kernel->access_count; i++)
            if (kernel->accesses[i]->array == array)
                all |= places_within_leaves(kernel->accesses[i]);
    return all & (~all + 1);
}

/* Where accessors must lead by the mapping that was counted: at the first, a middle and the last record. */
static void add_sample(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                       unsigned quarter, json_t *list)
{
    const struct part *part = accessor->part;
    const struct array *a = array->array;
    int64_t index[SPEC_DIMS_MAX];
    const char *arguments = "";
    for (unsigned d = 0; d < a->dim_count; d++) {
        index[d] = (int64_t)((a->extent[d] - 1) / 2 * quarter);
        index[d] = quarter == 2 ? (int64_t)a->extent[d] - 1 : index[d];
        arguments = arena_printf(code->arena, "%s%s%lld", arguments, d == 0 ? "" : ", ", (long long)index[d]);
    }
    size_t leaf = part->leaf;
    uint64_t inner = part->inner_offset;
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t q = quarter == 0 ? 0 : loop->count - 1;
        leaf += (size_t)q * loop->stride_leaves;
        inner += loop->stride_leaves == 0 ? q * loop->stride_bytes : 0;
        arguments = arena_printf(code->arena, "%s, %llu", arguments, (unsigned long long)q);
    }
    json_t *view = json_object();
    put_text(view, "accessor", accessor->name);
    put_accessor_names(code, accessor, view);
    put_flag(view, "reference", accessor->piece == 0);
    put_text(view, "arguments", arguments);
    put_number(view, "place", layout_address(array->mapping, leaf, index) + inner);
    add(list, view);
}

static json_t *samples_view(const struct code *code, const struct array_code *array)
{
    enum { MOST = 64, QUARTERS = 3 };
    json_t *list = json_array();
    for (size_t i = 0; i < array->parts.count && i < MOST; i++)
        for (unsigned quarter = 0; quarter < QUARTERS && !array->accessors[i].borrowed; quarter++)
            add_sample(code, array, &array->accessors[i], quarter, list);
    return list;
}

/* Other extents to check a view with: odd, and within the described ones, for which the pitch is. */
static uint64_t odd_extent(const struct array *array, unsigned dim)
{
    static const uint64_t odd[SPEC_DIMS_MAX] = {1037, 37, 5};
    uint64_t wanted = odd[array->dim_count == 1 ? 0 : array->dim_count - dim - 1 + (array->dim_count == 2)];
    return wanted < array->extent[dim] ? wanted : array->extent[dim];
}

static json_t *extents_view(const struct code *code, const struct array *array)
{
    const struct expr_scope scope = {.code = code};
    json_t *extents = json_array();
    for (unsigned d = 0; d < array->dim_count; d++) {
        json_t *extent = json_object();
        put_text(extent, "name", extent_name(code, array, d));
        put_text(extent, "value", code_expr(&scope, array->extent_exprs[d]));
        put_number(extent, "number", array->extent[d]);
        put_number(extent, "odd", odd_extent(array, d));
        put_number(extent, "dim", d);
        put_text(extent, "index", index_name(code, d));
        put_text(extent, "split", split_text(code, array, d));
        put_text(extent, "indent", indent_text(code->arena, d));
        add(extents, extent);
    }
    mark_ends(extents);
    return extents;
}

const char *address_name(const struct code *code, const struct array_code *array, const struct group *group)
{
    if (array->mapping->group_count == 1)
        return name_fresh(code, "address");
    return name_fresh(code, arena_printf(code->arena, "address_%u", (unsigned)(group - array->mapping->groups)));
}

/* The groups that keep records whole: [{"address", "record_address"}...]. */
static json_t *wholes_view(const struct code *code, const struct array_code *array)
{
    json_t *list = json_array();
    for (unsigned g = 0; g < array->mapping->group_count; g++) {
        const struct group *group = &array->mapping->groups[g];
        if (group->record_stride == 0)
            continue;
        json_t *view = json_object();
        put_text(view, "address", address_name(code, array, group));
        put_text(view, "record_address", record_address(code, array, group));
        add(list, view);
    }
    return list;
}

/* Whether each index adds the same with every step, wherever the others stand. */
static bool is_affine(const struct mapping *mapping)
{
    bool affine = true;
    for (size_t leaf = 0; leaf < mapping->array->record->leaf_count; leaf++) {
        const struct axes axes = layout_axes(mapping, leaf);
        for (unsigned i = 0; i < axes.count; i++)
            affine = affine && axes.items[i].tile == 0;
    }
    return affine;
}

static void put_mapping(const struct code *code, const struct array_code *array, json_t *view)
{
    const struct mapping *mapping = array->mapping;
    put_flag(view, "affine", is_affine(mapping));
    put_flag(view, "whole", mapping->record_stride != 0);
    put_flag(view, "columns", has_columns(mapping));
    put_flag(view, "tiles", mapping->tile_records != 0);
    put_flag(view, "rows", mapping->row_bytes != 0);
    put_number(view, "row_bytes", mapping->row_bytes);
    put_number(view, "record_bytes", mapping->record_stride);
    put_number(view, "tile_records", mapping->tile_records);
    put_number(view, "tile_shift", shift_of(mapping->tile_records));
    put_number(view, "tile_bytes", mapping->tile_bytes);
    put_number(view, "storage_bytes", mapping->bytes);
    put_text(view, "bytes", bytes_text(code, array));
    /* Dense records in C's own form: a conversion is a copy. */
    put_flag(view, "is_plain", layout_is_described(mapping) && mapping->row_bytes == 0);
    put(view, "wholes", wholes_view(code, array));
    put(view, "measures", measures_view(code, array));
}

/* Whether an address is made of the record's number in more than one place. */
static bool needs_record(const struct array_code *array, const struct part *part)
{
    return group_of(array->mapping, part)->tile_records != 0 && array->array->dim_count > 1;
}

static json_t *array_view(const struct code *code, const struct array_code *array)
{
    const struct array *a = array->array;
    json_t *view = json_object();
    put_text(view, "name", a->name.text);
    put_text(view, "view", array->view_name);
    put_text(view, "c_name", array->c_name);
    put_text(view, "c_linear", c_text(code, array, linear_text(code, a, a->dim_count)));
    put_text(view, "c_records", c_text(code, array, joined_extents(code, a, a->dim_count, " * ")));
    put_text(view, "c_bytes", c_text(code, array, bytes_text(code, array)));
    put_text(view, "record", type_text(code, a->record->type));
    put_text(view, "c_record", type_text_c(code, a->record->type));
    put_text(view, "record_title", a->record->type->name.text);
    put_text(view, "candidate", array->option->candidate.text);
    put_text(view, "layout", notation_layout(code->arena, &array->option->candidate.layout));
    put_flag(view, "shared", a->space == SPACE_SHARED);
    put_flag(view, "global", a->space == SPACE_GLOBAL);
    put_number(view, "align", a->align);
    put_number(view, "offset", a->offset);
    put_number(view, "record_count", a->records);
    put_number(view, "record_size", a->record->type->size);
    put_flag(view, "one_dimension", a->dim_count == 1);
    put_text(view, "records", joined_extents(code, a, a->dim_count, " * "));
    put_text(view, "parameters", parameters_text(code, a, NULL, true));
    put_text(view, "arguments", parameters_text(code, a, NULL, false));
    put_text(view, "const_view", array->const_view_name);
    put_text(view, "fields", array->fields_name);
    put_text(view, "qualifier", "SECTORWISE_HD");
    put_text(view, "split", split_all(code, a));
    put_number(view, "granule", array_granule(code, a));
    put(view, "samples", samples_view(code, array));
    put_text(view, "check_function", name_fresh(code, arena_printf(code->arena, "check_array_%s", a->name.text)));
    put_text(view, "linear", linear_text(code, a, a->dim_count));
    put(view, "extents", extents_view(code, a));
    put(view, "map", map_view(code, array));
    put_mapping(code, array, view);
    put_conversion(array, view);
    put_exchange(code, array, view);
    bool converts = a->space == SPACE_GLOBAL && !json_is_true(json_object_get(view, "is_plain"));
    put_flag(view, "converts_rows", converts && json_is_true(json_object_get(view, "through_rows")));
    put_flag(view, "converts_shared", converts && json_is_true(json_object_get(view, "through_shared")));
    json_t *accessors = json_array(), *leaves = json_array();
    for (size_t i = 0; i < array->parts.count; i++)
        if (!array->accessors[i].borrowed)
            add(accessors,
                accessor_view(code, array, &array->accessors[i], address_text(code, array, array->accessors[i].part),
                              needs_record(array, array->accessors[i].part)));
    for (size_t i = 0; i < array->leaves.count; i++)
        add(leaves, leaf_view(code, array, &array->leaves.items[i]));
    put(view, "accessors", accessors);
    put(view, "leaves", leaves);
    return view;
}

json_t *arrays_view(const struct code *code)
{
    json_t *list = json_array();
    for (size_t i = 0; i < code->spec->array_count; i++)
        add(list, array_view(code, &code->arrays[i]));
    mark_ends(list);
    return list;
}
