/* A program of someone else's that uses the installed library. It has an arena_alloc of its own, as programs do: the
 * library's inner names are nobody's concern. */
#include <sectorwise.h>
#include <stdio.h>
#include <string.h>

void *arena_alloc(const char *what);

void *arena_alloc(const char *what)
{
    printf("not yours: %s\n", what);
    return NULL;
}

static const char description[] = "<layout xmlns='urn:sectorwise:layout:1' name='demo'>"
                                  "<struct name='P'><field name='x' type='float' count='4'/></struct>"
                                  "<array name='p' of='P' extent='1024'/>"
                                  "<kernel name='k' block='256' grid='4'>"
                                  "<read array='p' field='x[0]' index='thread'/>"
                                  "</kernel></layout>";

int main(void)
{
    struct sectorwise_job job = {.bytes = description, .length = strlen(description)};
    char *answer;
    if (strcmp(sectorwise_version(), SECTORWISE_VERSION) != 0)
        return 1;
    if (sectorwise_score(&answer, &job) != SECTORWISE_OK || strstr(answer, "\"sectors\": 512") == NULL)
        return 1;
    sectorwise_free(answer);
    job.length /= 2;
    if (sectorwise_rank(&answer, &job) != SECTORWISE_BAD_INPUT || strstr(answer, "error:") == NULL)
        return 1;
    sectorwise_free(answer);
    puts("512 sectors");
    return 0;
}
