#include "read_form.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "read.h"
#include "read_scan.h"

enum { ALL_ATTRIBUTES_MAX = 10 * READ_ELEMENTS_MAX, SHOWN_MAX = 40 };

struct form {
    const struct source *source;
    struct diags *diags;
    size_t begin;                     /* past a byte order mark */
    struct span open[READ_DEPTH_MAX]; /* names of the elements that are open */
    size_t depth;
    size_t elements;
    size_t attributes;
};

/* A check returns false where what follows would be guesswork. What a value or a text alone has wrong is reported, and
 * reading goes on to the next. */

static const char byte_order_mark[] = "\xef\xbb\xbf";

static int shown(struct span span)
{
    return span.length > SHOWN_MAX ? SHOWN_MAX : (int)span.length;
}

static const char *span_text(struct span span)
{
    return span.source->bytes + span.offset;
}

static struct span make_span(const struct form *form, size_t from, size_t to)
{
    return (struct span){form->source, from, to - from};
}

/* ---- bytes ---- */

/* Decodes the character at `at`. Returns its length in bytes, 0 where there is none. */
static size_t decode_utf8(const struct source *source, size_t at, uint32_t *out)
{
    return text_decode_utf8(out, source->bytes + at, source->length - at);
}

static bool is_xml_character(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) ||
           (c >= 0x10000 && c <= 0x10ffff);
}

static bool has_wide_characters(const struct source *source)
{
    if (source->length < 2)
        return false;
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    bool marked = (bytes[0] == 0xfe && bytes[1] == 0xff) || (bytes[0] == 0xff && bytes[1] == 0xfe);
    return marked || (bytes[0] == '<' && bytes[1] == 0) || (bytes[0] == 0 && bytes[1] == '<');
}

static bool check_bytes(const struct form *form)
{
    const struct source *source = form->source;
    if (has_wide_characters(source)) {
        diag_error(form->diags, "xml-encoding", make_span(form, 0, 0), "document is not UTF-8 but UTF-16 or UTF-32");
        diag_note(form->diags, "save it as UTF-8");
        return false;
    }
    for (size_t at = 0, length; at < source->length; at += length) {
        uint32_t character = 0;
        length = decode_utf8(source, at, &character);
        if (length == 0) {
            diag_error(form->diags, "xml-encoding", make_span(form, at, at + 1), "byte 0x%02x is not UTF-8",
                       (unsigned)(unsigned char)source->bytes[at]);
            diag_note(form->diags, "save the document as UTF-8");
            return false;
        }
        if (!is_xml_character(character)) {
            diag_error(form->diags, "xml-syntax", make_span(form, at, at + length),
                       "character U+%04X is not allowed in XML", (unsigned)character);
            return false;
        }
    }
    return true;
}

static bool is_utf8_name(struct span value)
{
    static const char *const names[] = {"UTF-8", "UTF8", "US-ASCII", "ASCII"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (value.length == strlen(names[i]) && strncasecmp(span_text(value), names[i], value.length) == 0)
            return true;
    return false;
}

/* The encoding that `<?xml ... ?>` names, where there is one, must be one that UTF-8 covers. */
static bool check_declaration(const struct form *form, const struct markup *markup)
{
    struct raw_attribute attribute = {.to = markup->name.offset + markup->name.length};
    while (scan_attribute(form->source, attribute.to, &attribute)) {
        if (attribute.to > markup->to)
            return true;
        if (!scan_span_is(attribute.name, "encoding") || attribute.form != ATTRIBUTE_FINE ||
            is_utf8_name(attribute.value))
            continue;
        diag_error(form->diags, "xml-encoding", attribute.value, "encoding '%.*s' is not accepted",
                   shown(attribute.value), span_text(attribute.value));
        diag_note(form->diags, "save the document as UTF-8 and leave the encoding out");
        return false;
    }
    return true;
}

/* ---- references ---- */

/* The character that "#10" or "#xA" stands for, 0 where it stands for none. */
static uint32_t reference_value(const char *text, size_t length)
{
    bool hexadecimal = length > 1 && text[1] == 'x';
    uint32_t value = 0;
    size_t i = hexadecimal ? 2 : 1;
    if (i >= length)
        return 0;
    for (; i < length && value <= 0x10ffff; i++) {
        const char *digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
        const char *digit = text[i] == '\0' ? NULL : strchr(digits, text[i]);
        if (digit == NULL)
            return 0;
        uint32_t place = (uint32_t)(digit - digits);
        value = value * (hexadecimal ? 16 : 10) + (place > 15 ? place - 6 : place);
    }
    return value;
}

static bool is_entity(struct span name)
{
    static const char *const entities[] = {"lt", "gt", "amp", "quot", "apos"};
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
        if (scan_span_is(name, entities[i]))
            return true;
    return false;
}

static bool is_reference_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '#' || c == '_' ||
           c == '-' || c == '.' || c == ':' || ((unsigned char)c & 0x80) != 0;
}

/* Whether a '&' that names nothing is the first of '&&'. */
static bool is_and(const struct form *form, struct span reference)
{
    return reference.length == 1 && form->source->bytes[reference.offset + 1] == '&';
}

static void report_reference(const struct form *form, struct span reference, bool closed)
{
    struct span name = make_span(form, reference.offset + 1, reference.offset + reference.length - closed);
    bool known = is_entity(name);
    if (known && !closed) {
        diag_error(form->diags, "xml-syntax", reference, "'&%.*s' is not closed by ';'", shown(name), span_text(name));
    } else if (!closed || name.length == 0) {
        struct span mark = make_span(form, reference.offset, reference.offset + 1);
        mark.length += is_and(form, reference);
        diag_error(form->diags, "xml-syntax", mark, "'%.*s' begins no entity", (int)mark.length, span_text(mark));
        diag_note(form->diags, "write '&amp;', or in an expression 'and' or 'band'");
    } else if (span_text(name)[0] == '#') {
        diag_error(form->diags, "xml-syntax", reference, "'&%.*s;' is not a character of XML", shown(name),
                   span_text(name));
    } else {
        diag_error(form->diags, "xml-syntax", reference, "unknown entity '&%.*s;'", shown(name), span_text(name));
        diag_note(form->diags, "the entities are '&lt;', '&gt;', '&amp;', '&quot;' and '&apos;'");
    }
}

/* A reference in [at, end); its '&' is at `at`. Returns its length. */
static size_t check_reference(const struct form *form, size_t at, size_t end)
{
    size_t to = at + 1;
    while (to < end && is_reference_byte(form->source->bytes[to]))
        to++;
    bool closed = to < end && form->source->bytes[to] == ';';
    struct span name = make_span(form, at + 1, to);
    bool numeric = name.length > 0 && span_text(name)[0] == '#';
    bool known = numeric ? is_xml_character(reference_value(span_text(name), name.length)) : is_entity(name);
    struct span reference = make_span(form, at, to + closed);
    if (!closed || !known)
        report_reference(form, reference, closed);
    return reference.length + is_and(form, reference);
}

static void check_references(const struct form *form, struct span span)
{
    size_t at = span.offset, end = span.offset + span.length;
    while (at < end && form->diags->error_count < DIAG_MAX) {
        const char *found = memchr(form->source->bytes + at, '&', end - at);
        if (found == NULL)
            return;
        at = (size_t)(found - form->source->bytes);
        at += check_reference(form, at, end);
    }
}

/* ---- names and attributes ---- */

static bool is_name_byte(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
    return letter || (!first && ((c >= '0' && c <= '9') || c == '-' || c == '.'));
}

/* XML has more letters, but no name of ours does. */
static bool check_name(const struct form *form, struct span name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (is_name_byte(span_text(name)[i], i == 0))
            continue;
        uint32_t character;
        size_t length = decode_utf8(form->source, name.offset + i, &character);
        diag_error(form->diags, "xml-syntax", make_span(form, name.offset + i, name.offset + i + length),
                   "'%.*s' cannot %s a name", (int)length, span_text(name) + i, i == 0 ? "begin" : "stand in");
        return false;
    }
    return true;
}

static bool report_attribute(const struct form *form, const struct raw_attribute *attribute, const char *before,
                             const char *after)
{
    struct span name = attribute->name;
    diag_error(form->diags, "xml-syntax", name, "%s'%.*s'%s", before, shown(name), span_text(name), after);
    return false;
}

/* A '<' in a value is what an unescaped comparison gives, and what a forgotten quote gives. */
static bool report_less(const struct form *form, const struct raw_attribute *attribute, const char *less)
{
    struct span value = attribute->value;
    size_t before = (size_t)(less - span_text(value));
    if (memchr(span_text(value), '\n', before) != NULL) {
        return report_attribute(form, attribute, "value of ", " has no closing quote");
    }
    diag_error(form->diags, "xml-syntax", make_span(form, value.offset + before, value.offset + before + 1),
               "'<' in the value of '%.*s'", shown(attribute->name), span_text(attribute->name));
    diag_note(form->diags, "write '&lt;', or in an expression 'lt', 'le' or 'shl'");
    return true;
}

static bool check_attribute_form(const struct form *form, const struct raw_attribute *attribute)
{
    switch (attribute->form) {
    case ATTRIBUTE_FINE:
        break;
    case ATTRIBUTE_NO_NAME:
        return report_attribute(form, attribute, "", " cannot stand in a tag");
    case ATTRIBUTE_NO_VALUE:
        return check_name(form, attribute->name) && report_attribute(form, attribute, "attribute ", " has no value");
    case ATTRIBUTE_NO_QUOTE:
        return report_attribute(form, attribute, "value of ", " is not in quotes");
    case ATTRIBUTE_NOT_CLOSED:
        return report_attribute(form, attribute, "value of ", " has no closing quote");
    }
    if (!attribute->spaced)
        return report_attribute(form, attribute, "no white space before ", "");
    return check_name(form, attribute->name);
}

static bool check_attribute(const struct form *form, const struct raw_attribute *attribute)
{
    if (!check_attribute_form(form, attribute))
        return false;
    struct span value = attribute->value;
    const char *less = value.length > 0 ? memchr(span_text(value), '<', value.length) : NULL;
    if (less != NULL)
        return report_less(form, attribute, less);
    check_references(form, value);
    return true;
}

static bool same_name(struct span a, struct span b)
{
    return a.length == b.length && memcmp(span_text(a), span_text(b), a.length) == 0;
}

static void check_duplicate(const struct form *form, const struct span names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!same_name(names[i], names[count]))
            continue;
        diag_error(form->diags, "duplicate-attribute", names[count], "attribute '%.*s' is given twice",
                   shown(names[count]), span_text(names[count]));
        return;
    }
}

static bool report_too_many(const struct form *form, struct span name, const char *what, int most)
{
    diag_error(form->diags, "too-many-attributes", name, "%s has more than %d attributes", what, most);
    return false;
}

static bool check_attributes(struct form *form, struct span tag)
{
    struct span names[READ_ATTRIBUTES_MAX];
    size_t count = 0;
    struct raw_attribute attribute = {.to = tag.offset + tag.length};
    while (scan_attribute(form->source, attribute.to, &attribute)) {
        if (count == READ_ATTRIBUTES_MAX)
            return report_too_many(form, attribute.name, "element", READ_ATTRIBUTES_MAX);
        if (form->attributes++ == ALL_ATTRIBUTES_MAX)
            return report_too_many(form, attribute.name, "document", ALL_ATTRIBUTES_MAX);
        if (!check_attribute(form, &attribute))
            return false;
        names[count] = attribute.name;
        check_duplicate(form, names, count++);
    }
    return true;
}

/* ---- the tree ---- */

static bool report_markup(const struct form *form, const struct markup *markup, size_t length, const char *message)
{
    diag_error(form->diags, "xml-syntax", make_span(form, markup->from, markup->from + length), "%s", message);
    return false;
}

static bool check_start(struct form *form, const struct markup *markup)
{
    struct span name = markup->name;
    if (!check_name(form, name) || !check_attributes(form, name))
        return false;
    if (!markup->closed) {
        diag_error(form->diags, "xml-syntax", name, "tag of '%.*s' is not closed by '>'", shown(name), span_text(name));
        return false;
    }
    if (form->depth == 0 && form->elements > 0) {
        diag_error(form->diags, "xml-syntax", name, "'%.*s' is a second root element", shown(name), span_text(name));
        return false;
    }
    if (form->depth == READ_DEPTH_MAX) {
        diag_error(form->diags, "nesting-depth", name, "elements nest deeper than %d levels", READ_DEPTH_MAX);
        return false;
    }
    if (form->elements++ == READ_ELEMENTS_MAX) {
        diag_error(form->diags, "too-many-elements", name, "document has more than %d elements", READ_ELEMENTS_MAX);
        return false;
    }
    if (!markup->empty)
        form->open[form->depth++] = name;
    return true;
}

static bool check_end(struct form *form, const struct markup *markup)
{
    struct span name = markup->name;
    if (form->depth == 0) {
        diag_error(form->diags, "xml-syntax", name, "'</%.*s>' closes nothing", shown(name), span_text(name));
        return false;
    }
    struct span open = form->open[form->depth - 1];
    if (!same_name(open, name)) {
        diag_error(form->diags, "xml-syntax", name, "'</%.*s>' where '</%.*s>' is expected", shown(name),
                   span_text(name), shown(open), span_text(open));
        diag_note(form->diags, "'%.*s' begins on line %zu", shown(open), span_text(open),
                  source_locate(form->source, open.offset).line);
        return false;
    }
    if (!markup->closed) {
        diag_error(form->diags, "xml-syntax", name, "end tag of '%.*s' is not closed by '>'", shown(name),
                   span_text(name));
        return false;
    }
    form->depth--;
    return true;
}

static bool check_comment(const struct form *form, const struct markup *markup)
{
    if (!markup->closed)
        return report_markup(form, markup, 4, "comment is not closed by '-->'");
    const char *bytes = form->source->bytes;
    for (size_t at = markup->from + 4; at + 3 < markup->to; at++) {
        if (bytes[at] != '-' || bytes[at + 1] != '-')
            continue;
        diag_error(form->diags, "xml-syntax", make_span(form, at, at + 2), "'--' inside a comment");
        return false;
    }
    return true;
}

static bool check_instruction(const struct form *form, const struct markup *markup)
{
    if (!markup->closed)
        return report_markup(form, markup, 2, "processing instruction is not closed by '?>'");
    if (markup->name.length == 0)
        return report_markup(form, markup, 2, "processing instruction has no name");
    if (!check_name(form, markup->name))
        return false;
    const char *after = span_text(markup->name) + markup->name.length;
    if (!scan_is_white(*after) && strncmp(after, "?>", 2) != 0)
        return report_markup(form, markup, 2, "processing instruction has a malformed name");
    bool reserved = markup->name.length == 3 && strncasecmp(span_text(markup->name), "xml", 3) == 0;
    if (!reserved)
        return true;
    if (markup->from != form->begin || !scan_span_is(markup->name, "xml"))
        return report_markup(form, markup, 5, "an XML declaration can only be the first thing of a document");
    return check_declaration(form, markup);
}

static bool check_doctype(const struct form *form, const struct markup *markup)
{
    diag_error(form->diags, "xml-dtd", make_span(form, markup->from, markup->from + 9),
               "document type declarations are not accepted");
    diag_note(form->diags, "remove it: a description needs no DTD and has no entities of its own");
    return false;
}

static bool check_markup(struct form *form, const struct markup *markup)
{
    switch (markup->kind) {
    case MARKUP_NONE:
        return true;
    case MARKUP_START:
        return check_start(form, markup);
    case MARKUP_END:
        return check_end(form, markup);
    case MARKUP_COMMENT:
        return check_comment(form, markup);
    case MARKUP_CDATA:
        if (form->depth == 0)
            return report_markup(form, markup, 9, "CDATA outside of the root element");
        return markup->closed || report_markup(form, markup, 9, "CDATA is not closed by ']]>'");
    case MARKUP_INSTRUCTION:
        return check_instruction(form, markup);
    case MARKUP_DOCTYPE:
        return check_doctype(form, markup);
    case MARKUP_STRAY:
        break;
    }
    (void)report_markup(form, markup, 1, "'<' begins no tag");
    diag_note(form->diags, "write '&lt;'");
    return false;
}

/* The text between two markups. */
static bool check_text(const struct form *form, size_t from, size_t to)
{
    while (from < to && scan_is_white(form->source->bytes[from]))
        from++;
    while (from < to && scan_is_white(form->source->bytes[to - 1]))
        to--;
    if (from == to)
        return true;
    struct span text = make_span(form, from, to);
    if (form->depth == 0) {
        diag_error(form->diags, "xml-syntax", text, "text %s the root element",
                   form->elements == 0 ? "before" : "after");
        return false;
    }
    for (size_t at = from; at + 2 < to; at++) {
        if (memcmp(form->source->bytes + at, "]]>", 3) != 0)
            continue;
        diag_error(form->diags, "xml-syntax", make_span(form, at, at + 3), "']]>' in text");
        diag_note(form->diags, "write ']]&gt;'");
        return false;
    }
    check_references(form, text);
    return true;
}

static bool check_complete(const struct form *form)
{
    if (form->depth > 0) {
        struct span open = form->open[form->depth - 1];
        diag_error(form->diags, "xml-syntax", open, "element '%.*s' is not closed", shown(open), span_text(open));
        return false;
    }
    if (form->elements > 0)
        return true;
    diag_error(form->diags, "xml-syntax", make_span(form, form->source->length, form->source->length),
               form->source->length == form->begin ? "document is empty" : "document has no element");
    return false;
}

bool read_form(const struct source *source, struct diags *diags)
{
    struct form form = {.source = source, .diags = diags};
    if (source->length > SOURCE_BYTES_MAX) {
        diag_error(diags, "xml-too-large", (struct span){source, 0, 0}, "document is larger than 64 MiB");
        return false;
    }
    if (!check_bytes(&form))
        return false;
    if (source->length >= 3 && memcmp(source->bytes, byte_order_mark, 3) == 0)
        form.begin = 3;
    size_t at = form.begin, errors_before = diags->error_count;
    for (;;) {
        struct markup markup = scan_markup(source, at);
        if (!check_text(&form, at, markup.from) || !check_markup(&form, &markup))
            return false;
        if (markup.kind == MARKUP_NONE)
            return check_complete(&form) && diags->error_count == errors_before;
        if (diags->error_count >= DIAG_MAX)
            return false;
        at = markup.to;
    }
}
