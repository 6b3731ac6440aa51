/* What score's files share: the tally of one kernel's launch. */
#ifndef SW_SCORE_INTERNAL_H
#define SW_SCORE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "coverage.h"
#include "pattern.h"
#include "score.h"
#include "traffic.h"

/* What one worker has counted: an access has two slots, loads (and atomics) and stores, then an array has two, copy-in
 * and copy-out. */
struct tally {
    struct counts *counts;
    struct counts *joined;   /* of those, by slot, what is done with another instruction; behind `counts` in memory */
    struct traffic *traffic; /* an array; unused where traffic is not asked for */
    int64_t *address;        /* scratch: one a thread */
    int64_t *place;          /* scratch: PLACE_VECTORS times that */
    int64_t *scratch;
};

/* An instruction list and how it is used in the launch at hand. */
struct kernel_job {
    const struct spec *spec;
    const struct device *device;
    const struct kernel *kernel;
    size_t kernel_number;
    struct option *const *chosen;             /* an array; NULL: not counted */
    const struct instructions **instructions; /* an array: one a kernel access */
    struct coverage **coverages;              /* an array; NULL for shared ones and those not used */
    struct tally *tallies;                    /* one a worker */
    unsigned workers;
    size_t slot_count;
    bool traffic;                          /* also what the caches see of a block's straight runs */
    const struct score_observer *observer; /* NULL: nobody looks */
    const struct score_window *window;     /* NULL: the whole launch */
    bool tail;                             /* the launch at hand is that of what wide access leaves over */
    /* the first problem that counting itself finds */
    const char *problem_id;
    const char *problem;
    struct span problem_where;
};

enum { SLOT_LOADS, SLOT_STORES };

static inline size_t access_slot(const struct access *access, unsigned direction)
{
    return (size_t)access->number * 2 + direction;
}

static inline size_t phase_slot(const struct kernel_job *job, const struct array *array, unsigned direction)
{
    return (size_t)job->kernel->access_count * 2 + (size_t)array->number * 2 + direction;
}

/* Counts a pattern into a slot and adds its places to the array's footprint. False where that cannot be. */
bool job_add(struct kernel_job *job, unsigned worker, const struct array *array, size_t slot, bool stores,
             const struct pattern *pattern);

/* Runs the kernel under `shape` and tallies its events. False after a diagnostic or job_fail. */
bool job_run_launch(struct kernel_job *job, const struct launch_shape *shape, struct arena *arena, struct diags *diags);

/* Counts the copies of a staged array over all blocks. */
bool job_add_copies(struct kernel_job *job, const struct mapping *mapping, const struct stage *stage);

/* Remembers the first problem; always returns false. */
bool job_fail(struct kernel_job *job, const char *id, struct span where, const char *problem);

#endif
