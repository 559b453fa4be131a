// One solve by the method of "Accurate Tangential Velocities for Solid Fluid Coupling" (Robinson-Mosher, English and
// Fedkiw 2009), literally, to compare ours with (docs/shells.md). The box is full of fluid; sheets lie in it.
//
// A face is occluded if a sheet lies between the centres of its two cells. It then has a sample for each of its sides,
// (face, cell), which appears only in the constraint of this side, N.W v = N.J V. A ghost cell behind each side carries
// the flow along the sheet on: `beside` faces join it to its real cell, `between` faces to other ghosts.
//
//     v = v* - M^-1 B^T y,    (B M^-1 B^T) y = B v* - (0, N.J V),    B = [D; C],  C = N.W,  D = D0 + R C,  y = (p, l)
//
// With l' = l + R^T p the same velocities follow from B' = [D0; C] and the right-hand side (D0 v* + R N.J V, C v* - N.J
// V); the block of p is then a plain Laplacian over real and ghost cells.
#ifndef MO_SLIP_H
#define MO_SLIP_H

#include "base/vec.h"
#include "geometry/sheet.h"
#include "sparse/krylov.h"

// The velocity at x of the fluid in the side that has the centre `cell`, m/s.
typedef mo_vec3 (*mo_slip_flow_fn)(const void *user, mo_vec3 x, mo_vec3 cell);

typedef struct mo_slip_def {
    int32_t cells[3]; // of the box, which begins at the origin
    double dx;        // m
    const mo_sheet *sheet;
    const double (*sheet_velocity)[3]; // [vertices] m/s; NULL: at rest
    bool open[6];                      // walls with pressure 0, low x first; others have the velocities of the flow
} mo_slip_def;

typedef enum mo_slip_kind {
    MO_SLIP_FACE,    // an open face
    MO_SLIP_SIDE,    // one side of an occluded face
    MO_SLIP_BESIDE,  // between a real cell and its ghost
    MO_SLIP_BETWEEN, // between two ghosts
} mo_slip_kind;

typedef struct mo_slip_face { // an unknown velocity
    mo_slip_kind kind;
    int32_t axis;
    bool fixed;      // at a closed wall
    mo_vec3 x, cell; // where it lies; a real cell that it belongs to
    mo_vec3 normal;  // of the sheet, for MO_SLIP_SIDE and MO_SLIP_BESIDE
} mo_slip_face;

typedef struct mo_slip {
    mo_slip_def def;
    int32_t faces, cells, ghosts, sides; // ghosts are the last of the cells
    mo_slip_face *face;
    double *velocity; // [faces] m/s
    double *inverse;  // [faces] inverse masses over those of a cell; 0: fixed
    mo_csr D0, C, D;  // [cells or sides x faces]; a cell's face counts 1
    mo_csr R;         // [cells x sides]
    double *wall;     // [sides] N.J V, m/s
} mo_slip;

mo_status mo_slip_create(const mo_slip_def *def, mo_slip *out, mo_error *err); // destroy *out in any case
void mo_slip_destroy(mo_slip *s);
// Sets v* to a flow. Faces beside ghosts get the part along the sheet. keep: faces between ghosts keep what the last
// solve gave them, as they do from step to step.
void mo_slip_start(mo_slip *s, mo_slip_flow_fn flow, const void *user, bool keep);
// Solves by conjugate gradients with IC(0). plain: for (p, l'), else for (p, l).
mo_status mo_slip_solve(mo_slip *s, bool plain, double tolerance, mo_solve_info *info, mo_error *err);
// The system of that solve; the caller destroys *A and frees *b by mo_free.
mo_status mo_slip_system(const mo_slip *s, bool plain, mo_csr *A, double **b, mo_error *err);

#endif
