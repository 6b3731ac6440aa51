/* Takes a Mustache template and a JSON value (the view), gives text: the Mustache specification whole, core and
 * inheritance and dynamic names. Knows nothing of layouts. Third-party data types seen here: jansson's json_t. */
#ifndef SW_TEMPLATE_H
#define SW_TEMPLATE_H

#include <jansson.h>
#include <stdbool.h>

#include "diag.h"
#include "source.h"
#include "text.h"

/* Finds the partial or parent called `name` (a C string of a tag, checked for nothing). Returns NULL where there is
 * none. The result must live as long as the rendering and as the diagnostics, which point into it. Asked once a name
 * and rendering. */
typedef const struct source *template_find(void *context, const char *name);

struct template_options {
    bool escape_html;    /* {{x}} is HTML-escaped (& < > "); {{{x}}} and {{&x}} never are */
    bool strict;         /* unknown names and missing partials are errors, not the empty string */
    template_find *find; /* NULL: there are no partials */
    void *find_context;
};

/* Renders `source` over `view` and appends to `out`. Errors (syntax, unclosed sections, unbounded recursion of
 * partials, output beyond 256 MiB, strict mode's findings) are located in the template, all syntax errors of a
 * template in one run; then false is returned and `out` is as it was before.
 *
 * Values: integers print in decimal, reals as jansson's shortest form that reads back; booleans print true/false; null
 * prints nothing; lists and objects print as compact JSON. False for a section are false, null, the empty list and,
 * outside strict mode, an unknown name; 0 and "" are true.
 *
 * White space: a standalone tag takes its line with it; the indentation of a standalone partial is put before each
 * line of it, blank ones included; blocks are indented as their place in the parent says (specification, inheritance).
 *
 * Limits: 200 sections nested in a text, 100 partials nested in each other, 1000 of both together, a million tags a
 * text, names of 255 bytes, and a bound on steps (2^28) for templates that loop long and print nothing. */
bool template_render(struct text *out, const struct source *source, const json_t *view,
                     const struct template_options *options, struct diags *diags) __attribute__((warn_unused_result));

#endif
