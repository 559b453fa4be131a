// Functions of solids for the other stages: distance, normal, velocity, poses.
#include "sim/sim.h"
#include "system/solid_rows.h"
#include <math.h>

// Beyond the reach of the field, the box round the body gives a better bound.
static double elastic_distance(const mo_elastic *e, mo_vec3 x)
{
    double d = mo_elastic_field_distance(&e->field, x);
    if (d < e->field.reach * (1 - 1e-6)) return d;
    mo_vec3 out = {fmax(fmax(e->box.lo.x - x.x, x.x - e->box.hi.x), 0),
                   fmax(fmax(e->box.lo.y - x.y, x.y - e->box.hi.y), 0),
                   e->body.dimension == 3 ? fmax(fmax(e->box.lo.z - x.z, x.z - e->box.hi.z), 0) : 0};
    return fmax(d, mo_norm(out));
}

// The mean motion where no vertex is near.
static mo_vec3 elastic_velocity(const mo_solid *s, mo_vec3 x)
{
    const mo_elastic *e = s->elastic;
    int32_t vertex[MO_ELASTIC_WEIGHTS];
    double weight[MO_ELASTIC_WEIGHTS];
    int32_t count = mo_elastic_field_weights(&e->field, &e->body, x, vertex, weight);
    if (count == 0) return mo_add(s->velocity, mo_cross(s->angular_velocity, mo_sub(x, s->pose.position)));
    mo_vec3 v = {0, 0, 0};
    for (int32_t k = 0; k < count; k++) v = mo_mad(v, weight[k], e->body.velocity[vertex[k]]);
    return v;
}

double mo_solid_distance_at(const mo_solid *s, mo_vec3 x)
{
    if (s->shell) return INFINITY;
    if (s->elastic) return s->elastic->body.cloth ? INFINITY : elastic_distance(s->elastic, x);
    return mo_shape_distance(s->shape, s->motion || s->rigid ? mo_pose_to_body(s->pose, x) : x);
}

static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    return mo_solid_distance_at(&((const mo_sim *)user)->solids[solid], x);
}

mo_vec3 mo_solid_velocity_at(const mo_solid *s, mo_vec3 x)
{
    if (s->elastic && !s->elastic->body.cloth) return elastic_velocity(s, x);
    return mo_add(s->velocity, mo_cross(s->angular_velocity, mo_sub(x, s->pose.position)));
}

mo_vec3 mo_sim_solid_normal(const mo_sim *sim, int32_t solid, mo_vec3 x)
{
    const mo_solid *s = &sim->solids[solid];
    double h = 1e-3 * sim->grid->dx;
    mo_vec3 n = {mo_solid_distance_at(s, mo_v3(x.x + h, x.y, x.z)) - mo_solid_distance_at(s, mo_v3(x.x - h, x.y, x.z)),
                 mo_solid_distance_at(s, mo_v3(x.x, x.y + h, x.z)) - mo_solid_distance_at(s, mo_v3(x.x, x.y - h, x.z)),
                 mo_solid_distance_at(s, mo_v3(x.x, x.y, x.z + h)) - mo_solid_distance_at(s, mo_v3(x.x, x.y, x.z - h))};
    if (sim->cells[2] == 1) n.z = 0;
    return mo_normalize(n);
}

static mo_vec3 solid_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    MO_ASSERT(solid >= 0 && solid < ((const mo_sim *)user)->solid_count);
    const mo_sim *sim = user;
    const mo_solid *s = &sim->solids[solid];
    mo_vec3 v = mo_solid_velocity_at(s, x), belt = s->surface_velocity;
    if (!sim->viscous || (belt.x == 0 && belt.y == 0 && belt.z == 0)) return v;
    mo_vec3 n = mo_sim_solid_normal(sim, solid, x);
    return mo_add(v, mo_mad(belt, -mo_dot(belt, n), n));
}

// Finds the vertices that move a point of an elastic body, each along the axes of the direction.
static int32_t node_columns(const mo_elastic *e, mo_vec3 x, mo_vec3 direction, mo_column *out)
{
    int32_t vertex[MO_ELASTIC_WEIGHTS], d = e->body.dimension, n = 0;
    double weight[MO_ELASTIC_WEIGHTS];
    int32_t count = mo_elastic_field_weights(&e->field, &e->body, x, vertex, weight);
    for (int32_t k = 0; k < count; k++)
        for (int a = 0; a < d; a++)
            if (mo_get(direction, a) != 0)
                out[n++] = (mo_column){MO_NODES, e->first + d * vertex[k] + a, weight[k] * mo_get(direction, a)};
    return n;
}

static int32_t solid_columns(const void *user, int32_t solid, mo_vec3 x, mo_vec3 direction, mo_column *out)
{
    const mo_sim *sim = user;
    const mo_solid *s = &sim->solids[solid];
    if (s->elastic) return node_columns(s->elastic, x, direction, out);
    return mo_rigid_columns(sim->body_of[solid], mo_sub(x, sim->centre[solid]), direction, out);
}

static int32_t solid_pieces(const void *user, int32_t solid, int sample, const int32_t cell[3],
                            const mo_surface_piece **first, int32_t *unknown)
{
    const mo_elastic *e = ((const mo_sim *)user)->solids[solid].elastic;
    if (!e) return 0;
    const int32_t at[3] = {cell[0], cell[1], e->body.dimension == 3 ? cell[2] : 0}; // a plane is one cell deep
    *unknown = e->first;
    return mo_elastic_pieces_in(&e->pieces, sample, at, first);
}

static bool solid_near(const void *user, int32_t solid, mo_vec3 x, double reach)
{
    const mo_solid *s = &((const mo_sim *)user)->solids[solid];
    if (s->shell || (s->elastic && s->elastic->body.cloth)) return false; // it has no inside
    if (s->elastic) return mo_elastic_field_near(&s->elastic->field, x, reach);
    return fabs(mo_solid_distance_at(s, x)) <= reach;
}

mo_solid_set mo_sim_solid_set(const mo_sim *sim)
{
    mo_solid_set set = {.count = sim->solid_count, .distance = solid_distance, .user = sim};
    if (sim->moving) set.velocity = solid_velocity;
    set.slices = sim->air.present;
    set.slip = sim->slip;
    if (sim->bodies || sim->elastics.count)
        set.body = sim->body_of, set.centre = sim->centre, set.bodies = sim->bodies, set.faceted = sim->faceted;
    if (sim->elastics.count) set.columns = solid_columns, set.near = solid_near, set.nodes = sim->elastics.unknowns;
    if (sim->elastics.count && sim->def.solver.coupling == MO_COUPLING_POLYGONS) set.pieces = solid_pieces;
    for (int w = 0; w < 6; w++) {
        set.open_wall[w] = sim->def.domain.walls[w] == MO_WALL_OPEN;
        set.slip_wall[w] = sim->def.domain.walls[w] == MO_WALL_SLIP;
    }
    return set;
}

mo_surface_walls mo_sim_walls(const mo_sim *sim)
{
    mo_surface_walls walls = {.distance = sim->openings.distance, .area = sim->openings.area};
    for (int w = 0; w < 6; w++) walls.open_wall[w] = sim->def.domain.walls[w] == MO_WALL_OPEN;
    return walls;
}

mo_status mo_solid_pose_at(const mo_solid *s, double t, mo_pose *pose, mo_error *err)
{
    MO_TRY(s->motion(s->user, t, pose, err));
    if (!mo_pose_finite(*pose))
        return mo_fail(err, MO_ERROR_INPUT, "moving '%s': motion(%g) is not finite", s->name, t);
    return MO_OK;
}

double mo_solid_speed(const mo_solid *s)
{
    if (s->elastic) return mo_elastic_speed(s->elastic);
    double turn = mo_norm(s->angular_velocity);
    return mo_norm(s->velocity) + mo_norm(s->surface_velocity) +
           (turn > 0 && isfinite(s->radius) ? turn * (s->radius + mo_norm(s->centre)) : 0);
}

mo_status mo_sim_move_solids(mo_sim *sim, double dt, mo_error *err)
{
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (!s->motion) continue;
        MO_TRY(mo_solid_pose_at(s, sim->time + dt, &s->next, err));
        s->velocity = mo_mul(1 / dt, mo_sub(s->next.position, s->pose.position));
        s->angular_velocity = mo_mul(1 / dt, mo_quat_difference(s->pose.rotation, s->next.rotation));
    }
    MO_TRY(mo_shells_aim(&sim->shells, sim->time, dt, err));
    mo_sim_follow_shells(sim);
    return mo_sim_ask_pins(sim, dt, err);
}

bool mo_solid_beyond(const mo_solid *s, mo_vec3 x, double distance)
{
    return mo_solid_can_move(s) && mo_norm(mo_sub(x, mo_pose_apply(s->pose, s->centre))) - s->radius >= distance;
}

int32_t mo_sim_nearest_prescribed(const mo_sim *sim, mo_vec3 x)
{
    double best = INFINITY;
    int32_t nearest = -1;
    for (int32_t s = 0; s < sim->solid_count; s++) {
        if (mo_solid_is_body(&sim->solids[s]) || mo_solid_beyond(&sim->solids[s], x, best)) continue;
        double d = mo_solid_distance_at(&sim->solids[s], x);
        if (d < best) best = d, nearest = s;
    }
    return nearest;
}

mo_vec3 mo_sim_nearest_velocity(const mo_sim *sim, mo_vec3 x)
{
    double best = INFINITY;
    mo_vec3 v = {0, 0, 0};
    for (int32_t s = 0; s < sim->solid_count; s++) {
        if (mo_solid_beyond(&sim->solids[s], x, best)) continue;
        double d = mo_solid_distance_at(&sim->solids[s], x);
        if (d < best) best = d, v = solid_velocity(sim, s, x);
    }
    return v;
}
