#include "cli_check.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cli_render.h"
#include "cost.h"
#include "diff.h"
#include "emit.h"
#include "emit_check.h"
#include "gate.h"
#include "read.h"
#include "sectorwise.h"
#include "view_check.h"

struct checked {
    struct spec *spec;
    struct cost *cost;
    struct diags diags;
    bool parsed;
    bool empty; /* without a byte */
};

/* Everything that can be wrong is looked for: what is only found when a kernel is counted, too. */
static void look(struct checked *out, struct run *run, const char *path)
{
    *out = (struct checked){.diags = {.arena = &run->arena, .progress = run->diags.progress}};
    const struct source *source = cli_read(path, &run->arena, &out->diags);
    out->empty = source != NULL && source->length == 0;
    if (source != NULL)
        out->spec = read_spec(&run->arena, source, &out->diags);
    out->parsed = out->spec != NULL;
    if (out->parsed &&
        check_spec(out->spec, &run->arena, run->device, run->cli.definitions, run->cli.definition_count, &out->diags))
        out->cost = cost_spec(out->spec, run->device, &run->arena, &out->diags);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The file to compare with: the one given, or the one of the same name in the folder given. NULL: it is not there, as
 * git says it with /dev/null. */
static const char *find_old(struct run *run, const char *path)
{
    const char *against = run->cli.against, *slash = strrchr(path, '/');
    if (against == NULL || strcmp(against, "/dev/null") == 0)
        return NULL;
    if (!is_folder(against))
        return against;
    const char *old = arena_printf(&run->arena, "%s/%s", against, slash == NULL ? path : slash + 1);
    return access(old, F_OK) == 0 ? old : NULL;
}

static void compare(struct view_checked *out, struct run *run, const struct checked *new)
{
    struct checked old;
    const char *path = find_old(run, out->name);
    if (path == NULL || new->cost == NULL)
        return;
    look(&old, run, path);
    /* What a hook pipes in of a file that no commit has yet. */
    if (old.empty && strcmp(path, "-") == 0)
        return;
    diag_append(&run->diags, &old.diags);
    if (old.cost == NULL)
        return;
    out->against = strcmp(path, "-") == 0 ? "<stdin>" : path;
    out->difference = diff_specs(old.spec, new->spec, &run->arena);
    out->gate = gate_judge(out->difference, old.cost, new->cost, run->cli.allow, &run->arena);
    if (out->gate->count > 0)
        out->status = CHECKED_REGRESSION;
}

static void check_file(struct view_checked *out, struct run *run, const char *path)
{
    struct checked *new = arena_alloc(&run->arena, sizeof(*new));
    look(new, run, path);
    *out = (struct view_checked){.name = strcmp(path, "-") == 0 ? "<stdin>" : path, .diags = &new->diags};
    out->status = !new->parsed ? CHECKED_UNREADABLE : new->cost == NULL ? CHECKED_INVALID : CHECKED_FINE;
    if (new->parsed && !diag_failed(&new->diags))
        check_warn(new->spec, &new->diags);
    compare(out, run, new);
}

/* Text is for those who read the messages too; a document is written whatever it tells of. */
static enum exit_status write_checked(struct run *run, json_t *view, enum exit_status status)
{
    bool to_file = run->cli.output != NULL, told = true;
    switch (run->cli.format) {
    case FORMAT_TEXT:
        told = status != EXIT_BAD_INPUT;
        if (told)
            emit_check(&run->out, view, cli_use_color(&run->cli, to_file ? -1 : STDOUT_FILENO));
        break;
    case FORMAT_JSON:
        emit_json(&run->out, view);
        break;
    case FORMAT_SARIF:
        emit_sarif(&run->out, view, sectorwise_version());
        break;
    }
    json_decref(view);
    enum exit_status written = told ? run_write(run) : EXIT_DONE;
    return written > status ? written : status;
}

enum exit_status cli_check(struct run *run)
{
    const struct cli_words *paths = &run->cli.inputs;
    struct view_checked *files = arena_array(&run->arena, paths->count, sizeof(*files));
    run->device = device_load(&run->arena, run->cli.device, &run->diags);
    if (run->device == NULL)
        return EXIT_BAD_INPUT;
    if (paths->count > 1 && run->cli.against != NULL && !is_folder(run->cli.against)) {
        diag_error(&run->diags, "usage", (struct span){0}, "several descriptions can be compared with a folder only");
        return EXIT_BAD_INPUT;
    }
    enum exit_status status = EXIT_DONE;
    for (size_t i = 0; i < paths->count; i++) {
        progress_tell(run->diags.progress, "file", NULL, i + 1, paths->count);
        check_file(&files[i], run, paths->items[i]);
        enum exit_status one = files[i].status == CHECKED_FINE         ? EXIT_DONE
                               : files[i].status == CHECKED_UNREADABLE ? EXIT_BAD_INPUT
                                                                       : EXIT_FINDING;
        status = one > status ? one : status;
    }
    /* What the old ones have wrong was noted alone so far. */
    if (diag_failed(&run->diags))
        status = EXIT_BAD_INPUT;
    for (size_t i = 0; i < paths->count; i++)
        diag_append(&run->diags, files[i].diags);
    return write_checked(run, view_check(files, paths->count, run->device, run->cli.allow), status);
}
