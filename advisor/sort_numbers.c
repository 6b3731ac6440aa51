#include "sort_numbers.h"

#include <string.h>

static void sort_few(uint64_t *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = numbers[i];
        size_t at = i;
        for (; at > 0 && numbers[at - 1] > moved; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = moved;
    }
}

/* Stable, by one byte. */
static void sort_by_byte(uint64_t *to, const uint64_t *from, size_t count, unsigned shift)
{
    size_t starts[257] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(from[i] >> shift & 255) + 1]++;
    for (size_t digit = 1; digit < 256; digit++)
        starts[digit] += starts[digit - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[from[i] >> shift & 255]++] = from[i];
}

void sort_numbers(uint64_t *numbers, uint64_t *room, size_t count)
{
    enum { FEW = 32 };
    uint64_t most = 0, *from = numbers, *to = room;
    if (count <= FEW) {
        sort_few(numbers, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        most |= numbers[i];
    for (unsigned shift = 0; shift < 64 && most >> shift != 0; shift += 8) {
        sort_by_byte(to, from, count, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != numbers)
        memcpy(numbers, from, count * sizeof(*numbers));
}
