// The step: a table of stages, each reading what earlier ones wrote.
#include "sim/sim.h"
#include "base/parallel.h"
#include "fluid/tension.h"
#include "grid/levelset.h"
#include <math.h>
#include <string.h>

// Velocities on the grid from the particles, phases from the surface.
static mo_status stage_transfer(mo_sim *sim, mo_error *err)
{
    MO_TRY(mo_sim_vary_viscosity(sim, err));
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    MO_TRY(mo_surface_phase(&sim->particles, g, sim->level.press, f->area, f->phase, sim->arena, err));
    mo_surface_slave(g, f->phase, f->bytes);
    mo_faces faces = {{f->u[0], f->u[1], f->u[2]}, {f->valid[0], f->valid[1], f->valid[2]}};
    mo_transfer_to_faces(&sim->particles, g, &faces, f->mass);
    const double gravity[3] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z};
    for (int a = 0; a < 3; a++) {
        // Faces of liquid cells that no particle reaches take their neighbours' velocity.
        mo_extrapolate(g, f->u[a], f->valid[a], 2, 2, f->scratch[0], f->bytes);
        float kick = (float)(gravity[a] * sim->dt);
        if (kick == 0) continue;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_cells(g); i++) f->u[a][i] += kick;
    }
    return MO_OK;
}

// Openings were made for these poses when the particles were sorted; scripted solids now also sweep.
static mo_status stage_fractions(mo_sim *sim, mo_error *err)
{
    if (sim->moving) MO_TRY(mo_sim_openings(sim, sim->time, err));
    return sim->viscous ? mo_sim_weigh(sim, err) : MO_OK;
}

static mo_status stage_solve(mo_sim *sim, mo_error *err)
{
    if (sim->inspect) MO_TRY(sim->inspect(sim->inspect_user, sim, err));
    mo_system *s = &sim->stokes.liquid.system;
    mo_system_info info;
    mo_stokes_rheology rheology = {.stokes = &sim->stokes,
                                   .grid = sim->grid,
                                   .reduced = mo_sim_stokes_def(sim, NULL).reduced,
                                   .arena = sim->arena,
                                   .known = sim->field.viscosity};
    for (int k = 0; k < 4; k++) rheology.parameter[k] = sim->field.parameter[k];
    if (sim->non_newtonian) s->renew = mo_stokes_renew, s->renew_user = &rheology;
    mo_verification *verification = NULL;
    mo_status status = sim->def.solver.verify ? mo_verify_begin(sim, &verification, err) : MO_OK;
    double *kept = NULL;
    if (status == MO_OK) status = mo_sim_energy_before(sim, &kept, err);
    if (status == MO_OK) status = mo_system_solve(s, &sim->def.solver, &info, err);
    if (status == MO_OK && verification) status = mo_verify_end(sim, verification, err);
    mo_verify_destroy(verification);
    s->renew = NULL;
    MO_TRY(status);
    mo_stats *stats = &sim->stats;
    stats->stresses = s->block[MO_BLOCK_STRESS] ? s->block[MO_BLOCK_STRESS]->rows : 0;
    stats->round_change = info.change, stats->staggering = info.staggering;
    if (sim->bodies) mo_sim_take_bodies(sim);
    MO_TRY(mo_sim_keep_contacts(sim, err));
    stats->pressures = s->block[MO_BLOCK_PRESSURE]->rows;
    stats->scheme = mo_scheme_name(&sim->def.solver, s);
    stats->route = sim->def.solver.route == MO_ROUTE_FAST && !info.by_paper ? "fast" : "paper"; // what really ran
    stats->passes = info.passes, stats->set_count = info.set_count;
    memcpy(stats->sets, info.sets, sizeof stats->sets);
    stats->rounds = info.rounds, stats->iterations = info.solve.iterations;
    stats->residual = info.solve.residual, stats->reason = info.solve.reason;
    stats->pieces = info.pieces, stats->enclosed = info.enclosed, stats->relaxed = info.relaxed;
    stats->fallbacks = info.fallbacks;
    mo_block *b = s->block[MO_BLOCK_PRESSURE];
    double *r = MO_ARENA_ARRAY(sim->arena, double, b->rows + 1);
    if (!r) return mo_fail_memory(err);
    mo_block_residual(s, b, r);
    stats->max_divergence = mo_max_abs(b->rows, r);
    MO_TRY(mo_sim_energy_after(sim, kept, err));
    MO_TRY(mo_sim_measure_forces(sim, err));
    if (!isfinite(stats->max_divergence))
        return mo_fail(err, MO_ERROR_FAILED, "step %lld: the pressure solve gave numbers that are not finite",
                       (long long)sim->step);
    return MO_OK;
}

// New velocities on every face that particles may visit.
static mo_status stage_apply(mo_sim *sim, mo_error *err)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_balance balance;
    MO_TRY(mo_sim_balance(sim, &balance, err));
    for (int a = 0; a < 3; a++) memset(f->valid[a], 0, (size_t)mo_grid_cells(g));
    mo_liquid_scatter(&sim->stokes.liquid, f->u, f->valid);
    mo_stokes_destroy(&sim->stokes);
    MO_TRY(mo_balance_share(&balance, sim->arena, err));
    mo_sim_fix_walls(sim);
    mo_sim_emitter_velocities(sim, sim->time);
    for (int a = 0; a < 3; a++) mo_extrapolate(g, f->u[a], f->valid[a], MO_REACH + 1, 2, f->scratch[0], f->bytes);
    mo_sim_constrain(sim);
    MO_TRY(mo_balance_limit(&balance, f->scratch, sim->arena, err));
    sim->stats.shared = balance.shared, sim->stats.limited = balance.limited;
    return MO_OK;
}

// Takes out the particles that left through open walls.
static mo_status drain(mo_sim *sim, mo_error *err)
{
    mo_particles *p = &sim->particles;
    uint8_t *gone = mo_arena_alloc(sim->arena, (size_t)p->count + 1);
    if (!gone) return mo_fail_memory(err);
    int64_t count = 0;
    for (int32_t q = 0; q < p->count; q++) {
        gone[q] = 0;
        for (int a = 0; a < 3; a++)
            gone[q] |= p->x[a][q] < MO_MARGIN || p->x[a][q] >= (float)(sim->grid->n[a] - MO_MARGIN);
        count += gone[q];
    }
    if (count == 0) return MO_OK;
    mo_liquid_sums before = mo_sim_liquid_sums(sim);
    mo_particles_remove(p, gone);
    mo_sim_energy_exchange(sim, &before);
    return MO_OK;
}

// Keeps where particles are before they move, for their collisions with solids.
static mo_status keep_positions(mo_sim *sim, mo_error *err)
{
    size_t count = (size_t)sim->particles.count;
    for (int a = 0; a < 3 && sim->def.solid_count; a++) {
        float *x = MO_ARENA_ARRAY(sim->arena, float, count + 1);
        if (!x) return mo_fail_memory(err);
        if (count) memcpy(x, sim->particles.x[a], sizeof(float) * count);
        sim->came_from[a] = x;
    }
    return MO_OK;
}

static mo_status stage_advect(mo_sim *sim, mo_error *err)
{
    MO_TRY(keep_positions(sim, err));
    mo_fields *f = &sim->field;
    mo_faces faces = {.u = {f->u[0], f->u[1], f->u[2]}};
    mo_sim_advect_level(sim);
    sim->account.work += mo_sim_emitter_lift(sim);
    for (int32_t s = 0; s < sim->def.solid_count; s++) sim->solids[s].pose = sim->solids[s].next;
    mo_advect advect = {.dt = sim->dt,
                        .gravity = sim->def.gravity,
                        .phase = f->phase,
                        .collide = mo_sim_collide_part,
                        .user = sim,
                        .reach = (float)fmax(sim->def.time.cfl, 3) + 0.1f,
                        .outlier = mo_arena_alloc(sim->arena, (size_t)sim->particles.count + 1)};
    if (!advect.outlier) return mo_fail_memory(err);
    mo_transfer_advect(&sim->particles, sim->grid, &faces, &advect);
    sim->stats.ballistic = advect.ballistic, sim->stats.outliers = advect.outliers;
    MO_TRY(mo_sim_collide_moved(sim, advect.outlier, err));
    for (int c = 0; c < 3; c++) sim->came_from[c] = NULL;
    for (int32_t s = 0; s < sim->def.solid_count; s++) {
        mo_solid *o = &sim->solids[s];
        if (o->dynamic) o->angular_velocity = o->rigid.angular_velocity, sim->centre[s] = o->pose.position;
    }
    if (sim->open) MO_TRY(drain(sim, err));
    mo_liquid_sums before = {0};
    if (sim->def.emitter_count) before = mo_sim_liquid_sums(sim);
    MO_TRY(mo_sim_emit(sim, sim->time, sim->time + sim->dt, err));
    if (sim->def.emitter_count) mo_sim_energy_exchange(sim, &before);
    return MO_OK;
}

static mo_status stage_settle(mo_sim *sim, mo_error *err)
{
    MO_TRY(mo_sim_check_motion(sim, err));
    MO_TRY(mo_particles_sort(&sim->particles, sim->grid, sim->arena, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    return mo_sim_openings(sim, sim->time + sim->dt, err);
}

// The step as a table: name, function, what it reads -> writes.
#define STAGES(X)                                                                                                      \
    X("transfer", stage_transfer)       /* particles, surface -> face velocity, phase */                               \
    X("fractions", stage_fractions)     /* level sets       -> open areas, swept flux; WL WF WS if viscous */          \
    X("contacts", mo_sim_find_contacts) /* solids       -> contact list */                                             \
    X("assemble", mo_sim_assemble)      /* all of the above -> blocks of the system */                                 \
    X("solve", stage_solve)             /* system           -> p, s, face velocity, forces on solids */                \
    X("apply", stage_apply)             /* face velocity    -> face velocity everywhere near the liquid */             \
    X("advect", stage_advect)    /* face velocity    -> surface, particles, poses of solids; emission and outflow */   \
    X("settle", stage_settle)    /* particles        -> tiles, surface on them, sorted particles, openings */          \
    X("correct", mo_sim_correct) /* particles, surface -> surface that agrees, particle positions */

#define NAME_OF(name, run) name,
#define RUN_OF(name, run)  run,
const char *const mo_stage_name[MO_STAGE_COUNT] = {STAGES(NAME_OF)};
static mo_status (*const stages[MO_STAGE_COUNT])(mo_sim *sim, mo_error *err) = {STAGES(RUN_OF)};

// ---- Time ----

static double frame_time(const mo_sim *sim, int32_t frame) { return frame / sim->def.time.fps; }

// The speed that the liquid keeps but for a stray part, a thousandth of it or a cell's worth: those outliers move in
// parts of the step. They are left out only if that makes the rest slower by a third; nothing below `enough` matters.
static double liquid_speed(const mo_sim *sim, double enough)
{
    const mo_particles *p = &sim->particles;
    double speed = mo_particles_max_speed(p);
    if (!(speed > enough && isfinite(speed))) return speed;
    double volume = mo_particles_volume(p), stray = fmin(fmax(1e-3 * volume, 1), 1e-2 * volume);
    while (speed > enough && mo_particles_volume_above(p, speed / 1.5) <= stray) speed /= 1.5;
    return speed;
}

// The longest step in which nothing but outliers crosses more than cfl cells, (v + g dt) dt <= cfl dx, fitted into what
// is left of the frame.
static double choose_dt(const mo_sim *sim)
{
    double g = mo_norm(sim->def.gravity), reach = sim->def.time.cfl * sim->grid->dx,
           left = frame_time(sim, sim->frame + 1) - sim->time, dt = left, speed = liquid_speed(sim, reach / left);
    for (int32_t i = 0; i < sim->def.emitter_count; i++) speed = fmax(speed, mo_norm(sim->emitters[i].velocity));
    for (int32_t i = 0; i < sim->def.solid_count; i++) speed = fmax(speed, mo_solid_speed(&sim->solids[i]));
    double limit = g > 0 ? 2 * reach / (speed + sqrt(speed * speed + 4 * g * reach)) : speed > 0 ? reach / speed : left;
    limit = fmin(limit, mo_tension_time_step(sim->surface_tension, sim->density, sim->least_viscosity, sim->grid->dx));
    if (sim->def.time.max_step > 0) limit = fmin(limit, sim->def.time.max_step);
    if (limit < left) dt = left / ceil(left / limit - 1e-9);
    return dt;
}

static mo_status run_step(mo_sim *sim, mo_error *err)
{
    sim->stats = (mo_stats){.step = sim->step, .frame = sim->frame + 1, .dt = sim->dt};
    double cpu = mo_cpu_seconds();
    mo_liquid_sums before = {0}, after = {0}; // the correction, which comes last
    for (int s = 0; s < MO_STAGE_COUNT; s++) {
        double start = mo_wall_seconds();
        mo_arena_reset(sim->arena);
        if (stages[s] == mo_sim_correct) before = mo_sim_liquid_sums(sim);
        MO_TRY(stages[s](sim, err));
        if (stages[s] == mo_sim_correct) after = mo_sim_liquid_sums(sim);
        sim->stats.seconds[s] = mo_wall_seconds() - start;
        if (stages[s] == stage_solve) sim->stats.seconds[s] -= sim->stats.verify.seconds;
    }
    mo_sim_energy_correction(sim, &before, &after);
    mo_sim_energy_close(sim, &after);
    sim->stats.cpu_seconds = mo_cpu_seconds() - cpu - sim->stats.verify.cpu_seconds;
    sim->stats.particles = sim->particles.count;
    sim->stats.memory_bytes = mo_memory_in_use();
    return MO_OK;
}

// As many threads as asked for; left to us, no more than the particles keep busy.
static void use_threads(const mo_sim *sim)
{
    enum { PARTICLES_PER_THREAD = 25000 };
    mo_use_threads(sim->def.threads);
    int32_t useful = 1 + sim->particles.count / PARTICLES_PER_THREAD;
    if (sim->def.threads == 0 && useful < mo_thread_count()) mo_use_threads(useful);
}

mo_status mo_sim_step(mo_sim *sim, mo_stats *stats, mo_error *err)
{
    if (sim->broken)
        return mo_fail(err, MO_ERROR_FAILED, "an earlier step failed halfway: load a saved state to go on");
    use_threads(sim);
    if (sim->step == 0) { // how fast solids start is not known yet
        mo_sim_energy_open(sim);
        sim->dt = frame_time(sim, 1);
        MO_TRY(mo_sim_move_solids(sim, err));
    }
    sim->dt = choose_dt(sim);
    MO_TRY(mo_sim_move_solids(sim, err));
    double end = frame_time(sim, sim->frame + 1);
    bool completes = sim->time + sim->dt >= end - 1e-9 / sim->def.time.fps;
    sim->broken = true;
    mo_status status = run_step(sim, err);
    mo_stokes_destroy(&sim->stokes);
    MO_TRY(status);
    sim->broken = false;
    sim->time = completes ? end : sim->time + sim->dt;
    sim->step++;
    sim->frame += completes;
    sim->stats.time = sim->time;
    if (stats) *stats = sim->stats;
    return mo_sim_judge(sim, err);
}

mo_status mo_sim_advance(mo_sim *sim, mo_step_fn on_step, void *user, mo_error *err)
{
    int32_t frame = sim->frame;
    while (sim->frame == frame) {
        int64_t step = sim->step;
        mo_status status = mo_sim_step(sim, NULL, err);
        if (on_step && sim->step > step) on_step(user, &sim->stats);
        MO_TRY(status);
    }
    return MO_OK;
}

double mo_sim_time(const mo_sim *sim) { return sim->time; }
int32_t mo_sim_frame(const mo_sim *sim) { return sim->frame; }
int32_t mo_sim_frame_count(const mo_sim *sim)
{
    return (int32_t)ceil(sim->def.time.fps * sim->def.time.seconds - 1e-9);
}
bool mo_sim_done(const mo_sim *sim) { return sim->frame >= mo_sim_frame_count(sim); }

const char *mo_reason_name(mo_reason reason)
{
    static const char *const name[] = {"converged", "max_iterations", "stalled", "nothing_to_do"};
    return (unsigned)reason < sizeof name / sizeof *name ? name[reason] : "unknown";
}
