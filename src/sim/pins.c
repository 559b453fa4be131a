// Pins: vertices of elastic bodies and cloth that are held, stand still, follow a script, or go with a solid.
#include "sim/sim.h"

// ---- Which vertices are held ----

static mo_status is_inside(const mo_pin_def *p, mo_vec3 x, bool *inside, mo_error *err)
{
    if (!p->where) return p->where_fn(p->user, x, inside, err);
    *inside = mo_shape_distance(p->where, x) <= 0;
    return MO_OK;
}

// The ends of cords are held by what their cords say.
static int32_t vertices_of(const mo_elastic *e) { return e->body.vertices - (e->body.cloth ? e->body.cloth->ends : 0); }

// Vertices that several pins claim belong to the first of them.
static mo_status pin_vertices(mo_elastic *e, const char *name, int32_t k, const mo_pin_def *p, mo_error *err)
{
    int32_t count = 0;
    e->pins[k] = (mo_pin){p->motion, p->user, -1, mo_pose_identity(), mo_pose_identity(), mo_pose_identity()};
    for (int32_t v = 0; v < vertices_of(e); v++) {
        bool inside = false;
        MO_TRY(is_inside(p, e->body.rest[v], &inside, err));
        if (inside && e->pin[v] < 0) e->pin[v] = k, e->pinned[v] = 1;
        count += inside;
    }
    if (count) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s '%s': no vertex lies where pin %d is", mo_elastic_kind(e), name, k + 1);
}

static bool allocate(mo_elastic *e, int32_t pins)
{
    size_t vertices = (size_t)e->body.vertices;
    e->pins = mo_calloc(sizeof(mo_pin) * ((size_t)pins + 1)), e->pin_count = pins;
    e->pin = mo_alloc(sizeof(int32_t) * (vertices + 1)), e->pinned = mo_calloc(vertices + 1);
    e->script = mo_calloc(sizeof(mo_vec3) * (vertices + 1));
    e->target = mo_calloc(sizeof(double) * 3 * (vertices + 1)),
    e->follow = mo_calloc(sizeof(double) * 3 * (vertices + 1));
    return e->pins && e->pin && e->pinned && e->script && e->target && e->follow;
}

mo_status mo_elastic_hold(mo_elastic *e, const char *name, int32_t count, const mo_pin_def *pins, int32_t more,
                          mo_error *err)
{
    if (!allocate(e, count + more)) return mo_fail_memory(err);
    for (int32_t v = 0; v < e->body.vertices; v++) e->pin[v] = -1;
    for (int32_t k = 0; k < count + more; k++)
        e->pins[k] = (mo_pin){NULL, NULL, -1, mo_pose_identity(), mo_pose_identity(), mo_pose_identity()};
    for (int32_t k = 0; k < count; k++) MO_TRY(pin_vertices(e, name, k, &pins[k], err));
    return MO_OK;
}

mo_status mo_elastic_attach(mo_elastic *e, const char *name, int32_t pin, const mo_pin_def *where, int32_t solid,
                            mo_pose base, mo_error *err)
{
    MO_TRY(pin_vertices(e, name, pin, where, err));
    e->pins[pin].solid = solid, e->pins[pin].base = base;
    return MO_OK;
}

void mo_elastic_attach_vertex(mo_elastic *e, int32_t v, int32_t pin, int32_t solid, mo_pose base)
{
    e->pins[pin].solid = solid, e->pins[pin].base = base;
    e->pin[v] = pin, e->pinned[v] = 1;
}

static mo_status make_bonds(mo_elastic *e, mo_error *err)
{
    size_t vertices = (size_t)e->body.vertices + 1;
    if (e->bond) return MO_OK;
    e->bond = mo_alloc(sizeof *e->bond * vertices), e->anchor = mo_calloc(sizeof *e->anchor * vertices);
    if (!e->bond || !e->anchor) return mo_fail_memory(err);
    for (int32_t v = 0; v < e->body.vertices; v++) e->bond[v] = -1;
    return MO_OK;
}

mo_status mo_elastic_bond_vertex(mo_elastic *e, int32_t v, int32_t solid, mo_error *err)
{
    MO_TRY(make_bonds(e, err));
    e->bond[v] = solid;
    return MO_OK;
}

mo_status mo_elastic_bond(mo_elastic *e, const char *name, const mo_pin_def *where, int32_t solid, mo_error *err)
{
    int32_t count = 0;
    MO_TRY(make_bonds(e, err));
    for (int32_t v = 0; v < vertices_of(e); v++) {
        bool inside = false;
        MO_TRY(is_inside(where, e->body.rest[v], &inside, err));
        if (inside && e->pin[v] < 0 && e->bond[v] < 0) e->bond[v] = solid;
        count += inside;
    }
    if (count) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s '%s': no vertex lies where it is attached to a rigid solid",
                   mo_elastic_kind(e), name);
}

// Sets velocities from a velocity and a rotation about the centre of mass; pinned vertices have those of their scripts.
void mo_elastic_start_moving(mo_elastic *e, mo_vec3 v, mo_vec3 w)
{
    mo_elastic_body *b = &e->body;
    mo_vec3 centre = mo_elastic_measure(b).centre;
    if (b->dimension == 2) v.z = w.x = w.y = 0;
    for (int32_t k = 0; k < b->vertices; k++)
        b->velocity[k] = e->pinned[k] ? mo_v3(0, 0, 0) : mo_add(v, mo_cross(w, mo_sub(b->position[k], centre)));
}

// ---- Where they are held ----

bool mo_pin_moves(const mo_pin *p) { return p->motion || p->solid >= 0; }

// The pose that takes places at rest to the places where the solid has carried them.
static mo_status carried_pose(const mo_sim *sim, const mo_pin *p, double t, mo_pose *pose, mo_error *err)
{
    mo_pose now;
    MO_TRY(mo_solid_pose_at(&sim->solids[p->solid], t, &now, err));
    pose->rotation = mo_quat_mul(now.rotation, mo_quat_conj(p->base.rotation));
    pose->position = mo_sub(now.position, mo_quat_rotate(pose->rotation, p->base.position));
    return MO_OK;
}

static mo_status pose_of(const mo_sim *sim, const mo_elastic *e, int32_t k, double t, mo_pose *pose, mo_error *err)
{
    const mo_pin *p = &e->pins[k];
    *pose = mo_pose_identity();
    if (p->solid >= 0) return carried_pose(sim, p, t, pose, err);
    if (!p->motion) return MO_OK;
    MO_TRY(p->motion(p->user, t, pose, err));
    if (mo_pose_finite(*pose)) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s '%s': motion(%g) of pin %d is not finite", mo_elastic_kind(e),
                   sim->solids[e->solid].name, t, k + 1);
}

static mo_vec3 scripted_place(const mo_elastic *e, int32_t v, mo_pose pose)
{
    mo_vec3 x = mo_pose_apply(pose, e->body.rest[v]);
    if (e->body.dimension == 2) x.z = e->body.rest[v].z;
    return x;
}

mo_status mo_sim_place_pins(mo_sim *sim, mo_error *err)
{
    for (int32_t i = 0; i < sim->elastics.count; i++) {
        mo_elastic *e = &sim->elastics.body[i];
        for (int32_t k = 0; k < e->pin_count; k++) {
            mo_pose pose;
            MO_TRY(pose_of(sim, e, k, sim->time, &pose, err));
            for (int32_t v = 0; v < e->body.vertices; v++)
                if (e->pin[v] == k) e->body.position[v] = scripted_place(e, v, pose);
        }
    }
    return MO_OK;
}

mo_status mo_sim_ask_pins(mo_sim *sim, double dt, mo_error *err)
{
    for (int32_t i = 0; i < sim->elastics.count; i++) {
        mo_elastic *e = &sim->elastics.body[i];
        for (int32_t k = 0; k < e->pin_count; k++) {
            mo_pose pose;
            if (!mo_pin_moves(&e->pins[k])) continue;
            MO_TRY(pose_of(sim, e, k, sim->time, &e->pins[k].pose, err));
            MO_TRY(pose_of(sim, e, k, sim->time + dt, &pose, err));
            e->pins[k].next = pose;
            for (int32_t v = 0; v < e->body.vertices; v++)
                if (e->pin[v] == k)
                    e->script[v] = mo_mul(1 / dt, mo_sub(scripted_place(e, v, pose), e->body.position[v]));
        }
    }
    return MO_OK;
}
