#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "emit.h"
#include "emit_show.h"
#include "emit_table.h"

/* "read_sectors" as "read sectors", "dram_read_bytes" as "DRAM read bytes". */
static const char *show_title(struct arena *arena, const char *key)
{
    char *title = arena_copy(arena, key, strlen(key));
    for (char *c = title; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    if (strncmp(title, "l2 ", 3) == 0)
        title[0] = 'L';
    if (strncmp(title, "dram ", 5) == 0)
        return arena_printf(arena, "DRAM%.*s", (int)strlen(title) - 4 - (int)strlen(" bytes"), title + 4);
    return strcmp(title, "time us") == 0 ? "time" : title;
}

static const char *show_amount(struct arena *arena, const json_t *count, const char *key)
{
    const char *name = get_text(count, "count");
    if (strcmp(name, "time_us") == 0)
        return show_time(arena, get_real(count, key));
    if (strstr(name, "_bytes") != NULL)
        return show_bytes(arena, (double)get_count(count, key));
    return show_count(arena, get_count(count, key));
}

/* "+1.2 %", nothing where the two are equal. */
static const char *show_difference(struct arena *arena, const json_t *count)
{
    const json_t *difference = json_object_get(count, "difference_percent");
    double percent = json_number_value(difference);
    if (json_is_null(difference))
        return get_real(count, "measured") > 0 ? "new" : "";
    if (percent == 0)
        return "";
    return fabs(percent) < 0.05 ? arena_printf(arena, "%+.1g %%", percent) : arena_printf(arena, "%+.1f %%", percent);
}

static const char *show_range(struct arena *arena, const json_t *count)
{
    const char *least = show_amount(arena, count, "least"), *most = show_amount(arena, count, "most");
    return strcmp(least, most) == 0 ? "" : arena_printf(arena, "%s to %s", least, most);
}

static void print_counts(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    struct emit_table table = {.arena = arena};
    table_column(&table, "count", TABLE_LEFT, 0);
    table_column(&table, "predicted", TABLE_RIGHT, 0);
    table_column(&table, "measured", TABLE_RIGHT, 0);
    table_column(&table, "difference", TABLE_RIGHT, 0);
    table_column(&table, "", TABLE_LEFT, 0);
    table_column(&table, "launches", TABLE_LEFT, 1);
    const json_t *count;
    size_t i;
    json_array_foreach(json_object_get(kernel, "counts"), i, count)
    {
        bool differs = get_bool(count, "differs"), estimate = strcmp(get_text(count, "kind"), "estimate") == 0;
        table_cell(&table, PAINT_NONE, show_title(arena, get_text(count, "count")));
        table_cell(&table, PAINT_NONE, show_amount(arena, count, "predicted"));
        table_cell(&table, PAINT_NONE, show_amount(arena, count, "measured"));
        table_cell(&table, differs ? PAINT_POOR : PAINT_NONE, show_difference(arena, count));
        table_cell(&table, differs ? PAINT_POOR : PAINT_NONE, differs ? "differs" : estimate ? "estimate" : "");
        table_cell(&table, PAINT_NONE, show_range(arena, count));
    }
    if (table.cell_count > 0)
        table_print(&table, out, EMIT_WIDTH, color);
}

/* The kinds of counts that an access can be a part of, as their keys end. */
static const char *const parts[] = {"requests", "sectors", "lines", "passes", "wavefronts"};
enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]) };

static bool ends_in(const char *string, const char *end)
{
    size_t length = strlen(string), end_length = strlen(end);
    return length >= end_length && strcmp(string + length - end_length, end) == 0;
}

/* The access of a number in the counts that differ, NULL where it is in none; `shares` gets what it adds to each. */
static const json_t *find_access(const json_t *counts, int64_t number, int64_t shares[PART_COUNT])
{
    const json_t *count, *access, *found = NULL;
    size_t i, j;
    json_array_foreach(counts, i, count)
    {
        json_array_foreach(json_object_get(count, "accesses"), j, access)
        {
            if (!get_bool(count, "differs") || get_count(access, "number") != number)
                continue;
            found = access;
            for (size_t part = 0; part < PART_COUNT; part++)
                if (ends_in(get_text(count, "count"), parts[part]))
                    shares[part] = get_count(access, "predicted");
        }
    }
    return found;
}

static int64_t last_access(const json_t *counts)
{
    const json_t *count, *access;
    size_t i, j;
    int64_t last = -1;
    json_array_foreach(counts, i, count)
    {
        json_array_foreach(json_object_get(count, "accesses"), j, access)
        {
            if (get_count(access, "number") > last)
                last = get_count(access, "number");
        }
    }
    return last;
}

/* What the differing counts are made of, so that the access at fault can be found. */
static void print_accesses(struct text *out, struct arena *arena, const json_t *counts, bool color)
{
    struct emit_table table = {.arena = arena};
    table_column(&table, "line", TABLE_RIGHT, 0);
    table_column(&table, "op", TABLE_LEFT, 0);
    table_column(&table, "array", TABLE_LEFT, 0);
    table_column(&table, "field", TABLE_LEFT, 0);
    for (size_t part = 0; part < PART_COUNT; part++)
        table_column(&table, parts[part], TABLE_RIGHT, 0);
    for (int64_t number = 0; number <= last_access(counts); number++) {
        int64_t shares[PART_COUNT] = {0};
        const json_t *access = find_access(counts, number, shares);
        if (access == NULL)
            continue;
        const char *phase = get_text(access, "phase");
        table_cell(&table, PAINT_NONE, show_count(arena, get_count(access, "source_line")));
        table_cell(&table, PAINT_NONE, phase[0] != '\0' ? phase : get_text(access, "op"));
        table_cell(&table, PAINT_NONE, get_text(access, "array"));
        table_cell(&table, PAINT_NONE, get_text(access, "field"));
        for (size_t part = 0; part < PART_COUNT; part++)
            table_cell(&table, PAINT_NONE, shares[part] == 0 ? "" : show_count(arena, shares[part]));
    }
    if (table.cell_count == 0)
        return;
    text_puts(out, "\n  what differs, as predicted of each access\n");
    table_print(&table, out, EMIT_WIDTH, color);
}

static const char *show_shape(struct arena *arena, const json_t *shape)
{
    return arena_printf(arena, "%s blocks of %s threads", show_count(arena, get_count(shape, "blocks")),
                        show_count(arena, get_count(shape, "block_threads")));
}

static void print_kernel(struct text *out, struct arena *arena, const json_t *kernel, bool color)
{
    int64_t launches = get_count(kernel, "launches"), others = get_count(kernel, "launches_of_other_shape");
    text_putc(out, '\n');
    table_paint(out, PAINT_TITLE, color, arena_printf(arena, "kernel %s", get_text(kernel, "name")));
    if (launches == 0 && others == 0)
        text_puts(out, ": not measured\n");
    else
        text_printf(out, ": %s launch%s of %s\n", show_count(arena, launches), launches == 1 ? "" : "es",
                    show_shape(arena, json_object_get(kernel, "shape")));
    if (launches + others > 0 && strcmp(get_text(kernel, "function"), get_text(kernel, "name")) != 0)
        text_printf(out, "  %s\n", get_text(kernel, "function"));
    if (others > 0)
        text_printf(out, "  %s of another shape passed over: %s\n", show_count(arena, others),
                    show_shape(arena, json_object_get(kernel, "other_shape")));
    print_counts(out, arena, kernel, color);
    print_accesses(out, arena, json_object_get(kernel, "counts"), color);
}

/* "drift: read sectors +12.1 %, write sectors +3.0 %" for each kernel that differs; returns how many counts were
 * judged. */
static size_t list_differences(struct text *out, struct arena *arena, const json_t *view)
{
    const json_t *kernel, *count;
    size_t i, j, judged = 0;
    json_array_foreach(json_object_get(view, "kernels"), i, kernel)
    {
        size_t listed = 0;
        json_array_foreach(json_object_get(kernel, "counts"), j, count)
        {
            judged += strcmp(get_text(count, "kind"), "estimate") != 0;
            if (!get_bool(count, "differs"))
                continue;
            text_printf(out, listed++ == 0 ? "  %s: " : ", ", get_text(kernel, "name"));
            text_printf(out, "%s %s", show_title(arena, get_text(count, "count")), show_difference(arena, count));
        }
        if (listed == 0 && get_bool(kernel, "differs"))
            text_printf(out, "  %s: launched otherwise than described", get_text(kernel, "name"));
        text_puts(out, get_bool(kernel, "differs") ? "\n" : "");
    }
    return judged;
}

static void print_others(struct text *out, const json_t *view)
{
    const json_t *name;
    size_t i;
    json_array_foreach(json_object_get(view, "other_kernels"), i, name)
    {
        text_printf(out, i == 0 ? "\nnot described: %s" : ", %s", json_string_value(name));
    }
    if (json_array_size(json_object_get(view, "other_kernels")) > 0)
        text_putc(out, '\n');
}

void emit_verify(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    struct text differences = {0};
    const json_t *kernel, *candidate;
    const char *array;
    size_t i;
    table_paint(out, PAINT_TITLE, color,
                arena_printf(&arena, "%s on %s", get_text(view, "layout"), get_text(view, "device_title")));
    text_puts(out, ", predicted and measured with");
    json_object_foreach((json_t *)json_object_get(view, "arrays"), array, candidate)
    {
        text_printf(out, " %s=%s", array, json_string_value(candidate));
    }
    text_putc(out, '\n');
    json_array_foreach(json_object_get(view, "kernels"), i, kernel)
    {
        print_kernel(out, &arena, kernel, color);
    }
    print_others(out, view);
    size_t judged = list_differences(&differences, &arena, view);
    double tolerance = get_real(view, "tolerance_percent");
    if (get_bool(view, "differs"))
        text_printf(out,
                    "\ncounts differ by more than %g %%:\n%s"
                    "if the code measured has another layout or plan, --candidate tells which\n",
                    tolerance, text_string(&differences));
    else
        text_printf(out, "\n%zu count%s within %g %%\n", judged, judged == 1 ? " agrees" : "s agree", tolerance);
    text_free(&differences);
    arena_free(&arena);
}
