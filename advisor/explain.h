/* Takes an access of a kernel and one option an array, gives the pictures of its requests: how each of its machine
 * instructions falls on sectors or banks over the launch, and one warp's lanes byte by byte. Counts nothing itself: it
 * looks on while score does. Under `shuffle` what a warp exchanges are instructions of their own, in shared memory. */
#ifndef SW_EXPLAIN_H
#define SW_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "request.h"
#include "score.h"
#include "spec.h"

enum {
    EXPLAIN_COSTS = WARP_LANES + 1, /* a request takes 1 to 32 sectors, or wavefronts */
    EXPLAIN_LOOPS_MAX = 8           /* loops, the outermost first, whose trips are told */
};

/* Where a request happens. */
struct explain_place {
    uint64_t block; /* linear number */
    unsigned warp;  /* in the block */
    uint64_t trips[EXPLAIN_LOOPS_MAX];
};

/* What a byte that a request moves is. */
enum explain_use {
    USE_WANTED,  /* a lane asks for it, and the access names it */
    USE_CARRIED, /* a lane asks for it as a part of a wider piece; the access does not name it */
    USE_OTHERS,  /* its sector comes along; another request of the group asks for it at the same place */
    USE_UNASKED  /* its sector comes along for nothing */
};
enum { EXPLAIN_USES = USE_UNASKED + 1 };

/* Bytes of a picture by what they belong to. */
struct explain_part {
    const char *name; /* a field's path without subscripts; the array's name where the record is one scalar */
    bool padding;     /* nobody's: of records, tiles or rows, or between arrays; `name` is then "padding" */
    bool outside;     /* before or after the array; `name` is then "outside" */
    uint64_t bytes[EXPLAIN_USES];
};

struct explain_byte {
    unsigned part; /* into picture->parts */
    enum explain_use use;
};

struct explain_sector {
    uint64_t address; /* bytes from the 256-byte boundary that the array begins at or after */
    uint32_t lanes;   /* those that touch it */
    struct explain_byte bytes[SECTOR_BYTES];
};

/* One request. */
struct explain_picture {
    struct explain_place at;
    struct counts counts;
    uint32_t active;
    int64_t address[WARP_LANES];    /* of active lanes: as explain_sector counts, or from bank 0 */
    struct explain_sector *sectors; /* global memory: ascending; none where explain_instruction.detailed is false */
    size_t sector_count;
    struct explain_part *parts;
    size_t part_count;
    struct request_pass passes[SHARED_PASSES_MAX]; /* shared memory */
    unsigned pass_count;
};

/* One machine instruction of the access, or a side of a copy that serves it. The cost of a request is its sectors in
 * global memory and its wavefronts in shared memory. */
struct explain_instruction {
    const struct access *access; /* NULL in a copy */
    const struct array *array;
    enum phase phase;
    bool stores, shared;
    bool tail;                             /* as struct score_request has it */
    unsigned number;                       /* likewise */
    const struct instruction *instruction; /* NULL in a copy */
    const char *what;                      /* "vel[0]", "pos[0] to mass", "" for a copy's words */
    unsigned width;                        /* bytes a lane */
    struct counts counts;                  /* sums over the launch */
    uint64_t requests[EXPLAIN_COSTS];      /* how many have each cost */
    struct explain_place first[EXPLAIN_COSTS];
    unsigned worst, typical; /* costs: the highest, and the one that most requests have */
    const struct statement *loops[EXPLAIN_LOOPS_MAX];
    unsigned loop_count;             /* of a copy 1: the copying loop, whose statement is NULL */
    struct explain_picture *picture; /* NULL where it has no request at the place that is shown */
    bool detailed;                   /* the picture has its bytes or banks: one of EXPLAIN_DETAILED in its group */
};

/* So many instructions of a group, the first and its focus, are told byte by byte. */
enum { EXPLAIN_DETAILED = 32 };

/* Requests that do one thing: the access's loads, its stores, or a side of a copy or of an exchange. */
struct explain_group {
    size_t first, count;       /* of explain->instructions */
    size_t focus;              /* the one that costs most beyond what it must, whose picture tells most */
    uint64_t sectors;          /* of all pictures of the group, one by one */
    uint64_t distinct_sectors; /* and together: less where instructions share sectors */
};

struct explain {
    const struct kernel *kernel;
    const struct access *access;
    bool chosen_as_worst;  /* nobody asked for this access: it costs most of the kernel's */
    const char *candidate; /* what is done there, canonical */
    uint64_t blocks;
    unsigned block_warps;
    bool wide;              /* a thread does four records */
    bool warp_asked;        /* the pictures are those of a warp that was asked for */
    struct score_window at; /* which; valid where warp_asked */
    struct explain_instruction *instructions;
    size_t instruction_count;
    struct explain_group *groups;
    size_t group_count;
    size_t focus; /* the group that costs most beyond what it must */
};

enum { EXPLAIN_WORST = -1 };

/* What to show, and where the words that ask for it are, for diagnostics. */
struct explain_query {
    struct quoted kernel; /* its name; text == NULL: the only one */
    int64_t access;       /* its number in the kernel, from 0, in document order; or EXPLAIN_WORST */
    struct span access_where;
    int64_t warp; /* its number in the launch, from 0; EXPLAIN_WORST: of each group the costliest */
    struct span warp_where;
};

/* NULL after a diagnostic [unknown-kernel, which-kernel, no-access, access-number, warp-number, ...]. Lives in the
 * arena. */
struct explain *explain_access(const struct spec *spec, const struct device *device, struct option *const *chosen,
                               const struct explain_query *query, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* A field's path without its subscripts, in the arena: "f[3].x" is "f.x"; the array's name where the record is a
 * scalar.
 */
const char *explain_field_name(struct arena *arena, const struct array *array, size_t leaf);

/* Passes beyond the fewest that these counts could do with: sectors above the ideal, and bank conflicts. */
uint64_t explain_excess(const struct counts *counts);

#endif
