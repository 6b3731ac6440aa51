/* Takes a text in which tables of comma-separated values stand among other lines, gives the tables of kernels. */
#ifndef SW_NCU_CSV_H
#define SW_NCU_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

struct csv_field {
    const char *text;  /* without quotes and blanks around it; in the arena */
    struct span where; /* as it stands in the file, quotes included */
};

struct csv_row {
    struct csv_field *fields; /* as many as the table has columns */
    struct span where;        /* its line */
};

struct csv_table {
    struct csv_field *titles, *units; /* units NULL: there is no such row */
    size_t column_count;
    struct csv_row *rows;
    size_t row_count, row_capacity;
    struct span where; /* the line of titles */
    char separator;    /* ',' ';' or a tabulator */
};

struct csv {
    struct csv_table *tables;
    size_t table_count, table_capacity;
};

/* A table begins at a line that holds the titles "ID" and "Kernel Name"; a row without an ID right after it holds
 * units; rows begin with a number. Every other line is passed over, except one that begins as a row does and ends too
 * soon or too late [ncu-row]. */
void csv_read(struct csv *out, const struct source *source, struct arena *arena, struct diags *diags);

bool csv_find(const struct csv_table *table, const char *title);

#endif
