/* Takes sizes, gives memory that lives until the arena is reset or freed: one arena a run owns a description,
 * its candidates and its strings; a scratch arena with mark and reset serves enumeration. */
#ifndef SW_ARENA_H
#define SW_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zero-initialise to start: `struct arena arena = {0};`. Not for two threads at once. */
struct arena {
    struct arena_block *last;
};

struct arena_mark {
    struct arena_block *last;
    size_t used;
};

/* Returns `size` zeroed bytes aligned for any object; never NULL. Running out of memory is the one condition that
 * no caller can mend: it ends the process through abort(). Under sanitizers each allocation is its own malloc. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/* As arena_alloc for `count` elements of `size` bytes; a product that overflows counts as running out of memory. */
void *arena_array(struct arena *arena, size_t count, size_t size) __attribute__((malloc, returns_nonnull));

char *arena_copy(struct arena *arena, const char *bytes, size_t length) __attribute__((returns_nonnull));
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3), returns_nonnull));

/* Makes room for one more element in an array that grows by doubling; old storage stays in the arena.
 * `array` holds `count` elements of `size` bytes with room for *capacity. Returns the array to use from now on. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size)
    __attribute__((returns_nonnull));

struct arena_mark arena_mark(const struct arena *arena);
/* Frees what was allocated after the mark; marks are to be reset in the reverse order of their taking. */
void arena_reset(struct arena *arena, struct arena_mark mark);
void arena_free(struct arena *arena);

#endif
