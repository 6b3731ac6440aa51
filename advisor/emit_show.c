#include "emit_show.h"

#include <inttypes.h>
#include <stdio.h>

const char *get_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

int64_t get_count(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double get_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool get_bool(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

const char *show_count(struct arena *arena, int64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRId64, count);
    char *shown = arena_alloc(arena, 2 * sizeof(digits));
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            shown[used++] = ',';
        shown[used++] = digits[i];
    }
    return shown;
}

/* Three significant digits or more: "4.26", "42.6", "426", "4260". */
static const char *show_short(struct arena *arena, double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return arena_printf(arena, "%.*f %s", decimals, value, unit);
}

const char *show_bytes(struct arena *arena, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    if (bytes < 1000)
        return arena_printf(arena, "%.0f B", bytes);
    for (; bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1000;
    return show_short(arena, bytes, units[unit]);
}

const char *show_time(struct arena *arena, double microseconds)
{
    if (microseconds < 999.5)
        return show_short(arena, microseconds, "us");
    if (microseconds < 999.5e3)
        return show_short(arena, microseconds / 1e3, "ms");
    return show_short(arena, microseconds / 1e6, "s");
}
