#include "naive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "naive_map.h"

enum { LANES = 32, SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4, FOUR = 4 };
enum { TRIPS_MAX = 1 << 20 };

/* A set of numbers. Emptying it is a new stamp. */
struct set {
    uint64_t *keys;
    uint64_t *stamps;
    size_t capacity; /* a power of two, more than twice what is ever in it */
    uint64_t stamp;
    size_t count;
};

static struct set set_make(struct arena *arena, size_t most)
{
    struct set set = {.capacity = 4, .stamp = 1};
    while (set.capacity < 2 * most + 1)
        set.capacity *= 2;
    set.keys = arena_array(arena, set.capacity, sizeof(*set.keys));
    set.stamps = arena_array(arena, set.capacity, sizeof(*set.stamps));
    return set;
}

static void set_clear(struct set *set)
{
    set->stamp++;
    set->count = 0;
}

static size_t hash(uint64_t key, size_t capacity)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (capacity - 1);
}

/* Returns true where `key` is new. */
static bool set_add(struct set *set, uint64_t key)
{
    size_t at = hash(key, set->capacity);
    while (set->stamps[at] == set->stamp) {
        if (set->keys[at] == key)
            return false;
        at = (at + 1) & (set->capacity - 1);
    }
    set->keys[at] = key;
    set->stamps[at] = set->stamp;
    set->count++;
    return true;
}

/* What a launch did to one sector. */
struct sector {
    uint64_t number;
    uint32_t written; /* a flag a byte */
    bool used, read;
};

/* All sectors of an array that a launch touched. */
struct footprint {
    struct sector *sectors;
    size_t capacity, count;
    size_t last; /* where the byte before was: the next is often beside it */
};

static struct sector *footprint_find(struct footprint *footprint, uint64_t number)
{
    struct sector *last = &footprint->sectors[footprint->last];
    if (last->used && last->number == number)
        return last;
    size_t at = hash(number, footprint->capacity);
    while (footprint->sectors[at].used && footprint->sectors[at].number != number)
        at = (at + 1) & (footprint->capacity - 1);
    footprint->last = at;
    return &footprint->sectors[at];
}

static void footprint_grow(struct footprint *footprint, struct arena *arena)
{
    struct footprint old = *footprint;
    footprint->capacity = old.capacity == 0 ? 64 : 2 * old.capacity;
    footprint->sectors = arena_array(arena, footprint->capacity, sizeof(*footprint->sectors));
    footprint->last = 0;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.sectors[i].used)
            *footprint_find(footprint, old.sectors[i].number) = old.sectors[i];
}

static void footprint_touch(struct footprint *footprint, struct arena *arena, uint64_t address, bool read, bool write)
{
    if (2 * footprint->count >= footprint->capacity)
        footprint_grow(footprint, arena);
    struct sector *sector = footprint_find(footprint, address / SECTOR);
    footprint->count += !sector->used;
    sector->used = true;
    sector->number = address / SECTOR;
    sector->read |= read;
    if (write)
        sector->written |= UINT32_C(1) << (address % SECTOR);
}

/* The most distinct words of lanes [from, to) that fall in one bank; 0 without an active lane. */
static unsigned bank_ways(const bool active[], const uint64_t address[], unsigned width, unsigned from, unsigned to)
{
    uint64_t words[LANES * 5];
    unsigned count = 0;
    unsigned in_bank[BANKS] = {0};
    unsigned ways = 0;
    for (unsigned lane = from; lane < to; lane++) {
        for (unsigned byte = 0; active[lane] && byte < width; byte++) {
            uint64_t word = (address[lane] + byte) / WORD;
            unsigned i = 0;
            while (i < count && words[i] != word)
                i++;
            if (i < count)
                continue;
            words[count++] = word;
            unsigned here = ++in_bank[word % BANKS];
            ways = here > ways ? here : ways;
        }
    }
    return ways;
}

static bool partners_agree(const bool active[], const uint64_t address[], unsigned from, unsigned to, unsigned distance)
{
    for (unsigned lane = from; lane < to; lane++) {
        unsigned partner = lane ^ distance;
        if (active[lane] && active[partner] && address[lane] != address[partner])
            return false;
    }
    return true;
}

static bool mergeable(const bool active[], const uint64_t address[], unsigned from, unsigned to)
{
    return partners_agree(active, address, from, to, 1) || partners_agree(active, address, from, to, 2);
}

void naive_banks(uint64_t *wavefronts, uint64_t *conflicts, const bool active[32], const uint64_t address[32],
                 unsigned width)
{
    unsigned least = width <= 4 ? 32 : width == 8 ? 16 : 8; /* lanes of a pass that does not merge */
    unsigned most = width <= 8 ? 32 : 16;                   /* and of one that does */
    *wavefronts = *conflicts = 0;
    for (unsigned from = 0; from < LANES; from += most) {
        unsigned step = mergeable(active, address, from, from + most) ? most : least;
        for (unsigned at = from; at < from + most; at += step) {
            unsigned ways = bank_ways(active, address, width, at, at + step);
            *wavefronts += ways;
            *conflicts += ways > 0 ? ways - 1 : 0;
        }
    }
}

/* Working sets of one instruction. */
struct instruction_sets {
    struct set bytes, sectors, lines;
};

static struct instruction_sets instruction_sets_make(struct arena *arena)
{
    size_t most = (size_t)LANES * VECTOR_BYTES_MAX;
    return (struct instruction_sets){set_make(arena, most), set_make(arena, most), set_make(arena, most)};
}

static void collect_bytes(struct instruction_sets *sets, const bool active[], const uint64_t address[], unsigned width)
{
    set_clear(&sets->bytes);
    set_clear(&sets->sectors);
    set_clear(&sets->lines);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned byte = 0; active[lane] && byte < width; byte++) {
            if (!set_add(&sets->bytes, address[lane] + byte))
                continue;
            set_add(&sets->sectors, (address[lane] + byte) / SECTOR);
            set_add(&sets->lines, (address[lane] + byte) / LINE);
        }
    }
}

static void add_bytes(struct counts *counts, const struct instruction_sets *sets, const bool active[], unsigned width)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        counts->asked_bytes += active[lane] ? width : 0;
    counts->unique_bytes += sets->bytes.count;
}

static void add_global(struct counts *counts, const struct instruction_sets *sets)
{
    counts->requests++;
    counts->sectors += sets->sectors.count;
    counts->lines += sets->lines.count;
    counts->ideal_sectors += (sets->bytes.count + SECTOR - 1) / SECTOR;
}

/* Round after round each value's first lane that is left goes, and takes a sector along with those that go to it too.
 */
uint64_t naive_atomic_sectors(const bool active[32], const uint64_t address[32])
{
    bool left[LANES];
    uint64_t sectors = 0;
    memcpy(left, active, sizeof(left));
    for (unsigned round = 0; round < LANES; round++) {
        bool goes[LANES] = {false};
        for (unsigned lane = 0; lane < LANES; lane++) {
            bool first = left[lane], sector_taken = false;
            for (unsigned other = 0; other < lane; other++) {
                first = first && !(goes[other] && address[other] == address[lane]);
                sector_taken = sector_taken || (goes[other] && address[other] / SECTOR == address[lane] / SECTOR);
            }
            goes[lane] = first;
            sectors += first && !sector_taken;
        }
        for (unsigned lane = 0; lane < LANES; lane++)
            left[lane] = left[lane] && !goes[lane];
    }
    return sectors;
}

void naive_global(struct counts *counts, const bool active[32], const uint64_t address[32], unsigned width)
{
    struct arena arena = {0};
    struct instruction_sets sets = instruction_sets_make(&arena);
    collect_bytes(&sets, active, address, width);
    if (sets.bytes.count > 0) {
        counts->instructions++;
        add_bytes(counts, &sets, active, width);
        add_global(counts, &sets);
    }
    arena_free(&arena);
}

/* One execution of an access by one thread. */
struct event {
    const struct access *access;
    const int64_t *trips; /* of the loops around it, outermost first */
    unsigned depth;
    int64_t index[SPEC_DIMS_MAX];
    const int64_t *subscripts; /* one an access->subscripts */
};

/* What one thread does, in program order. */
struct trace {
    struct event *events;
    size_t count, capacity;
};

/* The copy that a block makes of an array: `staged`. */
struct box {
    bool staged;
    int64_t step[SPEC_DIMS_MAX][3];                  /* what one more in blockIdx.x, y, z adds to an index */
    int64_t low[SPEC_DIMS_MAX], high[SPEC_DIMS_MAX]; /* of index - step * blockIdx, both inside */
    bool touched;
    bool copy_in, copy_out, copy_whole;
    const struct access *first, *last;
    uint64_t record_bytes, row_bytes, plane_bytes;
    uint64_t unit, line; /* swizzled: bytes that stay together, and of a row, at least of all banks; else 0 */
    bool *written;       /* a flag a byte of the record up to its stride */
    uint64_t word_in, word_out;
    struct counts in, out;
};

/* A flag each of an access's pieces: done with another instruction. */
struct merged {
    bool *flags;
    size_t count;
};

/* Everything about one launch. */
struct walk {
    const struct kernel *kernel;
    struct arena *arena;
    struct arena scratch; /* traces of one warp */
    struct map *maps;     /* by array number */
    struct box *boxes;
    struct footprint *footprints;
    struct counts (*counts)[2]; /* by access number: loads, stores */
    struct counts (*joined)[2]; /* of those, what is done with another instruction */
    struct merged (*merged)[2]; /* which instructions those are */
    bool *shared_record;        /* by access number: a thread's number is not in its index */
    struct instruction_sets sets;
    struct naive_fault *fault;
    struct naive_fault misfit; /* of `bytes` */
    uint64_t threads;
    bool wide;
};

/* A thread being run. */
struct run {
    struct walk *walk;
    struct expr_frame frame;
    int64_t *slots;
    struct trace *trace;
    int64_t trips[64];
    unsigned depth;
    uint64_t thread;
};

static bool fail(struct run *run, enum naive_fault_kind kind, const struct statement *statement, int64_t value)
{
    *run->walk->fault = (struct naive_fault){
        .kind = kind, .kernel = run->walk->kernel, .statement = statement, .thread = run->thread, .value = value};
    return false;
}

static bool inapplicable(struct walk *walk, const char *reason)
{
    *walk->fault = (struct naive_fault){.kind = NAIVE_INAPPLICABLE, .kernel = walk->kernel, .reason = reason};
    return false;
}

static bool evaluate(struct run *run, int64_t *out, const struct expr *expr, const struct statement *statement)
{
    const struct expr *culprit = NULL;
    int64_t detail = 0;
    enum expr_fault fault = expr_evaluate(out, expr, &run->frame, &culprit, &detail);
    if (fault == EXPR_FINE)
        return true;
    (void)fail(run, NAIVE_EXPRESSION, statement, detail);
    run->walk->fault->expression = fault;
    return false;
}

static void set_builtins(struct expr_frame *frame, const struct kernel *kernel, uint64_t thread)
{
    uint64_t block = thread / kernel->block_threads;
    uint64_t inside = thread % kernel->block_threads;
    int64_t *b = frame->builtins;
    b[BUILTIN_THREAD_IDX_X] = (int64_t)(inside % kernel->block[0]);
    b[BUILTIN_THREAD_IDX_Y] = (int64_t)(inside / kernel->block[0] % kernel->block[1]);
    b[BUILTIN_THREAD_IDX_Z] = (int64_t)(inside / kernel->block[0] / kernel->block[1]);
    b[BUILTIN_BLOCK_IDX_X] = (int64_t)(block % kernel->grid[0]);
    b[BUILTIN_BLOCK_IDX_Y] = (int64_t)(block / kernel->grid[0] % kernel->grid[1]);
    b[BUILTIN_BLOCK_IDX_Z] = (int64_t)(block / kernel->grid[0] / kernel->grid[1]);
    for (int d = 0; d < 3; d++) {
        b[BUILTIN_BLOCK_DIM_X + d] = (int64_t)kernel->block[d];
        b[BUILTIN_GRID_DIM_X + d] = (int64_t)kernel->grid[d];
    }
    b[BUILTIN_THREAD] = (int64_t)thread;
    b[BUILTIN_LANE] = (int64_t)(inside % LANES);
    b[BUILTIN_WARP] = (int64_t)(inside / LANES);
}

/* The leaf and the byte in it where a selection is, its subscripts added. */
static size_t selected_leaf(const struct event *event, const struct selected *selected, uint64_t *within)
{
    size_t leaf = selected->leaf;
    *within = selected->inner_offset;
    for (size_t i = 0; i < selected->subscript_count; i++) {
        const struct subscript *subscript = &selected->subscripts[i];
        uint64_t value = (uint64_t)event->subscripts[subscript - event->access->subscripts];
        if (subscript->stride_leaves > 0)
            leaf += value * subscript->stride_leaves;
        else
            *within += value * subscript->stride_bytes;
    }
    return leaf;
}

static uint64_t selected_byte(const struct map *map, const struct event *event, const struct selected *selected)
{
    uint64_t within = 0;
    size_t leaf = selected_leaf(event, selected, &within);
    return map->array->offset + naive_leaf_byte(map, event->index, leaf, within);
}

/* Where an instruction of `bytes` lands depends on the layout, so that it is no fault of the thread's: the first one
 * that cannot be is told once no thread has faulted. */
static void note_width(struct run *run, const struct statement *statement, const struct event *event)
{
    const struct access *access = event->access;
    const struct map *map = &run->walk->maps[access->array->number];
    if (access->bytes == 0 || run->walk->misfit.kind != NAIVE_FINE)
        return;
    uint64_t at = selected_byte(map, event, &access->selected[0]);
    if (at % access->bytes != 0 || at + access->bytes > access->array->offset + map->bytes)
        run->walk->misfit = (struct naive_fault){
            .kind = at % access->bytes != 0 ? NAIVE_MISALIGNED : NAIVE_PAST_END,
            .kernel = run->walk->kernel,
            .statement = statement,
            .thread = run->thread,
            .value = (int64_t)at,
        };
}

static bool run_access(struct run *run, const struct statement *statement)
{
    const struct access *access = statement->access;
    struct arena *scratch = &run->walk->scratch;
    struct event event = {.access = access, .depth = run->depth};
    for (unsigned d = 0; d < access->array->dim_count; d++) {
        if (!evaluate(run, &event.index[d], access->index[d], statement))
            return false;
        if (event.index[d] < 0 || (uint64_t)event.index[d] >= access->array->extent[d])
            return fail(run, NAIVE_INDEX, statement, event.index[d]);
    }
    int64_t *subscripts = arena_array(scratch, access->subscript_count + 1, sizeof(*subscripts));
    for (size_t i = 0; i < access->subscript_count; i++) {
        if (!evaluate(run, &subscripts[i], access->subscripts[i].index, statement))
            return false;
        if (subscripts[i] < 0 || (uint64_t)subscripts[i] >= access->subscripts[i].extent)
            return fail(run, NAIVE_SUBSCRIPT, statement, subscripts[i]);
    }
    event.subscripts = subscripts;
    int64_t *trips = arena_array(scratch, run->depth + 1, sizeof(*trips));
    memcpy(trips, run->trips, run->depth * sizeof(*trips));
    event.trips = trips;
    note_width(run, statement, &event);
    struct trace *trace = run->trace;
    trace->events = arena_grow(scratch, trace->events, trace->count, &trace->capacity, sizeof(*trace->events));
    trace->events[trace->count++] = event;
    return true;
}

static bool run_body(struct run *run, const struct statement *first);

/* The loop variable's next value. */
static bool advance(struct run *run, const struct statement *loop, int64_t step)
{
    int64_t old = run->slots[loop->slot];
    int64_t new = 0;
    if (loop->advance != NULL) {
        if (!evaluate(run, &new, loop->advance, loop))
            return false;
    } else if (__builtin_add_overflow(old, step, &new)) {
        (void)fail(run, NAIVE_EXPRESSION, loop, step);
        run->walk->fault->expression = EXPR_OVERFLOW;
        return false;
    }
    if (new == old)
        return fail(run, NAIVE_STUCK, loop, new);
    run->slots[loop->slot] = new;
    return true;
}

static bool run_loop(struct run *run, const struct statement *loop)
{
    int64_t value = 0;
    int64_t to = 0;
    int64_t step = 1;
    if (loop->from != NULL && !evaluate(run, &value, loop->from, loop))
        return false;
    if (loop->to != NULL && !evaluate(run, &to, loop->to, loop))
        return false;
    if (loop->step != NULL && !evaluate(run, &step, loop->step, loop))
        return false;
    run->slots[loop->slot] = value;
    for (int64_t trip = 0;; trip++) {
        int64_t more = run->slots[loop->slot] < to;
        if (loop->to == NULL && !evaluate(run, &more, loop->test, loop))
            return false;
        if (more == 0)
            return true;
        if (loop->to != NULL && loop->advance == NULL && step <= 0)
            return fail(run, NAIVE_STUCK, loop, step);
        if (trip >= TRIPS_MAX && (loop->to == NULL || loop->advance != NULL))
            return fail(run, NAIVE_ENDLESS, loop, trip);
        run->trips[run->depth++] = trip;
        bool fine = run_body(run, loop->body);
        run->depth--;
        if (!fine || !advance(run, loop, step))
            return false;
    }
}

static bool run_statement(struct run *run, const struct statement *statement)
{
    int64_t value = 0;
    switch (statement->kind) {
    case STATEMENT_LET:
        return evaluate(run, &run->slots[statement->slot], statement->value, statement);
    case STATEMENT_FOR:
        return run_loop(run, statement);
    case STATEMENT_IF:
        return evaluate(run, &value, statement->condition, statement) &&
               run_body(run, value != 0 ? statement->body : statement->otherwise);
    case STATEMENT_ACCESS:
        return run_access(run, statement);
    }
    return false;
}

static bool run_body(struct run *run, const struct statement *first)
{
    for (const struct statement *statement = first; statement != NULL; statement = statement->next)
        if (!run_statement(run, statement))
            return false;
    return true;
}

/* Runs one thread of the launch as described. False on a fault. The trace is in the scratch arena. */
static bool run_thread(struct walk *walk, uint64_t thread, struct trace *trace)
{
    struct run run = {.walk = walk, .trace = trace, .thread = thread};
    run.slots = arena_array(&walk->scratch, walk->kernel->slot_count + 1, sizeof(*run.slots));
    run.frame.variables = run.slots;
    set_builtins(&run.frame, walk->kernel, thread);
    *trace = (struct trace){0};
    return run_body(&run, walk->kernel->body);
}

struct operation {
    uint64_t address; /* from the space's 256-byte boundary */
    unsigned width;
    unsigned together, number; /* one of so many pieces of a record that a whole warp exchanges, from 0; else 0 */
};

struct operations {
    struct operation *items;
    size_t count, capacity;
    struct arena *arena;
};

static void add_operation(struct operations *list, uint64_t address, uint64_t width)
{
    list->items = arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = (struct operation){.address = address, .width = (unsigned)width};
}

static const struct part_map *part_of(const struct map *map, const struct selected *selected)
{
    return &map->parts[map->places[selected->leaf].group];
}

/* Bytes between neighbouring values of a subscript, as this layout places the leaves. */
static uint64_t subscript_distance(const struct map *map, const struct selected *selected,
                                   const struct subscript *subscript)
{
    if (subscript->extent < 2)
        return 0;
    if (part_of(map, selected)->kind == LAYOUT_AOS || subscript->stride_leaves == 0)
        return subscript->stride_bytes;
    return map->places[selected->leaf + subscript->stride_leaves].start - map->places[selected->leaf].start;
}

/* The largest power of two, at most the selection's size, that divides `all` and what its subscripts add. */
static uint64_t piece_of(const struct map *map, const struct selected *selected, uint64_t all)
{
    for (size_t i = 0; i < selected->subscript_count; i++)
        all = naive_gcd(all, subscript_distance(map, selected, &selected->subscripts[i]));
    uint64_t piece = selected->size;
    while (piece > 1 && all % piece != 0)
        piece /= 2;
    return piece;
}

/* The widest piece that is aligned wherever the selection can be. */
static uint64_t piece_bytes(const struct map *map, const struct selected *selected)
{
    const struct place *place = &map->places[selected->leaf];
    const struct part_map *part = part_of(map, selected);
    uint64_t all = naive_gcd(naive_gcd(map->array->align, map->array->offset), place->start + selected->inner_offset);
    all = naive_gcd(all, part->kind == LAYOUT_AOS ? part->stride : place->size);
    if (part->tile != 0)
        all = naive_gcd(all, part->tile_bytes);
    return piece_of(map, selected, naive_gcd(all, map->row));
}

/* The same in the shared copy, whose own strides count. */
static uint64_t staged_piece_bytes(const struct map *map, const struct box *box, const struct selected *selected)
{
    uint64_t all = naive_gcd(box->record_bytes, map->places[selected->leaf].stored + selected->inner_offset);
    if (map->array->dim_count > 1)
        all = naive_gcd(all, box->row_bytes);
    return piece_of(map, selected, all);
}

static void add_pieces(struct operations *list, uint64_t address, uint64_t size, uint64_t piece)
{
    for (uint64_t at = 0; at < size; at += piece)
        add_operation(list, address + at, piece);
}

static void add_direct(struct operations *list, const struct map *map, const struct event *event)
{
    const struct access *access = event->access;
    if (access->bytes != 0) {
        add_operation(list, selected_byte(map, event, &access->selected[0]), access->bytes);
        return;
    }
    for (size_t s = 0; s < access->selected_count; s++) {
        const struct selected *selected = &access->selected[s];
        add_pieces(list, selected_byte(map, event, selected), selected->size, piece_bytes(map, selected));
    }
}

/* 0 where the part keeps no whole records. */
static uint64_t vector_bytes(const struct map *map, const struct part_map *part)
{
    if (part->kind != LAYOUT_AOS)
        return 0;
    uint64_t all = naive_gcd(naive_gcd(part->stride, map->array->offset), map->array->align);
    all = naive_gcd(naive_gcd(all, part->start), map->row);
    uint64_t widest = VECTOR_BYTES_MAX;
    while (all % widest != 0)
        widest /= 2;
    return widest;
}

/* Flags the bytes of the part's stored record that the access's selection holds (no subscripts). */
static bool *touched_bytes(const struct map *map, const struct part_map *part, const struct access *access,
                           struct arena *arena)
{
    bool *touched = arena_array(arena, part->stride, sizeof(*touched));
    for (size_t s = 0; s < access->selected_count; s++) {
        const struct selected *selected = &access->selected[s];
        if (part_of(map, selected) != part)
            continue;
        for (uint64_t i = 0; i < selected->size; i++)
            touched[map->places[selected->leaf].stored + selected->inner_offset + i] = true;
    }
    return touched;
}

static bool any_in(const bool *flags, uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (flags[from + i])
            return true;
    return false;
}

/* A store may cover what it writes and what no leaf holds. */
static bool may_cover(const struct part_map *part, const bool *written, uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!written[from + i] && part->owned[from + i])
            return false;
    return true;
}

static void add_vector_store(struct operations *list, const struct part_map *part, const bool *written, uint64_t record,
                             uint64_t from, uint64_t count)
{
    if (!any_in(written, from, count))
        return;
    if (may_cover(part, written, from, count)) {
        add_operation(list, record + from, count);
        return;
    }
    add_vector_store(list, part, written, record, from, count / 2);
    add_vector_store(list, part, written, record, from + count / 2, count / 2);
}

/* The records of one part in pieces. */
static void add_vector_part(struct operations *list, const struct map *map, const struct part_map *part,
                            const struct event *event, bool store)
{
    uint64_t piece = vector_bytes(map, part);
    uint64_t record = map->array->offset + part->start + naive_record(map, part, event->index);
    const bool *touched = touched_bytes(map, part, event->access, list->arena);
    for (uint64_t at = 0; at < part->stride; at += piece) {
        if (store)
            add_vector_store(list, part, touched, record, at, piece);
        else if (any_in(touched, at, piece))
            add_operation(list, record + at, piece);
    }
}

/* The width of the pieces that a warp exchanges: such that none with a touched byte holds what may not be stored. */
static uint64_t shuffle_bytes(const struct map *map, const struct part_map *part, const bool *touched, bool store)
{
    uint64_t piece = vector_bytes(map, part);
    for (uint64_t at = 0; store && at < part->stride;) {
        if (any_in(touched, at, piece) && !may_cover(part, touched, at, piece)) {
            piece /= 2;
            at = 0;
        } else {
            at += piece;
        }
    }
    return piece;
}

/* The touched pieces of one part's record, marked as those that a whole warp exchanges; one alone, or more than 128
 * bytes, are as by `vector`. */
static void add_shuffle_part(struct operations *list, const struct map *map, const struct part_map *part,
                             const struct event *event, bool store)
{
    const bool *touched = touched_bytes(map, part, event->access, list->arena);
    uint64_t record = map->array->offset + part->start + naive_record(map, part, event->index);
    uint64_t piece = shuffle_bytes(map, part, touched, store);
    unsigned count = 0;
    for (uint64_t at = 0; at < part->stride; at += piece)
        count += any_in(touched, at, piece);
    if (count < 2 || count * piece > 128) {
        add_vector_part(list, map, part, event, store);
        return;
    }
    unsigned number = 0;
    for (uint64_t at = 0; at < part->stride; at += piece) {
        if (!any_in(touched, at, piece))
            continue;
        add_operation(list, record + at, piece);
        list->items[list->count - 1].together = count;
        list->items[list->count - 1].number = number++;
    }
}

/* Part after part; what is in no whole record, or in one that no wide piece suits, goes as by `direct`. */
static void add_vector_plan(struct operations *list, const struct map *map, const struct event *event, bool store,
                            bool together)
{
    const struct access *access = event->access;
    for (unsigned p = 0; p < map->part_count; p++) {
        if (vector_bytes(map, &map->parts[p]) < 2)
            continue;
        if (together)
            add_shuffle_part(list, map, &map->parts[p], event, store);
        else
            add_vector_part(list, map, &map->parts[p], event, store);
    }
    for (size_t s = 0; s < access->selected_count; s++) {
        const struct selected *selected = &access->selected[s];
        if (vector_bytes(map, part_of(map, selected)) < 2)
            add_pieces(list, selected_byte(map, event, selected), selected->size, piece_bytes(map, selected));
    }
}

/* ---- what accesses of one step share ------------------------------------------------------------------------------
 */

/* Numbers the steps: one goes on through accesses and lets, up to a load of an array that it stores. */
static void number_steps(const struct statement *list, unsigned *step, unsigned *of, bool *stored, size_t arrays)
{
    for (; list != NULL; list = list->next) {
        const struct access *access = list->kind == STATEMENT_ACCESS ? list->access : NULL;
        const bool loads = access != NULL && (access->op == ACCESS_READ || access->op == ACCESS_UPDATE);
        const bool nested = list->kind == STATEMENT_FOR || list->kind == STATEMENT_IF;
        if (nested || (loads && stored[access->array->number])) {
            ++*step;
            memset(stored, 0, arrays);
        }
        if (access != NULL)
            of[access->number] = *step;
        if (access != NULL && access->op != ACCESS_READ)
            stored[access->array->number] = true;
        for (int side = 0; nested && side < 2; side++) {
            number_steps(side == 0 ? list->body : list->otherwise, step, of, stored, arrays);
            ++*step;
            memset(stored, 0, arrays);
        }
    }
}

static bool same_element(const struct access *a, const struct access *b)
{
    for (unsigned d = 0; a->array == b->array && d < a->array->dim_count; d++)
        if (!expr_same(a->index[d], b->index[d]))
            return false;
    return a->array == b->array;
}

/* The pieces of the first record that these accesses touch together. */
static struct operations pieces_of(struct walk *walk, const struct map *map, const struct access *const accesses[],
                                   size_t count, bool store)
{
    struct operations list = {.arena = walk->arena};
    for (unsigned p = 0; p < map->part_count; p++) {
        const struct part_map *part = &map->parts[p];
        const uint64_t piece = vector_bytes(map, part);
        if (piece < 2)
            continue;
        bool *touched = arena_array(walk->arena, part->stride, sizeof(*touched));
        for (size_t i = 0; i < count; i++) {
            const bool *one = touched_bytes(map, part, accesses[i], walk->arena);
            for (uint64_t byte = 0; byte < part->stride; byte++)
                touched[byte] |= one[byte];
        }
        for (uint64_t at = 0; at < part->stride; at += piece)
            if (store)
                add_vector_store(&list, part, touched, part->start, at, piece);
            else if (any_in(touched, at, piece))
                add_operation(&list, part->start + at, piece);
    }
    return list;
}

/* A load of what an access before it in the step has loaded. */
static void merge_loads(struct walk *walk, const struct map *map, const struct access *access, const unsigned *steps)
{
    const struct operations own = pieces_of(walk, map, &access, 1, false);
    bool *merged = arena_array(walk->arena, own.count + 1, sizeof(*merged));
    walk->merged[access->number][false] = (struct merged){merged, own.count};
    for (unsigned b = 0; b < access->number; b++) {
        const struct access *before = walk->kernel->accesses[b];
        if (steps[b] != steps[access->number] || before->op == ACCESS_WRITE || before->subscript_count > 0 ||
            !same_element(before, access))
            continue;
        const struct operations others = pieces_of(walk, map, &before, 1, false);
        for (size_t i = 0; i < own.count; i++)
            for (size_t k = 0; k < others.count; k++)
                merged[i] |= own.items[i].address == others.items[k].address;
    }
}

/* Stores of a step inside one piece that it owns as a whole: all but the first. */
static void merge_stores(struct walk *walk, const struct map *map, const struct access *first, const unsigned *steps)
{
    const struct access **all =
        arena_array(walk->arena, walk->kernel->access_count + 1U, sizeof(const struct access *));
    size_t count = 0;
    for (unsigned a = 0; a < walk->kernel->access_count; a++) {
        const struct access *access = walk->kernel->accesses[a];
        if (steps[a] != steps[first->number] || access->array != first->array || access->op == ACCESS_READ)
            continue;
        if (access->subscript_count > 0 || !same_element(access, first))
            return;
        all[count++] = access;
    }
    if (count < 2 || all[0] != first)
        return;
    const struct operations together = pieces_of(walk, map, all, count, true);
    bool *used = arena_array(walk->arena, together.count + 1, sizeof(*used));
    for (size_t a = 0; a < count; a++) {
        const struct operations own = pieces_of(walk, map, &all[a], 1, true);
        bool *merged = arena_array(walk->arena, own.count + 1, sizeof(*merged));
        walk->merged[all[a]->number][true] = (struct merged){merged, own.count};
        for (size_t i = 0; i < own.count; i++) {
            size_t k = 0;
            while (own.items[i].address < together.items[k].address ||
                   own.items[i].address >= together.items[k].address + together.items[k].width)
                k++;
            merged[i] = used[k];
            used[k] = true;
        }
    }
}

static void merge_accesses(struct walk *walk, size_t array_count)
{
    const struct kernel *kernel = walk->kernel;
    unsigned *steps = arena_array(walk->arena, kernel->access_count + 1U, sizeof(*steps)), step = 0;
    bool *stored = arena_array(walk->arena, array_count + 1, sizeof(*stored));
    number_steps(kernel->body, &step, steps, stored, array_count);
    for (unsigned a = 0; a < kernel->access_count; a++) {
        const struct access *access = kernel->accesses[a];
        const struct map *map = &walk->maps[access->array->number];
        if (map->candidate->plan.kind != PLAN_VECTOR || access->subscript_count > 0)
            continue;
        if (access->op != ACCESS_WRITE)
            merge_loads(walk, map, access, steps);
        if (access->op != ACCESS_READ)
            merge_stores(walk, map, access, steps);
    }
}

/* ---- what all threads name alike ----------------------------------------------------------------------------------
 */

/* Whether a thread's number is in it, by itself or by way of a variable that is `marked`. */
static bool has_thread(const struct expr *expr, const bool *marked)
{
    if (expr == NULL)
        return false;
    if (expr->op == EXPR_NAME && expr->binding == EXPR_VARIABLE)
        return marked[expr->slot];
    if (expr->op == EXPR_NAME && expr->binding == EXPR_BUILTIN)
        return expr->builtin == BUILTIN_THREAD || expr->builtin == BUILTIN_LANE || expr->builtin == BUILTIN_WARP ||
               (expr->builtin >= BUILTIN_THREAD_IDX_X && expr->builtin <= BUILTIN_THREAD_IDX_Z);
    return has_thread(expr->operand[0], marked) || has_thread(expr->operand[1], marked) ||
           has_thread(expr->operand[2], marked);
}

static void find_shared_records(struct walk *walk, const struct statement *list, bool *marked)
{
    for (; list != NULL; list = list->next) {
        const struct access *access = list->access;
        if (list->kind == STATEMENT_LET || list->kind == STATEMENT_FOR)
            marked[list->slot] = has_thread(list->value, marked) || has_thread(list->from, marked) ||
                                 has_thread(list->step, marked) || has_thread(list->advance, marked);
        if (list->kind == STATEMENT_ACCESS)
            walk->shared_record[access->number] = !has_thread(access->index[0], marked) &&
                                                  !has_thread(access->index[1], marked) &&
                                                  !has_thread(access->index[2], marked);
        find_shared_records(walk, list->body, marked);
        find_shared_records(walk, list->otherwise, marked);
    }
}

/* Four neighbouring records by one thread; events[0] is the first record's. */
static void add_wide(struct operations *list, const struct map *map, const struct event *const events[])
{
    const struct access *access = events[0]->access;
    for (size_t s = 0; s < access->selected_count; s++) {
        const struct selected *selected = &access->selected[s];
        uint64_t within = 0;
        const struct place *place = &map->places[selected_leaf(events[0], selected, &within)];
        if (place->size != selected->size || access->op == ACCESS_ATOMIC) {
            for (unsigned r = 0; r < FOUR; r++)
                add_pieces(list, selected_byte(map, events[r], selected), selected->size, piece_bytes(map, selected));
            continue;
        }
        uint64_t all = FOUR * selected->size;
        uint64_t width = all < VECTOR_BYTES_MAX ? all : VECTOR_BYTES_MAX;
        for (uint64_t at = 0; at < all; at += width)
            add_operation(list, selected_byte(map, events[0], selected) + at, width);
    }
}

/* Where a record is in the block's shared copy, from the copy's first byte, before swizzling. */
static uint64_t box_record(const struct map *map, const struct box *box, const int64_t block[], const int64_t index[])
{
    uint64_t strides[SPEC_DIMS_MAX] = {box->record_bytes, box->row_bytes, box->plane_bytes};
    uint64_t at = 0;
    for (unsigned i = 0; i < map->array->dim_count; i++) {
        unsigned d = map->order[i];
        int64_t origin = box->low[d];
        for (unsigned b = 0; b < 3; b++)
            origin += box->step[d][b] * block[b];
        at += (uint64_t)(index[d] - origin) * strides[i];
    }
    return at;
}

static uint64_t swizzled(const struct box *box, uint64_t at)
{
    if (box->unit == 0)
        return at;
    uint64_t row = box->row_bytes < LINE ? box->row_bytes : LINE;
    return at ^ at / box->line % (row / box->unit) * box->unit;
}

static void block_of(int64_t out[3], const struct kernel *kernel, uint64_t thread)
{
    struct expr_frame frame = {{0}, NULL};
    set_builtins(&frame, kernel, thread);
    for (int d = 0; d < 3; d++)
        out[d] = frame.builtins[BUILTIN_BLOCK_IDX_X + d];
}

/* The direct operations with the record moved into the shared copy. */
static void add_staged(struct operations *list, const struct walk *walk, const struct map *map,
                       const struct event *event, uint64_t thread)
{
    const struct box *box = &walk->boxes[map->array->number];
    int64_t block[3];
    block_of(block, walk->kernel, thread);
    uint64_t shared = box_record(map, box, block, event->index);
    uint64_t global = map->array->offset + naive_record(map, &map->parts[0], event->index);
    for (size_t s = 0; s < event->access->selected_count; s++) {
        const struct selected *selected = &event->access->selected[s];
        uint64_t in_record = selected_byte(map, event, selected) - global;
        uint64_t piece = staged_piece_bytes(map, box, selected);
        for (uint64_t at = 0; at < selected->size; at += piece)
            add_operation(list, swizzled(box, shared + in_record + at), piece);
    }
}

/* What one thread issues for an event: `count` is 4 where it does four records, else 1. */
static void add_plan(struct operations *list, const struct walk *walk, const struct event *const events[],
                     unsigned count, uint64_t thread, bool store)
{
    const struct access *access = events[0]->access;
    const struct map *map = &walk->maps[access->array->number];
    enum plan_kind plan = map->candidate->plan.kind;
    if (plan == PLAN_WIDE && count == FOUR) {
        add_wide(list, map, events);
        return;
    }
    for (unsigned r = 0; r < count; r++) {
        if ((plan == PLAN_VECTOR || plan == PLAN_SHUFFLE) && access->subscript_count == 0 &&
            access->op != ACCESS_ATOMIC && access->bytes == 0)
            add_vector_plan(list, map, events[r], store, plan == PLAN_SHUFFLE && !walk->shared_record[access->number]);
        else if (plan == PLAN_STAGED)
            add_staged(list, walk, map, events[r], thread);
        else
            add_direct(list, map, events[r]);
    }
}

/* One lane's execution of one access, with its operations. */
struct item {
    const struct event *events[FOUR];
    unsigned records; /* 4 or 1: these issue apart from each other */
    unsigned lane;
    uint64_t thread;
};

struct items {
    struct item *items;
    size_t count, capacity;
};

static int compare_groups(const struct item *a, const struct item *b)
{
    const struct event *x = a->events[0];
    const struct event *y = b->events[0];
    if (x->access->number != y->access->number)
        return x->access->number < y->access->number ? -1 : 1;
    assert(x->depth == y->depth);
    for (unsigned d = 0; d < x->depth; d++)
        if (x->trips[d] != y->trips[d])
            return x->trips[d] < y->trips[d] ? -1 : 1;
    return (a->records > b->records) - (a->records < b->records);
}

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    int order = compare_groups(x, y);
    return order != 0 ? order : (x->lane > y->lane) - (x->lane < y->lane);
}

/* One instruction. An atomic counts as what is written. */
static void issue(struct walk *walk, struct counts *counts, const struct array *array, enum array_space space,
                  const bool active[], const uint64_t address[], unsigned width, enum access_op op)
{
    collect_bytes(&walk->sets, active, address, width);
    if (walk->sets.bytes.count == 0)
        return;
    for (unsigned lane = 0; lane < LANES; lane++)
        if (active[lane] && address[lane] % width != 0)
            (void)inapplicable(walk, "an address is no multiple of the instruction's width");
    counts->instructions++;
    add_bytes(counts, &walk->sets, active, width);
    if (space == SPACE_SHARED) {
        uint64_t wavefronts, conflicts;
        naive_banks(&wavefronts, &conflicts, active, address, width);
        counts->wavefronts += wavefronts;
        counts->conflicts += conflicts;
        return;
    }
    add_global(counts, &walk->sets);
    counts->atomic_sectors += op == ACCESS_ATOMIC ? naive_atomic_sectors(active, address) : 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned byte = 0; active[lane] && byte < width; byte++)
            footprint_touch(&walk->footprints[array->number], walk->arena, address[lane] + byte, op == ACCESS_READ,
                            op != ACCESS_READ);
}

static void add_counts(struct counts *to, const struct counts *more)
{
    if (!counts_add(to, more, 1))
        abort();
}

/* Operation n of one or more records, of so many each: pieces come first. */
static bool is_merged(const struct merged *merged, size_t n, size_t each)
{
    return merged->count > 0 && n % each < merged->count && merged->flags[n % each];
}

/* Piece `piece` of the 32 records' `together` each: it is in a row of an odd number of them, a row a record. */
static uint64_t exchange_place(const struct operation *operation, unsigned piece)
{
    unsigned row = operation->together % 2 == 0 ? operation->together + 1 : operation->together;
    return (piece / operation->together * row + piece % operation->together) * operation->width;
}

/* Operation n of a whole warp that exchanges its pieces: each lane has the piece whose turn it is, and all pass through
 * shared memory, in turn and by record. */
static void exchange(struct walk *walk, struct counts *counts, const struct operations lists[], size_t n,
                     const struct array *array, uint64_t address[])
{
    const struct operation *operation = &lists[0].items[n];
    struct counts shared = {0};
    bool active[LANES];
    uint64_t in_turn[LANES], by_record[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned turn = operation->number * LANES + lane;
        size_t first = n - operation->number;
        address[lane] = lists[turn / operation->together].items[first + turn % operation->together].address;
        active[lane] = true;
        in_turn[lane] = exchange_place(operation, turn);
        by_record[lane] = exchange_place(operation, lane * operation->together + operation->number);
    }
    issue(walk, &shared, array, SPACE_SHARED, active, in_turn, (unsigned)operation->width, ACCESS_READ);
    issue(walk, &shared, array, SPACE_SHARED, active, by_record, (unsigned)operation->width, ACCESS_READ);
    counts->instructions += shared.instructions;
    counts->wavefronts += shared.wavefronts;
    counts->conflicts += shared.conflicts;
}

/* Lanes that execute the same access in the same trips: operation n of each is one instruction of the warp. */
static void issue_group(struct walk *walk, const struct item *items, size_t count, bool store)
{
    const struct access *access = items[0].events[0]->access;
    struct operations lists[LANES] = {{0}};
    for (size_t i = 0; i < count; i++) {
        lists[i].arena = &walk->scratch;
        add_plan(&lists[i], walk, items[i].events, items[i].records, items[i].thread, store);
        assert(lists[i].count == lists[0].count);
    }
    enum access_op op = store ? ACCESS_WRITE : access->op == ACCESS_ATOMIC ? ACCESS_ATOMIC : ACCESS_READ;
    enum array_space space = walk->boxes[access->array->number].staged ? SPACE_SHARED : access->array->space;
    for (size_t n = 0; n < lists[0].count; n++) {
        bool active[LANES] = {false};
        uint64_t address[LANES] = {0};
        for (size_t i = 0; i < count; i++) {
            assert(lists[i].items[n].width == lists[0].items[n].width);
            active[items[i].lane] = true;
            address[items[i].lane] = lists[i].items[n].address;
        }
        struct counts one = {0};
        if (count == LANES && lists[0].items[n].together > 0)
            exchange(walk, &walk->counts[access->number][store], lists, n, access->array, address);
        issue(walk, &one, access->array, space, active, address, lists[0].items[n].width, op);
        add_counts(&walk->counts[access->number][store], &one);
        if (is_merged(&walk->merged[access->number][store], n, lists[0].count / items[0].records))
            add_counts(&walk->joined[access->number][store], &one);
    }
}

static void issue_warp(struct walk *walk, struct items *list)
{
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(*list->items), compare_items);
    for (size_t from = 0, to = 0; from < list->count; from = to) {
        while (to < list->count && compare_groups(&list->items[from], &list->items[to]) == 0)
            to++;
        enum access_op op = list->items[from].events[0]->access->op;
        if (op != ACCESS_WRITE)
            issue_group(walk, &list->items[from], to - from, false);
        if (op == ACCESS_WRITE || op == ACCESS_UPDATE)
            issue_group(walk, &list->items[from], to - from, true);
    }
}

static void add_item(struct walk *walk, struct items *list, struct item item)
{
    list->items = arena_grow(&walk->scratch, list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = item;
}

/* Adds what one thread of the launch as described does as one record a thread. False on a fault. */
static bool add_thin_thread(struct walk *walk, struct items *list, unsigned lane, uint64_t thread)
{
    struct trace trace;
    if (!run_thread(walk, thread, &trace))
        return false;
    for (size_t e = 0; e < trace.count; e++)
        add_item(walk, list, (struct item){{&trace.events[e]}, 1, lane, thread});
    return true;
}

/* The four records of a wide thread must be neighbours in every wide array, and the threads that would have done them
 * must do the same. */
static bool wide_agrees(struct walk *walk, const struct event *const events[])
{
    const struct array *array = events[0]->access->array;
    const struct map *map = &walk->maps[array->number];
    for (unsigned r = 1; r < FOUR; r++) {
        struct item a = {{events[0]}, 1, 0, 0};
        struct item b = {{events[r]}, 1, 0, 0};
        if (events[r]->access != events[0]->access || compare_groups(&a, &b) != 0)
            return inapplicable(walk, "four threads of a wide one part ways");
        if (map->candidate->plan.kind != PLAN_WIDE)
            continue;
        if (events[r]->index[0] != events[0]->index[0] + (int64_t)r || events[0]->index[0] % FOUR != 0)
            return inapplicable(walk, "the index is not the thread plus a multiple of 4");
        for (size_t s = 0; s < events[0]->access->subscript_count; s++)
            if (events[r]->subscripts[s] != events[0]->subscripts[s])
                return inapplicable(walk, "a subscript depends on the lane");
    }
    return true;
}

/* Wide thread g does what threads 4 g to 4 g + 3 do. */
static bool add_wide_thread(struct walk *walk, struct items *list, unsigned lane, uint64_t thread)
{
    struct trace traces[FOUR];
    for (unsigned r = 0; r < FOUR; r++) {
        if (!run_thread(walk, FOUR * thread + r, &traces[r]))
            return false;
        if (traces[r].count != traces[0].count)
            return inapplicable(walk, "four threads of a wide one part ways");
    }
    for (size_t e = 0; e < traces[0].count; e++) {
        struct item item = {.records = FOUR, .lane = lane, .thread = thread};
        for (unsigned r = 0; r < FOUR; r++)
            item.events[r] = &traces[r].events[e];
        if (!wide_agrees(walk, item.events))
            return false;
        add_item(walk, list, item);
    }
    return true;
}

/* Thread `thread` of the launch that the plan makes: as described, or a quarter of it and the rest one by one. */
static bool add_thread(struct walk *walk, struct items *list, unsigned lane, uint64_t thread)
{
    uint64_t all = walk->kernel->block_threads * walk->kernel->block_count;
    if (!walk->wide)
        return add_thin_thread(walk, list, lane, thread);
    uint64_t wide_threads = all / FOUR;
    if (thread < wide_threads)
        return add_wide_thread(walk, list, lane, thread);
    return add_thin_thread(walk, list, lane, FOUR * wide_threads + (thread - wide_threads));
}

static bool walk_warp(struct walk *walk, uint64_t first, uint64_t past)
{
    struct items list = {0};
    bool fine = true;
    for (uint64_t thread = first; fine && thread < past; thread++)
        fine = add_thread(walk, &list, (unsigned)(thread - first), thread);
    if (fine)
        issue_warp(walk, &list);
    arena_free(&walk->scratch);
    return fine;
}

/* Makes the box hold what an event touches, seen from the block's origin. */
static void widen_box(struct box *box, const struct event *event, const int64_t block[3])
{
    for (unsigned d = 0; d < event->access->array->dim_count; d++) {
        int64_t at = event->index[d];
        for (unsigned b = 0; b < 3; b++)
            at -= box->step[d][b] * block[b];
        if (!box->touched || at < box->low[d])
            box->low[d] = at;
        if (!box->touched || at > box->high[d])
            box->high[d] = at;
    }
    box->touched = true;
}

/* Widens the boxes by all that one thread touches. False on a fault. */
static bool widen_boxes(struct walk *walk, uint64_t thread)
{
    struct trace trace;
    int64_t block[3];
    block_of(block, walk->kernel, thread);
    bool fine = run_thread(walk, thread, &trace);
    for (size_t e = 0; fine && e < trace.count; e++) {
        struct box *box = &walk->boxes[trace.events[e].access->array->number];
        if (box->staged)
            widen_box(box, &trace.events[e], block);
    }
    arena_free(&walk->scratch);
    return fine;
}

/* Flags the bytes of the record that a selection may hold, whatever values its subscripts take. */
static void flag_selected(bool *flags, const struct map *map, const struct selected *selected)
{
    uint64_t spots = 1;
    for (size_t i = 0; i < selected->subscript_count; i++)
        spots *= selected->subscripts[i].extent;
    for (uint64_t spot = 0; spot < spots; spot++) {
        uint64_t at = map->places[selected->leaf].stored + selected->inner_offset;
        uint64_t rest = spot;
        for (size_t i = 0; i < selected->subscript_count; i++) {
            at += rest % selected->subscripts[i].extent * selected->subscripts[i].stride_bytes;
            rest /= selected->subscripts[i].extent;
        }
        memset(&flags[at], true, selected->size);
    }
}

/* What the accesses of the kernel need of the copy. */
static void note_phases(struct walk *walk, struct box *box, const struct map *map)
{
    box->written = arena_array(walk->arena, map->parts[0].stride, sizeof(*box->written));
    for (unsigned a = 0; a < walk->kernel->access_count; a++) {
        const struct access *access = walk->kernel->accesses[a];
        if (access->array != map->array)
            continue;
        box->first = box->first != NULL ? box->first : access;
        box->last = access;
        box->copy_in |= access->op == ACCESS_READ || access->op == ACCESS_UPDATE;
        box->copy_out |= access->op == ACCESS_WRITE || access->op == ACCESS_UPDATE;
        box->copy_whole |= access->op == ACCESS_UPDATE;
        for (size_t s = 0; access->op != ACCESS_READ && s < access->selected_count; s++)
            flag_selected(box->written, map, &access->selected[s]);
    }
}

static uint64_t word_bytes(const struct map *map)
{
    uint64_t all = naive_gcd(naive_gcd(map->parts[0].stride, map->array->offset), map->row);
    return all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

/* Words of which some bytes are another leaf's cannot be written back whole. */
static bool words_are_owned(const struct part_map *part, const bool *written, uint64_t word)
{
    for (uint64_t at = 0; at < part->stride; at += word)
        if (any_in(written, at, word) && !may_cover(part, written, at, word))
            return false;
    return true;
}

static uint64_t box_extent(const struct box *box, unsigned dim)
{
    return (uint64_t)(box->high[dim] - box->low[dim] + 1);
}

/* False where the copy cannot be swizzled: no leaf may straddle two units. */
static bool shape_swizzle(struct box *box, const struct map *map)
{
    uint64_t row = box->row_bytes;
    box->unit = WORD;
    for (size_t l = 0; l < map->place_count; l++)
        box->unit = map->places[l].size > box->unit ? map->places[l].size : box->unit;
    for (size_t l = 0; l < map->place_count; l++) {
        uint64_t step = naive_gcd(naive_gcd(box->record_bytes, row), box->unit);
        for (uint64_t at = map->places[l].stored; at < box->unit + map->places[l].stored; at += step)
            if (at % box->unit + map->places[l].size > box->unit)
                return false;
    }
    box->line = row > LINE ? row : LINE;
    return box->unit <= VECTOR_BYTES_MAX && (row & (row - 1)) == 0 && row >= 2 * box->unit;
}

static bool shape_box(struct walk *walk, struct box *box, const struct map *map)
{
    note_phases(walk, box, map);
    const struct array *array = map->array;
    uint64_t unit = array->record->type->align > WORD ? array->record->type->align : WORD;
    uint64_t pad = map->candidate->plan.pad * unit;
    bool many = array->dim_count > 1;
    box->record_bytes = map->parts[0].stride + (many ? 0 : pad);
    box->row_bytes = many ? box_extent(box, map->order[0]) * box->record_bytes + pad : box->record_bytes;
    if (many)
        box->plane_bytes = box_extent(box, map->order[1]) * box->row_bytes;
    box->word_in = box->word_out = word_bytes(map);
    while (!box->copy_whole && !words_are_owned(&map->parts[0], box->written, box->word_out))
        box->word_out /= 2;
    if (map->candidate->plan.swizzle && !shape_swizzle(box, map))
        return inapplicable(walk, "the rows of the copy cannot be swizzled");
    return true;
}

/* The part of a block's box that lies in the array: [from, to) in each dimension. False where it is empty. */
static bool cut_box(const struct map *map, const struct box *box, const int64_t block[3], int64_t from[], int64_t to[])
{
    for (unsigned d = 0; d < SPEC_DIMS_MAX; d++) {
        from[d] = box->low[d];
        to[d] = box->high[d] + 1;
        for (unsigned b = 0; b < 3; b++) {
            from[d] += box->step[d][b] * block[b];
            to[d] += box->step[d][b] * block[b];
        }
        if (d >= map->array->dim_count) {
            from[d] = 0;
            to[d] = 1;
        }
        from[d] = from[d] < 0 ? 0 : from[d];
        to[d] = to[d] > (int64_t)map->array->extent[d] ? (int64_t)map->array->extent[d] : to[d];
        if (from[d] >= to[d])
            return false;
    }
    return true;
}

/* Word q of a block's box, the fastest dimension's records side by side. Gives its index, and the byte of its record
 * where it begins. */
static uint64_t word_place(const struct map *map, const int64_t from[], const int64_t to[], uint64_t word, uint64_t q,
                           int64_t index[])
{
    uint64_t words = map->parts[0].stride / word;
    uint64_t record = q / words;
    for (unsigned i = 0; i < map->array->dim_count; i++) {
        unsigned d = map->order[i];
        uint64_t count = (uint64_t)(to[d] - from[d]);
        index[d] = from[d] + (int64_t)(record % count);
        record /= count;
    }
    return q % words * word;
}

static void copy_box(struct walk *walk, struct box *box, const struct map *map, uint64_t block_number, bool out)
{
    int64_t block[3], from[SPEC_DIMS_MAX], to[SPEC_DIMS_MAX];
    uint64_t threads = walk->kernel->block_threads;
    uint64_t word = out ? box->word_out : box->word_in;
    struct counts shared = {0};
    struct counts *counts = out ? &box->out : &box->in;
    block_of(block, walk->kernel, block_number * threads);
    if (!cut_box(map, box, block, from, to))
        return;
    uint64_t words = map->parts[0].stride / word;
    for (unsigned d = 0; d < SPEC_DIMS_MAX; d++)
        words *= (uint64_t)(to[d] - from[d]);
    for (uint64_t first = 0; first < words; first += threads) {
        for (uint64_t warp = 0; warp < threads; warp += LANES) {
            bool active[LANES] = {false};
            uint64_t global[LANES] = {0}, local[LANES] = {0};
            for (uint64_t t = warp; t < threads && t < warp + LANES && first + t < words; t++) {
                int64_t index[SPEC_DIMS_MAX] = {0};
                uint64_t byte = word_place(map, from, to, word, first + t, index);
                active[t - warp] = !out || box->copy_whole || any_in(box->written, byte, word);
                global[t - warp] = map->array->offset + naive_record(map, &map->parts[0], index) + byte;
                local[t - warp] = swizzled(box, box_record(map, box, block, index) + byte);
            }
            issue(walk, counts, map->array, SPACE_GLOBAL, active, global, (unsigned)word,
                  out ? ACCESS_WRITE : ACCESS_READ);
            issue(walk, &shared, map->array, SPACE_SHARED, active, local, (unsigned)word, ACCESS_READ);
        }
    }
    counts->instructions += shared.instructions;
    counts->wavefronts += shared.wavefronts;
    counts->conflicts += shared.conflicts;
}

static bool find_boxes(struct walk *walk, size_t array_count)
{
    bool any = false;
    for (size_t a = 0; a < array_count; a++)
        any |= walk->boxes[a].staged;
    if (!any)
        return true;
    uint64_t threads = walk->kernel->block_threads * walk->kernel->block_count;
    for (uint64_t thread = 0; thread < threads; thread++)
        if (!widen_boxes(walk, thread))
            return false;
    bool fine = true;
    for (size_t a = 0; a < array_count; a++)
        if (walk->boxes[a].staged && walk->boxes[a].touched)
            fine = shape_box(walk, &walk->boxes[a], &walk->maps[a]) && fine;
    return fine;
}

static void copy_boxes(struct walk *walk, size_t array_count, uint64_t block, bool out)
{
    for (size_t a = 0; a < array_count; a++) {
        struct box *box = &walk->boxes[a];
        if (box->staged && box->touched && (out ? box->copy_out : box->copy_in))
            copy_box(walk, box, &walk->maps[a], block, out);
    }
}

static bool walk_launch(struct walk *walk, size_t array_count)
{
    uint64_t block_threads = walk->kernel->block_threads;
    if (!find_boxes(walk, array_count))
        return false;
    for (uint64_t block = 0; block * block_threads < walk->threads; block++) {
        uint64_t first = block * block_threads;
        uint64_t past = first + block_threads < walk->threads ? first + block_threads : walk->threads;
        copy_boxes(walk, array_count, block, false);
        for (uint64_t warp = first; warp < past; warp += LANES)
            if (!walk_warp(walk, warp, warp + LANES < past ? warp + LANES : past))
                return false;
        copy_boxes(walk, array_count, block, true);
    }
    return true;
}

/* A plan that runs fewer threads finds the first fault of the launch as described all the same. */
static bool threads_are_fine(struct walk *walk)
{
    uint64_t threads = walk->kernel->block_threads * walk->kernel->block_count;
    bool fine = true;
    for (uint64_t thread = 0; fine && thread < threads; thread++) {
        struct trace trace;
        fine = run_thread(walk, thread, &trace);
        arena_free(&walk->scratch);
    }
    return fine;
}

static void add_entry(struct naive_kernel *out, struct naive_access entry)
{
    out->accesses[out->access_count++] = entry;
}

static void report_access(struct naive_kernel *out, const struct walk *walk, const struct access *access)
{
    const struct box *box = &walk->boxes[access->array->number];
    struct naive_access entry = {.access = access, .array = access->array, .space = access->array->space};
    if (box->staged && box->copy_in && access == box->first) {
        entry.phase = PHASE_COPY_IN;
        entry.op = ACCESS_READ;
        entry.counts = box->in;
        add_entry(out, entry);
    }
    entry.phase = PHASE_THREADS;
    entry.space = box->staged ? SPACE_SHARED : access->array->space;
    if (access->op != ACCESS_WRITE) {
        entry.op = access->op == ACCESS_ATOMIC ? ACCESS_ATOMIC : ACCESS_READ;
        entry.counts = walk->counts[access->number][false];
        entry.joined = walk->joined[access->number][false];
        add_entry(out, entry);
    }
    if (access->op == ACCESS_WRITE || access->op == ACCESS_UPDATE) {
        entry.op = ACCESS_WRITE;
        entry.counts = walk->counts[access->number][true];
        entry.joined = walk->joined[access->number][true];
        add_entry(out, entry);
    }
    if (box->staged && box->copy_out && access == box->last) {
        entry.phase = PHASE_COPY_OUT;
        entry.space = SPACE_GLOBAL;
        entry.op = ACCESS_WRITE;
        entry.counts = box->out;
        entry.joined = (struct counts){0};
        add_entry(out, entry);
    }
}

static bool kernel_uses(const struct kernel *kernel, const struct array *array)
{
    for (unsigned a = 0; a < kernel->access_count; a++)
        if (kernel->accesses[a]->array == array)
            return true;
    return false;
}

static void report_array(struct naive_kernel *out, const struct walk *walk, const struct array *array)
{
    const struct footprint *footprint = &walk->footprints[array->number];
    struct naive_array *entry = &out->arrays[out->array_count++];
    entry->array = array;
    for (size_t i = 0; i < footprint->capacity; i++) {
        const struct sector *sector = &footprint->sectors[i];
        entry->distinct_sectors += sector->used;
        entry->read_sectors += sector->used && sector->read;
        entry->written_sectors += sector->used && sector->written != 0;
        entry->fill_sectors += sector->used && sector->written != 0 && sector->written != UINT32_MAX;
    }
}

static bool prepare_maps(struct walk *walk, const struct spec *spec, const struct naive_use *uses)
{
    for (const struct array *array = spec->arrays; array != NULL; array = array->next) {
        struct map *map = &walk->maps[array->number];
        struct naive_use use = {NULL, NULL};
        if (uses != NULL)
            use = uses[array->number];
        if (!naive_map(map, walk->arena, array, use.candidate))
            return inapplicable(walk, "the layout does not apply");
        enum plan_kind plan = map->candidate->plan.kind;
        bool used = kernel_uses(walk->kernel, array);
        if (plan == PLAN_STAGED && !map->whole)
            return inapplicable(walk, "the plan needs whole records");
        bool vectors = false;
        for (unsigned p = 0; p < map->part_count; p++)
            vectors |= vector_bytes(map, &map->parts[p]) >= 2;
        if ((plan == PLAN_VECTOR || plan == PLAN_SHUFFLE) && !vectors)
            return inapplicable(walk, "the plan needs whole records that pieces divide");
        walk->wide |= used && plan == PLAN_WIDE;
        struct box *box = &walk->boxes[array->number];
        box->staged = used && plan == PLAN_STAGED;
        if (box->staged && use.origin_step == NULL)
            return inapplicable(walk, "nothing says how the box moves");
        for (unsigned d = 0; box->staged && d < array->dim_count; d++)
            memcpy(box->step[d], use.origin_step[d], sizeof(box->step[d]));
    }
    return true;
}

static bool walk_kernel(struct naive_kernel *out, const struct spec *spec, const struct kernel *kernel,
                        const struct naive_use *uses, struct arena *arena, struct naive_fault *fault)
{
    struct walk walk = {.kernel = kernel, .arena = arena, .fault = fault, .sets = instruction_sets_make(arena)};
    walk.maps = arena_array(arena, spec->array_count + 1, sizeof(*walk.maps));
    walk.boxes = arena_array(arena, spec->array_count + 1, sizeof(*walk.boxes));
    walk.footprints = arena_array(arena, spec->array_count + 1, sizeof(*walk.footprints));
    walk.counts = arena_array(arena, kernel->access_count + 1U, sizeof(*walk.counts));
    walk.joined = arena_array(arena, kernel->access_count + 1U, sizeof(*walk.joined));
    walk.merged = arena_array(arena, kernel->access_count + 1U, sizeof(*walk.merged));
    walk.shared_record = arena_array(arena, kernel->access_count + 1U, sizeof(*walk.shared_record));
    if (!prepare_maps(&walk, spec, uses))
        return false;
    find_shared_records(&walk, kernel->body, arena_array(arena, kernel->slot_count + 1U, sizeof(bool)));
    merge_accesses(&walk, spec->array_count);
    walk.threads = kernel->block_threads * kernel->block_count;
    if (walk.wide)
        walk.threads = walk.threads / FOUR + walk.threads % FOUR;
    if ((walk.wide && !threads_are_fine(&walk)) || !walk_launch(&walk, spec->array_count))
        return false;
    if (walk.misfit.kind != NAIVE_FINE)
        *fault = walk.misfit;
    if (fault->kind != NAIVE_FINE)
        return false;
    out->kernel = kernel;
    out->threads = naive_round_up(walk.threads, kernel->block_threads);
    out->accesses = arena_array(arena, 4 * (size_t)kernel->access_count + 1, sizeof(*out->accesses));
    out->arrays = arena_array(arena, spec->array_count + 1, sizeof(*out->arrays));
    for (unsigned a = 0; a < kernel->access_count; a++)
        report_access(out, &walk, kernel->accesses[a]);
    for (const struct array *array = spec->arrays; array != NULL; array = array->next)
        if (array->space == SPACE_GLOBAL && kernel_uses(kernel, array))
            report_array(out, &walk, array);
    return true;
}

struct naive_score *naive_score_spec(const struct spec *spec, const struct naive_use *uses, struct arena *arena)
{
    struct naive_score *score = arena_alloc(arena, sizeof(*score));
    score->kernels = arena_array(arena, spec->kernel_count + 1, sizeof(*score->kernels));
    for (const struct kernel *kernel = spec->kernels; kernel != NULL; kernel = kernel->next) {
        const struct naive_use *row = uses == NULL ? NULL : uses + score->kernel_count * spec->array_count;
        if (!walk_kernel(&score->kernels[score->kernel_count], spec, kernel, row, arena, &score->fault))
            return score;
        score->kernel_count++;
    }
    return score;
}
