/* Takes boxes and texts with their places, gives the tree that templates/explain_panels.mustache draws. */
#ifndef SW_REPORT_DRAW_H
#define SW_REPORT_DRAW_H

#include <jansson.h>

/* In pixels. A row holds boxes of height DRAW_BOX, and texts whose base line is DRAW_BASELINE below its top. */
enum { DRAW_WIDTH = 580, DRAW_LEFT = 70, DRAW_ROW = 17, DRAW_BOX = 14, DRAW_BASELINE = 11, DRAW_COLORS = 8 };

struct drawing {
    json_t *panels;
    int y;
};

/* Places in a panel count from its top left. */
struct draw_panel {
    json_t *view, *notes, *boxes, *labels, *keys;
    int y; /* where the next row begins */
};

struct drawing draw_start(void);
/* The whole, which the caller frees. */
json_t *draw_end(struct drawing *drawing);

struct draw_panel draw_panel_start(const char *title);
/* Puts the panel below those before it. */
void draw_panel_end(struct drawing *drawing, struct draw_panel *panel);

/* A line of text under the title. */
void draw_note(struct draw_panel *panel, const char *text);
void draw_label(struct draw_panel *panel, int x, int y, const char *class, const char *text);
/* Gives the box, which the panel owns, for "says", its tip, and draw_letter. */
json_t *draw_box(struct draw_panel *panel, int x, int y, int width, int height, const char *class);
void draw_letter(json_t *box, int x, int y, const char *letter);

#endif
