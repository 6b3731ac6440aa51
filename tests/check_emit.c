#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "emit.h"
#include "emit_table.h"
#include "text.h"

static json_t *parse(const char *json)
{
    json_error_t error;
    json_t *value = json_loads(json, 0, &error);
    ck_assert_msg(value != NULL, "%d: %s", error.line, error.text);
    return value;
}

START_TEST(aligns_columns)
{
    struct arena arena = {0};
    struct emit_table table = {.arena = &arena};
    table_column(&table, "name", TABLE_LEFT, 0);
    table_column(&table, "count", TABLE_RIGHT, 0);
    table_column(&table, "empty", TABLE_LEFT, 0);
    table_column(&table, "note", TABLE_LEFT, 0);
    static const char *const cells[] = {"a", "1", "", "x", "longer", "1,234,567", "", "", "", "22", "", "yy"};
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        table_cell(&table, PAINT_NONE, cells[i]);
    struct text out = {0};
    table_print(&table, &out, 100, false);
    ck_assert_str_eq(text_string(&out), "  name        count  note\n"
                                        "  a               1  x\n"
                                        "  longer  1,234,567\n"
                                        "                 22  yy\n");
    text_free(&out);
    arena_free(&arena);
}
END_TEST

static const struct {
    size_t width;
    const char *title; /* the line of titles */
} widths[] = {
    {100, "  first  second  third  fourth"},
    {30, "  first  second  third  fourth"},
    {29, "  first  second  fourth"},
    {22, "  first  second"},
    {1, "  first"},
};

START_TEST(leaves_out_what_matters_least)
{
    struct arena arena = {0};
    struct emit_table table = {.arena = &arena};
    table_column(&table, "first", TABLE_LEFT, 0);
    table_column(&table, "second", TABLE_LEFT, 1);
    table_column(&table, "third", TABLE_LEFT, 3);
    table_column(&table, "fourth", TABLE_LEFT, 2);
    for (size_t i = 0; i < 4; i++)
        table_cell(&table, PAINT_NONE, "x");
    struct text out = {0};
    table_print(&table, &out, widths[_i].width, false);
    ck_assert_uint_eq(strcspn(text_string(&out), "\n"), strlen(widths[_i].title));
    ck_assert(strncmp(text_string(&out), widths[_i].title, strlen(widths[_i].title)) == 0);
    text_free(&out);
    arena_free(&arena);
}
END_TEST

/* Colours change nothing but colours. */
START_TEST(paints_without_moving)
{
    struct arena arena = {0};
    struct emit_table table = {.arena = &arena};
    table_column(&table, "a", TABLE_LEFT, 0);
    table_column(&table, "b", TABLE_RIGHT, 0);
    table_cell(&table, PAINT_GOOD, "good");
    table_cell(&table, PAINT_POOR, "poor");
    struct text out = {0};
    table_print(&table, &out, 100, true);
    ck_assert_str_eq(text_string(&out), "  \033[1ma\033[0m        \033[1mb\033[0m\n"
                                        "  \033[32mgood\033[0m  \033[31mpoor\033[0m\n");
    text_free(&out);
    arena_free(&arena);
}
END_TEST

static const char score_view[] =
    "{\"format\": \"sectorwise-score-1\", \"layout\": \"demo\", \"device\": \"h200\", \"device_title\": \"NVIDIA "
    "H200\","
    " \"arrays\": [{\"name\": \"p\", \"of\": \"P\", \"space\": \"global\", \"records\": 1048576, \"record_bytes\": 32,"
    "   \"candidate\": \"aos/staged\", \"memory_bytes\": 33554432}],"
    " \"kernels\": [{\"name\": \"k\", \"calls\": 1, \"blocks\": 4096, \"threads\": 1048576, \"warps\": 32768,"
    "   \"shared_bytes\": 8192, \"accesses\": ["
    "     {\"array\": \"p\", \"field\": \"\", \"op\": \"read\", \"space\": \"global\", \"candidate\": \"aos/staged\","
    "      \"source_line\": 12, \"phase\": \"copy-in\", \"instructions\": 262144, \"requests\": 262144,"
    "      \"sectors\": 1048576, \"ideal_sectors\": 1048576, \"lines\": 262144, \"wavefronts\": 262144,"
    "      \"conflicts\": 0, \"sectors_per_request\": 4.0, \"efficiency\": 1.0},"
    "     {\"array\": \"p\", \"field\": \"x\", \"op\": \"read\", \"space\": \"shared\", \"candidate\": \"aos/staged\","
    "      \"source_line\": 12, \"instructions\": 32768, \"wavefronts\": 262144, \"conflicts\": 229376}],"
    "   \"arrays\": [{\"array\": \"p\", \"distinct_sectors\": 1048576, \"fill_sectors\": 0}]}]}";

START_TEST(shows_scores)
{
    json_t *view = parse(score_view);
    struct text out = {0};
    emit_score(&out, view, false);
    ck_assert_str_eq(text_string(&out),
                     "demo on NVIDIA H200, counts of one launch\n"
                     "  array  of    records  record bytes  candidate   space    memory\n"
                     "  p      P   1,048,576            32  aos/staged  global  33.6 MB\n"
                     "\n"
                     "kernel k: 4,096 blocks, 1,048,576 threads, 32,768 warps, 8,192 bytes of shared memory a block\n"
                     "  line  op       array  candidate   requests    sectors  sect/req  ideal  efficiency    lines\n"
                     "    12  copy-in  p      aos/staged   262,144  1,048,576      4.00   4.00     100.0 %  262,144\n"
                     "\n"
                     "  shared memory\n"
                     "  line  op       array  field  candidate   instructions  wavefronts  conflicts  ways\n"
                     "    12  copy-in  p             aos/staged       262,144     262,144          0  1.00\n"
                     "    12  read     p      x      aos/staged        32,768     262,144    229,376  8.00\n"
                     "\n"
                     "  array  distinct sectors    bytes  fill sectors\n"
                     "  p             1,048,576  33.6 MB             0\n");
    text_free(&out);
    json_decref(view);
}
END_TEST

static const char candidate_format[] =
    "{\"rank\": %d, \"arrays\": {\"a_long_array_name\": \"%s\", \"another_array\": \"%s\", \"kept\": \"aos/direct\"},"
    " \"default\": %s, \"time_us\": %g, \"ratio\": %g, \"bound_by\": \"requests-in-flight\", \"tie\": %s,"
    " \"memory_bytes\": 33554432, \"sectors\": 12345678, \"dram_bytes\": 50331648, \"wavefronts\": 0,"
    " \"sectors_per_request\": 12.5, \"efficiency\": 0.345, \"conversion_us\": 2400.0, \"pays_after_calls\": 12,"
    " \"kernels\": [{\"name\": \"k\", \"calls\": 10, \"time_us\": 3.0, \"bound_by\": \"dram\", \"sectors\": 1,"
    "   \"dram_read_bytes\": 999, \"dram_write_bytes\": 1}, {\"name\": \"l\", \"calls\": 1}]}";

static json_t *make_ranking(void)
{
    struct text text = {0};
    text_puts(&text, "{\"format\": \"sectorwise-rank-1\", \"layout\": \"demo\", \"device\": \"h200\","
                     " \"device_title\": \"NVIDIA H200\", \"candidate_count\": 1234, \"calls\": 11,"
                     " \"verdict\": \"do this\","
                     " \"arrays\": [{\"name\": \"a_long_array_name\"}, {\"name\": \"another_array\"},"
                     " {\"name\": \"kept\"}], \"candidates\": [");
    text_printf(&text, candidate_format, 1, "aosoa(32)/wide(4)", "row-major/staged(pad=1)", "false", 999.4, 1.0,
                "true");
    text_puts(&text, ", ");
    text_printf(&text, candidate_format, 2, "aos(align=16)/vector", "row-major/direct", "true", 2345.0, 2.35, "false");
    text_puts(&text, "]}");
    json_t *view = parse(text_string(&text));
    text_free(&text);
    return view;
}

/* However wide: a column that comes and goes cannot be looked for. */
START_TEST(shows_rankings_with_every_column)
{
    json_t *view = make_ranking();
    struct text out = {0};
    emit_rank(&out, view, false);
    const char *shown = text_string(&out);
    static const char *const parts[] = {"demo on NVIDIA H200, 1,234 candidates, the best first\n",
                                        "  rank  a_long_array_name     another_array            sect/req  efficiency",
                                        "DRAM  bound by      time  ratio   memory\n",
                                        "aosoa(32)/wide(4)",
                                        "row-major/staged(pad=1)",
                                        "    1=  aosoa",
                                        "in flight",
                                        "  = within 2 % of the best: a tie with it\n",
                                        "999 us",
                                        "2.35 ms",
                                        "  in all of these: kept aos/direct\n",
                                        "  ... and 1,232 more (--top N shows N of them)\n",
                                        "\nthe best, one launch of each kernel\n",
                                        "1.00 kB",
                                        "\nconverting from aos and back takes 2.40 ms and pays after 12 of 11 calls\n",
                                        "\ndo this\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        ck_assert_msg(strstr(shown, parts[i]) != NULL, "'%s' is not in\n%s", parts[i], shown);
    text_free(&out);
    json_decref(view);
}
END_TEST

START_TEST(shows_one_candidate_with_its_arrays)
{
    json_t *view = make_ranking();
    (void)json_array_remove(json_object_get(view, "candidates"), 1);
    struct text out = {0};
    emit_rank(&out, view, false);
    ck_assert_ptr_nonnull(strstr(text_string(&out), "another_array            kept        sect/req"));
    ck_assert_ptr_null(strstr(text_string(&out), "in all of"));
    text_free(&out);
    json_decref(view);
}
END_TEST

/* A view of another tool or version: keys may be missing, nothing may break. */
START_TEST(survives_an_empty_view)
{
    json_t *view = parse("{}");
    struct text out = {0};
    emit_score(&out, view, false);
    emit_rank(&out, view, true);
    ck_assert_ptr_nonnull(strstr(text_string(&out), " on "));
    text_free(&out);
    json_decref(view);
}
END_TEST

START_TEST(prints_json)
{
    json_t *view = parse("{\"b\": 1, \"a\": [1.5, \"x\", 0.1]}");
    struct text out = {0};
    emit_json(&out, view);
    ck_assert_str_eq(text_string(&out), "{\n  \"b\": 1,\n  \"a\": [\n    1.5,\n    \"x\",\n    0.1\n  ]\n}\n");
    text_free(&out);
    json_decref(view);
}
END_TEST

Suite *emit_suite(void)
{
    Suite *suite = suite_create("emit");
    TCase *tcase = tcase_create("emit");
    tcase_add_test(tcase, aligns_columns);
    tcase_add_loop_test(tcase, leaves_out_what_matters_least, 0, sizeof(widths) / sizeof(widths[0]));
    tcase_add_test(tcase, paints_without_moving);
    tcase_add_test(tcase, shows_scores);
    tcase_add_test(tcase, shows_rankings_with_every_column);
    tcase_add_test(tcase, shows_one_candidate_with_its_arrays);
    tcase_add_test(tcase, survives_an_empty_view);
    tcase_add_test(tcase, prints_json);
    suite_add_tcase(suite, tcase);
    return suite;
}
