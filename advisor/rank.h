/* Takes the options of every array, gives the candidates (one option an array together) in order of estimated time:
 * a total order that depends on nothing but the description, the device and the version. */
#ifndef SW_RANK_H
#define SW_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "candidates.h"
#include "estimate.h"
#include "groups.h"
#include "score.h"

struct ranked_kernel {
    const struct kernel *kernel;
    const struct kernel_score *score;
    const struct kernel_score *timed; /* the score and what the kernel looks up in tables */
    struct estimate estimate;         /* of one launch of that */
};

struct ranked {
    struct option *const *chosen;  /* one an array, in the description's order */
    struct ranked_kernel *kernels; /* one a kernel, in the description's order */
    double time_us;                /* all kernels, weighed by their calls, conversions included */
    double conversion_us;          /* of one conversion from AoS and back of every array that names conversions */
    enum resource bound_by;        /* of the kernel that takes the most time in all its calls */
    double other_us;       /* the sum of the other resources' times, launches left out: the order within a tie */
    bool tie;              /* within 2 % of the best, the best itself included where another ties with it */
    uint64_t memory_bytes; /* of all arrays in global memory */
    uint64_t sectors;      /* of all requests of all kernels, weighed by calls */
    uint64_t dram_bytes;
    uint64_t wavefronts;
};

struct sensitivity;

struct ranking {
    struct ranked *items; /* best first */
    size_t count;
    const struct sensitivity *sensitivity; /* rank_sensitivity.h; NULL where it was not looked at */
    struct group_evidence **evidence;      /* for the best, one an array: what speaks for its groups; NULL: no split */
    bool exhaustive; /* every combination was scored; else arrays were improved one at a time from the defaults */
};

/* At least one combination of the options; NULL after a diagnostic, also where none go together. */
struct ranking *rank_spec(const struct spec *spec, const struct device *device, const struct options *options,
                          struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

#endif
