/* Takes a name, gives the template of that name that is compiled in. */
#ifndef SW_EMBEDDED_TEMPLATE_H
#define SW_EMBEDDED_TEMPLATE_H

#include "arena.h"
#include "source.h"

/* templates/NAME.mustache, in the arena; NULL where there is none. */
const struct source *embedded_template(struct arena *arena, const char *name);

#endif
