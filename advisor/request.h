/* Takes one instruction of one warp (lane addresses and a width), gives its counts: sectors, lines and the bank rule.
 */
#ifndef SW_REQUEST_H
#define SW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum { WARP_LANES = 32, SECTOR_BYTES = 32, LINE_BYTES = 128 };

/* Sums over a launch, as MODEL.md defines them; what does not apply is 0. */
struct counts {
    uint64_t instructions; /* warp instructions with an active lane */
    uint64_t requests;     /* global memory only, like sectors, lines and ideal_sectors */
    uint64_t sectors;      /* distinct 32-byte blocks a request */
    uint64_t ideal_sectors;
    uint64_t lines;        /* distinct 128-byte blocks a request */
    uint64_t asked_bytes;  /* width times active lanes */
    uint64_t unique_bytes; /* distinct bytes a request */
    uint64_t wavefronts;   /* shared memory only, like conflicts */
    uint64_t conflicts;
    uint64_t atomic_sectors; /* atomics in global memory only: sectors, each time that lanes take turns at its values */
};

/* Adds a request to global memory. Lanes are bits of `active` (not 0); address[lane] is in bytes from a multiple of
 * LINE_BYTES and a multiple of `width`, so that two lanes' bytes are the same or apart. Equal to the
 * hardware's counters on every pattern measured. */
void request_add_global(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width);

/* Adds an atomic request to global memory: the same, and `atomic_sectors`. Lanes that change the same value take turns,
 * so that a sector is passed on as often as the most lanes have an address in it. The hardware's counters of sectors
 * agree, but that an instruction to many lines in no order may take one or two more. */
void request_add_atomic(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width);

/* Adds the requests of all warps of a block at once: the same counts, for lanes in no order. `active` has a bit a
 * thread. False where the addresses reach too far apart for that: then ask warp by warp. */
bool request_add_block(struct counts *counts, const int64_t *address, const uint64_t *active, unsigned threads,
                       unsigned width) __attribute__((warn_unused_result));

enum { SHARED_BANKS = 32, SHARED_WORD_BYTES = 4, SHARED_PASSES_MAX = 4 };

/* Lanes of a warp that access shared memory in one pass: as many wavefronts as the bank with the most words has. */
struct request_pass {
    uint32_t lanes;               /* those of them that are active; at least one */
    unsigned words[SHARED_BANKS]; /* different words that they want of each bank */
    unsigned wavefronts;
};

/* The passes of an access to shared memory, in order; addresses count from bank 0. Returns how many. */
unsigned request_passes(struct request_pass passes[SHARED_PASSES_MAX], const int64_t address[WARP_LANES],
                        uint32_t active, unsigned width);

static inline unsigned request_bank(int64_t address)
{
    return (unsigned)(address / SHARED_WORD_BYTES) % SHARED_BANKS;
}

/* Adds an access to shared memory; addresses count from bank 0. */
void request_add_shared(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width);

/* Adds the counts of `more`, `times` over. False where a count would pass 2^63 - 1. */
bool counts_add(struct counts *counts, const struct counts *more, uint64_t times) __attribute__((warn_unused_result));

/* Adds what `now` is above `before`, which it grew from, to counts that are no more than `now`. */
void counts_add_difference(struct counts *counts, const struct counts *now, const struct counts *before);

#endif
