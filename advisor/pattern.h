/* Takes one instruction of a block's lanes over a box of blocks and trips, gives its counts: how the box moves the
 * lanes against sectors and banks is a matter of residues, so that a box of any size costs the same. */
#ifndef SW_PATTERN_H
#define SW_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "launch.h"
#include "request.h"

/* Lane `thread` is at address[thread] + sum over k of step[k] * q[k], 0 <= q[k] < count[k], in bytes; for global memory
 * from a multiple of LINE_BYTES, for shared memory from bank 0. */
struct pattern {
    unsigned threads;
    const uint64_t *active; /* a bit a thread */
    const int64_t *address;
    unsigned width; /* bytes: 1, 2, 4, 8 or 16 */
    bool shared, atomic;
    int64_t step[LAUNCH_DIMS_MAX];
    uint64_t count[LAUNCH_DIMS_MAX];
};

/* Adds the counts of every warp at every point. False where a count would pass 2^63 - 1. */
bool pattern_count(struct counts *counts, const struct pattern *pattern) __attribute__((warn_unused_result));

/* One warp's lanes as they fall on sectors and lines, or on banks, at some points of a pattern. */
struct pattern_visit {
    unsigned warp;                   /* in the block */
    uint32_t active;                 /* a bit a lane; at least one is set */
    struct counts counts;            /* of the request at one of those points */
    uint64_t times;                  /* how many points they are */
    uint64_t first[LAUNCH_DIMS_MAX]; /* the first: blocks by z, y, x, then loops from the outermost */
};
typedef void pattern_visitor(void *context, const struct pattern_visit *visit);

/* Visits each warp with an active lane once for every way its lanes fall: counts times `times` add up to what
 * pattern_count adds. False where a number of points would pass 2^63 - 1. */
bool pattern_visit(const struct pattern *pattern, pattern_visitor *visitor, void *context)
    __attribute__((warn_unused_result));

#endif
