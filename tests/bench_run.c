/* Takes a number of runs and a command, gives one line: "MS CPU_MS MIB", the median wall time of a run, start of the
 * process included, the least time that a run took on all cores together, and the most memory that a run held. What the
 * command prints is thrown away; where it fails nothing is printed and the status is its own. */
#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 1001 };

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void become(char **command)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        (void)dup2(nowhere, STDOUT_FILENO);
    (void)execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Runs the command once; its exit status, 126 where it could not be started or was killed. */
static int run_once(double *ms, char **command)
{
    const double start = now_ms();
    int status;
    pid_t child = fork();
    if (child < 0)
        return 126;
    if (child == 0)
        become(command);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 126;
    *ms = now_ms() - start;
    return WEXITSTATUS(status);
}

static double time_ms(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* All that the children so far took on all cores. */
static double children_ms(void)
{
    struct rusage children;
    if (getrusage(RUSAGE_CHILDREN, &children) != 0)
        abort();
    return time_ms(children.ru_utime) + time_ms(children.ru_stime);
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 0 where the text is no number of runs. */
static int parse_runs(const char *text)
{
    char *end;
    const long runs = strtol(text, &end, 10);
    return *end == '\0' && runs > 0 && runs <= RUNS_MAX ? (int)runs : 0;
}

int main(int argc, char **argv)
{
    double ms[RUNS_MAX] = {0};
    int runs = argc > 2 ? parse_runs(argv[1]) : 0;
    if (runs == 0) {
        fprintf(stderr, "usage: bench_run RUNS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    double least_cpu_ms = DBL_MAX;
    for (int i = 0; i < runs; i++) {
        const double before_ms = children_ms();
        int status = run_once(&ms[i], argv + 2);
        if (status != 0)
            return status;
        const double cpu_ms = children_ms() - before_ms;
        least_cpu_ms = cpu_ms < least_cpu_ms ? cpu_ms : least_cpu_ms;
    }
    qsort(ms, (size_t)runs, sizeof(*ms), compare_times);
    struct rusage children;
    if (getrusage(RUSAGE_CHILDREN, &children) != 0)
        return 126;
    /* ru_maxrss: kibibytes, of the largest child. */
    printf("%.3f %.3f %.1f\n", ms[runs / 2], least_cpu_ms, (double)children.ru_maxrss / 1024);
    return 0;
}
