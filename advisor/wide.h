/* Takes a kernel, says whether four neighbouring threads of it can be one thread that does four neighbouring records.
 */
#ifndef SW_WIDE_H
#define SW_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "launch.h"
#include "spec.h"

enum { WIDE_RECORDS = 4 };

/* True where every index of the kernel is `thread` plus a multiple of 4 and no test, loop or table depends on the
 * thread. Else false and a sentence in *reason. */
bool wide_serves(const struct kernel *kernel, struct arena *arena, const char **reason);

/* The launch of a quarter of the threads, each for records 4 g to 4 g + 3. */
struct launch_shape wide_shape(const struct kernel *kernel);
/* The threads after them that do what is left of a number of threads that 4 does not divide, a record each. Returns
 * false where nothing is left. */
bool wide_tail_shape(struct launch_shape *out, const struct kernel *kernel);

#endif
