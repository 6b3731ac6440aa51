/* Takes finished text, gives it to standard output or puts it into a file: all of it, or nothing. */
#ifndef SW_CLI_OUTPUT_H
#define SW_CLI_OUTPUT_H

#include <stddef.h>

#include "arena.h"

enum output_status {
    OUTPUT_OK,
    OUTPUT_NO_PLACE, /* the path cannot be written to: its folder is missing, it is a folder, ... */
    OUTPUT_FAILED,   /* writing failed: no space, a closed pipe, ... */
    OUTPUT_CLOSED    /* standard output's reader went away; nobody is left to be told */
};

/* Makes sure that descriptors 0 to 2 are taken, so that no file opened later is mistaken for standard output, and that
 * a reader who went away, or a file that may not grow, is an error of writing, not a signal. To be called first. */
void output_prepare(void);

/* Writes to standard output where `path` is NULL. Else writes a file beside `path`, with the permissions of the
 * file there or those that the umask leaves, and renames it; what was there stays until then. What is no regular file
 * (/dev/null, a pipe) is written to directly. Unless OUTPUT_OK, *reason is a sentence. */
enum output_status output_write(const char *path, const char *bytes, size_t length, struct arena *arena,
                                const char **reason) __attribute__((warn_unused_result));

#endif
