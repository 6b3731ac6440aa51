/* Takes numbers, puts them in ascending order: by their bytes from the lowest, as many as the largest has. */
#ifndef SW_SORT_NUMBERS_H
#define SW_SORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* `room` is for as many numbers; what is in it afterwards is of no use. */
void sort_numbers(uint64_t *numbers, uint64_t *room, size_t count);

#endif
