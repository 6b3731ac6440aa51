#include <string.h>

#include "text.h"
#include "view_code_internal.h"

/* How tightly C++ binds, loosest first. */
enum precedence {
    BINDS_CONDITIONAL,
    BINDS_LOGICAL_OR,
    BINDS_LOGICAL_AND,
    BINDS_OR,
    BINDS_XOR,
    BINDS_AND,
    BINDS_EQUAL,
    BINDS_LESS,
    BINDS_SHIFT,
    BINDS_ADD,
    BINDS_MULTIPLY,
    BINDS_UNARY,
    BINDS_PRIMARY
};

/* C++ text; `narrow`: its type is int or bool, so that arithmetic on it could overflow. */
struct piece {
    const char *text;
    enum precedence binds;
    bool narrow;
    bool constant;
    int64_t value; /* of a constant */
};

static const char *const builtin_locals[BUILTIN_COUNT] = {
    "thread_x",    "thread_y",   "thread_z",   "block_x",    "block_y", "block_z", "block_dim_x", "block_dim_y",
    "block_dim_z", "grid_dim_x", "grid_dim_y", "grid_dim_z", "thread",  "lane",    "warp",
};

const char *builtin_local(const struct code *code, enum expr_builtin builtin)
{
    /* The last three are reserved words of descriptions: no fresh name is needed. */
    if (builtin == BUILTIN_THREAD || builtin == BUILTIN_LANE || builtin == BUILTIN_WARP)
        return builtin_locals[builtin];
    return name_fresh(code, builtin_locals[builtin]);
}

unsigned code_varies(const struct expr_scope *scope, const struct expr *expr)
{
    return expr_varies(expr, scope->slot_varies);
}

const char *code_number(struct arena *arena, int64_t number)
{
    if (number == INT64_MIN)
        return "(-9223372036854775807 - 1)";
    return arena_printf(arena, "%lld", (long long)number);
}

static struct piece piece_number(const struct expr_scope *scope, int64_t number)
{
    return (struct piece){.text = code_number(scope->code->arena, number),
                          .binds = number < 0 ? BINDS_UNARY : BINDS_PRIMARY,
                          .narrow = number >= INT32_MIN && number <= INT32_MAX,
                          .constant = true,
                          .value = number};
}

/* A variable or builtin of a thread, or of one of the records that a thread does. */
static const char *variable_text(const struct expr_scope *scope, const char *name, unsigned varies)
{
    bool per_record = (varies & (EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK)) != 0;
    if (scope->style == STYLE_PLAIN || !per_record)
        return name;
    const char *record = scope->style == STYLE_FIRST ? "0" : name_fresh(scope->code, "record");
    return arena_printf(scope->code->arena, "%s[%s]", name, record);
}

static struct piece piece_builtin(const struct expr_scope *scope, const struct expr *expr)
{
    const char *local = builtin_local(scope->code, expr->builtin);
    if (expr->builtin != BUILTIN_THREAD || scope->style == STYLE_PLAIN)
        return (struct piece){.text = variable_text(scope, local, code_varies(scope, expr)), .binds = BINDS_PRIMARY};
    if (scope->style == STYLE_FIRST)
        return (struct piece){.text = local, .binds = BINDS_PRIMARY};
    return (struct piece){.text = arena_printf(scope->code->arena, "%s + %s", local, name_fresh(scope->code, "record")),
                          .binds = BINDS_ADD};
}

static struct piece piece_name(const struct expr_scope *scope, const struct expr *expr)
{
    switch (expr->binding) {
    case EXPR_PARAM:
        return (struct piece){.text = param_name(scope->code, expr->name), .binds = BINDS_PRIMARY};
    case EXPR_BUILTIN:
        if (scope->builtin_used != NULL)
            scope->builtin_used[expr->builtin] = true;
        return piece_builtin(scope, expr);
    case EXPR_VARIABLE:
        return (struct piece){.text = variable_text(scope, expr->name, code_varies(scope, expr)),
                              .binds = BINDS_PRIMARY};
    case EXPR_UNBOUND:
        break;
    }
    return piece_number(scope, expr->value);
}

static const char *enclosed(const struct expr_scope *scope, const struct piece *piece, bool parentheses)
{
    return parentheses ? arena_printf(scope->code->arena, "(%s)", piece->text) : piece->text;
}

static struct piece translate(const struct expr_scope *scope, const struct expr *expr);

static enum precedence binding_of(enum expr_op op)
{
    switch (op) {
    case EXPR_MULTIPLY:
    case EXPR_DIVIDE:
    case EXPR_REMAINDER:
        return BINDS_MULTIPLY;
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return BINDS_ADD;
    case EXPR_SHIFT_LEFT:
    case EXPR_SHIFT_RIGHT:
        return BINDS_SHIFT;
    case EXPR_LESS:
    case EXPR_LESS_EQUAL:
    case EXPR_GREATER:
    case EXPR_GREATER_EQUAL:
        return BINDS_LESS;
    case EXPR_EQUAL:
    case EXPR_NOT_EQUAL:
        return BINDS_EQUAL;
    case EXPR_AND:
        return BINDS_AND;
    case EXPR_XOR:
        return BINDS_XOR;
    case EXPR_OR:
        return BINDS_OR;
    case EXPR_LOGICAL_AND:
        return BINDS_LOGICAL_AND;
    case EXPR_LOGICAL_OR:
        return BINDS_LOGICAL_OR;
    case EXPR_CONDITIONAL:
        return BINDS_CONDITIONAL;
    case EXPR_NEGATE:
    case EXPR_COMPLEMENT:
    case EXPR_NOT:
        return BINDS_UNARY;
    case EXPR_NUMBER:
    case EXPR_NAME:
    case EXPR_LOOKUP:
    case EXPR_MIN:
    case EXPR_MAX:
        break;
    }
    return BINDS_PRIMARY;
}

static const char *operator_text(enum expr_op op)
{
    switch (op) {
    case EXPR_MULTIPLY:
        return "*";
    case EXPR_DIVIDE:
        return "/";
    case EXPR_REMAINDER:
        return "%";
    case EXPR_ADD:
        return "+";
    case EXPR_SUBTRACT:
    case EXPR_NEGATE:
        return "-";
    case EXPR_SHIFT_LEFT:
        return "<<";
    case EXPR_SHIFT_RIGHT:
        return ">>";
    case EXPR_LESS:
        return "<";
    case EXPR_LESS_EQUAL:
        return "<=";
    case EXPR_GREATER:
        return ">";
    case EXPR_GREATER_EQUAL:
        return ">=";
    case EXPR_EQUAL:
        return "==";
    case EXPR_NOT_EQUAL:
        return "!=";
    case EXPR_AND:
        return "&";
    case EXPR_XOR:
        return "^";
    case EXPR_OR:
        return "|";
    case EXPR_LOGICAL_AND:
        return "&&";
    case EXPR_LOGICAL_OR:
        return "||";
    case EXPR_COMPLEMENT:
        return "~";
    case EXPR_NOT:
        return "!";
    case EXPR_NUMBER:
    case EXPR_NAME:
    case EXPR_LOOKUP:
    case EXPR_CONDITIONAL:
    case EXPR_MIN:
    case EXPR_MAX:
        break;
    }
    return "";
}

/* Where C++ would do without parentheses but compilers (or readers) ask for them: all but the usual arithmetic,
 * arithmetic compared, and comparisons joined. */
static bool wants_parentheses(enum precedence outer, const struct piece *inner, bool right)
{
    if (inner->binds >= BINDS_UNARY)
        return false;
    if (inner->binds < outer || (inner->binds == outer && right))
        return true;
    bool arithmetic = inner->binds >= BINDS_ADD;
    switch (outer) {
    case BINDS_MULTIPLY:
    case BINDS_ADD:
        return false;
    case BINDS_LESS:
    case BINDS_EQUAL:
        return !arithmetic;
    case BINDS_LOGICAL_AND:
    case BINDS_LOGICAL_OR:
        return inner->binds < BINDS_EQUAL && inner->binds != outer;
    case BINDS_CONDITIONAL:
        return inner->binds == BINDS_CONDITIONAL;
    case BINDS_SHIFT:
    case BINDS_AND:
    case BINDS_XOR:
    case BINDS_OR:
    case BINDS_UNARY:
    case BINDS_PRIMARY:
        break;
    }
    return true;
}

static bool can_overflow(enum expr_op op)
{
    return op == EXPR_ADD || op == EXPR_SUBTRACT || op == EXPR_MULTIPLY || op == EXPR_DIVIDE || op == EXPR_SHIFT_LEFT ||
           op == EXPR_SHIFT_RIGHT;
}

static bool gives_truth(enum expr_op op)
{
    enum precedence binds = binding_of(op);
    return op == EXPR_NOT || binds == BINDS_LESS || binds == BINDS_EQUAL || binds == BINDS_LOGICAL_AND ||
           binds == BINDS_LOGICAL_OR;
}

/* The constant value of an operation, as long as an int can hold it. */
static bool fold_narrow(enum expr_op op, const struct piece *a, const struct piece *b, int64_t *out)
{
    bool lazy = op == EXPR_LOGICAL_AND || op == EXPR_LOGICAL_OR;
    return a->constant && b->constant && !lazy && expr_apply(out, op, a->value, b->value) == EXPR_FINE &&
           *out >= INT32_MIN && *out <= INT32_MAX;
}

static struct piece translate_binary(const struct expr_scope *scope, const struct expr *expr)
{
    struct arena *arena = scope->code->arena;
    struct piece a = translate(scope, expr->operand[0]), b = translate(scope, expr->operand[1]);
    enum precedence binds = binding_of(expr->op);
    struct piece result = {.binds = binds, .narrow = (a.narrow && b.narrow) || gives_truth(expr->op)};
    result.constant = result.narrow && fold_narrow(expr->op, &a, &b, &result.value);
    const char *left = enclosed(scope, &a, wants_parentheses(binds, &a, false));
    /* A shift has the type of its left operand. */
    bool shift = binds == BINDS_SHIFT;
    if (can_overflow(expr->op) && !result.constant && (shift ? a.narrow : a.narrow && b.narrow)) {
        left = arena_printf(arena, "std::int64_t(%s)", a.text);
        result.narrow = false;
    } else if (shift) {
        result.narrow = a.narrow;
    }
    const char *right = enclosed(scope, &b, wants_parentheses(binds, &b, true));
    result.text = arena_printf(arena, "%s %s %s", left, operator_text(expr->op), right);
    return result;
}

static struct piece translate_unary(const struct expr_scope *scope, const struct expr *expr)
{
    struct piece a = translate(scope, expr->operand[0]);
    struct piece result = {.binds = BINDS_UNARY, .narrow = a.narrow || expr->op == EXPR_NOT};
    const char *operand = enclosed(scope, &a, a.binds <= BINDS_UNARY);
    /* The least int has no negative. */
    if (expr->op == EXPR_NEGATE && a.narrow && !a.constant) {
        operand = arena_printf(scope->code->arena, "std::int64_t(%s)", a.text);
        result.narrow = false;
    }
    result.constant = a.narrow && a.constant && expr_apply(&result.value, expr->op, a.value, 0) == EXPR_FINE;
    if (result.constant && (result.value < INT32_MIN || result.value > INT32_MAX))
        result.narrow = result.constant = false;
    result.text = arena_printf(scope->code->arena, "%s%s", operator_text(expr->op), operand);
    return result;
}

static struct piece translate_conditional(const struct expr_scope *scope, const struct expr *expr)
{
    struct piece test = translate(scope, expr->operand[0]), a = translate(scope, expr->operand[1]);
    struct piece b = translate(scope, expr->operand[2]);
    return (struct piece){
        .text = arena_printf(scope->code->arena, "%s ? %s : %s",
                             enclosed(scope, &test, wants_parentheses(BINDS_CONDITIONAL, &test, true)),
                             enclosed(scope, &a, wants_parentheses(BINDS_CONDITIONAL, &a, true)),
                             enclosed(scope, &b, wants_parentheses(BINDS_CONDITIONAL, &b, true))),
        .binds = BINDS_CONDITIONAL,
        .narrow = a.narrow && b.narrow,
    };
}

static struct piece translate(const struct expr_scope *scope, const struct expr *expr)
{
    struct arena *arena = scope->code->arena;
    switch (expr->op) {
    case EXPR_NUMBER:
        return piece_number(scope, expr->value);
    case EXPR_NAME:
        return piece_name(scope, expr);
    case EXPR_LOOKUP: {
        struct piece index = translate(scope, expr->operand[0]);
        return (struct piece){
            .text = arena_printf(arena, "%s[%s]", expr->name, index.text), .binds = BINDS_PRIMARY, .narrow = true};
    }
    case EXPR_NEGATE:
    case EXPR_COMPLEMENT:
    case EXPR_NOT:
        return translate_unary(scope, expr);
    case EXPR_MIN:
    case EXPR_MAX: {
        struct piece a = translate(scope, expr->operand[0]), b = translate(scope, expr->operand[1]);
        return (struct piece){.text = arena_printf(arena, "%s::%s(%s, %s)", name_fresh(scope->code, "sw"),
                                                   expr->op == EXPR_MIN ? "least" : "most", a.text, b.text),
                              .binds = BINDS_PRIMARY};
    }
    case EXPR_CONDITIONAL:
        return translate_conditional(scope, expr);
    case EXPR_MULTIPLY:
    case EXPR_DIVIDE:
    case EXPR_REMAINDER:
    case EXPR_ADD:
    case EXPR_SUBTRACT:
    case EXPR_SHIFT_LEFT:
    case EXPR_SHIFT_RIGHT:
    case EXPR_LESS:
    case EXPR_LESS_EQUAL:
    case EXPR_GREATER:
    case EXPR_GREATER_EQUAL:
    case EXPR_EQUAL:
    case EXPR_NOT_EQUAL:
    case EXPR_AND:
    case EXPR_XOR:
    case EXPR_OR:
    case EXPR_LOGICAL_AND:
    case EXPR_LOGICAL_OR:
        break;
    }
    return translate_binary(scope, expr);
}

const char *code_expr(const struct expr_scope *scope, const struct expr *expr)
{
    return translate(scope, expr).text;
}
