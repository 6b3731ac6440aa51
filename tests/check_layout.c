/* Where every layout puts a byte, against places worked out by hand; and why those that do not apply do not. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "layout.h"
#include "notation.h"
#include "read.h"

/* Particle: pos 0, vel 12, mass 24, id 28; size 32. Holes: flag 0, hole, x 8, y 16, hole, size 24; by alignment 16.
 * Packet: tag 0, word 1, size 5. Node: box.lo 0, box.hi 12, child 24, id 28, size 32. */
static const char description[] =
    "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"places\">\n"
    "<struct name=\"Particle\"><field name=\"pos\" type=\"float\" count=\"3\"/><field name=\"vel\" type=\"float\" "
    "count=\"3\"/>"
    "<field name=\"mass\" type=\"float\"/><field name=\"id\" type=\"uint32\"/></struct>\n"
    "<struct name=\"Holes\"><field name=\"flag\" type=\"uint8\"/><field name=\"x\" type=\"double\"/>"
    "<field name=\"y\" type=\"uint16\"/></struct>\n"
    "<struct name=\"Packet\" packed=\"true\"><field name=\"tag\" type=\"uint8\"/><field name=\"word\" "
    "type=\"uint32\"/></struct>\n"
    "<struct name=\"Box\"><field name=\"lo\" type=\"float3\"/><field name=\"hi\" type=\"float3\"/></struct>\n"
    "<struct name=\"Node\"><field name=\"box\" type=\"Box\"/><field name=\"child\" type=\"int32\"/>"
    "<field name=\"id\" type=\"int32\"/></struct>\n"
    "<union name=\"Word\"><field name=\"f\" type=\"float\"/><field name=\"b\" type=\"uint8\" count=\"4\"/></union>\n"
    "<struct name=\"Tagged\"><field name=\"kind\" type=\"uint8\"/><field name=\"value\" type=\"Word\"/></struct>\n"
    "<array name=\"particles\" of=\"Particle\" extent=\"100\"/>\n"
    "<array name=\"holes\" of=\"Holes\" extent=\"10\"/>\n"
    "<array name=\"packets\" of=\"Packet\" extent=\"10\" align=\"32\"/>\n"
    "<array name=\"nodes\" of=\"Node\" extent=\"10\"/>\n"
    "<array name=\"words\" of=\"Word\" extent=\"10\"/>\n"
    "<array name=\"tagged\" of=\"Tagged\" extent=\"10\"/>\n"
    "<array name=\"grid\" of=\"float\" extent=\"10 20\"/>\n"
    "<array name=\"space\" of=\"float2\" extent=\"3 5 7\"/>\n"
    "<array name=\"rows\" of=\"float\" extent=\"10 20\" pitch=\"128\"/>\n"
    "</layout>\n";

struct fixture {
    struct arena arena;
    struct diags diags;
    const struct spec *spec;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.diags = {.arena = &f->arena}};
    const struct device *device = device_load(&f->arena, "h200", &f->diags);
    const struct source *source = source_from_bytes(&f->arena, "places.xml", description, strlen(description));
    struct spec *spec = read_spec(&f->arena, source, &f->diags);
    ck_assert(spec != NULL && check_spec(spec, &f->arena, device, NULL, 0, &f->diags));
    f->spec = spec;
}

static const struct array *find_array(const struct fixture *f, const char *name)
{
    const struct array *array = f->spec->arrays;
    while (array != NULL && strcmp(array->name.text, name) != 0)
        array = array->next;
    ck_assert_ptr_nonnull(array);
    return array;
}

static struct mapping *map(struct fixture *f, const char *array, const char *layout, const char **reason)
{
    struct mapping *mapping;
    struct candidate candidate;
    bool has_plan;
    struct quoted text = {layout, {source_from_bytes(&f->arena, "layout", layout, strlen(layout)), 0, strlen(layout)}};
    ck_assert_msg(notation_parse(&candidate, &has_plan, &f->arena, &text, &f->diags), "'%s'", layout);
    return layout_map(&mapping, &f->arena, find_array(f, array), &candidate.layout, reason) ? mapping : NULL;
}

static const struct {
    const char *array, *layout;
    const char *leaf; /* its path */
    int64_t index[SPEC_DIMS_MAX];
    uint64_t place; /* bytes from the array's first */
    uint64_t bytes; /* of storage */
} places[] = {
    {"particles", "aos", "mass", {3}, 3 * 32 + 24, 3200},
    {"particles", "aos(align=16)", "id", {3}, 3 * 32 + 28, 3200},
    {"particles", "soa", "vel[1]", {3}, 4 * 512 + 12, 7 * 512 + 400},
    {"particles", "aosoa(8)", "vel[0]", {11}, 256 + 3 * 32 + 3 * 4, 13 * 256},
    /* groups of 28 and of 4 bytes a record: 2800 bytes, the second from 2816 on */
    {"particles", "split(pos vel mass|id)", "mass", {5}, 5 * 28 + 24, 2816 + 400},
    {"particles", "split(pos vel mass|id)", "id", {5}, 2816 + 20, 2816 + 400},
    {"particles", "split(id vel|mass pos)", "vel[2]", {2}, 2 * 16 + 12, 1792 + 1600},
    {"particles", "split(id vel|mass pos)", "pos[0]", {2}, 1792 + 2 * 16 + 4, 1792 + 1600},
    {"particles", "split(aos(align=16): vel|soa: pos id|mass)", "vel[1]", {7}, 7 * 16 + 4, 3840 + 400},
    /* the first group has 1600 bytes; soa's columns start on 1792, 2304, 2816, 3328 */
    {"particles", "split(aos(align=16): vel|soa: pos id|mass)", "pos[2]", {7}, 1792 + 1024 + 28, 3840 + 400},
    {"particles", "split(aos(align=16): vel|soa: pos id|mass)", "id", {7}, 1792 + 1536 + 28, 3840 + 400},
    {"particles", "split(aos(align=16): vel|soa: pos id|mass)", "mass", {99}, 3840 + 396, 3840 + 400},
    /* tiles of 32: 12 * 32 = 384 bytes, four of them; then from 1536 on */
    {"particles", "split(aosoa(32): vel|pos mass id)", "vel[1]", {33}, 384 + 128 + 4, 1536 + 2000},
    {"particles", "split(aosoa(32): vel|pos mass id)", "pos[1]", {33}, 1536 + 33 * 20 + 4, 1536 + 2000},
    {"holes", "aos", "y", {1}, 24 + 16, 240},
    {"holes", "aos(reorder)", "x", {1}, 16, 160},
    {"holes", "aos(reorder)", "y", {1}, 16 + 8, 160},
    {"holes", "aos(reorder)", "flag", {1}, 16 + 10, 160},
    {"holes", "aos(align=32 reorder)", "flag", {1}, 32 + 10, 320},
    {"holes", "split(x|flag y)", "y", {2}, 256 + 2 * 4 + 2, 256 + 40},
    {"holes", "split(x|aos(reorder): flag y)", "y", {2}, 0, 0},
    {"packets", "aos", "word", {2}, 11, 50},
    {"packets", "split(word tag)", "tag", {2}, 14, 50},
    {"packets", "split(word|tag)", "tag", {2}, 64 + 2, 64 + 10},
    {"packets", "soa", "word", {2}, 32 + 8, 32 + 40},
    {"packets", "aosoa(4)", "word", {5}, 20 + 4 + 4, 60},
    {"nodes", "split(box.lo id|box.hi child)", "box.lo.y", {3}, 3 * 16 + 4, 256 + 160},
    {"nodes", "split(box.lo id|box.hi child)", "box.hi.z", {3}, 256 + 3 * 16 + 8, 256 + 160},
    {"words", "soa", "", {3}, 12, 40},
    {"tagged", "split(value|kind)", "value", {3}, 12, 256 + 10},
    {"tagged", "split(value|kind)", "kind", {3}, 256 + 3, 256 + 10},
    {"grid", "row-major", "", {3, 4}, (3 * 20 + 4) * 4, 800},
    {"grid", "column-major", "", {3, 4}, (3 + 4 * 10) * 4, 800},
    {"grid", "pitch(96)", "", {3, 4}, 3 * 96 + 16, 960},
    /* 3 x 3 tiles of 4 x 8: tile (1, 2) is number 5, place (2, 3) in it is 19 */
    {"grid", "tiled(4 8)", "", {6, 19}, (5 * 32 + 19) * 4, 9 * 32 * 4},
    {"grid", "tiled(3 7)", "", {9, 13}, ((3 * 3 + 1) * 21 + 6) * 4, 12 * 21 * 4},
    {"grid", "tiled(1 4096)", "", {9, 13}, (9 * 4096 + 13) * 4, 10 * 4096 * 4},
    {"grid", "tiled(16 1)", "", {9, 13}, (13 * 16 + 9) * 4, 20 * 16 * 4},
    {"grid", "soa", "", {3, 4}, 64 * 4, 800},
    {"grid", "aosoa(32)", "", {3, 4}, 64 * 4, 7 * 128},
    {"space", "column-major", "", {1, 2, 3}, (1 + 3 * (2 + 5 * 3)) * 8, 840},
    {"space", "pitch(64)", "", {1, 2, 3}, (1 * 5 + 2) * 64 + 24, 960},
    /* 2 x 3 x 2 tiles of 2 x 2 x 4: tile (1, 1, 1) is number 9, place (0, 1, 2) is 6 */
    {"space", "tiled(2 2 4)", "", {2, 3, 6}, (9 * 16 + 6) * 8, 12 * 16 * 8},
    {"rows", "row-major", "", {3, 4}, 3 * 128 + 16, 1280},
    {"rows", "pitch(80)", "", {3, 4}, 3 * 80 + 16, 800},
};

static size_t find_leaf(const struct mapping *mapping, const char *path)
{
    const struct record *record = mapping->array->record;
    size_t leaf = 0;
    while (leaf < record->leaf_count && strcmp(record->leaves[leaf].path, path) != 0)
        leaf++;
    ck_assert_msg(leaf < record->leaf_count, "no leaf '%s'", path);
    return leaf;
}

/* A row without bytes is a layout that does not apply. */
START_TEST(puts_bytes)
{
    struct fixture f;
    const char *reason = NULL;
    open_fixture(&f);
    const struct mapping *mapping = map(&f, places[_i].array, places[_i].layout, &reason);
    ck_assert_msg((mapping != NULL) == (places[_i].bytes != 0), "row %d: '%s': %s", _i, places[_i].layout, reason);
    if (mapping != NULL) {
        uint64_t place = layout_address(mapping, find_leaf(mapping, places[_i].leaf), places[_i].index);
        ck_assert_msg(place == places[_i].place, "row %d: '%s': %" PRIu64, _i, places[_i].layout, place);
        ck_assert_msg(mapping->bytes == places[_i].bytes, "row %d: '%s': %" PRIu64 " bytes", _i, places[_i].layout,
                      mapping->bytes);
    }
    arena_free(&f.arena);
}
END_TEST

/* No two bytes of an array share a place, and all are inside its storage, under every layout of the table above. */
START_TEST(keeps_bytes_apart)
{
    struct fixture f;
    const char *reason = NULL;
    open_fixture(&f);
    const struct mapping *mapping = map(&f, places[_i].array, places[_i].layout, &reason);
    const struct array *array = find_array(&f, places[_i].array);
    bool *taken = arena_array(&f.arena, mapping == NULL ? 1 : mapping->bytes, sizeof(*taken));
    for (uint64_t n = 0; n < array->records && mapping != NULL; n++) {
        int64_t index[SPEC_DIMS_MAX] = {0};
        uint64_t rest = n;
        for (unsigned d = array->dim_count; d-- > 0; rest /= array->extent[d])
            index[d] = (int64_t)(rest % array->extent[d]);
        for (size_t leaf = 0; leaf < array->record->leaf_count; leaf++) {
            uint64_t place = layout_address(mapping, leaf, index), size = array->record->leaves[leaf].size;
            ck_assert_msg(place + size <= mapping->bytes, "row %d: record %" PRIu64 ", leaf %zu", _i, n, leaf);
            for (uint64_t i = 0; i < size; i++) {
                ck_assert_msg(!taken[place + i], "row %d: record %" PRIu64 ", leaf %zu", _i, n, leaf);
                taken[place + i] = true;
            }
        }
    }
    arena_free(&f.arena);
}
END_TEST

static const struct {
    const char *array, *layout;
    const char *reason; /* a part of it */
} refused[] = {
    {"particles", "aos(align=4)", "records are aligned to 4 bytes already"},
    {"particles", "aos(reorder)", "take 32 bytes, as they do in their own order"},
    {"packets", "aos(reorder)", "take 5 bytes"},
    {"words", "aos(reorder)", "no fields to put in another order"},
    {"particles", "row-major", "the array has one dimension"},
    {"particles", "column-major", "the array has one dimension"},
    {"particles", "pitch(4096)", "the array has one dimension"},
    {"particles", "tiled(2 2)", "the array has one dimension"},
    {"grid", "tiled(2 2 2)", "its tiles have 3 sides, the array has 2 dimensions"},
    {"space", "tiled(2 2)", "its tiles have 2 sides, the array has 3 dimensions"},
    {"grid", "pitch(76)", "a row of such records is longer than the pitch"},
    {"grid", "pitch(82)", "no multiple of the record's alignment, 4 bytes"},
    {"rows", "column-major", "the array has a pitch"},
    {"rows", "tiled(2 2)", "the array has a pitch"},
    {"rows", "soa", "the array has a pitch"},
    {"rows", "aosoa(8)", "the array has a pitch"},
    {"words", "split(f|b)", "'Word' is no struct with fields to split"},
    {"grid", "split(x)", "'float' is no struct with fields to split"},
    {"particles", "split(pos vel|mass)", "'id' is in no group"},
    {"particles", "split(pos vell|mass id)", "'Particle' has no field 'vell'; did you mean 'vel'?"},
    {"particles", "split(pos.x|vel mass id)", "'pos' is no single struct"},
    {"nodes", "split(box|box.lo child id)", "'box.lo.x' is in two groups"},
    {"nodes", "split(box.lo|child id)", "'box.hi.x' is in no group"},
    {"nodes", "split(box.mid|child id)", "'Box' has no field 'mid'"},
    {"tagged", "split(value.f|kind)", "'value' is no single struct"},
    {"particles", "split(aos(align=4): pos|vel mass id)", "records are aligned to 4 bytes already"},
    {"particles", "split(aos(reorder): pos|vel mass id)", "take 12 bytes"},
};

START_TEST(says_why_not)
{
    struct fixture f;
    const char *reason = NULL;
    open_fixture(&f);
    ck_assert_ptr_null(map(&f, refused[_i].array, refused[_i].layout, &reason));
    ck_assert_msg(reason != NULL && strstr(reason, refused[_i].reason) != NULL, "row %d: '%s'", _i, reason);
    arena_free(&f.arena);
}
END_TEST

START_TEST(describes_groups)
{
    struct fixture f;
    const char *reason = NULL;
    open_fixture(&f);
    const struct mapping *mapping = map(&f, "nodes", "split(box.hi id|soa: box.lo child)", &reason);
    ck_assert_ptr_nonnull(mapping);
    ck_assert_uint_eq(mapping->group_count, 2);
    ck_assert_uint_eq(mapping->record_stride, 0);
    const struct group *group = &mapping->groups[0];
    ck_assert_uint_eq(group->record_stride, 16);
    ck_assert_uint_eq(group->member_count, 2);
    ck_assert_str_eq(group->members[0].path, "box.hi");
    ck_assert_uint_eq(group->members[0].leaf, 3);
    ck_assert_uint_eq(group->members[0].leaf_count, 3);
    ck_assert_uint_eq(group->members[1].offset, 12);
    ck_assert_uint_eq(mapping->groups[1].record_stride, 0);
    ck_assert_uint_eq(mapping->groups[1].offset, 256);
    ck_assert(!group->packed);
    mapping = map(&f, "packets", "split(word tag)", &reason);
    ck_assert_uint_eq(mapping->record_stride, 5);
    ck_assert(mapping->groups[0].packed);
    arena_free(&f.arena);
}
END_TEST

static const struct {
    const char *array, *layout;
    bool described;
} as_described[] = {
    {"particles", "aos", true},       {"particles", "soa", false},   {"particles", "split(pos vel mass id)", true},
    {"holes", "aos(reorder)", false}, {"grid", "row-major", true},   {"grid", "column-major", false},
    {"grid", "pitch(80)", false},     {"grid", "tiled(2 2)", false}, {"rows", "row-major", true},
    {"rows", "pitch(80)", false},     {"rows", "pitch(128)", true},  {"holes", "aos(align=32)", false},
};

START_TEST(knows_the_described)
{
    struct fixture f;
    const char *reason = NULL;
    open_fixture(&f);
    const struct mapping *mapping = map(&f, as_described[_i].array, as_described[_i].layout, &reason);
    ck_assert_msg(mapping != NULL && layout_is_described(mapping) == as_described[_i].described, "row %d", _i);
    arena_free(&f.arena);
}
END_TEST

Suite *layout_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *all = tcase_create("layout");
    tcase_add_loop_test(all, puts_bytes, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_loop_test(all, keeps_bytes_apart, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_loop_test(all, says_why_not, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(all, describes_groups);
    tcase_add_loop_test(all, knows_the_described, 0, sizeof(as_described) / sizeof(as_described[0]));
    suite_add_tcase(suite, all);
    return suite;
}
