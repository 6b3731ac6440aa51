/* posix_openpt and its kin are of the XSI part of POSIX. */
#define _XOPEN_SOURCE 700 /* NOLINT(bugprone-reserved-identifier) */

#include "cli_signals.h"

#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

/* Hashed over 2^34 threads: minutes of work. */
static const char slow[] = "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"slow\">\n"
                           "  <array name=\"a\" of=\"float\" extent=\"1 shl 20\"/>\n"
                           "  <kernel name=\"scatter\" block=\"256\" grid=\"1 shl 26\">\n"
                           "    <write array=\"a\" index=\"(thread * 2654435761 >> 7) % (1 shl 20)\"/>\n"
                           "  </kernel>\n"
                           "</layout>\n";

static char folder[64], tool[4096];

static void enter_folder(void)
{
    char path[128];
    const char *given = getenv("SECTORWISE");
    ck_assert_ptr_nonnull(realpath(given == NULL ? "build/sectorwise" : given, tool));
    (void)snprintf(folder, sizeof(folder), "/tmp/check_signals.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/slow.xml", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(slow, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* How many names there are that begin with `name`. */
static size_t count_names(const char *name)
{
    glob_t found;
    char pattern[128];
    (void)snprintf(pattern, sizeof(pattern), "%s/%s*", folder, name);
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* Only what a run that ends by a signal may leave is there. */
static void leave_folder(void)
{
    char path[128];
    ck_assert_uint_eq(count_names(""), 1);
    (void)snprintf(path, sizeof(path), "%s/slow.xml", folder);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void wait_a_while(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Starts the tool; `terminal`: the name of its standard error and controlling terminal, or NULL for /dev/null. */
static pid_t start(const char *terminal, char *const words[])
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child > 0)
        return child;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)setsid();
    if (chdir(folder) != 0)
        _exit(97);
    int errors = open(terminal == NULL ? "/dev/null" : terminal, O_RDWR), nothing = open("/dev/null", O_RDWR);
    if (errors < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(errors, 2) < 0)
        _exit(98);
#ifdef TIOCSCTTY
    if (terminal != NULL)
        (void)ioctl(2, TIOCSCTTY, 0);
#endif
    (void)execv(tool, words);
    _exit(99);
}

static void assert_died(pid_t child, int number)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == number, "status %x, not signal %d", (unsigned)status,
                  number);
}

static const struct {
    int number;
    char *words[8];
} cases[] = {
    {SIGINT, {"sectorwise", "score", "slow.xml", "-o", "out", NULL}},
    {SIGINT, {"sectorwise", "rank", "slow.xml", "-o", "out", NULL}},
    {SIGTERM, {"sectorwise", "generate", "slow.xml", "-o", "out", NULL}},
    {SIGHUP, {"sectorwise", "check", "slow.xml", "-o", "out", NULL}},
    {SIGINT, {"sectorwise", "diff", "slow.xml", "slow.xml", "-o", "out", NULL}},
};

START_TEST(dies_without_a_trace)
{
    enter_folder();
    pid_t child = start(NULL, cases[_i].words);
    wait_a_while(300);
    ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
    ck_assert_int_eq(kill(child, cases[_i].number), 0);
    assert_died(child, cases[_i].number);
    leave_folder();
}
END_TEST

/* Reads what the terminal shows for so long, or until it is `wanted`. */
static bool read_until(struct text *shown, int terminal, const char *wanted, int milliseconds)
{
    for (; milliseconds > 0; milliseconds -= 100) {
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        char bytes[4096];
        ssize_t got = poll(&ready, 1, 100) > 0 ? read(terminal, bytes, sizeof(bytes)) : 0;
        if (got > 0)
            text_append(shown, bytes, (size_t)got);
        if (strstr(text_string(shown), wanted) != NULL)
            return true;
    }
    return false;
}

static int open_terminal(const char **name)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        return -1;
    *name = ptsname(terminal);
    return terminal;
}

/* On a terminal the kernel and its share are shown after a while; Ctrl-C, typed there, clears that line. */
START_TEST(shows_progress)
{
    char *const words[] = {"sectorwise", "score", "slow.xml", "-o", "out", NULL};
    struct text shown = {0};
    const char *name;
    enter_folder();
    int terminal = open_terminal(&name);
    if (terminal < 0)
        return; /* no pseudo-terminals here */
    int kept = open(name, O_RDWR | O_NOCTTY);
    pid_t child = start(name, words);
    bool seen = read_until(&shown, terminal, "kernel scatter", 20000);
    ck_assert_msg(seen, "shown: '%s'", text_string(&shown));
    ck_assert_ptr_nonnull(strstr(text_string(&shown), "\rsectorwise score: kernel scatter "));
    ck_assert_int_eq(write(terminal, "\003", 1), 1);
    assert_died(child, SIGINT);
    (void)read_until(&shown, terminal, "never", 300);
    const char *end = text_string(&shown) + shown.length - 4;
    ck_assert_msg(strcmp(end, "\r\033[K") == 0, "the line stays: '%s'", end);
    leave_folder();
    text_free(&shown);
    (void)close(kept);
    (void)close(terminal);
}
END_TEST

/* What is quick shows nothing. */
START_TEST(shows_nothing_early)
{
    char *const words[] = {"sectorwise", "rank", "slow.xml", "-D", "N=1", "-o", "out", NULL};
    char *const help[] = {"sectorwise", "rank", "--help", NULL};
    struct text shown = {0};
    const char *name;
    int status = 0;
    enter_folder();
    int terminal = open_terminal(&name);
    if (terminal < 0)
        return;
    int kept = open(name, O_RDWR | O_NOCTTY);
    ck_assert_int_eq(waitpid(start(name, help), &status, 0) > 0 && WIFEXITED(status), 1);
    (void)read_until(&shown, terminal, "never", 200);
    ck_assert_str_eq(text_string(&shown), "");
    (void)waitpid(start(name, words), &status, 0);
    (void)read_until(&shown, terminal, "[unknown-param]", 2000);
    ck_assert_ptr_null(strstr(text_string(&shown), "\033[K"));
    leave_folder();
    text_free(&shown);
    (void)close(kept);
    (void)close(terminal);
}
END_TEST

/* A signal that comes while something is being written waits until that is done. */
START_TEST(waits_while_held)
{
    int pipes[2], status = 0;
    char got[8] = "";
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        signals_prepare();
        signals_hold();
        (void)raise(SIGINT);
        (void)raise(SIGINT);
        ssize_t wrote = write(pipes[1], "held", 4);
        signals_release();
        wrote += write(pipes[1], "gone", 4);
        _exit(wrote == 8);
    }
    (void)close(pipes[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    ck_assert_int_eq(read(pipes[0], got, sizeof(got)), 4);
    ck_assert_str_eq(got, "held");
    (void)close(pipes[0]);
}
END_TEST

/* What is to be said later is said then, whatever goes on, unless it was taken back. */
START_TEST(says_later)
{
    int pipes[2], status = 0;
    char got[16] = "";
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(pipes[1], STDERR_FILENO);
        signals_say_later("never", 1);
        signals_say_later(NULL, 0);
        wait_a_while(1200);
        signals_say_later("late", 1);
        bool early = signals_line_stands();
        wait_a_while(500);
        early |= signals_line_stands();
        for (int i = 0; i < 50 && !signals_line_stands(); i++)
            wait_a_while(100);
        _exit(!early && signals_line_stands() ? 0 : 1);
    }
    (void)close(pipes[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(read(pipes[0], got, sizeof(got) - 1), 4);
    ck_assert_str_eq(got, "late");
    (void)close(pipes[0]);
}
END_TEST

/* What was ignored stays so: nohup. */
START_TEST(leaves_ignored_alone)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGHUP, SIG_IGN);
        signals_prepare();
        (void)raise(SIGHUP);
        signals_hold();
        signals_release();
        _exit(7);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
END_TEST

Suite *signals_suite(void);

Suite *signals_suite(void)
{
    Suite *suite = suite_create("signals");
    TCase *tool_case = tcase_create("tool");
    tcase_add_loop_test(tool_case, dies_without_a_trace, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tool_case, shows_progress);
    tcase_add_test(tool_case, shows_nothing_early);
    suite_add_tcase(suite, tool_case);
    TCase *holding = tcase_create("holding");
    tcase_add_test(holding, waits_while_held);
    tcase_add_test(holding, says_later);
    tcase_add_test(holding, leaves_ignored_alone);
    suite_add_tcase(suite, holding);
    return suite;
}
