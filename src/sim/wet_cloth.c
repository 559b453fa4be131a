// Cloth in liquid. Cloth is among the elastic bodies, whose functions move it, and among the shells, which cut the grid
// and turn particles back. Its vertices are unknowns of the rows of pressure (system/pressure_sheets.h).
#include "sim/sim.h"
#include <string.h>

static int32_t first_shell(const mo_sim *sim) { return sim->shells.count - sim->shells.cloths; }

static const mo_elastic *cloth_of(const mo_sim *sim, int32_t k)
{
    return &sim->elastics.body[sim->elastics.count - sim->elastics.cloths + k];
}

mo_status mo_sim_wet_cloths(mo_sim *sim, mo_error *err)
{
    mo_shells *s = &sim->shells;
    if (!s->cloths) return MO_OK;
    s->node = mo_alloc(sizeof *s->node * (size_t)s->all.vertices);
    if (!s->node) return mo_fail_memory(err);
    for (int32_t v = 0; v < s->all.vertices; v++) s->node[v] = -1;
    for (int32_t k = 0; k < s->cloths; k++) {
        const mo_shell *shell = &s->shell[first_shell(sim) + k];
        for (int32_t v = 0; v < shell->sheet.vertices; v++)
            s->node[shell->first_vertex + v] = cloth_of(sim, k)->first + 3 * v;
    }
    return mo_sim_lay_cloths(sim, err);
}

mo_status mo_sim_lay_cloths(mo_sim *sim, mo_error *err)
{
    for (int32_t k = 0; k < sim->shells.cloths; k++)
        MO_TRY(mo_shells_lay(&sim->shells, first_shell(sim) + k, cloth_of(sim, k)->body.position, err));
    return MO_OK;
}

mo_status mo_sim_sweep_cloths(mo_sim *sim, double dt, mo_error *err)
{
    for (int32_t k = 0; k < sim->shells.cloths; k++)
        MO_TRY(mo_shells_sweep(&sim->shells, first_shell(sim) + k, dt, cloth_of(sim, k)->body.velocity, err));
    return MO_OK;
}

// ---- Stopped cloth ----

// c + turned - B v of the solids, which are where they are.
static double *motion_of_solids(const mo_sim *sim, const mo_system *y, const mo_block *p)
{
    double *rhs = MO_ARENA_ARRAY(sim->arena, double, p->rows + 1);
    if (!rhs) return NULL;
    for (int32_t i = 0; i < p->rows; i++) rhs[i] = (p->rhs ? p->rhs[i] : 0) + (p->turned ? p->turned[i] : 0);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++)
        if (p->on[g].rows) mo_csr_multiply_add(&p->on[g], -1, y->group[g].velocity, rhs);
    return rhs;
}

// The rows of a block beside solids that do not answer.
static mo_status set_apart(const mo_sim *sim, const mo_system *y, int32_t kind, mo_block *only, mo_system *liquid)
{
    mo_block *b = y->block[kind];
    if (!b || !b->rows) return MO_OK;
    *only = *b;
    only->rhs = motion_of_solids(sim, y, b), only->turned = NULL, only->cloth = false;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) only->on[g] = (mo_csr){0};
    liquid->block[kind] = only;
    return only->rhs ? MO_OK : MO_ERROR_MEMORY;
}

mo_status mo_sim_liquid_follows(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_system *y = &c->assemble.liquid.system, liquid = {.dt = y->dt};
    const mo_block *p = y->block[MO_BLOCK_PRESSURE];
    mo_block pressure, stress;
    if (!p->rows || !p->on[MO_NODES].rows) return MO_OK;
    if (set_apart(sim, y, MO_BLOCK_PRESSURE, &pressure, &liquid) != MO_OK ||
        set_apart(sim, y, MO_BLOCK_STRESS, &stress, &liquid) != MO_OK)
        return mo_fail_memory(err);
    memcpy(y->faces.velocity, c->solve.start, sizeof(double) * (size_t)y->faces.count);
    liquid.faces = y->faces, liquid.lattice = y->lattice;
    mo_solver_def solver = sim->def.solver;
    solver.scheme[0] = 0;
    mo_system_info info;
    return mo_system_solve(&liquid, &solver, &info, err);
}

// ---- Particles ----

mo_vec3 mo_shells_velocity_of(const mo_shells *s, const mo_shell *shell, int32_t triangle)
{
    mo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const double *v = s->velocity[s->all.triangle[shell->first_triangle + triangle][k]];
        sum = mo_mad(sum, 1.0 / 3, mo_v3(v[0], v[1], v[2]));
    }
    return sum;
}
