/* Numbers in order, against the C library's sort. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "random_spec.h"
#include "sort_numbers.h"

enum { NUMBERS_MAX = 3000, ROUNDS = 200 };

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* `_i` bits: from numbers that are all 0 to such as fill 64 bits; few of them, and more than a round of bytes. */
START_TEST(sorts_as_the_library_does)
{
    static uint64_t numbers[NUMBERS_MAX], wanted[NUMBERS_MAX], room[NUMBERS_MAX];
    uint64_t state = (uint64_t)_i;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t count = random_below(&state, round % 2 == 0 ? 40 : NUMBERS_MAX);
        for (size_t i = 0; i < count; i++)
            numbers[i] = _i == 0 ? 0 : random_next(&state) >> (64 - _i);
        memcpy(wanted, numbers, count * sizeof(*numbers));
        qsort(wanted, count, sizeof(*wanted), compare_numbers);
        sort_numbers(numbers, room, count);
        ck_assert_msg(memcmp(numbers, wanted, count * sizeof(*numbers)) == 0, "round %u, %zu numbers", round, count);
    }
}
END_TEST

Suite *sort_numbers_suite(void)
{
    Suite *suite = suite_create("sort_numbers");
    TCase *all = tcase_create("sort_numbers");
    tcase_add_loop_test(all, sorts_as_the_library_does, 0, 65);
    suite_add_tcase(suite, all);
    return suite;
}
