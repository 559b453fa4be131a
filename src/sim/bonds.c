// Bonds of vertices with rigid bodies: cloth that is attached to them, and the ends of cords. A bond is a contact that
// pulls as well as it pushes, along each of three axes, and is solved with all others.
//
// A vertex moves straight, while a point of a body turns about its centre. With V, w the motion of the body and r the
// arm of the point, the places fit together at the end of the step if
//
//     x + dt v = p + dt (V + w x r) + s,      s = (R(dt w) - 1) r - dt w x r
//
// Here s is found with the body's motion before the step. This leaves a gap of the third order in dt, which the next
// step closes. Without s the gap would be of second order, and closing it would do work at every step.
#include "sim/sim.h"
#include <stdlib.h>

void mo_sim_anchor_bonds(mo_sim *sim)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        for (int32_t v = 0; e->bond && v < e->body.vertices; v++)
            if (e->bond[v] >= 0) e->anchor[v] = mo_pose_to_body(sim->solids[e->bond[v]].pose, e->body.position[v]);
    }
}

// Where a point of a rigid solid will be, less what the velocities of the solve add to its place.
static mo_vec3 place_ahead(const mo_solid *s, mo_vec3 anchor, double dt)
{
    mo_rigid body = s->body;
    body.pose = s->pose, body.velocity = s->velocity, body.angular_velocity = s->angular_velocity;
    mo_vec3 arm = mo_sub(mo_pose_apply(s->pose, anchor), s->pose.position);
    mo_rigid_move(&body, dt);
    return mo_mad(mo_pose_apply(body.pose, anchor), -dt, mo_add(s->velocity, mo_cross(s->angular_velocity, arm)));
}

static void hold(const mo_sim *sim, const mo_elastic *e, int32_t v, double dt, mo_contacts *out)
{
    enum { OF_BOND = 3, KIND_SHIFT = 29 }; // no contact of cloth with a shape has this kind (cloth_contact.c)
    const mo_solid *s = &sim->solids[e->bond[v]];
    mo_vec3 point = mo_pose_apply(s->pose, e->anchor[v]),
            apart = mo_sub(place_ahead(s, e->anchor[v], dt), e->body.position[v]);
    for (int axis = 0; axis < 3; axis++) {
        mo_vec3 n = {axis == 0, axis == 1, axis == 2};
        out->contact[out->count++] =
            (mo_contact){.a = e->bond[v],
                         .b = e->solid,
                         .point = point,
                         .normal = n,
                         .gap = mo_dot(apart, n),
                         .bond = true,
                         .feature = (uint32_t)OF_BOND << KIND_SHIFT | (uint32_t)v << 2 | (uint32_t)axis,
                         .on = {{0}, {1, {v}, {1}}}};
    }
}

static int32_t count_bonds(const mo_elastic *e)
{
    int32_t count = 0;
    for (int32_t v = 0; e->bond && v < e->body.vertices; v++) count += e->bond[v] >= 0;
    return count;
}

mo_status mo_sim_add_bonds(mo_sim *sim, double dt, mo_error *err)
{
    mo_contacts *all = &sim->contacts;
    int64_t capacity = all->capacity, count = all->count;
    for (int32_t k = 0; k < sim->elastics.count; k++) count += 3 * (int64_t)count_bonds(&sim->elastics.body[k]);
    if (count == all->count) return MO_OK;
    if (!mo_reserve((void **)&all->contact, &capacity, count, sizeof *all->contact)) return mo_fail_memory(err);
    all->capacity = (int32_t)capacity;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        for (int32_t v = 0; e->bond && v < e->body.vertices; v++)
            if (e->bond[v] >= 0) hold(sim, e, v, dt, all);
    }
    qsort(all->contact, (size_t)all->count, sizeof *all->contact, mo_contact_order);
    return MO_OK;
}
