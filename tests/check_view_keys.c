/* advisor/VIEW.md against the views of code: every key that a view has is documented where it stands, and every key
 * that is documented is in some view. */
#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "candidates.h"
#include "check.h" /* of advisor */
#include "device.h"
#include "read.h"
#include "view_code.h"

Suite *view_keys_suite(void);

/* Keys as "statements.loop.variable"; sets are JSON objects with the keys as members. */
struct keys {
    json_t *met, *documented;
};

/* Where views of one form stand, by the last keys on the way to them, and the section of VIEW.md that documents them.
 */
static const struct {
    const char *end, *section;
} forms[] = {
    {".statements", "statements"},
    {".yes", "kernels.reference"},
    {".no", "kernels.reference"},
    {".loops", "loops"},
    {".locals", "locals"},
    {".accessors", "accessors"},
    {".global_arrays", "arrays"},
    {".grid", "kernels.block"},
    {"kernels.steps", "step"},
    {"statements.step", "step"},
    {"step.reads", "step.values"},
    {"step.writes", "step.values"},
    {"step.adds", "step.values"},
    {".load_pieces", "step.accesses.pieces"},
    {".load_together", "step.accesses.together"},
    {".store_together", "step.accesses.together"},
    {".store_pieces", "step.accesses.pieces"},
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static const char *section_of(struct arena *arena, const char *section, const char *key)
{
    const char *path = arena_printf(arena, "%s.%s", section, key);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (ends_with(path, forms[i].end))
            return forms[i].section;
    return section[0] == '\0' ? key : path;
}

static void walk(struct keys *keys, struct arena *arena, const char *section, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        walk(keys, arena, section, json_array_get(value, i));
    const char *key;
    json_t *child;
    /* The walk only looks. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    json_object_foreach((json_t *)(uintptr_t)value, key, child)
    {
        bool position = strcmp(key, "first") == 0 || strcmp(key, "last") == 0; /* in every list */
        if (!position || strcmp(section, "names") == 0)
            (void)json_object_set_new(keys->met, arena_printf(arena, "%s: %s", section, key), json_true());
        walk(keys, arena, section_of(arena, section, key), child);
    }
}

static void walk_description(struct keys *keys, const char *path, const char *candidate)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    const struct restriction restriction = {candidate};
    struct source *source;
    const char *reason;
    ck_assert_msg(source_read(&source, &arena, path, &reason) == SOURCE_OK, "%s", path);
    struct device *device = device_load(&arena, "h200", &diags);
    struct spec *spec = read_spec(&arena, source, &diags);
    ck_assert_msg(spec != NULL && check_spec(spec, &arena, device, NULL, 0, &diags), "%s", path);
    struct option **chosen = candidates_choose(spec, device, &arena, &restriction, candidate != NULL, &diags);
    ck_assert_msg(chosen != NULL, "%s with %s", path, candidate);
    json_t *view = view_code(spec, device, chosen, &arena, &diags);
    ck_assert_ptr_nonnull(view);
    walk(keys, &arena, "", view);
    json_decref(view);
    arena_free(&arena);
}

/* A description of tests/generated with each of the candidates for its array `a` that its first line names. */
static void walk_candidates(struct keys *keys, const char *path)
{
    char line[1024] = "";
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
    ck_assert_int_eq(fclose(file), 0);
    char *rest = strstr(line, "candidates: ");
    ck_assert_msg(rest != NULL, "%s names no candidates", path);
    rest += strlen("candidates: ");
    for (char *candidate = strtok_r(rest, ";\n", &rest); candidate != NULL; candidate = strtok_r(NULL, ";\n", &rest)) {
        char chosen[256];
        candidate += strspn(candidate, " ");
        size_t length = strlen(candidate);
        while (length > 0 &&
               (candidate[length - 1] == ' ' || candidate[length - 1] == '>' || candidate[length - 1] == '-'))
            length--;
        (void)snprintf(chosen, sizeof(chosen), "a=%.*s", (int)length, candidate);
        walk_description(keys, path, chosen);
    }
}

static void walk_folder(struct keys *keys, const char *folder, bool with_candidates)
{
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[512];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (!ends_with(path, ".xml"))
            continue;
        if (with_candidates)
            walk_candidates(keys, path);
        else
            walk_description(keys, path, NULL);
    }
    ck_assert_int_eq(closedir(directory), 0);
}

/* "arrays: name" for a row "| `name` | ..." below a heading "## `arrays`: ...". */
static void read_page(struct keys *keys, const char *path)
{
    char line[1024], section[128] = "-";
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "there is no %s", path);
    while (fgets(line, sizeof(line), file) != NULL) {
        char name[128], key[300];
        if (strncmp(line, "## the view", strlen("## the view")) == 0)
            section[0] = '\0';
        else if (sscanf(line, "## `%127[^`]`", name) == 1)
            (void)snprintf(section, sizeof(section), "%s", name);
        else if (strcmp(section, "-") != 0 && sscanf(line, "| `%127[^`]` |", name) == 1) {
            (void)snprintf(key, sizeof(key), "%s: %s", section, name);
            ck_assert_msg(json_object_get(keys->documented, key) == NULL, "%s is documented twice", key);
            (void)json_object_set_new(keys->documented, key, json_true());
        }
    }
    ck_assert_int_eq(fclose(file), 0);
}

/* The keys of one set that the other lacks, a line each. */
static char *missing(struct arena *arena, json_t *from, const json_t *in)
{
    char *text = arena_printf(arena, "%s", "");
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        if (json_object_get(in, key) == NULL)
            text = arena_printf(arena, "%s\n%s", text, key);
    }
    return text;
}

START_TEST(page_has_every_key)
{
    struct arena arena = {0};
    struct keys keys = {json_object(), json_object()};
    walk_folder(&keys, TESTS_DIR "/generated", true);
    walk_folder(&keys, LAYOUTS_DIR, false);
    read_page(&keys, TESTS_DIR "/../advisor/VIEW.md");
    const char *undocumented = missing(&arena, keys.met, keys.documented);
    const char *stale = missing(&arena, keys.documented, keys.met);
    /* The whole lists may be more than a message holds. */
    (void)fprintf(stderr, "%s%s", undocumented, stale);
    ck_assert_msg(undocumented[0] == '\0', "VIEW.md lacks: %.2000s", undocumented);
    ck_assert_msg(stale[0] == '\0', "no view has what VIEW.md documents: %.2000s", stale);
    json_decref(keys.met);
    json_decref(keys.documented);
    arena_free(&arena);
}
END_TEST

Suite *view_keys_suite(void)
{
    Suite *suite = suite_create("view_keys");
    TCase *cases = tcase_create("view_keys");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, page_has_every_key);
    suite_add_tcase(suite, cases);
    return suite;
}
