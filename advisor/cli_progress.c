#include "cli_progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli_signals.h"
#include "text.h"

enum { LEVELS_MAX = 4, COLUMNS_MAX = 79 };

/* A level of the work, the outer ones first: a file, a candidate, a kernel. */
struct level {
    const char *what;
    const char *name; /* only while it is told: it may be gone later */
    uint64_t done, total;
};

struct cli_progress {
    struct progress progress;
    const char *command;
    struct level levels[LEVELS_MAX];
    size_t level_count;
    double next_s;    /* when the line is to be written again */
    char at_work[48]; /* what is shown while nothing is told */
};

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* "file 3 of 18", "candidate 12", "kernel product 37 %" */
static void put_level(struct text *out, const struct level *level)
{
    bool share = strcmp(level->what, "kernel") == 0;
    text_printf(out, " %s", level->what);
    if (level->name != NULL)
        text_printf(out, " %s", level->name);
    if (share && level->total > 0)
        text_printf(out, " %3.0f %%", 100 * (double)level->done / (double)level->total);
    else if (!share)
        text_printf(out, level->total > 0 ? " %" PRIu64 " of %" PRIu64 : " %" PRIu64, level->done, level->total);
}

static void write_line(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(STDERR_FILENO, bytes, length);
        if (wrote <= 0)
            return; /* nobody sees it */
        bytes += wrote;
        length -= (size_t)wrote;
    }
}

static void show(struct cli_progress *progress)
{
    struct text line = {0};
    text_printf(&line, "\rsectorwise %s:", progress->command);
    for (size_t i = 0; i < progress->level_count; i++) {
        text_puts(&line, i == 0 ? "" : ",");
        put_level(&line, &progress->levels[i]);
    }
    /* A line that wraps could not be cleared. */
    if (line.length > COLUMNS_MAX)
        line.length = COLUMNS_MAX;
    text_puts(&line, "\033[K");
    signals_say_later(NULL, 0);
    signals_line(true);
    write_line(line.bytes, line.length);
    text_free(&line);
}

/* A level that is told again is done with the ones inside it. */
static struct level *find_level(struct cli_progress *progress, const char *what)
{
    size_t i = 0;
    while (i < progress->level_count && strcmp(progress->levels[i].what, what) != 0)
        i++;
    if (i == LEVELS_MAX)
        return NULL;
    progress->level_count = i + 1;
    progress->levels[i].what = what;
    return &progress->levels[i];
}

static void on_told(void *context, const char *what, const char *name, uint64_t done, uint64_t total)
{
    const double pause_s = 0.1;
    struct cli_progress *progress = context;
    struct level *level = find_level(progress, what);
    if (level == NULL)
        return;
    level->done = done;
    level->total = total;
    double now = now_s();
    if (now < progress->next_s)
        return;
    level->name = name;
    progress->next_s = now + pause_s;
    show(progress);
    level->name = NULL;
}

struct cli_progress *cli_progress_start(const char *command)
{
    const double patience_s = 1;
    if (isatty(STDERR_FILENO) != 1)
        return NULL;
    struct cli_progress *progress = calloc(1, sizeof(*progress));
    if (progress == NULL)
        abort();
    progress->progress = (struct progress){progress, on_told};
    progress->command = command;
    progress->next_s = now_s() + patience_s;
    (void)snprintf(progress->at_work, sizeof(progress->at_work), "\rsectorwise %s: at work\033[K", command);
    signals_say_later(progress->at_work, (unsigned)patience_s);
    return progress;
}

const struct progress *cli_progress_of(const struct cli_progress *progress)
{
    return progress == NULL ? NULL : &progress->progress;
}

void cli_progress_end(struct cli_progress *progress)
{
    static const char clear[] = "\r\033[K";
    if (progress == NULL)
        return;
    signals_say_later(NULL, 0);
    if (signals_line_stands())
        write_line(clear, sizeof(clear) - 1);
    signals_line(false);
    free(progress);
}
