/* Takes a file name, gives its bytes with a name for messages; and turns byte offsets into lines and columns. */
#ifndef SW_SOURCE_H
#define SW_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/* A text that diagnostics can point into. Lives in the arena it was made in. `bytes` is NUL-terminated after
 * `length` bytes, which may themselves hold NULs. */
struct source {
    const char *name;  /* as messages show it: the path as given, "<stdin>", "<command line>" */
    const char *bytes; /* NULL: of a file that could not be read, which diagnostics name all the same */
    size_t length;
};

/* A range of bytes in a source. source == NULL: no position is known. */
struct span {
    const struct source *source;
    size_t offset;
    size_t length;
};

enum source_status { SOURCE_OK, SOURCE_UNREADABLE, SOURCE_NOT_REGULAR, SOURCE_TOO_LARGE };

enum { SOURCE_BYTES_MAX = 64 * 1024 * 1024 };

/* Reads the whole of what the user named: a file, "-" or a terminal, a pipe (`<(command)` of shells), until who writes
 * to it ends. Devices without an end are refused. On failure *reason is a sentence for the message (static or in the
 * arena) and *out is undefined. */
enum source_status source_read(struct source **out, struct arena *arena, const char *path, const char **reason)
    __attribute__((warn_unused_result));

/* As source_read of a regular file only, so that a pipe ends at once: for what a description or a template names, and
 * for what is to be rewritten. "-" is a file of that name. */
enum source_status source_read_file(struct source **out, struct arena *arena, const char *path, const char **reason)
    __attribute__((warn_unused_result));

/* A source over a copy of `length` bytes. */
struct source *source_from_bytes(struct arena *arena, const char *name, const char *bytes, size_t length);

/* A text that was decoded from a source (an attribute's value: entities replaced), with the place of its raw form.
 * text == NULL: the attribute is absent. */
struct quoted {
    const char *text;
    struct span where; /* the raw bytes between the quotes */
};

/* The place of `length` decoded bytes that begin `offset` bytes into quoted->text. */
struct span quoted_span(const struct quoted *quoted, size_t offset, size_t length);

/* Lines and columns count from 1; columns count bytes. An offset past the end is taken as the end. */
struct source_position {
    size_t line;
    size_t column;
    size_t line_start; /* offset of the line's first byte */
    size_t line_end;   /* offset just past its last byte, the line break excluded */
};
struct source_position source_locate(const struct source *source, size_t offset);

/* The lines of a text, for who looks up many places in it: source_locate reads from the beginning each time. */
struct source_lines {
    const struct source *source;
    const size_t *starts; /* offsets, ascending; the first is 0 */
    size_t count;
};
struct source_lines source_index(const struct source *source, struct arena *arena);
/* As source_locate. */
struct source_position source_locate_in(const struct source_lines *lines, size_t offset);

#endif
