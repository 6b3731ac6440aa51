/* Takes a way to count, a number of runs and a description, gives one line: "MS CPU_MS LANES REQUESTS SECTORS LINES
 * DISTINCT", the median time of counting alone, the least time that a run took on all cores together, the lane
 * addresses counted, and the counts, summed over all accesses and arrays.
 *
 *   bench_score tool RUNS SPEC [NAME=VALUE...]        score_spec, on OMP_NUM_THREADS cores
 *   bench_score compiled RUNS SPEC [NAME=VALUE...]    the obvious loop, its index expression written in C
 *   bench_score evaluated RUNS SPEC [NAME=VALUE...]   the same loop, each index by expr_evaluate
 *
 * The loops are a yardstick on one core: a thread after another, each warp's 32 addresses sorted by insertion and
 * counted, a flag a sector for the footprint. They know launches of one dimension without loops and tests, over arrays
 * of scalars. */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "candidates.h"
#include "check.h"
#include "device.h"
#include "diag.h"
#include "read.h"
#include "score.h"
#include "text.h"

enum { RUNS_MAX = 101, SLOTS_MAX = 16 };

struct bench {
    struct arena arena;
    struct diags diags;
    const struct device *device;
    struct spec *spec;
    struct option **chosen;
};

struct sums {
    uint64_t lanes, requests, sectors, lines, distinct;
};

/* How one way counts: everything, once. False after a diagnostic. */
typedef bool count_all(struct sums *out, struct bench *bench);

static double clock_ms(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* --- the tool ----------------------------------------------------------------------------------------------------- */

static bool count_by_tool(struct sums *out, struct bench *bench)
{
    const struct arena_mark mark = arena_mark(&bench->arena);
    const struct score *score = score_spec(bench->spec, bench->device, bench->chosen, &bench->arena, &bench->diags);
    for (size_t k = 0; score != NULL && k < score->kernel_count; k++) {
        const struct kernel_score *kernel = &score->kernels[k];
        for (size_t i = 0; i < kernel->access_count; i++) {
            const struct access_score *access = &kernel->accesses[i];
            out->lanes += access->counts.asked_bytes / access->access->selected[0].size;
            out->requests += access->counts.requests;
            out->sectors += access->counts.sectors;
            out->lines += access->counts.lines;
        }
        for (size_t i = 0; i < kernel->array_count; i++)
            out->distinct += kernel->arrays[i].distinct_sectors;
    }
    if (score != NULL)
        arena_reset(&bench->arena, mark);
    return score != NULL;
}

/* --- the yardstick ------------------------------------------------------------------------------------------------ */

static void count_warp(struct sums *sums, unsigned char *touched, const uint64_t address[WARP_LANES])
{
    uint64_t sorted[WARP_LANES];
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        unsigned at = lane;
        for (; at > 0 && sorted[at - 1] > address[lane]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = address[lane];
    }
    for (unsigned i = 0; i < WARP_LANES; i++) {
        sums->sectors += i == 0 || sorted[i] / SECTOR_BYTES != sorted[i - 1] / SECTOR_BYTES;
        sums->lines += i == 0 || sorted[i] / LINE_BYTES != sorted[i - 1] / LINE_BYTES;
        touched[sorted[i] / SECTOR_BYTES] = 1;
    }
    sums->lanes += WARP_LANES;
    sums->requests++;
}

/* The launch that the loops walk. */
struct walk {
    uint64_t threads;
    const struct array *array;
    const struct kernel *kernel;
    unsigned char *touched; /* a flag a sector */
    uint64_t sector_count;
};

static struct walk start_walk(const struct bench *bench)
{
    const struct kernel *kernel = bench->spec->kernels;
    const struct array *array = kernel->accesses[0]->array;
    struct walk walk = {.threads = kernel->block_count * kernel->block_threads, .array = array, .kernel = kernel};
    walk.sector_count = array->records * array->record->type->size / SECTOR_BYTES + 1;
    walk.touched = calloc(walk.sector_count, 1);
    if (walk.touched == NULL)
        abort();
    return walk;
}

static void end_walk(struct sums *out, struct walk *walk)
{
    for (uint64_t i = 0; i < walk->sector_count; i++)
        out->distinct += walk->touched[i];
    free(walk->touched);
}

static void loop_hashed(struct sums *out, const struct walk *walk)
{
    const uint64_t size = walk->array->record->type->size, slots = walk->array->records;
    for (uint64_t first = 0; first < walk->threads; first += WARP_LANES) {
        uint64_t address[WARP_LANES];
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            uint64_t hash = (first + lane) * 2654435761 & 0xffffffff;
            address[lane] = ((hash ^ hash >> 15) & (slots - 1)) * size;
        }
        count_warp(out, walk->touched, address);
    }
}

static void loop_gather(struct sums *out, const struct walk *walk, const struct table *order)
{
    const uint64_t size = walk->array->record->type->size;
    for (uint64_t first = 0; first < walk->threads; first += WARP_LANES) {
        uint64_t address[WARP_LANES];
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            address[lane] = (uint64_t)order->data[(first + lane) & (order->extent - 1)] * size;
        count_warp(out, walk->touched, address);
    }
}

static bool count_compiled(struct sums *out, struct bench *bench)
{
    struct walk walk = start_walk(bench);
    const char *name = bench->spec->name.text;
    bool known = true;
    if (strcmp(name, "hashed") == 0)
        loop_hashed(out, &walk);
    else if (strcmp(name, "gather") == 0)
        loop_gather(out, &walk, bench->spec->tables);
    else
        known = false;
    end_walk(out, &walk);
    if (!known)
        fprintf(stderr, "bench_score: there is no loop in C for '%s'\n", name);
    return known;
}

/* One thread's index; false where an expression faults. */
static bool evaluate_thread(int64_t *index, const struct walk *walk, struct expr_frame *frame, int64_t *variables)
{
    const struct expr *culprit;
    int64_t detail;
    for (const struct statement *at = walk->kernel->body; at != NULL; at = at->next) {
        const struct expr *expr = at->kind == STATEMENT_LET ? at->value : at->access->index[0];
        int64_t value;
        if (expr_evaluate(&value, expr, frame, &culprit, &detail) != EXPR_FINE)
            return false;
        *(at->kind == STATEMENT_LET ? &variables[at->slot] : index) = value;
    }
    return true;
}

static bool count_evaluated(struct sums *out, struct bench *bench)
{
    struct walk walk = start_walk(bench);
    int64_t variables[SLOTS_MAX] = {0}, index = 0;
    struct expr_frame frame = {.variables = variables};
    bool good = walk.kernel->slot_count <= SLOTS_MAX;
    for (uint64_t first = 0; first < walk.threads && good; first += WARP_LANES) {
        uint64_t address[WARP_LANES];
        for (unsigned lane = 0; lane < WARP_LANES && good; lane++) {
            frame.builtins[BUILTIN_THREAD] = (int64_t)(first + lane);
            good = evaluate_thread(&index, &walk, &frame, variables);
            address[lane] = (uint64_t)index * walk.array->record->type->size;
        }
        if (good)
            count_warp(out, walk.touched, address);
    }
    end_walk(out, &walk);
    return good;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static bool load(struct bench *bench, const char *path, char **definitions, size_t count)
{
    struct definition *parsed = arena_array(&bench->arena, count + 1, sizeof(*parsed));
    const char *reason;
    struct source *source;
    for (size_t i = 0; i < count; i++) {
        char *equals = strchr(definitions[i], '=');
        if (equals == NULL)
            return false;
        parsed[i].name = arena_copy(&bench->arena, definitions[i], (size_t)(equals - definitions[i]));
        parsed[i].value = equals + 1;
    }
    if (source_read(&source, &bench->arena, path, &reason) != SOURCE_OK)
        return false;
    bench->device = device_load(&bench->arena, "h200", &bench->diags);
    bench->spec = read_spec(&bench->arena, source, &bench->diags);
    if (bench->device == NULL || bench->spec == NULL ||
        !check_spec(bench->spec, &bench->arena, bench->device, parsed, count, &bench->diags))
        return false;
    bench->chosen = candidates_choose(bench->spec, bench->device, &bench->arena, NULL, 0, &bench->diags);
    return bench->chosen != NULL;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(struct bench *bench, count_all *count, int runs)
{
    double ms[RUNS_MAX] = {0};
    struct sums sums = {0};
    double least_cpu_ms = DBL_MAX;
    for (int i = 0; i < runs; i++) {
        const double start = clock_ms(CLOCK_MONOTONIC), cpu_start = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
        sums = (struct sums){0};
        if (!count(&sums, bench))
            return false;
        ms[i] = clock_ms(CLOCK_MONOTONIC) - start;
        const double cpu_ms = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
        least_cpu_ms = cpu_ms < least_cpu_ms ? cpu_ms : least_cpu_ms;
    }
    qsort(ms, (size_t)runs, sizeof(*ms), compare_times);
    printf("%.3f %.3f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ms[runs / 2], least_cpu_ms,
           sums.lanes, sums.requests, sums.sectors, sums.lines, sums.distinct);
    return true;
}

static count_all *find_way(const char *name)
{
    if (strcmp(name, "tool") == 0)
        return count_by_tool;
    if (strcmp(name, "compiled") == 0)
        return count_compiled;
    return strcmp(name, "evaluated") == 0 ? count_evaluated : NULL;
}

/* 0 where the text is no number of runs. */
static int parse_runs(const char *text)
{
    char *end;
    const long runs = strtol(text, &end, 10);
    return *end == '\0' && runs > 0 && runs <= RUNS_MAX ? (int)runs : 0;
}

int main(int argc, char **argv)
{
    struct bench bench = {.diags = {.arena = &bench.arena}};
    count_all *count = argc > 3 ? find_way(argv[1]) : NULL;
    int runs = argc > 3 ? parse_runs(argv[2]) : 0;
    if (count == NULL || runs == 0) {
        fprintf(stderr, "usage: bench_score tool|compiled|evaluated RUNS SPEC [NAME=VALUE...]\n");
        return 2;
    }
    bool good = load(&bench, argv[3], argv + 4, (size_t)(argc - 4)) && measure(&bench, count, runs);
    if (!good) {
        struct text text = {0};
        diag_render(&bench.diags, &text, false);
        fprintf(stderr, "bench_score: %s cannot be counted\n%s", argv[3], text_string(&text));
        text_free(&text);
    }
    arena_free(&bench.arena);
    return good ? 0 : 1;
}
