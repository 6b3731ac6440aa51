#include "emit_explain.h"

#include <inttypes.h>
#include <string.h>

#include "emit_explain_internal.h"

enum { NAME_ROOM = 24, PLACE_ROOM = 36, ROWS_MAX = 16, EMIT_COSTS = WARP_LANES + 1 };

/* "read", "copy-in", "write of the tail" */
static const char *say_op(struct painter *painter, const json_t *group)
{
    const char *phase = get_text(group, "phase");
    const char *op = get_text(group, "op");
    if (strcmp(phase, "exchange") == 0)
        return arena_printf(&painter->arena, "exchange %s", op);
    if (strcmp(phase, "threads") != 0)
        return phase;
    return get_bool(group, "tail") ? arena_printf(&painter->arena, "%s, tail", op) : op;
}

static bool is_shared(const json_t *object)
{
    return strcmp(get_text(object, "space"), "shared") == 0;
}

/* What a lane moves: "vel[0]", or the words of a copy. */
static const char *say_what(struct painter *painter, const json_t *instruction)
{
    const char *what = get_text(instruction, "what");
    return what[0] != '\0'
               ? what
               : arena_printf(&painter->arena, "%" PRId64 "-byte words", get_count(instruction, "lane_bytes"));
}

void print_separator(struct painter *painter)
{
    text_puts(painter->out, painter->style.unicode ? "\xe2\x94\x82" : "|");
}

void trim_line(struct painter *painter)
{
    struct text *out = painter->out;
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
}

/* Appends a sentence in lines of the width, broken at blanks. */
static void print_sentence(struct painter *painter, const char *sentence, size_t indent)
{
    size_t column = 0;
    while (*sentence != '\0') {
        const size_t length = strcspn(sentence, " ");
        if (column > 0 && column + 1 + length > painter->style.width) {
            text_putc(painter->out, '\n');
            column = 0;
        }
        text_repeat(painter->out, ' ', column > 0 ? 1 : indent);
        text_append(painter->out, sentence, length);
        column += length + (column > 0 ? 1 : indent);
        sentence += length + (sentence[length] == ' ');
    }
    text_putc(painter->out, '\n');
}

static void print_head(struct painter *painter)
{
    struct arena *arena = &painter->arena;
    const json_t *view = painter->view, *access = json_object_get(view, "access");
    const char *field = get_text(access, "field");
    const char *why = !get_bool(access, "worst")     ? ""
                      : get_count(access, "of") == 1 ? ", its only one"
                                                     : ", the furthest from its ideal";
    text_printf(painter->out, "%s on %s\n", get_text(view, "layout"), get_text(view, "device_title"));
    print_sentence(painter,
                   arena_printf(arena, "kernel %s (%s of %s%s), access %" PRId64 "%s", get_text(view, "kernel"),
                                show_plural(arena, get_count(view, "blocks"), "block"),
                                show_plural(arena, get_count(view, "block_warps"), "warp"),
                                get_count(view, "records_a_thread") > 1 ? ", 4 records a thread" : "",
                                get_count(access, "number"), why),
                   0);
    print_sentence(painter,
                   arena_printf(arena, "%s %s%s%s (line %" PRId64 ") by %s", get_text(access, "op"),
                                get_text(access, "array"), field[0] == '\0' ? "" : ".", field,
                                get_count(access, "source_line"), get_text(access, "candidate")),
                   0);
}

static void columns(struct emit_table *table, bool shared)
{
    table_column(table, shared ? "shared memory" : "global memory", TABLE_LEFT, 0);
    table_column(table, "what", TABLE_LEFT, 0);
    table_column(table, "bytes", TABLE_RIGHT, 4);
    table_column(table, "requests", TABLE_RIGHT, 2);
    table_column(table, shared ? "waves/req" : "sect/req", TABLE_RIGHT, 0);
    table_column(table, "worst", TABLE_RIGHT, 0);
    table_column(table, "typical", TABLE_RIGHT, 0);
    table_column(table, shared ? "conflicts" : "efficiency", TABLE_RIGHT, 0);
}

static void cells(struct painter *painter, struct emit_table *table, const json_t *group, const json_t *instruction)
{
    const bool shared = is_shared(group);
    const double good = 0.8, fair = 0.4, efficiency = get_real(instruction, "efficiency");
    const int64_t requests = get_count(instruction, "instructions");
    const int64_t cost = get_count(instruction, get_text(instruction, "cost_unit"));
    table_printf(table, PAINT_NONE, "%s%s", say_op(painter, group), get_bool(instruction, "joined") ? ", joined" : "");
    table_cell(table, PAINT_NONE, show_name(&painter->arena, say_what(painter, instruction), NAME_ROOM));
    table_printf(table, PAINT_NONE, "%" PRId64, get_count(instruction, "lane_bytes"));
    table_cell(table, PAINT_NONE, show_count(&painter->arena, requests));
    table_printf(table, PAINT_NONE, "%.2f", requests == 0 ? 0 : (double)cost / (double)requests);
    table_printf(table, PAINT_NONE, "%" PRId64, get_count(json_object_get(instruction, "worst"), "cost"));
    table_printf(table, PAINT_NONE, "%" PRId64, get_count(json_object_get(instruction, "typical"), "cost"));
    if (shared)
        table_cell(table, PAINT_NONE, show_count(&painter->arena, get_count(instruction, "conflicts")));
    else
        table_printf(table,
                     efficiency >= good   ? PAINT_GOOD
                     : efficiency >= fair ? PAINT_FAIR
                                          : PAINT_POOR,
                     "%.1f %%", 100 * efficiency);
}

/* The instructions in one space; of a long list the first, and the one that is pictured. */
static void print_instructions(struct painter *painter, bool shared)
{
    struct emit_table table = {.arena = &painter->arena};
    columns(&table, shared);
    const json_t *group, *instruction;
    size_t g, i, rows = 0, left_out = 0;
    bool joined = false;
    json_array_foreach(json_object_get(painter->view, "groups"), g, group)
    {
        if (is_shared(group) != shared)
            continue;
        json_array_foreach(json_object_get(group, "instructions"), i, instruction)
        {
            bool focus = (int64_t)i == get_count(group, "focus");
            joined = joined || get_bool(instruction, "joined");
            if (rows >= ROWS_MAX && !focus) {
                left_out++;
                continue;
            }
            cells(painter, &table, group, instruction);
            rows++;
        }
    }
    if (rows == 0)
        return;
    text_putc(painter->out, '\n');
    table_print(&table, painter->out, painter->style.width, painter->style.color);
    if (left_out > 0)
        text_printf(painter->out, "  ... and %zu more\n", left_out);
    if (joined)
        print_sentence(painter, "joined: another access names the piece, too; generated code moves it once", 2);
}

static void cells_cost(struct painter *painter, struct emit_table *table, const json_t *instruction, const char *title,
                       const json_t *cost)
{
    const int64_t all = get_count(instruction, "instructions"), requests = get_count(cost, "requests");
    table_cell(table, PAINT_NONE, title);
    table_printf(table, PAINT_NONE, "%" PRId64, get_count(cost, "cost"));
    table_cell(table, PAINT_NONE, show_count(&painter->arena, requests));
    table_printf(table, PAINT_NONE, "%.1f %%", 100.0 * (double)requests / (double)all);
    const size_t room = painter->style.width - EXPLAIN_WIDTH + PLACE_ROOM;
    table_cell(table, PAINT_NONE,
               show_fit(&painter->arena, show_place(&painter->arena, json_object_get(cost, "first")), room));
}

/* The most that a request of the launch costs, and what most of them do. */
static void print_costs(struct painter *painter, const json_t *instruction)
{
    struct emit_table table = {.arena = &painter->arena};
    const json_t *worst = json_object_get(instruction, "worst"), *typical = json_object_get(instruction, "typical");
    const bool same = get_count(worst, "cost") == get_count(typical, "cost");
    const bool all = get_count(worst, "requests") == get_count(instruction, "instructions");
    table_column(&table, "", TABLE_LEFT, 0);
    table_column(&table, get_text(instruction, "cost_unit"), TABLE_RIGHT, 0);
    table_column(&table, "requests", TABLE_RIGHT, 0);
    table_column(&table, "share", TABLE_RIGHT, 1);
    table_column(&table, "first in", TABLE_LEFT, 0);
    cells_cost(painter, &table, instruction, all ? "all" : same ? "worst, typical" : "worst", worst);
    if (!same)
        cells_cost(painter, &table, instruction, "typical", typical);
    table_print(&table, painter->out, painter->style.width, painter->style.color);
}

static void print_bar(struct painter *painter, double share, size_t room)
{
    const size_t full = (size_t)(share * (double)room + 0.5);
    for (size_t i = 0; i < full; i++)
        text_puts(painter->out, painter->style.unicode ? "\xe2\x96\x88" : "#");
}

enum { BINS = 8 };

/* Neighbouring costs together, so that there are at most BINS; gives how many costs are one bin. */
static int64_t bin_costs(int64_t bins[EMIT_COSTS], const json_t *costs)
{
    const json_t *cost;
    size_t i;
    const int64_t least = get_count(json_array_get(costs, 0), "cost");
    const int64_t most = get_count(json_array_get(costs, json_array_size(costs) - 1), "cost");
    const int64_t size = (most - least) / BINS + 1;
    json_array_foreach(costs, i, cost)
    {
        bins[(get_count(cost, "cost") - least) / size] += get_count(cost, "requests");
    }

    return size;
}

/* Where more than two costs occur: how often each does. */
static void print_distribution(struct painter *painter, const json_t *instruction)
{
    const json_t *costs = json_object_get(instruction, "costs");
    int64_t bins[EMIT_COSTS] = {0}, most = 1;
    if (json_array_size(costs) <= 2)
        return;
    const int64_t size = bin_costs(bins, costs), least = get_count(json_array_get(costs, 0), "cost");
    for (size_t bin = 0; bin < EMIT_COSTS; bin++)
        most = bins[bin] > most ? bins[bin] : most;
    text_putc(painter->out, '\n');
    for (int64_t bin = 0; bin < BINS; bin++) {
        const int64_t from = least + bin * size, to = from + size - 1;
        const char *range = size == 1 ? arena_printf(&painter->arena, "%" PRId64, from)
                                      : arena_printf(&painter->arena, "%" PRId64 "-%" PRId64, from, to);
        if (from > get_count(json_object_get(instruction, "worst"), "cost"))
            break;
        text_printf(painter->out, "  %6s %s  %15s  ", range, get_text(instruction, "cost_unit"),
                    show_count(&painter->arena, bins[bin]));
        print_bar(painter, (double)bins[bin] / (double)most, painter->style.width - 39);
        trim_line(painter);
        text_putc(painter->out, '\n');
    }
}

static void print_lanes(struct painter *painter, const json_t *picture)
{
    const json_t *lane;
    size_t i;
    uint32_t active = 0;
    if (get_count(picture, "active_lanes") == WARP_LANES)
        return;
    json_array_foreach(json_object_get(picture, "lanes"), i, lane)
    {
        active |= get_bool(lane, "active") ? UINT32_C(1) << i : 0;
    }

    text_printf(painter->out, "  active lanes: %s\n",
                show_fit(&painter->arena, show_lanes(&painter->arena, active), painter->style.width - 16));
}

static void print_together(struct painter *painter, const json_t *group)
{
    const size_t count = json_array_size(json_object_get(group, "instructions"));
    if (count < 2 || is_shared(group))
        return;
    print_sentence(painter,
                   arena_printf(&painter->arena, "the access's %zu %ss here touch %s together, %s counted one by one",
                                count, get_text(group, "op"),
                                show_plural(&painter->arena, get_count(group, "distinct_sectors"), "sector"),
                                show_count(&painter->arena, get_count(group, "sectors"))),
                   2);
}

static void print_title(struct painter *painter, const json_t *group, const json_t *instruction)
{
    const int64_t bytes = get_count(instruction, "lane_bytes");
    const bool words = get_text(instruction, "what")[0] == '\0';
    const char *title = arena_printf(
        &painter->arena, "%s %s%s", say_op(painter, group), say_what(painter, instruction),
        words ? "" : arena_printf(&painter->arena, ", %s a lane", show_plural(&painter->arena, bytes, "byte")));
    text_putc(painter->out, '\n');
    table_paint(painter->out, PAINT_TITLE, painter->style.color, title);
    text_puts(painter->out, is_shared(group) ? ", in shared memory\n" : "\n");
}

static void print_picture(struct painter *painter, const json_t *group, const json_t *instruction)
{
    const json_t *picture = json_object_get(instruction, "picture");
    if (json_is_null(picture)) {
        text_printf(painter->out, "  warp %s of the launch has no such request\n",
                    show_count(&painter->arena, get_count(painter->view, "warp")));
        return;
    }
    const json_t *alike = json_object_get(group, "alike"), *groups = json_object_get(painter->view, "groups");
    if (json_is_integer(alike)) {
        text_printf(painter->out, "  the picture is that of %s\n",
                    say_op(painter, json_array_get(groups, (size_t)json_integer_value(alike))));
        return;
    }
    text_printf(painter->out, "\n  %s\n", show_place(&painter->arena, json_object_get(picture, "at")));
    print_lanes(painter, picture);
    if (is_shared(group))
        print_banks(painter, picture);
    else
        print_sectors(painter, instruction, picture);
    print_together(painter, group);
}

static void print_group(struct painter *painter, const json_t *group)
{
    const json_t *instruction =
        json_array_get(json_object_get(group, "instructions"), (size_t)get_count(group, "focus"));
    if (get_bool(group, "dull"))
        return;
    print_title(painter, group, instruction);
    print_costs(painter, instruction);
    print_distribution(painter, instruction);
    print_picture(painter, group, instruction);
}

void emit_explain(struct text *out, const json_t *view, const struct explain_style *style)
{
    struct painter painter = {.out = out, .view = view, .style = *style};
    const json_t *group;
    size_t i;
    if (painter.style.width < EXPLAIN_WIDTH)
        painter.style.width = EXPLAIN_WIDTH;
    print_head(&painter);
    print_instructions(&painter, false);
    print_instructions(&painter, true);
    if (json_array_size(json_object_get(view, "groups")) == 0)
        text_puts(out, "\nno thread of the launch takes this access\n");
    json_array_foreach(json_object_get(view, "groups"), i, group)
    {
        print_group(&painter, group);
    }

    arena_free(&painter.arena);
}
