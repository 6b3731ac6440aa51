/* Takes predicted and measured counts side by side, gives their view: "sectorwise-verify-1". */
#ifndef SW_VIEW_VERIFY_H
#define SW_VIEW_VERIFY_H

#include <jansson.h>

#include "device.h"
#include "rank.h"
#include "spec.h"
#include "verify.h"

/* The caller frees it with json_decref. `best` is the candidate that was compared. Differences are in percent of what
 * was predicted, null where that is nothing; counts are whole, a measured one the mean over its launches. */
json_t *view_verify(const struct spec *spec, const struct device *device, const struct ranked *best,
                    const struct verify *verify) __attribute__((warn_unused_result));

#endif
