/* Runs check programs, each compiled as a shared object, one after another in one process: making CUDA ready takes
 * longer than most of them.
 *
 *   run_programs [--launch|--time] PROGRAM.so...
 *
 * Each gets the option. With one it is preceded by a line "program PROGRAM". Exits 1 where one failed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int run(char *path, char *option)
{
    char *arguments[] = {path, option, NULL};
    void *program = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = program == NULL ? NULL : dlsym(program, "main");
    int (*start)(int, char **);
    if (symbol == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    memcpy(&start, &symbol, sizeof(start));
    if (option != NULL)
        printf("program %s\n", path);
    return start(option == NULL ? 1 : 2, arguments);
}

int main(int argc, char **argv)
{
    int failed = 0, first = argc > 1 && strncmp(argv[1], "--", 2) == 0 ? 2 : 1;
    /* A profiler writes to the same place. */
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (int i = first; i < argc; i++)
        failed |= run(argv[i], first == 2 ? argv[1] : NULL) != 0;
    return failed;
}
