#include <string.h>

#include "check_internal.h"
#include "sort_numbers.h"

static const char *const value_words[] = {"permutation", "uniform", "sorted", NULL};
enum table_values { VALUES_PERMUTATION, VALUES_UNIFORM, VALUES_SORTED };

/* splitmix64 (Steele, Lea and Flood 2014; Vigna's constants): the state starts as the seed. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* None is negative. */
static void sort_ascending(int64_t *data, uint64_t count)
{
    struct arena scratch = {0};
    sort_numbers((uint64_t *)data, arena_array(&scratch, (size_t)count, sizeof(uint64_t)), (size_t)count);
    arena_free(&scratch);
}

/* Fisher-Yates. Places are drawn ahead of their swaps, so that memory is not waited for one place after the other. */
static void permute(int64_t *data, uint64_t count, uint64_t state)
{
    enum { AHEAD = 32 };
    uint64_t places[AHEAD] = {0}, drawn = count;
    for (uint64_t i = count - 1; i >= 1; i--) {
        for (; drawn > 1 && drawn + AHEAD > i + 1; drawn--) {
            const uint64_t place = next_random(&state) % drawn;
            __builtin_prefetch(&data[place], 1);
            places[(drawn - 1) % AHEAD] = place;
        }
        const uint64_t j = places[i % AHEAD];
        const int64_t swapped = data[i];
        data[i] = data[j];
        data[j] = swapped;
    }
}

/* Documented, so that counts can be reproduced elsewhere. With next() = splitmix64 seeded with `seed`:
 *     uniform:     value[i] = next() % range, i from 0 up (the modulus favours small values by less than range / 2^64)
 *     sorted:      the values of uniform, ascending
 *     permutation: value[i] = i, then for i = extent-1 down to 1: j = next() % (i + 1), swap value[i] and value[j] */
static void generate(struct table *table, enum table_values values, uint64_t range, uint64_t seed)
{
    uint64_t state = seed;
    if (values == VALUES_PERMUTATION) {
        for (uint64_t i = 0; i < table->extent; i++)
            table->data[i] = (int64_t)i;
        permute(table->data, table->extent, seed);
        return;
    }
    for (uint64_t i = 0; i < table->extent; i++)
        table->data[i] = (int64_t)(next_random(&state) % range);
    if (values == VALUES_SORTED)
        sort_ascending(table->data, table->extent);
}

static bool fill_generated(struct checker *checker, struct table *table, struct expr *range_expr,
                           struct expr *seed_expr)
{
    unsigned values;
    int64_t range = (int64_t)table->extent, seed = 0;
    bool fine = check_word(checker, &table->values_text, "values", value_words, VALUES_PERMUTATION, &values);
    if (range_expr != NULL && !check_constant(checker, range_expr, &range))
        fine = false;
    else if (range < 1) {
        diag_error(checker->diags, "bad-value", table->range_text.where, "range is %lld, less than 1",
                   (long long)range);
        fine = false;
    } else if (fine && values == VALUES_PERMUTATION && range != (int64_t)table->extent) {
        diag_error(checker->diags, "table-form", table->range_text.where,
                   "a permutation of %llu integers has no range of %lld", (unsigned long long)table->extent,
                   (long long)range);
        diag_note(checker->diags, "its values are 0 to extent - 1");
        fine = false;
    }
    if (seed_expr != NULL)
        fine = check_constant(checker, seed_expr, &seed) && fine;
    if (!fine)
        return false;
    table->data = arena_array(checker->arena, (size_t)table->extent, sizeof(*table->data));
    generate(table, (enum table_values)values, (uint64_t)range, (uint64_t)seed);
    return true;
}

/* A text of integers, read from front to back. */
struct integers {
    const char *begin, *at, *end;
    const struct source *file;   /* whose bytes the text is; or */
    const struct quoted *quoted; /* the element's text */
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(struct integers *text)
{
    while (text->at < text->end && is_space(*text->at))
        text->at++;
}

static int digit_value(char c, unsigned base)
{
    int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
    return digit < (int)base ? digit : -1;
}

/* Reads one integer: an optional sign, decimal digits or 0x and hexadecimal ones, then white space or the end.
 * False, with text->at where it stood, where there is none that fits 64 bits. */
static bool read_integer(struct integers *text, int64_t *out)
{
    const char *at = text->at;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    unsigned base = 10;
    if (text->end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
        base = 16;
        at += 2;
    }
    const char *digits = at;
    /* Summed up below zero, where there is room for the least one too. */
    int64_t value = 0;
    for (; at < text->end && digit_value(*at, base) >= 0; at++)
        if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
            __builtin_sub_overflow(value, (int64_t)digit_value(*at, base), &value))
            return false;
    if (at == digits || (at < text->end && !is_space(*at)) || (!negative && value == INT64_MIN))
        return false;
    text->at = at;
    *out = negative ? value : -value;
    return true;
}

/* Reports the word at the front, in the table's own file where it has one. */
static void report_word(struct checker *checker, const struct integers *text)
{
    enum { SHOWN_MAX = 40 };
    size_t length = 0, offset = (size_t)(text->at - text->begin);
    while (text->at + length < text->end && !is_space(text->at[length]))
        length++;
    struct span where =
        text->file != NULL ? (struct span){text->file, offset, length} : quoted_span(text->quoted, offset, length);
    diag_error(checker->diags, "table-syntax", where, "'%.*s%s' is no 64-bit integer",
               length > SHOWN_MAX ? SHOWN_MAX : (int)length, text->at, length > SHOWN_MAX ? "..." : "");
    diag_note(checker->diags, "a table holds decimal or 0x integers with white space between them");
}

static bool fill_from_text(struct checker *checker, struct table *table, struct integers text)
{
    uint64_t count = 0;
    for (skip_space(&text); text.at < text.end; skip_space(&text)) {
        int64_t value;
        if (!read_integer(&text, &value)) {
            report_word(checker, &text);
            return false;
        }
        if (count < table->extent)
            table->data[count] = value;
        count++;
    }
    if (count == table->extent)
        return true;
    diag_error(checker->diags, "table-count", table->extent_text.where,
               "extent of table '%s' is %llu, but its %s holds %llu integer%s", table->name.text,
               (unsigned long long)table->extent, text.file != NULL ? "file" : "text", (unsigned long long)count,
               count == 1 ? "" : "s");
    return false;
}

/* The table's file, relative to the folder of the description; for standard input that is the working folder. */
static const char *table_path(struct checker *checker, const char *file)
{
    const char *description = checker->spec->source->name;
    const char *slash = strrchr(description, '/');
    if (file[0] == '/')
        return file;
    if (slash != NULL)
        return arena_printf(checker->arena, "%.*s%s", (int)(slash - description) + 1, description, file);
    return file;
}

static bool fill_from_file(struct checker *checker, struct table *table)
{
    const char *path = table_path(checker, table->file_text.text), *reason = "";
    table->path = path;
    /* A file that was sound is not kept: nothing but a message points into it. */
    struct arena_mark mark = arena_mark(checker->arena);
    struct source *source;
    if (source_read_file(&source, checker->arena, path, &reason) != SOURCE_OK) {
        diag_error(checker->diags, "table-file", table->file_text.where, "cannot read table file '%s': %s", path,
                   reason);
        return false;
    }
    const char *end = source->bytes + source->length;
    if (!fill_from_text(checker, table, (struct integers){source->bytes, source->bytes, end, source, NULL}))
        return false;
    arena_reset(checker->arena, mark);
    return true;
}

static bool fill_listed(struct checker *checker, struct table *table)
{
    bool fine = true;
    const struct quoted *extras[] = {&table->range_text, &table->seed_text};
    for (size_t i = 0; i < 2; i++) {
        if (extras[i]->text == NULL)
            continue;
        diag_error(checker->diags, "table-form", extras[i]->where, "%s is for generated values only",
                   i == 0 ? "range" : "seed");
        fine = false;
    }
    if (!fine)
        return false;
    table->data = arena_array(checker->arena, (size_t)table->extent, sizeof(*table->data));
    if (table->file_text.text != NULL)
        return fill_from_file(checker, table);
    const char *text = table->content.text;
    return fill_from_text(checker, table, (struct integers){text, text, text + strlen(text), NULL, &table->content});
}

static bool check_form(struct checker *checker, const struct table *table)
{
    int forms = (table->file_text.text != NULL) + (table->values_text.text != NULL) + (table->content.text != NULL);
    if (forms == 1)
        return true;
    diag_error(checker->diags, "table-form", table->name.where, "table '%s' has %s", table->name.text,
               forms == 0 ? "no integers" : "its integers twice");
    diag_note(checker->diags, "give one of 'file', 'values' or integers as text inside the element");
    return false;
}

static bool check_extent(struct checker *checker, struct table *table)
{
    const struct bounds bounds = {"extent", "bad-extent", 1, INT64_MAX};
    int64_t extent;
    if (!check_bound_integer(checker, table->extent_expr, &bounds, &extent))
        return false;
    if ((uint64_t)extent > ALL_TABLE_ENTRIES_MAX - checker->all_table_entries) {
        diag_error(checker->diags, "too-large", table->extent_text.where, "tables of more than %d integers together",
                   ALL_TABLE_ENTRIES_MAX);
        return false;
    }
    checker->all_table_entries += (uint64_t)extent;
    table->extent = (uint64_t)extent;
    return true;
}

static void find_bounds(struct table *table)
{
    table->least = table->most = table->data[0];
    for (uint64_t i = 1; i < table->extent; i++) {
        if (table->data[i] < table->least)
            table->least = table->data[i];
        if (table->data[i] > table->most)
            table->most = table->data[i];
    }
}

/* A table that a core's own caches hold is as fast as it is. */
static void narrow_values(struct checker *checker, struct table *table)
{
    enum { ENTRIES_FEW = 1 << 14 };
    if (table->extent < ENTRIES_FEW || table->least < 0 || table->most > UINT32_MAX)
        return;
    table->narrow = arena_array(checker->arena, (size_t)table->extent, sizeof(*table->narrow));
    for (uint64_t i = 0; i < table->extent; i++)
        table->narrow[i] = (uint32_t)table->data[i];
}

bool check_table(struct checker *checker, struct table *table, struct expr *range, struct expr *seed)
{
    bool form = check_form(checker, table), extent = check_extent(checker, table);
    if (!form || !extent)
        return false;
    bool filled =
        table->values_text.text != NULL ? fill_generated(checker, table, range, seed) : fill_listed(checker, table);
    if (!filled)
        return false;
    find_bounds(table);
    narrow_values(checker, table);
    return true;
}
