#include "template.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TESTS_DIR
#define TESTS_DIR "tests"
#endif

Suite *template_suite(void);

/* The partials of a test: a JSON object of strings. Sources made of them live in the arena. */
struct partials {
    struct arena *arena;
    const json_t *texts;
    int asked; /* how often any was looked for */
};

static const struct source *find_partial(void *context, const char *name)
{
    struct partials *partials = context;
    const json_t *text = json_object_get(partials->texts, name);
    partials->asked++;
    if (text == NULL)
        return NULL;
    return source_from_bytes(partials->arena, name, json_string_value(text), json_string_length(text));
}

/* One rendering and everything it needs. */
struct rendering {
    struct arena arena;
    struct diags diags;
    struct text out;
    struct text messages;
    struct partials partials;
    struct template_options options;
    bool ok;
};

static void render_bytes(struct rendering *r, const char *bytes, size_t length, const json_t *view)
{
    r->diags.arena = &r->arena;
    r->partials.arena = &r->arena;
    r->options.find = find_partial;
    r->options.find_context = &r->partials;
    const struct source *source = source_from_bytes(&r->arena, "t", bytes, length);
    r->ok = template_render(&r->out, source, view, &r->options, &r->diags);
    diag_render(&r->diags, &r->messages, false);
}

static void release(struct rendering *r)
{
    text_free(&r->out);
    text_free(&r->messages);
    arena_free(&r->arena);
}

static json_t *parse_json(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
    ck_assert_msg(value != NULL, "%s: %s", text, error.text);
    return value;
}

static const char *const spec_files[] = {
    "comments", "delimiters", "interpolation", "inverted", "partials", "sections", "~dynamic-names", "~inheritance",
};

START_TEST(spec_is_met)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/data/mustache-spec/%s.json", TESTS_DIR, spec_files[_i]);
    json_error_t error;
    json_t *spec = json_load_file(path, 0, &error);
    ck_assert_msg(spec != NULL, "%s: %s", path, error.text);
    const json_t *tests = json_object_get(spec, "tests");
    ck_assert_uint_gt(json_array_size(tests), 0);
    for (size_t i = 0; i < json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i);
        const char *template = json_string_value(json_object_get(test, "template"));
        const char *expected = json_string_value(json_object_get(test, "expected"));
        struct rendering r = {.options.escape_html = true};
        r.partials.texts = json_object_get(test, "partials");
        render_bytes(&r, template, strlen(template), json_object_get(test, "data"));
        ck_assert_msg(r.ok && strcmp(text_string(&r.out), expected) == 0, "%s, '%s': got '%s', expected '%s'\n%s", path,
                      json_string_value(json_object_get(test, "name")), text_string(&r.out), expected,
                      text_string(&r.messages));
        release(&r);
    }
    json_decref(spec);
}
END_TEST

enum { HTML = 1, STRICT = 2 };

struct row {
    const char *template;
    const char *view;
    const char *partials; /* NULL: none */
    const char *expected; /* the output, or the rendered diagnostics */
    unsigned flags;
};

static void check_row(const struct row *row, bool ok)
{
    json_t *view = parse_json(row->view);
    json_t *partials = parse_json(row->partials == NULL ? "{}" : row->partials);
    struct rendering r = {.options = {.escape_html = row->flags & HTML, .strict = row->flags & STRICT}};
    r.partials.texts = partials;
    text_puts(&r.out, "before|");
    render_bytes(&r, row->template, strlen(row->template), view);
    const char *got = ok ? text_string(&r.out) + strlen("before|") : text_string(&r.messages);
    ck_assert_msg(r.ok == ok && strcmp(got, row->expected) == 0, "'%s' gives:\n%s\nnot:\n%s\n%s", row->template, got,
                  row->expected, text_string(&r.messages));
    if (!ok)
        ck_assert_str_eq(text_string(&r.out), "before|");
    release(&r);
    json_decref(partials);
    json_decref(view);
}

static const struct row values[] = {
    {"{{a}} {{b}}", "{\"a\": 0, \"b\": -9223372036854775808}", NULL, "0 -9223372036854775808", 0},
    {"{{.}}", "9223372036854775807", NULL, "9223372036854775807", 0},
    {"{{.}}", "0.1", NULL, "0.1", 0},
    {"{{.}}", "3.0", NULL, "3.0", 0},
    {"{{.}}", "1e22", NULL, "1e22", 0},
    {"{{.}}", "0.30000000000000004", NULL, "0.30000000000000004", 0},
    {"{{.}}", "123456789012345.67", NULL, "123456789012345.67", 0},
    {"{{.}}", "5e-324", NULL, "5e-324", 0},
    {"{{.}}", "-1.7976931348623157e308", NULL, "-1.7976931348623157e308", 0},
    {"{{a}} {{b}} [{{c}}]", "{\"a\": true, \"b\": false, \"c\": null}", NULL, "true false []", 0},
    {"{{a}} {{{a}}} {{&a}}", "{\"a\": [1, {\"b\": \"<\"}]}", NULL,
     "[1,{&quot;b&quot;:&quot;&lt;&quot;}] [1,{\"b\":\"<\"}] [1,{\"b\":\"<\"}]", HTML},
    {"{{a}}", "{\"a\": \"<&>\\\"'\"}", NULL, "&lt;&amp;&gt;&quot;'", HTML},
    {"{{a}}", "{\"a\": \"<&>\\\"'\"}", NULL, "<&>\"'", 0},
    {"{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\": 0}", NULL, "yes", 0},
    {"{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\": \"\"}", NULL, "yes", 0},
    {"{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\": {}}", NULL, "yes", 0},
    {"{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\": []}", NULL, "no", 0},
};

static const struct row outputs[] = {
    {"", "{}", NULL, "", 0},
    {"{ {x} }", "{}", NULL, "{ {x} }", 0},
    {"{{ #a }}{{ . }}{{ /a }}", "{\"a\": [1, 2]}", NULL, "12", 0},
    {"{{=<% %>=}}<%{a}%><%={{ }}=%>{{a}}", "{\"a\": \"&\"}", NULL, "&&amp;", HTML},
    {"{{=\\E .*=}}\\Ea.*", "{\"a\": \"&\"}", NULL, "&", 0},
    {"{{=\xff \xfe=}}\xff{n}\xfe", "{\"n\": 1}", NULL, "1", 0},
    {"{{\xc3\xa9}}\x80", "{\"\xc3\xa9\": 1}", NULL, "1\x80", 0},
    {"{{! {{ }}x}}", "{}", NULL, "x}}", 0},
    {"{{! a }}{{! b }}\nx", "{}", NULL, "\nx", 0},
    {"  {{#a}} {{/a}}\n", "{\"a\": 1}", NULL, "   \n", 0},
    {"{{#a}}\r\nx\r\n{{/a}}\r\n", "{\"a\": [1, 2]}", NULL, "x\r\nx\r\n", 0},
    /* a tag that starts a line of an indented partial comes after the indentation, whatever it gives */
    {" {{>p}}\n", "{\"a\": [1, 2]}", "{\"p\": \"{{#a}}x{{/a}}\\n{{!c}}y\\n{{b}}\\n\"}", " xx\n y\n \n", 0},
    {" {{>p}}\n", "{}", "{\"p\": \"a\\n  {{>q}}\\nb {{>q}}\\n\", \"q\": \"1\\n2\\n\"}", " a\n   1\n   2\n b 1\n2\n\n",
     0},
    {" {{>p}}\n", "{}", "{\"p\": \"a\\n\\nb\\n\"}", " a\n \n b\n", 0},
    {"{{>*n}}", "{\"n\": 7}", "{\"7\": \"seven\"}", "seven", 0},
    {"{{>*n}}{{>*o}}", "{\"n\": [], \"o\": \"a\\u00e9\"}", "{}", "", 0},
    {"{{<*n}}{{$b}}x{{/b}}{{/*n}}{{<*n}}{{/ * n}}", "{\"n\": \"p\"}", "{\"p\": \"[{{$b}}y{{/b}}]\"}", "[x][y]", 0},
    {"{{<p}}{{$b}}1{{/b}}{{$b}}2{{/b}}{{/p}}", "{}", "{\"p\": \"{{$b}}{{/b}}\"}", "2", 0},
    /* an argument that contains the block that it is for */
    {"{{<p}}{{$b}}<{{$b}}in{{/b}}>{{/b}}{{/p}}", "{}", "{\"p\": \"{{$b}}out{{/b}}\"}", "<in>", 0},
    {"{{<p}}{{#s}}{{$b}}no{{/b}}{{/s}}{{>q}}{{v}}{{/p}}", "{\"s\": 1, \"v\": 2}", "{\"p\": \"{{$b}}yes{{/b}}\"}", "yes",
     0},
    {"{{<p}}{{$b}}x{{/b}}{{/p}}", "{}", "{\"p\": \"  {{$b}}\\n  default\\n  {{/b}}\\n.\"}", "  x.", 0},
    {"{{<p}}{{/p}}", "{}", "{\"p\": \"  {{$b}}\\n  default\\n  {{/b}}\\n.\"}", "  default\n.", 0},
    {"{{<p}}{{$b}}x\ny{{/b}}{{/p}}", "{}", "{\"p\": \"a {{$b}}z{{/b}}\\n  {{$b}}z{{/b}}\\n\"}", "a x\ny\n  x\n  y\n",
     0},
    {" {{<p}}{{/p}}\n", "{}", "{\"p\": \"  {{$b}}z{{/b}}\\n.\"}", "   z\n .", 0},
    /* an argument loses its own indentation and gets that of its place, below that of the parent's */
    {" {{<p}}\n     {{$b}}\n     x\n\n       y\n     {{/b}}\n {{/p}}\n", "{}",
     "{\"p\": \"({\\n  {{$b}}\\n  {{/b}}\\n})\\n\"}", " ({\n   x\n   \n     y\n })\n", 0},
    {"{{<p}}{{$b}}\n  x\n y\n  {{>q}}\n{{/b}}{{/p}}", "{}",
     "{\"p\": \"\\t{{$b}}\\n\\t{{/b}}\\n\", \"q\": \"1\\n2\\n\"}", "\tx\n\t y\n\t1\n\t2\n", 0},
    {"{{<p}}{{$b}}\n  x\n  {{<q}}\n    {{$c}}\n      y\n    {{/c}}\n  {{/q}}\n{{/b}}{{/p}}", "{}",
     "{\"p\": \"[\\n    {{$b}}{{/b}}\\n]\\n\", \"q\": \"(\\n  {{$c}}\\n  {{/c}}\\n)\\n\"}",
     "[\n    x\n    (\n      y\n    )\n\n]\n", 0},
    {"{{<p}}{{$b}}x{{/b}}{{/p}}", "{}",
     "{\"p\": \"{{<q}}{{$b}}p{{/b}}{{$c}}{{$b}}c{{/b}}{{/c}}{{/q}}\", \"q\": \"{{$b}}{{/b}}{{$c}}{{/c}}\"}", "xx", 0},
};

START_TEST(values_print)
{
    check_row(&values[_i], true);
}
END_TEST

START_TEST(outputs_are_as_expected)
{
    check_row(&outputs[_i], true);
}
END_TEST

static const struct row failures[] = {
    {"a {{b", "{}", NULL,
     "t:1:3: error: tag is not closed [template-unclosed]\n"
     "    1 | a {{b\n"
     "      |   ^~\n"
     "t:1:3: note: '}}' is missing\n",
     0},
    {"a\n{{{b}} {{c}}\n{{d}\n", "{}", NULL,
     "t:2:1: error: tag is not closed [template-unclosed]\n"
     "    2 | {{{b}} {{c}}\n"
     "      | ^~~\n"
     "t:2:1: note: '}}}' is missing\n"
     "t:3:1: error: tag is not closed [template-unclosed]\n"
     "    3 | {{d}\n"
     "      | ^~\n"
     "t:3:1: note: '}}' is missing\n",
     0},
    {"{{a {{b}}\n{{! never", "{}", NULL,
     "t:1:1: error: tag is not closed [template-unclosed]\n"
     "    1 | {{a {{b}}\n"
     "      | ^~\n"
     "t:1:1: note: '}}' is missing\n"
     "t:2:1: error: tag is not closed [template-unclosed]\n"
     "    2 | {{! never\n"
     "      | ^~~\n"
     "t:2:1: note: '}}' is missing\n",
     0},
    {"{{}} {{#}}{{/}} {{& }}", "{}", NULL,
     "t:1:1: error: tag without a name [template-syntax]\n"
     "    1 | {{}} {{#}}{{/}} {{& }}\n"
     "      | ^~~~\n"
     "t:1:6: error: tag without a name [template-syntax]\n"
     "    1 | {{}} {{#}}{{/}} {{& }}\n"
     "      |      ^~~~~\n"
     "t:1:17: error: tag without a name [template-syntax]\n"
     "    1 | {{}} {{#}}{{/}} {{& }}\n"
     "      |                 ^~~~~~\n",
     0},
    {"{{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}", "{}", NULL,
     "t:1:3: error: white space in the name 'a b' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |   ^~~\n"
     "t:1:13: error: white space in the name 'a b' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |             ^~~\n"
     "t:1:21: error: nothing before or after a dot in 'a..b' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |                     ^~~~\n"
     "t:1:30: error: nothing before or after a dot in '.a' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |                              ^~\n"
     "t:1:37: error: nothing before or after a dot in 'a.' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |                                     ^~\n"
     "t:1:46: error: nothing before or after a dot in 'a.' [template-syntax]\n"
     "    1 | {{a b}} {{> a b}} {{a..b}} {{.a}} {{a.}} {{>*a.}}\n"
     "      |                                              ^~\n",
     0},
    {"{{=x=}}{{= a b c =}}{{=[ ]", "{}", NULL,
     "t:1:1: error: malformed delimiters [template-syntax]\n"
     "    1 | {{=x=}}{{= a b c =}}{{=[ ]\n"
     "      | ^~~~~~~\n"
     "t:1:1: note: write two of them with a space between, as in {{=<% %>=}}\n"
     "t:1:8: error: malformed delimiters [template-syntax]\n"
     "    1 | {{=x=}}{{= a b c =}}{{=[ ]\n"
     "      |        ^~~~~~~~~~~~~\n"
     "t:1:8: note: write two of them with a space between, as in {{=<% %>=}}\n"
     "t:1:21: error: tag is not closed [template-unclosed]\n"
     "    1 | {{=x=}}{{= a b c =}}{{=[ ]\n"
     "      |                     ^~~\n"
     "t:1:21: note: '=}}' is missing\n",
     0},
    {"{{#a}}\n{{#b}}\n{{/a}}\n{{^c}}", "{}", NULL,
     "t:2:1: error: section 'b' is never closed [template-unclosed]\n"
     "    2 | {{#b}}\n"
     "      | ^~~~~~\n"
     "t:4:1: error: section 'c' is never closed [template-unclosed]\n"
     "    4 | {{^c}}\n"
     "      | ^~~~~~\n",
     0},
    {"{{/a}}{{#particles}}{{/partciles}}{{#b}}{{/x}}{{/b}}", "{}", NULL,
     "t:1:1: error: end tag 'a', but no section is open [template-unopened]\n"
     "    1 | {{/a}}{{#particles}}{{/partciles}}{{#b}}{{/x}}{{/b}}\n"
     "      | ^~~~~~\n"
     "t:1:21: error: end tag 'partciles', but the open section is 'particles' [template-unopened]\n"
     "    1 | {{/a}}{{#particles}}{{/partciles}}{{#b}}{{/x}}{{/b}}\n"
     "      |                     ^~~~~~~~~~~~~~\n"
     "t:1:21: note: did you mean 'particles'?\n"
     "t:1:41: error: end tag 'x', but the open section is 'b' [template-unopened]\n"
     "    1 | {{/a}}{{#particles}}{{/partciles}}{{#b}}{{/x}}{{/b}}\n"
     "      |                                         ^~~~~~\n",
     0},
    {"{{<p}}{{$title}}{{/p}}", "{}", NULL,
     "t:1:7: error: block 'title' is never closed [template-unclosed]\n"
     "    1 | {{<p}}{{$title}}{{/p}}\n"
     "      |       ^~~~~~~~~~\n",
     0},
    {"{{a}}\n{{>b}}{{^c}}{{/c}}", "{\"a\": null}", NULL,
     "t:2:4: error: missing partial 'b' [template-missing-partial]\n"
     "    2 | {{>b}}{{^c}}{{/c}}\n"
     "      |    ^\n"
     "t:2:10: error: unknown name 'c' [template-unknown-name]\n"
     "    2 | {{>b}}{{^c}}{{/c}}\n"
     "      |          ^\n",
     STRICT},
    {"{{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}", "{\"name\": 1, \"kernel\": {\"name\": 2}}",
     NULL,
     "t:1:3: error: unknown name 'nmae' [template-unknown-name]\n"
     "    1 | {{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}\n"
     "      |   ^~~~\n"
     "t:1:3: note: did you mean 'name'?\n"
     "t:1:12: error: unknown name 'kernel.nmae' [template-unknown-name]\n"
     "    1 | {{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}\n"
     "      |            ^~~~~~~~~~~\n"
     "t:1:12: note: did you mean 'kernel.name'?\n"
     "t:1:28: error: unknown name 'kernal.name' [template-unknown-name]\n"
     "    1 | {{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}\n"
     "      |                            ^~~~~~~~~~~\n"
     "t:1:28: note: did you mean 'kernel.name'?\n"
     "t:1:44: error: unknown name 'kernel.name.x' [template-unknown-name]\n"
     "    1 | {{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}\n"
     "      |                                            ^~~~~~~~~~~~~\n"
     "t:1:62: error: unknown name 'xyzzy' [template-unknown-name]\n"
     "    1 | {{nmae}} {{kernel.nmae}} {{kernal.name}} {{kernel.name.x}} {{xyzzy}}\n"
     "      |                                                              ^~~~~\n",
     STRICT},
    {"{{#list}}{{nmae}}{{>gone}}{{>*x.dyn}}\n{{/list}}",
     "{\"list\": [1, 2, 3], \"name\": 1, \"x\": {\"dyn\": \"away\"}}", NULL,
     "t:1:12: error: unknown name 'nmae' [template-unknown-name]\n"
     "    1 | {{#list}}{{nmae}}{{>gone}}{{>*x.dyn}}\n"
     "      |            ^~~~\n"
     "t:1:12: note: did you mean 'name'?\n"
     "t:1:21: error: missing partial 'gone' [template-missing-partial]\n"
     "    1 | {{#list}}{{nmae}}{{>gone}}{{>*x.dyn}}\n"
     "      |                     ^~~~\n"
     "t:1:31: error: missing partial 'away' [template-missing-partial]\n"
     "    1 | {{#list}}{{nmae}}{{>gone}}{{>*x.dyn}}\n"
     "      |                               ^~~~~\n",
     STRICT},
    {"{{#kernels}}{{#acesses}}{{/acesses}}{{/kernels}}", "{\"kernels\": [{\"accesses\": []}]}", NULL,
     "t:1:16: error: unknown name 'acesses' [template-unknown-name]\n"
     "    1 | {{#kernels}}{{#acesses}}{{/acesses}}{{/kernels}}\n"
     "      |                ^~~~~~~\n"
     "t:1:16: note: did you mean 'accesses'?\n",
     STRICT},
    {"{{>p}}{{>p}}", "{}", "{\"p\": \"x\\n  {{#y}}\\n{{\"}",
     "p:3:1: error: tag is not closed [template-unclosed]\n"
     "    3 | {{\n"
     "      | ^~\n"
     "p:3:1: note: '}}' is missing\n",
     0},
    {"{{>p}}", "{}", "{\"p\": \"{{>p}}\"}",
     "p:1:1: error: partials nested more than 100 deep [template-recursion]\n"
     "    1 | {{>p}}\n"
     "      | ^~~~~~\n",
     0},
    {"{{<p}}{{$b}}{{/b}}{{/p}}", "{}", "{\"p\": \"{{<p}}{{$b}}{{/b}}{{/p}}\"}",
     "p:1:1: error: partials nested more than 100 deep [template-recursion]\n"
     "    1 | {{<p}}{{$b}}{{/b}}{{/p}}\n"
     "      | ^~~~~~\n",
     0},
    {"{{a\033[31mb c}}", "{}", NULL,
     "t:1:3: error: white space in the name 'a?[31mb c' [template-syntax]\n"
     "    1 | {{a?[31mb c}}\n"
     "      |   ^~~~~~~~~\n",
     0},
};

START_TEST(failures_are_reported)
{
    check_row(&failures[_i], false);
}
END_TEST

/* `count` copies of `piece`, appended. */
static void repeat(struct text *text, const char *piece, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_puts(text, piece);
}

/* Renders a template that breaks a limit, and compares the diagnostic's message with its id. */
static void check_limit(const struct text *template, const char *view_text, const char *partials_text,
                        const char *expected)
{
    json_t *view = parse_json(view_text);
    json_t *partials = parse_json(partials_text);
    struct rendering r = {.partials.texts = partials};
    render_bytes(&r, text_string(template), template->length, view);
    if (expected == NULL)
        ck_assert_msg(r.ok, "%s", text_string(&r.messages));
    else
        ck_assert_msg(!r.ok && r.diags.count > 0 && strstr(text_string(&r.messages), expected) != NULL,
                      "'%s' is not in:\n%s", expected, text_string(&r.messages));
    ck_assert_uint_eq(r.ok ? 0 : r.out.length, 0);
    release(&r);
    json_decref(partials);
    json_decref(view);
}

START_TEST(section_nesting_is_bounded)
{
    struct text template = {0};
    repeat(&template, "{{#a}}", 200);
    text_puts(&template, "x");
    repeat(&template, "{{/a}}", 200);
    check_limit(&template, "{\"a\": 1}", "{}", NULL);
    template.length = 0;
    repeat(&template, "{{#a}}", 201);
    repeat(&template, "{{/a}}", 201);
    check_limit(&template, "{\"a\": 1}", "{}",
                "t:1:1201: error: sections nested more than 200 deep [template-too-large]");
    text_free(&template);
}
END_TEST

START_TEST(partial_nesting_is_bounded)
{
    struct text template = {0}, view = {0};
    text_puts(&template, "{{>p}}");
    const char *partials = "{\"p\": \"{{#n}}{{>p}}{{/n}}\"}";
    repeat(&view, "{\"n\": ", 99);
    text_puts(&view, "{\"n\": null}");
    repeat(&view, "}", 99);
    check_limit(&template, text_string(&view), partials, NULL);
    check_limit(&template, "{\"n\": {}}", partials, "partials nested more than 100 deep [template-recursion]");
    text_free(&view);
    text_free(&template);
}
END_TEST

START_TEST(depth_of_rendering_is_bounded)
{
    struct text template = {0}, partials = {0};
    text_puts(&template, "{{>p}}");
    text_puts(&partials, "{\"p\": \"");
    repeat(&partials, "{{#a}}", 20);
    text_puts(&partials, "{{>p}}");
    repeat(&partials, "{{/a}}", 20);
    text_puts(&partials, "\"}");
    check_limit(&template, "{\"a\": 1}", text_string(&partials),
                "sections and partials nested more than 1000 deep [template-recursion]");
    text_free(&partials);
    text_free(&template);
}
END_TEST

START_TEST(output_is_bounded)
{
    struct text template = {0}, view = {0};
    text_puts(&template, "{{#a}}{{#a}}{{#a}}{{s}}{{/a}}{{/a}}{{/a}}");
    text_puts(&view, "{\"s\": \"");
    text_repeat(&view, 'x', 1 << 20);
    text_puts(&view, "\", \"a\": [1, 2, 3, 4, 5, 6, 7]}");
    check_limit(&template, text_string(&view), "{}", "t:1:19: error: output of more than 256 MiB [template-too-large]");
    text_free(&view);
    text_free(&template);
}
END_TEST

START_TEST(indentation_is_bounded)
{
    struct text template = {0}, partials = {0};
    text_puts(&template, "{{>p}}");
    text_puts(&partials, "{\"p\": \"");
    text_repeat(&partials, ' ', 100 * 1000);
    text_puts(&partials, "{{>p}}\"}");
    check_limit(&template, "{}", text_string(&partials), "indentation of more than 1 MiB [template-too-large]");
    text_free(&partials);
    text_free(&template);
}
END_TEST

/* 50^10 rounds that print nothing. */
START_TEST(steps_are_bounded)
{
    struct text template = {0}, view = {0};
    repeat(&template, "{{#a}}", 10);
    repeat(&template, "{{/a}}", 10);
    text_puts(&view, "{\"a\": [1");
    repeat(&view, ", 1", 49);
    text_puts(&view, "]}");
    check_limit(&template, text_string(&view), "{}", "steps [template-too-large]");
    text_free(&view);
    text_free(&template);
}
END_TEST

START_TEST(tags_and_names_are_bounded)
{
    struct text template = {0};
    text_puts(&template, "{{");
    text_repeat(&template, 'x', 256);
    text_puts(&template, "}}");
    check_limit(&template, "{}", "{}", "t:1:3: error: name longer than 255 bytes [template-syntax]");
    template.length = 0;
    text_puts(&template, "{{=");
    text_repeat(&template, 'x', 65);
    text_puts(&template, " y=}}");
    check_limit(&template, "{}", "{}", "t:1:1: error: delimiter longer than 64 bytes [template-syntax]");
    template.length = 0;
    repeat(&template, "{{!}}", 1000 * 1000);
    check_limit(&template, "{}", "{}", NULL);
    text_puts(&template, "{{!}}");
    check_limit(&template, "{}", "{}", "t:1:5000001: error: more than 1000000 tags [template-too-large]");
    text_free(&template);
}
END_TEST

START_TEST(many_errors_are_counted)
{
    struct text template = {0};
    repeat(&template, "{{}}\n", 100);
    check_limit(&template, "{}", "{}", "t:64:1: error: tag without a name [template-syntax]");
    template.length = 0;
    /* each of these looks for its end in all the rest */
    repeat(&template, "{{{a\n", 200 * 1000);
    check_limit(&template, "{}", "{}", "t:1:1: error: tag is not closed [template-unclosed]");
    text_free(&template);
}
END_TEST

START_TEST(nul_and_high_bytes_are_text)
{
    static const char template[] = "a\0\xff{{b}}\0{{!\0}}\xc3";
    json_t *view = parse_json("{\"b\": 1}");
    struct rendering r = {0};
    render_bytes(&r, template, sizeof(template) - 1, view);
    ck_assert_msg(r.ok, "%s", text_string(&r.messages));
    ck_assert_uint_eq(r.out.length, 6);
    ck_assert_mem_eq(r.out.bytes,
                     "a\0\xff"
                     "1\0\xc3",
                     6);
    release(&r);
    struct rendering bad = {0};
    render_bytes(&bad, "{{b\0c}}", 7, view);
    ck_assert_str_eq(text_string(&bad.messages), "t:1:3: error: NUL byte in a name [template-syntax]\n"
                                                 "    1 | {{b?c}}\n"
                                                 "      |   ^~~\n");
    release(&bad);
    json_decref(view);
}
END_TEST

START_TEST(a_partial_is_parsed_once)
{
    struct text template = {0}, view = {0};
    text_puts(&template, "{{#a}}\n  {{>p}}\n{{/a}}\n");
    text_puts(&view, "{\"a\": [0");
    repeat(&view, ", 0", 9999);
    text_puts(&view, "]}");
    json_t *value = parse_json(text_string(&view));
    json_t *partials = parse_json("{\"p\": \"{{.}}\\n\"}");
    struct rendering r = {.partials.texts = partials};
    render_bytes(&r, text_string(&template), template.length, value);
    ck_assert_msg(r.ok, "%s", text_string(&r.messages));
    ck_assert_uint_eq(r.out.length, 10000 * strlen("  0\n"));
    ck_assert_int_eq(r.partials.asked, 1);
    release(&r);
    json_decref(partials);
    json_decref(value);
    text_free(&view);
    text_free(&template);
}
END_TEST

/* Whatever the bytes, a rendering either succeeds or says why it does not. */
static void check_any(const char *bytes, size_t length, const json_t *view, const json_t *partials)
{
    struct rendering r = {.options.strict = length % 2 == 0, .partials.texts = partials};
    render_bytes(&r, bytes, length, view);
    ck_assert_msg(r.ok == !diag_failed(&r.diags), "'%.*s' fails without a reason", (int)length, bytes);
    ck_assert_msg(r.ok || r.out.length == 0, "'%.*s' fails and leaves output", (int)length, bytes);
    release(&r);
}

/* Renders the specification's templates, each cut off everywhere and with each byte replaced by another. */
START_TEST(damaged_templates_do_no_harm)
{
    static const char bytes[] = "{}#/^<>$&!=. \n\xff";
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/data/mustache-spec/%s.json", TESTS_DIR, spec_files[_i]);
    json_t *spec = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(spec);
    const json_t *tests = json_object_get(spec, "tests");
    for (size_t i = 0; i < json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i);
        const json_t *view = json_object_get(test, "data"), *partials = json_object_get(test, "partials");
        char template[1024];
        size_t length = json_string_length(json_object_get(test, "template"));
        ck_assert_uint_lt(length, sizeof(template));
        memcpy(template, json_string_value(json_object_get(test, "template")), length);
        for (size_t at = 0; at < length; at++) {
            char was = template[at];
            check_any(template, at, view, partials);
            template[at] = bytes[(at + i) % sizeof(bytes)];
            check_any(template, length, view, partials);
            template[at] = was;
        }
    }
    json_decref(spec);
}
END_TEST

Suite *template_suite(void)
{
    Suite *suite = suite_create("template");
    TCase *cases = tcase_create("template");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, spec_is_met, 0, sizeof(spec_files) / sizeof(spec_files[0]));
    tcase_add_loop_test(cases, values_print, 0, sizeof(values) / sizeof(values[0]));
    tcase_add_loop_test(cases, outputs_are_as_expected, 0, sizeof(outputs) / sizeof(outputs[0]));
    tcase_add_loop_test(cases, failures_are_reported, 0, sizeof(failures) / sizeof(failures[0]));
    tcase_add_loop_test(cases, damaged_templates_do_no_harm, 0, sizeof(spec_files) / sizeof(spec_files[0]));
    tcase_add_test(cases, section_nesting_is_bounded);
    tcase_add_test(cases, partial_nesting_is_bounded);
    tcase_add_test(cases, depth_of_rendering_is_bounded);
    tcase_add_test(cases, output_is_bounded);
    tcase_add_test(cases, indentation_is_bounded);
    tcase_add_test(cases, steps_are_bounded);
    tcase_add_test(cases, tags_and_names_are_bounded);
    tcase_add_test(cases, many_errors_are_counted);
    tcase_add_test(cases, nul_and_high_bytes_are_text);
    tcase_add_test(cases, a_partial_is_parsed_once);
    suite_add_tcase(suite, cases);
    return suite;
}
