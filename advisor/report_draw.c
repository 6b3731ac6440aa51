#include "report_draw.h"

#include "view_put.h"

enum { TEXT_LINE = 16, BETWEEN = 12 };

struct drawing draw_start(void)
{
    return (struct drawing){.panels = json_array()};
}

json_t *draw_end(struct drawing *drawing)
{
    json_t *view = json_object();
    put(view, "width", json_integer(DRAW_WIDTH));
    put(view, "height", json_integer(drawing->y));
    put(view, "panels", drawing->panels);
    return view;
}

struct draw_panel draw_panel_start(const char *title)
{
    struct draw_panel panel = {json_object(), json_array(), json_array(), json_array(), json_array(), TEXT_LINE};
    put_text(panel.view, "title", title);
    put(panel.view, "title_y", json_integer(TEXT_LINE - 2));
    return panel;
}

void draw_panel_end(struct drawing *drawing, struct draw_panel *panel)
{
    put(panel->view, "y", json_integer(drawing->y));
    put(panel->view, "height", json_integer(panel->y));
    put(panel->view, "notes", panel->notes);
    put(panel->view, "boxes", panel->boxes);
    put(panel->view, "labels", panel->labels);
    put(panel->view, "keys", panel->keys);
    add(drawing->panels, panel->view);
    drawing->y += panel->y + BETWEEN;
}

void draw_note(struct draw_panel *panel, const char *text)
{
    json_t *note = json_object();
    panel->y += TEXT_LINE;
    put(note, "y", json_integer(panel->y - 2));
    put_text(note, "text", text);
    add(panel->notes, note);
}

void draw_label(struct draw_panel *panel, int x, int y, const char *class, const char *text)
{
    json_t *label = json_object();
    put(label, "x", json_integer(x));
    put(label, "y", json_integer(y));
    put_text(label, "class", class);
    put_text(label, "text", text);
    add(panel->labels, label);
}

json_t *draw_box(struct draw_panel *panel, int x, int y, int width, int height, const char *class)
{
    json_t *box = json_object();
    put(box, "x", json_integer(x));
    put(box, "y", json_integer(y));
    put(box, "width", json_integer(width));
    put(box, "height", json_integer(height));
    put_text(box, "class", class);
    add(panel->boxes, box);
    return box;
}

void draw_letter(json_t *box, int x, int y, const char *letter)
{
    put_text(box, "letter", letter);
    put(box, "letter_x", json_integer(x));
    put(box, "letter_y", json_integer(y));
}
