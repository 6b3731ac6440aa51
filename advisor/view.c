#include "view.h"

#include <math.h>
#include <string.h>

#include "checked.h"
#include "rank_sensitivity.h"
#include "request.h"
#include "view_put.h"
#include "view_verdict.h"

/* What all parts of a view are made with; `overflow` is the key of the first count that an integer cannot hold. */
struct maker {
    const struct spec *spec;
    const struct device *device;
    const char *overflow;
};

static void put_count(struct maker *maker, json_t *object, const char *key, uint64_t count)
{
    if (count > INT64_MAX && maker->overflow == NULL)
        maker->overflow = key;
    put(object, key, json_integer((json_int_t)(count & INT64_MAX)));
}

/* An estimated amount, whole. */
static void put_amount(struct maker *maker, json_t *object, const char *key, double value)
{
    bool fits = value < (double)INT64_MAX;
    put_count(maker, object, key, fits && value > 0 ? (uint64_t)(view_rounded(value) + 0.5) : fits ? 0 : UINT64_MAX);
}

static json_t *finish(struct maker *maker, json_t *root, struct diags *diags)
{
    if (maker->overflow == NULL)
        return root;
    json_decref(root);
    diag_error(diags, "count-overflow", maker->spec->name.where, "'%s' is beyond 2^63-1", maker->overflow);
    return NULL;
}

json_t *view_root(const struct spec *spec, const struct device *device, const char *format)
{
    json_t *root = json_object();
    put_text(root, "format", format);
    put_text(root, "layout", spec->name.text);
    put_text(root, "device", device->name);
    put_text(root, "device_title", device->title == NULL ? device->name : device->title);
    put_flag(root, "calibrated", device->calibrated);
    return root;
}

static const char *space_name(enum array_space space)
{
    switch (space) {
    case SPACE_GLOBAL:
        return "global";
    case SPACE_SHARED:
        return "shared";
    }
    return "";
}

static void put_counts(struct maker *maker, json_t *object, const struct counts *counts)
{
    put_count(maker, object, "instructions", counts->instructions);
    put_count(maker, object, "requests", counts->requests);
    put_count(maker, object, "sectors", counts->sectors);
    put_count(maker, object, "ideal_sectors", counts->ideal_sectors);
    put_count(maker, object, "lines", counts->lines);
    put_count(maker, object, "asked_bytes", counts->asked_bytes);
    put_count(maker, object, "unique_bytes", counts->unique_bytes);
    put_count(maker, object, "wavefronts", counts->wavefronts);
    put_count(maker, object, "conflicts", counts->conflicts);
}

static void put_quality(json_t *object, double requests, double sectors, double unique_bytes)
{
    put_ratio(object, "sectors_per_request", sectors, requests);
    put_ratio(object, "efficiency", unique_bytes, SECTOR_BYTES * sectors);
}

static void put_joined(struct maker *maker, json_t *object, const struct counts *counts)
{
    if (counts->instructions == 0)
        return;
    json_t *joined = json_object();
    put_counts(maker, joined, counts);
    put(object, "joined", joined);
}

static json_t *make_access(struct maker *maker, const struct access_score *score)
{
    json_t *object = json_object();
    const char *field = score->access->field_text.text;
    put_text(object, "array", score->array->name.text);
    /* A copy moves records, whatever the access names. */
    put_text(object, "field", score->phase != PHASE_THREADS || field == NULL ? "" : field);
    put_text(object, "op", access_op_name(score->op));
    put_text(object, "space", space_name(score->space));
    put_text(object, "candidate", score->candidate);
    put_count(maker, object, "source_line", score->access->line);
    switch (score->phase) {
    case PHASE_THREADS:
    case PHASE_EXCHANGE:
        break;
    case PHASE_COPY_IN:
        put_text(object, "phase", "copy-in");
        break;
    case PHASE_COPY_OUT:
        put_text(object, "phase", "copy-out");
        break;
    }
    put_counts(maker, object, &score->counts);
    put_joined(maker, object, &score->joined);
    if (score->op == ACCESS_ATOMIC)
        put_count(maker, object, "atomic_sectors", score->counts.atomic_sectors);
    if (score->space == SPACE_GLOBAL)
        put_quality(object, (double)score->counts.requests, (double)score->counts.sectors,
                    (double)score->counts.unique_bytes);
    return object;
}

static json_t *make_array_score(struct maker *maker, const struct array_score *score)
{
    json_t *object = json_object();
    put_text(object, "array", score->array->name.text);
    put_count(maker, object, "distinct_sectors", score->distinct_sectors);
    put_count(maker, object, "fill_sectors", score->fill_sectors);
    put_count(maker, object, "read_sectors", score->read_sectors);
    put_count(maker, object, "written_sectors", score->written_sectors);
    return object;
}

/* Sums over the accesses of a kernel; unique_bytes is of those in global memory, so that efficiency can be told.
 * False where a sum is beyond an integer of JSON. */
static bool sum_kernel(struct counts *sum, const struct kernel_score *score)
{
    *sum = (struct counts){0};
    for (size_t i = 0; i < score->access_count; i++) {
        struct counts more = score->accesses[i].counts;
        if (score->accesses[i].space == SPACE_SHARED)
            more.unique_bytes = 0;
        if (!counts_add(sum, &more, 1))
            return false;
    }
    return true;
}

static bool sum_joined(struct counts *sum, const struct kernel_score *score)
{
    *sum = (struct counts){0};
    for (size_t i = 0; i < score->access_count; i++)
        if (!counts_add(sum, &score->accesses[i].joined, 1))
            return false;
    return true;
}

static void put_launch(struct maker *maker, json_t *object, const struct kernel_score *score)
{
    put_count(maker, object, "calls", (uint64_t)score->kernel->calls);
    put_count(maker, object, "blocks", score->blocks);
    put_count(maker, object, "threads", score->threads);
    put_count(maker, object, "warps", score->active_warps);
    put_count(maker, object, "shared_bytes", score->shared_bytes);
}

static json_t *make_kernel_score(struct maker *maker, const struct kernel_score *score)
{
    json_t *object = json_object();
    put_text(object, "name", score->kernel->name.text);
    put_launch(maker, object, score);
    json_t *accesses = json_array();
    for (size_t i = 0; i < score->access_count; i++)
        add(accesses, make_access(maker, &score->accesses[i]));
    put(object, "accesses", accesses);
    json_t *arrays = json_array();
    for (size_t i = 0; i < score->array_count; i++)
        add(arrays, make_array_score(maker, &score->arrays[i]));
    put(object, "arrays", arrays);
    struct counts sum, joined;
    /* Every count may fit and their sum not: then it is left out. */
    if (sum_kernel(&sum, score) && sum_joined(&joined, score)) {
        json_t *total = json_object();
        put_counts(maker, total, &sum);
        put_joined(maker, total, &joined);
        put_quality(total, (double)sum.requests, (double)sum.sectors, (double)sum.unique_bytes);
        put(object, "total", total);
    }
    return object;
}

static json_t *make_array(struct maker *maker, const struct array *array)
{
    json_t *object = json_object();
    put_text(object, "name", array->name.text);
    put_text(object, "of", array->of_text.text);
    put_text(object, "space", space_name(array->space));
    json_t *extent = json_array();
    for (unsigned i = 0; i < array->dim_count; i++)
        add(extent, json_integer((json_int_t)array->extent[i]));
    put(object, "extent", extent);
    put_count(maker, object, "records", array->records);
    put_count(maker, object, "record_bytes", array->record->type->size);
    return object;
}

json_t *view_score(const struct spec *spec, const struct device *device, struct option *const *chosen,
                   const struct score *score, struct diags *diags)
{
    struct maker maker = {.spec = spec, .device = device};
    json_t *root = view_root(spec, device, "sectorwise-score-1");
    json_t *arrays = json_array();
    size_t number = 0;
    for (const struct array *array = spec->arrays; array != NULL; array = array->next, number++) {
        json_t *object = make_array(&maker, array);
        put_text(object, "candidate", chosen[number]->candidate.text);
        put_count(&maker, object, "memory_bytes", chosen[number]->mapping->bytes);
        add(arrays, object);
    }
    put(root, "arrays", arrays);
    json_t *kernels = json_array();
    for (size_t i = 0; i < score->kernel_count; i++)
        add(kernels, make_kernel_score(&maker, &score->kernels[i]));
    put(root, "kernels", kernels);
    return finish(&maker, root, diags);
}

const char *view_resource_title(enum resource resource)
{
    switch (resource) {
    case RESOURCE_DRAM:
        return "DRAM";
    case RESOURCE_L2:
        return "L2";
    case RESOURCE_L1:
        return "L1";
    case RESOURCE_TLB:
        return "address translation";
    case RESOURCE_SHARED:
        return "shared memory";
    case RESOURCE_ISSUE:
        return "instruction issue";
    case RESOURCE_FLOPS:
        return "arithmetic";
    case RESOURCE_FLIGHT:
        return "requests in flight";
    case RESOURCE_LAUNCH:
        return "launch overhead";
    }
    return "";
}

double view_kernels_us(const struct spec *spec, const struct ranked *ranked)
{
    double sum = 0;
    for (size_t i = 0; i < spec->kernel_count; i++)
        sum += (double)ranked->kernels[i].kernel->calls * ranked->kernels[i].estimate.time_us;
    return sum;
}

static bool is_default(const struct option *option)
{
    const char *pinned = option->array->layout_text.text;
    if (pinned != NULL && strchr(pinned, '/') != NULL)
        return true;
    if (option->candidate.plan.kind != PLAN_DIRECT)
        return false;
    struct layout layout = layout_default(option->array);
    return pinned != NULL || notation_same_layout(&option->candidate.layout, &layout);
}

size_t view_find_default(const struct ranking *ranking, size_t array_count)
{
    for (size_t i = 0; i < ranking->count; i++) {
        size_t number = 0;
        while (number < array_count && is_default(ranking->items[i].chosen[number]))
            number++;
        if (number == array_count)
            return i;
    }
    return ranking->count;
}

/* What is really done to each array that the kernel touches: a plan that cannot serve it leaves `direct`. */
static json_t *make_usages(const struct maker *maker, const struct ranked *ranked, size_t kernel)
{
    json_t *object = json_object();
    for (size_t i = 0; i < maker->spec->array_count; i++) {
        const struct option *option = ranked->chosen[i];
        if (option->usages[kernel].used)
            put_text(object, option->array->name.text, option->usages[kernel].effective.text);
    }
    return object;
}

static json_t *make_ranked_kernel(struct maker *maker, const struct ranked *ranked, size_t number)
{
    const struct ranked_kernel *kernel = &ranked->kernels[number];
    const struct estimate *estimate = &kernel->estimate;
    json_t *object = json_object();
    put_text(object, "name", kernel->kernel->name.text);
    put_real(object, "time_us", estimate->time_us);
    put_text(object, "bound_by", resource_name(estimate->bound_by));
    put_launch(maker, object, kernel->score);
    put(object, "arrays", make_usages(maker, ranked, number));
    struct counts sum;
    if (sum_kernel(&sum, kernel->score)) {
        put_count(maker, object, "requests", sum.requests);
        put_count(maker, object, "sectors", sum.sectors);
        put_count(maker, object, "ideal_sectors", sum.ideal_sectors);
        put_count(maker, object, "wavefronts", sum.wavefronts);
        put_count(maker, object, "conflicts", sum.conflicts);
        put_quality(object, (double)sum.requests, (double)sum.sectors, (double)sum.unique_bytes);
    }
    put_amount(maker, object, "l2_read_sectors", estimate->l2_read_sectors);
    put_amount(maker, object, "l2_write_sectors", estimate->l2_write_sectors);
    put_amount(maker, object, "dram_read_bytes", estimate->dram_read_bytes);
    put_amount(maker, object, "dram_write_bytes", estimate->dram_write_bytes);
    json_t *resources = json_object();
    for (int i = 0; i < RESOURCE_COUNT; i++)
        put_real(resources, resource_name((enum resource)i), estimate->resource_us[i]);
    put(object, "resource_us", resources);
    return object;
}

/* Of all kernels in all their calls. Ratios alone come of these sums, so that they may be floating. */
static void put_ranked_quality(const struct maker *maker, json_t *object, const struct ranked *ranked)
{
    double requests = 0, sectors = 0, unique_bytes = 0;
    for (size_t i = 0; i < maker->spec->kernel_count; i++) {
        const struct kernel_score *score = ranked->kernels[i].score;
        double calls = (double)score->kernel->calls;
        for (size_t j = 0; j < score->access_count; j++) {
            if (score->accesses[j].space != SPACE_GLOBAL)
                continue;
            requests += calls * (double)score->accesses[j].counts.requests;
            sectors += calls * (double)score->accesses[j].counts.sectors;
            unique_bytes += calls * (double)score->accesses[j].counts.unique_bytes;
        }
    }
    put_quality(object, requests, sectors, unique_bytes);
}

static uint64_t total_calls(const struct spec *spec)
{
    uint64_t calls = 0;
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        if (!checked_add_u64(&calls, calls, (uint64_t)kernel->calls))
            return UINT64_MAX;
    return calls;
}

/* The cost of converting, and, where the kernels save anything, after how many of their calls that has paid for one
 * conversion. */
static void put_conversion(struct maker *maker, json_t *object, const struct ranked *ranked, const struct ranked *usual)
{
    const double calls_most = 0x1p53;
    put_real(object, "conversion_us", ranked->conversion_us);
    if (usual == NULL || ranked->conversion_us <= 0)
        return;
    double saved_us = view_kernels_us(maker->spec, usual) - view_kernels_us(maker->spec, ranked);
    double calls = ceil(view_rounded(ranked->conversion_us * (double)total_calls(maker->spec) / saved_us));
    if (saved_us > 0 && calls > 0 && calls < calls_most)
        put_count(maker, object, "pays_after_calls", (uint64_t)calls);
}

static json_t *make_choice(const struct maker *maker, struct option *const *chosen)
{
    json_t *object = json_object();
    for (size_t i = 0; i < maker->spec->array_count; i++)
        put_text(object, chosen[i]->array->name.text, chosen[i]->candidate.text);
    return object;
}

/* Within a tie the first need not be the fastest. */
static double least_time_us(const struct ranking *ranking)
{
    double least = ranking->items[0].time_us;
    for (size_t i = 1; i < ranking->count; i++)
        if (ranking->items[i].time_us < least)
            least = ranking->items[i].time_us;
    return least;
}

static json_t *make_candidate(struct maker *maker, const struct ranking *ranking, size_t place, size_t usual)
{
    const struct ranked *ranked = &ranking->items[place];
    json_t *object = json_object();
    put_count(maker, object, "rank", place + 1);
    put(object, "arrays", make_choice(maker, ranked->chosen));
    put_flag(object, "default", place == usual);
    put_real(object, "time_us", ranked->time_us);
    put_ratio(object, "ratio", ranked->time_us, least_time_us(ranking));
    put_text(object, "bound_by", resource_name(ranked->bound_by));
    put_flag(object, "tie", ranked->tie);
    put_count(maker, object, "memory_bytes", ranked->memory_bytes);
    put_count(maker, object, "sectors", ranked->sectors);
    put_count(maker, object, "dram_bytes", ranked->dram_bytes);
    put_count(maker, object, "wavefronts", ranked->wavefronts);
    put_ranked_quality(maker, object, ranked);
    put_conversion(maker, object, ranked, usual < ranking->count ? &ranking->items[usual] : NULL);
    json_t *kernels = json_array();
    for (size_t i = 0; i < maker->spec->kernel_count; i++)
        add(kernels, make_ranked_kernel(maker, ranked, i));
    put(object, "kernels", kernels);
    return object;
}

static const char *advice_name(enum view_advice advice)
{
    switch (advice) {
    case ADVICE_ONE:
        return "one";
    case ADVICE_KEEP:
        return "keep";
    case ADVICE_NO_MATTER:
        return "no-matter";
    case ADVICE_CHANGE:
        break;
    }
    return "change";
}

static json_t *make_change(const struct maker *maker, const struct ranking *ranking, const struct rank_change *change)
{
    json_t *object = json_object();
    switch (change->kind) {
    case CHANGE_EXTENT:
        put_text(object, "of", "extent");
        put_real(object, "factor", change->factor);
        break;
    case CHANGE_CALLS:
        put_text(object, "of", "calls");
        put_text(object, "kernel", change->kernel->name.text);
        put_real(object, "factor", change->factor);
        break;
    case CHANGE_DEVICE:
        put_text(object, "of", "device");
        put_text(object, "device", change->device->name);
        put_flag(object, "calibrated", change->device->calibrated);
        break;
    }
    put(object, "arrays", make_choice(maker, ranking->items[change->winner].chosen));
    return object;
}

/* How far the first leads the best that does not tie with it, and what would make another win. */
static json_t *make_sensitivity(const struct maker *maker, const struct ranking *ranking)
{
    const struct sensitivity *sensitivity = ranking->sensitivity;
    json_t *object = json_object(), *changes = json_array();
    if (sensitivity->next < ranking->count) {
        put(object, "next", make_choice(maker, ranking->items[sensitivity->next].chosen));
        put_real(object, "lead", ranking->items[sensitivity->next].time_us / ranking->items[0].time_us);
    }
    for (size_t i = 0; i < sensitivity->change_count; i++)
        add(changes, make_change(maker, ranking, &sensitivity->changes[i]));
    put(object, "changes", changes);
    return object;
}

static json_t *make_group_use(struct maker *maker, const struct group_use *use)
{
    json_t *object = json_object();
    put_text(object, "name", use->kernel->name.text);
    put_count(maker, object, "requests", use->requests);
    put_count(maker, object, "sectors", use->sectors);
    put_count(maker, object, "sectors_apart", use->sectors_apart);
    put_ratio(object, "efficiency", (double)use->unique_bytes, (double)use->sectors * SECTOR_BYTES);
    return object;
}

static json_t *make_group(struct maker *maker, const struct array *array, const struct group_evidence *evidence)
{
    const struct group *group = evidence->group;
    json_t *object = json_object(), *fields = json_array(), *kernels = json_array();
    struct arena arena = {0};
    put_text(object, "array", array->name.text);
    for (size_t i = 0; i < group->member_count; i++)
        add(fields, json_string(group->members[i].path));
    put(object, "fields", fields);
    put_text(object, "layout", notation_layout(&arena, &group->layout));
    put_count(maker, object, "record_bytes", group->record_stride != 0 ? group->record_stride : group->record_size);
    for (size_t i = 0; i < evidence->use_count; i++)
        add(kernels, make_group_use(maker, &evidence->uses[i]));
    put(object, "kernels", kernels);
    arena_free(&arena);
    return object;
}

/* The groups of the best candidate's splits; absent without any. */
static void put_groups(struct maker *maker, json_t *root, const struct ranking *ranking)
{
    json_t *groups = json_array();
    for (size_t n = 0; ranking->evidence != NULL && n < maker->spec->array_count; n++) {
        const struct option *option = ranking->items[0].chosen[n];
        for (unsigned g = 0; ranking->evidence[n] != NULL && g < option->mapping->group_count; g++)
            add(groups, make_group(maker, option->array, &ranking->evidence[n][g]));
    }
    if (json_array_size(groups) > 0)
        put(root, "groups", groups);
    else
        json_decref(groups);
}

json_t *view_rank(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                  struct diags *diags)
{
    struct maker maker = {.spec = spec, .device = device};
    json_t *root = view_root(spec, device, "sectorwise-rank-1");
    json_t *arrays = json_array();
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        add(arrays, make_array(&maker, array));
    put(root, "arrays", arrays);
    put_count(&maker, root, "candidate_count", ranking->count);
    if (top != 0)
        put_count(&maker, root, "top", top);
    put_flag(root, "exhaustive", ranking->exhaustive);
    put_count(&maker, root, "calls", total_calls(spec));
    struct text verdict = {0};
    view_verdict(&verdict, spec, device, ranking);
    put_text(root, "verdict", text_string(&verdict));
    text_free(&verdict);
    if (ranking->count > 0)
        put_text(root, "advice", advice_name(view_advise(ranking, spec->array_count)));
    if (ranking->sensitivity != NULL)
        put(root, "sensitivity", make_sensitivity(&maker, ranking));
    size_t usual = view_find_default(ranking, spec->array_count);
    json_t *candidates = json_array();
    for (size_t i = 0; i < ranking->count && (top == 0 || i < top); i++)
        add(candidates, make_candidate(&maker, ranking, i, usual));
    put(root, "candidates", candidates);
    put_groups(&maker, root, ranking);
    return finish(&maker, root, diags);
}

json_t *view_generate(const struct spec *spec, const struct device *device, struct option *const *chosen,
                      const char *directory, const struct view_file *files, size_t file_count)
{
    struct maker maker = {.spec = spec, .device = device};
    json_t *root = view_root(spec, device, "sectorwise-generate-1");
    put(root, "arrays", make_choice(&maker, chosen));
    /* A path may hold any bytes, which JSON may not. */
    json_t *path = json_string(directory);
    put(root, "directory", path == NULL ? json_null() : path);
    json_t *list = json_array();
    for (size_t i = 0; i < file_count; i++) {
        json_t *object = json_object();
        put_text(object, "name", files[i].name);
        put_text(object, "state", files[i].state);
        add(list, object);
    }
    put(root, "files", list);
    return root;
}
