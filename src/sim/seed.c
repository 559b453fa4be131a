// Filling liquids with particles.
#include "base/parallel.h"
#include "sim/sim.h"
#include <math.h>

// A stratified, jittered place in sub-cell (a, b, c) of a lattice of sub-cells, in cells.
void mo_sim_jittered(const mo_sim *sim, int64_t a, int64_t b, int64_t c, double x[3])
{
    double h = 1.0 / sim->def.particles_per_axis;
    int64_t s[3] = {a, b, c};
    for (int d = 0; d < 3; d++) {
        uint32_t hash = mo_hash((uint32_t)a, (uint32_t)b, (uint32_t)c * 3u + (uint32_t)d);
        x[d] = h * ((double)s[d] + 0.5 + 0.5 * (mo_unit(hash) - 0.5));
    }
    if (sim->cells[2] == 1) x[2] = MO_MARGIN + 0.5;
}

bool mo_sim_inside_solid(const mo_sim *sim, mo_vec3 x)
{
    mo_solid_set set = mo_sim_solid_set(sim);
    for (int32_t s = 0; s < set.count; s++)
        if (set.distance(set.user, s, x) < 0) return true;
    return false;
}

mo_status mo_sim_add_particle(mo_sim *sim, int32_t source, const double x[3], mo_vec3 v, mo_error *err)
{
    MO_ASSERT(source >= 0 && source < sim->def.liquid_count + sim->def.emitter_count);
    mo_particles *p = &sim->particles;
    double viscosity = 0;
    if (sim->viscous)
        MO_TRY(
            mo_sim_viscosity_at(sim, source, mo_grid_world(sim->grid, x[0], x[1], x[2]), sim->time, &viscosity, err));
    if (p->count == p->capacity) MO_TRY(mo_particles_reserve(p, (int64_t)p->count + p->count / 2 + 4096, err));
    int32_t q = p->count++, per_axis = sim->def.particles_per_axis;
    for (int f = 0; f < p->fields; f++) p->field[f][q] = 0;
    for (int a = 0; a < 3; a++) p->x[a][q] = (float)x[a], p->v[a][q] = (float)mo_get(v, a);
    if (sim->cells[2] == 1) p->v[2][q] = 0;
    p->volume[q] = 1.0f / (float)(sim->cells[2] == 1 ? per_axis * per_axis : per_axis * per_axis * per_axis);
    if (sim->viscous) p->viscosity[q] = (float)viscosity, p->material[q] = (float)source;
    return MO_OK;
}

// Cells of the domain that a box in the world touches.
void mo_sim_cell_range(const mo_sim *sim, mo_box3 box, int32_t lo[3], int32_t hi[3])
{
    MO_ASSERT(box.lo.x <= box.hi.x && box.lo.y <= box.hi.y && box.lo.z <= box.hi.z);
    for (int a = 0; a < 3; a++) {
        double l = (mo_get(box.lo, a) - mo_get(sim->grid->origin, a)) / sim->grid->dx;
        double h = (mo_get(box.hi, a) - mo_get(sim->grid->origin, a)) / sim->grid->dx;
        int32_t first = MO_MARGIN, last = sim->grid->n[a] - MO_MARGIN - 1;
        lo[a] = (int32_t)fmin(fmax(floor(l), first), last + 1);
        hi[a] = (int32_t)fmax(fmin(floor(h), last), first - 1);
    }
    if (sim->cells[2] == 1) lo[2] = hi[2] = MO_MARGIN;
}

typedef struct tally {
    int64_t seeds, in_solid;
    double volume; // cells: of the shape, outside of earlier ones and of solids
} tally;

static bool in_earlier_liquid(const mo_sim *sim, int32_t liquid, mo_vec3 x)
{
    for (int32_t i = 0; i < liquid; i++)
        if (mo_shape_distance(sim->liquids[i].shape, x) < 0) return true;
    return false;
}

// How much of a cell is liquid, by 4 samples along each axis; a sample stands for a small cube, and the distance gives
// the part of it that is inside.
static double sampled_part(const mo_sim *sim, int32_t liquid, const int32_t c[3])
{
    enum { SAMPLES = 4 };
    int layers = sim->cells[2] == 1 ? 1 : SAMPLES;
    double inside = 0;
    for (int s = 0; s < SAMPLES * SAMPLES * layers; s++) {
        double at[3] = {(s % SAMPLES + 0.5) / SAMPLES, (s / SAMPLES % SAMPLES + 0.5) / SAMPLES,
                        (s / (SAMPLES * SAMPLES) + 0.5) / layers};
        mo_vec3 x = mo_grid_world(sim->grid, c[0] + at[0], c[1] + at[1], c[2] + at[2]);
        if (in_earlier_liquid(sim, liquid, x) || mo_sim_inside_solid(sim, x)) continue;
        double d = mo_shape_distance(sim->liquids[liquid].shape, x) / sim->grid->dx;
        if (d < 0.5 / SAMPLES &&
            mo_sim_behind_shell(sim, liquid, (double[3]){c[0] + at[0], c[1] + at[1], c[2] + at[2]}))
            continue;
        inside += fmin(fmax(0.5 - SAMPLES * d, 0), 1);
    }
    return inside / (SAMPLES * SAMPLES * layers);
}

// A film thinner than a cell may get twice the right number of seeds, or half. So each seed gets its part of the
// shape's volume.
static void share_volume(mo_sim *sim, const tally *count, int32_t first)
{
    mo_particles *p = &sim->particles;
    double have = 0;
    for (int32_t q = first; q < p->count; q++) have += p->volume[q];
    if (!(have > 0) || !(count->volume > 0)) return;
    for (int32_t q = first; q < p->count; q++) p->volume[q] = (float)(p->volume[q] * count->volume / have);
}

static mo_status velocity_at(const mo_sim *sim, int32_t liquid, mo_vec3 x, mo_vec3 *v, mo_error *err)
{
    const mo_liquid_def *l = &sim->liquids[liquid];
    mo_status status = l->velocity_fn(l->user, x, v, err);
    if (status != MO_OK && err->status != status) // a callback that left no text
        mo_fail(err, status, "liquid %d: its velocity function failed", liquid + 1);
    MO_TRY(status);
    if (mo_v3_finite(*v)) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "liquid %d: velocity at (%g, %g, %g) is not finite", liquid + 1, x.x, x.y, x.z);
}

// The affine velocity of a new particle, by central differences of half a cell: exact for rigid motions.
static mo_status seed_gradient(mo_sim *sim, int32_t liquid, mo_vec3 x, int32_t q, mo_error *err)
{
    double h = 0.25 * sim->grid->dx;
    for (int b = 0; b < (sim->cells[2] == 1 ? 2 : 3); b++) {
        mo_vec3 step = {b == 0 ? h : 0, b == 1 ? h : 0, b == 2 ? h : 0}, low, high;
        MO_TRY(velocity_at(sim, liquid, mo_sub(x, step), &low, err));
        MO_TRY(velocity_at(sim, liquid, mo_add(x, step), &high, err));
        for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++)
            sim->particles.c[a][b][q] = (float)(2 * (mo_get(high, a) - mo_get(low, a)));
    }
    return MO_OK;
}

static mo_status seed_cell(mo_sim *sim, int32_t liquid, const int32_t c[3], bool count_only, tally *count,
                           mo_error *err)
{
    const mo_liquid_def *l = &sim->liquids[liquid];
    mo_vec3 centre = mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    double depth = -mo_shape_distance(l->shape, centre) / sim->grid->dx;
    if (depth < -0.9) return MO_OK;
    int32_t m = sim->def.particles_per_axis, layers = sim->cells[2] == 1 ? 1 : m;
    int64_t before = count->seeds;
    for (int32_t s = 0; s < m * m * layers; s++) {
        double x[3];
        mo_sim_jittered(sim, (int64_t)c[0] * m + s % m, (int64_t)c[1] * m + s / m % m, (int64_t)c[2] * m + s / (m * m),
                        x);
        mo_vec3 w = mo_grid_world(sim->grid, x[0], x[1], x[2]), v = l->velocity;
        if (mo_shape_distance(l->shape, w) >= 0 || in_earlier_liquid(sim, liquid, w)) continue;
        if (mo_sim_inside_solid(sim, w)) {
            count->in_solid++;
            continue;
        }
        const double near = 5e-3 * sim->grid->dx; // this near to a shell its two sides cannot be distinguished
        if (sim->shells.count && (mo_sim_behind_shell(sim, liquid, x) || mo_sim_shell_distance(sim, w, near) < near))
            continue;
        count->seeds++;
        if (count_only) continue;
        if (!l->velocity_fn) {
            MO_TRY(mo_sim_add_particle(sim, liquid, x, v, err));
            continue;
        }
        MO_TRY(velocity_at(sim, liquid, w, &v, err));
        MO_TRY(mo_sim_add_particle(sim, liquid, x, v, err));
        MO_TRY(seed_gradient(sim, liquid, w, sim->particles.count - 1, err));
    }
    bool full = depth > 0.87 && count->seeds - before == m * m * layers; // its corners are inside
    if (!count_only) count->volume += full ? 1 : sampled_part(sim, liquid, c);
    return MO_OK;
}

int64_t mo_sim_seed(mo_sim *sim, bool count_only, mo_error *err)
{
    int64_t total = 0;
    err->status = MO_OK;
    for (int32_t i = 0; i < sim->def.liquid_count; i++) {
        int32_t lo[3], hi[3], c[3];
        tally count = {0};
        int32_t first = sim->particles.count;
        mo_sim_cell_range(sim, mo_shape_bounds(sim->liquids[i].shape), lo, hi);
        for (c[2] = lo[2]; c[2] <= hi[2]; c[2]++)
            for (c[1] = lo[1]; c[1] <= hi[1]; c[1]++)
                for (c[0] = lo[0]; c[0] <= hi[0]; c[0]++)
                    if (seed_cell(sim, i, c, count_only, &count, err) != MO_OK) return -1;
        if (count.seeds == 0) {
            mo_fail(err, MO_ERROR_INPUT,
                    count.in_solid ? "liquid %d: lies entirely inside a solid"
                                   : "liquid %d: is empty (outside the domain, or smaller than a cell)",
                    i + 1);
            return -1;
        }
        if (!count_only) share_volume(sim, &count, first);
        total += count.seeds;
    }
    return total;
}

// ---- Counting alone ----

static double box_cells(const int32_t lo[3], const int32_t hi[3])
{
    double cells = 1;
    for (int a = 0; a < 3; a++) cells *= hi[a] < lo[a] ? 0 : hi[a] - lo[a] + 1.0;
    return cells;
}

// The part of a box of cells, in cells, that one liquid fills, by samples at even distances of about `stride` cells.
static double sampled_cells(const mo_sim *sim, int32_t liquid, const int32_t lo[3], const int32_t hi[3], double stride)
{
    int64_t hits = 0, many[3], i[3];
    for (int a = 0; a < 3; a++) many[a] = hi[a] < lo[a] ? 0 : (int64_t)ceil((hi[a] - lo[a] + 1) / stride);
    for (i[2] = 0; i[2] < many[2]; i[2]++)
        for (i[1] = 0; i[1] < many[1]; i[1]++)
            for (i[0] = 0; i[0] < many[0]; i[0]++) {
                double x[3];
                for (int a = 0; a < 3; a++) x[a] = lo[a] + ((double)i[a] + 0.5) * (hi[a] - lo[a] + 1) / (double)many[a];
                mo_vec3 w = mo_grid_world(sim->grid, x[0], x[1], x[2]);
                hits += mo_shape_distance(sim->liquids[liquid].shape, w) < 0 && !in_earlier_liquid(sim, liquid, w) &&
                        !mo_sim_inside_solid(sim, w);
            }
    double samples = (double)many[0] * (double)many[1] * (double)many[2];
    return samples > 0 ? box_cells(lo, hi) * (double)hits / samples : 0;
}

int64_t mo_sim_count_seeds(mo_sim *sim, bool *sampled, mo_error *err)
{
    enum { MOST_CELLS = 1000000, SAMPLES = 200000 };
    int32_t lo[3], hi[3], m = sim->def.particles_per_axis;
    double all = 0, seeds = 0;
    bool flat = sim->cells[2] == 1;
    for (int32_t i = 0; i < sim->def.liquid_count; i++) {
        mo_sim_cell_range(sim, mo_shape_bounds(sim->liquids[i].shape), lo, hi);
        all += box_cells(lo, hi);
    }
    *sampled = all > MOST_CELLS;
    if (!*sampled) return mo_sim_seed(sim, true, err);
    for (int32_t i = 0; i < sim->def.liquid_count; i++) {
        mo_sim_cell_range(sim, mo_shape_bounds(sim->liquids[i].shape), lo, hi);
        double every = all / SAMPLES;
        seeds += m * m * (flat ? 1.0 : m) * sampled_cells(sim, i, lo, hi, flat ? sqrt(every) : cbrt(every));
    }
    return (int64_t)seeds;
}
