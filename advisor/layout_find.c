#include "layout_find.h"

/* One digit of a place: so many bytes for each of its values, 0 to range - 1. A tiled axis has two. */
struct digit {
    uint64_t bytes, range;
    unsigned axis;
    uint64_t weight; /* what one of it adds to the axis's coordinate */
};

enum { DIGITS_MAX = 2 * SPEC_DIMS_MAX };

/* Digits that have more than one value, the one with the most bytes first. */
static unsigned insert_digit(struct digit *digits, unsigned count, struct digit digit)
{
    if (digit.range <= 1)
        return count;
    unsigned at = count;
    for (; at > 0 && digits[at - 1].bytes < digit.bytes; at--)
        digits[at] = digits[at - 1];
    digits[at] = digit;
    return count + 1;
}

static uint64_t axis_extent(const struct array *array, const struct axes *axes, unsigned axis)
{
    return axes->by_number ? array->records : array->extent[axis];
}

static unsigned find_digits(struct digit digits[DIGITS_MAX], const struct array *array, const struct axes *axes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->items[i];
        const uint64_t extent = axis_extent(array, axes, i);
        if (axis->tile == 0) {
            count = insert_digit(digits, count, (struct digit){axis->bytes, extent, i, 1});
            continue;
        }
        count = insert_digit(digits, count, (struct digit){axis->bytes, axis->tile, i, 1});
        count =
            insert_digit(digits, count, (struct digit){axis->tile_bytes, (extent - 1) / axis->tile + 1, i, axis->tile});
    }
    return count;
}

/* Whether `distance` bytes past its first element a leaf has a byte: every digit of the place within its range, and
 * what is left within the element. */
static bool is_on_element(uint64_t *offset, const struct mapping *mapping, size_t leaf, uint64_t distance)
{
    const struct array *array = mapping->array;
    const struct axes axes = layout_axes(mapping, leaf);
    struct digit digits[DIGITS_MAX];
    uint64_t coordinate[SPEC_DIMS_MAX] = {0};
    const unsigned count = find_digits(digits, array, &axes);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t value = distance / digits[i].bytes;
        if (value >= digits[i].range)
            return false;
        distance -= value * digits[i].bytes;
        coordinate[digits[i].axis] += value * digits[i].weight;
    }
    for (unsigned i = 0; i < axes.count; i++)
        if (coordinate[i] >= axis_extent(array, &axes, i))
            return false;
    *offset = distance;
    return distance < array->record->leaves[leaf].size;
}

bool layout_find(struct layout_byte *out, const struct mapping *mapping, uint64_t address, size_t near)
{
    const size_t count = mapping->array->record->leaf_count;
    if (address >= mapping->bytes)
        return false;
    for (size_t i = 0; i < count; i++) {
        out->leaf = (near + i) % count;
        const uint64_t offset = mapping->leaves[out->leaf].offset;
        if (address >= offset && is_on_element(&out->offset, mapping, out->leaf, address - offset))
            return true;
    }
    return false;
}
