/* `sectorwise render` as users run it: the whole Mustache specification, and what the command adds to it. */
#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

/* A folder of its own for each rendering's template, view and partials. */
struct workplace {
    char folder[64];
    struct text out, err;
    int status;
};

static void open_workplace(struct workplace *place)
{
    *place = (struct workplace){.folder = "/tmp/sectorwise-render-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(place->folder));
}

static void write_file(const struct workplace *place, const char *name, const char *bytes, size_t length)
{
    char path[512];
    ck_assert_int_lt(snprintf(path, sizeof(path), "%s/%s", place->folder, name), (int)sizeof(path));
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_text(const struct workplace *place, const char *name, const char *text)
{
    write_file(place, name, text, strlen(text));
}

static void read_text(struct text *out, const struct workplace *place, const char *name)
{
    char path[512], buffer[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", place->folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t got;
    text_free(out);
    while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0)
        text_append(out, buffer, got);
    ck_assert_int_eq(fclose(file), 0);
}

static void redirect(const char *name, int descriptor)
{
    enum { MODE = 0600 };
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, MODE);
    if (file < 0 || dup2(file, descriptor) < 0)
        _exit(126);
    (void)close(file);
}

/* Runs the tool in the folder. `arguments` ends with NULL; the first is the command. */
static void run_tool(struct workplace *place, const char *const arguments[])
{
    const char *named = getenv("SECTORWISE");
    char tool[1024], here[512];
    named = named != NULL ? named : "build/sectorwise";
    ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
    (void)snprintf(tool, sizeof(tool), "%s/%s", named[0] == '/' ? "" : here, named);
    ck_assert_msg(access(tool, X_OK) == 0, "there is no tool to test: set SECTORWISE");
    const char *argv[16] = {tool};
    for (size_t i = 0; arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (chdir(place->folder) != 0)
            _exit(126);
        redirect("out", STDOUT_FILENO);
        redirect("err", STDERR_FILENO);
        /* execv leaves its words alone. NOLINTNEXTLINE(performance-no-int-to-ptr) */
        (void)execv(tool, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    place->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_text(&place->out, place, "out");
    read_text(&place->err, place, "err");
}

static void close_workplace(struct workplace *place)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
    text_free(&place->out);
    text_free(&place->err);
}

/* ---- the specification --------------------------------------------------------------------------------------------
 */

static void check_spec_test(const char *file, const json_t *test)
{
    struct workplace place;
    open_workplace(&place);
    const json_t *template = json_object_get(test, "template");
    write_file(&place, "t.mustache", json_string_value(template), json_string_length(template));
    char *view = json_dumps(json_object_get(test, "data"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    write_text(&place, "view.json", view);
    free(view);
    const char *name;
    json_t *partial;
    json_object_foreach(json_object_get(test, "partials"), name, partial)
    {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s.mustache", name);
        write_file(&place, path, json_string_value(partial), json_string_length(partial));
    }
    run_tool(&place, (const char *const[]){"render", "t.mustache", "--data", "view.json", "--partials", ".", "--escape",
                                           "html", NULL});
    ck_assert_msg(place.status == 0 &&
                      strcmp(text_string(&place.out), json_string_value(json_object_get(test, "expected"))) == 0,
                  "%s, '%s': exit %d, got '%s'\n%s", file, json_string_value(json_object_get(test, "name")),
                  place.status, text_string(&place.out), text_string(&place.err));
    close_workplace(&place);
}

static size_t check_spec_file(const char *file)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/data/mustache-spec/%s.json", TESTS_DIR, file);
    json_error_t error;
    json_t *spec = json_load_file(path, 0, &error);
    ck_assert_msg(spec != NULL, "%s: %s", path, error.text);
    const json_t *tests = json_object_get(spec, "tests");
    size_t count = json_array_size(tests);
    for (size_t i = 0; i < count; i++)
        check_spec_test(file, json_array_get(tests, i));
    json_decref(spec);
    return count;
}

START_TEST(core_of_the_specification)
{
    static const char *const files[] = {"comments", "delimiters", "interpolation", "inverted", "partials", "sections"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        count += check_spec_file(files[i]);
    ck_assert_uint_eq(count, 136);
}
END_TEST

START_TEST(inheritance_of_the_specification)
{
    ck_assert_uint_eq(check_spec_file("~inheritance"), 27);
}
END_TEST

START_TEST(dynamic_names_of_the_specification)
{
    ck_assert_uint_gt(check_spec_file("~dynamic-names"), 0);
}
END_TEST

/* ---- what the command adds ----------------------------------------------------------------------------------------
 */

static const struct {
    const char *template;     /* of a.mustache; the view is {"a": "<"}, and part.mustache says [{{a}}] */
    const char *arguments[6]; /* beside: render a.mustache --data view.json --partials . */
    int status;
    const char *out;
    const char *err; /* is in what it says */
} commands[] = {
    {"{{a}}{{>part}}", {NULL}, 0, "<[<]", ""},
    {"{{a}}{{>part}}", {"--escape", "html", NULL}, 0, "&lt;[&lt;]", ""},
    {"{{a}}{{>missing}}.{{b}}", {NULL}, 0, "<.", ""},
    {"x\n{{b}}", {"--strict", NULL}, 2, "", "a.mustache:2:3: error: "},
    {"x\n{{b}}", {"--strict", NULL}, 2, "", "'b'"},
    {"x\n {{>missing}}", {"--strict", NULL}, 2, "", "a.mustache:2:5: error: "},
    {"x\n {{>missing}}", {"--strict", NULL}, 2, "", "'missing'"},
    {"{{>forever}}", {NULL}, 2, "", "forever.mustache:1:"},
    {"a\n{{#a}}", {NULL}, 2, "", "a.mustache:2:"},
};

START_TEST(commands_do)
{
    struct workplace place;
    open_workplace(&place);
    write_text(&place, "a.mustache", commands[_i].template);
    write_text(&place, "part.mustache", "[{{a}}]");
    write_text(&place, "forever.mustache", "x{{>forever}}");
    write_text(&place, "view.json", "{\"a\": \"<\"}");
    const char *arguments[16] = {"render", "a.mustache", "--data", "view.json", "--partials", "."};
    for (size_t i = 0; commands[_i].arguments[i] != NULL; i++)
        arguments[6 + i] = commands[_i].arguments[i];
    run_tool(&place, arguments);
    ck_assert_int_eq(place.status, commands[_i].status);
    ck_assert_str_eq(text_string(&place.out), commands[_i].out);
    ck_assert_msg(strstr(text_string(&place.err), commands[_i].err) != NULL, "row %d says:\n%s", _i,
                  text_string(&place.err));
    close_workplace(&place);
}
END_TEST

START_TEST(html_is_escaped_by_name)
{
    struct workplace place;
    open_workplace(&place);
    write_text(&place, "a.html.mustache", "{{a}}");
    write_text(&place, "view.json", "{\"a\": \"<\"}");
    run_tool(&place, (const char *const[]){"render", "a.html.mustache", "--data", "view.json", NULL});
    ck_assert_str_eq(text_string(&place.out), "&lt;");
    run_tool(&place,
             (const char *const[]){"render", "a.html.mustache", "--data", "view.json", "--escape", "none", NULL});
    ck_assert_str_eq(text_string(&place.out), "<");
    close_workplace(&place);
}
END_TEST

Suite *render_suite(void)
{
    Suite *suite = suite_create("render");
    TCase *cases = tcase_create("render");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, core_of_the_specification);
    tcase_add_test(cases, inheritance_of_the_specification);
    tcase_add_test(cases, dynamic_names_of_the_specification);
    tcase_add_loop_test(cases, commands_do, 0, sizeof(commands) / sizeof(commands[0]));
    tcase_add_test(cases, html_is_escaped_by_name);
    suite_add_tcase(suite, cases);
    return suite;
}
