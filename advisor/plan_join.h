/* Takes the instructions of a kernel's accesses to an array, tells which of them generated code does together. */
#ifndef SW_PLAN_JOIN_H
#define SW_PLAN_JOIN_H

#include "arena.h"
#include "plan.h"
#include "spec.h"

/* Where accesses of one step name the same element by `vector`, generated code moves each piece of it once. Marks what
 * is done with another instruction: loads of a piece that an access before has loaded, and of the stores inside a piece
 * that the step's accesses own together, all but the first. Pieces together are stored at the step's last store to
 * their group, which `issued` says; without any, `issued` are the stores. `instructions` are those of the kernel's
 * accesses to the mapping's array, by access->number. MODEL.md, section 2. */
void plan_join(struct instructions *instructions, struct arena *arena, const struct mapping *mapping,
               const struct kernel *kernel, const struct plan *plan);

#endif
