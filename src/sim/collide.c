// Collisions of particles with solids and walls.
#include "base/lanes.h"
#include "base/parallel.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

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

// Whether x, which lies outside a solid along its normal n, lies in another solid whose surface faces it, so that both
// touch there. *inward: the normal of the other solid.
static bool beyond_seam(const mo_sim *sim, int32_t solid, mo_vec3 x, mo_vec3 n, mo_vec3 *inward)
{
    const double facing = -0.9999; // cosine; in other cases there is a wedge between both
    for (int32_t s = 0; s < sim->solid_count; s++) {
        if (s == solid || mo_solid_distance_at(&sim->solids[s], x) >= 0) continue;
        *inward = mo_sim_solid_normal(sim, s, x);
        if (mo_dot(*inward, n) < facing) return true;
    }
    return false;
}

// A solid that ends at a wall or at another solid has no surface there, although its distance has one. The way out of
// the solid is the plane of the nearest surface a little further away from that end; in a corner, from both ends.
// Changes the distance d at y and the normal n, to a direction along the ends.
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
            mo_vec3 inner = mo_mad(y, offset, from), m = mo_sim_solid_normal(sim, solid, inner);
            mo_vec3 way = mo_mad(mo_mad(m, -mo_dot(m, inward), inward), -mo_dot(m, last), last);
            double length = mo_norm(way),
                   distance = mo_solid_distance_at(&sim->solids[solid], inner) - offset * mo_dot(m, from);
            if (length < 0.3) continue; // still its end
            if (distance >= gap) return;
            *n = mo_mul(1 / length, way), *d = gap - (gap - distance) / length, turned = true;
        }
        if (!turned) return;
    }
}

// Pushes x (m) out of the solid and removes the inward part of v relative to it. A particle that came along the path
// `way`, relative to the solid, is put back to where it first met the solid (half-cell samples), so that nothing passes
// a wall of a cell or more. A scripted solid adds the work it does, per mass, to *work. solved: the liquid takes part
// in the solve, which gives a rigid body the momentum that the liquid loses; here the body would get nothing, so v
// stays.
static bool push_out(const mo_sim *sim, int32_t solid, mo_vec3 way, bool solved, mo_vec3 *x, mo_vec3 *v, double *work)
{
    MO_ASSERT(solid >= 0 && solid < sim->solid_count);
    const mo_solid *s = &sim->solids[solid];
    double gap = GAP_PERCENT / 100.0 * sim->grid->dx;
    mo_vec3 y = *x;
    if (sim->cells[2] == 1) way.z = 0;
    double length = mo_norm(way);
    if (mo_solid_can_move(s) && mo_norm(mo_sub(*x, mo_pose_apply(s->pose, s->centre))) > s->radius + length + gap)
        return false;
    double d = mo_solid_distance_at(&sim->solids[solid], *x);
    if (d > length + gap) return false;
    int32_t samples = (int32_t)fmin(ceil(length / (0.5 * sim->grid->dx)), 16);
    for (int32_t k = samples - 1; k > 0; k--) {
        mo_vec3 before = mo_mad(*x, -(double)k / samples, way);
        double there = mo_solid_distance_at(&sim->solids[solid], before);
        if (there >= 0) continue;
        y = before, d = there;
        break;
    }
    if (d >= gap) return false;
    mo_vec3 n = mo_sim_solid_normal(sim, solid, y);
    turn_from_ends(sim, solid, y, gap, &d, &n);
    *x = mo_mad(y, gap - d, n);
    if (mo_solid_is_body(s) && solved) return true;
    mo_vec3 own = mo_solid_velocity_at(s, *x);
    double inward = mo_dot(mo_sub(*v, own), n);
    if (inward < 0) *v = mo_mad(*v, -inward, n);
    if (inward < 0 && s->motion) *work -= inward * mo_dot(n, own);
    return true;
}

static void put_particle(mo_sim *sim, int32_t q, mo_vec3 x, mo_vec3 v)
{
    MO_ASSERT(q >= 0 && q < sim->particles.count);
    for (int a = 0; a < 3; a++) {
        sim->particles.x[a][q] = (float)((mo_get(x, a) - mo_get(sim->grid->origin, a)) / sim->grid->dx);
        sim->particles.v[a][q] = (float)mo_get(v, a);
    }
}

// Moves x out of the wedge between two solids, where pushing by one and the other in turn would take very long: along
// both normals at once, as far as planes would require.
static void leave_wedge(const mo_sim *sim, int32_t one, int32_t other, mo_vec3 *x)
{
    MO_ASSERT(one != other);
    enum { STEPS = 3 };
    double dx = sim->grid->dx, gap = GAP_PERCENT / 100.0 * dx;
    for (int k = 0; k < STEPS; k++) {
        double p = gap - mo_solid_distance_at(&sim->solids[one], *x),
               q = gap - mo_solid_distance_at(&sim->solids[other], *x);
        if (p <= 0 && q <= 0) return;
        mo_vec3 n = mo_sim_solid_normal(sim, one, *x), m = mo_sim_solid_normal(sim, other, *x);
        double cosine = mo_dot(n, m), rest = 1 - cosine * cosine;
        if (rest < 1e-6) return;
        p = fmax(p, 0), q = fmax(q, 0);
        mo_vec3 way = mo_mad(mo_mul((p - cosine * q) / rest, n), (q - cosine * p) / rest, m);
        double length = mo_norm(way);
        *x = mo_mad(*x, length > dx ? dx / length : 1, way);
    }
}

// Whether the liquid at x takes part in the solve; particles that fly alone do not.
static bool in_solve(const mo_sim *sim, const uint8_t *phase, mo_vec3 x)
{
    mo_vec3 c = mo_mul(1 / sim->grid->dx, mo_sub(x, sim->grid->origin));
    int32_t cell = mo_grid_index(sim->grid, (int32_t)floor(c.x), (int32_t)floor(c.y), (int32_t)floor(c.z));
    return cell >= 0 && (phase[cell] == MO_PHASE_LIQUID || phase[cell] == MO_PHASE_SLAVED);
}

// Whether x lies in a solid, as they stand `ahead` seconds before the end of the step.
static bool lies_inside(const mo_sim *sim, mo_vec3 x, double ahead)
{
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (mo_solid_distance_at(s, mo_mad(x, ahead, mo_solid_velocity_at(s, x))) < 0) return true;
    }
    return false;
}

// Where solids, walls and the limit of pushes meet, a push out of one can end in another. Such a particle stays where
// it was, which is outside all solids at rest. Its velocity relative to these is lost (at_rest: it met no others).
static void take_back(mo_sim *sim, int32_t q, const float from[3], double ahead, bool at_rest)
{
    mo_particles *p = &sim->particles;
    if (!lies_inside(sim, mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]), ahead)) return;
    if (lies_inside(sim, mo_grid_world(sim->grid, from[0], from[1], from[2]), ahead)) return;
    for (int a = 0; a < 3; a++) {
        p->x[a][q] = from[a];
        if (at_rest) p->v[a][q] = 0;
    }
}

typedef struct pushes { // of one particle
    bool any, at_rest;  // some; all by solids at rest
    double work;        // of scripted solids, per mass
} pushes;

static pushes collide_with_solids(const mo_collision *c, int32_t q, bool swept)
{
    mo_sim *sim = c->sim;
    const mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    mo_vec3 x = mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]), v = {p->v[0][q], p->v[1][q], p->v[2][q]};
    mo_vec3 from = mo_grid_world(g, c->from[0][q], c->from[1][q], c->from[2][q]);
    pushes r = {.at_rest = true};
    bool again = true,
         solved = (sim->bodies > 0 || sim->elastics.count > 0) && in_solve(sim, c->phase, swept ? from : x);
    int32_t met[2] = {-1, -1};                         // the last two that pushed
    for (int round = 0; round < 4 && again; round++) { // a corner between solids needs more than one push
        again = false;
        for (int32_t s = 0; s < sim->solid_count; s++) {
            const mo_solid *o = &sim->solids[s];
            mo_vec3 way = {0, 0, 0};
            if (swept && round == 0) way = mo_mad(mo_sub(x, from), -c->dt, mo_solid_velocity_at(o, x));
            if (!push_out(sim, s, way, solved, &x, &v, &r.work)) continue;
            if (met[0] != s) met[1] = met[0], met[0] = s;
            again = true, r.at_rest &= !mo_solid_can_move(o);
        }
        r.any |= again;
        if (again && round > 0 && met[1] >= 0) leave_wedge(sim, met[0], met[1], &x);
    }
    if (r.any) put_particle(sim, q, x, v);
    return r;
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
    bool high = *x > range[1]; // NaN goes to the low wall
    if (isinf(range[high])) return;
    *x = range[high];
    if (high ? *v > 0 : *v < 0) *v = 0;
}

void mo_sim_collide_walls(mo_sim *sim, int32_t q)
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
        for (int32_t q = 0; q < p->count; q += LANES) {
            int32_t end = q + LANES < p->count ? q + LANES : p->count;
            lanes eight;
            lanes_load(x + q, end - q, &eight);
            lane_ints inside = (eight >= range[0]) & (eight <= range[1]);
            if (lanes_to_bits(&inside) == 255) continue;
            for (int32_t r = q; r < end; r++) hold(range, &x[r], &v[r]);
        }
    }
}

// Solids are at their places at the end of the step; `ahead` seconds before it, they and everything round them lie back
// by their velocity.
void mo_sim_collide_part(void *user, int32_t q, const float from[3], double part, double ahead)
{
    MO_ASSERT(part > 0 && ahead >= 0);
    mo_sim *sim = user;
    const mo_particles *p = &sim->particles;
    mo_sim_collide_walls(sim, q);
    mo_vec3 x = mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
    mo_vec3 v = {p->v[0][q], p->v[1][q], p->v[2][q]}, start = mo_grid_world(sim->grid, from[0], from[1], from[2]);
    bool moved = false, at_rest = true, again = sim->solid_count > 0;
    double work = 0; // of single particles: not counted
    for (int round = 0; round < 3 && again; round++) {
        again = false;
        for (int32_t s = 0; s < sim->solid_count; s++) {
            mo_vec3 speed = mo_solid_velocity_at(&sim->solids[s], x), shift = mo_mul(ahead, speed),
                    y = mo_add(x, shift);
            mo_vec3 way = round == 0 ? mo_mad(mo_sub(x, start), -part, speed) : mo_v3(0, 0, 0);
            if (!push_out(sim, s, way, false, &y, &v, &work)) continue;
            x = mo_sub(y, shift), again = true;
            at_rest &= !mo_solid_can_move(&sim->solids[s]);
        }
        moved |= again;
    }
    if (moved) put_particle(sim, q, x, v);
    mo_sim_collide_walls(sim, q);
    if (moved) take_back(sim, q, from, ahead, at_rest);
}

mo_status mo_collision_start(mo_collision *c, mo_error *err)
{
    const mo_particles *p = &c->sim->particles;
    for (int a = 0; a < 3 && (c->sim->solid_count || c->sim->shells.count); a++) {
        float *x = MO_ARENA_ARRAY(c->sim->arena, float, p->count + 1);
        if (!x) return mo_fail_memory(err);
        if (p->count) memcpy(x, p->x[a], sizeof(float) * (size_t)p->count);
        c->from[a] = x;
    }
    return MO_OK;
}

// The walls come last: a solid that leaves the domain must not take liquid along. After the sort (not swept) pushes
// are limited, so that the cell lists stay usable.
mo_status mo_sim_collide(const mo_collision *c, mo_error *err)
{
    mo_sim *sim = c->sim;
    mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    const float *distance = sim->openings.distance, limit = 0.24f;
    collide_all_with_walls(sim);
    if (sim->solid_count == 0) return MO_OK;
    double *work = MO_ARENA_ARRAY(sim->arena, double, p->count + 1);
    if (!work) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        work[q] = 0;
        float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]};
        int32_t index = mo_grid_index(g, (int32_t)x[0], (int32_t)x[1], (int32_t)x[2]);
        // The sampled distance, capped at 4 cells, shows whether a wall can have been passed. It does not hold if
        // solids move, because it belongs to their earlier poses, or if fast particles may have come from further away.
        if (!sim->moving && sim->def.time.cfl <= 3 && index >= 0 && distance[index] >= 4) continue;
        pushes r = collide_with_solids(c, q, c->swept && !(c->outlier && c->outlier[q]));
        if (!r.any) continue;
        work[q] = p->volume[q] * r.work;
        for (int a = 0; a < 3 && !c->swept; a++) p->x[a][q] = mo_minf(mo_maxf(p->x[a][q], x[a] - limit), x[a] + limit);
        mo_sim_collide_walls(sim, q);
        take_back(sim, q, (float[3]){c->from[0][q], c->from[1][q], c->from[2][q]}, 0, c->dt > 0 && r.at_rest);
    }
    if (!c->swept) p->stale += limit;
    sim->account.work += sim->density * mo_grid_cell_volume(g) * mo_sum(p->count, work);
    return MO_OK;
}
