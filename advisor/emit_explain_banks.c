#include <inttypes.h>
#include <string.h>

#include "emit_explain_internal.h"

static void print_pass(struct painter *painter, const json_t *pass, size_t number)
{
    const json_t *bank;
    size_t i;
    text_printf(painter->out, "  pass %-3zu", number + 1);
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        const int64_t words = get_count(bank, "words");
        const enum table_paint paint = words <= 1 ? PAINT_GOOD : words <= 4 ? PAINT_FAIR : PAINT_POOR;
        if (i % 8 == 0)
            print_separator(painter);
        table_paint(painter->out, words == 0 ? PAINT_NONE : paint, painter->style.color,
                    words == 0 ? " ." : arena_printf(&painter->arena, "%2" PRId64, words));
    }
    print_separator(painter);
    text_printf(painter->out, "\n           lanes %s: %s\n", show_lanes(&painter->arena, get_lanes(pass)),
                show_plural(&painter->arena, get_count(pass, "wavefronts"), "wavefront"));
}

/* The banks of a pass that hold it up, the first few. */
static void print_collisions(struct painter *painter, const json_t *pass)
{
    enum { SHOWN = 4 };
    const int64_t most = get_count(pass, "wavefronts");
    const json_t *bank;
    size_t i, shown = 0, more = 0;
    if (most < 2)
        return;
    json_array_foreach(json_object_get(pass, "banks"), i, bank)
    {
        if (get_count(bank, "words") < most)
            continue;
        if (shown++ >= SHOWN) {
            more++;
            continue;
        }
        const char *head = arena_printf(&painter->arena, "bank %zu: %" PRId64 " words, wanted by lanes ", i, most);
        text_printf(painter->out, "           %s%s\n", head,
                    show_fit(&painter->arena, show_lanes(&painter->arena, get_lanes(bank)),
                             painter->style.width - 11 - strlen(head)));
    }
    if (more > 0)
        text_printf(painter->out, "           and %zu more banks with %" PRId64 " words\n", more, most);
}

void print_banks(struct painter *painter, const json_t *picture)
{
    const json_t *pass;
    size_t i;
    text_puts(painter->out, "  bank    ");
    for (unsigned bank = 0; bank < 32; bank += 8)
        text_printf(painter->out, " %2u%14s", bank, "");
    trim_line(painter);
    text_putc(painter->out, '\n');
    json_array_foreach(json_object_get(picture, "passes"), i, pass)
    {
        print_pass(painter, pass, i);
        print_collisions(painter, pass);
    }
}
