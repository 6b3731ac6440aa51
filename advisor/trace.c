#include "trace.h"

#include <inttypes.h>

enum { STEPS_MAX = 1 << 26 };

struct trace {
    const struct kernel *kernel;
    const struct launch_sink *sink;
    struct arena *arena;
    struct diags *diags;
    struct expr_frame frame;
    int64_t *variables;
    int64_t *subscripts; /* room for those of any access */
    uint64_t steps;
    uint64_t thread_number; /* linear over the grid */
    bool faulted, tired;
};

static void report(struct trace *trace, const char *id, struct span where, const char *problem)
{
    const int64_t *b = trace->frame.builtins;
    diag_error(trace->diags, id, where,
               "%s in kernel '%s', first by thread %" PRIu64 " (block %" PRId64 " %" PRId64 " %" PRId64
               ", thread %" PRId64 " %" PRId64 " %" PRId64 ")",
               problem, trace->kernel->name.text, trace->thread_number, b[BUILTIN_BLOCK_IDX_X], b[BUILTIN_BLOCK_IDX_Y],
               b[BUILTIN_BLOCK_IDX_Z], b[BUILTIN_THREAD_IDX_X], b[BUILTIN_THREAD_IDX_Y], b[BUILTIN_THREAD_IDX_Z]);
    trace->faulted = true;
}

static const char *fault_id(enum expr_fault fault)
{
    switch (fault) {
    case EXPR_DIVISION_BY_ZERO:
        return "division-by-zero";
    case EXPR_SHIFT_RANGE:
        return "shift-range";
    case EXPR_TABLE_RANGE:
        return "table-range";
    case EXPR_OVERFLOW:
    case EXPR_FINE:
        break;
    }
    return "overflow";
}

/* False where the thread ends here. */
static bool value_of_expr(int64_t *out, struct trace *trace, const struct expr *expr)
{
    const struct expr *culprit;
    int64_t detail;
    trace->tired |= ++trace->steps > STEPS_MAX;
    if (trace->tired)
        return false;
    enum expr_fault fault = expr_evaluate(out, expr, &trace->frame, &culprit, &detail);
    if (fault == EXPR_FINE)
        return true;
    report(trace, fault_id(fault), culprit->at, expr_fault_message(trace->arena, fault, culprit, detail));
    return false;
}

static bool is_thread(const struct expr *expr)
{
    return expr->op == EXPR_NAME && expr->binding == EXPR_BUILTIN && expr->builtin == BUILTIN_THREAD;
}

static bool is_constant(const struct expr *expr)
{
    return expr->op == EXPR_NUMBER || (expr->op == EXPR_NAME && expr->binding == EXPR_PARAM);
}

/* As it is written in the description. */
static const char *written(const struct trace *trace, struct span where)
{
    return arena_copy(trace->arena, where.source->bytes + where.offset, where.length);
}

/* Threads past the end of an array, one each: the mend is known. */
static void propose_guard(const struct trace *trace, const struct expr *index, uint64_t extent,
                          const struct expr *extent_expr)
{
    bool moved = index->op == EXPR_ADD && ((is_thread(index->operand[0]) && is_constant(index->operand[1])) ||
                                           (is_constant(index->operand[0]) && is_thread(index->operand[1])));
    if ((!is_thread(index) && !moved) || index->where.source == NULL)
        return;
    const char *limit = arena_printf(trace->arena, "%" PRIu64, extent);
    if (extent_expr != NULL && is_constant(extent_expr) && extent_expr->where.source != NULL)
        limit = written(trace, extent_expr->where);
    diag_note(trace->diags, "guard it: <if test=\"%s lt %s\">", written(trace, index->where), limit);
}

/* Evaluates an index of `array` in dimension `dim` or, where that is NULL, a subscript; a value outside 0 to extent - 1
 * ends the thread. */
static bool run_index(int64_t *out, struct trace *trace, const struct expr *expr, uint64_t extent,
                      const struct array *array, unsigned dim)
{
    if (!value_of_expr(out, trace, expr))
        return false;
    if (*out >= 0 && (uint64_t)*out < extent)
        return true;
    if (array != NULL)
        report(trace, "index-range", expr->where,
               arena_printf(trace->arena, "index %" PRId64 " is outside the extent %" PRIu64 " of array '%s'", *out,
                            extent, array->name.text));
    else
        report(trace, "subscript-range", expr->where,
               arena_printf(trace->arena, "subscript %" PRId64 " is outside the member's %" PRIu64 " elements", *out,
                            extent));
    if (array != NULL && *out >= 0)
        propose_guard(trace, expr, extent, array->extent_exprs[dim]);
    return false;
}

static bool run_access(struct trace *trace, const struct access *access)
{
    int64_t index[SPEC_DIMS_MAX] = {0};
    for (unsigned d = 0; d < access->array->dim_count; d++)
        if (!run_index(&index[d], trace, access->index[d], access->array->extent[d], access->array, d))
            return false;
    for (size_t i = 0; i < access->subscript_count; i++)
        if (!run_index(&trace->subscripts[i], trace, access->subscripts[i].index, access->subscripts[i].extent, NULL,
                       0))
            return false;
    struct launch_refusal refusal;
    if (trace->sink->refuse == NULL ||
        !trace->sink->refuse(trace->sink->context, access, index, trace->subscripts, &refusal))
        return true;
    report(trace, refusal.id, refusal.where, refusal.problem);
    return false;
}

static bool run_statements(struct trace *trace, const struct statement *statement);

static bool loop_goes_on(bool *out, struct trace *trace, const struct statement *loop, int64_t to)
{
    int64_t test = trace->variables[loop->slot] < to;
    if (loop->test != NULL && !value_of_expr(&test, trace, loop->test))
        return false;
    *out = test != 0;
    return true;
}

static bool advance_loop(struct trace *trace, const struct statement *loop, int64_t step)
{
    int64_t *variable = &trace->variables[loop->slot], next;
    if (loop->advance != NULL && !value_of_expr(&next, trace, loop->advance))
        return false;
    if (loop->advance == NULL && expr_apply(&next, EXPR_ADD, *variable, step) != EXPR_FINE) {
        /* Past every 64-bit bound: a `to` loop ends there. */
        *variable = INT64_MAX;
        return loop->to != NULL;
    }
    if (next == *variable) {
        report(trace, "loop-step", loop->where, "the loop does not advance");
        return false;
    }
    *variable = next;
    return true;
}

static bool run_loop(struct trace *trace, const struct statement *loop)
{
    int64_t from = 0, to = 0, step = 1;
    if ((loop->from != NULL && !value_of_expr(&from, trace, loop->from)) ||
        (loop->to != NULL && !value_of_expr(&to, trace, loop->to)) ||
        (loop->step != NULL && !value_of_expr(&step, trace, loop->step)))
        return false;
    trace->variables[loop->slot] = from;
    if (loop->advance == NULL && loop->to != NULL && step <= 0) {
        report(trace, "loop-step", loop->where, "the loop's step is not positive: it does not advance");
        return false;
    }
    bool counted = loop->to != NULL && loop->advance == NULL;
    for (uint64_t trips = 0;; trips++) {
        bool goes_on;
        if (!loop_goes_on(&goes_on, trace, loop, to))
            return false;
        if (!goes_on)
            return true;
        if (!counted && trips >= LAUNCH_TRIPS_MAX) {
            report(trace, "loop-trips", loop->where, "the loop takes more than 1048576 trips");
            return false;
        }
        if (!run_statements(trace, loop->body) || !advance_loop(trace, loop, step))
            return false;
    }
}

static bool run_branch(struct trace *trace, const struct statement *statement)
{
    int64_t test;
    if (!value_of_expr(&test, trace, statement->condition))
        return false;
    return run_statements(trace, test != 0 ? statement->body : statement->otherwise);
}

static bool run_statements(struct trace *trace, const struct statement *statement)
{
    for (; statement != NULL; statement = statement->next) {
        bool alive = true;
        switch (statement->kind) {
        case STATEMENT_LET:
            alive = value_of_expr(&trace->variables[statement->slot], trace, statement->value);
            break;
        case STATEMENT_FOR:
            alive = run_loop(trace, statement);
            break;
        case STATEMENT_IF:
            alive = run_branch(trace, statement);
            break;
        case STATEMENT_ACCESS:
            alive = run_access(trace, statement->access);
            break;
        }
        if (!alive)
            return false;
    }
    return true;
}

/* What a thread's built-in names say: under a scaled shape only `thread` and the x terms are meaningful. */
static void set_builtins(struct trace *trace, const struct launch_shape *shape, uint64_t block, uint64_t thread)
{
    int64_t *b = trace->frame.builtins;
    uint64_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    trace->thread_number = block * threads + thread;
    b[BUILTIN_THREAD_IDX_X] = (int64_t)(thread % shape->block[0]) * shape->scale + shape->shift;
    b[BUILTIN_THREAD_IDX_Y] = (int64_t)(thread / shape->block[0] % shape->block[1]);
    b[BUILTIN_THREAD_IDX_Z] = (int64_t)(thread / shape->block[0] / shape->block[1]);
    b[BUILTIN_BLOCK_IDX_X] = (int64_t)(block % shape->grid[0]);
    b[BUILTIN_BLOCK_IDX_Y] = (int64_t)(block / shape->grid[0] % shape->grid[1]);
    b[BUILTIN_BLOCK_IDX_Z] = (int64_t)(block / shape->grid[0] / shape->grid[1]);
    for (unsigned d = 0; d < 3; d++) {
        b[BUILTIN_BLOCK_DIM_X + d] = (int64_t)shape->block[d] * (d == 0 ? shape->scale : 1);
        b[BUILTIN_GRID_DIM_X + d] = (int64_t)shape->grid[d];
    }
    b[BUILTIN_THREAD] = (int64_t)trace->thread_number * shape->scale + shape->shift;
    b[BUILTIN_LANE] = (int64_t)(thread % 32);
    b[BUILTIN_WARP] = (int64_t)(thread / 32);
}

bool trace_block(const struct kernel *kernel, const struct launch_shape *shape, const struct launch_sink *sink,
                 uint64_t block, struct arena *arena, struct diags *diags)
{
    struct trace trace = {.kernel = kernel, .sink = sink, .arena = arena, .diags = diags};
    trace.variables = arena_array(arena, (size_t)kernel->slot_count + 1, sizeof(*trace.variables));
    trace.frame.variables = trace.variables;
    size_t subscripts = 1;
    for (unsigned i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i]->subscript_count > subscripts)
            subscripts = kernel->accesses[i]->subscript_count;
    trace.subscripts = arena_array(arena, subscripts, sizeof(*trace.subscripts));
    uint64_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    for (uint64_t thread = 0; thread < threads && !trace.faulted && !trace.tired; thread++) {
        set_builtins(&trace, shape, block, thread);
        if (trace.thread_number >= shape->first && trace.thread_number < shape->limit)
            (void)run_statements(&trace, kernel->body);
    }
    return trace.faulted;
}
