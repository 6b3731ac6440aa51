/* Takes an array, gives its fields a number each, by which views give a field one colour wherever it is shown. */
#ifndef SW_VIEW_FIELDS_H
#define SW_VIEW_FIELDS_H

#include <stddef.h>

#include "arena.h"
#include "spec.h"

/* A field is a leaf's path without its subscripts, as explain_field_name has it; in the order of the record. */
struct view_fields {
    const char **names;
    size_t count, capacity;
};

/* At most VIEW_FIELDS_MAX of them are numbered: nobody tells more apart. */
enum { VIEW_FIELDS_MAX = 512 };

struct view_fields view_fields_of(const struct array *array, struct arena *arena);
/* VIEW_FIELDS_MAX for one that has no number. */
size_t view_field_number(const struct view_fields *fields, const char *name);

#endif
