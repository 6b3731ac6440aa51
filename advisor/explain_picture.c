#include <string.h>

#include "explain_internal.h"
#include "layout_find.h"

/* Looks for one place's requests. Of a window's launch any worker may have them, but each is somebody's alone. */
struct search {
    struct explain_instruction *instructions;
    size_t count;
    const struct explain_place *at;
    struct explain_picture *pictures; /* one an instruction */
    const struct explain_launch *launch;
};

static bool is_same(const struct explain_instruction *instruction, const struct score_request *request)
{
    const struct explain_key key = {.access = instruction->access,
                                    .array = instruction->array,
                                    .phase = instruction->phase,
                                    .stores = instruction->stores,
                                    .shared = instruction->shared,
                                    .tail = instruction->tail,
                                    .number = instruction->number};
    return explain_key_is(&key, request);
}

/* The pattern's point on the wanted trips; false where it has none. */
static bool find_point(uint64_t point[LAUNCH_DIMS_MAX], const struct score_request *request,
                       const struct explain_place *at)
{
    memset(point, 0, LAUNCH_DIMS_MAX * sizeof(*point));
    if (request->access == NULL)
        return request->copy_step == at->trips[0];
    for (unsigned i = 0; i < request->loop_count && i < EXPLAIN_LOOPS_MAX; i++) {
        const struct launch_loop *loop = &request->loops[i];
        if (at->trips[i] < loop->first)
            return false;
        uint64_t distance = at->trips[i] - loop->first;
        if (loop->dim == 0 && distance != 0)
            return false;
        if (loop->dim == 0)
            continue;
        const uint64_t count = request->pattern->count[loop->dim];
        if (count <= 1 ? distance != 0 : distance % loop->step != 0 || distance / loop->step >= count)
            return false;
        point[loop->dim] = count <= 1 ? 0 : distance / loop->step;
    }
    return true;
}

static void take_lanes(struct explain_picture *picture, const struct pattern *pattern, unsigned warp,
                       const uint64_t point[LAUNCH_DIMS_MAX])
{
    const unsigned start = warp * WARP_LANES;
    int64_t moved = 0;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        moved += pattern->step[k] * (int64_t)point[k];
    picture->active = start < pattern->threads ? (uint32_t)(pattern->active[start / 64] >> (start % 64)) : 0;
    for (unsigned lane = 0; lane < WARP_LANES && start + lane < pattern->threads; lane++)
        picture->address[lane] = pattern->address[start + lane] + moved;
}

/* The instructions of a group are numbered in a row, but for exchanges, which are few. */
static struct explain_instruction *find_instruction(const struct search *search, const struct score_request *request)
{
    const unsigned first = search->instructions[0].number;
    if (request->phase == PHASE_EXCHANGE) {
        for (size_t i = 0; i < search->count; i++)
            if (is_same(&search->instructions[i], request))
                return &search->instructions[i];
        return NULL;
    }
    if (request->number < first || request->number - first >= search->count)
        return NULL;
    struct explain_instruction *found = &search->instructions[request->number - first];
    return is_same(found, request) ? found : NULL;
}

static void on_request(void *context, unsigned worker, const struct score_request *request)
{
    (void)worker;
    struct search *search = context;
    struct explain_instruction *instruction = find_instruction(search, request);
    uint64_t point[LAUNCH_DIMS_MAX];
    if (instruction == NULL || !find_point(point, request, search->at))
        return;
    struct explain_picture found = {.at = *search->at};
    take_lanes(&found, request->pattern, search->at->warp, point);
    if (found.active == 0)
        return;
    if (request->pattern->shared)
        request_add_shared(&found.counts, found.address, found.active, instruction->width);
    else
        request_add_global(&found.counts, found.address, found.active, instruction->width);
    instruction->picture = &search->pictures[instruction - search->instructions];
    *instruction->picture = found;
}

/* What came in a box that is split comes again. */
static void on_mark(void *context, unsigned worker, unsigned depth)
{
    (void)context;
    (void)worker;
    (void)depth;
}

bool explain_pictures(struct explain_instruction *instructions, const struct explain_group *group,
                      const struct explain_launch *launch, const struct explain_place *at, struct arena *arena,
                      struct diags *diags)
{
    struct search search = {.instructions = instructions + group->first,
                            .count = group->count,
                            .at = at,
                            .pictures = arena_array(arena, group->count, sizeof(struct explain_picture)),
                            .launch = launch};
    const struct score_observer observer = {&search, on_request, on_mark, on_mark};
    const struct score_window window = {at->block, at->warp};
    if (!score_observe(launch->spec, launch->kernel_number, launch->device, launch->chosen, launch->wide, &observer,
                       &window, arena, diags))
        return false;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        struct explain_picture *picture = instructions[i].picture;
        if (picture == NULL || (i != group->focus && i - group->first >= EXPLAIN_DETAILED - 1))
            continue;
        instructions[i].detailed = true;
        if (instructions[i].shared)
            picture->pass_count =
                request_passes(picture->passes, picture->address, picture->active, instructions[i].width);
        else
            explain_sectors(picture, &instructions[i], launch->chosen[instructions[i].array->number], arena);
    }
    return true;
}

const char *explain_field_name(struct arena *arena, const struct array *array, size_t leaf)
{
    const char *path = array->record->leaves[leaf].path;
    if (path[0] == '\0')
        return array->name.text;
    char *name = arena_copy(arena, path, strlen(path));
    size_t length = 0;
    for (bool inside = false; *path != '\0'; path++) {
        inside = inside || *path == '[';
        if (!inside)
            name[length++] = *path;
        inside = inside && *path != ']';
    }
    name[length] = '\0';
    return name;
}

/* Which bytes of a record in C's layout the access names: only a wider piece can carry others. NULL: all that are asked
 * for. */
static const bool *named_bytes(const struct access *access, const struct record *record, struct arena *arena)
{
    if (access == NULL || access->bytes != 0 || access->subscript_count > 0)
        return NULL;
    bool *named = arena_array(arena, record->type->size, sizeof(*named));
    for (size_t i = 0; i < access->selected_count; i++) {
        const struct selected *selected = &access->selected[i];
        memset(named + record->leaves[selected->leaf].offset + selected->inner_offset, 1, selected->size);
    }
    return named;
}

/* Makes the parts of a picture as its bytes name them. */
struct part_maker {
    struct explain_picture *picture;
    const struct mapping *mapping;
    const bool *named;
    size_t capacity;
    unsigned *part_of_leaf; /* plus 1 */
    size_t near;            /* the leaf found last */
    struct arena *arena;
};

static unsigned find_part(struct part_maker *maker, const char *name, bool padding, bool outside)
{
    struct explain_picture *picture = maker->picture;
    for (unsigned i = 0; i < picture->part_count; i++) {
        const struct explain_part *part = &picture->parts[i];
        if (part->padding == padding && part->outside == outside && strcmp(part->name, name) == 0)
            return i;
    }
    picture->parts =
        arena_grow(maker->arena, picture->parts, picture->part_count, &maker->capacity, sizeof(*picture->parts));
    picture->parts[picture->part_count] = (struct explain_part){.name = name, .padding = padding, .outside = outside};
    return (unsigned)picture->part_count++;
}

static void fill_byte(struct explain_byte *byte, struct part_maker *maker, int64_t place, bool asked)
{
    const struct array *array = maker->mapping->array;
    struct layout_byte there;
    byte->use = asked ? USE_WANTED : USE_UNASKED;
    if (place < 0 || (uint64_t)place >= maker->mapping->bytes) {
        byte->part = find_part(maker, "outside", false, true);
    } else if (!layout_find(&there, maker->mapping, (uint64_t)place, maker->near)) {
        byte->part = find_part(maker, "padding", true, false);
        if (asked && maker->named != NULL)
            byte->use = USE_CARRIED;
    } else {
        maker->near = there.leaf;
        if (maker->part_of_leaf[there.leaf] == 0)
            maker->part_of_leaf[there.leaf] =
                find_part(maker, explain_field_name(maker->arena, array, there.leaf), false, false) + 1;
        byte->part = maker->part_of_leaf[there.leaf] - 1;
        if (asked && maker->named != NULL && !maker->named[array->record->leaves[there.leaf].offset + there.offset])
            byte->use = USE_CARRIED;
    }
    maker->picture->parts[byte->part].bytes[byte->use]++;
}

/* Lanes' sectors in ascending order, without repetition. */
static void find_sectors(struct explain_picture *picture, struct arena *arena)
{
    picture->sectors = arena_array(arena, WARP_LANES, sizeof(*picture->sectors));
    for (uint32_t rest = picture->active; rest != 0; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t address = (uint64_t)picture->address[lane] / SECTOR_BYTES * SECTOR_BYTES;
        size_t at = 0;
        while (at < picture->sector_count && picture->sectors[at].address < address)
            at++;
        if (at == picture->sector_count || picture->sectors[at].address != address) {
            memmove(&picture->sectors[at + 1], &picture->sectors[at],
                    (picture->sector_count - at) * sizeof(*picture->sectors));
            picture->sectors[at] = (struct explain_sector){.address = address};
            picture->sector_count++;
        }
        picture->sectors[at].lanes |= UINT32_C(1) << lane;
    }
}

static bool is_asked(const struct explain_picture *picture, uint32_t lanes, int64_t address, unsigned width)
{
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const int64_t from = picture->address[__builtin_ctz(rest)];
        if (address >= from && address < from + (int64_t)width)
            return true;
    }
    return false;
}

void explain_sectors(struct explain_picture *picture, const struct explain_instruction *instruction,
                     const struct option *option, struct arena *arena)
{
    const struct mapping *mapping = option->mapping;
    struct part_maker maker = {
        .picture = picture,
        .mapping = mapping,
        .named = named_bytes(instruction->access, mapping->array->record, arena),
        .part_of_leaf = arena_array(arena, mapping->array->record->leaf_count, sizeof(unsigned)),
        .arena = arena,
    };
    find_sectors(picture, arena);
    for (size_t i = 0; i < picture->sector_count; i++) {
        struct explain_sector *sector = &picture->sectors[i];
        for (unsigned b = 0; b < SECTOR_BYTES; b++) {
            const int64_t address = (int64_t)(sector->address + b);
            fill_byte(&sector->bytes[b], &maker, address - (int64_t)mapping->base,
                      is_asked(picture, sector->lanes, address, instruction->width));
        }
    }
}
