#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "diag.h"
#include "ncu.h"
#include "source.h"
#include "text.h"

#define LOADS "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
#define SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define DRAM "dram__bytes_read.sum"
#define TIME "gpu__time_duration.sum"
#define HEAD "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\""

struct fixture {
    struct arena arena;
    struct diags diags;
    struct ncu_report report;
    bool good;
};

static void setup(struct fixture *f, const char *text, size_t length)
{
    *f = (struct fixture){0};
    f->diags.arena = &f->arena;
    f->good = ncu_read(&f->report, source_from_bytes(&f->arena, "t.csv", text, length), &f->arena, &f->diags);
    ck_assert(f->good != diag_failed(&f->diags));
}

static void teardown(struct fixture *f)
{
    arena_free(&f->arena);
}

static char *messages(struct fixture *f)
{
    struct text text = {0};
    diag_render(&f->diags, &text, false);
    char *copy = arena_copy(&f->arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}

/* ---- names ---- */

static const struct {
    const char *kernel, *name;
} names[] = {
    {"drift", "drift"},
    {"drift(float *, int)", "drift"},
    {"void drift<taster>(particles_view, T1)", "drift"},
    {"void drift<probe<1>>(particles_view, T1)", "drift"},
    {"void particles::drift<particles::sw::probe<(int)1> >(particles::particles_view, T1)", "drift"},
    {"void drift<(bool)1, (int)3>(T2 *)", "drift"},
    {"(anonymous namespace)::drift(int)", "drift"},
    {"void <unnamed>::drift<int>(T1)", "drift"},
    {"a::b::c_3(void (*)(int))", "c_3"},
    {"void k<lambda(int)#1>(T1)", "k"},
    {"_Z5driftPf", "drift"},
    {"_ZL5driftPf", "drift"},
    {"_ZN9particles5driftINS_2sw6tasterEEEvNS_14particles_viewET_", "drift"},
    {"_ZN12_GLOBAL__N_15driftEv", "drift"},
    {"_ZN5driftE", "drift"},
    {"_Z99drift", "_Z99drift"},
    {"_Z", "_Z"},
    {"_ZN", "_ZN"},
    {"_Z0x", "_Z0x"},
    {"_Z99999999999999999999999999999x", "_Z99999999999999999999999999999x"},
    {"", ""},
    {"()", ""},
    {"<<<>>>", ""},
    {">x<", "x"},
};

START_TEST(function_names)
{
    struct arena arena = {0};
    const char *name = ncu_function_name(names[_i].kernel, &arena);
    ck_assert_msg(strcmp(name, names[_i].name) == 0, "%s: '%s'", names[_i].kernel, name);
    arena_free(&arena);
}
END_TEST

/* ---- numbers: how they are written, in a table of how numbers are written ---- */

static const struct {
    const char *unit, *number, *other; /* `other` stands in another column of counters */
    double value;
} numbers[] = {
    {"", "0", "0", 0},
    {"", "12288", "0", 12288},
    {"", "12,288", "0", 12288},
    {"", "12.288", "0", 12288},
    {"", "2,293,760", "0", 2293760},
    {"", "2.293.760", "0", 2293760},
    {"", "2 293 760", "0", 2293760},
    {"",
     "2\xc2\xa0"
     "293\xc2\xa0"
     "760",
     "0", 2293760},
    {"",
     "2\xe2\x80\xaf"
     "293",
     "0", 2293},
    {"", "2'293'760", "0", 2293760},
    {"",
     "2\xe2\x80\x99"
     "293",
     "0", 2293},
    {"", "589.58", "0", 589.58},
    {"", "589,58", "0", 589.58},
    {"", "1,234.56", "0", 1234.56},
    {"", "1.234,56", "0", 1234.56},
    {"", "1.234", "1,5", 1234},
    {"", "1.234", "1.5", 1.234},
    {"", "1,234", "1.5", 1234},
    {"", "1,234", "1,5", 1.234},
    {"", "1,234", "1.234.567", 1.234},
    {"", "1.234", "1,234,567", 1.234},
    {"", "0.125", "0", 0.125},
    {"", "1234.567", "0", 1234.567},
    {"", "1e3", "0", 1000},
    {"Kbyte", "1.5", "0", 1500},
    {"Mbyte", "1,5", "0", 1.5e6},
    {"Gbyte", "2", "0", 2e9},
    {"byte", "2", "0", 2},
};

START_TEST(reads_numbers)
{
    struct fixture f;
    struct text text = {0};
    text_printf(&text, HEAD ",\"" DRAM "\",\"dram__x.avg\"\n\"\",\"\",\"\",\"\",\"%s\",\"\"\n", numbers[_i].unit);
    text_printf(&text, "\"0\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"%s\",\"%s\"\n", numbers[_i].number,
                numbers[_i].other);
    setup(&f, text_string(&text), text.length);
    ck_assert_msg(f.good && f.report.count == 1, "row %d: %s", _i, messages(&f));
    double value = f.report.launches[0].value[NCU_DRAM_READ_BYTES];
    ck_assert_msg(fabs(value - numbers[_i].value) <= 1e-9 * numbers[_i].value, "row %d: '%s' is %g", _i,
                  numbers[_i].number, value);
    teardown(&f);
    text_free(&text);
}
END_TEST

static const struct {
    const char *unit;
    double nanoseconds;
} units[] = {{"ns", 2},   {"nsecond", 2},   {"us", 2e3}, {"usecond", 2e3},
             {"ms", 2e6}, {"msecond", 2e6}, {"s", 2e9},  {"second", 2e9}};

START_TEST(reads_times)
{
    struct fixture f;
    struct text text = {0};
    text_printf(&text, HEAD ",\"" TIME "\"\n,,,,%s\n0,k,\"(1, 1, 1)\",\"(2, 1, 1)\",2\n", units[_i].unit);
    setup(&f, text_string(&text), text.length);
    ck_assert_msg(f.good && f.report.launches[0].value[NCU_TIME_NS] == units[_i].nanoseconds, "%s: %s", units[_i].unit,
                  messages(&f));
    teardown(&f);
    text_free(&text);
}
END_TEST

/* ---- what surrounds a table, and its forms ---- */

#define ROW "\"0\",\"k\",\"(256, 1, 1)\",\"(8, 2, 1)\",\"12\"\n"
static const struct {
    const char *what, *text;
    size_t launches;
} forms[] = {
    {"a table alone", HEAD ",\"" LOADS "\"\n" ROW, 1},
    {"units", HEAD ",\"" LOADS "\"\n\"\",\"\",\"\",\"\",\"\"\n" ROW, 1},
    {"output before", "==PROF== Connected\nall is well\n\n" HEAD ",\"" LOADS "\"\n" ROW, 1},
    {"output without an end", "all is well" HEAD ",\"" LOADS "\"\n" ROW, 1},
    {"output between", HEAD ",\"" LOADS "\"\nstep 1, 2\n" ROW "==PROF== Done\n\n" ROW, 2},
    {"output after", HEAD ",\"" LOADS "\"\n" ROW "3\n4 of 4\n==PROF== Disconnected\n", 1},
    {"no line break at the end", HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"(256, 1, 1)\",\"(8, 2, 1)\",\"12\"", 1},
    {"an empty line first", "\n" HEAD ",\"" LOADS "\"\n" ROW, 1},
    {"line breaks of Windows", "\"ID\",\"Kernel Name\",\"" LOADS "\"\r\n\"0\",\"k\",\"12\"\r\n", 1},
    {"a byte order mark", "\xef\xbb\xbf" HEAD ",\"" LOADS "\"\n" ROW, 1},
    {"semicolons", "ID;Kernel Name;Block Size;Grid Size;" LOADS "\n0;k;(256, 1, 1);(8, 2, 1);12\n", 1},
    {"counters without a suffix", "ID,Kernel Name,l1tex__t_requests_pipe_lsu_mem_global_op_ld\n0,k,12\n", 1},
    {"tabulators", "ID\tKernel Name\t" LOADS "\n0\tk\t12\n", 1},
    {"no quotes", "ID,Kernel Name," LOADS "\n0,k,12\n", 1},
    {"quotes in quotes", "\"ID\",\"Kernel Name\",\"" LOADS "\"\n\"0\",\"k<\"\"a, b\"\">(int, int)\",\"12\"\n", 1},
    {"two tables",
     HEAD ",\"" LOADS "\"\n" ROW HEAD ",\"" SECTORS "\",\"" LOADS
          "\"\n\"0\",\"k\",\"(256, 1, 1)\",\"(8, 2, 1)\",\"13\",\"12\"\n",
     2},
    {"absent values", HEAD ",\"" SECTORS "\",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"n/a\",\"12\"\n", 1},
    {"a row a metric",
     "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
     "\"0\",\"k\",\"Speed\",\"Duration\",\"us\",\"1.5\"\n\"0\",\"k\",\"\",\"" LOADS "\",\"\",\"12\"\n"
     "\"1\",\"k\",\"\",\"" LOADS "\",\"\",\"12\"\n",
     2},
};

START_TEST(reads_forms)
{
    struct fixture f;
    setup(&f, forms[_i].text, strlen(forms[_i].text));
    ck_assert_msg(f.good, "%s: %s", forms[_i].what, messages(&f));
    ck_assert_msg(f.report.count == forms[_i].launches, "%s: %zu launches", forms[_i].what, f.report.count);
    for (size_t i = 0; i < f.report.count; i++) {
        const struct ncu_launch *launch = &f.report.launches[i];
        ck_assert_str_eq(launch->name, "k");
        ck_assert_msg(launch->given[NCU_LOAD_REQUESTS] && launch->value[NCU_LOAD_REQUESTS] == 12, "%s", forms[_i].what);
        ck_assert(!launch->given[NCU_STORE_REQUESTS]);
        if (launch->has_shape) {
            ck_assert_uint_eq(launch->block_threads, 256);
            ck_assert_uint_eq(launch->blocks, 16);
        }
    }
    teardown(&f);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "t.csv:1:1: error: no table of Nsight Compute is in the file [ncu-table]"},
    {"\n\n\n", "[ncu-table]"},
    {"a,b,c\n1,2,3\n", "[ncu-table]"},
    {"\"Kernel Name\",\"ID\"\n\"k\",\"0\"\n", "[ncu-table]"},
    {HEAD ",\"" LOADS "\"\n", "t.csv:1:1: error: the table has no launch [ncu-table]"},
    {HEAD ",\"sm__cycles.sum\"\n" ROW, "t.csv:1:1: error: no counter that is predicted is in the table [ncu-metrics]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"n/a\"\n", "[ncu-metrics]"},
    {HEAD ",\"" LOADS "\"\n" ROW "\"1\",\"k\",\"(256, 1",
     "t.csv:3:1: error: the row has 3 fields, its table 5 [ncu-row]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"twelve\"\n",
     "t.csv:2:15: error: 'twelve' is no number of '" LOADS "' [ncu-number]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"-1\"\n", "[ncu-number]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"1e999\"\n", "[ncu-number]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"9999999999999999999999\"\n", "[ncu-number]"},
    {HEAD ",\"" LOADS "\"\n\"0\",\"k\",\"\",\"\",\"0x10\"\n", "[ncu-number]"},
    {HEAD ",\"" LOADS "\",\"" DRAM "\"\n\"0\",\"k\",\"\",\"\",\"1.5\",\"1.234.567\"\n", "[ncu-number]"},
    {HEAD ",\"" TIME "\"\n\"\",\"\",\"\",\"\",\"fortnight\"\n\"0\",\"k\",\"\",\"\",\"1\"\n",
     "t.csv:2:13: error: 'fortnight' is no unit of '" TIME "' [ncu-number]"},
};

START_TEST(refuses)
{
    struct fixture f;
    setup(&f, refused[_i].text, strlen(refused[_i].text));
    ck_assert_msg(!f.good, "row %d is accepted", _i);
    ck_assert_msg(strstr(messages(&f), refused[_i].message) != NULL, "row %d: %s", _i, messages(&f));
    teardown(&f);
}
END_TEST

START_TEST(every_metric_has_a_name)
{
    for (int i = 0; i < NCU_METRIC_COUNT; i++) {
        struct fixture f;
        struct text text = {0};
        text_printf(&text, "\"ID\",\"Kernel Name\",\"%s\"\n0,k,7\n", ncu_metric_name((enum ncu_metric)i));
        setup(&f, text_string(&text), text.length);
        ck_assert_msg(f.good && f.report.launches[0].given[i] && f.report.launches[0].value[i] == 7, "%s",
                      text_string(&text));
        teardown(&f);
        text_free(&text);
    }
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *ncu_suite(void)
{
    Suite *suite = suite_create("ncu");
    TCase *tcase = tcase_create("ncu");
    tcase_add_loop_test(tcase, function_names, 0, COUNT(names));
    tcase_add_loop_test(tcase, reads_numbers, 0, COUNT(numbers));
    tcase_add_loop_test(tcase, reads_times, 0, COUNT(units));
    tcase_add_loop_test(tcase, reads_forms, 0, COUNT(forms));
    tcase_add_loop_test(tcase, refuses, 0, COUNT(refused));
    tcase_add_test(tcase, every_metric_has_a_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
