// Stage `contacts`: where solids touch each other and the walls.
#include "sim/sim.h"
#include <math.h>

enum { WALLS = 6 };

// Solids first, then the closed walls as half spaces: dot(normal, x) < offset is solid.
static int32_t lay_colliders(const mo_sim *sim, mo_collider *collider, const mo_shape *wall[WALLS])
{
    int32_t n = 0;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        const mo_samples *samples = &sim->solids[s->twin].samples;
        if (s->elastic) {
            collider[n++] = (mo_collider){.friction = s->friction,
                                          .elastic = &s->elastic->surface,
                                          .pinned = s->elastic->pinned,
                                          .self_contact = s->elastic->self_contact};
            continue;
        }
        collider[n++] = (mo_collider){.shape = s->shape,
                                      .pose = s->pose,
                                      .centre = s->centre,
                                      .radius = s->radius,
                                      .samples = samples->count ? samples : NULL,
                                      .rigid = s->rigid,
                                      .friction = s->friction,
                                      .restitution = s->restitution};
    }
    for (int w = 0; w < WALLS; w++)
        if (wall[w])
            collider[n++] = (mo_collider){.shape = wall[w],
                                          .pose = mo_pose_identity(),
                                          .radius = INFINITY,
                                          .friction = sim->def.domain.friction,
                                          .restitution = sim->def.domain.restitution};
    return n;
}

static mo_status make_walls(const mo_sim *sim, const mo_shape *wall[WALLS])
{
    mo_vec3 size = mo_mul(sim->grid->dx, mo_v3(sim->cells[0], sim->cells[1], sim->cells[2]));
    for (int w = 0; w < WALLS; w++) {
        int axis = w / 2;
        double sign = w % 2 ? -1 : 1;
        bool flat = axis == 2 && sim->cells[2] == 1;
        if (!sim->def.domain.contact || flat || sim->def.domain.walls[w] == MO_WALL_OPEN) continue;
        mo_vec3 n = {axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0};
        wall[w] = mo_shape_plane(n, w % 2 ? -mo_get(size, axis) : 0);
        if (!wall[w]) return MO_ERROR_MEMORY;
    }
    return MO_OK;
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

mo_status mo_stage_contacts(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_shape *wall[WALLS] = {0};
    mo_collider *collider = MO_ARENA_ARRAY(sim->arena, mo_collider, sim->solid_count + WALLS);
    double dx = sim->grid->dx;
    if (!sim->bodies && !sim->elastics.count) return MO_OK;
    mo_status status = collider ? make_walls(sim, wall) : MO_ERROR_MEMORY;
    for (int32_t k = 0; k < sim->elastics.count; k++) mo_elastic_surface_update(&sim->elastics.body[k].surface);
    if (status == MO_OK) {
        int32_t count = lay_colliders(sim, collider, wall);
        mo_contact_def def = {.reach = 0.5 * dx + 2 * c->dt * (fastest(sim) + c->dt * mo_norm(sim->def.gravity)),
                              .two_dimensional = sim->cells[2] == 1};
        status = mo_contacts_find(collider, count, &def, &sim->contacts, sim->arena, err);
    } else
        mo_fail_memory(err);
    for (int w = 0; w < WALLS; w++)
        if (wall[w]) mo_shape_release(wall[w]);
    MO_TRY(status);
    c->contacts.found = &sim->contacts;
    sim->stats.contacts = sim->contacts.count;
    for (int32_t i = 0; i < sim->contacts.count; i++)
        sim->stats.max_penetration = fmax(sim->stats.max_penetration, -sim->contacts.contact[i].gap);
    return MO_OK;
}
