#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "plan.h"
#include "score_internal.h"
#include "score_place.h"

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

/* The addresses of the active lanes: those of the pattern where all are, else copied to `scratch`. */
static const int64_t *active_addresses(unsigned *count, int64_t *scratch, const struct pattern *pattern)
{
    bool all = pattern->threads % 64 == 0;
    for (unsigned i = 0; i < pattern->threads / 64 && all; i++)
        all = pattern->active[i] == UINT64_MAX;
    *count = pattern->threads;
    if (all)
        return pattern->address;
    *count = 0;
    for (unsigned t = 0; t < pattern->threads; t++)
        if ((pattern->active[t / 64] >> (t % 64) & 1) != 0)
            scratch[(*count)++] = pattern->address[t];
    return scratch;
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
    unsigned count;
    const int64_t *addresses = active_addresses(&count, tally->scratch, pattern);
    if (coverage_add(coverage, worker, stores, addresses, count, pattern->width, LAUNCH_DIMS_MAX, pattern->step,
                     pattern->count))
        return true;
    return job_fail(job, "footprint-too-large", job->kernel->name.where,
                    "the footprint of an irregular kernel over so large an array does not fit in memory");
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

/* What the caches see of the box's first block stands for the others. */
static void note_traffic(const struct event_job *work, const struct pattern *pattern, uint64_t lines)
{
    struct tally *tally = &work->job->tallies[work->worker];
    const struct mapping *mapping = work->mapping;
    struct traffic *traffic = &tally->traffic[mapping->array->number];
    if (work->moved)
        return;
    unsigned count;
    const int64_t *addresses = active_addresses(&count, tally->scratch, pattern);
    if (!work->beyond)
        traffic_add_run(traffic, pattern, addresses, count, work->stores, lines, work->job->device);
    if (work->stores || !traffic_has_trips(traffic, pattern))
        return;
    traffic_add_trips(traffic, pattern, addresses, count, mapping->base + mapping->bytes);
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

static bool is_store(const struct event_job *work)
{
    return work->slot == access_slot(work->event->access, SLOT_STORES);
}

/* Tells an observer of a request as `request` has it: where it is comes from the place. */
static void show_request(const struct event_job *work, struct score_request request, const struct place *place)
{
    const struct launch_event *event = work->event;
    const struct score_observer *observer = work->job->observer;
    struct launch_loop loops[LAUNCH_LOOPS_MAX];
    for (unsigned i = 0; i < event->loop_count; i++) {
        loops[i] = event->loops[i];
        loops[i].first += loops[i].step * place->first[loops[i].dim];
        loops[i].step *= place->stride[loops[i].dim];
    }
    request.access = event->access;
    request.array = work->mapping->array;
    request.tail = work->job->tail;
    request.loops = loops;
    request.loop_count = event->loop_count;
    for (unsigned b = 0; b < 3; b++) {
        request.first_block[b] = event->first_block[b] + event->block_step[b] * place->first[b];
        request.block_step[b] = event->block_step[b] * place->stride[b];
    }
    observer->request(observer->context, work->worker, &request);
}

static bool is_full(const struct pattern *pattern, unsigned first)
{
    return pattern->threads - first >= WARP_LANES &&
           (uint32_t)(pattern->active[first / 64] >> first % 64) == UINT32_MAX;
}

/* Gives the lanes of each full warp the pieces that they move for each other; returns how many warps are full. */
static unsigned exchange_lanes(int64_t *address, const struct pattern *pattern, const struct instruction *what)
{
    const struct exchange *exchange = what->exchange;
    unsigned warps = 0;
    for (unsigned first = 0; first < pattern->threads; first += WARP_LANES) {
        int64_t own[WARP_LANES];
        if (!is_full(pattern, first))
            continue;
        memcpy(own, address + first, sizeof(own));
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            const unsigned number = what->piece * WARP_LANES + lane;
            const uint64_t offset = exchange->offsets[number % exchange->count];
            address[first + lane] =
                own[number / exchange->count] + (int64_t)offset - (int64_t)exchange->offsets[what->piece];
        }
        warps++;
    }
    return warps;
}

/* The pieces on their way through shared memory: in the order of lanes on one side, each lane its own on the other. */
static void exchange_rows(int64_t in_order[WARP_LANES], int64_t own[WARP_LANES], const struct instruction *what)
{
    const struct exchange *exchange = what->exchange;
    const unsigned row = exchange->count | 1;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        const unsigned number = what->piece * WARP_LANES + lane;
        in_order[lane] = (int64_t)(number / exchange->count * row + number % exchange->count) * what->width;
        own[lane] = (int64_t)(lane * row + what->piece) * what->width;
    }
}

/* Each warp has rows of its own, whole lines, so that they begin at bank 0. */
static void show_exchange(const struct event_job *work, const struct instruction *what, const struct place *place,
                          const struct pattern *pattern, bool stores, const int64_t lanes[WARP_LANES])
{
    struct pattern shown = {.threads = pattern->threads, .width = what->width, .shared = true};
    int64_t address[LAUNCH_THREADS_MAX];
    uint64_t active[LAUNCH_THREADS_MAX / 64] = {0};
    for (unsigned first = 0; first < pattern->threads; first += WARP_LANES) {
        memcpy(address + first, lanes, sizeof(*lanes) * WARP_LANES);
        active[first / 64] |= is_full(pattern, first) ? (uint64_t)UINT32_MAX << first % 64 : 0;
    }
    shown.address = address;
    shown.active = active;
    memcpy(shown.count, pattern->count, sizeof(shown.count));
    show_request(work,
                 (struct score_request){.phase = PHASE_EXCHANGE,
                                        .stores = stores,
                                        .number = work->number + (is_store(work) ? EXCHANGE_OF_STORE : 0),
                                        .instruction = what,
                                        .pattern = &shown},
                 place);
}

static bool add_exchange(struct event_job *work, const struct instruction *what, const struct place *place,
                         const struct pattern *pattern, uint64_t warps)
{
    int64_t in_order[WARP_LANES], own[WARP_LANES];
    exchange_rows(in_order, own, what);
    if (work->job->observer != NULL) {
        show_exchange(work, what, place, pattern, true, is_store(work) ? own : in_order);
        show_exchange(work, what, place, pattern, false, is_store(work) ? in_order : own);
    }
    struct counts once = {0};
    request_add_shared(&once, in_order, UINT32_MAX, what->width);
    request_add_shared(&once, own, UINT32_MAX, what->width);
    once.asked_bytes = once.unique_bytes = 0; /* they are those of the global side */
    bool added = true;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        added = added && checked_mul_u64(&warps, warps, pattern->count[k]);
    struct counts *counts = &work->job->tallies[work->worker].counts[work->slot];
    if (added && counts_add(counts, &once, warps))
        return true;
    return job_fail(work->job, "count-too-large", work->job->kernel->name.where, "a count passes 2^63 - 1");
}

/* The lanes at a place that moves evenly. */
static bool add_even(struct event_job *work, const struct instruction *what, const struct place *place)
{
    struct pattern pattern = {.threads = work->event->thread_count,
                              .active = work->event->active,
                              .width = what->width,
                              .shared = work->shared,
                              .atomic = work->event->access->op == ACCESS_ATOMIC};
    int64_t *address = work->job->tallies[work->worker].address;
    place_addresses(address, pattern.step, place, pattern.threads);
    pattern.address = address;
    memcpy(pattern.count, place->count, sizeof(pattern.count));
    const unsigned together = what->exchange == NULL ? 0 : exchange_lanes(address, &pattern, what);
    work->verdict = judge_fixed_width(work, &pattern);
    if (work->verdict != LAUNCH_TAKEN)
        return false;
    work->verdict = LAUNCH_ENOUGH; /* what fails from here on ends the counting */
    if (work->job->observer != NULL)
        show_request(work,
                     (struct score_request){.phase = PHASE_THREADS,
                                            .stores = is_store(work),
                                            .number = work->number,
                                            .instruction = what,
                                            .pattern = &pattern},
                     place);
    const struct tally *tally = &work->job->tallies[work->worker];
    const struct counts *counts = &tally->counts[work->slot], before = *counts;
    const bool added = job_add(work->job, work->worker, work->mapping->array, work->slot, work->stores, &pattern);
    if (added && work->job->traffic && !work->shared)
        note_traffic(work, &pattern, counts->lines - before.lines);
    if (added && what->joined)
        counts_add_difference(&tally->joined[work->slot], counts, &before);
    return added && (together == 0 || add_exchange(work, what, place, &pattern, together));
}

/* Splits the box's dimensions until the lanes move evenly in each part: by whole tiles. */
static bool add_place(struct event_job *work, const struct instruction *what, const struct place *place)
{
    unsigned dim;
    uint64_t period;
    if (!place_uneven(&dim, &period, place))
        return add_even(work, what, place);
    const bool moved = work->moved, beyond = work->beyond;
    bool added = true;
    for (uint64_t r = 0; r < period && r < place->count[dim] && added; r++) {
        struct place part = place_part(place, dim, period, r);
        work->moved = moved || (dim < 3 && r > 0);
        work->beyond = beyond || r > 0;
        added = add_place(work, what, &part);
    }
    work->moved = moved;
    work->beyond = beyond;
    return added;
}

static bool add_instruction(struct event_job *work, const struct instruction *what)
{
    struct place place;
    place_make(&place, work->event, work->mapping, work->stage, what, work->job->tallies[work->worker].place);
    return add_place(work, what, &place);
}

static void end_run(struct kernel_job *job, unsigned worker, const struct region *region)
{
    for (size_t n = 0; n < job->spec->array_count; n++)
        traffic_end_run(&job->tallies[worker].traffic[n], region->weight, region->blocks);
}

/* What L1 has beside the shared memory that the array's plan takes. */
static uint64_t l1_bytes(const struct kernel_job *job, size_t array)
{
    const struct option *option = job->chosen[array];
    if (option == NULL)
        return (uint64_t)job->device->l1_bytes;
    const struct usage *usage = &option->usages[job->kernel_number];
    const uint64_t shared = (usage->stage != NULL ? usage->stage->bytes : 0) + usage->exchange_bytes;
    const int64_t blocks =
        device_resident_blocks(job->device, job->kernel->block_threads, job->kernel->registers, shared);
    return device_l1_bytes_beside(job->device, blocks, shared);
}

static void end_box(struct kernel_job *job, unsigned worker, uint64_t blocks)
{
    for (size_t n = 0; n < job->spec->array_count; n++)
        traffic_end_box(&job->tallies[worker].traffic[n], blocks, l1_bytes(job, n));
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
    end_run(context->job, worker, region);
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
    if (job->traffic && array->space == SPACE_SHARED)
        traffic_touch_shared(&job->tallies[worker].traffic[array->number], event->access->op != ACCESS_WRITE,
                             event->access->op != ACCESS_READ);
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

static size_t counts_bytes(const struct kernel_job *job)
{
    return job->slot_count * 2 * sizeof(struct counts);
}

/* A snapshot holds the counts, then the traffic of each array, before the box at hand and in it. */
static size_t snapshot_bytes(const struct kernel_job *job)
{
    return counts_bytes(job) + job->spec->array_count * 2 * sizeof(struct run_traffic);
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
    memcpy(snapshot, tally->counts, counts_bytes(job));
    if (job->observer != NULL)
        job->observer->mark(job->observer->context, worker, depth);
    if (!job->traffic)
        return;
    end_run(job, worker, &context->regions[worker]);
    if (depth == 0)
        end_box(job, worker, context->regions[worker].blocks);
    snapshot += counts_bytes(job);
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const struct run_traffic parts[2] = {tally->traffic[n].sum, tally->traffic[n].box};
        memcpy(snapshot + n * sizeof(parts), parts, sizeof(parts));
    }
}

/* What a block reads is a set: what was added to it before the rollback comes again. */
static void on_rollback(void *opaque, unsigned worker, unsigned depth)
{
    struct launch_context *context = opaque;
    struct kernel_job *job = context->job;
    const unsigned char *snapshot = snapshot_at(context, worker, depth);
    struct tally *tally = &job->tallies[worker];
    memcpy(tally->counts, snapshot, counts_bytes(job));
    if (job->observer != NULL)
        job->observer->rollback(job->observer->context, worker, depth);
    snapshot += counts_bytes(job);
    for (size_t n = 0; job->traffic && n < job->spec->array_count; n++) {
        struct run_traffic parts[2];
        memcpy(parts, snapshot + n * sizeof(parts), sizeof(parts));
        tally->traffic[n].sum = parts[0];
        tally->traffic[n].box = parts[1];
        traffic_forget(&tally->traffic[n], depth == 0);
    }
}

/* Copies in shared memory begin at their block's origin, L1 is a block's, and an observer is told the block. */
static bool depends_on_block(const struct kernel_job *job)
{
    bool staged = false;
    for (size_t n = 0; n < job->spec->array_count; n++)
        staged |= job->chosen[n] != NULL && job->chosen[n]->usages[job->kernel_number].stage != NULL;
    return staged || job->traffic || job->observer != NULL;
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
    struct launch_sink sink = {.context = &context,
                               .event = on_event,
                               .mark = on_mark,
                               .rollback = on_rollback,
                               .refuse = on_refuse,
                               .several = !depends_on_block(job)};
    enum launch_status status = launch_run(job->kernel, shape, &sink, arena, diags);
    for (unsigned i = 0; i < job->workers; i++) {
        end_run(job, i, &context.regions[i]);
        end_box(job, i, context.regions[i].blocks);
        free(context.snapshots[i]);
    }
    free(context.regions);
    free(context.snapshots);
    return status == LAUNCH_DONE;
}
