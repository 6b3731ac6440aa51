/* Takes two integers and an operation, gives the exact result or says that it does not fit.
 * Every function returns true and stores to *out, or returns false and leaves *out undefined. */
#ifndef SW_CHECKED_H
#define SW_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_add_i64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool checked_sub_i64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_sub_overflow(a, b, out);
}

static inline bool checked_mul_i64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool checked_add_u64(uint64_t *out, uint64_t a, uint64_t b)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool checked_mul_u64(uint64_t *out, uint64_t a, uint64_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Rounds `value` up to the next multiple of `step` (step > 0, any step, not only powers of two). */
static inline bool checked_round_up_u64(uint64_t *out, uint64_t value, uint64_t step)
{
    uint64_t rest = value % step;
    return checked_add_u64(out, value, rest == 0 ? 0 : step - rest);
}

/* Of 0 and b: b. */
static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
