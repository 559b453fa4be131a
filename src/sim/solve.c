// Stage `solve`: pressures, stresses, contact forces and velocities together, and the forces and energy that follow
// from them.
#include "base/parallel.h"
#include "sim/sim.h"
#include "system/state.h"
#include <math.h>
#include <string.h>

static void take_statistics(const mo_sim *sim, const mo_system *s, const mo_system_info *info, mo_stats *stats)
{
    stats->stresses = s->block[MO_BLOCK_STRESS] ? s->block[MO_BLOCK_STRESS]->rows : 0;
    stats->round_change = info->change, stats->staggering = info->staggering;
    stats->pressures = s->block[MO_BLOCK_PRESSURE]->rows;
    stats->scheme = mo_scheme_name(&sim->def.solver, s);
    stats->route = sim->def.solver.route == MO_ROUTE_FAST && !info->by_paper ? "fast" : "paper"; // the route that ran
    stats->passes = info->passes, stats->set_count = info->set_count;
    memcpy(stats->sets, info->sets, sizeof stats->sets);
    stats->rounds = info->rounds, stats->iterations = info->solve.iterations;
    stats->residual = info->solve.residual, stats->reason = info->solve.reason;
    stats->pieces = info->pieces, stats->enclosed = info->enclosed, stats->relaxed = info->relaxed;
    stats->fallbacks = info->fallbacks;
    stats->newton = info->newton_change, stats->halvings = info->halvings;
    stats->projected = s->nodes.count ? s->nodes.nodes->projected : 0;
}

// ---- Reviews ----

// A review examines the solved system before its velocities are taken. If it finds something that the system did not
// contain, it changes the system and asks for another solve, which starts from the velocities of the first one and from
// the multipliers just found.
typedef mo_status (*review_fn)(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err);

// The first step does not know the pressure round elastic bodies (elastic_law.h): its first solve finds it.
static mo_status review_pressure_round(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    const mo_block *pressure = c->assemble.liquid.system.block[MO_BLOCK_PRESSURE];
    bool solid = sim->elastics.count > sim->elastics.cloths; // cloth has no pressure round it
    if (sim->step > 0 || c->solve.repeats > 0 || !solid || pressure->rows == 0) return MO_OK;
    MO_TRY(mo_sim_measure_round(sim, c, err));
    *again = true;
    return mo_sim_follow_pressure(sim, err);
}

static mo_status review_from_outside(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    return sim->review ? sim->review(sim->review_user, sim, c, again, err) : MO_OK;
}

static const review_fn reviews[] = {review_pressure_round, mo_sim_review_cloth, mo_sim_review_bounces,
                                    review_from_outside};
enum { REVIEWS = sizeof reviews / sizeof *reviews, MOST_REPEATS = 8 };

static mo_status review(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    *again = false;
    for (int k = 0; k < REVIEWS && c->solve.repeats < MOST_REPEATS; k++) MO_TRY(reviews[k](sim, c, again, err));
    return MO_OK;
}

// ---- Solves ----

// Solves the system, and once more if that is to be verified.
static mo_status solve_once(mo_sim *sim, mo_step_context *c, mo_system_info *info, mo_error *err)
{
    mo_verification *verification = NULL;
    mo_status status = sim->def.solver.verify ? mo_verify_begin(c, &verification, err) : MO_OK;
    if (status == MO_OK) status = mo_system_solve(&c->assemble.liquid.system, &sim->def.solver, info, err);
    if (status == MO_OK && verification) status = mo_verify_end(sim, c, verification, err);
    mo_verify_destroy(verification);
    return status;
}

static mo_status solve_reviewed(mo_sim *sim, mo_step_context *c, mo_system_info *info, mo_error *err)
{
    mo_system *s = &c->assemble.liquid.system;
    double *start = MO_ARENA_ARRAY(sim->arena, double, mo_motion_size(s) + 1);
    if (!start) return mo_fail_memory(err);
    mo_motion_get(s, start);
    c->solve.start = start;
    for (;; c->solve.repeats++) {
        bool again;
        MO_TRY(solve_once(sim, c, info, err));
        MO_TRY(review(sim, c, &again, err));
        if (!again) return MO_OK;
        mo_motion_set(s, start);
    }
}

static mo_status solve(mo_sim *sim, mo_step_context *c, mo_system_info *info, mo_error *err)
{
    mo_system *s = &c->assemble.liquid.system;
    mo_stress_rheology rheology = {.liquid = &c->assemble.liquid,
                                   .grid = sim->grid,
                                   .reduced = mo_sim_stress_def(sim, c, NULL).reduced,
                                   .arena = sim->arena,
                                   .known = c->fractions.viscosity};
    for (int k = 0; k < 4; k++) rheology.parameter[k] = c->fractions.parameter[k];
    if (sim->non_newtonian) s->renew = mo_stress_renew, s->renew_user = &rheology;
    mo_status status = solve_reviewed(sim, c, info, err);
    s->renew = NULL;
    return status;
}

// How fast air flows into shells at the rows of slip.
static mo_status measure_slip(mo_sim *sim, const mo_system *s, mo_error *err)
{
    const mo_block *b = s->block[MO_BLOCK_SLIP];
    if (!b) return MO_OK;
    double *r = MO_ARENA_ARRAY(sim->arena, double, b->rows + 1);
    if (!r) return mo_fail_memory(err);
    mo_block_residual(s, b, r);
    sim->stats.sheets.slips = b->rows, sim->stats.sheets.penetration = mo_max_abs(b->rows, r) * sim->grid->dx;
    return MO_OK;
}

mo_status mo_stage_solve(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_ASSERT(c->assemble.liquid.system.dt == c->dt);
    if (sim->inspect) MO_TRY(sim->inspect(sim->inspect_user, sim, c, err));
    mo_system_info info;
    MO_TRY(mo_sim_energy_before(sim, c, err));
    MO_TRY(solve(sim, c, &info, err));
    MO_TRY(mo_sim_part_cloth(sim, c, err));
    const mo_system *s = &c->assemble.liquid.system;
    take_statistics(sim, s, &info, &sim->stats);
    MO_TRY(mo_sim_take_bodies(sim, c, err));
    MO_TRY(mo_sim_keep_contacts(sim, c, err));
    const mo_block *b = s->block[MO_BLOCK_PRESSURE];
    double *r = MO_ARENA_ARRAY(sim->arena, double, b->rows + 1);
    if (!r) return mo_fail_memory(err);
    mo_block_residual(s, b, r);
    sim->stats.max_divergence = mo_max_abs(b->rows, r);
    MO_TRY(measure_slip(sim, s, err));
    MO_TRY(mo_sim_energy_after(sim, c, err));
    MO_TRY(mo_sim_measure_forces(sim, c, err));
    if (!isfinite(sim->stats.max_divergence))
        return mo_fail(err, MO_ERROR_FAILED, "step %lld: the pressure solve gave numbers that are not finite",
                       (long long)sim->step);
    return MO_OK;
}
