#include "embedded_template.h"

#include <string.h>

#include "embedded.h"

const struct source *embedded_template(struct arena *arena, const char *name)
{
    const char *file = arena_printf(arena, "%s.mustache", name);
    for (size_t i = 0; i < embedded_template_count; i++)
        if (strcmp(embedded_templates[i].name, file) == 0)
            return source_from_bytes(arena, arena_printf(arena, "templates/%s", file),
                                     (const char *)embedded_templates[i].bytes, embedded_templates[i].length);
    return NULL;
}
