#include "template_lex.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* All quantifiers are possessive, so that no input makes a match backtrack. Templates may hold any bytes, so the
 * patterns work on bytes: \s and \S know ASCII only, and everything above it counts as part of a name. */
enum pattern { PATTERN_NAME, PATTERN_DYNAMIC, PATTERN_PATH, PATTERN_DELIMITERS, PATTERN_COUNT };

enum { CAPTURES = 2, DELIMITER_MAX = 64 };

/* A range of the source's bytes. */
struct range {
    size_t offset;
    size_t length;
};

struct template_lexer {
    const struct source *source;
    struct arena *arena;
    struct diags *diags;
    size_t position;
    size_t errors_before; /* the errors that other texts brought along */
    struct range opening;
    struct range closing;
    const char *opening_bytes;
    const char *closing_bytes;
    pcre2_code *patterns[PATTERN_COUNT];
    pcre2_match_data *match;
};

static pcre2_code *compile_pattern(enum pattern which)
{
    static const char *const patterns[PATTERN_COUNT] = {
        [PATTERN_NAME] = "\\s*+(\\S++)\\s*+",
        [PATTERN_DYNAMIC] = "\\s*+\\*\\s*+(\\S++)\\s*+",
        [PATTERN_PATH] = "\\.|[^.\\s]++(?:\\.[^.\\s]++)*+",
        [PATTERN_DELIMITERS] = "\\s*+(\\S++)\\s++(\\S++)\\s*+",
    };
    int error;
    PCRE2_SIZE error_offset;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)patterns[which], PCRE2_ZERO_TERMINATED,
                                     PCRE2_ANCHORED | PCRE2_ENDANCHORED, &error, &error_offset, NULL);
    /* The patterns are constant: only running out of memory makes them fail. */
    if (code == NULL)
        abort();
    return code;
}

struct template_lexer *template_lexer_new(const struct source *source, struct arena *arena, struct diags *diags)
{
    struct template_lexer *lexer = arena_alloc(arena, sizeof(*lexer));
    lexer->source = source;
    lexer->arena = arena;
    lexer->diags = diags;
    lexer->errors_before = diags->error_count;
    lexer->opening_bytes = "{{";
    lexer->closing_bytes = "}}";
    lexer->opening.length = lexer->closing.length = 2;
    for (int i = 0; i < PATTERN_COUNT; i++)
        lexer->patterns[i] = compile_pattern((enum pattern)i);
    lexer->match = pcre2_match_data_create(CAPTURES + 1, NULL);
    if (lexer->match == NULL)
        abort();
    return lexer;
}

void template_lexer_free(struct template_lexer *lexer)
{
    for (int i = 0; i < PATTERN_COUNT; i++)
        pcre2_code_free(lexer->patterns[i]);
    pcre2_match_data_free(lexer->match);
}

static struct span span_of(const struct template_lexer *lexer, struct range range)
{
    return (struct span){lexer->source, range.offset, range.length};
}

/* Whether the pattern matches the whole range; captures[i] is the range of group i + 1. A match that fails for want
 * of memory counts as no match: the tag is then reported as malformed. */
static bool matches(struct template_lexer *lexer, enum pattern which, struct range range, struct range *captures,
                    size_t capture_count)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)lexer->source->bytes + range.offset;
    if (pcre2_match(lexer->patterns[which], subject, range.length, 0, 0, lexer->match, NULL) < 0)
        return false;
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(lexer->match);
    for (size_t i = 0; i < capture_count; i++) {
        captures[i].offset = range.offset + ends[2 * i + 2];
        captures[i].length = ends[2 * i + 3] - ends[2 * i + 2];
    }
    return true;
}

/* Finds `length` bytes at or after `from`, before `to`. Returns `to` where there are none. */
static size_t find_bytes(const struct source *source, size_t from, size_t to, const char *bytes, size_t length)
{
    while (from < to && length <= to - from) {
        const char *first = memchr(source->bytes + from, bytes[0], to - from - length + 1);
        if (first == NULL)
            return to;
        from = (size_t)(first - source->bytes);
        if (memcmp(first, bytes, length) == 0)
            return from;
        from++;
    }
    return to;
}

/* Finds the end of a tag whose content starts at `from`: `mark` (if it is not 0) and then the closing delimiter. */
static size_t find_close(const struct template_lexer *lexer, size_t from, char mark)
{
    char wanted[DELIMITER_MAX + 1] = {mark};
    size_t length = mark != 0;
    memcpy(wanted + length, lexer->closing_bytes, lexer->closing.length);
    length += lexer->closing.length;
    return find_bytes(lexer->source, from, lexer->source->length, wanted, length);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool kind_of_sigil(char sigil, enum template_tag_kind *kind)
{
    switch (sigil) {
    case '&':
    case '{':
        *kind = TEMPLATE_UNESCAPED;
        return true;
    case '#':
        *kind = TEMPLATE_SECTION;
        return true;
    case '^':
        *kind = TEMPLATE_INVERTED;
        return true;
    case '/':
        *kind = TEMPLATE_CLOSE;
        return true;
    case '>':
        *kind = TEMPLATE_PARTIAL;
        return true;
    case '<':
        *kind = TEMPLATE_PARENT;
        return true;
    case '$':
        *kind = TEMPLATE_BLOCK;
        return true;
    case '!':
        *kind = TEMPLATE_COMMENT;
        return true;
    case '=':
        *kind = TEMPLATE_DELIMITERS;
        return true;
    default:
        *kind = TEMPLATE_VARIABLE;
        return false;
    }
}

/* Reads the kind of a tag whose content starts at *at, and moves *at past it. Returns the mark that has to stand
 * before the closing delimiter, 0 for none. White space may stand before a sigil, as in {{ #name }}, except before
 * those that come with a mark of their own. */
static char read_sigil(const struct template_lexer *lexer, size_t *at, enum template_tag_kind *kind)
{
    size_t from = *at;
    while (from < lexer->source->length && is_space(lexer->source->bytes[from]))
        from++;
    char sigil = from < lexer->source->length ? lexer->source->bytes[from] : '\0';
    bool marked = sigil == '{' || sigil == '=';
    if (!kind_of_sigil(sigil, kind) || (marked && from != *at)) {
        *kind = TEMPLATE_VARIABLE;
        return 0;
    }
    *at = from + 1;
    return sigil == '{' ? '}' : sigil == '=' ? '=' : 0;
}

static void set_delimiters(struct template_lexer *lexer, struct range content, struct range tag)
{
    struct range pair[2];
    if (!matches(lexer, PATTERN_DELIMITERS, content, pair, 2)) {
        diag_error(lexer->diags, "template-syntax", span_of(lexer, tag), "malformed delimiters");
        diag_note(lexer->diags, "write two of them with a space between, as in {{=<%% %%>=}}");
        return;
    }
    if (pair[0].length > DELIMITER_MAX || pair[1].length > DELIMITER_MAX) {
        diag_error(lexer->diags, "template-syntax", span_of(lexer, tag), "delimiter longer than %d bytes",
                   DELIMITER_MAX);
        return;
    }
    lexer->opening = pair[0];
    lexer->closing = pair[1];
    lexer->opening_bytes = lexer->source->bytes + pair[0].offset;
    lexer->closing_bytes = lexer->source->bytes + pair[1].offset;
}

static struct range trimmed(const struct source *source, struct range range)
{
    while (range.length > 0 && is_space(source->bytes[range.offset])) {
        range.offset++;
        range.length--;
    }
    while (range.length > 0 && is_space(source->bytes[range.offset + range.length - 1]))
        range.length--;
    return range;
}

/* Whether a name of this kind is looked up in the view, where dots separate the parts of a path. */
static bool names_a_value(const struct template_tag *tag)
{
    switch (tag->kind) {
    case TEMPLATE_VARIABLE:
    case TEMPLATE_UNESCAPED:
    case TEMPLATE_SECTION:
    case TEMPLATE_INVERTED:
        return true;
    case TEMPLATE_PARTIAL:
    case TEMPLATE_PARENT:
        return tag->dynamic;
    case TEMPLATE_CLOSE:
    case TEMPLATE_BLOCK:
    case TEMPLATE_COMMENT:
    case TEMPLATE_DELIMITERS:
    case TEMPLATE_UNCLOSED:
        return false;
    }
    return false;
}

/* Reports what is wrong with a name, if anything is. The name of an end tag is not looked at: either it is that of
 * the section, where it was already reported, or it closes nothing, which is. */
static void check_name(struct template_lexer *lexer, const struct template_tag *tag, struct range name)
{
    struct range word;
    struct span where = span_of(lexer, name.length > 0 ? name : (struct range){tag->offset, tag->length});
    if (tag->kind == TEMPLATE_CLOSE)
        return;
    if (name.length == 0)
        diag_error(lexer->diags, "template-syntax", where, "tag without a name");
    else if (name.length > TEMPLATE_NAME_MAX)
        diag_error(lexer->diags, "template-syntax", where, "name longer than %d bytes", TEMPLATE_NAME_MAX);
    else if (memchr(lexer->source->bytes + name.offset, '\0', name.length) != NULL)
        diag_error(lexer->diags, "template-syntax", where, "NUL byte in a name");
    else if (!matches(lexer, PATTERN_NAME, name, &word, 1))
        diag_error(lexer->diags, "template-syntax", where, "white space in the name '%s'", tag->name);
    else if (names_a_value(tag) && !matches(lexer, PATTERN_PATH, name, NULL, 0))
        diag_error(lexer->diags, "template-syntax", where, "nothing before or after a dot in '%s'", tag->name);
}

static void read_name(struct template_lexer *lexer, struct template_tag *tag, struct range content)
{
    struct range name;
    bool injects = tag->kind == TEMPLATE_PARTIAL || tag->kind == TEMPLATE_PARENT;
    if (injects && matches(lexer, PATTERN_DYNAMIC, content, &name, 1))
        tag->dynamic = true;
    else
        name = trimmed(lexer->source, content);
    size_t kept = name.length > TEMPLATE_NAME_MAX ? TEMPLATE_NAME_MAX : name.length;
    tag->name = arena_copy(lexer->arena, lexer->source->bytes + name.offset, kept);
    tag->name_offset = name.offset;
    check_name(lexer, tag, name);
}

static void report_unclosed(struct template_lexer *lexer, size_t offset, size_t length, char mark)
{
    struct span where = {lexer->source, offset, length};
    diag_error(lexer->diags, "template-unclosed", where, "tag is not closed");
    char end[2] = {mark, '\0'};
    diag_note(lexer->diags, "'%s%.*s' is missing", end, (int)lexer->closing.length, lexer->closing_bytes);
}

/* The tag ends at `end` only on paper when another one opens inside it: what is missing is an end before that. Then
 * reading goes on at the inner one, which finds the errors after it. Delimiters and comments may hold anything. */
static size_t inner_opening(const struct template_lexer *lexer, const struct template_tag *tag, struct range content)
{
    size_t end = content.offset + content.length;
    if (tag->kind == TEMPLATE_COMMENT || tag->kind == TEMPLATE_DELIMITERS)
        return end;
    return find_bytes(lexer->source, content.offset, end, lexer->opening_bytes, lexer->opening.length);
}

static void finish_tag(struct template_lexer *lexer, struct template_tag *tag, struct range content)
{
    struct range whole = {tag->offset, tag->length};
    if (tag->kind == TEMPLATE_DELIMITERS)
        set_delimiters(lexer, content, whole);
    else if (tag->kind != TEMPLATE_COMMENT)
        read_name(lexer, tag, content);
}

/* Reads the tag whose opening delimiter is at `start`, and moves the lexer past it. */
static void read_tag(struct template_lexer *lexer, struct template_tag *tag, size_t start)
{
    size_t content = start + lexer->opening.length;
    *tag = (struct template_tag){.offset = start, .name = ""};
    char mark = read_sigil(lexer, &content, &tag->kind);
    size_t end = find_close(lexer, content, mark);
    size_t end_length = lexer->closing.length + (mark != 0);
    bool closed = end < lexer->source->length;
    struct range inside = {content, end - content};
    size_t inner = closed ? inner_opening(lexer, tag, inside) : end;
    if (!closed && mark != 0) {
        /* {{{name}} lacks its mark only: go on after the plain end. */
        inner = find_close(lexer, content, 0);
        if (inner < lexer->source->length)
            inner += lexer->closing.length;
    }
    if (!closed || inner < end) {
        report_unclosed(lexer, start, content - start, mark);
        tag->kind = inner < lexer->source->length ? TEMPLATE_COMMENT : TEMPLATE_UNCLOSED;
        tag->length = inner - start;
        lexer->position = inner;
        return;
    }
    tag->length = end + end_length - start;
    lexer->position = end + end_length;
    finish_tag(lexer, tag, inside);
}

bool template_lexer_next(struct template_lexer *lexer, struct template_tag *tag)
{
    /* Who reads more than that many errors? And each may have cost a search to the end of the text. */
    if (lexer->diags->error_count - lexer->errors_before > DIAG_MAX)
        return false;
    size_t length = lexer->source->length;
    size_t start = find_bytes(lexer->source, lexer->position, length, lexer->opening_bytes, lexer->opening.length);
    if (start >= length)
        return false;
    read_tag(lexer, tag, start);
    return true;
}
