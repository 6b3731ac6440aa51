/* Takes a stage's kernel and array, gives the box of records that a block touches, by looking at the launch's events.
 */
#ifndef SW_STAGE_SURVEY_H
#define SW_STAGE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "stage.h"

/* Fills the stage's origin, its steps and extent. False and a sentence in *reason where the footprint is no box that is
 * affine in blockIdx, or has more than `records_max` records along a dimension. */
bool stage_survey(struct stage *stage, uint64_t records_max, struct arena *arena, const char **reason)
    __attribute__((warn_unused_result));

#endif
