#include "plan_join.h"

#include "steps.h"

/* One step's accesses to the array, in order. */
struct together {
    struct instructions *instructions;
    const struct mapping *mapping;
    const struct access **accesses;
    size_t count;
};

static bool in_pieces(const struct access *access)
{
    return access->subscript_count == 0; /* atomics are never by `vector` */
}

static unsigned group_of(const struct together *together, const struct instruction *instruction)
{
    return together->mapping->leaves[instruction->leaf].group;
}

static bool is_piece(const struct together *together, const struct instruction *instruction)
{
    const struct mapping *mapping = together->mapping;
    return plan_vector_bytes(mapping, &mapping->groups[group_of(together, instruction)]) >= 2;
}

static bool contains(const struct instruction *piece, const struct instruction *part)
{
    return piece->offset <= part->offset && part->offset + part->width <= piece->offset + piece->width;
}

static bool was_loaded(const struct together *together, size_t number, const struct instruction *piece)
{
    for (size_t i = 0; i < number; i++) {
        const struct instructions *before = &together->instructions[together->accesses[i]->number];
        if (!in_pieces(together->accesses[i]) ||
            !access_same_element(together->accesses[i], together->accesses[number]))
            continue;
        for (size_t n = 0; n < before->load_count; n++)
            if (before->loads[n].offset == piece->offset && is_piece(together, &before->loads[n]))
                return true;
    }
    return false;
}

static void join_loads(const struct together *together)
{
    for (size_t i = 0; i < together->count; i++) {
        struct instructions *now = &together->instructions[together->accesses[i]->number];
        for (size_t n = 0; n < now->load_count && in_pieces(together->accesses[i]); n++)
            now->loads[n].joined = is_piece(together, &now->loads[n]) && was_loaded(together, i, &now->loads[n]);
    }
}

/* The accesses that store; none where their order could matter, since they are not all in pieces of one element. */
static struct together storing(struct arena *arena, const struct together *together)
{
    struct together stores = *together;
    stores.accesses = arena_array(arena, together->count, sizeof(const struct access *));
    stores.count = 0;
    for (size_t i = 0; i < together->count; i++) {
        if (!access_stores(together->accesses[i]))
            continue;
        stores.accesses[stores.count++] = together->accesses[i];
        if (!in_pieces(together->accesses[i]) || !access_same_element(together->accesses[i], stores.accesses[0]))
            return (struct together){0};
    }
    return stores;
}

/* All but the first of the stores inside the piece. */
static void mark_inside(const struct together *stores, const struct instruction *piece)
{
    bool first = true;
    for (size_t i = 0; i < stores->count; i++) {
        struct instructions *now = &stores->instructions[stores->accesses[i]->number];
        for (size_t n = 0; n < now->store_count; n++) {
            if (!is_piece(stores, &now->stores[n]) || !contains(piece, &now->stores[n]))
                continue;
            now->stores[n].joined = !first;
            first = false;
        }
    }
}

/* The last of the accesses that store to the piece's group: the image of its record is complete then. */
static size_t last_of_group(const struct together *stores, const struct instruction *piece)
{
    for (size_t i = stores->count - 1; i > 0; i--) {
        const struct instructions *now = &stores->instructions[stores->accesses[i]->number];
        for (size_t n = 0; n < now->store_count; n++)
            if (group_of(stores, &now->stores[n]) == group_of(stores, piece))
                return i;
    }
    return 0;
}

static void issue_pieces(struct arena *arena, const struct together *stores, const struct instruction *pieces,
                         size_t count)
{
    for (size_t i = 0; i < stores->count; i++) {
        struct instruction *issued = arena_array(arena, count, sizeof(*issued));
        size_t own = 0;
        for (size_t n = 0; n < count; n++)
            if (last_of_group(stores, &pieces[n]) == i)
                issued[own++] = pieces[n];
        struct instructions *now = &stores->instructions[stores->accesses[i]->number];
        now->issued = issued;
        now->issued_count = own;
    }
}

static void join_stores(struct arena *arena, const struct together *together)
{
    struct together stores = storing(arena, together);
    if (stores.count < 2)
        return;
    struct instruction *pieces;
    const size_t count = plan_piece_stores(&pieces, arena, stores.mapping, stores.accesses, stores.count);
    for (size_t i = 0; i < count; i++)
        mark_inside(&stores, &pieces[i]);
    issue_pieces(arena, &stores, pieces, count);
}

void plan_join(struct instructions *instructions, struct arena *arena, const struct mapping *mapping,
               const struct kernel *kernel, const struct plan *plan)
{
    for (unsigned i = 0; i < kernel->access_count; i++) {
        instructions[i].issued = instructions[i].stores;
        instructions[i].issued_count = instructions[i].store_count;
    }
    if (plan->kind != PLAN_VECTOR)
        return;
    const unsigned *steps = steps_of(arena, kernel);
    const struct access **accesses = arena_array(arena, kernel->access_count, sizeof(const struct access *));
    for (unsigned from = 0, to = 0; from < kernel->access_count; from = to) {
        struct together together = {instructions, mapping, accesses, 0};
        for (to = from; to < kernel->access_count && steps[to] == steps[from]; to++)
            if (kernel->accesses[to]->array == mapping->array)
                accesses[together.count++] = kernel->accesses[to];
        join_loads(&together);
        join_stores(arena, &together);
    }
}
