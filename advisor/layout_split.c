#include <string.h>

#include "layout_internal.h"
#include "text.h"

/* What finds the members of a split's groups. */
struct splitting {
    struct arena *arena;
    const struct record *record;
    bool *taken; /* a flag a leaf: in a group already */
    const char **reason;
};

static const struct field *find_field(const struct splitting *splitting, const struct type *type, const char *name,
                                      size_t length)
{
    struct text_guess guess = {.wanted = arena_copy(splitting->arena, name, length)};
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name.text, guess.wanted) == 0)
            return &type->fields[i];
    for (size_t i = 0; i < type->field_count; i++)
        text_guess_offer(&guess, type->fields[i].name.text);
    *splitting->reason = arena_printf(splitting->arena, "'%s' has no field '%s'%s%s%s", type->name.text, guess.wanted,
                                      guess.best == NULL ? "" : "; did you mean '",
                                      guess.best == NULL ? "" : guess.best, guess.best == NULL ? "" : "'?");
    return NULL;
}

/* The member at the end of a path like "box.lo". */
static bool find_member(struct member *out, const struct splitting *splitting, const char *path)
{
    const struct type *type = splitting->record->type;
    uint64_t offset = 0, align = UINT64_MAX;
    for (const char *name = path;; name++) {
        size_t length = strcspn(name, ".");
        const struct field *field = find_field(splitting, type, name, length);
        if (field == NULL)
            return false;
        offset += field->offset;
        align = field->align < align ? field->align : align;
        name += length;
        if (*name == '\0') {
            *out = layout_member(splitting->record, path, field, align, offset);
            return true;
        }
        type = field->type;
        if (type->kind == TYPE_STRUCT && field->dim_count == 0)
            continue;
        *splitting->reason = arena_printf(
            splitting->arena, "'%.*s' is no single struct, so that its parts stay together", (int)(name - path), path);
        return false;
    }
}

static bool take_leaves(const struct splitting *splitting, const struct member *member)
{
    for (size_t i = member->leaf; i < member->leaf + member->leaf_count; i++) {
        if (splitting->taken[i]) {
            *splitting->reason =
                arena_printf(splitting->arena, "'%s' is in two groups", splitting->record->leaves[i].path);
            return false;
        }
        splitting->taken[i] = true;
    }
    return true;
}

static bool find_members(struct group *group, const struct splitting *splitting, const struct split_group *named)
{
    struct member *members = arena_array(splitting->arena, named->field_count, sizeof(*members));
    for (size_t i = 0; i < named->field_count; i++)
        if (!find_member(&members[i], splitting, named->fields[i]) || !take_leaves(splitting, &members[i]))
            return false;
    *group = (struct group){.layout = named->layout};
    layout_store_members(group, members, named->field_count, 1);
    return true;
}

static bool all_taken(const struct splitting *splitting)
{
    for (size_t i = 0; i < splitting->record->leaf_count; i++)
        if (!splitting->taken[i]) {
            *splitting->reason =
                arena_printf(splitting->arena, "'%s' is in no group", splitting->record->leaves[i].path);
            return false;
        }
    return true;
}

bool layout_split_groups(struct mapping *mapping, struct arena *arena, const char **reason)
{
    const struct record *record = mapping->array->record;
    struct splitting splitting = {.arena = arena, .record = record, .reason = reason};
    if (record->type->kind != TYPE_STRUCT) {
        *reason = arena_printf(arena, "'%s' is no struct with fields to split", record->type->name.text);
        return false;
    }
    splitting.taken = arena_array(arena, record->leaf_count, sizeof(*splitting.taken));
    mapping->group_count = 0;
    for (const struct split_group *named = mapping->layout.groups; named != NULL; named = named->next)
        mapping->group_count++;
    mapping->groups = arena_array(arena, mapping->group_count, sizeof(*mapping->groups));
    struct group *group = mapping->groups;
    for (const struct split_group *named = mapping->layout.groups; named != NULL; named = named->next)
        if (!find_members(group++, &splitting, named))
            return false;
    return all_taken(&splitting);
}
