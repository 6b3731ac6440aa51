#include "emit_check.h"

#include <string.h>

#include "emit_diff.h"
#include "emit_show.h"
#include "emit_table.h"

/* Changes that are shown of those that bear on an access. */
enum { CAUSES_SHOWN = 5 };

const char *show_check_access(struct arena *arena, const json_t *access)
{
    const char *phase = get_text(access, "phase"), *field = get_text(access, "field");
    const char *op = phase[0] != '\0' ? phase : get_text(access, "op"), *array = get_text(access, "array");
    if (field[0] == '\0')
        return arena_printf(arena, "%s %s", op, array);
    return arena_printf(arena, strchr(field, ' ') == NULL ? "%s %s.%s" : "%s %s (%s)", op, array, field);
}

const char *show_check_growth(struct arena *arena, const char *measure, double before, double after)
{
    const char *growth = show_growth(arena, before, after);
    growth = growth[0] == '\0' ? "" : arena_printf(arena, " (%s)", growth);
    if (strcmp(measure, "time_us") == 0)
        return arena_printf(arena, "estimated time %s -> %s%s", show_time(arena, before), show_time(arena, after),
                            growth);
    if (strcmp(measure, "dram_bytes") == 0)
        return arena_printf(arena, "%s -> %s of DRAM traffic%s", show_bytes(arena, before), show_bytes(arena, after),
                            growth);
    return arena_printf(arena, "%s %s%s", show_counts(arena, (int64_t)before, (int64_t)after), measure, growth);
}

static bool is_told(const json_t *told, const json_t *cause)
{
    for (size_t i = 0; i < json_array_size(told); i++)
        if (json_equal(json_array_get(told, i), cause))
            return true;
    return false;
}

static bool all_told(const json_t *told, const json_t *causes)
{
    size_t i = 0;
    while (i < json_array_size(causes) && is_told(told, json_array_get(causes, i)))
        i++;
    return i > 0 && i == json_array_size(causes);
}

/* What has changed often bears on many accesses: each is told once a description, and is in `told` from then on. */
static void print_causes(struct text *out, struct arena *arena, const json_t *causes, const char *indent, json_t *told)
{
    size_t count = json_array_size(causes);
    if (all_told(told, causes)) {
        text_printf(out, "%sas above\n", indent);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        json_t *cause = json_array_get(causes, i);
        const bool again = is_told(told, cause);
        if (i < CAUSES_SHOWN && again)
            text_printf(out, "%s%s %s: as above\n", indent, get_text(cause, "of"), get_text(cause, "name"));
        else if (i < CAUSES_SHOWN)
            text_printf(out, "%s%s\n", indent, show_diff_change(arena, cause, false));
        if (!again)
            (void)json_array_append(told, cause);
    }
    if (count > CAUSES_SHOWN)
        text_printf(out, "%s... and %zu more\n", indent, count - CAUSES_SHOWN);
}

static void print_access(struct text *out, struct arena *arena, const json_t *access, json_t *told)
{
    text_printf(
        out, "  line %s: %s%s: %s\n", show_count(arena, get_count(access, "line")), show_check_access(arena, access),
        get_bool(access, "added") ? ", new" : "",
        show_check_growth(arena, get_text(access, "measure"), get_real(access, "before"), get_real(access, "after")));
    print_causes(out, arena, json_object_get(access, "causes"), "    ", told);
}

/* "sectors 9,437,184 -> 12,582,912 (+33.3 %), estimated time 36.1 us -> 48.1 us (+33.3 %)" */
static const char *show_figures(struct arena *arena, const json_t *figures)
{
    const char *text = "", *measure;
    json_t *figure;
    json_object_foreach((json_t *)figures, measure, figure)
    {
        if (!get_bool(figure, "grew"))
            continue;
        text = arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                            show_check_growth(arena, measure, get_real(figure, "before"), get_real(figure, "after")));
    }
    return text;
}

static void print_regression(struct text *out, struct arena *arena, const json_t *file, const json_t *regression,
                             json_t *told, bool color)
{
    const json_t *accesses = json_object_get(regression, "accesses"), *access;
    size_t i;
    table_paint(out, PAINT_POOR, color,
                arena_printf(arena, "%s: kernel %s costs more than in %s", get_text(file, "name"),
                             get_text(regression, "kernel"), get_text(file, "against")));
    text_printf(out, "\n  %s\n", show_figures(arena, json_object_get(regression, "figures")));
    json_array_foreach(accesses, i, access)
    {
        print_access(out, arena, access, told);
    }
    print_causes(out, arena, json_object_get(regression, "causes"), "  ", told);
}

static void print_kernels(struct text *out, const json_t *file, const char *key, const char *what)
{
    const json_t *name;
    size_t i;
    json_array_foreach(json_object_get(file, key), i, name)
    {
        text_printf(out, "%s: kernel %s is %s\n", get_text(file, "name"), json_string_value(name), what);
    }
}

/* "3 descriptions: 1 fine, 2 invalid" */
static void print_summary(struct text *out, struct arena *arena, const json_t *view)
{
    size_t count = json_array_size(json_object_get(view, "files")), told = 0;
    const char *status;
    json_t *number;
    text_printf(out, "%s description%s: ", show_count(arena, (int64_t)count), count == 1 ? "" : "s");
    json_object_foreach(json_object_get(view, "summary"), status, number)
    {
        if (json_integer_value(number) == 0)
            continue;
        text_printf(out, "%s%s %s", told++ == 0 ? "" : ", ", show_count(arena, json_integer_value(number)),
                    strcmp(status, "regression") == 0 ? "with kernels that cost more" : status);
    }
    text_putc(out, '\n');
}

void emit_check(struct text *out, const json_t *view, bool color)
{
    struct arena arena = {0};
    const json_t *file, *regression;
    size_t i, j;
    json_array_foreach(json_object_get(view, "files"), i, file)
    {
        json_t *told = json_array();
        json_array_foreach(json_object_get(file, "regressions"), j, regression)
        {
            print_regression(out, &arena, file, regression, told, color);
        }
        json_decref(told);
        print_kernels(out, file, "kernels_added", "new");
        print_kernels(out, file, "kernels_removed", "gone");
    }
    print_summary(out, &arena, view);
    arena_free(&arena);
}
