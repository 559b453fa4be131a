// Balance of energy between particles and system: the particles must not take more kinetic energy from the faces than
// the solve gave them (docs/step.md).
//
// The solve never raises 1/2 sum Ms u^2 by more than the work of gravity, solids and tension, with Ms the masses of the
// system's faces. Particles that take the velocities back hold at most 1/2 sum Mp u^2, with Mp = sum w V the mass they
// gave to a face. In the bulk both masses are about one cell. At surfaces, in films and in slits between solids a face
// of hardly any mass may move many particles; its velocity costs the system nothing, so it can be anything.
#ifndef MO_BALANCE_H
#define MO_BALANCE_H

#include "grid/grid.h"

// How the solid that is nearest to a tile moves, in m/s: its velocity along each axis at that axis' face of the tile's
// first cell, and the change of this per cell.
typedef struct mo_frame {
    float velocity[3], gradient[3][3];
} mo_frame;

// Finds which part of the mass of the system's faces really exists. The surface of liquid thinner than a cell or two is
// that of balls round its particles, which hold more than the particles do. A body would be pushed by the momentum of
// the whole mass, while the particles would lose only their own: energy would grow. The part at a cell is Mp/(0.8 Ms),
// from the sums over the faces of all axes of the 5^3 cells round it, but at most 1 and at least 0.05, because a face
// needs some mass. It is smooth and the same for all axes, so that liquid without bodies moves as it would with its
// whole mass. Masses are in cells, by axis; system: 0 where there is no face of the system.
void mo_balance_masses(const mo_grid *g, const float *const particles[3], const float *const system[3], float *part);

typedef struct mo_balance {
    const mo_grid *grid;
    const uint8_t *valid[3];   // share: 1 = a face of the system; limit: 0 unknown, 1 known, 2 set by a wall or emitter
    float *u[3];               // m/s, after the solve; corrected in place
    const float *before[3];    // m/s, u*: with gravity, before tension and solve
    const float *particles[3]; // cells, Mp: the volume that particles gave to the face
    const float *system[3];    // cells, Ms; 0: no face of the system. Read by share only
    float kick[3];             // m/s, the part of u* that gravity added
    const mo_frame *frame;     // of every tile, or NULL at rest: energies of limit are relative to it
    float courant;             // dt/dx: cells passed per m/s
    float *given[2];           // fields, between the two: energy the system gave, from u* and from before gravity
    uint8_t *light;            // field, between the two: bit a = the face of axis a may be limited
    int64_t shared, limited;   // out: faces
} mo_balance;

// Faces with m = Ms/(0.8 Mp) < 1 keep their change of velocity D = u - u* for the part m of their mass. The rest takes
// the mean change of the neighbours, which carry it along: D = m D + (1 - m) mean D, in four sweeps. Because D is
// averaged and not u, rest, free fall and rigid motion stay as they are.
mo_status mo_balance_share(mo_balance *b, mo_arena *arena, mo_error *err);

// Where the particles in the box of 5^3 cells round a cell still gain more than the system gave, the faces that gain
// and are lighter than half their particles give the excess back. Energies are relative to the nearest solid, so that
// liquid which a moving vessel takes along gains nothing. scratch: 3 fields.
mo_status mo_balance_limit(mo_balance *b, float *const scratch[3], mo_arena *arena, mo_error *err);

#endif
