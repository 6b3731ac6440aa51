#include "cli_explain.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "candidates.h"
#include "emit.h"
#include "emit_explain.h"
#include "explain.h"
#include "report.h"
#include "view_explain.h"

/* The place of an option's value, as if the option alone had been written; `value` NULL: it is not given. */
static struct quoted quote_option(struct run *run, const char *option, const char *value)
{
    if (value == NULL)
        return (struct quoted){0};
    const char *line = arena_printf(&run->arena, "%s %s", option, value);
    const struct source *source = source_from_bytes(&run->arena, "<command line>", line, strlen(line));
    return (struct quoted){value, {source, strlen(option) + 1, strlen(value)}};
}

static struct span number_place(struct run *run, const char *option, int64_t number)
{
    if (number < 0)
        return (struct span){0};
    return quote_option(run, option, arena_printf(&run->arena, "%lld", (long long)number)).where;
}

static struct explain *explain(struct run *run)
{
    const struct cli *cli = &run->cli;
    struct option **chosen =
        candidates_choose(run->spec, run->device, &run->arena, cli->restrictions, cli->restriction_count, &run->diags);
    if (chosen == NULL)
        return NULL;
    const struct explain_query query = {.kernel = quote_option(run, "--kernel", cli->kernel),
                                        .access = cli->access,
                                        .access_where = number_place(run, "--access", cli->access),
                                        .warp = cli->warp,
                                        .warp_where = number_place(run, "--warp", cli->warp)};
    return explain_access(run->spec, run->device, chosen, &query, &run->arena, &run->diags);
}

/* Everywhere but on a terminal the picture is the same: narrow and ASCII. */
static struct explain_style choose_style(const struct run *run)
{
    enum { WIDEST = 400 };
    struct explain_style style = {.width = EXPLAIN_WIDTH};
    const int file = run->cli.output != NULL ? -1 : STDOUT_FILENO;
    struct winsize size;
    style.color = cli_use_color(&run->cli, file);
    if (file < 0 || isatty(file) != 1)
        return style;
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > EXPLAIN_WIDTH)
        style.width = size.ws_col < WIDEST ? size.ws_col : WIDEST;
    style.unicode = setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    (void)setlocale(LC_CTYPE, "C");
    return style;
}

static bool wants_svg(const struct cli *cli)
{
    static const char ending[] = ".svg";
    const size_t length = cli->output == NULL ? 0 : strlen(cli->output);
    return length > strlen(ending) && strcmp(cli->output + length - strlen(ending), ending) == 0;
}

enum exit_status cli_explain(struct run *run)
{
    struct explain *picture = run_load(run) ? explain(run) : NULL;
    if (picture == NULL || diag_failed(&run->diags))
        return EXIT_BAD_INPUT;
    json_t *view = view_explain(run->spec, run->device, picture);
    const struct explain_style style = choose_style(run);
    bool good = true;
    if (run->cli.format == FORMAT_JSON)
        emit_json(&run->out, view);
    else if (wants_svg(&run->cli))
        good = report_svg(&run->out, view, &run->arena, &run->diags);
    else
        emit_explain(&run->out, view, &style);
    json_decref(view);
    return good ? run_write(run) : EXIT_BAD_INPUT;
}
