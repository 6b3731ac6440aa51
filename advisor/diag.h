/* Takes findings with their places, gives them back as compiler-style messages: all of a run, in order. */
#ifndef SW_DIAG_H
#define SW_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "progress.h"
#include "source.h"
#include "text.h"

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

struct diag {
    enum diag_severity severity;
    const char *id; /* stable, kebab-case, static: "unknown-type" */
    const char *message;
    const char *note; /* the mend ("did you mean 'float'?"), or NULL */
    struct span where;
};

/* Zero-initialise with an arena. At most DIAG_MAX errors are kept; later ones are only counted. */
struct diags {
    struct arena *arena;
    const struct progress *progress; /* told how far long work is; NULL: nobody waits */
    struct diag *items;
    size_t count;
    size_t capacity;
    size_t error_count; /* also those not kept */
};

enum { DIAG_MAX = 64 };

/* Adds an error. Messages: lower case, problem first, subject in single quotes, no full stop. Text that came from a
 * description is printed through %s as is; diag_render makes control characters visible. */
void diag_error(struct diags *diags, const char *id, struct span where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(struct diags *diags, const char *id, struct span where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "cannot read 'path': reason" [unreadable-file], at the first place of a file of which there is nothing to show; "-"
 * is standard input. */
void diag_unreadable(struct diags *diags, const char *path, const char *reason);
/* Attaches a mend to the diagnostic added last. */
void diag_note(struct diags *diags, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds all of `more`, whose places and texts must outlive `diags`, bounds or not. */
void diag_append(struct diags *diags, const struct diags *more);

static inline bool diag_failed(const struct diags *diags)
{
    return diags->error_count > 0;
}

/* Writes every kept diagnostic to `out`:
 *     file:line:col: error: message [id]
 *        14 | source line
 *           |      ^~~~~~
 *     file:line:col: note: did you mean 'float'?
 * Without a source only "sectorwise: error: message [id]", without its bytes no line of it. `color`: with ANSI
 * colours. */
void diag_render(const struct diags *diags, struct text *out, bool color);

#endif
