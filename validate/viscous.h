// Shared by the validations of viscous liquids: a case on the grid, stepped in time without particles. The blocks are
// assembled once and the velocities stay in double precision.
//
// Channels need ends through which the liquid passes. An open end is a plane through cell centres at which the liquid
// stops and the velocities along it are prescribed as zero; pressure and normal stress vanish there because the liquid
// stops. Every parallel flow satisfies that exactly, and unlike a prescribed profile it leaves the flow to the force
// that drives it.
#ifndef VALIDATE_VISCOUS_H
#define VALIDATE_VISCOUS_H

#include "base/parallel.h"
#include "cases/case.h"
#include "validate.h"

typedef mo_vec3 (*vector_fn)(const void *user, mo_vec3 x);

typedef struct flow {
    mo_case c;
    mo_stress_def def;
    mo_liquid_system s;
    mo_stress_rheology rheology;
    mo_solver_def solver;
    mo_system_info info; // of the last step
    uint8_t *fixed[3];
} flow;

// Overlap of [at, at + 1] with [low, high].
static inline double flow_overlap(double at, double low, double high)
{
    return fmax(0, fmin(at + 1, high) - fmax(at, low));
}

static inline mo_vec3 flow_face(const flow *f, int32_t face_at)
{
    int32_t at[3], axis = mo_face_axis(face_at);
    mo_grid_cell(f->c.grid, mo_face_sample(face_at), at);
    double half[3] = {0.5, 0.5, 0.5};
    half[axis] = 0;
    mo_vec3 x = mo_grid_world(f->c.grid, at[0] + half[0], at[1] + half[1], at[2] + half[2]);
    if (mo_grid_is_2d(f->c.grid)) x.z = 0;
    return x;
}

static inline void flow_create(flow *f, const mo_case_def *def)
{
    mo_error err;
    *f = (flow){.solver = mo_sim_def_default().solver};
    f->solver.tolerance = 1e-10;
    f->solver.max_iterations = 50000;
    must(mo_case_create(def, &f->c, &err), &err);
    mo_liquid_system probe; // the first assembly makes the weights
    must(mo_case_stokes_assemble(&f->c, 1, &f->solver, &probe, &err), &err);
    mo_liquid_destroy(&probe);
    for (int a = 0; a < 3; a++) f->fixed[a] = checked(calloc((size_t)mo_grid_cells(f->c.grid) + 1, 1));
}

// Ends the liquid in the middle of the cells `first` and `last` of the domain along an axis, openly. The weights are
// multiplied: a level set would round the corners between the ends and a free surface.
static inline void flow_open_ends(flow *f, int axis, int32_t first, int32_t last)
{
    const mo_grid *g = f->c.grid;
    double low = MO_MARGIN + first + 0.5, high = MO_MARGIN + last + 0.5;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t at[3];
        mo_grid_cell(g, i, at);
        for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++) {
            bool centred = kind == MO_SAMPLE_CELL || (kind < MO_SAMPLE_EDGE && kind - MO_SAMPLE_FACE != axis) ||
                           kind - MO_SAMPLE_EDGE == axis;
            f->c.weights.liquid[kind][i] *= (float)flow_overlap(at[axis] - (centred ? 0 : 0.5), low, high);
        }
        for (int a = 0; a < 3; a++) f->fixed[a][i] = a != axis && (at[axis] < low || at[axis] + 1 > high);
    }
}

// Prescribes the velocity of every face for which `where` is positive. Of faces cut by a solid only the open part
// moves.
static inline void flow_prescribe(flow *f, mo_distance_fn where, vector_fn velocity, const void *user)
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(f->c.grid); i++)
        for (int a = 0; a < 3; a++) {
            mo_vec3 x = flow_face(f, mo_face_code(i, a));
            f->fixed[a][i] = where(user, x) > 0 && f->c.weights.liquid[MO_SAMPLE_FACE + a][i] > 0;
            if (f->fixed[a][i])
                f->c.u[a][i] = (float)(f->c.weights.fluid[MO_SAMPLE_FACE + a][i] * mo_get(velocity(user, x), a));
        }
}

// Everything is known: makes the blocks for steps of dt.
static inline void flow_ready(flow *f, double dt)
{
    mo_error err;
    f->def = mo_case_stress_def(&f->c, dt, &f->solver);
    f->def.fixed = (const uint8_t *const *)f->fixed;
    must(mo_stress_assemble(&f->def, f->c.arena, &f->s, &err), &err);
    if (!f->c.def.rheology) return;
    f->rheology = (mo_stress_rheology){&f->s, f->c.grid, f->def.reduced, f->c.arena, f->c.viscosity, {NULL}};
    for (int k = 0; k < 4; k++) f->rheology.parameter[k] = f->c.parameter[k];
    f->s.system.renew = mo_stress_renew, f->s.system.renew_user = &f->rheology;
}

static inline void flow_destroy(flow *f)
{
    mo_liquid_destroy(&f->s);
    mo_case_destroy(&f->c);
    for (int a = 0; a < 3; a++) free(f->fixed[a]);
}

// One step under a force per mass; returns the largest change of a velocity.
static inline double flow_step(flow *f, vector_fn force, const void *user)
{
    mo_system *y = &f->s.system;
    mo_error err;
    size_t faces = (size_t)y->faces.count;
    double *before = checked(malloc(sizeof(double) * (2 * faces + 1))), *driven = before + faces, change = 0;
    memcpy(before, y->faces.velocity, sizeof(double) * faces);
    for (int32_t i = 0; force && i < y->faces.count; i++) {
        int32_t at = f->s.face_at[i];
        y->faces.velocity[i] += y->dt * mo_get(force(user, flow_face(f, at)), mo_face_axis(at));
    }
    memcpy(driven, y->faces.velocity, sizeof(double) * faces);
    mo_arena_reset(f->c.arena);
    must(mo_system_solve(y, &f->solver, &f->info, &err), &err);
    mo_liquid_follow(&f->s, driven);
    for (int32_t i = 0; i < y->faces.count; i++) change = fmax(change, fabs(y->faces.velocity[i] - before[i]));
    free(before);
    return change;
}

// Steps until nothing changes by more than `small`.
static inline int flow_settle(flow *f, vector_fn force, const void *user, double small, int most)
{
    for (int step = 1; step <= most; step++)
        if (flow_step(f, force, user) < small) return step;
    return most;
}

// Largest deviation of the velocities at faces whose centre lies in the domain (`inside` < 0).
static inline double flow_error(const flow *f, mo_distance_fn inside, vector_fn exact, const void *user)
{
    const mo_liquid_system *l = &f->s;
    double worst = 0;
    for (int32_t i = 0; i < l->system.faces.count; i++) {
        mo_vec3 x = flow_face(f, l->face_at[i]);
        if (inside(user, x) < 0)
            worst =
                fmax(worst, fabs(l->system.faces.velocity[i] - mo_get(exact(user, x), mo_face_axis(l->face_at[i]))));
    }
    return worst;
}

// Volume per time through the plane of faces at cell `first` of the domain along an axis (2D: per depth).
static inline double flow_through(const flow *f, int axis, int32_t first)
{
    const mo_grid *g = f->c.grid;
    const mo_liquid_system *l = &f->s;
    double sum = 0;
    for (int32_t i = 0; i < l->system.faces.count; i++) {
        int32_t at[3], cell = mo_face_sample(l->face_at[i]);
        mo_grid_cell(g, cell, at);
        if (mo_face_axis(l->face_at[i]) != axis || at[axis] != MO_MARGIN + first) continue;
        sum += l->system.faces.velocity[i] * l->system.faces.mass[i] / f->def.density;
    }
    return sum * (mo_grid_is_2d(g) ? g->dx : g->dx * g->dx);
}

// Slope of -log(error) over log(n), by least squares.
static inline double fitted_order(int count, const double *n, const double *error)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double x = log(n[i]), y = log(fabs(error[i]));
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return -(count * sxy - sx * sy) / (count * sxx - sx * sx);
}

#endif
