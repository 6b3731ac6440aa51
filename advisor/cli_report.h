/* Takes the arguments of `report`, gives the page. */
#ifndef SW_CLI_REPORT_H
#define SW_CLI_REPORT_H

#include "cli_run.h"

enum exit_status cli_report(struct run *run) __attribute__((warn_unused_result));

#endif
