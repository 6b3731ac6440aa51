#include "gate.h"

#include <string.h>

#include "request.h"

struct judge {
    const struct difference *difference;
    const struct kernel_pair *pair;
    const struct kernel_cost *before, *after;
    double allow;
    struct arena *arena;
};

/* ---- what bears on what ---- */

static bool is_made_of(const struct type *type, const struct type *part)
{
    if (type == part)
        return true;
    for (size_t i = 0; i < type->field_count; i++)
        if (type->fields[i].type != NULL && is_made_of(type->fields[i].type, part))
            return true;
    return false;
}

/* Whether a path of the record ("box.lo[1]") goes through a field of this name. */
static bool goes_through(const char *path, const char *field)
{
    size_t length = strlen(field);
    for (const char *at = path; (at = strstr(at, field)) != NULL; at++) {
        bool begins = at == path || at[-1] == '.';
        if (begins && (at[length] == '\0' || at[length] == '.' || at[length] == '['))
            return true;
    }
    return false;
}

static bool selects(const struct access *access, const char *field)
{
    for (size_t i = 0; i < access->selected_count; i++)
        if (goes_through(access->array->record->leaves[access->selected[i].leaf].path, field))
            return true;
    return false;
}

static bool resizes(const struct change *change)
{
    for (size_t i = 0; i < change->aspect_count; i++)
        if (strcmp(change->aspects[i].what, "type") == 0 || strcmp(change->aspects[i].what, "align") == 0)
            return true;
    return change->kind != CHANGE_CHANGED;
}

static bool holds(const struct statement *body, const struct access *access)
{
    for (; body != NULL; body = body->next)
        if (body->access == access || holds(body->body, access) || holds(body->otherwise, access))
            return true;
    return false;
}

/* How near a change is to an access: 0 where it does not bear on it. */
static unsigned nearness(const struct change *change, const struct access *access, const struct kernel *kernel)
{
    enum { FAR = 1, LAUNCH, TYPE, ARRAY, AROUND, ITSELF };
    const struct statement *statement = change->statement;
    if (statement != NULL) {
        if (change->kernel != kernel)
            return 0;
        if (statement->kind == STATEMENT_ACCESS)
            return statement->access == access ? ITSELF : 0;
        /* What a let stands for may reach any index through others. What was removed stood in the other body. */
        bool around = change->kind == CHANGE_REMOVED || statement->kind == STATEMENT_LET ||
                      holds(statement->body, access) || holds(statement->otherwise, access);
        return around ? AROUND : 0;
    }
    if (change->kernel != NULL)
        return change->kernel == kernel ? LAUNCH : 0;
    if (change->array != NULL)
        return change->array == access->array ? ARRAY : 0;
    if (change->type != NULL) {
        bool part = is_made_of(access->array->record->type, change->type);
        bool moves = strcmp(change->of, "field") != 0 || resizes(change) || selects(access, change->name);
        return part && moves ? TYPE : 0;
    }
    return FAR;
}

/* Changes of the kernel that was removed from are those of the earlier description. */
static unsigned nearness_in(const struct judge *judge, const struct change *change, const struct access *access)
{
    unsigned near = nearness(change, access, judge->pair->after);
    return near > 0 ? near : nearness(change, access, judge->pair->before);
}

/* Params and tables are far: told only where nothing nearer is. */
static const struct change **find_causes(const struct judge *judge, const struct access *access, size_t *count)
{
    enum { NEAREST = 6, FAR = 1 };
    const struct difference *difference = judge->difference;
    const struct change **causes = arena_array(judge->arena, difference->change_count + 1, sizeof(struct change *));
    *count = 0;
    for (unsigned near = NEAREST; near > FAR || (near == FAR && *count == 0); near--)
        for (size_t i = 0; i < difference->change_count; i++) {
            const struct change *change = &difference->changes[i];
            if (strcmp(change->of, "layout") != 0 && nearness_in(judge, change, access) == near)
                causes[(*count)++] = change;
        }
    return causes;
}

static const struct change **find_launch_causes(const struct judge *judge, size_t *count)
{
    const struct difference *difference = judge->difference;
    const struct change **causes = arena_array(judge->arena, difference->change_count + 1, sizeof(struct change *));
    *count = 0;
    for (size_t i = 0; i < difference->change_count; i++) {
        const struct change *change = &difference->changes[i];
        bool mine = change->kernel == judge->pair->after || change->kernel == judge->pair->before;
        if (mine || strcmp(change->of, "param") == 0 || strcmp(change->of, "table") == 0)
            causes[(*count)++] = change;
    }
    return causes;
}

/* ---- which access ---- */

static const struct access_score *find_before(const struct judge *judge, const struct access_score *after)
{
    for (size_t i = 0; i < judge->before->score->access_count; i++) {
        const struct access_score *before = &judge->before->score->accesses[i];
        if (judge->pair->access_after[before->access->number] == after->access->number && before->op == after->op &&
            before->phase == after->phase)
            return before;
    }
    return NULL;
}

static const struct array_score *find_array(const struct kernel_cost *cost, const char *name)
{
    for (size_t i = 0; i < cost->score->array_count; i++)
        if (strcmp(cost->score->arrays[i].array->name.text, name) == 0)
            return &cost->score->arrays[i];
    return NULL;
}

/* What of an array's footprint goes to DRAM and back, as the estimate has it, for reading or for writing. */
static uint64_t dram_bytes(const struct array_score *score, bool reads)
{
    if (score == NULL)
        return 0;
    return reads ? score->read_pairs * 2 * SECTOR_BYTES
                 : (score->written_sectors + score->unread_fill_sectors) * SECTOR_BYTES;
}

/* Keeps what grew by the larger factor. */
static void take_growth(struct culprit *out, enum measure measure, uint64_t from, uint64_t to)
{
    double divisor = from == 0 ? 1 : (double)from, kept = out->from == 0 ? 1 : (double)out->from;
    if (to <= from || (out->to > 0 && (double)to / divisor <= (double)out->to / kept))
        return;
    out->measure = measure;
    out->from = from;
    out->to = to;
}

/* Whether an access costs more; then what of it grew most. `dram`: what its array makes DRAM move counts. */
static bool judge_access(struct culprit *out, const struct judge *judge, const struct access_score *after, bool dram)
{
    const struct access_score *before = find_before(judge, after);
    const struct counts none = {0}, *was = before == NULL ? &none : &before->counts;
    const char *array = after->array->name.text, *old_array = before == NULL ? array : before->array->name.text;
    bool reads = after->op == ACCESS_READ;
    *out = (struct culprit){.before = before, .after = after};
    take_growth(out, MEASURE_SECTORS, was->sectors, after->counts.sectors);
    take_growth(out, MEASURE_WAVEFRONTS, was->wavefronts, after->counts.wavefronts);
    if (dram)
        take_growth(out, MEASURE_DRAM, dram_bytes(find_array(judge->before, old_array), reads),
                    dram_bytes(find_array(judge->after, array), reads));
    if (out->to == 0)
        return false;
    out->causes = find_causes(judge, after->access, &out->cause_count);
    return true;
}

static void find_culprits(struct regression *regression, const struct judge *judge)
{
    const struct kernel_score *score = judge->after->score;
    bool dram = regression->grew[MEASURE_DRAM] || regression->grew[MEASURE_TIME];
    regression->culprits = arena_array(judge->arena, score->access_count + 1, sizeof(*regression->culprits));
    for (size_t i = 0; i < score->access_count; i++)
        regression->culprit_count +=
            judge_access(&regression->culprits[regression->culprit_count], judge, &score->accesses[i], dram);
    if (regression->culprit_count == 0)
        regression->causes = find_launch_causes(judge, &regression->cause_count);
}

/* ---- which kernel ---- */

static bool count_grew(uint64_t before, uint64_t after, double allow)
{
    return after > before && (double)(after - before) * 100 > allow * (double)before;
}

/* Noise in the last bits of an estimate is no change. */
static bool time_grew(double before, double after, double allow)
{
    const double noise = 1e-9;
    return after > before * (1 + allow / 100) * (1 + noise);
}

static bool judge_kernel(struct regression *out, const struct judge *judge)
{
    const struct kernel_cost *before = judge->before, *after = judge->after;
    double allow = judge->allow;
    *out = (struct regression){.before = before, .after = after};
    out->grew[MEASURE_SECTORS] = count_grew(before->sectors, after->sectors, allow);
    out->grew[MEASURE_WAVEFRONTS] = count_grew(before->wavefronts, after->wavefronts, allow);
    out->grew[MEASURE_DRAM] = count_grew(before->dram_bytes, after->dram_bytes, allow);
    out->grew[MEASURE_TIME] = time_grew(before->estimate.time_us, after->estimate.time_us, allow);
    bool grew = false;
    for (int i = 0; i < MEASURE_COUNT; i++)
        grew |= out->grew[i];
    if (grew)
        find_culprits(out, judge);
    return grew;
}

static const struct kernel_cost *find_cost(const struct cost *cost, const struct kernel *kernel)
{
    size_t i = 0;
    while (i < cost->kernel_count && cost->kernels[i].kernel != kernel)
        i++;
    return i < cost->kernel_count ? &cost->kernels[i] : NULL;
}

struct gate *gate_judge(const struct difference *difference, const struct cost *before, const struct cost *after,
                        double allow, struct arena *arena)
{
    struct gate *gate = arena_alloc(arena, sizeof(*gate));
    gate->regressions = arena_array(arena, difference->kernel_count + 1, sizeof(*gate->regressions));
    for (size_t i = 0; i < difference->kernel_count; i++) {
        const struct kernel_pair *pair = &difference->kernels[i];
        if (pair->before == NULL || pair->after == NULL)
            continue;
        const struct judge judge = {difference, pair, find_cost(before, pair->before), find_cost(after, pair->after),
                                    allow,      arena};
        if (judge.before != NULL && judge.after != NULL)
            gate->count += judge_kernel(&gate->regressions[gate->count], &judge);
    }
    return gate;
}
