#include "report_drawing.h"

#include <inttypes.h>
#include <string.h>

#include "emit_show.h"
#include "request.h"
#include "view_put.h"

/* A line of 128 bytes is four sectors of 32, with a gap between them. */
enum {
    WIDTH = 580,
    LEFT = 70,
    BYTE = 3,
    GAP = 4,
    SECTOR_WIDTH = BYTE * SECTOR_BYTES + GAP,
    ROW = 17,
    BOX = 14,
    TEXT_LINE = 16,
    BASELINE = 11, /* of a text in a row */
    LANES_ROOM = 17,
    COLORS = 8
};

struct drawer {
    struct arena arena;
    const json_t *explain;
};

/* What is drawn so far of one panel. */
struct panel {
    json_t *view, *notes, *boxes, *labels, *keys;
    int y; /* where the next row begins */
};

static void add_label(struct panel *panel, int x, int y, const char *class, const char *text)
{
    json_t *label = json_object();
    put(label, "x", json_integer(x));
    put(label, "y", json_integer(y));
    put_text(label, "class", class);
    put_text(label, "text", text);
    add(panel->labels, label);
}

static json_t *add_box(struct panel *panel, int x, int y, int width, int height, const char *class)
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

static void add_note(struct panel *panel, const char *text)
{
    json_t *note = json_object();
    panel->y += TEXT_LINE;
    put(note, "y", json_integer(panel->y));
    put_text(note, "text", text);
    add(panel->notes, note);
}

static bool is_shared(const json_t *object)
{
    return strcmp(get_text(object, "space"), "shared") == 0;
}

/* ... of a run of bytes: "wanted c3", "wasted padding". */
static const char *run_class(struct drawer *drawer, const json_t *run)
{
    const json_t *color = json_object_get(run, "color");
    const char *use = get_text(run, "use");
    if (color != NULL)
        return arena_printf(&drawer->arena, "%s c%d", use, (int)(json_integer_value(color) % COLORS));
    return arena_printf(&drawer->arena, "%s %s", use,
                        strcmp(get_text(run, "field"), "outside") == 0 ? "outside" : "padding");
}

static const char *use_says(const char *use)
{
    if (strcmp(use, "wanted") == 0)
        return "wanted";
    if (strcmp(use, "carried") == 0)
        return "moved along in a wider piece";
    return strcmp(use, "others") == 0 ? "wanted by other requests of the access" : "wasted";
}

static void draw_run(struct drawer *drawer, struct panel *panel, const json_t *sector, const json_t *run)
{
    enum { LETTER_ROOM = 9 };
    const int64_t address = get_count(sector, "address"), from = get_count(run, "from");
    const int slot = (int)((address - get_count(sector, "line")) / SECTOR_BYTES);
    const int x = LEFT + slot * SECTOR_WIDTH + (int)from * BYTE, width = (int)get_count(run, "bytes") * BYTE;
    json_t *box = add_box(panel, x, panel->y, width, BOX, run_class(drawer, run));
    put_text(box, "says",
             arena_printf(&drawer->arena, "bytes %" PRId64 " to %" PRId64 ": %s, %s", address + from,
                          address + from + get_count(run, "bytes") - 1, get_text(run, "field"),
                          use_says(get_text(run, "use"))));
    if (width < LETTER_ROOM || json_object_get(run, "color") == NULL)
        return;
    put_text(box, "letter", get_text(run, "letter"));
    put(box, "letter_x", json_integer(x + width / 2));
    put(box, "letter_y", json_integer(panel->y + BASELINE));
}

/* The sectors of one line, and the lanes that touch it. */
static void draw_line(struct drawer *drawer, struct panel *panel, const json_t *sectors, int64_t line)
{
    const json_t *sector, *run;
    size_t i, j;
    uint32_t lanes = 0;
    json_array_foreach(sectors, i, sector)
    {
        if (get_count(sector, "line") != line)
            continue;
        const int slot = (int)((get_count(sector, "address") - line) / SECTOR_BYTES);
        lanes |= get_lanes(sector);
        json_array_foreach(json_object_get(sector, "runs"), j, run) draw_run(drawer, panel, sector, run);
        (void)add_box(panel, LEFT + slot * SECTOR_WIDTH, panel->y, SECTOR_WIDTH - GAP, BOX, "frame");
    }
    add_label(panel, LEFT - 8, panel->y + BASELINE, "number", arena_printf(&drawer->arena, "%" PRId64, line));
    add_label(panel, LEFT + 4 * SECTOR_WIDTH + 4, panel->y + BASELINE, "lanes",
              show_fit(&drawer->arena, show_lanes(&drawer->arena, lanes), LANES_ROOM));
    panel->y += ROW;
}

static void draw_key(struct drawer *drawer, struct panel *panel, const json_t *field)
{
    static const char *const uses[][2] = {{"wanted_bytes", "wanted"},
                                          {"carried_bytes", "moved along"},
                                          {"others_bytes", "wanted by the access's other requests"},
                                          {"wasted_bytes", "wasted"}};
    const char *says = "", *class = "wasted";
    for (size_t use = 4; use-- > 0;) {
        const int64_t bytes = get_count(field, uses[use][0]);
        if (bytes == 0)
            continue;
        const char *gap = says[0] == '\0' ? "" : ", ";
        says = arena_printf(&drawer->arena, "%s %s%s%s", show_plural(&drawer->arena, bytes, "byte"), uses[use][1], gap,
                            says);
        class = use == 0 ? "wanted" : use == 1 ? "carried" : use == 2 ? "others" : "wasted";
    }
    json_t *shown = json_object(), *key = json_object();
    put_text(shown, "use", class);
    put_text(shown, "field", get_text(field, "field"));
    if (json_object_get(field, "color") != NULL)
        put(shown, "color", json_incref(json_object_get(field, "color")));
    put(key, "y", json_integer(panel->y));
    put_text(key, "class", run_class(drawer, shown));
    if (json_object_get(field, "color") != NULL)
        put_text(key, "letter", get_text(field, "letter"));
    put_text(key, "name", get_text(field, "field"));
    put_text(key, "says", says);
    add(panel->keys, key);
    json_decref(shown);
    panel->y += ROW;
}

static void draw_sectors(struct drawer *drawer, struct panel *panel, const json_t *picture)
{
    const json_t *sectors = json_object_get(picture, "sectors_touched"), *sector, *field;
    int64_t last = -1, wanted = 0;
    size_t i;
    const int64_t moved = get_count(picture, "sectors") * SECTOR_BYTES;
    json_array_foreach(json_object_get(picture, "fields"), i, field) wanted += get_count(field, "wanted_bytes");
    add_note(panel, arena_printf(&drawer->arena, "%s of %s bytes in %s of %s are wanted: %.1f %%",
                                 show_count(&drawer->arena, wanted), show_count(&drawer->arena, moved),
                                 show_plural(&drawer->arena, get_count(picture, "sectors"), "sector"),
                                 show_plural(&drawer->arena, get_count(picture, "lines"), "line"),
                                 100.0 * (double)wanted / (double)moved));
    panel->y += ROW + BASELINE;
    add_label(panel, LEFT - 8, panel->y - 4, "number head", "address");
    for (int slot = 0; slot < 4; slot++)
        add_label(panel, LEFT + slot * SECTOR_WIDTH, panel->y - 4, "head",
                  arena_printf(&drawer->arena, "+%d", slot * SECTOR_BYTES));
    add_label(panel, LEFT + 4 * SECTOR_WIDTH + 4, panel->y - 4, "head", "lanes");
    json_array_foreach(sectors, i, sector)
    {
        if (get_count(sector, "line") != last)
            draw_line(drawer, panel, sectors, get_count(sector, "line"));
        last = get_count(sector, "line");
    }
    panel->y += 8;
    json_array_foreach(json_object_get(picture, "fields"), i, field) draw_key(drawer, panel, field);
}

/* A column a bank, as high as the words that are wanted of it: one wavefront a word. */
static void draw_pass(struct drawer *drawer, struct panel *panel, const json_t *pass)
{
    enum { BANK_WIDTH = 15, MOST_HIGH = 96, WORD_HIGH = 12 };
    const int64_t most = get_count(pass, "wavefronts");
    const int word = most * WORD_HIGH > MOST_HIGH ? (int)(MOST_HIGH / most) : WORD_HIGH;
    const json_t *bank;
    size_t i;
    panel->y += (int)most * word + ROW;
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        const int64_t words = get_count(bank, "words");
        const int x = LEFT + (int)i * BANK_WIDTH, height = (int)words * word;
        if (i % 8 == 0)
            add_label(panel, x, panel->y + BASELINE + 2, "head", arena_printf(&drawer->arena, "%zu", i));
        if (words == 0) {
            (void)add_box(panel, x, panel->y - 1, BANK_WIDTH - 2, 1, "frame");
            continue;
        }
        json_t *box = add_box(panel, x, panel->y - height, BANK_WIDTH - 2, height,
                              words == 1  ? "bank good"
                              : words < 5 ? "bank fair"
                                          : "bank poor");
        put_text(box, "says",
                 arena_printf(&drawer->arena, "bank %zu: %s, lanes %s", i, show_plural(&drawer->arena, words, "word"),
                              show_lanes(&drawer->arena, get_lanes(bank))));
        put_text(box, "letter", arena_printf(&drawer->arena, "%" PRId64, words));
        put(box, "letter_x", json_integer(x + BANK_WIDTH / 2 - 1));
        put(box, "letter_y", json_integer(panel->y - height - 3));
    }
    add_label(panel, LEFT - 8, panel->y + BASELINE + 2, "number head", "bank");
    panel->y += ROW;
}

static void draw_collisions(struct drawer *drawer, struct panel *panel, const json_t *pass)
{
    enum { SHOWN = 4, ROOM = 60 };
    const int64_t most = get_count(pass, "wavefronts");
    const json_t *bank;
    size_t i;
    int shown = 0;
    add_label(panel, LEFT, panel->y + BASELINE, "lanes",
              arena_printf(&drawer->arena, "lanes %s: %s",
                           show_fit(&drawer->arena, show_lanes(&drawer->arena, get_lanes(pass)), ROOM),
                           show_plural(&drawer->arena, most, "wavefront")));
    panel->y += ROW;
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        if (most < 2 || get_count(bank, "words") < most || shown++ >= SHOWN)
            continue;
        add_label(panel, LEFT, panel->y + BASELINE, "lanes",
                  arena_printf(&drawer->arena, "bank %zu: lanes %s collide", i,
                               show_fit(&drawer->arena, show_lanes(&drawer->arena, get_lanes(bank)), ROOM)));
        panel->y += ROW;
    }
    if (shown > SHOWN) {
        add_label(panel, LEFT, panel->y + BASELINE, "lanes",
                  arena_printf(&drawer->arena, "and so in %d more banks", shown - SHOWN));
        panel->y += ROW;
    }
}

static void draw_banks(struct drawer *drawer, struct panel *panel, const json_t *picture)
{
    const json_t *pass;
    size_t i;
    json_array_foreach(json_object_get(picture, "passes"), i, pass)
    {
        draw_pass(drawer, panel, pass);
        draw_collisions(drawer, panel, pass);
    }
}

static const char *panel_title(struct drawer *drawer, const json_t *group, const json_t *instruction)
{
    const char *phase = get_text(group, "phase"), *what = get_text(instruction, "what");
    const bool threads = strcmp(phase, "threads") == 0;
    const char *bytes = show_plural(&drawer->arena, get_count(instruction, "lane_bytes"), "byte");
    return arena_printf(&drawer->arena, "%s%s%s%s, %s a lane%s", threads ? get_text(group, "op") : phase,
                        get_bool(group, "tail") ? ", tail" : "", what[0] == '\0' ? "" : " ", what, bytes,
                        is_shared(group) ? ", in shared memory" : "");
}

static void note_costs(struct drawer *drawer, struct panel *panel, const json_t *instruction)
{
    const json_t *worst = json_object_get(instruction, "worst"), *typical = json_object_get(instruction, "typical");
    const char *unit = get_text(instruction, "cost_unit");
    const int64_t all = get_count(instruction, "instructions");
    const bool same = get_count(worst, "cost") == get_count(typical, "cost");
    if (get_count(worst, "requests") == all)
        add_note(panel, arena_printf(&drawer->arena, "%" PRId64 " %s in each of %s", get_count(worst, "cost"), unit,
                                     show_plural(&drawer->arena, all, "request")));
    else
        add_note(panel,
                 arena_printf(&drawer->arena, "%s %" PRId64 " %s, typical %" PRId64 " (%.1f %% of %s)",
                              same ? "worst" : "at worst", get_count(worst, "cost"), unit, get_count(typical, "cost"),
                              100.0 * (double)get_count(typical, "requests") / (double)all,
                              show_plural(&drawer->arena, all, "request")));
}

static json_t *draw_panel(struct drawer *drawer, const json_t *group, int y)
{
    const json_t *instruction =
        json_array_get(json_object_get(group, "instructions"), (size_t)get_count(group, "focus"));
    const json_t *picture = json_object_get(instruction, "picture");
    struct panel panel = {json_object(), json_array(), json_array(), json_array(), json_array(), TEXT_LINE};
    put(panel.view, "y", json_integer(y));
    put(panel.view, "title_y", json_integer(TEXT_LINE));
    put_text(panel.view, "title", panel_title(drawer, group, instruction));
    note_costs(drawer, &panel, instruction);
    if (json_is_object(picture)) {
        add_note(&panel, show_place(&drawer->arena, json_object_get(picture, "at")));
        if (is_shared(group))
            draw_banks(drawer, &panel, picture);
        else
            draw_sectors(drawer, &panel, picture);
    } else
        add_note(&panel, "the warp that was asked for has no such request");
    put(panel.view, "notes", panel.notes);
    put(panel.view, "boxes", panel.boxes);
    put(panel.view, "labels", panel.labels);
    put(panel.view, "keys", panel.keys);
    put(panel.view, "height", json_integer(panel.y));
    return panel.view;
}

json_t *report_drawing(const json_t *explain)
{
    enum { BETWEEN = 12 };
    struct drawer drawer = {.explain = explain};
    json_t *drawing = json_object(), *panels = json_array();
    const json_t *group;
    size_t i;
    int y = 0;
    json_array_foreach(json_object_get(explain, "groups"), i, group)
    {
        if (get_bool(group, "dull") || json_is_integer(json_object_get(group, "alike")))
            continue;
        json_t *panel = draw_panel(&drawer, group, y);
        y += (int)get_count(panel, "height") + BETWEEN;
        add(panels, panel);
    }
    put(drawing, "width", json_integer(WIDTH));
    put(drawing, "height", json_integer(y));
    put(drawing, "panels", panels);
    arena_free(&drawer.arena);
    return drawing;
}
