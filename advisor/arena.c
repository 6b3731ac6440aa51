#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_PASS_THROUGH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_PASS_THROUGH 1
#endif
#endif
#ifndef ARENA_PASS_THROUGH
#define ARENA_PASS_THROUGH 0
#endif

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *previous;
    size_t used;
    size_t capacity;
    _Alignas(max_align_t) unsigned char bytes[];
};

static struct arena_block *block_new(struct arena *arena, size_t size)
{
    size_t capacity = ARENA_PASS_THROUGH || size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct arena_block *block = NULL;
    if (capacity <= SIZE_MAX - sizeof(*block))
        block = calloc(1, sizeof(*block) + capacity);
    if (block == NULL)
        abort();
    block->capacity = capacity;
    block->previous = arena->last;
    arena->last = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    if (size > SIZE_MAX - align)
        abort();
    size = (size + align - 1) / align * align;
    struct arena_block *block = arena->last;
    if (block == NULL || ARENA_PASS_THROUGH || block->capacity - block->used < size)
        block = block_new(arena, size);
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        abort();
    return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
    char *result = arena_alloc(arena, (size_t)length + 1);
    (void)vsnprintf(result, (size_t)length + 1, format, again);
    va_end(again);
    return result;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
    if (array != NULL && count < *capacity)
        return array;
    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    void *larger = arena_array(arena, wanted, size);
    if (array != NULL && count > 0)
        memcpy(larger, array, count * size);
    *capacity = wanted;
    return larger;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->last, arena->last == NULL ? 0 : arena->last->used};
}

void arena_reset(struct arena *arena, struct arena_mark mark)
{
    while (arena->last != mark.last) {
        struct arena_block *block = arena->last;
        arena->last = block->previous;
        free(block);
    }
    if (arena->last != NULL && arena->last->used > mark.used) {
        memset(arena->last->bytes + mark.used, 0, arena->last->used - mark.used);
        arena->last->used = mark.used;
    }
}

void arena_free(struct arena *arena)
{
    arena_reset(arena, (struct arena_mark){NULL, 0});
}
