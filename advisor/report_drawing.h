/* Takes the view of `explain`, gives its pictures as boxes and texts with places: what the SVG template draws. */
#ifndef SW_REPORT_DRAWING_H
#define SW_REPORT_DRAWING_H

#include <jansson.h>

/* In units of a pixel, from the top left:
 *     {"width", "height", "panels": [{"y", "height", "title", "notes": [TEXT], "boxes": [BOX], "labels": [LABEL],
 *      "keys": [{"y", "class", "letter", "name", "says"}]}]}
 * A panel's places count from its own y. BOX has "x", "y", "width", "height", "class" (what it is: "wanted c3",
 * "bank poor", "frame"), "letter" with "letter_x" and "letter_y" where there is room for one, and "says", its tip.
 * LABEL has "x", "y", "text" and "class". One panel a group of `explain`, but for copies that do not collide and
 * pictures that an earlier panel has. The caller frees it. */
json_t *report_drawing(const json_t *explain);

#endif
