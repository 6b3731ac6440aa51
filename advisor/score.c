#include "score.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "plan.h"
#include "score_internal.h"
#include "score_place.h"
#include "wide.h"

static bool start_tallies(struct kernel_job *job)
{
    size_t arrays = job->spec->array_count + 1;
    job->tallies = calloc(job->workers, sizeof(*job->tallies));
    if (job->tallies == NULL)
        return false;
    for (unsigned i = 0; i < job->workers; i++) {
        struct tally *tally = &job->tallies[i];
        tally->counts = calloc(job->slot_count * 2 + 1, sizeof(*tally->counts));
        tally->joined = tally->counts == NULL ? NULL : tally->counts + job->slot_count;
        tally->traffic = calloc(arrays, sizeof(*tally->traffic));
        tally->address = calloc(LAUNCH_THREADS_MAX, sizeof(int64_t));
        tally->place = calloc((size_t)LAUNCH_THREADS_MAX * PLACE_VECTORS, sizeof(int64_t));
        tally->scratch = calloc(LAUNCH_THREADS_MAX, sizeof(int64_t));
        if (tally->counts == NULL || tally->traffic == NULL || tally->address == NULL || tally->place == NULL ||
            tally->scratch == NULL)
            return false;
    }
    return true;
}

static void free_job(struct kernel_job *job)
{
    for (unsigned i = 0; job->tallies != NULL && i < job->workers; i++) {
        struct tally *tally = &job->tallies[i];
        for (size_t n = 0; tally->traffic != NULL && n < job->spec->array_count; n++)
            traffic_free(&tally->traffic[n]);
        free(tally->counts);
        free(tally->traffic);
        free(tally->address);
        free(tally->place);
        free(tally->scratch);
    }
    free(job->tallies);
    for (size_t n = 0; job->coverages != NULL && n < job->spec->array_count; n++)
        coverage_free(job->coverages[n]);
}

static uint64_t list_divides(const struct instruction *list, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all |= list[i].offset | list[i].stride | list[i].width;
        for (size_t t = 0; t < list[i].term_count; t++)
            all |= list[i].terms[t].stride;
    }
    return all;
}

/* The largest power of two that divides all places and widths of an array's stores under any plan of this kernel. */
static unsigned store_granule(const struct kernel_job *job, const struct option *option)
{
    const struct mapping *mapping = option->mapping;
    const struct usage *usage = &option->usages[job->kernel_number];
    uint64_t all = SECTOR_BYTES | mapping->array->offset;
    for (size_t i = 0; i < mapping->array->record->leaf_count; i++)
        all |= mapping->array->record->leaves[i].offset | mapping->array->record->leaves[i].size |
               mapping->leaves[i].offset | mapping->leaves[i].stride | layout_jumps(mapping, i);
    for (unsigned i = 0; i < job->kernel->access_count; i++) {
        const struct instructions *instructions = &usage->instructions[i];
        all |= list_divides(instructions->stores, instructions->store_count);
        if (job->kernel->accesses[i]->op == ACCESS_ATOMIC)
            all |= list_divides(instructions->loads, instructions->load_count);
    }
    if (usage->stage != NULL)
        all |= usage->stage->out_word_bytes | mapping->record_stride;
    return (unsigned)(all & (~all + 1));
}

static bool start_coverages(struct kernel_job *job, struct arena *arena)
{
    job->coverages = arena_array(arena, job->spec->array_count + 1, sizeof(struct coverage *));
    if (job->observer != NULL)
        return true; /* nobody asks for the footprint */
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const struct option *option = job->chosen[n];
        if (option == NULL || !option->usages[job->kernel_number].used || option->array->space == SPACE_SHARED)
            continue;
        job->coverages[n] =
            coverage_new(option->array->offset + option->mapping->bytes, store_granule(job, option), job->workers);
        if (job->coverages[n] == NULL)
            return false;
    }
    return true;
}

/* The same instructions for record 4 g, then for 4 g + 1, ...: what a thread for four records does to an array that is
 * not accessed wide. */
static struct instruction *four_times(struct arena *arena, const struct instruction *list, size_t count)
{
    struct instruction *all = arena_array(arena, count * WIDE_RECORDS, sizeof(*all));
    for (size_t r = 0; r < WIDE_RECORDS; r++)
        for (size_t i = 0; i < count; i++) {
            all[r * count + i] = list[i];
            all[r * count + i].offset += r * list[i].stride;
        }
    return all;
}

static const struct instructions *repeat_instructions(const struct kernel_job *job, const struct usage *usage,
                                                      struct arena *arena)
{
    struct instructions *all = arena_array(arena, job->kernel->access_count, sizeof(*all));
    for (unsigned i = 0; i < job->kernel->access_count; i++) {
        const struct instructions *one = &usage->instructions[i];
        all[i].loads = four_times(arena, one->loads, one->load_count);
        all[i].load_count = one->load_count * WIDE_RECORDS;
        all[i].stores = four_times(arena, one->stores, one->store_count);
        all[i].store_count = one->store_count * WIDE_RECORDS;
    }
    return all;
}

static const struct instructions *direct_instructions(const struct kernel_job *job, const struct option *option,
                                                      struct arena *arena)
{
    const struct plan direct = {.kind = PLAN_DIRECT};
    const char *reason;
    struct instructions *all = arena_array(arena, job->kernel->access_count, sizeof(*all));
    for (unsigned i = 0; i < job->kernel->access_count; i++)
        if (job->kernel->accesses[i]->array == option->array &&
            !plan_instructions(&all[i], arena, option->mapping, job->kernel->accesses[i], &direct, &reason))
            return NULL;
    return all;
}

enum launch_role { ROLE_THREADS, ROLE_WIDE, ROLE_TAIL };

static bool choose_instructions(struct kernel_job *job, enum launch_role role, struct arena *arena)
{
    job->instructions = arena_array(arena, job->spec->array_count + 1, sizeof(struct instructions *));
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const struct option *option = job->chosen[n];
        if (option == NULL || !option->usages[job->kernel_number].used)
            continue;
        const struct usage *usage = &option->usages[job->kernel_number];
        bool is_wide = usage->effective.plan.kind == PLAN_WIDE;
        if (role == ROLE_TAIL && is_wide)
            job->instructions[n] = direct_instructions(job, option, arena);
        else if (role == ROLE_WIDE && !is_wide)
            job->instructions[n] = repeat_instructions(job, usage, arena);
        else
            job->instructions[n] = usage->instructions;
        if (job->instructions[n] == NULL)
            return job_fail(job, "inapplicable-candidate", option->array->name.where, "no direct access under it");
    }
    return true;
}

static bool run_copies(struct kernel_job *job)
{
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const struct option *option = job->chosen[n];
        if (option == NULL || option->usages[job->kernel_number].stage == NULL)
            continue;
        if (!job_add_copies(job, option->mapping, option->usages[job->kernel_number].stage))
            return false;
    }
    return true;
}

static bool merge_tallies(struct kernel_job *job)
{
    for (unsigned i = 1; i < job->workers; i++) {
        for (size_t s = 0; s < job->slot_count * 2; s++)
            if (!counts_add(&job->tallies[0].counts[s], &job->tallies[i].counts[s], 1))
                return job_fail(job, "count-too-large", job->kernel->name.where, "a count passes 2^63 - 1");
        for (size_t n = 0; n < job->spec->array_count; n++)
            traffic_merge(&job->tallies[0].traffic[n], &job->tallies[i].traffic[n]);
    }
    return true;
}

static unsigned tiled_axes(const struct layout *layout)
{
    switch (layout->kind) {
    case LAYOUT_AOSOA:
        return 1;
    case LAYOUT_TILED:
        return layout->tiled_count;
    case LAYOUT_AOS:
    case LAYOUT_SOA:
    case LAYOUT_SPLIT: /* groups in tiles are rare */
    case LAYOUT_ROW_MAJOR:
    case LAYOUT_COLUMN_MAJOR:
    case LAYOUT_PITCH:
        return 0;
    }
    return 0;
}

static void put_phase(struct kernel_score *out, const struct kernel_job *job, const struct access *access,
                      enum phase phase, const struct usage *usage)
{
    size_t slot = phase_slot(job, access->array, phase == PHASE_COPY_IN ? SLOT_LOADS : SLOT_STORES);
    out->accesses[out->access_count++] =
        (struct access_score){.access = access,
                              .array = access->array,
                              .op = phase == PHASE_COPY_IN ? ACCESS_READ : ACCESS_WRITE,
                              .space = SPACE_GLOBAL,
                              .phase = phase,
                              .candidate = usage->effective.text,
                              .tiled_axes = tiled_axes(&usage->effective.layout),
                              .counts = job->tallies[0].counts[slot]};
}

static void put_access(struct kernel_score *out, const struct kernel_job *job, const struct access *access,
                       const struct usage *usage)
{
    struct access_score score = {.access = access,
                                 .array = access->array,
                                 .candidate = usage->effective.text,
                                 .tiled_axes = usage->stage != NULL ? 0 : tiled_axes(&usage->effective.layout)};
    score.space = usage->stage != NULL ? SPACE_SHARED : access->array->space;
    if (access->op != ACCESS_WRITE) {
        score.op = access->op == ACCESS_ATOMIC ? ACCESS_ATOMIC : ACCESS_READ;
        score.counts = job->tallies[0].counts[access_slot(access, SLOT_LOADS)];
        score.joined = job->tallies[0].joined[access_slot(access, SLOT_LOADS)];
        out->accesses[out->access_count++] = score;
    }
    if (access->op == ACCESS_WRITE || access->op == ACCESS_UPDATE) {
        score.op = ACCESS_WRITE;
        score.counts = job->tallies[0].counts[access_slot(access, SLOT_STORES)];
        score.joined = job->tallies[0].joined[access_slot(access, SLOT_STORES)];
        out->accesses[out->access_count++] = score;
    }
}

static bool is_first(const struct kernel *kernel, unsigned number)
{
    for (unsigned i = 0; i < number; i++)
        if (kernel->accesses[i]->array == kernel->accesses[number]->array)
            return false;
    return true;
}

static bool is_last(const struct kernel *kernel, unsigned number)
{
    for (unsigned i = number + 1; i < kernel->access_count; i++)
        if (kernel->accesses[i]->array == kernel->accesses[number]->array)
            return false;
    return true;
}

static void put_accesses(struct kernel_score *out, const struct kernel_job *job, struct arena *arena)
{
    const struct kernel *kernel = job->kernel;
    out->accesses = arena_array(arena, (size_t)kernel->access_count * 4 + 1, sizeof(*out->accesses));
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct access *access = kernel->accesses[i];
        const struct option *option = job->chosen[access->array->number];
        if (option == NULL)
            continue;
        const struct usage *usage = &option->usages[job->kernel_number];
        if (usage->stage != NULL && usage->stage->copy_in && is_first(kernel, i))
            put_phase(out, job, access, PHASE_COPY_IN, usage);
        put_access(out, job, access, usage);
        if (usage->stage != NULL && usage->stage->copy_out && is_last(kernel, i))
            put_phase(out, job, access, PHASE_COPY_OUT, usage);
    }
}

static bool put_arrays(struct kernel_score *out, struct kernel_job *job, struct arena *arena)
{
    out->arrays = arena_array(arena, job->spec->array_count + 1, sizeof(*out->arrays));
    for (size_t n = 0; n < job->spec->array_count; n++) {
        struct footprint footprint;
        if (job->coverages[n] == NULL)
            continue;
        if (!coverage_count(job->coverages[n], &footprint))
            return job_fail(job, "footprint-too-large", job->kernel->name.where,
                            "the footprint of so large an array does not fit in memory");
        out->arrays[out->array_count++] =
            (struct array_score){.array = job->chosen[n]->array,
                                 .distinct_sectors = footprint.distinct_sectors,
                                 .fill_sectors = footprint.fill_sectors,
                                 .read_sectors = footprint.read_sectors,
                                 .written_sectors = footprint.written_sectors,
                                 .unread_fill_sectors = footprint.unread_fill_sectors,
                                 .read_pairs = footprint.read_pairs,
                                 .lines = footprint.lines,
                                 .written_blocks = footprint.written_blocks,
                                 .pages = traffic_count_pages(&job->tallies[0].traffic[n]),
                                 .runs = job->tallies[0].traffic[n].sum};
    }
    return true;
}

static uint64_t block_shared_bytes(const struct kernel_job *job)
{
    uint64_t bytes = 0, exchange = 0;
    for (size_t n = 0; n < job->spec->array_count; n++) {
        const struct option *option = job->chosen[n];
        if (option == NULL || !option->usages[job->kernel_number].used)
            continue;
        const struct stage *stage = option->usages[job->kernel_number].stage;
        if (option->array->space == SPACE_SHARED)
            bytes += option->array->offset + option->mapping->bytes;
        else if (stage != NULL)
            bytes += stage->bytes;
        const uint64_t own = option->usages[job->kernel_number].exchange_bytes;
        exchange = own > exchange ? own : exchange;
    }
    return bytes + exchange;
}

static void put_launch(struct kernel_score *out, const struct kernel_job *job, bool wide)
{
    const struct kernel *kernel = job->kernel;
    struct launch_shape shape = wide ? wide_shape(kernel) : launch_shape_of(kernel);
    out->kernel = kernel;
    out->blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
    out->threads = out->blocks * kernel->block_threads;
    out->active_warps = out->blocks * ((kernel->block_threads + WARP_LANES - 1) / WARP_LANES);
    out->shared_bytes = block_shared_bytes(job);
    for (size_t n = 0; n < job->spec->array_count; n++)
        out->barriers += job->tallies[0].traffic[n].sum.barriers;
}

/* Keeps a launch to the threads of one warp. */
static void narrow_to(struct launch_shape *shape, const struct score_window *window)
{
    if (window == NULL)
        return;
    const uint64_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    const uint64_t in_block = (uint64_t)window->warp * WARP_LANES, first = window->block * threads + in_block;
    const uint64_t limit = first + (threads - in_block < WARP_LANES ? threads - in_block : WARP_LANES);
    shape->first = first > shape->first ? first : shape->first;
    shape->limit = limit < shape->limit ? limit : shape->limit;
}

static bool run_job(struct kernel_job *job, bool wide, struct arena *arena, struct diags *diags)
{
    struct launch_shape shape = wide ? wide_shape(job->kernel) : launch_shape_of(job->kernel), tail;
    narrow_to(&shape, job->window);
    if (!choose_instructions(job, wide ? ROLE_WIDE : ROLE_THREADS, arena) || !job_run_launch(job, &shape, arena, diags))
        return false;
    job->tail = wide && wide_tail_shape(&tail, job->kernel);
    if (job->tail) {
        narrow_to(&tail, job->window);
        if (!choose_instructions(job, ROLE_TAIL, arena) || !job_run_launch(job, &tail, arena, diags))
            return false;
    }
    return run_copies(job) && merge_tallies(job);
}

static struct kernel_job job_of(const struct spec *spec, size_t kernel_number, const struct device *device,
                                struct option *const *chosen)
{
    const struct kernel *kernel = spec->kernels;
    for (size_t k = 0; k < kernel_number; k++)
        kernel = kernel->next;
    return (struct kernel_job){.spec = spec,
                               .device = device,
                               .kernel = kernel,
                               .kernel_number = kernel_number,
                               .chosen = chosen,
                               .workers = launch_workers(),
                               .slot_count = (size_t)kernel->access_count * 2 + spec->array_count * 2};
}

/* `out` is filled where it is not NULL. */
static bool count_job(struct kernel_score *out, struct kernel_job *job, bool wide, struct arena *arena,
                      struct diags *diags)
{
    if (!start_tallies(job) || !start_coverages(job, arena))
        abort();
    bool done = run_job(job, wide, arena, diags);
    if (done && out != NULL) {
        put_launch(out, job, wide);
        put_accesses(out, job, arena);
        done = put_arrays(out, job, arena);
    }
    if (!done && job->problem != NULL)
        diag_error(diags, job->problem_id, job->problem_where, "%s, in kernel '%s'", job->problem,
                   job->kernel->name.text);
    free_job(job);
    return done;
}

bool score_kernel(struct kernel_score *out, const struct spec *spec, size_t kernel_number, const struct device *device,
                  struct option *const *chosen, bool wide, bool traffic, struct arena *arena, struct diags *diags)
{
    struct kernel_job job = job_of(spec, kernel_number, device, chosen);
    job.traffic = traffic;
    *out = (struct kernel_score){0};
    return count_job(out, &job, wide, arena, diags);
}

bool score_observe(const struct spec *spec, size_t kernel_number, const struct device *device,
                   struct option *const *chosen, bool wide, const struct score_observer *observer,
                   const struct score_window *window, struct arena *arena, struct diags *diags)
{
    struct kernel_job job = job_of(spec, kernel_number, device, chosen);
    job.observer = observer;
    job.window = window;
    return count_job(NULL, &job, wide, arena, diags);
}

static bool fits_device(const struct kernel_score *score, const struct device *device, struct diags *diags)
{
    if (score->shared_bytes <= (uint64_t)device->shared_bytes_per_block)
        return true;
    diag_error(diags, "inapplicable-candidate", score->kernel->name.where,
               "kernel '%s' needs %" PRIu64 " bytes of shared memory a block with these candidates; '%s' has %" PRId64,
               score->kernel->name.text, score->shared_bytes, device->name, device->shared_bytes_per_block);
    return false;
}

static struct score *score_kernels(const struct spec *spec, const struct device *device, struct option *const *chosen,
                                   bool traffic, struct arena *arena, struct diags *diags)
{
    struct score *score = arena_alloc(arena, sizeof(*score));
    score->kernels = arena_array(arena, spec->kernel_count + 1, sizeof(*score->kernels));
    score->kernel_count = spec->kernel_count;
    const struct kernel *kernel = spec->kernels;
    for (size_t k = 0; k < spec->kernel_count; k++, kernel = kernel->next) {
        bool wide;
        const char *reason;
        if (!candidates_agree(&wide, spec, k, chosen, arena, &reason)) {
            diag_error(diags, "inapplicable-candidate", kernel->name.where, "%s", reason);
            continue;
        }
        if (score_kernel(&score->kernels[k], spec, k, device, chosen, wide, traffic, arena, diags))
            (void)fits_device(&score->kernels[k], device, diags);
    }
    return diag_failed(diags) ? NULL : score;
}

struct score *score_spec(const struct spec *spec, const struct device *device, struct option *const *chosen,
                         struct arena *arena, struct diags *diags)
{
    return score_kernels(spec, device, chosen, false, arena, diags);
}

struct score *score_spec_traffic(const struct spec *spec, const struct device *device, struct option *const *chosen,
                                 struct arena *arena, struct diags *diags)
{
    return score_kernels(spec, device, chosen, true, arena, diags);
}
