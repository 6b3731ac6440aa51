// Measures the GPU at hand with one small kernel a mechanism and writes a device file for `sectorwise --device`: every
// figure of advisor/device.h by what advisor/MODEL.md says of it. `make calibrate` builds and runs it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t status = (call);                                                                             \
        if (status != cudaSuccess) {                                                                                   \
            std::fprintf(stderr, "calibrate: %s\n", cudaGetErrorString(status));                                       \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

enum mode { READ, WRITE, UPDATE };

static const size_t mib = size_t(1) << 20, gib = size_t(1) << 30;
static float *buffer, *sink;
static double launch_us; // what each measured time begins with

// ---- kernels ----

// Keeps loads alive: never true for what the buffer holds.
__device__ void keep(float value, float *sink)
{
    if (value == 1.2345e30f)
        sink[0] = value;
}

__device__ size_t thread_number()
{
    return size_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void nothing()
{
}

// One 4-byte place a thread, in order.
template <mode M> __global__ void thin(float *p, size_t mask, float *sink)
{
    float *q = p + (thread_number() & mask);
    if (M == WRITE)
        *q = threadIdx.x;
    else if (M == READ)
        keep(__ldcg(q), sink);
    else
        *q = __ldcg(q) + 1;
}

// Like a thin read, through shared memory and a barrier.
__global__ void staged(const float *p, size_t mask, float *sink)
{
    __shared__ float copy[1024];
    copy[threadIdx.x] = __ldcg(p + (thread_number() & mask));
    __syncthreads();
    keep(copy[blockDim.x - 1 - threadIdx.x], sink);
}

// COUNT times 16 bytes a thread, in order, wrapped.
template <mode M, int COUNT> __global__ void wide(float4 *p, size_t mask, float *sink)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x * COUNT + threadIdx.x;
    float4 v[COUNT];
    for (int i = 0; i < COUNT; i++)
        v[i] = M == WRITE ? make_float4(i, 1, 2, 3) : __ldcg(p + ((first + i * blockDim.x) & mask));
    for (int i = 0; i < COUNT; i++)
        if (M == READ)
            keep(v[i].x, sink);
        else
            p[(first + i * blockDim.x) & mask] = v[i];
}

// COUNT of `stride` words of each record; through volatile pointers, so that L1 keeps nothing.
template <mode M, int COUNT> __global__ void records(float *p, unsigned mask, unsigned stride, float *sink)
{
    volatile float *q = p + size_t((blockIdx.x * blockDim.x + threadIdx.x) & mask) * stride;
    for (int i = 0; i < COUNT; i++)
        if (M == READ)
            keep(q[i], sink);
        else
            q[i] = i;
}

// Eight lanes a sector, a sector every `gap` words.
template <mode M> __global__ void apart(float *p, size_t gap, float *sink)
{
    const size_t i = thread_number();
    float *q = p + i / 8 * gap + i % 8;
    if (M == READ)
        keep(__ldcg(q), sink);
    else
        *q = M == WRITE ? 1.f : __ldcg(q) + 1;
}

// Eight arrays, each element of them by its own instruction; `near`: all that a block writes lies together.
template <bool NEAR> __global__ void arrays(float *p, size_t n)
{
    for (int i = 0; i < 8; i++)
        p[NEAR ? (size_t(blockIdx.x) * 8 + i) * blockDim.x + threadIdx.x : i * n + thread_number()] = i;
}

__device__ uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// COUNT neighbouring words at a random place of 1 << places, `stride` words apart; the stride's sectors are all used.
template <mode M, int COUNT> __global__ void random_places(float *p, unsigned places, size_t stride, float *sink)
{
    const uint64_t hash = scramble(thread_number() + 1), place = hash & ((uint64_t(1) << places) - 1);
    const size_t sector = stride > 8 ? scramble(place) % (stride / 8) * 8 : 0;
    volatile float *q = p + place * stride + sector;
    for (int i = 0; i < COUNT; i++)
        if (M == READ)
            keep(q[i], sink);
        else
            q[i] = M == WRITE ? float(i) : q[i] + 1;
}

__global__ void chase(const unsigned *p, int steps, unsigned *end, long long *clocks)
{
    unsigned at = 0;
    const long long start = clock64();
    for (int i = 0; i < steps; i++)
        at = p[at];
    *clocks = clock64() - start;
    *end = at;
}

// ---- measuring ----

// The median time in microseconds after two launches to warm up, less what any launch takes.
template <class Launch> static double time_us(Launch launch, int repeats = 9)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<double> times;
    for (int i = -2; i < repeats; i++) {
        float ms;
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 0)
            times.push_back(ms * 1e3);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] - launch_us;
}

static void limit(const char *name, long long value)
{
    std::printf("  <limit name=\"%s\" value=\"%lld\"/>\n", name, value);
}

static void rate(const char *name, double value)
{
    // Three significant digits, and never an exponent.
    const int digits = std::max(0, 2 - int(std::floor(std::log10(value))));
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    std::printf("  <rate name=\"%s\" value=\"%.*f\"/>\n", name, digits, std::round(value / unit) * unit);
}

static int attribute(cudaDeviceAttr which)
{
    int value;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

template <mode M, int COUNT> static double random_ns(unsigned places, size_t stride)
{
    const unsigned threads = 1 << 23;
    return time_us([&] { random_places<M, COUNT><<<threads / 256, 256>>>(buffer, places, stride, sink); }, 5) * 1e3 /
           threads;
}

template <mode M, int COUNT> static double records_ns(unsigned stride)
{
    const unsigned threads = 1 << 23;
    unsigned count = 1;
    while (size_t(count) * 2 * stride * 4 <= 24 * mib)
        count *= 2;
    return time_us([&] { records<M, COUNT><<<threads / 256, 256>>>(buffer, count - 1, stride, sink); }, 5) * 1e3 /
           (threads / 32);
}

// How long a block holds its place, from blocks of 512 threads that fill the chip.
template <class Launch> static double life_ns(Launch launch, unsigned blocks)
{
    const double resident = attribute(cudaDevAttrMultiProcessorCount) *
                            (attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 512);
    return time_us(launch) * 1e3 / blocks * resident;
}

// ---- what the figures are ----

static void write_limits()
{
    const int major = attribute(cudaDevAttrComputeCapabilityMajor), minor = attribute(cudaDevAttrComputeCapabilityMinor);
    const int shared = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    limit("multiprocessors", attribute(cudaDevAttrMultiProcessorCount));
    limit("threads_per_block", attribute(cudaDevAttrMaxThreadsPerBlock));
    limit("threads_per_multiprocessor", attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    limit("blocks_per_multiprocessor", attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    limit("registers_per_multiprocessor", attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
    limit("shared_bytes_per_block", attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    limit("shared_bytes_per_multiprocessor", shared);
    // No attribute tells L1's size: the programming guide has it by compute capability.
    const int l1_kib = major == 9 ? 256 : major == 8 && (minor == 0 || minor == 7) ? 192 : shared / 1024 + 28;
    limit("l1_bytes", l1_kib * 1024);
    limit("l2_bytes", attribute(cudaDevAttrL2CacheSize));
}

// Between the time of a hit and that of a miss lies the share that L2 still has of 128 MiB.
static void write_kept(double hit_ns, double miss_ns)
{
    const double ns = random_ns<READ, 1>(22, 8);
    const double missed = std::min(1.0, std::max(0.0, (ns - hit_ns) / (miss_ns - hit_ns)));
    limit("l2_kept_bytes", (long long)(std::round(128 * (1 - missed)) * mib));
}

// 2^17 lines, which L2 has, ever further apart: t = hit + (1 - reach / span) miss.
static double translation_misses_ns(double hit_ns)
{
    const double near_ns = random_ns<READ, 1>(17, gib / 2 / 4 >> 17) - hit_ns;
    const double far_ns = random_ns<READ, 1>(17, 4 * gib / 4 >> 17) - hit_ns;
    const double slope = (far_ns - near_ns) / (1.0 / 512 - 1.0 / 4096), miss_ns = near_ns + slope / 512;
    limit("page_bytes", 2 * mib);
    limit("tlb_bytes", (long long)std::round(slope / miss_ns) * (long long)mib);
    return miss_ns;
}

// By how far a second to fourth store of a record has to go apart from the first, over requests of 20 to 32 sectors.
static void write_merging()
{
    double sum = 0;
    for (unsigned stride = 5; stride <= 8; stride++) {
        const double alone = records_ns<WRITE, 1>(stride), four = records_ns<WRITE, 4>(stride);
        const double apart = std::min(1.0, std::max(0.0, (four / alone - 1) / 3));
        sum += 4.0 * stride / (1 + apart);
    }
    limit("l1_merge_sectors", std::lround(sum / 4));
}

static double stream_gbs(mode m)
{
    const size_t bytes = 2 * gib, mask = bytes / 16 - 1;
    const unsigned blocks = unsigned(bytes / 16 / 256);
    float4 *p = (float4 *)buffer;
    const double us = m == READ    ? time_us([&] { wide<READ, 1><<<blocks, 256>>>(p, mask, sink); })
                      : m == WRITE ? time_us([&] { wide<WRITE, 1><<<blocks, 256>>>(p, mask, sink); })
                                   : time_us([&] { wide<UPDATE, 1><<<blocks, 256>>>(p, mask, sink); });
    return bytes * (m == UPDATE ? 2.0 : 1.0) / us / 1e3;
}

static void write_dram(double miss_ns)
{
    const double mixed_gbs = stream_gbs(UPDATE);
    rate("dram_read_gbs", stream_gbs(READ));
    rate("dram_write_gbs", stream_gbs(WRITE));
    rate("dram_mixed_gbs", mixed_gbs);
    rate("dram_random_pairs_per_ns", 1 / miss_ns);
    const size_t n = gib / 32;
    const double near_us = time_us([&] { arrays<true><<<unsigned(n / 256), 256>>>(buffer, n); });
    const double far_us = time_us([&] { arrays<false><<<unsigned(n / 256), 256>>>(buffer, n); });
    rate("dram_spread_loss", std::max(0.001, far_us / near_us - 1));
    const unsigned sectors = 1 << 21;
    const double alone_us = time_us([&] { apart<WRITE><<<sectors / 32, 256>>>(buffer, 128, sink); });
    const double update_us = time_us([&] { apart<UPDATE><<<sectors / 32, 256>>>(buffer, 128, sink); });
    rate("dram_block_ns", alone_us * 1e3 / sectors);
    rate("dram_mixed_block_ns", update_us * 1e3 / sectors - 64 / mixed_gbs);
}

// Random updates of ever fewer lines that are all in use: t = alone + conflict in_flight / (in_flight + lines).
static void write_conflicts()
{
    std::vector<double> lines, ns;
    for (unsigned places = 18; places <= 23; places++) {
        lines.push_back(double(1 << places) * 4 / 128);
        ns.push_back(random_ns<UPDATE, 1>(places, 1));
    }
    double best = INFINITY, best_in_flight = 0, best_conflict = 0;
    for (double in_flight = 1000; in_flight < 200000; in_flight *= 1.05) {
        double x = 0, y = 0, xx = 0, xy = 0, error = 0;
        const double count = double(lines.size());
        for (size_t i = 0; i < lines.size(); i++) {
            const double share = in_flight / (in_flight + lines[i]);
            x += share, y += ns[i], xx += share * share, xy += share * ns[i];
        }
        const double conflict = (count * xy - x * y) / (count * xx - x * x), alone = (y - conflict * x) / count;
        for (size_t i = 0; i < lines.size(); i++)
            error += std::pow(alone + conflict * in_flight / (in_flight + lines[i]) - ns[i], 2);
        if (error < best)
            best = error, best_in_flight = in_flight, best_conflict = conflict;
    }
    rate("l2_updates_in_flight", best_in_flight);
    rate("l2_conflict_ns", std::max(best_conflict, 1e-4));
}

static void write_l2(double hit_ns)
{
    const size_t mask = 16 * mib / 16 - 1;
    const unsigned blocks = 1 << 16; // 8 times 256 times 16 bytes each
    const double sectors = double(blocks) * 8 * 256 / 2;
    float4 *p = (float4 *)buffer;
    rate("l2_sectors_per_ns", sectors / time_us([&] { wide<READ, 8><<<blocks, 256>>>(p, mask, sink); }) / 1e3);
    rate("l2_lines_per_ns", 1 / hit_ns);
    write_conflicts();
    rate("l2_write_sectors_per_ns",
         sectors / time_us([&] { wide<WRITE, 8><<<blocks, 256>>>(p, mask, sink); }) / 1e3);
    // Requests of 32 sectors in 8 and in 32 lines.
    const double few_ns = records_ns<WRITE, 8>(8) / 8, many_ns = records_ns<WRITE, 8>(32) / 8;
    const double line_ns = (many_ns - few_ns) / 24, sector_ns = (few_ns - 8 * line_ns) / 32;
    rate("l2_part_sectors_per_ns", 1 / sector_ns);
    rate("l2_part_lines_per_ns", 1 / line_ns);
    // Four stores to a sector of 128 MiB against one, less what the same takes where L2 has all.
    const double waited = (random_ns<WRITE, 4>(22, 8) - random_ns<WRITE, 1>(22, 8)) / 3;
    rate("l2_fill_wait_ns", std::max(waited - random_ns<WRITE, 1>(19, 8), 1e-4));
}

static double clocks_of_a_hit()
{
    unsigned *end;
    long long *clocks, result;
    const int steps = 4096, places = 128; // 16 KiB
    std::vector<unsigned> next(places * 32);
    for (int i = 0; i < places; i++)
        next[i * 32] = unsigned((i * 37 + 11) % places * 32);
    CHECK(cudaMalloc(&end, sizeof(*end)));
    CHECK(cudaMalloc(&clocks, sizeof(*clocks)));
    CHECK(cudaMemcpy(buffer, next.data(), next.size() * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++)
        chase<<<1, 1>>>((unsigned *)buffer, steps, end, clocks);
    CHECK(cudaMemcpy(&result, clocks, sizeof(result), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(end));
    CHECK(cudaFree(clocks));
    return double(result) / steps;
}

static void write_launches(double clock_ghz)
{
    const unsigned blocks = 1 << 17;
    const double blocks_per_us = blocks / time_us([&] { nothing<<<blocks, 256>>>(); });
    const double warps_per_us = 32.0 * blocks / time_us([&] { nothing<<<blocks, 1024>>>(); });
    const double start_ns = 16 * attribute(cudaDevAttrMultiProcessorCount) / warps_per_us * 1e3;
    const size_t all = gib / 4 - 1, few = 16 * mib / 4 - 1;
    const double dram_ns = life_ns([&] { thin<READ><<<blocks, 512>>>(buffer, all, sink); }, blocks) - start_ns;
    const double l2_ns = life_ns([&] { thin<READ><<<blocks, 512>>>(buffer, few, sink); }, blocks) - start_ns;
    const double update_ns = life_ns([&] { thin<UPDATE><<<blocks, 512>>>(buffer, all, sink); }, blocks) - start_ns;
    const double staged_ns = life_ns([&] { staged<<<blocks, 512>>>(buffer, all, sink); }, blocks) - start_ns;
    rate("blocks_per_us", blocks_per_us);
    rate("warps_per_us", warps_per_us);
    rate("dram_latency_ns", dram_ns);
    rate("l2_latency_ns", l2_ns);
    rate("l1_latency_ns", clocks_of_a_hit() / clock_ghz);
    rate("store_latency_share", std::max(update_ns / dram_ns - 1, 0.001));
    rate("barrier_ns", std::max(staged_ns - dram_ns, 1.0));
    rate("launch_us", launch_us);
}

int main(int argc, char **argv)
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const char *name = argc > 1 ? argv[1] : "gpu", *title = argc > 2 ? argv[2] : properties.name;
    const double clock_ghz = attribute(cudaDevAttrClockRate) / 1e6;
    const double multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    CHECK(cudaMalloc(&buffer, 4 * gib + 64 * mib));
    CHECK(cudaMalloc(&sink, 256));
    CHECK(cudaMemset(buffer, 0, 4 * gib + 64 * mib));
    for (int i = 0; i < 200; i++) // to full clocks
        thin<UPDATE><<<1 << 16, 256>>>(buffer, 64 * mib - 1, sink);
    launch_us = time_us([] { nothing<<<1, 32>>>(); }, 101);

    std::printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<!-- %s, compute capability %d.%d: written by `make calibrate`, which measured it with one small kernel a\n"
                "     mechanism. advisor/MODEL.md tells what each figure is. -->\n"
                "<device xmlns=\"urn:sectorwise:device:1\" name=\"%s\" title=\"%s\" calibrated=\"true\">\n",
                properties.name, properties.major, properties.minor, name, title);
    write_limits();
    const double hit_ns = random_ns<READ, 1>(19, 8), miss_ns = random_ns<READ, 1>(24, 16);
    write_kept(hit_ns, miss_ns);
    const double translation_ns = translation_misses_ns(hit_ns);
    write_merging();
    rate("clock_ghz", clock_ghz);
    write_dram(miss_ns);
    write_l2(hit_ns);
    rate("tlb_misses_per_ns", 1 / translation_ns);
    rate("l1_sectors_per_clock", 32 / records_ns<READ, 1>(8) / multiprocessors / clock_ghz);
    // Of the architecture: one wavefront a clock, four schedulers, and 32-bit units by compute capability.
    rate("l1_wavefronts_per_clock", 1);
    rate("shared_wavefronts_per_clock", 1);
    rate("issue_per_clock", 4);
    rate("flops_per_clock", properties.major == 8 && properties.minor == 0 ? 128 : 256);
    rate("flop_latency_clocks", 4);
    write_launches(clock_ghz);
    std::printf("</device>\n");
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(sink));
    return 0;
}
