/* Takes nothing, gives the files that are compiled in: templates/ and advisor/devices/ as they were at build time.
 * The definitions are written by the build (GNUmakefile, embedded.c). */
#ifndef SW_EMBEDDED_H
#define SW_EMBEDDED_H

#include <stddef.h>

/* A file's bytes, static and read-only. One NUL follows the last byte and is not counted in `length`. */
struct embedded_file {
    const char *name; /* without a folder: "cuda.cuh.mustache", "h200.xml" */
    const unsigned char *bytes;
    size_t length;
};

/* Sorted by name as strcmp orders; an entry of NULLs follows the last and is not counted. */
extern const struct embedded_file embedded_templates[];
extern const size_t embedded_template_count;

extern const struct embedded_file embedded_devices[];
extern const size_t embedded_device_count;

#endif
