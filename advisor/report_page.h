/* Takes the view of `report`, gives the page's texts: what templates/report.html.mustache is filled with. */
#ifndef SW_REPORT_PAGE_H
#define SW_REPORT_PAGE_H

#include <jansson.h>

/* Every number is a text as it is to be shown; "bar" is a width in percent. The caller frees it. */
json_t *report_page(const json_t *view);

#endif
