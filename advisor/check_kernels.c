#include <string.h>

#include "check_internal.h"
#include "checked.h"

/* CUDA's limits on launches (programming guide, technical specifications a compute capability: the same since 3.0);
 * threads a block are the device's. */
static const int64_t block_most[3] = {1024, 1024, 64};
static const int64_t grid_most[3] = {INT32_MAX, 65535, 65535};

/* Fills three dimensions and their product; false after a diagnostic. */
static bool check_dimensions(struct checker *checker, const struct quoted *text, const char *what,
                             const int64_t most[3], uint64_t out[3], struct expr *exprs[3])
{
    const struct bounds bounds = {what, "launch-limits", 1, INT64_MAX};
    int64_t values[3];
    size_t count = check_integers(checker, text, &bounds, 3, values, exprs);
    bool fine = count > 0;
    for (size_t i = 0; i < 3; i++) {
        out[i] = i < count ? (uint64_t)values[i] : 1;
        if (i >= count || values[i] <= most[i])
            continue;
        diag_error(checker->diags, "launch-limits", exprs[i]->where, "%s %c is %lld, CUDA's limit is %lld", what,
                   "xyz"[i], (long long)values[i], (long long)most[i]);
        fine = false;
    }
    return fine;
}

static void check_threads(struct checker *checker, const struct kernel *kernel)
{
    int64_t most = checker->device->threads_per_block;
    uint64_t threads;
    if (most > 0 && kernel->block_threads > (uint64_t)most)
        diag_error(checker->diags, "launch-limits", kernel->block_text.where,
                   "block of %llu threads, a block of '%s' has at most %lld", (unsigned long long)kernel->block_threads,
                   checker->device->name, (long long)most);
    else if (!checked_mul_u64(&threads, kernel->block_threads, kernel->block_count) || threads > INT64_MAX)
        diag_error(checker->diags, "launch-limits", kernel->grid_text.where, "launch of 2^63 threads or more");
}

/* A block whose registers no multiprocessor has is never launched. What `registers` says is what someone expects of a
 * compiler, which may do with fewer, and no count depends on it: a warning. */
static void check_registers(struct checker *checker, const struct kernel *kernel)
{
    enum { LANES = 32 };
    int64_t most = checker->device->registers_per_multiprocessor;
    int64_t threads = (int64_t)(kernel->block_threads + LANES - 1) / LANES * LANES;
    const long long taken = (long long)kernel->registers * threads;
    if (most <= 0 || taken <= most)
        return;
    bool given = kernel->registers_text.text != NULL;
    diag_warning(checker->diags, "registers", given ? kernel->registers_text.where : kernel->block_text.where,
                 "a block of %lld threads takes %lld registers, a multiprocessor of '%s' has %lld", (long long)threads,
                 taken, checker->device->name, (long long)most);
    if (most / threads > 0)
        diag_note(checker->diags, "at most %lld a thread fit such a block", (long long)(most / threads));
}

static void check_launch(struct checker *checker, struct kernel *kernel)
{
    const struct bounds calls = {"calls", "bad-value", 0, INT64_MAX}, flops = {"flops", "bad-value", 0, INT64_MAX};
    const struct bounds registers = {"registers", "bad-value", 1, 255};
    bool block =
        check_dimensions(checker, &kernel->block_text, "block", block_most, kernel->block, kernel->block_exprs);
    bool grid = check_dimensions(checker, &kernel->grid_text, "grid", grid_most, kernel->grid, kernel->grid_exprs);
    (void)check_integer(checker, &kernel->calls_text, &calls, 1, &kernel->calls);
    (void)check_integer(checker, &kernel->flops_text, &flops, 0, &kernel->flops);
    bool counted = check_integer(checker, &kernel->registers_text, &registers, 32, &kernel->registers);
    /* Within the limits both products are below 2^63. */
    if (block)
        kernel->block_threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    if (grid)
        kernel->block_count = kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    if (block && grid)
        check_threads(checker, kernel);
    if (block && counted && kernel->block_threads <= (uint64_t)checker->device->threads_per_block)
        check_registers(checker, kernel);
}

void check_launches(struct checker *checker)
{
    for (struct kernel *kernel = checker->spec->kernels; kernel != NULL; kernel = kernel->next)
        check_launch(checker, kernel);
}

/* "threads are left out" where the divisor is the block's extent, of all its threads in a grid of one dimension. */
static void warn_remainder(const struct expr *expr, uint64_t block, struct diags *diags)
{
    const struct expr_frame frame = {.variables = NULL};
    const struct expr *culprit;
    int64_t dividend, divisor, detail;
    if (expr->op != EXPR_DIVIDE || expr_evaluate(&dividend, expr->operand[0], &frame, &culprit, &detail) != EXPR_FINE ||
        expr_evaluate(&divisor, expr->operand[1], &frame, &culprit, &detail) != EXPR_FINE || divisor <= 0 ||
        dividend % divisor == 0)
        return;
    if ((uint64_t)divisor == block)
        diag_warning(diags, "grid-remainder", expr->where,
                     "the division in 'grid' has a remainder: %lld threads are left out",
                     (long long)(dividend % divisor));
    else
        diag_warning(diags, "grid-remainder", expr->where, "the division in 'grid' has a remainder: %lld are left out",
                     (long long)(dividend % divisor));
    diag_note(diags, "round up, as in '(N + 255) / 256', and guard the body with <if test=\"thread lt N\">");
}

/* "(N + 255) / 256" rounds up: a sum that is divided is no remainder lost. Grids of more dimensions are of tiles: of a
 * difference, "(ROWS - 2) / 8", other kernels may do the rim. */
static void warn_remainders(const struct kernel *kernel, struct diags *diags)
{
    bool line = kernel->grid_exprs[1] == NULL;
    for (unsigned d = 0; d < 3 && kernel->grid_exprs[d] != NULL; d++) {
        const struct expr *expr = kernel->grid_exprs[d], *dividend = expr->operand[0];
        bool fine = dividend == NULL || dividend->op == EXPR_ADD || (!line && dividend->op == EXPR_SUBTRACT);
        /* Where no more messages are kept, the note would be another's. */
        if (!fine && diags->count < DIAG_MAX)
            warn_remainder(expr, line ? kernel->block_threads : kernel->block[d], diags);
    }
}

void check_warn(const struct spec *spec, struct diags *diags)
{
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next)
        warn_remainders(kernel, diags);
}

/* A kernel's body being walked. Slots and accesses grow in the kernel itself. */
struct body {
    struct scope scope;
    struct kernel *kernel;
    size_t visible_capacity, slot_capacity, access_capacity;
};

/* Parses and binds an expression; NULL without one and after a diagnostic. */
static struct expr *bind(struct body *body, const struct quoted *text)
{
    struct checker *checker = body->scope.checker;
    if (text->text == NULL)
        return NULL;
    struct expr *expr = expr_parse(checker->arena, text, checker->diags);
    return expr != NULL && expr_bind(expr, check_resolve, &body->scope, checker->diags) ? expr : NULL;
}

static struct expr *number(struct checker *checker, int64_t value, struct span where)
{
    struct expr *expr = arena_alloc(checker->arena, sizeof(*expr));
    *expr = (struct expr){.op = EXPR_NUMBER, .value = value, .where = where, .at = where};
    return expr;
}

/* Whether a variable may have this name here; reports why not. */
static bool check_variable_name(struct body *body, const struct name *name, const char *what)
{
    struct checker *checker = body->scope.checker;
    if (!check_identifier(checker, name, what, true))
        return false;
    const struct symbol *outer =
        check_names_find(&checker->names, value_space(checker), name->text, strlen(name->text));
    if (outer == NULL)
        return true;
    diag_error(checker->diags, "shadowed-name", name->where, "%s '%s' hides %s of that name", what, name->text,
               outer->kind == SYMBOL_PARAM   ? "the param"
               : outer->kind == SYMBOL_TABLE ? "the table"
                                             : "the array");
    if (outer->where.source != NULL)
        diag_note(checker->diags, "'%s' is declared on line %zu", name->text,
                  source_locate(outer->where.source, outer->where.offset).line);
    return false;
}

/* Gives a let or a loop variable its slot and opens its scope, which close_scope ends. A name at fault is declared
 * all the same where it can be, so that its users are silent. */
static void declare(struct body *body, struct statement *statement, const char *what)
{
    struct checker *checker = body->scope.checker;
    struct kernel *kernel = body->kernel;
    statement->slot = kernel->slot_count;
    kernel->slot_names =
        arena_grow(checker->arena, kernel->slot_names, kernel->slot_count, &body->slot_capacity, sizeof(char *));
    kernel->slot_names[kernel->slot_count++] = statement->name.text;
    if (!check_variable_name(body, &statement->name, what) && statement->name.text == NULL)
        return;
    const char *name = statement->name.text;
    struct symbol *symbol = check_names_find(&checker->names, kernel, name, strlen(name));
    if (symbol == NULL)
        symbol = check_names_add(checker, kernel, name, SYMBOL_VARIABLE, statement, statement->name.where);
    if (symbol->usable) {
        check_report_duplicate(checker, &statement->name, symbol);
        return;
    }
    symbol->usable = true;
    symbol->number = statement->slot;
    symbol->where = statement->name.where;
    struct scope *scope = &body->scope;
    scope->visible = arena_grow(checker->arena, scope->visible, scope->visible_count, &body->visible_capacity,
                                sizeof(struct symbol *));
    scope->visible[scope->visible_count++] = symbol;
}

static void close_scope(struct body *body, size_t visible_count)
{
    while (body->scope.visible_count > visible_count)
        body->scope.visible[--body->scope.visible_count]->usable = false;
}

static void check_index(struct body *body, struct access *access)
{
    struct checker *checker = body->scope.checker;
    struct expr *parsed[EXPR_LIST_MAX];
    if (access->index_text.text == NULL)
        return;
    size_t count =
        expr_parse_list(parsed, EXPR_LIST_MAX, checker->arena, &access->index_text, EXPR_COMMAS, checker->diags);
    for (size_t i = 0; i < count; i++) {
        bool bound = expr_bind(parsed[i], check_resolve, &body->scope, checker->diags);
        if (i < SPEC_DIMS_MAX)
            access->index[i] = bound ? parsed[i] : NULL;
    }
    if (count == 0 || access->array == NULL || count == access->array->dim_count)
        return;
    diag_error(checker->diags, "index-dimensions", access->index_text.where, "%zu index%s for %u dimension%s of '%s'",
               count, count == 1 ? "" : "es", access->array->dim_count, access->array->dim_count == 1 ? "" : "s",
               access->array->name.text);
    diag_note(checker->diags, "one expression a dimension, with commas between them");
}

/* NULL where there is no such array (after a diagnostic) and where it failed (without one). */
static const struct array *find_array(struct checker *checker, const struct quoted *text)
{
    if (text->text == NULL)
        return NULL;
    const struct symbol *symbol =
        check_names_find(&checker->names, value_space(checker), text->text, strlen(text->text));
    if (symbol != NULL && symbol->kind == SYMBOL_ARRAY) {
        const struct array *array = symbol->item;
        return array->record == NULL ? NULL : array;
    }
    if (symbol != NULL) {
        diag_error(checker->diags, "unknown-array", text->where, "'%s' is a %s, not an array", text->text,
                   symbol->kind == SYMBOL_TABLE ? "table" : "param");
        return NULL;
    }
    diag_error(checker->diags, "unknown-array", text->where, "unknown array '%s'", text->text);
    struct guess guess = check_guess_start(checker, text->text);
    for (const struct array *array = checker->spec->arrays; array != NULL && check_guess_wants(&guess);
         array = array->next)
        check_guess_offer(&guess, array->name.text);
    (void)check_guess_note(checker, &guess);
    return NULL;
}

static bool check_bytes(struct checker *checker, struct access *access)
{
    const struct bounds bounds = {"bytes", "bad-bytes", 1, VECTOR_BYTES_MAX};
    int64_t bytes;
    if (!check_integer(checker, &access->bytes_text, &bounds, 0, &bytes))
        return false;
    access->bytes = (uint64_t)bytes;
    if ((bytes & (bytes - 1)) == 0)
        return true;
    diag_error(checker->diags, "bad-bytes", access->bytes_text.where, "bytes is %lld, not 1, 2, 4, 8 or 16",
               (long long)bytes);
    return false;
}

/* The hardware has no atomic on one byte; those of 2 bytes are for half, bfloat16 and 16-bit compare-and-swap. */
static void check_atomic(struct checker *checker, const struct access *access)
{
    struct span where = access->field_text.text != NULL ? access->field_text.where : access->array_text.where;
    if (access->bytes_text.text != NULL) {
        if (access->bytes == 1)
            diag_error(checker->diags, "bad-atomic", access->bytes_text.where, "atomic on 1 byte");
        return;
    }
    for (size_t i = 0; i < access->selected_count; i++) {
        if (access->selected[i].size > 1)
            continue;
        const char *path = access->array->record->leaves[access->selected[i].leaf].path;
        if (path[0] != '\0')
            diag_error(checker->diags, "bad-atomic", where, "atomic on 1 byte: '%s'", path);
        else
            diag_error(checker->diags, "bad-atomic", where, "atomic on 1 byte");
        diag_note(checker->diags, "atomics are on 2, 4, 8 or 16 bytes");
        return;
    }
}

static void check_access(struct body *body, struct access *access)
{
    struct checker *checker = body->scope.checker;
    struct kernel *kernel = body->kernel;
    access->number = kernel->access_count;
    access->whole = access->field_text.text == NULL;
    kernel->accesses = arena_grow(checker->arena, kernel->accesses, kernel->access_count, &body->access_capacity,
                                  sizeof(struct access *));
    kernel->accesses[kernel->access_count++] = access;
    access->array = find_array(checker, &access->array_text);
    check_index(body, access);
    bool bytes = check_bytes(checker, access);
    bool paths = access->array != NULL && check_paths(&body->scope, access);
    if (access->op == ACCESS_ATOMIC && bytes && paths)
        check_atomic(checker, access);
}

static void check_statements(struct body *body, struct statement *first);

/* A step that is known must lead towards `to`; with `while` it may count down. */
static void check_step(struct checker *checker, const struct statement *loop)
{
    int64_t step;
    if (loop->step == NULL || !check_is_constant(loop->step) || !check_evaluate(checker, loop->step, &step))
        return;
    if (step > 0 || (step < 0 && loop->while_text.text != NULL))
        return;
    diag_error(checker->diags, "loop-step", loop->step_text.where, "step is %lld: the loop does not advance",
               (long long)step);
    if (step < 0)
        diag_note(checker->diags, "to count down, write 'while' instead of 'to'");
}

static void check_for(struct body *body, struct statement *loop)
{
    struct checker *checker = body->scope.checker;
    size_t visible_count = body->scope.visible_count;
    loop->from = loop->from_text.text == NULL ? number(checker, 0, loop->where) : bind(body, &loop->from_text);
    loop->to = bind(body, &loop->to_text);
    loop->step = bind(body, &loop->step_text);
    if (loop->step_text.text == NULL && loop->next_text.text == NULL)
        loop->step = number(checker, 1, loop->where);
    else
        check_step(checker, loop);
    declare(body, loop, "loop variable");
    loop->test = bind(body, &loop->while_text);
    loop->advance = bind(body, &loop->next_text);
    check_statements(body, loop->body);
    close_scope(body, visible_count);
}

static void check_if(struct body *body, struct statement *statement)
{
    size_t visible_count = body->scope.visible_count;
    statement->condition = bind(body, &statement->test_text);
    check_statements(body, statement->body);
    close_scope(body, visible_count);
    check_statements(body, statement->otherwise);
    close_scope(body, visible_count);
}

static void check_let(struct body *body, struct statement *let)
{
    let->value = bind(body, &let->value_text);
    declare(body, let, "let");
}

static void check_statements(struct body *body, struct statement *first)
{
    for (struct statement *statement = first; statement != NULL; statement = statement->next) {
        switch (statement->kind) {
        case STATEMENT_LET:
            check_let(body, statement);
            break;
        case STATEMENT_FOR:
            check_for(body, statement);
            break;
        case STATEMENT_IF:
            check_if(body, statement);
            break;
        case STATEMENT_ACCESS:
            check_access(body, statement->access);
            break;
        }
    }
}

void check_bodies(struct checker *checker)
{
    for (struct kernel *kernel = checker->spec->kernels; kernel != NULL; kernel = kernel->next) {
        struct body body = {.scope = {.checker = checker, .kernel = kernel}, .kernel = kernel};
        check_statements(&body, kernel->body);
        close_scope(&body, 0);
    }
}

/* Adds up the shared arrays of a kernel, side by side in the order of their first access, each on its alignment.
 * `owner` says which kernel counted an array last. */
static void check_kernel_shared(struct checker *checker, const struct kernel *kernel, const struct kernel *owner[])
{
    uint64_t end = 0, most = (uint64_t)checker->device->shared_bytes_per_block, bytes;
    unsigned count = 0;
    for (unsigned i = 0; i < kernel->access_count; i++) {
        const struct array *array = kernel->accesses[i]->array;
        if (array == NULL || array->space != SPACE_SHARED || owner[array->number] == kernel)
            continue;
        owner[array->number] = kernel;
        /* An array too large by itself was reported. */
        if (!check_array_bytes(array, &bytes) || array->offset + bytes > most)
            return;
        end = (end + array->align - 1) / array->align * array->align + array->offset + bytes;
        count++;
    }
    if (count > 1 && end > most)
        diag_error(checker->diags, "shared-too-large", kernel->name.where,
                   "shared arrays of kernel '%s' take %llu bytes, a block of '%s' has %llu", kernel->name.text,
                   (unsigned long long)end, checker->device->name, (unsigned long long)most);
}

void check_shared(struct checker *checker)
{
    size_t array_count = 0;
    for (const struct array *array = checker->spec->arrays; array != NULL; array = array->next)
        array_count++;
    const struct kernel **owner = arena_array(checker->arena, array_count + 1, sizeof(const struct kernel *));
    for (const struct kernel *kernel = checker->spec->kernels; kernel != NULL; kernel = kernel->next)
        check_kernel_shared(checker, kernel, owner);
}
