// The forces of viscous stress in scenes with shells (system/stress_sheets.h).
#include "sim/sim.h"
#include <string.h>

static void add(mo_vec3 *force, mo_vec3 *torque, mo_vec3 about, mo_vec3 f, mo_vec3 t)
{
    *force = mo_add(*force, f);
    *torque = mo_add(*torque, mo_sub(t, mo_cross(about, f)));
}

// Rigid shells and bodies have their forces from the rows.
mo_status mo_sim_shear_shells(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    mo_shells *shells = &sim->shells;
    int32_t triangles = shells->all.triangles, count = 2 * (triangles + sim->solid_count);
    if (!sim->viscous || sim->weighed) return MO_OK;
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, count + 1);
    if (!v) return mo_fail_memory(err);
    memset(v, 0, sizeof *v * (size_t)count);
    mo_sheet_stress_forces f = {.sheet = v, .sheet_torque = v + triangles, .solid = v + 2 * triangles};
    f.solid_torque = f.solid + sim->solid_count;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def pressure = mo_sim_pressure_def(sim, c, &solids);
    mo_sheet_stress_def def = mo_sim_sheet_stress_def(sim, c, &pressure);
    MO_TRY(mo_sheet_stress_force(&def, &c->assemble.liquid, sim->arena, &f, err));
    for (int32_t t = 0; t < triangles; t++) {
        mo_shell *s = &shells->shell[shells->of[t]];
        if (!s->rigid) add(&s->force, &s->torque, s->pose.position, f.sheet[t], f.sheet_torque[t]);
    }
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (!mo_solid_is_body(s) && !s->shell)
            add(&s->force, &s->torque, s->pose.position, f.solid[i], f.solid_torque[i]);
    }
    return MO_OK;
}
