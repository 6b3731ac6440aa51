/* Reads the measured rows of tests/data, and writes those of h200-layouts.csv as descriptions. */
#ifndef SW_ROWS_H
#define SW_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "text.h"

enum { ROW_COLUMNS_MAX = 24 };

/* The columns of h200-layouts.csv. */
enum layouts_column {
    LAYOUTS_FIELDS,
    LAYOUTS_USED,
    LAYOUTS_MODE,
    LAYOUTS_TRAFFIC,
    LAYOUTS_CANDIDATE,
    LAYOUTS_RECORDS, /* of the counters: 128 MiB */
    LAYOUTS_READ_SECTORS,
    LAYOUTS_WRITE_SECTORS,
    LAYOUTS_READ_REQUESTS,
    LAYOUTS_WRITE_REQUESTS,
    LAYOUTS_HIT_SECTORS,
    LAYOUTS_L2_READ_SECTORS,
    LAYOUTS_L2_WRITE_SECTORS,
    LAYOUTS_DRAM_READ_SECTORS,
    LAYOUTS_DRAM_WRITE_SECTORS,
    LAYOUTS_WAVEFRONTS,
    LAYOUTS_SHARED_WAVEFRONTS,
    LAYOUTS_US_PROFILED,
    LAYOUTS_RECORDS_512,
    LAYOUTS_US_512,
    LAYOUTS_RECORDS_16,
    LAYOUTS_US_16
};

enum { LAYOUTS_ROWS = 514 };

/* The whole file in the arena, with a NUL behind it; the test fails where it cannot be read. */
char *rows_read_file(struct arena *arena, const char *path);

/* Cuts the next line off *text and at its commas. False at the end. */
bool rows_next(char **text, char *columns[ROW_COLUMNS_MAX]);

uint64_t rows_number(const char *text);

/* The row as a description of `records`: `used` of `fields` floats, thread i on record i or on a hashed one. */
void rows_write_layout(struct text *out, char *const row[], uint64_t records);

#endif
