#include <string.h>

#include "steps.h"
#include "text.h"
#include "view_code_internal.h"

/* ---- what statements touch --------------------------------------------------------------------------------------- */

static bool has_access(const struct statement *list)
{
    for (const struct statement *at = list; at != NULL; at = at->next)
        if (at->kind == STATEMENT_ACCESS || has_access(at->body) || has_access(at->otherwise))
            return true;
    return false;
}

static bool is_straight(const struct statement *statement)
{
    return statement->kind == STATEMENT_LET || statement->kind == STATEMENT_ACCESS;
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* Flags of what was done with each array in shared memory since the last barrier. */
struct touched {
    unsigned char *arrays;
};

struct flow {
    struct kernel_code *kernel;
    size_t array_count;
};

static struct touched touched_none(const struct flow *flow)
{
    return (struct touched){arena_array(flow->kernel->code->arena, flow->array_count + 1, 1)};
}

static struct touched touched_copy(const struct flow *flow, const struct touched *from)
{
    struct touched copy = touched_none(flow);
    memcpy(copy.arrays, from->arrays, flow->array_count);
    return copy;
}

static void touched_join(const struct flow *flow, struct touched *into, const struct touched *from)
{
    for (size_t i = 0; i < flow->array_count; i++)
        into->arrays[i] |= from->arrays[i];
}

static void touched_clear(const struct flow *flow, struct touched *touched)
{
    memset(touched->arrays, 0, flow->array_count);
}

static void touch_access(const struct flow *flow, struct touched *touched, const struct access *access)
{
    size_t number = access->array->number;
    if (!flow->kernel->shared[number])
        return;
    touched->arrays[number] |=
        (unsigned char)((access_loads(access) ? TOUCH_READ : 0) | (access_stores(access) ? TOUCH_WRITTEN : 0) |
                        (touched->arrays[number] != 0 ? TOUCH_SEVERAL : 0));
}

static void touch_all(const struct flow *flow, struct touched *touched, const struct statement *list)
{
    for (const struct statement *at = list; at != NULL; at = at->next) {
        if (at->kind == STATEMENT_ACCESS)
            touch_access(flow, touched, at->access);
        touch_all(flow, touched, at->body);
        touch_all(flow, touched, at->otherwise);
    }
}

/* Whether a thread could see what another does to the same array: all but reads after reads. */
static bool touched_conflict(const struct flow *flow, const struct touched *before, const struct touched *now)
{
    for (size_t i = 0; i < flow->array_count; i++)
        if (before->arrays[i] != 0 && now->arrays[i] != 0 &&
            ((before->arrays[i] | now->arrays[i]) & TOUCH_WRITTEN) != 0)
            return true;
    return false;
}

/* Whether a step's loads of a shared array must be over before its stores: unless each thread updates its own. */
static bool step_conflict(const struct flow *flow, const struct access *const accesses[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (i != j && accesses[i]->array == accesses[j]->array &&
                flow->kernel->shared[accesses[i]->array->number] && access_loads(accesses[i]) &&
                access_stores(accesses[j]))
                return true;
    return false;
}

static struct touched step_touches(const struct flow *flow, const struct access *const accesses[], size_t count)
{
    struct touched now = touched_none(flow);
    for (size_t i = 0; i < count; i++)
        touch_access(flow, &now, accesses[i]);
    return now;
}

static bool same_for_block(const struct flow *flow, const struct expr *expr)
{
    return expr == NULL || (code_varies(&flow->kernel->scope, expr) & EXPR_VARIES_THREAD) == 0;
}

/* Whether all threads of a block go the same way here. */
static bool is_uniform(const struct flow *flow, const struct statement *at)
{
    return same_for_block(flow, at->condition) && same_for_block(flow, at->from) && same_for_block(flow, at->to) &&
           same_for_block(flow, at->test) && same_for_block(flow, at->step) && same_for_block(flow, at->advance);
}

/* Updates `pending` as a pass over the run would, barriers included. Loops within loops count with all that they touch,
 * so that the cost stays linear. */
static void pass_run(const struct flow *flow, const struct statement *list, const struct statement **after,
                     struct touched *pending)
{
    size_t count;
    const struct access **accesses = steps_run(flow->kernel->code->arena, list, &count, after);
    for (size_t done = 0; done < count;) {
        size_t length = steps_length(accesses + done, count - done);
        struct touched now = step_touches(flow, accesses + done, length);
        if (touched_conflict(flow, pending, &now))
            touched_clear(flow, pending);
        touched_join(flow, pending, &now);
        done += length;
    }
}

static struct touched pass_list(const struct flow *flow, const struct statement *list)
{
    struct touched pending = touched_none(flow);
    while (list != NULL) {
        const struct statement *after = list->next;
        if (is_straight(list)) {
            pass_run(flow, list, &after, &pending);
        } else {
            touch_all(flow, &pending, list->body);
            touch_all(flow, &pending, list->otherwise);
        }
        list = after;
    }
    return pending;
}

/* ---- the view of statements -------------------------------------------------------------------------------------- */

static json_t *statement_view(const char *kind, json_t *content)
{
    static const char *const kinds[] = {"let", "loop", "branch", "step", "barrier", "note"};
    json_t *view = json_object();
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        put(view, kinds[i], strcmp(kinds[i], kind) == 0 ? json_incref(content) : json_false());
    json_decref(content);
    return view;
}

static void add_barrier(const struct flow *flow, json_t *out, struct touched *pending)
{
    add(out, statement_view("barrier", json_true()));
    touched_clear(flow, pending);
    flow->kernel->any_barrier = true;
}

static void add_note(json_t *out)
{
    add(out, statement_view("note", json_string("No barrier can stand between these accesses to shared memory: not all "
                                                "threads of a block come here.")));
}

static const char *expression(const struct flow *flow, const struct expr *expr, enum expr_style style)
{
    struct expr_scope scope = flow->kernel->scope;
    scope.style = flow->kernel->wide ? style : STYLE_PLAIN;
    return code_expr(&scope, expr);
}

static void push_visible(struct kernel_code *kernel, const struct statement *statement)
{
    kernel->visible = arena_grow(kernel->code->arena, kernel->visible, kernel->visible_count, &kernel->visible_capacity,
                                 sizeof(const struct statement *));
    kernel->visible[kernel->visible_count++] = statement;
}

static void add_let(const struct flow *flow, json_t *out, const struct statement *let)
{
    const struct kernel_code *kernel = flow->kernel;
    unsigned varies = kernel->scope.slot_varies[let->slot];
    json_t *view = json_object();
    put_text(view, "name", let->name.text);
    put_text(view, "value", expression(flow, let->value, STYLE_RECORD));
    put_flag(view, "each", kernel->wide && (varies & (EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK)) != 0);
    add(out, statement_view("let", view));
    push_visible(flow->kernel, let);
}

/* A straight run: its lets first, then its accesses as steps. `pending` NULL: not all threads come here. */
static void add_run(const struct flow *flow, json_t *out, const struct statement *list, const struct statement **after,
                    struct touched *pending)
{
    struct kernel_code *kernel = flow->kernel;
    size_t count;
    const struct access **accesses = steps_run(kernel->code->arena, list, &count, after);
    for (const struct statement *at = list; at != *after; at = at->next)
        if (at->kind == STATEMENT_LET && has_access(at->next))
            add_let(flow, out, at);
    for (size_t done = 0; done < count;) {
        size_t length = steps_length(accesses + done, count - done);
        struct touched now = step_touches(flow, accesses + done, length);
        bool within = step_conflict(flow, accesses + done, length);
        if (pending != NULL && touched_conflict(flow, pending, &now))
            add_barrier(flow, out, pending);
        add(out, statement_view("step", step_view(kernel, accesses + done, length, within && pending != NULL)));
        if (pending != NULL)
            touched_join(flow, pending, &now);
        done += length;
    }
}

static void add_list(const struct flow *flow, json_t *out, const struct statement *list, struct touched *pending);

static json_t *block_view(const struct flow *flow, const struct statement *list, struct touched *pending)
{
    json_t *out = json_array();
    size_t visible = flow->kernel->visible_count;
    add_list(flow, out, list, pending);
    flow->kernel->visible_count = visible;
    return out;
}

static const char *loop_test(const struct flow *flow, const struct statement *loop)
{
    if (loop->test != NULL)
        return expression(flow, loop->test, STYLE_FIRST);
    const struct expr *to = loop->to;
    bool primary = to->op == EXPR_NUMBER || to->op == EXPR_NAME || to->op == EXPR_LOOKUP;
    return arena_printf(flow->kernel->code->arena, primary ? "%s < %s" : "%s < (%s)", loop->name.text,
                        expression(flow, to, STYLE_FIRST));
}

static const char *loop_advance(const struct flow *flow, const struct statement *loop)
{
    struct arena *arena = flow->kernel->code->arena;
    if (loop->advance != NULL)
        return arena_printf(arena, "%s = %s", loop->name.text, expression(flow, loop->advance, STYLE_FIRST));
    if (loop->step == NULL || (loop->step->op == EXPR_NUMBER && loop->step->value == 1))
        return arena_printf(arena, "++%s", loop->name.text);
    return arena_printf(arena, "%s += %s", loop->name.text, expression(flow, loop->step, STYLE_FIRST));
}

static void add_loop(const struct flow *flow, json_t *out, const struct statement *loop, struct touched *pending)
{
    json_t *view = json_object();
    put_text(view, "variable", loop->name.text);
    put_text(view, "from", loop->from == NULL ? "0" : expression(flow, loop->from, STYLE_FIRST));
    put_text(view, "test", loop_test(flow, loop));
    put_text(view, "advance", loop_advance(flow, loop));
    if (pending != NULL) {
        /* The end of one trip comes before the start of the next. */
        struct touched before = touched_copy(flow, pending), round = pass_list(flow, loop->body);
        touched_join(flow, pending, &round);
        push_visible(flow->kernel, loop);
        put(view, "statements", block_view(flow, loop->body, pending));
        touched_join(flow, pending, &before);
    } else {
        push_visible(flow->kernel, loop);
        put(view, "statements", block_view(flow, loop->body, NULL));
    }
    flow->kernel->visible_count--;
    add(out, statement_view("loop", view));
}

static void add_branch(const struct flow *flow, json_t *out, const struct statement *branch, struct touched *pending)
{
    json_t *view = json_object();
    bool yes = has_access(branch->body), no = has_access(branch->otherwise);
    put_text(view, "test", expression(flow, branch->condition, STYLE_FIRST));
    put_flag(view, "has_body", yes);
    put_flag(view, "has_else", no);
    struct touched other = pending == NULL ? touched_none(flow) : touched_copy(flow, pending);
    put(view, "yes", json_pack("{s:o}", "statements", block_view(flow, branch->body, pending)));
    put(view, "no",
        json_pack("{s:o}", "statements", block_view(flow, branch->otherwise, pending == NULL ? NULL : &other)));
    if (pending != NULL)
        touched_join(flow, pending, &other);
    add(out, statement_view("branch", view));
}

/* A loop or branch. Where the block's threads part, a barrier can only stand before it. */
static void add_nested(const struct flow *flow, json_t *out, const struct statement *at, struct touched *pending)
{
    bool uniform = is_uniform(flow, at);
    struct touched inside = touched_none(flow);
    touch_all(flow, &inside, at->body);
    touch_all(flow, &inside, at->otherwise);
    if (pending != NULL && !uniform) {
        if (touched_conflict(flow, pending, &inside))
            add_barrier(flow, out, pending);
        touched_join(flow, pending, &inside);
    }
    for (size_t i = 0; pending != NULL && !uniform && i < flow->array_count; i++) {
        if (inside.arrays[i] == (TOUCH_READ | TOUCH_WRITTEN | TOUCH_SEVERAL)) {
            add_note(out);
            break;
        }
    }
    struct touched *passed = uniform ? pending : NULL;
    if (at->kind == STATEMENT_FOR)
        add_loop(flow, out, at, passed);
    else
        add_branch(flow, out, at, passed);
}

static void add_list(const struct flow *flow, json_t *out, const struct statement *list, struct touched *pending)
{
    while (list != NULL) {
        const struct statement *after = list->next;
        if (is_straight(list))
            add_run(flow, out, list, &after, pending);
        else if (has_access(list->body) || has_access(list->otherwise))
            add_nested(flow, out, list, pending);
        list = after;
    }
}

json_t *flow_view(struct kernel_code *kernel)
{
    const struct flow flow = {kernel, kernel->code->spec->array_count};
    struct touched pending = touched_none(&flow);
    json_t *out = json_array();
    kernel->next_step = 0;
    kernel->visible_count = 0;
    add_list(&flow, out, kernel->kernel->body, &pending);
    return out;
}

static unsigned count_steps(const struct statement *list)
{
    struct arena scratch = {0};
    unsigned steps = 0;
    while (list != NULL) {
        const struct statement *after = list->next;
        if (is_straight(list)) {
            size_t count;
            const struct access **accesses = steps_run(&scratch, list, &count, &after);
            for (size_t done = 0; done < count; steps++)
                done += steps_length(accesses + done, count - done);
        } else {
            steps += count_steps(list->body) + count_steps(list->otherwise);
        }
        list = after;
    }
    arena_free(&scratch);
    return steps;
}

unsigned flow_count_steps(const struct kernel *kernel)
{
    return count_steps(kernel->body);
}
