/* Takes a checked description and one option an array, gives what one launch of each kernel costs: exact counts and the
 * estimate of its time. */
#ifndef SW_COST_H
#define SW_COST_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "estimate.h"
#include "score.h"
#include "spec.h"

struct kernel_cost {
    const struct kernel *kernel;
    const struct kernel_score *score;
    struct estimate estimate;
    uint64_t sectors;    /* of all requests to global memory */
    uint64_t wavefronts; /* of all accesses to shared memory */
    uint64_t dram_bytes; /* estimated, read and written */
};

struct cost {
    struct option *const *chosen;
    struct kernel_cost *kernels; /* one a kernel, in the description's order */
    size_t kernel_count;
};

/* The cost with pinned layouts and, where none is pinned, the default candidates. NULL after a diagnostic. */
struct cost *cost_spec(const struct spec *spec, const struct device *device, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
