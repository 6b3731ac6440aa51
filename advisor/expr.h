/* Takes the text of an expression, gives its tree, and evaluates a bound tree for one thread. C's operators and
 * precedence on signed 64-bit integers, min, max and table look-ups; whatever C leaves undefined is an error. */
#ifndef SW_EXPR_H
#define SW_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

enum expr_op {
    EXPR_NUMBER,
    EXPR_NAME,
    EXPR_LOOKUP, /* name[operand 0] */
    EXPR_NEGATE, /* unary minus */
    EXPR_COMPLEMENT,
    EXPR_NOT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_REMAINDER,
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_SHIFT_LEFT,
    EXPR_SHIFT_RIGHT,
    EXPR_LESS,
    EXPR_LESS_EQUAL,
    EXPR_GREATER,
    EXPR_GREATER_EQUAL,
    EXPR_EQUAL,
    EXPR_NOT_EQUAL,
    EXPR_AND,
    EXPR_XOR,
    EXPR_OR,
    EXPR_LOGICAL_AND, /* evaluates operand 1 only where it needs it */
    EXPR_LOGICAL_OR,
    EXPR_CONDITIONAL, /* operand 0 ? operand 1 : operand 2 */
    EXPR_MIN,
    EXPR_MAX
};

enum expr_builtin {
    BUILTIN_THREAD_IDX_X,
    BUILTIN_THREAD_IDX_Y,
    BUILTIN_THREAD_IDX_Z,
    BUILTIN_BLOCK_IDX_X,
    BUILTIN_BLOCK_IDX_Y,
    BUILTIN_BLOCK_IDX_Z,
    BUILTIN_BLOCK_DIM_X,
    BUILTIN_BLOCK_DIM_Y,
    BUILTIN_BLOCK_DIM_Z,
    BUILTIN_GRID_DIM_X,
    BUILTIN_GRID_DIM_Y,
    BUILTIN_GRID_DIM_Z,
    BUILTIN_THREAD,
    BUILTIN_LANE,
    BUILTIN_WARP,
    BUILTIN_COUNT
};

/* What a name stands for. A param is a constant (its value is known when it is bound); a variable (let or loop
 * variable) has a slot in the thread's frame. */
enum expr_binding { EXPR_UNBOUND, EXPR_PARAM, EXPR_BUILTIN, EXPR_VARIABLE };

struct table; /* spec.h */

struct expr {
    enum expr_op op;
    enum expr_binding binding; /* EXPR_NAME */
    enum expr_builtin builtin; /* EXPR_BUILTIN */
    unsigned slot;             /* EXPR_VARIABLE */
    int64_t value;             /* EXPR_NUMBER, and EXPR_PARAM once bound */
    const char *name;          /* EXPR_NAME ("threadIdx.x" included) and EXPR_LOOKUP */
    const struct table *table; /* EXPR_LOOKUP, once bound */
    struct expr *operand[3];
    struct span where; /* the whole subexpression */
    struct span at;    /* its operator, name or number */
};

enum { EXPR_DEPTH_MAX = 200, EXPR_LIST_MAX = 8 };

/* Parses all of `text` as one expression. Returns NULL after at least one diagnostic [expr-syntax, ...]. Depth of
 * nesting is bounded by EXPR_DEPTH_MAX, so that evaluating may recurse. Words: lt le and or band shl. */
struct expr *expr_parse(struct arena *arena, const struct quoted *text, struct diags *diags)
    __attribute__((warn_unused_result));

enum expr_separator { EXPR_SPACES, EXPR_COMMAS };

/* Parses a list of 1 to `most` (<= EXPR_LIST_MAX) expressions, read greedily ("N / 256 2" is two). Returns how many,
 * 0 after a diagnostic. */
size_t expr_parse_list(struct expr *out[], size_t most, struct arena *arena, const struct quoted *text,
                       enum expr_separator separator, struct diags *diags) __attribute__((warn_unused_result));

/* Gives a name its meaning: fills expr->binding, builtin, slot, value or table, or adds a diagnostic (with a "did you
 * mean") and returns false. Called for EXPR_NAME and EXPR_LOOKUP nodes, left to right. */
typedef bool expr_resolve(void *context, struct expr *name, struct diags *diags);

/* Binds every name of the tree, reporting all that fail. */
bool expr_bind(struct expr *expr, expr_resolve *resolve, void *context, struct diags *diags)
    __attribute__((warn_unused_result));

/* Whether two bound trees of one kernel are the same text but for blanks and parentheses. */
bool expr_same(const struct expr *a, const struct expr *b);

/* Names of the builtins as written ("threadIdx.x", "lane"); a test whether a word is one. */
const char *expr_builtin_name(enum expr_builtin builtin);
bool expr_builtin_find(const char *name, enum expr_builtin *out);

enum expr_fault {
    EXPR_FINE,
    EXPR_DIVISION_BY_ZERO,
    EXPR_SHIFT_RANGE, /* a shift by less than 0 or more than 63, or a left shift of a negative number */
    EXPR_OVERFLOW,    /* beyond 64 bits */
    EXPR_TABLE_RANGE  /* a look-up outside the table */
};

/* One thread's values. `variables` has a value a slot. */
struct expr_frame {
    int64_t builtins[BUILTIN_COUNT];
    const int64_t *variables;
};

/* Evaluates a bound tree. On a fault *culprit is the node that did it and *out is undefined; *detail is the offending
 * operand (the divisor, the shift distance, the table index). */
enum expr_fault expr_evaluate(int64_t *out, const struct expr *expr, const struct expr_frame *frame,
                              const struct expr **culprit, int64_t *detail) __attribute__((warn_unused_result));

/* A binary or unary operation on values, as expr_evaluate does it (not for the lazy ones, names and look-ups). */
enum expr_fault expr_apply(int64_t *out, enum expr_op op, int64_t a, int64_t b) __attribute__((warn_unused_result));

/* A sentence for a fault: "division by zero", "shift by 70 is out of range", "overflow beyond 64 bits in '*'",
 * "index 12 is outside table 'rows' of 10"; in the arena. */
const char *expr_fault_message(struct arena *arena, enum expr_fault fault, const struct expr *culprit, int64_t detail);

/* What the tree's value can differ with. */
enum {
    EXPR_VARIES_THREAD = 1, /* threadIdx, thread, lane, warp */
    EXPR_VARIES_BLOCK = 2,  /* blockIdx, thread */
    EXPR_VARIES_SLOT = 4,   /* lets and loop variables: the caller knows what those vary with */
    EXPR_VARIES_TABLE = 8   /* a look-up with an index that varies */
};
/* `slot_varies[slot]` gives the flags of each variable (NULL: EXPR_VARIES_SLOT for all). */
unsigned expr_varies(const struct expr *expr, const unsigned *slot_varies);

#endif
