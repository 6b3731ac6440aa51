#include "diff.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mangle.h"
#include "random_spec.h"
#include "read.h"

/* A description with one place to be filled in, of parts that the rows below change. */
static const char frame[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"a\">\n"
                            "  <param name=\"N\" value=\"4096\"/>\n"
                            "  <param name=\"W\" value=\"4\"/>\n"
                            "  <table name=\"t\" extent=\"4\">3 1 2 0</table>\n"
                            "  <struct name=\"S\"><field name=\"x\" type=\"float\" count=\"2\"/>"
                            "<field name=\"y\" type=\"float\"/></struct>\n"
                            "  <array name=\"s\" of=\"S\" extent=\"2 * N\"/>\n"
                            "  <kernel name=\"k\" block=\"256\" grid=\"N / 256\">\n%s\n  </kernel>\n</layout>\n";

#define READ(index) "<read array=\"s\" field=\"x\" index=\"" index "\"/>"

static const struct {
    const char *before, *after;
    unsigned changes;
} rows[] = {
    {"", "", 0},
    {"", READ("thread"), 1},
    {READ("thread"), READ("thread"), 0},
    {READ("thread"), READ("blockIdx.x * 256 + threadIdx.x"), 0},
    {READ("thread"), READ("threadIdx.x + (blockDim.x * blockIdx.x)"), 0},
    {READ("thread"), READ("threadIdx.x + 255 * blockIdx.x"), 1},
    {READ("thread + 2 * W"), READ("8 + thread"), 0},
    {READ("thread + 2 * W"), READ("9 + thread"), 1},
    {READ("4 * (thread % 8 + 1) - thread % 8"), READ("3 * (thread % 8) + W"), 0},
    {READ("thread % 8 shl 2"), READ("thread % 8 * 4"), 0},
    {READ("min(thread, 7)"), READ("min(7, thread)"), 0},
    {READ("t[thread % 4]"), READ("t[thread % W]"), 0},
    {READ("t[1]"), READ("1"), 0},
    {READ("t[0]"), READ("1"), 1},
    {READ("thread lt 9"), READ("9 > thread"), 0},
    {READ("thread lt 9"), READ("9 >= thread"), 1},
    {READ("thread lt 9 ? thread : 0"), READ("thread lt 9 ? thread : W"), 1},
    {READ("thread / 2"), READ("thread / 3"), 1},
    {READ("thread"), "<let name=\"i\" value=\"thread\"/>" READ("i"), 0},
    {READ("thread * 2"), "<let name=\"i\" value=\"thread\"/><let name=\"j\" value=\"i + i\"/>" READ("j"), 0},
    {"<let name=\"i\" value=\"thread\"/>" READ("i"), "<let name=\"i\" value=\"thread + 1\"/>" READ("i"), 1},
    {"<for var=\"i\" to=\"4\">" READ("i") "</for>", "<for var=\"j\" from=\"0\" to=\"W\" step=\"1\">" READ("j") "</for>",
     0},
    {"<for var=\"i\" to=\"4\">" READ("i") "</for>", "<for var=\"i\" to=\"5\">" READ("i") "</for>", 1},
    {"<for var=\"i\" to=\"4\">" READ("i") "</for>", "<for var=\"i\" while=\"i lt 4\">" READ("i") "</for>", 1},
    /* The same names of other things. */
    {"<for var=\"i\" to=\"4\"><for var=\"j\" to=\"4\">" READ("i") "</for></for>",
     "<for var=\"j\" to=\"4\"><for var=\"i\" to=\"4\">" READ("i") "</for></for>", 1},
    {READ("0") READ("1"), READ("0"), 1},
    {READ("0"), READ("0") READ("1"), 1},
    {READ("0") READ("1"), READ("1") READ("0"), 2},
    {READ("0"), "<if test=\"lane lt 4\">" READ("0") "</if>", 1},
    {"<if test=\"lane lt 4\">" READ("0") "</if><else>" READ("1") "</else>",
     "<if test=\"lane lt 4\">" READ("0") READ("1") "</if>", 2},
    {"<if test=\"lane lt 4\">" READ("0") READ("1") "</if>", "<if test=\"lane lt 4\">" READ("0") "</if>" READ("1"), 1},
    {READ("0"), "<read array=\"s\" field=\"x[0] x[1]\" index=\"0\"/>", 0},
    {READ("0"), "<read array=\"s\" field=\"x[1]\" index=\"0\"/>", 1},
    {"<read array=\"s\" field=\"x[lane % 2]\" index=\"0\"/>",
     "<read array=\"s\" field=\"x[lane % (W - 2)]\" index=\"0\"/>", 0},
    {"<read array=\"s\" field=\"x[lane % 2]\" index=\"0\"/>",
     "<read array=\"s\" field=\"x[1 - lane % 2]\" index=\"0\"/>", 1},
    {READ("0"), "<update array=\"s\" field=\"x\" index=\"0\"/>", 1},
};

static const struct spec *load(struct arena *arena, const struct device *device, const char *bytes, size_t length)
{
    struct diags diags = {.arena = arena};
    struct spec *spec = read_spec(arena, source_from_bytes(arena, "a", bytes, length), &diags);
    bool good = spec != NULL && check_spec(spec, arena, device, NULL, 0, &diags);
    struct text text = {0};
    diag_render(&diags, &text, false);
    ck_assert_msg(good, "%s\n%s", text_string(&text), bytes);
    text_free(&text);
    return spec;
}

static const struct device *load_device(struct arena *arena)
{
    struct diags diags = {.arena = arena};
    return device_load(arena, "h200", &diags);
}

static const char *tell(struct arena *arena, const struct difference *difference)
{
    const char *text = "";
    for (size_t i = 0; i < difference->change_count; i++) {
        const struct change *change = &difference->changes[i];
        const struct aspect *aspect = &change->aspects[0];
        text = arena_printf(arena, "%s%s %s: %s\n", text, change->of, change->name,
                            change->aspect_count > 0 ? aspect->what : "");
    }
    return text;
}

static const struct {
    const char *before, *after;
    size_t changes;
} members[] = {
    {"type=\"int\"", "type=\"int32\" count=\"1\"", 0},
    {"type=\"unsigned\" count=\"2 3\"", "type=\"uint32\" count=\"2 3\"", 0},
    {"type=\"int\" count=\"2 3\"", "type=\"int\" count=\"3 2\"", 1},
    {"type=\"int\" count=\"6\"", "type=\"int\" count=\"6 1\"", 1},
    {"type=\"int\"", "type=\"uint32\"", 1},
};

static const char member_frame[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"t\"><struct name=\"S\">"
                                   "<field name=\"x\" %s/></struct><array name=\"s\" of=\"S\" extent=\"4\"/></layout>";

START_TEST(member_types)
{
    struct arena arena = {0};
    struct text before = {0}, after = {0};
    const struct device *device = load_device(&arena);
    text_printf(&before, member_frame, members[_i].before);
    text_printf(&after, member_frame, members[_i].after);
    const struct spec *a = load(&arena, device, text_string(&before), before.length);
    const struct spec *b = load(&arena, device, text_string(&after), after.length);
    const struct difference *difference = diff_specs(a, b, &arena);
    ck_assert_msg(difference->change_count == members[_i].changes, "%s\n%s\n%s", members[_i].before, members[_i].after,
                  tell(&arena, difference));
    text_free(&before);
    text_free(&after);
    arena_free(&arena);
}
END_TEST

START_TEST(bodies)
{
    struct arena arena = {0};
    struct text before = {0}, after = {0};
    const struct device *device = load_device(&arena);
    text_printf(&before, frame, rows[_i].before);
    text_printf(&after, frame, rows[_i].after);
    const struct spec *a = load(&arena, device, text_string(&before), before.length);
    const struct spec *b = load(&arena, device, text_string(&after), after.length);
    const struct difference *there = diff_specs(a, b, &arena), *back = diff_specs(b, a, &arena);
    ck_assert_msg(there->change_count == rows[_i].changes, "%s\n%s\n%s", rows[_i].before, rows[_i].after,
                  tell(&arena, there));
    ck_assert_msg(back->change_count == rows[_i].changes, "back: %s\n%s\n%s", rows[_i].before, rows[_i].after,
                  tell(&arena, back));
    text_free(&before);
    text_free(&after);
    arena_free(&arena);
}
END_TEST

static uint64_t random_count(void)
{
    const char *scale = getenv("SECTORWISE_TEST_SCALE");
    if (scale != NULL && strcmp(scale, "small") == 0)
        return 200;
    return scale != NULL && strcmp(scale, "medium") == 0 ? 2000 : 10000;
}

/* Another text of the same meaning has no difference, and every kernel and access is the one that it was. */
START_TEST(random_same)
{
    for (uint64_t seed = 0; seed < random_count(); seed++) {
        struct arena arena = {0};
        struct text xml = {0}, mangled = {0};
        const struct device *device = load_device(&arena);
        random_spec_write(&xml, seed, (enum random_kind)(seed % RANDOM_KINDS));
        mangle_write(&mangled, source_from_bytes(&arena, "a", text_string(&xml), xml.length), seed);
        const struct spec *a = load(&arena, device, text_string(&xml), xml.length);
        const struct spec *b = load(&arena, device, text_string(&mangled), mangled.length);
        const struct difference *difference = diff_specs(a, b, &arena);
        ck_assert_msg(difference->change_count == 0, "seed %llu: %s\n%s\n%s", (unsigned long long)seed,
                      tell(&arena, difference), text_string(&xml), text_string(&mangled));
        ck_assert_uint_eq(difference->kernel_count, a->kernel_count);
        for (size_t i = 0; i < difference->kernel_count; i++)
            for (unsigned n = 0; n < difference->kernels[i].before->access_count; n++)
                ck_assert_uint_eq(difference->kernels[i].access_after[n], n);
        text_free(&xml);
        text_free(&mangled);
        arena_free(&arena);
    }
}
END_TEST

/* Unlike descriptions differ both ways, and from none. */
START_TEST(random_other)
{
    for (uint64_t seed = 0; seed < random_count() / 10; seed++) {
        struct arena arena = {0};
        struct text xml = {0}, other = {0};
        const struct device *device = load_device(&arena);
        random_spec_write(&xml, seed, (enum random_kind)(seed % RANDOM_KINDS));
        random_spec_write(&other, seed + 1000000, (enum random_kind)(seed % RANDOM_KINDS));
        const struct spec *a = load(&arena, device, text_string(&xml), xml.length);
        const struct spec *b = load(&arena, device, text_string(&other), other.length);
        ck_assert_uint_gt(diff_specs(a, b, &arena)->change_count, 0);
        ck_assert_uint_gt(diff_specs(b, a, &arena)->change_count, 0);
        ck_assert_uint_eq(diff_specs(a, NULL, &arena)->kernel_count, a->kernel_count);
        text_free(&xml);
        text_free(&other);
        arena_free(&arena);
    }
}
END_TEST

/* Lets that double each other: put into each other they would be of 2^60 names. */
START_TEST(lets_do_not_explode)
{
    struct arena arena = {0};
    struct text body = {0}, other = {0}, before = {0}, after = {0};
    const struct device *device = load_device(&arena);
    text_puts(&body, "<let name=\"v0\" value=\"lane % 2\"/>");
    for (int i = 1; i < 60; i++)
        text_printf(&body, "<let name=\"v%d\" value=\"v%d * v%d\"/>", i, i - 1, i - 1);
    text_printf(&other, "%s" READ("v58 * v59"), text_string(&body));
    text_puts(&body, READ("v59 * v58"));
    text_printf(&before, frame, text_string(&body));
    text_printf(&after, frame, text_string(&other));
    const struct difference *difference = diff_specs(load(&arena, device, text_string(&before), before.length),
                                                     load(&arena, device, text_string(&after), after.length), &arena);
    ck_assert_uint_le(difference->change_count, 1);
    text_free(&body);
    text_free(&other);
    text_free(&before);
    text_free(&after);
    arena_free(&arena);
}
END_TEST

Suite *diff_suite(void);

Suite *diff_suite(void)
{
    Suite *suite = suite_create("diff");
    TCase *meaning = tcase_create("meaning");
    tcase_add_loop_test(meaning, bodies, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_loop_test(meaning, member_types, 0, sizeof(members) / sizeof(members[0]));
    tcase_add_test(meaning, random_same);
    tcase_add_test(meaning, random_other);
    tcase_add_test(meaning, lets_do_not_explode);
    suite_add_tcase(suite, meaning);
    return suite;
}
