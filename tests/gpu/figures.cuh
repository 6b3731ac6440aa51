// What tests/gpu/figures.sh times: generated converters, streams and transposes beside a plain copy on the device of the
// same bytes; hands.cuh has kernels of the same candidates by hand, records.cuh whole records by shuffles. One line a figure:
//     what, words of 4 bytes a record, case, GB/s, % of the copy (or of the hand-written kernel)
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

inline void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::printf("FAILED: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

constexpr std::size_t buffer_bytes = (std::size_t(1) << 30) + (std::size_t(1) << 20);
constexpr std::int64_t stream_words = std::int64_t(1) << 27; // 512 MiB
inline unsigned char *buffers[3];
inline float *result;

__global__ void fill_kernel(std::uint32_t *words)
{
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    words[i] = (std::uint32_t(i) ^ std::uint32_t(i >> 15)) * 2654435761u;
}

inline void allocate()
{
    for (unsigned char *&buffer : buffers) {
        must(cudaMalloc(&buffer, buffer_bytes));
        fill_kernel<<<unsigned(buffer_bytes / 4 / 256), 256>>>(reinterpret_cast<std::uint32_t *>(buffer));
    }
    must(cudaMalloc(&result, 256));
    must(cudaDeviceSynchronize());
}

// The median of 15 launches, in microseconds.
template <class Launch>
double time_us(Launch launch)
{
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < 17; ++i) {
        float ms = 0;
        must(cudaEventRecord(begin));
        launch();
        must(cudaGetLastError());
        must(cudaEventRecord(end));
        must(cudaEventSynchronize(end));
        must(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2)
            times.push_back(ms);
    }
    must(cudaEventDestroy(begin));
    must(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return double(times[times.size() / 2]) * 1e3;
}

// ... of a copy that reads and writes as many bytes together.
inline double copy_us(double bytes)
{
    return time_us([&] { must(cudaMemcpyAsync(buffers[1], buffers[0], std::size_t(bytes / 2), cudaMemcpyDeviceToDevice)); });
}

inline void figure(const char *what, int words, const char *name, double bytes, double us, double against_us)
{
    std::printf("%s\t%d\t%s\t%.0f\t%.1f\n", what, words, name, bytes / us / 1e3, against_us / us * 100);
}

struct read_words {
    float *out;

    template <class Step>
    __device__ void operator()(Step &step) const
    {
        constexpr int words = int(sizeof(step.a) / 4);
        const float *const word = &step.a.f0;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < words; ++i)
            sum += word[i];
        if (sum == 1.2345e30f)
            *out = sum;
    }
};
struct write_words {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        constexpr int words = int(sizeof(step.a) / 4);
        float *const word = &step.a.f0;
#pragma unroll
        for (int i = 0; i < words; ++i)
            word[i] = float(step.thread) + float(i);
    }
};
struct update_words {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        constexpr int words = int(sizeof(step.a) / 4);
        float *const word = &step.a.f0;
#pragma unroll
        for (int i = 0; i < words; ++i)
            word[i] = word[i] * 1.5f + 1.0f;
    }
};
struct pass_on {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        step.out = step.in;
    }
};

// ---- generated: macros, since every layout has a namespace of its own -------------------------------------------------

#define FIGURES_STREAM(W, LAYOUT)                                                                                      \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[0]};                                                                            \
        const double bytes = double(a.records()) * (W) * 4, copy = copy_us(bytes), both = copy_us(bytes * 2);          \
        figure("stream", W, "read", bytes, time_us([&] { must(LAYOUT::launch_reads(a, read_words{result})); }), copy); \
        figure("stream", W, "write", bytes, time_us([&] { must(LAYOUT::launch_writes(a, write_words{})); }), copy);    \
        figure("stream", W, "update", bytes * 2, time_us([&] { must(LAYOUT::launch_updates(a, update_words{})); }),    \
               both);                                                                                                  \
    }

#define FIGURES_CONVERTER(W, NAME, LAYOUT)                                                                             \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[1]};                                                                            \
        LAYOUT::Rec *const from = reinterpret_cast<LAYOUT::Rec *>(buffers[0]);                                         \
        LAYOUT::Rec *const to = reinterpret_cast<LAYOUT::Rec *>(buffers[2]);                                           \
        const double bytes = double(a.records()) * (W) * 8, copy = copy_us(bytes);                                     \
        figure("converter", W, "to " NAME, bytes, time_us([&] { must(LAYOUT::from_aos_device(a, from)); }), copy);     \
        figure("converter", W, "from " NAME, bytes, time_us([&] { must(LAYOUT::to_aos_device(to, a)); }), copy);       \
    }

#define FIGURES_TRANSPOSE(NAME, LAYOUT, LAUNCH)                                                                        \
    {                                                                                                                  \
        const LAYOUT::in_view in{buffers[0]};                                                                          \
        const LAYOUT::out_view out{buffers[1]};                                                                        \
        const double bytes = double(in.records()) * 8, copy = copy_us(bytes);                                          \
        figure("transpose", 1, NAME, bytes, time_us([&] { must(LAYOUT::LAUNCH(in, out, pass_on{})); }), copy);         \
    }
