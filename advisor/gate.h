/* Takes the difference of two descriptions and what the kernels of each cost, gives those that move more or are slower
 * than before: which access does, by how much, and which changes bear on it. */
#ifndef SW_GATE_H
#define SW_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "cost.h"
#include "diff.h"

enum measure {
    MEASURE_SECTORS,    /* of requests to global memory */
    MEASURE_WAVEFRONTS, /* of shared memory */
    MEASURE_DRAM,       /* bytes, estimated */
    MEASURE_TIME        /* microseconds, estimated */
};
enum { MEASURE_COUNT = MEASURE_TIME + 1 };

/* An access that costs more than before. */
struct culprit {
    const struct access_score *before, *after; /* before == NULL: the access is new */
    enum measure measure;                      /* MEASURE_DRAM: bytes that its array makes DRAM move */
    uint64_t from, to;
    const struct change **causes; /* those that bear on it; the closest first */
    size_t cause_count;
};

struct regression {
    const struct kernel_cost *before, *after;
    bool grew[MEASURE_COUNT]; /* by more than is allowed */
    struct culprit *culprits; /* in document order */
    size_t culprit_count;
    const struct change **causes; /* of the launch, where no access costs more */
    size_t cause_count;
};

struct gate {
    struct regression *regressions;
    size_t count;
};

/* Compares the kernels that both have, a launch each. `allow`: per cent by which a figure may grow. */
struct gate *gate_judge(const struct difference *difference, const struct cost *before, const struct cost *after,
                        double allow, struct arena *arena);

#endif
