#include "coverage_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "request.h"

enum {
    PIECES_MAX = 1 << 17,      /* one-dimensional ones that lattices may be expanded into */
    WINDOW_GRANULES = 1 << 14, /* that counting looks at at once */
    LOOKED_AT_MAX = 1 << 30,   /* granules of one stretch */
    PERIOD_BYTES_MAX = 1 << 26
};

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

static void count_flags(struct footprint *sum, const struct sweep *sweep, uint64_t bytes)
{
    const unsigned per_sector = SECTOR_BYTES >> sweep->shift;
    const unsigned char *flags = sweep->flags;
    for (uint64_t unit = 0; unit < bytes; unit += UNIT_BYTES) {
        struct block_bits block = {0, 0, 0};
        for (unsigned s = 0; s < UNIT_BYTES / SECTOR_BYTES; s++, flags += per_sector) {
            unsigned any = 0, all = 3;
            for (unsigned i = 0; i < per_sector; i++) {
                any |= flags[i];
                all &= flags[i];
            }
            block.read |= (any & 1) << s;
            block.written |= any >> 1 << s;
            block.whole |= all >> 1 << s;
        }
        footprint_add_block(sum, &block);
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

static bool count_pieces(size_t *out, const struct lattice *items, size_t count)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t pieces = 1;
        unsigned longest = longest_dim(&items[i]);
        for (unsigned k = 0; k < items[i].dims; k++)
            if (k != longest && __builtin_mul_overflow(pieces, items[i].count[k], &pieces))
                return false;
        if (pieces > PIECES_MAX || (*out += pieces) > PIECES_MAX)
            return false;
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

bool coverage_sweep(struct footprint *out, const struct lattice *items, size_t count)
{
    size_t pieces;
    struct sweep sweep = {0};
    if (!count_pieces(&pieces, items, count))
        return false;
    sweep.pieces = calloc(pieces + 1, sizeof(*sweep.pieces));
    sweep.active = calloc(pieces + 1, sizeof(*sweep.active));
    sweep.flags = malloc(WINDOW_GRANULES);
    bool fits = sweep.pieces != NULL && sweep.active != NULL && sweep.flags != NULL;
    if (fits) {
        for (size_t i = 0; i < count; i++)
            expand(&sweep, &items[i], 0, longest_dim(&items[i]), (uint64_t)items[i].start);
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
