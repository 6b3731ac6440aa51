#include "sort_warps.h"

#include "vectors.h"

/* Batcher's odd-even merge sort of 32: compare-exchanges in order. */
/* clang-format off */
#define NETWORK(X) \
    X(0, 1) X(2, 3) X(4, 5) X(6, 7) X(8, 9) X(10, 11) X(12, 13) X(14, 15) X(16, 17) X(18, 19) X(20, 21) \
    X(22, 23) X(24, 25) X(26, 27) X(28, 29) X(30, 31) X(0, 2) X(1, 3) X(4, 6) X(5, 7) X(8, 10) X(9, 11) \
    X(12, 14) X(13, 15) X(16, 18) X(17, 19) X(20, 22) X(21, 23) X(24, 26) X(25, 27) X(28, 30) X(29, 31) X(1, 2) \
    X(5, 6) X(9, 10) X(13, 14) X(17, 18) X(21, 22) X(25, 26) X(29, 30) X(0, 4) X(1, 5) X(2, 6) X(3, 7) X(8, 12) \
    X(9, 13) X(10, 14) X(11, 15) X(16, 20) X(17, 21) X(18, 22) X(19, 23) X(24, 28) X(25, 29) X(26, 30) \
    X(27, 31) X(2, 4) X(3, 5) X(10, 12) X(11, 13) X(18, 20) X(19, 21) X(26, 28) X(27, 29) X(1, 2) X(3, 4) \
    X(5, 6) X(9, 10) X(11, 12) X(13, 14) X(17, 18) X(19, 20) X(21, 22) X(25, 26) X(27, 28) X(29, 30) X(0, 8) \
    X(1, 9) X(2, 10) X(3, 11) X(4, 12) X(5, 13) X(6, 14) X(7, 15) X(16, 24) X(17, 25) X(18, 26) X(19, 27) \
    X(20, 28) X(21, 29) X(22, 30) X(23, 31) X(4, 8) X(5, 9) X(6, 10) X(7, 11) X(20, 24) X(21, 25) X(22, 26) \
    X(23, 27) X(2, 4) X(3, 5) X(6, 8) X(7, 9) X(10, 12) X(11, 13) X(18, 20) X(19, 21) X(22, 24) X(23, 25) \
    X(26, 28) X(27, 29) X(1, 2) X(3, 4) X(5, 6) X(7, 8) X(9, 10) X(11, 12) X(13, 14) X(17, 18) X(19, 20) \
    X(21, 22) X(23, 24) X(25, 26) X(27, 28) X(29, 30) X(0, 16) X(1, 17) X(2, 18) X(3, 19) X(4, 20) X(5, 21) \
    X(6, 22) X(7, 23) X(8, 24) X(9, 25) X(10, 26) X(11, 27) X(12, 28) X(13, 29) X(14, 30) X(15, 31) X(8, 16) \
    X(9, 17) X(10, 18) X(11, 19) X(12, 20) X(13, 21) X(14, 22) X(15, 23) X(4, 8) X(5, 9) X(6, 10) X(7, 11) \
    X(12, 16) X(13, 17) X(14, 18) X(15, 19) X(20, 24) X(21, 25) X(22, 26) X(23, 27) X(2, 4) X(3, 5) X(6, 8) \
    X(7, 9) X(10, 12) X(11, 13) X(14, 16) X(15, 17) X(18, 20) X(19, 21) X(22, 24) X(23, 25) X(26, 28) X(27, 29) \
    X(1, 2) X(3, 4) X(5, 6) X(7, 8) X(9, 10) X(11, 12) X(13, 14) X(15, 16) X(17, 18) X(19, 20) X(21, 22) \
    X(23, 24) X(25, 26) X(27, 28) X(29, 30)
/* clang-format on */

#define EXCHANGE(LOW, HIGH) exchange(&key[LOW], &key[HIGH]);

static inline void exchange(uint32_t *low, uint32_t *high)
{
    const uint32_t a = *low, b = *high;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

/* out = the two halves of `in`, one from each in turn: an element's place is turned left by a bit. */
static inline __attribute__((always_inline)) void interleave(uint32_t *restrict out, const uint32_t *restrict in)
{
    enum { HALF = SORT_LANES * SORT_WARPS_MAX / 2 };
    for (unsigned i = 0; i < HALF; i++) {
        out[2 * i] = in[i];
        out[2 * i + 1] = in[HALF + i];
    }
}

/* A place is 5 bits of the warp, then 5 of the lane: turned by 5 bits they have changed sides. */
VECTORS_WIDE void sort_warps_fill(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], const int64_t *address, int64_t base,
                                  unsigned shift)
{
    uint32_t other[SORT_LANES * SORT_WARPS_MAX];
    for (unsigned i = 0; i < SORT_LANES * SORT_WARPS_MAX; i++)
        other[i] = (uint32_t)((uint64_t)(address[i] - base) >> shift);
    interleave(keys[0], other);
    interleave(other, keys[0]);
    interleave(keys[0], other);
    interleave(other, keys[0]);
    interleave(keys[0], other);
}

/* Unrolled, a warp's keys are 32 values from the first exchange to the last, and those of many warps 32 vectors. */
VECTORS_WIDE void sort_warps(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], unsigned warps)
{
    enum { TOGETHER = 8 };
    const unsigned whole = (warps + TOGETHER - 1) / TOGETHER * TOGETHER;
    for (unsigned w = 0; w < whole; w++) {
        uint32_t key[SORT_LANES];
#pragma GCC unroll 32
        for (unsigned lane = 0; lane < SORT_LANES; lane++)
            key[lane] = keys[lane][w];
        NETWORK(EXCHANGE)
#pragma GCC unroll 32
        for (unsigned lane = 0; lane < SORT_LANES; lane++)
            keys[lane][w] = key[lane];
    }
}

VECTORS_WIDE void sort_warps_count(struct sorted_warp out[SORT_WARPS_MAX], uint32_t keys[SORT_LANES][SORT_WARPS_MAX],
                                   unsigned sector_shift, unsigned line_shift)
{
    uint32_t distinct[SORT_WARPS_MAX], sectors[SORT_WARPS_MAX], lines[SORT_WARPS_MAX];
    for (unsigned w = 0; w < SORT_WARPS_MAX; w++)
        distinct[w] = sectors[w] = lines[w] = 1;
    for (unsigned lane = 1; lane < SORT_LANES; lane++) {
        const uint32_t *restrict before = keys[lane - 1], *restrict here = keys[lane];
        for (unsigned w = 0; w < SORT_WARPS_MAX; w++) {
            const uint32_t differs = before[w] ^ here[w];
            distinct[w] += differs != 0;
            sectors[w] += differs >> sector_shift != 0;
            lines[w] += differs >> line_shift != 0;
        }
    }
    for (unsigned w = 0; w < SORT_WARPS_MAX; w++)
        out[w] = (struct sorted_warp){distinct[w], sectors[w], lines[w]};
}
