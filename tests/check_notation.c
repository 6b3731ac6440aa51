#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "diag.h"
#include "notation.h"
#include "text.h"

struct fixture {
    struct arena arena;
    struct diags diags;
    struct candidate candidate;
    bool has_plan;
    bool good;
};

static void parse(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    f->diags.arena = &f->arena;
    const struct source *source = source_from_bytes(&f->arena, "t", text, strlen(text));
    struct quoted quoted = {source->bytes, {source, 0, source->length}};
    f->good = notation_parse(&f->candidate, &f->has_plan, &f->arena, &quoted, &f->diags);
}

static const struct {
    const char *text, *canonical;
} accepted[] = {
    {"aos", "aos/direct"},
    {"aos/direct", "aos/direct"},
    {" aos / direct ", "aos/direct"},
    {"aos(align=16)/vector", "aos(align=16)/vector"},
    {"aos ( align = 0x10 ) / vector", "aos(align=16)/vector"},
    {" aos/ shuffle", "aos/shuffle"},
    {"aos(align=2)", "aos(align=2)/direct"},
    {"aos(align=256)", "aos(align=256)/direct"},
    {"aos(reorder)/vector", "aos(reorder)/vector"},
    {"aos( reorder align = 16 )", "aos(align=16 reorder)/direct"},
    {"split(box.lo id | aos(reorder): box.hi a.b.c)", "split(box.lo id|aos(reorder):box.hi a.b.c)/direct"},
    {"soa/wide(4)", "soa/wide(4)"},
    {"soa/\twide\n( 4 )", "soa/wide(4)"},
    {"aosoa(32)", "aosoa(32)/direct"},
    {"aosoa(1)/direct", "aosoa(1)/direct"},
    {"aosoa(65536)/wide(4)", "aosoa(65536)/wide(4)"},
    {"split(pos vel | mass id)", "split(pos vel|mass id)/direct"},
    {"split(aosoa(32): pos | soa : id)/vector", "split(aosoa(32):pos|soa:id)/vector"},
    {"split(aos: pos|aos(align=8):id)", "split(pos|aos(align=8):id)/direct"},
    {"split(aos soa|tiled)", "split(aos soa|tiled)/direct"},
    {"split(aosoa|split)", "split(aosoa|split)/direct"},
    {"split(a)", "split(a)/direct"},
    {"row-major/staged", "row-major/staged"},
    {"row-major/staged(pad=0)", "row-major/staged"},
    {"row-major/staged( pad = 1 )", "row-major/staged(pad=1)"},
    {"row-major/staged(pad=64)", "row-major/staged(pad=64)"},
    {"row-major/staged(swizzle)", "row-major/staged(swizzle)"},
    {"column-major", "column-major/direct"},
    {"pitch(4096)", "pitch(4096)/direct"},
    {"pitch(9223372036854775807)", "pitch(9223372036854775807)/direct"},
    {"tiled(32 32)", "tiled(32 32)/direct"},
    {"tiled(4 8  16)/direct", "tiled(4 8 16)/direct"},
};

START_TEST(accepts)
{
    struct fixture f;
    parse(&f, accepted[_i].text);
    ck_assert_msg(f.good && f.diags.count == 0, "row %d: '%s' is refused: %s", _i, accepted[_i].text,
                  f.diags.count > 0 ? f.diags.items[0].message : "without a word");
    ck_assert_msg(strcmp(f.candidate.text, accepted[_i].canonical) == 0, "row %d: '%s' gives '%s', not '%s'", _i,
                  accepted[_i].text, f.candidate.text, accepted[_i].canonical);
    ck_assert_msg(f.has_plan == (strchr(accepted[_i].text, '/') != NULL), "row %d: has_plan", _i);
    arena_free(&f.arena);
}
END_TEST

/* What is printed reads back as the same candidate, and prints the same again. */
START_TEST(canonical_text_reads_back)
{
    struct fixture f, again;
    parse(&f, accepted[_i].text);
    parse(&again, f.candidate.text);
    ck_assert_msg(again.good && again.has_plan, "row %d: '%s'", _i, f.candidate.text);
    ck_assert_msg(strcmp(f.candidate.text, again.candidate.text) == 0, "row %d: '%s' gives '%s'", _i, f.candidate.text,
                  again.candidate.text);
    ck_assert_msg(notation_same_layout(&f.candidate.layout, &again.candidate.layout), "row %d: layouts differ", _i);
    ck_assert_msg(strncmp(notation_layout(&f.arena, &f.candidate.layout), f.candidate.text,
                          strlen(notation_layout(&f.arena, &f.candidate.layout))) == 0,
                  "row %d: notation_layout", _i);
    arena_free(&f.arena);
    arena_free(&again.arena);
}
END_TEST

static const struct {
    const char *text;
    size_t offset, length; /* of the place */
    const char *message;   /* a part of it */
    const char *note;      /* a part of it; NULL: there is none */
} refused[] = {
    {"", 0, 1, "a layout is missing at the end", NULL},
    {"  ", 2, 1, "a layout is missing at the end", NULL},
    {"/direct", 0, 1, "unexpected '/' where a layout should be", NULL},
    {"12", 0, 2, "unexpected '12' where a layout should be", NULL},
    {"aso/direct", 0, 3, "unknown layout 'aso'", "did you mean 'aos'?"},
    {"SoA", 0, 3, "unknown layout 'SoA'", "did you mean 'soa'?"},
    {"row_major", 0, 9, "unknown layout 'row_major'", "did you mean 'row-major'?"},
    {"columns", 0, 7, "unknown layout 'columns'", "layouts are aos, soa"},
    {"vector", 0, 6, "unknown layout 'vector'", "'vector' is a plan, which follows a layout: 'aos/vector'"},
    {"aos/", 4, 1, "a plan is missing at the end", NULL},
    {"aos/4", 4, 1, "unexpected '4' where a plan should be", NULL},
    {"aos/driect", 4, 6, "unknown plan 'driect'", "did you mean 'direct'?"},
    {"aos/coalesced", 4, 9, "unknown plan 'coalesced'", "plans are direct, vector, shuffle, wide(4) and staged"},
    {"aos/direct/vector", 10, 1, "unexpected '/' where the end should be", NULL},
    {"aos direct", 4, 6, "unexpected 'direct' where '/' and a plan, or the end, should be", NULL},
    {"aos/direct(4)", 10, 1, "'direct' takes nothing in parentheses", NULL},
    {"soa(4)", 3, 1, "'soa' takes nothing in parentheses", NULL},
    {"aos(16)", 4, 2, "unexpected '16' where 'align=' or 'reorder' should be", NULL},
    {"aos()", 4, 1, "unexpected ')' where 'align=' or 'reorder' should be", NULL},
    {"aos(reorder", 11, 1, "')' is missing at the end", NULL},
    {"aos(reorder reorder)", 12, 7, "'reorder' is there twice", NULL},
    {"aos(align=8 reorder align=16)", 20, 5, "'align' is there twice", NULL},
    {"aos(sorted)", 4, 6, "unexpected 'sorted' where 'align=' or 'reorder' should be", NULL},
    {"aos(align 16)", 10, 2, "unexpected '16' where '=' should be", NULL},
    {"aos(align=)", 10, 1, "unexpected ')' where a number should be", NULL},
    {"aos(align=16", 12, 1, "')' is missing at the end", NULL},
    {"aos(align=12)", 10, 2, "an alignment of '12' is not a power of two", "did you mean 8 or 16?"},
    {"aos(align=1)", 10, 1, "an alignment of '1' is not between 2 and 256", NULL},
    {"aos(align=512)", 10, 3, "an alignment of '512' is not between 2 and 256", NULL},
    {"aosoa", 0, 5, "'aosoa' needs something in parentheses", "for instance 'aosoa(32)'"},
    {"aosoa/direct", 0, 5, "'aosoa' needs something in parentheses", "for instance 'aosoa(32)'"},
    {"aosoa(24)", 6, 2, "a tile of '24' is not a power of two", "by a shift and a mask; did you mean 16 or 32?"},
    {"aosoa(0)", 6, 1, "a tile of '0' is not between 1 and 65536", NULL},
    {"aosoa(131072)", 6, 6, "a tile of '131072' is not between 1 and 65536", NULL},
    {"aosoa(99999999999999999999999999)", 6, 26, "is not between 1 and 65536", NULL},
    {"aosoa(18446744073709551648)", 6, 20, "is not between 1 and 65536", NULL},
    {"aosoa(032)", 6, 3, "number '032' begins with 0", NULL},
    {"aosoa(-32)", 6, 1, "unexpected '-' where a number should be", NULL},
    {"aosoa(32k)", 8, 1, "unexpected 'k' where ')' should be", NULL},
    {"soa/wide", 4, 4, "'wide' needs something in parentheses", "for instance 'wide(4)'"},
    {"soa/wide(2)", 9, 1, "a thread does 4 neighbouring records, not '2'", "did you mean 'wide(4)'?"},
    {"row-major/staged(pad=65)", 21, 2, "a pad of '65' is not between 0 and 64", NULL},
    {"row-major/staged(1)", 17, 1, "unexpected '1' where 'pad=' or 'swizzle' should be", NULL},
    {"row-major/staged(pad=1 swizzle)", 23, 7, "unexpected 'swizzle' where ')' should be", NULL},
    {"pitch(0)", 6, 1, "a pitch of '0' is not between 1 and", NULL},
    {"pitch(9223372036854775808)", 6, 19, "a pitch of '9223372036854775808' is not between", NULL},
    {"tiled(32)", 8, 1, "unexpected ')' where a number should be", NULL},
    {"tiled(32 0)", 9, 1, "a tile's side of '0' is not between 1 and 65536", NULL},
    {"tiled(2 2 2 2)", 12, 1, "unexpected '2' where ')' should be", NULL},
    {"tiled(32,32)", 8, 1, "unexpected ',' where a number should be", NULL},
    {"split", 0, 5, "'split' needs something in parentheses", "for instance 'split(pos vel|mass)'"},
    {"split()", 6, 1, "unexpected ')' where a field should be", NULL},
    {"split(a|)", 8, 1, "unexpected ')' where a field should be", NULL},
    {"split(a||b)", 8, 1, "unexpected '|' where a field should be", NULL},
    {"split(a|soa:)", 12, 1, "unexpected ')' where a field should be", NULL},
    {"split(a b|c a)", 12, 1, "field 'a' is named twice", NULL},
    {"split(a.b c a.b)", 12, 3, "field 'a.b' is named twice", NULL},
    {"split(a.1|c)", 7, 1, "unexpected '.' where a field should be", NULL},
    {"split(a, b)", 7, 1, "unexpected ',' where a field should be", NULL},
    {"split(a", 7, 1, "a field is missing at the end", NULL},
    {"split(row-major: a)", 6, 9, "a group's layout is aos, soa or aosoa, not 'row-major'", NULL},
    {"split(split(a): b)", 6, 5, "a group's layout is aos, soa or aosoa, not 'split'", NULL},
    {"split(sao: a)", 6, 3, "unknown layout 'sao'", "did you mean 'soa'?"},
    {"split(soa(: a)", 9, 1, "'soa' takes nothing in parentheses", NULL},
    {"aos\xc3\xa4", 3, 2, "unexpected '\xc3\xa4' where", NULL},
};

START_TEST(refuses)
{
    struct fixture f;
    parse(&f, refused[_i].text);
    ck_assert_msg(!f.good && f.diags.count == 1, "row %d: '%s' has %zu errors", _i, refused[_i].text, f.diags.count);
    const struct diag *item = &f.diags.items[0];
    ck_assert_msg(strcmp(item->id, "notation") == 0, "row %d: [%s]", _i, item->id);
    ck_assert_msg(strstr(item->message, refused[_i].message) != NULL, "row %d: '%s': '%s'", _i, refused[_i].text,
                  item->message);
    ck_assert_msg(item->where.offset == refused[_i].offset && item->where.length == refused[_i].length,
                  "row %d: '%s': at %zu, %zu long", _i, refused[_i].text, item->where.offset, item->where.length);
    if (refused[_i].note == NULL)
        ck_assert_msg(item->note == NULL, "row %d: '%s': note '%s'", _i, refused[_i].text, item->note);
    else
        ck_assert_msg(item->note != NULL && strstr(item->note, refused[_i].note) != NULL, "row %d: '%s': note '%s'", _i,
                      refused[_i].text, item->note == NULL ? "" : item->note);
    arena_free(&f.arena);
}
END_TEST

START_TEST(fills_the_tree)
{
    struct fixture f;
    parse(&f, "split(aosoa(8): pos vel | mass | soa: id)/staged(pad=3)");
    ck_assert(f.good && f.has_plan);
    ck_assert_int_eq(f.candidate.plan.kind, PLAN_STAGED);
    ck_assert_uint_eq(f.candidate.plan.pad, 3);
    const struct split_group *group = f.candidate.layout.groups;
    ck_assert(group->named);
    ck_assert_int_eq(group->layout.kind, LAYOUT_AOSOA);
    ck_assert_uint_eq(group->layout.tile, 8);
    ck_assert_uint_eq(group->field_count, 2);
    ck_assert_str_eq(group->fields[1], "vel");
    ck_assert(!group->next->named);
    ck_assert_int_eq(group->next->layout.kind, LAYOUT_AOS);
    ck_assert_str_eq(group->next->next->fields[0], "id");
    ck_assert_ptr_null(group->next->next->next);
    arena_free(&f.arena);
    parse(&f, "tiled(4 8)/wide(4)");
    ck_assert_uint_eq(f.candidate.layout.tiled_count, 2);
    ck_assert_uint_eq(f.candidate.layout.tiled[0], 4);
    ck_assert_uint_eq(f.candidate.layout.tiled[1], 8);
    ck_assert_uint_eq(f.candidate.plan.records, 4);
    arena_free(&f.arena);
}
END_TEST

/* Texts of many megabytes end at once: no recursion, and nothing quadratic without a bound. */
static void parse_repeated(const char *head, const char *piece, size_t times)
{
    struct text text = {0};
    text_puts(&text, head);
    for (size_t i = 0; i < times; i++)
        text_puts(&text, piece);
    struct fixture f;
    parse(&f, text_string(&text));
    ck_assert(!f.good && f.diags.count == 1);
    ck_assert_uint_lt(strlen(f.diags.items[0].message), 200);
    arena_free(&f.arena);
    text_free(&text);
}

START_TEST(bounds_what_is_long)
{
    parse_repeated("split(", "split(", 100000);
    parse_repeated("", "x", 1000000);
    parse_repeated("aosoa(", "9", 1000000);
    struct text text = {0};
    for (unsigned i = 0; i < 100000; i++)
        text_printf(&text, " f%u", i);
    parse_repeated("split(", text_string(&text), 1);
    text_free(&text);
}
END_TEST

static const struct {
    const char *a, *b;
    bool same;
} pairs[] = {
    {"aos", "aos/vector", true},
    {"aos", "aos(align=16)", false},
    {"aosoa(32)", "aosoa(64)", false},
    {"soa", "aos", false},
    {"pitch(4)", "pitch(8)", false},
    {"tiled(4 4)", "tiled(4 4 4)", false},
    {"tiled(4 4)", "tiled(4 8)", false},
    {"split(a b|c)", "split(a b | c)", true},
    {"split(a b|c)", "split(a|b c)", false},
    {"split(a b|c)", "split(a b|d)", false},
    {"split(a b|c)", "split(a b|c|d)", false},
    {"split(a b|c)", "split(soa: a b|c)", false},
    {"split(aos: a b|c)", "split(a b|c)", true},
};

START_TEST(compares_layouts)
{
    struct fixture a, b;
    parse(&a, pairs[_i].a);
    parse(&b, pairs[_i].b);
    ck_assert(a.good && b.good);
    ck_assert_msg(notation_same_layout(&a.candidate.layout, &b.candidate.layout) == pairs[_i].same,
                  "row %d: '%s', '%s'", _i, pairs[_i].a, pairs[_i].b);
    ck_assert_msg(notation_same_layout(&b.candidate.layout, &a.candidate.layout) == pairs[_i].same, "row %d, swapped",
                  _i);
    arena_free(&a.arena);
    arena_free(&b.arena);
}
END_TEST

Suite *notation_suite(void)
{
    Suite *suite = suite_create("notation");
    TCase *tcase = tcase_create("notation");
    tcase_add_loop_test(tcase, accepts, 0, sizeof(accepted) / sizeof(accepted[0]));
    tcase_add_loop_test(tcase, canonical_text_reads_back, 0, sizeof(accepted) / sizeof(accepted[0]));
    tcase_add_loop_test(tcase, refuses, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(tcase, fills_the_tree);
    tcase_add_test(tcase, bounds_what_is_long);
    tcase_add_loop_test(tcase, compares_layouts, 0, sizeof(pairs) / sizeof(pairs[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}
