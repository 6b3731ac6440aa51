/* What the rooms of the terminal's picture share: how places, lanes and amounts are said. */
#ifndef SW_EMIT_EXPLAIN_INTERNAL_H
#define SW_EMIT_EXPLAIN_INTERNAL_H

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

void print_separator(struct painter *painter);
/* Takes blanks from the end of what was written. */
void trim_line(struct painter *painter);

/* emit_explain_sectors.c: the bytes that a request to global memory moves, line by line, and whose they are. */
void print_sectors(struct painter *painter, const json_t *instruction, const json_t *picture);
/* emit_explain_banks.c: the banks that a request to shared memory wants words of, and the lanes that collide. */
void print_banks(struct painter *painter, const json_t *picture);

#endif
