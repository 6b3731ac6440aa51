/* Takes the text of an expression, gives its tokens one by one. Here alone (and in template_lex) PCRE2 is used. */
#ifndef SW_EXPR_LEX_H
#define SW_EXPR_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "source.h"

enum expr_token_kind {
    TOKEN_END,
    TOKEN_BAD, /* was reported by the lexer */
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_AND,
    TOKEN_XOR,
    TOKEN_OR,
    TOKEN_LOGICAL_AND,
    TOKEN_LOGICAL_OR,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_TILDE,
    TOKEN_NOT,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_INDEX,
    TOKEN_CLOSE_INDEX,
    TOKEN_COMMA
};

struct expr_token {
    enum expr_token_kind kind;
    const char *text; /* as decoded; `length` bytes, not NUL-terminated; empty at the end */
    size_t length;
    int64_t number; /* TOKEN_NUMBER */
    bool spaced;    /* white space stands before it */
    struct span where;
};

struct expr_lexer;

/* Starts on `text`, which must outlive the lexer; close it with expr_lex_close. Never NULL: running out of memory
 * ends the process, as it does for an arena. */
struct expr_lexer *expr_lex_open(const struct quoted *text) __attribute__((returns_nonnull, warn_unused_result));

/* The next token; TOKEN_END again and again at the end. Words (lt le and or band shl) come as their operators. A
 * malformed or too large number and a character that no expression has are reported (TOKEN_BAD). */
struct expr_token expr_lex_next(struct expr_lexer *lexer, struct diags *diags);

void expr_lex_close(struct expr_lexer *lexer);

#endif
