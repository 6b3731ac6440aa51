/* Takes an array and a layout, gives where every byte of every record is: the mapping. */
#ifndef SW_LAYOUT_H
#define SW_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "notation.h"
#include "spec.h"

/* Where a leaf is: in record 0 at `offset`, in bytes from the array's first byte, which itself is array->offset past a
 * 256-byte boundary; elsewhere what the axes add (layout_axes). */
struct placement {
    uint64_t offset;
    uint64_t
        stride; /* bytes between neighbouring records: the last dimension's (column-major: the first's), in a tile */
    unsigned group; /* into mapping->groups */
};

/* A part of the record that a layout moves as one: a field, of the record or of a struct in it ("box.lo"). */
struct member {
    const char *path;
    const struct field *field;
    uint64_t align;          /* bytes; the least along its path */
    uint64_t record_offset;  /* bytes from the start of the record in C's layout */
    uint64_t offset;         /* bytes from the start of the stored record */
    size_t leaf, leaf_count; /* its leaves, neighbours in the record */
};

/* Leaves that are placed together: those of one group of a split; all, under every other layout. */
struct group {
    struct layout layout; /* a group's own (aos, soa, aosoa); the mapping's where it is the only one */
    uint64_t offset;      /* of its first byte from the array's: a multiple of array->align */
    uint64_t bytes;
    const struct member *members; /* in stored order; none where the record is no struct */
    size_t member_count;
    bool packed;            /* a member is aligned less than its type: C has to be told */
    uint64_t record_align;  /* bytes; of the stored record, before padding */
    uint64_t record_size;   /* bytes; likewise */
    uint64_t record_stride; /* bytes between stored records where they are kept whole, else 0 */
    const bool *owned;      /* whole: a flag a byte of record_stride: false where no leaf is (padding) */
    uint64_t tile_records;  /* aosoa: records a tile; 0: untiled */
    uint64_t tile_bytes;    /* aosoa: bytes between tiles */
};

struct mapping {
    const struct array *array;
    struct layout layout;
    struct placement *leaves; /* one a leaf of array->record */
    struct group *groups;
    unsigned group_count;
    uint64_t base;          /* bytes past a 256-byte boundary at which the first byte is: array->offset, 0 in a copy */
    uint64_t base_align;    /* bytes that are sure to divide the address of what lies at the boundary: 256 in a copy */
    uint64_t record_stride; /* bytes between records where they are kept whole in one group, else 0 */
    uint64_t row_bytes;     /* a pitch: bytes between rows of the last dimension; 0: dense, or no rows */
    uint64_t tile_records;  /* aosoa of the whole record: records a tile; 0: untiled */
    uint64_t tile_bytes;    /* aosoa of the whole record: bytes between tiles */
    uint64_t bytes;         /* of storage, from the first byte to past the last */
};

/* What one coordinate of a record adds to a leaf's offset: of coordinate x
 *     untiled (tile 0): x * bytes
 *     tiled:            x / tile * tile_bytes + x % tile * bytes */
struct axis {
    uint64_t tile;
    uint64_t bytes;
    uint64_t tile_bytes;
};

static inline uint64_t axis_place(const struct axis *axis, uint64_t x)
{
    return axis->tile == 0 ? x * axis->bytes : x / axis->tile * axis->tile_bytes + x % axis->tile * axis->bytes;
}

/* The coordinates of a record are its indices, one an axis; or its number in row-major order, which has one axis. */
struct axes {
    bool by_number;
    unsigned count;
    struct axis items[SPEC_DIMS_MAX];
};

/* Maps `array` under `layout`. Where the layout does not apply, returns false and *reason is a sentence in the arena.
 */
bool layout_map(struct mapping **out, struct arena *arena, const struct array *array, const struct layout *layout,
                const char **reason) __attribute__((warn_unused_result));

/* The axes of what is placed as `leaf` is: the leaf itself, or a piece of the stored record that it is in. */
struct axes layout_axes(const struct mapping *mapping, size_t leaf);

/* What one more in dimension `dim` adds to the address of a leaf, in bytes. Only where no axis is tiled. */
uint64_t layout_step(const struct mapping *mapping, size_t leaf, unsigned dim);

/* What divides this and a leaf's stride divides all distances between its places; 0: the stride alone does. */
uint64_t layout_jumps(const struct mapping *mapping, size_t leaf);

/* The number of records that one more in dimension `dim` skips: row-major, the last dimension's is 1. */
uint64_t layout_linear_step(const struct array *array, unsigned dim);

/* The address of a leaf of one record, in bytes from the array's first byte; `index` is inside the extent. */
uint64_t layout_address(const struct mapping *mapping, size_t leaf, const int64_t index[]);

/* Bytes between neighbouring values of a subscript for this selection under this mapping. False where they are not
 * evenly spaced, whatever the selection's other subscripts are; then the layout cannot serve the access. */
bool layout_subscript_stride(uint64_t *out, const struct mapping *mapping, const struct selected *selected,
                             const struct subscript *subscript);

/* Whether in tiles the elements of each member array are evenly spaced, so that code can compute where they are. Each
 * leaf is aligned by itself there: small tiles of small leaves beside large ones may break the step. */
bool layout_arrays_even(const struct mapping *mapping);

/* The layout of an array as described: aos for one dimension, row-major for more. */
struct layout layout_default(const struct array *array);

/* Whether every byte of every record is where C has it in an array as described (its pitch included). */
bool layout_is_described(const struct mapping *mapping);

#endif
