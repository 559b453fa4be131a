// How much of every control volume and face is open or solid (docs/math.md 2.1, MO supplement 2).
//
// Boxes are split into half-cell boxes. Each is clipped exactly for a linear distance (six tetrahedra) after a shift
// that cancels the curvature of the distance. This is exact for planes and has an error of 0.1% for a sphere of 8
// cells. Fractions of cells, faces and edges are consistent, because they all add up the same half cells.
#ifndef MO_FRACTIONS_H
#define MO_FRACTIONS_H

#include "grid/grid.h"
#include <math.h>

// The part of a tetrahedron, box or square in which a function is negative, from its values at the corners
// (x + 2 y + 4 z) and at the centre. It is exact for linear functions and lies in [0, 1].
double mo_fraction_tet(const double phi[4]);
double mo_fraction_box(const double corner[8], double centre);
double mo_fraction_square(const double corner[4], double centre);
// The integrals of 1, x, y and z over the part of the unit box in which two functions are negative. The first is
// clipped as by mo_fraction_box, so that sum[0] is the same where the second is negative. Exact for linear functions.
void mo_integrate_box(const double corner[8], double centre, const double level[8], double sum[4]);

typedef struct mo_column {  // the contribution of an unknown of the solve to a velocity
    int32_t group, unknown; // (system/group.h)
    double weight;
} mo_column;
enum { MO_SOLID_COLUMNS = 72 }; // most of them at one point of a solid

typedef struct mo_surface_piece { // of a solid's surface, in one cell
    int32_t cell[3];
    int32_t vertex[3]; // that move it; 2D: two of them
    double weight[3];  // of each, at its centroid
    mo_vec3 area;      // times the normal that leads out of the solid, in dx^2
    double size;       // the area alone
} mo_surface_piece;

// Solids are signed distances in metres here, with a gradient <= 1, negative inside. The domain's walls are not among
// them.
typedef struct mo_solid_set {
    int32_t count;
    double (*distance)(const void *user, int32_t solid, mo_vec3 x);
    mo_vec3 (*velocity)(const void *user, int32_t solid, mo_vec3 x); // of the solid's material at x; NULL = at rest
    const void *user;
    bool open_wall[6]; // MO_XMIN...: the domain's wall is open
    // Solids that the solve moves; `velocity` is not called for them. NULL: none.
    const int32_t *body; // [count] number among them, rigid bodies first; -1: prescribed
    // Finds the unknowns that move a solid's material at x along a direction: writes them in ascending order, returns
    // how many. NULL: all are rigid bodies, moved by the velocity of their centre and their angular velocity.
    int32_t (*columns)(const void *user, int32_t solid, mo_vec3 x, mo_vec3 direction, mo_column *out);
    // Finds the pieces of a solid's surface in a cell or round one of its low edges (`sample`: as for weights), if rows
    // act on them (elastic_pieces.h); returns how many. *unknown: that of node 0 of the solid. NULL: rows act on parts
    // of faces.
    int32_t (*pieces)(const void *user, int32_t solid, int sample, const int32_t cell[3],
                      const mo_surface_piece **first, int32_t *unknown);
    const mo_vec3 *centre; // [count] of mass, m, of rigid bodies
    int32_t bodies, nodes; // rigid bodies; unknowns of nodes
    // Whether some of a solid's surface may lie within `reach` of x. NULL: its distance is used.
    bool (*near)(const void *user, int32_t solid, mo_vec3 x, double reach);
    bool slices;            // openings in 2D are those of slices in the plane's middle; false: means over its depth
    const uint8_t *faceted; // [count] bodies bounded by planes alone: any kink is an edge. NULL: none
    // For viscous liquids: along which solids (NULL: none) and walls they slip; they stick to the others.
    const uint8_t *slip; // [count]
    bool slip_wall[6];
} mo_solid_set;

static inline bool mo_solid_moves(const mo_solid_set *s, int32_t solid) { return s->body && s->body[solid] >= 0; }

static inline bool mo_solid_near(const mo_solid_set *s, int32_t solid, mo_vec3 x, double reach)
{
    return s->near ? s->near(s->user, solid, x, reach) : fabs(s->distance(s->user, solid, x)) <= reach;
}

typedef struct mo_cover { // the parts of the faces of one tile that one solid takes
    int32_t tile, solid;
    float part[3][MO_TILE_CELLS]; // WS_i^u
} mo_cover;

typedef struct mo_spare { // the parts of the boxes round faces that a cover closes although the solid is not there
    float part[3][MO_TILE_CELLS];
} mo_spare;

typedef struct mo_openings { // fields over the grid's tiles, owned by the caller
    float *area[3];          // open part of each face: 0 closed, 1 open; slits (grid/meet.h) are closed
    float *flux[3];          // m/s: sum over solids of covered area times the solid's velocity along the face's axis
    float *volume;           // WF^p: open part of each cell
    float *distance; // in cells: to the nearest solid or closed wall at the cell centre, negative inside; capped at +-4
    // A rigid body takes the larger of two parts of a face: its part of the face's area, and its part of the box round
    // the face (docs/math.md 3.3). The rest of the box is `spare`, so that the parts of all boxes that are neither open
    // nor spare add up to the body's volume. Solids whose motion is prescribed take their part of the area. The covers
    // first[tile] .. first[tile + 1] - 1 belong to the tile, one for each solid of interest in the order of solids;
    // where all solids have covers, these and the open area add up to exactly 1. NULL: there are none.
    mo_cover *cover;
    mo_spare *spare; // of each cover
    const int32_t *first;
} mo_openings;

// Fills the openings of all tiles. Outside the domain everything is closed, except beyond open walls, where volume and
// area are 1 minus the parts that solids take. Faces of closed walls have the flux of prescribed solids that pass the
// wall. Solids that touch or overlap count as one, walls included: no slit between them is open. Solids of a cell's
// thickness or more are tight in any orientation.
void mo_openings_compute(const mo_grid *g, const mo_solid_set *solids, mo_openings *out);

// Closes the low face of cell q: the solids' part of it becomes all of it.
void mo_openings_close(mo_openings *out, int32_t q, int axis);

// Gives a part of the low face of cell q to a solid: adds it to the solid's cover, if it has one, and to the flux if
// its motion is prescribed. The area is not changed.
void mo_openings_give(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q, int axis, double part,
                      mo_openings *out);

// Volume fractions of one tile for the viscous blocks: WS of every solid, and WF in `fluid`, at all kinds of samples
// [kind 0..6][cell 0..511]. Kind 0 is the cell, 1..3 are its low faces u v w, 4..6 its low edges along x y z.
// WF + sum WS = 1 exactly.
void mo_volume_fractions_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile,
                              float (*solid)[7][MO_TILE_CELLS], float fluid[7][MO_TILE_CELLS]);

#endif
