/* Takes how far a long piece of work is, gives that to whoever waits for it. */
#ifndef SW_PROGRESS_H
#define SW_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    void *context;
    /* Told often, by one thread at a time, and to be quick. `what`, static: "file", "candidate", "kernel"; `name`:
     * which one, or NULL. `done` of `total`; total 0: not known. */
    void (*told)(void *context, const char *what, const char *name, uint64_t done, uint64_t total);
};

/* `progress` may be NULL: nobody waits. */
static inline void progress_tell(const struct progress *progress, const char *what, const char *name, uint64_t done,
                                 uint64_t total)
{
    if (progress != NULL)
        progress->told(progress->context, what, name, done, total);
}

#endif
