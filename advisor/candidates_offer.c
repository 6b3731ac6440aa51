#include "candidates_offer.h"

#include <string.h>

#include "checked.h"
#include "wide.h"

/* What was offered for one array so far. */
struct offering {
    const struct spec *spec;
    const struct device *device;
    struct arena *arena;
    const struct array *array;
    bool asked; /* for this layout */
    struct option **items;
    size_t count, capacity;
};

static bool same_instructions(const struct instruction *a, size_t a_count, const struct instruction *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++)
        if (a[i].offset != b[i].offset || a[i].width != b[i].width || a[i].stride != b[i].stride)
            return false;
    return true;
}

/* Whether its instructions are all that there is to a plan. */
static bool is_only_instructions(const struct usage *usage)
{
    return usage->effective.plan.kind == PLAN_DIRECT || usage->effective.plan.kind == PLAN_VECTOR;
}

static bool same_usage(const struct usage *a, const struct usage *b)
{
    if (!a->used)
        return true;
    if (!is_only_instructions(a) || !is_only_instructions(b))
        return strcmp(a->effective.text, b->effective.text) == 0;
    for (unsigned i = 0; i < a->kernel->access_count; i++) {
        const struct instructions *x = &a->instructions[i], *y = &b->instructions[i];
        if (!same_instructions(x->loads, x->load_count, y->loads, y->load_count) ||
            !same_instructions(x->stores, x->store_count, y->stores, y->store_count))
            return false;
    }
    return true;
}

static bool same_places(const struct mapping *a, const struct mapping *b)
{
    for (size_t i = 0; i < a->array->record->leaf_count; i++) {
        const struct axes x = layout_axes(a, i), y = layout_axes(b, i);
        if (a->leaves[i].offset != b->leaves[i].offset || a->leaves[i].stride != b->leaves[i].stride ||
            x.by_number != y.by_number || memcmp(x.items, y.items, sizeof(x.items)) != 0)
            return false;
    }
    return true;
}

/* True where an option already listed puts the same bytes in the same places and gets at them in the same way. */
static bool is_repeat(const struct offering *offering, const struct option *option)
{
    for (size_t i = 0; i < offering->count; i++) {
        const struct option *known = offering->items[i];
        bool same = same_places(known->mapping, option->mapping);
        for (size_t k = 0; k < offering->spec->kernel_count && same; k++)
            same = same_usage(&known->usages[k], &option->usages[k]);
        if (same)
            return true;
    }
    return false;
}

static void offer(struct offering *offering, const struct layout *layout, struct plan plan)
{
    const char *reason = NULL;
    struct candidate candidate = {.layout = *layout, .plan = plan};
    struct option *option =
        candidate_apply(offering->spec, offering->array, &candidate, offering->device, offering->arena, &reason);
    if (option == NULL || (!offering->asked && !layout_arrays_even(option->mapping)) || is_repeat(offering, option))
        return;
    offering->items =
        arena_grow(offering->arena, offering->items, offering->count, &offering->capacity, sizeof(struct option *));
    offering->items[offering->count++] = option;
}

static void offer_plans(struct offering *offering, struct layout layout)
{
    offer(offering, &layout, (struct plan){.kind = PLAN_DIRECT});
    offer(offering, &layout, (struct plan){.kind = PLAN_VECTOR});
    if (layout.align == 0)
        offer(offering, &layout, (struct plan){.kind = PLAN_SHUFFLE});
    offer(offering, &layout, (struct plan){.kind = PLAN_WIDE, .records = WIDE_RECORDS});
    /* A padded record staged is the plain one staged with holes: only the unpadded is offered. */
    if (layout.align != 0)
        return;
    offer(offering, &layout, (struct plan){.kind = PLAN_STAGED});
    offer(offering, &layout, (struct plan){.kind = PLAN_STAGED, .pad = 1});
    offer(offering, &layout, (struct plan){.kind = PLAN_STAGED, .swizzle = true});
}

/* The record padded to each alignment that changes its `stride`. */
static void offer_padded(struct offering *offering, bool reorder, uint64_t align, uint64_t stride)
{
    static const uint64_t aligns[] = {8, 16, 32};
    for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++)
        if (aligns[i] > align && stride % aligns[i] != 0)
            offer_plans(offering, (struct layout){.kind = LAYOUT_AOS, .align = aligns[i], .reorder = reorder});
}

/* Its fields by alignment, where that removes holes. */
static void offer_reordered(struct offering *offering)
{
    const char *reason;
    struct mapping *mapping;
    const struct layout layout = {.kind = LAYOUT_AOS, .reorder = true};
    if (!layout_map(&mapping, offering->arena, offering->array, &layout, &reason))
        return;
    offer_plans(offering, layout);
    offer_padded(offering, true, mapping->groups[0].record_align, mapping->record_stride);
}

/* Rows that begin on lines of 128 bytes, or on 256; in shared memory, rows that begin in another bank each. */
static void offer_pitches(struct offering *offering, uint64_t row_bytes)
{
    static const uint64_t steps[] = {128, 256};
    enum { WORD = 4 };
    const struct array *array = offering->array;
    uint64_t align = array->record->type->align, pitch, before = row_bytes;
    if (array->space == SPACE_SHARED) {
        offer_plans(offering,
                    (struct layout){.kind = LAYOUT_PITCH, .pitch = row_bytes + (align > WORD ? align : WORD)});
        return;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (!checked_round_up_u64(&pitch, row_bytes, steps[i]) || pitch == before)
            continue;
        offer_plans(offering, (struct layout){.kind = LAYOUT_PITCH, .pitch = pitch});
        before = pitch;
    }
}

/* Tiles that are a sector or a line of 4-byte values wide; larger than the array they would only waste. */
static void offer_tiles(struct offering *offering)
{
    static const uint64_t sides[][SPEC_DIMS_MAX] = {{8, 8}, {32, 32}, {4, 4, 4}, {8, 8, 8}, {4, 4, 32}};
    const struct array *array = offering->array;
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        struct layout layout = {.kind = LAYOUT_TILED, .tiled_count = sides[i][2] == 0 ? 2 : 3};
        memcpy(layout.tiled, sides[i], sizeof(layout.tiled));
        bool fits = layout.tiled_count == array->dim_count;
        for (unsigned d = 0; d < array->dim_count; d++)
            fits = fits && sides[i][d] <= array->extent[d];
        if (fits)
            offer_plans(offering, layout);
    }
}

/* Other orders of an array of more than one dimension. A pitch that is described is kept. */
static void offer_shapes(struct offering *offering)
{
    const struct array *array = offering->array;
    uint64_t row_bytes;
    if (array->dim_count == 1 || array->pitch != 0)
        return;
    if (checked_mul_u64(&row_bytes, array->extent[array->dim_count - 1], array->record->type->size))
        offer_pitches(offering, row_bytes);
    offer_plans(offering, (struct layout){.kind = LAYOUT_COLUMN_MAJOR});
    offer_tiles(offering);
}

static void offer_layouts(struct offering *offering)
{
    static const uint64_t tiles[] = {8, 32, 128};
    const struct array *array = offering->array;
    const struct type *type = array->record->type;
    /* Padding serves vector access to a record of several leaves in global memory; elsewhere it only wastes. */
    bool may_pad = array->record->leaf_count > 1 && array->space == SPACE_GLOBAL;
    offer_plans(offering, layout_default(array));
    if (may_pad)
        offer_padded(offering, false, type->align, type->size);
    offer_reordered(offering);
    offer_shapes(offering);
    offer_plans(offering, (struct layout){.kind = LAYOUT_SOA});
    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]) && may_pad; i++)
        offer_plans(offering, (struct layout){.kind = LAYOUT_AOSOA, .tile = tiles[i]});
}

struct options candidates_offer(const struct spec *spec, const struct device *device, struct arena *arena,
                                const struct array *array, const struct layout *only)
{
    struct offering offering = {.spec = spec, .device = device, .arena = arena, .array = array, .asked = only != NULL};
    if (only != NULL)
        offer_plans(&offering, *only);
    else
        offer_layouts(&offering);
    return (struct options){.array = array, .items = offering.items, .count = offering.count};
}
