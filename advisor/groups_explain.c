#include "groups_internal.h"

/* One launch of a kernel with these instructions of the array alone, nothing sampled. False where it cannot be scored.
 */
static bool count_alone(struct counts *out, const struct spec *spec, size_t kernel_number, const struct device *device,
                        struct option *option, struct arena *arena)
{
    struct diags ignored = {.arena = arena};
    struct option **chosen = arena_array(arena, spec->array_count + 1, sizeof(struct option *));
    struct kernel_score score;
    *out = (struct counts){0};
    chosen[option->array->number] = option;
    if (!score_kernel(&score, spec, kernel_number, device, chosen, false, false, arena, &ignored))
        return false;
    for (size_t e = 0; e < score.access_count; e++)
        if (!counts_add(out, &score.accesses[e].counts, 1))
            return false;
    return true;
}

static bool *leaves_of(const struct mapping *mapping, const struct group *group, struct arena *arena)
{
    const size_t count = mapping->array->record->leaf_count;
    bool *kept = arena_array(arena, count, sizeof(*kept));
    for (size_t i = 0; i < count; i++)
        kept[i] = &mapping->groups[mapping->leaves[i].group] == group;
    return kept;
}

/* NULL: there is no soa of this array. */
static struct option *apart_option(const struct option *option, const struct spec *spec, const struct device *device,
                                   struct arena *arena)
{
    const struct candidate soa = {.layout = {.kind = LAYOUT_SOA}, .plan = {.kind = PLAN_DIRECT}};
    const char *reason;
    return candidate_apply(spec, option->array, &soa, device, arena, &reason);
}

static bool explain_group(struct group_evidence *out, const struct option *option, struct option *apart,
                          const struct spec *spec, const struct device *device, struct arena *arena)
{
    const bool *kept = leaves_of(option->mapping, out->group, arena);
    struct option *together = groups_only_leaves(spec, option, kept, arena);
    struct option *fields = apart == NULL ? NULL : groups_only_leaves(spec, apart, kept, arena);
    out->uses = arena_array(arena, spec->kernel_count + 1, sizeof(*out->uses));
    for (size_t k = 0; k < spec->kernel_count; k++) {
        struct counts counts, counts_apart = {0};
        if (!together->usages[k].used)
            continue;
        if (!count_alone(&counts, spec, k, device, together, arena) ||
            (fields != NULL && !count_alone(&counts_apart, spec, k, device, fields, arena)))
            return false;
        out->uses[out->use_count++] = (struct group_use){.kernel = together->usages[k].kernel,
                                                         .requests = counts.requests,
                                                         .sectors = counts.sectors,
                                                         .unique_bytes = counts.unique_bytes,
                                                         .sectors_apart = counts_apart.sectors};
    }
    return true;
}

struct group_evidence *groups_explain(const struct option *option, const struct spec *spec, const struct device *device,
                                      struct arena *arena)
{
    const struct mapping *mapping = option->mapping;
    struct group_evidence *out = arena_array(arena, mapping->group_count, sizeof(*out));
    struct option *apart = apart_option(option, spec, device, arena);
    for (unsigned g = 0; g < mapping->group_count; g++) {
        out[g].group = &mapping->groups[g];
        if (!explain_group(&out[g], option, apart, spec, device, arena))
            return NULL;
    }
    return out;
}
