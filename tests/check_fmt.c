#include "fmt.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "mangle.h"
#include "random_spec.h"
#include "read.h"
#include "sectorwise.h"

#define OPEN "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"a\">\n"
#define CLOSE "</layout>\n"

static const struct {
    const char *what, *before, *after;
} rows[] = {
    {"order and quotes", "<layout name='a' xmlns='urn:sectorwise:layout:1'><param value='1' name='N'/></layout>",
     OPEN "  <param name=\"N\" value=\"1\"/>\n" CLOSE},
    {"every element's order",
     OPEN "<struct packed='true' align='4' name='S'><field align='4' count='2' type='int' name='x'/></struct>"
          "<array conversions='0' layout='aos' pitch='64' offset='0' align='256' space='global' extent='4' of='S' "
          "name='s'/><table seed='1' range='4' values='uniform' extent='4' name='t'/>"
          "<kernel registers='32' flops='0' calls='1' grid='1' block='4' name='k'><let value='0' name='i'/>"
          "<for step='1' to='1' from='0' var='j'><if test='1'><read bytes='4' index='thread' field='x' array='s'/>"
          "</if></for></kernel>" CLOSE,
     OPEN "  <struct name=\"S\" align=\"4\" packed=\"true\">\n"
          "    <field name=\"x\" type=\"int\" count=\"2\" align=\"4\"/>\n"
          "  </struct>\n"
          "  <array name=\"s\" of=\"S\" extent=\"4\" space=\"global\" align=\"256\" offset=\"0\" pitch=\"64\" "
          "layout=\"aos\" "
          "conversions=\"0\"/>\n"
          "  <table name=\"t\" extent=\"4\" values=\"uniform\" range=\"4\" seed=\"1\"/>\n"
          "  <kernel name=\"k\" block=\"4\" grid=\"1\" calls=\"1\" flops=\"0\" registers=\"32\">\n"
          "    <let name=\"i\" value=\"0\"/>\n"
          "    <for var=\"j\" from=\"0\" to=\"1\" step=\"1\">\n"
          "      <if test=\"1\">\n"
          "        <read array=\"s\" field=\"x\" index=\"thread\" bytes=\"4\"/>\n"
          "      </if>\n"
          "    </for>\n"
          "  </kernel>\n" CLOSE},
    {"a long tag",
     OPEN "<array align='256' of='float' name='a_rather_long_name_of_an_array' extent='12345678 * 12345678' "
          "space='global' layout='aos'/>" CLOSE,
     OPEN "  <array name=\"a_rather_long_name_of_an_array\"\n         of=\"float\"\n"
          "         extent=\"12345678 * 12345678\"\n         space=\"global\"\n         align=\"256\"\n"
          "         layout=\"aos\"/>\n" CLOSE},
    {"references",
     OPEN "<param name='N' value='1 &#60;&lt; 2 &gt;&#x3E; 1 + &#49; + \"&apos;&quot;&#10;&#233;'/>" CLOSE,
     OPEN "  <param name=\"N\" value=\"1 &lt;&lt; 2 >> 1 + 1 + &quot;'&quot;&#xA;&#xE9;\"/>\n" CLOSE},
    {"words stay", OPEN "<param name='N' value='1 shl 2 lt  3 and 4'/>" CLOSE,
     OPEN "  <param name=\"N\" value=\"1 shl 2 lt  3 and 4\"/>\n" CLOSE},
    {"line breaks in a value", OPEN "<param name='N' value='\n\t1 +\r\n\t  2\n'/>" CLOSE,
     OPEN "  <param name=\"N\" value=\"1 + 2\"/>\n" CLOSE},
    {"but not in a file's name", OPEN "<table name='t' extent='1' file='a\t\tb'/>" CLOSE,
     OPEN "  <table name=\"t\" extent=\"1\" file=\"a  b\"/>\n" CLOSE},
    {"blank lines", OPEN "\n\n  <param name='A' value='1'/>\n\n\n\n  <param name='B' value='1'/>\n\n" CLOSE,
     OPEN "  <param name=\"A\" value=\"1\"/>\n\n  <param name=\"B\" value=\"1\"/>\n" CLOSE},
    {"an empty element", OPEN "<struct name='S'>\n</struct>" CLOSE, OPEN "  <struct name=\"S\"/>\n" CLOSE},
    {"comments",
     "<!-- one\n     two -->" OPEN "<!-- three --><param name='A' value='1'/> <!-- four -->\n"
     "\t<!-- five\n\t     six\n\n\t seven -->\n" CLOSE "<!-- eight -->",
     "<!-- one\n     two -->\n" OPEN "  <!-- three -->\n  <param name=\"A\" value=\"1\"/> <!-- four -->\n"
     "  <!-- five\n       six\n\n   seven -->\n"
     "</layout>\n<!-- eight -->\n"},
    {"a comment beside a start", OPEN "<kernel name='k' block='1' grid='1'> <!-- hot --> </kernel>" CLOSE,
     OPEN "  <kernel name=\"k\" block=\"1\" grid=\"1\"> <!-- hot -->\n  </kernel>\n" CLOSE},
    {"declaration and mark", "\xef\xbb\xbf<?xml version='1.0'  encoding='utf-8'?><?tool  x?>\r\n" OPEN CLOSE,
     "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<?tool  x?>\n"
     "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"a\"/>\n"},
    {"a line of integers", OPEN "<table extent='3' name='t'>\n  1  2 -3\n</table>" CLOSE,
     OPEN "  <table name=\"t\" extent=\"3\">1  2 -3</table>\n" CLOSE},
    {"lines of integers",
     OPEN "<table name='t' extent='4'> 1\n         20\n        300\n\n\t<![CDATA[4]]></table>" CLOSE,
     OPEN "  <table name=\"t\" extent=\"4\">\n    1\n     20\n    300\n\n    <![CDATA[4]]>\n  </table>\n" CLOSE},
    {"prefixes",
     "<l:layout xmlns:l='urn:sectorwise:layout:1' name='a'><l:param value='1' name='N' xml:lang='en'/>"
     "</l:layout>",
     "<l:layout xmlns:l=\"urn:sectorwise:layout:1\" name=\"a\">\n"
     "  <l:param name=\"N\" value=\"1\" xml:lang=\"en\"/>\n</l:layout>\n"},
};

/* The canonical form; NULL where the text does not read. */
static const struct source *format(struct arena *arena, const char *name, const char *bytes, size_t length)
{
    struct diags diags = {.arena = arena};
    const struct source *source = source_from_bytes(arena, name, bytes, length);
    if (read_spec(arena, source, &diags) == NULL || diag_failed(&diags))
        return NULL;
    struct text text = {0};
    fmt_write(&text, source, arena);
    source = source_from_bytes(arena, name, text_string(&text), text.length);
    text_free(&text);
    return source;
}

START_TEST(by_hand)
{
    struct arena arena = {0};
    const struct source *once = format(&arena, rows[_i].what, rows[_i].before, strlen(rows[_i].before));
    ck_assert_msg(once != NULL, "%s: does not read", rows[_i].what);
    ck_assert_msg(strcmp(once->bytes, rows[_i].after) == 0, "%s:\n%s\nnot\n%s", rows[_i].what, once->bytes,
                  rows[_i].after);
    const struct source *twice = format(&arena, rows[_i].what, once->bytes, once->length);
    ck_assert_msg(twice != NULL && strcmp(twice->bytes, once->bytes) == 0, "%s: twice", rows[_i].what);
    arena_free(&arena);
}
END_TEST

/* The score without the lines of the source, which formatting changes. */
static char *score(const char *bytes, size_t length)
{
    char *json, *to;
    struct sectorwise_job job = {.bytes = bytes, .length = length, .name = LAYOUTS_DIR "/x.xml"};
    /* What cannot be scored gives messages, with places. */
    if (sectorwise_score(&json, &job) != SECTORWISE_OK)
        json[0] = '\0';
    to = json;
    for (char *from = json; *from != '\0';) {
        if (strncmp(from, "\"source_line\"", 13) == 0)
            from += strcspn(from, "\n");
        *to++ = *from++;
    }
    *to = '\0';
    return json;
}

/* What makes a description's form wrong, or NULL. */
static const char *judge(struct arena *arena, const struct source *original, const struct source *mangled,
                         unsigned *scored)
{
    const struct source *once = format(arena, "mangled", mangled->bytes, mangled->length);
    if (once == NULL)
        return "does not read";
    const struct source *twice = format(arena, "once", once->bytes, once->length);
    if (twice == NULL || twice->length != once->length || memcmp(twice->bytes, once->bytes, once->length) != 0)
        return "fmt of fmt is not fmt";
    char *before = score(original->bytes, original->length), *after = score(once->bytes, once->length);
    bool same = strcmp(before, after) == 0;
    *scored += before[0] != '\0';
    sectorwise_free(before);
    sectorwise_free(after);
    return same ? NULL : "another score";
}

static void check_mangled(const struct source *original, uint64_t seed, unsigned *scored)
{
    struct arena arena = {0};
    struct text text = {0};
    mangle_write(&text, original, seed);
    const struct source *mangled = source_from_bytes(&arena, "mangled", text_string(&text), text.length);
    const char *fault = judge(&arena, original, mangled, scored);
    ck_assert_msg(fault == NULL, "seed %llu: %s:\n%s", (unsigned long long)seed, fault, mangled->bytes);
    text_free(&text);
    arena_free(&arena);
}

static uint64_t random_count(void)
{
    const char *scale = getenv("SECTORWISE_TEST_SCALE");
    if (scale != NULL && strcmp(scale, "small") == 0)
        return 200;
    return scale != NULL && strcmp(scale, "medium") == 0 ? 2000 : 10000;
}

START_TEST(random_descriptions)
{
    unsigned scored = 0;
    for (uint64_t seed = 0; seed < random_count(); seed++) {
        struct arena arena = {0};
        struct text xml = {0};
        random_spec_write(&xml, seed, (enum random_kind)(seed % RANDOM_KINDS));
        check_mangled(source_from_bytes(&arena, "random", text_string(&xml), xml.length), seed, &scored);
        text_free(&xml);
        arena_free(&arena);
    }
    ck_assert_uint_ge(scored, random_count() * 3 / 4);
}
END_TEST

static bool is_xml(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".xml") == 0;
}

/* The descriptions of layouts/ are canonical as they are, and come back from any mangling but for its comments. */
START_TEST(layouts)
{
    DIR *folder = opendir(LAYOUTS_DIR);
    ck_assert_ptr_nonnull(folder);
    unsigned count = 0, scored = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct arena arena = {0};
        struct source *source;
        const char *reason;
        if (!is_xml(entry->d_name))
            continue;
        const char *path = arena_printf(&arena, "%s/%s", LAYOUTS_DIR, entry->d_name);
        ck_assert(source_read(&source, &arena, path, &reason) == SOURCE_OK);
        const struct source *form = format(&arena, path, source->bytes, source->length);
        ck_assert_msg(form != NULL && strcmp(form->bytes, source->bytes) == 0, "%s is not canonical", path);
        check_mangled(source, ++count, &scored);
        arena_free(&arena);
    }
    (void)closedir(folder);
    ck_assert_uint_ge(count, 18);
    ck_assert_uint_eq(scored, count);
}
END_TEST

Suite *fmt_suite(void);

Suite *fmt_suite(void)
{
    Suite *suite = suite_create("fmt");
    TCase *forms = tcase_create("forms");
    tcase_add_loop_test(forms, by_hand, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(forms, layouts);
    tcase_add_test(forms, random_descriptions);
    suite_add_tcase(suite, forms);
    return suite;
}
