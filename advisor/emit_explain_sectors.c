#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "emit_explain_internal.h"

enum { CELLS = 32, CELL_BYTES_MAX = 4 };

struct cell {
    char glyph; /* 0: nothing is moved there */
    bool wanted, carried;
    unsigned color;
    int lane; /* that asks for it, -1 for none */
};

struct canvas {
    unsigned cell_bytes; /* 1, 2 or 4 */
    const json_t *picture;
    int64_t lane_bytes;
};

static int lane_of(const struct canvas *canvas, int64_t address)
{
    const json_t *lane;
    size_t i;
    json_array_foreach(json_object_get(canvas->picture, "lanes"), i, lane)
    {
        const int64_t from = get_count(lane, "address");
        if (get_bool(lane, "active") && address >= from && address < from + canvas->lane_bytes)
            return (int)i;
    }
    return -1;
}

/* The largest cell that no boundary between fields or lanes cuts. */
static unsigned choose_cell_bytes(const struct canvas *canvas)
{
    int64_t all = canvas->lane_bytes;
    unsigned bytes = CELL_BYTES_MAX;
    const json_t *sector, *run;
    size_t i, j;
    json_array_foreach(json_object_get(canvas->picture, "sectors_touched"), i, sector)
    {
        json_array_foreach(json_object_get(sector, "runs"), j, run)
        {
            all |= get_count(run, "from") | get_count(run, "bytes");
        }
    }

    while ((all & (bytes - 1)) != 0)
        bytes /= 2;
    return bytes;
}

static struct cell cell_of_run(const struct canvas *canvas, const json_t *run, int64_t address)
{
    const char *letter = get_text(run, "letter"), *use = get_text(run, "use");
    const bool wanted = strcmp(use, "wanted") == 0, carried = strcmp(use, "carried") == 0;
    return (struct cell){.glyph = (char)(wanted ? toupper((unsigned char)letter[0]) : letter[0]),
                         .wanted = wanted,
                         .carried = carried,
                         .color = json_object_get(run, "color") == NULL ? 0 : (unsigned)get_count(run, "color") + 1,
                         .lane = wanted || carried ? lane_of(canvas, address) : -1};
}

static void print_cell(struct painter *painter, const struct cell *cell, unsigned room)
{
    static const char *const colors[] = {"", "36", "33", "35", "32", "34", "31"};
    char shown[8] = "   ";
    shown[0] = cell->glyph == 0 ? ' ' : cell->glyph;
    if (room > 1 && cell->lane >= 0) {
        shown[1] = (char)(cell->lane >= 10 ? '0' + cell->lane / 10 : '0' + cell->lane);
        shown[2] = (char)(cell->lane >= 10 ? '0' + cell->lane % 10 : ' ');
    }
    shown[room] = '\0';
    if (!painter->style.color || cell->glyph == 0) {
        text_puts(painter->out, shown);
        return;
    }
    const char *color = cell->color == 0 ? "" : colors[1 + (cell->color - 1) % 6];
    text_printf(painter->out, "\033[%s%s%sm%s\033[0m",
                cell->wanted    ? "1;7"
                : cell->carried ? "4"
                                : "2",
                color[0] == '\0' ? "" : ";", color, shown);
}

/* The bytes from `row` on: sectors that are touched, and who touches them. */
static void print_row(struct painter *painter, const struct canvas *canvas, int64_t row, unsigned cell_room)
{
    const unsigned sectors = canvas->cell_bytes, cells_a_sector = CELLS / sectors;
    const json_t *sector, *run;
    struct cell line[CELLS] = {{0}};
    uint32_t lanes = 0;
    size_t i, j;
    json_array_foreach(json_object_get(canvas->picture, "sectors_touched"), i, sector)
    {
        const int64_t address = get_count(sector, "address"), slot = (address - row) / SECTOR_BYTES;
        if (address < row || slot >= sectors)
            continue;
        lanes |= get_lanes(sector);
        json_array_foreach(json_object_get(sector, "runs"), j, run)
        {
            const int64_t from = get_count(run, "from"), to = from + get_count(run, "bytes");
            for (int64_t at = from; at < to; at += canvas->cell_bytes)
                line[slot * cells_a_sector + at / canvas->cell_bytes] = cell_of_run(canvas, run, address + at);
        }
    }
    text_printf(painter->out, "  %10" PRId64 "  ", row);
    for (unsigned c = 0; c < CELLS; c++) {
        if (c % cells_a_sector == 0)
            print_separator(painter);
        print_cell(painter, &line[c], cell_room);
    }
    print_separator(painter);
    const size_t used = 14 + sectors + 1 + (size_t)CELLS * cell_room + 2;
    text_printf(painter->out, "  %s\n",
                show_fit(&painter->arena, show_lanes(&painter->arena, lanes), painter->style.width - used));
}

static void print_ruler(struct painter *painter, const struct canvas *canvas, unsigned cell_room)
{
    text_printf(painter->out, "  %10s  ", "address");
    for (unsigned sector = 0; sector < canvas->cell_bytes; sector++)
        text_printf(painter->out, " +%-*u", (int)(CELLS / canvas->cell_bytes * cell_room - 1), sector * SECTOR_BYTES);
    text_puts(painter->out, "   lanes\n");
}

static void print_fields(struct painter *painter, const json_t *picture)
{
    struct emit_table table = {.arena = &painter->arena};
    enum { USES = 4 };
    static const char *const uses[USES] = {"wanted_bytes", "carried_bytes", "others_bytes", "wasted_bytes"};
    static const char *const titles[USES] = {"wanted", "along", "by others", "wasted"};
    const json_t *field;
    size_t i;
    table_column(&table, "", TABLE_RIGHT, 0);
    table_column(&table, "bytes of", TABLE_LEFT, 0);
    for (unsigned use = 0; use < USES; use++)
        table_column(&table, titles[use], TABLE_RIGHT, 0);
    json_array_foreach(json_object_get(picture, "fields"), i, field)
    {
        const char *letter = get_text(field, "letter");
        table_printf(&table, PAINT_NONE, isalpha((unsigned char)letter[0]) ? "%c %c" : "%c",
                     toupper((unsigned char)letter[0]), letter[0]);
        table_cell(&table, PAINT_NONE, get_text(field, "field"));
        for (unsigned use = 0; use < USES; use++) {
            const int64_t bytes = get_count(field, uses[use]);
            table_cell(&table, use == USES - 1 && bytes > 0 ? PAINT_POOR : PAINT_NONE,
                       bytes == 0 ? "" : show_count(&painter->arena, bytes));
        }
    }
    table_print(&table, painter->out, painter->style.width, painter->style.color);
}

static void print_waste(struct painter *painter, const json_t *picture)
{
    const json_t *field;
    size_t i;
    int64_t wanted = 0;
    const int64_t moved = get_count(picture, "sectors") * SECTOR_BYTES;
    json_array_foreach(json_object_get(picture, "fields"), i, field)
    {
        wanted += get_count(field, "wanted_bytes");
    }

    text_printf(painter->out, "  %s of %s bytes in %s of %s are wanted (capitals): %.1f %%\n",
                show_count(&painter->arena, wanted), show_count(&painter->arena, moved),
                show_plural(&painter->arena, get_count(picture, "sectors"), "sector"),
                show_plural(&painter->arena, get_count(picture, "lines"), "line"),
                100.0 * (double)wanted / (double)moved);
}

void print_sectors(struct painter *painter, const json_t *instruction, const json_t *picture)
{
    struct canvas canvas = {.picture = picture, .lane_bytes = get_count(instruction, "lane_bytes")};
    canvas.cell_bytes = choose_cell_bytes(&canvas);
    const unsigned cell_room = painter->style.width >= EXPLAIN_WIDTH_LANES ? 3 : 1;
    const int64_t row_bytes = (int64_t)canvas.cell_bytes * SECTOR_BYTES;
    int64_t last = -1;
    const json_t *sector;
    size_t i;
    print_ruler(painter, &canvas, cell_room);
    json_array_foreach(json_object_get(picture, "sectors_touched"), i, sector)
    {
        const int64_t row = get_count(sector, "address") / row_bytes * row_bytes;
        if (row != last)
            print_row(painter, &canvas, row, cell_room);
        last = row;
    }
    print_waste(painter, picture);
    print_fields(painter, picture);
}
