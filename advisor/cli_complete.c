#include "cli_complete.h"

#include <string.h>

#include "candidates.h"
#include "check.h"
#include "cli_help.h"
#include "device.h"
#include "embedded.h"
#include "read.h"

struct completion {
    struct text *out;
    struct arena *arena;
    char *const *words;
    size_t count;       /* of the words before the one at the cursor */
    const char *word;   /* at the cursor; behind its '=' where that is "--option=..." */
    const char *before; /* "--option=" then, else "" */
    enum cli_command command;
    const char *spec; /* the first operand; NULL: none yet */
    const char *device;
    struct definition *definitions;
    size_t definition_count;
};

static bool begins(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

static void offer(const struct completion *completion, const char *candidate)
{
    if (begins(candidate, completion->word))
        text_printf(completion->out, "%s%s\n", completion->before, candidate);
}

static void offer_paths(const struct completion *completion, const char *kind)
{
    text_printf(completion->out, "%s\n", kind);
}

/* ---- what the words before say ---- */

static bool spells(const struct cli_option *option, const char *word)
{
    if (begins(word, "--"))
        return option->name != NULL && strcmp(option->name, word + 2) == 0;
    return word[0] == '-' && option->letter != 0 && option->letter == word[1] && word[2] == '\0';
}

/* The option of `command` that `word` spells, without a value joined to it; one of another command where it has none;
 * NULL: there is no such option. */
static const struct cli_option *find_option(enum cli_command command, const char *word)
{
    const struct cli_option *found = NULL;
    for (const struct cli_option *option = cli_options; option->help != NULL; option++) {
        if (!spells(option, word))
            continue;
        if (cli_option_applies(option, command))
            return option;
        found = option;
    }
    return found;
}

static void take_value(struct completion *completion, const struct cli_option *option, const char *value)
{
    const char *equals = strchr(value, '=');
    if (option->id == OPTION_DEVICE)
        completion->device = value;
    if (option->id == OPTION_DEFINE && equals != NULL)
        completion->definitions[completion->definition_count++] =
            (struct definition){arena_copy(completion->arena, value, (size_t)(equals - value)), equals + 1};
}

static void take_operand(struct completion *completion, const char *word)
{
    if (completion->command != COMMAND_NONE) {
        if (completion->spec == NULL)
            completion->spec = word;
        return;
    }
    for (const struct cli_command_rule *rule = cli_commands; rule->name != NULL; rule++)
        if (strcmp(rule->name, word) == 0)
            completion->command = rule->command;
}

/* Goes over the finished words. Returns the option whose value the word at the cursor is; NULL: it is no value. */
static const struct cli_option *survey(struct completion *completion)
{
    const struct cli_option *open = NULL;
    for (size_t i = 0; i < completion->count; i++) {
        const char *word = completion->words[i];
        if (open != NULL) {
            take_value(completion, open, word);
            open = NULL;
        } else if (word[0] != '-' || word[1] == '\0') {
            take_operand(completion, word);
        } else {
            const struct cli_option *option = find_option(completion->command, word);
            open = option != NULL && option->argument != NULL ? option : NULL;
        }
    }
    return open;
}

/* "--option=val" at the cursor: its option, and `word` becomes "val". */
static const struct cli_option *split_word(struct completion *completion)
{
    const char *word = completion->word, *equals = strchr(word, '=');
    if (!begins(word, "--") || equals == NULL)
        return NULL;
    const struct cli_option *option =
        find_option(completion->command, arena_copy(completion->arena, word, (size_t)(equals - word)));
    completion->before = arena_copy(completion->arena, word, (size_t)(equals - word) + 1);
    completion->word = equals + 1;
    return option != NULL && option->argument != NULL ? option : NULL;
}

/* ---- what a value can be ---- */

static struct spec *read_description(const struct completion *completion, struct diags *diags)
{
    struct source *source;
    const char *reason;
    /* Nobody waits for standard input or a pipe while typing. */
    if (completion->spec == NULL || strcmp(completion->spec, "-") == 0 ||
        source_read_file(&source, completion->arena, completion->spec, &reason) != SOURCE_OK)
        return NULL;
    return read_spec(completion->arena, source, diags);
}

static void offer_params(const struct completion *completion)
{
    struct diags diags = {.arena = completion->arena};
    const struct spec *spec = read_description(completion, &diags);
    for (size_t i = 0; spec != NULL && i < spec->param_count; i++)
        offer(completion, arena_printf(completion->arena, "%s=", spec->params[i].name.text));
}

static void offer_kernels(const struct completion *completion)
{
    struct diags diags = {.arena = completion->arena};
    const struct spec *spec = read_description(completion, &diags);
    for (const struct kernel *kernel = spec == NULL ? NULL : spec->kernels; kernel != NULL; kernel = kernel->next)
        offer(completion, kernel->name.text);
}

/* Every candidate of every array; of a description that does not hold, the arrays alone. */
static void offer_candidates(const struct completion *completion)
{
    struct diags diags = {.arena = completion->arena};
    struct spec *spec = read_description(completion, &diags);
    if (spec == NULL)
        return;
    const struct device *device = device_load(completion->arena, completion->device, &diags);
    const struct options *options = NULL;
    if (device != NULL &&
        check_spec(spec, completion->arena, device, completion->definitions, completion->definition_count, &diags))
        options = candidates_enumerate(spec, device, completion->arena, NULL, 0, &diags);
    for (const struct array *array = spec->arrays; array != NULL; array = array->next) {
        if (options == NULL)
            offer(completion, arena_printf(completion->arena, "%s=", array->name.text));
        for (size_t i = 0; options != NULL && i < options[array->number].count; i++)
            offer(completion, arena_printf(completion->arena, "%s=%s", array->name.text,
                                           options[array->number].items[i]->candidate.text));
    }
}

static void offer_devices(const struct completion *completion)
{
    for (size_t i = 0; i < embedded_device_count; i++) {
        const char *name = embedded_devices[i].name, *dot = strrchr(name, '.');
        offer(completion, arena_copy(completion->arena, name, dot == NULL ? strlen(name) : (size_t)(dot - name)));
    }
    offer_paths(completion, ":files");
}

/* "text|json": the words themselves. */
static void offer_choices(const struct completion *completion, const char *choices)
{
    while (*choices != '\0') {
        size_t length = strcspn(choices, "|");
        offer(completion, arena_copy(completion->arena, choices, length));
        choices += length + (choices[length] == '|');
    }
}

static bool is_lower(const char *argument)
{
    return argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz|-")] == '\0';
}

static void offer_values(const struct completion *completion, const struct cli_option *option)
{
    const char *argument = option->argument;
    if (option->id == OPTION_DEFINE)
        offer_params(completion);
    else if (option->id == OPTION_CANDIDATE)
        offer_candidates(completion);
    else if (option->id == OPTION_DEVICE)
        offer_devices(completion);
    else if (option->name != NULL && strcmp(option->name, "kernel") == 0)
        offer_kernels(completion);
    else if (is_lower(argument))
        offer_choices(completion, argument);
    else if (strcmp(argument, "DIR") == 0)
        offer_paths(completion, ":folders");
    else if (begins(argument, "FILE") || strchr(argument, '.') != NULL || strcmp(argument, "OLD") == 0)
        offer_paths(completion, ":files");
}

/* ---- words that are no values ---- */

static void offer_options(const struct completion *completion)
{
    for (const struct cli_option *option = cli_options; option->help != NULL; option++) {
        if (!cli_option_applies(option, completion->command))
            continue;
        if (option->name != NULL)
            offer(completion, arena_printf(completion->arena, "--%s", option->name));
        else
            offer(completion, arena_printf(completion->arena, "-%c", option->letter));
    }
}

static void offer_commands(const struct completion *completion)
{
    for (const struct cli_command_rule *rule = cli_commands; rule->name != NULL; rule++)
        offer(completion, rule->name);
}

void cli_complete(struct text *out, struct arena *arena, char *const words[])
{
    struct completion completion = {
        .out = out, .arena = arena, .words = words, .word = "", .before = "", .device = "h200"};
    while (words[completion.count] != NULL)
        completion.count++;
    completion.definitions = arena_array(arena, completion.count, sizeof(*completion.definitions));
    if (completion.count > 0)
        completion.word = words[--completion.count];
    const struct cli_option *option = survey(&completion);
    if (option == NULL)
        option = split_word(&completion);
    if (option != NULL)
        offer_values(&completion, option);
    else if (completion.word[0] == '-')
        offer_options(&completion);
    else if (completion.command == COMMAND_NONE)
        offer_commands(&completion);
    else
        offer_paths(&completion, ":files");
}
