#include <string.h>

#include "text.h"
#include "view_code_internal.h"

static const char *scalar_text(enum scalar_kind scalar)
{
    switch (scalar) {
    case SCALAR_BOOL:
        return "bool";
    case SCALAR_CHAR:
        return "char";
    case SCALAR_INT8:
        return "std::int8_t";
    case SCALAR_UINT8:
        return "std::uint8_t";
    case SCALAR_INT16:
        return "std::int16_t";
    case SCALAR_UINT16:
        return "std::uint16_t";
    case SCALAR_HALF:
        return "half_t";
    case SCALAR_BFLOAT16:
        return "bfloat16_t";
    case SCALAR_INT32:
        return "std::int32_t";
    case SCALAR_UINT32:
        return "std::uint32_t";
    case SCALAR_INT:
        return "int";
    case SCALAR_UNSIGNED:
        return "unsigned";
    case SCALAR_FLOAT:
        return "float";
    case SCALAR_INT64:
        return "std::int64_t";
    case SCALAR_UINT64:
        return "std::uint64_t";
    case SCALAR_DOUBLE:
        return "double";
    }
    return "";
}

static bool is_own(const struct type *type)
{
    return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION;
}

static bool is_half(const struct type *type)
{
    return type->kind == TYPE_SCALAR && (type->scalar == SCALAR_HALF || type->scalar == SCALAR_BFLOAT16);
}

const char *type_text(const struct code *code, const struct type *type)
{
    if (type->kind == TYPE_VECTOR)
        return name_fresh(code, arena_printf(code->arena, "%s_t", type->name.text));
    if (is_half(type))
        return name_fresh(code, scalar_text(type->scalar));
    if (type->kind == TYPE_SCALAR)
        return scalar_text(type->scalar);
    /* A member of a class may not have the name of a type that the class uses, unless the type is qualified. */
    if (words_have(&code->fields, type->name.text) || words_repeat(&code->globals, type->name.text) ||
        names_hide(type->name.text))
        return name_qualified(code, type->name.text);
    return type->name.text;
}

const char *type_text_c(const struct code *code, const struct type *type)
{
    const char *prefix = code->spec->name.text;
    if (type->kind == TYPE_VECTOR)
        return arena_printf(code->arena, "%s_%s", prefix,
                            name_fresh(code, arena_printf(code->arena, "%s_t", type->name.text)));
    if (is_half(type))
        return arena_printf(code->arena, "%s_%s", prefix, name_fresh(code, scalar_text(type->scalar)));
    if (type->kind == TYPE_SCALAR) {
        const char *text = scalar_text(type->scalar);
        return strncmp(text, "std::", 5) == 0 ? text + 5 : text;
    }
    return arena_printf(code->arena, "%s %s_%s", type->kind == TYPE_UNION ? "union" : "struct", prefix,
                        type->name.text);
}

const struct type *code_component(const struct type *vector)
{
    const char *name;
    for (size_t i = 0; (name = type_builtin_name(i)) != NULL; i++) {
        const struct type *type = type_builtin(name);
        if (type->kind == TYPE_SCALAR && type->scalar == vector->scalar)
            return type;
    }
    return vector;
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

static const char *dims_text(struct arena *arena, const struct field *field)
{
    const char *text = "";
    for (unsigned i = 0; i < field->dim_count; i++)
        text = arena_printf(arena, "%s[%llu]", text, (unsigned long long)field->dims[i]);
    return text;
}

static json_t *field_view(const struct code *code, const struct type *owner, const struct field *field)
{
    json_t *view = json_object();
    put_text(view, "name", field->name.text);
    put_text(view, "type", type_text(code, field->type));
    put_text(view, "c_type", type_text_c(code, field->type));
    put_text(view, "owner", type_text_c(code, owner));
    put_text(view, "dims", dims_text(code->arena, field));
    put_flag(view, "aligned", field->align_text.text != NULL);
    put_flag(view, "packed_aligned", field->align_text.text != NULL && owner->packed);
    put_flag(view, "plain_aligned", field->align_text.text != NULL && !owner->packed);
    put_number(view, "align", field->align);
    put_number(view, "offset", field->offset);
    put_number(view, "size", field->count * field->type->size);
    return view;
}

/* Whether a packed type has members of types that are aligned by themselves: some compilers warn of it. */
static bool misaligns(const struct type *type)
{
    for (size_t i = 0; type->packed && i < type->field_count; i++)
        if (type->fields[i].type->align > 1 && type->fields[i].type->kind != TYPE_SCALAR)
            return true;
    return false;
}

/* Marks the bytes that scalars of a type take. */
static void mark_data(bool *data, const struct type *type)
{
    if (type->kind == TYPE_SCALAR || type->kind == TYPE_VECTOR) {
        memset(data, true,
               (size_t)(type->kind == TYPE_SCALAR ? type->size : type->components * code_component(type)->size));
        return;
    }
    for (size_t i = 0; i < type->field_count; i++)
        for (uint64_t k = 0; k < type->fields[i].count; k++)
            mark_data(data + type->fields[i].offset + k * type->fields[i].type->size, type->fields[i].type);
}

/* The ranges of bytes in a union that some member has; C++ may lose the others whenever it copies one. */
static json_t *union_data(const struct code *code, const struct type *type)
{
    json_t *list = json_array();
    bool *data = arena_array(code->arena, (size_t)type->size + 1, sizeof(*data));
    if (type->kind == TYPE_UNION)
        mark_data(data, type);
    for (uint64_t i = 0; i < type->size; i++) {
        uint64_t from = i;
        while (data[i])
            i++;
        if (i > from)
            add(list, json_pack("{s:I,s:I}", "from", (json_int_t)from, "to", (json_int_t)i));
    }
    return list;
}

static json_t *own_type_view(const struct code *code, const struct type *type)
{
    json_t *view = json_object();
    put_text(view, "name", type->name.text);
    put_text(view, "qualified", arena_printf(code->arena, "::%s::%s", code->spec->name.text, type->name.text));
    put_text(view, "c_name", arena_printf(code->arena, "%s_%s", code->spec->name.text, type->name.text));
    put_text(view, "c_type", type_text_c(code, type));
    put_text(view, "keyword", type->kind == TYPE_UNION ? "union" : "struct");
    put_flag(view, "is_union", type->kind == TYPE_UNION);
    put_flag(view, "packed", type->packed);
    put_flag(view, "aligned", type->align_text.text != NULL && !type->packed);
    put_flag(view, "packed_aligned", type->align_text.text != NULL && type->packed);
    put_flag(view, "has_align", type->align_text.text != NULL);
    put_flag(view, "misaligns", misaligns(type));
    put(view, "data", union_data(code, type));
    put_number(view, "size", type->size);
    put_number(view, "align", type->align);
    json_t *fields = json_array();
    for (size_t i = 0; i < type->field_count; i++)
        add(fields, field_view(code, type, &type->fields[i]));
    mark_ends(fields);
    put(view, "fields", fields);
    return view;
}

static json_t *vector_view(const struct code *code, const struct type *type)
{
    enum { VECTOR_MOST = 4 };
    static const char *const names[VECTOR_MOST] = {"x", "x, y", "x, y, z", "x, y, z, w"};
    const char *all = names[(type->components - 1) % VECTOR_MOST];
    json_t *view = json_object();
    put_text(view, "name", type_text(code, type));
    put_text(view, "c_name", type_text_c(code, type));
    put_text(view, "cuda", type->name.text);
    put_text(view, "component", type_text(code, code_component(type)));
    put_text(view, "c_component", type_text_c(code, code_component(type)));
    put_text(view, "components", all);
    put_text(view, "first_component", "x");
    put_flag(view, "has_rest", type->components > 1);
    put_text(view, "rest", type->components == 1 ? "" : all + 3);
    put_number(view, "align", type->align);
    put_number(view, "size", type->size);
    const char *paired = strcmp(type->name.text, "half2") == 0       ? "__half2"
                         : strcmp(type->name.text, "bfloat162") == 0 ? "__nv_bfloat162"
                                                                     : "";
    put_flag(view, "paired", paired[0] != '\0');
    put_text(view, "paired_type", paired);
    json_t *list = json_array();
    for (unsigned i = 0; i < type->components; i++)
        add(list, json_stringn(&"xyzw"[i], 1));
    put(view, "component_list", list);
    return view;
}

static json_t *half_view(const struct code *code, const struct type *type)
{
    json_t *view = json_object();
    put_text(view, "name", type_text(code, type));
    put_text(view, "c_name", type_text_c(code, type));
    put_text(view, "cuda", type->scalar == SCALAR_HALF ? "__half" : "__nv_bfloat16");
    put_text(view, "one_bits", type->scalar == SCALAR_HALF ? "0x3c00" : "0x3f80");
    return view;
}

/* Types that were given their definition; a list, for there are few. */
struct defined {
    const struct type **items;
    size_t count, capacity;
    json_t *halves, *vectors, *types;
};

static void define(const struct code *code, struct defined *defined, const struct type *type)
{
    for (size_t i = 0; i < defined->count; i++)
        if (defined->items[i] == type)
            return;
    defined->items =
        arena_grow(code->arena, defined->items, defined->count, &defined->capacity, sizeof(const struct type *));
    defined->items[defined->count++] = type;
    if (is_half(type)) {
        add(defined->halves, half_view(code, type));
    } else if (type->kind == TYPE_VECTOR) {
        define(code, defined, code_component(type));
        add(defined->vectors, vector_view(code, type));
    } else if (is_own(type)) {
        for (size_t i = 0; i < type->field_count; i++)
            define(code, defined, type->fields[i].type);
        add(defined->types, own_type_view(code, type));
    }
}

void put_types(const struct code *code, json_t *root)
{
    struct defined defined = {.halves = json_array(), .vectors = json_array(), .types = json_array()};
    for (const struct type *type = code->spec->types; type != NULL; type = type->next)
        define(code, &defined, type);
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next)
        define(code, &defined, array->record->type);
    put_flag(root, "has_halves", json_array_size(defined.halves) > 0);
    put_flag(root, "has_vectors", json_array_size(defined.vectors) > 0);
    put(root, "halves", defined.halves);
    put(root, "vectors", defined.vectors);
    put(root, "types", defined.types);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Where a walk through a type is. Texts live in the arena and are never changed. */
struct walk {
    const struct code *code;
    struct parts *parts;
    part_uniform *uniform;
    const void *context;
    bool inner;
    const struct segment *path; /* what is left of the path that leads to where all is taken */
    struct shape *shape;        /* of what the path leads to; filled once */
    struct part at;             /* what a part would be here; its loops are `loops` */
    struct part_loop loops[PART_LOOPS_MAX];
};

size_t type_leaves(const struct type *type)
{
    if (type->kind == TYPE_VECTOR)
        return type->components == 3 ? 3 : 1;
    if (type->kind != TYPE_STRUCT)
        return 1;
    if (type->state > 0)
        return (size_t)type->state;
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++)
        count += (size_t)type->fields[i].count * type_leaves(type->fields[i].type);
    return count;
}

static bool in_path(const struct walk *walk)
{
    return walk->path != NULL;
}

static void add_part(struct walk *walk, const struct type *type)
{
    struct parts *parts = walk->parts;
    parts->items = arena_grow(walk->code->arena, parts->items, parts->count, &parts->capacity, sizeof(*parts->items));
    struct part *part = &parts->items[parts->count++];
    *part = walk->at;
    part->type = type;
    struct part_loop *loops = arena_array(walk->code->arena, part->loop_count, sizeof(*loops));
    if (part->loop_count > 0)
        memcpy(loops, walk->loops, part->loop_count * sizeof(*loops));
    part->loops = loops;
}

static void walk_type(struct walk *walk, const struct type *type);

/* Enters a member: its name joins the key, and the text that C++ has for it unless the path itself names it. */
static void enter(struct walk *walk, const struct part *before, const char *name)
{
    struct arena *arena = walk->code->arena;
    walk->at.key = arena_printf(arena, "%s%s%s", before->key, before->key[0] == '\0' ? "" : ".", name);
    if (!in_path(walk))
        walk->at.member = arena_printf(arena, "%s.%s", before->member, name);
}

static void walk_components(struct walk *walk, const struct type *type)
{
    const struct part before = walk->at;
    const struct segment *path = walk->path;
    const struct type *component = code_component(type);
    bool below = before.inner || type->components != 3;
    for (unsigned i = 0; i < type->components; i++) {
        const char name[2] = {"xyzw"[i], '\0'};
        if (path != NULL && strcmp(path->name, name) != 0)
            continue;
        walk->at = before;
        enter(walk, &before, name);
        walk->at.offset += i * component->size;
        walk->at.inner_offset += below ? i * component->size : 0;
        walk->at.leaf += below ? 0 : i;
        walk->at.inner = below;
        walk->at.component = below ? name[0] : '\0';
        walk->at.vector_key = before.key;
        walk->path = path == NULL ? NULL : path->next;
        walk_type(walk, component);
    }
    walk->path = path;
    walk->at = before;
}

static bool is_uniform(const struct walk *walk, size_t leaves, uint64_t count)
{
    if (walk->uniform == NULL || walk->at.inner)
        return true;
    for (size_t i = 0; i < leaves; i++)
        if (!walk->uniform(walk->context, walk->at.leaf + i, leaves, count))
            return false;
    return true;
}

/* The dimension of a member array that a walk is in. */
struct dimension {
    const struct field *field;
    unsigned number;
    uint64_t extent, stride_bytes;
    size_t stride_leaves;
};

static struct dimension dimension_of(const struct walk *walk, const struct field *field, unsigned number)
{
    uint64_t elements = 1;
    for (unsigned i = number + 1; i < field->dim_count; i++)
        elements *= field->dims[i];
    return (struct dimension){field, number, field->dims[number], elements * field->type->size,
                              walk->at.inner ? 0 : (size_t)elements * type_leaves(field->type)};
}

static void walk_elements(struct walk *walk, const struct field *field, unsigned number, const struct segment *segment);

/* Element `i` alone, its number part of the key: where no subscript can be computed. */
static void walk_element(struct walk *walk, const struct dimension *dim, uint64_t i, const struct segment *segment,
                         bool named)
{
    struct arena *arena = walk->code->arena;
    const struct part before = walk->at;
    walk->at.key = arena_printf(arena, "%s[%llu]", before.key, (unsigned long long)i);
    if (named)
        walk->at.member = arena_printf(arena, "%s[%llu]", before.member, (unsigned long long)i);
    walk->at.offset += i * dim->stride_bytes;
    walk->at.leaf += (size_t)i * dim->stride_leaves;
    walk_elements(walk, dim->field, dim->number + 1, segment);
    walk->at = before;
}

static void walk_loop(struct walk *walk, const struct dimension *dim, const struct segment *segment,
                      const struct path_subscript *fixed)
{
    struct arena *arena = walk->code->arena;
    const struct part before = walk->at;
    unsigned loops = 0;
    for (size_t i = 0; i < before.loop_count; i++)
        loops += !walk->loops[i].fixed;
    const char *variable = fixed != NULL ? fixed->text : name_fresh(walk->code, arena_printf(arena, "q%u", loops));
    walk->loops[walk->at.loop_count++] = (struct part_loop){
        variable, dim->extent, dim->stride_bytes, dim->stride_leaves, fixed != NULL, fixed != NULL ? fixed->value : 0};
    if (fixed == NULL)
        walk->at.member = arena_printf(arena, "%s[%s]", before.member, variable);
    walk_elements(walk, dim->field, dim->number + 1, segment);
    walk->at = before;
}

/* The elements of a member array from dimension `number` on; `segment`: the path's subscripts for it, or NULL. */
static void walk_elements(struct walk *walk, const struct field *field, unsigned number, const struct segment *segment)
{
    if (number == field->dim_count) {
        walk_type(walk, field->type);
        return;
    }
    const struct dimension dim = dimension_of(walk, field, number);
    const struct path_subscript *subscript =
        segment != NULL && number < segment->subscript_count ? &segment->subscripts[number] : NULL;
    if (subscript == NULL && walk->shape != NULL && in_path(walk))
        walk->shape->scattered = true;
    if (subscript == NULL && walk->shape != NULL && !walk->shape->complete)
        walk->shape->dims =
            arena_printf(walk->code->arena, "%s[%llu]", walk->shape->dims, (unsigned long long)dim.extent);
    if (is_uniform(walk, dim.stride_leaves, dim.extent)) {
        walk_loop(walk, &dim, segment, subscript);
    } else if (subscript != NULL && subscript->constant) {
        walk_element(walk, &dim, subscript->value, segment, false);
    } else if (subscript == NULL) {
        for (uint64_t i = 0; i < dim.extent; i++)
            walk_element(walk, &dim, i, segment, true);
    }
}

static void walk_fields(struct walk *walk, const struct type *type)
{
    const struct part before = walk->at;
    const struct segment *path = walk->path;
    size_t leaf = before.leaf;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        walk->at = before;
        walk->at.leaf = leaf;
        walk->at.offset += field->offset;
        walk->at.inner = before.inner || type->kind == TYPE_UNION;
        if (walk->at.inner)
            walk->at.inner_offset += field->offset;
        else
            leaf += (size_t)field->count * type_leaves(field->type);
        if (path != NULL && strcmp(path->name, field->name.text) != 0)
            continue;
        enter(walk, &before, field->name.text);
        walk->path = path == NULL ? NULL : path->next;
        walk_elements(walk, field, 0, path);
        walk->path = path;
    }
    walk->at = before;
}

static void walk_vector(struct walk *walk, const struct type *type)
{
    bool leaf = type->components != 3 || walk->at.inner;
    if (leaf && !in_path(walk))
        add_part(walk, type);
    if (!leaf || walk->inner || in_path(walk))
        walk_components(walk, type);
}

static void walk_type(struct walk *walk, const struct type *type)
{
    if (!in_path(walk) && walk->shape != NULL && !walk->shape->complete) {
        walk->shape->complete = true;
        walk->shape->type = type;
        walk->shape->offset = walk->at.offset;
    }
    switch (type->kind) {
    case TYPE_SCALAR:
        add_part(walk, type);
        return;
    case TYPE_VECTOR:
        walk_vector(walk, type);
        return;
    case TYPE_UNION:
        if (!in_path(walk))
            add_part(walk, type);
        if (walk->inner || in_path(walk))
            walk_fields(walk, type);
        return;
    case TYPE_STRUCT:
        walk_fields(walk, type);
        return;
    }
}

struct parts parts_of(const struct code *code, const struct type *type, const struct segment *path, struct shape *shape,
                      bool inner, part_uniform *uniform, const void *context)
{
    struct parts parts = {0};
    struct walk walk = {.code = code,
                        .parts = &parts,
                        .uniform = uniform,
                        .context = context,
                        .inner = inner,
                        .path = path,
                        .shape = shape,
                        .at = {.key = "", .member = ""}};
    if (shape != NULL)
        *shape = (struct shape){.dims = ""};
    walk_type(&walk, type);
    return parts;
}

size_t loops_open(const struct part *part)
{
    size_t count = 0;
    for (size_t i = 0; i < part->loop_count; i++)
        count += !part->loops[i].fixed;
    return count;
}

const char *indent_text(struct arena *arena, size_t levels)
{
    return arena_printf(arena, "%*s", (int)(4 * levels), "");
}

json_t *loops_view(const struct code *code, const struct part *part)
{
    json_t *list = json_array();
    size_t level = 0;
    for (size_t i = 0; i < part->loop_count; i++) {
        if (part->loops[i].fixed)
            continue;
        json_t *view = json_object();
        put_text(view, "variable", part->loops[i].variable);
        put_number(view, "count", part->loops[i].count);
        put_text(view, "indent", indent_text(code->arena, level++));
        add(list, view);
    }
    return list;
}
