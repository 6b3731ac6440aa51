#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "emit_check.h"
#include "emit_diff.h"
#include "emit_show.h"

/* SARIF's keys are not ours: https://docs.oasis-open.org/sarif/sarif/v2.1.0. */

static const char cost_rule[] = "cost-regression";

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        abort();
}

static void append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0)
        abort();
}

static json_t *make_message(const char *text)
{
    json_t *message = json_object();
    set(message, "text", json_string(text));
    return message;
}

/* A path as a reference: bytes that a URI may not hold as %XX; what is relative stays so, to the top of the sources. */
static json_t *make_artifact(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    json_t *artifact = json_object();
    struct text uri = {0};
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (path[0] == '/')
        text_puts(&uri, "file://");
    for (; *path != '\0'; path++)
        text_printf(&uri, strchr(plain, *path) != NULL ? "%c" : "%%%02X", (unsigned char)*path);
    set(artifact, "uri", json_string(text_string(&uri)));
    if (text_string(&uri)[0] != 'f' || strncmp(text_string(&uri), "file://", 7) != 0)
        set(artifact, "uriBaseId", json_string("%SRCROOT%"));
    text_free(&uri);
    return artifact;
}

/* `place` has the keys of a place; `file` is where to point to if it has none. */
static json_t *make_location(const json_t *place, const char *file)
{
    json_t *location = json_object(), *physical = json_object(), *region = json_object();
    const char *name = get_text(place, "file");
    set(physical, "artifactLocation", make_artifact(name[0] == '\0' ? file : name));
    int64_t line = get_count(place, "line"), from = get_count(place, "character"),
            to = get_count(place, "end_character");
    set(region, "startLine", json_integer(line > 0 ? line : 1));
    set(region, "startColumn", json_integer(from > 0 ? from : 1));
    if (to > from)
        set(region, "endColumn", json_integer(to));
    set(physical, "region", region);
    set(location, "physicalLocation", physical);
    return location;
}

struct log {
    struct arena arena;
    json_t *rules, *results;
};

/* "unknown-type": "unknown type". Code hosts want two descriptions and a help of each rule. */
static json_t *make_rule(struct log *log, const char *id, const char *level)
{
    char *words = arena_copy(&log->arena, id, strlen(id));
    for (char *c = words; *c != '\0'; c++)
        if (*c == '-')
            *c = ' ';
    bool cost = strcmp(id, cost_rule) == 0;
    const char *full =
        cost ? "A kernel moves more, or is estimated slower, than with the old description."
             : arena_printf(&log->arena,
                            strcmp(level, "error") == 0 ? "The description has an error: %s."
                                                        : "The description may not say what is meant: %s.",
                            words);
    const char *help =
        cost ? "'sectorwise diff OLD NEW' tells what has changed, 'sectorwise rank' which layouts cost less."
             : "'sectorwise check' shows the place and, where one is known, the mend.";
    json_t *rule = json_object();
    set(rule, "id", json_string(id));
    set(rule, "shortDescription", make_message(words));
    set(rule, "fullDescription", make_message(full));
    set(rule, "help", make_message(help));
    return rule;
}

static json_int_t find_rule(struct log *log, const char *id, const char *level)
{
    const json_t *rule;
    size_t i;
    json_array_foreach(log->rules, i, rule)
    {
        if (strcmp(get_text(rule, "id"), id) == 0)
            return (json_int_t)i;
    }
    append(log->rules, make_rule(log, id, level));
    return (json_int_t)json_array_size(log->rules) - 1;
}

static void add_result(struct log *log, const char *id, const char *level, const char *message, const json_t *place,
                       const char *file)
{
    json_t *result = json_object(), *locations = json_array();
    set(result, "ruleId", json_string(id));
    set(result, "ruleIndex", json_integer(find_rule(log, id, level)));
    set(result, "level", json_string(level));
    set(result, "message", make_message(message));
    append(locations, make_location(place, file));
    set(result, "locations", locations);
    append(log->results, result);
}

static void add_diagnostic(struct log *log, const json_t *diagnostic, const char *file)
{
    const char *note = get_text(diagnostic, "note"), *message = get_text(diagnostic, "message");
    if (note[0] != '\0')
        message = arena_printf(&log->arena, "%s; %s", message, note);
    add_result(log, get_text(diagnostic, "id"), get_text(diagnostic, "severity"), message, diagnostic, file);
}

static const char *show_causes(struct log *log, const json_t *causes)
{
    const json_t *cause;
    size_t i;
    const char *text = "";
    json_array_foreach(causes, i, cause)
    {
        text = arena_printf(&log->arena, "%s; %s", text, show_diff_change(&log->arena, cause, false));
    }
    return text;
}

static void add_access(struct log *log, const json_t *regression, const json_t *access, const char *file)
{
    struct arena *arena = &log->arena;
    const char *growth =
        show_check_growth(arena, get_text(access, "measure"), get_real(access, "before"), get_real(access, "after"));
    const char *message =
        arena_printf(arena, "kernel %s costs more: %s: %s%s", get_text(regression, "kernel"),
                     show_check_access(arena, access), growth, show_causes(log, json_object_get(access, "causes")));
    add_result(log, cost_rule, "error", message, access, file);
}

/* A kernel that costs more by no access of its own. */
static void add_kernel(struct log *log, const json_t *regression, const char *file)
{
    struct arena *arena = &log->arena;
    const json_t *time = json_object_get(json_object_get(regression, "figures"), "time_us");
    const char *growth = show_check_growth(arena, "time_us", get_real(time, "before"), get_real(time, "after"));
    const char *message = arena_printf(arena, "kernel %s costs more: %s%s", get_text(regression, "kernel"), growth,
                                       show_causes(log, json_object_get(regression, "causes")));
    add_result(log, cost_rule, "error", message, regression, file);
}

static void add_file(struct log *log, const json_t *file)
{
    const char *name = get_text(file, "name");
    const json_t *item, *access;
    size_t i, j;
    json_array_foreach(json_object_get(file, "diagnostics"), i, item)
    {
        add_diagnostic(log, item, name);
    }
    json_array_foreach(json_object_get(file, "regressions"), i, item)
    {
        json_array_foreach(json_object_get(item, "accesses"), j, access)
        {
            add_access(log, item, access, name);
        }
        if (json_array_size(json_object_get(item, "accesses")) == 0)
            add_kernel(log, item, name);
    }
}

static json_t *make_tool(json_t *rules, const char *version)
{
    json_t *tool = json_object(), *driver = json_object();
    set(driver, "name", json_string("sectorwise"));
    set(driver, "version", json_string(version));
    set(driver, "rules", rules);
    set(tool, "driver", driver);
    return tool;
}

void emit_sarif(struct text *out, const json_t *view, const char *version)
{
    struct log log = {.rules = json_array(), .results = json_array()};
    const json_t *file;
    size_t i;
    json_array_foreach(json_object_get(view, "files"), i, file)
    {
        add_file(&log, file);
    }
    json_t *root = json_object(), *runs = json_array(), *run = json_object();
    set(root, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    set(root, "version", json_string("2.1.0"));
    set(run, "tool", make_tool(log.rules, version));
    set(run, "columnKind", json_string("unicodeCodePoints"));
    set(run, "results", log.results);
    append(runs, run);
    set(root, "runs", runs);
    emit_json(out, root);
    json_decref(root);
    arena_free(&log.arena);
}
