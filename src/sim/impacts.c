// Impacts of cloth, which contacts did not foresee. The velocities of the solve are followed through the step.
// Everything that would come too near to cloth becomes a contact, and the step is solved again. If impacts are still
// left after that, the motion is stopped.
#include "sim/sim.h"
#include "solid/cloth_contact.h"
#include "system/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mo_elastic *first_cloth(const mo_sim *sim)
{
    const mo_elastics *all = &sim->elastics;
    return all->body ? all->body + all->count - all->cloths : NULL;
}

void mo_sim_aim_cloth(mo_sim *sim, double dt)
{
    mo_elastic *e = first_cloth(sim);
    for (int32_t k = 0; k < sim->elastics.cloths; k++, e++)
        for (int32_t v = 0; v < e->body.vertices; v++)
            e->ends[v] = mo_mad(e->body.position[v], dt, e->pinned[v] ? e->script[v] : e->body.velocity[v]);
}

// Ends of the paths by the velocities of the solve.
static void follow_cloth(mo_sim *sim, const mo_step_context *c)
{
    mo_elastic *e = first_cloth(sim);
    for (int32_t k = 0; k < sim->elastics.cloths; k++, e++) {
        const double *v = c->assemble.liquid.system.nodes.velocity + e->first;
        for (int32_t i = 0; i < e->body.vertices; i++)
            e->ends[i] = mo_mad(e->body.position[i], c->dt, mo_v3(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
    }
}

// Rigid bodies move as the solve says.
static void follow_bodies(const mo_sim *sim, const mo_step_context *c, mo_collider *collider)
{
    const mo_group *bodies = &c->assemble.liquid.system.bodies;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        if (!sim->solids[i].rigid) continue;
        const double *v = mo_body_velocity((mo_group *)bodies, sim->body_of[i]);
        mo_rigid body = sim->solids[i].body;
        collider[i].velocity = body.velocity = mo_v3(v[0], v[1], v[2]);
        collider[i].angular_velocity = body.angular_velocity = mo_v3(v[3], v[4], v[5]);
        body.pose = sim->solids[i].pose;
        mo_rigid_move(&body, c->dt);
        collider[i].next = body.pose;
    }
}

static mo_status find_impacts(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    mo_colliders all = {0};
    size_t mark = mo_arena_mark(sim->arena);
    follow_cloth(sim, c);
    mo_status status = mo_sim_lay_colliders(sim, &all, err);
    if (status == MO_OK) {
        follow_bodies(sim, c, all.collider);
        status = mo_cloth_impacts_find(all.collider, all.count, c->dt, &sim->impacts, sim->arena, err);
    }
    mo_sim_release_colliders(&all);
    mo_arena_release(sim->arena, mark);
    return status;
}

static bool same_place(const mo_contact *a, const mo_contact *b)
{
    return a->a == b->a && a->b == b->b && a->feature == b->feature;
}

// Contacts that exist already get the new plane; the others are added behind them.
static mo_status merge(mo_sim *sim, mo_error *err)
{
    mo_contacts *all = &sim->contacts;
    int32_t old = all->count;
    int64_t capacity = all->capacity;
    if (!mo_reserve((void **)&all->contact, &capacity, old + sim->impacts.count, sizeof *all->contact))
        return mo_fail_memory(err);
    all->capacity = (int32_t)capacity;
    for (int32_t i = 0; i < sim->impacts.count; i++) {
        const mo_contact *impact = &sim->impacts.contact[i];
        int32_t lo = 0, hi = old;
        while (lo < hi) {
            int32_t middle = (lo + hi) / 2;
            if (mo_contact_order(&all->contact[middle], impact) < 0)
                lo = middle + 1;
            else
                hi = middle;
        }
        if (lo < old && same_place(&all->contact[lo], impact))
            all->contact[lo] = *impact;
        else
            all->contact[all->count++] = *impact;
    }
    qsort(all->contact, (size_t)all->count, sizeof *all->contact, mo_contact_order);
    return MO_OK;
}

static void remove_rows(mo_system *y)
{
    for (int k = 0; k < 2; k++) {
        int kind = k ? MO_BLOCK_FRICTION : MO_BLOCK_CONTACT;
        if (y->block[kind]) mo_block_destroy(y->block[kind]);
        y->block[kind] = NULL;
    }
    mo_free(y->friction), mo_free(y->tangent), mo_free(y->bounce);
    y->friction = y->bounce = NULL, y->tangent = NULL;
}

mo_status mo_sim_review_cloth(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    mo_system *y = &c->assemble.liquid.system;
    if (!sim->elastics.cloths) return MO_OK;
    MO_TRY(find_impacts(sim, c, err));
    if (!sim->impacts.count) return MO_OK;
    sim->stats.cloth.impacts += sim->impacts.count;
    *again = true;
    MO_TRY(mo_sim_keep_contacts(sim, c, err)); // the forces that the next solve begins with
    remove_rows(y);
    MO_TRY(merge(sim, err));
    mo_motion_set(y, c->solve.start);
    return mo_sim_add_contact_rows(sim, c, err);
}

mo_status mo_sim_check_crossing(mo_sim *sim, mo_error *err)
{
    mo_elastic *e = first_cloth(sim);
    int32_t a, b, count = sim->elastics.cloths;
    mo_drape *drape = MO_ARENA_ARRAY(sim->arena, mo_drape, count + 1);
    if (!drape) return mo_fail_memory(err);
    for (int32_t k = 0; k < count; k++) drape[k] = e[k].drape, drape[k].to = drape[k].from;
    if (!mo_drapes_cross(count, drape, &a, &b)) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': goes through %s%s%s at the start: move them apart",
                   sim->solids[e[a].solid].name, a == b ? "itself" : "'", a == b ? "" : sim->solids[e[b].solid].name,
                   a == b ? "" : "'");
}

// ---- Stopping ----

// Straight ways of vertices that turn lead through places where triangles are compressed: half of its way, cloth that
// buckles can have ten times the elastic energy that it has at either end. So the energy decides where to stop, too:
// that of cloth and rigid bodies, before the step or after it, potential energy counted from the places before it.
static double energy_of_bodies(const mo_sim *sim, const mo_step_context *c, bool after)
{
    const mo_group *bodies = &c->assemble.liquid.system.bodies;
    double sum = 0;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!s->rigid) continue;
        const double *v = mo_body_velocity((mo_group *)bodies, sim->body_of[i]);
        mo_rigid body = s->body;
        body.pose = s->pose;
        body.velocity = after ? mo_v3(v[0], v[1], v[2]) : s->velocity;
        body.angular_velocity = after ? mo_v3(v[3], v[4], v[5]) : s->angular_velocity;
        sum += mo_rigid_energy(&body);
        if (after) sum -= body.mass * c->dt * mo_dot(sim->def.gravity, body.velocity);
    }
    return sum;
}

static mo_status energy_of_cloth(const mo_sim *sim, const mo_step_context *c, const mo_elastic *e, bool after,
                                 double *energy)
{
    const mo_elastic_body *b = &e->body;
    const double *u = c->assemble.liquid.system.nodes.velocity + e->first;
    size_t mark = mo_arena_mark(sim->arena);
    mo_vec3 *end = MO_ARENA_ARRAY(sim->arena, mo_vec3, b->vertices + 1);
    if (!end) return MO_ERROR_MEMORY;
    mo_vec3 moved = {0, 0, 0}; // mass times way
    double kinetic = 0, elastic;
    for (int32_t i = 0; i < b->vertices; i++, u += 3) {
        mo_vec3 v = after ? mo_v3(u[0], u[1], u[2]) : b->velocity[i], step = mo_mul(after ? c->dt : 0, v);
        end[i] = mo_add(b->position[i], step);
        moved = mo_mad(moved, b->mass[i], step);
        kinetic += 0.5 * b->mass[i] * mo_dot(v, v);
    }
    mo_status status = mo_elastic_energy(b, end, NULL, sim->arena, &elastic);
    mo_arena_release(sim->arena, mark);
    *energy += kinetic + elastic - mo_dot(sim->def.gravity, moved);
    return status;
}

static mo_status energy_of(const mo_sim *sim, const mo_step_context *c, bool after, double *energy, mo_error *err)
{
    const mo_elastic *e = first_cloth(sim);
    *energy = energy_of_bodies(sim, c, after);
    for (int32_t k = 0; k < sim->elastics.cloths; k++, e++)
        if (energy_of_cloth(sim, c, e, after, energy) != MO_OK) return mo_fail_memory(err);
    return MO_OK;
}

// Slows down both cloth and rigid bodies: bodies that went on would pass through cloth that has stopped.
static void slow_down(const mo_sim *sim, mo_step_context *c, double part)
{
    mo_group *bodies = &c->assemble.liquid.system.bodies;
    for (int32_t i = 0; i < bodies->count; i++) bodies->velocity[i] *= part;
    const mo_elastic *e = first_cloth(sim);
    for (int32_t k = 0; k < sim->elastics.cloths; k++, e++) {
        double *v = c->assemble.liquid.system.nodes.velocity + e->first;
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++) v[i] *= part;
    }
}

// Whether nothing crosses and there is not more energy than `most`.
static mo_status may_go(mo_sim *sim, const mo_step_context *c, double most, bool *may, mo_error *err)
{
    double energy;
    MO_TRY(find_impacts(sim, c, err));
    *may = sim->impacts.count == 0;
    if (!*may) return MO_OK;
    MO_TRY(energy_of(sim, c, true, &energy, err));
    *may = energy <= most;
    return MO_OK;
}

// Stopped cloth and bodies may have as much energy as before the step, or as the solve gave them. Without any motion
// they have no more than before.
mo_status mo_sim_part_cloth(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    enum { HALVINGS = 12 };
    double before, solved;
    bool may;
    if (!sim->elastics.cloths || c->solve.repeats == 0) return MO_OK; // the last review found nothing
    MO_TRY(energy_of(sim, c, false, &before, err));
    MO_TRY(energy_of(sim, c, true, &solved, err));
    MO_TRY(may_go(sim, c, fmax(before, solved), &may, err));
    if (may) return MO_OK;
    sim->stats.cloth.stopped += sim->elastics.cloths;
    for (int k = 0; k <= HALVINGS && !may; k++) {
        slow_down(sim, c, k == HALVINGS ? 0 : 0.5);
        MO_TRY(may_go(sim, c, fmax(before, solved), &may, err));
    }
    return mo_sim_liquid_follows(sim, c, err);
}
