#include "ncu_csv.h"

#include <string.h>

enum { COLUMNS_MAX = 20000 };

struct line {
    const struct source *source;
    size_t from, to; /* without the line break */
    size_t next;     /* where the next one begins */
};

/* ---- fields ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The end of the field that begins at `at`: a separator outside quotes, or the end of the line. Quotes in quotes are
 * doubled. */
static size_t field_end(const struct line *line, size_t at, char separator)
{
    const char *bytes = line->source->bytes;
    bool quoted = false;
    while (at < line->to && (quoted || bytes[at] != separator)) {
        quoted ^= bytes[at] == '"';
        at++;
    }
    return at;
}

static struct csv_field make_field(const struct line *line, size_t from, size_t to, struct arena *arena)
{
    const char *bytes = line->source->bytes;
    while (from < to && is_blank(bytes[from]))
        from++;
    while (to > from && is_blank(bytes[to - 1]))
        to--;
    struct csv_field field = {.where = {line->source, from, to - from}};
    if (to - from >= 2 && bytes[from] == '"' && bytes[to - 1] == '"') {
        from++;
        to--;
    }
    char *text = arena_copy(arena, bytes + from, to - from), *end = text;
    for (const char *c = text; c < text + (to - from); c++) {
        *end++ = *c;
        c += c[0] == '"' && c[1] == '"';
    }
    *end = '\0';
    field.text = text;
    return field;
}

static size_t count_fields(const struct line *line, char separator)
{
    size_t count = 1;
    for (size_t at = field_end(line, line->from, separator); at < line->to; at = field_end(line, at + 1, separator))
        count++;
    return count;
}

static struct csv_field *split(const struct line *line, char separator, size_t count, struct arena *arena)
{
    struct csv_field *fields = arena_array(arena, count, sizeof(*fields));
    size_t at = line->from;
    for (size_t i = 0; i < count; i++) {
        size_t end = field_end(line, at, separator);
        fields[i] = make_field(line, at, end, arena);
        at = end + 1;
    }
    return fields;
}

/* ---- lines ---- */

static bool next_line(struct line *line)
{
    const struct source *source = line->source;
    if (line->next >= source->length)
        return false;
    line->from = line->next;
    const char *end = memchr(source->bytes + line->from, '\n', source->length - line->from);
    line->to = end == NULL ? source->length : (size_t)(end - source->bytes);
    line->next = line->to + 1;
    return true;
}

static bool holds(const struct line *line, const char *word, size_t *place)
{
    const char *at = line->source->bytes + line->from, *end = line->source->bytes + line->to;
    size_t length = strlen(word);
    while ((size_t)(end - at) >= length && (at = memchr(at, word[0], (size_t)(end - at) - length + 1)) != NULL) {
        *place = (size_t)(at - line->source->bytes);
        if (memcmp(at, word, length) == 0)
            return true;
        at++;
    }
    return false;
}

/* A line of titles, from its "ID" on: a program may leave its last line unfinished before it. */
static bool is_heading(struct line *line)
{
    size_t id, place;
    if (!holds(line, "Kernel Name", &place) || !(holds(line, "\"ID\"", &id) || holds(line, "ID", &id)) || id > place)
        return false;
    line->from = id;
    return true;
}

bool csv_find(const struct csv_table *table, const char *title)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->titles[i].text, title) == 0)
            return true;
    return false;
}

static bool start_table(struct csv *csv, const struct line *line, struct arena *arena)
{
    static const char separators[] = ",;\t";
    for (const char *separator = separators; *separator != '\0'; separator++) {
        struct csv_table table = {.where = {line->source, line->from, line->to - line->from}, .separator = *separator};
        table.column_count = count_fields(line, *separator);
        if (table.column_count > COLUMNS_MAX)
            continue;
        table.titles = split(line, *separator, table.column_count, arena);
        if (!csv_find(&table, "ID") || !csv_find(&table, "Kernel Name"))
            continue;
        csv->tables = arena_grow(arena, csv->tables, csv->table_count, &csv->table_capacity, sizeof(*csv->tables));
        csv->tables[csv->table_count++] = table;
        return true;
    }
    return false;
}

/* ---- rows ---- */

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Whether a line that has not the table's number of fields was meant to be a row: it begins as rows of this table do.
 */
static bool is_broken(const struct csv_table *table, const struct line *line, size_t fields, struct arena *arena)
{
    const char *bytes = line->source->bytes;
    size_t end = field_end(line, line->from, table->separator);
    bool quotes = bytes[table->where.offset] == '"';
    if (quotes != (bytes[line->from] == '"') || (!quotes && fields < table->column_count / 2) || fields < 2)
        return false;
    return is_number(make_field(line, line->from, end, arena).text);
}

static void take_row(struct csv_table *table, const struct line *line, struct arena *arena, struct diags *diags)
{
    size_t count = count_fields(line, table->separator);
    struct span where = {line->source, line->from, line->to - line->from};
    if (count != table->column_count) {
        if (!is_broken(table, line, count, arena))
            return;
        diag_error(diags, "ncu-row", where, "the row has %zu fields, its table %zu", count, table->column_count);
        diag_note(diags, "was the file cut short, or did the program write into it?");
        return;
    }
    struct csv_field *fields = split(line, table->separator, count, arena);
    size_t id = 0;
    while (strcmp(table->titles[id].text, "ID") != 0)
        id++;
    if (fields[id].text[0] == '\0' && table->row_count == 0)
        table->units = fields;
    if (!is_number(fields[id].text))
        return;
    table->rows = arena_grow(arena, table->rows, table->row_count, &table->row_capacity, sizeof(*table->rows));
    table->rows[table->row_count++] = (struct csv_row){fields, where};
}

void csv_read(struct csv *out, const struct source *source, struct arena *arena, struct diags *diags)
{
    struct line line = {.source = source};
    *out = (struct csv){0};
    while (next_line(&line)) {
        if (is_heading(&line) && start_table(out, &line, arena))
            continue;
        if (out->table_count > 0 && line.from < line.to)
            take_row(&out->tables[out->table_count - 1], &line, arena, diags);
    }
}
