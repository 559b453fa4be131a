// Blocks and systems: destruction, the dual matrix A = S + dt B M^-1 B^T and the residual B u - c.
#include "system/system.h"
#include "base/parallel.h"

enum { SMALL = 4096 };

void mo_block_destroy(mo_block *b)
{
    if (!b) return;
    mo_csr_destroy(&b->fluid);
    mo_free(b->compliance), mo_free(b->rhs), mo_free(b->x), mo_free(b->coord);
    mo_free(b);
}

void mo_system_destroy(mo_system *s)
{
    mo_free(s->mass), mo_free(s->velocity);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) mo_block_destroy(s->block[k]);
    *s = (mo_system){0};
}

void mo_block_residual(const mo_system *s, const mo_block *b, const double *velocity, double *r)
{
    (void)s;
    mo_csr_multiply(&b->fluid, velocity, r);
    if (!b->rhs) return;
#pragma omp parallel for schedule(static) if (b->rows > SMALL)
    for (int32_t i = 0; i < b->rows; i++) r[i] -= b->rhs[i];
}

static void add_compliance(const mo_block *b, mo_csr *A)
{
#pragma omp parallel for schedule(static) if (b->rows > SMALL)
    for (int32_t i = 0; i < b->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            if (A->col[k] == i) A->val[k] += b->compliance[i];
}

mo_status mo_block_dual_matrix(const mo_system *s, const mo_block *b, mo_csr *A, mo_error *err)
{
    *A = (mo_csr){0};
    mo_csr Bt = {0};
    double *weight = mo_alloc(sizeof(double) * (size_t)s->faces); // dt M^-1
    mo_status status = weight ? mo_csr_transpose(&b->fluid, &Bt) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
#pragma omp parallel for schedule(static) if (s->faces > SMALL)
        for (int32_t f = 0; f < s->faces; f++) weight[f] = s->dt / s->mass[f];
        status = mo_csr_weighted_square(&b->fluid, &Bt, weight, A);
    }
    mo_free(weight);
    mo_csr_destroy(&Bt);
    if (status != MO_OK) return mo_fail_memory(err);
    if (b->compliance) add_compliance(b, A);
    return MO_OK;
}
