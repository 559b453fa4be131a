// Forces of the liquid on solids are those of the system's rows: the solid gets the momentum that the liquid loses.
//
//     F = -R^T x        R: entries of the rows of pressure and stress for the velocity of a solid
//
// The system has R of rigid and elastic bodies. The velocities of fixed and scripted solids are known numbers; their R
// is made once the system is solved, from the parts of faces that they take.
#include "base/matrix3.h"
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

static void add_force(mo_solid *s, mo_vec3 force, mo_vec3 at)
{
    s->force = mo_add(s->force, force);
    s->torque = mo_add(s->torque, mo_cross(mo_sub(at, s->pose.position), force));
}

// The parts of the six faces of a cell that solids take.
typedef struct taken {
    double face[6]; // by those whose motion is prescribed
    double bodies;  // by the others, of all faces
    int32_t solid;  // of the first kind, that takes most; -1: none does
} taken;

static void add_cover(const mo_sim *sim, const mo_cover *cover, int32_t face, int k, taken *t, double *most)
{
    double part = cover->part[k / 2][face % MO_TILE_CELLS];
    if (mo_solid_is_body(&sim->solids[cover->solid]))
        t->bodies += part;
    else {
        t->face[k] += part;
        if (part > *most) *most = part, t->solid = cover->solid;
    }
}

static taken find_taken(const mo_sim *sim, int32_t index)
{
    const mo_openings *o = &sim->openings;
    taken t = {.solid = -1};
    double most = 0;
    for (int k = 0; k < 6; k++) {
        int32_t face = k & 1 ? mo_grid_step(sim->grid, index, k / 2, 1) : index, tile = face / MO_TILE_CELLS;
        if (face < 0 || sim->openings.area[k / 2][face] == 1) continue;
        for (int32_t c = o->first[tile]; c < o->first[tile + 1]; c++) add_cover(sim, &o->cover[c], face, k, &t, &most);
    }
    return t;
}

// The rows press with the pressure of a cell's centre. dp/dx = rho g continues it to the solid's surface. This adds the
// difference between the solid's part of the cell and the mean of its parts of two faces: the weight of liquid that no
// face of the system holds. (For bodies the liquid attached to them does this.) The solid's part of a cell that it
// shares with a body is not known.
static void add_weight(mo_sim *sim, int32_t index)
{
    MO_ASSERT(index >= 0 && index < mo_grid_cells(sim->grid));
    const mo_grid *g = sim->grid;
    int32_t c[3];
    taken t = find_taken(sim, index);
    if (t.solid < 0 || t.bodies > 0) return;
    mo_grid_cell(g, index, c);
    mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    double weight = sim->density * mo_grid_cell_volume(g);
    for (int a = 0; a < 3; a++) {
        int32_t high = mo_grid_step(g, index, a, 1);
        if (of_wall(sim, index, a) || high < 0 || of_wall(sim, high, a)) continue;
        double beyond = 1 - sim->openings.volume[index] - 0.5 * (t.face[2 * a] + t.face[2 * a + 1]);
        mo_vec3 e = {a == 0, a == 1, a == 2};
        add_force(&sim->solids[t.solid], mo_mul(-weight * mo_get(mo_sim_fall(sim), a) * beyond, e), centre);
    }
}

static int32_t prescribed_count(const mo_sim *sim) { return sim->solid_count - sim->bodies - sim->elastics.count; }

// Finds the forces of an inviscid liquid on prescribed solids.
static mo_status press_prescribed(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    int32_t count = sim->solid_count;
    const mo_liquid_system *l = &c->assemble.liquid;
    if (prescribed_count(sim) == 0) return MO_OK;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def def = mo_sim_pressure_def(sim, c, &solids);
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, 3 * count + 1);
    if (!v) return mo_fail_memory(err);
    for (int32_t s = 0; s < count; s++)
        v[s] = sim->solids[s].pose.position, v[count + s] = v[2 * count + s] = mo_v3(0, 0, 0);
    MO_TRY(mo_pressure_forces(&def, l, v, v + count, v + 2 * count, sim->arena, err));
    for (int32_t s = 0; s < count; s++)
        if (!mo_solid_is_body(&sim->solids[s]))
            sim->solids[s].force = v[count + s], sim->solids[s].torque = v[2 * count + s];
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++)
        if (l->cell_at[r] < mo_grid_cells(sim->grid)) add_weight(sim, l->cell_at[r]);
    return MO_OK;
}

// Finds the forces of a viscous liquid on prescribed solids. In viscous liquid every solid has covers.
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
        if (s->shell) s->shell->force = s->force, s->shell->torque = s->torque;
    }
    return MO_OK;
}

// The mean pressure round an elastic body, by the virial of the rows' forces f (over dx^3) on its vertices. Where they
// pull, as on stiff bodies that turn fast for their cells, it is 0: a pull that does not follow the body only brakes
// it.
static double pressure_round(const mo_sim *sim, const mo_elastic *e, const double *f)
{
    const mo_elastic_body *b = &e->body;
    if (b->cloth) return 0;
    mo_vec3 centre = sim->solids[e->solid].pose.position;
    double virial = 0, volume = 0;
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
        mo_vec3 arm = mo_sub(b->position[i / b->dimension], centre);
        virial += mo_grid_cell_volume(sim->grid) * f[i] * mo_get(arm, i % b->dimension);
    }
    for (int32_t i = 0; i < b->elements; i++) {
        double F[3][3];
        mo_elastic_deformation(b, b->position, i, F);
        volume += b->volume[i] * mo_det3((const double(*)[3])F);
    }
    return volume > 0 ? fmax(-virial / (b->dimension * volume), 0) : 0;
}

// Forces of the rows on vertices, in the arena; NULL: no memory.
static double *row_forces(const mo_sim *sim, const mo_system *y)
{
    double *force = MO_ARENA_ARRAY(sim->arena, double, y->nodes.count + 1);
    if (!force) return NULL;
    memset(force, 0, sizeof(double) * (size_t)y->nodes.count);
    mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_NODES, force);
    if (y->block[MO_BLOCK_STRESS]) mo_block_add_force(y->block[MO_BLOCK_STRESS], MO_NODES, force);
    return force;
}

mo_status mo_sim_measure_round(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    const double *force = row_forces(sim, &c->assemble.liquid.system);
    if (!force) return mo_fail_memory(err);
    for (int32_t k = 0; k < sim->elastics.count; k++)
        sim->elastics.body[k].pressure =
            pressure_round(sim, &sim->elastics.body[k], force + sim->elastics.body[k].first);
    return MO_OK;
}

// The force on an elastic body is the sum over its vertices.
static mo_status push_elastics(mo_sim *sim, const mo_liquid_system *l, mo_error *err)
{
    const mo_system *y = &l->system;
    double volume = mo_grid_cell_volume(sim->grid), *force = row_forces(sim, y);
    if (!force) return mo_fail_memory(err);
    mo_nodes_attached_force(&y->nodes, y->dt, force);
    mo_sim_add_cloth_kicks(sim, 0.5 / volume, force);
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
    MO_TRY(mo_sim_press_shells(sim, c, err));
    if (sim->bodies) MO_TRY(push_bodies(sim, l, err));
    if (sim->elastics.count) MO_TRY(mo_sim_measure_round(sim, c, err));
    if (sim->elastics.count) MO_TRY(push_elastics(sim, l, err));
    MO_TRY(sim->weighed ? press_and_shear_prescribed(sim, c, err) : press_prescribed(sim, c, err));
    MO_TRY(mo_sim_shear_shells(sim, c, err));
    if (sim->air.present) mo_sim_finish_air_forces(sim);
    return MO_OK;
}
