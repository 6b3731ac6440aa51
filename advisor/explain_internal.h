/* What explain's files share: the tally of a launch's requests by what each costs, and the picture of one. */
#ifndef SW_EXPLAIN_INTERNAL_H
#define SW_EXPLAIN_INTERNAL_H

#include "explain.h"

/* Tells instructions apart. In copies `access` is NULL. */
struct explain_key {
    const struct access *access;
    const struct array *array;
    enum phase phase;
    bool stores, shared, tail;
    unsigned number;
};

/* Requests of one cost. */
struct explain_cell {
    uint64_t requests;
    struct counts counts; /* sums */
    struct explain_place first;
};

/* One instruction over the launch. */
struct explain_series {
    struct explain_key key;
    const struct instruction *instruction;
    unsigned width;
    const struct statement *loops[EXPLAIN_LOOPS_MAX];
    unsigned loop_count;
    struct explain_cell cells[EXPLAIN_COSTS];
};

struct explain_tally {
    struct explain_series *series; /* in the order of the document: copy-in, loads, stores, copy-out */
    size_t count;
};

/* What a launch is run with. */
struct explain_launch {
    const struct spec *spec;
    const struct device *device;
    const struct kernel *kernel;
    size_t kernel_number;
    struct option *const *chosen;
    bool wide;
};

/* Runs the launch, or the warp of `window`, and sorts its requests by instruction and cost. False after a diagnostic.
 */
bool explain_tally(struct explain_tally *out, const struct explain_launch *launch, const struct score_window *window,
                   struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

/* Fills the pictures of a group at a place, as far as its instructions have a request there. False after a diagnostic.
 */
bool explain_pictures(struct explain_instruction *instructions, const struct explain_group *group,
                      const struct explain_launch *launch, const struct explain_place *at, struct arena *arena,
                      struct diags *diags) __attribute__((warn_unused_result));

bool explain_key_is(const struct explain_key *key, const struct score_request *request);
/* Blocks by number, then warps, then trips; negative where `a` comes first. */
int explain_place_compare(const struct explain_place *a, const struct explain_place *b);

/* What the bytes of a request's sectors are. `picture` has its lanes and counts; its sectors and parts are filled. */
void explain_sectors(struct explain_picture *picture, const struct explain_instruction *instruction,
                     const struct option *option, struct arena *arena);

#endif
