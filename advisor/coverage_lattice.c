#include "coverage_lattice.h"

void lattice_drop_dim(struct lattice *lattice, unsigned dim)
{
    lattice->dims--;
    for (unsigned i = dim; i < lattice->dims; i++) {
        lattice->step[i] = lattice->step[i + 1];
        lattice->count[i] = lattice->count[i + 1];
    }
}

void lattice_add_dim(struct lattice *lattice, int64_t step, uint64_t count)
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

void lattice_simplify(struct lattice *lattice)
{
    bool changed = true;
    while (changed) {
        changed = false;
        while (lattice->dims > 0 && lattice->step[0] <= lattice->length) {
            lattice->length += lattice->step[0] * (lattice->count[0] - 1);
            lattice_drop_dim(lattice, 0);
            changed = true;
        }
        for (unsigned i = 0; i + 1 < lattice->dims; i++) {
            uint64_t ratio = lattice->step[i + 1] / lattice->step[i];
            if (lattice->step[i + 1] % lattice->step[i] != 0 || ratio > lattice->count[i])
                continue;
            lattice->count[i] += ratio * (lattice->count[i + 1] - 1);
            lattice_drop_dim(lattice, i + 1);
            changed = true;
        }
    }
}

void footprint_add(struct footprint *to, const struct footprint *more, uint64_t times)
{
    to->read_sectors += more->read_sectors * times;
    to->written_sectors += more->written_sectors * times;
    to->distinct_sectors += more->distinct_sectors * times;
    to->fill_sectors += more->fill_sectors * times;
    to->unread_fill_sectors += more->unread_fill_sectors * times;
    to->read_pairs += more->read_pairs * times;
}

void footprint_add_sector(struct footprint *sum, bool read, bool written, bool whole)
{
    sum->read_sectors += read;
    sum->written_sectors += written;
    sum->distinct_sectors += read || written;
    sum->fill_sectors += written && !whole;
    sum->unread_fill_sectors += written && !whole && !read;
}
