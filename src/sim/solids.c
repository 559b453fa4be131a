// Fixed and scripted solids: poses, openings, collisions of particles, velocities at faces inside solids.
#include "base/parallel.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const mo_solid *s = &((const mo_sim *)user)->solids[solid];
    return mo_shape_distance(s->shape, s->motion || s->dynamic ? mo_pose_to_body(s->pose, x) : x);
}

mo_vec3 mo_solid_velocity_at(const mo_solid *s, mo_vec3 x)
{
    return mo_add(s->velocity, mo_cross(s->angular_velocity, mo_sub(x, s->pose.position)));
}

static mo_vec3 solid_normal(const mo_sim *sim, int32_t solid, mo_vec3 x)
{
    double h = 1e-3 * sim->grid->dx;
    mo_vec3 n = {
        solid_distance(sim, solid, mo_v3(x.x + h, x.y, x.z)) - solid_distance(sim, solid, mo_v3(x.x - h, x.y, x.z)),
        solid_distance(sim, solid, mo_v3(x.x, x.y + h, x.z)) - solid_distance(sim, solid, mo_v3(x.x, x.y - h, x.z)),
        solid_distance(sim, solid, mo_v3(x.x, x.y, x.z + h)) - solid_distance(sim, solid, mo_v3(x.x, x.y, x.z - h))};
    if (sim->cells[2] == 1) n.z = 0;
    return mo_normalize(n);
}

static mo_vec3 solid_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    const mo_sim *sim = user;
    const mo_solid *s = &sim->solids[solid];
    mo_vec3 v = mo_solid_velocity_at(s, x), belt = s->surface_velocity;
    if (!sim->viscous || (belt.x == 0 && belt.y == 0 && belt.z == 0)) return v;
    mo_vec3 n = solid_normal(sim, solid, x);
    return mo_add(v, mo_mad(belt, -mo_dot(belt, n), n));
}

mo_solid_set mo_sim_solid_set(const mo_sim *sim)
{
    mo_solid_set set = {.count = sim->def.solid_count, .distance = solid_distance, .user = sim};
    if (sim->moving) set.velocity = solid_velocity;
    set.slip = sim->slip;
    if (sim->bodies)
        set.body = sim->body_of, set.centre = sim->centre, set.bodies = sim->bodies, set.faceted = sim->faceted;
    for (int w = 0; w < 6; w++) {
        set.open_wall[w] = sim->def.domain.walls[w] == MO_WALL_OPEN;
        set.slip_wall[w] = sim->def.domain.walls[w] == MO_WALL_SLIP;
    }
    return set;
}

mo_surface_walls mo_sim_walls(const mo_sim *sim)
{
    mo_surface_walls walls = {.distance = sim->field.distance, .area = sim->field.area};
    for (int w = 0; w < 6; w++) walls.open_wall[w] = sim->def.domain.walls[w] == MO_WALL_OPEN;
    return walls;
}

mo_status mo_solid_pose_at(const mo_solid *s, double t, mo_pose *pose, mo_error *err)
{
    MO_TRY(s->motion(s->user, t, pose, err));
    const mo_quat *r = &pose->rotation;
    if (!mo_v3_finite(pose->position) || !isfinite(r->w + r->x + r->y + r->z))
        return mo_fail(err, MO_ERROR_INPUT, "moving '%s': motion(%g) is not finite", s->name, t);
    return MO_OK;
}

double mo_solid_speed(const mo_solid *s)
{
    double turn = mo_norm(s->angular_velocity);
    return mo_norm(s->velocity) + mo_norm(s->surface_velocity) +
           (turn > 0 && isfinite(s->radius) ? turn * (s->radius + mo_norm(s->centre)) : 0);
}

mo_status mo_sim_move_solids(mo_sim *sim, mo_error *err)
{
    for (int32_t i = 0; i < sim->def.solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (!s->motion) continue;
        MO_TRY(mo_solid_pose_at(s, sim->time + sim->dt, &s->next, err));
        s->velocity = mo_mul(1 / sim->dt, mo_sub(s->next.position, s->pose.position));
        s->angular_velocity = mo_mul(1 / sim->dt, mo_quat_difference(s->pose.rotation, s->next.rotation));
    }
    return MO_OK;
}

mo_status mo_sim_openings(mo_sim *sim, double time, mo_error *err)
{
    MO_TRY(mo_sim_reserve_covers(sim, err));
    mo_solid_set set = mo_sim_solid_set(sim);
    mo_fields *f = &sim->field;
    mo_openings out = {.volume = f->volume, .distance = f->distance};
    for (int a = 0; a < 3; a++) out.area[a] = f->area[a], out.flux[a] = f->flux[a];
    if (sim->bodies && !sim->viscous) out.cover = sim->cover, out.spare = sim->spare, out.first = sim->cover_first;
    mo_openings_compute(sim->grid, &set, &out);
    mo_sim_emitter_openings(sim, time);
    return MO_OK;
}

// ---- Forces ----

// Whether the low face of a cell along an axis is one of the domain's walls, or beyond.
static bool of_wall(const mo_sim *sim, int32_t index, int axis)
{
    int32_t c[3];
    mo_grid_cell(sim->grid, index, c);
    return c[axis] <= MO_MARGIN || c[axis] >= sim->grid->n[axis] - MO_MARGIN;
}

// Whether the ball round a solid that moves tells that x is at least `distance` away: cheaper than the shape itself.
static bool beyond(const mo_solid *s, mo_vec3 x, double distance)
{
    return (s->motion || s->dynamic) && mo_norm(mo_sub(x, mo_pose_apply(s->pose, s->centre))) - s->radius >= distance;
}

static int32_t nearest_solid(const mo_sim *sim, mo_vec3 x, double within)
{
    int32_t nearest = -1;
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        if (beyond(&sim->solids[s], x, within)) continue;
        double d = solid_distance(sim, s, x);
        if (d < within) within = d, nearest = s;
    }
    return nearest;
}

static void add_force(mo_solid *s, mo_vec3 force, mo_vec3 at)
{
    s->force = mo_add(s->force, force);
    s->torque = mo_add(s->torque, mo_cross(mo_sub(at, s->pose.position), force));
}

// The force of Frp p = -Q WS^u G WL^p: each cell presses on what solids cover of its six faces, at the faces' centres.
// That is the pressure of the cell's centre: beside a solid that the solve does not move, dp/dx = rho g takes it to
// where the surface lies, which makes the difference between the solid's part of the cell and the mean of its parts of
// two faces. For rigid bodies the liquid attached to them does this.
static void press(mo_sim *sim, int32_t index, double pressure)
{
    const mo_grid *g = sim->grid;
    double taken[6], any = 0; // of faces; those of walls are not the solids'
    bool inner[6];
    int32_t c[3];
    for (int k = 0; k < 6; k++) {
        int32_t face = k & 1 ? mo_grid_step(g, index, k / 2, 1) : index;
        inner[k] = face >= 0 && !of_wall(sim, face, k / 2);
        taken[k] = inner[k] ? 1 - sim->field.area[k / 2][face] : 0, any += taken[k];
    }
    if (any == 0) return;
    mo_grid_cell(g, index, c);
    mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    int32_t solid = nearest_solid(sim, centre, 2 * g->dx);
    if (solid < 0) return;
    mo_solid *s = &sim->solids[solid];
    double area = g->dx * g->dx, weight = s->dynamic ? 0 : sim->density * area * g->dx;
    for (int a = 0; a < 3; a++) {
        mo_vec3 e = {a == 0, a == 1, a == 2};
        for (int side = 0; side < 2; side++)
            add_force(s, mo_mul((side ? 1 : -1) * pressure * area * taken[2 * a + side], e),
                      mo_mad(centre, (side - 0.5) * g->dx, e));
        if (!inner[2 * a] || !inner[2 * a + 1]) continue;
        double beyond = 1 - sim->field.volume[index] - 0.5 * (taken[2 * a] + taken[2 * a + 1]);
        add_force(s, mo_mul(-weight * mo_get(sim->def.gravity, a) * beyond, e), centre);
    }
}

// What liquid that moves with bodies does to them.
static void add_attached(mo_sim *sim)
{
    const mo_liquid_system *l = &sim->stokes.liquid;
    double volume = pow(sim->grid->dx, 3), f[6];
    for (int32_t i = 0; i < sim->def.solid_count && l->attached; i++) {
        mo_solid *s = &sim->solids[i];
        int32_t b = sim->body_of[i];
        if (b < 0) continue;
        mo_attached_force(&l->attached[b], mo_body_velocity(&l->system.bodies, b), l->system.dt, f);
        s->force = mo_mad(s->force, volume, mo_v3(f[0], f[1], f[2]));
        s->torque = mo_mad(s->torque, volume, mo_v3(f[3], f[4], f[5]));
    }
}

static mo_status measure_viscous_forces(mo_sim *sim, mo_error *err)
{
    int32_t count = sim->def.solid_count;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stokes_def def = mo_sim_stokes_def(sim, &solids);
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, 3 * count + 1);
    if (!v) return mo_fail_memory(err);
    for (int32_t s = 0; s < count; s++) v[s] = sim->solids[s].pose.position;
    MO_TRY(mo_stokes_forces(&def, &sim->stokes, v, v + count, v + 2 * count, sim->arena, err));
    for (int32_t s = 0; s < count; s++) sim->solids[s].force = v[count + s], sim->solids[s].torque = v[2 * count + s];
    add_attached(sim);
    return MO_OK;
}

mo_status mo_sim_measure_forces(mo_sim *sim, mo_error *err)
{
    const mo_liquid_system *l = &sim->stokes.liquid;
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    if (sim->viscous) return measure_viscous_forces(sim, err);
    for (int32_t s = 0; s < sim->def.solid_count; s++) sim->solids[s].force = sim->solids[s].torque = mo_v3(0, 0, 0);
    for (int32_t r = 0; r < b->rows && sim->def.solid_count; r++) press(sim, l->cell_at[r], b->x[r]);
    add_attached(sim);
    return MO_OK;
}

// ---- Particles ----

enum { GAP_PERCENT = 1 }; // particles stay this part of a cell away from walls and solids

// Whether x lies beyond a closed wall; *inward: the wall's normal, towards the domain.
static bool beyond_wall(const mo_sim *sim, mo_vec3 x, mo_vec3 *inward)
{
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++)
        for (int side = 0; side < 2; side++) {
            double past = side ? mo_get(x, a) - sim->cells[a] * sim->grid->dx : -mo_get(x, a), sign = side ? -1 : 1;
            if (past <= 0 || sim->def.domain.walls[2 * a + side] == MO_WALL_OPEN) continue;
            *inward = mo_v3(a == 0 ? sign : 0, a == 1 ? sign : 0, a == 2 ? sign : 0);
            return true;
        }
    return false;
}

// Whether x, which lies outside of a solid along its normal n, lies in another one whose surface faces it: both touch
// there. *inward: the normal of the other one.
static bool beyond_seam(const mo_sim *sim, int32_t solid, mo_vec3 x, mo_vec3 n, mo_vec3 *inward)
{
    const double facing = -0.9999; // cosine; elsewhere the wedge between both is left
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        if (s == solid || solid_distance(sim, s, x) >= 0) continue;
        *inward = solid_normal(sim, s, x);
        if (mo_dot(*inward, n) < facing) return true;
    }
    return false;
}

// A solid that ends at a wall or at another solid has no surface there, though its distance knows one. Out of the solid
// leads the plane of the surface that is nearest a little further from that end; in a corner, from both ends. Changes
// the distance d at y and the normal n, to a direction along the ends.
static void turn_from_ends(const mo_sim *sim, int32_t solid, mo_vec3 y, double gap, double *d, mo_vec3 *n)
{
    static const double offsets[] = {0.03, 0.1, 0.3, 1}; // cells
    mo_vec3 inward, from = {0, 0, 0};                    // the sum of the ends' normals
    for (int end = 0; end < 2; end++) {
        mo_vec3 target = mo_mad(y, gap - *d, *n);
        bool turned = false;
        if (!beyond_wall(sim, target, &inward) && !beyond_seam(sim, solid, target, *n, &inward)) return;
        mo_vec3 last = from;
        from = mo_add(from, inward);
        for (int k = 0; k < 4 && !turned; k++) {
            double offset = offsets[k] * sim->grid->dx;
            mo_vec3 inner = mo_mad(y, offset, from), m = solid_normal(sim, solid, inner);
            mo_vec3 way = mo_mad(mo_mad(m, -mo_dot(m, inward), inward), -mo_dot(m, last), last);
            double length = mo_norm(way), distance = solid_distance(sim, solid, inner) - offset * mo_dot(m, from);
            if (length < 0.3) continue; // still its end
            if (distance >= gap) return;
            *n = mo_mul(1 / length, way), *d = gap - (gap - distance) / length, turned = true;
        }
        if (!turned) return;
    }
}

// Pushes x (m) out of the solid and takes the inward part of v relative to it. A particle that came along `way`,
// relative to the solid, is put back to where it first met the solid (half-cell samples), so that nothing passes a wall
// of a cell or more. A scripted solid adds the work it does, per mass, to *work. solved: the liquid takes part in the
// solve, which gives a rigid body the momentum that the liquid loses; here the body would get nothing, so v stays.
static bool push_out(const mo_sim *sim, int32_t solid, mo_vec3 way, bool solved, mo_vec3 *x, mo_vec3 *v, double *work)
{
    const mo_solid *s = &sim->solids[solid];
    double gap = GAP_PERCENT / 100.0 * sim->grid->dx;
    mo_vec3 y = *x;
    if (sim->cells[2] == 1) way.z = 0;
    double length = mo_norm(way);
    if ((s->motion || s->dynamic) && mo_norm(mo_sub(*x, mo_pose_apply(s->pose, s->centre))) > s->radius + length + gap)
        return false;
    double d = solid_distance(sim, solid, *x);
    if (d > length + gap) return false;
    int32_t samples = (int32_t)fmin(ceil(length / (0.5 * sim->grid->dx)), 16);
    for (int32_t k = samples - 1; k > 0; k--) {
        mo_vec3 before = mo_mad(*x, -(double)k / samples, way);
        double there = solid_distance(sim, solid, before);
        if (there >= 0) continue;
        y = before, d = there;
        break;
    }
    if (d >= gap) return false;
    mo_vec3 n = solid_normal(sim, solid, y);
    turn_from_ends(sim, solid, y, gap, &d, &n);
    *x = mo_mad(y, gap - d, n);
    if (s->dynamic && solved) return true;
    mo_vec3 own = mo_solid_velocity_at(s, *x);
    double inward = mo_dot(mo_sub(*v, own), n);
    if (inward < 0) *v = mo_mad(*v, -inward, n);
    if (inward < 0 && s->motion) *work -= inward * mo_dot(n, own);
    return true;
}

static void put_particle(mo_sim *sim, int32_t q, mo_vec3 x, mo_vec3 v)
{
    for (int a = 0; a < 3; a++) {
        sim->particles.x[a][q] = (float)((mo_get(x, a) - mo_get(sim->grid->origin, a)) / sim->grid->dx);
        sim->particles.v[a][q] = (float)mo_get(v, a);
    }
}

// Out of the wedge between two solids, where pushing by one and the other in turn would take ever so long: along both
// normals at once, as far as planes would ask for.
static void leave_wedge(const mo_sim *sim, int32_t one, int32_t other, mo_vec3 *x)
{
    enum { STEPS = 3 };
    double dx = sim->grid->dx, gap = GAP_PERCENT / 100.0 * dx;
    for (int k = 0; k < STEPS; k++) {
        double p = gap - solid_distance(sim, one, *x), q = gap - solid_distance(sim, other, *x);
        if (p <= 0 && q <= 0) return;
        mo_vec3 n = solid_normal(sim, one, *x), m = solid_normal(sim, other, *x);
        double cosine = mo_dot(n, m), rest = 1 - cosine * cosine;
        if (rest < 1e-6) return;
        p = fmax(p, 0), q = fmax(q, 0);
        mo_vec3 way = mo_mad(mo_mul((p - cosine * q) / rest, n), (q - cosine * p) / rest, m);
        double length = mo_norm(way);
        *x = mo_mad(*x, length > dx ? dx / length : 1, way);
    }
}

// Whether the liquid at x takes part in the solve: what flies alone does not.
static bool in_solve(const mo_sim *sim, mo_vec3 x)
{
    mo_vec3 c = mo_mul(1 / sim->grid->dx, mo_sub(x, sim->grid->origin));
    int32_t cell = mo_grid_index(sim->grid, (int32_t)floor(c.x), (int32_t)floor(c.y), (int32_t)floor(c.z));
    return cell >= 0 && (sim->field.phase[cell] == MO_PHASE_LIQUID || sim->field.phase[cell] == MO_PHASE_SLAVED);
}

// Returns the work of scripted solids, in units of the mass of a cell.
static double collide_with_solids(mo_sim *sim, int32_t q, bool swept)
{
    const mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    mo_vec3 x = mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]), v = {p->v[0][q], p->v[1][q], p->v[2][q]};
    mo_vec3 from = x;
    if (swept) from = mo_grid_world(g, sim->came_from[0][q], sim->came_from[1][q], sim->came_from[2][q]);
    double work = 0;
    bool moved = false, again = false, solved = sim->bodies > 0 && in_solve(sim, from);
    int32_t met[2] = {-1, -1};                // the last two that pushed
    for (int round = 0; round < 4; round++) { // a corner between solids needs more than one push
        again = false;
        for (int32_t s = 0; s < sim->def.solid_count; s++) {
            mo_vec3 way = {0, 0, 0};
            if (swept && round == 0) way = mo_mad(mo_sub(x, from), -sim->dt, mo_solid_velocity_at(&sim->solids[s], x));
            if (!push_out(sim, s, way, solved, &x, &v, &work)) continue;
            if (met[0] != s) met[1] = met[0], met[0] = s;
            again = true;
        }
        moved |= again;
        if (!again) break;
        if (round > 0 && met[1] >= 0) leave_wedge(sim, met[0], met[1], &x);
    }
    if (!moved) return 0;
    // At a seam solids push one into the other: back to where it came from.
    if (again && swept && mo_sim_inside_solid(sim, x) && !mo_sim_inside_solid(sim, from)) x = from;
    put_particle(sim, q, x, v);
    return p->volume[q] * work;
}

// Where particles must stay along an axis: 0.01 cells off closed walls.
static void wall_range(const mo_sim *sim, int axis, float range[2])
{
    const float gap = GAP_PERCENT / 100.0f;
    const bool flat = axis == 2 && sim->cells[2] == 1;
    range[0] = sim->def.domain.walls[2 * axis] == MO_WALL_OPEN && !flat ? -INFINITY : (float)MO_MARGIN + gap;
    range[1] = sim->def.domain.walls[2 * axis + 1] == MO_WALL_OPEN && !flat
                   ? INFINITY
                   : (float)(sim->grid->n[axis] - MO_MARGIN) - gap;
}

static inline void hold(const float range[2], float *x, float *v)
{
    if (*x >= range[0] && *x <= range[1]) return;
    bool high = *x > range[1]; // what is not a number goes to the low wall
    if (isinf(range[high])) return;
    *x = range[high];
    if (high ? *v > 0 : *v < 0) *v = 0;
}

static void collide_with_walls(mo_sim *sim, int32_t q)
{
    for (int a = 0; a < 3; a++) {
        float range[2];
        wall_range(sim, a, range);
        hold(range, &sim->particles.x[a][q], &sim->particles.v[a][q]);
    }
}

static void collide_all_with_walls(mo_sim *sim)
{
    mo_particles *p = &sim->particles;
    for (int a = 0; a < 3; a++) {
        float range[2], *x = p->x[a], *v = p->v[a];
        wall_range(sim, a, range);
#pragma omp parallel for schedule(static)
        for (int32_t q = 0; q < p->count; q++) hold(range, &x[q], &v[q]);
    }
}

// Solids stand where they will be at the end of the step; `ahead` seconds before it they and all round them lie back by
// their velocity.
void mo_sim_collide_part(void *user, int32_t q, const float from[3], double part, double ahead)
{
    mo_sim *sim = user;
    const mo_particles *p = &sim->particles;
    collide_with_walls(sim, q);
    mo_vec3 x = mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
    mo_vec3 v = {p->v[0][q], p->v[1][q], p->v[2][q]}, start = mo_grid_world(sim->grid, from[0], from[1], from[2]);
    bool moved = false, again = sim->def.solid_count > 0;
    double work = 0; // of single particles: not counted
    for (int round = 0; round < 3 && again; round++) {
        again = false;
        for (int32_t s = 0; s < sim->def.solid_count; s++) {
            mo_vec3 speed = mo_solid_velocity_at(&sim->solids[s], x), shift = mo_mul(ahead, speed),
                    y = mo_add(x, shift);
            mo_vec3 way = round == 0 ? mo_mad(mo_sub(x, start), -part, speed) : mo_v3(0, 0, 0);
            if (!push_out(sim, s, way, false, &y, &v, &work)) continue;
            x = mo_sub(y, shift), again = true;
        }
        moved |= again;
    }
    if (moved) put_particle(sim, q, x, v);
    collide_with_walls(sim, q);
}

// The walls come last: a solid that leaves the domain must not take liquid along. After the sort (not swept) pushes
// are limited, so that the cell lists stay usable.
static mo_status collide(mo_sim *sim, bool swept, const uint8_t *outlier, mo_error *err)
{
    mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    const float *distance = sim->field.distance, limit = 0.24f;
    collide_all_with_walls(sim);
    if (sim->def.solid_count == 0) return MO_OK;
    double *work = MO_ARENA_ARRAY(sim->arena, double, p->count + 1);
    if (!work) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        work[q] = 0;
        float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]};
        int32_t index = mo_grid_index(g, (int32_t)x[0], (int32_t)x[1], (int32_t)x[2]);
        // The sampled distance, capped at 4 cells, tells whether a wall can have been passed; it knows scripted solids
        // only as they were, and fast particles may have come from further away.
        if (!sim->moving && sim->def.time.cfl <= 3 && index >= 0 && distance[index] >= 4) continue;
        work[q] = collide_with_solids(sim, q, swept && !(outlier && outlier[q]));
        for (int a = 0; a < 3 && !swept; a++) p->x[a][q] = mo_minf(mo_maxf(p->x[a][q], x[a] - limit), x[a] + limit);
        collide_with_walls(sim, q);
    }
    if (!swept) p->stale += limit;
    sim->account.work += sim->density * pow(g->dx, 3) * mo_sum(p->count, work);
    return MO_OK;
}

mo_status mo_sim_collide(mo_sim *sim, bool swept, mo_error *err) { return collide(sim, swept, NULL, err); }
mo_status mo_sim_collide_moved(mo_sim *sim, const uint8_t *outlier, mo_error *err)
{
    return collide(sim, true, outlier, err);
}

// ---- Faces ----

void mo_sim_fix_walls(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++)
        for (int a = 0; a < 3; a++) {
            bool closed[2] = {sim->def.domain.walls[2 * a] != MO_WALL_OPEN,
                              sim->def.domain.walls[2 * a + 1] != MO_WALL_OPEN};
            int32_t low = MO_MARGIN - 8 * g->coord[t][a], high = g->n[a] - MO_MARGIN - 8 * g->coord[t][a];
            if ((!closed[0] || low < 0) && (!closed[1] || high > 7)) continue;
            for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
                int32_t at = l >> (3 * a) & 7, i = t * MO_TILE_CELLS + l;
                if ((closed[0] && at <= low) || (closed[1] && at >= high)) f->u[a][i] = 0, f->valid[a][i] = 2;
            }
        }
}

int32_t mo_sim_nearest_prescribed(const mo_sim *sim, mo_vec3 x)
{
    double best = INFINITY;
    int32_t nearest = -1;
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        if (sim->solids[s].dynamic || beyond(&sim->solids[s], x, best)) continue;
        double d = solid_distance(sim, s, x);
        if (d < best) best = d, nearest = s;
    }
    return nearest;
}

mo_vec3 mo_sim_nearest_velocity(const mo_sim *sim, mo_vec3 x)
{
    double best = INFINITY;
    mo_vec3 v = {0, 0, 0};
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        if (beyond(&sim->solids[s], x, best)) continue;
        double d = solid_distance(sim, s, x);
        if (d < best) best = d, v = solid_velocity(sim, s, x);
    }
    return v;
}

// Mean over the four faces of another axis around a face, and the gradient of the distance there, by block lookups.
typedef struct face_block {
    float u[3][1000], distance[1000];
} face_block;

static float constrained(const mo_sim *sim, const face_block *b, int axis, const int32_t c[3], int at)
{
    static const int stride[3] = {1, 10, 100};
    float velocity[3], normal[3], length = 0;
    int s = stride[axis];
    for (int a = 0; a < 3; a++) {
        int r = stride[a];
        if (a == axis) {
            velocity[a] = b->u[a][at];
            normal[a] = b->distance[at] - b->distance[at - s];
        } else {
            const float *u = b->u[a];
            velocity[a] = 0.25f * (u[at] + u[at + r] + u[at - s] + u[at + r - s]);
            normal[a] =
                0.25f * (b->distance[at + r] - b->distance[at - r] + b->distance[at + r - s] - b->distance[at - r - s]);
        }
        length += normal[a] * normal[a];
    }
    if (length < 1e-12f) return velocity[axis];
    double half[3] = {0.5, 0.5, 0.5};
    half[axis] = 0;
    mo_vec3 v =
        sim->moving
            ? mo_sim_nearest_velocity(sim, mo_grid_world(sim->grid, c[0] + half[0], c[1] + half[1], c[2] + half[2]))
            : mo_v3(0, 0, 0);
    float inward = 0;
    for (int a = 0; a < 3; a++) inward += (velocity[a] - (float)mo_get(v, a)) * normal[a];
    return velocity[axis] - normal[axis] * inward / length;
}

void mo_sim_constrain(mo_sim *sim)
{
    if (sim->def.solid_count == 0) return;
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    for (int a = 0; a < 3; a++) memcpy(f->scratch[a], f->u[a], sizeof(float) * (size_t)mo_grid_cells(g));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        const float *d = f->distance + (int64_t)t * MO_TILE_CELLS;
        bool near = false;
        for (int32_t l = 0; l < MO_TILE_CELLS && !near; l++) near = d[l] < 0.5f;
        if (!near) continue;
        face_block b;
        mo_grid_block(g, f->distance, t, 1, 0, b.distance);
        for (int a = 0; a < 3; a++) mo_grid_block(g, f->scratch[a], t, 1, 0, b.u[a]);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++)
            for (int a = 0; a < 3; a++) {
                int32_t i = t * MO_TILE_CELLS + l, c[3];
                if (f->area[a][i] > 0 || f->valid[a][i] != 1) continue;
                mo_grid_cell(g, i, c);
                f->u[a][i] = constrained(sim, &b, a, c, (l & 7) + 1 + 10 * ((l >> 3 & 7) + 1 + 10 * ((l >> 6) + 1)));
            }
    }
}
