// Triangles of a cube for each of the 256 sign patterns of its corners, derived from one rule per face.
#ifndef MO_CUBE_TABLE_H
#define MO_CUBE_TABLE_H

#include "base/base.h"

// Corner c = x + 2y + 4z. Edge 4a + m runs along axis a from corner[4a + m] to corner[4a + m] | 1 << a.
enum { MO_CUBE_EDGES = 12, MO_CUBE_TRIANGLES = 10 };

typedef struct mo_cube_table {
    int8_t corner[MO_CUBE_EDGES];
    int8_t count[256]; // triangles
    int8_t edge[256][3 * MO_CUBE_TRIANGLES];
} mo_cube_table;

void mo_cube_table_make(mo_cube_table *table);

#endif
