/* Takes a description and a kernel, gives what the kernel loads to look things up in tables, counted like accesses:
 * they are no part of a score's counts, but of the time that is estimated. */
#ifndef SW_LOOK_UPS_H
#define SW_LOOK_UPS_H

#include <stddef.h>

#include "arena.h"
#include "device.h"
#include "score.h"
#include "spec.h"

/* One launch of the kernel with nothing but its look-ups: each table an array of 4-byte integers, a load wherever an
 * expression has one, in the arena. NULL where the kernel looks nothing up. */
const struct kernel_score *look_ups_score(const struct spec *spec, size_t kernel_number, const struct device *device,
                                          struct arena *arena);

/* A kernel's score with the accesses and arrays of such loads behind its own; the score itself where there are none. */
const struct kernel_score *look_ups_join(const struct kernel_score *score, const struct kernel_score *look_ups,
                                         struct arena *arena);

#endif
