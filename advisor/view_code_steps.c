#include <string.h>

#include "steps.h"
#include "text.h"
#include "view_code_internal.h"

/* A step while its view is made. */
struct step {
    struct kernel_code *kernel;
    struct name_set taken; /* names of its members */
    json_t *view;
    json_t *members, *copies, *locals, *accesses, *values;
    struct element *elements;
    struct value *shared_values;
    const struct access *const *all; /* its accesses */
    size_t all_count;
};

/* An element of an array that a step touches: accesses with the same index share it. */
struct element {
    const struct array *array;
    const struct access *access; /* the first to touch it */
    const char *suffix;          /* "" for the first of its array, "_1" for the next */
    const char *arguments[2];    /* plain or of the first record; of record `record` */
    const char *member;          /* "particles_index": what a step says of it */
    const char **images;         /* a group: the variable with the bytes of its record; NULL: none yet */
    struct element *next;
};

/* A value that a step holds: what the accesses to one path of one element share. */
struct value {
    const struct element *element;
    const char *title;
    uint64_t bytes; /* of the access; one of another width is another value */
    const char *member;
    json_t *view;
    bool loaded, stored, added;
    struct value *next;
};

/* One path of an access, with its places on the way. */
struct moved {
    struct step *step;
    const struct access *access;
    const struct element *element;
    const struct field_path *path;
    unsigned number; /* of the path in the access */
    struct shape shape;
    struct parts parts;
    const struct value *value;
};

/* ---- variables --------------------------------------------------------------------------------------------------- */

static const char *styled(const struct kernel_code *kernel, const struct expr *expr, enum expr_style style)
{
    struct expr_scope scope = kernel->scope;
    scope.style = kernel->wide ? style : STYLE_PLAIN;
    return code_expr(&scope, expr);
}

static bool is_simple(const struct expr *expr)
{
    return expr->op == EXPR_NUMBER || expr->op == EXPR_NAME;
}

static json_t *local_view(const struct kernel_code *kernel, const char *name, const struct expr *expr)
{
    json_t *view = json_object();
    put_text(view, "name", name);
    put_text(view, "value", styled(kernel, expr, STYLE_RECORD));
    put_flag(view, "each", kernel->wide);
    return view;
}

static void add_copy(struct step *step, const char *member, const char *value)
{
    json_t *view = json_object();
    put_text(view, "member", member);
    put_text(view, "value", value);
    add(step->copies, view);
}

static void add_member(struct step *step, const char *type, const char *name, const char *dims, const char *comment)
{
    json_t *view = json_object();
    put_text(view, "type", type);
    put_text(view, "name", name);
    put_text(view, "dims", dims);
    put_text(view, "comment", comment);
    put_flag(view, "has_comment", comment[0] != '\0');
    add(step->members, view);
}

/* The index of one dimension: a name or number as it is, else a local variable of its own. */
static void add_index(struct step *step, struct element *element, unsigned dim)
{
    const struct kernel_code *kernel = step->kernel;
    struct arena *arena = kernel->code->arena;
    const struct expr *expr = element->access->index[dim];
    const char *texts[2] = {styled(kernel, expr, STYLE_FIRST), styled(kernel, expr, STYLE_RECORD)};
    bool many = element->array->dim_count > 1;
    if (!is_simple(expr)) {
        const char *name = many ? arena_printf(arena, "%s_%u", element->member, dim) : element->member;
        name = name_fresh(kernel->code, name);
        add(step->locals, local_view(kernel, name, expr));
        texts[0] = kernel->wide ? arena_printf(arena, "%s[0]", name) : name;
        texts[1] = kernel->wide ? arena_printf(arena, "%s[%s]", name, name_fresh(kernel->code, "record")) : name;
    }
    for (size_t i = 0; i < 2; i++)
        element->arguments[i] = dim == 0 ? texts[i] : arena_printf(arena, "%s, %s", element->arguments[i], texts[i]);
    add_copy(step, many ? arena_printf(arena, "%s[%u]", element->member, dim) : element->member, texts[1]);
}

static const struct element *find_element(struct step *step, const struct access *access)
{
    const struct code *code = step->kernel->code;
    unsigned known = 0;
    struct element **end = &step->elements;
    for (; *end != NULL; end = &(*end)->next) {
        if (access_same_element((*end)->access, access))
            return *end;
        known += (*end)->array == access->array;
    }
    struct element *made = arena_alloc(code->arena, sizeof(*made));
    *made = (struct element){.array = access->array, .access = access};
    made->images = arena_array(code->arena, array_code(code, access->array)->mapping->group_count, sizeof(char *));
    made->suffix = known == 0 ? "" : arena_printf(code->arena, "_%u", known);
    made->member =
        name_take(code, &step->taken, arena_printf(code->arena, "%s_index%s", access->array->name.text, made->suffix));
    *end = made;
    unsigned dims = access->array->dim_count;
    add_member(step, "std::int64_t", made->member, dims == 1 ? "" : arena_printf(code->arena, "[%u]", dims), "");
    for (unsigned d = 0; d < dims; d++)
        add_index(step, made, d);
    return made;
}

/* The number of the element's record, from what the step says: "step.a_index[0] * 64 + step.a_index[1]". */
static const char *record_text(const struct step *step, const struct element *element)
{
    struct arena *arena = step->kernel->code->arena;
    const char *name = arena_printf(arena, "%s.%s", name_fresh(step->kernel->code, "step"), element->member);
    if (element->array->dim_count == 1)
        return name;
    const char *text = arena_printf(arena, "%s[0]", name);
    for (unsigned d = 1; d < element->array->dim_count; d++)
        text = arena_printf(arena, d == 1 ? "%s * %llu + %s[%u]" : "(%s) * %llu + %s[%u]", text,
                            (unsigned long long)element->array->extent[d], name, d);
    return text;
}

/* ---- subscripts -------------------------------------------------------------------------------------------------- */

/* Subscripts that vary are the same for all records of a thread. */
static const char *subscript_in_kernel(const void *context, const struct access *access, size_t number)
{
    const struct kernel_code *kernel = context;
    const struct expr *expr = access->subscripts[number].index;
    const char *text = styled(kernel, expr, STYLE_FIRST);
    return is_simple(expr) ? text : arena_printf(kernel->code->arena, "(%s)", text);
}

/* The member of a step that says what the subscripts of a value are. */
struct told_subscripts {
    const struct kernel_code *kernel;
    const char *member;
    size_t first;
};

static const char *subscript_in_step(const void *context, const struct access *access, size_t number)
{
    const struct told_subscripts *told = context;
    (void)access;
    return arena_printf(told->kernel->code->arena, "%s.%s[%zu]", name_fresh(told->kernel->code, "step"), told->member,
                        number - told->first);
}

static const char *add_subscripts(struct step *step, const struct moved *moved, const char *value)
{
    const struct code *code = step->kernel->code;
    const struct field_path *path = moved->path;
    if (path->subscript_count == 0)
        return "";
    const char *name = name_take(code, &step->taken, arena_printf(code->arena, "%s_subscript", value));
    add_member(step, "std::int64_t", name, arena_printf(code->arena, "[%zu]", path->subscript_count), "");
    for (size_t i = 0; i < path->subscript_count; i++)
        add_copy(step, arena_printf(code->arena, "%s[%zu]", name, i),
                 styled(step->kernel, moved->access->subscripts[path->first_subscript + i].index, STYLE_FIRST));
    return name;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The bytes that a value takes: its type's times its dimensions. */
static uint64_t value_bytes(const struct shape *shape)
{
    uint64_t bytes = shape->type->size;
    for (const char *at = shape->dims; *at != '\0'; at++) {
        uint64_t extent = 0;
        for (at++; *at != ']'; at++)
            extent = extent * 10 + (uint64_t)(*at - '0');
        bytes *= extent;
    }
    return bytes;
}

/* `bytes` of another width than what is selected: the value is so many plain bytes. */
static bool is_raw(const struct moved *moved)
{
    return moved->access->bytes != 0 &&
           (value_bytes(&moved->shape) != moved->access->bytes || moved->shape.scattered || moved->path->next != NULL);
}

static const char *value_type(const struct moved *moved)
{
    const struct code *code = moved->step->kernel->code;
    if (!is_raw(moved))
        return type_text(code, moved->shape.type);
    return arena_printf(code->arena, "%s::piece<%llu>", name_fresh(code, "sw"),
                        (unsigned long long)moved->access->bytes);
}

static json_t *leaf_of_value(const struct moved *moved, const struct part *part)
{
    const struct code *code = moved->step->kernel->code;
    json_t *view = json_object();
    put(view, "loops", loops_view(code, part));
    put_text(view, "indent", indent_text(code->arena, loops_open(part)));
    put_text(view, "leaf_member", part->member);
    put_text(view, "offset", part_offset_text(code->arena, part));
    put_text(view, "type", type_text(code, part->type));
    return view;
}

/* A raw value is one run of bytes, whose place is that of its first part. */
static json_t *raw_leaf(const struct moved *moved, const struct part *first)
{
    struct part place = *first;
    struct part_loop *fixed = arena_array(moved->step->kernel->code->arena, first->loop_count, sizeof(*fixed));
    place.loop_count = 0;
    place.loops = fixed;
    for (size_t i = 0; i < first->loop_count; i++)
        if (first->loops[i].fixed)
            fixed[place.loop_count++] = first->loops[i];
    json_t *view = leaf_of_value(moved, &place);
    put_text(view, "leaf_member", "");
    put_text(view, "type", value_type(moved));
    return view;
}

/* The leaves of a value and where they are in C's record, as the step tells. */
static json_t *value_leaves(struct moved *moved, const char *subscripts)
{
    const struct kernel_code *kernel = moved->step->kernel;
    const struct told_subscripts told = {kernel, subscripts, moved->path->first_subscript};
    json_t *list = json_array();
    const struct field_path *path = paths_of(kernel->code, moved->access, subscript_in_step, &told);
    for (unsigned i = 0; i < moved->number; i++)
        path = path->next;
    struct parts parts =
        parts_of(kernel->code, moved->access->array->record->type, path->segments, NULL, false, NULL, NULL);
    if (is_raw(moved)) {
        add(list, raw_leaf(moved, &parts.items[0]));
        return list;
    }
    for (size_t i = 0; i < parts.count; i++)
        add(list, leaf_of_value(moved, &parts.items[i]));
    return list;
}

/* The number of an array among those that the kernel uses. */
static unsigned used_number(const struct kernel_code *kernel, const struct array *array)
{
    unsigned number = 0;
    for (const struct array *at = kernel->code->spec->arrays; at != array; at = at->next)
        number += usage_of(kernel, at)->used;
    return number;
}

static struct value *make_value(struct moved *moved)
{
    struct step *step = moved->step;
    const struct code *code = step->kernel->code;
    struct value *value = arena_alloc(code->arena, sizeof(*value));
    *value = (struct value){.element = moved->element, .title = moved->path->title, .bytes = moved->access->bytes};
    bool whole = moved->path->name[0] == '\0';
    const char *array = moved->access->array->name.text;
    const char *name = whole ? arena_printf(code->arena, "%s_value%s", array, moved->element->suffix)
                             : arena_printf(code->arena, "%s_%s%s", array, moved->path->name, moved->element->suffix);
    /* The whole element has the array's own name where no let has it. */
    if (whole && moved->element->suffix[0] == '\0' && name_set_add(&step->taken, code->arena, array))
        value->member = array;
    else
        value->member = name_take(code, &step->taken, name);
    const char *subscripts = add_subscripts(step, moved, value->member);
    value->view = json_object();
    put_text(value->view, "member", value->member);
    put_text(value->view, "array", array);
    put_number(value->view, "array_number", used_number(step->kernel, moved->access->array));
    put_text(value->view, "title", value->title);
    put_text(value->view, "type", value_type(moved));
    put_text(value->view, "dims", is_raw(moved) ? "" : moved->shape.dims);
    put_text(value->view, "record", record_text(step, moved->element));
    put_number(value->view, "record_size", moved->access->array->record->type->size);
    put_flag(value->view, "shared", moved->access->array->space == SPACE_SHARED);
    put(value->view, "leaves", value_leaves(moved, subscripts));
    add(step->values, value->view);
    return value;
}

static void find_value(struct moved *moved)
{
    struct value **end = &moved->step->shared_values;
    while (*end != NULL && ((*end)->element != moved->element || (*end)->bytes != moved->access->bytes ||
                            strcmp((*end)->title, moved->path->title) != 0))
        end = &(*end)->next;
    if (*end == NULL)
        *end = make_value(moved);
    (*end)->loaded |= access_loads(moved->access);
    (*end)->stored |= access_stores(moved->access) && moved->access->op != ACCESS_ATOMIC;
    (*end)->added |= moved->access->op == ACCESS_ATOMIC;
    moved->value = *end;
}

/* What is done with a value, for the comment beside its member. */
static const char *value_comment(const struct value *value)
{
    if (value->added)
        return value->loaded ? "read; then what is added" : "added atomically";
    if (value->loaded)
        return value->stored ? "read, then written" : "read";
    return "written";
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static const char *joined_arguments(struct arena *arena, const char *index, const struct part *part, bool zero)
{
    for (size_t i = 0; i < part->loop_count; i++)
        index = arena_printf(arena, "%s, %s", index, zero && !part->loops[i].fixed ? "0" : part->loops[i].variable);
    return index;
}

/* Whether four neighbouring records have it side by side. */
static bool is_row(const struct moved *moved, const struct part *part)
{
    const struct usage *usage = usage_of(moved->step->kernel, moved->access->array);
    return moved->step->kernel->wide && usage->effective.plan.kind == PLAN_WIDE && !part->inner &&
           part->type->kind != TYPE_UNION;
}

/* The aligned pieces in which a part is moved; 0: as it is. Those of a union are its alignment, those of a vector of
 * three (inside a union) its components. */
static uint64_t move_piece(const struct accessor *accessor, unsigned unaligned)
{
    const struct type *type = accessor->part->type;
    if (unaligned != 0)
        return 0;
    if (type->kind == TYPE_VECTOR && type->components == 3)
        return type->size / 3;
    return type->kind != TYPE_UNION ? 0 : type->align < VECTOR_BYTES_MAX ? type->align : VECTOR_BYTES_MAX;
}

static const char *add_function(const struct part *part)
{
    return part->type->kind == TYPE_UNION ? NULL : "atomic_add";
}

/* Whether the kernel accesses something narrower in the same record: compilers join such neighbours where they see from
 * this one that the record is aligned. */
static bool is_wider(const struct moved *moved, const struct part *part)
{
    const struct kernel *kernel = moved->step->kernel->kernel;
    const struct mapping *mapping = array_code(moved->step->kernel->code, moved->access->array)->mapping;
    const struct group *group = group_of(mapping, part);
    for (unsigned a = 0; group->record_stride != 0 && a < kernel->access_count; a++) {
        const struct access *access = kernel->accesses[a];
        for (size_t i = 0; access->array == mapping->array && i < access->selected_count; i++) {
            const struct selected *other = &access->selected[i];
            if (&mapping->groups[mapping->leaves[other->leaf].group] == group && other->size < part->type->size)
                return true;
        }
    }
    return false;
}

static json_t *move_view(const struct moved *moved, const struct part *part)
{
    const struct kernel_code *kernel = moved->step->kernel;
    const struct code *code = kernel->code;
    const struct accessor *accessor = find_accessor(kernel->reached[moved->access->array->number], part->key);
    const unsigned unaligned = accessor->piece;
    const uint64_t pieces = move_piece(accessor, unaligned), piece = unaligned != 0 ? unaligned : pieces;
    json_t *view = json_object();
    put(view, "loops", loops_view(code, part));
    put_text(view, "indent", indent_text(code->arena, loops_open(part)));
    put_text(view, "member", arena_printf(code->arena, "%s%s", moved->value->member, part->member));
    put_text(view, "type", type_text(code, part->type));
    put_text(view, "accessor", accessor->name);
    put_text(view, "arguments", joined_arguments(code->arena, moved->element->arguments[1], part, false));
    put_text(view, "first_arguments", joined_arguments(code->arena, moved->element->arguments[0], part, false));
    put_flag(view, "reference", piece == 0);
    put_flag(view, "apart", piece == 0 && is_wider(moved, part));
    put_accessor_names(code, accessor, view);
    put_flag(view, "unaligned", unaligned != 0);
    put_flag(view, "pieces", pieces != 0);
    put_number(view, "piece", pieces);
    put_number(view, "instructions", piece == 0 ? 1 : part->type->size / piece);
    put_flag(view, "row", is_row(moved, part));
    put_flag(view, "each", kernel->wide && !is_row(moved, part));
    return view;
}

/* What goes scalar by scalar: all, but for what pieces of whole records hold. */
static void add_moves(json_t *list, const struct moved *moved, bool vector)
{
    const struct mapping *mapping = array_code(moved->step->kernel->code, moved->access->array)->mapping;
    for (size_t i = 0; i < moved->parts.count; i++) {
        const struct part *part = &moved->parts.items[i];
        if (!vector || plan_vector_bytes(mapping, group_of(mapping, part)) < 2)
            add(list, move_view(moved, part));
    }
}

/* One instruction of `bytes` bytes at the start of the selection. */
static json_t *raw_view(const struct moved *moved)
{
    const struct code *code = moved->step->kernel->code;
    const struct part *part = &moved->parts.items[0];
    const struct accessor *accessor = find_accessor(array_code(code, moved->access->array), part->key);
    json_t *view = json_object();
    put_text(view, "member", moved->value->member);
    put_number(view, "width", moved->access->bytes);
    put_text(view, "accessor", accessor->name);
    put_text(view, "arguments", joined_arguments(code->arena, moved->element->arguments[1], part, true));
    put_accessor_names(code, accessor, view);
    put_flag(view, "reference", accessor->piece == 0);
    return view;
}

/* ---- vector pieces ----------------------------------------------------------------------------------------------- */

static const struct mapping *mapping_of(const struct moved *moved)
{
    return array_code(moved->step->kernel->code, moved->access->array)->mapping;
}

static bool has_pieces(const struct mapping *mapping, const struct group *group)
{
    return group->record_stride != 0 && plan_vector_bytes(mapping, group) > 1;
}

static bool is_of_group(const struct mapping *mapping, const struct group *group, const struct instruction *item)
{
    return &mapping->groups[mapping->leaves[item->leaf].group] == group;
}

/* Those of one group's record that each lane moves by itself. */
static json_t *pieces_view(const struct mapping *mapping, const struct group *group, const struct instruction *items,
                           size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (items[i].joined || items[i].exchange != NULL || !is_of_group(mapping, group, &items[i]))
            continue;
        json_t *view = json_object();
        put_number(view, "width", items[i].width);
        put_number(view, "offset", items[i].record_offset);
        add(list, view);
    }
    return list;
}

/* Those that a warp moves together: {"piece", "offsets", ...}, or false. */
static json_t *together_view(const struct moved *moved, const struct group *group, const struct instruction *items,
                             size_t count)
{
    const struct kernel_code *kernel = moved->step->kernel;
    size_t first = 0;
    while (first < count && (!is_of_group(mapping_of(moved), group, &items[first]) || items[first].exchange == NULL))
        first++;
    if (first == count)
        return json_false();
    json_t *view = json_object();
    put_number(view, "piece", items[first].width);
    put_number(view, "count", items[first].exchange->count);
    put_text(view, "offsets",
             offsets_text(kernel->code->arena, items[first].exchange->offsets, items[first].exchange->count));
    put_text(view, "exchange", exchange_name(kernel->code, moved->access->array));
    return view;
}

/* Whether a value lies in the group's stored record as in C's, `delta` bytes further. */
static bool is_one_run(const struct moved *moved, const struct group *group, uint64_t *delta)
{
    const struct mapping *mapping = mapping_of(moved);
    for (size_t i = 0; i < moved->parts.count; i++) {
        const struct part *part = &moved->parts.items[i];
        uint64_t here = stored_offset(mapping, part) - part->offset;
        if (group_of(mapping, part) != group || (i > 0 && here != *delta))
            return false;
        *delta = here;
    }
    return !moved->shape.scattered;
}

static uint64_t fixed_offset(const struct part *part)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < part->loop_count; i++)
        if (part->loops[i].fixed)
            offset += part->loops[i].value * part->loops[i].stride_bytes;
    return offset;
}

/* Where values are in the image of a group's record: each as a whole, or part by part where they are not side by side
 * there. */
static void add_packed(json_t *list, const struct moved *moved, const struct group *group)
{
    const struct code *code = moved->step->kernel->code;
    const struct mapping *mapping = mapping_of(moved);
    uint64_t delta = 0;
    if (is_one_run(moved, group, &delta)) {
        json_t *view = json_object();
        put(view, "loops", json_array());
        put_text(view, "indent", "");
        put_text(view, "member", moved->value->member);
        put_number(view, "offset", moved->shape.offset + fixed_offset(&moved->parts.items[0]) + delta);
        add(list, view);
        return;
    }
    for (size_t i = 0; i < moved->parts.count; i++) {
        const struct part *part = &moved->parts.items[i];
        if (group_of(mapping, part) != group)
            continue;
        const char *offset = offset_text(code->arena, stored_offset(mapping, part), part, NULL);
        json_t *view = json_object();
        put(view, "loops", loops_view(code, part));
        put_text(view, "indent", indent_text(code->arena, loops_open(part)));
        put_text(view, "member", arena_printf(code->arena, "%s%s", moved->value->member, part->member));
        put_text(view, "offset", offset[0] == '\0' ? "0" : offset + 3);
        add(list, view);
    }
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static bool is_vector(const struct kernel_code *kernel, const struct access *access)
{
    const enum plan_kind kind = usage_of(kernel, access->array)->effective.plan.kind;
    return !kernel->reference && (kind == PLAN_VECTOR || kind == PLAN_SHUFFLE) && access->subscript_count == 0 &&
           access->op != ACCESS_ATOMIC;
}

static void report_atomic(struct kernel_code *kernel, const struct access *access, const char *why)
{
    struct diags *diags = kernel->code->diags;
    /* A kernel is written more than once. */
    for (size_t i = 0; i < diags->count; i++)
        if (diags->items[i].where.offset == access->where.offset && strcmp(diags->items[i].id, "not-generated") == 0)
            return;
    diag_error(diags, "not-generated", access->where, "no code can be written for this atomic: %s", why);
}

static void check_atomic(struct moved *moved)
{
    struct kernel_code *kernel = moved->step->kernel;
    const struct access *access = moved->access;
    for (size_t i = 0; access->op == ACCESS_ATOMIC && i < moved->parts.count; i++) {
        const struct part *part = &moved->parts.items[i];
        const struct accessor *accessor = find_accessor(array_code(kernel->code, access->array), part->key);
        if (add_function(part) == NULL)
            report_atomic(kernel, access, "a union has no sum");
        else if (accessor->piece != 0)
            report_atomic(kernel, access, "a member of a packed record is not aligned");
        else if (access->bytes != 0 && (is_raw(moved) || part->type->size != access->bytes))
            report_atomic(kernel, access, "'bytes' differs from the size of what is selected");
        else
            continue;
        return;
    }
}

static struct moved move_path(struct step *step, const struct access *access, const struct element *element,
                              const struct field_path *path, unsigned number)
{
    const struct code *code = step->kernel->code;
    struct moved moved = {.step = step, .access = access, .element = element, .path = path, .number = number};
    moved.parts = array_parts(code, array_code(code, access->array), path->segments, &moved.shape);
    find_value(&moved);
    check_atomic(&moved);
    return moved;
}

/* Whether the step writes to the element what it has not loaded. */
static bool is_overwritten(const struct step *step, const struct element *element)
{
    for (size_t i = 0; i < step->all_count; i++)
        if (step->all[i]->op == ACCESS_WRITE && access_same_element(step->all[i], element->access))
            return true;
    return false;
}

/* The image of a group's record: the accesses to one element share it. */
static json_t *image_view(struct step *step, const struct access *access, const struct element *element, unsigned group)
{
    const struct code *code = step->kernel->code;
    json_t *view = json_object();
    const bool fresh = element->images[group] == NULL;
    if (fresh)
        element->images[group] = name_take(
            code, &step->taken, arena_printf(code->arena, "%s%s_bytes", access->array->name.text, element->suffix));
    put_text(view, "image", element->images[group]);
    put_flag(view, "declares", fresh);
    put_flag(view, "zeroed", is_overwritten(step, element));
    put_flag(view, "fresh_image", fresh && !access_loads(access));
    return view;
}

/* The images of whole records that an access goes through, one a group that it touches: [{"image", "packed"...}...]. */
static json_t *images_view(struct step *step, const struct access *access, const struct element *element,
                           const struct moved *moved, size_t count)
{
    const struct code *code = step->kernel->code;
    const struct array_code *array = array_code(code, access->array);
    const struct mapping *mapping = array->mapping;
    const struct instructions *instructions = &usage_of(step->kernel, access->array)->instructions[access->number];
    json_t *list = json_array();
    for (unsigned g = 0; g < mapping->group_count; g++) {
        const struct group *group = &mapping->groups[g];
        json_t *packed = json_array();
        for (size_t i = 0; i < count && has_pieces(mapping, group); i++)
            add_packed(packed, &moved[i], group);
        if (json_array_size(packed) == 0) {
            json_decref(packed);
            continue;
        }
        json_t *view = image_view(step, access, element, g);
        put_text(view, "address", address_name(code, array, group));
        put_number(view, "image_bytes", group->record_stride);
        put(view, "load_together", together_view(moved, group, instructions->loads, instructions->load_count));
        put(view, "store_together", together_view(moved, group, instructions->stores, instructions->store_count));
        put(view, "load_pieces", pieces_view(mapping, group, instructions->loads, instructions->load_count));
        put(view, "store_pieces", pieces_view(mapping, group, instructions->issued, instructions->issued_count));
        put(view, "packed", packed);
        add(list, view);
    }
    return list;
}

static void add_access(struct step *step, const struct access *access)
{
    struct kernel_code *kernel = step->kernel;
    const struct code *code = kernel->code;
    const struct element *element = find_element(step, access);
    bool vector = is_vector(kernel, access), raw = access->bytes != 0 && access->op != ACCESS_ATOMIC;
    json_t *view = json_object(), *moves = json_array(), *raws = json_array();
    const struct field_path *path = paths_of(code, access, subscript_in_kernel, kernel);
    unsigned count = 0;
    for (const struct field_path *at = path; at != NULL; at = at->next)
        count++;
    struct moved *moved = arena_array(code->arena, count, sizeof(*moved));
    for (unsigned i = 0; i < count; i++, path = path->next) {
        moved[i] = move_path(step, access, element, path, i);
        if (raw) {
            add(raws, raw_view(&moved[i]));
            break;
        }
        add_moves(moves, &moved[i], vector);
    }
    put_text(view, "object", kernel->reference ? access->array->name.text : object_name(kernel, access->array));
    put_text(view, "arguments", element->arguments[1]);
    put_flag(view, "global", access->array->space == SPACE_GLOBAL && usage_of(kernel, access->array)->stage == NULL);
    put_flag(view, "loads", access_loads(access));
    put_flag(view, "stores", access_stores(access) && access->op != ACCESS_ATOMIC);
    put_flag(view, "adds", access->op == ACCESS_ATOMIC);
    put(view, "images", vector ? images_view(step, access, element, moved, count) : json_array());
    put(view, "moves", moves);
    put(view, "raws", raws);
    add(step->accesses, view);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* The step tells what is in scope: lets and loop variables, by their names. */
static void add_scope(struct step *step)
{
    const struct kernel_code *kernel = step->kernel;
    for (size_t i = 0; i < kernel->visible_count; i++) {
        const struct statement *statement = kernel->visible[i];
        const unsigned varies = kernel->scope.slot_varies[statement->slot];
        const char *name = statement->name.text;
        bool each = kernel->wide && (varies & (EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK)) != 0;
        add_member(step, "std::int64_t", name, "", "");
        add_copy(step, name,
                 each ? arena_printf(kernel->code->arena, "%s[%s]", name, name_fresh(kernel->code, "record")) : name);
    }
}

static void finish_values(struct step *step)
{
    const struct code *code = step->kernel->code;
    json_t *reads = json_array(), *writes = json_array(), *adds = json_array();
    for (const struct value *value = step->shared_values; value != NULL; value = value->next) {
        const char *comment = value_comment(value);
        add_member(step, json_string_value(json_object_get(value->view, "type")), value->member,
                   json_string_value(json_object_get(value->view, "dims")),
                   arena_printf(code->arena, "%s%s%s: %s", value->element->array->name.text,
                                value->title[0] == '\0' ? "" : ".", value->title, comment));
        if (value->loaded)
            add(reads, json_incref(value->view));
        if (value->stored)
            add(writes, json_incref(value->view));
        if (value->added)
            add(adds, json_incref(value->view));
    }
    json_decref(step->values);
    put(step->view, "reads", reads);
    put(step->view, "writes", writes);
    put(step->view, "adds", adds);
}

static const char *step_type(const struct kernel_code *kernel)
{
    if (kernel->step_count == 1)
        return kernel->step_name;
    return name_fresh(kernel->code, arena_printf(kernel->code->arena, "%s_%u", kernel->step_name, kernel->next_step));
}

json_t *step_view(struct kernel_code *kernel, const struct access *const accesses[], size_t count, bool barrier)
{
    struct step step = {.kernel = kernel,
                        .view = json_object(),
                        .members = json_array(),
                        .copies = json_array(),
                        .locals = json_array(),
                        .accesses = json_array(),
                        .values = json_array(),
                        .all = accesses,
                        .all_count = count};
    add_member(&step, "std::int64_t", "thread", "", "in the whole launch");
    add_copy(&step, "thread",
             !kernel->wide ? "thread"
                           : arena_printf(kernel->code->arena, "thread + %s", name_fresh(kernel->code, "record")));
    if (kernel->scope.builtin_used != NULL)
        kernel->scope.builtin_used[BUILTIN_THREAD] = true;
    add_scope(&step);
    for (size_t i = 0; i < count; i++)
        add_access(&step, accesses[i]);
    put_text(step.view, "type", step_type(kernel));
    put(step.view, "locals", step.locals);
    put(step.view, "copies", step.copies);
    put(step.view, "accesses", step.accesses);
    put_flag(step.view, "barrier_within", barrier);
    put_flag(step.view, "braces", kernel->step_count > 1);
    finish_values(&step);
    put(step.view, "members", step.members);
    kernel->next_step++;
    return step.view;
}
