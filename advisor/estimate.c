#include "estimate.h"

#include "request.h"

enum { THREADS_A_WARP = 32 };

const char *resource_name(enum resource resource)
{
    switch (resource) {
    case RESOURCE_DRAM:
        return "dram";
    case RESOURCE_L2:
        return "l2";
    case RESOURCE_L1:
        return "l1";
    case RESOURCE_SHARED:
        return "shared";
    case RESOURCE_ISSUE:
        return "issue";
    case RESOURCE_FLOPS:
        return "flops";
    case RESOURCE_FLIGHT:
        return "requests-in-flight";
    case RESOURCE_LAUNCH:
        return "launch";
    }
    return "";
}

/* What a launch moves, summed over its accesses and arrays. */
struct traffic {
    double l1_read_sectors, l1_lines, l1_requests; /* asked of L1 */
    double l2_read_sectors;                        /* of those, what L1 does not keep */
    double l2_write_sectors;
    double l2_repeats; /* of those, what some block fetched before */
    double dram_read_bytes, dram_write_bytes;
    double wavefronts, instructions, loads;
};

static void add_access(struct traffic *sum, const struct access_score *access)
{
    const struct counts *counts = &access->counts;
    sum->instructions += (double)counts->instructions;
    sum->wavefronts += (double)counts->wavefronts;
    sum->l1_requests += (double)counts->requests;
    sum->l1_lines += (double)counts->lines;
    if (access->op == ACCESS_READ) {
        sum->l1_read_sectors += (double)counts->sectors;
        sum->loads += (double)counts->requests;
    } else {
        sum->l2_write_sectors += (double)counts->sectors;
    }
}

/* DRAM reads pairs of sectors, and singly those that are written in part and not read. Repeats that L1 does not keep
 * come from L2 while the footprint fits there, else in part from DRAM again. */
static void add_array(struct traffic *sum, const struct array_score *array, const struct device *device)
{
    double distinct = (double)array->read_sectors, missed = (double)array->l1_missed_sectors;
    double capacity = (double)device->l2_bytes / SECTOR_BYTES, footprint = (double)array->distinct_sectors;
    missed = missed < distinct ? distinct : missed;
    sum->l2_read_sectors += missed;
    sum->l2_repeats += missed - distinct;
    double lost = footprint > capacity ? 1 - capacity / footprint : 0;
    /* What a grid that walks its data in order repeats, it repeats while it is still near: an eighth is lost. */
    double again = (missed - distinct) * lost / 8;
    sum->dram_read_bytes +=
        (double)array->read_pairs * 2 * SECTOR_BYTES + ((double)array->unread_fill_sectors + again) * SECTOR_BYTES;
    sum->dram_write_bytes += (double)array->written_sectors * SECTOR_BYTES;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Blocks that a multiprocessor holds at once: the least of what threads, registers, shared memory and slots allow. */
static int64_t resident_blocks(const struct kernel_score *score, const struct device *device)
{
    const struct kernel *kernel = score->kernel;
    int64_t warps = (int64_t)(kernel->block_threads + THREADS_A_WARP - 1) / THREADS_A_WARP;
    int64_t registers = kernel->registers * THREADS_A_WARP * warps;
    int64_t blocks =
        smaller(device->blocks_per_multiprocessor, device->threads_per_multiprocessor / (warps * THREADS_A_WARP));
    if (registers > 0)
        blocks = smaller(blocks, device->registers_per_multiprocessor / registers);
    if (score->shared_bytes > 0)
        blocks = smaller(blocks, device->shared_bytes_per_multiprocessor / (int64_t)(score->shared_bytes + 1024));
    return blocks < 1 ? 1 : blocks;
}

/* Little's law: sectors that must be outstanding for a latency each, against what the resident warps keep outstanding.
 * A warp's loads in a row are independent up to what the scoreboard and the registers allow. */
static double flight_us(const struct kernel_score *score, const struct traffic *sum, const struct device *device)
{
    enum { LOADS_TOGETHER = 6, L1_LATENCY_NS = 20 };
    double warps = (double)score->active_warps;
    if (warps < 1 || sum->loads < 1)
        return 0;
    double warps_a_block = warps / (double)score->blocks;
    double resident = (double)resident_blocks(score, device) * warps_a_block * (double)device->multiprocessors;
    resident = resident < warps ? resident : warps;
    double loads_a_warp = sum->loads / warps, together = loads_a_warp < LOADS_TOGETHER ? loads_a_warp : LOADS_TOGETHER;
    together = together < 1 ? 1 : together;
    double missing = sum->l1_read_sectors > 0 ? sum->l2_read_sectors / sum->l1_read_sectors : 1;
    missing = missing > 1 ? 1 : missing;
    double repeats = sum->l2_read_sectors > 0 ? sum->l2_repeats / sum->l2_read_sectors : 0;
    double below_l1_ns = repeats * device->l2_latency_ns + (1 - repeats) * device->dram_latency_ns;
    double latency_ns = missing * below_l1_ns + (1 - missing) * L1_LATENCY_NS;
    double by_warps_us = sum->loads / together * latency_ns / resident / 1e3;
    /* However many warps ask, a multiprocessor keeps only so many sectors outstanding. */
    double outstanding = device->requests_in_flight * (double)device->multiprocessors;
    double by_sectors_us = sum->l2_read_sectors * below_l1_ns / outstanding / 1e3;
    return by_warps_us > by_sectors_us ? by_warps_us : by_sectors_us;
}

static void fill_resources(struct estimate *out, const struct kernel_score *score, const struct traffic *sum,
                           const struct device *device)
{
    const double clocks_a_us = device->clock_ghz * 1e3, chip = (double)device->multiprocessors * clocks_a_us;
    double dram_bytes = out->dram_read_bytes + out->dram_write_bytes;
    double rate = out->dram_write_bytes == 0  ? device->dram_read_gbs
                  : out->dram_read_bytes == 0 ? device->dram_write_gbs
                                              : device->dram_mixed_gbs;
    /* A warp's own address arithmetic, branch and exit go with its memory instructions. */
    double issued = sum->instructions * 4 + (double)score->active_warps * 12;
    out->resource_us[RESOURCE_DRAM] = dram_bytes / (rate * 1e3);
    out->resource_us[RESOURCE_L2] = sum->l2_read_sectors / (device->l2_sectors_per_ns * 1e3) +
                                    sum->l2_write_sectors / (device->l2_write_sectors_per_ns * 1e3);
    double data = (sum->l1_read_sectors + sum->l2_write_sectors) / device->l1_sectors_per_clock;
    double tags = sum->l1_lines / device->l1_tags_per_clock;
    out->resource_us[RESOURCE_L1] = (data > tags ? data : tags) / chip;
    out->resource_us[RESOURCE_SHARED] = sum->wavefronts / device->shared_wavefronts_per_clock / chip;
    out->resource_us[RESOURCE_ISSUE] = issued / device->issue_per_clock / chip;
    out->resource_us[RESOURCE_FLOPS] = (double)score->kernel->flops *
                                       (double)(score->kernel->block_count * score->kernel->block_threads) /
                                       device->flops_per_clock / chip;
    out->resource_us[RESOURCE_FLIGHT] = flight_us(score, sum, device);
    double blocks_us = (double)score->blocks / device->blocks_per_us;
    double warps_us = (double)score->active_warps / device->warps_per_us;
    double launch_us = blocks_us > warps_us ? blocks_us : warps_us;
    out->resource_us[RESOURCE_LAUNCH] = launch_us > device->launch_us ? launch_us : device->launch_us;
}

struct estimate estimate_kernel(const struct kernel_score *score, const struct device *device)
{
    struct estimate out = {0};
    struct traffic sum = {0};
    for (size_t i = 0; i < score->access_count; i++)
        add_access(&sum, &score->accesses[i]);
    for (size_t i = 0; i < score->array_count; i++)
        add_array(&sum, &score->arrays[i], device);
    out.dram_read_bytes = sum.dram_read_bytes;
    out.dram_write_bytes = sum.dram_write_bytes;
    fill_resources(&out, score, &sum, device);
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (out.resource_us[i] > out.resource_us[out.bound_by])
            out.bound_by = (enum resource)i;
    out.time_us = out.resource_us[out.bound_by];
    return out;
}
