/* What the files of groups share: a kernel as the search sees it, and what a set of leaves gives to each. */
#ifndef SW_GROUPS_INTERNAL_H
#define SW_GROUPS_INTERNAL_H

#include <stdbool.h>

#include "groups.h"
#include "score.h"

/* A kernel that touches the array. `score` is what its estimate is made of: the entries of other arrays, then those of
 * the array, which are filled in for a partition at hand. */
struct groups_kernel {
    size_t number;
    const struct kernel *kernel;
    struct kernel_score score;
    size_t own, own_count;   /* the array's entries in score.accesses; in score.arrays it is the last */
    uint64_t blocks, sample; /* of the launch, and of the part of it that is searched */
};

struct groups_context {
    const struct spec *spec; /* with the grids of a sample */
    const struct device *device;
    const struct array *array;
    struct arena *arena;
    struct groups_kernel *kernels;
    size_t kernel_count;
};

/* What some leaves give to a kernel: an entry each as the kernel's own ones; NULL: it does not touch them. */
struct groups_share {
    struct counts *entries;
    struct array_score array;
};

/* Kernels and what arrays other than the one searched give to them. False where no kernel can be scored. */
bool groups_prepare(struct groups_context *out, const struct spec *spec, const struct device *device,
                    const struct array *array, struct option *const *others, struct arena *arena);

/* What the leaves flagged in `kept` give to each kernel under an option of the array, launched with all its threads or,
 * `wide`, a quarter. NULL where it cannot be scored. The result lives in `arena`, what it takes in the context's. */
struct groups_share *groups_shares(const struct groups_context *context, const struct option *option, const bool *kept,
                                   bool wide, struct arena *arena);

/* Empties the array's entries of the kernel's score; adds a share to them. */
void groups_clear(struct groups_kernel *kernel);
void groups_add(struct groups_kernel *kernel, const struct groups_share *share);

/* The option with the instructions for the leaves flagged in `kept` only. */
struct option *groups_only_leaves(const struct spec *spec, const struct option *option, const bool *kept,
                                  struct arena *arena);

#endif
