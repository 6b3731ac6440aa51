#include <string.h>

#include "checked.h"
#include "steps.h"
#include "text.h"
#include "varies.h"
#include "view_code_internal.h"

enum { RECORDS_A_THREAD = 4 };

const struct usage *usage_of(const struct kernel_code *kernel, const struct array *array)
{
    return &kernel->code->chosen[array->number]->usages[kernel->number];
}

const char *object_name(const struct kernel_code *kernel, const struct array *array)
{
    const struct usage *usage = usage_of(kernel, array);
    return usage->stage != NULL ? tile_name(kernel->code, array) : array->name.text;
}

/* ---- what a kernel uses ------------------------------------------------------------------------------------------ */

static bool expr_uses(const struct expr *expr, const struct table *table)
{
    if (expr == NULL)
        return false;
    return (expr->op == EXPR_LOOKUP && expr->table == table) || expr_uses(expr->operand[0], table) ||
           expr_uses(expr->operand[1], table) || expr_uses(expr->operand[2], table);
}

static bool access_uses(const struct access *access, const struct table *table)
{
    bool used = false;
    for (unsigned d = 0; d < access->array->dim_count; d++)
        used = used || expr_uses(access->index[d], table);
    for (size_t i = 0; i < access->subscript_count; i++)
        used = used || expr_uses(access->subscripts[i].index, table);
    return used;
}

static bool list_uses(const struct statement *list, const struct table *table)
{
    for (const struct statement *at = list; at != NULL; at = at->next) {
        const struct expr *exprs[] = {at->value, at->from, at->to, at->test, at->step, at->advance, at->condition};
        for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++)
            if (expr_uses(exprs[i], table))
                return true;
        if ((at->kind == STATEMENT_ACCESS && access_uses(at->access, table)) || list_uses(at->body, table) ||
            list_uses(at->otherwise, table))
            return true;
    }
    return false;
}

static void add_parameter(json_t *out, const char *type, const char *restricted, const char *name, const char *kind)
{
    json_t *view = json_object();
    put_text(view, "type", type);
    put_text(view, "restricted_type", restricted);
    put_text(view, "name", name);
    put_flag(view, "is_view", strcmp(kind, "view") == 0);
    put_flag(view, "is_table", strcmp(kind, "table") == 0);
    add(out, view);
}

/* The bytes of a record that a selection may touch, whatever its subscripts are. */
static void selected_range(const struct access *access, const struct selected *selected, uint64_t *from, uint64_t *to)
{
    *from = access->array->record->leaves[selected->leaf].offset + selected->inner_offset;
    *to = *from + selected->size;
    for (size_t i = 0; i < selected->subscript_count; i++)
        *to += (selected->subscripts[i].extent - 1) * selected->subscripts[i].stride_bytes;
}

static bool may_overlap(const struct access *a, const struct access *b)
{
    if (a->array != b->array)
        return false;
    if (a->bytes != 0 || b->bytes != 0)
        return true;
    for (size_t i = 0; i < a->selected_count; i++) {
        for (size_t j = 0; j < b->selected_count; j++) {
            uint64_t a_from, a_to, b_from, b_to;
            selected_range(a, &a->selected[i], &a_from, &a_to);
            selected_range(b, &b->selected[j], &b_from, &b_to);
            if (a_from < b_to && b_from < a_to)
                return true;
        }
    }
    return false;
}

/* Whether what a thread reads in global memory can depend on no other thread, and no thread adds to anything there. */
static bool reads_are_stable(const struct kernel *kernel)
{
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct access *store = kernel->accesses[i];
        if (store->array->space == SPACE_SHARED || !access_stores(store))
            continue;
        if (store->op == ACCESS_ATOMIC)
            return false;
        for (unsigned j = 0; j < kernel->access_count; j++)
            if (access_loads(kernel->accesses[j]) && may_overlap(kernel->accesses[j], store))
                return false;
    }
    return true;
}

/* Whether an access with `bytes` moves more than what it selects where neighbouring bytes are not C's. */
static bool reaches_beyond(const struct kernel_code *kernel)
{
    for (unsigned i = 0; i < kernel->kernel->access_count; i++) {
        const struct access *access = kernel->kernel->accesses[i];
        const struct mapping *mapping = array_code(kernel->code, access->array)->mapping;
        bool plain = layout_is_described(mapping) && mapping->row_bytes == 0;
        if (access->bytes > access->selected[0].size && !plain)
            return true;
    }
    return false;
}

/* The tables that a kernel takes, and how the checking program passes everything. */
static void put_check_arguments(const struct kernel_code *kernel, json_t *view)
{
    const struct code *code = kernel->code;
    json_t *tables = json_array(), *arguments = json_array();
    unsigned number = 0;
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next) {
        if (!usage_of(kernel, array)->used)
            continue;
        if (array->space == SPACE_GLOBAL)
            add(arguments, json_pack("{s:s}", "text", arena_printf(code->arena, "watched_%u.device_view()", number)));
        number++;
    }
    put_number(view, "array_count", number);
    put_flag(view, "stable", reads_are_stable(kernel->kernel));
    put_flag(view, "reaches_beyond", reaches_beyond(kernel));
    number = 0;
    for (const struct table *table = code->spec->tables; table != NULL; table = table->next) {
        if (!list_uses(kernel->kernel->body, table))
            continue;
        json_t *item = json_object();
        put_text(item, "name", table->name.text);
        put_text(item, "type", table_type(table));
        put_text(item, "maker", name_fresh(code, arena_printf(code->arena, "make_%s", table->name.text)));
        put_number(item, "number", number);
        add(tables, item);
        add(arguments, json_pack("{s:s}", "text", arena_printf(code->arena, "table_%u.data", number++)));
    }
    put(view, "tables", tables);
    put(view, "launch_arguments", arguments);
}

static json_t *parameters_view(const struct kernel_code *kernel)
{
    const struct code *code = kernel->code;
    json_t *out = json_array();
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next)
        if (usage_of(kernel, array)->used && array->space == SPACE_GLOBAL)
            add_parameter(out, array_code(code, array)->view_name, array_code(code, array)->view_name, array->name.text,
                          "view");
    for (const struct table *table = code->spec->tables; table != NULL; table = table->next)
        if (list_uses(kernel->kernel->body, table))
            add_parameter(out, arena_printf(code->arena, "const %s *", table_type(table)),
                          arena_printf(code->arena, "const %s *__restrict__", table_type(table)), table->name.text,
                          "table");
    mark_ends(out);
    return out;
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

static uint64_t all_threads(const struct kernel *kernel)
{
    return kernel->block_threads * kernel->block_count;
}

static const char *dimension_text(const struct kernel_code *kernel, struct expr *const exprs[3], unsigned d)
{
    const struct expr_scope scope = {.code = kernel->code};
    return exprs[d] == NULL ? "1" : code_expr(&scope, exprs[d]);
}

static json_t *dimensions_view(const struct kernel_code *kernel, struct expr *const exprs[3], const uint64_t numbers[3])
{
    json_t *out = json_array();
    for (unsigned d = 0; d < 3; d++) {
        json_t *view = json_object();
        const char axis[2] = {"xyz"[d], '\0'};
        put_text(view, "axis", axis);
        put_text(view, "value", dimension_text(kernel, exprs, d));
        put_flag(view, "above_one", numbers[d] > 1);
        put_number(view, "number", numbers[d]);
        add(out, view);
    }
    mark_ends(out);
    return out;
}

static void put_launch(const struct kernel_code *kernel, json_t *view)
{
    const struct kernel *k = kernel->kernel;
    uint64_t groups = all_threads(k) / RECORDS_A_THREAD, rest = all_threads(k) % RECORDS_A_THREAD;
    put(view, "block", dimensions_view(kernel, k->block_exprs, k->block));
    put(view, "grid", dimensions_view(kernel, k->grid_exprs, k->grid));
    put_number(view, "block_threads", k->block_threads);
    put_number(view, "block_count", k->block_count);
    put_number(view, "thread_count", all_threads(k));
    put_number(view, "flops", (uint64_t)k->flops);
    put_number(view, "groups", groups);
    put_number(view, "rest", rest);
    put_flag(view, "has_rest", rest > 0);
    put_number(view, "wide_blocks", (groups + rest + k->block_threads - 1) / k->block_threads);
}

/* ---- builtins as locals ------------------------------------------------------------------------------------------ */

static bool is_flat(const struct kernel_code *kernel, bool grid)
{
    const uint64_t *dims = grid ? kernel->kernel->grid : kernel->kernel->block;
    return dims[1] == 1 && dims[2] == 1;
}

static const char *in_block_text(const struct kernel_code *kernel)
{
    const char *shape = name_fresh(
        kernel->code, arena_printf(kernel->code->arena, "%s_shape", kernel->code->kernel_names[kernel->number]));
    if (kernel->wide || is_flat(kernel, false))
        return "threadIdx.x";
    if (kernel->kernel->block[2] == 1)
        return arena_printf(kernel->code->arena, "threadIdx.y * %s::block_x + threadIdx.x", shape);
    return arena_printf(kernel->code->arena, "(threadIdx.z * %s::block_y + threadIdx.y) * %s::block_x + threadIdx.x",
                        shape, shape);
}

static const char *block_number_text(const struct kernel_code *kernel, const char *shape)
{
    if (kernel->wide || is_flat(kernel, true))
        return "std::int64_t(blockIdx.x)";
    if (kernel->kernel->grid[2] == 1)
        return arena_printf(kernel->code->arena, "(std::int64_t(blockIdx.y) * %s::grid_x + blockIdx.x)", shape);
    return arena_printf(kernel->code->arena,
                        "((std::int64_t(blockIdx.z) * %s::grid_y + blockIdx.y) * %s::grid_x + blockIdx.x)", shape,
                        shape);
}

static const char *thread_text(const struct kernel_code *kernel, const char *shape)
{
    const char *in_block = in_block_text(kernel);
    bool flat = strcmp(in_block, "threadIdx.x") == 0;
    return arena_printf(kernel->code->arena, flat ? "%s * %s::threads + %s" : "%s * %s::threads + (%s)",
                        block_number_text(kernel, shape), shape, in_block);
}

static const char *device_value(const struct kernel_code *kernel, enum expr_builtin builtin, const char *shape)
{
    struct arena *arena = kernel->code->arena;
    unsigned axis = (unsigned)builtin % 3;
    switch (builtin) {
    case BUILTIN_THREAD_IDX_X:
    case BUILTIN_THREAD_IDX_Y:
    case BUILTIN_THREAD_IDX_Z:
        return arena_printf(arena, "threadIdx.%c", "xyz"[axis]);
    case BUILTIN_BLOCK_IDX_X:
    case BUILTIN_BLOCK_IDX_Y:
    case BUILTIN_BLOCK_IDX_Z:
        return arena_printf(arena, "blockIdx.%c", "xyz"[axis]);
    case BUILTIN_BLOCK_DIM_X:
    case BUILTIN_BLOCK_DIM_Y:
    case BUILTIN_BLOCK_DIM_Z:
        return arena_printf(arena, "%s::block_%c", shape, "xyz"[axis]);
    case BUILTIN_GRID_DIM_X:
    case BUILTIN_GRID_DIM_Y:
    case BUILTIN_GRID_DIM_Z:
        return arena_printf(arena, "%s::grid_%c", shape, "xyz"[axis]);
    case BUILTIN_LANE:
        return arena_printf(arena, is_flat(kernel, false) ? "%s %% 32" : "(%s) %% 32", in_block_text(kernel));
    case BUILTIN_WARP:
        return arena_printf(arena, is_flat(kernel, false) ? "%s / 32" : "(%s) / 32", in_block_text(kernel));
    case BUILTIN_THREAD:
    case BUILTIN_COUNT:
        break;
    }
    return thread_text(kernel, shape);
}

/* Of the thread that would do record `record` alone. Only launches of one dimension use such builtins. */
static const char *wide_value(const struct kernel_code *kernel, enum expr_builtin builtin, const char *shape)
{
    const char *record = name_fresh(kernel->code, "record");
    if (builtin == BUILTIN_THREAD_IDX_X)
        return arena_printf(kernel->code->arena, "(thread + %s) %% %s::threads", record, shape);
    if (builtin == BUILTIN_BLOCK_IDX_X)
        return arena_printf(kernel->code->arena, "(thread + %s) / %s::threads", record, shape);
    return device_value(kernel, builtin, shape);
}

/* The same on the host, from the numbers of a block and of a thread in it. */
static const char *host_value(const struct kernel_code *kernel, enum expr_builtin builtin, const char *shape)
{
    struct arena *arena = kernel->code->arena;
    const char *at = name_fresh(kernel->code, "at");
    switch (builtin) {
    case BUILTIN_THREAD_IDX_X:
        return arena_printf(arena, "%s.in_block %% %s::block_x", at, shape);
    case BUILTIN_THREAD_IDX_Y:
        return arena_printf(arena, "%s.in_block / %s::block_x %% %s::block_y", at, shape, shape);
    case BUILTIN_THREAD_IDX_Z:
        return arena_printf(arena, "%s.in_block / (%s::block_x * %s::block_y)", at, shape, shape);
    case BUILTIN_BLOCK_IDX_X:
        return arena_printf(arena, "%s.block %% %s::grid_x", at, shape);
    case BUILTIN_BLOCK_IDX_Y:
        return arena_printf(arena, "%s.block / %s::grid_x %% %s::grid_y", at, shape, shape);
    case BUILTIN_BLOCK_IDX_Z:
        return arena_printf(arena, "%s.block / %s::grid_x / %s::grid_y", at, shape, shape);
    case BUILTIN_LANE:
        return arena_printf(arena, "%s.in_block %% 32", at);
    case BUILTIN_WARP:
        return arena_printf(arena, "%s.in_block / 32", at);
    case BUILTIN_THREAD:
        return arena_printf(arena, "%s.block * %s::threads + %s.in_block", at, shape, at);
    case BUILTIN_BLOCK_DIM_X:
    case BUILTIN_BLOCK_DIM_Y:
    case BUILTIN_BLOCK_DIM_Z:
    case BUILTIN_GRID_DIM_X:
    case BUILTIN_GRID_DIM_Y:
    case BUILTIN_GRID_DIM_Z:
    case BUILTIN_COUNT:
        break;
    }
    return device_value(kernel, builtin, shape);
}

static json_t *locals_view(const struct kernel_code *kernel, const bool used[BUILTIN_COUNT], const char *shape)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < BUILTIN_COUNT; i++) {
        enum expr_builtin builtin = (enum expr_builtin)i;
        bool varies = i < BUILTIN_BLOCK_DIM_X || i >= BUILTIN_THREAD;
        if (!used[i] || (kernel->wide && builtin == BUILTIN_THREAD))
            continue;
        json_t *view = json_object();
        put_text(view, "name", builtin_local(kernel->code, builtin));
        put_text(view, "value",
                 kernel->reference ? host_value(kernel, builtin, shape)
                 : kernel->wide    ? wide_value(kernel, builtin, shape)
                                   : device_value(kernel, builtin, shape));
        put_flag(view, "each", kernel->wide && varies);
        add(out, view);
    }
    return out;
}

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

/* Places what a kernel keeps in shared memory, one thing after the other. */
struct shared_layout {
    uint64_t bytes, align;
    json_t *arrays, *tiles, *exchanges;
    bool copies_in, copies_out;
};

static uint64_t place_shared(struct shared_layout *layout, uint64_t align, uint64_t offset, uint64_t bytes)
{
    uint64_t at = (layout->bytes + align - 1) / align * align + offset;
    layout->bytes = at + bytes;
    if (align > layout->align)
        layout->align = align;
    return at;
}

static void place_shared_array(const struct kernel_code *kernel, struct shared_layout *layout,
                               const struct array *array)
{
    const struct array_code *made = array_code(kernel->code, array);
    json_t *view = json_object();
    put_text(view, "object", array->name.text);
    put_text(view, "type", made->view_name);
    put_number(view, "offset", place_shared(layout, array->align, array->offset, made->mapping->bytes));
    add(layout->arrays, view);
}

static bool place_tile(const struct kernel_code *kernel, struct shared_layout *layout, const struct array *array)
{
    enum { LINE = 128 }; /* all banks once */
    const struct array_code *made = kernel->reached[array->number];
    const struct stage *stage = usage_of(kernel, array)->stage;
    json_t *view = tile_view(kernel, made, stage);
    if (view == NULL)
        return false;
    uint64_t align = array->record->type->align > LINE ? array->record->type->align : LINE;
    put_number(view, "offset", place_shared(layout, align, 0, stage->bytes));
    layout->copies_in |= stage->copy_in;
    layout->copies_out |= stage->copy_out;
    add(layout->tiles, view);
    return true;
}

const char *exchange_name(const struct code *code, const struct array *array)
{
    return name_fresh(code, arena_printf(code->arena, "%s_pieces", array->name.text));
}

/* What the warps of a block exchange, each in its own part, an array after the other: they have one place. */
static void place_exchanges(const struct kernel_code *kernel, struct shared_layout *layout)
{
    enum { LANES = 32, ALIGN = 16 };
    const uint64_t warps = (kernel->kernel->block_threads + LANES - 1) / LANES;
    uint64_t most = 0;
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next) {
        const struct usage *usage = usage_of(kernel, array);
        most = usage->used && usage->exchange_bytes > most ? usage->exchange_bytes : most;
    }
    if (most == 0)
        return;
    const uint64_t offset = place_shared(layout, ALIGN, 0, most);
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next) {
        if (!usage_of(kernel, array)->used || usage_of(kernel, array)->exchange_bytes == 0)
            continue;
        json_t *view = json_object();
        put_text(view, "object", exchange_name(kernel->code, array));
        put_number(view, "offset", offset);
        put_number(view, "bytes", most / warps);
        add(layout->exchanges, view);
    }
}

static bool lay_out_shared(const struct kernel_code *kernel, struct shared_layout *layout)
{
    const struct kernel *k = kernel->kernel;
    bool fine = true;
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next)
        if (usage_of(kernel, array)->used && array->space == SPACE_SHARED)
            place_shared_array(kernel, layout, array);
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next)
        if (usage_of(kernel, array)->used && usage_of(kernel, array)->stage != NULL)
            fine = place_tile(kernel, layout, array) && fine;
    place_exchanges(kernel, layout);
    if (fine && layout->bytes > (uint64_t)kernel->code->device->shared_bytes_per_block) {
        diag_error(kernel->code->diags, "not-generated", k->name.where,
                   "kernel '%s' would need %llu bytes of shared memory, a block of '%s' has %lld", k->name.text,
                   (unsigned long long)layout->bytes, kernel->code->device->name,
                   (long long)kernel->code->device->shared_bytes_per_block);
        return false;
    }
    return fine;
}

static void put_shared(const struct kernel_code *kernel, struct shared_layout *layout, json_t *view)
{
    enum { STATIC_MOST = 48 * 1024, ALIGN_MOST = 1024 };
    put_flag(view, "uses_shared", layout->bytes > 0);
    put_flag(view, "opts_in", layout->bytes > STATIC_MOST);
    put_number(view, "shared_bytes", layout->bytes);
    put_number(view, "shared_align", layout->align > ALIGN_MOST ? ALIGN_MOST : layout->align);
    put_flag(view, "copies_in", layout->copies_in);
    put_flag(view, "copies_out", layout->copies_out);
    put_text(view, "in_block", in_block_text(kernel));
    put(view, "shared_arrays", layout->arrays);
    put(view, "tiles", layout->tiles);
    put(view, "exchanges", layout->exchanges);
    put_flag(view, "shuffles", json_array_size(layout->exchanges) > 0);
    put_text(view, "warp", device_value(kernel, BUILTIN_WARP, ""));
    put_text(view, "lane", device_value(kernel, BUILTIN_LANE, ""));
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static bool plans_fit(const struct kernel_code *kernel)
{
    bool staged = false;
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next)
        staged |= usage_of(kernel, array)->used && usage_of(kernel, array)->stage != NULL;
    if (!staged || !kernel->wide)
        return true;
    diag_error(kernel->code->diags, "not-generated", kernel->kernel->name.where,
               "kernel '%s' would stage one array and be wide for another", kernel->kernel->name.text);
    return false;
}

static bool is_wide(const struct kernel_code *kernel)
{
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next)
        if (usage_of(kernel, array)->used && usage_of(kernel, array)->effective.plan.kind == PLAN_WIDE)
            return true;
    return false;
}

/* The types of steps, in order, found in the statements. */
static void collect_steps(json_t *steps, const json_t *statements)
{
    size_t index;
    json_t *statement;
    json_array_foreach(statements, index, statement)
    {
        json_t *step = json_object_get(statement, "step");
        if (json_is_object(step))
            add(steps, json_incref(step));
        const json_t *branch = json_object_get(statement, "branch");
        collect_steps(steps, json_object_get(json_object_get(statement, "loop"), "statements"));
        collect_steps(steps, json_object_get(json_object_get(branch, "yes"), "statements"));
        collect_steps(steps, json_object_get(json_object_get(branch, "no"), "statements"));
    }
}

/* Whether plans may write bytes of its storage that are no leaf's. */
static bool has_padding(const struct code *code, const struct array *array)
{
    const struct mapping *mapping = array_code(code, array)->mapping;
    bool padded = false;
    for (unsigned g = 0; g < mapping->group_count; g++) {
        const struct group *group = &mapping->groups[g];
        for (uint64_t i = 0; i < group->record_stride; i++)
            padded = padded || !group->owned[i];
    }
    return padded;
}

static json_t *arrays_used(const struct kernel_code *kernel)
{
    json_t *out = json_array();
    for (const struct array *array = kernel->code->spec->arrays; array != NULL; array = array->next) {
        const struct usage *usage = usage_of(kernel, array);
        if (!usage->used)
            continue;
        json_t *view = json_object();
        put_text(view, "name", array->name.text);
        put_text(view, "candidate", usage->effective.text);
        put_text(view, "view", array_code(kernel->code, array)->view_name);
        put_text(view, "record", type_text(kernel->code, array->record->type));
        put_number(view, "record_size", array->record->type->size);
        put_number(view, "granule", array_granule(kernel->code, array));
        put_flag(view, "padded", has_padding(kernel->code, array));
        put_number(view, "number", json_array_size(out));
        put_number(view, "record_count", array->records);
        put_flag(view, "shared", array->space == SPACE_SHARED);
        put_flag(view, "global", array->space == SPACE_GLOBAL);
        add(out, view);
    }
    mark_ends(out);
    return out;
}

static void put_names(const struct kernel_code *kernel, json_t *view, const char *shape)
{
    const struct code *code = kernel->code;
    const char *name = code->kernel_names[kernel->number];
    put_text(view, "name", name);
    put_text(view, "title", kernel->kernel->name.text);
    put_text(view, "shape", shape);
    put_text(view, "reference_function", name_fresh(code, arena_printf(code->arena, "%s_reference", name)));
    put_text(view, "check_function", name_fresh(code, arena_printf(code->arena, "check_kernel_%s", name)));
    put_text(view, "launch_function", name_fresh(code, arena_printf(code->arena, "launch_only_%s", name)));
    put_text(view, "launch", name_fresh(code, arena_printf(code->arena, "launch_%s", name)));
    put_text(view, "device_function", name_fresh(code, arena_printf(code->arena, "%s_records", name)));
    put_text(view, "shared_object", name_fresh(code, arena_printf(code->arena, "%s_shared", name)));
    put_text(view, "shared_storage", name_fresh(code, arena_printf(code->arena, "%s_shared_storage", name)));
    put_flag(view, "wide", kernel->wide);
    put_number(view, "records_a_thread", kernel->wide ? RECORDS_A_THREAD : 1);
}

/* The statements of the device, and again as plain loops for the host. */
static void put_statements(struct kernel_code *kernel, json_t *view, const char *shape)
{
    bool used[BUILTIN_COUNT] = {false};
    kernel->scope.builtin_used = used;
    json_t *statements = flow_view(kernel), *steps = json_array();
    collect_steps(steps, statements);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        put_number(json_array_get(steps, i), "number", i);
        put_flag(json_array_get(steps, i), "only", json_array_size(steps) == 1);
    }
    mark_ends(steps);
    put(view, "statements", statements);
    put(view, "steps", steps);
    put(view, "locals", locals_view(kernel, used, shape));
    put_text(view, "thread", thread_text(kernel, shape));
    put_flag(view, "has_barriers", kernel->any_barrier);
    memset(used, 0, sizeof(used));
    bool wide = kernel->wide;
    kernel->wide = false;
    kernel->reference = true;
    json_t *reference = json_object();
    put_flag(reference, "on_host", true);
    put(reference, "statements", flow_view(kernel));
    put(reference, "locals", locals_view(kernel, used, shape));
    put(view, "reference", reference);
    put_flag(view, "on_host", false);
    kernel->wide = wide;
    kernel->reference = false;
    kernel->scope.builtin_used = NULL;
}

static void find_reached(struct kernel_code *kernel)
{
    const struct code *code = kernel->code;
    kernel->reached = arena_array(code->arena, code->spec->array_count + 1, sizeof(const struct array_code *));
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next) {
        const struct usage *usage = usage_of(kernel, array);
        const struct array_code *made = array_code(code, array);
        bool staged = usage->used && usage->stage != NULL;
        kernel->reached[array->number] = staged ? array_staged(code, made, usage->stage) : made;
    }
}

static json_t *kernel_view(const struct code *code, const struct kernel *k, size_t number)
{
    struct kernel_code kernel = {.code = code, .kernel = k, .number = number};
    bool *shared = arena_array(code->arena, code->spec->array_count + 1, sizeof(*shared));
    const char *name = code->kernel_names[number];
    const char *shape = name_fresh(code, arena_printf(code->arena, "%s_shape", name));
    for (const struct array *array = code->spec->arrays; array != NULL; array = array->next)
        shared[array->number] = array->space == SPACE_SHARED;
    kernel.scope = (struct expr_scope){.code = code, .slot_varies = varies_of(code->arena, k)};
    kernel.shared = shared;
    find_reached(&kernel);
    kernel.wide = is_wide(&kernel);
    kernel.step_count = flow_count_steps(k);
    kernel.step_name = name_fresh(code, arena_printf(code->arena, "%s_step", name));
    struct shared_layout layout = {
        .align = 16, .arrays = json_array(), .tiles = json_array(), .exchanges = json_array()};
    json_t *view = json_object();
    bool fine = plans_fit(&kernel) && lay_out_shared(&kernel, &layout);
    put_shared(&kernel, &layout, view);
    if (!fine) {
        json_decref(view);
        return NULL;
    }
    put_names(&kernel, view, shape);
    put(view, "parameters", parameters_view(&kernel));
    put_check_arguments(&kernel, view);
    put_flag(view, "has_steps", kernel.step_count > 0);
    put_launch(&kernel, view);
    put(view, "arrays", arrays_used(&kernel));
    put_statements(&kernel, view, shape);
    return view;
}

json_t *kernels_view(const struct code *code)
{
    json_t *list = json_array();
    size_t number = 0;
    for (const struct kernel *kernel = code->spec->kernels; kernel != NULL; kernel = kernel->next) {
        json_t *view = kernel_view(code, kernel, number++);
        if (view == NULL) {
            json_decref(list);
            return NULL;
        }
        add(list, view);
    }
    mark_ends(list);
    return list;
}
