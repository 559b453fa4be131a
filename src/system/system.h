// The KKT system of one step (docs/step.md): primal masses and velocities, dual blocks, schemes and solution routes.
//
//     minimise 1/2 |u - u*|^2_M   subject to   B u = c   for every block,  multiplier dt p
//     optimality  M (u - u*) = -dt B^T p,   dt B M^-1 B^T p = B u* - c
//
// Every physical effect is one dual block. Nothing here knows about particles or scenes; nothing outside knows which
// route runs.
#ifndef MO_SYSTEM_H
#define MO_SYSTEM_H

#include "sparse/csr.h"
#include "sparse/krylov.h"

enum { MO_BLOCK_PRESSURE, MO_BLOCK_KINDS }; // stress, slip, contact, friction follow

typedef struct mo_block { // rows of constraints on the primal velocities
    int32_t rows;
    mo_csr fluid;        // B: rows x faces
    double *compliance;  // [rows] S, or NULL for a hard constraint
    double *rhs;         // [rows] c: what prescribed solids contribute
    double *x;           // [rows] the multiplier p: warm start in, solution out
    int32_t (*coord)[3]; // [rows] lattice cell of each row; rows of one 8^3 tile contiguous
} mo_block;

typedef struct mo_system {
    double dt;
    int32_t faces;
    double *mass;                    // [faces] Mf = rho WF^u WL^u, > 0
    double *velocity;                // [faces] u* in, u out
    mo_block *block[MO_BLOCK_KINDS]; // NULL = absent
} mo_system;

void mo_block_destroy(mo_block *b);   // frees arrays and the struct
void mo_system_destroy(mo_system *s); // frees the arrays and blocks, not the struct

typedef struct mo_system_info {
    mo_solve_info solve; // of the last set solved; iterations summed over sets
    int32_t rounds;
    int32_t pieces;                      // connected pieces of the pressure graph
    int32_t enclosed;                    // those with a constant null space
    int32_t relaxed;                     // enclosed pieces whose right-hand side had a mean, removed
    int64_t breakdowns;                  // IC(0) pivots replaced
    int32_t fallbacks;                   // solves handed to the alternative after a stall
    double setup_seconds, solve_seconds; // wall
    int64_t bytes;                       // of matrices and hierarchy
} mo_system_info;

// A scheme is a list of block sets solved in turn (MATH.md 5.3). The name is checked against the blocks that exist.
mo_status mo_scheme_check(const char *name, mo_error *err);                       // "" or "P"
const char *mo_scheme_name(const mo_solver_def *solver, const mo_system *system); // the name that "" stands for

// Runs the scheme on the route of `solver`: duals into block->x, velocities updated in place.
mo_status mo_system_solve(mo_system *s, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

// The pieces used by routes, for tests and benchmarks: A = S + dt B M^-1 B^T of one block, and b = B u* - c.
mo_status mo_block_dual_matrix(const mo_system *s, const mo_block *b, mo_csr *A, mo_error *err);
void mo_block_residual(const mo_system *s, const mo_block *b, const double *velocity, double *r); // B u - c

// Solves A x = b (x: warm start) as the route does, with pieces and null spaces handled: also used for the position
// correction. A's rows sit at coord as in mo_block.
mo_status mo_route_solve(const mo_csr *A, const int32_t (*coord)[3], double *b, double *x, const mo_solver_def *solver,
                         mo_system_info *info, mo_error *err);

#endif
