#include "view_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new_nocheck(object, key, value) != 0)
        abort();
}

void put_text(json_t *object, const char *key, const char *text)
{
    put(object, key, json_string(text));
}

void put_number(json_t *object, const char *key, uint64_t number)
{
    put(object, key, json_integer((json_int_t)number));
}

void put_flag(json_t *object, const char *key, bool flag)
{
    put(object, key, json_boolean(flag));
}

double view_rounded(double value)
{
    char digits[32];
    (void)snprintf(digits, sizeof(digits), "%.6g", value);
    return strtod(digits, NULL);
}

void put_real(json_t *object, const char *key, double value)
{
    put(object, key, isfinite(value) ? json_real(view_rounded(value)) : json_null());
}

void put_ratio(json_t *object, const char *key, double dividend, double divisor)
{
    if (divisor > 0)
        put_real(object, key, dividend / divisor);
}

void add(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0)
        abort();
}
