#include "layout.h"

#include <string.h>

#include "checked.h"
#include "layout_internal.h"

bool layout_fits(uint64_t *out, uint64_t count, uint64_t bytes, const char **reason)
{
    if (checked_mul_u64(out, count, bytes) && *out <= STORAGE_BYTES_MAX)
        return true;
    *reason = "it would need more than 2^47 bytes";
    return false;
}

/* The leaves of the group in stored order, one after another; of a record that is no struct, as C has them. */
struct leaf_order {
    const struct group *group;
    size_t leaf_count; /* of the record */
    size_t member, number;
};

/* The next leaf, its record; false after the last. */
static bool next_leaf(size_t *leaf, struct leaf_order *order)
{
    const struct group *group = order->group;
    if (group->member_count == 0) {
        *leaf = order->number++;
        return *leaf < order->leaf_count;
    }
    while (order->member < group->member_count && order->number == group->members[order->member].leaf_count) {
        order->member++;
        order->number = 0;
    }
    if (order->member == group->member_count)
        return false;
    *leaf = group->members[order->member].leaf + order->number++;
    return true;
}

static struct leaf_order order_of(const struct mapping *mapping, const struct group *group)
{
    return (struct leaf_order){.group = group, .leaf_count = mapping->array->record->leaf_count};
}

static unsigned group_number(const struct mapping *mapping, const struct group *group)
{
    return (unsigned)(group - mapping->groups);
}

/* Where a leaf is in the stored record of its group. */
static uint64_t stored_offset(const struct mapping *mapping, const struct leaf_order *order, size_t leaf)
{
    uint64_t offset = mapping->array->record->leaves[leaf].offset;
    if (order->group->member_count == 0)
        return offset;
    const struct member *member = &order->group->members[order->member];
    return member->offset + offset - member->record_offset;
}

/* Records kept whole, `stride` bytes apart. */
static void place_whole(struct mapping *mapping, struct group *group, struct arena *arena, uint64_t stride)
{
    const struct record *record = mapping->array->record;
    struct leaf_order order = order_of(mapping, group);
    bool *owned = arena_array(arena, stride, sizeof(*owned));
    for (size_t leaf; next_leaf(&leaf, &order);) {
        uint64_t offset = stored_offset(mapping, &order, leaf);
        mapping->leaves[leaf] = (struct placement){group->offset + offset, stride, group_number(mapping, group)};
        memset(owned + offset, true, record->leaves[leaf].size);
    }
    group->owned = owned;
    group->record_stride = stride;
}

/* The bytes between records of a group that are padded to a multiple of `align` where that is not 0. */
static bool padded_stride(uint64_t *out, const struct group *group, struct arena *arena, const char **reason)
{
    *out = group->record_size;
    if (group->layout.align == 0)
        return true;
    (void)checked_round_up_u64(out, group->record_size, group->layout.align);
    if (group->layout.align > group->record_align)
        return true;
    *reason = arena_printf(arena, "records are aligned to %llu bytes already", (unsigned long long)group->record_align);
    return false;
}

static bool map_aos(struct mapping *mapping, struct group *group, struct arena *arena, const char **reason)
{
    uint64_t stride;
    if ((group->layout.reorder && !layout_reorder(group, arena, reason)) ||
        !padded_stride(&stride, group, arena, reason) ||
        !layout_fits(&group->bytes, mapping->array->records, stride, reason))
        return false;
    place_whole(mapping, group, arena, stride);
    return true;
}

static bool map_soa(struct mapping *mapping, struct group *group, const char **reason)
{
    const struct array *array = mapping->array;
    struct leaf_order order = order_of(mapping, group);
    uint64_t cursor = 0, bytes;
    for (size_t i; next_leaf(&i, &order);) {
        const struct leaf *leaf = &array->record->leaves[i];
        if (!layout_fits(&bytes, array->records, leaf->size, reason) ||
            !checked_round_up_u64(&cursor, cursor, array->align))
            return false;
        mapping->leaves[i] = (struct placement){group->offset + cursor, leaf->size, group_number(mapping, group)};
        if (!layout_fits(&cursor, 1, cursor + bytes, reason))
            return false;
    }
    group->bytes = cursor;
    return true;
}

static bool map_aosoa(struct mapping *mapping, struct group *group, const char **reason)
{
    const struct array *array = mapping->array;
    struct leaf_order order = order_of(mapping, group);
    uint64_t tile = group->layout.tile, cursor = 0, widest = 1, bytes;
    for (size_t i; next_leaf(&i, &order);) {
        const struct leaf *leaf = &array->record->leaves[i];
        if (!layout_fits(&bytes, tile, leaf->size, reason) || !checked_round_up_u64(&cursor, cursor, leaf->align))
            return false;
        mapping->leaves[i] = (struct placement){group->offset + cursor, leaf->size, group_number(mapping, group)};
        if (!layout_fits(&cursor, 1, cursor + bytes, reason))
            return false;
        widest = leaf->align > widest ? leaf->align : widest;
    }
    if (!checked_round_up_u64(&cursor, cursor, widest))
        return false;
    group->tile_records = tile;
    group->tile_bytes = cursor;
    return layout_fits(&group->bytes, (array->records - 1) / tile + 1, cursor, reason);
}

/* One group after another, each on the array's alignment. */
static bool map_groups(struct mapping *mapping, struct arena *arena, const char **reason)
{
    uint64_t cursor = 0;
    for (unsigned i = 0; i < mapping->group_count; i++) {
        struct group *group = &mapping->groups[i];
        if (!checked_round_up_u64(&cursor, cursor, mapping->array->align))
            return false;
        group->offset = cursor;
        bool mapped = group->layout.kind == LAYOUT_SOA     ? map_soa(mapping, group, reason)
                      : group->layout.kind == LAYOUT_AOSOA ? map_aosoa(mapping, group, reason)
                                                           : map_aos(mapping, group, arena, reason);
        if (!mapped || !layout_fits(&cursor, 1, cursor + group->bytes, reason))
            return false;
    }
    mapping->bytes = cursor;
    return true;
}

/* Rows `pitch` bytes apart. */
static bool map_rows(struct mapping *mapping, uint64_t pitch, const char **reason)
{
    const struct array *array = mapping->array;
    uint64_t row_records = array->extent[array->dim_count - 1], row;
    if (!layout_fits(&row, row_records, mapping->groups[0].record_stride, reason))
        return false;
    mapping->row_bytes = pitch;
    if (row <= pitch)
        return layout_fits(&mapping->bytes, array->records / row_records, pitch, reason);
    *reason = "a row of such records is longer than the pitch";
    return false;
}

static bool map_tiles(struct mapping *mapping, struct arena *arena, const char **reason)
{
    const struct array *array = mapping->array;
    uint64_t bytes = mapping->groups[0].record_stride;
    if (mapping->layout.tiled_count != array->dim_count) {
        *reason = arena_printf(arena, "its tiles have %u sides, the array has %u dimensions",
                               mapping->layout.tiled_count, array->dim_count);
        return false;
    }
    for (unsigned d = 0; d < array->dim_count; d++) {
        uint64_t side = mapping->layout.tiled[d], whole;
        (void)checked_round_up_u64(&whole, array->extent[d], side);
        if (!layout_fits(&bytes, bytes, whole, reason))
            return false;
    }
    mapping->bytes = bytes;
    return true;
}

static bool map_pitch(struct mapping *mapping, struct arena *arena, const char **reason)
{
    uint64_t pitch = mapping->layout.pitch, align = mapping->groups[0].record_align;
    if (pitch % align == 0)
        return map_rows(mapping, pitch, reason);
    *reason = arena_printf(arena, "the pitch is no multiple of the record's alignment, %llu bytes",
                           (unsigned long long)align);
    return false;
}

/* What an array's own dimensions and pitch forbid. */
static bool shape_allows(const struct mapping *mapping, const char **reason)
{
    const struct array *array = mapping->array;
    enum layout_kind kind = mapping->layout.kind;
    bool rows = kind == LAYOUT_ROW_MAJOR || kind == LAYOUT_COLUMN_MAJOR || kind == LAYOUT_PITCH || kind == LAYOUT_TILED;
    bool keeps_pitch = kind == LAYOUT_AOS || kind == LAYOUT_ROW_MAJOR || kind == LAYOUT_PITCH;
    if (rows && array->dim_count == 1)
        *reason = "the array has one dimension; its records in order are 'aos'";
    else if (!keeps_pitch && array->pitch != 0)
        *reason = "the array has a pitch, which keeps rows of whole records";
    else
        return true;
    return false;
}

static void describe_only_group(struct mapping *mapping)
{
    mapping->record_stride = mapping->groups[0].record_stride;
    mapping->tile_records = mapping->groups[0].tile_records;
    mapping->tile_bytes = mapping->groups[0].tile_bytes;
}

static bool map_whole_record(struct mapping *mapping, struct arena *arena, const char **reason)
{
    struct group *group = &mapping->groups[0];
    group->layout = mapping->layout;
    layout_store_described(group, arena, mapping->array->record);
    if (!map_groups(mapping, arena, reason))
        return false;
    describe_only_group(mapping);
    switch (mapping->layout.kind) {
    case LAYOUT_AOS:
    case LAYOUT_ROW_MAJOR:
        return mapping->array->pitch == 0 || map_rows(mapping, mapping->array->pitch, reason);
    case LAYOUT_PITCH:
        return map_pitch(mapping, arena, reason);
    case LAYOUT_TILED:
        return map_tiles(mapping, arena, reason);
    case LAYOUT_SOA:
    case LAYOUT_AOSOA:
    case LAYOUT_COLUMN_MAJOR:
    case LAYOUT_SPLIT:
        break;
    }
    return true;
}

bool layout_map(struct mapping **out, struct arena *arena, const struct array *array, const struct layout *layout,
                const char **reason)
{
    struct mapping *mapping = arena_alloc(arena, sizeof(*mapping));
    mapping->array = array;
    mapping->layout = *layout;
    mapping->base = array->offset;
    mapping->base_align = array->align;
    mapping->leaves = arena_array(arena, array->record->leaf_count, sizeof(*mapping->leaves));
    mapping->groups = arena_alloc(arena, sizeof(*mapping->groups));
    mapping->group_count = 1;
    *out = mapping;
    if (!shape_allows(mapping, reason))
        return false;
    if (layout->kind != LAYOUT_SPLIT)
        return map_whole_record(mapping, arena, reason);
    if (!layout_split_groups(mapping, arena, reason) || !map_groups(mapping, arena, reason))
        return false;
    if (mapping->group_count == 1)
        describe_only_group(mapping);
    return true;
}

struct layout layout_default(const struct array *array)
{
    return (struct layout){.kind = array->dim_count > 1 ? LAYOUT_ROW_MAJOR : LAYOUT_AOS};
}

bool layout_is_described(const struct mapping *mapping)
{
    const struct record *record = mapping->array->record;
    if (mapping->record_stride != record->type->size || mapping->row_bytes != mapping->array->pitch)
        return false;
    for (size_t i = 0; i < record->leaf_count; i++)
        if (mapping->leaves[i].offset != record->leaves[i].offset)
            return false;
    return mapping->layout.kind != LAYOUT_COLUMN_MAJOR && mapping->layout.kind != LAYOUT_TILED;
}
