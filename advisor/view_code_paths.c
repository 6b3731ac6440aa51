#include <string.h>

#include "text.h"
#include "view_code_internal.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool resolve_constant(void *context, struct expr *name, struct diags *diags)
{
    const struct code *code = *(const struct code **)context;
    (void)diags;
    for (size_t i = 0; name->op == EXPR_NAME && i < code->spec->param_count; i++) {
        if (strcmp(code->spec->params[i].name.text, name->name) == 0) {
            name->binding = EXPR_PARAM;
            name->value = code->spec->params[i].number;
            return true;
        }
    }
    for (const struct table *table = code->spec->tables; name->op == EXPR_LOOKUP && table != NULL;
         table = table->next) {
        if (strcmp(table->name.text, name->name) == 0) {
            name->table = table;
            return true;
        }
    }
    return false;
}

/* A subscript that is no constant names a variable or a builtin, which params cannot hide. */
bool code_constant(const struct code *code, const char *text, size_t length, int64_t *out)
{
    struct diags ignored = {.arena = code->arena};
    const struct quoted quoted = {arena_copy(code->arena, text, length), {NULL, 0, 0}};
    struct expr *expr = expr_parse(code->arena, &quoted, &ignored);
    struct expr_frame frame = {.variables = NULL};
    const struct expr *culprit;
    int64_t detail;
    return expr != NULL && expr_bind(expr, resolve_constant, &code, &ignored) &&
           expr_evaluate(out, expr, &frame, &culprit, &detail) == EXPR_FINE;
}

/* A list of paths being read. The description was checked: what is here has the form of paths. */
struct reading {
    const struct code *code;
    const struct access *access;
    subscript_text *text;
    const void *context;
    const char *at;
    size_t subscripts; /* met so far that are no constants */
};

/* Reads "[expression]" and returns what is between the brackets. */
static size_t bracket_length(const char *text)
{
    size_t depth = 0, length = 0;
    do {
        depth += text[length] == '[';
        depth -= text[length] == ']';
        length++;
    } while (depth > 0 && text[length] != '\0');
    return length;
}

static void read_subscripts(struct reading *reading, struct segment *segment, const char **title)
{
    struct arena *arena = reading->code->arena;
    while (*reading->at == '[' && segment->subscript_count < FIELD_DIMS_MAX) {
        size_t length = bracket_length(reading->at);
        struct path_subscript *out = &segment->subscripts[segment->subscript_count++];
        int64_t value;
        out->constant = code_constant(reading->code, reading->at + 1, length - 2, &value);
        if (out->constant) {
            out->value = (uint64_t)value;
            out->text = code_number(arena, value);
        } else {
            out->text = reading->text(reading->context, reading->access, reading->subscripts++);
        }
        *title = arena_printf(arena, "%s[%s]", *title, out->text);
        reading->at += length;
    }
}

static struct segment *read_segment(struct reading *reading, const char **name, const char **title)
{
    struct arena *arena = reading->code->arena;
    struct segment *segment = arena_alloc(arena, sizeof(*segment));
    size_t length = 0;
    while (is_name_byte(reading->at[length]))
        length++;
    segment->name = arena_copy(arena, reading->at, length);
    *name = arena_printf(arena, "%s%s%s", *name, (*name)[0] == '\0' ? "" : "_", segment->name);
    *title = arena_printf(arena, "%s%s%s", *title, (*title)[0] == '\0' ? "" : ".", segment->name);
    reading->at += length;
    read_subscripts(reading, segment, title);
    return segment;
}

static struct field_path *read_path(struct reading *reading)
{
    struct field_path *path = arena_alloc(reading->code->arena, sizeof(*path));
    const struct segment **end = &path->segments;
    path->name = path->title = "";
    path->first_subscript = reading->subscripts;
    do {
        reading->at += *reading->at == '.';
        struct segment *segment = read_segment(reading, &path->name, &path->title);
        *end = segment;
        end = &segment->next;
    } while (*reading->at == '.');
    path->subscript_count = reading->subscripts - path->first_subscript;
    return path;
}

const struct field_path *paths_of(const struct code *code, const struct access *access, subscript_text *text,
                                  const void *context)
{
    struct reading reading = {code, access, text, context, access->whole ? "" : access->field_text.text, 0};
    const struct field_path *first = NULL, **end = &first;
    if (access->whole) {
        struct field_path *all = arena_alloc(code->arena, sizeof(*all));
        *all = (struct field_path){.name = "", .title = ""};
        return all;
    }
    for (;;) {
        while (is_space(*reading.at))
            reading.at++;
        if (!is_name_byte(*reading.at) && *reading.at != '.')
            return first;
        struct field_path *path = read_path(&reading);
        *end = path;
        end = &path->next;
    }
}
