/* Takes a finished `generate`, gives the rule that make and ninja need to know when the code is to be made anew. */
#ifndef SW_CLI_DEPFILE_H
#define SW_CLI_DEPFILE_H

#include "cli.h"
#include "generate.h"
#include "spec.h"
#include "text.h"

/* Appends one rule, as compilers write it under -MD -MP: the files in cli->directory (or the targets of --dep-target)
 * depend on the description, its table files, the templates and the device file, as far as they are files; then each of
 * those as a target of its own, so that make goes on where one was removed. */
void cli_depfile(struct text *out, const struct cli *cli, const struct spec *spec, const struct generated *generated);

#endif
