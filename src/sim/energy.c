// The account of energy: the present energy, the work from outside, the losses, and unexplained growth.
//
// A step minimises 1/2 |u - u*|^2_M under constraints B u - c = S x (system/system.h), so that M (u - u*) = -dt B^T x.
// With u0 = u* - dt g, the velocities before gravity, the energy of the system, kinetic and potential, changes by
//
//     - sum over blocks  dt x.B (u + u0)/2   -   1/2 dt g.M (u - u0)
//
// exactly. The last term is the cost of the implicit step itself. In the first, c comes from prescribed motions: they
// do the work -dt x.c, and dt x.(B (u + u0)/2 - c) is lost in that block, to viscosity, friction or inelastic contact.
//
// Energy is that of particles and bodies, not that of the grid: transfers, position correction and collisions change it
// without a force. Where they lower it, this is not reported; where they raise it beyond the work, energy_error shows
// it.
#include "base/parallel.h"
#include "fluid/levelset.h"
#include "sim/sim.h"
#include "system/state.h"
#include <math.h>

// ---- The present energy ----

// The corner of the domain that is lowest along gravity.
static mo_vec3 lowest_corner(const mo_sim *sim)
{
    mo_vec3 g = sim->def.gravity, size = mo_mul(sim->grid->dx, mo_v3(sim->cells[0], sim->cells[1], sim->cells[2]));
    return mo_v3(g.x > 0 ? size.x : 0, g.y > 0 ? size.y : 0, g.z > 0 ? size.z : 0);
}

enum { SUMS = 8, VELOCITY = 1, MOMENT = 4, ENERGY = 7 }; // mass, mass * velocity, mass * position, 1/2 mass * speed^2

// Four particles at a time: sums of every fourth, which are added at the end.
enum { WIDE = 4 };
typedef double wide __attribute__((vector_size(8 * WIDE)));

static void add_particles(const mo_particles *p, int64_t q, int count, wide sum[SUMS], wide *fastest)
{
    wide m = {0}, x[3] = {0}, v[3] = {0}, square = {0};
    for (int l = 0; l < count; l++) {
        m[l] = p->volume[q + l];
        for (int a = 0; a < 3; a++) x[a][l] = p->x[a][q + l], v[a][l] = p->v[a][q + l];
    }
    sum[0] += m;
    for (int a = 0; a < 3; a++) {
        sum[VELOCITY + a] += m * v[a], sum[MOMENT + a] += m * x[a];
        square += v[a] * v[a];
    }
    sum[ENERGY] += 0.5 * m * square;
    for (int l = 0; l < WIDE; l++) (*fastest)[l] = square[l] > (*fastest)[l] ? square[l] : (*fastest)[l];
}

static void add_block(const mo_particles *p, int64_t from, int64_t to, double sum[SUMS], double *fastest)
{
    MO_ASSERT(from <= to && to <= p->count);
    wide part[SUMS] = {0}, most = {0};
    for (; from + WIDE <= to; from += WIDE) add_particles(p, from, WIDE, part, &most);
    add_particles(p, from, (int)(to - from), part, &most);
    for (int l = 0; l < WIDE; l++) {
        for (int i = 0; i < SUMS; i++) sum[i] += part[i][l];
        *fastest = fmax(*fastest, most[l]);
    }
}

// Liquid without particles: one velocity per cell; volume and moment are those of its account.
static void add_deep(const mo_sim *sim, double sum[SUMS], double *fastest)
{
    enum { BLOCKS = 256 };
    const mo_band *b = &sim->band;
    const mo_grid *g = sim->grid;
    if (!b->cells) return;
    double share = b->volume / (double)b->cells, partial[BLOCKS][SUMS] = {{0}}, most[BLOCKS] = {0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < BLOCKS; k++) {
        int64_t end = mo_grid_cells(g) * (k + 1) / BLOCKS;
        for (int32_t i = (int32_t)(mo_grid_cells(g) * k / BLOCKS); i < end; i++) {
            float v[3];
            if (!b->deep[i]) continue;
            mo_band_velocity(b, g, i, v);
            double square = 0;
            for (int a = 0; a < 3; a++) {
                partial[k][VELOCITY + a] += share * v[a];
                square += (double)v[a] * v[a];
            }
            partial[k][ENERGY] += 0.5 * share * square;
            most[k] = fmax(most[k], square);
        }
    }
    for (int k = 0; k < BLOCKS; k++) {
        for (int i = 0; i < SUMS; i++) sum[i] += partial[k][i];
        *fastest = fmax(*fastest, most[k]);
    }
    sum[0] += b->volume;
    for (int a = 0; a < 3; a++) sum[MOMENT + a] += b->moment[a];
}

// Air in place of liquid: its mass is the mass that is lifted, that of soot and of the air that heat displaces.
static mo_liquid_sums air_sums(const mo_sim *sim)
{
    mo_air_sums a = mo_sim_air_sums(sim);
    double speed = mo_gas_max_speed(&sim->air.gas, sim->grid, sim->openings.area);
    return (mo_liquid_sums){.mass = a.weight, .kinetic = a.kinetic, .potential = a.potential, .max_speed = speed};
}

mo_liquid_sums mo_sim_liquid_sums(const mo_sim *sim)
{
    enum { BLOCKS = 256 };
    if (sim->air.present) return air_sums(sim);
    const mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    double partial[BLOCKS][SUMS] = {{0}}, fastest[BLOCKS] = {0}, sum[SUMS] = {0}, speed = 0;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < BLOCKS; b++)
        add_block(p, (int64_t)p->count * b / BLOCKS, (int64_t)p->count * (b + 1) / BLOCKS, partial[b], &fastest[b]);
    for (int b = 0; b < BLOCKS; b++) {
        for (int i = 0; i < SUMS; i++) sum[i] += partial[b][i];
        speed = fmax(speed, fastest[b]);
    }
    add_deep(sim, sum, &speed);
    double cell = sim->density * g->dx * g->dx * g->dx, mass = cell * sum[0];
    mo_vec3 moment = mo_v3(sum[MOMENT], sum[MOMENT + 1], sum[MOMENT + 2]);
    moment = mo_add(mo_mul(mass, g->origin), mo_mul(cell * g->dx, moment));
    mo_vec3 height = mo_sub(moment, mo_mul(mass, lowest_corner(sim)));
    return (mo_liquid_sums){.mass = mass,
                            .momentum = mo_mul(cell, mo_v3(sum[VELOCITY], sum[VELOCITY + 1], sum[VELOCITY + 2])),
                            .kinetic = cell * sum[ENERGY],
                            .potential = -mo_dot(sim->def.gravity, height),
                            .max_speed = sqrt(speed)};
}

typedef struct holdings {
    mo_liquid_sums liquid;
    double mass, body_kinetic, potential, surface, elastic, energy;
    double least_volume; // smallest det F of elastic elements
    int64_t vertices, inverted;
} holdings;

static void add_elastics(const mo_sim *sim, holdings *h)
{
    mo_vec3 low = lowest_corner(sim);
    h->least_volume = 1;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic_sums s = mo_elastic_measure(&sim->elastics.body[k].body);
        h->mass += s.mass, h->body_kinetic += s.kinetic, h->elastic += s.elastic;
        h->vertices += sim->elastics.body[k].body.vertices, h->inverted += s.inverted;
        h->least_volume = k ? fmin(h->least_volume, s.least) : s.least;
        h->potential -= s.mass * mo_dot(sim->def.gravity, mo_sub(s.centre, low));
    }
}

static void add_bodies(const mo_sim *sim, double *mass, double *kinetic, double *potential)
{
    mo_vec3 low = lowest_corner(sim);
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!s->rigid) continue;
        mo_rigid r = s->body;
        r.pose = s->pose, r.velocity = s->velocity, r.angular_velocity = s->angular_velocity;
        *mass += r.mass;
        *kinetic += mo_rigid_energy(&r);
        // Because air is computed without its weight.
        double weighs = r.mass - (sim->air.present ? sim->density * mo_solid_displaced(s) : 0);
        *potential -= weighs * mo_dot(sim->def.gravity, mo_sub(r.pose.position, low));
    }
}

// |grad phi| of a cell. In the middle of limbs a cell or two thick phi has a ridge, where the central difference is too
// small or 0. There phi is a distance up to the ridge, so the steeper of the two sides counts, up to 1.
static double steepness(const mo_sim *sim, int32_t i)
{
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.phi;
    double central = 0, sides = 0;
    for (int a = 0; a < mo_grid_axes(g); a++) {
        int32_t low = mo_grid_step(g, i, a, -1), high = mo_grid_step(g, i, a, 1);
        double rise = high < 0 ? 0 : phi[high] - phi[i], fall = low < 0 ? 0 : phi[i] - phi[low];
        double slope = 0.5 * (rise + fall), side = fmax(fabs(rise), fabs(fall));
        central += slope * slope, sides += side * side;
    }
    return sqrt(fmax(central, fmin(sides, 1)));
}

// Area of the liquid's surface outside solids, m^2: the integral of a smeared delta function of the level set,
// (1 + cos(pi phi/w))/(2 w) |grad phi| with w = 1.5 cells, over the open parts of cells. Exact for planes.
static double surface_area(const mo_sim *sim)
{
    static const double width = 1.5;
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.phi, *open = sim->openings.volume;
    double area = 0;
    for (int32_t i = 0; i < mo_grid_cells(g); i++) {
        int32_t c[3];
        if (!(fabsf(phi[i]) < width) || open[i] <= 0) continue;
        mo_grid_cell(g, i, c);
        if (!mo_levelset_in_domain(g, c)) continue;
        area += (1 + mo_cos(3.14159265358979323846 * phi[i] / width)) / (2 * width) * steepness(sim, i) * open[i];
    }
    return area * g->dx * g->dx;
}

double mo_sim_surface_energy(const mo_sim *sim)
{
    return sim->surface_tension > 0 ? sim->surface_tension * surface_area(sim) : 0;
}

static holdings measure(const mo_sim *sim, const mo_liquid_sums *liquid)
{
    holdings h = {.liquid = *liquid};
    h.mass = h.liquid.mass, h.potential = h.liquid.potential;
    add_bodies(sim, &h.mass, &h.body_kinetic, &h.potential);
    add_elastics(sim, &h);
    h.surface = mo_sim_surface_energy(sim);
    h.energy = h.liquid.kinetic + h.body_kinetic + h.potential + h.surface + h.elastic;
    return h;
}

// ---- Work and loss of a solve ----

// Velocities before the step's gravity, of faces and then of bodies. Gravity does not act on the gaps of sheets.
mo_status mo_sim_energy_before(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_liquid_system *l = &c->assemble.liquid;
    const mo_system *s = &l->system;
    double *v = c->solve.before = MO_ARENA_ARRAY(sim->step_arena, double, mo_motion_size(s) + 1);
    if (!v) return mo_fail_memory(err);
    mo_motion_get(s, v);
    mo_vec3 fall = mo_mul(c->dt, mo_sim_fall(sim));
    const double kick[3] = {fall.x, fall.y, fall.z};
    for (int32_t k = 0; k < s->faces.count - l->gaps; k++) v[k] -= kick[mo_face_axis(l->face_at[k])];
    double *body = v + s->faces.count;
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++, body += MO_BODY_UNKNOWNS)
        for (int a = 0; a < 3; a++) body[a] -= kick[a];
    if (sim->air.present) mo_sim_air_before(sim, v + s->faces.count);
    mo_sim_elastic_before(sim, body);
    return MO_OK;
}

// The part of x.c of normal contact rows that comes from prescribed motion; the rest of their c comes from the gap.
static double prescribed_contact(const mo_sim *sim, const mo_step_context *c)
{
    const mo_block *b = c->assemble.liquid.system.block[MO_BLOCK_CONTACT];
    double sum = 0;
    for (int32_t i = 0; i < b->rows; i++) {
        const mo_contact *one = &c->contacts.found->contact[i];
        const int32_t side[2] = {one->a, one->b};
        for (int k = 0; k < 2; k++)
            if (side[k] < sim->solid_count && !mo_solid_is_body(&sim->solids[side[k]]))
                sum += (k ? -1 : 1) * b->x[i] *
                       mo_dot(mo_solid_velocity_at(&sim->solids[side[k]], one->point), one->normal);
    }
    return sum / sim->grid->dx;
}

// The part of x.B u that comes from prescribed motion. It is x.c, except where a closed vessel is squeezed: there c has
// no solution, and B u is what the liquid felt.
// Air got half of the last step's pressure before the solve.
static double prescribed_pressure(const mo_sim *sim, const mo_liquid_system *l, const double *rate)
{
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    bool half = sim->air.present && !mo_sim_air_exchanges(sim);
    double sum = 0;
    for (int32_t i = 0; i < b->rows; i++) {
        double x = b->x[i] + (half ? 0.5 * sim->air.gas.pressure[l->cell_at[i]] : 0);
        if (b->rhs[i] != 0) sum += x * (rate[i] - (b->turned ? b->turned[i] : 0));
    }
    return sum;
}

// Liquid on faces that move with prescribed solids is not an unknown of the solve. The work of the solid on it is known
// only when the particles' velocities are: along the solid this liquid moves as its neighbours do, and only across it
// with the solid.
static mo_status note_carried(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stress_def def = mo_sim_stress_def(sim, c, &solids);
    int32_t count = mo_stress_carried(&def, &c->assemble.liquid, NULL);
    c->solve.carried = MO_ARENA_ARRAY(sim->step_arena, mo_carried, count + 1);
    if (!c->solve.carried) return mo_fail_memory(err);
    c->solve.carried_count = mo_stress_carried(&def, &c->assemble.liquid, c->solve.carried);
    return MO_OK;
}

void mo_sim_energy_carried(mo_sim *sim, const mo_step_context *c)
{
    double sum = 0;
    for (int32_t k = 0; k < c->solve.carried_count; k++) {
        const mo_carried *f = &c->solve.carried[k];
        double change = (double)c->apply.faces.u[f->axis][f->face] - c->transfer.u[f->axis][f->face];
        sum += f->mass * change * f->velocity;
    }
    sim->account.work += sum * mo_grid_cell_volume(sim->grid);
}

// The work of prescribed motion on the rows of a block, over dt and the volume of a cell. rate: B v of its rows.
static double prescribed_work(const mo_sim *sim, const mo_step_context *c, int kind, const double *rate)
{
    const mo_block *b = c->assemble.liquid.system.block[kind];
    if (kind == MO_BLOCK_PRESSURE) return -prescribed_pressure(sim, &c->assemble.liquid, rate);
    if (kind == MO_BLOCK_CONTACT) return -prescribed_contact(sim, c);
    return -mo_dot_product(b->rows, b->x, b->rhs);
}

mo_status mo_sim_solve_work(const mo_sim *sim, const mo_step_context *c, const double *const motion[MO_GROUPS],
                            double *work, mo_error *err)
{
    const mo_system *s = &c->assemble.liquid.system;
    *work = 0;
    for (int kind = 0; kind < MO_BLOCK_KINDS; kind++) {
        const mo_block *b = s->block[kind];
        if (!b || b->rows == 0) continue;
        double *rate = MO_ARENA_ARRAY(sim->arena, double, b->rows);
        if (!rate) return mo_fail_memory(err);
        mo_block_multiply(b, motion, rate);
        *work += c->dt * mo_grid_cell_volume(sim->grid) * prescribed_work(sim, c, kind, rate);
    }
    return MO_OK;
}

mo_status mo_sim_energy_after(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_ASSERT(c->solve.before);
    const mo_system *s = &c->assemble.liquid.system;
    const double *before = c->solve.before;
    double scale = c->dt * mo_grid_cell_volume(sim->grid);
    int64_t size = mo_motion_size(s);
    double *mean = MO_ARENA_ARRAY(sim->arena, double, 2 * size + 1), *now = mean + size;
    if (!mean) return mo_fail_memory(err);
    mo_motion_get(s, now);
    for (int64_t i = 0; i < size; i++) mean[i] = 0.5 * (before[i] + now[i]);
    const double *of_now[MO_GROUPS], *of_mean[MO_GROUPS];
    mo_motion_split(s, now, of_now), mo_motion_split(s, mean, of_mean);
    for (int kind = 0; kind < MO_BLOCK_KINDS; kind++) {
        const mo_block *b = s->block[kind];
        if (!b || b->rows == 0) continue;
        double *rate = MO_ARENA_ARRAY(sim->arena, double, b->rows);
        if (!rate) return mo_fail_memory(err);
        mo_block_multiply(b, of_now, rate);
        double work = prescribed_work(sim, c, kind, rate);
        sim->account.work += scale * work;
        if (kind == MO_BLOCK_PRESSURE || kind == MO_BLOCK_SLIP) continue;
        mo_block_multiply(b, of_mean, rate);
        sim->account.loss += scale * (mo_dot_product(b->rows, b->x, rate) + work);
    }
    if (sim->elastics.count) {
        const double *of_before[MO_GROUPS];
        mo_motion_split(s, before, of_before);
        MO_TRY(mo_sim_elastic_account(sim, c, of_before[MO_NODES], of_now[MO_NODES], err));
    }
    return sim->weighed && sim->moving ? note_carried(sim, c, err) : MO_OK;
}

// ---- The account ----

void mo_sim_energy_carry(mo_sim *sim, double kinetic, double potential)
{
    sim->account.work += kinetic + potential;
    sim->account.carried += potential;
}

void mo_sim_energy_exchange(mo_sim *sim, const mo_liquid_sums *before)
{
    mo_liquid_sums after = mo_sim_liquid_sums(sim);
    mo_sim_energy_carry(sim, after.kinetic - before->kinetic, after.potential - before->potential);
}

void mo_sim_energy_correction(mo_sim *sim, const mo_step_context *c, const mo_liquid_sums *after)
{
    mo_account *a = &sim->account;
    const mo_liquid_sums *before = &c->correct.before;
    double added = after->kinetic - before->kinetic + after->potential - before->potential;
    a->corrected += added;
    a->owed = fmax(a->owed + added, 0);
    if (sim->step > 0) return;
    // Seeds were placed at random, and the surface of shapes thinner than a cell holds a different volume than they do.
    // This correction evens both out.
    a->least += added + mo_sim_surface_energy(sim) - a->work - c->correct.surface;
    a->highest += added, a->owed = 0;
}

static void note(mo_account *a, const holdings *h)
{
    double potential = h->potential - a->carried;
    a->least = fmin(a->least, h->energy - a->work);
    a->highest = fmax(a->highest, potential);
    a->released = fmax(a->released, a->highest - potential);
    a->kinetic = fmax(a->kinetic, h->liquid.kinetic + h->body_kinetic);
    a->most_work = fmax(a->most_work, fabs(a->work));
}

void mo_sim_energy_open(mo_sim *sim)
{
    mo_liquid_sums liquid = mo_sim_liquid_sums(sim);
    holdings h = measure(sim, &liquid);
    sim->account = (mo_account){.least = h.energy, .highest = h.potential, .last = h.energy};
    note(&sim->account, &h);
}

// The scale of growth: the largest energy that has been at work, plus the energy that lifts everything by a cell.
static double scale_of(const mo_sim *sim, const holdings *h)
{
    const mo_account *a = &sim->account;
    double most = fmax(fmax(a->kinetic, a->released), fmax(a->most_work, h->surface));
    return most + h->mass * mo_norm(sim->def.gravity) * sim->grid->dx;
}

// Steps that lose little need not pay for every joule: a thousandth of the energy at work may be owed. Where liquid
// sloshes, the energy of a step falls and rises with the phase of the wave. If the correction could spend what falls
// without returning what rises, energy would grow for ever: what a step gains in its motion is owed as well.
double mo_sim_energy_spare(mo_sim *sim, const mo_liquid_sums *liquid)
{
    const double trust = 1e-3;
    mo_account *a = &sim->account;
    holdings h = measure(sim, liquid);
    if (sim->step == 0) return INFINITY;
    a->owed += h.energy - a->work - a->last;
    return fmax(trust * scale_of(sim, &h) - a->owed, 0);
}

void mo_sim_energy_close(mo_sim *sim, const mo_liquid_sums *liquid)
{
    mo_stats *stats = &sim->stats;
    holdings h = measure(sim, liquid);
    note(&sim->account, &h);
    sim->account.last = h.energy - sim->account.work;
    double growth = sim->account.last - sim->account.least, scale = scale_of(sim, &h);
    stats->momentum = h.liquid.momentum, stats->max_speed = h.liquid.max_speed;
    stats->kinetic_energy = h.liquid.kinetic, stats->body_kinetic_energy = h.body_kinetic;
    stats->potential_energy = h.potential, stats->surface_energy = h.surface, stats->energy = h.energy;
    stats->elastic_energy = h.elastic;
    stats->vertices = h.vertices, stats->least_volume = h.least_volume, stats->inverted = h.inverted;
    stats->energy_work = sim->account.work, stats->energy_loss = sim->account.loss;
    stats->energy_correction = sim->account.corrected;
    stats->energy_error = growth > 0 && scale > 0 ? growth / scale : 0;
}
