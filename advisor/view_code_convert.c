#include "text.h"
#include "view_code_internal.h"

enum { ROW_THREADS_MIN = 32 };

/* The bytes that lie in leaves of one size, most of all sizes: what a row of neighbouring records is made wide for. */
static uint64_t commonest_leaf(const struct record *record)
{
    uint64_t best = 1, most = 0;
    for (size_t i = 0; i < record->leaf_count; i++) {
        uint64_t bytes = 0;
        for (size_t k = 0; k < record->leaf_count; k++)
            bytes += record->leaves[k].size == record->leaves[i].size ? record->leaves[k].size : 0;
        if (bytes > most) {
            most = bytes;
            best = record->leaves[i].size;
        }
    }
    return best;
}

/* How many neighbouring records a thread converts at once: enough for whole pieces of 16 bytes in C's array and, where
 * registers suffice, in the rows of the commonest leaf. 0 where the layout has no rows, or a record is too large. */
static uint64_t conversion_group(const struct array_code *array)
{
    enum { REGISTER_BYTES = 512 };
    const struct layout *layout = &array->option->candidate.layout;
    uint64_t size = array->array->record->type->size, group = 1,
             wanted = VECTOR_BYTES_MAX / commonest_leaf(array->array->record);
    while (group * size % VECTOR_BYTES_MAX != 0)
        group *= 2;
    if (group * size > REGISTER_BYTES)
        return 0;
    while (group < wanted && 2 * group * size <= REGISTER_BYTES)
        group *= 2;
    for (size_t i = 0; i < array->parts.count; i++)
        if (array->accessors[i].piece != 0 || is_loose(array->array, &array->parts.items[i]))
            return 0;
    if (layout->kind == LAYOUT_AOSOA)
        return layout->tile % group == 0 ? group : 0;
    return layout->kind == LAYOUT_SOA ? group : 0;
}

/* The largest power of two, 16 at most, that divides where rows of `group` records begin. */
static uint64_t row_align(const struct array_code *array, uint64_t group)
{
    const struct record *record = array->array->record;
    const struct mapping *mapping = array->mapping;
    uint64_t all = VECTOR_BYTES_MAX | array->array->align | array->array->offset | mapping->tile_bytes;
    for (size_t i = 0; i < record->leaf_count && mapping->tile_records != 0; i++)
        all |= mapping->leaves[i].offset | record->leaves[i].size * group;
    return all & (~all + 1);
}

static uint64_t leaf_bytes(const struct record *record)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < record->leaf_count; i++)
        bytes += record->leaves[i].size;
    return bytes;
}

/* Whether both sides can go through shared memory in pieces side by side: so many records are whole tiles, which take
 * the bytes that they take in C's array. Neither has padding, which would be copied. */
static bool is_straight(const struct array_code *array, uint64_t records)
{
    const struct array *a = array->array;
    const struct mapping *mapping = array->mapping;
    return mapping->tile_records != 0 && records % mapping->tile_records == 0 &&
           mapping->tile_bytes == mapping->tile_records * a->record->type->size &&
           a->record->type->size == leaf_bytes(a->record) && (a->align | a->offset) % VECTOR_BYTES_MAX == 0;
}

/* Threads of a block that converts by rows: what was fastest on an H200. */
static uint64_t row_threads(uint64_t pieces, bool straight)
{
    enum { FEW = 4, SOME = 12, MANY = 31 };
    if (pieces < FEW)
        return 4 * ROW_THREADS_MIN;
    return pieces < SOME || (straight && pieces >= MANY) ? 2 * ROW_THREADS_MIN : ROW_THREADS_MIN;
}

/* What bounds the launch of such a block. Left alone, nvcc spends so many registers on rows of some sizes, and orders
 * the loads of others such, that an H200 is up to 8 % slower than with blocks enough to fill a multiprocessor's
 * registers. */
static const char *row_bounds(uint64_t pieces, bool straight, uint64_t threads)
{
    enum { MOST = 24 };
    return straight && threads == ROW_THREADS_MIN && pieces <= MOST ? ", 12" : "";
}

/* How an array is converted on the device. Rows: a thread has a group of neighbouring records in registers; a group's
 * pieces of 16 bytes go through shared memory, padded to an odd number, so that neighbouring threads' pieces are in
 * different banks. Else a record a thread, through shared memory where records fit, padded to an odd number of units.
 */
void put_conversion(const struct array_code *array, json_t *view)
{
    enum { SHARED_BYTES = 48 * 1024, MOST = 256, LEAST = 32 };
    const struct type *type = array->array->record->type;
    uint64_t group = conversion_group(array), pieces = group * type->size / VECTOR_BYTES_MAX;
    bool straight = group != 0 && is_straight(array, ROW_THREADS_MIN * group);
    uint64_t threads = row_threads(pieces, straight);
    uint64_t unit = type->align > 4 ? type->align : 4;
    uint64_t stride = ((type->size + unit - 1) / unit | 1) * unit;
    uint64_t records = MOST;
    while (records >= LEAST && records * stride > SHARED_BYTES)
        records /= 2;
    uint64_t word = type->size & (~type->size + 1);
    bool through_shared = records >= LEAST && type->size >= 4;
    put_flag(view, "through_rows", group != 0);
    put_flag(view, "convert_straight", straight);
    put_text(view, "convert_bounds", row_bounds(pieces, straight, threads));
    put_number(view, "convert_group", group);
    put_number(view, "convert_pieces", pieces);
    put_number(view, "convert_row_align", group == 0 ? 0 : row_align(array, group));
    put_flag(view, "through_shared", group == 0 && through_shared);
    put_number(view, "convert_threads", group != 0 ? threads : through_shared ? records : MOST);
    put_number(view, "convert_stride", stride);
    put_number(view, "convert_align", type->align > VECTOR_BYTES_MAX ? type->align : VECTOR_BYTES_MAX);
    put_number(view, "convert_word", word < 4 ? word : 4);
}

const char *offsets_text(struct arena *arena, const uint64_t *offsets, size_t count)
{
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        list = arena_printf(arena, i == 0 ? "%s%llu" : "%s, %llu", list, (unsigned long long)offsets[i]);
    return list;
}

/* Whole records that a warp moves together: the widest pieces that divide a record and wherever one begins. */
void put_exchange(const struct code *code, const struct array_code *array, json_t *view)
{
    enum { RECORD_BYTES_MAX = EXCHANGE_BYTES_MAX, WORD_BYTES = 4 };
    const struct array *a = array->array;
    const struct mapping *mapping = array->mapping;
    uint64_t all =
        VECTOR_BYTES_MAX | a->record->type->size | mapping->record_stride | mapping->row_bytes | a->align | a->offset;
    uint64_t piece = all & (~all + 1), size = a->record->type->size;
    bool whole = a->space == SPACE_GLOBAL && has_records_as_c(mapping);
    bool has = whole && piece >= WORD_BYTES && size > piece && size <= RECORD_BYTES_MAX;
    put_flag(view, "has_exchange", has);
    uint64_t offsets[RECORD_BYTES_MAX / WORD_BYTES], count = 0;
    for (uint64_t at = 0; has && at < size; at += piece)
        offsets[count++] = at;
    put_number(view, "exchange_piece", has ? piece : 0);
    put_text(view, "exchange_offsets", offsets_text(code->arena, offsets, count));
    put_text(view, "exchange", name_fresh(code, arena_printf(code->arena, "%s_exchange", a->name.text)));
}
