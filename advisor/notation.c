#include "notation.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"

enum {
    ALIGN_LEAST = 2,
    ALIGN_MOST = 256, /* the base alignment of an array: more could not be kept */
    TILE_LEAST = 1,
    TILE_MOST = 1 << 16,
    PAD_MOST = 64,
    WIDE_RECORDS = 4,
    TILED_MOST = 1 << 16,
    GROUP_FIELDS_MAX = 4096 /* in all groups: finding repetitions is quadratic */
};

enum token_kind { AT_END, AT_WORD, AT_NUMBER, AT_SIGN, AT_STRANGE };

struct token {
    enum token_kind kind;
    size_t offset, length; /* of its bytes in the text */
    uint64_t number;       /* AT_NUMBER */
    bool too_large;        /* AT_NUMBER: beyond 63 bits */
    bool leading_zero;     /* AT_NUMBER: C would read it as octal */
};

struct parser {
    struct arena *arena;
    const struct quoted *text;
    struct diags *diags;
    size_t next; /* offset of what follows `token` */
    struct token token;
};

/* How a layout or a plan is written: its name, and what stands in its parentheses. */
struct layout_rule {
    const char *name;
    enum layout_kind kind;
    bool (*arguments)(struct parser *parser, struct layout *out); /* NULL: it has no parentheses */
    const char *example;                                          /* NULL: the parentheses may be left out */
};

struct plan_rule {
    const char *name;
    enum plan_kind kind;
    bool (*arguments)(struct parser *parser, struct plan *out);
    const char *example;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The value of a digit in base 16, or 16. */
static unsigned digit_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

static void lex_number(struct token *token, const char *text)
{
    size_t i = 0;
    unsigned base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && digit_value(text[2]) < 16) {
        base = 16;
        i = 2;
    }
    for (; digit_value(text[i]) < base; i++) {
        uint64_t value;
        if (__builtin_mul_overflow(token->number, base, &value) ||
            __builtin_add_overflow(value, digit_value(text[i]), &value) || value > INT64_MAX)
            token->too_large = true;
        token->number = value;
    }
    token->kind = AT_NUMBER;
    token->length = i;
    token->leading_zero = base == 10 && i > 1 && text[0] == '0';
}

static void lex_word(struct token *token, const char *text)
{
    size_t i = 1;
    /* A hyphen joins words: "row-major". A dot does: "box.lo". */
    while (is_letter(text[i]) || is_digit(text[i]) || ((text[i] == '-' || text[i] == '.') && is_letter(text[i + 1])))
        i++;
    token->kind = AT_WORD;
    token->length = i;
}

/* A whole character of UTF-8, so that a message never shows half of one. */
static void lex_strange(struct token *token, const char *text)
{
    size_t i = 1;
    while (((unsigned char)text[i] & 0xc0) == 0x80)
        i++;
    token->kind = AT_STRANGE;
    token->length = i;
}

static size_t skip_spaces(const struct parser *parser)
{
    size_t at = parser->next;
    while (is_space(parser->text->text[at]))
        at++;
    return at;
}

static void advance(struct parser *parser)
{
    struct token token = {.kind = AT_END, .offset = skip_spaces(parser)};
    const char *text = parser->text->text + token.offset;
    if (is_digit(text[0]))
        lex_number(&token, text);
    else if (is_letter(text[0]))
        lex_word(&token, text);
    else if (text[0] != '\0' && strchr("()/|:=", text[0]) != NULL) {
        token.kind = AT_SIGN;
        token.length = 1;
    } else if (text[0] != '\0')
        lex_strange(&token, text);
    parser->token = token;
    parser->next = token.offset + token.length;
}

static bool at_sign(const struct parser *parser, char sign)
{
    return parser->token.kind == AT_SIGN && parser->text->text[parser->token.offset] == sign;
}

/* Whether the character after the current token is one of `signs`. */
static bool next_is(const struct parser *parser, const char *signs)
{
    char c = parser->text->text[skip_spaces(parser)];
    return c != '\0' && strchr(signs, c) != NULL;
}

static char *token_text(const struct parser *parser)
{
    return arena_copy(parser->arena, parser->text->text + parser->token.offset, parser->token.length);
}

/* The token for a message, cut where it is long. */
static const char *shown_token(const struct parser *parser)
{
    enum { SHOWN_MAX = 64 };
    if (parser->token.length <= SHOWN_MAX)
        return token_text(parser);
    return arena_printf(parser->arena, "%.*s...", (int)SHOWN_MAX, parser->text->text + parser->token.offset);
}

static bool token_is(const struct parser *parser, const char *word)
{
    return parser->token.kind == AT_WORD && parser->token.length == strlen(word) &&
           memcmp(parser->text->text + parser->token.offset, word, parser->token.length) == 0;
}

/* Reports at the current token; false, so that callers may return it. */
static bool fail(struct parser *parser, const char *message)
{
    size_t length = parser->token.length > 0 ? parser->token.length : 1;
    struct span where = quoted_span(parser->text, parser->token.offset, length);
    diag_error(parser->diags, "notation", where, "%s", message);
    return false;
}

static bool fail_expected(struct parser *parser, const char *wanted)
{
    if (parser->token.kind == AT_END)
        return fail(parser, arena_printf(parser->arena, "%s is missing at the end", wanted));
    return fail(parser, arena_printf(parser->arena, "unexpected '%s' where %s should be", shown_token(parser), wanted));
}

static bool take_sign(struct parser *parser, char sign, const char *wanted)
{
    if (!at_sign(parser, sign))
        return fail_expected(parser, wanted);
    advance(parser);
    return true;
}

/* Takes a number of `least` to `most`; `what` names it in messages ("a pad"). */
static bool take_number(struct parser *parser, uint64_t *out, const char *what, uint64_t least, uint64_t most)
{
    const struct token *token = &parser->token;
    if (token->kind != AT_NUMBER)
        return fail_expected(parser, "a number");
    if (token->leading_zero)
        return fail(parser, arena_printf(parser->arena, "number '%s' begins with 0", shown_token(parser)));
    if (token->too_large || token->number < least || token->number > most)
        return fail(parser, arena_printf(parser->arena, "%s of '%s' is not between %" PRIu64 " and %" PRIu64, what,
                                         shown_token(parser), least, most));
    *out = token->number;
    advance(parser);
    return true;
}

static bool take_power(struct parser *parser, uint64_t *out, const char *what, uint64_t least, uint64_t most,
                       const char *why)
{
    struct parser before = *parser;
    if (!take_number(parser, out, what, least, most))
        return false;
    if ((*out & (*out - 1)) == 0)
        return true;
    uint64_t below = least;
    while (below * 2 < *out)
        below *= 2;
    *parser = before;
    (void)fail(parser, arena_printf(parser->arena, "%s of '%s' is not a power of two", what, shown_token(parser)));
    diag_note(parser->diags, "%s; did you mean %" PRIu64 " or %" PRIu64 "?", why, below, below * 2);
    return false;
}

/* Takes "KEY =", the key being the only one there is. */
static bool take_key(struct parser *parser, const char *key)
{
    if (!token_is(parser, key)) {
        (void)fail_expected(parser, arena_printf(parser->arena, "'%s='", key));
        return false;
    }
    advance(parser);
    return take_sign(parser, '=', "'='");
}

static bool read_align(struct parser *parser, struct layout *out)
{
    return take_key(parser, "align") && take_power(parser, &out->align, "an alignment", ALIGN_LEAST, ALIGN_MOST,
                                                   "addresses are aligned to powers of two");
}

/* What an array of structures does to its record: one of the two, or both. */
static bool read_record(struct parser *parser, struct layout *out)
{
    do {
        bool reorder = token_is(parser, "reorder");
        if (!reorder && !token_is(parser, "align"))
            return fail_expected(parser, "'align=' or 'reorder'");
        if (reorder ? out->reorder : out->align != 0)
            return fail(parser, arena_printf(parser->arena, "'%s' is there twice", shown_token(parser)));
        out->reorder |= reorder;
        if (reorder)
            advance(parser);
        else if (!read_align(parser, out))
            return false;
    } while (parser->token.kind == AT_WORD);
    return true;
}

static bool read_tile(struct parser *parser, struct layout *out)
{
    return take_power(parser, &out->tile, "a tile", TILE_LEAST, TILE_MOST,
                      "an index is split into tile and place by a shift and a mask");
}

static bool read_pitch(struct parser *parser, struct layout *out)
{
    return take_number(parser, &out->pitch, "a pitch", 1, INT64_MAX);
}

static bool read_tiled(struct parser *parser, struct layout *out)
{
    enum { DIMS_LEAST = 2, DIMS_MOST = 3 };
    while (out->tiled_count < DIMS_MOST && (out->tiled_count < DIMS_LEAST || parser->token.kind == AT_NUMBER)) {
        if (!take_number(parser, &out->tiled[out->tiled_count], "a tile's side", 1, TILED_MOST))
            return false;
        out->tiled_count++;
    }
    return true;
}

static bool read_records(struct parser *parser, struct plan *out)
{
    if (parser->token.kind != AT_NUMBER)
        return fail_expected(parser, "a number");
    if (parser->token.too_large || parser->token.number != WIDE_RECORDS) {
        (void)fail(parser,
                   arena_printf(parser->arena, "a thread does 4 neighbouring records, not '%s'", shown_token(parser)));
        diag_note(parser->diags, "did you mean 'wide(4)'?");
        return false;
    }
    out->records = WIDE_RECORDS;
    advance(parser);
    return true;
}

static bool read_staging(struct parser *parser, struct plan *out)
{
    if (token_is(parser, "swizzle")) {
        out->swizzle = true;
        advance(parser);
        return true;
    }
    if (!token_is(parser, "pad"))
        return fail_expected(parser, "'pad=' or 'swizzle'");
    return take_key(parser, "pad") && take_number(parser, &out->pad, "a pad", 0, PAD_MOST);
}

static bool read_groups(struct parser *parser, struct layout *out);

static const struct layout_rule layout_rules[] = {
    {"aos", LAYOUT_AOS, read_record, NULL},
    {"soa", LAYOUT_SOA, NULL, NULL},
    {"aosoa", LAYOUT_AOSOA, read_tile, "aosoa(32)"},
    {"split", LAYOUT_SPLIT, read_groups, "split(pos vel|mass)"},
    {"row-major", LAYOUT_ROW_MAJOR, NULL, NULL},
    {"column-major", LAYOUT_COLUMN_MAJOR, NULL, NULL},
    {"pitch", LAYOUT_PITCH, read_pitch, "pitch(4096)"},
    {"tiled", LAYOUT_TILED, read_tiled, "tiled(32 32)"},
};

static const struct plan_rule plan_rules[] = {
    {"direct", PLAN_DIRECT, NULL, NULL},         {"vector", PLAN_VECTOR, NULL, NULL},
    {"shuffle", PLAN_SHUFFLE, NULL, NULL},       {"wide", PLAN_WIDE, read_records, "wide(4)"},
    {"staged", PLAN_STAGED, read_staging, NULL},
};

enum {
    LAYOUT_RULES = sizeof(layout_rules) / sizeof(layout_rules[0]),
    PLAN_RULES = sizeof(plan_rules) / sizeof(plan_rules[0])
};

static const struct layout_rule *find_layout_rule(const struct parser *parser)
{
    for (size_t i = 0; i < LAYOUT_RULES; i++)
        if (token_is(parser, layout_rules[i].name))
            return &layout_rules[i];
    return NULL;
}

static const struct plan_rule *find_plan_rule(const struct parser *parser)
{
    for (size_t i = 0; i < PLAN_RULES; i++)
        if (token_is(parser, plan_rules[i].name))
            return &plan_rules[i];
    return NULL;
}

/* The word in lower case, so that "SoA" finds soa. */
static const char *guess_word(const struct parser *parser)
{
    char *word = token_text(parser);
    for (char *c = word; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return word;
}

static bool fail_layout(struct parser *parser)
{
    if (parser->token.kind != AT_WORD)
        return fail_expected(parser, "a layout");
    const char *word = guess_word(parser);
    struct text_guess guess = {.wanted = word};
    for (size_t i = 0; i < LAYOUT_RULES; i++)
        text_guess_offer(&guess, layout_rules[i].name);
    (void)fail(parser, arena_printf(parser->arena, "unknown layout '%s'", shown_token(parser)));
    if (find_plan_rule(parser) != NULL)
        diag_note(parser->diags, "'%s' is a plan, which follows a layout: 'aos/%s'", word, word);
    else if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '%s'?", guess.best);
    else
        diag_note(parser->diags, "layouts are aos, soa, aosoa, split, row-major, column-major, pitch and tiled");
    return false;
}

static bool fail_plan(struct parser *parser)
{
    if (parser->token.kind != AT_WORD)
        return fail_expected(parser, "a plan");
    const char *word = guess_word(parser);
    struct text_guess guess = {.wanted = word};
    for (size_t i = 0; i < PLAN_RULES; i++)
        text_guess_offer(&guess, plan_rules[i].name);
    (void)fail(parser, arena_printf(parser->arena, "unknown plan '%s'", shown_token(parser)));
    if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '%s'?", guess.best);
    else
        diag_note(parser->diags, "plans are direct, vector, shuffle, wide(4) and staged");
    return false;
}

/* Opens the parentheses of `name` where there are some. True with *open false: there are none and need be none. */
static bool open_arguments(struct parser *parser, const char *name, bool allowed, const char *example, bool *open)
{
    struct token word = parser->token;
    advance(parser);
    *open = at_sign(parser, '(');
    if (*open && !allowed)
        return fail(parser, arena_printf(parser->arena, "'%s' takes nothing in parentheses", name));
    if (!*open && example != NULL) {
        parser->token = word;
        (void)fail(parser, arena_printf(parser->arena, "'%s' needs something in parentheses", name));
        diag_note(parser->diags, "for instance '%s'", example);
        return false;
    }
    if (*open)
        advance(parser);
    return true;
}

static bool read_layout(struct parser *parser, struct layout *out)
{
    const struct layout_rule *rule = find_layout_rule(parser);
    bool open;
    if (rule == NULL)
        return fail_layout(parser);
    out->kind = rule->kind;
    if (!open_arguments(parser, rule->name, rule->arguments != NULL, rule->example, &open))
        return false;
    return !open || rule->arguments == NULL || (rule->arguments(parser, out) && take_sign(parser, ')', "')'"));
}

static bool read_plan(struct parser *parser, struct plan *out)
{
    const struct plan_rule *rule = find_plan_rule(parser);
    bool open;
    if (rule == NULL)
        return fail_plan(parser);
    out->kind = rule->kind;
    if (!open_arguments(parser, rule->name, rule->arguments != NULL, rule->example, &open))
        return false;
    return !open || rule->arguments == NULL || (rule->arguments(parser, out) && take_sign(parser, ')', "')'"));
}

/* All fields of all groups so far, to find one that is named twice. */
struct field_names {
    const char **items;
    size_t count, capacity;
};

/* Identifiers joined by dots. */
static bool is_path(const struct parser *parser, const char *path)
{
    for (;; path++) {
        size_t length = strcspn(path, ".");
        if (!text_is_identifier(arena_copy(parser->arena, path, length)))
            return false;
        path += length;
        if (*path == '\0')
            return true;
    }
}

static bool read_field(struct parser *parser, struct field_names *all)
{
    const char *name = token_text(parser);
    if (parser->token.kind != AT_WORD || !is_path(parser, name))
        return fail_expected(parser, "a field");
    if (all->count == GROUP_FIELDS_MAX)
        return fail(parser, "more fields than a split may have (4096)");
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i], name) == 0)
            return fail(parser, arena_printf(parser->arena, "field '%s' is named twice", name));
    all->items = arena_grow(parser->arena, all->items, all->count, &all->capacity, sizeof(*all->items));
    all->items[all->count++] = name;
    advance(parser);
    return true;
}

/* A group's own layout is one of an array of structures in one dimension. Refusing the others before reading on keeps
 * the recursion at one level. */
static bool read_group_layout(struct parser *parser, struct split_group *group)
{
    const struct layout_rule *rule = find_layout_rule(parser);
    if (rule != NULL && rule->kind != LAYOUT_AOS && rule->kind != LAYOUT_SOA && rule->kind != LAYOUT_AOSOA)
        return fail(parser, arena_printf(parser->arena, "a group's layout is aos, soa or aosoa, not '%s'", rule->name));
    if (!read_layout(parser, &group->layout))
        return false;
    group->named = group->layout.kind != LAYOUT_AOS || group->layout.align != 0 || group->layout.reorder;
    return take_sign(parser, ':', "':'");
}

static bool read_group(struct parser *parser, struct split_group *group, struct field_names *all)
{
    if (parser->token.kind == AT_WORD && next_is(parser, "(:") && !read_group_layout(parser, group))
        return false;
    size_t first = all->count;
    do {
        if (!read_field(parser, all))
            return false;
    } while (!at_sign(parser, '|') && !at_sign(parser, ')'));
    group->field_count = all->count - first;
    const char **fields = arena_array(parser->arena, group->field_count, sizeof(*fields));
    memcpy(fields, all->items + first, group->field_count * sizeof(*fields));
    group->fields = fields;
    return true;
}

static bool read_groups(struct parser *parser, struct layout *out)
{
    struct field_names all = {0};
    const struct split_group **link = &out->groups;
    for (;;) {
        struct split_group *group = arena_alloc(parser->arena, sizeof(*group));
        if (!read_group(parser, group, &all))
            return false;
        *link = group;
        link = &group->next;
        if (!at_sign(parser, '|'))
            return true;
        advance(parser);
    }
}

bool notation_parse(struct candidate *out, bool *has_plan, struct arena *arena, const struct quoted *text,
                    struct diags *diags)
{
    struct parser parser = {.arena = arena, .text = text, .diags = diags};
    *out = (struct candidate){.plan.kind = PLAN_DIRECT};
    *has_plan = false;
    advance(&parser);
    if (!read_layout(&parser, &out->layout))
        return false;
    if (at_sign(&parser, '/')) {
        advance(&parser);
        if (!read_plan(&parser, &out->plan))
            return false;
        *has_plan = true;
    }
    if (parser.token.kind != AT_END)
        return fail_expected(&parser, *has_plan ? "the end" : "'/' and a plan, or the end,");
    notation_complete(arena, out);
    return true;
}

static void print_layout(struct text *out, const struct layout *layout);

static void print_groups(struct text *out, const struct layout *layout)
{
    text_putc(out, '(');
    for (const struct split_group *group = layout->groups; group != NULL; group = group->next) {
        if (group->named) {
            print_layout(out, &group->layout);
            text_putc(out, ':');
        }
        for (size_t i = 0; i < group->field_count; i++)
            text_printf(out, i == 0 ? "%s" : " %s", group->fields[i]);
        text_putc(out, group->next == NULL ? ')' : '|');
    }
}

static void print_layout(struct text *out, const struct layout *layout)
{
    for (size_t i = 0; i < LAYOUT_RULES; i++)
        if (layout_rules[i].kind == layout->kind)
            text_puts(out, layout_rules[i].name);
    switch (layout->kind) {
    case LAYOUT_AOS:
        if (layout->align != 0)
            text_printf(out, layout->reorder ? "(align=%" PRIu64 " reorder)" : "(align=%" PRIu64 ")", layout->align);
        else if (layout->reorder)
            text_puts(out, "(reorder)");
        break;
    case LAYOUT_AOSOA:
        text_printf(out, "(%" PRIu64 ")", layout->tile);
        break;
    case LAYOUT_PITCH:
        text_printf(out, "(%" PRIu64 ")", layout->pitch);
        break;
    case LAYOUT_TILED:
        for (unsigned i = 0; i < layout->tiled_count; i++)
            text_printf(out, i == 0 ? "(%" PRIu64 : " %" PRIu64, layout->tiled[i]);
        text_putc(out, ')');
        break;
    case LAYOUT_SPLIT:
        print_groups(out, layout);
        break;
    case LAYOUT_SOA:
    case LAYOUT_ROW_MAJOR:
    case LAYOUT_COLUMN_MAJOR:
        break;
    }
}

static const char *text_in_arena(struct arena *arena, struct text *text)
{
    const char *copy = arena_copy(arena, text_string(text), text->length);
    text_free(text);
    return copy;
}

const char *notation_layout(struct arena *arena, const struct layout *layout)
{
    struct text text = {0};
    print_layout(&text, layout);
    return text_in_arena(arena, &text);
}

const char *notation_plan(struct arena *arena, const struct plan *plan)
{
    switch (plan->kind) {
    case PLAN_DIRECT:
        return "direct";
    case PLAN_VECTOR:
        return "vector";
    case PLAN_SHUFFLE:
        return "shuffle";
    case PLAN_WIDE:
        return arena_printf(arena, "wide(%u)", plan->records);
    case PLAN_STAGED:
        if (plan->swizzle)
            return "staged(swizzle)";
        return plan->pad == 0 ? "staged" : arena_printf(arena, "staged(pad=%" PRIu64 ")", plan->pad);
    }
    return "";
}

void notation_complete(struct arena *arena, struct candidate *candidate)
{
    candidate->text = arena_printf(arena, "%s/%s", notation_layout(arena, &candidate->layout),
                                   notation_plan(arena, &candidate->plan));
}

static bool same_groups(const struct split_group *a, const struct split_group *b)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        if (a->field_count != b->field_count || !notation_same_layout(&a->layout, &b->layout))
            return false;
        for (size_t i = 0; i < a->field_count; i++)
            if (strcmp(a->fields[i], b->fields[i]) != 0)
                return false;
    }
    return a == NULL && b == NULL;
}

bool notation_same_layout(const struct layout *a, const struct layout *b)
{
    if (a->kind != b->kind || a->align != b->align || a->reorder != b->reorder || a->tile != b->tile ||
        a->pitch != b->pitch || a->tiled_count != b->tiled_count)
        return false;
    for (unsigned i = 0; i < a->tiled_count; i++)
        if (a->tiled[i] != b->tiled[i])
            return false;
    return same_groups(a->groups, b->groups);
}
