// The surface of the liquid over a run: how it starts from shapes and emitters, and what a step does to it
// (docs/surface.md).
#include "fluid/level.h"
#include "grid/levelset.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// ---- Start ----

// Signed distance to the liquids' shapes, in cells; x in lattice coordinates.
static double liquid_distance(const mo_sim *sim, const double x[3])
{
    double d = MO_LEVEL_BAND;
    for (int32_t i = 0; i < sim->def.liquid_count; i++)
        d = fmin(d,
                 mo_shape_distance(sim->liquids[i].shape, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    return fmax(d, -MO_LEVEL_BAND);
}

// Unit normal of a distance in lattice coordinates, by differences of a tenth of a cell; false where it has none.
typedef double (*distance_fn)(const mo_sim *sim, int32_t which, const double x[3]);

static double liquids_at(const mo_sim *sim, int32_t which, const double x[3])
{
    (void)which;
    return liquid_distance(sim, x);
}

static double solid_at(const mo_sim *sim, int32_t which, const double x[3])
{
    mo_solid_set set = mo_sim_solid_set(sim);
    return set.distance(set.user, which, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx;
}

static bool normal_at(const mo_sim *sim, distance_fn distance, int32_t which, const double x[3], double n[3])
{
    double length = 0;
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (distance(sim, which, hi) - distance(sim, which, lo));
        length += n[a] * n[a];
    }
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

static const double touching = 0.3, opposed = -0.8; // cells; cosine between outward normals

// Whether the liquid's shape ends at a closed wall at s, a point of its surface with the normal n.
static bool ends_at_wall(const mo_sim *sim, const double s[3], const double n[3])
{
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++)
        for (int side = 0; side < 2; side++) {
            if (sim->def.domain.walls[2 * a + side] == MO_WALL_OPEN) continue;
            double inside = side ? sim->grid->n[a] - MO_MARGIN - s[a] : s[a] - MO_MARGIN;
            if (inside <= touching && (side ? -n[a] : n[a]) < opposed) return true;
        }
    return false;
}

static bool ends_at_solid(const mo_sim *sim, const double s[3], const double n[3])
{
    for (int32_t k = 0; k < sim->def.solid_count; k++) {
        double m[3];
        if (solid_at(sim, k, s) > touching || !normal_at(sim, solid_at, k, s, m)) continue;
        if (n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < opposed) return true;
    }
    return false;
}

// Whether what lies nearest to a cell is a face of the liquid's shape that touches a wall or solid. That is no surface:
// the cell's distance is another, told by its neighbours.
static bool held_by_wall(const mo_sim *sim, int32_t index)
{
    int32_t c[3];
    mo_grid_cell(sim->grid, index, c);
    double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, n[3], s[3], phi = liquid_distance(sim, x);
    if (fabs(phi) >= MO_LEVEL_BAND || (phi >= 0 && sim->field.distance[index] >= 0)) return false;
    if (!normal_at(sim, liquids_at, 0, x, n)) return false;
    for (int a = 0; a < 3; a++) s[a] = x[a] - phi * n[a];
    return ends_at_wall(sim, s, n) || ends_at_solid(sim, s, n);
}

// The distances of the shapes; where they end at walls the surface of the open part goes on.
static void start_from_shapes(mo_sim *sim, float *phi)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    int64_t cells = mo_grid_cells(g);
    uint8_t *known = f->valid[0];
    for (int32_t i = 0; i < (int32_t)cells; i++) { // shapes may be asked by one thread only
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool in = mo_levelset_in_domain(g, c);
        double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        phi[i] = in ? (float)liquid_distance(sim, x) : MO_LEVEL_BAND;
        known[i] = !in ? 2 : !held_by_wall(sim, i);
    }
    mo_extrapolate(g, phi, known, 3 * (int)MO_LEVEL_BAND, 2, f->scratch[0], f->bytes);
    for (int64_t i = 0; i < cells; i++)
        phi[i] = known[i] ? mo_minf(mo_maxf(phi[i], -MO_LEVEL_BAND), MO_LEVEL_BAND) : -MO_LEVEL_BAND;
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

// The union of balls into field.phi, the particles' density into scratch[2], their surface into scratch[3].
static void find_particle_surface(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_surface_union(&sim->particles, g, sim->radii.pressure, &walls, f->phi, f->scratch[0], f->bytes);
    mo_surface_visible(g, f->phi, &sim->radii, &walls, f->scratch[3], f->scratch, f->bytes);
    mo_transfer_density(&sim->particles, g, f->scratch[2]);
    mo_surface_smooth(g, f->scratch[2], f->volume, f->distance, f->scratch[3], f->scratch);
}

// What pressure sees: the level set, but the union (in field.phi) where the level set is thin. thin: a byte field, out.
static void choose_press(mo_sim *sim, uint8_t *thin)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_surface_thin(g, sim->level.phi, f->distance, f->bytes, thin);
    memcpy(sim->level.press, f->phi, sizeof(float) * (size_t)mo_grid_cells(g));
    mo_surface_choose(&sim->particles, g, sim->level.phi, thin, sim->level.press, f->scratch[0]);
}

// Particles hold what the level set holds: seeds are counted, and a shape cuts their sub-cells.
static void match_volumes(mo_sim *sim)
{
    const double most = 0.2; // a film thinner than the grid is not told by the level set
    double have = mo_particles_volume(&sim->particles),
           want = mo_levelset_volume(sim->grid, sim->level.phi, sim->field.volume);
    if (!(have > 0) || fabs(want / have - 1) > most) return;
    for (int32_t q = 0; q < sim->particles.count; q++) sim->particles.volume[q] *= (float)(want / have);
}

// From l->spare, which holds the right zero set, to distances and what pressure sees.
static void finish_start(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_fill_margins(g, walls.open_wall, l->spare);
    mo_redistance_both(g, l->spare, MO_LEVEL_BAND, l->phi, f->scratch[0], f->bytes);
    if (sim->def.solid_count) mo_levelset_extend(g, &walls, l->phi, f->scratch[0]);
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
}

static void finish_press(mo_sim *sim)
{
    find_particle_surface(sim);
    choose_press(sim, sim->field.bytes + mo_grid_cells(sim->grid));
}

void mo_sim_start_level(mo_sim *sim)
{
    start_from_shapes(sim, sim->level.spare);
    finish_start(sim);
    match_volumes(sim);
    finish_press(sim);
}

void mo_sim_start_emitters(mo_sim *sim)
{
    memcpy(sim->level.spare, sim->level.phi, sizeof(float) * (size_t)mo_grid_cells(sim->grid));
    fill_emitters(sim, 0, sim->level.spare);
    finish_start(sim);
    finish_press(sim);
}

// ---- A step ----

void mo_sim_advect_level(mo_sim *sim)
{
    mo_fields *f = &sim->field;
    mo_faces faces = {.u = {f->u[0], f->u[1], f->u[2]}};
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_levelset_advect(&sim->level, sim->grid, &faces, (float)(sim->dt / sim->grid->dx), walls.open_wall);
}

mo_status mo_sim_correct_level(mo_sim *sim, uint8_t *thin, mo_error *err)
{
    const double volume_seconds = 0.1;
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_levelset *l = &sim->level;
    mo_surface_walls walls = mo_sim_walls(sim);
    find_particle_surface(sim);
    mo_levelset_follow(l, g, &sim->particles, f->scratch[3], (float)(sim->dt / g->dx), f->distance,
                       sim->def.solid_count > 0, f->u);
    fill_emitters(sim, sim->time + sim->dt, l->phi);
    if (sim->def.solid_count) mo_levelset_extend(g, &walls, l->phi, f->scratch[0]);
    mo_levelset_redistance(l, g, walls.open_wall, f->u, f->bytes);
    mo_surface_thin(g, l->phi, f->distance, f->bytes, thin);
    double offset;
    MO_TRY(mo_levelset_keep_volume(l, g, &sim->particles, f->volume, thin, sim->dt / volume_seconds, &offset,
                                   sim->arena, err));
    mo_levelset_fill_margins(g, walls.open_wall, l->phi);
    choose_press(sim, thin);
    return MO_OK;
}
