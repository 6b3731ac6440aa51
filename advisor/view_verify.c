#include "view_verify.h"

#include <math.h>

#include "ncu.h"
#include "view.h"
#include "view_put.h"

static const char *kind_name(enum verify_kind kind)
{
    switch (kind) {
    case VERIFY_EXACT:
        return "exact";
    case VERIFY_NOISY:
        return "noisy";
    case VERIFY_ESTIMATE:
        return "estimate";
    }
    return "";
}

/* All but times are whole. */
static void put_amount(json_t *object, const char *key, enum verify_count count, double value)
{
    if (count == VERIFY_TIME_US)
        put_real(object, key, value);
    else
        put_number(object, key, value < 0x1p62 ? (uint64_t)llround(value) : (uint64_t)1 << 62);
}

static const char *phase_name(enum phase phase)
{
    switch (phase) {
    case PHASE_COPY_IN:
        return "copy-in";
    case PHASE_COPY_OUT:
        return "copy-out";
    case PHASE_THREADS:
    case PHASE_EXCHANGE:
        break;
    }
    return NULL;
}

static json_t *make_access(size_t number, const struct access_score *score, uint64_t share)
{
    json_t *object = json_object();
    put_number(object, "number", number);
    const char *field = score->access->field_text.text, *phase = phase_name(score->phase);
    put_number(object, "source_line", score->access->line);
    put_text(object, "op", access_op_name(score->op));
    put_text(object, "array", score->array->name.text);
    put_text(object, "field", phase != NULL || field == NULL ? "" : field);
    if (phase != NULL)
        put_text(object, "phase", phase);
    put_number(object, "predicted", share);
    return object;
}

static json_t *make_count(const struct verified_kernel *kernel, const struct verified *verified)
{
    json_t *object = json_object(), *accesses = json_array();
    const struct kernel_score *score = kernel->kernel->score;
    put_text(object, "count", verify_count_key(verified->count));
    put_text(object, "kind", kind_name(verify_count_kind(verified->count)));
    put_amount(object, "predicted", verified->count, verified->predicted);
    put_amount(object, "measured", verified->count, verified->measured);
    put_amount(object, "least", verified->count, verified->least);
    put_amount(object, "most", verified->count, verified->most);
    put_real(object, "difference_percent", 100 * (verified->measured - verified->predicted) / verified->predicted);
    put_flag(object, "differs", verified->differs);
    for (size_t i = 0; verify_count_kind(verified->count) != VERIFY_ESTIMATE && i < score->access_count; i++) {
        uint64_t share = verify_share(&score->accesses[i], verified->count);
        if (share > 0)
            add(accesses, make_access(i, &score->accesses[i], share));
    }
    put(object, "accesses", accesses);
    return object;
}

static json_t *make_shape(uint64_t blocks, uint64_t block_threads)
{
    json_t *object = json_object();
    put_number(object, "blocks", blocks & INT64_MAX);
    put_number(object, "block_threads", block_threads & INT64_MAX);
    return object;
}

static json_t *make_kernel(const struct verified_kernel *kernel)
{
    json_t *object = json_object(), *counts = json_array();
    put_text(object, "name", kernel->kernel->kernel->name.text);
    /* The name may hold any bytes, which JSON may not. */
    json_t *function = kernel->function == NULL ? NULL : json_string(kernel->function);
    put(object, "function", function == NULL ? json_null() : function);
    put_number(object, "launches", kernel->launches);
    put(object, "shape", make_shape(kernel->kernel->score->blocks, kernel->kernel->kernel->block_threads));
    put_number(object, "launches_of_other_shape", kernel->strange_count);
    if (kernel->strange != NULL)
        put(object, "other_shape", make_shape(kernel->strange->blocks, kernel->strange->block_threads));
    put_flag(object, "differs", kernel->differs);
    for (size_t i = 0; i < kernel->count_count; i++)
        add(counts, make_count(kernel, &kernel->counts[i]));
    put(object, "counts", counts);
    return object;
}

json_t *view_verify(const struct spec *spec, const struct device *device, const struct ranked *best,
                    const struct verify *verify)
{
    json_t *root = view_root(spec, device, "sectorwise-verify-1");
    json_t *arrays = json_object(), *kernels = json_array(), *others = json_array();
    for (size_t i = 0; i < spec->array_count; i++)
        put_text(arrays, best->chosen[i]->array->name.text, best->chosen[i]->candidate.text);
    put(root, "arrays", arrays);
    put_real(root, "tolerance_percent", verify->tolerance_percent);
    put_flag(root, "differs", verify->differs);
    for (size_t i = 0; i < verify->kernel_count; i++)
        add(kernels, make_kernel(&verify->kernels[i]));
    put(root, "kernels", kernels);
    for (size_t i = 0; i < verify->other_count; i++)
        add(others, json_string(verify->others[i]));
    put(root, "other_kernels", others);
    return root;
}
