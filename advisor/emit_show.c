#include "emit_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "estimate.h"

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

uint32_t get_lanes(const json_t *object)
{
    const json_t *lane;
    size_t i;
    uint32_t lanes = 0;
    json_array_foreach(json_object_get(object, "lanes"), i, lane)
    {
        lanes |= UINT32_C(1) << json_integer_value(lane);
    }

    return lanes;
}

const char *show_plural(struct arena *arena, int64_t count, const char *noun)
{
    return arena_printf(arena, "%s %s%s", show_count(arena, count), noun, count == 1 ? "" : "s");
}

const char *show_lanes(struct arena *arena, uint32_t lanes)
{
    enum { LANES = 32 };
    const char *said = "";
    for (unsigned lane = 0; lane < LANES; lane++) {
        if ((lanes >> lane & 1) == 0)
            continue;
        unsigned last = lane;
        while (last + 1 < LANES && (lanes >> (last + 1) & 1) != 0)
            last++;
        const char *gap = said[0] == '\0' ? "" : " ", *dash = last == lane + 1 ? " " : "-";
        said = last == lane ? arena_printf(arena, "%s%s%u", said, gap, lane)
                            : arena_printf(arena, "%s%s%u%s%u", said, gap, lane, dash, last);
        lane = last;
    }
    return said;
}

const char *show_fit(struct arena *arena, const char *list, size_t room)
{
    if (strlen(list) <= room)
        return list;
    size_t keep = room < 4 ? 0 : room - 4;
    while (keep > 0 && list[keep] != ' ')
        keep--;
    return arena_printf(arena, "%.*s ...", (int)keep, list);
}

const char *show_name(struct arena *arena, const char *name, size_t room)
{
    if (strlen(name) <= room)
        return name;
    return arena_printf(arena, "%.*s...", room < 3 ? 0 : (int)room - 3, name);
}

const char *show_place(struct arena *arena, const json_t *place)
{
    const char *said = arena_printf(arena, "block %s, warp %" PRId64, show_count(arena, get_count(place, "block")),
                                    get_count(place, "warp"));
    const json_t *trip;
    size_t i;
    json_array_foreach(json_object_get(place, "trips"), i, trip)
    {
        const char *number = show_count(arena, get_count(trip, "trip")), *loop = get_text(trip, "loop");
        said = strcmp(loop, "copy") == 0 ? arena_printf(arena, "%s, step %s", said, number)
                                         : arena_printf(arena, "%s, trip %s of %s", said, number, loop);
    }
    return said;
}

static const char *bound_title(enum resource resource)
{
    switch (resource) {
    case RESOURCE_DRAM:
        return "DRAM";
    case RESOURCE_L2:
        return "L2";
    case RESOURCE_L1:
        return "L1";
    case RESOURCE_TLB:
        return "TLB";
    case RESOURCE_SHARED:
        return "shared";
    case RESOURCE_ISSUE:
        return "issue";
    case RESOURCE_FLOPS:
        return "flops";
    case RESOURCE_FLIGHT:
        return "in flight";
    case RESOURCE_LAUNCH:
        return "launch";
    }
    return "";
}

const char *show_bound(const char *name)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (strcmp(resource_name((enum resource)i), name) == 0)
            return bound_title((enum resource)i);
    return name;
}
