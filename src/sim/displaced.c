// What rigid bodies displace (docs/math.md 3.3). Pressure lifts a body by its parts of the boxes round faces as far as
// the segments between cell centres are wet, with arms to the centres of faces. At the surface, and for torques, that
// is not the weight of the liquid that the body displaces. The difference is found here. It counts as liquid that moves
// with the body, of positive or negative mass, so that bodies float as Archimedes' law says, in whatever direction the
// surface lies on the grid.
#include "grid/displaced.h"
#include "sim/sim.h"
#include "base/matrix3.h"
#include <string.h>

// ---- Shapes that look the same when they turn ----

enum { TRIALS = 40 };
#define ROUND 1e-7 // of its size

// Whether a shape stays the same when it turns about an axis through the origin, as far as distances at some points
// about it tell.
static bool is_round(const mo_solid *s, mo_vec3 axis, bool flat)
{
    const double size = s->radius + mo_norm(s->centre);
    for (int k = 0; k < TRIALS; k++) {
        mo_vec3 x = mo_mul(size, mo_v3(mo_sin(1 + 2.4 * k), mo_sin(2 + 3.1 * k), flat ? 0 : mo_sin(3 + 1.7 * k)));
        mo_vec3 y = mo_quat_rotate(mo_quat_axis_angle(axis, 0.3 + k), x);
        if (!(fabs(mo_shape_distance(s->shape, x) - mo_shape_distance(s->shape, y)) <= ROUND * size)) return false;
    }
    return true;
}

void mo_sim_find_round_axes(mo_solid *s, bool flat)
{
    double A[3][3], value[3], Q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(A, s->body.inertia.m, sizeof A);
    if (!flat) mo_eigen3(3, A, value, Q);
    s->round_axes = 0;
    for (int k = flat ? 2 : 0; k < 3; k++) {
        mo_vec3 axis = {Q[0][k], Q[1][k], Q[2][k]};
        if (is_round(s, axis, flat)) s->round_axis[s->round_axes++] = axis;
    }
}

// ---- Lifts ----

typedef struct job { // one body in one tile
    int32_t body;    // number among the rigid ones
    int32_t tile;    // -1: it is missing, deep inside the body
    int32_t coord[3];
    bool shared; // some wet face belongs to another solid or a wall as well
    mo_displaced found;
} job;

struct mo_displacings {
    job *job; // by body
    int32_t jobs;
    mo_displacing *body; // [bodies]
};

// The parts that a body takes of the boxes of a tile. Boxes do not count where another solid or a wall takes some.
static void find_lifts(const mo_sim *sim, const mo_weights *w, const float *phi, int32_t number, job *j, mo_lifts *out)
{
    const mo_openings *o = &sim->openings;
    const mo_cover *cover = w ? &w->cover[number] : &o->cover[number];
    for (int a = 0; a < 3; a++)
        for (int l = 0; l < MO_TILE_CELLS; l++) {
            int32_t i = cover->tile * MO_TILE_CELLS + l;
            bool beyond = mo_grid_is_2d(sim->grid) && (l >> 6) != MO_MARGIN;
            double part = cover->part[a][l], spare = w ? 0 : o->spare[number].part[a][l];
            double open = w ? w->fluid[MO_SAMPLE_FACE + a][i] : o->area[a][i];
            bool shared = !beyond && part > 0 && fabs(open + part - 1) > 1e-6;
            out->part[a][l] = beyond || shared || !(part > 0) ? -1 : part - fmax(spare, 0);
            out->wet[a][l] = w ? w->liquid[MO_SAMPLE_FACE + a][i] : 0;
            j->shared |= shared && phi[i] < 1;
        }
}

// The same in a missing tile: deep inside the body it takes all.
static void find_missing_lifts(const mo_sim *sim, const mo_solid *s, const job *j, mo_lifts *out)
{
    const mo_grid *g = sim->grid;
    const double deep = 1.5 * g->dx;
    for (int l = 0; l < MO_TILE_CELLS; l++) {
        double x[3] = {8 * j->coord[0] + (l & 7) + 0.5, 8 * j->coord[1] + (l >> 3 & 7) + 0.5,
                       8 * j->coord[2] + (l >> 6) + 0.5};
        bool beyond = mo_grid_is_2d(g) && (l >> 6) != MO_MARGIN;
        bool inside = !beyond && mo_solid_distance_at(s, mo_grid_world(g, x[0], x[1], x[2])) < -deep;
        for (int a = 0; a < 3; a++) out->part[a][l] = inside ? 1 : -1, out->wet[a][l] = 0;
    }
}

// ---- The surface inside bodies ----

// Lists the tiles of one body, and missing ones inside it. Without room, counts them.
static void list_jobs(const mo_sim *sim, int32_t solid, mo_displacings *out)
{
    const mo_solid *s = &sim->solids[solid];
    const mo_grid *g = sim->grid;
    const double around = s->radius + 2 * g->dx;
    int32_t lo[3], hi[3], c[3];
    mo_vec3 middle = mo_pose_apply(s->pose, s->centre), r = mo_v3(around, around, around);
    mo_sim_cell_range(sim, (mo_box3){mo_sub(middle, r), mo_add(middle, r)}, lo, hi);
    for (c[2] = lo[2] >> 3; c[2] <= hi[2] >> 3; c[2]++)
        for (c[1] = lo[1] >> 3; c[1] <= hi[1] >> 3; c[1]++)
            for (c[0] = lo[0] >> 3; c[0] <= hi[0] >> 3; c[0]++) {
                double z = mo_grid_is_2d(g) ? MO_MARGIN + 0.5 : 8 * c[2] + 4;
                double d = mo_solid_distance_at(s, mo_grid_world(g, 8 * c[0] + 4, 8 * c[1] + 4, z)) / g->dx;
                int32_t i = mo_grid_index(g, 8 * c[0], 8 * c[1], 8 * c[2]);
                if (d > (i < 0 ? 5.5 : 10)) continue;
                if (out->job)
                    out->job[out->jobs] = (job){.body = sim->body_of[solid],
                                                .tile = i < 0 ? -1 : i / MO_TILE_CELLS,
                                                .coord = {c[0], c[1], c[2]}};
                out->jobs++;
            }
}

static mo_status make_jobs(const mo_sim *sim, mo_displacings *out, mo_error *err)
{
    for (int fill = 0; fill < 2; fill++) {
        if (fill) out->job = MO_ARENA_ARRAY(sim->step_arena, job, out->jobs + 1);
        if (fill && !out->job) return mo_fail_memory(err);
        out->jobs = 0;
        for (int32_t i = 0; i < sim->solid_count; i++)
            if (sim->solids[i].rigid && !sim->solids[i].shell) list_jobs(sim, i, out);
    }
    return MO_OK;
}

mo_status mo_sim_continue_surface(mo_sim *sim, mo_step_context *c, const mo_solid_set *solids, mo_error *err)
{
    if (!sim->bodies || sim->air.present || c->fractions.surface) return MO_OK;
    float *surface;
    mo_displacings *all = MO_ARENA_ARRAY(sim->step_arena, mo_displacings, 1);
    mo_displacing *body = MO_ARENA_ARRAY(sim->step_arena, mo_displacing, sim->bodies);
    if (!all || !body) return mo_fail_memory(err);
    *all = (mo_displacings){.body = body};
    MO_TRY(make_jobs(sim, all, err));
    int32_t *tile = MO_ARENA_ARRAY(sim->arena, int32_t, all->jobs + 1);
    if (!tile) return mo_fail_memory(err);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 1, &surface, err));
    memcpy(surface, sim->viscous ? sim->level.phi : sim->level.press,
           sizeof(float) * (size_t)mo_grid_fields(sim->grid));
    for (int32_t i = 0; i < sim->solid_count; i++) {
        if (!sim->solids[i].rigid) continue;
        mo_displacing *d = &body[sim->body_of[i]];
        int32_t tiles = 0;
        for (int32_t k = 0; k < all->jobs; k++)
            if (all->job[k].body == sim->body_of[i] && all->job[k].tile >= 0) tile[tiles++] = all->job[k].tile;
        *d = (mo_displacing){.grid = sim->grid, .phi = surface, .solids = solids, .solid = i, .tents = sim->viscous};
        d->distance = sim->openings.distance;
        mo_displacing_plane(d, tiles, tile, sim->level.phi, sim->openings.area);
        mo_displacing_continue(d, tiles, tile, sim->openings.area, surface);
    }
    c->fractions.surface = surface, c->fractions.displacings = all;
    return MO_OK;
}

// ---- The difference ----

// The number of the cover of a solid in a tile, -1: there is none. Covers are in the order of tiles.
static int32_t find_cover(int32_t covers, const mo_cover *cover, int32_t tile, int32_t solid)
{
    int32_t first = 0, end = covers;
    while (first < end) {
        int32_t middle = first + (end - first) / 2;
        if (cover[middle].tile < tile)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < covers && cover[first].tile == tile; first++)
        if (cover[first].solid == solid) return first;
    return -1;
}

static void run_job(const mo_sim *sim, const mo_weights *w, const mo_displacing *d, job *j)
{
    int32_t covers = w ? w->covers : sim->openings.first ? sim->openings.first[sim->grid->tiles] : 0;
    const mo_cover *cover = w ? w->cover : sim->openings.cover;
    int32_t number = j->tile < 0 ? -1 : find_cover(covers, cover, j->tile, d->solid);
    mo_lifts lifts;
    if (j->tile >= 0 && number < 0) return;
    if (number >= 0)
        find_lifts(sim, w, d->phi, number, j, &lifts);
    else
        find_missing_lifts(sim, &sim->solids[d->solid], j, &lifts);
    mo_displaced_tile(d, j->coord, &lifts, &j->found);
}

static void add_displaced(const mo_displaced *d, mo_displaced *sum)
{
    for (int a = 0; a < 3; a++) {
        sum->lift[a] += d->lift[a], sum->volume[a] += d->volume[a];
        sum->lift_turn[a] = mo_add(sum->lift_turn[a], d->lift_turn[a]);
        sum->volume_turn[a] = mo_add(sum->volume_turn[a], d->volume_turn[a]);
    }
}

// Gravity does not turn a body about axes about which the body is round, whatever liquid is displaced. Returns the part
// of the first moment of that liquid that would: its components along g x axis. It is an error of clipping.
static mo_vec3 false_moment(const mo_solid *s, mo_vec3 gravity, const mo_displaced *d)
{
    mo_vec3 m = {d->volume_turn[1].z, -d->volume_turn[0].z, d->volume_turn[0].y}, wrong = {0, 0, 0}, first = {0, 0, 0};
    const mo_vec3 down = mo_normalize(gravity);
    for (int k = 0; k < s->round_axes; k++) {
        mo_vec3 w = mo_cross(down, mo_quat_rotate(s->pose.rotation, s->round_axis[k]));
        w = mo_mad(w, -mo_dot(w, first), first);
        if (mo_norm(w) < 1e-3) continue;
        w = mo_normalize(w);
        wrong = mo_mad(wrong, mo_dot(m, w), w);
        first = mo_norm(first) > 0 ? first : w;
    }
    return wrong;
}

static mo_excess excess_of(const mo_displaced *d, double even, mo_vec3 wrong)
{
    mo_excess e;
    for (int a = 0; a < 3; a++) {
        mo_vec3 turn = mo_sub(d->volume_turn[a], mo_cross(wrong, mo_v3(a == 0, a == 1, a == 2)));
        e.force[a] = even * (d->lift[a] - d->volume[a]);
        e.turn[a] = mo_mul(even, mo_sub(d->lift_turn[a], turn));
    }
    return e;
}

mo_status mo_sim_find_excess(mo_sim *sim, mo_step_context *c, const mo_solid_set *solids, mo_error *err)
{
    mo_displacings *all = c->fractions.displacings;
    if (!all) return MO_OK;
    mo_excess *excess = MO_ARENA_ARRAY(sim->step_arena, mo_excess, sim->bodies);
    mo_displaced *sum = MO_ARENA_ARRAY(sim->arena, mo_displaced, sim->bodies);
    bool *shared = MO_ARENA_ARRAY(sim->arena, bool, sim->bodies);
    if (!excess || !sum || !shared) return mo_fail_memory(err);
    memset(sum, 0, sizeof *sum * (size_t)sim->bodies);
    memset(shared, 0, sizeof *shared * (size_t)sim->bodies);
    for (int32_t b = 0; b < sim->bodies; b++) all->body[b].solids = solids;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t k = 0; k < all->jobs; k++)
        run_job(sim, sim->viscous ? c->fractions.weights : NULL, &all->body[all->job[k].body], &all->job[k]);
    for (int32_t k = 0; k < all->jobs; k++) {
        add_displaced(&all->job[k].found, &sum[all->job[k].body]);
        shared[all->job[k].body] |= all->job[k].shared;
    }
    for (int32_t b = 0; b < sim->bodies; b++) {
        mo_vec3 none = {0, 0, 0}, gravity = sim->def.gravity;
        bool whole = !shared[b];
        excess[b] = excess_of(&sum[b], all->body[b].even,
                              whole ? false_moment(&sim->solids[all->body[b].solid], gravity, &sum[b]) : none);
    }
    c->fractions.excess = excess;
    return MO_OK;
}
