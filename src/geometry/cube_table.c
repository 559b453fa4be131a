// The marching cubes table. On every face the inside corners are cut off run by run: on a face with two diagonal
// inside corners they are separated. The rule sees only the face's four signs, so both cubes of a face agree. The
// segments of the six faces chain into loops; a loop is triangulated without diagonals that lie in a face, since
// the neighbour might draw the same one. Hence every triangle edge belongs to exactly two triangles.
#include "geometry/cube_table.h"
#include "base/base.h"
#include <string.h>

// The low end of an edge.
static int edge_corner(int edge)
{
    int axis = edge / 4, m = edge % 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    return (m & 1) << u | (m >> 1) << v;
}

static int edge_between(int c, int d)
{
    int low = c & d, axis = (c ^ d) == 1 ? 0 : (c ^ d) == 2 ? 1 : 2;
    for (int m = 0; m < 4; m++)
        if (edge_corner(4 * axis + m) == low) return 4 * axis + m;
    return -1;
}

// Corner i (0..3) of a face, counter-clockwise seen from outside the cube.
static int face_corner(int axis, int side, int i)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    if (!side) i = 3 - i;
    return side << axis | (i == 1 || i == 2) << u | (i >= 2) << v;
}

// next[e]: the cut edge that follows e on the surface's boundary, the surface being left of the way.
static void link_edges(int pattern, int next[MO_CUBE_EDGES])
{
    for (int e = 0; e < MO_CUBE_EDGES; e++) next[e] = -1;
    for (int face = 0; face < 6; face++) {
        int corner[4];
        for (int i = 0; i < 4; i++) corner[i] = face_corner(face / 2, face % 2, i);
        for (int i = 0; i < 4; i++) {
            int from = corner[i], to = corner[(i + 1) % 4];
            if (pattern >> from & 1 || !(pattern >> to & 1)) continue;
            // Entering a run of inside corners: find where it ends.
            int j = (i + 1) % 4;
            while (pattern >> corner[(j + 1) % 4] & 1) j = (j + 1) % 4;
            next[edge_between(from, to)] = edge_between(corner[j], corner[(j + 1) % 4]);
        }
    }
}

static bool share_face(int e, int f)
{
    int a = edge_corner(e), b = edge_corner(f), ends_a = 1 << (e / 4), ends_b = 1 << (f / 4);
    for (int axis = 0; axis < 3; axis++) {
        int bit = 1 << axis;
        if (ends_a != bit && ends_b != bit && (a & bit) == (b & bit)) return true;
    }
    return false;
}

// Triangles of loop[i..j] (closed by the chord j-i), appended to out; false if every way needs a chord in a face.
static bool fill(const int *loop, int i, int j, int8_t *out, int *count)
{
    if (j < i + 2) return true;
    int before = *count;
    for (int k = i + 1; k < j; k++) {
        bool low = k == i + 1 || !share_face(loop[i], loop[k]), high = k == j - 1 || !share_face(loop[k], loop[j]);
        if (!low || !high) continue;
        out[3 * *count] = (int8_t)loop[i];
        out[3 * *count + 1] = (int8_t)loop[k];
        out[3 * *count + 2] = (int8_t)loop[j];
        *count += 1;
        if (fill(loop, i, k, out, count) && fill(loop, k, j, out, count)) return true;
        *count = before;
    }
    return false;
}

void mo_cube_table_make(mo_cube_table *table)
{
    memset(table, 0, sizeof *table);
    for (int e = 0; e < MO_CUBE_EDGES; e++) table->corner[e] = (int8_t)edge_corner(e);
    for (int pattern = 0; pattern < 256; pattern++) {
        int next[MO_CUBE_EDGES], count = 0;
        link_edges(pattern, next);
        for (int e = 0; e < MO_CUBE_EDGES; e++) {
            int loop[MO_CUBE_EDGES], n = 0;
            for (int f = e; next[f] >= 0;) {
                loop[n++] = f;
                int g = next[f];
                next[f] = -1;
                f = g;
            }
            bool filled = fill(loop, 0, n - 1, table->edge[pattern], &count);
            MO_ASSERT(filled && count <= MO_CUBE_TRIANGLES);
            (void)filled;
        }
        table->count[pattern] = (int8_t)count;
    }
}
