// Stage `contacts`: where solids touch each other and the walls.
#include "sim/sim.h"
#include <math.h>

static mo_collider collider_of(const mo_sim *sim, const mo_solid *s)
{
    const mo_samples *samples = &sim->solids[s->twin].samples;
    const mo_elastic *e = s->elastic;
    if (e)
        return (mo_collider){.friction = s->friction,
                             .elastic = &e->surface,
                             .pinned = e->pinned,
                             .bond = e->bond,
                             .self_contact = e->self_contact,
                             .cloth = e->body.cloth ? &e->drape : NULL};
    return (mo_collider){.shape = s->shape,
                         .pose = s->pose,
                         .centre = s->centre,
                         .radius = s->radius,
                         .samples = samples->count ? samples : NULL,
                         .rigid = s->rigid,
                         .thin = s->shell != NULL,
                         .friction = s->friction,
                         .restitution = s->restitution,
                         .velocity = s->velocity,
                         .angular_velocity = s->angular_velocity,
                         .next = s->next};
}

static mo_status make_walls(const mo_sim *sim, mo_colliders *out)
{
    mo_vec3 size = mo_mul(sim->grid->dx, mo_v3(sim->cells[0], sim->cells[1], sim->cells[2]));
    for (int w = 0; w < MO_COLLIDER_WALLS; w++) {
        int axis = w / 2;
        double sign = w % 2 ? -1 : 1;
        bool flat = axis == 2 && sim->cells[2] == 1;
        if (!sim->def.domain.contact || flat || sim->def.domain.walls[w] == MO_WALL_OPEN) continue;
        mo_vec3 n = {axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0};
        out->wall[w] = mo_shape_plane(n, w % 2 ? -mo_get(size, axis) : 0);
        if (!out->wall[w]) return MO_ERROR_MEMORY;
    }
    return MO_OK;
}

mo_status mo_sim_lay_colliders(mo_sim *sim, mo_colliders *out, mo_error *err)
{
    *out = (mo_colliders){.collider = MO_ARENA_ARRAY(sim->arena, mo_collider, sim->solid_count + MO_COLLIDER_WALLS)};
    if (!out->collider || make_walls(sim, out) != MO_OK) return mo_fail_memory(err);
    for (int32_t i = 0; i < sim->solid_count; i++) out->collider[out->count++] = collider_of(sim, &sim->solids[i]);
    for (int w = 0; w < MO_COLLIDER_WALLS; w++)
        if (out->wall[w])
            out->collider[out->count++] = (mo_collider){.shape = out->wall[w],
                                                        .pose = mo_pose_identity(),
                                                        .next = mo_pose_identity(),
                                                        .radius = INFINITY,
                                                        .friction = sim->def.domain.friction,
                                                        .restitution = sim->def.domain.restitution};
    return MO_OK;
}

void mo_sim_release_colliders(mo_colliders *c)
{
    for (int w = 0; w < MO_COLLIDER_WALLS; w++)
        if (c->wall[w]) mo_shape_release(c->wall[w]);
}

// The largest speed of any solid's surface.
static double fastest(const mo_sim *sim)
{
    double most = 0;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        double turn = mo_norm(s->angular_velocity);
        double own = mo_norm(s->velocity) + (turn > 0 && isfinite(s->radius) ? turn * s->radius : 0);
        most = fmax(most, s->elastic ? mo_elastic_speed(s->elastic) : own);
    }
    return most;
}

static mo_status find(mo_sim *sim, double dt, mo_error *err)
{
    mo_colliders all = {0};
    const double ahead = 0.5 * sim->grid->dx + 2 * dt * (fastest(sim) + dt * mo_norm(sim->def.gravity));
    mo_contact_def def = {.reach = sim->def.solver.contact == MO_TOUCHING_OVERLAP ? 1e-9 * sim->grid->dx : ahead,
                          .two_dimensional = sim->cells[2] == 1,
                          .dt = dt};
    mo_status status = mo_sim_lay_colliders(sim, &all, err);
    if (status == MO_OK) status = mo_contacts_find(all.collider, all.count, &def, &sim->contacts, sim->arena, err);
    mo_sim_release_colliders(&all);
    return status;
}

mo_status mo_stage_contacts(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    if (!sim->bodies && !sim->elastics.count) return MO_OK;
    for (int32_t k = 0; k < sim->elastics.count; k++) mo_elastic_surface_update(&sim->elastics.body[k].surface);
    mo_sim_aim_cloth(sim, c->dt);
    MO_TRY(find(sim, c->dt, err));
    c->contacts.found = &sim->contacts;
    sim->stats.contacts = sim->contacts.count;
    for (int32_t i = 0; i < sim->contacts.count; i++)
        sim->stats.max_penetration = fmax(sim->stats.max_penetration, -sim->contacts.contact[i].gap);
    return mo_sim_add_bonds(sim, c->dt, err);
}
