/* Takes an array under a candidate, gives the view of where its bytes are: records, tiles or arrays of leaves, with
 * their holes. */
#ifndef SW_VIEW_BYTES_H
#define SW_VIEW_BYTES_H

#include <jansson.h>

#include "candidates.h"

/* {"array", "candidate", "records", "record_bytes": C's, "memory_bytes", "groups": [{"layout", "unit":
 * "record|tile|array", "unit_bytes", "unit_records", "offset", "runs": [{"from", "bytes", "field", "color", "padding",
 * "records"}]}]}. Runs are in order and fill the unit; "color" is absent where it is padding. The caller frees it. */
json_t *view_bytes(const struct option *option);

#endif
