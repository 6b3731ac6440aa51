/* Takes the view of where an array's bytes are, gives a drawing of it: records byte by byte, tiles and arrays to scale.
 */
#ifndef SW_REPORT_BYTES_H
#define SW_REPORT_BYTES_H

#include <jansson.h>

/* A drawing of the form that report_drawing.h tells, one panel a group of the layout. The caller frees it. */
json_t *report_bytes(const json_t *bytes);

#endif
