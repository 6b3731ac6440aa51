/* Takes two texts, gives their difference line by line, as `diff -u` writes it. */
#ifndef SW_UNIFIED_H
#define SW_UNIFIED_H

#include "arena.h"
#include "source.h"
#include "text.h"

/* Appends the unified difference, with three lines around each change; nothing where the texts are equal. The shortest
 * one, but for texts that differ in thousands of lines: those become one change from the first to the last. */
void unified_write(struct text *out, const struct source *before, const struct source *after, struct arena *arena);

#endif
