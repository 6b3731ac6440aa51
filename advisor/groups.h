/* Takes an array and what kernels do with its fields, gives the ways to split its record into groups of fields that are
 * worth ranking, and the counts that speak for each group. */
#ifndef SW_GROUPS_H
#define SW_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "spec.h"

enum { GROUPS_FOUND_MAX = 2 };

/* Searches partitions of the record's fields (MODEL.md says which and how); `others` has one option an array, what all
 * the other arrays are meanwhile. Gives at most GROUPS_FOUND_MAX options, none of them a plain aos or soa; 0 where no
 * split can be better than soa, or the record has no fields to group. Launches are searched by a sample of their
 * blocks, and without what they look up in tables: the options are to be scored before anything is said of them. */
size_t groups_search(struct option *found[GROUPS_FOUND_MAX], const struct spec *spec, const struct device *device,
                     const struct array *array, struct option *const *others, struct arena *arena);

/* What one kernel's accesses to one group count: exact, one launch. */
struct group_use {
    const struct kernel *kernel;
    uint64_t requests, sectors, unique_bytes;
    uint64_t sectors_apart; /* with each leaf an array of its own (soa/direct); 0: there is no soa */
};

struct group_evidence {
    const struct group *group;
    struct group_use *uses; /* kernels that touch the group, in the description's order */
    size_t use_count;
};

/* One entry a group of the option's mapping, in its order; NULL where a kernel cannot be scored so. */
struct group_evidence *groups_explain(const struct option *option, const struct spec *spec, const struct device *device,
                                      struct arena *arena);

#endif
