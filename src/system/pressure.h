// The pressure block of an inviscid liquid: cut cells for solids (open areas), ghost fluid at the free surface. Rows
// and samples are those of grid/sites.h: cells and faces, or sides and pieces of them where a sheet
// is.
//
//     B = Gw^T = (area G)^T   rows = liquid cells, columns = open faces next to them     (negative divergence)
//     Mf = rho area theta     theta = wet part of the segment between the two cell centres, at least 0.001
//     c  = divergence of what moving solids and sheets (Fw V) sweep
#ifndef MO_PRESSURE_H
#define MO_PRESSURE_H

#include "grid/fractions.h"
#include "grid/sites.h"
#include "system/liquid_system.h"
#include "system/slits.h"

typedef struct mo_pressure_def {
    const mo_grid *grid;
    const float *phi;      // liquid level set, cells
    const uint8_t *liquid; // 1 = the cell has a pressure
    float *const *area;    // [3] open part of faces; where a sheet is, of their pieces
    float *const *flux;    // [3] flow that solids sweep through faces, m/s; NULL = solids at rest
    double density, dt, dx;
    const double (*sheet)[3];    // velocity of the sheets' vertices, m/s; NULL: they are at rest
    const double (*sheet_at)[3]; // where their vertices are, m; asked with sheet_solid
    const int32_t *sheet_solid;  // [triangles] the solid that a triangle belongs to if the solve moves it, else -1;
                                 // NULL: none does
    const int32_t *sheet_node;   // [vertices] the first of three nodes' unknowns that are the velocity of a vertex, of
                                 // cloth; -1: none; NULL: no sheet is cloth
    // The parts of faces' areas that solids take, by tile; NULL: there are none.
    const mo_solid_set *solids;
    const mo_cover *cover;
    const mo_spare *spare; // of each cover
    int32_t covers;
    const mo_slits *slits;   // between bodies and what they stand on; NULL: none
    const float *open;       // open part of cells, asked beside slits
    mo_vec3 gravity;         // likewise, and for light sheets
    const mo_excess *excess; // [bodies] of lift; NULL: none
} mo_pressure_def;

// The wet part of the segment between two samples a, b of a level set (a < 0 <= b or the reverse), in [minimum, 1]; 1
// if both are inside. It is the ghost-fluid weight WL^u (docs/math.md 7).
static inline double mo_theta(double a, double b, double minimum)
{
    MO_ASSERT(a < 0 || b < 0);
    MO_ASSERT(minimum >= 0 && minimum <= 1);
    if (a < 0 && b < 0) return 1;
    double inside = a < 0 ? a : b, t = inside / (a < 0 ? a - b : b - a);
    return t > minimum ? t : minimum;
}

// The smallest theta. The papers use 0.01 (MO 6.1), which leaves an error of first order in dx at the surface. With a
// tenth of it the error is not visible at any resolution in use, and there are no more iterations.
static const double mo_theta_minimum = 0.001;

// The wet part of the segment between the centres on both sides of a face; without a lower bound, because nothing is
// divided by it.
double mo_wet_part(const mo_grid *g, const float *phi, int32_t sample, int axis);

mo_status mo_pressure_assemble(const mo_pressure_def *def, mo_arena *arena, mo_liquid_system *out, mo_error *err);

// Attaches liquid to bodies: liquid beside a body in the boxes round faces, which the faces' openings leave out
// (`spare` of fractions.h), moves with the body. With its mass a flat bottom feels the pressure at its own height
// instead of that at the centres of its cells, and a body is lifted by the weight of the liquid that it displaces. The
// attached liquid is taken to have the body's velocity, so that the body does not drag liquid that slides along it. To
// be called when the system has its bodies and nodes with their velocities v*.
mo_status mo_pressure_attach(const mo_pressure_def *def, mo_liquid_system *l, mo_error *err);

// The forces of the solved pressure on sheets whose motion is prescribed, by vertex: F = Fw^T x. Adds to force, N.
void mo_pressure_sheet_forces(const mo_pressure_def *def, const mo_liquid_system *l, double (*force)[3]);

// The forces of the solved pressure on solids whose motion is prescribed: F = -R^T x, R being the rows that they would
// have if the solve moved them. Torques are about `about`. Adds to force and torque, N and N m [solids].
mo_status mo_pressure_forces(const mo_pressure_def *def, const mo_liquid_system *l, const mo_vec3 *about,
                             mo_vec3 *force, mo_vec3 *torque, mo_arena *arena, mo_error *err);

#endif
