/* What the rooms of the diff stage share: the run's state, changes as they are noted, and when expressions are the
 * same. */
#ifndef SW_DIFF_INTERNAL_H
#define SW_DIFF_INTERNAL_H

#include "diff.h"

struct differ {
    struct arena *arena;
    const struct spec *before, *after; /* never NULL: what is not there is empty */
    struct difference *out;
};

/* The change of a thing by its name; NULL: that side lacks it. One of both is there. */
struct change diff_start(const char *of, const struct name *before, const struct name *after);
/* Adds a property to `change` where the two texts differ. */
void diff_aspect(struct change *change, const char *what, const char *before, const char *after);
void diff_number(struct differ *differ, struct change *change, const char *what, uint64_t before, uint64_t after);
/* Notes an addition or a removal, and a change that has an aspect. */
void diff_commit(struct differ *differ, const struct change *change);

/* diff_types.c */
void diff_types(struct differ *differ);
/* "float[3]" */
const char *diff_field_type(struct differ *differ, const struct field *field);

/* diff_expr.c */

/* One side of a pair of kernels: what its variables stand for. */
struct variables {
    const struct kernel *kernel;
    const struct expr **lets; /* by slot: a let's value; NULL: a loop variable */
};

struct scopes {
    struct variables before, after;
    unsigned *slot_after; /* by slot of the earlier kernel: which it is in the later, or NO_SLOT */
};

enum { NO_SLOT = 0x7fffffff };

/* Whether two expressions mean the same: written alike but for white space, parentheses and words, or of the same value
 * with lets and constants put in. Either may be NULL, which then stands for the number `absent`. */
bool diff_same(const struct scopes *scopes, const struct expr *before, const struct expr *after, int64_t absent);

/* diff_body.c: notes what differs in a pair of kernels that both are there; fills pair->access_after. */
void diff_bodies(struct differ *differ, struct kernel_pair *pair);
/* "particles.vel", "particles (pos mass)" */
const char *diff_access_name(struct arena *arena, const struct access *access);

#endif
