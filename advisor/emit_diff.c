#include "emit_diff.h"

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "emit_show.h"
#include "emit_table.h"

static bool is_among(const char *word, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool is(const json_t *object, const char *key, const char *value)
{
    return strcmp(get_text(object, key), value) == 0;
}

/* ---- changes ---- */

/* A value as it is told: expressions in quotes, integers in groups of three. */
static const char *show_value(struct arena *arena, const json_t *change, const json_t *aspect, const char *side)
{
    static const char *const expressions[] = {"index", "test", "from", "to", "while", "step", "next", NULL};
    const char *value = get_text(aspect, side), *what = get_text(aspect, "what");
    if (json_is_null(json_object_get(aspect, side)))
        return "none";
    if (is_among(what, expressions) || is(change, "of", "let"))
        return arena_printf(arena, "'%s'", value);
    bool digits = value[0] != '\0' && value[strspn(value, "0123456789")] == '\0' && strlen(value) < 19;
    return digits ? show_count(arena, strtoll(value, NULL, 10)) : value;
}

/* "size 32 -> 48 bytes", "moved from byte 28 to 44" */
static const char *show_aspect(struct arena *arena, const json_t *change, const json_t *aspect)
{
    const char *what = get_text(aspect, "what");
    const char *before = show_value(arena, change, aspect, "before"),
               *after = show_value(arena, change, aspect, "after");
    if (strcmp(what, "offset") == 0 && is(change, "of", "field"))
        return arena_printf(arena, "moved from byte %s to %s", before, after);
    if (strcmp(what, "value") == 0 || strcmp(what, "test") == 0)
        return arena_printf(arena, "%s -> %s", before, after);
    if (strcmp(what, "name") == 0)
        return arena_printf(arena, "was called %s", before);
    if (strcmp(what, "other entries") == 0)
        return arena_printf(arena, "%s other %s", after, strcmp(after, "1") == 0 ? "entry" : "entries");
    bool in_bytes = strcmp(what, "size") == 0;
    return arena_printf(arena, "%s %s -> %s%s", what, before, after, in_bytes ? " bytes" : "");
}

/* What was added or removed as a whole: "float[3] at byte 32", "block 256, grid 4,096". */
static const char *show_single(struct arena *arena, const json_t *change, const json_t *aspect, bool first)
{
    const char *what = get_text(aspect, "what"), *side = is(change, "change", "added") ? "after" : "before";
    const char *value = show_value(arena, change, aspect, side);
    if (is(change, "of", "field"))
        return arena_printf(arena, strcmp(what, "offset") == 0 ? " at byte %s" : "%s", value);
    if (strcmp(what, "value") == 0 || strcmp(what, "test") == 0)
        return value;
    return arena_printf(arena, "%s%s %s%s", first ? "" : ", ", what, value, strcmp(what, "size") == 0 ? " bytes" : "");
}

static const char *show_aspects(struct arena *arena, const json_t *change)
{
    const json_t *aspect;
    size_t i;
    const char *text = "";
    json_array_foreach(json_object_get(change, "aspects"), i, aspect)
    {
        if (is(change, "change", "changed"))
            text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", show_aspect(arena, change, aspect));
        else
            text = arena_printf(arena, "%s%s", text, show_single(arena, change, aspect, i == 0));
    }
    return text;
}

/* Where to look: told of what stands in a kernel. */
static const char *show_line(struct arena *arena, const json_t *change)
{
    if (strncmp(get_text(change, "in"), "kernel", 6) != 0)
        return "";
    bool removed = is(change, "change", "removed");
    return arena_printf(arena, removed ? " (was line %s)" : " (line %s)",
                        show_count(arena, get_count(change, removed ? "line_before" : "line_after")));
}

static const char *sign_of(const json_t *change)
{
    return is(change, "change", "added") ? "+ " : is(change, "change", "removed") ? "- " : "~ ";
}

const char *show_diff_change(struct arena *arena, const json_t *change, bool sign)
{
    const char *name = get_text(change, "name"), *aspects = show_aspects(arena, change);
    const char *verb = sign || is(change, "change", "changed") ? ""
                       : is(change, "change", "added")         ? " added"
                                                               : " removed";
    return arena_printf(arena, "%s%s%s%s%s%s%s%s", sign ? sign_of(change) : "", get_text(change, "of"),
                        name[0] == '\0' ? "" : " ", name, verb, aspects[0] == '\0' ? "" : ": ", aspects,
                        show_line(arena, change));
}

static enum table_paint paint_of(const json_t *change)
{
    return is(change, "change", "added") ? PAINT_GOOD : is(change, "change", "removed") ? PAINT_POOR : PAINT_FAIR;
}

/* By how many bytes a field has moved, if it did nothing else; 0: it did. */
static long moved_by(const json_t *change)
{
    const json_t *aspects = json_object_get(change, "aspects"), *aspect = json_array_get(aspects, 0);
    if (!is(change, "of", "field") || !is(change, "change", "changed") || json_array_size(aspects) != 1 ||
        !is(aspect, "what", "offset"))
        return 0;
    return strtol(get_text(aspect, "after"), NULL, 10) - strtol(get_text(aspect, "before"), NULL, 10);
}

/* Fields in a row that moved together: how many there are from `at` on. */
static size_t count_moved(const json_t *changes, size_t at)
{
    const json_t *first = json_array_get(changes, at);
    size_t count = 1;
    while (moved_by(first) != 0 && moved_by(json_array_get(changes, at + count)) == moved_by(first) &&
           is(json_array_get(changes, at + count), "in", get_text(first, "in")))
        count++;
    return count;
}

/* "~ fields mass, id and spin: moved by +4 bytes" */
static const char *show_moved(struct arena *arena, const json_t *changes, size_t at, size_t count)
{
    const char *names = "";
    for (size_t i = 0; i < count; i++)
        names = arena_printf(arena, "%s%s%s", names,
                             i == 0          ? ""
                             : i + 1 < count ? ", "
                                             : " and ",
                             get_text(json_array_get(changes, at + i), "name"));
    return arena_printf(arena, "~ fields %s: moved by %+ld bytes", names, moved_by(json_array_get(changes, at)));
}

/* Changes of what is part of something stand below it, which is named even where nothing else of it changed. */
static void print_owner(struct text *out, struct arena *arena, const json_t *changes, size_t at, bool color)
{
    const json_t *change = json_array_get(changes, at), *last = at == 0 ? NULL : json_array_get(changes, at - 1);
    const char *owner = get_text(change, "in");
    if (owner[0] == '\0' || (last != NULL && is(last, "in", owner)))
        return;
    const char *title = last == NULL ? "" : arena_printf(arena, "%s %s", get_text(last, "of"), get_text(last, "name"));
    if (strcmp(title, owner) == 0)
        return;
    table_paint(out, PAINT_FAIR, color, "~ ");
    text_printf(out, "%s\n", owner);
}

static void print_changes(struct text *out, struct arena *arena, const json_t *changes, bool color)
{
    for (size_t at = 0; at < json_array_size(changes);) {
        const json_t *change = json_array_get(changes, at);
        size_t count = count_moved(changes, at);
        const char *line = count > 1 ? show_moved(arena, changes, at, count) : show_diff_change(arena, change, true);
        print_owner(out, arena, changes, at, color);
        if (get_text(change, "in")[0] != '\0')
            text_puts(out, "  ");
        table_paint(out, paint_of(change), color, arena_printf(arena, "%.2s", line));
        text_printf(out, "%s\n", line + 2);
        at += count;
    }
}

/* ---- costs ---- */

const char *show_growth(struct arena *arena, double before, double after)
{
    const double large = 10, least = 0.05;
    if (before == after)
        return "";
    double percent = 100 * (after - before) / before;
    if (before > 0 && percent > -least && percent < least)
        return percent > 0 ? "< +0.1 %" : "> -0.1 %";
    if (before <= 0)
        return "new";
    if (after > large * before)
        return arena_printf(arena, "%.1f times", after / before);
    return arena_printf(arena, "%+.1f %%", percent);
}

const char *show_counts(struct arena *arena, int64_t before, int64_t after)
{
    if (before == after)
        return show_count(arena, after);
    return arena_printf(arena, "%s -> %s", show_count(arena, before), show_count(arena, after));
}

/* As show_counts, of texts. */
static const char *show_pair(struct arena *arena, const char *before, const char *after)
{
    return strcmp(before, after) == 0 ? after : arena_printf(arena, "%s -> %s", before, after);
}

static enum table_paint paint_growth(double before, double after)
{
    return after > before ? PAINT_POOR : after < before ? PAINT_GOOD : PAINT_NONE;
}

static void cell_growth(struct emit_table *table, double before, double after, const char *text)
{
    table_cell(table, PAINT_NONE, text);
    table_cell(table, paint_growth(before, after), show_growth(table->arena, before, after));
}

static void cells_both(struct emit_table *table, const json_t *before, const json_t *after)
{
    struct arena *arena = table->arena;
    double was = get_real(before, "time_us"), now = get_real(after, "time_us");
    int64_t sectors_was = get_count(before, "sectors"), sectors = get_count(after, "sectors");
    int64_t wavefronts_was = get_count(before, "wavefronts"), wavefronts = get_count(after, "wavefronts");
    double dram_was = (double)get_count(before, "dram_bytes"), dram = (double)get_count(after, "dram_bytes");
    cell_growth(table, (double)sectors_was, (double)sectors, show_counts(arena, sectors_was, sectors));
    bool shared = wavefronts_was != 0 || wavefronts != 0;
    cell_growth(table, (double)wavefronts_was, (double)wavefronts,
                shared ? show_counts(arena, wavefronts_was, wavefronts) : "");
    cell_growth(table, dram_was, dram, show_pair(arena, show_bytes(arena, dram_was), show_bytes(arena, dram)));
    cell_growth(table, was, now, show_pair(arena, show_time(arena, was), show_time(arena, now)));
    table_cell(table, PAINT_NONE, "");
}

/* Of a kernel that one side has alone. */
static void cells_one(struct emit_table *table, const json_t *cost, const char *what)
{
    struct arena *arena = table->arena;
    int64_t wavefronts = get_count(cost, "wavefronts");
    const char *const cells[] = {
        show_count(arena, get_count(cost, "sectors")), wavefronts == 0 ? "" : show_count(arena, wavefronts),
        show_bytes(arena, (double)get_count(cost, "dram_bytes")), show_time(arena, get_real(cost, "time_us"))};
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        table_cell(table, PAINT_NONE, cells[i]);
        table_cell(table, PAINT_NONE, "");
    }
    table_cell(table, PAINT_NONE, what);
}

static void columns_costs(struct emit_table *table)
{
    table_column(table, "kernel", TABLE_LEFT, 0);
    table_column(table, "sectors", TABLE_RIGHT, 0);
    table_column(table, "", TABLE_RIGHT, 3);
    table_column(table, "wavefronts", TABLE_RIGHT, 4);
    table_column(table, "", TABLE_RIGHT, 4);
    table_column(table, "DRAM", TABLE_RIGHT, 2);
    table_column(table, "", TABLE_RIGHT, 2);
    table_column(table, "time", TABLE_RIGHT, 0);
    table_column(table, "", TABLE_RIGHT, 0);
    table_column(table, "", TABLE_LEFT, 0);
}

static void print_costs(struct text *out, struct arena *arena, const json_t *kernels, bool color)
{
    struct emit_table table = {.arena = arena};
    const json_t *kernel;
    size_t i, same = 0;
    columns_costs(&table);
    json_array_foreach(kernels, i, kernel)
    {
        const json_t *before = json_object_get(kernel, "before"), *after = json_object_get(kernel, "after");
        if (is(kernel, "cost", "same")) {
            same++;
            continue;
        }
        table_cell(&table, PAINT_NONE, get_text(kernel, "name"));
        if (is(kernel, "cost", "changed"))
            cells_both(&table, before, after);
        else
            cells_one(&table, is(kernel, "cost", "added") ? after : before, get_text(kernel, "cost"));
    }
    if (json_array_size(kernels) == 0)
        return;
    text_puts(out, "\n");
    if (same == json_array_size(kernels)) {
        text_printf(out, "%s as before\n", same == 1 ? "its kernel costs" : "all kernels cost");
        return;
    }
    table_paint(out, PAINT_TITLE, color, "one launch of each kernel; DRAM and time are estimates\n");
    table_print(&table, out, EMIT_WIDTH, color);
    if (same > 0)
        text_printf(out, same == 1 ? "  the other costs as before\n" : "  the other %zu cost as before\n", same);
}

static void print_memory(struct text *out, struct arena *arena, const json_t *arrays)
{
    const json_t *array;
    size_t i;
    json_array_foreach(arrays, i, array)
    {
        int64_t before = get_count(array, "memory_bytes_before"), after = get_count(array, "memory_bytes_after");
        if (before == after || before == 0 || after == 0)
            continue;
        text_printf(out, "%s takes %s instead of %s (%s)\n", get_text(array, "name"), show_bytes(arena, (double)after),
                    show_bytes(arena, (double)before), show_growth(arena, (double)before, (double)after));
    }
}

void emit_diff(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    if (get_bool(view, "same"))
        return;
    const char *before = get_text(view, "before"), *after = get_text(view, "after");
    const char *title = before[0] == '\0'            ? arena_printf(&arena, "%s, added", after)
                        : after[0] == '\0'           ? arena_printf(&arena, "%s, removed", before)
                        : strcmp(before, after) == 0 ? after
                                                     : arena_printf(&arena, "%s -> %s", before, after);
    table_paint(out, PAINT_TITLE, color, title);
    text_putc(out, '\n');
    print_changes(out, &arena, json_object_get(view, "changes"), color);
    print_costs(out, &arena, json_object_get(view, "kernels"), color);
    print_memory(out, &arena, json_object_get(view, "arrays"));
    arena_free(&arena);
}

void emit_diff_for_git(struct text *out, const json_t *view, bool color)
{
    if (get_bool(view, "same"))
        text_printf(out, "%s: no difference in meaning\n", get_text(view, "after"));
    else
        emit_diff(out, view, color);
}
