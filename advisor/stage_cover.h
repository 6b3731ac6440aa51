/* Takes a stage with a copy-out, says whether the block's threads themselves write every record of it: else storing the
 * copy would store what nobody computed, or what a neighbouring block has. */
#ifndef SW_STAGE_COVER_H
#define SW_STAGE_COVER_H

#include <stdbool.h>

#include "stage.h"

bool stage_writes_cover(const struct stage *stage, struct arena *arena);

#endif
