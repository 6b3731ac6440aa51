#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "candidates.h"
#include "check.h"
#include "device.h"
#include "diag.h"
#include "ncu.h"
#include "rank.h"
#include "read.h"
#include "source.h"
#include "text.h"
#include "verify.h"

static const char description[] =
    "<layout xmlns='urn:sectorwise:layout:1' name='demo'>"
    "<struct name='P'><field name='x' type='float'/><field name='y' type='float'/></struct>"
    "<array name='p' of='P' extent='4096'/><array name='sum' of='int' extent='1'/>"
    "<array name='tile' of='float' extent='64' space='shared'/>"
    "<kernel name='move' block='64' grid='64'><update array='p' field='x' index='thread'/></kernel>"
    "<kernel name='add' block='64' grid='64'>"
    "<write array='tile' index='threadIdx.x * 2 % 64'/><read array='tile' index='threadIdx.x'/>"
    "<atomic array='sum' index='0'/></kernel>"
    "</layout>";

struct fixture {
    struct arena arena;
    struct diags diags;
    const struct spec *spec;
    struct ncu_report report;
    struct verify *verify;
};

static const struct ranked *predict(struct fixture *f, const char *candidate)
{
    struct spec *spec =
        read_spec(&f->arena, source_from_bytes(&f->arena, "d.xml", description, strlen(description)), &f->diags);
    const struct device *device = device_load(&f->arena, "h200", &f->diags);
    ck_assert(check_spec(spec, &f->arena, device, NULL, 0, &f->diags));
    const struct restriction restriction = {candidate};
    struct option **chosen = candidates_choose(spec, device, &f->arena, &restriction, candidate != NULL, &f->diags);
    ck_assert_ptr_nonnull(chosen);
    struct options *options = arena_array(&f->arena, spec->array_count, sizeof(*options));
    for (size_t i = 0; i < spec->array_count; i++)
        options[i] = (struct options){.array = chosen[i]->array, .items = &chosen[i], .count = 1};
    const struct ranking *ranking = rank_spec(spec, device, options, &f->arena, &f->diags);
    ck_assert_ptr_nonnull(ranking);
    f->spec = spec;
    return &ranking->items[0];
}

/* A launch of a kernel: 64 blocks of 64 threads, unless `blocks` says otherwise, with one metric. */
static void launch(struct fixture *f, const char *kernel, uint64_t blocks, enum ncu_metric metric, double value)
{
    static struct ncu_launch launches[8];
    f->report.launches = launches;
    struct ncu_launch *made = &launches[f->report.count++];
    *made = (struct ncu_launch){.id = "0", .kernel = kernel, .has_shape = true, .blocks = blocks, .block_threads = 64};
    made->name = ncu_function_name(kernel, &f->arena);
    made->given[metric] = true;
    made->value[metric] = value;
}

static void setup(struct fixture *f)
{
    *f = (struct fixture){0};
    f->diags.arena = &f->arena;
}

static void compare(struct fixture *f, const char *candidate, double tolerance)
{
    const struct ranked *best = predict(f, candidate);
    f->verify = verify_compare(f->spec, best, &f->report, tolerance, &f->arena, &f->diags);
    ck_assert((f->verify == NULL) == diag_failed(&f->diags));
}

static void teardown(struct fixture *f)
{
    arena_free(&f->arena);
}

/* ---- one count of one launch ---- */

static const struct {
    const char *what, *kernel, *candidate;
    enum ncu_metric metric;
    double value, tolerance;
    double predicted;
    bool differs;
} rows[] = {
    {"128 warps of 8 sectors", "move", NULL, NCU_LOAD_SECTORS, 1024, 0, 1024, false},
    {"stores apart from loads", "move", NULL, NCU_STORE_SECTORS, 1024, 0, 1024, false},
    {"one too many", "move", NULL, NCU_LOAD_SECTORS, 1025, 0, 1024, true},
    {"one too few", "move", NULL, NCU_LOAD_SECTORS, 1023, 0, 1024, true},
    {"within the tolerance", "move", NULL, NCU_LOAD_SECTORS, 1034, 1, 1024, false},
    {"beyond the tolerance", "move", NULL, NCU_LOAD_SECTORS, 1035, 1, 1024, true},
    {"requests", "move", NULL, NCU_LOAD_REQUESTS, 128, 0, 128, false},
    {"lines", "move", NULL, NCU_LOAD_LINES, 256, 0, 256, false},
    {"another layout", "move", "p=soa/direct", NCU_LOAD_SECTORS, 512, 0, 512, false},
    {"a quarter of the threads", "move", "p=soa/wide(4)", NCU_LOAD_REQUESTS, 32, 0, 32, false},
    {"a staged copy reads global memory", "move", "p=aos/staged", NCU_LOAD_SECTORS, 1024, 0, 1024, false},
    {"and writes shared memory, as do the threads", "move", "p=aos/staged", NCU_SHARED_STORE_WAVEFRONTS, 512, 0, 512,
     false},
    {"all requests together", "move", NULL, NCU_REQUESTS, 256, 0, 256, false},
    {"all sectors together", "move", NULL, NCU_SECTORS, 2048, 0, 2048, false},
    {"both sides of shared memory", "add", NULL, NCU_SHARED_WAVEFRONTS, 384, 0, 384, false},
    {"what nobody predicts", "move", NULL, NCU_SHARED_STORE_WAVEFRONTS, 7, 1, 0, true},
    {"noise on loads from shared memory", "add", NULL, NCU_SHARED_LOAD_WAVEFRONTS, 158, 1, 128, false},
    {"more than noise", "add", NULL, NCU_SHARED_LOAD_WAVEFRONTS, 256, 1, 128, true},
    {"estimates are not judged", "move", NULL, NCU_DRAM_READ_BYTES, 1e9, 0, 32768, false},
    {"nor times", "move", NULL, NCU_TIME_NS, 1e9, 0, -1, false},
};

START_TEST(compares)
{
    struct fixture f;
    setup(&f);
    uint64_t blocks = rows[_i].candidate != NULL && strstr(rows[_i].candidate, "wide") != NULL ? 16 : 64;
    launch(&f, rows[_i].kernel, blocks, rows[_i].metric, rows[_i].value);
    compare(&f, rows[_i].candidate, rows[_i].tolerance);
    ck_assert_ptr_nonnull(f.verify);
    const struct verified_kernel *kernel = &f.verify->kernels[strcmp(rows[_i].kernel, "add") == 0];
    ck_assert_msg(kernel->launches == 1 && kernel->count_count == 1, "%s: %zu launches, %zu counts", rows[_i].what,
                  kernel->launches, kernel->count_count);
    const struct verified *count = &kernel->counts[0];
    ck_assert_msg(rows[_i].predicted < 0 || count->predicted == rows[_i].predicted, "%s: %g", rows[_i].what,
                  count->predicted);
    ck_assert_msg(count->differs == rows[_i].differs && f.verify->differs == rows[_i].differs, "%s", rows[_i].what);
    teardown(&f);
}
END_TEST

/* What each access adds is what is predicted, for every count that accesses make up. */
START_TEST(shares_add_up)
{
    static const char *const candidates[] = {"p=aos/direct", "p=aos/vector", "p=soa/wide(4)", "p=aos/staged"};
    struct fixture f;
    setup(&f);
    const struct ranked *best = predict(&f, candidates[_i]);
    for (size_t k = 0; k < f.spec->kernel_count; k++) {
        const struct kernel_score *score = best->kernels[k].score;
        uint64_t sectors = 0, requests = 0, wavefronts = 0;
        for (size_t i = 0; i < score->access_count; i++) {
            const struct access_score *access = &score->accesses[i];
            sectors += verify_share(access, VERIFY_SECTORS);
            requests += access->counts.requests;
            wavefronts += access->counts.wavefronts;
            sectors -= verify_share(access, VERIFY_READ_SECTORS) + verify_share(access, VERIFY_WRITE_SECTORS) +
                       verify_share(access, VERIFY_ATOMIC_SECTORS);
            requests -= verify_share(access, VERIFY_READ_REQUESTS) + verify_share(access, VERIFY_WRITE_REQUESTS) +
                        verify_share(access, VERIFY_ATOMIC_REQUESTS);
            wavefronts -= verify_share(access, VERIFY_SHARED_READ_WAVEFRONTS) +
                          verify_share(access, VERIFY_SHARED_WRITE_WAVEFRONTS);
        }
        ck_assert_msg(sectors == 0 && requests == 0 && wavefronts == 0, "%s, kernel %zu", candidates[_i], k);
    }
    teardown(&f);
}
END_TEST

/* Through shared memory in 8 passes each way; 4 more wavefronts on the side in the order of memory. */
START_TEST(an_exchange_is_stored_and_loaded)
{
    struct access_score access = {.op = ACCESS_READ, .space = SPACE_GLOBAL, .phase = PHASE_THREADS};
    access.counts = (struct counts){.instructions = 6, .requests = 2, .wavefronts = 20, .conflicts = 4};
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_READ_PASSES), 8);
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_WRITE_PASSES), 8);
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_READ_WAVEFRONTS), 8);
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_WRITE_WAVEFRONTS), 12);
    access.op = ACCESS_WRITE;
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_READ_WAVEFRONTS), 12);
    ck_assert_uint_eq(verify_share(&access, VERIFY_SHARED_WRITE_WAVEFRONTS), 8);
    ck_assert_uint_eq(verify_share(&access, VERIFY_READ_REQUESTS), 0);
    ck_assert_uint_eq(verify_share(&access, VERIFY_WRITE_REQUESTS), 2);
}
END_TEST

/* ---- launches ---- */

START_TEST(takes_the_mean)
{
    struct fixture f;
    setup(&f);
    launch(&f, "move", 64, NCU_LOAD_SECTORS, 1000);
    launch(&f, "move", 64, NCU_LOAD_SECTORS, 1048);
    compare(&f, NULL, 0);
    const struct verified *count = &f.verify->kernels[0].counts[0];
    ck_assert_double_eq(count->measured, 1024);
    ck_assert_double_eq(count->least, 1000);
    ck_assert_double_eq(count->most, 1048);
    ck_assert(!count->differs);
    teardown(&f);
}
END_TEST

START_TEST(tells_instances_of_a_template_apart)
{
    struct fixture f;
    setup(&f);
    launch(&f, "void move<a>(T1)", 64, NCU_LOAD_SECTORS, 1024);
    launch(&f, "void move<b>(T1)", 64, NCU_LOAD_SECTORS, 2048);
    launch(&f, "void move<a>(T1)", 64, NCU_LOAD_SECTORS, 1024);
    compare(&f, NULL, 0);
    ck_assert_uint_eq(f.verify->kernel_count, 3);
    ck_assert_uint_eq(f.verify->kernels[0].launches, 2);
    ck_assert_uint_eq(f.verify->kernels[1].launches, 1);
    ck_assert(!f.verify->kernels[0].differs && f.verify->kernels[1].differs && f.verify->differs);
    ck_assert_ptr_null(f.verify->kernels[2].function);
    teardown(&f);
}
END_TEST

START_TEST(passes_over_other_shapes)
{
    struct fixture f;
    setup(&f);
    launch(&f, "move", 1, NCU_LOAD_SECTORS, 16);
    launch(&f, "move", 64, NCU_LOAD_SECTORS, 1024);
    compare(&f, NULL, 0);
    ck_assert_uint_eq(f.verify->kernels[0].launches, 1);
    ck_assert_uint_eq(f.verify->kernels[0].strange_count, 1);
    ck_assert(!f.verify->differs);
    teardown(&f);
    setup(&f);
    launch(&f, "move", 1, NCU_LOAD_SECTORS, 16);
    compare(&f, NULL, 0);
    ck_assert(f.verify->differs && f.verify->kernels[0].differs);
    teardown(&f);
}
END_TEST

/* A count that not every launch has is left out; atomics need both of their counters. 32 lanes take turns at the sum.
 */
START_TEST(leaves_out_what_is_not_measured)
{
    struct fixture f;
    setup(&f);
    launch(&f, "move", 64, NCU_LOAD_SECTORS, 1024);
    launch(&f, "move", 64, NCU_STORE_SECTORS, 1024);
    launch(&f, "add", 64, NCU_ATOMIC_SECTORS, 0);
    compare(&f, NULL, 0);
    ck_assert_uint_eq(f.verify->kernels[0].count_count, 0);
    ck_assert_uint_eq(f.verify->kernels[1].count_count, 0);
    teardown(&f);
    setup(&f);
    launch(&f, "add", 64, NCU_ATOMIC_SECTORS, 0);
    f.report.launches[0].given[NCU_REDUCTION_SECTORS] = true;
    f.report.launches[0].value[NCU_REDUCTION_SECTORS] = 128 * 32;
    compare(&f, NULL, 0);
    ck_assert_uint_eq(f.verify->kernels[1].count_count, 1);
    ck_assert(!f.verify->differs);
    teardown(&f);
}
END_TEST

START_TEST(names_other_kernels)
{
    struct fixture f;
    setup(&f);
    launch(&f, "move", 64, NCU_LOAD_SECTORS, 1024);
    launch(&f, "void scan<int>(T1)", 64, NCU_LOAD_SECTORS, 1);
    launch(&f, "void scan<float>(T1)", 64, NCU_LOAD_SECTORS, 1);
    compare(&f, NULL, 0);
    ck_assert_uint_eq(f.verify->other_count, 1);
    ck_assert_str_eq(f.verify->others[0], "scan");
    teardown(&f);
    setup(&f);
    launch(&f, "moved", 64, NCU_LOAD_SECTORS, 1024);
    compare(&f, NULL, 0);
    ck_assert_ptr_null(f.verify);
    ck_assert_str_eq(f.diags.items[0].id, "ncu-kernels");
    ck_assert_ptr_nonnull(strstr(f.diags.items[0].note, "'move'"));
    teardown(&f);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *verify_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    tcase_add_loop_test(tcase, compares, 0, COUNT(rows));
    tcase_add_loop_test(tcase, shares_add_up, 0, 4);
    tcase_add_test(tcase, an_exchange_is_stored_and_loaded);
    tcase_add_test(tcase, takes_the_mean);
    tcase_add_test(tcase, tells_instances_of_a_template_apart);
    tcase_add_test(tcase, passes_over_other_shapes);
    tcase_add_test(tcase, leaves_out_what_is_not_measured);
    tcase_add_test(tcase, names_other_kernels);
    suite_add_tcase(suite, tcase);
    return suite;
}
