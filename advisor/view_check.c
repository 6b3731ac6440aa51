#include "view_check.h"

#include "view_diff.h"
#include "view_put.h"

static const char *status_name(enum checked_status status)
{
    switch (status) {
    case CHECKED_FINE:
        return "fine";
    case CHECKED_REGRESSION:
        return "regression";
    case CHECKED_INVALID:
        return "invalid";
    case CHECKED_UNREADABLE:
        return "unreadable";
    }
    return "";
}

static const char *const measure_keys[MEASURE_COUNT] = {
    [MEASURE_SECTORS] = "sectors",
    [MEASURE_WAVEFRONTS] = "wavefronts",
    [MEASURE_DRAM] = "dram_bytes",
    [MEASURE_TIME] = "time_us",
};

/* A path may hold any bytes, which JSON may not. */
static void put_path(json_t *object, const char *key, const char *path)
{
    json_t *text = path == NULL ? NULL : json_string(path);
    put(object, key, text == NULL ? json_null() : text);
}

static uint64_t count_characters(const struct source *source, size_t from, size_t to)
{
    uint64_t count = 0;
    for (; from < to; from++)
        count += ((unsigned char)source->bytes[from] & 0xc0) != 0x80;
    return count;
}

/* Where something is, up to the end of its first line. */
static void put_place(json_t *object, struct span where, struct view_places *places)
{
    if (where.source == NULL)
        return;
    struct source_position at = view_locate(places, where);
    size_t from = at.line_start + at.column - 1, to = from + where.length;
    if (to > at.line_end)
        to = at.line_end;
    if (to < from)
        to = from;
    put_path(object, "file", where.source->name);
    put_number(object, "line", at.line);
    put_number(object, "column", at.column);
    put_number(object, "end_column", at.column + (to - from));
    put_number(object, "character", 1 + count_characters(where.source, at.line_start, from));
    put_number(object, "end_character", 1 + count_characters(where.source, at.line_start, to));
}

static json_t *make_diag(const struct diag *diag, struct view_places *places)
{
    json_t *object = json_object();
    put_text(object, "severity", diag->severity == DIAG_ERROR ? "error" : "warning");
    put_text(object, "id", diag->id);
    put_path(object, "message", diag->message);
    if (diag->note != NULL)
        put_path(object, "note", diag->note);
    put_place(object, diag->where, places);
    return object;
}

static json_t *make_causes(const struct change *const *causes, size_t count, struct view_places *places)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        add(list, view_change(causes[i], places));
    return list;
}

static json_t *make_culprit(const struct culprit *culprit, struct view_places *places)
{
    json_t *object = json_object();
    const struct access_score *score = culprit->after;
    const char *field = score->access->field_text.text;
    put_text(object, "array", score->array->name.text);
    put_text(object, "field", score->phase != PHASE_THREADS || field == NULL ? "" : field);
    put_text(object, "op", access_op_name(score->op));
    if (score->phase != PHASE_THREADS)
        put_text(object, "phase", score->phase == PHASE_COPY_IN ? "copy-in" : "copy-out");
    put_flag(object, "added", culprit->before == NULL);
    put_place(object, score->access->where, places);
    put_text(object, "measure", measure_keys[culprit->measure]);
    put_number(object, "before", culprit->from);
    put_number(object, "after", culprit->to);
    put(object, "causes", make_causes(culprit->causes, culprit->cause_count, places));
    return object;
}

static json_t *make_figures(const struct regression *regression)
{
    const struct kernel_cost *before = regression->before, *after = regression->after;
    const uint64_t counts[][2] = {[MEASURE_SECTORS] = {before->sectors, after->sectors},
                                  [MEASURE_WAVEFRONTS] = {before->wavefronts, after->wavefronts},
                                  [MEASURE_DRAM] = {before->dram_bytes, after->dram_bytes}};
    json_t *figures = json_object();
    for (int i = 0; i < MEASURE_COUNT; i++) {
        json_t *figure = json_object();
        if (i == MEASURE_TIME) {
            put_real(figure, "before", before->estimate.time_us);
            put_real(figure, "after", after->estimate.time_us);
        } else {
            put_number(figure, "before", counts[i][0]);
            put_number(figure, "after", counts[i][1]);
        }
        put_flag(figure, "grew", regression->grew[i]);
        put(figures, measure_keys[i], figure);
    }
    return figures;
}

static json_t *make_regression(const struct regression *regression, struct view_places *places)
{
    json_t *object = json_object(), *accesses = json_array();
    put_text(object, "kernel", regression->after->kernel->name.text);
    put_place(object, regression->after->kernel->name.where, places);
    put(object, "figures", make_figures(regression));
    put_text(object, "bound_by", resource_name(regression->after->estimate.bound_by));
    for (size_t i = 0; i < regression->culprit_count; i++)
        add(accesses, make_culprit(&regression->culprits[i], places));
    put(object, "accesses", accesses);
    put(object, "causes", make_causes(regression->causes, regression->cause_count, places));
    return object;
}

/* Names of the kernels that one description has alone. */
static json_t *list_kernels(const struct difference *difference, bool added)
{
    json_t *list = json_array();
    for (size_t i = 0; difference != NULL && i < difference->kernel_count; i++) {
        const struct kernel_pair *pair = &difference->kernels[i];
        const struct kernel *alone = added ? pair->after : pair->before;
        if ((added ? pair->before : pair->after) == NULL)
            add(list, json_string(alone->name.text));
    }
    return list;
}

static json_t *make_file(const struct view_checked *file)
{
    json_t *object = json_object(), *diagnostics = json_array(), *regressions = json_array();
    struct view_places places = {.count = 0};
    put_path(object, "name", file->name);
    put_text(object, "status", status_name(file->status));
    for (size_t i = 0; i < file->diags->count; i++)
        add(diagnostics, make_diag(&file->diags->items[i], &places));
    put(object, "diagnostics", diagnostics);
    put_path(object, "against", file->against);
    for (size_t i = 0; file->gate != NULL && i < file->gate->count; i++)
        add(regressions, make_regression(&file->gate->regressions[i], &places));
    put(object, "regressions", regressions);
    put(object, "kernels_added", list_kernels(file->difference, true));
    put(object, "kernels_removed", list_kernels(file->difference, false));
    arena_free(&places.arena);
    return object;
}

json_t *view_check(const struct view_checked *files, size_t count, const struct device *device, double allow)
{
    json_t *root = json_object(), *list = json_array(), *summary = json_object();
    uint64_t counts[CHECKED_UNREADABLE + 1] = {0};
    put_text(root, "format", "sectorwise-check-1");
    put_text(root, "device", device->name);
    put_real(root, "allow", allow);
    for (size_t i = 0; i < count; i++) {
        add(list, make_file(&files[i]));
        counts[files[i].status]++;
    }
    put(root, "files", list);
    for (int i = 0; i <= CHECKED_UNREADABLE; i++)
        put_number(summary, status_name((enum checked_status)i), counts[i]);
    put(root, "summary", summary);
    return root;
}
