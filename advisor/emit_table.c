#include "emit_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, GAP = 2 };

void table_column(struct emit_table *table, const char *title, enum table_align align, unsigned rank)
{
    if (table->column_count < TABLE_COLUMNS_MAX)
        table->columns[table->column_count++] = (struct table_column){title, align, rank};
}

void table_cell(struct emit_table *table, enum table_paint paint, const char *text)
{
    table->cells =
        arena_grow(table->arena, table->cells, table->cell_count, &table->cell_capacity, sizeof(*table->cells));
    table->cells[table->cell_count++] = (struct table_cell){text, paint};
}

void table_printf(struct emit_table *table, enum table_paint paint, const char *format, ...)
{
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
    table_cell(table, paint, arena_copy(table->arena, buffer, strlen(buffer)));
}

/* Characters, not bytes. */
static size_t shown_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The width of each column; 0 for one that says nothing. */
static void measure(const struct emit_table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    for (size_t column = 0; column < table->column_count; column++) {
        widths[column] = 0;
        for (size_t cell = column; cell < table->cell_count; cell += table->column_count) {
            size_t width = shown_width(table->cells[cell].text);
            if (width > widths[column])
                widths[column] = width;
        }
        size_t title = shown_width(table->columns[column].title);
        if (widths[column] > 0 && title > widths[column])
            widths[column] = title;
    }
}

static size_t total_width(const struct emit_table *table, const size_t widths[TABLE_COLUMNS_MAX])
{
    size_t total = INDENT;
    for (size_t column = 0; column < table->column_count; column++)
        total += widths[column] > 0 ? widths[column] + GAP : 0;
    return total > INDENT ? total - GAP : total;
}

/* Leaves out columns, those of the highest rank first, from the right, until the table fits. */
static void narrow(const struct emit_table *table, size_t widths[TABLE_COLUMNS_MAX], size_t width)
{
    while (total_width(table, widths) > width) {
        size_t victim = table->column_count;
        for (size_t column = 0; column < table->column_count; column++) {
            if (widths[column] == 0 || table->columns[column].rank == 0)
                continue;
            if (victim == table->column_count || table->columns[column].rank >= table->columns[victim].rank)
                victim = column;
        }
        if (victim == table->column_count)
            return;
        widths[victim] = 0;
    }
}

void table_paint(struct text *out, enum table_paint paint, bool color, const char *text)
{
    const char *code = NULL;
    switch (paint) {
    case PAINT_NONE:
        break;
    case PAINT_TITLE:
        code = "\033[1m";
        break;
    case PAINT_GOOD:
        code = "\033[32m";
        break;
    case PAINT_FAIR:
        code = "\033[33m";
        break;
    case PAINT_POOR:
        code = "\033[31m";
        break;
    }
    if (!color || code == NULL) {
        text_puts(out, text);
        return;
    }
    text_puts(out, code);
    text_puts(out, text);
    text_puts(out, "\033[0m");
}

/* Blanks are owed, not written, until something follows them: no line ends in blanks. */
static void print_cell(struct text *out, size_t *owed, const struct table_cell *cell, enum table_align align,
                       size_t width, bool color)
{
    size_t rest = width - shown_width(cell->text);
    if (align == TABLE_RIGHT)
        *owed += rest;
    if (cell->text[0] != '\0') {
        text_repeat(out, ' ', *owed);
        *owed = 0;
        table_paint(out, cell->paint, color, cell->text);
    } else
        *owed += shown_width(cell->text);
    *owed += GAP;
    if (align == TABLE_LEFT)
        *owed += rest;
}

void table_print(const struct emit_table *table, struct text *out, size_t width, bool color)
{
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, widths);
    narrow(table, widths, width);
    size_t owed = INDENT;
    for (size_t column = 0; column < table->column_count; column++) {
        struct table_cell title = {table->columns[column].title, PAINT_TITLE};
        if (widths[column] > 0)
            print_cell(out, &owed, &title, table->columns[column].align, widths[column], color);
    }
    text_putc(out, '\n');
    for (size_t first = 0; first + table->column_count <= table->cell_count; first += table->column_count) {
        owed = INDENT;
        for (size_t column = 0; column < table->column_count; column++)
            if (widths[column] > 0)
                print_cell(out, &owed, &table->cells[first + column], table->columns[column].align, widths[column],
                           color);
        text_putc(out, '\n');
    }
}
