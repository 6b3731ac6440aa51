/* The pictures of requests: sums against score, one by one against arithmetic by hand, bytes against their places. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "explain.h"
#include "layout_find.h"
#include "random_spec.h"
#include "read.h"

struct bench {
    struct arena arena;
    struct diags diags;
    const struct device *device;
    struct spec *spec;
    struct option **chosen;
};

static bool open_source(struct bench *bench, const struct source *source, const char *candidate)
{
    bench->diags = (struct diags){.arena = &bench->arena};
    bench->device = device_load(&bench->arena, "h200", &bench->diags);
    bench->spec = read_spec(&bench->arena, source, &bench->diags);
    if (bench->spec == NULL || !check_spec(bench->spec, &bench->arena, bench->device, NULL, 0, &bench->diags))
        return false;
    struct restriction one = {candidate};
    bench->chosen =
        candidates_choose(bench->spec, bench->device, &bench->arena, &one, candidate != NULL, &bench->diags);
    return bench->chosen != NULL;
}

/* A description of one array 'a' of `fields`, and the statements of a kernel 'k'. */
static bool open_text(struct bench *bench, const char *fields, const char *array, const char *launch, const char *body,
                      const char *candidate)
{
    *bench = (struct bench){0};
    const char *text =
        arena_printf(&bench->arena,
                     "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"t\"><struct name=\"R\">%s</struct>"
                     "<array name=\"a\" of=\"R\" %s/><kernel name=\"k\" %s>%s</kernel></layout>",
                     fields, array, launch, body);
    bool good = open_source(bench, source_from_bytes(&bench->arena, "t.xml", text, strlen(text)), candidate);
    return good;
}

static void say_errors(const struct bench *bench)
{
    struct text text = {0};
    diag_render(&bench->diags, &text, false);
    (void)fputs(text_string(&text), stderr);
    text_free(&text);
}

static void close_bench(struct bench *bench)
{
    arena_free(&bench->arena);
}

static struct explain *explain(struct bench *bench, const char *kernel, int64_t access, int64_t warp)
{
    const struct explain_query query = {.kernel = {.text = kernel}, .access = access, .warp = warp};
    return explain_access(bench->spec, bench->device, bench->chosen, &query, &bench->arena, &bench->diags);
}

/* ... of a case that must work. */
static const struct explain *explain_one(struct bench *bench, const char *fields, const char *array, const char *launch,
                                         const char *body, const char *candidate, int64_t warp)
{
    const struct explain *out = NULL;
    if (open_text(bench, fields, array, launch, body, candidate))
        out = explain(bench, "k", 0, warp);
    if (out == NULL)
        say_errors(bench);
    ck_assert_ptr_nonnull(out);
    return out;
}

#define VEC "<field name=\"pos\" type=\"float\" count=\"3\"/><field name=\"mass\" type=\"float\"/>"
#define TALL                                                                                                           \
    "<field name=\"p\" type=\"float\" count=\"3\"/><field name=\"v\" type=\"float\" count=\"4\"/><field name=\"id\" "  \
    "type=\"int\"/>"
#define READ(field) "<read array=\"a\" field=\"" field "\" index=\"thread\"/>"

static uint64_t part_sum(const struct explain_picture *picture, const char *name, enum explain_use use)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < picture->part_count; i++)
        if (strcmp(picture->parts[i].name, name) == 0)
            sum += picture->parts[i].bytes[use];
    return sum;
}

/* A record of 32 bytes: every lane has a sector to itself, of which it wants 4 bytes. */
START_TEST(aos_direct)
{
    struct bench bench;
    const struct explain *out =
        explain_one(&bench, TALL, "extent=\"1024\"", "block=\"128\" grid=\"8\"", READ("p"), NULL, -1);
    ck_assert_uint_eq(out->instruction_count, 3);
    ck_assert_uint_eq(out->group_count, 1);
    ck_assert_uint_eq(out->groups[0].sectors, 96);
    ck_assert_uint_eq(out->groups[0].distinct_sectors, 32);
    for (unsigned i = 0; i < 3; i++) {
        const struct explain_instruction *one = &out->instructions[i];
        char what[8];
        (void)snprintf(what, sizeof(what), "p[%u]", i);
        ck_assert_str_eq(one->what, what);
        ck_assert_uint_eq(one->width, 4);
        ck_assert_uint_eq(one->worst, 32);
        ck_assert_uint_eq(one->typical, 32);
        ck_assert_uint_eq(one->requests[32], 32);
        ck_assert_uint_eq(one->picture->sector_count, 32);
        ck_assert_uint_eq(part_sum(one->picture, "p", USE_WANTED), 128);
        ck_assert_uint_eq(part_sum(one->picture, "p", USE_OTHERS), 256);
        ck_assert_uint_eq(part_sum(one->picture, "v", USE_UNASKED), 512);
        ck_assert_uint_eq(part_sum(one->picture, "id", USE_UNASKED), 128);
        for (unsigned lane = 0; lane < 32; lane++)
            ck_assert_int_eq(one->picture->address[lane], 32 * (int64_t)lane + 4 * (int64_t)i);
    }
    close_bench(&bench);
}
END_TEST

/* One field by itself is what its sectors hold. The last warp is cut: 8 of 32 lanes, one sector. */
START_TEST(soa_tail)
{
    struct bench bench;
    const struct explain *out =
        explain_one(&bench, VEC, "extent=\"1000\"", "block=\"40\" grid=\"25\"", READ("mass"), "a=soa/direct", -1);
    const struct explain_instruction *one = &out->instructions[0];
    ck_assert_uint_eq(out->block_warps, 2);
    ck_assert_uint_eq(one->counts.requests, 50);
    /* 160 bytes a block from 160 b on: the first warp's 128 bytes touch 4 sectors, as 160 is 5 sectors; the last one's
     * 32 bytes one. */
    ck_assert_uint_eq(one->requests[4], 25);
    ck_assert_uint_eq(one->requests[1], 25);
    ck_assert_uint_eq(one->worst, 4);
    ck_assert_uint_eq(one->first[1].block, 0);
    ck_assert_uint_eq(one->first[1].warp, 1);
    close_bench(&bench);
    out = explain_one(&bench, VEC, "extent=\"1000\"", "block=\"40\" grid=\"25\"", READ("mass"), "a=soa/direct", 49);
    ck_assert_uint_eq(out->instructions[0].picture->active, 0xff);
    ck_assert_uint_eq(out->instructions[0].picture->sector_count, 1);
    ck_assert_uint_eq(out->instructions[0].picture->at.block, 24);
    ck_assert_uint_eq(part_sum(out->instructions[0].picture, "mass", USE_WANTED), 32);
    close_bench(&bench);
}
END_TEST

/* Pieces of 16 bytes bring along what the access does not name. */
START_TEST(vector_carries)
{
    struct bench bench;
    const struct explain *out =
        explain_one(&bench, VEC, "extent=\"256\"", "block=\"256\" grid=\"1\"", READ("pos"), "a=aos/vector", -1);
    const struct explain_picture *picture = out->instructions[0].picture;
    ck_assert_uint_eq(out->instruction_count, 1);
    ck_assert_str_eq(out->instructions[0].what, "pos[0] to mass");
    ck_assert_uint_eq(picture->sector_count, 16);
    ck_assert_uint_eq(part_sum(picture, "pos", USE_WANTED), 384);
    ck_assert_uint_eq(part_sum(picture, "mass", USE_CARRIED), 128);
    ck_assert_uint_eq(part_sum(picture, "mass", USE_UNASKED), 0);
    close_bench(&bench);
}
END_TEST

/* A quarter of the threads; three threads for what is left of 1,003. */
START_TEST(wide_and_its_tail)
{
    struct bench bench;
    const struct explain *out =
        explain_one(&bench, VEC, "extent=\"1003\"", "block=\"17\" grid=\"59\"", READ("mass"), "a=soa/wide(4)", -1);
    ck_assert(out->wide);
    ck_assert_uint_eq(out->group_count, 2);
    ck_assert_str_eq(out->instructions[0].what, "mass, 4 records");
    ck_assert_uint_eq(out->instructions[0].width, 16);
    ck_assert(out->instructions[1].tail);
    ck_assert_uint_eq(out->instructions[1].counts.asked_bytes, 12);
    close_bench(&bench);
}
END_TEST

/* 16 bytes past the boundary, 128 bytes touch a fifth sector, half of which is before or after the array at its ends.
 */
START_TEST(misaligned_base)
{
    struct bench bench;
    const struct explain *out = explain_one(&bench, "<field name=\"x\" type=\"float\"/>", "extent=\"64\" offset=\"16\"",
                                            "block=\"64\" grid=\"1\"", READ("x"), NULL, 0);
    const struct explain_picture *picture = out->instructions[0].picture;
    ck_assert_uint_eq(picture->sector_count, 5);
    ck_assert_uint_eq(part_sum(picture, "outside", USE_UNASKED), 16);
    ck_assert_uint_eq(part_sum(picture, "x", USE_UNASKED), 16);
    close_bench(&bench);
    out = explain_one(&bench, "<field name=\"x\" type=\"float\"/>", "extent=\"64\" offset=\"16\"",
                      "block=\"64\" grid=\"1\"", READ("x"), NULL, 1);
    ck_assert_uint_eq(part_sum(out->instructions[0].picture, "outside", USE_UNASKED), 16);
    close_bench(&bench);
}
END_TEST

/* Even lanes only, and a hole of three bytes a record. */
START_TEST(inactive_and_padding)
{
    struct bench bench;
    const struct explain *out =
        explain_one(&bench, "<field name=\"c\" type=\"char\"/><field name=\"x\" type=\"float\"/>", "extent=\"64\"",
                    "block=\"64\" grid=\"1\"", "<if test=\"lane % 2 == 0\">" READ("x") "</if>", NULL, -1);
    const struct explain_picture *picture = out->instructions[0].picture;
    ck_assert_uint_eq(picture->active, 0x55555555);
    ck_assert_uint_eq(picture->sector_count, 8);
    ck_assert_uint_eq(part_sum(picture, "x", USE_WANTED), 64);
    ck_assert_uint_eq(part_sum(picture, "x", USE_UNASKED), 64);
    ck_assert_uint_eq(part_sum(picture, "c", USE_UNASKED), 32);
    ck_assert_uint_eq(part_sum(picture, "padding", USE_UNASKED), 96);
    close_bench(&bench);
}
END_TEST

/* Rows of 16 floats to which a unit of padding is added: the shared copy's lanes fall on banks 0, 17, 34, ... */
START_TEST(staged_banks)
{
    struct bench bench;
    const char *record = "<field name=\"f\" type=\"float\" count=\"16\"/>";
    const struct explain *out =
        explain_one(&bench, record, "extent=\"256\"", "block=\"32\" grid=\"8\"", READ("f[0]"), "a=aos/staged", -1);
    ck_assert_uint_eq(out->group_count, 3);
    ck_assert_int_eq(out->instructions[0].phase, PHASE_COPY_IN);
    ck_assert(!out->instructions[0].shared);
    ck_assert(out->instructions[1].shared);
    const struct explain_instruction *one = &out->instructions[2];
    ck_assert_int_eq(one->phase, PHASE_THREADS);
    ck_assert_uint_eq(out->focus, 2);
    /* 64-byte records: lanes are 16 words apart, on 2 banks, 16 words each. */
    ck_assert_uint_eq(one->worst, 16);
    ck_assert_uint_eq(one->picture->pass_count, 1);
    ck_assert_uint_eq(one->picture->passes[0].words[0], 16);
    ck_assert_uint_eq(one->picture->passes[0].words[16], 16);
    ck_assert_uint_eq(one->picture->passes[0].words[1], 0);
    close_bench(&bench);
    out = explain_one(&bench, record, "extent=\"256\"", "block=\"32\" grid=\"8\"", READ("f[0]"), "a=aos/staged(pad=1)",
                      -1);
    ck_assert_uint_eq(out->instructions[2].worst, 1);
    for (unsigned bank = 0; bank < SHARED_BANKS; bank++)
        ck_assert_uint_eq(out->instructions[2].picture->passes[0].words[bank], 1);
    close_bench(&bench);
}
END_TEST

/* Stride 1 + trip: from 4 sectors on trip 0 to 32 from trip 7 on; the first of each is told. */
START_TEST(loops_are_told)
{
    struct bench bench;
    const struct explain *out = explain_one(
        &bench, "<field name=\"x\" type=\"float\"/>", "extent=\"4096\"", "block=\"32\" grid=\"4\"",
        "<for var=\"j\" to=\"10\"><read array=\"a\" index=\"lane * (j + 1) + blockIdx.x\"/></for>", NULL, -1);
    const struct explain_instruction *one = &out->instructions[0];
    ck_assert_uint_eq(one->loop_count, 1);
    ck_assert_str_eq(one->loops[0]->name.text, "j");
    ck_assert_uint_eq(one->worst, 32);
    ck_assert_uint_eq(one->first[32].block, 0);
    ck_assert_uint_eq(one->first[32].trips[0], 7);
    ck_assert_uint_eq(one->first[4].trips[0], 0);
    ck_assert_uint_eq(one->requests[4], 1);
    ck_assert_uint_eq(one->first[5].block, 1);
    ck_assert_uint_eq(one->requests[5], 3);
    ck_assert_uint_eq(one->picture->at.trips[0], 7);
    ck_assert_int_eq(one->picture->address[3], 96);
    close_bench(&bench);
    out = explain_one(&bench, "<field name=\"x\" type=\"float\"/>", "extent=\"4096\"", "block=\"32\" grid=\"4\"",
                      "<for var=\"j\" to=\"10\"><read array=\"a\" index=\"lane * (j + 1) + blockIdx.x\"/></for>", NULL,
                      2);
    ck_assert_uint_eq(out->instructions[0].picture->at.block, 2);
    ck_assert_uint_eq(out->instructions[0].picture->counts.sectors, 32);
    close_bench(&bench);
}
END_TEST

/* A whole record of 40 floats: 40 requests, of which 32 are told byte by byte, on five sectors a lane. */
START_TEST(many_fields)
{
    struct bench bench;
    const struct explain *out = explain_one(&bench, "<field name=\"f\" type=\"float\" count=\"40\"/>", "extent=\"64\"",
                                            "block=\"64\" grid=\"1\"", READ("f"), NULL, -1);
    size_t detailed = 0;
    ck_assert_uint_eq(out->instruction_count, 40);
    for (size_t i = 0; i < out->instruction_count; i++)
        detailed += out->instructions[i].detailed;
    ck_assert_uint_ge(detailed, EXPLAIN_DETAILED - 1);
    ck_assert_uint_le(detailed, EXPLAIN_DETAILED);
    ck_assert(out->instructions[out->groups[0].focus].detailed);
    ck_assert_uint_eq(out->groups[0].sectors, 40 * 32);
    ck_assert_uint_eq(out->groups[0].distinct_sectors, 5 * 32);
    ck_assert_uint_eq(part_sum(out->instructions[39].picture, "f", USE_UNASKED), 0);
    close_bench(&bench);
}
END_TEST

/* A gather by a table: lanes 0 to 31 go where it says. */
START_TEST(gathers)
{
    struct bench bench = {0};
    const char *text =
        "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"g\"><table name=\"t\" extent=\"32\">"
        "0 8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1</table>"
        "<array name=\"a\" of=\"int\" extent=\"128\"/>"
        "<kernel name=\"k\" block=\"32\" grid=\"1\"><read array=\"a\" index=\"t[thread]\"/></kernel></layout>";
    ck_assert(open_source(&bench, source_from_bytes(&bench.arena, "g.xml", text, strlen(text)), NULL));
    const struct explain *out = explain(&bench, "k", EXPLAIN_WORST, EXPLAIN_WORST);
    ck_assert_ptr_nonnull(out);
    const struct explain_picture *picture = out->instructions[0].picture;
    ck_assert_uint_eq(picture->sector_count, 16);
    ck_assert_uint_eq(picture->sectors[0].lanes, 0xffff0001);
    ck_assert_uint_eq(picture->sectors[15].lanes, 0x8000);
    ck_assert_int_eq(picture->address[31], 4);
    ck_assert_uint_eq(part_sum(picture, "a", USE_WANTED), 17 * 4);
    ck_assert_uint_eq(part_sum(picture, "a", USE_UNASKED), 512 - 17 * 4);
    close_bench(&bench);
}
END_TEST

/* Of two accesses the one that is further from its ideal is shown where none is asked for. */
START_TEST(worst_access)
{
    struct bench bench;
    ck_assert(open_text(&bench, TALL, "extent=\"1024\"", "block=\"128\" grid=\"8\"", READ("id") READ("p") READ("v[0]"),
                        NULL));
    const struct explain *out = explain(&bench, "k", EXPLAIN_WORST, EXPLAIN_WORST);
    ck_assert_ptr_nonnull(out);
    ck_assert(out->chosen_as_worst);
    ck_assert_uint_eq(out->access->number, 1);
    close_bench(&bench);
}
END_TEST

static const struct {
    const char *kernel;
    int64_t access, warp;
    const char *id;
} refusals[] = {
    {"nobody", -1, -1, "unknown-kernel"}, {"k", 1, -1, "access-number"},
    {"k", 0, 32, "warp-number"},          {"k", INT64_MAX, -1, "access-number"},
    {"k", 0, INT64_MAX, "warp-number"},   {"k", 0, 31, NULL},
    {NULL, 1, -1, "access-number"},       {NULL, -1, -1, NULL},
};
enum { REFUSALS = sizeof(refusals) / sizeof(refusals[0]) };

START_TEST(numbers_are_checked)
{
    struct bench bench;
    ck_assert(open_text(&bench, VEC, "extent=\"1024\"", "block=\"128\" grid=\"8\"", READ("pos"), NULL));
    const struct explain *out = explain(&bench, refusals[_i].kernel, refusals[_i].access, refusals[_i].warp);
    if (refusals[_i].id == NULL) {
        ck_assert_ptr_nonnull(out);
    } else {
        ck_assert_ptr_null(out);
        ck_assert_uint_eq(bench.diags.count, 1);
        ck_assert_str_eq(bench.diags.items[0].id, refusals[_i].id);
    }
    close_bench(&bench);
}
END_TEST

static void add_counts(struct counts *to, const struct counts *more)
{
    ck_assert(counts_add(to, more, 1));
}

/* Sums of an access's instructions by direction, what its warps exchange by them included, or of a copy. */
static struct counts sum_explained(const struct explain *explain, enum phase phase, bool stores)
{
    struct counts sum = {0};
    for (size_t i = 0; i < explain->instruction_count; i++) {
        const struct explain_instruction *one = &explain->instructions[i];
        const bool exchanged =
            phase == PHASE_THREADS && one->phase == PHASE_EXCHANGE && (one->number >= EXCHANGE_OF_STORE) == stores;
        if (!exchanged && (one->phase != phase || (phase == PHASE_THREADS && one->stores != stores)))
            continue;
        struct counts counts = one->counts;
        if (exchanged || (phase != PHASE_THREADS && one->shared))
            counts.asked_bytes = counts.unique_bytes = 0; /* its bytes count once, on the global side */
        add_counts(&sum, &counts);
    }
    return sum;
}

static void check_picture(const struct explain_instruction *one)
{
    const struct explain_picture *picture = one->picture;
    uint64_t bytes = 0, asked = 0;
    if (!one->detailed)
        return;
    ck_assert_uint_eq(one->shared ? picture->counts.wavefronts : picture->counts.sectors,
                      one->shared ? picture->counts.wavefronts : picture->sector_count);
    for (size_t i = 0; i < picture->part_count; i++) {
        for (unsigned use = 0; use < EXPLAIN_USES; use++)
            bytes += picture->parts[i].bytes[use];
        asked += picture->parts[i].bytes[USE_WANTED] + picture->parts[i].bytes[USE_CARRIED];
    }
    if (one->shared)
        return;
    ck_assert_uint_eq(bytes, SECTOR_BYTES * picture->counts.sectors);
    ck_assert_uint_eq(asked, picture->counts.unique_bytes);
}

/* Of the focus of each group the picture is that of the costliest request, at the place that is told. */
static void check_explain(const struct explain *explain)
{
    for (size_t g = 0; g < explain->group_count; g++) {
        const struct explain_instruction *focus = &explain->instructions[explain->groups[g].focus];
        ck_assert_ptr_nonnull(focus->picture);
        ck_assert_uint_eq(focus->shared ? focus->picture->counts.wavefronts : focus->picture->counts.sectors,
                          focus->worst);
    }
    for (size_t i = 0; i < explain->instruction_count; i++) {
        const struct explain_instruction *one = &explain->instructions[i];
        uint64_t requests = 0;
        for (unsigned cost = 0; cost < EXPLAIN_COSTS; cost++)
            requests += one->requests[cost];
        ck_assert_uint_eq(requests, one->counts.instructions);
        if (one->picture != NULL)
            check_picture(one);
    }
}

/* Every access of every kernel against score. Returns how many were compared. */
static unsigned compare_with_score(struct bench *bench)
{
    unsigned compared = 0;
    struct score *score = score_spec(bench->spec, bench->device, bench->chosen, &bench->arena, &bench->diags);
    if (score == NULL)
        return 0;
    for (size_t k = 0; k < score->kernel_count; k++) {
        const struct kernel_score *kernel = &score->kernels[k];
        for (size_t i = 0; i < kernel->access_count; i++) {
            const struct access_score *scored = &kernel->accesses[i];
            const struct explain *out =
                explain(bench, kernel->kernel->name.text, scored->access->number, EXPLAIN_WORST);
            if (out == NULL)
                say_errors(bench);
            ck_assert_ptr_nonnull(out);
            const struct counts sum = sum_explained(out, scored->phase, scored->op == ACCESS_WRITE);
            if (scored->phase == PHASE_THREADS ||
                (scored->phase == PHASE_COPY_IN ? scored->access->op != ACCESS_WRITE
                                                : scored->access->op != ACCESS_READ)) {
                const struct counts wanted = scored->counts;
                if (scored->phase == PHASE_THREADS && memcmp(&sum, &wanted, sizeof(sum)) != 0)
                    ck_abort_msg("kernel %s, access %u (%s): requests %llu for %llu, sectors %llu for %llu",
                                 kernel->kernel->name.text, scored->access->number, scored->candidate,
                                 (unsigned long long)sum.requests, (unsigned long long)wanted.requests,
                                 (unsigned long long)sum.sectors, (unsigned long long)wanted.sectors);
                ck_assert_uint_eq(sum.sectors, wanted.sectors);
                ck_assert_uint_eq(sum.wavefronts, wanted.wavefronts);
                ck_assert_uint_eq(sum.unique_bytes, wanted.unique_bytes);
            }
            check_explain(out);
            compared++;
        }
    }
    return compared;
}

static const char *const layouts[] = {"aos",       "soa",          "aosoa(32)",  "aosoa(8)",
                                      "row-major", "column-major", "tiled(8 4)", "aos(reorder)"};
static const char *const plans[] = {"direct", "vector",        "shuffle",        "wide(4)",
                                    "staged", "staged(pad=1)", "staged(swizzle)"};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]), PLANS = sizeof(plans) / sizeof(plans[0]) };

/* Every layout with every plan, for the array of `which`; those that do not apply are passed over. */
static unsigned compare_candidates(const struct source *source)
{
    unsigned compared = 0;
    for (unsigned layout = 0; layout < LAYOUTS; layout++) {
        for (unsigned plan = 0; plan < PLANS; plan++) {
            struct bench bench = {0};
            char candidate[256] = "";
            if (open_source(&bench, source, NULL) && bench.spec->arrays != NULL)
                (void)snprintf(candidate, sizeof(candidate), "%s=%s/%s", bench.spec->arrays->name.text, layouts[layout],
                               plans[plan]);
            close_bench(&bench);
            bench = (struct bench){0};
            if (candidate[0] != '\0' && open_source(&bench, source, candidate))
                compared += compare_with_score(&bench);
            close_bench(&bench);
        }
    }
    return compared;
}

static unsigned scale(unsigned full)
{
    const char *asked = getenv("SECTORWISE_TEST_SCALE");
    return asked != NULL && strcmp(asked, "small") == 0    ? full / 20
           : asked != NULL && strcmp(asked, "medium") == 0 ? full / 4
                                                           : full;
}

START_TEST(random_sums)
{
    unsigned compared = 0;
    for (unsigned seed = 0; seed < scale(100); seed++) {
        struct arena arena = {0};
        struct text text = {0};
        random_spec_write(&text, seed, seed % RANDOM_FAULTY);
        compared += compare_candidates(source_from_bytes(&arena, "random.xml", text_string(&text), text.length));
        text_free(&text);
        arena_free(&arena);
    }
    ck_assert_uint_gt(compared, scale(100));
}
END_TEST

/* Where counting finds a fault, so does the picture: the same one, and no picture. */
START_TEST(faults_are_told)
{
    unsigned faults = 0;
    for (unsigned seed = 0; seed < scale(400); seed++) {
        struct bench scored = {0}, explained = {0};
        struct text text = {0};
        random_spec_write(&text, seed, RANDOM_FAULTY);
        const struct source *source =
            source_from_bytes(&explained.arena, "faulty.xml", text_string(&text), text.length);
        if (open_source(&scored, source, NULL) && open_source(&explained, source, NULL) &&
            scored.spec->kernels != NULL && scored.spec->kernels->next == NULL &&
            scored.spec->kernels->access_count > 0) {
            const bool faulty =
                score_spec(scored.spec, scored.device, scored.chosen, &scored.arena, &scored.diags) == NULL;
            const struct explain *out = explain(&explained, explained.spec->kernels->name.text, 0, EXPLAIN_WORST);
            ck_assert_msg(faulty == (out == NULL), "seed %u", seed);
            if (faulty)
                ck_assert_str_eq(scored.diags.items[0].message, explained.diags.items[0].message);
            faults += faulty;
        }
        text_free(&text);
        close_bench(&scored);
        close_bench(&explained);
    }
    ck_assert_uint_gt(faults, 0);
}
END_TEST

/* Each warp asked for by itself: the sums of what is shown are those of the launch. */
START_TEST(warps_add_up)
{
    static const char *const candidates[] = {NULL, "a=soa/direct", "a=soa/wide(4)", "a=aos/vector",
                                             "a=aosoa(8)/direct"};
    for (unsigned c = 0; c < sizeof(candidates) / sizeof(candidates[0]); c++) {
        struct bench bench;
        struct counts sum = {0}, whole = {0};
        ck_assert(open_text(&bench, TALL, "extent=\"2000\" offset=\"32\"", "block=\"72\" grid=\"9\"", READ("p id"),
                            candidates[c]));
        const struct explain *launch = explain(&bench, "k", 0, EXPLAIN_WORST);
        ck_assert_ptr_nonnull(launch);
        for (size_t i = 0; i < launch->instruction_count; i++)
            add_counts(&whole, &launch->instructions[i].counts);
        for (uint64_t warp = 0; warp < launch->blocks * launch->block_warps; warp++) {
            const struct explain *one = explain(&bench, "k", 0, (int64_t)warp);
            ck_assert_ptr_nonnull(one);
            for (size_t i = 0; i < one->instruction_count; i++)
                if (one->instructions[i].picture != NULL)
                    add_counts(&sum, &one->instructions[i].picture->counts);
        }
        ck_assert_int_eq(memcmp(&sum, &whole, sizeof(sum)), 0);
        close_bench(&bench);
    }
}
END_TEST

/* layout_find undoes layout_address, byte by byte, and finds nothing that layout_address does not put there. */
static void check_places(const struct option *option)
{
    const struct mapping *mapping = option->mapping;
    const struct array *array = option->array;
    uint64_t found = 0, owned = 0;
    if (mapping->bytes > 1 << 16)
        return;
    for (uint64_t at = 0; at < mapping->bytes; at++) {
        struct layout_byte byte;
        found += layout_find(&byte, mapping, at, 0);
    }
    for (uint64_t record = 0; record < array->records; record++) {
        int64_t index[SPEC_DIMS_MAX] = {0};
        uint64_t rest = record;
        for (unsigned d = array->dim_count; d-- > 0; rest /= array->extent[d])
            index[d] = (int64_t)(rest % array->extent[d]);
        for (size_t leaf = 0; leaf < array->record->leaf_count; leaf++) {
            struct layout_byte byte;
            const uint64_t address = layout_address(mapping, leaf, index);
            owned += array->record->leaves[leaf].size;
            for (uint64_t b = 0; b < array->record->leaves[leaf].size; b++) {
                ck_assert(layout_find(&byte, mapping, address + b, leaf / 2));
                ck_assert_uint_eq(byte.leaf, leaf);
                ck_assert_uint_eq(byte.offset, b);
            }
        }
    }
    ck_assert_uint_eq(found, owned);
    struct layout_byte byte;
    ck_assert(!layout_find(&byte, mapping, mapping->bytes, 0));
}

static const struct {
    const char *array, *index, *candidate;
} places[] = {
    {"extent=\"100\"", "thread", "a=aos"},
    {"extent=\"100\"", "thread", "a=aos(align=64)"},
    {"extent=\"100\"", "thread", "a=soa"},
    {"extent=\"100\"", "thread", "a=aosoa(32)"},
    {"extent=\"100\"", "thread", "a=aosoa(8)"},
    {"extent=\"10 12\"", "0, thread", "a=row-major"},
    {"extent=\"10 12\" pitch=\"640\"", "0, thread", "a=row-major"},
    {"extent=\"10 12\"", "0, thread", "a=soa"},
    {"extent=\"3 5 7\"", "0, 0, thread", "a=aosoa(16)"},
    {"extent=\"100\"", "thread", "a=split(c x | d)"},
    {"extent=\"100\"", "thread", "a=split(soa: c x | d)"},
    {"extent=\"100\"", "thread", "a=split(aosoa(8): c d | x)"},
    {"extent=\"10 12\"", "0, thread", "a=column-major"},
    {"extent=\"10 12\"", "0, thread", "a=pitch(1024)"},
    {"extent=\"10 12\"", "0, thread", "a=tiled(4 4)"},
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

START_TEST(bytes_are_found)
{
    struct bench bench;
    char body[128];
    const char *fields = "<field name=\"c\" type=\"char\" count=\"3\"/><field name=\"x\" type=\"float2\"/>"
                         "<field name=\"d\" type=\"double\"/>";
    (void)snprintf(body, sizeof(body), "<read array=\"a\" index=\"%s\"/>", places[_i].index);
    bool good = open_text(&bench, fields, places[_i].array, "block=\"4\" grid=\"1\"", body, places[_i].candidate);
    if (good)
        check_places(bench.chosen[0]);
    else
        ck_assert_str_eq(bench.diags.items[0].id, "inapplicable-candidate");
    close_bench(&bench);
}
END_TEST

Suite *explain_suite(void);

Suite *explain_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *hand = tcase_create("by hand");
    tcase_add_test(hand, aos_direct);
    tcase_add_test(hand, soa_tail);
    tcase_add_test(hand, vector_carries);
    tcase_add_test(hand, wide_and_its_tail);
    tcase_add_test(hand, misaligned_base);
    tcase_add_test(hand, inactive_and_padding);
    tcase_add_test(hand, staged_banks);
    tcase_add_test(hand, loops_are_told);
    tcase_add_test(hand, many_fields);
    tcase_add_test(hand, gathers);
    tcase_add_test(hand, worst_access);
    tcase_add_loop_test(hand, numbers_are_checked, 0, REFUSALS);
    tcase_add_loop_test(hand, bytes_are_found, 0, PLACES);
    suite_add_tcase(suite, hand);
    TCase *sums = tcase_create("sums");
    tcase_add_test(sums, random_sums);
    tcase_add_test(sums, warps_add_up);
    tcase_add_test(sums, faults_are_told);
    suite_add_tcase(suite, sums);
    return suite;
}
