#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "diag.h"
#include "expr.h"
#include "random_spec.h"
#include "spec.h"
#include "text.h"

enum { LETTERS = 26 };

struct fixture {
    struct arena arena;
    struct diags diags;
    struct expr *list[EXPR_LIST_MAX];
    size_t count;
    struct table table;
};

static void setup(struct fixture *f)
{
    static int64_t data[] = {5, 3, 8, -1};
    *f = (struct fixture){.table = {.extent = 4, .data = data}};
    f->diags.arena = &f->arena;
}

static void teardown(struct fixture *f)
{
    arena_free(&f->arena);
}

/* `raw` is what stands in the source, `text` what it means. */
static struct quoted quote(struct fixture *f, const char *raw, const char *text)
{
    const struct source *source = source_from_bytes(&f->arena, "t", raw, strlen(raw));
    return (struct quoted){text, {source, 0, source->length}};
}

static struct expr *parse(struct fixture *f, const char *text)
{
    struct quoted quoted = quote(f, text, text);
    return expr_parse(&f->arena, &quoted, &f->diags);
}

/* Letters are variables, "T" is a table, "P" a param of 7, builtins are themselves; all else is unknown. */
static bool resolve(void *context, struct expr *name, struct diags *diags)
{
    struct fixture *f = context;
    bool single = name->name[1] == '\0';
    if (name->op == EXPR_LOOKUP && strcmp(name->name, "T") == 0) {
        name->table = &f->table;
    } else if (name->op == EXPR_NAME && strcmp(name->name, "P") == 0) {
        name->binding = EXPR_PARAM;
        name->value = 7;
    } else if (name->op == EXPR_NAME && expr_builtin_find(name->name, &name->builtin)) {
        name->binding = EXPR_BUILTIN;
    } else if (name->op == EXPR_NAME && single && name->name[0] >= 'a' && name->name[0] <= 'z') {
        name->binding = EXPR_VARIABLE;
        name->slot = (unsigned)(name->name[0] - 'a');
    } else {
        diag_error(diags, "unknown-name", name->at, "unknown name '%s'", name->name);
        return false;
    }
    return true;
}

/* The value of letter n is n + 1, but a to c are given. */
static const int64_t *letters(int64_t a, int64_t b, int64_t c)
{
    static int64_t values[LETTERS];
    for (int i = 0; i < LETTERS; i++)
        values[i] = i + 1;
    values[0] = a;
    values[1] = b;
    values[2] = c;
    return values;
}

static enum expr_fault evaluate(struct fixture *f, struct expr *expr, const int64_t *variables, int64_t *out,
                                const char **message)
{
    struct expr_frame frame = {.variables = variables};
    for (int i = 0; i < BUILTIN_COUNT; i++)
        frame.builtins[i] = 100 + i;
    const struct expr *culprit = NULL;
    int64_t detail = 0;
    ck_assert(expr_bind(expr, resolve, f, &f->diags));
    enum expr_fault fault = expr_evaluate(out, expr, &frame, &culprit, &detail);
    ck_assert((fault == EXPR_FINE) == (culprit == NULL));
    *message = expr_fault_message(&f->arena, fault, culprit, detail);
    return fault;
}

static void expect_value(const char *text, const int64_t *variables, int64_t wanted, const char *row)
{
    struct fixture f;
    setup(&f);
    struct expr *expr = parse(&f, text);
    struct text messages = {0};
    diag_render(&f.diags, &messages, false);
    ck_assert_msg(expr != NULL, "%s: '%s' does not parse:\n%s", row, text, text_string(&messages));
    text_free(&messages);
    int64_t got = 0;
    const char *message;
    enum expr_fault fault = evaluate(&f, expr, variables, &got, &message);
    ck_assert_msg(fault == EXPR_FINE, "%s: '%s': %s", row, text, message);
    ck_assert_msg(got == wanted, "%s: '%s' is %lld, not %lld", row, text, (long long)got, (long long)wanted);
    teardown(&f);
}

/* ---- the compiler's own word on precedence ---- */

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#define OPERATORS(X) X(*) X(/) X(%) X(+) X(-) X(<<) X(>>) X(<) X(<=) X(>) X(>=) X(==) X(!=) X(&) X(^) X(|) X(&&) X(||)
#define AFTER(X, first)                                                                                                \
    X(first, *)                                                                                                        \
    X(first, /)                                                                                                        \
    X(first, %)                                                                                                        \
    X(first, +)                                                                                                        \
    X(first, -)                                                                                                        \
    X(first, <<)                                                                                                       \
    X(first, >>)                                                                                                       \
    X(first, <)                                                                                                        \
    X(first, <=)                                                                                                       \
    X(first, >)                                                                                                        \
    X(first, >=)                                                                                                       \
    X(first, ==)                                                                                                       \
    X(first, !=)                                                                                                       \
    X(first, &)                                                                                                        \
    X(first, ^)                                                                                                        \
    X(first, |)                                                                                                        \
    X(first, &&)                                                                                                       \
    X(first, ||)

#define EXPECT(expression) expect_value(#expression, letters(a, b, c), (expression), "as C");
#define EXPECT_PAIR(one, two) EXPECT(a one b two c)
#define EXPECT_PAIRS(one) AFTER(EXPECT_PAIR, one)
#define EXPECT_UNARY(one) EXPECT(-a one b) EXPECT(a one !b) EXPECT(!a one b) EXPECT(a one - -b) EXPECT(~a + d one b)
#define EXPECT_CONDITIONAL(one) EXPECT(a one b ? c : d) EXPECT(a ? b one c : d) EXPECT(a ? b : c one d)

/* Only the compiler may be surprised by what these rows say without parentheses. NOLINTBEGIN */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wlogical-not-parentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wsign-conversion"

static void expect_pairs(int64_t a, int64_t b, int64_t c)
{
    ck_assert(a > b && b >= c && c > 0);
    /* cppcheck-suppress [compareBoolExpressionWithInt, zerodivcond, shiftNegative] */
    OPERATORS(EXPECT_PAIRS)
}

START_TEST(binary_operators_group_as_in_c)
{
    expect_pairs(13, 3, 2);
    expect_pairs(40, 5, 5);
    expect_pairs(8, 7, 1);
}
END_TEST

static void expect_conditionals(int64_t a, int64_t b, int64_t c)
{
    int64_t d = 4;
    /* cppcheck-suppress [zerodivcond] */
    OPERATORS(EXPECT_CONDITIONAL)
}

START_TEST(conditionals_group_as_in_c)
{
    expect_conditionals(13, 3, 2);
    expect_conditionals(6, 6, 6);
}
END_TEST

/* The operators for which a negative left side is defined, and no divisor is 0. */
#define SIGNED(X) X(*) X(+) X(-) X(<) X(<=) X(>) X(>=) X(==) X(!=) X(&) X(^) X(|) X(&&) X(||)

START_TEST(unary_operators_bind_as_in_c)
{
    int64_t a = 9, b = 4, c = 0, d = 4;
    /* cppcheck-suppress [compareBoolExpressionWithInt] */
    SIGNED(EXPECT_UNARY)
    a = -3;
    b = 0;
    /* cppcheck-suppress [compareBoolExpressionWithInt] */
    SIGNED(EXPECT_UNARY)
}
END_TEST

START_TEST(longer_rows_are_as_in_c)
{
    int64_t a = 13, b = 3, c = 2, d = 4, e = 5, i = 9;
    EXPECT(a + b * c - d / e % i)
    EXPECT(a - b - c - d)
    EXPECT(a / b / c)
    EXPECT(a % b % c)
    EXPECT(a << b << c >> d)
    EXPECT(a<b == c> d != e <= i)
    EXPECT(a & b ^ c | d ^ e & i)
    EXPECT(a && b || c && d || !e)
    EXPECT(a || b && c)
    EXPECT(a ? b ? c : d : e)
    EXPECT(a ? b : c ? d : e)
    EXPECT(a > b ? a : b > c ? b : c)
    EXPECT(!a ? b : c ? d ? e : i : a)
    EXPECT(-a * -b)
    EXPECT(- -a)
    EXPECT(- - -a)
    EXPECT(~-a)
    EXPECT(-~a)
    EXPECT(!!a)
    EXPECT(!~a)
    EXPECT(+a - +b)
    EXPECT(a - -b)
    EXPECT(a - ~b)
    EXPECT((a + b) * c)
    EXPECT(((a)) + (((b))))
    EXPECT(a * (b + c) / (d - e + 2))
    EXPECT(min(a, b) + max(c, d))
    EXPECT(min(a + 1, b ? c : d) * max(a | 1, b & 2))
    EXPECT(max(min(a, b), min(c, d)))
    EXPECT(a / -b)
    EXPECT(-a / b)
    EXPECT(-a % b)
    EXPECT(a % -b)
    /* cppcheck-suppress [shiftNegativeLHS] */
    EXPECT(-a >> 1)
    /* cppcheck-suppress [shiftNegativeLHS, shiftTooManyBitsSigned] */
    EXPECT(-c >> 63)
    EXPECT(0x10 + 0xFF - 0XaB)
    EXPECT(1 << 20 >> 3 & 0xff00 | 5)
    EXPECT((i / 4) * 4 + i % 4 == i)
    EXPECT(i & -i)
    EXPECT(i & i - 1)
    EXPECT(a < b || c < d && e < i ? a << 2 : b << 3)
}
END_TEST

#pragma GCC diagnostic pop
/* NOLINTEND */

/* ---- values and faults ---- */

static const struct {
    const char *text;
    int64_t value;
} values[] = {
    {"0", 0},
    {"7", 7},
    {" \t\r\n7 \n", 7},
    {"0x0", 0},
    {"0xfF", 255},
    {"0X1f", 31},
    {"0x00000000000000000000001", 1},
    {"9223372036854775807", INT64_MAX},
    {"0x7fffffffffffffff", INT64_MAX},
    {"-9223372036854775807 - 1", INT64_MIN},
    {"-9223372036854775807-1 >> 63", -1},
    {"~9223372036854775807", INT64_MIN},
    {"1 << 62", INT64_C(1) << 62},
    {"0 << 63", 0},
    {"1 << 0", 1},
    {"-8 >> 1", -4},
    {"-1 >> 63", -1},
    {"9223372036854775807 >> 63", 0},
    {"(-9223372036854775807 - 1) / 1", INT64_MIN},
    {"9223372036854775807 / -1", -INT64_MAX},
    {"3037000499 * 3037000499", INT64_C(9223372030926249001)},
    {"5 lt 6", 1},
    {"6 le 6", 1},
    {"7 le 6", 0},
    {"1 and 2", 1},
    {"0 or 0", 0},
    {"6 band 3", 2},
    {"1 shl 4", 16},
    {"1 lt 2 and 3 le 3 or 0", 1},
    {"1 or 0 and 0", 1},
    {"6 band 3 == 3", 0},
    {"1 + 1 shl 2", 8},
    {"ltx", 0}, /* a name that begins like a word */
    {"min(3, 1, 2)", 1},
    {"max(3, 1, 2, 9, 4)", 9},
    {"max (1, 2)", 2},
    {"min(max(1, 2), max(4, 3))", 2},
    {"T[0]", 5},
    {"T[3]", -1},
    {"T [ 1 + 1 ]", 8},
    {"T[T[1]]", -1},
    {"-T[3] * T[2]", 8},
    {"T[1] ? T[0] : T[9]", 5},
    {"P * 2", 14},
    {"threadIdx.x", 100},
    {"threadIdx.y", 101},
    {"threadIdx.z", 102},
    {"blockIdx.x", 103},
    {"blockIdx.y", 104},
    {"blockIdx.z", 105},
    {"blockDim.x", 106},
    {"blockDim.y", 107},
    {"blockDim.z", 108},
    {"gridDim.x", 109},
    {"gridDim.y", 110},
    {"gridDim.z", 111},
    {"thread", 112},
    {"lane", 113},
    {"warp", 114},
    {"blockIdx.x * blockDim.x + threadIdx.x", 103 * 106 + 100},
    /* what is not needed is not evaluated */
    {"0 && 1 / 0", 0},
    {"1 || 1 / 0", 1},
    {"2 || T[99]", 1},
    {"1 ? 3 : 1 / 0", 3},
    {"0 ? 1 / 0 : 3", 3},
    {"0 && 1 / 0 || 5 && 6", 1},
    {"5 && 6", 1},
    {"0 || 8", 1},
};

START_TEST(values_are_right)
{
    if (strcmp(values[_i].text, "ltx") == 0) {
        struct fixture f;
        setup(&f);
        struct expr *expr = parse(&f, values[_i].text);
        ck_assert(expr != NULL && expr->op == EXPR_NAME && strcmp(expr->name, "ltx") == 0);
        teardown(&f);
        return;
    }
    expect_value(values[_i].text, letters(1, 2, 3), values[_i].value, "value");
}
END_TEST

static const struct {
    const char *text;
    enum expr_fault fault;
    const char *message;
    const char *culprit; /* what its `at` covers */
} faults[] = {
    {"1 / 0", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"1 % 0", EXPR_DIVISION_BY_ZERO, "division by zero", "%"},
    {"3 + 4 / (a - 1)", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"(-9223372036854775807 - 1) / -1", EXPR_OVERFLOW, "overflow beyond 64 bits in '/'", "/"},
    {"(-9223372036854775807 - 1) % -1", EXPR_OVERFLOW, "overflow beyond 64 bits in '%'", "%"},
    {"-(-9223372036854775807 - 1)", EXPR_OVERFLOW, "overflow beyond 64 bits in '-'", "-"},
    {"9223372036854775807 + 1", EXPR_OVERFLOW, "overflow beyond 64 bits in '+'", "+"},
    {"-9223372036854775807 - 2", EXPR_OVERFLOW, "overflow beyond 64 bits in '-'", "-"},
    {"3037000500 * 3037000500", EXPR_OVERFLOW, "overflow beyond 64 bits in '*'", "*"},
    {"1 << 63", EXPR_OVERFLOW, "overflow beyond 64 bits in '<<'", "<<"},
    {"3 shl 62", EXPR_OVERFLOW, "overflow beyond 64 bits in '<<'", "shl"},
    {"1 << 64", EXPR_SHIFT_RANGE, "shift by 64 is out of range", "<<"},
    {"1 << -1", EXPR_SHIFT_RANGE, "shift by -1 is out of range", "<<"},
    {"1 >> 70", EXPR_SHIFT_RANGE, "shift by 70 is out of range", ">>"},
    {"1 >> -9223372036854775807 - 1", EXPR_SHIFT_RANGE, "shift by -9223372036854775808 is out of range", ">>"},
    {"-1 << 2", EXPR_SHIFT_RANGE, "left shift of a negative number", "<<"},
    {"-1 << 64", EXPR_SHIFT_RANGE, "shift by 64 is out of range", "<<"},
    {"T[4]", EXPR_TABLE_RANGE, "index 4 is outside table 'T' of 4", "T"},
    {"T[-1]", EXPR_TABLE_RANGE, "index -1 is outside table 'T' of 4", "T"},
    {"1 + T[T[3]]", EXPR_TABLE_RANGE, "index -1 is outside table 'T' of 4", "T"},
    {"1 && 1 / 0", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"0 || 1 / 0", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"1 / 0 && 0", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"1 / 0 ? 1 : 2", EXPR_DIVISION_BY_ZERO, "division by zero", "/"},
    {"min(1, 1 % 0)", EXPR_DIVISION_BY_ZERO, "division by zero", "%"},
};

START_TEST(faults_name_their_operator)
{
    struct fixture f;
    setup(&f);
    struct expr *expr = parse(&f, faults[_i].text);
    ck_assert_msg(expr != NULL && expr_bind(expr, resolve, &f, &f.diags), "%s", faults[_i].text);
    struct expr_frame frame = {.variables = letters(1, 2, 3)};
    const struct expr *culprit = NULL;
    int64_t out, detail = 0;
    enum expr_fault fault = expr_evaluate(&out, expr, &frame, &culprit, &detail);
    ck_assert_msg(fault == faults[_i].fault && culprit != NULL, "%s: fault %d", faults[_i].text, (int)fault);
    ck_assert_str_eq(expr_fault_message(&f.arena, fault, culprit, detail), faults[_i].message);
    const char *at = arena_copy(&f.arena, culprit->at.source->bytes + culprit->at.offset, culprit->at.length);
    ck_assert_str_eq(at, faults[_i].culprit);
    teardown(&f);
}
END_TEST

/* ---- messages ---- */

static const struct {
    const char *text;
    const char *message;
} errors[] = {
    {"", "t:1:1: error: empty expression [expr-syntax]\n    1 | \n      | ^\n"},
    {"  ", "t:1:3: error: empty expression [expr-syntax]\n    1 |   \n      |   ^\n"},
    {"1 +", "t:1:3: error: expected an operand after '+' [expr-syntax]\n    1 | 1 +\n      |   ^\n"},
    {"(1 + )", "t:1:6: error: expected an operand before ')' [expr-syntax]\n    1 | (1 + )\n      |      ^\n"},
    {"1 * / 2", "t:1:5: error: expected an operand before '/' [expr-syntax]\n    1 | 1 * / 2\n      |     ^\n"},
    {"()", "t:1:2: error: expected an operand before ')' [expr-syntax]\n    1 | ()\n      |  ^\n"},
    {"lt 1", "t:1:1: error: expected an operand before 'lt' [expr-syntax]\n    1 | lt 1\n      | ^~\n"},
    {"(1", "t:1:1: error: unbalanced '(' [expr-syntax]\n    1 | (1\n      | ^\n"},
    {"1)", "t:1:2: error: unbalanced ')' [expr-syntax]\n    1 | 1)\n      |  ^\n"},
    {"T[1", "t:1:2: error: unbalanced '[' [expr-syntax]\n    1 | T[1\n      |  ^\n"},
    {"1]", "t:1:2: error: unbalanced ']' [expr-syntax]\n    1 | 1]\n      |  ^\n"},
    {"T[1)", "t:1:4: error: expected an operator or ']' before ')' [expr-syntax]\n    1 | T[1)\n      |    ^\n"},
    {"min(1, 2", "t:1:4: error: unbalanced '(' [expr-syntax]\n    1 | min(1, 2\n      |    ^\n"},
    {"(1 2)", "t:1:4: error: expected an operator or ')' before '2' [expr-syntax]\n    1 | (1 2)\n      |    ^\n"},
    {"1 2", "t:1:3: error: expected an operator before '2' [expr-syntax]\n    1 | 1 2\n      |   ^\n"},
    {"1, 2", "t:1:2: error: unexpected ',' [expr-syntax]\n    1 | 1, 2\n      |  ^\n"},
    {"(1)[2]", "t:1:4: error: expected an operator before '[' [expr-syntax]\n    1 | (1)[2]\n      |    ^\n"},
    {"a ? b", "t:1:3: error: '?' without ':' [expr-syntax]\n    1 | a ? b\n      |   ^\n"},
    {"a ? b :", "t:1:7: error: expected an operand after ':' [expr-syntax]\n    1 | a ? b :\n      |       ^\n"},
    {"a : b", "t:1:3: error: ':' without '?' [expr-syntax]\n    1 | a : b\n      |   ^\n"},
    {"a ? b c",
     "t:1:7: error: expected an operator or ':' before 'c' [expr-syntax]\n    1 | a ? b c\n      |       ^\n"},
    {"a gt b", "t:1:3: error: expected an operator before 'gt' [expr-syntax]\n    1 | a gt b\n      |   ^~\n"
               "t:1:3: note: '>' needs no escape in XML: write '>'\n"},
    {"(a ge b)", "t:1:4: error: expected an operator or ')' before 'ge' [expr-syntax]\n    1 | (a ge b)\n"
                 "      |    ^~\nt:1:4: note: '>' needs no escape in XML: write '>='\n"},
    {"a mod b", "t:1:3: error: expected an operator before 'mod' [expr-syntax]\n    1 | a mod b\n      |   ^~~\n"
                "t:1:3: note: write '%'\n"},
    {"a = b", "t:1:3: error: unexpected character '=' [expr-syntax]\n    1 | a = b\n      |   ^\n"
              "t:1:3: note: did you mean '=='?\n"},
    {"a $ b", "t:1:3: error: unexpected character '$' [expr-syntax]\n    1 | a $ b\n      |   ^\n"},
    {"\xc3\xa9 + 1", "t:1:1: error: unexpected character '\xc3\xa9' [expr-syntax]\n    1 | \xc3\xa9 + 1\n      | ^\n"},
    {"a.1", "t:1:2: error: unexpected character '.' [expr-syntax]\n    1 | a.1\n      |  ^\n"},
    {"abs(1)", "t:1:1: error: unknown function 'abs' [unknown-function]\n    1 | abs(1)\n      | ^~~\n"
               "t:1:1: note: the functions are 'min' and 'max'\n"},
    {"1 + min(2)", "t:1:5: error: 'min' takes two or more arguments, not 1 [function-arguments]\n"
                   "    1 | 1 + min(2)\n      |     ^~~\n"},
    {"max()", "t:1:1: error: 'max' takes two or more arguments, not 0 [function-arguments]\n"
              "    1 | max()\n      | ^~~\n"},
    {"min + 1", "t:1:1: error: expected '(' after 'min' [expr-syntax]\n    1 | min + 1\n      | ^~~\n"},
    {"min(1,,2)", "t:1:7: error: expected an operand before ',' [expr-syntax]\n    1 | min(1,,2)\n      |       ^\n"},
    {"010", "t:1:1: error: number '010' begins with 0 [number-syntax]\n    1 | 010\n      | ^~~\n"
            "t:1:1: note: write '10'; there are no octal numbers\n"},
    {"1 + 00", "t:1:5: error: number '00' begins with 0 [number-syntax]\n    1 | 1 + 00\n      |     ^~\n"
               "t:1:5: note: there are no octal numbers\n"},
    {"1.5", "t:1:1: error: '1.5' is not an integer [number-syntax]\n    1 | 1.5\n      | ^~~\n"
            "t:1:1: note: expressions are on integers\n"},
    {"12ul", "t:1:1: error: '12ul' is not an integer [number-syntax]\n    1 | 12ul\n      | ^~~~\n"
             "t:1:1: note: integers have 64 bits and take no suffix\n"},
    {"0x", "t:1:1: error: '0x' is not an integer [number-syntax]\n    1 | 0x\n      | ^~\n"
           "t:1:1: note: integers are decimal or begin with '0x'\n"},
    {"0xfg", "t:1:1: error: '0xfg' is not an integer [number-syntax]\n    1 | 0xfg\n      | ^~~~\n"
             "t:1:1: note: integers are decimal or begin with '0x'\n"},
    {"9223372036854775808", "t:1:1: error: number is larger than 9223372036854775807 [number-range]\n"
                            "    1 | 9223372036854775808\n      | ^~~~~~~~~~~~~~~~~~~\n"},
    {"0x8000000000000000", "t:1:1: error: number is larger than 9223372036854775807 [number-range]\n"
                           "    1 | 0x8000000000000000\n      | ^~~~~~~~~~~~~~~~~~\n"},
    {"1 +\n  )", "t:2:3: error: expected an operand before ')' [expr-syntax]\n    2 |   )\n      |   ^\n"},
};

static void expect_messages(struct fixture *f, const char *text, const char *wanted)
{
    struct text messages = {0};
    diag_render(&f->diags, &messages, false);
    ck_assert_msg(strcmp(text_string(&messages), wanted) == 0, "'%s' gives\n%snot\n%s", text, text_string(&messages),
                  wanted);
    text_free(&messages);
}

START_TEST(errors_say_what_and_where)
{
    struct fixture f;
    setup(&f);
    ck_assert_msg(parse(&f, errors[_i].text) == NULL, "'%s' parses", errors[_i].text);
    expect_messages(&f, errors[_i].text, errors[_i].message);
    teardown(&f);
}
END_TEST

/* ---- lists ---- */

static const struct {
    const char *text;
    enum expr_separator separator;
    const char *values; /* "" where it is an error */
    const char *message;
} lists[] = {
    {"N / 256", EXPR_SPACES, "n / 256", ""},
    {"N / 256 2", EXPR_SPACES, "n / 256|2", ""},
    {"16 16", EXPR_SPACES, "16|16", ""},
    {"4 -1", EXPR_SPACES, "4 -1", ""},
    {"4 - 1 2", EXPR_SPACES, "4 - 1|2", ""},
    {"4 (-1)", EXPR_SPACES, "4|(-1)", ""},
    {"4 ~1 !2", EXPR_SPACES, "4|~1|!2", ""},
    {"a (b)", EXPR_SPACES, "a|(b)", ""},
    {"(a) (b) c", EXPR_SPACES, "(a)|(b)|c", ""},
    {"a ? b : c d", EXPR_SPACES, "a ? b : c|d", ""},
    {"T [1] 2", EXPR_SPACES, "T [1]|2", ""},
    {"min (1, 2) 3", EXPR_SPACES, "min (1, 2)|3", ""},
    {"a lt b c", EXPR_SPACES, "a lt b|c", ""},
    {"\n 8\t8\n4 ", EXPR_SPACES, "8|8|4", ""},
    {"a, b, c", EXPR_COMMAS, "a|b|c", ""},
    {"min(a, b), c", EXPR_COMMAS, "min(a, b)|c", ""},
    {"i", EXPR_COMMAS, "i", ""},
    {"a ? b : c, d", EXPR_COMMAS, "a ? b : c|d", ""},
    {"1 2 3 4", EXPR_SPACES, "",
     "t:1:7: error: more than 3 expressions [list-length]\n    1 | 1 2 3 4\n      |       ^\n"},
    {"1, 2, 3, 4", EXPR_COMMAS, "",
     "t:1:10: error: more than 3 expressions [list-length]\n    1 | 1, 2, 3, 4\n      |          ^\n"},
    {"1, 2", EXPR_SPACES, "",
     "t:1:2: error: unexpected ',' [expr-syntax]\n    1 | 1, 2\n      |  ^\n"
     "t:1:2: note: expressions are separated by spaces here\n"},
    {"1 2", EXPR_COMMAS, "", "t:1:3: error: expected an operator before '2' [expr-syntax]\n    1 | 1 2\n      |   ^\n"},
    {"a(b)", EXPR_SPACES, "",
     "t:1:1: error: unknown function 'a' [unknown-function]\n    1 | a(b)\n      | ^\n"
     "t:1:1: note: the functions are 'min' and 'max'\n"},
    {"(a (b))", EXPR_SPACES, "",
     "t:1:2: error: unknown function 'a' [unknown-function]\n    1 | (a (b))\n      |  ^\n"
     "t:1:2: note: the functions are 'min' and 'max'\n"},
    {"a gt b", EXPR_SPACES, "",
     "t:1:3: error: expected an operator before 'gt' [expr-syntax]\n    1 | a gt b\n      |   ^~\n"
     "t:1:3: note: '>' needs no escape in XML: write '>'\n"},
    {"1 )", EXPR_SPACES, "", "t:1:3: error: unbalanced ')' [expr-syntax]\n    1 | 1 )\n      |   ^\n"},
    {"1 010", EXPR_SPACES, "",
     "t:1:3: error: number '010' begins with 0 [number-syntax]\n    1 | 1 010\n      |   ^~~\n"
     "t:1:3: note: write '10'; there are no octal numbers\n"},
    {"1,", EXPR_COMMAS, "", "t:1:2: error: expected an operand after ',' [expr-syntax]\n    1 | 1,\n      |  ^\n"},
    {",1", EXPR_COMMAS, "", "t:1:1: error: expected an operand before ',' [expr-syntax]\n    1 | ,1\n      | ^\n"},
    {"", EXPR_SPACES, "", "t:1:1: error: empty expression [expr-syntax]\n    1 | \n      | ^\n"},
};

START_TEST(lists_are_read_greedily)
{
    struct fixture f;
    setup(&f);
    struct quoted quoted = quote(&f, lists[_i].text, lists[_i].text);
    f.count = expr_parse_list(f.list, 3, &f.arena, &quoted, lists[_i].separator, &f.diags);
    struct text got = {0};
    for (size_t i = 0; i < f.count; i++) {
        text_puts(&got, i == 0 ? "" : "|");
        text_append(&got, quoted.text + f.list[i]->where.offset, f.list[i]->where.length);
    }
    for (size_t i = 0; i < got.length; i++)
        got.bytes[i] = got.bytes[i] == 'N' ? 'n' : got.bytes[i];
    ck_assert_str_eq(text_string(&got), lists[_i].values);
    expect_messages(&f, lists[_i].text, lists[_i].message);
    text_free(&got);
    teardown(&f);
}
END_TEST

/* ---- places ---- */

struct place {
    const char *raw, *text;
    enum expr_op op;
    const char *where, *at; /* of the root, in raw bytes */
};

static const struct place places[] = {
    {"a &lt; b", "a < b", EXPR_LESS, "a &lt; b", "&lt;"},
    {" a &lt;&lt; b ", " a << b ", EXPR_SHIFT_LEFT, "a &lt;&lt; b", "&lt;&lt;"},
    {"a &amp;&amp; b", "a && b", EXPR_LOGICAL_AND, "a &amp;&amp; b", "&amp;&amp;"},
    {"&#97;+b", "a+b", EXPR_ADD, "&#97;+b", "+"},
    {"a\r\n+\r\nb", "a + b", EXPR_ADD, "a\r\n+\r\nb", "+"},
    {"-&#x28;b&#x29;", "-(b)", EXPR_NEGATE, "-&#x28;b&#x29;", "-"},
    {"(a)", "(a)", EXPR_NAME, "(a)", "a"},
    {"((a + b)) * c", "((a + b)) * c", EXPR_MULTIPLY, "((a + b)) * c", "*"},
    {"T[a &gt; 1]", "T[a > 1]", EXPR_LOOKUP, "T[a &gt; 1]", "T"},
    {"min(a, b &lt; c)", "min(a, b < c)", EXPR_MIN, "min(a, b &lt; c)", "min"},
    {"a ? b : c &amp; d", "a ? b : c & d", EXPR_CONDITIONAL, "a ? b : c &amp; d", "?"},
    {"+a", "+a", EXPR_NAME, "+a", "a"},
    {"0x1F", "0x1F", EXPR_NUMBER, "0x1F", "0x1F"},
    {"threadIdx.x", "threadIdx.x", EXPR_NAME, "threadIdx.x", "threadIdx.x"},
};

static const char *covered(struct fixture *f, struct span span)
{
    return arena_copy(&f->arena, span.source->bytes + span.offset, span.length);
}

START_TEST(places_are_those_of_the_source)
{
    const struct place *row = &places[_i];
    struct fixture f;
    setup(&f);
    struct quoted quoted = quote(&f, row->raw, row->text);
    const struct expr *expr = expr_parse(&f.arena, &quoted, &f.diags);
    ck_assert_msg(expr != NULL, "%s", row->raw);
    ck_assert_int_eq(expr->op, row->op);
    ck_assert_str_eq(covered(&f, expr->where), row->where);
    ck_assert_str_eq(covered(&f, expr->at), row->at);
    teardown(&f);
}
END_TEST

START_TEST(an_error_past_entities_is_in_its_place)
{
    struct fixture f;
    setup(&f);
    struct quoted quoted = quote(&f, "a &lt; b &amp;&amp; $", "a < b && $");
    ck_assert(expr_parse(&f.arena, &quoted, &f.diags) == NULL);
    expect_messages(&f, quoted.text,
                    "t:1:21: error: unexpected character '$' [expr-syntax]\n    1 | a &lt; b &amp;&amp; $\n"
                    "      |                     ^\n");
    teardown(&f);
}
END_TEST

START_TEST(a_text_of_no_source_has_no_place)
{
    struct fixture f;
    setup(&f);
    const struct quoted quoted = {.text = "1 + (2 * 3"};
    ck_assert(expr_parse(&f.arena, &quoted, &f.diags) == NULL);
    expect_messages(&f, quoted.text, "sectorwise: error: unbalanced '(' [expr-syntax]\n");
    teardown(&f);
}
END_TEST

/* ---- bounds ---- */

static struct expr *parse_repeated(struct fixture *f, const char *head, const char *piece, size_t times,
                                   const char *tail)
{
    struct text text = {0};
    text_puts(&text, head);
    for (size_t i = 0; i < times; i++)
        text_puts(&text, piece);
    text_puts(&text, tail);
    struct expr *expr = parse(f, arena_copy(&f->arena, text_string(&text), text.length));
    text_free(&text);
    return expr;
}

static const struct {
    const char *head, *piece;
    size_t times;
    const char *tail, *id;
} bombs[] = {
    {"", "(", 100000, "", "expr-depth"},        {"", "(", 201, "1", "expr-depth"},
    {"", "-", 100000, "1", "expr-depth"},       {"", "!~+-", 100000, "1", "expr-depth"},
    {"", "a?", 100000, "1", "expr-depth"},      {"", "a?b:", 100000, "1", "expr-depth"},
    {"", "T[", 100000, "1", "expr-depth"},      {"", "min(1,", 100000, "1", "expr-depth"},
    {"a", "+a", 100000, "", "expr-depth"},      {"a", "-a", 1000, "", "expr-depth"},
    {"min(1", ",1", 100000, ")", "expr-depth"}, {"a", "||a*a+a<<a<a==a&a^a|a&&a", 10000, "", "expr-size"},
    {"1", "0", 100000, "", "number-range"},     {"1", ".", 100000, "", "number-syntax"},
    {"0", "0", 100000, "", "number-syntax"},    {"", "a", 100000, "(", "unknown-function"},
    {"", " ", 1000000, "", "expr-syntax"},      {"\xff", "\x80", 100000, "", "expr-syntax"},
};

START_TEST(bombs_end_in_an_error)
{
    struct fixture f;
    setup(&f);
    clock_t begin = clock();
    struct expr *expr = parse_repeated(&f, bombs[_i].head, bombs[_i].piece, bombs[_i].times, bombs[_i].tail);
    ck_assert_msg(expr == NULL && f.diags.count == 1, "bomb %d", _i);
    ck_assert_str_eq(f.diags.items[0].id, bombs[_i].id);
    /* Milliseconds; the margin is for a sanitizer on a loaded machine. */
    ck_assert((clock() - begin) / CLOCKS_PER_SEC < 10);
    teardown(&f);
}
END_TEST

START_TEST(sizes_up_to_the_bounds_are_accepted)
{
    static const struct {
        const char *head, *piece;
        size_t times;
        const char *tail;
        int64_t value;
    } rows[] = {
        {"1", "+1", 999, "", 1000},
        {"", "-", 200, "1", 1},
        {"", "0?9:", 200, "5", 5},
        {"1", "+(1", 0, "", 1},
    };
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct expr *expr = parse_repeated(&f, rows[i].head, rows[i].piece, rows[i].times, rows[i].tail);
        ck_assert_msg(expr != NULL, "row %zu", i);
        int64_t got = 0;
        const char *message;
        ck_assert_int_eq(evaluate(&f, expr, letters(1, 2, 3), &got, &message), EXPR_FINE);
        ck_assert_msg(got == rows[i].value, "row %zu: %lld", i, (long long)got);
    }
    teardown(&f);
}
END_TEST

START_TEST(parentheses_nest_to_the_bound)
{
    struct text text = {0};
    text_repeat(&text, '(', EXPR_DEPTH_MAX);
    text_putc(&text, '8');
    text_repeat(&text, ')', EXPR_DEPTH_MAX);
    expect_value(text_string(&text), letters(1, 2, 3), 8, "nested");
    text_free(&text);
}
END_TEST

START_TEST(the_number_of_nodes_is_bounded)
{
    struct fixture f;
    setup(&f);
    /* Flat enough to pass the bound on depth: sums of 200 products of 30. */
    struct text text = {0};
    for (int i = 0; i < 200; i++) {
        text_puts(&text, i == 0 ? "(a" : "+(a");
        for (int j = 0; j < 30; j++)
            text_puts(&text, "*a");
        text_putc(&text, ')');
    }
    ck_assert(parse(&f, arena_copy(&f.arena, text_string(&text), text.length)) == NULL);
    ck_assert_str_eq(f.diags.items[0].id, "expr-size");
    text_free(&text);
    teardown(&f);
}
END_TEST

/* ---- names ---- */

START_TEST(binding_reports_every_name)
{
    struct fixture f;
    setup(&f);
    struct expr *expr = parse(&f, "xx + T[yy] * zz[a ? P : uu] + T");
    ck_assert(expr != NULL && !expr_bind(expr, resolve, &f, &f.diags));
    static const char *const unknown[] = {"xx", "yy", "zz", "uu", "T"};
    ck_assert_uint_eq(f.diags.count, sizeof(unknown) / sizeof(unknown[0]));
    for (size_t i = 0; i < f.diags.count; i++)
        ck_assert_str_eq(covered(&f, f.diags.items[i].where), unknown[i]);
    teardown(&f);
}
END_TEST

START_TEST(builtins_are_found_by_name)
{
    for (enum expr_builtin i = BUILTIN_THREAD_IDX_X; i < BUILTIN_COUNT; i++) {
        enum expr_builtin found = BUILTIN_COUNT;
        ck_assert(expr_builtin_find(expr_builtin_name(i), &found));
        ck_assert_int_eq(found, i);
    }
    enum expr_builtin found;
    ck_assert(!expr_builtin_find("threadIdx", &found));
    ck_assert(!expr_builtin_find("threadIdx.w", &found));
    ck_assert(!expr_builtin_find("", &found));
    ck_assert(!expr_builtin_find("Lane", &found));
}
END_TEST

static const struct {
    const char *text;
    unsigned varies;
} variations[] = {
    {"1 + P", 0},
    {"blockDim.x * gridDim.y", 0},
    {"threadIdx.z", EXPR_VARIES_THREAD},
    {"lane", EXPR_VARIES_THREAD},
    {"warp + 1", EXPR_VARIES_THREAD},
    {"blockIdx.x", EXPR_VARIES_BLOCK},
    {"thread", EXPR_VARIES_THREAD | EXPR_VARIES_BLOCK},
    {"a", EXPR_VARIES_SLOT},
    {"a + blockIdx.y", EXPR_VARIES_SLOT | EXPR_VARIES_BLOCK},
    {"T[2]", 0},
    {"T[lane]", EXPR_VARIES_THREAD | EXPR_VARIES_TABLE},
    {"1 ? T[blockIdx.x] : a", EXPR_VARIES_BLOCK | EXPR_VARIES_TABLE | EXPR_VARIES_SLOT},
};

START_TEST(variation_is_that_of_the_names)
{
    struct fixture f;
    setup(&f);
    struct expr *expr = parse(&f, variations[_i].text);
    ck_assert(expr != NULL && expr_bind(expr, resolve, &f, &f.diags));
    ck_assert_msg(expr_varies(expr, NULL) == variations[_i].varies, "%s", variations[_i].text);
    unsigned slots[LETTERS] = {EXPR_VARIES_THREAD};
    unsigned wanted = variations[_i].varies;
    if ((wanted & EXPR_VARIES_SLOT) != 0)
        wanted = (wanted & ~(unsigned)EXPR_VARIES_SLOT) | EXPR_VARIES_THREAD;
    ck_assert_msg(expr_varies(expr, slots) == wanted, "%s with slots", variations[_i].text);
    teardown(&f);
}
END_TEST

/* ---- random trees: made, written down, read back and compared with an evaluation of their own ---- */

struct made {
    char op[3]; /* "" for a leaf; "?" */
    int rank;   /* C's, a leaf has the highest */
    int64_t value;
    char letter; /* a leaf that is a variable */
    const struct made *a, *b, *c;
};

enum { RANK_CONDITIONAL = 0, RANK_UNARY = 11, RANK_LEAF = 12 };

static const struct made_operator {
    const char *text, *word;
    int rank;
} made_operators[] = {
    {"*", NULL, 10}, {"/", NULL, 10},  {"%", NULL, 10}, {"+", NULL, 9}, {"-", NULL, 9},   {"<<", "shl", 8},
    {">>", NULL, 8}, {"<", "lt", 7},   {"<=", "le", 7}, {">", NULL, 7}, {">=", NULL, 7},  {"==", NULL, 6},
    {"!=", NULL, 6}, {"&", "band", 5}, {"^", NULL, 4},  {"|", NULL, 3}, {"&&", "and", 2}, {"||", "or", 1},
};

static const struct made *make_leaf(struct arena *arena, uint64_t *state)
{
    static const int64_t edges[] = {INT64_MAX, INT64_MAX - 1, INT64_C(1) << 32, INT64_C(1) << 62, 63, 64};
    struct made *made = arena_alloc(arena, sizeof(*made));
    made->rank = RANK_LEAF;
    if (random_below(state, 3) == 0)
        made->letter = (char)('a' + random_below(state, 3));
    else if (random_below(state, 12) == 0)
        made->value = edges[random_below(state, sizeof(edges) / sizeof(edges[0]))];
    else
        made->value = random_below(state, 20);
    return made;
}

static const struct made *make(struct arena *arena, uint64_t *state, unsigned depth)
{
    if (depth == 0 || random_below(state, 5) == 0)
        return make_leaf(arena, state);
    struct made *made = arena_alloc(arena, sizeof(*made));
    made->a = make(arena, state, depth - 1);
    unsigned form = random_below(state, 10);
    if (form < 2) {
        made->op[0] = "-~!"[random_below(state, 3)];
        made->rank = RANK_UNARY;
        return made;
    }
    made->b = make(arena, state, depth - 1);
    if (form == 2) {
        made->c = make(arena, state, depth - 1);
        made->op[0] = '?';
        made->rank = RANK_CONDITIONAL;
        return made;
    }
    const struct made_operator *chosen =
        &made_operators[random_below(state, sizeof(made_operators) / sizeof(made_operators[0]))];
    memcpy(made->op, chosen->text, strlen(chosen->text));
    made->rank = chosen->rank;
    return made;
}

static void write_made(struct text *out, const struct made *made, int least_rank, uint64_t *state);

static void write_operator(struct text *out, const struct made *made, uint64_t *state)
{
    const char *word = NULL;
    for (size_t i = 0; i < sizeof(made_operators) / sizeof(made_operators[0]); i++)
        if (strcmp(made_operators[i].text, made->op) == 0)
            word = made_operators[i].word;
    if (word != NULL && random_below(state, 2) == 0)
        text_printf(out, " %s ", word);
    else
        text_printf(out, "%s%s ", random_below(state, 2) == 0 ? " " : "", made->op);
}

static void write_inside(struct text *out, const struct made *made, uint64_t *state)
{
    if (made->letter != '\0') {
        text_putc(out, made->letter);
    } else if (made->a == NULL) {
        text_printf(out, random_below(state, 4) == 0 ? "0x%llx" : "%lld", (long long)made->value);
    } else if (made->b == NULL) {
        text_printf(out, "%s", made->op);
        write_made(out, made->a, RANK_UNARY, state);
    } else if (made->c != NULL) {
        write_made(out, made->a, 1, state);
        text_puts(out, " ? ");
        write_made(out, made->b, 0, state);
        text_puts(out, ":");
        write_made(out, made->c, 0, state);
    } else {
        write_made(out, made->a, made->rank, state);
        write_operator(out, made, state);
        write_made(out, made->b, made->rank + 1, state);
    }
}

/* With the parentheses that it needs where operators of `least_rank` stand, and now and then some more. */
static void write_made(struct text *out, const struct made *made, int least_rank, uint64_t *state)
{
    bool parentheses = made->rank < least_rank || random_below(state, 8) == 0;
    text_puts(out, parentheses ? "(" : "");
    write_inside(out, made, state);
    text_puts(out, parentheses ? ")" : "");
}

__extension__ typedef __int128 wide;

static enum expr_fault narrow(int64_t *out, wide value)
{
    *out = (int64_t)value;
    return value < INT64_MIN || value > INT64_MAX ? EXPR_OVERFLOW : EXPR_FINE;
}

static enum expr_fault shift_made(int64_t *out, char direction, int64_t a, int64_t b)
{
    if (b < 0 || b > 63 || (direction == '<' && a < 0))
        return EXPR_SHIFT_RANGE;
    wide power = (wide)1 << b;
    if (direction == '<')
        return narrow(out, a * power);
    /* Rounds towards minus infinity. */
    return narrow(out, a >= 0 ? a / power : -((-(wide)a + power - 1) / power));
}

static enum expr_fault binary_made(int64_t *out, const char *op, int64_t a, int64_t b)
{
    bool twin = op[1] == op[0], equal = op[1] == '=';
    switch (op[0]) {
    case '*':
        return narrow(out, (wide)a * b);
    case '/':
        return b == 0 ? EXPR_DIVISION_BY_ZERO : narrow(out, (wide)a / b);
    case '%':
        if (b == -1 && a == INT64_MIN)
            return EXPR_OVERFLOW;
        return b == 0 ? EXPR_DIVISION_BY_ZERO : narrow(out, (wide)a % b);
    case '+':
        return narrow(out, (wide)a + b);
    case '-':
        return narrow(out, (wide)a - b);
    case '<':
        return twin ? shift_made(out, '<', a, b) : narrow(out, equal ? a <= b : a < b);
    case '>':
        return twin ? shift_made(out, '>', a, b) : narrow(out, equal ? a >= b : a > b);
    case '=':
        return narrow(out, a == b);
    case '!':
        return narrow(out, a != b);
    case '&':
        return narrow(out, a & b);
    case '^':
        return narrow(out, a ^ b);
    default:
        return narrow(out, a | b);
    }
}

static enum expr_fault evaluate_made(int64_t *out, const struct made *made, const int64_t *variables)
{
    int64_t a = 0, b = 0;
    if (made->a == NULL) {
        *out = made->letter == '\0' ? made->value : variables[made->letter - 'a'];
        return EXPR_FINE;
    }
    enum expr_fault fault = evaluate_made(&a, made->a, variables);
    if (fault != EXPR_FINE)
        return fault;
    if (made->op[0] == '?')
        return evaluate_made(out, a != 0 ? made->b : made->c, variables);
    if (made->b == NULL)
        return narrow(out, made->op[0] == '-' ? -(wide)a : made->op[0] == '~' ? ~a : !a);
    bool is_and = strcmp(made->op, "&&") == 0, is_or = strcmp(made->op, "||") == 0;
    if ((is_and && a == 0) || (is_or && a != 0))
        return narrow(out, is_or);
    fault = evaluate_made(&b, made->b, variables);
    if (fault != EXPR_FINE)
        return fault;
    return is_and || is_or ? narrow(out, b != 0) : binary_made(out, made->op, a, b);
}

static void check_made(uint64_t seed)
{
    struct fixture f;
    setup(&f);
    uint64_t state = seed;
    const struct made *made = make(&f.arena, &state, 1 + random_below(&state, 6));
    const int64_t *variables =
        letters(random_below(&state, 9), -(int64_t)random_below(&state, 9), random_below(&state, 99));
    struct text text = {0};
    write_made(&text, made, 0, &state);
    struct expr *expr = parse(&f, arena_copy(&f.arena, text_string(&text), text.length));
    ck_assert_msg(expr != NULL, "seed %llu: '%s' does not parse", (unsigned long long)seed, text_string(&text));
    int64_t wanted = 0, got = 0;
    const char *message;
    enum expr_fault wanted_fault = evaluate_made(&wanted, made, variables);
    enum expr_fault fault = evaluate(&f, expr, variables, &got, &message);
    ck_assert_msg(fault == wanted_fault, "seed %llu: '%s': fault %d (%s), not %d", (unsigned long long)seed,
                  text_string(&text), (int)fault, message, (int)wanted_fault);
    ck_assert_msg(fault != EXPR_FINE || got == wanted, "seed %llu: '%s' is %lld, not %lld", (unsigned long long)seed,
                  text_string(&text), (long long)got, (long long)wanted);
    text_free(&text);
    teardown(&f);
}

START_TEST(random_trees_are_read_as_written)
{
    const char *scale = getenv("SECTORWISE_TEST_SCALE");
    uint64_t count = scale == NULL ? 50000 : strcmp(scale, "small") == 0 ? 500 : 10000;
    for (uint64_t seed = 1; seed <= count; seed++)
        check_made(seed);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *expr_suite(void)
{
    Suite *suite = suite_create("expr");
    TCase *tests = tcase_create("expr");
    tcase_add_test(tests, binary_operators_group_as_in_c);
    tcase_add_test(tests, conditionals_group_as_in_c);
    tcase_add_test(tests, unary_operators_bind_as_in_c);
    tcase_add_test(tests, longer_rows_are_as_in_c);
    tcase_add_loop_test(tests, values_are_right, 0, ROWS(values));
    tcase_add_loop_test(tests, faults_name_their_operator, 0, ROWS(faults));
    tcase_add_loop_test(tests, errors_say_what_and_where, 0, ROWS(errors));
    tcase_add_loop_test(tests, lists_are_read_greedily, 0, ROWS(lists));
    tcase_add_loop_test(tests, places_are_those_of_the_source, 0, ROWS(places));
    tcase_add_test(tests, an_error_past_entities_is_in_its_place);
    tcase_add_test(tests, a_text_of_no_source_has_no_place);
    tcase_add_loop_test(tests, bombs_end_in_an_error, 0, ROWS(bombs));
    tcase_add_test(tests, sizes_up_to_the_bounds_are_accepted);
    tcase_add_test(tests, parentheses_nest_to_the_bound);
    tcase_add_test(tests, the_number_of_nodes_is_bounded);
    tcase_add_test(tests, binding_reports_every_name);
    tcase_add_test(tests, builtins_are_found_by_name);
    tcase_add_loop_test(tests, variation_is_that_of_the_names, 0, ROWS(variations));
    tcase_add_test(tests, random_trees_are_read_as_written);
    suite_add_tcase(suite, tests);
    return suite;
}
