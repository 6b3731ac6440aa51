/* What the rooms of the diff stage share: the run's state, changes as they are noted, and when expressions are the
 * same. */
#ifndef SW_DIFF_INTERNAL_H
#define SW_DIFF_INTERNAL_H

#include "diff.h"

/* A thing that went by another name: a field of the later `owner`, else owner == NULL. */
struct rename {
    const char *of; /* as in struct change; "struct" for unions too */
    const struct type *owner;
    const char *before, *after;
};

struct differ {
    struct arena *arena;
    const struct spec *before, *after; /* never NULL: what is not there is empty */
    struct difference *out;
    struct rename *renames;
    size_t rename_count, rename_capacity;
};

/* diff_renames.c: notes what was taken away under one name and is there, otherwise the same, under another. */
void diff_find_renames(struct differ *differ);
/* What a thing of one side is called on the other, as far as renames go. */
const char *diff_name_before(const struct differ *differ, const char *of, const struct type *owner, const char *after);
const char *diff_name_after(const struct differ *differ, const char *of, const struct type *owner, const char *before);
/* A path of the earlier record ("box.lo[1]") in the later names of its fields. */
const char *diff_path_after(const struct differ *differ, const char *path);

const struct type *diff_find_type(const struct spec *spec, const char *name);
const struct field *diff_find_field(const struct type *type, const char *name);
const struct param *diff_find_param(const struct spec *spec, const char *name);
const struct table *diff_find_table(const struct spec *spec, const char *name);
const struct array *diff_find_array(const struct spec *spec, const char *name);
const struct kernel *diff_find_kernel(const struct spec *spec, const char *name);
/* Whether two tables hold the same integers. */
bool diff_same_table(const struct table *before, const struct table *after);
/* What pins the array, in canonical notation; "auto" where nothing does. */
const char *diff_layout(struct arena *arena, const struct array *array);

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

/* One name for a type that has two: "int" for "int32". */
const char *diff_plain_type(const char *type);

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
