#include "view_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view_code_internal.h"

void mark_ends(json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        put_flag(json_array_get(list, i), "first", i == 0);
        put_flag(json_array_get(list, i), "last", i + 1 == json_array_size(list));
    }
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text));
}

uint64_t view_code_hash(const struct spec *spec)
{
    uint64_t hash = hash_bytes(UINT64_C(14695981039346656037), spec->source->bytes, spec->source->length);
    for (size_t i = 0; i < spec->param_count; i++) {
        const struct param *param = &spec->params[i];
        if (param->value.where.source == spec->source)
            continue;
        hash = hash_text(hash, param->name.text);
        hash = hash_text(hash, "=");
        hash = hash_text(hash, param->value.text);
        hash = hash_text(hash, "\n");
    }
    return hash;
}

/* Whether every param that the expression names is defined before `number`, and no table is looked up. */
static bool stands_alone(const struct spec *spec, const struct expr *expr, size_t number)
{
    if (expr == NULL)
        return true;
    if (expr->op == EXPR_LOOKUP)
        return false;
    if (expr->op == EXPR_NAME) {
        for (size_t i = 0; i < number; i++)
            if (strcmp(spec->params[i].name.text, expr->name) == 0)
                return true;
        return false;
    }
    return stands_alone(spec, expr->operand[0], number) && stands_alone(spec, expr->operand[1], number) &&
           stands_alone(spec, expr->operand[2], number);
}

static json_t *params_view(const struct code *code)
{
    const struct expr_scope scope = {.code = code};
    json_t *list = json_array();
    for (size_t i = 0; i < code->spec->param_count; i++) {
        const struct param *param = &code->spec->params[i];
        const char *number = code_number(code->arena, param->number);
        bool alone = param->expr != NULL && stands_alone(code->spec, param->expr, i);
        json_t *view = json_object();
        put_text(view, "name", code->param_names[i]);
        put_text(view, "c_name", arena_printf(code->arena, "%s_%s", code->spec->name.text, param->name.text));
        put_text(view, "value", alone ? code_expr(&scope, param->expr) : number);
        put_text(view, "number", number);
        put_flag(view, "is_int", param->number >= INT32_MIN && param->number <= INT32_MAX);
        add(list, view);
    }
    mark_ends(list);
    return list;
}

static json_t *global_arrays(json_t *arrays)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(arrays); i++)
        if (json_is_true(json_object_get(json_array_get(arrays, i), "global")))
            add(list, json_incref(json_array_get(arrays, i)));
    return list;
}

static bool any_flag(const json_t *list, const char *key)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_true(json_object_get(json_array_get(list, i), key)))
            return true;
    return false;
}

/* Which helpers the code needs. */
static void put_helpers(const struct code *code, json_t *root, const json_t *arrays, const json_t *kernels)
{
    bool atomics = false, pieces = false;
    for (const struct kernel *kernel = code->spec->kernels; kernel != NULL; kernel = kernel->next)
        for (unsigned i = 0; i < kernel->access_count; i++)
            atomics = atomics || kernel->accesses[i]->op == ACCESS_ATOMIC;
    for (const struct type *type = code->spec->types; type != NULL; type = type->next)
        pieces = pieces || type->packed || type->kind == TYPE_UNION;
    put_flag(root, "has_atomics", atomics);
    put_flag(root, "has_pieces", pieces);
    put_flag(root, "has_shared", any_flag(kernels, "uses_shared"));
    bool rows = any_flag(arrays, "converts_rows");
    put_flag(root, "converts_rows", rows);
    put_flag(root, "converts_shared", any_flag(arrays, "converts_shared"));
    rows = rows || any_flag(kernels, "wide");
    put_flag(root, "has_rows", rows);
    bool exchanges = any_flag(arrays, "has_exchange") || any_flag(kernels, "shuffles");
    put_flag(root, "has_exchanges", exchanges);
    put_flag(root, "has_pieces_moved", rows || exchanges);
}

json_t *view_code(const struct spec *spec, const struct device *device, struct option *const *chosen,
                  struct arena *arena, struct diags *diags)
{
    struct code code = {.spec = spec, .device = device, .chosen = chosen, .arena = arena, .diags = diags};
    size_t errors = diags->error_count;
    names_collect(&code);
    if (!names_allow(&code) || !arrays_prepare(&code))
        return NULL;
    json_t *kernels = kernels_view(&code);
    if (kernels == NULL || diags->error_count > errors) {
        json_decref(kernels);
        return NULL;
    }
    json_t *root = json_object(), *arrays = arrays_view(&code);
    put_text(root, "name", spec->name.text);
    put_number(root, "format", CODE_FORMAT);
    put_text(root, "hash", arena_printf(arena, "%016" PRIx64, view_code_hash(spec)));
    put_text(root, "device", device->name);
    put(root, "names", names_view(&code));
    put(root, "params", params_view(&code));
    put_types(&code, root);
    put(root, "tables", tables_view(&code));
    put(root, "global_arrays", global_arrays(arrays));
    put(root, "arrays", arrays);
    put_helpers(&code, root, arrays, kernels);
    put_flag(root, "has_kernels", json_array_size(kernels) > 0);
    put(root, "kernels", kernels);
    return root;
}
