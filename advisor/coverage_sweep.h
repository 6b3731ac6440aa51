/* Takes lattices, gives their footprint by going over the places where one begins or ends, in order: between two of
 * them the pattern repeats, and one period is looked at granule by granule. */
#ifndef SW_COVERAGE_SWEEP_H
#define SW_COVERAGE_SWEEP_H

#include <stddef.h>

#include "coverage_lattice.h"

/* False where they are too many runs, or repeat too seldom, to be looked at. */
bool coverage_sweep(struct footprint *out, const struct lattice *items, size_t count)
    __attribute__((warn_unused_result));

#endif
