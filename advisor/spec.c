#include "spec.h"

#include <string.h>

#define SCALAR(word, of, bytes)                                                                                        \
    {                                                                                                                  \
        .kind = TYPE_SCALAR, .name = {.text = word}, .size = (bytes), .align = (bytes), .scalar = (of),                \
        .components = 1                                                                                                \
    }
#define VECTOR(word, of, count, bytes, alignment)                                                                      \
    {                                                                                                                  \
        .kind = TYPE_VECTOR, .name = {.text = word}, .size = (bytes), .align = (alignment), .scalar = (of),            \
        .components = (count)                                                                                          \
    }
/* CUDA aligns vectors of 2 and 4 to their size, those of 3 like one component (vector_types.h). */
#define VECTORS_TO_2(word, of, bytes)                                                                                  \
    VECTOR(word "1", of, 1, bytes, bytes), VECTOR(word "2", of, 2, 2 * (bytes), 2 * (bytes))
#define VECTORS_TO_4(word, of, bytes)                                                                                  \
    VECTORS_TO_2(word, of, bytes), VECTOR(word "3", of, 3, 3 * (bytes), bytes),                                        \
        VECTOR(word "4", of, 4, 4 * (bytes), 4 * (bytes))

/* CUDA's long is C's: 8 bytes where GPUs of today run. Its char vectors hold signed char. */
static const struct type builtin_types[] = {
    SCALAR("bool", SCALAR_BOOL, 1),
    SCALAR("char", SCALAR_CHAR, 1),
    SCALAR("int8", SCALAR_INT8, 1),
    SCALAR("uint8", SCALAR_UINT8, 1),
    SCALAR("int16", SCALAR_INT16, 2),
    SCALAR("uint16", SCALAR_UINT16, 2),
    SCALAR("half", SCALAR_HALF, 2),
    SCALAR("bfloat16", SCALAR_BFLOAT16, 2),
    SCALAR("int32", SCALAR_INT32, 4),
    SCALAR("uint32", SCALAR_UINT32, 4),
    SCALAR("int", SCALAR_INT, 4),
    SCALAR("unsigned", SCALAR_UNSIGNED, 4),
    SCALAR("float", SCALAR_FLOAT, 4),
    SCALAR("int64", SCALAR_INT64, 8),
    SCALAR("uint64", SCALAR_UINT64, 8),
    SCALAR("double", SCALAR_DOUBLE, 8),
    VECTORS_TO_4("char", SCALAR_INT8, 1),
    VECTORS_TO_4("uchar", SCALAR_UINT8, 1),
    VECTORS_TO_4("short", SCALAR_INT16, 2),
    VECTORS_TO_4("ushort", SCALAR_UINT16, 2),
    VECTORS_TO_4("int", SCALAR_INT, 4),
    VECTORS_TO_4("uint", SCALAR_UNSIGNED, 4),
    VECTORS_TO_2("long", SCALAR_INT64, 8),
    VECTORS_TO_2("ulong", SCALAR_UINT64, 8),
    VECTORS_TO_2("longlong", SCALAR_INT64, 8),
    VECTORS_TO_2("ulonglong", SCALAR_UINT64, 8),
    VECTORS_TO_4("float", SCALAR_FLOAT, 4),
    VECTORS_TO_2("double", SCALAR_DOUBLE, 8),
    VECTOR("half2", SCALAR_HALF, 2, 4, 4),
    VECTOR("bfloat162", SCALAR_BFLOAT16, 2, 4, 4),
};

enum { BUILTIN_TYPE_COUNT = sizeof(builtin_types) / sizeof(builtin_types[0]) };

const struct type *type_builtin(const char *name)
{
    for (size_t i = 0; i < BUILTIN_TYPE_COUNT; i++)
        if (strcmp(builtin_types[i].name.text, name) == 0)
            return &builtin_types[i];
    return NULL;
}

const char *type_builtin_name(size_t n)
{
    return n < BUILTIN_TYPE_COUNT ? builtin_types[n].name.text : NULL;
}

const char *access_op_name(enum access_op op)
{
    switch (op) {
    case ACCESS_READ:
        return "read";
    case ACCESS_WRITE:
        return "write";
    case ACCESS_UPDATE:
        return "update";
    case ACCESS_ATOMIC:
        return "atomic";
    }
    return "";
}
