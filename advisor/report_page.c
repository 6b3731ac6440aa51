#include "report_page.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "emit_show.h"
#include "report_bytes.h"
#include "report_drawing.h"
#include "view_put.h"

struct writer {
    struct arena arena;
    const json_t *view, *ranking, *best, *today; /* of the last two the candidates; today NULL: none, or the best */
    const json_t *common;                        /* array to candidate: where all that are listed choose the same */
    const char *best_title;                      /* of what is shown once: "today and best" where the best is today's */
};

/* The candidate of a rank, from 1; NULL where it is not listed. */
static const json_t *find_candidate(const json_t *ranking, int64_t rank)
{
    const json_t *candidate;
    size_t i;
    json_array_foreach(json_object_get(ranking, "candidates"), i, candidate)
    {
        if (get_count(candidate, "rank") == rank)
            return candidate;
    }

    return NULL;
}

static const char *show_percent(struct writer *writer, double share)
{
    return arena_printf(&writer->arena, "%.1f %%", 100 * share);
}

static void add_choice(json_t *lines, const char *array, const char *candidate)
{
    json_t *line = json_object();
    if (array != NULL)
        put_text(line, "array", array);
    put_text(line, "candidate", candidate);
    add(lines, line);
}

/* A line an array that is not in `told`; its name only where there are several. */
static json_t *make_choice(const json_t *candidate, const json_t *told)
{
    const json_t *arrays = json_object_get(candidate, "arrays");
    const bool several = json_object_size(arrays) > 1;
    json_t *lines = json_array(), *choice;
    const char *name;
    json_object_foreach((json_t *)arrays, name, choice)
    {
        if (json_object_get(told, name) == NULL)
            add_choice(lines, several ? name : NULL, json_string_value(choice));
    }
    return lines;
}

/* ... of two candidates, both named where they differ. */
static json_t *make_both_choices(struct writer *writer, const json_t *today, const json_t *best)
{
    const json_t *arrays = json_object_get(best, "arrays"), *before = json_object_get(today, "arrays");
    const bool several = json_object_size(arrays) > 1;
    json_t *lines = json_array(), *choice;
    const char *name;
    json_object_foreach((json_t *)arrays, name, choice)
    {
        const char *old = get_text(before, name), *new = json_string_value(choice);
        add_choice(lines, several ? name : NULL,
                   strcmp(old, new) == 0 ? new : arena_printf(&writer->arena, "%s today, %s best", old, new));
    }
    return lines;
}

/* What all candidates that are listed choose alike, where there are several; the caller frees it. */
static json_t *find_common(const json_t *ranking)
{
    const json_t *candidates = json_object_get(ranking, "candidates"), *candidate;
    json_t *common = json_object(), *choice;
    const char *name;
    void *next;
    size_t i;
    if (json_array_size(candidates) > 1)
        (void)json_object_update(common, json_object_get(json_array_get(candidates, 0), "arrays"));
    json_array_foreach(candidates, i, candidate)
    {
        json_object_foreach_safe(common, next, name, choice)
        {
            if (!json_equal(choice, json_object_get(json_object_get(candidate, "arrays"), name)))
                (void)json_object_del(common, name);
        }
    }
    return common;
}

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void put_bar(struct writer *writer, json_t *object, const char *key, double share)
{
    put_text(object, key, arena_printf(&writer->arena, "%.2f", 100 * (share < 0 ? 0 : share > 1 ? 1 : share)));
}

static double longest_time(const json_t *ranking)
{
    const json_t *candidate;
    size_t i;
    double most = 0;
    json_array_foreach(json_object_get(ranking, "candidates"), i, candidate)
    {
        most = get_real(candidate, "time_us") > most ? get_real(candidate, "time_us") : most;
    }

    return most;
}

static json_t *make_ranked(struct writer *writer, const json_t *candidate, double longest)
{
    json_t *row = json_object();
    const int64_t rank = get_count(candidate, "rank");
    put_text(row, "rank", arena_printf(&writer->arena, "%" PRId64, rank));
    put(row, "choice", make_choice(candidate, writer->common));
    put_flag(row, "best", rank == 1);
    put_flag(row, "today", get_bool(candidate, "default"));
    put_flag(row, "tie", get_bool(candidate, "tie"));
    put_text(row, "time", show_time(&writer->arena, get_real(candidate, "time_us")));
    put_bar(writer, row, "bar", share_of(get_real(candidate, "time_us"), longest));
    put_text(row, "ratio", arena_printf(&writer->arena, "%.2f", get_real(candidate, "ratio")));
    put_text(row, "bound_by", show_bound(get_text(candidate, "bound_by")));
    put_text(row, "dram", show_bytes(&writer->arena, get_real(candidate, "dram_bytes")));
    put_text(row, "memory", show_bytes(&writer->arena, get_real(candidate, "memory_bytes")));
    const bool global = json_object_get(candidate, "efficiency") != NULL;
    put_text(row, "sectors_per_request",
             global ? arena_printf(&writer->arena, "%.2f", get_real(candidate, "sectors_per_request")) : "");
    put_text(row, "efficiency", global ? show_percent(writer, get_real(candidate, "efficiency")) : "");
    return row;
}

static void put_ranking(struct writer *writer, json_t *page)
{
    const json_t *candidates = json_object_get(writer->ranking, "candidates"), *candidate;
    const double longest = longest_time(writer->ranking);
    json_t *rows = json_array();
    size_t i;
    json_array_foreach(candidates, i, candidate)
    {
        add(rows, make_ranked(writer, candidate, longest));
    }

    put(page, "ranking", rows);
    json_t *common = json_array(), *choice;
    const char *name;
    json_object_foreach((json_t *)writer->common, name, choice)
    {
        add_choice(common, name, json_string_value(choice));
    }
    put_flag(page, "has_common", json_object_size(writer->common) > 0);
    put(page, "common", common);
    const int64_t all = get_count(writer->ranking, "candidate_count"),
                  left = all - (int64_t)json_array_size(candidates);
    put_text(page, "candidate_count", show_plural(&writer->arena, all, "candidate"));
    if (left > 0)
        put_text(page, "left_out", show_count(&writer->arena, left));
}

/* Pairs of numbers at the head of the page: today's and the best's. */
static void add_fact(json_t *facts, const char *name, const char *best, const char *today)
{
    json_t *fact = json_object();
    put_text(fact, "name", name);
    put_text(fact, "best", best);
    if (today != NULL)
        put_text(fact, "today", today);
    add(facts, fact);
}

static void put_facts(struct writer *writer, json_t *page)
{
    json_t *facts = json_array();
    const json_t *best = writer->best, *today = writer->today;
    struct arena *arena = &writer->arena;
    add_fact(facts, "estimated time of all calls", show_time(arena, get_real(best, "time_us")),
             today == NULL ? NULL : show_time(arena, get_real(today, "time_us")));
    add_fact(facts, "DRAM traffic, estimated", show_bytes(arena, get_real(best, "dram_bytes")),
             today == NULL ? NULL : show_bytes(arena, get_real(today, "dram_bytes")));
    if (json_object_get(best, "sectors") != NULL)
        add_fact(facts, "sectors moved, exact", show_count(arena, get_count(best, "sectors")),
                 today == NULL ? NULL : show_count(arena, get_count(today, "sectors")));
    add_fact(facts, "memory of the arrays", show_bytes(arena, get_real(best, "memory_bytes")),
             today == NULL ? NULL : show_bytes(arena, get_real(today, "memory_bytes")));
    put(page, "facts", facts);
}

static const json_t *find_named(const json_t *list, const char *name)
{
    const json_t *object;
    size_t i;
    json_array_foreach(list, i, object)
    {
        if (strcmp(get_text(object, "name"), name) == 0)
            return object;
    }

    return NULL;
}

static json_t *make_access(struct writer *writer, const json_t *access)
{
    struct arena *arena = &writer->arena;
    json_t *row = json_object();
    const char *field = get_text(access, "field"), *phase = get_text(access, "phase");
    const bool shared = strcmp(get_text(access, "space"), "shared") == 0;
    const int64_t requests = get_count(access, shared ? "instructions" : "requests");
    put_text(row, "op", phase[0] != '\0' ? phase : get_text(access, "op"));
    put_text(row, "what", arena_printf(arena, "%s%s%s", get_text(access, "array"), field[0] == '\0' ? "" : ".", field));
    put_text(row, "line", arena_printf(arena, "%" PRId64, get_count(access, "source_line")));
    put_text(row, "requests", show_count(arena, requests));
    if (shared) {
        put_text(
            row, "cost",
            arena_printf(arena, "%.2f waves", share_of((double)get_count(access, "wavefronts"), (double)requests)));
        put_text(row, "quality", show_plural(arena, get_count(access, "conflicts"), "conflict"));
        return row;
    }
    const double efficiency = get_real(access, "efficiency");
    put_text(row, "cost", arena_printf(arena, "%.2f sectors", get_real(access, "sectors_per_request")));
    put_text(row, "quality", show_percent(writer, efficiency));
    put_bar(writer, row, "bar", efficiency);
    return row;
}

/* The counts of one kernel under one candidate, and the picture of its worst access. */
static json_t *make_side(struct writer *writer, const char *title, const char *name, const json_t *candidate,
                         const json_t *score, const json_t *explain)
{
    const json_t *estimate = find_named(json_object_get(candidate, "kernels"), name), *access;
    const json_t *counts = find_named(json_object_get(score, "kernels"), name);
    json_t *side = json_object(), *rows = json_array();
    size_t i;
    put_text(side, "title", title);
    put(side, "choice", make_choice(estimate, NULL));
    put_text(side, "time", show_time(&writer->arena, get_real(estimate, "time_us")));
    put_text(side, "bound_by", show_bound(get_text(estimate, "bound_by")));
    put_text(
        side, "dram",
        show_bytes(&writer->arena, get_real(estimate, "dram_read_bytes") + get_real(estimate, "dram_write_bytes")));
    json_array_foreach(json_object_get(counts, "accesses"), i, access)
    {
        add(rows, make_access(writer, access));
    }

    put_flag(side, "has_accesses", i > 0);
    put(side, "accesses", rows);
    if (!json_is_object(explain))
        return side;
    const json_t *shown = json_object_get(explain, "access");
    const char *field = get_text(shown, "field");
    put_text(side, "picture_of",
             arena_printf(&writer->arena, "%s %s%s%s (line %" PRId64 ")", get_text(shown, "op"),
                          get_text(shown, "array"), field[0] == '\0' ? "" : ".", field,
                          get_count(shown, "source_line")));
    put(side, "drawing", report_drawing(explain));
    return side;
}

/* The best candidate does with the kernel's arrays what is done today. */
static bool is_unchanged(const struct writer *writer, const char *name)
{
    const json_t *today = find_named(json_object_get(writer->today, "kernels"), name);
    const json_t *best = find_named(json_object_get(writer->best, "kernels"), name);
    return json_equal(json_object_get(today, "arrays"), json_object_get(best, "arrays")) != 0;
}

/* Nothing that two sides show differs but their headings. */
static bool is_alike(const json_t *side, const json_t *other)
{
    static const char *const headings[] = {"title", "choice"};
    json_t *a = json_copy((json_t *)side), *b = json_copy((json_t *)other);
    for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
        (void)json_object_del(a, headings[i]);
        (void)json_object_del(b, headings[i]);
    }
    const bool alike = json_equal(a, b) != 0;
    json_decref(a);
    json_decref(b);
    return alike;
}

/* Today and the best beside each other; one alone where they are the same, or do the same. */
static json_t *make_sides(struct writer *writer, const json_t *kernel)
{
    const json_t *view = writer->view;
    const char *name = get_text(kernel, "name");
    const bool same = writer->today != NULL && is_unchanged(writer, name);
    json_t *sides = json_array();
    json_t *best = make_side(writer, same ? "today and best" : writer->best_title, name, writer->best,
                             json_object_get(view, "best"), json_object_get(kernel, "best"));
    if (writer->today != NULL && !same) {
        json_t *today = make_side(writer, "today", name, writer->today, json_object_get(view, "today"),
                                  json_object_get(kernel, "today"));
        if (is_alike(today, best)) {
            put_text(best, "title", "today and best");
            put_flag(best, "alike", true);
            put(best, "choice",
                make_both_choices(writer, find_named(json_object_get(writer->today, "kernels"), name),
                                  find_named(json_object_get(writer->best, "kernels"), name)));
            json_decref(today);
        } else
            add(sides, today);
    }
    add(sides, best);
    return sides;
}

static void put_kernels(struct writer *writer, json_t *page)
{
    const json_t *kernel;
    json_t *kernels = json_array();
    size_t i;
    json_array_foreach(json_object_get(writer->view, "kernels"), i, kernel)
    {
        json_t *object = json_object();
        put_text(object, "name", get_text(kernel, "name"));
        put_text(object, "calls", show_plural(&writer->arena, get_count(kernel, "calls"), "call"));
        put_text(object, "block_threads", show_plural(&writer->arena, get_count(kernel, "block_threads"), "thread"));
        put_text(object, "blocks", show_plural(&writer->arena, get_count(kernel, "blocks"), "block"));
        put(object, "sides", make_sides(writer, kernel));
        add(kernels, object);
    }
    put(page, "kernels", kernels);
}

/* "aos" of "aos/wide(4)": a plan moves no byte of the array. */
static const char *layout_of(struct writer *writer, const char *candidate)
{
    const char *plan = strrchr(candidate, '/');
    return plan == NULL ? candidate : arena_copy(&writer->arena, candidate, (size_t)(plan - candidate));
}

static void add_map(struct writer *writer, json_t *maps, const char *title, const char *candidate, const json_t *bytes)
{
    json_t *map = json_object();
    put_text(map, "title", title);
    put_text(map, "candidate", candidate);
    put_text(map, "memory", show_bytes(&writer->arena, get_real(bytes, "memory_bytes")));
    put(map, "drawing", report_bytes(bytes));
    add(maps, map);
}

static void put_arrays(struct writer *writer, json_t *page)
{
    const json_t *array;
    json_t *arrays = json_array();
    size_t i;
    json_array_foreach(json_object_get(writer->view, "arrays"), i, array)
    {
        json_t *object = json_object(), *maps = json_array();
        const json_t *best = json_object_get(array, "best");
        put_text(object, "name", get_text(array, "name"));
        put_text(object, "of", get_text(array, "of"));
        put_text(object, "records", show_plural(&writer->arena, get_count(best, "records"), "record"));
        put_text(object, "record_bytes", show_plural(&writer->arena, get_count(best, "record_bytes"), "byte"));
        const json_t *today = json_object_get(array, "today");
        const char *candidate = get_text(best, "candidate");
        if (json_is_null(today))
            add_map(writer, maps, writer->best_title, layout_of(writer, candidate), best);
        else if (json_equal(json_object_get(today, "groups"), json_object_get(best, "groups")))
            add_map(writer, maps, "today and best", layout_of(writer, candidate), best);
        else {
            add_map(writer, maps, "today", get_text(today, "candidate"), today);
            add_map(writer, maps, "best", candidate, best);
        }
        put(object, "maps", maps);
        add(arrays, object);
    }
    put(page, "arrays", arrays);
}

/* The sentence as it stands alone. */
static const char *capital(struct writer *writer, const char *sentence)
{
    if (sentence[0] == '\0')
        return sentence;
    return arena_printf(&writer->arena, "%c%s", toupper((unsigned char)sentence[0]), sentence + 1);
}

json_t *report_page(const json_t *view)
{
    const json_t *rank = json_object_get(view, "today_rank"), *ranking = json_object_get(view, "ranking");
    struct writer writer = {.view = view, .ranking = ranking, .best = find_candidate(ranking, 1), .best_title = "best"};
    if (json_is_integer(rank) && json_integer_value(rank) != 1)
        writer.today = find_candidate(ranking, json_integer_value(rank));
    else if (json_is_integer(rank))
        writer.best_title = "today and best";
    json_t *page = json_object(), *common = find_common(ranking);
    writer.common = common;
    put_text(page, "layout", get_text(view, "layout"));
    put_text(page, "device", get_text(view, "device"));
    put_text(page, "device_title", get_text(view, "device_title"));
    put_flag(page, "calibrated", get_bool(view, "calibrated"));
    put_text(page, "verdict", capital(&writer, get_text(ranking, "verdict")));
    put_flag(page, "exhaustive", get_bool(ranking, "exhaustive"));
    put_flag(page, "has_today", writer.today != NULL);
    put_facts(&writer, page);
    put_ranking(&writer, page);
    put_kernels(&writer, page);
    put_arrays(&writer, page);
    json_decref(common);
    arena_free(&writer.arena);
    return page;
}
