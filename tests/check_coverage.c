/* Footprints of places that repeat at steps, against a map of every byte. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "random_spec.h"
#include "request.h"

enum { BYTES = 1 << 18, ADDED_MAX = 6, DIMS_MAX = 3, ROWS = 2400 };

/* A flag a byte: 1 read, 2 written. */
static void mark_bytes(unsigned char *map, int64_t start, unsigned width, unsigned char flag, unsigned dims,
                       const int64_t *step, const uint64_t *count)
{
    for (uint64_t q = 0; dims > 0 && q < count[0]; q++)
        mark_bytes(map, start + step[0] * (int64_t)q, width, flag, dims - 1, step + 1, count + 1);
    for (unsigned i = 0; dims == 0 && i < width; i++)
        map[start + i] |= flag;
}

static struct footprint count_bytes(const unsigned char *map)
{
    struct footprint sum = {0};
    for (unsigned pair = 0; pair < BYTES; pair += 2 * SECTOR_BYTES) {
        bool pair_read = false;
        for (unsigned sector = pair; sector < pair + 2 * SECTOR_BYTES; sector += SECTOR_BYTES) {
            unsigned char any = 0, all = 3;
            for (unsigned i = 0; i < SECTOR_BYTES; i++) {
                any |= map[sector + i];
                all &= map[sector + i];
            }
            sum.read_sectors += any & 1;
            sum.written_sectors += (any & 2) != 0;
            sum.distinct_sectors += any != 0;
            sum.fill_sectors += (any & 2) != 0 && (all & 2) == 0;
            sum.unread_fill_sectors += any == 2 && (all & 2) == 0;
            pair_read |= (any & 1) != 0;
        }
        sum.read_pairs += pair_read;
    }
    return sum;
}

/* A dimension that stays inside what is left of the map; steps are multiples of the width, some of them of rows. */
static void draw_dim(int64_t *step, uint64_t *count, uint64_t *room, unsigned width, unsigned count_most,
                     uint64_t *state)
{
    static const int64_t rows[] = {64, 96, 1024, 2048, 2080, 4096, 4160, 8192, 12288};
    *step = random_below(state, 2) == 0 ? rows[random_below(state, sizeof(rows) / sizeof(rows[0]))]
                                        : (int64_t)(1 + random_below(state, 40)) * width;
    uint64_t most = *room / (uint64_t)*step;
    *count = 1 + random_below(state, most < count_most ? (unsigned)most + 1 : count_most);
    *room -= (*count - 1) * (uint64_t)*step;
}

static void add_random(struct coverage *coverage, unsigned char *map, uint64_t *state)
{
    static const unsigned widths[] = {4, 8, 16};
    const unsigned width = widths[random_below(state, 3)], lanes = 1 + random_below(state, 32);
    const bool written = random_below(state, 2) == 1;
    int64_t step[DIMS_MAX], address[32];
    uint64_t count[DIMS_MAX], room = BYTES / 2;
    static const unsigned counts[DIMS_MAX] = {100, 12, 4};
    for (unsigned k = 0; k < DIMS_MAX; k++)
        draw_dim(&step[k], &count[k], &room, width, counts[(k + *state) % DIMS_MAX], state);
    uint64_t first = random_below(state, (unsigned)(room / 16)) * 16, apart = (1 + random_below(state, 8)) * width;
    for (unsigned i = 0; i < lanes; i++) {
        address[i] = (int64_t)(first + i * apart);
        mark_bytes(map, address[i], width, written ? 2 : 1, DIMS_MAX, step, count);
    }
    /* A dimension may run backwards. */
    if (random_below(state, 4) == 0) {
        for (unsigned i = 0; i < lanes; i++)
            address[i] += step[0] * (int64_t)(count[0] - 1);
        step[0] = -step[0];
    }
    ck_assert(coverage_add(coverage, 0, written, address, lanes, width, DIMS_MAX, step, count));
}

static bool same(const struct footprint *a, const struct footprint *b)
{
    return a->read_sectors == b->read_sectors && a->written_sectors == b->written_sectors &&
           a->distinct_sectors == b->distinct_sectors && a->fill_sectors == b->fill_sectors &&
           a->unread_fill_sectors == b->unread_fill_sectors && a->read_pairs == b->read_pairs;
}

START_TEST(counts_what_a_map_counts)
{
    unsigned char *map = malloc(BYTES);
    ck_assert_ptr_nonnull(map);
    for (uint64_t seed = 0; seed < ROWS / 4; seed++) {
        uint64_t state = seed * 4 + (uint64_t)_i;
        struct coverage *coverage = coverage_new(BYTES, 4, 1);
        struct footprint found, wanted;
        ck_assert_ptr_nonnull(coverage);
        memset(map, 0, BYTES);
        for (unsigned n = 1 + random_below(&state, ADDED_MAX); n > 0; n--)
            add_random(coverage, map, &state);
        wanted = count_bytes(map);
        ck_assert(coverage_count(coverage, &found));
        ck_assert_msg(same(&found, &wanted),
                      "seed %" PRIu64 ": distinct %" PRIu64 ", by bytes %" PRIu64 "; fill %" PRIu64 ", %" PRIu64
                      "; pairs %" PRIu64 ", %" PRIu64,
                      seed * 4 + (uint64_t)_i, found.distinct_sectors, wanted.distinct_sectors, found.fill_sectors,
                      wanted.fill_sectors, found.read_pairs, wanted.read_pairs);
        coverage_free(coverage);
    }
    free(map);
}
END_TEST

/* Planes far larger than memory: the interior of 2^15 x 2^15 records of 24 bytes, of which 8 are read and 4 written. */
START_TEST(counts_a_plane_with_a_border)
{
    enum { SIDE = 1 << 15, RECORD = 24 };
    struct coverage *coverage = coverage_new((uint64_t)SIDE * SIDE * RECORD, 4, 1);
    const int64_t step[2] = {RECORD, (int64_t)SIDE * RECORD};
    const uint64_t count[2] = {SIDE - 2, SIDE - 2};
    int64_t first = (SIDE + 1) * (int64_t)RECORD;
    struct footprint found;
    ck_assert(coverage_add(coverage, 0, false, &first, 1, 8, 2, step, count));
    ck_assert(coverage_count(coverage, &found));
    /* A row is 24,576 sectors. The first field of records 1 to 32,766 is in bytes 24 to 786,391 of it: in all of its
     * sectors, since of three sectors with four records the fields are at 24, 48, 72 and 96 (then again). */
    ck_assert_uint_eq(found.read_sectors, (uint64_t)(SIDE - 2) * 24575);
    ck_assert_uint_eq(found.read_pairs, (uint64_t)(SIDE - 2) * 12288);
    first += 16;
    ck_assert(coverage_add(coverage, 0, true, &first, 1, 4, 2, step, count));
    ck_assert(coverage_count(coverage, &found));
    ck_assert_uint_eq(found.written_sectors, found.fill_sectors);
    /* Those written are at 40 to 786,404 of a row: the last sector too. */
    ck_assert_uint_eq(found.distinct_sectors, (uint64_t)(SIDE - 2) * 24576);
    coverage_free(coverage);
}
END_TEST

/* A run over a million cells, which another lattice makes small. */
START_TEST(counts_a_long_run)
{
    const uint64_t bytes = UINT64_C(1) << 32, cell = 4096;
    struct coverage *coverage = coverage_new(2 * bytes, 4, 1);
    int64_t lanes[32], first = 16;
    for (unsigned i = 0; i < 32; i++)
        lanes[i] = 64 + 16 * (int64_t)i;
    const int64_t whole_step = 512, far_step = (int64_t)cell;
    const uint64_t whole_count = bytes / 512, far_count = 2 * bytes / cell;
    struct footprint found;
    ck_assert(coverage_add(coverage, 0, false, lanes, 32, 16, 1, &whole_step, &whole_count));
    ck_assert(coverage_add(coverage, 0, true, &first, 1, 4, 1, &far_step, &far_count));
    ck_assert(coverage_count(coverage, &found));
    ck_assert_uint_eq(found.read_sectors, bytes / 32);
    ck_assert_uint_eq(found.written_sectors, far_count);
    /* Of the written sectors, the first is before the run, and half are past it. */
    ck_assert_uint_eq(found.distinct_sectors, bytes / 32 + 1 + (far_count / 2 - 1));
    coverage_free(coverage);
}
END_TEST

Suite *coverage_suite(void)
{
    Suite *suite = suite_create("coverage");
    TCase *all = tcase_create("coverage");
    tcase_add_loop_test(all, counts_what_a_map_counts, 0, 4);
    tcase_add_test(all, counts_a_plane_with_a_border);
    tcase_add_test(all, counts_a_long_run);
    suite_add_tcase(suite, all);
    return suite;
}
