#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "device.h"
#include "diag.h"
#include "embedded.h"
#include "read.h"
#include "text.h"

struct fixture {
    struct arena arena;
    struct diags diags;
    struct device *device;
};

static void setup(struct fixture *f)
{
    *f = (struct fixture){0};
    f->diags.arena = &f->arena;
}

static void read_text(struct fixture *f, const char *text)
{
    setup(f);
    f->device = read_device(&f->arena, source_from_bytes(&f->arena, "t", text, strlen(text)), &f->diags);
    ck_assert((f->device == NULL) == diag_failed(&f->diags));
}

static void load(struct fixture *f, const char *name)
{
    setup(f);
    f->device = device_load(&f->arena, name, &f->diags);
    ck_assert((f->device == NULL) == diag_failed(&f->diags));
}

static void teardown(struct fixture *f)
{
    arena_free(&f->arena);
}

/* What is reported, without the quoted lines of the source. */
static char *messages(struct fixture *f)
{
    struct text all = {0}, kept = {0};
    diag_render(&f->diags, &all, false);
    for (const char *line = text_string(&all); *line != '\0';) {
        size_t length = strcspn(line, "\n") + 1;
        if (*line != ' ')
            text_append(&kept, line, length);
        line += length;
    }
    char *result = arena_copy(&f->arena, text_string(&kept), kept.length);
    text_free(&all);
    text_free(&kept);
    return result;
}

static const char *const figures[][2] = {
    {"limit", "multiprocessors"},
    {"limit", "threads_per_block"},
    {"limit", "threads_per_multiprocessor"},
    {"limit", "blocks_per_multiprocessor"},
    {"limit", "registers_per_multiprocessor"},
    {"limit", "shared_bytes_per_block"},
    {"limit", "shared_bytes_per_multiprocessor"},
    {"limit", "l1_bytes"},
    {"limit", "l2_bytes"},
    {"limit", "l2_kept_bytes"},
    {"limit", "page_bytes"},
    {"limit", "tlb_bytes"},
    {"limit", "l1_merge_sectors"},
    {"rate", "clock_ghz"},
    {"rate", "dram_read_gbs"},
    {"rate", "dram_write_gbs"},
    {"rate", "dram_mixed_gbs"},
    {"rate", "dram_random_pairs_per_ns"},
    {"rate", "dram_spread_loss"},
    {"rate", "dram_block_ns"},
    {"rate", "dram_mixed_block_ns"},
    {"rate", "l2_sectors_per_ns"},
    {"rate", "l2_lines_per_ns"},
    {"rate", "l2_updates_in_flight"},
    {"rate", "l2_conflict_ns"},
    {"rate", "l2_write_sectors_per_ns"},
    {"rate", "l2_part_sectors_per_ns"},
    {"rate", "l2_part_lines_per_ns"},
    {"rate", "l2_fill_wait_ns"},
    {"rate", "tlb_misses_per_ns"},
    {"rate", "l1_sectors_per_clock"},
    {"rate", "l1_wavefronts_per_clock"},
    {"rate", "shared_wavefronts_per_clock"},
    {"rate", "issue_per_clock"},
    {"rate", "flops_per_clock"},
    {"rate", "flop_latency_clocks"},
    {"rate", "blocks_per_us"},
    {"rate", "warps_per_us"},
    {"rate", "dram_latency_ns"},
    {"rate", "l2_latency_ns"},
    {"rate", "l1_latency_ns"},
    {"rate", "store_latency_share"},
    {"rate", "barrier_ns"},
    {"rate", "launch_us"},
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

#define ROOT "<device xmlns=\"urn:sectorwise:device:1\" name=\"d\">\n"

/* A device whose n-th figure has the value n + 1, but for the one called `name`, which is written as `instead`. */
static void write_device(struct text *out, const char *root, const char *name, const char *instead)
{
    text_puts(out, root);
    for (size_t i = 0; i < FIGURES; i++) {
        if (strcmp(figures[i][1], name) == 0)
            text_printf(out, "%s\n", instead);
        else
            text_printf(out, "<%s name=\"%s\" value=\"%zu\"/>\n", figures[i][0], figures[i][1], i + 1);
    }
    text_puts(out, "</device>\n");
}

static void read_changed(struct fixture *f, const char *root, const char *name, const char *instead)
{
    struct text text = {0};
    write_device(&text, root, name, instead);
    read_text(f, text_string(&text));
    text_free(&text);
}

START_TEST(every_figure_goes_where_it_belongs)
{
    struct fixture f;
    read_changed(&f, "<device xmlns=\"urn:sectorwise:device:1\" name=\"d\" title=\"A device\" calibrated=\"true\">", "",
                 "");
    ck_assert_msg(f.device != NULL, "%s", messages(&f));
    const struct device *d = f.device;
    ck_assert_str_eq(d->name, "d");
    ck_assert_str_eq(d->title, "A device");
    ck_assert(d->calibrated);
    const int64_t limits[] = {
        d->multiprocessors,
        d->threads_per_block,
        d->threads_per_multiprocessor,
        d->blocks_per_multiprocessor,
        d->registers_per_multiprocessor,
        d->shared_bytes_per_block,
        d->shared_bytes_per_multiprocessor,
        d->l1_bytes,
        d->l2_bytes,
        d->l2_kept_bytes,
        d->page_bytes,
        d->tlb_bytes,
        d->l1_merge_sectors,
    };
    const double rates[] = {
        d->clock_ghz,
        d->dram_read_gbs,
        d->dram_write_gbs,
        d->dram_mixed_gbs,
        d->dram_random_pairs_per_ns,
        d->dram_spread_loss,
        d->dram_block_ns,
        d->dram_mixed_block_ns,
        d->l2_sectors_per_ns,
        d->l2_lines_per_ns,
        d->l2_updates_in_flight,
        d->l2_conflict_ns,
        d->l2_write_sectors_per_ns,
        d->l2_part_sectors_per_ns,
        d->l2_part_lines_per_ns,
        d->l2_fill_wait_ns,
        d->tlb_misses_per_ns,
        d->l1_sectors_per_clock,
        d->l1_wavefronts_per_clock,
        d->shared_wavefronts_per_clock,
        d->issue_per_clock,
        d->flops_per_clock,
        d->flop_latency_clocks,
        d->blocks_per_us,
        d->warps_per_us,
        d->dram_latency_ns,
        d->l2_latency_ns,
        d->l1_latency_ns,
        d->store_latency_share,
        d->barrier_ns,
        d->launch_us,
    };
    size_t limit_count = sizeof(limits) / sizeof(limits[0]);
    ck_assert_uint_eq(limit_count + sizeof(rates) / sizeof(rates[0]), FIGURES);
    for (size_t i = 0; i < FIGURES; i++) {
        double value = i < limit_count ? (double)limits[i] : rates[i - limit_count];
        ck_assert_msg(value == (double)(i + 1), "%s is %g", figures[i][1], value);
    }
    teardown(&f);
}
END_TEST

START_TEST(title_and_calibration_may_be_left_out)
{
    struct fixture f;
    read_changed(&f, ROOT, "", "");
    ck_assert_str_eq(f.device->title, "d");
    ck_assert(!f.device->calibrated);
    teardown(&f);
}
END_TEST

START_TEST(the_default_device_is_compiled_in)
{
    struct fixture f;
    load(&f, "h200");
    ck_assert_msg(f.device != NULL, "%s", messages(&f));
    ck_assert_str_eq(f.device->name, "h200");
    ck_assert_str_eq(f.device->title, "NVIDIA H200");
    ck_assert_int_eq(f.device->multiprocessors, 132);
    ck_assert_int_eq(f.device->threads_per_block, 1024);
    ck_assert_int_eq(f.device->shared_bytes_per_block, INT64_C(227) * 1024);
    ck_assert(f.device->clock_ghz == 1.98);
    teardown(&f);
}
END_TEST

START_TEST(devices_from_specifications_are_marked)
{
    static const struct {
        const char *name, *title;
        int64_t multiprocessors;
        bool calibrated;
    } devices[] = {
        {"h200", "NVIDIA H200", 132, true},        {"h100", "NVIDIA H100", 132, false},
        {"a100", "NVIDIA A100 80 GB", 108, false}, {"rtx4090", "NVIDIA GeForce RTX 4090", 128, false},
        {"l40s", "NVIDIA L40S", 142, false},
    };
    ck_assert_uint_eq(embedded_device_count, sizeof(devices) / sizeof(devices[0]));
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        struct fixture f;
        load(&f, devices[i].name);
        ck_assert_msg(f.device != NULL, "%s", messages(&f));
        ck_assert_str_eq(f.device->title, devices[i].title);
        ck_assert_int_eq(f.device->multiprocessors, devices[i].multiprocessors);
        ck_assert_int_eq(f.device->calibrated, devices[i].calibrated);
        ck_assert_int_lt(f.device->l2_kept_bytes, f.device->l2_bytes);
        teardown(&f);
    }
}
END_TEST

START_TEST(a_path_is_a_file)
{
    char path[] = "/tmp/sectorwise-device-XXXXXX";
    int file = mkstemp(path);
    ck_assert(file >= 0);
    struct text text = {0};
    write_device(&text, ROOT, "", "");
    ck_assert(write(file, text.bytes, text.length) == (ssize_t)text.length);
    ck_assert_int_eq(close(file), 0);
    struct fixture f;
    load(&f, path);
    ck_assert_msg(f.device != NULL, "%s", messages(&f));
    ck_assert_str_eq(f.device->name, "d");
    ck_assert_int_eq(unlink(path), 0);
    text_free(&text);
    teardown(&f);
}
END_TEST

static const struct {
    const char *name, *messages;
} unloadable[] = {
    {"h201", "sectorwise: error: unknown device 'h201' [unknown-device]\n"
             "sectorwise: note: did you mean 'h200'?"},
    {"gtx", "sectorwise: error: unknown device 'gtx' [unknown-device]\n"
            "sectorwise: note: known devices: "},
    {"", "sectorwise: error: unknown device '' [unknown-device]\nsectorwise: note: known devices: "},
    {"/nowhere/x", "/nowhere/x:1:1: error: cannot read '/nowhere/x': No such file or directory [unreadable-file]\n"},
    {"nowhere.xml", "nowhere.xml:1:1: error: cannot read 'nowhere.xml': No such file or directory [unreadable-file]\n"},
    {"/dev/zero", "/dev/zero:1:1: error: cannot read '/dev/zero': neither a file nor a pipe [unreadable-file]\n"},
    {"/", "/:1:1: error: cannot read '/': Is a directory [unreadable-file]\n"},
};

START_TEST(what_cannot_be_loaded_is_told)
{
    struct fixture f;
    load(&f, unloadable[_i].name);
    ck_assert_msg(strncmp(messages(&f), unloadable[_i].messages, strlen(unloadable[_i].messages)) == 0, "'%s': %s",
                  unloadable[_i].name, messages(&f));
    if (strstr(unloadable[_i].messages, "[unknown-device]") != NULL)
        ck_assert(strstr(messages(&f), "'h200'") != NULL);
    teardown(&f);
}
END_TEST

/* ---- numbers ---- */

static const struct {
    const char *text;
    double value;
} decimals[] = {
    {"1", 1},
    {"1.98", 1.98},
    {"0.1", 0.1},
    {".5", .5},
    {"5.", 5},
    {"007.250", 7.25},
    {"0.001", 0.001},
    {"4300", 4300},
    {"123456789012345", 123456789012345.0},
    {"1.23456789012345", 1.23456789012345},
    {"0.30000000000000", 0.3},
};

START_TEST(decimals_are_read_as_by_the_compiler)
{
    /* A locale with a decimal comma, where there is one, must make no difference. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    struct text rate = {0};
    text_printf(&rate, "<rate name=\"launch_us\" value=\"%s\"/>", decimals[_i].text);
    struct fixture f;
    read_changed(&f, ROOT, "launch_us", text_string(&rate));
    (void)setlocale(LC_ALL, "C");
    text_free(&rate);
    ck_assert_msg(f.device != NULL, "%s", messages(&f));
    ck_assert_msg(f.device->launch_us == decimals[_i].value, "%s is %.17g", decimals[_i].text, f.device->launch_us);
    teardown(&f);
}
END_TEST

static const char *const bad_numbers[] = {
    "",
    " ",
    "0",
    "0.0",
    "-1",
    "+1",
    "1e3",
    "1,5",
    "1.2.3",
    ".",
    "inf",
    "nan",
    "0x10",
    "1 ",
    " 1",
    "1234567890123456",
    "0.1234567890123456",
};

START_TEST(other_rates_are_refused)
{
    struct fixture f;
    struct text rate = {0}, wanted = {0};
    text_printf(&rate, "<rate name=\"launch_us\" value=\"%s\"/>", bad_numbers[_i]);
    read_changed(&f, ROOT, "launch_us", text_string(&rate));
    text_printf(&wanted,
                "t:45:31: error: '%s' is not a positive decimal number [device-value]\n"
                "t:45:31: note: a rate is up to 15 digits with at most one point, such as 1.98\n",
                bad_numbers[_i]);
    ck_assert_str_eq(messages(&f), text_string(&wanted));
    text_free(&rate);
    text_free(&wanted);
    teardown(&f);
}
END_TEST

static const char *const bad_limits[] = {
    "", "0", "-1", "1.0", "1.", "1e3", "0x10", "1234567890123456", "99999999999999999999"};

START_TEST(other_limits_are_refused)
{
    struct fixture f;
    struct text limit = {0};
    text_printf(&limit, "<limit name=\"multiprocessors\" value=\"%s\"/>", bad_limits[_i]);
    read_changed(&f, ROOT, "multiprocessors", text_string(&limit));
    ck_assert_msg(strstr(messages(&f), "t:2:38: error: ") != NULL && strstr(messages(&f), "[device-value]") != NULL,
                  "%s", messages(&f));
    text_free(&limit);
    teardown(&f);
}
END_TEST

/* ---- form ---- */

static const struct {
    const char *root, *name, *instead;
    const char *messages;
} faulty[] = {
    {ROOT, "l1_bytes", "", "t:1:2: error: the device has no limit 'l1_bytes' [missing-figure]\n"},
    {ROOT, "l1_bytes", "<limit name=\"l1_byte\" value=\"1\"/>",
     "t:9:14: error: unknown limit 'l1_byte' [unknown-figure]\nt:9:14: note: did you mean 'l1_bytes'?\n"
     "t:1:2: error: the device has no limit 'l1_bytes' [missing-figure]\n"},
    {ROOT, "l1_bytes", "<rate name=\"l1_bytes\" value=\"1\"/>",
     "t:9:13: error: unknown rate 'l1_bytes' [unknown-figure]\nt:9:13: note: 'l1_bytes' is a limit\n"
     "t:1:2: error: the device has no limit 'l1_bytes' [missing-figure]\n"},
    {ROOT, "launch_us", "<rate name=\"launch_us\" value=\"1\"/><rate name=\"launch_us\" value=\"2\"/>",
     "t:45:47: error: rate 'launch_us' is given twice [duplicate-figure]\n"},
    {ROOT, "launch_us", "<rate name=\"launch_us\"/>", "t:45:2: error: 'rate' has no 'value' [missing-attribute]\n"},
    {ROOT, "launch_us", "<rate name=\"launch_us\" value=\"1\" unit=\"us\"/>",
     "t:45:34: error: unknown attribute 'unit' of 'rate' [unknown-attribute]\n"
     "t:45:34: note: 'rate' has 'name' and 'value'\n"},
    {ROOT, "launch_us", "<rates name=\"launch_us\" value=\"1\"/>",
     "t:45:2: error: unknown element 'rates' [unknown-element]\nt:45:2: note: did you mean 'rate'?\n"
     "t:1:2: error: the device has no rate 'launch_us' [missing-figure]\n"},
    {ROOT, "launch_us", "<rate name=\"launch_us\" value=\"1\"/><figure/>",
     "t:45:36: error: unknown element 'figure' [unknown-element]\nt:45:36: note: a device holds 'limit' and 'rate'\n"},
    {ROOT, "launch_us", "<rate name=\"launch_us\" value=\"1\">2<rate/></rate>",
     "t:45:34: error: text inside 'rate' [stray-text]\nt:45:34: note: comments are written <!-- so -->\n"
     "t:45:36: error: 'rate' cannot stand in 'rate' [misplaced-element]\n"},
    {ROOT "text\n", "", "",
     "t:2:1: error: text inside 'device' [stray-text]\nt:2:1: note: comments are written <!-- so -->\n"},
    {"<device xmlns=\"urn:sectorwise:device:1\">\n", "", "",
     "t:1:2: error: 'device' has no 'name' [missing-attribute]\n"},
    {"<device xmlns=\"urn:sectorwise:device:1\" name=\"d\" calibrated=\"yes\">\n", "", "",
     "t:1:62: error: 'yes' is neither 'true' nor 'false' [device-value]\n"},
    {"<device xmlns=\"urn:sectorwise:device:2\" name=\"d\">\n", "", "",
     "t:1:16: error: 'device' is in the namespace 'urn:sectorwise:device:2' [wrong-namespace]\n"
     "t:1:16: note: write xmlns=\"urn:sectorwise:device:1\"\n"},
    {"<!DOCTYPE device><device>\n", "", "",
     "t:1:1: error: document type declarations are not accepted [xml-dtd]\n"
     "t:1:1: note: remove it: a description needs no DTD and has no entities of its own\n"},
};

START_TEST(faults_of_a_device_are_all_reported)
{
    struct fixture f;
    read_changed(&f, faulty[_i].root, faulty[_i].name, faulty[_i].instead);
    ck_assert_str_eq(messages(&f), faulty[_i].messages);
    teardown(&f);
}
END_TEST

START_TEST(a_layout_is_no_device)
{
    struct fixture f;
    read_text(&f, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"x\"/>");
    ck_assert_str_eq(messages(&f),
                     "t:1:2: error: the root element is 'layout', not 'device' [wrong-root]\n"
                     "t:1:2: note: a device begins with <device xmlns=\"urn:sectorwise:device:1\" name=\"...\">\n");
    teardown(&f);
}
END_TEST

/* Of an H200: 65,536 registers, 2,048 threads and 32 blocks, 228 KiB of shared memory, 256 KiB with L1. */
START_TEST(blocks_share_a_multiprocessor)
{
    struct fixture f;
    load(&f, "h200");
    const struct device *device = f.device;
    ck_assert_ptr_nonnull(device);
    ck_assert_int_eq(device_resident_blocks(device, 256, 32, 0), 8);
    ck_assert_int_eq(device_resident_blocks(device, 256, 64, 0), 4);
    ck_assert_int_eq(device_resident_blocks(device, 1, 32, 0), 32);
    ck_assert_int_eq(device_resident_blocks(device, 128, 32, 14336), 15);
    ck_assert_int_eq(device_resident_blocks(device, 1024, 255, 232448), 1);
    ck_assert_uint_eq(device_l1_bytes_beside(device, 8, 0), 262144);
    ck_assert_uint_eq(device_l1_bytes_beside(device, 8, 1024), 262144 - 8 * 2048);
    ck_assert_uint_eq(device_l1_bytes_beside(device, 32, 14336), 262144 - 233472);
    teardown(&f);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *tests = tcase_create("device");
    tcase_add_test(tests, every_figure_goes_where_it_belongs);
    tcase_add_test(tests, title_and_calibration_may_be_left_out);
    tcase_add_test(tests, the_default_device_is_compiled_in);
    tcase_add_test(tests, devices_from_specifications_are_marked);
    tcase_add_test(tests, a_path_is_a_file);
    tcase_add_loop_test(tests, what_cannot_be_loaded_is_told, 0, ROWS(unloadable));
    tcase_add_loop_test(tests, decimals_are_read_as_by_the_compiler, 0, ROWS(decimals));
    tcase_add_loop_test(tests, other_rates_are_refused, 0, ROWS(bad_numbers));
    tcase_add_loop_test(tests, other_limits_are_refused, 0, ROWS(bad_limits));
    tcase_add_loop_test(tests, faults_of_a_device_are_all_reported, 0, ROWS(faulty));
    tcase_add_test(tests, a_layout_is_no_device);
    tcase_add_test(tests, blocks_share_a_multiprocessor);
    suite_add_tcase(suite, tests);
    return suite;
}
