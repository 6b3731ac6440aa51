/* Takes sector numbers one after another, gives how many different ones there were. */
#ifndef SW_SECTOR_SET_H
#define SW_SECTOR_SET_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise to start; free with sector_set_free. */
struct sector_set {
    int64_t *slots;
    uint32_t *stamps; /* a slot is taken where its stamp is the set's */
    uint32_t stamp;
    size_t capacity, count;
};

void sector_set_add(struct sector_set *set, int64_t sector);
void sector_set_clear(struct sector_set *set);
void sector_set_free(struct sector_set *set);

#endif
