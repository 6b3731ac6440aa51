/* Takes XML text, gives a description as plain data with the place of every attribute. The only user of libxml2:
 * never network, never external entities, no DTD. What names and expressions mean is check's business. */
#ifndef SW_READ_H
#define SW_READ_H

#include "diag.h"
#include "source.h"
#include "spec.h"

enum { READ_DEPTH_MAX = 64, READ_ELEMENTS_MAX = 100000, READ_ATTRIBUTES_MAX = 32 /* of one element */ };

/* Reads a layout description. Returns NULL where the text is no well-formed layout of version 1 (after diagnostics).
 * Unknown elements and attributes, missing and duplicate attributes, misplaced elements and stray text are all
 * reported, each with its place and a "did you mean"; then diag_failed(diags) holds although a spec is returned, so
 * that check can go on and report more. */
struct spec *read_spec(struct arena *arena, const struct source *source, struct diags *diags)
    __attribute__((warn_unused_result));

/* Where an attribute stands in its element's row of the language's table, from 0; SIZE_MAX: it is not there. Names as
 * they are written in a start tag, the element's with its prefix. */
size_t read_attribute_order(struct span element, struct span attribute);

struct device; /* device.h */

/* Reads a device description (root <device xmlns="urn:sectorwise:device:1" name="...">). NULL after diagnostics. */
struct device *read_device(struct arena *arena, const struct source *source, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
