#include "check.h"

#include <string.h>

#include "check_internal.h"

enum { NEEDS_MAX = 4 };

/* A check looks at one aspect of the whole description. It runs once those that it needs have run, so the order of
 * the table says nothing; items that they marked as failed it passes over. */
struct check {
    const char *name;
    void (*run)(struct checker *checker);
    const char *needs[NEEDS_MAX];
};

static const struct check checks[] = {
    {"layout-name", check_layout_name, {NULL}},
    {"type-names", check_type_names, {NULL}},
    {"field-names", check_field_names, {NULL}},
    {"value-names", check_value_names, {NULL}},
    {"kernel-names", check_kernel_names, {NULL}},
    {"definitions", check_definitions, {"value-names"}},
    {"constants", check_constants, {"value-names", "definitions"}},
    {"type-fields", check_type_fields, {"type-names", "field-names", "constants"}},
    {"type-sizes", check_type_sizes, {"type-fields"}},
    {"arrays", check_arrays, {"value-names", "constants", "type-sizes"}},
    {"launches", check_launches, {"kernel-names", "constants"}},
    {"bodies", check_bodies, {"launches", "arrays"}},
    {"shared-memory", check_shared, {"bodies"}},
};

enum { CHECK_COUNT = sizeof(checks) / sizeof(checks[0]) };

static void run_check(struct checker *checker, size_t number, bool done[]);

static void run_named(struct checker *checker, const char *name, bool done[])
{
    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (strcmp(checks[i].name, name) == 0)
            run_check(checker, i, done);
}

static void run_check(struct checker *checker, size_t number, bool done[])
{
    if (done[number])
        return;
    done[number] = true;
    for (size_t i = 0; i < NEEDS_MAX && checks[number].needs[i] != NULL; i++)
        run_named(checker, checks[number].needs[i], done);
    checks[number].run(checker);
}

/* Checks run aspect by aspect, readers go top to bottom: the description's own findings by place, then those of other
 * sources (tables, the command line). Few are kept, and most are in order. */
static void sort_by_place(struct diags *diags, const struct source *source)
{
    for (size_t i = 1; i < diags->count; i++) {
        struct diag item = diags->items[i];
        if (item.where.source != source)
            continue;
        size_t at = i;
        while (at > 0 &&
               (diags->items[at - 1].where.source != source || diags->items[at - 1].where.offset > item.where.offset)) {
            diags->items[at] = diags->items[at - 1];
            at--;
        }
        diags->items[at] = item;
    }
}

bool check_spec(struct spec *spec, struct arena *arena, const struct device *device,
                const struct definition *definitions, size_t definition_count, struct diags *diags)
{
    struct checker checker = {
        .spec = spec,
        .arena = arena,
        .device = device,
        .definitions = definitions,
        .definition_count = definition_count,
        .diags = diags,
    };
    bool done[CHECK_COUNT] = {false};
    for (size_t i = 0; i < CHECK_COUNT; i++)
        run_check(&checker, i, done);
    sort_by_place(diags, spec->source);
    return !diag_failed(diags);
}
