#include "coverage.h"

#include <stdlib.h>
#include <string.h>

#include "coverage_fold.h"
#include "request.h"

enum {
    ADDRESSES_MAX = 1024,    /* that are added at once */
    LATTICES_MAX = 4096,     /* a worker; beyond, places are kept as bits */
    POINTS_FEW = 64,         /* of a box, that are marked one by one rather than as a lattice */
    OWN_BYTES_MAX = 1 << 27, /* of bits that all workers together may have each for itself */
    NEAR_BYTES_MAX = 1 << 20 /* of bits that a core's own cache is likely to hold */
};
static const uint64_t BITS_BYTES_MAX = UINT64_C(1) << 30;

struct list {
    struct lattice *items;
    size_t count, capacity;
};

struct bits {
    uint64_t *read;    /* a bit a sector; NULL while lattices are kept */
    uint64_t *written; /* a bit a granule */
};

struct coverage {
    unsigned granule;
    unsigned workers;
    uint64_t read_words, written_words; /* of one worker's bits */
    bool own;                           /* each worker has bits of its own, joined when counting: no atomics */
    struct list *lists;                 /* one a worker */
    struct bits *bits;                  /* one a worker, or the first is everybody's */
};

struct coverage *coverage_new(uint64_t bytes, unsigned granule, unsigned workers)
{
    const uint64_t sectors = bytes / SECTOR_BYTES + 1, read_words = sectors / 64 + 1;
    struct coverage *coverage = calloc(1, sizeof(*coverage));
    if (coverage == NULL)
        return NULL;
    /* Whole words of 64 sectors in both. */
    *coverage = (struct coverage){.granule = granule,
                                  .workers = workers,
                                  .read_words = read_words,
                                  .written_words = read_words * (SECTOR_BYTES / granule)};
    coverage->own =
        (coverage->read_words + coverage->written_words) * sizeof(uint64_t) <= (uint64_t)OWN_BYTES_MAX / workers;
    coverage->lists = calloc(workers, sizeof(*coverage->lists));
    coverage->bits = calloc(workers, sizeof(*coverage->bits));
    if (coverage->lists != NULL && coverage->bits != NULL)
        return coverage;
    coverage_free(coverage);
    return NULL;
}

void coverage_free(struct coverage *coverage)
{
    if (coverage == NULL)
        return;
    for (unsigned i = 0; i < coverage->workers; i++) {
        if (coverage->lists != NULL)
            free(coverage->lists[i].items);
        if (coverage->bits != NULL) {
            free(coverage->bits[i].read);
            free(coverage->bits[i].written);
        }
    }
    free(coverage->lists);
    free(coverage->bits);
    free(coverage);
}

void coverage_clear(struct coverage *coverage)
{
    for (unsigned i = 0; i < coverage->workers; i++) {
        coverage->lists[i].count = 0;
        free(coverage->bits[i].read);
        free(coverage->bits[i].written);
        coverage->bits[i] = (struct bits){0};
    }
}

static struct bits *bits_of(const struct coverage *coverage, unsigned worker)
{
    return &coverage->bits[coverage->own ? worker : 0];
}

static bool has_bits(const struct bits *bits)
{
    return __atomic_load_n(&bits->read, __ATOMIC_ACQUIRE) != NULL;
}

/* False where they would not fit in memory. */
static bool start_bits(const struct coverage *coverage, struct bits *bits)
{
    if (has_bits(bits))
        return true;
    if (coverage->read_words + coverage->written_words > BITS_BYTES_MAX / sizeof(uint64_t))
        return false;
    bits->written = calloc(coverage->written_words, sizeof(uint64_t));
    uint64_t *read = bits->written == NULL ? NULL : calloc(coverage->read_words, sizeof(uint64_t));
    __atomic_store_n(&bits->read, read, __ATOMIC_RELEASE);
    return read != NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the check does not see what the atomic builtin writes. */
static void set_bits(uint64_t *words, uint64_t first, uint64_t last)
{
    for (uint64_t w = first / 64; w <= last / 64; w++) {
        uint64_t from = w == first / 64 ? first % 64 : 0, to = w == last / 64 ? last % 64 : 63;
        uint64_t bits = (to == 63 ? UINT64_MAX : (UINT64_C(1) << (to + 1)) - 1) & UINT64_MAX << from;
        /* Most bits are set already in a gather; looking first keeps the line shared between cores. */
        if ((__atomic_load_n(&words[w], __ATOMIC_RELAXED) & bits) != bits)
            (void)__atomic_fetch_or(&words[w], bits, __ATOMIC_RELAXED);
    }
}

static void mark(const struct coverage *coverage, const struct bits *bits, bool written, uint64_t start,
                 uint64_t length)
{
    if (written)
        set_bits(bits->written, start / coverage->granule, (start + length - 1) / coverage->granule);
    else
        set_bits(bits->read, start / SECTOR_BYTES, (start + length - 1) / SECTOR_BYTES);
}

static void mark_lattice(const struct coverage *coverage, const struct bits *bits, const struct lattice *lattice,
                         unsigned dims, uint64_t start)
{
    if (dims == 0) {
        mark(coverage, bits, lattice->written, start, lattice->length);
        return;
    }
    for (uint64_t q = 0; q < lattice->count[dims - 1]; q++)
        mark_lattice(coverage, bits, lattice, dims - 1, start + q * lattice->step[dims - 1]);
}

static void mark_list(const struct coverage *coverage, const struct bits *bits, struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mark_lattice(coverage, bits, &list->items[i], list->items[i].dims, (uint64_t)list->items[i].start);
    list->count = 0;
}

static bool same_shape(const struct lattice *a, const struct lattice *b)
{
    return a->length == b->length && a->dims == b->dims &&
           memcmp(a->step, b->step, a->dims * sizeof(a->step[0])) == 0 &&
           memcmp(a->count, b->count, a->dims * sizeof(a->count[0])) == 0;
}

/* Joins runs of equal shapes at equal distances, in place; gives the new number. */
static unsigned join_runs(struct lattice *items, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count;) {
        unsigned n = 1;
        int64_t distance = i + 1 < count ? items[i + 1].start - items[i].start : 0;
        while (i + n < count && same_shape(&items[i], &items[i + n]) &&
               items[i + n].start - items[i + n - 1].start == distance)
            n++;
        struct lattice joined = items[i];
        if (n > 1 && joined.dims < 3)
            lattice_add_dim(&joined, distance, n);
        else
            n = 1;
        items[kept++] = joined;
        i += n;
    }
    return kept;
}

static int compare_addresses(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_addresses(int64_t *address, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        if (address[i - 1] <= address[i])
            continue;
        qsort(address, count, sizeof(*address), compare_addresses);
        return;
    }
}

struct run {
    int64_t start;
    uint64_t length;
};

/* The addresses as runs of touching bytes. */
static unsigned find_runs(struct run *out, int64_t *address, unsigned addresses, unsigned width)
{
    sort_addresses(address, addresses);
    unsigned count = 0;
    for (unsigned i = 0; i < addresses; i++) {
        struct run *last = count > 0 ? &out[count - 1] : NULL;
        if (last != NULL && address[i] <= last->start + (int64_t)last->length)
            last->length = (uint64_t)(address[i] + (int64_t)width - last->start);
        else
            out[count++] = (struct run){address[i], width};
    }
    return count;
}

/* Runs of equal lengths at equal distances become a lattice; gives the number of lattices. A lattice is long: most
 * instructions have one, which is not made of as many as they have lanes. */
static unsigned join_plain_runs(struct lattice *out, const struct run *runs, unsigned count, bool written)
{
    unsigned lattices = 0;
    for (unsigned i = 0, n; i < count; i += n) {
        const int64_t distance = i + 1 < count ? runs[i + 1].start - runs[i].start : 0;
        n = 1;
        while (i + n < count && runs[i + n].length == runs[i].length &&
               runs[i + n].start - runs[i + n - 1].start == distance)
            n++;
        struct lattice *lattice = &out[lattices++];
        *lattice = (struct lattice){.start = runs[i].start, .length = runs[i].length, .written = written};
        if (n > 1)
            lattice_add_dim(lattice, distance, n);
    }
    return lattices;
}

/* The addresses as runs, then runs of runs. */
static unsigned compress(struct lattice *out, int64_t *address, unsigned addresses, unsigned width, bool written)
{
    struct run runs[ADDRESSES_MAX];
    unsigned before = find_runs(runs, address, addresses, width);
    unsigned count = join_plain_runs(out, runs, before, written);
    while (count < before && count > 1) {
        before = count;
        count = join_runs(out, count);
    }
    return count;
}

static bool list_has(const struct list *list, const struct lattice *lattice)
{
    enum { LOOK_BACK = 16 };
    for (size_t i = list->count > LOOK_BACK ? list->count - LOOK_BACK : 0; i < list->count; i++)
        if (list->items[i].start == lattice->start && list->items[i].written == lattice->written &&
            same_shape(&list->items[i], lattice))
            return true;
    return false;
}

static void list_add(struct list *list, const struct lattice *lattice)
{
    if (list_has(list, lattice))
        return;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct lattice *items = realloc(list->items, capacity * sizeof(*items));
        if (items == NULL)
            abort();
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *lattice;
}

static bool turn_to_bits(const struct coverage *coverage, unsigned worker)
{
    struct bits *bits = bits_of(coverage, worker);
    bool fits;
    if (coverage->own) {
        fits = start_bits(coverage, bits);
    } else {
#ifdef _OPENMP
#pragma omp critical(coverage_bits)
#endif
        fits = start_bits(coverage, bits);
    }
    if (fits)
        mark_list(coverage, bits, &coverage->lists[worker]);
    return fits;
}

/* Places of one width, to be marked at the points of a box. A place is aligned to its width: its granules lie within
 * one word, and it within one sector. */
struct marking {
    uint64_t *words;
    uint64_t run;   /* the bits of a place at the first bit of a word */
    unsigned shift; /* log2 of a bit's bytes */
    bool own;       /* nobody else marks these words */
    bool far;       /* they are more than a core's cache holds */
    const int64_t *address;
    unsigned addresses;
};

static struct marking marking_of(const struct coverage *coverage, const struct bits *bits, bool written, unsigned width)
{
    const unsigned granules = written ? width / coverage->granule : 1;
    return (struct marking){.words = written ? bits->written : bits->read,
                            .run = granules == 0 ? 1 : (UINT64_C(1) << granules) - 1,
                            .shift = written ? (unsigned)__builtin_ctz(coverage->granule) : 5,
                            .own = coverage->own,
                            .far = (written ? coverage->written_words : coverage->read_words) >
                                   NEAR_BYTES_MAX / sizeof(uint64_t)};
}

static void mark_own(const struct marking *marking, int64_t move)
{
    uint64_t *words = marking->words;
    for (unsigned i = 0; i < marking->addresses; i++) {
        const uint64_t first = (uint64_t)(marking->address[i] + move) >> marking->shift;
        words[first / 64] |= marking->run << (first % 64);
    }
}

static void mark_shared(const struct marking *marking, int64_t move)
{
    uint64_t *words = marking->words;
    for (unsigned i = 0; i < marking->addresses; i++) {
        const uint64_t first = (uint64_t)(marking->address[i] + move) >> marking->shift;
        const uint64_t mask = marking->run << (first % 64);
        /* Most bits are set already in a gather; looking first keeps the line shared between cores. */
        if ((__atomic_load_n(&words[first / 64], __ATOMIC_RELAXED) & mask) != mask)
            (void)__atomic_fetch_or(&words[first / 64], mask, __ATOMIC_RELAXED);
    }
}

/* Every point of `dims` dimensions, moved by `move` bytes. */
static void mark_points(const struct marking *marking, unsigned dims, const int64_t *step, const uint64_t *count,
                        int64_t move)
{
    if (dims > 0) {
        for (uint64_t q = 0; q < count[0]; q++)
            mark_points(marking, dims - 1, step + 1, count + 1, move + step[0] * (int64_t)q);
        return;
    }
    for (unsigned i = 0; marking->far && i < marking->addresses; i++)
        __builtin_prefetch(&marking->words[(uint64_t)(marking->address[i] + move) >> marking->shift >> 6], 1);
    if (marking->own)
        mark_own(marking, move);
    else
        mark_shared(marking, move);
}

bool coverage_add(struct coverage *coverage, unsigned worker, bool written, const int64_t *address, unsigned addresses,
                  unsigned width, unsigned dims, const int64_t *step, const uint64_t *count)
{
    const struct bits *bits = bits_of(coverage, worker);
    uint64_t points = 1;
    for (unsigned k = 0; k < dims && points <= POINTS_FEW; k++)
        points *= count[k] < POINTS_FEW ? count[k] : POINTS_FEW + 1;
    if (points <= POINTS_FEW && has_bits(bits)) {
        struct marking marking = marking_of(coverage, bits, written, width);
        marking.address = address;
        marking.addresses = addresses;
        mark_points(&marking, dims, step, count, 0);
        return true;
    }
    struct lattice items[ADDRESSES_MAX];
    int64_t sorted[ADDRESSES_MAX];
    memcpy(sorted, address, addresses * sizeof(*sorted));
    unsigned lattices = compress(items, sorted, addresses, width, written);
    struct list *list = &coverage->lists[worker];
    for (unsigned i = 0; i < lattices; i++) {
        for (unsigned k = 0; k < dims; k++)
            lattice_add_dim(&items[i], step[k], count[k]);
        lattice_simplify(&items[i]);
        list_add(list, &items[i]);
    }
    return list->count <= LATTICES_MAX || turn_to_bits(coverage, worker);
}

/* True where the 64 sectors of one word of read bits have no bit at all. */
static bool nothing_in_word(const struct coverage *coverage, uint64_t word)
{
    const unsigned per_sector = SECTOR_BYTES / coverage->granule;
    const struct bits *bits = &coverage->bits[0];
    uint64_t any = bits->read[word];
    for (unsigned i = 0; i < per_sector; i++)
        any |= bits->written[word * per_sector + i];
    return any == 0;
}

static void count_word(const struct coverage *coverage, uint64_t word, struct footprint *out)
{
    const unsigned per_sector = SECTOR_BYTES / coverage->granule, per_block = DRAM_BLOCK_BYTES / SECTOR_BYTES;
    const uint64_t all = (UINT64_C(1) << per_sector) - 1;
    const struct bits *bits = &coverage->bits[0];
    for (unsigned start = 0; start < 64; start += per_block) {
        struct block_bits block = {(unsigned)(bits->read[word] >> start & 0xff), 0, 0};
        for (unsigned s = 0; s < per_block; s++) {
            const uint64_t bit = (word * 64 + start + s) * per_sector;
            const uint64_t granules = bits->written[bit / 64] >> (bit % 64) & all;
            block.written |= (unsigned)(granules != 0) << s;
            block.whole |= (unsigned)(granules == all) << s;
        }
        footprint_add_block(out, &block);
    }
}

/* All that the workers have marked or listed, in the first one's bits. */
static bool join_workers(const struct coverage *coverage)
{
    struct bits *all = &coverage->bits[0];
    if (!start_bits(coverage, all))
        return false;
    for (unsigned w = 0; w < coverage->workers; w++) {
        const struct bits *bits = &coverage->bits[w];
        mark_list(coverage, all, &coverage->lists[w]);
        if (w == 0 || !has_bits(bits))
            continue;
        for (uint64_t i = 0; i < coverage->read_words; i++)
            all->read[i] |= bits->read[i];
        for (uint64_t i = 0; i < coverage->written_words; i++)
            all->written[i] |= bits->written[i];
    }
    return true;
}

/* Counts what was listed. False where that is too much to be looked at, or something was marked as bits. */
static bool count_lists(const struct coverage *coverage, struct footprint *out)
{
    size_t count = 0;
    for (unsigned w = 0; w < coverage->workers; w++) {
        if (has_bits(&coverage->bits[w]))
            return false;
        count += coverage->lists[w].count;
    }
    struct lattice *items = calloc(count + 1, sizeof(*items));
    if (items == NULL)
        abort();
    size_t copied = 0;
    for (unsigned w = 0; w < coverage->workers; w++) {
        const struct list *list = &coverage->lists[w];
        if (list->count > 0)
            memcpy(items + copied, list->items, list->count * sizeof(*items));
        copied += list->count;
    }
    bool counted = coverage_fold(out, items, count);
    free(items);
    return counted;
}

bool coverage_count(struct coverage *coverage, struct footprint *out)
{
    *out = (struct footprint){0};
    if (count_lists(coverage, out))
        return true;
    *out = (struct footprint){0};
    if (!join_workers(coverage))
        return false;
    for (uint64_t word = 0; word < coverage->read_words; word++)
        if (!nothing_in_word(coverage, word))
            count_word(coverage, word, out);
    return true;
}
