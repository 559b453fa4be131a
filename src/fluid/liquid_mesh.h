// The visible surface of the liquid: a closed mesh. It is made from the level set where that shows the liquid, and from
// particles where it does not (spray, films and ropes thinner than a cell). It ends exactly at solids and walls
// (geometry/cut_mesh.h).
#ifndef MO_LIQUID_MESH_H
#define MO_LIQUID_MESH_H

#include "fluid/particles.h"
#include "grid/fractions.h"

typedef struct mo_liquid_surface {
    const mo_grid *grid;
    const float *phi;              // cells, at cell centres, < 0 in liquid; continued in solids and beyond closed walls
    const mo_particles *particles; // sorted on the grid
    const mo_solid_set *solids;
    int32_t refine; // nodes of the mesh per cell and axis, 1..MO_REFINE_MOST
    // The part of the way from a to b (m) at which it first meets a sheet, 0..1, and the sheet's normal there, away
    // from a; 2: it meets none. NULL: there are none. The liquid on a sheet's two sides ends there, each as the rows on
    // its side tell.
    double (*sheet)(const void *user, mo_vec3 a, mo_vec3 b, mo_vec3 *normal);
    const void *user;
} mo_liquid_surface;
enum { MO_REFINE_MOST = 4 };

// Particles further than this outside the level set are shown as balls of their own.
#define MO_HIDDEN_DEPTH 0.5f // cells

typedef struct mo_liquid_account { // in cells (in 2D of the slice)
    double hidden;                 // volume of particles that the level set does not show
    double film;                   // the part of it that the mesh does not show either: thinner than its lattice
    double radius;                 // of the balls round them, cells
} mo_liquid_account;

// Makes the mesh, with the liquid's velocity at its vertices. account may be NULL.
mo_status mo_liquid_mesh(const mo_liquid_surface *s, mo_mesh *out, mo_liquid_account *account, mo_error *err);

#endif
