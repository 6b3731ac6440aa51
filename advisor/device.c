#include "device.h"

enum { LANES = 32, SYSTEM_SHARED_BYTES = 1024 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t device_resident_blocks(const struct device *device, uint64_t block_threads, int64_t registers,
                               uint64_t shared_bytes)
{
    const int64_t warps = (int64_t)((block_threads + LANES - 1) / LANES), of_block = registers * LANES * warps;
    int64_t blocks = smaller(device->blocks_per_multiprocessor, device->threads_per_multiprocessor / (warps * LANES));
    if (of_block > 0)
        blocks = smaller(blocks, device->registers_per_multiprocessor / of_block);
    if (shared_bytes > 0)
        blocks =
            smaller(blocks, device->shared_bytes_per_multiprocessor / (int64_t)(shared_bytes + SYSTEM_SHARED_BYTES));
    return blocks < 1 ? 1 : blocks;
}

uint64_t device_l1_bytes_beside(const struct device *device, int64_t blocks, uint64_t shared_bytes)
{
    const int64_t whole = device->l1_bytes;
    if (shared_bytes == 0)
        return (uint64_t)whole;
    const int64_t taken =
        smaller(blocks * (int64_t)(shared_bytes + SYSTEM_SHARED_BYTES), device->shared_bytes_per_multiprocessor);
    return (uint64_t)(taken < whole ? whole - taken : 0);
}
