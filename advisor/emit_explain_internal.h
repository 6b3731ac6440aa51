/* What the rooms of the terminal's picture share: how places, lanes and amounts are said. */
#ifndef SW_EMIT_EXPLAIN_INTERNAL_H
#define SW_EMIT_EXPLAIN_INTERNAL_H

#include <stdint.h>

#include "arena.h"
#include "emit_explain.h"
#include "emit_show.h"
#include "emit_table.h"
#include "request.h"

struct painter {
    struct text *out;
    struct arena arena;
    const json_t *view;
    struct explain_style style;
};

/* "1 line", "1,024 lines" */
const char *say_plural(struct painter *painter, int64_t count, const char *noun);
/* "0-3 8 12-15" */
const char *say_lanes(struct painter *painter, uint32_t lanes);
/* The bits of a key "lanes" that lists numbers. */
uint32_t get_lanes(const json_t *object);
/* As much of a list as there is room for, "..." at its end where that is not all. */
const char *fit(struct painter *painter, const char *list, size_t room);
void print_separator(struct painter *painter);
/* Takes blanks from the end of what was written. */
void trim_line(struct painter *painter);

/* emit_explain_sectors.c: the bytes that a request to global memory moves, line by line, and whose they are. */
void print_sectors(struct painter *painter, const json_t *instruction, const json_t *picture);
/* emit_explain_banks.c: the banks that a request to shared memory wants words of, and the lanes that collide. */
void print_banks(struct painter *painter, const json_t *picture);

#endif
