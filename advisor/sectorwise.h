/* Sectorwise as a library: takes the bytes of a layout description, gives exact counts and a ranking as JSON.
 *
 * Functions share no state: they may run in several threads at once, each with its own arguments. They never print and
 * never exit; only running out of memory ends the process, through abort(). */
#ifndef SECTORWISE_H
#define SECTORWISE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SECTORWISE_VERSION "0.1.0"

#if defined(__GNUC__)
#define SECTORWISE_API __attribute__((visibility("default")))
#define SECTORWISE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SECTORWISE_API
#define SECTORWISE_MUST_CHECK
#endif

/* What to work on. Zero-initialise it; what is left 0 or NULL takes its default. Nothing is kept after a call. */
struct sectorwise_job {
    const char *bytes; /* the description: XML, `length` bytes */
    size_t length;
    const char *name;               /* of the description in messages; its folder is where table files are looked for.
                                       NULL: "<input>", and the working folder */
    const char *device;             /* a built-in name, or a path to an XML file; NULL: "h200" */
    const char *const *definitions; /* "NAME=VALUE" each: params overridden */
    size_t definition_count;
    const char *const *candidates; /* "ARRAY=LAYOUT/PLAN" each: arrays kept to one candidate */
    size_t candidate_count;
    size_t top; /* rank, report: the best so many candidates; 0: all */
};

enum sectorwise_status {
    SECTORWISE_OK = 0,
    SECTORWISE_BAD_INPUT = 2 /* the tool's exit status for the same */
};

/* The version of the library that is linked, as in SECTORWISE_VERSION. Static. */
SECTORWISE_API const char *sectorwise_version(void);

/* What `sectorwise score --format json` and `sectorwise rank --format json` print ("sectorwise-score-1" and
 * "sectorwise-rank-1"). Returns SECTORWISE_OK with that JSON in *out, or SECTORWISE_BAD_INPUT with the diagnostics of
 * all that is wrong ("file:line:col: error: message [id]" and more lines). *out is NUL-terminated, never NULL, and the
 * caller's, to be given to sectorwise_free. */
SECTORWISE_API enum sectorwise_status sectorwise_score(char **out,
                                                       const struct sectorwise_job *job) SECTORWISE_MUST_CHECK;
SECTORWISE_API enum sectorwise_status sectorwise_rank(char **out,
                                                      const struct sectorwise_job *job) SECTORWISE_MUST_CHECK;

/* What `sectorwise explain --format json` prints ("sectorwise-explain-1"): the requests of one access of the kernel,
 * which may be NULL where the description has but one.
 * `access` counts from 0 in document order, `warp` over the launch; negative: the access furthest from its ideal, and
 * the warp in which it costs most. Otherwise as the functions above. */
SECTORWISE_API enum sectorwise_status sectorwise_explain(char **out, const struct sectorwise_job *job,
                                                         const char *kernel, long long access,
                                                         long long warp) SECTORWISE_MUST_CHECK;

/* The page that `sectorwise report` writes: HTML that needs nothing else. `top` is 20 where it is 0. Otherwise as the
 * functions above. */
SECTORWISE_API enum sectorwise_status sectorwise_report(char **out,
                                                        const struct sectorwise_job *job) SECTORWISE_MUST_CHECK;

/* Frees a text that a function above gave; NULL is fine. */
SECTORWISE_API void sectorwise_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
