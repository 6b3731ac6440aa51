/* Takes one number a lane of several warps, sorts within each warp: many warps at once, by a network without branches.
 */
#ifndef SW_SORT_WARPS_H
#define SW_SORT_WARPS_H

#include <stdint.h>

enum { SORT_LANES = 32, SORT_WARPS_MAX = 32 };

/* What a warp's sorted keys show: how many different ones there are, and how many different ones after dropping
 * `sector_shift` or `line_shift` low bits. */
struct sorted_warp {
    uint32_t distinct, sectors, lines;
};

/* keys[lane][warp] = (address - base) >> shift of SORT_WARPS_MAX warps with SORT_LANES addresses each, warp by warp. */
void sort_warps_fill(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], const int64_t *address, int64_t base, unsigned shift);
/* keys[lane][warp], sorted in place along the lanes; of `warps` warps, rounded up to a multiple of 8. */
void sort_warps(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], unsigned warps);
/* Counts in sorted keys, one result a warp; both shifts are below 32. */
void sort_warps_count(struct sorted_warp out[SORT_WARPS_MAX], uint32_t keys[SORT_LANES][SORT_WARPS_MAX],
                      unsigned sector_shift, unsigned line_shift);

#endif
