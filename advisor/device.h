/* Holds what a GPU can do: limits that bound launches, and rates that the time estimate divides by. Plain data that
 * `read_device` fills from an XML file; devices/h200.xml documents every figure's source. Gives how many blocks a
 * multiprocessor holds, and what L1 has beside their shared memory. */
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
    int64_t l2_kept_bytes;    /* of data used again at random or from launch to launch, what L2 still has */
    int64_t page_bytes;       /* that one address translation covers */
    int64_t tlb_bytes;        /* that random accesses reach without waiting for translations */
    int64_t l1_merge_sectors; /* a request's, up to which the warp's next store to them merges with it before L2 */
    /* rates; "a multiprocessor" where they say so, else of the whole chip */
    double clock_ghz;
    double dram_read_gbs, dram_write_gbs, dram_mixed_gbs; /* 1e9 bytes/s that a plain stream reaches */
    double dram_random_pairs_per_ns;                      /* pairs of sectors read in random order */
    double dram_spread_loss;                              /* share of time that writing to distant places costs more */
    double dram_block_ns;       /* the least that a block of 256 bytes takes, if a byte of it is written */
    double dram_mixed_block_ns; /* ... while others are read */
    double l2_sectors_per_ns, l2_lines_per_ns;           /* read */
    double l2_updates_in_flight;                         /* at once: how many lines they keep busy */
    double l2_conflict_ns;                               /* that an update waits on a busy line */
    double l2_write_sectors_per_ns;                      /* written whole */
    double l2_part_sectors_per_ns, l2_part_lines_per_ns; /* written in part: these two times add up */
    double l2_fill_wait_ns;   /* that a store adds to a sector which another has opened and DRAM has not filled yet */
    double tlb_misses_per_ns; /* address translations beyond `tlb_bytes` */
    double l1_sectors_per_clock;                          /* missed, a multiprocessor */
    double l1_wavefronts_per_clock;                       /* a multiprocessor */
    double shared_wavefronts_per_clock;                   /* a multiprocessor */
    double issue_per_clock;                               /* warp instructions, a multiprocessor */
    double flops_per_clock;                               /* 32-bit, a multiprocessor, a fused multiply-add being two */
    double flop_latency_clocks;                           /* from an operation to one that needs its result */
    double blocks_per_us, warps_per_us;                   /* launch rates */
    double dram_latency_ns, l2_latency_ns, l1_latency_ns; /* of a warp that loads once and ends */
    double store_latency_share;                           /* of those, what a store after the load adds */
    double barrier_ns;                                    /* what a staged copy makes a block wait besides its loads */
    double launch_us;                                     /* from a launch to its end where it does nothing */
};

/* Blocks that a multiprocessor holds at once: the least of what threads, registers a thread, shared memory and slots
 * allow; at least 1. */
int64_t device_resident_blocks(const struct device *device, uint64_t block_threads, int64_t registers,
                               uint64_t shared_bytes);

/* What L1 has beside the shared memory of so many resident blocks: the driver takes from it what lets them all be
 * there. */
uint64_t device_l1_bytes_beside(const struct device *device, int64_t blocks, uint64_t shared_bytes);

/* Loads a device by name (compiled in) or, where `name` holds a '/' or ends in ".xml", from a file. NULL after a
 * diagnostic that lists the known names. */
struct device *device_load(struct arena *arena, const char *name, struct diags *diags)
    __attribute__((warn_unused_result));

#endif
