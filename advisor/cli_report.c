#include "cli_report.h"

#include "candidates.h"
#include "emit.h"
#include "rank.h"
#include "report.h"
#include "report_view.h"

static json_t *make_view(struct run *run)
{
    if (!run_load(run))
        return NULL;
    struct options *options = candidates_enumerate(run->spec, run->device, &run->arena, run->cli.restrictions,
                                                   run->cli.restriction_count, &run->diags);
    struct ranking *ranking =
        options == NULL ? NULL : rank_spec(run->spec, run->device, options, &run->arena, &run->diags);
    return ranking == NULL ? NULL
                           : report_view(run->spec, run->device, ranking, run->cli.top, &run->arena, &run->diags);
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
