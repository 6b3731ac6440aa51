#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest stretch of a source line that is quoted; a one-line file of megabytes must stay readable. */
enum { QUOTED_MAX = 160 };

static char *format_arguments(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        abort();
    char *message = arena_alloc(arena, (size_t)length + 1);
    (void)vsnprintf(message, (size_t)length + 1, format, again);
    va_end(again);
    return message;
}

static void diag_add(struct diags *diags, struct diag item)
{
    if (item.severity == DIAG_ERROR)
        diags->error_count++;
    if (diags->count >= DIAG_MAX)
        return;
    diags->items = arena_grow(diags->arena, diags->items, diags->count, &diags->capacity, sizeof(*diags->items));
    diags->items[diags->count++] = item;
}

void diag_error(struct diags *diags, const char *id, struct span where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = format_arguments(diags->arena, format, arguments);
    va_end(arguments);
    diag_add(diags, (struct diag){DIAG_ERROR, id, message, NULL, where});
}

void diag_warning(struct diags *diags, const char *id, struct span where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = format_arguments(diags->arena, format, arguments);
    va_end(arguments);
    diag_add(diags, (struct diag){DIAG_WARNING, id, message, NULL, where});
}

void diag_note(struct diags *diags, const char *format, ...)
{
    if (diags->count == 0 || diags->error_count > DIAG_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    diags->items[diags->count - 1].note = format_arguments(diags->arena, format, arguments);
    va_end(arguments);
}

void diag_unreadable(struct diags *diags, const char *path, const char *reason)
{
    struct source *source = arena_alloc(diags->arena, sizeof(*source));
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    *source = (struct source){.name = arena_copy(diags->arena, name, strlen(name))};
    diag_error(diags, "unreadable-file", (struct span){.source = source}, "cannot read '%s': %s", name, reason);
}

void diag_append(struct diags *diags, const struct diags *more)
{
    for (size_t i = 0; i < more->count; i++) {
        diags->items = arena_grow(diags->arena, diags->items, diags->count, &diags->capacity, sizeof(*diags->items));
        diags->items[diags->count++] = more->items[i];
    }
    diags->error_count += more->error_count;
}

/* How many bytes there are up to the next column, and whether they are a character that may be shown. */
static size_t next_column(bool *shown, const char *bytes, size_t length)
{
    uint32_t character;
    size_t step = text_decode_utf8(&character, bytes, length);
    *shown = step > 0 && character >= 0x20 && (character < 0x7f || character > 0x9f);
    return step > 0 ? step : 1;
}

/* Bytes of strangers go to a terminal: control characters, and what is not UTF-8, become '?', so that no escape
 * sequence gets through. Tabs become one blank, which keeps the caret under its character. */
static void append_visible(struct text *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        bool shown;
        size_t step = next_column(&shown, bytes + i, length - i);
        if (shown)
            text_append(out, bytes + i, step);
        else
            text_putc(out, bytes[i] == '\t' ? ' ' : '?');
        i += step;
    }
}

static void append_columns(struct text *out, char mark, const char *bytes, size_t length)
{
    bool shown;
    for (size_t i = 0; i < length; i += next_column(&shown, bytes + i, length - i))
        text_putc(out, mark);
}

static void render_place(struct text *out, const struct diag *item, const struct source_position *at)
{
    if (item->where.source == NULL) {
        text_puts(out, "sectorwise: ");
        return;
    }
    append_visible(out, item->where.source->name, strlen(item->where.source->name));
    text_printf(out, ":%zu:%zu: ", at->line, at->column);
}

static void render_quote(struct text *out, const struct diag *item, const struct source_position *at, bool color)
{
    size_t from = at->line_start;
    size_t column = at->column - 1;
    if (column > QUOTED_MAX / 2) {
        from += column - QUOTED_MAX / 2;
        column = QUOTED_MAX / 2;
    }
    const char *bytes = item->where.source->bytes;
    /* The window does not begin within a character. */
    while (column > 0 && from > at->line_start && ((unsigned char)bytes[from] & 0xc0) == 0x80) {
        from++;
        column--;
    }
    size_t length = at->line_end > from ? at->line_end - from : 0;
    if (length > QUOTED_MAX)
        length = QUOTED_MAX;
    if (column > length)
        column = length;
    size_t marked = item->where.length < length - column ? item->where.length : length - column;
    bool shown;
    size_t first = marked > 0 ? next_column(&shown, bytes + from + column, marked) : 0;
    text_printf(out, "%5zu | ", at->line);
    append_visible(out, bytes + from, length);
    text_puts(out, "\n      | ");
    append_columns(out, ' ', bytes + from, column);
    text_puts(out, color ? "\033[1;32m^" : "^");
    append_columns(out, '~', bytes + from + column + first, marked - first);
    text_puts(out, color ? "\033[0m\n" : "\n");
}

static void render_one(struct text *out, const struct diag *item, bool color)
{
    struct source_position at = {0};
    if (item->where.source != NULL)
        at = source_locate(item->where.source, item->where.offset);
    const char *word = item->severity == DIAG_ERROR ? "error: " : "warning: ";
    const char *word_color = item->severity == DIAG_ERROR ? "\033[1;31m" : "\033[1;35m";
    render_place(out, item, &at);
    if (color)
        text_puts(out, word_color);
    text_puts(out, word);
    if (color)
        text_puts(out, "\033[0m");
    append_visible(out, item->message, strlen(item->message));
    text_printf(out, " [%s]\n", item->id);
    if (item->where.source != NULL && item->where.source->bytes != NULL)
        render_quote(out, item, &at, color);
    if (item->note == NULL)
        return;
    render_place(out, item, &at);
    text_puts(out, color ? "\033[1;36mnote: \033[0m" : "note: ");
    append_visible(out, item->note, strlen(item->note));
    text_putc(out, '\n');
}

void diag_render(const struct diags *diags, struct text *out, bool color)
{
    for (size_t i = 0; i < diags->count; i++)
        render_one(out, &diags->items[i], color);
    size_t kept = 0;
    for (size_t i = 0; i < diags->count; i++)
        kept += diags->items[i].severity == DIAG_ERROR;
    if (diags->error_count > kept)
        text_printf(out, "sectorwise: %zu more errors\n", diags->error_count - kept);
}
