// The form `viscous` of sets with viscous stress: velocities kept, stress eliminated (docs/step.md).
//
//     [ K  Bp^T ] [ y ]   [ f ]       K = M/dt + Bs^T S^-1 Bs + Bp^T g Bp        y = (W u + R v, v)
//     [ Bp  0   ] [ p ] = [ c ]
//
// in the variable that is smooth across solids' surfaces; v are the velocities of bodies and nodes. The last term of K
// restores the trace that the stress rows lack; because Bp y = c, it does not change the solution. The preconditioner
// is block triangular:
//
//     p = -(wd + L~) rp,   y = K~ (ru - Bp^T p)
//
// Contacts that hold are springs in K (contact_law.h), found by Newton's method.
//
// L~ is a multigrid cycle on L = Bp (M/dt)^-1 Bp^T, and wd is the viscous part (Cahouet & Chabard). In cells with a
// face that stress does not act on, L has the stress of the other faces too (viscous_pressure.c). K~ is a multigrid
// cycle on faces with a direct solve of slender parts. The outer iteration is flexible GMRES, stopped by the residual
// of the papers' dual form.
#ifndef MO_VISCOUS_H
#define MO_VISCOUS_H

#include "sparse/face_multigrid.h"
#include "system/system.h"

// Whether a set of blocks has this form.
bool mo_viscous_applies(const mo_system *s, uint32_t set);

// Solves the set. The set-up is kept at s->viscous_solver for the next solve of the same blocks. Velocities and
// multipliers of the system are changed if info->solve.reason says converged; otherwise the multipliers are the best
// found and velocities are as they were.
mo_status mo_viscous_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                           mo_error *err);
void mo_viscous_forget(mo_system *s); // coefficients or rows changed

// ---- The form ----

typedef struct mo_viscous_form {
    const mo_system *system;
    const mo_block *pressure, *stress; // pressure: NULL = not in the set
    int32_t faces, extra, n;           // n = faces + extra unknowns: movable unknowns of solids last, ...
    int32_t carried;                   // ... of which so many belong to bodies; those of nodes follow
    int32_t pressures;
    mo_csr K;                 // n x n
    mo_csr Bp, Bpt;           // pressures x n, and its transpose
    mo_csr Bs;                // stress rows x n; freed after assembly
    mo_csr R;                 // faces x extra: the lattice's entries for the unknowns that move
    double *mass;             // [faces] of W u: M/(dt W^2)
    double *gamma;            // [pressures] g
    double *corner;           // [extra x extra] of K, without springs; NULL with nodes
    double *f, *c;            // [n], [pressures] right-hand side
    double *fixed;            // [n] its part that does not depend on velocities
    mo_csr inertia;           // of solids, /dt
    int32_t first[MO_GROUPS]; // the unknown of solids at which each group of them begins
    int32_t *dof;             // [solids] number among the extra unknowns, -1 = immovable
    double *scale;            // [extra] v = scale times the unknown
    double *motion;           // [solids] scratch
} mo_viscous_form;

// Whether unknowns of nodes are among those of solids. They are many and sparse, so no dense matrix is made of them.
static inline bool mo_viscous_has_nodes(const mo_viscous_form *f) { return f->extra > f->carried; }

mo_status mo_viscous_form_create(const mo_system *s, uint32_t set, mo_viscous_form *out);
void mo_viscous_form_load(mo_viscous_form *f); // the right-hand side of the system's present velocities
// Springs [solids x solids] between solids as part of K, in place of those before; change [extra x extra] gets them
// in the unknowns' scale.
void mo_viscous_form_springs(mo_viscous_form *f, const double *springs, double *change);
mo_status mo_viscous_form_corner(mo_viscous_form *f); // completes K: the unknowns of solids among themselves
// The inverse compliance of a row of stress: weights of the row itself and of its partner, whose number it returns.
int32_t mo_viscous_stiffness(const mo_csr *S, int32_t row, double weight[2]);
void mo_viscous_form_destroy(mo_viscous_form *f);
// u and v from y, and y from them; v: of all solids.
void mo_viscous_velocity(const mo_viscous_form *f, const double *y, double *u, double *v);
void mo_viscous_unknowns(const mo_viscous_form *f, const double *u, const double *v, double *y);

#endif
