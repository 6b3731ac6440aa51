/* Takes a JSON value and a JSON Schema (draft 2020-12), says whether the value is valid. Of the language it knows what
 * the schemas in advisor/share use, and refuses a schema that uses more. */
#ifndef SW_JSON_SCHEMA_H
#define SW_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "text.h"

/* Whether every part of a schema, used or not, is made of known keywords and every reference leads somewhere. Appends a
 * sentence to `fault` where not. */
bool json_schema_is_known(const json_t *schema, struct text *fault);

/* Whether a value is valid. Stricter than the language in one way: a key that the schema does not describe is a fault
 * too, so that schemas keep up with outputs. Appends the place and a sentence to `fault` where not. */
bool json_schema_accepts(const json_t *schema, const json_t *value, struct text *fault);

#endif
