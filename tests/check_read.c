#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "diag.h"
#include "read.h"
#include "spec.h"
#include "text.h"

struct fixture {
    struct arena arena;
    struct diags diags;
    struct spec *spec;
};

static void setup_bytes(struct fixture *f, const char *bytes, size_t length)
{
    *f = (struct fixture){0};
    f->diags.arena = &f->arena;
    f->spec = read_spec(&f->arena, source_from_bytes(&f->arena, "t", bytes, length), &f->diags);
    ck_assert(f->spec != NULL || diag_failed(&f->diags));
}

static void setup(struct fixture *f, const char *text)
{
    setup_bytes(f, text, strlen(text));
}

static void teardown(struct fixture *f)
{
    arena_free(&f->arena);
}

/* What is reported, without the quoted lines of the source. */
static char *messages(struct fixture *f)
{
    struct text all = {0}, kept = {0};
    diag_render(&f->diags, &all, false);
    for (const char *line = text_string(&all); *line != '\0';) {
        size_t length = strcspn(line, "\n") + 1;
        if (*line != ' ')
            text_append(&kept, line, length);
        line += length;
    }
    char *result = arena_copy(&f->arena, text_string(&kept), kept.length);
    text_free(&all);
    text_free(&kept);
    return result;
}

static const char *covered(struct fixture *f, struct span span)
{
    ck_assert(span.source != NULL && span.offset + span.length <= span.source->length);
    return arena_copy(&f->arena, span.source->bytes + span.offset, span.length);
}

#define LAYOUT "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"x\">"
#define KERNEL "<kernel name=\"k\" block=\"1\" grid=\"1\">"

/* ---- what is read ---- */

static const char full[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<!-- <layout> -->\n"
    "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"full\" xml:lang=\"en\">\n"
    "  <param name=\"N\" value=\"1 &lt;&lt; 4\"/><param name='M' value='2'/>\n"
    "  <kernel name=\"k\" block=\"256\" grid=\"N / 256\" calls=\"3\" flops=\"4\" registers=\"5\">\n"
    "    <let name=\"i\" value=\"thread\"/>\n"
    "    <for var=\"j\" from=\"1\" to=\"N\" step=\"2\"><read array=\"a\" index=\"j\"/></for>\n"
    "    <for var=\"j\" while=\"j lt 9\" next=\"j * 2\"/>\n"
    "    <if test=\"i &gt; 1\">\n"
    "      <write array=\"a\" field=\"f g\" index=\"i, j\" bytes=\"4\"/>\n"
    "    </if>\n"
    "    <!-- an else may have a comment before it -->\n"
    "    <else><update array=\"a\" field=\"f\" index=\"i\"/><atomic array=\"b\" index=\"0\"/></else>\n"
    "    <if test=\"0\"/><else/>\n"
    "  </kernel>\n"
    "  <struct name=\"S\" align=\"16\" packed=\"true\">\n"
    "    <field name=\"f\" type=\"float\" count=\"4 3\" align=\"8\"/><field name=\"g\" type=\"int\"/>\n"
    "  </struct>\n"
    "  <union name=\"U\"><field name=\"u\" type=\"S\"/></union>\n"
    "  <array name=\"a\" of=\"S\" extent=\"N M\" space=\"shared\" align=\"64\" offset=\"4\" pitch=\"128\"\n"
    "         layout=\"soa\" conversions=\"2\"/>\n"
    "  <array name=\"b\" of=\"int\" extent=\"N\"/>\n"
    "  <table name=\"t\" extent=\"3\" file=\"t.txt\" values=\"uniform\" range=\"9\" seed=\"1\"/>\n"
    "  <table name=\"u\" extent=\"2\">4 5</table>\n"
    "  <kernel name=\"l\" block=\"1\" grid=\"1\"/>\n"
    "</layout>\n";

static void expect_quoted(struct fixture *f, const struct quoted *quoted, const char *text, const char *raw)
{
    ck_assert_str_eq(quoted->text, text);
    ck_assert_str_eq(covered(f, quoted->where), raw == NULL ? text : raw);
}

static void expect_name(struct fixture *f, const struct name *name, const char *text)
{
    ck_assert_str_eq(name->text, text);
    ck_assert_str_eq(covered(f, name->where), text);
}

START_TEST(declarations_are_read_in_order)
{
    struct fixture f;
    setup(&f, full);
    const struct spec *spec = f.spec;
    ck_assert_msg(spec != NULL && !diag_failed(&f.diags), "%s", messages(&f));
    expect_name(&f, &spec->name, "full");
    ck_assert_uint_eq(spec->param_count, 2);
    expect_name(&f, &spec->params[0].name, "N");
    expect_quoted(&f, &spec->params[0].value, "1 << 4", "1 &lt;&lt; 4");
    expect_name(&f, &spec->params[1].name, "M");
    const struct type *type = spec->types;
    expect_name(&f, &type->name, "S");
    ck_assert_int_eq(type->kind, TYPE_STRUCT);
    expect_quoted(&f, &type->align_text, "16", NULL);
    expect_quoted(&f, &type->packed_text, "true", NULL);
    ck_assert_uint_eq(type->field_count, 2);
    expect_name(&f, &type->fields[0].name, "f");
    expect_quoted(&f, &type->fields[0].type_text, "float", NULL);
    expect_quoted(&f, &type->fields[0].count_text, "4 3", NULL);
    expect_quoted(&f, &type->fields[0].align_text, "8", NULL);
    expect_name(&f, &type->fields[1].name, "g");
    ck_assert(type->fields[1].count_text.text == NULL && type->fields[1].align_text.text == NULL);
    ck_assert_int_eq(type->next->kind, TYPE_UNION);
    ck_assert(type->next->align_text.text == NULL && type->next->next == NULL);
    teardown(&f);
}
END_TEST

START_TEST(arrays_and_tables_are_read)
{
    struct fixture f;
    setup(&f, full);
    const struct array *array = f.spec->arrays;
    ck_assert_uint_eq(f.spec->array_count, 2);
    expect_name(&f, &array->name, "a");
    expect_quoted(&f, &array->of_text, "S", NULL);
    expect_quoted(&f, &array->extent_text, "N M", NULL);
    expect_quoted(&f, &array->space_text, "shared", NULL);
    expect_quoted(&f, &array->align_text, "64", NULL);
    expect_quoted(&f, &array->offset_text, "4", NULL);
    expect_quoted(&f, &array->pitch_text, "128", NULL);
    expect_quoted(&f, &array->layout_text, "soa", NULL);
    expect_quoted(&f, &array->conversions_text, "2", NULL);
    ck_assert_uint_eq(array->next->number, 1);
    ck_assert(array->next->space_text.text == NULL && array->next->next == NULL);
    const struct table *table = f.spec->tables;
    ck_assert_uint_eq(f.spec->table_count, 2);
    expect_quoted(&f, &table->extent_text, "3", NULL);
    expect_quoted(&f, &table->file_text, "t.txt", NULL);
    expect_quoted(&f, &table->values_text, "uniform", NULL);
    expect_quoted(&f, &table->range_text, "9", NULL);
    expect_quoted(&f, &table->seed_text, "1", NULL);
    ck_assert(table->content.text == NULL);
    expect_quoted(&f, &table->next->content, "4 5", NULL);
    teardown(&f);
}
END_TEST

static void expect_access(struct fixture *f, const struct statement *statement, enum access_op op, const char *index,
                          size_t line)
{
    ck_assert_int_eq(statement->kind, STATEMENT_ACCESS);
    ck_assert_int_eq(statement->access->op, op);
    expect_quoted(f, &statement->access->index_text, index, NULL);
    ck_assert_uint_eq(statement->access->line, line);
    ck_assert_str_eq(covered(f, statement->access->where), access_op_name(op));
}

START_TEST(statements_are_read_as_a_tree)
{
    struct fixture f;
    setup(&f, full);
    const struct kernel *kernel = f.spec->kernels;
    ck_assert_uint_eq(f.spec->kernel_count, 2);
    expect_quoted(&f, &kernel->block_text, "256", NULL);
    expect_quoted(&f, &kernel->grid_text, "N / 256", NULL);
    expect_quoted(&f, &kernel->calls_text, "3", NULL);
    expect_quoted(&f, &kernel->flops_text, "4", NULL);
    expect_quoted(&f, &kernel->registers_text, "5", NULL);
    const struct statement *at = kernel->body;
    ck_assert_int_eq(at->kind, STATEMENT_LET);
    expect_name(&f, &at->name, "i");
    expect_quoted(&f, &at->value_text, "thread", NULL);
    at = at->next;
    ck_assert_int_eq(at->kind, STATEMENT_FOR);
    ck_assert_str_eq(covered(&f, at->where), "for");
    expect_name(&f, &at->name, "j");
    expect_quoted(&f, &at->from_text, "1", NULL);
    expect_quoted(&f, &at->to_text, "N", NULL);
    expect_quoted(&f, &at->step_text, "2", NULL);
    ck_assert(at->while_text.text == NULL && at->next_text.text == NULL);
    expect_access(&f, at->body, ACCESS_READ, "j", 7);
    ck_assert(at->body->access->whole && at->body->next == NULL);
    at = at->next;
    expect_quoted(&f, &at->while_text, "j lt 9", NULL);
    expect_quoted(&f, &at->next_text, "j * 2", NULL);
    ck_assert(at->body == NULL);
    at = at->next;
    ck_assert_int_eq(at->kind, STATEMENT_IF);
    expect_quoted(&f, &at->test_text, "i > 1", "i &gt; 1");
    expect_access(&f, at->body, ACCESS_WRITE, "i, j", 10);
    expect_quoted(&f, &at->body->access->array_text, "a", NULL);
    expect_quoted(&f, &at->body->access->field_text, "f g", NULL);
    expect_quoted(&f, &at->body->access->bytes_text, "4", NULL);
    ck_assert(at->has_else && !at->body->access->whole);
    expect_access(&f, at->otherwise, ACCESS_UPDATE, "i", 13);
    expect_access(&f, at->otherwise->next, ACCESS_ATOMIC, "0", 13);
    at = at->next;
    ck_assert(at->kind == STATEMENT_IF && at->has_else && at->body == NULL && at->otherwise == NULL);
    ck_assert(at->next == NULL && kernel->next->body == NULL && kernel->next->next == NULL);
    teardown(&f);
}
END_TEST

/* ---- places, whatever stands around them ---- */

static const struct {
    const char *xml, *text, *raw;
} places[] = {
    {LAYOUT "<param name=\"a\" value=\"1\"/></layout>", "1", "1"},
    {LAYOUT "<param value=\"v\" name=\"value\"/></layout>", "v", "v"},
    {LAYOUT "<param\n\tname = 'a'\r\n value\t=\n'2'\n/></layout>", "2", "2"},
    {LAYOUT "<!-- <param value=\"no\"/> --><?p <param value=\"no\"/> ?><param name=\"a\" value=\"y\"/></layout>", "y",
     "y"},
    {LAYOUT "<param name=\"a\" value=\"a &gt; &#98;\"/></layout>", "a > b", "a &gt; &#98;"},
    {LAYOUT "<param name=\"a\" value='\"'/></layout>", "\"", "\""},
    {LAYOUT "<param name=\"a>\" value=\"/>\"/></layout>", "/>", "/>"},
    {LAYOUT "<param name=\"a\" value=\"1\n2\"/></layout>", "1 2", "1\n2"},
    {LAYOUT "<param name=\"a\" value=\"1\r\n2\"/></layout>", "1 2", "1\r\n2"},
    {LAYOUT "<param name=\"a\" xml:value=\"no\" value=\"yes\"/></layout>", "yes", "yes"},
    {LAYOUT "<param name=\"a\" value=\"\xc3\xa9\"/></layout>", "\xc3\xa9", "\xc3\xa9"},
    {LAYOUT "<param name=\"a\" value=\"\"/></layout>", "", ""},
    {"\xef\xbb\xbf<?xml version='1.0'?>\n" LAYOUT "<param name=\"a\" value=\"bom\"/></layout>", "bom", "bom"},
    {"<l:layout xmlns:l=\"urn:sectorwise:layout:1\" name=\"x\"><l:param name=\"a\" value=\"p\"/></l:layout>", "p", "p"},
    {"<layout name='x' xmlns='urn:sectorwise:layout:1'><param name='a' value='q'></param></layout>", "q", "q"},
};

START_TEST(places_are_exact)
{
    struct fixture f;
    setup(&f, places[_i].xml);
    ck_assert_msg(f.spec != NULL && !diag_failed(&f.diags), "row %d: %s", _i, messages(&f));
    expect_quoted(&f, &f.spec->params[0].value, places[_i].text, places[_i].raw);
    teardown(&f);
}
END_TEST

static const struct {
    const char *content;
    const char *integers[5];
} contents[] = {
    {"1 2 3", {"1", "2", "3"}},
    {"\n 10\r\n 20 \t30\n", {"10", "20", "30"}},
    {"1<!-- two -->2", {"1", "2"}},
    {"<!-- one -->1 <!-- \r\n two --> 2<!-- -->", {"1", "2"}},
    {"<![CDATA[1 2]]> 3 <![CDATA[4]]>", {"1", "2", "3", "4"}},
    {"1<?p 2?>3", {"1", "3"}},
    {"&#32;1&#x20;2&#9;3", {"1", "2", "3"}},
};

START_TEST(integers_of_a_table_have_their_places)
{
    struct text xml = {0};
    text_printf(&xml, "%s<table name=\"t\" extent=\"3\">%s</table></layout>", LAYOUT, contents[_i].content);
    struct fixture f;
    setup(&f, text_string(&xml));
    text_free(&xml);
    ck_assert_msg(f.spec != NULL && !diag_failed(&f.diags), "row %d: %s", _i, messages(&f));
    const struct quoted *content = &f.spec->tables->content;
    size_t at = strspn(content->text, " \t\n"), count = 0;
    while (content->text[at] != '\0') {
        size_t length = strcspn(content->text + at, " \t\n");
        ck_assert_msg(contents[_i].integers[count] != NULL, "row %d: '%s'", _i, content->text);
        ck_assert_str_eq(covered(&f, quoted_span(content, at, length)), contents[_i].integers[count++]);
        at += length;
        at += strspn(content->text + at, " \t\n");
    }
    ck_assert_msg(contents[_i].integers[count] == NULL, "row %d: '%s'", _i, content->text);
    teardown(&f);
}
END_TEST

START_TEST(an_empty_table_has_no_content)
{
    struct fixture f;
    setup(&f, LAYOUT "<table name=\"t\" extent=\"3\"> \n <!-- 1 --> </table></layout>");
    ck_assert(f.spec != NULL && f.spec->tables->content.text == NULL);
    teardown(&f);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *xml;
    const char *messages;
} malformed[] = {
    {"", "t:1:1: error: document is empty [xml-syntax]\n"},
    {"\xef\xbb\xbf", "t:1:4: error: document is empty [xml-syntax]\n"},
    {" \n ", "t:2:2: error: document has no element [xml-syntax]\n"},
    {"<!-- only -->", "t:1:14: error: document has no element [xml-syntax]\n"},
    {"text", "t:1:1: error: text before the root element [xml-syntax]\n"},
    {"<a/>text", "t:1:5: error: text after the root element [xml-syntax]\n"},
    {"<a/><b/>", "t:1:6: error: 'b' is a second root element [xml-syntax]\n"},
    {"</a>", "t:1:3: error: '</a>' closes nothing [xml-syntax]\n"},
    {"<a>\n<b>\n</a>",
     "t:3:3: error: '</a>' where '</b>' is expected [xml-syntax]\nt:3:3: note: 'b' begins on line 2\n"},
    {"<a><b/>", "t:1:2: error: element 'a' is not closed [xml-syntax]\n"},
    {"<a", "t:1:2: error: tag of 'a' is not closed by '>' [xml-syntax]\n"},
    {"<a><b", "t:1:5: error: tag of 'b' is not closed by '>' [xml-syntax]\n"},
    {"<a></a", "t:1:6: error: end tag of 'a' is not closed by '>' [xml-syntax]\n"},
    {"<a x=1/>", "t:1:4: error: value of 'x' is not in quotes [xml-syntax]\n"},
    {"<a x/>", "t:1:4: error: attribute 'x' has no value [xml-syntax]\n"},
    {"<a x=\"1\"y=\"2\"/>", "t:1:9: error: no white space before 'y' [xml-syntax]\n"},
    {"<a x=\"1", "t:1:4: error: value of 'x' has no closing quote [xml-syntax]\n"},
    {"<a x=\"1/>\n<b y=\"2\"/></a>", "t:1:4: error: value of 'x' has no closing quote [xml-syntax]\n"},
    {"<a x=\"1\" = \"2\"/>", "t:1:10: error: '=' cannot stand in a tag [xml-syntax]\n"},
    {"<a <b/></a>", "t:1:4: error: '<' cannot stand in a tag [xml-syntax]\n"},
    {"<a x=\"1\" x=\"2\"/>", "t:1:10: error: attribute 'x' is given twice [duplicate-attribute]\n"},
    {"<a x=\"i < 2\"/>", "t:1:9: error: '<' in the value of 'x' [xml-syntax]\n"
                         "t:1:9: note: write '&lt;', or in an expression 'lt', 'le' or 'shl'\n"},
    {"<a x=\"i && 2\"/>", "t:1:9: error: '&&' begins no entity [xml-syntax]\n"
                          "t:1:9: note: write '&amp;', or in an expression 'and' or 'band'\n"},
    {"<a x=\"&lt\"/>", "t:1:7: error: '&lt' is not closed by ';' [xml-syntax]\n"},
    {"<a>&nbsp;</a>", "t:1:4: error: unknown entity '&nbsp;' [xml-syntax]\n"
                      "t:1:4: note: the entities are '&lt;', '&gt;', '&amp;', '&quot;' and '&apos;'\n"},
    {"<a>&#0;</a>", "t:1:4: error: '&#0;' is not a character of XML [xml-syntax]\n"},
    {"<a>&#x110000;</a>", "t:1:4: error: '&#x110000;' is not a character of XML [xml-syntax]\n"},
    {"<a>&#99999999999999999999;</a>",
     "t:1:4: error: '&#99999999999999999999;' is not a character of XML [xml-syntax]\n"},
    {"<a>&#xD800;</a>", "t:1:4: error: '&#xD800;' is not a character of XML [xml-syntax]\n"},
    {"<a>&#;</a>", "t:1:4: error: '&#;' is not a character of XML [xml-syntax]\n"},
    {"<a>1 < 2</a>", "t:1:6: error: '<' begins no tag [xml-syntax]\nt:1:6: note: write '&lt;'\n"},
    {"<", "t:1:1: error: '<' begins no tag [xml-syntax]\nt:1:1: note: write '&lt;'\n"},
    {"<a><1/></a>", "t:1:5: error: '1' cannot begin a name [xml-syntax]\n"},
    {"<a$b/>", "t:1:3: error: '$' cannot stand in a name [xml-syntax]\n"},
    {"<a \xc3\xa9=\"1\"/>", "t:1:4: error: '\xc3\xa9' cannot begin a name [xml-syntax]\n"},
    {"<a>]]></a>", "t:1:4: error: ']]>' in text [xml-syntax]\nt:1:4: note: write ']]&gt;'\n"},
    {"<a><!-- x", "t:1:4: error: comment is not closed by '-->' [xml-syntax]\n"},
    {"<a><!-- x -- --></a>", "t:1:11: error: '--' inside a comment [xml-syntax]\n"},
    {"<a><!-- x ---></a>", "t:1:11: error: '--' inside a comment [xml-syntax]\n"},
    {"<a><![CDATA[x", "t:1:4: error: CDATA is not closed by ']]>' [xml-syntax]\n"},
    {"<![CDATA[x]]><a/>", "t:1:1: error: CDATA outside of the root element [xml-syntax]\n"},
    {"<a><?p", "t:1:4: error: processing instruction is not closed by '?>' [xml-syntax]\n"},
    {"<a><?\?></a>", "t:1:4: error: processing instruction has no name [xml-syntax]\n"},
    {" <?xml version=\"1.0\"?><a/>",
     "t:1:2: error: an XML declaration can only be the first thing of a document [xml-syntax]\n"},
    {"<?xml version=\"1.0\" encoding=\"latin1\"?><a/>",
     "t:1:31: error: encoding 'latin1' is not accepted [xml-encoding]\n"
     "t:1:31: note: save the document as UTF-8 and leave the encoding out\n"},
    {"<a>\xff</a>", "t:1:4: error: byte 0xff is not UTF-8 [xml-encoding]\nt:1:4: note: save the document as UTF-8\n"},
    {"<a>\xc0\x80</a>",
     "t:1:4: error: byte 0xc0 is not UTF-8 [xml-encoding]\nt:1:4: note: save the document as UTF-8\n"},
    {"<a>\xed\xa0\x80</a>",
     "t:1:4: error: byte 0xed is not UTF-8 [xml-encoding]\nt:1:4: note: save the document as UTF-8\n"},
    {"<a>\xe4\xb8", "t:1:4: error: byte 0xe4 is not UTF-8 [xml-encoding]\nt:1:4: note: save the document as UTF-8\n"},
    {"<a>\x01</a>", "t:1:4: error: character U+0001 is not allowed in XML [xml-syntax]\n"},
    {"<a>\xef\xbf\xbf</a>", "t:1:4: error: character U+FFFF is not allowed in XML [xml-syntax]\n"},
    {"<!DOCTYPE a><a/>", "t:1:1: error: document type declarations are not accepted [xml-dtd]\n"
                         "t:1:1: note: remove it: a description needs no DTD and has no entities of its own\n"},
    {"<!DOCTYPE a [\n<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;\">]><a>&m;</a>",
     "t:1:1: error: document type declarations are not accepted [xml-dtd]\n"
     "t:1:1: note: remove it: a description needs no DTD and has no entities of its own\n"},
    {"<?xml version=\"1.0\"?>\n<!-- c -->\n<!DOCTYPE a SYSTEM \"http://example.com/a.dtd\"><a/>",
     "t:3:1: error: document type declarations are not accepted [xml-dtd]\n"
     "t:3:1: note: remove it: a description needs no DTD and has no entities of its own\n"},
    {"<f:layout name=\"x\"/>", "t:1:2: error: namespace prefix f on layout is not defined [xml-syntax]\n"},
    /* several at once */
    {"<a x=\"1 < 2\" y=\"3 & 4\">\n&x; &y;<b z=\"\" z=\"\"/></a>",
     "t:1:9: error: '<' in the value of 'x' [xml-syntax]\n"
     "t:1:9: note: write '&lt;', or in an expression 'lt', 'le' or 'shl'\n"
     "t:1:19: error: '&' begins no entity [xml-syntax]\n"
     "t:1:19: note: write '&amp;', or in an expression 'and' or 'band'\n"
     "t:2:1: error: unknown entity '&x;' [xml-syntax]\n"
     "t:2:1: note: the entities are '&lt;', '&gt;', '&amp;', '&quot;' and '&apos;'\n"
     "t:2:5: error: unknown entity '&y;' [xml-syntax]\n"
     "t:2:5: note: the entities are '&lt;', '&gt;', '&amp;', '&quot;' and '&apos;'\n"
     "t:2:16: error: attribute 'z' is given twice [duplicate-attribute]\n"},
    /* well-formed, but no layout */
    {"<layout name=\"x\"/>", "t:1:2: error: 'layout' is in no namespace [wrong-namespace]\n"
                             "t:1:2: note: write xmlns=\"urn:sectorwise:layout:1\"\n"},
    {"<layout xmlns=\"urn:sectorwise:layout:2\" name=\"x\"/>",
     "t:1:16: error: 'layout' is in the namespace 'urn:sectorwise:layout:2' [wrong-namespace]\n"
     "t:1:16: note: write xmlns=\"urn:sectorwise:layout:1\"\n"},
    {"<device xmlns=\"urn:sectorwise:device:1\" name=\"x\"/>",
     "t:1:2: error: the root element is 'device', not 'layout' [wrong-root]\n"
     "t:1:2: note: a layout begins with <layout xmlns=\"urn:sectorwise:layout:1\" name=\"...\">\n"},
};

START_TEST(what_is_no_layout_is_refused)
{
    struct fixture f;
    setup(&f, malformed[_i].xml);
    ck_assert_msg(f.spec == NULL, "'%s' is read", malformed[_i].xml);
    ck_assert_str_eq(messages(&f), malformed[_i].messages);
    teardown(&f);
}
END_TEST

static const struct {
    const char *xml;
    const char *messages;
} faulty[] = {
    {LAYOUT "<filed/></layout>",
     "t:1:51: error: unknown element 'filed' [unknown-element]\nt:1:51: note: did you mean 'field'?\n"},
    {LAYOUT "<strut/></layout>",
     "t:1:51: error: unknown element 'strut' [unknown-element]\nt:1:51: note: did you mean 'struct'?\n"},
    {LAYOUT "<zzzzzz/></layout>", "t:1:51: error: unknown element 'zzzzzz' [unknown-element]\n"},
    {LAYOUT "<field name=\"a\" type=\"int\"/></layout>",
     "t:1:51: error: 'field' cannot stand in 'layout' [misplaced-element]\n"
     "t:1:51: note: 'field' belongs in 'struct' or 'union'\n"},
    {LAYOUT "<struct name=\"S\"><kernel/></struct></layout>",
     "t:1:68: error: 'kernel' cannot stand in 'struct' [misplaced-element]\n"
     "t:1:68: note: 'kernel' belongs in 'layout'\n"},
    {LAYOUT "<read array=\"a\" index=\"0\"/></layout>",
     "t:1:51: error: 'read' cannot stand in 'layout' [misplaced-element]\n"
     "t:1:51: note: 'read' belongs in 'kernel', 'for', 'if' or 'else'\n"},
    {LAYOUT KERNEL "<read array=\"a\" index=\"0\"><let name=\"i\" value=\"1\"/></read></kernel></layout>",
     "t:1:113: error: 'let' cannot stand in 'read' [misplaced-element]\n"
     "t:1:113: note: 'let' belongs in 'kernel', 'for', 'if' or 'else'\n"},
    {LAYOUT "<layout/></layout>", "t:1:51: error: 'layout' cannot stand in 'layout' [misplaced-element]\n"
                                  "t:1:51: note: 'layout' is the root element\n"},
    {LAYOUT "<table name=\"t\" extent=\"1\">1<param/></table></layout>",
     "t:1:79: error: 'param' cannot stand in 'table' [misplaced-element]\nt:1:79: note: 'param' belongs in 'layout'\n"},
    {LAYOUT "<param name=\"N\" valu=\"1\"/></layout>",
     "t:1:66: error: unknown attribute 'valu' of 'param' [unknown-attribute]\nt:1:66: note: did you mean 'value'?\n"
     "t:1:51: error: 'param' has no 'value' [missing-attribute]\n"},
    {LAYOUT "<param name=\"N\" value=\"1\" wrong=\"\"/></layout>",
     "t:1:76: error: unknown attribute 'wrong' of 'param' [unknown-attribute]\n"
     "t:1:76: note: 'param' has 'name' and 'value'\n"},
    {LAYOUT KERNEL "<if test=\"1\"/><else test=\"1\"/></kernel></layout>",
     "t:1:106: error: unknown attribute 'test' of 'else' [unknown-attribute]\nt:1:106: note: 'else' has no "
     "attributes\n"},
    {"<layout xmlns=\"urn:sectorwise:layout:1\" xmlns:o=\"urn:o\" name=\"x\" o:name=\"y\"/>",
     "t:1:66: error: unknown attribute 'name' of 'layout' [unknown-attribute]\n"
     "t:1:66: note: attributes are in no namespace\n"},
    {"<layout xmlns=\"urn:sectorwise:layout:1\"/>", "t:1:2: error: 'layout' has no 'name' [missing-attribute]\n"},
    {LAYOUT "<struct/><union/><array/><table/><kernel/></layout>",
     "t:1:51: error: 'struct' has no 'name' [missing-attribute]\n"
     "t:1:60: error: 'union' has no 'name' [missing-attribute]\n"
     "t:1:68: error: 'array' has no 'name' [missing-attribute]\n"
     "t:1:68: error: 'array' has no 'of' [missing-attribute]\n"
     "t:1:68: error: 'array' has no 'extent' [missing-attribute]\n"
     "t:1:76: error: 'table' has no 'name' [missing-attribute]\n"
     "t:1:76: error: 'table' has no 'extent' [missing-attribute]\n"
     "t:1:84: error: 'kernel' has no 'name' [missing-attribute]\n"
     "t:1:84: error: 'kernel' has no 'block' [missing-attribute]\n"
     "t:1:84: error: 'kernel' has no 'grid' [missing-attribute]\n"},
    {LAYOUT "<struct name=\"S\"><field/></struct>" KERNEL "<let/><for/><if/><atomic/></kernel></layout>",
     "t:1:68: error: 'field' has no 'name' [missing-attribute]\n"
     "t:1:68: error: 'field' has no 'type' [missing-attribute]\n"
     "t:1:121: error: 'let' has no 'name' [missing-attribute]\n"
     "t:1:121: error: 'let' has no 'value' [missing-attribute]\n"
     "t:1:127: error: 'for' has no 'var' [missing-attribute]\n"
     "t:1:127: error: 'for' has neither 'to' nor 'while' [loop-form]\n"
     "t:1:127: note: a loop runs up to 'to', exclusive, or as long as 'while' holds\n"
     "t:1:133: error: 'if' has no 'test' [missing-attribute]\n"
     "t:1:138: error: 'atomic' has no 'array' [missing-attribute]\n"
     "t:1:138: error: 'atomic' has no 'index' [missing-attribute]\n"},
    {LAYOUT "\n  some text\n  more</layout>", "t:2:3: error: text inside 'layout' [stray-text]\n"
                                              "t:2:3: note: comments are written <!-- so -->\n"},
    {LAYOUT "<param name=\"N\" value=\"1\">x</param></layout>", "t:1:76: error: text inside 'param' [stray-text]\n"
                                                                "t:1:76: note: comments are written <!-- so -->\n"},
    {LAYOUT KERNEL "&#65;</kernel></layout>", "t:1:86: error: text inside 'kernel' [stray-text]\n"
                                              "t:1:86: note: comments are written <!-- so -->\n"},
    {LAYOUT KERNEL "<![CDATA[x]]></kernel></layout>", "t:1:86: error: text inside 'kernel' [stray-text]\n"
                                                      "t:1:86: note: comments are written <!-- so -->\n"},
    {LAYOUT KERNEL "<else/></kernel></layout>", "t:1:87: error: 'else' does not follow an 'if' [misplaced-else]\n"
                                                "t:1:87: note: an 'else' is the sibling right after its 'if'\n"},
    {LAYOUT KERNEL "<if test=\"1\"/><else/><else/></kernel></layout>",
     "t:1:108: error: 'else' does not follow an 'if' [misplaced-else]\n"
     "t:1:108: note: an 'else' is the sibling right after its 'if'\n"},
    {LAYOUT KERNEL "<if test=\"1\"/><let name=\"a\" value=\"1\"/><else/></kernel></layout>",
     "t:1:126: error: 'else' does not follow an 'if' [misplaced-else]\n"
     "t:1:126: note: an 'else' is the sibling right after its 'if'\n"},
    {LAYOUT KERNEL "<if test=\"1\"><else/></if></kernel></layout>",
     "t:1:100: error: 'else' does not follow an 'if' [misplaced-else]\n"
     "t:1:100: note: an 'else' is the sibling right after its 'if'\n"},
    {LAYOUT "<o:param xmlns:o=\"urn:other\"/></layout>",
     "t:1:51: error: 'param' is in the namespace 'urn:other' [wrong-namespace]\n"
     "t:1:51: note: every element is in the namespace 'urn:sectorwise:layout:1', as the root is\n"},
    {LAYOUT "<param xmlns=\"\" name=\"N\" value=\"1\"/></layout>",
     "t:1:51: error: 'param' is in no namespace [wrong-namespace]\n"
     "t:1:51: note: every element is in the namespace 'urn:sectorwise:layout:1', as the root is\n"},
    {LAYOUT KERNEL
     "<for var=\"i\"/><for var=\"i\" to=\"1\" while=\"1\"/><for var=\"i\" to=\"1\" step=\"1\" next=\"2\"/>"
     "</kernel></layout>",
     "t:1:87: error: 'for' has neither 'to' nor 'while' [loop-form]\n"
     "t:1:87: note: a loop runs up to 'to', exclusive, or as long as 'while' holds\n"
     "t:1:101: error: 'for' has both 'to' and 'while' [loop-form]\n"
     "t:1:101: note: a loop runs up to 'to', exclusive, or as long as 'while' holds\n"
     "t:1:132: error: 'for' has both 'step' and 'next' [loop-form]\n"},
    /* what is inside of something unknown is not looked at */
    {LAYOUT "<unknown><filed/>text</unknown></layout>", "t:1:51: error: unknown element 'unknown' [unknown-element]\n"},
};

START_TEST(faults_of_a_layout_are_all_reported)
{
    struct fixture f;
    setup(&f, faulty[_i].xml);
    ck_assert_msg(f.spec != NULL, "'%s' is not read", faulty[_i].xml);
    ck_assert_str_eq(messages(&f), faulty[_i].messages);
    ck_assert(f.spec->name.text != NULL);
    teardown(&f);
}
END_TEST

START_TEST(what_has_no_name_is_left_out)
{
    struct fixture f;
    setup(&f,
          LAYOUT "<param value=\"1\"/><struct><field name=\"a\" type=\"int\"/></struct><array of=\"int\" extent=\"1\"/>"
                 "<table extent=\"1\"/><kernel block=\"1\" grid=\"1\"/>"
                 "<struct name=\"S\"><field type=\"int\"/><field name=\"b\" type=\"int\"/></struct></layout>");
    ck_assert(f.spec != NULL && f.spec->param_count == 0 && f.spec->arrays == NULL && f.spec->tables == NULL);
    ck_assert(f.spec->kernels == NULL && f.spec->array_count == 0 && f.spec->kernel_count == 0);
    ck_assert(f.spec->types->next == NULL && f.spec->types->field_count == 1);
    ck_assert_uint_eq(f.diags.error_count, 6);
    teardown(&f);
}
END_TEST

/* ---- bytes of any kind ---- */

START_TEST(zero_bytes_are_refused)
{
    struct fixture f;
    setup_bytes(&f, "<a\0/>", 5);
    ck_assert_str_eq(messages(&f), "t:1:3: error: character U+0000 is not allowed in XML [xml-syntax]\n");
    teardown(&f);
}
END_TEST

START_TEST(wide_characters_are_refused)
{
    static const struct {
        const char *bytes;
        size_t length;
    } rows[] = {{"\xff\xfe<\0a\0", 6}, {"\xfe\xff\0<\0a", 6}, {"<\0a\0/\0>\0", 8}, {"\0<\0a\0/\0>", 8}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        setup_bytes(&f, rows[i].bytes, rows[i].length);
        ck_assert_str_eq(messages(&f), "t:1:1: error: document is not UTF-8 but UTF-16 or UTF-32 [xml-encoding]\n"
                                       "t:1:1: note: save it as UTF-8\n");
        teardown(&f);
    }
}
END_TEST

/* Every beginning of a good description, and every byte of it changed, ends in a description or in a diagnostic. */
START_TEST(truncated_and_damaged_descriptions_end_well)
{
    char *damaged = malloc(sizeof(full));
    ck_assert(damaged != NULL);
    for (size_t i = 0; i < sizeof(full) - 1; i++) {
        struct fixture f;
        setup_bytes(&f, full, i);
        /* Only the line break at the end may be missing. */
        ck_assert_msg((f.spec == NULL) == (i < sizeof(full) - 2), "length %zu", i);
        teardown(&f);
        memcpy(damaged, full, sizeof(full));
        damaged[i] = "\0<>&\"'/ \xff="[i % 10];
        setup_bytes(&f, damaged, sizeof(full) - 1);
        teardown(&f);
    }
    free(damaged);
}
END_TEST

/* ---- bounds ---- */

static void append_times(struct text *text, const char *piece, size_t times)
{
    for (size_t i = 0; i < times; i++)
        text_puts(text, piece);
}

static const struct {
    const char *head, *piece;
    size_t times;
    const char *tail, *id;
} bombs[] = {
    {"", "<a>", 5000, "", "nesting-depth"},
    {LAYOUT KERNEL, "<if test=\"1\">", 63, "", "nesting-depth"},
    {"<a>", "<b/>", READ_ELEMENTS_MAX, "</a>", "too-many-elements"},
    {"<a ", " a=\"\"", 1000000, "/>", "duplicate-attribute"},
    {"<a a0='' a1='' a2='' a3='' a4='' a5='' a6='' a7='' a8='' a9='' b0='' b1='' b2='' b3='' b4='' b5='' b6='' b7='' "
     "b8='' b9='' c0='' c1='' c2='' c3='' c4='' c5='' c6='' c7='' c8='' c9='' d0='' d1=''",
     " e=\"\"", 1, "/>", "too-many-attributes"},
    {"<a>", "&", 1000000, "</a>", "xml-syntax"},
    {"<a>", "&x;", 1000000, "</a>", "xml-syntax"},
    {"<a x='", "<", 1000000, "'/>", "xml-syntax"},
    {"<", "a", 1000000, "", "xml-syntax"},
    {"", "<!--", 1000000, "", "xml-syntax"},
    {LAYOUT, "x<!-- -->", 100000, "</layout>", "stray-text"},
    {LAYOUT, "<x/>", 90000, "</layout>", "unknown-element"},
    {LAYOUT, "x<x a='' b='' c=''/>", 50000, "</layout>", "stray-text"},
    {"<", "a", 60000, "/>", "xml-syntax"},
};

START_TEST(bombs_end_in_an_error)
{
    struct text text = {0};
    text_puts(&text, bombs[_i].head);
    append_times(&text, bombs[_i].piece, bombs[_i].times);
    text_puts(&text, bombs[_i].tail);
    clock_t begin = clock();
    struct fixture f;
    setup_bytes(&f, text_string(&text), text.length);
    /* Far less; the margin is for a sanitizer on a loaded machine. */
    ck_assert((clock() - begin) / CLOCKS_PER_SEC < 20);
    ck_assert_msg(f.diags.count > 0, "bomb %d is read", _i);
    ck_assert_str_eq(f.diags.items[0].id, bombs[_i].id);
    teardown(&f);
    text_free(&text);
}
END_TEST

START_TEST(nesting_up_to_the_bound_is_read)
{
    struct text text = {0};
    text_puts(&text, LAYOUT KERNEL);
    append_times(&text, "<if test=\"1\">", READ_DEPTH_MAX - 2);
    append_times(&text, "</if>", READ_DEPTH_MAX - 2);
    text_puts(&text, "</kernel></layout>");
    struct fixture f;
    setup(&f, text_string(&text));
    ck_assert_msg(f.spec != NULL && !diag_failed(&f.diags), "%s", messages(&f));
    int depth = 0;
    for (const struct statement *at = f.spec->kernels->body; at != NULL; at = at->body)
        depth++;
    ck_assert_int_eq(depth, READ_DEPTH_MAX - 2);
    teardown(&f);
    text_free(&text);
}
END_TEST

START_TEST(a_large_table_is_read)
{
    struct text text = {0};
    text_puts(&text, LAYOUT "<table name=\"t\" extent=\"1\">");
    append_times(&text, "123 &#52; <!-- c -->", 200000);
    text_puts(&text, "</table></layout>");
    struct fixture f;
    setup(&f, text_string(&text));
    ck_assert_msg(f.spec != NULL && !diag_failed(&f.diags), "%s", messages(&f));
    const struct table *table = f.spec->tables;
    ck_assert_uint_eq(strlen(table->content.text), 200000 * strlen("123 4           "));
    ck_assert_uint_eq(table->content.where.length, 200000 * strlen("123 &#52; <!-- c -->"));
    teardown(&f);
    text_free(&text);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *read_suite(void)
{
    Suite *suite = suite_create("read");
    TCase *tests = tcase_create("read");
    tcase_add_test(tests, declarations_are_read_in_order);
    tcase_add_test(tests, arrays_and_tables_are_read);
    tcase_add_test(tests, statements_are_read_as_a_tree);
    tcase_add_loop_test(tests, places_are_exact, 0, ROWS(places));
    tcase_add_loop_test(tests, integers_of_a_table_have_their_places, 0, ROWS(contents));
    tcase_add_test(tests, an_empty_table_has_no_content);
    tcase_add_loop_test(tests, what_is_no_layout_is_refused, 0, ROWS(malformed));
    tcase_add_loop_test(tests, faults_of_a_layout_are_all_reported, 0, ROWS(faulty));
    tcase_add_test(tests, what_has_no_name_is_left_out);
    tcase_add_test(tests, zero_bytes_are_refused);
    tcase_add_test(tests, wide_characters_are_refused);
    tcase_add_test(tests, truncated_and_damaged_descriptions_end_well);
    tcase_add_loop_test(tests, bombs_end_in_an_error, 0, ROWS(bombs));
    tcase_add_test(tests, nesting_up_to_the_bound_is_read);
    tcase_add_test(tests, a_large_table_is_read);
    suite_add_tcase(suite, tests);
    return suite;
}
