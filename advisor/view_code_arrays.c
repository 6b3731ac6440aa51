#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "text.h"
#include "view_code_internal.h"

/* ---- accessors --------------------------------------------------------------------------------------------------- */

static bool evenly_placed(const void *context, size_t leaf, size_t stride_leaves, uint64_t count)
{
    const struct mapping *mapping = context;
    if (mapping->tile_records == 0)
        return true;
    const struct placement *leaves = &mapping->leaves[leaf];
    uint64_t stride = count > 1 ? leaves[stride_leaves].offset - leaves[0].offset : 0;
    for (uint64_t i = 1; i < count; i++)
        if (leaves[i * stride_leaves].offset - leaves[0].offset != i * stride)
            return false;
    return true;
}

/* Bytes that one more in a loop's variable adds to the address. */
static uint64_t loop_stride(const struct mapping *mapping, const struct part *part, const struct part_loop *loop)
{
    if (mapping->record_stride != 0 || loop->stride_leaves == 0)
        return loop->stride_bytes;
    const struct placement *leaves = &mapping->leaves[part->leaf];
    return loop->count > 1 ? leaves[loop->stride_leaves].offset - leaves[0].offset : 0;
}

/* 0 where every address suits the part's type, else the alignment that all have. */
static unsigned unaligned_piece(const struct mapping *mapping, const struct part *part)
{
    const struct placement *place = &mapping->leaves[part->leaf];
    uint64_t all = plan_alignment(mapping, place->offset + part->inner_offset, place->stride);
    for (size_t i = 0; i < part->loop_count; i++)
        all |= loop_stride(mapping, part, &part->loops[i]);
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
    made->by_key = arena_array(code->arena, made->parts.count, sizeof(*made->by_key));
    for (size_t i = 0; i < made->parts.count; i++)
        made->by_key[i] = &made->accessors[i];
    qsort(made->by_key, made->parts.count, sizeof(*made->by_key), compare_accessors);
}

static int compare_key(const void *key, const void *accessor)
{
    return strcmp(key, (*(const struct accessor *const *)accessor)->part->key);
}

const struct accessor *find_accessor(const struct array_code *array, const char *key)
{
    const struct accessor *const *found =
        bsearch(key, array->by_key, array->parts.count, sizeof(*array->by_key), compare_key);
    return found == NULL ? NULL : *found;
}

/* A component of a vector that is aligned is had through the vector. */
static void borrow_accessor(const struct array_code *array, struct accessor *accessor)
{
    const struct accessor *vector = find_accessor(array, accessor->part->vector_key);
    accessor->borrowed = vector->piece == 0;
    if (!accessor->borrowed)
        return;
    static const char *const suffixes[] = {".x", ".y", ".z", ".w"};
    accessor->name = vector->name;
    accessor->suffix = suffixes[accessor->part->component == 'w' ? 3 : accessor->part->component - 'x'];
    accessor->piece = 0;
}

/* Fields keep their names; those put together from a path give way to them, and to one another. */
static void name_accessors(struct code *code, struct array_code *array)
{
    struct name_set taken = {0};
    for (size_t i = 0; i < array->parts.count; i++) {
        const struct part *part = &array->parts.items[i];
        struct accessor *accessor = &array->accessors[i];
        const char *name = accessor_name(code, part->key);
        bool field = strcmp(name, part->key) == 0;
        *accessor = (struct accessor){
            .part = part, .name = name, .suffix = "", .piece = unaligned_piece(array->mapping, part)};
        if (!field || accessor->piece != 0)
            accessor->name = name_take(code, &taken, name);
        accessor->c_name = name_take_c(code, arena_printf(code->arena, "%s_%s", array->c_name, name));
    }
}

/* Counts the leaves of each size that come before each leaf: what the address of a column is made of. */
static bool count_sizes(const struct code *code, struct array_code *made)
{
    enum { SIZES_MAX = 64 };
    const struct record *record = made->array->record;
    made->sizes = arena_array(code->arena, SIZES_MAX, sizeof(*made->sizes));
    made->before = arena_array(code->arena, SIZES_MAX, sizeof(*made->before));
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++) {
        size_t s = 0;
        while (s < made->size_count && made->sizes[s] != record->leaves[leaf].size)
            s++;
        if (s == SIZES_MAX) {
            diag_error(code->diags, "not-generated", made->array->name.where,
                       "array '%s' has unions of more than %d sizes", made->array->name.text, SIZES_MAX);
            return false;
        }
        if (s == made->size_count)
            made->sizes[made->size_count++] = record->leaves[leaf].size;
    }
    for (size_t s = 0; s < made->size_count; s++) {
        uint32_t *counts = arena_array(code->arena, record->leaf_count + 1, sizeof(*counts));
        for (size_t leaf = 0; leaf < record->leaf_count; leaf++)
            counts[leaf + 1] = counts[leaf] + (record->leaves[leaf].size == made->sizes[s]);
        made->before[s] = counts;
    }
    return true;
}

struct parts array_parts(const struct code *code, const struct array_code *array, const struct segment *path,
                         struct shape *shape)
{
    return parts_of(code, array->array->record->type, path, shape, false, evenly_placed, array->mapping);
}

static bool array_prepare(struct code *code, const struct array *array)
{
    struct array_code *made = &code->arrays[array->number];
    made->array = array;
    made->option = code->chosen[array->number];
    made->mapping = made->option->mapping;
    made->view_name = name_take(code, &code->issued, arena_printf(code->arena, "%s_view", array->name.text));
    made->c_name = name_take_c(code, arena_printf(code->arena, "%s_%s", code->spec->name.text, array->name.text));
    made->leaves = array_parts(code, made, NULL, NULL);
    made->parts = parts_of(code, array->record->type, NULL, NULL, true, evenly_placed, made->mapping);
    made->accessors = arena_array(code->arena, made->parts.count, sizeof(*made->accessors));
    name_accessors(code, made);
    sort_accessors(code, made);
    for (size_t i = 0; i < made->parts.count; i++)
        if (made->parts.items[i].component != '\0')
            borrow_accessor(made, &made->accessors[i]);
    return made->mapping->record_stride != 0 || made->mapping->tile_records != 0 || count_sizes(code, made);
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

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static const char *index_name(const struct code *code, unsigned dim)
{
    static const char *const names[SPEC_DIMS_MAX] = {"i", "j", "k"};
    return name_in_view(code, names[dim]);
}

const char *extent_name(const struct code *code, const struct array *array, unsigned dim)
{
    return name_fresh(code, array->dim_count == 1 ? "extent" : arena_printf(code->arena, "extent_%u", dim));
}

/* The number of a record, the last dimension fastest: "(i * extent_1 + j) * extent_2 + k". */
static const char *linear_text(const struct code *code, const struct array *array, unsigned dims)
{
    const char *text = index_name(code, 0);
    for (unsigned d = 1; d < dims; d++)
        text = arena_printf(code->arena, d == 1 ? "%s * %s + %s" : "(%s) * %s + %s", text, extent_name(code, array, d),
                            index_name(code, d));
    return text;
}

static const char *times(struct arena *arena, const char *text, bool sum, const char *factor)
{
    return arena_printf(arena, sum ? "(%s) * %s" : "%s * %s", text, factor);
}

/* "12 + q0 * 4" */
static const char *offset_text(struct arena *arena, uint64_t offset, const struct part *part,
                               const struct mapping *mapping)
{
    const char *text = offset == 0 ? "" : arena_printf(arena, " + %llu", (unsigned long long)offset);
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t stride = mapping == NULL ? loop->stride_bytes : loop_stride(mapping, part, loop);
        text = arena_printf(arena, stride == 1 ? "%s + %s" : "%s + %s * %llu", text, loop->variable,
                            (unsigned long long)stride);
    }
    return text;
}

const char *part_offset_text(struct arena *arena, const struct part *part)
{
    const char *text = offset_text(arena, part->offset, part, NULL);
    return text[0] == '\0' ? "0" : text + 3;
}

static const char *record_address(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    bool rows = array->mapping->row_bytes != 0 && a->dim_count > 1;
    const char *base = name_fresh(code, "base"), *stride = name_fresh(code, "record_bytes");
    if (!rows)
        return arena_printf(arena, "%s + %s", base,
                            times(arena, linear_text(code, a, a->dim_count), a->dim_count > 1, stride));
    const char *row =
        times(arena, linear_text(code, a, a->dim_count - 1), a->dim_count > 2, name_fresh(code, "row_bytes"));
    return arena_printf(arena, "%s + %s + %s * %s", base, row, index_name(code, a->dim_count - 1), stride);
}

/* " + (3 + q0) * column(4)" for the columns of one size that come before the part's own. */
static const char *columns_before(const struct code *code, const struct array_code *array, const struct part *part,
                                  size_t s)
{
    struct arena *arena = code->arena;
    const uint32_t *before = array->before[s];
    uint64_t fixed = before[part->leaf];
    const char *text = fixed == 0 ? "" : arena_printf(arena, "%llu", (unsigned long long)fixed);
    unsigned terms = fixed != 0;
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t step = before[part->leaf + loop->stride_leaves] - before[part->leaf];
        if (step == 0)
            continue;
        const char *term =
            step == 1 ? loop->variable : arena_printf(arena, "%s * %llu", loop->variable, (unsigned long long)step);
        text = terms++ == 0 ? term : arena_printf(arena, "%s + %s", text, term);
    }
    if (terms == 0)
        return "";
    return arena_printf(arena, terms == 1 ? " + %s * %s(%llu)" : " + (%s) * %s(%llu)", text, name_fresh(code, "column"),
                        (unsigned long long)array->sizes[s]);
}

static const char *soa_address(const struct code *code, const struct array_code *array, const struct part *part)
{
    struct arena *arena = code->arena;
    const struct array *a = array->array;
    const char *text = name_fresh(code, "base");
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, part, s));
    struct part inner = *part; /* the loops below a leaf */
    size_t below = 0;
    struct part_loop *loops = arena_array(arena, part->loop_count, sizeof(*loops));
    for (size_t i = 0; i < part->loop_count; i++)
        if (part->loops[i].stride_leaves == 0)
            loops[below++] = part->loops[i];
    inner.loops = loops;
    inner.loop_count = below;
    const char *linear = linear_text(code, a, a->dim_count);
    const char *size = arena_printf(arena, "%llu", (unsigned long long)a->record->leaves[part->leaf].size);
    return arena_printf(arena, "%s + %s%s", text, times(arena, linear, a->dim_count > 1, size),
                        offset_text(arena, part->inner_offset, &inner, NULL));
}

static const char *aosoa_address(const struct code *code, const struct array_code *array, const struct part *part)
{
    const struct array *a = array->array;
    const char *record = a->dim_count == 1 ? index_name(code, 0) : name_fresh(code, "record");
    const struct placement *place = &array->mapping->leaves[part->leaf];
    return arena_printf(code->arena, "%s + (%s >> %s) * %s%s + (%s & %s) * %llu", name_fresh(code, "base"), record,
                        name_fresh(code, "tile_shift"), name_fresh(code, "tile_bytes"),
                        offset_text(code->arena, place->offset + part->inner_offset, part, array->mapping), record,
                        name_fresh(code, "tile_mask"), (unsigned long long)place->stride);
}

static const char *address_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    if (array->mapping->tile_records != 0)
        return aosoa_address(code, array, part);
    if (array->mapping->record_stride == 0)
        return soa_address(code, array, part);
    return arena_printf(code->arena, "%s%s", record_address(code, array),
                        offset_text(code->arena, part->offset, part, array->mapping));
}

/* ---- the view of an array ---------------------------------------------------------------------------------------- */

static const char *parameters_text(const struct code *code, const struct array *array, const struct part *part,
                                   bool typed)
{
    const char *type = typed ? "std::int64_t " : "";
    const char *text = arena_printf(code->arena, "%s%s", type, index_name(code, 0));
    for (unsigned d = 1; d < array->dim_count; d++)
        text = arena_printf(code->arena, "%s, %s%s", text, type, index_name(code, d));
    for (size_t i = 0; part != NULL && i < part->loop_count; i++)
        text = arena_printf(code->arena, "%s, %s%s", text, type, part->loops[i].variable);
    return text;
}

/* A path as the description writes it, its subscripts their extents: "box.lo[3]". */
static const char *part_title(const struct code *code, const struct part *part)
{
    struct text title = {0};
    const char *at = part->member[0] == '.' ? part->member + 1 : part->member;
    size_t loop = 0;
    while (*at != '\0') {
        text_putc(&title, *at);
        if (*at++ != '[' || (*at >= '0' && *at <= '9'))
            continue;
        text_printf(&title, "%llu", (unsigned long long)part->loops[loop++].count);
        at += strcspn(at, "]");
    }
    const char *result = arena_copy(code->arena, text_string(&title), title.length);
    text_free(&title);
    return result[0] == '\0' ? "The record itself" : result;
}

void put_accessor_names(const struct code *code, const struct accessor *accessor, json_t *view)
{
    put_text(view, "suffix", accessor->suffix);
    put_text(view, "getter", name_fresh(code, arena_printf(code->arena, "get_%s", accessor->name)));
    put_text(view, "setter", name_fresh(code, arena_printf(code->arena, "set_%s", accessor->name)));
    put_text(view, "address_function", name_fresh(code, arena_printf(code->arena, "address_%s", accessor->name)));
}

static unsigned shift_of(uint64_t power)
{
    unsigned shift = 0;
    while (power >> shift > 1)
        shift++;
    return shift;
}

/* What a member of the view is called in C; NULL where it is none: an index or a number. */
static const char *c_member(const struct code *code, const struct array_code *array, const char *name)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const char *view = name_fresh(code, "view");
    const struct {
        const char *name;
        uint64_t number;
    } constants[] = {{"record_bytes", mapping->record_stride},
                     {"row_bytes", mapping->row_bytes},
                     {"tile_bytes", mapping->tile_bytes},
                     {"tile_mask", mapping->tile_records - 1},
                     {"tile_shift", shift_of(mapping->tile_records)}};
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (strcmp(name, name_fresh(code, constants[i].name)) == 0)
            return arena_printf(arena, "%llu", (unsigned long long)constants[i].number);
    for (unsigned d = 0; d < array->array->dim_count; d++)
        if (strcmp(name, extent_name(code, array->array, d)) == 0)
            return arena_printf(arena, "%s->%s", view, name);
    if (strcmp(name, name_fresh(code, "base")) == 0)
        return arena_printf(arena, "%s->%s", view, name);
    if (strcmp(name, name_fresh(code, "records")) == 0 || strcmp(name, name_fresh(code, "column")) == 0)
        return arena_printf(arena, "%s_%s", array->c_name, name);
    return NULL;
}

/* C++ of a view's member functions as C functions have it: members through a pointer, types without std. */
static const char *c_text(const struct code *code, const struct array_code *array, const char *text)
{
    struct text out = {0};
    while (*text != '\0') {
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        const char *word = arena_copy(code->arena, text, length);
        const char *member = length > 0 ? c_member(code, array, word) : NULL;
        text += length;
        if (strcmp(word, "std") == 0 && strncmp(text, "::", 2) == 0) {
            text += 2;
            continue;
        }
        text_puts(&out, member != NULL ? member : word);
        if (member != NULL && *text == '(') {
            text_printf(&out, "(%s%s", name_fresh(code, "view"), text[1] == ')' ? "" : ", ");
            text++;
        } else if (length == 0) {
            text_putc(&out, *text++);
        }
    }
    const char *result = arena_copy(code->arena, text_string(&out), out.length);
    text_free(&out);
    return result;
}

static json_t *accessor_view(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                             const char *address, bool needs_record)
{
    const struct part *part = accessor->part;
    json_t *view = json_object();
    put_text(view, "name", accessor->name);
    put_text(view, "type", type_text(code, part->type));
    put_text(view, "c_type", type_text_c(code, part->type));
    put_text(view, "title", part_title(code, part));
    put_text(view, "parameters", parameters_text(code, array->array, part, true));
    put_text(view, "arguments", parameters_text(code, array->array, part, false));
    put_text(view, "c_name", accessor->c_name);
    put_text(view, "array_c_name", array->c_name);
    put_text(view, "c_parameters", c_text(code, array, parameters_text(code, array->array, part, true)));
    put_text(view, "c_address", c_text(code, array, address));
    put_text(view, "address", address);
    put_flag(view, "needs_record", needs_record);
    put_accessor_names(code, accessor, view);
    put_flag(view, "reference", accessor->piece == 0);
    put_number(view, "piece", accessor->piece);
    return view;
}

json_t *accessor_view_at(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                         const char *record)
{
    const struct part *part = accessor->part;
    const char *address = arena_printf(code->arena, "%s%s", record, offset_text(code->arena, part->offset, part, NULL));
    return accessor_view(code, array, accessor, address, false);
}

/* A leaf on its way between a C record and its place in the array. */
json_t *leaf_view(const struct code *code, const struct array_code *array, const struct part *part)
{
    const struct accessor *accessor = find_accessor(array, part->key);
    json_t *view = json_object();
    put(view, "loops", loops_view(code, part));
    put_text(view, "indent", indent_text(code->arena, loops_open(part)));
    put_text(view, "member", part->member);
    put_text(view, "type", type_text(code, part->type));
    put_text(view, "accessor", accessor->name);
    put_accessor_names(code, accessor, view);
    put_text(view, "arguments", parameters_text(code, array->array, part, false));
    put_text(view, "offset", part_offset_text(code->arena, part));
    put_flag(view, "reference", accessor->piece == 0);
    return view;
}

/* Where a leaf is at the described extents, in bytes, for readers: "8388608 + q0 * 4194304 + i * 4". */
static const char *place_text(const struct code *code, const struct array_code *array, const struct part *part)
{
    static const char *const names[SPEC_DIMS_MAX] = {"i", "j", "k"};
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct placement *place = &mapping->leaves[part->leaf];
    const char *text =
        arena_printf(arena, "%llu%s", (unsigned long long)place->offset, offset_text(arena, 0, part, mapping));
    if (mapping->tile_records != 0) {
        const char *record = array->array->dim_count == 1 ? "i" : "record";
        return arena_printf(arena, "%s + %s / %llu * %llu + %s %% %llu * %llu", text, record,
                            (unsigned long long)mapping->tile_records, (unsigned long long)mapping->tile_bytes, record,
                            (unsigned long long)mapping->tile_records, (unsigned long long)place->stride);
    }
    for (unsigned d = 0; d < array->array->dim_count; d++)
        text = arena_printf(arena, "%s + %s * %llu", text, names[d],
                            (unsigned long long)layout_step(mapping, part->leaf, d));
    return text;
}

static const char *padded(struct arena *arena, const char *text, size_t width)
{
    return arena_printf(arena, "%-*s", (int)width, text);
}

/* The rows of the map of an array: field, type, place in C's record, place in the array. */
static json_t *map_view(const struct code *code, const struct array_code *array)
{
    const struct parts *leaves = &array->leaves;
    size_t widths[3] = {5, 4, 10};
    const char *(*cells)[4] = arena_array(code->arena, leaves->count, sizeof(*cells));
    for (size_t i = 0; i < leaves->count; i++) {
        const struct part *part = &leaves->items[i];
        const char *member = part->member[0] == '.' ? part->member + 1 : part->member;
        cells[i][0] = member[0] == '\0' ? "(record)" : member;
        cells[i][1] = part->type->name.text;
        cells[i][2] = part_offset_text(code->arena, part);
        cells[i][3] = place_text(code, array, part);
        for (size_t c = 0; c < 3; c++)
            if (strlen(cells[i][c]) > widths[c])
                widths[c] = strlen(cells[i][c]);
    }
    json_t *rows = json_array();
    const char *format = "%s  %s  %s  %s";
    add(rows, json_string(arena_printf(code->arena, format, padded(code->arena, "field", widths[0]),
                                       padded(code->arena, "type", widths[1]),
                                       padded(code->arena, "C's record", widths[2]), "here, in bytes")));
    for (size_t i = 0; i < leaves->count; i++)
        add(rows, json_string(arena_printf(code->arena, format, padded(code->arena, cells[i][0], widths[0]),
                                           padded(code->arena, cells[i][1], widths[1]),
                                           padded(code->arena, cells[i][2], widths[2]), cells[i][3])));
    return rows;
}

/* An index of the record that has the number `record`: "record / view.extent_1". */
static const char *split_text(const struct code *code, const struct array *array, unsigned dim)
{
    struct arena *arena = code->arena;
    const char *text = name_fresh(code, "record"), *view = name_fresh(code, "view");
    for (unsigned d = array->dim_count - 1; d > dim; d--)
        text = arena_printf(arena, "%s / %s.%s", text, view, extent_name(code, array, d));
    return dim == 0 ? text : arena_printf(arena, "%s %% %s.%s", text, view, extent_name(code, array, dim));
}

static const char *split_all(const struct code *code, const struct array *array)
{
    const char *text = split_text(code, array, 0);
    for (unsigned d = 1; d < array->dim_count; d++)
        text = arena_printf(code->arena, "%s, %s", text, split_text(code, array, d));
    return text;
}

/* The largest power of two (16 at most) that divides the places and sizes of all leaves and of the record. */
uint64_t array_granule(const struct array *array)
{
    const struct record *record = array->record;
    uint64_t all = VECTOR_BYTES_MAX | record->type->size;
    for (size_t i = 0; i < record->leaf_count; i++)
        all |= record->leaves[i].offset | record->leaves[i].size;
    return all & (~all + 1);
}

/* Where accessors must lead by the mapping that was counted: at the first, a middle and the last record. */
static void add_sample(const struct code *code, const struct array_code *array, const struct accessor *accessor,
                       unsigned quarter, json_t *list)
{
    const struct part *part = accessor->part;
    const struct array *a = array->array;
    int64_t index[SPEC_DIMS_MAX];
    const char *arguments = "";
    for (unsigned d = 0; d < a->dim_count; d++) {
        index[d] = (int64_t)((a->extent[d] - 1) / 2 * quarter);
        index[d] = quarter == 2 ? (int64_t)a->extent[d] - 1 : index[d];
        arguments = arena_printf(code->arena, "%s%s%lld", arguments, d == 0 ? "" : ", ", (long long)index[d]);
    }
    size_t leaf = part->leaf;
    uint64_t inner = part->inner_offset;
    for (size_t i = 0; i < part->loop_count; i++) {
        const struct part_loop *loop = &part->loops[i];
        uint64_t q = quarter == 0 ? 0 : loop->count - 1;
        leaf += (size_t)q * loop->stride_leaves;
        inner += loop->stride_leaves == 0 ? q * loop->stride_bytes : 0;
        arguments = arena_printf(code->arena, "%s, %llu", arguments, (unsigned long long)q);
    }
    json_t *view = json_object();
    put_text(view, "accessor", accessor->name);
    put_accessor_names(code, accessor, view);
    put_flag(view, "reference", accessor->piece == 0);
    put_text(view, "arguments", arguments);
    put_number(view, "place", layout_address(array->mapping, leaf, index) + inner);
    add(list, view);
}

static json_t *samples_view(const struct code *code, const struct array_code *array)
{
    enum { MOST = 64, QUARTERS = 3 };
    json_t *list = json_array();
    for (size_t i = 0; i < array->parts.count && i < MOST; i++)
        for (unsigned quarter = 0; quarter < QUARTERS && !array->accessors[i].borrowed; quarter++)
            add_sample(code, array, &array->accessors[i], quarter, list);
    return list;
}

/* Other extents to check a view with: odd, and within the described ones, for which the pitch is. */
static uint64_t odd_extent(const struct array *array, unsigned dim)
{
    static const uint64_t odd[SPEC_DIMS_MAX] = {1037, 37, 5};
    uint64_t wanted = odd[array->dim_count == 1 ? 0 : array->dim_count - dim - 1 + (array->dim_count == 2)];
    return wanted < array->extent[dim] ? wanted : array->extent[dim];
}

static json_t *extents_view(const struct code *code, const struct array *array)
{
    const struct expr_scope scope = {.code = code};
    json_t *extents = json_array();
    for (unsigned d = 0; d < array->dim_count; d++) {
        json_t *extent = json_object();
        put_text(extent, "name", extent_name(code, array, d));
        put_text(extent, "value", code_expr(&scope, array->extent_exprs[d]));
        put_number(extent, "number", array->extent[d]);
        put_number(extent, "odd", odd_extent(array, d));
        put_text(extent, "index", index_name(code, d));
        put_text(extent, "split", split_text(code, array, d));
        put_text(extent, "indent", indent_text(code->arena, d));
        add(extents, extent);
    }
    mark_ends(extents);
    return extents;
}

static const char *joined_extents(const struct code *code, const struct array *array, unsigned dims, const char *with)
{
    const char *text = extent_name(code, array, 0);
    for (unsigned d = 1; d < dims; d++)
        text = arena_printf(code->arena, "%s%s%s", text, with, extent_name(code, array, d));
    return text;
}

/* The number of bytes that the whole array takes, as a function of its extents. */
static const char *bytes_text(const struct code *code, const struct array_code *array)
{
    struct arena *arena = code->arena;
    const struct mapping *mapping = array->mapping;
    const struct array *a = array->array;
    const char *records = arena_printf(arena, "%s()", name_fresh(code, "records"));
    if (mapping->tile_records != 0)
        return arena_printf(arena, "((%s + %s) >> %s) * %s", records, name_fresh(code, "tile_mask"),
                            name_fresh(code, "tile_shift"), name_fresh(code, "tile_bytes"));
    if (mapping->record_stride != 0 && mapping->row_bytes != 0)
        return a->dim_count == 1 ? name_fresh(code, "row_bytes")
                                 : arena_printf(arena, "%s * %s", joined_extents(code, a, a->dim_count - 1, " * "),
                                                name_fresh(code, "row_bytes"));
    if (mapping->record_stride != 0)
        return arena_printf(arena, "%s * %s", records, name_fresh(code, "record_bytes"));
    size_t last = a->record->leaf_count - 1;
    const struct part part = {.leaf = last};
    const char *text = "";
    for (size_t s = 0; s < array->size_count; s++)
        text = arena_printf(arena, "%s%s", text, columns_before(code, array, &part, s));
    text = arena_printf(arena, "%s + %s * %llu", text, records, (unsigned long long)a->record->leaves[last].size);
    return text + 3;
}

static void put_mapping(const struct code *code, const struct array_code *array, json_t *view)
{
    const struct mapping *mapping = array->mapping;
    bool whole = mapping->record_stride != 0;
    put_flag(view, "whole", whole);
    put_flag(view, "columns", !whole && mapping->tile_records == 0);
    put_flag(view, "tiles", mapping->tile_records != 0);
    put_flag(view, "rows", mapping->row_bytes != 0);
    put_number(view, "row_bytes", mapping->row_bytes);
    put_number(view, "record_bytes", mapping->record_stride);
    put_number(view, "tile_records", mapping->tile_records);
    put_number(view, "tile_shift", shift_of(mapping->tile_records));
    put_number(view, "tile_bytes", mapping->tile_bytes);
    put_number(view, "storage_bytes", mapping->bytes);
    put_text(view, "bytes", bytes_text(code, array));
    /* Dense records in C's own form: a conversion is a copy. */
    put_flag(view, "is_plain",
             whole && mapping->row_bytes == 0 && mapping->record_stride == array->array->record->type->size);
    put_text(view, "record_address", whole ? record_address(code, array) : "");
}

/* How many records a block converts at once through shared memory: 0 where it cannot. A record's copy there is padded
 * to an odd number of units, so that neighbouring records start in different banks. */
static void put_conversion(const struct array *array, json_t *view)
{
    enum { SHARED_BYTES = 48 * 1024, MOST = 256, LEAST = 32 };
    const struct type *type = array->record->type;
    uint64_t unit = type->align > 4 ? type->align : 4;
    uint64_t stride = ((type->size + unit - 1) / unit | 1) * unit;
    uint64_t records = MOST;
    while (records >= LEAST && records * stride > SHARED_BYTES)
        records /= 2;
    uint64_t word = type->size & (~type->size + 1);
    put_flag(view, "through_shared", records >= LEAST && type->size >= 4);
    put_number(view, "convert_records", records >= LEAST && type->size >= 4 ? records : MOST);
    put_number(view, "convert_stride", stride);
    put_number(view, "convert_align", type->align > 16 ? type->align : 16);
    put_number(view, "convert_word", word < 4 ? word : 4);
}

static json_t *array_view(const struct code *code, const struct array_code *array)
{
    const struct array *a = array->array;
    json_t *view = json_object();
    put_text(view, "name", a->name.text);
    put_text(view, "view", array->view_name);
    put_text(view, "c_name", array->c_name);
    put_text(view, "c_linear", c_text(code, array, linear_text(code, a, a->dim_count)));
    put_text(view, "c_records", c_text(code, array, joined_extents(code, a, a->dim_count, " * ")));
    put_text(view, "c_bytes", c_text(code, array, bytes_text(code, array)));
    put_text(view, "record", type_text(code, a->record->type));
    put_text(view, "c_record", type_text_c(code, a->record->type));
    put_text(view, "record_title", a->record->type->name.text);
    put_text(view, "candidate", array->option->candidate.text);
    put_text(view, "layout", notation_layout(code->arena, &array->option->candidate.layout));
    put_flag(view, "shared", a->space == SPACE_SHARED);
    put_flag(view, "global", a->space == SPACE_GLOBAL);
    put_number(view, "align", a->align);
    put_number(view, "offset", a->offset);
    put_number(view, "record_count", a->records);
    put_number(view, "record_size", a->record->type->size);
    put_flag(view, "one_dimension", a->dim_count == 1);
    put_text(view, "records", joined_extents(code, a, a->dim_count, " * "));
    put_text(view, "parameters", parameters_text(code, a, NULL, true));
    put_text(view, "arguments", parameters_text(code, a, NULL, false));
    put_text(view, "qualifier", "SECTORWISE_HD");
    put_text(view, "split", split_all(code, a));
    put_number(view, "granule", array_granule(a));
    put(view, "samples", samples_view(code, array));
    put_text(view, "check_function", name_fresh(code, arena_printf(code->arena, "check_%s", a->name.text)));
    put_text(view, "linear", linear_text(code, a, a->dim_count));
    put(view, "extents", extents_view(code, a));
    put(view, "map", map_view(code, array));
    put_mapping(code, array, view);
    put_conversion(a, view);
    put_flag(view, "converts", a->space == SPACE_GLOBAL && !json_is_true(json_object_get(view, "is_plain")) &&
                                   json_is_true(json_object_get(view, "through_shared")));
    bool needs_record = array->mapping->tile_records != 0 && a->dim_count > 1;
    json_t *accessors = json_array(), *leaves = json_array();
    for (size_t i = 0; i < array->parts.count; i++)
        if (!array->accessors[i].borrowed)
            add(accessors, accessor_view(code, array, &array->accessors[i],
                                     address_text(code, array, array->accessors[i].part), needs_record));
    for (size_t i = 0; i < array->leaves.count; i++)
        add(leaves, leaf_view(code, array, &array->leaves.items[i]));
    put(view, "accessors", accessors);
    put(view, "leaves", leaves);
    return view;
}

json_t *arrays_view(const struct code *code)
{
    json_t *list = json_array();
    for (size_t i = 0; i < code->spec->array_count; i++)
        add(list, array_view(code, &code->arrays[i]));
    mark_ends(list);
    return list;
}
