#include "compare.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "read.h"

const struct device *load_device(struct arena *arena)
{
    struct diags diags = {.arena = arena};
    const struct device *device = device_load(arena, "h200", &diags);
    ck_assert_ptr_nonnull(device);
    return device;
}

bool bench_open(struct bench *bench, const struct device *device, const struct source *source,
                const struct definition *definitions, size_t definition_count)
{
    bench->diags = (struct diags){.arena = &bench->arena};
    bench->device = device;
    struct spec *spec = read_spec(&bench->arena, source, &bench->diags);
    bench->spec = spec;
    return spec != NULL && check_spec(spec, &bench->arena, device, definitions, definition_count, &bench->diags);
}

bool bench_open_text(struct bench *bench, const struct device *device, const char *name, const char *text)
{
    *bench = (struct bench){0};
    return bench_open(bench, device, source_from_bytes(&bench->arena, name, text, strlen(text)), NULL, 0);
}

void bench_close(struct bench *bench)
{
    arena_free(&bench->arena);
}

const struct naive_use *naive_uses(struct bench *bench, struct option *const *chosen)
{
    size_t arrays = bench->spec->array_count;
    struct naive_use *out = arena_array(&bench->arena, arrays * bench->spec->kernel_count + 1, sizeof(*out));
    for (size_t k = 0; k < bench->spec->kernel_count; k++) {
        for (size_t a = 0; a < arrays; a++) {
            const struct usage *usage = &chosen[a]->usages[k];
            if (usage->used)
                out[k * arrays + a] =
                    (struct naive_use){&usage->effective, usage->stage == NULL ? NULL : usage->stage->origin_step};
        }
    }
    return out;
}

const char *const count_names[COUNT_FIELDS] = {"instructions", "requests",      "sectors",      "ideal_sectors",
                                               "lines",        "asked_bytes",   "unique_bytes", "wavefronts",
                                               "conflicts",    "atomic_sectors"};

uint64_t count_field(const struct counts *counts, size_t field)
{
    const uint64_t fields[COUNT_FIELDS] = {
        counts->instructions, counts->requests,     counts->sectors,    counts->ideal_sectors, counts->lines,
        counts->asked_bytes,  counts->unique_bytes, counts->wavefronts, counts->conflicts,     counts->atomic_sectors};
    return fields[field];
}

static const char *phase_word(enum phase phase)
{
    switch (phase) {
    case PHASE_THREADS:
    case PHASE_EXCHANGE:
        return "";
    case PHASE_COPY_IN:
        return " copy-in";
    case PHASE_COPY_OUT:
        return " copy-out";
    }
    return "";
}

static void compare_counts(struct text *out, const char *kernel, const struct access_score *score, const char *what,
                           const struct counts *counts, const struct counts *naive)
{
    for (size_t f = 0; f < COUNT_FIELDS; f++) {
        uint64_t ours = count_field(counts, f);
        uint64_t theirs = count_field(naive, f);
        if (ours != theirs)
            text_printf(out, "%s, access %u, %s of '%s' (%s)%s: %s%s %" PRIu64 ", naive %" PRIu64 "\n", kernel,
                        score->access->number, access_op_name(score->op), score->array->name.text, score->candidate,
                        phase_word(score->phase), what, count_names[f], ours, theirs);
    }
}

static void compare_entry(struct text *out, const char *kernel, size_t entry, const struct access_score *score,
                          const struct naive_access *naive)
{
    if (score->access != naive->access || score->array != naive->array || score->op != naive->op ||
        score->phase != naive->phase || score->space != naive->space) {
        text_printf(out, "%s, entry %zu: access %u %s%s, naive has access %u %s%s\n", kernel, entry,
                    score->access->number, access_op_name(score->op), phase_word(score->phase), naive->access->number,
                    access_op_name(naive->op), phase_word(naive->phase));
        return;
    }
    compare_counts(out, kernel, score, "", &score->counts, &naive->counts);
    compare_counts(out, kernel, score, "joined ", &score->joined, &naive->joined);
}

static void compare_number(struct text *out, const char *kernel, const char *array, const char *what, uint64_t ours,
                           uint64_t theirs)
{
    if (ours != theirs)
        text_printf(out, "%s, '%s': %s %" PRIu64 ", naive %" PRIu64 "\n", kernel, array, what, ours, theirs);
}

static void compare_array(struct text *out, const char *kernel, const struct array_score *score,
                          const struct naive_array *naive)
{
    const char *name = score->array->name.text;
    if (score->array != naive->array) {
        text_printf(out, "%s: array '%s', naive '%s'\n", kernel, name, naive->array->name.text);
        return;
    }
    compare_number(out, kernel, name, "distinct_sectors", score->distinct_sectors, naive->distinct_sectors);
    compare_number(out, kernel, name, "fill_sectors", score->fill_sectors, naive->fill_sectors);
    compare_number(out, kernel, name, "read_sectors", score->read_sectors, naive->read_sectors);
    compare_number(out, kernel, name, "written_sectors", score->written_sectors, naive->written_sectors);
}

static void compare_kernel(struct text *out, const struct kernel_score *score, const struct naive_kernel *naive)
{
    const char *kernel = score->kernel->name.text;
    compare_number(out, kernel, "", "entries", score->access_count, naive->access_count);
    compare_number(out, kernel, "", "arrays", score->array_count, naive->array_count);
    compare_number(out, kernel, "", "threads", score->threads, naive->threads);
    for (size_t e = 0; e < score->access_count && e < naive->access_count; e++)
        compare_entry(out, kernel, e, &score->accesses[e], &naive->accesses[e]);
    for (size_t a = 0; a < score->array_count && a < naive->array_count; a++)
        compare_array(out, kernel, &score->arrays[a], &naive->arrays[a]);
}

void compare_scores(struct text *out, const struct score *score, const struct naive_score *naive)
{
    if (naive->fault.kind != NAIVE_FINE) {
        text_printf(out, "naive faults: kind %d, thread %" PRIu64 ", value %" PRId64 "%s%s\n", (int)naive->fault.kind,
                    naive->fault.thread, naive->fault.value, naive->fault.reason == NULL ? "" : ", ",
                    naive->fault.reason == NULL ? "" : naive->fault.reason);
        return;
    }
    compare_number(out, "", "", "kernels", score->kernel_count, naive->kernel_count);
    for (size_t k = 0; k < score->kernel_count && k < naive->kernel_count; k++)
        compare_kernel(out, &score->kernels[k], &naive->kernels[k]);
}
