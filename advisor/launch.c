#include "launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "evaluate.h"
#include "lanes.h"
#include "trace.h"

/* Lanes that a launch may walk one by one before it is refused: minutes of work on one core. */
static const uint64_t WALKED_LANES_MAX = UINT64_C(1) << 36;

/* Block dimension d of a box has blockIdx = first + step * q for 0 <= q < count. */
struct box {
    uint64_t first[3], step[3], count[3];
};

/* What the workers of one launch share; the first two change under atomics. */
struct shared {
    uint64_t fault_block; /* the smallest linear number of a block that faults; UINT64_MAX: none */
    int stopped;
    uint64_t walked_lanes;
    const struct kernel *kernel;
    const struct launch_shape *shape;
    const struct launch_sink *sink;
    const struct progress *progress;
};

struct worker {
    struct evaluator *evaluator; /* the one in use */
    struct evaluator alone;      /* for a block */
    struct evaluator together;   /* for `neighbours` blocks at once; without threads until it is needed */
    struct shared *shared;
    unsigned number;
    struct box box;
    bool *walked;           /* a flag a slot: this loop's trips are walked one by one */
    unsigned walked_dims;   /* a bit a block dimension: likewise */
    unsigned loop_depth;    /* loops that are dimensions of the box now */
    uint64_t trips;         /* walked in the block at hand */
    bool parallel;          /* inside the parallel region */
    uint64_t region, boxes; /* numbers of those at hand */
    struct launch_loop loops[LAUNCH_LOOPS_MAX];
    unsigned loop_count; /* loops that are being run, whether as dimensions or trip by trip */
    struct worker *team;
};

unsigned launch_workers(void)
{
#ifdef _OPENMP
    int count = omp_get_max_threads();
    return count < 1 ? 1 : (unsigned)count;
#else
    return 1;
#endif
}

struct launch_shape launch_shape_of(const struct kernel *kernel)
{
    struct launch_shape shape = {.scale = 1, .limit = UINT64_MAX};
    memcpy(shape.block, kernel->block, sizeof(shape.block));
    memcpy(shape.grid, kernel->grid, sizeof(shape.grid));
    return shape;
}

static enum outcome run_statements(struct worker *worker, const struct statement *statement, const struct mask *active);

static void take_mark(const struct worker *worker, unsigned depth)
{
    const struct launch_sink *sink = worker->shared->sink;
    if (sink->mark != NULL)
        sink->mark(sink->context, worker->number, depth);
}

static void roll_back(const struct worker *worker, unsigned depth)
{
    const struct launch_sink *sink = worker->shared->sink;
    if (sink->rollback != NULL)
        sink->rollback(sink->context, worker->number, depth);
}

static struct value uniform_value(struct evaluator *evaluator, int64_t number)
{
    int64_t *storage = evaluator_vector(evaluator);
    storage[0] = number;
    return value_of(number, storage);
}

static void set_thread_builtins(struct worker *worker)
{
    const struct launch_shape *shape = worker->shared->shape;
    struct evaluator *evaluator = worker->evaluator;
    int64_t *vectors[5];
    for (unsigned i = 0; i < 5; i++)
        vectors[i] = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++) {
        const unsigned t = i % (unsigned)worker->shared->kernel->block_threads;
        vectors[0][i] = (int64_t)(t % shape->block[0]) * shape->scale + shape->shift;
        vectors[1][i] = (int64_t)(t / shape->block[0] % shape->block[1]);
        vectors[2][i] = (int64_t)(t / shape->block[0] / shape->block[1]);
        vectors[3][i] = t % 32;
        vectors[4][i] = t / 32;
    }
    const enum expr_builtin names[5] = {BUILTIN_THREAD_IDX_X, BUILTIN_THREAD_IDX_Y, BUILTIN_THREAD_IDX_Z, BUILTIN_LANE,
                                        BUILTIN_WARP};
    for (unsigned i = 0; i < 5; i++) {
        const int64_t *v = vectors[i];
        struct value value = {.constant = v, .low = v[0], .high = v[0]};
        for (unsigned t = 1; t < evaluator->threads; t++) {
            value.low = v[t] < value.low ? v[t] : value.low;
            value.high = v[t] > value.high ? v[t] : value.high;
        }
        value.uniform = value.low == value.high;
        evaluator->builtins[names[i]] = value;
    }
    for (unsigned d = 0; d < 3; d++) {
        int64_t scale = d == 0 ? shape->scale : 1;
        evaluator->builtins[BUILTIN_BLOCK_DIM_X + d] = uniform_value(evaluator, (int64_t)shape->block[d] * scale);
        evaluator->builtins[BUILTIN_GRID_DIM_X + d] = uniform_value(evaluator, (int64_t)shape->grid[d]);
    }
}

/* `thread` and the linear number: scale * (linear block * threads + thread in the block) + shift. */
static struct value linear_value(struct worker *worker, int64_t scale, int64_t shift)
{
    struct evaluator *evaluator = worker->evaluator;
    const struct box *box = &worker->box;
    const uint64_t *grid = worker->shared->shape->grid;
    const uint64_t weight[3] = {1, grid[0], grid[0] * grid[1]};
    int64_t *vector = evaluator_vector(evaluator);
    struct value value = {.constant = vector};
    int64_t base = 0, reach = 0;
    for (unsigned d = 0; d < 3; d++) {
        int64_t per_block = (int64_t)(weight[d] * worker->shared->kernel->block_threads) * scale;
        base += (int64_t)box->first[d] * per_block;
        value.step[d] = box->count[d] > 1 ? (int64_t)box->step[d] * per_block : 0;
        value.varies |= value.step[d] != 0 ? 1u << d : 0;
        reach += value.step[d] * (int64_t)(box->count[d] - 1);
    }
    lanes_line(vector, base + shift, scale, evaluator->threads);
    value.low = vector[0];
    value.high = vector[evaluator->threads - 1] + reach;
    return value;
}

/* blockIdx.x of the threads of neighbouring blocks. */
static struct value neighbours_value(struct worker *worker)
{
    const unsigned threads = (unsigned)worker->shared->kernel->block_threads;
    int64_t *vector = evaluator_vector(worker->evaluator), block = (int64_t)worker->box.first[0];
    struct value value = {.constant = vector, .low = block};
    for (unsigned first = 0; first < worker->evaluator->threads; first += threads)
        lanes_line(vector + first, block++, 0, threads);
    value.high = block - 1;
    return value;
}

static void set_block_builtins(struct worker *worker)
{
    const struct launch_shape *shape = worker->shared->shape;
    struct evaluator *evaluator = worker->evaluator;
    const struct box *box = &worker->box;
    for (unsigned d = 0; d < 3; d++) {
        struct value value = uniform_value(evaluator, (int64_t)box->first[d]);
        evaluator->count[d] = box->count[d];
        value.step[d] = box->count[d] > 1 ? (int64_t)box->step[d] : 0;
        value.varies = box->count[d] > 1 ? 1u << d : 0;
        value.high += value.step[d] * (int64_t)(box->count[d] - 1);
        evaluator->builtins[BUILTIN_BLOCK_IDX_X + d] = value;
    }
    if (evaluator == &worker->together)
        evaluator->builtins[BUILTIN_BLOCK_IDX_X] = neighbours_value(worker);
    evaluator->builtins[BUILTIN_THREAD] = linear_value(worker, shape->scale, shape->shift);
}

static enum outcome obey(struct worker *worker, enum launch_verdict verdict)
{
    const uint64_t *count = worker->evaluator->count;
    switch (verdict) {
    case LAUNCH_TAKEN:
        return OUTCOME_OK;
    case LAUNCH_ENOUGH:
        return OUTCOME_STOP;
    case LAUNCH_FAULT_FIRST:
        return OUTCOME_FAULT;
    case LAUNCH_FAULT_LATER:
        break;
    }
    unsigned dim = count[0] >= count[1] && count[0] >= count[2] ? 0 : count[1] >= count[2] ? 1 : 2;
    worker->evaluator->split = (struct split){SPLIT_CUT, dim, count[dim] / 2};
    return count[dim] > 1 ? OUTCOME_SPLIT : OUTCOME_FAULT;
}

static enum outcome run_access(struct worker *worker, const struct access *access, const struct mask *active)
{
    struct evaluator *evaluator = worker->evaluator;
    struct launch_value index[SPEC_DIMS_MAX];
    struct launch_value subscripts[8];
    struct launch_value *all = subscripts;
    if (access->subscript_count > sizeof(subscripts) / sizeof(subscripts[0]))
        all = calloc(access->subscript_count, sizeof(*all));
    if (all == NULL)
        abort();
    enum outcome outcome = OUTCOME_OK;
    for (size_t i = 0; i < access->array->dim_count + access->subscript_count && outcome == OUTCOME_OK; i++) {
        bool is_index = i < access->array->dim_count;
        const struct subscript *subscript = is_index ? NULL : &access->subscripts[i - access->array->dim_count];
        struct value value;
        outcome = evaluate(&value, evaluator, is_index ? access->index[i] : subscript->index, active);
        if (outcome == OUTCOME_OK)
            outcome =
                evaluate_inside(evaluator, &value, is_index ? access->array->extent[i] : subscript->extent, active);
        if (outcome != OUTCOME_OK)
            break;
        struct launch_value *out = is_index ? &index[i] : &all[i - access->array->dim_count];
        out->constant = evaluate_spread(evaluator, &value);
        memcpy(out->step, value.step, sizeof(out->step));
    }
    if (outcome == OUTCOME_OK) {
        struct launch_event event = {.access = access,
                                     .thread_count = evaluator->threads,
                                     .active = active->words,
                                     .box = worker->boxes,
                                     .region = worker->region,
                                     .index = index,
                                     .subscripts = all,
                                     .loops = worker->loops,
                                     .loop_count = worker->loop_count};
        memcpy(event.count, evaluator->count, sizeof(event.count));
        memcpy(event.first_block, worker->box.first, sizeof(event.first_block));
        memcpy(event.block_step, worker->box.step, sizeof(event.block_step));
        const struct launch_sink *sink = worker->shared->sink;
        outcome = obey(worker, sink->event(sink->context, worker->number, &event));
    }
    if (all != subscripts)
        free(all);
    return outcome;
}

/* Runs a loop's body on the trips that `trips` tells. */
static enum outcome run_body(struct worker *worker, struct launch_loop trips, const struct mask *active)
{
    if (worker->loop_count >= LAUNCH_LOOPS_MAX)
        return OUTCOME_FAULT;
    worker->loops[worker->loop_count++] = trips;
    worker->region++;
    enum outcome outcome = run_statements(worker, trips.loop->body, active);
    worker->region++;
    worker->loop_count--;
    return outcome;
}

/* One trip with a known loop variable. What the body evaluates is given back at its end. */
static enum outcome run_trip(struct worker *worker, const struct statement *loop, uint64_t trip,
                             const struct value *variable, const struct mask *active)
{
    size_t used = worker->evaluator->vectors_used;
    if (++worker->trips > LAUNCH_WALKED_TRIPS_MAX)
        return OUTCOME_FAULT;
    worker->evaluator->slots[loop->slot] = *variable;
    enum outcome outcome = run_body(worker, (struct launch_loop){.loop = loop, .first = trip}, active);
    worker->evaluator->vectors_used = used;
    return outcome;
}

/* The trips of a loop with a constant step for which the same threads run: first + stride * q, 0 <= q < count. */
struct trips {
    const struct statement *loop;
    struct value from; /* the loop variable on trip 0 */
    int64_t step;      /* a trip */
    struct mask active;
};

static enum outcome trip_variable(struct value *out, struct worker *worker, const struct trips *trips, uint64_t trip)
{
    int64_t distance;
    if (__builtin_mul_overflow(trips->step, (int64_t)trip, &distance))
        return OUTCOME_FAULT;
    struct value offset = uniform_value(worker->evaluator, distance);
    return evaluate_binary(out, worker->evaluator, EXPR_ADD, &trips->from, &offset, &trips->active);
}

static enum outcome walk_trips(struct worker *worker, const struct trips *trips, uint64_t first, uint64_t stride,
                               uint64_t count)
{
    enum outcome outcome = worker->trips + count > LAUNCH_WALKED_TRIPS_MAX ? OUTCOME_FAULT : OUTCOME_OK;
    for (uint64_t q = 0; q < count && outcome == OUTCOME_OK; q++) {
        size_t used = worker->evaluator->vectors_used;
        struct value variable;
        outcome = trip_variable(&variable, worker, trips, first + q * stride);
        if (outcome == OUTCOME_OK)
            outcome = run_trip(worker, trips->loop, first + q * stride, &variable, &trips->active);
        worker->evaluator->vectors_used = used;
    }
    return outcome;
}

/* All trips at once, as one more dimension of the box. */
static enum outcome attempt_trips(struct worker *worker, const struct trips *trips, uint64_t first, uint64_t stride,
                                  uint64_t count, unsigned dim)
{
    struct evaluator *evaluator = worker->evaluator;
    size_t used = evaluator->vectors_used;
    struct value variable, line = uniform_value(evaluator, 0);
    int64_t last;
    enum outcome outcome = trip_variable(&variable, worker, trips, first);
    if (outcome == OUTCOME_OK && (__builtin_mul_overflow(trips->step, (int64_t)stride, &line.step[dim]) ||
                                  __builtin_mul_overflow(line.step[dim], (int64_t)(count - 1), &last)))
        outcome = OUTCOME_FAULT;
    if (outcome == OUTCOME_OK) {
        line.varies = 1u << dim;
        line.high = last;
        evaluator->count[dim] = count;
        worker->loop_depth++;
        outcome = evaluate_binary(&variable, evaluator, EXPR_ADD, &variable, &line, &trips->active);
        evaluator->slots[trips->loop->slot] = variable;
        if (outcome == OUTCOME_OK)
            outcome = run_body(worker, (struct launch_loop){trips->loop, first, stride, dim}, &trips->active);
        worker->loop_depth--;
        evaluator->count[dim] = 1;
    }
    evaluator->vectors_used = used;
    return outcome;
}

static enum outcome run_trips(struct worker *worker, const struct trips *trips, uint64_t first, uint64_t stride,
                              uint64_t count)
{
    unsigned dim = 3 + worker->loop_depth, slot = trips->loop->slot;
    if (count <= 1 || dim >= LAUNCH_DIMS_MAX || worker->walked[slot])
        return walk_trips(worker, trips, first, stride, count);
    unsigned depth = worker->loop_depth + 1;
    take_mark(worker, depth);
    enum outcome outcome = attempt_trips(worker, trips, first, stride, count, dim);
    if (outcome != OUTCOME_SPLIT || worker->evaluator->split.dim != dim)
        return outcome;
    roll_back(worker, depth);
    struct split split = worker->evaluator->split;
    if (split.kind == SPLIT_CUT) {
        outcome = run_trips(worker, trips, first, stride, split.at);
        return outcome == OUTCOME_OK ? run_trips(worker, trips, first + split.at * stride, stride, count - split.at)
                                     : outcome;
    }
    if (split.at >= count) {
        worker->walked[slot] = true;
        return walk_trips(worker, trips, first, stride, count);
    }
    for (uint64_t r = 0; r < split.at && outcome != OUTCOME_FAULT && outcome != OUTCOME_STOP; r++) {
        outcome = run_trips(worker, trips, first + r * stride, stride * split.at, (count - r - 1) / split.at + 1);
        if (outcome == OUTCOME_SPLIT)
            return outcome;
    }
    return outcome;
}

static int64_t trips_of_thread(const struct value *distance, int64_t step, unsigned thread)
{
    int64_t d = distance->constant[distance->uniform ? 0 : thread];
    return d <= 0 ? 0 : (d - 1) / step + 1;
}

/* Runs trips [done, next) for the threads that take at least `next`, where next is the smallest number of trips above
 * `done` that an active thread takes; 0 when there is none. */
static uint64_t next_trip_count(struct trips *trips, const struct evaluator *evaluator, const struct value *distance,
                                const struct mask *active, uint64_t done)
{
    uint64_t next = 0;
    memset(&trips->active, 0, sizeof(trips->active));
    for (unsigned t = 0; t < evaluator->threads; t++) {
        if (!mask_has(active, t))
            continue;
        uint64_t taken = (uint64_t)trips_of_thread(distance, trips->step, t);
        if (taken <= done)
            continue;
        trips->active.words[t / 64] |= UINT64_C(1) << (t % 64);
        next = next == 0 || taken < next ? taken : next;
    }
    return next;
}

static enum outcome run_counted_loop(struct worker *worker, const struct statement *loop, const struct value *from,
                                     int64_t step, const struct mask *active)
{
    struct evaluator *evaluator = worker->evaluator;
    struct value to, distance;
    enum outcome outcome = evaluate(&to, evaluator, loop->to, active);
    if (outcome == OUTCOME_OK)
        outcome = evaluate_binary(&distance, evaluator, EXPR_SUBTRACT, &to, from, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (distance.varies != 0) {
        /* No trip at all, or the same number wherever the block is, needs no walking. */
        if (distance.high <= 0)
            return OUTCOME_OK;
        return evaluate_walk(evaluator, (unsigned)__builtin_ctz(distance.varies));
    }
    struct trips trips = {.loop = loop, .from = *from, .step = step};
    uint64_t done = 0;
    for (;;) {
        uint64_t next = next_trip_count(&trips, evaluator, &distance, active, done);
        if (next == 0)
            return OUTCOME_OK;
        outcome = run_trips(worker, &trips, done, 1, next - done);
        if (outcome != OUTCOME_OK)
            return outcome;
        done = next;
    }
}

static struct value without_steps(const struct value *value)
{
    return (struct value){
        .constant = value->constant, .uniform = value->uniform, .low = value->low, .high = value->high};
}

/* FAULT where an active thread's variable stays as it was. */
static enum outcome require_advance(struct evaluator *evaluator, const struct value *before, const struct value *after,
                                    const struct mask *active)
{
    if (memcmp(before->step, after->step, sizeof(before->step)) != 0)
        return OUTCOME_OK;
    const struct value was = without_steps(before), is = without_steps(after);
    struct value same;
    struct mask stuck;
    enum outcome outcome = evaluate_binary(&same, evaluator, EXPR_EQUAL, &was, &is, active);
    if (outcome == OUTCOME_OK)
        outcome = evaluate_true(&stuck, evaluator, &same, active);
    return outcome == OUTCOME_OK && mask_any(&stuck) ? OUTCOME_FAULT : outcome;
}

static struct value value_copy(struct evaluator *evaluator, const struct value *value)
{
    struct value copy = *value;
    int64_t *vector = evaluator_vector(evaluator);
    memcpy(vector, value->constant, (value->uniform ? 1 : evaluator->threads) * sizeof(*vector));
    copy.constant = vector;
    return copy;
}

/* Which active threads take another trip of a loop with a test or `next`. */
static enum outcome another_trip(struct mask *out, struct worker *worker, const struct statement *loop,
                                 const struct value *to, const struct mask *active)
{
    struct evaluator *evaluator = worker->evaluator;
    if (loop->test != NULL)
        return evaluate_test(out, evaluator, loop->test, active);
    struct value less;
    enum outcome outcome = evaluate_binary(&less, evaluator, EXPR_LESS, &evaluator->slots[loop->slot], to, active);
    return outcome == OUTCOME_OK ? evaluate_true(out, evaluator, &less, active) : outcome;
}

/* The variable after a trip, in vectors that alternate so that a loop needs two however long it is. */
static enum outcome next_variable(struct worker *worker, const struct statement *loop, const struct value *step,
                                  const struct mask *active, int64_t *storage)
{
    struct evaluator *evaluator = worker->evaluator;
    struct value *variable = &evaluator->slots[loop->slot], next;
    enum outcome outcome = loop->advance != NULL ? evaluate(&next, evaluator, loop->advance, active)
                                                 : evaluate_binary(&next, evaluator, EXPR_ADD, variable, step, active);
    if (outcome == OUTCOME_OK)
        outcome = require_advance(evaluator, variable, &next, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    memcpy(storage, next.constant, (next.uniform ? 1 : evaluator->threads) * sizeof(*storage));
    next.constant = storage;
    *variable = next;
    return OUTCOME_OK;
}

/* Goes through the trips to come without their bodies: FAULT where there are too many, before any is walked. */
static enum outcome require_end(struct worker *worker, const struct statement *loop, const struct value *to,
                                const struct value *step, const struct mask *active, uint64_t trips_done)
{
    struct evaluator *evaluator = worker->evaluator;
    const struct value variable = evaluator->slots[loop->slot];
    struct mask running = *active;
    int64_t *storage[2] = {evaluator_vector(evaluator), evaluator_vector(evaluator)};
    const size_t used = evaluator->vectors_used;
    enum outcome outcome = OUTCOME_OK;
    for (uint64_t trip = trips_done; outcome == OUTCOME_OK; trip++) {
        const struct mask before = running;
        outcome = another_trip(&running, worker, loop, to, &before);
        if (outcome != OUTCOME_OK || !mask_any(&running))
            break;
        outcome =
            trip >= LAUNCH_TRIPS_MAX ? OUTCOME_FAULT : next_variable(worker, loop, step, &running, storage[trip % 2]);
        evaluator->vectors_used = used;
    }
    evaluator->slots[loop->slot] = variable;
    return outcome;
}

static enum outcome run_tested_loop(struct worker *worker, const struct statement *loop, const struct value *from,
                                    const struct value *step, const struct mask *active)
{
    enum { TRIPS_UNSUSPICIOUS = 4096 };
    struct evaluator *evaluator = worker->evaluator;
    struct value to = {0};
    enum outcome outcome = OUTCOME_OK;
    if (loop->to != NULL)
        outcome = evaluate(&to, evaluator, loop->to, active);
    evaluator->slots[loop->slot] = value_copy(evaluator, from);
    int64_t *storage[2] = {evaluator_vector(evaluator), evaluator_vector(evaluator)};
    struct mask running = *active;
    size_t used = evaluator->vectors_used;
    for (uint64_t trip = 0; outcome == OUTCOME_OK; trip++) {
        const struct mask before = running;
        outcome = another_trip(&running, worker, loop, &to, &before);
        if (outcome != OUTCOME_OK || !mask_any(&running))
            break;
        if (trip == TRIPS_UNSUSPICIOUS)
            outcome = require_end(worker, loop, &to, step, &running, trip);
        if (outcome != OUTCOME_OK)
            break;
        struct value variable = evaluator->slots[loop->slot];
        outcome = run_trip(worker, loop, trip, &variable, &running);
        evaluator->slots[loop->slot] = variable;
        if (outcome == OUTCOME_OK)
            outcome = next_variable(worker, loop, step, &running, storage[trip % 2]);
        evaluator->vectors_used = used;
    }
    return outcome;
}

static enum outcome run_loop(struct worker *worker, const struct statement *loop, const struct mask *active)
{
    struct evaluator *evaluator = worker->evaluator;
    struct value from = uniform_value(evaluator, 0), step = uniform_value(evaluator, 1);
    enum outcome outcome = OUTCOME_OK;
    if (loop->from != NULL)
        outcome = evaluate(&from, evaluator, loop->from, active);
    if (outcome == OUTCOME_OK && loop->step != NULL)
        outcome = evaluate(&step, evaluator, loop->step, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (loop->advance == NULL && loop->to != NULL && step.low <= 0) {
        if (step.varies != 0)
            return evaluate_walk(evaluator, (unsigned)__builtin_ctz(step.varies));
        for (unsigned t = 0; t < evaluator->threads; t++)
            if (mask_has(active, t) && step.constant[step.uniform ? 0 : t] <= 0)
                return OUTCOME_FAULT;
    }
    if (loop->to != NULL && loop->advance == NULL && step.uniform && step.varies == 0)
        return run_counted_loop(worker, loop, &from, step.constant[0], active);
    return run_tested_loop(worker, loop, &from, &step, active);
}

static enum outcome run_branch(struct worker *worker, const struct statement *statement, const struct mask *active)
{
    struct mask yes, no;
    enum outcome outcome = evaluate_test(&yes, worker->evaluator, statement->condition, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (unsigned i = 0; i < LAUNCH_THREADS_MAX / 64; i++)
        no.words[i] = active->words[i] & ~yes.words[i];
    if (mask_any(&yes))
        outcome = run_statements(worker, statement->body, &yes);
    if (outcome == OUTCOME_OK && mask_any(&no))
        outcome = run_statements(worker, statement->otherwise, &no);
    return outcome;
}

static enum outcome run_statements(struct worker *worker, const struct statement *statement, const struct mask *active)
{
    enum outcome outcome = OUTCOME_OK;
    size_t scope = worker->evaluator->vectors_used;
    for (; statement != NULL && outcome == OUTCOME_OK; statement = statement->next) {
        size_t used = worker->evaluator->vectors_used;
        switch (statement->kind) {
        case STATEMENT_LET:
            outcome = evaluate(&worker->evaluator->slots[statement->slot], worker->evaluator, statement->value, active);
            used = worker->evaluator->vectors_used; /* lives as long as its scope */
            break;
        case STATEMENT_FOR:
            outcome = run_loop(worker, statement, active);
            break;
        case STATEMENT_IF:
            outcome = run_branch(worker, statement, active);
            break;
        case STATEMENT_ACCESS:
            outcome = run_access(worker, statement->access, active);
            break;
        }
        worker->evaluator->vectors_used = used;
    }
    worker->evaluator->vectors_used = scope;
    return outcome;
}

static uint64_t first_block_number(const struct shared *shared, const struct box *box)
{
    const uint64_t *grid = shared->shape->grid;
    return box->first[0] + grid[0] * (box->first[1] + grid[1] * box->first[2]);
}

static uint64_t load_u64(const uint64_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static void note_fault(struct shared *shared, uint64_t block)
{
    uint64_t seen = load_u64(&shared->fault_block);
    while (block < seen &&
           !__atomic_compare_exchange_n(&shared->fault_block, &seen, block, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* The threads that the shape lets run. */
static enum outcome running_threads(struct mask *out, struct worker *worker)
{
    const struct launch_shape *shape = worker->shared->shape;
    struct evaluator *evaluator = worker->evaluator;
    memset(out, 0, sizeof(*out));
    memset(out->words, 0xff, evaluator->threads / 64 * sizeof(out->words[0]));
    if (evaluator->threads % 64 != 0)
        out->words[evaluator->threads / 64] = (UINT64_C(1) << (evaluator->threads % 64)) - 1;
    if (shape->limit == UINT64_MAX && shape->first == 0)
        return OUTCOME_OK;
    struct value first = uniform_value(evaluator, (int64_t)shape->first);
    struct value limit = uniform_value(evaluator, (int64_t)shape->limit);
    struct value linear = linear_value(worker, 1, 0), starts, ends;
    enum outcome outcome = evaluate_binary(&starts, evaluator, EXPR_GREATER_EQUAL, &linear, &first, out);
    if (outcome == OUTCOME_OK)
        outcome = evaluate_binary(&ends, evaluator, EXPR_LESS, &linear, &limit, out);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (unsigned t = 0; t < evaluator->threads; t++)
        if (starts.constant[starts.uniform ? 0 : t] == 0 || ends.constant[ends.uniform ? 0 : t] == 0)
            out->words[t / 64] &= ~(UINT64_C(1) << (t % 64));
    return OUTCOME_OK;
}

static enum outcome attempt_box(struct worker *worker)
{
    struct evaluator *evaluator = worker->evaluator;
    struct mask active;
    size_t used = evaluator->vectors_used;
    worker->loop_depth = 0;
    worker->trips = 0;
    /* What one block taught about its loops must not reach the next: which worker has that one is chance. */
    memset(worker->walked, 0, ((size_t)worker->shared->kernel->slot_count + 1) * sizeof(*worker->walked));
    worker->boxes++;
    worker->region++;
    for (unsigned k = 3; k < LAUNCH_DIMS_MAX; k++)
        evaluator->count[k] = 1;
    set_block_builtins(worker);
    enum outcome outcome = running_threads(&active, worker);
    if (outcome == OUTCOME_OK && mask_any(&active))
        outcome = run_statements(worker, worker->shared->kernel->body, &active);
    evaluator->vectors_used = used;
    return outcome;
}

static bool may_go_on(const struct shared *shared, const struct box *box)
{
    return __atomic_load_n(&shared->stopped, __ATOMIC_RELAXED) == 0 &&
           first_block_number(shared, box) < load_u64(&shared->fault_block);
}

/* Boxes that had to be split were walked in part for nothing: the share is a guess. */
static void tell_progress(const struct shared *shared, uint64_t walked)
{
    const struct launch_shape *shape = shared->shape;
    const uint64_t blocks = shape->grid[0] * shape->grid[1] * shape->grid[2];
    const uint64_t total = blocks * shared->kernel->block_threads;
    progress_tell(shared->progress, "kernel", shared->kernel->name.text, walked < total ? walked : total, total);
}

/* False, and the launch stops, where it would walk too many lanes. */
static bool count_lanes(const struct worker *worker, uint64_t blocks)
{
    const uint64_t lanes = worker->shared->kernel->block_threads * blocks;
    const uint64_t walked = __atomic_add_fetch(&worker->shared->walked_lanes, lanes, __ATOMIC_RELAXED);
    if (worker->number == 0 && worker->shared->progress != NULL)
        tell_progress(worker->shared, walked);
    if (walked <= WALKED_LANES_MAX)
        return true;
    __atomic_store_n(&worker->shared->stopped, 2, __ATOMIC_RELAXED);
    return false;
}

static void run_box(struct worker *worker, const struct box *box);

static struct box sub_box(const struct box *box, unsigned dim, uint64_t first_q, uint64_t stride_q, uint64_t count)
{
    struct box part = *box;
    part.first[dim] = box->first[dim] + first_q * box->step[dim];
    part.step[dim] = box->step[dim] * stride_q;
    part.count[dim] = count;
    return part;
}

/* How many neighbouring points of a dimension may go together. */
static unsigned neighbours_of(const struct worker *worker, const struct box *box, unsigned dim)
{
    enum { WARP_THREADS = 32 };
    const unsigned threads = (unsigned)worker->shared->kernel->block_threads;
    const bool others_single = box->count[1] == 1 && box->count[2] == 1;
    if (!worker->shared->sink->several || dim != 0 || box->step[0] != 1 || !others_single ||
        threads % WARP_THREADS != 0)
        return 1;
    return LAUNCH_THREADS_MAX / threads;
}

static void start_together(struct worker *worker, unsigned neighbours)
{
    if (!evaluator_init(&worker->together, worker->shared->kernel))
        abort();
    worker->together.threads *= neighbours;
    worker->evaluator = &worker->together;
    set_thread_builtins(worker);
}

/* Neighbouring blocks as if they were one of more warps, so that what a block costs beside its lanes is paid once.
 * False where something is in the way, a fault or too many trips; then it is as if nothing had been tried. */
static bool run_together(struct worker *worker, const struct box *first, unsigned neighbours)
{
    if (worker->together.threads == 0)
        start_together(worker, neighbours);
    worker->evaluator = &worker->together;
    take_mark(worker, 0);
    worker->box = *first;
    const enum outcome outcome = attempt_box(worker);
    worker->evaluator = &worker->alone;
    if (outcome != OUTCOME_OK)
        roll_back(worker, 0);
    return outcome == OUTCOME_OK;
}

/* Points [first, first + count) of a dimension, together where `count` is how many may. */
static void run_neighbours(struct worker *worker, const struct box *box, unsigned dim, uint64_t first, uint64_t count,
                           unsigned neighbours)
{
    const struct box start = sub_box(box, dim, first, 1, 1);
    if (count > 1 && count == neighbours && count_lanes(worker, count) && run_together(worker, &start, neighbours))
        return;
    for (uint64_t q = first; q < first + count; q++) {
        const struct box part = sub_box(box, dim, q, 1, 1);
        run_box(worker, &part);
    }
}

/* A dimension that is walked point by point, `neighbours` of them a part. */
struct points {
    const struct box *box;
    unsigned dim, neighbours;
    int64_t parts;
    unsigned walked_dims; /* of a worker that begins a part: what another part taught it is chance */
};

/* False where this part and those after it need no walking any more. */
static bool run_part(struct worker *worker, const struct points *points, int64_t part)
{
    const uint64_t q = (uint64_t)part * points->neighbours, left = points->box->count[points->dim] - q;
    const struct box start = sub_box(points->box, points->dim, q, 1, 1);
    if (!may_go_on(worker->shared, &start))
        return false;
    run_neighbours(worker, points->box, points->dim, q, left < points->neighbours ? left : points->neighbours,
                   points->neighbours);
    return true;
}

/* A few parts at a time for whoever is free, until one says that the rest needs no walking. */
static void run_parts_in_parallel(struct worker *team, unsigned workers, const struct points *points)
{
    enum { PARTS_AT_ONCE = 8 };
    int64_t next = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads((int)workers)
#endif
    {
#ifdef _OPENMP
        struct worker *mine = &team[omp_get_thread_num()];
#else
        struct worker *mine = team;
#endif
        bool goes_on = true;
        while (goes_on) {
            const int64_t first = __atomic_fetch_add(&next, PARTS_AT_ONCE, __ATOMIC_RELAXED);
            const int64_t past = first + PARTS_AT_ONCE < points->parts ? first + PARTS_AT_ONCE : points->parts;
            goes_on = first < past;
            for (int64_t part = first; part < past && goes_on; part++) {
                mine->walked_dims = points->walked_dims;
                goes_on = run_part(mine, points, part);
            }
        }
    }
}

/* On all cores where this is not inside such a loop already. */
static void walk_points(struct worker *worker, const struct points *points)
{
    enum { FEW = 16 }; /* too few to wake others for */
    if (worker->parallel || points->parts < FEW) {
        for (int64_t part = 0; part < points->parts && run_part(worker, points, part); part++)
            continue;
        return;
    }
    struct worker *team = worker->team;
    const unsigned workers = launch_workers();
    for (unsigned i = 0; i < workers; i++)
        team[i].parallel = true;
    run_parts_in_parallel(team, workers, points);
    for (unsigned i = 0; i < workers; i++)
        team[i].parallel = false;
}

/* Whether the points of a dimension alone are too many lanes to be walked. */
static bool are_too_many(const struct worker *worker, uint64_t points)
{
    const uint64_t walked = load_u64(&worker->shared->walked_lanes);
    return points > (WALKED_LANES_MAX - (walked < WALKED_LANES_MAX ? walked : WALKED_LANES_MAX)) /
                        worker->shared->kernel->block_threads;
}

/* Every point of a dimension on its own. Of too many the first are walked, for the fault that may be in them: that says
 * more than that they are too many. */
static void run_points(struct worker *worker, const struct box *box, unsigned dim)
{
    enum { FIRST_PARTS = 1024 };
    struct points points = {
        .box = box, .dim = dim, .neighbours = neighbours_of(worker, box, dim), .walked_dims = worker->walked_dims};
    points.parts = (int64_t)((box->count[dim] - 1) / points.neighbours + 1);
    const bool too_many = are_too_many(worker, box->count[dim]);
    if (too_many && points.parts > FIRST_PARTS)
        points.parts = FIRST_PARTS;
    walk_points(worker, &points);
    int stopped = 0;
    if (too_many)
        (void)__atomic_compare_exchange_n(&worker->shared->stopped, &stopped, 2, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
}

static void split_box(struct worker *worker, const struct box *box, const struct split *split)
{
    unsigned dim = split->dim;
    uint64_t count = box->count[dim];
    if (split->kind == SPLIT_CUT) {
        struct box low = sub_box(box, dim, 0, 1, split->at), high = sub_box(box, dim, split->at, 1, count - split->at);
        run_box(worker, &low);
        run_box(worker, &high);
        return;
    }
    if (split->at >= count) {
        worker->walked_dims |= 1u << dim;
        run_points(worker, box, dim);
        return;
    }
    for (uint64_t r = 0; r < split->at; r++) {
        struct box part = sub_box(box, dim, r, split->at, (count - r - 1) / split->at + 1);
        run_box(worker, &part);
    }
}

static bool walk_known_dim(struct worker *worker, const struct box *box)
{
    for (unsigned d = 3; d-- > 0;) {
        if ((worker->walked_dims & 1u << d) != 0 && box->count[d] > 1) {
            run_points(worker, box, d);
            return true;
        }
    }
    return false;
}

static void run_box(struct worker *worker, const struct box *box)
{
    struct shared *shared = worker->shared;
    if (!may_go_on(shared, box) || walk_known_dim(worker, box) || !count_lanes(worker, 1))
        return;
    take_mark(worker, 0);
    worker->box = *box;
    switch (attempt_box(worker)) {
    case OUTCOME_OK:
        return;
    case OUTCOME_SPLIT: {
        struct split split = worker->evaluator->split;
        roll_back(worker, 0);
        split_box(worker, box, &split);
        return;
    }
    case OUTCOME_FAULT:
        note_fault(shared, first_block_number(shared, box));
        return;
    case OUTCOME_STOP:
        __atomic_store_n(&shared->stopped, 1, __ATOMIC_RELAXED);
        return;
    }
}

static bool start_team(struct worker *team, unsigned workers, struct shared *shared)
{
    for (unsigned i = 0; i < workers; i++) {
        team[i] = (struct worker){.shared = shared, .number = i, .team = team};
        team[i].walked = calloc((size_t)shared->kernel->slot_count + 1, sizeof(bool));
        team[i].evaluator = &team[i].alone;
        if (team[i].walked == NULL || !evaluator_init(&team[i].alone, shared->kernel))
            return false;
        set_thread_builtins(&team[i]);
    }
    return true;
}

static enum launch_status report(const struct shared *shared, struct arena *arena, struct diags *diags)
{
    const struct kernel *kernel = shared->kernel;
    if (shared->fault_block != UINT64_MAX) {
        if (!trace_block(kernel, shared->shape, shared->sink, shared->fault_block, arena, diags))
            diag_error(diags, "loop-trips", kernel->name.where,
                       "kernel '%s' takes more trips than can be walked, first in block %" PRIu64, kernel->name.text,
                       shared->fault_block);
        return LAUNCH_FAULT;
    }
    if (shared->stopped == 2) {
        diag_error(diags, "launch-too-large", kernel->name.where,
                   "kernel '%s' is irregular and launches more threads than can be walked one by one",
                   kernel->name.text);
        return LAUNCH_FAULT;
    }
    return shared->stopped != 0 ? LAUNCH_STOPPED : LAUNCH_DONE;
}

enum launch_status launch_run(const struct kernel *kernel, const struct launch_shape *shape,
                              const struct launch_sink *sink, struct arena *arena, struct diags *diags)
{
    unsigned workers = launch_workers();
    struct shared shared = {
        .fault_block = UINT64_MAX, .kernel = kernel, .shape = shape, .sink = sink, .progress = diags->progress};
    struct worker *team = calloc(workers, sizeof(*team));
    if (team == NULL || !start_team(team, workers, &shared))
        abort();
    struct box all = {.step = {1, 1, 1}};
    memcpy(all.count, shape->grid, sizeof(all.count));
    run_box(&team[0], &all);
    for (unsigned i = 0; i < workers; i++) {
        evaluator_free(&team[i].alone);
        evaluator_free(&team[i].together);
        free(team[i].walked);
    }
    free(team);
    return report(&shared, arena, diags);
}
