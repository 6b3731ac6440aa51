/* Opens a description for a test, and tells where the counts of score.h and of the second implementation differ. */
#ifndef SW_COMPARE_H
#define SW_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "naive.h"
#include "score.h"
#include "text.h"

/* A description and what it is counted with; all memory is the arena's. */
struct bench {
    struct arena arena;
    struct diags diags;
    const struct device *device;
    const struct spec *spec;
};

/* The h200, in the arena. */
const struct device *load_device(struct arena *arena);

/* False where the description is not valid; bench->diags says why. Close it either way. */
bool bench_open(struct bench *bench, const struct device *device, const struct source *source,
                const struct definition *definitions, size_t definition_count);
bool bench_open_text(struct bench *bench, const struct device *device, const char *name, const char *text);
void bench_close(struct bench *bench);

/* What each kernel really does with each array, for the naive count. */
const struct naive_use *naive_uses(struct bench *bench, struct option *const *chosen);

enum { COUNT_FIELDS = 10 };
extern const char *const count_names[COUNT_FIELDS];
uint64_t count_field(const struct counts *counts, size_t field);

/* Appends a line for each number that differs. */
void compare_scores(struct text *out, const struct score *score, const struct naive_score *naive);

#endif
