/* posix_openpt and its kin are of the XSI part of POSIX. */
#define _XOPEN_SOURCE 700 /* NOLINT(bugprone-reserved-identifier) */

#include "cli_progress.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli_signals.h"
#include "text.h"

/* A terminal that standard error goes to for a while. */
static int terminal, standard_error;
static struct text shown;

static bool open_terminal(void)
{
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        return false;                     /* no pseudo-terminals here */
    const char *name = ptsname(terminal); /* NOLINT(concurrency-mt-unsafe) */
    const int slave = name == NULL ? -1 : open(name, O_RDWR | O_NOCTTY);
    standard_error = dup(STDERR_FILENO);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
    return close(slave) == 0;
}

static void close_terminal(void)
{
    ck_assert_int_eq(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
    (void)close(standard_error);
    (void)close(terminal);
    text_free(&shown);
}

/* What the terminal has been given since it was last asked; "" where nothing comes. */
static const char *read_shown(int milliseconds)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    char bytes[4096];
    text_free(&shown);
    shown = (struct text){0};
    while (poll(&ready, 1, milliseconds) > 0) {
        const ssize_t got = read(terminal, bytes, sizeof(bytes));
        if (got <= 0)
            break;
        text_append(&shown, bytes, (size_t)got);
        milliseconds = 50;
    }
    return text_string(&shown);
}

static void wait_a_while(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000}, left;
    while (nanosleep(&time, &left) != 0)
        time = left; /* the alarm came */
}

/* Past the time for which nothing is shown, and the line that comes by itself then. */
static struct cli_progress *start_and_wait(const char *command)
{
    struct cli_progress *progress = cli_progress_start(command);
    ck_assert_ptr_nonnull(progress);
    wait_a_while(1100);
    (void)read_shown(200);
    return progress;
}

static const struct {
    const char *what, *name;
    uint64_t done, total;
    const char *line; /* after it, of all levels */
} told[] = {
    {"file", NULL, 3, 18, "\rsectorwise check: file 3 of 18\033[K"},
    {"candidate", NULL, 12, 0, "\rsectorwise check: file 3 of 18, candidate 12\033[K"},
    {"kernel", "product", 37, 100, "\rsectorwise check: file 3 of 18, candidate 12, kernel product  37 %\033[K"},
    {"kernel", "sum", 1, 0, "\rsectorwise check: file 3 of 18, candidate 12, kernel sum\033[K"},
    {"step", NULL, 1, 2, "\rsectorwise check: file 3 of 18, candidate 12, kernel, step 1 of 2\033[K"},
    {"fifth", NULL, 1, 2, ""},
    {"candidate", NULL, 13, 0, "\rsectorwise check: file 3 of 18, candidate 13\033[K"},
    {"file", NULL, 4, 18, "\rsectorwise check: file 4 of 18\033[K"},
    {"kernel", "a_name_that_is_longer_than_what_a_terminal_shows_of_the_whole_line_by_far", 1, 4,
     "\rsectorwise check: file 4 of 18, kernel a_name_that_is_longer_than_what_a_termi\033[K"},
};

START_TEST(levels_stand_in_one_line)
{
    if (!open_terminal())
        return;
    struct cli_progress *progress = start_and_wait("check");
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        wait_a_while(120);
        progress_tell(cli_progress_of(progress), told[i].what, told[i].name, told[i].done, told[i].total);
        ck_assert_str_eq(read_shown(told[i].line[0] == '\0' ? 50 : 2000), told[i].line);
    }
    ck_assert(signals_line_stands());
    cli_progress_end(progress);
    ck_assert_str_eq(read_shown(2000), "\r\033[K");
    ck_assert(!signals_line_stands());
    close_terminal();
}
END_TEST

/* Ten lines a second are enough, and none in the first. */
START_TEST(lines_do_not_come_too_often)
{
    if (!open_terminal())
        return;
    struct cli_progress *progress = cli_progress_start("rank");
    progress_tell(cli_progress_of(progress), "candidate", NULL, 1, 9);
    ck_assert_str_eq(read_shown(50), "");
    wait_a_while(1100);
    (void)read_shown(200);
    for (uint64_t i = 2; i < 1000; i++)
        progress_tell(cli_progress_of(progress), "candidate", NULL, i, 0);
    ck_assert_str_eq(read_shown(2000), "\rsectorwise rank: candidate 2\033[K");
    cli_progress_end(progress);
    close_terminal();
}
END_TEST

START_TEST(silent_work_is_told_too)
{
    if (!open_terminal())
        return;
    struct cli_progress *progress = cli_progress_start("generate");
    ck_assert_str_eq(read_shown(300), "");
    for (int i = 0; i < 50 && !signals_line_stands(); i++)
        wait_a_while(100);
    ck_assert_str_eq(read_shown(2000), "\rsectorwise generate: at work\033[K");
    cli_progress_end(progress);
    ck_assert_str_eq(read_shown(2000), "\r\033[K");
    progress = cli_progress_start("generate");
    cli_progress_end(progress);
    wait_a_while(1200);
    ck_assert_str_eq(read_shown(50), "");
    close_terminal();
}
END_TEST

START_TEST(nothing_is_shown_elsewhere)
{
    standard_error = dup(STDERR_FILENO);
    const int nothing = open("/dev/null", O_WRONLY);
    ck_assert_int_eq(dup2(nothing, STDERR_FILENO), STDERR_FILENO);
    ck_assert_ptr_null(cli_progress_start("score"));
    ck_assert_ptr_null(cli_progress_of(NULL));
    cli_progress_end(NULL);
    ck_assert_int_eq(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
    (void)close(nothing);
    (void)close(standard_error);
}
END_TEST

Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = tcase_create("progress");
    tcase_add_test(tcase, levels_stand_in_one_line);
    tcase_add_test(tcase, lines_do_not_come_too_often);
    tcase_add_test(tcase, silent_work_is_told_too);
    tcase_add_test(tcase, nothing_is_shown_elsewhere);
    suite_add_tcase(suite, tcase);
    return suite;
}
