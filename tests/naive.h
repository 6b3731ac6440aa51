/* Takes a checked description and one candidate an array and kernel, gives the counts of score.h by the slowest way
 * that is obviously right: every thread is run on its own, every byte goes into a set. Written from the design alone;
 * it shares with the tool the checked tree (spec.h), the evaluation of expressions, and nothing that counts. */
#ifndef SW_NAIVE_H
#define SW_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "notation.h"
#include "score.h"
#include "spec.h"

enum naive_fault_kind {
    NAIVE_FINE,
    NAIVE_EXPRESSION,  /* division by zero, a shift, overflow, a look-up: `expression` says which */
    NAIVE_INDEX,       /* an index outside the array's extent */
    NAIVE_SUBSCRIPT,   /* a subscript outside the member's count */
    NAIVE_STUCK,       /* a loop that does not advance */
    NAIVE_ENDLESS,     /* over 2^20 trips */
    NAIVE_MISALIGNED,  /* `bytes` at an address that is no multiple of it: told when no thread has faulted */
    NAIVE_PAST_END,    /* `bytes` that reach past the array's end: likewise */
    NAIVE_INAPPLICABLE /* the candidate cannot serve this kernel: `reason` */
};

/* The first thread that faults, and what it did. */
struct naive_fault {
    enum naive_fault_kind kind;
    enum expr_fault expression;
    const struct kernel *kernel;
    const struct statement *statement;
    uint64_t thread; /* linear over the grid */
    int64_t value;   /* the index, subscript, divisor, ... that was wrong */
    const char *reason;
};

/* One entry of a kernel, as struct access_score. */
struct naive_access {
    const struct access *access;
    const struct array *array;
    enum access_op op;
    enum array_space space;
    enum phase phase;
    struct counts counts;
    struct counts joined; /* of those, what is done with another instruction */
};

struct naive_array {
    const struct array *array;
    uint64_t distinct_sectors, fill_sectors, read_sectors, written_sectors;
};

struct naive_kernel {
    const struct kernel *kernel;
    struct naive_access *accesses; /* document order, a copy-in before and a copy-out after what it serves */
    size_t access_count;
    struct naive_array *arrays; /* global arrays that the kernel touches, in the description's order */
    size_t array_count;
    uint64_t threads; /* launched */
};

struct naive_score {
    struct naive_kernel *kernels;
    size_t kernel_count;
    struct naive_fault fault; /* kind != NAIVE_FINE: nothing else holds */
};

/* What is done with an array in a kernel. */
struct naive_use {
    const struct candidate *candidate; /* NULL: as described and direct */
    const int64_t (*origin_step)[3];   /* staged: how far, a dimension, the box moves with blockIdx.x, y, z. Any
                                          choice is right as long as the box holds all that is touched */
};

/* Counts one launch of every kernel. `uses[k * spec->array_count + a]` is for kernel k and the array of number a;
 * NULL: all as described and direct. */
struct naive_score *naive_score_spec(const struct spec *spec, const struct naive_use *uses, struct arena *arena);

/* The shared-memory rule on one instruction: 32 lanes, addresses in bytes. */
void naive_banks(uint64_t *wavefronts, uint64_t *conflicts, const bool active[32], const uint64_t address[32],
                 unsigned width);

/* The sector rule on one instruction in global memory. Adds to the sums. */
void naive_global(struct counts *counts, const bool active[32], const uint64_t address[32], unsigned width);

/* Sectors that an atomic instruction passes on, lanes with the same value one after another. */
uint64_t naive_atomic_sectors(const bool active[32], const uint64_t address[32]);

#endif
