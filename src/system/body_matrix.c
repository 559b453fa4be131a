// Clusters of bodies and their dense factors.
#include "system/body_matrix.h"
#include "sparse/dense.h"
#include <string.h>

void mo_body_matrix_destroy(mo_body_matrix *m)
{
    mo_free(m->first), mo_free(m->member), mo_free(m->cluster), mo_free(m->place), mo_free(m->at), mo_free(m->L),
        mo_free(m->x);
    *m = (mo_body_matrix){0};
}

// ---- Clusters ----

static int32_t root_of(int32_t *parent, int32_t b)
{
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
}

// The smaller number becomes the root.
static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a), b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_all(const mo_csr *S, const mo_contact_law *l, int32_t *parent)
{
    for (int32_t b = 0; b < S->rows / 6; b++) parent[b] = b;
    for (int32_t i = 0; i < S->rows; i++)
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++) join(parent, i / 6, S->col[k] / 6);
    for (int32_t i = 0; i < l->rows; i++)
        for (int64_t k = l->B.row[i] + 1; k < l->B.row[i + 1]; k++) join(parent, l->B.col[k - 1] / 6, l->B.col[k] / 6);
}

// Numbers clusters and members; `place` holds parents and gives way to places.
static void number_members(mo_body_matrix *m)
{
    for (int32_t b = 0; b < m->bodies; b++) {
        int32_t root = root_of(m->place, b);
        m->cluster[b] = root == b ? m->clusters++ : m->cluster[root];
    }
    for (int32_t b = 0; b < m->bodies; b++) {
        int32_t *count = &m->first[m->cluster[b] + 1];
        m->place[b] = (*count)++;
    }
    for (int32_t c = 0; c < m->clusters; c++) {
        int64_t size = 6 * m->first[c + 1];
        m->first[c + 1] += m->first[c];
        m->at[c + 1] = m->at[c] + size * size;
    }
    for (int32_t b = 0; b < m->bodies; b++) m->member[m->first[m->cluster[b]] + m->place[b]] = b;
}

mo_status mo_body_matrix_create(const mo_csr *S, const mo_contact_law *l, mo_body_matrix *m)
{
    size_t n = (size_t)S->rows / 6, bytes = sizeof(int32_t) * n;
    *m = (mo_body_matrix){.bodies = S->rows / 6};
    m->first = mo_calloc(bytes + sizeof(int32_t)), m->at = mo_calloc(sizeof(int64_t) * (n + 1));
    m->member = mo_alloc(bytes), m->cluster = mo_alloc(bytes), m->place = mo_alloc(bytes);
    m->x = mo_alloc(sizeof(double) * 6 * n);
    if (m->first && m->at && m->member && m->cluster && m->place && m->x) {
        join_all(S, l, m->place);
        number_members(m);
        m->L = mo_alloc(sizeof(double) * (size_t)m->at[m->clusters]);
        if (m->L) return MO_OK;
    }
    mo_body_matrix_destroy(m);
    return MO_ERROR_MEMORY;
}

double mo_body_matrix_work(const mo_body_matrix *m)
{
    double sum = 0;
    for (int32_t c = 0; c < m->clusters; c++) {
        double size = 6.0 * (m->first[c + 1] - m->first[c]);
        sum += size * size * size / 6;
    }
    return sum;
}

// ---- Factors ----

// Where entry (i, j) of two components of one cluster is.
static double *entry(const mo_body_matrix *m, int32_t i, int32_t j)
{
    int32_t c = m->cluster[i / 6], size = 6 * (m->first[c + 1] - m->first[c]);
    int64_t row = 6 * m->place[i / 6] + i % 6;
    return m->L + m->at[c] + row * size + 6 * m->place[j / 6] + j % 6;
}

// Adds (row i)^T d (row j).
static void add_product(const mo_body_matrix *m, const mo_csr *B, int32_t i, int32_t j, double d)
{
    for (int64_t p = B->row[i]; p < B->row[i + 1]; p++)
        for (int64_t q = B->row[j]; q < B->row[j + 1]; q++)
            *entry(m, B->col[p], B->col[q]) += B->val[p] * d * B->val[q];
}

// Nothing couples to component i of a cluster's matrix.
static void hold(double *A, int32_t size, int32_t i)
{
    for (int32_t j = 0; j < size; j++) A[(int64_t)i * size + j] = A[(int64_t)j * size + i] = 0;
}

void mo_body_matrix_factor(mo_body_matrix *m, const mo_csr *S, const mo_contact_law *l)
{
    memset(m->L, 0, sizeof(double) * (size_t)m->at[m->clusters]);
    for (int32_t i = 0; i < S->rows; i++) {
        m->x[i] = 0;
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++) {
            *entry(m, i, S->col[k]) += S->val[k];
            if (S->col[k] == i) m->x[i] = S->val[k];
        }
    }
    for (int32_t i = 0; i < l->rows; i++) {
        if (l->slope[i] != 0) add_product(m, &l->B, i, i, l->slope[i]);
        if (l->cross[i] != 0) add_product(m, &l->B, i, i + ((i - l->contacts) % 2 ? -1 : 1), l->cross[i]);
    }
    for (int32_t c = 0; c < m->clusters; c++) {
        int32_t size = 6 * (m->first[c + 1] - m->first[c]);
        double *A = m->L + m->at[c];
        for (int32_t k = 0; k < size; k++)
            if (!(m->x[6 * m->member[m->first[c] + k / 6] + k % 6] > 0)) hold(A, size, k);
        mo_dense_factor(size, A, 1e-14);
    }
}

void mo_body_matrix_solve(mo_body_matrix *m, double *x)
{
    for (int32_t c = 0; c < m->clusters; c++) {
        const int32_t *member = m->member + m->first[c], count = m->first[c + 1] - m->first[c];
        for (int32_t k = 0; k < count; k++) memcpy(m->x + 6 * k, x + 6 * member[k], sizeof(double) * 6);
        mo_dense_solve(6 * count, m->L + m->at[c], m->x);
        for (int32_t k = 0; k < count; k++) memcpy(x + 6 * member[k], m->x + 6 * k, sizeof(double) * 6);
    }
}

// ---- Masses ----

mo_status mo_body_inertia(const mo_system *s, mo_csr *S)
{
    MO_TRY(mo_csr_create(s->bodies.count, s->bodies.count, 6 * (int64_t)s->bodies.count, S));
    for (int32_t i = 0; i < s->bodies.count; i++) {
        const double *mass = s->bodies.body[i / 6].matrix[i % 6];
        for (int j = 0; j < 6; j++) S->col[6 * i + j] = i / 6 * 6 + j, S->val[6 * i + j] = mass[j] / s->dt;
        S->row[i + 1] = 6 * (int64_t)(i + 1);
    }
    return MO_OK;
}
