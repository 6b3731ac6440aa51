#include "cli_fmt.h"

#include <string.h>

#include "cli_output.h"
#include "cli_render.h"
#include "fmt.h"
#include "read.h"
#include "unified.h"

struct formatted {
    const char *path; /* "-": from standard input to standard output */
    const struct source *before, *after;
    bool differs;
};

static bool is_standard(const struct formatted *file)
{
    return strcmp(file->path, "-") == 0;
}

/* False after diagnostics: what does not read has no form to be given. */
static bool format(struct formatted *out, struct run *run, const char *path)
{
    size_t errors = run->diags.error_count;
    bool rewritten = run->cli.in_place && strcmp(path, "-") != 0;
    struct source *source =
        rewritten ? cli_read_file(path, &run->arena, &run->diags) : cli_read(path, &run->arena, &run->diags);
    if (source == NULL || read_spec(&run->arena, source, &run->diags) == NULL || run->diags.error_count > errors)
        return false;
    struct text text = {0};
    fmt_write(&text, source, &run->arena);
    struct source *after = source_from_bytes(&run->arena, source->name, text_string(&text), text.length);
    text_free(&text);
    bool same = after->length == source->length && memcmp(after->bytes, source->bytes, after->length) == 0;
    *out = (struct formatted){path, source, after, !same};
    return true;
}

static enum exit_status rewrite(struct run *run, const struct formatted *file)
{
    const char *reason;
    if (!file->differs)
        return EXIT_DONE;
    enum output_status status = output_write(file->path, file->after->bytes, file->after->length, &run->arena, &reason);
    if (status == OUTPUT_OK)
        return EXIT_DONE;
    diag_error(&run->diags, "output", (struct span){0}, "cannot write '%s': %s", file->path, reason);
    return status == OUTPUT_NO_PLACE ? EXIT_BAD_INPUT : EXIT_FAULT;
}

/* What goes to standard output for a file; only under --check and --diff is a difference a finding. */
static enum exit_status tell(struct run *run, const struct formatted *file)
{
    const struct cli *cli = &run->cli;
    if (!cli->check && !cli->show_diff) {
        text_append(&run->out, file->after->bytes, file->after->length);
        return EXIT_DONE;
    }
    if (file->differs && cli->show_diff)
        unified_write(&run->out, file->before, file->after, &run->arena);
    else if (file->differs)
        text_printf(&run->out, "%s\n", file->before->name);
    return file->differs ? EXIT_FINDING : EXIT_DONE;
}

enum exit_status cli_fmt(struct run *run)
{
    const struct cli_words *paths = &run->cli.inputs;
    struct formatted *files = arena_array(&run->arena, paths->count, sizeof(*files));
    bool good = true;
    enum exit_status status = EXIT_DONE;
    for (size_t i = 0; i < paths->count; i++)
        good &= format(&files[i], run, paths->items[i]);
    if (!good)
        return EXIT_BAD_INPUT;
    for (size_t i = 0; i < paths->count; i++) {
        bool told = !run->cli.in_place || is_standard(&files[i]);
        enum exit_status one = told ? tell(run, &files[i]) : rewrite(run, &files[i]);
        status = one > status ? one : status;
    }
    enum exit_status written = run->out.length > 0 ? run_write(run) : EXIT_DONE;
    return written > status ? written : status;
}
