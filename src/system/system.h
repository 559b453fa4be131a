// The KKT system of one step (docs/step.md) has primal masses and velocities, dual blocks, schemes and solution routes.
//
//     minimise 1/2 |u - u*|^2_M   subject to   B u - c = S x   for every block,  multiplier dt x
//     optimality  M (u - u*) = -dt B^T x,   (S + dt B M^-1 B^T) x = B u* - c
//
// Every physical effect is one dual block: hard (S = 0) or compliant. The system holds these operators; each route
// decides for itself what it eliminates and assembles. This folder knows nothing of particles or scenes, and the code
// outside does not know which route runs.
#ifndef MO_SYSTEM_H
#define MO_SYSTEM_H

#include "sparse/krylov.h"
#include "system/bodies.h"

// Elasticity has a block only while the papers' route solves (elastic_block.h).
enum {
    MO_BLOCK_PRESSURE,
    MO_BLOCK_STRESS,
    MO_BLOCK_ELASTIC,
    MO_BLOCK_CONTACT,
    MO_BLOCK_FRICTION,
    MO_BLOCK_SLIP, // along sheets, beside pressure (pressure_slip.h)
    MO_BLOCK_KINDS
};

typedef struct mo_block { // rows of constraints on the primal velocities
    int32_t rows;
    mo_csr on[MO_GROUPS]; // B: rows x unknowns of each group; a matrix without rows: the block does not touch the group
    mo_csr compliance;    // S: rows x rows, small blocks on the diagonal; without rows: a hard constraint
    double *rhs;          // [rows] c: the part of prescribed solids; NULL: nothing
    double *turned; // [rows] is added to c: the motion of turning nodes that rows do not see (nodes.h); NULL: nothing
    double *x;      // [rows] the multiplier: warm start in, solution out
    double *lower, *upper; // [rows] bounds of x, +-INFINITY where there is none; NULL: no row has one
    double *softness;      // [rows] of contact and friction, see contact_softness.h; NULL: mo_contact_softness
    int32_t (*coord)[3];   // [rows] lattice cell of each row; rows of one 8^3 tile contiguous. NULL: the rows are on
                           // solids alone
    bool cloth;            // its nodes are vertices of cloth, on both sides of which there are rows (membrane.h)
} mo_block;

// Where the faces lie, and what multigrid on them needs beyond the blocks (viscous.h).
typedef struct mo_face_lattice {
    int32_t axes;       // 2 or 3
    double dx;          // m
    mo_vec3 origin;     // of cell (0, 0, 0), m
    int32_t (*face)[4]; // [faces] the cell on whose low side it lies, and its axis; faces of one 8^3 tile contiguous
    double *open;       // [faces] W in (0, 1]: W u + R v is smooth across the surfaces of solids
    uint8_t *slender; // [faces] 1 = in a part of the liquid too thin for all coarse grids; 2 = too thin for all but the
                      // first of them
    uint8_t *aside;   // [faces] 1 = not at its place alone: a piece of a face beside another one, or a gap; NULL: none
    mo_csr on[MO_GROUPS]; // R: faces x unknowns of each group of solids; without rows: none
    int32_t *strain;      // [pressure rows] first stress row of the same cell if its trace is eliminated there, else -1
    double *trace;        // [pressure rows] stiffness of the eliminated trace, times that row's compliance
} mo_face_lattice;

// The compliance of contact and friction among bodies of one mass, relative to how far these masses yield (MO 4.4.5).
static const double mo_contact_softness = 1e-4;

// Rows of hard constraints below which building a multigrid hierarchy costs more than it saves (measured, with and
// without bodies): on route fast such sets, if without contacts, are solved by conjugate gradients with SSOR.
static const int32_t mo_small_set = 3000;

typedef struct mo_system {
    double dt;
    double pace; // m/s: the speed that outer forces give in the step; the steps of Newton's method are also measured
                 // against it
    union {      // what moves
        mo_group group[MO_GROUPS];
        struct {
            mo_group faces, bodies, nodes;
        };
    };
    mo_block *block[MO_BLOCK_KINDS]; // NULL = absent
    mo_vec3 *tangent;                // [friction rows] their directions
    mo_face_lattice *lattice;        // NULL: the form `viscous` does not apply
    double *friction;                // [contact rows] coefficient mu; friction rows 2 i, 2 i + 1 are of contact i
    double *bounce;                  // [contact rows] what a bounce takes off the right-hand side; 0: there is none
    int32_t *slip_host;              // [slip rows] the row of pressure of the same cell
    double *slip_through;            // [slip rows] R: the part of their velocity that flows into that cell
    // Coefficients that depend on the solution (viscosity on shear) are renewed in rounds: `renew` is called before
    // each round, with the velocities u* (round 0) or with the velocities and multipliers of the last round. It changes
    // blocks and returns the relative change (NaN: failure, < 0: no memory). NULL: one round.
    double (*renew)(void *user, struct mo_system *s, int32_t round);
    void *renew_user;
    // What forms have set up and keep while a solve runs (bodies_solver.h, viscous_solver.h).
    struct mo_bodies_solver *bodies_solver;
    struct mo_viscous_solver *viscous_solver;
    bool by_mean; // solves of pressure alone stop by the mean square of the residual, not by its largest entry
    const struct mo_method *method; // of route paper for nodes, while a solve runs (method.h); NULL: none
} mo_system;

void mo_block_destroy(mo_block *b);              // frees arrays and the struct
void mo_system_destroy(mo_system *s);            // frees the arrays and blocks, not the struct
const char *mo_system_fault(const mo_system *s); // what is wrong with sizes, masses or bounds; NULL: nothing
bool mo_set_has(const mo_system *s, uint32_t set, int32_t kind); // rows of this kind of block
double *mo_system_forces(const mo_system *s); // room for the forces on any one group, for mo_free; NULL: no memory

typedef struct mo_system_info {
    mo_solve_info solve; // of the last set solved; iterations summed over sets
    const char *form;    // that solved it (form.h)
    int32_t rounds;
    int64_t inner_iterations; // of methods that solve for nodes by conjugate gradients
    double newton_change;     // of velocities in the last step of Newton's method, relative; 0 if all is quadratic
    int32_t halvings;         // of such steps
    int32_t passes;           // of an iterative scheme, in the last round
    int32_t set_count;
    mo_set_stats sets[MO_MOST_SETS];     // of a scheme
    double staggering;                   // relative change of bodies' velocities in the last round
    double change;                       // of the last renewal, relative
    int32_t pieces;                      // connected pieces of the pressure graph
    int32_t enclosed;                    // those with a constant null space
    int32_t relaxed;                     // enclosed pieces whose right-hand side had a mean, removed
    int64_t breakdowns;                  // IC(0) pivots replaced
    int32_t fallbacks;                   // solves handed to the alternative after a stall
    int32_t by_paper;                    // sets that the papers' route solved
    double setup_seconds, solve_seconds; // wall
    int64_t bytes;                       // of matrices and hierarchy
} mo_system_info;

mo_status mo_method_check(const char *name, mo_route route, mo_error *err); // of the papers' methods for nodes

// A scheme is a list of block sets solved in turn (docs/math.md 5.3). The name is checked against the known ones.
mo_status mo_scheme_check(const char *name, mo_error *err);
const char *mo_scheme_name(const mo_solver_def *solver, const mo_system *system); // the name that "" stands for
bool mo_scheme_couples(const char *name, int32_t a, int32_t b);                   // some set holds both kinds of block

// Runs the scheme on the route of `solver`: duals into block->x, velocities updated in place. A scheme that names
// blocks the system lacks runs without them.
mo_status mo_system_solve(mo_system *s, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

void mo_block_multiply(const mo_block *b, const double *const v[MO_GROUPS], double *r); // r = B v
void mo_block_add_force(const mo_block *b, int32_t group, double *force);               // force -= B^T x, of one group
double mo_block_softness(const mo_block *b, int32_t row);                 // of a block of contact or friction
double mo_block_goal(const mo_block *b, int32_t row);                     // c, with what nodes that turn add to it
void mo_block_residual(const mo_system *s, const mo_block *b, double *r); // B v - c of the present velocities

// The dual matrix of a set of blocks (bits 1 << MO_BLOCK_...), for the papers' route, tests and benchmarks: the rows of
// all its blocks, merged tile by tile.
typedef struct mo_dual {
    int32_t rows;
    mo_csr A;              // S + dt B M^-1 B^T
    mo_csr Bt;             // faces x rows
    double *rhs;           // [rows] B u* - c of the system's present velocities
    double *x;             // [rows] warm start
    uint8_t *hard;         // [rows] 1 = of a block without compliance and bounds
    mo_csr on[MO_GROUPS];  // rows x unknowns of each group but faces. The bodies' product dt R H^-1 R^T is applied and
                           // not formed ...
    int32_t contacts;      // ... except among the last so many rows, which are on solids alone
    double *lower, *upper; // [rows], or NULL
    int32_t (*coord)[3];   // [rows]
    int32_t *place[MO_BLOCK_KINDS]; // [rows of the block] row here; NULL: not in the set
} mo_dual;
mo_status mo_dual_create(const mo_system *s, uint32_t set, mo_dual *out, mo_error *err);
void mo_dual_destroy(mo_dual *d);

// One symmetric problem for a route: A + dt R H^-1 R^T (R on bodies, H their masses; see mo_dual), with bounds.
typedef struct mo_problem {
    const mo_csr *A;
    const int32_t (*coord)[3]; // [rows] as in mo_block
    const uint8_t *hard;       // [rows], NULL: all rows are
    const mo_csr *on_bodies;   // R; NULL: none
    const mo_group *bodies;
    double dt;
    int32_t contacts;
    bool far;                    // rows are coupled beyond neighbouring tiles, through nodes
    bool by_mean;                // as in mo_system
    const double *lower, *upper; // [rows], or NULL
} mo_problem;

// These solve the problem for the right-hand side b (x: warm start) and treat pieces and null spaces. The fast one uses
// a multigrid cycle, or a sweep for small problems; the other does as the papers do.
typedef mo_status (*mo_problem_fn)(const mo_problem *problem, double *b, double *x, const mo_solver_def *solver,
                                   mo_system_info *info, mo_error *err);
mo_status mo_problem_solve_fast(const mo_problem *problem, double *b, double *x, const mo_solver_def *solver,
                                mo_system_info *info, mo_error *err);
mo_status mo_problem_solve_paper(const mo_problem *problem, double *b, double *x, const mo_solver_def *solver,
                                 mo_system_info *info, mo_error *err);

#endif
