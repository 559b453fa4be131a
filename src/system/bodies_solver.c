// Set-up and linear solves of the form `bodies`.
#include "system/bodies_solver.h"
#include "base/elementary.h"
#include "base/parallel.h"
#include "sparse/dense.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

// Iterations that a column costs in time, those of liquid without bodies, and the most columns.
static const double column_cost = 0.8;
enum { PLAIN_ITERATIONS = 7, MOST_COLUMNS = 96 };

void mo_bodies_solver_destroy(mo_bodies_solver *k)
{
    if (!k) return;
    mo_dual_destroy(&k->dual);
    mo_pieces_destroy(&k->pieces);
    mo_multigrid_destroy(k->mg);
    mo_csr_destroy(&k->S), mo_woodbury_destroy(&k->wet);
    mo_free(k->diagonal), mo_free(k->touch), mo_free(k->column), mo_free(k->push), mo_free(k->number);
    mo_free(k->work);
    mo_free(k);
}

void mo_bodies_form_forget(mo_system *s)
{
    mo_bodies_solver_destroy(s->bodies_solver);
    s->bodies_solver = NULL;
}

int64_t mo_bodies_solver_bytes(const mo_bodies_solver *k)
{
    int64_t rows = k->dual.rows, bytes = mo_csr_entries(&k->dual.A) * 12 + 8 * rows * (8 + k->wet.columns);
    return bytes + (k->mg ? mo_multigrid_describe(k->mg).bytes : 0);
}

void mo_bodies_solver_force(const mo_bodies_solver *k, const double *p, double *f)
{
    const mo_csr *R = &k->dual.on[MO_BODIES];
    for (int32_t t = 0; t < k->touching; t++)
        for (int64_t e = R->row[k->touch[t]]; e < R->row[k->touch[t] + 1]; e++)
            f[R->col[e]] += R->val[e] * p[k->touch[t]];
}

void mo_bodies_solver_sweep(const mo_bodies_solver *k, const double *v, double *r)
{
    for (int32_t t = 0; t < k->touching; t++)
        r[k->touch[t]] += mo_csr_row_product(&k->dual.on[MO_BODIES], k->touch[t], v);
}

// ---- Set-up ----

static mo_status find_pushing(mo_bodies_solver *k)
{
    const mo_csr *R = &k->dual.on[MO_BODIES];
    mo_pieces *p = &k->pieces;
    k->push = mo_calloc(sizeof(double) * (size_t)p->pushing * (size_t)k->S.rows);
    k->number = mo_alloc(sizeof(int32_t) * (size_t)p->count);
    if (!k->push || !k->number) return MO_ERROR_MEMORY;
    for (int32_t q = 0, n = 0; q < p->count; q++) k->number[q] = p->kind[q] == MO_PIECE_PUSHES ? n++ : -1;
    for (int32_t t = 0; t < k->touching && p->pushing; t++) {
        int32_t i = k->touch[t], n = k->number[p->of[i]];
        for (int64_t e = R->row[i]; n >= 0 && e < R->row[i + 1]; e++) k->push[n * R->cols + R->col[e]] += R->val[e];
    }
    return MO_OK;
}

// Finds the light unknowns in the liquid, in `column`, and how many iterations of one solve the columns would save, as
// measured on balls of 1/1000 to 2 times the liquid's density.
static mo_status find_light(const mo_system *s, mo_bodies_solver *k)
{
    const mo_csr *B = &s->block[MO_BLOCK_PRESSURE]->on[MO_FACES];
    double density = 0, entry = 0, lightest = 0, *light = mo_calloc(sizeof(double) * (size_t)s->bodies.count);
    k->column = mo_alloc(sizeof(int32_t) * MOST_COLUMNS);
    bool ok = light && k->column;
    for (int32_t f = 0; f < s->faces.count; f++) density = fmax(density, s->faces.mass[f]);
    for (int64_t e = 0; e < mo_csr_entries(B); e++) entry = fmax(entry, fabs(B->val[e])); // 1/dx
    if (ok && k->touching)
        s->bodies.kind->light(&s->bodies, &k->dual.on[MO_BODIES], (const int32_t(*)[3])k->dual.coord, density,
                              1 / entry, light);
    for (int32_t i = 0; ok && i < s->bodies.count; i++) {
        lightest = fmax(lightest, light[i]);
        if (!(light[i] > 0.5)) continue;
        if (k->light < MOST_COLUMNS) k->column[k->light] = i;
        k->light++;
    }
    k->saved = k->light && k->light <= MOST_COLUMNS ? 2 + 1.954 * mo_ln(2 * lightest) : -INFINITY;
    mo_free(light);
    return ok ? MO_OK : MO_ERROR_MEMORY;
}

mo_status mo_bodies_solver_respond(mo_bodies_solver *k)
{
    if (k->wet.columns || !(k->saved > column_cost * k->light)) return MO_OK;
    return mo_woodbury_create(&k->dual.on[MO_BODIES], &k->S, k->light, k->column, k->mg, k->work, &k->wet);
}

void mo_bodies_solver_count(mo_bodies_solver *k, int32_t iterations)
{
    MO_ASSERT(iterations >= 0);
    if (iterations > PLAIN_ITERATIONS) k->saved += iterations - PLAIN_ITERATIONS;
}

void mo_bodies_solver_forgo(mo_bodies_solver *k)
{
    k->saved = -INFINITY;
    mo_woodbury_destroy(&k->wet);
}

static mo_status build_cycle(mo_bodies_solver *k)
{
    const mo_dual *d = &k->dual;
    const int32_t(*coord)[3] = (const int32_t(*)[3])d->coord;
    mo_csr firm = {0};
    if (!k->pieces.pushing) return mo_multigrid_create(&d->A, coord, &k->mg);
    mo_status status = mo_csr_block(&d->A, 0, d->A.rows, 0, d->A.cols, &firm);
    if (status == MO_OK) {
        mo_pieces_firm(&k->pieces, &firm);
        status = mo_multigrid_create(&firm, coord, &k->mg);
    }
    mo_csr_destroy(&firm);
    return status;
}

static mo_status build(const mo_system *s, bool liquid, mo_bodies_solver *k)
{
    mo_dual *d = &k->dual;
    MO_TRY(mo_solids_inertia(s, &k->S));
    k->saved = -INFINITY;
    if (!liquid) return MO_OK;
    MO_TRY(mo_dual_create(s, 1u << MO_BLOCK_PRESSURE, d, NULL));
    size_t rows = (size_t)d->rows;
    k->diagonal = mo_alloc(sizeof(double) * rows), k->work = mo_alloc(sizeof(double) * 6 * rows);
    if (!k->diagonal || !k->work) return MO_ERROR_MEMORY;
    mo_csr_diagonal(&d->A, k->diagonal);
    MO_TRY(mo_pieces_create(&d->A, NULL, MO_GROUPS - MO_SOLIDS, d->on + MO_SOLIDS, &k->pieces));
    k->touch = mo_csr_filled_rows(&d->on[MO_BODIES], 0, &k->touching);
    if (!k->touch) return MO_ERROR_MEMORY;
    MO_TRY(find_pushing(k));
    MO_TRY(build_cycle(k));
    return find_light(s, k);
}

mo_status mo_bodies_solver_create(const mo_system *s, bool liquid, mo_bodies_solver **out)
{
    MO_ASSERT(s->dt >= 0);
    mo_bodies_solver *k = *out = mo_calloc(sizeof *k);
    mo_status status = k ? build(s, liquid, k) : MO_ERROR_MEMORY;
    if (status == MO_OK) return MO_OK;
    mo_bodies_solver_destroy(k);
    *out = NULL;
    return status;
}

// ---- Linear solves ----

void mo_bodies_step_destroy(mo_bodies_step *t)
{
    mo_clusters_destroy(&t->springs), mo_clusters_destroy(&t->response);
    mo_free(t->deflation), mo_free(t->f);
    *t = (mo_bodies_step){0};
}

mo_status mo_bodies_step_create(mo_bodies_solver *k, const mo_contact_law *l, mo_bodies_step *t)
{
    size_t pushing = (size_t)k->pieces.pushing;
    *t = (mo_bodies_step){.k = k};
    mo_status status = mo_clusters_create(&k->S, l, &t->springs);
    if (status == MO_OK && k->wet.columns) status = mo_clusters_create(&k->wet.C, l, &t->response);
    t->deflation = mo_alloc(sizeof(double) * pushing * pushing);
    t->f = mo_alloc(sizeof(double) * ((size_t)k->S.rows + pushing));
    if (status == MO_OK && t->deflation && t->f) return MO_OK;
    mo_bodies_step_destroy(t);
    return MO_ERROR_MEMORY;
}

// E = 1^T R springs^-1 R^T 1 of the pieces that push bodies, whose constants the cycle does not treat.
static void factor_deflation(mo_bodies_step *t)
{
    int32_t n = t->k->pieces.pushing, dofs = t->k->S.rows;
    for (int32_t a = 0; a < n; a++) {
        memcpy(t->f, t->k->push + a * dofs, sizeof(double) * (size_t)dofs);
        mo_clusters_solve(&t->springs, t->f);
        for (int32_t b = 0; b < n; b++) {
            double sum = 0;
            for (int32_t i = 0; i < dofs; i++) sum += t->k->push[b * dofs + i] * t->f[i];
            t->deflation[a * n + b] = sum;
        }
    }
    mo_dense_factor(n, t->deflation, 1e-10);
}

void mo_bodies_step_factor(mo_bodies_step *t, const mo_contact_law *l)
{
    mo_clusters_factor(&t->springs, &t->k->S, l);
    if (t->k->wet.columns) mo_clusters_factor(&t->response, &t->k->wet.C, l);
    factor_deflation(t);
}

static void step_apply(void *context, const double *p, double *y)
{
    mo_bodies_step *t = context;
    mo_csr_multiply(&t->k->dual.A, p, y);
    memset(t->f, 0, sizeof(double) * (size_t)t->k->S.rows);
    mo_bodies_solver_force(t->k, p, t->f);
    mo_clusters_solve(&t->springs, t->f);
    mo_bodies_solver_sweep(t->k, t->f, y);
}

// z += 1 E^-1 1^T r on the pieces that push bodies.
static void deflate(mo_bodies_step *t, const double *r, double *z)
{
    const mo_bodies_solver *k = t->k;
    double *sum = t->f + k->S.rows;
    memset(sum, 0, sizeof(double) * (size_t)k->pieces.pushing);
    for (int32_t i = 0; i < k->dual.rows; i++)
        if (k->number[k->pieces.of[i]] >= 0) sum[k->number[k->pieces.of[i]]] += r[i];
    mo_dense_solve(k->pieces.pushing, t->deflation, sum);
    for (int32_t i = 0; i < k->dual.rows; i++)
        if (k->number[k->pieces.of[i]] >= 0) z[i] += sum[k->number[k->pieces.of[i]]];
}

// Woodbury's formula with one cycle: L~ (r - R (C + B^T D B)^-1 (L~ R)^T r).
static void step_precondition(void *context, const double *r, double *z)
{
    mo_bodies_step *t = context;
    const mo_bodies_solver *k = t->k;
    double *rest = k->work + 5 * (size_t)k->dual.rows;
    if (k->wet.columns) {
        mo_woodbury_gather(&k->wet, -1, r, t->f);
        mo_clusters_solve(&t->response, t->f);
        memcpy(rest, r, sizeof(double) * (size_t)k->dual.rows);
        mo_bodies_solver_sweep(k, t->f, rest);
    }
    mo_multigrid_apply(k->mg, k->wet.columns ? rest : r, z);
    if (k->pieces.pushing) deflate(t, r, z);
}

mo_solve_info mo_bodies_step_solve(mo_bodies_step *t, const double *b, double *p, double tolerance, int32_t limit)
{
    mo_operator A = {step_apply, t}, M = {step_precondition, t};
    return mo_cg(t->k->dual.rows, &A, &M, b, p, tolerance, limit, true, t->k->work);
}
