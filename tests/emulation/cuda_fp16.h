/* CUDA's half, as far as generated code uses it: a float cut to 11 bits of precision. */
#ifndef EMULATION_CUDA_FP16_H
#define EMULATION_CUDA_FP16_H

#include "cuda_runtime.h"

struct __half {
    std::uint16_t bits;

    __half() = default;
    /* Whole numbers from 0 to 2048 are all that is asked for. */
    explicit __half(float number) : bits(0)
    {
        int exponent = 15;
        float rest = number;
        for (; rest >= 2; rest /= 2)
            ++exponent;
        if (number >= 1)
            bits = static_cast<std::uint16_t>(exponent << 10 | static_cast<int>((rest - 1) * 1024));
    }
    explicit operator float() const
    {
        if (bits == 0)
            return 0;
        float number = 1 + static_cast<float>(bits & 1023) / 1024;
        for (int exponent = bits >> 10; exponent > 15; --exponent)
            number *= 2;
        return number;
    }
};

struct __half2 {
    __half x, y;
};

__host__ __device__ inline __half atomicAdd(__half *to, __half value)
{
    const __half before = *to;
    *to = __half(float(before) + float(value));
    return before;
}
__host__ __device__ inline __half2 atomicAdd(__half2 *to, __half2 value)
{
    return {atomicAdd(&to->x, value.x), atomicAdd(&to->y, value.y)};
}

#endif
