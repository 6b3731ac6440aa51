/* Takes the arguments of `diff`, gives the difference of two descriptions in meaning, in bytes and in cost. */
#ifndef SW_CLI_DIFF_H
#define SW_CLI_DIFF_H

#include "cli_run.h"

enum exit_status cli_diff(struct run *run) __attribute__((warn_unused_result));

#endif
