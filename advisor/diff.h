/* Takes two checked descriptions, gives the difference in what they mean: what was added, removed, moved, resized or
 * changed, and which kernel and access of the one is which of the other. Different texts of one meaning have none. */
#ifndef SW_DIFF_H
#define SW_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "spec.h"

enum change_kind { CHANGE_ADDED, CHANGE_REMOVED, CHANGE_CHANGED };

/* One property of what changed. NULL: the side has none, or the thing itself is not there. */
struct aspect {
    const char *what; /* "type", "offset", "size", "layout", "index", ...; static */
    const char *before, *after;
};

enum { ASPECTS_MAX = 10 };

struct change {
    enum change_kind kind;
    const char
        *of; /* what it is: "layout", "param", "struct", "field", "array", "table", "kernel", "for", "read", ... */
    const char *name;  /* "N"; an access: "particles.vel"; "" for an if or else */
    const char *owner; /* what it is part of: "struct Particle", "kernel drift"; "" for nothing */
    struct aspect aspects[ASPECTS_MAX];
    size_t aspect_count;
    struct span where_before, where_after; /* source == NULL: not there */
    /* What it bears on; those of the later description, of the earlier where it was removed; NULL where it does not. */
    const struct type *type;
    const struct array *array;
    const struct kernel *kernel;
    const struct statement *statement;
};

enum { NO_ACCESS = 0x7fffffff };

struct kernel_pair {
    const struct kernel *before, *after; /* NULL: added, removed */
    unsigned *access_after;              /* by number of an earlier access: which it is later, or NO_ACCESS */
};

struct difference {
    struct change *changes; /* params, types with their fields, tables, arrays, kernels with what is in them */
    size_t change_count, change_capacity;
    struct kernel_pair *kernels; /* in the later description's order, then those that were removed */
    size_t kernel_count;
};

/* NULL stands for a description that is not there. */
struct difference *diff_specs(const struct spec *before, const struct spec *after, struct arena *arena);

#endif
