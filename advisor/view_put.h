/* Takes keys and values, gives objects of a view: what all views are built with. */
#ifndef SW_VIEW_PUT_H
#define SW_VIEW_PUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Setting a key takes the value over. As with an arena, no caller could mend a lack of memory: it ends the process. */
void put(json_t *object, const char *key, json_t *value);
void put_text(json_t *object, const char *key, const char *text);
void put_number(json_t *object, const char *key, uint64_t number); /* at most 2^63 - 1 */
void put_flag(json_t *object, const char *key, bool flag);
/* A number of six significant digits: what compilers contract or reorder shows only in the last of seventeen. Null
 * where it is not finite. */
void put_real(json_t *object, const char *key, double value);
/* A quotient of counts, absent where there is nothing to divide by. */
void put_ratio(json_t *object, const char *key, double dividend, double divisor);
void add(json_t *list, json_t *value);

/* What put_real stores. */
double view_rounded(double value);

#endif
