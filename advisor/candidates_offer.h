/* Takes an array, gives the candidates that are worth trying: which layouts with which parameters, under which plans.
 */
#ifndef SW_CANDIDATES_OFFER_H
#define SW_CANDIDATES_OFFER_H

#include "candidates.h"

/* The options of an array that apply, the default first, or those of one layout: `only` where that is not NULL. What
 * comes to the same bytes and instructions as one before is left out, and, where nobody asked for it, tiles in which
 * member arrays are not evenly spaced: code can be written for few of those. */
struct options candidates_offer(const struct spec *spec, const struct device *device, struct arena *arena,
                                const struct array *array, const struct layout *only);

#endif
