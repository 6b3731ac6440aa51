/* Takes the places that a launch's accesses to one array touch, gives its footprint: how many distinct sectors are
 * read, written, touched at all, and left partly written. Regular places are kept as lattices and counted by their
 * period; where there are too many, as bits: one a sector read, one a granule written. */
#ifndef SW_COVERAGE_H
#define SW_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COVERAGE_DIMS_MAX = 12,
    DRAM_BLOCK_BYTES = 256 /* what DRAM writes at the cost of little more than a part of it (MODEL.md, section 6) */
};

struct coverage;

/* For an array whose places are below `bytes`. `granule` (1 to 32, a power of two) divides every address and width
 * added as written. `workers` may add at once. NULL when memory is out. */
struct coverage *coverage_new(uint64_t bytes, unsigned granule, unsigned workers);
void coverage_free(struct coverage *coverage);

/* Adds the bytes [address[i], address[i] + width) + sum over k of step[k] * q[k] for all 0 <= q[k] < count[k].
 * At most 1024 addresses. False where the bits would not fit in memory. */
bool coverage_add(struct coverage *coverage, unsigned worker, bool written, const int64_t *address, unsigned addresses,
                  unsigned width, unsigned dims, const int64_t *step, const uint64_t *count)
    __attribute__((warn_unused_result));

struct footprint {
    uint64_t read_sectors, written_sectors;
    uint64_t distinct_sectors;    /* read or written */
    uint64_t fill_sectors;        /* written in part only */
    uint64_t unread_fill_sectors; /* of those, the ones that are not read */
    uint64_t read_pairs;          /* aligned pairs of sectors with one that is read: DRAM's unit of reading */
    uint64_t lines;               /* of LINE_BYTES, read or written: what L2 keeps */
    uint64_t written_blocks;      /* aligned blocks of DRAM_BLOCK_BYTES with a byte that is written */
};

/* Forgets what was added. Not while anybody adds. */
void coverage_clear(struct coverage *coverage);

/* False where the bits would not fit in memory. Not while anybody adds. */
bool coverage_count(struct coverage *coverage, struct footprint *out) __attribute__((warn_unused_result));

#endif
