/* Takes scores and rankings, gives the view: one JSON-like tree that `--format json` prints, that text outputs read and
 * that templates look their names up in. The only place that names output keys; keys are only ever added. */
#ifndef SW_VIEW_H
#define SW_VIEW_H

#include <jansson.h>
#include <stddef.h>

#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "rank.h"
#include "score.h"
#include "spec.h"

/* All give a tree that the caller frees with json_decref, or NULL after a diagnostic where a count is beyond 2^63-1
 * [count-overflow]. Counts are integers and exact. Times and ratios are rounded to six significant digits, so that the
 * last bits of a compiler's arithmetic never show. Objects keep the order in which their keys are set. */

/* What every view of a description begins with: its format, the description's name and the device. */
json_t *view_root(const struct spec *spec, const struct device *device, const char *format);

/* The view of `score`; `chosen` holds one option an array, as it was scored. */
json_t *view_score(const struct spec *spec, const struct device *device, struct option *const *chosen,
                   const struct score *score, struct diags *diags) __attribute__((warn_unused_result));

/* The view of `rank`: its first `top` candidates (0: all); the verdict and the ratios are of all. */
json_t *view_rank(const struct spec *spec, const struct device *device, const struct ranking *ranking, size_t top,
                  struct diags *diags) __attribute__((warn_unused_result));

/* A file that `generate` made, and what became of it. */
struct view_file {
    const char *name;
    const char *state; /* "written", "unchanged", "stale" */
};

/* The view of `generate`: the candidate that the code is for, and its files in `directory`. */
json_t *view_generate(const struct spec *spec, const struct device *device, struct option *const *chosen,
                      const char *directory, const struct view_file *files, size_t file_count)
    __attribute__((warn_unused_result));

/* The place in ranking->items of the candidate that changes nothing: aos or row-major by `direct`, pinned arrays as
 * they are pinned. ranking->count where a restriction left it out. */
size_t view_find_default(const struct ranking *ranking, size_t array_count);

/* The time of all kernels in all their calls, without conversions. */
double view_kernels_us(const struct spec *spec, const struct ranked *ranked);

/* A resource as a sentence says it: "DRAM", "instruction issue". */
const char *view_resource_title(enum resource resource);

#endif
