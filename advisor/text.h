/* Takes pieces of text, gives one growing string; and finds the name that was probably meant. */
#ifndef SW_TEXT_H
#define SW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise to start; `bytes` is NUL-terminated once anything was appended. Free with text_free. */
struct text {
    char *bytes;
    size_t length;
    size_t capacity;
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_repeat(struct text *text, char c, size_t times);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The string so far, "" when nothing was appended; owned by `text`. */
const char *text_string(const struct text *text);
void text_free(struct text *text);

/* Offers candidates one by one; the closest within a third of its length (at least one edit) is kept.
 * Start with {.wanted = word}; `best` is NULL until something is near enough. `best` points into what was offered. */
struct text_guess {
    const char *wanted;
    const char *best;
    size_t distance;
};

void text_guess_offer(struct text_guess *guess, const char *candidate);

/* Decodes the character at `bytes`, of which there are `length`. Returns its own length, 0 where it is not UTF-8. */
size_t text_decode_utf8(uint32_t *out, const char *bytes, size_t length);

/* A C identifier: [A-Za-z_][A-Za-z0-9_]*, at most 255 characters (compilers tell more apart, file names do
 * not). */
bool text_is_identifier(const char *string);
/* A word that C11, C++20 or CUDA reserves, or a name that generated code relies on; such a name cannot be given. */
bool text_is_keyword(const char *string);

#endif
