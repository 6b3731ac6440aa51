#include "cli_diff.h"

#include <string.h>

#include "check.h"
#include "cli_render.h"
#include "cost.h"
#include "diff.h"
#include "emit_diff.h"
#include "read.h"
#include "unified.h"
#include "view_diff.h"

/* What git calls an external diff with: path, old file, hex, mode, new file, hex, mode; and two more for a rename: the
 * new path, and what is to be printed of it. */
enum { GIT_WORDS = 7, GIT_RENAME_WORDS = 9, GIT_OLD_FILE = 1, GIT_NEW_FILE = 4, GIT_NEW_PATH = 7 };

struct operand {
    const char *path; /* to be read */
    const char *name; /* to be told */
};

static bool is_nothing(const char *path)
{
    return strcmp(path, "/dev/null") == 0;
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool take_operands(struct run *run, struct operand *before, struct operand *after)
{
    const char *const *words = run->cli.inputs.items;
    size_t count = run->cli.inputs.count;
    if (count == GIT_WORDS || count == GIT_RENAME_WORDS) {
        *before = (struct operand){words[GIT_OLD_FILE], words[0]};
        *after = (struct operand){words[GIT_NEW_FILE], words[count == GIT_RENAME_WORDS ? GIT_NEW_PATH : 0]};
    } else if (count == 2) {
        *before = (struct operand){words[0], is_standard(words[0]) ? "<stdin>" : words[0]};
        *after = (struct operand){words[1], is_standard(words[1]) ? "<stdin>" : words[1]};
    } else {
        diag_error(&run->diags, "usage", (struct span){0}, "'diff' takes OLD NEW, or the seven words that git gives");
        return false;
    }
    if (!is_nothing(before->path) || !is_nothing(after->path))
        return true;
    diag_error(&run->diags, "usage", (struct span){0}, "neither description is there");
    return false;
}

/* A version that git has put elsewhere goes by the name of the file that it is of: in messages, and so that its tables
 * are looked for beside that file. NULL after a diagnostic. */
static const struct source *read_operand(struct run *run, const struct operand *operand)
{
    if (is_nothing(operand->path))
        return source_from_bytes(&run->arena, operand->name, "", 0);
    const struct source *source = cli_read(operand->path, &run->arena, &run->diags);
    if (source != NULL && strcmp(operand->path, operand->name) != 0)
        source = source_from_bytes(&run->arena, operand->name, source->bytes, source->length);
    return source;
}

static bool load(struct view_side *out, struct run *run, const struct operand *operand, const struct source *source)
{
    *out = (struct view_side){.name = operand->name};
    if (is_nothing(operand->path))
        return true;
    struct spec *spec = read_spec(&run->arena, source, &run->diags);
    if (spec == NULL ||
        !check_spec(spec, &run->arena, run->device, run->cli.definitions, run->cli.definition_count, &run->diags))
        return false;
    out->spec = spec;
    out->cost = cost_spec(spec, run->device, &run->arena, &run->diags);
    return out->cost != NULL;
}

/* git stops at a driver that fails. It gets the difference of the texts where they are not two descriptions without
 * errors; what is wrong is told all the same. */
static enum exit_status fall_back(struct run *run, const struct source *before, const struct source *after)
{
    if (run->cli.inputs.count == 2)
        return EXIT_BAD_INPUT;
    unified_write(&run->out, before, after, &run->arena);
    return run_write(run);
}

enum exit_status cli_diff(struct run *run)
{
    struct operand old, new;
    struct view_side before, after;
    run->device = device_load(&run->arena, run->cli.device, &run->diags);
    if (run->device == NULL || !take_operands(run, &old, &new))
        return EXIT_BAD_INPUT;
    const struct source *was = read_operand(run, &old), *is = read_operand(run, &new);
    if (was == NULL || is == NULL)
        return EXIT_BAD_INPUT;
    bool good = load(&before, run, &old, was);
    if (!load(&after, run, &new, is) || !good)
        return fall_back(run, was, is);
    const struct difference *difference = diff_specs(before.spec, after.spec, &run->arena);
    json_t *view = view_diff(&before, &after, difference, run->device);
    bool finding = run->cli.exit_code && !json_is_true(json_object_get(view, "same"));
    enum exit_status status = run_write_view(run, view, run->cli.inputs.count == 2 ? emit_diff : emit_diff_for_git);
    return status == EXIT_DONE && finding ? EXIT_FINDING : status;
}
