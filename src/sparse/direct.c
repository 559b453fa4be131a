// Dense L D L^T of small pieces.
#include "sparse/direct.h"
#include <string.h>

void mo_direct_destroy(mo_direct *d)
{
    mo_free(d->start), mo_free(d->row), mo_free(d->offset), mo_free(d->factor);
    *d = (mo_direct){0};
}

static inline int64_t triangle(int64_t n) { return n * (n + 1) / 2; }

// Rows of the chosen pieces, piece by piece; local[i] = place of row i within
// its piece.
static mo_status collect(int32_t n, const int32_t *piece, int32_t pieces, const uint8_t *chosen, mo_direct *d,
                         int32_t *local)
{
    int32_t *place = mo_calloc(sizeof(int32_t) * ((size_t)pieces + 1)), rows = 0;
    if (!place) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < n; i++) place[piece[i]] += chosen[piece[i]];
    for (int32_t p = 0; p < pieces; p++) d->pieces += place[p] > 0, rows += place[p];
    d->start = mo_alloc(sizeof(int32_t) * ((size_t)d->pieces + 1));
    d->offset = mo_alloc(sizeof(int64_t) * (size_t)d->pieces);
    d->row = mo_alloc(sizeof(int32_t) * (size_t)rows);
    if (!d->start || !d->offset || !d->row) {
        mo_free(place);
        return MO_ERROR_MEMORY;
    }
    int32_t number = 0, at = 0;
    for (int32_t p = 0; p < pieces; p++) {
        int32_t count = place[p];
        place[p] = at;
        if (!count) continue;
        d->start[number] = at, d->offset[number++] = d->entries;
        d->entries += triangle(count);
        at += count;
    }
    d->start[number] = at;
    int32_t *first = place; // the place of the next row of each piece
    for (int32_t i = 0; i < n; i++)
        if (chosen[piece[i]]) d->row[first[piece[i]]++] = i;
    for (int32_t p = 0; p < d->pieces; p++)
        for (int32_t k = d->start[p]; k < d->start[p + 1]; k++) local[d->row[k]] = k - d->start[p];
    mo_free(place);
    return MO_OK;
}

// In place: M holds the lower triangle row by row; becomes l_ij and 1 / d_i.
static void factorise(int32_t n, double *M, double epsilon)
{
    for (int32_t i = 0; i < n; i++) {
        double *m = M + triangle(i), pivot = m[i], diagonal = pivot;
        for (int32_t j = 0; j < i; j++) { // m_j = l_ij d_j
            const double *l = M + triangle(j);
            double s = m[j];
            for (int32_t k = 0; k < j; k++) s -= m[k] * l[k];
            m[j] = s;
        }
        for (int32_t j = 0; j < i; j++) {
            double scaled = m[j] * M[triangle(j) + j];
            pivot -= m[j] * scaled;
            m[j] = scaled;
        }
        m[i] = pivot > epsilon * diagonal ? 1 / pivot : 0;
    }
}

mo_status mo_direct_create(const mo_csr *A, double scale, const int32_t *piece, int32_t pieces, const uint8_t *chosen,
                           double epsilon, mo_direct *out)
{
    *out = (mo_direct){0};
    int32_t *local = mo_alloc(sizeof(int32_t) * (size_t)A->rows);
    mo_status status = local ? collect(A->rows, piece, pieces, chosen, out, local) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        out->factor = mo_alloc(sizeof(float) * (size_t)out->entries);
        if (!out->factor) status = MO_ERROR_MEMORY;
    }
    if (status == MO_OK) {
#pragma omp parallel for schedule(dynamic, 4) if (out->pieces > 16)
        for (int32_t p = 0; p < out->pieces; p++) {
            double M[MO_DIRECT_LIMIT * (MO_DIRECT_LIMIT + 1) / 2];
            int32_t m = out->start[p + 1] - out->start[p];
            memset(M, 0, sizeof(double) * (size_t)triangle(m));
            for (int32_t a = 0; a < m; a++) {
                int32_t i = out->row[out->start[p] + a];
                for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
                    if (local[A->col[k]] <= a) M[triangle(a) + local[A->col[k]]] += A->val[k] / scale;
            }
            factorise(m, M, epsilon);
            for (int64_t k = 0; k < triangle(m); k++) out->factor[out->offset[p] + k] = (float)M[k];
        }
    }
    mo_free(local);
    if (status != MO_OK) mo_direct_destroy(out);
    return status;
}

// Eight sums at once: rows are short, but waiting for one sum would dominate them.
static inline float dot(int32_t n, const float *a, const float *b)
{
    float s[8] = {0}, rest = 0;
    int32_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int32_t k = 0; k < 8; k++) s[k] += a[j + k] * b[j + k];
    for (; j < n; j++) rest += a[j] * b[j];
    return rest + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
}

void mo_direct_solve_add(const mo_direct *d, const float *r, float *x)
{
#pragma omp parallel for schedule(static) if (d->pieces > 64)
    for (int32_t p = 0; p < d->pieces; p++) {
        const int32_t *row = d->row + d->start[p];
        const float *L = d->factor + d->offset[p];
        int32_t n = d->start[p + 1] - d->start[p];
        float y[MO_DIRECT_LIMIT];
        for (int32_t i = 0; i < n; i++) y[i] = r[row[i]] - dot(i, L + triangle(i), y); // L y = r
        for (int32_t i = 0; i < n; i++) y[i] *= L[triangle(i) + i];                    // D
        for (int32_t i = n - 1; i >= 0; i--) {                                         // L^T x = y
            const float *l = L + triangle(i);
            for (int32_t j = 0; j < i; j++) y[j] -= l[j] * y[i];
            x[row[i]] += y[i];
        }
    }
}
