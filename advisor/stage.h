/* Takes a kernel and an array it touches, gives the block's footprint and the shared copy that `staged` makes of it. */
#ifndef SW_STAGE_H
#define SW_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "device.h"
#include "layout.h"
#include "notation.h"
#include "spec.h"

/* The box of records that a block touches: dimension d begins at
 *     origin[d] + sum over b of origin_step[d][b] * blockIdx[b]
 * and is extent[d] records long. What is copied is cut at both ends to the array's extent; places in the shared copy
 * count from the uncut origin. The copy has the array's order of dimensions: the last is fastest, the first in a
 * column-major array. With d0 the fastest dimension and so on, the record with index i is at byte
 *     r_d0 * record_bytes + r_d1 * row_bytes + r_d2 * plane_bytes,    r_d = i_d - origin of d.
 * The block's threads, in linear order, copy the words of the cut box in that order, words ascending in the record:
 * thread t takes words t, t + threads, t + 2 threads and so on.
 * pad: for arrays of one dimension `pad` units are added to each record, else to each row. A unit is the record's
 * alignment, at least a 4-byte word.
 * swizzle: stage_swizzle says where a byte goes; the copy is to begin on a multiple of STAGE_SWIZZLE_ALIGN. */
struct stage {
    const struct array *array;
    const struct kernel *kernel;
    unsigned dim_count;
    unsigned order[SPEC_DIMS_MAX]; /* the dimensions from the fastest on */
    int64_t origin[SPEC_DIMS_MAX];
    int64_t origin_step[SPEC_DIMS_MAX][3];
    uint64_t extent[SPEC_DIMS_MAX];
    uint64_t record_bytes, row_bytes, plane_bytes; /* strides of the shared copy */
    uint64_t pad_bytes;
    uint64_t swizzle_unit;   /* bytes that stay together; 0: no swizzle */
    uint64_t swizzle_line;   /* bytes that share a key: a row, or as many as fit one round of the banks */
    uint64_t swizzle_keys;   /* how many different keys there are */
    uint64_t bytes;          /* of shared memory */
    unsigned word_bytes;     /* of one copying instruction a lane on the way in: 4, 2 or 1 */
    unsigned out_word_bytes; /* on the way out: no more, so that each word written is written whole */
    bool copy_in, copy_out;
    bool copy_out_whole; /* an update: whole records, padding included */
    const bool *written; /* a flag a byte of the stored record: what copy-out writes; NULL when copy_out_whole */
};

enum { STAGE_SWIZZLE_ALIGN = 128 };

/* Bytes of the copy from a record to its neighbour in dimension `d`. */
static inline uint64_t stage_step(const struct stage *stage, unsigned d)
{
    return d == stage->order[0] ? stage->record_bytes : d == stage->order[1] ? stage->row_bytes : stage->plane_bytes;
}

/* Where byte `place` of the unswizzled copy is: its unit's number in the line is XORed with the line's key. */
static inline uint64_t stage_swizzle(const struct stage *stage, uint64_t place)
{
    return place ^ place / stage->swizzle_line % stage->swizzle_keys * stage->swizzle_unit;
}

/* Bytes after which the swizzle repeats. */
static inline uint64_t stage_swizzle_period(const struct stage *stage)
{
    return stage->swizzle_line * stage->swizzle_keys;
}

/* Finds the footprint of `array` in `kernel` and lays out the copy for plan->pad and plan->swizzle. The mapping must
 * keep records whole. False and a sentence in *reason where staging does not apply: the footprint is no box that is
 * affine in blockIdx, does not fit the device's shared memory together with the kernel's own shared arrays, the array
 * is used by atomics, `bytes`, or lives in shared memory, or rows are such that a swizzle cannot serve them. */
bool stage_plan(struct stage **out, struct arena *arena, const struct kernel *kernel, const struct mapping *mapping,
                const struct plan *plan, const struct device *device, const char **reason)
    __attribute__((warn_unused_result));

/* Where dimension `d` of a block's box begins, before it is cut to the array's extent. */
int64_t stage_origin(const struct stage *stage, unsigned d, const uint64_t block[3]);

#endif
