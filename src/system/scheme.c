// Schemes: lists of block sets solved in turn (MATH.md 5.3), and the driver that runs any of them on any route.
#include "system/system.h"
#include "base/parallel.h"
#include <stdio.h>
#include <string.h>

enum { MAX_SETS = 4, SMALL = 4096 };

typedef struct scheme {
    const char *name;
    int32_t sets;
    uint32_t set[MAX_SETS]; // bits 1 << MO_BLOCK_...
} scheme;

static const scheme schemes[] = {
    {"P", 1, {1u << MO_BLOCK_PRESSURE}},
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
    (void)system; // the pressure is the only block so far
    return solver->scheme[0] ? solver->scheme : schemes[0].name;
}

// ---- Driver ----

// u -= dt M^-1 B^T p
static mo_status apply_multiplier(mo_system *s, const mo_block *b)
{
    mo_csr Bt;
    MO_TRY(mo_csr_transpose(&b->fluid, &Bt));
#pragma omp parallel for schedule(static) if (s->faces > SMALL)
    for (int32_t f = 0; f < s->faces; f++) {
        double force = 0;
        for (int64_t k = Bt.row[f]; k < Bt.row[f + 1]; k++) force += Bt.val[k] * b->x[Bt.col[k]];
        s->velocity[f] -= s->dt / s->mass[f] * force;
    }
    mo_csr_destroy(&Bt);
    return MO_OK;
}

// Solves for the multiplier of one block with the present velocities and applies it to them.
static mo_status solve_block(mo_system *s, mo_block *b, const mo_solver_def *solver, mo_system_info *info,
                             mo_error *err)
{
    double start = mo_wall_seconds();
    mo_csr A;
    double *rhs = mo_alloc(sizeof(double) * (size_t)b->rows);
    if (!rhs) return mo_fail_memory(err);
    mo_status status = mo_block_dual_matrix(s, b, &A, err);
    double assembled = mo_wall_seconds();
    if (status == MO_OK) {
        mo_block_residual(s, b, s->velocity, rhs);
        status = mo_route_solve(&A, (const int32_t(*)[3])b->coord, rhs, b->x, solver, info, err);
    }
    info->setup_seconds += assembled - start;
    double solved = mo_wall_seconds();
    if (status == MO_OK && apply_multiplier(s, b) != MO_OK) status = mo_fail_memory(err);
    info->solve_seconds += mo_wall_seconds() - solved;
    mo_csr_destroy(&A);
    mo_free(rhs);
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

mo_status mo_system_solve(mo_system *s, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    *info = (mo_system_info){.rounds = 1, .solve = {.reason = MO_REASON_NOTHING_TO_DO}};
    MO_TRY(mo_scheme_check(solver->scheme, err));
    if (!(solver->tolerance > 0) || solver->max_iterations < 1)
        return mo_fail(err, MO_ERROR_INPUT, "solver: tolerance must be > 0 and max_iterations >= 1, got %g and %d",
                       solver->tolerance, solver->max_iterations);
    const scheme *list = find_scheme(mo_scheme_name(solver, s));
    for (int32_t k = 0; k < list->sets; k++)
        for (int32_t kind = 0; kind < MO_BLOCK_KINDS; kind++) {
            mo_block *b = s->block[kind];
            if (!(list->set[k] >> kind & 1) || !b || b->rows == 0) continue;
            mo_system_info set = {0};
            MO_TRY(solve_block(s, b, solver, &set, err));
            add_info(&set, info);
        }
    return MO_OK;
}
