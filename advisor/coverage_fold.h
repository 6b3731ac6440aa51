/* Takes lattices, gives their footprint by folding space: cut into cells as long as the largest step, lattices repeat
 * from cell to cell, so that one cell is counted for all that hold the same. */
#ifndef SW_COVERAGE_FOLD_H
#define SW_COVERAGE_FOLD_H

#include <stddef.h>

#include "coverage_lattice.h"

/* `items` may be reordered. False where it is too much to be looked at. */
bool coverage_fold(struct footprint *out, struct lattice *items, size_t count) __attribute__((warn_unused_result));

#endif
