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
    to->lines += more->lines * times;
    to->written_blocks += more->written_blocks * times;
}

static void add_sector(struct footprint *sum, bool read, bool written, bool whole)
{
    sum->read_sectors += read;
    sum->written_sectors += written;
    sum->distinct_sectors += read || written;
    sum->fill_sectors += written && !whole;
    sum->unread_fill_sectors += written && !whole && !read;
}

void footprint_add_block(struct footprint *sum, const struct block_bits *block)
{
    const unsigned sectors = DRAM_BLOCK_BYTES / SECTOR_BYTES, line = (1U << LINE_BYTES / SECTOR_BYTES) - 1, pair = 3;
    for (unsigned s = 0; s < sectors; s++) {
        const unsigned read = block->read >> s, written = block->written >> s;
        add_sector(sum, read & 1, written & 1, block->whole >> s & 1);
        sum->read_pairs += s % 2 == 0 && (read & pair) != 0;
        sum->lines += s % (LINE_BYTES / SECTOR_BYTES) == 0 && ((read | written) & line) != 0;
    }
    sum->written_blocks += block->written != 0;
}
