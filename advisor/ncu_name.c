#include <string.h>

#include "ncu.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* "_ZN2ns5driftI4bodyEEvT_": names are preceded by their lengths, the function's is the last before its template
 * arguments or the end of the nested name. NULL where it is not of this form. */
static const char *mangled_name(const char *kernel, struct arena *arena)
{
    const char *at = kernel + 2, *name = NULL;
    size_t length = 0;
    bool nested = *at == 'N';
    at += nested;
    while (*at == 'L' || *at == 'K' || is_digit(*at)) {
        size_t number = 0;
        for (at += !is_digit(*at); is_digit(*at) && number < strlen(kernel); at++)
            number = number * 10 + (size_t)(*at - '0');
        if (number == 0 || number > strlen(at))
            break;
        name = at;
        length = number;
        at += number;
        if (!nested)
            break;
    }
    for (size_t i = 0; name != NULL && i < length; i++)
        if (!is_word(name[i]))
            return NULL;
    return name == NULL ? NULL : arena_copy(arena, name, length);
}

/* Without what stands in angle brackets: those of templates, and "<unnamed>". */
static char *without_templates(const char *kernel, struct arena *arena)
{
    char *out = arena_copy(arena, kernel, strlen(kernel)), *to = out;
    size_t depth = 0;
    for (const char *from = kernel; *from != '\0'; from++) {
        if (*from == '<')
            depth++;
        else if (*from == '>' && depth > 0)
            depth--;
        else if (depth == 0)
            *to++ = *from;
    }
    *to = '\0';
    return out;
}

const char *ncu_function_name(const char *kernel, struct arena *arena)
{
    const char *mangled = strncmp(kernel, "_Z", 2) == 0 ? mangled_name(kernel, arena) : NULL;
    if (mangled != NULL)
        return mangled;
    char *plain = without_templates(kernel, arena);
    /* The parameters begin at the first parenthesis behind a name; "(anonymous namespace)::" is no such. */
    char *end = plain;
    while (*end != '\0' && !(*end == '(' && end > plain && is_word(end[-1])))
        end++;
    while (end > plain && !is_word(end[-1]))
        end--;
    char *begin = end;
    while (begin > plain && is_word(begin[-1]))
        begin--;
    return arena_copy(arena, begin, (size_t)(end - begin));
}
