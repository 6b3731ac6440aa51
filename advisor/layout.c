#include "layout.h"

#include <string.h>

#include "checked.h"

/* Storage stays below 2^47 bytes, the reach of a GPU's virtual addresses; all later products of places fit with it. */
static const uint64_t STORAGE_BYTES_MAX = UINT64_C(1) << 47;

static bool fits(uint64_t *out, uint64_t count, uint64_t bytes, const char **reason)
{
    if (checked_mul_u64(out, count, bytes) && *out <= STORAGE_BYTES_MAX)
        return true;
    *reason = "it would need more than 2^47 bytes";
    return false;
}

/* Records kept whole, `stride` bytes apart, rows perhaps further. */
static bool map_whole(struct mapping *mapping, uint64_t stride, const char **reason)
{
    const struct array *array = mapping->array;
    for (size_t i = 0; i < array->record->leaf_count; i++)
        mapping->leaves[i] = (struct placement){array->record->leaves[i].offset, stride};
    mapping->record_stride = stride;
    mapping->row_bytes = array->pitch;
    uint64_t row_records = array->extent[array->dim_count - 1];
    if (array->pitch == 0)
        return fits(&mapping->bytes, array->records, stride, reason);
    uint64_t row;
    if (!fits(&row, row_records, stride, reason))
        return false;
    if (row > array->pitch) {
        *reason = "a row of such records is longer than the array's pitch";
        return false;
    }
    return fits(&mapping->bytes, array->records / row_records, array->pitch, reason);
}

static bool map_aos(struct mapping *mapping, struct arena *arena, const char **reason)
{
    const struct type *type = mapping->array->record->type;
    uint64_t stride = type->size;
    if (mapping->layout.align != 0) {
        if (mapping->layout.align <= type->align) {
            *reason = arena_printf(arena, "records are aligned to %llu bytes already", (unsigned long long)type->align);
            return false;
        }
        (void)checked_round_up_u64(&stride, type->size, mapping->layout.align);
    }
    return map_whole(mapping, stride, reason);
}

/* Layouts that take records apart keep no rows of whole records, so a pitch in bytes has no meaning for them. */
static bool refuse_pitch(const struct mapping *mapping, const char **reason)
{
    if (mapping->array->pitch == 0)
        return false;
    *reason = "the array has a pitch, which keeps rows of whole records";
    return true;
}

static bool map_soa(struct mapping *mapping, const char **reason)
{
    const struct array *array = mapping->array;
    if (refuse_pitch(mapping, reason))
        return false;
    uint64_t cursor = 0;
    for (size_t i = 0; i < array->record->leaf_count; i++) {
        const struct leaf *leaf = &array->record->leaves[i];
        uint64_t bytes;
        if (!fits(&bytes, array->records, leaf->size, reason) || !checked_round_up_u64(&cursor, cursor, array->align))
            return false;
        mapping->leaves[i] = (struct placement){cursor, leaf->size};
        if (!fits(&cursor, 1, cursor + bytes, reason))
            return false;
    }
    mapping->bytes = cursor;
    return true;
}

static bool map_aosoa(struct mapping *mapping, const char **reason)
{
    const struct array *array = mapping->array;
    if (refuse_pitch(mapping, reason))
        return false;
    uint64_t tile = mapping->layout.tile, cursor = 0, widest = 1;
    for (size_t i = 0; i < array->record->leaf_count; i++) {
        const struct leaf *leaf = &array->record->leaves[i];
        uint64_t bytes;
        if (!fits(&bytes, tile, leaf->size, reason) || !checked_round_up_u64(&cursor, cursor, leaf->align))
            return false;
        mapping->leaves[i] = (struct placement){cursor, leaf->size};
        if (!fits(&cursor, 1, cursor + bytes, reason))
            return false;
        if (leaf->align > widest)
            widest = leaf->align;
    }
    if (!checked_round_up_u64(&cursor, cursor, widest))
        return false;
    mapping->tile_records = tile;
    mapping->tile_bytes = cursor;
    return fits(&mapping->bytes, (array->records - 1) / tile + 1, cursor, reason);
}

bool layout_map(struct mapping **out, struct arena *arena, const struct array *array, const struct layout *layout,
                const char **reason)
{
    struct mapping *mapping = arena_alloc(arena, sizeof(*mapping));
    mapping->array = array;
    mapping->layout = *layout;
    mapping->base = array->offset;
    mapping->base_align = array->align;
    mapping->leaves = arena_array(arena, array->record->leaf_count, sizeof(*mapping->leaves));
    *out = mapping;
    switch (layout->kind) {
    case LAYOUT_AOS:
        return map_aos(mapping, arena, reason);
    case LAYOUT_ROW_MAJOR:
        if (array->dim_count > 1)
            return map_whole(mapping, array->record->type->size, reason);
        *reason = "the array has one dimension; its records in order are 'aos'";
        return false;
    case LAYOUT_SOA:
        return map_soa(mapping, reason);
    case LAYOUT_AOSOA:
        return map_aosoa(mapping, reason);
    case LAYOUT_SPLIT:
    case LAYOUT_COLUMN_MAJOR:
    case LAYOUT_PITCH:
    case LAYOUT_TILED:
        *reason = arena_printf(arena, "this version cannot place '%s' yet", notation_layout(arena, layout));
        return false;
    }
    return false;
}

uint64_t layout_linear_step(const struct array *array, unsigned dim)
{
    uint64_t step = 1;
    for (unsigned d = array->dim_count - 1; d > dim; d--)
        step *= array->extent[d];
    return step;
}

uint64_t layout_step(const struct mapping *mapping, size_t leaf, unsigned dim)
{
    const struct array *array = mapping->array;
    unsigned last = array->dim_count - 1;
    if (mapping->row_bytes == 0 || dim == last)
        return layout_linear_step(array, dim) * mapping->leaves[leaf].stride;
    return layout_linear_step(array, dim) / array->extent[last] * mapping->row_bytes;
}

uint64_t layout_address(const struct mapping *mapping, size_t leaf, const int64_t index[])
{
    const struct placement *place = &mapping->leaves[leaf];
    uint64_t address = place->offset, record = 0;
    for (unsigned d = 0; d < mapping->array->dim_count; d++) {
        address += (uint64_t)index[d] * layout_step(mapping, leaf, d);
        record += (uint64_t)index[d] * layout_linear_step(mapping->array, d);
    }
    if (mapping->tile_records == 0)
        return address;
    return place->offset + record / mapping->tile_records * mapping->tile_bytes +
           record % mapping->tile_records * place->stride;
}

bool layout_subscript_stride(uint64_t *out, const struct mapping *mapping, const struct selected *selected,
                             const struct subscript *subscript)
{
    if (subscript->stride_leaves == 0 || mapping->record_stride != 0) {
        *out = subscript->stride_bytes;
        return true;
    }
    const struct placement *leaves = &mapping->leaves[selected->leaf];
    *out = subscript->extent > 1 ? leaves[subscript->stride_leaves].offset - leaves[0].offset : 0;
    for (uint64_t i = 1; i < subscript->extent; i++)
        if (leaves[i * subscript->stride_leaves].offset - leaves[0].offset != i * *out)
            return false;
    return true;
}

struct layout layout_default(const struct array *array)
{
    return (struct layout){.kind = array->dim_count > 1 ? LAYOUT_ROW_MAJOR : LAYOUT_AOS};
}
