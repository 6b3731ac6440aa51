/* Fuzzes the template engine: the input is a template, then (after the first 0xFF byte) a view as JSON. A view that
 * does not parse is replaced. The partial "self" is the template. Build with
 * -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, which lowers the bound on steps, so that no input takes seconds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct source *find_self(void *context, const char *name)
{
    return strcmp(name, "self") == 0 ? context : NULL;
}

static json_t *read_view(const char *bytes, size_t length)
{
    json_t *view = json_loadb(bytes, length, JSON_DECODE_ANY, NULL);
    if (view != NULL)
        return view;
    return json_loads("{\"a\": [1, {\"b\": \"<x>\", \"a\": []}, 0.5], \"b\": true, \"c\": null,"
                      " \"n\": {\"n\": {\"s\": \"self\"}}}",
                      0, NULL);
}

static void render(const char *bytes, size_t length, const json_t *view, bool strict)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct text out = {0}, messages = {0};
    struct source *source = source_from_bytes(&arena, "fuzz", bytes, length);
    struct template_options options = {true, strict, find_self, source};
    text_puts(&out, "before");
    bool ok = template_render(&out, source, view, &options, &diags);
    if (ok == diag_failed(&diags) || memcmp(out.bytes, "before", 6) != 0 || (!ok && out.length != 6))
        abort();
    diag_render(&diags, &messages, false);
    text_free(&messages);
    text_free(&out);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *split = size == 0 ? NULL : memchr(data, 0xff, size);
    size_t length = split == NULL ? size : (size_t)(split - data);
    const char *bytes = size == 0 ? "" : (const char *)data;
    json_t *view = split == NULL ? read_view("", 0) : read_view(bytes + length + 1, size - length - 1);
    render(bytes, length, view, size % 2 != 0);
    json_decref(view);
    return 0;
}
