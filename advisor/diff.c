#include "diff.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "diag.h"
#include "diff_internal.h"
#include "notation.h"
#include "text.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

struct change diff_start(const char *of, const struct name *before, const struct name *after)
{
    struct change change = {.kind = CHANGE_CHANGED, .of = of, .name = "", .owner = ""};
    if (before == NULL) {
        change.kind = CHANGE_ADDED;
    } else {
        change.name = before->text;
        change.where_before = before->where;
    }
    if (after == NULL) {
        change.kind = CHANGE_REMOVED;
    } else {
        change.name = after->text;
        change.where_after = after->where;
    }
    if (before != NULL && after != NULL)
        diff_aspect(&change, "name", before->text, after->text);
    return change;
}

void diff_aspect(struct change *change, const char *what, const char *before, const char *after)
{
    if (!same_text(before, after) && change->aspect_count < ASPECTS_MAX)
        change->aspects[change->aspect_count++] = (struct aspect){what, before, after};
}

void diff_number(struct differ *differ, struct change *change, const char *what, uint64_t before, uint64_t after)
{
    if (before != after)
        diff_aspect(change, what, arena_printf(differ->arena, "%" PRIu64, before),
                    arena_printf(differ->arena, "%" PRIu64, after));
}

void diff_commit(struct differ *differ, const struct change *change)
{
    struct difference *out = differ->out;
    if (change->kind == CHANGE_CHANGED && change->aspect_count == 0)
        return;
    out->changes =
        arena_grow(differ->arena, out->changes, out->change_count, &out->change_capacity, sizeof(*out->changes));
    out->changes[out->change_count++] = *change;
}

static const char *signed_text(struct differ *differ, int64_t number)
{
    return arena_printf(differ->arena, "%" PRId64, number);
}

/* "4096 8192" */
static const char *list_text(struct differ *differ, const uint64_t numbers[], unsigned count)
{
    const char *list = "";
    for (unsigned i = 0; i < count; i++)
        list = arena_printf(differ->arena, "%s%s%" PRIu64, list, i == 0 ? "" : " ", numbers[i]);
    return list;
}

/* ---- params ---- */

const struct param *diff_find_param(const struct spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->param_count; i++)
        if (strcmp(spec->params[i].name.text, name) == 0)
            return &spec->params[i];
    return NULL;
}

static void diff_param(struct differ *differ, const struct param *before, const struct param *after)
{
    struct change change =
        diff_start("param", before == NULL ? NULL : &before->name, after == NULL ? NULL : &after->name);
    diff_aspect(&change, "value", before == NULL ? NULL : signed_text(differ, before->number),
                after == NULL ? NULL : signed_text(differ, after->number));
    diff_commit(differ, &change);
}

static void diff_params(struct differ *differ)
{
    const struct spec *before = differ->before, *after = differ->after;
    for (size_t i = 0; i < after->param_count; i++)
        diff_param(differ, diff_find_param(before, diff_name_before(differ, "param", NULL, after->params[i].name.text)),
                   &after->params[i]);
    for (size_t i = 0; i < before->param_count; i++)
        if (diff_find_param(after, diff_name_after(differ, "param", NULL, before->params[i].name.text)) == NULL)
            diff_param(differ, &before->params[i], NULL);
}

/* ---- tables ---- */

const struct table *diff_find_table(const struct spec *spec, const char *name)
{
    const struct table *table = spec->tables;
    while (table != NULL && strcmp(table->name.text, name) != 0)
        table = table->next;
    return table;
}

/* "uniform", "rows.txt", "as text" */
static const char *table_source(const struct table *table)
{
    if (table->values_text.text != NULL)
        return table->values_text.text;
    return table->file_text.text != NULL ? table->file_text.text : "as text";
}

bool diff_same_table(const struct table *before, const struct table *after)
{
    return before->extent == after->extent &&
           memcmp(before->data, after->data, (size_t)before->extent * sizeof(*before->data)) == 0;
}

static uint64_t count_other_entries(const struct table *before, const struct table *after)
{
    uint64_t others = 0;
    for (uint64_t i = 0; i < before->extent && i < after->extent; i++)
        others += before->data[i] != after->data[i];
    return others;
}

/* What a table means is its integers; where they come from is told only when they differ. */
static void compare_tables(struct differ *differ, struct change *change, const struct table *before,
                           const struct table *after)
{
    diff_number(differ, change, "extent", before->extent, after->extent);
    uint64_t others = count_other_entries(before, after);
    if (others == 0)
        return;
    diff_aspect(change, "source", table_source(before), table_source(after));
    diff_aspect(change, "range", before->range_text.text, after->range_text.text);
    diff_aspect(change, "seed", before->seed_text.text, after->seed_text.text);
    diff_number(differ, change, "other entries", 0, others);
}

static void diff_table(struct differ *differ, const struct table *before, const struct table *after)
{
    struct change change =
        diff_start("table", before == NULL ? NULL : &before->name, after == NULL ? NULL : &after->name);
    if (before == NULL)
        diff_aspect(&change, "extent", NULL, list_text(differ, &after->extent, 1));
    else if (after != NULL)
        compare_tables(differ, &change, before, after);
    diff_commit(differ, &change);
}

static void diff_tables(struct differ *differ)
{
    for (const struct table *table = differ->after->tables; table != NULL; table = table->next)
        diff_table(differ, diff_find_table(differ->before, diff_name_before(differ, "table", NULL, table->name.text)),
                   table);
    for (const struct table *table = differ->before->tables; table != NULL; table = table->next)
        if (diff_find_table(differ->after, diff_name_after(differ, "table", NULL, table->name.text)) == NULL)
            diff_table(differ, table, NULL);
}

/* ---- arrays ---- */

const struct array *diff_find_array(const struct spec *spec, const char *name)
{
    const struct array *array = spec->arrays;
    while (array != NULL && strcmp(array->name.text, name) != 0)
        array = array->next;
    return array;
}

/* Checked before: what is there parses. */
const char *diff_layout(struct arena *arena, const struct array *array)
{
    struct diags diags = {.arena = arena};
    struct candidate candidate;
    bool has_plan;
    if (array->layout_text.text == NULL || strcmp(array->layout_text.text, "auto") == 0 ||
        !notation_parse(&candidate, &has_plan, arena, &array->layout_text, &diags))
        return "auto";
    if (!has_plan)
        return notation_layout(arena, &candidate.layout);
    notation_complete(arena, &candidate);
    return candidate.text;
}

static const char *space_text(const struct array *array)
{
    return array->space == SPACE_SHARED ? "shared" : "global";
}

static void compare_arrays(struct differ *differ, struct change *change, const struct array *before,
                           const struct array *after)
{
    const char *of = diff_name_after(differ, "struct", NULL, before->of_text.text);
    if (strcmp(diff_plain_type(of), diff_plain_type(after->of_text.text)) != 0)
        diff_aspect(change, "of", of, after->of_text.text);
    diff_aspect(change, "extent", list_text(differ, before->extent, before->dim_count),
                list_text(differ, after->extent, after->dim_count));
    diff_aspect(change, "space", space_text(before), space_text(after));
    diff_aspect(change, "layout", diff_layout(differ->arena, before), diff_layout(differ->arena, after));
    diff_number(differ, change, "align", before->align, after->align);
    diff_number(differ, change, "offset", before->offset, after->offset);
    diff_aspect(change, "pitch", before->pitch == 0 ? NULL : list_text(differ, &before->pitch, 1),
                after->pitch == 0 ? NULL : list_text(differ, &after->pitch, 1));
    diff_number(differ, change, "conversions", (uint64_t)before->conversions, (uint64_t)after->conversions);
}

static void diff_array(struct differ *differ, const struct array *before, const struct array *after)
{
    struct change change =
        diff_start("array", before == NULL ? NULL : &before->name, after == NULL ? NULL : &after->name);
    change.array = after != NULL ? after : before;
    if (before == NULL) {
        diff_aspect(&change, "of", NULL, after->of_text.text);
        diff_aspect(&change, "extent", NULL, list_text(differ, after->extent, after->dim_count));
        diff_aspect(&change, "layout", NULL, diff_layout(differ->arena, after));
    } else if (after != NULL) {
        compare_arrays(differ, &change, before, after);
    }
    diff_commit(differ, &change);
}

static void diff_arrays(struct differ *differ)
{
    for (const struct array *array = differ->after->arrays; array != NULL; array = array->next)
        diff_array(differ, diff_find_array(differ->before, diff_name_before(differ, "array", NULL, array->name.text)),
                   array);
    for (const struct array *array = differ->before->arrays; array != NULL; array = array->next)
        if (diff_find_array(differ->after, diff_name_after(differ, "array", NULL, array->name.text)) == NULL)
            diff_array(differ, array, NULL);
}

/* ---- kernels ---- */

const struct kernel *diff_find_kernel(const struct spec *spec, const char *name)
{
    const struct kernel *kernel = spec->kernels;
    while (kernel != NULL && strcmp(kernel->name.text, name) != 0)
        kernel = kernel->next;
    return kernel;
}

/* Dimensions of 1 at the end are left out. */
static const char *launch_text(struct differ *differ, const uint64_t numbers[3])
{
    return list_text(differ, numbers, numbers[2] > 1 ? 3 : numbers[1] > 1 ? 2 : 1);
}

static void diff_kernel(struct differ *differ, const struct kernel *before, const struct kernel *after)
{
    struct kernel_pair *pair = &differ->out->kernels[differ->out->kernel_count++];
    struct change change =
        diff_start("kernel", before == NULL ? NULL : &before->name, after == NULL ? NULL : &after->name);
    *pair = (struct kernel_pair){.before = before, .after = after};
    change.kernel = after != NULL ? after : before;
    if (before == NULL || after == NULL) {
        diff_aspect(&change, "block", NULL, after == NULL ? NULL : launch_text(differ, after->block));
        diff_aspect(&change, "grid", NULL, after == NULL ? NULL : launch_text(differ, after->grid));
        diff_commit(differ, &change);
        return;
    }
    diff_aspect(&change, "block", launch_text(differ, before->block), launch_text(differ, after->block));
    diff_aspect(&change, "grid", launch_text(differ, before->grid), launch_text(differ, after->grid));
    diff_aspect(&change, "calls", signed_text(differ, before->calls), signed_text(differ, after->calls));
    diff_aspect(&change, "flops", signed_text(differ, before->flops), signed_text(differ, after->flops));
    diff_aspect(&change, "registers", signed_text(differ, before->registers), signed_text(differ, after->registers));
    diff_commit(differ, &change);
    diff_bodies(differ, pair);
}

static void diff_kernels(struct differ *differ)
{
    const struct spec *before = differ->before, *after = differ->after;
    differ->out->kernels =
        arena_array(differ->arena, before->kernel_count + after->kernel_count + 1, sizeof(*differ->out->kernels));
    for (const struct kernel *kernel = after->kernels; kernel != NULL; kernel = kernel->next)
        diff_kernel(differ, diff_find_kernel(before, diff_name_before(differ, "kernel", NULL, kernel->name.text)),
                    kernel);
    for (const struct kernel *kernel = before->kernels; kernel != NULL; kernel = kernel->next)
        if (diff_find_kernel(after, diff_name_after(differ, "kernel", NULL, kernel->name.text)) == NULL)
            diff_kernel(differ, kernel, NULL);
}

static void diff_name(struct differ *differ, const struct spec *before, const struct spec *after)
{
    struct change change =
        diff_start("layout", before == NULL ? NULL : &before->name, after == NULL ? NULL : &after->name);
    diff_commit(differ, &change);
}

struct difference *diff_specs(const struct spec *before, const struct spec *after, struct arena *arena)
{
    struct spec *nothing = arena_alloc(arena, sizeof(*nothing));
    struct differ differ = {.arena = arena,
                            .before = before == NULL ? nothing : before,
                            .after = after == NULL ? nothing : after,
                            .out = arena_alloc(arena, sizeof(*differ.out))};
    if (before != NULL || after != NULL)
        diff_name(&differ, before, after);
    diff_find_renames(&differ);
    diff_params(&differ);
    diff_types(&differ);
    diff_tables(&differ);
    diff_arrays(&differ);
    diff_kernels(&differ);
    return differ.out;
}
