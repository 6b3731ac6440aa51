/* Takes a mapping and a byte of its storage, gives what is there: the inverse of layout_address. */
#ifndef SW_LAYOUT_FIND_H
#define SW_LAYOUT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

struct layout_byte {
    size_t leaf;     /* into array->record->leaves */
    uint64_t offset; /* bytes into the leaf */
};

/* What byte `address`, counted from the array's first, holds; quick where that is near leaf `near` in the record. False
 * where it holds nothing: padding of a record, of a tile or of a row, a gap between arrays of leaves, or a place
 * outside the storage. */
bool layout_find(struct layout_byte *out, const struct mapping *mapping, uint64_t address, size_t near);

#endif
