/* Takes a seed, gives a valid layout description as XML text: the same text for the same seed everywhere. */
#ifndef SW_RANDOM_SPEC_H
#define SW_RANDOM_SPEC_H

#include <stdint.h>

#include "arena.h"
#include "spec.h"
#include "text.h"

enum random_kind {
    RANDOM_WILD,    /* hashes, look-ups, shifts, loops of all forms: nothing to be seen but by walking */
    RANDOM_REGULAR, /* indices that are affine but for divisions, clamps, tests: many blocks */
    RANDOM_STREAM,  /* thread i on record i, tiles and transposes: what wide and staged plans are for */
    RANDOM_FAULTY,  /* as the others, but an index, a divisor, a shift or a look-up may be wrong for some thread */
    RANDOM_KINDS
};

/* Appends the description of `seed`. Launches are of at most 3,000 threads. */
void random_spec_write(struct text *out, uint64_t seed, enum random_kind kind);

/* Appends a candidate for a checked array, "LAYOUT/PLAN": of every kind that the notation has, with what applies to the
 * array more often than not. */
void random_candidate_write(struct text *out, uint64_t *state, const struct array *array, struct arena *arena);

/* The generator behind it (splitmix64): the next of 2^64 states, and a number from 0 to `below` - 1. */
uint64_t random_next(uint64_t *state);
unsigned random_below(uint64_t *state, unsigned below);

#endif
