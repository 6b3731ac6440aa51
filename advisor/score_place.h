/* Takes an event and an instruction, gives where its lanes' bytes are over the box: a sum of bytes that moves evenly,
 * and a coordinate for each axis that is cut into tiles, which moves evenly only by whole tiles. */
#ifndef SW_SCORE_PLACE_H
#define SW_SCORE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "launch.h"
#include "layout.h"
#include "plan.h"
#include "stage.h"

/* Of thread t at point q: constant[t] + shift + sum over k of step[k] * q[k]. */
struct coordinate {
    const int64_t *constant;
    int64_t shift;
    int64_t step[LAUNCH_DIMS_MAX];
};

struct place {
    struct coordinate bytes;
    struct coordinate tiled[SPEC_DIMS_MAX]; /* in records */
    struct axis axes[SPEC_DIMS_MAX];        /* of each tiled coordinate */
    unsigned tiled_count;
    const struct stage *swizzled; /* the copy whose bytes are swizzled, or NULL */
    uint64_t count[LAUNCH_DIMS_MAX];
    uint64_t first[LAUNCH_DIMS_MAX],
        stride[LAUNCH_DIMS_MAX]; /* point q here is point first + stride * q of the event */
};

enum { PLACE_VECTORS = 1 + SPEC_DIMS_MAX };

/* The place of what `instruction` moves; for a copy, `stage` is not NULL. `scratch` has room for PLACE_VECTORS vectors
 * of LAUNCH_THREADS_MAX values, which the place uses. */
void place_make(struct place *out, const struct launch_event *event, const struct mapping *mapping,
                const struct stage *stage, const struct instruction *instruction, int64_t *scratch);

/* A dimension along which the place does not move evenly, and the number of points after which it does; false: none. */
bool place_uneven(unsigned *dim, uint64_t *period, const struct place *place);

/* Of `period` parts of a dimension the one with points r, r + period, ... */
struct place place_part(const struct place *place, unsigned dim, uint64_t period, uint64_t r);

/* Addresses at the first point and bytes from point to point. Only for a place that moves evenly. */
void place_addresses(int64_t *address, int64_t step[LAUNCH_DIMS_MAX], const struct place *place, unsigned threads);

#endif
