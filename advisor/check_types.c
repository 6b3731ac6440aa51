#include <string.h>

#include "check_internal.h"

/* Paths of leaves take memory too: long names, nested deeply, add up. */
enum { PATH_BYTES_MAX = 1 << 25 };

static bool is_own(const struct type *type)
{
    return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION;
}

static const char *type_word(const struct type *type)
{
    return type->kind == TYPE_UNION ? "union" : "struct";
}

const struct type *check_component(const struct type *vector)
{
    const char *name;
    for (size_t i = 0; (name = type_builtin_name(i)) != NULL; i++) {
        const struct type *type = type_builtin(name);
        if (type->kind == TYPE_SCALAR && type->scalar == vector->scalar)
            return type;
    }
    return vector;
}

size_t check_leaf_count(const struct type *type)
{
    switch (type->kind) {
    case TYPE_SCALAR:
        return 1;
    case TYPE_VECTOR:
        return type->components == 3 ? 3 : 1;
    case TYPE_UNION:
        return 1;
    case TYPE_STRUCT:
        return type->state > 0 ? (size_t)type->state : 0;
    }
    return 0;
}

/* A name for messages; one that is missing was reported by read. */
static const char *shown_name(const struct name *name)
{
    return name->text == NULL ? "" : name->text;
}

/* Names that other languages and headers have for what is a built-in type here. */
static const char *foreign_type(const char *name)
{
    if (strncmp(name, "std::", 5) == 0)
        name += 5;
    static const char *const mends[][2] = {
        {"short", "int16"},
        {"long", "int64"},
        {"long long", "int64"},
        {"unsigned int", "uint32"},
        {"unsigned long", "uint64"},
        {"unsigned short", "uint16"},
        {"unsigned char", "uint8"},
        {"signed char", "int8"},
        {"size_t", "uint64"},
        {"uchar", "uint8"},
        {"ushort", "uint16"},
        {"uint", "uint32"},
        {"ulong", "uint64"},
        {"byte", "uint8"},
        {"float16", "half"},
        {"fp16", "half"},
        {"__half", "half"},
        {"__half2", "half2"},
        {"__nv_bfloat16", "bfloat16"},
        {"__nv_bfloat162", "bfloat162"},
        {"float32", "float"},
        {"float64", "double"},
        {"int8_t", "int8"},
        {"int16_t", "int16"},
        {"int32_t", "int32"},
        {"int64_t", "int64"},
        {"uint8_t", "uint8"},
        {"uint16_t", "uint16"},
        {"uint32_t", "uint32"},
        {"uint64_t", "uint64"},
    };
    for (size_t i = 0; i < sizeof(mends) / sizeof(mends[0]); i++)
        if (strcmp(mends[i][0], name) == 0)
            return mends[i][1];
    return NULL;
}

static void report_unknown_type(struct checker *checker, const struct quoted *text)
{
    diag_error(checker->diags, "unknown-type", text->where, "unknown type '%s'", text->text);
    const char *foreign = foreign_type(text->text);
    const char *bracket = strchr(text->text, '[');
    if (foreign != NULL) {
        diag_note(checker->diags, "did you mean '%s'?", foreign);
        return;
    }
    if (bracket != NULL && bracket != text->text) {
        diag_note(checker->diags, "a member's elements are told by 'count', as in type=\"float\" count=\"3\"");
        return;
    }
    if (check_is_wide_vector(text->text)) {
        diag_note(checker->diags, "types wider than 16 bytes are not in version 1");
        return;
    }
    struct guess guess = check_guess_start(checker, text->text);
    const char *name;
    for (size_t i = 0; (name = type_builtin_name(i)) != NULL; i++)
        check_guess_offer(&guess, name);
    for (const struct type *type = checker->spec->types; type != NULL && check_guess_wants(&guess); type = type->next)
        check_guess_offer(&guess, type->name.text);
    (void)check_guess_note(checker, &guess);
}

/* A type by name, complete or not; NULL after a diagnostic. */
static const struct type *look_up_type(struct checker *checker, const struct quoted *text)
{
    if (text->text == NULL)
        return NULL;
    const struct type *type = type_builtin(text->text);
    if (type != NULL)
        return type;
    const struct symbol *symbol =
        check_names_find(&checker->names, type_space(checker), text->text, strlen(text->text));
    if (symbol != NULL)
        return symbol->item;
    report_unknown_type(checker, text);
    return NULL;
}

const struct type *check_find_type(struct checker *checker, const struct quoted *text)
{
    const struct type *type = look_up_type(checker, text);
    return type == NULL || (is_own(type) && type->state <= 0) ? NULL : type;
}

static bool read_count(struct checker *checker, struct field *field)
{
    const struct bounds bounds = {"count", "bad-count", 1, RECORD_BYTES_MAX};
    int64_t counts[FIELD_DIMS_MAX];
    field->count = 1;
    if (field->count_text.text == NULL)
        return true;
    size_t found = check_integers(checker, &field->count_text, &bounds, FIELD_DIMS_MAX, counts, NULL);
    for (size_t i = 0; i < found; i++) {
        field->dims[i] = (uint64_t)counts[i];
        /* Each is at most 2^24 and the product is kept so: no overflow. */
        field->count *= field->dims[i];
        if (field->count > RECORD_BYTES_MAX) {
            diag_error(checker->diags, "too-large", field->count_text.where, "more than %d elements", RECORD_BYTES_MAX);
            return false;
        }
    }
    field->dim_count = (unsigned)found;
    return found > 0;
}

static bool check_field(struct checker *checker, struct field *field)
{
    field->type = look_up_type(checker, &field->type_text);
    bool count = read_count(checker, field);
    /* 0 stands for no alignment of its own until the type is laid out. */
    bool align = check_alignment(checker, &field->align_text, ALIGN_MAX, 0, &field->align);
    return field->name.text != NULL && field->type != NULL && count && align;
}

void check_type_fields(struct checker *checker)
{
    /* Those of XML Schema. */
    static const char *const booleans[] = {"false", "true", "0", "1", NULL};
    for (struct type *type = checker->spec->types; type != NULL; type = type->next) {
        unsigned packed;
        bool fine = check_word(checker, &type->packed_text, "packed", booleans, 0, &packed);
        type->packed = packed % 2 == 1;
        fine = check_alignment(checker, &type->align_text, ALIGN_MAX, 0, &type->align) && fine;
        for (size_t i = 0; i < type->field_count; i++)
            fine = check_field(checker, &type->fields[i]) && fine;
        if (type->field_count == 0)
            diag_error(checker->diags, "empty-type", type->name.where, "%s '%s' has no field", type_word(type),
                       shown_name(&type->name));
        if (!fine || type->field_count == 0 || type->name.text == NULL)
            type->state = TYPE_FAILED;
    }
}

/* The types being laid out, outermost first. */
struct nesting {
    struct checker *checker;
    const struct type *chain[TYPE_DEPTH_MAX];
    unsigned depth;
};

static void report_recursion(const struct nesting *nesting, const struct field *field)
{
    const struct type *type = field->type;
    diag_error(nesting->checker->diags, "recursive-type", field->type_text.where, "%s '%s' contains itself",
               type_word(type), type->name.text);
    unsigned from = nesting->depth - 1;
    while (nesting->chain[from] != type)
        from--;
    if (from == nesting->depth - 1)
        return;
    struct text list = {0};
    for (unsigned i = from + 1; i < nesting->depth; i++)
        text_printf(&list, "%s'%s'", i == from + 1 ? "" : ", which holds ", nesting->chain[i]->name.text);
    diag_note(nesting->checker->diags, "'%s' holds %s, which holds '%s'", type->name.text, text_string(&list),
              type->name.text);
    text_free(&list);
}

static bool report_depth(struct checker *checker, const struct field *field)
{
    diag_error(checker->diags, "deep-type", field->type_text.where, "types nest deeper than %d levels", TYPE_DEPTH_MAX);
    return false;
}

static bool report_size(struct checker *checker, const struct name *name, const char *what)
{
    diag_error(checker->diags, "too-large", name->where, "%s '%s' ends beyond %d bytes, the most a record may have",
               what, name->text, RECORD_BYTES_MAX);
    return false;
}

/* Puts a field at the first place that suits it past *end. */
static bool place_field(struct checker *checker, struct type *type, struct field *field, uint64_t *end, uint64_t *align)
{
    uint64_t natural = type->packed ? 1 : field->type->align;
    if (field->align == 0)
        field->align = natural;
    if (!check_align_least(checker, &field->align_text, field->align, natural))
        return false;
    /* Counts and sizes are at most 2^24 each, ends too: no sum or product comes near 2^64. */
    uint64_t from = (*end + field->align - 1) / field->align * field->align;
    field->offset = type->kind == TYPE_UNION ? 0 : from;
    uint64_t past = field->offset + field->count * field->type->size;
    if (past > RECORD_BYTES_MAX)
        return report_size(checker, &field->name, "field");
    if (past > *end)
        *end = past;
    if (field->align > *align)
        *align = field->align;
    return true;
}

/* Notes at which leaf of its struct a field begins, for paths. */
static void number_field(struct checker *checker, const struct type *type, const struct field *field, size_t leaf)
{
    struct symbol *symbol = check_names_find(&checker->names, type, field->name.text, strlen(field->name.text));
    if (symbol != NULL && symbol->item == field)
        symbol->number = leaf;
}

static bool place_fields(struct checker *checker, struct type *type)
{
    uint64_t end = 0, align = 1, leaves = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        struct field *field = &type->fields[i];
        if (!place_field(checker, type, field, &end, &align))
            return false;
        number_field(checker, type, field, (size_t)leaves);
        leaves += field->count * check_leaf_count(field->type);
        if (type->kind == TYPE_STRUCT && leaves > LEAVES_MAX) {
            diag_error(checker->diags, "too-many-leaves", field->name.where, "struct '%s' has more than %d scalars",
                       type->name.text, LEAVES_MAX);
            return false;
        }
    }
    if (type->align == 0)
        type->align = align;
    if (!check_align_least(checker, &type->align_text, type->align, align))
        return false;
    type->size = (end + type->align - 1) / type->align * type->align;
    if (type->size > RECORD_BYTES_MAX)
        return report_size(checker, &type->name, type_word(type));
    type->state = type->kind == TYPE_UNION ? 1 : (int)leaves;
    return true;
}

static bool lay_out(struct nesting *nesting, struct type *type);

/* Lays out the type of a field first. *levels grows to how deep it nests. */
static bool lay_out_inner(struct nesting *nesting, const struct field *field, size_t *levels)
{
    struct checker *checker = nesting->checker;
    if (!is_own(field->type))
        return true;
    if (field->type->state == TYPE_ACTIVE) {
        report_recursion(nesting, field);
        return false;
    }
    const char *name = field->type->name.text;
    const struct symbol *symbol = check_names_find(&checker->names, type_space(checker), name, strlen(name));
    if (field->type->state == TYPE_NEW) {
        if (nesting->depth == TYPE_DEPTH_MAX)
            return report_depth(checker, field);
        if (!lay_out(nesting, symbol->item))
            return false;
    }
    if (symbol->number + 1 > *levels)
        *levels = symbol->number + 1;
    return field->type->state > 0;
}

static bool lay_out(struct nesting *nesting, struct type *type)
{
    struct checker *checker = nesting->checker;
    type->state = TYPE_ACTIVE;
    nesting->chain[nesting->depth++] = type;
    bool fine = true;
    size_t levels = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        fine = lay_out_inner(nesting, &type->fields[i], &levels) && fine;
        if (levels >= TYPE_DEPTH_MAX && fine)
            fine = report_depth(checker, &type->fields[i]);
    }
    nesting->depth--;
    if (!fine || !place_fields(checker, type)) {
        type->state = TYPE_FAILED;
        return false;
    }
    const char *name = type->name.text;
    struct symbol *symbol = check_names_find(&checker->names, type_space(checker), name, strlen(name));
    if (symbol != NULL && symbol->item == type)
        symbol->number = levels;
    return true;
}

void check_type_sizes(struct checker *checker)
{
    struct nesting nesting = {.checker = checker};
    for (struct type *type = checker->spec->types; type != NULL; type = type->next)
        if (type->state == TYPE_NEW)
            (void)lay_out(&nesting, type);
}

/* Leaves as they are found; `path` is where the walk is. */
struct flattening {
    struct arena *arena;
    struct leaf *leaves;
    size_t count, capacity, path_bytes;
    struct text path;
};

static bool add_leaf(struct flattening *flat, const struct type *type, uint64_t offset)
{
    flat->path_bytes += flat->path.length;
    if (flat->count == LEAVES_MAX || flat->path_bytes > PATH_BYTES_MAX)
        return false;
    flat->leaves = arena_grow(flat->arena, flat->leaves, flat->count, &flat->capacity, sizeof(*flat->leaves));
    flat->leaves[flat->count++] = (struct leaf){
        .path = arena_copy(flat->arena, text_string(&flat->path), flat->path.length),
        .type = type,
        .offset = offset,
        .size = type->size,
        .align = type->align,
    };
    return true;
}

static void path_cut(struct flattening *flat, size_t length)
{
    flat->path.length = length;
    if (flat->path.bytes != NULL)
        flat->path.bytes[length] = '\0';
}

/* Appends the subscripts of element `number`, the last dimension fastest. */
static void path_subscripts(struct flattening *flat, const struct field *field, uint64_t number)
{
    uint64_t rest = field->count;
    for (unsigned i = 0; i < field->dim_count; i++) {
        rest /= field->dims[i];
        text_printf(&flat->path, "[%llu]", (unsigned long long)(number / rest % field->dims[i]));
    }
}

static bool flatten(struct flattening *flat, const struct type *type, uint64_t offset);

static bool flatten_field(struct flattening *flat, const struct field *field, uint64_t offset)
{
    size_t length = flat->path.length;
    bool fits = true;
    for (uint64_t i = 0; i < field->count && fits; i++) {
        text_printf(&flat->path, "%s%s", length == 0 ? "" : ".", field->name.text);
        path_subscripts(flat, field, i);
        fits = flatten(flat, field->type, offset + i * field->type->size);
        path_cut(flat, length);
    }
    return fits;
}

static bool flatten_vector_3(struct flattening *flat, const struct type *type, uint64_t offset)
{
    const struct type *component = check_component(type);
    size_t length = flat->path.length;
    for (unsigned i = 0; i < 3; i++) {
        text_printf(&flat->path, "%s%c", length == 0 ? "" : ".", "xyz"[i]);
        if (!add_leaf(flat, component, offset + i * component->size))
            return false;
        path_cut(flat, length);
    }
    return true;
}

static bool flatten(struct flattening *flat, const struct type *type, uint64_t offset)
{
    if (type->kind == TYPE_VECTOR && type->components == 3)
        return flatten_vector_3(flat, type, offset);
    if (type->kind != TYPE_STRUCT)
        return add_leaf(flat, type, offset);
    for (size_t i = 0; i < type->field_count; i++)
        if (!flatten_field(flat, &type->fields[i], offset + type->fields[i].offset))
            return false;
    return true;
}

const struct record *check_flatten(struct arena *arena, const struct type *type)
{
    struct flattening flat = {.arena = arena};
    bool fits = flatten(&flat, type, 0);
    text_free(&flat.path);
    if (!fits)
        return NULL;
    bool *owned = arena_array(arena, (size_t)type->size, sizeof(*owned));
    for (size_t i = 0; i < flat.count; i++)
        memset(owned + flat.leaves[i].offset, true, (size_t)flat.leaves[i].size);
    struct record *record = arena_alloc(arena, sizeof(*record));
    *record = (struct record){type, flat.leaves, flat.count, owned};
    return record;
}

const struct record *check_find_record(struct checker *checker, const struct type *type, struct span where)
{
    /* Records are kept in a namespace of their own, by the names of their types: no two have the same. */
    const void *space = &checker->all_leaves;
    const struct symbol *known = check_names_find(&checker->names, space, type->name.text, strlen(type->name.text));
    if (known != NULL)
        return known->record;
    checker->all_leaves += check_leaf_count(type);
    checker->all_record_bytes += type->size;
    const struct record *record = NULL;
    if (checker->all_leaves <= ALL_LEAVES_MAX && checker->all_record_bytes <= ALL_RECORD_BYTES_MAX)
        record = check_flatten(checker->arena, type);
    if (record == NULL)
        diag_error(checker->diags, "too-many-leaves", where, "records of more than %d scalars, or %d bytes, together",
                   ALL_LEAVES_MAX, ALL_RECORD_BYTES_MAX);
    /* Kept when it failed, too: it is reported once. */
    check_names_add(checker, space, type->name.text, SYMBOL_RECORD, NULL, type->name.where)->record = record;
    return record;
}
