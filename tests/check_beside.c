#include "beside.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[32];
static struct arena arena;

static void open_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/check_beside.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static unsigned count_files(void)
{
    unsigned count = 0;
    DIR *entries = opendir(folder);
    ck_assert_ptr_nonnull(entries);
    while (readdir(entries) != NULL) /* NOLINT(concurrency-mt-unsafe) */
        count++;
    (void)closedir(entries);
    return count - 2; /* "." and ".." */
}

static void close_folder(void)
{
    ck_assert_int_eq(rmdir(folder), 0);
    arena_free(&arena);
}

START_TEST(file_is_beside_and_whole)
{
    struct stat status;
    char buffer[8] = "";
    const char *path = arena_printf(&arena, "%s/%0250d", folder, 1);
    const char *beside = beside_write(path, 0640, "bytes\0", 6, &arena);
    ck_assert_ptr_nonnull(beside);
    ck_assert_int_eq(stat(beside, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
    ck_assert_int_eq(status.st_size, 6);
    FILE *file = fopen(beside, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(buffer, 1, sizeof(buffer), file), 6);
    ck_assert_int_eq(memcmp(buffer, "bytes\0", 6), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(rename(beside, path), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_uint_eq(count_files(), 0);
}
END_TEST

/* In a process of its own: a limit stays. */
static int write_too_much(void)
{
    enum { LIMIT = 4096 };
    static const char bytes[LIMIT + 1];
    const struct rlimit limit = {LIMIT, LIMIT};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (beside_write(arena_printf(&arena, "%s/file", folder), 0600, bytes, sizeof(bytes), &arena) != NULL)
        return 2;
    return errno == EFBIG && beside_is_fault(errno) ? 0 : 3;
}

START_TEST(nothing_is_left_of_what_does_not_fit)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
        _exit(write_too_much());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(no_folder_is_no_fault)
{
    ck_assert_ptr_null(beside_write(arena_printf(&arena, "%s/no/file", folder), 0600, "x", 1, &arena));
    ck_assert_int_eq(errno, ENOENT);
    ck_assert(!beside_is_fault(errno));
}
END_TEST

START_TEST(new_files_have_what_the_umask_leaves)
{
    const mode_t before = umask(027);
    ck_assert_uint_eq(beside_new_mode(), 0640);
    ck_assert_uint_eq(umask(before), 027);
}
END_TEST

Suite *beside_suite(void)
{
    Suite *suite = suite_create("beside");
    TCase *tcase = tcase_create("beside");
    tcase_add_checked_fixture(tcase, open_folder, close_folder);
    tcase_add_test(tcase, file_is_beside_and_whole);
    tcase_add_test(tcase, nothing_is_left_of_what_does_not_fit);
    tcase_add_test(tcase, no_folder_is_no_fault);
    tcase_add_test(tcase, new_files_have_what_the_umask_leaves);
    suite_add_tcase(suite, tcase);
    return suite;
}
