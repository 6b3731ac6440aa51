/* Takes an access, the mapping of its array and a plan, gives the machine instructions that each thread issues. */
#ifndef SW_PLAN_H
#define SW_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "layout.h"
#include "notation.h"
#include "spec.h"

/* What a subscript adds to an instruction's address. */
struct instruction_term {
    unsigned subscript; /* into access->subscripts */
    uint64_t stride;    /* bytes */
};

/* One load, store or atomic of every active lane. For the record with index i its address, in bytes from the array's
 * first byte, is that of a placement {offset, stride} under the mapping, plus the terms. */
struct instruction {
    uint64_t offset;
    uint64_t stride;
    unsigned width;         /* bytes: 1, 2, 4, 8 or 16 */
    size_t leaf;            /* the leaf that it moves, or the first of those */
    uint64_t record_offset; /* bytes from the record's start in C's layout; a vector piece: in its stored record */
    unsigned record;        /* wide(4): its first byte belongs to record 4 g + this */
    bool joined;            /* its piece of the record is moved with another instruction: plan_join */
    const struct instruction_term *terms;
    size_t term_count;
};

/* An access as instructions; `update` has both, an access of one direction leaves the other empty. */
struct instructions {
    struct instruction *loads; /* reads; for atomics the atomic operations */
    size_t load_count;
    struct instruction *stores;
    size_t store_count;
    const struct instruction *issued; /* the stores that generated code issues after this access: plan_join */
    size_t issued_count;
};

/* The instructions of `access` by `plan`: PLAN_DIRECT, PLAN_VECTOR or PLAN_WIDE (a thread then does records 4 g to
 * 4 g + 3, and its index is that of record 4 g). A staged access's threads use the shared copy: stage.h. Where the plan
 * cannot serve the access, false and a sentence in *reason. */
bool plan_instructions(struct instructions *out, struct arena *arena, const struct mapping *mapping,
                       const struct access *access, const struct plan *plan, const char **reason)
    __attribute__((warn_unused_result));

/* The stores by `vector` of the pieces of one element that several accesses own together, in the arena. Returns how
 * many. What is in no piece is not among them. */
size_t plan_piece_stores(struct instruction **out, struct arena *arena, const struct mapping *mapping,
                         const struct access *const accesses[], size_t count);

/* The widest piece (2 to 16 bytes) that vector access may use on this group of the mapping; 1 where there is none. */
unsigned plan_vector_bytes(const struct mapping *mapping, const struct group *group);

/* The power of two (at most 16) that divides the address of every record's piece at `offset` bytes from the array's
 * first byte, `stride` bytes from its neighbour's, placed as `leaf` is. */
unsigned plan_alignment(const struct mapping *mapping, size_t leaf, uint64_t offset, uint64_t stride);

#endif
