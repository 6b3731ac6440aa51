/* Takes a ranking, explains the worst access of each kernel today and under the best candidate, gives the view of
 * `report`. */
#ifndef SW_REPORT_VIEW_H
#define SW_REPORT_VIEW_H

#include <jansson.h>

#include "rank.h"

enum { REPORT_LISTED = 20 };

/* The view's ranking lists `top` candidates (0: REPORT_LISTED), and today's. NULL after a diagnostic; the caller frees
 * it. */
json_t *report_view(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                    struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

#endif
