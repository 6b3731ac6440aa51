#include "unified.h"

#include <stdbool.h>
#include <string.h>

enum { AROUND = 3, EDITS_MAX = 2000 };

struct span_line {
    const char *bytes;
    size_t length; /* its line break included, where it has one */
};

struct lines {
    struct span_line *items;
    size_t count;
};

/* Two texts, and for each line whether the other has it too, at its place among those that both have. */
struct comparison {
    struct lines before, after;
    bool *removed, *added;
    struct arena *arena;
};

static struct lines cut_lines(struct arena *arena, const struct source *source)
{
    size_t capacity = 1;
    struct lines lines = {.items = arena_alloc(arena, sizeof(*lines.items))};
    for (size_t at = 0; at < source->length;) {
        const char *begin = source->bytes + at, *end = memchr(begin, '\n', source->length - at);
        size_t length = end == NULL ? source->length - at : (size_t)(end - begin) + 1;
        lines.items = arena_grow(arena, lines.items, lines.count, &capacity, sizeof(*lines.items));
        lines.items[lines.count++] = (struct span_line){begin, length};
        at += length;
    }
    return lines;
}

static bool same_line(const struct span_line *a, const struct span_line *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Myers' greedy algorithm over the lines from `from` on, `n` and `m` of them. reach[k + d] is how far into `before` d
 * edits get on the diagonal k (lines of `before` less lines of `after`); one row of it for each d is kept, to go back
 * along. */
struct search {
    const struct comparison *texts;
    size_t from;
    long n, m;
    long *rows[EDITS_MAX + 1];
};

static long follow(const struct search *search, long x, long y)
{
    const struct span_line *before = search->texts->before.items + search->from;
    const struct span_line *after = search->texts->after.items + search->from;
    while (x < search->n && y < search->m && same_line(&before[x], &after[y])) {
        x++;
        y++;
    }
    return x;
}

/* The diagonal from which `d` edits come to diagonal `k`. */
static long come_from(const long *row, long d, long k)
{
    if (k == -d)
        return k + 1;
    if (k == d)
        return k - 1;
    return row[k - 1 + d - 1] < row[k + 1 + d - 1] ? k + 1 : k - 1;
}

static long first_step(const long *row, long d, long k)
{
    long from = come_from(row, d, k);
    return row[from + d - 1] + (from < k);
}

/* The number of edits; -1 beyond EDITS_MAX. */
static long find_edits(struct search *search)
{
    for (long d = 0; d <= EDITS_MAX; d++) {
        long *row = search->rows[d] = arena_array(search->texts->arena, (size_t)(2 * d + 1), sizeof(long));
        for (long k = -d; k <= d; k += 2) {
            long x = d == 0 ? 0 : first_step(search->rows[d - 1], d, k);
            /* Off the texts' edges there is nothing to find, but the row must hold something. */
            row[k + d] = x > search->n || x - k > search->m || x - k < 0 ? x : follow(search, x, x - k);
            if (row[k + d] >= search->n && row[k + d] - k >= search->m)
                return d;
        }
    }
    return -1;
}

static void mark_edits(const struct search *search, long d)
{
    const struct comparison *texts = search->texts;
    long k = search->n - search->m;
    for (; d > 0; d--) {
        const long *row = search->rows[d - 1];
        long from = come_from(row, d, k), x = row[from + d - 1];
        if (from < k)
            texts->removed[search->from + (size_t)x] = true;
        else
            texts->added[search->from + (size_t)(x - from)] = true;
        k = from;
    }
}

static void compare(struct comparison *texts)
{
    size_t n = texts->before.count, m = texts->after.count, head = 0, tail = 0;
    const struct span_line *before = texts->before.items, *after = texts->after.items;
    texts->removed = arena_array(texts->arena, n + 1, sizeof(bool));
    texts->added = arena_array(texts->arena, m + 1, sizeof(bool));
    while (head < n && head < m && same_line(&before[head], &after[head]))
        head++;
    while (tail < n - head && tail < m - head && same_line(&before[n - tail - 1], &after[m - tail - 1]))
        tail++;
    struct search *search = arena_alloc(texts->arena, sizeof(*search));
    *search = (struct search){.texts = texts, .from = head, .n = (long)(n - head - tail), .m = (long)(m - head - tail)};
    long edits = find_edits(search);
    if (edits >= 0) {
        mark_edits(search, edits);
        return;
    }
    memset(texts->removed + head, true, n - head - tail);
    memset(texts->added + head, true, m - head - tail);
}

/* ---- writing ---- */

/* A place in both texts at once. */
struct place {
    size_t before, after;
};

static bool is_edit(const struct comparison *texts, struct place at)
{
    return texts->removed[at.before] || texts->added[at.after];
}

static bool is_end(const struct comparison *texts, struct place at)
{
    return at.before == texts->before.count && at.after == texts->after.count;
}

static struct place next_place(const struct comparison *texts, struct place at)
{
    if (texts->removed[at.before])
        at.before++;
    else if (texts->added[at.after])
        at.after++;
    else
        at = (struct place){at.before + 1, at.after + 1};
    return at;
}

static void put_line(struct text *out, char sign, const struct span_line *line)
{
    text_putc(out, sign);
    text_append(out, line->bytes, line->length);
    if (line->bytes[line->length - 1] != '\n')
        text_puts(out, "\n\\ No newline at end of file\n");
}

static void put_range(struct text *out, size_t from, size_t to)
{
    size_t count = to - from;
    /* An empty range is told by the line before it. */
    text_printf(out, "%zu", count == 0 ? from : from + 1);
    if (count != 1)
        text_printf(out, ",%zu", count);
}

static void put_hunk(struct text *out, const struct comparison *texts, struct place from, struct place to)
{
    text_puts(out, "@@ -");
    put_range(out, from.before, to.before);
    text_puts(out, " +");
    put_range(out, from.after, to.after);
    text_puts(out, " @@\n");
    for (struct place at = from; at.before < to.before || at.after < to.after; at = next_place(texts, at)) {
        if (texts->removed[at.before])
            put_line(out, '-', &texts->before.items[at.before]);
        else if (texts->added[at.after])
            put_line(out, '+', &texts->after.items[at.after]);
        else
            put_line(out, ' ', &texts->before.items[at.before]);
    }
}

/* Where a hunk ends whose first edit is at `at`: past the last edit that is near enough, and the lines around it. */
static struct place find_end(const struct comparison *texts, struct place at)
{
    struct place end = at;
    for (size_t equal = 0; !is_end(texts, at) && equal <= 2 * AROUND; at = next_place(texts, at)) {
        equal = is_edit(texts, at) ? 0 : equal + 1;
        if (equal <= AROUND)
            end = next_place(texts, at);
    }
    return end;
}

void unified_write(struct text *out, const struct source *before, const struct source *after, struct arena *arena)
{
    struct comparison texts = {.before = cut_lines(arena, before), .after = cut_lines(arena, after), .arena = arena};
    compare(&texts);
    struct place at = {0, 0};
    bool any = false;
    while (!is_end(&texts, at)) {
        if (!is_edit(&texts, at)) {
            at = next_place(&texts, at);
            continue;
        }
        if (!any)
            text_printf(out, "--- %s\n+++ %s\n", before->name, after->name);
        any = true;
        size_t around = at.before < AROUND ? at.before : AROUND;
        around = at.after < around ? at.after : around;
        struct place from = {at.before - around, at.after - around}, to = find_end(&texts, at);
        put_hunk(out, &texts, from, to);
        at = to;
    }
}
