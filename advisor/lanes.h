/* Takes vectors of one 64-bit integer a thread, gives their element-wise results: the inner loops of evaluation.
 * Results wrap; the caller has proved that they fit, or does not use them. */
#ifndef SW_LANES_H
#define SW_LANES_H

#include <stddef.h>
#include <stdint.h>

/* A vector of `count` values, or one value that all threads share. */
struct lanes {
    const int64_t *values;
    int uniform; /* values[0] is everybody's */
};

/* first, first + step, ... */
void lanes_line(int64_t *out, int64_t first, int64_t step, size_t count);
void lanes_add(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_subtract(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_multiply(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
/* out += a * factor */
void lanes_add_product(int64_t *restrict out, const int64_t *restrict a, int64_t factor, size_t count);
void lanes_and(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_or(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_xor(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
/* 1 where it holds, else 0. */
void lanes_less(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_less_equal(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_equal(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
void lanes_not_equal(int64_t *restrict out, struct lanes a, struct lanes b, size_t count);
/* A bit for each value that is not 0, the first the lowest of out[0]; bits past the last are 0. */
void lanes_bits(uint64_t *restrict out, const int64_t *restrict values, size_t count);
/* Shifts by a distance of 0 to 63. */
void lanes_shift_left(int64_t *restrict out, struct lanes a, unsigned distance, size_t count);
void lanes_shift_right(int64_t *restrict out, struct lanes a, unsigned distance, size_t count);
/* Floor division and its remainder (0 to divisor - 1) by a divisor > 0. */
void lanes_floor_divide(int64_t *restrict out, struct lanes a, int64_t divisor, size_t count);
void lanes_floor_remainder(int64_t *restrict out, struct lanes a, int64_t divisor, size_t count);
/* out = table[at], every place being inside. */
void lanes_look_up(int64_t *restrict out, const int64_t *restrict table, const int64_t *restrict at, size_t count);
void lanes_look_up_narrow(int64_t *restrict out, const uint32_t *restrict table, const int64_t *restrict at,
                          size_t count);
void lanes_bounds(int64_t *low, int64_t *high, struct lanes a, size_t count);
/* How many values are less than the one before them. */
size_t lanes_descents(const int64_t *values, size_t count);

#endif
