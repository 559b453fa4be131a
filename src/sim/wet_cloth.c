// Cloth in liquid. Cloth is among the elastic bodies, whose functions move it, and among the shells, which cut the grid
// and turn particles back. Its vertices are unknowns of the rows of pressure (system/pressure_sheets.h).
#include "sim/sim.h"

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
