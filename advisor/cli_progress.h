/* Takes how far long work is, gives a line of it on the terminal: after a while, and gone when the work is done. */
#ifndef SW_CLI_PROGRESS_H
#define SW_CLI_PROGRESS_H

#include "progress.h"

struct cli_progress;

/* NULL where standard error is no terminal: nothing is shown then. `command`: what is at work. Owned by the caller, to
 * be given to cli_progress_end. */
struct cli_progress *cli_progress_start(const char *command);

/* To be told of the work; NULL for NULL. */
const struct progress *cli_progress_of(const struct cli_progress *progress);

/* Clears the line, so that messages and results begin on an empty one. NULL is fine. */
void cli_progress_end(struct cli_progress *progress);

#endif
