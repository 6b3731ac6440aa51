#include "layout_find.h"

/* Whether `distance` bytes past its first element a leaf's elements, `stride` apart, have a byte; *element says whose.
 */
static bool is_on_element(uint64_t *element, uint64_t *offset, uint64_t distance, uint64_t stride, uint64_t size)
{
    *element = distance / stride;
    *offset = distance % stride;
    return *offset < size;
}

static bool find_in_tile(struct layout_byte *out, const struct mapping *mapping, uint64_t address)
{
    const struct record *record = mapping->array->record;
    const uint64_t tile = address / mapping->tile_bytes, inside = address % mapping->tile_bytes;
    for (size_t i = 0; i < record->leaf_count; i++) {
        const struct placement *place = &mapping->leaves[i];
        uint64_t element;
        if (inside < place->offset ||
            !is_on_element(&element, &out->offset, inside - place->offset, place->stride, record->leaves[i].size) ||
            element >= mapping->tile_records)
            continue;
        out->leaf = i;
        return tile * mapping->tile_records + element < mapping->array->records;
    }
    return false;
}

bool layout_find(struct layout_byte *out, const struct mapping *mapping, uint64_t address)
{
    const struct array *array = mapping->array;
    if (address >= mapping->bytes)
        return false;
    if (mapping->tile_records != 0)
        return find_in_tile(out, mapping, address);
    uint64_t records = array->records;
    if (mapping->row_bytes != 0) {
        records = array->extent[array->dim_count - 1];
        address %= mapping->row_bytes;
    }
    for (size_t i = 0; i < array->record->leaf_count; i++) {
        const struct placement *place = &mapping->leaves[i];
        uint64_t element;
        if (address < place->offset || !is_on_element(&element, &out->offset, address - place->offset, place->stride,
                                                      array->record->leaves[i].size))
            continue;
        out->leaf = i;
        if (element < records)
            return true;
    }
    return false;
}
