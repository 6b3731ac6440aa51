/* Takes a ranking, gives the sentence that says what to do and how sure that is. */
#ifndef SW_VIEW_VERDICT_H
#define SW_VIEW_VERDICT_H

#include "device.h"
#include "rank.h"
#include "spec.h"
#include "text.h"

/* Appends the sentence, without a full stop: "use soa/wide(4) for 'particles': estimated 1.9 times faster than
 * aos/direct; bound by DRAM; counts are exact, times are an estimate for h200 (calibrated)". */
void view_verdict(struct text *out, const struct spec *spec, const struct device *device,
                  const struct ranking *ranking);

#endif
