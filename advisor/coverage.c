#include "coverage.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "request.h"

enum {
    LATTICES_MAX = 4096,           /* a worker; beyond, places are kept as bits */
    POINTS_FEW = 64,               /* of a box, that are marked one by one rather than as a lattice */
    PIECES_MAX = 1 << 17,          /* one-dimensional ones that counting may expand lattices into */
    UNIT_BYTES = 2 * SECTOR_BYTES, /* counting goes by whole pairs of sectors */
    WINDOW_GRANULES = 1 << 14,     /* that counting looks at at once */
    LOOKED_AT_MAX = 1 << 30,       /* granules of one stretch */
    PERIOD_BYTES_MAX = 1 << 26,
    OWN_BYTES_MAX = 1 << 27, /* of bits that all workers together may have each for itself */
    NEAR_BYTES_MAX = 1 << 20 /* of bits that a core's own cache is likely to hold */
};
static const uint64_t BITS_BYTES_MAX = UINT64_C(1) << 30;

/* The bytes [start, start + length) repeated at every step; steps ascend and are longer than `length`. */
struct lattice {
    int64_t start;
    uint64_t length;
    bool written;
    unsigned dims;
    uint64_t step[COVERAGE_DIMS_MAX], count[COVERAGE_DIMS_MAX];
};

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

static void drop_dim(struct lattice *lattice, unsigned dim)
{
    lattice->dims--;
    for (unsigned i = dim; i < lattice->dims; i++) {
        lattice->step[i] = lattice->step[i + 1];
        lattice->count[i] = lattice->count[i + 1];
    }
}

static void add_dim(struct lattice *lattice, int64_t step, uint64_t count)
{
    if (count <= 1 || step == 0)
        return;
    if (step < 0)
        lattice->start += step * (int64_t)(count - 1);
    uint64_t size = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    unsigned at = lattice->dims++;
    for (; at > 0 && lattice->step[at - 1] > size; at--) {
        lattice->step[at] = lattice->step[at - 1];
        lattice->count[at] = lattice->count[at - 1];
    }
    lattice->step[at] = size;
    lattice->count[at] = count;
}

/* Neighbours that touch or overlap become one: a longer run, or a longer dimension of the same step. */
static void simplify(struct lattice *lattice)
{
    bool changed = true;
    while (changed) {
        changed = false;
        while (lattice->dims > 0 && lattice->step[0] <= lattice->length) {
            lattice->length += lattice->step[0] * (lattice->count[0] - 1);
            drop_dim(lattice, 0);
            changed = true;
        }
        for (unsigned i = 0; i + 1 < lattice->dims; i++) {
            uint64_t ratio = lattice->step[i + 1] / lattice->step[i];
            if (lattice->step[i + 1] % lattice->step[i] != 0 || ratio > lattice->count[i])
                continue;
            lattice->count[i] += ratio * (lattice->count[i + 1] - 1);
            drop_dim(lattice, i + 1);
            changed = true;
        }
    }
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
            add_dim(&joined, distance, n);
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

/* The addresses as runs of touching bytes, then runs of runs. */
static unsigned compress(struct lattice *out, int64_t *address, unsigned addresses, unsigned width, bool written)
{
    sort_addresses(address, addresses);
    unsigned count = 0;
    for (unsigned i = 0; i < addresses; i++) {
        struct lattice *last = count > 0 ? &out[count - 1] : NULL;
        if (last != NULL && address[i] <= last->start + (int64_t)last->length) {
            last->length = (uint64_t)(address[i] + (int64_t)width - last->start);
            continue;
        }
        out[count++] = (struct lattice){.start = address[i], .length = width, .written = written};
    }
    for (unsigned before = count + 1; count < before && count > 1;) {
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
    enum { ADDRESSES_MAX = 1024 };
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
            add_dim(&items[i], step[k], count[k]);
        simplify(&items[i]);
        list_add(list, &items[i]);
    }
    return list->count <= LATTICES_MAX || turn_to_bits(coverage, worker);
}

/* A lattice of at most one dimension: bytes [start + q step, + length), 0 <= q < count. */
struct piece {
    uint64_t start, end; /* end: past the last byte */
    uint64_t step, length, count;
    bool written;
};

struct sweep {
    struct piece *pieces; /* by start */
    size_t count, next;
    size_t *active; /* pieces that reach past the cursor */
    size_t active_count;
    unsigned char *flags; /* a granule, WINDOW_GRANULES of them: 1 read, 2 written */
    unsigned shift;       /* log2 of the granule's bytes, which divide every place */
    struct footprint sum;
    bool too_long; /* a stretch without a short period that is too long to look at */
};

static void footprint_add(struct footprint *to, const struct footprint *more, uint64_t times)
{
    to->read_sectors += more->read_sectors * times;
    to->written_sectors += more->written_sectors * times;
    to->distinct_sectors += more->distinct_sectors * times;
    to->fill_sectors += more->fill_sectors * times;
    to->unread_fill_sectors += more->unread_fill_sectors * times;
    to->read_pairs += more->read_pairs * times;
}

static void flag_piece(const struct sweep *sweep, const struct piece *piece, uint64_t from, uint64_t to)
{
    uint64_t first = piece->start + piece->length > from ? 0 : (from - piece->start - piece->length) / piece->step + 1;
    const unsigned char flag = piece->written ? 2 : 1;
    for (uint64_t q = first; q < piece->count; q++) {
        uint64_t a = piece->start + q * piece->step, b = a + piece->length;
        if (a >= to)
            return;
        a = ((a < from ? from : a) - from) >> sweep->shift;
        b = ((b > to ? to : b) - from) >> sweep->shift;
        for (uint64_t i = a; i < b; i++)
            sweep->flags[i] |= flag;
    }
}

static void count_sector(struct footprint *sum, bool read, bool written, bool whole)
{
    sum->read_sectors += read;
    sum->written_sectors += written;
    sum->distinct_sectors += read || written;
    sum->fill_sectors += written && !whole;
    sum->unread_fill_sectors += written && !whole && !read;
}

static void count_flags(struct footprint *sum, const struct sweep *sweep, uint64_t bytes)
{
    const unsigned per_sector = SECTOR_BYTES >> sweep->shift;
    const unsigned char *flags = sweep->flags;
    for (uint64_t unit = 0; unit < bytes; unit += UNIT_BYTES) {
        bool pair_read = false;
        for (unsigned s = 0; s < UNIT_BYTES / SECTOR_BYTES; s++, flags += per_sector) {
            unsigned char any = 0, all = 3;
            for (unsigned i = 0; i < per_sector; i++) {
                any |= flags[i];
                all &= flags[i];
            }
            count_sector(sum, (any & 1) != 0, (any & 2) != 0, (all & 2) != 0);
            pair_read |= (any & 1) != 0;
        }
        sum->read_pairs += pair_read;
    }
}

/* Looks at every granule of [from, to), both multiples of a unit. */
static struct footprint count_granules(const struct sweep *sweep, uint64_t from, uint64_t to)
{
    const uint64_t window = (uint64_t)WINDOW_GRANULES << sweep->shift;
    struct footprint sum = {0};
    for (uint64_t at = from; at < to; at += window) {
        uint64_t end = to - at > window ? at + window : to;
        memset(sweep->flags, 0, (end - at) >> sweep->shift);
        for (size_t i = 0; i < sweep->active_count; i++)
            flag_piece(sweep, &sweep->pieces[sweep->active[i]], at, end);
        count_flags(&sum, sweep, end - at);
    }
    return sum;
}

/* The period of the active pieces in bytes, a multiple of a unit; 0: they are all dense; UINT64_MAX: too long. */
static uint64_t active_period(const struct sweep *sweep)
{
    uint64_t period = 0;
    for (size_t i = 0; i < sweep->active_count; i++) {
        const struct piece *piece = &sweep->pieces[sweep->active[i]];
        if (piece->count == 1)
            continue;
        if (period == 0)
            period = UNIT_BYTES;
        period = period / greatest_common_divisor(period, piece->step) * piece->step;
        if (period > PERIOD_BYTES_MAX)
            return UINT64_MAX;
    }
    return period;
}

/* A stretch inside which no piece begins or ends: what repeats is counted once. */
static void count_stretch(struct sweep *sweep, uint64_t from, uint64_t to)
{
    if (from >= to || sweep->active_count == 0)
        return;
    uint64_t period = active_period(sweep), bytes = to - from;
    if (period == 0)
        period = UNIT_BYTES;
    if (period > bytes / 2 && bytes >> sweep->shift > LOOKED_AT_MAX) {
        sweep->too_long = true;
        return;
    }
    if (period > bytes / 2) {
        struct footprint all = count_granules(sweep, from, to);
        footprint_add(&sweep->sum, &all, 1);
        return;
    }
    struct footprint one = count_granules(sweep, from, from + period);
    struct footprint rest = count_granules(sweep, from + bytes / period * period, to);
    footprint_add(&sweep->sum, &one, bytes / period);
    footprint_add(&sweep->sum, &rest, 1);
}

static void take_pieces(struct sweep *sweep, uint64_t below)
{
    while (sweep->next < sweep->count && sweep->pieces[sweep->next].start < below)
        sweep->active[sweep->active_count++] = sweep->next++;
}

static void drop_pieces(struct sweep *sweep, uint64_t cursor)
{
    size_t kept = 0;
    for (size_t i = 0; i < sweep->active_count; i++)
        if (sweep->pieces[sweep->active[i]].end > cursor)
            sweep->active[kept++] = sweep->active[i];
    sweep->active_count = kept;
}

static uint64_t next_break(const struct sweep *sweep, uint64_t none)
{
    uint64_t nearest = sweep->next < sweep->count ? sweep->pieces[sweep->next].start : none;
    for (size_t i = 0; i < sweep->active_count; i++) {
        uint64_t end = sweep->pieces[sweep->active[i]].end;
        nearest = end < nearest ? end : nearest;
    }
    return nearest;
}

static void sweep_pieces(struct sweep *sweep)
{
    uint64_t cursor = 0;
    while (sweep->next < sweep->count || sweep->active_count > 0) {
        uint64_t at = next_break(sweep, UINT64_MAX), unit = at / UNIT_BYTES * UNIT_BYTES;
        count_stretch(sweep, cursor, unit);
        cursor = unit;
        if (at != unit) {
            /* A piece begins or ends inside this unit: look at it by itself. */
            take_pieces(sweep, unit + UNIT_BYTES);
            struct footprint one = count_granules(sweep, unit, unit + UNIT_BYTES);
            footprint_add(&sweep->sum, &one, 1);
            cursor = unit + UNIT_BYTES;
        }
        drop_pieces(sweep, cursor);
        take_pieces(sweep, cursor + 1);
    }
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* How many one-dimensional pieces a lattice is: all dimensions but the longest one are written out. */
static unsigned longest_dim(const struct lattice *lattice)
{
    unsigned longest = lattice->dims; /* none: a far step repeats too seldom to have a period */
    for (unsigned k = 0; k < lattice->dims; k++)
        if (lattice->step[k] <= PERIOD_BYTES_MAX / 4 &&
            (longest == lattice->dims || lattice->count[k] > lattice->count[longest]))
            longest = k;
    return longest;
}

static bool count_pieces(const struct coverage *coverage, size_t *out)
{
    *out = 0;
    for (unsigned w = 0; w < coverage->workers; w++) {
        for (size_t i = 0; i < coverage->lists[w].count; i++) {
            const struct lattice *lattice = &coverage->lists[w].items[i];
            uint64_t pieces = 1;
            unsigned longest = longest_dim(lattice);
            for (unsigned k = 0; k < lattice->dims; k++)
                if (k != longest && __builtin_mul_overflow(pieces, lattice->count[k], &pieces))
                    return false;
            if (pieces > PIECES_MAX || (*out += pieces) > PIECES_MAX)
                return false;
        }
    }
    return true;
}

static void expand(struct sweep *sweep, const struct lattice *lattice, unsigned dim, unsigned kept, uint64_t start)
{
    if (dim == kept)
        dim++;
    if (dim < lattice->dims) {
        for (uint64_t q = 0; q < lattice->count[dim]; q++)
            expand(sweep, lattice, dim + 1, kept, start + q * lattice->step[dim]);
        return;
    }
    uint64_t step = kept < lattice->dims ? lattice->step[kept] : lattice->length;
    uint64_t count = kept < lattice->dims ? lattice->count[kept] : 1;
    sweep->pieces[sweep->count++] = (struct piece){.start = start,
                                                   .end = start + step * (count - 1) + lattice->length,
                                                   .step = step,
                                                   .length = lattice->length,
                                                   .count = count,
                                                   .written = lattice->written};
}

/* The largest granule, at most a sector, that divides every place. */
static unsigned common_shift(const struct sweep *sweep)
{
    uint64_t all = SECTOR_BYTES;
    for (size_t i = 0; i < sweep->count; i++)
        all |= sweep->pieces[i].start | sweep->pieces[i].length | sweep->pieces[i].step;
    return (unsigned)__builtin_ctzll(all);
}

static bool count_lattices(struct coverage *coverage, size_t pieces, struct footprint *out)
{
    struct sweep sweep = {0};
    sweep.pieces = calloc(pieces + 1, sizeof(*sweep.pieces));
    sweep.active = calloc(pieces + 1, sizeof(*sweep.active));
    sweep.flags = malloc(WINDOW_GRANULES);
    bool fits = sweep.pieces != NULL && sweep.active != NULL && sweep.flags != NULL;
    if (fits) {
        for (unsigned w = 0; w < coverage->workers; w++)
            for (size_t i = 0; i < coverage->lists[w].count; i++) {
                const struct lattice *lattice = &coverage->lists[w].items[i];
                expand(&sweep, lattice, 0, longest_dim(lattice), (uint64_t)lattice->start);
            }
        sweep.shift = common_shift(&sweep);
        qsort(sweep.pieces, sweep.count, sizeof(*sweep.pieces), compare_pieces);
        sweep_pieces(&sweep);
        fits = !sweep.too_long;
        *out = sweep.sum;
    }
    free(sweep.pieces);
    free(sweep.active);
    free(sweep.flags);
    return fits;
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
    const unsigned per_sector = SECTOR_BYTES / coverage->granule;
    const uint64_t all = (UINT64_C(1) << per_sector) - 1;
    const struct bits *bits = &coverage->bits[0];
    bool even_read = false;
    for (unsigned s = 0; s < 64; s++) {
        bool read = (bits->read[word] >> s & 1) != 0;
        uint64_t bit = (word * 64 + s) * per_sector;
        uint64_t granules = bits->written[bit / 64] >> (bit % 64) & all;
        count_sector(out, read, granules != 0, granules == all);
        out->read_pairs += read && (s % 2 == 0 || !even_read);
        even_read = s % 2 == 0 && read;
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

bool coverage_count(struct coverage *coverage, struct footprint *out)
{
    size_t pieces;
    bool listed = true;
    for (unsigned w = 0; w < coverage->workers; w++)
        listed = listed && !has_bits(&coverage->bits[w]);
    if (listed && count_pieces(coverage, &pieces))
        return count_lattices(coverage, pieces, out);
    if (!join_workers(coverage))
        return false;
    *out = (struct footprint){0};
    for (uint64_t word = 0; word < coverage->read_words; word++)
        if (!nothing_in_word(coverage, word))
            count_word(coverage, word, out);
    return true;
}
