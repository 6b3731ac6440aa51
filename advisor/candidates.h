/* Takes a checked description, gives for each array the candidates (layout and plan) that apply to it, and the choice
 * that the command line or the description made. */
#ifndef SW_CANDIDATES_H
#define SW_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "device.h"
#include "diag.h"
#include "layout.h"
#include "notation.h"
#include "plan.h"
#include "spec.h"
#include "stage.h"

/* How a kernel gets at an array under a candidate: a plan serves the kernels it can, the others go `direct` (where a
 * shuffle cannot, `vector` may). */
struct usage {
    const struct kernel *kernel;
    struct candidate effective; /* what is really done there: "soa/direct" in a gather beside "soa/wide(4)" */
    bool used;                  /* the kernel touches the array at all */
    const struct stage *stage;  /* effective.plan staged: its geometry */
    uint64_t
        exchange_bytes; /* effective.plan shuffle: of shared memory, for the warps of a block; arrays use it in turn */
    struct instructions *instructions; /* an access of the kernel, by access->number; unused ones are empty */
};

/* A candidate that applies to an array, with its bytes' places and its instructions worked out. */
struct option {
    const struct array *array;
    struct candidate candidate;
    const struct mapping *mapping;
    struct usage *usages; /* one a kernel, in the description's order */
};

/* The options of one array; the first is the default (aos/direct or row-major/direct). */
struct options {
    const struct array *array;
    struct option **items;
    size_t count;
    bool open; /* neither pinned nor restricted: others may join */
};

/* A --candidate ARRAY=LAYOUT/PLAN of the command line (or ARRAY=LAYOUT: its plans vary). */
struct restriction {
    const char *text;
};

/* All options of every array: one struct options an array, in order. A pinned array (its `layout` attribute) and a
 * restricted one keep what was asked (several restrictions of one array: all of them), and an inapplicable one asked
 * for is an error that gives the reason [inapplicable-candidate]. Returns NULL after a diagnostic. */
struct options *candidates_enumerate(const struct spec *spec, const struct device *device, struct arena *arena,
                                     const struct restriction *restrictions, size_t restriction_count,
                                     struct diags *diags) __attribute__((warn_unused_result));

/* One option an array, for `score`: as described (the default) unless pinned or chosen. A layout chosen without a plan
 * takes `direct`; two different ones of an array are an error [two-candidates]. NULL after a diagnostic. */
struct option **candidates_choose(const struct spec *spec, const struct device *device, struct arena *arena,
                                  const struct restriction *restrictions, size_t restriction_count, struct diags *diags)
    __attribute__((warn_unused_result));

/* Whether the options chosen for all arrays can go together in one kernel, and whether its threads are then a quarter,
 * each for four records. False and a sentence in *reason where they cannot. NULLs among `chosen` are passed over. */
bool candidates_agree(bool *wide, const struct spec *spec, size_t kernel_number, struct option *const *chosen,
                      struct arena *arena, const char **reason) __attribute__((warn_unused_result));

/* Works a candidate out for an array. NULL and a sentence in *reason where it does not apply. */
struct option *candidate_apply(const struct spec *spec, const struct array *array, const struct candidate *candidate,
                               const struct device *device, struct arena *arena, const char **reason)
    __attribute__((warn_unused_result));

#endif
