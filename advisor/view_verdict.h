/* Takes a ranking, gives the sentence that says what to do and how sure that is. */
#ifndef SW_VIEW_VERDICT_H
#define SW_VIEW_VERDICT_H

#include "device.h"
#include "rank.h"
#include "spec.h"
#include "text.h"

enum view_advice {
    ADVICE_ONE,       /* there is nothing to choose */
    ADVICE_KEEP,      /* the candidate that changes nothing is the best */
    ADVICE_NO_MATTER, /* ... ties with the best */
    ADVICE_CHANGE
};

/* Of a ranking with a candidate. */
enum view_advice view_advise(const struct ranking *ranking, size_t array_count);

/* Appends the sentence, without a full stop: "use soa/wide(4) for 'particles': estimated 1.9 times faster than
 * aos/direct; bound by DRAM; counts are exact, times are an estimate for h200 (calibrated)". */
void view_verdict(struct text *out, const struct spec *spec, const struct device *device,
                  const struct ranking *ranking);

#endif
