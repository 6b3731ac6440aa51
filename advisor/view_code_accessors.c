#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "text.h"
#include "view_code_internal.h"

static bool evenly_placed(const void *context, size_t leaf, size_t stride_leaves, uint64_t count)
{
    const struct mapping *mapping = context;
    if (mapping->groups[mapping->leaves[leaf].group].tile_records == 0)
        return true;
    const struct placement *leaves = &mapping->leaves[leaf];
    uint64_t stride = count > 1 ? leaves[stride_leaves].offset - leaves[0].offset : 0;
    for (uint64_t i = 1; i < count; i++)
        if (leaves[i * stride_leaves].offset - leaves[0].offset != i * stride)
            return false;
    return true;
}

/* Bytes that one more in a loop's variable adds to the address. */
uint64_t loop_stride(const struct mapping *mapping, const struct part *part, const struct part_loop *loop)
{
    if (group_of(mapping, part)->record_stride != 0 || loop->stride_leaves == 0)
        return loop->stride_bytes;
    const struct placement *leaves = &mapping->leaves[part->leaf];
    return loop->count > 1 ? leaves[loop->stride_leaves].offset - leaves[0].offset : 0;
}

/* 0 where every address suits the part's type, else the alignment that all have. */
static unsigned unaligned_piece(const struct mapping *mapping, const struct part *part)
{
    const struct placement *place = &mapping->leaves[part->leaf];
    uint64_t all = plan_alignment(mapping, part->leaf, place->offset + part->inner_offset, place->stride);
    for (size_t i = 0; i < part->loop_count; i++)
        all |= part->loops[i].count > 1 ? loop_stride(mapping, part, &part->loops[i]) : 0;
    uint64_t alignment = all & (~all + 1);
    return alignment >= part->type->align ? 0 : (unsigned)alignment;
}

static const char *accessor_name(const struct code *code, const char *key)
{
    if (key[0] == '\0')
        return "at";
    char *name = arena_copy(code->arena, key, strlen(key));
    char *to = name;
    for (const char *from = key; *from != '\0'; from++)
        if (*from != ']')
            *to++ = *from == '.' || *from == '[' ? '_' : *from;
    *to = '\0';
    return name;
}

static const char *name_take_c(struct code *code, const char *wanted)
{
    while (!name_set_add(&code->issued_c, code->arena, wanted))
        wanted = arena_printf(code->arena, "%s_", wanted);
    return wanted;
}

static int compare_accessors(const void *a, const void *b)
{
    return strcmp((*(const struct accessor *const *)a)->part->key, (*(const struct accessor *const *)b)->part->key);
}

static void sort_accessors(const struct code *code, struct array_code *made)
{
    made->by_key = arena_array(code->arena, made->parts.count, sizeof(const struct accessor *));
    for (size_t i = 0; i < made->parts.count; i++)
        made->by_key[i] = &made->accessors[i];
    qsort(made->by_key, made->parts.count, sizeof(const struct accessor *), compare_accessors);
}

static int compare_key(const void *key, const void *accessor)
{
    return strcmp(key, (*(const struct accessor *const *)accessor)->part->key);
}

const struct accessor *find_accessor(const struct array_code *array, const char *key)
{
    const struct accessor *const *found =
        bsearch(key, array->by_key, array->parts.count, sizeof(const struct accessor *), compare_key);
    return found == NULL ? NULL : *found;
}

/* A component of a vector that is aligned is had through the vector. */
static void borrow_accessor(const struct array_code *array, struct accessor *accessor)
{
    const struct accessor *vector = find_accessor(array, accessor->part->vector_key);
    accessor->borrowed = vector->piece == 0;
    accessor->name = accessor->own_name;
    accessor->suffix = "";
    if (!accessor->borrowed)
        return;
    static const char *const suffixes[] = {".x", ".y", ".z", ".w"};
    accessor->name = vector->name;
    accessor->suffix = suffixes[accessor->part->component == 'w' ? 3 : accessor->part->component - 'x'];
    accessor->piece = 0;
}

static void borrow_accessors(struct array_code *array)
{
    for (size_t i = 0; i < array->parts.count; i++)
        if (array->parts.items[i].component != '\0')
            borrow_accessor(array, &array->accessors[i]);
}

/* The alignment of a part in the shared copy, as unaligned_piece gives it. */
static unsigned staged_piece(const struct mapping *mapping, const struct stage *stage, const struct part *part)
{
    uint64_t all = VECTOR_BYTES_MAX | stored_offset(mapping, part) | stage->record_bytes;
    if (stage->dim_count > 1)
        all |= stage->row_bytes;
    for (size_t i = 0; i < part->loop_count; i++)
        all |= part->loops[i].count > 1 ? part->loops[i].stride_bytes : 0;
    uint64_t alignment = all & (~all + 1);
    return alignment >= part->type->align ? 0 : (unsigned)alignment;
}

const struct array_code *array_staged(const struct code *code, const struct array_code *array,
                                      const struct stage *stage)
{
    struct array_code *staged = arena_alloc(code->arena, sizeof(*staged));
    *staged = *array;
    staged->accessors = arena_array(code->arena, array->parts.count, sizeof(*staged->accessors));
    for (size_t i = 0; i < array->parts.count; i++) {
        staged->accessors[i] = array->accessors[i];
        staged->accessors[i].piece = staged_piece(array->mapping, stage, &array->parts.items[i]);
    }
    sort_accessors(code, staged);
    borrow_accessors(staged);
    return staged;
}

/* Fields keep their names; those put together from a path give way to them, to one another, and to what else a view or
 * its fields' types have. */
static void name_accessors(struct code *code, struct array_code *array)
{
    static const char *const members[] = {"base_align", "base_offset", "record_bytes", "row_bytes",
                                          "tile_bytes", "tile_mask",   "tile_shift"};
    struct name_set taken = {0};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        (void)name_set_add(&taken, code->arena, name_fresh(code, members[i]));
    (void)name_set_add(&taken, code->arena, array->view_name);
    (void)name_set_add(&taken, code->arena, array->const_view_name);
    (void)name_set_add(&taken, code->arena, array->fields_name);
    for (size_t i = 0; i < array->parts.count; i++) {
        const struct part *part = &array->parts.items[i];
        struct accessor *accessor = &array->accessors[i];
        const char *name = accessor_name(code, part->key);
        bool field = strcmp(name, part->key) == 0;
        *accessor = (struct accessor){
            .part = part, .name = name, .own_name = name, .suffix = "", .piece = unaligned_piece(array->mapping, part)};
        if (!field || accessor->piece != 0)
            accessor->name = accessor->own_name = name_take(code, &taken, name);
        accessor->c_name = name_take_c(code, arena_printf(code->arena, "%s_%s", array->c_name, name));
    }
}

static size_t size_number(struct array_code *made, uint64_t size)
{
    size_t s = 0;
    while (s < made->size_count && made->sizes[s] != size)
        s++;
    if (s == made->size_count)
        made->sizes[made->size_count++] = size;
    return s;
}

/* A leaf's turn among those of its group: `seen` counts them by size. */
static void count_leaf(struct array_code *made, uint32_t **before, uint32_t seen[], size_t leaf)
{
    for (size_t s = 0; s < made->size_count; s++)
        before[s][leaf] = seen[s];
    seen[size_number(made, made->array->record->leaves[leaf].size)]++;
}

/* Counts the leaves of each size that come before each leaf in its group: what the address of a column is made of. */
static bool count_sizes(const struct code *code, struct array_code *made)
{
    enum { SIZES_MAX = 64 };
    const struct record *record = made->array->record;
    made->sizes = arena_array(code->arena, record->leaf_count, sizeof(*made->sizes));
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++) {
        if (size_number(made, record->leaves[leaf].size) < SIZES_MAX)
            continue;
        diag_error(code->diags, "not-generated", made->array->name.where, "array '%s' has unions of more than %d sizes",
                   made->array->name.text, SIZES_MAX);
        return false;
    }
    uint32_t **before = arena_array(code->arena, made->size_count, sizeof(*before));
    for (size_t s = 0; s < made->size_count; s++)
        before[s] = arena_array(code->arena, record->leaf_count, sizeof(**before));
    for (unsigned g = 0; g < made->mapping->group_count; g++) {
        const struct group *group = &made->mapping->groups[g];
        uint32_t seen[SIZES_MAX] = {0};
        for (size_t m = 0; m < group->member_count; m++)
            for (size_t i = 0; i < group->members[m].leaf_count; i++)
                count_leaf(made, before, seen, group->members[m].leaf + i);
        for (size_t leaf = 0; group->member_count == 0 && leaf < record->leaf_count; leaf++)
            count_leaf(made, before, seen, leaf);
    }
    made->before = (const uint32_t *const *)before;
    return true;
}

struct parts array_parts(const struct code *code, const struct array_code *array, const struct segment *path,
                         struct shape *shape)
{
    return parts_of(code, array->array->record->type, path, shape, false, evenly_placed, array->mapping);
}

bool has_columns(const struct mapping *mapping)
{
    for (unsigned g = 0; g < mapping->group_count; g++)
        if (mapping->groups[g].record_stride == 0 && mapping->groups[g].tile_records == 0)
            return true;
    return false;
}

bool has_records_as_c(const struct mapping *mapping)
{
    const struct record *record = mapping->array->record;
    bool same = mapping->record_stride != 0;
    for (size_t i = 0; i < record->leaf_count; i++)
        same = same && mapping->leaves[i].offset == record->leaves[i].offset;
    return same;
}

/* Whether, from `leaf` on, the loops from `number` on add the same distances wherever the others stand. */
static bool adds_up(const struct mapping *mapping, const struct part *part, size_t number, size_t leaf)
{
    if (number == part->loop_count)
        return true;
    const struct part_loop *loop = &part->loops[number];
    const struct placement *leaves = mapping->leaves;
    uint64_t stride = loop_stride(mapping, part, loop), count = loop->stride_leaves == 0 ? 1 : loop->count;
    for (uint64_t i = 0; i < count; i++) {
        size_t there = leaf + (size_t)i * loop->stride_leaves;
        if (leaves[there].offset - leaves[leaf].offset != i * stride || !adds_up(mapping, part, number + 1, there))
            return false;
    }
    return true;
}

/* In tiles each leaf is aligned by itself: along each dimension the elements of a matrix of structs may then be evenly
 * spaced, and the corner be elsewhere. An accessor with a subscript a dimension cannot say that. */
static bool check_matrices(const struct code *code, const struct array_code *made)
{
    for (size_t i = 0; i < made->parts.count; i++) {
        const struct part *part = &made->parts.items[i];
        if (group_of(made->mapping, part)->record_stride != 0 || adds_up(made->mapping, part, 0, part->leaf))
            continue;
        diag_error(code->diags, "not-generated", made->array->name.where,
                   "under '%s' the elements of '%s' are not evenly spaced", made->option->candidate.text, part->key);
        return false;
    }
    return true;
}

/* A subscript that is an expression needs one accessor for all elements, also where only others are out of step. */
static bool check_subscripts(const struct code *code, const struct array_code *made, const struct access *access)
{
    const struct field_path *path = paths_of(code, access, no_text, NULL);
    for (; path != NULL; path = path->next) {
        struct shape shape;
        if (array_parts(code, made, path->segments, &shape).count > 0)
            continue;
        diag_error(code->diags, "not-generated", access->where,
                   "under '%s' the elements of a subscripted member of '%s' are not evenly spaced",
                   made->option->candidate.text, made->array->name.text);
        return false;
    }
    return true;
}

static bool check_accesses(const struct code *code, const struct array_code *made)
{
    for (const struct kernel *kernel = code->spec->kernels; kernel != NULL; kernel = kernel->next)
        for (unsigned i = 0; i < kernel->access_count; i++)
            if (kernel->accesses[i]->array == made->array && !check_subscripts(code, made, kernel->accesses[i]))
                return false;
    return true;
}

static bool array_prepare(struct code *code, const struct array *array)
{
    struct array_code *made = &code->arrays[array->number];
    made->array = array;
    made->option = code->chosen[array->number];
    made->mapping = made->option->mapping;
    made->view_name = name_take(code, &code->issued, arena_printf(code->arena, "%s_view", array->name.text));
    made->const_view_name =
        name_take(code, &code->issued, arena_printf(code->arena, "%s_const_view", array->name.text));
    made->fields_name = name_take(code, &code->issued, arena_printf(code->arena, "%s_fields", array->name.text));
    made->c_name = name_take_c(code, arena_printf(code->arena, "%s_%s", code->spec->name.text, array->name.text));
    made->leaves = array_parts(code, made, NULL, NULL);
    made->parts = parts_of(code, array->record->type, NULL, NULL, true, evenly_placed, made->mapping);
    made->accessors = arena_array(code->arena, made->parts.count, sizeof(*made->accessors));
    name_accessors(code, made);
    sort_accessors(code, made);
    borrow_accessors(made);
    return check_matrices(code, made) && check_accesses(code, made) &&
           (!has_columns(made->mapping) || count_sizes(code, made));
}

/* Types and params keep their names in the C header, too. */
static void name_given_c(struct code *code)
{
    const char *prefix = code->spec->name.text;
    for (const struct type *type = code->spec->types; type != NULL; type = type->next)
        (void)name_take_c(code, arena_printf(code->arena, "%s_%s", prefix, type->name.text));
    for (size_t i = 0; i < code->spec->param_count; i++)
        (void)name_take_c(code, arena_printf(code->arena, "%s_%s", prefix, code->param_names[i]));
}

bool arrays_prepare(struct code *code)
{
    bool fine = true;
    name_given_c(code);
    code->arrays = arena_array(code->arena, code->spec->array_count, sizeof(*code->arrays));
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next)
        fine = array_prepare(code, array) && fine;
    return fine;
}

const struct array_code *array_code(const struct code *code, const struct array *array)
{
    return &code->arrays[array->number];
}
