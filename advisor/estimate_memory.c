#include "estimate_memory.h"

#include "coverage.h"
#include "request.h"

/* What one array's accesses ask of global memory. */
struct asked {
    double load_requests, load_sectors, load_lines;
    double store_requests, store_sectors, store_lines, stored_bytes;
};

/* What the kernel's arrays share. */
struct chip {
    const struct device *device;
    double random_misses; /* of accesses in random order, the share that L2 does not have */
    double streamed;      /* of accesses in order, the share that L2 does not have from the launch before */
    bool random_reads;    /* some array is read in random order */
};

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static double clamp(double value)
{
    return at_least(at_most(value, 1), 0);
}

static struct asked asked_of(const struct kernel_score *score, const struct array *array)
{
    struct asked sum = {0};
    for (size_t i = 0; i < score->access_count; i++) {
        const struct access_score *access = &score->accesses[i];
        if (access->array != array || access->space != SPACE_GLOBAL)
            continue;
        const double requests = (double)access->counts.requests, sectors = (double)access->counts.sectors;
        if (access->op == ACCESS_READ) {
            sum.load_requests += requests;
            sum.load_sectors += sectors;
            sum.load_lines += (double)access->counts.lines;
            continue;
        }
        sum.store_requests += requests;
        sum.store_sectors += sectors;
        sum.store_lines += (double)access->counts.lines;
        sum.stored_bytes += (double)access->counts.unique_bytes;
    }
    return sum;
}

/* How much of an array is accessed in no order: the share of its blocks that lie in another page than the one before.
 */
static double scattered(const struct array_score *array)
{
    const double mostly = 0.75;
    double share = array->runs.blocks > 0 ? (double)array->runs.page_moves / (double)array->runs.blocks : 0;
    return share >= mostly ? 1 : share;
}

/* A further store to sectors that the warp's last one wrote merges with it, if it comes soon: with few sectors to a
 * request always, with twice as many never. */
static double sectors_after_merging(const struct asked *asked, const struct array_score *array,
                                    const struct device *device)
{
    if (asked->store_requests < 1)
        return 0;
    const double few = (double)device->l1_merge_sectors, distinct = (double)array->runs.merged_sectors;
    const double repeated = at_least(asked->store_sectors - distinct, 0);
    const double apart = clamp((asked->store_sectors / asked->store_requests - few) / few);
    return asked->store_sectors - repeated * (1 - apart);
}

/* Sectors that are written in part take longer, and longer still in many lines. */
static double store_ns(const struct asked *asked, const struct array_score *array, const struct device *device)
{
    const double sectors = sectors_after_merging(asked, array, device);
    if (sectors < 1)
        return 0;
    const double whole = at_most(asked->stored_bytes / (SECTOR_BYTES * sectors), 1);
    const double part = at_most(2 * (1 - whole), 1), lines = asked->store_lines * sectors / asked->store_sectors;
    return sectors * ((1 - part) / device->l2_write_sectors_per_ns + part / device->l2_part_sectors_per_ns) +
           part * lines / device->l2_part_lines_per_ns;
}

/* What a grid that walks its data in order reads again, it reads while it is still near: an eighth is lost. */
static double read_again_sectors(const struct array_score *array, const struct chip *chip)
{
    const double again = (double)array->runs.read_sectors - (double)array->read_sectors;
    return at_least(again, 0) * chip->random_misses / 8;
}

/* Bytes that DRAM moves for a launch that finds L2 empty. Reads come in pairs; fills singly. In random order, what was
 * there is found again as far as L2 keeps it. */
static void add_cold_traffic(struct memory_work *work, const struct array_score *array, const struct chip *chip)
{
    const double random = scattered(array), ordered = 1 - random, missed = chip->random_misses;
    const double pairs = (double)array->read_pairs, fills = (double)array->unread_fill_sectors;
    const double written = (double)array->written_sectors;
    const double pairs_again = at_least((double)array->runs.read_pairs - pairs, 0) * missed;
    const double fills_again = at_least((double)array->runs.fill_sectors - fills, 0) * missed;
    const double written_again = at_least((double)array->runs.written_sectors - written, 0) * missed;
    const double sectors =
        2 * pairs + fills + ordered * read_again_sectors(array, chip) + random * (2 * pairs_again + fills_again);
    work->dram_read_bytes += sectors * SECTOR_BYTES;
    work->dram_write_bytes += (written + random * written_again) * SECTOR_BYTES;
}

/* A block of which something is written takes a least time, whole or not: what that is beyond its bytes' time. */
static double open_ns(double blocks, double sectors, bool mixed, const struct device *device)
{
    const double gbs = mixed ? device->dram_mixed_gbs : device->dram_write_gbs;
    const double least_ns = mixed ? device->dram_mixed_block_ns : device->dram_block_ns;
    return at_least(blocks * least_ns - sectors * SECTOR_BYTES / gbs, 0);
}

struct stream {
    double read_bytes, write_bytes;
};

static void add_stream(struct stream *stream, const struct array_score *array, const struct chip *chip)
{
    const double ordered = 1 - scattered(array);
    const double read = 2 * (double)array->read_pairs + (double)array->unread_fill_sectors;
    stream->read_bytes += ordered * (read + read_again_sectors(array, chip)) * SECTOR_BYTES;
    stream->write_bytes += ordered * (double)array->written_sectors * SECTOR_BYTES;
}

/* From 0 to 1: to how many distant places a block of threads writes. Five and more open too many rows of DRAM. */
static double spread_of(const struct kernel_score *score)
{
    const double many = 5;
    double pieces = 0, runs = 0;
    for (size_t i = 0; i < score->array_count; i++) {
        pieces += (double)score->arrays[i].runs.pieces;
        runs = at_least((double)score->arrays[i].runs.writing, runs);
    }
    return runs > 0 ? clamp((pieces / runs - 1) / (many - 1)) : 0;
}

static double stream_ns(const struct stream *stream, const struct kernel_score *score, const struct device *device)
{
    const bool mixed = stream->read_bytes > 0 && stream->write_bytes > 0;
    const double gbs = mixed                     ? device->dram_mixed_gbs
                       : stream->write_bytes > 0 ? device->dram_write_gbs
                                                 : device->dram_read_gbs;
    double ns = (stream->read_bytes + stream->write_bytes) / gbs;
    if (!mixed && stream->write_bytes > 0)
        ns *= 1 + device->dram_spread_loss * spread_of(score);
    for (size_t i = 0; i < score->array_count; i++) {
        const struct array_score *array = &score->arrays[i];
        const double blocks = (double)array->written_blocks, sectors = (double)array->written_sectors;
        ns += (1 - scattered(array)) * open_ns(blocks, sectors, mixed, device);
    }
    return ns;
}

/* Places of DRAM that are opened to write: what a read brought goes back together with its neighbour, and so do sectors
 * of a line that one request stores. */
static double places_written(const struct array_score *array, const struct asked *asked, const struct chip *chip)
{
    const double sectors = (double)array->runs.written_sectors, pairs = (double)array->runs.written_pairs;
    if (asked->store_lines < 1)
        return sectors;
    const double together = chip->random_reads ? 1 : clamp(asked->store_sectors / asked->store_lines - 1);
    return sectors + together * (pairs - sectors);
}

/* In random order each visit is on its own: what L2 does not have is read as a pair. What is written goes back a sector
 * at a time where it is not stored together, filled first where the visit leaves it in part. */
static double random_ns(const struct array_score *array, const struct asked *asked, const struct chip *chip,
                        double stores_ns)
{
    const struct device *device = chip->device;
    const double visits = scattered(array), misses = visits * chip->random_misses;
    if (misses <= 0)
        return 0;
    const double hit_ns = 1 / device->l2_lines_per_ns;
    const double pair_ns = 1 / device->dram_random_pairs_per_ns;
    const double sectors = (double)array->runs.written_sectors, fills = (double)array->runs.fill_sectors;
    const double apart = places_written(array, asked, chip);
    double ns = (double)array->runs.read_pairs * (misses * pair_ns + (visits - misses) * hit_ns);
    ns += misses * (sectors * SECTOR_BYTES / device->dram_write_gbs + fills * pair_ns);
    ns += misses * open_ns(apart, apart, chip->random_reads, device);
    /* Where nothing is read first, a store holds its place in L2 until the sector it pushes out is gone, and the next
     * store to a sector that waits for its fill waits too. */
    const double waiting = sectors > 0 ? at_least(asked->store_sectors - sectors, 0) * fills / sectors : 0;
    ns += misses * waiting * device->l2_fill_wait_ns;
    return ns + (chip->random_reads ? visits - misses : visits) * stores_ns;
}

static struct chip chip_of(const struct kernel_score *score, const struct device *device)
{
    struct chip chip = {.device = device};
    double footprint = 0;
    const double few = 0.25; /* blocks of an array in order that begin another page */
    const double kept = (double)device->l2_kept_bytes;
    for (size_t i = 0; i < score->array_count; i++) {
        footprint += (double)score->arrays[i].lines * LINE_BYTES;
        chip.random_reads |= scattered(&score->arrays[i]) > few && score->arrays[i].runs.read_sectors > 0;
    }
    chip.random_misses = footprint > kept ? 1 - kept / footprint : 0;
    chip.streamed = clamp(2 * (footprint - kept) / kept);
    return chip;
}

/* Sectors of which DRAM has to move the first copy. */
static double first_sectors(const struct array_score *array, const struct chip *chip)
{
    const double random = scattered(array);
    return (1 - random) * (double)array->read_sectors * chip->streamed +
           random * (double)array->runs.read_sectors * chip->random_misses;
}

/* L2 takes a line's reads and writes in turn: where many lanes update few lines with several sectors in use, they wait
 * for each other. */
static double conflict_ns(const struct asked *asked, const struct array_score *array, const struct device *device)
{
    const double most = (double)LINE_BYTES / SECTOR_BYTES, lines = (double)array->lines;
    const double loads = (double)array->runs.read_sectors, stores = asked->store_sectors;
    if (lines < 1)
        return 0;
    /* Lines that several blocks touch. */
    const double updates = clamp((double)array->runs.read_lines / lines - 1) * at_most(loads, stores);
    const double in_use = clamp(((double)array->distinct_sectors / lines - 1) / (most - 1));
    const double meeting = device->l2_updates_in_flight / (device->l2_updates_in_flight + lines);
    return updates * in_use * meeting * device->l2_conflict_ns;
}

static double read_ns(const struct array_score *array, const struct device *device)
{
    const double sectors_ns = (double)array->runs.read_sectors / device->l2_sectors_per_ns;
    return at_least(sectors_ns, (double)array->runs.read_lines / device->l2_lines_per_ns);
}

/* One for each line of a request, if it is not of loads that find their sectors in L1. */
static double translations(const struct asked *asked, const struct array_score *array)
{
    const double loads = at_most(asked->load_lines, (double)array->runs.read_sectors);
    return scattered(array) * (loads + asked->store_lines);
}

/* Of a look-up among pages that span so much; none is waited for where they all are at hand. */
static double translation_ns(double span_bytes, const struct device *device)
{
    const double at_hand = (double)device->tlb_bytes;
    if (span_bytes <= at_hand)
        return 0;
    return 1 / device->l2_lines_per_ns + (1 - at_hand / span_bytes) / device->tlb_misses_per_ns;
}

struct memory_work memory_work_of(const struct kernel_score *score, const struct device *device)
{
    const struct chip chip = chip_of(score, device);
    struct memory_work work = {0};
    struct stream stream = {0};
    double random = 0, lookups = 0, reach = 0, first = 0;
    for (size_t i = 0; i < score->array_count; i++) {
        const struct array_score *array = &score->arrays[i];
        const struct asked asked = asked_of(score, array->array);
        const double stores_ns = store_ns(&asked, array, device);
        work.load_requests += asked.load_requests;
        work.load_sectors += asked.load_sectors;
        work.load_wavefronts += (double)array->runs.load_wavefronts;
        work.missed_sectors += (double)array->runs.read_sectors;
        work.stored_sectors += asked.store_sectors;
        work.l2_write_sectors += sectors_after_merging(&asked, array, device);
        work.l2_ns += read_ns(array, device) + stores_ns + conflict_ns(&asked, array, device);
        add_cold_traffic(&work, array, &chip);
        add_stream(&stream, array, &chip);
        random += random_ns(array, &asked, &chip, stores_ns);
        lookups += translations(&asked, array);
        reach += scattered(array) * (double)array->pages * (double)device->page_bytes;
        first += first_sectors(array, &chip);
    }
    work.tlb_ns = lookups * translation_ns(reach, device);
    work.dram_ns = stream_ns(&stream, score, device) * chip.streamed + random;
    work.dram_share = work.missed_sectors > 0 ? at_most(first / work.missed_sectors, 1) : 0;
    return work;
}
