#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "look_ups.h"
#include "rank_sensitivity.h"
#include "request.h"

enum { COMBINATIONS_MAX = 4096, ROUNDS_MAX = 4 };
static const double TIE = 1.02;
/* Sums of the other resources' times count the same where they differ by less than this share: so well the figures of a
 * device repeat; or by less of the time itself than its digits show. */
static const double RESOLUTION = 0.03, SHOWN = 0.001;

/* What one array under one option gives to one kernel, launched with all its threads or with a quarter. */
struct part {
    bool done, failed;
    struct kernel_score score;
};

struct context {
    const struct spec *spec;
    const struct device *device;
    struct options *options;
    struct arena *arena;
    struct diags *diags;
    struct part *parts;                   /* by kernel, width, array and option */
    const struct kernel_score **look_ups; /* by kernel; NULL: none */
    size_t *twins;                        /* by kernel, array and option: the first option that does the same there */
    size_t options_most;
    size_t combinations; /* that are to be scored; 0: not known before */
    const struct kernel **kernels;
};

static size_t *twin_of(const struct context *context, size_t kernel, size_t array, size_t option)
{
    return &context->twins[(kernel * context->spec->array_count + array) * context->options_most + option];
}

static struct part *part_of(const struct context *context, size_t kernel, bool wide, size_t array, size_t option)
{
    const size_t twin = *twin_of(context, kernel, array, option);
    size_t index = ((kernel * 2 + wide) * context->spec->array_count + array) * context->options_most + twin;
    return &context->parts[index];
}

/* Of an array's options from the `from`-th on: "soa/wide(4)" is "soa/direct" in a kernel that it cannot serve. */
static void find_twins(struct context *context, size_t array, size_t from)
{
    const struct options *options = &context->options[array];
    for (size_t k = 0; k < context->spec->kernel_count; k++)
        for (size_t i = from; i < options->count; i++) {
            const struct usage *usage = &options->items[i]->usages[k];
            size_t twin = 0;
            while (twin < i && usage->used &&
                   strcmp(options->items[twin]->usages[k].effective.text, usage->effective.text) != 0)
                twin++;
            *twin_of(context, k, array, i) = twin;
        }
}

static size_t option_number(const struct context *context, size_t array, const struct option *option)
{
    size_t i = 0;
    while (context->options[array].items[i] != option)
        i++;
    return i;
}

/* Scores the options wanted of a kernel's arrays in one walk over its launch. */
static bool score_parts(struct context *context, size_t k, bool wide, struct option *const *chosen)
{
    struct option **missing = arena_array(context->arena, context->spec->array_count + 1, sizeof(struct option *));
    bool any = false;
    for (size_t n = 0; n < context->spec->array_count; n++) {
        bool needed = chosen[n]->usages[k].used;
        needed = needed && !part_of(context, k, wide, n, option_number(context, n, chosen[n]))->done;
        missing[n] = needed ? chosen[n] : NULL;
        any |= needed;
    }
    struct kernel_score together;
    if (!any)
        return true;
    if (!score_kernel(&together, context->spec, k, context->device, missing, wide, true, context->arena,
                      context->diags))
        return false;
    for (size_t n = 0; n < context->spec->array_count; n++)
        if (missing[n] != NULL)
            *part_of(context, k, wide, n, option_number(context, n, missing[n])) =
                (struct part){.done = true, .score = together};
    return true;
}

static void take_accesses(struct kernel_score *out, const struct kernel_score *part, const struct array *array)
{
    for (size_t i = 0; i < part->access_count; i++)
        if (part->accesses[i].array == array)
            out->accesses[out->access_count++] = part->accesses[i];
    for (size_t i = 0; i < part->array_count; i++)
        if (part->arrays[i].array == array)
            out->arrays[out->array_count++] = part->arrays[i];
}

/* In document order; within an access the parts' order (copy-in, read, write, copy-out) stays. */
static void order_accesses(struct access_score *accesses, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct access_score moved = accesses[i];
        size_t at = i;
        for (; at > 0 && accesses[at - 1].access->number > moved.access->number; at--)
            accesses[at] = accesses[at - 1];
        accesses[at] = moved;
    }
}

/* The kernel's whole score from its arrays' parts. */
static struct kernel_score *assemble(struct context *context, size_t k, bool wide, struct option *const *chosen)
{
    const struct kernel *kernel = context->kernels[k];
    struct kernel_score *out = arena_alloc(context->arena, sizeof(*out));
    out->kernel = kernel;
    out->accesses = arena_array(context->arena, (size_t)kernel->access_count * 4 + 1, sizeof(*out->accesses));
    out->arrays = arena_array(context->arena, context->spec->array_count + 1, sizeof(*out->arrays));
    uint64_t exchange = 0;
    for (size_t n = 0; n < context->spec->array_count; n++) {
        if (!chosen[n]->usages[k].used)
            continue;
        const struct part *part = part_of(context, k, wide, n, option_number(context, n, chosen[n]));
        take_accesses(out, &part->score, chosen[n]->array);
        out->threads = part->score.threads;
        out->blocks = part->score.blocks;
        out->active_warps = part->score.active_warps;
        out->barriers = part->score.barriers > out->barriers ? part->score.barriers : out->barriers;
        const struct stage *stage = chosen[n]->usages[k].stage;
        if (stage != NULL)
            out->shared_bytes += stage->bytes;
        else if (chosen[n]->array->space == SPACE_SHARED)
            out->shared_bytes += chosen[n]->array->offset + chosen[n]->mapping->bytes;
        const uint64_t own = chosen[n]->usages[k].exchange_bytes;
        exchange = own > exchange ? own : exchange;
    }
    out->shared_bytes += exchange;
    order_accesses(out->accesses, out->access_count);
    return out;
}

static void add_capped(uint64_t *to, uint64_t value, int64_t calls)
{
    uint64_t product;
    if (!checked_mul_u64(&product, value, (uint64_t)calls) || !checked_add_u64(to, *to, product) || *to > INT64_MAX)
        *to = INT64_MAX;
}

/* What all resources but the one that takes longest need once the kernel is launched. */
static double others_us(const struct estimate *estimate, const struct device *device)
{
    double sum = 0, most = 0;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        const double us = estimate->resource_us[r] - device->launch_us;
        sum += us > 0 ? us : 0;
        most = us > most ? us : most;
    }
    return sum - most;
}

static void add_kernel(struct ranked *ranked, const struct ranked_kernel *one, const struct device *device,
                       double *heaviest)
{
    const struct kernel *kernel = one->kernel;
    double calls = (double)kernel->calls, time = one->estimate.time_us * calls;
    ranked->time_us += time;
    ranked->other_us += others_us(&one->estimate, device) * calls;
    if (time > *heaviest || *heaviest < 0) {
        *heaviest = time;
        ranked->bound_by = one->estimate.bound_by;
    }
    for (size_t i = 0; i < one->score->access_count; i++) {
        add_capped(&ranked->sectors, one->score->accesses[i].counts.sectors, kernel->calls);
        add_capped(&ranked->wavefronts, one->score->accesses[i].counts.wavefronts, kernel->calls);
    }
    add_capped(&ranked->dram_bytes, (uint64_t)(one->estimate.dram_read_bytes + one->estimate.dram_write_bytes),
               kernel->calls);
}

/* Converting an array from AoS and back moves it four times: read and written, twice. */
static void add_conversions(struct ranked *ranked, const struct context *context)
{
    for (size_t n = 0; n < context->spec->array_count; n++) {
        const struct option *option = ranked->chosen[n];
        const struct array *array = option->array;
        bool as_it_was = layout_is_described(option->mapping);
        if (array->space == SPACE_SHARED)
            continue;
        ranked->memory_bytes += array->offset + option->mapping->bytes;
        if (array->conversions == 0 || as_it_was)
            continue;
        double bytes =
            2.0 * ((double)option->mapping->bytes + (double)array->records * (double)array->record->type->size);
        double once_us = bytes / (context->device->dram_mixed_gbs * 1e3);
        ranked->conversion_us += once_us;
        ranked->time_us += once_us * (double)array->conversions;
    }
}

/* False where the options do not go together (then no diagnostic) or could not be scored (then one). */
static bool rank_combination(struct ranked *out, struct context *context, struct option *const *chosen)
{
    double heaviest = -1;
    *out = (struct ranked){.chosen = chosen};
    out->kernels = arena_array(context->arena, context->spec->kernel_count + 1, sizeof(*out->kernels));
    for (size_t k = 0; k < context->spec->kernel_count; k++) {
        bool wide;
        const char *reason;
        if (!candidates_agree(&wide, context->spec, k, chosen, context->arena, &reason))
            return false;
        if (!score_parts(context, k, wide, chosen))
            return false;
        const struct kernel_score *score = assemble(context, k, wide, chosen);
        if (score->shared_bytes > (uint64_t)context->device->shared_bytes_per_block)
            return false;
        /* Where threads do several records at once no look-up depends on them. */
        const struct kernel_score *timed = look_ups_join(score, wide ? NULL : context->look_ups[k], context->arena);
        out->kernels[k] =
            (struct ranked_kernel){context->kernels[k], score, timed, estimate_kernel(timed, context->device)};
        add_kernel(out, &out->kernels[k], context->device, &heaviest);
    }
    add_conversions(out, context);
    return true;
}

/* How simple a layout is, for ties: plain arrays of structures first. */
static unsigned layout_complexity(const struct option *option)
{
    unsigned layout = 0;
    switch (option->candidate.layout.kind) {
    case LAYOUT_AOS:
    case LAYOUT_ROW_MAJOR:
        layout = option->candidate.layout.align != 0 || option->candidate.layout.reorder;
        break;
    case LAYOUT_SOA:
        layout = 2;
        break;
    case LAYOUT_AOSOA:
        layout = 3;
        break;
    case LAYOUT_SPLIT:
    case LAYOUT_COLUMN_MAJOR:
    case LAYOUT_PITCH:
    case LAYOUT_TILED:
        layout = 4;
        break;
    }
    return layout;
}

static unsigned plan_complexity(const struct option *option)
{
    static const unsigned of_plan[] = {
        [PLAN_DIRECT] = 0, [PLAN_VECTOR] = 1, [PLAN_SHUFFLE] = 2, [PLAN_WIDE] = 3, [PLAN_STAGED] = 4};
    return of_plan[option->candidate.plan.kind] * 2 +
           (option->candidate.plan.pad != 0 || option->candidate.plan.swizzle);
}

/* Sorting happens with the number of arrays and each one's place in the enumeration at hand. */
struct sortable {
    struct ranked ranked;
    double others_us;        /* the other resources' times, as far as a difference of them tells layouts apart */
    unsigned layouts, plans; /* how complex they are */
    size_t order;
};

static int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_counts(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Within a tie: the other resources' times, as far as they tell layouts apart, then memory, then the simplest layouts;
 * of the same layouts those times again, then the simplest plans, then declaration order. */
static int compare_in_tie(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    int difference = compare_doubles(x->others_us, y->others_us);
    if (difference == 0)
        difference = compare_counts(x->ranked.memory_bytes, y->ranked.memory_bytes);
    if (difference == 0)
        difference = compare_counts(x->layouts, y->layouts);
    if (difference == 0)
        difference = compare_doubles(x->ranked.other_us, y->ranked.other_us);
    if (difference == 0)
        difference = compare_counts(x->plans, y->plans);
    return difference != 0 ? difference : compare_counts(x->order, y->order);
}

static int compare_by_time(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    int by_time = compare_doubles(x->ranked.time_us, y->ranked.time_us);
    return by_time != 0 ? by_time : compare_in_tie(a, b);
}

/* To so many significant digits: noise in the last bits of a sum must not order candidates. */
static double round_time(double value, int digits)
{
    if (value <= 0)
        return 0;
    double unit = pow(10, floor(log10(value)) - (digits - 1));
    return round(value / unit) * unit;
}

/* Of a tie, those whose other resources need what the estimate cannot tell from the least count the same: among them
 * the simplest comes first. */
static void tell_others_apart(struct sortable *items, size_t tied)
{
    double least = tied > 0 ? items[0].ranked.other_us : 0;
    for (size_t i = 1; i < tied; i++)
        least = items[i].ranked.other_us < least ? items[i].ranked.other_us : least;
    for (size_t i = 0; i < tied; i++) {
        const double other = items[i].ranked.other_us, more = other - least;
        items[i].others_us = more <= least * RESOLUTION || more <= items[i].ranked.time_us * SHOWN ? least : other;
    }
}

static void sort_items(struct sortable *items, size_t count)
{
    /* As many digits as JSON and the text have: nobody sees what a smaller difference of the others would decide. */
    for (size_t i = 0; i < count; i++) {
        items[i].ranked.time_us = round_time(items[i].ranked.time_us, 9);
        items[i].ranked.other_us = items[i].others_us = round_time(items[i].ranked.other_us, 3);
    }
    if (count == 0)
        return;
    qsort(items, count, sizeof(*items), compare_by_time);
    size_t tied = 0;
    while (tied < count && items[tied].ranked.time_us <= items[0].ranked.time_us * TIE)
        tied++;
    for (size_t i = 0; i < tied && tied > 1; i++)
        items[i].ranked.tie = true;
    tell_others_apart(items, tied);
    qsort(items, tied, sizeof(*items), compare_in_tie);
}

struct results {
    struct sortable *items;
    size_t count, capacity;
};

static bool add_combination(struct results *results, struct context *context, struct option *const *chosen)
{
    size_t bytes = context->spec->array_count + 1;
    struct option **copy = arena_array(context->arena, bytes, sizeof(struct option *));
    memcpy(copy, chosen, context->spec->array_count * sizeof(struct option *));
    struct sortable item = {.order = results->count};
    progress_tell(context->diags->progress, "candidate", NULL, results->count + 1, context->combinations);
    if (!rank_combination(&item.ranked, context, copy))
        return false;
    for (size_t n = 0; n < context->spec->array_count; n++) {
        item.layouts += layout_complexity(copy[n]);
        item.plans += plan_complexity(copy[n]);
    }
    results->items = arena_grow(context->arena, results->items, results->count, &results->capacity, sizeof(item));
    results->items[results->count++] = item;
    return true;
}

static void rank_all(struct results *results, struct context *context)
{
    size_t arrays = context->spec->array_count;
    size_t *at = arena_array(context->arena, arrays + 1, sizeof(*at));
    struct option **chosen = arena_array(context->arena, arrays + 1, sizeof(struct option *));
    for (;;) {
        for (size_t n = 0; n < arrays; n++)
            chosen[n] = context->options[n].items[at[n]];
        (void)add_combination(results, context, chosen);
        size_t n = arrays;
        while (n > 0 && ++at[n - 1] == context->options[n - 1].count)
            at[--n] = 0;
        if (n == 0 || diag_failed(context->diags))
            return;
    }
}

/* Too many combinations: improve one array at a time from the defaults until nothing gets better. */
static void rank_by_descent(struct results *results, struct context *context)
{
    size_t arrays = context->spec->array_count;
    struct option **chosen = arena_array(context->arena, arrays + 1, sizeof(struct option *));
    for (size_t n = 0; n < arrays; n++)
        chosen[n] = context->options[n].items[0];
    if (!add_combination(results, context, chosen))
        return;
    double best = results->items[0].ranked.time_us;
    bool improved = true;
    for (unsigned round = 0; improved && round < ROUNDS_MAX; round++) {
        improved = false;
        for (size_t n = 0; n < arrays && !diag_failed(context->diags); n++) {
            struct option *kept = chosen[n];
            for (size_t i = 0; i < context->options[n].count; i++) {
                chosen[n] = context->options[n].items[i];
                if (chosen[n] == kept || !add_combination(results, context, chosen))
                    continue;
                if (results->items[results->count - 1].ranked.time_us >= best)
                    continue;
                best = results->items[results->count - 1].ranked.time_us;
                kept = chosen[n];
                improved = true;
            }
            chosen[n] = kept;
        }
    }
}

/* 0 where there are too many to score them all. */
static size_t count_combinations(const struct context *context)
{
    size_t product = 1;
    for (size_t n = 0; n < context->spec->array_count; n++) {
        product *= context->options[n].count;
        if (product > COMBINATIONS_MAX)
            return 0;
    }
    return product;
}

static bool same_choice(const struct ranked *a, const struct ranked *b, size_t arrays)
{
    for (size_t n = 0; n < arrays; n++)
        if (a->chosen[n] != b->chosen[n])
            return false;
    return true;
}

/* Descent may come by a combination twice: keeps the first. */
static void drop_repeats(struct results *results, size_t arrays)
{
    size_t kept = 0;
    for (size_t i = 0; i < results->count; i++) {
        bool repeat = false;
        for (size_t j = 0; j < kept && !repeat; j++)
            repeat = same_choice(&results->items[j].ranked, &results->items[i].ranked, arrays);
        if (!repeat)
            results->items[kept++] = results->items[i];
    }
    results->count = kept;
}

/* Copies the options, with room for those that a search adds. */
static void prepare(struct context *context, const struct options *options)
{
    const struct spec *spec = context->spec;
    context->options = arena_array(context->arena, spec->array_count + 1, sizeof(*context->options));
    for (size_t n = 0; n < spec->array_count; n++) {
        struct options *mine = &context->options[n];
        *mine = options[n];
        mine->items = arena_array(context->arena, mine->count + GROUPS_FOUND_MAX, sizeof(struct option *));
        for (size_t i = 0; i < mine->count; i++)
            mine->items[i] = options[n].items[i];
        if (mine->count + GROUPS_FOUND_MAX > context->options_most)
            context->options_most = mine->count + GROUPS_FOUND_MAX;
    }
    size_t parts = spec->kernel_count * 2 * (spec->array_count + 1) * (context->options_most + 1);
    context->parts = arena_array(context->arena, parts, sizeof(*context->parts));
    context->twins = arena_array(context->arena, parts, sizeof(*context->twins));
    for (size_t n = 0; n < spec->array_count; n++)
        find_twins(context, n, 0);
    context->kernels = arena_array(context->arena, spec->kernel_count + 1, sizeof(struct kernel *));
    size_t k = 0;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        context->kernels[k++] = kernel;
    context->look_ups = arena_array(context->arena, spec->kernel_count + 1, sizeof(struct kernel_score *));
    for (k = 0; k < spec->kernel_count; k++)
        context->look_ups[k] = look_ups_score(spec, k, context->device, context->arena);
}

/* Scores and orders the combinations of the options at hand; false where not all were scored. */
static bool rank_options(struct results *results, struct context *context)
{
    context->combinations = count_combinations(context);
    results->count = 0;
    if (context->combinations != 0)
        rank_all(results, context);
    else
        rank_by_descent(results, context);
    if (diag_failed(context->diags))
        return false;
    if (context->combinations == 0)
        drop_repeats(results, context->spec->array_count);
    sort_items(results->items, results->count);
    return context->combinations != 0;
}

/* What the arrays are while one of them is searched: as in the best combination, but with a thread a record. */
static struct option **narrow_choice(const struct context *context, const struct ranked *best)
{
    const size_t arrays = context->spec->array_count;
    struct option **chosen = arena_array(context->arena, arrays + 1, sizeof(struct option *));
    for (size_t n = 0; n < arrays; n++)
        chosen[n] = best->chosen[n]->candidate.plan.kind == PLAN_WIDE ? context->options[n].items[0] : best->chosen[n];
    return chosen;
}

/* Adds to each open array's options the splits that a search finds; false where there are none. */
static bool search_groups(struct context *context, const struct ranked *best)
{
    struct option **others = narrow_choice(context, best);
    bool any = false;
    for (size_t n = 0; n < context->spec->array_count; n++) {
        struct options *options = &context->options[n];
        struct option *const chosen = others[n];
        if (!options->open)
            continue;
        others[n] = options->items[0];
        size_t found = groups_search(&options->items[options->count], context->spec, context->device, options->array,
                                     others, context->arena);
        others[n] = chosen;
        options->count += found;
        find_twins(context, n, options->count - found);
        any |= found > 0;
    }
    return any;
}

static bool was_searched(const struct context *context, const struct options *before, const struct ranked *ranked)
{
    for (size_t n = 0; n < context->spec->array_count; n++)
        if (option_number(context, n, ranked->chosen[n]) >= before[n].count)
            return true;
    return false;
}

/* Of what the search added, only what comes before all else is worth a line. */
static void drop_searched(struct results *results, const struct context *context, const struct options *before)
{
    size_t kept = 0;
    bool leads = true;
    for (size_t i = 0; i < results->count; i++) {
        const bool searched = was_searched(context, before, &results->items[i].ranked);
        leads = leads && searched;
        if (leads || !searched)
            results->items[kept++] = results->items[i];
    }
    results->count = kept;
    if (kept > 1)
        results->items[0].ranked.tie = results->items[1].ranked.tie;
}

static struct group_evidence **explain_best(const struct context *context, const struct ranked *best)
{
    const size_t arrays = context->spec->array_count;
    struct group_evidence **evidence = arena_array(context->arena, arrays + 1, sizeof(struct group_evidence *));
    for (size_t n = 0; n < arrays; n++)
        if (best->chosen[n]->candidate.layout.kind == LAYOUT_SPLIT)
            evidence[n] = groups_explain(best->chosen[n], context->spec, context->device, context->arena);
    return evidence;
}

/* Of combinations none of which goes together the first tells why, in a diagnostic. */
static bool first_is_refused(const struct context *context)
{
    const size_t arrays = context->spec->array_count;
    struct option **first = arena_array(context->arena, arrays + 1, sizeof(struct option *));
    for (size_t n = 0; n < arrays; n++)
        first[n] = context->options[n].items[0];
    return score_spec(context->spec, context->device, first, context->arena, context->diags) == NULL;
}

struct ranking *rank_spec(const struct spec *spec, const struct device *device, const struct options *options,
                          struct arena *arena, struct diags *diags)
{
    struct context context = {.spec = spec, .device = device, .arena = arena, .diags = diags};
    struct results results = {0};
    struct ranking *ranking = arena_alloc(arena, sizeof(*ranking));
    prepare(&context, options);
    ranking->exhaustive = rank_options(&results, &context);
    if (results.count > 0 && !diag_failed(diags) && search_groups(&context, &results.items[0].ranked)) {
        ranking->exhaustive = rank_options(&results, &context);
        drop_searched(&results, &context, options);
    }
    if (diag_failed(diags) || (results.count == 0 && first_is_refused(&context)))
        return NULL;
    ranking->count = results.count;
    ranking->items = arena_array(arena, results.count + 1, sizeof(*ranking->items));
    for (size_t i = 0; i < results.count; i++)
        ranking->items[i] = results.items[i].ranked;
    ranking->sensitivity = rank_sensitivity(ranking, spec, device, arena, diags);
    if (ranking->count > 0)
        ranking->evidence = explain_best(&context, &ranking->items[0]);
    return ranking;
}
