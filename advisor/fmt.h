/* Takes the text of a description, gives its canonical form: the same elements, attributes, comments and blank lines,
 * laid out in the one way that README.md describes. */
#ifndef SW_FMT_H
#define SW_FMT_H

#include "arena.h"
#include "source.h"
#include "text.h"

/* Lines are kept within so many columns where breaking a tag between its attributes can do it. */
enum { FMT_WIDTH = 120, FMT_INDENT = 2 };

/* Appends the canonical form of `source`, which read_spec must have read without an error. What is appended reads as
 * the same description, and is its own canonical form. */
void fmt_write(struct text *out, const struct source *source, struct arena *arena);

#endif
