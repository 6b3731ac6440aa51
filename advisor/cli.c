#include "cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_complete.h"
#include "cli_help.h"
#include "sectorwise.h"

struct parser {
    struct cli *cli;
    struct arena *arena;
    struct diags *diags;
    char *const *words; /* what is left of argv; ends with NULL */
    bool options_ended; /* "--" was seen */
    bool help, version;
    const char *command_word;
    bool command_unknown;
    bool option_unknown;               /* its value, if it has one, is then mistaken for an operand */
    const struct cli_option *used[64]; /* options given, to be held against the command once that is known */
    size_t used_count;
};

static const struct span nowhere = {0};

static void refuse(struct parser *parser, const char *message)
{
    diag_error(parser->diags, "usage", nowhere, "%s", message);
}

/* Values of strangers may be long; a message shows the beginning. */
static const char *shown(struct parser *parser, const char *word)
{
    enum { SHOWN_MAX = 80 };
    return strlen(word) <= SHOWN_MAX ? word : arena_printf(parser->arena, "%.*s...", (int)SHOWN_MAX, word);
}

/* The place of `value` in a list that ends with NULL; 0 where it is not there, after a diagnostic: what is said of the
 * command line later speaks of nothing that nobody asked for. */
static size_t choose(struct parser *parser, const char *option, const char *value, const char *const choices[])
{
    struct text_guess guess = {.wanted = value};
    size_t count = 0;
    for (; choices[count] != NULL; count++) {
        if (strcmp(value, choices[count]) == 0)
            return count;
        text_guess_offer(&guess, choices[count]);
    }
    struct text list = {0};
    for (size_t i = 0; i < count; i++)
        text_printf(&list, "%s'%s'", i == 0 ? "" : i + 1 == count ? " or " : ", ", choices[i]);
    refuse(parser,
           arena_printf(parser->arena, "'--%s' takes %s, not '%s'", option, text_string(&list), shown(parser, value)));
    if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '%s'?", guess.best);
    text_free(&list);
    return 0;
}

static void take_definition(struct parser *parser, const char *value)
{
    struct cli *cli = parser->cli;
    const char *equals = strchr(value, '=');
    if (equals == NULL) {
        refuse(parser, arena_printf(parser->arena, "'-D' takes NAME=VALUE, not '%s'", shown(parser, value)));
        return;
    }
    const char *name = arena_copy(parser->arena, value, (size_t)(equals - value));
    if (!text_is_identifier(name)) {
        refuse(parser, arena_printf(parser->arena, "'-D': '%s' is not a name", shown(parser, name)));
        return;
    }
    for (size_t i = 0; i < cli->definition_count; i++) {
        if (strcmp(cli->definitions[i].name, name) == 0) {
            cli->definitions[i].value = equals + 1;
            return;
        }
    }
    cli->definitions = arena_grow(parser->arena, cli->definitions, cli->definition_count, &cli->definition_capacity,
                                  sizeof(*cli->definitions));
    cli->definitions[cli->definition_count++] = (struct definition){name, equals + 1};
}

static void take_restriction(struct parser *parser, const char *value)
{
    struct cli *cli = parser->cli;
    if (strchr(value, '=') == NULL) {
        refuse(parser,
               arena_printf(parser->arena, "'--candidate' takes ARRAY=LAYOUT/PLAN, not '%s'", shown(parser, value)));
        return;
    }
    cli->restrictions = arena_grow(parser->arena, cli->restrictions, cli->restriction_count, &cli->restriction_capacity,
                                   sizeof(*cli->restrictions));
    cli->restrictions[cli->restriction_count++] = (struct restriction){value};
}

/* Digits alone, up to 2^62; `least` is the least number that makes sense. */
static int64_t take_number(struct parser *parser, const char *option, const char *value, int64_t least)
{
    const int64_t most = INT64_C(1) << 62;
    int64_t number = 0;
    const char *c = value;
    for (; *c >= '0' && *c <= '9' && number <= most / 10 - 1; c++)
        number = number * 10 + (*c - '0');
    if (*c != '\0' || c == value || number < least)
        refuse(parser, arena_printf(parser->arena, "'--%s' takes a number from %d on, not '%s'", option, (int)least,
                                    shown(parser, value)));
    return number;
}

static void take_percent(struct parser *parser, const char *option, double *out, const char *value)
{
    const double most = 1e6;
    char *end;
    *out = strtod(value, &end);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || !(*out <= most))
        refuse(parser, arena_printf(parser->arena, "'--%s' takes a percentage from 0 on, not '%s'", option,
                                    shown(parser, value)));
}

static void take_word(struct parser *parser, struct cli_words *words, const char *value)
{
    words->items = arena_grow(parser->arena, words->items, words->count, &words->capacity, sizeof(*words->items));
    words->items[words->count++] = value;
}

/* Enums and the names of their members stand in the same order. */
static void take_choice(struct parser *parser, enum cli_option_id id, const char *value)
{
    static const char *const formats[] = {"text", "json", NULL}, *const all_formats[] = {"text", "json", "sarif", NULL};
    static const char *const colors[] = {"auto", "always", "never", NULL};
    static const char *const escapes[] = {"none", "html", NULL};
    if (id == OPTION_FORMAT)
        /* The command may not be known yet: whether it has the third is looked at in the end. */
        parser->cli->format = (enum cli_format)choose(
            parser, "format", value,
            strcmp(value, "sarif") == 0 || parser->cli->command == COMMAND_CHECK ? all_formats : formats);
    else if (id == OPTION_COLOR)
        parser->cli->color = (enum cli_color)choose(parser, "color", value, colors);
    else
        parser->cli->escape = (enum cli_escape)(ESCAPE_NONE + choose(parser, "escape", value, escapes));
}

static void take_output(struct parser *parser, const char *value)
{
    if (value[0] == '\0')
        refuse(parser, "'-o' takes a name, not ''");
    parser->cli->output = value;
}

/* Options that only set one thing: a flag, or a text as it is given. NULL for any other. */
static bool *find_flag(struct parser *parser, enum cli_option_id id)
{
    const struct {
        enum cli_option_id id;
        bool *flag;
    } flags[] = {{OPTION_CHECK, &parser->cli->check},
                 {OPTION_DIFF, &parser->cli->show_diff},
                 {OPTION_EXIT_CODE, &parser->cli->exit_code},
                 {OPTION_STRICT, &parser->cli->strict},
                 {OPTION_HELP, &parser->help},
                 {OPTION_VERSION, &parser->version}};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (flags[i].id == id)
            return flags[i].flag;
    return NULL;
}

static const char **find_text(struct cli *cli, enum cli_option_id id)
{
    const struct {
        enum cli_option_id id;
        const char **text;
    } texts[] = {{OPTION_DEVICE, &cli->device},    {OPTION_DEPFILE, &cli->depfile}, {OPTION_KERNEL, &cli->kernel},
                 {OPTION_AGAINST, &cli->against},  {OPTION_NCU, &cli->ncu},         {OPTION_DATA, &cli->data},
                 {OPTION_PARTIALS, &cli->partials}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].id == id)
            return texts[i].text;
    return NULL;
}

static void take_option(struct parser *parser, const struct cli_option *option, const char *value)
{
    struct cli *cli = parser->cli;
    switch (option->id) {
    case OPTION_DEFINE:
        take_definition(parser, value);
        break;
    case OPTION_CANDIDATE:
        take_restriction(parser, value);
        break;
    case OPTION_FORMAT:
    case OPTION_COLOR:
    case OPTION_ESCAPE:
        take_choice(parser, option->id, value);
        break;
    case OPTION_TOP:
        cli->top = (size_t)take_number(parser, "top", value, 1);
        break;
    case OPTION_TEMPLATE:
        take_word(parser, &cli->templates, value);
        break;
    case OPTION_DEP_TARGET:
        take_word(parser, &cli->dep_targets, value);
        break;
    case OPTION_ACCESS:
        cli->access = take_number(parser, "access", value, 0);
        break;
    case OPTION_WARP:
        cli->warp = take_number(parser, "warp", value, 0);
        break;
    case OPTION_ALLOW:
        take_percent(parser, option->name, &cli->allow, value);
        break;
    case OPTION_TOLERANCE:
        take_percent(parser, option->name, &cli->tolerance, value);
        break;
    case OPTION_OUTPUT:
        take_output(parser, value);
        break;
    case OPTION_CHECK:
    case OPTION_DIFF:
    case OPTION_EXIT_CODE:
    case OPTION_STRICT:
    case OPTION_HELP:
    case OPTION_VERSION:
        *find_flag(parser, option->id) = true;
        break;
    case OPTION_DEVICE:
    case OPTION_DEPFILE:
    case OPTION_KERNEL:
    case OPTION_AGAINST:
    case OPTION_NCU:
    case OPTION_DATA:
    case OPTION_PARTIALS:
        *find_text(cli, option->id) = value;
        break;
    }
}

static void remember_used(struct parser *parser, const struct cli_option *option)
{
    for (size_t i = 0; i < parser->used_count; i++)
        if (parser->used[i] == option)
            return;
    if (parser->used_count < sizeof(parser->used) / sizeof(parser->used[0]))
        parser->used[parser->used_count++] = option;
}

/* `spelled` is the option as written, `value` what was joined to it, NULL for nothing. */
static void read_option(struct parser *parser, const struct cli_option *option, const char *spelled, const char *value)
{
    remember_used(parser, option);
    if (option->argument == NULL && value != NULL) {
        refuse(parser, arena_printf(parser->arena, "'%s' takes no value", spelled));
        return;
    }
    if (option->argument != NULL && value == NULL)
        value = *parser->words == NULL ? NULL : *parser->words++;
    if (option->argument != NULL && value == NULL)
        refuse(parser, arena_printf(parser->arena, "'%s' needs %s after it", spelled, option->argument));
    else
        take_option(parser, option, value);
}

static void refuse_option(struct parser *parser, const char *spelled, const char *name)
{
    struct text_guess guess = {.wanted = name};
    for (size_t i = 0; cli_options[i].help != NULL; i++)
        if (cli_options[i].name != NULL)
            text_guess_offer(&guess, cli_options[i].name);
    parser->option_unknown = true;
    refuse(parser, arena_printf(parser->arena, "unknown option '%s'", shown(parser, spelled)));
    if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '--%s'?", guess.best);
}

static void read_long(struct parser *parser, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    const char *spelled = arena_copy(parser->arena, word, length);
    for (size_t i = 0; cli_options[i].help != NULL; i++) {
        if (cli_options[i].name != NULL && strcmp(cli_options[i].name, spelled + 2) == 0) {
            read_option(parser, &cli_options[i], spelled, equals == NULL ? NULL : equals + 1);
            return;
        }
    }
    refuse_option(parser, spelled, spelled + 2);
}

static void read_short(struct parser *parser, const char *word)
{
    const char *spelled = arena_copy(parser->arena, word, 2);
    for (size_t i = 0; cli_options[i].help != NULL; i++) {
        if (cli_options[i].letter != 0 && cli_options[i].letter == word[1]) {
            read_option(parser, &cli_options[i], spelled, word[2] == '\0' ? NULL : word + 2);
            return;
        }
    }
    /* "-format" is more likely a long option than five short ones. */
    refuse_option(parser, word, word + 1);
}

static void read_command(struct parser *parser, const char *word)
{
    struct text_guess guess = {.wanted = word};
    parser->command_word = word;
    for (size_t i = 0; cli_commands[i].name != NULL; i++) {
        if (strcmp(word, cli_commands[i].name) == 0) {
            parser->cli->command = cli_commands[i].command;
            return;
        }
        text_guess_offer(&guess, cli_commands[i].name);
    }
    parser->command_unknown = true;
    refuse(parser, arena_printf(parser->arena, "unknown command '%s'", shown(parser, word)));
    if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '%s'?", guess.best);
    else
        diag_note(parser->diags, "'sectorwise --help' lists the commands");
}

static void read_operand(struct parser *parser, const char *word)
{
    /* "help rank" is "rank --help". */
    if (parser->command_word == NULL && strcmp(word, "help") == 0)
        parser->help = true;
    else if (parser->command_word == NULL)
        read_command(parser, word);
    else
        take_word(parser, &parser->cli->inputs, word);
}

static void read_words(struct parser *parser)
{
    while (*parser->words != NULL) {
        const char *word = *parser->words++;
        if (parser->options_ended || word[0] != '-' || word[1] == '\0')
            read_operand(parser, word);
        else if (strcmp(word, "--") == 0)
            parser->options_ended = true;
        else if (word[1] == '-')
            read_long(parser, word);
        else
            read_short(parser, word);
    }
}

static void check_operands(struct parser *parser, const struct cli_command_rule *rule)
{
    struct cli *cli = parser->cli;
    size_t given = cli->inputs.count;
    if (given > 0)
        cli->input = cli->inputs.items[0];
    if (given > rule->operands_most && !parser->option_unknown)
        refuse(parser, arena_printf(parser->arena, "'%s' takes %s%s; unexpected '%s'", rule->name,
                                    rule->operands_most == 1 ? "one " : "", rule->operand,
                                    shown(parser, cli->inputs.items[rule->operands_most])));
    if (given < rule->operands_least)
        refuse(parser, arena_printf(parser->arena, "'%s' needs %s%s", rule->name, rule->operands_most == 1 ? "a " : "",
                                    rule->operand));
    size_t standard = 0;
    for (size_t i = 0; i < given; i++)
        standard += strcmp(cli->inputs.items[i], "-") == 0;
    if (standard > 1)
        refuse(parser, "standard input can be read once only");
}

/* Options that another command has; -o of several commands is one option to the user. */
static void check_used(struct parser *parser)
{
    for (size_t i = 0; i < parser->used_count; i++) {
        const struct cli_option *option = parser->used[i];
        bool applies = false;
        for (size_t j = 0; cli_options[j].help != NULL; j++)
            applies |= cli_options[j].id == option->id && cli_option_applies(&cli_options[j], parser->cli->command);
        if (applies)
            continue;
        const char *spelled = option->name != NULL ? arena_printf(parser->arena, "--%s", option->name)
                                                   : arena_printf(parser->arena, "-%c", option->letter);
        refuse(parser, arena_printf(parser->arena, "'%s' has no option '%s'", parser->command_word, spelled));
    }
}

static void check_complete(struct parser *parser)
{
    const struct cli *cli = parser->cli;
    const struct cli_command_rule *rule = cli_command_rule(cli->command);
    if (parser->command_unknown)
        return;
    if (rule == NULL) {
        refuse(parser, "a command is missing");
        diag_note(parser->diags, "'sectorwise --help' lists the commands");
        return;
    }
    check_used(parser);
    check_operands(parser, rule);
    if (cli->command == COMMAND_FMT && cli->output != NULL && cli->inputs.count > 1)
        refuse(parser, "'-o' takes one description");
    if (cli->format == FORMAT_SARIF && cli->command != COMMAND_CHECK)
        refuse(parser, arena_printf(parser->arena, "'%s' has no format 'sarif'", rule->name));
    if (cli->allow != 0 && cli->against == NULL)
        refuse(parser, "'--allow' needs --against OLD");
    if (cli->input != NULL && cli->against != NULL && strcmp(cli->input, "-") == 0 && strcmp(cli->against, "-") == 0)
        refuse(parser, "old and new cannot both be standard input");
    if (cli->command == COMMAND_GENERATE && cli->output == NULL)
        refuse(parser, "'generate' needs -o DIR");
    if (cli->command == COMMAND_GENERATE && cli->output != NULL && strcmp(cli->output, "-") == 0)
        refuse(parser, "'generate' writes to a folder, not to standard output");
    if (cli->command == COMMAND_REPORT && cli->output == NULL)
        refuse(parser, "'report' needs -o FILE.html, or -o - for standard output");
    if (cli->command == COMMAND_VERIFY && cli->ncu == NULL)
        refuse(parser, "'verify' needs --ncu FILE.csv");
    if (cli->command == COMMAND_RENDER && cli->data == NULL)
        refuse(parser, "'render' needs --data VIEW.json");
    const char *second = cli->data != NULL ? cli->data : cli->ncu;
    if (cli->input != NULL && second != NULL && strcmp(cli->input, "-") == 0 && strcmp(second, "-") == 0)
        refuse(parser, cli->data != NULL ? "template and data cannot both be standard input"
                                         : "description and counters cannot both be standard input");
    if (diag_failed(parser->diags) && parser->diags->items[parser->diags->count - 1].note == NULL)
        diag_note(parser->diags, "'sectorwise %s --help' tells more", rule->name);
}

/* -o names a file or a folder, as the command has it. */
static void settle_output(struct cli *cli)
{
    cli->in_place = cli->output == NULL && !cli->check && !cli->show_diff;
    if (cli->command == COMMAND_GENERATE) {
        cli->directory = cli->output;
        cli->output = NULL;
    } else if (cli->output != NULL && strcmp(cli->output, "-") == 0)
        cli->output = NULL;
}

enum cli_outcome cli_parse(struct cli *out, struct text *answer, struct arena *arena, int argc, char *const argv[],
                           struct diags *diags)
{
    *out = (struct cli){.device = "h200", .tolerance = 1, .access = -1, .warp = -1};
    if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
        cli_complete(answer, arena, argv + 2);
        return CLI_ANSWERED;
    }
    struct parser parser = {.cli = out, .arena = arena, .diags = diags, .words = argc > 0 ? argv + 1 : argv};
    read_words(&parser);
    if (parser.help && !parser.command_unknown) {
        *diags = (struct diags){.arena = diags->arena};
        cli_help(answer, out->command);
        return CLI_ANSWERED;
    }
    if (parser.version && !diag_failed(diags)) {
        text_printf(answer, "sectorwise %s\n", sectorwise_version());
        return CLI_ANSWERED;
    }
    check_complete(&parser);
    settle_output(out);
    return diag_failed(diags) ? CLI_REFUSED : CLI_RUN;
}

bool cli_use_color(const struct cli *cli, int file)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    switch (cli->color) {
    case COLOR_ALWAYS:
        return true;
    case COLOR_NEVER:
        return false;
    case COLOR_AUTO:
        break;
    }
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return isatty(file) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
