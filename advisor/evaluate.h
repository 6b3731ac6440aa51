/* Takes a bound expression and a box of the launch, gives its value for every thread of a block at every point of the
 * box, or says how the box must be split for that. Values are one constant a thread plus steps that all threads share;
 * what C's operators make of such a value stays one wherever that is provable. */
#ifndef SW_EVALUATE_H
#define SW_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>

#include "expr.h"
#include "launch.h"
#include "spec.h"

/* A bit a thread of the block. */
struct mask {
    uint64_t words[LAUNCH_THREADS_MAX / 64];
};

/* `low` and `high` bound it over all threads, inactive ones too, and all points. */
struct value {
    const int64_t *constant; /* one a thread, or one for all where `uniform` */
    bool uniform;
    unsigned varies; /* a bit a dimension whose step is not 0 */
    int64_t step[LAUNCH_DIMS_MAX];
    int64_t low, high;
};

enum outcome {
    OUTCOME_OK,
    OUTCOME_SPLIT, /* evaluator->split says how */
    OUTCOME_FAULT, /* some active thread of the box's first block does what is an error */
    OUTCOME_STOP
};

/* Cut at `at`: points below it and from it on apart. Period: points apart by their remainder of `at`; where that is the
 * dimension's count, each point on its own. */
enum split_kind { SPLIT_CUT, SPLIT_PERIOD };
struct split {
    enum split_kind kind;
    unsigned dim;
    uint64_t at;
};

struct scratch_chunk;

/* One worker's state. */
struct evaluator {
    unsigned threads;                /* of a block, or of several that go together */
    uint64_t count[LAUNCH_DIMS_MAX]; /* points a dimension of the box at hand */
    struct value builtins[BUILTIN_COUNT];
    struct value *slots; /* lets and loop variables */
    struct split split;
    struct scratch_chunk **chunks; /* vectors of one value a thread, given out in stack order */
    size_t chunk_count, vectors_used;
};

bool evaluator_init(struct evaluator *evaluator, const struct kernel *kernel) __attribute__((warn_unused_result));
void evaluator_free(struct evaluator *evaluator);
/* Memory for one vector; given back by setting vectors_used to what it was. */
int64_t *evaluator_vector(struct evaluator *evaluator);

struct value value_of(int64_t number, const int64_t *storage);

/* Evaluates `expr` for the active threads. */
enum outcome evaluate(struct value *out, struct evaluator *evaluator, const struct expr *expr,
                      const struct mask *active);
/* The active threads for which the value is not 0, at every point of the box. */
enum outcome evaluate_test(struct mask *out, struct evaluator *evaluator, const struct expr *expr,
                           const struct mask *active);
/* The same of a value that is known. */
enum outcome evaluate_true(struct mask *out, struct evaluator *evaluator, const struct value *value,
                           const struct mask *active);
/* out = a op b for EXPR_ADD, EXPR_SUBTRACT, EXPR_MULTIPLY and comparisons. */
enum outcome evaluate_binary(struct value *out, struct evaluator *evaluator, enum expr_op op, const struct value *a,
                             const struct value *b, const struct mask *active);
/* OK where 0 <= value < extent for all active threads and points; FAULT where not so in the first block. */
enum outcome evaluate_inside(struct evaluator *evaluator, const struct value *value, uint64_t extent,
                             const struct mask *active);
/* Asks that dimension `dim` be walked point by point. */
enum outcome evaluate_walk(struct evaluator *evaluator, unsigned dim);
/* The value's vector, one entry a thread. */
const int64_t *evaluate_spread(struct evaluator *evaluator, const struct value *value);

static inline bool mask_has(const struct mask *mask, unsigned thread)
{
    return (mask->words[thread / 64] >> (thread % 64) & 1) != 0;
}

static inline bool mask_any(const struct mask *mask)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < LAUNCH_THREADS_MAX / 64; i++)
        all |= mask->words[i];
    return all != 0;
}

#endif
