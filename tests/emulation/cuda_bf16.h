/* CUDA's bfloat16, as far as generated code uses it: the upper half of a float. */
#ifndef EMULATION_CUDA_BF16_H
#define EMULATION_CUDA_BF16_H

#include "cuda_runtime.h"

struct __nv_bfloat16 {
    std::uint16_t bits;

    __nv_bfloat16() = default;
    explicit __nv_bfloat16(float number)
    {
        std::uint32_t all;
        std::memcpy(&all, &number, sizeof(all));
        bits = static_cast<std::uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
    }
    explicit operator float() const
    {
        const std::uint32_t all = static_cast<std::uint32_t>(bits) << 16;
        float number;
        std::memcpy(&number, &all, sizeof(number));
        return number;
    }
};

struct __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

__host__ __device__ inline __nv_bfloat16 atomicAdd(__nv_bfloat16 *to, __nv_bfloat16 value)
{
    const __nv_bfloat16 before = *to;
    *to = __nv_bfloat16(float(before) + float(value));
    return before;
}
__host__ __device__ inline __nv_bfloat162 atomicAdd(__nv_bfloat162 *to, __nv_bfloat162 value)
{
    return {atomicAdd(&to->x, value.x), atomicAdd(&to->y, value.y)};
}

#endif
