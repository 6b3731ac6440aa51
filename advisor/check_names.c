#include <string.h>

#include "check_internal.h"

/* FNV-1a over the name, started from its namespace. */
static uint64_t hash_name(const void *space, const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)space;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The slot that holds the name, or the empty one where it belongs. */
static struct symbol **find_slot(const struct names *names, const void *space, const char *name, size_t length)
{
    size_t at = (size_t)hash_name(space, name, length) & (names->capacity - 1);
    for (;;) {
        struct symbol *symbol = names->slots[at];
        if (symbol == NULL ||
            (symbol->space == space && symbol->length == length && memcmp(symbol->name, name, length) == 0))
            return &names->slots[at];
        at = (at + 1) & (names->capacity - 1);
    }
}

struct symbol *check_names_find(const struct names *names, const void *space, const char *name, size_t length)
{
    return names->capacity == 0 ? NULL : *find_slot(names, space, name, length);
}

static void names_enlarge(struct checker *checker)
{
    struct names *names = &checker->names;
    struct names larger = {.capacity = names->capacity == 0 ? 256 : names->capacity * 2, .count = names->count};
    larger.slots = arena_array(checker->arena, larger.capacity, sizeof(struct symbol *));
    for (size_t i = 0; i < names->capacity; i++) {
        struct symbol *symbol = names->slots[i];
        if (symbol != NULL)
            *find_slot(&larger, symbol->space, symbol->name, symbol->length) = symbol;
    }
    *names = larger;
}

struct symbol *check_names_add(struct checker *checker, const void *space, const char *name, enum symbol_kind kind,
                               void *item, struct span where)
{
    struct names *names = &checker->names;
    if (names->count * 2 >= names->capacity)
        names_enlarge(checker);
    struct symbol **slot = find_slot(names, space, name, strlen(name));
    if (*slot != NULL)
        return NULL;
    struct symbol *symbol = arena_alloc(checker->arena, sizeof(*symbol));
    *symbol = (struct symbol){
        .space = space, .name = name, .length = strlen(name), .kind = kind, .item = item, .where = where};
    *slot = symbol;
    names->count++;
    return symbol;
}

struct guess check_guess_start(const struct checker *checker, const char *wanted)
{
    return (struct guess){.text = {.wanted = wanted}, .enabled = checker->diags->error_count < DIAG_MAX};
}

bool check_guess_wants(const struct guess *guess)
{
    return guess->enabled && guess->offered < GUESS_CANDIDATES_MAX;
}

void check_guess_offer(struct guess *guess, const char *candidate)
{
    if (!check_guess_wants(guess) || candidate == NULL)
        return;
    guess->offered++;
    text_guess_offer(&guess->text, candidate);
}

bool check_guess_note(const struct checker *checker, const struct guess *guess)
{
    if (guess->text.best == NULL)
        return false;
    diag_note(checker->diags, "did you mean '%s'?", guess->text.best);
    return true;
}

/* Names that expressions give a meaning of their own, beside those that C and CUDA reserve. */
static bool is_expression_word(const char *name)
{
    enum expr_builtin builtin;
    return expr_builtin_find(name, &builtin) || strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
}

/* "4 3" of a member written as C does, "m[4][3]"; NULL where it is no such name. */
static const char *count_in_name(struct arena *arena, const char *name)
{
    const char *at = strchr(name, '[');
    if (at == NULL || !text_is_identifier(arena_copy(arena, name, (size_t)(at - name))))
        return NULL;
    const char *count = "";
    for (; *at == '['; at++) {
        size_t length = strcspn(++at, "[]<>&\"");
        if (length == 0 || at[length] != ']')
            return NULL;
        count = arena_printf(arena, "%s%s%.*s", count, count[0] == '\0' ? "" : " ", (int)length, at);
        at += length;
    }
    return *at == '\0' ? count : NULL;
}

bool check_identifier(struct checker *checker, const struct name *name, const char *what, bool is_value)
{
    if (name->text == NULL)
        return false;
    if (!text_is_identifier(name->text)) {
        diag_error(checker->diags, "bad-name", name->where, "%s name '%s' is not an identifier", what, name->text);
        const char *count = strcmp(what, "field") == 0 ? count_in_name(checker->arena, name->text) : NULL;
        if (count != NULL)
            diag_note(checker->diags, "write count=\"%s\"", count);
        else
            diag_note(checker->diags, "an identifier has up to 255 letters, digits and '_', the first no digit");
        return false;
    }
    if (text_is_keyword(name->text) || (is_value && is_expression_word(name->text))) {
        diag_error(checker->diags, "reserved-name", name->where, "%s name '%s' is reserved", what, name->text);
        diag_note(checker->diags, "words of C, C++ and CUDA, and those of expressions, cannot be names");
        return false;
    }
    return true;
}

void check_report_duplicate(struct checker *checker, const struct name *name, const struct symbol *first)
{
    /* Kinds are declared one after the other, so that the first may stand further down. */
    struct span earlier = first->where, later = name->where;
    if (later.source == earlier.source && later.offset < earlier.offset) {
        earlier = name->where;
        later = first->where;
    }
    diag_error(checker->diags, "duplicate-name", later, "name '%s' is given twice", name->text);
    if (earlier.source != NULL)
        diag_note(checker->diags, "the first '%s' is on line %zu", name->text,
                  source_locate(earlier.source, earlier.offset).line);
}

struct symbol *check_declare(struct checker *checker, const void *space, const struct name *name, enum symbol_kind kind,
                             void *item, const char *what)
{
    /* A name at fault is declared all the same, so that those who use it say nothing. */
    if (name->text == NULL)
        return NULL;
    bool is_value = kind == SYMBOL_PARAM || kind == SYMBOL_TABLE || kind == SYMBOL_ARRAY;
    (void)check_identifier(checker, name, what, is_value);
    struct symbol *symbol = check_names_add(checker, space, name->text, kind, item, name->where);
    if (symbol == NULL)
        check_report_duplicate(checker, name, check_names_find(&checker->names, space, name->text, strlen(name->text)));
    return symbol;
}

void check_layout_name(struct checker *checker)
{
    (void)check_identifier(checker, &checker->spec->name, "layout", false);
}

static const char *type_word(const struct type *type)
{
    return type->kind == TYPE_UNION ? "union" : "struct";
}

/* Generated code could not use these names otherwise. */
bool check_is_wide_vector(const char *name)
{
    static const char *const wide[] = {
        "long3",     "long4",      "ulong3",     "ulong4",  "longlong3",
        "longlong4", "ulonglong3", "ulonglong4", "double3", "double4",
    };
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (strcmp(wide[i], name) == 0)
            return true;
    return false;
}

void check_type_names(struct checker *checker)
{
    for (struct type *type = checker->spec->types; type != NULL; type = type->next) {
        const struct name *name = &type->name;
        if (name->text != NULL && (type_builtin(name->text) != NULL || check_is_wide_vector(name->text)) &&
            !text_is_keyword(name->text)) {
            diag_error(checker->diags, "duplicate-name", name->where, "name '%s' is given twice", name->text);
            diag_note(checker->diags, "'%s' is a built-in type", name->text);
            continue;
        }
        (void)check_declare(checker, type_space(checker), name, SYMBOL_TYPE, type, type_word(type));
    }
}

void check_field_names(struct checker *checker)
{
    for (struct type *type = checker->spec->types; type != NULL; type = type->next)
        for (size_t i = 0; i < type->field_count; i++)
            (void)check_declare(checker, type, &type->fields[i].name, SYMBOL_FIELD, &type->fields[i], "field");
}

void check_value_names(struct checker *checker)
{
    struct spec *spec = checker->spec;
    for (size_t i = 0; i < spec->param_count; i++)
        (void)check_declare(checker, value_space(checker), &spec->params[i].name, SYMBOL_PARAM, &spec->params[i],
                            "param");
    for (struct table *table = spec->tables; table != NULL; table = table->next)
        (void)check_declare(checker, value_space(checker), &table->name, SYMBOL_TABLE, table, "table");
    for (struct array *array = spec->arrays; array != NULL; array = array->next)
        (void)check_declare(checker, value_space(checker), &array->name, SYMBOL_ARRAY, array, "array");
}

void check_kernel_names(struct checker *checker)
{
    for (struct kernel *kernel = checker->spec->kernels; kernel != NULL; kernel = kernel->next)
        (void)check_declare(checker, kernel_space(checker), &kernel->name, SYMBOL_KERNEL, kernel, "kernel");
}
