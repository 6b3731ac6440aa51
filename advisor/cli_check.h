/* Takes the arguments of `check`, gives what is wrong with each description, and which kernels cost more than before.
 */
#ifndef SW_CLI_CHECK_H
#define SW_CLI_CHECK_H

#include "cli_run.h"

enum exit_status cli_check(struct run *run) __attribute__((warn_unused_result));

#endif
