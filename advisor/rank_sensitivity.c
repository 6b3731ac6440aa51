#include "rank_sensitivity.h"

#include <string.h>

#include "embedded.h"

enum { CANDIDATES_MOST = 256, DOUBLINGS = 8 };
static const double NOTICEABLE = 1.02;

struct study {
    const struct ranking *ranking;
    const struct spec *spec;
    const struct device *device;
    struct arena *arena;
    struct sensitivity *out;
    size_t capacity;
};

/* Another situation: a device, how often a kernel is called more (NULL: all as they are), and what conversions take. */
struct situation {
    const struct device *device;
    const struct kernel *kernel;
    double calls_factor;
    bool estimate; /* times are estimated anew */
};

/* A launch of `factor` times the extents takes `factor` times what this device takes for the launch at hand. */
static struct device stretched(const struct device *device, double factor)
{
    struct device out = *device;
    out.l2_kept_bytes = (int64_t)((double)device->l2_kept_bytes / factor) + 1;
    out.page_bytes = (int64_t)((double)device->page_bytes / factor) + 1;
    out.tlb_bytes = (int64_t)((double)device->tlb_bytes / factor) + 1;
    out.l2_updates_in_flight = device->l2_updates_in_flight / factor;
    out.launch_us = device->launch_us / factor;
    return out;
}

static double time_in(const struct study *study, const struct ranked *ranked, const struct situation *situation)
{
    double kernels_us = 0, others_us = ranked->time_us;
    for (size_t k = 0; k < study->spec->kernel_count; k++) {
        const struct ranked_kernel *kernel = &ranked->kernels[k];
        const double calls = (double)kernel->kernel->calls, told_us = kernel->estimate.time_us;
        const double us = situation->estimate ? estimate_kernel(kernel->timed, situation->device).time_us : told_us;
        kernels_us += calls * us * (situation->kernel == kernel->kernel ? situation->calls_factor : 1);
        others_us -= calls * told_us;
    }
    /* What is left are conversions, which are DRAM's. */
    return kernels_us + others_us * study->device->dram_mixed_gbs / situation->device->dram_mixed_gbs;
}

/* The fastest there, where it is noticeably faster than the first; else the first. */
static size_t winner_in(const struct study *study, const struct situation *situation)
{
    const double first_us = time_in(study, &study->ranking->items[0], situation);
    double best_us = first_us;
    size_t best = 0;
    for (size_t i = 1; i < study->ranking->count; i++) {
        const double us = time_in(study, &study->ranking->items[i], situation);
        if (us < best_us) {
            best_us = us;
            best = i;
        }
    }
    return first_us > best_us * NOTICEABLE ? best : 0;
}

static void add_change(struct study *study, const struct rank_change *change)
{
    struct sensitivity *out = study->out;
    out->changes = arena_grow(study->arena, out->changes, out->change_count, &study->capacity, sizeof(*out->changes));
    out->changes[out->change_count++] = *change;
}

/* The nearest extents, fewer and more, at which another wins. */
static void try_extents(struct study *study)
{
    for (unsigned side = 0; side < 2; side++) {
        double factor = 1;
        for (unsigned i = 0; i < DOUBLINGS; i++) {
            factor *= side == 0 ? 0.5 : 2;
            const struct device device = stretched(study->device, factor);
            const struct situation situation = {.device = &device, .estimate = true};
            const size_t winner = winner_in(study, &situation);
            if (winner == 0)
                continue;
            add_change(study, &(struct rank_change){.kind = CHANGE_EXTENT, .factor = factor, .winner = winner});
            break;
        }
    }
}

/* The kernel whose calls have to change least. */
static void try_calls(struct study *study)
{
    double factor = 1;
    for (unsigned i = 0; i < DOUBLINGS; i++) {
        factor *= 2;
        for (unsigned side = 0; side < 2; side++)
            for (size_t k = 0; k < study->spec->kernel_count; k++) {
                const struct kernel *kernel = study->ranking->items[0].kernels[k].kernel;
                const double times = side == 0 ? factor : 1 / factor;
                const struct situation situation = {.device = study->device, .kernel = kernel, .calls_factor = times};
                const size_t winner = winner_in(study, &situation);
                if (winner == 0)
                    continue;
                add_change(study, &(struct rank_change){
                                      .kind = CHANGE_CALLS, .factor = times, .kernel = kernel, .winner = winner});
                return;
            }
    }
}

static void try_devices(struct study *study, struct diags *diags)
{
    for (size_t i = 0; i < embedded_device_count; i++) {
        const char *name = embedded_devices[i].name;
        char *stem = arena_copy(study->arena, name, strcspn(name, "."));
        const struct device *device = device_load(study->arena, stem, diags);
        if (device == NULL || strcmp(device->name, study->device->name) == 0)
            continue;
        const struct situation situation = {.device = device, .estimate = true};
        const size_t winner = winner_in(study, &situation);
        if (winner != 0)
            add_change(study, &(struct rank_change){.kind = CHANGE_DEVICE, .device = device, .winner = winner});
    }
}

struct sensitivity *rank_sensitivity(const struct ranking *ranking, const struct spec *spec,
                                     const struct device *device, struct arena *arena, struct diags *diags)
{
    if (ranking->count < 2 || ranking->count > CANDIDATES_MOST)
        return NULL;
    struct sensitivity *out = arena_alloc(arena, sizeof(*out));
    struct study study = {.ranking = ranking, .spec = spec, .device = device, .arena = arena, .out = out};
    out->next = 1;
    while (out->next < ranking->count && ranking->items[out->next].tie)
        out->next++;
    try_extents(&study);
    if (spec->kernel_count > 1 || ranking->items[0].conversion_us > 0)
        try_calls(&study);
    try_devices(&study, diags);
    return out;
}
