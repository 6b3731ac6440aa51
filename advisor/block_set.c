#include "block_set.h"

#include <stdlib.h>
#include <string.h>

#include "request.h"

/* Multiplying by this spreads neighbouring blocks over the table. */
static const uint64_t SPREAD = UINT64_C(0x9e3779b97f4a7c15);

/* The slot that holds the block, or the empty one where it belongs. */
static size_t find_slot(const struct block_set *set, int64_t number)
{
    size_t slot = (size_t)(((uint64_t)number * SPREAD) >> 32) & (set->slot_count - 1);
    while (set->slots[slot] != 0 && set->blocks[set->slots[slot] - 1].number != number)
        slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

static void grow(struct block_set *set)
{
    size_t capacity = set->capacity == 0 ? 1024 : set->capacity * 2;
    set->blocks = realloc(set->blocks, capacity * sizeof(*set->blocks));
    free(set->slots);
    set->slot_count = capacity * 2;
    set->slots = calloc(set->slot_count, sizeof(*set->slots));
    if (set->blocks == NULL || set->slots == NULL)
        abort();
    set->capacity = capacity;
    for (size_t i = 0; i < set->count; i++)
        set->slots[find_slot(set, set->blocks[i].number)] = (uint32_t)(i + 1);
}

static void mark(struct set_block *block, unsigned offset, unsigned width, bool written)
{
    if (written)
        block->written[offset / 64] |= ((UINT64_C(1) << width) - 1) << (offset % 64);
    else
        block->read |= UINT32_C(1) << offset / SECTOR_BYTES;
}

bool block_set_add(struct block_set *set, int64_t address, unsigned width, bool written)
{
    const int64_t number = address / SET_BLOCK_BYTES;
    if (set->count == set->capacity)
        grow(set);
    const size_t slot = find_slot(set, number);
    const bool fresh = set->slots[slot] == 0;
    if (fresh) {
        set->blocks[set->count++] = (struct set_block){.number = number};
        set->slots[slot] = (uint32_t)set->count;
    }
    mark(&set->blocks[set->slots[slot] - 1], (unsigned)(address % SET_BLOCK_BYTES), width, written);
    return fresh;
}

const struct set_block *block_set_find(const struct block_set *set, int64_t number)
{
    const uint32_t slot = set->slot_count == 0 ? 0 : set->slots[find_slot(set, number)];
    return slot == 0 ? NULL : &set->blocks[slot - 1];
}

void block_set_clear(struct block_set *set)
{
    if (set->count == 0)
        return;
    /* The last that came first: what is looked for is never behind a slot that was emptied. */
    if (set->count * 8 < set->slot_count)
        for (size_t i = set->count; i-- > 0;)
            set->slots[find_slot(set, set->blocks[i].number)] = 0;
    else
        memset(set->slots, 0, set->slot_count * sizeof(*set->slots));
    set->count = 0;
}

void block_set_free(struct block_set *set)
{
    free(set->blocks);
    free(set->slots);
    *set = (struct block_set){0};
}
