// Whole records of a warp by shuffles alone: what tests/gpu/figures.sh times generated code against. 32 records of PIECES
// pieces are PIECES rows of 32 pieces in memory, which is how a warp moves them coalesced; registers are renamed and
// rotated by a number of the lane's own, so that each shuffle has one piece to give for every lane. After "A Decomposition
// for In-place Matrix Transposition" (Catanzaro, Keller, Garland; PPoPP 2014).
#pragma once

template <int BYTES>
struct alignas(BYTES) shuffled {
    unsigned word[BYTES / 4];
};

template <int BYTES>
__device__ shuffled<BYTES> take_from(shuffled<BYTES> value, int lane)
{
#pragma unroll
    for (unsigned &word : value.word)
        word = __shfl_sync(0xffffffffu, word, lane);
    return value;
}

// What `of` times it is 1 modulo N
template <int N>
constexpr int inverse(int of)
{
    for (int i = 1; i < N; ++i)
        if (of * i % N == 1)
            return i;
    return 0;
}

// values[i] becomes values[(i + by) % N], in moves of 1, 2, 4, ... where `by` has that bit
template <int N, class Value>
__device__ void rotate(Value (&values)[N], int by)
{
#pragma unroll
    for (int bit = 1; bit < N; bit *= 2) {
        Value moved[N];
#pragma unroll
        for (int i = 0; i < N; ++i)
            moved[i] = by & bit ? values[(i + bit) % N] : values[i];
#pragma unroll
        for (int i = 0; i < N; ++i)
            values[i] = moved[i];
    }
}

template <int PIECES, int BYTES>
struct warp_turn {
    static_assert(PIECES % 2 == 1 || 32 % PIECES == 0, "an odd number of pieces, or a power of two");
    using piece = shuffled<BYTES>;
    static constexpr bool even = PIECES % 2 == 0;
    static constexpr int renamed = even ? PIECES - 1 : inverse<PIECES>(32 % PIECES);
    static constexpr int back = even ? 0 : inverse<32>(PIECES % 32);

    // Row i holds pieces i * 32 to i * 32 + 31 of the warp, one a lane; afterwards each lane holds its record's.
    static __device__ void to_records(piece (&rows)[PIECES])
    {
        const int lane = int(threadIdx.x) % 32, turn = even ? lane * PIECES / 32 : 0;
        piece value[PIECES];
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            value[i] = rows[i * renamed % PIECES];
        rotate(value, (PIECES - lane % PIECES) % PIECES);
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            rows[i] = take_from(value[i], (lane * PIECES + (i + turn) % PIECES) % 32);
        if (even)
            rotate(rows, (PIECES - turn) % PIECES);
    }

    static __device__ void to_rows(piece (&record)[PIECES])
    {
        const int lane = int(threadIdx.x) % 32;
        if (even)
            rotate(record, lane * PIECES / 32);
        piece value[PIECES];
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            value[i] = take_from(record[i], even ? (lane + 32 * ((lane - i + PIECES) % PIECES)) / PIECES
                                                 : (lane - i + 32) * back % 32);
        rotate(value, lane % PIECES);
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            record[i * renamed % PIECES] = value[i];
    }

    // Each lane's record from and to wherever it is
    static __device__ void load(piece (&record)[PIECES], const piece *records, int index)
    {
        const int lane = int(threadIdx.x) % 32;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            const int number = i * 32 + lane;
            record[i] = records[std::size_t(__shfl_sync(0xffffffffu, index, number / PIECES)) * PIECES + number % PIECES];
        }
        to_records(record);
    }
    static __device__ void store(const piece (&record)[PIECES], piece *records, int index)
    {
        const int lane = int(threadIdx.x) % 32;
        piece rows[PIECES];
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            rows[i] = record[i];
        to_rows(rows);
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            const int number = i * 32 + lane;
            records[std::size_t(__shfl_sync(0xffffffffu, index, number / PIECES)) * PIECES + number % PIECES] = rows[i];
        }
    }
    // ... where the warp's records are neighbours, from the record of the first lane on
    static __device__ void load_neighbours(piece (&record)[PIECES], const piece *records, int index)
    {
        const int lane = int(threadIdx.x) % 32;
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            record[i] = records[std::size_t(index - lane) * PIECES + i * 32 + lane];
        to_records(record);
    }
    static __device__ void store_neighbours(const piece (&record)[PIECES], piece *records, int index)
    {
        const int lane = int(threadIdx.x) % 32;
        piece rows[PIECES];
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            rows[i] = record[i];
        to_rows(rows);
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            records[std::size_t(index - lane) * PIECES + i * 32 + lane] = rows[i];
    }
};
