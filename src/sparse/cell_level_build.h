// Internal to multigrid: the parts of building a level that levels without and with forked rows share.
#ifndef MO_CELL_LEVEL_BUILD_H
#define MO_CELL_LEVEL_BUILD_H

#include "sparse/cell_level.h"

// Direction (2 axis + side, 0..5) in which the cell `to` lies from the cell `from`, or MO_SAME, or MO_APART.
enum { MO_SAME = 6, MO_APART };
static inline int32_t mo_cell_level_direction(const int32_t from[3], const int32_t to[3])
{
    int32_t x = to[0] - from[0], y = to[1] - from[1], z = to[2] - from[2], length = x * x + y * y + z * z;
    if (length != 1) return length ? MO_APART : MO_SAME;
    return 2 * (y != 0) + 4 * (z != 0) + (x + y + z > 0);
}

// The corner of its block of 2 x 2 x 2 in which a cell lies.
static inline int32_t mo_cell_level_corner(const int32_t c[3])
{
    return (c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2;
}

typedef struct mo_aggregates { // rows of the next level, in order of their first member
    int32_t count;
    int32_t *of;            // [rows] group of each row, -1 = not carried further
    int32_t *member;        // [count] the first
    int32_t *number;        // [count] row of the next level
    int32_t *joined, joins; // while groups are found: [count] the group with which each was joined
} mo_aggregates;

// Numbers the groups as rows of the next level: red, black, then those that fork according to `fork` (NULL: none).
mo_status mo_aggregates_number(const mo_cell_level *l, mo_aggregates *g, const uint8_t *fork, mo_cell_level *next);

// Makes the next level where rows fork, here or there.
mo_status mo_cell_level_fork(mo_cell_level *l, mo_aggregates *g, mo_cell_level *next);

#endif
