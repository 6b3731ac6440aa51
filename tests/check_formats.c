/* The JSON that the tool writes against the schemas of its formats (advisor/share/FORMAT.schema.json): the views of all
 * descriptions in layouts/, the expected outputs of tests/golden, and what is changed in them. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "json_schema.h"
#include "sectorwise.h"
#include "source.h"
#include "text.h"

static json_t *load_schema(const char *format)
{
    struct text path = {0};
    text_printf(&path, "advisor/share/%s.schema.json", format);
    json_t *schema = json_load_file(text_string(&path), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(schema != NULL, "%s: there is no such schema, or it is no JSON", text_string(&path));
    text_free(&path);
    return schema;
}

static const char *format_of(const json_t *value)
{
    return json_string_value(json_object_get(value, "format"));
}

static void assert_valid(const char *name, const json_t *value)
{
    ck_assert_msg(format_of(value) != NULL, "%s: no format", name);
    json_t *schema = load_schema(format_of(value));
    struct text fault = {0};
    ck_assert_msg(json_schema_accepts(schema, value, &fault), "%s is not valid:\n%s", name, text_string(&fault));
    text_free(&fault);
    json_decref(schema);
}

START_TEST(schemas)
{
    glob_t found;
    ck_assert_int_eq(glob("advisor/share/*.schema.json", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 3);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct text fault = {0};
        json_t *schema = json_load_file(found.gl_pathv[i], JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(schema != NULL, "%s is no JSON", found.gl_pathv[i]);
        ck_assert_msg(json_schema_is_known(schema, &fault), "%s: %s", found.gl_pathv[i], text_string(&fault));
        const json_t *format = json_object_get(json_object_get(schema, "properties"), "format");
        const char *name = json_string_value(json_object_get(format, "const"));
        ck_assert_msg(name != NULL && strstr(found.gl_pathv[i], name) != NULL, "%s: is it of '%s'?", found.gl_pathv[i],
                      name == NULL ? "" : name);
        text_free(&fault);
        json_decref(schema);
    }
    globfree(&found);
}
END_TEST

/* ---- the checker itself ---- */

static const struct {
    const char *schema, *value;
    bool known, valid;
} rows[] = {
    {"{\"type\": \"integer\"}", "1", true, true},
    {"{\"type\": \"integer\"}", "1.5", true, false},
    {"{\"type\": \"number\"}", "1", true, true},
    {"{\"type\": [\"integer\", \"null\"]}", "null", true, true},
    {"{\"type\": [\"integer\", \"null\"]}", "\"\"", true, false},
    {"{\"minimum\": 1, \"maximum\": 2}", "2", true, true},
    {"{\"minimum\": 1, \"maximum\": 2}", "0", true, false},
    {"{\"minimum\": 1, \"maximum\": 2}", "3", true, false},
    {"{\"const\": \"a\"}", "\"a\"", true, true},
    {"{\"const\": \"a\"}", "\"b\"", true, false},
    {"{\"enum\": [\"a\", \"b\"]}", "\"b\"", true, true},
    {"{\"enum\": [\"a\", \"b\"]}", "\"c\"", true, false},
    {"{\"items\": {\"type\": \"string\"}}", "[\"a\"]", true, true},
    {"{\"items\": {\"type\": \"string\"}}", "[\"a\", 1]", true, false},
    {"{\"properties\": {\"a\": {}}, \"required\": [\"a\"]}", "{\"a\": 1}", true, true},
    {"{\"properties\": {\"a\": {}}, \"required\": [\"a\"]}", "{}", true, false},
    {"{\"properties\": {\"a\": {}}}", "{\"b\": 1}", true, false},
    {"{\"additionalProperties\": {\"type\": \"null\"}}", "{\"b\": null}", true, true},
    {"{\"additionalProperties\": {\"type\": \"null\"}}", "{\"b\": 1}", true, false},
    {"{\"$ref\": \"#/$defs/x\", \"$defs\": {\"x\": {\"type\": \"null\"}}}", "null", true, true},
    {"{\"$ref\": \"#/$defs/x\", \"$defs\": {\"x\": {\"type\": \"null\"}}}", "1", true, false},
    {"{\"anyOf\": [{\"type\": \"null\"}, {\"const\": 1}]}", "1", true, true},
    {"{\"anyOf\": [{\"type\": \"null\"}, {\"const\": 1}]}", "2", true, false},
    {"{\"$ref\": \"#/$defs/x\"}", "1", false, false},
    {"{\"properties\": {\"a\": {\"patern\": \"x\"}}}", "{}", false, true},
    {"{\"$defs\": {\"a\": {\"not\": {}}}}", "{}", false, true},
};

START_TEST(checker)
{
    json_t *schema = json_loads(rows[_i].schema, JSON_DECODE_ANY, NULL);
    json_t *value = json_loads(rows[_i].value, JSON_DECODE_ANY, NULL);
    struct text fault = {0};
    ck_assert_msg(json_schema_is_known(schema, &fault) == rows[_i].known, "row %d: %s", _i, text_string(&fault));
    if (rows[_i].known)
        ck_assert_msg(json_schema_accepts(schema, value, &fault) == rows[_i].valid, "row %d: %s", _i,
                      text_string(&fault));
    ck_assert_msg((fault.length == 0) == (rows[_i].known && rows[_i].valid), "row %d: '%s'", _i, text_string(&fault));
    text_free(&fault);
    json_decref(schema);
    json_decref(value);
}
END_TEST

/* ---- outputs ---- */

typedef enum sectorwise_status work(char **out, const struct sectorwise_job *job);

static json_t *view_of(const char *path, work *do_work)
{
    struct arena arena = {0};
    struct source *source;
    const char *reason = "";
    char *answer;
    ck_assert_int_eq(source_read(&source, &arena, path, &reason), SOURCE_OK);
    struct sectorwise_job job = {.bytes = source->bytes, .length = source->length, .name = path};
    ck_assert_msg(do_work(&answer, &job) == SECTORWISE_OK, "%s: %s", path, answer);
    json_t *view = json_loads(answer, 0, NULL);
    sectorwise_free(answer);
    arena_free(&arena);
    return view;
}

static void assert_view(const char *path, work *do_work)
{
    json_t *view = view_of(path, do_work);
    assert_valid(path, view);
    json_decref(view);
}

START_TEST(views)
{
    static const char *const quick[] = {"layouts/particles.xml", "layouts/transpose.xml", "layouts/tree_sum.xml",
                                        "layouts/bonds.xml"};
    glob_t found;
    ck_assert_int_eq(glob("layouts/*.xml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_view(found.gl_pathv[i], sectorwise_score);
    globfree(&found);
    for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
        assert_view(quick[i], sectorwise_rank);
}
END_TEST

/* Each golden output that is JSON of a format; `visit` gets its path. */
static size_t each_golden(void visit(const char *path, json_t *value))
{
    glob_t found;
    size_t count = 0;
    ck_assert_int_eq(glob("tests/golden/*/expected", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_t *value = json_load_file(found.gl_pathv[i], 0, NULL);
        const char *format = format_of(value);
        if (format != NULL && strncmp(format, "sectorwise-", strlen("sectorwise-")) == 0) {
            visit(found.gl_pathv[i], value);
            count++;
        }
        json_decref(value);
    }
    globfree(&found);
    return count;
}

static void visit_valid(const char *path, json_t *value)
{
    assert_valid(path, value);
}

START_TEST(goldens)
{
    ck_assert_uint_ge(each_golden(visit_valid), 3);
}
END_TEST

/* ---- what is changed is refused ---- */

struct changes {
    const char *path;
    json_t *schema, *root;
};

static void assert_refused(const struct changes *changes, const char *what, const char *key)
{
    struct text fault = {0};
    ck_assert_msg(!json_schema_accepts(changes->schema, changes->root, &fault), "%s: %s '%s' is accepted",
                  changes->path, what, key);
    text_free(&fault);
}

/* A value of a type that stands nowhere in its place. */
static json_t *unlike(const json_t *value)
{
    return json_is_object(value) || json_is_array(value) ? json_string("x") : json_array();
}

static void change_object(const struct changes *changes, json_t *object);

static void change_inside(const struct changes *changes, json_t *value)
{
    size_t index;
    json_t *item;
    if (json_is_object(value))
        change_object(changes, value);
    json_array_foreach(value, index, item)
    {
        change_inside(changes, item);
    }
}

static void change_object(const struct changes *changes, json_t *object)
{
    json_t *copy = json_copy(object), *value;
    const char *key;
    (void)json_object_set_new(object, "stray key", json_true());
    /* Objects from names to values take any name. */
    assert_refused(changes, "a new key", "stray key");
    (void)json_object_del(object, "stray key");
    json_object_foreach(copy, key, value)
    {
        json_incref(value);
        (void)json_object_set_new(object, key, unlike(value));
        assert_refused(changes, "another type of", key);
        (void)json_object_set_new(object, key, value);
        change_inside(changes, value);
    }
    json_decref(copy);
}

static void visit_changes(const char *path, json_t *value)
{
    struct changes changes = {path, load_schema(format_of(value)), value};
    change_object(&changes, value);
    (void)json_object_del(value, "format");
    assert_refused(&changes, "without", "format");
    json_decref(changes.schema);
}

START_TEST(changed_goldens)
{
    ck_assert_uint_ge(each_golden(visit_changes), 3);
}
END_TEST

Suite *formats_suite(void)
{
    Suite *suite = suite_create("formats");
    TCase *tcase = tcase_create("formats");
    tcase_add_test(tcase, schemas);
    tcase_add_loop_test(tcase, checker, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, goldens);
    tcase_add_test(tcase, changed_goldens);
    suite_add_tcase(suite, tcase);
    return suite;
}
