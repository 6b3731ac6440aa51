// Kernels by hand, one for each candidate: records of W floats that are read, written or updated whole, by one thread each
// or by one for four. They have nothing that generated code has but the work: sums, constants and addresses.
#pragma once

#include <type_traits>

#include "figures.cuh"

enum mode { reads, writes, updates };

template <int W, mode M>
__device__ void work(float (&v)[W], std::int64_t i, float *out)
{
    float sum = 0;
#pragma unroll
    for (int f = 0; f < W; ++f) {
        sum += v[f];
        v[f] = M == writes ? float(i) + float(f) : v[f] * 1.5f + 1.0f;
    }
    if (M == reads && sum == 1.2345e30f)
        *out = sum;
}

// Where field f of record i of n is: in an array of its own (TILE 0), in its record (TILE 1), or in a tile
template <int W, int TILE>
__device__ std::int64_t place(std::int64_t i, int f, std::int64_t n)
{
    if constexpr (TILE == 0)
        return f * n + i;
    else
        return i / TILE * (W * TILE) + f * TILE + i % TILE;
}

template <int W, mode M, int TILE>
__global__ void __launch_bounds__(256) direct_by_hand(float *__restrict__ a, std::int64_t n, float *out)
{
    const std::int64_t i = std::int64_t(blockIdx.x) * 256 + threadIdx.x;
    float v[W] = {};
#pragma unroll
    for (int f = 0; f < W && M != writes; ++f)
        v[f] = a[place<W, TILE>(i, f, n)];
    work<W, M>(v, i, out);
#pragma unroll
    for (int f = 0; f < W && M != reads; ++f)
        a[place<W, TILE>(i, f, n)] = v[f];
}

template <int WORDS>
using vector_of = std::conditional_t<WORDS == 4, float4, float2>;

// Records that are STRIDE words apart, in vectors of WORDS; what follows a record is padding
template <int W, mode M, int WORDS, int STRIDE>
__global__ void __launch_bounds__(256) vector_by_hand(float *__restrict__ a, std::int64_t, float *out)
{
    constexpr int vectors = (W + WORDS - 1) / WORDS;
    const std::int64_t i = std::int64_t(blockIdx.x) * 256 + threadIdx.x;
    vector_of<WORDS> *const record = reinterpret_cast<vector_of<WORDS> *>(a + i * STRIDE);
    vector_of<WORDS> vector[vectors] = {};
    float *const word = &vector[0].x;
    float v[W] = {};
#pragma unroll
    for (int k = 0; k < vectors && M != writes; ++k)
        vector[k] = record[k];
#pragma unroll
    for (int f = 0; f < W; ++f)
        v[f] = word[f];
    work<W, M>(v, i, out);
#pragma unroll
    for (int f = 0; f < W; ++f)
        word[f] = v[f];
#pragma unroll
    for (int k = 0; k < vectors && M != reads; ++k)
        record[k] = vector[k];
}

// Four records a thread, whose fields are one vector each: places are those of vectors
template <int W, mode M, int TILE>
__global__ void __launch_bounds__(256) wide_by_hand(float *__restrict__ a, std::int64_t n, float *out)
{
    const std::int64_t i = std::int64_t(blockIdx.x) * 256 + threadIdx.x;
    float4 *const fields = reinterpret_cast<float4 *>(a);
    float v[4][W] = {};
#pragma unroll
    for (int f = 0; f < W && M != writes; ++f) {
        const float4 field = fields[place<W, TILE / 4>(i, f, n / 4)];
        v[0][f] = field.x;
        v[1][f] = field.y;
        v[2][f] = field.z;
        v[3][f] = field.w;
    }
#pragma unroll
    for (int record = 0; record < 4; ++record)
        work<W, M>(v[record], i * 4 + record, out);
#pragma unroll
    for (int f = 0; f < W && M != reads; ++f)
        fields[place<W, TILE / 4>(i, f, n / 4)] = make_float4(v[0][f], v[1][f], v[2][f], v[3][f]);
}

// Through shared memory, PAD words after each record
template <int W, mode M, int PAD>
__global__ void __launch_bounds__(256) staged_by_hand(float *__restrict__ a, std::int64_t, float *out)
{
    __shared__ float tile[256 * (W + PAD)];
    float *const mine = tile + threadIdx.x * (W + PAD), *const from = a + std::int64_t(blockIdx.x) * 256 * W;
    float v[W] = {};
#pragma unroll
    for (int k = 0; k < W && M != writes; ++k)
        tile[(k * 256 + threadIdx.x) / W * (W + PAD) + (k * 256 + threadIdx.x) % W] = from[k * 256 + threadIdx.x];
    if (M != writes)
        __syncthreads();
#pragma unroll
    for (int f = 0; f < W && M != writes; ++f)
        v[f] = mine[f];
    work<W, M>(v, std::int64_t(blockIdx.x) * 256 + threadIdx.x, out);
#pragma unroll
    for (int f = 0; f < W && M != reads; ++f)
        mine[f] = v[f];
    if (M != reads)
        __syncthreads();
#pragma unroll
    for (int k = 0; k < W && M != reads; ++k)
        from[k * 256 + threadIdx.x] = tile[(k * 256 + threadIdx.x) / W * (W + PAD) + (k * 256 + threadIdx.x) % W];
}

template <class Generated>
void beside_hand(int words, const char *name, const char *action, std::int64_t threads, double bytes, Generated generated,
                 void (*by_hand)(float *, std::int64_t, float *), std::int64_t n)
{
    float *const a = reinterpret_cast<float *>(buffers[0]);
    const double hand = time_us([&] { by_hand<<<unsigned(threads / 256), 256>>>(a, n, result); });
    char title[64];
    std::snprintf(title, sizeof(title), "%s %s", name, action);
    figure("by hand", words, title, bytes, time_us(generated), hand);
}

// KERNEL is one of those above, its arguments after the mode follow; RECORDS are what a thread of it does
#define FIGURES_HAND(W, NAME, LAYOUT, RECORDS, KERNEL, ...)                                                            \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[0]};                                                                            \
        const std::int64_t n = a.records(), threads = n / (RECORDS);                                                   \
        const double bytes = double(n) * (W) * 4;                                                                      \
        beside_hand((W), NAME, "read", threads, bytes, [&] { must(LAYOUT::launch_reads(a, read_words{result})); },     \
                    KERNEL<W, reads, __VA_ARGS__>, n);                                                                 \
        beside_hand((W), NAME, "write", threads, bytes, [&] { must(LAYOUT::launch_writes(a, write_words{})); },        \
                    KERNEL<W, writes, __VA_ARGS__>, n);                                                                \
        beside_hand((W), NAME, "update", threads, bytes * 2, [&] { must(LAYOUT::launch_updates(a, update_words{})); }, \
                    KERNEL<W, updates, __VA_ARGS__>, n);                                                               \
    }
