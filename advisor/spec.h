/* Holds a layout description: the plain tree that `read` fills with text and places and `check` completes with
 * resolved names, sizes and numbers. Everything lives in the run's arena; nothing here is freed on its own. */
#ifndef SW_SPEC_H
#define SW_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "expr.h"
#include "source.h"

enum { SPEC_DIMS_MAX = 3, FIELD_DIMS_MAX = 8, LEAVES_MAX = 65536, VECTOR_BYTES_MAX = 16 };

/* An identifier and its place. */
struct name {
    const char *text;
    struct span where;
};

struct param {
    struct name name;
    struct quoted value; /* from -D: its source is "<command line>" */
    struct expr *expr;   /* check fills this and what follows */
    int64_t number;
    int state; /* check's own: resolution in progress or done */
};

enum type_kind { TYPE_SCALAR, TYPE_VECTOR, TYPE_STRUCT, TYPE_UNION };

enum scalar_kind {
    SCALAR_BOOL,
    SCALAR_CHAR,
    SCALAR_INT8,
    SCALAR_UINT8,
    SCALAR_INT16,
    SCALAR_UINT16,
    SCALAR_HALF,
    SCALAR_BFLOAT16,
    SCALAR_INT32,
    SCALAR_UINT32,
    SCALAR_INT,
    SCALAR_UNSIGNED,
    SCALAR_FLOAT,
    SCALAR_INT64,
    SCALAR_UINT64,
    SCALAR_DOUBLE
};

struct type;

struct field {
    struct name name;
    struct quoted type_text, count_text, align_text;
    const struct type *type; /* check fills this and what follows */
    unsigned dim_count;      /* 0: not an array member (no count, or count 1 left out) */
    uint64_t dims[FIELD_DIMS_MAX];
    uint64_t count;  /* the product of dims, 1 without */
    uint64_t align;  /* bytes; after packing and `align` */
    uint64_t offset; /* bytes from the start of the struct; 0 in a union */
};

struct type {
    enum type_kind kind;
    struct name name;                      /* as the description writes it: "float", "float4", "Particle" */
    uint64_t size;                         /* bytes, C's sizeof */
    uint64_t align;                        /* bytes, C's _Alignof */
    enum scalar_kind scalar;               /* TYPE_SCALAR, and the components of TYPE_VECTOR */
    unsigned components;                   /* TYPE_VECTOR: 1 to 4; one of 3 is three scalars to a GPU */
    struct quoted align_text, packed_text; /* struct and union */
    bool packed;
    struct field *fields;
    size_t field_count;
    struct type *next; /* the description's types in document order */
    int state;         /* check's own */
};

/* A leaf: the smallest part that a layout places on its own: a scalar, a vector of 1, 2 or 4 components, a union. */
struct leaf {
    const char *path; /* from the record: "pos[0]", "box.lo.x"; "" when the record itself is the leaf */
    const struct type *type;
    uint64_t offset; /* bytes from the start of the record in C's layout */
    uint64_t size;   /* bytes */
    uint64_t align;  /* bytes; its natural alignment even in a packed record: type->align */
};

/* A type flattened. Leaves are in declaration order. */
struct record {
    const struct type *type;
    struct leaf *leaves;
    size_t leaf_count;
    const bool *owned; /* a flag a byte of the record: false where no leaf is (padding) */
};

enum array_space { SPACE_GLOBAL, SPACE_SHARED };

struct array {
    struct name name;
    struct quoted of_text, extent_text, space_text, align_text, offset_text, pitch_text, layout_text, conversions_text;
    const struct record *record;    /* check fills this and what follows */
    unsigned dim_count;             /* 1 to 3 */
    uint64_t extent[SPEC_DIMS_MAX]; /* records; the last is fastest; unused ones are 1 */
    struct expr *extent_exprs[SPEC_DIMS_MAX];
    uint64_t records; /* the product */
    enum array_space space;
    uint64_t align;  /* bytes, a power of two */
    uint64_t offset; /* bytes past the alignment at which the array begins */
    uint64_t pitch;  /* bytes of the innermost row of records; 0: rows are dense */
    int64_t conversions;
    unsigned number; /* its place among spec->arrays */
    struct array *next;
};

struct table {
    struct name name;
    struct quoted extent_text, file_text, values_text, range_text, seed_text;
    struct quoted content; /* integers as text inside the element; text == NULL: none */
    uint64_t extent;       /* check fills this and what follows */
    struct expr *extent_expr;
    const char *path; /* of the file that was read, as it was opened; NULL: there is none */
    int64_t *data;
    uint32_t *narrow;    /* the same in half the memory; NULL where not all are 0 to UINT32_MAX, or they are few */
    int64_t least, most; /* over data; 0 when it is empty */
    struct table *next;
};

enum access_op { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE, ACCESS_ATOMIC };

/* A subscript with an expression in a field path ("f[q]"): the selection moves with its value. */
struct subscript {
    struct expr *index;
    uint64_t extent;       /* values 0 to extent - 1 are inside */
    uint64_t stride_bytes; /* between neighbouring elements in C's layout */
    size_t stride_leaves;  /* between neighbouring elements among the record's leaves; 0 inside one leaf (a union) */
};

/* One scalar, vector or union piece that an access moves; places are those with every subscript at 0. */
struct selected {
    size_t leaf;                        /* into record->leaves */
    uint64_t inner_offset;              /* bytes into that leaf (a union's member, a vector's component) */
    uint64_t size;                      /* bytes: 1, 2, 4, 8 or 16 */
    const struct subscript *subscripts; /* those of its path */
    size_t subscript_count;
};

struct access {
    enum access_op op;
    struct span where; /* the element's tag name */
    size_t line;       /* of the element, from 1 */
    struct quoted array_text, field_text, index_text, bytes_text;
    const struct array *array;         /* check fills this and what follows */
    struct expr *index[SPEC_DIMS_MAX]; /* one a dimension of the array */
    uint64_t bytes;                    /* 0: the plan decides */
    struct selected *selected;         /* in declaration order, nothing twice */
    size_t selected_count;
    struct subscript *subscripts; /* of all paths */
    size_t subscript_count;
    bool whole;      /* the whole element: no field attribute */
    unsigned number; /* its place in document order, from 0 */
};

enum statement_kind { STATEMENT_LET, STATEMENT_FOR, STATEMENT_IF, STATEMENT_ACCESS };

struct statement {
    enum statement_kind kind;
    struct span where;                                                  /* the element's tag name */
    struct name name;                                                   /* let: its name; for: its variable */
    struct quoted value_text;                                           /* let */
    struct quoted from_text, to_text, while_text, step_text, next_text; /* for */
    struct quoted test_text;                                            /* if */
    unsigned slot;                                  /* let, for: check fills this and what follows */
    struct expr *value;                             /* let */
    struct expr *from, *to, *test, *step, *advance; /* for: `to` or `test`; `step` or `advance` (next); absent: NULL */
    struct expr *condition;                         /* if */
    struct access *access;
    struct statement *body;      /* for: the loop's; if: where the test holds */
    struct statement *otherwise; /* if: the else side, NULL without one */
    bool has_else;
    struct statement *next;
};

struct kernel {
    struct name name;
    struct quoted block_text, grid_text, calls_text, flops_text, registers_text;
    uint64_t block[3], grid[3];                  /* x, y, z; check fills this and what follows */
    struct expr *block_exprs[3], *grid_exprs[3]; /* NULL: left out, 1 */
    uint64_t block_threads;                      /* 1 to 1024 */
    uint64_t block_count;                        /* the product of grid */
    int64_t calls, flops, registers;
    struct statement *body;
    unsigned slot_count; /* of lets and loop variables, each its own slot */
    const char **slot_names;
    struct access **accesses; /* in document order, depth first, the test's side before the else side */
    unsigned access_count;
    struct kernel *next;
};

struct spec {
    const struct source *source;
    struct name name;
    struct param *params; /* in document order, then those that only -D gave */
    size_t param_count;
    struct type *types;
    struct table *tables;
    struct array *arrays;
    struct kernel *kernels;
    size_t array_count, kernel_count, table_count;
};

/* A -D NAME=VALUE of the command line. */
struct definition {
    const char *name;
    const char *value;
};

const char *access_op_name(enum access_op op); /* "read", ... */

/* The table of built-in types: finds "float", "uchar4", "double2", ...; NULL for what is none (32-byte types too). */
const struct type *type_builtin(const char *name);
/* The n-th built-in type's name for "did you mean", NULL past the end. */
const char *type_builtin_name(size_t n);

#endif
