// A case for tests of elastic bodies in liquids: boxes in a tank, with a velocity that has divergence and strain.
#ifndef SOFT_TEST_H
#define SOFT_TEST_H

#include "cases/case.h"
#include "geometry/tets.h"
#include "system/contact_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct soft_def {
    int32_t cells;
    bool flat;
    double viscosity, young, poisson, element; // element: in cells
    bool rigid;                                // a rigid ball and a fixed one beside it
    bool pinned;                               // the left end
    bool second;                               // another box below
    bool heavy;                                // they fall
    bool seal;                                 // the lower one shuts in the liquid below it
    bool polygons;                             // rows are taken from pieces of surfaces
    bool drop;                                 // the liquid is a ball about the box, without walls
} soft_def;

typedef struct soft_case {
    mo_soft soft;
    mo_case c;
    mo_solid_set balls;
    int32_t number[2];
    mo_vec3 centre[2];
    mo_rigid rigid[1];
} soft_case;

static inline double soft_liquid(const void *user, mo_vec3 x)
{
    (void)user;
    return x.y - 0.83 - 0.05 * x.x;
}

static inline double soft_drop(const void *user, mo_vec3 x)
{
    bool flat = ((const mo_soft *)user)->body[0].dimension == 2;
    return mo_norm(mo_sub(x, mo_v3(0.46, 0.53, flat ? x.z : 0.5))) - 0.34;
}

static inline double soft_ball(const void *user, int32_t solid, mo_vec3 x)
{
    const soft_case *s = user;
    return mo_norm(mo_sub(x, s->centre[solid])) - 0.12;
}

static inline bool soft_pin(mo_vec3 x) { return x.x < 0.32; }

static inline void soft_add_box(soft_case *s, const soft_def *d, mo_vec3 at, double width, double angle, bool pinned)
{
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, d->young, d->poisson, 0);
    double dx = 1.0 / d->cells;
    if (d->flat) at.z = 0;
    pose.position = at, pose.rotation = mo_quat_axis_angle(mo_v3(0, 0, 1), angle);
    if (mo_tets_box(mo_v3(width, 0.19, 0.31), pose, d->element * dx, d->flat, &mesh, NULL) != MO_OK) abort();
    if (mo_soft_add(&s->soft, &mesh, &law, d->heavy ? 3000 : 300, dx, pinned ? soft_pin : NULL, NULL) != MO_OK) abort();
    mo_tets_destroy(&mesh);
    mo_elastic_body *b = &s->soft.body[s->soft.count - 1];
    for (int32_t i = 0; i < b->vertices; i++) {
        bool held = s->soft.pinned[s->soft.count - 1][i];
        b->velocity[i] =
            held ? mo_v3(0, 0, 0) : mo_v3(0.3, (d->heavy ? -3 : -1.2) + b->position[i].x, d->flat ? 0 : 0.2);
    }
}

static inline void soft_case_create(soft_case *s, const soft_def *d)
{
    *s = (soft_case){.number = {0, -1}};
    double z = d->flat ? 0 : 0.5, mass = d->flat ? 20 : 2, turn = 0.4 * mass * 0.12 * 0.12;
    s->centre[0] = mo_v3(0.8, 0.42, z), s->centre[1] = mo_v3(0.12, 0.2, z);
    s->balls = (mo_solid_set){.count = 2, .distance = soft_ball, .user = s, .body = s->number, .centre = s->centre};
    s->balls.bodies = 1;
    s->rigid[0] = (mo_rigid){.mass = mass, .pose = {s->centre[0], {1, 0, 0, 0}}, .velocity = {-0.5, -1, 0}};
    for (int a = 0; a < 3; a++) s->rigid[0].inertia.m[a][a] = turn, s->rigid[0].inverse.m[a][a] = 1 / turn;
    if (mo_soft_create(d->rigid ? &s->balls : NULL, &s->soft) != MO_OK) abort();
    s->soft.polygons = d->polygons;
    soft_add_box(s, d, mo_v3(0.43, 0.54, 0.52), 0.42, 0.3, d->pinned);
    if (d->second) soft_add_box(s, d, mo_v3(0.47, 0.22, 0.5), d->seal ? 1.4 : 0.42, -0.1, false);
    mo_case_def def = {.cells = {d->cells, d->cells, d->flat ? 1 : d->cells},
                       .dx = 1.0 / d->cells,
                       .liquid = d->drop ? soft_drop : soft_liquid,
                       .user = &s->soft,
                       .density = 1000,
                       .viscosity = d->viscosity,
                       .soft = &s->soft,
                       .rigid = d->rigid ? s->rigid : NULL};
    if (mo_case_create(&def, &s->c, NULL) != MO_OK) abort();
    mo_case_std_velocity(&s->c);
}

// Contacts as if other things touched the boxes: every vertex on the lower side of the last one stands on a floor that
// stays, some on the upper side of it are pushed by the first box, and the rigid ball pushes the first one.
static inline void soft_add_contacts(soft_case *s, mo_system *y, double friction)
{
    int32_t own = s->soft.others.count, last = s->soft.count - 1, first_node[8] = {0}, n = 0;
    const mo_elastic_body *b = &s->soft.body[last], *top = &s->soft.body[0];
    mo_contact *c = calloc((size_t)b->vertices * 2 + 2, sizeof *c);
    mo_vec3 across = last ? mo_v3(-sin(-0.1), cos(-0.1), 0) : mo_v3(-sin(0.3), cos(0.3), 0);
    mo_vec3 centre = mo_elastic_measure(b).centre;
    for (int32_t k = 0; k < s->soft.count; k++) first_node[own + k] = s->soft.first[k];
    for (int32_t v = 0; v < b->vertices; v++) {
        double height = mo_dot(mo_sub(b->position[v], centre), across);
        mo_contact one = {.point = b->position[v], .friction = friction, .feature = (uint32_t)v};
        mo_contact_place place = {1, {v}, {1}};
        if (height < -0.094) {
            one.a = own + last, one.b = s->soft.solids.count, one.normal = mo_v3(0, 1, 0), one.gap = -1e-4;
            one.on[0] = place;
            c[n++] = one;
        } else if (last && height > 0.094 && v % 2 == 0) {
            one.a = own, one.b = own + last, one.normal = across;
            one.on[0] = (mo_contact_place){2, {v % top->vertices, (v + 3) % top->vertices}, {0.3, 0.7}};
            one.on[1] = place;
            c[n++] = one;
        }
    }
    if (s->soft.others.count) {
        mo_contact ball = {
            .a = 0, .b = own, .normal = {1, 0, 0}, .friction = friction, .point = mo_v3(0.68, 0.42, 0.5)};
        ball.on[1] = (mo_contact_place){2, {0, 1}, {0.5, 0.5}};
        c[n++] = ball;
    }
    mo_contacts all = {.count = n, .contact = c};
    double dx = s->c.grid->dx;
    mo_contact_rows_def def = {.contacts = &all,
                               .solids = &s->soft.solids,
                               .first_node = first_node,
                               .dimension = b->dimension,
                               .dx = dx,
                               .dt = y->dt,
                               .margin = 0.1 * dx,
                               .stabilisation = 0.2,
                               .slowest = 0.1};
    if (mo_contact_rows_add(&def, y, NULL) != MO_OK) abort();
    free(c);
}

static inline void soft_case_destroy(soft_case *s)
{
    mo_case_destroy(&s->c);
    mo_soft_destroy(&s->soft);
}

#endif
