// Liquid without particles over a run (docs/band.md): which cells may hold it, how it starts, and the exchange between
// particles and deep liquid in a step.
#include "fluid/band.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// ---- Cells that may be deep ----

static const double near_solid = 2.5; // cells, from a cell's centre: nearer there are particles
static const int32_t near_open = 3;   // cells from open walls and emitters

// Solids as they stand at the end of the step, and boxes round the emitters.
typedef struct places {
    double dt; // s, of the step
    mo_solid *solid;
    mo_box3 *emitter;
} places;

static mo_status find_places(const mo_sim *sim, places *p, mo_error *err)
{
    p->solid = MO_ARENA_ARRAY(sim->arena, mo_solid, sim->solid_count + 1);
    p->emitter = MO_ARENA_ARRAY(sim->arena, mo_box3, sim->def.emitter_count + 1);
    if (!p->solid || !p->emitter) return mo_fail_memory(err);
    for (int32_t s = 0; s < sim->solid_count; s++) p->solid[s] = sim->solids[s], p->solid[s].pose = sim->solids[s].next;
    double around = (near_open + 0.5) * sim->grid->dx;
    for (int32_t e = 0; e < sim->def.emitter_count; e++) {
        mo_box3 box = mo_shape_bounds(sim->emitters[e].shape);
        mo_vec3 d = mo_v3(around, around, around);
        p->emitter[e] = (mo_box3){mo_sub(box.lo, d), mo_add(box.hi, d)};
    }
    return MO_OK;
}

static bool in_box(const mo_box3 *b, mo_vec3 x)
{
    return x.x > b->lo.x && x.x < b->hi.x && x.y > b->lo.y && x.y < b->hi.y && x.z > b->lo.z && x.z < b->hi.z;
}

// The sampled distance belongs to the earlier poses of solids; for moving solids the shape itself is used.
static bool beside_solid(const mo_sim *sim, const places *p, int32_t i, mo_vec3 x)
{
    double near = near_solid * sim->grid->dx;
    bool sampled = sim->openings.distance[i] < near_solid; // of solids or walls
    for (int32_t s = 0; s < sim->solid_count; s++) {
        const mo_solid *o = &p->solid[s];
        if (!(sampled || mo_solid_can_move(o)) || mo_solid_beyond(o, x, near)) continue;
        // The field belongs to the start of the step.
        double way = o->elastic ? p->dt * mo_elastic_speed(o->elastic) : 0;
        if (mo_solid_distance_at(o, x) < near + way) return true;
    }
    return false;
}

static bool may_be_deep(const mo_sim *sim, const places *p, int32_t i)
{
    const mo_grid *g = sim->grid;
    int32_t c[3];
    if (sim->level.phi[i] > 0.5f || sim->openings.volume[i] < 1) return false;
    mo_grid_cell(g, i, c);
    if (!mo_levelset_in_domain(g, c)) return false;
    for (int a = 0; a < 3; a++) {
        if (sim->def.domain.walls[2 * a] == MO_WALL_OPEN && c[a] < MO_MARGIN + near_open) return false;
        if (sim->def.domain.walls[2 * a + 1] == MO_WALL_OPEN && c[a] >= g->n[a] - MO_MARGIN - near_open) return false;
    }
    mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    for (int32_t e = 0; e < sim->def.emitter_count; e++)
        if (in_box(&p->emitter[e], x)) return false;
    return !beside_solid(sim, p, i, x);
}

static mo_status find_may(const mo_sim *sim, double dt, uint8_t **may, mo_error *err)
{
    places p = {.dt = dt};
    MO_TRY(find_places(sim, &p, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, may, err));
    uint8_t *out = *may;
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) out[i] = may_be_deep(sim, &p, i);
    return MO_OK;
}

// Gives the particles the data about deep liquid that transfers need.
void mo_sim_show_deep(mo_sim *sim)
{
    const mo_band *b = &sim->band;
    sim->particles.deep = b->cells ? b->deep : NULL;
    sim->particles.deep_share = b->cells ? (float)(b->volume / (double)b->cells) : 0;
}

double mo_sim_liquid_volume(const mo_sim *sim) { return mo_particles_volume(&sim->particles) + sim->band.volume; }

// ---- Start ----

// Puts a particle's liquid into the account of deep liquid (sign 1), or takes it out (-1).
static void enter_account(mo_sim *sim, int32_t q, int sign)
{
    const mo_particles *p = &sim->particles;
    double volume = sign * (double)p->volume[q];
    sim->band.volume += volume;
    for (int a = 0; a < 3; a++) sim->band.moment[a] += volume * p->x[a][q];
}

// Takes out the particles marked in `gone`; deep liquid gets their volume.
static void take_out(mo_sim *sim, const uint8_t *gone)
{
    mo_particles *p = &sim->particles;
    for (int32_t q = 0; q < p->count; q++)
        if (gone[q]) enter_account(sim, q, 1);
    mo_particles_remove(p, gone);
}

mo_status mo_sim_absorb_deep(mo_sim *sim, mo_error *err)
{
    const mo_particles *p = &sim->particles;
    if (!sim->band.cells) return MO_OK;
    uint8_t *gone = mo_arena_alloc(sim->arena, (size_t)p->count + 1);
    if (!gone) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        int32_t i = mo_grid_index(sim->grid, (int32_t)p->x[0][q], (int32_t)p->x[1][q], (int32_t)p->x[2][q]);
        gone[q] = i >= 0 && sim->band.deep[i];
    }
    take_out(sim, gone);
    return MO_OK;
}

mo_status mo_sim_start_band(mo_sim *sim, mo_error *err)
{
    mo_band *b = &sim->band;
    const mo_grid *g = sim->grid;
    mo_particles *p = &sim->particles;
    uint8_t *may;
    float *mass[3];
    mo_faces faces;
    mo_arena_reset(sim->arena);
    MO_TRY(mo_band_reserve(b, mo_grid_cells(g), err));
    MO_TRY(find_may(sim, 0, &may, err));
    MO_TRY(mo_sim_floats(sim, sim->arena, 3, mass, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 3, faces.valid, err));
    for (int a = 0; a < 3; a++) faces.u[a] = b->u[a];
    mo_transfer_to_faces(p, g, &faces, mass);
    uint8_t *gone = mo_arena_alloc(sim->arena, (size_t)p->count + 1);
    if (!gone) return mo_fail_memory(err);
    for (int64_t i = 0; i < mo_grid_cells(g); i++) {
        b->deep[i] = may[i] && sim->level.phi[i] <= -(float)(b->depth + 1) && p->start[i] < p->start[i + 1];
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++) gone[q] = b->deep[i];
    }
    b->cells = mo_band_count(g, b->deep);
    take_out(sim, gone);
    return mo_particles_shrink(p, err);
}

// ---- A step ----

mo_status mo_sim_carry_deep(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_band *b = &sim->band;
    mo_deep_step *d = &c->advect;
    if (!b->depth) return MO_OK;
    uint8_t *may;
    MO_TRY(find_may(sim, c->dt, &may, err));
    d->flow = (mo_band_flow){.faces = &c->apply.faces,
                             .step = (float)(c->dt / sim->grid->dx),
                             .phi = sim->level.phi,
                             .may = may,
                             .per_axis = sim->def.particles_per_axis};
    return mo_band_carry(b, sim->grid, &d->flow, &d->exposed, sim->arena, err);
}

static bool beside_deep(const mo_grid *g, const uint8_t *deep, const int32_t c[3])
{
    int reach = mo_grid_is_2d(g) ? 0 : 1;
    for (int k = -reach; k <= reach; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                int32_t n = mo_grid_index(g, c[0] + i, c[1] + j, c[2] + k);
                if (n >= 0 && deep[n]) return true;
            }
    return false;
}

// The ring: cells with particles beside deep ones, and those that liquid of deep cells has come to.
typedef struct ring {
    int32_t *of;      // field: number of the ring's cell, -1
    mo_band_gap *gap; // count: particles that the cell lacks; < 0: it has too many
    double *held;     // of each, cells
    int64_t count;
} ring;

// Marks the ring's cells with 0, others with -1.
static void mark_ring(const mo_sim *sim, const mo_band_gaps *exposed, int32_t *of)
{
    const mo_grid *g = sim->grid;
    const uint8_t *deep = sim->band.deep;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++) {
        uint8_t block[1000];
        mo_grid_block_u8(g, deep, t, 1, 0, block);
        bool any = memchr(block, 1, sizeof block) != NULL;
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            int32_t c[3];
            of[i] = -1;
            if (!any || deep[i] || (mo_grid_is_2d(g) && (i >> 6 & 7) != MO_MARGIN)) continue;
            mo_grid_cell(g, i, c);
            if (mo_levelset_in_domain(g, c) && sim->openings.volume[i] >= 1 && beside_deep(g, deep, c)) of[i] = 0;
        }
    }
    for (int64_t k = 0; k < exposed->count; k++) of[exposed->gap[k].cell] = 0;
}

static mo_status find_ring(const mo_sim *sim, const mo_band_gaps *exposed, ring *r, mo_error *err)
{
    int32_t cells = (int32_t)mo_grid_cells(sim->grid);
    r->of = MO_ARENA_ARRAY(sim->arena, int32_t, cells + 1);
    if (!r->of) return mo_fail_memory(err);
    mark_ring(sim, exposed, r->of);
    r->count = 0;
    for (int32_t i = 0; i < cells; i++)
        if (r->of[i] == 0) r->of[i] = (int32_t)r->count++;
    r->gap = MO_ARENA_ARRAY(sim->arena, mo_band_gap, r->count + 1);
    r->held = MO_ARENA_ARRAY(sim->arena, double, r->count + 1);
    if (!r->gap || !r->held) return mo_fail_memory(err);
    for (int32_t i = 0; i < cells; i++)
        if (r->of[i] >= 0)
            r->gap[r->of[i]] = (mo_band_gap){.cell = i, .count = INT32_MAX, .free = UINT64_MAX}, r->held[r->of[i]] = 0;
    for (int64_t k = 0; k < exposed->count; k++) r->gap[r->of[exposed->gap[k].cell]] = exposed->gap[k];
    return MO_OK;
}

// The number of the place in a full cell that is nearest to a particle.
static int place_of(const mo_sim *sim, int32_t q)
{
    int m = sim->def.particles_per_axis, at[3];
    for (int a = 0; a < 3; a++) {
        float x = sim->particles.x[a][q];
        at[a] = (int)((x - floorf(x)) * (float)m);
        if (at[a] >= m) at[a] = m - 1;
    }
    return at[0] + m * (at[1] + (sim->cells[2] == 1 ? 0 : m * at[2]));
}

static double seed_volume(const mo_sim *sim)
{
    double n = sim->def.particles_per_axis;
    return 1 / (sim->cells[2] == 1 ? n * n : n * n * n);
}

// A cell of the ring is filled if it lacks more than so many particles or so much of its volume, and thinned if it has
// more than so many too many. A single particle is noise, unless it is the only one of the cell.
static const double slack_particles = 1.4, slack_volume = 0.75;

static void judge_ring(const mo_sim *sim, ring *r)
{
    double full = seed_volume(sim), slack = fmin(slack_particles, slack_volume / full);
    for (int64_t k = 0; k < r->count; k++) {
        mo_band_gap *gap = &r->gap[k];
        double lack = (1 - r->held[k]) / full;
        if (lack > slack)
            gap->count = (int32_t)fmin(gap->count, floor(lack + 0.5));
        else
            gap->count = lack < -slack ? (int32_t)ceil(lack - 0.5) : 0;
        if (gap->count < 0) gap->free = UINT64_MAX;
    }
}

// Marks particles in deep cells. In cells of the ring with too many particles it marks those whose place another
// particle has.
static mo_status find_gone(const mo_sim *sim, ring *r, uint8_t *gone, mo_error *err)
{
    const mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    int32_t *at = MO_ARENA_ARRAY(sim->arena, int32_t, p->count + 1); // number in the ring
    if (!at) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        int32_t i = mo_grid_index(g, (int32_t)p->x[0][q], (int32_t)p->x[1][q], (int32_t)p->x[2][q]);
        gone[q] = i >= 0 && sim->band.deep[i];
        at[q] = i < 0 ? -1 : r->of[i];
    }
    for (int32_t q = 0; q < p->count; q++) {
        if (at[q] < 0) continue;
        r->held[at[q]] += p->volume[q];
        r->gap[at[q]].free &= ~((uint64_t)1 << place_of(sim, q));
    }
    judge_ring(sim, r);
    for (int32_t q = 0; q < p->count; q++) {
        mo_band_gap *gap = at[q] < 0 ? NULL : &r->gap[at[q]];
        if (!gap || gap->count >= 0) continue;
        uint64_t bit = (uint64_t)1 << place_of(sim, q);
        if (gap->free & bit)
            gap->free &= ~bit;
        else
            gone[q] = 1, gap->count++;
    }
    return MO_OK;
}

// Keeps only the cells that lack particles and have free places, in their order. Returns how many particles they get.
static int64_t keep_gaps(const mo_sim *sim, ring *r)
{
    int64_t gaps = 0, seeds = 0;
    int all = (int)lround(1 / seed_volume(sim));
    for (int64_t k = 0; k < r->count; k++) {
        mo_band_gap gap = r->gap[k];
        if (all < 64) gap.free &= ((uint64_t)1 << all) - 1;
        int32_t room = __builtin_popcountll(gap.free);
        gap.count = gap.count < room ? gap.count : room;
        if (gap.count > 0) r->gap[gaps++] = gap, seeds += gap.count;
    }
    r->count = gaps;
    return seeds;
}

// Seeds become particles; those that would be in a solid stay in the account.
static mo_status plant(mo_sim *sim, const mo_seed *seed, int64_t count, mo_error *err)
{
    mo_particles *p = &sim->particles;
    for (int64_t s = 0; s < count; s++) {
        const mo_seed *q = &seed[s];
        double x[3] = {q->x[0], q->x[1], q->x[2]};
        if (sim->solid_count && mo_sim_inside_solid(sim, mo_grid_world(sim->grid, x[0], x[1], x[2]))) continue;
        MO_TRY(mo_sim_add_particle(sim, 0, x, mo_v3(q->v[0], q->v[1], q->v[2]), err));
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) p->c[a][b][p->count - 1] = q->c[a][b];
        enter_account(sim, p->count - 1, -1);
    }
    return MO_OK;
}

// When the last deep cell has disappeared, the rest of the account goes to the particles, in proportion to their
// volumes.
static void close_account(mo_sim *sim)
{
    mo_particles *p = &sim->particles;
    mo_band *b = &sim->band;
    double have = mo_particles_volume(p), scale = have > 0 ? 1 + b->volume / have : 0;
    if (b->cells || b->volume == 0 || !(scale > 0)) return;
    for (int32_t q = 0; q < p->count; q++) p->volume[q] *= (float)scale;
    b->volume = 0;
    for (int a = 0; a < 3; a++) b->moment[a] = 0;
}

mo_status mo_sim_exchange_deep(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_deep_step *d = &c->advect;
    if (!sim->band.depth) return MO_OK;
    ring r;
    uint8_t *gone = mo_arena_alloc(sim->arena, (size_t)sim->particles.count + 1);
    if (!gone) return mo_fail_memory(err);
    MO_TRY(find_ring(sim, &d->exposed, &r, err));
    MO_TRY(find_gone(sim, &r, gone, err));
    int64_t seeds = keep_gaps(sim, &r);
    mo_seed *seed = MO_ARENA_ARRAY(sim->arena, mo_seed, seeds + 1);
    if (!seed) return mo_fail_memory(err);
    mo_band_fill(sim->grid, &d->flow, r.gap, r.count, seed);
    take_out(sim, gone);
    MO_TRY(plant(sim, seed, seeds, err));
    close_account(sim);
    return MO_OK;
}

// How far the account may be moved along `way`, from 0 to 1.
static double way_to_go(mo_sim *sim, mo_vec3 way, double allowed)
{
    const double noise = 0.01; // cells, of the centre of deep liquid
    double scale = sim->density * mo_grid_cell_volume(sim->grid) * sim->grid->dx, strength = mo_norm(sim->def.gravity),
           rise = strength > 0 ? fabs(mo_dot(sim->def.gravity, way)) / strength : 0;
    if (rise == 0) return 1;
    double part = fmax(1 - noise * (double)sim->band.cells / rise, 0),
           lift = -part * scale * mo_dot(sim->def.gravity, way);
    if (!(lift > allowed)) return part;
    sim->stats.energy_withheld += lift - allowed;
    return part * allowed / lift;
}

// Deep liquid is evenly dense by definition, but its account only nearly so: the volume that particles gave and took
// had other heights than full cells have. The account's centre is moved to that of even liquid, except for the noise of
// single particles. This is what the position correction does with particles: up only as far as the step has lost
// energy.
void mo_sim_even_deep(mo_sim *sim, double allowed)
{
    mo_band *b = &sim->band;
    mo_vec3 g = sim->def.gravity;
    double even[3], square = mo_dot(g, g);
    if (!b->cells) return;
    mo_band_even_moment(b, sim->grid, even);
    mo_vec3 way = mo_v3(even[0] - b->moment[0], even[1] - b->moment[1], even[2] - b->moment[2]);
    mo_vec3 along = square > 0 ? mo_mul(mo_dot(g, way) / square, g) : mo_v3(0, 0, 0);
    way = mo_sub(way, mo_mul(1 - way_to_go(sim, along, allowed), along)); // across gravity nothing is lifted
    b->moment[0] += way.x, b->moment[1] += way.y, b->moment[2] += way.z;
}
