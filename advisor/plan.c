#include "plan.h"

#include <string.h>

enum { WIDEST = 16 };

static uint64_t largest_power_of_two(uint64_t multiple)
{
    return multiple & (~multiple + 1);
}

unsigned plan_alignment(const struct mapping *mapping, size_t leaf, uint64_t offset, uint64_t stride)
{
    uint64_t all = WIDEST | mapping->base_align | mapping->base | offset | stride | layout_jumps(mapping, leaf);
    return (unsigned)largest_power_of_two(all);
}

unsigned plan_vector_bytes(const struct mapping *mapping, const struct group *group)
{
    if (group->record_stride == 0)
        return 1;
    size_t leaf = group->member_count > 0 ? group->members[0].leaf : 0;
    return plan_alignment(mapping, leaf, group->offset, group->record_stride);
}

/* A list that grows in the arena. */
struct list {
    struct arena *arena;
    struct instruction *items;
    size_t count, capacity;
};

static void list_add(struct list *list, struct instruction instruction)
{
    list->items = arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = instruction;
}

/* The instruction for all of a selected scalar, with its subscripts as terms. */
static bool select_whole(struct instruction *out, struct arena *arena, const struct mapping *mapping,
                         const struct access *access, const struct selected *selected, const char **reason)
{
    const struct placement *place = &mapping->leaves[selected->leaf];
    struct instruction_term *terms = arena_array(arena, selected->subscript_count, sizeof(*terms));
    for (size_t i = 0; i < selected->subscript_count; i++) {
        const struct subscript *subscript = &selected->subscripts[i];
        terms[i].subscript = (unsigned)(subscript - access->subscripts);
        if (layout_subscript_stride(&terms[i].stride, mapping, selected, subscript))
            continue;
        *reason = "the elements of a subscripted member are not evenly spaced in it";
        return false;
    }
    *out = (struct instruction){
        .offset = place->offset + selected->inner_offset,
        .stride = place->stride,
        .width = (unsigned)selected->size,
        .leaf = selected->leaf,
        .record_offset = mapping->array->record->leaves[selected->leaf].offset + selected->inner_offset,
        .terms = terms,
        .term_count = selected->subscript_count,
    };
    return true;
}

/* What alignment an instruction's addresses are sure to have, its terms included. */
static unsigned instruction_alignment(const struct mapping *mapping, const struct instruction *instruction)
{
    uint64_t all = plan_alignment(mapping, instruction->leaf, instruction->offset, instruction->stride);
    for (size_t i = 0; i < instruction->term_count; i++)
        all |= instruction->terms[i].stride;
    return (unsigned)largest_power_of_two(all);
}

/* Adds an instruction in pieces of at most `piece` bytes, ascending: a scalar of a packed record is not aligned. */
static void add_in_pieces(struct list *list, struct instruction instruction, unsigned piece)
{
    unsigned width = instruction.width;
    if (piece < width)
        instruction.width = piece;
    for (unsigned done = 0; done < width; done += instruction.width) {
        list_add(list, instruction);
        instruction.offset += instruction.width;
        instruction.record_offset += instruction.width;
    }
}

/* `bytes`: one instruction of that width at the start of the selection. Where it is misaligned depends on the index;
 * the counting looks at every address. */
static bool add_fixed_width(struct list *list, const struct mapping *mapping, const struct access *access,
                            const char **reason)
{
    struct instruction instruction;
    if (!select_whole(&instruction, list->arena, mapping, access, &access->selected[0], reason))
        return false;
    instruction.width = (unsigned)access->bytes;
    list_add(list, instruction);
    return true;
}

/* One instruction a selected scalar of this group; `group` NULL: of all. */
static bool add_scalars(struct list *list, const struct mapping *mapping, const struct group *group,
                        const struct access *access, const char **reason)
{
    for (size_t i = 0; i < access->selected_count; i++) {
        struct instruction instruction;
        unsigned number = mapping->leaves[access->selected[i].leaf].group;
        if (group != NULL && group != &mapping->groups[number])
            continue;
        if (!select_whole(&instruction, list->arena, mapping, access, &access->selected[i], reason))
            return false;
        add_in_pieces(list, instruction, instruction_alignment(mapping, &instruction));
    }
    return true;
}

static bool add_direct(struct list *list, const struct mapping *mapping, const struct access *access,
                       const char **reason)
{
    return access->bytes != 0 ? add_fixed_width(list, mapping, access, reason)
                              : add_scalars(list, mapping, NULL, access, reason);
}

/* Which bytes of a stored record an access touches, and which it may store: those and padding. */
struct byte_flags {
    bool *touched;
    bool *storable;
};

static struct byte_flags flags_of(struct arena *arena, const struct group *group)
{
    struct byte_flags flags = {arena_array(arena, group->record_stride, 1),
                               arena_array(arena, group->record_stride, 1)};
    for (uint64_t i = 0; i < group->record_stride; i++)
        flags.storable[i] = !group->owned[i];
    return flags;
}

static void flag_bytes(const struct byte_flags *flags, const struct mapping *mapping, const struct group *group,
                       const struct access *access)
{
    for (size_t i = 0; i < access->selected_count; i++) {
        const struct selected *selected = &access->selected[i];
        const struct placement *place = &mapping->leaves[selected->leaf];
        uint64_t from = place->offset - group->offset + selected->inner_offset;
        if (&mapping->groups[place->group] != group)
            continue;
        memset(flags->touched + from, 1, selected->size);
        memset(flags->storable + from, 1, selected->size);
    }
}

static bool any_flag(const bool *flags, unsigned count)
{
    return memchr(flags, 1, count) != NULL;
}

static bool all_flags(const bool *flags, unsigned count)
{
    return memchr(flags, 0, count) == NULL;
}

/* The first leaf in the stored record that ends after byte `from` of it. */
static size_t leaf_at(const struct mapping *mapping, const struct group *group, uint64_t from)
{
    const struct record *record = mapping->array->record;
    size_t best = record->leaf_count;
    for (size_t i = 0; i < record->leaf_count; i++) {
        const struct placement *place = &mapping->leaves[i];
        if (&mapping->groups[place->group] != group || place->offset + record->leaves[i].size <= group->offset + from)
            continue;
        if (best == record->leaf_count || place->offset < mapping->leaves[best].offset)
            best = i;
    }
    return best;
}

/* A piece of the record: whole where the access may have all of it, in halves otherwise. `allowed` NULL: a load, which
 * may cover anything. */
static void add_piece(struct list *list, const struct mapping *mapping, const struct group *group, const bool *touched,
                      const bool *allowed, uint64_t from, unsigned width)
{
    if (!any_flag(touched + from, width))
        return;
    if (allowed != NULL && !all_flags(allowed + from, width)) {
        add_piece(list, mapping, group, touched, allowed, from, width / 2);
        add_piece(list, mapping, group, touched, allowed, from + width / 2, width / 2);
        return;
    }
    list_add(list, (struct instruction){.offset = group->offset + from,
                                        .stride = group->record_stride,
                                        .width = width,
                                        .leaf = leaf_at(mapping, group, from),
                                        .record_offset = from});
}

static void add_group_pieces(struct list *list, const struct mapping *mapping, const struct group *group,
                             const struct byte_flags *flags, bool store)
{
    unsigned width = plan_vector_bytes(mapping, group);
    for (uint64_t from = 0; from < group->record_stride; from += width)
        add_piece(list, mapping, group, flags->touched, store ? flags->storable : NULL, from, width);
}

size_t plan_piece_stores(struct instruction **out, struct arena *arena, const struct mapping *mapping,
                         const struct access *const accesses[], size_t count)
{
    struct list list = {.arena = arena};
    for (unsigned g = 0; g < mapping->group_count; g++) {
        const struct group *group = &mapping->groups[g];
        if (plan_vector_bytes(mapping, group) < 2)
            continue;
        struct byte_flags flags = flags_of(arena, group);
        for (size_t i = 0; i < count; i++)
            flag_bytes(&flags, mapping, group, accesses[i]);
        add_group_pieces(&list, mapping, group, &flags, true);
    }
    *out = list.items;
    return list.count;
}

/* Whether every piece of this width with a touched byte may be stored whole. */
static bool may_store_pieces(const struct byte_flags *flags, uint64_t bytes, unsigned width)
{
    for (uint64_t from = 0; from < bytes; from += width)
        if (any_flag(flags->touched + from, width) && !all_flags(flags->storable + from, width))
            return false;
    return true;
}

/* The touched pieces as an exchange: of the widest width that they can all have. False where there is nothing to
 * exchange, or too much for a thread's registers. */
static bool add_exchange(struct list *list, const struct mapping *mapping, const struct group *group,
                         const struct byte_flags *flags, bool store)
{
    unsigned width = plan_vector_bytes(mapping, group), count = 0;
    while (store && width > 1 && !may_store_pieces(flags, group->record_stride, width))
        width /= 2;
    uint64_t *offsets = arena_array(list->arena, group->record_stride / width, sizeof(*offsets));
    for (uint64_t from = 0; from < group->record_stride; from += width)
        if (any_flag(flags->touched + from, width))
            offsets[count++] = from;
    if (count < 2 || (uint64_t)count * width > EXCHANGE_BYTES_MAX)
        return false;
    struct exchange *exchange = arena_alloc(list->arena, sizeof(*exchange));
    *exchange = (struct exchange){count, offsets};
    for (unsigned i = 0; i < count; i++)
        list_add(list, (struct instruction){.offset = group->offset + offsets[i],
                                            .stride = group->record_stride,
                                            .width = width,
                                            .leaf = leaf_at(mapping, group, offsets[i]),
                                            .record_offset = offsets[i],
                                            .exchange = exchange,
                                            .piece = i});
    return true;
}

/* Group by group: in pieces where that is more than bytes, else scalar by scalar. `together`: pieces are exchanged
 * where they can be. */
static bool add_vector(struct list *list, const struct mapping *mapping, const struct access *access, bool store,
                       bool together, const char **reason)
{
    for (unsigned g = 0; g < mapping->group_count; g++) {
        const struct group *group = &mapping->groups[g];
        if (plan_vector_bytes(mapping, group) < 2) {
            if (!add_scalars(list, mapping, group, access, reason))
                return false;
            continue;
        }
        const struct byte_flags flags = flags_of(list->arena, group);
        flag_bytes(&flags, mapping, group, access);
        if (!together || !add_exchange(list, mapping, group, &flags, store))
            add_group_pieces(list, mapping, group, &flags, store);
    }
    return true;
}

uint64_t plan_exchange_bytes(const struct instruction *instruction)
{
    enum { LANES = 32 };
    const struct exchange *exchange = instruction->exchange;
    return exchange == NULL ? 0 : (uint64_t)LANES * (exchange->count | 1) * instruction->width;
}

/* One selected scalar of `records` neighbouring records where they are side by side: in the widest instructions. */
static void add_side_by_side(struct list *list, struct instruction instruction, unsigned records)
{
    unsigned size = instruction.width, total = size * records;
    instruction.width = total < WIDEST ? total : WIDEST;
    for (unsigned done = 0; done < total; done += instruction.width) {
        instruction.record = done / size;
        list_add(list, instruction);
        instruction.offset += instruction.width;
    }
}

/* Elsewhere (a member of a union, a component of a vector): record after record. */
static void add_one_by_one(struct list *list, const struct mapping *mapping, struct instruction instruction,
                           unsigned records)
{
    unsigned piece = instruction_alignment(mapping, &instruction);
    for (unsigned i = 0; i < records; i++) {
        instruction.record = i;
        add_in_pieces(list, instruction, piece);
        instruction.offset += instruction.stride;
    }
}

static bool add_wide(struct list *list, const struct mapping *mapping, const struct access *access, unsigned records,
                     const char **reason)
{
    for (size_t i = 0; i < access->selected_count; i++) {
        struct instruction instruction;
        if (!select_whole(&instruction, list->arena, mapping, access, &access->selected[i], reason))
            return false;
        if (instruction.stride != instruction.width) {
            add_one_by_one(list, mapping, instruction, records);
            continue;
        }
        struct instruction start = instruction;
        start.stride *= records;
        unsigned widest = instruction.width * records < WIDEST ? instruction.width * records : WIDEST;
        *reason = "four neighbouring elements do not start on the alignment of one wide access";
        if (instruction_alignment(mapping, &start) < widest)
            return false;
        add_side_by_side(list, instruction, records);
    }
    return true;
}

static bool plan_list(struct list *list, const struct mapping *mapping, const struct access *access,
                      const struct plan *plan, bool store, const char **reason)
{
    switch (plan->kind) {
    case PLAN_VECTOR:
    case PLAN_SHUFFLE:
        if (access->subscript_count > 0)
            return add_direct(list, mapping, access, reason);
        return add_vector(list, mapping, access, store, plan->kind == PLAN_SHUFFLE, reason);
    case PLAN_WIDE:
        return add_wide(list, mapping, access, plan->records, reason);
    case PLAN_STAGED:
    case PLAN_DIRECT:
        return add_direct(list, mapping, access, reason);
    }
    return false;
}

static unsigned widest_vector_bytes(const struct mapping *mapping)
{
    unsigned widest = 0;
    for (unsigned g = 0; g < mapping->group_count; g++) {
        unsigned bytes = plan_vector_bytes(mapping, &mapping->groups[g]);
        widest = mapping->groups[g].record_stride != 0 && bytes > widest ? bytes : widest;
    }
    return widest;
}

static bool plan_serves(const struct mapping *mapping, const struct access *access, const struct plan *plan,
                        const char **reason)
{
    const bool pieces = plan->kind == PLAN_VECTOR || plan->kind == PLAN_SHUFFLE;
    if (plan->kind == PLAN_DIRECT)
        return true;
    if (access->bytes != 0)
        *reason = "an access sets the width of its instruction with 'bytes', which only 'direct' honours";
    else if (pieces && widest_vector_bytes(mapping) == 0)
        *reason = "vector pieces need whole records, which this layout takes apart";
    else if (pieces && widest_vector_bytes(mapping) < 2)
        *reason = "no piece of 2 or more bytes divides the record's stride and the array's base";
    else if (access->op == ACCESS_ATOMIC && plan->kind != PLAN_WIDE)
        *reason = "an atomic is one instruction a scalar";
    else if (access->op == ACCESS_ATOMIC)
        *reason = "an atomic cannot cover neighbouring records";
    else
        return true;
    return false;
}

bool plan_instructions(struct instructions *out, struct arena *arena, const struct mapping *mapping,
                       const struct access *access, const struct plan *plan, const char **reason)
{
    *out = (struct instructions){0};
    if (!plan_serves(mapping, access, plan, reason))
        return false;
    struct list loads = {.arena = arena}, stores = {.arena = arena};
    if (access->op != ACCESS_WRITE && !plan_list(&loads, mapping, access, plan, false, reason))
        return false;
    bool stored = access->op == ACCESS_WRITE || access->op == ACCESS_UPDATE;
    if (stored && !plan_list(&stores, mapping, access, plan, true, reason))
        return false;
    *out = (struct instructions){
        .loads = loads.items, .load_count = loads.count, .stores = stores.items, .store_count = stores.count};
    return true;
}
