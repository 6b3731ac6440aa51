#include "stage.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "plan.h"
#include "stage_cover.h"
#include "stage_survey.h"

enum { WORD = 4 };

int64_t stage_origin(const struct stage *stage, unsigned d, const uint64_t block[3])
{
    int64_t origin = stage->origin[d];
    for (unsigned b = 0; b < 3; b++)
        origin += stage->origin_step[d][b] * (int64_t)block[b];
    return origin;
}

static bool accesses_allow(const struct kernel *kernel, const struct array *array, struct stage *stage,
                           const char **reason)
{
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct access *access = kernel->accesses[i];
        if (access->array != array)
            continue;
        if (access->op == ACCESS_ATOMIC || access->bytes != 0) {
            *reason = access->op == ACCESS_ATOMIC ? "atomics on it must reach global memory"
                                                  : "an access sets the width of its instruction with 'bytes'";
            return false;
        }
        stage->copy_in |= access->op != ACCESS_WRITE;
        stage->copy_out |= access->op != ACCESS_READ;
        stage->copy_out_whole |= access->op == ACCESS_UPDATE;
    }
    return true;
}

/* Which bytes of the record the kernel's writes cover; a subscript with an expression may be any of its values. */
static void flag_written(bool *written, const struct mapping *mapping, const struct access *access)
{
    for (size_t i = 0; i < access->selected_count; i++) {
        const struct selected *selected = &access->selected[i];
        uint64_t from = mapping->leaves[selected->leaf].offset + selected->inner_offset;
        uint64_t values = 1;
        for (size_t s = 0; s < selected->subscript_count; s++)
            values *= selected->subscripts[s].extent;
        for (uint64_t v = 0; v < values; v++) {
            uint64_t rest = v, at = from;
            for (size_t s = 0; s < selected->subscript_count; s++) {
                at += rest % selected->subscripts[s].extent * selected->subscripts[s].stride_bytes;
                rest /= selected->subscripts[s].extent;
            }
            memset(written + at, 1, selected->size);
        }
    }
}

static bool word_is_whole(const bool *written, const bool *owned, uint64_t from, unsigned width)
{
    bool any = false, all = true;
    for (uint64_t i = from; i < from + width; i++) {
        any |= written[i];
        all &= written[i] || !owned[i];
    }
    return !any || all;
}

static void find_written(struct stage *stage, struct arena *arena, const struct mapping *mapping)
{
    bool *written = arena_array(arena, mapping->record_stride, sizeof(*written));
    for (unsigned i = 0; i < stage->kernel->access_count; i++) {
        const struct access *access = stage->kernel->accesses[i];
        if (access->array == stage->array && access->op == ACCESS_WRITE)
            flag_written(written, mapping, access);
    }
    for (uint64_t at = 0; at < mapping->record_stride; at += stage->out_word_bytes)
        while (!word_is_whole(written, mapping->groups[0].owned, at, stage->out_word_bytes))
            stage->out_word_bytes /= 2;
    stage->written = written;
}

static uint64_t shared_arrays_bytes(const struct kernel *kernel)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct array *array = kernel->accesses[i]->array;
        bool seen = false;
        for (unsigned j = 0; j < i; j++)
            seen |= kernel->accesses[j]->array == array;
        if (!seen && array->space == SPACE_SHARED)
            bytes += array->offset + array->records * array->record->type->size + array->align;
    }
    return bytes;
}

/* Which dimension is the fastest: as in the array. */
static void set_order(struct stage *stage, const struct mapping *mapping)
{
    unsigned last = stage->dim_count - 1;
    for (unsigned i = 0; i < SPEC_DIMS_MAX; i++)
        stage->order[i] = i > last ? i : mapping->layout.kind == LAYOUT_COLUMN_MAJOR ? i : last - i;
}

/* What a swizzle keeps together: the widest leaf. 0 where it would take one apart: a union that is wider than an
 * instruction, a member of a packed record that is not aligned to its size. */
static uint64_t swizzle_unit(const struct stage *stage, const struct mapping *mapping)
{
    const struct record *record = stage->array->record;
    uint64_t widest = WORD;
    for (size_t i = 0; i < record->leaf_count; i++) {
        uint64_t size = record->leaves[i].size;
        if (size > VECTOR_BYTES_MAX || (size & (size - 1)) != 0 ||
            (mapping->leaves[i].offset | stage->record_bytes | stage->row_bytes) % size != 0)
            return 0;
        widest = size > widest ? size : widest;
    }
    return widest;
}

/* XORs the unit's number in a line of banks with the number of its line, so that as many neighbouring rows as a line
 * has units have the same column in different banks. */
static bool lay_out_swizzle(struct stage *stage, struct arena *arena, const struct mapping *mapping,
                            const char **reason)
{
    uint64_t row = stage->dim_count == 1 ? stage->record_bytes : stage->row_bytes;
    uint64_t unit = swizzle_unit(stage, mapping);
    *reason = "a swizzle would take a union or an unaligned member of the record apart";
    if (unit == 0)
        return false;
    if ((row & (row - 1)) != 0 || row < 2 * unit) {
        *reason = arena_printf(arena,
                               "a row of the shared copy is %llu bytes, no power of two of at least two pieces of %llu",
                               (unsigned long long)row, (unsigned long long)unit);
        return false;
    }
    stage->swizzle_unit = unit;
    stage->swizzle_line = row > STAGE_SWIZZLE_ALIGN ? row : STAGE_SWIZZLE_ALIGN;
    stage->swizzle_keys = (row < STAGE_SWIZZLE_ALIGN ? row : STAGE_SWIZZLE_ALIGN) / unit;
    return true;
}

static bool lay_out(struct stage *stage, struct arena *arena, const struct mapping *mapping, const struct plan *plan,
                    const struct device *device, const char **reason)
{
    *reason = "a block's footprint does not fit the shared memory of a block";
    uint64_t records = 1;
    for (unsigned d = 0; d < stage->dim_count; d++)
        records *= stage->extent[d]; /* each at most 2^18: no overflow */
    if (records > (uint64_t)device->shared_bytes_per_block)
        return false;
    uint64_t unit = stage->array->record->type->align > WORD ? stage->array->record->type->align : WORD;
    const unsigned *order = stage->order;
    bool rows = stage->dim_count > 1;
    stage->pad_bytes = plan->pad * unit;
    stage->record_bytes = mapping->record_stride + (rows ? 0 : stage->pad_bytes);
    stage->row_bytes = stage->record_bytes * stage->extent[order[0]] + (rows ? stage->pad_bytes : 0);
    stage->plane_bytes = stage->row_bytes * (rows ? stage->extent[order[1]] : 1);
    stage->bytes = stage->plane_bytes * (stage->dim_count > 2 ? stage->extent[order[2]] : 1);
    if (stage->bytes + shared_arrays_bytes(stage->kernel) > (uint64_t)device->shared_bytes_per_block)
        return false;
    return !plan->swizzle || lay_out_swizzle(stage, arena, mapping, reason);
}

/* Blocks whose boxes overlap would write one another's records back. */
static bool boxes_are_apart(const struct stage *stage)
{
    for (unsigned b = 0; b < 3; b++) {
        bool apart = stage->kernel->grid[b] == 1;
        for (unsigned d = 0; d < stage->dim_count; d++) {
            int64_t step = stage->origin_step[d][b];
            apart = apart || (uint64_t)(step < 0 ? -step : step) >= stage->extent[d];
        }
        if (!apart)
            return false;
    }
    return true;
}

bool stage_plan(struct stage **out, struct arena *arena, const struct kernel *kernel, const struct mapping *mapping,
                const struct plan *plan, const struct device *device, const char **reason)
{
    const struct array *array = mapping->array;
    struct stage *stage = arena_alloc(arena, sizeof(*stage));
    *stage = (struct stage){.array = array, .kernel = kernel, .dim_count = array->dim_count};
    *out = stage;
    if (array->space == SPACE_SHARED || mapping->record_stride == 0) {
        *reason = array->space == SPACE_SHARED ? "the array is in shared memory already"
                                               : "staging copies whole records, which this layout takes apart";
        return false;
    }
    set_order(stage, mapping);
    if (!accesses_allow(kernel, array, stage, reason))
        return false;
    uint64_t records_max = (uint64_t)device->shared_bytes_per_block / mapping->record_stride + 1;
    if (!stage_survey(stage, records_max, arena, reason))
        return false;
    if (!lay_out(stage, arena, mapping, plan, device, reason))
        return false;
    *reason = "blocks would store overlapping parts of it";
    if (stage->copy_out && !boxes_are_apart(stage))
        return false;
    *reason = "the block's threads do not write every record of its footprint, so that storing it would store others";
    if (stage->copy_out && !stage_writes_cover(stage, arena))
        return false;
    uint64_t divides = WORD | mapping->record_stride | array->offset | layout_jumps(mapping, 0);
    stage->word_bytes = stage->out_word_bytes = (unsigned)(divides & (~divides + 1));
    if (stage->copy_out && !stage->copy_out_whole)
        find_written(stage, arena, mapping);
    return true;
}
