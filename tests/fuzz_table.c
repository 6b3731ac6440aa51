/* Fuzzes tables: the input is a table's numbers, once in a file of its own and once as text of the element. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "check.h"
#include "diag.h"
#include "fuzz_device.h"
#include "read.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct arena *arena, const char *text, size_t length)
{
    struct diags diags = {.arena = arena};
    const struct source *source = source_from_bytes(arena, "table.xml", text, length);
    struct spec *spec = read_spec(arena, source, &diags);
    bool read = !diag_failed(&diags);
    bool good = spec != NULL && check_spec(spec, arena, &fuzz_device, NULL, 0, &diags);
    if (good == diag_failed(&diags) || (spec == NULL && read))
        abort();
    struct text messages = {0};
    diag_render(&diags, &messages, false);
    text_free(&messages);
}

static void check_file(struct arena *arena, const uint8_t *data, size_t size, unsigned extent)
{
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(arena, "%s/fuzz_table_XXXXXX", folder == NULL ? "/tmp" : folder);
    int file = mkstemp(path);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0)
        abort();
    const char *text = arena_printf(arena,
                                    "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"x\">"
                                    "<table name=\"t\" extent=\"%u\" file=\"%s\"/></layout>",
                                    extent, path);
    check_text(arena, text, strlen(text));
    (void)unlink(path);
}

static void check_content(struct arena *arena, const uint8_t *data, size_t size, unsigned extent)
{
    struct text text = {0};
    text_printf(&text, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"x\"><table name=\"t\" extent=\"%u\">", extent);
    text_append(&text, (const char *)data, size);
    text_puts(&text, "</table></layout>");
    check_text(arena, text_string(&text), text.length);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    if (size == 0)
        return 0;
    unsigned extent = data[0];
    check_file(&arena, data + 1, size - 1, extent);
    check_content(&arena, data + 1, size - 1, extent);
    arena_free(&arena);
    return 0;
}
