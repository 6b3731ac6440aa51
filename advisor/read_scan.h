/* Takes XML text, well-formed or not, gives its markup piece by piece with exact places. Knows nothing of elements'
 * nesting, namespaces or entities. */
#ifndef SW_READ_SCAN_H
#define SW_READ_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "source.h"

enum markup_kind {
    MARKUP_NONE, /* the end of the text */
    MARKUP_START,
    MARKUP_END,
    MARKUP_COMMENT,
    MARKUP_CDATA,
    MARKUP_INSTRUCTION, /* the XML declaration too */
    MARKUP_DOCTYPE,
    MARKUP_STRAY /* a '<' that begins nothing of these */
};

struct markup {
    enum markup_kind kind;
    size_t from;      /* its '<', or the end of the text */
    size_t to;        /* just past its '>' */
    bool closed;      /* it has its end; false: `to` is where looking for it stopped */
    bool empty;       /* MARKUP_START: closed by '/>' */
    struct span name; /* of start, end and instruction; its length may be 0 */
};

/* The first markup at or after offset `at`. */
struct markup scan_markup(const struct source *source, size_t at);

enum attribute_form {
    ATTRIBUTE_FINE,
    ATTRIBUTE_NO_NAME,   /* `name` is one strange byte */
    ATTRIBUTE_NO_VALUE,  /* no '=' after the name */
    ATTRIBUTE_NO_QUOTE,  /* no quote after '=' */
    ATTRIBUTE_NOT_CLOSED /* no closing quote */
};

struct raw_attribute {
    enum attribute_form form;
    bool spaced; /* white space stands before it */
    struct span name;
    struct span value; /* between the quotes */
    size_t to;         /* where to look for the next */
};

/* The attribute that follows offset `at` (just past the tag's name or the previous attribute) in a start tag or an
 * XML declaration. False at the tag's end, then out->to is there. */
bool scan_attribute(const struct source *source, size_t at, struct raw_attribute *out);

bool scan_is_white(char c);
/* Whether a span's bytes are `word`. */
bool scan_span_is(struct span span, const char *word);

#endif
