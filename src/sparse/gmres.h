// Flexible GMRES (Saad 1993); the caller says how convergence is measured. Preconditioned directions are kept in float:
// they are rounded before the operator sees them, so nothing is lost.
#ifndef MO_GMRES_H
#define MO_GMRES_H

#include "sparse/krylov.h"

typedef double (*mo_measure_fn)(void *context, const double *r); // how far the residual r is from being good

typedef struct mo_gmres_def {
    int32_t n;
    mo_operator A, M;
    const double *scale;   // [n] the norm minimised is that of scale times the residual
    mo_measure_fn measure; // converged: <= tolerance
    void *context;         // of measure
    double tolerance;
    int32_t max_iterations; // of all cycles together
    // Directions of the unknowns exact .. exact_end - 1 are kept in double: their matrix would amplify the rounding.
    int32_t exact, exact_end;
} mo_gmres_def;

// Solves A x = b from the x given; r [n] receives the residual. The only error is MO_ERROR_MEMORY.
mo_status mo_gmres(const mo_gmres_def *def, const double *b, double *x, double *r, mo_solve_info *info);

#endif
