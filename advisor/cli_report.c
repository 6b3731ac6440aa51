#include "cli_report.h"

#include "candidates.h"
#include "emit.h"
#include "explain.h"
#include "rank.h"
#include "report.h"
#include "view_report.h"

enum { LISTED = 20 }; /* candidates, unless the command line says how many */

static struct ranking *rank_candidates(struct run *run)
{
    struct options *options = candidates_enumerate(run->spec, run->device, &run->arena, run->cli.restrictions,
                                                   run->cli.restriction_count, &run->diags);
    return options == NULL ? NULL : rank_spec(run->spec, run->device, options, &run->arena, &run->diags);
}

static const struct explain *explain(struct run *run, const struct kernel *kernel, struct option *const *chosen,
                                     int64_t access)
{
    const struct explain_query query = {.kernel = {.text = kernel->name.text, .where = kernel->name.where},
                                        .access = access,
                                        .access_where = kernel->name.where,
                                        .warp = EXPLAIN_WORST};
    return explain_access(run->spec, run->device, chosen, &query, &run->arena, &run->diags);
}

/* The access that is furthest from its ideal today is shown under both candidates. */
static bool explain_kernels(struct view_pictures *pictures, struct run *run, const struct ranking *ranking)
{
    const size_t today = view_find_default(ranking, run->spec->array_count);
    size_t number = 0;
    for (const struct kernel *kernel = run->spec->kernels; kernel != NULL; kernel = kernel->next, number++) {
        int64_t access = EXPLAIN_WORST;
        if (kernel->access_count == 0)
            continue;
        if (today != 0 && today < ranking->count) {
            pictures[number].today = explain(run, kernel, ranking->items[today].chosen, access);
            if (pictures[number].today == NULL)
                return false;
            access = pictures[number].today->access->number;
        }
        pictures[number].best = explain(run, kernel, ranking->items[0].chosen, access);
        if (pictures[number].best == NULL)
            return false;
    }
    return true;
}

static json_t *make_view(struct run *run)
{
    const struct ranking *ranking = run_load(run) ? rank_candidates(run) : NULL;
    struct view_pictures *pictures =
        arena_array(&run->arena, ranking == NULL ? 0 : run->spec->kernel_count, sizeof(*pictures));
    if (ranking == NULL || !explain_kernels(pictures, run, ranking))
        return NULL;
    const size_t top = run->cli.top == 0 ? LISTED : run->cli.top;
    return view_report(run->spec, run->device, ranking, top, pictures, &run->arena, &run->diags);
}

enum exit_status cli_report(struct run *run)
{
    json_t *view = make_view(run);
    bool good = view != NULL && !diag_failed(&run->diags);
    if (good && run->cli.format == FORMAT_JSON)
        emit_json(&run->out, view);
    else if (good)
        good = report_html(&run->out, view, &run->arena, &run->diags);
    json_decref(view);
    return good ? run_write(run) : EXIT_BAD_INPUT;
}
