#include "block_set.h"

#include <stdlib.h>
#include <string.h>

#include "request.h"

/* Multiplying by this spreads neighbouring blocks over the table. */
static const uint64_t SPREAD = UINT64_C(0x9e3779b97f4a7c15);

struct set_slot {
    int64_t block; /* address / SET_BLOCK_BYTES */
    uint64_t mark; /* the epoch, then, in the low 32 bits, the block's number */
};

static uint64_t mark_of(uint32_t epoch, size_t number)
{
    return (uint64_t)epoch << 32 | number;
}

static bool is_taken(const struct block_set *set, const struct set_slot *slot)
{
    return slot->mark >> 32 == set->epoch;
}

/* The slot that holds the block, or the empty one where it belongs. */
static inline struct set_slot *find_slot(const struct block_set *set, int64_t block)
{
    const size_t last = set->slot_count - 1;
    size_t at = (size_t)(((uint64_t)block * SPREAD) >> 32) & last;
    while (is_taken(set, &set->slots[at]) && set->slots[at].block != block)
        at = (at + 1) & last;
    return &set->slots[at];
}

static void *resized(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, count * size);
    if (memory == NULL)
        abort();
    return memory;
}

static void grow(struct block_set *set)
{
    enum { CAPACITY_FIRST = 1024 };
    const size_t capacity = set->capacity == 0 ? CAPACITY_FIRST : set->capacity * 2;
    set->read = resized(set->read, capacity, sizeof(*set->read));
    set->written = resized(set->written, capacity, sizeof(*set->written));
    set->address = resized(set->address, capacity, sizeof(*set->address));
    set->capacity = capacity;
    set->slot_count = capacity * 4;
    free(set->slots);
    set->slots = calloc(set->slot_count, sizeof(*set->slots));
    if (set->slots == NULL)
        abort();
    set->epoch = 1;
    for (size_t i = 0; i < set->count; i++)
        *find_slot(set, set->address[i]) = (struct set_slot){set->address[i], mark_of(set->epoch, i)};
}

static void start_writing(struct block_set *set)
{
    set->writes = true;
    memset(set->written, 0, set->count * sizeof(*set->written));
}

/* The block's number; true in *fresh where it is a new one. */
static inline uint32_t take_number(bool *fresh, struct block_set *set, int64_t block)
{
    struct set_slot *slot = find_slot(set, block);
    *fresh = !is_taken(set, slot);
    if (!*fresh)
        return (uint32_t)slot->mark;
    const uint32_t number = (uint32_t)set->count++;
    *slot = (struct set_slot){block, mark_of(set->epoch, number)};
    set->address[number] = block;
    set->read[number] = 0;
    if (set->writes)
        memset(set->written[number], 0, sizeof(*set->written));
    return number;
}

unsigned block_set_add(struct block_set *set, const int64_t *address, unsigned count, unsigned width, bool written,
                       uint16_t *fresh)
{
    const uint64_t bytes = (UINT64_C(1) << width) - 1;
    int64_t last = -1; /* neighbouring lanes are often in one block */
    uint32_t number = 0;
    unsigned found = 0;
    while (set->capacity - set->count < count)
        grow(set);
    if (written && !set->writes)
        start_writing(set);
    /* A store of a byte may change anything but what has no address: the loop keeps this one in registers. */
    struct block_set own = *set;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)address[i], offset = place % SET_BLOCK_BYTES;
        bool is_fresh = false;
        if ((int64_t)(place / SET_BLOCK_BYTES) != last) {
            last = (int64_t)(place / SET_BLOCK_BYTES);
            number = take_number(&is_fresh, &own, last);
        }
        fresh[found] = (uint16_t)i;
        found += is_fresh;
        if (written)
            own.written[number][offset / 64] |= bytes << (offset % 64);
        else
            own.read[number] |= (uint8_t)(1 << offset / SECTOR_BYTES);
    }
    *set = own;
    return found;
}

void block_set_add_reads(struct block_set *set, const struct block_set *more)
{
    while (set->capacity - set->count < more->count)
        grow(set);
    for (size_t i = 0; i < more->count; i++) {
        bool fresh;
        set->read[take_number(&fresh, set, more->address[i])] |= more->read[i];
    }
}

const uint64_t *block_set_written(const struct block_set *set, int64_t block)
{
    if (!set->writes)
        return NULL;
    const struct set_slot *slot = find_slot(set, block);
    return is_taken(set, slot) ? set->written[(uint32_t)slot->mark] : NULL;
}

void block_set_clear(struct block_set *set)
{
    set->count = 0;
    set->writes = false;
    /* All slots are of another epoch from now on, but for those of as many epochs ago as there are numbers. */
    if (set->slots != NULL && ++set->epoch == 0) {
        memset(set->slots, 0, set->slot_count * sizeof(*set->slots));
        set->epoch = 1;
    }
}

void block_set_free(struct block_set *set)
{
    free(set->read);
    free(set->written);
    free(set->address);
    free(set->slots);
    *set = (struct block_set){0};
}
