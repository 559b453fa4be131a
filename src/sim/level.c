// The surface of the liquid over a run: how it starts from shapes and emitters, and what a step does to it
// (docs/surface.md).
#include "fluid/levelset.h"
#include "grid/extrapolate.h"
#include "grid/meet.h"
#include "grid/redistance.h"
#include "grid/reach.h"
#include "sim/slits.h"
#include <math.h>
#include <string.h>

// ---- Start ----

static const double touching = 0.3; // cells: a face of a liquid's shape this near to a solid counts as lying on it

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

// The gradient of one of these distances, by differences of a tenth of a cell.
static void gradient_at(const mo_sim *sim, double (*distance)(const mo_sim *, const double[3]), const double x[3],
                        double n[3])
{
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (distance(sim, hi) - distance(sim, lo));
    }
}

// Unit normal of the liquids' shapes; false where they have none.
static bool normal_at(const mo_sim *sim, const double x[3], double n[3])
{
    gradient_at(sim, liquid_distance, x, n);
    double length = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

// Whether a face of the liquid's shape, through the point `at` with the normal n, comes out of the solids round it. The
// face is followed along itself to where they are further away. A face on the surface of a solid does not come out, nor
// does a face that is all inside it. A face that meets a solid at an angle is the surface of the liquid, even where it
// continues inside the solid.
static bool comes_out(const mo_sim *sim, const double at[3], const double n[3])
{
    enum { STEPS = 8 };
    // Slope of 10 degrees; cells: longest step, and largest distance from the face.
    const double along = 0.17, most = 2, off = 0.5;
    double y[3] = {at[0], at[1], at[2]}, m[3] = {n[0], n[1], n[2]};
    for (int step = 0; step < STEPS; step++) {
        double d = wall_distance(sim, y), up[3], across = 0, slope = 0;
        if (d > touching) return true;
        gradient_at(sim, wall_distance, y, up);
        for (int a = 0; a < 3; a++) across += up[a] * m[a];
        for (int a = 0; a < 3; a++) up[a] -= across * m[a], slope += up[a] * up[a];
        slope = sqrt(slope);
        if (slope < along) return false;
        for (int a = 0; a < 3; a++) y[a] += fmin((touching + 0.1 - d) / slope, most) * up[a] / slope;
        double phi = liquid_distance(sim, y);
        if (fabs(phi) > off || !normal_at(sim, y, m)) return false; // there the face ends
        for (int a = 0; a < 3; a++) y[a] -= phi * m[a];
    }
    return false;
}

// Whether the nearest face of the liquid's shape to x, at the distance phi, touches a wall or solid. Then it is not a
// surface, and the true distance is different. Such a face lies within `touching` of the solid, the solid gets deeper
// beyond it, and the face does not come out of the solid. n: gets the shape's outward normal.
static bool ends_at_wall(const mo_sim *sim, const double x[3], double phi, double n[3])
{
    const double deeper = -0.5; // slope of the solid's distance
    double at[3], beyond[3];
    if (!normal_at(sim, x, n)) return false;
    for (int a = 0; a < 3; a++) at[a] = x[a] - phi * n[a], beyond[a] = at[a] + 0.5 * n[a];
    double d = wall_distance(sim, at);
    return d <= touching && wall_distance(sim, beyond) - d < 0.5 * deeper && !comes_out(sim, at, n);
}

static void cell_centre(const mo_grid *g, int32_t index, double x[3])
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    for (int a = 0; a < 3; a++) x[a] = c[a] + 0.5;
}

static mo_vec3 world_at(const mo_sim *sim, const double x[3]) { return mo_grid_world(sim->grid, x[0], x[1], x[2]); }

// Signed distance to the shape of one liquid, in cells, and its unit normal; false where it has none.
static double one_distance(const mo_sim *sim, int32_t liquid, const double x[3])
{
    double d = mo_shape_distance(sim->liquids[liquid].shape, world_at(sim, x)) / sim->grid->dx;
    return fmin(fmax(d, -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
}
static bool one_normal(const mo_sim *sim, int32_t liquid, const double x[3], double n[3])
{
    double length = 0;
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (one_distance(sim, liquid, hi) - one_distance(sim, liquid, lo));
        length += n[a] * n[a];
    }
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

// A face of a liquid's shape that lies on a shell is not a surface, and the space behind the shell does not belong to
// the liquid: the line from there to the inside of the shape passes the shell.
bool mo_sim_behind_shell(const mo_sim *sim, int32_t liquid, const double x[3])
{
    double phi, n[3], in[3];
    if (!sim->shells.count || (phi = one_distance(sim, liquid, x)) < -touching) return false;
    double reach = (phi + 1) * sim->grid->dx;
    if (phi >= MO_LEVELSET_BAND || !(mo_sim_shell_distance(sim, world_at(sim, x), reach) < reach)) return false;
    if (!one_normal(sim, liquid, x, n)) return false;
    for (int a = 0; a < 3; a++) in[a] = x[a] - (phi + touching) * n[a];
    return mo_sim_shell_between(sim, world_at(sim, x), world_at(sim, in));
}

// Whether the face of a liquid's shape that is nearest to x lies on a shell.
static bool ends_at_shell(const mo_sim *sim, int32_t liquid, const double x[3], double phi)
{
    double n[3], in[3], out[3];
    if (fabs(phi) >= MO_LEVELSET_BAND || !one_normal(sim, liquid, x, n)) return false;
    for (int a = 0; a < 3; a++) in[a] = x[a] - (phi + touching) * n[a], out[a] = in[a] + 2 * touching * n[a];
    return mo_sim_shell_between(sim, world_at(sim, in), world_at(sim, out));
}

// The liquid whose shape is nearest to x.
static int32_t nearest_liquid(const mo_sim *sim, const double x[3])
{
    int32_t nearest = 0;
    for (int32_t i = 1; i < sim->def.liquid_count; i++)
        if (one_distance(sim, i, x) < one_distance(sim, nearest, x)) nearest = i;
    return nearest;
}

static bool held_by_wall(const mo_sim *sim, int32_t index, double phi)
{
    double x[3], n[3];
    if (fabs(phi) >= MO_LEVELSET_BAND || (phi >= 0 && sim->openings.distance[index] >= 0)) return false;
    if (sim->openings.distance[index] - fabs(phi) > touching) return false; // no solid is that near
    cell_centre(sim->grid, index, x);
    return ends_at_wall(sim, x, phi, n);
}

// The distance of a held cell from the surface of a film on the wall, if all cells of the film are held. A little
// further from the wall, the nearest face of the shape is that surface; from there it is continued as a plane.
// -MO_LEVELSET_BAND: there is no film, the liquid is deep.
static double film_distance(const mo_sim *sim, int32_t index)
{
    double x[3], n[3];
    cell_centre(sim->grid, index, x);
    if (!normal_at(sim, x, n)) return -MO_LEVELSET_BAND;
    for (int step = 1; step <= 4; step++) {
        double y[3], m[3], t = 0.25 * step; // half a film of two cells
        for (int a = 0; a < 3; a++) y[a] = x[a] - t * n[a];
        double phi = liquid_distance(sim, y);
        if (phi >= 0) return -MO_LEVELSET_BAND;
        if (!ends_at_wall(sim, y, phi, m) && !ends_at_shell(sim, nearest_liquid(sim, y), y, phi) &&
            normal_at(sim, y, m))
            return phi + t * (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]);
    }
    return -MO_LEVELSET_BAND;
}

// Whether a row beside has known = 1, where sheets are.
static bool told_by_row(const mo_sim *sim, int32_t row, const uint8_t *known)
{
    const mo_row_sample *list;
    for (int k = 0, count = mo_sites_of_row(sim->grid, row, &list); k < count; k++) {
        int32_t i = list[k].sample, a = list[k].axis,
                n = list[k].side ? mo_sample_high(sim->grid, a, i) : mo_sample_low(sim->grid, a, i);
        if (n >= 0 && known[n] == 1 && sim->openings.area[a][i] > 0) return true;
    }
    return false;
}

// Finds the cells from which held cells take their distances: liquid and the air above it, not the other side of a
// solid. known: 1 = such a cell, 2 = not such a cell, 0 = held. bytes: a byte field.
static void find_tellers(const mo_sim *sim, const float *phi, const uint8_t *held, uint8_t *known, uint8_t *bytes)
{
    enum { LAYERS = 6 }; // of air: along walls, where linear extrapolation needs two cells behind one
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, mo_site_cell(g, i), c);
        known[i] = held[i] ? 0 : phi[i] < 0 && mo_levelset_in_domain(g, c) ? 1 : 2;
    }
    for (int layer = 0; layer < LAYERS; layer++) {
        memcpy(bytes, known, (size_t)mo_grid_fields(g));
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < mo_grid_rows(g); i++) {
            bool reached = false;
            if (mo_site_is_cut(g, i)) {
                if (bytes[i] == 2 && o->distance[i] >= 0 && told_by_row(sim, i, bytes)) known[i] = 1;
                continue;
            }
            for (int e = 0; e < 6 && bytes[i] == 2 && o->distance[i] >= 0 && !reached; e++) {
                int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
                reached = n >= 0 && bytes[n] == 1 && o->area[e >> 1][e & 1 ? n : i] > 0;
            }
            if (reached) known[i] = 1;
        }
    }
}

// The same for rows near shells. A row behind a shell is dry, whatever the shape says.
static void start_near_shells(const mo_sim *sim, float *phi, float *shape, uint8_t *held)
{
    const mo_reach *r = mo_reach_of(sim->grid);
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t i = r->row[k], c[3];
        double x[3], at[3];
        mo_grid_cell(sim->grid, mo_site_cell(sim->grid, i), c);
        phi[i] = shape[i] = MO_LEVELSET_BAND, held[i] = 0;
        if (!mo_levelset_in_domain(sim->grid, c)) continue;
        for (int a = 0; a < 3; a++) x[a] = at[a] = c[a] + 0.5;
        mo_site_place(sim->grid, i, at);
        for (int32_t n = 0; n < sim->def.liquid_count; n++) {
            float d = (float)one_distance(sim, n, x);
            if (d >= phi[i] || mo_sim_behind_shell(sim, n, at)) continue;
            phi[i] = shape[i] = d;
            held[i] = held_by_wall(sim, mo_site_cell(sim->grid, i), d) || ends_at_shell(sim, n, x, d);
        }
    }
}

// The distances of the shapes; where they end at walls, the surface of the open part is continued.
static mo_status start_from_shapes(mo_sim *sim, float *phi, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    int32_t cells = (int32_t)mo_grid_cells(g);
    enum { told = 3 }; // layers of cells round the open surface; held cells further away are deep
    uint8_t *known, *held;
    float *shape = scratch->field[1];
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &known, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &held, err));
    for (int32_t i = 0; i < cells; i++) { // only one thread may call shapes
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool in = mo_levelset_in_domain(g, c);
        double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        phi[i] = shape[i] = in ? (float)liquid_distance(sim, x) : MO_LEVELSET_BAND;
        held[i] = in && held_by_wall(sim, i, phi[i]);
    }
    start_near_shells(sim, phi, shape, held);
    find_tellers(sim, phi, held, known, scratch->bytes);
    mo_extrapolate(g, MO_SITE_ROW, phi, known, told, told, scratch->field[0], scratch->bytes);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        if (!known[i]) phi[i] = (float)film_distance(sim, mo_site_cell(g, i));
        if (held[i] && shape[i] < 0) phi[i] = mo_minf(phi[i], shape[i]); // the rest of the surface is not nearer
        phi[i] = mo_minf(mo_maxf(phi[i], -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
    }
    return MO_OK;
}

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
        for (int32_t q = p->start[i]; !thin[i] && q < p->start[i + 1]; q++) p->volume[q] *= (float)(want / have);
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
    double c[3];
    if (!sim->moving) return false;
    cell_centre(sim->grid, i, c);
    mo_vec3 x = mo_grid_world(sim->grid, c[0], c[1], c[2]);
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
    MO_TRY(start_from_shapes(sim, sim->level.spare, err));
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
