/* What the rooms of the check stage share: the run's state, the names it declared, and constant expressions. */
#ifndef SW_CHECK_INTERNAL_H
#define SW_CHECK_INTERNAL_H

#include "check.h"
#include "text.h"

/* Bounds that keep any description within a second or so and within memory; far beyond what a GPU program needs. */
enum {
    TYPE_DEPTH_MAX = 32,             /* structs within structs */
    ALIGN_MAX = 256,                 /* bytes, of a field or struct */
    ARRAY_ALIGN_MAX = 1 << 20,       /* bytes */
    RECORD_BYTES_MAX = 1 << 24,      /* struct record has a flag a byte */
    SELECTED_MAX = 4096,             /* scalars of one access */
    ALL_LEAVES_MAX = 2 * LEAVES_MAX, /* of all records together */
    ALL_RECORD_BYTES_MAX = 1 << 26,  /* of all records together */
    ALL_SELECTED_MAX = 1 << 20,      /* of all accesses together */
    ALL_TABLE_ENTRIES_MAX = 1 << 26, /* of all tables together: 512 MiB, and as much to sort */
    GUESS_CANDIDATES_MAX = 1000,     /* names that a "did you mean" looks at */
};
#define ARRAY_BYTES_MAX ((uint64_t)1 << 47) /* a GPU's virtual addresses */

enum symbol_kind {
    SYMBOL_TYPE,
    SYMBOL_FIELD,
    SYMBOL_PARAM,
    SYMBOL_TABLE,
    SYMBOL_ARRAY,
    SYMBOL_KERNEL,
    SYMBOL_VARIABLE,
    SYMBOL_RECORD
};

/* A declared name. */
struct symbol {
    const void *space; /* its namespace: any address that stands for one */
    const char *name;
    size_t length;
    enum symbol_kind kind;
    struct span where;
    void *item;                  /* the struct type, field, param, table, array, kernel or statement */
    const struct record *record; /* of SYMBOL_RECORD: NULL where it was too large */
    size_t number;               /* field: its first leaf in the struct; type: how deep it nests; variable: its slot;
                                    param, table: its place among the constants */
    bool usable; /* param, table: evaluated; variable: in scope. What is not was reported, or is out of scope */
};

struct piece; /* check_paths.c */

/* All names of a run: open addressing over (namespace, name). */
struct names {
    struct symbol **slots;
    size_t capacity, count;
};

struct checker {
    struct spec *spec;
    struct arena *arena;
    const struct device *device;
    const struct definition *definitions;
    size_t definition_count;
    struct diags *diags;
    struct names names;
    uint64_t all_leaves, all_record_bytes, all_selected, all_table_entries;
    struct piece *pieces; /* room that check_paths.c uses again for each access */
    size_t piece_capacity;
};

/* check_names.c: namespaces and messages about names. */
struct symbol *check_names_find(const struct names *names, const void *space, const char *name, size_t length);
/* Adds a name; NULL where the namespace has it. */
struct symbol *check_names_add(struct checker *checker, const void *space, const char *name, enum symbol_kind kind,
                               void *item, struct span where);

/* The four namespaces; fields live in that of their struct type, variables in that of their kernel. */
static inline const void *type_space(const struct checker *checker)
{
    return &checker->spec->types;
}

static inline const void *value_space(const struct checker *checker)
{
    return &checker->spec->params;
}

static inline const void *kernel_space(const struct checker *checker)
{
    return &checker->spec->kernels;
}

/* Reports a name that is no identifier or that is reserved. `what` says what it names: "param", "kernel", ...;
 * `is_value`: it stands in expressions, which have words of their own there ("lane", "min"). */
bool check_identifier(struct checker *checker, const struct name *name, const char *what, bool is_value);
/* check_identifier, then declares the name or reports that its namespace has it. NULL when it could not be declared
 * (or is missing, which read has reported). */
struct symbol *check_declare(struct checker *checker, const void *space, const struct name *name, enum symbol_kind kind,
                             void *item, const char *what);
void check_report_duplicate(struct checker *checker, const struct name *name, const struct symbol *first);

/* A "did you mean" over at most GUESS_CANDIDATES_MAX names, and none once messages are no longer kept. */
struct guess {
    struct text_guess text;
    size_t offered;
    bool enabled;
};
struct guess check_guess_start(const struct checker *checker, const char *wanted);
/* Whether more names are looked at: a loop over thousands ends there. */
bool check_guess_wants(const struct guess *guess);
void check_guess_offer(struct guess *guess, const char *candidate);
/* Attaches "did you mean" to the last diagnostic where something is near enough; says whether. */
bool check_guess_note(const struct checker *checker, const struct guess *guess);

/* CUDA's vectors beyond 16 bytes: no types of version 1. */
bool check_is_wide_vector(const char *name);

void check_layout_name(struct checker *checker);
void check_type_names(struct checker *checker);
void check_field_names(struct checker *checker);
void check_value_names(struct checker *checker);
void check_kernel_names(struct checker *checker);

/* check_expr.c: what expressions mean where they stand, and attributes that are constants. */

/* Where an expression stands. Without a kernel it is a constant: params and tables only. */
struct scope {
    struct checker *checker;
    const struct kernel *kernel;
    struct symbol **visible; /* variables in scope, outermost first, for "did you mean" */
    size_t visible_count;
};
/* An expr_resolve over a struct scope. */
bool check_resolve(void *scope, struct expr *name, struct diags *diags);

/* Binds a constant expression and evaluates it, reporting whatever fails. */
bool check_constant(struct checker *checker, struct expr *expr, int64_t *out);
/* Evaluates a bound expression that has only constants. */
bool check_evaluate(struct checker *checker, const struct expr *expr, int64_t *out);
/* Whether a bound expression has no builtin and no variable. */
bool check_is_constant(const struct expr *expr);

/* What an integer attribute may be. */
struct bounds {
    const char *what; /* "calls", for messages */
    const char *id;
    int64_t least, most;
};
/* Reads an integer attribute: a constant expression within bounds, `absent` where there is none. */
bool check_integer(struct checker *checker, const struct quoted *text, const struct bounds *bounds, int64_t absent,
                   int64_t *out);
/* As check_integer for a parsed expression. */
bool check_bound_integer(struct checker *checker, struct expr *expr, const struct bounds *bounds, int64_t *out);
/* As check_integer for a list of up to `most` (EXPR_LIST_MAX); returns how many, 0 after an error. `exprs` may be
 * NULL. */
size_t check_integers(struct checker *checker, const struct quoted *text, const struct bounds *bounds, size_t most,
                      int64_t out[], struct expr *exprs[]);
/* An alignment: a power of two up to `most`; `absent` where there is none. */
bool check_alignment(struct checker *checker, const struct quoted *text, uint64_t most, uint64_t absent, uint64_t *out);
/* Reports an alignment less than that of what it holds. */
bool check_align_least(struct checker *checker, const struct quoted *text, uint64_t align, uint64_t least);
/* Picks a word out of a NULL-ended list; `absent` without the attribute. */
bool check_word(struct checker *checker, const struct quoted *text, const char *what, const char *const words[],
                unsigned absent, unsigned *out);

/* check_constants.c: params and tables, in the order in which they need one another. */
void check_definitions(struct checker *checker);
void check_constants(struct checker *checker);

/* check_tables.c: fills a table whose extent, range and seed can be evaluated. `range` and `seed`: NULL for absent
 * ones. */
bool check_table(struct checker *checker, struct table *table, struct expr *range, struct expr *seed);

/* check_types.c: C's layout rules, and types flattened. */

/* type->state of structs and unions; once complete it is the number of leaves, LEAVES_MAX at most. */
enum { TYPE_NEW = 0, TYPE_ACTIVE = -1, TYPE_FAILED = -2 };
/* How many leaves a complete type has. */
size_t check_leaf_count(const struct type *type);
/* The type of one component of a vector. */
const struct type *check_component(const struct type *vector);
/* Finds a complete type by name. NULL after a diagnostic, or silently where the type itself was at fault. */
const struct type *check_find_type(struct checker *checker, const struct quoted *text);
/* The record of a complete type, made once. NULL after a diagnostic (located at `where`). */
const struct record *check_find_record(struct checker *checker, const struct type *type, struct span where);

void check_type_fields(struct checker *checker);
void check_type_sizes(struct checker *checker);

/* check_arrays.c */

/* Bytes that an array takes as described, its offset left out; false beyond ARRAY_BYTES_MAX. */
bool check_array_bytes(const struct array *array, uint64_t *out);
void check_arrays(struct checker *checker);

/* check_kernels.c: launches and bodies. */
void check_launches(struct checker *checker);
void check_bodies(struct checker *checker);
void check_shared(struct checker *checker);

/* check_paths.c: resolves the field paths of an access. access->array must be complete. */
bool check_paths(struct scope *scope, struct access *access);

#endif
