/* Takes the bytes of a file, puts them into a new one beside it, to be renamed over it: all of them, or no file. */
#ifndef SW_BESIDE_H
#define SW_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "arena.h"

/* Writes all bytes to a descriptor. False: errno says why not. */
bool beside_write_all(int file, const char *bytes, size_t length) __attribute__((warn_unused_result));

/* The permissions that the umask leaves to a new file. */
mode_t beside_new_mode(void);

/* Writes a new file of these permissions into the folder of `path`, by a name that is short whatever that of `path`:
 * only then can it be renamed over it. Returns the new file's path, in the arena, for the caller to rename or to
 * unlink; NULL where it could not be written (errno says why): then there is none. */
const char *beside_write(const char *path, mode_t mode, const char *bytes, size_t length, struct arena *arena)
    __attribute__((warn_unused_result));

/* Whether the system is to blame for an errno of writing (no space left, a broken device), not the path asked for. */
bool beside_is_fault(int error);

#endif
