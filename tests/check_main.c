/* Runs the suites of tests/check_*.c: all of them, or those named on the command line; --list prints their names.
 * The build writes suites.h, one X(module) for each file. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(module) Suite *module##_suite(void);
#include "suites.h"
#undef X

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define X(module) {#module, module##_suite},
#include "suites.h"
#undef X
    {NULL, NULL},
};

static int list_suites(void)
{
    for (size_t i = 0; suites[i].name != NULL; i++)
        puts(suites[i].name);
    return EXIT_SUCCESS;
}

static int add_named(SRunner *runner, const char *name)
{
    for (size_t i = 0; suites[i].name != NULL; i++) {
        if (strcmp(suites[i].name, name) == 0) {
            srunner_add_suite(runner, suites[i].make());
            return 1;
        }
    }
    (void)fprintf(stderr, "check_all: no suite is called '%s'\n", name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_suites();
    /* The library's four seconds are too few for a loaded machine or a sanitizer. */
    (void)setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    SRunner *runner = srunner_create(NULL);
    int known = 1;
    for (int i = 1; i < argc; i++)
        known &= add_named(runner, argv[i]);
    for (size_t i = 0; argc == 1 && suites[i].name != NULL; i++)
        srunner_add_suite(runner, suites[i].make());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    printf("%d passed, %d failed\n", srunner_ntests_run(runner) - failed, failed);
    srunner_free(runner);
    return known && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
