#include "naive_map.h"

#include <string.h>

enum { TILE_SIDE_MAX = 4096 };

uint64_t naive_round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

uint64_t naive_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void add_place(struct map *map, struct arena *arena, uint64_t offset, uint64_t size, uint64_t align)
{
    map->places = arena_grow(arena, map->places, map->place_count, &map->place_capacity, sizeof(*map->places));
    map->places[map->place_count++] = (struct place){.in_record = offset, .size = size, .align = align};
}

/* A vector of three components is three scalars to the machine. */
static void add_vector(struct map *map, struct arena *arena, const struct type *type, uint64_t offset)
{
    if (type->components != 3) {
        add_place(map, arena, offset, type->size, type->align);
        return;
    }
    for (uint64_t i = 0; i < 3; i++)
        add_place(map, arena, offset + i * (type->size / 3), type->size / 3, type->align);
}

static void walk_type(struct map *map, struct arena *arena, const struct type *type, uint64_t offset)
{
    switch (type->kind) {
    case TYPE_SCALAR:
    case TYPE_UNION:
        add_place(map, arena, offset, type->size, type->align);
        break;
    case TYPE_VECTOR:
        add_vector(map, arena, type, offset);
        break;
    case TYPE_STRUCT:
        for (size_t f = 0; f < type->field_count; f++)
            for (uint64_t i = 0; i < type->fields[f].count; i++)
                walk_type(map, arena, type->fields[f].type,
                          offset + type->fields[f].offset + i * type->fields[f].type->size);
        break;
    }
}

/* A member of a stored record: a run of bytes of C's. */
struct run {
    uint64_t from, size, align;
};

struct runs {
    struct run *items;
    size_t count;
};

/* All fields of the record's own; of a record that is no struct, itself. */
static struct runs own_runs(struct arena *arena, const struct type *type)
{
    struct runs runs = {arena_array(arena, type->field_count + 1, sizeof(*runs.items)), 0};
    if (type->kind != TYPE_STRUCT)
        runs.items[runs.count++] = (struct run){0, type->size, type->align};
    for (size_t f = 0; type->kind == TYPE_STRUCT && f < type->field_count; f++) {
        const struct field *field = &type->fields[f];
        runs.items[runs.count++] = (struct run){field->offset, field->type->size * field->count, field->align};
    }
    return runs;
}

/* Follows "box.lo" through struct members without count. */
static bool find_run(struct run *run, const struct type *type, const char *path)
{
    *run = (struct run){0, 0, UINT64_MAX};
    for (;;) {
        size_t length = strcspn(path, ".");
        const struct field *found = NULL;
        for (size_t f = 0; type->kind == TYPE_STRUCT && f < type->field_count; f++)
            if (strncmp(type->fields[f].name.text, path, length) == 0 && type->fields[f].name.text[length] == '\0')
                found = &type->fields[f];
        if (found == NULL)
            return false;
        run->from += found->offset;
        run->size = found->type->size * found->count;
        run->align = found->align < run->align ? found->align : run->align;
        if (path[length] == '\0')
            return true;
        if (found->dim_count > 0)
            return false;
        type = found->type;
        path += length + 1;
    }
}

/* The greatest alignment first, else as it was. */
static void sort_runs(struct runs *runs)
{
    for (size_t i = 1; i < runs->count; i++) {
        for (size_t j = i; j > 0 && runs->items[j].align > runs->items[j - 1].align; j--) {
            struct run swap = runs->items[j];
            runs->items[j] = runs->items[j - 1];
            runs->items[j - 1] = swap;
        }
    }
}

static bool is_in(const struct place *place, const struct run *run)
{
    return place->in_record >= run->from && place->in_record + place->size <= run->from + run->size;
}

/* Lays the members out as a struct of these in this order, of at least that alignment; gives its size. */
static uint64_t store_runs(struct map *map, const struct runs *runs, uint64_t *align)
{
    uint64_t cursor = 0;
    for (size_t r = 0; r < runs->count; r++) {
        const struct run *run = &runs->items[r];
        cursor = naive_round_up(cursor, run->align);
        *align = run->align > *align ? run->align : *align;
        for (size_t l = 0; l < map->place_count; l++)
            if (is_in(&map->places[l], run))
                map->places[l].stored = cursor + map->places[l].in_record - run->from;
        cursor += run->size;
    }
    return naive_round_up(cursor, *align);
}

/* An array of stored records. `described`: they are C's own as long as nothing is reordered. */
static bool place_whole(struct map *map, struct arena *arena, struct part_map *part, struct runs *runs,
                        const struct layout *layout, bool described)
{
    const struct type *type = map->array->record->type;
    uint64_t align = described ? type->align : 1, size = type->size;
    if (described && !layout->reorder) {
        for (size_t l = 0; l < map->place_count; l++)
            map->places[l].stored = map->places[l].in_record;
    } else {
        uint64_t before = described ? size : store_runs(map, runs, &align);
        if (layout->reorder) {
            if (type->kind != TYPE_STRUCT)
                return false;
            sort_runs(runs);
        }
        size = store_runs(map, runs, &align);
        if (layout->reorder && size >= before)
            return false;
    }
    if (layout->align != 0 && layout->align <= align)
        return false;
    part->stride = layout->align == 0 ? size : naive_round_up(size, layout->align);
    part->owned = arena_array(arena, part->stride, sizeof(*part->owned));
    for (size_t l = 0; l < map->place_count; l++) {
        struct place *place = &map->places[l];
        if (&map->parts[place->group] != part)
            continue;
        place->start = part->start + place->stored;
        memset(part->owned + place->stored, true, place->size);
    }
    part->bytes = map->array->records * part->stride;
    return true;
}

/* Visits the leaves of a part in the order of its members. */
static struct place *next_place(struct map *map, const struct part_map *part, const struct runs *runs, size_t *r,
                                size_t *l)
{
    for (; *r < runs->count; ++*r, *l = 0) {
        while (*l < map->place_count) {
            struct place *place = &map->places[(*l)++];
            if (&map->parts[place->group] == part && is_in(place, &runs->items[*r]))
                return place;
        }
    }
    return NULL;
}

static void place_soa(struct map *map, struct part_map *part, const struct runs *runs)
{
    uint64_t cursor = part->start;
    size_t r = 0, l = 0;
    for (struct place *place; (place = next_place(map, part, runs, &r, &l)) != NULL;) {
        place->start = naive_round_up(cursor, map->array->align);
        cursor = place->start + place->size * map->array->records;
    }
    part->bytes = cursor - part->start;
}

static void place_tiles(struct map *map, struct part_map *part, const struct runs *runs, uint64_t tile)
{
    uint64_t cursor = 0, largest = 1;
    size_t r = 0, l = 0;
    part->tile = tile;
    for (struct place *place; (place = next_place(map, part, runs, &r, &l)) != NULL;) {
        place->stored = naive_round_up(cursor, place->align);
        place->start = part->start + place->stored;
        cursor = place->stored + place->size * tile;
        largest = place->align > largest ? place->align : largest;
    }
    part->tile_bytes = naive_round_up(cursor, largest);
    part->bytes = naive_round_up(map->array->records, tile) / tile * part->tile_bytes;
}

static bool place_part(struct map *map, struct arena *arena, struct part_map *part, struct runs *runs,
                       const struct layout *layout, bool described)
{
    part->kind = layout->kind;
    for (size_t l = 0; l < map->place_count; l++)
        part->leaf_count += &map->parts[map->places[l].group] == part;
    switch (layout->kind) {
    case LAYOUT_SOA:
        place_soa(map, part, runs);
        return true;
    case LAYOUT_AOSOA:
        place_tiles(map, part, runs, layout->tile);
        return true;
    case LAYOUT_AOS:
    case LAYOUT_ROW_MAJOR:
    case LAYOUT_COLUMN_MAJOR:
    case LAYOUT_PITCH:
    case LAYOUT_TILED:
        part->kind = LAYOUT_AOS;
        return place_whole(map, arena, part, runs, layout, described);
    case LAYOUT_SPLIT:
        break;
    }
    return false;
}

/* The members of one group, each leaf in them marked as its own. False where a path leads nowhere. */
static bool take_runs(struct map *map, struct arena *arena, struct runs *runs, const struct split_group *group,
                      unsigned number, bool taken[])
{
    *runs = (struct runs){arena_array(arena, group->field_count + 1, sizeof(*runs->items)), 0};
    for (size_t f = 0; f < group->field_count; f++) {
        struct run *run = &runs->items[runs->count++];
        if (!find_run(run, map->array->record->type, group->fields[f]))
            return false;
        for (size_t l = 0; l < map->place_count; l++) {
            if (!is_in(&map->places[l], run))
                continue;
            if (taken[l])
                return false;
            taken[l] = true;
            map->places[l].group = number;
        }
    }
    return true;
}

static bool map_split(struct map *map, struct arena *arena, const struct layout *layout)
{
    if (map->array->record->type->kind != TYPE_STRUCT || map->array->pitch != 0)
        return false;
    unsigned count = 0;
    for (const struct split_group *group = layout->groups; group != NULL; group = group->next)
        count++;
    bool *taken = arena_array(arena, map->place_count + 1, sizeof(*taken));
    struct runs *runs = arena_array(arena, count + 1U, sizeof(*runs));
    map->parts = arena_array(arena, count + 1U, sizeof(*map->parts));
    for (const struct split_group *group = layout->groups; group != NULL; group = group->next, map->part_count++)
        if (!take_runs(map, arena, &runs[map->part_count], group, map->part_count, taken))
            return false;
    for (size_t l = 0; l < map->place_count; l++)
        if (!taken[l])
            return false;
    uint64_t cursor = 0;
    unsigned p = 0;
    for (const struct split_group *group = layout->groups; group != NULL; group = group->next, p++) {
        struct part_map *part = &map->parts[p];
        part->start = naive_round_up(cursor, map->array->align);
        if (!place_part(map, arena, part, &runs[p], &group->layout, false))
            return false;
        cursor = part->start + part->bytes;
    }
    map->bytes = cursor;
    map->whole = map->part_count == 1 && map->parts[0].kind == LAYOUT_AOS;
    return true;
}

/* Records kept whole in more dimensions: what is between rows, tiles, columns. */
static bool shape_whole(struct map *map, const struct layout *layout)
{
    const struct array *array = map->array;
    struct part_map *part = &map->parts[0];
    unsigned last = array->dim_count - 1;
    bool many = array->dim_count > 1;
    uint64_t row = layout->kind == LAYOUT_PITCH ? layout->pitch : array->pitch;
    switch (layout->kind) {
    case LAYOUT_COLUMN_MAJOR:
        for (unsigned d = 0; d < array->dim_count; d++)
            map->order[d] = d;
        return many && array->pitch == 0;
    case LAYOUT_TILED:
        if (!many || array->pitch != 0 || layout->tiled_count != array->dim_count)
            return false;
        part->bytes = part->stride;
        for (unsigned d = 0; d < array->dim_count; d++) {
            map->side[d] = layout->tiled[d];
            if (map->side[d] < 1 || map->side[d] > TILE_SIDE_MAX)
                return false;
            part->bytes *= naive_round_up(array->extent[d], map->side[d]);
        }
        return true;
    case LAYOUT_PITCH:
        if (!many || row % array->record->type->align != 0)
            return false;
        break;
    case LAYOUT_ROW_MAJOR:
        if (!many)
            return false;
        break;
    case LAYOUT_AOS:
        break;
    case LAYOUT_SOA:
    case LAYOUT_AOSOA:
    case LAYOUT_SPLIT:
        return false;
    }
    map->row = row;
    if (row == 0)
        return true;
    part->bytes = array->records / array->extent[last] * row;
    return array->extent[last] * part->stride <= row;
}

bool naive_map(struct map *map, struct arena *arena, const struct array *array, const struct candidate *candidate)
{
    static const struct candidate described = {.layout = {.kind = LAYOUT_AOS}, .plan = {.kind = PLAN_DIRECT}};
    *map = (struct map){.array = array, .candidate = candidate != NULL ? candidate : &described};
    const struct layout *layout = &map->candidate->layout;
    walk_type(map, arena, array->record->type, 0);
    for (unsigned d = 0; d < array->dim_count; d++)
        map->order[d] = array->dim_count - 1 - d;
    if (layout->kind == LAYOUT_SPLIT)
        return map_split(map, arena, layout);
    map->parts = arena_array(arena, 1, sizeof(*map->parts));
    map->part_count = 1;
    struct runs runs = own_runs(arena, array->record->type);
    if (!place_part(map, arena, &map->parts[0], &runs, layout, true))
        return false;
    map->whole = map->parts[0].kind == LAYOUT_AOS;
    if (map->whole ? !shape_whole(map, layout) : array->pitch != 0)
        return false;
    map->bytes = map->parts[0].bytes;
    return true;
}

static uint64_t row_major(unsigned dims, const uint64_t extent[], const uint64_t index[])
{
    uint64_t number = 0;
    for (unsigned d = 0; d < dims; d++)
        number = number * extent[d] + index[d];
    return number;
}

static uint64_t tiled_record(const struct map *map, const int64_t index[])
{
    const struct array *array = map->array;
    uint64_t tiles[SPEC_DIMS_MAX], tile[SPEC_DIMS_MAX], inside[SPEC_DIMS_MAX], volume = 1;
    for (unsigned d = 0; d < array->dim_count; d++) {
        tiles[d] = naive_round_up(array->extent[d], map->side[d]) / map->side[d];
        tile[d] = (uint64_t)index[d] / map->side[d];
        inside[d] = (uint64_t)index[d] % map->side[d];
        volume *= map->side[d];
    }
    return row_major(array->dim_count, tiles, tile) * volume + row_major(array->dim_count, map->side, inside);
}

static uint64_t record_number(const struct map *map, const int64_t index[])
{
    const struct array *array = map->array;
    if (map->side[0] != 0)
        return tiled_record(map, index);
    uint64_t number = 0;
    for (unsigned d = array->dim_count; d-- > 0;)
        number = number * array->extent[map->order[d]] + (uint64_t)index[map->order[d]];
    return number;
}

uint64_t naive_record(const struct map *map, const struct part_map *part, const int64_t index[])
{
    const struct array *array = map->array;
    uint64_t number = record_number(map, index);
    if (map->row == 0)
        return number * part->stride;
    uint64_t last = array->extent[array->dim_count - 1];
    return number / last * map->row + number % last * part->stride;
}

uint64_t naive_leaf_byte(const struct map *map, const int64_t index[], size_t leaf, uint64_t within)
{
    const struct place *place = &map->places[leaf];
    const struct part_map *part = &map->parts[place->group];
    uint64_t record = record_number(map, index);
    if (part->kind == LAYOUT_AOS)
        return naive_record(map, part, index) + place->start + within;
    if (part->tile == 0)
        return place->start + record * place->size + within;
    return place->start + record / part->tile * part->tile_bytes + record % part->tile * place->size + within;
}
