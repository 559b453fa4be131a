// Warnings on stderr.
#include "warned.h"

warned warned_begin(const mo_sim *sim)
{
    mo_warning_count count[MO_WARNING_COUNT];
    mo_sim_warnings(sim, count);
    warned told;
    for (int k = 0; k < MO_WARNING_COUNT; k++) told.kind[k] = count[k].steps > 0;
    return told;
}

void warned_step(warned *told, const mo_sim *sim, progress *bar)
{
    mo_warning_count count[MO_WARNING_COUNT];
    mo_sim_warnings(sim, count);
    for (int k = 0; k < MO_WARNING_COUNT; k++) {
        if (told->kind[k] || count[k].steps == 0) continue;
        told->kind[k] = true;
        char worst[32];
        mo_warning_worst((mo_warning)k, count[k].worst, worst);
        progress_note(bar, "warning: step %lld, %g s: %s: %s (%s)", (long long)count[k].first_step, count[k].first_time,
                      mo_warning_name((mo_warning)k), mo_warning_text((mo_warning)k), worst);
    }
}

bool warned_any(const mo_sim *sim)
{
    mo_warning_count count[MO_WARNING_COUNT];
    mo_sim_warnings(sim, count);
    bool any = false;
    for (int k = 0; k < MO_WARNING_COUNT; k++) any = any || count[k].steps > 0;
    return any;
}

void warned_tell(const mo_sim *sim, progress *bar)
{
    mo_warning_count count[MO_WARNING_COUNT];
    mo_sim_warnings(sim, count);
    if (warned_any(sim)) progress_note(bar, "warnings:");
    for (int k = 0; k < MO_WARNING_COUNT; k++) {
        const mo_warning_count *w = &count[k];
        if (w->steps == 0) continue;
        char worst[32];
        mo_warning_worst((mo_warning)k, w->worst, worst);
        progress_note(bar, "  %-9s %lld step%s from %g s on, worst %s at %g s (step %lld): %s",
                      mo_warning_name((mo_warning)k), (long long)w->steps, w->steps == 1 ? "" : "s", w->first_time,
                      worst, w->worst_time, (long long)w->worst_step, mo_warning_text((mo_warning)k));
    }
}
