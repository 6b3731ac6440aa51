#include "device.h"

#include <string.h>

#include "embedded.h"
#include "read.h"
#include "text.h"

static const char suffix[] = ".xml";

static bool ends_in(const char *string, const char *end)
{
    size_t length = strlen(string), end_length = strlen(end);
    return length >= end_length && strcmp(string + length - end_length, end) == 0;
}

static struct device *load_file(struct arena *arena, const char *path, struct diags *diags)
{
    struct source *source;
    const char *reason = "";
    if (source_read(&source, arena, path, &reason) == SOURCE_OK)
        return read_device(arena, source, diags);
    diag_unreadable(diags, path, reason);
    return NULL;
}

static char *embedded_name(struct arena *arena, const struct embedded_file *file)
{
    size_t length = strlen(file->name);
    return arena_copy(arena, file->name, ends_in(file->name, suffix) ? length - strlen(suffix) : length);
}

static void report_unknown(struct arena *arena, const char *name, struct diags *diags)
{
    struct text_guess guess = {.wanted = name};
    const char *known = "";
    for (size_t i = 0; i < embedded_device_count; i++) {
        const char *candidate = embedded_name(arena, &embedded_devices[i]);
        text_guess_offer(&guess, candidate);
        known = arena_printf(arena, "%s%s'%s'", known, i == 0 ? "" : ", ", candidate);
    }
    diag_error(diags, "unknown-device", (struct span){0}, "unknown device '%s'", name);
    if (guess.best != NULL)
        diag_note(diags, "did you mean '%s'? known devices: %s; a file is named with a '/' or '.xml'", guess.best,
                  known);
    else
        diag_note(diags, "known devices: %s; a file is named with a '/' or '.xml'", known);
}

struct device *device_load(struct arena *arena, const char *name, struct diags *diags)
{
    if (strchr(name, '/') != NULL || ends_in(name, suffix))
        return load_file(arena, name, diags);
    for (size_t i = 0; i < embedded_device_count; i++) {
        const struct embedded_file *file = &embedded_devices[i];
        if (strcmp(embedded_name(arena, file), name) != 0)
            continue;
        const char *path = arena_printf(arena, "<device %s>", name);
        return read_device(arena, source_from_bytes(arena, path, (const char *)file->bytes, file->length), diags);
    }
    report_unknown(arena, name, diags);
    return NULL;
}
