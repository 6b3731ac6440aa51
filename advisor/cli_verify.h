/* Takes the arguments of `verify`, gives predicted and measured counts side by side; a difference is a finding. */
#ifndef SW_CLI_VERIFY_H
#define SW_CLI_VERIFY_H

#include "cli_run.h"

enum exit_status cli_verify(struct run *run) __attribute__((warn_unused_result));

#endif
