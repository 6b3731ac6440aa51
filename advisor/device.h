/* Holds what a GPU can do: limits that bound launches, and rates that the time estimate divides by. Plain data that
 * `read_device` fills from an XML file; devices/h200.xml documents every figure's source. */
#ifndef SW_DEVICE_H
#define SW_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "source.h"

struct device {
    const char *name;  /* "h200" */
    const char *title; /* "NVIDIA H200" */
    bool calibrated;   /* the rates were measured, not taken from public specifications */
    /* limits */
    int64_t multiprocessors;
    int64_t threads_per_block; /* 1024 */
    int64_t threads_per_multiprocessor;
    int64_t blocks_per_multiprocessor;
    int64_t registers_per_multiprocessor; /* 32-bit */
    int64_t shared_bytes_per_block;       /* the most that a block may opt in to */
    int64_t shared_bytes_per_multiprocessor;
    int64_t l1_bytes; /* L1 and shared memory together, a multiprocessor */
    int64_t l2_bytes;
    /* rates */
    double clock_ghz;
    double dram_read_gbs, dram_write_gbs, dram_mixed_gbs; /* 1e9 bytes/s that a plain stream reaches */
    double l2_sectors_per_ns;                             /* read sectors that L2 delivers, whole chip */
    double l2_write_sectors_per_ns;
    double l1_sectors_per_clock;        /* a multiprocessor */
    double l1_tags_per_clock;           /* lines looked up, a multiprocessor */
    double shared_wavefronts_per_clock; /* a multiprocessor */
    double issue_per_clock;             /* warp instructions, a multiprocessor */
    double flops_per_clock;             /* 32-bit, a multiprocessor, a fused multiply-add being two */
    double blocks_per_us;               /* launch rate, whole chip */
    double warps_per_us;
    double dram_latency_ns, l2_latency_ns;
    double requests_in_flight; /* sectors outstanding that a multiprocessor sustains */
    double launch_us;          /* the shortest a kernel takes */
};

/* Loads a device by name (compiled in) or, where `name` holds a '/' or ends in ".xml", from a file. NULL after a
 * diagnostic that lists the known names. */
struct device *device_load(struct arena *arena, const char *name, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
