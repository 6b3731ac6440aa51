#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void text_reserve(struct text *text, size_t more)
{
    if (more > SIZE_MAX / 2 || text->length > SIZE_MAX / 2 - more - 1)
        abort();
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL)
        abort();
    text->bytes = bytes;
    text->capacity = capacity;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    text_reserve(text, length);
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_putc(struct text *text, char c)
{
    text_append(text, &c, 1);
}

void text_repeat(struct text *text, char c, size_t times)
{
    text_reserve(text, times);
    memset(text->bytes + text->length, c, times);
    text->length += times;
    text->bytes[text->length] = '\0';
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
    text_reserve(text, (size_t)length);
    (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

const char *text_string(const struct text *text)
{
    return text->bytes == NULL ? "" : text->bytes;
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

/* Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t la = strlen(a), lb = strlen(b);
    if (la >= LONGEST || lb >= LONGEST)
        return SIZE_MAX;
    size_t rows[3][LONGEST];
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[la % 3][lb];
}

void text_guess_offer(struct text_guess *guess, const char *candidate)
{
    size_t allowed = strlen(guess->wanted) / 3;
    if (allowed < 1)
        allowed = 1;
    size_t distance = edit_distance(guess->wanted, candidate);
    /* Another case alone is never far, however short the word. */
    if (distance > 0 && strcasecmp(guess->wanted, candidate) == 0) {
        if (guess->best == NULL || guess->distance > 0)
            guess->best = candidate;
        guess->distance = 0;
        return;
    }
    if (distance > allowed || distance >= strlen(guess->wanted) || (guess->best != NULL && distance >= guess->distance))
        return;
    guess->best = candidate;
    guess->distance = distance;
}

size_t text_decode_utf8(uint32_t *out, const char *bytes, size_t length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    size_t whole = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
    if (whole == 0 || whole > length)
        return 0;
    uint32_t character = whole == 1 ? b[0] : b[0] & (0x7fU >> whole);
    for (size_t i = 1; i < whole; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (b[i] & 0x3f);
    }
    bool surrogate = character >= 0xd800 && character <= 0xdfff;
    *out = character;
    return character < least[whole] || character > 0x10ffff || surrogate ? 0 : whole;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool text_is_identifier(const char *string)
{
    enum { CHARACTERS_MAX = 255 };
    if (!is_letter(string[0]))
        return false;
    size_t i = 1;
    while (is_letter(string[i]) || (string[i] >= '0' && string[i] <= '9'))
        i++;
    return string[i] == '\0' && i <= CHARACTERS_MAX;
}

static int compare_words(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

bool text_is_keyword(const char *string)
{
    /* C11, C++20 and CUDA, and the operators of expressions that are words; sorted for bsearch. */
    /* clang-format off */
    static const char *const words[] = {
        "NULL", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic", "_Imaginary", "_Noreturn",
        "_Static_assert", "_Thread_local", "__align__", "__cluster_dims__", "__constant__", "__device__",
        "__forceinline__", "__global__", "__grid_constant__", "__host__", "__inline__", "__launch_bounds__",
        "__managed__", "__maxnreg__", "__noinline__", "__restrict__", "__shared__", "alignas", "alignof", "and",
        "and_eq", "asm", "assert", "auto", "band", "bitand", "bitor", "blockDim", "blockIdx", "bool", "break",
        "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
        "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
        "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern",
        "false", "float", "for", "friend", "goto", "gridDim", "if", "inline", "int", "le", "long",
        "lt", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "offsetof",
        "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
        "restrict", "return", "shl", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "std",
        "struct", "switch", "template", "this", "threadIdx", "thread_local", "throw", "true", "try",
        "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
        "warpSize", "wchar_t", "while", "xor", "xor_eq",
    };
    /* clang-format on */
    return bsearch(string, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare_words) != NULL;
}
