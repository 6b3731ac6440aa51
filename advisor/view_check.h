/* Takes what became of each description that `check` looked at, gives the view of `check`. */
#ifndef SW_VIEW_CHECK_H
#define SW_VIEW_CHECK_H

#include <jansson.h>

#include "device.h"
#include "diag.h"
#include "diff.h"
#include "gate.h"

enum checked_status {
    CHECKED_FINE,
    CHECKED_REGRESSION, /* it has kernels that cost more than before */
    CHECKED_INVALID,    /* an error of meaning */
    CHECKED_UNREADABLE  /* it cannot be read or parsed */
};

struct view_checked {
    const char *name;
    enum checked_status status;
    const struct diags *diags;
    const char *against;                 /* what it was compared with; NULL: nothing */
    const struct difference *difference; /* this and `gate`: NULL where it was not compared */
    const struct gate *gate;
};

/* A tree that the caller frees with json_decref ("sectorwise-check-1"). Columns count bytes, as in messages, and
 * characters count characters; both from 1, ends exclusive. */
json_t *view_check(const struct view_checked *files, size_t count, const struct device *device, double allow)
    __attribute__((warn_unused_result));

#endif
