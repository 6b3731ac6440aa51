/* Takes a kernel and one of its threads, runs it as C would, and tells the first thing it does that is an error. */
#ifndef SW_TRACE_H
#define SW_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "launch.h"
#include "spec.h"

/* Runs the threads of block `block` (linear number) in order until one faults, or does what sink->refuse refuses. Adds
 * a diagnostic at the element's attribute that names the thread and returns true; false where none faults within a
 * bounded number of steps. */
bool trace_block(const struct kernel *kernel, const struct launch_shape *shape, const struct launch_sink *sink,
                 uint64_t block, struct arena *arena, struct diags *diags);

#endif
