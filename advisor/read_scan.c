#include "read_scan.h"

#include <string.h>

bool scan_is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool scan_span_is(struct span span, const char *word)
{
    return span.length == strlen(word) && memcmp(span.source->bytes + span.offset, word, span.length) == 0;
}

static bool begins(const struct source *source, size_t at, const char *word)
{
    size_t length = strlen(word);
    return source->length - at >= length && memcmp(source->bytes + at, word, length) == 0;
}

static size_t skip_white(const struct source *source, size_t at)
{
    while (at < source->length && scan_is_white(source->bytes[at]))
        at++;
    return at;
}

/* The offset just past the first `word` at or after `at`; SIZE_MAX: there is none. */
static size_t find_past(const struct source *source, size_t at, const char *word)
{
    size_t length = strlen(word);
    while (at < source->length) {
        const char *found = memchr(source->bytes + at, word[0], source->length - at);
        if (found == NULL)
            break;
        at = (size_t)(found - source->bytes);
        if (begins(source, at, word))
            return at + length;
        at++;
    }
    return SIZE_MAX;
}

static struct span scan_name(const struct source *source, size_t at)
{
    size_t to = at;
    while (to < source->length && source->bytes[to] != '\0' && strchr(" \t\r\n=/<>\"'?&;", source->bytes[to]) == NULL)
        to++;
    return (struct span){source, at, to - at};
}

static void finish_attribute(const struct source *source, struct raw_attribute *out, size_t at)
{
    at = skip_white(source, at);
    out->to = at;
    if (at == source->length || source->bytes[at] != '=') {
        out->form = ATTRIBUTE_NO_VALUE;
        return;
    }
    at = skip_white(source, at + 1);
    char quote = at < source->length ? source->bytes[at] : '\0';
    if (quote != '"' && quote != '\'') {
        out->form = ATTRIBUTE_NO_QUOTE;
        out->value = scan_name(source, at);
        out->to = at + out->value.length;
        return;
    }
    const char *close = memchr(source->bytes + at + 1, quote, source->length - at - 1);
    size_t end = close == NULL ? source->length : (size_t)(close - source->bytes);
    out->form = close == NULL ? ATTRIBUTE_NOT_CLOSED : ATTRIBUTE_FINE;
    out->value = (struct span){source, at + 1, end - at - 1};
    out->to = close == NULL ? end : end + 1;
}

bool scan_attribute(const struct source *source, size_t at, struct raw_attribute *out)
{
    size_t from = skip_white(source, at);
    *out = (struct raw_attribute){.spaced = from > at, .to = from};
    if (from == source->length || source->bytes[from] == '>' || begins(source, from, "/>") ||
        begins(source, from, "?>"))
        return false;
    out->name = scan_name(source, from);
    if (out->name.length > 0) {
        finish_attribute(source, out, from + out->name.length);
        return true;
    }
    out->form = ATTRIBUTE_NO_NAME;
    out->name.length = 1;
    out->to = from + 1;
    return true;
}

static void scan_start(const struct source *source, struct markup *markup)
{
    struct raw_attribute attribute = {.to = markup->name.offset + markup->name.length};
    while (scan_attribute(source, attribute.to, &attribute))
        continue;
    markup->empty = begins(source, attribute.to, "/>");
    markup->closed = markup->empty || begins(source, attribute.to, ">");
    markup->to = attribute.to + (markup->empty ? 2 : attribute.to < source->length ? 1 : 0);
}

static void scan_end(const struct source *source, struct markup *markup)
{
    size_t at = skip_white(source, markup->name.offset + markup->name.length);
    markup->closed = at < source->length && source->bytes[at] == '>';
    markup->to = markup->closed ? at + 1 : at;
}

static void scan_until(const struct source *source, struct markup *markup, enum markup_kind kind, size_t from,
                       const char *close)
{
    size_t to = find_past(source, from, close);
    markup->kind = kind;
    markup->closed = to != SIZE_MAX;
    markup->to = markup->closed ? to : source->length;
}

static bool may_begin_name(const struct source *source, size_t at)
{
    return at < source->length && !scan_is_white(source->bytes[at]) && scan_name(source, at).length > 0;
}

struct markup scan_markup(const struct source *source, size_t at)
{
    const char *found = at < source->length ? memchr(source->bytes + at, '<', source->length - at) : NULL;
    size_t from = found == NULL ? source->length : (size_t)(found - source->bytes);
    struct markup markup = {.kind = MARKUP_NONE, .from = from, .to = from};
    if (found == NULL)
        return markup;
    if (begins(source, from, "<!--")) {
        scan_until(source, &markup, MARKUP_COMMENT, from + 4, "-->");
    } else if (begins(source, from, "<![CDATA[")) {
        scan_until(source, &markup, MARKUP_CDATA, from + 9, "]]>");
    } else if (begins(source, from, "<!DOCTYPE")) {
        scan_until(source, &markup, MARKUP_DOCTYPE, from + 9, ">");
    } else if (begins(source, from, "<?")) {
        scan_until(source, &markup, MARKUP_INSTRUCTION, from + 2, "?>");
        markup.name = scan_name(source, from + 2);
    } else if (begins(source, from, "</")) {
        markup.kind = MARKUP_END;
        markup.name = scan_name(source, from + 2);
        scan_end(source, &markup);
    } else if (may_begin_name(source, from + 1)) {
        markup.kind = MARKUP_START;
        markup.name = scan_name(source, from + 1);
        scan_start(source, &markup);
    } else {
        markup.kind = MARKUP_STRAY;
        markup.to = from + 1;
    }
    return markup;
}
