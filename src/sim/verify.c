// Verification: a step's system is solved once more, by route `paper` from the same start and to a smaller tolerance,
// and the two solutions are compared (docs/output.md). The step goes on with its own solution, to the last bit.
#include "base/parallel.h"
#include "sim/sim.h"
#include "system/state.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// The tolerance of the second solve, relative to that of the first. Where contacts are redundant, only the softening of
// their diagonal (contact_softness.h) determines their forces, and errors of forces enter the bounds of friction.
static const double tightened = 0.1, tightened_contact = 0.001;
enum { REFERENCE_ITERATIONS = 10000 }; // that the second solve may take even if the first may not

// ---- The data that a solve changes ----

struct mo_verification {
    double *start, *own; // [count] motion, then duals, before and after the step's own solve
    double *viscosity;   // [stress rows] after it, if it depends on the flow
    int64_t motion, count;
};

static void store(const mo_system *s, double *to) { mo_motion_get(s, to), mo_duals_get(s, to + mo_motion_size(s)); }

static void restore(mo_system *s, const double *from)
{
    mo_motion_set(s, from), mo_duals_set(s, from + mo_motion_size(s));
}

mo_status mo_verify_begin(const mo_step_context *c, mo_verification **out, mo_error *err)
{
    const mo_system *s = &c->assemble.liquid.system;
    const mo_block *stress = s->block[MO_BLOCK_STRESS];
    mo_verification *v = *out = mo_calloc(sizeof *v);
    if (!v) return mo_fail_memory(err);
    v->motion = mo_motion_size(s), v->count = v->motion + mo_duals_size(s);
    v->start = mo_alloc(sizeof(double) * 2 * (size_t)v->count);
    if (stress && s->renew) v->viscosity = mo_alloc(sizeof(double) * (size_t)stress->rows);
    if (!v->start || (stress && s->renew && !v->viscosity)) return mo_fail_memory(err);
    v->own = v->start + v->count;
    store(s, v->start);
    return MO_OK;
}

void mo_verify_destroy(mo_verification *v)
{
    if (!v) return;
    mo_free(v->start), mo_free(v->viscosity);
    mo_free(v);
}

// ---- Differences ----

static double larger(double a, double b) { return b > a || b != b ? b : a; } // a NaN wins

// Largest speed of a point of each body, added up from its two velocities, if v are theirs.
static double body_speed(const mo_sim *sim, const double *v)
{
    double most = 0;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *o = &sim->solids[i];
        const double *w = v + MO_BODY_UNKNOWNS * sim->body_of[i];
        if (!o->rigid) continue;
        double reach = o->radius + mo_norm(o->centre);
        most = fmax(most, mo_norm(mo_v3(w[0], w[1], w[2])) + reach * mo_norm(mo_v3(w[3], w[4], w[5])));
    }
    return most;
}

// The largest speed of faces and bodies. A face counts as in its kinetic energy, by the square root of the part that is
// liquid: of slivers, all but closed or dry, the rows hardly see the velocity and a solve hardly determines it.
static double speed(const mo_sim *sim, const mo_system *s, const double *motion)
{
    const double *v[MO_GROUPS];
    mo_motion_split(s, motion, v);
    double most = s->bodies.count ? body_speed(sim, v[MO_BODIES]) : 0;
    for (int32_t i = 0; i < s->nodes.count; i++) most = larger(most, fabs(v[MO_NODES][i]));
    for (int32_t i = 0; i < s->faces.count; i++)
        most = larger(most, sqrt(fmin(s->faces.mass[i] / sim->density, 1)) * fabs(v[MO_FACES][i]));
    return most;
}

static double relative(double difference, double size) { return size > 0 ? difference / size : difference; }

// The largest difference of the multipliers of one block, relative to the largest of them, or to `size` if that is
// more.
static double multiplier_difference(const mo_system *s, int32_t kind, const mo_verification *v, double size)
{
    const mo_block *b = s->block[kind];
    if (!b) return 0;
    const double *own = mo_duals_of(s, v->own + v->motion, kind),
                 *difference = mo_duals_of(s, v->start + v->motion, kind);
    size = fmax(size, fmax(mo_max_abs(b->rows, b->x), mo_max_abs(b->rows, own)));
    return relative(mo_max_abs(b->rows, difference), size);
}

// The system holds the second solution. The data from which the step started are overwritten.
static void compare(const mo_sim *sim, const mo_system *s, mo_verification *v, mo_verify_stats *out)
{
    double fastest = fmax(speed(sim, s, v->start), speed(sim, s, v->own)), *difference = v->start;
    store(s, difference);
    fastest = fmax(fastest, speed(sim, s, difference));
    for (int64_t i = 0; i < v->count; i++) difference[i] -= v->own[i];
    double stops = sim->density * sim->grid->dx * fastest / s->dt; // Pa across a cell
    out->velocity = relative(speed(sim, s, difference), fastest);
    out->pressure = multiplier_difference(s, MO_BLOCK_PRESSURE, v, stops);
    out->contact = multiplier_difference(s, MO_BLOCK_CONTACT, v, 0);
}

mo_status mo_verify_end(mo_sim *sim, mo_step_context *c, mo_verification *v, mo_error *err)
{
    MO_ASSERT(v);
    mo_liquid_system *liquid = &c->assemble.liquid;
    mo_system *s = &liquid->system;
    mo_verify_stats *out = &sim->stats.verify;
    mo_solver_def solver = sim->def.solver;
    mo_system_info info;
    double wall = mo_wall_seconds(), cpu = mo_cpu_seconds();
    store(s, v->own);
    if (v->viscosity) memcpy(v->viscosity, liquid->viscosity, sizeof(double) * (size_t)s->block[MO_BLOCK_STRESS]->rows);
    restore(s, v->start);
    // Elastic bodies make the same steps of Newton's method in both solves: the papers' methods always use the
    // projected stiffness.
    if (solver.route == MO_ROUTE_FAST) snprintf(solver.method, sizeof solver.method, "delassus");
    solver.route = MO_ROUTE_PAPER, solver.tolerance *= s->block[MO_BLOCK_CONTACT] ? tightened_contact : tightened;
    if (solver.max_iterations < REFERENCE_ITERATIONS) solver.max_iterations = REFERENCE_ITERATIONS;
    MO_TRY(mo_system_solve(s, &solver, &info, err));
    compare(sim, s, v, out);
    restore(s, v->own);
    if (v->viscosity) mo_stress_set_viscosity(liquid, v->viscosity);
    out->done = true;
    out->iterations = info.solve.iterations, out->residual = info.solve.residual, out->reason = info.solve.reason;
    out->seconds = mo_wall_seconds() - wall, out->cpu_seconds = mo_cpu_seconds() - cpu;
    return MO_OK;
}
