#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "view_code_internal.h"

void words_add(struct words *words, struct arena *arena, const char *word)
{
    words->items = arena_grow(arena, words->items, words->count, &words->capacity, sizeof(*words->items));
    words->items[words->count++] = word;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void words_complete(struct words *words)
{
    if (words->count > 0)
        qsort(words->items, words->count, sizeof(*words->items), compare_words);
}

bool words_have(const struct words *words, const char *word)
{
    return words->count > 0 && bsearch(&word, words->items, words->count, sizeof(*words->items), compare_words) != NULL;
}

bool words_repeat(const struct words *words, const char *word)
{
    const char *const *found =
        words->count == 0 ? NULL : bsearch(&word, words->items, words->count, sizeof(*words->items), compare_words);
    if (found == NULL)
        return false;
    return (found > (const char *const *)words->items && strcmp(found[-1], word) == 0) ||
           (found + 1 < (const char *const *)words->items + words->count && strcmp(found[1], word) == 0);
}

static void collect_types(struct code *code)
{
    for (const struct type *type = code->spec->types; type != NULL; type = type->next) {
        words_add(&code->globals, code->arena, type->name.text);
        for (size_t i = 0; i < type->field_count; i++)
            words_add(&code->fields, code->arena, type->fields[i].name.text);
    }
}

static void collect_values(struct code *code)
{
    const struct spec *spec = code->spec;
    for (size_t i = 0; i < spec->param_count; i++)
        words_add(&code->globals, code->arena, spec->params[i].name.text);
    for (const struct table *table = spec->tables; table != NULL; table = table->next)
        words_add(&code->globals, code->arena, table->name.text);
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        words_add(&code->globals, code->arena, array->name.text);
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return hash;
}

/* Where a name is, or where it would go. */
static const char **find_slot(const struct name_set *set, const char *name)
{
    size_t at = (size_t)hash_name(name) & (set->capacity - 1);
    while (set->slots[at] != NULL && strcmp(set->slots[at], name) != 0)
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static bool name_set_has(const struct name_set *set, const char *name)
{
    return set->capacity > 0 && *find_slot(set, name) != NULL;
}

bool name_set_add(struct name_set *set, struct arena *arena, const char *name)
{
    enum { FIRST = 64 };
    if (name_set_has(set, name))
        return false;
    if (set->count * 2 >= set->capacity) {
        const struct name_set before = *set;
        set->capacity = before.capacity == 0 ? FIRST : before.capacity * 2;
        set->slots = arena_array(arena, set->capacity, sizeof(*set->slots));
        for (size_t i = 0; i < before.capacity; i++)
            if (before.slots[i] != NULL)
                *find_slot(set, before.slots[i]) = before.slots[i];
    }
    *find_slot(set, name) = name;
    set->count++;
    return true;
}

/* A name of the description that another of its namespaces may have as well: underscores tell them apart. */
static const char *take_given(struct code *code, const char *name)
{
    const char *result = name;
    while ((result != name && words_have(&code->globals, result)) || !name_set_add(&code->issued, code->arena, result))
        result = arena_printf(code->arena, "%s_", result);
    return result;
}

static bool is_value(const struct spec *spec, const char *name)
{
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        if (strcmp(array->name.text, name) == 0)
            return true;
    for (const struct table *table = spec->tables; table != NULL; table = table->next)
        if (strcmp(table->name.text, name) == 0)
            return true;
    return false;
}

/* Types, params and kernels stand beside one another in the namespace. */
static void take_all_given(struct code *code)
{
    const struct spec *spec = code->spec;
    for (const struct type *type = spec->types; type != NULL; type = type->next)
        (void)name_set_add(&code->issued, code->arena, type->name.text);
    code->param_names = arena_array(code->arena, spec->param_count, sizeof(*code->param_names));
    for (size_t i = 0; i < spec->param_count; i++)
        code->param_names[i] = take_given(code, spec->params[i].name.text);
    code->kernel_names = arena_array(code->arena, spec->kernel_count, sizeof(*code->kernel_names));
    size_t number = 0;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next) {
        /* Arrays and tables are parameters of kernels and must not hide them. */
        const char *name = kernel->name.text;
        if (is_value(spec, name))
            name = name_fresh(code, name);
        code->kernel_names[number++] = take_given(code, name);
    }
}

void names_collect(struct code *code)
{
    collect_types(code);
    collect_values(code);
    for (const struct kernel *kernel = code->spec->kernels; kernel != NULL; kernel = kernel->next) {
        words_add(&code->globals, code->arena, kernel->name.text);
        for (unsigned i = 0; i < kernel->slot_count; i++)
            words_add(&code->globals, code->arena, kernel->slot_names[i]);
    }
    words_complete(&code->fields);
    words_complete(&code->globals);
    take_all_given(code);
}

static int compare_to_word(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

/* What the headers that generated code includes may declare outside any namespace, so that no namespace can have the
 * name; sorted for bsearch. */
static bool is_global(const char *name)
{
    /* clang-format off */
    static const char *const words[] = {
        "abort", "abs", "acos", "acosh", "asin", "asinh", "assert", "atan", "atan2", "atanh", "atof", "atoi", "atol",
        "bsearch", "calloc", "cbrt", "ceil", "clearerr", "clock", "cos", "cosh", "ctime", "difftime", "dim3", "div",
        "erf", "erfc", "exit", "exp", "exp2", "expm1", "fabs", "fclose", "feof", "ferror", "fflush", "fgetc", "fgets",
        "floor", "fma", "fmax", "fmin", "fmod", "fopen", "fprintf", "fputc", "fputs", "fread", "free", "frexp",
        "fscanf", "fseek", "ftell", "fwrite", "gamma", "getc", "getchar", "getenv", "getpid", "gmtime", "hypot",
        "index", "j0", "j1", "jn", "labs", "ldexp", "ldiv", "lgamma", "localtime", "log", "log10", "log1p", "log2",
        "logb", "longjmp", "malloc", "max", "memchr", "memcmp", "memcpy", "memmove", "memset", "min", "mktime",
        "modf", "nan", "nearbyint", "perror", "pow", "printf", "putc", "putchar", "puts", "qsort", "raise", "rand",
        "random", "realloc", "remove", "rename", "rewind", "rindex", "rint", "round", "scanf", "setbuf", "signal",
        "sin", "sincos", "sinh", "sprintf", "sqrt", "srand", "sscanf", "strcat", "strchr", "strcmp", "strcpy",
        "strlen", "strncmp", "strncpy", "strstr", "strtod", "strtok", "strtol", "system", "tan", "tanh", "tgamma",
        "time", "tmpfile", "tmpnam", "trunc", "ungetc", "y0", "y1", "yn",
    };
    /* clang-format on */
    return type_builtin(name) != NULL ||
           bsearch(name, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare_to_word) != NULL;
}

bool names_allow(const struct code *code)
{
    const struct name *name = &code->spec->name;
    if (!is_global(name->text))
        return true;
    diag_error(code->diags, "not-generated", name->where, "no namespace can be called '%s', as C or CUDA has that name",
               name->text);
    diag_note(code->diags, "call the layout '%s_layout'", name->text);
    return false;
}

const char *name_fresh(const struct code *code, const char *wanted)
{
    while (words_have(&code->globals, wanted) || words_have(&code->fields, wanted) || text_is_keyword(wanted))
        wanted = arena_printf(code->arena, "%s_", wanted);
    return wanted;
}

const char *name_take(const struct code *code, struct name_set *taken, const char *wanted)
{
    wanted = name_fresh(code, wanted);
    while (!name_set_add(taken, code->arena, wanted))
        wanted = name_fresh(code, arena_printf(code->arena, "%s_", wanted));
    return wanted;
}

const char *name_in_view(const struct code *code, const char *wanted)
{
    while (words_have(&code->fields, wanted))
        wanted = arena_printf(code->arena, "%s_", wanted);
    return wanted;
}

/* What the templates call things; each is made fresh. */
/* clang-format off */
static const char *const template_words[] = {
    "sw", "base", "bytes", "records", "column", "tile_bytes", "tile_shift", "tile_mask", "get", "set", "record",
    "address", "base_align", "base_offset", "row_bytes", "record_bytes", "value", "view", "array", "Functor",
    "body", "step", "steps", "group", "first", "RECORDS", "stream", "arguments", "error", "at", "in_block", "tile",
    "from_aos", "to_aos", "from_aos_device", "to_aos_device", "from_aos_kernel", "to_aos_kernel", "copy_in",
    "copy_out", "copy_box", "swizzled", "layout", "reference", "visit", "visit_places", "visit_offsets", "visit_reads",
    "visit_writes", "visit_adds", "check_all", "launch_all", "make_one", "add_one", "copy_word", "pieces", "count", "past",
    "leaf", "from", "to", "get_together", "set_together", "exchange",
    "load_together", "store_together", "begin", "end", "layout_of",
};
/* clang-format on */

json_t *names_view(const struct code *code)
{
    json_t *names = json_object();
    for (size_t i = 0; i < sizeof(template_words) / sizeof(template_words[0]); i++)
        put_text(names, template_words[i], name_fresh(code, template_words[i]));
    return names;
}

const char *param_name(const struct code *code, const char *param)
{
    for (size_t i = 0; i < code->spec->param_count; i++)
        if (strcmp(code->spec->params[i].name.text, param) == 0)
            return code->param_names[i];
    return param;
}
