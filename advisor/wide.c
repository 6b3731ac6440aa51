#include "wide.h"

#include <string.h>

static uint64_t all_threads(const struct kernel *kernel)
{
    return kernel->block_count * kernel->block_threads;
}

struct launch_shape wide_shape(const struct kernel *kernel)
{
    uint64_t threads = all_threads(kernel);
    uint64_t blocks =
        (threads / WIDE_RECORDS + threads % WIDE_RECORDS + kernel->block_threads - 1) / kernel->block_threads;
    return (struct launch_shape){.block = {kernel->block_threads, 1, 1},
                                 .grid = {blocks, 1, 1},
                                 .scale = WIDE_RECORDS,
                                 .limit = threads / WIDE_RECORDS};
}

bool wide_tail_shape(struct launch_shape *out, const struct kernel *kernel)
{
    uint64_t threads = all_threads(kernel), wide = threads / WIDE_RECORDS, rest = threads % WIDE_RECORDS;
    *out = wide_shape(kernel);
    out->scale = 1;
    out->shift = (int64_t)(wide * (WIDE_RECORDS - 1));
    out->first = wide;
    out->limit = wide + rest;
    return rest > 0;
}

/* Names whose values under the wide shape stand for the first of four threads. Of them only `thread`, and in launches
 * of one dimension the terms of the same sum, keep their meaning. */
static bool names_fit(const struct expr *expr, bool one_dimension)
{
    if (expr == NULL)
        return true;
    if (expr->op == EXPR_NAME && expr->binding == EXPR_BUILTIN) {
        switch (expr->builtin) {
        case BUILTIN_THREAD:
            return true;
        case BUILTIN_THREAD_IDX_X:
        case BUILTIN_BLOCK_IDX_X:
        case BUILTIN_BLOCK_DIM_X:
            return one_dimension;
        default:
            return false;
        }
    }
    return names_fit(expr->operand[0], one_dimension) && names_fit(expr->operand[1], one_dimension) &&
           names_fit(expr->operand[2], one_dimension);
}

/* What the walk over a kernel's statements knows. */
struct inspection {
    unsigned *varies; /* a slot */
    bool one_dimension;
    const char *reason;
};

enum { THREAD_OR_BLOCK = EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK | EXPR_VARIES_TABLE };

static bool same_for_all(struct inspection *inspection, const struct expr *expr, const char *what)
{
    if (expr == NULL || (expr_varies(expr, inspection->varies) & THREAD_OR_BLOCK) == 0)
        return true;
    inspection->reason = what;
    return false;
}

static bool inspect_access(struct inspection *inspection, const struct access *access)
{
    if (access->array->space == SPACE_SHARED)
        inspection->reason = "the kernel uses shared memory, which its threads see by their own numbers";
    else if (access->array->dim_count > 1)
        inspection->reason = "the kernel touches an array of more than one dimension";
    else if (access->op == ACCESS_ATOMIC || access->bytes != 0)
        inspection->reason = "the kernel has atomics or accesses with 'bytes'";
    else if ((expr_varies(access->index[0], inspection->varies) & EXPR_VARIES_TABLE) != 0)
        inspection->reason = "an index comes from a table, so that neighbouring threads' records are not neighbours";
    else if (!names_fit(access->index[0], inspection->one_dimension))
        inspection->reason = "an index is not 'thread' plus a multiple of 4";
    for (size_t i = 0; i < access->subscript_count; i++)
        (void)same_for_all(inspection, access->subscripts[i].index, "a subscript depends on the thread");
    return inspection->reason == NULL;
}

static bool inspect(struct inspection *inspection, const struct statement *statement)
{
    for (; statement != NULL; statement = statement->next) {
        bool fits = true;
        switch (statement->kind) {
        case STATEMENT_LET:
            inspection->varies[statement->slot] = expr_varies(statement->value, inspection->varies);
            if (!names_fit(statement->value, inspection->one_dimension)) {
                inspection->reason = "an index is not 'thread' plus a multiple of 4";
                fits = false;
            }
            break;
        case STATEMENT_FOR:
            inspection->varies[statement->slot] = 0;
            fits = same_for_all(inspection, statement->from, "a loop depends on the thread") &&
                   same_for_all(inspection, statement->to, "a loop depends on the thread") &&
                   same_for_all(inspection, statement->test, "a loop depends on the thread") &&
                   same_for_all(inspection, statement->step, "a loop depends on the thread") &&
                   same_for_all(inspection, statement->advance, "a loop depends on the thread") &&
                   inspect(inspection, statement->body);
            break;
        case STATEMENT_IF:
            fits = same_for_all(inspection, statement->condition, "a test depends on the thread") &&
                   inspect(inspection, statement->body) && inspect(inspection, statement->otherwise);
            break;
        case STATEMENT_ACCESS:
            fits = inspect_access(inspection, statement->access);
            break;
        }
        if (!fits)
            return false;
    }
    return true;
}

/* What an event's index must be like: lane after lane `scale` apart, block after block, wherever it begins. */
struct expected {
    struct launch_shape shape;
    bool whole_grid; /* the event must speak for every block at once */
};

static bool has_thread(const struct launch_event *event, unsigned thread)
{
    return (event->active[thread / 64] >> (thread % 64) & 1) != 0;
}

/* The whole grid must be one box: an index whose distance from `thread` changes between blocks may change within four
 * neighbouring threads. */
static enum launch_verdict index_is_thread(void *context, unsigned worker, const struct launch_event *event)
{
    (void)worker;
    const struct expected *expected = context;
    const struct launch_shape *shape = &expected->shape;
    const struct launch_value *index = &event->index[0];
    const int64_t threads = (int64_t)event->thread_count;
    const uint64_t weight[3] = {1, shape->grid[0], shape->grid[0] * shape->grid[1]};
    int64_t base = 0;
    bool fits = true;
    for (unsigned b = 0; b < 3; b++) {
        int64_t step = (int64_t)weight[b] * threads * shape->scale;
        base += (int64_t)event->first_block[b] * step;
        fits = fits && (event->count[b] == shape->grid[b] || !expected->whole_grid);
        fits = fits && (event->count[b] == 1 || index->step[b] == step * (int64_t)event->block_step[b]);
    }
    int64_t distance = index->constant[0] - base;
    fits = fits && distance % WIDE_RECORDS == 0;
    for (unsigned t = 0; t < event->thread_count; t++)
        fits = fits && (!has_thread(event, t) || index->constant[t] == base + distance + shape->scale * (int64_t)t);
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
        fits = fits && index->step[k] % WIDE_RECORDS == 0;
    return fits ? LAUNCH_TAKEN : LAUNCH_ENOUGH;
}

bool wide_serves(const struct kernel *kernel, struct arena *arena, const char **reason)
{
    struct inspection inspection = {
        .varies = arena_array(arena, (size_t)kernel->slot_count + 1, sizeof(unsigned)),
        .one_dimension = kernel->block[1] * kernel->block[2] * kernel->grid[1] * kernel->grid[2] == 1,
    };
    *reason = "the kernel launches fewer than four threads";
    if (all_threads(kernel) < WIDE_RECORDS)
        return false;
    if (!inspect(&inspection, kernel->body)) {
        *reason = inspection.reason;
        return false;
    }
    *reason = "an index is not 'thread' plus a multiple of 4";
    struct diags ignored = {.arena = arena};
    struct expected narrow = {launch_shape_of(kernel), true}, quarter = {wide_shape(kernel), false};
    struct launch_sink narrow_sink = {.context = &narrow, .event = index_is_thread};
    struct launch_sink quarter_sink = {.context = &quarter, .event = index_is_thread};
    enum launch_status status = launch_run(kernel, &narrow.shape, &narrow_sink, arena, &ignored);
    if (status == LAUNCH_FAULT)
        *reason = "the kernel does what is an error, which scoring it 'direct' tells";
    return status == LAUNCH_DONE && launch_run(kernel, &quarter.shape, &quarter_sink, arena, &ignored) == LAUNCH_DONE;
}
