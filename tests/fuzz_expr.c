/* Fuzzes expressions: the input is the text of a list, read with blanks and with commas between, bound (letters are
 * variables, "T" is a table, builtins are themselves), its places looked at, and evaluated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "diag.h"
#include "expr.h"
#include "spec.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool resolve(void *context, struct expr *name, struct diags *diags)
{
    if (name->op == EXPR_LOOKUP && strcmp(name->name, "T") == 0) {
        name->table = context;
    } else if (name->op == EXPR_NAME && expr_builtin_find(name->name, &name->builtin)) {
        name->binding = EXPR_BUILTIN;
    } else if (name->op == EXPR_NAME && name->name[0] >= 'a' && name->name[0] <= 'z' && name->name[1] == '\0') {
        name->binding = EXPR_VARIABLE;
        name->slot = (unsigned)(name->name[0] - 'a');
    } else {
        diag_error(diags, "unknown-name", name->at, "unknown name '%s'", name->name);
        return false;
    }
    return true;
}

/* The text as it would stand in an attribute. */
static const struct source *escape(struct arena *arena, const char *text)
{
    struct text raw = {0};
    for (; *text != '\0'; text++) {
        if (*text == '&' || *text == '<' || *text == '\r')
            text_puts(&raw, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&#13;");
        else
            text_putc(&raw, *text);
    }
    const struct source *source = source_from_bytes(arena, "fuzz", text_string(&raw), raw.length);
    text_free(&raw);
    return source;
}

static bool is_within(struct span inner, struct span outer)
{
    return inner.source == outer.source && inner.length > 0 && inner.offset >= outer.offset &&
           inner.offset + inner.length <= outer.offset + outer.length;
}

static void check_places(const struct expr *expr, struct span outer)
{
    if (!is_within(expr->where, outer) || !is_within(expr->at, expr->where))
        abort();
    for (int i = 0; i < 3; i++)
        if (expr->operand[i] != NULL)
            check_places(expr->operand[i], expr->where);
}

static void evaluate(struct expr *expr, struct arena *arena, struct diags *diags)
{
    static const int64_t data[] = {3, 1, 4, INT64_MIN};
    static const int64_t variables[26] = {0, 1, 2, -1, INT64_MAX, INT64_MIN, 31, 64};
    struct table table = {.extent = 4, .data = (int64_t *)data};
    struct expr_frame frame = {.builtins = {5, 0, 0, 7}, .variables = variables};
    const struct expr *culprit = NULL;
    int64_t value, detail = 0;
    if (!expr_bind(expr, resolve, &table, diags))
        return;
    (void)expr_varies(expr, NULL);
    enum expr_fault fault = expr_evaluate(&value, expr, &frame, &culprit, &detail);
    if ((fault == EXPR_FINE) != (culprit == NULL) || expr_fault_message(arena, fault, culprit, detail)[0] == '\0')
        abort();
}

static void parse_list(const char *text, enum expr_separator separator)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    const struct source *source = escape(&arena, text);
    const struct quoted quoted = {text, {source, 0, source->length}};
    struct expr *list[EXPR_LIST_MAX];
    size_t count = expr_parse_list(list, EXPR_LIST_MAX, &arena, &quoted, separator, &diags);
    if ((count == 0) != diag_failed(&diags) || count > EXPR_LIST_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        check_places(list[i], quoted.where);
        evaluate(list[i], &arena, &diags);
    }
    struct text messages = {0};
    diag_render(&diags, &messages, false);
    text_free(&messages);
    arena_free(&arena);
}

static void parse_one(const char *text)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    const struct source *source = escape(&arena, text);
    const struct quoted quoted = {text, {source, 0, source->length}};
    if ((expr_parse(&arena, &quoted, &diags) == NULL) != diag_failed(&diags))
        abort();
    struct text messages = {0};
    diag_render(&diags, &messages, true);
    text_free(&messages);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    parse_list(text, EXPR_SPACES);
    parse_list(text, EXPR_COMMAS);
    parse_one(text);
    free(text);
    return 0;
}
