// Position correction: a projection that moves particles so that their density matches the liquid of the level set
// (docs/volume.md).
//
//     -div(w grad q) = err,  x += -grad q      err_c = (rho_c - E_c) / max(K_c, 1/4)
//
// rho: hat density of the particles; E, K: hat integrals of the liquid and of open space. The surface of deep liquid is
// closed like a wall: with an open one particles leave through it beside walls and never come back. The level set says
// little about thin liquid, so thin liquid may have any density (E = rho) but must not be crowded (E <= K); its surface
// is open, so that a crowd can spread. Between the two nothing passes: deep liquid may hold more on the whole than the
// level set; its closed surface keeps this excess in, and otherwise all of it would leave through the first thin crest.
// Deep cells without particles (fluid/band.h) take the excess of the cells beside them, and give what these lack: q = 0
// there. Velocities are not touched, except that pieces which touch nothing keep their angular momentum (spin.c).
//
// The displacement does work against gravity. It may spend the energy that the step has lost (limit_lift).
#include "fluid/levelset.h"
#include "fluid/spread.h"
#include "grid/extrapolate.h"
#include "grid/reach.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// A short displacement is less than half a cell together with the limits of pulling and colliding, for which cell lists
// stay usable. After a longer one particles are sorted again.
static const float error_limit = 1, short_displacement = 0.2f, displacement_limit = 2;
static const double correction_tolerance = 0.2; // max norm

static bool is_deep(const mo_sim *sim, int64_t i)
{
    return sim->particles.deep && i < mo_grid_cells(sim->grid) && sim->particles.deep[i];
}

// Density error in interior cells with particles, at least 2.5 cells deep and off walls.
static double interior_rms(const mo_sim *sim, const float *rho, const float *capacity)
{
    double squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) {
        if (sim->level.phi[i] > -2.5f || capacity[i] <= 0.999f || sim->openings.volume[i] < 1) continue;
        if (is_deep(sim, i)) continue;
        squares += (rho[i] - 1) * (double)(rho[i] - 1);
        count++;
    }
    return count ? sqrt(squares / (double)count) : 0;
}

// The right-hand side, in place of rho.
static void density_error(const mo_sim *sim, float *rho, const float *expected, const float *capacity)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(sim->grid); i++) {
        float e = (rho[i] - expected[i]) / mo_maxf(capacity[i], 0.25f);
        rho[i] = mo_minf(mo_maxf(e, -error_limit), error_limit);
    }
}

// ---- The displacement ----

// Finds the cells that hold liquid, among them those whose centre lies a little above the surface, and thin ones with
// particles.
static void find_wet(const mo_sim *sim, const uint8_t *thin, const uint8_t *phase, uint8_t *wet)
{
    const mo_grid *g = sim->grid;
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        int32_t c[3];
        wet[i] = (thin[i] ? sim->level.press[i] < 0 : sim->level.phi[i] < 0.4f) && phase[i] != MO_PHASE_BALLISTIC;
        if (!wet[i]) continue;
        wet[i] = !is_deep(sim, i); // no particles to move
        if (!wet[i]) continue;
        mo_grid_cell(g, mo_site_cell(g, i), c);
        wet[i] = mo_levelset_in_domain(g, c);
    }
}

// Finds the open parts of faces. Between deep wet cells they are the liquid's part of the face, so that the surface is
// closed; between thin cells, and from these to air, they are the open parts themselves.
static void find_closed_areas(const mo_sim *sim, const uint8_t *thin, const uint8_t *wet, float *const area[3])
{
    MO_ASSERT(thin != wet);
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.phi;
    for (int a = 0; a < 3; a++) {
        const float *open = sim->openings.area[a];
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < mo_grid_samples(g); i++) {
            area[a][i] = 0;
            int32_t low = open[i] > 0 ? mo_sample_low(g, a, i) : -1, high = low < 0 ? -1 : mo_sample_high(g, a, i);
            if (high < 0 || (!wet[high] && !wet[low])) continue;
            if ((thin[high] && thin[low]) || is_deep(sim, high) || is_deep(sim, low))
                area[a][i] = open[i];
            else if (wet[high] && wet[low] && !thin[high] && !thin[low])
                area[a][i] = open[i] * mo_minf(mo_maxf(0.5f - 0.5f * (phi[low] + phi[high]), 0.05f), 1);
        }
    }
}

static void drop_cut_off(const mo_grid *g, float *const area[3], uint8_t *wet)
{
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        bool any = false;
        mo_row_sample six[6];
        const mo_row_sample *list;
        for (int k = 0, count = wet[i] ? mo_row_samples(g, i, six, &list) : 0; k < count && !any; k++)
            any = area[list[k].axis][list[k].sample] > 0;
        wet[i] = any;
    }
}

// Closes faces between wet and dry cells, and between deep and thin ones; only from thin liquid to air they stay open.
static void close_surface(const mo_sim *sim, const uint8_t *thin, const uint8_t *wet, const mo_faces *faces)
{
    for (int a = 0; a < 3; a++) {
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < mo_grid_samples(sim->grid); i++) {
            int32_t low = sim->openings.area[a][i] > 0 ? mo_sample_low(sim->grid, a, i) : -1,
                    high = low < 0 ? -1 : mo_sample_high(sim->grid, a, i);
            if (high < 0 || (!wet[low] && !wet[high])) continue;
            if (is_deep(sim, low) || is_deep(sim, high)) continue;
            if (thin[low] != thin[high] || (!thin[high] && wet[low] != wet[high]))
                faces->u[a][i] = 0, faces->valid[a][i] = 1;
        }
    }
}

typedef struct displacement {
    mo_liquid_system liquid;
    const uint8_t *phase;
    uint8_t *thin, *wet; // [cells]; wet are those that have a row
    mo_faces faces;      // cells
    double end;          // of the step, s
} displacement;

// Meanwhile the errors are in scratch.field[2].
static mo_status assemble_displacement(const mo_sim *sim, const uint8_t *thin, displacement *d, mo_error *err)
{
    const mo_grid *g = sim->grid;
    float *const *field = sim->scratch.field, *const area[3] = {field[0], field[1], field[3]}, *surface = field[4];
    uint8_t *bytes[2];
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 2, bytes, err));
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 3, d->faces.valid, err));
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, d->faces.u, err));
    d->thin = bytes[0], d->wet = bytes[1];
    memcpy(d->thin, thin, (size_t)mo_grid_fields(g));
    find_wet(sim, thin, d->phase, d->wet);
    find_closed_areas(sim, thin, d->wet, area);
    drop_cut_off(g, area, d->wet);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(g); i++) surface[i] = d->wet[i] ? -1 : is_deep(sim, i) ? 0 : 1;
    mo_pressure_def def = {.grid = g, .phi = surface, .liquid = d->wet, .area = area, .density = 1, .dt = 1, .dx = 1};
    return mo_pressure_assemble(&def, sim->arena, &d->liquid, err);
}

typedef struct surroundings { // a cell and the 26 round it, in 2D the 8
    int32_t index[27], count; // those that the grid has
} surroundings;

static surroundings around(const mo_grid *g, int32_t i)
{
    surroundings s;
    const int32_t *reached = mo_reach_around(g, i);
    s.count = 0;
    for (int o = 0; reached && o < 27; o++) {
        int32_t n = reached[o % 3 + 1 + 5 * (o / 3 % 3 + 1) + 25 * (o / 9 + 1)];
        if (n >= 0 && (!mo_grid_is_2d(g) || o / 9 == 1)) s.index[s.count++] = n;
    }
    if (reached) return s;
    const int32_t *tile = g->neighbour[i >> 9] + 13, c[3] = {i & 7, i >> 3 & 7, i >> 6 & 7};
    const int reach = mo_grid_is_2d(g) ? 0 : 1;
    s.count = 0;
    for (int32_t z = c[2] - reach; z <= c[2] + reach; z++)
        for (int32_t y = c[1] - 1; y <= c[1] + 1; y++)
            for (int32_t x = c[0] - 1; x <= c[0] + 1; x++) {
                int32_t t = tile[(x >> 3) + 3 * (y >> 3) + 9 * (z >> 3)];
                if (t >= 0) s.index[s.count++] = (t << 9) + (x & 7) + 8 * (y & 7) + 64 * (z & 7);
            }
    return s;
}

// A cell of deep liquid beyond the surface that has no row shares its error among the cells round it that have one, in
// proportion to their open parts: a cell that a body leaves hardly open could not pass a whole share on.
static float share_of(const mo_sim *sim, const displacement *d, const float *error, int32_t i)
{
    const mo_grid *g = sim->grid;
    int32_t c[3];
    float open = 0;
    if (d->wet[i] || d->thin[i] || is_deep(sim, i) || error[i] == 0 || sim->openings.volume[i] <= 0) return 0;
    mo_grid_cell(g, mo_site_cell(g, i), c);
    if (!mo_levelset_in_domain(g, c)) return 0;
    surroundings s = around(g, i);
    for (int k = 0; k < s.count; k++)
        if (d->wet[s.index[k]] && !d->thin[s.index[k]]) open += sim->openings.volume[s.index[k]];
    return open > 0 ? error[i] * sim->openings.volume[i] / open : 0;
}

// Replaces the error by the volume that each row must give away. Hats of cells beyond the surface reach into the
// liquid, so their errors belong to the rows beside them. Without these errors (as when rows count by the wet part of
// their cell) every surface looks crowded, and limbs, which have much surface for their volume, gave their liquid to
// the body.
static mo_status find_excess(const mo_sim *sim, const displacement *d, float *error, mo_error *err)
{
    const float near = -1.5f; // deeper rows have no such cells beside them
    const mo_grid *g = sim->grid;
    float *share;
    MO_TRY(mo_sim_floats(sim, sim->arena, 1, &share, err));
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) share[i] = share_of(sim, d, error, i);
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        error[i] *= sim->openings.volume[i];
        if (!d->wet[i] || d->thin[i] || sim->level.phi[i] < near) continue;
        surroundings s = around(g, i);
        for (int k = 0; k < s.count; k++) error[i] += share[s.index[k]] * sim->openings.volume[i];
    }
    return MO_OK;
}

static void set_excess(displacement *d, const float *excess)
{
    mo_system *s = &d->liquid.system;
    mo_block *b = s->block[MO_BLOCK_PRESSURE];
    s->by_mean = true; // the next step corrects single crowds that are left
    for (int32_t r = 0; r < b->rows; r++) b->rhs[r] = -excess[d->liquid.cell_at[r]], b->x[r] = 0;
    for (int32_t k = 0; k < s->faces.count; k++) s->faces.velocity[k] = 0;
}

// Solves for the displacement and leaves it, extrapolated, on the faces.
static mo_status solve_displacement(mo_sim *sim, displacement *d, const float *excess, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    mo_faces *faces = &d->faces;
    size_t cells = (size_t)mo_grid_fields(g);
    mo_solver_def solver = sim->def.solver;
    mo_system_info info = {0};
    solver.scheme[0] = 0; // there is only this block
    solver.tolerance = fmax(solver.tolerance, correction_tolerance);
    set_excess(d, excess);
    mo_status status = mo_system_solve(&d->liquid.system, &solver, &info, err);
    sim->stats.correction_iterations += info.solve.iterations;
    sim->stats.fallbacks += info.fallbacks;
    for (int a = 0; a < 3; a++) {
        memset(faces->u[a], 0, sizeof(float) * cells);
        memset(faces->valid[a], 0, cells);
    }
    mo_liquid_scatter(&d->liquid, faces->u, faces->valid);
    close_surface(sim, d->thin, d->wet, faces);
    mo_sim_fix_walls(sim, faces);
    mo_sim_emitter_hold(sim, d->end, faces);
    for (int a = 0; a < 3; a++)
        mo_extrapolate(g, a, faces->u[a], faces->valid[a], 2, 0, scratch->field[0], scratch->bytes);
    return status;
}

// ---- The work against gravity ----

// The potential energy that the displacement adds, J, with the displacements of particles cut to the limit.
static double lift_of(const mo_sim *sim, const displacement *d, float limit)
{
    mo_vec3 moved = mo_transfer_displacement(&sim->particles, sim->grid, &d->faces, limit);
    return -sim->density * sim->grid->dx * mo_grid_cell_volume(sim->grid) * mo_dot(sim->def.gravity, moved);
}

// Nearly the same, from the flow through faces, without reading particles.
static double lift_through_faces(const mo_sim *sim, const displacement *d)
{
    const mo_group *faces = &d->liquid.system.faces;
    const double gravity[3] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z};
    double sum = 0;
    for (int32_t f = 0; f < faces->count - d->liquid.gaps; f++)
        sum -= faces->mass[f] * faces->velocity[f] * gravity[mo_face_axis(d->liquid.face_at[f])];
    return sim->density * sim->grid->dx * mo_grid_cell_volume(sim->grid) * sum;
}

// u = p u + q v on all faces
static void combine(const mo_sim *sim, displacement *d, double p, double q, float *const v[3])
{
    for (int a = 0; a < 3; a++) {
        float *u = d->faces.u[a];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_fields(sim->grid); i++) u[i] = (float)p * u[i] + (float)q * v[a][i];
    }
}

// A density that falls with height, by `steepest` per cell.
static void fall_with_height(const mo_sim *sim, const uint8_t *thin, double steepest, float *excess)
{
    mo_vec3 down = mo_mul(steepest / mo_norm(sim->def.gravity), sim->def.gravity);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < mo_grid_rows(sim->grid); i++) {
        int32_t c[3];
        mo_grid_cell(sim->grid, mo_site_cell(sim->grid, i), c);
        float liquid = mo_minf(mo_maxf(0.5f - sim->level.phi[i], 0), 1) * sim->openings.volume[i];
        excess[i] = thin[i] ? 0 : liquid * (float)(down.x * c[0] + down.y * c[1] + down.z * c[2]);
    }
}

// Reduces the displacement so that it does not lift the liquid by more than `allowed`, J. Between crowds and voids at
// one height a displacement does no work. It lifts because the liquid as a whole is denser below than above. The least
// change of the errors, in squares, that lowers the work by a given amount subtracts a part that falls linearly with
// height; this part stays uncorrected. In thin liquid, and in liquid so shallow that this part would be steep, the
// whole displacement is shortened. `left`: in, the energy that may be spent; out, the rest of it. Overwrites `excess`.
static mo_status limit_lift(mo_sim *sim, displacement *d, double *left, float *excess, mo_error *err)
{
    const double steepest = 0.05; // of the density, per cell
    const double allowed = *left, about = 2 * lift_through_faces(sim, d);
    *left = allowed - fmax(about, 0);
    if (about < allowed) return MO_OK; // far from the limit; what is owed in the end counts anyway
    double wanted = lift_of(sim, d, displacement_limit), lift;
    float *whole[3];
    *left = fmax(allowed - wanted, 0);
    if (!(wanted > allowed)) return MO_OK;
    MO_TRY(mo_sim_floats(sim, sim->arena, 3, whole, err));
    for (int a = 0; a < 3; a++) memcpy(whole[a], d->faces.u[a], sizeof(float) * (size_t)mo_grid_fields(sim->grid));
    fall_with_height(sim, d->thin, steepest, excess);
    MO_TRY(solve_displacement(sim, d, excess, err));
    double fall = lift_of(sim, d, INFINITY), part = fall > 0 ? fmin((wanted - allowed) / fall, 1) : 0;
    combine(sim, d, -part, 1, whole);
    lift = lift_of(sim, d, displacement_limit);
    if (lift > allowed && part > 0 && part < 1) { // some particles are at their limit
        double more = fmin(1 + (lift - allowed) / (part * fall), 1 / part);
        combine(sim, d, more, 1 - more, whole);
        lift = lift_of(sim, d, displacement_limit);
    }
    if (lift > allowed) combine(sim, d, allowed / lift, 0, whole);
    sim->stats.energy_withheld = wanted - fmin(lift, allowed);
    return MO_OK;
}

// ---- Where particles end ----

// How far a particle has risen since it was at `from`, in cells against gravity times its volume times g.
static double rise_of(const mo_sim *sim, const float *const from[3], int32_t q)
{
    const mo_particles *p = &sim->particles;
    mo_vec3 way = {p->x[0][q] - from[0][q], p->x[1][q] - from[1][q], p->x[2][q] - from[2][q]};
    return -p->volume[q] * mo_dot(sim->def.gravity, way);
}

static void sum_rises(const mo_sim *sim, const float *const from[3], double *up, double *down)
{
    enum { BLOCKS = 256 };
    double rise[BLOCKS] = {0}, fall[BLOCKS] = {0};
    int64_t count = sim->particles.count;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < BLOCKS; b++)
        for (int32_t q = (int32_t)(count * b / BLOCKS); q < (int32_t)(count * (b + 1) / BLOCKS); q++) {
            double r = rise_of(sim, from, q);
            rise[b] += fmax(r, 0), fall[b] += fmin(r, 0);
        }
    *up = *down = 0;
    for (int b = 0; b < BLOCKS; b++) *up += rise[b], *down += fall[b];
}

// Solids and shells push out particles that were displaced into them, so that these do not sink as intended. Then the
// liquid is lifted by more than by the displacement alone. Particles that rose go back by the same part of their way,
// until the lift is `allowed`, J; they go back all the way if they would be inside a solid or behind a shell.
static void limit_rise(mo_sim *sim, const float *const from[3], double allowed)
{
    const mo_grid *g = sim->grid;
    mo_particles *p = &sim->particles;
    double unit = sim->density * g->dx * mo_grid_cell_volume(g), up, down;
    sum_rises(sim, from, &up, &down);
    if (!(unit * (up + down) > allowed)) return;
    float part = (float)fmax((allowed / unit - down) / up, 0);
    sim->stats.energy_withheld += unit * (up + down) - allowed;
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        if (!(rise_of(sim, from, q) > 0)) continue;
        for (int a = 0; a < 3; a++) p->x[a][q] = from[a][q] + part * (p->x[a][q] - from[a][q]);
        mo_vec3 x = mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]);
        mo_vec3 start = mo_grid_world(g, from[0][q], from[1][q], from[2][q]);
        if (!mo_sim_inside_solid(sim, x) && !mo_sim_shell_stops(sim, start, x)) continue;
        for (int a = 0; a < 3; a++) p->x[a][q] = from[a][q];
    }
}

// ---- Volume ----

// In thin parts the expected density is the present one, but not a crowd.
static void spare_thin(const mo_sim *sim, const float *rho, const float *capacity, const uint8_t *thin, float *expected)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(sim->grid); i++)
        if (thin[i]) expected[i] = mo_minf(rho[i], capacity[i]);
}

mo_status mo_sim_density_rms(const mo_sim *sim, double *rms, mo_error *err)
{
    size_t cells = (size_t)mo_grid_fields(sim->grid);
    float *rho = mo_alloc(cells * 3 * sizeof(float) + 4);
    if (!rho) return mo_fail_memory(err);
    mo_transfer_density(&sim->particles, sim->grid, rho);
    mo_surface_expected(sim->grid, sim->level.phi, sim->openings.volume, rho + cells, rho + 2 * cells);
    *rms = interior_rms(sim, rho, rho + 2 * cells);
    mo_free(rho);
    return MO_OK;
}

static bool is_long(const mo_sim *sim, const displacement *d)
{
    float most = 0;
    for (int a = 0; a < 3; a++)
#pragma omp parallel for schedule(static) reduction(max : most)
        for (int64_t i = 0; i < mo_grid_fields(sim->grid); i++) most = mo_maxf(most, fabsf(d->faces.u[a][i]));
    return most > short_displacement;
}

// Liquid leaves through open walls by its velocity, not by the correction.
static void keep_inside(mo_sim *sim)
{
    const float gap = 0.01f;
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++) {
        if (sim->def.domain.walls[2 * a] != MO_WALL_OPEN && sim->def.domain.walls[2 * a + 1] != MO_WALL_OPEN) continue;
        float *x = sim->particles.x[a], lo = MO_MARGIN + gap, hi = (float)(sim->grid->n[a] - MO_MARGIN) - gap;
#pragma omp parallel for schedule(static)
        for (int32_t q = 0; q < sim->particles.count; q++) x[q] = mo_minf(mo_maxf(x[q], lo), hi);
    }
}

// Moves the particles; allowed: the energy that may be spent on lifting, J.
static mo_status displace(mo_sim *sim, mo_step_context *c, const displacement *d, double allowed, mo_error *err)
{
    bool far = is_long(sim, d);
    mo_spins spins;
    MO_TRY(mo_sim_note_spins(sim, &spins, err));
    mo_collision collision = {.sim = sim, .phase = d->phase, .swept = far};
    MO_TRY(mo_collision_start(&collision, err));
    sim->stats.clamped =
        mo_transfer_displace(&sim->particles, sim->grid, &d->faces, far ? displacement_limit : short_displacement);
    mo_levelset_pull(&sim->level, sim->grid, &sim->particles);
    if (far) keep_inside(sim);
    MO_TRY(mo_sim_collide(&collision, err));
    MO_TRY(mo_sim_collide_shells(&collision, err));
    if (sim->solid_count || sim->shells.count) limit_rise(sim, collision.from, allowed);
    mo_sim_restore_spins(sim, &spins);
    if (!far) return MO_OK;
    MO_TRY(mo_sim_absorb_deep(sim, err));
    return mo_sim_follow_particles(sim, sim->time + c->dt, err);
}

// The papers' correction: neighbours that crowd push each other apart.
static mo_status spread(mo_sim *sim, const uint8_t *phase, mo_error *err)
{
    mo_collision collision = {.sim = sim, .phase = phase};
    MO_TRY(mo_collision_start(&collision, err));
    MO_TRY(mo_particles_spread(&sim->particles, sim->grid, sim->openings.volume, short_displacement,
                               &sim->stats.clamped, sim->arena, err));
    MO_TRY(mo_sim_collide(&collision, err));
    return mo_sim_collide_shells(&collision, err);
}

mo_status mo_stage_correct(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_grid *g = sim->grid;
    mo_stats *stats = &sim->stats;
    // rho: density of the particles, later its error and the volume that rows must give away. thin: until the
    // displacement is extrapolated.
    float *rho = sim->scratch.field[2], *expected = sim->scratch.field[1], *capacity = sim->scratch.field[3];
    uint8_t *thin = sim->scratch.bytes + mo_grid_fields(g), *phase;
    c->correct.before = mo_sim_liquid_sums(sim);
    c->correct.surface = mo_sim_surface_energy(sim) - sim->account.work;
    MO_TRY(mo_sim_correct_level(sim, c->dt, thin, rho, err));
    mo_surface_expected(g, sim->level.phi, sim->openings.volume, expected, capacity);
    double film, volume = mo_levelset_account(g, sim->level.phi, sim->openings.volume, thin, &sim->particles, &film);
    double target = mo_sim_liquid_volume(sim), cell = g->dx * g->dx * g->dx;
    stats->volume = volume * cell, stats->film = film * cell;
    stats->volume_target = target * cell;
    stats->volume_error = target > 0 ? volume / target - 1 : 0;
    stats->density_rms = interior_rms(sim, rho, capacity);
    if (sim->def.correct_volume == MO_CORRECTION_NONE || sim->particles.count == 0) return MO_OK;
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 1, &phase, err));
    MO_TRY(mo_surface_phase(&sim->particles, g, sim->level.phi, sim->openings.area, phase, sim->arena, err));
    if (sim->def.correct_volume == MO_CORRECTION_LOCAL) return spread(sim, phase, err);
    spare_thin(sim, rho, capacity, thin, expected);
    density_error(sim, rho, expected, capacity);
    displacement d = {.phase = phase, .end = sim->time + c->dt};
    MO_TRY(assemble_displacement(sim, thin, &d, err));
    mo_status status = find_excess(sim, &d, rho, err);
    if (status == MO_OK) status = solve_displacement(sim, &d, rho, err);
    double allowed = mo_sim_energy_spare(sim, &c->correct.before);
    double left = allowed; // for deep liquid without particles
    if (status == MO_OK) status = limit_lift(sim, &d, &left, rho, err);
    mo_liquid_destroy(&d.liquid);
    MO_TRY(status);
    MO_TRY(displace(sim, c, &d, sim->band.cells ? allowed - left : allowed, err));
    mo_sim_even_deep(sim, left);
    return MO_OK;
}
