#include "expr_lex.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct expr_lexer {
    struct quoted rest; /* what follows the last token: places are found from there, so that the whole is linear */
    size_t offset;      /* decoded bytes before rest.text */
    const char *text;
    size_t length;
    pcre2_code *pattern;
    pcre2_match_data *match;
};

/* The groups of the pattern, in its order. */
enum { GROUP_NUMBER = 1, GROUP_BAD_NUMBER, GROUP_NAME, GROUP_OPERATOR, GROUP_OTHER };

static const char token_pattern[] = "[ \\t\\r\\n]*+(?:"
                                    "(0[xX][0-9A-Fa-f]++(?![0-9A-Za-z_.])|(?:0|[1-9][0-9]*+)(?![0-9A-Za-z_.]))"
                                    "|([0-9][0-9A-Za-z_.]*+)"
                                    "|([A-Za-z_][A-Za-z0-9_]*+(?:\\.[A-Za-z_][A-Za-z0-9_]*+)*+)"
                                    "|(<<|>>|[<>=!]=|&&|\\|\\||[-+*/%&|^~!<>?:(),\\[\\]])"
                                    "|([\\xc0-\\xff][\\x80-\\xbf]*+|.)"
                                    ")";

static pcre2_code *compile_pattern(void)
{
    int error;
    PCRE2_SIZE error_offset;
    pcre2_code *pattern = pcre2_compile((PCRE2_SPTR)token_pattern, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED | PCRE2_DOTALL,
                                        &error, &error_offset, NULL);
    if (pattern == NULL)
        abort();
    return pattern;
}

struct expr_lexer *expr_lex_open(const struct quoted *text)
{
    struct expr_lexer *lexer = calloc(1, sizeof(*lexer));
    if (lexer == NULL)
        abort();
    lexer->rest = *text;
    if (lexer->rest.text == NULL)
        lexer->rest.text = "";
    lexer->text = lexer->rest.text;
    lexer->length = strlen(lexer->text);
    lexer->pattern = compile_pattern();
    lexer->match = pcre2_match_data_create_from_pattern(lexer->pattern, NULL);
    if (lexer->match == NULL)
        abort();
    return lexer;
}

void expr_lex_close(struct expr_lexer *lexer)
{
    pcre2_match_data_free(lexer->match);
    pcre2_code_free(lexer->pattern);
    free(lexer);
}

/* Moves on to decoded byte `from` and returns the place of the `length` bytes there. */
static struct span advance(struct expr_lexer *lexer, size_t from, size_t length)
{
    struct quoted *rest = &lexer->rest;
    struct span where = quoted_span(rest, from - lexer->offset, length);
    if (rest->where.source != NULL && where.offset + where.length <= rest->where.offset + rest->where.length) {
        size_t passed = where.offset + where.length - rest->where.offset;
        rest->where.offset += passed;
        rest->where.length -= passed;
    }
    rest->text = lexer->text + from + length;
    lexer->offset = from + length;
    return where;
}

static bool same_text(const struct expr_token *token, const char *word)
{
    return strlen(word) == token->length && memcmp(token->text, word, token->length) == 0;
}

static enum expr_token_kind find_spelling(const struct expr_token *token)
{
    static const struct {
        const char *spelling;
        enum expr_token_kind kind;
    } spellings[] = {
        {"*", TOKEN_STAR},         {"/", TOKEN_SLASH},          {"%", TOKEN_PERCENT},      {"+", TOKEN_PLUS},
        {"-", TOKEN_MINUS},        {"<<", TOKEN_SHIFT_LEFT},    {"shl", TOKEN_SHIFT_LEFT}, {">>", TOKEN_SHIFT_RIGHT},
        {"<", TOKEN_LESS},         {"lt", TOKEN_LESS},          {"<=", TOKEN_LESS_EQUAL},  {"le", TOKEN_LESS_EQUAL},
        {">", TOKEN_GREATER},      {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},       {"!=", TOKEN_NOT_EQUAL},
        {"&", TOKEN_AND},          {"band", TOKEN_AND},         {"^", TOKEN_XOR},          {"|", TOKEN_OR},
        {"&&", TOKEN_LOGICAL_AND}, {"and", TOKEN_LOGICAL_AND},  {"||", TOKEN_LOGICAL_OR},  {"or", TOKEN_LOGICAL_OR},
        {"?", TOKEN_QUESTION},     {":", TOKEN_COLON},          {"~", TOKEN_TILDE},        {"!", TOKEN_NOT},
        {"(", TOKEN_OPEN},         {")", TOKEN_CLOSE},          {"[", TOKEN_OPEN_INDEX},   {"]", TOKEN_CLOSE_INDEX},
        {",", TOKEN_COMMA},
    };
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
        if (same_text(token, spellings[i].spelling))
            return spellings[i].kind;
    return TOKEN_NAME;
}

static int digit_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void read_number(struct expr_token *token, struct diags *diags)
{
    bool hexadecimal = token->length > 1 && (token->text[1] | 0x20) == 'x';
    int64_t base = hexadecimal ? 16 : 10;
    token->kind = TOKEN_NUMBER;
    for (size_t i = hexadecimal ? 2 : 0; i < token->length; i++) {
        int digit = digit_value(token->text[i]);
        if (token->number > (INT64_MAX - digit) / base) {
            diag_error(diags, "number-range", token->where, "number is larger than 9223372036854775807");
            token->kind = TOKEN_BAD;
            return;
        }
        token->number = token->number * base + digit;
    }
}

static size_t count_leading(const char *text, size_t length, const char *set)
{
    size_t count = 0;
    while (count < length && strchr(set, text[count]) != NULL)
        count++;
    return count;
}

/* Says what is wrong with something that begins as a number; long ones are quoted by their beginning. */
static void report_bad_number(const struct expr_token *token, struct diags *diags)
{
    enum { SHOWN_MAX = 40 };
    int shown = token->length > SHOWN_MAX ? SHOWN_MAX : (int)token->length;
    size_t digits = count_leading(token->text, token->length, "0123456789");
    size_t zeros = count_leading(token->text, token->length, "0");
    bool octal = digits == token->length;
    diag_error(diags, "number-syntax", token->where, octal ? "number '%.*s' begins with 0" : "'%.*s' is not an integer",
               shown, token->text);
    if (octal && zeros < digits && digits - zeros <= SHOWN_MAX)
        diag_note(diags, "write '%.*s'; there are no octal numbers", (int)(digits - zeros), token->text + zeros);
    else if (octal)
        diag_note(diags, "there are no octal numbers");
    else if (memchr(token->text, '.', token->length) != NULL)
        diag_note(diags, "expressions are on integers");
    else if (digits > 0 &&
             count_leading(token->text + digits, token->length - digits, "uUlL") == token->length - digits)
        diag_note(diags, "integers have 64 bits and take no suffix");
    else
        diag_note(diags, "integers are decimal or begin with '0x'");
}

static void report_stranger(const struct expr_token *token, struct diags *diags)
{
    bool long_sequence = token->length > 4;
    diag_error(diags, "expr-syntax", token->where, "unexpected character '%.*s'",
               long_sequence ? 1 : (int)token->length, token->text);
    if (same_text(token, "="))
        diag_note(diags, "did you mean '=='?");
}

static void classify(struct expr_token *token, int group, struct diags *diags)
{
    switch (group) {
    case GROUP_NUMBER:
        read_number(token, diags);
        break;
    case GROUP_NAME:
    case GROUP_OPERATOR:
        token->kind = find_spelling(token);
        break;
    case GROUP_BAD_NUMBER:
        token->kind = TOKEN_BAD;
        report_bad_number(token, diags);
        break;
    default:
        token->kind = TOKEN_BAD;
        report_stranger(token, diags);
    }
}

struct expr_token expr_lex_next(struct expr_lexer *lexer, struct diags *diags)
{
    int found =
        pcre2_match(lexer->pattern, (PCRE2_SPTR)lexer->text, lexer->length, lexer->offset, 0, lexer->match, NULL);
    if (found < 0) {
        /* Only white space is left: every other character matches something. */
        return (struct expr_token){
            .kind = TOKEN_END, .text = "", .spaced = true, .where = advance(lexer, lexer->length, 0)};
    }
    /* The group that matched is the highest one that took part. */
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(lexer->match);
    int group = found - 1;
    size_t from = ends[2 * group], to = ends[2 * group + 1];
    struct expr_token token = {.text = lexer->text + from, .length = to - from, .spaced = from > lexer->offset};
    token.where = advance(lexer, from, token.length);
    classify(&token, group, diags);
    return token;
}
