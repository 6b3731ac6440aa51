/* Fuzzes the reader of Nsight Compute's tables: what it accepts has launches, with values that are numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "arena.h"
#include "diag.h"
#include "ncu.h"
#include "source.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_launch(const struct ncu_launch *launch)
{
    for (const char *c = launch->name; *c != '\0'; c++)
        if (*c < '0' || *c > 'z')
            abort();
    for (int i = 0; i < NCU_METRIC_COUNT; i++)
        if (launch->given[i] && !(launch->value[i] >= 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct ncu_report report;
    struct text messages = {0};
    const struct source *source = source_from_bytes(&arena, "t.csv", (const char *)data, size);
    bool good = ncu_read(&report, source, &arena, &diags);
    if (good == diag_failed(&diags) || (good && report.count == 0))
        abort();
    for (size_t i = 0; good && i < report.count; i++)
        check_launch(&report.launches[i]);
    diag_render(&diags, &messages, false);
    text_free(&messages);
    arena_free(&arena);
    return 0;
}
