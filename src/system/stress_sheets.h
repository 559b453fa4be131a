// The stress block of a viscous liquid where sheets are. It is added to the pressure block of pressure.h, which has
// sides, pieces, walls and gaps; masses and pressures stay as they are.
//
//     B_s u + C V = S s      S = W / eta        C V: velocities of sheets and solids
//
// Relative to the motion V of the sheet beside it, liquid that sticks has the velocity w = u - V, which vanishes on the
// sheet. Round an edge of the lattice, the differences of what passes the pieces of faces on one side of the sheet are
//
//     d1 = sum +-A w_b = T1 dw_b/dc       d2 = sum +-A w_c = T2 dw_c/db       T = sum A (1 - distance to the edge)
//
// exactly if w is linear; T is found from areas and centroids of the pieces. So a side has
//
//     one row     d1/T1 + d2/T2           with the weight W = min(T1, T2)
//     and one     d/T of the larger one   with the weight |T1 - T2|
//
// Away from sheets T1 = T2 = 1, which is the lattice's row. A common rigid motion has w = 0 and no stress. Shear
// between plates along the lattice is exact wherever they lie; otherwise the error is of first order. Rows of the
// diagonal are the divergence of one component over the side, with its walls and gaps, exact for linear fields.
//
// Along a sheet on which liquid slips, w is not known. There the slopes are those of planes through the velocities of
// one side, and rows that would need more than these are left out: nothing pulls along the sheet.
#ifndef MO_STRESS_SHEETS_H
#define MO_STRESS_SHEETS_H

#include "system/pressure.h"
#include "system/stress.h"

typedef struct mo_sheet_stress_def {
    const mo_pressure_def *pressure; // from which the system was made
    const float *viscosity;          // [rows of the grid] Pa s; < 0: not known
    const float *volume;             // [rows of the grid] open part of their cells; NULL: that of sheets alone
    const uint8_t *slip;             // [triangles] 1: liquid slips along it; NULL: along none
    bool reduced;                    // as in mo_stress_def
    bool varies;                     // the viscosity depends on the flow (mo_stress_renew)
} mo_sheet_stress_def;

// Adds the block to a system that mo_pressure_assemble has made.
mo_status mo_sheet_stress_add(const mo_sheet_stress_def *d, mo_arena *arena, mo_liquid_system *l, mo_error *err);

// The forces of the solved stress on sheets, by triangle, and on solids whose motion is prescribed. Adds to force (N)
// and torque (N m, about the origin): [triangles], [solids]. Either pair may be NULL.
typedef struct mo_sheet_stress_forces {
    mo_vec3 *sheet, *sheet_torque, *solid, *solid_torque;
} mo_sheet_stress_forces;
mo_status mo_sheet_stress_force(const mo_sheet_stress_def *d, const mo_liquid_system *l, mo_arena *arena,
                                const mo_sheet_stress_forces *out, mo_error *err);

#endif
