#include "view_bytes.h"

#include <stdlib.h>

#include "explain.h"
#include "view_fields.h"
#include "view_put.h"

struct maker {
    const struct mapping *mapping;
    struct view_fields fields;
    struct arena arena;
};

/* A leaf's bytes in its group's unit. */
struct part {
    uint64_t from, bytes;
    size_t leaf;
};

enum unit { UNIT_RECORD, UNIT_TILE, UNIT_ARRAY };

static enum unit group_unit(const struct group *group)
{
    return group->record_stride != 0 ? UNIT_RECORD : group->tile_records != 0 ? UNIT_TILE : UNIT_ARRAY;
}

static const char *unit_name(enum unit unit)
{
    switch (unit) {
    case UNIT_RECORD:
        return "record";
    case UNIT_TILE:
        return "tile";
    case UNIT_ARRAY:
        return "array";
    }
    return "";
}

static uint64_t unit_records(const struct mapping *mapping, const struct group *group)
{
    switch (group_unit(group)) {
    case UNIT_RECORD:
        return 1;
    case UNIT_TILE:
        return group->tile_records;
    case UNIT_ARRAY:
        break;
    }
    return mapping->array->records;
}

static uint64_t unit_bytes(const struct group *group)
{
    switch (group_unit(group)) {
    case UNIT_RECORD:
        return group->record_stride;
    case UNIT_TILE:
        return group->tile_bytes;
    case UNIT_ARRAY:
        break;
    }
    return group->bytes;
}

static int compare_parts(const void *left, const void *right)
{
    const uint64_t a = ((const struct part *)left)->from, b = ((const struct part *)right)->from;
    return a < b ? -1 : a > b;
}

static json_t *make_run(uint64_t from, uint64_t bytes, const char *field)
{
    json_t *run = json_object();
    put_number(run, "from", from);
    put_number(run, "bytes", bytes);
    put_text(run, "field", field == NULL ? "padding" : field);
    put_flag(run, "padding", field == NULL);
    return run;
}

static void add_part(struct maker *maker, json_t *runs, const struct part *part)
{
    const char *name = explain_field_name(&maker->arena, maker->mapping->array, part->leaf);
    const size_t number = view_field_number(&maker->fields, name);
    json_t *run = make_run(part->from, part->bytes, name);
    put_number(run, "color", number);
    put_text(run, "leaf", maker->mapping->array->record->leaves[part->leaf].path);
    add(runs, run);
}

static json_t *make_runs(struct maker *maker, unsigned number)
{
    const struct mapping *mapping = maker->mapping;
    const struct record *record = mapping->array->record;
    const struct group *group = &mapping->groups[number];
    struct part *parts = arena_array(&maker->arena, record->leaf_count, sizeof(*parts));
    json_t *runs = json_array();
    size_t count = 0;
    uint64_t end = 0;
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++)
        if (mapping->leaves[leaf].group == number)
            parts[count++] = (struct part){mapping->leaves[leaf].offset - group->offset,
                                           record->leaves[leaf].size * unit_records(mapping, group), leaf};
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].from > end)
            add(runs, make_run(end, parts[i].from - end, NULL));
        add_part(maker, runs, &parts[i]);
        end = parts[i].from + parts[i].bytes;
    }
    if (end < unit_bytes(group))
        add(runs, make_run(end, unit_bytes(group) - end, NULL));
    return runs;
}

static json_t *make_group(struct maker *maker, unsigned number)
{
    const struct group *group = &maker->mapping->groups[number];
    json_t *object = json_object();
    put_text(object, "layout", notation_layout(&maker->arena, &group->layout));
    put_text(object, "unit", unit_name(group_unit(group)));
    put_number(object, "unit_bytes", unit_bytes(group));
    put_number(object, "unit_records", unit_records(maker->mapping, group));
    put_number(object, "offset", group->offset);
    put(object, "runs", make_runs(maker, number));
    return object;
}

json_t *view_bytes(const struct option *option)
{
    struct maker maker = {.mapping = option->mapping};
    json_t *object = json_object(), *groups = json_array();
    maker.fields = view_fields_of(option->array, &maker.arena);
    put_text(object, "array", option->array->name.text);
    put_text(object, "candidate", option->candidate.text);
    put_number(object, "records", option->array->records);
    put_number(object, "record_bytes", option->array->record->type->size);
    put_number(object, "memory_bytes", option->mapping->bytes);
    for (unsigned g = 0; g < option->mapping->group_count; g++)
        add(groups, make_group(&maker, g));
    put(object, "groups", groups);
    arena_free(&maker.arena);
    return object;
}
