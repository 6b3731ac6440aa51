/* Takes a checked description and one option an array, gives the view of its code: the JSON-like tree that the
 * templates of generated code read. Everything textual in it is a checked identifier, a number, or C++ made of those.
 * VIEW.md documents every key. */
#ifndef SW_VIEW_CODE_H
#define SW_VIEW_CODE_H

#include <jansson.h>

#include "arena.h"
#include "candidates.h"
#include "device.h"
#include "diag.h"
#include "spec.h"

/* Of the form of generated files: grows when code that relies on them has to change. */
enum { CODE_FORMAT = 1 };

/* The view; `chosen` holds one option an array, in the description's order. The caller frees it with json_decref.
 * NULL after a diagnostic [not-generated] where a choice cannot be written as code. */
json_t *view_code(const struct spec *spec, const struct device *device, struct option *const *chosen,
                  struct arena *arena, struct diags *diags) __attribute__((warn_unused_result));

/* FNV-1a, 64 bits (Fowler, Noll, Vo): h = 14695981039346656037; for each byte b: h = (h ^ b) * 1099511628211. The
 * content hash of generated files is that of the description's bytes, followed by "NAME=VALUE\n" for each param that
 * the command line set. */
uint64_t view_code_hash(const struct spec *spec);

#endif
