#include "beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool beside_write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(file, bytes, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

mode_t beside_new_mode(void)
{
    enum { READ_WRITE_ALL = 0666 };
    mode_t mask = umask(0);
    (void)umask(mask);
    return READ_WRITE_ALL & ~mask;
}

const char *beside_write(const char *path, mode_t mode, const char *bytes, size_t length, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
    char *beside = arena_printf(arena, "%.*s.sectorwise.XXXXXX", folder, path);
    int file = mkstemp(beside);
    if (file < 0)
        return NULL;
    bool good = beside_write_all(file, bytes, length) && fchmod(file, mode) == 0;
    int error = errno;
    /* Some file systems tell only now that there is no space. */
    if (close(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good)
        return beside;
    (void)unlink(beside);
    errno = error;
    return NULL;
}

bool beside_is_fault(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EPIPE:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return true;
    default:
        return false;
    }
}
