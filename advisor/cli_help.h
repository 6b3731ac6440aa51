/* Holds the commands and options that the tool has, gives their help texts. */
#ifndef SW_CLI_HELP_H
#define SW_CLI_HELP_H

#include "cli.h"

enum cli_option_id {
    OPTION_DEFINE,
    OPTION_CANDIDATE,
    OPTION_DEVICE,
    OPTION_FORMAT,
    OPTION_TOP,
    OPTION_TEMPLATE,
    OPTION_CHECK,
    OPTION_DIFF,
    OPTION_DEPFILE,
    OPTION_DEP_TARGET,
    OPTION_KERNEL,
    OPTION_ACCESS,
    OPTION_WARP,
    OPTION_EXIT_CODE,
    OPTION_AGAINST,
    OPTION_ALLOW,
    OPTION_NCU,
    OPTION_TOLERANCE,
    OPTION_DATA,
    OPTION_PARTIALS,
    OPTION_ESCAPE,
    OPTION_STRICT,
    OPTION_OUTPUT,
    OPTION_COLOR,
    OPTION_HELP,
    OPTION_VERSION
};

struct cli_option {
    enum cli_option_id id;
    char letter;          /* 'D' for -D; 0: none */
    const char *name;     /* "device" for --device; NULL: none */
    const char *argument; /* what a help text calls it; NULL: takes none */
    unsigned commands;    /* a bit (1 << command) for each that has it; 0: all */
    const char *help;
};

struct cli_command_rule {
    enum cli_command command;
    const char *name;
    const char *operand; /* what its operands are, as a usage line has it */
    size_t operands_least, operands_most;
    const char *summary; /* one line */
    const char *text;    /* paragraphs of its help */
};

/* Tables; an entry with neither letter nor name, or without a name, ends them. */
extern const struct cli_option cli_options[];
extern const struct cli_command_rule cli_commands[];

/* The rule of a command; NULL for COMMAND_NONE. */
const struct cli_command_rule *cli_command_rule(enum cli_command command);

bool cli_option_applies(const struct cli_option *option, enum cli_command command);

/* Appends the help of a command, or that of the tool (COMMAND_NONE). */
void cli_help(struct text *out, enum cli_command command);

#endif
