// The list of forms, and the dual form.
#include "system/form.h"
#include "base/parallel.h"
#include "system/applied_form.h"
#include "system/bodies_form.h"
#include "system/draped_form.h"
#include "system/joint.h"
#include "system/method.h"
#include "system/slip_form.h"
#include "system/solids.h"
#include "system/viscous.h"
#include <string.h>

// ---- The dual form ----

// Applies multipliers of the dual rows: v -= dt H^-1 B^T x of every group.
static mo_status apply_multipliers(mo_system *s, const mo_dual *d, mo_error *err)
{
    double *force = mo_system_forces(s);
    if (!force) return mo_fail_memory(err);
    mo_csr_multiply(&d->Bt, d->x, force);
    mo_group_apply_inverse(&s->faces, -s->dt, force, s->faces.velocity);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) mo_group_push(&s->group[g], s->dt, &d->on[g], d->x, force);
    mo_free(force);
    return MO_OK;
}

static mo_problem problem_of(const mo_system *s, const mo_dual *d)
{
    return (mo_problem){.A = &d->A,
                        .coord = (const int32_t(*)[3])d->coord,
                        .hard = d->hard,
                        .on_bodies = d->on[MO_BODIES].rows ? &d->on[MO_BODIES] : NULL,
                        .bodies = &s->bodies,
                        .dt = s->dt,
                        .contacts = d->contacts,
                        .far = d->on[MO_NODES].rows > 0,
                        .by_mean = s->by_mean,
                        .lower = d->lower,
                        .upper = d->upper};
}

static mo_status solve_assembled(mo_system *s, mo_dual *d, mo_problem_fn solve, const mo_solver_def *solver, bool last,
                                 mo_system_info *info, mo_error *err)
{
    mo_problem problem = problem_of(s, d);
    MO_TRY(solve(&problem, d->rhs, d->x, solver, info, err));
    double solved = mo_wall_seconds();
    if (last || mo_is_solved(&info->solve)) MO_TRY(apply_multipliers(s, d, err));
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        for (int32_t i = 0; d->place[k] && i < s->block[k]->rows; i++) s->block[k]->x[i] = d->x[d->place[k][i]];
    info->solve_seconds += mo_wall_seconds() - solved;
    return MO_OK;
}

// Solves for the multipliers of a set of blocks with the present velocities and applies them. The last form in the list
// applies its result even after a stall.
static mo_status solve_dual(mo_system *s, uint32_t set, mo_problem_fn solve, const mo_solver_def *solver, bool last,
                            mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    mo_dual d;
    MO_TRY(mo_dual_create(s, set, &d, err));
    double assembled = mo_wall_seconds();
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    mo_status status = d.rows ? solve_assembled(s, &d, solve, solver, last, info, err) : MO_OK;
    info->setup_seconds += assembled - start;
    mo_dual_destroy(&d);
    return status;
}

static mo_status solve_pressure(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                                mo_error *err)
{
    return solve_dual(s, set, mo_problem_solve_fast, solver, false, info, err);
}

static mo_status solve_any(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    return solve_dual(s, set, mo_problem_solve_paper, solver, true, info, err);
}

// ---- Which form applies ----

static bool has_contacts(const mo_system *s, uint32_t set)
{
    return mo_set_has(s, set, MO_BLOCK_CONTACT) || mo_set_has(s, set, MO_BLOCK_FRICTION);
}

static bool is_contacts(const mo_system *s, uint32_t set)
{
    bool liquid = mo_set_has(s, set, MO_BLOCK_PRESSURE) || mo_set_has(s, set, MO_BLOCK_STRESS);
    return !liquid && has_contacts(s, set) && s->bodies.count && !s->nodes.count;
}

// Small sets without contacts are cheaper in the dual form.
static bool is_bodies(const mo_system *s, uint32_t set)
{
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    if (!s->bodies.count || s->nodes.count || mo_set_has(s, set, MO_BLOCK_STRESS)) return false;
    if (!mo_set_has(s, set, MO_BLOCK_PRESSURE)) return false;
    return !p->compliance.rows && !p->lower && !p->upper && p->coord &&
           (has_contacts(s, set) || p->rows >= mo_small_set);
}

// Rows of liquid are all hard and coupled with neighbours alone, so that multigrid for the Poisson problem is enough.
static bool is_pressure(const mo_system *s, uint32_t set)
{
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        const mo_block *b = mo_set_has(s, set, k) ? s->block[k] : NULL;
        if (b && (b->on[MO_NODES].rows || (b->coord && (b->compliance.rows || b->lower || b->upper)))) return false;
    }
    return true;
}

// Route fast does not form a full matrix of thousands of rows, even if the form before stalled.
static bool is_formed(const mo_system *s, uint32_t set) { return s->method || !mo_applied_applies(s, set); }

static const mo_form forms[] = {
    {"slip", mo_slip_form_applies, mo_slip_form_solve, NULL},
    {"draped", mo_draped_applies, mo_draped_solve, NULL},
    {"joint", mo_joint_applies, mo_joint_solve, NULL},
    {"contacts", is_contacts, mo_bodies_form_solve, NULL},
    {"bodies", is_bodies, mo_bodies_form_solve, mo_bodies_form_forget},
    {"viscous", mo_viscous_applies, mo_viscous_solve, mo_viscous_forget},
    {"pressure", is_pressure, solve_pressure, NULL},
    {"applied", mo_applied_applies, mo_applied_solve, NULL},
    {"dual", is_formed, solve_any, NULL},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

void mo_forms_forget(mo_system *s)
{
    for (int32_t k = 0; k < FORMS; k++)
        if (forms[k].forget) forms[k].forget(s);
}

mo_status mo_forms_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    MO_ASSERT(set != 0 && set < 1u << MO_BLOCK_KINDS);
    mo_system_info spent = {0}; // by forms that stalled
    MO_TRY(mo_method_admits(s, set, err));
    bool all = solver->route == MO_ROUTE_FAST || mo_set_has(s, set, MO_BLOCK_SLIP);
    for (int32_t k = all ? 0 : FORMS - 1; k < FORMS; k++) {
        const mo_form *form = s->method && s->method->form.solve ? &s->method->form : &forms[k];
        if (!form->applies(s, set)) continue;
        *info = (mo_system_info){.rounds = 1};
        MO_TRY(form->solve(s, set, solver, info, err));
        info->form = form->name;
        info->fallbacks += spent.fallbacks;
        info->solve.iterations += spent.solve.iterations;
        info->setup_seconds += spent.setup_seconds, info->solve_seconds += spent.solve_seconds;
        if (spent.bytes > info->bytes) info->bytes = spent.bytes;
        if (mo_is_solved(&info->solve) || mo_set_has(s, set, MO_BLOCK_SLIP)) break;
        spent = *info;
        spent.fallbacks++;
    }
    return MO_OK;
}
