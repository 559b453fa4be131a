// The surface of the liquid over a run: how it starts from shapes and emitters, and what a step does to it
// (docs/surface.md).
#include "fluid/levelset.h"
#include "grid/extrapolate.h"
#include "grid/redistance.h"
#include "grid/sites.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// ---- Start ----

// Signed distance to the liquids' shapes, in cells; x in lattice coordinates.
static double liquid_distance(const mo_sim *sim, const double x[3])
{
    double d = MO_LEVELSET_BAND;
    for (int32_t i = 0; i < sim->def.liquid_count; i++)
        d = fmin(d,
                 mo_shape_distance(sim->liquids[i].shape, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    return fmax(d, -MO_LEVELSET_BAND);
}

// Distance to the nearest solid or closed wall, in cells, negative inside.
static double wall_distance(const mo_sim *sim, const double x[3])
{
    mo_solid_set set = mo_sim_solid_set(sim);
    double d = INFINITY;
    for (int32_t k = 0; k < set.count; k++)
        d = fmin(d, set.distance(set.user, k, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++) {
        if (!set.open_wall[2 * a]) d = fmin(d, x[a] - MO_MARGIN);
        if (!set.open_wall[2 * a + 1]) d = fmin(d, sim->grid->n[a] - MO_MARGIN - x[a]);
    }
    return d;
}

// Unit normal of the liquids' shapes, by differences of a tenth of a cell; false where they have none.
static bool normal_at(const mo_sim *sim, const double x[3], double n[3])
{
    double length = 0;
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (liquid_distance(sim, hi) - liquid_distance(sim, lo));
        length += n[a] * n[a];
    }
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

// Whether what lies nearest to a cell is a face of the liquid's shape that touches a wall or solid: it is no surface,
// and the cell's distance is another. Such a face lies within `touching` of the solid, which gets deeper beyond it.
static bool held_by_wall(const mo_sim *sim, int32_t index, double phi)
{
    const double touching = 0.3, deeper = -0.5; // cells; slope of the solid's distance
    int32_t c[3];
    mo_grid_cell(sim->grid, index, c);
    double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, n[3], at[3], beyond[3];
    if (fabs(phi) >= MO_LEVELSET_BAND || (phi >= 0 && sim->openings.distance[index] >= 0)) return false;
    if (sim->openings.distance[index] - fabs(phi) > touching) return false; // no solid is that near
    if (!normal_at(sim, x, n)) return false;
    for (int a = 0; a < 3; a++) at[a] = x[a] - phi * n[a], beyond[a] = at[a] + 0.5 * n[a];
    double d = wall_distance(sim, at);
    return d <= touching && wall_distance(sim, beyond) - d < 0.5 * deeper;
}

// Only liquid and the air above it tell the distances of held cells: what lies on the other side of a solid says
// nothing. known: 1 tells, 2 does not, 0 is held. bytes: a byte field.
static void find_tellers(const mo_sim *sim, const float *phi, const uint8_t *held, uint8_t *known, uint8_t *bytes)
{
    enum { LAYERS = 6 }; // of air: along walls, and lines need two cells behind one
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        known[i] = held[i] ? 0 : phi[i] < 0 && mo_levelset_in_domain(g, c) ? 1 : 2;
    }
    for (int layer = 0; layer < LAYERS; layer++) {
        memcpy(bytes, known, (size_t)mo_grid_cells(g));
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
            bool reached = false;
            for (int e = 0; e < 6 && bytes[i] == 2 && o->distance[i] >= 0 && !reached; e++) {
                int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
                reached = n >= 0 && bytes[n] == 1 && o->area[e >> 1][e & 1 ? n : i] > 0;
            }
            if (reached) known[i] = 1;
        }
    }
}

// The distances of the shapes; where they end at walls the surface of the open part goes on.
static mo_status start_from_shapes(mo_sim *sim, float *phi, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    int64_t cells = mo_grid_cells(g);
    enum { told = 3 }; // layers of cells round the open surface; held ones further off are deep
    uint8_t *known, *held;
    float *shape = scratch->field[1];
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &known, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &held, err));
    for (int32_t i = 0; i < (int32_t)cells; i++) { // shapes may be asked by one thread only
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool in = mo_levelset_in_domain(g, c);
        double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        phi[i] = shape[i] = in ? (float)liquid_distance(sim, x) : MO_LEVELSET_BAND;
        held[i] = in && held_by_wall(sim, i, phi[i]);
    }
    find_tellers(sim, phi, held, known, scratch->bytes);
    mo_extrapolate(g, MO_SITE_ROW, phi, known, told, told, scratch->field[0], scratch->bytes);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < cells; i++) {
        if (!known[i]) phi[i] = -MO_LEVELSET_BAND;
        if (held[i] && shape[i] < 0) phi[i] = mo_minf(phi[i], shape[i]); // what is left of the surface is no nearer
        phi[i] = mo_minf(mo_maxf(phi[i], -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
    }
    return MO_OK;
}

// What active emitters hold is liquid; the surface round them is told some cells beyond.
static void fill_emitters(const mo_sim *sim, double time, float *phi)
{
    const mo_grid *g = sim->grid;
    for (int32_t q = 0; q < sim->def.emitter_count; q++) {
        const mo_emitter_def *e = &sim->emitters[q];
        int32_t lo[3], hi[3];
        if (time < e->start || time >= e->start + e->seconds) continue;
        mo_box3 box = mo_shape_bounds(e->shape);
        mo_vec3 around = mo_v3(3 * g->dx, 3 * g->dx, 3 * g->dx);
        mo_sim_cell_range(sim, (mo_box3){mo_sub(box.lo, around), mo_add(box.hi, around)}, lo, hi);
        for (int32_t k = lo[2]; k <= hi[2]; k++)
            for (int32_t j = lo[1]; j <= hi[1]; j++)
                for (int32_t i = lo[0]; i <= hi[0]; i++) {
                    int32_t at = mo_grid_index(g, i, j, k);
                    if (at < 0) continue;
                    double d = mo_shape_distance(e->shape, mo_grid_world(g, i + 0.5, j + 0.5, k + 0.5)) / g->dx;
                    phi[at] = mo_minf(phi[at], (float)d);
                }
    }
}

// ---- What the particles tell ----

// The union of balls, the particles' density and their surface, three fields that are not among scratch.field[0..2] but
// for the density, which may be the last of those.
static void find_particle_surface(mo_sim *sim, float *balls, float *density, float *surface)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_surface_union(&sim->particles, g, sim->radii.pressure, &walls, balls, scratch->field[0], scratch->bytes);
    mo_surface_visible(g, balls, &sim->radii, &walls, surface, scratch->field, scratch->bytes);
    mo_transfer_density(&sim->particles, g, density);
    mo_surface_smooth(g, density, sim->openings.volume, sim->openings.distance, surface, scratch->field);
}

// What pressure sees: the level set, but the union of balls where the level set is thin. thin: a byte field, out.
static void choose_press(mo_sim *sim, const float *balls, uint8_t *thin)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    mo_surface_thin(g, sim->level.phi, sim->openings.distance, scratch->bytes, thin);
    memcpy(sim->level.press, balls, sizeof(float) * (size_t)mo_grid_cells(g));
    mo_surface_choose(&sim->particles, g, sim->level.phi, thin, sim->level.press, scratch->field[0]);
}

// Particles hold what the level set holds: seeds are counted, and a shape cuts their sub-cells.
static void match_volumes(mo_sim *sim)
{
    const double most = 0.2; // a film thinner than the grid is not told by the level set
    double have = mo_particles_volume(&sim->particles),
           want = mo_levelset_volume(sim->grid, sim->level.phi, sim->openings.volume);
    if (!(have > 0) || fabs(want / have - 1) > most) return;
    for (int32_t q = 0; q < sim->particles.count; q++) sim->particles.volume[q] *= (float)(want / have);
}

// From l->spare, which holds the right zero set, to distances and what pressure sees.
static void finish_start(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_fill_margins(g, walls.open_wall, l->spare);
    mo_redistance_both(g, l->spare, MO_LEVELSET_BAND, l->phi, scratch->field[0], scratch->bytes);
    if (sim->def.solid_count) mo_levelset_extend(g, &walls, l->phi);
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
}

static void finish_press(mo_sim *sim)
{
    float *const *field = sim->scratch.field, *balls = field[4];
    find_particle_surface(sim, balls, field[2], field[3]);
    choose_press(sim, balls, sim->scratch.bytes + mo_grid_cells(sim->grid));
}

mo_status mo_sim_start_level(mo_sim *sim, mo_error *err)
{
    MO_TRY(start_from_shapes(sim, sim->level.spare, err));
    finish_start(sim);
    match_volumes(sim);
    finish_press(sim);
    return MO_OK;
}

void mo_sim_start_emitters(mo_sim *sim)
{
    memcpy(sim->level.spare, sim->level.phi, sizeof(float) * (size_t)mo_grid_cells(sim->grid));
    fill_emitters(sim, 0, sim->level.spare);
    finish_start(sim);
    finish_press(sim);
}

// ---- A step ----

void mo_sim_advect_level(mo_sim *sim, const mo_faces *faces, double dt)
{
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_advect(&sim->level, sim->grid, faces, (float)(dt / sim->grid->dx), walls.open_wall);
}

// Beside a solid that moves something moves, also where no particle is: a gap that opens behind it is not filled by the
// surface that went on inside of it.
static void move_beside_solids(mo_sim *sim, double dt)
{
    const mo_grid *g = sim->grid;
    const mo_particles *p = &sim->particles;
    mo_levelset *l = &sim->level;
    if (!sim->moving) return;
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        float d = sim->openings.distance[i];
        if (l->phi[i] >= 0 || d < 0 || d >= 1 || p->start[i] < p->start[i + 1]) continue;
        int32_t c[3];
        mo_grid_cell(g, i, c);
        mo_vec3 v = mo_sim_nearest_velocity(sim, mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5));
        double most = fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
        l->moved[i] = mo_maxf(l->moved[i], (float)(most * dt / g->dx));
    }
}

// Whether a cell, its centre in a solid, is a gap that opens: no open cell beside it that could tell what it holds, and
// no particles.
static bool opens_empty(const mo_sim *sim, int32_t i)
{
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    const mo_particles *p = &sim->particles;
    if (p->start[i] < p->start[i + 1]) return false;
    for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6); e++) {
        int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1), c[3];
        if (n < 0 || o->area[e >> 1][e & 1 ? n : i] <= 0) continue;
        mo_grid_cell(g, n, c);
        if (mo_levelset_in_domain(g, c) && (o->distance[n] >= 0 || p->start[n] < p->start[n + 1])) return false;
    }
    return true;
}

static void empty_gaps(mo_sim *sim)
{
    const float dry = 1.5f; // cells above the surface: no part of the cell is wet
    const mo_openings *o = &sim->openings;
    float *phi = sim->level.phi;
    if (!sim->moving) return;
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++)
        if (o->distance[i] < 0 && o->volume[i] > 0 && phi[i] < dry && opens_empty(sim, i)) phi[i] = dry;
}

mo_status mo_sim_correct_level(mo_sim *sim, double dt, uint8_t *thin, float *density, mo_error *err)
{
    MO_ASSERT(sim->level.tiles == sim->grid->tiles && dt > 0);
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    float *surface = sim->scratch.field[3], *balls = sim->scratch.field[4], *work[3];
    size_t mark = mo_arena_mark(sim->step_arena);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, work, err));
    find_particle_surface(sim, balls, density, surface);
    move_beside_solids(sim, dt);
    mo_levelset_follow(l, g, &sim->particles, surface, (float)(dt / g->dx), o->distance, sim->def.solid_count > 0,
                       work);
    fill_emitters(sim, sim->time + dt, l->phi);
    if (sim->def.solid_count) mo_levelset_extend(g, &walls, l->phi);
    mo_levelset_redistance(l, g, walls.open_wall, work, sim->scratch.bytes);
    empty_gaps(sim);
    mo_surface_thin(g, l->phi, o->distance, sim->scratch.bytes, thin);
    double offset;
    MO_TRY(mo_levelset_keep_volume(l, g, &sim->particles, o->volume, thin, &offset, sim->arena, err));
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
    choose_press(sim, balls, thin);
    mo_arena_release(sim->step_arena, mark);
    return MO_OK;
}
