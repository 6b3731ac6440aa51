/* Takes the pictures of an access's requests, gives their view: "sectorwise-explain-1". */
#ifndef SW_VIEW_EXPLAIN_H
#define SW_VIEW_EXPLAIN_H

#include <jansson.h>

#include "device.h"
#include "explain.h"
#include "spec.h"

/* The caller frees it with json_decref. Counts are exact integers. Addresses are in bytes from the 256-byte boundary
 * that the array begins at or after, or from bank 0. Letters and colours tell fields apart: a field has the same in all
 * pictures of a view. */
json_t *view_explain(const struct spec *spec, const struct device *device, const struct explain *explain);

#endif
