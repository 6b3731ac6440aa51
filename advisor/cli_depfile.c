#include "cli_depfile.h"

#include <string.h>
#include <unistd.h>

/* As compilers do for make; ninja reads the same. */
static void append_path(struct text *out, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path == ' ' || *path == '#' || *path == '\t')
            text_putc(out, '\\');
        else if (*path == '$')
            text_putc(out, '$');
        text_putc(out, *path);
    }
}

typedef void take_path(struct text *out, const char *path);

static void take_prerequisite(struct text *out, const char *path)
{
    text_puts(out, " \\\n  ");
    append_path(out, path);
}

static void take_phony(struct text *out, const char *path)
{
    append_path(out, path);
    text_puts(out, ":\n");
}

/* Devices that are compiled in have names, no paths. */
static bool is_device_file(const char *device)
{
    const char *dot = strrchr(device, '.');
    return strchr(device, '/') != NULL || (dot != NULL && strcmp(dot, ".xml") == 0);
}

static void each_input(struct text *out, const struct cli *cli, const struct spec *spec, take_path *take)
{
    if (strcmp(cli->input, "-") != 0)
        take(out, cli->input);
    for (const struct table *table = spec->tables; table != NULL; table = table->next)
        if (table->path != NULL)
            take(out, table->path);
    for (size_t i = 0; i < cli->templates.count; i++)
        if (access(cli->templates.items[i], F_OK) == 0) /* neither standard input nor compiled in */
            take(out, cli->templates.items[i]);
    if (is_device_file(cli->device))
        take(out, cli->device);
}

static void append_targets(struct text *out, const struct cli *cli, const struct generated *generated)
{
    for (size_t i = 0; i < cli->dep_targets.count; i++) {
        text_puts(out, i == 0 ? "" : " ");
        append_path(out, cli->dep_targets.items[i]);
    }
    for (size_t i = 0; cli->dep_targets.count == 0 && i < generated->count; i++) {
        text_puts(out, i == 0 ? "" : " ");
        append_path(out, cli->directory);
        text_putc(out, '/');
        append_path(out, generated->files[i].name);
    }
}

void cli_depfile(struct text *out, const struct cli *cli, const struct spec *spec, const struct generated *generated)
{
    append_targets(out, cli, generated);
    text_putc(out, ':');
    each_input(out, cli, spec, take_prerequisite);
    text_putc(out, '\n');
    each_input(out, cli, spec, take_phony);
}
