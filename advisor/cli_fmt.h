/* Takes the arguments of `fmt`, gives each description its canonical form, or says which lack it. */
#ifndef SW_CLI_FMT_H
#define SW_CLI_FMT_H

#include "cli_run.h"

enum exit_status cli_fmt(struct run *run) __attribute__((warn_unused_result));

#endif
