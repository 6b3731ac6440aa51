/* Holds what one run of the tool works with, gives the steps that commands have in common: a description read and
 * checked, a result written. */
#ifndef SW_CLI_RUN_H
#define SW_CLI_RUN_H

#include <jansson.h>
#include <stdbool.h>

#include "arena.h"
#include "cli.h"
#include "cli_progress.h"
#include "device.h"
#include "diag.h"
#include "spec.h"
#include "text.h"

/* What the tool ends with. */
enum exit_status { EXIT_DONE = 0, EXIT_FINDING = 1, EXIT_BAD_INPUT = 2, EXIT_FAULT = 3 };

struct run {
    struct cli cli;
    struct arena arena; /* owns all but `out` */
    struct diags diags;
    const struct device *device;
    struct spec *spec;
    struct text out;
    struct cli_progress *progress; /* NULL: none is shown */
};

/* Begins to show on a terminal how far the command is, where that takes long; run->diags is what it is told through.
 * Writing anything ends it. */
void run_show_progress(struct run *run, const char *command);
void run_end_progress(struct run *run);

/* Reads the device and the description of the first operand into `run` and checks it: what follows may rely on both.
 * False after diagnostics. */
bool run_load(struct run *run) __attribute__((warn_unused_result));

/* Writes a text to a file, or to standard output where `path` is NULL; a fault of it is a diagnostic. */
enum exit_status run_write_text(struct run *run, const struct text *text, const char *path)
    __attribute__((warn_unused_result));

/* Writes run->out to where the command line says. */
enum exit_status run_write(struct run *run) __attribute__((warn_unused_result));

/* Ends a command: writes its view, as text through `emit_text`, but only after a run without errors. Takes the view. */
enum exit_status run_write_view(struct run *run, json_t *view,
                                void emit_text(struct text *out, const json_t *view, bool color))
    __attribute__((warn_unused_result));

#endif
