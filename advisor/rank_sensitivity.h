/* Takes a ranking, gives what would have to change for another candidate to win: the extents, the calls, the device. */
#ifndef SW_RANK_SENSITIVITY_H
#define SW_RANK_SENSITIVITY_H

#include "rank.h"

enum change_kind { CHANGE_EXTENT, CHANGE_CALLS, CHANGE_DEVICE };

struct rank_change {
    enum change_kind kind;
    double factor;               /* of all extents, or of `kernel`'s calls */
    const struct kernel *kernel; /* CHANGE_CALLS */
    const struct device *device; /* CHANGE_DEVICE: a built-in one */
    size_t winner;               /* its place in the ranking; more than 2 % faster there than the first */
};

struct sensitivity {
    size_t next; /* the best candidate outside the tie; the ranking's count where there is none */
    struct rank_change *changes;
    size_t change_count;
};

/* In the arena. Looks at powers of two up to 256 times, and estimates counts in proportion. NULL where there are too
 * many candidates to look at, or one. */
struct sensitivity *rank_sensitivity(const struct ranking *ranking, const struct spec *spec,
                                     const struct device *device, struct arena *arena, struct diags *diags);

#endif
