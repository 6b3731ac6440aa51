#include "read_xml.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include "read_form.h"
#include "read_scan.h"
#include "text.h"

/* libxml2 says what happens, not where to the byte. As read_form has found the same markup in the same order, a
 * cursor that moves over the source with the events knows the places. */
struct builder {
    struct arena *arena;
    const struct source *source;
    struct diags *diags;
    size_t at;   /* past the markup of the last event */
    size_t line; /* of `counted`, from 1 */
    size_t counted;
    struct xml_node *root;
    struct xml_node *open; /* the innermost open element */
    bool open_is_empty;    /* it was closed by its own '/>' */
    struct text text;      /* decoded, not yet in the tree */
    size_t text_from;
    bool in_text;
    bool failed;
};

static struct markup take_markup(struct builder *builder, enum markup_kind kind)
{
    struct markup markup;
    do {
        markup = scan_markup(builder->source, builder->at);
        builder->at = markup.to;
    } while (markup.kind != kind && markup.kind != MARKUP_NONE);
    return markup;
}

static size_t count_line(struct builder *builder, size_t offset)
{
    for (; builder->counted < offset; builder->counted++)
        builder->line += builder->source->bytes[builder->counted] == '\n';
    return builder->line;
}

static void append_node(struct builder *builder, struct xml_node *node)
{
    struct xml_node *parent = builder->open;
    node->parent = parent;
    if (parent == NULL)
        builder->root = node;
    else if (parent->last == NULL)
        parent->first = node;
    else
        parent->last->next = node;
    if (parent != NULL)
        parent->last = node;
}

static bool is_blank(const struct text *text)
{
    size_t i = 0;
    while (i < text->length && scan_is_white(text->bytes[i]))
        i++;
    return i == text->length;
}

/* Puts the text that was gathered into the tree; it ends where the next markup begins. */
static void flush_text(struct builder *builder)
{
    if (!builder->in_text)
        return;
    builder->in_text = false;
    if (!is_blank(&builder->text) && builder->open != NULL) {
        struct xml_node *node = arena_alloc(builder->arena, sizeof(*node));
        node->kind = XML_TEXT;
        node->text = arena_copy(builder->arena, text_string(&builder->text), builder->text.length);
        size_t end = scan_markup(builder->source, builder->at).from;
        node->where = (struct span){builder->source, builder->text_from, end - builder->text_from};
        append_node(builder, node);
    }
    builder->text.length = 0;
}

static void begin_text(struct builder *builder)
{
    if (!builder->in_text)
        builder->text_from = builder->at;
    builder->in_text = true;
}

static const char *copy_string(struct builder *builder, const xmlChar *string)
{
    return string == NULL ? NULL : arena_copy(builder->arena, (const char *)string, strlen((const char *)string));
}

/* Whether a raw name is prefix:local. */
static bool is_qualified(struct span span, const char *prefix, const char *local)
{
    const char *raw = span.source->bytes + span.offset;
    size_t prefix_length = prefix == NULL ? 0 : strlen(prefix) + 1, local_length = strlen(local);
    if (span.length != prefix_length + local_length || memcmp(raw + prefix_length, local, local_length) != 0)
        return false;
    return prefix == NULL || (raw[prefix_length - 1] == ':' && memcmp(raw, prefix, prefix_length - 1) == 0);
}

/* Gives an attribute the place of its raw form in the tag whose name ends at `tag_end`. */
static void place_attribute(const struct builder *builder, struct xml_attribute *attribute, const char *prefix,
                            size_t tag_end)
{
    struct raw_attribute raw = {.to = tag_end};
    while (scan_attribute(builder->source, raw.to, &raw)) {
        if (!is_qualified(raw.name, prefix, attribute->name))
            continue;
        attribute->where = raw.name;
        attribute->value.where = raw.value;
        return;
    }
}

/* libxml2 gives five pointers an attribute: local name, prefix, namespace, the value's begin and end. */
static void fill_attributes(struct builder *builder, struct xml_node *node, int count, const xmlChar **parts)
{
    node->attribute_count = (size_t)count;
    node->attributes = arena_array(builder->arena, node->attribute_count, sizeof(*node->attributes));
    size_t tag_end = node->where.offset + node->where.length;
    for (size_t i = 0; i < node->attribute_count; i++, parts += 5) {
        struct xml_attribute *attribute = &node->attributes[i];
        attribute->name = copy_string(builder, parts[0]);
        attribute->space = copy_string(builder, parts[2]);
        attribute->value.text = arena_copy(builder->arena, (const char *)parts[3], (size_t)(parts[4] - parts[3]));
        place_attribute(builder, attribute, (const char *)parts[1], tag_end);
    }
    struct raw_attribute raw = {.to = tag_end};
    while (scan_attribute(builder->source, raw.to, &raw))
        if (scan_span_is(raw.name, "xmlns"))
            node->declaration = raw.value;
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space, int space_count,
                     const xmlChar **spaces, int attribute_count, int default_count, const xmlChar **attributes)
{
    (void)prefix, (void)space_count, (void)spaces, (void)default_count;
    struct builder *builder = context;
    if (builder->failed)
        return;
    flush_text(builder);
    struct markup markup = take_markup(builder, MARKUP_START);
    if (markup.kind == MARKUP_NONE)
        return;
    struct xml_node *node = arena_alloc(builder->arena, sizeof(*node));
    node->kind = XML_ELEMENT;
    node->name = copy_string(builder, name);
    node->space = copy_string(builder, space);
    node->where = markup.name;
    node->line = count_line(builder, markup.from);
    fill_attributes(builder, node, attribute_count, attributes);
    append_node(builder, node);
    builder->open = node;
    builder->open_is_empty = markup.empty;
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space)
{
    (void)name, (void)prefix, (void)space;
    struct builder *builder = context;
    if (builder->failed || builder->open == NULL)
        return;
    flush_text(builder);
    if (!builder->open_is_empty)
        (void)take_markup(builder, MARKUP_END);
    builder->open_is_empty = false;
    builder->open = builder->open->parent;
}

static void on_characters(void *context, const xmlChar *characters, int length)
{
    struct builder *builder = context;
    if (builder->failed)
        return;
    begin_text(builder);
    text_append(&builder->text, (const char *)characters, (size_t)length);
}

/* Blanks for the markup in the midst of a text, so that places in what is decoded lead to places in the source. A line
 * break counts as one. */
static void append_blanks(struct builder *builder, size_t from, size_t to)
{
    const char *bytes = builder->source->bytes;
    for (size_t i = from; i < to; i++)
        if (bytes[i] != '\r' || bytes[i + 1] != '\n')
            text_putc(&builder->text, ' ');
}

static void on_cdata(void *context, const xmlChar *characters, int length)
{
    struct builder *builder = context;
    if (builder->failed)
        return;
    begin_text(builder);
    (void)take_markup(builder, MARKUP_CDATA);
    text_repeat(&builder->text, ' ', strlen("<![CDATA["));
    text_append(&builder->text, (const char *)characters, (size_t)length);
    text_repeat(&builder->text, ' ', strlen("]]>"));
}

static void skip_markup(struct builder *builder, enum markup_kind kind)
{
    if (builder->failed)
        return;
    struct markup markup = take_markup(builder, kind);
    if (builder->in_text)
        append_blanks(builder, markup.from, markup.to);
}

static void on_comment(void *context, const xmlChar *content)
{
    (void)content;
    skip_markup(context, MARKUP_COMMENT);
}

static void on_instruction(void *context, const xmlChar *target, const xmlChar *content)
{
    (void)target, (void)content;
    skip_markup(context, MARKUP_INSTRUCTION);
}

/* ---- what only libxml2 finds ---- */

/* The place that libxml2 gives as line and column, the latter in characters. */
static size_t find_offset(const struct source *source, int line, int column)
{
    size_t at = 0;
    for (int i = 1; i < line; i++) {
        const char *end = memchr(source->bytes + at, '\n', source->length - at);
        if (end == NULL)
            return source->length;
        at = (size_t)(end - source->bytes) + 1;
    }
    while (column > 1 && at < source->length && source->bytes[at] != '\n') {
        at++;
        if (((unsigned char)source->bytes[at] & 0xc0) != 0x80)
            column--;
    }
    return at;
}

/* libxml2's sentences begin with a capital or the name of a function of its own, and end in a line break. */
static char *own_words(struct arena *arena, const char *message)
{
    if (message == NULL)
        message = "malformed document";
    const char *colon = strchr(message, ':');
    if (strncmp(message, "xml", 3) == 0 && colon != NULL && colon[1] == ' ' && colon[2] != '\n')
        message = colon + 2;
    size_t length = strlen(message);
    while (length > 0 && scan_is_white(message[length - 1]))
        length--;
    char *words = arena_copy(arena, message, length);
    bool capital = words[0] >= 'A' && words[0] <= 'Z';
    if (capital && words[1] >= 'a' && words[1] <= 'z')
        words[0] = (char)(words[0] + ('a' - 'A'));
    return words;
}

#if LIBXML_VERSION >= 21200
static void on_error(void *context, const xmlError *error)
#else
static void on_error(void *context, xmlErrorPtr error)
#endif
{
    struct builder *builder = context;
    if (builder->failed || error->level < XML_ERR_ERROR)
        return;
    if (error->code == XML_ERR_NO_MEMORY)
        abort();
    builder->failed = true;
    struct span where = {builder->source, find_offset(builder->source, error->line, error->int2), 1};
    /* A namespace is looked up once the tag was read; its name says more than its end. */
    struct markup next = scan_markup(builder->source, builder->at);
    if (error->domain == XML_FROM_NAMESPACE && next.kind == MARKUP_START)
        where = next.name;
    diag_error(builder->diags, "xml-syntax", where, "%s", own_words(builder->arena, error->message));
}

/* read_form has refused every DTD; should one get here, nothing of it is to count. */
static void on_doctype(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    (void)name, (void)external, (void)system;
    struct builder *builder = context;
    if (builder->failed)
        return;
    builder->failed = true;
    diag_error(builder->diags, "xml-dtd", (struct span){builder->source, builder->at, 0},
               "document type declarations are not accepted");
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .internalSubset = on_doctype,
    .startElementNs = on_start,
    .endElementNs = on_end,
    .characters = on_characters,
    .ignorableWhitespace = on_characters,
    .cdataBlock = on_cdata,
    .comment = on_comment,
    .processingInstruction = on_instruction,
    .serror = on_error,
};

static void parse(struct builder *builder)
{
    xmlParserCtxtPtr context = xmlNewParserCtxt();
    if (context == NULL)
        abort();
    *context->sax = handlers;
    context->userData = builder;
    /* NOENT: "&amp;" comes as '&'. Without a DTD, which is refused, there are no other entities to replace. */
    xmlDocPtr document = xmlCtxtReadMemory(context, builder->source->bytes, (int)builder->source->length, NULL, NULL,
                                           XML_PARSE_NONET | XML_PARSE_NOENT);
    if (!context->wellFormed && !builder->failed) {
        builder->failed = true;
        diag_error(builder->diags, "xml-syntax", (struct span){builder->source, builder->at, 0}, "malformed document");
    }
    xmlFreeDoc(document);
    xmlFreeParserCtxt(context);
}

struct xml_node *read_xml(struct arena *arena, const struct source *source, struct diags *diags)
{
    _Static_assert(SOURCE_BYTES_MAX < INT_MAX, "libxml2 takes lengths as int");
    if (!read_form(source, diags))
        return NULL;
    struct builder builder = {.arena = arena, .source = source, .diags = diags, .line = 1};
    parse(&builder);
    text_free(&builder.text);
    return builder.failed ? NULL : builder.root;
}
