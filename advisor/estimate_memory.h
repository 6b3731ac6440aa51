/* Takes a kernel's counts and footprint, gives what L1, L2, the TLB and DRAM have to do for one launch of it. */
#ifndef SW_ESTIMATE_MEMORY_H
#define SW_ESTIMATE_MEMORY_H

#include "device.h"
#include "score.h"

struct memory_work {
    /* L1: what loads take of its data banks, and what of it misses */
    double load_requests, load_sectors, load_wavefronts, missed_sectors;
    double l2_ns;   /* reads and writes, whole chip */
    double tlb_ns;  /* translations of scattered accesses, whole chip */
    double dram_ns; /* of a launch that is repeated: L2 keeps what it can from one to the next */
    double dram_read_bytes, dram_write_bytes; /* of a launch that finds L2 empty */
    double dram_share;                        /* of the missed sectors, those that L2 does not have either */
    double stored_sectors;                    /* by L1 */
    double l2_write_sectors;                  /* of them, what has not merged on the way */
};

struct memory_work memory_work_of(const struct kernel_score *score, const struct device *device);

#endif
