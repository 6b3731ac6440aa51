/* Takes signals that end the tool, lets each do so at once but while something is being written: then right after. */
#ifndef SW_CLI_SIGNALS_H
#define SW_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the process in an orderly way: the process
 * still dies by the signal. To be called once. */
void signals_prepare(void);

/* Dies by the signal, as if it had come now. */
void signals_die(int number) __attribute__((noreturn));

/* Between these a signal waits, so that no file is left half-written beside its place. Not to be nested. */
void signals_hold(void);
void signals_release(void);

/* Puts `text` on standard error when so many seconds have gone by, whatever the process is at then; it must outlive the
 * wait, and its line is to be cleared as above. NULL: no longer. */
void signals_say_later(const char *text, unsigned seconds);

/* Says whether a line stands on the terminal that is to be cleared when the process dies. */
void signals_line(bool stands);
bool signals_line_stands(void);

#endif
