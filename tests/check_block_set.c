/* Blocks of a straight run, against a map of every byte. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "block_set.h"
#include "random_spec.h"
#include "request.h"

enum { BLOCKS = 6000, BYTES = BLOCKS * SET_BLOCK_BYTES, LANES_MAX = 1024, RUNS = 300, ROWS = 4 };

/* A flag a byte: 1 in a sector that was read, 2 written. */
static bool is_mentioned(const unsigned char *map, int64_t block)
{
    for (unsigned i = 0; i < SET_BLOCK_BYTES; i++)
        if (map[block * SET_BLOCK_BYTES + i] != 0)
            return true;
    return false;
}

static void mark_lane(unsigned char *map, int64_t address, unsigned width, bool written)
{
    if (written)
        for (unsigned i = 0; i < width; i++)
            map[address + i] |= 2;
    else
        for (unsigned i = 0; i < SECTOR_BYTES; i++)
            map[address / SECTOR_BYTES * SECTOR_BYTES + i] |= 1;
}

/* Neighbours, or places anywhere in the first `blocks` blocks. */
static unsigned draw_lanes(int64_t address[LANES_MAX], unsigned width, unsigned blocks, uint64_t *state)
{
    const unsigned count = 1 + random_below(state, LANES_MAX), places = blocks * SET_BLOCK_BYTES / width;
    const bool neighbours = random_below(state, 3) == 0;
    const unsigned first = random_below(state, places);
    for (unsigned i = 0; i < count; i++)
        address[i] = (int64_t)(neighbours ? (first + i) % places : random_below(state, places)) * width;
    return count;
}

/* Whether the set finds the lanes that come to a new block, and no others. */
static bool add_lanes(struct block_set *set, unsigned char *map, unsigned blocks, bool writes, uint64_t *state)
{
    int64_t address[LANES_MAX];
    uint16_t fresh[LANES_MAX];
    const unsigned width = 1u << random_below(state, 5), count = draw_lanes(address, width, blocks, state);
    const bool written = writes && random_below(state, 2) == 1;
    const size_t before = set->count;
    const unsigned found = block_set_add(set, address, count, width, written, fresh);
    unsigned next = 0;
    bool good = set->count == before + found;
    for (unsigned i = 0; i < count && good; i++) {
        const int64_t block = address[i] / SET_BLOCK_BYTES;
        const bool is_fresh = !is_mentioned(map, block);
        good = is_fresh == (next < found && fresh[next] == i) && (!is_fresh || set->address[before + next] == block);
        next += is_fresh;
        mark_lane(map, address[i], width, written);
    }
    return good && next == found;
}

static bool same_block(const struct block_set *set, size_t number, const unsigned char *map)
{
    const unsigned char *bytes = map + set->address[number] * SET_BLOCK_BYTES;
    const uint64_t *written = block_set_written(set, set->address[number]);
    bool same = !set->writes || written == set->written[number];
    for (unsigned i = 0; i < SET_BLOCK_BYTES; i++) {
        const bool is_written = written != NULL && (written[i / 64] >> (i % 64) & 1) != 0;
        same = same && (set->read[number] >> (i / SECTOR_BYTES) & 1) == (bytes[i] & 1) &&
               is_written == ((bytes[i] & 2) != 0);
    }
    return same;
}

/* Runs of many sizes in one set, so that it grows, and is cleared more than once after it has. */
START_TEST(holds_what_a_map_holds)
{
    struct block_set set = {0};
    unsigned char *map = malloc(BYTES);
    uint64_t state = (uint64_t)_i;
    ck_assert_ptr_nonnull(map);
    for (unsigned run = 0; run < RUNS; run++) {
        const unsigned blocks = random_below(&state, 2) == 0 ? 1 + random_below(&state, 40) : BLOCKS;
        const bool writes = random_below(&state, 2) == 1;
        memset(map, 0, BYTES);
        for (unsigned n = 1 + random_below(&state, 12); n > 0; n--)
            ck_assert_msg(add_lanes(&set, map, blocks, writes, &state), "row %d, run %u", _i, run);
        size_t same = 0;
        while (same < set.count && same_block(&set, same, map))
            same++;
        ck_assert_msg(same == set.count, "row %d, run %u: block %zu", _i, run, same);
        ck_assert(block_set_written(&set, BLOCKS + 1) == NULL);
        block_set_clear(&set);
        ck_assert_uint_eq(set.count, 0);
    }
    block_set_free(&set);
    free(map);
}
END_TEST

/* A mark of an epoch as many clearings ago as there are numbers must not come back to life. */
START_TEST(forgets_when_epochs_wrap)
{
    struct block_set set = {0};
    const int64_t address[2] = {0, 70 * SET_BLOCK_BYTES};
    uint16_t fresh[2];
    ck_assert_uint_eq(block_set_add(&set, address, 2, 4, true, fresh), 2);
    const uint32_t first = set.epoch;
    block_set_clear(&set);
    set.epoch = UINT32_MAX;
    ck_assert_uint_eq(block_set_add(&set, address, 1, 4, true, fresh), 1);
    for (block_set_clear(&set); set.epoch != first; block_set_clear(&set))
        ck_assert_uint_lt(set.epoch, first);
    ck_assert_uint_eq(block_set_add(&set, address, 2, 4, true, fresh), 2);
    block_set_free(&set);
}
END_TEST

Suite *block_set_suite(void)
{
    Suite *suite = suite_create("block_set");
    TCase *all = tcase_create("block_set");
    tcase_add_loop_test(all, holds_what_a_map_holds, 0, ROWS);
    tcase_add_test(all, forgets_when_epochs_wrap);
    suite_add_tcase(suite, all);
    return suite;
}
