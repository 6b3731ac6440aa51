#include "report_view.h"

#include "explain.h"
#include "view_report.h"

struct maker {
    const struct spec *spec;
    const struct device *device;
    const struct ranking *ranking;
    struct arena *arena;
    struct diags *diags;
};

static const struct explain *explain(const struct maker *maker, const struct kernel *kernel,
                                     struct option *const *chosen, int64_t access)
{
    const struct explain_query query = {.kernel = {.text = kernel->name.text, .where = kernel->name.where},
                                        .access = access,
                                        .access_where = kernel->name.where,
                                        .warp = EXPLAIN_WORST};
    return explain_access(maker->spec, maker->device, chosen, &query, maker->arena, maker->diags);
}

/* The access that is furthest from its ideal today is shown under both candidates. */
static bool explain_kernels(struct view_pictures *pictures, const struct maker *maker)
{
    const struct ranking *ranking = maker->ranking;
    const size_t today = view_find_default(ranking, maker->spec->array_count);
    size_t number = 0;
    for (const struct kernel *kernel = maker->spec->kernels; kernel != NULL; kernel = kernel->next, number++) {
        int64_t access = EXPLAIN_WORST;
        if (kernel->access_count == 0)
            continue;
        if (today != 0 && today < ranking->count) {
            pictures[number].today = explain(maker, kernel, ranking->items[today].chosen, access);
            if (pictures[number].today == NULL)
                return false;
            access = pictures[number].today->access->number;
        }
        pictures[number].best = explain(maker, kernel, ranking->items[0].chosen, access);
        if (pictures[number].best == NULL)
            return false;
    }
    return true;
}

json_t *report_view(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                    struct arena *arena, struct diags *diags)
{
    const struct maker maker = {spec, device, ranking, arena, diags};
    struct view_pictures *pictures = arena_array(arena, spec->kernel_count, sizeof(*pictures));
    if (!explain_kernels(pictures, &maker))
        return NULL;
    return view_report(spec, device, ranking, top == 0 ? REPORT_LISTED : top, pictures, arena, diags);
}
