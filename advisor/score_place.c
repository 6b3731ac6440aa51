#include "score_place.h"

#include <string.h>

#include "checked.h"
#include "lanes.h"

/* Adds weight * value. `vector` is the coordinate's own, once it has one. */
static void coordinate_add(struct coordinate *to, const struct launch_value *value, int64_t weight, int64_t *vector,
                           unsigned threads)
{
    const struct lanes factor = {&weight, 1};
    if (weight == 0)
        return;
    if (to->constant == NULL)
        lanes_multiply(vector, (struct lanes){value->constant, 0}, factor, threads);
    else
        lanes_add_product(vector, value->constant, weight, threads);
    to->constant = vector;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        to->step[k] += value->step[k] * weight;
}

static void add_axis(struct place *place, const struct launch_value *index, const struct axis *axis, int64_t *scratch,
                     unsigned threads)
{
    if (axis->tile == 0) {
        coordinate_add(&place->bytes, index, (int64_t)axis->bytes, scratch, threads);
        return;
    }
    struct coordinate *tiled = &place->tiled[place->tiled_count];
    tiled->constant = index->constant;
    memcpy(tiled->step, index->step, sizeof(tiled->step));
    place->axes[place->tiled_count++] = *axis;
}

static void add_number(struct place *place, const struct launch_event *event, const struct array *array,
                       const struct axis *axis, int64_t *scratch)
{
    place->axes[place->tiled_count++] = *axis;
    for (unsigned d = 0; d < array->dim_count; d++)
        coordinate_add(&place->tiled[0], &event->index[d], (int64_t)layout_linear_step(array, d),
                       scratch + LAUNCH_THREADS_MAX, event->thread_count);
}

/* In the shared copy places count from the block's origin: the steps of blockIdx go, whatever block it is. */
static void add_copy_place(struct place *place, const struct launch_event *event, const struct stage *stage,
                           int64_t *scratch)
{
    for (unsigned d = 0; d < stage->dim_count; d++) {
        int64_t step = (int64_t)stage_step(stage, d);
        coordinate_add(&place->bytes, &event->index[d], step, scratch, event->thread_count);
        place->bytes.shift -= stage_origin(stage, d, event->first_block) * step;
    }
    for (unsigned b = 0; b < 3; b++)
        place->bytes.step[b] = 0;
    place->swizzled = stage->swizzle_unit != 0 ? stage : NULL;
}

void place_make(struct place *out, const struct launch_event *event, const struct mapping *mapping,
                const struct stage *stage, const struct instruction *instruction, int64_t *scratch)
{
    *out = (struct place){.bytes.shift = (int64_t)instruction->offset};
    memcpy(out->count, event->count, sizeof(out->count));
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
        out->stride[k] = 1;
    struct axes axes = layout_axes(mapping, instruction->leaf);
    if (stage != NULL)
        add_copy_place(out, event, stage, scratch);
    else if (axes.by_number)
        add_number(out, event, mapping->array, &axes.items[0], scratch);
    else
        for (unsigned d = 0; d < axes.count; d++)
            add_axis(out, &event->index[d], &axes.items[d], scratch, event->thread_count);
    if (stage == NULL)
        out->bytes.shift += (int64_t)mapping->base;
    for (size_t i = 0; i < instruction->term_count; i++) {
        const struct instruction_term *term = &instruction->terms[i];
        coordinate_add(&out->bytes, &event->subscripts[term->subscript], (int64_t)term->stride, scratch,
                       event->thread_count);
    }
    if (out->bytes.constant == NULL) {
        memset(scratch, 0, event->thread_count * sizeof(*scratch));
        out->bytes.constant = scratch;
    }
}

static uint64_t step_size(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

static bool is_uneven(uint64_t *period, const struct coordinate *coordinate, unsigned k, uint64_t tile)
{
    uint64_t step = step_size(coordinate->step[k]);
    *period = tile == 0 ? 1 : tile / greatest_common_divisor(step, tile);
    return *period > 1;
}

bool place_uneven(unsigned *dim, uint64_t *period, const struct place *place)
{
    if (place->tiled_count == 0 && place->swizzled == NULL)
        return false;
    for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++) {
        bool uneven =
            place->swizzled != NULL && is_uneven(period, &place->bytes, k, stage_swizzle_period(place->swizzled));
        for (unsigned c = 0; c < place->tiled_count && !uneven; c++)
            uneven = is_uneven(period, &place->tiled[c], k, place->axes[c].tile);
        *dim = k;
        if (uneven && place->count[k] > 1)
            return true;
    }
    return false;
}

static void take_part(struct coordinate *part, unsigned dim, uint64_t period, uint64_t r, bool alone)
{
    part->shift += part->step[dim] * (int64_t)r;
    part->step[dim] = alone ? 0 : part->step[dim] * (int64_t)period;
}

struct place place_part(const struct place *place, unsigned dim, uint64_t period, uint64_t r)
{
    struct place part = *place;
    part.count[dim] = (place->count[dim] - r - 1) / period + 1;
    part.first[dim] += part.stride[dim] * r;
    part.stride[dim] *= period;
    take_part(&part.bytes, dim, period, r, part.count[dim] == 1);
    for (unsigned c = 0; c < place->tiled_count; c++)
        take_part(&part.tiled[c], dim, period, r, part.count[dim] == 1);
    return part;
}

/* Inactive lanes' values may be anything: the arithmetic wraps. */
static void add_tiles(int64_t *address, const struct coordinate *coordinate, const struct axis *axis, unsigned threads)
{
    const uint64_t tile = axis->tile, jump = axis->tile_bytes - tile * axis->bytes;
    const bool power = (tile & (tile - 1)) == 0;
    const unsigned shift = (unsigned)__builtin_ctzll(tile);
    for (unsigned t = 0; t < threads; t++) {
        uint64_t x = (uint64_t)coordinate->constant[t] + (uint64_t)coordinate->shift;
        uint64_t number = power ? x >> shift : x / tile;
        address[t] = (int64_t)((uint64_t)address[t] + number * jump + x * axis->bytes);
    }
}

void place_addresses(int64_t *address, int64_t step[LAUNCH_DIMS_MAX], const struct place *place, unsigned threads)
{
    const struct lanes shift = {&place->bytes.shift, 1};
    lanes_add(address, (struct lanes){place->bytes.constant, 0}, shift, threads);
    memcpy(step, place->bytes.step, LAUNCH_DIMS_MAX * sizeof(*step));
    for (unsigned c = 0; c < place->tiled_count; c++) {
        const struct axis *axis = &place->axes[c];
        add_tiles(address, &place->tiled[c], axis, threads);
        for (unsigned k = 0; k < LAUNCH_DIMS_MAX; k++)
            step[k] += place->tiled[c].step[k] / (int64_t)axis->tile * (int64_t)axis->tile_bytes;
    }
    for (unsigned t = 0; t < threads && place->swizzled != NULL; t++)
        address[t] = (int64_t)stage_swizzle(place->swizzled, (uint64_t)address[t]);
}
