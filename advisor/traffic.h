/* Takes the requests of the first block of a box, gives what its straight runs of statements make the caches move: the
 * inputs of the time estimate that a launch's counts and footprint do not tell. */
#ifndef SW_TRAFFIC_H
#define SW_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_set.h"
#include "device.h"
#include "pattern.h"

struct coverage;

/* Of one array, summed over all straight runs of all blocks. What a run touches twice is counted once. */
struct run_traffic {
    uint64_t read_sectors; /* that L1 does not keep from trip to trip, like the next two */
    uint64_t read_lines;
    uint64_t read_pairs;
    uint64_t load_wavefronts; /* passes of L1's data banks, of every request */
    uint64_t written_sectors, written_pairs;
    uint64_t merged_sectors; /* written, what each warp writes on its own: stores of several do not merge before L2 */
    uint64_t fill_sectors;   /* of the former, written in part by a run that does not read them */
    uint64_t writing;        /* runs that write */
    uint64_t pieces;         /* of neighbouring sectors, that these write */
    uint64_t blocks;         /* of 256 bytes */
    uint64_t page_moves;     /* of those, in another page than the lane before */
    uint64_t barriers;       /* of an array in shared memory: blocks' waits between its stores and their loads */
};

struct traffic {
    struct block_set run;    /* of the straight run at hand, at the box's first point */
    struct block_set merged; /* ... what its stores write, each warp's places apart from the others' */
    uint64_t run_wavefronts; /* ... of its loads */
    uint64_t run_page_moves; /* ... and how often its lanes went to another page */
    unsigned run_touches;   /* of an array in shared memory: what it does with it, and what was done since a barrier, */
    unsigned pending;       /* of TOUCHES_READ and TOUCHES_WRITTEN */
    struct run_traffic box; /* of the box at hand, every run as often as it repeats */
    struct block_set trips; /* what its runs touch at its first point: trips that are walked are runs of their own */
    uint64_t box_runs;      /* ... and how many they are */
    struct coverage *box_reads;   /* what one block of the box at hand reads in all its trips; NULL without loops */
    struct coverage *inner_reads; /* ... and in the trips of its innermost loop */
    uint64_t inner_times;         /* how often a block goes around that; 0: not the same for all its loads */
    struct run_traffic sum;       /* of the boxes before it */
    uint64_t *pages;              /* that were touched, a bit each */
    size_t page_words;
};

/* The lanes of one instruction, of the box's first block and trip: addresses of `count` active ones. `lines`: those of
 * all its requests there, which stand for the wavefronts of places without an order. */
void traffic_add_run(struct traffic *traffic, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                     bool stores, uint64_t lines, const struct device *device);

/* The straight run loads from an array in shared memory, or stores to it. */
void traffic_touch_shared(struct traffic *traffic, bool loads, bool stores);

/* Whether a block of the box goes around a loop: then its loads are wanted in all their trips. */
bool traffic_has_trips(const struct traffic *traffic, const struct pattern *pattern);

/* A load of the box's first block, in all its trips: addresses of `count` active lanes, of an array that reaches to
 * `bytes`. */
void traffic_add_trips(struct traffic *traffic, const struct pattern *pattern, const int64_t *addresses, unsigned count,
                       uint64_t bytes);

/* The straight run ends; it is repeated `weight` times in the box, which has so many blocks. */
void traffic_end_run(struct traffic *traffic, uint64_t weight, uint64_t blocks);

/* The box ends. What a block of it reads in all its trips is read once where it fits half of L1, else once each time
 * that the innermost loop is gone around, which comes by the same sectors soon; once a trip where trips are walked. */
void traffic_end_box(struct traffic *traffic, uint64_t blocks, uint64_t l1_bytes);

/* Forgets the run at hand and, where told so, what the box reads in its trips: both come again. */
void traffic_forget(struct traffic *traffic, bool whole_box);

/* Adds what another worker has counted. */
void traffic_merge(struct traffic *to, const struct traffic *more);

uint64_t traffic_count_pages(const struct traffic *traffic);

void traffic_free(struct traffic *traffic);

/* Adds each number of `more`, `times` over; UINT64_MAX stands for all that is beyond. */
void run_traffic_add(struct run_traffic *to, const struct run_traffic *more, uint64_t times);

#endif
