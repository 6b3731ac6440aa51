#include "report_drawing.h"

#include <inttypes.h>
#include <string.h>

#include "emit_show.h"
#include "report_draw.h"
#include "request.h"
#include "view_put.h"

/* A line of 128 bytes is four sectors of 32, with a gap between them. */
enum { BYTE = 3, GAP = 4, SECTOR_WIDTH = BYTE * SECTOR_BYTES + GAP, LANES_ROOM = 17, KEY_ROOM = 22, TITLE_ROOM = 36 };

struct drawer {
    struct arena arena;
    const json_t *explain;
};

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
        return arena_printf(&drawer->arena, "%s c%d", use, (int)(json_integer_value(color) % DRAW_COLORS));
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

static void draw_run(struct drawer *drawer, struct draw_panel *panel, const json_t *sector, const json_t *run)
{
    enum { LETTER_ROOM = 9 };
    const int64_t address = get_count(sector, "address"), from = get_count(run, "from");
    const int slot = (int)((address - get_count(sector, "line")) / SECTOR_BYTES);
    const int x = DRAW_LEFT + slot * SECTOR_WIDTH + (int)from * BYTE, width = (int)get_count(run, "bytes") * BYTE;
    json_t *box = draw_box(panel, x, panel->y, width, DRAW_BOX, run_class(drawer, run));
    put_text(box, "says",
             arena_printf(&drawer->arena, "bytes %" PRId64 " to %" PRId64 ": %s, %s", address + from,
                          address + from + get_count(run, "bytes") - 1, get_text(run, "field"),
                          use_says(get_text(run, "use"))));
    if (width < LETTER_ROOM || json_object_get(run, "color") == NULL)
        return;
    draw_letter(box, x + width / 2, panel->y + DRAW_BASELINE, get_text(run, "letter"));
}

/* The sectors of one line, and the lanes that touch it. */
static void draw_line(struct drawer *drawer, struct draw_panel *panel, const json_t *sectors, int64_t line)
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
        json_array_foreach(json_object_get(sector, "runs"), j, run)
        {
            draw_run(drawer, panel, sector, run);
        }

        (void)draw_box(panel, DRAW_LEFT + slot * SECTOR_WIDTH, panel->y, SECTOR_WIDTH - GAP, DRAW_BOX, "frame");
    }
    draw_label(panel, DRAW_LEFT - 8, panel->y + DRAW_BASELINE, "number",
               arena_printf(&drawer->arena, "%" PRId64, line));
    draw_label(panel, DRAW_LEFT + 4 * SECTOR_WIDTH + 4, panel->y + DRAW_BASELINE, "lanes",
               show_fit(&drawer->arena, show_lanes(&drawer->arena, lanes), LANES_ROOM));
    panel->y += DRAW_ROW;
}

static void draw_key(struct drawer *drawer, struct draw_panel *panel, const json_t *field)
{
    static const char *const uses[][2] = {{"wanted_bytes", "wanted"},
                                          {"carried_bytes", "moved along"},
                                          {"others_bytes", "by its other requests"},
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
    put_text(key, "name", show_name(&drawer->arena, get_text(field, "field"), KEY_ROOM));
    put_text(key, "says", says);
    add(panel->keys, key);
    json_decref(shown);
    panel->y += DRAW_ROW;
}

static void draw_sectors(struct drawer *drawer, struct draw_panel *panel, const json_t *picture)
{
    const json_t *sectors = json_object_get(picture, "sectors_touched"), *sector, *field;
    int64_t last = -1, wanted = 0;
    size_t i;
    const int64_t moved = get_count(picture, "sectors") * SECTOR_BYTES;
    json_array_foreach(json_object_get(picture, "fields"), i, field)
    {
        wanted += get_count(field, "wanted_bytes");
    }

    draw_note(panel, arena_printf(&drawer->arena, "%s of %s bytes in %s of %s are wanted: %.1f %%",
                                  show_count(&drawer->arena, wanted), show_count(&drawer->arena, moved),
                                  show_plural(&drawer->arena, get_count(picture, "sectors"), "sector"),
                                  show_plural(&drawer->arena, get_count(picture, "lines"), "line"),
                                  100.0 * (double)wanted / (double)moved));
    panel->y += DRAW_ROW + DRAW_BASELINE;
    draw_label(panel, DRAW_LEFT - 8, panel->y - 4, "number head", "address");
    for (int slot = 0; slot < 4; slot++)
        draw_label(panel, DRAW_LEFT + slot * SECTOR_WIDTH, panel->y - 4, "head",
                   arena_printf(&drawer->arena, "+%d", slot * SECTOR_BYTES));
    draw_label(panel, DRAW_LEFT + 4 * SECTOR_WIDTH + 4, panel->y - 4, "head", "lanes");
    json_array_foreach(sectors, i, sector)
    {
        if (get_count(sector, "line") != last)
            draw_line(drawer, panel, sectors, get_count(sector, "line"));
        last = get_count(sector, "line");
    }
    panel->y += 8;
    json_array_foreach(json_object_get(picture, "fields"), i, field)
    {
        draw_key(drawer, panel, field);
    }
}

/* A column a bank, as high as the words that are wanted of it: one wavefront a word. */
static void draw_pass(struct drawer *drawer, struct draw_panel *panel, const json_t *pass)
{
    enum { BANK_WIDTH = 15, MOST_HIGH = 96, WORD_HIGH = 12 };
    const int64_t most = get_count(pass, "wavefronts");
    const int word = most * WORD_HIGH > MOST_HIGH ? (int)(MOST_HIGH / most) : WORD_HIGH;
    const json_t *bank;
    size_t i;
    panel->y += (int)most * word + DRAW_ROW;
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        const int64_t words = get_count(bank, "words");
        const int x = DRAW_LEFT + (int)i * BANK_WIDTH, height = (int)words * word;
        if (i % 8 == 0)
            draw_label(panel, x, panel->y + DRAW_BASELINE + 2, "head", arena_printf(&drawer->arena, "%zu", i));
        if (words == 0) {
            (void)draw_box(panel, x, panel->y - 1, BANK_WIDTH - 2, 1, "frame");
            continue;
        }
        json_t *box = draw_box(panel, x, panel->y - height, BANK_WIDTH - 2, height,
                               words == 1  ? "bank good"
                               : words < 5 ? "bank fair"
                                           : "bank poor");
        put_text(box, "says",
                 arena_printf(&drawer->arena, "bank %zu: %s, lanes %s", i, show_plural(&drawer->arena, words, "word"),
                              show_lanes(&drawer->arena, get_lanes(bank))));
        draw_letter(box, x + BANK_WIDTH / 2 - 1, panel->y - height - 3,
                    arena_printf(&drawer->arena, "%" PRId64, words));
    }
    draw_label(panel, DRAW_LEFT - 8, panel->y + DRAW_BASELINE + 2, "number head", "bank");
    panel->y += DRAW_ROW;
}

static void draw_collisions(struct drawer *drawer, struct draw_panel *panel, const json_t *pass)
{
    enum { SHOWN = 4, ROOM = 60 };
    const int64_t most = get_count(pass, "wavefronts");
    const json_t *bank;
    size_t i;
    int shown = 0;
    draw_label(panel, DRAW_LEFT, panel->y + DRAW_BASELINE, "lanes",
               arena_printf(&drawer->arena, "lanes %s: %s",
                            show_fit(&drawer->arena, show_lanes(&drawer->arena, get_lanes(pass)), ROOM),
                            show_plural(&drawer->arena, most, "wavefront")));
    panel->y += DRAW_ROW;
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        if (most < 2 || get_count(bank, "words") < most || shown++ >= SHOWN)
            continue;
        draw_label(panel, DRAW_LEFT, panel->y + DRAW_BASELINE, "lanes",
                   arena_printf(&drawer->arena, "bank %zu: lanes %s collide", i,
                                show_fit(&drawer->arena, show_lanes(&drawer->arena, get_lanes(bank)), ROOM)));
        panel->y += DRAW_ROW;
    }
    if (shown > SHOWN) {
        draw_label(panel, DRAW_LEFT, panel->y + DRAW_BASELINE, "lanes",
                   arena_printf(&drawer->arena, "and so in %d more banks", shown - SHOWN));
        panel->y += DRAW_ROW;
    }
}

static void draw_banks(struct drawer *drawer, struct draw_panel *panel, const json_t *picture)
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
    const char *phase = get_text(group, "phase");
    const char *what = show_name(&drawer->arena, get_text(instruction, "what"), TITLE_ROOM);
    const bool threads = strcmp(phase, "threads") == 0, exchange = strcmp(phase, "exchange") == 0;
    const char *bytes = show_plural(&drawer->arena, get_count(instruction, "lane_bytes"), "byte");
    return arena_printf(&drawer->arena, "%s%s%s%s%s%s, %s a lane%s", exchange ? "exchange " : "",
                        threads || exchange ? get_text(group, "op") : phase, get_bool(group, "tail") ? ", tail" : "",
                        what[0] == '\0' ? "" : " ", what, get_bool(instruction, "joined") ? ", joined" : "", bytes,
                        is_shared(group) ? ", in shared memory" : "");
}

/* "1 sector", "32 sectors" */
static const char *show_cost(struct drawer *drawer, const json_t *instruction, const json_t *cost)
{
    const char *units = get_text(instruction, "cost_unit");
    const char *unit = arena_copy(&drawer->arena, units, strlen(units) - 1);
    return show_plural(&drawer->arena, get_count(cost, "cost"), unit);
}

static void note_costs(struct drawer *drawer, struct draw_panel *panel, const json_t *instruction)
{
    const json_t *worst = json_object_get(instruction, "worst"), *typical = json_object_get(instruction, "typical");
    const int64_t all = get_count(instruction, "instructions");
    const char *requests = show_plural(&drawer->arena, all, "request");
    if (get_count(worst, "requests") == all)
        draw_note(panel,
                  arena_printf(&drawer->arena, "%s in each of %s", show_cost(drawer, instruction, worst), requests));
    else
        draw_note(panel, arena_printf(&drawer->arena, "at worst %s, typically %s (%.1f %% of %s)",
                                      show_cost(drawer, instruction, worst), show_cost(drawer, instruction, typical),
                                      100.0 * (double)get_count(typical, "requests") / (double)all, requests));
}

static void draw_group(struct drawer *drawer, struct drawing *drawing, const json_t *group)
{
    const json_t *instruction =
        json_array_get(json_object_get(group, "instructions"), (size_t)get_count(group, "focus"));
    const json_t *picture = json_object_get(instruction, "picture");
    struct draw_panel panel = draw_panel_start(panel_title(drawer, group, instruction));
    note_costs(drawer, &panel, instruction);
    if (json_is_object(picture)) {
        draw_note(&panel, show_place(&drawer->arena, json_object_get(picture, "at")));
        if (is_shared(group))
            draw_banks(drawer, &panel, picture);
        else
            draw_sectors(drawer, &panel, picture);
    } else
        draw_note(&panel, "the warp that was asked for has no such request");
    draw_panel_end(drawing, &panel);
}

json_t *report_drawing(const json_t *explain)
{
    struct drawer drawer = {.explain = explain};
    struct drawing drawing = draw_start();
    const json_t *group;
    size_t i;
    json_array_foreach(json_object_get(explain, "groups"), i, group)
    {
        if (!get_bool(group, "dull") && !json_is_integer(json_object_get(group, "alike")))
            draw_group(&drawer, &drawing, group);
    }
    arena_free(&drawer.arena);
    return draw_end(&drawing);
}
