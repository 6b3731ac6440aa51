/* Takes the arguments of `render`, gives the template filled in with the values of its JSON file. */
#ifndef SW_CLI_RENDER_H
#define SW_CLI_RENDER_H

#include <stdbool.h>

#include "cli.h"
#include "source.h"

/* Appends the text; false after diagnostics, `out` then being as it was. */
bool cli_render(struct text *out, const struct cli *cli, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* Reads a file that the command line names. NULL after a diagnostic [unreadable-file]. */
struct source *cli_read(const char *path, struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));
/* As cli_read, of a regular file only: of one that is to be rewritten, or that a template names. */
struct source *cli_read_file(const char *path, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
