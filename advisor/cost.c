#include "cost.h"

#include "checked.h"
#include "look_ups.h"

/* Each count is at most 2^63 - 1; a sum that is not counts as that. */
static void add_capped(uint64_t *to, uint64_t value)
{
    if (!checked_add_u64(to, *to, value) || *to > INT64_MAX)
        *to = INT64_MAX;
}

static struct kernel_cost cost_kernel(const struct kernel_score *score, const struct kernel_score *look_ups,
                                      const struct device *device, struct arena *arena)
{
    struct kernel_cost cost = {.kernel = score->kernel, .score = score};
    cost.estimate = estimate_kernel(look_ups_join(score, look_ups, arena), device);
    for (size_t i = 0; i < score->access_count; i++) {
        add_capped(&cost.sectors, score->accesses[i].counts.sectors);
        add_capped(&cost.wavefronts, score->accesses[i].counts.wavefronts);
    }
    double dram_bytes = cost.estimate.dram_read_bytes + cost.estimate.dram_write_bytes;
    cost.dram_bytes = dram_bytes < (double)INT64_MAX ? (uint64_t)(dram_bytes + 0.5) : INT64_MAX;
    return cost;
}

struct cost *cost_spec(const struct spec *spec, const struct device *device, struct arena *arena, struct diags *diags)
{
    struct option **chosen = candidates_choose(spec, device, arena, NULL, 0, diags);
    struct score *score = chosen == NULL ? NULL : score_spec_traffic(spec, device, chosen, arena, diags);
    if (score == NULL)
        return NULL;
    struct cost *cost = arena_alloc(arena, sizeof(*cost));
    cost->chosen = chosen;
    cost->kernel_count = score->kernel_count;
    cost->kernels = arena_array(arena, score->kernel_count + 1, sizeof(*cost->kernels));
    for (size_t i = 0; i < score->kernel_count; i++)
        cost->kernels[i] = cost_kernel(&score->kernels[i], look_ups_score(spec, i, device, arena), device, arena);
    return cost;
}
