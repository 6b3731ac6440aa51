/* Takes a ranking and the pictures of its kernels, gives the view of `report`: "sectorwise-report-1". */
#ifndef SW_VIEW_REPORT_H
#define SW_VIEW_REPORT_H

#include <jansson.h>

#include "explain.h"
#include "rank.h"
#include "view.h"

/* A kernel's access that is furthest from its ideal today, today and under the best candidate. */
struct view_pictures {
    const struct explain *today; /* NULL: today's candidate is not in the ranking, or is the best itself */
    const struct explain *best;  /* NULL: the kernel accesses no memory */
};

/* `pictures`: one a kernel. `top`: how many candidates are listed, 0: all; today's is among them anyway. NULL after a
 * diagnostic; the caller frees it. */
json_t *view_report(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                    const struct view_pictures *pictures, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
