// Whole records of an array of structures, contiguous and scattered, as the benchmark of the best published library does
// it: so many records, of 3 to 16 words; loads add a record up and store the sum; gathers and scatters move a record from
// an array to another. Generated kernels beside C's assignment and beside shuffles. One line a figure, after figures.cuh's
//     what, words, kind and candidate, GB/s, % of a copy,
// GB/s of C's assignment, GB/s of shuffles.
#pragma once

#include "figures.cuh"
#include "shuffles.cuh"

constexpr int record_count = 64000 * 256;

enum record_kind { load, store, gather, scatter };

template <int W>
struct record_words {
    int word[W];
};

struct add_up {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        constexpr int words = int(sizeof(step.a) / 4);
        const int *const word = &step.a.f0;
        int sum = 0;
#pragma unroll
        for (int i = 0; i < words; ++i)
            sum += word[i];
        step.sums = sum;
    }
};
struct count_on {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        constexpr int words = int(sizeof(step.a) / 4);
        int *const word = &step.a.f0;
#pragma unroll
        for (int i = 0; i < words; ++i)
            word[i] = int(step.thread) * words + i;
    }
};
struct hand_over {
    template <class Step>
    __device__ void operator()(Step &step) const
    {
        step.b = step.a;
    }
};

template <int W, record_kind KIND>
__global__ void __launch_bounds__(256) by_assignment(const record_words<W> *a, record_words<W> *b, int *sums,
                                                     const int *places)
{
    const int i = int(blockIdx.x) * 256 + int(threadIdx.x);
    record_words<W> record;
    if (KIND == store) {
#pragma unroll
        for (int f = 0; f < W; ++f)
            record.word[f] = i * W + f;
    } else {
        record = a[KIND == gather ? places[i] : i];
    }
    if (KIND == load) {
        int sum = 0;
#pragma unroll
        for (int f = 0; f < W; ++f)
            sum += record.word[f];
        sums[i] = sum;
    } else {
        b[KIND == scatter ? places[i] : i] = record;
    }
}

template <int W, record_kind KIND>
__global__ void __launch_bounds__(256) by_shuffles(const record_words<W> *a, record_words<W> *b, int *sums,
                                                   const int *places)
{
    constexpr int bytes = W % 4 == 0 ? 16 : W % 2 == 0 ? 8 : 4, pieces = W * 4 / bytes;
    using turn = warp_turn<pieces, bytes>;
    const typename turn::piece *const from = reinterpret_cast<const typename turn::piece *>(a);
    typename turn::piece *const to = reinterpret_cast<typename turn::piece *>(b);
    const int i = int(blockIdx.x) * 256 + int(threadIdx.x);
    typename turn::piece record[pieces];
    if (KIND == store) {
#pragma unroll
        for (int f = 0; f < W; ++f)
            record[f * 4 / bytes].word[f % (bytes / 4)] = unsigned(i * W + f);
    } else if (KIND == gather) {
        turn::load(record, from, places[i]);
    } else {
        turn::load_neighbours(record, from, i);
    }
    if (KIND == load) {
        unsigned sum = 0;
#pragma unroll
        for (int f = 0; f < W; ++f)
            sum += record[f * 4 / bytes].word[f % (bytes / 4)];
        sums[i] = int(sum);
    } else if (KIND == scatter) {
        turn::store(record, to, places[i]);
    } else {
        turn::store_neighbours(record, to, i);
    }
}

// As a user's kernel moves records by what is generated for an array: views find their functions
template <class Record, class Exchange, record_kind KIND, class View>
__global__ void __launch_bounds__(256) together(View a, View b, int *sums, const int *places)
{
    constexpr int words = int(sizeof(Record) / 4);
    __shared__ Exchange exchanges[8];
    Exchange &exchange = exchanges[threadIdx.x / 32];
    const int i = int(blockIdx.x) * 256 + int(threadIdx.x);
    Record record;
    int *const word = &record.f0;
    if (KIND == store) {
#pragma unroll
        for (int f = 0; f < words; ++f)
            word[f] = i * words + f;
    } else {
        record = get_together(a, KIND == gather ? places[i] : i, exchange);
    }
    if (KIND == load) {
        int sum = 0;
#pragma unroll
        for (int f = 0; f < words; ++f)
            sum += word[f];
        sums[i] = sum;
    } else {
        set_together(b, KIND == scatter ? places[i] : i, record, exchange);
    }
}

// The mean of 10 launches in a row, the median of three times; in microseconds.
template <class Launch>
double time_of_ten_us(Launch launch)
{
    std::vector<float> times;
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    for (int round = 0; round < 3; ++round) {
        float ms = 0;
        must(cudaEventRecord(begin));
        for (int i = 0; i < 10; ++i)
            launch();
        must(cudaGetLastError());
        must(cudaEventRecord(end));
        must(cudaEventSynchronize(end));
        must(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms);
    }
    must(cudaEventDestroy(begin));
    must(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return double(times[1]) * 100;
}

inline int *places, *sums;

// A permutation of the records, the same every time
inline void allocate_records()
{
    allocate();
    std::vector<int> all(record_count);
    for (int i = 0; i < record_count; ++i)
        all[std::size_t(i)] = i;
    std::uint64_t state = 12345;
    for (int i = record_count - 1; i > 0; --i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        std::swap(all[std::size_t(i)], all[(state >> 33) % std::uint64_t(i + 1)]);
    }
    must(cudaMalloc(&places, record_count * sizeof(int)));
    must(cudaMalloc(&sums, record_count * sizeof(int)));
    must(cudaMemcpy(places, all.data(), record_count * sizeof(int), cudaMemcpyHostToDevice));
}

// What was stored, whoever did it: a sum in which each word weighs otherwise
__global__ void weigh_kernel(const unsigned *words, unsigned long long *sum, std::size_t count)
{
    const std::size_t threads = std::size_t(gridDim.x) * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
        mine += words[i] * (2ull * i + 1);
    atomicAdd(sum, mine);
}

inline unsigned long long weigh(const void *what, std::size_t bytes)
{
    unsigned long long *const sum = reinterpret_cast<unsigned long long *>(result), total = 0;
    must(cudaMemset(sum, 0, sizeof(total)));
    weigh_kernel<<<1024, 256>>>(static_cast<const unsigned *>(what), sum, bytes / 4);
    must(cudaMemcpy(&total, sum, sizeof(total), cudaMemcpyDeviceToHost));
    return total;
}

template <int W, record_kind KIND, class Generated>
void whole_records(const char *kind, const char *candidate, Generated generated)
{
    const record_words<W> *const a = reinterpret_cast<const record_words<W> *>(buffers[0]);
    record_words<W> *const b = reinterpret_cast<record_words<W> *>(buffers[1]);
    const double bytes = double(record_count) * (KIND == load ? W * 4 + 4 : KIND == store ? W * 4 : W * 8 + 4);
    const void *const stored = KIND == load ? static_cast<void *>(sums) : b;
    const std::size_t size = std::size_t(record_count) * (KIND == load ? 4 : W * 4);
    const double assigned = time_of_ten_us([&] { by_assignment<W, KIND><<<record_count / 256, 256>>>(a, b, sums, places); });
    const unsigned long long right = weigh(stored, size);
    must(cudaMemset(const_cast<void *>(stored), 0, size));
    const double shuffled = time_of_ten_us([&] { by_shuffles<W, KIND><<<record_count / 256, 256>>>(a, b, sums, places); });
    const bool shuffled_right = weigh(stored, size) == right;
    must(cudaMemset(const_cast<void *>(stored), 0, size));
    const double us = time_of_ten_us(generated);
    if (!shuffled_right || weigh(stored, size) != right) {
        std::printf("FAILED: %s of %d words: not what C's assignment stores\n", kind, W);
        std::exit(1);
    }
    const double copied = std::min(bytes, 2.0 * buffer_bytes), copy = copy_us(copied) * bytes / copied;
    std::printf("records\t%d\t%s %s\t%.0f\t%.1f\t%.0f\t%.0f\n", W, kind, candidate, bytes / us / 1e3, copy / us * 100,
                bytes / assigned / 1e3, bytes / shuffled / 1e3);
}

// Kernels of a description, by the plan that it was generated for
#define FIGURES_load(W, CANDIDATE, LAYOUT)                                                                             \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[0]};                                                                            \
        const LAYOUT::sums_view to{reinterpret_cast<unsigned char *>(sums)};                                           \
        whole_records<W, load>("load", CANDIDATE, [&] { must(LAYOUT::launch_move(a, to, add_up{})); });                \
    }
#define FIGURES_store(W, CANDIDATE, LAYOUT)                                                                            \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[1]};                                                                            \
        whole_records<W, store>("store", CANDIDATE, [&] { must(LAYOUT::launch_move(a, count_on{})); });                \
    }
#define FIGURES_gather(W, CANDIDATE, LAYOUT) FIGURES_MOVE(W, gather, CANDIDATE, LAYOUT)
#define FIGURES_scatter(W, CANDIDATE, LAYOUT) FIGURES_MOVE(W, scatter, CANDIDATE, LAYOUT)
#define FIGURES_MOVE(W, KIND, CANDIDATE, LAYOUT)                                                                       \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[0]};                                                                            \
        const LAYOUT::b_view b{buffers[1]};                                                                            \
        whole_records<W, KIND>(#KIND, CANDIDATE, [&] { must(LAYOUT::launch_move(a, b, places, hand_over{})); });       \
    }
// ... and by get_together and set_together
#define FIGURES_TOGETHER(W, KIND, LAYOUT)                                                                              \
    {                                                                                                                  \
        const LAYOUT::a_view a{buffers[0]}, b{buffers[1]};                                                             \
        whole_records<W, KIND>(#KIND, "together", [&] {                                                                \
            together<LAYOUT::Rec, LAYOUT::a_exchange, KIND><<<record_count / 256, 256>>>(a, b, sums, places);          \
        });                                                                                                            \
    }
