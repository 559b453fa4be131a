// Bound-constrained quadratic programs by MPRGP (Dostal, Schoeberl 2005): conjugate gradients in the free set,
// expansion when a bound is hit, proportioning when a bound should be left.
//
//     minimise 1/2 x^T A x - b^T x   subject to   lower <= x <= upper        A symmetric positive definite
//
// The gradient is g = A x - b. The free gradient is g where no bound is active; the chopped gradient is g at active
// bounds where it pushes inwards. At the solution both vanish.
#ifndef MO_MPRGP_H
#define MO_MPRGP_H

#include "sparse/krylov.h"

typedef struct mo_mprgp_options {
    double tolerance;       // stop: projected gradient <= tolerance times that of x = 0, max norms
    int32_t max_iterations; // products with A
    mo_expansion expansion;
    double proportioning; // Gamma > 0; 0 = 1
    double norm;          // estimate of the largest eigenvalue of A (with `scale`: of its product with A); 0 = find it
    const double *scale;  // [n] > 0, about 1 / A_ii, where entries of x differ in kind; NULL = 1: squares of gradients,
                          // and steps along them, are in these units. The tolerance is not
} mo_mprgp_options;

typedef struct mo_mprgp_info {
    mo_solve_info solve;
    int32_t expansions, proportionings;
    int32_t active; // bounds active at the end
    double norm;    // the estimate used
} mo_mprgp_info;

// M (NULL: none) preconditions in the face: it gets the free gradient (0 at active bounds), and its result is used
// where no bound is active. lower, upper: [n], -INFINITY and INFINITY where there is no bound; NULL: there is none at
// all. x holds the start, which is projected into the bounds, and gets the solution. Without any bound this is
// conjugate gradients. work: [MO_MPRGP_WORK n]. An expansion never raises the objective: a projected step that would is
// replaced by one of fixed length. A NaN, or no progress in a thousand products, ends the solve with MO_REASON_STALLED
// and the best x seen.
enum { MO_MPRGP_WORK = 8 };
mo_mprgp_info mo_mprgp(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, const double *lower,
                       const double *upper, double *x, const mo_mprgp_options *options, double *work);

#endif
