/* Takes template text, gives its tags one after the other; what lies between them is literal text. The rules for
 * standalone lines are the parser's, in template.c. Here alone (and in expr_lex) PCRE2 is used. */
#ifndef SW_TEMPLATE_LEX_H
#define SW_TEMPLATE_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

/* Longer names of tags are errors: it bounds the cost of a look-up and the buffers of names. */
enum { TEMPLATE_NAME_MAX = 255 };

enum template_tag_kind {
    TEMPLATE_VARIABLE,   /* {{name}} */
    TEMPLATE_UNESCAPED,  /* {{{name}}} and {{&name}} */
    TEMPLATE_SECTION,    /* {{#name}} */
    TEMPLATE_INVERTED,   /* {{^name}} */
    TEMPLATE_CLOSE,      /* {{/name}} */
    TEMPLATE_PARTIAL,    /* {{>name}} */
    TEMPLATE_PARENT,     /* {{<name}} */
    TEMPLATE_BLOCK,      /* {{$name}} */
    TEMPLATE_COMMENT,    /* {{!text}} */
    TEMPLATE_DELIMITERS, /* {{=<% %>=}} */
    TEMPLATE_UNCLOSED    /* an opening delimiter that nothing closes: the last tag, everything after it is lost */
};

struct template_tag {
    enum template_tag_kind kind;
    size_t offset; /* of the whole tag, delimiters included */
    size_t length;
    const char *name;   /* in the arena; "" for comments and delimiters */
    size_t name_offset; /* in the source */
    bool dynamic;       /* {{>*name}}, {{<*name}}: where the name is to be found; an end tag keeps its asterisk */
};

struct template_lexer;

/* Never NULL. `source`, `arena` and `diags` must outlive the lexer; names of tags are put into the arena. */
struct template_lexer *template_lexer_new(const struct source *source, struct arena *arena, struct diags *diags)
    __attribute__((returns_nonnull, warn_unused_result));

/* Stores the next tag. Returns false at the end of the text, and after DIAG_MAX errors in it. A malformed tag is
 * reported and still given, with its kind and the name as far as there is one, so that sections keep their ends. */
bool template_lexer_next(struct template_lexer *lexer, struct template_tag *tag) __attribute__((warn_unused_result));

void template_lexer_free(struct template_lexer *lexer);

#endif
