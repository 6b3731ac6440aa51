/* Takes a kernel, gives the memory accesses of its whole launch as events: a block's worth of lanes, whose indices are
 * one constant a thread plus what every block and loop trip of a box adds. Regular kernels come in few boxes however
 * large the grid; irregular ones block by block, on all cores. */
#ifndef SW_LAUNCH_H
#define SW_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "spec.h"

enum {
    LAUNCH_DIMS_MAX = 8, /* of a box: blockIdx.x, .y, .z, then loops */
    LAUNCH_THREADS_MAX = 1024,
    LAUNCH_TRIPS_MAX = 1 << 20,        /* of a loop with `next` or `while` */
    LAUNCH_WALKED_TRIPS_MAX = 1 << 20, /* of all loops that a block must walk trip by trip */
    LAUNCH_LOOPS_MAX = 64              /* nested in each other: reading allows no more elements */
};

/* What is launched. An ordinary launch has scale 1 and shift 0. For wide access a thread stands for `scale`
 * neighbouring ones: `thread` is scale * linear number + shift. Only threads first <= linear number < limit run. */
struct launch_shape {
    uint64_t block[3], grid[3];
    int64_t scale, shift;
    uint64_t first, limit;
};

struct launch_shape launch_shape_of(const struct kernel *kernel);

/* A value of every thread at every point q of the box: constant[thread] + sum over k of step[k] * q[k]. */
struct launch_value {
    const int64_t *constant;
    int64_t step[LAUNCH_DIMS_MAX];
};

/* A loop around an event, and its trip there, counted from 0: first + step * q[dim]. */
struct launch_loop {
    const struct statement *loop;
    uint64_t first, step;
    unsigned dim; /* of the box; 0: no dimension, the trip is `first` */
};

struct launch_event {
    const struct access *access;
    unsigned thread_count;                  /* of a block, or of neighbours in x that go together, one after another */
    const uint64_t *active;                 /* a bit a thread; at least one is set */
    uint64_t box;                           /* the same for events of one box, as it is run once */
    uint64_t region;                        /* the same for events of one straight run of statements (ifs included) */
    uint64_t count[LAUNCH_DIMS_MAX];        /* points of the box a dimension, at least 1; where 1 every step is 0 */
    uint64_t first_block[3], block_step[3]; /* blockIdx[d] = first_block[d] + block_step[d] * q[d] */
    const struct launch_value *index;       /* one a dimension of the array; inside the extent */
    const struct launch_value *subscripts;  /* one a subscript of the access; inside theirs */
    const struct launch_loop *loops;        /* around the access, the outermost first */
    unsigned loop_count;
};

/* What a sink says of an event. A fault: some active thread of the box's first block does what is an error (or of a
 * later block only: then the box comes again in smaller ones). */
enum launch_verdict { LAUNCH_TAKEN, LAUNCH_ENOUGH, LAUNCH_FAULT_FIRST, LAUNCH_FAULT_LATER };

/* Why one thread's access is an error; `problem` is a phrase, static or in an arena. */
struct launch_refusal {
    const char *id;
    struct span where;
    const char *problem;
};

/* Receives events; workers 0 to launch_workers() - 1 may call at once. Within a worker events may be taken back: after
 * mark(depth), events, rollback(depth) those since then are to be forgotten (they do happen, and come again in smaller
 * boxes). Marks nest: a mark of a depth makes those of its own and greater depths void. mark, rollback and refuse may
 * be NULL. refuse: the same judgement for one thread, with its index and subscripts, so that the first one can be
 * named. */
struct launch_sink {
    void *context;
    enum launch_verdict (*event)(void *context, unsigned worker, const struct launch_event *event);
    void (*mark)(void *context, unsigned worker, unsigned depth); /* depth < LAUNCH_DIMS_MAX */
    void (*rollback)(void *context, unsigned worker, unsigned depth);
    bool (*refuse)(void *context, const struct access *access, const int64_t index[], const int64_t subscripts[],
                   struct launch_refusal *out);
    bool several; /* an event may be of several neighbouring blocks: nothing that is told depends on which */
};

enum launch_status { LAUNCH_DONE, LAUNCH_STOPPED, LAUNCH_FAULT };

/* Runs the kernel under `shape`. LAUNCH_FAULT: a diagnostic names the element and the first thread that faults. */
enum launch_status launch_run(const struct kernel *kernel, const struct launch_shape *shape,
                              const struct launch_sink *sink, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

unsigned launch_workers(void);

#endif
