/* Calls a fuzz target's entry for each file of a folder, in the order of their names, and closes with
 * "N passed, N failed". A child does the calling and sends a byte for each file done; when it dies, the file it was
 * at has failed, and the next child goes on with the one after. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS_PER_FILE = 60 };

struct names {
    char **items;
    size_t count;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static char *join_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL)
        die("malloc");
    (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct names list_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    if (directory == NULL)
        die(folder);
    struct names names = {0};
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char **larger = realloc(names.items, (names.count + 1) * sizeof(*larger));
        if (larger == NULL)
            die("realloc");
        names.items = larger;
        names.items[names.count++] = join_path(folder, entry->d_name);
    }
    (void)closedir(directory);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    return names;
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die(path);
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        die(path);
    /* Exactly as large as the file, so that a read past its end is seen. */
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        die(path);
    (void)fclose(file);
    (void)alarm(SECONDS_PER_FILE);
    (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
    (void)alarm(0);
    free(bytes);
}

static void free_names(struct names names)
{
    for (size_t i = 0; i < names.count; i++)
        free(names.items[i]);
    free(names.items);
}

static void replay_from(struct names names, size_t first, int progress)
{
    for (size_t i = first; i < names.count; i++) {
        replay_file(names.items[i]);
        if (write(progress, "", 1) != 1)
            die("write");
    }
    free_names(names);
    exit(0);
}

/* Returns how many files a child got through, from `first` on. *status is as waitpid gives it. */
static size_t replay_in_child(struct names names, size_t first, int *status)
{
    int ends[2];
    if (pipe(ends) != 0)
        die("pipe");
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0)
        replay_from(names, first, ends[1]);
    (void)close(ends[1]);
    size_t done = 0;
    for (char byte; read(ends[0], &byte, 1) == 1;)
        done++;
    (void)close(ends[0]);
    if (waitpid(child, status, 0) != child)
        die("waitpid");
    return done;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    struct names names = list_folder(argv[1]);
    size_t failed = 0;
    for (size_t next = 0; next < names.count;) {
        int status = 0;
        next += replay_in_child(names, next, &status);
        if (status == 0)
            break;
        failed++;
        /* All files done and yet not 0: what is found at exit, a leak. */
        printf("%s: failed (wait status %d)\n", next < names.count ? names.items[next] : argv[1], status);
        next++;
    }
    printf("%zu passed, %zu failed\n", names.count > failed ? names.count - failed : 0, failed);
    free_names(names);
    return failed == 0 ? 0 : 1;
}
