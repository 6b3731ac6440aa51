/* Takes an array and a layout, gives where every byte of every record is: the second implementation of the mapping,
 * written from its definition. Plans over it, and counting, are in naive.c. */
#ifndef SW_NAIVE_MAP_H
#define SW_NAIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "notation.h"
#include "spec.h"

/* A leaf of the record, found by walking the type, with its place under the layout. */
struct place {
    uint64_t in_record; /* bytes, C's layout */
    uint64_t size, align;
    unsigned group;
    uint64_t stored; /* bytes from the start of the group's stored record (aos) or tile (aosoa) */
    uint64_t start;  /* of record 0, bytes from the array's first byte */
};

/* Leaves that are placed together: a group of a split, or all. */
struct part_map {
    enum layout_kind kind; /* LAYOUT_AOS (records are kept whole), LAYOUT_SOA or LAYOUT_AOSOA */
    uint64_t start;        /* bytes from the array's first byte */
    uint64_t stride;       /* whole: between stored records */
    uint64_t tile;         /* aosoa: records a tile; 0: none */
    uint64_t tile_bytes;
    uint64_t bytes; /* of storage */
    size_t leaf_count;
    bool *owned; /* whole: a flag a byte up to the stride: some leaf holds it */
};

struct map {
    const struct array *array;
    const struct candidate *candidate;
    struct place *places;
    size_t place_count, place_capacity;
    struct part_map *parts;
    unsigned part_count;
    bool whole;                   /* records are kept whole, in one part */
    uint64_t row;                 /* whole: bytes between rows of the last dimension, where something sets it; else 0 */
    uint64_t side[SPEC_DIMS_MAX]; /* tiled: records a tile; side[0] == 0: not tiled */
    unsigned order[SPEC_DIMS_MAX]; /* the dimensions, fastest first */
    uint64_t bytes;                /* of storage */
};

/* Maps an array by a candidate's layout; NULL: as described. False where the layout does not apply. */
bool naive_map(struct map *map, struct arena *arena, const struct array *array, const struct candidate *candidate);

/* The first byte of a whole record, from the start of its part. */
uint64_t naive_record(const struct map *map, const struct part_map *part, const int64_t index[]);

/* The byte `within` a leaf of a record, from the array's first byte. */
uint64_t naive_leaf_byte(const struct map *map, const int64_t index[], size_t leaf, uint64_t within);

uint64_t naive_round_up(uint64_t value, uint64_t step);
uint64_t naive_gcd(uint64_t a, uint64_t b);

#endif
