// Rigid bodies of the simulation: creation, and their part of the system.
#include "sim/slits.h"
#include "system/contact_rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SAMPLES = 4000 };
static const double sample_spacing = 1;    // cells
static const double samples_in_radius = 3; // at least: the shape of a body of a cell or two must be known as well

// ---- Creation ----

// Finds the first body whose shape equals that of solid i apart from its place; i if there is none, -1 without memory.
// *from and *to: the places of the two.
static int32_t find_twin(const mo_sim *sim, const mo_solid_def *defs, int32_t i, mo_pose *from, mo_pose *to)
{
    const mo_shape *core = mo_shape_core(defs[i].shape, to);
    if (!core) return -1;
    int32_t twin = i;
    for (int32_t j = 0; j < i && twin == i; j++) {
        if (!sim->solids[j].rigid || sim->solids[j].twin != j || sim->cells[2] == 1) continue;
        const mo_shape *other = mo_shape_core(defs[j].shape, from);
        if (!other) twin = -1;
        if (other && mo_shape_equal(core, other)) twin = j;
        mo_shape_release(other);
    }
    mo_shape_release(core);
    return twin;
}

static mo_status create_body(mo_sim *sim, int32_t i, const mo_solid_def *defs, mo_error *err)
{
    MO_ASSERT(i >= 0 && i < sim->solid_count);
    mo_solid *s = &sim->solids[i];
    const mo_solid_def *def = &defs[i];
    char place[100];
    const mo_shape *shape;
    mo_pose from, to;
    snprintf(place, sizeof place, "rigid '%s'", s->name);
    bool flat = sim->cells[2] == 1;
    s->twin = find_twin(sim, defs, i, &from, &to);
    if (s->twin < 0) return mo_fail_memory(err);
    if (s->twin == i || !(isfinite(def->density) && def->density > 0)) {
        MO_TRY(mo_rigid_create(s->shape, def->density, flat, sim->grid->dx, place, &s->body, &shape, err));
    } else {
        mo_rigid first = sim->solids[s->twin].body;
        s->body = mo_rigid_twin(&first, def->density / defs[s->twin].density, from, to);
        shape = mo_shape_retain(sim->solids[s->twin].shape);
    }
    mo_shape_release(s->shape);
    s->shape = shape;
    s->volume = s->body.mass / def->density;
    s->pose = s->next = s->body.pose;
    s->velocity = def->velocity, s->angular_velocity = def->angular_velocity;
    if (flat) s->velocity.z = s->angular_velocity.x = s->angular_velocity.y = 0;
    mo_box3 box = mo_shape_bounds(shape);
    s->centre = mo_mul(0.5, mo_add(box.lo, box.hi));
    s->radius = 0.5 * mo_norm(mo_sub(box.hi, box.lo));
    mo_sim_find_round_axes(s, flat);
    return MO_OK;
}

mo_status mo_sim_create_bodies(mo_sim *sim, const mo_solid_def *defs, mo_error *err)
{
    int32_t count = sim->solid_count;
    sim->body_of = mo_alloc(sizeof(int32_t) * ((size_t)count + 1));
    sim->centre = mo_calloc(sizeof(mo_vec3) * ((size_t)count + 1));
    sim->faceted = mo_calloc((size_t)count + 1);
    if (!sim->body_of || !sim->centre || !sim->faceted) return mo_fail_memory(err);
    for (int32_t i = 0; i < count; i++) sim->body_of[i] = sim->solids[i].rigid ? sim->bodies++ : -1;
    for (int32_t i = 0, next = sim->bodies; i < count; i++)
        if (sim->solids[i].elastic) sim->body_of[i] = next++;
    for (int32_t i = 0; i < count; i++) {
        sim->solids[i].twin = i;
        if (sim->solids[i].rigid && !sim->solids[i].shell) {
            MO_TRY(create_body(sim, i, defs, err));
            sim->faceted[i] = mo_shape_is_faceted(sim->solids[i].shape);
        }
        sim->centre[i] = sim->solids[i].pose.position;
    }
    for (int32_t i = 0; i < count && (sim->bodies || sim->elastics.count); i++) {
        mo_solid *s = &sim->solids[i];
        if (!isfinite(s->radius) || s->twin != i || s->elastic || s->shell) continue;
        double spacing = fmin(sample_spacing * sim->grid->dx, s->radius / samples_in_radius);
        MO_TRY(sim->cells[2] == 1 ? mo_samples_create_2d(s->shape, spacing, MAX_SAMPLES, &s->samples, err)
                                  : mo_samples_create(s->shape, spacing, MAX_SAMPLES, &s->samples, err));
    }
    return MO_OK;
}

void mo_sim_destroy_bodies(mo_sim *sim)
{
    for (int32_t i = 0; i < sim->solid_count && sim->solids; i++) mo_samples_destroy(&sim->solids[i].samples);
    mo_contacts_destroy(&sim->contacts);
    mo_contacts_destroy(&sim->impacts);
    mo_slit_set_destroy(&sim->slits);
    mo_free(sim->kept), mo_free(sim->body_of), mo_free(sim->centre), mo_free(sim->faceted);
    mo_free(sim->openings.cover), mo_free(sim->openings.spare), mo_free(sim->cover_first);
}

// ---- The system ----

static mo_status add_masses(mo_sim *sim, double dt, mo_system *y, mo_error *err)
{
    double volume = mo_grid_cell_volume(sim->grid);
    if (!y->bodies.count && mo_bodies_create(sim->bodies, &y->bodies) != MO_OK) return mo_fail_memory(err);
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        int32_t b = sim->body_of[i];
        if (!s->rigid) continue;
        s->body.pose = s->pose;
        mo_mat3 inverse = mo_rigid_inertia_inverse(&s->body);
        mo_vec3 v = mo_mad(s->velocity, dt, mo_sim_fall(sim)), w = s->angular_velocity;
        mo_body_mass *m = &y->bodies.body[b];
        double *to = mo_body_velocity(&y->bodies, b);
        for (int a = 0; a < 3; a++) {
            m->inverse[a][a] = volume / s->body.mass;
            for (int c = 0; c < 3; c++)
                if (sim->cells[2] > 1 || (a == 2 && c == 2)) m->inverse[3 + a][3 + c] = volume * inverse.m[a][c];
            to[a] = mo_get(v, a), to[3 + a] = mo_get(w, a);
        }
        mo_body_mass_from_inverse(m);
    }
    return MO_OK;
}

// The load that may press on each body besides its own weight: the fluid that it displaces, if there is any, in volumes
// of cells.
static double *list_loads(const mo_sim *sim)
{
    double *load = MO_ARENA_ARRAY(sim->arena, double, sim->bodies + 1), cell = mo_grid_cell_volume(sim->grid);
    bool fluid = sim->particles.count || sim->air.present;
    for (int32_t i = 0; load && i < sim->solid_count; i++)
        if (sim->solids[i].rigid) load[sim->body_of[i]] = fluid ? sim->density * sim->solids[i].volume / cell : 0;
    return load;
}

static mo_vec3 velocity_without_belt(const void *user, int32_t solid, mo_vec3 x)
{
    return mo_solid_velocity_at(&((const mo_sim *)user)->solids[solid], x);
}

mo_status mo_sim_add_contact_rows(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_vec3 *belt = MO_ARENA_ARRAY(sim->arena, mo_vec3, sim->solid_count);
    int32_t *first_node = MO_ARENA_ARRAY(sim->arena, int32_t, sim->solid_count);
    const double *load = list_loads(sim);
    if (!belt || !first_node || !load) return mo_fail_memory(err);
    for (int32_t i = 0; i < sim->solid_count; i++) {
        belt[i] = sim->solids[i].surface_velocity;
        first_node[i] = sim->solids[i].elastic ? sim->solids[i].elastic->first : -1;
    }
    solids.velocity = velocity_without_belt;
    mo_contact_rows_def def = {.contacts = c->contacts.found,
                               .solids = &solids,
                               .belt = belt,
                               .first_node = first_node,
                               .dimension = sim->cells[2] == 1 ? 2 : 3,
                               .load = load,
                               .gravity = sim->def.gravity,
                               .dx = sim->grid->dx,
                               .dt = c->dt,
                               .margin = sim->def.solver.margin * sim->grid->dx,
                               .stabilisation = sim->def.solver.stabilisation,
                               .overlapping = sim->def.solver.contact == MO_TOUCHING_OVERLAP,
                               .node_softness = sim->def.solver.softness,
                               .slowest = 2 * c->dt * mo_norm(sim->def.gravity)};
    if (c->contacts.found) {
        MO_TRY(mo_contact_rows_add(&def, &c->assemble.liquid.system, err));
        mo_sim_warm_contacts(sim, c);
    }
    return MO_OK;
}

mo_status mo_sim_add_bodies(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_ASSERT(c->assemble.liquid.system.dt == c->dt);
    mo_liquid_system *system = &c->assemble.liquid;
    mo_system *y = &system->system;
    if (!sim->bodies && !sim->elastics.count) return MO_OK;
    if (sim->bodies) MO_TRY(add_masses(sim, c->dt, y, err));
    MO_TRY(mo_sim_add_elastics(sim, c, err));
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stress_def stress = mo_sim_stress_def(sim, c, &solids);
    mo_pressure_def pressure = mo_sim_pressure_def(sim, c, &solids);
    MO_TRY(sim->weighed ? mo_stress_attach(&stress, system, err) : mo_pressure_attach(&pressure, system, err));
    sim->stats.sheets.light = system->limited;
    mo_sim_hold_elastics(sim, c);
    MO_TRY(mo_sim_add_contact_rows(sim, c, err));
    return mo_sim_start_elastics(sim, c, err);
}

mo_status mo_sim_take_bodies(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    MO_ASSERT(mo_body_count(&c->assemble.liquid.system.bodies) == sim->bodies);
    const mo_system *y = &c->assemble.liquid.system;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (!s->rigid) continue;
        const double *v = mo_body_velocity(&y->bodies, sim->body_of[i]);
        s->velocity = mo_v3(v[0], v[1], v[2]), s->angular_velocity = mo_v3(v[3], v[4], v[5]);
        s->body.pose = s->pose, s->body.velocity = s->velocity, s->body.angular_velocity = s->angular_velocity;
        mo_rigid_move(&s->body, c->dt);
        s->next = s->body.pose;
    }
    mo_sim_lead_shells(sim);
    mo_sim_take_elastics(sim, c);
    return mo_sim_sweep_cloths(sim, c->dt, err);
}

void mo_sim_end_motion(mo_sim *sim)
{
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (s->rigid) s->angular_velocity = s->body.angular_velocity, sim->centre[i] = s->pose.position;
        if (s->rigid && s->shell) s->shell->angular_velocity = s->angular_velocity;
    }
}
