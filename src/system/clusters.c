// Clusters of solids' unknowns and their dense factors.
#include "system/clusters.h"
#include "base/union_find.h"
#include "sparse/dense.h"
#include <string.h>

void mo_clusters_destroy(mo_clusters *m)
{
    mo_free(m->first), mo_free(m->member), mo_free(m->cluster), mo_free(m->place), mo_free(m->at), mo_free(m->L),
        mo_free(m->x);
    *m = (mo_clusters){0};
}

// ---- Clusters ----

static void join_all(const mo_csr *S, const mo_contact_law *l, int32_t *parent)
{
    for (int32_t i = 0; i < S->rows; i++) parent[i] = i;
    for (int32_t i = 0; i < S->rows; i++)
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++) mo_join_sets(parent, i, S->col[k]);
    for (int32_t i = 0; i < l->rows; i++)
        for (int64_t k = l->B.row[i] + 1; k < l->B.row[i + 1]; k++) mo_join_sets(parent, l->B.col[k - 1], l->B.col[k]);
}

// Numbers clusters and members; `place` holds parents first and places in the end.
static void number_members(mo_clusters *m)
{
    for (int32_t i = 0; i < m->unknowns; i++) {
        int32_t root = mo_find_root(m->place, i);
        m->cluster[i] = root == i ? m->count++ : m->cluster[root];
    }
    for (int32_t i = 0; i < m->unknowns; i++) m->place[i] = m->first[m->cluster[i] + 1]++;
    for (int32_t c = 0; c < m->count; c++) {
        int64_t size = m->first[c + 1];
        m->first[c + 1] += m->first[c];
        m->at[c + 1] = m->at[c] + size * size;
    }
    for (int32_t i = 0; i < m->unknowns; i++) m->member[m->first[m->cluster[i]] + m->place[i]] = i;
}

mo_status mo_clusters_create(const mo_csr *S, const mo_contact_law *l, mo_clusters *m)
{
    MO_ASSERT(S->rows == S->cols);
    MO_ASSERT(l->rows == 0 || l->unknowns == S->rows);
    size_t n = (size_t)S->rows, bytes = sizeof(int32_t) * n;
    *m = (mo_clusters){.unknowns = S->rows};
    m->first = mo_calloc(bytes + sizeof(int32_t)), m->at = mo_calloc(sizeof(int64_t) * (n + 1));
    m->member = mo_alloc(bytes), m->cluster = mo_alloc(bytes), m->place = mo_alloc(bytes);
    m->x = mo_alloc(sizeof(double) * n);
    if (m->first && m->at && m->member && m->cluster && m->place && m->x) {
        join_all(S, l, m->place);
        number_members(m);
        m->L = mo_alloc(sizeof(double) * (size_t)m->at[m->count]);
        if (m->L) return MO_OK;
    }
    mo_clusters_destroy(m);
    return MO_ERROR_MEMORY;
}

double mo_clusters_work(const mo_clusters *m)
{
    double sum = 0;
    for (int32_t c = 0; c < m->count; c++) {
        double size = m->first[c + 1] - m->first[c];
        sum += size * size * size / 6;
    }
    return sum;
}

// ---- Factors ----

// Where entry (i, j) of two unknowns of one cluster is.
static double *entry(const mo_clusters *m, int32_t i, int32_t j)
{
    MO_ASSERT(m->cluster[i] == m->cluster[j]);
    int32_t c = m->cluster[i], size = m->first[c + 1] - m->first[c];
    return m->L + m->at[c] + (int64_t)m->place[i] * size + m->place[j];
}

// Adds (row i)^T d (row j).
static void add_product(const mo_clusters *m, const mo_csr *B, int32_t i, int32_t j, double d)
{
    for (int64_t p = B->row[i]; p < B->row[i + 1]; p++)
        for (int64_t q = B->row[j]; q < B->row[j + 1]; q++)
            *entry(m, B->col[p], B->col[q]) += B->val[p] * d * B->val[q];
}

// Nothing couples to unknown i of a cluster's matrix.
static void hold(double *A, int32_t size, int32_t i)
{
    for (int32_t j = 0; j < size; j++) A[(int64_t)i * size + j] = A[(int64_t)j * size + i] = 0;
}

void mo_clusters_factor(mo_clusters *m, const mo_csr *S, const mo_contact_law *l)
{
    MO_ASSERT(S->rows == m->unknowns);
    memset(m->L, 0, sizeof(double) * (size_t)m->at[m->count]);
    for (int32_t i = 0; i < S->rows; i++) {
        m->x[i] = 0;
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++) {
            *entry(m, i, S->col[k]) += S->val[k];
            if (S->col[k] == i) m->x[i] = S->val[k];
        }
    }
    for (int32_t i = 0; i < l->rows; i++) {
        if (l->slope[i] != 0) add_product(m, &l->B, i, i, l->slope[i]);
        if (l->cross[i] != 0) add_product(m, &l->B, i, mo_contact_law_other(l, i), l->cross[i]);
    }
    for (int32_t c = 0; c < m->count; c++) {
        int32_t size = m->first[c + 1] - m->first[c];
        double *A = m->L + m->at[c];
        for (int32_t k = 0; k < size; k++)
            if (!(m->x[m->member[m->first[c] + k]] > 0)) hold(A, size, k);
        mo_dense_factor(size, A, 1e-14);
    }
}

void mo_clusters_solve(mo_clusters *m, double *x)
{
    for (int32_t c = 0; c < m->count; c++) {
        const int32_t *member = m->member + m->first[c], size = m->first[c + 1] - m->first[c];
        for (int32_t k = 0; k < size; k++) m->x[k] = x[member[k]];
        mo_dense_solve(size, m->L + m->at[c], m->x);
        for (int32_t k = 0; k < size; k++) x[member[k]] = m->x[k];
    }
}
