#include "layout_internal.h"

uint64_t layout_linear_step(const struct array *array, unsigned dim)
{
    uint64_t step = 1;
    for (unsigned d = array->dim_count - 1; d > dim; d--)
        step *= array->extent[d];
    return step;
}

static struct axis row_axis(const struct mapping *mapping, uint64_t stride, unsigned dim)
{
    const struct array *array = mapping->array;
    unsigned last = array->dim_count - 1;
    uint64_t records = layout_linear_step(array, dim);
    if (mapping->row_bytes != 0 && dim != last)
        return (struct axis){.bytes = records / array->extent[last] * mapping->row_bytes};
    return (struct axis){.bytes = records * stride};
}

static struct axis column_axis(const struct mapping *mapping, uint64_t stride, unsigned dim)
{
    uint64_t records = 1;
    for (unsigned d = 0; d < dim; d++)
        records *= mapping->array->extent[d];
    return (struct axis){.bytes = records * stride};
}

/* A side that holds one record, or the whole extent, is never crossed inside or outside: no division is needed. */
static struct axis tile_axis(const struct mapping *mapping, uint64_t stride, unsigned dim)
{
    const struct array *array = mapping->array;
    const uint64_t *side = mapping->layout.tiled;
    uint64_t inner = stride, outer = stride;
    for (unsigned d = 0; d < array->dim_count; d++)
        outer *= side[d];
    for (unsigned d = dim + 1; d < array->dim_count; d++) {
        inner *= side[d];
        outer *= (array->extent[d] - 1) / side[d] + 1;
    }
    if (side[dim] >= array->extent[dim])
        return (struct axis){.bytes = inner};
    if (side[dim] == 1)
        return (struct axis){.bytes = outer};
    return (struct axis){side[dim], inner, outer};
}

struct axes layout_axes(const struct mapping *mapping, size_t leaf)
{
    const struct placement *place = &mapping->leaves[leaf];
    const struct group *group = &mapping->groups[place->group];
    struct axes axes = {.count = mapping->array->dim_count};
    if (group->tile_records != 0) {
        axes = (struct axes){true, 1, {{group->tile_records, place->stride, group->tile_bytes}}};
        return axes;
    }
    for (unsigned d = 0; d < axes.count; d++) {
        if (mapping->layout.kind == LAYOUT_COLUMN_MAJOR)
            axes.items[d] = column_axis(mapping, place->stride, d);
        else if (mapping->layout.kind == LAYOUT_TILED)
            axes.items[d] = tile_axis(mapping, place->stride, d);
        else
            axes.items[d] = row_axis(mapping, place->stride, d);
    }
    return axes;
}

uint64_t layout_step(const struct mapping *mapping, size_t leaf, unsigned dim)
{
    return layout_axes(mapping, leaf).items[dim].bytes;
}

uint64_t layout_jumps(const struct mapping *mapping, size_t leaf)
{
    return mapping->row_bytes | mapping->groups[mapping->leaves[leaf].group].tile_bytes;
}

uint64_t layout_address(const struct mapping *mapping, size_t leaf, const int64_t index[])
{
    struct axes axes = layout_axes(mapping, leaf);
    uint64_t address = mapping->leaves[leaf].offset, number = 0;
    for (unsigned d = 0; d < mapping->array->dim_count; d++)
        number += (uint64_t)index[d] * layout_linear_step(mapping->array, d);
    for (unsigned a = 0; a < axes.count; a++)
        address += axis_place(&axes.items[a], axes.by_number ? number : (uint64_t)index[a]);
    return address;
}

/* Whether, from `leaf` on, the subscripts from `number` on add the same distances wherever the others stand. */
static bool evenly_spaced(const struct mapping *mapping, const struct selected *selected, size_t number, size_t leaf)
{
    if (number == selected->subscript_count)
        return true;
    const struct placement *leaves = mapping->leaves;
    size_t step = selected->subscripts[number].stride_leaves, first = selected->leaf;
    uint64_t extent = step == 0 ? 1 : selected->subscripts[number].extent;
    for (uint64_t i = 0; i < extent; i++) {
        uint64_t distance = i == 0 ? 0 : i * (leaves[first + step].offset - leaves[first].offset);
        if (leaves[leaf + i * step].offset - leaves[leaf].offset != distance ||
            !evenly_spaced(mapping, selected, number + 1, leaf + i * step))
            return false;
    }
    return true;
}

bool layout_subscript_stride(uint64_t *out, const struct mapping *mapping, const struct selected *selected,
                             const struct subscript *subscript)
{
    const struct placement *leaves = &mapping->leaves[selected->leaf];
    const struct group *group = &mapping->groups[leaves->group];
    const bool as_in_c = subscript->stride_leaves == 0 || group->record_stride != 0;
    if (subscript->extent < 2)
        *out = 0;
    else
        *out = as_in_c ? subscript->stride_bytes : leaves[subscript->stride_leaves].offset - leaves[0].offset;
    return as_in_c || group->tile_records == 0 || evenly_spaced(mapping, selected, 0, selected->leaf);
}

/* Whether all leaves of an element are moved by one distance from each of the `count` elements to the next. */
static bool even_elements(const struct placement *leaves, size_t leaf_count, uint64_t count)
{
    if (count < 2)
        return true;
    size_t step = leaf_count / count;
    uint64_t distance = leaves[step].offset - leaves[0].offset;
    for (size_t i = step; i < leaf_count; i++)
        if (leaves[i].offset - leaves[i - step].offset != distance)
            return false;
    return true;
}

static bool even_fields(const struct mapping *mapping, const struct type *type, uint64_t record_offset)
{
    for (size_t i = 0; i < type->field_count && type->kind == TYPE_STRUCT; i++) {
        const struct field *field = &type->fields[i];
        uint64_t offset = record_offset + field->offset;
        struct member member = layout_member(mapping->array->record, field->name.text, field, field->align, offset);
        const struct placement *leaves = &mapping->leaves[member.leaf];
        bool tiled = mapping->groups[leaves->group].tile_records != 0;
        if (tiled && !even_elements(leaves, member.leaf_count, field->count))
            return false;
        /* Elements that are alike are so inside, too. */
        if (!even_fields(mapping, field->type, offset))
            return false;
    }
    return true;
}

bool layout_arrays_even(const struct mapping *mapping)
{
    return even_fields(mapping, mapping->array->record->type, 0);
}
