#include <string.h>

#include "checked.h"
#include "diff_internal.h"

/* Lets put into each other may grow without bound: past so many steps two expressions count as different. */
enum { STEPS_MAX = 10000 };

static bool spend(unsigned *steps)
{
    return ++*steps < STEPS_MAX;
}

/* ---- written alike ---- */

static bool same_name(const struct scopes *scopes, const struct expr *before, const struct expr *after)
{
    if (before->binding != after->binding)
        return false;
    switch (before->binding) {
    case EXPR_VARIABLE:
        return (scopes == NULL ? before->slot : scopes->slot_after[before->slot]) == after->slot;
    case EXPR_BUILTIN:
        return before->builtin == after->builtin;
    case EXPR_PARAM:
    case EXPR_UNBOUND:
        break;
    }
    return strcmp(before->name, after->name) == 0;
}

/* A table that only has another name now is the same one. */
static bool same_table(const struct expr *before, const struct expr *after)
{
    return strcmp(before->name, after->name) == 0 || diff_same_table(before->table, after->table);
}

/* Without scopes both are of one side. */
static bool same_tree(const struct scopes *scopes, const struct expr *before, const struct expr *after)
{
    if (before == NULL || after == NULL)
        return before == after;
    if (before->op != after->op)
        return false;
    if (before->op == EXPR_NUMBER)
        return before->value == after->value;
    if (before->op == EXPR_NAME)
        return same_name(scopes, before, after);
    if (before->op == EXPR_LOOKUP && !same_table(before, after))
        return false;
    for (int i = 0; i < 3; i++)
        if (!same_tree(scopes, before->operand[i], after->operand[i]))
            return false;
    return true;
}

/* ---- of the same value ---- */

static const struct expr *put_in(const struct variables *variables, const struct expr *expr)
{
    while (expr->op == EXPR_NAME && expr->binding == EXPR_VARIABLE && variables->lets[expr->slot] != NULL)
        expr = variables->lets[expr->slot];
    return expr;
}

static bool fold_name(int64_t *out, const struct variables *variables, const struct expr *expr)
{
    if (expr->binding == EXPR_PARAM) {
        *out = expr->value;
        return true;
    }
    if (expr->binding != EXPR_BUILTIN || variables->kernel == NULL)
        return false;
    bool is_block = expr->builtin >= BUILTIN_BLOCK_DIM_X && expr->builtin <= BUILTIN_BLOCK_DIM_Z;
    bool is_grid = expr->builtin >= BUILTIN_GRID_DIM_X && expr->builtin <= BUILTIN_GRID_DIM_Z;
    if (is_block)
        *out = (int64_t)variables->kernel->block[expr->builtin - BUILTIN_BLOCK_DIM_X];
    if (is_grid)
        *out = (int64_t)variables->kernel->grid[expr->builtin - BUILTIN_GRID_DIM_X];
    return is_block || is_grid;
}

static bool fold(int64_t *out, const struct variables *variables, const struct expr *expr, unsigned *steps);

static bool fold_lookup(int64_t *out, const struct variables *variables, const struct expr *expr, unsigned *steps)
{
    int64_t index;
    if (!fold(&index, variables, expr->operand[0], steps) || index < 0 || (uint64_t)index >= expr->table->extent)
        return false;
    *out = expr->table->data[index];
    return true;
}

/* The value of an expression that no thread and no loop changes; false for any other. */
static bool fold(int64_t *out, const struct variables *variables, const struct expr *expr, unsigned *steps)
{
    int64_t values[3] = {0};
    expr = put_in(variables, expr);
    if (!spend(steps))
        return false;
    if (expr->op == EXPR_NUMBER) {
        *out = expr->value;
        return true;
    }
    if (expr->op == EXPR_NAME)
        return fold_name(out, variables, expr);
    if (expr->op == EXPR_LOOKUP)
        return fold_lookup(out, variables, expr, steps);
    for (int i = 0; i < 3 && expr->operand[i] != NULL; i++)
        if (!fold(&values[i], variables, expr->operand[i], steps))
            return false;
    if (expr->op == EXPR_CONDITIONAL)
        *out = values[0] != 0 ? values[1] : values[2];
    else if (expr->op == EXPR_LOGICAL_AND)
        *out = values[0] != 0 && values[1] != 0;
    else if (expr->op == EXPR_LOGICAL_OR)
        *out = values[0] != 0 || values[1] != 0;
    else
        return expr_apply(out, expr->op, values[0], values[1]) == EXPR_FINE;
    return true;
}

/* A sum of multiples of what is no sum itself: "4 * (i + 1) - i" is 3 i + 4. */
struct term {
    const struct expr *atom;
    int64_t factor;
};

enum { TERMS_MAX = 16 };

struct sum {
    struct term terms[TERMS_MAX];
    size_t count;
    int64_t constant;
};

#define BUILTIN(which)                                                                                                 \
    {                                                                                                                  \
        .op = EXPR_NAME, .binding = EXPR_BUILTIN, .builtin = which                                                     \
    }
static const struct expr thread_places[3] = {BUILTIN(BUILTIN_THREAD_IDX_X), BUILTIN(BUILTIN_THREAD_IDX_Y),
                                             BUILTIN(BUILTIN_THREAD_IDX_Z)};
static const struct expr block_places[3] = {BUILTIN(BUILTIN_BLOCK_IDX_X), BUILTIN(BUILTIN_BLOCK_IDX_Y),
                                            BUILTIN(BUILTIN_BLOCK_IDX_Z)};

static bool add_term(struct sum *out, const struct expr *atom, int64_t factor)
{
    size_t i = 0;
    while (i < out->count && !same_tree(NULL, out->terms[i].atom, atom))
        i++;
    if (i == TERMS_MAX)
        return false;
    if (i == out->count)
        out->terms[out->count++] = (struct term){atom, 0};
    if (!checked_add_i64(&out->terms[i].factor, out->terms[i].factor, factor))
        return false;
    if (out->terms[i].factor == 0)
        out->terms[i] = out->terms[--out->count];
    return true;
}

/* `thread`: block after block, x fastest. A dimension of one has nothing to count. */
static bool add_thread(struct sum *out, const struct kernel *kernel, int64_t factor)
{
    for (int d = 0; d < 3; d++) {
        if (kernel->block[d] > 1 && !add_term(out, &thread_places[d], factor))
            return false;
        if (!checked_mul_i64(&factor, factor, (int64_t)kernel->block[d]))
            return false;
    }
    for (int d = 0; d < 3; d++) {
        if (kernel->grid[d] > 1 && !add_term(out, &block_places[d], factor))
            return false;
        if (!checked_mul_i64(&factor, factor, (int64_t)kernel->grid[d]))
            return false;
    }
    return true;
}

static bool add_builtin(struct sum *out, const struct kernel *kernel, const struct expr *expr, int64_t factor)
{
    unsigned place = expr->builtin, x = BUILTIN_THREAD_IDX_X, y = BUILTIN_BLOCK_IDX_X;
    if (kernel == NULL)
        return add_term(out, expr, factor);
    if (place == BUILTIN_THREAD)
        return add_thread(out, kernel, factor);
    bool alone = (place >= x && place < x + 3 && kernel->block[place - x] == 1) ||
                 (place >= y && place < y + 3 && kernel->grid[place - y] == 1);
    return alone || add_term(out, expr, factor);
}

/* Adds `factor` times the expression; false where that is too much for the sum. */
static bool add_expr(struct sum *out, const struct variables *variables, const struct expr *expr, int64_t factor,
                     unsigned *steps)
{
    int64_t value;
    expr = put_in(variables, expr);
    if (!spend(steps))
        return false;
    if (fold(&value, variables, expr, steps))
        return checked_mul_i64(&value, value, factor) && checked_add_i64(&out->constant, out->constant, value);
    if (expr->op == EXPR_NAME && expr->binding == EXPR_BUILTIN)
        return add_builtin(out, variables->kernel, expr, factor);
    if (expr->op == EXPR_ADD)
        return add_expr(out, variables, expr->operand[0], factor, steps) &&
               add_expr(out, variables, expr->operand[1], factor, steps);
    if (expr->op == EXPR_SUBTRACT)
        return add_expr(out, variables, expr->operand[0], factor, steps) && checked_sub_i64(&factor, 0, factor) &&
               add_expr(out, variables, expr->operand[1], factor, steps);
    if (expr->op == EXPR_NEGATE)
        return checked_sub_i64(&factor, 0, factor) && add_expr(out, variables, expr->operand[0], factor, steps);
    for (int i = 0; i < 2 && expr->op == EXPR_MULTIPLY; i++)
        if (fold(&value, variables, expr->operand[i], steps))
            return checked_mul_i64(&factor, factor, value) &&
                   add_expr(out, variables, expr->operand[1 - i], factor, steps);
    enum { SHIFT_MOST = 62 };
    if (expr->op == EXPR_SHIFT_LEFT && fold(&value, variables, expr->operand[1], steps) && value >= 0 &&
        value <= SHIFT_MOST)
        return checked_mul_i64(&factor, factor, (int64_t)1 << value) &&
               add_expr(out, variables, expr->operand[0], factor, steps);
    return add_term(out, expr, factor);
}

static bool commutes(enum expr_op op)
{
    return op == EXPR_ADD || op == EXPR_MULTIPLY || op == EXPR_AND || op == EXPR_OR || op == EXPR_XOR ||
           op == EXPR_EQUAL || op == EXPR_NOT_EQUAL || op == EXPR_MIN || op == EXPR_MAX;
}

/* The operator that says the same with its operands exchanged. */
static enum expr_op turned(enum expr_op op)
{
    return op == EXPR_LESS            ? EXPR_GREATER
           : op == EXPR_GREATER       ? EXPR_LESS
           : op == EXPR_LESS_EQUAL    ? EXPR_GREATER_EQUAL
           : op == EXPR_GREATER_EQUAL ? EXPR_LESS_EQUAL
                                      : op;
}

static bool same_value(const struct scopes *scopes, const struct expr *before, const struct expr *after,
                       unsigned *steps);

static bool same_operands(const struct scopes *scopes, const struct expr *before, const struct expr *after,
                          bool exchanged, unsigned *steps)
{
    for (int i = 0; i < 3; i++) {
        const struct expr *a = before->operand[i], *b = after->operand[exchanged && i < 2 ? 1 - i : i];
        if (a == NULL || b == NULL) {
            if (a != b)
                return false;
        } else if (!same_value(scopes, a, b, steps)) {
            return false;
        }
    }
    return true;
}

/* Of two expressions neither of which is a constant or a sum. */
static bool same_atom(const struct scopes *scopes, const struct expr *before, const struct expr *after, unsigned *steps)
{
    if (before->op == EXPR_NAME || after->op == EXPR_NAME)
        return before->op == after->op && same_name(scopes, before, after);
    if (before->op == EXPR_LOOKUP && after->op == EXPR_LOOKUP && !same_table(before, after))
        return false;
    if (before->op == after->op && same_operands(scopes, before, after, false, steps))
        return true;
    bool may_turn = commutes(before->op) || turned(before->op) != before->op;
    return may_turn && turned(before->op) == after->op && same_operands(scopes, before, after, true, steps);
}

static bool same_sum(const struct scopes *scopes, const struct sum *before, const struct sum *after, unsigned *steps)
{
    if (before->constant != after->constant || before->count != after->count)
        return false;
    for (size_t i = 0; i < before->count; i++) {
        size_t j = 0;
        while (j < after->count && (before->terms[i].factor != after->terms[j].factor ||
                                    !same_atom(scopes, before->terms[i].atom, after->terms[j].atom, steps)))
            j++;
        if (j == after->count)
            return false;
    }
    return true;
}

static bool same_value(const struct scopes *scopes, const struct expr *before, const struct expr *after,
                       unsigned *steps)
{
    struct sum a = {.count = 0}, b = {.count = 0};
    return spend(steps) && add_expr(&a, &scopes->before, before, 1, steps) &&
           add_expr(&b, &scopes->after, after, 1, steps) && same_sum(scopes, &a, &b, steps);
}

bool diff_same(const struct scopes *scopes, const struct expr *before, const struct expr *after, int64_t absent)
{
    const struct expr number = {.op = EXPR_NUMBER, .value = absent};
    if (before == NULL && after == NULL)
        return true;
    unsigned steps = 0;
    before = before == NULL ? &number : before;
    after = after == NULL ? &number : after;
    return same_tree(scopes, before, after) || same_value(scopes, before, after, &steps);
}
