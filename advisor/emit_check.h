/* Takes a view of `check`, gives text, or SARIF for those who show findings beside the code. */
#ifndef SW_EMIT_CHECK_H
#define SW_EMIT_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "arena.h"
#include "text.h"

/* Appends a view of view_check: each kernel that costs more with the access that does and why, then a summary.
 * Diagnostics are left to diag_render. `color`: with ANSI colours. */
void emit_check(struct text *out, const json_t *view, bool color);

/* Appends it as a log of SARIF 2.1.0, one run: a result for each diagnostic, and for each access that costs more.
 * `version`: the tool's. */
void emit_sarif(struct text *out, const json_t *view, const char *version);

/* "read particles.vel" */
const char *show_check_access(struct arena *arena, const json_t *access);
/* "3,145,728 -> 4,194,304 sectors (+33.3 %)" */
const char *show_check_growth(struct arena *arena, const char *measure, double before, double after);

#endif
