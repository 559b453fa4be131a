// The fast route of sets with viscous stress: velocities kept, stress eliminated (docs/step.md).
//
//     [ K  Bp^T ] [ y ]   [ f ]       K = M/dt + Bs^T S^-1 Bs + Bp^T g Bp        y = (W u + R v, v)
//     [ Bp  0   ] [ p ] = [ c ]
//
// in the variable that is smooth across solids' surfaces; v are the bodies' velocities. The last term of K restores the
// trace that the stress rows lack; as Bp y = c it changes no solution. Preconditioner, block triangular:
//
//     p = -(wd + L~) rp,   y = K~ (ru - Bp^T p)
//
// Contacts that hold are springs in K (contact_law.h), found by Newton's method.
//
// L~ a multigrid cycle on Bp (M/dt)^-1 Bp^T, wd the viscous part (Cahouet & Chabat), K~ a multigrid cycle on faces with
// a direct solve of slender parts. Outer iteration: flexible GMRES, stopped by the residual of the papers' dual form.
#ifndef MO_FAST_H
#define MO_FAST_H

#include "sparse/ldl.h"
#include "system/system.h"

// Whether a set of blocks has this form.
bool mo_fast_applies(const mo_system *s, uint32_t set);

// Solves the set; what is set up is kept at s->fast for the next solve of the same blocks. Velocities and multipliers
// of the system are changed if info->solve.reason says converged; otherwise the multipliers are the best found and
// velocities are as they were.
mo_status mo_fast_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);
void mo_fast_forget(mo_system *s); // coefficients or rows changed

// ---- The form ----

typedef struct mo_fast_form {
    const mo_system *system;
    const mo_block *pressure, *stress; // pressure: NULL = not in the set
    int32_t faces, extra, n;           // n = faces + extra unknowns: movable unknowns of solids last
    int32_t pressures;
    mo_csr K;       // n x n
    mo_csr Bp, Bpt; // pressures x n, and its transpose
    mo_csr Bs;      // stress rows x n; freed after assembly
    double *mass;   // [faces] of W u: M/(dt W^2)
    double *gamma;  // [pressures] g
    double *corner; // [extra x extra] of K, without springs
    double *f, *c;  // [n], [pressures] right-hand side
    double *fixed;  // [n] its part that does not depend on velocities
    mo_csr inertia; // of solids, /dt
    int32_t *dof;   // [solids] number among the extra unknowns, -1 = immovable
    double *scale;  // [extra] v = scale times the unknown
} mo_fast_form;

mo_status mo_fast_form_create(const mo_system *s, uint32_t set, mo_fast_form *out);
void mo_fast_form_load(mo_fast_form *f); // the right-hand side of the system's present velocities
// Springs [solids x solids] between solids as part of K, in place of those before; change [extra x extra] gets them
// in the unknowns' scale.
void mo_fast_form_springs(mo_fast_form *f, const double *springs, double *change);
void mo_fast_form_destroy(mo_fast_form *f);
// u and v from y, and y from them.
void mo_fast_velocity(const mo_fast_form *f, const double *y, double *u, double *v);
void mo_fast_unknowns(const mo_fast_form *f, const double *u, const double *v, double *y);

// Rows of a matrix found one by one: `find` writes columns and values of a row (at most `width`) and returns their
// number, -1 = too many. Threads have numbers below mo_thread_count().
typedef int32_t (*mo_row_fn)(void *user, int32_t row, int32_t thread, int32_t *col, double *val);
mo_status mo_csr_collect(int32_t rows, int32_t cols, int32_t width, mo_row_fn find, void *user, mo_csr *out);
int32_t mo_csr_widest(const mo_csr *A); // entries of the longest row
// Appends rows to a matrix (rows x cols, cols >= rows) so that it becomes symmetric; corner: the square block below
// right (cols - rows wide, row-major).
mo_status mo_csr_border(mo_csr *A, const double *corner);

// ---- Direct solves ----

typedef struct mo_direct {
    mo_ldl ldl;
    int32_t chains, *chain; // [chains + 1] first block: blocks of a chain couple, chains do not
    int64_t factor_entries;
} mo_direct;

// The marked rows of A, piece by piece; at: doubled lattice position of each row, [3] = 0: face, else carried unknown.
mo_status mo_direct_create(const mo_csr *A, const uint8_t *marked, const int32_t (*at)[4], mo_direct *out);
void mo_direct_destroy(mo_direct *d);

// ---- Multigrid on faces ----

typedef struct mo_face_multigrid mo_face_multigrid;

typedef struct mo_face_multigrid_def {
    const mo_csr *K; // n x n, faces first
    int32_t faces, axes;
    const int32_t (*face)[4]; // [faces]
    const uint8_t *slender;   // [faces] as in mo_lattice
    const uint8_t *dangling;  // [faces] of no pressure row
    const double *mass;       // [faces] the part of K's diagonal that couples nothing
} mo_face_multigrid_def;

mo_status mo_face_multigrid_create(const mo_face_multigrid_def *def, mo_face_multigrid **out);
void mo_face_multigrid_destroy(mo_face_multigrid *mg);
void mo_face_multigrid_apply(void *mg, const double *r, double *z); // an mo_apply_fn
// Springs between carried unknowns [n - faces, squared], added to K as it was built; scratch of the same size.
void mo_face_multigrid_corner(mo_face_multigrid *mg, const double *springs, double *scratch);
// How the carried unknowns resist, without springs [n - faces, squared], estimated from above.
void mo_face_multigrid_resistance(const mo_face_multigrid *mg, double *S);

typedef struct mo_face_multigrid_info {
    int32_t levels, coarsest, direct; // unknowns on the last level, in the direct set
    int64_t factor_entries, entries, all_entries, bytes;
} mo_face_multigrid_info;
mo_face_multigrid_info mo_face_multigrid_describe(const mo_face_multigrid *mg);

#endif
