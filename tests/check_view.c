#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "candidates.h"
#include "check.h"
#include "device.h"
#include "diag.h"
#include "emit.h"
#include "notation.h"
#include "rank.h"
#include "read.h"
#include "score.h"
#include "spec.h"
#include "view.h"
#include "view_verdict.h"

static const char two_arrays[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"demo\">\n"
                                 "  <struct name=\"R\"><field name=\"a\" type=\"float\" count=\"3\"/></struct>\n"
                                 "  <array name=\"p\" of=\"R\" extent=\"1024\"/>\n"
                                 "  <array name=\"q\" of=\"R\" extent=\"64 16\"/>\n"
                                 "  <kernel name=\"k\" block=\"256\" grid=\"4\" calls=\"10\">\n"
                                 "    <update array=\"p\" field=\"a\" index=\"thread\"/>\n"
                                 "    <read array=\"q\" index=\"thread / 16, thread % 16\"/>\n"
                                 "  </kernel>\n"
                                 "</layout>\n";

static const char pinned[] =
    "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"demo\">\n"
    "  <array name=\"p\" of=\"float\" extent=\"1024\" layout=\"soa\"/>\n"
    "  <kernel name=\"k\" block=\"256\" grid=\"4\"><read array=\"p\" index=\"thread\"/></kernel>\n"
    "</layout>\n";

/* A description that was read and checked; scores and rankings are made up by the tests. */
struct fixture {
    struct arena arena;
    struct diags diags;
    struct device device;
    struct spec *spec;
};

static void open_fixture(struct fixture *f, const char *xml)
{
    *f = (struct fixture){.device = {.name = "h200", .title = "NVIDIA H200", .calibrated = true}};
    f->device.threads_per_block = 1024;
    f->device.shared_bytes_per_block = 232448;
    f->diags.arena = &f->arena;
    const struct source *source = source_from_bytes(&f->arena, "demo.xml", xml, strlen(xml));
    f->spec = read_spec(&f->arena, source, &f->diags);
    ck_assert_ptr_nonnull(f->spec);
    bool good = check_spec(f->spec, &f->arena, &f->device, NULL, 0, &f->diags);
    ck_assert_msg(good, "%s", f->diags.count > 0 ? f->diags.items[0].message : "");
}

static const struct array *array_at(const struct spec *spec, size_t number)
{
    const struct array *array = spec->arrays;
    while (number-- > 0)
        array = array->next;
    return array;
}

static struct option *make_option(struct fixture *f, const struct array *array, const char *candidate)
{
    struct option *option = arena_alloc(&f->arena, sizeof(*option));
    struct quoted text = {.text = candidate};
    bool has_plan;
    option->array = array;
    ck_assert(notation_parse(&option->candidate, &has_plan, &f->arena, &text, &f->diags));
    struct mapping *mapping = arena_alloc(&f->arena, sizeof(*mapping));
    mapping->bytes = array->records * array->record->type->size;
    option->mapping = mapping;
    option->usages = arena_array(&f->arena, f->spec->kernel_count, sizeof(*option->usages));
    for (size_t i = 0; i < f->spec->kernel_count; i++)
        option->usages[i] = (struct usage){.effective = option->candidate, .used = true};
    return option;
}

static struct kernel_score *make_kernel_score(struct fixture *f, uint64_t sectors)
{
    struct kernel_score *score = arena_alloc(&f->arena, sizeof(*score));
    struct access_score *accesses = arena_array(&f->arena, 1, sizeof(*accesses));
    score->kernel = f->spec->kernels;
    accesses[0] = (struct access_score){.access = f->spec->kernels->accesses[0],
                                        .array = f->spec->arrays,
                                        .op = ACCESS_READ,
                                        .candidate = "aos/direct",
                                        .counts = {.instructions = 32,
                                                   .requests = 32,
                                                   .sectors = sectors,
                                                   .ideal_sectors = 128,
                                                   .lines = 40,
                                                   .asked_bytes = 4096,
                                                   .unique_bytes = 4096}};
    score->accesses = accesses;
    score->access_count = 1;
    score->threads = 1024;
    score->blocks = 4;
    score->active_warps = 32;
    return score;
}

/* A candidate of a made-up ranking: "LAYOUT/PLAN", or one an array with ";" between; its time and tie. */
struct row {
    const char *candidates;
    double time_us;
    bool tie;
};

enum { ROWS_MAX = 5 };

static void make_ranked(struct fixture *f, struct ranked *out, const struct row *row)
{
    struct option **chosen = arena_array(&f->arena, f->spec->array_count, sizeof(struct option *));
    const char *rest = row->candidates;
    for (size_t i = 0; i < f->spec->array_count; i++) {
        size_t length = strcspn(rest, ";");
        chosen[i] = make_option(f, array_at(f->spec, i), arena_copy(&f->arena, rest, length));
        rest += length + (rest[length] == ';');
    }
    struct ranked_kernel *kernels = arena_array(&f->arena, f->spec->kernel_count, sizeof(*kernels));
    kernels[0].kernel = f->spec->kernels;
    kernels[0].score = make_kernel_score(f, 256);
    kernels[0].estimate = (struct estimate){.time_us = row->time_us / (double)f->spec->kernels->calls,
                                            .bound_by = RESOURCE_DRAM,
                                            .dram_read_bytes = 4096.4};
    *out = (struct ranked){.chosen = chosen,
                           .kernels = kernels,
                           .time_us = row->time_us,
                           .tie = row->tie,
                           .bound_by = RESOURCE_DRAM,
                           .memory_bytes = 12288,
                           .sectors = 2560,
                           .dram_bytes = 40960};
}

static void make_ranking(struct fixture *f, struct ranking *out, const struct row rows[ROWS_MAX])
{
    *out = (struct ranking){.exhaustive = true};
    out->items = arena_array(&f->arena, ROWS_MAX, sizeof(*out->items));
    while (out->count < ROWS_MAX && rows[out->count].candidates != NULL) {
        make_ranked(f, &out->items[out->count], &rows[out->count]);
        out->count++;
    }
}

static const struct {
    const char *xml;
    struct row rows[ROWS_MAX];
    const char *verdict; /* up to "; counts are exact" */
} verdicts[] = {
    {two_arrays,
     {{"soa/wide(4);row-major/direct", 10, false}, {"aos/direct;row-major/direct", 19, false}},
     "use soa/wide(4) for 'p': estimated 1.9 times faster than aos/direct; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/staged(pad=1)", 10, false}, {"aos/direct;row-major/direct", 170, false}},
     "use soa/direct for 'p' and row-major/staged(pad=1) for 'q': estimated 17 times faster than the default layouts; "
     "bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true},
      {"aosoa(32)/direct;row-major/direct", 100, true},
      {"aos/direct;row-major/direct", 106, false}},
     "use soa/direct for 'p' (another ties with it): estimated 6 % faster than aos/direct; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true},
      {"soa/vector;row-major/direct", 100, true},
      {"aosoa(32)/direct;row-major/direct", 100, true},
      {"aos/direct;row-major/direct", 300, false}},
     "use soa/direct for 'p' (2 others tie with it): estimated 3.0 times faster than aos/direct; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true}, {"aos/direct;row-major/direct", 101, true}},
     "the layout does not matter here: both candidates are within 2 % of the best; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true},
      {"aos/direct;row-major/direct", 101, true},
      {"aosoa(8)/direct;row-major/direct", 102, true}},
     "the layout does not matter here: all 3 candidates are within 2 % of the best; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true},
      {"aos/direct;row-major/direct", 101, true},
      {"aosoa(8)/direct;row-major/direct", 105, false}},
     "the layout hardly matters here: aos/direct for 'p' is within 2 % of the best; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/staged", 100, true},
      {"aos/direct;row-major/direct", 101, true},
      {"aos/vector;row-major/direct", 240, false}},
     "the layout hardly matters here: aos/direct for 'p' and row-major/direct for 'q' are within 2 % of the best, "
     "though the slowest is estimated 2.4 times slower; bound by DRAM"},
    {two_arrays,
     {{"aos/direct;row-major/direct", 100, false}, {"soa/direct;row-major/direct", 140, false}},
     "keep aos/direct for 'p': estimated 1.4 times faster than the next; bound by DRAM"},
    {two_arrays,
     {{"aos/direct;row-major/direct", 100, false}},
     "there is one candidate, aos/direct for 'p' and row-major/direct for 'q'; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, true}, {"soa/vector;row-major/direct", 100, true}},
     "the layout does not matter here: both candidates asked for are within 2 % of the best; bound by DRAM"},
    {two_arrays,
     {{"soa/direct;row-major/direct", 100, false}, {"soa/vector;row-major/direct", 150, false}},
     "use soa/direct for 'p': estimated 1.5 times faster than the slowest asked for; bound by DRAM"},
    {two_arrays,
     {{"aos(align=16)/direct;aos(align=16)/direct", 10, false}, {"aos/direct;row-major/direct", 19, false}},
     "use aos(align=16)/direct for 'p' and 'q': estimated 1.9 times faster than the default layouts; bound by DRAM"},
    {pinned,
     {{"soa/wide(4)", 100, true},
      {"aosoa(32)/wide(4)", 100, true},
      {"soa/vector", 101, true},
      {"aosoa(8)/wide(4)", 101, true},
      {"soa/direct", 200, false}},
     "use soa/wide(4) for 'p' (aosoa(8|32)/wide(4) and soa/vector tie with it): estimated 2.0 times faster than "
     "soa/direct; bound by DRAM"},
    {pinned,
     {{"soa/wide(4)", 100, false}, {"soa/direct", 200, false}},
     "use soa/wide(4) for 'p': estimated 2.0 times faster than soa/direct; bound by DRAM"},
};

START_TEST(says_what_to_do)
{
    struct fixture f;
    open_fixture(&f, verdicts[_i].xml);
    struct ranking ranking;
    make_ranking(&f, &ranking, verdicts[_i].rows);
    struct text out = {0};
    view_verdict(&out, f.spec, &f.device, &ranking);
    const char *wanted = arena_printf(&f.arena, "%s; counts are exact, times are an estimate for h200 (calibrated)",
                                      verdicts[_i].verdict);
    ck_assert_msg(strcmp(text_string(&out), wanted) == 0, "row %d:\n%s\n, not\n%s", _i, text_string(&out), wanted);
    text_free(&out);
    arena_free(&f.arena);
}
END_TEST

static const struct row plain[ROWS_MAX] = {{"soa/wide(4);row-major/direct", 10, false},
                                           {"aos/direct;row-major/direct", 19, false}};

static const json_t *at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(value != NULL, "no key '%s'", key);
    return value;
}

START_TEST(rank_has_the_fixed_keys)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    struct ranking ranking;
    make_ranking(&f, &ranking, plain);
    json_t *view = view_rank(f.spec, &f.device, &ranking, 0, &f.diags);
    ck_assert_ptr_nonnull(view);
    ck_assert_str_eq(json_string_value(at(view, "format")), "sectorwise-rank-1");
    ck_assert_str_eq(json_string_value(at(view, "layout")), "demo");
    ck_assert_str_eq(json_string_value(at(view, "device")), "h200");
    ck_assert_uint_eq(json_array_size(at(view, "candidates")), 2);
    const json_t *best = json_array_get(at(view, "candidates"), 0);
    ck_assert_int_eq(json_integer_value(at(best, "rank")), 1);
    ck_assert_str_eq(json_string_value(at(at(best, "arrays"), "p")), "soa/wide(4)");
    ck_assert_str_eq(json_string_value(at(at(best, "arrays"), "q")), "row-major/direct");
    ck_assert(json_is_real(at(best, "time_us")) && json_is_boolean(at(best, "tie")));
    ck_assert_str_eq(json_string_value(at(best, "bound_by")), "dram");
    static const char *const counts[] = {"memory_bytes", "sectors", "dram_bytes", "wavefronts"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        ck_assert_msg(json_is_integer(at(best, counts[i])), "%s", counts[i]);
    const json_t *kernel = json_array_get(at(best, "kernels"), 0);
    ck_assert_str_eq(json_string_value(at(kernel, "name")), "k");
    ck_assert_str_eq(json_string_value(at(kernel, "bound_by")), "dram");
    ck_assert_double_eq(json_real_value(at(kernel, "time_us")), 1.0);
    ck_assert_int_eq(json_integer_value(at(kernel, "dram_read_bytes")), 4096);
    json_decref(view);
    arena_free(&f.arena);
}
END_TEST

START_TEST(top_limits_candidates_only)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    struct ranking ranking;
    make_ranking(&f, &ranking, plain);
    json_t *view = view_rank(f.spec, &f.device, &ranking, 1, &f.diags);
    ck_assert_uint_eq(json_array_size(at(view, "candidates")), 1);
    ck_assert_int_eq(json_integer_value(at(view, "candidate_count")), 2);
    ck_assert_ptr_nonnull(strstr(json_string_value(at(view, "verdict")), "1.9 times faster than aos/direct"));
    json_decref(view);
    arena_free(&f.arena);
}
END_TEST

static const struct {
    double conversion_us;
    double best_us;
    int64_t calls; /* after which it pays; 0: never, and no key */
} conversions[] = {
    {0, 10, 0},    {0.9, 10, 1}, /* (19 - 10) / 10 calls = 0.9 us a call */
    {0.95, 10, 2}, {90, 10, 100}, {5, 19, 0}, {5, 25, 0},
};

START_TEST(tells_when_a_conversion_pays)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    struct row rows[ROWS_MAX] = {plain[0], plain[1]};
    rows[0].time_us = conversions[_i].best_us;
    struct ranking ranking;
    make_ranking(&f, &ranking, rows);
    ranking.items[0].conversion_us = conversions[_i].conversion_us;
    json_t *view = view_rank(f.spec, &f.device, &ranking, 0, &f.diags);
    const json_t *best = json_array_get(at(view, "candidates"), 0);
    const json_t *pays = json_object_get(best, "pays_after_calls");
    if (conversions[_i].calls == 0)
        ck_assert_msg(pays == NULL, "row %d", _i);
    else
        ck_assert_msg(json_integer_value(pays) == conversions[_i].calls, "row %d: %lld", _i,
                      (long long)json_integer_value(pays));
    json_decref(view);
    arena_free(&f.arena);
}
END_TEST

/* Times that differ in their last bits only print alike. */
START_TEST(rounds_times)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    struct row rows[ROWS_MAX] = {plain[0], plain[1]};
    char *printed[2];
    for (size_t i = 0; i < 2; i++) {
        rows[0].time_us = i == 0 ? 12.3456449 : nextafter(12.3456449, 13);
        struct ranking ranking;
        make_ranking(&f, &ranking, rows);
        json_t *view = view_rank(f.spec, &f.device, &ranking, 0, &f.diags);
        struct text out = {0};
        emit_json(&out, view);
        printed[i] = out.bytes;
        json_decref(view);
    }
    ck_assert_str_eq(printed[0], printed[1]);
    ck_assert_ptr_nonnull(strstr(printed[0], "\"time_us\": 12.3456,"));
    free(printed[0]);
    free(printed[1]);
    arena_free(&f.arena);
}
END_TEST

static struct score *make_score(struct fixture *f, uint64_t sectors)
{
    struct score *score = arena_alloc(&f->arena, sizeof(*score));
    score->kernels = make_kernel_score(f, sectors);
    score->kernel_count = 1;
    struct array_score *arrays = arena_array(&f->arena, 1, sizeof(*arrays));
    arrays[0] = (struct array_score){.array = f->spec->arrays, .distinct_sectors = 384, .fill_sectors = 3};
    score->kernels[0].arrays = arrays;
    score->kernels[0].array_count = 1;
    return score;
}

static struct option **choose_defaults(struct fixture *f)
{
    struct ranked *ranked = arena_alloc(&f->arena, sizeof(*ranked));
    make_ranked(f, ranked, &plain[1]);
    struct option **chosen = arena_array(&f->arena, f->spec->array_count, sizeof(struct option *));
    for (size_t i = 0; i < f->spec->array_count; i++)
        chosen[i] = ranked->chosen[i];
    return chosen;
}

START_TEST(score_has_the_fixed_keys)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    struct score *score = make_score(&f, 256);
    struct access_score *accesses = arena_array(&f.arena, 2, sizeof(*accesses));
    accesses[0] = score->kernels[0].accesses[0];
    accesses[1] = accesses[0];
    accesses[1].phase = PHASE_COPY_OUT;
    score->kernels[0].accesses = accesses;
    score->kernels[0].access_count = 2;
    json_t *view = view_score(f.spec, &f.device, choose_defaults(&f), score, &f.diags);
    ck_assert_str_eq(json_string_value(at(view, "format")), "sectorwise-score-1");
    const json_t *kernel = json_array_get(at(view, "kernels"), 0);
    const json_t *access = json_array_get(at(kernel, "accesses"), 0);
    static const char *const texts[][2] = {
        {"array", "p"}, {"field", "a"}, {"op", "read"}, {"space", "global"}, {"candidate", "aos/direct"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_str_eq(json_string_value(at(access, texts[i][0])), texts[i][1]);
    static const struct {
        const char *key;
        int64_t value;
    } counts[] = {{"source_line", 6},     {"instructions", 32}, {"requests", 32},      {"sectors", 256},
                  {"ideal_sectors", 128}, {"lines", 40},        {"asked_bytes", 4096}, {"unique_bytes", 4096},
                  {"wavefronts", 0},      {"conflicts", 0}};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        ck_assert_msg(json_is_integer(at(access, counts[i].key)) &&
                          json_integer_value(at(access, counts[i].key)) == counts[i].value,
                      "%s", counts[i].key);
    ck_assert_ptr_null(json_object_get(access, "phase"));
    const json_t *copy = json_array_get(at(kernel, "accesses"), 1);
    ck_assert_str_eq(json_string_value(at(copy, "phase")), "copy-out");
    ck_assert_str_eq(json_string_value(at(copy, "field")), "");
    const json_t *array = json_array_get(at(kernel, "arrays"), 0);
    ck_assert_str_eq(json_string_value(at(array, "array")), "p");
    ck_assert_int_eq(json_integer_value(at(array, "distinct_sectors")), 384);
    ck_assert_int_eq(json_integer_value(at(array, "fill_sectors")), 3);
    json_decref(view);
    arena_free(&f.arena);
}
END_TEST

START_TEST(counts_beyond_json_are_an_error)
{
    struct fixture f;
    open_fixture(&f, two_arrays);
    json_t *view = view_score(f.spec, &f.device, choose_defaults(&f), make_score(&f, INT64_MAX), &f.diags);
    ck_assert_ptr_nonnull(view);
    json_decref(view);
    ck_assert_uint_eq(f.diags.error_count, 0);
    view = view_score(f.spec, &f.device, choose_defaults(&f), make_score(&f, (uint64_t)INT64_MAX + 1), &f.diags);
    ck_assert_ptr_null(view);
    ck_assert_uint_eq(f.diags.error_count, 1);
    ck_assert_str_eq(f.diags.items[0].id, "count-overflow");
    arena_free(&f.arena);
}
END_TEST

Suite *view_suite(void)
{
    Suite *suite = suite_create("view");
    TCase *tcase = tcase_create("view");
    tcase_add_loop_test(tcase, says_what_to_do, 0, sizeof(verdicts) / sizeof(verdicts[0]));
    tcase_add_test(tcase, rank_has_the_fixed_keys);
    tcase_add_test(tcase, top_limits_candidates_only);
    tcase_add_loop_test(tcase, tells_when_a_conversion_pays, 0, sizeof(conversions) / sizeof(conversions[0]));
    tcase_add_test(tcase, rounds_times);
    tcase_add_test(tcase, score_has_the_fixed_keys);
    tcase_add_test(tcase, counts_beyond_json_are_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}
