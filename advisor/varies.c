#include "varies.h"

static unsigned flags_of(const struct expr *expr, const unsigned *slot_varies)
{
    return expr == NULL ? 0 : expr_varies(expr, slot_varies);
}

static void resolve_slots(unsigned *varies, const struct statement *list)
{
    for (const struct statement *at = list; at != NULL; at = at->next) {
        if (at->kind == STATEMENT_LET)
            varies[at->slot] = expr_varies(at->value, varies);
        if (at->kind == STATEMENT_FOR) {
            varies[at->slot] = flags_of(at->from, varies) | flags_of(at->step, varies);
            /* What the variable starts with shows in what `next` makes of it. */
            varies[at->slot] |= flags_of(at->advance, varies);
        }
        resolve_slots(varies, at->body);
        resolve_slots(varies, at->otherwise);
    }
}

unsigned *varies_of(struct arena *arena, const struct kernel *kernel)
{
    unsigned *varies = arena_array(arena, (size_t)kernel->slot_count + 1, sizeof(*varies));
    resolve_slots(varies, kernel->body);
    return varies;
}

bool varies_not_with_thread(const struct access *access, const unsigned *slot_varies)
{
    for (unsigned d = 0; d < access->array->dim_count; d++)
        if ((expr_varies(access->index[d], slot_varies) & EXPR_VARIES_THREAD) != 0)
            return false;
    return true;
}
