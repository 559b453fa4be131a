// Schemes: lists of block sets solved in turn (MATH.md 5.3), and the driver that runs any of them on any route.
#include "system/system.h"
#include "base/parallel.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SETS = 4, SMALL = 4096 };

typedef struct scheme {
    const char *name;
    int32_t sets;
    uint32_t set[MAX_SETS]; // bits 1 << MO_BLOCK_...
} scheme;

enum { P = 1u << MO_BLOCK_PRESSURE, V = 1u << MO_BLOCK_STRESS };

static const scheme schemes[] = {
    {"P", 1, {P}},
    {"PV-unified", 1, {P | V}}, // the Stokes step (VS)
    {"P-V-P", 3, {P, V, P}},    // decoupled, as Batty & Bridson 2008
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
    char list[200] = "";
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
    return system->block[MO_BLOCK_STRESS] ? "PV-unified" : "P";
}

bool mo_scheme_couples(const char *name, int32_t a, int32_t b)
{
    const scheme *list = find_scheme(name);
    for (int32_t k = 0; list && k < list->sets; k++)
        if (list->set[k] >> a & list->set[k] >> b & 1) return true;
    return false;
}

// ---- Driver ----

// u -= dt M^-1 B^T x
static void apply_multipliers(mo_system *s, const mo_dual *d)
{
#pragma omp parallel for schedule(static) if (s->faces > SMALL)
    for (int32_t f = 0; f < s->faces; f++) {
        double force = 0;
        for (int64_t k = d->Bt.row[f]; k < d->Bt.row[f + 1]; k++) force += d->Bt.val[k] * d->x[d->Bt.col[k]];
        s->velocity[f] -= s->dt / s->mass[f] * force;
    }
}

// Solves for the multipliers of a set of blocks with the present velocities and applies them.
static mo_status solve_set(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    mo_dual d;
    MO_TRY(mo_dual_create(s, set, &d, err));
    double assembled = mo_wall_seconds();
    mo_status status = MO_OK;
    if (d.rows)
        status = mo_route_solve(&d.A, (const int32_t(*)[3])d.coord, d.hard, d.rhs, d.x, solver, info, err);
    else
        info->solve.reason = MO_REASON_NOTHING_TO_DO;
    info->setup_seconds += assembled - start;
    double solved = mo_wall_seconds();
    if (status == MO_OK && d.rows) {
        apply_multipliers(s, &d);
        for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
            for (int32_t i = 0; d.place[k] && i < s->block[k]->rows; i++) s->block[k]->x[i] = d.x[d.place[k][i]];
    }
    mo_dual_destroy(&d);
    info->solve_seconds += mo_wall_seconds() - solved;
    return status;
}

// Adds the report of one set to that of the scheme.
static void add_info(const mo_system_info *set, mo_system_info *all)
{
    int32_t iterations = all->solve.iterations + set->solve.iterations;
    all->solve = set->solve;
    all->solve.iterations = iterations;
    all->pieces = set->pieces, all->enclosed = set->enclosed;
    all->relaxed += set->relaxed;
    all->breakdowns += set->breakdowns;
    all->fallbacks += set->fallbacks;
    all->setup_seconds += set->setup_seconds, all->solve_seconds += set->solve_seconds;
    if (set->bytes > all->bytes) all->bytes = set->bytes;
}

// One round of a scheme: its sets in turn.
static mo_status run_sets(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                          mo_error *err)
{
    for (int32_t k = 0; k < list->sets; k++) {
        mo_system_info set = {0};
        // Multipliers of an earlier set are done with; a block that comes again starts anew.
        for (int32_t b = 0; k > 0 && b < MO_BLOCK_KINDS; b++)
            if (list->set[k] >> b & 1 && s->block[b])
                memset(s->block[b]->x, 0, sizeof(double) * (size_t)s->block[b]->rows);
        MO_TRY(solve_set(s, list->set[k], solver, &set, err));
        add_info(&set, info);
    }
    return MO_OK;
}

static mo_status run_rounds(mo_system *s, const scheme *list, const mo_solver_def *solver, mo_system_info *info,
                            mo_error *err)
{
    const double settled = 1e-4; // relative change of the coefficients
    size_t bytes = sizeof(double) * (size_t)s->faces;
    double *start = mo_alloc(bytes);
    if (!start) return mo_fail_memory(err);
    memcpy(start, s->velocity, bytes);
    mo_status status = MO_OK;
    for (int32_t round = 0; round < solver->rounds && status == MO_OK; round++) {
        double change = s->renew(s->renew_user, s, round);
        if (change < 0) {
            status = mo_fail_memory(err);
            break;
        }
        if (!isfinite(change)) {
            status = mo_fail(err, MO_ERROR_FAILED, "solve: coefficients renewed in round %d are not finite", round + 1);
            break;
        }
        if (round > 0) info->change = change;
        if (round > 0 && change < settled) break;
        memcpy(s->velocity, start, bytes);
        status = run_sets(s, list, solver, info, err);
        info->rounds = round + 1;
    }
    mo_free(start);
    return status;
}

mo_status mo_system_solve(mo_system *s, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    *info = (mo_system_info){.rounds = 1, .solve = {.reason = MO_REASON_NOTHING_TO_DO}};
    MO_TRY(mo_scheme_check(solver->scheme, err));
    if (!(solver->tolerance > 0) || solver->max_iterations < 1 || (s->renew && solver->rounds < 1))
        return mo_fail(err, MO_ERROR_INPUT,
                       "solver: tolerance must be > 0, max_iterations and rounds >= 1, got %g, %d and %d",
                       solver->tolerance, solver->max_iterations, solver->rounds);
    const scheme *list = find_scheme(mo_scheme_name(solver, s));
    return s->renew ? run_rounds(s, list, solver, info, err) : run_sets(s, list, solver, info, err);
}
