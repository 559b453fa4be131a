// Rows of contact on rigid bodies, by Woodbury's formula.
#include "system/body_rows.h"
#include "sparse/dense.h"
#include <string.h>

enum { MOST_UNKNOWNS = 96 };

void mo_body_rows_destroy(mo_body_rows *b)
{
    mo_free(b->mass);
    *b = (mo_body_rows){0};
}

mo_status mo_body_rows_create(const mo_system *s, int32_t blocks, mo_block *const *block, const int32_t *first,
                              mo_body_rows *out)
{
    MO_ASSERT(blocks <= MO_BODY_ROWS_BLOCKS);
    int32_t n = s->bodies.count, col[MO_BODY_UNKNOWNS];
    double val[MO_BODY_UNKNOWNS];
    *out = (mo_body_rows){0};
    for (int32_t k = 0; k < blocks; k++)
        if (block[k]->on[MO_BODIES].rows)
            out->R[out->blocks] = &block[k]->on[MO_BODIES], out->first[out->blocks++] = first[k];
    if (!n || n > MOST_UNKNOWNS || !out->blocks) return MO_OK;
    size_t square = (size_t)n * (size_t)n;
    out->mass = mo_calloc(sizeof(double) * (2 * square + (size_t)n));
    if (!out->mass) return MO_ERROR_MEMORY;
    out->C = out->mass + square, out->y = out->C + square, out->unknowns = n;
    for (int32_t i = 0; i < n; i++) {
        int32_t entries = s->bodies.kind->row(&s->bodies, i, col, val);
        for (int32_t e = 0; e < entries; e++) out->mass[i * n + col[e]] = val[e] / s->dt;
    }
    return MO_OK;
}

static const mo_csr *rows_of(const mo_body_rows *b, int32_t row, int32_t *own)
{
    for (int32_t k = 0; k < b->blocks; k++)
        if (row >= b->first[k] && row < b->first[k] + b->R[k]->rows) {
            *own = row - b->first[k];
            return b->R[k];
        }
    return NULL;
}

bool mo_body_rows_has(const mo_body_rows *b, int32_t row)
{
    int32_t own;
    const mo_csr *R = b->unknowns ? rows_of(b, row, &own) : NULL;
    return R && R->row[own + 1] > R->row[own];
}

// C = M / dt + R^T D^-1 R, y = R^T D^-1 r, of the rows with r != 0. Unknowns that cannot move have no mass and are left
// out.
static void gather(const mo_body_rows *b, const double *inverse, const double *r)
{
    int32_t n = b->unknowns;
    memcpy(b->C, b->mass, sizeof(double) * (size_t)n * (size_t)n);
    memset(b->y, 0, sizeof(double) * (size_t)n);
    for (int32_t k = 0; k < b->blocks; k++)
        for (int32_t i = 0; i < b->R[k]->rows; i++) {
            const mo_csr *R = b->R[k];
            double at = r[b->first[k] + i], d = inverse[b->first[k] + i];
            if (at == 0) continue;
            for (int64_t e = R->row[i]; e < R->row[i + 1]; e++) {
                if (!(b->mass[R->col[e] * (n + 1)] > 0)) continue;
                b->y[R->col[e]] += R->val[e] * d * at;
                for (int64_t f = R->row[i]; f < R->row[i + 1]; f++)
                    b->C[R->col[e] * n + R->col[f]] += R->val[e] * d * R->val[f];
            }
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t m = 0; m < n && !(b->mass[i * (n + 1)] > 0); m++)
            b->C[i * n + m] = b->C[m * n + i] = i == m ? 1 : 0;
}

void mo_body_rows_apply(const mo_body_rows *b, const double *inverse, const double *r, double *z)
{
    MO_ASSERT(r != z);
    if (!b->unknowns) return;
    gather(b, inverse, r);
    mo_dense_factor(b->unknowns, b->C, 1e-14);
    mo_dense_solve(b->unknowns, b->C, b->y);
    for (int32_t k = 0; k < b->blocks; k++)
        for (int32_t i = 0; i < b->R[k]->rows; i++) {
            int32_t row = b->first[k] + i;
            if (b->R[k]->row[i + 1] > b->R[k]->row[i])
                z[row] = inverse[row] * (r[row] - mo_csr_row_product(b->R[k], i, b->y));
        }
}
