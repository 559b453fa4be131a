// Gaps where sheets end, in the pressure block. The two rows that a gap joins have one centre, so its velocity is
//
//     u_gap = n . W u + w        W: mean of the cell's samples, by area, of its low and its high face
//
// with w an unknown of mass rho A delta on which no force acts. So liquid at rest stays at rest, and liquid that passes
// the border of a sheet is accelerated with the cell. Without W still water would move at borders, by up to half of g
// dt.
#ifndef MO_PRESSURE_GAPS_H
#define MO_PRESSURE_GAPS_H

#include "system/pressure.h"

// The depth of the liquid that moves in a gap, in cells. With .5 the added masses of plates are best.
static const double mo_gap_depth = 0.5;

// Returns the number of gaps that touch liquid; each becomes an unknown behind the faces.
int32_t mo_pressure_gaps(const mo_pressure_def *d);
// Puts them into a block that has its rows and faces. row: [fields] row of the system or -1; face: [3][fields]
// likewise.
mo_status mo_pressure_add_gaps(const mo_pressure_def *d, const int32_t *row, int32_t *const face[3],
                               mo_liquid_system *out, mo_error *err);

#endif
