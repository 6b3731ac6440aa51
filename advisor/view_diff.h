/* Takes the difference of two descriptions and their costs, gives the view of `diff`. */
#ifndef SW_VIEW_DIFF_H
#define SW_VIEW_DIFF_H

#include <jansson.h>

#include "cost.h"
#include "device.h"
#include "diff.h"
#include "source.h"

/* One of the two descriptions. */
struct view_side {
    const char *name;        /* of its file, as the user calls it */
    const struct spec *spec; /* NULL: it is not there */
    const struct cost *cost; /* NULL where spec is */
};

/* A tree that the caller frees with json_decref ("sectorwise-diff-1"). Its "same" is true where neither meaning nor
 * cost differs. At least one side is there. */
json_t *view_diff(const struct view_side *before, const struct view_side *after, const struct difference *difference,
                  const struct device *device) __attribute__((warn_unused_result));

enum { VIEW_SOURCES_MAX = 8 };

/* The lines of the texts in which places are told. Zero-initialise; the arena's memory is the caller's to free. */
struct view_places {
    struct arena arena;
    struct source_lines known[VIEW_SOURCES_MAX];
    size_t count;
};

struct source_position view_locate(struct view_places *places, struct span where);

/* A change as an object of a view. */
json_t *view_change(const struct change *change, struct view_places *places) __attribute__((warn_unused_result));

#endif
