#include "rows.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

char *rows_read_file(struct arena *arena, const char *path)
{
    const char *reason = "";
    struct source *source = NULL;
    if (source_read(&source, arena, path, &reason) != SOURCE_OK)
        ck_abort_msg("%s: %s", path, reason);
    return arena_copy(arena, source->bytes, source->length);
}

bool rows_next(char **text, char *columns[ROW_COLUMNS_MAX])
{
    if (**text == '\0')
        return false;
    char *end = strchr(*text, '\n');
    char *at = *text;
    *text = end == NULL ? at + strlen(at) : end + 1;
    if (end != NULL)
        *end = '\0';
    for (size_t c = 0; c < ROW_COLUMNS_MAX; c++) {
        columns[c] = at;
        char *comma = strchr(at, ',');
        if (comma == NULL) {
            at += strlen(at);
            continue;
        }
        *comma = '\0';
        at = comma + 1;
    }
    return true;
}

uint64_t rows_number(const char *text)
{
    return strtoull(text, NULL, 10);
}

void rows_write_layout(struct text *out, char *const row[], uint64_t records)
{
    bool gather = strcmp(row[LAYOUTS_TRAFFIC], "gather") == 0;
    text_puts(out, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"row\">\n<struct name=\"Record\">\n");
    for (uint64_t f = 0; f < rows_number(row[LAYOUTS_FIELDS]); f++)
        text_printf(out, "<field name=\"f%" PRIu64 "\" type=\"float\"/>\n", f);
    text_printf(out, "</struct>\n<param name=\"N\" value=\"%" PRIu64 "\"/>\n", records);
    text_puts(
        out,
        "<array name=\"data\" of=\"Record\" extent=\"N\"/>\n<kernel name=\"run\" block=\"256\" grid=\"N / 256\">\n");
    if (gather)
        text_puts(out, "<let name=\"h\" value=\"(thread * 2654435761) &amp; (N - 1)\"/>\n");
    text_printf(out, "<%s array=\"data\" field=\"", row[LAYOUTS_MODE]);
    for (uint64_t f = 0; f < rows_number(row[LAYOUTS_USED]); f++)
        text_printf(out, "%sf%" PRIu64, f > 0 ? " " : "", f);
    text_printf(out, "\" index=\"%s\"/>\n</kernel>\n</layout>\n",
                gather ? "((h ^ (h >> 9)) * 2654435761) &amp; (N - 1)" : "thread");
}
