// A dry world of elastic bodies, rigid bodies and fixed shapes, whose steps are made of the parts that a simulation's
// are: contacts, their rows with forces kept from the last step, the solve.
#ifndef ELASTIC_WORLD_H
#define ELASTIC_WORLD_H

#include "geometry/tets.h"
#include "solid/elastic_contact.h"
#include "solid/rigid.h"
#include "system/contact_rows.h"
#include "system/elastic_law.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_SOLIDS = 12 };

typedef struct world_kept {
    int32_t a, b;
    uint32_t feature;
    double normal;
    mo_vec3 friction;
} world_kept;

typedef struct dry_world {
    bool flat;
    double dx, dt;
    mo_vec3 gravity;
    mo_solver_def solver;
    int32_t count; // solids: elastic bodies first, then shapes, of which rigid ones may move
    int32_t elastics, rigids;
    mo_collider collider[WORLD_SOLIDS];
    mo_elastic_body body[WORLD_SOLIDS];
    mo_elastic_surface surface[WORLD_SOLIDS];
    uint8_t *pinned[WORLD_SOLIDS];
    mo_elastic_part part[WORLD_SOLIDS];
    mo_node_part node[WORLD_SOLIDS];
    double *target; // [nodes]
    int32_t first_node[WORLD_SOLIDS + 1];
    mo_samples samples[WORLD_SOLIDS];
    mo_rigid rigid[WORLD_SOLIDS];
    int32_t body_of[WORLD_SOLIDS];
    mo_vec3 centre[WORLD_SOLIDS];
    mo_vec3 script[WORLD_SOLIDS]; // velocities of shapes that are not rigid
    double reach;                 // m
    mo_contacts contacts;
    world_kept *kept;
    int32_t kept_count;
    mo_arena *arena;
    // Of the last step.
    mo_system_info info;
    double overlap;            // m, the largest at its start
    double *force;             // [contacts] N, normal
    mo_vec3 sum[WORLD_SOLIDS]; // N, of contacts on each solid
} dry_world;

static inline void world_must(bool ok)
{
    if (!ok) fprintf(stderr, "a call failed\n"), abort();
}

static inline dry_world *dry_world_create(bool flat, double dx, double dt)
{
    dry_world *w = calloc(1, sizeof *w);
    world_must(w);
    w->flat = flat, w->dx = dx, w->dt = dt, w->reach = 0.5 * dx;
    w->gravity = mo_v3(0, -9.81, 0);
    w->solver = (mo_solver_def){.tolerance = 1e-8, .max_iterations = 5000, .rounds = 2};
    w->arena = mo_arena_create();
    return w;
}

static inline void dry_world_destroy(dry_world *w)
{
    for (int32_t i = 0; i < w->count; i++) {
        if (i < w->elastics) {
            mo_elastic_surface_destroy(&w->surface[i]), mo_elastic_destroy(&w->body[i]);
            mo_node_part_destroy(&w->node[i]), free(w->pinned[i]);
        } else {
            mo_samples_destroy(&w->samples[i]), mo_shape_release(w->collider[i].shape);
        }
    }
    mo_contacts_destroy(&w->contacts);
    mo_arena_destroy(w->arena);
    free(w->target), free(w->kept), free(w->force), free(w);
}

// Takes over the mesh. Elastic bodies come before shapes.
static inline mo_elastic_body *world_elastic(dry_world *w, mo_tets *mesh, double young, double poisson, double density)
{
    int32_t i = w->count++;
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, poisson, 0);
    world_must(i == w->elastics && i < WORLD_SOLIDS);
    world_must(mo_elastic_create(mesh, &law, density, w->dx, &w->body[i]) == MO_OK);
    mo_tets_destroy(mesh);
    world_must(mo_elastic_surface_create(&w->body[i], &w->surface[i], NULL) == MO_OK);
    w->pinned[i] = calloc((size_t)w->body[i].vertices, 1);
    w->collider[i] = (mo_collider){.elastic = &w->surface[i], .pinned = w->pinned[i], .friction = 0.5};
    w->elastics++;
    w->body_of[i] = -1; // numbered when a step begins
    w->first_node[w->elastics] = w->first_node[i] + mo_elastic_unknowns(&w->body[i]);
    w->target = realloc(w->target, sizeof(double) * (size_t)w->first_node[w->elastics]);
    return &w->body[i];
}

static inline mo_elastic_body *world_block(dry_world *w, mo_vec3 size, mo_pose pose, double element, double young,
                                           double poisson, double density)
{
    mo_tets mesh;
    world_must(mo_tets_box(size, pose, element, w->flat, &mesh, NULL) == MO_OK);
    return world_elastic(w, &mesh, young, poisson, density);
}

static inline mo_pose pose_at(double x, double y, double z) { return (mo_pose){{x, y, z}, {1, 0, 0, 0}}; }

// Takes over the shape; density 0: it stays where it is, or moves as told. Returns its number.
static inline int32_t world_shape(dry_world *w, mo_shape *shape, mo_pose pose, double density)
{
    int32_t i = w->count++;
    world_must(shape && i < WORLD_SOLIDS);
    bool bounded = mo_shape_is_bounded(shape);
    w->collider[i] = (mo_collider){.shape = shape, .pose = pose, .rigid = density > 0, .friction = 0.5};
    w->body_of[i] = -1;
    if (density > 0) {
        const mo_shape *own;
        world_must(mo_rigid_create(shape, density, w->flat, w->dx, "body", &w->rigid[i], &own, NULL) == MO_OK);
        mo_shape_release(shape);
        w->collider[i].shape = own;
        w->rigid[i].pose.position = mo_add(w->rigid[i].pose.position, pose.position);
        w->rigid[i].pose.rotation = mo_quat_mul(pose.rotation, w->rigid[i].pose.rotation);
        w->collider[i].pose = w->rigid[i].pose;
        w->body_of[i] = w->rigids++;
    }
    shape = (mo_shape *)w->collider[i].shape;
    mo_box3 box = mo_shape_bounds(shape);
    w->collider[i].centre = bounded ? mo_mul(0.5, mo_add(box.lo, box.hi)) : mo_v3(0, 0, 0);
    w->collider[i].radius = bounded ? 0.5 * mo_norm(mo_sub(box.hi, box.lo)) : INFINITY;
    if (bounded) {
        world_must((w->flat ? mo_samples_create_2d : mo_samples_create)(shape, w->dx, 4000, &w->samples[i], NULL) ==
                   MO_OK);
        w->collider[i].samples = &w->samples[i];
    }
    return i;
}

static inline mo_vec3 world_script_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    return (void)x, ((const dry_world *)user)->script[solid];
}

static inline void world_find(dry_world *w)
{
    mo_contact_def def = {.reach = w->reach, .two_dimensional = w->flat};
    for (int32_t i = 0; i < w->elastics; i++) mo_elastic_surface_update(&w->surface[i]);
    world_must(mo_contacts_find(w->collider, w->count, &def, &w->contacts, w->arena, NULL) == MO_OK);
    w->overlap = 0;
    for (int32_t i = 0; i < w->contacts.count; i++) w->overlap = fmax(w->overlap, -w->contacts.contact[i].gap);
}

static inline void world_add_nodes(dry_world *w, mo_elastic_law *law, mo_system *s)
{
    int32_t d = w->flat ? 2 : 3;
    for (int32_t i = 0; i < w->elastics; i++) {
        mo_elastic_body *b = &w->body[i];
        double *target = w->target + w->first_node[i];
        if (!w->node[i].H.rows) world_must(mo_elastic_part_create(b, w->pinned[i], &w->node[i], NULL) == MO_OK);
        w->part[i].body = b, w->part[i].target = target;
        for (int32_t k = 0; k < d * b->vertices; k++) {
            bool pin = w->pinned[i][k / d];
            target[k] = mo_get(b->velocity[k / d], k % d) + (pin ? 0 : w->dt * mo_get(w->gravity, k % d));
        }
    }
    *law = (mo_elastic_law){w->part, w->dt, w->dx * w->dx * w->dx, w->arena};
    mo_node_law node_law = mo_elastic_law_of(law);
    world_must(mo_nodes_join(w->elastics, w->node, &node_law, &s->nodes, NULL) == MO_OK);
    memcpy(s->nodes.velocity, w->target, sizeof(double) * (size_t)s->nodes.count);
}

static inline void world_add_rigids(dry_world *w, mo_system *s)
{
    double volume = w->dx * w->dx * w->dx;
    if (!w->rigids) return;
    world_must(mo_bodies_create(w->rigids, &s->bodies) == MO_OK);
    for (int32_t i = w->elastics; i < w->count; i++) {
        if (w->body_of[i] < 0) continue;
        mo_rigid *r = &w->rigid[i];
        mo_mat3 inverse = mo_rigid_inertia_inverse(r);
        mo_body_mass *m = &s->bodies.body[w->body_of[i]];
        double *v = mo_body_velocity(&s->bodies, w->body_of[i]);
        mo_vec3 u = mo_mad(r->velocity, w->dt, w->gravity);
        for (int a = 0; a < 3; a++) {
            m->inverse[a][a] = volume / r->mass;
            for (int c = 0; c < 3; c++)
                if (!w->flat || (a == 2 && c == 2)) m->inverse[3 + a][3 + c] = volume * inverse.m[a][c];
            v[a] = mo_get(u, a), v[3 + a] = mo_get(r->angular_velocity, a);
        }
        mo_body_mass_from_inverse(m);
    }
}

static inline void world_warm(const dry_world *w, mo_system *s)
{
    for (int32_t i = 0, k = 0; i < w->contacts.count; i++) {
        const mo_contact *c = &w->contacts.contact[i];
        while (k < w->kept_count &&
               (w->kept[k].a < c->a ||
                (w->kept[k].a == c->a &&
                 (w->kept[k].b < c->b || (w->kept[k].b == c->b && w->kept[k].feature < c->feature)))))
            k++;
        const world_kept *o = &w->kept[k];
        if (k == w->kept_count || o->a != c->a || o->b != c->b || o->feature != c->feature) continue;
        s->block[MO_BLOCK_CONTACT]->x[i] = fmax(o->normal, 0);
        for (int t = 0; t < 2; t++)
            s->block[MO_BLOCK_FRICTION]->x[2 * i + t] = mo_dot(s->tangent[2 * i + t], o->friction);
    }
}

// The system of one step, of contacts that were found.
static inline void world_assemble(dry_world *w, mo_elastic_law *law, mo_system *s)
{
    *s = (mo_system){.dt = w->dt};
    world_add_nodes(w, law, s);
    world_add_rigids(w, s);
    for (int32_t i = 0; i < w->count; i++) w->centre[i] = w->rigid[i].pose.position;
    for (int32_t i = 0; i < w->elastics; i++) w->body_of[i] = w->rigids + i;
    mo_solid_set solids = {.count = w->count,
                           .body = w->body_of,
                           .centre = w->centre,
                           .bodies = w->rigids,
                           .nodes = s->nodes.count,
                           .velocity = world_script_velocity,
                           .user = w};
    mo_contact_rows_def def = {.contacts = &w->contacts,
                               .solids = &solids,
                               .first_node = w->first_node,
                               .dimension = w->flat ? 2 : 3,
                               .node_target = w->target,
                               .gravity = w->gravity,
                               .dx = w->dx,
                               .dt = w->dt,
                               .margin = 0.1 * w->dx,
                               .stabilisation = 0.2,
                               .slowest = 2 * w->dt * mo_norm(w->gravity)};
    world_must(mo_contact_rows_add(&def, s, NULL) == MO_OK);
    if (w->contacts.count) world_warm(w, s);
}

static inline void world_keep(dry_world *w, const mo_system *s)
{
    int32_t n = w->kept_count = w->contacts.count;
    w->kept = realloc(w->kept, sizeof *w->kept * ((size_t)n + 1));
    w->force = realloc(w->force, sizeof(double) * ((size_t)n + 1));
    memset(w->sum, 0, sizeof w->sum);
    for (int32_t i = 0; i < n; i++) {
        const mo_contact *c = &w->contacts.contact[i];
        const double *z = s->block[MO_BLOCK_FRICTION]->x + 2 * i;
        mo_vec3 friction = mo_mad(mo_mul(z[0], s->tangent[2 * i]), z[1], s->tangent[2 * i + 1]);
        double normal = s->block[MO_BLOCK_CONTACT]->x[i], unit = w->dx * w->dx; // N
        w->kept[i] = (world_kept){c->a, c->b, c->feature, normal, friction};
        w->force[i] = unit * normal;
        // B = -J / dx, and what rows do is -B^T x: a multiplier pushes a along the normal.
        mo_vec3 f = mo_mul(unit, mo_mad(friction, normal, c->normal));
        w->sum[c->a] = mo_add(w->sum[c->a], f), w->sum[c->b] = mo_sub(w->sum[c->b], f);
    }
}

static inline void world_move(dry_world *w, const mo_system *s)
{
    int32_t d = w->flat ? 2 : 3;
    for (int32_t i = 0; i < w->elastics; i++) {
        mo_elastic_body *b = &w->body[i];
        for (int32_t k = 0; k < b->vertices; k++) {
            const double *v = s->nodes.velocity + w->first_node[i] + d * k;
            b->velocity[k] = mo_v3(v[0], v[1], d == 3 ? v[2] : 0);
            b->position[k] = mo_mad(b->position[k], w->dt, b->velocity[k]);
        }
    }
    for (int32_t i = w->elastics; i < w->count; i++) {
        if (w->body_of[i] < 0) {
            w->collider[i].pose.position = mo_mad(w->collider[i].pose.position, w->dt, w->script[i]);
            continue;
        }
        const double *v = mo_body_velocity(&s->bodies, w->body_of[i]);
        w->rigid[i].velocity = mo_v3(v[0], v[1], v[2]), w->rigid[i].angular_velocity = mo_v3(v[3], v[4], v[5]);
        mo_rigid_move(&w->rigid[i], w->dt);
        w->collider[i].pose = w->rigid[i].pose;
    }
}

static inline void world_step(dry_world *w)
{
    mo_system s;
    mo_elastic_law law;
    mo_error err = {0};
    world_find(w);
    world_assemble(w, &law, &s);
    if (mo_system_solve(&s, &w->solver, &w->info, &err) != MO_OK) fprintf(stderr, "%s\n", err.text), abort();
    world_keep(w, &s);
    world_move(w, &s);
    mo_system_destroy(&s);
}

// J: of motion, of deformation and in gravity.
static inline double world_energy(const dry_world *w)
{
    double sum = 0;
    for (int32_t i = 0; i < w->elastics; i++) {
        mo_elastic_sums m = mo_elastic_measure(&w->body[i]);
        sum += m.kinetic + m.elastic - m.mass * mo_dot(w->gravity, m.centre);
    }
    for (int32_t i = w->elastics; i < w->count; i++) {
        const mo_rigid *r = &w->rigid[i];
        if (w->body_of[i] < 0) continue;
        sum += mo_rigid_energy(r) - r->mass * mo_dot(w->gravity, r->pose.position);
    }
    return sum;
}

#endif
