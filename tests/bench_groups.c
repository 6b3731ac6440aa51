/* Takes a number of runs and a description, gives one line: "MS CPU_MS FOUND", the median time of the search over
 * groups of the first array's fields alone, the least time that a run took on all cores together, and how many splits
 * it found.
 *
 *   bench_groups RUNS SPEC */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arena.h"
#include "candidates.h"
#include "check.h"
#include "device.h"
#include "groups.h"
#include "read.h"

enum { RUNS_MAX = 101 };

static double clock_ms(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(struct arena *arena, const struct spec *spec, const struct device *device, int runs)
{
    double ms[RUNS_MAX] = {0};
    size_t count = 0;
    struct diags diags = {.arena = arena};
    struct option **chosen = candidates_choose(spec, device, arena, NULL, 0, &diags);
    if (chosen == NULL)
        return false;
    double least_cpu_ms = DBL_MAX;
    for (int i = 0; i < runs; i++) {
        struct option *found[GROUPS_FOUND_MAX];
        const struct arena_mark mark = arena_mark(arena);
        const double start = clock_ms(CLOCK_MONOTONIC), cpu_start = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
        count = groups_search(found, spec, device, spec->arrays, chosen, arena);
        ms[i] = clock_ms(CLOCK_MONOTONIC) - start;
        const double cpu_ms = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
        least_cpu_ms = cpu_ms < least_cpu_ms ? cpu_ms : least_cpu_ms;
        arena_reset(arena, mark);
    }
    qsort(ms, (size_t)runs, sizeof(*ms), compare_times);
    printf("%.3f %.3f %zu\n", ms[runs / 2], least_cpu_ms, count);
    return true;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct source *source = NULL;
    const char *reason;
    char *end = argv[0];
    const long runs = argc == 3 ? strtol(argv[1], &end, 10) : 0;
    if (runs < 1 || runs > RUNS_MAX || *end != '\0') {
        fprintf(stderr, "usage: bench_groups RUNS SPEC\n");
        return 2;
    }
    const struct device *device = device_load(&arena, "h200", &diags);
    const bool read = source_read(&source, &arena, argv[2], &reason) == SOURCE_OK;
    struct spec *spec = device != NULL && read ? read_spec(&arena, source, &diags) : NULL;
    bool good =
        spec != NULL && check_spec(spec, &arena, device, NULL, 0, &diags) && measure(&arena, spec, device, (int)runs);
    if (!good)
        fprintf(stderr, "bench_groups: %s cannot be searched\n", argv[2]);
    arena_free(&arena);
    return good ? 0 : 1;
}
