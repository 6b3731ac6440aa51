#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

struct source *source_from_bytes(struct arena *arena, const char *name, const char *bytes, size_t length)
{
    struct source *source = arena_alloc(arena, sizeof(*source));
    source->name = arena_copy(arena, name, strlen(name));
    source->bytes = arena_copy(arena, bytes, length);
    source->length = length;
    return source;
}

static enum source_status read_stream(int file, struct text *bytes, const char **reason)
{
    char buffer[65536];
    for (;;) {
        ssize_t got = read(file, buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            *reason = strerror(errno);
            return SOURCE_UNREADABLE;
        }
        if (got == 0)
            return SOURCE_OK;
        text_append(bytes, buffer, (size_t)got);
        if (bytes->length > SOURCE_BYTES_MAX) {
            *reason = "larger than 64 MiB";
            return SOURCE_TOO_LARGE;
        }
    }
}

static enum source_status refuse(int file, const char *why, const char **reason)
{
    (void)close(file);
    *reason = why;
    return SOURCE_NOT_REGULAR;
}

static enum source_status open_file(int *file, const char *path, bool only_regular, const char **reason)
{
    struct stat status;
    bool pipe = !only_regular && stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    /* O_NONBLOCK: what is refused below must not keep us waiting; a pipe waits for who writes to it. */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipe ? 0 : O_NONBLOCK));
    if (*file < 0 || fstat(*file, &status) != 0) {
        *reason = strerror(errno);
        return SOURCE_UNREADABLE;
    }
    if (S_ISREG(status.st_mode))
        return SOURCE_OK;
    if (only_regular)
        return refuse(*file, "not a regular file", reason);
    if (!S_ISFIFO(status.st_mode) && isatty(*file) != 1)
        return refuse(*file, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "neither a file nor a pipe", reason);
    (void)fcntl(*file, F_SETFL, fcntl(*file, F_GETFL) & ~O_NONBLOCK);
    return SOURCE_OK;
}

static enum source_status read_path(struct source **out, struct arena *arena, const char *path, bool only_regular,
                                    const char **reason)
{
    bool standard_input = !only_regular && strcmp(path, "-") == 0;
    int file = STDIN_FILENO;
    enum source_status status = SOURCE_OK;
    if (!standard_input)
        status = open_file(&file, path, only_regular, reason);
    if (status != SOURCE_OK)
        return status;
    struct text bytes = {0};
    status = read_stream(file, &bytes, reason);
    if (!standard_input)
        (void)close(file);
    if (status == SOURCE_OK)
        *out = source_from_bytes(arena, standard_input ? "<stdin>" : path, text_string(&bytes), bytes.length);
    text_free(&bytes);
    return status;
}

enum source_status source_read(struct source **out, struct arena *arena, const char *path, const char **reason)
{
    return read_path(out, arena, path, false, reason);
}

enum source_status source_read_file(struct source **out, struct arena *arena, const char *path, const char **reason)
{
    return read_path(out, arena, path, true, reason);
}

struct source_position source_locate(const struct source *source, size_t offset)
{
    if (offset > source->length)
        offset = source->length;
    struct source_position at = {.line = 1};
    if (source->bytes == NULL) {
        at.column = 1;
        return at;
    }
    for (size_t i = 0; i < offset; i++) {
        if (source->bytes[i] == '\n') {
            at.line++;
            at.line_start = i + 1;
        }
    }
    at.column = offset - at.line_start + 1;
    const char *end = memchr(source->bytes + at.line_start, '\n', source->length - at.line_start);
    at.line_end = end == NULL ? source->length : (size_t)(end - source->bytes);
    if (at.line_end > at.line_start && source->bytes[at.line_end - 1] == '\r')
        at.line_end--;
    return at;
}

/* How many raw bytes stand for the decoded character at `raw`, and how many decoded bytes it gives. */
static size_t raw_step(const char *raw, const char *raw_end, const char *decoded, size_t *decoded_bytes)
{
    *decoded_bytes = 1;
    if (raw[0] == '\r' && raw + 1 < raw_end && raw[1] == '\n')
        return 2;
    if (raw[0] != '&')
        return 1;
    const char *semicolon = memchr(raw, ';', (size_t)(raw_end - raw));
    if (semicolon == NULL)
        return 1;
    while ((decoded[*decoded_bytes] & 0xc0) == 0x80)
        (*decoded_bytes)++;
    return (size_t)(semicolon - raw) + 1;
}

/* The raw offset within the quoted text at which decoded byte `offset` begins. */
static size_t raw_offset(const struct quoted *quoted, size_t offset)
{
    const char *raw = quoted->where.source->bytes + quoted->where.offset;
    const char *raw_end = raw + quoted->where.length;
    const char *at = raw, *decoded = quoted->text;
    while (at < raw_end && (size_t)(decoded - quoted->text) < offset && *decoded != '\0') {
        size_t decoded_bytes;
        at += raw_step(at, raw_end, decoded, &decoded_bytes);
        decoded += decoded_bytes;
    }
    return (size_t)(at - raw);
}

struct span quoted_span(const struct quoted *quoted, size_t offset, size_t length)
{
    if (quoted->where.source == NULL)
        return quoted->where;
    size_t from = raw_offset(quoted, offset);
    size_t to = raw_offset(quoted, offset + length);
    return (struct span){quoted->where.source, quoted->where.offset + from, to > from ? to - from : 1};
}

struct source_lines source_index(const struct source *source, struct arena *arena)
{
    size_t count = 1;
    for (size_t i = 0; i < source->length; i++)
        count += source->bytes[i] == '\n';
    size_t *starts = arena_array(arena, count, sizeof(*starts));
    size_t line = 1;
    for (size_t i = 0; i < source->length; i++)
        if (source->bytes[i] == '\n')
            starts[line++] = i + 1;
    return (struct source_lines){source, starts, count};
}

struct source_position source_locate_in(const struct source_lines *lines, size_t offset)
{
    size_t low = 0, high = lines->count;
    if (offset > lines->source->length)
        offset = lines->source->length;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (lines->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    struct source_position at = {.line = low + 1, .line_start = lines->starts[low]};
    at.column = offset - at.line_start + 1;
    at.line_end = low + 1 < lines->count ? lines->starts[low + 1] - 1 : lines->source->length;
    if (at.line_end > at.line_start && lines->source->bytes[at.line_end - 1] == '\r')
        at.line_end--;
    return at;
}
