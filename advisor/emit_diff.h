/* Takes a view of `diff`, gives the text that a reviewer reads. */
#ifndef SW_EMIT_DIFF_H
#define SW_EMIT_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "text.h"

/* Appends a view of view_diff: a line a change, then what the kernels cost before and after. Nothing where the
 * descriptions are the same. `color`: with ANSI colours. */
void emit_diff(struct text *out, const json_t *view, bool color);
/* The same, or a line that says so where the descriptions are the same: git has already told its user that the file
 * differs. */
void emit_diff_for_git(struct text *out, const json_t *view, bool color);

/* "~ field id: moved from byte 28 to 44"; `sign`: with what it begins. */
const char *show_diff_change(struct arena *arena, const json_t *change, bool sign);

/* 12 and 16 as "+33.3 %"; "" where they are equal. */
const char *show_growth(struct arena *arena, double before, double after);

/* "1,024 -> 2,048", or one of them where they are equal. */
const char *show_counts(struct arena *arena, int64_t before, int64_t after);

#endif
