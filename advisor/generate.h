/* Takes a checked description and one option an array, gives files of code: templates rendered over the code view, and
 * written into a folder beside what is foreign there. */
#ifndef SW_GENERATE_H
#define SW_GENERATE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "source.h"
#include "spec.h"

/* What became of a file. With check_only nothing is written: a file that is missing or differs is stale. */
enum generated_state { GENERATED_RENDERED, GENERATED_WRITTEN, GENERATED_UNCHANGED, GENERATED_STALE };

struct generated_file {
    const char *name; /* "particles.cuh"; no folder */
    const char *text;
    size_t length;
    enum generated_state state;
};

struct generated {
    struct generated_file *files; /* in the order of the templates */
    size_t count;
    size_t stale; /* files in that state */
};

/* A user's templates in place of the default ones. The name of each, without folders, is F.SUFFIX.mustache; it makes
 * NAME.SUFFIX and is escaped for HTML where SUFFIX is html. Its partials are files beside it, or default ones. */
struct generate_templates {
    const struct source *const *sources; /* source->name is the path as given */
    size_t count;                        /* 0: the default templates */
};

/* The template of that file name that is compiled in ("kernels.hip.mustache"), for --template; NULL: there is none. */
const struct source *generate_shipped(struct arena *arena, const char *name);

/* Renders without writing. NULL after a diagnostic. The result lives in the arena. */
struct generated *generate_render(const struct spec *spec, const struct device *device, struct option *const *chosen,
                                  const struct generate_templates *templates, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

enum generate_status {
    GENERATE_DONE,
    GENERATE_NO_PLACE, /* the folder cannot be written to: a file is in its way, it is another's, ... */
    GENERATE_FAILED    /* writing failed: no space left, ... */
};

/* Writes the files into `directory` (made with its parents where it is missing), or with `check_only` compares them
 * with what is there. New content is written beside the old and renamed over it once all of it could be written; a file
 * that has it already keeps its time. Sets each file's state. Unless GENERATE_DONE after a diagnostic [output]. */
enum generate_status generate_write(struct generated *generated, const char *directory, bool check_only,
                                    struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

#endif
