#include "groups_internal.h"

/* Threads of a launch that a search looks at: enough for the mean, few enough for hundreds of groups. */
enum { SAMPLE_THREADS = 1 << 9 };

/* --- a part of each launch ---------------------------------------------------------------------------------------- */

/* The same kernel with a grid of few blocks. */
static struct kernel *sample_kernel(const struct kernel *kernel, struct arena *arena)
{
    struct kernel *sample = arena_alloc(arena, sizeof(*sample));
    *sample = *kernel;
    while (sample->block_count > 1 && sample->block_count * sample->block_threads > SAMPLE_THREADS) {
        uint64_t *grid = sample->grid;
        unsigned longest = grid[0] >= grid[1] && grid[0] >= grid[2] ? 0 : grid[1] >= grid[2] ? 1 : 2;
        grid[longest] = (grid[longest] + 1) / 2;
        sample->block_count = grid[0] * grid[1] * grid[2];
    }
    return sample;
}

static struct spec *sample_spec(const struct spec *spec, struct arena *arena)
{
    struct spec *sample = arena_alloc(arena, sizeof(*sample));
    struct kernel **link = &sample->kernels;
    *sample = *spec;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next) {
        *link = sample_kernel(kernel, arena);
        link = &(*link)->next;
    }
    return sample;
}

/* count * of / part, at most `most`. */
static uint64_t scaled(uint64_t count, uint64_t of, uint64_t part, uint64_t most)
{
    const double all = (double)count * ((double)of / (double)part);
    return all < (double)most ? (uint64_t)(all + 0.5) : most;
}

static struct counts scale_counts(const struct counts *counts, const struct groups_kernel *kernel)
{
    struct counts all = *counts;
    uint64_t *fields = &all.instructions;
    for (size_t i = 0; i < sizeof(all) / sizeof(*fields); i++)
        /* cppcheck-suppress objectIndex; the structure is these numbers alone */
        fields[i] = scaled(fields[i], kernel->blocks, kernel->sample, INT64_MAX);
    return all;
}

/* All that an array's score counts, as numbers one after another. */
static uint64_t *array_numbers(struct array_score *score, size_t *count)
{
    *count = (sizeof(*score) - offsetof(struct array_score, distinct_sectors)) / sizeof(uint64_t);
    return &score->distinct_sectors;
}

/* A launch touches no more of an array than there is. */
static struct array_score scale_array(const struct array_score *array, const struct groups_kernel *kernel,
                                      uint64_t bytes)
{
    struct array_score all = *array;
    uint64_t *const distinct[] = {&all.distinct_sectors, &all.fill_sectors,        &all.read_sectors,
                                  &all.written_sectors,  &all.unread_fill_sectors, &all.read_pairs};
    const uint64_t most = bytes / SECTOR_BYTES + 1;
    size_t count;
    uint64_t *numbers = array_numbers(&all, &count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = scaled(numbers[i], kernel->blocks, kernel->sample, INT64_MAX);
    for (size_t i = 0; i < sizeof(distinct) / sizeof(distinct[0]); i++)
        *distinct[i] = *distinct[i] < most ? *distinct[i] : most;
    return all;
}

void groups_clear(struct groups_kernel *kernel)
{
    struct kernel_score *score = &kernel->score;
    struct array_score *array = &score->arrays[score->array_count - 1];
    for (size_t e = 0; e < kernel->own_count; e++)
        score->accesses[kernel->own + e].counts = (struct counts){0};
    *array = (struct array_score){.array = array->array};
}

void groups_add(struct groups_kernel *kernel, const struct groups_share *share)
{
    struct kernel_score *score = &kernel->score;
    struct array_score more = share->array;
    size_t count;
    if (share->entries == NULL)
        return;
    for (size_t e = 0; e < kernel->own_count; e++)
        if (!counts_add(&score->accesses[kernel->own + e].counts, &share->entries[e], 1))
            score->accesses[kernel->own + e].counts.sectors = INT64_MAX;
    uint64_t *to = array_numbers(&score->arrays[score->array_count - 1], &count);
    const uint64_t *from = array_numbers(&more, &count);
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* --- some leaves of an option ------------------------------------------------------------------------------------- */

static struct instruction *only_instructions(const struct instruction *list, size_t *count, const bool *kept,
                                             struct arena *arena)
{
    struct instruction *out = arena_array(arena, *count, sizeof(*out));
    size_t n = 0;
    for (size_t i = 0; i < *count; i++)
        if (kept[list[i].leaf])
            out[n++] = list[i];
    *count = n;
    return out;
}

static void keep_usage(struct usage *usage, const struct array *array, const bool *kept, struct arena *arena)
{
    const struct instructions *all = usage->instructions;
    bool any = false;
    usage->instructions = arena_array(arena, usage->kernel->access_count, sizeof(*usage->instructions));
    for (unsigned i = 0; i < usage->kernel->access_count; i++) {
        struct instructions *one = &usage->instructions[i];
        if (usage->kernel->accesses[i]->array != array)
            continue;
        *one = all[i];
        one->loads = only_instructions(all[i].loads, &one->load_count, kept, arena);
        one->stores = only_instructions(all[i].stores, &one->store_count, kept, arena);
        any |= one->load_count + one->store_count > 0;
    }
    usage->used = any;
}

struct option *groups_only_leaves(const struct spec *spec, const struct option *option, const bool *kept,
                                  struct arena *arena)
{
    struct option *out = arena_alloc(arena, sizeof(*out));
    *out = *option;
    out->usages = arena_array(arena, spec->kernel_count, sizeof(*out->usages));
    for (size_t k = 0; k < spec->kernel_count; k++) {
        out->usages[k] = option->usages[k];
        if (out->usages[k].used)
            keep_usage(&out->usages[k], option->array, kept, arena);
    }
    return out;
}

/* One array alone in one kernel; false where that cannot be scored. */
static bool score_alone(struct kernel_score *out, const struct groups_context *context, size_t kernel_number,
                        struct option *option, bool wide)
{
    struct diags ignored = {.arena = context->arena};
    struct option **chosen = arena_array(context->arena, context->spec->array_count + 1, sizeof(struct option *));
    chosen[option->array->number] = option;
    return score_kernel(out, context->spec, kernel_number, context->device, chosen, wide, true, context->arena,
                        &ignored);
}

struct groups_share *groups_shares(const struct groups_context *context, const struct option *option, const bool *kept,
                                   bool wide, struct arena *arena)
{
    struct option *some = groups_only_leaves(context->spec, option, kept, context->arena);
    struct groups_share *shares = arena_array(arena, context->kernel_count + 1, sizeof(*shares));
    for (size_t i = 0; i < context->kernel_count; i++) {
        const struct groups_kernel *kernel = &context->kernels[i];
        struct kernel_score score;
        if (!some->usages[kernel->number].used)
            continue;
        if (!score_alone(&score, context, kernel->number, some, wide) || score.access_count != kernel->own_count)
            return NULL;
        shares[i].entries = arena_array(arena, score.access_count + 1, sizeof(*shares[i].entries));
        for (size_t e = 0; e < score.access_count; e++)
            shares[i].entries[e] = scale_counts(&score.accesses[e].counts, kernel);
        if (score.array_count > 0)
            shares[i].array = scale_array(&score.arrays[0], kernel, option->mapping->bytes);
    }
    return shares;
}

/* --- the kernels -------------------------------------------------------------------------------------------------- */

static void take_score(struct groups_kernel *kernel, const struct kernel_score *score, uint64_t bytes)
{
    struct kernel_score *to = &kernel->score;
    for (size_t e = 0; e < score->access_count; e++) {
        to->accesses[to->access_count] = score->accesses[e];
        to->accesses[to->access_count++].counts = scale_counts(&score->accesses[e].counts, kernel);
    }
    for (size_t a = 0; a < score->array_count; a++)
        to->arrays[to->array_count++] = scale_array(&score->arrays[a], kernel, bytes);
    to->shared_bytes += score->shared_bytes;
}

static bool prepare_kernel(struct groups_kernel *out, const struct groups_context *context,
                           struct option *const *others)
{
    const struct spec *spec = context->spec;
    struct kernel_score *score = &out->score, one;
    size_t entries = (size_t)out->kernel->access_count * 4 + 1;
    *score = (struct kernel_score){.kernel = out->kernel, .blocks = out->blocks};
    score->accesses = arena_array(context->arena, entries, sizeof(*score->accesses));
    score->arrays = arena_array(context->arena, spec->array_count + 1, sizeof(*score->arrays));
    for (size_t n = 0; n < spec->array_count; n++) {
        if (n == context->array->number || others[n] == NULL || !others[n]->usages[out->number].used)
            continue;
        if (!score_alone(&one, context, out->number, others[n], false))
            return false;
        take_score(out, &one, others[n]->mapping->bytes);
    }
    out->own = score->access_count;
    if (!score_alone(&one, context, out->number, others[context->array->number], false))
        return false;
    score->threads = one.threads / out->sample * out->blocks;
    score->active_warps = one.active_warps / out->sample * out->blocks;
    take_score(out, &one, others[context->array->number]->mapping->bytes);
    out->own_count = score->access_count - out->own;
    return true;
}

bool groups_prepare(struct groups_context *out, const struct spec *spec, const struct device *device,
                    const struct array *array, struct option *const *others, struct arena *arena)
{
    *out = (struct groups_context){sample_spec(spec, arena), device, array, arena, NULL, 0};
    out->kernels = arena_array(arena, spec->kernel_count + 1, sizeof(*out->kernels));
    const struct kernel *sample = out->spec->kernels;
    size_t number = 0;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next, number++) {
        struct groups_kernel *mine = &out->kernels[out->kernel_count];
        *mine = (struct groups_kernel){
            .number = number, .kernel = kernel, .blocks = kernel->block_count, .sample = sample->block_count};
        sample = sample->next;
        if (!others[array->number]->usages[number].used)
            continue;
        if (!prepare_kernel(mine, out, others))
            return false;
        out->kernel_count++;
    }
    return out->kernel_count > 0;
}
