// Forces of the liquid on solids are those of the system's rows: what the liquid loses, the solid gets.
//
//     F = -R^T x        R: entries of the rows of pressure and stress for the velocity of a solid
//
// R of rigid and elastic bodies is part of the system. Of fixed and scripted solids, whose velocities are numbers, it
// is made here from what they cover of faces.
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// Whether the low face of a cell along an axis is one of the domain's walls, or beyond.
static bool of_wall(const mo_sim *sim, int32_t index, int axis)
{
    int32_t c[3];
    mo_grid_cell(sim->grid, index, c);
    return c[axis] <= MO_MARGIN || c[axis] >= sim->grid->n[axis] - MO_MARGIN;
}

// What rigid bodies take of a face; the rest of what is not open is that of prescribed solids.
static double covered_by_bodies(const mo_sim *sim, int32_t face, int axis)
{
    const mo_openings *o = &sim->openings;
    double sum = 0;
    if (!o->first) return 0;
    for (int32_t k = o->first[face / MO_TILE_CELLS]; k < o->first[face / MO_TILE_CELLS + 1]; k++)
        sum += o->cover[k].part[axis][face % MO_TILE_CELLS];
    return sum;
}

static void add_force(mo_solid *s, mo_vec3 force, mo_vec3 at)
{
    s->force = mo_add(s->force, force);
    s->torque = mo_add(s->torque, mo_cross(mo_sub(at, s->pose.position), force));
}

// Of inviscid liquids: a cell presses on what the nearest prescribed solid covers of its six faces, at the faces'
// centres. That is the pressure of the cell's centre: dp/dx = rho g takes it to where the surface lies, which makes the
// difference between the solid's part of the cell and the mean of its parts of two faces. (For rigid bodies the liquid
// attached to them does this.) The solid's part of a cell that it shares with a body is not known.
static void press(mo_sim *sim, int32_t index, double pressure)
{
    MO_ASSERT(index >= 0 && index < mo_grid_cells(sim->grid));
    const mo_grid *g = sim->grid;
    double taken[6], any = 0, bodies = 0; // of faces; those of walls are not the solids'
    bool inner[6];
    int32_t c[3];
    for (int k = 0; k < 6; k++) {
        int32_t face = k & 1 ? mo_grid_step(g, index, k / 2, 1) : index;
        inner[k] = face >= 0 && !of_wall(sim, face, k / 2);
        double covered = inner[k] ? covered_by_bodies(sim, face, k / 2) : 0;
        taken[k] = inner[k] ? fmax(1 - sim->openings.area[k / 2][face] - covered, 0) : 0;
        any += taken[k], bodies += covered;
    }
    if (any == 0) return;
    mo_grid_cell(g, index, c);
    mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    int32_t solid = mo_sim_nearest_prescribed(sim, centre);
    if (solid < 0 || mo_solid_distance_at(&sim->solids[solid], centre) >= 2 * g->dx) return;
    mo_solid *s = &sim->solids[solid];
    double area = g->dx * g->dx, weight = bodies > 0 ? 0 : sim->density * area * g->dx;
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

static int32_t prescribed_count(const mo_sim *sim) { return sim->solid_count - sim->bodies - sim->elastics.count; }

static void press_prescribed(mo_sim *sim, const mo_liquid_system *l)
{
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    for (int32_t r = 0; r < b->rows && prescribed_count(sim) > 0; r++) press(sim, l->cell_at[r], b->x[r]);
}

// Of viscous liquids every solid has covers.
static mo_status press_and_shear_prescribed(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    int32_t count = sim->solid_count;
    if (prescribed_count(sim) == 0) return MO_OK;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stress_def def = mo_sim_stress_def(sim, c, &solids);
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, 3 * count + 1);
    if (!v) return mo_fail_memory(err);
    for (int32_t s = 0; s < count; s++) v[s] = sim->solids[s].pose.position;
    MO_TRY(mo_stress_forces(&def, &c->assemble.liquid, v, v + count, v + 2 * count, sim->arena, err));
    for (int32_t s = 0; s < count; s++)
        if (!mo_solid_is_body(&sim->solids[s]))
            sim->solids[s].force = v[count + s], sim->solids[s].torque = v[2 * count + s];
    return MO_OK;
}

// The rows' force, and that of the liquid which moves with the body.
static mo_status push_bodies(mo_sim *sim, const mo_liquid_system *l, mo_error *err)
{
    const mo_system *y = &l->system;
    double volume = mo_grid_cell_volume(sim->grid), *force = MO_ARENA_ARRAY(sim->arena, double, y->bodies.count + 1);
    if (!force) return mo_fail_memory(err);
    memset(force, 0, sizeof(double) * (size_t)y->bodies.count);
    mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_BODIES, force);
    if (y->block[MO_BLOCK_STRESS]) mo_block_add_force(y->block[MO_BLOCK_STRESS], MO_BODIES, force);
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        int32_t b = sim->body_of[i];
        if (!s->rigid) continue;
        double attached[6] = {0};
        if (l->attached) mo_attached_force(&l->attached[b], mo_body_velocity(&y->bodies, b), y->dt, attached);
        for (int k = 0; k < 6; k++) attached[k] = volume * (attached[k] + force[MO_BODY_UNKNOWNS * b + k]);
        s->force = mo_v3(attached[0], attached[1], attached[2]);
        s->torque = mo_v3(attached[3], attached[4], attached[5]);
    }
    return MO_OK;
}

// Of elastic bodies the sum over their vertices.
static mo_status push_elastics(mo_sim *sim, const mo_liquid_system *l, mo_error *err)
{
    const mo_system *y = &l->system;
    double volume = mo_grid_cell_volume(sim->grid), *force = MO_ARENA_ARRAY(sim->arena, double, y->nodes.count + 1);
    if (!force) return mo_fail_memory(err);
    memset(force, 0, sizeof(double) * (size_t)y->nodes.count);
    mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_NODES, force);
    if (y->block[MO_BLOCK_STRESS]) mo_block_add_force(y->block[MO_BLOCK_STRESS], MO_NODES, force);
    mo_nodes_attached_force(&y->nodes, y->dt, force);
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        const mo_elastic_body *b = &e->body;
        const double *f = force + e->first;
        for (int32_t v = 0; v < b->vertices; v++, f += b->dimension)
            add_force(&sim->solids[e->solid],
                      mo_v3(volume * f[0], volume * f[1], b->dimension == 3 ? volume * f[2] : 0), b->position[v]);
    }
    return MO_OK;
}

mo_status mo_sim_measure_forces(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    const mo_liquid_system *l = &c->assemble.liquid;
    for (int32_t s = 0; s < sim->solid_count; s++) sim->solids[s].force = sim->solids[s].torque = mo_v3(0, 0, 0);
    if (sim->bodies) MO_TRY(push_bodies(sim, l, err));
    if (sim->elastics.count) MO_TRY(push_elastics(sim, l, err));
    if (sim->viscous) return press_and_shear_prescribed(sim, c, err);
    press_prescribed(sim, l);
    return MO_OK;
}
