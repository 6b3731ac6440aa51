#include <stdlib.h>
#include <string.h>

#include "explain_internal.h"
#include "wide.h"

/* Events may be taken back to a mark, so that what came since each mark is kept apart: level d + 1 is what came since
 * mark(d). */
enum { LEVELS = LAUNCH_DIMS_MAX + 1 };

struct growing_series {
    struct explain_series series;
    struct explain_cell *cells[LEVELS]; /* those of level 0 are the series' */
};

/* A cell of a level that is not empty. */
struct touched {
    struct growing_series *series;
    unsigned cost;
};

struct touched_list {
    struct touched *items;
    size_t count, capacity;
};

/* What one worker has seen. */
struct watcher {
    struct growing_series **series;
    size_t count, capacity;
    size_t *lookup; /* a slot (access or copy): the place in `series` of its first instruction, plus 1 */
    struct touched_list touched[LEVELS];
    unsigned level;
    bool overflow;
};

struct watch {
    const struct explain_launch *launch;
    const struct score_window *window; /* NULL: all warps */
    struct watcher *watchers;
    unsigned workers;
};

static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    void *more = realloc(items, *capacity * size);
    if (more == NULL)
        abort();
    return more;
}

bool explain_key_is(const struct explain_key *key, const struct score_request *request)
{
    return key->access == request->access && key->array == request->array && key->phase == request->phase &&
           key->stores == request->stores && key->shared == request->pattern->shared && key->tail == request->tail &&
           key->number == request->number;
}

int explain_place_compare(const struct explain_place *a, const struct explain_place *b)
{
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->warp != b->warp)
        return a->warp < b->warp ? -1 : 1;
    for (unsigned i = 0; i < EXPLAIN_LOOPS_MAX; i++)
        if (a->trips[i] != b->trips[i])
            return a->trips[i] < b->trips[i] ? -1 : 1;
    return 0;
}

static struct growing_series *new_series(const struct score_request *request)
{
    struct growing_series *made = calloc(1, sizeof(*made));
    if (made == NULL)
        abort();
    made->series = (struct explain_series){.key = {.access = request->access,
                                                   .array = request->array,
                                                   .phase = request->phase,
                                                   .stores = request->stores,
                                                   .shared = request->pattern->shared,
                                                   .tail = request->tail,
                                                   .number = request->number},
                                           .instruction = request->instruction,
                                           .width = request->pattern->width};
    made->cells[0] = made->series.cells;
    bool copies = request->access == NULL;
    made->series.loop_count = copies                                    ? 1
                              : request->loop_count < EXPLAIN_LOOPS_MAX ? request->loop_count
                                                                        : EXPLAIN_LOOPS_MAX;
    for (unsigned i = 0; i < made->series.loop_count && !copies; i++)
        made->series.loops[i] = request->loops[i].loop;
    return made;
}

/* Instructions of one slot come in turn, so that the next one is near the last. */
static struct growing_series *find_series(struct watcher *watcher, const struct score_request *request, size_t slot)
{
    size_t from = watcher->lookup[slot] == 0 ? 0 : watcher->lookup[slot] - 1;
    for (size_t i = 0; i < watcher->count; i++) {
        size_t at = (from + i) % watcher->count;
        if (explain_key_is(&watcher->series[at]->series.key, request)) {
            watcher->lookup[slot] = at + 1;
            return watcher->series[at];
        }
    }
    watcher->series = grown(watcher->series, watcher->count, &watcher->capacity, sizeof(struct growing_series *));
    watcher->series[watcher->count] = new_series(request);
    watcher->lookup[slot] = watcher->count + 1;
    return watcher->series[watcher->count++];
}

/* A cell that is to be added to, noted where it was empty. */
static struct explain_cell *cell_at(struct watcher *watcher, struct growing_series *series, unsigned level,
                                    unsigned cost)
{
    if (series->cells[level] == NULL)
        series->cells[level] = calloc(EXPLAIN_COSTS, sizeof(struct explain_cell));
    struct explain_cell *cells = series->cells[level];
    if (cells == NULL)
        abort();
    if (cells[cost].requests == 0) {
        struct touched_list *list = &watcher->touched[level];
        list->items = grown(list->items, list->count, &list->capacity, sizeof(*list->items));
        list->items[list->count++] = (struct touched){series, cost};
    }
    return &cells[cost];
}

static void add_cell(struct watcher *watcher, struct growing_series *series, unsigned level, unsigned cost,
                     const struct explain_cell *more, uint64_t times)
{
    struct explain_cell *cell = cell_at(watcher, series, level, cost);
    if (cell->requests == 0 || explain_place_compare(&more->first, &cell->first) < 0)
        cell->first = more->first;
    cell->requests += more->requests;
    watcher->overflow |= !counts_add(&cell->counts, &more->counts, times);
}

struct visiting {
    const struct score_window *window;
    struct watcher *watcher;
    struct growing_series *series;
    const struct score_request *request;
    const uint64_t *grid;
};

static struct explain_place place_of(const struct visiting *visiting, const struct pattern_visit *visit)
{
    const struct score_request *request = visiting->request;
    uint64_t block[3];
    for (unsigned b = 0; b < 3; b++)
        block[b] = request->first_block[b] + request->block_step[b] * visit->first[b];
    struct explain_place place = {.block = block[0] + visiting->grid[0] * (block[1] + visiting->grid[1] * block[2]),
                                  .warp = visit->warp};
    for (unsigned i = 0; i < request->loop_count && i < EXPLAIN_LOOPS_MAX; i++)
        place.trips[i] = request->loops[i].first + request->loops[i].step * visit->first[request->loops[i].dim];
    if (request->access == NULL)
        place.trips[0] = request->copy_step;
    return place;
}

static void on_visit(void *context, const struct pattern_visit *visit)
{
    const struct visiting *visiting = context;
    /* A copy is run by all warps of a block. */
    if (visiting->window != NULL && visiting->window->warp != visit->warp)
        return;
    const struct explain_cell one = {
        .requests = visit->times, .counts = visit->counts, .first = place_of(visiting, visit)};
    const uint64_t cost = visiting->request->pattern->shared ? visit->counts.wavefronts : visit->counts.sectors;
    add_cell(visiting->watcher, visiting->series, visiting->watcher->level, (unsigned)cost, &one, visit->times);
}

static size_t slot_of(const struct explain_launch *launch, const struct score_request *request)
{
    if (request->access != NULL)
        return (size_t)request->access->number * 2 + request->stores;
    return ((size_t)launch->kernel->access_count + request->array->number) * 2 + (request->phase == PHASE_COPY_OUT);
}

static void on_request(void *context, unsigned worker, const struct score_request *request)
{
    const struct watch *watch = context;
    struct watcher *watcher = &watch->watchers[worker];
    const struct launch_shape wide = wide_shape(watch->launch->kernel);
    const bool narrow = !watch->launch->wide || request->access == NULL;
    struct visiting visiting = {.window = watch->window,
                                .watcher = watcher,
                                .series = find_series(watcher, request, slot_of(watch->launch, request)),
                                .request = request,
                                .grid = narrow ? watch->launch->kernel->grid : wide.grid};
    watcher->overflow |= !pattern_visit(request->pattern, on_visit, &visiting);
}

static void empty_level(struct watcher *watcher, unsigned level, bool keep)
{
    struct touched_list *list = &watcher->touched[level];
    for (size_t i = 0; i < list->count; i++) {
        struct growing_series *series = list->items[i].series;
        const unsigned cost = list->items[i].cost;
        const struct explain_cell cell = series->cells[level][cost];
        series->cells[level][cost] = (struct explain_cell){0};
        if (keep)
            add_cell(watcher, series, level - 1, cost, &cell, 1);
    }
    list->count = 0;
}

static void on_mark(void *context, unsigned worker, unsigned depth)
{
    const struct watch *watch = context;
    struct watcher *watcher = &watch->watchers[worker];
    for (unsigned level = LEVELS - 1; level > depth; level--)
        empty_level(watcher, level, true);
    watcher->level = depth + 1;
}

static void on_rollback(void *context, unsigned worker, unsigned depth)
{
    const struct watch *watch = context;
    struct watcher *watcher = &watch->watchers[worker];
    for (unsigned level = LEVELS - 1; level > depth; level--)
        empty_level(watcher, level, false);
    watcher->level = depth + 1;
}

static void start_watchers(struct watch *watch)
{
    const size_t slots = ((size_t)watch->launch->kernel->access_count + watch->launch->spec->array_count) * 2 + 1;
    watch->workers = launch_workers();
    watch->watchers = calloc(watch->workers, sizeof(*watch->watchers));
    for (unsigned i = 0; watch->watchers != NULL && i < watch->workers; i++) {
        watch->watchers[i].lookup = calloc(slots, sizeof(size_t));
        if (watch->watchers[i].lookup == NULL)
            abort();
    }
    if (watch->watchers == NULL)
        abort();
}

static void free_watchers(struct watch *watch)
{
    for (unsigned i = 0; i < watch->workers; i++) {
        struct watcher *watcher = &watch->watchers[i];
        for (size_t n = 0; n < watcher->count; n++) {
            for (unsigned level = 1; level < LEVELS; level++)
                free(watcher->series[n]->cells[level]);
            free(watcher->series[n]);
        }
        for (unsigned level = 0; level < LEVELS; level++)
            free(watcher->touched[level].items);
        free(watcher->series);
        free(watcher->lookup);
    }
    free(watch->watchers);
}

static bool keys_equal(const struct explain_key *a, const struct explain_key *b)
{
    return a->access == b->access && a->array == b->array && a->phase == b->phase && a->stores == b->stores &&
           a->shared == b->shared && a->tail == b->tail && a->number == b->number;
}

/* Adds a worker's n-th series to the one of the same instruction, which is mostly near, or takes it over. */
static bool merge_series(struct explain_tally *out, const struct explain_series *series, size_t n, bool first)
{
    struct explain_series *same = NULL;
    for (size_t i = 0; i < out->count && same == NULL && !first; i++)
        if (keys_equal(&out->series[(n + i) % out->count].key, &series->key))
            same = &out->series[(n + i) % out->count];
    if (same == NULL) {
        out->series[out->count++] = *series;
        return true;
    }
    bool fits = true;
    for (unsigned cost = 0; cost < EXPLAIN_COSTS; cost++) {
        const struct explain_cell *more = &series->cells[cost];
        struct explain_cell *cell = &same->cells[cost];
        if (more->requests == 0)
            continue;
        if (cell->requests == 0 || explain_place_compare(&more->first, &cell->first) < 0)
            cell->first = more->first;
        cell->requests += more->requests;
        fits = counts_add(&cell->counts, &more->counts, 1) && fits;
    }
    return fits;
}

/* The order in which the document and the plan have instructions; a copy's global side before its shared side. */
static int compare_series(const void *left, const void *right)
{
    static const int phase_order[] = {
        [PHASE_COPY_IN] = 0, [PHASE_THREADS] = 1, [PHASE_EXCHANGE] = 2, [PHASE_COPY_OUT] = 3};
    const struct explain_key *a = &((const struct explain_series *)left)->key;
    const struct explain_key *b = &((const struct explain_series *)right)->key;
    const int64_t keys[][2] = {
        {phase_order[a->phase], phase_order[b->phase]},
        {a->access == NULL ? 0 : a->access->number, b->access == NULL ? 0 : b->access->number},
        {a->array->number, b->array->number},
        {a->access != NULL && a->stores, b->access != NULL && b->stores},
        {a->tail, b->tail},
        {a->shared, b->shared},
        {a->number, b->number},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool gather(struct explain_tally *out, struct watch *watch, struct arena *arena)
{
    size_t most = 0;
    for (unsigned i = 0; i < watch->workers; i++)
        most += watch->watchers[i].count;
    *out = (struct explain_tally){.series = arena_array(arena, most + 1, sizeof(*out->series))};
    bool fits = true;
    for (unsigned i = 0; i < watch->workers; i++) {
        on_mark(watch, i, 0);
        for (size_t n = 0; n < watch->watchers[i].count; n++)
            fits = merge_series(out, &watch->watchers[i].series[n]->series, n, i == 0) && fits;
        fits = fits && !watch->watchers[i].overflow;
    }
    qsort(out->series, out->count, sizeof(*out->series), compare_series);
    return fits;
}

bool explain_tally(struct explain_tally *out, const struct explain_launch *launch, const struct score_window *window,
                   struct arena *arena, struct diags *diags)
{
    struct watch watch = {.launch = launch, .window = window};
    start_watchers(&watch);
    const struct score_observer observer = {&watch, on_request, on_mark, on_rollback};
    bool done = score_observe(launch->spec, launch->kernel_number, launch->device, launch->chosen, launch->wide,
                              &observer, window, arena, diags);
    if (!gather(out, &watch, arena) && done) {
        diag_error(diags, "count-too-large", launch->kernel->name.where, "a count passes 2^63 - 1, in kernel '%s'",
                   launch->kernel->name.text);
        done = false;
    }
    free_watchers(&watch);
    return done;
}
