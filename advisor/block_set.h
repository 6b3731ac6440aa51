/* Takes places that a straight run of statements reads and writes, gives the blocks of 256 bytes that they are in, each
 * with its sectors read and its bytes written. */
#ifndef SW_BLOCK_SET_H
#define SW_BLOCK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SET_BLOCK_BYTES = 256, SET_WRITTEN_WORDS = SET_BLOCK_BYTES / 64 };

struct set_slot;

/* Blocks are numbered in the order of their first mention. Zero-initialise to start; free with block_set_free. */
struct block_set {
    size_t count;
    bool writes;                            /* something was written */
    uint8_t *read;                          /* a bit a sector of the block */
    uint64_t (*written)[SET_WRITTEN_WORDS]; /* a bit a byte of the block; only where `writes` */
    int64_t *address;                       /* the block's, by SET_BLOCK_BYTES */
    size_t capacity;
    struct set_slot *slots; /* where a block is, by its address; few are taken, so that few stand in the way */
    size_t slot_count;
    uint32_t epoch; /* slots of another one are empty */
};

/* Adds the bytes [address[i], address[i] + width), each within one sector, of `count` lanes. Writes to `fresh`, in
 * order, which of them came to a new block, and returns how many did. */
unsigned block_set_add(struct block_set *set, const int64_t *address, unsigned count, unsigned width, bool written,
                       uint16_t *fresh);
/* Adds what `more` has read. */
void block_set_add_reads(struct block_set *set, const struct block_set *more);
/* The bytes written of the block with that address by SET_BLOCK_BYTES; NULL where there is none. */
const uint64_t *block_set_written(const struct block_set *set, int64_t block);

void block_set_clear(struct block_set *set);
void block_set_free(struct block_set *set);

#endif
