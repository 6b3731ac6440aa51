#include <stdlib.h>
#include <string.h>

#include "check_internal.h"

/* Members of arrays that a path selects whole: more than twelve of two elements or more are beyond SELECTED_MAX. */
enum { LOOPS_MAX = 12 };

/* What a path leads to, from left to right. A path goes through structs by leaves, until it enters a union: that is
 * one leaf, and what follows are bytes inside it. */
struct place {
    const struct type *type;
    const char *name;     /* of the member reached last, for messages */
    const uint64_t *dims; /* dimensions of that member which no subscript has taken yet */
    unsigned dim_count;
    unsigned dims_taken;
    bool inside; /* inside a union or a vector */
    size_t leaf;
    uint64_t inner_offset;
    struct path_loop {
        uint64_t count, stride_bytes;
        size_t stride_leaves;
    } loops[LOOPS_MAX];
    unsigned loop_count;
};

/* A scalar before sorting; subscripts are a range of paths->subscripts, which still moves. */
struct piece {
    size_t leaf;
    uint64_t inner_offset, size;
    size_t first_subscript, subscript_count;
    size_t order;
    uint64_t reach; /* how far the kept ones of its kind reach into the leaf */
};

struct paths {
    struct scope *scope;
    struct checker *checker;
    struct access *access;
    struct quoted rest; /* what follows of the attribute; places are found from here, so that the whole is linear */
    size_t piece_count; /* of checker->pieces */
    size_t subscript_capacity;
    size_t path_subscripts; /* where those of the path at hand begin */
};

/* Takes `length` bytes off the front and returns their place. */
static struct span take(struct paths *paths, size_t length)
{
    struct quoted *rest = &paths->rest;
    struct span where = quoted_span(rest, 0, length);
    if (length > 0 && where.source != NULL) {
        size_t end = rest->where.offset + rest->where.length;
        rest->where.offset = where.offset + where.length;
        rest->where.length = end > rest->where.offset ? end - rest->where.offset : 0;
    }
    rest->text += length;
    return where;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool report_syntax(struct paths *paths, const char *what)
{
    size_t shown = paths->rest.text[0] == '\0' ? 0 : 1;
    /* All bytes of one character. */
    while (shown > 0 && ((unsigned char)paths->rest.text[shown] & 0xc0) == 0x80)
        shown++;
    struct span where = take(paths, shown);
    diag_error(paths->checker->diags, "field-syntax", where, "%s", what);
    diag_note(paths->checker->diags, "paths are 'name', 'name.name' or 'name[expression]', with spaces between them");
    return false;
}

/* Records that every element of the remaining dimensions is selected. */
static bool select_rest(struct paths *paths, struct place *place, struct span where)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < place->dim_count; i++)
        count *= place->dims[i];
    place->dim_count = 0;
    if (count == 1)
        return true;
    if (place->loop_count == LOOPS_MAX) {
        diag_error(paths->checker->diags, "too-many-leaves", where, "selects more than %d scalars", SELECTED_MAX);
        return false;
    }
    place->loops[place->loop_count++] =
        (struct path_loop){count, place->type->size, place->inside ? 0 : check_leaf_count(place->type)};
    return true;
}

static void report_unknown_field(struct paths *paths, const struct type *type, const char *name, struct span where)
{
    struct checker *checker = paths->checker;
    diag_error(checker->diags, "unknown-field", where, "'%s' has no field '%s'", type->name.text, name);
    struct guess guess = check_guess_start(checker, name);
    for (size_t i = 0; i < type->field_count && check_guess_wants(&guess); i++)
        check_guess_offer(&guess, type->fields[i].name.text);
    (void)check_guess_note(checker, &guess);
}

/* Enters component .x .y .z .w of a vector. */
static bool enter_component(struct paths *paths, struct place *place, const char *name, struct span where)
{
    const struct type *vector = place->type, *component = check_component(vector);
    size_t number = strcspn("xyzw", name);
    if (name[1] != '\0' || number >= vector->components) {
        diag_error(paths->checker->diags, "unknown-field", where, "'%s' has no component '%s'", vector->name.text,
                   name);
        diag_note(paths->checker->diags, "its components are '%.*s'", (int)vector->components * 5 - 4,
                  "x', 'y', 'z', 'w");
        return false;
    }
    if (place->inside || vector->components != 3)
        place->inner_offset += number * component->size;
    else
        place->leaf += number;
    place->inside = place->inside || vector->components != 3;
    place->type = component;
    place->name = name;
    place->dims_taken = 0;
    return true;
}

static bool enter_field(struct paths *paths, struct place *place, const char *name, struct span where)
{
    const struct type *type = place->type;
    const struct symbol *symbol = check_names_find(&paths->checker->names, type, name, strlen(name));
    if (symbol == NULL) {
        report_unknown_field(paths, type, name, where);
        return false;
    }
    const struct field *field = symbol->item;
    place->inside = place->inside || type->kind == TYPE_UNION;
    if (place->inside)
        place->inner_offset += field->offset;
    else
        place->leaf += symbol->number;
    place->type = field->type;
    place->name = field->name.text;
    place->dims = field->dims;
    place->dim_count = field->dim_count;
    place->dims_taken = 0;
    return true;
}

/* Reads a name and enters the member of that name. Members of arrays before it stand for all their elements. */
static bool read_name(struct paths *paths, struct place *place)
{
    size_t length = 0;
    while (is_name_byte(paths->rest.text[length]))
        length++;
    if (length == 0)
        return report_syntax(paths, "expected the name of a field");
    const char *name = arena_copy(paths->checker->arena, paths->rest.text, length);
    struct span where = take(paths, length);
    if (!select_rest(paths, place, where))
        return false;
    switch (place->type->kind) {
    case TYPE_SCALAR:
        diag_error(paths->checker->diags, "unknown-field", where, "'%s' is no struct and has no field '%s'",
                   place->type->name.text, name);
        return false;
    case TYPE_VECTOR:
        return enter_component(paths, place, name, where);
    case TYPE_STRUCT:
    case TYPE_UNION:
        return enter_field(paths, place, name, where);
    }
    return false;
}

/* Applies a subscript: a constant moves the place, another one is kept with the selection. */
static bool apply_subscript(struct paths *paths, struct place *place, struct expr *index)
{
    struct checker *checker = paths->checker;
    uint64_t extent = place->dims[0], elements = 1;
    for (unsigned i = 1; i < place->dim_count; i++)
        elements *= place->dims[i];
    uint64_t stride_bytes = elements * place->type->size;
    size_t stride_leaves = place->inside ? 0 : (size_t)elements * check_leaf_count(place->type);
    place->dims++;
    place->dim_count--;
    place->dims_taken++;
    if (!check_is_constant(index)) {
        struct access *access = paths->access;
        access->subscripts = arena_grow(checker->arena, access->subscripts, access->subscript_count,
                                        &paths->subscript_capacity, sizeof(*access->subscripts));
        access->subscripts[access->subscript_count++] = (struct subscript){index, extent, stride_bytes, stride_leaves};
        return true;
    }
    int64_t value;
    if (!check_evaluate(checker, index, &value))
        return false;
    if (value < 0 || (uint64_t)value >= extent) {
        diag_error(checker->diags, "subscript-range", index->where, "subscript %lld is outside '%s' of %llu",
                   (long long)value, place->name, (unsigned long long)extent);
        return false;
    }
    place->leaf += (size_t)value * stride_leaves;
    if (place->inside)
        place->inner_offset += (uint64_t)value * stride_bytes;
    return true;
}

/* Reads "[expression]". */
static bool read_subscript(struct paths *paths, struct place *place)
{
    struct checker *checker = paths->checker;
    const char *text = paths->rest.text;
    size_t depth = 0, length = 0;
    do {
        depth += text[length] == '[';
        depth -= text[length] == ']';
        if (text[length] == '\0')
            return report_syntax(paths, "'[' without ']'");
        length++;
    } while (depth > 0);
    (void)take(paths, 1);
    struct quoted inner = {arena_copy(checker->arena, text + 1, length - 2), {NULL, 0, 0}};
    inner.where = take(paths, length - 2);
    (void)take(paths, 1);
    struct expr *index = expr_parse(checker->arena, &inner, checker->diags);
    if (index == NULL || !expr_bind(index, check_resolve, paths->scope, checker->diags))
        return false;
    if (place->dim_count > 0)
        return apply_subscript(paths, place, index);
    if (place->dims_taken == 0)
        diag_error(checker->diags, "not-an-array", inner.where, "'%s' is no array and takes no subscript",
                   place->name == NULL ? place->type->name.text : place->name);
    else
        diag_error(checker->diags, "not-an-array", inner.where, "'%s' has %u dimension%s", place->name,
                   place->dims_taken, place->dims_taken == 1 ? "" : "s");
    return false;
}

/* Adds one piece; false once there are too many. */
static bool add_piece(struct paths *paths, size_t leaf, uint64_t inner_offset, uint64_t size)
{
    if (paths->piece_count == SELECTED_MAX)
        return false;
    struct checker *checker = paths->checker;
    checker->pieces = arena_grow(checker->arena, checker->pieces, paths->piece_count, &checker->piece_capacity,
                                 sizeof(*checker->pieces));
    checker->pieces[paths->piece_count] = (struct piece){
        .leaf = leaf,
        .inner_offset = inner_offset,
        .size = size,
        .first_subscript = paths->path_subscripts,
        .subscript_count = paths->access->subscript_count - paths->path_subscripts,
        .order = paths->piece_count,
    };
    paths->piece_count++;
    return true;
}

static bool add_type(struct paths *paths, const struct type *type, bool inside, size_t leaf, uint64_t inner_offset);

static bool add_fields(struct paths *paths, const struct type *type, bool inside, size_t leaf, uint64_t inner_offset)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        size_t leaves = check_leaf_count(field->type);
        for (uint64_t k = 0; k < field->count; k++) {
            uint64_t offset = inside ? inner_offset + field->offset + k * field->type->size : inner_offset;
            if (!add_type(paths, field->type, inside, leaf, offset))
                return false;
            leaf += inside ? 0 : leaves;
        }
    }
    return true;
}

/* Adds the pieces of one value: scalars and vectors of 1, 2 and 4 as they are, those of 3 by component, structs field
 * by field, and unions, whose meaning nobody told, in pieces of their alignment (16 bytes at most). */
static bool add_type(struct paths *paths, const struct type *type, bool inside, size_t leaf, uint64_t inner_offset)
{
    if (type->kind == TYPE_STRUCT)
        return add_fields(paths, type, inside, leaf, inner_offset);
    uint64_t piece = type->size;
    if (type->kind == TYPE_UNION)
        piece = type->align < VECTOR_BYTES_MAX ? type->align : VECTOR_BYTES_MAX;
    if (type->kind == TYPE_VECTOR && type->components == 3)
        piece = type->size / 3;
    bool by_leaf = type->kind == TYPE_VECTOR && type->components == 3 && !inside;
    for (uint64_t at = 0; at < type->size; at += piece)
        if (!add_piece(paths, by_leaf ? leaf + (size_t)(at / piece) : leaf, by_leaf ? inner_offset : inner_offset + at,
                       piece))
            return false;
    return true;
}

/* Adds every element that the loops of a place from `loop` on reach. */
static bool add_place(struct paths *paths, const struct place *place, unsigned loop, size_t leaf, uint64_t inner_offset)
{
    if (loop == place->loop_count)
        return add_type(paths, place->type, place->inside, leaf, inner_offset);
    const struct path_loop *all = &place->loops[loop];
    for (uint64_t i = 0; i < all->count; i++) {
        uint64_t offset = all->stride_leaves == 0 ? inner_offset + i * all->stride_bytes : inner_offset;
        if (!add_place(paths, place, loop + 1, leaf + (size_t)i * all->stride_leaves, offset))
            return false;
    }
    return true;
}

static bool select_place(struct paths *paths, const struct place *place, struct span where)
{
    if (add_place(paths, place, 0, place->leaf, place->inner_offset))
        return true;
    diag_error(paths->checker->diags, "too-many-leaves", where, "selects more than %d scalars", SELECTED_MAX);
    return false;
}

static struct place start_place(const struct paths *paths)
{
    return (struct place){.type = paths->access->array->record->type};
}

/* Reads one path and adds what it selects. */
static bool read_path(struct paths *paths)
{
    struct place place = start_place(paths);
    struct span where = quoted_span(&paths->rest, 0, 1);
    paths->path_subscripts = paths->access->subscript_count;
    /* A vector's component may be written as C does, ".x". */
    if (paths->rest.text[0] == '.' && place.type->kind == TYPE_VECTOR)
        (void)take(paths, 1);
    if (!read_name(paths, &place))
        return false;
    while (paths->rest.text[0] != '\0' && !is_space(paths->rest.text[0])) {
        if (paths->rest.text[0] == '[') {
            if (!read_subscript(paths, &place))
                return false;
        } else if (paths->rest.text[0] == '.') {
            (void)take(paths, 1);
            if (!read_name(paths, &place))
                return false;
        } else {
            return report_syntax(paths, "unexpected character in a field path");
        }
    }
    return select_rest(paths, &place, where) && select_place(paths, &place, where);
}

/* Goes on to the end of a path that failed: the next blank outside brackets. */
static void skip_path(struct paths *paths)
{
    size_t length = 0, depth = 0;
    for (; paths->rest.text[length] != '\0'; length++) {
        char c = paths->rest.text[length];
        if (is_space(c) && depth == 0)
            break;
        depth += c == '[';
        if (c == ']' && depth > 0)
            depth--;
    }
    (void)take(paths, length);
}

/* "x, y, z" is one fault, not one a name. */
static bool has_commas(const struct paths *paths)
{
    size_t depth = 0;
    for (const char *at = paths->rest.text; *at != '\0'; at++) {
        depth += *at == '[';
        depth -= *at == ']' && depth > 0;
        if (*at != ',' || depth > 0)
            continue;
        diag_error(paths->checker->diags, "field-syntax", quoted_span(&paths->rest, (size_t)(at - paths->rest.text), 1),
                   "names are separated by spaces, not commas");
        return true;
    }
    return false;
}

static bool read_paths(struct paths *paths)
{
    if (has_commas(paths))
        return false;
    bool fine = true, any = false;
    for (;;) {
        size_t blanks = 0;
        while (is_space(paths->rest.text[blanks]))
            blanks++;
        (void)take(paths, blanks);
        if (paths->rest.text[0] == '\0')
            break;
        any = true;
        /* Beyond the kept messages a failed attribute is not looked at further. */
        if (!fine && paths->checker->diags->error_count >= DIAG_MAX)
            return false;
        if (!read_path(paths)) {
            fine = false;
            skip_path(paths);
        }
    }
    if (any)
        return fine;
    diag_error(paths->checker->diags, "field-syntax", paths->access->field_text.where, "no field is named");
    diag_note(paths->checker->diags, "leave 'field' out for the whole element");
    return false;
}

/* Larger pieces first where several begin at one place, so that they are met before what they contain. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->leaf != b->leaf)
        return a->leaf < b->leaf ? -1 : 1;
    if (a->inner_offset != b->inner_offset)
        return a->inner_offset < b->inner_offset ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_expr(const struct expr *a, const struct expr *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->op != b->op || a->binding != b->binding || a->value != b->value || a->slot != b->slot ||
        a->builtin != b->builtin || a->table != b->table)
        return false;
    for (size_t i = 0; i < sizeof(a->operand) / sizeof(a->operand[0]); i++)
        if (!same_expr(a->operand[i], b->operand[i]))
            return false;
    return true;
}

static bool same_subscripts(const struct access *access, const struct piece *a, const struct piece *b)
{
    if (a->subscript_count != b->subscript_count)
        return false;
    if (a->first_subscript == b->first_subscript)
        return true;
    for (size_t i = 0; i < a->subscript_count; i++) {
        const struct subscript *left = &access->subscripts[a->first_subscript + i];
        const struct subscript *right = &access->subscripts[b->first_subscript + i];
        if (left->stride_bytes != right->stride_bytes || !same_expr(left->index, right->index))
            return false;
    }
    return true;
}

/* Whether the pieces kept so far cover this one: those of its leaf that move with the same subscripts. Notes in
 * piece->reach how far they cover the leaf with it. */
static bool is_covered(const struct access *access, const struct piece kept[], size_t count, struct piece *piece)
{
    piece->reach = piece->inner_offset + piece->size;
    for (size_t i = count; i > 0 && kept[i - 1].leaf == piece->leaf; i--) {
        if (!same_subscripts(access, &kept[i - 1], piece))
            continue;
        if (kept[i - 1].reach >= piece->reach)
            return true;
        return false;
    }
    return false;
}

/* Sorts the pieces and keeps each once; returns how many. */
static size_t sort_pieces(const struct access *access, struct piece pieces[], size_t count)
{
    size_t kept = 0;
    if (count > 1)
        qsort(pieces, count, sizeof(*pieces), compare_pieces);
    for (size_t i = 0; i < count; i++) {
        struct piece piece = pieces[i];
        if (!is_covered(access, pieces, kept, &piece))
            pieces[kept++] = piece;
    }
    return kept;
}

/* Moves what was selected into the access. False, after a diagnostic, where all accesses together select too much. */
static bool finish(struct paths *paths, struct span where)
{
    struct access *access = paths->access;
    struct checker *checker = paths->checker;
    size_t count = sort_pieces(access, checker->pieces, paths->piece_count);
    checker->all_selected += count;
    if (checker->all_selected > ALL_SELECTED_MAX) {
        if (checker->all_selected - count <= ALL_SELECTED_MAX)
            diag_error(checker->diags, "too-many-leaves", where, "accesses select more than %d scalars together",
                       ALL_SELECTED_MAX);
        return false;
    }
    access->selected = arena_array(checker->arena, count, sizeof(*access->selected));
    access->selected_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &checker->pieces[i];
        access->selected[i] = (struct selected){
            .leaf = piece->leaf,
            .inner_offset = piece->inner_offset,
            .size = piece->size,
            .subscripts = piece->subscript_count == 0 ? NULL : access->subscripts + piece->first_subscript,
            .subscript_count = piece->subscript_count,
        };
    }
    return true;
}

bool check_paths(struct scope *scope, struct access *access)
{
    struct checker *checker = scope->checker;
    struct paths paths = {.scope = scope, .checker = checker, .access = access, .rest = access->field_text};
    struct span where = access->whole ? access->where : access->field_text.where;
    struct place all = start_place(&paths);
    /* Once there is too much, nothing is added up any more. */
    if (checker->all_selected > ALL_SELECTED_MAX)
        return false;
    bool fine = access->whole ? select_place(&paths, &all, where) : read_paths(&paths);
    return fine && finish(&paths, where);
}
