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

#endif
