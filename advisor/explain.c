#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain_internal.h"
#include "text.h"
#include "wide.h"

uint64_t explain_excess(const struct counts *counts)
{
    return counts->sectors - counts->ideal_sectors + counts->conflicts;
}

/* "drift, energy and 3 more" */
static const char *list_kernels(const struct explain_launch *launch, struct diags *diags)
{
    enum { LISTED = 6 };
    const char *list = "";
    size_t number = 0;
    for (const struct kernel *kernel = launch->spec->kernels; kernel != NULL; kernel = kernel->next, number++)
        if (number < LISTED)
            list = arena_printf(diags->arena, "%s%s%s", list, number == 0 ? "" : ", ", kernel->name.text);
    return number <= LISTED ? list : arena_printf(diags->arena, "%s and %zu more", list, number - LISTED);
}

/* The only kernel, where none is named. */
static bool take_only_kernel(struct explain_launch *launch, struct diags *diags)
{
    const struct name *layout = &launch->spec->name;
    launch->kernel = launch->spec->kernels;
    launch->kernel_number = 0;
    if (launch->kernel != NULL && launch->kernel->next == NULL)
        return true;
    if (launch->kernel == NULL)
        diag_error(diags, "unknown-kernel", layout->where, "'%s' has no kernel to explain", layout->text);
    else
        diag_error(diags, "which-kernel", layout->where, "'%s' has several kernels", layout->text);
    if (launch->kernel != NULL)
        diag_note(diags, "name one of them: %s", list_kernels(launch, diags));
    return false;
}

static bool find_kernel(struct explain_launch *launch, const struct quoted *name, struct diags *diags)
{
    if (name->text == NULL)
        return take_only_kernel(launch, diags);
    struct text_guess guess = {.wanted = name->text};
    launch->kernel_number = 0;
    for (launch->kernel = launch->spec->kernels; launch->kernel != NULL; launch->kernel = launch->kernel->next) {
        if (strcmp(launch->kernel->name.text, name->text) == 0)
            return true;
        text_guess_offer(&guess, launch->kernel->name.text);
        launch->kernel_number++;
    }
    diag_error(diags, "unknown-kernel", name->where, "unknown kernel '%s'", name->text);
    if (guess.best != NULL)
        diag_note(diags, "did you mean '%s'?", guess.best);
    else if (launch->spec->kernels != NULL)
        diag_note(diags, "the description's kernels are %s", list_kernels(launch, diags));
    else
        diag_note(diags, "the description has no kernel");
    return false;
}

static bool check_access_number(const struct explain_launch *launch, const struct explain_query *query,
                                struct diags *diags)
{
    const struct kernel *kernel = launch->kernel;
    if (kernel->access_count == 0) {
        diag_error(diags, "no-access", kernel->name.where, "kernel '%s' accesses no memory", kernel->name.text);
        return false;
    }
    if (query->access < (int64_t)kernel->access_count)
        return true;
    diag_error(diags, "access-number", query->access_where, "kernel '%s' has no access %" PRId64, kernel->name.text,
               query->access);
    diag_note(diags,
              kernel->access_count == 1 ? "it has one, access 0" : "its %u accesses count from 0 in document order",
              kernel->access_count);
    return false;
}

/* The launch's blocks and the warps of one. */
static void measure_launch(struct explain *out, const struct explain_launch *launch)
{
    const struct launch_shape shape = launch->wide ? wide_shape(launch->kernel) : launch_shape_of(launch->kernel);
    out->wide = launch->wide;
    out->blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
    out->block_warps = (unsigned)((launch->kernel->block_threads + WARP_LANES - 1) / WARP_LANES);
}

static bool choose_warp(struct explain *out, const struct explain_query *query, struct diags *diags)
{
    const uint64_t warps = out->blocks * out->block_warps;
    out->warp_asked = query->warp >= 0;
    if (!out->warp_asked)
        return true;
    out->at = (struct score_window){(uint64_t)query->warp / out->block_warps,
                                    (unsigned)((uint64_t)query->warp % out->block_warps)};
    if ((uint64_t)query->warp < warps)
        return true;
    diag_error(diags, "warp-number", query->warp_where, "kernel '%s' has no warp %" PRId64, out->kernel->name.text,
               query->warp);
    diag_note(diags, "its launch has %" PRIu64 " warps, %u a block, which count from 0", warps, out->block_warps);
    return false;
}

static struct counts sum_of(const struct explain_series *series)
{
    struct counts sum = {0};
    for (unsigned cost = 0; cost < EXPLAIN_COSTS; cost++)
        if (!counts_add(&sum, &series->cells[cost].counts, 1))
            sum.sectors = INT64_MAX;
    return sum;
}

/* The access whose requests take most beyond what they must, then most at all. */
static const struct access *costliest_access(const struct explain_launch *launch, const struct explain_tally *tally)
{
    const struct access *best = launch->kernel->accesses[0];
    uint64_t best_excess = 0, best_cost = 0;
    for (unsigned i = 0; i < launch->kernel->access_count; i++) {
        uint64_t excess = 0, cost = 0;
        for (size_t n = 0; n < tally->count; n++) {
            if (tally->series[n].key.access != launch->kernel->accesses[i])
                continue;
            const struct counts sum = sum_of(&tally->series[n]);
            excess += explain_excess(&sum);
            cost += sum.sectors + sum.wavefronts;
        }
        if (excess > best_excess || (excess == best_excess && cost > best_cost)) {
            best = launch->kernel->accesses[i];
            best_excess = excess;
            best_cost = cost;
        }
    }
    return best;
}

/* Whether an instruction belongs to the picture of an access: its own, and the copies that serve it. */
static bool serves_access(const struct explain_key *key, const struct access *access)
{
    if (key->access != NULL)
        return key->access == access;
    return key->array == access->array &&
           (key->phase == PHASE_COPY_IN ? access->op != ACCESS_WRITE : access->op != ACCESS_READ);
}

static const char *leaf_path(const struct array *array, size_t leaf)
{
    const char *path = array->record->leaves[leaf].path;
    return path[0] == '\0' ? array->name.text : path;
}

/* The leaves that `width` bytes at `offset`, counted as in record 0, have bytes of: "x", "x to z". */
static const char *say_leaves(const struct mapping *mapping, size_t leaf, uint64_t offset, unsigned width,
                              struct arena *arena)
{
    const struct record *record = mapping->array->record;
    size_t first = leaf, last = leaf;
    for (size_t i = 0; i < record->leaf_count; i++) {
        const uint64_t at = mapping->leaves[i].offset;
        if (mapping->leaves[i].group != mapping->leaves[leaf].group || at >= offset + width ||
            at + record->leaves[i].size <= offset)
            continue;
        first = at < mapping->leaves[first].offset ? i : first;
        last = at > mapping->leaves[last].offset ? i : last;
    }
    const char *name = leaf_path(mapping->array, first);
    return first == last ? name : arena_printf(arena, "%s to %s", name, leaf_path(mapping->array, last));
}

/* What a piece of one record is: its leaves, or "stamp +2" from a leaf's third byte on. */
static const char *say_piece(const struct explain_instruction *out, const struct mapping *mapping, uint64_t offset,
                             struct arena *arena)
{
    const size_t leaf = out->instruction->leaf;
    const uint64_t start = mapping->leaves[leaf].offset;
    if (out->width < out->array->record->leaves[leaf].size && offset >= start)
        return arena_printf(arena, "%s +%" PRIu64, leaf_path(out->array, leaf), offset - start);
    if (mapping->groups[mapping->leaves[leaf].group].record_stride == 0)
        return leaf_path(out->array, leaf);
    return say_leaves(mapping, leaf, offset, out->width, arena);
}

/* "vel[0]", "pos[0] to mass", "f[...]" where a subscript says which, "x, 4 records", "pieces 0-31 of 96". */
static const char *say_what(const struct explain_instruction *out, const struct option *option,
                            const struct usage *usage, bool wide, struct arena *arena)
{
    const struct instruction *what = out->instruction;
    if (what == NULL)
        return "";
    const struct exchange *exchange = what->exchange;
    if (out->phase == PHASE_EXCHANGE && out->stores == (out->number >= EXCHANGE_OF_STORE))
        return arena_printf(arena, "own piece %u of %u", what->piece + 1, exchange->count);
    if (exchange != NULL)
        return arena_printf(arena, "pieces %u-%u of %u", what->piece * WARP_LANES, (what->piece + 1) * WARP_LANES - 1,
                            exchange->count * WARP_LANES);
    const char *name = leaf_path(out->array, what->leaf);
    const uint64_t size = out->array->record->leaves[what->leaf].size;
    const bool by_four = usage->effective.plan.kind == PLAN_WIDE && !out->tail;
    if (what->term_count > 0)
        return arena_printf(arena, "%s[...]", explain_field_name(arena, out->array, what->leaf));
    if (by_four && out->width > size)
        return arena_printf(arena, "%s, %" PRIu64 " records", name, out->width / size);
    if (by_four)
        return arena_printf(arena, "%s, record +%u", name, what->record);
    if (!wide || out->tail)
        return say_piece(out, option->mapping, what->offset, arena);
    /* The instructions of one record come four times, a stride apart. */
    const struct instructions *once = &usage->instructions[out->access->number];
    const size_t count = out->stores ? once->store_count : once->load_count, record = out->number / count;
    return arena_printf(arena, "%s, record +%zu",
                        say_piece(out, option->mapping, what->offset - record * what->stride, arena), record);
}

static struct explain_instruction describe(const struct explain_series *series, const struct explain_launch *launch,
                                           struct arena *arena)
{
    const struct option *option = launch->chosen[series->key.array->number];
    struct explain_instruction out = {.access = series->key.access,
                                      .array = series->key.array,
                                      .phase = series->key.phase,
                                      .stores = series->key.stores,
                                      .shared = series->key.shared,
                                      .tail = series->key.tail,
                                      .number = series->key.number,
                                      .instruction = series->instruction,
                                      .width = series->width,
                                      .counts = sum_of(series),
                                      .loop_count = series->loop_count};
    memcpy(out.loops, series->loops, sizeof(out.loops));
    for (unsigned cost = 0; cost < EXPLAIN_COSTS; cost++) {
        out.requests[cost] = series->cells[cost].requests;
        out.first[cost] = series->cells[cost].first;
        if (out.requests[cost] == 0)
            continue;
        out.worst = cost;
        if (out.requests[cost] > out.requests[out.typical])
            out.typical = cost;
    }
    out.what = say_what(&out, option, &option->usages[launch->kernel_number], launch->wide, arena);
    return out;
}

static bool same_group(const struct explain_instruction *a, const struct explain_instruction *b)
{
    return a->phase == b->phase && a->stores == b->stores && a->shared == b->shared && a->tail == b->tail;
}

/* The costliest instruction of a group beyond what it must, then by its worst request. */
static size_t find_focus(const struct explain *out, const struct explain_group *group)
{
    size_t best = group->first;
    for (size_t i = group->first + 1; i < group->first + group->count; i++) {
        const struct explain_instruction *a = &out->instructions[i], *b = &out->instructions[best];
        const uint64_t more = explain_excess(&a->counts), less = explain_excess(&b->counts);
        if (more > less || (more == less && a->worst > b->worst))
            best = i;
    }
    return best;
}

static void make_groups(struct explain *out, struct arena *arena)
{
    out->groups = arena_array(arena, out->instruction_count + 1, sizeof(*out->groups));
    for (size_t i = 0; i < out->instruction_count; i++) {
        if (i == 0 || !same_group(&out->instructions[i - 1], &out->instructions[i]))
            out->groups[out->group_count++] = (struct explain_group){.first = i};
        out->groups[out->group_count - 1].count++;
    }
    uint64_t most = 0;
    for (size_t g = 0; g < out->group_count; g++) {
        struct explain_group *group = &out->groups[g];
        uint64_t excess = 0;
        group->focus = find_focus(out, group);
        for (size_t i = group->first; i < group->first + group->count; i++)
            excess += explain_excess(&out->instructions[i].counts);
        if (excess > most ||
            (excess == most && out->instructions[out->groups[out->focus].first].phase != PHASE_THREADS &&
             out->instructions[group->first].phase == PHASE_THREADS))
            out->focus = g;
        most = excess > most ? excess : most;
    }
}

/* The place of the focus's costliest request: in the launch, or in the warp that was asked for. False where that warp
 * has none. */
static bool find_place(struct explain_place *place, const struct explain *out, const struct explain_group *group,
                       const struct explain_tally *in_warp)
{
    const struct explain_instruction *focus = &out->instructions[group->focus];
    *place = focus->first[focus->worst];
    if (!out->warp_asked)
        return true;
    for (size_t n = 0; n < in_warp->count; n++) {
        const struct explain_series *series = &in_warp->series[n];
        const struct explain_key *key = &series->key;
        if (key->access != focus->access || key->array != focus->array || key->phase != focus->phase ||
            key->stores != focus->stores || key->shared != focus->shared || key->tail != focus->tail ||
            key->number != focus->number)
            continue;
        for (unsigned cost = EXPLAIN_COSTS; cost-- > 0;) {
            if (series->cells[cost].requests == 0)
                continue;
            *place = series->cells[cost].first;
            return true;
        }
    }
    return false;
}

/* A sector and the bytes of it that a group's requests ask for. */
struct asked_sector {
    uint64_t address;
    uint32_t bytes;
};

static int compare_asked(const void *left, const void *right)
{
    const uint64_t a = ((const struct asked_sector *)left)->address, b = ((const struct asked_sector *)right)->address;
    return a < b ? -1 : a > b;
}

/* What the requests of a group ask for together, and how many sectors one by one; `asked` has room for WARP_LANES
 * sectors each. */
static size_t find_asked(struct asked_sector *asked, const struct explain *out, struct explain_group *group)
{
    size_t count = 0, distinct = 0;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const struct explain_picture *picture = out->instructions[i].picture;
        const uint32_t bytes = (uint32_t)((UINT64_C(1) << out->instructions[i].width) - 1);
        group->sectors += picture == NULL ? 0 : picture->counts.sectors;
        for (uint32_t rest = picture == NULL ? 0 : picture->active; rest != 0; rest &= rest - 1) {
            const uint64_t at = (uint64_t)picture->address[__builtin_ctz(rest)];
            asked[count++] = (struct asked_sector){at / SECTOR_BYTES * SECTOR_BYTES, bytes << at % SECTOR_BYTES};
        }
    }
    qsort(asked, count, sizeof(*asked), compare_asked);
    for (size_t i = 0; i < count; i++) {
        if (distinct > 0 && asked[distinct - 1].address == asked[i].address)
            asked[distinct - 1].bytes |= asked[i].bytes;
        else
            asked[distinct++] = asked[i];
    }
    return distinct;
}

/* Bytes that one request leaves and another of the group asks for are not wasted. */
static void mark_others(struct explain_picture *picture, const struct asked_sector *asked, size_t asked_count)
{
    for (size_t s = 0; s < picture->sector_count; s++) {
        struct explain_sector *sector = &picture->sectors[s];
        const struct asked_sector wanted = {.address = sector->address};
        const struct asked_sector *found = bsearch(&wanted, asked, asked_count, sizeof(*asked), compare_asked);
        for (unsigned b = 0; found != NULL && b < SECTOR_BYTES; b++) {
            struct explain_byte *byte = &sector->bytes[b];
            if (byte->use != USE_UNASKED || (found->bytes >> b & 1) == 0)
                continue;
            byte->use = USE_OTHERS;
            picture->parts[byte->part].bytes[USE_UNASKED]--;
            picture->parts[byte->part].bytes[USE_OTHERS]++;
        }
    }
}

static void look_together(struct explain *out, struct explain_group *group, struct arena *arena)
{
    if (out->instructions[group->first].shared)
        return;
    struct asked_sector *asked = arena_array(arena, group->count * WARP_LANES, sizeof(*asked));
    group->distinct_sectors = find_asked(asked, out, group);
    for (size_t i = group->first; i < group->first + group->count; i++) {
        struct explain_picture *picture = out->instructions[i].picture;
        if (picture != NULL)
            mark_others(picture, asked, group->distinct_sectors);
    }
}

static bool make_pictures(struct explain *out, const struct explain_launch *launch, struct arena *arena,
                          struct diags *diags)
{
    struct explain_tally in_warp = {0};
    if (out->warp_asked && !explain_tally(&in_warp, launch, &out->at, arena, diags))
        return false;
    for (size_t g = 0; g < out->group_count; g++) {
        struct explain_group *group = &out->groups[g];
        struct explain_place place;
        if (!find_place(&place, out, group, &in_warp))
            continue;
        if (!explain_pictures(out->instructions, group, launch, &place, arena, diags))
            return false;
        look_together(out, group, arena);
    }
    return true;
}

static void take_instructions(struct explain *out, const struct explain_launch *launch,
                              const struct explain_tally *tally, struct arena *arena)
{
    out->instructions = arena_array(arena, tally->count + 1, sizeof(*out->instructions));
    for (size_t n = 0; n < tally->count; n++)
        if (serves_access(&tally->series[n].key, out->access))
            out->instructions[out->instruction_count++] = describe(&tally->series[n], launch, arena);
    make_groups(out, arena);
}

struct explain *explain_access(const struct spec *spec, const struct device *device, struct option *const *chosen,
                               const struct explain_query *query, struct arena *arena, struct diags *diags)
{
    struct explain_launch launch = {.spec = spec, .device = device, .chosen = chosen};
    struct explain *out = arena_alloc(arena, sizeof(*out));
    struct explain_tally tally;
    const char *reason;
    if (!find_kernel(&launch, &query->kernel, diags) || !check_access_number(&launch, query, diags))
        return NULL;
    out->kernel = launch.kernel;
    if (!candidates_agree(&launch.wide, spec, launch.kernel_number, chosen, arena, &reason)) {
        diag_error(diags, "inapplicable-candidate", launch.kernel->name.where, "%s", reason);
        return NULL;
    }
    measure_launch(out, &launch);
    if (!choose_warp(out, query, diags) || !explain_tally(&tally, &launch, NULL, arena, diags))
        return NULL;
    out->chosen_as_worst = query->access < 0;
    out->access = query->access < 0 ? costliest_access(&launch, &tally) : launch.kernel->accesses[query->access];
    out->candidate = chosen[out->access->array->number]->usages[launch.kernel_number].effective.text;
    take_instructions(out, &launch, &tally, arena);
    return make_pictures(out, &launch, arena, diags) ? out : NULL;
}
