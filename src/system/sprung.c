// Sparse matrices of solids with springs.
#include "system/sprung.h"
#include "system/contact_springs.h"

void mo_sprung_destroy(mo_sprung *m)
{
    mo_csr_destroy(&m->rows), mo_csr_destroy(&m->springs);
    mo_free(m->held);
    mo_cholesky_destroy(m->factor);
    *m = (mo_sprung){0};
}

// S + springs
static mo_status sum(const mo_sprung *m, mo_csr *out)
{
    MO_TRY(mo_csr_block(m->S, 0, m->S->rows, 0, m->S->cols, out));
    return m->springs.rows ? mo_csr_add(out, &m->springs) : MO_OK;
}

mo_status mo_sprung_create(const mo_csr *S, const mo_contact_law *l, mo_sprung *m)
{
    MO_ASSERT(S->rows == S->cols && (l->rows == 0 || l->unknowns == S->rows));
    mo_csr A = {0};
    *m = (mo_sprung){.S = S, .held = mo_alloc((size_t)S->rows + 1)};
    if (!m->held) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < S->rows; i++) m->held[i] = !(mo_csr_entry(S, i, i) > 0);
    mo_status status = l->rows ? mo_contact_springs_rows(l, S->cols, NULL, NULL, &m->rows) : MO_OK;
    if (status == MO_OK && l->rows) status = mo_contact_springs(l, &m->rows, true, &m->springs);
    if (status == MO_OK) status = sum(m, &A);
    if (status == MO_OK) status = mo_cholesky_create(&A, 1, &m->factor, NULL);
    mo_csr_destroy(&A);
    return status;
}

static mo_status factor(mo_sprung *m, const mo_csr *A)
{
    bool positive = false;
    MO_TRY(mo_cholesky_factor(m->factor, A, m->held, &positive, NULL));
    return positive ? MO_OK : MO_ERROR_FAILED;
}

mo_status mo_sprung_factor(mo_sprung *m, const mo_contact_law *l)
{
    mo_csr A = {0};
    mo_status status = l->rows ? mo_contact_springs(l, &m->rows, false, &m->springs) : MO_OK;
    if (status == MO_OK) status = sum(m, &A);
    if (status == MO_OK) status = factor(m, &A);
    mo_csr_destroy(&A);
    return status;
}

mo_status mo_sprung_release(mo_sprung *m) { return factor(m, m->S); }

void mo_sprung_solve(const mo_sprung *m, double *x) { mo_cholesky_solve(m->factor, x, x); }
