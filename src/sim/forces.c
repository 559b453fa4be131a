// Forces of the liquid on solids.
#include "sim/sim.h"
#include <math.h>

// Whether the low face of a cell along an axis is one of the domain's walls, or beyond.
static bool of_wall(const mo_sim *sim, int32_t index, int axis)
{
    int32_t c[3];
    mo_grid_cell(sim->grid, index, c);
    return c[axis] <= MO_MARGIN || c[axis] >= sim->grid->n[axis] - MO_MARGIN;
}

static int32_t nearest_solid(const mo_sim *sim, mo_vec3 x, double within)
{
    int32_t nearest = -1;
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        if (mo_solid_beyond(&sim->solids[s], x, within)) continue;
        double d = mo_solid_distance_at(&sim->solids[s], x);
        if (d < within) within = d, nearest = s;
    }
    return nearest;
}

static void add_force(mo_solid *s, mo_vec3 force, mo_vec3 at)
{
    s->force = mo_add(s->force, force);
    s->torque = mo_add(s->torque, mo_cross(mo_sub(at, s->pose.position), force));
}

// The force of Frp p = -Q WS^u G WL^p: each cell presses on what solids cover of its six faces, at the faces' centres.
// That is the pressure of the cell's centre: beside a solid that the solve does not move, dp/dx = rho g takes it to
// where the surface lies, which makes the difference between the solid's part of the cell and the mean of its parts of
// two faces. For rigid bodies the liquid attached to them does this.
static void press(mo_sim *sim, int32_t index, double pressure)
{
    const mo_grid *g = sim->grid;
    double taken[6], any = 0; // of faces; those of walls are not the solids'
    bool inner[6];
    int32_t c[3];
    for (int k = 0; k < 6; k++) {
        int32_t face = k & 1 ? mo_grid_step(g, index, k / 2, 1) : index;
        inner[k] = face >= 0 && !of_wall(sim, face, k / 2);
        taken[k] = inner[k] ? 1 - sim->openings.area[k / 2][face] : 0, any += taken[k];
    }
    if (any == 0) return;
    mo_grid_cell(g, index, c);
    mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    int32_t solid = nearest_solid(sim, centre, 2 * g->dx);
    if (solid < 0) return;
    mo_solid *s = &sim->solids[solid];
    double area = g->dx * g->dx, weight = s->dynamic ? 0 : sim->density * area * g->dx;
    for (int a = 0; a < 3; a++) {
        mo_vec3 e = {a == 0, a == 1, a == 2};
        for (int side = 0; side < 2; side++)
            add_force(s, mo_mul((side ? 1 : -1) * pressure * area * taken[2 * a + side], e),
                      mo_mad(centre, (side - 0.5) * g->dx, e));
        if (!inner[2 * a] || !inner[2 * a + 1]) continue;
        double beyond = 1 - sim->openings.volume[index] - 0.5 * (taken[2 * a] + taken[2 * a + 1]);
        add_force(s, mo_mul(-weight * mo_get(sim->def.gravity, a) * beyond, e), centre);
    }
}

// What liquid that moves with bodies does to them.
static void add_attached(mo_sim *sim, const mo_liquid_system *l)
{
    double volume = mo_grid_cell_volume(sim->grid), f[6];
    for (int32_t i = 0; i < sim->def.solid_count && l->attached; i++) {
        mo_solid *s = &sim->solids[i];
        int32_t b = sim->body_of[i];
        if (b < 0) continue;
        mo_attached_force(&l->attached[b], mo_body_velocity(&l->system.bodies, b), l->system.dt, f);
        s->force = mo_mad(s->force, volume, mo_v3(f[0], f[1], f[2]));
        s->torque = mo_mad(s->torque, volume, mo_v3(f[3], f[4], f[5]));
    }
}

static mo_status measure_viscous_forces(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    int32_t count = sim->def.solid_count;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stokes_def def = mo_sim_stokes_def(sim, c, &solids);
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, 3 * count + 1);
    if (!v) return mo_fail_memory(err);
    for (int32_t s = 0; s < count; s++) v[s] = sim->solids[s].pose.position;
    MO_TRY(mo_stokes_forces(&def, &c->assemble.stokes, v, v + count, v + 2 * count, sim->arena, err));
    for (int32_t s = 0; s < count; s++) sim->solids[s].force = v[count + s], sim->solids[s].torque = v[2 * count + s];
    add_attached(sim, &c->assemble.stokes.liquid);
    return MO_OK;
}

mo_status mo_sim_measure_forces(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    const mo_liquid_system *l = &c->assemble.stokes.liquid;
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    if (sim->viscous) return measure_viscous_forces(sim, c, err);
    for (int32_t s = 0; s < sim->def.solid_count; s++) sim->solids[s].force = sim->solids[s].torque = mo_v3(0, 0, 0);
    for (int32_t r = 0; r < b->rows && sim->def.solid_count; r++) press(sim, l->cell_at[r], b->x[r]);
    add_attached(sim, l);
    return MO_OK;
}
