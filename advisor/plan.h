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

enum { EXCHANGE_BYTES_MAX = 128 };

/* What the lanes of a warp move together of each of their records: pieces of one width. Instruction number i of them
 * moves pieces 32 i to 32 i + 31 of all records' in the order of lanes: lane l has piece (32 i + l) mod count of the
 * record of lane (32 i + l) / count. Only a warp with all lanes active does; in others each lane moves its own. */
struct exchange {
    unsigned count;          /* pieces of a record: at least 2, of EXCHANGE_BYTES_MAX bytes at most */
    const uint64_t *offsets; /* of each piece in the stored record, ascending */
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
    const struct exchange *exchange; /* shuffle: the pieces that this is one of; NULL: each lane moves its own */
    unsigned piece;                  /* which one it is */
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

/* The instructions of `access` by `plan`: PLAN_DIRECT, PLAN_VECTOR, PLAN_SHUFFLE or PLAN_WIDE (a thread then does
 * records 4 g to 4 g + 3, and its index is that of record 4 g). A staged access's threads use the shared copy: stage.h.
 * Where the plan cannot serve the access, false and a sentence in *reason. */
bool plan_instructions(struct instructions *out, struct arena *arena, const struct mapping *mapping,
                       const struct access *access, const struct plan *plan, const char **reason)
    __attribute__((warn_unused_result));

/* The stores by `vector` of the pieces of one element that several accesses own together, in the arena. Returns how
 * many. What is in no piece is not among them. */
size_t plan_piece_stores(struct instruction **out, struct arena *arena, const struct mapping *mapping,
                         const struct access *const accesses[], size_t count);
/* The bytes of shared memory through which a warp moves the pieces of an exchange: a row of them a lane, padded to an
 * odd number of pieces; 0 where the instruction has none. */
uint64_t plan_exchange_bytes(const struct instruction *instruction);

/* The widest piece (2 to 16 bytes) that vector access may use on this group of the mapping; 1 where there is none. */
unsigned plan_vector_bytes(const struct mapping *mapping, const struct group *group);

/* The power of two (at most 16) that divides the address of every record's piece at `offset` bytes from the array's
 * first byte, `stride` bytes from its neighbour's, placed as `leaf` is. */
unsigned plan_alignment(const struct mapping *mapping, size_t leaf, uint64_t offset, uint64_t stride);

#endif
