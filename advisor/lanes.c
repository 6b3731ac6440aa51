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

void lanes_floor_divide(int64_t *restrict out, struct lanes a, int64_t divisor, size_t count)
{
    if ((divisor & (divisor - 1)) == 0) {
        lanes_shift_right(out, a, (unsigned)__builtin_ctzll((unsigned long long)divisor), count);
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
