/* Fuzzes descriptions: the input is read as a layout, and checked as one; and read as a device. */
#include <stdint.h>
#include <stdlib.h>

#include "arena.h"
#include "check.h"
#include "diag.h"
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
