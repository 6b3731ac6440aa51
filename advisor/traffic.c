#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "coverage.h"
#include "request.h"

void run_traffic_add(struct run_traffic *to, const struct run_traffic *more, uint64_t times)
{
    uint64_t *sum = &to->read_sectors;
    const uint64_t *from = &more->read_sectors;
    for (unsigned i = 0; i < sizeof(*to) / sizeof(*sum); i++) {
        uint64_t product;
        if (!checked_mul_u64(&product, from[i], times) || !checked_add_u64(&sum[i], sum[i], product))
            sum[i] = UINT64_MAX;
    }
}

static void grow_pages(struct traffic *traffic, size_t words)
{
    if (words <= traffic->page_words)
        return;
    size_t larger = words < 2 * traffic->page_words ? 2 * traffic->page_words : words;
    traffic->pages = realloc(traffic->pages, larger * sizeof(*traffic->pages));
    if (traffic->pages == NULL)
        abort();
    memset(traffic->pages + traffic->page_words, 0, (larger - traffic->page_words) * sizeof(*traffic->pages));
    traffic->page_words = larger;
}

static void mark_page(struct traffic *traffic, uint64_t page)
{
    if (page / 64 >= traffic->page_words)
        grow_pages(traffic, (size_t)(page / 64) + 1);
    traffic->pages[page / 64] |= UINT64_C(1) << page % 64;
}

/* A lane that opens a block of bytes in another page than the lane before needs that page's translation. (One that
 * opens none is in a page that is marked.) */
static void add_lanes(struct traffic *traffic, const int64_t *address, unsigned count, unsigned width, bool stores,
                      uint64_t page_bytes)
{
    const unsigned shift = (page_bytes & (page_bytes - 1)) == 0 ? (unsigned)__builtin_ctzll(page_bytes) : 0;
    uint16_t fresh[LAUNCH_THREADS_MAX];
    const unsigned found = block_set_add(&traffic->run, address, count, width, stores, fresh);
    for (unsigned i = 0; i < found; i++) {
        const bool first = fresh[i] == 0;
        const uint64_t place = (uint64_t)address[fresh[i]], before = first ? 0 : (uint64_t)address[fresh[i] - 1];
        const uint64_t page = shift != 0 ? place >> shift : place / page_bytes;
        const bool moved = first || page != (shift != 0 ? before >> shift : before / page_bytes);
        traffic->run_page_moves += moved && !first;
        if (moved)
            mark_page(traffic, page);
    }
}

/* L1 has the banks of shared memory: data of a request goes in as many passes. */
static uint64_t count_wavefronts(const struct pattern *pattern)
{
    uint64_t sum = 0;
    for (unsigned first = 0; first < pattern->threads; first += WARP_LANES) {
        struct request_pass passes[SHARED_PASSES_MAX];
        int64_t address[WARP_LANES] = {0};
        const uint32_t active = (uint32_t)(pattern->active[first / 64] >> (first % 64));
        for (unsigned lane = 0; lane < WARP_LANES && first + lane < pattern->threads; lane++)
            address[lane] = pattern->address[first + lane];
        for (unsigned i = active == 0 ? 0 : request_passes(passes, address, active, pattern->width); i > 0; i--)
            sum += passes[i - 1].wavefronts;
    }
    return sum;
}

static bool repeats(const struct pattern *pattern)
{
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (pattern->count[k] > 1)
            return true;
    return false;
}

/* Each warp's places as if they were in memory of its own. */
static void add_merged(struct traffic *traffic, const struct pattern *pattern)
{
    enum { APART_SHIFT = 52 };
    uint16_t fresh[WARP_LANES];
    for (unsigned first = 0; first < pattern->threads; first += WARP_LANES) {
        int64_t address[WARP_LANES];
        unsigned count = 0;
        for (unsigned t = first; t < first + WARP_LANES && t < pattern->threads; t++)
            if ((pattern->active[t / 64] >> t % 64 & 1) != 0)
                address[count++] = pattern->address[t] + ((int64_t)(first / WARP_LANES) << APART_SHIFT);
        (void)block_set_add(&traffic->merged, address, count, pattern->width, true, fresh);
    }
}

void traffic_add_run(struct traffic *traffic, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                     bool stores, uint64_t lines, const struct device *device)
{
    add_lanes(traffic, addresses, count, pattern->width, stores, (uint64_t)device->page_bytes);
    if (stores && repeats(pattern))
        add_merged(traffic, pattern);
    if (!stores)
        traffic->run_wavefronts += repeats(pattern) ? count_wavefronts(pattern) : (lines + 1) / 2;
}

enum { TOUCHES_READ = 1, TOUCHES_WRITTEN = 2 };

void traffic_touch_shared(struct traffic *traffic, bool loads, bool stores)
{
    traffic->run_touches |= (loads ? TOUCHES_READ : 0) | (stores ? TOUCHES_WRITTEN : 0);
}

static bool touches_meet(unsigned before, unsigned now)
{
    return ((before & TOUCHES_READ) != 0 && (now & TOUCHES_WRITTEN) != 0) ||
           ((before & TOUCHES_WRITTEN) != 0 && (now & TOUCHES_READ) != 0);
}

/* A block's threads wait for each other before the run, and between its trips, where what one reads another may have
 * written. */
static uint64_t count_barriers(struct traffic *traffic, uint64_t weight, uint64_t blocks)
{
    const unsigned now = traffic->run_touches;
    const bool before = touches_meet(traffic->pending, now), between = touches_meet(now, now);
    traffic->pending = before ? now : traffic->pending | now;
    return (before ? blocks : 0) + (between && weight > blocks ? weight - blocks : 0);
}

bool traffic_has_trips(const struct traffic *traffic, const struct pattern *pattern)
{
    bool loops = traffic->box_reads != NULL;
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
        loops |= pattern->count[k] > 1;
    return loops;
}

static void add_reads(struct coverage **reads, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                      uint64_t bytes, const uint64_t trips[])
{
    if (*reads == NULL)
        *reads = coverage_new(bytes, 1, 1);
    if (*reads == NULL || !coverage_add(*reads, 0, false, addresses, count, pattern->width, LAUNCH_DIMS_MAX - 3,
                                        pattern->step + 3, trips))
        abort();
}

/* Notes a load's trips around the innermost loop alone, where it has one like the loads before it. */
static void add_inner(struct traffic *traffic, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                      uint64_t bytes)
{
    uint64_t trips[LAUNCH_DIMS_MAX - 3], times = 1;
    unsigned inner = LAUNCH_DIMS_MAX - 1;
    while (inner >= 3 && pattern->count[inner] <= 1)
        inner--;
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++) {
        trips[k - 3] = k == inner ? pattern->count[k] : 1;
        if (k != inner && !checked_mul_u64(&times, times, pattern->count[k]))
            times = 0;
    }
    if (inner < 3)
        times = 0;
    traffic->inner_times = traffic->inner_reads == NULL || traffic->inner_times == times ? times : 0;
    add_reads(&traffic->inner_reads, pattern, addresses, count, bytes, trips);
}

void traffic_add_trips(struct traffic *traffic, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                       uint64_t bytes)
{
    add_reads(&traffic->box_reads, pattern, addresses, count, bytes, pattern->count + 3);
    add_inner(traffic, pattern, addresses, count, bytes);
}

/* Of up to eight blocks at once, a byte each. */
static void count_reads(struct run_traffic *sum, const struct block_set *run)
{
    const uint64_t each_pair = UINT64_C(0x5555555555555555), each_line = UINT64_C(0x1111111111111111);
    for (size_t i = 0; i < run->count; i += sizeof(uint64_t)) {
        uint64_t read = 0;
        memcpy(&read, run->read + i, run->count - i < sizeof(read) ? run->count - i : sizeof(read));
        const uint64_t pairs = read | read >> 1;
        sum->read_sectors += (unsigned)__builtin_popcountll(read);
        sum->read_pairs += (unsigned)__builtin_popcountll(pairs & each_pair);
        sum->read_lines += (unsigned)__builtin_popcountll((pairs | pairs >> 2) & each_line);
    }
}

static uint32_t bytes_of_sector(const uint64_t written[SET_WRITTEN_WORDS], unsigned sector)
{
    return (uint32_t)(written[sector / 2] >> (sector % 2 * SECTOR_BYTES));
}

static void count_writes(struct run_traffic *sum, const struct block_set *run)
{
    for (size_t i = 0; i < run->count; i++)
        for (unsigned s = 0; s < SET_BLOCK_BYTES / SECTOR_BYTES; s++) {
            const uint32_t bytes = bytes_of_sector(run->written[i], s);
            sum->written_sectors += bytes != 0;
            sum->written_pairs += s % 2 == 0 && run->written[i][s / 2] != 0;
            sum->fill_sectors += bytes != 0 && bytes != UINT32_MAX && (run->read[i] >> s & 1) == 0;
        }
}

/* A bit a sector with a written byte. */
static unsigned written_sectors(const uint64_t *written)
{
    unsigned sectors = 0;
    for (unsigned s = 0; written != NULL && s < SET_BLOCK_BYTES / SECTOR_BYTES; s++)
        sectors |= (unsigned)(bytes_of_sector(written, s) != 0) << s;
    return sectors;
}

static uint64_t count_written(const struct block_set *set)
{
    uint64_t sectors = 0;
    for (size_t i = 0; i < set->count; i++)
        sectors += (uint64_t)__builtin_popcount(written_sectors(set->written[i]));
    return sectors;
}

static uint64_t count_pieces(const struct block_set *run)
{
    const unsigned last = SET_BLOCK_BYTES / SECTOR_BYTES - 1;
    uint64_t pieces = 0;
    for (size_t i = 0; i < run->count; i++) {
        const unsigned sectors = written_sectors(run->written[i]);
        unsigned before = sectors << 1;
        if ((sectors & 1) != 0)
            before |= written_sectors(block_set_written(run, run->address[i] - 1)) >> last;
        pieces += (uint64_t)__builtin_popcount(sectors & ~before);
    }
    return pieces;
}

/* Most boxes have one run, which need not be copied. */
static void keep_run(struct traffic *traffic)
{
    if (traffic->box_runs++ > 0) {
        block_set_add_reads(&traffic->trips, &traffic->run);
        return;
    }
    const struct block_set empty = traffic->trips;
    traffic->trips = traffic->run;
    traffic->run = empty;
}

void traffic_end_run(struct traffic *traffic, uint64_t weight, uint64_t blocks)
{
    if (traffic->run_touches != 0) {
        const struct run_traffic waits = {.barriers = count_barriers(traffic, weight, blocks)};
        run_traffic_add(&traffic->box, &waits, 1);
    }
    struct run_traffic run = {.load_wavefronts = traffic->run_wavefronts,
                              .blocks = traffic->run.count,
                              .page_moves = traffic->run_page_moves};
    count_reads(&run, &traffic->run);
    if (traffic->run.writes) {
        count_writes(&run, &traffic->run);
        run.pieces = count_pieces(&traffic->run);
        run.writing = 1;
        run.merged_sectors = run.written_sectors;
        if (traffic->merged.count > 0)
            run.merged_sectors = count_written(&traffic->merged);
    }
    if (traffic->run.count > 0) {
        run_traffic_add(&traffic->box, &run, weight);
        keep_run(traffic);
    }
    traffic_forget(traffic, false);
}

/* Takes what is read once, so many times, for what the box's runs read, where that is less. */
static void keep_reads(struct run_traffic *box, const struct footprint *once, uint64_t times)
{
    uint64_t sectors;
    if (!checked_mul_u64(&sectors, once->read_sectors, times) || sectors >= box->read_sectors)
        return;
    box->read_sectors = sectors;
    box->read_lines = once->lines * times;
    box->read_pairs = once->read_pairs * times;
}

static struct footprint count_trips(const struct block_set *trips)
{
    struct run_traffic sum = {0};
    count_reads(&sum, trips);
    return (struct footprint){.read_sectors = sum.read_sectors, .lines = sum.read_lines, .read_pairs = sum.read_pairs};
}

void traffic_end_box(struct traffic *traffic, uint64_t blocks, uint64_t l1_bytes)
{
    const uint64_t kept = l1_bytes / SECTOR_BYTES / 2;
    struct footprint once;
    uint64_t times;
    if (traffic->box_reads == NULL && traffic->box_runs > 1) {
        once = count_trips(&traffic->trips);
        if (once.read_sectors <= kept)
            keep_reads(&traffic->box, &once, blocks);
    } else if (traffic->box_reads != NULL && coverage_count(traffic->box_reads, &once) && once.read_sectors <= kept)
        keep_reads(&traffic->box, &once, blocks);
    else if (traffic->inner_reads != NULL && checked_mul_u64(&times, traffic->inner_times, blocks) && times > 0 &&
             coverage_count(traffic->inner_reads, &once))
        keep_reads(&traffic->box, &once, times);
    run_traffic_add(&traffic->sum, &traffic->box, 1);
    traffic->box = (struct run_traffic){0};
    block_set_clear(&traffic->trips);
    traffic->box_runs = 0;
    traffic->pending = 0;
    coverage_free(traffic->box_reads);
    coverage_free(traffic->inner_reads);
    traffic->box_reads = traffic->inner_reads = NULL;
}

void traffic_forget(struct traffic *traffic, bool whole_box)
{
    block_set_clear(&traffic->run);
    block_set_clear(&traffic->merged);
    traffic->run_wavefronts = traffic->run_page_moves = 0;
    traffic->run_touches = 0;
    if (whole_box) {
        traffic->pending = 0;
        block_set_clear(&traffic->trips);
        traffic->box_runs = 0;
    }
    if (whole_box && traffic->box_reads != NULL)
        coverage_clear(traffic->box_reads);
    if (whole_box && traffic->inner_reads != NULL)
        coverage_clear(traffic->inner_reads);
}

void traffic_merge(struct traffic *to, const struct traffic *more)
{
    run_traffic_add(&to->sum, &more->sum, 1);
    grow_pages(to, more->page_words);
    for (size_t i = 0; i < more->page_words; i++)
        to->pages[i] |= more->pages[i];
}

uint64_t traffic_count_pages(const struct traffic *traffic)
{
    uint64_t count = 0;
    for (size_t i = 0; i < traffic->page_words; i++)
        count += (uint64_t)__builtin_popcountll(traffic->pages[i]);
    return count;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->pages);
    block_set_free(&traffic->run);
    block_set_free(&traffic->merged);
    block_set_free(&traffic->trips);
    coverage_free(traffic->box_reads);
    coverage_free(traffic->inner_reads);
}
