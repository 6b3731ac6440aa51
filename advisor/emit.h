/* Takes a view, gives what the user reads: JSON, or text with aligned tables. Reads, computes nothing. */
#ifndef SW_EMIT_H
#define SW_EMIT_H

#include <jansson.h>
#include <stdbool.h>

#include "text.h"

/* Lines are kept within this many columns by leaving out what matters least. Never the terminal's width: output is
 * the same everywhere. */
enum { EMIT_WIDTH = 100 };

/* Appends any view as indented JSON with a line break at its end. */
void emit_json(struct text *out, const json_t *view);

/* Appends a view of `score` (view_score) as text: for each kernel a table of its accesses to global memory, one of
 * those to shared memory, and one of its arrays. `color`: with ANSI colours. */
void emit_score(struct text *out, const json_t *view, bool color);

/* Appends a view of `rank` (view_rank) as text: the table of candidates, the best one kernel by kernel, the verdict. */
void emit_rank(struct text *out, const json_t *view, bool color);

/* Appends a view of `verify` (view_verify) as text: for each kernel a table of its counts, and of each count that
 * differs the accesses that it is made of. */
void emit_verify(struct text *out, const json_t *view, bool color);

/* Appends a view of `generate` (view_generate) as text: the candidates that the code is for, and its files. */
void emit_generate(struct text *out, const json_t *view, bool color);

#endif
