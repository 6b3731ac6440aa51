/* Takes the words of a command line that is being typed, gives what its last word could become. The scripts for shells
 * (advisor/share/completions) ask the tool itself: `sectorwise --complete WORD...`. */
#ifndef SW_CLI_COMPLETE_H
#define SW_CLI_COMPLETE_H

#include "arena.h"
#include "text.h"

/* `words`, ended by NULL, are those after the tool's name, up to the one at the cursor, which may be "". Appends one
 * completion a line: whole words that begin with the last one. ":files" and ":folders" instead stand for the shell's
 * own completion of paths. Reads the description that the words name, for its params, arrays and kernels; one with
 * errors gives what was understood of it. Never fails: what is not known gives nothing. */
void cli_complete(struct text *out, struct arena *arena, char *const words[]);

#endif
