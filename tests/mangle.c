#include "mangle.h"

#include <stdbool.h>
#include <string.h>

#include "random_spec.h"
#include "read.h"
#include "read_scan.h"

struct mangler {
    struct text *out;
    uint64_t state;
    const char *line_break;
};

static bool chance(struct mangler *mangler, unsigned percent)
{
    return random_below(&mangler->state, 100) < percent;
}

static void put_white(struct mangler *mangler, bool needed)
{
    const char *const pieces[] = {" ", "  ", "\t", mangler->line_break, mangler->line_break, " "};
    unsigned count = random_below(&mangler->state, 4) + needed;
    for (unsigned i = 0; i < count; i++)
        text_puts(mangler->out, pieces[random_below(&mangler->state, 6)]);
}

static void put_comment(struct mangler *mangler)
{
    static const char *const comments[] = {"<!-- hot -->", "<!--cold-->", "<!-- \xc3\xa9 < & > \" ' -->",
                                           "<?tool a=b?>"};
    if (chance(mangler, 20))
        text_printf(mangler->out, "<!-- first%s     second%s%s\tthird   -->", mangler->line_break, mangler->line_break,
                    mangler->line_break);
    else
        text_puts(mangler->out, comments[random_below(&mangler->state, 4)]);
}

static void put_gap(struct mangler *mangler, bool comments)
{
    put_white(mangler, false);
    while (comments && chance(mangler, 15)) {
        put_comment(mangler);
        put_white(mangler, false);
    }
}

/* One character of a value, or the reference that stands for it. Returns how many bytes of it were taken. */
static size_t put_character(struct mangler *mangler, const char *at, char quote)
{
    static const char *const less[] = {"&lt;", "&#60;", "&#x3c;"}, *const and[] = {"&amp;", "&#38;", "&#x26;"};
    bool is_less = strncmp(at, "&lt;", 4) == 0, is_and = strncmp(at, "&amp;", 5) == 0;
    if (is_less || is_and)
        text_puts(mangler->out, (is_less ? less : and)[random_below(&mangler->state, 3)]);
    else if (*at == ' ' && chance(mangler, 10))
        text_puts(mangler->out, chance(mangler, 50) ? "\t" : mangler->line_break);
    else if (*at == quote || (*at == '>' && chance(mangler, 30)) || chance(mangler, 3))
        text_printf(mangler->out, chance(mangler, 50) ? "&#%d;" : "&#x%x;", (int)(unsigned char)*at);
    else
        text_putc(mangler->out, *at);
    return is_less ? 4 : is_and ? 5 : 1;
}

static void put_attribute(struct mangler *mangler, const struct raw_attribute *attribute)
{
    char quote = chance(mangler, 50) ? '"' : '\'';
    const char *value = attribute->value.source->bytes + attribute->value.offset;
    put_white(mangler, true);
    text_append(mangler->out, attribute->name.source->bytes + attribute->name.offset, attribute->name.length);
    text_puts(mangler->out, chance(mangler, 80) ? "=" : " = ");
    text_putc(mangler->out, quote);
    for (size_t at = 0; at < attribute->value.length;)
        at += put_character(mangler, value + at, quote);
    text_putc(mangler->out, quote);
}

static void put_start(struct mangler *mangler, const struct markup *markup)
{
    struct raw_attribute attributes[READ_ATTRIBUTES_MAX], next = {.to = markup->name.offset + markup->name.length};
    size_t count = 0;
    while (scan_attribute(markup->name.source, next.to, &next)) {
        size_t place = random_below(&mangler->state, (unsigned)++count);
        attributes[count - 1] = attributes[place];
        attributes[place] = next;
    }
    const char *name = markup->name.source->bytes + markup->name.offset;
    text_printf(mangler->out, "<%.*s", (int)markup->name.length, name);
    for (size_t i = 0; i < count; i++)
        put_attribute(mangler, &attributes[i]);
    put_white(mangler, false);
    bool apart = markup->empty && chance(mangler, 30);
    text_puts(mangler->out, markup->empty && !apart ? "/>" : ">");
    if (!apart)
        return;
    put_white(mangler, false);
    text_printf(mangler->out, "</%.*s >", (int)markup->name.length, name);
}

static bool is_blank(const char *bytes, size_t length)
{
    while (length > 0 && scan_is_white(bytes[length - 1]))
        length--;
    return length == 0;
}

void mangle_write(struct text *out, const struct source *source, uint64_t seed)
{
    struct mangler mangler = {.out = out, .state = seed};
    mangler.line_break = chance(&mangler, 30) ? "\r\n" : "\n";
    if (chance(&mangler, 20))
        text_puts(out, "\xef\xbb\xbf");
    if (chance(&mangler, 20))
        text_puts(out, "<?xml version='1.0' encoding='utf-8'?>");
    for (size_t at = 0;;) {
        struct markup markup = scan_markup(source, at);
        const char *gap = source->bytes + at;
        if (at > 0 && is_blank(gap, markup.from - at))
            put_gap(&mangler, true);
        else
            text_append(out, gap, markup.from - at);
        if (markup.kind == MARKUP_NONE)
            return;
        if (markup.kind == MARKUP_START)
            put_start(&mangler, &markup);
        else
            text_append(out, source->bytes + markup.from, markup.to - markup.from);
        at = markup.to;
    }
}
