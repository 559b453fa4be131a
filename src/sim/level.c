// The surface of the liquid over a run: emitters, and what a step does to it (docs/surface.md).
#include "fluid/levelset.h"
#include "grid/extrapolate.h"
#include "grid/meet.h"
#include "grid/redistance.h"
#include "grid/reach.h"
#include "sim/slits.h"
#include <math.h>
#include <string.h>

// ---- Emitters ----

// The inside of active emitters is liquid; the distance to their surface is set up to some cells beyond.
static void fill_emitters(const mo_sim *sim, double time, float *phi)
{
    const mo_grid *g = sim->grid;
    for (int32_t q = 0; q < sim->def.emitter_count; q++) {
        const mo_emitter_def *e = &sim->emitters[q];
        int32_t lo[3], hi[3];
        if (!mo_sim_emitter_active(sim, q, time)) continue;
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

// ---- The surface of the particles ----

// Finds the union of balls, the particles' density and their surface. The three fields must not be scratch.field[0..2],
// except that the density may be the last of these.
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

// Makes the surface for pressure: the level set, and the union of balls where the level set is thin.
static void choose_press(mo_sim *sim, const float *balls, const uint8_t *thin)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    memcpy(sim->level.press, balls, sizeof(float) * (size_t)mo_grid_fields(g));
    mo_surface_choose(&sim->particles, g, sim->level.phi, thin, sim->level.press, scratch->field[0]);
}

// Scales the particles of deep liquid to the volume of the level set; until now they had that of samples. The level set
// does not hold for thin parts. thin: a byte field.
static void match_volumes(mo_sim *sim, uint8_t *thin)
{
    const double most = 0.2; // with a larger difference, the two do not belong to the same liquid
    const mo_grid *g = sim->grid;
    mo_particles *p = &sim->particles;
    mo_surface_thin(g, sim->level.phi, sim->openings.distance, sim->scratch.bytes, thin);
    double film, have = mo_particles_volume(p),
                 want = mo_levelset_account(g, sim->level.phi, sim->openings.volume, thin, p, &film);
    have -= film, want -= film;
    if (!(have > 0) || fabs(want / have - 1) > most) return;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++)
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++)
            if (!thin[mo_reach_near(g, i, 0) && p->row[q] >= 0 ? p->row[q] : i]) p->volume[q] *= (float)(want / have);
}

// ---- Gaps beside solids ----

// A cell whose centre lies in a solid takes its value from open cells beside it, or from its particles. If there are
// neither, the surface that is continued inside the solid says nothing about the open part of the cell: it may be a gap
// that opens behind a moving solid, or the far side of a wall.
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

typedef struct gaps {
    int32_t *cell, count; // cells without a source
    uint8_t *is;          // [cells of the grid] whether it is one of them
} gaps;

// Whether a cell beside a gap says what the gap holds: liquid reaches into slits of such cells.
static bool told_beside(const mo_sim *sim, const gaps *s, int32_t i)
{
    const mo_openings *o = &sim->openings;
    for (int e = 0; e < (mo_grid_is_2d(sim->grid) ? 4 : 6); e++) {
        int32_t n = mo_grid_step(sim->grid, i, e >> 1, e & 1 ? 1 : -1), c[3];
        if (n < 0 || o->area[e >> 1][e & 1 ? n : i] <= 0 || o->volume[n] <= 0 || s->is[n]) continue;
        mo_grid_cell(sim->grid, n, c);
        if (mo_levelset_in_domain(sim->grid, c)) return true;
    }
    return false;
}

// Whether a gap may open here: a solid that moves is near.
static bool may_open(const mo_sim *sim, int32_t i)
{
    const double near = 1.5 * sim->grid->dx; // m, from a cell's centre: further away, there are open cells between
    int32_t c[3];
    if (!sim->moving) return false;
    mo_grid_cell(sim->grid, i, c);
    mo_vec3 x = mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    for (int32_t k = 0; k < sim->solid_count; k++) {
        const mo_solid *solid = &sim->solids[k];
        if (mo_solid_can_move(solid) && !mo_solid_beyond(solid, x, near) && mo_solid_distance_at(solid, x) < near)
            return true;
    }
    return false;
}

static void drop_told(const mo_sim *sim, gaps *s)
{
    for (bool any = true; any;) {
        int32_t left = 0;
        any = false;
        for (int32_t k = 0; k < s->count; k++) {
            if (told_beside(sim, s, s->cell[k]) && !may_open(sim, s->cell[k]))
                s->is[s->cell[k]] = 0, any = true;
            else
                s->cell[left++] = s->cell[k];
        }
        s->count = left;
    }
}

// Slits beside liquid are liquid: the solve fills them as they open.
static mo_status keep_slits(mo_sim *sim, uint8_t *is_gap, mo_error *err)
{
    if (sim->slits.count == 0) return MO_OK;
    int64_t cells = mo_grid_cells(sim->grid);
    double *wet = MO_ARENA_ARRAY(sim->arena, double, sim->slits.count);
    uint8_t *liquid = MO_ARENA_ARRAY(sim->arena, uint8_t, cells + 1);
    if (!wet || !liquid) return mo_fail_memory(err);
    for (int64_t i = 0; i < cells; i++) liquid[i] = sim->level.phi[i] < 0 && sim->openings.volume[i] > 0;
    MO_TRY(mo_sim_wet_slits(sim, liquid, wet, err));
    for (int32_t k = 0; k < sim->slits.count; k++)
        if (wet[k] >= 0.5) is_gap[sim->slits.slit[k].cell] = 0;
    return MO_OK;
}

// Empties such gaps; beside moving solids also those in slits, which may open faster than liquid can follow. Slivers do
// not count: they are closed to the liquid, and would be holes in its surface beside every floating body.
static mo_status empty_gaps(mo_sim *sim, mo_error *err)
{
    const float dry = 1.5f; // cells above the surface: no part of the cell is wet
    const mo_openings *o = &sim->openings;
    float *phi = sim->level.phi;
    int32_t cells = (int32_t)mo_grid_cells(sim->grid);
    if (!sim->solid_count) return MO_OK;
    gaps s = {.is = sim->scratch.bytes};
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < cells; i++)
        s.is[i] = o->distance[i] < 0 && o->volume[i] >= (float)MO_SLIT && phi[i] < dry && opens_empty(sim, i);
    MO_TRY(keep_slits(sim, s.is, err));
    for (int32_t i = 0; i < cells; i++) s.count += s.is[i];
    if (!(s.cell = MO_ARENA_ARRAY(sim->arena, int32_t, s.count + 1))) return mo_fail_memory(err);
    s.count = 0;
    for (int32_t i = 0; i < cells; i++)
        if (s.is[i]) s.cell[s.count++] = i;
    drop_told(sim, &s);
    for (int32_t k = 0; k < s.count; k++) phi[s.cell[k]] = dry;
    return MO_OK;
}

// Makes distances and `press` from l->spare, which holds the right zero set.
static mo_status finish_start(mo_sim *sim, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_fill_margins(g, walls.open_wall, l->spare);
    mo_redistance_both(g, l->spare, MO_LEVELSET_BAND, l->phi, scratch->field[0], scratch->bytes);
    if (sim->solid_count) mo_levelset_extend(g, &walls, l->phi);
    MO_TRY(empty_gaps(sim, err));
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
    return MO_OK;
}

static void finish_press(mo_sim *sim)
{
    float *const *field = sim->scratch.field, *balls = field[4];
    uint8_t *thin = sim->scratch.bytes + mo_grid_fields(sim->grid);
    find_particle_surface(sim, balls, field[2], field[3]);
    mo_surface_thin(sim->grid, sim->level.phi, sim->openings.distance, sim->scratch.bytes, thin);
    choose_press(sim, balls, thin);
}

mo_status mo_sim_start_level(mo_sim *sim, mo_error *err)
{
    MO_TRY(mo_sim_level_from_shapes(sim, sim->level.spare, err));
    MO_TRY(finish_start(sim, err));
    match_volumes(sim, sim->scratch.bytes + mo_grid_fields(sim->grid));
    finish_press(sim);
    return MO_OK;
}

mo_status mo_sim_start_emitters(mo_sim *sim, mo_error *err)
{
    memcpy(sim->level.spare, sim->level.phi, sizeof(float) * (size_t)mo_grid_fields(sim->grid));
    fill_emitters(sim, 0, sim->level.spare);
    MO_TRY(finish_start(sim, err));
    finish_press(sim);
    return MO_OK;
}

// ---- A step ----

void mo_sim_advect_level(mo_sim *sim, const mo_faces *faces, double dt)
{
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_advect(&sim->level, sim->grid, faces, (float)(dt / sim->grid->dx), walls.open_wall);
}

// Beside a moving solid the surface counts as moving, even where there is no particle: so a gap that opens behind the
// solid is not filled by the surface that was continued inside it.
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

// Emitters add the surface of the liquid that they let in, and its energy.
static void renew_emitters(mo_sim *sim, double time)
{
    if (!sim->def.emitter_count) return;
    double before = mo_sim_surface_energy(sim);
    fill_emitters(sim, time, sim->level.phi);
    sim->account.work += mo_sim_surface_energy(sim) - before;
}

mo_status mo_sim_correct_level(mo_sim *sim, double dt, uint8_t *thin, float *density, mo_error *err)
{
    MO_ASSERT(sim->level.tiles == sim->grid->tiles && dt >= 0);
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    float *surface = sim->scratch.field[3], *balls = sim->scratch.field[4], *work[3];
    const bool papers = sim->def.correct_volume == MO_CORRECTION_LOCAL; // the particles' surface, as it is
    size_t mark = mo_arena_mark(sim->step_arena);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, work, err));
    find_particle_surface(sim, balls, density, surface);
    move_beside_solids(sim, dt);
    mo_levelset_particles told = {.particles = &sim->particles,
                                  .surface = surface,
                                  .density = density,
                                  .open_volume = o->volume,
                                  .solid_distance = o->distance,
                                  .near_solids = sim->solid_count > 0};
    if (papers)
        memcpy(l->phi, surface, sizeof(float) * (size_t)mo_grid_fields(g));
    else
        mo_levelset_follow(l, g, &told, (float)(dt / g->dx), work);
    renew_emitters(sim, sim->time + dt);
    if (sim->solid_count) mo_levelset_extend(g, &walls, l->phi);
    mo_levelset_redistance(l, g, walls.open_wall, work, sim->scratch.bytes);
    MO_TRY(empty_gaps(sim, err));
    mo_surface_thin(g, l->phi, o->distance, sim->scratch.bytes, thin);
    double offset;
    if (!papers) MO_TRY(mo_levelset_keep_volume(l, g, &sim->particles, o->volume, thin, &offset, sim->arena, err));
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
    choose_press(sim, balls, thin);
    mo_arena_release(sim->step_arena, mark);
    return MO_OK;
}
