#include <string.h>

#include "diff_internal.h"

/* Looking for renames takes time by the square of what came and went. */
enum { RENAMES_MOST = 200 };

enum side { SIDE_BEFORE, SIDE_AFTER };

/* The rename of the thing that is called `name` on that side. */
static const struct rename *find_rename(const struct differ *differ, const char *of, const struct type *owner,
                                        enum side side, const char *name)
{
    for (size_t i = 0; i < differ->rename_count; i++) {
        const struct rename *rename = &differ->renames[i];
        const char *called = side == SIDE_BEFORE ? rename->before : rename->after;
        if (strcmp(rename->of, of) == 0 && rename->owner == owner && strcmp(called, name) == 0)
            return rename;
    }
    return NULL;
}

const char *diff_name_before(const struct differ *differ, const char *of, const struct type *owner, const char *after)
{
    const struct rename *rename = find_rename(differ, of, owner, SIDE_AFTER, after);
    return rename == NULL ? after : rename->before;
}

const char *diff_name_after(const struct differ *differ, const char *of, const struct type *owner, const char *before)
{
    const struct rename *rename = find_rename(differ, of, owner, SIDE_BEFORE, before);
    return rename == NULL ? before : rename->after;
}

/* Which struct a component of the path belongs to is not looked at: at worst two accesses are told to differ, or not,
 * that name fields which went by each other's names. */
const char *diff_path_after(const struct differ *differ, const char *path)
{
    const char *out = "";
    while (*path != '\0') {
        size_t length = strcspn(path, ".["), rest = strcspn(path + length, ".");
        const char *name = arena_copy(differ->arena, path, length);
        for (size_t i = 0; i < differ->rename_count; i++)
            if (differ->renames[i].owner != NULL && strcmp(differ->renames[i].before, name) == 0)
                name = differ->renames[i].after;
        out = arena_printf(differ->arena, "%s%s%.*s%s", out, name, (int)rest, path + length,
                           path[length + rest] == '.' ? "." : "");
        path += length + rest + (path[length + rest] == '.');
    }
    return out;
}

static void add_rename(struct differ *differ, const char *of, const struct type *owner, const char *before,
                       const char *after)
{
    if (find_rename(differ, of, owner, SIDE_BEFORE, before) != NULL ||
        find_rename(differ, of, owner, SIDE_AFTER, after) != NULL)
        return;
    differ->renames = arena_grow(differ->arena, differ->renames, differ->rename_count, &differ->rename_capacity,
                                 sizeof(*differ->renames));
    differ->renames[differ->rename_count++] = (struct rename){of, owner, before, after};
}

/* ---- what is the same but for its name ---- */

/* Fields of the same types in the same places; half of them at least by the same names. */
static bool same_fields(const struct type *a, const struct type *b)
{
    size_t names = 0;
    if (a->kind != b->kind || a->size != b->size || a->field_count != b->field_count || a->field_count == 0)
        return false;
    for (size_t i = 0; i < a->field_count; i++) {
        const struct field *x = &a->fields[i], *y = &b->fields[i];
        if (x->offset != y->offset || x->count != y->count || strcmp(x->type->name.text, y->type->name.text) != 0)
            return false;
        names += strcmp(x->name.text, y->name.text) == 0;
    }
    return 2 * names >= a->field_count;
}

static bool same_field(const struct differ *differ, const struct field *a, const struct field *b)
{
    const char *type = diff_name_after(differ, "struct", NULL, a->type->name.text);
    return a->offset == b->offset && a->count == b->count && a->dim_count == b->dim_count &&
           strcmp(type, b->type->name.text) == 0;
}

static bool same_array(const struct differ *differ, const struct array *a, const struct array *b)
{
    const char *of = diff_name_after(differ, "struct", NULL, a->of_text.text);
    return strcmp(of, b->of_text.text) == 0 && a->dim_count == b->dim_count &&
           memcmp(a->extent, b->extent, sizeof(a->extent)) == 0 && a->space == b->space && a->align == b->align &&
           a->offset == b->offset && a->pitch == b->pitch &&
           strcmp(diff_layout(differ->arena, a), diff_layout(differ->arena, b)) == 0;
}

/* The same launch, and accesses of the same kind to the same arrays by the same indices. */
static bool same_kernel(const struct differ *differ, const struct kernel *a, const struct kernel *b)
{
    if (memcmp(a->block, b->block, sizeof(a->block)) != 0 || memcmp(a->grid, b->grid, sizeof(a->grid)) != 0 ||
        a->access_count != b->access_count || a->access_count == 0)
        return false;
    for (unsigned i = 0; i < a->access_count; i++) {
        const struct access *x = a->accesses[i], *y = b->accesses[i];
        if (x->op != y->op || strcmp(x->index_text.text, y->index_text.text) != 0 ||
            strcmp(diff_name_after(differ, "array", NULL, x->array->name.text), y->array->name.text) != 0)
            return false;
    }
    return true;
}

/* ---- kinds of things ---- */

static void rename_types(struct differ *differ)
{
    for (const struct type *a = differ->before->types; a != NULL; a = a->next)
        for (const struct type *b = differ->after->types; b != NULL; b = b->next)
            if (same_fields(a, b) && diff_find_type(differ->after, a->name.text) == NULL &&
                diff_find_type(differ->before, b->name.text) == NULL)
                add_rename(differ, "struct", NULL, a->name.text, b->name.text);
}

static void rename_fields(struct differ *differ, const struct type *before, const struct type *after)
{
    for (size_t i = 0; i < before->field_count; i++)
        for (size_t j = 0; j < after->field_count; j++) {
            const struct field *a = &before->fields[i], *b = &after->fields[j];
            if (same_field(differ, a, b) && diff_find_field(after, a->name.text) == NULL &&
                diff_find_field(before, b->name.text) == NULL)
                add_rename(differ, "field", after, a->name.text, b->name.text);
        }
}

static void rename_all_fields(struct differ *differ)
{
    for (const struct type *after = differ->after->types; after != NULL; after = after->next) {
        const char *name = diff_name_before(differ, "struct", NULL, after->name.text);
        const struct type *before = diff_find_type(differ->before, name);
        if (before != NULL && before->field_count <= RENAMES_MOST && after->field_count <= RENAMES_MOST)
            rename_fields(differ, before, after);
    }
}

static void rename_params(struct differ *differ)
{
    const struct spec *before = differ->before, *after = differ->after;
    for (size_t i = 0; i < before->param_count; i++)
        for (size_t j = 0; j < after->param_count; j++) {
            const struct param *a = &before->params[i], *b = &after->params[j];
            if (a->number == b->number && diff_find_param(after, a->name.text) == NULL &&
                diff_find_param(before, b->name.text) == NULL)
                add_rename(differ, "param", NULL, a->name.text, b->name.text);
        }
}

static void rename_tables(struct differ *differ)
{
    for (const struct table *a = differ->before->tables; a != NULL; a = a->next)
        for (const struct table *b = differ->after->tables; b != NULL; b = b->next)
            if (diff_find_table(differ->after, a->name.text) == NULL &&
                diff_find_table(differ->before, b->name.text) == NULL && diff_same_table(a, b))
                add_rename(differ, "table", NULL, a->name.text, b->name.text);
}

static void rename_arrays(struct differ *differ)
{
    for (const struct array *a = differ->before->arrays; a != NULL; a = a->next)
        for (const struct array *b = differ->after->arrays; b != NULL; b = b->next)
            if (diff_find_array(differ->after, a->name.text) == NULL &&
                diff_find_array(differ->before, b->name.text) == NULL && same_array(differ, a, b))
                add_rename(differ, "array", NULL, a->name.text, b->name.text);
}

static void rename_kernels(struct differ *differ)
{
    for (const struct kernel *a = differ->before->kernels; a != NULL; a = a->next)
        for (const struct kernel *b = differ->after->kernels; b != NULL; b = b->next)
            if (same_kernel(differ, a, b) && diff_find_kernel(differ->after, a->name.text) == NULL &&
                diff_find_kernel(differ->before, b->name.text) == NULL)
                add_rename(differ, "kernel", NULL, a->name.text, b->name.text);
}

static size_t count_types(const struct spec *spec)
{
    size_t count = 0;
    for (const struct type *type = spec->types; type != NULL; type = type->next)
        count++;
    return count;
}

static bool is_small(const struct spec *spec)
{
    return spec->param_count <= RENAMES_MOST && spec->array_count <= RENAMES_MOST &&
           spec->kernel_count <= RENAMES_MOST && spec->table_count <= RENAMES_MOST && count_types(spec) <= RENAMES_MOST;
}

void diff_find_renames(struct differ *differ)
{
    if (!is_small(differ->before) || !is_small(differ->after))
        return;
    rename_types(differ);
    rename_all_fields(differ);
    rename_params(differ);
    rename_tables(differ);
    rename_arrays(differ);
    rename_kernels(differ);
}
