// The summary of --verify.
#include "verification.h"
#include <string.h>

static double larger(double a, double b) { return b > a || b != b ? b : a; } // what is not a number wins

static double solve_seconds(const mo_stats *stats)
{
    for (int i = 0; i < MO_STAGE_COUNT; i++)
        if (strcmp(mo_stage_name[i], "solve") == 0) return stats->seconds[i];
    return 0;
}

void verification_step(verification *v, const mo_stats *stats)
{
    const mo_verify_stats *s = &stats->verify;
    if (!s->done) return;
    if (v->steps == 0 || !(s->velocity <= v->velocity)) v->worst = stats->step;
    v->steps++;
    v->beyond += !(s->velocity <= 10 * v->tolerance);
    v->velocity = larger(v->velocity, s->velocity);
    v->pressure = larger(v->pressure, s->pressure), v->contact = larger(v->contact, s->contact);
    v->iterations[0] += stats->iterations, v->iterations[1] += s->iterations;
    v->seconds[0] += solve_seconds(stats), v->seconds[1] += s->seconds;
    if (s->reason == MO_REASON_CONVERGED || s->reason == MO_REASON_NOTHING_TO_DO) return;
    if (v->unconverged++ == 0 || !(s->residual <= v->residual)) v->unsolved = stats->step;
    v->residual = larger(v->residual, s->residual);
}

void verification_tell(const verification *v, progress *bar)
{
    if (v->steps == 0) return;
    progress_note(bar,
                  "verified: %lld steps; from route paper velocities differ by at most %.1e (step %lld), pressures by "
                  "%.1e, contact forces by %.1e",
                  (long long)v->steps, v->velocity, (long long)v->worst, v->pressure, v->contact);
    progress_note(bar, "          solves of the run: %lld iterations, %.3g s; of route paper: %lld iterations, %.3g s",
                  (long long)v->iterations[0], v->seconds[0], (long long)v->iterations[1], v->seconds[1]);
    if (v->beyond)
        progress_note(bar,
                      "warning: %lld of %lld steps differ from route paper by more than 10 times the tolerance (%.1e); "
                      "the worst is step %lld, by %.1e",
                      (long long)v->beyond, (long long)v->steps, 10 * v->tolerance, (long long)v->worst, v->velocity);
    if (v->unconverged)
        progress_note(bar,
                      "warning: route paper did not converge in %lld of %lld steps, whose differences say little; the "
                      "worst is step %lld, residual %.1e",
                      (long long)v->unconverged, (long long)v->steps, (long long)v->unsolved, v->residual);
}
