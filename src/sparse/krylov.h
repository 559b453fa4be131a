// Conjugate gradients with any operator and preconditioner, and the preconditioners of the papers' route.
#ifndef MO_KRYLOV_H
#define MO_KRYLOV_H

#include "sparse/csr.h"

typedef void (*mo_apply_fn)(void *context, const double *x, double *y); // y = Op x
typedef struct mo_operator {
    mo_apply_fn apply;
    void *context;
} mo_operator;

typedef struct mo_solve_info {
    mo_reason reason;
    int32_t iterations;
    double residual; // in the norm that the solve stops by, relative to the right-hand side's
} mo_solve_info;

// Whether x is a solution.
static inline bool mo_is_solved(const mo_solve_info *i)
{
    return i->reason == MO_REASON_CONVERGED || i->reason == MO_REASON_NOTHING_TO_DO;
}

// Solves A x = b for symmetric positive (semi-)definite A from the x given. It stops when |r|_max <= tolerance |b|_max;
// an x that already satisfies this takes 0 iterations. M = NULL: there is no preconditioner. `flexible` keeps
// convergence when M is not exactly symmetric (float arithmetic). work: [5 n].
// A NaN or a residual that no longer falls ends the solve with MO_REASON_STALLED and the best x seen.
mo_solve_info mo_cg(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x, double tolerance,
                    int32_t max_iterations, bool flexible, double *work);
// The same, but it stops by the mean squares of r and b, in which a few rows do not count. This is for solves whose
// single rows are corrected again soon, so that the mean is what matters.
mo_solve_info mo_cg_mean(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x,
                         double tolerance, int32_t max_iterations, bool flexible, double *work);

// Rows in the order of Gauss-Seidel sweeps: `groups` contiguous row ranges, and for each colour the groups that may be
// swept at the same time (no entry of A couples two groups of one colour). One group and one colour = plain order.
typedef struct mo_sweep {
    int32_t groups;
    int32_t *group; // [groups + 1] first row of each group
    int32_t colours;
    int32_t *colour; // [colours + 1] first item in member of each colour
    int32_t *member; // [groups] group numbers by colour
} mo_sweep;
// Groups the rows that lie in one cube of `edge` lattice cells; the rows of a cube must be contiguous in
// coord[rows][3]. `diagonal`: rows couple across corners of cubes (27-point stencils: 8 colours), else across faces
// only (2 colours).
mo_status mo_sweep_create(int32_t rows, const int32_t (*coord)[3], int32_t edge, bool diagonal, mo_sweep *out);
mo_status mo_sweep_serial(int32_t rows, mo_sweep *out); // one group: any couplings, one thread
void mo_sweep_destroy(mo_sweep *sweep);

// SSOR: M = symmetric successive over-relaxation, omega in (0, 2); parallel over the colours of the sweep.
typedef struct mo_ssor {
    int32_t rows;
    const mo_sweep *sweep;
    double omega;
    double *dinv;
    mo_csr L, U; // the entries before and behind the diagonal in the order of the sweep
} mo_ssor;
mo_status mo_ssor_create(const mo_csr *A, const mo_sweep *sweep, double omega, mo_ssor *out);
void mo_ssor_destroy(mo_ssor *s);
void mo_ssor_apply(void *ssor, const double *r, double *z); // an mo_apply_fn

// IC(0), modified with factor `mic` in [0, 1]: 0.97 is usual, 0 is plain IC(0). `breakdowns` counts pivots that had to
// be replaced.
typedef struct mo_ic0 mo_ic0;
mo_status mo_ic0_create(const mo_csr *A, double mic, mo_ic0 **out, int64_t *breakdowns);
// Plain IC(0) of A with its diagonal times 1 + shift, the least of 0, 0.002, 0.008, ... with which all pivots are
// positive: replaced pivots would let the factor of a stiffness grow beyond bounds.
mo_status mo_ic0_create_shifted(const mo_csr *A, mo_ic0 **out, double *shift);
mo_status mo_ic0_factor(const mo_ic0 *ic, mo_csr *out); // U of A ~ U^T U, its diagonal included
void mo_ic0_destroy(mo_ic0 *ic);
void mo_ic0_apply(void *ic, const double *r, double *z);

typedef struct mo_jacobi {
    int32_t n;
    double *dinv;
} mo_jacobi;
mo_status mo_jacobi_create(const mo_csr *A, mo_jacobi *out);
void mo_jacobi_destroy(mo_jacobi *j);
void mo_jacobi_apply(void *jacobi, const double *r, double *z);

#endif
