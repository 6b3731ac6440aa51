#include "steps.h"

bool access_loads(const struct access *access)
{
    return access->op == ACCESS_READ || access->op == ACCESS_UPDATE;
}

bool access_stores(const struct access *access)
{
    return access->op != ACCESS_READ;
}

bool access_same_element(const struct access *a, const struct access *b)
{
    if (a->array != b->array)
        return false;
    for (unsigned d = 0; d < a->array->dim_count; d++)
        if (!expr_same(a->index[d], b->index[d]))
            return false;
    return true;
}

static bool is_straight(const struct statement *statement)
{
    return statement->kind == STATEMENT_LET || statement->kind == STATEMENT_ACCESS;
}

const struct access **steps_run(struct arena *arena, const struct statement *list, size_t *count,
                                const struct statement **after)
{
    size_t found = 0;
    const struct statement *at = list;
    for (; at != NULL && is_straight(at); at = at->next)
        found += at->kind == STATEMENT_ACCESS;
    *after = at;
    *count = found;
    const struct access **accesses = arena_array(arena, found, sizeof(const struct access *));
    found = 0;
    for (at = list; at != *after; at = at->next)
        if (at->kind == STATEMENT_ACCESS)
            accesses[found++] = at->access;
    return accesses;
}

static bool stored_in(const struct access *const accesses[], size_t count, const struct array *array)
{
    for (size_t i = 0; i < count; i++)
        if (accesses[i]->array == array && access_stores(accesses[i]))
            return true;
    return false;
}

size_t steps_length(const struct access *const accesses[], size_t count)
{
    size_t length = 1;
    while (length < count && !(access_loads(accesses[length]) && stored_in(accesses, length, accesses[length]->array)))
        length++;
    return length;
}

static void number_run(unsigned *steps, unsigned *next, const struct access *const accesses[], size_t count)
{
    for (size_t done = 0; done < count; ++*next) {
        size_t end = done + steps_length(accesses + done, count - done);
        while (done < end)
            steps[accesses[done++]->number] = *next;
    }
}

static void number_list(unsigned *steps, unsigned *next, struct arena *arena, const struct statement *list)
{
    while (list != NULL) {
        const struct statement *after = list->next;
        if (is_straight(list)) {
            size_t count;
            const struct access **accesses = steps_run(arena, list, &count, &after);
            number_run(steps, next, accesses, count);
        } else {
            number_list(steps, next, arena, list->body);
            number_list(steps, next, arena, list->otherwise);
        }
        list = after;
    }
}

unsigned *steps_of(struct arena *arena, const struct kernel *kernel)
{
    unsigned *steps = arena_array(arena, kernel->access_count + 1U, sizeof(*steps)), next = 0;
    number_list(steps, &next, arena, kernel->body);
    return steps;
}
