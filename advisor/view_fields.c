#include "view_fields.h"

#include <string.h>

#include "explain.h"

struct view_fields view_fields_of(const struct array *array, struct arena *arena)
{
    struct view_fields fields = {0};
    for (size_t leaf = 0; leaf < array->record->leaf_count && fields.count < VIEW_FIELDS_MAX; leaf++) {
        const char *name = explain_field_name(arena, array, leaf);
        /* Neighbours are mostly elements of one field. */
        if ((fields.count > 0 && strcmp(fields.names[fields.count - 1], name) == 0) ||
            view_field_number(&fields, name) < fields.count)
            continue;
        fields.names = arena_grow(arena, fields.names, fields.count, &fields.capacity, sizeof(*fields.names));
        fields.names[fields.count++] = name;
    }
    return fields;
}

size_t view_field_number(const struct view_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->names[i], name) == 0)
            return i;
    return VIEW_FIELDS_MAX;
}
