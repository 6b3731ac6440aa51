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
        "FILE", "abort", "abs", "acos", "acosh", "all", "any", "asin", "asinh", "assert", "atan", "atan2", "atanh",
        "atexit", "atof", "atoi", "atol", "ballot", "basename", "bsearch", "calloc", "canonicalize", "cbrt", "ceil",
        "clearerr", "clock", "clock_t", "clone", "copysign", "cos", "cosh", "cospi", "ctime", "dadd", "daylight",
        "difftime", "dim3", "div", "dmul", "drem", "dsub", "erf", "erfc", "erfcx", "erfinv", "exit", "exp", "exp10",
        "exp2", "expm1", "fabs", "fadd", "fclose", "fdim", "fdiv", "fdivide", "feof", "ferror", "fflush", "ffs",
        "fgetc", "fgets", "finite", "floor", "fma", "fmax", "fmin", "fmod", "fmul", "fopen", "fprintf", "fputc",
        "fputs", "fread", "free", "frexp", "fscanf", "fseek", "fsub", "ftell", "fwrite", "gamma", "getc", "getchar",
        "getenv", "getline", "getpid", "gmtime", "hypot", "ilogb", "index", "int16_t", "int32_t", "int64_t", "int8_t",
        "intptr_t", "isalpha", "isdigit", "isfinite", "isinf", "isnan", "isnormal", "isspace", "j0", "j1", "jn", "labs",
        "ldexp", "ldiv", "lgamma", "llrint", "llround", "locale_t", "localtime", "log", "log10", "log1p", "log2",
        "logb", "longjmp", "lrint", "lround", "malloc", "max", "memchr", "memcmp", "memcpy", "memmove", "memset", "min",
        "mkstemp", "mktemp", "mktime", "modf", "nan", "nearbyint", "nextafter", "norm", "norm3d", "norm4d", "obstack",
        "pclose", "perror", "popen", "pow", "printf", "ptrdiff_t", "putc", "putchar", "putenv", "puts", "qsort",
        "quick_exit", "raise", "rand", "random", "rcbrt", "realloc", "realpath", "remainder", "remove", "remquo",
        "rename", "rewind", "rindex", "rint", "rnorm", "round", "roundeven", "rsqrt", "scalb", "scalbn", "scanf",
        "select", "setbuf", "setenv", "signal", "signbit", "significand", "sin", "sincos", "sincospi", "sinh", "sinpi",
        "size_t", "snprintf", "sprintf", "sqrt", "srand", "sscanf", "ssize_t", "stderr", "stdin", "stdout", "strcat",
        "strchr", "strcmp", "strcpy", "strdup", "strerror", "strlen", "strncat", "strncmp", "strncpy", "strrchr",
        "strstr", "strtod", "strtof", "strtok", "strtol", "strtoul", "swprintf", "system", "tan", "tanh", "tgamma",
        "time", "time_t", "timespec", "timeval", "timezone", "tm", "tmpfile", "tmpnam", "tolower", "toupper", "trunc",
        "tzname", "uint", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintptr_t", "ulong", "umax", "umin", "ungetc",
        "ushort", "vprintf", "wprintf", "y0", "y1", "yn",
    };
    /* clang-format on */
    return type_builtin(name) != NULL ||
           bsearch(name, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare_to_word) != NULL;
}

/* What CUDA and HIP declare and generated code uses. */
static bool is_of_the_platform(const char *name)
{
    static const char *const starts[] = {"cuda", "atomic", "hip"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0 && name[strlen(starts[i])] >= 'A' &&
            name[strlen(starts[i])] <= 'Z')
            return true;
    return strcmp(name, "dim3") == 0;
}

/* Of what stands in the namespace or is a kernel's parameter. */
static bool allow_name(const struct code *code, const struct name *name, const char *what)
{
    if (!is_of_the_platform(name->text))
        return true;
    diag_error(code->diags, "not-generated", name->where, "no %s of code can be called '%s', as CUDA has that name",
               what, name->text);
    return false;
}

static bool allow_namespace(const struct code *code)
{
    const struct name *name = &code->spec->name;
    if (!is_global(name->text) && !is_of_the_platform(name->text))
        return true;
    diag_error(code->diags, "not-generated", name->where, "no namespace can be called '%s', as C or CUDA has that name",
               name->text);
    diag_note(code->diags, "call the layout '%s_layout'", name->text);
    return false;
}

bool names_allow(const struct code *code)
{
    const struct spec *spec = code->spec;
    bool fine = allow_namespace(code);
    for (const struct type *type = spec->types; type != NULL; type = type->next)
        fine = allow_name(code, &type->name, "type") && fine;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        fine = allow_name(code, &kernel->name, "kernel") && fine;
    for (size_t i = 0; i < spec->param_count; i++)
        fine = allow_name(code, &spec->params[i].name, "constant") && fine;
    for (const struct table *table = spec->tables; table != NULL; table = table->next)
        fine = allow_name(code, &table->name, "table") && fine;
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        fine = allow_name(code, &array->name, "array") && fine;
    return fine;
}

bool names_hide(const char *name)
{
    /* clang-format off */
    static const char *const words[] = {
        "array", "arrays", "back", "block", "block_x", "block_y", "block_z", "blocks", "body", "bytes",
        "copies", "count", "from", "good", "grid", "grid_x", "grid_y", "grid_z", "groups", "i", "inside", "j", "k",
        "kernel", "memory", "none", "outside", "part", "place", "plane", "planes", "rest", "run", "shared_bytes",
        "size", "stride", "sums", "thread", "threads", "tile", "timed", "to", "trip", "trips", "us", "view", "whole",
        "word", "words",
    };
    /* clang-format on */
    return bsearch(name, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare_to_word) != NULL;
}

const char *name_qualified(const struct code *code, const char *name)
{
    return arena_printf(code->arena, "::%s::%s", code->spec->name.text, name);
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
    "load_together", "store_together", "begin", "end", "layout_of", "kernel", "grid", "block", "At", "THREADS",
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
            return names_hide(param) ? name_qualified(code, code->param_names[i]) : code->param_names[i];
    return param;
}
