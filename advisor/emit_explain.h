/* Takes the view of `explain`, gives the picture that a terminal shows. Reads, computes nothing. */
#ifndef SW_EMIT_EXPLAIN_H
#define SW_EMIT_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum { EXPLAIN_WIDTH = 80, EXPLAIN_WIDTH_LANES = 132 };

struct explain_style {
    size_t width; /* columns, from EXPLAIN_WIDTH on; from EXPLAIN_WIDTH_LANES on bytes are shown with their lane */
    bool color;
    bool unicode; /* lines and bars drawn with box characters; else all is ASCII */
};

/* Appends a table of the access's instructions, where they cost most and where what is usual, and the picture of one
 * request of each group. */
void emit_explain(struct text *out, const json_t *view, const struct explain_style *style);

#endif
