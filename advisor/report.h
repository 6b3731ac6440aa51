/* Takes views, gives pages: the picture of a request as SVG, a report as HTML. Templates (templates/ *.mustache) say
 * what they look like; what they are filled with is escaped. */
#ifndef SW_REPORT_H
#define SW_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "arena.h"
#include "diag.h"
#include "text.h"

/* Appends the view of `explain` as an SVG document. False after a diagnostic, `out` then being as it was. */
bool report_svg(struct text *out, const json_t *explain, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* Appends the view of `report` as one HTML page that needs nothing else: no script, no other file, no network. False
 * after a diagnostic, `out` then being as it was. */
bool report_html(struct text *out, const json_t *report, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
