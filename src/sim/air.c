// Air of a simulation: its definition, the tiles that it needs, sources of smoke, and sums over the air.
#include "base/parallel.h"
#include "grid/cut.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

enum { QUIET_STEPS = 8 }; // after which a tile in which nothing happens is dropped

// ---- The definition ----

mo_air_def mo_air_def_default(void) { return (mo_air_def){.density = 1.2, .temperature = 293, .margin = 8}; }
mo_smoke_def mo_smoke_def_default(void) { return (mo_smoke_def){.density = 1e-3}; }

static mo_status check_smoke(const mo_smoke_def *s, int32_t i, mo_error *err)
{
    if (!s->shape) return mo_fail(err, MO_ERROR_INPUT, "smoke %d: no shape", i + 1);
    mo_box3 box = mo_shape_bounds(s->shape);
    if (!mo_v3_finite(box.lo) || !mo_v3_finite(box.hi))
        return mo_fail(err, MO_ERROR_INPUT, "smoke %d: the shape must be bounded", i + 1);
    if (!(isfinite(s->density) && s->density >= 0) || !(isfinite(s->temperature) && s->temperature >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "smoke %d: density and temperature must be finite and >= 0", i + 1);
    if (!mo_v3_finite(s->velocity)) return mo_fail(err, MO_ERROR_INPUT, "smoke %d: velocity must be finite", i + 1);
    if (!(isfinite(s->start) && s->start >= 0) || !(s->seconds >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "smoke %d: start and seconds must be >= 0", i + 1);
    return MO_OK;
}

mo_status mo_sim_check_air(const mo_sim_def *d, mo_error *err)
{
    const mo_air_def *a = d->air;
    if (d->smoke_count < 0) return mo_fail(err, MO_ERROR_INPUT, "the count of smoke sources is negative");
    bool windy = false, open = false;
    for (int w = 0; w < 6; w++) windy |= d->domain.walls[w] == MO_WALL_WIND, open |= d->domain.walls[w] == MO_WALL_OPEN;
    if (windy && !a) return mo_fail(err, MO_ERROR_INPUT, "domain: walls of wind need air: the scene has none");
    if (windy && !open)
        return mo_fail(err, MO_ERROR_INPUT,
                       "domain: walls of wind need an open wall, through which it leaves or enters");
    if (!a) return d->smoke_count ? mo_fail(err, MO_ERROR_INPUT, "smoke needs air: the scene has none") : MO_OK;
    if (d->liquid_count + d->emitter_count)
        return mo_fail(err, MO_ERROR_INPUT, "air and liquid exclude each other: a simulation has one of them");
    if (d->elastic_count)
        return mo_fail(err, MO_ERROR_INPUT, "air and elastic bodies exclude each other: bodies in air are rigid");
    if (!(isfinite(a->density) && a->density > 0) || !(isfinite(a->temperature) && a->temperature > 0))
        return mo_fail(err, MO_ERROR_INPUT, "air: density and temperature must be finite and > 0");
    if (!mo_v3_finite(a->wind)) return mo_fail(err, MO_ERROR_INPUT, "air: wind must be finite");
    if (!(isfinite(a->cooling) && a->cooling >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "air: cooling must be finite and >= 0, got %g", a->cooling);
    if (!(isfinite(a->vorticity) && a->vorticity >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "air: vorticity must be finite and >= 0, got %g", a->vorticity);
    if ((unsigned)a->advection > MO_ADVECTION_PAPER)
        return mo_fail(err, MO_ERROR_INPUT, "air: no such advection (%d)", (int)a->advection);
    if (a->margin < 4 || a->margin > 64)
        return mo_fail(err, MO_ERROR_INPUT, "air: margin must be 4..64 cells, got %d", a->margin);
    for (int32_t i = 0; i < d->smoke_count; i++) MO_TRY(check_smoke(&d->smokes[i], i, err));
    return MO_OK;
}

mo_status mo_sim_copy_air(mo_sim *sim, const mo_sim_def *def, mo_error *err)
{
    mo_air *air = &sim->air;
    if (!def->air) return MO_OK;
    air->present = true, air->def = *def->air;
    if (def->solver.shells == MO_SHELLS_PAPER && def->shell_count) air->def.advection = MO_ADVECTION_PAPER;
    air->smokes = mo_calloc(sizeof *air->smokes * (size_t)def->smoke_count + 1);
    if (!air->smokes) return mo_fail_memory(err);
    air->smoke_count = def->smoke_count;
    for (int32_t i = 0; i < def->smoke_count; i++)
        air->smokes[i] = def->smokes[i], mo_shape_retain(def->smokes[i].shape);
    sim->def.air = &air->def, sim->def.smokes = air->smokes;
    sim->density = air->def.density;
    return MO_OK;
}

void mo_sim_destroy_air(mo_sim *sim)
{
    for (int32_t i = 0; i < sim->air.smoke_count; i++) mo_shape_release(sim->air.smokes[i].shape);
    mo_free(sim->air.smokes), mo_free(sim->air.quiet);
    mo_gas_destroy(&sim->air.gas);
}

// ---- Tiles ----

static void wind_of(const mo_sim *sim, float wind[3])
{
    for (int a = 0; a < 3; a++) wind[a] = (float)mo_get(sim->air.def.wind, a);
}

typedef struct busy { // below these nothing happens
    float soot, heat, speed;
} busy;

static busy bounds_of_quiet(const mo_sim *sim)
{
    const double part = 1e-3, slow = 0.02;
    const mo_air *air = &sim->air;
    double soot = 0, heat = 0;
    for (int32_t i = 0; i < air->smoke_count; i++) {
        double hot = air->smokes[i].temperature ? air->smokes[i].temperature - air->def.temperature : 0;
        soot = fmax(soot, air->smokes[i].density), heat = fmax(heat, fabs(hot));
    }
    double speed = 0;
    float wind[3];
    wind_of(sim, wind);
    for (int a = 0; a < 3; a++) {
        float most = 0;
        const float *u = air->gas.u[a];
#pragma omp parallel for schedule(static) reduction(max : most)
        for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) most = mo_maxf(most, fabsf(u[i] - wind[a]));
        speed = fmax(speed, most);
    }
    return (busy){(float)(part * soot), (float)(part * heat), (float)(slow * speed)};
}

// The box of cells of a tile in which something happens; lo > hi: nothing does.
static void busy_box(const mo_sim *sim, const busy *b, int32_t tile, int32_t lo[3], int32_t hi[3])
{
    const mo_gas *gas = &sim->air.gas;
    float wind[3];
    wind_of(sim, wind);
    for (int a = 0; a < 3; a++) lo[a] = MO_TILE, hi[a] = -1;
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        int64_t i = (int64_t)tile * MO_TILE_CELLS + l;
        bool happens = gas->soot[i] > b->soot || fabsf(gas->heat[i]) > b->heat;
        for (int a = 0; a < 3; a++) happens |= fabsf(gas->u[a][i] - wind[a]) > b->speed;
        if (!happens) continue;
        const int32_t at[3] = {l & 7, l >> 3 & 7, l >> 6};
        for (int a = 0; a < 3; a++) lo[a] = at[a] < lo[a] ? at[a] : lo[a], hi[a] = at[a] > hi[a] ? at[a] : hi[a];
    }
}

static void want_tiles(mo_sim *sim)
{
    mo_grid *g = sim->grid;
    mo_air *air = &sim->air;
    if (g->tiles == 0) return;
    busy b = bounds_of_quiet(sim);
    int32_t margin = air->def.margin;
    for (int32_t t = 0; t < g->tiles; t++) {
        int32_t lo[3], hi[3];
        busy_box(sim, &b, t, lo, hi);
        bool quiet = hi[0] < 0;
        air->quiet[t] = quiet ? (uint8_t)(air->quiet[t] + (air->quiet[t] < QUIET_STEPS)) : 0;
        if (quiet && air->quiet[t] >= QUIET_STEPS) continue;
        for (int a = 0; a < 3; a++) {
            int32_t first = MO_TILE * g->coord[t][a];
            hi[a] = first + (quiet ? MO_TILE - 1 : hi[a] + margin), lo[a] = first + (quiet ? 0 : lo[a] - margin);
        }
        mo_grid_want(g, lo, hi);
    }
}

static void want_box(mo_sim *sim, mo_vec3 low, mo_vec3 high)
{
    const mo_grid *g = sim->grid;
    int32_t lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        double origin = mo_get(g->origin, a);
        lo[a] = (int32_t)fmax(floor((mo_get(low, a) - origin) / g->dx) - sim->air.def.margin, 0);
        hi[a] = (int32_t)fmin(ceil((mo_get(high, a) - origin) / g->dx) + sim->air.def.margin, g->n[a] - 1);
        if (lo[a] > hi[a]) return;
    }
    mo_grid_want(sim->grid, lo, hi);
}

// A source acts until its end; one that fills its shape once, at its start.
static bool acts(const mo_smoke_def *s, double from, double to)
{
    if (s->seconds == 0) return s->start > from && s->start <= to;
    return to >= s->start && from < s->start + s->seconds;
}

void mo_sim_want_air(mo_sim *sim)
{
    const mo_air *air = &sim->air;
    if (!air->present) return;
    mo_grid *g = sim->grid;
    if (!sim->open) { // gas beyond the tiles could not move aside
        const int32_t lo[3] = {0, 0, 0}, hi[3] = {g->n[0] - 1, g->n[1] - 1, g->n[2] - 1};
        mo_grid_want(g, lo, hi);
        return;
    }
    want_tiles(sim);
    double ahead = sim->time + 1 / sim->def.time.fps;
    for (int32_t i = 0; i < air->smoke_count; i++) {
        mo_box3 box = mo_shape_bounds(air->smokes[i].shape);
        if (acts(&air->smokes[i], sim->time - 1 / sim->def.time.fps, ahead)) want_box(sim, box.lo, box.hi);
    }
    bool sheets = mo_norm(air->def.wind) > 0 || !mo_shells_still(&sim->shells);
    for (int32_t k = 0; k < sim->shells.all.vertices && sheets; k++) { // where they are and where they will be
        const double *x = sim->shells.all.position[k], *y = sim->shells.next[k];
        want_box(sim, mo_v3(fmin(x[0], y[0]), fmin(x[1], y[1]), fmin(x[2], y[2])),
                 mo_v3(fmax(x[0], y[0]), fmax(x[1], y[1]), fmax(x[2], y[2])));
    }
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        bool matters = mo_solid_can_move(s) || mo_norm(air->def.wind) > 0;
        if (s->elastic) continue; // cloth is among the sheets
        if (!matters || !isfinite(s->radius)) continue;
        mo_vec3 r = mo_v3(s->radius, s->radius, s->radius),
                x = mo_add(s->pose.position, mo_quat_rotate(s->pose.rotation, s->centre));
        want_box(sim, mo_sub(x, r), mo_add(x, r));
    }
}

mo_status mo_sim_settle_air(mo_sim *sim, const mo_gas_extras *kept, mo_error *err)
{
    mo_air *air = &sim->air;
    const mo_grid *g = sim->grid;
    if (!air->present) return MO_OK;
    float wind[3];
    wind_of(sim, wind);
    int32_t *from = MO_ARENA_ARRAY(sim->arena, int32_t, g->tiles + 1);
    uint8_t *quiet = mo_arena_alloc(sim->arena, (size_t)g->tiles + 1);
    if (!from || !quiet) return mo_fail_memory(err);
    mo_levelset_match(&sim->level, g, from);
    for (int32_t t = 0; t < g->tiles; t++) quiet[t] = from[t] >= 0 ? air->quiet[from[t]] : 0;
    if (!mo_reserve((void **)&air->quiet, &air->quiet_capacity, g->tiles + 1, 1)) return mo_fail_memory(err);
    memcpy(air->quiet, quiet, (size_t)g->tiles);
    return mo_gas_settle(&air->gas, &sim->level, g, wind, kept, sim->arena, err);
}

// Whether gas can leave a cell through its high faces into the gas beyond the tiles. Those faces belong to the next
// cells. Where these do not exist, the cell itself belongs to the gas beyond; otherwise tiles would end in walls.
static bool ends_open(const mo_sim *sim, int32_t index, const int32_t c[3])
{
    const mo_grid *g = sim->grid;
    for (int a = 0; a < mo_grid_axes(g); a++) {
        bool wall = c[a] + 1 >= g->n[a] - MO_MARGIN && sim->def.domain.walls[2 * a + 1] != MO_WALL_OPEN;
        if (!wall && mo_grid_step(g, index, a, 1) < 0) return true;
    }
    return false;
}

// Air is everywhere in the domain: the level set lies half a cell beyond the last cells.
void mo_sim_fill_air(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    if (!sim->air.present) return;
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        int32_t c[3], cell = mo_site_cell(g, i);
        mo_grid_cell(g, cell, c);
        bool inside = mo_levelset_in_domain(g, c) && !ends_open(sim, cell, c);
        sim->level.phi[i] = sim->level.press[i] = inside ? -1 : 1;
    }
}

// ---- Walls of wind ----

float mo_sim_wall_velocity(const mo_sim *sim, int wall)
{
    return sim->def.domain.walls[wall] == MO_WALL_WIND ? (float)mo_get(sim->air.def.wind, wall / 2) : 0;
}

static bool has_wind_wall(const mo_sim *sim)
{
    for (int w = 0; w < 6; w++)
        if (sim->def.domain.walls[w] == MO_WALL_WIND) return true;
    return false;
}

// For the pressure such a wall is a solid that sweeps the flow of the wind; where solids lie in the wall, nothing
// passes.
void mo_sim_open_to_wind(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    if (!has_wind_wall(sim)) return;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        for (int w = 0; w < 6; w++) {
            int a = w / 2, inside = w & 1 ? c[a] - 1 : c[a], at = w & 1 ? g->n[a] - MO_MARGIN : MO_MARGIN;
            int32_t cell[3] = {c[0], c[1], c[2]};
            cell[a] = inside;
            if (sim->def.domain.walls[w] != MO_WALL_WIND || c[a] != at || !mo_levelset_in_domain(g, cell)) continue;
            int32_t j = mo_grid_index(g, cell[0], cell[1], cell[2]);
            o->flux[a][i] = j >= 0 ? o->volume[j] * mo_sim_wall_velocity(sim, w) : 0;
        }
    }
}

// ---- Sources ----

// A source with a velocity gives it to the samples in its shape. Those on a row's high side are asked with the row
// behind them, if there is one.
static void blow(const mo_sim *sim, const mo_smoke_def *s, const mo_row_sample *k)
{
    const mo_grid *g = sim->grid;
    double y[3];
    if (k->side && mo_ghost_owner(g, k->axis, k->sample) < 0) return;
    mo_sample_place(g, k->axis, k->sample, y);
    if (mo_shape_distance(s->shape, mo_grid_world(g, y[0], y[1], y[2])) < 0)
        sim->air.gas.u[k->axis][k->sample] = (float)mo_get(s->velocity, k->axis);
}

// A row of a cell that a sheet cuts is asked at a place on its side.
static void fill_row(const mo_sim *sim, const mo_smoke_def *s, int32_t i)
{
    const mo_grid *g = sim->grid;
    const mo_gas *gas = &sim->air.gas;
    float heat = s->temperature ? (float)(s->temperature - sim->air.def.temperature) : 0;
    mo_row_sample six[6];
    const mo_row_sample *list;
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, i), c);
    double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
    if (mo_reach_near(g, mo_site_cell(g, i), 0)) mo_site_place(g, i, x);
    double d = mo_shape_distance(s->shape, mo_grid_world(g, x[0], x[1], x[2])) / g->dx;
    float part = (float)fmin(fmax(0.5 - d, 0), 1);
    gas->soot[i] += part * ((float)s->density - gas->soot[i]);
    gas->heat[i] += part * (heat - gas->heat[i]);
    for (int k = 0, n = s->moves ? mo_row_samples(g, i, six, &list) : 0; k < n; k++) blow(sim, s, &list[k]);
    for (int k = 0, n = s->moves && mo_ghosts_of(g) ? mo_row_faces(g, i, six, &list) : 0; k < n; k++)
        blow(sim, s, &list[k]);
}

static void fill_source(mo_sim *sim, const mo_smoke_def *s)
{
    const mo_grid *g = sim->grid;
    int32_t lo[3], hi[3], c[3];
    mo_sim_cell_range(sim, mo_shape_bounds(s->shape), lo, hi);
    for (c[2] = lo[2]; c[2] <= hi[2]; c[2]++)
        for (c[1] = lo[1]; c[1] <= hi[1]; c[1]++)
            for (c[0] = lo[0]; c[0] <= hi[0]; c[0]++) {
                int32_t i = mo_grid_index(g, c[0], c[1], c[2]);
                if (i >= 0) fill_row(sim, s, i);
            }
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++) {
        bool within = true;
        mo_grid_cell(g, mo_site_cell(g, i), c);
        for (int a = 0; a < 3; a++) within &= c[a] >= lo[a] && c[a] <= hi[a];
        if (within) fill_row(sim, s, i);
    }
}

// Sources that act within a time fill their shapes; the accounts get the soot and energy that they bring.
static void act(mo_sim *sim, double from, double to)
{
    for (int32_t i = 0; i < sim->air.smoke_count; i++)
        if (acts(&sim->air.smokes[i], from, to)) fill_source(sim, &sim->air.smokes[i]);
}

void mo_sim_act_air(mo_sim *sim, double from, double to)
{
    bool any = false;
    for (int32_t i = 0; i < sim->air.smoke_count; i++) any |= acts(&sim->air.smokes[i], from, to);
    if (!any) return;
    mo_air_sums before = mo_sim_air_sums(sim);
    act(sim, from, to);
    mo_sim_air_exchange(sim, &before, true);
}

void mo_sim_start_air(mo_sim *sim)
{
    if (!sim->air.present) return;
    act(sim, -1, 0);
    sim->air.soot = mo_sim_air_sums(sim).soot;
}

// ---- Sums ----

bool mo_sim_has_ghosts(const mo_sim *sim)
{
    return sim->air.present && sim->shells.count && sim->def.solver.shells == MO_SHELLS_PAPER;
}

bool mo_sim_air_exchanges(const mo_sim *sim)
{
    return sim->open || sim->air.def.cooling > 0 || sim->air.def.vorticity > 0 || mo_sim_has_ghosts(sim);
}

double mo_sim_air_speed(const mo_sim *sim)
{
    const mo_air *air = &sim->air;
    double speed = fmax(mo_gas_max_speed(&air->gas, sim->grid, sim->openings.area), mo_norm(air->def.wind));
    for (int32_t i = 0; i < air->smoke_count; i++) speed = fmax(speed, mo_norm(air->smokes[i].velocity));
    return speed;
}

enum { SOOT, KINETIC, WEIGHT, MOMENT, SUMS = MOMENT + 3 };

// Soot and weight of a row.
static void add_row(const mo_sim *sim, int32_t i, double sum[SUMS])
{
    const mo_grid *g = sim->grid;
    const mo_gas *gas = &sim->air.gas;
    double open = sim->openings.volume[i];
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, i), c);
    if (open <= 0 || !mo_levelset_in_domain(g, c)) return;
    double weight = open * (gas->soot[i] - sim->density * gas->heat[i] / sim->air.def.temperature);
    sum[SOOT] += open * gas->soot[i];
    sum[WEIGHT] += fabs(weight);
    for (int a = 0; a < 3; a++) sum[MOMENT + a] += weight * (c[a] + 0.5);
}

// Kinetic energy of a face, or of a piece of one. Its mass is the one that it has in the solve (mo_pressure_assemble).
// With any other mass the solve would seem to create energy: with that of cells cut by a cylinder two cells wide, 0.06%
// of it in every step.
static void add_face(const mo_sim *sim, int axis, int32_t i, double sum[SUMS])
{
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.press;
    double u = sim->air.gas.u[axis][i], area = sim->openings.area[axis][i] * mo_sample_area(g, axis, i);
    int32_t low = mo_sample_low(g, axis, i), high = mo_sample_high(g, axis, i);
    double before = low < 0 ? 1 : phi[low], behind = high < 0 ? 1 : phi[high];
    if (area <= 0 || (before >= 0 && behind >= 0)) return;
    double theta = mo_ghost_owner(g, axis, i) >= 0 ? 1 : mo_theta(before, behind, mo_theta_minimum);
    sum[KINETIC] += 0.5 * sim->density * area * theta * u * u;
}

mo_air_sums mo_sim_air_sums(const mo_sim *sim)
{
    enum { BLOCKS = 256 };
    const mo_grid *g = sim->grid;
    double partial[BLOCKS][SUMS] = {{0}}, sum[SUMS] = {0}, cell = mo_grid_cell_volume(g);
    if (!sim->air.present) return (mo_air_sums){0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int b = 0; b < BLOCKS; b++) {
        int64_t rows = mo_grid_rows(g), end = rows * (b + 1) / BLOCKS;
        for (int32_t i = (int32_t)(rows * b / BLOCKS); i < end; i++) add_row(sim, i, partial[b]);
        int64_t samples = mo_grid_samples(g), last = samples * (b + 1) / BLOCKS;
        for (int32_t i = (int32_t)(samples * b / BLOCKS); i < last; i++)
            for (int a = 0; a < mo_grid_axes(g); a++)
                if (i < mo_grid_cells(g) || mo_sites_sample(g, a, i).axis == a) add_face(sim, a, i, partial[b]);
    }
    for (int b = 0; b < BLOCKS; b++)
        for (int k = 0; k < SUMS; k++) sum[k] += partial[b][k];
    double potential = 0; // forces on soot and heat; moments are from the first cell of the lattice
    for (int a = 0; a < 3; a++) potential -= mo_get(sim->def.gravity, a) * sum[MOMENT + a] * g->dx * cell;
    return (mo_air_sums){
        .soot = sum[SOOT] * cell, .kinetic = sum[KINETIC] * cell, .potential = potential, .weight = sum[WEIGHT] * cell};
}

mo_air_sums mo_sim_air_exchange(mo_sim *sim, const mo_air_sums *before, bool energy)
{
    mo_air_sums after = mo_sim_air_sums(sim);
    sim->air.soot += after.soot - before->soot;
    if (energy) mo_sim_energy_carry(sim, after.kinetic - before->kinetic, after.potential - before->potential);
    return after;
}
