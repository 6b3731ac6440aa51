#include "verify.h"

#include <math.h>
#include <string.h>

#include "request.h"
#include "text.h"

static const struct rule {
    const char *key;
    enum verify_kind kind;
    enum ncu_metric metric;
    int more;          /* a second metric, -1: none */
    double more_times; /* how often that is added */
    double scale;
} rules[VERIFY_COUNTS] = {
    [VERIFY_READ_REQUESTS] = {"read_requests", VERIFY_EXACT, NCU_LOAD_REQUESTS, -1, 0, 1},
    [VERIFY_READ_SECTORS] = {"read_sectors", VERIFY_EXACT, NCU_LOAD_SECTORS, -1, 0, 1},
    [VERIFY_READ_LINES] = {"read_lines", VERIFY_EXACT, NCU_LOAD_LINES, -1, 0, 1},
    [VERIFY_WRITE_REQUESTS] = {"write_requests", VERIFY_EXACT, NCU_STORE_REQUESTS, -1, 0, 1},
    [VERIFY_WRITE_SECTORS] = {"write_sectors", VERIFY_EXACT, NCU_STORE_SECTORS, -1, 0, 1},
    [VERIFY_ATOMIC_REQUESTS] = {"atomic_requests", VERIFY_EXACT, NCU_ATOMIC_REQUESTS, NCU_REDUCTION_REQUESTS, 1, 1},
    [VERIFY_ATOMIC_SECTORS] = {"atomic_sectors", VERIFY_NOISY, NCU_ATOMIC_SECTORS, NCU_REDUCTION_SECTORS, 1, 1},
    [VERIFY_REQUESTS] = {"requests", VERIFY_EXACT, NCU_REQUESTS, -1, 0, 1},
    [VERIFY_SECTORS] = {"sectors", VERIFY_EXACT, NCU_SECTORS, -1, 0, 1},
    [VERIFY_SHARED_READ_PASSES] = {"shared_read_passes", VERIFY_EXACT, NCU_SHARED_LOAD_WAVEFRONTS,
                                   NCU_SHARED_LOAD_CONFLICTS, -1, 1},
    [VERIFY_SHARED_READ_WAVEFRONTS] = {"shared_read_wavefronts", VERIFY_NOISY, NCU_SHARED_LOAD_WAVEFRONTS, -1, 0, 1},
    [VERIFY_SHARED_WRITE_PASSES] = {"shared_write_passes", VERIFY_EXACT, NCU_SHARED_STORE_WAVEFRONTS,
                                    NCU_SHARED_STORE_CONFLICTS, -1, 1},
    [VERIFY_SHARED_WRITE_WAVEFRONTS] = {"shared_write_wavefronts", VERIFY_NOISY, NCU_SHARED_STORE_WAVEFRONTS, -1, 0, 1},
    [VERIFY_SHARED_PASSES] = {"shared_passes", VERIFY_EXACT, NCU_SHARED_WAVEFRONTS, NCU_SHARED_CONFLICTS, -1, 1},
    [VERIFY_SHARED_WAVEFRONTS] = {"shared_wavefronts", VERIFY_NOISY, NCU_SHARED_WAVEFRONTS, -1, 0, 1},
    [VERIFY_L2_READ_SECTORS] = {"l2_read_sectors", VERIFY_ESTIMATE, NCU_L2_READ_SECTORS, -1, 0, 1},
    [VERIFY_L2_WRITE_SECTORS] = {"l2_write_sectors", VERIFY_ESTIMATE, NCU_L2_WRITE_SECTORS, -1, 0, 1},
    [VERIFY_L2_SECTORS] = {"l2_sectors", VERIFY_ESTIMATE, NCU_L2_SECTORS, -1, 0, 1},
    [VERIFY_DRAM_READ_BYTES] = {"dram_read_bytes", VERIFY_ESTIMATE, NCU_DRAM_READ_BYTES, -1, 0, 1},
    [VERIFY_DRAM_WRITE_BYTES] = {"dram_write_bytes", VERIFY_ESTIMATE, NCU_DRAM_WRITE_BYTES, -1, 0, 1},
    [VERIFY_TIME_US] = {"time_us", VERIFY_ESTIMATE, NCU_TIME_NS, -1, 0, 1e-3},
};

const char *verify_count_key(enum verify_count count)
{
    return rules[count].key;
}

enum verify_kind verify_count_kind(enum verify_count count)
{
    return rules[count].kind;
}

/* ---- what is predicted ---- */

/* A staged copy is a read of one space and a write to the other. */
static bool is_side(const struct access_score *access, enum array_space space, enum access_op op)
{
    bool copy_in = access->phase == PHASE_COPY_IN, copy_out = access->phase == PHASE_COPY_OUT;
    if (!copy_in && !copy_out)
        return access->space == space && access->op == op;
    return op == (copy_in == (space == SPACE_GLOBAL) ? ACCESS_READ : ACCESS_WRITE);
}

/* What a warp exchanges is stored to shared memory and loaded from it in as many passes; the side that has the pieces
 * in the order of memory has the conflicts. Other threads' accesses to global memory have no wavefronts. */
static bool is_exchange(const struct access_score *access)
{
    return access->space == SPACE_GLOBAL && access->phase == PHASE_THREADS;
}

static uint64_t shared_passes(const struct access_score *access, enum access_op op)
{
    const uint64_t passes = access->counts.wavefronts - access->counts.conflicts;
    if (is_exchange(access))
        return passes / 2;
    return is_side(access, SPACE_SHARED, op) ? passes : 0;
}

static uint64_t shared_wavefronts(const struct access_score *access, enum access_op op)
{
    const bool conflicts = is_exchange(access) ? access->op != op : is_side(access, SPACE_SHARED, op);
    return shared_passes(access, op) + (conflicts ? access->counts.conflicts : 0);
}

uint64_t verify_share(const struct access_score *access, enum verify_count count)
{
    const struct counts *counts = &access->counts;
    const bool reads = is_side(access, SPACE_GLOBAL, ACCESS_READ), writes = is_side(access, SPACE_GLOBAL, ACCESS_WRITE);
    const bool atomics = is_side(access, SPACE_GLOBAL, ACCESS_ATOMIC);
    switch (count) {
    case VERIFY_READ_REQUESTS:
        return reads ? counts->requests : 0;
    case VERIFY_READ_SECTORS:
        return reads ? counts->sectors : 0;
    case VERIFY_READ_LINES:
        return reads ? counts->lines : 0;
    case VERIFY_WRITE_REQUESTS:
        return writes ? counts->requests : 0;
    case VERIFY_WRITE_SECTORS:
        return writes ? counts->sectors : 0;
    case VERIFY_ATOMIC_REQUESTS:
        return atomics ? counts->requests : 0;
    case VERIFY_ATOMIC_SECTORS:
        return atomics ? counts->atomic_sectors : 0;
    case VERIFY_REQUESTS:
        return counts->requests;
    case VERIFY_SECTORS:
        return atomics ? counts->atomic_sectors : counts->sectors;
    case VERIFY_SHARED_PASSES:
        return counts->wavefronts - counts->conflicts;
    case VERIFY_SHARED_WAVEFRONTS:
        return counts->wavefronts;
    case VERIFY_SHARED_READ_PASSES:
        return shared_passes(access, ACCESS_READ);
    case VERIFY_SHARED_READ_WAVEFRONTS:
        return shared_wavefronts(access, ACCESS_READ);
    case VERIFY_SHARED_WRITE_PASSES:
        return shared_passes(access, ACCESS_WRITE);
    case VERIFY_SHARED_WRITE_WAVEFRONTS:
        return shared_wavefronts(access, ACCESS_WRITE);
    case VERIFY_L2_READ_SECTORS:
    case VERIFY_L2_WRITE_SECTORS:
    case VERIFY_L2_SECTORS:
    case VERIFY_DRAM_READ_BYTES:
    case VERIFY_DRAM_WRITE_BYTES:
    case VERIFY_TIME_US:
        break;
    }
    return 0;
}

static double predict(const struct ranked_kernel *kernel, enum verify_count count)
{
    const struct estimate *estimate = &kernel->estimate;
    double sum = 0;
    if (count == VERIFY_L2_READ_SECTORS)
        return estimate->l2_read_sectors;
    if (count == VERIFY_L2_WRITE_SECTORS)
        return estimate->l2_write_sectors;
    if (count == VERIFY_L2_SECTORS)
        return estimate->l2_read_sectors + estimate->l2_write_sectors;
    if (count == VERIFY_DRAM_READ_BYTES)
        return estimate->dram_read_bytes;
    if (count == VERIFY_DRAM_WRITE_BYTES)
        return estimate->dram_write_bytes;
    if (count == VERIFY_TIME_US)
        return estimate->time_us;
    for (size_t i = 0; i < kernel->score->access_count; i++)
        sum += (double)verify_share(&kernel->score->accesses[i], count);
    return sum;
}

/* ---- what is measured ---- */

static bool is_launch_of(const struct ncu_launch *launch, const struct kernel *kernel)
{
    return strcmp(launch->name, kernel->name.text) == 0;
}

/* Instances of a template are functions of their own. */
static bool is_of(const struct ncu_launch *launch, const struct verified_kernel *kernel)
{
    return kernel->function != NULL && strcmp(launch->kernel, kernel->function) == 0;
}

/* A table without shapes is believed. */
static bool has_shape_of(const struct ncu_launch *launch, const struct ranked_kernel *kernel)
{
    return !launch->has_shape ||
           (launch->blocks == kernel->score->blocks && launch->block_threads == kernel->kernel->block_threads);
}

static bool measure(double *out, const struct ncu_launch *launch, enum verify_count count)
{
    const struct rule *rule = &rules[count];
    *out = launch->value[rule->metric] * rule->scale;
    if (rule->more >= 0)
        *out += rule->more_times * launch->value[rule->more];
    return launch->given[rule->metric] && (rule->more < 0 || launch->given[rule->more]);
}

static bool is_beyond(const struct verified *verified, double tolerance_percent)
{
    double allowed = tolerance_percent;
    switch (rules[verified->count].kind) {
    case VERIFY_EXACT:
        break;
    case VERIFY_NOISY:
        allowed += VERIFY_NOISE_PERCENT;
        break;
    case VERIFY_ESTIMATE:
        return false;
    }
    return fabs(verified->measured - verified->predicted) > allowed / 100 * verified->predicted;
}

/* False where the count was not measured in each launch. */
static bool compare_count(struct verified *out, const struct verified_kernel *kernel, const struct ncu_report *report,
                          double tolerance_percent)
{
    size_t launches = 0;
    double sum = 0;
    out->predicted = predict(kernel->kernel, out->count);
    for (size_t i = 0; i < report->count; i++) {
        const struct ncu_launch *launch = &report->launches[i];
        double value;
        if (!is_of(launch, kernel) || !has_shape_of(launch, kernel->kernel))
            continue;
        if (!measure(&value, launch, out->count))
            return false;
        out->least = launches == 0 || value < out->least ? value : out->least;
        out->most = launches == 0 || value > out->most ? value : out->most;
        sum += value;
        launches++;
    }
    out->measured = launches == 0 ? 0 : sum / (double)launches;
    out->differs = is_beyond(out, tolerance_percent);
    return launches > 0;
}

static void count_launches(struct verified_kernel *out, const struct ncu_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct ncu_launch *launch = &report->launches[i];
        if (!is_of(launch, out))
            continue;
        if (has_shape_of(launch, out->kernel)) {
            out->launches++;
            continue;
        }
        out->strange = out->strange == NULL ? launch : out->strange;
        out->strange_count++;
    }
}

static void compare_kernel(struct verified_kernel *out, const struct ncu_report *report, double tolerance_percent)
{
    count_launches(out, report);
    out->differs = out->launches == 0 && out->strange_count > 0;
    for (int i = 0; i < VERIFY_COUNTS; i++) {
        struct verified *verified = &out->counts[out->count_count];
        *verified = (struct verified){.count = (enum verify_count)i};
        if (!compare_count(verified, out, report, tolerance_percent))
            continue;
        /* Nothing predicted and nothing measured is nothing to tell. */
        if (verified->predicted == 0 && verified->most == 0)
            continue;
        out->differs |= verified->differs;
        out->count_count++;
    }
}

/* ---- kernels of other names ---- */

static bool is_known(const struct verify *verify, const struct spec *spec, const struct ncu_launch *launch)
{
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        if (is_launch_of(launch, kernel))
            return true;
    for (size_t i = 0; i < verify->other_count; i++)
        if (strcmp(verify->others[i], launch->name) == 0)
            return true;
    return false;
}

static void collect_others(struct verify *verify, const struct spec *spec, const struct ncu_report *report,
                           struct arena *arena)
{
    verify->others = arena_array(arena, report->count, sizeof(*verify->others));
    for (size_t i = 0; i < report->count; i++)
        if (!is_known(verify, spec, &report->launches[i]))
            verify->others[verify->other_count++] = report->launches[i].name;
}

static void report_strangers(const struct verify *verify, const struct spec *spec, const struct ncu_report *report,
                             struct diags *diags)
{
    struct text_guess guess = {.wanted = verify->others[0]};
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        text_guess_offer(&guess, kernel->name.text);
    diag_error(diags, "ncu-kernels", report->launches[0].where,
               "no kernel of '%s' was measured; the first here is '%s'", spec->name.text, verify->others[0]);
    if (guess.best != NULL)
        diag_note(diags, "the description's '%s' is near; the function and the kernel must have one name", guess.best);
    else
        diag_note(diags, "a launch belongs to the kernel whose name its function has");
}

static bool is_listed(const struct verify *verify, size_t from, const struct ncu_launch *launch)
{
    for (size_t i = from; i < verify->kernel_count; i++)
        if (is_of(launch, &verify->kernels[i]))
            return true;
    return false;
}

static void add_function(struct verify *verify, const struct ranked_kernel *kernel, const char *function,
                         const struct ncu_report *report, struct arena *arena)
{
    verify->kernels =
        arena_grow(arena, verify->kernels, verify->kernel_count, &verify->kernel_capacity, sizeof(*verify->kernels));
    struct verified_kernel *out = &verify->kernels[verify->kernel_count++];
    *out = (struct verified_kernel){.kernel = kernel, .function = function};
    compare_kernel(out, report, verify->tolerance_percent);
    verify->differs |= out->differs;
}

/* A kernel as often as it has functions that were launched, and once where it has none. */
static void add_kernel(struct verify *verify, const struct ranked_kernel *kernel, const struct ncu_report *report,
                       struct arena *arena)
{
    size_t before = verify->kernel_count;
    for (size_t i = 0; i < report->count; i++) {
        const struct ncu_launch *launch = &report->launches[i];
        if (is_launch_of(launch, kernel->kernel) && !is_listed(verify, before, launch))
            add_function(verify, kernel, launch->kernel, report, arena);
    }
    if (verify->kernel_count == before)
        add_function(verify, kernel, NULL, report, arena);
}

struct verify *verify_compare(const struct spec *spec, const struct ranked *best, const struct ncu_report *report,
                              double tolerance_percent, struct arena *arena, struct diags *diags)
{
    struct verify *verify = arena_alloc(arena, sizeof(*verify));
    size_t measured = 0;
    verify->tolerance_percent = tolerance_percent;
    for (size_t i = 0; i < spec->kernel_count; i++)
        add_kernel(verify, &best->kernels[i], report, arena);
    for (size_t i = 0; i < verify->kernel_count; i++)
        measured += verify->kernels[i].launches + verify->kernels[i].strange_count;
    collect_others(verify, spec, report, arena);
    if (measured > 0)
        return verify;
    report_strangers(verify, spec, report, diags);
    return NULL;
}
