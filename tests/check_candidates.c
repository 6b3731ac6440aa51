/* Every layout with every plan for every kind of access: its counts, or the reason why it does not apply, as
 * tests/data/candidates.txt lists them; and each against the second implementation. SECTORWISE_GOLDEN=update rewrites
 * the list: look at the difference. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "compare.h"
#include "source.h"

#ifndef TESTS_DIR
#define TESTS_DIR "tests"
#endif

/* Types of the cases: Particle is 32 bytes without holes, Holes 24 with 13 bytes of padding, Packet 5, packed, Tagged
 * 8 with a union at 4, Node 32 with a struct of two float3 in front, Pixel 3, Cells 83, packed, with a matrix of
 * structs. */
static const char types[] =
    "<struct name=\"Particle\"><field name=\"pos\" type=\"float\" count=\"3\"/>"
    "<field name=\"vel\" type=\"float\" count=\"3\"/><field name=\"mass\" type=\"float\"/>"
    "<field name=\"id\" type=\"uint32\"/></struct>"
    "<struct name=\"Holes\"><field name=\"flag\" type=\"uint8\"/><field name=\"x\" type=\"double\"/>"
    "<field name=\"y\" type=\"uint16\"/></struct>"
    "<struct name=\"Packet\" packed=\"true\"><field name=\"tag\" type=\"uint8\"/>"
    "<field name=\"word\" type=\"uint32\"/></struct>"
    "<union name=\"Word\"><field name=\"f\" type=\"float\"/><field name=\"b\" type=\"uint8\" count=\"4\"/></union>"
    "<struct name=\"Tagged\"><field name=\"kind\" type=\"uint8\"/><field name=\"value\" type=\"Word\"/></struct>"
    "<struct name=\"Box\"><field name=\"lo\" type=\"float3\"/><field name=\"hi\" type=\"float3\"/></struct>"
    "<struct name=\"Node\"><field name=\"box\" type=\"Box\"/><field name=\"child\" type=\"int32\"/>"
    "<field name=\"id\" type=\"int32\"/></struct>"
    "<struct name=\"Pixel\"><field name=\"red\" type=\"uint8\"/><field name=\"green\" type=\"uint8\"/>"
    "<field name=\"blue\" type=\"uint8\"/></struct>"
    "<struct name=\"Cell\" packed=\"true\"><field name=\"flag\" type=\"uint8\"/>"
    "<field name=\"x\" type=\"float4\"/></struct>"
    "<struct name=\"Cells\" packed=\"true\"><field name=\"kind\" type=\"uint8\" count=\"15\"/>"
    "<field name=\"cell\" type=\"Cell\" count=\"2 2\"/></struct>"
    "<table name=\"t\" extent=\"1024\" values=\"permutation\" seed=\"7\"/>";

#define SHAPES "row-major;column-major;pitch(4096);tiled(8 8)"
#define FLAT "aos;aos(align=16);soa;aosoa(8);"
#define PARTICLE FLAT "split(pos mass|vel id);split(aosoa(32):vel|soa:pos|mass id);aos(reorder);" SHAPES
#define PLANE "row-major;column-major;pitch(512);tiled(8 8);tiled(5 7);soa;aosoa(8)"
#define SPACE "row-major;column-major;pitch(256);tiled(4 4 4);tiled(2 3 8);soa;aosoa(8);tiled(8 8)"
#define LINE_OF "block=\"128\" grid=\"8\""
#define PLANE_OF "block=\"32 8\" grid=\"3 8\""
#define SPACE_OF "block=\"32 4 2\" grid=\"1 4 8\""
#define X_Y                                                                                                            \
    "<let name=\"x\" value=\"blockIdx.x * 32 + threadIdx.x\"/><let name=\"y\" value=\"blockIdx.y * 8 + "               \
    "threadIdx.y\"/>"
#define X_Y_Z                                                                                                          \
    "<let name=\"x\" value=\"threadIdx.x\"/><let name=\"y\" value=\"blockIdx.y * 4 + threadIdx.y\"/>"                  \
    "<let name=\"z\" value=\"blockIdx.z * 2 + threadIdx.z\"/>"

/* One array `a` and one kernel `k`. */
static const struct {
    const char *name;
    const char *array;  /* its attributes but the name */
    const char *launch; /* the kernel's attributes but the name */
    const char *body;
    const char *layouts; /* separated by semicolons */
} cases[] = {
    {"read some fields", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"vel mass\" index=\"thread\"/>", PARTICLE},
    {"read whole records", "of=\"Particle\" extent=\"1024\"", LINE_OF, "<read array=\"a\" index=\"thread\"/>",
     PARTICLE},
    {"write some fields", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<write array=\"a\" field=\"pos id\" index=\"thread\"/>", PARTICLE},
    {"write whole records", "of=\"Particle\" extent=\"1024\"", LINE_OF, "<write array=\"a\" index=\"thread\"/>",
     PARTICLE},
    {"update some fields", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<update array=\"a\" field=\"vel\" index=\"thread\"/>", PARTICLE},
    {"atomics", "of=\"Particle\" extent=\"1024\"", LINE_OF, "<atomic array=\"a\" field=\"mass\" index=\"thread\"/>",
     PARTICLE},
    {"gather of whole records", "of=\"Particle\" extent=\"1024\"", LINE_OF, "<read array=\"a\" index=\"t[thread]\"/>",
     PARTICLE},
    {"gather of some fields", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"mass id\" index=\"t[thread]\"/>", PARTICLE},
    {"records that all lanes want", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<for var=\"other\" to=\"4\"><let name=\"n\" value=\"t[blockIdx.x + other]\"/>"
     "<read array=\"a\" field=\"pos mass\" index=\"n\"/></for>"
     "<read array=\"a\" field=\"vel\" index=\"thread\"/>",
     PARTICLE},
    {"a subscript that moves", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<for var=\"q\" to=\"3\"><read array=\"a\" field=\"pos[q]\" index=\"thread\"/></for>", PARTICLE},
    {"two subscripts that move", "of=\"Cells\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"cell[lane / 8 % 2][lane / 16].flag cell[1][0].x\" index=\"blockIdx.x * 128 + warp * 32 "
     "+ lane % "
     "8\"/>",
     "aos;soa;aosoa(2);aosoa(16)"},
    {"bytes set the width", "of=\"Particle\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"pos\" bytes=\"4\" index=\"thread\"/>", PARTICLE},
    {"neighbours, a halo of one record", "of=\"Particle\" extent=\"1026\"", LINE_OF,
     "<read array=\"a\" field=\"pos\" index=\"thread\"/><read array=\"a\" field=\"pos\" index=\"thread + 2\"/>",
     PARTICLE},
    {"an array that begins 16 bytes past its alignment", "of=\"Particle\" extent=\"1024\" offset=\"16\"", LINE_OF,
     "<update array=\"a\" index=\"thread\"/>", PARTICLE},
    {"a tail", "of=\"Particle\" extent=\"1000\"", LINE_OF,
     "<if test=\"thread lt 1000\"><read array=\"a\" field=\"vel\" index=\"thread\"/></if>", PARTICLE},
    {"holes, read", "of=\"Holes\" extent=\"1024\"", LINE_OF, "<read array=\"a\" field=\"flag x\" index=\"thread\"/>",
     FLAT "aos(reorder);aos(align=32 reorder);split(x|flag y);split(aos(align=4):flag y|x);" SHAPES},
    {"holes, written", "of=\"Holes\" extent=\"1024\"", LINE_OF, "<write array=\"a\" index=\"thread\"/>",
     FLAT "aos(reorder);aos(align=32 reorder);split(x|flag y);split(aos(align=4):flag y|x);" SHAPES},
    {"packed records", "of=\"Packet\" extent=\"1024\"", LINE_OF, "<update array=\"a\" index=\"thread\"/>",
     FLAT "aos(align=8);aos(reorder);split(word tag);split(word|tag);" SHAPES},
    {"a member of a union", "of=\"Tagged\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"value.b[1]\" index=\"thread\"/><write array=\"a\" field=\"value.f\" index=\"thread\"/>",
     FLAT "aos(reorder);split(value|kind);split(value.f|kind);" SHAPES},
    {"unions as records", "of=\"Word\" extent=\"1024\"", LINE_OF, "<update array=\"a\" field=\"f\" index=\"thread\"/>",
     FLAT "aos(reorder);split(f|b);" SHAPES},
    {"nested structs", "of=\"Node\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"box.lo child\" index=\"thread\"/>",
     FLAT "split(box|child id);split(box.lo child|box.hi id);split(soa:box|aosoa(8):child id);split(box|box.lo child "
          "id);" SHAPES},
    {"nested structs, gathered", "of=\"Node\" extent=\"1024\"", LINE_OF,
     "<read array=\"a\" field=\"box\" index=\"t[thread]\"/>",
     FLAT "split(box|child id);split(box.lo child|box.hi id);" SHAPES},
    {"vectors of four", "of=\"float4\" extent=\"1024\"", LINE_OF, "<read array=\"a\" index=\"thread\"/>",
     FLAT "aos(reorder);split(x|y);" SHAPES},
    {"vectors of three", "of=\"float3\" extent=\"1024\"", LINE_OF, "<update array=\"a\" index=\"thread\"/>",
     FLAT SHAPES},

    {"rows, read", "of=\"float\" extent=\"64 96\"", PLANE_OF, X_Y "<read array=\"a\" index=\"y, x\"/>", PLANE},
    {"columns, read", "of=\"float\" extent=\"96 64\"", PLANE_OF, X_Y "<read array=\"a\" index=\"x, y\"/>", PLANE},
    {"rows, updated", "of=\"float2\" extent=\"64 96\"", PLANE_OF, X_Y "<update array=\"a\" index=\"y, x\"/>", PLANE},
    {"columns, written", "of=\"float2\" extent=\"96 64\"", PLANE_OF, X_Y "<write array=\"a\" index=\"x, y\"/>", PLANE},
    {"a plane with a halo, cut at its edges", "of=\"float\" extent=\"64 96\"", PLANE_OF,
     X_Y "<read array=\"a\" index=\"max(y - 1, 0), x\"/><read array=\"a\" index=\"min(y + 1, 63), x\"/>"
         "<read array=\"a\" index=\"y, max(x - 1, 0)\"/><read array=\"a\" index=\"y, min(x + 1, 95)\"/>",
     PLANE},
    {"a plane with a halo, inner points only", "of=\"float\" extent=\"64 96\"", PLANE_OF,
     X_Y "<if test=\"0 lt x and x lt 95 and 0 lt y and y lt 63\"><read array=\"a\" index=\"y - 1, x\"/>"
         "<read array=\"a\" index=\"y + 1, x\"/><read array=\"a\" index=\"y, x - 1\"/>"
         "<read array=\"a\" index=\"y, x + 1\"/></if>",
     PLANE},
    {"a plane that blocks stick out of", "of=\"float\" extent=\"61 90\"", PLANE_OF,
     X_Y "<if test=\"x lt 90 and y lt 61\"><update array=\"a\" index=\"y, x\"/></if>", PLANE},
    {"a plane, gathered", "of=\"float\" extent=\"64 96\"", PLANE_OF,
     X_Y "<read array=\"a\" index=\"t[(y * 96 + x) % 1024] % 64, t[x] % 96\"/>", PLANE},
    {"atomics on a plane", "of=\"float\" extent=\"64 96\"", PLANE_OF, X_Y "<atomic array=\"a\" index=\"y, x\"/>",
     PLANE},
    {"packed pixels of a plane", "of=\"Pixel\" extent=\"64 96\"", PLANE_OF, X_Y "<read array=\"a\" index=\"y, x\"/>",
     PLANE ";split(red|green blue);aos(align=4)"},
    {"records of a plane", "of=\"Holes\" extent=\"64 96\"", PLANE_OF,
     X_Y "<read array=\"a\" field=\"x\" index=\"y, x\"/><write array=\"a\" field=\"y\" index=\"y, x\"/>",
     "row-major;column-major;pitch(4096);tiled(8 8);soa;aosoa(8);aos(reorder);split(x|flag y)"},
    {"a plane with a pitch", "of=\"float\" extent=\"64 96\" pitch=\"512\"", PLANE_OF,
     X_Y "<read array=\"a\" index=\"y, x\"/>", "row-major;pitch(400);column-major;tiled(8 8);soa;aosoa(8);aos"},
    {"a loop over the rows of a plane", "of=\"float\" extent=\"64 96\"", "block=\"96\" grid=\"1\"",
     "<for var=\"y\" to=\"64\"><read array=\"a\" index=\"y, threadIdx.x\"/></for>", PLANE},

    {"space, read", "of=\"float\" extent=\"16 16 32\"", SPACE_OF, X_Y_Z "<read array=\"a\" index=\"z, y, x\"/>", SPACE},
    {"space, updated from the wrong side", "of=\"float\" extent=\"32 16 16\"", SPACE_OF,
     X_Y_Z "<update array=\"a\" index=\"x, y, z\"/>", SPACE},
    {"space with a halo, cut at its edges", "of=\"float\" extent=\"16 16 32\"", SPACE_OF,
     X_Y_Z "<read array=\"a\" index=\"max(z - 1, 0), y, x\"/><read array=\"a\" index=\"min(z + 1, 15), y, x\"/>"
           "<read array=\"a\" index=\"z, max(y - 1, 0), x\"/><read array=\"a\" index=\"z, min(y + 1, 15), x\"/>",
     SPACE},

    {"shared memory", "of=\"Particle\" extent=\"128\" space=\"shared\"", LINE_OF,
     "<write array=\"a\" index=\"threadIdx.x\"/><read array=\"a\" field=\"vel\" index=\"127 - threadIdx.x\"/>",
     PARTICLE},
    {"a tile in shared memory, turned", "of=\"float\" extent=\"32 32\" space=\"shared\"", "block=\"32 8\" grid=\"1\"",
     "<for var=\"r\" to=\"32\" step=\"8\"><write array=\"a\" index=\"threadIdx.y + r, threadIdx.x\"/></for>"
     "<for var=\"r\" to=\"32\" step=\"8\"><read array=\"a\" index=\"threadIdx.x, threadIdx.y + r\"/></for>",
     "row-major;column-major;pitch(132);tiled(8 8);soa;aosoa(8)"},
};

static const char *const plans[] = {"direct", "vector",        "shuffle",        "wide(4)",
                                    "staged", "staged(pad=1)", "staged(swizzle)"};

enum { CASES = sizeof(cases) / sizeof(cases[0]), PLANS = sizeof(plans) / sizeof(plans[0]) };

static void write_case(struct text *out, size_t number)
{
    text_printf(out,
                "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"cases\">%s<array name=\"a\" %s/>"
                "<kernel name=\"k\" %s>%s</kernel></layout>",
                types, cases[number].array, cases[number].launch, cases[number].body);
}

/* All that one launch moves: global requests, sectors and lines, wavefronts and conflicts of shared memory, sectors
 * touched at all and left partly written. */
static void list_counts(struct text *out, const struct kernel_score *score, const struct mapping *mapping)
{
    struct counts all = {0};
    uint64_t touched = 0, filled = 0;
    for (size_t i = 0; i < score->access_count; i++)
        ck_assert(counts_add(&all, &score->accesses[i].counts, 1));
    for (size_t i = 0; i < score->array_count; i++) {
        touched += score->arrays[i].distinct_sectors;
        filled += score->arrays[i].fill_sectors;
    }
    text_printf(out,
                "%6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %5" PRIu64 " %6" PRIu64 " %6" PRIu64 " %7" PRIu64,
                all.requests, all.sectors, all.lines, touched, filled, all.wavefronts, all.conflicts, mapping->bytes);
}

struct listing {
    struct text text;
    const char *refusal;     /* the reason that the line at the end of the text is still to be closed with, or NULL */
    struct text differences; /* from the second implementation */
};

static void compare_with_naive(struct listing *listing, struct bench *bench, const struct score *score,
                               struct option *const *chosen)
{
    struct text what = {0};
    compare_scores(&what, score, naive_score_spec(bench->spec, naive_uses(bench, chosen), &bench->arena));
    if (what.length > 0)
        text_printf(&listing->differences, "%s\n%s", chosen[0]->candidate.text, text_string(&what));
    text_free(&what);
}

static void close_refusal(struct listing *listing)
{
    if (listing->refusal != NULL)
        text_printf(&listing->text, ": %s\n", listing->refusal);
    listing->refusal = NULL;
}

/* Plans of one layout that are refused for one reason share a line. */
static void list_refusal(struct listing *listing, struct arena *arena, const struct candidate *candidate,
                         const char *reason)
{
    if (listing->refusal != NULL && strcmp(listing->refusal, reason) == 0) {
        text_printf(&listing->text, " %s", notation_plan(arena, &candidate->plan));
        return;
    }
    close_refusal(listing);
    text_puts(&listing->text, candidate->text);
    listing->refusal = reason;
}

static void list_candidate(struct listing *listing, struct bench *bench, const struct candidate *candidate)
{
    struct diags diags = {.arena = &bench->arena};
    const char *reason = "no kernel can use it";
    struct option *option =
        candidate_apply(bench->spec, bench->spec->arrays, candidate, bench->device, &bench->arena, &reason);
    if (option == NULL) {
        list_refusal(listing, &bench->arena, candidate, reason);
        return;
    }
    struct score *score = score_spec(bench->spec, bench->device, &option, &bench->arena, &diags);
    ck_assert_msg(score != NULL, "'%s': %s", candidate->text, diags.count > 0 ? diags.items[0].message : "");
    close_refusal(listing);
    text_printf(&listing->text, "%-46s", candidate->text);
    list_counts(&listing->text, &score->kernels[0], option->mapping);
    text_putc(&listing->text, '\n');
    compare_with_naive(listing, bench, score, &option);
}

static void parse_candidate(struct candidate *out, struct bench *bench, const char *notation)
{
    bool has_plan;
    struct source *source = source_from_bytes(&bench->arena, "candidate", notation, strlen(notation));
    struct quoted text = {notation, {source, 0, strlen(notation)}};
    ck_assert_msg(notation_parse(out, &has_plan, &bench->arena, &text, &bench->diags), "'%s'", notation);
}

static void list_layout(struct listing *listing, struct bench *bench, const char *layout)
{
    struct candidate candidate;
    struct mapping *mapping;
    const char *reason;
    parse_candidate(&candidate, bench, layout);
    if (!layout_map(&mapping, &bench->arena, bench->spec->arrays, &candidate.layout, &reason)) {
        text_printf(&listing->text, "%s: %s\n", notation_layout(&bench->arena, &candidate.layout), reason);
        return;
    }
    for (size_t p = 0; p < PLANS; p++) {
        parse_candidate(&candidate, bench, arena_printf(&bench->arena, "%s/%s", layout, plans[p]));
        list_candidate(listing, bench, &candidate);
    }
    close_refusal(listing);
}

static void list_case(struct listing *listing, const struct device *device, size_t number)
{
    struct bench bench;
    struct text xml = {0};
    write_case(&xml, number);
    ck_assert_msg(bench_open_text(&bench, device, cases[number].name, text_string(&xml)), "'%s': %s",
                  cases[number].name, bench.diags.count > 0 ? bench.diags.items[0].message : "");
    text_printf(&listing->text, "\n%-46s%6s %6s %6s %6s %5s %6s %6s %7s\n", cases[number].name, "requ.", "sect.",
                "lines", "touch.", "fill", "wavef.", "confl.", "bytes");
    const char *layouts = cases[number].layouts;
    for (size_t length; *layouts != '\0'; layouts += length + (layouts[length] == ';')) {
        length = strcspn(layouts, ";");
        list_layout(listing, &bench, arena_copy(&bench.arena, layouts, length));
    }
    text_free(&xml);
    bench_close(&bench);
}

static const char path[] = TESTS_DIR "/data/candidates.txt";

static void write_list(const struct text *list)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text_string(list), 1, list->length, file), list->length);
    ck_assert_int_eq(fclose(file), 0);
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* Shows the first lines that differ. */
static void compare_list(const char *found, const char *wanted)
{
    enum { SHOWN = 10 };
    unsigned shown = 0;
    for (size_t line = 1; *found != '\0' || *wanted != '\0'; line++) {
        size_t here = line_length(found), there = line_length(wanted);
        if ((here != there || memcmp(found, wanted, here) != 0) && shown++ < SHOWN)
            (void)fprintf(stderr, "%s:%zu:\n- %.*s\n+ %.*s\n", path, line, (int)there, wanted, (int)here, found);
        found += here + (found[here] == '\n');
        wanted += there + (wanted[there] == '\n');
    }
    ck_assert_uint_eq(shown, 0);
}

START_TEST(every_candidate_of_every_access)
{
    struct arena arena = {0};
    struct listing listing = {0};
    const struct device *device = load_device(&arena);
    const char *golden = getenv("SECTORWISE_GOLDEN"), *reason;
    struct source *wanted = NULL;
    text_puts(&listing.text,
              "One launch under each candidate: global requests, sectors and lines, sectors touched and left\n"
              "partly written, shared wavefronts and conflicts, bytes of storage; or why it does not apply.\n");
    for (size_t i = 0; i < CASES; i++)
        list_case(&listing, device, i);
    if (golden != NULL && strcmp(golden, "update") == 0)
        write_list(&listing.text);
    ck_assert_int_eq(source_read(&wanted, &arena, path, &reason), SOURCE_OK);
    compare_list(text_string(&listing.text), wanted->bytes);
    (void)fputs(text_string(&listing.differences), stderr);
    ck_assert_uint_eq(listing.differences.length, 0);
    text_free(&listing.text);
    text_free(&listing.differences);
    arena_free(&arena);
}
END_TEST

/* What is tried for an array that nobody restricts: of candidates that come to the same bytes and instructions the
 * first, of parameters those that change something. Holes padded to 32 bytes are those padded to 16; a tile of 8 of
 * them has its doubles on 8, too little for a wide access; a row of 128 bytes needs no pitch to begin on a line. */
static const struct {
    const char *array, *launch, *body;
    const char *offered;
} offers[] = {
    {"of=\"Holes\" extent=\"1024\"", LINE_OF, "<read array=\"a\" field=\"x y\" index=\"thread\"/>",
     "aos/direct aos/vector aos/shuffle aos/staged aos/staged(pad=1) "
     "aos(align=16)/direct aos(align=16)/vector "
     "aos(reorder)/direct aos(reorder)/vector aos(reorder)/staged aos(reorder)/staged(pad=1) "
     "aos(reorder)/staged(swizzle) aos(align=32 reorder)/direct aos(align=32 reorder)/vector "
     "soa/direct soa/wide(4) aosoa(8)/direct aosoa(32)/direct aosoa(32)/wide(4) "
     "aosoa(128)/direct aosoa(128)/wide(4)"},
    {"of=\"float\" extent=\"64 96\"", PLANE_OF, X_Y "<read array=\"a\" index=\"y, x\"/>",
     "row-major/direct row-major/staged row-major/staged(pad=1) row-major/staged(swizzle) "
     "pitch(512)/direct pitch(512)/staged pitch(512)/staged(pad=1) pitch(512)/staged(swizzle) "
     "column-major/direct column-major/staged column-major/staged(pad=1) column-major/staged(swizzle) "
     "tiled(8 8)/direct tiled(8 8)/staged tiled(8 8)/staged(pad=1) tiled(8 8)/staged(swizzle) "
     "tiled(32 32)/direct tiled(32 32)/staged tiled(32 32)/staged(pad=1) tiled(32 32)/staged(swizzle)"},
    {"of=\"float\" extent=\"16 16 32\"", SPACE_OF, X_Y_Z "<read array=\"a\" index=\"z, y, x\"/>",
     "row-major/direct row-major/staged row-major/staged(pad=1) row-major/staged(swizzle) "
     "pitch(256)/direct pitch(256)/staged pitch(256)/staged(pad=1) pitch(256)/staged(swizzle) "
     "column-major/direct column-major/staged column-major/staged(pad=1) column-major/staged(swizzle) "
     "tiled(4 4 4)/direct tiled(4 4 4)/staged tiled(4 4 4)/staged(pad=1) tiled(4 4 4)/staged(swizzle) "
     "tiled(8 8 8)/direct tiled(8 8 8)/staged tiled(8 8 8)/staged(pad=1) tiled(8 8 8)/staged(swizzle) "
     "tiled(4 4 32)/direct tiled(4 4 32)/staged tiled(4 4 32)/staged(pad=1) tiled(4 4 32)/staged(swizzle)"},
    {"of=\"float\" extent=\"32 32\" space=\"shared\"", "block=\"32 8\" grid=\"1\"",
     "<read array=\"a\" index=\"threadIdx.x, threadIdx.y\"/>",
     "row-major/direct pitch(132)/direct column-major/direct tiled(8 8)/direct"},
};

START_TEST(offers_what_differs)
{
    struct arena arena = {0};
    struct bench bench;
    struct text xml = {0}, found = {0};
    text_printf(&xml,
                "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"cases\">%s<array name=\"a\" %s/>"
                "<kernel name=\"k\" %s>%s</kernel></layout>",
                types, offers[_i].array, offers[_i].launch, offers[_i].body);
    ck_assert(bench_open_text(&bench, load_device(&arena), "offers", text_string(&xml)));
    const struct options *options = candidates_enumerate(bench.spec, bench.device, &bench.arena, NULL, 0, &bench.diags);
    ck_assert_ptr_nonnull(options);
    for (size_t i = 0; i < options[0].count; i++)
        text_printf(&found, i == 0 ? "%s" : " %s", options[0].items[i]->candidate.text);
    ck_assert_str_eq(text_string(&found), offers[_i].offered);
    text_free(&found);
    text_free(&xml);
    bench_close(&bench);
    arena_free(&arena);
}
END_TEST

Suite *candidates_suite(void)
{
    Suite *suite = suite_create("candidates");
    TCase *all = tcase_create("candidates");
    tcase_add_test(all, every_candidate_of_every_access);
    tcase_add_loop_test(all, offers_what_differs, 0, sizeof(offers) / sizeof(offers[0]));
    suite_add_tcase(suite, all);
    return suite;
}
