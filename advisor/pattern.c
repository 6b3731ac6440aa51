#include "pattern.h"

#include <string.h>

#include "checked.h"
#include "lanes.h"

/* Sectors and lines repeat after LINE_BYTES, the 32 banks of 4 bytes too. */
enum { PERIOD = LINE_BYTES };

/* weight[r]: at how many points of the box the steps add r modulo PERIOD. */
struct residues {
    uint64_t weight[PERIOD];
};

static bool add_weight(uint64_t *to, uint64_t times, uint64_t weight)
{
    uint64_t product;
    return checked_mul_u64(&product, times, weight) && checked_add_u64(to, *to, product) && *to <= INT64_MAX;
}

/* One more dimension: a cyclic convolution with the residues of 0, step, 2 step, ... */
static bool add_dimension(struct residues *residues, int64_t step, uint64_t count)
{
    struct residues more = {{0}}, sum = {{0}};
    unsigned advance = (unsigned)((step % PERIOD + PERIOD) % PERIOD);
    for (unsigned i = 0, r = 0; i < PERIOD && i < count; i++, r = (r + advance) % PERIOD)
        more.weight[r] += (count - i - 1) / PERIOD + 1;
    for (unsigned a = 0; a < PERIOD; a++)
        for (unsigned b = 0; b < PERIOD && residues->weight[a] != 0; b++)
            if (more.weight[b] != 0 && !add_weight(&sum.weight[(a + b) % PERIOD], residues->weight[a], more.weight[b]))
                return false;
    *residues = sum;
    return true;
}

static bool find_residues(struct residues *residues, const struct pattern *pattern)
{
    memset(residues, 0, sizeof(*residues));
    residues->weight[0] = 1;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        if (pattern->count[k] <= 1)
            continue;
        bool fits =
            pattern->step[k] % PERIOD != 0 ? add_dimension(residues, pattern->step[k], pattern->count[k]) : true;
        for (unsigned r = 0; r < PERIOD && fits && pattern->step[k] % PERIOD == 0; r++)
            fits = checked_mul_u64(&residues->weight[r], residues->weight[r], pattern->count[k]) &&
                   residues->weight[r] <= INT64_MAX;
        if (!fits)
            return false;
    }
    return true;
}

static uint32_t warp_mask(const uint64_t *active, unsigned first)
{
    return (uint32_t)(active[first / 64] >> (first % 64));
}

static void add_request(struct counts *counts, const struct pattern *pattern, const int64_t *address, uint32_t mask)
{
    if (pattern->shared)
        request_add_shared(counts, address, mask, pattern->width);
    else if (pattern->atomic)
        request_add_atomic(counts, address, mask, pattern->width);
    else
        request_add_global(counts, address, mask, pattern->width);
}

/* Lanes in order are counted as they come; sorting pays where many are out of order. */
static bool in_disorder(const struct pattern *pattern)
{
    return lanes_descents(pattern->address, pattern->threads) > pattern->threads / 8;
}

/* All warps with every lane moved by `shift` bytes, once. */
static void count_warps(struct counts *counts, const struct pattern *pattern, int64_t shift, bool disorder)
{
    if (disorder && shift == 0 &&
        request_add_block(counts, pattern->address, pattern->active, pattern->threads, pattern->width))
        return;
    for (unsigned first = 0; first < pattern->threads; first += WARP_LANES) {
        uint32_t mask = warp_mask(pattern->active, first);
        if (mask == 0)
            continue;
        if (shift == 0 && pattern->threads - first >= WARP_LANES) {
            add_request(counts, pattern, pattern->address + first, mask);
            continue;
        }
        int64_t moved[WARP_LANES] = {0};
        for (unsigned lane = 0; lane < WARP_LANES && first + lane < pattern->threads; lane++)
            moved[lane] = pattern->address[first + lane] + shift;
        add_request(counts, pattern, moved, mask);
    }
}

bool pattern_count(struct counts *counts, const struct pattern *pattern)
{
    struct residues residues;
    bool alone = true;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        alone = alone && pattern->count[k] <= 1;
    const bool disorder = !pattern->shared && !pattern->atomic && in_disorder(pattern);
    if (alone) {
        count_warps(counts, pattern, 0, disorder);
        return counts->asked_bytes <= INT64_MAX;
    }
    if (!find_residues(&residues, pattern))
        return false;
    for (unsigned r = 0; r < PERIOD; r++) {
        if (residues.weight[r] == 0)
            continue;
        struct counts once = {0};
        count_warps(&once, pattern, r, disorder);
        if (!counts_add(counts, &once, residues.weight[r]))
            return false;
    }
    return true;
}

/* Dimensions of a box from the one that tells first from later first: blocks in launch order, then loops. */
static const unsigned significance[LAUNCH_DIMS_MAX] = {2, 1, 0, 3, 4, 5, 6, 7};

static unsigned residue_of(int64_t distance)
{
    return (unsigned)((distance % PERIOD + PERIOD) % PERIOD);
}

/* reach[i][r]: some point of the dimensions from the i-th significant on moves the lanes by r modulo PERIOD. */
static void find_reach(bool reach[LAUNCH_DIMS_MAX + 1][PERIOD], const struct pattern *pattern)
{
    memset(reach, 0, (LAUNCH_DIMS_MAX + 1) * sizeof(*reach));
    reach[LAUNCH_DIMS_MAX][0] = true;
    for (unsigned i = LAUNCH_DIMS_MAX; i-- > 0;) {
        const unsigned k = significance[i], advance = residue_of(pattern->step[k]);
        for (unsigned q = 0, moved = 0; q < PERIOD && q < pattern->count[k]; q++, moved = (moved + advance) % PERIOD)
            for (unsigned r = 0; r < PERIOD; r++)
                reach[i][(r + moved) % PERIOD] |= reach[i + 1][r];
    }
}

static void find_first(uint64_t first[LAUNCH_DIMS_MAX], const struct pattern *pattern,
                       bool reach[LAUNCH_DIMS_MAX + 1][PERIOD], unsigned residue)
{
    for (unsigned i = 0; i < LAUNCH_DIMS_MAX; i++) {
        const unsigned k = significance[i], advance = residue_of(pattern->step[k]);
        uint64_t q = 0;
        while (!reach[i + 1][residue]) {
            residue = (residue + PERIOD - advance) % PERIOD;
            q++;
        }
        first[k] = q;
    }
}

bool pattern_visit(const struct pattern *pattern, pattern_visitor *visitor, void *context)
{
    struct residues residues;
    bool reach[LAUNCH_DIMS_MAX + 1][PERIOD];
    if (!find_residues(&residues, pattern))
        return false;
    find_reach(reach, pattern);
    for (unsigned r = 0; r < PERIOD; r++) {
        struct pattern_visit visit = {.times = residues.weight[r]};
        if (visit.times == 0)
            continue;
        find_first(visit.first, pattern, reach, r);
        for (unsigned start = 0; start < pattern->threads; start += WARP_LANES) {
            int64_t moved[WARP_LANES] = {0};
            visit.warp = start / WARP_LANES;
            visit.active = warp_mask(pattern->active, start);
            if (visit.active == 0)
                continue;
            for (unsigned lane = 0; lane < WARP_LANES && start + lane < pattern->threads; lane++)
                moved[lane] = pattern->address[start + lane] + r;
            visit.counts = (struct counts){0};
            add_request(&visit.counts, pattern, moved, visit.active);
            visitor(context, &visit);
        }
    }
    return true;
}
