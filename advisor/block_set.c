#include "sector_set.h"

#include <stdlib.h>
#include <string.h>

/* Multiplying by this spreads neighbouring sectors over the table. */
static const uint64_t SPREAD = UINT64_C(0x9e3779b97f4a7c15);

static size_t first_slot(const struct sector_set *set, int64_t sector)
{
    return (size_t)(((uint64_t)sector * SPREAD) >> 32) & (set->capacity - 1);
}

static void insert(struct sector_set *set, int64_t sector)
{
    size_t slot = first_slot(set, sector);
    while (set->stamps[slot] == set->stamp) {
        if (set->slots[slot] == sector)
            return;
        slot = (slot + 1) & (set->capacity - 1);
    }
    set->stamps[slot] = set->stamp;
    set->slots[slot] = sector;
    set->count++;
}

static void grow(struct sector_set *set)
{
    struct sector_set larger = {.capacity = set->capacity == 0 ? 4096 : set->capacity * 2, .stamp = 1};
    larger.slots = malloc(larger.capacity * sizeof(*larger.slots));
    larger.stamps = calloc(larger.capacity, sizeof(*larger.stamps));
    if (larger.slots == NULL || larger.stamps == NULL)
        abort();
    for (size_t i = 0; i < set->capacity; i++)
        if (set->stamps[i] == set->stamp)
            insert(&larger, set->slots[i]);
    struct sector_set old = *set;
    *set = larger;
    sector_set_free(&old);
}

void sector_set_add(struct sector_set *set, int64_t sector)
{
    if (set->count * 2 >= set->capacity)
        grow(set);
    insert(set, sector);
}

void sector_set_clear(struct sector_set *set)
{
    set->count = 0;
    if (set->capacity > 0 && ++set->stamp == 0) {
        memset(set->stamps, 0, set->capacity * sizeof(*set->stamps));
        set->stamp = 1;
    }
}

void sector_set_free(struct sector_set *set)
{
    free(set->slots);
    free(set->stamps);
    *set = (struct sector_set){0};
}
