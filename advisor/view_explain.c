#include "view_explain.h"

#include <ctype.h>
#include <string.h>

#include "text.h"
#include "view.h"
#include "view_fields.h"
#include "view_put.h"

/* A field's letter is of its name where it can be. */
struct sign {
    const char *name;
    char letter; /* '?' where all are taken */
    unsigned color;
};

struct signs {
    struct sign *items;
    size_t count;
    bool taken[26];
};

struct maker {
    const struct explain *explain;
    struct signs signs;
    struct arena arena;
};

static bool is_shown(const struct explain *explain, const char *name)
{
    for (size_t i = 0; i < explain->instruction_count; i++) {
        const struct explain_picture *picture = explain->instructions[i].picture;
        for (size_t p = 0; picture != NULL && p < picture->part_count; p++)
            if (!picture->parts[p].padding && !picture->parts[p].outside && strcmp(picture->parts[p].name, name) == 0)
                return true;
    }
    return false;
}

static char take_letter(struct signs *signs, const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        const int lower = tolower((unsigned char)*c);
        if (lower < 'a' || lower > 'z' || signs->taken[lower - 'a'])
            continue;
        signs->taken[lower - 'a'] = true;
        return (char)lower;
    }
    for (int i = 0; i < 26; i++) {
        if (signs->taken[i])
            continue;
        signs->taken[i] = true;
        return (char)('a' + i);
    }
    return '?';
}

static const struct sign *find_sign(const struct signs *signs, const char *name)
{
    for (size_t i = 0; i < signs->count; i++)
        if (strcmp(signs->items[i].name, name) == 0)
            return &signs->items[i];
    return NULL;
}

/* Fields in the order of the record, so that letters do not depend on what is asked first. */
static void make_signs(struct maker *maker)
{
    const struct view_fields fields = view_fields_of(maker->explain->access->array, &maker->arena);
    struct signs *signs = &maker->signs;
    signs->items = arena_array(&maker->arena, fields.count + 1, sizeof(*signs->items));
    for (size_t i = 0; i < fields.count; i++)
        if (is_shown(maker->explain, fields.names[i]))
            signs->items[signs->count++] =
                (struct sign){fields.names[i], take_letter(signs, fields.names[i]), (unsigned)i};
}

static void put_counts(json_t *object, const struct counts *counts)
{
    put_number(object, "instructions", counts->instructions);
    put_number(object, "requests", counts->requests);
    put_number(object, "sectors", counts->sectors);
    put_number(object, "ideal_sectors", counts->ideal_sectors);
    put_number(object, "lines", counts->lines);
    put_number(object, "asked_bytes", counts->asked_bytes);
    put_number(object, "unique_bytes", counts->unique_bytes);
    put_number(object, "wavefronts", counts->wavefronts);
    put_number(object, "conflicts", counts->conflicts);
    put_ratio(object, "efficiency", (double)counts->unique_bytes, (double)SECTOR_BYTES * (double)counts->sectors);
}

static json_t *make_lanes(uint32_t lanes)
{
    json_t *list = json_array();
    for (; lanes != 0; lanes &= lanes - 1)
        add(list, json_integer(__builtin_ctz(lanes)));
    return list;
}

static const char *use_name(enum explain_use use)
{
    switch (use) {
    case USE_WANTED:
        return "wanted";
    case USE_CARRIED:
        return "carried";
    case USE_OTHERS:
        return "others";
    case USE_UNASKED:
        return "wasted";
    }
    return "";
}

static void put_sign(struct maker *maker, json_t *object, const struct explain_part *part)
{
    const struct sign *sign = part->padding || part->outside ? NULL : find_sign(&maker->signs, part->name);
    const bool field = !part->padding && !part->outside;
    const char letter[2] = {sign != NULL ? sign->letter : field ? '?' : part->outside ? '.' : '-', '\0'};
    put_text(object, "field", part->name);
    put_text(object, "letter", letter);
    if (field)
        put_number(object, "color", sign != NULL ? sign->color : VIEW_FIELDS_MAX);
}

/* Bytes that are alike and neighbours. */
static json_t *make_runs(struct maker *maker, const struct explain_picture *picture,
                         const struct explain_sector *sector)
{
    json_t *runs = json_array();
    for (unsigned from = 0, to; from < SECTOR_BYTES; from = to) {
        const struct explain_byte *byte = &sector->bytes[from];
        for (to = from + 1;
             to < SECTOR_BYTES && sector->bytes[to].part == byte->part && sector->bytes[to].use == byte->use; to++)
            continue;
        json_t *run = json_object();
        put_number(run, "from", from);
        put_number(run, "bytes", to - from);
        put_sign(maker, run, &picture->parts[byte->part]);
        put_text(run, "use", use_name(byte->use));
        add(runs, run);
    }
    return runs;
}

static json_t *make_sectors(struct maker *maker, const struct explain_picture *picture)
{
    json_t *sectors = json_array();
    for (size_t i = 0; i < picture->sector_count; i++) {
        const struct explain_sector *sector = &picture->sectors[i];
        json_t *object = json_object();
        put_number(object, "address", sector->address);
        put_number(object, "line", sector->address / LINE_BYTES * LINE_BYTES);
        put(object, "lanes", make_lanes(sector->lanes));
        put(object, "runs", make_runs(maker, picture, sector));
        add(sectors, object);
    }
    return sectors;
}

static uint64_t part_bytes(const struct explain_part *part)
{
    uint64_t sum = 0;
    for (unsigned use = 0; use < EXPLAIN_USES; use++)
        sum += part->bytes[use];
    return sum;
}

/* What is wanted comes first, then what is moved for nothing, the most first; then by the order in memory. */
static bool comes_before(const struct explain_part *a, const struct explain_part *b)
{
    if (a->bytes[USE_WANTED] != b->bytes[USE_WANTED])
        return a->bytes[USE_WANTED] > b->bytes[USE_WANTED];
    return part_bytes(a) > part_bytes(b);
}

static json_t *make_fields(struct maker *maker, const struct explain_picture *picture)
{
    json_t *fields = json_array();
    bool *done = arena_array(&maker->arena, picture->part_count, sizeof(*done));
    for (size_t n = 0; n < picture->part_count; n++) {
        size_t best = picture->part_count;
        for (size_t i = 0; i < picture->part_count; i++)
            if (!done[i] && (best == picture->part_count || comes_before(&picture->parts[i], &picture->parts[best])))
                best = i;
        const struct explain_part *part = &picture->parts[best];
        done[best] = true;
        json_t *object = json_object();
        put_sign(maker, object, part);
        put_flag(object, "padding", part->padding);
        put_flag(object, "outside", part->outside);
        put_number(object, "bytes", part_bytes(part));
        for (unsigned use = 0; use < EXPLAIN_USES; use++) {
            char key[32];
            (void)strcpy(key, use_name((enum explain_use)use));
            put_number(object, strcat(key, "_bytes"), part->bytes[use]);
        }
        add(fields, object);
    }
    return fields;
}

/* The lanes of a pass that want a word of the bank. */
static uint32_t bank_lanes(const struct explain_picture *picture, uint32_t lanes, unsigned width, unsigned bank)
{
    uint32_t found = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const int64_t first = picture->address[lane];
        for (int64_t at = first; at < first + (int64_t)width; at += SHARED_WORD_BYTES)
            if (request_bank(at) == bank)
                found |= UINT32_C(1) << lane;
    }
    return found;
}

static json_t *make_passes(const struct explain_picture *picture, unsigned width)
{
    json_t *passes = json_array();
    for (unsigned i = 0; i < picture->pass_count; i++) {
        const struct request_pass *pass = &picture->passes[i];
        json_t *object = json_object(), *banks = json_array();
        put(object, "lanes", make_lanes(pass->lanes));
        put_number(object, "wavefronts", pass->wavefronts);
        for (unsigned bank = 0; bank < SHARED_BANKS; bank++) {
            json_t *one = json_object();
            put_number(one, "bank", bank);
            put_number(one, "words", pass->words[bank]);
            put(one, "lanes", make_lanes(bank_lanes(picture, pass->lanes, width, bank)));
            add(banks, one);
        }
        put(object, "banks", banks);
        add(passes, object);
    }
    return passes;
}

static json_t *make_place(const struct explain_instruction *instruction, const struct explain_place *place,
                          unsigned block_warps)
{
    json_t *object = json_object(), *trips = json_array();
    put_number(object, "block", place->block);
    put_number(object, "warp", place->warp);
    put_number(object, "launch_warp", place->block * block_warps + place->warp);
    for (unsigned i = 0; i < instruction->loop_count; i++) {
        json_t *trip = json_object();
        put_text(trip, "loop", instruction->loops[i] == NULL ? "copy" : instruction->loops[i]->name.text);
        put_number(trip, "trip", place->trips[i]);
        add(trips, trip);
    }
    put(object, "trips", trips);
    return object;
}

static json_t *make_picture(struct maker *maker, const struct explain_instruction *instruction)
{
    const struct explain_picture *picture = instruction->picture;
    json_t *object = json_object(), *lanes = json_array();
    put(object, "at", make_place(instruction, &picture->at, maker->explain->block_warps));
    put_number(object, "active_lanes", (uint64_t)__builtin_popcount(picture->active));
    put_counts(object, &picture->counts);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        json_t *one = json_object();
        const bool active = (picture->active >> lane & 1) != 0;
        put_number(one, "lane", lane);
        put_flag(one, "active", active);
        put(one, "address", active ? json_integer(picture->address[lane]) : json_null());
        add(lanes, one);
    }
    put(object, "lanes", lanes);
    if (instruction->shared) {
        put(object, "passes", make_passes(picture, instruction->width));
        return object;
    }
    put(object, "sectors_touched", make_sectors(maker, picture));
    put(object, "fields", make_fields(maker, picture));
    return object;
}

static json_t *make_cost(const struct explain_instruction *instruction, unsigned cost, unsigned block_warps)
{
    json_t *object = json_object();
    put_number(object, "cost", cost);
    put_number(object, "requests", instruction->requests[cost]);
    put(object, "first", make_place(instruction, &instruction->first[cost], block_warps));
    return object;
}

static const char *phase_name(enum phase phase)
{
    switch (phase) {
    case PHASE_THREADS:
        return "threads";
    case PHASE_COPY_IN:
        return "copy-in";
    case PHASE_COPY_OUT:
        return "copy-out";
    case PHASE_EXCHANGE:
        return "exchange";
    }
    return "";
}

static const char *op_name(const struct explain_instruction *instruction)
{
    if (instruction->access != NULL && instruction->access->op == ACCESS_ATOMIC)
        return access_op_name(ACCESS_ATOMIC);
    return access_op_name(instruction->stores ? ACCESS_WRITE : ACCESS_READ);
}

static json_t *make_instruction(struct maker *maker, size_t number)
{
    const struct explain_instruction *instruction = &maker->explain->instructions[number];
    const unsigned block_warps = maker->explain->block_warps;
    json_t *object = json_object(), *costs = json_array();
    put_number(object, "number", number);
    put_text(object, "phase", phase_name(instruction->phase));
    put_text(object, "op", op_name(instruction));
    put_text(object, "space", instruction->shared ? "shared" : "global");
    put_flag(object, "tail", instruction->tail);
    put_text(object, "what", instruction->what);
    put_flag(object, "joined", instruction->instruction != NULL && instruction->instruction->joined);
    put_number(object, "lane_bytes", instruction->width);
    put_text(object, "cost_unit", instruction->shared ? "wavefronts" : "sectors");
    put_counts(object, &instruction->counts);
    for (unsigned cost = 0; cost < EXPLAIN_COSTS; cost++)
        if (instruction->requests[cost] > 0)
            add(costs, make_cost(instruction, cost, block_warps));
    put(object, "worst", make_cost(instruction, instruction->worst, block_warps));
    put(object, "typical", make_cost(instruction, instruction->typical, block_warps));
    put(object, "costs", costs);
    put(object, "picture", !instruction->detailed ? json_null() : make_picture(maker, instruction));
    return object;
}

static json_t *make_group(struct maker *maker, const struct explain_group *group)
{
    json_t *object = json_object(), *instructions = json_array();
    const struct explain_instruction *first = &maker->explain->instructions[group->first];
    put_text(object, "phase", phase_name(first->phase));
    put_text(object, "op", op_name(first));
    put_text(object, "space", first->shared ? "shared" : "global");
    put_flag(object, "tail", first->tail);
    put_number(object, "focus", group->focus - group->first);
    put_number(object, "sectors", group->sectors);
    put_number(object, "distinct_sectors", group->distinct_sectors);
    /* A copy's side in shared memory says nothing unless its lanes collide. */
    const struct counts *focus = &maker->explain->instructions[group->focus].counts;
    put_flag(object, "dull", first->shared && first->phase != PHASE_THREADS && focus->conflicts == 0);
    for (size_t i = 0; i < group->count; i++)
        add(instructions, make_instruction(maker, group->first + i));
    put(object, "instructions", instructions);
    return object;
}

static const json_t *focus_picture(const json_t *group)
{
    const json_t *instructions = json_object_get(group, "instructions");
    const json_t *number = json_object_get(group, "focus");
    return json_object_get(json_array_get(instructions, (size_t)json_integer_value(number)), "picture");
}

/* Says of each group which one before it has the same picture, null where none. */
static void put_alike(json_t *groups)
{
    static const char *const keys[] = {"lanes", "sectors_touched", "passes"};
    for (size_t g = 0; g < json_array_size(groups); g++) {
        json_t *group = json_array_get(groups, g), *alike = json_null();
        const json_t *mine = focus_picture(group);
        for (size_t o = 0; o < g && json_is_null(alike) && json_is_object(mine); o++) {
            const json_t *other = focus_picture(json_array_get(groups, o));
            bool same = json_is_object(other);
            for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && same; k++) {
                const json_t *a = json_object_get(mine, keys[k]), *b = json_object_get(other, keys[k]);
                same = a == b || json_equal(a, b) != 0;
            }
            if (same)
                alike = json_integer((json_int_t)o);
        }
        put(group, "alike", alike);
    }
}

static json_t *make_access(const struct explain *explain)
{
    const struct access *access = explain->access;
    json_t *object = json_object();
    put_number(object, "number", access->number);
    put_number(object, "of", explain->kernel->access_count);
    put_flag(object, "worst", explain->chosen_as_worst);
    put_text(object, "array", access->array->name.text);
    put_text(object, "field", access->field_text.text == NULL ? "" : access->field_text.text);
    put_text(object, "op", access_op_name(access->op));
    put_number(object, "source_line", access->line);
    put_text(object, "candidate", explain->candidate);
    return object;
}

json_t *view_explain(const struct spec *spec, const struct device *device, const struct explain *explain)
{
    struct maker maker = {.explain = explain};
    make_signs(&maker);
    json_t *root = view_root(spec, device, "sectorwise-explain-1");
    put_text(root, "kernel", explain->kernel->name.text);
    put(root, "access", make_access(explain));
    put_number(root, "blocks", explain->blocks);
    put_number(root, "block_warps", explain->block_warps);
    put_number(root, "warps", explain->blocks * explain->block_warps);
    put_number(root, "records_a_thread", explain->wide ? 4 : 1);
    const uint64_t asked = explain->at.block * explain->block_warps + explain->at.warp;
    put(root, "warp", explain->warp_asked ? json_integer((json_int_t)asked) : json_null());
    put_number(root, "focus", explain->focus);
    json_t *groups = json_array();
    for (size_t g = 0; g < explain->group_count; g++)
        add(groups, make_group(&maker, &explain->groups[g]));
    put_alike(groups);
    put(root, "groups", groups);
    arena_free(&maker.arena);
    return root;
}
