/* Takes what a GPU was measured to move in launches of a description's kernels, and what is predicted of them, gives
 * the two side by side: kernel by kernel and count by count, and the accesses that make up each count. */
#ifndef SW_VERIFY_H
#define SW_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "ncu.h"
#include "rank.h"
#include "spec.h"

enum verify_kind {
    VERIFY_EXACT,   /* address arithmetic: to be equal */
    VERIFY_NOISY,   /* exact, but the counter has arbitration on top; 27 % were seen */
    VERIFY_ESTIMATE /* what caches keep, times: shown, not judged */
};
enum { VERIFY_NOISE_PERCENT = 35 }; /* what is let pass of noise */

enum verify_count {
    VERIFY_READ_REQUESTS,
    VERIFY_READ_SECTORS,
    VERIFY_READ_LINES,
    VERIFY_WRITE_REQUESTS,
    VERIFY_WRITE_SECTORS,
    VERIFY_ATOMIC_REQUESTS,
    VERIFY_ATOMIC_SECTORS,
    VERIFY_REQUESTS, /* of reads, writes and atomics together */
    VERIFY_SECTORS,
    VERIFY_SHARED_READ_PASSES, /* wavefronts less conflicts */
    VERIFY_SHARED_READ_WAVEFRONTS,
    VERIFY_SHARED_WRITE_PASSES,
    VERIFY_SHARED_WRITE_WAVEFRONTS,
    VERIFY_SHARED_PASSES, /* of both together */
    VERIFY_SHARED_WAVEFRONTS,
    VERIFY_L2_READ_SECTORS,
    VERIFY_L2_WRITE_SECTORS,
    VERIFY_L2_SECTORS,
    VERIFY_DRAM_READ_BYTES,
    VERIFY_DRAM_WRITE_BYTES,
    VERIFY_TIME_US
};
enum { VERIFY_COUNTS = VERIFY_TIME_US + 1 };

const char *verify_count_key(enum verify_count count); /* "read_sectors" */
enum verify_kind verify_count_kind(enum verify_count count);

/* One count of one kernel, of one launch. */
struct verified {
    enum verify_count count;
    double predicted;
    double measured, least, most; /* the mean over the launches compared, and their range */
    bool differs;                 /* the mean is further from what is predicted than the tolerance */
};

struct verified_kernel {
    const struct ranked_kernel *kernel;
    const char *function;             /* as the table names it; NULL: not measured */
    size_t launches;                  /* compared: those of the description's blocks and threads */
    const struct ncu_launch *strange; /* one of another shape, NULL: there is none */
    size_t strange_count;
    struct verified counts[VERIFY_COUNTS]; /* those measured in all launches compared, in the order of the enum */
    size_t count_count;
    bool differs; /* a count does, or every launch was of another shape */
};

struct verify {
    struct verified_kernel *kernels; /* in the description's order, one for each function measured of a kernel */
    size_t kernel_count, kernel_capacity;
    const char **others; /* names of kernels measured that the description does not have, each once */
    size_t other_count;
    double tolerance_percent;
    bool differs;
};

/* `best` is the candidate that was measured, scored. NULL after a diagnostic: no launch is of a kernel of the
 * description [ncu-kernels]. */
struct verify *verify_compare(const struct spec *spec, const struct ranked *best, const struct ncu_report *report,
                              double tolerance_percent, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* What an access adds to a predicted count; 0 too for counts that no single access makes up (estimates). */
uint64_t verify_share(const struct access_score *access, enum verify_count count);

#endif
