#include <string.h>

#include "checked.h"
#include "layout_internal.h"

/* The first leaf at or after `offset`: leaves ascend. */
static size_t leaf_from(const struct record *record, uint64_t offset)
{
    size_t low = 0, high = record->leaf_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (record->leaves[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct member layout_member(const struct record *record, const char *path, const struct field *field, uint64_t align,
                            uint64_t record_offset)
{
    size_t first = leaf_from(record, record_offset);
    size_t past = leaf_from(record, record_offset + field->type->size * field->count);
    return (struct member){.path = path,
                           .field = field,
                           .align = align,
                           .record_offset = record_offset,
                           .leaf = first,
                           .leaf_count = past - first};
}

static struct member *described_members(struct arena *arena, const struct record *record)
{
    const struct type *type = record->type;
    struct member *members = arena_array(arena, type->field_count + 1, sizeof(*members));
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        members[i] = layout_member(record, field->name.text, field, field->align, field->offset);
        members[i].offset = field->offset;
    }
    return members;
}

static bool any_packed(const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].align < members[i].field->type->align)
            return true;
    return false;
}

void layout_store_described(struct group *group, struct arena *arena, const struct record *record)
{
    const struct type *type = record->type;
    group->record_align = type->align;
    group->record_size = type->size;
    if (type->kind != TYPE_STRUCT)
        return;
    struct member *members = described_members(arena, record);
    group->members = members;
    group->member_count = type->field_count;
    group->packed = any_packed(members, type->field_count);
}

void layout_store_members(struct group *group, struct member *members, size_t count, uint64_t align_least)
{
    uint64_t cursor = 0, align = align_least;
    for (size_t i = 0; i < count; i++) {
        const struct field *field = members[i].field;
        /* A record's size is bounded when its type is checked: no sum of its fields overflows. */
        (void)checked_round_up_u64(&members[i].offset, cursor, members[i].align);
        cursor = members[i].offset + field->type->size * field->count;
        align = members[i].align > align ? members[i].align : align;
    }
    (void)checked_round_up_u64(&group->record_size, cursor, align);
    group->record_align = align;
    group->members = members;
    group->member_count = count;
    group->packed = any_packed(members, count);
}

/* Insertion keeps members of equal alignment in their order. */
static void sort_by_align(struct member *members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct member member = members[i];
        size_t at = i;
        for (; at > 0 && members[at - 1].align < member.align; at--)
            members[at] = members[at - 1];
        members[at] = member;
    }
}

bool layout_reorder(struct group *group, struct arena *arena, const char **reason)
{
    uint64_t size = group->record_size, align = group->record_align;
    size_t count = group->member_count;
    if (count == 0) {
        *reason = "the record has no fields to put in another order";
        return false;
    }
    struct member *members = arena_array(arena, count, sizeof(*members));
    memcpy(members, group->members, count * sizeof(*members));
    sort_by_align(members, count);
    layout_store_members(group, members, count, align);
    if (group->record_size < size)
        return true;
    *reason = arena_printf(arena, "the fields by alignment take %llu bytes, as they do in their own order",
                           (unsigned long long)size);
    return false;
}
