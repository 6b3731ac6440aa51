/* Takes places that a straight run of statements reads and writes, gives the blocks of 256 bytes that they are in, each
 * with its sectors read and its bytes written. */
#ifndef SW_BLOCK_SET_H
#define SW_BLOCK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SET_BLOCK_BYTES = 256 };

struct set_block {
    int64_t number;      /* address / SET_BLOCK_BYTES */
    uint32_t read;       /* a bit a sector */
    uint64_t written[4]; /* a bit a byte */
};

/* Zero-initialise to start; free with block_set_free. */
struct block_set {
    struct set_block *blocks; /* in the order of their first mention */
    size_t count, capacity;
    uint32_t *slots; /* 1 + a block's index, at most half of them taken */
    size_t slot_count;
};

/* Adds the bytes [address, address + width), which lie within one sector. True where the block is a new one. */
bool block_set_add(struct block_set *set, int64_t address, unsigned width, bool written);
/* The block of that number; NULL where there is none. */
const struct set_block *block_set_find(const struct block_set *set, int64_t number);

void block_set_clear(struct block_set *set);
void block_set_free(struct block_set *set);

#endif
