#include "fmt.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "read_scan.h"

/* What was written last, as far as what follows depends on it. */
enum written { WRITTEN_NOTHING, WRITTEN_DECLARATION, WRITTEN_START, WRITTEN_ITEM };

/* The column of a place in a text, which is asked for in ascending order. */
struct cursor {
    size_t at, column;
};

struct formatter {
    struct text *out;
    const struct source *source; /* line breaks are '\n', and no byte order mark stands before it */
    size_t at;                   /* past the markup that was written last */
    size_t depth;                /* elements that are open */
    enum written before;
    struct cursor in_source, in_out;
};

static const char *bytes_of(struct span span)
{
    return span.source->bytes + span.offset;
}

/* ---- white space ---- */

/* A tab reaches to the next multiple of eight. */
static size_t next_column(size_t column, char c)
{
    enum { TAB = 8 };
    return c == '\n' ? 0 : c == '\t' ? column + TAB - column % TAB : column + 1;
}

static size_t column_of(struct cursor *cursor, const char *bytes, size_t to)
{
    for (; cursor->at < to; cursor->at++)
        cursor->column = next_column(cursor->column, bytes[cursor->at]);
    return cursor->column;
}

static size_t out_column(struct formatter *formatter)
{
    return column_of(&formatter->in_out, text_string(formatter->out), formatter->out->length);
}

static size_t count_breaks(const struct source *source, size_t from, size_t to)
{
    size_t breaks = 0;
    for (; from < to; from++)
        breaks += source->bytes[from] == '\n';
    return breaks;
}

static bool is_blank(const char *bytes, size_t length)
{
    while (length > 0 && scan_is_white(bytes[length - 1]))
        length--;
    return length == 0;
}

/* A line of some text: its indentation in columns, and what follows it up to the last that is no white space. */
struct line {
    const char *bytes;
    size_t length;
    size_t indent;
};

/* Cuts the line at *at off a text that ends at `end`; false where nothing is left. */
static bool next_line(struct line *out, const char **at, const char *end)
{
    if (*at == NULL)
        return false;
    const char *begin = *at, *to = memchr(begin, '\n', (size_t)(end - begin));
    *at = to == NULL ? NULL : to + 1;
    if (to == NULL)
        to = end;
    const char *first = begin;
    while (first < to && scan_is_white(*first))
        first++;
    while (to > first && scan_is_white(to[-1]))
        to--;
    *out = (struct line){first, (size_t)(to - first), 0};
    for (; begin < first; begin++)
        out->indent = next_column(out->indent, *begin);
    return true;
}

static void put_line(struct text *out, const struct line *line, size_t indent)
{
    if (line->length > 0)
        text_repeat(out, ' ', indent);
    text_append(out, line->bytes, line->length);
}

/* ---- attributes ---- */

/* A character that a reference stands for: itself where it may stand so between double quotes, else by the one
 * reference that is canonical. */
static void put_character(struct text *out, unsigned long character)
{
    switch (character) {
    case '<':
        text_puts(out, "&lt;");
        return;
    case '&':
        text_puts(out, "&amp;");
        return;
    case '"':
        text_puts(out, "&quot;");
        return;
    default:
        break;
    }
    if (character >= ' ' && character <= '~')
        text_putc(out, (char)character);
    else
        text_printf(out, "&#x%lX;", character);
}

/* A reference that begins at `at` ("&lt;", "&#60;"); returns its length. */
static size_t put_reference(struct text *out, const char *at)
{
    static const struct {
        const char *name;
        char character;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t length = (size_t)(strchr(at, ';') - at) + 1;
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
        if (strncmp(at, entities[i].name, length) == 0)
            put_character(out, (unsigned char)entities[i].character);
    if (at[1] == '#')
        put_character(out, strtoul(at + (at[2] == 'x' ? 3 : 2), NULL, at[2] == 'x' ? 16 : 10));
    return length;
}

/* A run of white space in a value. Blanks stay. Line breaks and tabs mean one blank each: with what surrounds them they
 * become one, and none at either end; but a file's name keeps what it means. */
static size_t put_white(struct text *out, struct span value, size_t at, bool exact)
{
    const char *bytes = bytes_of(value);
    size_t to = at;
    bool blanks = true;
    for (; to < value.length && scan_is_white(bytes[to]); to++)
        blanks &= bytes[to] == ' ';
    if (blanks || exact)
        text_repeat(out, ' ', to - at);
    else if (at > 0 && to < value.length)
        text_putc(out, ' ');
    return to;
}

static void put_value(struct text *out, struct span value, bool exact)
{
    const char *bytes = bytes_of(value);
    text_putc(out, '"');
    for (size_t at = 0; at < value.length;) {
        if (scan_is_white(bytes[at])) {
            at = put_white(out, value, at, exact);
        } else if (bytes[at] == '&') {
            at += put_reference(out, bytes + at);
        } else if (bytes[at] == '"') {
            text_puts(out, "&quot;");
            at++;
        } else {
            text_putc(out, bytes[at++]);
        }
    }
    text_putc(out, '"');
}

static void put_attribute(struct text *out, const struct raw_attribute *attribute)
{
    text_append(out, bytes_of(attribute->name), attribute->name.length);
    text_putc(out, '=');
    put_value(out, attribute->value, scan_span_is(attribute->name, "file"));
}

/* Namespaces first, then the attributes of the language in its order, then whatever else as it was written. */
static size_t attribute_rank(struct span element, struct span name)
{
    enum { OTHER_SPACES = 1, LANGUAGE };
    const char *bytes = bytes_of(name);
    if (scan_span_is(name, "xmlns"))
        return 0;
    if (name.length > 6 && memcmp(bytes, "xmlns:", 6) == 0)
        return OTHER_SPACES;
    size_t order = read_attribute_order(element, name);
    return order == SIZE_MAX ? SIZE_MAX : LANGUAGE + order;
}

struct attributes {
    struct raw_attribute items[READ_ATTRIBUTES_MAX];
    size_t ranks[READ_ATTRIBUTES_MAX];
    size_t count;
};

/* The attributes of a tag in the order in which they are written; equals stay as they stand. */
static void take_attributes(struct attributes *out, struct span element)
{
    struct raw_attribute next = {.to = element.offset + element.length};
    out->count = 0;
    while (out->count < READ_ATTRIBUTES_MAX && scan_attribute(element.source, next.to, &next)) {
        size_t rank = attribute_rank(element, next.name), place = out->count++;
        for (; place > 0 && out->ranks[place - 1] > rank; place--) {
            out->items[place] = out->items[place - 1];
            out->ranks[place] = out->ranks[place - 1];
        }
        out->items[place] = next;
        out->ranks[place] = rank;
    }
}

/* ---- markup ---- */

static void put_tag(struct formatter *formatter, struct span element, const struct attributes *attributes,
                    const char *between, size_t indent, const char *end)
{
    struct text *out = formatter->out;
    text_putc(out, '<');
    text_append(out, bytes_of(element), element.length);
    for (size_t i = 0; i < attributes->count; i++) {
        text_puts(out, i == 0 ? " " : between);
        text_repeat(out, ' ', i == 0 ? 0 : indent);
        put_attribute(out, &attributes->items[i]);
    }
    text_puts(out, end);
}

static size_t count_characters(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    return count;
}

/* On one line, or where that is too long with an attribute a line, one below the other. */
static void put_start(struct formatter *formatter, struct span element, bool empty)
{
    struct attributes attributes;
    struct text *out = formatter->out;
    size_t before = out->length, column = out_column(formatter);
    const char *end = empty ? "/>" : ">";
    take_attributes(&attributes, element);
    put_tag(formatter, element, &attributes, " ", 0, end);
    if (column + count_characters(out->bytes + before, out->length - before) <= FMT_WIDTH)
        return;
    out->length = before;
    put_tag(formatter, element, &attributes, "\n", column + element.length + 2, end);
}

/* The content of an element that holds text: one line of it stays beside the tags, several get lines of their own,
 * further in than the tags by one step, with their places to each other as they were. */
static void put_content(struct formatter *formatter, struct span content)
{
    const char *begin = bytes_of(content), *end = begin + content.length, *at;
    while (scan_is_white(*begin))
        begin++;
    while (scan_is_white(end[-1]))
        end--;
    struct text *out = formatter->out;
    if (memchr(begin, '\n', (size_t)(end - begin)) == NULL) {
        text_append(out, begin, (size_t)(end - begin));
        return;
    }
    /* The first line has its indentation before `begin`, unless it begins beside the tag. */
    const char *first = begin;
    while (first > bytes_of(content) && first[-1] != '\n')
        first--;
    begin = first == bytes_of(content) ? begin : first;
    struct line line;
    size_t least = SIZE_MAX;
    for (at = begin; next_line(&line, &at, end);)
        if (line.length > 0 && line.indent < least && (line.bytes != begin || first != bytes_of(content)))
            least = line.indent;
    for (at = begin; next_line(&line, &at, end);) {
        text_putc(out, '\n');
        put_line(out, &line, (formatter->depth + 1) * FMT_INDENT + (line.indent > least ? line.indent - least : 0));
    }
    text_putc(out, '\n');
    text_repeat(out, ' ', formatter->depth * FMT_INDENT);
}

/* A comment moves as one block: what its lines have before them grows or shrinks as the place of its first does. */
static void put_comment(struct formatter *formatter, const struct markup *markup)
{
    const char *bytes = formatter->source->bytes, *at = bytes + markup->from;
    size_t was = column_of(&formatter->in_source, bytes, markup->from), is = out_column(formatter);
    struct line line;
    for (bool first = true; next_line(&line, &at, bytes + markup->to); first = false) {
        size_t indent = line.indent + is;
        if (!first)
            text_putc(formatter->out, '\n');
        put_line(formatter->out, &line, first ? 0 : indent > was ? indent - was : 0);
    }
}

static void put_instruction(struct formatter *formatter, const struct markup *markup)
{
    struct text *out = formatter->out;
    if (!scan_span_is(markup->name, "xml")) {
        text_append(out, formatter->source->bytes + markup->from, markup->to - markup->from);
        return;
    }
    struct raw_attribute attribute = {.to = markup->name.offset + markup->name.length};
    text_puts(out, "<?xml");
    while (attribute.to < markup->to && scan_attribute(formatter->source, attribute.to, &attribute)) {
        text_putc(out, ' ');
        put_attribute(out, &attribute);
    }
    text_puts(out, "?>");
    formatter->before = WRITTEN_DECLARATION;
}

/* What stands before a piece of markup: a line of its own, after a blank one where there was some; a comment that
 * began beside something stays there. */
static void put_gap(struct formatter *formatter, const struct markup *markup)
{
    size_t breaks = count_breaks(formatter->source, formatter->at, markup->from);
    bool aside = markup->kind == MARKUP_COMMENT || markup->kind == MARKUP_INSTRUCTION;
    if (formatter->before == WRITTEN_NOTHING)
        return;
    if (aside && breaks == 0 && formatter->before != WRITTEN_DECLARATION) {
        text_putc(formatter->out, ' ');
        return;
    }
    text_putc(formatter->out, '\n');
    if (breaks > 1 && formatter->before != WRITTEN_START && markup->kind != MARKUP_END)
        text_putc(formatter->out, '\n');
    text_repeat(formatter->out, ' ', formatter->depth * FMT_INDENT);
}

/* ---- elements ---- */

/* What an element holds that begins at `at`: nothing, text (then *content is all of it), or elements. */
enum holds { HOLDS_NOTHING, HOLDS_TEXT, HOLDS_ELEMENTS };

static enum holds look_inside(const struct source *source, size_t at, struct markup *end, struct span *content)
{
    bool text = false, nothing = true;
    *content = (struct span){source, at, 0};
    for (;; at = end->to) {
        *end = scan_markup(source, at);
        text |= end->kind == MARKUP_CDATA || !is_blank(source->bytes + at, end->from - at);
        if (end->kind == MARKUP_START || end->kind == MARKUP_NONE)
            return HOLDS_ELEMENTS;
        if (end->kind == MARKUP_END)
            break;
        nothing = false;
    }
    content->length = end->from - content->offset;
    return text ? HOLDS_TEXT : nothing ? HOLDS_NOTHING : HOLDS_ELEMENTS;
}

static void put_end(struct formatter *formatter, struct span name)
{
    text_puts(formatter->out, "</");
    text_append(formatter->out, bytes_of(name), name.length);
    text_putc(formatter->out, '>');
}

static void put_element(struct formatter *formatter, const struct markup *markup)
{
    struct markup end = *markup;
    struct span content;
    enum holds holds = HOLDS_NOTHING;
    if (!markup->empty)
        holds = look_inside(formatter->source, markup->to, &end, &content);
    put_start(formatter, markup->name, holds == HOLDS_NOTHING);
    if (holds == HOLDS_ELEMENTS) {
        formatter->depth++;
        formatter->before = WRITTEN_START;
        return;
    }
    if (holds == HOLDS_TEXT) {
        put_content(formatter, content);
        put_end(formatter, markup->name);
    }
    if (!markup->empty)
        formatter->at = end.to;
}

static void put_markup(struct formatter *formatter, const struct markup *markup)
{
    formatter->depth -= markup->kind == MARKUP_END;
    put_gap(formatter, markup);
    formatter->at = markup->to;
    formatter->before = WRITTEN_ITEM;
    switch (markup->kind) {
    case MARKUP_START:
        put_element(formatter, markup);
        break;
    case MARKUP_END:
        put_end(formatter, markup->name);
        break;
    case MARKUP_COMMENT:
        put_comment(formatter, markup);
        break;
    case MARKUP_INSTRUCTION:
        put_instruction(formatter, markup);
        break;
    case MARKUP_CDATA:
    case MARKUP_DOCTYPE:
    case MARKUP_STRAY:
    case MARKUP_NONE:
        break; /* inside of text, or refused by read_spec */
    }
}

/* The source with its line breaks as '\n' and without a byte order mark. */
static const struct source *unify(const struct source *source, struct arena *arena)
{
    const char *bytes = source->bytes, *end = bytes + source->length;
    char *copy = arena_alloc(arena, source->length + 1);
    size_t length = 0;
    if (source->length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        bytes += 3;
    for (; bytes < end; bytes++) {
        if (*bytes == '\r' && bytes + 1 < end && bytes[1] == '\n')
            continue;
        copy[length++] = *bytes;
        if (*bytes == '\r')
            copy[length - 1] = '\n';
    }
    return source_from_bytes(arena, source->name, copy, length);
}

void fmt_write(struct text *out, const struct source *source, struct arena *arena)
{
    struct formatter formatter = {.out = out, .source = unify(source, arena)};
    for (;;) {
        struct markup markup = scan_markup(formatter.source, formatter.at);
        if (markup.kind == MARKUP_NONE)
            break;
        put_markup(&formatter, &markup);
    }
    text_putc(out, '\n');
}
