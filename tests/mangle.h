/* Takes a description and a seed, gives another text of the same meaning: attributes in another order, other quotes,
 * references and white space, tags closed otherwise, comments here and there. */
#ifndef SW_MANGLE_H
#define SW_MANGLE_H

#include <stdint.h>

#include "source.h"
#include "text.h"

void mangle_write(struct text *out, const struct source *source, uint64_t seed);

#endif
