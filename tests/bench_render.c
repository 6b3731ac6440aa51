/* Takes a number of runs, gives one line: "MS BYTES", the median time of rendering a page of many records from memory,
 * and the bytes rendered. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "diag.h"
#include "source.h"
#include "template.h"
#include "text.h"

enum { RUNS_MAX = 101, RECORDS = 10000, FIELDS = 8 };

/* What code templates do most: names that are looked up in outer contexts, sections, partials that are indented. */
static const char page[] = "// {{title}}\n"
                           "{{#records}}\n"
                           "struct {{name}} {\n"
                           "    {{>fields}}\n"
                           "};\n"
                           "{{^last}}\n"
                           "\n"
                           "{{/last}}\n"
                           "{{/records}}\n";
static const char fields[] = "{{#fields}}\n"
                             "{{type}} {{name}}; // {{offset}} of {{size}}, in {{title}}\n"
                             "{{/fields}}\n";

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static json_t *build_view(struct arena *arena)
{
    json_t *records = json_array();
    for (int r = 0; r < RECORDS; r++) {
        json_t *list = json_array();
        for (int f = 0; f < FIELDS; f++)
            json_array_append_new(list, json_pack("{s:s, s:s, s:i}", "type", "float", "name",
                                                  arena_printf(arena, "field_%d", f), "offset", f * 4));
        json_array_append_new(records, json_pack("{s:s, s:i, s:b, s:o}", "name", arena_printf(arena, "Record%d", r),
                                                 "size", FIELDS * 4, "last", r == RECORDS - 1, "fields", list));
    }
    return json_pack("{s:s, s:o}", "title", "ten thousand records", "records", records);
}

static const struct source *find_partial(void *context, const char *name)
{
    return strcmp(name, "fields") == 0 ? context : NULL;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(int runs, struct arena *arena, const json_t *view)
{
    double ms[RUNS_MAX] = {0};
    size_t bytes = 0;
    struct diags diags = {.arena = arena};
    const struct source *source = source_from_bytes(arena, "page.mustache", page, strlen(page));
    struct source *partial = source_from_bytes(arena, "fields.mustache", fields, strlen(fields));
    struct template_options options = {.strict = true, .find = find_partial, .find_context = partial};
    for (int i = 0; i < runs; i++) {
        struct text out = {0};
        const double start = now_ms();
        if (!template_render(&out, source, view, &options, &diags))
            return false;
        ms[i] = now_ms() - start;
        bytes = out.length;
        text_free(&out);
    }
    qsort(ms, (size_t)runs, sizeof(*ms), compare_times);
    printf("%.3f %zu\n", ms[runs / 2], bytes);
    return true;
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
    int runs = argc > 1 ? parse_runs(argv[1]) : 0;
    if (runs == 0) {
        fprintf(stderr, "usage: bench_render RUNS\n");
        return 2;
    }
    struct arena arena = {0};
    json_t *view = build_view(&arena);
    bool good = measure(runs, &arena, view);
    json_decref(view);
    arena_free(&arena);
    return good ? 0 : 1;
}
