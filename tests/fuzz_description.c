/* Fuzzes descriptions: the input is read as a layout, and checked as one, its canonical form is to mean the same and to
 * be its own; and it is read as a device. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "check.h"
#include "diag.h"
#include "diff.h"
#include "fmt.h"
#include "fuzz_device.h"
#include "read.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct diags *diags)
{
    struct text messages = {0};
    diag_render(diags, &messages, false);
    text_free(&messages);
}

static const struct source *format(struct arena *arena, const struct source *source)
{
    struct text text = {0};
    fmt_write(&text, source, arena);
    source = source_from_bytes(arena, source->name, text_string(&text), text.length);
    text_free(&text);
    return source;
}

/* `checked`: the description, where it has no error; NULL where it is only known to read. */
static void check_form(struct arena *arena, const struct source *source, const struct spec *checked)
{
    struct diags diags = {.arena = arena};
    const struct source *once = format(arena, source);
    struct spec *spec = read_spec(arena, once, &diags);
    if (spec == NULL || diag_failed(&diags))
        abort();
    const struct source *twice = format(arena, once);
    if (twice->length != once->length || memcmp(twice->bytes, once->bytes, once->length) != 0)
        abort();
    if (checked == NULL)
        return;
    if (!check_spec(spec, arena, &fuzz_device, NULL, 0, &diags) || diff_specs(checked, spec, arena)->change_count > 0)
        abort();
}

static void check_layout(struct arena *arena, const struct source *source)
{
    struct diags diags = {.arena = arena};
    struct spec *spec = read_spec(arena, source, &diags);
    bool read = !diag_failed(&diags);
    if (spec == NULL && read)
        abort();
    bool good = spec != NULL && check_spec(spec, arena, &fuzz_device, NULL, 0, &diags);
    if (good == diag_failed(&diags))
        abort();
    if (read)
        check_form(arena, source, good ? spec : NULL);
    render(&diags);
}

static void check_device(struct arena *arena, const struct source *source)
{
    struct diags diags = {.arena = arena};
    const struct device *device = read_device(arena, source, &diags);
    if ((device == NULL) != diag_failed(&diags))
        abort();
    render(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    /* A folder that is not there, so that no table's file is found. */
    const struct source *source = source_from_bytes(&arena, "nowhere/fuzz.xml", (const char *)data, size);
    check_layout(&arena, source);
    check_device(&arena, source);
    arena_free(&arena);
    return 0;
}
