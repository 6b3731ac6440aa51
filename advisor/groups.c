#include "groups.h"

#include <math.h>
#include <string.h>

#include "estimate.h"
#include "groups_internal.h"

enum {
    ATOMS_MAX = 64,
    ATOMS_FEW = 8,      /* all set partitions of so many are looked at */
    FINALISTS = 24,     /* of those, how many are looked at with every shape of each group */
    PAIRS_TRIED = 12,   /* joins that are counted before one is made, where there are many atoms */
    PARTS_MAX = 1 << 13 /* sets of fields looked at, under one plan */
};

/* How one group is laid out by itself. */
enum shape { SHAPE_AOS, SHAPE_SOA, SHAPE_ALIGN_8, SHAPE_ALIGN_16, SHAPE_ALIGN_32, SHAPE_TILES_32, SHAPE_TILES_128 };
enum { SHAPES = SHAPE_TILES_128 + 1 };

static struct layout layout_of_shape(enum shape shape)
{
    static const struct layout layouts[SHAPES] = {
        [SHAPE_AOS] = {.kind = LAYOUT_AOS},
        [SHAPE_SOA] = {.kind = LAYOUT_SOA},
        [SHAPE_ALIGN_8] = {.kind = LAYOUT_AOS, .align = 8},
        [SHAPE_ALIGN_16] = {.kind = LAYOUT_AOS, .align = 16},
        [SHAPE_ALIGN_32] = {.kind = LAYOUT_AOS, .align = 32},
        [SHAPE_TILES_32] = {.kind = LAYOUT_AOSOA, .tile = 32},
        [SHAPE_TILES_128] = {.kind = LAYOUT_AOSOA, .tile = 128},
    };
    return layouts[shape];
}

/* Fields that are always accessed together are one atom, where there are many. */
struct atom {
    const char **fields;
    size_t field_count, leaf_count;
    const bool *leaves; /* a flag a leaf of the record */
};

/* A set of atoms as one group, in each shape that was tried. */
struct part {
    uint64_t atoms;
    bool tried[SHAPES];
    struct groups_share *shares[SHAPES]; /* NULL: does not apply */
    enum shape best;                     /* the one that is fastest by itself */
    struct part *next;                   /* in its bucket */
};

struct cost {
    double time_us, other_us;
};

enum { BUCKETS = 1 << 10 };

struct search {
    struct groups_context context;
    struct plan plan;
    struct atom atoms[ATOMS_MAX];
    unsigned atom_count;
    struct part *buckets[BUCKETS];
    size_t part_count;
    struct arena scratch;
};

/* A partition: a part and a shape for each group. */
struct partition {
    struct part *parts[ATOMS_MAX];
    enum shape shapes[ATOMS_MAX];
    unsigned count;
    struct cost cost;
};

static const struct cost no_cost = {INFINITY, INFINITY};

/* A millionth is noise. */
static bool is_less(struct cost a, struct cost b)
{
    const double noise = 1e-6;
    if (isinf(a.time_us) || isinf(b.time_us))
        return isinf(b.time_us) && !isinf(a.time_us);
    if (fabs(a.time_us - b.time_us) > noise * b.time_us)
        return a.time_us < b.time_us;
    return a.other_us < b.other_us * (1 - noise);
}

/* --- atoms -------------------------------------------------------------------------------------------------------- */

static bool *field_leaves(const struct array *array, const struct field *field, struct arena *arena)
{
    const struct record *record = array->record;
    const uint64_t end = field->offset + field->count * field->type->size;
    bool *leaves = arena_array(arena, record->leaf_count, sizeof(*leaves));
    for (size_t i = 0; i < record->leaf_count; i++)
        leaves[i] = record->leaves[i].offset >= field->offset && record->leaves[i].offset < end;
    return leaves;
}

static bool access_touches(const struct access *access, const bool *leaves)
{
    for (size_t i = 0; i < access->selected_count; i++)
        if (leaves[access->selected[i].leaf])
            return true;
    return false;
}

/* Whether each access of each kernel touches both or neither. */
static bool touched_alike(const struct search *search, const bool *a, const bool *b)
{
    for (size_t k = 0; k < search->context.kernel_count; k++) {
        const struct kernel *kernel = search->context.kernels[k].kernel;
        for (unsigned i = 0; i < kernel->access_count; i++)
            if (kernel->accesses[i]->array == search->context.array &&
                access_touches(kernel->accesses[i], a) != access_touches(kernel->accesses[i], b))
                return false;
    }
    return true;
}

static void join_atom(struct search *search, struct atom *atom, const char *field, const bool *leaves)
{
    const size_t leaf_count = search->context.array->record->leaf_count;
    bool *both = arena_array(search->context.arena, leaf_count, sizeof(*both));
    for (size_t i = 0; i < leaf_count; i++) {
        both[i] = leaves[i] || (atom->leaves != NULL && atom->leaves[i]);
        atom->leaf_count += leaves[i];
    }
    atom->leaves = both;
    atom->fields[atom->field_count++] = field;
}

/* False where there is nothing to group, or too much. */
static bool find_atoms(struct search *search)
{
    const struct array *array = search->context.array;
    const struct type *type = array->record->type;
    if (type->kind != TYPE_STRUCT || array->space != SPACE_GLOBAL || type->field_count < 2)
        return false;
    for (size_t f = 0; f < type->field_count; f++) {
        const bool *leaves = field_leaves(array, &type->fields[f], search->context.arena);
        unsigned a = type->field_count <= ATOMS_FEW ? search->atom_count : 0;
        while (a < search->atom_count && !touched_alike(search, search->atoms[a].leaves, leaves))
            a++;
        if (a == ATOMS_MAX)
            return false;
        if (a == search->atom_count) {
            search->atoms[a] = (struct atom){
                .fields = arena_array(search->context.arena, type->field_count, sizeof(search->atoms[a].fields[0]))};
            search->atom_count++;
        }
        join_atom(search, &search->atoms[a], type->fields[f].name.text, leaves);
    }
    return search->atom_count > 1;
}

static uint64_t all_atoms(const struct search *search)
{
    return UINT64_MAX >> (ATOMS_MAX - search->atom_count);
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

static size_t fields_of(const char **out, const struct search *search, uint64_t atoms)
{
    const struct type *type = search->context.array->record->type;
    size_t count = 0;
    for (size_t f = 0; f < type->field_count; f++) {
        bool in = false;
        for (unsigned a = 0; a < search->atom_count; a++)
            for (size_t i = 0; i < search->atoms[a].field_count; i++)
                in |= (atoms >> a & 1) != 0 && search->atoms[a].fields[i] == type->fields[f].name.text;
        if (in)
            out[count++] = type->fields[f].name.text;
    }
    return count;
}

/* Puts a group in front of `rest`. */
static struct split_group *new_group(const struct search *search, uint64_t atoms, struct layout layout,
                                     const struct split_group *rest)
{
    struct arena *arena = search->context.arena;
    struct split_group *group = arena_alloc(arena, sizeof(*group));
    const char **fields = arena_array(arena, search->context.array->record->type->field_count, sizeof(*fields));
    group->field_count = fields_of(fields, search, atoms);
    group->fields = fields;
    group->layout = layout;
    group->named = layout.kind != LAYOUT_AOS || layout.align != 0;
    group->next = rest;
    return group;
}

/* The option in which these atoms are the first group, and the others whatever is simplest. */
static struct option *option_of_group(const struct search *search, uint64_t atoms, enum shape shape)
{
    const struct groups_context *context = &search->context;
    struct candidate candidate = {.layout = layout_of_shape(shape), .plan = search->plan};
    const uint64_t rest = all_atoms(search) & ~atoms;
    const char *reason;
    if (rest != 0) {
        const struct split_group *others = new_group(search, rest, layout_of_shape(SHAPE_SOA), NULL);
        candidate.layout =
            (struct layout){.kind = LAYOUT_SPLIT, .groups = new_group(search, atoms, candidate.layout, others)};
    }
    struct option *option =
        candidate_apply(context->spec, context->array, &candidate, context->device, context->arena, &reason);
    /* Where a plan has nothing to do, the others still may. */
    if (option != NULL || candidate.plan.kind == PLAN_DIRECT)
        return option;
    candidate.plan = (struct plan){.kind = PLAN_DIRECT};
    return candidate_apply(context->spec, context->array, &candidate, context->device, context->arena, &reason);
}

/* --- costs -------------------------------------------------------------------------------------------------------- */

/* All kernels' time, where `parts` are all that is stored. */
static struct cost cost_of(struct search *search, struct part *const *parts, const enum shape *shapes, unsigned count)
{
    struct cost cost = {0, 0};
    for (size_t k = 0; k < search->context.kernel_count; k++) {
        struct groups_kernel *kernel = &search->context.kernels[k];
        groups_clear(kernel);
        for (unsigned i = 0; i < count; i++) {
            if (parts[i]->shares[shapes[i]] == NULL)
                return no_cost;
            groups_add(kernel, &parts[i]->shares[shapes[i]][k]);
        }
        const struct estimate estimate = estimate_kernel(&kernel->score, search->context.device);
        const double calls = (double)kernel->kernel->calls;
        cost.time_us += estimate.time_us * calls;
        for (int r = 0; r < RESOURCE_COUNT; r++)
            cost.other_us += r == (int)estimate.bound_by ? 0 : estimate.resource_us[r] * calls;
    }
    return cost;
}

/* Counts a part in a shape. What that takes lives in an arena of its own, so that only the shares stay. */
static void count_shape(struct search *search, struct part *part, enum shape shape)
{
    struct arena *arena = search->context.arena;
    const struct arena_mark mark = arena_mark(&search->scratch);
    const size_t leaf_count = search->context.array->record->leaf_count;
    search->context.arena = &search->scratch;
    struct option *option = option_of_group(search, part->atoms, shape);
    bool *kept = arena_array(&search->scratch, leaf_count, sizeof(*kept));
    for (size_t i = 0; i < leaf_count; i++)
        for (unsigned a = 0; a < search->atom_count; a++)
            kept[i] |= (part->atoms >> a & 1) != 0 && search->atoms[a].leaves[i];
    if (option != NULL)
        part->shares[shape] = groups_shares(&search->context, option, kept, false, arena);
    search->context.arena = arena;
    arena_reset(&search->scratch, mark);
}

static void try_shape(struct search *search, struct part *part, enum shape shape)
{
    if (part->tried[shape])
        return;
    part->tried[shape] = true;
    count_shape(search, part, shape);
    struct cost best = cost_of(search, &part, &part->best, 1), cost = cost_of(search, &part, &shape, 1);
    if (is_less(cost, best))
        part->best = shape;
}

static bool is_single(uint64_t atoms)
{
    return (atoms & (atoms - 1)) == 0;
}

/* Of a set of atoms, the shapes that may be better than the plain one: padding serves vectors. */
static void try_shapes(struct search *search, struct part *part)
{
    size_t leaves = 0;
    for (unsigned a = 0; a < search->atom_count; a++)
        leaves += (part->atoms >> a & 1) != 0 ? search->atoms[a].leaf_count : 0;
    try_shape(search, part, SHAPE_AOS);
    if (leaves == 1)
        return;
    if (is_single(part->atoms))
        try_shape(search, part, SHAPE_SOA);
    if (search->plan.kind == PLAN_DIRECT || search->atom_count > ATOMS_FEW)
        return;
    try_shape(search, part, SHAPE_ALIGN_8);
    try_shape(search, part, SHAPE_ALIGN_16);
    try_shape(search, part, SHAPE_ALIGN_32);
}

/* NULL where enough sets were looked at. */
static struct part *part_of(struct search *search, uint64_t atoms)
{
    struct part **bucket = &search->buckets[(atoms * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
    for (struct part *part = *bucket; part != NULL; part = part->next)
        if (part->atoms == atoms)
            return part;
    if (search->part_count >= PARTS_MAX)
        return NULL;
    struct part *part = arena_alloc(search->context.arena, sizeof(*part));
    *part = (struct part){.atoms = atoms, .next = *bucket};
    *bucket = part;
    search->part_count++;
    try_shapes(search, part);
    return part;
}

/* --- partitions --------------------------------------------------------------------------------------------------- */

/* The best few, best first. */
struct finalists {
    struct partition items[FINALISTS];
    unsigned count;
};

static void keep_finalist(struct finalists *finalists, const struct partition *partition)
{
    unsigned at = finalists->count < FINALISTS ? finalists->count++ : FINALISTS;
    if (at == FINALISTS && !is_less(partition->cost, finalists->items[--at].cost))
        return;
    for (; at > 0 && is_less(partition->cost, finalists->items[at - 1].cost); at--)
        finalists->items[at] = finalists->items[at - 1];
    finalists->items[at] = *partition;
}

static void take_partition(struct partition *out, struct search *search, const uint64_t *groups, unsigned count)
{
    out->count = count;
    out->cost = no_cost;
    for (unsigned i = 0; i < count; i++) {
        out->parts[i] = part_of(search, groups[i]);
        if (out->parts[i] == NULL)
            return;
        out->shapes[i] = out->parts[i]->best;
    }
    out->cost = cost_of(search, out->parts, out->shapes, count);
}

/* Every set partition: atom `next` joins each group so far, or begins one. */
static void look_at_all(struct finalists *finalists, struct search *search, uint64_t *groups, unsigned count,
                        unsigned next)
{
    if (next == search->atom_count) {
        struct partition partition;
        take_partition(&partition, search, groups, count);
        keep_finalist(finalists, &partition);
        return;
    }
    const uint64_t atom = UINT64_C(1) << next;
    for (unsigned i = 0; i < count; i++) {
        groups[i] |= atom;
        look_at_all(finalists, search, groups, count, next + 1);
        groups[i] &= ~atom;
    }
    groups[count] = atom;
    look_at_all(finalists, search, groups, count + 1, next + 1);
}

/* What joining two parts promises, in sectors: where a kernel wastes bytes of both, they can be shared; where it passes
 * over one alone, it has to pass over the other too. Orders what is tried, decides nothing. */
static double promise(const struct search *search, const struct part *a, enum shape a_shape, const struct part *b,
                      enum shape b_shape)
{
    double sum = 0;
    if (a->shares[a_shape] == NULL || b->shares[b_shape] == NULL)
        return -INFINITY;
    for (size_t k = 0; k < search->context.kernel_count; k++) {
        const struct groups_kernel *kernel = &search->context.kernels[k];
        const struct counts *x = a->shares[a_shape][k].entries, *y = b->shares[b_shape][k].entries;
        const double calls = (double)kernel->kernel->calls;
        if (x == NULL && y == NULL)
            continue;
        for (size_t e = 0; e < kernel->own_count; e++) {
            const double x_sectors = x == NULL ? 0 : (double)x[e].sectors,
                         y_sectors = y == NULL ? 0 : (double)y[e].sectors;
            const double x_ideal = x == NULL ? 0 : (double)x[e].ideal_sectors;
            const double y_ideal = y == NULL ? 0 : (double)y[e].ideal_sectors;
            if (x_sectors > 0 && y_sectors > 0)
                sum += calls * fmin(x_sectors - x_ideal, y_sectors - y_ideal);
            else if (x_sectors + y_sectors > 0)
                sum -= calls * (x_ideal * x_ideal + y_ideal * y_ideal) / (x_sectors + y_sectors);
        }
    }
    return sum;
}

struct pair {
    unsigned i, j;
    double promise;
};

static void keep_pair(struct pair pairs[PAIRS_TRIED], unsigned *count, struct pair pair)
{
    if (pair.promise <= 0)
        return;
    unsigned at = *count < PAIRS_TRIED ? (*count)++ : PAIRS_TRIED;
    if (at == PAIRS_TRIED && pairs[--at].promise >= pair.promise)
        return;
    for (; at > 0 && pairs[at - 1].promise < pair.promise; at--)
        pairs[at] = pairs[at - 1];
    pairs[at] = pair;
}

/* The pairs of groups that promise most, the best first. */
static unsigned best_pairs(struct pair pairs[PAIRS_TRIED], const struct search *search,
                           const struct partition *partition)
{
    unsigned count = 0;
    for (unsigned i = 0; i < partition->count; i++)
        for (unsigned j = i + 1; j < partition->count; j++)
            keep_pair(pairs, &count,
                      (struct pair){i, j,
                                    promise(search, partition->parts[i], partition->shapes[i], partition->parts[j],
                                            partition->shapes[j])});
    return count;
}

/* The partition with two groups joined; false where enough was looked at. */
static bool join(struct partition *out, struct search *search, const struct partition *partition,
                 const struct pair *pair)
{
    struct part *both = part_of(search, partition->parts[pair->i]->atoms | partition->parts[pair->j]->atoms);
    if (both == NULL)
        return false;
    *out = *partition;
    out->parts[pair->i] = both;
    out->shapes[pair->i] = both->best;
    out->count--;
    out->parts[pair->j] = out->parts[out->count];
    out->shapes[pair->j] = out->shapes[out->count];
    out->cost = cost_of(search, out->parts, out->shapes, out->count);
    return true;
}

/* Joins the two groups that gain most, until none do. */
static void join_greedily(struct search *search, struct partition *partition)
{
    for (bool joined = true; joined;) {
        struct pair pairs[PAIRS_TRIED];
        const struct partition before = *partition;
        const unsigned count = best_pairs(pairs, search, &before);
        joined = false;
        for (unsigned i = 0; i < count; i++) {
            struct partition next;
            if (!join(&next, search, &before, &pairs[i]) || !is_less(next.cost, partition->cost))
                continue;
            *partition = next;
            joined = true;
        }
    }
}

static void start_apart(struct partition *out, struct search *search)
{
    uint64_t groups[ATOMS_MAX];
    for (unsigned a = 0; a < search->atom_count; a++)
        groups[a] = UINT64_C(1) << a;
    take_partition(out, search, groups, search->atom_count);
}

/* Tries every shape of every group in turn, until none is better. */
static void improve_shapes(struct search *search, struct partition *partition)
{
    for (bool improved = true; improved;) {
        improved = false;
        for (unsigned i = 0; i < partition->count; i++)
            for (unsigned s = 0; s < SHAPES; s++) {
                const enum shape kept = partition->shapes[i];
                try_shape(search, partition->parts[i], (enum shape)s);
                partition->shapes[i] = (enum shape)s;
                const struct cost cost = cost_of(search, partition->parts, partition->shapes, partition->count);
                if (is_less(cost, partition->cost)) {
                    partition->cost = cost;
                    improved = true;
                } else {
                    partition->shapes[i] = kept;
                }
            }
    }
}

static void find_partition(struct partition *out, struct search *search)
{
    uint64_t groups[ATOMS_MAX];
    struct finalists finalists = {.count = 0};
    if (search->atom_count > ATOMS_FEW) {
        start_apart(out, search);
        join_greedily(search, out);
        improve_shapes(search, out);
        return;
    }
    look_at_all(&finalists, search, groups, 0, 0);
    *out = finalists.items[0];
    for (unsigned i = 0; i < finalists.count; i++) {
        improve_shapes(search, &finalists.items[i]);
        if (is_less(finalists.items[i].cost, out->cost))
            *out = finalists.items[i];
    }
}

/* --- results ------------------------------------------------------------------------------------------------------ */

/* A group of leaves that are arrays of their own anyway. */
static bool is_apart(const struct partition *partition, unsigned i, const struct search *search)
{
    const uint64_t atoms = partition->parts[i]->atoms;
    if (partition->shapes[i] == SHAPE_SOA)
        return true;
    return partition->shapes[i] == SHAPE_AOS && is_single(atoms) &&
           search->atoms[__builtin_ctzll(atoms)].leaf_count == 1;
}

/* The partition as an option; NULL where it is a plain aos or soa, or does not apply after all. */
static struct option *option_of_partition(const struct search *search, const struct partition *partition)
{
    const struct groups_context *context = &search->context;
    struct candidate candidate = {.layout = {.kind = LAYOUT_SPLIT}, .plan = search->plan};
    uint64_t apart = 0;
    const char *reason;
    for (unsigned i = 0; i < partition->count; i++)
        apart |= is_apart(partition, i, search) ? partition->parts[i]->atoms : 0;
    if (partition->count < 2 || apart == all_atoms(search) || isinf(partition->cost.time_us))
        return NULL;
    const struct split_group *groups = NULL;
    for (unsigned a = search->atom_count; a-- > 0;)
        for (unsigned i = 0; i < partition->count; i++) {
            const uint64_t atoms = partition->parts[i]->atoms;
            if ((apart & atoms) == 0 && (unsigned)__builtin_ctzll(atoms) == a)
                groups = new_group(search, atoms, layout_of_shape(partition->shapes[i]), groups);
            else if (apart != 0 && (unsigned)__builtin_ctzll(apart) == a && (apart & atoms) != 0 &&
                     (atoms >> a & 1) != 0)
                groups = new_group(search, apart, layout_of_shape(is_single(apart) ? partition->shapes[i] : SHAPE_SOA),
                                   groups);
        }
    candidate.layout.groups = groups;
    return candidate_apply(context->spec, context->array, &candidate, context->device, context->arena, &reason);
}

static bool is_stream(const struct counts *counts)
{
    return (double)counts->sectors <= 1.02 * (double)counts->ideal_sectors;
}

/* Whether soa already moves nothing but what is asked for, and that is what bounds every kernel. */
static bool cannot_gain(struct search *search)
{
    const struct groups_context *context = &search->context;
    struct candidate candidate = {.layout = {.kind = LAYOUT_SOA}, .plan = {.kind = PLAN_WIDE, .records = 4}};
    const char *reason;
    struct option *option =
        candidate_apply(context->spec, context->array, &candidate, context->device, context->arena, &reason);
    bool *kept = arena_array(context->arena, context->array->record->leaf_count, sizeof(*kept));
    memset(kept, true, context->array->record->leaf_count);
    bool wide = option != NULL;
    for (size_t k = 0; k < context->kernel_count && wide; k++)
        wide = option->usages[context->kernels[k].number].effective.plan.kind == PLAN_WIDE;
    if (!wide) {
        candidate.plan = (struct plan){.kind = PLAN_DIRECT};
        option = candidate_apply(context->spec, context->array, &candidate, context->device, context->arena, &reason);
    }
    struct groups_share *shares = option == NULL ? NULL : groups_shares(context, option, kept, wide, context->arena);
    for (size_t k = 0; k < context->kernel_count && shares != NULL; k++) {
        struct groups_kernel *kernel = &search->context.kernels[k];
        groups_clear(kernel);
        groups_add(kernel, &shares[k]);
        for (size_t e = 0; e < kernel->own_count && shares[k].entries != NULL; e++)
            if (!is_stream(&shares[k].entries[e]))
                return false;
        const enum resource bound_by = estimate_kernel(&kernel->score, context->device).bound_by;
        if (bound_by != RESOURCE_DRAM && bound_by != RESOURCE_L2)
            return false;
    }
    return shares != NULL;
}

static bool same_option(const struct option *a, const struct option *b)
{
    return strcmp(a->candidate.text, b->candidate.text) == 0;
}

size_t groups_search(struct option *found[GROUPS_FOUND_MAX], const struct spec *spec, const struct device *device,
                     const struct array *array, struct option *const *others, struct arena *arena)
{
    static const enum plan_kind plans[GROUPS_FOUND_MAX] = {PLAN_DIRECT, PLAN_VECTOR};
    struct groups_context context;
    size_t count = 0;
    if (array->record->type->kind != TYPE_STRUCT || array->dim_count != 1 ||
        !groups_prepare(&context, spec, device, array, others, arena))
        return 0;
    for (size_t p = 0; p < GROUPS_FOUND_MAX; p++) {
        struct search *search = arena_alloc(arena, sizeof(*search));
        struct partition *partition = arena_alloc(arena, sizeof(*partition));
        *search = (struct search){.context = context, .plan = {.kind = plans[p]}};
        if (!find_atoms(search) || (p == 0 && cannot_gain(search)))
            return 0;
        find_partition(partition, search);
        arena_free(&search->scratch);
        struct option *option = option_of_partition(search, partition);
        if (option != NULL && (count == 0 || !same_option(option, found[0])))
            found[count++] = option;
    }
    return count;
}
