#include "request.h"

#include <string.h>

#include "checked.h"
#include "lanes.h"
#include "sort_warps.h"

/* The active lanes' addresses in ascending order. Most instructions come sorted. */
static unsigned sort_active(int64_t sorted[WARP_LANES], const int64_t address[WARP_LANES], uint32_t active)
{
    unsigned count = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        int64_t a = address[__builtin_ctz(rest)];
        unsigned at = count++;
        for (; at > 0 && sorted[at - 1] > a; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = a;
    }
    return count;
}

static void add_common(struct counts *counts, uint32_t active, unsigned width, uint64_t distinct)
{
    counts->instructions += 1;
    counts->asked_bytes += (uint64_t)width * (unsigned)__builtin_popcount(active);
    counts->unique_bytes += width * distinct;
}

void request_add_global(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width)
{
    int64_t sorted[WARP_LANES] = {0};
    unsigned count = sort_active(sorted, address, active);
    uint64_t distinct = 0, sectors = 0, lines = 0;
    int64_t last = INT64_MIN, last_sector = INT64_MIN, last_line = INT64_MIN;
    for (unsigned i = 0; i < count; i++) {
        int64_t sector = sorted[i] >> 5, line = sorted[i] >> 7;
        distinct += sorted[i] != last;
        sectors += sector != last_sector;
        lines += line != last_line;
        last = sorted[i];
        last_sector = sector;
        last_line = line;
    }
    add_common(counts, active, width, distinct);
    counts->requests += 1;
    counts->sectors += sectors;
    counts->lines += lines;
    counts->ideal_sectors += (distinct * width + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

void request_add_atomic(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width)
{
    int64_t sorted[WARP_LANES] = {0};
    const unsigned count = sort_active(sorted, address, active);
    unsigned turns = 0, lanes = 0; /* of the sector and of the value at hand */
    for (unsigned i = 0; i < count; i++) {
        const bool same_sector = i > 0 && sorted[i] >> 5 == sorted[i - 1] >> 5;
        lanes = i > 0 && sorted[i] == sorted[i - 1] ? lanes + 1 : 1;
        counts->atomic_sectors += same_sector ? 0 : turns;
        turns = same_sector && turns > lanes ? turns : lanes;
    }
    counts->atomic_sectors += turns;
    request_add_global(counts, address, active, width);
}

static uint32_t warp_mask(const uint64_t *active, unsigned first)
{
    return (uint32_t)(active[first / 64] >> (first % 64));
}

/* A key is an address's distance from `base` in widths. */
static void fill_whole(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], unsigned warp, const int64_t *address, int64_t base,
                       unsigned width_shift)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        keys[lane][warp] = (uint32_t)((uint64_t)(address[lane] - base) >> width_shift);
}

/* An inactive lane takes the place of its warp's first active one, which changes no count of different places. */
static void fill_part(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], unsigned warp, const int64_t *address, uint32_t mask,
                      int64_t base, unsigned width_shift)
{
    const int64_t substitute = address[__builtin_ctz(mask)];
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        const int64_t a = (mask >> lane & 1) != 0 ? address[lane] : substitute;
        keys[lane][warp] = (uint32_t)((uint64_t)(a - base) >> width_shift);
    }
}

/* Where keys of 32 bits can count from; false where the active lanes reach too far apart for them. */
static bool find_base(int64_t *base, const int64_t *address, const uint64_t *active, unsigned threads,
                      unsigned width_shift)
{
    int64_t low, high;
    lanes_bounds(&low, &high, (struct lanes){address, 0}, threads);
    *base = 0;
    /* Most launches need no base. Inactive lanes hold anything: they are left out only where they might matter. */
    if (low >= 0 && (uint64_t)high >> width_shift <= UINT32_MAX)
        return true;
    low = INT64_MAX;
    high = INT64_MIN;
    for (unsigned t = 0; t < threads; t++) {
        const bool runs = (active[t / 64] >> (t % 64) & 1) != 0;
        low = runs && address[t] < low ? address[t] : low;
        high = runs && address[t] > high ? address[t] : high;
    }
    *base = low & -(int64_t)LINE_BYTES; /* sectors and lines begin at multiples of it */
    return low > high || (uint64_t)(high - *base) >> width_shift <= UINT32_MAX;
}

/* Keys of the warps with an active lane, side by side, and their masks; gives how many they are. */
static unsigned fill_keys(uint32_t keys[SORT_LANES][SORT_WARPS_MAX], uint32_t masks[SORT_WARPS_MAX],
                          const int64_t *address, const uint64_t *active, unsigned threads, int64_t base,
                          unsigned width_shift)
{
    unsigned warps = 0, whole = 0;
    for (unsigned first = 0; first < threads; first += WARP_LANES)
        whole += warp_mask(active, first) == UINT32_MAX;
    if (whole == SORT_WARPS_MAX) {
        memset(masks, 0xff, SORT_WARPS_MAX * sizeof(*masks));
        sort_warps_fill(keys, address, base, width_shift);
        return whole;
    }
    memset(keys, 0, SORT_LANES * sizeof(*keys));
    for (unsigned first = 0; first < threads; first += WARP_LANES) {
        masks[warps] = warp_mask(active, first);
        if (masks[warps] == UINT32_MAX)
            fill_whole(keys, warps, address + first, base, width_shift);
        else if (masks[warps] != 0)
            fill_part(keys, warps, address + first, masks[warps], base, width_shift);
        warps += masks[warps] != 0;
    }
    return warps;
}

bool request_add_block(struct counts *counts, const int64_t *address, const uint64_t *active, unsigned threads,
                       unsigned width)
{
    uint32_t keys[SORT_LANES][SORT_WARPS_MAX];
    struct sorted_warp sorted[SORT_WARPS_MAX];
    uint32_t masks[SORT_WARPS_MAX];
    const unsigned shift = (unsigned)__builtin_ctz(width);
    int64_t base;
    if (!find_base(&base, address, active, threads, shift))
        return false;
    const unsigned warps = fill_keys(keys, masks, address, active, threads, base, shift);
    sort_warps(keys, warps);
    sort_warps_count(sorted, keys, 5 - shift, 7 - shift);
    for (unsigned w = 0; w < warps; w++) {
        add_common(counts, masks[w], width, sorted[w].distinct);
        counts->sectors += sorted[w].sectors;
        counts->lines += sorted[w].lines;
        counts->ideal_sectors += ((uint64_t)sorted[w].distinct * width + SECTOR_BYTES - 1) / SECTOR_BYTES;
    }
    counts->requests += warps;
    return true;
}

/* Each active lane's partner (lane ^ x) is inactive or has the same address. */
static bool partners_agree(const int64_t address[WARP_LANES], uint32_t active, unsigned x)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        bool both = (active >> lane & 1) != 0 && (active >> (lane ^ x) & 1) != 0;
        if (both && address[lane] != address[lane ^ x])
            return false;
    }
    return true;
}

static bool is_mergeable(const int64_t address[WARP_LANES], uint32_t active)
{
    return partners_agree(address, active, 1) || partners_agree(address, active, 2);
}

/* How many distinct words these lanes want of each bank, which starts as zeros; the most of one is given. */
static unsigned ways(unsigned used[SHARED_BANKS], const int64_t address[WARP_LANES], uint32_t active, unsigned width)
{
    enum { WORDS_MAX = 4 };
    int64_t words[SHARED_BANKS][WARP_LANES * WORDS_MAX / 2];
    unsigned most = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        int64_t first = address[__builtin_ctz(rest)];
        for (int64_t word = first >> 2; word <= (first + (int64_t)width - 1) >> 2; word++) {
            unsigned bank = (unsigned)(word & (SHARED_BANKS - 1)), i = 0;
            while (i < used[bank] && words[bank][i] != word)
                i++;
            if (i < used[bank])
                continue;
            words[bank][used[bank]++] = word;
            most = used[bank] > most ? used[bank] : most;
        }
    }
    return most;
}

/* How many lanes go in one pass: MODEL.md has the rule, which explains every shared row measured. */
static unsigned lanes_a_pass(const int64_t address[WARP_LANES], uint32_t active, unsigned width, unsigned first_lane)
{
    enum { HALF = 16, QUARTER = 8 };
    const uint32_t half = UINT32_C(0xffff) << first_lane;
    if (width <= SHARED_WORD_BYTES)
        return WARP_LANES;
    if (width == 2 * SHARED_WORD_BYTES)
        return is_mergeable(address, active) ? WARP_LANES : HALF;
    return is_mergeable(address, active & half) ? HALF : QUARTER;
}

unsigned request_passes(struct request_pass passes[SHARED_PASSES_MAX], const int64_t address[WARP_LANES],
                        uint32_t active, unsigned width)
{
    unsigned count = 0, step;
    for (unsigned lane = 0; lane < WARP_LANES; lane += step) {
        step = lanes_a_pass(address, active, width, lane / 16 * 16);
        uint32_t these = step == WARP_LANES ? UINT32_MAX : ((UINT32_C(1) << step) - 1) << lane;
        if ((active & these) == 0)
            continue;
        struct request_pass *pass = &passes[count++];
        *pass = (struct request_pass){.lanes = active & these};
        pass->wavefronts = ways(pass->words, address, pass->lanes, width);
    }
    return count;
}

void request_add_shared(struct counts *counts, const int64_t address[WARP_LANES], uint32_t active, unsigned width)
{
    struct request_pass passes[SHARED_PASSES_MAX];
    const unsigned count = request_passes(passes, address, active, width);
    unsigned wavefronts = 0;
    for (unsigned i = 0; i < count; i++)
        wavefronts += passes[i].wavefronts;
    int64_t sorted[WARP_LANES] = {0};
    unsigned lanes = sort_active(sorted, address, active);
    uint64_t distinct = 0;
    for (unsigned i = 0; i < lanes; i++)
        distinct += i == 0 || sorted[i] != sorted[i - 1];
    add_common(counts, active, width, distinct);
    counts->wavefronts += wavefronts;
    counts->conflicts += wavefronts - count;
}

bool counts_add(struct counts *counts, const struct counts *more, uint64_t times)
{
    uint64_t *to = &counts->instructions;
    const uint64_t *from = &more->instructions;
    for (unsigned i = 0; i < sizeof(*counts) / sizeof(*to); i++) {
        uint64_t product;
        if (!checked_mul_u64(&product, from[i], times) || !checked_add_u64(&to[i], to[i], product) || to[i] > INT64_MAX)
            return false;
    }
    return true;
}

void counts_add_difference(struct counts *counts, const struct counts *now, const struct counts *before)
{
    uint64_t *to = &counts->instructions;
    const uint64_t *above = &now->instructions, *below = &before->instructions;
    for (unsigned i = 0; i < sizeof(*counts) / sizeof(*to); i++)
        to[i] += above[i] - below[i];
}
