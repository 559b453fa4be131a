// Multipliers of any rows with many on nodes: conjugate gradients or MPRGP with SSOR.
#include "system/applied_form.h"
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "system/pieces.h"
#include <math.h>
#include <string.h>

enum { MANY = 1000 }; // rows on nodes whose product is better not formed

bool mo_applied_applies(const mo_system *s, uint32_t set)
{
    int32_t touching = 0;
    for (int32_t k = 0; k < MO_BLOCK_KINDS && s->nodes.count; k++) {
        const mo_csr *B = mo_set_has(s, set, k) ? &s->block[k]->on[MO_NODES] : NULL;
        for (int32_t i = 0; B && i < B->rows; i++) touching += B->row[i + 1] > B->row[i];
    }
    return touching > MANY;
}

typedef struct applied {
    const mo_system *s;
    mo_dual d; // without what solids add
    mo_csr P;  // that the preconditioner is made of
    mo_pieces pieces;
    mo_sweep sweep;
    mo_ssor ssor;
    double *force, *motion; // [the largest group]
    double *work;
} applied;

static void applied_destroy(applied *a)
{
    mo_dual_destroy(&a->d);
    mo_csr_destroy(&a->P);
    mo_pieces_destroy(&a->pieces);
    mo_ssor_destroy(&a->ssor), mo_sweep_destroy(&a->sweep);
    mo_free(a->force), mo_free(a->motion), mo_free(a->work);
}

static void apply(void *context, const double *x, double *y)
{
    const applied *a = context;
    mo_csr_multiply(&a->d.A, x, y);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        const mo_group *group = &a->s->group[g];
        if (!a->d.on[g].rows) continue;
        memset(a->force, 0, sizeof(double) * (size_t)group->count);
        memset(a->motion, 0, sizeof(double) * (size_t)group->count);
        mo_csr_push(&a->d.on[g], 1, x, a->force);
        mo_group_apply_inverse(group, a->s->dt, a->force, a->motion);
        mo_csr_multiply_add(&a->d.on[g], 1, a->motion, y);
    }
}

// ---- Set-up ----

static mo_status add_nothing(const mo_group *g, double s, const mo_csr *B, int32_t from, mo_csr *A)
{
    (void)g, (void)s, (void)B, (void)from, (void)A;
    return MO_OK;
}

// Makes the dual matrix without the part of solids.
static mo_status create_dual(mo_system *s, uint32_t set, mo_dual *out, mo_error *err)
{
    mo_group_kind kind[MO_GROUPS];
    const mo_group_kind *usual[MO_GROUPS];
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        if (!(usual[g] = s->group[g].kind)) continue;
        kind[g] = *usual[g], kind[g].add_square = add_nothing;
        s->group[g].kind = &kind[g];
    }
    mo_status status = mo_dual_create(s, set, out, err);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) s->group[g].kind = usual[g];
    return status;
}

// P = A + dt R diag(H)^-1 R^T of nodes, plus the part of bodies among rows on solids alone.
static mo_status create_sweep(applied *a)
{
    const mo_csr *A = &a->d.A, *R = &a->d.on[MO_NODES], *on_bodies = &a->d.on[MO_BODIES];
    const mo_group *nodes = &a->s->nodes, *bodies = &a->s->bodies;
    mo_csr Rt = {0}, C = {0};
    double *weight = a->force;
    nodes->kind->diagonal(nodes, weight);
    for (int32_t i = 0; i < nodes->count; i++) weight[i] = weight[i] > 0 ? a->s->dt / weight[i] : 0;
    mo_status status = mo_csr_transpose(R, &Rt);
    if (status == MO_OK) status = mo_csr_weighted_square(R, &Rt, weight, &a->P);
    if (status == MO_OK) status = mo_csr_block(A, 0, A->rows, 0, A->cols, &C);
    if (status == MO_OK) status = mo_csr_add(&a->P, &C);
    if (status == MO_OK && on_bodies->rows && a->d.contacts)
        status = bodies->kind->add_square(bodies, a->s->dt, on_bodies, a->d.rows - a->d.contacts, &a->P);
    mo_csr_destroy(&Rt), mo_csr_destroy(&C);
    if (status == MO_OK) status = mo_sweep_serial(a->P.rows, &a->sweep);
    return status == MO_OK ? mo_ssor_create(&a->P, &a->sweep, 1, &a->ssor) : status;
}

static mo_status create(applied *a)
{
    size_t rows = (size_t)a->d.rows;
    a->force = mo_system_forces(a->s), a->motion = mo_system_forces(a->s);
    a->work = mo_alloc(sizeof(double) * MO_MPRGP_WORK * rows);
    if (!a->force || !a->motion || !a->work) return MO_ERROR_MEMORY;
    MO_TRY(mo_pieces_create(&a->d.A, a->d.hard, MO_GROUPS - MO_SOLIDS, a->d.on + MO_SOLIDS, &a->pieces));
    return create_sweep(a);
}

// ---- The form ----

static void run(applied *a, const mo_solver_def *solver, mo_system_info *info)
{
    mo_dual *d = &a->d;
    mo_operator A = {apply, a}, M = {mo_ssor_apply, &a->ssor};
    info->pieces = a->pieces.count, info->enclosed = a->pieces.enclosed;
    info->relaxed = mo_pieces_relax(&a->pieces, &d->A, solver->tolerance, d->rhs, a->work);
    mo_pieces_project(&a->pieces, d->rows, NULL, d->x, INFINITY);
    mo_mprgp_options options = {
        .tolerance = solver->tolerance, .max_iterations = solver->max_iterations, .expansion = solver->expansion};
    info->solve = d->lower || d->upper
                      ? mo_mprgp(d->rows, &A, &M, d->rhs, d->lower, d->upper, d->x, &options, a->work).solve
                      : mo_cg(d->rows, &A, &M, d->rhs, d->x, solver->tolerance, solver->max_iterations, false, a->work);
    mo_pieces_project(&a->pieces, d->rows, NULL, d->x, INFINITY);
}

// Writes multipliers to their blocks, and applies them to every group.
static void give_back(const mo_dual *d, mo_system *s, double *force)
{
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        mo_block *b = s->block[k];
        if (!d->place[k]) continue;
        for (int32_t i = 0; i < b->rows; i++) b->x[i] = d->x[d->place[k][i]];
        for (int32_t g = 0; g < MO_GROUPS; g++) mo_group_push(&s->group[g], s->dt, &b->on[g], b->x, force);
    }
}

mo_status mo_applied_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    applied a = {.s = s};
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    MO_TRY(create_dual(s, set, &a.d, err));
    mo_status status = create(&a);
    double ready = mo_wall_seconds();
    info->setup_seconds += ready - start;
    if (status == MO_OK && !isfinite(mo_max_abs(a.d.rows, a.d.rhs))) status = MO_ERROR_INPUT;
    if (status == MO_OK) {
        run(&a, solver, info);
        give_back(&a.d, s, a.force); // even after a stall, because no form follows
    }
    info->solve_seconds += mo_wall_seconds() - ready;
    applied_destroy(&a);
    if (status == MO_ERROR_INPUT) return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
