/* Takes the notation of candidates ("aosoa(32)/direct"), gives its tree, and writes a tree back in canonical form. */
#ifndef SW_NOTATION_H
#define SW_NOTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

enum layout_kind {
    LAYOUT_AOS,
    LAYOUT_SOA,
    LAYOUT_AOSOA,
    LAYOUT_SPLIT,
    LAYOUT_ROW_MAJOR,
    LAYOUT_COLUMN_MAJOR,
    LAYOUT_PITCH,
    LAYOUT_TILED
};

struct split_group;

struct layout {
    enum layout_kind kind;
    uint64_t align;    /* aos(align=16): bytes; 0: the record's own */
    bool reorder;      /* aos(reorder): fields by alignment, so that holes between them go */
    uint64_t tile;     /* aosoa(32): records, a power of two */
    uint64_t pitch;    /* pitch(4096): bytes */
    uint64_t tiled[3]; /* tiled(32 32): records a dimension */
    unsigned tiled_count;
    const struct split_group *groups;
};

/* One group of split(...): its fields by name or path ("box.lo"), and its own layout. */
struct split_group {
    struct layout layout;
    bool named; /* the layout was written, not the default aos */
    const char *const *fields;
    size_t field_count;
    const struct split_group *next;
};

enum plan_kind { PLAN_DIRECT, PLAN_VECTOR, PLAN_SHUFFLE, PLAN_WIDE, PLAN_STAGED };

struct plan {
    enum plan_kind kind;
    unsigned records; /* wide(4): neighbouring records a thread */
    uint64_t pad;     /* staged(pad=1): units of padding a row of the shared copy */
    bool swizzle;     /* staged(swizzle) */
};

struct candidate {
    struct layout layout;
    struct plan plan;
    const char *text; /* canonical "LAYOUT/PLAN" */
};

/* Parses LAYOUT or LAYOUT/PLAN. Without a plan *has_plan is false and the plan is `direct`. Errors are located in
 * `text` ([notation], "did you mean"); then false is returned. Spaces are free where tokens meet. */
bool notation_parse(struct candidate *out, bool *has_plan, struct arena *arena, const struct quoted *text,
                    struct diags *diags) __attribute__((warn_unused_result));

/* Canonical text in the arena. */
const char *notation_layout(struct arena *arena, const struct layout *layout);
const char *notation_plan(struct arena *arena, const struct plan *plan);
/* Fills candidate->text from its layout and plan. */
void notation_complete(struct arena *arena, struct candidate *candidate);

bool notation_same_layout(const struct layout *a, const struct layout *b);

#endif
