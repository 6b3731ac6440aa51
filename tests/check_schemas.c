/* The schemas for editors (advisor/share) against the reader: each sample, and each small change of it, is judged by
 * all three. What the schemas cannot say stands in a table. */
#include <check.h>
#include <glob.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <libxml/tree.h>
#include <libxml/xmlschemas.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "check.h"
#include "device.h"
#include "diag.h"
#include "random_spec.h"
#include "read.h"
#include "text.h"

#define SHARE "advisor/share/"

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_error;
#else
typedef xmlErrorPtr xml_error;
#endif

static void keep_quiet(void *context, xml_error error)
{
    (void)context;
    (void)error;
}

struct schemas {
    xmlSchemaParserCtxtPtr xsd_parser;
    xmlRelaxNGParserCtxtPtr rng_parser;
    xmlSchemaPtr xsd;
    xmlRelaxNGPtr rng;
};

static void open_schemas(struct schemas *schemas)
{
    schemas->xsd_parser = xmlSchemaNewParserCtxt(SHARE "sectorwise.xsd");
    schemas->rng_parser = xmlRelaxNGNewParserCtxt(SHARE "sectorwise.rng");
    schemas->xsd = xmlSchemaParse(schemas->xsd_parser);
    schemas->rng = xmlRelaxNGParse(schemas->rng_parser);
    ck_assert_ptr_nonnull(schemas->xsd);
    ck_assert_ptr_nonnull(schemas->rng);
}

static void close_schemas(struct schemas *schemas)
{
    xmlSchemaFree(schemas->xsd);
    xmlRelaxNGFree(schemas->rng);
    xmlSchemaFreeParserCtxt(schemas->xsd_parser);
    xmlRelaxNGFreeParserCtxt(schemas->rng_parser);
}

static bool xsd_accepts(const struct schemas *schemas, xmlDocPtr document)
{
    xmlSchemaValidCtxtPtr context = xmlSchemaNewValidCtxt(schemas->xsd);
    xmlSchemaSetValidStructuredErrors(context, keep_quiet, NULL);
    bool valid = xmlSchemaValidateDoc(context, document) == 0;
    xmlSchemaFreeValidCtxt(context);
    return valid;
}

static bool rng_accepts(const struct schemas *schemas, xmlDocPtr document)
{
    xmlRelaxNGValidCtxtPtr context = xmlRelaxNGNewValidCtxt(schemas->rng);
    xmlRelaxNGSetValidStructuredErrors(context, keep_quiet, NULL);
    bool valid = xmlRelaxNGValidateDoc(context, document) == 0;
    xmlRelaxNGFreeValidCtxt(context);
    return valid;
}

/* NULL where an editor could not even parse it. */
static xmlDocPtr parse(const char *bytes, size_t length)
{
    return xmlReadMemory(bytes, (int)length, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
}

/* ---- what each of the three says ---- */

enum stage { STAGE_FINE, STAGE_READ, STAGE_CHECK };

struct verdict {
    enum stage stage; /* where the tool finds the first error */
    char id[64];      /* that error's */
    bool xsd, rng;    /* accepted */
};

static struct verdict judge(const struct schemas *schemas, const struct source *source, struct arena *arena, bool check)
{
    struct verdict verdict = {.stage = STAGE_FINE};
    struct diags diags = {.arena = arena};
    struct spec *spec = read_spec(arena, source, &diags);
    if (diag_failed(&diags))
        verdict.stage = STAGE_READ;
    else if (check && !check_spec(spec, arena, device_load(arena, "h200", &diags), NULL, 0, &diags))
        verdict.stage = STAGE_CHECK;
    if (diag_failed(&diags))
        (void)snprintf(verdict.id, sizeof(verdict.id), "%s", diags.items[0].id);
    xmlDocPtr document = parse(source->bytes, source->length);
    if (document != NULL) {
        verdict.xsd = xsd_accepts(schemas, document);
        verdict.rng = rng_accepts(schemas, document);
    }
    xmlFreeDoc(document);
    return verdict;
}

/* The errors of which the schemas do not say the same as the stage that finds them: what is misread is refused by both,
 * what reads well and means nothing by neither. */
enum said { ACCEPTS, REFUSES, EITHER };
static const struct exception {
    const char *id;
    enum said xsd, rng;
    const char *why;
} exceptions[] = {
    {"bad-name", REFUSES, REFUSES, "a pattern for names"},
    {"bad-value", REFUSES, REFUSES, "words are listed"},
    {"empty-type", REFUSES, REFUSES, "a record has one field at least"},
    {"unknown-type", EITHER, EITHER, "refused where it is no identifier"},
    {"unknown-array", EITHER, EITHER, "refused where it is no identifier"},
    {"loop-form", ACCEPTS, REFUSES, "XSD 1.0 has no choice of attributes"},
    {"xml-dtd", EITHER, EITHER, "a matter of the parser, not of a schema"},
    {"xml-encoding", EITHER, EITHER, "a matter of the parser"},
    {"nesting-depth", EITHER, EITHER, "a schema cannot count; a parser has its own bound"},
};

static bool agrees(enum said said, bool accepted)
{
    return said == EITHER || accepted == (said == ACCEPTS);
}

static void assert_verdict(const char *name, const struct verdict *verdict)
{
    enum said usual = verdict->stage == STAGE_READ ? REFUSES : ACCEPTS;
    struct exception wanted = {verdict->id, usual, usual, ""};
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (strcmp(exceptions[i].id, verdict->id) == 0)
            wanted = exceptions[i];
    ck_assert_msg(agrees(wanted.xsd, verdict->xsd), "%s [%s]: the XSD %s it", name, verdict->id,
                  verdict->xsd ? "accepts" : "refuses");
    ck_assert_msg(agrees(wanted.rng, verdict->rng), "%s [%s]: RELAX NG %s it", name, verdict->id,
                  verdict->rng ? "accepts" : "refuses");
}

/* ---- samples ---- */

static size_t judge_files(const struct schemas *schemas, const char *pattern, bool valid)
{
    glob_t found;
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena arena = {0};
        struct source *source;
        const char *reason = "";
        ck_assert_int_eq(source_read(&source, &arena, found.gl_pathv[i], &reason), SOURCE_OK);
        struct verdict verdict = judge(schemas, source, &arena, true);
        ck_assert_msg(!valid || verdict.stage == STAGE_FINE, "%s: [%s]", found.gl_pathv[i], verdict.id);
        assert_verdict(found.gl_pathv[i], &verdict);
        arena_free(&arena);
    }
    size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

START_TEST(valid_samples)
{
    struct schemas schemas;
    open_schemas(&schemas);
    ck_assert_uint_ge(judge_files(&schemas, "layouts/*.xml", true), 18);
    ck_assert_uint_ge(judge_files(&schemas, "tests/generated/*.xml", true), 6);
    close_schemas(&schemas);
}
END_TEST

START_TEST(other_samples)
{
    struct schemas schemas;
    open_schemas(&schemas);
    (void)judge_files(&schemas, "tests/golden/*/*.xml", false);
    ck_assert_uint_ge(judge_files(&schemas, "tests/invalid/*.xml", false), 100);
    close_schemas(&schemas);
}
END_TEST

START_TEST(random_samples)
{
    struct schemas schemas;
    open_schemas(&schemas);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct text text = {0};
        random_spec_write(&text, seed, (enum random_kind)(seed % RANDOM_KINDS));
        struct arena arena = {0};
        const struct source *source = source_from_bytes(&arena, "random", text_string(&text), text.length);
        struct verdict verdict = judge(&schemas, source, &arena, false);
        ck_assert_msg(verdict.stage == STAGE_FINE && verdict.xsd && verdict.rng, "seed %d: [%s] %s", (int)seed,
                      verdict.id, text_string(&text));
        arena_free(&arena);
        text_free(&text);
    }
    close_schemas(&schemas);
}
END_TEST

/* ---- small changes ---- */

static const char *const element_names[] = {"layout", "param",  "struct", "union",  "field",  "array",
                                            "table",  "kernel", "let",    "for",    "if",     "else",
                                            "read",   "write",  "update", "atomic", "texture"};
static const char *const attribute_names[] = {
    "align", "array",  "block",  "bytes", "calls",  "colour",    "conversions", "count", "extent",
    "field", "file",   "flops",  "from",  "grid",   "index",     "layout",      "name",  "next",
    "of",    "offset", "packed", "pitch", "range",  "registers", "seed",        "space", "step",
    "test",  "to",     "type",   "value", "values", "var",       "while"};

struct changes {
    const struct schemas *schemas;
    xmlDocPtr document;
    const char *name;
    size_t count, refused;
};

static void judge_change(struct changes *changes, const char *what, const xmlNode *node)
{
    xmlChar *bytes;
    int length;
    xmlDocDumpMemory(changes->document, &bytes, &length);
    struct arena arena = {0};
    const struct source *source = source_from_bytes(&arena, "changed", (const char *)bytes, (size_t)length);
    struct verdict verdict = judge(changes->schemas, source, &arena, false);
    changes->count++;
    changes->refused += verdict.stage == STAGE_READ;
    char name[256];
    (void)snprintf(name, sizeof(name), "%s:%ld: '%s', %s", changes->name, xmlGetLineNo(node), (const char *)node->name,
                   what);
    assert_verdict(name, &verdict);
    arena_free(&arena);
    xmlFree(bytes);
}

static void rename_element(struct changes *changes, xmlNodePtr node)
{
    xmlChar *old = xmlStrdup(node->name);
    for (size_t i = 0; i < sizeof(element_names) / sizeof(element_names[0]); i++) {
        xmlNodeSetName(node, BAD_CAST element_names[i]);
        judge_change(changes, "renamed", node);
    }
    xmlNodeSetName(node, old);
    xmlFree(old);
}

/* A value that all attributes take, as far as a schema can tell. */
static const char *value_for(const char *attribute)
{
    return strcmp(attribute, "packed") == 0   ? "true"
           : strcmp(attribute, "space") == 0  ? "shared"
           : strcmp(attribute, "values") == 0 ? "sorted"
                                              : "x";
}

static void change_attributes(struct changes *changes, xmlNodePtr node)
{
    for (size_t i = 0; i < sizeof(attribute_names) / sizeof(attribute_names[0]); i++) {
        const xmlChar *name = BAD_CAST attribute_names[i];
        xmlChar *old = xmlGetNoNsProp(node, name);
        if (old == NULL) {
            xmlNewProp(node, name, BAD_CAST value_for(attribute_names[i]));
            judge_change(changes, attribute_names[i], node);
            xmlUnsetProp(node, name);
        } else {
            xmlUnsetProp(node, name);
            judge_change(changes, attribute_names[i], node);
            xmlNewProp(node, name, old);
        }
        xmlFree(old);
    }
    xmlNsPtr own = xmlNewNs(node, BAD_CAST "urn:other", BAD_CAST "other");
    xmlAttrPtr foreign = xmlNewNsProp(node, own, BAD_CAST "name", BAD_CAST "x");
    judge_change(changes, "an attribute of another namespace", node);
    xmlRemoveProp(foreign);
    xmlNsPtr xml = xmlSearchNs(changes->document, node, BAD_CAST "xml");
    xmlAttrPtr language = xmlNewNsProp(node, xml, BAD_CAST "lang", BAD_CAST "en");
    judge_change(changes, "xml:lang", node);
    xmlRemoveProp(language);
}

static void add_content(struct changes *changes, xmlNodePtr node)
{
    xmlNodePtr text = xmlNewText(BAD_CAST " 7 ");
    xmlAddNextSibling(node, text);
    judge_change(changes, "text behind it", node);
    xmlUnlinkNode(text);
    xmlFreeNode(text);
    for (size_t i = 0; i < sizeof(element_names) / sizeof(element_names[0]); i++) {
        xmlNodePtr child = xmlNewChild(node, node->ns, BAD_CAST element_names[i], NULL);
        judge_change(changes, "a child more", node);
        xmlUnlinkNode(child);
        xmlFreeNode(child);
    }
}

static void change_all(struct changes *changes, xmlNodePtr node)
{
    for (; node != NULL; node = node->next) {
        if (node->type != XML_ELEMENT_NODE)
            continue;
        if (node->parent->type == XML_ELEMENT_NODE)
            add_content(changes, node);
        rename_element(changes, node);
        change_attributes(changes, node);
        change_all(changes, node->children);
    }
}

START_TEST(changed_samples)
{
    static const char *const names[] = {"layouts/particles.xml", "layouts/bvh.xml", "layouts/tree_sum.xml",
                                        "layouts/csr_product.xml", "tests/generated/turn.xml"};
    struct schemas schemas;
    open_schemas(&schemas);
    struct changes changes = {.schemas = &schemas, .name = names[_i]};
    changes.document = xmlReadFile(names[_i], NULL, XML_PARSE_NONET);
    ck_assert_ptr_nonnull(changes.document);
    change_all(&changes, xmlDocGetRootElement(changes.document));
    /* Most changes are for the worse, not all. */
    ck_assert_uint_ge(changes.refused, changes.count / 2);
    ck_assert_uint_lt(changes.refused, changes.count);
    xmlFreeDoc(changes.document);
    close_schemas(&schemas);
}
END_TEST

/* ---- the compact form of RELAX NG, which Emacs reads ---- */

static bool is_named(const xmlNode *node, const char *name)
{
    return strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *next_element(const xmlNode *node)
{
    while (node != NULL && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

/* An attribute of the schema's own, for which nobody has to free anything. */
static const char *attribute_of(const xmlNode *node, const char *name)
{
    const xmlAttr *attribute = xmlHasProp(node, BAD_CAST name);
    return attribute == NULL ? "" : (const char *)attribute->children->content;
}

static void compact_pattern(struct text *out, const xmlNode *node, size_t depth);

/* Patterns one after another, or, in parentheses where there are several, as one. */
static void compact_list(struct text *out, const xmlNode *node, const char *between, size_t depth, bool one)
{
    const xmlNode *first = next_element(node);
    bool several = first != NULL && next_element(first->next) != NULL;
    text_puts(out, first == NULL ? "empty" : one && several ? "(" : "");
    for (node = first; node != NULL; node = next_element(node->next)) {
        if (node != first) {
            text_puts(out, between);
            text_putc(out, '\n');
            text_repeat(out, ' ', 2 * depth);
        }
        compact_pattern(out, node, depth);
    }
    text_puts(out, one && several ? ")" : "");
}

static void compact_named(struct text *out, const xmlNode *node, size_t depth)
{
    const xmlNode *child = next_element(node->children);
    bool any_xml = child != NULL && is_named(child, "nsName");
    text_printf(out, "%s %s {", (const char *)node->name, any_xml ? "xml:*" : attribute_of(node, "name"));
    if (is_named(node, "attribute")) {
        text_putc(out, ' ');
        if (child == NULL || any_xml)
            text_puts(out, "text");
        else
            compact_list(out, child, " |", depth + 1, false);
        text_puts(out, " }");
        return;
    }
    text_putc(out, '\n');
    text_repeat(out, ' ', 2 * (depth + 1));
    compact_list(out, child, ",", depth + 1, false);
    text_putc(out, '\n');
    text_repeat(out, ' ', 2 * depth);
    text_putc(out, '}');
}

static void compact_pattern(struct text *out, const xmlNode *node, size_t depth)
{
    static const struct {
        const char *name, *between, *behind;
    } lists[] = {{"optional", ",", "?"},
                 {"zeroOrMore", ",", "*"},
                 {"oneOrMore", ",", "+"},
                 {"group", ",", ""},
                 {"choice", " |", ""}};
    if (is_named(node, "element") || is_named(node, "attribute"))
        compact_named(out, node, depth);
    else if (is_named(node, "ref"))
        text_puts(out, attribute_of(node, "name"));
    else if (is_named(node, "text"))
        text_puts(out, "text");
    else if (is_named(node, "value"))
        text_printf(out, "xsd:%s \"%s\"", attribute_of(node, "type"), (const char *)node->children->content);
    else if (is_named(node, "data"))
        text_printf(out, "xsd:%s { pattern = \"%s\" }", attribute_of(node, "type"),
                    (const char *)next_element(node->children)->children->content);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (!is_named(node, lists[i].name))
            continue;
        compact_list(out, node->children, lists[i].between, depth, true);
        text_puts(out, lists[i].behind);
    }
}

static void compact_grammar(struct text *out, const xmlNode *grammar)
{
    text_printf(out,
                "# A layout description for Sectorwise, for nxml-mode of Emacs. It says what sectorwise.rng says.\n\n"
                "default namespace = \"%s\"\n",
                attribute_of(grammar, "ns"));
    for (const xmlNode *node = next_element(grammar->children); node != NULL; node = next_element(node->next)) {
        text_printf(out, "\n%s =\n  ", is_named(node, "start") ? "start" : attribute_of(node, "name"));
        compact_list(out, node->children, ",", 1, false);
        text_putc(out, '\n');
    }
}

START_TEST(compact_form)
{
    xmlDocPtr document = xmlReadFile(SHARE "sectorwise.rng", NULL, XML_PARSE_NONET | XML_PARSE_NOBLANKS);
    ck_assert_ptr_nonnull(document);
    struct text wanted = {0};
    compact_grammar(&wanted, xmlDocGetRootElement(document));
    struct arena arena = {0};
    struct source *source;
    const char *reason = "";
    ck_assert_int_eq(source_read(&source, &arena, SHARE "sectorwise.rnc", &reason), SOURCE_OK);
    ck_assert_msg(strcmp(source->bytes, text_string(&wanted)) == 0, "sectorwise.rnc has to be:\n%s",
                  text_string(&wanted));
    arena_free(&arena);
    text_free(&wanted);
    xmlFreeDoc(document);
}
END_TEST

Suite *schemas_suite(void)
{
    Suite *suite = suite_create("schemas");
    TCase *tcase = tcase_create("schemas");
    tcase_add_test(tcase, valid_samples);
    tcase_add_test(tcase, other_samples);
    tcase_add_test(tcase, random_samples);
    tcase_add_test(tcase, compact_form);
    tcase_add_loop_test(tcase, changed_samples, 0, 5);
    suite_add_tcase(suite, tcase);
    return suite;
}
