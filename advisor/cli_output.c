/* realpath is of the XSI part of POSIX. */
#define _XOPEN_SOURCE 700 /* NOLINT(bugprone-reserved-identifier) */

#include "cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beside.h"
#include "cli_signals.h"

void output_prepare(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0)
            /* The lowest free descriptor is the one that is missing. Read-only: writing there still fails. */
            (void)open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* Why `path` was not written. */
static enum output_status fail(int error, const char **reason)
{
    *reason = strerror(error);
    return beside_is_fault(error) ? OUTPUT_FAILED : OUTPUT_NO_PLACE;
}

/* Devices and pipes: there is nothing to rename over. */
static enum output_status write_through(const char *path, const char *bytes, size_t length, const char **reason)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return fail(errno, reason);
    bool good = beside_write_all(file, bytes, length);
    int error = errno;
    if (close(file) != 0 && good) {
        good = false;
        error = errno;
    }
    return good ? OUTPUT_OK : fail(error, reason);
}

static enum output_status replace(const char *path, const struct stat *before, const char *bytes, size_t length,
                                  struct arena *arena, const char **reason)
{
    enum { PERMISSIONS = 0777 };
    mode_t mode = before != NULL ? before->st_mode & PERMISSIONS : beside_new_mode();
    const char *beside = beside_write(path, mode, bytes, length, arena);
    if (beside == NULL)
        return fail(errno, reason);
    if (rename(beside, path) == 0)
        return OUTPUT_OK;
    int error = errno;
    (void)unlink(beside);
    return fail(error, reason);
}

/* A signal that ends the process waits until the file is in its place, or gone. */
static enum output_status write_beside(const char *path, const struct stat *before, const char *bytes, size_t length,
                                       struct arena *arena, const char **reason)
{
    signals_hold();
    enum output_status status = replace(path, before, bytes, length, arena, reason);
    signals_release();
    return status;
}

static enum output_status write_file(const char *path, const char *bytes, size_t length, struct arena *arena,
                                     const char **reason)
{
    struct stat before;
    if (stat(path, &before) != 0) {
        int error = errno;
        /* A symbolic link that leads nowhere is not ours to replace. */
        bool link = lstat(path, &before) == 0;
        return link ? fail(error, reason) : write_beside(path, NULL, bytes, length, arena, reason);
    }
    if (S_ISDIR(before.st_mode))
        return fail(EISDIR, reason);
    if (!S_ISREG(before.st_mode))
        return write_through(path, bytes, length, reason);
    /* A symbolic link stays one: what it points to is replaced. */
    char *target = realpath(path, NULL);
    if (target == NULL)
        return fail(errno, reason);
    enum output_status status = write_beside(target, &before, bytes, length, arena, reason);
    free(target);
    return status;
}

enum output_status output_write(const char *path, const char *bytes, size_t length, struct arena *arena,
                                const char **reason)
{
    if (path != NULL)
        return write_file(path, bytes, length, arena, reason);
    if (beside_write_all(STDOUT_FILENO, bytes, length))
        return OUTPUT_OK;
    *reason = strerror(errno);
    return errno == EPIPE ? OUTPUT_CLOSED : OUTPUT_FAILED;
}
