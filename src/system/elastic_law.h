// The law of elastic bodies in a step of implicit Euler, for the group of nodes (nodes.h):
//
//     1/2 |v - v*|^2_M + a dt/2 |v|^2_M + W(x + dt v) - dt f.v + dt Phi(v),   all over dx^3
//
// v*: velocities with gravity and other outer forces; a: drag; W: elastic energy and damping (solid/elastic.h); x:
// places at the start of the step; Phi: wind (solid/cloth_wind.h).
#ifndef MO_ELASTIC_LAW_H
#define MO_ELASTIC_LAW_H

#include "solid/cloth_wind.h"
#include "solid/elastic.h"
#include "system/nodes.h"

typedef struct mo_elastic_part {
    const mo_elastic_body *body; // at the start of the step
    const double *target;        // [unknowns] v*, m/s; of pinned vertices their velocity
    double drag;                 // 1/s
    const double *follow;        // [unknowns] f, N: see mo_elastic_follow; NULL: 0
    const mo_cloth_wind *wind;   // of cloth, aimed for the step; NULL: none
} mo_elastic_part;

// Rows push on the surface as it is at the start of the step. If a body turns under a pressure p on all sides, these
// forces and the elastic ones at the end of the step together have a torque, which does work on the turn and spins the
// body up. So the elasticity of a body under pressure contains the potential p V of its volume (elasticity.pressure),
// whose force follows the body, less the part -p dV/dx that the rows give already: f = p dV/dx at the start of the
// step.
mo_status mo_elastic_follow(const mo_elastic_body *b, mo_arena *arena, double *follow);

typedef struct mo_elastic_law {
    const mo_elastic_part *part;
    double dt, volume; // s; m^3, dx^3
    mo_arena *arena;   // for scratch
} mo_elastic_law;

mo_node_law mo_elastic_law_of(mo_elastic_law *l);
// The part of a group for a body; pinned: [vertices], NULL: none.
mo_status mo_elastic_part_create(const mo_elastic_body *b, const uint8_t *pinned, mo_node_part *out, mo_error *err);

#endif
