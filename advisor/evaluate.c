#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "lanes.h"

__extension__ typedef __int128 wide;

enum { CHUNK_VECTORS = 16 };

struct scratch_chunk {
    int64_t vectors[CHUNK_VECTORS][LAUNCH_THREADS_MAX];
};

bool evaluator_init(struct evaluator *evaluator, const struct kernel *kernel)
{
    memset(evaluator, 0, sizeof(*evaluator));
    evaluator->threads = (unsigned)kernel->block_threads;
    evaluator->slots = calloc((size_t)kernel->slot_count + 1, sizeof(*evaluator->slots));
    return evaluator->slots != NULL;
}

void evaluator_free(struct evaluator *evaluator)
{
    for (size_t i = 0; i < evaluator->chunk_count; i++)
        free(evaluator->chunks[i]);
    free(evaluator->chunks);
    free(evaluator->slots);
}

int64_t *evaluator_vector(struct evaluator *evaluator)
{
    size_t chunk = evaluator->vectors_used / CHUNK_VECTORS;
    if (chunk == evaluator->chunk_count) {
        struct scratch_chunk **chunks = realloc(evaluator->chunks, (chunk + 1) * sizeof(struct scratch_chunk *));
        if (chunks == NULL)
            abort();
        evaluator->chunks = chunks;
        chunks[chunk] = calloc(1, sizeof(struct scratch_chunk));
        if (chunks[chunk] == NULL)
            abort();
        evaluator->chunk_count++;
    }
    return evaluator->chunks[chunk]->vectors[evaluator->vectors_used++ % CHUNK_VECTORS];
}

struct value value_of(int64_t number, const int64_t *storage)
{
    return (struct value){.constant = storage, .uniform = true, .low = number, .high = number};
}

static enum outcome number_value(struct value *out, struct evaluator *evaluator, int64_t number)
{
    int64_t *storage = evaluator_vector(evaluator);
    storage[0] = number;
    *out = value_of(number, storage);
    return OUTCOME_OK;
}

static size_t value_count(const struct evaluator *evaluator, const struct value *value)
{
    return value->uniform ? 1 : evaluator->threads;
}

static struct lanes value_lanes(const struct value *value)
{
    return (struct lanes){value->constant, value->uniform};
}

static int64_t value_at(const struct value *value, unsigned thread)
{
    return value->constant[value->uniform ? 0 : thread];
}

const int64_t *evaluate_spread(struct evaluator *evaluator, const struct value *value)
{
    if (!value->uniform)
        return value->constant;
    int64_t *vector = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++)
        vector[i] = value->constant[0];
    return vector;
}

/* How far the steps of the dimensions in `dims` reach below and above the constant. */
static void reach(const struct evaluator *evaluator, const struct value *value, unsigned dims, wide *below, wide *above)
{
    *below = *above = 0;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        if ((value->varies & dims & 1u << k) == 0)
            continue;
        wide extent = (wide)value->step[k] * (wide)(evaluator->count[k] - 1);
        *(extent < 0 ? below : above) += extent;
    }
}

enum outcome evaluate_walk(struct evaluator *evaluator, unsigned dim)
{
    evaluator->split = (struct split){SPLIT_PERIOD, dim, evaluator->count[dim]};
    return OUTCOME_SPLIT;
}

static enum outcome walk_any(struct evaluator *evaluator, unsigned dims)
{
    return evaluate_walk(evaluator, (unsigned)__builtin_ctz(dims));
}

static enum outcome cut(struct evaluator *evaluator, unsigned dim, uint64_t at)
{
    evaluator->split = (struct split){SPLIT_CUT, dim, at};
    return OUTCOME_SPLIT;
}

/* The dimension whose steps reach furthest. */
static unsigned widest_dim(const struct evaluator *evaluator, const struct value *value, unsigned dims)
{
    unsigned best = 0;
    wide furthest = -1;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        wide extent = (wide)value->step[k] * (wide)(evaluator->count[k] - 1);
        extent = extent < 0 ? -extent : extent;
        if ((dims & 1u << k) != 0 && extent > furthest) {
            furthest = extent;
            best = k;
        }
    }
    return best;
}

static enum outcome halve(struct evaluator *evaluator, const struct value *value, unsigned dims)
{
    unsigned dim = widest_dim(evaluator, value, dims);
    return cut(evaluator, dim, evaluator->count[dim] / 2);
}

/* Sets bounds from the vector and the steps; a value that may leave 64 bits somewhere in the box is split. */
static enum outcome finish(struct value *value, struct evaluator *evaluator)
{
    value->varies = 0;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (value->step[k] != 0)
            value->varies |= 1u << k;
    lanes_bounds(&value->low, &value->high, value_lanes(value), evaluator->threads);
    if (value->varies == 0)
        return OUTCOME_OK;
    wide below, above;
    reach(evaluator, value, value->varies, &below, &above);
    if (value->low + below < INT64_MIN || value->high + above > INT64_MAX)
        return halve(evaluator, value, value->varies);
    value->low = (int64_t)(value->low + below);
    value->high = (int64_t)(value->high + above);
    return OUTCOME_OK;
}

/* As finish, where the operands' bounds already say between what the vector's values lie. */
static enum outcome finish_within(struct value *value, struct evaluator *evaluator, int64_t low, int64_t high)
{
    value->varies = 0;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (value->step[k] != 0)
            value->varies |= 1u << k;
    if (value->varies != 0)
        return finish(value, evaluator);
    value->low = value->uniform ? value->constant[0] : low;
    value->high = value->uniform ? value->constant[0] : high;
    return OUTCOME_OK;
}

/* Both operands are everybody's: one result is. */
static enum outcome apply_uniform(struct value *out, struct evaluator *evaluator, enum expr_op op,
                                  const struct value *a, const struct value *b, const struct mask *active)
{
    int64_t *vector = evaluator_vector(evaluator);
    vector[0] = 0;
    if (expr_apply(vector, op, a->constant[0], b->constant[0]) != EXPR_FINE && mask_any(active))
        return OUTCOME_FAULT;
    *out = value_of(vector[0], vector);
    return OUTCOME_OK;
}

/* Element by element through expr_apply, for active threads only: exact where a fault is possible. */
static enum outcome apply_checked(struct value *out, struct evaluator *evaluator, enum expr_op op,
                                  const struct value *a, const struct value *b, const struct mask *active)
{
    if (a->uniform && b->uniform)
        return apply_uniform(out, evaluator, op, a, b, active);
    int64_t *vector = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++) {
        vector[i] = 0;
        if (mask_has(active, i) && expr_apply(&vector[i], op, value_at(a, i), value_at(b, i)) != EXPR_FINE)
            return OUTCOME_FAULT;
    }
    *out = (struct value){.constant = vector};
    return finish(out, evaluator);
}

static bool fits_i64(wide low, wide high)
{
    return low >= INT64_MIN && high <= INT64_MAX;
}

static enum outcome add(struct value *out, struct evaluator *evaluator, bool subtract, const struct value *a,
                        const struct value *b, const struct mask *active)
{
    wide low = subtract ? (wide)a->low - b->high : (wide)a->low + b->low;
    wide high = subtract ? (wide)a->high - b->low : (wide)a->high + b->high;
    if (!fits_i64(low, high)) {
        if ((a->varies | b->varies) == 0)
            return apply_checked(out, evaluator, subtract ? EXPR_SUBTRACT : EXPR_ADD, a, b, active);
        return a->varies != 0 ? halve(evaluator, a, a->varies) : halve(evaluator, b, b->varies);
    }
    int64_t *vector = evaluator_vector(evaluator);
    struct value result = {.constant = vector, .uniform = a->uniform && b->uniform};
    (subtract ? lanes_subtract : lanes_add)(vector, value_lanes(a), value_lanes(b), value_count(evaluator, &result));
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        bool overflow = subtract ? __builtin_sub_overflow(a->step[k], b->step[k], &result.step[k])
                                 : __builtin_add_overflow(a->step[k], b->step[k], &result.step[k]);
        if (overflow)
            return evaluate_walk(evaluator, k);
    }
    *out = result;
    return finish_within(out, evaluator, (int64_t)low, (int64_t)high);
}

static void corner_products(const struct value *a, const struct value *b, wide *low, wide *high)
{
    const wide corners[4] = {(wide)a->low * b->low, (wide)a->low * b->high, (wide)a->high * b->low,
                             (wide)a->high * b->high};
    *low = *high = corners[0];
    for (unsigned i = 1; i < 4; i++) {
        *low = corners[i] < *low ? corners[i] : *low;
        *high = corners[i] > *high ? corners[i] : *high;
    }
}

static enum outcome multiply(struct value *out, struct evaluator *evaluator, const struct value *a,
                             const struct value *b, const struct mask *active)
{
    if (a->varies == 0 && b->varies != 0) {
        const struct value *swap = a;
        a = b;
        b = swap;
    }
    /* Steps are everybody's, so what scales them must be too. */
    if (a->varies != 0 && (b->varies != 0 || !b->uniform))
        return walk_any(evaluator, a->varies);
    wide low, high;
    corner_products(a, b, &low, &high);
    if (!fits_i64(low, high)) {
        if (a->varies == 0)
            return apply_checked(out, evaluator, EXPR_MULTIPLY, a, b, active);
        return halve(evaluator, a, a->varies);
    }
    int64_t *vector = evaluator_vector(evaluator);
    struct value result = {.constant = vector, .uniform = a->uniform && b->uniform};
    lanes_multiply(vector, value_lanes(a), value_lanes(b), value_count(evaluator, &result));
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (__builtin_mul_overflow(a->step[k], b->constant[0], &result.step[k]) && a->step[k] != 0)
            return evaluate_walk(evaluator, k);
    *out = result;
    return finish_within(out, evaluator, (int64_t)low, (int64_t)high);
}

static int64_t floor_quotient(int64_t a, int64_t divisor)
{
    int64_t quotient = a / divisor;
    return a % divisor < 0 ? quotient - 1 : quotient;
}

/* True where each active thread's value stays within one multiple of `divisor` over the whole box. */
static bool same_multiple(const struct evaluator *evaluator, const struct value *a, int64_t divisor,
                          const struct mask *active)
{
    wide below, above;
    reach(evaluator, a, a->varies, &below, &above);
    for (unsigned i = 0; i < evaluator->threads; i++) {
        if (!mask_has(active, i))
            continue;
        int64_t c = value_at(a, i);
        if (floor_quotient((int64_t)(c + below), divisor) != floor_quotient((int64_t)(c + above), divisor))
            return false;
    }
    return true;
}

/* Points of dimension k before the first active thread reaches its next multiple of `divisor`. */
static uint64_t points_to_multiple(const struct value *a, const struct evaluator *evaluator, unsigned k,
                                   int64_t divisor, const struct mask *active)
{
    uint64_t step = a->step[k] < 0 ? 0 - (uint64_t)a->step[k] : (uint64_t)a->step[k];
    uint64_t fewest = evaluator->count[k];
    for (unsigned i = 0; i < evaluator->threads; i++) {
        if (!mask_has(active, i))
            continue;
        int64_t c = value_at(a, i);
        uint64_t rest = (uint64_t)(c - floor_quotient(c, divisor) * divisor);
        uint64_t room = a->step[k] < 0 ? rest + 1 : (uint64_t)divisor - rest;
        uint64_t points = (room + step - 1) / step;
        fewest = points < fewest ? points : fewest;
    }
    return fewest == 0 ? 1 : fewest;
}

/* Splits a dimension whose step is no multiple of the divisor: by its period, or, where that gives fewer boxes, where
 * the quotient changes next. */
static enum outcome split_for_divisor(struct evaluator *evaluator, const struct value *a, int64_t divisor, unsigned odd,
                                      const struct mask *active)
{
    unsigned k = widest_dim(evaluator, a, odd);
    uint64_t step = a->step[k] < 0 ? 0 - (uint64_t)a->step[k] : (uint64_t)a->step[k];
    uint64_t period = (uint64_t)divisor / greatest_common_divisor(step, (uint64_t)divisor);
    uint64_t count = evaluator->count[k];
    wide multiples = (wide)step * (wide)(count - 1) / divisor + 1;
    if ((a->varies & (a->varies - 1)) == 0 && multiples <= (wide)(period < count ? period : count)) {
        uint64_t at = points_to_multiple(a, evaluator, k, divisor, active);
        if (at < count)
            return cut(evaluator, k, at);
    }
    evaluator->split = (struct split){SPLIT_PERIOD, k, period < count ? period : count};
    return OUTCOME_SPLIT;
}

static unsigned dims_not_multiple(const struct value *a, int64_t divisor)
{
    unsigned odd = 0;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (a->step[k] % divisor != 0)
            odd |= 1u << k;
    return odd;
}

/* Floor quotient and remainder by a divisor > 0; either may be NULL. */
static enum outcome floor_parts(struct value *quotient, struct value *remainder, struct evaluator *evaluator,
                                const struct value *a, int64_t divisor, const struct mask *active)
{
    unsigned odd = a->varies == 0 ? 0 : dims_not_multiple(a, divisor);
    bool within_one = odd != 0 && same_multiple(evaluator, a, divisor, active);
    if (odd != 0 && !within_one)
        return split_for_divisor(evaluator, a, divisor, odd, active);
    size_t count = value_count(evaluator, a);
    int64_t *quotients = evaluator_vector(evaluator), *rests = evaluator_vector(evaluator);
    if (quotient != NULL)
        lanes_floor_divide(quotients, value_lanes(a), divisor, count);
    if (remainder != NULL)
        lanes_floor_remainder(rests, value_lanes(a), divisor, count);
    struct value divided = {.constant = quotients, .uniform = a->uniform};
    struct value rest = {.constant = rests, .uniform = a->uniform};
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX && a->varies != 0; k++) {
        divided.step[k] = within_one ? 0 : a->step[k] / divisor;
        rest.step[k] = within_one ? a->step[k] : 0;
    }
    enum outcome outcome = OUTCOME_OK;
    if (quotient != NULL) {
        *quotient = divided;
        outcome = finish_within(quotient, evaluator, floor_quotient(a->low, divisor), floor_quotient(a->high, divisor));
    }
    if (remainder != NULL && outcome == OUTCOME_OK) {
        *remainder = rest;
        outcome = finish_within(remainder, evaluator, 0, divisor - 1);
    }
    return outcome;
}

static enum outcome negate(struct value *out, struct evaluator *evaluator, const struct value *a,
                           const struct mask *active)
{
    static const int64_t zero = 0;
    struct value nothing = value_of(0, &zero);
    return add(out, evaluator, true, &nothing, a, active);
}

/* C's division truncates: that is the floor of what is not negative, and the negated one of the negated rest. */
static enum outcome divide(struct value *out, struct evaluator *evaluator, bool remainder, const struct value *a,
                           const struct value *b, const struct mask *active)
{
    enum expr_op op = remainder ? EXPR_REMAINDER : EXPR_DIVIDE;
    bool simple = b->varies == 0 && b->uniform && b->constant[0] > 0;
    if (a->varies == 0 && b->varies == 0 && !(simple && a->low >= 0))
        return apply_checked(out, evaluator, op, a, b, active);
    if (!simple)
        return walk_any(evaluator, a->varies | b->varies);
    int64_t divisor = b->constant[0];
    if (a->low >= 0)
        return floor_parts(remainder ? NULL : out, remainder ? out : NULL, evaluator, a, divisor, active);
    if (a->high > 0 || a->low == INT64_MIN)
        return walk_any(evaluator, a->varies);
    struct value positive, part;
    enum outcome outcome = negate(&positive, evaluator, a, active);
    if (outcome == OUTCOME_OK)
        outcome =
            floor_parts(remainder ? NULL : &part, remainder ? &part : NULL, evaluator, &positive, divisor, active);
    return outcome == OUTCOME_OK ? negate(out, evaluator, &part, active) : outcome;
}

static enum outcome shift(struct value *out, struct evaluator *evaluator, bool left, const struct value *a,
                          const struct value *b, const struct mask *active)
{
    enum { LARGEST = 62 };
    bool simple = b->varies == 0 && b->uniform && b->constant[0] >= 0 && b->constant[0] <= LARGEST;
    if (a->varies == 0 && b->varies == 0 && (!simple || left))
        return apply_checked(out, evaluator, left ? EXPR_SHIFT_LEFT : EXPR_SHIFT_RIGHT, a, b, active);
    if (!simple)
        return walk_any(evaluator, a->varies | b->varies);
    if (!left)
        return floor_parts(out, NULL, evaluator, a, INT64_C(1) << b->constant[0], active);
    if (a->low < 0)
        return halve(evaluator, a, a->varies);
    struct value factor;
    (void)number_value(&factor, evaluator, INT64_C(1) << b->constant[0]);
    return multiply(out, evaluator, a, &factor, active);
}

/* Bounds of a op b: no result has a bit above the highest of two operands that are not negative. */
static enum outcome finish_bitwise(struct value *out, struct evaluator *evaluator, enum expr_op op,
                                   const struct value *a, const struct value *b)
{
    if (a->low < 0 || b->low < 0)
        return finish(out, evaluator);
    int64_t both = a->high | b->high;
    int64_t ones = both == 0 ? 0 : (int64_t)(UINT64_MAX >> __builtin_clzll((unsigned long long)both));
    int64_t smaller = a->high < b->high ? a->high : b->high;
    return finish_within(out, evaluator, 0, op == EXPR_AND ? smaller : ones);
}

static void bitwise_lanes(int64_t *vector, enum expr_op op, struct lanes a, struct lanes b, size_t count)
{
    if (op == EXPR_AND)
        lanes_and(vector, a, b, count);
    else if (op == EXPR_OR)
        lanes_or(vector, a, b, count);
    else
        lanes_xor(vector, a, b, count);
}

/* a op b where b does not vary and 0 <= b < 2^bits: only a's low bits change, and those must not vary. */
static enum outcome bitwise_low(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                                const struct value *b, const struct mask *active)
{
    unsigned bits = b->high == 0 ? 0 : 64 - (unsigned)__builtin_clzll((unsigned long long)b->high);
    int64_t modulus = INT64_C(1) << bits;
    struct value low, high, changed;
    enum outcome outcome = floor_parts(NULL, &low, evaluator, a, modulus, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    bool mask_of_ones = op == EXPR_AND && b->uniform && b->constant[0] == modulus - 1;
    if (mask_of_ones) {
        *out = low;
        return OUTCOME_OK;
    }
    if (low.varies != 0)
        return walk_any(evaluator, low.varies);
    int64_t *vector = evaluator_vector(evaluator);
    changed = (struct value){.constant = vector, .uniform = low.uniform && b->uniform};
    bitwise_lanes(vector, op, value_lanes(&low), value_lanes(b), value_count(evaluator, &changed));
    outcome = finish(&changed, evaluator);
    if (op == EXPR_AND || outcome != OUTCOME_OK) {
        *out = changed;
        return outcome;
    }
    outcome = add(&high, evaluator, true, a, &low, active);
    return outcome == OUTCOME_OK ? add(out, evaluator, false, &high, &changed, active) : outcome;
}

static enum outcome bitwise(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                            const struct value *b, const struct mask *active)
{
    if (a->varies == 0 && b->varies == 0) {
        int64_t *vector = evaluator_vector(evaluator);
        *out = (struct value){.constant = vector, .uniform = a->uniform && b->uniform};
        bitwise_lanes(vector, op, value_lanes(a), value_lanes(b), value_count(evaluator, out));
        return finish_bitwise(out, evaluator, op, a, b);
    }
    if (a->varies == 0) {
        const struct value *swap = a;
        a = b;
        b = swap;
    }
    if (b->varies != 0)
        return walk_any(evaluator, a->varies);
    if (b->low >= 0 && b->high < INT64_C(1) << 62)
        return bitwise_low(out, evaluator, op, a, b, active);
    /* a & -m is a without its bits below m. */
    if (op == EXPR_AND && b->uniform && b->constant[0] != INT64_MIN) {
        struct value below, part;
        enum outcome outcome = number_value(&below, evaluator, ~b->constant[0]);
        if (outcome == OUTCOME_OK)
            outcome = bitwise_low(&part, evaluator, op, a, &below, active);
        return outcome == OUTCOME_OK ? add(out, evaluator, true, a, &part, active) : outcome;
    }
    return walk_any(evaluator, a->varies);
}

static bool holds(enum expr_op op, wide difference)
{
    switch (op) {
    case EXPR_LESS:
        return difference < 0;
    case EXPR_LESS_EQUAL:
        return difference <= 0;
    case EXPR_GREATER:
        return difference > 0;
    case EXPR_GREATER_EQUAL:
        return difference >= 0;
    case EXPR_EQUAL:
        return difference == 0;
    default:
        return difference != 0;
    }
}

static bool decided(enum expr_op op, wide low, wide high)
{
    if (op == EXPR_EQUAL || op == EXPR_NOT_EQUAL)
        return low == high || low > 0 || high < 0;
    return holds(op, low) == holds(op, high);
}

static wide ceil_quotient(wide a, wide b)
{
    wide quotient = a / b;
    return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

/* A comparison with 0 that thread constant `c` leaves open over the box: cuts the dimension that matters most where it
 * begins or ends to be open. */
static enum outcome split_for_test(struct evaluator *evaluator, const struct value *d, int64_t c)
{
    unsigned k = widest_dim(evaluator, d, d->varies);
    wide below, above, step = d->step[k];
    reach(evaluator, d, d->varies & ~(1u << k), &below, &above);
    /* Open points q have c + step q + below <= 1 and c + step q + above >= -1. */
    wide one = ceil_quotient(-1 - c - above, step), other = ceil_quotient(1 - c - below, step);
    wide first = one < other ? one : other, last = one < other ? other : one;
    wide count = (wide)evaluator->count[k];
    if (first > 0 && first < count)
        return cut(evaluator, k, (uint64_t)first);
    if (last + 1 > 0 && last + 1 < count)
        return cut(evaluator, k, (uint64_t)(last + 1));
    return cut(evaluator, k, (uint64_t)(count / 2));
}

static enum outcome compare_direct(struct value *out, struct evaluator *evaluator, enum expr_op op,
                                   const struct value *a, const struct value *b)
{
    int64_t *vector = evaluator_vector(evaluator);
    *out = (struct value){.constant = vector, .uniform = a->uniform && b->uniform};
    const size_t count = value_count(evaluator, out);
    const struct lanes x = value_lanes(a), y = value_lanes(b);
    if (op == EXPR_LESS || op == EXPR_GREATER)
        lanes_less(vector, op == EXPR_LESS ? x : y, op == EXPR_LESS ? y : x, count);
    else if (op == EXPR_LESS_EQUAL || op == EXPR_GREATER_EQUAL)
        lanes_less_equal(vector, op == EXPR_LESS_EQUAL ? x : y, op == EXPR_LESS_EQUAL ? y : x, count);
    else
        (op == EXPR_EQUAL ? lanes_equal : lanes_not_equal)(vector, x, y, count);
    return finish_within(out, evaluator, 0, 1);
}

static enum outcome compare(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                            const struct value *b, const struct mask *active)
{
    if ((a->varies | b->varies) == 0)
        return compare_direct(out, evaluator, op, a, b);
    struct value d;
    enum outcome outcome = add(&d, evaluator, true, a, b, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (decided(op, d.low, d.high))
        return number_value(out, evaluator, holds(op, d.low));
    wide below, above;
    reach(evaluator, &d, d.varies, &below, &above);
    bool one_dim = d.varies != 0 && (d.varies & (d.varies - 1)) == 0;
    int64_t only_step = one_dim ? d.step[__builtin_ctz(d.varies)] : 1;
    int64_t *vector = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++) {
        int64_t c = value_at(&d, i);
        bool never_equal = (op == EXPR_EQUAL || op == EXPR_NOT_EQUAL) && one_dim && c % only_step != 0;
        vector[i] = never_equal ? op == EXPR_NOT_EQUAL : holds(op, c + below);
        if (!never_equal && mask_has(active, i) && !decided(op, c + below, c + above))
            return split_for_test(evaluator, &d, c);
    }
    *out = (struct value){.constant = vector};
    return finish(out, evaluator);
}

enum outcome evaluate_binary(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                             const struct value *b, const struct mask *active)
{
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return add(out, evaluator, op == EXPR_SUBTRACT, a, b, active);
    case EXPR_MULTIPLY:
        return multiply(out, evaluator, a, b, active);
    case EXPR_DIVIDE:
    case EXPR_REMAINDER:
        return divide(out, evaluator, op == EXPR_REMAINDER, a, b, active);
    case EXPR_SHIFT_LEFT:
    case EXPR_SHIFT_RIGHT:
        return shift(out, evaluator, op == EXPR_SHIFT_LEFT, a, b, active);
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_XOR:
        return bitwise(out, evaluator, op, a, b, active);
    default:
        return compare(out, evaluator, op, a, b, active);
    }
}

static void mask_without(struct mask *out, const struct mask *a, const struct mask *b)
{
    for (unsigned i = 0; i < LAUNCH_THREADS_MAX / 64; i++)
        out->words[i] = a->words[i] & ~b->words[i];
}

/* a where `chosen`, b elsewhere among the active. */
static enum outcome blend(struct value *out, struct evaluator *evaluator, const struct mask *chosen,
                          const struct value *a, const struct value *b)
{
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        if (a->step[k] != b->step[k])
            return evaluate_walk(evaluator, k);
    int64_t *vector = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++)
        vector[i] = mask_has(chosen, i) ? value_at(a, i) : value_at(b, i);
    *out = *a;
    out->constant = vector;
    out->uniform = false;
    return finish(out, evaluator);
}

static enum outcome test_of(struct mask *out, struct evaluator *evaluator, const struct value *value,
                            const struct mask *active)
{
    struct value zero, truth = *value;
    if (value->varies != 0) {
        (void)number_value(&zero, evaluator, 0);
        enum outcome outcome = compare(&truth, evaluator, EXPR_NOT_EQUAL, value, &zero, active);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    memset(out, 0, sizeof(*out));
    if (truth.uniform && truth.constant[0] != 0)
        *out = *active;
    if (truth.uniform)
        return OUTCOME_OK;
    lanes_bits(out->words, truth.constant, evaluator->threads);
    for (unsigned i = 0; i < LAUNCH_THREADS_MAX / 64; i++)
        out->words[i] &= active->words[i];
    return OUTCOME_OK;
}

enum outcome evaluate_true(struct mask *out, struct evaluator *evaluator, const struct value *value,
                           const struct mask *active)
{
    return test_of(out, evaluator, value, active);
}

enum outcome evaluate_test(struct mask *out, struct evaluator *evaluator, const struct expr *expr,
                           const struct mask *active)
{
    struct value value;
    enum outcome outcome = evaluate(&value, evaluator, expr, active);
    return outcome == OUTCOME_OK ? test_of(out, evaluator, &value, active) : outcome;
}

static enum outcome conditional(struct value *out, struct evaluator *evaluator, const struct expr *expr,
                                const struct mask *active)
{
    struct mask yes, no;
    enum outcome outcome = evaluate_test(&yes, evaluator, expr->operand[0], active);
    if (outcome != OUTCOME_OK)
        return outcome;
    mask_without(&no, active, &yes);
    if (!mask_any(&no))
        return evaluate(out, evaluator, expr->operand[1], &yes);
    if (!mask_any(&yes))
        return evaluate(out, evaluator, expr->operand[2], &no);
    struct value a, b;
    outcome = evaluate(&a, evaluator, expr->operand[1], &yes);
    if (outcome == OUTCOME_OK)
        outcome = evaluate(&b, evaluator, expr->operand[2], &no);
    return outcome == OUTCOME_OK ? blend(out, evaluator, &yes, &a, &b) : outcome;
}

static enum outcome extremum(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                             const struct value *b, const struct mask *active)
{
    struct value first = *a;
    enum outcome outcome =
        compare(&first, evaluator, op == EXPR_MIN ? EXPR_LESS_EQUAL : EXPR_GREATER_EQUAL, a, b, active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (first.uniform) {
        *out = first.constant[0] != 0 ? *a : *b;
        return OUTCOME_OK;
    }
    struct mask yes, no;
    outcome = test_of(&yes, evaluator, &first, active);
    mask_without(&no, active, &yes);
    if (!mask_any(&no) || !mask_any(&yes)) {
        *out = mask_any(&yes) ? *a : *b;
        return outcome;
    }
    return blend(out, evaluator, &yes, a, b);
}

/* Both answers as 0 or 1 a thread; operand 1 is evaluated only where operand 0 leaves the answer open. */
static enum outcome lazy_logical(struct value *out, struct evaluator *evaluator, const struct expr *expr,
                                 const struct mask *active)
{
    struct mask left, open, right;
    enum outcome outcome = evaluate_test(&left, evaluator, expr->operand[0], active);
    if (outcome != OUTCOME_OK)
        return outcome;
    memset(&right, 0, sizeof(right));
    bool is_and = expr->op == EXPR_LOGICAL_AND;
    open = left;
    if (!is_and)
        mask_without(&open, active, &left);
    if (mask_any(&open))
        outcome = evaluate_test(&right, evaluator, expr->operand[1], &open);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t *vector = evaluator_vector(evaluator);
    for (unsigned i = 0; i < evaluator->threads; i++)
        vector[i] = mask_has(&right, i) || (!is_and && mask_has(&left, i));
    *out = (struct value){.constant = vector};
    return finish(out, evaluator);
}

static enum outcome look_up(struct value *out, struct evaluator *evaluator, const struct table *table,
                            const struct value *index, const struct mask *active)
{
    if (index->varies != 0)
        return walk_any(evaluator, index->varies);
    int64_t *vector = evaluator_vector(evaluator);
    *out = (struct value){.constant = vector, .uniform = index->uniform};
    const size_t count = value_count(evaluator, index);
    if (index->low >= 0 && (uint64_t)index->high < table->extent) {
        if (table->narrow != NULL)
            lanes_look_up_narrow(vector, table->narrow, index->constant, count);
        else
            lanes_look_up(vector, table->data, index->constant, count);
        return finish_within(out, evaluator, table->least, table->most);
    }
    for (unsigned i = 0; i < count; i++) {
        int64_t at = index->constant[i];
        bool inside = at >= 0 && (uint64_t)at < table->extent;
        if (!inside && (index->uniform ? mask_any(active) : mask_has(active, i)))
            return OUTCOME_FAULT;
        vector[i] = inside ? table->data[at] : 0;
    }
    return finish_within(out, evaluator, table->least < 0 ? table->least : 0, table->most > 0 ? table->most : 0);
}

static enum outcome evaluate_name(struct value *out, struct evaluator *evaluator, const struct expr *expr)
{
    switch (expr->binding) {
    case EXPR_BUILTIN:
        *out = evaluator->builtins[expr->builtin];
        return OUTCOME_OK;
    case EXPR_VARIABLE:
        *out = evaluator->slots[expr->slot];
        return OUTCOME_OK;
    case EXPR_PARAM:
    case EXPR_UNBOUND:
        break;
    }
    *out = value_of(expr->value, &expr->value);
    return OUTCOME_OK;
}

static enum outcome evaluate_unary(struct value *out, struct evaluator *evaluator, const struct expr *expr,
                                   const struct mask *active)
{
    struct value a, constant;
    enum outcome outcome = evaluate(&a, evaluator, expr->operand[0], active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (expr->op == EXPR_LOOKUP)
        return look_up(out, evaluator, expr->table, &a, active);
    if (expr->op == EXPR_NEGATE)
        return negate(out, evaluator, &a, active);
    (void)number_value(&constant, evaluator, expr->op == EXPR_NOT ? 0 : -1);
    if (expr->op == EXPR_NOT)
        return compare(out, evaluator, EXPR_EQUAL, &a, &constant, active);
    return add(out, evaluator, true, &constant, &a, active); /* ~a = -1 - a */
}

/* An operand: where it is, or evaluated into `own`. Most are names, and a value is long. */
static enum outcome find_operand(const struct value **out, struct value *own, struct evaluator *evaluator,
                                 const struct expr *expr, const struct mask *active)
{
    if (expr->op == EXPR_NAME && expr->binding == EXPR_BUILTIN)
        *out = &evaluator->builtins[expr->builtin];
    else if (expr->op == EXPR_NAME && expr->binding == EXPR_VARIABLE)
        *out = &evaluator->slots[expr->slot];
    else {
        *out = own;
        return evaluate(own, evaluator, expr, active);
    }
    return OUTCOME_OK;
}

enum outcome evaluate(struct value *out, struct evaluator *evaluator, const struct expr *expr,
                      const struct mask *active)
{
    struct value own[2];
    const struct value *a, *b;
    enum outcome outcome;
    switch (expr->op) {
    case EXPR_NUMBER:
        *out = value_of(expr->value, &expr->value);
        return OUTCOME_OK;
    case EXPR_NAME:
        return evaluate_name(out, evaluator, expr);
    case EXPR_LOOKUP:
    case EXPR_NEGATE:
    case EXPR_COMPLEMENT:
    case EXPR_NOT:
        return evaluate_unary(out, evaluator, expr, active);
    case EXPR_LOGICAL_AND:
    case EXPR_LOGICAL_OR:
        return lazy_logical(out, evaluator, expr, active);
    case EXPR_CONDITIONAL:
        return conditional(out, evaluator, expr, active);
    default:
        break;
    }
    outcome = find_operand(&a, &own[0], evaluator, expr->operand[0], active);
    if (outcome == OUTCOME_OK)
        outcome = find_operand(&b, &own[1], evaluator, expr->operand[1], active);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (expr->op == EXPR_MIN || expr->op == EXPR_MAX)
        return extremum(out, evaluator, expr->op, a, b, active);
    return evaluate_binary(out, evaluator, expr->op, a, b, active);
}

enum outcome evaluate_inside(struct evaluator *evaluator, const struct value *value, uint64_t extent,
                             const struct mask *active)
{
    enum { BLOCK_DIMS = 7 };
    if (value->low >= 0 && (uint64_t)value->high < extent)
        return OUTCOME_OK;
    wide below, above, loop_below, loop_above;
    reach(evaluator, value, value->varies, &below, &above);
    reach(evaluator, value, value->varies & ~(unsigned)BLOCK_DIMS, &loop_below, &loop_above);
    bool elsewhere = false;
    for (unsigned i = 0; i < evaluator->threads; i++) {
        if (!mask_has(active, i))
            continue;
        wide c = value_at(value, i);
        if (c + loop_below < 0 || c + loop_above >= (wide)extent)
            return OUTCOME_FAULT;
        elsewhere |= c + below < 0 || c + above >= (wide)extent;
    }
    return elsewhere ? halve(evaluator, value, value->varies & BLOCK_DIMS) : OUTCOME_OK;
}
