/* Takes a description and one option an array, gives exact counts of what every access makes the GPU move. The heart:
 * knows no XML and no output. advisor/MODEL.md derives it. */
#ifndef SW_SCORE_H
#define SW_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "pattern.h"
#include "request.h"
#include "spec.h"
#include "traffic.h"

enum phase {
    PHASE_THREADS,
    PHASE_COPY_IN,
    PHASE_COPY_OUT,
    PHASE_EXCHANGE /* of requests only: through shared memory by `shuffle`; its counts are those of the access */
};

struct access_score {
    const struct access *access; /* for a phase: the array's first (copy-in) or last (copy-out) access in the kernel */
    const struct array *array;
    enum access_op op;      /* ACCESS_READ, ACCESS_WRITE or ACCESS_ATOMIC: an update makes two scores */
    enum array_space space; /* a staged access's threads use SPACE_SHARED; its phases are SPACE_GLOBAL */
    enum phase phase;
    const char *candidate; /* what is done there, canonical */
    unsigned tiled_axes;   /* coordinates of an element that fall into tile and place in it */
    struct counts counts;  /* a phase's wavefronts and conflicts are those of its shared side */
    struct counts joined;  /* of `counts`, what generated code does with another instruction: plan_join.h */
};

struct array_score {
    const struct array *array;
    uint64_t distinct_sectors;    /* the launch's footprint */
    uint64_t fill_sectors;        /* left partly written by the launch */
    uint64_t read_sectors;        /* distinct sectors that the launch reads */
    uint64_t written_sectors;     /* distinct sectors that it writes */
    uint64_t unread_fill_sectors; /* of fill_sectors, those that the launch does not read anyway */
    uint64_t read_pairs;          /* distinct aligned pairs of sectors of which one is read: what DRAM reads */
    uint64_t lines;               /* distinct lines touched */
    uint64_t written_blocks;      /* distinct blocks of 256 bytes with a written byte */
    uint64_t pages;               /* distinct pages touched, where places have no order (else of the first block) */
    struct run_traffic runs;      /* inputs of the estimate; zeros where traffic was not asked for */
};

struct kernel_score {
    const struct kernel *kernel;
    struct access_score *accesses; /* in document order, a copy-in before and a copy-out after the accesses it serves */
    size_t access_count;
    struct array_score *arrays; /* global arrays that the kernel touches, in the description's order */
    size_t array_count;
    uint64_t threads; /* that are launched: a quarter for wide(4) */
    uint64_t blocks;
    uint64_t active_warps; /* warps launched */
    uint64_t shared_bytes; /* a block: its shared arrays and staged copies */
    uint64_t barriers;     /* of all blocks, for their shared arrays; 0 where traffic was not asked for */
};

struct score {
    struct kernel_score *kernels;
    size_t kernel_count;
};

/* Counts one launch of a kernel for the arrays that have an option; `wide`: a quarter of the threads, each for four
 * records. `traffic`: the arrays' `runs` too. False after a diagnostic. */
bool score_kernel(struct kernel_score *out, const struct spec *spec, size_t kernel_number, const struct device *device,
                  struct option *const *chosen, bool wide, bool traffic, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* A machine instruction of a block's warps at all points of a box, as it is counted. */
struct score_request {
    const struct access *access; /* NULL in a copy */
    const struct array *array;
    enum phase phase;
    bool stores;                           /* false for atomics; of an exchange: to shared memory */
    bool tail;                             /* of the threads that do what wide access leaves over, a record each */
    unsigned number;                       /* among the loads, or the stores, of the access; 0 in a copy; of an
                                            * exchange that of what it serves, EXCHANGE_OF_STORE more if that stores */
    const struct instruction *instruction; /* NULL in a copy */
    const struct pattern *pattern;         /* its `shared` tells a copy's two sides apart */
    /* Point q of the pattern is in the block with blockIdx[d] = first_block[d] + block_step[d] * q[d], */
    uint64_t first_block[3], block_step[3];
    /* and on these trips of the loops around it: a loop's `dim` is one of the pattern. */
    const struct launch_loop *loops;
    unsigned loop_count;
    uint64_t copy_step; /* in a copy: which step of the copying loop, from 0 */
};

enum { EXCHANGE_OF_STORE = 1 << 24 };

/* Told of every request. Workers may call at once; mark and rollback are those of struct launch_sink. */
struct score_observer {
    void *context;
    void (*request)(void *context, unsigned worker, const struct score_request *request);
    void (*mark)(void *context, unsigned worker, unsigned depth);
    void (*rollback)(void *context, unsigned worker, unsigned depth);
};

/* One warp of a launch: the linear number of its block, and its own in the block. */
struct score_window {
    uint64_t block;
    unsigned warp;
};

/* Runs one launch of a kernel as score_kernel counts it, for an observer only. `window`: of all warps just that one,
 * and its block's copies; NULL: the whole launch. False after a diagnostic. */
bool score_observe(const struct spec *spec, size_t kernel_number, const struct device *device,
                   struct option *const *chosen, bool wide, const struct score_observer *observer,
                   const struct score_window *window, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* Counts one launch of every kernel. Returns NULL after a diagnostic: an index outside its extent, overflow, division
 * by zero, an endless loop ..., each naming the element and the first thread that does it. */
struct score *score_spec(const struct spec *spec, const struct device *device, struct option *const *chosen,
                         struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

/* As score_spec, with the arrays' `runs` too, which an estimate needs. */
struct score *score_spec_traffic(const struct spec *spec, const struct device *device, struct option *const *chosen,
                                 struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

#endif
