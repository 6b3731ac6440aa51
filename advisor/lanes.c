#include "lanes.h"

#include "vectors.h"

#define LANES_BINARY(name, operation)                                                                                  \
    VECTORS_WIDE void name(int64_t *restrict out, struct lanes a, struct lanes b, size_t count)                        \
    {                                                                                                                  \
        const int64_t *restrict x = a.values, *restrict y = b.values;                                                  \
        if (a.uniform) {                                                                                               \
            const uint64_t left = (uint64_t)x[0];                                                                      \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = (int64_t)(left operation(uint64_t) y[i]);                                                     \
        } else if (b.uniform) {                                                                                        \
            const uint64_t right = (uint64_t)y[0];                                                                     \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = (int64_t)((uint64_t)x[i] operation right);                                                    \
        } else {                                                                                                       \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = (int64_t)((uint64_t)x[i] operation(uint64_t) y[i]);                                           \
        }                                                                                                              \
    }

LANES_BINARY(lanes_add, +)
LANES_BINARY(lanes_subtract, -)
LANES_BINARY(lanes_multiply, *)
LANES_BINARY(lanes_and, &)
LANES_BINARY(lanes_or, |)
LANES_BINARY(lanes_xor, ^)

#define LANES_COMPARISON(name, operation)                                                                              \
    VECTORS_WIDE void name(int64_t *restrict out, struct lanes a, struct lanes b, size_t count)                        \
    {                                                                                                                  \
        const int64_t *restrict x = a.values, *restrict y = b.values;                                                  \
        if (a.uniform) {                                                                                               \
            const int64_t left = x[0];                                                                                 \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = left operation y[i];                                                                          \
        } else if (b.uniform) {                                                                                        \
            const int64_t right = y[0];                                                                                \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = x[i] operation right;                                                                         \
        } else {                                                                                                       \
            for (size_t i = 0; i < count; i++)                                                                         \
                out[i] = x[i] operation y[i];                                                                          \
        }                                                                                                              \
    }

LANES_COMPARISON(lanes_less, <)
LANES_COMPARISON(lanes_less_equal, <=)
LANES_COMPARISON(lanes_equal, ==)
LANES_COMPARISON(lanes_not_equal, !=)

VECTORS_WIDE void lanes_bits(uint64_t *restrict out, const int64_t *restrict values, size_t count)
{
    enum { WORD_BITS = 64 };
    for (size_t first = 0; first < count; first += WORD_BITS) {
        const size_t here = count - first < WORD_BITS ? count - first : WORD_BITS;
        uint64_t word = 0;
        for (size_t i = 0; i < here; i++)
            word |= (uint64_t)(values[first + i] != 0) << i;
        out[first / WORD_BITS] = word;
    }
}

VECTORS_WIDE void lanes_add_product(int64_t *restrict out, const int64_t *restrict a, int64_t factor, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)((uint64_t)out[i] + (uint64_t)a[i] * (uint64_t)factor);
}

VECTORS_WIDE void lanes_line(int64_t *out, int64_t first, int64_t step, size_t count)
{
    uint64_t value = (uint64_t)first;
    for (size_t i = 0; i < count; i++, value += (uint64_t)step)
        out[i] = (int64_t)value;
}

VECTORS_WIDE void lanes_shift_left(int64_t *restrict out, struct lanes a, unsigned distance, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)((uint64_t)a.values[i] << distance);
}

VECTORS_WIDE void lanes_shift_right(int64_t *restrict out, struct lanes a, unsigned distance, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = a.values[i] >> distance;
}

static int64_t floor_divide(int64_t a, int64_t divisor)
{
    int64_t quotient = a / divisor;
    return a % divisor < 0 ? quotient - 1 : quotient;
}

/* A divisor up to 2^30 for values below 2^31: with 2^L >= divisor the quotient is value * factor >> 31 + L, where
 * factor = ceil(2^(31 + L) / divisor). It is too large by less than 2^L / divisor parts of 2^(31 + L), which times a
 * value is less than one divisor-th. */
struct reciprocal {
    uint64_t factor;
    unsigned shift;
};

/* False where a value or the divisor is out of that range. */
static int find_reciprocal(struct reciprocal *out, struct lanes a, int64_t divisor, size_t count)
{
    enum { VALUE_BITS = 31 };
    int64_t low, high;
    lanes_bounds(&low, &high, a, count);
    if (low < 0 || high >> VALUE_BITS != 0 || divisor >> (VALUE_BITS - 1) != 0)
        return 0;
    out->shift = VALUE_BITS;
    while (INT64_C(1) << (out->shift - VALUE_BITS) < divisor)
        out->shift++;
    out->factor = ((UINT64_C(1) << out->shift) - 1) / (uint64_t)divisor + 1;
    return 1;
}

VECTORS_WIDE static void multiply_and_shift(int64_t *restrict out, const int64_t *restrict values, struct reciprocal by,
                                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)((uint64_t)values[i] * by.factor >> by.shift);
}

VECTORS_WIDE static void subtract_product(int64_t *restrict out, const int64_t *restrict values, int64_t factor,
                                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] - out[i] * factor;
}

void lanes_floor_divide(int64_t *restrict out, struct lanes a, int64_t divisor, size_t count)
{
    if ((divisor & (divisor - 1)) == 0) {
        lanes_shift_right(out, a, (unsigned)__builtin_ctzll((unsigned long long)divisor), count);
        return;
    }
    struct reciprocal by;
    if (find_reciprocal(&by, a, divisor, count)) {
        multiply_and_shift(out, a.values, by, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = floor_divide(a.values[i], divisor);
}

void lanes_floor_remainder(int64_t *restrict out, struct lanes a, int64_t divisor, size_t count)
{
    if ((divisor & (divisor - 1)) == 0) {
        int64_t mask = divisor - 1;
        lanes_and(out, a, (struct lanes){&mask, 1}, count);
        return;
    }
    struct reciprocal by;
    if (find_reciprocal(&by, a, divisor, count)) {
        multiply_and_shift(out, a.values, by, count);
        subtract_product(out, a.values, divisor, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = a.values[i] - floor_divide(a.values[i], divisor) * divisor;
}

VECTORS_WIDE void lanes_look_up(int64_t *restrict out, const int64_t *restrict table, const int64_t *restrict at,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = table[at[i]];
}

VECTORS_WIDE void lanes_look_up_narrow(int64_t *restrict out, const uint32_t *restrict table,
                                       const int64_t *restrict at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = table[at[i]];
}

VECTORS_WIDE void lanes_bounds(int64_t *low, int64_t *high, struct lanes a, size_t count)
{
    int64_t least = a.values[0], most = a.values[0];
    for (size_t i = 1; i < (a.uniform ? 1 : count); i++) {
        least = a.values[i] < least ? a.values[i] : least;
        most = a.values[i] > most ? a.values[i] : most;
    }
    *low = least;
    *high = most;
}

VECTORS_WIDE size_t lanes_descents(const int64_t *values, size_t count)
{
    size_t descents = 0;
    for (size_t i = 1; i < count; i++)
        descents += values[i] < values[i - 1];
    return descents;
}
