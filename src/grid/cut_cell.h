// One cell that sheets cut: sheets divide its faces into regions and the cell into sides. Internal to grid/cut.
//
// Coordinates here count cells and begin at the cell's low corner. A face of axis a lies in the plane of the two axes
// behind it in cyclic order, (b, d). Numbers below 0 say "none".
#ifndef MO_CUT_CELL_H
#define MO_CUT_CELL_H

#include "geometry/sheet.h"

enum {
    MO_CUT_TRIANGLES = 192, // in one cell; a cell with more is closed
    MO_CUT_HITS = 64,       // of one edge of the lattice
    MO_CUT_NODES = 256,     // of one face
    MO_CUT_SEGMENTS = 256,
    MO_CUT_REGIONS = 128
};

typedef struct mo_cut_mesh { // all sheets on the lattice, with strips that continue their borders
    int32_t real, triangles; // strips come behind the real triangles
    int32_t vertices;
    double (*x)[3];         // [vertices] lattice coordinates
    int32_t (*triangle)[3]; // [triangles]
    int32_t *host;          // [triangles - real] the triangle that a strip continues
    uint8_t *thin;          // [triangles] without area: they only connect their neighbours
    mo_sheet_edges edges;   // of all of them
} mo_cut_mesh;

// Comparisons without calls of the C library.
static inline double mo_cut_less(double a, double b) { return a < b ? a : b; }
static inline double mo_cut_more(double a, double b) { return a > b ? a : b; }

// The place of a number in a list of ascending ones; -1: it is not there.
static inline int32_t mo_cut_search(int32_t count, const int32_t *list, int32_t number)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (list[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == number ? low : -1;
}

typedef struct mo_cut_hit { // a triangle meets an edge of the lattice
    double at;              // 0..1
    int16_t triangle;       // its number in the cell
    int8_t first;           // sign of the triangle's side on which the edge's low end lies
} mo_cut_hit;

typedef struct mo_cut_edge { // one of a cell's 12: 4 axis + (high along the next axis) + 2 (high along the one after)
    int32_t count;
    mo_cut_hit hit[MO_CUT_HITS]; // ascending
} mo_cut_edge;

typedef struct mo_cut_segment { // of a triangle in a face; the triangle's + side is on its left
    int16_t from, to, triangle;
} mo_cut_segment;

typedef struct mo_cut_face {
    int32_t nodes;
    double x[MO_CUT_NODES][2];
    int32_t edge[MO_CUT_NODES]; // of the mesh, for a node where one passes through the face; else -1
    int8_t on[MO_CUT_NODES];    // edge of the face (0..3: low d, high b, high d, low b) that it lies on; -1: inside
    int16_t hit[MO_CUT_NODES];  // and its number there
    int32_t segments;
    mo_cut_segment segment[MO_CUT_SEGMENTS];
    int32_t regions; // -1: the face is closed, because rounding errors contradict each other
    double area[MO_CUT_REGIONS], moment[MO_CUT_REGIONS][2];
    int16_t beside[2 * MO_CUT_SEGMENTS];  // region on the left (2 s) and right (2 s + 1) of each segment
    int16_t interval[4][MO_CUT_HITS + 1]; // region along each part of the face's edges, in ascending order
} mo_cut_face;

typedef struct mo_cut_walls { // the triangles of a cell
    const mo_cut_mesh *mesh;
    int32_t count;
    bool border;        // a border of a sheet passes: strips are walls here
    const int32_t *all; // [count] ascending
    uint8_t *tangled;   // [count] 1: it meets others where it should not, and nothing is joined along it
} mo_cut_walls;
static inline bool mo_cut_is_wall(const mo_cut_walls *w, int32_t t) { return w->border || w->all[t] < w->mesh->real; }

// Divides a face whose nodes and segments are given, by its four edges of the lattice. Segments that cross get a node
// there and become several. Those that cross or come within 1e-9 are noted as tangled.
void mo_cut_face_divide(mo_cut_face *f, const mo_cut_edge *const edge[4], mo_cut_walls *walls);

// Whether two triangles meet outside of the vertices or the edge that they share, even if they only touch or are folded
// upon each other.
bool mo_cut_tangled(const mo_cut_mesh *m, int32_t a, int32_t b);

typedef struct mo_cut_work { // one cell
    int32_t base[3];
    mo_cut_walls walls;
    int32_t triangle[MO_CUT_TRIANGLES];
    uint8_t tangled[MO_CUT_TRIANGLES];
    int8_t sign[MO_CUT_TRIANGLES][8]; // side of each triangle on which a corner lies, 0: not asked yet
    mo_cut_edge edge[12];
    mo_cut_face face[6];                      // 2 axis + (1: high)
    int32_t edges, met[3 * MO_CUT_TRIANGLES]; // edges of the mesh that meet the cell
} mo_cut_work;

// Finds where the triangles meet the edges and faces of the cell, and divides its faces. False: too many for a cell.
bool mo_cut_work_begin(mo_cut_work *w, const mo_cut_mesh *mesh, const int32_t base[3], int32_t count,
                       const int32_t *triangle);

// ---- What a cell becomes ----

enum { MO_CUT_SIDES = 255 };
typedef struct mo_cut_piece { // a region of a face
    double area, at[2];       // and its centre
    int32_t side;             // -1: of a pocket
} mo_cut_piece;
typedef struct mo_cut_part { // of a triangle, in the cell
    int32_t triangle;        // a real one; for what replaces a closed strip, the triangle that the strip continues
    int32_t side;
    double vector[3]; // area, outwards of the side
    double centre[3];
    bool corrected; // the closure error of the side is added here
} mo_cut_part;
typedef struct mo_cut_opening {  // a gap
    int32_t low, high;           // sides
    int32_t triangle;            // of the strip
    double vector[3], centre[3]; // area, from low to high
} mo_cut_opening;
typedef struct mo_cut_facing { // for finding the side of a point
    int32_t triangle;
    int16_t plus, minus; // sides; -1: not known
} mo_cut_facing;

typedef struct mo_cut_cell {
    int32_t sides, pieces[6], parts, openings, facings;
    double *volume;    // [sides]
    int16_t corner[8]; // the side that owns each
    mo_cut_piece *piece[6];
    mo_cut_part *part;
    mo_cut_opening *opening;
    mo_cut_facing *facing;
    int32_t pockets, tangled; // sides without opening, triangles
    bool closed;              // too many triangles, or a face that contradicts itself
} mo_cut_cell;

// Makes the sides of a cell; arrays are in the arena. False: no memory.
bool mo_cut_cell_create(mo_cut_work *w, mo_arena *arena, mo_cut_cell *out);

// The part of a triangle inside the cell [0, 1]^3 at `base`: its area along the triangle's normal, and its centre.
// False: there is none.
bool mo_cut_clip(const mo_cut_mesh *m, int32_t triangle, const int32_t base[3], double vector[3], double centre[3]);
// The corners of that part, seen from the cell's low corner; returns their number.
enum { MO_CUT_CORNERS = 12 };
int mo_cut_corners(const mo_cut_mesh *m, int32_t triangle, const int32_t base[3], double corner[MO_CUT_CORNERS][3]);
// The area of a polygon along its normal, and its centre. False: it has none.
bool mo_cut_area(int n, double (*corner)[3], double vector[3], double centre[3]);

#endif
