// A system that is solved many times from the same start, and the cost of its solves.
#ifndef MO_TRIAL_H
#define MO_TRIAL_H

#include "bench/bench.h"
#include "system/system.h"

typedef struct mo_trial {
    mo_system *system;
    double *start;             // [mo_trial_size] velocities before the solve (system/state.h)
    double *velocity;          // [mo_trial_size] that the last measured solve found
    double *reference;         // [mo_trial_size] of a solve to a much smaller tolerance
    double *multiplier;        // warm starts and bounds of all blocks
    double reference_residual; // NaN: there is no reference
} mo_trial;

enum { MO_TRIAL_RUNS = 16, MO_TRIAL_ITERATIONS = 20000 };
typedef enum mo_cost_kind { MO_COST_CPU, MO_COST_WALL, MO_COST_SETUP, MO_COST_SOLVE, MO_COST_KINDS } mo_cost_kind;

typedef struct mo_cost { // of solves of one kind
    int32_t runs;
    double seconds[MO_COST_KINDS][MO_TRIAL_RUNS];
    mo_system_info info; // of the last
    const char *reason;  // why it ended; "time": it was not given more iterations
    int64_t bytes;       // most in use, above what was before
} mo_cost;

mo_status mo_trial_create(mo_system *s, mo_trial *out, mo_error *err); // keeps the system as it is now
void mo_trial_destroy(mo_trial *t);
int32_t mo_trial_size(const mo_trial *t); // velocities of all groups
void mo_trial_restart(const mo_trial *t, bool keep_multipliers);

// Sets max_iterations to what fits into about so many seconds, judged by the speed of the first few iterations; at most
// MO_TRIAL_ITERATIONS.
mo_status mo_trial_limit(const mo_trial *t, double seconds, mo_solver_def *solver, mo_error *err);
// Makes one more solve from the start, adds its cost and keeps its velocities; at most MO_TRIAL_RUNS times.
mo_status mo_trial_measure(const mo_trial *t, const mo_solver_def *solver, mo_cost *cost, mo_error *err);
double mo_cost_median(const mo_cost *c, mo_cost_kind kind);

// Makes the reference, going on from the multipliers just found. A solve that does not get two orders below the
// tolerance is no reference.
mo_status mo_trial_refer(mo_trial *t, mo_solver_def solver, mo_error *err);
// The first is |u - v| / |v| of the faces in the norm of the mass; the second is the largest difference of bodies'
// velocities over the largest of them (NaN: no body moves).
double mo_trial_difference(const mo_trial *t, const double *u, const double *v);
double mo_trial_body_difference(const mo_trial *t, const double *u, const double *v);

#endif
