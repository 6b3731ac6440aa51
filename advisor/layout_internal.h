/* What layout's files share: how a group's stored record comes about, and the groups of a split. */
#ifndef SW_LAYOUT_INTERNAL_H
#define SW_LAYOUT_INTERNAL_H

#include "layout.h"

/* Storage stays below 2^47 bytes, the reach of a GPU's virtual addresses; all later products of places fit with it. */
#define STORAGE_BYTES_MAX (UINT64_C(1) << 47)

/* *out = count * bytes; false and the reason where storage cannot be that large. */
bool layout_fits(uint64_t *out, uint64_t count, uint64_t bytes, const char **reason);

/* Gives the group all of the record as C has it: its fields in order, its size and alignment. */
void layout_store_described(struct group *group, struct arena *arena, const struct record *record);

/* Lays out the group's members, as C would a struct of them; `align_least` is the least alignment it is to have. */
void layout_store_members(struct group *group, struct member *members, size_t count, uint64_t align_least);

/* aos(reorder): the members with the greatest alignment first. False and the reason where that removes no hole. */
bool layout_reorder(struct group *group, struct arena *arena, const char **reason);

/* The groups that split(...) names, their members and stored records; nothing is placed yet. */
bool layout_split_groups(struct mapping *mapping, struct arena *arena, const char **reason);

/* The member that `field` is, with its leaves. */
struct member layout_member(const struct record *record, const char *path, const struct field *field, uint64_t align,
                            uint64_t record_offset);

#endif
