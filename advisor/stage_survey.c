#include "stage_survey.h"

#include <string.h>

#include "launch.h"

/* What looking at a kernel's events finds about an array's indices. */
struct survey {
    const struct array *array;
    const uint64_t *grid;
    bool known[3]; /* a block dimension along which some event is a line */
    int64_t step[SPEC_DIMS_MAX][3];
    int64_t low[SPEC_DIMS_MAX], high[SPEC_DIMS_MAX]; /* relative to the block's origin */
    bool found, measuring, irregular, too_large, faulty;
    unsigned points; /* events of single blocks seen before any line */
    uint64_t records_max;
};

static bool learn_steps(struct survey *survey, const struct launch_event *event)
{
    enum { POINTS_MAX = 256 };
    for (unsigned b = 0; b < 3; b++) {
        if (event->count[b] <= 1) {
            survey->irregular |= survey->grid[b] > 1 && !survey->known[b] && ++survey->points > POINTS_MAX;
            continue;
        }
        for (unsigned d = 0; d < survey->array->dim_count; d++) {
            int64_t step = event->index[d].step[b], stride = (int64_t)event->block_step[b];
            survey->irregular |= step % stride != 0 || (survey->known[b] && survey->step[d][b] != step / stride);
            survey->step[d][b] = step / stride;
        }
        survey->known[b] = true;
    }
    return !survey->irregular;
}

/* Where the event's indices of dimension d lie, relative to the block's origin; loops widen it. */
static bool measure(struct survey *survey, const struct launch_event *event, unsigned d)
{
    int64_t origin = 0, below = 0, above = 0;
    for (unsigned b = 0; b < 3; b++) {
        origin += survey->step[d][b] * (int64_t)event->first_block[b];
        if (event->count[b] > 1 && event->index[d].step[b] != survey->step[d][b] * (int64_t)event->block_step[b])
            return false;
    }
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++) {
        int64_t reach = event->index[d].step[k] * (int64_t)(event->count[k] - 1);
        below += reach < 0 ? reach : 0;
        above += reach > 0 ? reach : 0;
    }
    for (unsigned t = 0; t < event->thread_count; t++) {
        if ((event->active[t / 64] >> (t % 64) & 1) == 0)
            continue;
        int64_t low = event->index[d].constant[t] - origin + below, high = event->index[d].constant[t] - origin + above;
        survey->low[d] = low < survey->low[d] ? low : survey->low[d];
        survey->high[d] = high > survey->high[d] ? high : survey->high[d];
    }
    survey->too_large |= (uint64_t)(survey->high[d] - survey->low[d]) >= survey->records_max;
    return !survey->too_large;
}

static enum launch_verdict survey_event(void *context, unsigned worker, const struct launch_event *event)
{
    (void)worker;
    struct survey *survey = context;
    bool goes_on = true;
    if (event->access->array != survey->array)
        return LAUNCH_TAKEN;
#ifdef _OPENMP
#pragma omp critical(stage_survey)
#endif
    {
        survey->found = true;
        if (!survey->measuring) {
            goes_on = learn_steps(survey, event);
        } else {
            for (unsigned d = 0; d < survey->array->dim_count && goes_on; d++)
                goes_on = measure(survey, event, d);
            survey->irregular |= !goes_on && !survey->too_large;
        }
    }
    return goes_on ? LAUNCH_TAKEN : LAUNCH_ENOUGH;
}

static bool survey_run(struct survey *survey, const struct kernel *kernel, struct arena *arena)
{
    struct diags ignored = {.arena = arena}; /* faults are the counting's to report */
    struct launch_shape shape = launch_shape_of(kernel);
    struct launch_sink sink = {.context = survey, .event = survey_event};
    enum launch_status status = launch_run(kernel, &shape, &sink, arena, &ignored);
    survey->faulty = status == LAUNCH_FAULT;
    return status == LAUNCH_DONE;
}

/* What two blocks that differ in one number only show of an access: their first events, and how far the second one's
 * indices are from the first's. */
struct comparison {
    bool seen[2];
    uint64_t block[2][3];
    int64_t *index[2]; /* a dimension, then a thread */
    uint64_t active[2][LAUNCH_THREADS_MAX / 64];
};

struct comparing {
    const struct array *array;
    const struct kernel *kernel;
    unsigned b; /* the number of the block that differs */
    unsigned which;
    struct comparison *items; /* an access */
};

static uint64_t linear_block(const struct kernel *kernel, const uint64_t block[3])
{
    return block[0] + kernel->grid[0] * (block[1] + kernel->grid[1] * block[2]);
}

/* Whether the event's block is the one to keep: the first of all, or the first beside it along b. */
static bool is_wanted(const struct comparing *comparing, const struct comparison *item, const uint64_t block[3])
{
    const unsigned which = comparing->which;
    for (unsigned o = 0; o < 3 && which == 1; o++)
        if (!item->seen[0] || (block[o] == item->block[0][o]) == (o == comparing->b))
            return false;
    return !item->seen[which] ||
           linear_block(comparing->kernel, block) < linear_block(comparing->kernel, item->block[which]);
}

static enum launch_verdict compare_event(void *context, unsigned worker, const struct launch_event *event)
{
    (void)worker;
    struct comparing *comparing = context;
    struct comparison *item = &comparing->items[event->access->number];
    const unsigned which = comparing->which;
    const size_t threads = event->thread_count;
    if (event->access->array != comparing->array)
        return LAUNCH_TAKEN;
#ifdef _OPENMP
#pragma omp critical(stage_survey)
#endif
    if (is_wanted(comparing, item, event->first_block)) {
        item->seen[which] = true;
        memcpy(item->block[which], event->first_block, sizeof(item->block[which]));
        memcpy(item->active[which], event->active, (threads + 63) / 64 * sizeof(uint64_t));
        for (unsigned d = 0; d < comparing->array->dim_count; d++)
            memcpy(item->index[which] + d * threads, event->index[d].constant, threads * sizeof(int64_t));
    }
    return LAUNCH_TAKEN;
}

/* By how much most threads' index of dimension d moves from block to block; false where no number has most. */
static bool common_step(int64_t *out, const struct comparing *comparing, const struct comparison *item, unsigned d)
{
    const size_t threads = (size_t)comparing->kernel->block_threads;
    const int64_t blocks = (int64_t)item->block[1][comparing->b] - (int64_t)item->block[0][comparing->b];
    size_t both = 0, agree = 0, votes = 0;
    for (unsigned round = 0; round < 2; round++) /* Boyer and Moore: a majority outlasts, then is counted */
        for (size_t t = 0; t < threads; t++) {
            if ((item->active[0][t / 64] & item->active[1][t / 64]) >> (t % 64) % 2 == 0)
                continue;
            int64_t step = item->index[1][d * threads + t] - item->index[0][d * threads + t];
            both += round;
            agree += round == 1 && step == *out;
            if (round == 0 && votes == 0)
                *out = step;
            votes = round == 0 ? (step == *out ? votes + 1 : votes - 1) : votes;
        }
    bool most = agree > both / 2 && *out % blocks == 0;
    *out /= blocks;
    return most;
}

/* Where a launch has so few blocks along b that no event is a line: learns the steps from two blocks. A step that is
 * not that of all threads makes the box larger, no more. */
static bool compare_blocks(struct survey *survey, const struct kernel *kernel, unsigned b, struct arena *arena)
{
    enum { BLOCKS_FEW = 3 };
    struct comparing comparing = {.array = survey->array, .kernel = kernel, .b = b};
    struct diags ignored = {.arena = arena};
    struct launch_shape shape = launch_shape_of(kernel);
    struct launch_sink sink = {.context = &comparing, .event = compare_event};
    if (kernel->grid[b] > BLOCKS_FEW)
        return false;
    comparing.items = arena_array(arena, kernel->access_count, sizeof(*comparing.items));
    for (unsigned i = 0; i < kernel->access_count; i++)
        for (unsigned which = 0; which < 2; which++)
            comparing.items[i].index[which] =
                arena_array(arena, (size_t)kernel->block_threads * SPEC_DIMS_MAX, sizeof(int64_t));
    for (; comparing.which < 2; comparing.which++)
        if (launch_run(kernel, &shape, &sink, arena, &ignored) != LAUNCH_DONE)
            return false;
    for (unsigned i = 0; i < kernel->access_count; i++) {
        bool common = comparing.items[i].seen[1];
        for (unsigned d = 0; d < survey->array->dim_count && common; d++)
            common = common_step(&survey->step[d][b], &comparing, &comparing.items[i], d);
        if (common)
            return true;
    }
    return false;
}

static bool survey_footprint(struct survey *survey, const struct kernel *kernel, struct arena *arena,
                             const char **reason)
{
    *reason = "a block's footprint is no box that moves evenly with blockIdx";
    if (!survey_run(survey, kernel, arena) || !survey->found) {
        if (survey->faulty)
            *reason = "the kernel does what is an error, which scoring it 'direct' tells";
        return false;
    }
    for (unsigned b = 0; b < 3; b++)
        if (kernel->grid[b] > 1 && !survey->known[b] && !compare_blocks(survey, kernel, b, arena))
            return false;
    for (unsigned d = 0; d < SPEC_DIMS_MAX; d++) {
        survey->low[d] = INT64_MAX;
        survey->high[d] = INT64_MIN;
    }
    survey->measuring = true;
    if (survey_run(survey, kernel, arena))
        return true;
    if (survey->too_large)
        *reason = "a block's footprint does not fit the shared memory of a block";
    return false;
}

bool stage_survey(struct stage *stage, uint64_t records_max, struct arena *arena, const char **reason)
{
    struct survey survey = {.array = stage->array, .grid = stage->kernel->grid, .records_max = records_max};
    if (!survey_footprint(&survey, stage->kernel, arena, reason))
        return false;
    for (unsigned d = 0; d < stage->dim_count; d++) {
        stage->origin[d] = survey.low[d];
        stage->extent[d] = (uint64_t)(survey.high[d] - survey.low[d]) + 1;
        memcpy(stage->origin_step[d], survey.step[d], sizeof(stage->origin_step[d]));
    }
    return true;
}
