// Shared by the validations of viscous liquids on analytic cases: where samples lie, solves that must converge, blocks
// with prescribed faces.
#ifndef VALIDATE_STOKES_CASE_H
#define VALIDATE_STOKES_CASE_H

#include "validate.h"
#include "base/parallel.h"
#include "cases/case.h"

static inline mo_vec3 face_position(const mo_grid *g, int32_t face_at)
{
    int32_t at[3], axis = mo_face_axis(face_at);
    mo_grid_cell(g, mo_face_sample(face_at), at);
    return mo_grid_world(g, at[0] + 0.5 * (axis != 0), at[1] + 0.5 * (axis != 1), at[2] + 0.5 * (axis != 2));
}

static inline mo_vec3 cell_position(const mo_grid *g, int32_t cell)
{
    int32_t at[3];
    mo_grid_cell(g, cell, at);
    return mo_grid_world(g, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5);
}

// A stress sample: a cell, or an edge along x, y, z.
static inline mo_vec3 stress_position(const mo_grid *g, int32_t sample_at)
{
    int32_t at[3], along = (sample_at & 7) - MO_STRESS_YZ;
    mo_grid_cell(g, sample_at >> 3, at);
    if (along < 0) return cell_position(g, sample_at >> 3);
    return mo_grid_world(g, at[0] + 0.5 * (along == 0), at[1] + 0.5 * (along == 1), at[2] + 0.5 * (along == 2));
}

static inline mo_case create_case(const mo_case_def *def)
{
    mo_case c;
    mo_error err;
    must(mo_case_create(def, &c, &err), &err);
    return c;
}

static inline mo_liquid_system assemble(mo_case *c, double dt, const mo_solver_def *solver)
{
    mo_liquid_system s;
    mo_error err;
    must(mo_case_stokes_assemble(c, dt, solver, &s, &err), &err);
    return s;
}

// The same with faces held at the velocities of c->u.
static inline mo_liquid_system assemble_fixed(mo_case *c, double dt, const mo_solver_def *solver,
                                              const uint8_t *const *fixed)
{
    mo_liquid_system s = assemble(c, dt, solver); // makes the weights
    mo_error err;
    mo_liquid_destroy(&s);
    mo_stress_def def = mo_case_stress_def(c, dt, solver);
    def.fixed = fixed;
    must(mo_stress_assemble(&def, c->arena, &s, &err), &err);
    return s;
}

// 1 where a row of some block holds the face; slivers of liquid without any fly on. To be freed.
static inline uint8_t *find_held_faces(const mo_system *s)
{
    uint8_t *held = checked(calloc((size_t)s->faces.count + 1, 1));
    for (int k = 0; k < MO_BLOCK_KINDS; k++)
        for (int64_t e = 0; s->block[k] && e < mo_csr_entries(&s->block[k]->on[MO_FACES]); e++)
            held[s->block[k]->on[MO_FACES].col[e]] = 1;
    return held;
}

// A solve that ends early would pass for an error of the discretisation: it ends the program's claim instead.
static inline int32_t solve_system(validation *v, mo_system *s, const mo_solver_def *solver)
{
    mo_system_info info;
    mo_error err;
    must(mo_system_solve(s, solver, &info, &err), &err);
    bool done = info.solve.reason == MO_REASON_CONVERGED || info.solve.reason == MO_REASON_NOTHING_TO_DO;
    if (!done)
        at_most(v, info.solve.residual, solver->tolerance, "residual after %d iterations", info.solve.iterations);
    return info.solve.iterations;
}

static inline mo_solver_def solver_with(double tolerance)
{
    mo_solver_def solver = mo_sim_def_default().solver;
    solver.tolerance = tolerance;
    return solver;
}

#endif
