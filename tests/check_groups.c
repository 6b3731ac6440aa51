/* The search over groups of fields: against all set partitions of few fields, and what it adds to a ranking. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "groups.h"
#include "random_spec.h"
#include "rank.h"

enum { FIELDS_MAX = 8, SHAPES_MAX = 5 };

/* --- random descriptions of one record ---------------------------------------------------------------------------- */

static void write_fields(struct text *out, uint64_t *state, unsigned fields)
{
    static const char *const types[] = {"float", "float", "int32", "double", "uint16", "uint8", "float2", "float4"};
    text_puts(out, "<struct name=\"R\">");
    for (unsigned f = 0; f < fields; f++) {
        text_printf(out, "<field name=\"%c\" type=\"%s\"", 'a' + (char)f, types[random_below(state, 8)]);
        if (random_below(state, 4) == 0)
            text_printf(out, " count=\"%u\"", 2 + random_below(state, 2));
        text_puts(out, "/>");
    }
    text_puts(out, "</struct>\n");
}

static void write_selection(struct text *out, uint64_t *state, unsigned fields)
{
    unsigned chosen = 1 + random_below(state, (1U << fields) - 1);
    bool first = true;
    text_puts(out, " field=\"");
    for (unsigned f = 0; f < fields; f++) {
        if ((chosen >> f & 1) == 0)
            continue;
        text_printf(out, "%s%c", first ? "" : " ", 'a' + (char)f);
        first = false;
    }
    text_putc(out, '"');
}

static void write_kernel(struct text *out, uint64_t *state, unsigned fields, unsigned number)
{
    static const char *const indices[] = {"thread",        "t[thread]",  "thread * 3",
                                          "t[thread] / 4", "thread / 2", "t[thread / 8] + lane"};
    static const char *const ops[] = {"read", "read", "read", "write", "update"};
    text_printf(out, "<kernel name=\"k%u\" block=\"64\" grid=\"8\" calls=\"%u\">\n", number,
                1 + random_below(state, 20));
    for (unsigned i = 1 + random_below(state, 2); i > 0; i--) {
        text_printf(out, "<%s array=\"r\" index=\"%s\"", ops[random_below(state, 5)], indices[random_below(state, 6)]);
        write_selection(out, state, fields);
        text_puts(out, "/>\n");
    }
    text_puts(out, "</kernel>\n");
}

static void write_description(struct text *out, uint64_t *state, unsigned fields)
{
    text_puts(out, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"groups\">\n"
                   "<table name=\"t\" extent=\"512\" values=\"uniform\" range=\"2000\"/>\n");
    write_fields(out, state, fields);
    text_puts(out, "<array name=\"r\" of=\"R\" extent=\"2048\"/>\n");
    for (unsigned k = 1 + random_below(state, 3); k > 0; k--)
        write_kernel(out, state, fields, k);
    text_puts(out, "</layout>\n");
}

/* --- all set partitions ------------------------------------------------------------------------------------------- */

static const char *const shape_names[SHAPES_MAX] = {"", "soa:", "aos(align=16):", "aosoa(32):", "aos(align=32):"};

/* Every candidate of the array as text, under both plans; those that do not apply are left out. */
struct exhaustive {
    struct bench *bench;
    unsigned fields, shapes;
    unsigned groups[FIELDS_MAX]; /* a bit a field */
    unsigned chosen[FIELDS_MAX]; /* a shape a group */
    struct option **items;
    size_t count, capacity;
};

static void add_candidate(struct exhaustive *all, const char *text)
{
    struct bench *bench = all->bench;
    const struct quoted quoted = {text,
                                  {source_from_bytes(&bench->arena, "candidate", text, strlen(text)), 0, strlen(text)}};
    struct candidate candidate;
    bool has_plan;
    const char *reason;
    ck_assert_msg(notation_parse(&candidate, &has_plan, &bench->arena, &quoted, &bench->diags), "'%s'", text);
    notation_complete(&bench->arena, &candidate);
    struct option *option =
        candidate_apply(bench->spec, bench->spec->arrays, &candidate, bench->device, &bench->arena, &reason);
    if (option == NULL)
        return;
    all->items = arena_grow(&bench->arena, all->items, all->count, &all->capacity, sizeof(struct option *));
    all->items[all->count++] = option;
}

static void add_partition(struct exhaustive *all, unsigned count)
{
    static const char *const plans[] = {"direct", "vector"};
    for (unsigned p = 0; p < 2; p++) {
        struct text text = {0};
        text_puts(&text, "split(");
        for (unsigned g = 0; g < count; g++) {
            text_printf(&text, "%s%s", g == 0 ? "" : "|", shape_names[all->chosen[g]]);
            for (unsigned f = 0, first = 1; f < all->fields; f++)
                if ((all->groups[g] >> f & 1) != 0) {
                    text_printf(&text, "%s%c", first ? "" : " ", 'a' + (char)f);
                    first = 0;
                }
        }
        text_printf(&text, ")/%s", plans[p]);
        add_candidate(all, text_string(&text));
        text_free(&text);
    }
}

static void add_shapes(struct exhaustive *all, unsigned count, unsigned group)
{
    if (group == count) {
        add_partition(all, count);
        return;
    }
    for (unsigned s = 0; s < all->shapes; s++) {
        all->chosen[group] = s;
        add_shapes(all, count, group + 1);
    }
}

static void add_partitions(struct exhaustive *all, unsigned count, unsigned field)
{
    if (field == all->fields) {
        add_shapes(all, count, 0);
        return;
    }
    for (unsigned g = 0; g <= count; g++) {
        const unsigned before = g == count ? 0 : all->groups[g];
        all->groups[g] = before | 1U << field;
        add_partitions(all, g == count ? count + 1 : count, field + 1);
        all->groups[g] = before;
    }
}

static const struct ranked *best_of(struct bench *bench, const struct options *options)
{
    const struct ranking *ranking = rank_spec(bench->spec, bench->device, options, &bench->arena, &bench->diags);
    ck_assert(ranking != NULL && ranking->count > 0);
    const struct ranked *best = &ranking->items[0];
    for (size_t i = 1; i < ranking->count; i++)
        best = ranking->items[i].time_us < best->time_us ? &ranking->items[i] : best;
    return best;
}

/* The options that are tried anyway, and those that the search adds, for a ranking that adds none. */
static struct options with_found(struct bench *bench)
{
    const struct options *plain =
        candidates_enumerate(bench->spec, bench->device, &bench->arena, NULL, 0, &bench->diags);
    ck_assert_ptr_nonnull(plain);
    struct options all = {.array = plain->array, .count = plain->count};
    all.items = arena_array(&bench->arena, plain->count + GROUPS_FOUND_MAX, sizeof(struct option *));
    memcpy(all.items, plain->items, plain->count * sizeof(struct option *));
    all.count +=
        groups_search(&all.items[all.count], bench->spec, bench->device, plain->array, plain->items, &bench->arena);
    return all;
}

/* Nothing that the partitions have is faster than what the search finds, by more than is shown: look-ups in tables,
 * which are the same whatever the groups are, have no time in the search. */
static void compare_search(const struct device *device, uint64_t seed, unsigned fields, unsigned shapes)
{
    struct bench bench;
    struct text xml = {0};
    uint64_t state = seed;
    write_description(&xml, &state, fields);
    ck_assert_msg(bench_open_text(&bench, device, "groups", text_string(&xml)), "%s", text_string(&xml));
    const struct options found = with_found(&bench);
    const struct ranked *searched = best_of(&bench, &found);
    struct exhaustive all = {.bench = &bench, .fields = fields, .shapes = shapes};
    add_partitions(&all, 0, 0);
    const struct options every = {.array = bench.spec->arrays, .items = all.items, .count = all.count};
    const struct ranked *best = best_of(&bench, &every);
    ck_assert_msg(searched->time_us <= best->time_us * (1 + 1e-3), "seed %" PRIu64 ": %s in %g us, but %s in %g us\n%s",
                  seed, searched->chosen[0]->candidate.text, searched->time_us, best->chosen[0]->candidate.text,
                  best->time_us, text_string(&xml));
    text_free(&xml);
    bench_close(&bench);
}

static unsigned scale(unsigned full)
{
    const char *text = getenv("SECTORWISE_TEST_SCALE");
    if (text != NULL && strcmp(text, "small") == 0)
        return full / 20 + 1;
    return text != NULL && strcmp(text, "medium") == 0 ? full / 4 + 1 : full;
}

/* Fields, shapes a group, descriptions. */
static const struct {
    unsigned fields, shapes, count;
} sweeps[] = {{2, 5, 24}, {3, 5, 24}, {4, 4, 8}, {5, 2, 8}, {6, 1, 8}, {7, 1, 3}, {8, 1, 2}};

START_TEST(equals_all_partitions)
{
    struct arena arena = {0};
    const struct device *device = load_device(&arena);
    for (unsigned i = 0; i < scale(sweeps[_i].count); i++)
        compare_search(device, 1000 * sweeps[_i].fields + i, sweeps[_i].fields, sweeps[_i].shapes);
    arena_free(&arena);
}
END_TEST

#define MILLION "block=\"128\" grid=\"8192\""

#define GATHER(name, fields)                                                                                           \
    "<kernel name=\"" name "\" " MILLION " calls=\"50\"><read array=\"r\" field=\"" fields "\" index=\"t[thread]\"/>"  \
    "</kernel>\n"

/* Kernels that each touch every second or third field: what must come out. With `alone` another kernel streams each
 * field by itself, so that no two are touched alike: these are too many to look at all partitions. */
static const struct {
    char last;
    bool alone;
    const char *type, *kernels, *best;
} known[] = {
    {'l', true, "double", GATHER("one", "a d g j") GATHER("two", "b e h k") GATHER("three", "c f i l"),
     "split(a d g j|b e h k|c f i l)/vector"},
    {'j', true, "float", GATHER("one", "a b i j") GATHER("two", "c d e f g h"),
     "split(a b i j|aos(align=16):c d e f g h)/vector"},
    {'h', false, "double",
     "<kernel name=\"one\" " MILLION "><read array=\"r\" field=\"a c e g\" index=\"t[thread]\"/></kernel>\n"
     "<kernel name=\"two\" " MILLION "><read array=\"r\" field=\"b d f h\" index=\"t[thread]\"/></kernel>\n",
     "split(a c e g|b d f h)/vector"},
    {'h', false, "float",
     "<kernel name=\"one\" " MILLION "><read array=\"r\" field=\"a c e g\" index=\"t[thread]\"/></kernel>\n"
     "<kernel name=\"two\" " MILLION " calls=\"8\"><update array=\"r\" field=\"b d f h\" index=\"thread\"/></kernel>\n",
     "split(a c e g|b d f h)/vector"},
};

START_TEST(finds_what_belongs_together)
{
    struct arena arena = {0};
    struct bench bench;
    struct text xml = {0};
    const struct device *device = load_device(&arena);
    text_puts(&xml, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"known\">\n"
                    "<table name=\"t\" extent=\"1 shl 20\" values=\"permutation\"/>\n<struct name=\"R\">");
    for (int f = 'a'; f <= known[_i].last; f++)
        text_printf(&xml, "<field name=\"%c\" type=\"%s\"/>", f, known[_i].type);
    text_printf(&xml, "</struct>\n<array name=\"r\" of=\"R\" extent=\"1 shl 20\"/>\n%s", known[_i].kernels);
    for (int f = 'a'; known[_i].alone && f <= known[_i].last; f++)
        text_printf(&xml,
                    "<kernel name=\"only_%c\" " MILLION "><read array=\"r\" field=\"%c\" index=\"thread\"/></kernel>\n",
                    f, f);
    text_puts(&xml, "</layout>\n");
    ck_assert(bench_open_text(&bench, device, "known", text_string(&xml)));
    const struct options *options = candidates_enumerate(bench.spec, device, &bench.arena, NULL, 0, &bench.diags);
    struct option *found[GROUPS_FOUND_MAX];
    const size_t count = groups_search(found, bench.spec, device, bench.spec->arrays, options[0].items, &bench.arena);
    bool there = false;
    for (size_t i = 0; i < count; i++)
        there |= strcmp(found[i]->candidate.text, known[_i].best) == 0;
    ck_assert_msg(there, "%zu found, the last %s, not %s", count,
                  count == 0 ? "none" : found[count - 1]->candidate.text, known[_i].best);
    text_free(&xml);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

/* Streams of whole sectors have nothing to gain: nothing is searched. */
START_TEST(leaves_streams_alone)
{
    static const char xml[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"streams\">\n"
                              "<struct name=\"R\"><field name=\"a\" type=\"float\"/><field name=\"b\" type=\"double\"/>"
                              "</struct>\n<array name=\"r\" of=\"R\" extent=\"1 shl 22\"/>\n"
                              "<kernel name=\"k\" block=\"256\" grid=\"(1 shl 22) / 256\">"
                              "<update array=\"r\" field=\"a b\" index=\"thread\"/></kernel></layout>\n";
    struct arena arena = {0};
    struct bench bench;
    const struct device *device = load_device(&arena);
    ck_assert(bench_open_text(&bench, device, "streams", xml));
    const struct options *options = candidates_enumerate(bench.spec, device, &bench.arena, NULL, 0, &bench.diags);
    struct option *found[GROUPS_FOUND_MAX];
    ck_assert_uint_eq(groups_search(found, bench.spec, device, bench.spec->arrays, options[0].items, &bench.arena), 0);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

Suite *groups_suite(void)
{
    Suite *suite = suite_create("groups");
    TCase *search = tcase_create("search");
    tcase_set_timeout(search, 0);
    tcase_add_loop_test(search, equals_all_partitions, 0, sizeof(sweeps) / sizeof(sweeps[0]));
    tcase_add_loop_test(search, finds_what_belongs_together, 0, sizeof(known) / sizeof(known[0]));
    tcase_add_test(search, leaves_streams_alone);
    suite_add_tcase(suite, search);
    return suite;
}
