#include "stage_cover.h"

#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { BLOCKS_LOOKED_AT_MAX = 1 << 20, POINTS_MAX = 1 << 22 };

/* What one worker has seen of one writing access in the box of blocks at hand. */
struct cover {
    uint64_t box; /* 0: none */
    uint64_t first_block[3], last_block[3], blocks;
    unsigned char *touched; /* a flag a record of the stage's box */
    bool failed;
};

struct covers {
    const struct stage *stage;
    size_t volume; /* records of the stage's box */
    unsigned access_count;
    struct cover *items; /* a worker, then an access of the kernel */
    uint64_t *whole;     /* an access: blocks whose cut box it writes whole; under atomics */
};

/* The records of a block's box inside the array, relative to its uncut origin: [from, to) a dimension. */
static bool cut_box(const struct stage *stage, const uint64_t block[3], int64_t from[], int64_t to[])
{
    bool any = true;
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t origin = stage_origin(stage, d, block), extent = (int64_t)stage->array->extent[d];
        from[d] = origin < 0 ? -origin : 0;
        to[d] = (int64_t)stage->extent[d];
        to[d] = origin + to[d] > extent ? extent - origin : to[d];
        any = any && to[d] > from[d];
    }
    return any;
}

static size_t place_in_box(const struct stage *stage, const int64_t r[])
{
    size_t place = 0;
    for (unsigned d = 0; d < stage->dim_count; d++)
        place = place * (size_t)stage->extent[d] + (size_t)r[d];
    return place;
}

/* Whether every record of the cut box was touched. */
static bool is_whole(const struct stage *stage, const struct cover *cover, const int64_t from[], const int64_t to[])
{
    int64_t r[SPEC_DIMS_MAX] = {0};
    unsigned last = stage->dim_count - 1;
    for (unsigned d = 0; d <= last; d++)
        r[d] = from[d];
    for (;;) {
        if (cover->touched[place_in_box(stage, r)] == 0)
            return false;
        unsigned d = last;
        while (++r[d] == to[d]) {
            if (d == 0)
                return true;
            r[d] = from[d];
            d--;
        }
    }
}

/* Blocks of one box cut alike, or not at all: what the first one shows holds for all. */
static bool cut_alike(const struct stage *stage, const struct cover *cover)
{
    for (unsigned d = 0; d < stage->dim_count && cover->blocks > 1; d++) {
        int64_t low = stage->origin[d], high = stage->origin[d];
        for (unsigned b = 0; b < 3; b++) {
            int64_t a = stage->origin_step[d][b] * (int64_t)cover->first_block[b];
            int64_t z = stage->origin_step[d][b] * (int64_t)cover->last_block[b];
            low += a < z ? a : z;
            high += a < z ? z : a;
        }
        bool uncut = low >= 0 && high + (int64_t)stage->extent[d] <= (int64_t)stage->array->extent[d];
        if (!uncut && low != high)
            return false;
    }
    return true;
}

static void close_box(struct covers *covers, struct cover *cover, unsigned access)
{
    int64_t from[SPEC_DIMS_MAX] = {0}, to[SPEC_DIMS_MAX] = {0};
    const struct stage *stage = covers->stage;
    if (cover->box == 0)
        return;
    cover->box = 0;
    if (!cut_box(stage, cover->first_block, from, to) || !cut_alike(stage, cover))
        return;
    if (is_whole(stage, cover, from, to))
        (void)__atomic_add_fetch(&covers->whole[access], cover->blocks, __ATOMIC_RELAXED);
}

static void open_box(const struct covers *covers, struct cover *cover, const struct launch_event *event)
{
    memset(cover->touched, 0, covers->volume);
    cover->box = event->box;
    cover->blocks = 1;
    for (unsigned b = 0; b < 3; b++) {
        cover->first_block[b] = event->first_block[b];
        cover->last_block[b] = event->first_block[b] + event->block_step[b] * (event->count[b] - 1);
        cover->blocks *= event->count[b];
    }
}

/* The threads' records at loop point q. */
static void touch(const struct covers *covers, struct cover *cover, const struct launch_event *event,
                  const uint64_t q[LAUNCH_DIMS_MAX])
{
    const struct stage *stage = covers->stage;
    for (unsigned t = 0; t < event->thread_count; t++) {
        int64_t r[SPEC_DIMS_MAX];
        if ((event->active[t / 64] >> (t % 64) & 1) == 0)
            continue;
        for (unsigned d = 0; d < stage->dim_count; d++) {
            r[d] = event->index[d].constant[t] - stage_origin(stage, d, event->first_block);
            for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
                r[d] += event->index[d].step[k] * (int64_t)q[k];
        }
        cover->touched[place_in_box(stage, r)] = 1;
    }
}

static enum launch_verdict on_event(void *context, unsigned worker, const struct launch_event *event)
{
    struct covers *covers = context;
    const struct access *access = event->access;
    if (access->array != covers->stage->array || access->op == ACCESS_READ)
        return LAUNCH_TAKEN;
    struct cover *cover = &covers->items[worker * covers->access_count + access->number];
    if (cover->box != event->box) {
        close_box(covers, cover, access->number);
        open_box(covers, cover, event);
    }
    uint64_t points = 1, q[LAUNCH_DIMS_MAX] = {0};
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
        points = points > POINTS_MAX ? points : points * event->count[k];
    if (points * event->thread_count > POINTS_MAX)
        return LAUNCH_ENOUGH;
    for (uint64_t p = 0; p < points; p++) {
        uint64_t rest = p;
        for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++) {
            q[k] = rest % event->count[k];
            rest /= event->count[k];
        }
        touch(covers, cover, event, q);
    }
    return LAUNCH_TAKEN;
}

/* A box begins: those before it stay. */
static void on_mark(void *context, unsigned worker, unsigned depth)
{
    struct covers *covers = context;
    for (unsigned i = 0; i < covers->access_count && depth == 0; i++)
        close_box(covers, &covers->items[worker * covers->access_count + i], i);
}

static void on_rollback(void *context, unsigned worker, unsigned depth)
{
    const struct covers *covers = context;
    for (unsigned i = 0; i < covers->access_count && depth == 0; i++)
        covers->items[worker * covers->access_count + i].box = 0;
}

/* Blocks whose box lies outside the array copy nothing; UINT64_MAX where there are too many blocks to look at. */
static uint64_t idle_blocks(const struct stage *stage)
{
    const uint64_t *grid = stage->kernel->grid;
    int64_t from[SPEC_DIMS_MAX], to[SPEC_DIMS_MAX];
    uint64_t idle = 0, block[3];
    if (stage->kernel->block_count > BLOCKS_LOOKED_AT_MAX)
        return UINT64_MAX;
    for (block[2] = 0; block[2] < grid[2]; block[2]++)
        for (block[1] = 0; block[1] < grid[1]; block[1]++)
            for (block[0] = 0; block[0] < grid[0]; block[0]++)
                idle += !cut_box(stage, block, from, to);
    return idle;
}

static bool all_whole(const struct covers *covers)
{
    const struct stage *stage = covers->stage;
    bool counted = false;
    uint64_t idle = 0;
    for (unsigned i = 0; i < covers->access_count; i++) {
        const struct access *access = stage->kernel->accesses[i];
        if (access->array != stage->array || access->op == ACCESS_READ ||
            covers->whole[i] == stage->kernel->block_count)
            continue;
        if (!counted)
            idle = idle_blocks(stage);
        counted = true;
        if (idle == UINT64_MAX || covers->whole[i] + idle != stage->kernel->block_count)
            return false;
    }
    return true;
}

bool stage_writes_cover(const struct stage *stage, struct arena *arena)
{
    struct covers covers = {.stage = stage, .volume = 1, .access_count = stage->kernel->access_count};
    for (unsigned d = 0; d < stage->dim_count; d++)
        covers.volume *= (size_t)stage->extent[d];
    size_t items = (size_t)launch_workers() * covers.access_count;
    covers.items = arena_array(arena, items, sizeof(*covers.items));
    covers.whole = arena_array(arena, covers.access_count, sizeof(*covers.whole));
    for (size_t i = 0; i < items; i++)
        covers.items[i].touched = arena_alloc(arena, covers.volume);
    struct diags ignored = {.arena = arena};
    struct launch_shape shape = launch_shape_of(stage->kernel);
    struct launch_sink sink = {.context = &covers, .event = on_event, .mark = on_mark, .rollback = on_rollback};
    if (launch_run(stage->kernel, &shape, &sink, arena, &ignored) != LAUNCH_DONE)
        return false;
    for (size_t i = 0; i < items; i++)
        close_box(&covers, &covers.items[i], (unsigned)(i % covers.access_count));
    return all_whole(&covers);
}
