/* Takes a kernel's statements, gives its steps: the accesses of a straight run that generated code does together, all
 * loads first, then the user's computation, then all stores. */
#ifndef SW_STEPS_H
#define SW_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "spec.h"

/* Whether an access has loads (an atomic has none); whether it changes memory (an atomic does). */
bool access_loads(const struct access *access);
bool access_stores(const struct access *access);

/* Whether two accesses name the same element of one array, by the same expressions. Within one step those have the same
 * values. */
bool access_same_element(const struct access *a, const struct access *b);

/* The accesses of the straight run that begins at `list`, lets passed over, in the arena; *after is the statement that
 * ends it. */
const struct access **steps_run(struct arena *arena, const struct statement *list, size_t *count,
                                const struct statement **after);

/* How many accesses of a straight run, from the first on, make one step: up to a load of an array that it stores. */
size_t steps_length(const struct access *const accesses[], size_t count);

/* The step of each access, by access->number, in the arena: steps are numbered from 0 in document order. */
unsigned *steps_of(struct arena *arena, const struct kernel *kernel);

#endif
