#include "report_bytes.h"

#include <inttypes.h>
#include <string.h>

#include "emit_show.h"
#include "report_draw.h"
#include "request.h"
#include "view_put.h"

/* A sector of 32 bytes a row. */
enum { BYTE = 12, RUNS_MAX = 40, ROWS_MAX = 16 };

/* Tiles and arrays to scale: a name on the left of each bar, its place on the right. */
enum { BAR_LEFT = 150, BAR_WIDTH = 320 };

static bool is_record(const json_t *group)
{
    return strcmp(get_text(group, "unit"), "record") == 0;
}

static const char *run_class(struct arena *arena, const json_t *run)
{
    if (get_bool(run, "padding"))
        return "wasted padding";
    return arena_printf(arena, "wanted plain c%d", (int)(get_count(run, "color") % DRAW_COLORS));
}

static const char *run_says(struct arena *arena, const json_t *run)
{
    const int64_t from = get_count(run, "from"), bytes = get_count(run, "bytes");
    const char *leaf = get_text(run, "leaf");
    return arena_printf(arena, "bytes %" PRId64 " to %" PRId64 ": %s", from, from + bytes - 1,
                        leaf[0] == '\0' ? get_text(run, "field") : leaf);
}

/* As much of a name as a box has room for. */
static const char *name_in(struct arena *arena, const char *name, int width)
{
    const int room = (width - 4) / 6;
    return (int)strlen(name) <= room ? name : room < 1 ? "" : arena_printf(arena, "%.*s", room, name);
}

/* The part of a run that is in the row of bytes from `row` on. */
static void draw_piece(struct arena *arena, struct draw_panel *panel, const json_t *run, int64_t row)
{
    int64_t from = get_count(run, "from"), to = from + get_count(run, "bytes");
    from = from < row ? row : from;
    to = to > row + SECTOR_BYTES ? row + SECTOR_BYTES : to;
    if (from >= to)
        return;
    const int x = DRAW_LEFT + (int)(from - row) * BYTE, width = (int)(to - from) * BYTE;
    json_t *box = draw_box(panel, x, panel->y, width - 1, DRAW_BOX, run_class(arena, run));
    put_text(box, "says", run_says(arena, run));
    const char *name = get_bool(run, "padding") ? "" : name_in(arena, get_text(run, "field"), width);
    if (name[0] != '\0')
        draw_letter(box, x + width / 2, panel->y + DRAW_BASELINE, name);
}

static void draw_record(struct arena *arena, struct draw_panel *panel, const json_t *group)
{
    const int64_t bytes = get_count(group, "unit_bytes");
    const json_t *run;
    size_t i;
    for (int64_t row = 0; row < bytes && row / SECTOR_BYTES < ROWS_MAX; row += SECTOR_BYTES) {
        draw_label(panel, DRAW_LEFT - 8, panel->y + DRAW_BASELINE, "number", arena_printf(arena, "%" PRId64, row));
        json_array_foreach(json_object_get(group, "runs"), i, run)
        {
            draw_piece(arena, panel, run, row);
        }

        panel->y += DRAW_ROW;
    }
    if (bytes > ROWS_MAX * SECTOR_BYTES) {
        draw_label(panel, DRAW_LEFT, panel->y + DRAW_BASELINE, "head",
                   arena_printf(arena, "and %s more", show_plural(arena, bytes - ROWS_MAX * SECTOR_BYTES, "byte")));
        panel->y += DRAW_ROW;
    }
}

/* A leaf a row, where it is in the unit to scale. */
static void draw_streams(struct arena *arena, struct draw_panel *panel, const json_t *group)
{
    const double unit = (double)get_count(group, "unit_bytes");
    const json_t *run;
    size_t i, drawn = 0;
    json_array_foreach(json_object_get(group, "runs"), i, run)
    {
        if (get_bool(run, "padding"))
            continue;
        if (++drawn > RUNS_MAX)
            break;
        const char *leaf = get_text(run, "leaf"), *name = leaf[0] == '\0' ? get_text(run, "field") : leaf;
        const int from = (int)((double)get_count(run, "from") / unit * BAR_WIDTH);
        const int width = (int)((double)get_count(run, "bytes") / unit * BAR_WIDTH);
        (void)draw_box(panel, BAR_LEFT, panel->y + DRAW_BOX / 2, BAR_WIDTH, 1, "rail");
        json_t *box =
            draw_box(panel, BAR_LEFT + from, panel->y, width < 2 ? 2 : width, DRAW_BOX, run_class(arena, run));
        put_text(box, "says", run_says(arena, run));
        draw_label(panel, BAR_LEFT - 8, panel->y + DRAW_BASELINE, "number", show_name(arena, name, 22));
        draw_label(panel, BAR_LEFT + BAR_WIDTH + 8, panel->y + DRAW_BASELINE, "lanes",
                   arena_printf(arena, "at %s", show_count(arena, get_count(run, "from"))));
        panel->y += DRAW_ROW;
    }
    if (drawn > RUNS_MAX) {
        draw_label(panel, BAR_LEFT, panel->y + DRAW_BASELINE, "head", "and more");
        panel->y += DRAW_ROW;
    }
}

static int64_t padding_bytes(const json_t *group)
{
    const json_t *run;
    size_t i;
    int64_t bytes = 0;
    json_array_foreach(json_object_get(group, "runs"), i, run)
    {
        bytes += get_bool(run, "padding") ? get_count(run, "bytes") : 0;
    }

    return bytes;
}

static const char *group_title(struct arena *arena, const json_t *group)
{
    const int64_t padding = padding_bytes(group), bytes = get_count(group, "unit_bytes");
    const char *holes =
        padding == 0 ? "no holes" : arena_printf(arena, "%s of holes", show_plural(arena, padding, "byte"));
    if (is_record(group))
        return arena_printf(arena, "%s: records of %s, %s", get_text(group, "layout"),
                            show_plural(arena, bytes, "byte"), holes);
    if (strcmp(get_text(group, "unit"), "tile") == 0)
        return arena_printf(arena, "%s: tiles of %s in %s, %s", get_text(group, "layout"),
                            show_plural(arena, get_count(group, "unit_records"), "record"),
                            show_plural(arena, bytes, "byte"), holes);
    return arena_printf(arena, "%s: an array a leaf, %s in all, %s between", get_text(group, "layout"),
                        show_bytes(arena, (double)bytes), holes);
}

json_t *report_bytes(const json_t *bytes)
{
    struct arena arena = {0};
    struct drawing drawing = draw_start();
    const json_t *group;
    size_t i;
    json_array_foreach(json_object_get(bytes, "groups"), i, group)
    {
        struct draw_panel panel = draw_panel_start(group_title(&arena, group));
        panel.y += 6;
        if (is_record(group))
            draw_record(&arena, &panel, group);
        else
            draw_streams(&arena, &panel, group);
        draw_panel_end(&drawing, &panel);
    }
    arena_free(&arena);
    return draw_end(&drawing);
}
