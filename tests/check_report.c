/* What pages are made of: where bytes are, drawings that keep within their width, the view against its schema. */
#include <check.h>
#include <string.h>

#include "check.h"
#include "json_schema.h"
#include "rank.h"
#include "read.h"
#include "report.h"
#include "report_bytes.h"
#include "report_drawing.h"
#include "report_view.h"
#include "view_bytes.h"
#include "view_explain.h"

struct bench {
    struct arena arena;
    struct diags diags;
    const struct device *device;
    struct spec *spec;
};

static const char text[] =
    "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"r\">"
    "<struct name=\"R\"><field name=\"c\" type=\"char\"/><field name=\"x\" type=\"double\"/>"
    "<field name=\"p\" type=\"float\" count=\"3\"/></struct>"
    "<array name=\"a\" of=\"R\" extent=\"100\"/><array name=\"g\" of=\"float\" extent=\"64 64\"/>"
    "<kernel name=\"k\" block=\"64\" grid=\"2\"><if test=\"thread lt 100\">"
    "<update array=\"a\" field=\"p\" index=\"thread\"/></if></kernel>"
    "<kernel name=\"t\" block=\"32 8\" grid=\"2 8\">"
    "<read array=\"g\" index=\"blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y\"/></kernel>"
    "<kernel name=\"none\" block=\"32\" grid=\"1\"/></layout>";

static void open_bench(struct bench *bench)
{
    *bench = (struct bench){0};
    bench->diags.arena = &bench->arena;
    bench->device = device_load(&bench->arena, "h200", &bench->diags);
    bench->spec =
        read_spec(&bench->arena, source_from_bytes(&bench->arena, "r.xml", text, strlen(text)), &bench->diags);
    ck_assert_ptr_nonnull(bench->spec);
    ck_assert(check_spec(bench->spec, &bench->arena, bench->device, NULL, 0, &bench->diags));
}

static struct option **choose(struct bench *bench, const char *candidate)
{
    const struct restriction one = {candidate};
    struct option **chosen = candidates_choose(bench->spec, bench->device, &bench->arena, &one, 1, &bench->diags);
    ck_assert_ptr_nonnull(chosen);
    return chosen;
}

static int64_t number(const json_t *object, const char *key)
{
    ck_assert(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

/* A record of 32 bytes in C: c, 7 bytes of hole, x, p, 4 bytes of hole. */
static const struct {
    const char *candidate, *unit;
    int64_t unit_bytes, padding, runs;
} maps[] = {
    {"a=aos/direct", "record", 32, 11, 7},
    {"a=aos(align=64)/direct", "record", 64, 43, 7},
    {"a=aos(reorder)/direct", "record", 24, 3, 6},
    {"a=aosoa(8)/direct", "tile", 168, 0, 5},
    /* 100 chars, then 4 arrays that each begin on 256 bytes */
    {"a=soa/direct", "array", 256 + 1024 + 512 + 512 + 400, 604, 9},
};
enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

START_TEST(bytes_fill_their_unit)
{
    struct bench bench;
    open_bench(&bench);
    json_t *view = view_bytes(choose(&bench, maps[_i].candidate)[0]);
    const json_t *group = json_array_get(json_object_get(view, "groups"), 0), *run;
    int64_t end = 0, padding = 0;
    size_t i;
    json_array_foreach(json_object_get(group, "runs"), i, run)
    {
        ck_assert_int_eq(number(run, "from"), end);
        ck_assert_int_gt(number(run, "bytes"), 0);
        end += number(run, "bytes");
        padding += json_is_true(json_object_get(run, "padding")) ? number(run, "bytes") : 0;
    }
    ck_assert_str_eq(json_string_value(json_object_get(group, "unit")), maps[_i].unit);
    ck_assert_int_eq(number(group, "unit_bytes"), maps[_i].unit_bytes);
    ck_assert_int_eq(end, maps[_i].unit_bytes);
    ck_assert_int_eq(padding, maps[_i].padding);
    ck_assert_int_eq((int64_t)i, maps[_i].runs);
    json_decref(view);
    arena_free(&bench.arena);
}
END_TEST

/* Boxes within the width, panels below each other and as high as what they hold. */
static void check_drawing(const json_t *drawing)
{
    const json_t *panel, *box, *label;
    size_t p, i;
    int64_t end = 0;
    ck_assert_uint_gt(json_array_size(json_object_get(drawing, "panels")), 0);
    json_array_foreach(json_object_get(drawing, "panels"), p, panel)
    {
        ck_assert_int_ge(number(panel, "y"), end);
        end = number(panel, "y") + number(panel, "height");
        json_array_foreach(json_object_get(panel, "boxes"), i, box)
        {
            ck_assert_int_ge(number(box, "x"), 0);
            ck_assert_int_gt(number(box, "width"), 0);
            ck_assert_int_le(number(box, "x") + number(box, "width"), number(drawing, "width"));
            ck_assert_int_ge(number(box, "y"), 0);
            ck_assert_int_le(number(box, "y") + number(box, "height"), number(panel, "height"));
        }
        json_array_foreach(json_object_get(panel, "labels"), i, label)
        {
            ck_assert_int_le(number(label, "y"), number(panel, "height"));
        }
    }
    ck_assert_int_le(end, number(drawing, "height"));
}

START_TEST(drawings_keep_their_bounds)
{
    static const char *const candidates[] = {"a=aos/direct", "a=soa/direct",       "a=aosoa(8)/direct",
                                             "a=aos/vector", "g=row-major/staged", "g=tiled(8 8)/direct"};
    for (size_t c = 0; c < sizeof(candidates) / sizeof(candidates[0]); c++) {
        struct bench bench;
        open_bench(&bench);
        struct option **chosen = choose(&bench, candidates[c]);
        for (const struct kernel *kernel = bench.spec->kernels; kernel != NULL; kernel = kernel->next) {
            const struct explain_query query = {.kernel = {.text = kernel->name.text}, .access = 0, .warp = -1};
            if (kernel->access_count == 0)
                continue;
            const struct explain *explain =
                explain_access(bench.spec, bench.device, chosen, &query, &bench.arena, &bench.diags);
            ck_assert_ptr_nonnull(explain);
            json_t *view = view_explain(bench.spec, bench.device, explain), *drawing = report_drawing(view);
            check_drawing(drawing);
            json_decref(drawing);
            json_decref(view);
        }
        json_t *bytes = view_bytes(chosen[0]), *map = report_bytes(bytes);
        check_drawing(map);
        json_decref(map);
        json_decref(bytes);
        arena_free(&bench.arena);
    }
}
END_TEST

static json_t *make_report(struct bench *bench, const struct restriction *restriction, size_t count)
{
    struct options *options =
        candidates_enumerate(bench->spec, bench->device, &bench->arena, restriction, count, &bench->diags);
    ck_assert_ptr_nonnull(options);
    struct ranking *ranking = rank_spec(bench->spec, bench->device, options, &bench->arena, &bench->diags);
    ck_assert_ptr_nonnull(ranking);
    json_t *view = report_view(bench->spec, bench->device, ranking, 3, &bench->arena, &bench->diags);
    ck_assert_ptr_nonnull(view);
    return view;
}

static void check_schema(const json_t *view)
{
    struct text fault = {0};
    json_t *schema = json_load_file("advisor/share/sectorwise-report-1.schema.json", JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(schema);
    ck_assert_msg(json_schema_accepts(schema, view, &fault), "%s", text_string(&fault));
    text_free(&fault);
    json_decref(schema);
}

/* The three best, and today's where it is a candidate; a kernel without accesses has no picture. */
START_TEST(report_is_of_its_format)
{
    struct bench bench;
    open_bench(&bench);
    json_t *view = make_report(&bench, NULL, 0);
    check_schema(view);
    const int64_t today = number(view, "today_rank");
    const json_t *candidates = json_object_get(json_object_get(view, "ranking"), "candidates");
    ck_assert_uint_eq(json_array_size(candidates), today > 3 ? 4 : 3);
    const json_t *none = json_array_get(json_object_get(view, "kernels"), 2);
    ck_assert(json_is_null(json_object_get(none, "best")));
    json_decref(view);

    const struct restriction one = {"a=soa/direct"};
    view = make_report(&bench, &one, 1);
    check_schema(view);
    ck_assert(json_is_null(json_object_get(view, "today_rank")));
    ck_assert(json_is_null(json_object_get(view, "today")));
    json_decref(view);
    arena_free(&bench.arena);
}
END_TEST

/* Whatever a name holds, it is text in the page. */
START_TEST(page_escapes)
{
    struct bench bench;
    struct text page = {0};
    open_bench(&bench);
    struct device device = *bench.device;
    device.title = "<script>\"&";
    bench.device = &device;
    json_t *view = make_report(&bench, NULL, 0);
    ck_assert(report_html(&page, view, &bench.arena, &bench.diags));
    ck_assert_ptr_null(strstr(text_string(&page), "<script>"));
    ck_assert_ptr_nonnull(strstr(text_string(&page), "&lt;script&gt;&quot;&amp;"));
    text_free(&page);
    json_decref(view);
    arena_free(&bench.arena);
}
END_TEST

Suite *report_suite(void);

Suite *report_suite(void)
{
    Suite *suite = suite_create("report");
    TCase *tcase = tcase_create("report");
    tcase_add_loop_test(tcase, bytes_fill_their_unit, 0, MAPS);
    tcase_add_test(tcase, drawings_keep_their_bounds);
    tcase_add_test(tcase, report_is_of_its_format);
    tcase_add_test(tcase, page_escapes);
    suite_add_tcase(suite, tcase);
    return suite;
}
