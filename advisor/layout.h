/* Takes an array and a layout, gives where every byte of every record is: the mapping. */
#ifndef SW_LAYOUT_H
#define SW_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "notation.h"
#include "spec.h"

/* Where a leaf is: record i (the last dimension's neighbours being i and i + 1) has it at
 *     untiled: offset + i * stride                                         (rows apart by mapping->row_bytes where set)
 *     tiled:   offset + (i / tile_records) * tile_bytes + (i % tile_records) * stride
 * in bytes from the array's first byte, which itself is array->offset past a 256-byte boundary. */
struct placement {
    uint64_t offset;
    uint64_t stride;
};

struct mapping {
    const struct array *array;
    struct layout layout;
    struct placement *leaves; /* one a leaf of array->record */
    uint64_t base;          /* bytes past a 256-byte boundary at which the first byte is: array->offset, 0 in a copy */
    uint64_t base_align;    /* bytes that are sure to divide the address of what lies at the boundary: 256 in a copy */
    uint64_t record_stride; /* bytes between records where they are kept whole (aos family), else 0 */
    uint64_t row_bytes;     /* aos family with a pitch: bytes between rows of the last dimension; 0: dense */
    uint64_t tile_records;  /* aosoa: records a tile; 0: untiled */
    uint64_t tile_bytes;    /* aosoa: bytes between tiles */
    uint64_t bytes;         /* of storage, from the first byte to past the last */
};

/* Maps `array` under `layout`. Where the layout does not apply, returns false and *reason is a sentence in the arena.
 */
bool layout_map(struct mapping **out, struct arena *arena, const struct array *array, const struct layout *layout,
                const char **reason) __attribute__((warn_unused_result));

/* What one more in dimension `dim` adds to the address of a leaf, in bytes. Untiled mappings only. */
uint64_t layout_step(const struct mapping *mapping, size_t leaf, unsigned dim);

/* The number of records that one more in dimension `dim` skips: row-major, the last dimension's is 1. */
uint64_t layout_linear_step(const struct array *array, unsigned dim);

/* The address of a leaf of one record, in bytes from the array's first byte; `index` is inside the extent. */
uint64_t layout_address(const struct mapping *mapping, size_t leaf, const int64_t index[]);

/* Bytes between neighbouring values of a subscript for this selection under this mapping. False where they are not
 * evenly spaced; then the layout cannot serve the access. */
bool layout_subscript_stride(uint64_t *out, const struct mapping *mapping, const struct selected *selected,
                             const struct subscript *subscript);

/* The layout of an array as described: aos for one dimension, row-major for more. */
struct layout layout_default(const struct array *array);

#endif
