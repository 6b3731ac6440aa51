#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "candidates.h"
#include "cli_check.h"
#include "cli_depfile.h"
#include "cli_diff.h"
#include "cli_explain.h"
#include "cli_fmt.h"
#include "cli_help.h"
#include "cli_output.h"
#include "cli_render.h"
#include "cli_report.h"
#include "cli_run.h"
#include "cli_signals.h"
#include "cli_verify.h"
#include "emit.h"
#include "generate.h"
#include "rank.h"
#include "score.h"
#include "view.h"
#include "view_code.h"

static enum exit_status run_score(struct run *run)
{
    struct option **chosen = NULL;
    struct score *score = NULL;
    json_t *view = NULL;
    if (run_load(run))
        chosen = candidates_choose(run->spec, run->device, &run->arena, run->cli.restrictions,
                                   run->cli.restriction_count, &run->diags);
    if (chosen != NULL)
        score = score_spec(run->spec, run->device, chosen, &run->arena, &run->diags);
    if (score != NULL)
        view = view_score(run->spec, run->device, chosen, score, &run->diags);
    return run_write_view(run, view, emit_score);
}

static struct ranking *rank_candidates(struct run *run)
{
    struct options *options = NULL;
    if (run_load(run))
        options = candidates_enumerate(run->spec, run->device, &run->arena, run->cli.restrictions,
                                       run->cli.restriction_count, &run->diags);
    return options == NULL ? NULL : rank_spec(run->spec, run->device, options, &run->arena, &run->diags);
}

static enum exit_status run_rank(struct run *run)
{
    struct ranking *ranking = rank_candidates(run);
    json_t *view = NULL;
    if (ranking != NULL)
        view = view_rank(run->spec, run->device, ranking, run->cli.top, &run->diags);
    return run_write_view(run, view, emit_rank);
}

/* The templates of --template: files, or compiled-in ones by name. False after a diagnostic. */
static bool read_templates(struct run *run, struct generate_templates *out)
{
    const struct cli_words *paths = &run->cli.templates;
    const struct source **sources = arena_array(&run->arena, paths->count, sizeof(struct source *));
    bool good = true;
    for (size_t i = 0; i < paths->count; i++) {
        bool is_file = access(paths->items[i], F_OK) == 0;
        sources[i] = is_file ? NULL : generate_shipped(&run->arena, paths->items[i]);
        if (sources[i] == NULL)
            sources[i] = cli_read(paths->items[i], &run->arena, &run->diags);
        good &= sources[i] != NULL;
    }
    *out = (struct generate_templates){sources, paths->count};
    return good;
}

static const char *state_name(enum generated_state state)
{
    switch (state) {
    case GENERATED_RENDERED:
        return "rendered";
    case GENERATED_WRITTEN:
        return "written";
    case GENERATED_UNCHANGED:
        return "unchanged";
    case GENERATED_STALE:
        return "stale";
    }
    return "";
}

static json_t *view_files(struct run *run, struct option *const *chosen, const struct generated *generated)
{
    struct view_file *files = arena_array(&run->arena, generated->count, sizeof(*files));
    for (size_t i = 0; i < generated->count; i++)
        files[i] = (struct view_file){generated->files[i].name, state_name(generated->files[i].state)};
    return view_generate(run->spec, run->device, chosen, run->cli.directory, files, generated->count);
}

/* The rule of --depfile, where one is wanted; of code that was written. */
static enum exit_status write_depfile(struct run *run, const struct generated *generated)
{
    struct text text = {0};
    if (run->cli.depfile == NULL || run->cli.check)
        return EXIT_DONE;
    cli_depfile(&text, &run->cli, run->spec, generated);
    enum exit_status status = run_write_text(run, &text, run->cli.depfile);
    text_free(&text);
    return status;
}

static bool is_refusal(const struct diags *diags)
{
    bool all = diags->count > 0;
    for (size_t i = 0; i < diags->count; i++)
        all = all && strcmp(diags->items[i].id, "not-generated") == 0;
    return all;
}

static void warn_of_other(struct run *run, const struct diag *refused, struct option *const *chosen, size_t rank)
{
    const char *names = "";
    for (const struct array *array = run->spec->arrays; array != NULL; array = array->next)
        if (chosen[array->number] != NULL)
            names =
                arena_printf(&run->arena, "%s %s=%s", names, array->name.text, chosen[array->number]->candidate.text);
    diag_warning(&run->diags, refused->id, refused->where, "%s", refused->message);
    diag_note(&run->diags, "the code is for number %zu of the ranking:%s", rank, names);
}

/* Code for the first of the ranking for which any can be written: *chosen. NULL after a diagnostic. */
static struct generated *render_best(struct run *run, const struct ranking *ranking,
                                     const struct generate_templates *templates, struct option *const **chosen)
{
    enum { TRIALS = 256 };
    struct diags first = {0};
    for (size_t i = 0; i < ranking->count && i < TRIALS; i++) {
        struct diags trial = {.arena = &run->arena};
        *chosen = ranking->items[i].chosen;
        struct generated *generated = generate_render(run->spec, run->device, *chosen, templates, &run->arena, &trial);
        if (generated != NULL && !diag_failed(&trial)) {
            diag_append(&run->diags, &trial);
            if (i > 0)
                warn_of_other(run, &first.items[0], *chosen, i + 1);
            return generated;
        }
        if (i == 0)
            first = trial;
        if (!is_refusal(&trial))
            break;
    }
    diag_append(&run->diags, &first);
    return NULL;
}

static enum exit_status run_generate(struct run *run)
{
    struct generate_templates templates;
    struct ranking *ranking = rank_candidates(run);
    if (ranking == NULL || !read_templates(run, &templates))
        return EXIT_BAD_INPUT;
    struct option *const *chosen;
    struct generated *generated = render_best(run, ranking, &templates, &chosen);
    if (generated == NULL || diag_failed(&run->diags))
        return EXIT_BAD_INPUT;
    signals_hold();
    enum generate_status written =
        generate_write(generated, run->cli.directory, run->cli.check, &run->arena, &run->diags);
    signals_release();
    if (written != GENERATE_DONE)
        return written == GENERATE_FAILED ? EXIT_FAULT : EXIT_BAD_INPUT;
    enum exit_status status = write_depfile(run, generated);
    if (status == EXIT_DONE)
        status = run_write_view(run, view_files(run, chosen, generated), emit_generate);
    return status == EXIT_DONE && generated->stale > 0 ? EXIT_FINDING : status;
}

static enum exit_status run_render(struct run *run)
{
    if (!cli_render(&run->out, &run->cli, &run->arena, &run->diags))
        return EXIT_BAD_INPUT;
    return run_write(run);
}

static enum exit_status run_command(struct run *run, int argc, char **argv)
{
    switch (cli_parse(&run->cli, &run->out, &run->arena, argc, argv, &run->diags)) {
    case CLI_REFUSED:
        return EXIT_BAD_INPUT;
    case CLI_ANSWERED:
        run->cli.output = NULL;
        return run_write(run);
    case CLI_RUN:
        break;
    }
    run_show_progress(run, cli_command_rule(run->cli.command)->name);
    switch (run->cli.command) {
    case COMMAND_SCORE:
        return run_score(run);
    case COMMAND_RANK:
        return run_rank(run);
    case COMMAND_GENERATE:
        return run_generate(run);
    case COMMAND_RENDER:
        return run_render(run);
    case COMMAND_FMT:
        return cli_fmt(run);
    case COMMAND_EXPLAIN:
        return cli_explain(run);
    case COMMAND_CHECK:
        return cli_check(run);
    case COMMAND_DIFF:
        return cli_diff(run);
    case COMMAND_VERIFY:
        return cli_verify(run);
    case COMMAND_REPORT:
        return cli_report(run);
    case COMMAND_NONE:
        break;
    }
    return EXIT_FAULT;
}

/* Errors and warnings, in order, to standard error. */
static void report(const struct run *run)
{
    struct text text = {0};
    diag_render(&run->diags, &text, cli_use_color(&run->cli, STDERR_FILENO));
    /* Where standard error is closed there is nobody left to tell. */
    for (size_t done = 0; done < text.length;) {
        ssize_t wrote = write(STDERR_FILENO, text.bytes + done, text.length - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    text_free(&text);
}

/* Each launch that is counted takes its workers' memory and frees it again. Given back to the system in between, the
 * same pages are cleared anew for every launch: two thirds of a ranking's time. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    enum { KEPT_BYTES = 64 << 20, STEP_BYTES = 4 << 20 };
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_TOP_PAD, STEP_BYTES);
#endif
}

int main(int argc, char **argv)
{
    struct run run = {0};
    run.diags.arena = &run.arena;
    keep_memory();
    output_prepare();
    signals_prepare();
    enum exit_status status = run_command(&run, argc, argv);
    run_end_progress(&run);
    report(&run);
    text_free(&run.out);
    arena_free(&run.arena);
    return (int)status;
}
