#include "lanes.h"

#include <check.h>
#include <stdbool.h>

enum { MOST = 200 };

/* Values with their edges among them, other ones each time. */
static void fill(int64_t *values, uint64_t *state, int64_t least, int64_t most)
{
    for (size_t i = 0; i < MOST; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t span = (uint64_t)most - (uint64_t)least;
        const uint64_t more = span == UINT64_MAX ? *state : (*state >> 8) % (span + 1);
        values[i] = i % 16 == 0 ? least : i % 16 == 1 ? most : (int64_t)((uint64_t)least + more);
    }
}

static const struct comparison {
    const char *name;
    void (*compare)(int64_t *restrict, struct lanes, struct lanes, size_t);
    bool less, equal, greater; /* what it says where a is that of b */
} comparisons[] = {
    {"<", lanes_less, true, false, false},
    {"<=", lanes_less_equal, true, true, false},
    {"==", lanes_equal, false, true, false},
    {"!=", lanes_not_equal, true, false, true},
};

START_TEST(comparisons_are_signed)
{
    const struct comparison *row = &comparisons[_i];
    int64_t a[MOST], b[MOST], out[MOST];
    uint64_t state = 1;
    for (int form = 0; form < 3; form++) {
        fill(a, &state, INT64_MIN, INT64_MAX);
        fill(b, &state, -3, 3);
        for (size_t i = 0; i < MOST; i += 3)
            a[i] = b[form == 2 ? 0 : i];
        row->compare(out, (struct lanes){a, form == 1}, (struct lanes){b, form == 2}, MOST);
        for (size_t i = 0; i < MOST; i++) {
            const int64_t x = a[form == 1 ? 0 : i], y = b[form == 2 ? 0 : i];
            const bool wanted = x < y ? row->less : x == y ? row->equal : row->greater;
            ck_assert_msg(out[i] == wanted, "%lld %s %lld gives %lld", (long long)x, row->name, (long long)y,
                          (long long)out[i]);
        }
    }
}
END_TEST

START_TEST(bits_are_those_of_values_that_are_not_zero)
{
    int64_t values[MOST];
    uint64_t state = 2, bits[MOST / 64 + 1];
    fill(values, &state, -1, 1);
    for (size_t count = 1; count <= MOST; count++) {
        bits[(count - 1) / 64] = UINT64_MAX;
        lanes_bits(bits, values, count);
        for (size_t i = 0; i < (count + 63) / 64 * 64; i++)
            ck_assert_msg((bits[i / 64] >> i % 64 & 1) == (i < count && values[i] != 0), "bit %zu of %zu", i, count);
    }
}
END_TEST

static int64_t floor_quotient(int64_t a, int64_t divisor)
{
    const int64_t quotient = a / divisor;
    return a % divisor < 0 ? quotient - 1 : quotient;
}

static void divide(const int64_t *values, int64_t divisor)
{
    int64_t quotients[MOST], rests[MOST];
    lanes_floor_divide(quotients, (struct lanes){values, 0}, divisor, MOST);
    lanes_floor_remainder(rests, (struct lanes){values, 0}, divisor, MOST);
    for (size_t i = 0; i < MOST; i++) {
        const int64_t wanted = floor_quotient(values[i], divisor);
        ck_assert_msg(quotients[i] == wanted && rests[i] == values[i] - wanted * divisor,
                      "%lld / %lld gives %lld, rest %lld", (long long)values[i], (long long)divisor,
                      (long long)quotients[i], (long long)rests[i]);
    }
}

/* On both sides of what a multiplication does instead, whose error is greatest for multiples of the divisor less one.
 */
START_TEST(quotients_are_floors)
{
    static const int64_t ranges[][2] = {
        {0, 1000}, {0, INT32_MAX}, {0, (int64_t)INT32_MAX + 1}, {-5, 1000}, {INT64_MIN / 2, INT64_MAX}};
    int64_t values[MOST];
    uint64_t state = 3;
    for (size_t range = 0; range < sizeof(ranges) / sizeof(ranges[0]); range++) {
        for (int64_t divisor = 1; divisor <= INT64_C(1) << 33; divisor += divisor < 40 ? 1 : divisor / 2 + 1) {
            fill(values, &state, ranges[range][0], ranges[range][1]);
            for (size_t i = 2; i < MOST; i += 2)
                values[i] = floor_quotient(values[i], divisor) > 0
                                ? floor_quotient(values[i], divisor) * divisor - (int64_t)(i / 2 % 2)
                                : values[i];
            divide(values, divisor);
        }
    }
    for (int64_t divisor = (INT64_C(1) << 30) - 3; divisor < (INT64_C(1) << 30) + 3; divisor++) {
        fill(values, &state, INT32_MAX - 10, INT32_MAX);
        divide(values, divisor);
    }
}
END_TEST

Suite *lanes_suite(void)
{
    Suite *suite = suite_create("lanes");
    TCase *tcase = tcase_create("lanes");
    tcase_add_loop_test(tcase, comparisons_are_signed, 0, sizeof(comparisons) / sizeof(comparisons[0]));
    tcase_add_test(tcase, bits_are_those_of_values_that_are_not_zero);
    tcase_add_test(tcase, quotients_are_floors);
    suite_add_tcase(suite, tcase);
    return suite;
}
