#include "estimate.h"

#include "estimate_memory.h"
#include "request.h"

const char *resource_name(enum resource resource)
{
    switch (resource) {
    case RESOURCE_DRAM:
        return "dram";
    case RESOURCE_L2:
        return "l2";
    case RESOURCE_L1:
        return "l1";
    case RESOURCE_TLB:
        return "tlb";
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

/* A kernel on a device. */
struct job {
    const struct kernel_score *score;
    const struct device *device;
    struct memory_work memory;
    double instructions, wavefronts;
    double shuffles;
    double tile_steps;     /* coordinates of elements that are taken apart, a warp each */
    double resident_warps; /* at once, whole chip */
    double chip_clocks;    /* a nanosecond, of the multiprocessors that have a block */
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double warps_a_block(const struct kernel_score *score)
{
    return score->blocks > 0 ? (double)score->active_warps / (double)score->blocks : 0;
}

/* Of the threads' accesses to global memory only those that a warp does together have instructions that are no
 * requests: two through shared memory for each that is, beside the two halves of an address that are shuffled. */
static double shuffles_of(const struct access_score *access)
{
    if (access->space != SPACE_GLOBAL || access->phase != PHASE_THREADS)
        return 0;
    return (double)(access->counts.instructions - access->counts.requests);
}

/* An element's place is found once for all that an access moves of it. */
static double tile_steps(const struct access_score *access)
{
    const double elements = (double)access->counts.instructions / (double)access->access->selected_count;
    return elements * access->tiled_axes;
}

static struct job job_of(const struct kernel_score *score, const struct device *device)
{
    struct job job = {.score = score, .device = device, .memory = memory_work_of(score, device)};
    for (size_t i = 0; i < score->access_count; i++) {
        job.instructions += (double)score->accesses[i].counts.instructions;
        job.wavefronts += (double)score->accesses[i].counts.wavefronts;
        job.shuffles += shuffles_of(&score->accesses[i]);
        job.tile_steps += tile_steps(&score->accesses[i]);
    }
    double multiprocessors = (double)device->multiprocessors, warps = (double)score->active_warps;
    job.resident_warps = (double)device_resident_blocks(device, score->kernel->block_threads, score->kernel->registers,
                                                        score->shared_bytes) *
                         warps_a_block(score) * multiprocessors;
    job.resident_warps = warps < job.resident_warps ? warps : job.resident_warps;
    multiprocessors = (double)score->blocks < multiprocessors ? (double)score->blocks : multiprocessors;
    job.chip_clocks = larger(multiprocessors, 1) * device->clock_ghz;
    return job;
}

/* Loads wait for L1's data banks, and for the sectors that miss. */
static double l1_ns(const struct job *job)
{
    const struct device *device = job->device;
    double clocks = job->memory.load_wavefronts / device->l1_wavefronts_per_clock;
    clocks = larger(clocks, job->memory.missed_sectors / device->l1_sectors_per_clock);
    return clocks / job->chip_clocks;
}

static unsigned staged_copies(const struct kernel_score *score)
{
    unsigned copies = 0;
    for (size_t i = 0; i < score->access_count; i++)
        copies += score->accesses[i].phase != PHASE_THREADS;
    return copies;
}

/* Little's law: a warp holds its place from its start to the return of its last loads. No address depends on what is
 * loaded, so that a warp's loads are under way together, up to what its registers take. */
static double flight_ns(const struct job *job)
{
    const double together = 32;
    const struct device *device = job->device;
    const struct memory_work *memory = &job->memory;
    const double warps = (double)job->score->active_warps;
    if (warps < 1 || memory->load_requests < 1)
        return 0;
    const double missed = memory->load_sectors > 0 ? memory->missed_sectors / memory->load_sectors : 0;
    const double miss_ns =
        memory->dram_share * device->dram_latency_ns + (1 - memory->dram_share) * device->l2_latency_ns;
    const double loads = memory->load_requests / warps, rounds = larger(loads / together, 1);
    /* A round waits for the slowest of its loads. */
    const double some = memory->missed_sectors > 0 ? larger(missed * loads, 1) : 0,
                 slow = some < rounds ? some : rounds;
    double latency_ns = slow * miss_ns + (rounds - slow) * device->l1_latency_ns;
    if (memory->stored_sectors > 0)
        latency_ns *= 1 + device->store_latency_share;
    const double start_ns = warps_a_block(job->score) * (double)device->multiprocessors / (device->warps_per_us / 1e3);
    const double barriers = staged_copies(job->score) + (double)job->score->barriers / (double)job->score->blocks;
    const double life_ns = start_ns + latency_ns + barriers * device->barrier_ns;
    return life_ns * warps / job->resident_warps;
}

/* Arithmetic at its full rate, or at what few warps reach: each waits for its last results. */
static double flops_ns(const struct job *job)
{
    /* An operation in two is a fused multiply-add, and two chains of them do not wait for each other. */
    const double flops_a_latency = 3;
    const struct kernel *kernel = job->score->kernel;
    const double flops = (double)kernel->flops, threads = (double)(kernel->block_count * kernel->block_threads);
    const double full_ns = flops * threads / job->device->flops_per_clock / job->chip_clocks;
    if (job->resident_warps < 1)
        return full_ns;
    const double alone_ns = flops / flops_a_latency * job->device->flop_latency_clocks / job->device->clock_ghz;
    return larger(full_ns, alone_ns * threads / WARP_LANES / job->resident_warps);
}

static double issue_ns(const struct job *job)
{
    /* Address arithmetic goes with each memory instruction; indices, branch and exit with each warp. Tiles want shifts,
     * masks and one more multiplication. */
    const double of_instruction = 4, of_warp = 12, of_tile_step = 8;
    const double issued = job->instructions * of_instruction + job->shuffles +
                          (double)job->score->active_warps * of_warp + job->tile_steps * of_tile_step;
    return issued / job->device->issue_per_clock / job->chip_clocks;
}

static double dispatch_ns(const struct job *job)
{
    const double blocks_us = (double)job->score->blocks / job->device->blocks_per_us;
    return 1e3 * larger(blocks_us, (double)job->score->active_warps / job->device->warps_per_us);
}

/* Counted from the launch, which comes before everything else and overlaps with nothing; 0 where there is nothing to
 * do. */
static void fill_resources(struct estimate *out, const struct job *job)
{
    const double ns[RESOURCE_COUNT] = {
        [RESOURCE_DRAM] = job->memory.dram_ns,
        [RESOURCE_L2] = job->memory.l2_ns,
        [RESOURCE_L1] = l1_ns(job),
        [RESOURCE_TLB] = job->memory.tlb_ns,
        [RESOURCE_SHARED] = job->wavefronts / job->device->shared_wavefronts_per_clock / job->chip_clocks,
        [RESOURCE_ISSUE] = issue_ns(job),
        [RESOURCE_FLOPS] = flops_ns(job),
        [RESOURCE_FLIGHT] = flight_ns(job),
        [RESOURCE_LAUNCH] = dispatch_ns(job),
    };
    for (int i = 0; i < RESOURCE_COUNT; i++)
        out->resource_us[i] = ns[i] > 0 || i == RESOURCE_LAUNCH ? job->device->launch_us + ns[i] / 1e3 : 0;
}

struct estimate estimate_kernel(const struct kernel_score *score, const struct device *device)
{
    const struct job job = job_of(score, device);
    struct estimate out = {.l2_read_sectors = job.memory.missed_sectors,
                           .l2_write_sectors = job.memory.l2_write_sectors,
                           .dram_read_bytes = job.memory.dram_read_bytes,
                           .dram_write_bytes = job.memory.dram_write_bytes,
                           .bound_by = RESOURCE_LAUNCH};
    fill_resources(&out, &job);
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (out.resource_us[i] > out.resource_us[out.bound_by])
            out.bound_by = (enum resource)i;
    out.time_us = out.resource_us[out.bound_by];
    if (out.time_us < 2 * device->launch_us)
        out.bound_by = RESOURCE_LAUNCH;
    return out;
}
