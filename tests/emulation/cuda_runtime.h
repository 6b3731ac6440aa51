/* Stands in for CUDA's runtime where there is no GPU: kernels run on the host, a thread after the other, each on a stack
 * of its own so that __syncthreads can wait for the others of its block, __syncwarp for those of its warp. Enough for what
 * Sectorwise generates, once check_generated.sh has replaced the two forms that are no C++: launches in triple brackets
 * and dynamic shared memory. Clang takes it as CUDA, too, to say who calls whom; there nothing runs. */
#ifndef EMULATION_CUDA_RUNTIME_H
#define EMULATION_CUDA_RUNTIME_H

#ifdef __CUDA__
#define __CUDACC__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __align__(bytes) __attribute__((aligned(bytes)))
#else
#define __global__
#define __device__
#define __host__
#define __align__(bytes) alignas(bytes)
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <ucontext.h>

#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;

    dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth)
    {
    }
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

using cudaError_t = int;
using cudaStream_t = void *;
using cudaEvent_t = double *;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };

#ifdef __CUDA__
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t = nullptr);
#endif

inline const char *cudaGetErrorName(cudaError_t)
{
    return "cudaErrorUnknown";
}
inline const char *cudaGetErrorString(cudaError_t)
{
    return "an error";
}
inline cudaError_t cudaMalloc(void **out, std::size_t size)
{
    constexpr std::size_t align = 512;
    *out = std::aligned_alloc(align, (size + align - 1) / align * align);
    return *out == nullptr;
}
template <class T>
inline cudaError_t cudaMalloc(T **to, std::size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(to), bytes);
}
inline cudaError_t cudaFree(void *memory)
{
    std::free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t size, int)
{
    std::memcpy(to, from, size);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t size, int, cudaStream_t = nullptr)
{
    std::memcpy(to, from, size);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int byte, std::size_t size)
{
    std::memset(to, byte, size);
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, int, int)
{
    return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    *out = new double(0);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event)
{
    *event = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    *ms = static_cast<float>((*end - *begin) * 1e3) + 1e-6f;
    return cudaSuccess;
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

namespace emulation {

struct fiber {
    ucontext_t context;
    std::vector<char> stack;
    dim3 thread;
    bool ready, done;
    const char *site;         /* where it waits for lanes of its warp; null: for its block */
    unsigned met;             /* the lanes that came there too */
    unsigned long long shown; /* to the other lanes */
};

inline unsigned char *shared;
inline ucontext_t scheduler;
inline std::vector<fiber> fibers;
inline fiber *running;
inline void (*entry)(void *);
inline void *argument;

inline void start()
{
    entry(argument);
    running->done = true;
}

inline void prepare(fiber &one, dim3 thread)
{
    constexpr std::size_t stack_bytes = 256 * 1024;
    one.stack.resize(stack_bytes);
    getcontext(&one.context);
    one.context.uc_stack.ss_sp = one.stack.data();
    one.context.uc_stack.ss_size = one.stack.size();
    one.context.uc_link = &scheduler;
    one.thread = thread;
    one.ready = true;
    one.done = false;
    one.site = nullptr;
    makecontext(&one.context, start, 0);
}

/* Runs those that are ready until they wait or are done; returns how many are done. */
inline unsigned run_ready(unsigned threads)
{
    unsigned done = 0;
    for (unsigned i = 0; i < threads; ++i) {
        running = &fibers[i];
        threadIdx = running->thread;
        if (running->ready && !running->done)
            swapcontext(&scheduler, &running->context);
        done += running->done;
    }
    running = nullptr;
    return done;
}

/* Of the lanes that wait for others of their warp, those at one place go on together. Returns whether there are any. */
inline bool release_lanes(unsigned first, unsigned past)
{
    const char *site = nullptr;
    unsigned met = 0;
    for (unsigned i = first; i < past; ++i)
        if (!fibers[i].done && fibers[i].site != nullptr && (site == nullptr || fibers[i].site < site))
            site = fibers[i].site;
    for (unsigned i = first; i < past && site != nullptr; ++i)
        met |= unsigned(!fibers[i].done && fibers[i].site == site) << (i - first);
    for (unsigned i = first; i < past; ++i) {
        if ((met >> (i - first) & 1) == 0)
            continue;
        fibers[i].ready = true;
        fibers[i].met = met;
    }
    return met != 0;
}

/* Runs the threads of a block from barrier to barrier. All must come to each. */
inline void run_block(dim3 block)
{
    const unsigned threads = block.x * block.y * block.z;
    for (unsigned i = 0; i < threads; ++i)
        prepare(fibers[i], dim3(i % block.x, i / block.x % block.y, i / block.x / block.y));
    for (unsigned done = 0; done < threads;) {
        done = run_ready(threads);
        bool released = false;
        for (unsigned first = 0; first < threads; first += 32)
            released |= release_lanes(first, first + 32 < threads ? first + 32 : threads);
        if (done != 0 && done != threads && !released) {
            std::puts("FAILED: not all threads of a block come to a barrier");
            std::exit(1);
        }
        for (unsigned i = 0; i < threads && !released; ++i)
            fibers[i].ready = true;
    }
}

template <class Call>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, Call call)
{
    constexpr std::uintptr_t align = 1024;
    std::vector<unsigned char> memory(shared_bytes + align);
    shared = reinterpret_cast<unsigned char *>((reinterpret_cast<std::uintptr_t>(memory.data()) + align - 1) / align *
                                               align);
    gridDim = grid;
    blockDim = block;
    entry = [](void *of) { (*static_cast<Call *>(of))(); };
    argument = &call;
    if (fibers.size() < std::size_t(block.x) * block.y * block.z)
        fibers.resize(std::size_t(block.x) * block.y * block.z);
    for (unsigned z = 0; z < grid.z; ++z) {
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = dim3(x, y, z);
                std::memset(memory.data(), 0x5a, memory.size());
                run_block(block);
            }
        }
    }
}

template <class... Parameters, std::size_t... Numbers>
void apply(void (*kernel)(Parameters...), void **arguments, std::index_sequence<Numbers...>)
{
    kernel(*static_cast<Parameters *>(arguments[Numbers])...);
}

} // namespace emulation

namespace emulation {

/* Waits for the rest of the block, or at `site` for lanes of the warp; returns those that came there. */
inline unsigned wait_at(const char *site)
{
    running->ready = false;
    running->site = site;
    swapcontext(&running->context, &scheduler);
    return running->met;
}

} // namespace emulation

#ifndef __CUDA__
inline void __syncthreads()
{
    emulation::wait_at(nullptr);
}
#endif

/* ---- warps: lanes meet where they call from ------------------------------------------------------------------------ */

__host__ __device__ __attribute__((noinline)) inline void __syncwarp()
{
    emulation::wait_at(static_cast<const char *>(__builtin_return_address(0)));
}

__host__ __device__ __attribute__((noinline)) inline unsigned __activemask()
{
    return emulation::wait_at(static_cast<const char *>(__builtin_return_address(0)));
}

__host__ __device__ __attribute__((noinline)) inline unsigned long long __shfl_sync(unsigned, unsigned long long value, int lane)
{
    const char *const site = static_cast<const char *>(__builtin_return_address(0));
    const std::size_t warp = std::size_t(emulation::running - emulation::fibers.data()) / 32 * 32;
    emulation::running->shown = value;
    emulation::wait_at(site);
    const unsigned long long seen = emulation::fibers[warp + std::size_t(lane)].shown;
    emulation::wait_at(site + 1);
    return seen;
}

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             std::size_t shared_bytes, cudaStream_t)
{
    emulation::launch(grid, block, shared_bytes,
                      [&] { emulation::apply(kernel, arguments, std::index_sequence_for<Parameters...>{}); });
    return cudaSuccess;
}

/* ---- atomics ------------------------------------------------------------------------------------------------------- */

template <class T, class Operand>
__host__ __device__ T atomicAdd(T *to, Operand value)
{
    const T before = *to;
    *to = static_cast<T>(before + value);
    return before;
}
__host__ __device__ inline unsigned atomicOr(unsigned *to, unsigned value)
{
    const unsigned before = *to;
    *to |= value;
    return before;
}
__host__ __device__ inline unsigned atomicCAS(unsigned *to, unsigned expected, unsigned value)
{
    const unsigned before = *to;
    if (before == expected)
        *to = value;
    return before;
}

#endif
