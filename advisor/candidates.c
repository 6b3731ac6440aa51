#include "candidates.h"

#include <string.h>

#include "candidates_offer.h"
#include "plan_join.h"
#include "varies.h"
#include "wide.h"

struct context {
    const struct spec *spec;
    const struct device *device;
    struct arena *arena;
};

static bool kernel_uses(const struct kernel *kernel, const struct array *array)
{
    for (unsigned i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i]->array == array)
            return true;
    return false;
}

/* A record that all lanes want is not exchanged: each lane loads its pieces, which are the same for all. */
static const struct plan *plan_of_access(const struct plan *plan, const struct access *access, const unsigned *varies)
{
    static const struct plan alone = {.kind = PLAN_VECTOR};
    return plan->kind == PLAN_SHUFFLE && varies_not_with_thread(access, varies) ? &alone : plan;
}

/* The instructions of every access of the kernel to the mapping's array. */
static bool usage_instructions(struct usage *usage, const struct context *context, const struct mapping *mapping,
                               const struct plan *plan, const char **reason)
{
    const struct kernel *kernel = usage->kernel;
    const unsigned *varies = varies_of(context->arena, kernel);
    usage->instructions = arena_array(context->arena, kernel->access_count, sizeof(*usage->instructions));
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct access *access = kernel->accesses[i];
        if (access->array != mapping->array)
            continue;
        if (!plan_instructions(&usage->instructions[i], context->arena, mapping, access,
                               plan_of_access(plan, access, varies), reason))
            return false;
    }
    plan_join(usage->instructions, context->arena, mapping, kernel, plan);
    return true;
}

/* A group of one leaf is side by side whatever its layout is called. */
static bool is_side_by_side(const struct mapping *mapping, const struct group *group, const struct plan *plan)
{
    if (group->tile_records != 0)
        return group->tile_records % plan->records == 0;
    if (group->layout.kind == LAYOUT_SOA)
        return true;
    return mapping->layout.kind == LAYOUT_SPLIT && group->member_count == 1 && group->members[0].leaf_count == 1 &&
           group->layout.align == 0;
}

static bool wide_layout(const struct mapping *mapping, const struct plan *plan, const char **reason)
{
    for (unsigned g = 0; g < mapping->group_count; g++) {
        if (is_side_by_side(mapping, &mapping->groups[g], plan))
            continue;
        *reason = "four neighbouring records lie side by side only in 'soa' and 'aosoa' of a multiple of 4";
        return false;
    }
    return true;
}

/* The mapping of the shared copy: the same records, apart by the copy's strides. */
static struct mapping *staged_mapping(const struct context *context, const struct mapping *mapping,
                                      const struct stage *stage)
{
    struct mapping *copy = arena_alloc(context->arena, sizeof(*copy));
    *copy = *mapping;
    copy->leaves = arena_array(context->arena, mapping->array->record->leaf_count, sizeof(*copy->leaves));
    for (size_t i = 0; i < mapping->array->record->leaf_count; i++)
        copy->leaves[i] = (struct placement){mapping->leaves[i].offset, stage->record_bytes, 0};
    copy->record_stride = stage->record_bytes;
    copy->row_bytes = stage->dim_count > 1 ? stage->row_bytes : 0;
    copy->base = 0;
    copy->base_align = 256;
    return copy;
}

static uint64_t most_exchange_bytes(uint64_t most, const struct instruction *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t bytes = plan_exchange_bytes(&items[i]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Its warps have as much shared memory as the largest exchange takes. */
static bool use_exchange(struct usage *usage, const struct context *context, const char **reason)
{
    enum { LANES = 32 };
    const struct kernel *kernel = usage->kernel;
    uint64_t of_warp = 0;
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct instructions *instructions = &usage->instructions[i];
        of_warp = most_exchange_bytes(of_warp, instructions->loads, instructions->load_count);
        of_warp = most_exchange_bytes(of_warp, instructions->stores, instructions->store_count);
    }
    usage->exchange_bytes = (kernel->block_threads + LANES - 1) / LANES * of_warp;
    if (of_warp == 0)
        *reason = "no access takes a record in two or more pieces, of 128 bytes at most, that a warp could exchange";
    else if (kernel->block_threads < LANES)
        *reason = "a block has no whole warp, whose lanes could move their records together";
    else if (usage->exchange_bytes > (uint64_t)context->device->shared_bytes_per_block)
        *reason = "the warps of a block would exchange more than its shared memory holds";
    else
        return true;
    return false;
}

/* Uses the plan in one kernel. False and the reason where it cannot serve there. */
static bool use_plan(struct usage *usage, const struct context *context, const struct mapping *mapping,
                     const struct candidate *candidate, const char **reason)
{
    usage->effective = *candidate;
    switch (candidate->plan.kind) {
    case PLAN_DIRECT:
    case PLAN_VECTOR:
        return usage_instructions(usage, context, mapping, &candidate->plan, reason);
    case PLAN_SHUFFLE:
        if (mapping->array->space == SPACE_SHARED) {
            *reason = "the array is in shared memory";
            return false;
        }
        return usage_instructions(usage, context, mapping, &candidate->plan, reason) &&
               use_exchange(usage, context, reason);
    case PLAN_WIDE:
        if (mapping->array->space == SPACE_SHARED) {
            *reason = "the array is in shared memory";
            return false;
        }
        return wide_layout(mapping, &candidate->plan, reason) && wide_serves(usage->kernel, context->arena, reason) &&
               usage_instructions(usage, context, mapping, &candidate->plan, reason);
    case PLAN_STAGED: {
        struct stage *stage;
        if (!stage_plan(&stage, context->arena, usage->kernel, mapping, &candidate->plan, context->device, reason))
            return false;
        usage->stage = stage;
        return usage_instructions(usage, context, staged_mapping(context, mapping, stage), &candidate->plan, reason);
    }
    }
    return false;
}

static bool use_simpler(struct usage *usage, const struct context *context, const struct mapping *mapping,
                        enum plan_kind kind, const char **reason)
{
    usage->effective = (struct candidate){.layout = mapping->layout, .plan = {.kind = kind}};
    notation_complete(context->arena, &usage->effective);
    usage->stage = NULL;
    usage->exchange_bytes = 0;
    return usage_instructions(usage, context, mapping, &usage->effective.plan, reason);
}

/* What a plan that cannot serve a kernel gives way to. */
static bool give_way(struct usage *usage, const struct context *context, const struct mapping *mapping,
                     enum plan_kind kind, const char **reason)
{
    return (kind == PLAN_SHUFFLE && use_simpler(usage, context, mapping, PLAN_VECTOR, reason)) ||
           use_simpler(usage, context, mapping, PLAN_DIRECT, reason);
}

static struct option *apply(const struct context *context, const struct array *array, const struct candidate *candidate,
                            const char **reason)
{
    struct option *option = arena_alloc(context->arena, sizeof(*option));
    struct mapping *mapping;
    option->array = array;
    option->candidate = *candidate;
    notation_complete(context->arena, &option->candidate);
    if (!layout_map(&mapping, context->arena, array, &candidate->layout, reason))
        return NULL;
    option->mapping = mapping;
    option->usages = arena_array(context->arena, context->spec->kernel_count, sizeof(*option->usages));
    size_t k = 0, served = 0, users = 0;
    const char *refusal = NULL;
    for (const struct kernel *kernel = context->spec->kernels; kernel != NULL; kernel = kernel->next, k++) {
        struct usage *usage = &option->usages[k];
        *usage = (struct usage){.kernel = kernel, .used = kernel_uses(kernel, array)};
        if (!usage->used)
            continue;
        users++;
        if (use_plan(usage, context, mapping, &option->candidate, reason)) {
            served++;
            continue;
        }
        refusal =
            refusal == NULL ? arena_printf(context->arena, "in kernel '%s' %s", kernel->name.text, *reason) : refusal;
        if (candidate->plan.kind == PLAN_DIRECT || !give_way(usage, context, mapping, candidate->plan.kind, reason))
            return NULL;
    }
    if (served > 0 || users == 0)
        return option;
    *reason = refusal;
    return NULL;
}

struct option *candidate_apply(const struct spec *spec, const struct array *array, const struct candidate *candidate,
                               const struct device *device, struct arena *arena, const char **reason)
{
    const struct context context = {spec, device, arena};
    return apply(&context, array, candidate, reason);
}

/* Whether the four records that a thread does are always in one tile. */
static bool tiles_follow(const struct mapping *mapping)
{
    for (unsigned g = 0; g < mapping->group_count; g++)
        if (mapping->groups[g].tile_records % WIDE_RECORDS != 0)
            return false;
    return true;
}

bool candidates_agree(bool *wide, const struct spec *spec, size_t kernel_number, struct option *const *chosen,
                      struct arena *arena, const char **reason)
{
    *wide = false;
    for (size_t n = 0; n < spec->array_count; n++)
        if (chosen[n] != NULL && chosen[n]->usages[kernel_number].used)
            *wide |= chosen[n]->usages[kernel_number].effective.plan.kind == PLAN_WIDE;
    for (size_t n = 0; n < spec->array_count && *wide; n++) {
        const struct option *option = chosen[n];
        if (option == NULL || !option->usages[kernel_number].used)
            continue;
        const struct usage *usage = &option->usages[kernel_number];
        const enum plan_kind kind = usage->effective.plan.kind;
        bool fits = kind != PLAN_STAGED && kind != PLAN_SHUFFLE && tiles_follow(option->mapping);
        if (fits)
            continue;
        *reason = arena_printf(arena, "threads of kernel '%s' would do four records each, which '%s' cannot follow",
                               usage->kernel->name.text, usage->effective.text);
        return false;
    }
    return true;
}

/* What pins an array: each --candidate that names it, else its `layout` attribute. */
struct pin {
    struct candidate candidate;
    bool set, has_plan;
    bool asked; /* by a --candidate */
    struct span where;
    struct pin *next; /* another --candidate of the same array */
};

static const struct array *find_array(const struct spec *spec, const char *name)
{
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        if (strcmp(array->name.text, name) == 0)
            return array;
    return NULL;
}

static void add_pin(struct arena *arena, struct pin *first, const struct pin *pin)
{
    if (!first->asked) {
        *first = *pin;
        return;
    }
    struct pin *last = first;
    while (last->next != NULL)
        last = last->next;
    last->next = arena_alloc(arena, sizeof(*pin));
    *last->next = *pin;
}

static bool pin_from_restriction(struct pin *pins, const struct context *context, const char *text, struct diags *diags)
{
    const struct source *source = source_from_bytes(context->arena, "<command line>", text, strlen(text));
    const char *equals = strchr(text, '=');
    size_t name_length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    struct span name_span = {source, 0, name_length};
    if (equals == NULL) {
        diag_error(diags, "notation", name_span, "'%s' is no ARRAY=LAYOUT/PLAN", text);
        return false;
    }
    const char *name = arena_copy(context->arena, text, name_length);
    const struct array *array = find_array(context->spec, name);
    if (array == NULL) {
        struct text_guess guess = {.wanted = name};
        diag_error(diags, "unknown-array", name_span, "unknown array '%s'", name);
        for (const struct array *a = context->spec->arrays; a != NULL; a = a->next)
            text_guess_offer(&guess, a->name.text);
        if (guess.best != NULL)
            diag_note(diags, "did you mean '%s'?", guess.best);
        return false;
    }
    struct quoted notation = {equals + 1, {source, name_length + 1, strlen(equals + 1)}};
    struct pin pin = {.set = true, .asked = true, .where = notation.where};
    if (!notation_parse(&pin.candidate, &pin.has_plan, context->arena, &notation, diags))
        return false;
    add_pin(context->arena, &pins[array->number], &pin);
    return true;
}

static bool pin_from_attribute(struct pin *pin, const struct context *context, const struct array *array,
                               struct diags *diags)
{
    if (array->layout_text.text == NULL || strcmp(array->layout_text.text, "auto") == 0)
        return true;
    pin->set = true;
    pin->where = array->layout_text.where;
    return notation_parse(&pin->candidate, &pin->has_plan, context->arena, &array->layout_text, diags);
}

static struct pin *read_pins(const struct context *context, const struct restriction *restrictions, size_t count,
                             struct diags *diags)
{
    struct pin *pins = arena_array(context->arena, context->spec->array_count + 1, sizeof(*pins));
    bool fine = true;
    for (const struct array *array = context->spec->arrays; array != NULL; array = array->next)
        fine &= pin_from_attribute(&pins[array->number], context, array, diags);
    for (size_t i = 0; i < count; i++)
        fine &= pin_from_restriction(pins, context, restrictions[i].text, diags);
    return fine ? pins : NULL;
}

static struct option *apply_pin(const struct context *context, const struct array *array, const struct pin *pin,
                                struct diags *diags)
{
    const char *reason = NULL;
    struct candidate candidate = pin->candidate;
    notation_complete(context->arena, &candidate);
    struct option *option = apply(context, array, &candidate, &reason);
    if (option == NULL)
        diag_error(diags, "inapplicable-candidate", pin->where, "'%s' does not apply to array '%s': %s", candidate.text,
                   array->name.text, reason == NULL ? "no kernel can use it" : reason);
    return option;
}

static void add_option(struct arena *arena, struct options *options, size_t *capacity, struct option *option)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i]->candidate.text, option->candidate.text) == 0)
            return;
    options->items = arena_grow(arena, options->items, options->count, capacity, sizeof(struct option *));
    options->items[options->count++] = option;
}

/* The options of all that was asked for, each once, in the order of the command line. */
static void unite_pins(struct options *options, const struct context *context, const struct pin *first,
                       struct diags *diags)
{
    size_t capacity = 0;
    for (const struct pin *pin = first; pin != NULL; pin = pin->next) {
        struct options some = {.count = 0};
        if (!pin->has_plan)
            some = candidates_offer(context->spec, context->device, context->arena, options->array,
                                    &pin->candidate.layout);
        for (size_t i = 0; i < some.count; i++)
            add_option(context->arena, options, &capacity, some.items[i]);
        struct option *option = some.count == 0 ? apply_pin(context, options->array, pin, diags) : NULL;
        if (option != NULL)
            add_option(context->arena, options, &capacity, option);
    }
}

struct options *candidates_enumerate(const struct spec *spec, const struct device *device, struct arena *arena,
                                     const struct restriction *restrictions, size_t restriction_count,
                                     struct diags *diags)
{
    const struct context context = {spec, device, arena};
    struct pin *pins = read_pins(&context, restrictions, restriction_count, diags);
    if (pins == NULL)
        return NULL;
    struct options *all = arena_array(arena, spec->array_count + 1, sizeof(*all));
    for (const struct array *array = spec->arrays; array != NULL; array = array->next) {
        const struct pin *pin = &pins[array->number];
        struct options *options = &all[array->number];
        *options = (struct options){.array = array};
        if (pin->set) {
            unite_pins(options, &context, pin, diags);
            continue;
        }
        *options = candidates_offer(spec, device, arena, array, NULL);
        options->open = true;
        if (options->count > 0)
            continue;
        struct pin described = {.candidate = {.layout = layout_default(array)}, .where = array->name.where};
        options->items = arena_array(arena, 1, sizeof(struct option *));
        options->items[0] = apply_pin(&context, array, &described, diags);
        options->count = 1;
    }
    return diag_failed(diags) ? NULL : all;
}

/* Two different candidates of one array are no choice. */
static bool is_one(const struct context *context, const struct array *array, const struct pin *first,
                   struct diags *diags)
{
    struct candidate chosen = first->candidate;
    notation_complete(context->arena, &chosen);
    for (const struct pin *pin = first->next; pin != NULL; pin = pin->next) {
        struct candidate other = pin->candidate;
        notation_complete(context->arena, &other);
        if (strcmp(other.text, chosen.text) == 0)
            continue;
        diag_error(diags, "two-candidates", pin->where, "array '%s' takes one candidate here: '%s' or '%s'",
                   array->name.text, chosen.text, other.text);
        diag_note(diags, "'rank' compares several");
        return false;
    }
    return true;
}

struct option **candidates_choose(const struct spec *spec, const struct device *device, struct arena *arena,
                                  const struct restriction *restrictions, size_t restriction_count, struct diags *diags)
{
    const struct context context = {spec, device, arena};
    struct pin *pins = read_pins(&context, restrictions, restriction_count, diags);
    if (pins == NULL)
        return NULL;
    struct option **chosen = arena_array(arena, spec->array_count + 1, sizeof(struct option *));
    for (const struct array *array = spec->arrays; array != NULL; array = array->next) {
        struct pin pin = pins[array->number];
        if (!pin.set)
            pin = (struct pin){.candidate = {.layout = layout_default(array)}, .where = array->name.where};
        if (is_one(&context, array, &pin, diags))
            chosen[array->number] = apply_pin(&context, array, &pin, diags);
    }
    return diag_failed(diags) ? NULL : chosen;
}
