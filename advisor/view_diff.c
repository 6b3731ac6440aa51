#include "view_diff.h"

#include <string.h>

#include "view_put.h"

static const char *kind_name(enum change_kind kind)
{
    switch (kind) {
    case CHANGE_ADDED:
        return "added";
    case CHANGE_REMOVED:
        return "removed";
    case CHANGE_CHANGED:
        return "changed";
    }
    return "";
}

struct source_position view_locate(struct view_places *places, struct span where)
{
    size_t i = 0;
    while (i < places->count && places->known[i].source != where.source)
        i++;
    if (i == VIEW_SOURCES_MAX)
        return source_locate(where.source, where.offset);
    if (i == places->count)
        places->known[places->count++] = source_index(where.source, &places->arena);
    return source_locate_in(&places->known[i], where.offset);
}

static void put_line(json_t *object, const char *key, struct span where, struct view_places *places)
{
    if (where.source != NULL)
        put_number(object, key, view_locate(places, where).line);
}

/* A text that a side lacks is null. */
static void put_side(json_t *object, const char *key, const char *text)
{
    put(object, key, text == NULL ? json_null() : json_string(text));
}

json_t *view_change(const struct change *change, struct view_places *places)
{
    json_t *object = json_object(), *aspects = json_array();
    put_text(object, "change", kind_name(change->kind));
    put_text(object, "of", change->of);
    put_text(object, "name", change->name);
    put_text(object, "in", change->owner);
    put_line(object, "line_before", change->where_before, places);
    put_line(object, "line_after", change->where_after, places);
    for (size_t i = 0; i < change->aspect_count; i++) {
        json_t *aspect = json_object();
        put_text(aspect, "what", change->aspects[i].what);
        put_side(aspect, "before", change->aspects[i].before);
        put_side(aspect, "after", change->aspects[i].after);
        add(aspects, aspect);
    }
    put(object, "aspects", aspects);
    return object;
}

static json_t *make_cost(const struct kernel_cost *cost)
{
    if (cost == NULL)
        return json_null();
    json_t *object = json_object();
    put_number(object, "sectors", cost->sectors);
    put_number(object, "wavefronts", cost->wavefronts);
    put_number(object, "dram_bytes", cost->dram_bytes);
    put_real(object, "time_us", cost->estimate.time_us);
    put_text(object, "bound_by", resource_name(cost->estimate.bound_by));
    return object;
}

static const struct kernel_cost *find_cost(const struct cost *cost, const struct kernel *kernel)
{
    for (size_t i = 0; cost != NULL && kernel != NULL && i < cost->kernel_count; i++)
        if (cost->kernels[i].kernel == kernel)
            return &cost->kernels[i];
    return NULL;
}

static json_t *make_kernel(const struct kernel_pair *pair, const struct cost *before, const struct cost *after,
                           bool *same)
{
    json_t *object = json_object();
    const struct kernel *kernel = pair->after != NULL ? pair->after : pair->before;
    json_t *was = make_cost(find_cost(before, pair->before)), *is = make_cost(find_cost(after, pair->after));
    bool equal = json_equal(was, is) == 1;
    *same &= equal;
    put_text(object, "name", kernel->name.text);
    put_text(object, "cost",
             pair->before == NULL  ? "added"
             : pair->after == NULL ? "removed"
             : equal               ? "same"
                                   : "changed");
    put(object, "before", was);
    put(object, "after", is);
    return object;
}

static const struct option *find_option(const struct view_side *side, const char *array)
{
    for (size_t i = 0; side->spec != NULL && i < side->spec->array_count; i++)
        if (strcmp(side->cost->chosen[i]->array->name.text, array) == 0)
            return side->cost->chosen[i];
    return NULL;
}

static json_t *make_array(const char *name, const struct option *before, const struct option *after)
{
    json_t *object = json_object();
    put_text(object, "name", name);
    put_side(object, "candidate_before", before == NULL ? NULL : before->candidate.text);
    put_side(object, "candidate_after", after == NULL ? NULL : after->candidate.text);
    put_number(object, "memory_bytes_before", before == NULL ? 0 : before->mapping->bytes);
    put_number(object, "memory_bytes_after", after == NULL ? 0 : after->mapping->bytes);
    return object;
}

static json_t *make_arrays(const struct view_side *before, const struct view_side *after)
{
    json_t *list = json_array();
    for (size_t i = 0; after->spec != NULL && i < after->spec->array_count; i++) {
        const struct option *option = after->cost->chosen[i];
        const char *name = option->array->name.text;
        add(list, make_array(name, find_option(before, name), option));
    }
    for (size_t i = 0; before->spec != NULL && i < before->spec->array_count; i++) {
        const struct option *option = before->cost->chosen[i];
        const char *name = option->array->name.text;
        if (find_option(after, name) == NULL)
            add(list, make_array(name, option, NULL));
    }
    return list;
}

/* A path may hold any bytes, which JSON may not. */
static void put_path(json_t *object, const char *key, const struct view_side *side)
{
    json_t *path = side->spec == NULL ? NULL : json_string(side->name);
    put(object, key, path == NULL ? json_null() : path);
}

json_t *view_diff(const struct view_side *before, const struct view_side *after, const struct difference *difference,
                  const struct device *device)
{
    json_t *root = json_object(), *changes = json_array(), *kernels = json_array();
    bool same = difference->change_count == 0;
    struct view_places places = {.count = 0};
    put_text(root, "format", "sectorwise-diff-1");
    put_text(root, "layout", (after->spec != NULL ? after : before)->spec->name.text);
    put_text(root, "device", device->name);
    put_text(root, "device_title", device->title == NULL ? device->name : device->title);
    put_flag(root, "calibrated", device->calibrated);
    put_path(root, "before", before);
    put_path(root, "after", after);
    for (size_t i = 0; i < difference->change_count; i++)
        add(changes, view_change(&difference->changes[i], &places));
    for (size_t i = 0; i < difference->kernel_count; i++)
        add(kernels, make_kernel(&difference->kernels[i], before->cost, after->cost, &same));
    put_flag(root, "same", same);
    put(root, "changes", changes);
    put(root, "arrays", make_arrays(before, after));
    put(root, "kernels", kernels);
    arena_free(&places.arena);
    return root;
}
