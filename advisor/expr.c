#include "expr.h"

#include <string.h>

#include "checked.h"
#include "expr_lex.h"
#include "spec.h"

/* EXPR_DEPTH_MAX bounds what nests as written; a chain such as a+b+c nests in the tree alone, one level a term. Both
 * are bounded, so that every walk over a tree may recurse. */
enum { TREE_HEIGHT_MAX = 1000, NODES_MAX = 10000 };

/* How much of a strange token is quoted. */
enum { SHOWN_MAX = 40 };

struct parser {
    struct arena *arena;
    struct diags *diags;
    struct expr_lexer *lexer;
    struct expr_token token;    /* the next one */
    struct expr_token previous; /* the one taken last; .length == 0: none */
    unsigned depth;
    unsigned brackets; /* parentheses and brackets that are open */
    unsigned nodes;
    bool spaces_separate; /* outside brackets an expression may follow another */
};

/* A tree with the levels that it has; expr == NULL: failed, and was reported. */
struct subtree {
    struct expr *expr;
    unsigned height;
};

static const struct subtree failed = {NULL, 0};

static void take(struct parser *parser)
{
    parser->previous = parser->token;
    parser->token = expr_lex_next(parser->lexer, parser->diags);
}

static int shown_length(const struct expr_token *token)
{
    return token->length > SHOWN_MAX ? SHOWN_MAX : (int)token->length;
}

static bool is_word(const struct expr_token *token, const char *word)
{
    return token->kind == TOKEN_NAME && token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

/* Words that other languages have where an operator may stand. */
static void note_foreign_operator(struct parser *parser)
{
    static const char *const mends[][2] = {
        {"gt", "'>' needs no escape in XML: write '>'"},
        {"ge", "'>' needs no escape in XML: write '>='"},
        {"shr", "'>' needs no escape in XML: write '>>'"},
        {"eq", "write '=='"},
        {"ne", "write '!='"},
        {"mod", "write '%'"},
        {"div", "write '/'"},
        {"xor", "write '^'"},
        {"bor", "write '|'"},
    };
    for (size_t i = 0; i < sizeof(mends) / sizeof(mends[0]); i++)
        if (is_word(&parser->token, mends[i][0]))
            diag_note(parser->diags, "%s", mends[i][1]);
}

static bool is_foreign_comparison(const struct expr_token *token)
{
    return is_word(token, "gt") || is_word(token, "ge");
}

/* Reports that an operand is missing where the next token stands. */
static struct subtree report_no_operand(struct parser *parser)
{
    const struct expr_token *token = &parser->token, *previous = &parser->previous;
    if (token->kind == TOKEN_BAD)
        return failed;
    if (token->kind != TOKEN_END)
        diag_error(parser->diags, "expr-syntax", token->where, "expected an operand before '%.*s'", shown_length(token),
                   token->text);
    else if (previous->length == 0)
        diag_error(parser->diags, "expr-syntax", token->where, "empty expression");
    else
        diag_error(parser->diags, "expr-syntax", previous->where, "expected an operand after '%.*s'",
                   shown_length(previous), previous->text);
    return failed;
}

/* Reports a token that cannot stand after a complete expression. */
static struct subtree report_leftover(struct parser *parser)
{
    const struct expr_token *token = &parser->token;
    if (token->kind == TOKEN_BAD)
        return failed;
    if (token->kind == TOKEN_CLOSE || token->kind == TOKEN_CLOSE_INDEX)
        diag_error(parser->diags, "expr-syntax", token->where, "unbalanced '%.*s'", shown_length(token), token->text);
    else if (token->kind == TOKEN_COMMA)
        diag_error(parser->diags, "expr-syntax", token->where, "unexpected ','");
    else if (token->kind == TOKEN_COLON)
        diag_error(parser->diags, "expr-syntax", token->where, "':' without '?'");
    else
        diag_error(parser->diags, "expr-syntax", token->where, "expected an operator before '%.*s'",
                   shown_length(token), token->text);
    if (token->kind == TOKEN_COMMA && parser->spaces_separate)
        diag_note(parser->diags, "expressions are separated by spaces here");
    note_foreign_operator(parser);
    return failed;
}

/* Takes the token that closes or divides what `open` began, or reports that it is missing. */
static bool expect(struct parser *parser, enum expr_token_kind kind, const char *wanted, const struct expr_token *open)
{
    const struct expr_token *token = &parser->token;
    if (token->kind == kind) {
        take(parser);
        return true;
    }
    if (token->kind == TOKEN_BAD)
        return false;
    if (token->kind == TOKEN_END && kind != TOKEN_COLON)
        diag_error(parser->diags, "expr-syntax", open->where, "unbalanced '%.*s'", shown_length(open), open->text);
    else if (token->kind == TOKEN_END)
        diag_error(parser->diags, "expr-syntax", open->where, "'?' without '%s'", wanted);
    else
        diag_error(parser->diags, "expr-syntax", token->where, "expected an operator or '%s' before '%.*s'", wanted,
                   shown_length(token), token->text);
    note_foreign_operator(parser);
    return false;
}

/* Enters one more level of nesting as written; leave with parser->depth--. */
static bool enter(struct parser *parser)
{
    /* The expression itself is no level. */
    if (parser->depth > EXPR_DEPTH_MAX) {
        diag_error(parser->diags, "expr-depth", parser->token.where, "expression nests deeper than %d levels",
                   EXPR_DEPTH_MAX);
        return false;
    }
    parser->depth++;
    return true;
}

static struct span span_join(struct span first, struct span last)
{
    if (first.source == NULL)
        return first;
    first.length = last.offset + last.length - first.offset;
    return first;
}

static struct expr *make_node(struct parser *parser, enum expr_op op, struct span at)
{
    if (++parser->nodes > NODES_MAX) {
        diag_error(parser->diags, "expr-size", at, "expression has more than %d operands and operators", NODES_MAX);
        return NULL;
    }
    struct expr *expr = arena_alloc(parser->arena, sizeof(*expr));
    expr->op = op;
    expr->at = at;
    expr->where = at;
    return expr;
}

/* A node over up to three operands, the unused ones `failed`. */
static struct subtree make_tree(struct parser *parser, enum expr_op op, struct span at, struct subtree a,
                                struct subtree b, struct subtree c)
{
    unsigned height = a.height > b.height ? a.height : b.height;
    height = (height > c.height ? height : c.height) + 1;
    if (height > TREE_HEIGHT_MAX) {
        diag_error(parser->diags, "expr-depth", at, "expression chains more than %d operators", TREE_HEIGHT_MAX);
        return failed;
    }
    struct expr *expr = make_node(parser, op, at);
    if (expr == NULL)
        return failed;
    expr->operand[0] = a.expr;
    expr->operand[1] = b.expr;
    expr->operand[2] = c.expr;
    const struct expr *last = c.expr != NULL ? c.expr : b.expr != NULL ? b.expr : a.expr;
    expr->where = span_join(b.expr != NULL ? a.expr->where : at, last->where);
    return (struct subtree){expr, height};
}

static struct subtree parse_conditional(struct parser *parser);

static struct subtree parse_parenthesis(struct parser *parser)
{
    struct expr_token open = parser->token;
    take(parser);
    parser->brackets++;
    struct subtree inside = parse_conditional(parser);
    if (inside.expr == NULL || !expect(parser, TOKEN_CLOSE, ")", &open))
        return failed;
    parser->brackets--;
    inside.expr->where = span_join(open.where, parser->previous.where);
    return inside;
}

static struct subtree parse_number(struct parser *parser)
{
    take(parser);
    struct expr *expr = make_node(parser, EXPR_NUMBER, parser->previous.where);
    if (expr == NULL)
        return failed;
    expr->value = parser->previous.number;
    return (struct subtree){expr, 1};
}

/* A name alone. */
static struct subtree parse_variable(struct parser *parser, const struct expr_token *name)
{
    struct expr *expr = make_node(parser, EXPR_NAME, name->where);
    if (expr == NULL)
        return failed;
    expr->name = arena_copy(parser->arena, name->text, name->length);
    return (struct subtree){expr, 1};
}

/* What follows `table[`. */
static struct subtree parse_lookup(struct parser *parser, const struct expr_token *name)
{
    struct expr_token open = parser->token;
    take(parser);
    parser->brackets++;
    struct subtree index = parse_conditional(parser);
    if (index.expr == NULL || !expect(parser, TOKEN_CLOSE_INDEX, "]", &open))
        return failed;
    parser->brackets--;
    struct subtree tree = make_tree(parser, EXPR_LOOKUP, name->where, index, failed, failed);
    if (tree.expr == NULL)
        return failed;
    tree.expr->name = arena_copy(parser->arena, name->text, name->length);
    tree.expr->where = span_join(name->where, parser->previous.where);
    return tree;
}

static bool report_few_arguments(struct parser *parser, const struct expr_token *name, unsigned count)
{
    diag_error(parser->diags, "function-arguments", name->where, "'%.*s' takes two or more arguments, not %u",
               shown_length(name), name->text, count);
    return false;
}

static struct subtree make_fold(struct parser *parser, enum expr_op op, const struct expr_token *name,
                                struct subtree left, struct subtree right)
{
    struct subtree tree = make_tree(parser, op, name->where, left, right, failed);
    if (tree.expr != NULL)
        tree.expr->where = span_join(name->where, right.expr->where);
    return tree;
}

/* The arguments of min and max, folded from the left: min(a, b, c) is min(min(a, b), c). */
static struct subtree parse_arguments(struct parser *parser, enum expr_op op, const struct expr_token *name)
{
    struct subtree result = failed;
    unsigned count = 0;
    do {
        if (count > 0)
            take(parser);
        struct subtree argument = parse_conditional(parser);
        if (argument.expr == NULL)
            return failed;
        result = count++ == 0 ? argument : make_fold(parser, op, name, result, argument);
        if (result.expr == NULL)
            return failed;
    } while (parser->token.kind == TOKEN_COMMA);
    if (count < 2 && parser->token.kind == TOKEN_CLOSE && !report_few_arguments(parser, name, count))
        return failed;
    return result;
}

/* What follows `name(`. */
static struct subtree parse_call(struct parser *parser, const struct expr_token *name)
{
    bool is_min = is_word(name, "min");
    if (!is_min && !is_word(name, "max")) {
        diag_error(parser->diags, "unknown-function", name->where, "unknown function '%.*s'", shown_length(name),
                   name->text);
        diag_note(parser->diags, "the functions are 'min' and 'max'");
        return failed;
    }
    struct expr_token open = parser->token;
    take(parser);
    if (parser->token.kind == TOKEN_CLOSE && !report_few_arguments(parser, name, 0))
        return failed;
    parser->brackets++;
    struct subtree result = parse_arguments(parser, is_min ? EXPR_MIN : EXPR_MAX, name);
    if (result.expr == NULL || !expect(parser, TOKEN_CLOSE, ")", &open))
        return failed;
    parser->brackets--;
    result.expr->where = span_join(name->where, parser->previous.where);
    return result;
}

static struct subtree parse_name(struct parser *parser)
{
    struct expr_token name = parser->token;
    take(parser);
    bool is_function = is_word(&name, "min") || is_word(&name, "max");
    /* In a list "N (2)" is two expressions; "N(2)" is a call, and an error. */
    bool next_begins = parser->spaces_separate && parser->brackets == 0 && parser->token.spaced && !is_function;
    if (parser->token.kind == TOKEN_OPEN && !next_begins)
        return parse_call(parser, &name);
    if (parser->token.kind == TOKEN_OPEN_INDEX)
        return parse_lookup(parser, &name);
    if (!is_function)
        return parse_variable(parser, &name);
    diag_error(parser->diags, "expr-syntax", name.where, "expected '(' after '%.*s'", shown_length(&name), name.text);
    return failed;
}

static struct subtree parse_operand(struct parser *parser)
{
    if (parser->token.kind == TOKEN_OPEN)
        return parse_parenthesis(parser);
    if (parser->token.kind == TOKEN_NUMBER)
        return parse_number(parser);
    if (parser->token.kind == TOKEN_NAME)
        return parse_name(parser);
    return report_no_operand(parser);
}

static struct subtree parse_unary(struct parser *parser);

/* The operand of the unary operator that was taken last. */
static struct subtree parse_unary_operand(struct parser *parser)
{
    struct expr_token sign = parser->previous;
    struct subtree operand = parse_unary(parser);
    if (operand.expr == NULL)
        return failed;
    if (sign.kind == TOKEN_PLUS) {
        operand.expr->where = span_join(sign.where, operand.expr->where);
        return operand;
    }
    enum expr_op op = sign.kind == TOKEN_MINUS ? EXPR_NEGATE : sign.kind == TOKEN_TILDE ? EXPR_COMPLEMENT : EXPR_NOT;
    return make_tree(parser, op, sign.where, operand, failed, failed);
}

static struct subtree parse_unary(struct parser *parser)
{
    enum expr_token_kind kind = parser->token.kind;
    if (kind != TOKEN_MINUS && kind != TOKEN_PLUS && kind != TOKEN_TILDE && kind != TOKEN_NOT)
        return parse_operand(parser);
    if (!enter(parser))
        return failed;
    take(parser);
    struct subtree result = parse_unary_operand(parser);
    parser->depth--;
    return result;
}

/* The binary operators; a higher rank binds more tightly, and all of them group from the left. 0: none. */
static unsigned binary_operator(enum expr_token_kind kind, enum expr_op *op)
{
    static const struct {
        enum expr_token_kind kind;
        enum expr_op op;
        unsigned rank;
    } operators[] = {
        {TOKEN_STAR, EXPR_MULTIPLY, 10},
        {TOKEN_SLASH, EXPR_DIVIDE, 10},
        {TOKEN_PERCENT, EXPR_REMAINDER, 10},
        {TOKEN_PLUS, EXPR_ADD, 9},
        {TOKEN_MINUS, EXPR_SUBTRACT, 9},
        {TOKEN_SHIFT_LEFT, EXPR_SHIFT_LEFT, 8},
        {TOKEN_SHIFT_RIGHT, EXPR_SHIFT_RIGHT, 8},
        {TOKEN_LESS, EXPR_LESS, 7},
        {TOKEN_LESS_EQUAL, EXPR_LESS_EQUAL, 7},
        {TOKEN_GREATER, EXPR_GREATER, 7},
        {TOKEN_GREATER_EQUAL, EXPR_GREATER_EQUAL, 7},
        {TOKEN_EQUAL, EXPR_EQUAL, 6},
        {TOKEN_NOT_EQUAL, EXPR_NOT_EQUAL, 6},
        {TOKEN_AND, EXPR_AND, 5},
        {TOKEN_XOR, EXPR_XOR, 4},
        {TOKEN_OR, EXPR_OR, 3},
        {TOKEN_LOGICAL_AND, EXPR_LOGICAL_AND, 2},
        {TOKEN_LOGICAL_OR, EXPR_LOGICAL_OR, 1},
    };
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (operators[i].kind == kind) {
            *op = operators[i].op;
            return operators[i].rank;
        }
    }
    return 0;
}

/* Operators of at least `rank`. Recurses at most once a rank between two levels of nesting. */
static struct subtree parse_binary(struct parser *parser, unsigned rank)
{
    struct subtree left = parse_unary(parser);
    while (left.expr != NULL) {
        enum expr_op op;
        unsigned found = binary_operator(parser->token.kind, &op);
        if (found < rank || found == 0)
            break;
        take(parser);
        struct span at = parser->previous.where;
        struct subtree right = parse_binary(parser, found + 1);
        if (right.expr == NULL)
            return failed;
        left = make_tree(parser, op, at, left, right, failed);
    }
    return left;
}

static struct subtree parse_branches(struct parser *parser, struct subtree test)
{
    struct expr_token question = parser->token;
    take(parser);
    struct subtree yes = parse_conditional(parser);
    if (yes.expr == NULL || !expect(parser, TOKEN_COLON, ":", &question))
        return failed;
    struct subtree no = parse_conditional(parser);
    if (no.expr == NULL)
        return failed;
    return make_tree(parser, EXPR_CONDITIONAL, question.where, test, yes, no);
}

static struct subtree parse_conditional(struct parser *parser)
{
    if (!enter(parser))
        return failed;
    struct subtree result = parse_binary(parser, 1);
    if (result.expr != NULL && parser->token.kind == TOKEN_QUESTION)
        result = parse_branches(parser, result);
    parser->depth--;
    return result;
}

static bool may_begin(const struct expr_token *token)
{
    return token->kind == TOKEN_NUMBER || token->kind == TOKEN_NAME || token->kind == TOKEN_OPEN ||
           token->kind == TOKEN_TILDE || token->kind == TOKEN_NOT;
}

/* Goes past what divides an expression of a list from the next. False at the end of the list and after an error. */
static bool next_of_list(struct parser *parser, enum expr_separator separator, bool *wrong)
{
    if (parser->token.kind == TOKEN_END)
        return false;
    if (separator == EXPR_COMMAS && parser->token.kind == TOKEN_COMMA) {
        take(parser);
        return true;
    }
    if (separator == EXPR_SPACES && may_begin(&parser->token) && !is_foreign_comparison(&parser->token))
        return true;
    (void)report_leftover(parser);
    *wrong = true;
    return false;
}

static size_t parse_list(struct parser *parser, struct expr *out[], size_t most, enum expr_separator separator)
{
    size_t count = 0;
    bool wrong = false;
    do {
        if (count == most) {
            diag_error(parser->diags, "list-length", parser->token.where, "more than %zu expression%s", most,
                       most == 1 ? "" : "s");
            return 0;
        }
        struct subtree tree = parse_conditional(parser);
        if (tree.expr == NULL)
            return 0;
        out[count++] = tree.expr;
    } while (next_of_list(parser, separator, &wrong));
    return wrong ? 0 : count;
}

static struct parser start(struct arena *arena, const struct quoted *text, struct diags *diags)
{
    struct parser parser = {.arena = arena, .diags = diags, .lexer = expr_lex_open(text)};
    parser.token = expr_lex_next(parser.lexer, diags);
    return parser;
}

struct expr *expr_parse(struct arena *arena, const struct quoted *text, struct diags *diags)
{
    struct parser parser = start(arena, text, diags);
    struct subtree tree = parse_conditional(&parser);
    if (tree.expr != NULL && parser.token.kind != TOKEN_END)
        tree = report_leftover(&parser);
    expr_lex_close(parser.lexer);
    return tree.expr;
}

size_t expr_parse_list(struct expr *out[], size_t most, struct arena *arena, const struct quoted *text,
                       enum expr_separator separator, struct diags *diags)
{
    struct parser parser = start(arena, text, diags);
    parser.spaces_separate = separator == EXPR_SPACES;
    size_t count = parse_list(&parser, out, most, separator);
    expr_lex_close(parser.lexer);
    return count;
}

bool expr_bind(struct expr *expr, expr_resolve *resolve, void *context, struct diags *diags)
{
    bool bound = true;
    if (expr->op == EXPR_NAME || expr->op == EXPR_LOOKUP)
        bound = resolve(context, expr, diags);
    for (size_t i = 0; i < sizeof(expr->operand) / sizeof(expr->operand[0]); i++)
        if (expr->operand[i] != NULL)
            bound = expr_bind(expr->operand[i], resolve, context, diags) && bound;
    return bound;
}

const char *expr_builtin_name(enum expr_builtin builtin)
{
    static const char *const names[BUILTIN_COUNT] = {
        [BUILTIN_THREAD_IDX_X] = "threadIdx.x",
        [BUILTIN_THREAD_IDX_Y] = "threadIdx.y",
        [BUILTIN_THREAD_IDX_Z] = "threadIdx.z",
        [BUILTIN_BLOCK_IDX_X] = "blockIdx.x",
        [BUILTIN_BLOCK_IDX_Y] = "blockIdx.y",
        [BUILTIN_BLOCK_IDX_Z] = "blockIdx.z",
        [BUILTIN_BLOCK_DIM_X] = "blockDim.x",
        [BUILTIN_BLOCK_DIM_Y] = "blockDim.y",
        [BUILTIN_BLOCK_DIM_Z] = "blockDim.z",
        [BUILTIN_GRID_DIM_X] = "gridDim.x",
        [BUILTIN_GRID_DIM_Y] = "gridDim.y",
        [BUILTIN_GRID_DIM_Z] = "gridDim.z",
        [BUILTIN_THREAD] = "thread",
        [BUILTIN_LANE] = "lane",
        [BUILTIN_WARP] = "warp",
    };
    return names[builtin];
}

bool expr_builtin_find(const char *name, enum expr_builtin *out)
{
    for (enum expr_builtin i = BUILTIN_THREAD_IDX_X; i < BUILTIN_COUNT; i++) {
        if (strcmp(expr_builtin_name(i), name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static enum expr_fault fits(bool exact)
{
    return exact ? EXPR_FINE : EXPR_OVERFLOW;
}

/* INT64_MIN / -1 does not fit, and C leaves its remainder undefined with it. */
static enum expr_fault divide(int64_t *out, enum expr_op op, int64_t a, int64_t b)
{
    if (b == 0)
        return EXPR_DIVISION_BY_ZERO;
    if (a == INT64_MIN && b == -1)
        return EXPR_OVERFLOW;
    *out = op == EXPR_DIVIDE ? a / b : a % b;
    return EXPR_FINE;
}

static enum expr_fault shift(int64_t *out, enum expr_op op, int64_t a, int64_t b)
{
    if (b < 0 || b > 63)
        return EXPR_SHIFT_RANGE;
    if (op == EXPR_SHIFT_RIGHT) {
        /* Arithmetic, whatever the compiler makes of a negative left side. */
        *out = a < 0 ? ~(~a >> b) : a >> b;
        return EXPR_FINE;
    }
    if (a < 0)
        return EXPR_SHIFT_RANGE;
    if (a > (INT64_MAX >> b))
        return EXPR_OVERFLOW;
    *out = a << b;
    return EXPR_FINE;
}

static bool compare(enum expr_op op, int64_t a, int64_t b)
{
    return op == EXPR_LESS            ? a < b
           : op == EXPR_LESS_EQUAL    ? a <= b
           : op == EXPR_GREATER       ? a > b
           : op == EXPR_GREATER_EQUAL ? a >= b
           : op == EXPR_EQUAL         ? a == b
                                      : a != b;
}

enum expr_fault expr_apply(int64_t *out, enum expr_op op, int64_t a, int64_t b)
{
    switch (op) {
    case EXPR_NEGATE:
        return fits(checked_sub_i64(out, 0, a));
    case EXPR_COMPLEMENT:
        *out = ~a;
        return EXPR_FINE;
    case EXPR_NOT:
        *out = a == 0;
        return EXPR_FINE;
    case EXPR_MULTIPLY:
        return fits(checked_mul_i64(out, a, b));
    case EXPR_DIVIDE:
    case EXPR_REMAINDER:
        return divide(out, op, a, b);
    case EXPR_ADD:
        return fits(checked_add_i64(out, a, b));
    case EXPR_SUBTRACT:
        return fits(checked_sub_i64(out, a, b));
    case EXPR_SHIFT_LEFT:
    case EXPR_SHIFT_RIGHT:
        return shift(out, op, a, b);
    case EXPR_LESS:
    case EXPR_LESS_EQUAL:
    case EXPR_GREATER:
    case EXPR_GREATER_EQUAL:
    case EXPR_EQUAL:
    case EXPR_NOT_EQUAL:
        *out = compare(op, a, b);
        return EXPR_FINE;
    case EXPR_AND:
        *out = a & b;
        return EXPR_FINE;
    case EXPR_XOR:
        *out = a ^ b;
        return EXPR_FINE;
    case EXPR_OR:
        *out = a | b;
        return EXPR_FINE;
    case EXPR_MIN:
        *out = a < b ? a : b;
        return EXPR_FINE;
    case EXPR_MAX:
        *out = a > b ? a : b;
        return EXPR_FINE;
    case EXPR_NUMBER:
    case EXPR_NAME:
    case EXPR_LOOKUP:
    case EXPR_LOGICAL_AND:
    case EXPR_LOGICAL_OR:
    case EXPR_CONDITIONAL:
        break;
    }
    /* Not an operation on values: the caller was told not to. */
    *out = 0;
    return EXPR_FINE;
}

static int64_t name_value(const struct expr *expr, const struct expr_frame *frame)
{
    switch (expr->binding) {
    case EXPR_UNBOUND:
    case EXPR_PARAM:
        break;
    case EXPR_BUILTIN:
        return frame->builtins[expr->builtin];
    case EXPR_VARIABLE:
        return frame->variables[expr->slot];
    }
    return expr->value;
}

static enum expr_fault look_up(int64_t *out, const struct expr *expr, int64_t index, const struct expr **culprit,
                               int64_t *detail)
{
    if (index < 0 || (uint64_t)index >= expr->table->extent) {
        *culprit = expr;
        *detail = index;
        return EXPR_TABLE_RANGE;
    }
    *out = expr->table->data[index];
    return EXPR_FINE;
}

/* Applies an operator to evaluated operands and says who failed. */
static enum expr_fault apply_node(int64_t *out, const struct expr *expr, int64_t a, int64_t b,
                                  const struct expr **culprit, int64_t *detail)
{
    enum expr_fault fault = expr_apply(out, expr->op, a, b);
    if (fault != EXPR_FINE) {
        *culprit = expr;
        *detail = b;
    }
    return fault;
}

enum expr_fault expr_evaluate(int64_t *out, const struct expr *expr, const struct expr_frame *frame,
                              const struct expr **culprit, int64_t *detail)
{
    if (expr->op == EXPR_NUMBER) {
        *out = expr->value;
        return EXPR_FINE;
    }
    if (expr->op == EXPR_NAME) {
        *out = name_value(expr, frame);
        return EXPR_FINE;
    }
    int64_t a, b = 0;
    enum expr_fault fault = expr_evaluate(&a, expr->operand[0], frame, culprit, detail);
    if (fault != EXPR_FINE)
        return fault;
    if (expr->op == EXPR_LOOKUP)
        return look_up(out, expr, a, culprit, detail);
    if (expr->op == EXPR_CONDITIONAL)
        return expr_evaluate(out, expr->operand[a != 0 ? 1 : 2], frame, culprit, detail);
    bool is_and = expr->op == EXPR_LOGICAL_AND, is_or = expr->op == EXPR_LOGICAL_OR;
    if ((is_and && a == 0) || (is_or && a != 0)) {
        *out = is_or;
        return EXPR_FINE;
    }
    if (expr->operand[1] != NULL)
        fault = expr_evaluate(&b, expr->operand[1], frame, culprit, detail);
    if (fault != EXPR_FINE)
        return fault;
    if (is_and || is_or) {
        *out = b != 0;
        return EXPR_FINE;
    }
    return apply_node(out, expr, a, b, culprit, detail);
}

static const char *operator_text(enum expr_op op)
{
    switch (op) {
    case EXPR_NEGATE:
    case EXPR_SUBTRACT:
        return "-";
    case EXPR_MULTIPLY:
        return "*";
    case EXPR_DIVIDE:
        return "/";
    case EXPR_REMAINDER:
        return "%";
    case EXPR_ADD:
        return "+";
    case EXPR_SHIFT_LEFT:
        return "<<";
    /* The others cannot overflow. */
    case EXPR_NUMBER:
    case EXPR_NAME:
    case EXPR_LOOKUP:
    case EXPR_COMPLEMENT:
    case EXPR_NOT:
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
    case EXPR_CONDITIONAL:
    case EXPR_MIN:
    case EXPR_MAX:
        break;
    }
    return "?";
}

const char *expr_fault_message(struct arena *arena, enum expr_fault fault, const struct expr *culprit, int64_t detail)
{
    switch (fault) {
    case EXPR_FINE:
        break;
    case EXPR_DIVISION_BY_ZERO:
        return "division by zero";
    case EXPR_SHIFT_RANGE:
        /* The detail is the distance; where that is in range, the left side was not. */
        if (detail >= 0 && detail <= 63)
            return "left shift of a negative number";
        return arena_printf(arena, "shift by %lld is out of range", (long long)detail);
    case EXPR_OVERFLOW:
        return arena_printf(arena, "overflow beyond 64 bits in '%s'", operator_text(culprit->op));
    case EXPR_TABLE_RANGE:
        return arena_printf(arena, "index %lld is outside table '%s' of %llu", (long long)detail, culprit->name,
                            (unsigned long long)culprit->table->extent);
    }
    return "no fault";
}

static unsigned builtin_varies(enum expr_builtin builtin)
{
    switch (builtin) {
    case BUILTIN_THREAD_IDX_X:
    case BUILTIN_THREAD_IDX_Y:
    case BUILTIN_THREAD_IDX_Z:
    case BUILTIN_LANE:
    case BUILTIN_WARP:
        return EXPR_VARIES_THREAD;
    case BUILTIN_BLOCK_IDX_X:
    case BUILTIN_BLOCK_IDX_Y:
    case BUILTIN_BLOCK_IDX_Z:
        return EXPR_VARIES_BLOCK;
    case BUILTIN_THREAD:
        return EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK;
    case BUILTIN_BLOCK_DIM_X:
    case BUILTIN_BLOCK_DIM_Y:
    case BUILTIN_BLOCK_DIM_Z:
    case BUILTIN_GRID_DIM_X:
    case BUILTIN_GRID_DIM_Y:
    case BUILTIN_GRID_DIM_Z:
    case BUILTIN_COUNT:
        break;
    }
    return 0;
}

static unsigned name_varies(const struct expr *expr, const unsigned *slot_varies)
{
    switch (expr->binding) {
    case EXPR_UNBOUND:
    case EXPR_PARAM:
        break;
    case EXPR_BUILTIN:
        return builtin_varies(expr->builtin);
    case EXPR_VARIABLE:
        return slot_varies == NULL ? EXPR_VARIES_SLOT : slot_varies[expr->slot];
    }
    return 0;
}

unsigned expr_varies(const struct expr *expr, const unsigned *slot_varies)
{
    if (expr->op == EXPR_NAME)
        return name_varies(expr, slot_varies);
    unsigned varies = 0;
    for (size_t i = 0; i < sizeof(expr->operand) / sizeof(expr->operand[0]); i++)
        if (expr->operand[i] != NULL)
            varies |= expr_varies(expr->operand[i], slot_varies);
    if (expr->op == EXPR_LOOKUP && varies != 0)
        varies |= EXPR_VARIES_TABLE;
    return varies;
}

bool expr_same(const struct expr *a, const struct expr *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->op != b->op)
        return false;
    if (a->op == EXPR_NUMBER)
        return a->value == b->value;
    if (a->op == EXPR_NAME)
        return a->binding == b->binding && a->slot == b->slot && strcmp(a->name, b->name) == 0;
    if (a->op == EXPR_LOOKUP && a->table != b->table)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!expr_same(a->operand[i], b->operand[i]))
            return false;
    return true;
}
