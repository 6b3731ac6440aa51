#include "random_spec.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TYPES_MAX = 4,
    FIELDS_MAX = 6,
    ARRAYS_MAX = 3,
    TABLES_MAX = 2,
    SCOPE_MAX = 12,
    THREADS_MAX = 3000,
    ACCESSES_MAX = 6,
    LEAVES_MOST = 24,
    SHARED_BYTES_MAX = 24576
};

enum made_kind { MADE_SCALAR, MADE_VECTOR, MADE_STRUCT, MADE_UNION };

struct made_type;

struct made_field {
    char name[8];
    const struct made_type *type;
    unsigned dims[2];
    unsigned dim_count;
};

struct made_type {
    enum made_kind kind;
    char name[12];
    unsigned size, align, leaves, components;
    struct made_field fields[FIELDS_MAX];
    unsigned field_count;
};

static const struct made_type scalars[] = {
    {MADE_SCALAR, "float", 4, 4, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "int32", 4, 4, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "double", 8, 8, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "uint8", 1, 1, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "half", 2, 2, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "uint64", 8, 8, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "int16", 2, 2, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_SCALAR, "bool", 1, 1, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
};

static const struct made_type vectors[] = {
    {MADE_VECTOR, "float2", 8, 8, 1, 2, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "float4", 16, 16, 1, 4, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "float3", 12, 4, 3, 3, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "uchar4", 4, 4, 1, 4, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "short2", 4, 4, 1, 2, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "double2", 16, 16, 1, 2, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "uchar3", 3, 1, 3, 3, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "half2", 4, 4, 1, 2, {{{0}, NULL, {0}, 0}}, 0},
    {MADE_VECTOR, "int1", 4, 4, 1, 1, {{{0}, NULL, {0}, 0}}, 0},
};

enum { SCALAR_COUNT = sizeof(scalars) / sizeof(scalars[0]), VECTOR_COUNT = sizeof(vectors) / sizeof(vectors[0]) };

struct made_array {
    char name[8];
    const struct made_type *type;
    unsigned dim_count;
    int64_t extent[3]; /* grows with the indices that are made for it */
    bool shared;
    bool bytes; /* accesses of `bytes` need its start on 16 bytes */
};

/* A let or loop variable in scope, and the values it can have. */
struct made_name {
    char name[8];
    int64_t low, high;
};

struct maker {
    struct text *out;
    uint64_t state;
    enum random_kind kind;
    struct made_type types[TYPES_MAX];
    unsigned type_count;
    struct made_array arrays[ARRAYS_MAX];
    unsigned array_count;
    unsigned table_extent[TABLES_MAX];
    unsigned table_count;
    struct made_name scope[SCOPE_MAX];
    unsigned scope_count, name_count;
    int64_t block[3], grid[3], threads;
    int64_t thread_limit; /* threads from here on are guarded away */
    unsigned accesses;
    bool faulty; /* this place may be wrong */
    bool pure;   /* thread i on record i and nothing that depends on the lane */
};

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned random_below(uint64_t *state, unsigned below)
{
    return below == 0 ? 0 : (unsigned)(random_next(state) % below);
}

static unsigned below(struct maker *maker, unsigned most)
{
    return random_below(&maker->state, most);
}

static bool chance(struct maker *maker, unsigned percent)
{
    return below(maker, 100) < percent;
}

static int64_t between(struct maker *maker, int64_t low, int64_t high)
{
    return low + (int64_t)below(maker, (unsigned)(high - low + 1));
}

static void append_escaped(struct text *out, const char *string)
{
    for (; *string != '\0'; string++) {
        if (*string == '<')
            text_puts(out, "&lt;");
        else if (*string == '&')
            text_puts(out, "&amp;");
        else
            text_putc(out, *string);
    }
}

/* Writes ` name="value"` and frees the value. */
static void put_attribute(struct maker *maker, const char *name, struct text *value)
{
    text_printf(maker->out, " %s=\"", name);
    append_escaped(maker->out, text_string(value));
    text_putc(maker->out, '"');
    text_free(value);
}

static unsigned align_up(unsigned value, unsigned align)
{
    return (value + align - 1) / align * align;
}

static const struct made_type *pick_type(struct maker *maker, bool vectors_too)
{
    unsigned kind = below(maker, 10);
    if (kind < 3 && maker->type_count > 0)
        return &maker->types[below(maker, maker->type_count)];
    if (kind < 6 && vectors_too)
        return &vectors[below(maker, VECTOR_COUNT)];
    return &scalars[below(maker, SCALAR_COUNT)];
}

static unsigned field_count(const struct made_field *field)
{
    unsigned count = 1;
    for (unsigned d = 0; d < field->dim_count; d++)
        count *= field->dims[d];
    return count;
}

static void make_field(struct maker *maker, struct made_type *type, bool packed)
{
    struct made_field *field = &type->fields[type->field_count];
    field->type = pick_type(maker, true);
    field->dim_count = chance(maker, 30) ? 1 + (unsigned)chance(maker, 25) : 0;
    for (unsigned d = 0; d < field->dim_count; d++)
        field->dims[d] = 1 + below(maker, 4);
    unsigned count = field_count(field);
    if (type->leaves + count * field->type->leaves > LEAVES_MOST || count * field->type->size > 96)
        return;
    (void)snprintf(field->name, sizeof(field->name), "f%u", type->field_count);
    type->field_count++;
    type->leaves += count * field->type->leaves;
    unsigned align = packed ? 1 : field->type->align;
    text_printf(maker->out, "    <field name=\"%s\" type=\"%s\"", field->name, field->type->name);
    for (unsigned d = 0; d < field->dim_count; d++)
        text_printf(maker->out, "%s%u", d == 0 ? " count=\"" : " ", field->dims[d]);
    text_puts(maker->out, field->dim_count > 0 ? "\"" : "");
    if (chance(maker, 6)) {
        align = align < 8 ? 8 : 2 * align > 64 ? align : 2 * align;
        text_printf(maker->out, " align=\"%u\"", align);
    }
    text_puts(maker->out, "/>\n");
    unsigned from = type->kind == MADE_UNION ? 0 : align_up(type->size, align);
    unsigned past = from + count * field->type->size;
    type->size = past > type->size ? past : type->size;
    type->align = align > type->align ? align : type->align;
}

static void make_type(struct maker *maker)
{
    struct made_type *type = &maker->types[maker->type_count];
    *type = (struct made_type){.kind = chance(maker, 15) ? MADE_UNION : MADE_STRUCT, .align = 1};
    (void)snprintf(type->name, sizeof(type->name), "T%u", maker->type_count);
    const char *word = type->kind == MADE_UNION ? "union" : "struct";
    bool packed = chance(maker, 20);
    unsigned fields = 1 + below(maker, FIELDS_MAX - 1);
    struct text body = {0};
    struct text *out = maker->out;
    maker->out = &body;
    while (type->field_count == 0 || (fields-- > 0 && type->field_count < FIELDS_MAX))
        make_field(maker, type, packed);
    maker->out = out;
    text_printf(out, "  <%s name=\"%s\"", word, type->name);
    if (chance(maker, 10)) {
        type->align = type->align < 16 ? 16 : type->align;
        text_printf(out, " align=\"%u\"", type->align);
    }
    text_puts(out, packed ? " packed=\"true\">\n" : ">\n");
    text_puts(out, text_string(&body));
    text_printf(out, "  </%s>\n", word);
    text_free(&body);
    type->size = align_up(type->size, type->align);
    if (type->kind == MADE_UNION)
        type->leaves = 1;
    maker->type_count++;
}

static const char *const builtin_names[] = {"thread",      "lane",        "warp",       "threadIdx.x",
                                            "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y",
                                            "blockIdx.z",  "blockDim.x",  "gridDim.y",  "thread"};
enum { BUILTIN_NAMES = sizeof(builtin_names) / sizeof(builtin_names[0]) };

/* A value of at most a few thousands either side of 0. */
static void wild_atom(struct maker *maker, struct text *out)
{
    unsigned kind = below(maker, 10);
    if (kind < 3 && maker->scope_count > 0)
        text_puts(out, maker->scope[below(maker, maker->scope_count)].name);
    else if (kind < 8)
        text_puts(out, builtin_names[below(maker, BUILTIN_NAMES)]);
    else
        text_printf(out, "%d", (int)between(maker, 0, 70));
}

static void wild(struct maker *maker, struct text *out, unsigned depth);

static void wild_test(struct maker *maker, struct text *out, unsigned depth)
{
    static const char *const relations[] = {" < ", " <= ", " > ", " >= ", " == ", " != ", " lt ", " le "};
    unsigned kind = below(maker, 8);
    if (kind == 0 && depth > 0) {
        text_puts(out, "!(");
        wild_test(maker, out, depth - 1);
        text_puts(out, ")");
    } else if (kind <= 2 && depth > 0) {
        text_puts(out, "(");
        wild_test(maker, out, depth - 1);
        text_puts(out, kind == 1 ? " && " : " || ");
        wild_test(maker, out, depth - 1);
        text_puts(out, ")");
    } else if (kind == 3) {
        wild_atom(maker, out);
        text_printf(out, " %% %d == %d", (int)between(maker, 2, 5), (int)between(maker, 0, 2));
    } else {
        wild_atom(maker, out);
        text_puts(out, relations[below(maker, 8)]);
        wild(maker, out, depth > 0 ? depth - 1 : 0);
    }
}

static void wild_lookup(struct maker *maker, struct text *out, unsigned depth)
{
    unsigned table = below(maker, maker->table_count);
    unsigned extent = maker->table_extent[table];
    bool wrong = maker->faulty && chance(maker, 30);
    text_printf(out, "t%u[((", table);
    wild(maker, out, depth);
    text_printf(out, ") & 0xffff) %% %u]", wrong ? extent + 1 : extent);
}

static void wild_divide(struct maker *maker, struct text *out, unsigned depth)
{
    text_puts(out, "(");
    wild(maker, out, depth);
    text_puts(out, chance(maker, 50) ? ") / " : ") % ");
    if (maker->faulty && chance(maker, 20))
        text_printf(out, "(thread - %d)", (int)between(maker, 0, maker->threads));
    else if (chance(maker, 30))
        text_puts(out, "(lane + 1)");
    else
        text_printf(out, "%s%d", chance(maker, 10) ? "-" : "", (int)between(maker, 1, 33));
}

/* `left` operator `right` in parentheses. */
static void wild_binary(struct maker *maker, struct text *out, unsigned depth)
{
    static const char *const operators[] = {" + ", " - ", " ^ ", " | ", " & ", " band "};
    text_puts(out, "(");
    wild(maker, out, depth);
    text_puts(out, operators[below(maker, 6)]);
    wild(maker, out, depth);
    text_puts(out, ")");
}

/* A value whose size grows at most 33-fold a level, so that four levels stay far from 64 bits. */
static void wild(struct maker *maker, struct text *out, unsigned depth)
{
    if (depth == 0) {
        wild_atom(maker, out);
        return;
    }
    depth--;
    switch (below(maker, 10)) {
    case 0:
        text_printf(out, "%d * (", (int)between(maker, -9, 33));
        wild(maker, out, depth);
        text_puts(out, ")");
        break;
    case 1:
        text_puts(out, "((((");
        wild(maker, out, depth);
        text_printf(out, ") & 0xffff) * 2654435761) >> %d)", (int)between(maker, 1, 20));
        break;
    case 2:
        text_puts(out, "(((");
        wild(maker, out, depth);
        text_printf(out, ") & 255) << %s%d)", maker->faulty && chance(maker, 20) ? "57 - lane * " : "",
                    (int)between(maker, 0, 6));
        break;
    case 3:
        wild_divide(maker, out, depth);
        break;
    case 4:
        text_puts(out, chance(maker, 50) ? "min(" : "max(");
        wild(maker, out, depth);
        text_puts(out, ", ");
        wild(maker, out, depth);
        text_puts(out, ")");
        break;
    case 5:
        text_puts(out, "(");
        wild_test(maker, out, depth);
        text_puts(out, " ? ");
        wild(maker, out, depth);
        text_puts(out, " : ");
        wild(maker, out, depth);
        text_puts(out, ")");
        break;
    case 6:
        text_puts(out, chance(maker, 50) ? "~(" : "-(");
        wild(maker, out, depth);
        text_puts(out, ")");
        break;
    case 7:
        if (maker->table_count > 0) {
            wild_lookup(maker, out, depth);
            break;
        }
        wild_atom(maker, out);
        break;
    default:
        wild_binary(maker, out, depth);
    }
}

/* A wild value brought into 0 to limit - 1, `limit` being a number or a param. */
static void wild_inside(struct maker *maker, struct text *out, const char *limit, unsigned depth)
{
    switch (below(maker, 4)) {
    case 0:
        text_puts(out, "((");
        wild(maker, out, depth);
        text_printf(out, ") %% %s + %s) %% %s", limit, limit, limit);
        break;
    case 1:
        text_puts(out, "((");
        wild(maker, out, depth);
        text_printf(out, ") & 0x3ff) %% %s", limit);
        break;
    case 2:
        text_puts(out, "min(max(");
        wild(maker, out, depth);
        text_printf(out, ", 0), %s - 1)", limit);
        break;
    default:
        text_puts(out, "((");
        wild(maker, out, depth);
        text_printf(out, ") & 0xfffff) %% (%s)", limit);
    }
}

struct ranged {
    struct text text;
    int64_t low, high;
};

static struct ranged ranged_make(int64_t low, int64_t high, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct ranged ranged_make(int64_t low, int64_t high, const char *format, ...)
{
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    struct ranged out = {{0}, low, high};
    text_puts(&out.text, line);
    return out;
}

/* The least power of two above a value, less one: what xor and or stay within. */
static int64_t mask_over(int64_t value)
{
    int64_t mask = 1;
    while (mask <= value)
        mask *= 2;
    return mask - 1;
}

static struct ranged regular_thread(struct maker *maker)
{
    int64_t most = maker->thread_limit - 1;
    long long c = between(maker, 2, 40);
    switch (below(maker, 12)) {
    case 0:
        return ranged_make(0, most / c, "thread / %lld", c);
    case 1:
        return ranged_make(0, c - 1, "thread %% %lld", c);
    case 2:
        return ranged_make(0, most, "%lld - thread", (long long)most);
    case 3:
        return ranged_make(0, most < c ? most : c, "min(thread, %lld)", c);
    case 4:
        return ranged_make(c, most > c ? most : c, "max(thread, %lld)", c);
    case 5:
        return ranged_make(0, mask_over(most > c ? most : c), "(thread ^ %lld)", c);
    case 6:
        return ranged_make(0, mask_over(c) < most ? mask_over(c) : most, "(thread & %lld)", (long long)mask_over(c));
    case 7:
        return ranged_make(0, most >> 2, "(thread >> 2)");
    case 8:
        return ranged_make(-5, most > c ? most - c : 0, "(thread < %lld ? -5 : thread - %lld)", c, c);
    case 9:
        return ranged_make(0, (most / c + 1) * c * 3, "thread / %lld * %lld + thread %% %lld", c, 2 * c, c);
    default:
        return ranged_make(0, most, "thread");
    }
}

static struct ranged regular_atom(struct maker *maker)
{
    const int64_t *b = maker->block;
    const int64_t *g = maker->grid;
    if (maker->scope_count > 0 && chance(maker, 30)) {
        const struct made_name *name = &maker->scope[below(maker, maker->scope_count)];
        return ranged_make(name->low, name->high, "%s", name->name);
    }
    int64_t block_most = b[0] * b[1] * b[2] - 1;
    switch (below(maker, 12)) {
    case 0:
        return ranged_make(0, b[0] - 1, "threadIdx.x");
    case 1:
        return ranged_make(0, b[1] - 1, "threadIdx.y");
    case 2:
        return ranged_make(0, b[2] - 1, "threadIdx.z");
    case 3:
        return ranged_make(0, g[0] - 1, "blockIdx.x");
    case 4:
        return ranged_make(0, g[1] - 1, "blockIdx.y");
    case 5:
        return ranged_make(0, g[2] - 1, "blockIdx.z");
    case 6:
        return ranged_make(0, block_most < 31 ? block_most : 31, "lane");
    case 7:
        return ranged_make(0, block_most / 32, "warp");
    case 8:
        return ranged_make(0, b[0] * g[0] - 1, "blockIdx.x * blockDim.x + threadIdx.x");
    case 9:
        return ranged_make(0, b[1] * g[1] - 1, "blockIdx.y * blockDim.y + threadIdx.y");
    default:
        return regular_thread(maker);
    }
}

/* Appends `factor * (part)`. */
static void ranged_add(struct ranged *sum, struct ranged part, int64_t factor)
{
    if (sum->text.length > 0)
        text_puts(&sum->text, " + ");
    if (factor == 1)
        text_puts(&sum->text, text_string(&part.text));
    else
        text_printf(&sum->text, "%lld * (%s)", (long long)factor, text_string(&part.text));
    sum->low += factor * (factor < 0 ? part.high : part.low);
    sum->high += factor * (factor < 0 ? part.low : part.high);
    text_free(&part.text);
}

static struct ranged regular(struct maker *maker, unsigned terms)
{
    static const int64_t factors[] = {1, 1, 1, 1, 2, 3, 4, 5, 8, 12, 16, 17, 32, -1, -3};
    struct ranged sum = {{0}, 0, 0};
    while (terms-- > 0)
        ranged_add(&sum, regular_atom(maker), factors[below(maker, sizeof(factors) / sizeof(factors[0]))]);
    return sum;
}

/* Brings the least of a ranged value to 0 or a little above. */
static void ranged_lift(struct maker *maker, struct ranged *value)
{
    int64_t lift = -value->low + (chance(maker, 20) ? between(maker, 1, 9) : 0);
    if (lift != 0)
        text_printf(&value->text, " %c %lld", lift < 0 ? '-' : '+', (long long)(lift < 0 ? -lift : lift));
    value->low += lift;
    value->high += lift;
}

/* A subscript of a member of `count`. Moving ones are for paths that stand alone. */
static void put_subscript(struct maker *maker, struct text *out, unsigned count, bool moving)
{
    char limit[12];
    (void)snprintf(limit, sizeof(limit), "%u", count);
    text_putc(out, '[');
    if (moving && maker->faulty && chance(maker, 20))
        text_printf(out, "thread %% %u", count + 1);
    else if (!moving || chance(maker, 30))
        text_printf(out, "%u", below(maker, count));
    else if (chance(maker, 40))
        text_printf(out, "%s %% %s", builtin_names[below(maker, BUILTIN_NAMES)], limit);
    else
        wild_inside(maker, out, limit, 1);
    text_putc(out, ']');
}

/* Goes down from a type: nothing more, or ".x", ".f0[1].f2", ... */
static void put_path(struct maker *maker, struct text *out, const struct made_type *type, bool moving)
{
    static const char *const components[] = {"x", "y", "z", "w"};
    const char *dot = out->length > 0 ? "." : "";
    bool stop = out->length > 0 && chance(maker, 40);
    if (type->kind == MADE_SCALAR || stop)
        return;
    if (type->kind == MADE_VECTOR) {
        text_printf(out, "%s%s", dot, components[below(maker, type->components)]);
        return;
    }
    const struct made_field *field = &type->fields[below(maker, type->field_count)];
    text_printf(out, "%s%s", dot, field->name);
    if (field->dim_count > 0) {
        if (chance(maker, 30))
            return;
        for (unsigned d = 0; d < field->dim_count; d++)
            put_subscript(maker, out, field->dims[d], moving);
    }
    put_path(maker, out, field->type, moving);
}

/* Two or three paths into different fields. */
static void put_paths(struct maker *maker, struct text *out, const struct made_type *type)
{
    unsigned first = below(maker, type->field_count);
    unsigned count = 1 + below(maker, type->field_count);
    for (unsigned i = 0; i < count && first + i < type->field_count; i++) {
        const struct made_field *field = &type->fields[first + i];
        struct text path = {0};
        text_puts(&path, field->name);
        if (field->dim_count == 0)
            put_path(maker, &path, field->type, false);
        text_printf(out, "%s%s", i > 0 ? " " : "", text_string(&path));
        text_free(&path);
    }
}

static void put_field(struct maker *maker, const struct made_array *array)
{
    struct text path = {0};
    if (array->type->kind == MADE_SCALAR || chance(maker, 15))
        return;
    if (array->type->kind == MADE_STRUCT && chance(maker, 35))
        put_paths(maker, &path, array->type);
    else
        put_path(maker, &path, array->type, !maker->pure && (maker->kind != RANDOM_STREAM || chance(maker, 30)));
    if (path.length > 0)
        put_attribute(maker, "field", &path);
    else
        text_free(&path);
}

static void param_of(char out[16], const struct maker *maker, const struct made_array *array, unsigned dim)
{
    (void)snprintf(out, 16, "E%u_%u", (unsigned)(array - maker->arrays), dim);
}

static void widen(struct made_array *array, unsigned dim, int64_t most)
{
    if (array->extent[dim] < most + 1)
        array->extent[dim] = most + 1;
}

static void wild_index(struct maker *maker, struct text *out, const struct made_array *array, unsigned dim)
{
    char param[16];
    param_of(param, maker, array, dim);
    wild_inside(maker, out, param, 1 + below(maker, 3));
}

static void regular_index(struct maker *maker, struct text *out, struct made_array *array, unsigned dim)
{
    struct ranged value = regular(maker, array->dim_count > 1 ? 1 + below(maker, 2) : 1 + below(maker, 3));
    ranged_lift(maker, &value);
    /* Sums over several dimensions must not make arrays of gigabytes, nor shared ones that do not fit. */
    if (value.high > (array->shared ? 200 : array->dim_count == 3 ? 40 : array->dim_count == 2 ? 200 : 100000)) {
        text_free(&value.text);
        wild_index(maker, out, array, dim);
        return;
    }
    widen(array, dim, value.high);
    text_puts(out, text_string(&value.text));
    text_free(&value.text);
}

/* Record i by thread i, a neighbour, a tile, a transpose. */
static void stream_index(struct maker *maker, struct text *out, struct made_array *array, unsigned dim, bool turned)
{
    unsigned axis = array->dim_count == 1 ? 0 : array->dim_count - 1 - dim;
    if (turned && axis < 2 && array->dim_count > 1)
        axis = 1 - axis;
    int64_t shift = chance(maker, 30) ? 4 * between(maker, 0, 3) : chance(maker, 30) ? between(maker, 0, 3) : 0;
    if (maker->pure && chance(maker, 90))
        shift -= shift % 4;
    if (array->dim_count == 1 && chance(maker, 70)) {
        text_puts(out, "thread");
        widen(array, dim, maker->thread_limit - 1 + shift);
    } else {
        char letter = (char)('x' + (char)axis);
        text_printf(out, "blockIdx.%c * blockDim.%c + threadIdx.%c", letter, letter, letter);
        widen(array, dim, maker->block[axis] * maker->grid[axis] - 1 + shift);
    }
    if (shift > 0)
        text_printf(out, " + %lld", (long long)shift);
    for (unsigned v = 0; v < maker->scope_count && chance(maker, 60); v++) {
        const struct made_name *name = &maker->scope[v];
        if (name->low < 0 || name->high > 12)
            continue;
        text_printf(out, " + 4 * %s", name->name);
        array->extent[dim] += 4 * name->high;
    }
}

static void make_index(struct maker *maker, struct text *index, struct made_array *array)
{
    bool turned = chance(maker, 40);
    for (unsigned d = 0; d < array->dim_count; d++) {
        text_puts(index, d > 0 ? ", " : "");
        unsigned dice = below(maker, 100);
        if (maker->kind == RANDOM_STREAM && (dice < 90 || maker->pure))
            stream_index(maker, index, array, d, turned);
        else if (maker->kind != RANDOM_WILD && dice < 80 && !(array->shared && dice > 30))
            regular_index(maker, index, array, d);
        else
            wild_index(maker, index, array, d);
    }
}

static void put_index(struct maker *maker, struct made_array *array)
{
    struct text index = {0};
    make_index(maker, &index, array);
    put_attribute(maker, "index", &index);
}

static bool is_atomic_type(const struct made_type *type)
{
    return type->kind == MADE_SCALAR && type->size >= 4;
}

/* One instruction of `bytes` at the start of a record, at any address that is a multiple of it. */
static void put_bytes_access(struct maker *maker, const char *op, struct made_array *array)
{
    unsigned size = array->type->size;
    unsigned bytes = 1U << below(maker, 5);
    while (array->type->kind != MADE_SCALAR && size % bytes != 0)
        bytes /= 2;
    unsigned records = bytes > size && size > 0 ? bytes / size : 1;
    struct ranged value = regular(maker, 1 + below(maker, 2));
    ranged_lift(maker, &value);
    if (value.high > 4000) {
        text_free(&value.text);
        value = ranged_make(0, 31, "lane");
    }
    struct text index = {0};
    if (records > 1 && maker->faulty && chance(maker, 30))
        text_printf(&index, "%s", text_string(&value.text));
    else
        text_printf(&index, "%u * (%s)", records, text_string(&value.text));
    widen(array, 0, records * (value.high + 1) - 1);
    text_free(&value.text);
    array->bytes = true;
    text_printf(maker->out, "<%s array=\"%s\"", op, array->name);
    put_attribute(maker, "index", &index);
    text_printf(maker->out, " bytes=\"%u\"/>\n", bytes);
}

/* An atomic takes one scalar of at least a word. False where the array has none. */
static bool put_atomic_access(struct maker *maker, struct made_array *array)
{
    const struct made_type *type = array->type;
    const struct made_field *field = NULL;
    if (type->kind == MADE_STRUCT || type->kind == MADE_UNION)
        field = &type->fields[below(maker, type->field_count)];
    if (!(field == NULL ? is_atomic_type(type) : field->dim_count == 0 && is_atomic_type(field->type)))
        return false;
    text_printf(maker->out, "<atomic array=\"%s\"", array->name);
    if (field != NULL)
        text_printf(maker->out, " field=\"%s\"", field->name);
    put_index(maker, array);
    text_puts(maker->out, "/>\n");
    return true;
}

static const char *pick_op(struct maker *maker)
{
    static const char *const ops[] = {"read", "write", "update"};
    return ops[below(maker, 3)];
}

/* Often more than one access to an element. */
static void put_accesses(struct maker *maker, const char *op, struct made_array *array)
{
    struct text index = {0};
    make_index(maker, &index, array);
    for (bool more = true; more;) {
        text_printf(maker->out, "<%s array=\"%s\"", op, array->name);
        put_field(maker, array);
        struct text copy = {0};
        text_puts(&copy, text_string(&index));
        put_attribute(maker, "index", &copy);
        text_puts(maker->out, "/>\n");
        op = pick_op(maker);
        more = maker->accesses < ACCESSES_MAX && chance(maker, 30);
        maker->accesses += more;
    }
    text_free(&index);
}

static void make_access(struct maker *maker)
{
    struct made_array *array = &maker->arrays[below(maker, maker->array_count)];
    const char *op = pick_op(maker);
    assert(maker->array_count > 0 && array->type != NULL);
    maker->accesses++;
    text_puts(maker->out, "    ");
    bool bytes = !maker->pure && chance(maker, array->type == &scalars[3]         ? 60
                                               : array->type->kind == MADE_SCALAR ? 15
                                                                                  : 4);
    if (bytes && array->dim_count == 1 && array->type->kind != MADE_UNION) {
        put_bytes_access(maker, op, array);
        return;
    }
    if (!maker->pure && chance(maker, 12) && put_atomic_access(maker, array))
        return;
    put_accesses(maker, op, array);
}

static void make_body(struct maker *maker, unsigned depth, unsigned statements);

static struct made_name *new_name(struct maker *maker, const char *stem)
{
    struct made_name *name = &maker->scope[maker->scope_count];
    (void)snprintf(name->name, sizeof(name->name), "%s%u", stem, maker->name_count++);
    return name;
}

static void make_let(struct maker *maker)
{
    if (maker->scope_count == SCOPE_MAX)
        return;
    struct made_name *name = new_name(maker, "v");
    struct text value = {0};
    if (maker->kind == RANDOM_STREAM) {
        name->low = 0;
        name->high = between(maker, 0, 9);
        text_printf(&value, "%lld", (long long)name->high);
        if (name->high > 0 && !maker->pure && chance(maker, 50))
            text_puts(&value, " * (blockIdx.x > 0)");
    } else if (maker->kind == RANDOM_REGULAR || chance(maker, 40)) {
        struct ranged made = regular(maker, 1 + below(maker, 2));
        name->low = made.low;
        name->high = made.high;
        value = made.text;
    } else {
        name->low = 0;
        name->high = 4095;
        text_puts(&value, "(");
        wild(maker, &value, 2);
        text_puts(&value, ") & 4095");
    }
    /* Wild atoms must stay small. */
    if (name->low < -5000 || name->high > 5000) {
        name->low = 0;
        name->high = 63;
        text_free(&value);
        text_puts(&value, "thread & 63");
    }
    text_printf(maker->out, "    <let name=\"%s\"", name->name);
    put_attribute(maker, "value", &value);
    text_puts(maker->out, "/>\n");
    maker->scope_count++;
}

/* for var from A to B: constants, or what a lane, a block, an outer variable says. */
static void put_counted(struct maker *maker, struct made_name *name)
{
    int64_t from = chance(maker, 40) ? between(maker, -3, 4) : 0;
    int64_t to = from + between(maker, 0, 5);
    unsigned step = chance(maker, 30) ? 1 + below(maker, 3) : 1;
    struct text text = {0};
    unsigned form = maker->pure || (maker->kind == RANDOM_STREAM && chance(maker, 80)) ? 0 : below(maker, 7);
    const struct made_name *outer = maker->scope_count > 0 ? &maker->scope[below(maker, maker->scope_count)] : NULL;
    long long span = to - from + 1;
    if (form == 1)
        text_printf(&text, "lane %% %lld + %lld", span, (long long)from);
    else if (form == 2)
        text_printf(&text, "min(blockIdx.x, %lld)", (long long)to);
    else if (form == 3 && outer != NULL && outer->high <= 8)
        text_printf(&text, "%s", outer->name);
    else if (form == 4)
        text_printf(&text, "threadIdx.x < %d ? %lld : %lld", (int)between(maker, 0, 40), (long long)to,
                    (long long)from);
    else
        text_printf(&text, "%lld", (long long)to);
    if (form == 3 && outer != NULL && outer->high <= 8)
        to = outer->high;
    name->low = from;
    name->high = to > from ? to - 1 : from;
    if (from != 0)
        text_printf(maker->out, " from=\"%lld\"", (long long)from);
    put_attribute(maker, "to", &text);
    if (step != 1)
        text_printf(maker->out, " step=\"%u\"", step);
}

/* Loops that halve, count down or up, multiply. */
static void put_while(struct maker *maker, struct made_name *name)
{
    struct text from = {0};
    int64_t most = between(maker, 1, 40);
    unsigned form = below(maker, 5);
    if (form < 3) {
        bool lanes = maker->kind != RANDOM_STREAM && chance(maker, 40);
        text_printf(&from, lanes ? "lane & %lld" : "%lld", (long long)most);
        put_attribute(maker, "from", &from);
        text_printf(maker->out, " while=\"%s > 0\"", name->name);
        text_puts(maker->out, " next=\"");
        text_printf(maker->out, form == 0 ? "%s / 2" : form == 1 ? "%s - 7" : "%s >> 1", name->name);
        text_puts(maker->out, "\"");
        name->low = 1;
        name->high = most;
        return;
    }
    if (form == 3) {
        bool down = chance(maker, 50);
        if (down)
            text_printf(maker->out, " from=\"%lld\" while=\"%s >= 0\" step=\"-9\"", (long long)most, name->name);
        else
            text_printf(maker->out, " while=\"%s &lt; %lld\" step=\"9\"", name->name, (long long)most);
        name->low = 0;
        name->high = down ? most : most - 1;
        return;
    }
    text_printf(maker->out, " from=\"1\" to=\"%lld\" next=\"%s * 3\"", (long long)most, name->name);
    name->low = 1;
    name->high = most > 1 ? most - 1 : 1;
}

static void make_loop(struct maker *maker, unsigned depth)
{
    if (maker->scope_count == SCOPE_MAX)
        return;
    unsigned outside = maker->scope_count;
    struct made_name *name = new_name(maker, "k");
    text_printf(maker->out, "    <for var=\"%s\"", name->name);
    if (chance(maker, 70))
        put_counted(maker, name);
    else
        put_while(maker, name);
    text_puts(maker->out, ">\n");
    maker->scope_count++;
    make_body(maker, depth - 1, 1 + below(maker, 2));
    maker->scope_count = outside;
    text_puts(maker->out, "    </for>\n");
}

/* Writes a test; one that bounds `thread` from above says so in thread_limit. */
static void put_test(struct maker *maker)
{
    struct text test = {0};
    unsigned form = maker->kind == RANDOM_WILD ? 9 : below(maker, 10);
    int64_t all = maker->threads;
    if (form < 3) {
        int64_t limit = between(maker, all / 2, all + 2);
        text_printf(&test, "thread < %lld", (long long)limit);
        if (limit >= 1 && limit < maker->thread_limit)
            maker->thread_limit = limit;
    } else if (form == 3) {
        text_printf(&test, "blockIdx.x == %d", (int)between(maker, 0, 3));
    } else if (form == 4) {
        text_printf(&test, "blockIdx.x < blockIdx.y + %d", (int)between(maker, 0, 2));
    } else if (form == 5) {
        text_printf(&test, "threadIdx.x < %d && threadIdx.y >= %d", (int)between(maker, 0, 40),
                    (int)between(maker, 0, 2));
    } else if (form == 6) {
        text_printf(&test, "(thread + %d) %% %d < %d", (int)between(maker, 0, 9), (int)between(maker, 2, 70),
                    (int)between(maker, 1, 40));
    } else if (form == 7) {
        struct ranged left = regular(maker, 2);
        text_printf(&test, "%s > %lld", text_string(&left.text), (long long)((left.low + left.high) / 2));
        text_free(&left.text);
    } else {
        wild_test(maker, &test, 2);
    }
    put_attribute(maker, "test", &test);
}

static void make_if(struct maker *maker, unsigned depth)
{
    unsigned outside = maker->scope_count;
    int64_t limit = maker->thread_limit;
    text_puts(maker->out, "    <if");
    put_test(maker);
    text_puts(maker->out, ">\n");
    make_body(maker, depth - 1, 1 + below(maker, 2));
    maker->scope_count = outside;
    maker->thread_limit = limit;
    text_puts(maker->out, "    </if>\n");
    if (!chance(maker, 40))
        return;
    text_puts(maker->out, "    <else>\n");
    make_body(maker, depth - 1, 1 + below(maker, 2));
    maker->scope_count = outside;
    text_puts(maker->out, "    </else>\n");
}

static void make_body(struct maker *maker, unsigned depth, unsigned statements)
{
    for (unsigned s = 0; s < statements; s++) {
        unsigned dice = below(maker, 10);
        bool plain = maker->kind == RANDOM_STREAM && chance(maker, 60);
        if (dice < 2 && depth > 0 && !plain)
            make_loop(maker, depth);
        else if (dice < 4 && depth > 0 && !plain && !maker->pure)
            make_if(maker, depth);
        else if (dice < 6 && !plain)
            make_let(maker);
        else if (maker->accesses < ACCESSES_MAX)
            make_access(maker);
    }
}

static void make_launch(struct maker *maker)
{
    static const int64_t blocks[][3] = {{32, 1, 1},   {64, 1, 1},  {96, 1, 1}, {33, 1, 1},  {5, 1, 1},   {8, 8, 1},
                                        {16, 4, 1},   {4, 16, 1},  {7, 5, 1},  {3, 3, 3},   {2, 8, 4},   {32, 2, 1},
                                        {1, 1, 1},    {100, 1, 1}, {48, 1, 1}, {10, 10, 1}, {128, 1, 1}, {32, 32, 1},
                                        {1000, 1, 1}, {513, 1, 1}, {8, 8, 16}, {16, 16, 1}};
    static const int64_t grids[][3] = {{1, 1, 1},   {2, 1, 1},  {3, 2, 1}, {4, 1, 1},  {1, 3, 1},  {2, 2, 2},
                                       {7, 1, 1},   {5, 2, 1},  {1, 1, 3}, {3, 3, 1},  {12, 1, 1}, {4, 4, 1},
                                       {100, 1, 1}, {37, 5, 1}, {6, 6, 6}, {1, 64, 1}, {257, 1, 1}};
    /* Most launches are small: the walk by hand is slow. */
    int64_t limit = chance(maker, 6) ? THREADS_MAX : chance(maker, 30) ? 600 : 200;
    do {
        memcpy(maker->block, blocks[below(maker, sizeof(blocks) / sizeof(blocks[0]))], sizeof(maker->block));
        memcpy(maker->grid, grids[below(maker, sizeof(grids) / sizeof(grids[0]))], sizeof(maker->grid));
        maker->threads = 1;
        for (unsigned d = 0; d < 3; d++)
            maker->threads *= maker->block[d] * maker->grid[d];
    } while (maker->threads > limit);
    maker->thread_limit = maker->threads;
    text_printf(maker->out, " block=\"%lld %lld %lld\" grid=\"%lld %lld %lld\"", (long long)maker->block[0],
                (long long)maker->block[1], (long long)maker->block[2], (long long)maker->grid[0],
                (long long)maker->grid[1], (long long)maker->grid[2]);
}

static void choose_array(struct maker *maker)
{
    struct made_array *array = &maker->arrays[maker->array_count];
    (void)snprintf(array->name, sizeof(array->name), "a%u", maker->array_count);
    array->type = chance(maker, 65) ? &maker->types[below(maker, maker->type_count)] : pick_type(maker, true);
    array->shared = maker->kind != RANDOM_STREAM && chance(maker, 20);
    unsigned dims = maker->pure ? 0 : below(maker, 10);
    array->dim_count = dims < 6 ? 1 : dims < 9 ? 2 : 3;
    int64_t most = array->dim_count == 1 ? 90 : array->dim_count == 2 ? 40 : 12;
    for (unsigned d = 0; d < array->dim_count; d++)
        array->extent[d] = maker->kind == RANDOM_STREAM ? 1 : between(maker, 1, most);
    maker->array_count++;
}

static void make_table(struct maker *maker)
{
    static const char *const values[] = {"permutation", "uniform", "sorted"};
    unsigned kind = below(maker, 3);
    unsigned extent = 1 + below(maker, 200);
    text_printf(maker->out, "  <table name=\"t%u\" extent=\"%u\"", maker->table_count, extent);
    text_printf(maker->out, " values=\"%s\" seed=\"%u\"", values[kind], below(maker, 1000));
    if (kind > 0)
        text_printf(maker->out, " range=\"%u\"", 1 + below(maker, 300));
    text_puts(maker->out, "/>\n");
    maker->table_extent[maker->table_count++] = extent;
}

static int64_t array_bytes(const struct made_array *array)
{
    return (int64_t)array->type->size * array->extent[0] * (array->dim_count > 1 ? array->extent[1] : 1) *
           (array->dim_count > 2 ? array->extent[2] : 1);
}

static void put_offset(struct maker *maker, const struct made_array *array)
{
    if (!chance(maker, 25))
        return;
    unsigned step = array->bytes && array->type->align < 16 ? 16 : array->type->align;
    text_printf(maker->out, " offset=\"%u\"", step * (1 + below(maker, 9)));
    if (chance(maker, 30))
        text_printf(maker->out, " align=\"%u\"", step < 16 ? 16 : step);
    else if (chance(maker, 10))
        text_printf(maker->out, " align=\"%u\"", step);
}

/* Once all indices are known. In a faulty description the extents may be too small for them. */
static void put_array(struct maker *maker, struct made_array *array)
{
    unsigned last = array->dim_count - 1;
    for (unsigned d = 0; d < array->dim_count; d++) {
        char param[16];
        param_of(param, maker, array, d);
        if (chance(maker, 15))
            array->extent[d] += between(maker, 0, 40);
        if (maker->faulty && array->extent[d] > 2 && chance(maker, 15))
            array->extent[d] -= between(maker, 1, array->extent[d] / 2);
        text_printf(maker->out, "  <param name=\"%s\" value=\"%lld\"/>\n", param, (long long)array->extent[d]);
    }
    text_printf(maker->out, "  <array name=\"%s\" of=\"%s\" extent=\"", array->name, array->type->name);
    for (unsigned d = 0; d < array->dim_count; d++) {
        char param[16];
        param_of(param, maker, array, d);
        text_printf(maker->out, "%s%s", d > 0 ? " " : "", param);
    }
    text_puts(maker->out, "\"");
    if (array->shared && array_bytes(array) <= SHARED_BYTES_MAX)
        text_puts(maker->out, " space=\"shared\"");
    put_offset(maker, array);
    if (array->dim_count > 1 && chance(maker, 25)) {
        unsigned row = (unsigned)array->extent[last] * array->type->size;
        unsigned step = array->type->align < 4 && chance(maker, 70) ? 4 : array->type->align;
        text_printf(maker->out, " pitch=\"%u\"", align_up(row, step) + step * below(maker, 5));
    }
    text_puts(maker->out, "/>\n");
}

static void make_kernel(struct maker *maker, unsigned number)
{
    text_printf(maker->out, "  <kernel name=\"k%u\"", number);
    make_launch(maker);
    text_puts(maker->out, ">\n");
    maker->scope_count = 0;
    maker->name_count = 0;
    maker->accesses = 0;
    make_body(maker, 3, 2 + below(maker, 4));
    if (maker->accesses == 0)
        make_access(maker);
    text_puts(maker->out, "  </kernel>\n");
}

void random_spec_write(struct text *out, uint64_t seed, enum random_kind kind)
{
    struct maker maker = {.out = out, .state = seed * 4 + (uint64_t)kind, .kind = kind};
    if (kind == RANDOM_FAULTY) {
        maker.faulty = true;
        maker.kind = (enum random_kind)below(&maker, 3);
    }
    maker.pure = maker.kind == RANDOM_STREAM && chance(&maker, 35);
    text_puts(out, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"r\">\n");
    unsigned types = 1 + below(&maker, TYPES_MAX - 1);
    while (maker.type_count < types)
        make_type(&maker);
    unsigned tables = below(&maker, TABLES_MAX + 1);
    while (maker.table_count < tables)
        make_table(&maker);
    unsigned arrays = 1 + below(&maker, ARRAYS_MAX);
    while (maker.array_count < arrays)
        choose_array(&maker);
    unsigned kernels = chance(&maker, 20) ? 2 : 1;
    for (unsigned k = 0; k < kernels; k++)
        make_kernel(&maker, k);
    for (unsigned a = 0; a < maker.array_count; a++)
        put_array(&maker, &maker.arrays[a]);
    text_puts(out, "</layout>\n");
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* The paths of a split, each leaf in one: a field, or what is in it where it is a struct without count. */
struct paths {
    const char **items;
    size_t count, capacity;
    struct arena *arena;
};

static void collect_paths(struct paths *paths, uint64_t *state, const struct type *type, const char *prefix)
{
    for (size_t f = 0; f < type->field_count; f++) {
        const struct field *field = &type->fields[f];
        const char *path = arena_printf(paths->arena, "%s%s", prefix, field->name.text);
        if (field->dim_count == 0 && field->type->kind == TYPE_STRUCT && random_below(state, 2) == 0) {
            collect_paths(paths, state, field->type, arena_printf(paths->arena, "%s.", path));
            continue;
        }
        paths->items = arena_grow(paths->arena, paths->items, paths->count, &paths->capacity, sizeof(const char *));
        paths->items[paths->count++] = path;
    }
}

static void shuffle_paths(struct paths *paths, uint64_t *state)
{
    for (size_t i = paths->count; i > 1; i--) {
        size_t j = random_below(state, (unsigned)i);
        const char *swap = paths->items[i - 1];
        paths->items[i - 1] = paths->items[j];
        paths->items[j] = swap;
    }
}

static void put_aos(struct text *out, uint64_t *state)
{
    bool align = random_below(state, 3) == 0, reorder = random_below(state, 3) == 0;
    text_puts(out, "aos");
    if (align || reorder)
        text_puts(out, "(");
    if (align)
        text_printf(out, "align=%u", 2U << random_below(state, 6));
    if (reorder)
        text_puts(out, align ? " reorder" : "reorder");
    if (align || reorder)
        text_puts(out, ")");
}

static void put_parted(struct text *out, uint64_t *state)
{
    if (random_below(state, 2) == 0)
        text_puts(out, "soa");
    else
        text_printf(out, "aosoa(%u)", 1U << random_below(state, random_below(state, 16) == 0 ? 17 : 8));
}

/* Now and then a field is left out. */
static void put_split(struct text *out, uint64_t *state, const struct array *array, struct arena *arena)
{
    struct paths paths = {.arena = arena};
    collect_paths(&paths, state, array->record->type, "");
    shuffle_paths(&paths, state);
    paths.count -= paths.count > 1 && random_below(state, 50) == 0;
    text_puts(out, "split(");
    for (size_t i = 0; i < paths.count; i++) {
        bool starts = i == 0 || random_below(state, 3) == 0;
        if (starts && i > 0)
            text_puts(out, " | ");
        else if (i > 0)
            text_puts(out, " ");
        unsigned dice = random_below(state, 4);
        if (starts && dice == 0)
            put_aos(out, state);
        else if (starts && dice <= 2)
            put_parted(out, state);
        if (starts && dice <= 2)
            text_puts(out, ": ");
        text_puts(out, paths.items[i]);
    }
    text_puts(out, ")");
}

static void put_tiled(struct text *out, uint64_t *state, const struct array *array)
{
    text_puts(out, "tiled(");
    for (unsigned d = 0; d < array->dim_count; d++)
        text_printf(out, "%s%u", d == 0 ? "" : " ", 1 + random_below(state, random_below(state, 2) == 0 ? 9 : 40));
    text_puts(out, ")");
}

static void put_pitch(struct text *out, uint64_t *state, const struct array *array)
{
    uint64_t align = array->record->type->align;
    uint64_t row = array->extent[array->dim_count - 1] * array->record->type->size;
    uint64_t step = random_below(state, 3) == 0 ? 128 : align;
    uint64_t pitch = (row + step - 1) / step * step + step * random_below(state, 4);
    if (random_below(state, 10) == 0)
        pitch += random_below(state, 3) - UINT64_C(1);
    text_printf(out, "pitch(%llu)", (unsigned long long)pitch);
}

static void put_layout(struct text *out, uint64_t *state, const struct array *array, struct arena *arena)
{
    unsigned dice = random_below(state, array->dim_count > 1 ? 10 : 5);
    if (dice < 3 && array->record->type->kind == TYPE_STRUCT && array->record->type->field_count > 1 &&
        random_below(state, 2) == 0)
        put_split(out, state, array, arena);
    else if (dice < 3)
        put_aos(out, state);
    else if (dice < 5)
        put_parted(out, state);
    else if (dice == 5)
        text_puts(out, "row-major");
    else if (dice == 6)
        text_puts(out, "column-major");
    else if (dice == 7)
        put_pitch(out, state, array);
    else
        put_tiled(out, state, array);
}

void random_candidate_write(struct text *out, uint64_t *state, const struct array *array, struct arena *arena)
{
    static const char *const plans[] = {"direct",  "direct",  "vector", "vector",          "shuffle",
                                        "shuffle", "wide(4)", "staged", "staged(swizzle)", "staged"};
    unsigned plan = random_below(state, sizeof(plans) / sizeof(plans[0]));
    put_layout(out, state, array, arena);
    text_printf(out, "/%s", plans[plan]);
    if (plan == sizeof(plans) / sizeof(plans[0]) - 1)
        text_printf(out, "(pad=%u)", 1 + random_below(state, 3));
}
