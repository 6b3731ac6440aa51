/* Takes a kernel's exact counts and a device, gives an estimate of the time that one launch takes when it is
 * repeated: the largest of what each resource needs.
 * The only place before the outputs where floating point begins. advisor/MODEL.md derives it. */
#ifndef SW_ESTIMATE_H
#define SW_ESTIMATE_H

#include <stdint.h>

#include "device.h"
#include "score.h"

enum resource {
    RESOURCE_DRAM,
    RESOURCE_L2,
    RESOURCE_L1,
    RESOURCE_TLB, /* address translation of scattered accesses */
    RESOURCE_SHARED,
    RESOURCE_ISSUE,
    RESOURCE_FLOPS,
    RESOURCE_FLIGHT, /* requests in flight: latency that too few outstanding requests cannot hide */
    RESOURCE_LAUNCH  /* blocks and warps a microsecond, and the shortest a kernel takes */
};
enum { RESOURCE_COUNT = RESOURCE_LAUNCH + 1 };

/* "dram", "l2", "l1", "tlb", "shared", "issue", "flops", "requests-in-flight", "launch". */
const char *resource_name(enum resource resource);

struct estimate {
    double time_us;
    enum resource bound_by;             /* the one with the largest time; launching, where that is half of it or more */
    double resource_us[RESOURCE_COUNT]; /* from the launch until each would be done; 0: has nothing to do */
    double l2_read_sectors, l2_write_sectors;
    double dram_read_bytes, dram_write_bytes; /* estimated traffic of a launch that finds L2 empty */
};

struct estimate estimate_kernel(const struct kernel_score *score, const struct device *device);

#endif
