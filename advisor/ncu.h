/* Takes the CSV that Nsight Compute writes (ncu --csv, page raw or details), gives the counters of each kernel launch.
 * It is tolerant of what surrounds the table (output of the program, messages), of locales and units, and of what is
 * not measured; what is wrong with a number or a row it tells with its place. */
#ifndef SW_NCU_H
#define SW_NCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

/* Sums over a launch. */
enum ncu_metric {
    NCU_LOAD_REQUESTS, /* of warps to global memory */
    NCU_STORE_REQUESTS,
    NCU_ATOMIC_REQUESTS,    /* atomics that return a value */
    NCU_REDUCTION_REQUESTS, /* atomics that return none */
    NCU_LOAD_SECTORS,       /* asked of L1 */
    NCU_STORE_SECTORS,
    NCU_ATOMIC_SECTORS,
    NCU_REDUCTION_SECTORS,
    NCU_LOAD_LINES,             /* tag look-ups */
    NCU_SHARED_LOAD_WAVEFRONTS, /* conflicts included */
    NCU_SHARED_STORE_WAVEFRONTS,
    NCU_SHARED_LOAD_CONFLICTS,
    NCU_SHARED_STORE_CONFLICTS,
    NCU_L2_READ_SECTORS, /* asked of L2 by L1 */
    NCU_L2_WRITE_SECTORS,
    NCU_REQUESTS, /* from here to NCU_L2_SECTORS: loads, stores and atomics together */
    NCU_SECTORS,
    NCU_SHARED_WAVEFRONTS,
    NCU_SHARED_CONFLICTS,
    NCU_L2_SECTORS,
    NCU_DRAM_READ_BYTES,
    NCU_DRAM_WRITE_BYTES,
    NCU_TIME_NS
};
enum { NCU_METRIC_COUNT = NCU_TIME_NS + 1 };

/* What the counter is called: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum". */
const char *ncu_metric_name(enum ncu_metric metric);

struct ncu_launch {
    const char *id;     /* as the table numbers it */
    const char *kernel; /* as the table has it: "void ns::drift<body>(view, T1)", "_ZN2ns5driftEv", "drift" */
    const char *name;   /* the function alone: "drift" */
    bool has_shape;
    uint64_t blocks, block_threads; /* where it has */
    bool given[NCU_METRIC_COUNT];
    double value[NCU_METRIC_COUNT]; /* in the unit of the metric's name */
    struct span where;              /* the launch's row */
};

struct ncu_report {
    struct ncu_launch *launches; /* in the table's order */
    size_t count;
};

/* Reads all tables of a file. Strings live in the arena. False after diagnostics: no table at all [ncu-table], one
 * without any metric of the list above [ncu-metrics], a row cut short [ncu-row], a number or unit that is none
 * [ncu-number]. */
bool ncu_read(struct ncu_report *out, const struct source *source, struct arena *arena, struct diags *diags)
    __attribute__((warn_unused_result));

/* The function's own name of a kernel, demangled or not, without its namespaces, template arguments and parameters. */
const char *ncu_function_name(const char *kernel, struct arena *arena);

#endif
