/* What the rooms of the code view share: names for generated code, expressions as C++, types taken apart. */
#ifndef SW_VIEW_CODE_INTERNAL_H
#define SW_VIEW_CODE_INTERNAL_H

#include "view_code.h"
#include "view_put.h"

/* A set of identifiers, sorted once it is complete. */
struct words {
    const char **items;
    size_t count, capacity;
};

/* A set that grows: open addressing. */
struct name_set {
    const char **slots;
    size_t capacity, count;
};

struct array_code;

struct code {
    const struct spec *spec;
    const struct device *device;
    struct option *const *chosen; /* one an array */
    struct arena *arena;
    struct diags *diags;
    struct words fields;       /* the description's names of fields: what the members of a view may clash with */
    struct words globals;      /* its other names: what stands in the namespace and in kernels */
    struct name_set issued;    /* names in the namespace */
    struct name_set issued_c;  /* names in the C header, their prefixes included */
    const char **param_names;  /* one a param */
    const char **kernel_names; /* one a kernel */
    struct array_code *arrays; /* one an array */
};

/* Sets "first" and "last" in every object of a list. */
void mark_ends(json_t *list);

/* ---- names: view_code_names.c ------------------------------------------------------------------------------------ */
void words_add(struct words *words, struct arena *arena, const char *word);
bool words_have(const struct words *words, const char *word);   /* of a complete set */
bool words_repeat(const struct words *words, const char *word); /* twice or more */

void names_collect(struct code *code);
/* False after diagnostics [not-generated] where code cannot be in a namespace that has the layout's name, or in it
 * something has a name of CUDA's that the code needs. */
bool names_allow(const struct code *code);
/* A name for generated code that is none of the description's: `wanted`, with underscores appended if need be. */
const char *name_fresh(const struct code *code, const char *wanted);
/* As name_fresh, and not yet in `taken`, to which it is added. */
const char *name_take(const struct code *code, struct name_set *taken, const char *wanted);
bool name_set_add(struct name_set *set, struct arena *arena, const char *name); /* false: it is there */
/* Whether templates have a local or member of that name, which hides a type or param that is not qualified. */
bool names_hide(const char *name);
const char *name_qualified(const struct code *code, const char *name); /* "::particles::Particle" */
/* For parameters of a view's functions: clashes with fields alone. */
const char *name_in_view(const struct code *code, const char *wanted);
/* The fixed words of the templates, each made fresh: {"base": "base", ...}. */
json_t *names_view(const struct code *code);
const char *param_name(const struct code *code, const char *param);

/* ---- expressions: view_code_expr.c ------------------------------------------------------------------------------- */

/* How variables are written: a kernel whose threads do four records each has an array of each that varies. */
enum expr_style { STYLE_PLAIN, STYLE_FIRST, STYLE_RECORD };

/* A kernel's expressions. `slot_varies` has flags EXPR_VARIES_... for each slot, slots resolved. */
struct expr_scope {
    const struct code *code;
    enum expr_style style;
    const unsigned *slot_varies;
    bool *builtin_used; /* BUILTIN_COUNT flags that are set as builtins are met; may be NULL */
};

/* C++ for a bound expression, of type std::int64_t, int or bool, that cannot overflow where the expression does not;
 * in the arena. */
const char *code_expr(const struct expr_scope *scope, const struct expr *expr);
/* A constant, as C++ (or C11) can read it. */
const char *code_number(struct arena *arena, int64_t number);
/* The local variable that holds a builtin: "thread", "block_x". */
const char *builtin_local(const struct code *code, enum expr_builtin builtin);
/* Flags of an expression with slots resolved. */
unsigned code_varies(const struct expr_scope *scope, const struct expr *expr);

/* ---- types: view_code_types.c ------------------------------------------------------------------------------------ */
const char *type_text(const struct code *code, const struct type *type);   /* C++ */
const char *type_text_c(const struct code *code, const struct type *type); /* C11 */
/* The halves, vectors and structs that the description uses, each after what it is made of. */
void put_types(const struct code *code, json_t *root);
const struct type *code_component(const struct type *vector);

/* One level of subscripts on the way to a part of a record. */
struct part_loop {
    const char *variable; /* "q0"; fixed: C++ for the one value it has */
    uint64_t count;
    uint64_t stride_bytes; /* in C's layout */
    size_t stride_leaves;  /* 0 inside a union */
    bool fixed;
    uint64_t value; /* of a fixed one that is a constant */
};

enum { PART_LOOPS_MAX = 40 * FIELD_DIMS_MAX };

/* A part of a record that is accessed as one: a leaf, all elements of a member array together; or a member of a union,
 * a component of a vector. */
struct part {
    const char *key;    /* its path without subscripts, but for those of arrays that had to be unrolled: "box[2].lo" */
    const char *member; /* as C++ writes it below the whole: ".box[2].lo[q0]"; "" for the whole itself */
    const struct type *type;
    const struct part_loop *loops;
    size_t loop_count;
    size_t leaf;            /* with all subscripts 0, like the places that follow */
    uint64_t offset;        /* bytes from the start of the record */
    bool inner;             /* below a leaf: a union's member or a vector's component */
    char component;         /* 'x' to 'w' of a vector that is a part, too; else 0 */
    const char *vector_key; /* the key of that */
    uint64_t inner_offset;
};

struct parts {
    struct part *items;
    size_t count, capacity;
};

struct path_subscript {
    const char *text; /* C++ */
    bool constant;
    uint64_t value;
};

/* One step of a field path: a member and its subscripts. */
struct segment {
    const char *name;
    struct path_subscript subscripts[FIELD_DIMS_MAX];
    unsigned subscript_count;
    const struct segment *next;
};

/* What a path leads to: a type, and the dimensions that it left open ("[4][3]"). */
struct shape {
    const struct type *type;
    const char *dims;
    uint64_t offset; /* bytes from the start of the record, with all subscripts 0 */
    bool scattered;  /* its elements are not side by side in C's record */
    bool complete;
};

/* Whether elements `stride_leaves` apart, from `leaf` on, are evenly spaced, so that a subscript may be computed. */
typedef bool part_uniform(const void *context, size_t leaf, size_t stride_leaves, uint64_t count);

/* Takes a type, or what `path` leads to in it, apart: into leaves, below a leaf into scalars and vectors. `inner`: what
 * is below leaves, too. `uniform` may be NULL: all are. `shape`: filled, or NULL. */
struct parts parts_of(const struct code *code, const struct type *type, const struct segment *path, struct shape *shape,
                      bool inner, part_uniform *uniform, const void *context);
size_t type_leaves(const struct type *type);
/* How many loops are not fixed, those loops as [{"variable", "count", "indent"}...], and four blanks a level. */
size_t loops_open(const struct part *part);
json_t *loops_view(const struct code *code, const struct part *part);
const char *indent_text(struct arena *arena, size_t levels);

/* ---- arrays: view_code_accessors.c, view_code_arrays.c
 * ---------------------------------------------------------------------------------- */

/* The accessor of a part. */
struct accessor {
    const struct part *part;
    const char *name;
    const char *c_name;   /* "particles_particles_pos" */
    const char *own_name; /* where it does not borrow another's */
    const char *suffix;   /* ".x" where the accessor is the vector's; else "" */
    bool borrowed;        /* the vector's accessor serves: this part has none */
    unsigned piece;       /* 0: it returns a reference; else the bytes of the aligned pieces that get_ and set_ move */
};

struct array_code {
    const struct array *array;
    const struct option *option;
    const struct mapping *mapping;
    const char *view_name; /* "particles_view" */
    const char *const_view_name;
    const char *fields_name;    /* "particles_fields" */
    const char *c_name;         /* "particles_particles" */
    struct parts leaves;        /* of its record, no inner ones */
    struct parts parts;         /* all */
    struct accessor *accessors; /* one each of `parts` */
    const struct accessor **by_key;
    uint64_t *sizes; /* the distinct sizes of leaves */
    size_t size_count;
    const uint32_t *const *before; /* before[s][leaf]: how many leaves of sizes[s] come before it in its group */
};

/* False after a diagnostic. */
bool arrays_prepare(struct code *code);
json_t *arrays_view(const struct code *code);
const struct array_code *array_code(const struct code *code, const struct array *array);
const struct accessor *find_accessor(const struct array_code *array, const char *key);
/* The array as it is in its shared copy, where strides differ, and with them what is aligned. */
const struct array_code *array_staged(const struct code *code, const struct array_code *array,
                                      const struct stage *stage);
/* What a path leads to, in parts that have accessors. */
struct parts array_parts(const struct code *code, const struct array_code *array, const struct segment *path,
                         struct shape *shape);
/* Sets "getter", "setter" and "address_function". */
void put_accessor_names(const struct code *code, const struct accessor *accessor, json_t *view);
uint64_t array_granule(const struct code *code, const struct array *array);
bool is_loose(const struct array *array, const struct part *part);
/* Whether leaves are kept in columns of their own, as soa has them. */
bool has_columns(const struct mapping *mapping);
/* Whether records are kept whole, each as C has it. */
bool has_records_as_c(const struct mapping *mapping);
/* The view's function that gives the first byte of a group's whole record: "address", "address_1" in a split. */
const char *address_name(const struct code *code, const struct array_code *array, const struct group *group);
const char *extent_name(const struct code *code, const struct array *array, unsigned dim);
/* "12 + q0 * 4": where a part is in C's record. */
const char *part_offset_text(struct arena *arena, const struct part *part);

/* ---- whole records on the device: view_code_convert.c -------------------------------------------------------------
 */

/* Sets what converters between C's array and the layout need, and what a warp that moves its records together needs. */
void put_conversion(const struct array_code *array, json_t *view);
void put_exchange(const struct code *code, const struct array_code *array, json_t *view);
/* "0, 16, 32": where a warp's pieces are in a record. */
const char *offsets_text(struct arena *arena, const uint64_t *offsets, size_t count);

/* ---- places: view_code_places.c -------------------------------------------------------------------------------------
 */

/* Bytes that one more in a loop's variable adds to the address. */
uint64_t loop_stride(const struct mapping *mapping, const struct part *part, const struct part_loop *loop);
/* "i", "j", "k". */
const char *index_name(const struct code *code, unsigned dim);
/* The number of a record, of its first `dims` indices: "i * extent_1 + j". */
const char *linear_text(const struct code *code, const struct array *array, unsigned dims);
/* " + 12 + q0 * 4"; in C's record where `mapping` is NULL. */
const char *offset_text(struct arena *arena, uint64_t offset, const struct part *part, const struct mapping *mapping);
/* C++ for the addresses of a group's record that is kept whole and of a part, as members of the view. */
const char *record_address(const struct code *code, const struct array_code *array, const struct group *group);
const char *address_text(const struct code *code, const struct array_code *array, const struct part *part);
const struct group *group_of(const struct mapping *mapping, const struct part *part);
/* Bytes from the start of the group's stored record, or of its first column or tile, with all subscripts 0. */
uint64_t stored_offset(const struct mapping *mapping, const struct part *part);
/* "start_1": the view's function that says where a group begins. */
const char *start_name(const struct code *code, unsigned group);
/* Functions of the extents that addresses are made of: [{"name", "title", "value", "c_name", "c_value"}...]. */
json_t *measures_view(const struct code *code, const struct array_code *array);
/* Where a leaf is at the described extents, for readers. */
const char *place_text(const struct code *code, const struct array_code *array, const struct part *part);
const char *joined_extents(const struct code *code, const struct array *array, unsigned dims, const char *with);
/* The bytes that the whole array takes, as a function of its extents. */
const char *bytes_text(const struct code *code, const struct array_code *array);
unsigned shift_of(uint64_t power);
/* C++ of a view's member functions as C functions have it. */
const char *c_text(const struct code *code, const struct array_code *array, const char *text);

/* ---- field paths: view_code_paths.c -------------------------------------------------------------------------------
 */

/* One path of an access's `field`; the whole element has one without segments. */
struct field_path {
    const struct segment *segments;
    const char *name;       /* "box_lo", for names made of it; "" for the whole */
    const char *title;      /* as written: "box.lo[q]" */
    size_t first_subscript; /* of its own among access->subscripts, those that are no constants */
    size_t subscript_count;
    const struct field_path *next;
};

/* How the text of subscript `number` of the access is written. */
typedef const char *subscript_text(const void *context, const struct access *access, size_t number);

const struct field_path *paths_of(const struct code *code, const struct access *access, subscript_text *text,
                                  const void *context);
/* For who wants the paths and not the text. */
const char *no_text(const void *context, const struct access *access, size_t number);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What is known while the code of one kernel is written. */
struct kernel_code {
    const struct code *code;
    const struct kernel *kernel;
    size_t number;
    struct expr_scope scope;
    bool reference; /* for the host's plain loops: no plan, a thread at a time */
    bool wide;
    bool any_barrier;
    json_t *steps; /* the types of steps; NULL once they are made */
    unsigned step_count, next_step;
    const char *step_name;            /* "drift_step" */
    const struct statement **visible; /* lets and loops in scope */
    size_t visible_count, visible_capacity;
    const bool *shared;                /* a flag an array: in shared memory */
    const struct array_code **reached; /* an array: as the kernel gets at it, in place or in the shared copy */
};

/* What part of a kernel has done with a shared array since the last barrier. */
enum { TOUCH_READ = 1, TOUCH_WRITTEN = 2, TOUCH_SEVERAL = 4 /* by several accesses */ };

const struct usage *usage_of(const struct kernel_code *kernel, const struct array *array);
/* The object through which a kernel gets at an array: its view, or the shared copy's. */
const char *object_name(const struct kernel_code *kernel, const struct array *array);

/* view_code_flow.c: statements. NULL after a diagnostic. */
json_t *flow_view(struct kernel_code *kernel);
unsigned flow_count_steps(const struct kernel *kernel);

/* view_code_steps.c: a step of `count` accesses. `barrier`: between its loads and its stores. */
json_t *step_view(struct kernel_code *kernel, const struct access *const accesses[], size_t count, bool barrier);

/* view_code_stage.c: the shared copy of a staged array; NULL after a diagnostic. */
json_t *tile_view(const struct kernel_code *kernel, const struct array_code *array, const struct stage *stage);
const char *tile_name(const struct code *code, const struct array *array);
/* A part's accessor in the shared copy: its view, made for the addresses there. */
json_t *accessor_view_at(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                         const char *address);

/* Shared memory of a warp for the records of a shuffled array: its name in the kernel. */
const char *exchange_name(const struct code *code, const struct array *array);

/* view_code_tables.c */
json_t *tables_view(const struct code *code);
const char *table_type(const struct table *table);
/* Evaluates a constant expression's text; false where it is none. */
bool code_constant(const struct code *code, const char *text, size_t length, int64_t *out);

/* view_code_kernels.c: NULL after a diagnostic. */
json_t *kernels_view(const struct code *code);

#endif
