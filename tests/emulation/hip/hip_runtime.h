/* As much of HIP's runtime header as generated code needs to be compiled on the host. Nothing runs. */
#ifndef EMULATION_HIP_RUNTIME_H
#define EMULATION_HIP_RUNTIME_H

#include <cstddef>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;

    dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth)
    {
    }
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

enum hipError_t { hipSuccess, hipErrorInvalidValue };
using hipStream_t = struct ihipStream_t *;
enum hipMemcpyKind { hipMemcpyDeviceToDevice = 3 };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };

extern "C" hipError_t hipMemcpyAsync(void *to, const void *from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream);
extern "C" hipError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                      std::size_t shared_bytes, hipStream_t stream);
extern "C" hipError_t hipFuncSetAttribute(const void *kernel, hipFuncAttribute attribute, int value);
void __syncthreads();
int atomicAdd(int *to, int value);
unsigned atomicAdd(unsigned *to, unsigned value);
unsigned long long atomicAdd(unsigned long long *to, unsigned long long value);
float atomicAdd(float *to, float value);
double atomicAdd(double *to, double value);
unsigned atomicCAS(unsigned *to, unsigned expected, unsigned value);

#endif
