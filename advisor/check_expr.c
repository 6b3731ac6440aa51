#include <string.h>

#include "check_internal.h"

/* The meaning of a name where it stands: a variable's, else a param's, table's or array's. */
static struct symbol *find_value(const struct scope *scope, const char *name)
{
    const struct names *names = &scope->checker->names;
    struct symbol *symbol = NULL;
    if (scope->kernel != NULL)
        symbol = check_names_find(names, scope->kernel, name, strlen(name));
    if (symbol != NULL && symbol->usable)
        return symbol;
    struct symbol *outer = check_names_find(names, value_space(scope->checker), name, strlen(name));
    return outer != NULL ? outer : symbol;
}

static void offer_values(const struct scope *scope, struct guess *guess, bool lookup)
{
    const struct spec *spec = scope->checker->spec;
    for (size_t i = 0; i < scope->visible_count && !lookup && check_guess_wants(guess); i++)
        check_guess_offer(guess, scope->visible[scope->visible_count - 1 - i]->name);
    for (size_t i = 0; i < spec->param_count && !lookup && check_guess_wants(guess); i++)
        check_guess_offer(guess, spec->params[i].name.text);
    for (const struct table *table = spec->tables; table != NULL && check_guess_wants(guess); table = table->next)
        check_guess_offer(guess, table->name.text);
    for (enum expr_builtin i = BUILTIN_THREAD_IDX_X; i < BUILTIN_COUNT && scope->kernel != NULL && !lookup; i++)
        check_guess_offer(guess, expr_builtin_name(i));
}

static void report_unknown(const struct scope *scope, const struct expr *name, const struct symbol *gone)
{
    struct diags *diags = scope->checker->diags;
    bool lookup = name->op == EXPR_LOOKUP;
    diag_error(diags, "unknown-name", name->at, "unknown %s '%s'", lookup ? "table" : "name", name->name);
    if (gone != NULL && gone->where.source != NULL) {
        diag_note(diags, "the '%s' of line %zu is known inside its 'for', 'if' or 'else' only", name->name,
                  source_locate(gone->where.source, gone->where.offset).line);
        return;
    }
    struct guess guess = check_guess_start(scope->checker, name->name);
    offer_values(scope, &guess, lookup);
    if (!check_guess_note(scope->checker, &guess) && strchr(name->name, '.') != NULL)
        diag_note(diags, "components are .x, .y and .z of threadIdx, blockIdx, blockDim and gridDim");
}

static bool resolve_builtin(const struct scope *scope, struct expr *name, enum expr_builtin builtin)
{
    if (scope->kernel == NULL) {
        diag_error(scope->checker->diags, "not-constant", name->at, "'%s' is not a constant", name->name);
        diag_note(scope->checker->diags, "only numbers, params and tables are known before a kernel runs");
        return false;
    }
    name->binding = EXPR_BUILTIN;
    name->builtin = builtin;
    return true;
}

static bool resolve_lookup(const struct scope *scope, struct expr *name)
{
    enum expr_builtin builtin;
    struct symbol *symbol = find_value(scope, name->name);
    bool is_builtin = expr_builtin_find(name->name, &builtin);
    if (is_builtin ||
        (symbol != NULL && symbol->kind != SYMBOL_TABLE && (symbol->usable || symbol->kind != SYMBOL_VARIABLE))) {
        diag_error(scope->checker->diags, "not-a-table", name->at, "'%s' is no table but %s", name->name,
                   is_builtin                     ? "a built-in value"
                   : symbol->kind == SYMBOL_ARRAY ? "an array"
                   : symbol->kind == SYMBOL_PARAM ? "a param"
                                                  : "a variable");
        if (!is_builtin && symbol->kind == SYMBOL_ARRAY)
            diag_note(scope->checker->diags,
                      "a look-up needs values known to the description: declare a 'table' beside "
                      "the array, whose 'read' counts the traffic");
        return false;
    }
    if (symbol == NULL || symbol->kind != SYMBOL_TABLE) {
        report_unknown(scope, name, symbol);
        return false;
    }
    name->table = symbol->item;
    return symbol->usable;
}

static bool resolve_name(const struct scope *scope, struct expr *name)
{
    enum expr_builtin builtin;
    if (expr_builtin_find(name->name, &builtin))
        return resolve_builtin(scope, name, builtin);
    struct diags *diags = scope->checker->diags;
    struct symbol *symbol = find_value(scope, name->name);
    if (symbol == NULL || (symbol->kind == SYMBOL_VARIABLE && !symbol->usable)) {
        report_unknown(scope, name, symbol);
        return false;
    }
    if (symbol->kind == SYMBOL_TABLE) {
        diag_error(diags, "not-a-table", name->at, "table '%s' has no value without a subscript", name->name);
        diag_note(diags, "write '%s[...]'", name->name);
        return false;
    }
    if (symbol->kind == SYMBOL_ARRAY) {
        diag_error(diags, "unknown-name", name->at, "array '%s' has no value in an expression", name->name);
        diag_note(diags, "index data that expressions read is a 'table'");
        return false;
    }
    if (symbol->kind == SYMBOL_VARIABLE) {
        name->binding = EXPR_VARIABLE;
        name->slot = (unsigned)symbol->number;
        return true;
    }
    name->binding = EXPR_PARAM;
    name->value = ((const struct param *)symbol->item)->number;
    return symbol->usable;
}

bool check_resolve(void *scope, struct expr *name, struct diags *diags)
{
    (void)diags; /* the checker's */
    return name->op == EXPR_LOOKUP ? resolve_lookup(scope, name) : resolve_name(scope, name);
}

static const char *fault_id(enum expr_fault fault)
{
    switch (fault) {
    case EXPR_FINE:
        break;
    case EXPR_DIVISION_BY_ZERO:
        return "division-by-zero";
    case EXPR_SHIFT_RANGE:
        return "shift-range";
    case EXPR_OVERFLOW:
        return "overflow";
    case EXPR_TABLE_RANGE:
        return "table-range";
    }
    return "";
}

bool check_evaluate(struct checker *checker, const struct expr *expr, int64_t *out)
{
    const struct expr_frame frame = {.variables = NULL};
    const struct expr *culprit = NULL;
    int64_t detail = 0;
    enum expr_fault fault = expr_evaluate(out, expr, &frame, &culprit, &detail);
    if (fault == EXPR_FINE)
        return true;
    diag_error(checker->diags, fault_id(fault), culprit->where, "%s",
               expr_fault_message(checker->arena, fault, culprit, detail));
    return false;
}

bool check_constant(struct checker *checker, struct expr *expr, int64_t *out)
{
    struct scope constants = {.checker = checker};
    return expr_bind(expr, check_resolve, &constants, checker->diags) && check_evaluate(checker, expr, out);
}

bool check_is_constant(const struct expr *expr)
{
    if (expr->op == EXPR_NAME && expr->binding != EXPR_PARAM)
        return false;
    for (size_t i = 0; i < sizeof(expr->operand) / sizeof(expr->operand[0]); i++)
        if (expr->operand[i] != NULL && !check_is_constant(expr->operand[i]))
            return false;
    return true;
}

static bool within(struct checker *checker, const struct bounds *bounds, struct span where, int64_t value)
{
    if (value >= bounds->least && value <= bounds->most)
        return true;
    if (value < bounds->least)
        diag_error(checker->diags, bounds->id, where, "%s is %lld, less than %lld", bounds->what, (long long)value,
                   (long long)bounds->least);
    else
        diag_error(checker->diags, bounds->id, where, "%s is %lld, more than %lld", bounds->what, (long long)value,
                   (long long)bounds->most);
    return false;
}

bool check_bound_integer(struct checker *checker, struct expr *expr, const struct bounds *bounds, int64_t *out)
{
    return check_constant(checker, expr, out) && within(checker, bounds, expr->where, *out);
}

bool check_integer(struct checker *checker, const struct quoted *text, const struct bounds *bounds, int64_t absent,
                   int64_t *out)
{
    *out = absent;
    if (text->text == NULL)
        return true;
    struct expr *expr = expr_parse(checker->arena, text, checker->diags);
    return expr != NULL && check_bound_integer(checker, expr, bounds, out);
}

size_t check_integers(struct checker *checker, const struct quoted *text, const struct bounds *bounds, size_t most,
                      int64_t out[], struct expr *exprs[])
{
    struct expr *parsed[EXPR_LIST_MAX] = {NULL};
    if (text->text == NULL)
        return 0;
    size_t count = expr_parse_list(parsed, most, checker->arena, text, EXPR_SPACES, checker->diags);
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        fine = check_bound_integer(checker, parsed[i], bounds, &out[i]) && fine;
        if (exprs != NULL)
            exprs[i] = parsed[i];
    }
    return fine ? count : 0;
}

bool check_alignment(struct checker *checker, const struct quoted *text, uint64_t most, uint64_t absent, uint64_t *out)
{
    const struct bounds bounds = {"align", "bad-align", 1, (int64_t)most};
    int64_t value;
    *out = absent;
    if (text->text == NULL)
        return true;
    if (!check_integer(checker, text, &bounds, 1, &value))
        return false;
    *out = (uint64_t)value;
    if ((*out & (*out - 1)) == 0)
        return true;
    diag_error(checker->diags, "bad-align", text->where, "align is %lld, not a power of two", (long long)value);
    return false;
}

bool check_align_least(struct checker *checker, const struct quoted *text, uint64_t align, uint64_t least)
{
    if (align >= least)
        return true;
    diag_error(checker->diags, "bad-align", text->where, "align is %llu, less than the %llu of what it holds",
               (unsigned long long)align, (unsigned long long)least);
    diag_note(checker->diags, "align only raises an alignment; a struct with packed=\"true\" has none");
    return false;
}

bool check_word(struct checker *checker, const struct quoted *text, const char *what, const char *const words[],
                unsigned absent, unsigned *out)
{
    *out = absent;
    if (text->text == NULL)
        return true;
    struct guess guess = check_guess_start(checker, text->text);
    for (*out = 0; words[*out] != NULL; ++*out) {
        if (strcmp(words[*out], text->text) == 0)
            return true;
        check_guess_offer(&guess, words[*out]);
    }
    *out = absent;
    diag_error(checker->diags, "bad-value", text->where, "%s cannot be '%s'", what, text->text);
    if (check_guess_note(checker, &guess))
        return false;
    struct text list = {0};
    for (size_t i = 0; words[i] != NULL; i++)
        text_printf(&list, "%s'%s'", i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ", words[i]);
    diag_note(checker->diags, "it is %s", text_string(&list));
    text_free(&list);
    return false;
}
