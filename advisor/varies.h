/* Takes a kernel, tells what its lets and loop variables can differ with. */
#ifndef SW_VARIES_H
#define SW_VARIES_H

#include <stdbool.h>

#include "arena.h"
#include "spec.h"

/* The flags EXPR_VARIES_... of each slot of the kernel's lets and loop variables, as expr_varies takes them, in the
 * arena. */
unsigned *varies_of(struct arena *arena, const struct kernel *kernel);

/* Whether the threads of a block that do the access together all name one element: no index has a thread's number in
 * it. `slot_varies` is of the access's kernel. */
bool varies_not_with_thread(const struct access *access, const unsigned *slot_varies);

#endif
