#include "cli_run.h"

#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "cli_output.h"
#include "cli_render.h"
#include "cli_signals.h"
#include "emit.h"
#include "read.h"

bool run_load(struct run *run)
{
    run->device = device_load(&run->arena, run->cli.device, &run->diags);
    if (run->device == NULL)
        return false;
    const struct source *source = cli_read(run->cli.input, &run->arena, &run->diags);
    if (source == NULL)
        return false;
    run->spec = read_spec(&run->arena, source, &run->diags);
    if (run->spec == NULL ||
        !check_spec(run->spec, &run->arena, run->device, run->cli.definitions, run->cli.definition_count, &run->diags))
        return false;
    check_warn(run->spec, &run->diags);
    return true;
}

void run_show_progress(struct run *run, const char *command)
{
    run->progress = cli_progress_start(command);
    run->diags.progress = cli_progress_of(run->progress);
}

void run_end_progress(struct run *run)
{
    cli_progress_end(run->progress);
    run->progress = NULL;
    run->diags.progress = NULL;
}

enum exit_status run_write_text(struct run *run, const struct text *text, const char *path)
{
    run_end_progress(run);
    const char *reason;
    const struct span nowhere = {0};
    switch (output_write(path, text_string(text), text->length, &run->arena, &reason)) {
    case OUTPUT_OK:
        return EXIT_DONE;
    case OUTPUT_NO_PLACE:
        diag_error(&run->diags, "output", nowhere, "cannot write '%s': %s", path, reason);
        return EXIT_BAD_INPUT;
    case OUTPUT_FAILED:
        diag_error(&run->diags, "output", nowhere, "writing failed: %s", reason);
        return EXIT_FAULT;
    case OUTPUT_CLOSED:
        /* As any filter ends whose reader has had enough. */
        signals_die(SIGPIPE);
    }
    return EXIT_FAULT;
}

enum exit_status run_write(struct run *run)
{
    return run_write_text(run, &run->out, run->cli.output);
}

enum exit_status run_write_view(struct run *run, json_t *view,
                                void emit_text(struct text *out, const json_t *view, bool color))
{
    if (view == NULL || diag_failed(&run->diags)) {
        json_decref(view);
        return EXIT_BAD_INPUT;
    }
    bool to_file = run->cli.output != NULL;
    if (run->cli.format == FORMAT_JSON)
        emit_json(&run->out, view);
    else
        emit_text(&run->out, view, cli_use_color(&run->cli, to_file ? -1 : STDOUT_FILENO));
    json_decref(view);
    return run_write(run);
}
