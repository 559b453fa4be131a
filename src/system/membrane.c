// Light cloth in the preconditioner of pressure.
#include "system/membrane.h"
#include "system/nodes.h"
#include <string.h>

void mo_membrane_destroy(mo_membrane *m)
{
    mo_free(m->inverse), mo_free(m->force);
    mo_cholesky_destroy(m->factor);
    *m = (mo_membrane){0};
}

// H/dt of the nodes.
static mo_status inertia(const mo_system *s, mo_csr *out)
{
    const mo_group *g = &s->nodes;
    int64_t entries = 0, at = 0;
    for (int32_t i = 0; i < g->count; i++) entries += g->kind->row(g, i, NULL, NULL);
    MO_TRY(mo_csr_create(g->count, g->count, entries, out));
    for (int32_t i = 0; i < g->count; i++) {
        int32_t n = g->kind->row(g, i, out->col + at, out->val + at);
        for (int32_t k = 0; k < n; k++) out->val[at + k] /= s->dt;
        out->row[i + 1] = at += n;
    }
    return MO_OK;
}

// H/dt + F^T D^-1 F
static mo_status middle(const mo_system *s, const mo_membrane *m, mo_csr *out)
{
    mo_csr Ft = {0}, H = {0};
    mo_status status = mo_csr_transpose(m->F, &Ft);
    if (status == MO_OK) status = mo_csr_weighted_square(&Ft, m->F, m->inverse, out);
    if (status == MO_OK) status = inertia(s, &H);
    if (status == MO_OK) status = mo_csr_add(out, &H);
    mo_csr_destroy(&Ft), mo_csr_destroy(&H);
    return status;
}

static mo_status factor(const mo_system *s, mo_membrane *m)
{
    mo_csr G = {0};
    mo_status status = middle(s, m, &G);
    uint8_t *held = mo_alloc((size_t)m->nodes + 1);
    bool positive = false;
    if (!held) status = MO_ERROR_MEMORY;
    for (int32_t i = 0; held && i < m->nodes; i++) held[i] = s->nodes.kind->row(&s->nodes, i, NULL, NULL) == 0;
    if (status == MO_OK) status = mo_cholesky_create(&G, 1, &m->factor, NULL);
    if (status == MO_OK) status = mo_cholesky_factor(m->factor, &G, held, &positive, NULL);
    if (status == MO_OK && !positive) mo_cholesky_destroy(m->factor), m->factor = NULL; // then the cycle is alone
    mo_free(held);
    mo_csr_destroy(&G);
    return status;
}

mo_status mo_membrane_create(const mo_system *s, const mo_block *pressure, const mo_csr *L, mo_membrane *out)
{
    const mo_csr *F = &pressure->on[MO_NODES];
    *out = (mo_membrane){.rows = pressure->rows, .nodes = s->nodes.count, .F = F};
    if (!pressure->cloth || !F->rows || !s->nodes.count) return MO_OK;
    out->inverse = mo_alloc(sizeof(double) * ((size_t)out->rows + 1));
    out->force = mo_alloc(sizeof(double) * 2 * ((size_t)out->nodes + 1));
    if (!out->inverse || !out->force) return MO_ERROR_MEMORY;
    mo_csr_diagonal(L, out->inverse);
    for (int32_t i = 0; i < out->rows; i++)
        out->inverse[i] = F->row[i + 1] > F->row[i] && out->inverse[i] > 0 ? 1 / out->inverse[i] : 0;
    return factor(s, out);
}

void mo_membrane_add(const mo_membrane *m, const double *r, double *z)
{
    if (!m->factor) return;
    double *push = m->force, *move = m->force + m->nodes + 1;
    memset(push, 0, sizeof(double) * (size_t)m->nodes);
    for (int32_t i = 0; i < m->rows; i++)
        for (int64_t e = m->F->row[i]; e < m->F->row[i + 1]; e++)
            push[m->F->col[e]] += m->F->val[e] * m->inverse[i] * r[i];
    mo_cholesky_solve(m->factor, push, move);
    for (int32_t i = 0; i < m->rows; i++)
        if (m->inverse[i] > 0) z[i] += m->inverse[i] * (r[i] - mo_csr_row_product(m->F, i, move));
}
