/* Takes columns and cells, gives an aligned table that fits a width. */
#ifndef SW_EMIT_TABLE_H
#define SW_EMIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "text.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

/* Sense rather than shade: the table knows the colours. */
enum table_paint { PAINT_NONE, PAINT_TITLE, PAINT_GOOD, PAINT_FAIR, PAINT_POOR };

struct table_column {
    const char *title;
    enum table_align align;
    unsigned rank; /* where the table is too wide, the columns of the highest rank go first; 0: never */
};

struct table_cell {
    const char *text;
    enum table_paint paint;
};

enum { TABLE_COLUMNS_MAX = 24 };

/* Zero-initialise with an arena, which must outlive it. First all columns, then the cells, row by row. Columns past
 * TABLE_COLUMNS_MAX, and their cells, must not be given. */
struct emit_table {
    struct arena *arena;
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t column_count;
    struct table_cell *cells;
    size_t cell_count, cell_capacity;
};

void table_column(struct emit_table *table, const char *title, enum table_align align, unsigned rank);
/* `text` must outlive the table. */
void table_cell(struct emit_table *table, enum table_paint paint, const char *text);
/* As table_cell, formatted into the arena. */
void table_printf(struct emit_table *table, enum table_paint paint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the table, two blanks before each line, within `width` columns where leaving out columns can do it. A column
 * without any text in its cells is left out too. */
void table_print(const struct emit_table *table, struct text *out, size_t width, bool color);

/* Appends `text` in its colour. */
void table_paint(struct text *out, enum table_paint paint, bool color, const char *text);

#endif
