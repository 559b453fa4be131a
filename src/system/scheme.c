// Schemes: lists of block sets solved in turn (docs/math.md 5.3), and the driver that runs any of them on any route.
#include "system/friction_bounds.h"
#include "system/method.h"
#include "system/state.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SETS = 3, MAX_PASSES = 200 };

typedef struct scheme {
    const char *name;
    int32_t sets;
    uint32_t set[MAX_SETS]; // bits 1 << MO_BLOCK_...
    bool iterative;         // the sets in turn, each with the others' multipliers fixed, until nothing changes
} scheme;

enum {
    P = 1u << MO_BLOCK_PRESSURE,
    V = 1u << MO_BLOCK_STRESS,
    E = 1u << MO_BLOCK_ELASTIC,
    C = 1u << MO_BLOCK_CONTACT,
    FRICTION = 1u << MO_BLOCK_FRICTION,
    SLIP = 1u << MO_BLOCK_SLIP
};

static const scheme schemes[] = {
    {"P", 1, {P}, false},
    {"PV-unified", 1, {P | V}, false}, // the Stokes step (VS)
    {"P-V-P", 3, {P, V, P}, false},    // decoupled, as Batty & Bridson 2008
    {"P-C", 2, {P, C}, false},
    {"C-P", 2, {C, P}, false},
    {"PC-iterative", 2, {P, C}, true},
    {"PC-unified", 1, {P | C}, false}, // MO
    {"PC-VC-PC", 3, {P | C, V | C, P | C}, false},
    {"PV-C", 2, {P | V, C}, false},
    {"C-PV", 2, {C, P | V}, false},
    {"PVC-iterative", 2, {P | V, C}, true},
    {"PVC-unified", 1, {P | V | C}, false},
    {"E", 1, {E}, false}, // the schemes of elastic bodies (EM)
    {"EC-unified", 1, {E | C}, false},
    {"PE-unified", 1, {P | E}, false},
    {"PEC-unified", 1, {P | E | C}, false},
    {"PVE-unified", 1, {P | V | E}, false},
    {"PVEC-unified", 1, {P | V | E | C}, false},
    {"PE-EC", 2, {P | E, E | C}, false},
    {"EC-PE", 2, {E | C, P | E}, false},
    {"PEC-iterative", 2, {P, E | C}, true},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static const scheme *find_scheme(const char *name)
{
    for (int32_t k = 0; k < SCHEMES; k++)
        if (strcmp(name, schemes[k].name) == 0) return &schemes[k];
    return NULL;
}

mo_status mo_scheme_check(const char *name, mo_error *err)
{
    if (name[0] == 0 || find_scheme(name)) return MO_OK;
    char list[600] = "";
    for (int32_t k = 0; k < SCHEMES; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", k ? ", " : "", schemes[k].name);
    }
    return mo_fail(err, MO_ERROR_INPUT,
                   "solver: unknown scheme \"%.40s\"; there is %s, and \"\" for all blocks of the scene at once", name,
                   list);
}

const char *mo_scheme_name(const mo_solver_def *solver, const mo_system *system)
{
    if (solver->scheme[0]) return solver->scheme;
    if (system->nodes.count) return system->block[MO_BLOCK_STRESS] ? "PVEC-unified" : "PEC-unified";
    if (system->bodies.count) return system->block[MO_BLOCK_STRESS] ? "PVC-unified" : "PC-unified";
    return system->block[MO_BLOCK_STRESS] ? "PV-unified" : "P";
}

bool mo_scheme_couples(const char *name, int32_t a, int32_t b)
{
    MO_ASSERT(a >= 0 && a < MO_BLOCK_KINDS && b >= 0 && b < MO_BLOCK_KINDS);
    const scheme *list = find_scheme(name);
    for (int32_t k = 0; list && k < list->sets; k++)
        if (list->set[k] >> a & list->set[k] >> b & 1) return true;
    return false;
}

// ---- Driver ----

// The present velocities, for mo_free.
static mo_status keep(const mo_system *s, double **motion, mo_error *err)
{
    *motion = mo_alloc(sizeof(double) * (size_t)mo_motion_size(s));
    if (!*motion) return mo_fail_memory(err);
    mo_motion_get(s, *motion);
    return MO_OK;
}

// Applies one block's multipliers to every group.
static mo_status apply_block(mo_system *s, const mo_block *b, mo_error *err)
{
    double *force = mo_system_forces(s);
    if (!force) return mo_fail_memory(err);
    for (int32_t g = 0; g < MO_GROUPS; g++) mo_group_push(&s->group[g], s->dt, &b->on[g], b->x, force);
    mo_free(force);
    return MO_OK;
}

static mo_status apply_blocks(mo_system *s, uint32_t set, mo_error *err)
{
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (mo_set_has(s, set, k)) MO_TRY(apply_block(s, s->block[k], err));
    return MO_OK;
}

static void count_set(uint32_t set, const mo_system_info *info, double seconds, mo_system_info *all)
{
    static const char letters[] = "PVECCP"; // by kind of block; friction goes with contact, slip with pressure
    char name[8] = "";
    for (int32_t k = 0, n = 0; k < MO_BLOCK_KINDS; k++)
        if (set >> k & 1) name[n++] = letters[k];
    int32_t i = 0;
    while (i < all->set_count && strcmp(all->sets[i].name, name) != 0) i++;
    if (i == MO_MOST_SETS) return;
    if (i == all->set_count) memcpy(all->sets[all->set_count++].name, name, sizeof name);
    memcpy(all->sets[i].form, info->form, strlen(info->form) + 1);
    all->sets[i].solves++;
    all->sets[i].iterations += info->solve.iterations;
    all->sets[i].seconds += seconds;
}

// Adds the report of one set to that of the scheme.
static void add_info(uint32_t solved, const mo_system_info *set, mo_system_info *all)
{
    count_set(solved, set, set->setup_seconds + set->solve_seconds, all);
    int32_t iterations = all->solve.iterations + set->solve.iterations;
    all->solve = set->solve;
    all->solve.iterations = iterations;
    all->form = set->form;
    all->pieces = set->pieces, all->enclosed = set->enclosed;
    all->relaxed += set->relaxed;
    all->breakdowns += set->breakdowns;
    all->fallbacks += set->fallbacks;
    all->by_paper += set->by_paper;
    all->inner_iterations += set->inner_iterations;
    all->setup_seconds += set->setup_seconds, all->solve_seconds += set->solve_seconds;
    if (set->bytes > all->bytes) all->bytes = set->bytes;
}

// Slip goes with pressure, and friction with contact, once there are normal forces.
static uint32_t with_friction(const mo_system *s, uint32_t set, const mo_solver_def *solver)
{
    if (set & P && s->block[MO_BLOCK_SLIP]) set |= SLIP;
    const mo_block *z = s->block[MO_BLOCK_FRICTION];
    if (s->method && s->method->friction == MO_METHOD_SLIPS) return set;
    if (s->method && s->method->friction == MO_METHOD_CLINGS) return set & C ? set | FRICTION : set;
    if (solver->friction == MO_FRICTION_STAGGERED) return set;
    for (int32_t i = 0; set & C && z && i < z->rows; i++)
        if (z->upper[i] > 0) return set | FRICTION;
    return set;
}

// Solves the sets of a scheme in turn. Multipliers of an earlier set are final: a block that comes again starts anew,
// from the present velocities.
static mo_status run_in_turn(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                             mo_error *err)
{
    for (int32_t k = 0; k < list->sets; k++) {
        mo_system_info set = {0};
        uint32_t blocks = with_friction(s, list->set[k], solver);
        for (int32_t b = 0; k > 0 && b < MO_BLOCK_KINDS; b++)
            if (blocks >> b & 1 && s->block[b]) memset(s->block[b]->x, 0, sizeof(double) * (size_t)s->block[b]->rows);
        if (k > 0) mo_elastic_block_restart(s);
        MO_TRY(mo_forms_solve(s, blocks, solver, &set, err));
        add_info(list->set[k], &set, info);
    }
    return MO_OK;
}

// Largest change of solids' velocities since `before`, relative to the largest of them, now or before the solve: the
// liquid follows from the solids.
static double solids_change(const mo_system *s, const double *before, const double *start)
{
    double change = 0, size = 0;
    const double *last[MO_GROUPS], *first[MO_GROUPS];
    mo_motion_split(s, before, last), mo_motion_split(s, start, first);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++)
        for (int32_t i = 0; i < s->group[g].count; i++) {
            double v = s->group[g].velocity[i];
            change = fmax(change, fabs(v - last[g][i]));
            size = fmax(size, fmax(fabs(v), fabs(first[g][i])));
        }
    return size > 0 ? change / size : 0;
}

// Block Gauss-Seidel over the sets: converges to the unified solution (MO supplement 4).
static mo_status run_iterated(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                              mo_error *err)
{
    double *start = NULL, *last = NULL;
    mo_status status = keep(s, &start, err);
    if (status == MO_OK) status = keep(s, &last, err);
    for (int32_t pass = 0; pass < MAX_PASSES && status == MO_OK; pass++) {
        for (int32_t k = 0; k < list->sets && status == MO_OK; k++) {
            mo_system_info set = {0};
            uint32_t blocks = with_friction(s, list->set[k], solver), others = 0;
            for (int32_t m = 0; m < list->sets; m++) others |= m == k ? 0 : with_friction(s, list->set[m], solver);
            mo_motion_set(s, start);
            status = apply_blocks(s, others & ~blocks, err);
            if (status == MO_OK) status = mo_forms_solve(s, blocks, solver, &set, err);
            if (status == MO_OK) add_info(list->set[k], &set, info);
        }
        info->passes = pass + 1;
        if (status == MO_OK && pass > 0 && solids_change(s, last, start) <= solver->tolerance) break;
        mo_motion_get(s, last);
    }
    mo_free(start), mo_free(last);
    return status;
}

static mo_status run_scheme(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                            mo_error *err)
{
    return list->iterative ? run_iterated(s, list, solver, info, err) : run_in_turn(s, list, solver, info, err);
}

// Friction with all else fixed, from the velocities `start`, then applied to them (MO eq. 25).
static mo_status stagger_friction(mo_system *s, const double *start, const mo_solver_def *solver, mo_system_info *info,
                                  mo_error *err)
{
    mo_system_info set = {0};
    MO_TRY(apply_blocks(s, ~(uint32_t)FRICTION, err));
    MO_TRY(mo_forms_solve(s, FRICTION, solver, &set, err));
    add_info(FRICTION, &set, info);
    mo_motion_set(s, start);
    return apply_blocks(s, FRICTION, err);
}

// Renews what depends on the solution before each round: coefficients, and bounds of friction. False: nothing changed.
static mo_status renew(mo_system *s, int32_t round, const mo_solver_def *solver, mo_friction_bounds *bounds,
                       mo_system_info *info, bool *changed, mo_error *err)
{
    const double settled = 1e-4;
    double change = s->renew ? s->renew(s->renew_user, s, round) : 0;
    if (change < 0) return mo_fail_memory(err);
    if (!isfinite(change))
        return mo_fail(err, MO_ERROR_FAILED, "solve: coefficients renewed in round %d are not finite", round + 1);
    if (change != 0) mo_forms_forget(s);
    if (round > 0) info->change = change;
    double friction = 0;
    if (mo_system_rubs(s) && mo_friction_bound(bounds, s, solver->cone, &friction) != MO_OK) return mo_fail_memory(err);
    *changed = round == 0 || change >= settled || (friction >= settled && !(round > 1 && info->staggering < settled));
    return MO_OK;
}

// ---- Groups that are not quadratic ----

static bool is_quadratic(const mo_group *g) { return !g->kind || !g->kind->linearise; }

static bool all_quadratic(const mo_system *s)
{
    for (int32_t g = 0; g < MO_GROUPS; g++)
        if (!is_quadratic(&s->group[g])) return false;
    return true;
}

// Makes quadratics that fit at the present velocities; a round starts from their minima.
static mo_status linearise(mo_system *s, double *start, mo_error *err)
{
    for (int32_t g = 0; g < MO_GROUPS; start += s->group[g++].count)
        if (!is_quadratic(&s->group[g]))
            MO_TRY(s->group[g].kind->linearise(&s->group[g], s->group[g].velocity, start, err));
    MO_TRY(mo_nodes_turn(s, err));
    mo_forms_forget(s);
    return mo_method_renew(s, err);
}

// The Lagrangian at velocities v with the present multipliers, as far as it is not quadratic: value + dt x.B v. Rows of
// elasticity are left out, because the value contains elasticity.
static mo_status lagrangian(const mo_system *s, const double *motion, double *out, mo_error *err)
{
    const double *v[MO_GROUPS];
    mo_motion_split(s, motion, v);
    *out = 0;
    for (int32_t g = 0; g < MO_GROUPS; g++) {
        double value;
        if (is_quadratic(&s->group[g])) continue;
        MO_TRY(s->group[g].kind->value(&s->group[g], v[g], &value, err));
        *out += value;
        for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
            for (int32_t i = 0; k != MO_BLOCK_ELASTIC && s->block[k] && i < s->block[k]->on[g].rows; i++)
                *out += s->dt * s->block[k]->x[i] * mo_csr_row_product(&s->block[k]->on[g], i, v[g]);
    }
    return MO_OK;
}

typedef struct newton_step { // velocities and multipliers before a step of Newton's method and after it
    double *from, *to, *dual_from, *dual_to;
    double *size; // the largest velocity so far, or the pace of the system
} newton_step;

// The largest change of a velocity that the step makes in groups that are not quadratic, relative to the largest one
// since the rounds began.
static double newton_change(const mo_system *s, newton_step *n)
{
    const double *from[MO_GROUPS], *to[MO_GROUPS];
    double change = 0, size = *n->size;
    mo_motion_split(s, n->from, from), mo_motion_split(s, n->to, to);
    for (int32_t g = 0; g < MO_GROUPS; g++)
        for (int32_t i = 0; !is_quadratic(&s->group[g]) && i < s->group[g].count; i++)
            change = fmax(change, fabs(to[g][i] - from[g][i])),
            size = fmax(size, fmax(fabs(from[g][i]), fabs(to[g][i])));
    *n->size = size;
    return size > 0 ? change / size : 0;
}

// Halves a step until the Lagrangian with the new multipliers does not grow. (With the old ones good steps would be
// refused: constraints hold only after the step.) Steps below the tolerance are taken as they are, because rounding
// errors of stiff energies would decide about them.
static mo_status search_line(mo_system *s, newton_step *n, double tolerance, mo_system_info *info, mo_error *err)
{
    enum { MOST_HALVINGS = 6 };
    int64_t motion = mo_motion_size(s), duals = mo_duals_size(s);
    double before, after;
    mo_motion_get(s, n->to), mo_duals_get(s, n->dual_to);
    info->newton_change = newton_change(s, n);
    if (info->newton_change <= tolerance) return MO_OK;
    MO_TRY(lagrangian(s, n->from, &before, err));
    for (int32_t k = 0; k < MOST_HALVINGS; k++) {
        MO_TRY(lagrangian(s, n->to, &after, err));
        if (after <= before + 1e-12 * fabs(before)) break;
        info->halvings++;
        for (int64_t i = 0; i < motion; i++) n->to[i] = 0.5 * (n->from[i] + n->to[i]);
        for (int64_t i = 0; i < duals; i++) n->dual_to[i] = 0.5 * (n->dual_from[i] + n->dual_to[i]);
    }
    mo_motion_set(s, n->to), mo_duals_set(s, n->dual_to);
    info->newton_change = newton_change(s, n);
    return MO_OK;
}

static mo_status newton_create(const mo_system *s, newton_step *n, mo_error *err)
{
    size_t motion = sizeof(double) * ((size_t)mo_motion_size(s) + 1),
           duals = sizeof(double) * ((size_t)mo_duals_size(s) + 1);
    *n = (newton_step){mo_alloc(motion), mo_alloc(motion), mo_alloc(duals), mo_alloc(duals), n->size};
    return n->from && n->to && n->dual_from && n->dual_to ? MO_OK : mo_fail_memory(err);
}

static void newton_destroy(newton_step *n)
{
    mo_free(n->from), mo_free(n->to), mo_free(n->dual_from), mo_free(n->dual_to);
}

// ---- Rounds ----

// One round from the velocities `start`: the scheme with coefficients and bounds of friction of the round before.
static mo_status run_round(mo_system *s, const scheme *list, const double *start, const mo_solver_def *solver,
                           mo_system_info *info, mo_error *err)
{
    mo_motion_set(s, start);
    if (solver->friction == MO_FRICTION_STAGGERED && mo_system_rubs(s))
        MO_TRY(stagger_friction(s, start, solver, info, err));
    return run_scheme(s, list, solver, info, err);
}

// A round that is a step of Newton's method for groups that are not quadratic.
static mo_status run_newton(mo_system *s, const scheme *list, double *start, double *size, const mo_solver_def *solver,
                            mo_system_info *info, mo_error *err)
{
    newton_step n = {.size = size};
    mo_status status = newton_create(s, &n, err);
    if (status == MO_OK) {
        mo_motion_get(s, n.from), mo_duals_get(s, n.dual_from);
        status = linearise(s, start, err);
    }
    if (status == MO_OK) status = run_round(s, list, start, solver, info, err);
    if (status == MO_OK) status = search_line(s, &n, solver->tolerance, info, err);
    newton_destroy(&n);
    return status;
}

// Newton's method goes on beyond the rounds that the definition asks for as long as its last step was a large one: the
// error that is left in a stiff or nearly incompressible body would be energy out of nothing. A single round is a
// single step.
static bool goes_on(const mo_solver_def *solver, const mo_system_info *info, bool newton, int32_t round)
{
    enum { MOST_STEPS = 16 };
    const double large = 1e-2;
    if (round < solver->rounds) return true;
    return newton && solver->rounds > 1 && round < MOST_STEPS && info->newton_change > large;
}

static mo_status run_rounds(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                            mo_error *err)
{
    double *start = NULL, *last = NULL, size = s->pace;
    bool newton = !all_quadratic(s);
    mo_friction_bounds bounds = {0};
    mo_status status = keep(s, &start, err);
    if (status == MO_OK) status = keep(s, &last, err);
    for (int32_t round = 0; status == MO_OK && goes_on(solver, info, newton, round); round++) {
        bool changed = false;
        status = renew(s, round, solver, &bounds, info, &changed, err);
        if (status != MO_OK || !(changed || (newton && info->newton_change > solver->tolerance))) break;
        status = newton ? run_newton(s, list, start, &size, solver, info, err)
                        : run_round(s, list, start, solver, info, err);
        info->rounds = round + 1;
        info->staggering = round > 0 ? solids_change(s, last, start) : 0;
        mo_motion_get(s, last);
    }
    mo_friction_bounds_destroy(&bounds);
    mo_free(start), mo_free(last);
    return status;
}

static bool has_elastic(const scheme *list)
{
    for (int32_t k = 0; k < list->sets; k++)
        if (list->set[k] & E) return true;
    return false;
}

mo_status mo_system_solve(mo_system *s, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    *info = (mo_system_info){.rounds = 1, .solve = {.reason = MO_REASON_NOTHING_TO_DO}};
    MO_TRY(mo_scheme_check(solver->scheme, err));
    bool rounds = s->renew || mo_system_rubs(s) || !all_quadratic(s);
    if (!(solver->tolerance > 0) || solver->max_iterations < 1 || (rounds && solver->rounds < 1))
        return mo_fail(err, MO_ERROR_INPUT,
                       "solver: tolerance must be > 0, max_iterations and rounds >= 1, got %g, %d and %d",
                       solver->tolerance, solver->max_iterations, solver->rounds);
    MO_ASSERT_SOUND(mo_system_fault(s));
    const scheme *list = find_scheme(mo_scheme_name(solver, s));
    if (s->nodes.count && !has_elastic(list))
        return mo_fail(err, MO_ERROR_INPUT,
                       "solver: scheme \"%s\" leaves the elastic bodies out; with them there is \"\", or one with an E",
                       list->name);
    MO_TRY(mo_method_begin(s, solver, err));
    mo_status status = rounds ? run_rounds(s, list, solver, info, err) : run_scheme(s, list, solver, info, err);
    mo_forms_forget(s);
    mo_method_end(s, info);
    return status;
}
