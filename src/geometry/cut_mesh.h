// The closed surface of the region inside one field and outside another: liquid {phi < 0} outside solids {d < 0},
// within a box. It consists of sheets that meet in sharp creases: the free surface (phi = 0), the part that touches
// solids (d = 0), and the part that touches the box's walls. Cubes away from solids and walls are marched; the others
// are cut into six tetrahedra in which both fields are cut at once. The sheets share their corners, so that the surface
// has no gaps by construction. Vertices on lattice edges are roots of a quadratic in phi and of the true distance;
// creases lie on both surfaces.
#ifndef MO_CUT_MESH_H
#define MO_CUT_MESH_H

#include "base/base.h"

typedef struct mo_cut_def {
    int32_t count;           // bricks
    int32_t edge[3];         // cubes of a brick along each axis
    const int32_t (*lo)[3];  // [count] lattice node at each brick's low corner
    int32_t low[3], high[3]; // lattice nodes of the box's walls
    mo_vec3 origin;          // world position of node (0, 0, 0)
    double spacing[3];       // m between nodes
    // Fills (edge + 3) samples along each axis, x fastest, from one node before the brick to one behind it. phi: m,
    // < 0 inside. solid: distance to solids, m, > 0 outside; a node must get the same value in every brick. Returns
    // whether some solid is near (else `solid` need not be filled). Called from several threads at once.
    bool (*load)(void *user, int32_t brick, float *phi, float *solid);
    double (*distance)(void *user, int32_t brick, mo_vec3 x); // true distance to the solids near the brick, m
    // The part of the way between two neighbouring nodes, from the first, at which a sheet parts them, and its normal
    // there, away from the first: phi may differ there by any amount, and the surface ends at the sheet. MO_CUT_BESIDE:
    // it does not, but sheets are near. MO_CUT_FREE: they are not. NULL: there are none.
    double (*sheet)(void *user, int32_t brick, mo_vec3 from, mo_vec3 to, mo_vec3 *normal);
    void *user;
} mo_cut_def;
enum { MO_CUT_FREE = 2, MO_CUT_BESIDE = 3 };

// A vertex has the normal of its sheet: on a crease there is one vertex for each sheet, at the same position.
mo_status mo_cut_mesh(const mo_cut_def *def, mo_mesh *out, mo_error *err);

#endif
