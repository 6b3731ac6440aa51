#include "coverage_fold.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "coverage_sweep.h"
#include "sort_numbers.h"

enum {
    CELL_BYTES_LEAST = 2048, /* steps below have short periods: sweeping them is as good */
    PARTS_MAX = 1 << 16,     /* of lattices in cells */
    VISITS_MAX = 1 << 22     /* of parts, by ranges of cells that hold the same */
};

/* A lattice inside one cell, and the cells that hold it. */
struct part {
    uint64_t first, past;
    struct lattice lattice; /* its start counts from the cell's */
};

/* Space cut into cells. */
struct cells {
    uint64_t bytes; /* of a cell: a multiple of UNIT_BYTES, so that no sector and no pair is cut */
    struct part *parts;
    size_t count, capacity;
};

static bool cells_add(struct cells *cells, const struct lattice *lattice, uint64_t cell, uint64_t repeats)
{
    if (cells->count == PARTS_MAX)
        return false;
    if (cells->count == cells->capacity) {
        size_t capacity = cells->capacity == 0 ? 64 : cells->capacity * 2;
        struct part *parts = realloc(cells->parts, capacity * sizeof(*parts));
        if (parts == NULL)
            abort();
        cells->parts = parts;
        cells->capacity = capacity;
    }
    struct part *part = &cells->parts[cells->count++];
    *part = (struct part){cell, cell + repeats, *lattice};
    part->lattice.start -= (int64_t)(cell * cells->bytes);
    return true;
}

/* Bytes from a lattice's start to past its last byte, by its first `dims` dimensions. */
static uint64_t span(const struct lattice *lattice, unsigned dims)
{
    uint64_t bytes = lattice->length;
    for (unsigned k = 0; k < dims; k++)
        bytes += lattice->step[k] * (lattice->count[k] - 1);
    return bytes;
}

static bool put(struct cells *cells, struct lattice lattice, uint64_t repeats);

/* Points [first, first + count) of the last dimension. */
static bool put_points(struct cells *cells, struct lattice lattice, uint64_t repeats, uint64_t first, uint64_t count)
{
    unsigned last = lattice.dims - 1;
    if (count == 0)
        return true;
    lattice.start += (int64_t)(first * lattice.step[last]);
    lattice.count[last] = count;
    if (count == 1)
        lattice_drop_dim(&lattice, last);
    return put(cells, lattice, repeats);
}

/* A run that crosses the end of a cell: the part before, the cells that it fills, which are alike, and the rest. */
static bool put_run(struct cells *cells, struct lattice lattice, uint64_t repeats, uint64_t cell_end)
{
    const uint64_t past = (uint64_t)lattice.start + lattice.length - cell_end;
    const uint64_t whole = past / cells->bytes, left = past % cells->bytes;
    lattice.length = cell_end - (uint64_t)lattice.start;
    bool fits = put(cells, lattice, repeats);
    lattice.start = (int64_t)cell_end;
    lattice.length = cells->bytes;
    fits = fits && (whole == 0 || put(cells, lattice, repeats + whole - 1));
    lattice.start = (int64_t)(cell_end + whole * cells->bytes);
    lattice.length = left;
    return fits && (left == 0 || put(cells, lattice, repeats));
}

/* A last dimension that repeats in every cell: points of one cell, cell after cell, and those left. */
static bool put_periodic(struct cells *cells, const struct lattice *lattice, uint64_t repeats, uint64_t points)
{
    unsigned last = lattice->dims - 1;
    uint64_t whole = lattice->count[last] / points, left = lattice->count[last] % points;
    return put_points(cells, *lattice, repeats + whole - 1, 0, points) &&
           put_points(cells, *lattice, repeats, whole * points, left);
}

/* A last dimension that crosses the end of a cell: the points before, each of those that cross it, and the rest. */
static bool put_crossing(struct cells *cells, const struct lattice *lattice, uint64_t repeats, uint64_t cell_end)
{
    unsigned last = lattice->dims - 1;
    uint64_t step = lattice->step[last], count = lattice->count[last];
    uint64_t room = cell_end - (uint64_t)lattice->start, inner = span(lattice, last);
    uint64_t before = inner > room ? 0 : (room - inner) / step + 1, begin = (room - 1) / step + 1;
    before = before < count ? before : count;
    begin = begin < count ? begin : count;
    bool fits = put_points(cells, *lattice, repeats, 0, before);
    for (uint64_t q = before; q < begin && fits; q++)
        fits = put_points(cells, *lattice, repeats, q, 1);
    return fits && put_points(cells, *lattice, repeats, begin, count - begin);
}

/* Cuts a lattice at the ends of cells; what it is in its cell it is in `repeats` cells from there on. */
static bool put(struct cells *cells, struct lattice lattice, uint64_t repeats)
{
    const uint64_t cell = (uint64_t)lattice.start / cells->bytes, cell_end = (cell + 1) * cells->bytes;
    if ((uint64_t)lattice.start + span(&lattice, lattice.dims) <= cell_end)
        return cells_add(cells, &lattice, cell, repeats);
    if (lattice.dims == 0)
        return put_run(cells, lattice, repeats, cell_end);
    uint64_t step = lattice.step[lattice.dims - 1], points = cells->bytes / step;
    if (cells->bytes % step == 0 && lattice.count[lattice.dims - 1] > points)
        return put_periodic(cells, &lattice, repeats, points);
    return put_crossing(cells, &lattice, repeats, cell_end);
}

/* A lattice with its far dimension: cells are as many steps of it long as make a multiple of a unit. */
static bool put_far(struct cells *cells, const struct lattice *lattice, uint64_t step)
{
    unsigned last = lattice->dims - 1;
    if (lattice->dims == 0 || lattice->step[last] != step)
        return put(cells, *lattice, 1);
    uint64_t steps = cells->bytes / step, count = lattice->count[last];
    bool fits = true;
    for (uint64_t r = 0; r < steps && r < count && fits; r++) {
        struct lattice near = *lattice;
        near.start += (int64_t)(r * step);
        lattice_drop_dim(&near, last);
        fits = put(cells, near, (count - r - 1) / steps + 1);
    }
    return fits;
}

static uint64_t largest_step(const struct lattice *items, size_t count)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].dims > 0 && items[i].step[items[i].dims - 1] > largest)
            largest = items[i].step[items[i].dims - 1];
    return largest;
}

/* The cells at which what a cell holds changes, ascending; returns how many. Both `out` and `room` are for two
 * numbers a part. */
static size_t find_changes(uint64_t *out, uint64_t *room, const struct cells *cells)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < cells->count; i++) {
        out[count++] = cells->parts[i].first;
        out[count++] = cells->parts[i].past;
    }
    sort_numbers(out, room, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

/* Counts one cell for all from `first` to before `past`, which hold the same. `room` is for as many lattices as parts.
 */
static bool count_cells(struct footprint *out, const struct cells *cells, uint64_t first, uint64_t past,
                        struct lattice *room)
{
    struct footprint one = {0};
    size_t held = 0;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->parts[i].first <= first && cells->parts[i].past > first)
            room[held++] = cells->parts[i].lattice;
    if (held > 0 && !coverage_fold(&one, room, held))
        return false;
    footprint_add(out, &one, past - first);
    return true;
}

static bool count_all_cells(struct footprint *out, const struct cells *cells)
{
    uint64_t *changes = calloc(4 * cells->count + 1, sizeof(*changes));
    struct lattice *room = calloc(cells->count + 1, sizeof(*room));
    if (changes == NULL || room == NULL)
        abort();
    size_t count = find_changes(changes, changes + 2 * cells->count, cells);
    bool fits = count * cells->count <= VISITS_MAX;
    for (size_t i = 0; i + 1 < count && fits; i++)
        fits = count_cells(out, cells, changes[i], changes[i + 1], room);
    free(changes);
    free(room);
    return fits;
}

bool coverage_fold(struct footprint *out, struct lattice *items, size_t count)
{
    uint64_t step = largest_step(items, count);
    struct cells cells = {.bytes = step / greatest_common_divisor(step, UNIT_BYTES) * UNIT_BYTES};
    if (step < CELL_BYTES_LEAST)
        return coverage_sweep(out, items, count);
    bool fits = true;
    for (size_t i = 0; i < count && fits; i++)
        fits = put_far(&cells, &items[i], step);
    struct footprint folded = {0};
    fits = fits && count_all_cells(&folded, &cells);
    free(cells.parts);
    if (!fits)
        return coverage_sweep(out, items, count);
    footprint_add(out, &folded, 1);
    return true;
}
