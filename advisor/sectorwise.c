#include "sectorwise.h"

#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "check.h"
#include "device.h"
#include "emit.h"
#include "explain.h"
#include "rank.h"
#include "read.h"
#include "report.h"
#include "report_view.h"
#include "score.h"
#include "view.h"
#include "view_explain.h"

struct run {
    struct arena arena;
    struct diags diags;
    const struct sectorwise_job *job;
    const struct device *device;
    struct spec *spec;
    struct restriction *restrictions;
    struct explain_query query; /* of sectorwise_explain */
};

const char *sectorwise_version(void)
{
    return SECTORWISE_VERSION;
}

void sectorwise_free(char *text)
{
    free(text);
}

static struct definition *split_definitions(struct run *run)
{
    const struct span nowhere = {0};
    struct definition *definitions = arena_array(&run->arena, run->job->definition_count, sizeof(*definitions));
    for (size_t i = 0; i < run->job->definition_count; i++) {
        const char *text = run->job->definitions[i], *equals = strchr(text, '=');
        if (equals == NULL) {
            diag_error(&run->diags, "usage", nowhere, "a definition is NAME=VALUE, not '%s'", text);
            return NULL;
        }
        definitions[i].name = arena_copy(&run->arena, text, (size_t)(equals - text));
        definitions[i].value = equals + 1;
    }
    return definitions;
}

static bool load(struct run *run)
{
    const struct sectorwise_job *job = run->job;
    run->diags.arena = &run->arena;
    run->restrictions = arena_array(&run->arena, job->candidate_count, sizeof(*run->restrictions));
    for (size_t i = 0; i < job->candidate_count; i++)
        run->restrictions[i].text = job->candidates[i];
    const struct definition *definitions = split_definitions(run);
    run->device = device_load(&run->arena, job->device == NULL ? "h200" : job->device, &run->diags);
    if (definitions == NULL || run->device == NULL)
        return false;
    const struct source *source =
        source_from_bytes(&run->arena, job->name == NULL ? "<input>" : job->name, job->bytes, job->length);
    run->spec = read_spec(&run->arena, source, &run->diags);
    return run->spec != NULL &&
           check_spec(run->spec, &run->arena, run->device, definitions, job->definition_count, &run->diags);
}

static json_t *make_score(struct run *run)
{
    struct option **chosen = candidates_choose(run->spec, run->device, &run->arena, run->restrictions,
                                               run->job->candidate_count, &run->diags);
    if (chosen == NULL)
        return NULL;
    struct score *score = score_spec(run->spec, run->device, chosen, &run->arena, &run->diags);
    return score == NULL ? NULL : view_score(run->spec, run->device, chosen, score, &run->diags);
}

static struct ranking *rank(struct run *run)
{
    struct options *options = candidates_enumerate(run->spec, run->device, &run->arena, run->restrictions,
                                                   run->job->candidate_count, &run->diags);
    return options == NULL ? NULL : rank_spec(run->spec, run->device, options, &run->arena, &run->diags);
}

static json_t *make_ranking(struct run *run)
{
    const struct ranking *ranking = rank(run);
    return ranking == NULL ? NULL : view_rank(run->spec, run->device, ranking, run->job->top, &run->diags);
}

static json_t *make_explain(struct run *run)
{
    struct option **chosen = candidates_choose(run->spec, run->device, &run->arena, run->restrictions,
                                               run->job->candidate_count, &run->diags);
    if (chosen == NULL)
        return NULL;
    const struct explain *explain =
        explain_access(run->spec, run->device, chosen, &run->query, &run->arena, &run->diags);
    return explain == NULL ? NULL : view_explain(run->spec, run->device, explain);
}

static json_t *make_report(struct run *run)
{
    const struct ranking *ranking = rank(run);
    return ranking == NULL ? NULL
                           : report_view(run->spec, run->device, ranking, run->job->top, &run->arena, &run->diags);
}

static bool write_json(struct text *out, const json_t *view, struct run *run)
{
    (void)run;
    emit_json(out, view);
    return true;
}

static bool write_page(struct text *out, const json_t *view, struct run *run)
{
    return report_html(out, view, &run->arena, &run->diags);
}

/* The text's bytes, which the caller frees; never NULL. */
static char *give(struct text *text)
{
    text_puts(text, "");
    return text->bytes;
}

static enum sectorwise_status work(char **out, struct run *run, json_t *make(struct run *run),
                                   bool write(struct text *out, const json_t *view, struct run *run))
{
    struct text text = {0};
    json_t *view = load(run) ? make(run) : NULL;
    const bool good = view != NULL && write(&text, view, run);
    if (!good)
        diag_render(&run->diags, &text, false);
    json_decref(view);
    arena_free(&run->arena);
    *out = give(&text);
    return good ? SECTORWISE_OK : SECTORWISE_BAD_INPUT;
}

enum sectorwise_status sectorwise_score(char **out, const struct sectorwise_job *job)
{
    return work(out, &(struct run){.job = job}, make_score, write_json);
}

enum sectorwise_status sectorwise_rank(char **out, const struct sectorwise_job *job)
{
    return work(out, &(struct run){.job = job}, make_ranking, write_json);
}

enum sectorwise_status sectorwise_explain(char **out, const struct sectorwise_job *job, const char *kernel,
                                          long long access, long long warp)
{
    struct run run = {.job = job, .query = {.kernel = {.text = kernel}, .access = access, .warp = warp}};
    return work(out, &run, make_explain, write_json);
}

enum sectorwise_status sectorwise_report(char **out, const struct sectorwise_job *job)
{
    return work(out, &(struct run){.job = job}, make_report, write_page);
}
