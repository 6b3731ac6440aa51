#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sectorwise.h"

static const char spec[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"demo\">\n"
                           "  <param name=\"N\" value=\"4096\"/>\n"
                           "  <struct name=\"P\"><field name=\"x\" type=\"float\"/><field name=\"y\" type=\"float\"/>"
                           "</struct>\n"
                           "  <array name=\"p\" of=\"P\" extent=\"N\"/>\n"
                           "  <kernel name=\"k\" block=\"256\" grid=\"N / 256\">\n"
                           "    <read array=\"p\" field=\"x\" index=\"thread\"/>\n"
                           "  </kernel>\n"
                           "</layout>\n";

static struct sectorwise_job make_job(void)
{
    return (struct sectorwise_job){.bytes = spec, .length = sizeof(spec) - 1};
}

static json_int_t find_sectors(const char *json)
{
    json_t *view = json_loads(json, 0, NULL);
    ck_assert_ptr_nonnull(view);
    const json_t *kernel = json_array_get(json_object_get(view, "kernels"), 0);
    const json_t *access = json_array_get(json_object_get(kernel, "accesses"), 0);
    json_int_t sectors = json_integer_value(json_object_get(access, "sectors"));
    json_decref(view);
    return sectors;
}

START_TEST(tells_its_version)
{
    ck_assert_str_eq(sectorwise_version(), SECTORWISE_VERSION);
}
END_TEST

START_TEST(scores)
{
    struct sectorwise_job job = make_job();
    char *out = NULL;
    ck_assert_int_eq(sectorwise_score(&out, &job), SECTORWISE_OK);
    ck_assert_int_eq(find_sectors(out), 1024); /* 128 warps of 8 sectors */
    sectorwise_free(out);

    const char *const definitions[] = {"N=8192"}, *const candidates[] = {"p=soa/direct"};
    job.definitions = definitions;
    job.definition_count = 1;
    job.candidates = candidates;
    job.candidate_count = 1;
    ck_assert_int_eq(sectorwise_score(&out, &job), SECTORWISE_OK);
    ck_assert_int_eq(find_sectors(out), 1024); /* 256 warps of 4 sectors */
    sectorwise_free(out);
}
END_TEST

START_TEST(ranks)
{
    struct sectorwise_job job = make_job();
    job.top = 1;
    char *out = NULL;
    ck_assert_int_eq(sectorwise_rank(&out, &job), SECTORWISE_OK);
    json_t *view = json_loads(out, 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(view, "format")), "sectorwise-rank-1");
    ck_assert_uint_eq(json_array_size(json_object_get(view, "candidates")), 1);
    json_decref(view);
    sectorwise_free(out);
}
END_TEST

START_TEST(explains)
{
    struct sectorwise_job job = make_job();
    char *out = NULL;
    ck_assert_int_eq(sectorwise_explain(&out, &job, "k", -1, -1), SECTORWISE_OK);
    json_t *view = json_loads(out, 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(view, "format")), "sectorwise-explain-1");
    const json_t *group = json_array_get(json_object_get(view, "groups"), 0);
    const json_t *first = json_array_get(json_object_get(group, "instructions"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "sectors")), 1024);
    json_decref(view);
    sectorwise_free(out);
    ck_assert_int_eq(sectorwise_explain(&out, &job, "q", 0, 0), SECTORWISE_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(out, "unknown kernel 'q'"));
    sectorwise_free(out);
    ck_assert_int_eq(sectorwise_explain(&out, &job, "k", 0, 128), SECTORWISE_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(out, "[warp-number]"));
    sectorwise_free(out);
}
END_TEST

START_TEST(reports)
{
    struct sectorwise_job job = make_job();
    char *out = NULL;
    ck_assert_int_eq(sectorwise_report(&out, &job), SECTORWISE_OK);
    ck_assert_ptr_eq(strstr(out, "<!DOCTYPE html>"), out);
    ck_assert_ptr_nonnull(strstr(out, "</html>"));
    sectorwise_free(out);
}
END_TEST

static const struct {
    struct sectorwise_job job;
    const char *message; /* a part of the diagnostics */
} refused[] = {
    {{.bytes = "", .length = 0}, "<input>:1:1: error: "},
    {{.bytes = "<a/>", .length = 4, .name = "x/y.xml"}, "x/y.xml:1:"},
    {{.bytes = spec, .length = 100}, "error: "},
    {{.bytes = spec, .length = sizeof(spec) - 1, .device = "h2000"}, "h200"},
    {{.bytes = spec, .length = sizeof(spec) - 1, .definitions = (const char *const[]){"N"}, .definition_count = 1},
     "a definition is NAME=VALUE, not 'N' [usage]"},
    {{.bytes = spec, .length = sizeof(spec) - 1, .candidates = (const char *const[]){"p=aso"}, .candidate_count = 1},
     "did you mean 'aos'?"},
};

START_TEST(gives_diagnostics)
{
    char *out = NULL;
    enum sectorwise_status status = sectorwise_score(&out, &refused[_i].job);
    ck_assert_msg(status == SECTORWISE_BAD_INPUT, "row %d: status %d", _i, (int)status);
    ck_assert_msg(strstr(out, refused[_i].message) != NULL, "row %d: '%s'", _i, out);
    sectorwise_free(out);
    status = sectorwise_rank(&out, &refused[_i].job);
    ck_assert_msg(status == SECTORWISE_BAD_INPUT && strstr(out, refused[_i].message) != NULL, "row %d, rank: '%s'", _i,
                  out);
    sectorwise_free(out);
    sectorwise_free(NULL);
}
END_TEST

Suite *sectorwise_suite(void)
{
    Suite *suite = suite_create("sectorwise");
    TCase *tcase = tcase_create("sectorwise");
    tcase_add_test(tcase, tells_its_version);
    tcase_add_test(tcase, scores);
    tcase_add_test(tcase, ranks);
    tcase_add_test(tcase, explains);
    tcase_add_test(tcase, reports);
    tcase_add_loop_test(tcase, gives_diagnostics, 0, sizeof(refused) / sizeof(refused[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}
