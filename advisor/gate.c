#include "gate.h"

#include <string.h>

#include "read.h"
#include "request.h"

struct judge {
    const struct difference *difference;
    const struct kernel_pair *pair;
    const struct kernel_cost *before, *after;
    double allow;
    struct arena *arena;
    unsigned *access_before;      /* by number of a later access: which it was, or NO_ACCESS */
    size_t *scores_before;        /* by number of an earlier access: the first of its scores */
    const struct change **itself; /* by number of a later access: how it has changed, or NULL */
    const struct change **others; /* changes of anything but accesses */
    size_t other_count;
    bool may_stand_around; /* one of them is of a loop, an if or an else */
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

/* The loops and ifs around an access, the innermost last. Reading allows no deeper nesting. */
struct path {
    const struct statement *around[READ_DEPTH_MAX];
    size_t depth;
};

static bool find_path(struct path *out, const struct statement *body, const struct access *access)
{
    for (; body != NULL; body = body->next) {
        if (body->access == access)
            return true;
        if (body->body == NULL && body->otherwise == NULL)
            continue;
        out->around[out->depth++] = body;
        if (find_path(out, body->body, access) || find_path(out, body->otherwise, access))
            return true;
        out->depth--;
    }
    return false;
}

static bool is_around(const struct path *path, const struct statement *statement)
{
    size_t i = 0;
    while (i < path->depth && path->around[i] != statement)
        i++;
    return i < path->depth;
}

enum nearness { NOT_NEAR, NEAR_FAR, NEAR_LAUNCH, NEAR_TYPE, NEAR_ARRAY, NEAR_AROUND };

/* What a let stands for may reach any index through others; what was removed stood in the other body. */
static enum nearness statement_nearness(const struct change *change, const struct path *path)
{
    const struct statement *statement = change->statement;
    bool may_bear = change->kind == CHANGE_REMOVED || statement->kind == STATEMENT_LET || is_around(path, statement);
    return may_bear ? NEAR_AROUND : NOT_NEAR;
}

static enum nearness nearness_of(const struct judge *judge, const struct change *change, const struct access *access,
                                 const struct path *path)
{
    if (change->kernel != NULL && change->kernel != judge->pair->after && change->kernel != judge->pair->before)
        return NOT_NEAR;
    if (change->statement != NULL)
        return statement_nearness(change, path);
    if (change->kernel != NULL)
        return NEAR_LAUNCH;
    if (change->array != NULL)
        return change->array == access->array ? NEAR_ARRAY : NOT_NEAR;
    if (change->type != NULL) {
        bool part = is_made_of(access->array->record->type, change->type);
        bool moves = strcmp(change->of, "field") != 0 || resizes(change) || selects(access, change->name);
        return part && moves ? NEAR_TYPE : NOT_NEAR;
    }
    return strcmp(change->of, "layout") == 0 ? NOT_NEAR : NEAR_FAR;
}

/* Causes that are kept of an access: what is told of a thousand changes helps nobody. */
enum { CAUSES_MOST = 50 };

/* Params and tables are far: told only where nothing nearer is. */
static const struct change **find_causes(const struct judge *judge, const struct access *access, size_t *count)
{
    const struct change **causes = arena_array(judge->arena, CAUSES_MOST, sizeof(struct change *));
    struct arena_mark mark = arena_mark(judge->arena);
    enum nearness *near = arena_array(judge->arena, judge->other_count + 1, sizeof(*near));
    struct path path = {.depth = 0};
    if (judge->may_stand_around)
        (void)find_path(&path, judge->pair->after->body, access);
    for (size_t i = 0; i < judge->other_count; i++)
        near[i] = nearness_of(judge, judge->others[i], access, &path);
    *count = 0;
    if (judge->itself[access->number] != NULL)
        causes[(*count)++] = judge->itself[access->number];
    for (int wanted = NEAR_AROUND; wanted > NEAR_FAR || (wanted == NEAR_FAR && *count == 0); wanted--)
        for (size_t i = 0; i < judge->other_count; i++)
            if ((int)near[i] == wanted && *count < CAUSES_MOST)
                causes[(*count)++] = judge->others[i];
    arena_reset(judge->arena, mark);
    return causes;
}

static const struct change **find_launch_causes(const struct judge *judge, size_t *count)
{
    const struct difference *difference = judge->difference;
    const struct change **causes = arena_array(judge->arena, CAUSES_MOST, sizeof(struct change *));
    *count = 0;
    for (size_t i = 0; i < difference->change_count; i++) {
        const struct change *change = &difference->changes[i];
        bool mine = change->kernel == judge->pair->after || change->kernel == judge->pair->before;
        if ((mine || strcmp(change->of, "param") == 0 || strcmp(change->of, "table") == 0) && *count < CAUSES_MOST)
            causes[(*count)++] = change;
    }
    return causes;
}

/* ---- which access ---- */

static void sort_changes(struct judge *judge)
{
    const struct difference *difference = judge->difference;
    judge->itself = arena_array(judge->arena, judge->pair->after->access_count + 1, sizeof(struct change *));
    judge->others = arena_array(judge->arena, difference->change_count + 1, sizeof(struct change *));
    for (size_t i = 0; i < difference->change_count; i++) {
        const struct change *change = &difference->changes[i];
        bool of_access = change->statement != NULL && change->statement->kind == STATEMENT_ACCESS;
        if (!of_access) {
            judge->others[judge->other_count++] = change;
            judge->may_stand_around |= change->statement != NULL;
        } else if (change->kernel == judge->pair->after) {
            judge->itself[change->statement->access->number] = change;
        }
    }
}

/* The scores of the earlier kernel by its accesses, and those by the accesses that they have become. */
static void index_accesses(struct judge *judge)
{
    const struct kernel *before = judge->pair->before, *after = judge->pair->after;
    const struct kernel_score *score = judge->before->score;
    judge->access_before = arena_array(judge->arena, after->access_count + 1, sizeof(unsigned));
    judge->scores_before = arena_array(judge->arena, before->access_count + 1, sizeof(size_t));
    for (unsigned i = 0; i < after->access_count; i++)
        judge->access_before[i] = NO_ACCESS;
    for (unsigned i = 0; i < before->access_count; i++)
        if (judge->pair->access_after[i] != NO_ACCESS)
            judge->access_before[judge->pair->access_after[i]] = i;
    for (size_t i = score->access_count; i-- > 0;)
        judge->scores_before[score->accesses[i].access->number] = i;
}

static const struct access_score *find_before(const struct judge *judge, const struct access_score *after)
{
    unsigned number = judge->access_before[after->access->number];
    const struct kernel_score *score = judge->before->score;
    if (number == NO_ACCESS)
        return NULL;
    for (size_t i = judge->scores_before[number]; i < score->access_count; i++) {
        const struct access_score *before = &score->accesses[i];
        if (before->access->number != number)
            break;
        if (before->op == after->op && before->phase == after->phase)
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

static void find_culprits(struct regression *regression, struct judge *judge)
{
    index_accesses(judge);
    sort_changes(judge);
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

static bool judge_kernel(struct regression *out, struct judge *judge)
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
        struct judge judge = {.difference = difference, .pair = pair, .allow = allow, .arena = arena};
        judge.before = find_cost(before, pair->before);
        judge.after = find_cost(after, pair->after);
        if (judge.before != NULL && judge.after != NULL)
            gate->count += judge_kernel(&gate->regressions[gate->count], &judge);
    }
    return gate;
}
