/* The counts against a second implementation (naive.h), the hardware, public cases and sums done by hand. */
#include <check.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"
#include "naive.h"
#include "naive_map.h"
#include "random_spec.h"
#include "read.h"
#include "rows.h"
#include "score.h"

#ifndef TESTS_DIR
#define TESTS_DIR "tests"
#endif

static struct option **choose_restricted(struct bench *bench, const char *restriction)
{
    struct restriction one = {restriction};
    return candidates_choose(bench->spec, bench->device, &bench->arena, &one, restriction != NULL, &bench->diags);
}

/* Collects what went wrong; several threads may add. Only the first few are kept in full. */
struct findings {
    struct text text;
    size_t count;
};

enum { FINDINGS_SHOWN = 5 };

static void findings_add(struct findings *findings, const char *label, const char *xml, const struct text *what)
{
#pragma omp critical(findings)
    {
        if (findings->count++ < FINDINGS_SHOWN)
            text_printf(&findings->text, "---- %s\n%s\n%s\n", label, text_string(what), xml);
    }
}

static void findings_close(struct findings *findings)
{
    size_t count = findings->count;
    if (count > 0)
        (void)fprintf(stderr, "%s%zu findings\n", text_string(&findings->text), count);
    text_free(&findings->text);
    ck_assert_uint_eq(count, 0);
}

/* The number after "first by thread " in a message; UINT64_MAX where there is none. */
static uint64_t named_thread(const struct diags *diags)
{
    static const char words[] = "first by thread ";
    for (size_t i = 0; i < diags->count; i++) {
        const char *at = strstr(diags->items[i].message, words);
        if (at != NULL)
            return strtoull(at + strlen(words), NULL, 10);
    }
    return UINT64_MAX;
}

static size_t line_of(struct span where)
{
    return where.source == NULL ? 0 : source_locate(where.source, where.offset).line;
}

/* Both must name the same element and thread. */
static void compare_faults(struct text *out, const struct diags *diags, const struct naive_fault *fault)
{
    if (diags->count == 0) {
        text_puts(out, "no score and no diagnostic\n");
        return;
    }
    const struct diag *first = &diags->items[0];
    size_t line = fault->statement == NULL ? 0 : line_of(fault->statement->where);
    /* Where `bytes` does not fit the layout an access is named, but no thread, and which fault is told first is open.
     */
    if (fault->kind != NAIVE_FINE && strstr(first->message, "'bytes'") != NULL)
        return;
    if (fault->kind != NAIVE_FINE && named_thread(diags) == fault->thread && line_of(first->where) == line)
        return;
    text_printf(out, "refused: %s (line %zu)\nnaive: fault %d by thread %" PRIu64 ", line %zu, value %" PRId64 "\n",
                first->message, line_of(first->where), (int)fault->kind, fault->thread, line, fault->value);
}

/* Options that each apply to their array may not go together: too much shared memory, or wide threads beside a staged
 * copy. */
static bool cannot_combine(const struct diags *diags)
{
    return diags->count > 0 && strcmp(diags->items[0].id, "inapplicable-candidate") == 0;
}

/* Scores one choice of options both ways. */
static void compare_choice(struct bench *bench, struct option *const *chosen, struct findings *findings,
                           const char *label, const char *xml)
{
    struct text what = {0};
    struct diags diags = {.arena = &bench->arena};
    struct score *score = score_spec(bench->spec, bench->device, chosen, &bench->arena, &diags);
    if (score == NULL && cannot_combine(&diags))
        return;
    struct naive_score *naive = naive_score_spec(bench->spec, naive_uses(bench, chosen), &bench->arena);
    if (score == NULL)
        compare_faults(&what, &diags, &naive->fault);
    else
        compare_scores(&what, score, naive);
    if (what.length > 0) {
        text_puts(&what, "chosen:");
        for (size_t a = 0; a < bench->spec->array_count; a++)
            text_printf(&what, " %s=%s", chosen[a]->array->name.text, chosen[a]->candidate.text);
        findings_add(findings, label, xml, &what);
    }
    text_free(&what);
}

static unsigned random_count(void)
{
    const char *scale = getenv("SECTORWISE_TEST_SCALE");
    if (scale != NULL && strcmp(scale, "small") == 0)
        return 500;
    return scale != NULL && strcmp(scale, "medium") == 0 ? 4000 : 21000;
}

enum { SAMPLES = 3 };

/* Any option, the rarer plans more often than by chance. */
static struct option *pick_option(const struct options *options, uint64_t *state)
{
    struct option *option = NULL;
    for (unsigned tries = 0; tries < 3; tries++) {
        option = options->items[random_below(state, (unsigned)options->count)];
        if (option->candidate.plan.kind != PLAN_DIRECT)
            break;
    }
    return option;
}

/* Both must agree whether a layout applies, and on the storage that it takes. */
static void compare_layouts(struct bench *bench, const struct array *array, const struct candidate *candidate,
                            struct text *what)
{
    struct mapping *mapping;
    struct map map;
    const char *reason = "";
    bool ours = layout_map(&mapping, &bench->arena, array, &candidate->layout, &reason);
    bool theirs = naive_map(&map, &bench->arena, array, candidate);
    if (ours != theirs)
        text_printf(what, "%s=%s: %s, naive says it %s\n", array->name.text,
                    notation_layout(&bench->arena, &candidate->layout), ours ? "applies" : reason,
                    theirs ? "applies" : "does not");
    else if (ours && mapping->bytes != map.bytes)
        text_printf(what, "%s=%s: %" PRIu64 " bytes, naive %" PRIu64 "\n", array->name.text,
                    notation_layout(&bench->arena, &candidate->layout), mapping->bytes, map.bytes);
}

/* A candidate of any kind that the notation has; NULL where the one drawn does not apply. */
static struct option *draw_option(struct bench *bench, const struct array *array, uint64_t *state, struct text *what)
{
    struct text text = {0};
    struct diags diags = {.arena = &bench->arena};
    struct candidate candidate = {0};
    const char *reason = "";
    bool has_plan = false;
    random_candidate_write(&text, state, array, &bench->arena);
    const char *copy = arena_copy(&bench->arena, text_string(&text), text.length);
    struct quoted quoted = {copy, {source_from_bytes(&bench->arena, "random", copy, text.length), 0, text.length}};
    text_free(&text);
    if (!notation_parse(&candidate, &has_plan, &bench->arena, &quoted, &diags)) {
        diag_render(&diags, what, false);
        return NULL;
    }
    compare_layouts(bench, array, &candidate, what);
    return candidate_apply(bench->spec, array, &candidate, bench->device, &bench->arena, &reason);
}

/* The default, a few random choices among all options, and a few of all that can be written. */
static void compare_description(const struct device *device, uint64_t seed, enum random_kind kind,
                                struct findings *findings)
{
    struct bench bench;
    struct text xml = {0};
    struct text what = {0};
    char label[64];
    uint64_t state = seed ^ 0x5eed;
    (void)snprintf(label, sizeof(label), "kind %d, seed %" PRIu64, (int)kind, seed);
    random_spec_write(&xml, seed, kind);
    bool valid = bench_open_text(&bench, device, "random.xml", text_string(&xml));
    struct option **chosen = valid ? choose_restricted(&bench, NULL) : NULL;
    struct options *options = NULL;
    if (chosen != NULL)
        options = candidates_enumerate(bench.spec, device, &bench.arena, NULL, 0, &bench.diags);
    if (options == NULL) {
        diag_render(&bench.diags, &what, false);
        findings_add(findings, label, text_string(&xml), &what);
    } else {
        compare_choice(&bench, chosen, findings, label, text_string(&xml));
    }
    for (unsigned sample = 0; options != NULL && sample < SAMPLES; sample++) {
        for (size_t a = 0; a < bench.spec->array_count; a++)
            chosen[a] = pick_option(&options[a], &state);
        compare_choice(&bench, chosen, findings, label, text_string(&xml));
        for (size_t a = 0; a < bench.spec->array_count; a++) {
            struct option *drawn = draw_option(&bench, options[a].array, &state, &what);
            chosen[a] = drawn != NULL ? drawn : chosen[a];
        }
        if (what.length > 0)
            findings_add(findings, label, text_string(&xml), &what);
        text_free(&what);
        what = (struct text){0};
        compare_choice(&bench, chosen, findings, label, text_string(&xml));
    }
    text_free(&what);
    text_free(&xml);
    bench_close(&bench);
}

static void compare_kind(enum random_kind kind, unsigned count)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    long end = (long)count;
#pragma omp parallel for schedule(dynamic, 8)
    for (long seed = 0; seed < end; seed++)
        compare_description(device, (uint64_t)seed, kind, &findings);
    arena_free(&arena);
    findings_close(&findings);
}

START_TEST(random_wild)
{
    compare_kind(RANDOM_WILD, random_count() / 3);
}
END_TEST

START_TEST(random_regular)
{
    compare_kind(RANDOM_REGULAR, random_count() / 3);
}
END_TEST

START_TEST(random_stream)
{
    compare_kind(RANDOM_STREAM, random_count() / 3);
}
END_TEST

START_TEST(random_faulty)
{
    compare_kind(RANDOM_FAULTY, random_count() / 6);
}
END_TEST

static void put_escaped(struct text *out, const char *string)
{
    for (; *string != '\0'; string++) {
        if (*string == '<')
            text_puts(out, "&lt;");
        else if (*string == '&')
            text_puts(out, "&amp;");
        else
            text_putc(out, *string);
    }
}

enum pattern_column {
    PATTERN_ID,
    PATTERN_FAMILY,
    PATTERN_SPACE,
    PATTERN_OP,
    PATTERN_BYTES,
    PATTERN_BLOCK,
    PATTERN_GRID,
    PATTERN_TRIPS,
    PATTERN_ADDRESS,
    PATTERN_WHEN,
    PATTERN_INSTRUCTIONS,
    PATTERN_REQUESTS,
    PATTERN_SECTORS,
    PATTERN_LINES,
    PATTERN_SHARED_WAVEFRONTS = 18,
    PATTERN_SHARED_CONFLICTS
};

/* The row as a description: an array of bytes, its index the address. */
static void write_pattern(struct text *out, char *const row[])
{
    bool shared = strcmp(row[PATTERN_SPACE], "shared") == 0;
    text_puts(out, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"pattern\">\n");
    text_printf(out, "<array name=\"data\" of=\"uint8\" extent=\"%s\"%s/>\n", shared ? "232448" : "1 &lt;&lt; 28",
                shared ? " space=\"shared\"" : "");
    text_printf(out, "<kernel name=\"pattern\" block=\"%s\" grid=\"%s\">\n", row[PATTERN_BLOCK], row[PATTERN_GRID]);
    if (rows_number(row[PATTERN_TRIPS]) > 1)
        text_printf(out, "<for var=\"k\" to=\"%s\">\n", row[PATTERN_TRIPS]);
    if (row[PATTERN_WHEN][0] != '\0') {
        text_puts(out, "<if test=\"");
        put_escaped(out, row[PATTERN_WHEN]);
        text_puts(out, "\">\n");
    }
    text_printf(out, "<%s array=\"data\" bytes=\"%s\" index=\"", row[PATTERN_OP], row[PATTERN_BYTES]);
    put_escaped(out, row[PATTERN_ADDRESS]);
    text_puts(out, "\"/>\n");
    text_puts(out, row[PATTERN_WHEN][0] != '\0' ? "</if>\n" : "");
    text_puts(out, rows_number(row[PATTERN_TRIPS]) > 1 ? "</for>\n" : "");
    text_puts(out, "</kernel>\n</layout>\n");
}

static void expect_column(struct text *out, const char *name, const char *column, uint64_t count)
{
    if (column[0] != '\0' && rows_number(column) != count)
        text_printf(out, "%s: measured %s, counted %" PRIu64 "\n", name, column, count);
}

/* Stores into shared memory are exact; loads carry up to 8 % of arbitration, which conflicts share. */
static void expect_shared(struct text *out, char *const row[], const struct counts *counts)
{
    uint64_t measured = rows_number(row[PATTERN_SHARED_WAVEFRONTS]);
    uint64_t passes = measured - rows_number(row[PATTERN_SHARED_CONFLICTS]);
    bool store = strcmp(row[PATTERN_OP], "write") == 0;
    if (store ? measured != counts->wavefronts
              : measured < counts->wavefronts || 100 * measured > 108 * counts->wavefronts)
        text_printf(out, "wavefronts: measured %" PRIu64 ", counted %" PRIu64 "\n", measured, counts->wavefronts);
    if (passes != counts->wavefronts - counts->conflicts)
        text_printf(out, "passes: measured %" PRIu64 ", counted %" PRIu64 "\n", passes,
                    counts->wavefronts - counts->conflicts);
}

static void expect_pattern(struct text *out, char *const row[], const struct counts *counts)
{
    expect_column(out, "instructions", row[PATTERN_INSTRUCTIONS], counts->instructions);
    if (strcmp(row[PATTERN_SPACE], "shared") == 0) {
        expect_shared(out, row, counts);
        return;
    }
    expect_column(out, "requests", row[PATTERN_REQUESTS], counts->requests);
    expect_column(out, "sectors", row[PATTERN_SECTORS], counts->sectors);
    expect_column(out, "lines", row[PATTERN_LINES], counts->lines);
}

enum implementation { IMPLEMENTATION_NAIVE, IMPLEMENTATION_SCORE };

/* The counts of the description's first access; false after a note in `out`. */
static bool count_first(struct counts *counts, struct bench *bench, enum implementation which, struct text *out)
{
    if (which == IMPLEMENTATION_NAIVE) {
        struct naive_score *naive = naive_score_spec(bench->spec, NULL, &bench->arena);
        if (naive->fault.kind != NAIVE_FINE || naive->kernel_count == 0 || naive->kernels[0].access_count == 0) {
            text_printf(out, "naive faults: %d\n", (int)naive->fault.kind);
            return false;
        }
        *counts = naive->kernels[0].accesses[0].counts;
        return true;
    }
    struct option **chosen = choose_restricted(bench, NULL);
    struct score *score =
        chosen == NULL ? NULL : score_spec(bench->spec, bench->device, chosen, &bench->arena, &bench->diags);
    if (score == NULL) {
        diag_render(&bench->diags, out, false);
        return false;
    }
    *counts = score->kernels[0].accesses[0].counts;
    return true;
}

static void check_pattern(const struct device *device, char *const row[], enum implementation which,
                          struct findings *findings)
{
    struct bench bench;
    struct text xml = {0};
    struct text what = {0};
    struct counts counts;
    write_pattern(&xml, row);
    if (!bench_open_text(&bench, device, row[PATTERN_ID], text_string(&xml)))
        diag_render(&bench.diags, &what, false);
    else if (count_first(&counts, &bench, which, &what))
        expect_pattern(&what, row, &counts);
    if (what.length > 0)
        findings_add(findings, row[PATTERN_ID], text_string(&xml), &what);
    text_free(&what);
    text_free(&xml);
    bench_close(&bench);
}

enum { PATTERNS = 495, PATTERN_STEP_SMALL = 10 };

static void check_patterns(enum implementation which)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    char *text = rows_read_file(&arena, TESTS_DIR "/data/h200-patterns.csv");
    char *rows[PATTERNS][ROW_COLUMNS_MAX];
    char *head[ROW_COLUMNS_MAX];
    ck_assert(rows_next(&text, head));
    ck_assert_str_eq(head[PATTERN_SHARED_CONFLICTS], "shared_conflicts");
    for (size_t r = 0; r < PATTERNS; r++)
        ck_assert(rows_next(&text, rows[r]));
    ck_assert(!rows_next(&text, head));
    /* Walking every thread is slow under valgrind: some rows of each family do there. */
    int step = random_count() == 500 && which == IMPLEMENTATION_NAIVE ? PATTERN_STEP_SMALL : 1;
#pragma omp parallel for schedule(dynamic, 1)
    for (int r = 0; r < PATTERNS; r += step)
        check_pattern(device, rows[r], which, &findings);
    arena_free(&arena);
    findings_close(&findings);
}

/* Of a row of h200-atomics.txt: sectors measured, and the lanes. False at a comment. */
static bool read_atomic(char *line, unsigned *width, uint64_t *sectors, bool active[32], uint64_t address[32])
{
    char *rest = NULL;
    if (line[0] == '#' || strtok_r(line, " ", &rest) == NULL)
        return false;
    *width = (unsigned)strtoul(strtok_r(NULL, " ", &rest), NULL, 10);
    *sectors = strtoull(strtok_r(NULL, " ", &rest), NULL, 10);
    for (unsigned lane = 0; lane < 32; lane++) {
        const char *word = strtok_r(NULL, " ", &rest);
        ck_assert_ptr_nonnull(word);
        active[lane] = strcmp(word, "-") != 0;
        address[lane] = active[lane] ? strtoull(word, NULL, 10) : 0;
    }
    return true;
}

/* Lanes take turns at a value. Many lines in no order take up to two sectors more, now and then. */
START_TEST(atomics_equal_hardware)
{
    enum { ROWS = 314, EQUAL = 293, MORE = 2 };
    struct arena arena = {0};
    char *text = rows_read_file(&arena, TESTS_DIR "/data/h200-atomics.txt"), *rest = NULL;
    unsigned rows = 0, equal = 0, width;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        uint64_t measured, address[32];
        bool active[32];
        if (!read_atomic(line, &width, &measured, active, address))
            continue;
        struct counts counts = {0};
        int64_t signed_address[32];
        uint32_t mask = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            signed_address[lane] = (int64_t)address[lane];
            mask |= (uint32_t)active[lane] << lane;
        }
        request_add_atomic(&counts, signed_address, mask, width);
        ck_assert_uint_eq(counts.atomic_sectors, naive_atomic_sectors(active, address));
        ck_assert_msg(counts.atomic_sectors <= measured && measured <= counts.atomic_sectors + MORE, "row %u", rows);
        equal += counts.atomic_sectors == measured;
        rows++;
    }
    ck_assert_uint_eq(rows, ROWS);
    ck_assert_uint_eq(equal, EQUAL);
    arena_free(&arena);
}
END_TEST

START_TEST(naive_equals_hardware)
{
    check_patterns(IMPLEMENTATION_NAIVE);
}
END_TEST

START_TEST(score_equals_hardware)
{
    check_patterns(IMPLEMENTATION_SCORE);
}
END_TEST

/* Sums in the order of the columns: sectors read and written, requests read and written. */
enum { TRAFFIC_FIELDS = 4 };

static void add_traffic(uint64_t traffic[TRAFFIC_FIELDS], enum access_op op, const struct counts *counts)
{
    unsigned side = op == ACCESS_WRITE;
    traffic[side] += counts->sectors;
    traffic[2 + side] += counts->requests;
}

static void naive_traffic(uint64_t traffic[TRAFFIC_FIELDS], struct bench *bench, struct option *const *chosen,
                          struct text *out)
{
    struct naive_score *naive = naive_score_spec(bench->spec, naive_uses(bench, chosen), &bench->arena);
    if (naive->fault.kind != NAIVE_FINE)
        text_printf(out, "naive faults: %d\n", (int)naive->fault.kind);
    for (size_t k = 0; k < naive->kernel_count; k++)
        for (size_t e = 0; e < naive->kernels[k].access_count; e++)
            add_traffic(traffic, naive->kernels[k].accesses[e].op, &naive->kernels[k].accesses[e].counts);
}

static void score_traffic(uint64_t traffic[TRAFFIC_FIELDS], struct bench *bench, struct option *const *chosen,
                          struct text *out)
{
    struct score *score = score_spec(bench->spec, bench->device, chosen, &bench->arena, &bench->diags);
    if (score == NULL)
        diag_render(&bench->diags, out, false);
    for (size_t k = 0; score != NULL && k < score->kernel_count; k++)
        for (size_t e = 0; e < score->kernels[k].access_count; e++)
            add_traffic(traffic, score->kernels[k].accesses[e].op, &score->kernels[k].accesses[e].counts);
}

/* Of eight or more float4 stores the compiler of layouts.cu made one into two of 8 bytes: 9 for 8, 17 for 16. */
static bool store_was_split(char *const row[])
{
    return strcmp(row[LAYOUTS_CANDIDATE], "soa/wide(4)") == 0 && strcmp(row[LAYOUTS_MODE], "write") == 0 &&
           rows_number(row[LAYOUTS_USED]) >= 8;
}

/* `shrink`: a stream's counts are proportional to its blocks, so that a part of the launch tells the whole. */
static void check_layouts_row(const struct device *device, char *const row[], enum implementation which,
                              uint64_t shrink, struct findings *findings)
{
    struct bench bench;
    struct text xml = {0};
    struct text what = {0};
    char restriction[64];
    uint64_t traffic[TRAFFIC_FIELDS] = {0};
    (void)snprintf(restriction, sizeof(restriction), "data=%s", row[LAYOUTS_CANDIDATE]);
    rows_write_layout(&xml, row, rows_number(row[LAYOUTS_RECORDS]) / shrink);
    bool valid = bench_open_text(&bench, device, restriction, text_string(&xml));
    struct option **chosen = valid ? choose_restricted(&bench, restriction) : NULL;
    if (chosen == NULL)
        diag_render(&bench.diags, &what, false);
    else if (which == IMPLEMENTATION_NAIVE)
        naive_traffic(traffic, &bench, chosen, &what);
    else
        score_traffic(traffic, &bench, chosen, &what);
    for (unsigned t = 0; t < TRAFFIC_FIELDS && chosen != NULL && !store_was_split(row); t++)
        if (traffic[t] * shrink != rows_number(row[LAYOUTS_READ_SECTORS + t]))
            text_printf(&what, "column %u: measured %s, counted %" PRIu64 "\n", LAYOUTS_READ_SECTORS + t,
                        row[LAYOUTS_READ_SECTORS + t], traffic[t] * shrink);
    if (what.length > 0)
        findings_add(findings, restriction, text_string(&xml), &what);
    text_free(&what);
    text_free(&xml);
    bench_close(&bench);
}

enum { LAYOUTS_SHRINK = 2048 };

/* Rows that begin at `first`, every `step`-th of those with that traffic. */
static void check_layouts(enum implementation which, const char *traffic, uint64_t shrink, unsigned step)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    char *text = rows_read_file(&arena, TESTS_DIR "/data/h200-layouts.csv");
    char *rows[LAYOUTS_ROWS + 1][ROW_COLUMNS_MAX];
    char *head[ROW_COLUMNS_MAX];
    int count = 0;
    ck_assert(rows_next(&text, head));
    ck_assert_str_eq(head[LAYOUTS_WRITE_REQUESTS], "l1_write_requests");
    for (unsigned r = 0; r < LAYOUTS_ROWS; r++) {
        ck_assert(rows_next(&text, rows[count]));
        count += strcmp(rows[count][LAYOUTS_TRAFFIC], traffic) == 0 && r % step == 0;
    }
    ck_assert_int_gt(count, 0);
#pragma omp parallel for schedule(dynamic, 1)
    for (int r = 0; r < count; r++)
        check_layouts_row(device, rows[r], which, shrink, &findings);
    arena_free(&arena);
    findings_close(&findings);
}

START_TEST(naive_equals_layouts)
{
    check_layouts(IMPLEMENTATION_NAIVE, "stream", LAYOUTS_SHRINK, 1);
}
END_TEST

START_TEST(score_equals_layouts)
{
    check_layouts(IMPLEMENTATION_SCORE, "stream", 1, 1);
}
END_TEST

/* Sixteen million hashed records an access: a few rows. */
START_TEST(score_equals_gathers)
{
    if (random_count() > 500)
        check_layouts(IMPLEMENTATION_SCORE, "gather", 1, 24);
}
END_TEST

enum metric {
    METRIC_SECTORS,
    METRIC_EXCESS,
    METRIC_EXCESS_PERCENT,
    METRIC_SECTORS_A_REQUEST,
    METRIC_IDEAL_A_REQUEST,
    METRIC_EFFICIENCY,
    METRIC_EFFICIENCY_PERCENT,
    METRIC_BYTES_A_SECTOR,
    METRIC_REQUESTS,
    METRIC_WAVEFRONTS,
    METRIC_CONFLICTS,
    METRIC_CONFLICT_PERCENT,
    METRIC_WAYS,
    METRIC_CONFLICTS_AN_INSTRUCTION
};

static double ratio(uint64_t a, uint64_t b)
{
    return b == 0 ? NAN : (double)a / (double)b;
}

static double metric_value(enum metric metric, const struct counts *c)
{
    switch (metric) {
    case METRIC_SECTORS:
        return (double)c->sectors;
    case METRIC_EXCESS:
        return (double)(c->sectors - c->ideal_sectors);
    case METRIC_EXCESS_PERCENT:
        return 100 * ratio(c->sectors - c->ideal_sectors, c->sectors);
    case METRIC_SECTORS_A_REQUEST:
        return ratio(c->sectors, c->requests);
    case METRIC_IDEAL_A_REQUEST:
        return ratio(c->ideal_sectors, c->requests);
    case METRIC_EFFICIENCY:
        return ratio(c->unique_bytes, 32 * c->sectors);
    case METRIC_EFFICIENCY_PERCENT:
        return 100 * ratio(c->unique_bytes, 32 * c->sectors);
    case METRIC_BYTES_A_SECTOR:
        return ratio(c->unique_bytes, c->sectors);
    case METRIC_REQUESTS:
        return (double)c->requests;
    case METRIC_WAVEFRONTS:
        return (double)c->wavefronts;
    case METRIC_CONFLICTS:
        return (double)c->conflicts;
    case METRIC_CONFLICT_PERCENT:
        return 100 * ratio(c->conflicts, c->wavefronts);
    case METRIC_WAYS:
        return ratio(c->wavefronts, c->instructions);
    case METRIC_CONFLICTS_AN_INSTRUCTION:
        return ratio(c->conflicts, c->instructions);
    }
    return NAN;
}

/* One number of a case. */
struct public_row {
    const char *id;     /* data/public/ID.xml */
    const char *define; /* "K=2", or NULL */
    const char *path;   /* to the number, below "expected" */
    const char *kernel;
    const char *array; /* NULL: all */
    char op;           /* 'r', 'w', or 'a' for all */
    enum metric metric;
    double slack;     /* how far the printed number may be off, being rounded; MEASURED: it may be up to 8 % above */
    const char *over; /* the kernel to divide by, or NULL */
};

#define MEASURED (-1.0)

static const struct public_row public_rows[] = {
    {"G02", "K=1", "segments_per_warp/1", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=2", "segments_per_warp/2", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=3", "segments_per_warp/3", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=4", "segments_per_warp/4", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=8", "segments_per_warp/>=8", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=13", "segments_per_warp/>=8", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=32", "segments_per_warp/>=8", "copy", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G02", "K=2", "efficiency/2", "copy", NULL, 'a', METRIC_EFFICIENCY, 0, NULL},
    {"G03", "K=1", "sectors_per_request/1", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=2", "sectors_per_request/2", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=4", "sectors_per_request/4", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=8", "sectors_per_request/8", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=16", "sectors_per_request/16", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=32", "sectors_per_request/32", "sweep", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G03", "K=1", "useful_pct/1", "sweep", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G03", "K=2", "useful_pct/2", "sweep", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G03", "K=4", "useful_pct/4", "sweep", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G03", "K=8", "useful_pct/8", "sweep", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G03", "K=32", "useful_pct/32", "sweep", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G05", NULL, "total_sectors", "blocked", NULL, 'a', METRIC_SECTORS, 0, NULL},
    {"G05", NULL, "excess_sectors", "blocked", NULL, 'a', METRIC_EXCESS, 0, NULL},
    {"G05", NULL, "excess_pct", "blocked", NULL, 'a', METRIC_EXCESS_PERCENT, 0, NULL},
    {"G05", NULL, "bytes_used_per_32", "blocked", NULL, 'a', METRIC_BYTES_A_SECTOR, 0, NULL},
    {"G07", NULL, "sectors_per_request", "add", NULL, 'a', METRIC_SECTORS_A_REQUEST, 0.005, NULL},
    {"G10", NULL, "total_sectors", "convert", NULL, 'a', METRIC_SECTORS, 0, NULL},
    {"G10", NULL, "excess_sectors", "convert", NULL, 'a', METRIC_EXCESS, 0, NULL},
    {"G10", NULL, "excess_pct", "convert", NULL, 'a', METRIC_EXCESS_PERCENT, 0.5, NULL},
    {"G12", NULL, "excess_sectors", "both_strided", NULL, 'a', METRIC_EXCESS, 0, NULL},
    {"G12", NULL, "excess_pct", "both_strided", NULL, 'a', METRIC_EXCESS_PERCENT, 0.5, NULL},
    {"G13", NULL, "load_sectors_per_request", "wide", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "load_sectors_per_request", "square", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "load_sectors_per_request", "tall", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "store_sectors_per_request/32x8", "wide", NULL, 'w', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "store_sectors_per_request/16x16", "square", NULL, 'w', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "store_sectors_per_request/8x32", "tall", NULL, 'w', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G13", NULL, "bytes_used_per_32_store/32x8", "wide", NULL, 'w', METRIC_BYTES_A_SECTOR, 0, NULL},
    {"G13", NULL, "bytes_used_per_32_store/16x16", "square", NULL, 'w', METRIC_BYTES_A_SECTOR, 0, NULL},
    {"G13", NULL, "bytes_used_per_32_store/8x32", "tall", NULL, 'w', METRIC_BYTES_A_SECTOR, 0, NULL},
    {"G18", NULL, "sectors_per_request", "swapped", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G23", NULL, "gld_eff_pct/AoS", "structures", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G23", NULL, "gld_eff_pct/SoA", "arrays", NULL, 'r', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G23", NULL, "gst_eff_pct/AoS", "structures", NULL, 'w', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G23", NULL, "gst_eff_pct/SoA", "arrays", NULL, 'w', METRIC_EFFICIENCY_PERCENT, 0, NULL},
    {"G25", NULL, "total_sectors", "product", NULL, 'a', METRIC_SECTORS, 0, NULL},
    {"G25", NULL, "excess_sectors", "product", NULL, 'a', METRIC_EXCESS, 0, NULL},
    {"G25", NULL, "store_sectors_per_request", "product", NULL, 'w', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"G25", NULL, "ideal", "product", NULL, 'w', METRIC_IDEAL_A_REQUEST, 0, NULL},
    {"G25", NULL, "load_sectors_per_request", "product", NULL, 'r', METRIC_SECTORS_A_REQUEST, 0.05, NULL},
    {"G26", NULL, "total_sectors", "product", NULL, 'a', METRIC_SECTORS, 0, NULL},
    {"G26", NULL, "excess_sectors", "product", NULL, 'a', METRIC_EXCESS, 0, NULL},
    {"G26", NULL, "excess_pct", "product", NULL, 'a', METRIC_EXCESS_PERCENT, 0.5, NULL},
    {"G26", NULL, "store_bytes_used_per_32", "product", NULL, 'w', METRIC_BYTES_A_SECTOR, 0, NULL},
    {"G34", NULL, "sector_ratio", "by_record", NULL, 'r', METRIC_SECTORS, 0, "by_page"},
    {"G55", NULL, "read_sectors", "copy", "in", 'r', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "read_sectors", "naive", "in", 'r', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "read_sectors", "padded", "in", 'r', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "write_sectors/copy", "copy", "out", 'w', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "write_sectors/naive", "naive", "out", 'w', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "write_sectors/tile", "padded", "out", 'w', METRIC_SECTORS, 0, NULL},
    {"G55", NULL, "shared_passes/tile32", "conflicting", "tile32", 'a', METRIC_WAVEFRONTS, 0, NULL},
    {"G55", NULL, "shared_passes/tile33", "padded", "tile33", 'a', METRIC_WAVEFRONTS, 0, NULL},
    {"S01", NULL, "ways/1", "stride1", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S01", NULL, "ways/2", "stride2", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S01", NULL, "ways/3", "stride3", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S01", NULL, "permutation", "permuted", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S01", NULL, "broadcast", "broadcast", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S01", NULL, "five_lanes_same_word", "five", NULL, 'r', METRIC_WAYS, 0, NULL},
    {"S03", "K=1", "conflicts_per_instr/1", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S03", "K=2", "conflicts_per_instr/2", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S03", "K=4", "conflicts_per_instr/4", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S03", "K=8", "conflicts_per_instr/8", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S03", "K=16", "conflicts_per_instr/16", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S03", "K=32", "conflicts_per_instr/32", "sweep", NULL, 'a', METRIC_CONFLICTS_AN_INSTRUCTION, 0, NULL},
    {"S05", NULL, "total_wavefronts", "tree", NULL, 'a', METRIC_WAVEFRONTS, 0, NULL},
    {"S05", NULL, "excess", "tree", NULL, 'a', METRIC_CONFLICTS, 0, NULL},
    {"S05", NULL, "excess_pct", "tree", NULL, 'a', METRIC_CONFLICT_PERCENT, 0.5, NULL},
    {"S06", NULL, "global_sectors_per_request", "transpose", "in", 'r', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"S06", NULL, "global_sectors_per_request", "transpose", "out", 'w', METRIC_SECTORS_A_REQUEST, 0, NULL},
    {"S06", NULL, "requests", "transpose", "in", 'r', METRIC_REQUESTS, 0, NULL},
    {"S06", NULL, "st_wavefronts", "transpose", "tile", 'w', METRIC_WAVEFRONTS, MEASURED, NULL},
    {"S06", NULL, "ld_wavefronts", "transpose", "tile", 'r', METRIC_WAVEFRONTS, MEASURED, NULL},
};

enum { PUBLIC_ROWS = sizeof(public_rows) / sizeof(public_rows[0]) };

/* Params that make a case small enough to walk by hand. */
static const char *const small_cases[][2] = {
    {"G02", "N=2048"}, {"G03", NULL},       {"G05", "VECTORS=8192"}, {"G07", "N=300"}, {"G10", "W=88"},
    {"G10", "H=24"},   {"G12", "N=96"},     {"G13", "M=128"},        {"G18", NULL},    {"G23", "N=4096"},
    {"G25", "N=256"},  {"G26", "N=256"},    {"G34", NULL},           {"G55", NULL},    {"S01", NULL},
    {"S03", "K=3"},    {"S05", "BLOCKS=9"}, {"S06", "N=96"},
};

static bool open_case(struct bench *bench, const struct device *device, const char *id, const char *define)
{
    char path[128];
    char name[32] = "";
    *bench = (struct bench){0};
    (void)snprintf(path, sizeof(path), "%s/data/public/%s.xml", TESTS_DIR, id);
    const char *reason = "";
    struct source *source = NULL;
    if (source_read(&source, &bench->arena, path, &reason) != SOURCE_OK)
        ck_abort_msg("%s: %s", path, reason);
    struct definition definition = {name, ""};
    if (define != NULL) {
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(define, "="), define);
        definition.value = strchr(define, '=') + 1;
    }
    return bench_open(bench, device, source, &definition, define != NULL);
}

static void add_counts(struct counts *sum, const struct counts *more)
{
    sum->instructions += more->instructions;
    sum->requests += more->requests;
    sum->sectors += more->sectors;
    sum->ideal_sectors += more->ideal_sectors;
    sum->lines += more->lines;
    sum->asked_bytes += more->asked_bytes;
    sum->unique_bytes += more->unique_bytes;
    sum->wavefronts += more->wavefronts;
    sum->conflicts += more->conflicts;
    sum->atomic_sectors += more->atomic_sectors;
}

static struct counts sum_rows(const struct score *score, const struct public_row *row, const char *kernel)
{
    struct counts sum = {0};
    for (size_t k = 0; k < score->kernel_count; k++) {
        const struct kernel_score *of = &score->kernels[k];
        for (size_t e = 0; e < of->access_count && strcmp(of->kernel->name.text, kernel) == 0; e++) {
            const struct access_score *entry = &of->accesses[e];
            if ((row->array == NULL || strcmp(entry->array->name.text, row->array) == 0) &&
                (row->op == 'a' || (row->op == 'w') == (entry->op == ACCESS_WRITE)))
                add_counts(&sum, &entry->counts);
        }
    }
    return sum;
}

/* The number at a path of a case's "expected". */
static double expected_number(const json_t *cases, const char *id, const char *path)
{
    size_t at = 0;
    const json_t *found = NULL;
    const json_t *item = NULL;
    json_array_foreach((json_t *)cases, at, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), id) == 0)
            found = json_object_get(item, "expected");
    }
    while (found != NULL && *path != '\0') {
        char key[64];
        size_t length = strcspn(path, "/");
        (void)snprintf(key, sizeof(key), "%.*s", (int)length, path);
        found = json_object_get(found, key);
        path += length + (path[length] == '/');
    }
    return found == NULL ? NAN : json_number_value(found);
}

static void check_public_row(struct text *out, struct bench *bench, const struct public_row *row, double expected)
{
    struct option **chosen = choose_restricted(bench, NULL);
    struct score *score =
        chosen == NULL ? NULL : score_spec(bench->spec, bench->device, chosen, &bench->arena, &bench->diags);
    if (score == NULL) {
        diag_render(&bench->diags, out, false);
        return;
    }
    struct counts sum = sum_rows(score, row, row->kernel);
    double value = metric_value(row->metric, &sum);
    if (row->over != NULL) {
        struct counts below = sum_rows(score, row, row->over);
        value /= metric_value(row->metric, &below);
    }
    bool measured = row->slack < 0;
    if (measured ? expected >= value && expected <= 1.08 * value : fabs(value - expected) <= row->slack + 1e-9)
        return;
    text_printf(out, "%s of '%s': expected %.10g, counted %.10g\n", row->path, row->kernel, expected, value);
}

START_TEST(public_cases)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    json_t *cases = json_load_file(TESTS_DIR "/data/public-cases.json", 0, NULL);
    ck_assert_ptr_nonnull(cases);
    for (int r = 0; r < PUBLIC_ROWS; r++) {
        struct bench bench;
        struct text what = {0};
        const struct public_row *row = &public_rows[r];
        if (open_case(&bench, device, row->id, row->define))
            check_public_row(&what, &bench, row, expected_number(cases, row->id, row->path));
        else
            diag_render(&bench.diags, &what, false);
        if (what.length > 0)
            findings_add(&findings, row->id, "", &what);
        text_free(&what);
        bench_close(&bench);
    }
    json_decref(cases);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

/* The same descriptions, small, in all their options by both implementations. */
START_TEST(public_cases_small)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    for (size_t c = 0; c < sizeof(small_cases) / sizeof(small_cases[0]); c++) {
        struct bench bench;
        const char *id = small_cases[c][0];
        /* The image is cut one side at a time: the other stays large. */
        ck_assert_msg(open_case(&bench, device, id, small_cases[c][1]), "%s", id);
        struct option **chosen = choose_restricted(&bench, NULL);
        ck_assert_ptr_nonnull(chosen);
        compare_choice(&bench, chosen, &findings, id, "");
        bench_close(&bench);
    }
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

/* Stores measured on the machine of S06 carry noise; wavefronts less conflicts are the passes. */
START_TEST(public_case_passes)
{
    struct arena arena = {0};
    struct bench bench;
    const struct device *device = load_device(&arena);
    ck_assert(open_case(&bench, device, "S06", NULL));
    struct option **chosen = choose_restricted(&bench, NULL);
    ck_assert_ptr_nonnull(chosen);
    struct score *score = score_spec(bench.spec, device, chosen, &bench.arena, &bench.diags);
    ck_assert_ptr_nonnull(score);
    const struct access_score *entries = score->kernels[0].accesses;
    ck_assert_uint_eq(entries[1].counts.wavefronts - entries[1].counts.conflicts, 17061038 - 16012462);
    ck_assert_uint_eq(entries[2].counts.wavefronts - entries[2].counts.conflicts, 1048664 - 88);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

#define LAYOUT_OPEN "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"hand\">\n"
#define XYZ                                                                                                            \
    "<struct name=\"V\"><field name=\"x\" type=\"float\"/><field name=\"y\" type=\"float\"/>"                          \
    "<field name=\"z\" type=\"float\"/></struct>\n"

enum { HAND_ENTRIES = 4 };

/* A description and what its entries must count, in the order of struct counts. */
struct hand_case {
    const char *name;
    const char *choice; /* ARRAY=LAYOUT/PLAN, or NULL */
    const char *xml;
    struct counts entries[HAND_ENTRIES]; /* the first of 0 instructions ends them, unless `empty` */
    uint64_t fill_sectors;               /* of the first array */
    bool empty;
};

static const struct hand_case hand_cases[] = {
    /* Two blocks of 40 floats: 128 bytes and 32, then from byte 160 on 128 over 4 sectors and 2 lines, and 32. */
    {"tail warps",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"80\"/>"
                 "<kernel name=\"k\" block=\"40\" grid=\"2\"><read array=\"a\" index=\"thread\"/></kernel></layout>",
     {{4, 4, 10, 10, 5, 320, 320, 0, 0, 0}},
     0,
     false},
    {"nobody takes it",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"80\"/><kernel name=\"k\" block=\"40\" grid=\"2\">"
                 "<if test=\"thread &lt; 0\"><write array=\"a\" index=\"thread\"/></if></kernel></layout>",
     {{0}},
     0,
     true},
    {"both sides issue",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<if test=\"lane % 2 == 0\"><read array=\"a\" index=\"thread\"/></if>"
                 "<else><read array=\"a\" index=\"thread\"/></else></kernel></layout>",
     {{1, 1, 4, 2, 1, 64, 64, 0, 0, 0}, {1, 1, 4, 2, 1, 64, 64, 0, 0, 0}},
     0,
     false},
    /* Bytes 4 to 131; the stores leave the first and the last sector partly written. */
    {"offset base",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"32\" offset=\"4\"/>"
                 "<kernel name=\"k\" block=\"32\" grid=\"1\"><write array=\"a\" index=\"thread\"/></kernel></layout>",
     {{1, 1, 5, 4, 2, 128, 128, 0, 0, 0}},
     2,
     false},
    /* Records of 5 bytes: single bytes, each over bytes 1 + p to 156 + p: 5 sectors, 2 lines. */
    {"packed pieces",
     NULL,
     LAYOUT_OPEN
     "<struct name=\"P\" packed=\"true\"><field name=\"a\" type=\"uint8\"/><field name=\"b\" type=\"float\"/>"
     "</struct><array name=\"a\" of=\"P\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
     "<read array=\"a\" field=\"b\" index=\"thread\"/></kernel></layout>",
     {{4, 4, 20, 4, 8, 128, 128, 0, 0, 0}},
     0,
     false},
    /* 6-byte records: a double in an array of them is in halves of words. */
    {"packed halves",
     NULL,
     LAYOUT_OPEN
     "<struct name=\"P\" packed=\"true\"><field name=\"a\" type=\"int16\"/><field name=\"b\" type=\"float\"/>"
     "</struct><array name=\"a\" of=\"P\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
     "<read array=\"a\" field=\"b\" index=\"thread\"/></kernel></layout>",
     {{2, 2, 12, 4, 4, 128, 128, 0, 0, 0}},
     0,
     false},
    /* Lanes above k are in trip k: 31, 30, ... 1 of them, all on one word. */
    {"trips by lane",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<for var=\"i\" to=\"lane\"><read array=\"a\" index=\"i\"/></for></kernel></layout>",
     {{31, 31, 31, 31, 31, 4 * 496, 124, 0, 0, 0}},
     0,
     false},
    /* The second leaf starts on the next multiple of 256. */
    {"soa alignment",
     "a=soa/direct",
     LAYOUT_OPEN "<struct name=\"S\"><field name=\"a\" type=\"uint8\"/><field name=\"b\" type=\"double\"/></struct>"
                 "<array name=\"a\" of=\"S\" extent=\"33\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<read array=\"a\" field=\"b\" index=\"thread\"/></kernel></layout>",
     {{1, 1, 8, 8, 2, 256, 256, 0, 0, 0}},
     0,
     false},
    /* 16-byte records: a load covers all four floats; a store only the two it owns. */
    {"vector load",
     "a=aos/vector",
     LAYOUT_OPEN "<struct name=\"S\"><field name=\"v\" type=\"float\" count=\"4\"/></struct>"
                 "<array name=\"a\" of=\"S\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<read array=\"a\" field=\"v[0] v[1]\" index=\"thread\"/></kernel></layout>",
     {{1, 1, 16, 16, 4, 512, 512, 0, 0, 0}},
     0,
     false},
    {"vector store",
     "a=aos/vector",
     LAYOUT_OPEN "<struct name=\"S\"><field name=\"v\" type=\"float\" count=\"4\"/></struct>"
                 "<array name=\"a\" of=\"S\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<write array=\"a\" field=\"v[0] v[1]\" index=\"thread\"/></kernel></layout>",
     {{1, 1, 16, 8, 4, 256, 256, 0, 0, 0}},
     16,
     false},
    /* 12 bytes padded to 16: the padding may be stored too, and then no sector is partly written. */
    {"vector padding",
     "a=aos(align=16)/vector",
     LAYOUT_OPEN XYZ "<array name=\"a\" of=\"V\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                     "<write array=\"a\" index=\"thread\"/></kernel></layout>",
     {{1, 1, 16, 16, 4, 512, 512, 0, 0, 0}},
     0,
     false},
    /* 70 threads in blocks of 7: 17 wide ones (7, 7, 3 a block) and 2 of the tail in the third block. 112 bytes at 0
     * and at 112, 48 at 224, then 8 at 272. */
    {"wide tail",
     "a=soa/wide(4)",
     LAYOUT_OPEN XYZ "<array name=\"a\" of=\"V\" extent=\"70\"/><kernel name=\"k\" block=\"7\" grid=\"10\">"
                     "<read array=\"a\" field=\"x\" index=\"thread\"/></kernel></layout>",
     {{4, 4, 11, 11, 6, 280, 280, 0, 0, 0}},
     0,
     false},
    /* A packed union of 12 bytes, neighbours not side by side: record after record in words, lanes 48 bytes apart: 8
     * sectors each over 384 bytes, once for each of the 4 records and 2 words. */
    {"wide pieces",
     "a=soa/wide(4)",
     LAYOUT_OPEN
     "<union name=\"U\" packed=\"true\"><field name=\"d\" type=\"double\"/><field name=\"f\" type=\"float\" "
     "count=\"3\"/></union><array name=\"a\" of=\"U\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
     "<read array=\"a\" field=\"d\" index=\"thread\"/></kernel></layout>",
     {{8, 8, 64, 8, 24, 256, 256, 0, 0, 0}},
     0,
     false},
    /* A double first in packed records of 16 bytes: with a word of padding they are 20 bytes apart in the copy, and it
     * takes two words; 2 lanes a bank. */
    {"staged pieces",
     "a=aos/staged(pad=1)",
     LAYOUT_OPEN
     "<struct name=\"P\" packed=\"true\"><field name=\"d\" type=\"double\"/><field name=\"f\" type=\"double\"/>"
     "</struct><array name=\"a\" of=\"P\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
     "<read array=\"a\" field=\"d\" index=\"thread\"/></kernel></layout>",
     {{8, 4, 16, 16, 4, 512, 512, 8, 4, 0}, {2, 0, 0, 0, 0, 256, 256, 2, 0, 0}},
     0,
     false},
    /* 192 words by 64 threads: three rounds of two warps, a load and a shared store each; words 3 apart in the copy. */
    {"staged",
     "a=aos/staged",
     LAYOUT_OPEN XYZ "<array name=\"a\" of=\"V\" extent=\"64\"/><kernel name=\"k\" block=\"64\" grid=\"1\">"
                     "<read array=\"a\" field=\"z\" index=\"thread\"/></kernel></layout>",
     {{12, 6, 24, 24, 6, 768, 768, 6, 0, 0}, {2, 0, 0, 0, 0, 256, 256, 2, 0, 0}},
     0,
     false},
    /* A word of padding a record: words 4 apart in the copy, 4 lanes a bank. */
    {"staged with padding",
     "a=aos/staged(pad=1)",
     LAYOUT_OPEN XYZ "<array name=\"a\" of=\"V\" extent=\"64\"/><kernel name=\"k\" block=\"64\" grid=\"1\">"
                     "<read array=\"a\" field=\"z\" index=\"thread\"/></kernel></layout>",
     {{12, 6, 24, 24, 6, 768, 768, 12, 6, 0}, {2, 0, 0, 0, 0, 256, 256, 8, 6, 0}},
     0,
     false},
    /* Only the third word of each record goes back: 10, 11 and 11 lanes store, over 4 sectors where 2 would do. */
    {"staged store",
     "a=aos/staged",
     LAYOUT_OPEN XYZ "<array name=\"a\" of=\"V\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                     "<write array=\"a\" field=\"z\" index=\"thread\"/></kernel></layout>",
     {{1, 0, 0, 0, 0, 128, 128, 1, 0, 0}, {6, 3, 12, 6, 3, 128, 128, 3, 0, 0}},
     12,
     false},
    /* A transpose through shared memory: rows come in whole, columns are read from the copy 33 words apart. */
    {"staged transpose",
     "a=row-major/staged(pad=1)",
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"64 64\"/><kernel name=\"k\" block=\"32 32\" grid=\"2 2\">"
                 "<read array=\"a\" index=\"32 * blockIdx.x + threadIdx.x, 32 * blockIdx.y + threadIdx.y\"/>"
                 "</kernel></layout>",
     {{256, 128, 512, 512, 128, 16384, 16384, 128, 0, 0}, {128, 0, 0, 0, 0, 16384, 16384, 128, 0, 0}},
     0,
     false},
    {"staged transpose without padding",
     "a=row-major/staged",
     LAYOUT_OPEN "<array name=\"a\" of=\"float\" extent=\"64 64\"/><kernel name=\"k\" block=\"32 32\" grid=\"2 2\">"
                 "<read array=\"a\" index=\"32 * blockIdx.x + threadIdx.x, 32 * blockIdx.y + threadIdx.y\"/>"
                 "</kernel></layout>",
     {{256, 128, 512, 512, 128, 16384, 16384, 128, 0, 0}, {128, 0, 0, 0, 0, 16384, 16384, 4096, 3968, 0}},
     0,
     false},
    /* An update is a read, then a write. */
    {"update",
     NULL,
     LAYOUT_OPEN "<array name=\"a\" of=\"double\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
                 "<update array=\"a\" index=\"31 - thread\"/></kernel></layout>",
     {{1, 1, 8, 8, 2, 256, 256, 0, 0, 0}, {1, 1, 8, 8, 2, 256, 256, 0, 0, 0}},
     0,
     false},
};

enum { HAND_CASES = sizeof(hand_cases) / sizeof(hand_cases[0]) };

static void expect_entry(struct text *out, const char *who, size_t entry, const struct counts *found,
                         const struct counts *expected)
{
    for (size_t f = 0; f < COUNT_FIELDS; f++)
        if (count_field(found, f) != count_field(expected, f))
            text_printf(out, "%s, entry %zu: %s %" PRIu64 ", by hand %" PRIu64 "\n", who, entry, count_names[f],
                        count_field(found, f), count_field(expected, f));
}

static size_t hand_entries(const struct hand_case *hand)
{
    size_t count = hand->empty ? 1 : 0;
    while (count < HAND_ENTRIES && hand->entries[count].instructions > 0)
        count++;
    return count;
}

static void expect_naive(struct text *out, struct bench *bench, struct option *const *chosen,
                         const struct hand_case *hand)
{
    struct naive_score *naive = naive_score_spec(bench->spec, naive_uses(bench, chosen), &bench->arena);
    if (naive->kernel_count != 1 || naive->kernels[0].access_count != hand_entries(hand)) {
        text_puts(out, "naive: a fault or other entries\n");
        return;
    }
    for (size_t e = 0; e < hand_entries(hand); e++)
        expect_entry(out, "naive", e, &naive->kernels[0].accesses[e].counts, &hand->entries[e]);
    if (naive->kernels[0].arrays[0].fill_sectors != hand->fill_sectors)
        text_printf(out, "naive: fill_sectors %" PRIu64 "\n", naive->kernels[0].arrays[0].fill_sectors);
}

static void expect_score(struct text *out, struct bench *bench, struct option *const *chosen,
                         const struct hand_case *hand)
{
    struct score *score = score_spec(bench->spec, bench->device, chosen, &bench->arena, &bench->diags);
    if (score == NULL || score->kernels[0].access_count != hand_entries(hand)) {
        text_puts(out, "score: refused, or other entries\n");
        diag_render(&bench->diags, out, false);
        return;
    }
    for (size_t e = 0; e < hand_entries(hand); e++)
        expect_entry(out, "score", e, &score->kernels[0].accesses[e].counts, &hand->entries[e]);
    if (score->kernels[0].arrays[0].fill_sectors != hand->fill_sectors)
        text_printf(out, "score: fill_sectors %" PRIu64 "\n", score->kernels[0].arrays[0].fill_sectors);
}

START_TEST(sums_by_hand)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    const struct hand_case *hand = &hand_cases[_i];
    struct bench bench;
    struct text what = {0};
    bool valid = bench_open_text(&bench, device, hand->name, hand->xml);
    struct option **chosen = valid ? choose_restricted(&bench, hand->choice) : NULL;
    if (chosen == NULL) {
        diag_render(&bench.diags, &what, false);
    } else {
        expect_naive(&what, &bench, chosen, hand);
        expect_score(&what, &bench, chosen, hand);
    }
    if (what.length > 0)
        findings_add(&findings, hand->name, hand->xml, &what);
    text_free(&what);
    bench_close(&bench);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

/* Two loads of one piece of 16 bytes, and two stores of its halves: the second of each goes along with the first. A
 * read of another element does not. */
START_TEST(joined_by_hand)
{
    static const char xml[] = LAYOUT_OPEN
        "<struct name=\"S\"><field name=\"f\" type=\"float\" count=\"4\"/></struct>"
        "<array name=\"a\" of=\"S\" extent=\"32\"/><kernel name=\"k\" block=\"32\" grid=\"1\">"
        "<read array=\"a\" field=\"f[0]\" index=\"thread\"/><read array=\"a\" field=\"f[2]\" index=\"thread\"/>"
        "<read array=\"a\" field=\"f[3]\" index=\"31 - thread\"/>"
        "<write array=\"a\" field=\"f[0] f[1]\" index=\"thread\"/>"
        "<write array=\"a\" field=\"f[2] f[3]\" index=\"thread\"/></kernel></layout>";
    static const struct counts expected[] = {
        {0}, {1, 1, 16, 16, 4, 512, 512, 0, 0, 0}, {0}, {0}, {1, 1, 16, 8, 4, 256, 256, 0, 0, 0}};
    struct arena arena = {0};
    struct bench bench;
    struct text what = {0};
    ck_assert(bench_open_text(&bench, load_device(&arena), "joined", xml));
    struct option **chosen = choose_restricted(&bench, "a=aos/vector");
    struct score *score = score_spec(bench.spec, bench.device, chosen, &bench.arena, &bench.diags);
    struct naive_score *naive = naive_score_spec(bench.spec, naive_uses(&bench, chosen), &bench.arena);
    ck_assert_uint_eq(score->kernels[0].access_count, 5);
    for (size_t e = 0; e < 5; e++) {
        expect_entry(&what, "score", e, &score->kernels[0].accesses[e].joined, &expected[e]);
        expect_entry(&what, "naive", e, &naive->kernels[0].accesses[e].joined, &expected[e]);
    }
    ck_assert_msg(what.length == 0, "%s", text_string(&what));
    text_free(&what);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

/* Records of 8 and 16 words: rows of 2 | 1 and 4 | 1 pieces a lane; the arrays of a kernel have one place for them. */
START_TEST(exchanges_share_a_place)
{
    static const char xml[] = LAYOUT_OPEN
        "<struct name=\"S\"><field name=\"f\" type=\"float\" count=\"8\"/></struct>"
        "<struct name=\"T\"><field name=\"f\" type=\"float\" count=\"16\"/></struct>"
        "<array name=\"a\" of=\"S\" extent=\"64\"/><array name=\"b\" of=\"T\" extent=\"64\"/>"
        "<kernel name=\"k\" block=\"64\" grid=\"1\"><read array=\"a\" index=\"thread\"/><write array=\"b\" "
        "index=\"thread\"/>"
        "</kernel><kernel name=\"l\" block=\"64\" grid=\"1\"><read array=\"a\" index=\"thread\"/></kernel></layout>";
    static const struct restriction shuffled[] = {{"a=aos/shuffle"}, {"b=aos/shuffle"}};
    struct arena arena = {0};
    struct bench bench;
    ck_assert(bench_open_text(&bench, load_device(&arena), "exchanges", xml));
    struct option **chosen = candidates_choose(bench.spec, bench.device, &bench.arena, shuffled, 2, &bench.diags);
    ck_assert_ptr_nonnull(chosen);
    struct score *score = score_spec(bench.spec, bench.device, chosen, &bench.arena, &bench.diags);
    ck_assert_ptr_nonnull(score);
    ck_assert_uint_eq(score->kernels[0].shared_bytes, 2 * 32 * 5 * 16);
    ck_assert_uint_eq(score->kernels[1].shared_bytes, 2 * 32 * 3 * 16);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

/* A description that some thread makes invalid; both implementations must name the first. The access or loop at fault
 * stands on the line after "<kernel ...". */
struct fault_case {
    const char *name;
    const char *declarations;
    const char *launch; /* the kernel's attributes */
    const char *body;
    uint64_t thread;
};

#define FLOATS(count) "<array name=\"a\" of=\"float\" extent=\"" count "\"/>"

static const struct fault_case fault_cases[] = {
    {"index past the extent", FLOATS("100"), "block=\"32\" grid=\"4\"", "<read array=\"a\" index=\"thread\"/>", 100},
    {"index below 0", FLOATS("100"), "block=\"8 8\" grid=\"2\"", "<read array=\"a\" index=\"70 - thread\"/>", 71},
    {"second dimension", "<array name=\"a\" of=\"float\" extent=\"9 5\"/>", "block=\"3 9\" grid=\"2\"",
     "<read array=\"a\" index=\"threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x\"/>", 29},
    {"division by zero", FLOATS("100"), "block=\"50\" grid=\"3\"",
     "<read array=\"a\" index=\"1 / (thread - 77) + 50\"/>", 77},
    {"remainder by zero", FLOATS("100"), "block=\"50\" grid=\"3\"",
     "<read array=\"a\" index=\"1 % (blockIdx.x - 2) + 50\"/>", 100},
    {"shift too far", FLOATS("1 &lt;&lt; 40"), "block=\"96\" grid=\"1\"",
     "<read array=\"a\" index=\"(1 &lt;&lt; thread) % 7\"/>", 63},
    {"overflow", FLOATS("8"), "block=\"64\" grid=\"1\"",
     "<read array=\"a\" index=\"(thread * 461168601842738791) % 8\"/>", 20},
    {"look-up past the table", "<table name=\"t\" extent=\"40\" values=\"permutation\"/>" FLOATS("40"),
     "block=\"16\" grid=\"4\"", "<read array=\"a\" index=\"t[thread]\"/>", 40},
    {"subscript past the count",
     "<struct name=\"S\"><field name=\"v\" type=\"float\" count=\"3\"/></struct>"
     "<array name=\"a\" of=\"S\" extent=\"64\"/>",
     "block=\"64\" grid=\"1\"", "<read array=\"a\" field=\"v[thread / 20]\" index=\"thread\"/>", 60},
    {"only where the test holds", FLOATS("10"), "block=\"32\" grid=\"2\"",
     "<if test=\"thread % 7 == 6\"><read array=\"a\" index=\"thread\"/></if>", 13},
    {"in a late trip", FLOATS("100"), "block=\"32\" grid=\"2\"",
     "<for var=\"i\" to=\"9\"><read array=\"a\" index=\"10 * i + thread\"/></for>", 20},
    {"irregular, in a later block", "<table name=\"t\" extent=\"4096\" values=\"permutation\"/>" FLOATS("4096"),
     "block=\"64\" grid=\"64\"", "<read array=\"a\" index=\"t[thread] + (thread % 2048 == 1234) * 4096\"/>", 1234},
    {"a loop that stands still", FLOATS("100"), "block=\"32\" grid=\"2\"",
     "<for var=\"i\" from=\"thread\" while=\"i &gt; 0\" next=\"i * i\"><read array=\"a\" index=\"0\"/></for>", 1},
    {"a loop without end", FLOATS("100"), "block=\"32\" grid=\"2\"",
     "<for var=\"i\" while=\"thread == 40\" next=\"(i + 1) % 3\"><read array=\"a\" index=\"0\"/></for>", 40},
};

enum { FAULT_CASES = sizeof(fault_cases) / sizeof(fault_cases[0]) };

static void check_fault(const struct fault_case *fault, const struct device *device, const char *xml, struct text *what)
{
    struct bench bench;
    bool valid = bench_open_text(&bench, device, fault->name, xml);
    struct option **chosen = valid ? choose_restricted(&bench, NULL) : NULL;
    if (chosen == NULL) {
        diag_render(&bench.diags, what, false);
    } else {
        struct diags diags = {.arena = &bench.arena};
        struct score *score = score_spec(bench.spec, device, chosen, &bench.arena, &diags);
        struct naive_score *naive = naive_score_spec(bench.spec, naive_uses(&bench, chosen), &bench.arena);
        if (naive->fault.kind == NAIVE_FINE || naive->fault.thread != fault->thread)
            text_printf(what, "naive: fault %d by thread %" PRIu64 "\n", (int)naive->fault.kind, naive->fault.thread);
        if (score != NULL)
            text_puts(what, "scored\n");
        else
            compare_faults(what, &diags, &naive->fault);
    }
    bench_close(&bench);
}

START_TEST(faults_by_hand)
{
    struct arena arena = {0};
    struct findings findings = {0};
    struct text xml = {0};
    struct text what = {0};
    const struct fault_case *fault = &fault_cases[_i];
    text_printf(&xml, LAYOUT_OPEN "%s\n<kernel name=\"k\" %s>\n%s\n</kernel></layout>\n", fault->declarations,
                fault->launch, fault->body);
    check_fault(fault, load_device(&arena), text_string(&xml), &what);
    if (what.length > 0)
        findings_add(&findings, fault->name, text_string(&xml), &what);
    text_free(&what);
    text_free(&xml);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

/* Kernels that four records a thread cannot serve: the index is not `thread` plus a multiple of 4, or what a thread
 * does depends on which of the four it is. */
static const char *const not_wide[] = {
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"2 * thread\"/>",
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"thread + 1\"/>",
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"63 - thread\"/>",
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"5\"/>",
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"t[thread]\"/>",
    "block=\"32\" grid=\"2\"><read array=\"a\" index=\"thread ^ 1\"/>",
    "block=\"33\" grid=\"2\"><read array=\"a\" index=\"threadIdx.x\"/>",
    "block=\"1\" grid=\"4\"><read array=\"a\" index=\"thread + 4 * (blockIdx.x &gt; 0)\"/>",
    "block=\"1\" grid=\"2 2 2\"><read array=\"a\" index=\"min(7, 40)\"/>",
    "block=\"3\" grid=\"2\"><read array=\"a\" index=\"min(max(-thread, 0), 9)\"/>",
    "block=\"32\" grid=\"2\"><if test=\"lane &lt; 7\"><read array=\"a\" index=\"thread\"/></if>",
    "block=\"32\" grid=\"2\"><if test=\"thread &lt; 63\"><read array=\"a\" index=\"thread\"/></if>",
    "block=\"32\" grid=\"2\"><for var=\"i\" to=\"lane\"><read array=\"a\" index=\"thread\"/></for>",
};

START_TEST(wide_is_refused)
{
    struct arena arena = {0};
    struct bench bench;
    struct text xml = {0};
    const struct device *device = load_device(&arena);
    text_printf(&xml,
                LAYOUT_OPEN "<table name=\"t\" extent=\"64\" values=\"permutation\"/>" FLOATS(
                    "200") "<kernel name=\"k\" %s</kernel></layout>",
                not_wide[_i]);
    bool valid = bench_open_text(&bench, device, "wide", text_string(&xml));
    ck_assert_msg(valid, "%s", not_wide[_i]);
    ck_assert_msg(choose_restricted(&bench, "a=soa/wide(4)") == NULL, "%s", not_wide[_i]);
    ck_assert_str_eq(bench.diags.items[0].id, "inapplicable-candidate");
    text_free(&xml);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

/* Bodies that must be walked block by block, over shapes whose blocks may go together or not. */
static const char *const irregular_bodies[] = {
    "<read array=\"a\" index=\"t[thread % 2048]\"/>",
    "<write array=\"a\" index=\"t[blockIdx.x * 37 + threadIdx.x]\"/>",
    "<update array=\"a\" index=\"thread * 7919 * thread % 1999\"/>",
    "<if test=\"t[blockIdx.x] % 3 == 1\"><read array=\"a\" index=\"t[thread % 64] / 2\"/></if>"
    "<else><write array=\"a\" index=\"t[lane + 32 * (warp % 2)]\"/></else>",
    "<for var=\"i\" to=\"t[blockIdx.x] % 5\"><read array=\"a\" index=\"t[(thread + i * 3) % 2048]\"/></for>",
    "<for var=\"i\" from=\"t[thread % 2048] % 9\" while=\"i > 0\" next=\"i - 2\">"
    "<atomic array=\"a\" index=\"t[i] + blockIdx.y + gridDim.x\"/></for>",
    "<let name=\"row\" value=\"t[blockIdx.x + 8 * blockIdx.y + 3 * blockIdx.z]\"/>"
    "<for var=\"i\" to=\"4\"><if test=\"row > 500 * i\"><read array=\"a\" index=\"row / (i + 1) + threadIdx.y\"/></if>"
    "</for>",
};
static const char *const irregular_shapes[] = {
    "block=\"256\" grid=\"11\"",   "block=\"32\" grid=\"50\"",    "block=\"96\" grid=\"23\"",
    "block=\"48\" grid=\"13\"",    "block=\"8 4 2\" grid=\"37\"", "block=\"16 2\" grid=\"9 5\"",
    "block=\"64\" grid=\"5 3 2\"", "block=\"1024\" grid=\"6\"",
};
enum {
    IRREGULAR_BODIES = sizeof(irregular_bodies) / sizeof(irregular_bodies[0]),
    IRREGULAR_SHAPES = sizeof(irregular_shapes) / sizeof(irregular_shapes[0])
};

static void compare_irregular(const struct device *device, const char *shape, const char *body,
                              struct findings *findings)
{
    struct bench bench;
    struct text xml = {0}, what = {0};
    text_printf(&xml,
                LAYOUT_OPEN "<table name=\"t\" extent=\"2048\" values=\"permutation\" seed=\"5\"/>\n" FLOATS(
                    "2200") "\n"
                            "<kernel name=\"k\" %s>\n%s\n</kernel></layout>\n",
                shape, body);
    bool valid = bench_open_text(&bench, device, "irregular", text_string(&xml));
    struct option **chosen = valid ? choose_restricted(&bench, NULL) : NULL;
    if (chosen != NULL) {
        compare_choice(&bench, chosen, findings, shape, text_string(&xml));
    } else {
        diag_render(&bench.diags, &what, false);
        findings_add(findings, shape, text_string(&xml), &what);
    }
    text_free(&what);
    text_free(&xml);
    bench_close(&bench);
}

START_TEST(irregular_blocks)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    for (unsigned shape = 0; shape < IRREGULAR_SHAPES; shape++)
        compare_irregular(device, irregular_shapes[shape], irregular_bodies[_i], &findings);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

/* Large tables are looked up in 32 bits where their values have no more. */
START_TEST(large_tables)
{
    static const char *const values[] = {"permutation", "uniform\" range=\"1 shl 33"};
    struct arena arena = {0};
    struct bench bench;
    struct findings findings = {0};
    struct text xml = {0};
    text_printf(&xml,
                LAYOUT_OPEN "<table name=\"t\" extent=\"20000\" values=\"%s\" seed=\"9\"/>\n" FLOATS(
                    "20000") "\n<kernel name=\"k\" block=\"96\" grid=\"190\">\n"
                             "<read array=\"a\" index=\"(t[thread * 7 %% 20000] + (t[thread] >> 32)) %% 20000\"/>\n"
                             "</kernel></layout>\n",
                values[_i]);
    ck_assert(bench_open_text(&bench, load_device(&arena), "large", text_string(&xml)));
    ck_assert((bench.spec->tables->narrow != NULL) == (_i == 0));
    struct option **chosen = choose_restricted(&bench, NULL);
    ck_assert_ptr_nonnull(chosen);
    compare_choice(&bench, chosen, &findings, values[_i], text_string(&xml));
    text_free(&xml);
    bench_close(&bench);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

enum { WARP_SWEEPS = 150 };

/* A table of addresses and one of active lanes; both spaces read with them. `spread` bounds the addresses: small ones
 * make lanes meet. */
static void write_warp(struct text *out, uint64_t *state, unsigned width, unsigned spread, unsigned active)
{
    text_puts(out, LAYOUT_OPEN "<table name=\"at\" extent=\"32\">");
    unsigned pairs = random_below(state, 4);
    unsigned last = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        /* Partners at distance 1 or 2 that agree, or nearly. */
        bool same = pairs == 1 ? lane % 2 == 1 : pairs == 2 ? lane % 4 == 1 || lane % 4 == 3 : false;
        if (!same || random_below(state, 40) == 0)
            last = random_below(state, spread);
        text_printf(out, " %u", width * last);
    }
    text_puts(out, "</table>\n<table name=\"on\" extent=\"32\">");
    for (unsigned lane = 0; lane < 32; lane++)
        text_printf(out, " %u", random_below(state, 100) < active);
    text_puts(out, "</table>\n<array name=\"near\" of=\"uint8\" extent=\"32768\" space=\"shared\"/>\n"
                   "<array name=\"far\" of=\"uint8\" extent=\"32768\"/>\n"
                   "<kernel name=\"k\" block=\"32\" grid=\"1\"><if test=\"on[lane]\">\n");
    text_printf(out, "<read array=\"near\" index=\"at[lane]\" bytes=\"%u\"/>\n", width);
    text_printf(out, "<write array=\"near\" index=\"at[lane ^ 2]\" bytes=\"%u\"/>\n", width);
    text_printf(out, "<write array=\"far\" index=\"at[lane]\" bytes=\"%u\"/>\n</if></kernel></layout>\n", width);
}

static void check_warp(const struct device *device, uint64_t *state, unsigned width, struct findings *findings)
{
    static const unsigned spreads[] = {2, 6, 33, 100, 1000, 2000};
    struct bench bench;
    struct text xml = {0};
    unsigned spread = spreads[random_below(state, 6)];
    write_warp(&xml, state, width, spread * width > 32000 ? 32000 / width : spread, 20 + random_below(state, 90));
    struct text what = {0};
    bool valid = bench_open_text(&bench, device, "warp", text_string(&xml));
    struct option **chosen = valid ? choose_restricted(&bench, NULL) : NULL;
    if (chosen != NULL) {
        compare_choice(&bench, chosen, findings, "warp", text_string(&xml));
    } else {
        diag_render(&bench.diags, &what, false);
        findings_add(findings, "warp", text_string(&xml), &what);
    }
    text_free(&what);
    text_free(&xml);
    bench_close(&bench);
}

/* Lanes further apart than 32 bits count: gathers in an array of 8 GiB. Slow to scan, so not under valgrind. */
START_TEST(far_apart)
{
    static const char xml[] =
        LAYOUT_OPEN "<array name=\"a\" of=\"uint8\" extent=\"1 &lt;&lt; 33\"/>\n"
                    "<kernel name=\"k\" block=\"100\" grid=\"3\">\n"
                    "<read array=\"a\" index=\"(thread * 2654435761 * 1001) % (1 &lt;&lt; 33)\"/>\n"
                    "<write array=\"a\" index=\"((lane &lt;&lt; 32) ^ (thread / 3)) % (1 &lt;&lt; 33)\"/>\n"
                    "</kernel></layout>";
    struct arena arena = {0};
    struct findings findings = {0};
    struct bench bench;
    const struct device *device = load_device(&arena);
    if (random_count() > 500) {
        ck_assert(bench_open_text(&bench, device, "far", xml));
        struct option **chosen = choose_restricted(&bench, NULL);
        ck_assert_ptr_nonnull(chosen);
        compare_choice(&bench, chosen, &findings, "far", xml);
        bench_close(&bench);
    }
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

START_TEST(random_warps)
{
    struct arena arena = {0};
    struct findings findings = {0};
    const struct device *device = load_device(&arena);
    unsigned width = 1U << _i;
    uint64_t state = 77 + width;
    for (int sweep = 0; sweep < WARP_SWEEPS; sweep++)
        check_warp(device, &state, width, &findings);
    arena_free(&arena);
    findings_close(&findings);
}
END_TEST

Suite *score_suite(void);

Suite *score_suite(void)
{
    Suite *suite = suite_create("score");
    TCase *hardware = tcase_create("hardware");
    tcase_add_test(hardware, naive_equals_hardware);
    tcase_add_test(hardware, atomics_equal_hardware);
    tcase_add_test(hardware, score_equals_hardware);
    tcase_add_test(hardware, naive_equals_layouts);
    tcase_add_test(hardware, score_equals_layouts);
    tcase_add_test(hardware, score_equals_gathers);
    suite_add_tcase(suite, hardware);
    TCase *exact = tcase_create("exact");
    tcase_add_test(exact, public_cases);
    tcase_add_test(exact, public_cases_small);
    tcase_add_test(exact, public_case_passes);
    tcase_add_loop_test(exact, sums_by_hand, 0, HAND_CASES);
    tcase_add_test(exact, joined_by_hand);
    tcase_add_test(exact, exchanges_share_a_place);
    tcase_add_loop_test(exact, faults_by_hand, 0, FAULT_CASES);
    tcase_add_loop_test(exact, wide_is_refused, 0, sizeof(not_wide) / sizeof(not_wide[0]));
    tcase_add_loop_test(exact, random_warps, 0, 5);
    tcase_add_loop_test(exact, irregular_blocks, 0, IRREGULAR_BODIES);
    tcase_add_loop_test(exact, large_tables, 0, 2);
    tcase_add_test(exact, far_apart);
    suite_add_tcase(suite, exact);
    TCase *random = tcase_create("random");
    tcase_add_test(random, random_wild);
    tcase_add_test(random, random_regular);
    tcase_add_test(random, random_stream);
    tcase_add_test(random, random_faulty);
    suite_add_tcase(suite, random);
    return suite;
}
