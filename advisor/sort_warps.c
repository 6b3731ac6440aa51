#include "sort_warps.h"

#include "vectors.h"

/* Batcher's odd-even merge sort of 32: compare-exchanges in order. */
/* clang-format off */
static const unsigned char network[][2] = {
    {0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}, {16, 17}, {18, 19}, {20, 21}, {22, 23},
    {24, 25}, {26, 27}, {28, 29}, {30, 31}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15},
    {16, 18}, {17, 19}, {20, 22}, {21, 23}, {24, 26}, {25, 27}, {28, 30}, {29, 31}, {1, 2}, {5, 6}, {9, 10},
    {13, 14}, {17, 18}, {21, 22}, {25, 26}, {29, 30}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14},
    {11, 15}, {16, 20}, {17, 21}, {18, 22}, {19, 23}, {24, 28}, {25, 29}, {26, 30}, {27, 31}, {2, 4}, {3, 5},
    {10, 12}, {11, 13}, {18, 20}, {19, 21}, {26, 28}, {27, 29}, {1, 2}, {3, 4}, {5, 6}, {9, 10}, {11, 12}, {13, 14},
    {17, 18}, {19, 20}, {21, 22}, {25, 26}, {27, 28}, {29, 30}, {0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13},
    {6, 14}, {7, 15}, {16, 24}, {17, 25}, {18, 26}, {19, 27}, {20, 28}, {21, 29}, {22, 30}, {23, 31}, {4, 8},
    {5, 9}, {6, 10}, {7, 11}, {20, 24}, {21, 25}, {22, 26}, {23, 27}, {2, 4}, {3, 5}, {6, 8}, {7, 9}, {10, 12},
    {11, 13}, {18, 20}, {19, 21}, {22, 24}, {23, 25}, {26, 28}, {27, 29}, {1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10},
    {11, 12}, {13, 14}, {17, 18}, {19, 20}, {21, 22}, {23, 24}, {25, 26}, {27, 28}, {29, 30}, {0, 16}, {1, 17},
    {2, 18}, {3, 19}, {4, 20}, {5, 21}, {6, 22}, {7, 23}, {8, 24}, {9, 25}, {10, 26}, {11, 27}, {12, 28}, {13, 29},
    {14, 30}, {15, 31}, {8, 16}, {9, 17}, {10, 18}, {11, 19}, {12, 20}, {13, 21}, {14, 22}, {15, 23}, {4, 8},
    {5, 9}, {6, 10}, {7, 11}, {12, 16}, {13, 17}, {14, 18}, {15, 19}, {20, 24}, {21, 25}, {22, 26}, {23, 27},
    {2, 4}, {3, 5}, {6, 8}, {7, 9}, {10, 12}, {11, 13}, {14, 16}, {15, 17}, {18, 20}, {19, 21}, {22, 24}, {23, 25},
    {26, 28}, {27, 29}, {1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}, {13, 14}, {15, 16}, {17, 18}, {19, 20},
    {21, 22}, {23, 24}, {25, 26}, {27, 28}, {29, 30},
};
/* clang-format on */

/* A constant number of warps lets each row be whole vectors. */
static inline __attribute__((always_inline)) void sort_columns(uint32_t keys[SORT_LANES][SORT_WARPS_MAX],
                                                               unsigned warps)
{
    /* Unrolled, the rows' places are constants. */
#pragma GCC unroll 191
    for (unsigned i = 0; i < sizeof(network) / sizeof(network[0]); i++) {
        uint32_t *restrict low = keys[network[i][0]], *restrict high = keys[network[i][1]];
        for (unsigned w = 0; w < warps; w++) {
            uint32_t a = low[w], b = high[w];
            low[w] = a < b ? a : b;
            high[w] = a < b ? b : a;
        }
    }
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

VECTORS_WIDE void sort_warps(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], unsigned warps)
{
    enum { FEW = 8, SOME = 16 };
    if (warps <= FEW)
        sort_columns(keys, FEW);
    else if (warps <= SOME)
        sort_columns(keys, SOME);
    else
        sort_columns(keys, SORT_WARPS_MAX);
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
