#include "unified.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "random_spec.h"

static const struct {
    const char *before, *after, *difference;
} rows[] = {
    {"", "", ""},
    {"a\n", "a\n", ""},
    {"", "a\n", "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n"},
    {"a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
    {"a", "a\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
    {"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n", "--- x\n+++ y\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n"},
    {"a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
     "--- x\n+++ y\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
    {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
     "--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
};

static const struct source *make(struct arena *arena, const char *name, const char *text)
{
    return source_from_bytes(arena, name, text, strlen(text));
}

START_TEST(by_hand)
{
    struct arena arena = {0};
    struct text out = {0};
    unified_write(&out, make(&arena, "x", rows[_i].before), make(&arena, "y", rows[_i].after), &arena);
    ck_assert_str_eq(text_string(&out), rows[_i].difference);
    text_free(&out);
    arena_free(&arena);
}
END_TEST

/* Applies a difference as `patch` would, with every line that it shows held against the text. False where it does not
 * fit; *edits counts its lines with a sign. */
static bool apply(struct text *out, const char *before, const char *difference, unsigned *edits)
{
    size_t line = 1;
    *edits = 0;
    for (; *difference != '\0'; difference += strcspn(difference, "\n") + 1) {
        size_t length = strcspn(difference + 1, "\n") + 1;
        if (strncmp(difference, "---", 3) == 0 || strncmp(difference, "+++", 3) == 0)
            continue;
        if (difference[0] == '@') {
            char *end;
            size_t from = strtoul(difference + 4, &end, 10);
            from += *end == ',' && end[1] == '0';
            for (; line < from; line++, before += strcspn(before, "\n") + 1)
                text_append(out, before, strcspn(before, "\n") + 1);
            continue;
        }
        if (difference[0] != '-')
            text_append(out, difference + 1, length);
        *edits += difference[0] != ' ';
        if (difference[0] == '+')
            continue;
        if (strncmp(before, difference + 1, length) != 0)
            return false;
        before += length;
        line++;
    }
    text_puts(out, before);
    return true;
}

/* The fewest lines to remove and add, by the table of longest common subsequences. */
static unsigned count_edits(const char *a, const char *b)
{
    static unsigned longest[64][64];
    size_t n = strlen(a) / 2, m = strlen(b) / 2;
    memset(longest, 0, sizeof(longest));
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            unsigned up = longest[i - 1][j], left = longest[i][j - 1];
            longest[i][j] = a[2 * i - 2] == b[2 * j - 2] ? longest[i - 1][j - 1] + 1 : up > left ? up : left;
        }
    return (unsigned)(n + m) - 2 * longest[n][m];
}

static void write_random(struct text *out, uint64_t *state)
{
    for (unsigned left = random_below(state, 60); left > 0; left--)
        text_printf(out, "%c\n", 'a' + (int)random_below(state, 4));
}

START_TEST(random_texts)
{
    uint64_t state = 5;
    for (int sweep = 0; sweep < 5000; sweep++) {
        struct arena arena = {0};
        struct text before = {0}, after = {0}, difference = {0}, applied = {0};
        unsigned edits;
        write_random(&before, &state);
        write_random(&after, &state);
        unified_write(&difference, make(&arena, "x", text_string(&before)), make(&arena, "y", text_string(&after)),
                      &arena);
        bool fits = apply(&applied, text_string(&before), text_string(&difference), &edits);
        ck_assert_msg(fits && strcmp(text_string(&applied), text_string(&after)) == 0, "sweep %d:\n%s", sweep,
                      text_string(&difference));
        ck_assert_uint_eq(edits, count_edits(text_string(&before), text_string(&after)));
        text_free(&before);
        text_free(&after);
        text_free(&difference);
        text_free(&applied);
        arena_free(&arena);
    }
}
END_TEST

/* Texts with nothing in common beyond the bound on edits: all out, all in. */
START_TEST(too_different)
{
    struct arena arena = {0};
    struct text before = {0}, after = {0}, difference = {0};
    enum { LINES = 3000 };
    for (int i = 0; i < LINES; i++) {
        text_printf(&before, "a%d\n", i);
        text_printf(&after, "b%d\n", i);
    }
    unified_write(&difference, make(&arena, "x", text_string(&before)), make(&arena, "y", text_string(&after)), &arena);
    ck_assert_ptr_nonnull(strstr(text_string(&difference), "@@ -1,3000 +1,3000 @@\n-a0\n"));
    text_free(&before);
    text_free(&after);
    text_free(&difference);
    arena_free(&arena);
}
END_TEST

Suite *unified_suite(void);

Suite *unified_suite(void)
{
    Suite *suite = suite_create("unified");
    TCase *differences = tcase_create("differences");
    tcase_add_loop_test(differences, by_hand, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(differences, random_texts);
    tcase_add_test(differences, too_different);
    suite_add_tcase(suite, differences);
    return suite;
}
