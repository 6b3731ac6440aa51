/* Takes the words of a command line, gives what they ask for: a command with its options, or an answer on the spot. */
#ifndef SW_CLI_H
#define SW_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "candidates.h"
#include "diag.h"
#include "spec.h"
#include "text.h"

enum cli_command {
    COMMAND_NONE,
    COMMAND_SCORE,
    COMMAND_RANK,
    COMMAND_GENERATE,
    COMMAND_RENDER,
    COMMAND_FMT,
    COMMAND_EXPLAIN,
    COMMAND_DIFF,
    COMMAND_CHECK,
    COMMAND_VERIFY,
    COMMAND_REPORT
};

enum cli_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SARIF };
enum cli_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum cli_escape { ESCAPE_BY_NAME, ESCAPE_NONE, ESCAPE_HTML };

/* Words that an option gathered, in order. */
struct cli_words {
    const char **items;
    size_t count, capacity;
};

struct cli {
    enum cli_command command;
    const char *input;       /* SPEC or TEMPLATE, the first operand; "-": standard input */
    struct cli_words inputs; /* all operands */
    const char *output;      /* -o FILE; NULL: standard output */
    const char *directory;   /* -o DIR of generate */
    const char *device;
    enum cli_format format;
    enum cli_color color;
    struct definition *definitions; /* of -D, a name once: the last value given */
    size_t definition_count, definition_capacity;
    struct restriction *restrictions; /* of --candidate */
    size_t restriction_count, restriction_capacity;
    struct cli_words templates;
    size_t top; /* 0: all */
    bool check, show_diff, exit_code;
    bool in_place;       /* fmt: without -o, --check and --diff */
    const char *against; /* check; NULL: nothing */
    double allow;        /* per cent */
    const char *ncu;     /* verify */
    double tolerance;    /* verify, percent */
    const char *depfile; /* generate; NULL: none */
    struct cli_words dep_targets;
    const char *kernel;          /* explain */
    int64_t access, warp;        /* explain; -1: not given */
    const char *data, *partials; /* render */
    enum cli_escape escape;
    bool strict;
};

enum cli_outcome {
    CLI_RUN,      /* *out says what to do */
    CLI_ANSWERED, /* `answer` holds a help text or the version, for standard output */
    CLI_REFUSED   /* all that is wrong is in `diags` [usage] */
};

/* Options and operands mix; --option VALUE and --option=VALUE, -D VALUE and -DVALUE; "--" ends options; "-" alone is an
 * operand. What is given twice counts as given last, but for -D, --candidate, --template and --dep-target, which add
 * up. --help wins over everything else that is wrong; --complete, as the first word, is what shells ask
 * (cli_complete.h). Strings of `out` are those of argv or live in the arena. */
enum cli_outcome cli_parse(struct cli *out, struct text *answer, struct arena *arena, int argc, char *const argv[],
                           struct diags *diags) __attribute__((warn_unused_result));

/* Whether what goes to `file` (a descriptor) is to be coloured: as asked, or if it is a terminal and neither NO_COLOR
 * nor TERM=dumb is set. */
bool cli_use_color(const struct cli *cli, int file);

#endif
