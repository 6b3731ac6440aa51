#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "emit_show.h"
#include "emit_table.h"
#include "request.h"
#include "view.h"

void emit_json(struct text *out, const json_t *view)
{
    /* Six digits are what the view rounds to. */
    const size_t flags = JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6);
    char *dumped = json_dumps(view, flags);
    if (dumped == NULL)
        abort();
    text_puts(out, dumped);
    text_putc(out, '\n');
    free(dumped);
}

static void cell_count(struct emit_table *table, const json_t *object, const char *key)
{
    table_cell(table, PAINT_NONE, show_count(table->arena, get_count(object, key)));
}

/* Where a quotient has nothing to divide by its key is absent, and so is its text. */
static void cell_ratio(struct emit_table *table, const json_t *object, const char *key)
{
    if (json_object_get(object, key) == NULL)
        table_cell(table, PAINT_NONE, "");
    else
        table_printf(table, PAINT_NONE, "%.2f", get_real(object, key));
}

static void cell_efficiency(struct emit_table *table, const json_t *object)
{
    const double good = 0.8, fair = 0.4;
    double efficiency = get_real(object, "efficiency");
    if (json_object_get(object, "efficiency") == NULL)
        table_cell(table, PAINT_NONE, "");
    else
        table_printf(table,
                     efficiency >= good   ? PAINT_GOOD
                     : efficiency >= fair ? PAINT_FAIR
                                          : PAINT_POOR,
                     "%.1f %%", 100 * efficiency);
}

/* The quotient of two counts of one object. */
static void cell_quotient(struct emit_table *table, const json_t *object, const char *dividend, const char *divisor)
{
    int64_t by = get_count(object, divisor);
    if (by == 0)
        table_cell(table, PAINT_NONE, "");
    else
        table_printf(table, PAINT_NONE, "%.2f", (double)get_count(object, dividend) / (double)by);
}

static bool is_copy(const json_t *access)
{
    return json_object_get(access, "phase") != NULL;
}

/* Threads' requests to one space; a staged copy has a side in both. */
static bool is_in(const json_t *access, const char *space)
{
    return is_copy(access) || strcmp(get_text(access, "space"), space) == 0;
}

static void columns_access(struct emit_table *table)
{
    table_column(table, "line", TABLE_RIGHT, 0);
    table_column(table, "op", TABLE_LEFT, 0);
    table_column(table, "array", TABLE_LEFT, 0);
    table_column(table, "field", TABLE_LEFT, 0);
    table_column(table, "candidate", TABLE_LEFT, 4);
}

static void cells_access(struct emit_table *table, const json_t *access)
{
    table_cell(table, PAINT_NONE, show_count(table->arena, get_count(access, "source_line")));
    table_cell(table, PAINT_NONE, get_text(access, is_copy(access) ? "phase" : "op"));
    table_cell(table, PAINT_NONE, get_text(access, "array"));
    table_cell(table, PAINT_NONE, get_text(access, "field"));
    table_cell(table, PAINT_NONE, get_text(access, "candidate"));
}

static void cells_total(struct emit_table *table)
{
    table_cell(table, PAINT_NONE, "");
    table_cell(table, PAINT_NONE, "all");
    table_cell(table, PAINT_NONE, "");
    table_cell(table, PAINT_NONE, "");
    table_cell(table, PAINT_NONE, "");
}

static void cells_global(struct emit_table *table, const json_t *counts)
{
    cell_count(table, counts, "requests");
    cell_count(table, counts, "sectors");
    cell_ratio(table, counts, "sectors_per_request");
    cell_quotient(table, counts, "ideal_sectors", "requests");
    cell_efficiency(table, counts);
    cell_count(table, counts, "lines");
}

/* What several accesses name and generated code moves once. */
static void print_joined(struct text *out, struct arena *arena, const json_t *joined)
{
    if (joined != NULL && get_count(joined, "requests") > 0)
        text_printf(out, "  generated code moves once what several accesses name: %s requests, %s sectors less\n",
                    show_count(arena, get_count(joined, "requests")), show_count(arena, get_count(joined, "sectors")));
}

static void print_global(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    struct emit_table table = {.arena = arena};
    columns_access(&table);
    table_column(&table, "requests", TABLE_RIGHT, 0);
    table_column(&table, "sectors", TABLE_RIGHT, 0);
    table_column(&table, "sect/req", TABLE_RIGHT, 0);
    table_column(&table, "ideal", TABLE_RIGHT, 0);
    table_column(&table, "efficiency", TABLE_RIGHT, 0);
    table_column(&table, "lines", TABLE_RIGHT, 0);
    const json_t *access;
    size_t i, rows = 0;
    json_array_foreach(json_object_get(kernel, "accesses"), i, access)
    {
        if (!is_in(access, "global"))
            continue;
        cells_access(&table, access);
        cells_global(&table, access);
        rows++;
    }
    const json_t *total = json_object_get(kernel, "total");
    if (rows > 1 && total != NULL) {
        cells_total(&table);
        cells_global(&table, total);
    }
    if (rows > 0)
        table_print(&table, out, EMIT_WIDTH, color);
    print_joined(out, arena, json_object_get(total, "joined"));
}

/* Wavefronts less conflicts are passes; wavefronts a pass are the ways of an average one, 1 without conflicts. */
static void cells_shared(struct emit_table *table, const json_t *counts)
{
    int64_t wavefronts = get_count(counts, "wavefronts"), conflicts = get_count(counts, "conflicts");
    cell_count(table, counts, "wavefronts");
    cell_count(table, counts, "conflicts");
    if (wavefronts > conflicts)
        table_printf(table, conflicts > 0 ? PAINT_POOR : PAINT_GOOD, "%.2f",
                     (double)wavefronts / (double)(wavefronts - conflicts));
    else
        table_cell(table, PAINT_NONE, "");
}

static void print_shared(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    struct emit_table table = {.arena = arena};
    columns_access(&table);
    table_column(&table, "instructions", TABLE_RIGHT, 0);
    table_column(&table, "wavefronts", TABLE_RIGHT, 0);
    table_column(&table, "conflicts", TABLE_RIGHT, 0);
    table_column(&table, "ways", TABLE_RIGHT, 0);
    const json_t *access;
    size_t i, rows = 0;
    json_array_foreach(json_object_get(kernel, "accesses"), i, access)
    {
        if (!is_in(access, "shared"))
            continue;
        cells_access(&table, access);
        cell_count(&table, access, "instructions");
        cells_shared(&table, access);
        rows++;
    }
    if (rows == 0)
        return;
    table_paint(out, PAINT_NONE, color, "\n  shared memory\n");
    table_print(&table, out, EMIT_WIDTH, color);
}

static void print_footprint(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    struct emit_table table = {.arena = arena};
    table_column(&table, "array", TABLE_LEFT, 0);
    table_column(&table, "distinct sectors", TABLE_RIGHT, 0);
    table_column(&table, "bytes", TABLE_RIGHT, 0);
    table_column(&table, "fill sectors", TABLE_RIGHT, 0);
    const json_t *array;
    size_t i;
    json_array_foreach(json_object_get(kernel, "arrays"), i, array)
    {
        table_cell(&table, PAINT_NONE, get_text(array, "array"));
        cell_count(&table, array, "distinct_sectors");
        table_cell(&table, PAINT_NONE, show_bytes(arena, SECTOR_BYTES * (double)get_count(array, "distinct_sectors")));
        table_printf(&table, get_count(array, "fill_sectors") > 0 ? PAINT_POOR : PAINT_NONE, "%s",
                     show_count(arena, get_count(array, "fill_sectors")));
    }
    if (table.cell_count == 0)
        return;
    text_putc(out, '\n');
    table_print(&table, out, EMIT_WIDTH, color);
}

/* "1 block", "2 blocks" */
static const char *show_number(struct arena *arena, int64_t count, const char *what)
{
    return arena_printf(arena, "%s %s%s", show_count(arena, count), what, count == 1 ? "" : "s");
}

static void print_kernel_title(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    text_putc(out, '\n');
    table_paint(out, PAINT_TITLE, color, arena_printf(arena, "kernel %s", get_text(kernel, "name")));
    text_printf(out, ": %s, %s, %s", show_number(arena, get_count(kernel, "blocks"), "block"),
                show_number(arena, get_count(kernel, "threads"), "thread"),
                show_number(arena, get_count(kernel, "warps"), "warp"));
    int64_t shared = get_count(kernel, "shared_bytes");
    if (shared > 0)
        text_printf(out, ", %s of shared memory a block", show_number(arena, shared, "byte"));
    text_putc(out, '\n');
}

/* "particles on NVIDIA H200" */
static void print_title(struct text *out, struct arena *arena, const json_t *view, bool color)
{
    table_paint(out, PAINT_TITLE, color,
                arena_printf(arena, "%s on %s", get_text(view, "layout"), get_text(view, "device_title")));
}

static void print_arrays(struct text *out, struct arena *arena, const json_t *view, bool color)
{
    struct emit_table table = {.arena = arena};
    table_column(&table, "array", TABLE_LEFT, 0);
    table_column(&table, "of", TABLE_LEFT, 0);
    table_column(&table, "records", TABLE_RIGHT, 0);
    table_column(&table, "record bytes", TABLE_RIGHT, 0);
    table_column(&table, "candidate", TABLE_LEFT, 0);
    table_column(&table, "space", TABLE_LEFT, 0);
    table_column(&table, "memory", TABLE_RIGHT, 0);
    const json_t *array;
    size_t i;
    json_array_foreach(json_object_get(view, "arrays"), i, array)
    {
        table_cell(&table, PAINT_NONE, get_text(array, "name"));
        table_cell(&table, PAINT_NONE, get_text(array, "of"));
        cell_count(&table, array, "records");
        cell_count(&table, array, "record_bytes");
        table_cell(&table, PAINT_NONE, get_text(array, "candidate"));
        table_cell(&table, PAINT_NONE, get_text(array, "space"));
        table_cell(&table, PAINT_NONE, show_bytes(arena, (double)get_count(array, "memory_bytes")));
    }
    if (table.cell_count > 0)
        table_print(&table, out, EMIT_WIDTH, color);
}

void emit_score(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    print_title(out, &arena, view, color);
    text_puts(out, ", counts of one launch\n");
    print_arrays(out, &arena, view, color);
    const json_t *kernel;
    size_t i;
    json_array_foreach(json_object_get(view, "kernels"), i, kernel)
    {
        print_kernel_title(out, &arena, kernel, color);
        print_global(out, &arena, kernel, color);
        print_shared(out, &arena, kernel, color);
        print_footprint(out, &arena, kernel, color);
    }
    arena_free(&arena);
}

static const char *choice_of(const json_t *candidate, const char *array)
{
    return get_text(json_object_get(candidate, "arrays"), array);
}

/* Whether the candidates shown differ in what they do with an array. */
static bool is_varied(const json_t *candidates, const char *array)
{
    const json_t *candidate;
    size_t i;
    const char *first = choice_of(json_array_get(candidates, 0), array);
    json_array_foreach(candidates, i, candidate)
    {
        if (strcmp(first, choice_of(candidate, array)) != 0)
            return true;
    }
    return false;
}

/* Names of the arrays that have columns: two always; of more those that make a difference, which one candidate alone
 * cannot. The others are told in a line of their own. */
static size_t find_columns(const char *names[TABLE_COLUMNS_MAX], const json_t *view)
{
    enum { ALWAYS = 2, MOST = TABLE_COLUMNS_MAX - 12 };
    const json_t *candidates = json_object_get(view, "candidates"), *arrays = json_object_get(view, "arrays"), *array;
    bool all = json_array_size(arrays) <= ALWAYS || json_array_size(candidates) == 1;
    size_t i, count = 0;
    json_array_foreach(arrays, i, array)
    {
        if (count < MOST && (all || is_varied(candidates, get_text(array, "name"))))
            names[count++] = get_text(array, "name");
    }
    return count;
}

static bool is_among(const char *const names[], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Whatever the width: who compares two rankings looks for the same columns in both. */
static void columns_ranked(struct emit_table *table)
{
    table_column(table, "sect/req", TABLE_RIGHT, 0);
    table_column(table, "efficiency", TABLE_RIGHT, 0);
    table_column(table, "DRAM", TABLE_RIGHT, 0);
    table_column(table, "bound by", TABLE_LEFT, 0);
    table_column(table, "time", TABLE_RIGHT, 0);
}

static void cells_ranked(struct emit_table *table, const json_t *object, double dram_bytes)
{
    cell_ratio(table, object, "sectors_per_request");
    cell_efficiency(table, object);
    table_cell(table, PAINT_NONE, show_bytes(table->arena, dram_bytes));
    table_cell(table, PAINT_NONE, show_bound(get_text(object, "bound_by")));
    table_cell(table, PAINT_NONE, show_time(table->arena, get_real(object, "time_us")));
}

/* Without --top a table shows so many, and the default wherever that is. */
enum { ROWS_USUAL = 20 };

static bool is_shown(const json_t *view, size_t place, const json_t *candidate)
{
    return place < ROWS_USUAL || json_object_get(view, "top") != NULL || get_bool(candidate, "default");
}

/* How many candidates there are, less those shown. */
static int64_t count_hidden(const json_t *view)
{
    const json_t *candidate;
    size_t i;
    int64_t hidden = get_count(view, "candidate_count");
    json_array_foreach(json_object_get(view, "candidates"), i, candidate)
    {
        hidden -= is_shown(view, i, candidate);
    }
    return hidden;
}

/* "split(...)/vector" where the whole would push the numbers out; the sentence at the end says it in full. */
static const char *shorten_choice(struct arena *arena, const char *candidate)
{
    enum { LONGEST = 36 };
    const char *open = strchr(candidate, '('), *close = strrchr(candidate, ')');
    const char *plan = strrchr(candidate, '/');
    if (strlen(candidate) <= LONGEST || open == NULL || close == NULL)
        return candidate;
    while (plan != NULL && close > plan && close > open) /* the last bracket of the layout */
        close--;
    while (close > open && *close != ')')
        close--;
    return arena_printf(arena, "%.*s(...%s", (int)(open - candidate), candidate, close);
}

static void print_candidates(struct text *out, struct arena *arena, const json_t *view, bool color)
{
    const char *names[TABLE_COLUMNS_MAX];
    size_t arrays = find_columns(names, view);
    struct emit_table table = {.arena = arena};
    table_column(&table, "rank", TABLE_RIGHT, 0);
    for (size_t i = 0; i < arrays; i++)
        table_column(&table, names[i], TABLE_LEFT, 0);
    columns_ranked(&table);
    table_column(&table, "ratio", TABLE_RIGHT, 0);
    table_column(&table, "memory", TABLE_RIGHT, 0);
    table_column(&table, "", TABLE_LEFT, 0);
    const json_t *candidate;
    size_t number;
    json_array_foreach(json_object_get(view, "candidates"), number, candidate)
    {
        if (!is_shown(view, number, candidate))
            continue;
        table_printf(&table, PAINT_NONE, get_bool(candidate, "tie") ? "%s=" : "%s ",
                     show_count(arena, get_count(candidate, "rank")));
        for (size_t i = 0; i < arrays; i++)
            table_cell(&table, PAINT_NONE, shorten_choice(arena, choice_of(candidate, names[i])));
        cells_ranked(&table, candidate, (double)get_count(candidate, "dram_bytes"));
        cell_ratio(&table, candidate, "ratio");
        table_cell(&table, PAINT_NONE, show_bytes(arena, (double)get_count(candidate, "memory_bytes")));
        table_cell(&table, PAINT_NONE, get_bool(candidate, "default") ? "default" : "");
    }
    table_print(&table, out, EMIT_WIDTH, color);
}

/* The arrays without a column: every candidate shown treats them alike. */
static void print_alike(struct text *out, const json_t *view)
{
    const char *names[TABLE_COLUMNS_MAX];
    size_t columns = find_columns(names, view), i, count = 0;
    const json_t *array, *first = json_array_get(json_object_get(view, "candidates"), 0);
    json_array_foreach(json_object_get(view, "arrays"), i, array)
    {
        const char *name = get_text(array, "name");
        if (is_among(names, columns, name))
            continue;
        text_printf(out, "%s%s %s", count++ == 0 ? "  in all of these: " : ", ", name, choice_of(first, name));
    }
    if (count > 0)
        text_putc(out, '\n');
}

static void print_best(struct text *out, struct arena *arena, const json_t *best, bool color)
{
    const json_t *kernel;
    size_t i;
    struct emit_table table = {.arena = arena};
    table_column(&table, "kernel", TABLE_LEFT, 0);
    table_column(&table, "calls", TABLE_RIGHT, 0);
    table_column(&table, "sectors", TABLE_RIGHT, 0);
    columns_ranked(&table);
    json_array_foreach(json_object_get(best, "kernels"), i, kernel)
    {
        table_cell(&table, PAINT_NONE, get_text(kernel, "name"));
        cell_count(&table, kernel, "calls");
        cell_count(&table, kernel, "sectors");
        cells_ranked(&table, kernel,
                     (double)get_count(kernel, "dram_read_bytes") + (double)get_count(kernel, "dram_write_bytes"));
    }
    if (i < 2)
        return;
    table_paint(out, PAINT_TITLE, color, "\nthe best, one launch of each kernel\n");
    table_print(&table, out, EMIT_WIDTH, color);
}

static const char *join_names(struct arena *arena, const json_t *names)
{
    const json_t *name;
    const char *joined = "";
    size_t i;
    json_array_foreach(names, i, name) joined =
        arena_printf(arena, "%s%s%s", joined, i == 0 ? "" : " ", json_string_value(name));
    return joined;
}

/* Each group of the best candidate's splits, a kernel a line, beside what its leaves would move each by itself. */
static void print_groups(struct text *out, struct arena *arena, const json_t *view, bool color)
{
    const json_t *group, *kernel;
    size_t g, k;
    struct emit_table table = {.arena = arena};
    table_column(&table, "group", TABLE_LEFT, 0);
    table_column(&table, "layout", TABLE_LEFT, 3);
    table_column(&table, "bytes", TABLE_RIGHT, 2);
    table_column(&table, "kernel", TABLE_LEFT, 0);
    table_column(&table, "requests", TABLE_RIGHT, 1);
    table_column(&table, "efficiency", TABLE_RIGHT, 1);
    table_column(&table, "sectors", TABLE_RIGHT, 0);
    table_column(&table, "apart", TABLE_RIGHT, 0);
    json_array_foreach(json_object_get(view, "groups"), g, group)
    {
        json_array_foreach(json_object_get(group, "kernels"), k, kernel)
        {
            table_cell(&table, PAINT_NONE, k == 0 ? join_names(arena, json_object_get(group, "fields")) : "");
            table_cell(&table, PAINT_NONE, k == 0 ? get_text(group, "layout") : "");
            table_cell(&table, PAINT_NONE, k == 0 ? show_count(arena, get_count(group, "record_bytes")) : "");
            table_cell(&table, PAINT_NONE, get_text(kernel, "name"));
            cell_count(&table, kernel, "requests");
            cell_efficiency(&table, kernel);
            cell_count(&table, kernel, "sectors");
            cell_count(&table, kernel, "sectors_apart");
        }
    }
    if (g == 0)
        return;
    table_paint(out, PAINT_TITLE, color,
                "\nwhy these groups: sectors of one launch, and with each leaf apart (soa/direct)\n");
    table_print(&table, out, EMIT_WIDTH, color);
}

static void print_conversion(struct text *out, struct arena *arena, const json_t *view, const json_t *best)
{
    double conversion_us = get_real(best, "conversion_us");
    const json_t *advice = json_object_get(view, "advice");
    /* Where nothing is gained, nobody should convert. */
    if (conversion_us <= 0 || (advice != NULL && strcmp(json_string_value(advice), "change") != 0))
        return;
    text_printf(out, "\nconverting from aos and back takes %s", show_time(arena, conversion_us));
    const json_t *pays = json_object_get(best, "pays_after_calls");
    if (pays != NULL)
        text_printf(out, " and pays after %s of %s calls", show_count(arena, json_integer_value(pays)),
                    show_count(arena, get_count(view, "calls")));
    text_putc(out, '\n');
}

/* Words to lines of at most `width` columns. */
static void print_wrapped(struct text *out, const char *text, size_t width, bool color)
{
    struct text line = {0};
    for (;;) {
        size_t word = strcspn(text, " ");
        if (line.length > 0 && line.length + 1 + word > width) {
            table_paint(out, PAINT_GOOD, color, text_string(&line));
            text_putc(out, '\n');
            text_free(&line);
        }
        if (line.length > 0)
            text_putc(&line, ' ');
        text_append(&line, text, word);
        if (text[word] == '\0')
            break;
        text += word + 1;
    }
    table_paint(out, PAINT_GOOD, color, text_string(&line));
    text_putc(out, '\n');
    text_free(&line);
}

void emit_rank(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    const json_t *best = json_array_get(json_object_get(view, "candidates"), 0);
    int64_t count = get_count(view, "candidate_count"), hidden = count_hidden(view);
    print_title(out, &arena, view, color);
    text_printf(out, ", %s", show_number(&arena, count, "candidate"));
    text_puts(out, hidden > 0 ? ", the best first\n" : "\n");
    print_candidates(out, &arena, view, color);
    if (hidden > 0)
        text_printf(out, "  ... and %s more (--top N shows N of them)\n", show_count(&arena, hidden));
    if (get_bool(best, "tie"))
        text_puts(out, "  = within 2 % of the best: a tie with it\n");
    print_alike(out, view);
    print_best(out, &arena, best, color);
    print_groups(out, &arena, view, color);
    print_conversion(out, &arena, view, best);
    text_putc(out, '\n');
    print_wrapped(out, get_text(view, "verdict"), EMIT_WIDTH, color);
    arena_free(&arena);
}

void emit_generate(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    struct emit_table table = {.arena = &arena};
    const json_t *file;
    const char *array;
    json_t *candidate;
    size_t i;
    print_title(out, &arena, view, color);
    text_puts(out, ", code for");
    json_object_foreach(json_object_get(view, "arrays"), array, candidate)
    {
        text_printf(out, " %s=%s", array, json_string_value(candidate));
    }
    text_printf(out, " in %s\n", get_text(view, "directory"));
    table_column(&table, "file", TABLE_LEFT, 0);
    table_column(&table, "state", TABLE_LEFT, 0);
    json_array_foreach(json_object_get(view, "files"), i, file)
    {
        bool stale = strcmp(get_text(file, "state"), "stale") == 0;
        table_cell(&table, PAINT_NONE, get_text(file, "name"));
        table_cell(&table, stale ? PAINT_POOR : PAINT_NONE, get_text(file, "state"));
    }
    table_print(&table, out, EMIT_WIDTH, color);
    arena_free(&arena);
}
