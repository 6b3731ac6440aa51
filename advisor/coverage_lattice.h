/* Holds bytes that repeat at steps, and adds up what sectors they touch. */
#ifndef SW_COVERAGE_LATTICE_H
#define SW_COVERAGE_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "coverage.h"
#include "request.h"

enum { UNIT_BYTES = DRAM_BLOCK_BYTES }; /* counting goes by whole blocks, hence by whole lines and pairs of sectors */

/* The bytes [start, start + length) repeated at every step; steps ascend and are longer than `length`. */
struct lattice {
    int64_t start;
    uint64_t length;
    bool written;
    unsigned dims;
    uint64_t step[COVERAGE_DIMS_MAX], count[COVERAGE_DIMS_MAX];
};

/* A step may be negative; then the start moves. */
void lattice_add_dim(struct lattice *lattice, int64_t step, uint64_t count);
void lattice_drop_dim(struct lattice *lattice, unsigned dim);
/* Neighbours that touch or overlap become one: a longer run, or a longer dimension of the same step. */
void lattice_simplify(struct lattice *lattice);

void footprint_add(struct footprint *to, const struct footprint *more, uint64_t times);

/* The sectors of one block of DRAM_BLOCK_BYTES, as bits from the first on: where any byte is read or written, and where
 * all are written. */
struct block_bits {
    unsigned read, written, whole;
};

void footprint_add_block(struct footprint *sum, const struct block_bits *block);

#endif
