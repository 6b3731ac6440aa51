#include "generate.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beside.h"
#include "embedded_template.h"
#include "template.h"
#include "text.h"
#include "view_code.h"

static const struct {
    const char *name;   /* embedded as NAME.mustache */
    const char *suffix; /* of the file that it makes */
} defaults[] = {
    {"cuda.cuh", ".cuh"},
    {"cuda_kernels.cuh", "_kernels.cuh"},
    {"c.h", ".h"},
    {"cuda_check.cu", "_check.cu"},
};

/* Where the partials of a rendering come from. */
struct lookup {
    struct arena *arena;
    const char *folder; /* of a user's template, with a slash at its end; NULL: none */
};

static const struct source *find_partial(void *context, const char *name)
{
    const struct lookup *lookup = context;
    struct source *source;
    const char *reason;
    bool plain = name[0] != '.' && strchr(name, '/') == NULL;
    if (lookup->folder != NULL && plain &&
        source_read_file(&source, lookup->arena, arena_printf(lookup->arena, "%s%s.mustache", lookup->folder, name),
                         &reason) == SOURCE_OK)
        return source;
    return embedded_template(lookup->arena, name);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* ".md" of "a/sheet.md.mustache" in the arena; NULL where the name has another form. */
static const char *template_suffix(struct arena *arena, const char *path)
{
    static const char ending[] = ".mustache";
    const char *name = base_name(path);
    size_t length = strlen(name);
    if (length <= strlen(ending) || strcmp(name + length - strlen(ending), ending) != 0)
        return NULL;
    char *stem = arena_copy(arena, name, length - strlen(ending));
    char *dot = strrchr(stem, '.');
    if (dot == NULL || dot == stem || dot[1] == '\0')
        return NULL;
    for (const char *at = dot + 1; *at != '\0'; at++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-", *at) == NULL)
            return NULL;
    return dot;
}

const struct source *generate_shipped(struct arena *arena, const char *name)
{
    size_t length = strlen(name), ending = strlen(".mustache");
    if (length <= ending || strcmp(name + length - ending, ".mustache") != 0)
        return NULL;
    const struct source *found = embedded_template(arena, arena_copy(arena, name, length - ending));
    if (found == NULL)
        return NULL;
    /* A folder that no file is beside: its partials are compiled in, too. */
    struct source *source = arena_alloc(arena, sizeof(*source));
    *source = *found;
    source->name = arena_printf(arena, "<shipped>/%s", name);
    return source;
}

/* Removes blanks at the ends of lines, which nested partials leave where a line of theirs is empty. */
static size_t trim_lines(char *text, size_t length)
{
    size_t to = 0;
    for (size_t from = 0; from < length; from++) {
        if (text[from] == '\n')
            while (to > 0 && text[to - 1] == ' ')
                to--;
        text[to++] = text[from];
    }
    return to;
}

static bool render(struct generated_file *file, const struct source *source, const json_t *view,
                   const struct template_options *options, struct arena *arena, struct diags *diags)
{
    struct text out = {0};
    bool fine = template_render(&out, source, view, options, diags);
    if (fine) {
        char *text = arena_copy(arena, text_string(&out), out.length);
        file->length = options->strict ? trim_lines(text, out.length) : out.length;
        text[file->length] = '\0';
        file->text = text;
    }
    text_free(&out);
    return fine;
}

static bool render_defaults(struct generated *generated, const struct spec *spec, const json_t *view,
                            struct arena *arena, struct diags *diags)
{
    struct lookup lookup = {arena, NULL};
    const struct template_options options = {.strict = true, .find = find_partial, .find_context = &lookup};
    bool fine = true;
    generated->count = sizeof(defaults) / sizeof(defaults[0]);
    generated->files = arena_array(arena, generated->count, sizeof(*generated->files));
    for (size_t i = 0; i < generated->count && fine; i++) {
        const struct source *source = embedded_template(arena, defaults[i].name);
        generated->files[i].name = arena_printf(arena, "%s%s", spec->name.text, defaults[i].suffix);
        if (source == NULL)
            abort(); /* the build embeds them */
        fine = render(&generated->files[i], source, view, &options, arena, diags);
    }
    return fine;
}

static bool name_file(struct generated *generated, size_t number, const struct spec *spec, const struct source *source,
                      const char *suffix, struct arena *arena, struct diags *diags)
{
    struct span nowhere = {NULL, 0, 0};
    if (suffix == NULL) {
        diag_error(diags, "template-name", nowhere, "template '%s' has no name of the form F.SUFFIX.mustache",
                   source->name);
        return false;
    }
    generated->files[number].name = arena_printf(arena, "%s%s", spec->name.text, suffix);
    for (size_t i = 0; i < number; i++) {
        if (strcmp(generated->files[i].name, generated->files[number].name) == 0) {
            diag_error(diags, "template-name", nowhere, "template '%s' makes '%s', as one before it does", source->name,
                       generated->files[i].name);
            return false;
        }
    }
    return true;
}

static bool render_given(struct generated *generated, const struct spec *spec, const json_t *view,
                         const struct generate_templates *templates, struct arena *arena, struct diags *diags)
{
    bool fine = true;
    generated->count = templates->count;
    generated->files = arena_array(arena, generated->count, sizeof(*generated->files));
    for (size_t i = 0; i < templates->count; i++) {
        const struct source *source = templates->sources[i];
        const char *suffix = template_suffix(arena, source->name), *base = base_name(source->name);
        struct lookup lookup = {arena, arena_copy(arena, source->name, (size_t)(base - source->name))};
        struct template_options options = {.find = find_partial, .find_context = &lookup};
        options.escape_html = suffix != NULL && strcmp(suffix, ".html") == 0;
        fine = name_file(generated, i, spec, source, suffix, arena, diags) &&
               render(&generated->files[i], source, view, &options, arena, diags) && fine;
    }
    return fine;
}

struct generated *generate_render(const struct spec *spec, const struct device *device, struct option *const *chosen,
                                  const struct generate_templates *templates, struct arena *arena, struct diags *diags)
{
    json_t *view = view_code(spec, device, chosen, arena, diags);
    if (view == NULL)
        return NULL;
    struct generated *generated = arena_alloc(arena, sizeof(*generated));
    bool given = templates != NULL && templates->count > 0;
    bool fine = given ? render_given(generated, spec, view, templates, arena, diags)
                      : render_defaults(generated, spec, view, arena, diags);
    json_decref(view);
    return fine ? generated : NULL;
}

static enum generate_status report(struct diags *diags, const char *what, const char *path)
{
    int error = errno;
    diag_error(diags, "output", (struct span){NULL, 0, 0}, "cannot %s '%s': %s", what, path, strerror(error));
    return beside_is_fault(error) ? GENERATE_FAILED : GENERATE_NO_PLACE;
}

static enum generate_status make_directory(const char *directory, struct arena *arena, struct diags *diags)
{
    char *path = arena_copy(arena, directory, strlen(directory));
    for (char *at = path + 1; path[0] != '\0' && *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return report(diags, "make folder", path);
        *at = '/';
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return report(diags, "make folder", path);
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return GENERATE_DONE;
    errno = ENOTDIR;
    return report(diags, "write into", path);
}

/* Whether the file at `path` has this content already. */
static bool same_content(const char *path, const struct generated_file *file)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size != file->length)
        return false;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return false;
    char buffer[65536];
    size_t done = 0, got;
    bool same = true;
    while (same && (got = fread(buffer, 1, sizeof(buffer), stream)) > 0) {
        same = got <= file->length - done && memcmp(buffer, file->text + done, got) == 0;
        done += got;
    }
    same = same && ferror(stream) == 0 && done == file->length;
    (void)fclose(stream);
    return same;
}

/* Where a file goes, and the new content that waits beside it (NULL: there is none). */
struct target {
    const char *path;
    const char *beside;
};

static enum generate_status write_targets(struct generated *generated, struct target *targets, struct arena *arena,
                                          struct diags *diags)
{
    for (size_t i = 0; i < generated->count; i++) {
        struct generated_file *file = &generated->files[i];
        if (file->state == GENERATED_UNCHANGED)
            continue;
        targets[i].beside = beside_write(targets[i].path, beside_new_mode(), file->text, file->length, arena);
        if (targets[i].beside == NULL)
            return report(diags, "write", targets[i].path);
    }
    for (size_t i = 0; i < generated->count; i++) {
        if (targets[i].beside == NULL)
            continue;
        if (rename(targets[i].beside, targets[i].path) != 0)
            return report(diags, "write", targets[i].path);
        targets[i].beside = NULL;
        generated->files[i].state = GENERATED_WRITTEN;
    }
    return GENERATE_DONE;
}

enum generate_status generate_write(struct generated *generated, const char *directory, bool check_only,
                                    struct arena *arena, struct diags *diags)
{
    enum generate_status status = check_only ? GENERATE_DONE : make_directory(directory, arena, diags);
    if (status != GENERATE_DONE)
        return status;
    struct target *targets = arena_array(arena, generated->count, sizeof(*targets));
    generated->stale = 0;
    for (size_t i = 0; i < generated->count; i++) {
        struct generated_file *file = &generated->files[i];
        targets[i].path = arena_printf(arena, "%s/%s", directory, file->name);
        bool same = same_content(targets[i].path, file);
        file->state = same ? GENERATED_UNCHANGED : GENERATED_STALE;
        generated->stale += !same;
    }
    if (check_only)
        return GENERATE_DONE;
    status = write_targets(generated, targets, arena, diags);
    /* What could not be put in place is taken away again. */
    for (size_t i = 0; i < generated->count; i++)
        if (targets[i].beside != NULL)
            (void)unlink(targets[i].beside);
    generated->stale = 0;
    return status;
}
