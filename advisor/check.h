/* Takes a description as read, gives it checked and complete: names resolved, types laid out by C's rules, numbers
 * evaluated, tables filled. A table of small named checks, each with what it needs done before. */
#ifndef SW_CHECK_H
#define SW_CHECK_H

#include <stdbool.h>

#include "device.h"
#include "diag.h"
#include "spec.h"

/* Completes `spec` in place: every field that spec.h marks "check fills this". `definitions` (-D) override params of
 * their name; one that names no param is an error with a "did you mean". `device` bounds the launch (threads a block,
 * block and grid dimensions, shared memory). Table files are read relative to the folder of spec->source->name (the
 * working folder for standard input). Returns true when there was no error in this or in reading; all errors of the
 * description are reported in one run, and what failed once is not reported again through its users. */
bool check_spec(struct spec *spec, struct arena *arena, const struct device *device,
                const struct definition *definitions, size_t definition_count, struct diags *diags)
    __attribute__((warn_unused_result));

/* Warnings about a checked description that means what it says, though hardly what was meant: a division with a
 * remainder in a `grid` of one dimension, for which no thread is launched [grid-remainder]. */
void check_warn(const struct spec *spec, struct diags *diags);

/* Flattens a type into leaves. The type must be complete. Returns NULL where it has more than LEAVES_MAX leaves. */
const struct record *check_flatten(struct arena *arena, const struct type *type);

#endif
