#include "cli_render.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "template.h"

static struct source *
read_or_tell(const char *path, enum source_status read(struct source **, struct arena *, const char *, const char **),
             struct arena *arena, struct diags *diags)
{
    struct source *source;
    const char *reason;
    if (read(&source, arena, path, &reason) == SOURCE_OK)
        return source;
    diag_unreadable(diags, path, reason);
    return NULL;
}

struct source *cli_read(const char *path, struct arena *arena, struct diags *diags)
{
    return read_or_tell(path, source_read, arena, diags);
}

struct source *cli_read_file(const char *path, struct arena *arena, struct diags *diags)
{
    return read_or_tell(path, source_read_file, arena, diags);
}

static json_t *load_view(const char *path, struct arena *arena, struct diags *diags)
{
    struct source *source = cli_read(path, arena, diags);
    if (source == NULL)
        return NULL;
    json_error_t error;
    json_t *view = json_loadb(source->bytes, source->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (view != NULL)
        return view;
    /* jansson's position is just past what it could not take. */
    size_t offset = error.position > 0 ? (size_t)error.position - 1 : 0;
    diag_error(diags, "json-syntax", (struct span){source, offset, 1}, "the data is not JSON: %s", error.text);
    return NULL;
}

struct folder {
    const char *path;
    struct arena *arena;
    struct diags *diags;
};

/* A name that leads out of the folder names no partial. */
static bool is_inside(const char *name)
{
    if (name[0] == '/' || name[0] == '\0')
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static const struct source *find_partial(void *context, const char *name)
{
    const struct folder *folder = context;
    const char *path = arena_printf(folder->arena, "%s/%s.mustache", folder->path, name);
    if (!is_inside(name) || access(path, F_OK) != 0)
        return NULL;
    return cli_read_file(path, folder->arena, folder->diags);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool use_html(const struct cli *cli)
{
    switch (cli->escape) {
    case ESCAPE_HTML:
        return true;
    case ESCAPE_NONE:
        return false;
    case ESCAPE_BY_NAME:
        break;
    }
    return ends_with(cli->input, ".html.mustache");
}

bool cli_render(struct text *out, const struct cli *cli, struct arena *arena, struct diags *diags)
{
    struct folder folder = {cli->partials, arena, diags};
    struct source *source = cli_read(cli->input, arena, diags);
    json_t *view = load_view(cli->data, arena, diags);
    struct template_options options = {.escape_html = use_html(cli),
                                       .strict = cli->strict,
                                       .find = cli->partials == NULL ? NULL : find_partial,
                                       .find_context = &folder};
    bool good = source != NULL && view != NULL && template_render(out, source, view, &options, diags);
    json_decref(view);
    return good && !diag_failed(diags);
}
