/* A device for fuzz targets that check descriptions: reading one each time would take most of their time. */
#ifndef SW_FUZZ_DEVICE_H
#define SW_FUZZ_DEVICE_H

#include "device.h"

static const struct device fuzz_device = {
    .name = "fuzz",
    .title = "a device for fuzzing",
    .multiprocessors = 132,
    .threads_per_block = 1024,
    .threads_per_multiprocessor = 2048,
    .blocks_per_multiprocessor = 32,
    .registers_per_multiprocessor = 65536,
    .shared_bytes_per_block = 232448,
    .shared_bytes_per_multiprocessor = 233472,
    .l1_bytes = 262144,
    .l2_bytes = 62914560,
};

#endif
