// The step: a table of stages, each reading what earlier ones wrote.
#include "sim/sim.h"
#include "base/parallel.h"
#include "fluid/tension.h"
#include <math.h>

// The step as a table: name, function, what it reads -> writes.
#define STAGES(X)                                                                                                      \
    X("transfer", mo_stage_transfer)   /* particles, surface -> face velocity, phase */                                \
    X("fractions", mo_stage_fractions) /* level sets       -> open areas, swept flux; WL WF WS if viscous */           \
    X("contacts", mo_stage_contacts)   /* solids       -> contact list */                                              \
    X("assemble", mo_stage_assemble)   /* all of the above -> blocks of the system */                                  \
    X("solve", mo_stage_solve)         /* system           -> p, s, face velocity, forces on solids */                 \
    X("apply", mo_stage_apply)         /* face velocity    -> face velocity everywhere near the liquid */              \
    X("advect", mo_stage_advect)   /* face velocity    -> surface, particles, poses of solids; emission and outflow */ \
    X("settle", mo_stage_settle)   /* particles        -> tiles, surface on them, sorted particles, openings */        \
    X("correct", mo_stage_correct) /* particles, surface -> surface that agrees, particle positions */

// The stages of air, which has no particles.
static mo_status (*const air_stages[MO_STAGE_COUNT])(mo_sim *sim, mo_step_context *c, mo_error *err) = {
    mo_stage_air_transfer, // velocity, soot, heat -> the same a step later, but for pressure; phase
    mo_stage_fractions,    mo_stage_contacts, mo_stage_assemble, mo_stage_solve,
    mo_stage_air_apply,   // face velocity        -> velocity everywhere, what pressure gave
    mo_stage_air_advect,  // poses of solids
    mo_stage_air_settle,  // velocity, soot, heat -> tiles, openings
    mo_stage_air_correct, // soot, sources        -> soot that fits its account
};

#define NAME_OF(name, run) name,
#define RUN_OF(name, run)  run,
const char *const mo_stage_name[MO_STAGE_COUNT] = {STAGES(NAME_OF)};
static mo_status (*const stages[MO_STAGE_COUNT])(mo_sim *sim, mo_step_context *c, mo_error *err) = {STAGES(RUN_OF)};

// ---- Time ----

static double frame_time(const mo_sim *sim, int32_t frame) { return frame / sim->def.time.fps; }

// The largest speed of the liquid without a stray part of it, a thousandth or one cell of volume: those outliers move
// in parts of the step. They are left out only if the rest is slower by a third; speeds below `enough` do not matter.
static double liquid_speed(const mo_sim *sim, double enough)
{
    const mo_particles *p = &sim->particles;
    if (sim->air.present) return mo_sim_air_speed(sim);
    double speed = mo_particles_max_speed(p), deep = sim->band.cells ? mo_band_max_speed(&sim->band, sim->grid) : 0;
    enough = fmax(enough, deep);
    if (!(speed > enough && isfinite(speed))) return fmax(speed, deep);
    double volume = mo_sim_liquid_volume(sim), stray = fmin(fmax(1e-3 * volume, 1), 1e-2 * volume);
    while (speed > enough && mo_particles_volume_above(p, speed / 1.5) <= stray) speed /= 1.5;
    return fmax(speed, deep);
}

// The longest step in which only outliers cross more than cfl cells, (v + g dt) dt <= cfl dx, fitted into the rest of
// the frame.
static double choose_dt(const mo_sim *sim)
{
    double cfl = sim->air.present ? fmin(sim->def.time.cfl, 3) : sim->def.time.cfl; // gas.h: at most three cells
    double g = mo_norm(sim->bodies || sim->elastics.count ? sim->def.gravity : mo_sim_fall(sim)),
           reach = cfl * sim->grid->dx, left = frame_time(sim, sim->frame + 1) - sim->time, dt = left,
           speed = liquid_speed(sim, reach / left);
    for (int32_t i = 0; i < sim->def.emitter_count; i++) speed = fmax(speed, mo_norm(sim->emitters[i].velocity));
    for (int32_t i = 0; i < sim->solid_count; i++) speed = fmax(speed, mo_solid_speed(&sim->solids[i]));
    speed = fmax(speed, mo_shells_speed(&sim->shells));
    double limit = g > 0 ? 2 * reach / (speed + sqrt(speed * speed + 4 * g * reach)) : speed > 0 ? reach / speed : left;
    limit = fmin(limit, mo_tension_time_step(sim->surface_tension, sim->density, sim->least_viscosity, sim->grid->dx));
    if (sim->def.time.max_step > 0) limit = fmin(limit, sim->def.time.max_step);
    if (limit < left) dt = left / ceil(left / limit - 1e-9);
    return dt;
}

static mo_status run_step(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    sim->stats = (mo_stats){.step = sim->step, .frame = sim->frame + 1, .dt = c->dt};
    mo_arena_reset(sim->step_arena);
    mo_status (*const *list)(mo_sim *, mo_step_context *, mo_error *) = sim->air.present ? air_stages : stages;
    double cpu = mo_cpu_seconds();
    for (int s = 0; s < MO_STAGE_COUNT; s++) {
        double start = mo_wall_seconds();
        mo_arena_reset(sim->arena);
        MO_TRY(list[s](sim, c, err));
        sim->stats.seconds[s] = mo_wall_seconds() - start;
        if (list[s] == mo_stage_solve) sim->stats.seconds[s] -= sim->stats.verify.seconds;
    }
    mo_liquid_sums after = mo_sim_liquid_sums(sim);
    mo_sim_energy_correction(sim, c, &after);
    MO_ASSERT_SOUND(mo_grid_fault(sim->grid));
    MO_ASSERT_SOUND(mo_particles_fault(&sim->particles, sim->grid));
    mo_sim_energy_close(sim, &after);
    mo_sim_cloth_statistics(sim);
    sim->stats.cpu_seconds = mo_cpu_seconds() - cpu - sim->stats.verify.cpu_seconds;
    sim->stats.particles = sim->particles.count;
    sim->stats.deep = sim->band.cells, sim->stats.deep_volume = sim->band.volume * mo_grid_cell_volume(sim->grid);
    sim->stats.memory_bytes = mo_memory_in_use();
    return MO_OK;
}

// Uses as many threads as the definition says; by default no more than the particles keep busy.
static void use_threads(const mo_sim *sim)
{
    enum { PARTICLES_PER_THREAD = 25000 };
    mo_use_threads(sim->def.threads);
    int32_t busy = sim->particles.count + (sim->air.present ? (int32_t)mo_grid_cells(sim->grid) : 0);
    int32_t useful = 1 + busy / PARTICLES_PER_THREAD;
    if (sim->def.threads == 0 && useful < mo_thread_count()) mo_use_threads(useful);
}

// Statistics of the last cutting of the grid. The stages count particles that crossed.
static void tell_shells(mo_sim *sim)
{
    const mo_cut_info *cut = &sim->shells.cut;
    mo_sheet_stats *s = &sim->stats.sheets;
    sim->stats.shells = sim->shells.count;
    s->cut_cells = cut->cells, s->sides = cut->sides, s->gaps = cut->gaps;
    s->pockets = cut->pockets, s->tangled = cut->tangled, s->closed = cut->closed;
}

mo_status mo_sim_step(mo_sim *sim, mo_stats *stats, mo_error *err)
{
    if (sim->broken)
        return mo_fail(err, MO_ERROR_FAILED, "an earlier step failed halfway: load a saved state to go on");
    use_threads(sim);
    if (sim->step == 0) { // the speeds at which solids start are not known yet
        mo_sim_energy_open(sim);
        MO_TRY(mo_sim_move_solids(sim, frame_time(sim, 1), err));
    }
    mo_step_context context = {.dt = choose_dt(sim)};
    MO_TRY(mo_sim_move_solids(sim, context.dt, err));
    double end = frame_time(sim, sim->frame + 1);
    bool completes = sim->time + context.dt >= end - 1e-9 / sim->def.time.fps;
    sim->broken = true;
    mo_status status = run_step(sim, &context, err);
    mo_liquid_destroy(&context.assemble.liquid);
    mo_free(context.advect.exposed.gap);
    MO_TRY(status);
    sim->broken = false;
    sim->time = completes ? end : sim->time + context.dt;
    sim->step++;
    sim->frame += completes;
    sim->stats.time = sim->time;
    tell_shells(sim);
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
