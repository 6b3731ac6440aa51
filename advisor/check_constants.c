#include <string.h>

#include "check_internal.h"

static void report_unknown_param(struct checker *checker, const struct definition *definition, struct span where)
{
    diag_error(checker->diags, "unknown-param", where, "-D names no param: '%s'", definition->name);
    struct guess guess = check_guess_start(checker, definition->name);
    for (size_t i = 0; i < checker->spec->param_count && check_guess_wants(&guess); i++)
        check_guess_offer(&guess, checker->spec->params[i].name.text);
    (void)check_guess_note(checker, &guess);
}

/* Later definitions of one param win, as later -D do for a compiler that only warns. */
void check_definitions(struct checker *checker)
{
    for (size_t i = 0; i < checker->definition_count; i++) {
        const struct definition *definition = &checker->definitions[i];
        size_t name_length = strlen(definition->name);
        const char *line = arena_printf(checker->arena, "%s=%s", definition->name, definition->value);
        const struct source *source = source_from_bytes(checker->arena, "<command line>", line, strlen(line));
        const struct symbol *symbol =
            check_names_find(&checker->names, value_space(checker), definition->name, name_length);
        if (symbol == NULL || symbol->kind != SYMBOL_PARAM) {
            report_unknown_param(checker, definition, (struct span){source, 0, name_length});
            continue;
        }
        ((struct param *)symbol->item)->value = (struct quoted){
            source->bytes + name_length + 1, {source, name_length + 1, source->length - name_length - 1}};
    }
}

enum { CONSTANT_NEW, CONSTANT_ACTIVE, CONSTANT_DONE };
enum { CHAIN_SHOWN_MAX = 8 };

/* A param or a table, and the params and tables that its expressions name. */
struct constant {
    struct param *param; /* or table */
    struct table *table;
    struct expr *range, *seed; /* of a table */
    bool sound;                /* its expressions could be parsed */
    int state;
    size_t *needs;
    size_t need_count, need_capacity, need_next;
};

struct constants {
    struct checker *checker;
    struct constant *items;
    size_t count;
};

static void collect_needs(const struct constants *constants, struct constant *constant, const struct expr *expr)
{
    struct checker *checker = constants->checker;
    if (expr == NULL)
        return;
    if (expr->op == EXPR_NAME || expr->op == EXPR_LOOKUP) {
        const struct symbol *symbol =
            check_names_find(&checker->names, value_space(checker), expr->name, strlen(expr->name));
        if (symbol != NULL && (symbol->kind == SYMBOL_PARAM || symbol->kind == SYMBOL_TABLE)) {
            constant->needs = arena_grow(checker->arena, constant->needs, constant->need_count,
                                         &constant->need_capacity, sizeof(*constant->needs));
            constant->needs[constant->need_count++] = symbol->number;
        }
    }
    for (size_t i = 0; i < sizeof(expr->operand) / sizeof(expr->operand[0]); i++)
        collect_needs(constants, constant, expr->operand[i]);
}

static struct expr *parse_part(const struct constants *constants, struct constant *constant, const struct quoted *text)
{
    if (text->text == NULL)
        return NULL;
    struct expr *expr = expr_parse(constants->checker->arena, text, constants->checker->diags);
    if (expr == NULL)
        constant->sound = false;
    return expr;
}

/* Gives a name its place among the constants; a second of that name has none. */
static void number_constant(const struct constants *constants, const struct name *name, const void *item)
{
    if (name->text == NULL)
        return;
    struct checker *checker = constants->checker;
    struct symbol *symbol = check_names_find(&checker->names, value_space(checker), name->text, strlen(name->text));
    if (symbol != NULL && symbol->item == item)
        symbol->number = constants->count;
}

static void add_param(struct constants *constants, struct param *param)
{
    struct constant *constant = &constants->items[constants->count];
    *constant = (struct constant){.param = param, .sound = param->value.text != NULL};
    param->expr = parse_part(constants, constant, &param->value);
    number_constant(constants, &param->name, param);
    constants->count++;
}

static void add_table(struct constants *constants, struct table *table)
{
    struct constant *constant = &constants->items[constants->count];
    *constant = (struct constant){.table = table, .sound = table->extent_text.text != NULL};
    table->extent_expr = parse_part(constants, constant, &table->extent_text);
    constant->range = parse_part(constants, constant, &table->range_text);
    constant->seed = parse_part(constants, constant, &table->seed_text);
    number_constant(constants, &table->name, table);
    constants->count++;
}

static const struct name *constant_name(const struct constant *constant)
{
    return constant->param != NULL ? &constant->param->name : &constant->table->name;
}

/* Reports the cycle that `chain[from .. count-1]` closes. */
static void report_cycle(const struct constants *constants, const size_t chain[], size_t from, size_t count)
{
    struct checker *checker = constants->checker;
    const struct constant *first = &constants->items[chain[from]];
    diag_error(checker->diags, "param-cycle", constant_name(first)->where, "%s '%s' depends on itself",
               first->param != NULL ? "param" : "table", constant_name(first)->text);
    if (count - from < 2)
        return;
    struct text list = {0};
    for (size_t i = from; i < count && i < from + CHAIN_SHOWN_MAX; i++)
        text_printf(&list, "%s'%s'",
                    i == from       ? ""
                    : i == from + 1 ? " needs "
                                    : ", which needs ",
                    constant_name(&constants->items[chain[i]])->text);
    text_printf(&list, ", which needs %s'%s'", count - from > CHAIN_SHOWN_MAX ? "..., which needs " : "",
                constant_name(first)->text);
    diag_note(checker->diags, "%s", text_string(&list));
    text_free(&list);
}

static void evaluate_item(const struct constants *constants, struct constant *constant)
{
    struct checker *checker = constants->checker;
    bool usable = false;
    if (constant->param != NULL && constant->sound)
        usable = check_constant(checker, constant->param->expr, &constant->param->number);
    else if (constant->sound)
        usable = check_table(checker, constant->table, constant->range, constant->seed);
    constant->state = CONSTANT_DONE;
    const struct name *name = constant_name(constant);
    const void *item = constant->param != NULL ? (const void *)constant->param : constant->table;
    if (constant->param != NULL)
        constant->param->state = CONSTANT_DONE;
    struct symbol *symbol =
        name->text == NULL ? NULL
                           : check_names_find(&checker->names, value_space(checker), name->text, strlen(name->text));
    if (symbol != NULL && symbol->item == item)
        symbol->usable = usable;
}

/* Evaluates a constant after all that it needs. Its own stack: chains are as long as the description. */
static void resolve_item(const struct constants *constants, size_t *chain, size_t start)
{
    size_t count = 0;
    chain[count++] = start;
    constants->items[start].state = CONSTANT_ACTIVE;
    while (count > 0) {
        struct constant *constant = &constants->items[chain[count - 1]];
        if (constant->need_next == constant->need_count) {
            evaluate_item(constants, constant);
            count--;
            continue;
        }
        size_t need = constant->needs[constant->need_next++];
        if (constants->items[need].state == CONSTANT_ACTIVE) {
            size_t from = count - 1;
            while (chain[from] != need)
                from--;
            report_cycle(constants, chain, from, count);
        } else if (constants->items[need].state == CONSTANT_NEW) {
            constants->items[need].state = CONSTANT_ACTIVE;
            chain[count++] = need;
        }
    }
}

void check_constants(struct checker *checker)
{
    struct spec *spec = checker->spec;
    size_t most = spec->param_count;
    for (const struct table *table = spec->tables; table != NULL; table = table->next)
        most++;
    struct constants constants = {checker, arena_array(checker->arena, most, sizeof(struct constant)), 0};
    for (size_t i = 0; i < spec->param_count; i++)
        add_param(&constants, &spec->params[i]);
    for (struct table *table = spec->tables; table != NULL; table = table->next)
        add_table(&constants, table);
    for (size_t i = 0; i < constants.count; i++) {
        struct constant *constant = &constants.items[i];
        if (constant->param != NULL)
            collect_needs(&constants, constant, constant->param->expr);
        else
            collect_needs(&constants, constant, constant->table->extent_expr);
        collect_needs(&constants, constant, constant->range);
        collect_needs(&constants, constant, constant->seed);
    }
    size_t *chain = arena_array(checker->arena, most, sizeof(*chain));
    for (size_t i = 0; i < constants.count; i++)
        if (constants.items[i].state == CONSTANT_NEW)
            resolve_item(&constants, chain, i);
}
