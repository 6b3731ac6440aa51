#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "lanes.h"
#include "plan.h"
#include "score_internal.h"

bool job_fail(struct kernel_job *job, const char *id, struct span where, const char *problem)
{
#ifdef _OPENMP
#pragma omp critical(score_problem)
#endif
    if (job->problem == NULL) {
        job->problem_id = id;
        job->problem_where = where;
        job->problem = problem;
    }
    return false;
}

static unsigned active_addresses(int64_t *out, const struct pattern *pattern)
{
    unsigned count = 0;
    bool all = pattern->threads % 64 == 0;
    for (unsigned i = 0; i < pattern->threads / 64 && all; i++)
        all = pattern->active[i] == UINT64_MAX;
    if (all) {
        memcpy(out, pattern->address, pattern->threads * sizeof(*out));
        return pattern->threads;
    }
    for (unsigned t = 0; t < pattern->threads; t++)
        if ((pattern->active[t / 64] >> (t % 64) & 1) != 0)
            out[count++] = pattern->address[t];
    return count;
}

bool job_add(struct kernel_job *job, unsigned worker, const struct array *array, size_t slot, bool stores,
             const struct pattern *pattern)
{
    struct tally *tally = &job->tallies[worker];
    if (!pattern_count(&tally->counts[slot], pattern))
        return job_fail(job, "count-too-large", job->kernel->name.where, "a count passes 2^63 - 1");
    struct coverage *coverage = job->coverages[array->number];
    if (pattern->shared || coverage == NULL)
        return true;
    unsigned count = active_addresses(tally->sorted, pattern);
    if (coverage_add(coverage, worker, stores, tally->sorted, count, pattern->width, LAUNCH_DIMS_MAX, pattern->step,
                     pattern->count))
        return true;
    return job_fail(job, "footprint-too-large", job->kernel->name.where,
                    "the footprint of an irregular kernel over so large an array does not fit in memory");
}

/* Where the lanes' records are, in units of `scale` dimensions at a time: bytes, or records for tiled layouts. */
struct place {
    int64_t *constant;
    int64_t step[LAUNCH_DIMS_MAX];
    uint64_t count[LAUNCH_DIMS_MAX];
    uint64_t first[LAUNCH_DIMS_MAX],
        stride[LAUNCH_DIMS_MAX]; /* point q here is point first + stride * q of the event */
};

static void place_add(struct place *place, const struct launch_value *value, int64_t weight, unsigned threads)
{
    const struct lanes factor = {&weight, 1};
    int64_t product[LAUNCH_THREADS_MAX], sum[LAUNCH_THREADS_MAX];
    if (weight == 0)
        return;
    lanes_multiply(product, (struct lanes){value->constant, 0}, factor, threads);
    lanes_add(sum, (struct lanes){place->constant, 0}, (struct lanes){product, 0}, threads);
    memcpy(place->constant, sum, threads * sizeof(*sum));
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        place->step[k] += value->step[k] * weight;
}

/* What one more in dimension `d` of the index adds: bytes, or records where the layout is tiled. */
static int64_t index_weight(const struct mapping *mapping, const struct stage *stage, const struct instruction *what,
                            unsigned d)
{
    const struct array *array = mapping->array;
    unsigned from_last = array->dim_count - 1 - d;
    if (stage != NULL)
        return (int64_t)(from_last == 0 ? stage->record_bytes : from_last == 1 ? stage->row_bytes : stage->plane_bytes);
    if (mapping->tile_records != 0)
        return (int64_t)layout_linear_step(array, d);
    if (from_last == 0 || mapping->row_bytes == 0)
        return (int64_t)(layout_linear_step(array, d) * what->stride);
    return (int64_t)(layout_linear_step(array, d) / array->extent[array->dim_count - 1] * mapping->row_bytes);
}

/* In the shared copy places count from the block's origin: the steps of blockIdx go, whatever block it is. */
static void leave_block(struct place *place, const struct launch_event *event, const struct stage *stage,
                        const struct mapping *mapping, unsigned threads)
{
    int64_t origin = 0;
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t start = stage->origin[d];
        for (unsigned b = 0; b < 3; b++)
            start += stage->origin_step[d][b] * (int64_t)event->first_block[b];
        origin += start * index_weight(mapping, stage, NULL, d);
    }
    for (unsigned b = 0; b < 3; b++)
        place->step[b] = 0;
    for (unsigned t = 0; t < threads; t++)
        place->constant[t] -= origin;
}

struct event_job {
    struct kernel_job *job;
    unsigned worker;
    const struct launch_event *event;
    const struct mapping *mapping;
    const struct stage *stage;
    bool shared, stores;
    size_t slot;
    unsigned number;             /* of the instruction at hand in its list */
    enum launch_verdict verdict; /* where an instruction could not be added */
    bool moved;                  /* the lanes at hand are those of a block after the box's first */
    bool beyond;                 /* ... or of a trip after its first */
};

static void note_reads(const struct event_job *work, const struct pattern *pattern)
{
    struct l1_tally *l1 = &work->job->tallies[work->worker].l1[work->mapping->array->number];
    if (work->moved)
        return;
    for (unsigned t = 0; t < pattern->threads; t++)
        if (!work->beyond && (pattern->active[t / 64] >> (t % 64) & 1) != 0)
            sector_set_add(&l1->run, pattern->address[t] / SECTOR_BYTES);
    bool loops = work->beyond;
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
        loops |= pattern->count[k] > 1;
    if (!loops && l1->block == NULL)
        return;
    if (l1->block == NULL)
        l1->block = coverage_new(work->mapping->base + work->mapping->bytes, 1, 1);
    int64_t *addresses = work->job->tallies[work->worker].sorted;
    unsigned count = active_addresses(addresses, pattern);
    if (l1->block == NULL || !coverage_add(l1->block, 0, false, addresses, count, pattern->width, LAUNCH_DIMS_MAX - 3,
                                           pattern->step + 3, pattern->count + 3))
        abort();
}

/* A straight run of statements over a box: its events are told apart by number and weight (the box's points). */
struct region {
    uint64_t number, weight;
    uint64_t box, blocks; /* the box it is in, and how many blocks that has */
};

/* The launch's context: the job, and a worker's region and snapshots of its counts, one a depth of marks. */
struct launch_context {
    struct kernel_job *job;
    struct region *regions;
    unsigned char **snapshots;
};

/* What is wrong with one instruction of `bytes` at this address; NULL: nothing. */
static const char *fixed_width_problem(const struct mapping *mapping, const struct access *access, int64_t address)
{
    int64_t last = (int64_t)(mapping->base + mapping->bytes) - (int64_t)access->bytes;
    if (address % (int64_t)access->bytes != 0)
        return "'bytes' is wider than the alignment of the address";
    return address > last ? "'bytes' reaches past the end of the array" : NULL;
}

/* `bytes` must be aligned and inside the array wherever it goes: looks at the first block's points, then at all. */
static enum launch_verdict judge_fixed_width(const struct event_job *work, const struct pattern *pattern)
{
    const struct access *access = work->event->access;
    if (access->bytes == 0)
        return LAUNCH_TAKEN;
    int64_t in_block = 0, anywhere = 0;
    bool odd_in_block = false, odd_elsewhere = false;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        int64_t reach = pattern->step[k] * (int64_t)(pattern->count[k] - 1);
        bool odd = pattern->count[k] > 1 && pattern->step[k] % (int64_t)access->bytes != 0;
        *(k < 3 ? &odd_elsewhere : &odd_in_block) |= odd;
        anywhere += reach > 0 ? reach : 0;
        in_block += reach > 0 && k >= 3 ? reach : 0;
    }
    bool later = odd_elsewhere;
    for (unsigned t = 0; t < pattern->threads; t++) {
        if ((pattern->active[t / 64] >> (t % 64) & 1) == 0)
            continue;
        int64_t first = pattern->address[t];
        if (odd_in_block || fixed_width_problem(work->mapping, access, first) != NULL ||
            fixed_width_problem(work->mapping, access, first + in_block) != NULL)
            return work->moved ? LAUNCH_FAULT_LATER : LAUNCH_FAULT_FIRST;
        later |= !odd_elsewhere && fixed_width_problem(work->mapping, access, first + anywhere) != NULL;
    }
    return later ? LAUNCH_FAULT_LATER : LAUNCH_TAKEN;
}

static bool on_refuse(void *opaque, const struct access *access, const int64_t index[], const int64_t subscripts[],
                      struct launch_refusal *out)
{
    const struct launch_context *context = opaque;
    const struct option *option = context->job->chosen[access->array->number];
    if (access->bytes == 0 || option == NULL)
        return false;
    const struct selected *selected = &access->selected[0];
    uint64_t address =
        option->mapping->base + layout_address(option->mapping, selected->leaf, index) + selected->inner_offset;
    for (size_t i = 0; i < selected->subscript_count; i++) {
        uint64_t stride;
        if (layout_subscript_stride(&stride, option->mapping, selected, &selected->subscripts[i]))
            address += (uint64_t)subscripts[&selected->subscripts[i] - access->subscripts] * stride;
    }
    const char *problem = fixed_width_problem(option->mapping, access, (int64_t)address);
    *out = (struct launch_refusal){"misaligned", access->bytes_text.where, problem};
    if (problem != NULL && address % access->bytes == 0)
        out->id = "index-range";
    return problem != NULL;
}

static void show_request(const struct event_job *work, const struct instruction *what, const struct place *place,
                         const struct pattern *pattern)
{
    const struct launch_event *event = work->event;
    const struct score_observer *observer = work->job->observer;
    struct launch_loop loops[LAUNCH_LOOPS_MAX];
    for (unsigned i = 0; i < event->loop_count; i++) {
        loops[i] = event->loops[i];
        loops[i].first += loops[i].step * place->first[loops[i].dim];
        loops[i].step *= place->stride[loops[i].dim];
    }
    struct score_request request = {.access = event->access,
                                    .array = work->mapping->array,
                                    .phase = PHASE_THREADS,
                                    .stores = work->slot == access_slot(event->access, SLOT_STORES),
                                    .tail = work->job->tail,
                                    .number = work->number,
                                    .instruction = what,
                                    .pattern = pattern,
                                    .loops = loops,
                                    .loop_count = event->loop_count};
    for (unsigned b = 0; b < 3; b++) {
        request.first_block[b] = event->first_block[b] + event->block_step[b] * place->first[b];
        request.block_step[b] = event->block_step[b] * place->stride[b];
    }
    observer->request(observer->context, work->worker, &request);
}

/* Lanes at `place` (bytes) plus the instruction's offset. */
static bool add_at(struct event_job *work, const struct instruction *what, const struct place *place)
{
    struct pattern pattern = {.threads = work->event->thread_count,
                              .active = work->event->active,
                              .address = work->job->tallies[work->worker].address,
                              .width = what->width,
                              .shared = work->shared};
    const int64_t offset = (int64_t)(what->offset + (work->stage == NULL ? work->mapping->base : 0));
    lanes_add(work->job->tallies[work->worker].address, (struct lanes){place->constant, 0}, (struct lanes){&offset, 1},
              pattern.threads);
    memcpy(pattern.step, place->step, sizeof(pattern.step));
    memcpy(pattern.count, place->count, sizeof(pattern.count));
    work->verdict = judge_fixed_width(work, &pattern);
    if (work->verdict != LAUNCH_TAKEN)
        return false;
    work->verdict = LAUNCH_ENOUGH; /* what fails from here on ends the counting */
    if (work->job->traffic && !work->stores && !work->shared)
        note_reads(work, &pattern);
    if (work->job->observer != NULL)
        show_request(work, what, place, &pattern);
    return job_add(work->job, work->worker, work->mapping->array, work->slot, work->stores, &pattern);
}

static uint64_t step_size(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

static void terms_add(struct place *place, const struct event_job *work, const struct instruction *what)
{
    for (size_t i = 0; i < what->term_count; i++)
        place_add(place, &work->event->subscripts[what->terms[i].subscript], (int64_t)what->terms[i].stride,
                  work->event->thread_count);
}

/* Records to bytes where no step cuts into a tile. */
static bool add_in_tiles(struct event_job *work, const struct instruction *what, const struct place *records)
{
    const struct mapping *mapping = work->mapping;
    const int64_t tile = (int64_t)mapping->tile_records;
    int64_t constant[LAUNCH_THREADS_MAX];
    struct place bytes = *records;
    bytes.constant = constant;
    for (unsigned t = 0; t < work->event->thread_count; t++) {
        int64_t record = records->constant[t], row = record >> __builtin_ctzll((unsigned long long)tile);
        constant[t] = row * (int64_t)mapping->tile_bytes + (record - row * tile) * (int64_t)what->stride;
    }
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        bytes.step[k] = records->step[k] / tile * (int64_t)mapping->tile_bytes;
    terms_add(&bytes, work, what);
    return add_at(work, what, &bytes);
}

/* Splits a dimension by its remainder of the tile until every step is a whole number of tiles. Subscripts ride on the
 * same points, so their steps are split alike. */
static bool add_tiled(struct event_job *work, const struct instruction *what, const struct place *records)
{
    const uint64_t tile = work->mapping->tile_records;
    unsigned k = 0;
    while (k < LAUNCH_DIMS_MAX && (records->count[k] <= 1 || step_size(records->step[k]) % tile == 0))
        k++;
    if (k >= LAUNCH_DIMS_MAX)
        return add_in_tiles(work, what, records);
    uint64_t period = tile / greatest_common_divisor(step_size(records->step[k]), tile);
    for (uint64_t r = 0; r < period && r < records->count[k]; r++) {
        int64_t constant[LAUNCH_THREADS_MAX];
        struct place part = *records;
        part.constant = constant;
        for (unsigned t = 0; t < work->event->thread_count; t++)
            constant[t] = records->constant[t] + records->step[k] * (int64_t)r;
        part.count[k] = (records->count[k] - r - 1) / period + 1;
        part.first[k] += part.stride[k] * r;
        part.stride[k] *= period;
        part.step[k] = part.count[k] > 1 ? records->step[k] * (int64_t)period : 0;
        const bool moved = work->moved, beyond = work->beyond;
        work->moved = moved || (k < 3 && r > 0);
        work->beyond = beyond || r > 0;
        bool added = add_tiled(work, what, &part);
        work->moved = moved;
        work->beyond = beyond;
        if (!added)
            return false;
    }
    return true;
}

/* The event at point q of dimension k alone. `subscripts` (one a subscript of the access) and `moved` (a vector each)
 * hold what changes. */
static struct launch_event event_at(const struct launch_event *event, unsigned k, uint64_t q,
                                    struct launch_value *subscripts, int64_t *moved)
{
    struct launch_event point = *event;
    point.count[k] = 1;
    point.subscripts = subscripts;
    for (size_t i = 0; i < event->access->subscript_count; i++, moved += event->thread_count) {
        subscripts[i] = event->subscripts[i];
        for (unsigned t = 0; t < event->thread_count; t++)
            moved[t] = subscripts[i].constant[t] + subscripts[i].step[k] * (int64_t)q;
        subscripts[i].constant = moved;
        subscripts[i].step[k] = 0;
    }
    return point;
}

/* An instruction whose subscripts move with the box, in a tiled layout: splitting the box would have to split them too;
 * walks the points instead. */
static bool add_point_by_point(struct event_job *work, const struct instruction *what, const struct place *records,
                               unsigned k)
{
    const struct launch_event *event = work->event;
    while (k < LAUNCH_DIMS_MAX && event->count[k] <= 1)
        k++;
    if (k >= LAUNCH_DIMS_MAX)
        return add_in_tiles(work, what, records);
    const size_t subscript_count = event->access->subscript_count;
    struct launch_value *subscripts = calloc(subscript_count, sizeof(*subscripts));
    int64_t *moved_values = calloc(subscript_count * event->thread_count, sizeof(*moved_values));
    if (subscripts == NULL || moved_values == NULL)
        abort();
    const bool moved = work->moved, beyond = work->beyond;
    bool added = true;
    for (uint64_t q = 0; q < event->count[k] && added; q++) {
        int64_t constant[LAUNCH_THREADS_MAX] = {0};
        struct launch_event point = event_at(event, k, q, subscripts, moved_values);
        struct place part = *records;
        part.constant = constant;
        for (unsigned t = 0; t < event->thread_count; t++)
            constant[t] = records->constant[t] + records->step[k] * (int64_t)q;
        part.count[k] = 1;
        part.first[k] = q;
        part.step[k] = 0;
        work->event = &point;
        work->moved = moved || (k < 3 && q > 0);
        work->beyond = beyond || q > 0;
        added = add_point_by_point(work, what, &part, k + 1);
    }
    work->event = event;
    work->moved = moved;
    work->beyond = beyond;
    free(subscripts);
    free(moved_values);
    return added;
}

static bool add_instruction(struct event_job *work, const struct instruction *what)
{
    const struct launch_event *event = work->event;
    struct place place = {.constant = work->job->tallies[work->worker].place};
    memset(place.constant, 0, event->thread_count * sizeof(*place.constant));
    memcpy(place.count, event->count, sizeof(place.count));
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        place.stride[k] = 1;
    for (unsigned d = 0; d < work->mapping->array->dim_count; d++)
        place_add(&place, &event->index[d], index_weight(work->mapping, work->stage, what, d), event->thread_count);
    if (work->mapping->tile_records == 0) {
        terms_add(&place, work, what);
        if (work->stage != NULL)
            leave_block(&place, event, work->stage, work->mapping, event->thread_count);
        return add_at(work, what, &place);
    }
    bool subscripts_move = false;
    for (size_t i = 0; i < what->term_count; i++)
        for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
            subscripts_move |= event->subscripts[what->terms[i].subscript].step[k] != 0;
    return subscripts_move ? add_point_by_point(work, what, &place, 0) : add_tiled(work, what, &place);
}

void score_add_saturating(uint64_t *to, uint64_t count, uint64_t times)
{
    uint64_t product;
    if (!checked_mul_u64(&product, count, times) || !checked_add_u64(to, *to, product))
        *to = UINT64_MAX;
}

static void end_region(struct kernel_job *job, unsigned worker, uint64_t weight)
{
    struct tally *tally = &job->tallies[worker];
    for (size_t n = 0; n < job->spec->array_count; n++) {
        struct l1_tally *l1 = &tally->l1[n];
        if (l1->run.count > 0)
            score_add_saturating(&l1->runs_missed, l1->run.count, weight);
        sector_set_clear(&l1->run);
    }
}

/* A block whose reads fit half of L1 fetches each sector once, else once a straight run. */
static void end_box(struct kernel_job *job, unsigned worker, uint64_t blocks)
{
    const uint64_t kept = (uint64_t)job->device->l1_bytes / SECTOR_BYTES / 2;
    struct tally *tally = &job->tallies[worker];
    for (size_t n = 0; n < job->spec->array_count; n++) {
        struct l1_tally *l1 = &tally->l1[n];
        struct footprint block;
        uint64_t missed = l1->runs_missed, once = 0;
        bool known = missed > 0 && l1->block != NULL && coverage_count(l1->block, &block);
        if (known)
            score_add_saturating(&once, block.read_sectors, blocks);
        if (known && block.read_sectors <= kept && once < missed)
            missed = once;
        score_add_saturating(&l1->missed, missed, 1);
        l1->runs_missed = 0;
        coverage_free(l1->block);
        l1->block = NULL;
    }
}

static uint64_t box_points(const struct launch_event *event)
{
    uint64_t points = 1;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (!checked_mul_u64(&points, points, event->count[k]))
            return UINT64_MAX;
    return points;
}

static void change_region(struct launch_context *context, unsigned worker, const struct launch_event *event)
{
    struct region *region = &context->regions[worker];
    uint64_t points = box_points(event);
    if (region->number == event->region && region->weight == points)
        return;
    end_region(context->job, worker, region->weight);
    if (region->box != event->box)
        end_box(context->job, worker, region->blocks);
    *region = (struct region){event->region, points, event->box, event->count[0] * event->count[1] * event->count[2]};
}

static enum launch_verdict on_event(void *opaque, unsigned worker, const struct launch_event *event)
{
    struct launch_context *context = opaque;
    struct kernel_job *job = context->job;
    const struct array *array = event->access->array;
    const struct option *option = job->chosen[array->number];
    if (option == NULL)
        return LAUNCH_TAKEN;
    if (job->traffic)
        change_region(context, worker, event);
    const struct usage *usage = &option->usages[job->kernel_number];
    const struct instructions *instructions = &job->instructions[array->number][event->access->number];
    struct event_job work = {.job = job,
                             .worker = worker,
                             .event = event,
                             .mapping = option->mapping,
                             .stage = usage->stage,
                             .shared = array->space == SPACE_SHARED || usage->stage != NULL};
    work.slot = access_slot(event->access, SLOT_LOADS);
    work.stores = event->access->op == ACCESS_ATOMIC; /* an atomic writes what it reads */
    for (work.number = 0; work.number < instructions->load_count; work.number++)
        if (!add_instruction(&work, &instructions->loads[work.number]))
            return work.verdict;
    work.slot = access_slot(event->access, SLOT_STORES);
    work.stores = true;
    for (work.number = 0; work.number < instructions->store_count; work.number++)
        if (!add_instruction(&work, &instructions->stores[work.number]))
            return work.verdict;
    return LAUNCH_TAKEN;
}

/* A snapshot holds the counts, then what L1 missed of each array, before the box at hand and in it. */
static size_t snapshot_bytes(const struct kernel_job *job)
{
    return job->slot_count * sizeof(struct counts) + job->spec->array_count * 2 * sizeof(uint64_t);
}

static unsigned char *snapshot_at(const struct launch_context *context, unsigned worker, unsigned depth)
{
    return context->snapshots[worker] + depth * snapshot_bytes(context->job);
}

static void on_mark(void *opaque, unsigned worker, unsigned depth)
{
    struct launch_context *context = opaque;
    struct kernel_job *job = context->job;
    unsigned char *snapshot = snapshot_at(context, worker, depth);
    const struct tally *tally = &job->tallies[worker];
    memcpy(snapshot, tally->counts, job->slot_count * sizeof(struct counts));
    if (job->observer != NULL)
        job->observer->mark(job->observer->context, worker, depth);
    if (!job->traffic)
        return;
    end_region(job, worker, context->regions[worker].weight);
    if (depth == 0)
        end_box(job, worker, context->regions[worker].blocks);
    snapshot += job->slot_count * sizeof(struct counts);
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const uint64_t missed[2] = {tally->l1[n].missed, tally->l1[n].runs_missed};
        memcpy(snapshot + n * sizeof(missed), missed, sizeof(missed));
    }
}

/* What a block reads is a set: what was added to it before the rollback comes again. */
static void on_rollback(void *opaque, unsigned worker, unsigned depth)
{
    struct launch_context *context = opaque;
    struct kernel_job *job = context->job;
    const unsigned char *snapshot = snapshot_at(context, worker, depth);
    struct tally *tally = &job->tallies[worker];
    memcpy(tally->counts, snapshot, job->slot_count * sizeof(struct counts));
    if (job->observer != NULL)
        job->observer->rollback(job->observer->context, worker, depth);
    snapshot += job->slot_count * sizeof(struct counts);
    for (size_t n = 0; job->traffic && n < job->spec->array_count; n++) {
        uint64_t missed[2];
        memcpy(missed, snapshot + n * sizeof(missed), sizeof(missed));
        tally->l1[n].missed = missed[0];
        tally->l1[n].runs_missed = missed[1];
        sector_set_clear(&tally->l1[n].run);
        if (depth == 0 && tally->l1[n].block != NULL)
            coverage_clear(tally->l1[n].block);
    }
}

bool job_run_launch(struct kernel_job *job, const struct launch_shape *shape, struct arena *arena, struct diags *diags)
{
    struct launch_context context = {.job = job};
    context.regions = calloc(job->workers, sizeof(*context.regions));
    context.snapshots = calloc(job->workers, sizeof(*context.snapshots));
    if (context.regions == NULL || context.snapshots == NULL)
        abort();
    for (unsigned i = 0; i < job->workers; i++) {
        context.snapshots[i] = calloc(LAUNCH_DIMS_MAX, snapshot_bytes(job) + 1);
        if (context.snapshots[i] == NULL)
            abort();
    }
    struct launch_sink sink = {&context, on_event, on_mark, on_rollback, on_refuse};
    enum launch_status status = launch_run(job->kernel, shape, &sink, arena, diags);
    for (unsigned i = 0; i < job->workers; i++) {
        end_region(job, i, context.regions[i].weight);
        end_box(job, i, context.regions[i].blocks);
        free(context.snapshots[i]);
    }
    free(context.regions);
    free(context.snapshots);
    return status == LAUNCH_DONE;
}
