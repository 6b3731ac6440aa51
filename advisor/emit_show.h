/* Takes values of a view, gives what text outputs print of them. */
#ifndef SW_EMIT_SHOW_H
#define SW_EMIT_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* A key's value; "", 0 and false where it is absent. */
const char *get_text(const json_t *object, const char *key);
int64_t get_count(const json_t *object, const char *key);
double get_real(const json_t *object, const char *key);
bool get_bool(const json_t *object, const char *key);

/* 1572864 as "1,572,864". */
const char *show_count(struct arena *arena, int64_t count);
/* 33554432 as "33.6 MB". */
const char *show_bytes(struct arena *arena, double bytes);
/* 8.82 as "8.82 us", 1234.5 as "1.23 ms". */
const char *show_time(struct arena *arena, double microseconds);

/* What bounds a time, in a word or two; the verdict has room for more. */
const char *show_bound(const char *name);
/* The bits of a key "lanes" that lists numbers below 32. */
uint32_t get_lanes(const json_t *object);
/* "1 line", "1,024 lines" */
const char *show_plural(struct arena *arena, int64_t count, const char *noun);
/* Bits as "0-3 8 12-15". */
const char *show_lanes(struct arena *arena, uint32_t lanes);
/* As much of a list of words as there is room for, " ..." at its end where that is not all. */
const char *show_fit(struct arena *arena, const char *list, size_t room);
/* A name, its end left out for "..." where it is longer than `room` characters. */
const char *show_name(struct arena *arena, const char *name, size_t room);
/* A place of `explain`: "block 3, warp 7, trip 2 of j". */
const char *show_place(struct arena *arena, const json_t *place);

#endif
