#include "cli_verify.h"

#include "candidates.h"
#include "cli_render.h"
#include "emit.h"
#include "ncu.h"
#include "rank.h"
#include "verify.h"
#include "view_verify.h"

/* Scores and estimates the one candidate that was measured: a ranking of one. */
static const struct ranked *predict(struct run *run)
{
    struct option **chosen = candidates_choose(run->spec, run->device, &run->arena, run->cli.restrictions,
                                               run->cli.restriction_count, &run->diags);
    if (chosen == NULL)
        return NULL;
    struct options *options = arena_array(&run->arena, run->spec->array_count, sizeof(*options));
    for (size_t i = 0; i < run->spec->array_count; i++)
        options[i] = (struct options){.array = chosen[i]->array, .items = &chosen[i], .count = 1};
    const struct ranking *ranking = rank_spec(run->spec, run->device, options, &run->arena, &run->diags);
    return ranking == NULL || diag_failed(&run->diags) ? NULL : &ranking->items[0];
}

enum exit_status cli_verify(struct run *run)
{
    struct ncu_report report;
    const struct ranked *best = run_load(run) ? predict(run) : NULL;
    const struct source *source = best == NULL ? NULL : cli_read(run->cli.ncu, &run->arena, &run->diags);
    if (source == NULL || !ncu_read(&report, source, &run->arena, &run->diags))
        return EXIT_BAD_INPUT;
    const struct verify *verify =
        verify_compare(run->spec, best, &report, run->cli.tolerance, &run->arena, &run->diags);
    if (verify == NULL)
        return EXIT_BAD_INPUT;
    enum exit_status status = run_write_view(run, view_verify(run->spec, run->device, best, verify), emit_verify);
    return status == EXIT_DONE && verify->differs ? EXIT_FINDING : status;
}
