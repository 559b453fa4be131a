// Rows of slip along sheets, where ghosts stand for cut cells (grid/ghosts.h): the method of "Accurate Tangential
// Velocities for Solid Fluid Coupling" (Robinson-Mosher, English and Fedkiw 2009).
//
//     C u = N.J V      C = N.W: the velocity at each side of an occluded face, along the sheet's normal N
//     D u = 0          D = D0 + R C; D0: open faces and those beside and between ghosts; R: N_a, into the real cell
//
// Multipliers are p of D and l of C. With l' = l + R^T p the same velocities follow from
//
//     D0 u + R N.J V = 0,   C u = N.J V
//
// of which the first are rows of pressure like any others, with walls N_a N of the sheet (grid/sites.h). The system has
// these: its block of slip has the multipliers l' (slip_form.h solves for l where the paper does). Rows of slip are
// divided by dx, as those of pressure are.
#ifndef MO_PRESSURE_SLIP_H
#define MO_PRESSURE_SLIP_H

#include "system/pressure.h"

// Adds the block to a system whose rows of pressure and faces are numbered. row: [fields] row of the system or -1;
// face: [3][fields] likewise. Velocities of faces that are not unknowns count with the solids' flux through them.
mo_status mo_pressure_add_slip(const mo_pressure_def *d, const int32_t *row, int32_t *const face[3],
                               mo_liquid_system *out, mo_error *err);
// Adds the forces of the solved l' on sheets, by vertex, N; those of the pressure are mo_pressure_sheet_forces.
void mo_slip_sheet_forces(const mo_pressure_def *d, const mo_liquid_system *l, double (*force)[3]);

#endif
