// Elastic bodies in analytic cases: solids whose distances and columns come from their deformed meshes, and nodes of
// the system with the law of a step.
#ifndef MO_CASES_SOFT_H
#define MO_CASES_SOFT_H

#include "grid/fractions.h"
#include "solid/elastic_pieces.h"
#include "system/elastic_law.h"
#include "system/system.h"

enum { MO_MOST_SOFT = 4 };

typedef struct mo_soft { // points into itself
    int32_t count;
    mo_elastic_body body[MO_MOST_SOFT];
    uint8_t *pinned[MO_MOST_SOFT]; // [vertices]
    mo_elastic_field field[MO_MOST_SOFT];
    mo_elastic_pieces pieces[MO_MOST_SOFT];
    bool polygons;                   // rows are taken from pieces of surfaces; set before bodies are placed
    int32_t first[MO_MOST_SOFT + 1]; // unknown of each
    mo_node_part node[MO_MOST_SOFT];
    mo_elastic_part part[MO_MOST_SOFT];
    double *target; // [unknowns] v*
    mo_elastic_law law;
    mo_solid_set others, solids; // prescribed and rigid solids; those and the elastic bodies behind them
    int32_t *number;             // [solids]
    mo_vec3 *centre;             // [solids]
    mo_arena *arena;
} mo_soft;

// Begins a set; others: solids that come first, NULL: none.
mo_status mo_soft_create(const mo_solid_set *others, mo_soft *out);
void mo_soft_destroy(mo_soft *s);
// Adds a body of this mesh; depth: of a two-dimensional one. Vertices with pin(x) are held. pin may be NULL.
mo_status mo_soft_add(mo_soft *s, const mo_tets *mesh, const mo_elasticity *elasticity, double density, double depth,
                      bool (*pin)(mo_vec3 x), mo_error *err);
// Finds where the bodies are on the lattice of half cells of a grid, once all are there. Cases do it.
mo_status mo_soft_place(mo_soft *s, const mo_grid *g, mo_error *err);

mo_status mo_soft_join(mo_soft *s, double dt, double volume, mo_group *nodes, mo_error *err); // to a system
void mo_soft_take(mo_soft *s, const mo_group *nodes);                                         // velocities from it

#endif
