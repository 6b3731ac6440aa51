#include "look_ups.h"

#include <string.h>

#include "candidates.h"
#include "check.h"

/* A kernel's statements once more, with loads in the place of look-ups and nothing in that of accesses. */
struct copying {
    struct arena *arena;
    const struct kernel *from;
    const struct table **tables; /* those looked up, and the arrays that stand for them */
    struct array **arrays;
    size_t table_count, table_capacity, array_capacity;
    struct access **accesses;
    size_t access_count, access_capacity;
    const struct expr **seen; /* look-ups whose value is at hand */
    size_t seen_count, seen_capacity;
};

static const struct array *array_of(struct copying *copying, const struct table *table)
{
    enum { ALIGN = 256 };
    for (size_t i = 0; i < copying->table_count; i++)
        if (copying->tables[i] == table)
            return copying->arrays[i];
    struct array *array = arena_alloc(copying->arena, sizeof(*array));
    *array = (struct array){.name = table->name,
                            .record = check_flatten(copying->arena, type_builtin("int32")),
                            .dim_count = 1,
                            .extent = {table->extent, 1, 1},
                            .records = table->extent,
                            .space = SPACE_GLOBAL,
                            .align = ALIGN,
                            .number = (unsigned)copying->table_count};
    const size_t count = copying->table_count++;
    copying->tables =
        arena_grow(copying->arena, copying->tables, count, &copying->table_capacity, sizeof(struct table *));
    copying->arrays =
        arena_grow(copying->arena, copying->arrays, count, &copying->array_capacity, sizeof(struct array *));
    copying->tables[count] = table;
    copying->arrays[count] = array;
    if (count > 0)
        copying->arrays[count - 1]->next = array;
    return array;
}

static bool is_at_hand(const struct copying *copying, const struct expr *look_up)
{
    for (size_t i = 0; i < copying->seen_count; i++)
        if (expr_same(copying->seen[i], look_up))
            return true;
    return false;
}

static struct statement *new_statement(const struct copying *copying, enum statement_kind kind)
{
    struct statement *statement = arena_alloc(copying->arena, sizeof(*statement));
    *statement = (struct statement){.kind = kind, .where = copying->from->name.where};
    return statement;
}

static struct statement *load_of(struct copying *copying, struct expr *look_up)
{
    struct access *access = arena_alloc(copying->arena, sizeof(*access));
    struct selected *selected = arena_alloc(copying->arena, sizeof(*selected));
    const struct array *array = array_of(copying, look_up->table);
    *selected = (struct selected){.size = array->record->type->size};
    *access = (struct access){.op = ACCESS_READ,
                              .where = look_up->where,
                              .array = array,
                              .index = {look_up->operand[0]},
                              .selected = selected,
                              .selected_count = 1,
                              .whole = true,
                              .number = (unsigned)copying->access_count};
    copying->accesses = arena_grow(copying->arena, copying->accesses, copying->access_count, &copying->access_capacity,
                                   sizeof(struct access *));
    copying->accesses[copying->access_count++] = access;
    copying->seen =
        arena_grow(copying->arena, copying->seen, copying->seen_count, &copying->seen_capacity, sizeof(struct expr *));
    copying->seen[copying->seen_count++] = look_up;
    struct statement *statement = new_statement(copying, STATEMENT_ACCESS);
    statement->access = access;
    return statement;
}

static struct statement **append_loads(struct copying *copying, struct statement **end, struct expr *expr);

/* The loads of an expression that only some threads need: what they leave at hand the others do not have. */
static struct statement *some_loads(struct copying *copying, struct expr *expr)
{
    const size_t seen = copying->seen_count;
    struct statement *list = NULL;
    append_loads(copying, &list, expr);
    copying->seen_count = seen;
    return list;
}

/* What is evaluated only as the first operand wants it. */
static struct statement **append_lazy(struct copying *copying, struct statement **end, struct expr *expr)
{
    end = append_loads(copying, end, expr->operand[0]);
    struct statement *yes = expr->op == EXPR_LOGICAL_OR ? NULL : some_loads(copying, expr->operand[1]);
    struct expr *other = expr->op == EXPR_CONDITIONAL ? expr->operand[2] : expr->operand[1];
    struct statement *no = expr->op == EXPR_LOGICAL_AND ? NULL : some_loads(copying, other);
    if (yes == NULL && no == NULL)
        return end;
    *end = new_statement(copying, STATEMENT_IF);
    (*end)->condition = expr->operand[0];
    (*end)->body = yes;
    (*end)->otherwise = no;
    (*end)->has_else = no != NULL;
    return &(*end)->next;
}

/* Appends the loads of an expression's look-ups, the inner ones first; returns where the list ends. */
static struct statement **append_loads(struct copying *copying, struct statement **end, struct expr *expr)
{
    if (expr == NULL || (expr->op == EXPR_LOOKUP && is_at_hand(copying, expr)))
        return end;
    if (expr->op == EXPR_LOGICAL_AND || expr->op == EXPR_LOGICAL_OR || expr->op == EXPR_CONDITIONAL)
        return append_lazy(copying, end, expr);
    for (size_t i = 0; i < sizeof(expr->operand) / sizeof(expr->operand[0]); i++)
        end = append_loads(copying, end, expr->operand[i]);
    if (expr->op != EXPR_LOOKUP)
        return end;
    *end = load_of(copying, expr);
    return &(*end)->next;
}

static struct statement **append_list(struct copying *copying, struct statement **end, const struct statement *list);

/* A loop's test is taken at the start of a trip, by those that it lets in, what leads to the next at its end. */
static struct statement **append_loop(struct copying *copying, struct statement **end, const struct statement *loop)
{
    end = append_loads(copying, end, loop->from);
    end = append_loads(copying, end, loop->to);
    end = append_loads(copying, end, loop->step);
    const size_t seen = copying->seen_count, before = copying->access_count;
    struct statement *copy = arena_alloc(copying->arena, sizeof(*copy)), *body = NULL;
    struct statement **last = append_loads(copying, &body, loop->test);
    last = append_list(copying, last, loop->body);
    append_loads(copying, last, loop->advance);
    copying->seen_count = seen;
    if (copying->access_count == before)
        return end;
    *copy = *loop;
    copy->body = body;
    copy->next = NULL;
    *end = copy;
    return &copy->next;
}

static struct statement *side_of(struct copying *copying, const struct statement *list)
{
    const size_t seen = copying->seen_count;
    struct statement *side = NULL;
    append_list(copying, &side, list);
    copying->seen_count = seen;
    return side;
}

static struct statement **append_branch(struct copying *copying, struct statement **end, const struct statement *branch)
{
    end = append_loads(copying, end, branch->condition);
    const size_t before = copying->access_count;
    struct statement *copy = arena_alloc(copying->arena, sizeof(*copy));
    *copy = *branch;
    copy->body = side_of(copying, branch->body);
    copy->otherwise = side_of(copying, branch->otherwise);
    copy->next = NULL;
    if (copying->access_count == before)
        return end;
    *end = copy;
    return &copy->next;
}

static struct statement **append_let(struct copying *copying, struct statement **end, const struct statement *let)
{
    end = append_loads(copying, end, let->value);
    struct statement *copy = arena_alloc(copying->arena, sizeof(*copy));
    *copy = *let;
    copy->next = NULL;
    *end = copy;
    return &copy->next;
}

static struct statement **append_access(struct copying *copying, struct statement **end, const struct access *access)
{
    for (unsigned d = 0; d < access->array->dim_count; d++)
        end = append_loads(copying, end, access->index[d]);
    for (size_t i = 0; i < access->subscript_count; i++)
        end = append_loads(copying, end, access->subscripts[i].index);
    return end;
}

static struct statement **append_list(struct copying *copying, struct statement **end, const struct statement *list)
{
    for (; list != NULL; list = list->next)
        switch (list->kind) {
        case STATEMENT_LET:
            end = append_let(copying, end, list);
            break;
        case STATEMENT_FOR:
            end = append_loop(copying, end, list);
            break;
        case STATEMENT_IF:
            end = append_branch(copying, end, list);
            break;
        case STATEMENT_ACCESS:
            end = append_access(copying, end, list->access);
            break;
        }
    return end;
}

static struct option **options_of(const struct spec *spec, const struct device *device, struct arena *arena)
{
    const struct candidate plain = {
        .layout = {.kind = LAYOUT_AOS}, .plan = {.kind = PLAN_DIRECT}, .text = "aos/direct"};
    struct option **chosen = arena_array(arena, spec->array_count + 1, sizeof(struct option *));
    const char *reason;
    for (const struct array *array = spec->arrays; array != NULL; array = array->next) {
        chosen[array->number] = candidate_apply(spec, array, &plain, device, arena, &reason);
        if (chosen[array->number] == NULL)
            return NULL;
    }
    return chosen;
}

const struct kernel_score *look_ups_score(const struct spec *spec, size_t kernel_number, const struct device *device,
                                          struct arena *arena)
{
    struct copying copying = {.arena = arena, .from = spec->kernels};
    for (size_t k = 0; k < kernel_number; k++)
        copying.from = copying.from->next;
    struct kernel *kernel = arena_alloc(arena, sizeof(*kernel));
    *kernel = *copying.from;
    kernel->body = NULL;
    append_list(&copying, &kernel->body, copying.from->body);
    if (copying.access_count == 0)
        return NULL;
    kernel->accesses = copying.accesses;
    kernel->access_count = (unsigned)copying.access_count;
    kernel->next = NULL;
    struct spec alone = *spec;
    alone.kernels = kernel;
    alone.kernel_count = 1;
    alone.arrays = copying.arrays[0];
    alone.array_count = copying.table_count;
    /* What is wrong with the kernel itself has been told by whoever counted its accesses. */
    struct diags unheard = {.arena = arena};
    struct kernel_score *out = arena_alloc(arena, sizeof(*out));
    struct option **chosen = options_of(&alone, device, arena);
    if (chosen == NULL || !score_kernel(out, &alone, 0, device, chosen, false, true, arena, &unheard))
        return NULL;
    out->kernel = copying.from;
    return out;
}

const struct kernel_score *look_ups_join(const struct kernel_score *score, const struct kernel_score *look_ups,
                                         struct arena *arena)
{
    if (look_ups == NULL)
        return score;
    struct kernel_score *both = arena_alloc(arena, sizeof(*both));
    *both = *score;
    both->access_count += look_ups->access_count;
    both->accesses = arena_array(arena, both->access_count, sizeof(*both->accesses));
    memcpy(both->accesses, score->accesses, score->access_count * sizeof(*both->accesses));
    memcpy(both->accesses + score->access_count, look_ups->accesses, look_ups->access_count * sizeof(*both->accesses));
    both->array_count += look_ups->array_count;
    both->arrays = arena_array(arena, both->array_count, sizeof(*both->arrays));
    memcpy(both->arrays, score->arrays, score->array_count * sizeof(*both->arrays));
    memcpy(both->arrays + score->array_count, look_ups->arrays, look_ups->array_count * sizeof(*both->arrays));
    return both;
}
