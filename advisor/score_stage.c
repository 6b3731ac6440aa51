#include <string.h>

#include "checked.h"
#include "score_internal.h"

/* Blocks first + step * q, 0 <= q < count, of a launch. */
struct block_box {
    uint64_t first[3], step[3], count[3];
};

/* The box of records that these blocks copy, relative to the uncut origin; empty where count is 0. */
struct cut_box {
    uint64_t first[SPEC_DIMS_MAX], count[SPEC_DIMS_MAX];
};

struct copy {
    struct kernel_job *job;
    const struct mapping *mapping;
    const struct stage *stage;
    bool out; /* copy-out: shared loads and global stores */
};

/* The least and the most origin of a dimension over the blocks. */
static void origin_bounds(const struct stage *stage, unsigned d, const struct block_box *blocks, int64_t *low,
                          int64_t *high)
{
    *low = *high = stage_origin(stage, d, blocks->first);
    for (unsigned b = 0; b < 3; b++) {
        int64_t reach = stage->origin_step[d][b] * (int64_t)(blocks->step[b] * (blocks->count[b] - 1));
        *(reach < 0 ? low : high) += reach;
    }
}

/* A block dimension along which the way the box is cut changes, -1 where it is the same for all blocks. */
static int changing_dim(const struct stage *stage, const struct block_box *blocks)
{
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t low, high, extent = (int64_t)stage->array->extent[d], length = (int64_t)stage->extent[d];
        origin_bounds(stage, d, blocks, &low, &high);
        bool uncut = low >= 0 && high + length <= extent;
        bool outside = high + length <= 0 || low >= extent;
        for (unsigned b = 0; b < 3 && low != high && !uncut && !outside; b++)
            if (stage->origin_step[d][b] != 0 && blocks->count[b] > 1)
                return (int)b;
    }
    return -1;
}

static struct cut_box cut(const struct stage *stage, const struct block_box *blocks)
{
    struct cut_box box = {{0}, {0}};
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t origin = stage_origin(stage, d, blocks->first), extent = (int64_t)stage->array->extent[d];
        int64_t from = origin < 0 ? -origin : 0, to = (int64_t)stage->extent[d];
        to = origin + to > extent ? extent - origin : to;
        box.first[d] = (uint64_t)from;
        box.count[d] = to > from ? (uint64_t)(to - from) : 0;
    }
    return box;
}

/* One step of the copying loop: word number `first` + t for thread t. */
struct step {
    int64_t global[LAUNCH_THREADS_MAX], shared[LAUNCH_THREADS_MAX];
    uint64_t active[LAUNCH_THREADS_MAX / 64];
    bool any;
};

static unsigned word_bytes(const struct copy *copy)
{
    return copy->out ? copy->stage->out_word_bytes : copy->stage->word_bytes;
}

static bool word_is_written(const struct copy *copy, uint64_t at)
{
    if (!copy->out || copy->stage->copy_out_whole)
        return true;
    for (unsigned i = 0; i < word_bytes(copy); i++)
        if (copy->stage->written[at + i])
            return true;
    return false;
}

/* The record that word number `word` of the cut box is in, relative to the uncut origin; returns its byte there. */
static uint64_t find_word(uint64_t r[], const struct copy *copy, const struct cut_box *box, uint64_t word)
{
    const struct stage *stage = copy->stage;
    uint64_t record_words = copy->mapping->record_stride / word_bytes(copy), record = word / record_words;
    for (unsigned i = 0; i < stage->dim_count; i++) {
        unsigned d = stage->order[i];
        r[d] = box->first[d] + record % box->count[d];
        record /= box->count[d];
    }
    return word % record_words * word_bytes(copy);
}

static uint64_t shared_place(const struct stage *stage, uint64_t place)
{
    return stage->swizzle_unit == 0 ? place : stage_swizzle(stage, place);
}

static void fill_step(struct step *step, const struct copy *copy, const struct cut_box *box, const int64_t *origin,
                      uint64_t first, uint64_t words)
{
    const struct stage *stage = copy->stage;
    const struct axes axes = layout_axes(copy->mapping, 0);
    unsigned threads = (unsigned)copy->job->kernel->block_threads;
    memset(step->active, 0, sizeof(step->active));
    step->any = false;
    for (unsigned t = 0; t < threads; t++) {
        uint64_t r[SPEC_DIMS_MAX] = {0};
        step->global[t] = step->shared[t] = 0;
        if (first + t >= words)
            continue;
        uint64_t at = find_word(r, copy, box, first + t);
        uint64_t global = copy->mapping->base + at, shared = at;
        for (unsigned d = 0; d < stage->dim_count; d++) {
            global += axis_place(&axes.items[d], (uint64_t)(origin[d] + (int64_t)r[d]));
            shared += r[d] * stage_step(stage, d);
        }
        step->global[t] = (int64_t)global;
        step->shared[t] = (int64_t)shared_place(stage, shared);
        if (word_is_written(copy, at)) {
            step->active[t / 64] |= UINT64_C(1) << (t % 64);
            step->any = true;
        }
    }
}

static void show_copy(const struct copy *copy, const struct block_box *blocks, const struct pattern *pattern,
                      uint64_t copy_step)
{
    const struct score_observer *observer = copy->job->observer;
    struct score_request request = {.array = copy->stage->array,
                                    .phase = copy->out ? PHASE_COPY_OUT : PHASE_COPY_IN,
                                    .stores = copy->out != pattern->shared,
                                    .pattern = pattern,
                                    .copy_step = copy_step};
    memcpy(request.first_block, blocks->first, sizeof(request.first_block));
    memcpy(request.block_step, blocks->step, sizeof(request.block_step));
    if (observer != NULL)
        observer->request(observer->context, 0, &request);
}

static bool add_step(const struct copy *copy, const struct step *step, const struct block_box *blocks,
                     uint64_t copy_step)
{
    struct kernel_job *job = copy->job;
    const struct stage *stage = copy->stage;
    struct pattern pattern = {
        .threads = (unsigned)job->kernel->block_threads, .active = step->active, .width = word_bytes(copy)};
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        pattern.count[k] = k < 3 ? blocks->count[k] : 1;
    size_t slot = phase_slot(job, stage->array, copy->out ? SLOT_STORES : SLOT_LOADS);
    struct counts *counts = &job->tallies[0].counts[slot];
    const uint64_t asked = counts->asked_bytes, unique = counts->unique_bytes;
    pattern.address = step->shared;
    pattern.shared = true;
    show_copy(copy, blocks, &pattern, copy_step);
    if (!job_add(job, 0, stage->array, slot, copy->out, &pattern))
        return false;
    /* The same bytes go through global memory: they are asked for once. */
    counts->asked_bytes = asked;
    counts->unique_bytes = unique;
    pattern.address = step->global;
    pattern.shared = false;
    const struct axes axes = layout_axes(copy->mapping, 0);
    for (unsigned b = 0; b < 3; b++)
        for (unsigned d = 0; d < stage->dim_count && blocks->count[b] > 1; d++) {
            const struct axis *axis = &axes.items[d];
            int64_t records = stage->origin_step[d][b] * (int64_t)blocks->step[b];
            pattern.step[b] += axis->tile == 0 ? records * (int64_t)axis->bytes
                                               : records / (int64_t)axis->tile * (int64_t)axis->tile_bytes;
        }
    show_copy(copy, blocks, &pattern, copy_step);
    return job_add(job, 0, stage->array, slot, copy->out, &pattern);
}

static bool add_same_blocks(const struct copy *copy, const struct block_box *blocks)
{
    const struct stage *stage = copy->stage;
    struct cut_box box = cut(stage, blocks);
    int64_t origin[SPEC_DIMS_MAX] = {0};
    uint64_t words = copy->mapping->record_stride / word_bytes(copy);
    for (unsigned d = 0; d < stage->dim_count; d++) {
        origin[d] = stage_origin(stage, d, blocks->first);
        words *= box.count[d];
    }
    struct step step;
    for (uint64_t first = 0; first < words; first += copy->job->kernel->block_threads) {
        fill_step(&step, copy, &box, origin, first, words);
        if (step.any && !add_step(copy, &step, blocks, first / copy->job->kernel->block_threads))
            return false;
    }
    return true;
}

/* A block dimension that moves the box by parts of a tile, and after how many blocks by whole ones; -1: none. */
static int uneven_dim(uint64_t *period, const struct copy *copy, const struct block_box *blocks)
{
    const struct axes axes = layout_axes(copy->mapping, 0);
    for (unsigned d = 0; d < copy->stage->dim_count; d++)
        for (unsigned b = 0; b < 3 && axes.items[d].tile != 0; b++) {
            int64_t records = copy->stage->origin_step[d][b] * (int64_t)blocks->step[b];
            uint64_t tile = axes.items[d].tile;
            *period = tile / greatest_common_divisor((uint64_t)(records < 0 ? -records : records), tile);
            if (blocks->count[b] > 1 && *period > 1)
                return (int)b;
        }
    return -1;
}

/* Splits the blocks until all of a part move evenly. */
static bool add_evenly(const struct copy *copy, const struct block_box *blocks)
{
    uint64_t period;
    int dim = uneven_dim(&period, copy, blocks);
    if (dim < 0)
        return add_same_blocks(copy, blocks);
    bool added = true;
    for (uint64_t r = 0; r < period && r < blocks->count[dim] && added; r++) {
        struct block_box part = *blocks;
        part.first[dim] += part.step[dim] * r;
        part.step[dim] *= period;
        part.count[dim] = (blocks->count[dim] - r - 1) / period + 1;
        added = add_evenly(copy, &part);
    }
    return added;
}

/* Blocks near the array's ends copy less: halves the launch until all blocks of a part do the same. */
static bool add_blocks(const struct copy *copy, const struct block_box *blocks)
{
    int dim = changing_dim(copy->stage, blocks);
    if (dim < 0)
        return add_evenly(copy, blocks);
    struct block_box low = *blocks, high = *blocks;
    low.count[dim] = blocks->count[dim] / 2;
    high.first[dim] += low.count[dim] * high.step[dim];
    high.count[dim] -= low.count[dim];
    return add_blocks(copy, &low) && add_blocks(copy, &high);
}

/* A block's copies go through its records once, in order. */
static void note_copies(struct kernel_job *job, const struct stage *stage)
{
    const struct counts *in = &job->tallies[0].counts[phase_slot(job, stage->array, SLOT_LOADS)];
    const struct counts *out = &job->tallies[0].counts[phase_slot(job, stage->array, SLOT_STORES)];
    struct run_traffic *sum = &job->tallies[0].traffic[stage->array->number].sum;
    *sum = (struct run_traffic){.read_sectors = in->sectors,
                                .read_lines = in->lines,
                                .read_pairs = (in->sectors + 1) / 2,
                                .load_wavefronts = in->requests,
                                .written_sectors = out->sectors,
                                .merged_sectors = out->sectors};
}

bool job_add_copies(struct kernel_job *job, const struct mapping *mapping, const struct stage *stage)
{
    struct copy copy = {.job = job, .mapping = mapping, .stage = stage};
    const uint64_t *grid = job->kernel->grid;
    struct block_box all = {.step = {1, 1, 1}, .count = {grid[0], grid[1], grid[2]}};
    if (job->window != NULL)
        all = (struct block_box){{job->window->block % grid[0], job->window->block / grid[0] % grid[1],
                                  job->window->block / grid[0] / grid[1]},
                                 {1, 1, 1},
                                 {1, 1, 1}};
    if (stage->copy_in && !add_blocks(&copy, &all))
        return false;
    copy.out = true;
    if (stage->copy_out && !add_blocks(&copy, &all))
        return false;
    if (job->traffic)
        note_copies(job, stage);
    return true;
}
