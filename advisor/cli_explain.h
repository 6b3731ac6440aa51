/* Takes the arguments of `explain`, gives the picture: for the terminal, as JSON, or as SVG. */
#ifndef SW_CLI_EXPLAIN_H
#define SW_CLI_EXPLAIN_H

#include "cli_run.h"

enum exit_status cli_explain(struct run *run) __attribute__((warn_unused_result));

#endif
