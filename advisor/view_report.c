#include "view_report.h"

#include "view_bytes.h"
#include "view_explain.h"
#include "view_put.h"

struct maker {
    const struct spec *spec;
    const struct device *device;
    const struct ranking *ranking;
    size_t today; /* ranking->count: not in it */
    struct arena *arena;
    struct diags *diags;
};

/* The counts of one candidate's kernels; null after a diagnostic. */
static json_t *make_score(const struct maker *maker, size_t place)
{
    const struct ranked *ranked = &maker->ranking->items[place];
    struct score score = {.kernel_count = maker->spec->kernel_count};
    score.kernels = arena_array(maker->arena, score.kernel_count + 1, sizeof(*score.kernels));
    for (size_t k = 0; k < score.kernel_count; k++)
        score.kernels[k] = *ranked->kernels[k].score;
    json_t *view = view_score(maker->spec, maker->device, ranked->chosen, &score, maker->diags);
    return view == NULL ? json_null() : view;
}

static json_t *make_picture(const struct maker *maker, const struct explain *explain)
{
    return explain == NULL ? json_null() : view_explain(maker->spec, maker->device, explain);
}

static json_t *make_kernels(const struct maker *maker, const struct view_pictures *pictures)
{
    json_t *kernels = json_array();
    size_t number = 0;
    for (const struct kernel *kernel = maker->spec->kernels; kernel != NULL; kernel = kernel->next, number++) {
        json_t *object = json_object();
        put_text(object, "name", kernel->name.text);
        put_number(object, "calls", (uint64_t)kernel->calls);
        put_number(object, "blocks", kernel->block_count);
        put_number(object, "block_threads", kernel->block_threads);
        put(object, "today", make_picture(maker, pictures[number].today));
        put(object, "best", make_picture(maker, pictures[number].best));
        add(kernels, object);
    }
    return kernels;
}

static json_t *make_arrays(const struct maker *maker)
{
    json_t *arrays = json_array();
    const bool both = maker->today != 0 && maker->today < maker->ranking->count;
    for (size_t i = 0; i < maker->spec->array_count; i++) {
        json_t *object = json_object();
        const struct option *best = maker->ranking->items[0].chosen[i];
        put_text(object, "name", best->array->name.text);
        put_text(object, "of", best->array->of_text.text);
        put(object, "today", both ? view_bytes(maker->ranking->items[maker->today].chosen[i]) : json_null());
        put(object, "best", view_bytes(best));
        add(arrays, object);
    }
    return arrays;
}

/* The candidates to list; today's stays in its place in the order. */
static json_t *make_ranking(const struct maker *maker, size_t top)
{
    json_t *view = view_rank(maker->spec, maker->device, maker->ranking, 0, maker->diags);
    json_t *all = json_object_get(view, "candidates"), *listed = json_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        if (top == 0 || i < top || i == maker->today)
            add(listed, json_incref(json_array_get(all, i)));
    if (view != NULL)
        put(view, "candidates", listed);
    else
        json_decref(listed);
    return view == NULL ? json_null() : view;
}

json_t *view_report(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                    const struct view_pictures *pictures, struct arena *arena, struct diags *diags)
{
    struct maker maker = {spec, device, ranking, view_find_default(ranking, spec->array_count), arena, diags};
    json_t *root = view_root(spec, device, "sectorwise-report-1");
    const bool known = maker.today < ranking->count;
    put(root, "ranking", make_ranking(&maker, top));
    put(root, "best", make_score(&maker, 0));
    put(root, "today", known && maker.today != 0 ? make_score(&maker, maker.today) : json_null());
    put(root, "today_rank", known ? json_integer((json_int_t)maker.today + 1) : json_null());
    put(root, "kernels", make_kernels(&maker, pictures));
    put(root, "arrays", make_arrays(&maker));
    if (!diag_failed(diags))
        return root;
    json_decref(root);
    return NULL;
}
