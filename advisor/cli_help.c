#include "cli_help.h"

#include <stdint.h>
#include <string.h>

enum {
    SCORE = 1 << COMMAND_SCORE,
    RANK = 1 << COMMAND_RANK,
    GENERATE = 1 << COMMAND_GENERATE,
    RENDER = 1 << COMMAND_RENDER,
    FMT = 1 << COMMAND_FMT,
    EXPLAIN = 1 << COMMAND_EXPLAIN,
    DIFF = 1 << COMMAND_DIFF,
    CHECK = 1 << COMMAND_CHECK,
    VERIFY = 1 << COMMAND_VERIFY,
    REPORT = 1 << COMMAND_REPORT,
    ADVICE = SCORE | RANK | GENERATE | EXPLAIN | REPORT | VERIFY
};

const struct cli_option cli_options[] = {
    {OPTION_DEFINE, 'D', NULL, "NAME=VALUE", ADVICE | DIFF | CHECK,
     "give a param of the description this value (repeatable)"},
    {OPTION_CANDIDATE, 0, "candidate", "ARRAY=LAYOUT[/PLAN]", ADVICE,
     "keep an array to this, as in 'particles=soa/wide(4)' (repeatable)"},
    {OPTION_DEVICE, 0, "device", "NAME|FILE", ADVICE | DIFF | CHECK,
     "the GPU: a name that is built in, or an XML file (h200)"},
    {OPTION_FORMAT, 0, "format", "text|json", ADVICE | DIFF, "how to tell the results (text)"},
    {OPTION_FORMAT, 0, "format", "text|json|sarif", CHECK, "how to tell the results (text)"},
    {OPTION_TOP, 0, "top", "N", RANK | REPORT, "show the N best candidates only (in a report: 20)"},
    {OPTION_KERNEL, 0, "kernel", "NAME", EXPLAIN, "the kernel that has the access (the only one)"},
    {OPTION_ACCESS, 0, "access", "N", EXPLAIN, "which of its accesses, from 0 on (the furthest from its ideal)"},
    {OPTION_WARP, 0, "warp", "N", EXPLAIN, "which warp of the launch, from 0 (where requests cost most)"},
    {OPTION_OUTPUT, 'o', "output", "FILE", SCORE | RANK | RENDER | EXPLAIN | REPORT | DIFF | CHECK | VERIFY,
     "write to FILE instead of standard output; a failure leaves it as it was"},
    {OPTION_OUTPUT, 'o', "output", "FILE", FMT, "write the canonical form there (-: standard output), not in place"},
    {OPTION_OUTPUT, 'o', "output", "DIR", GENERATE, "the folder to write to; made where it is missing"},
    {OPTION_TEMPLATE, 0, "template", "FILE", GENERATE,
     "F.SUFFIX.mustache: write NAME.SUFFIX, not the defaults (repeatable)"},
    {OPTION_CHECK, 0, "check", NULL, GENERATE, "write nothing; exit 1 if the folder is stale"},
    {OPTION_CHECK, 0, "check", NULL, FMT, "write nothing; name the files that would change (exit 1)"},
    {OPTION_DIFF, 0, "diff", NULL, FMT, "write nothing; show what would change (exit 1)"},
    {OPTION_DEPFILE, 0, "depfile", "FILE", GENERATE,
     "write a rule for make and ninja: the files that the code was made from"},
    {OPTION_DEP_TARGET, 0, "dep-target", "TARGET", GENERATE, "what that rule is for (the files in DIR; repeatable)"},
    {OPTION_AGAINST, 0, "against", "OLD", CHECK, "exit 1 where a kernel costs more than in OLD: a file or a folder"},
    {OPTION_ALLOW, 0, "allow", "PCT", CHECK, "let costs grow by so many per cent (0)"},
    {OPTION_EXIT_CODE, 0, "exit-code", NULL, DIFF, "exit 1 if there is a difference"},
    {OPTION_NCU, 0, "ncu", "FILE.csv", VERIFY, "what Nsight Compute measured"},
    {OPTION_TOLERANCE, 0, "tolerance", "PCT", VERIFY, "how far a count may be from what is predicted, in percent (1)"},
    {OPTION_DATA, 0, "data", "VIEW.json", RENDER, "the values that the template names: any JSON"},
    {OPTION_PARTIALS, 0, "partials", "DIR", RENDER, "where partial X is DIR/X.mustache"},
    {OPTION_ESCAPE, 0, "escape", "html|none", RENDER,
     "what {{x}} does to special characters (none; html for *.html.mustache)"},
    {OPTION_STRICT, 0, "strict", NULL, RENDER, "an unknown name or a missing partial is an error"},
    {OPTION_COLOR, 0, "color", "auto|always|never", 0, "colours (auto: on a terminal, unless NO_COLOR is set)"},
    {OPTION_HELP, 'h', "help", NULL, 0, "this text"},
    {OPTION_VERSION, 0, "version", NULL, 0, "the version"},
    {OPTION_VERSION, 0, NULL, NULL, 0, NULL},
};

const struct cli_command_rule cli_commands[] = {
    {COMMAND_SCORE, "score", "SPEC", 1, 1, "count what each access makes the GPU's memory system move",
     "Counts one launch of every kernel, exactly: requests, 32-byte sectors, 128-byte lines, and\n"
     "the wavefronts of shared memory. Arrays are laid out as described: aos or row-major, read\n"
     "by plan 'direct', unless SPEC pins a layout or --candidate chooses one.\n"
     "\n"
     "  sectorwise score layouts/particles.xml\n"
     "  sectorwise score layouts/particles.xml --candidate 'particles=soa/wide(4)' -D N=4096\n"},
    {COMMAND_RANK, "rank", "SPEC", 1, 1, "score every candidate layout and plan, and rank them by estimated time",
     "Scores all layouts and plans that apply to the arrays, and ranks them. Counts are exact;\n"
     "times are estimates. Candidates within 2 % of the best tie with it.\n"
     "\n"
     "  sectorwise rank layouts/particles.xml\n"
     "  sectorwise rank layouts/particles.xml --top 5 --format json -o ranking.json\n"
     "  sectorwise rank layouts/particles.xml --candidate particles=soa\n"},
    {COMMAND_GENERATE, "generate", "SPEC", 1, 1, "write CUDA code for the winner, or for the candidate chosen",
     "Writes NAME.cuh, NAME_kernels.cuh, NAME.h and NAME_check.cu into DIR, NAME being the\n"
     "description's. Unchanged files keep their time, foreign files are left alone.\n"
     "\n"
     "  sectorwise generate layouts/particles.xml -o generated\n"
     "  sectorwise generate layouts/particles.xml -o generated --check\n"
     "  sectorwise generate layouts/particles.xml -o generated --template kernels.hip.mustache\n"},
    {COMMAND_EXPLAIN, "explain", "SPEC", 1, 1, "show one request: its lanes, sectors and banks, and who wastes bytes",
     "Shows how an access's instructions fall on memory: what they cost over the launch and in\n"
     "which warp most, and one request lane by lane: sectors and lines with the field of every byte,\n"
     "in capitals where it is wanted; or the banks of shared memory with who collides. Arrays are\n"
     "laid out as for `score`. On a terminal the picture uses its width, from 80 columns on; a\n"
     "FILE.svg is the picture as SVG.\n"
     "\n"
     "  sectorwise explain layouts/particles.xml --kernel drift\n"
     "  sectorwise explain layouts/particles.xml --kernel drift --access 1 --warp 7\n"
     "  sectorwise explain layouts/particles.xml --kernel drift --candidate 'particles=soa/wide(4)'\n"
     "  sectorwise explain layouts/particles.xml --kernel drift -o drift.svg\n"},
    {COMMAND_REPORT, "report", "SPEC", 1, 1, "write a page for a review: verdict, ranking, kernels and pictures",
     "Writes one HTML page that needs nothing else, no script and no network: the verdict, the\n"
     "ranking, each kernel's counts and the picture of its worst access under today's layout and\n"
     "under the best one, where the bytes of each array are, and what all this rests on.\n"
     "\n"
     "  sectorwise report layouts/particles.xml -o particles.html\n"
     "  sectorwise report layouts/particles.xml --top 10 -o -\n"},
    {COMMAND_RENDER, "render", "TEMPLATE", 1, 1, "fill in a Mustache template with values of a JSON file",
     "The template engine by itself. What `rank --format json` writes will do for a view.\n"
     "\n"
     "  sectorwise rank layouts/particles.xml --format json | sectorwise render page.mustache --data -\n"},
    {COMMAND_FMT, "fmt", "SPEC...", 1, SIZE_MAX, "rewrite descriptions in their canonical form",
     "Rewrites each SPEC in place: attributes in the order of the reference, in double quotes; an\n"
     "element a line, two blanks a level; comments, blank lines between groups and the text of\n"
     "expressions are kept. SPEC - goes from standard input to standard output. A file that is in\n"
     "this form is not touched; where one file has an error none is.\n"
     "\n"
     "  sectorwise fmt layouts/*.xml\n"
     "  sectorwise fmt --diff layouts/particles.xml\n"
     "  sectorwise fmt - <layouts/particles.xml\n"},
    {COMMAND_DIFF, "diff", "OLD NEW", 2, 9, "tell what differs between two descriptions, in meaning, bytes and cost",
     "Tells what was added, removed, moved or changed, with record sizes, offsets and holes, and\n"
     "what a launch of each kernel costs before and after, with pinned layouts or, where none is\n"
     "pinned, the default. Descriptions of one meaning have no difference, whatever their text.\n"
     "/dev/null stands for one that is not there. Takes the seven words of git's external diff too:\n"
     "\n"
     "  sectorwise diff old.xml layouts/particles.xml\n"
     "  git config diff.sectorwise.command 'sectorwise diff'\n"
     "  echo 'layouts/*.xml diff=sectorwise' >>.gitattributes\n"},
    {COMMAND_CHECK, "check", "SPEC...", 1, SIZE_MAX,
     "validate descriptions; with --against, fail where a kernel costs more",
     "Looks for everything that is wrong with each SPEC, and exits 1 where something is. With\n"
     "--against it is a gate: 1 too where a kernel moves more sectors, wavefronts or DRAM bytes, or\n"
     "its estimated time is longer, than with the old description; it tells which access and why.\n"
     "Kernels are compared with pinned layouts or, where none is pinned, the default. A file that\n"
     "cannot be read or parsed is bad input (2).\n"
     "\n"
     "  sectorwise check layouts/*.xml\n"
     "  git show main:layouts/particles.xml | sectorwise check layouts/particles.xml --against -\n"
     "  sectorwise check layouts/*.xml --against old/layouts --allow 2 --format sarif -o check.sarif\n"},
    {COMMAND_VERIFY, "verify", "SPEC", 1, 1, "compare what is predicted with what a GPU counted",
     "Compares the counts of each kernel with those that Nsight Compute measured of launches of it,\n"
     "and names the accesses that make a differing count up; such a difference is a finding. A\n"
     "launch belongs to the kernel whose name its function has, if it has its blocks and threads.\n"
     "Estimates (L2, DRAM, time) are shown, not judged; wavefronts of shared memory and sectors of\n"
     "atomics may be a quarter more, for arbitration. Look-ups in tables are not counted, but code\n"
     "does load them. The counters, each with .sum at its end; what is not measured is left out.\n"
     "Those with braces count too, for all together, without what is in braces and '_op_' before:\n"
     "\n"
     "  gpu__time_duration, dram__bytes_read, dram__bytes_write,\n"
     "  l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st,atom,red},\n"
     "  l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st,atom,red},\n"
     "  l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld,\n"
     "  l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st},\n"
     "  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st},\n"
     "  lts__t_sectors_srcunit_tex_op_{read,write}\n"
     "\n"
     "In bash braces make the list, and METRICS stands for it here:\n"
     "\n"
     "  ncu --csv --page raw --clock-control none --metrics METRICS ./program >counters.csv\n"
     "  sectorwise verify layouts/particles.xml --ncu counters.csv\n"},
    {COMMAND_NONE, NULL, NULL, 0, 0, NULL, NULL},
};

const struct cli_command_rule *cli_command_rule(enum cli_command command)
{
    for (size_t i = 0; cli_commands[i].name != NULL; i++)
        if (cli_commands[i].command == command)
            return &cli_commands[i];
    return NULL;
}

bool cli_option_applies(const struct cli_option *option, enum cli_command command)
{
    return option->commands == 0 || (option->commands & 1U << command) != 0;
}

/* "-o, --output FILE" */
static void spell_option(struct text *out, const struct cli_option *option)
{
    if (option->letter != 0)
        text_printf(out, option->name == NULL ? "-%c" : "-%c, ", option->letter);
    if (option->name != NULL)
        text_printf(out, "--%s", option->name);
    if (option->argument != NULL)
        text_printf(out, " %s", option->argument);
}

static void help_option(struct text *out, const struct cli_option *option)
{
    enum { SPELLED_WIDTH = 26 };
    struct text spelled = {0};
    spell_option(&spelled, option);
    text_printf(out, "  %s", text_string(&spelled));
    size_t width = spelled.length;
    if (width > SPELLED_WIDTH) {
        text_puts(out, "\n  ");
        width = 0;
    }
    text_repeat(out, ' ', SPELLED_WIDTH + 1 - width);
    text_printf(out, "%s\n", option->help);
    text_free(&spelled);
}

static void help_tool(struct text *out)
{
    enum { NAME_WIDTH = 10 };
    text_puts(out, "usage: sectorwise COMMAND [OPTION...] SPEC\n"
                   "\n"
                   "Reads the XML description of data structures and of the CUDA kernels that touch them, counts\n"
                   "what the GPU's memory system has to move for every layout, ranks the layouts, and writes code\n"
                   "for the winner. SPEC is a file, a pipe, or - for standard input.\n"
                   "\n");
    for (size_t i = 0; cli_commands[i].name != NULL; i++) {
        text_printf(out, "  %s", cli_commands[i].name);
        text_repeat(out, ' ', NAME_WIDTH - strlen(cli_commands[i].name));
        text_printf(out, "%s\n", cli_commands[i].summary);
    }
    text_puts(out, "\n"
                   "'sectorwise COMMAND --help' tells about each; --version tells the version.\n"
                   "Exit status: 0 done, 1 a finding, 2 bad usage or bad input, 3 a fault of the tool.\n");
}

void cli_help(struct text *out, enum cli_command command)
{
    const struct cli_command_rule *rule = cli_command_rule(command);
    if (rule == NULL) {
        help_tool(out);
        return;
    }
    text_printf(out, "usage: sectorwise %s [OPTION...] %s\n\n%s\n", rule->name, rule->operand, rule->text);
    for (size_t i = 0; cli_options[i].help != NULL; i++)
        if (cli_option_applies(&cli_options[i], command))
            help_option(out, &cli_options[i]);
}
