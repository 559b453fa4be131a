// Stencils of the finest level from a CSR matrix, and back for the small pieces
// that are solved directly.
#include "sparse/stencil.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096 };

void mo_stencils_destroy(mo_stencils *A)
{
    mo_free(A->pattern), mo_free(A->start), mo_free(A->step), mo_free(A->val);
    mo_free(A->diagonal), mo_free(A->inverse);
    *A = (mo_stencils){0};
}

// Largest offset of an entry along an axis; 2 also for entries that step along
// several axes at once, 3 for too far.
static int32_t find_reach(const mo_csr *A, const int32_t (*coord)[3])
{
    int32_t reach = 1;
#pragma omp parallel for schedule(static) reduction(max : reach) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            const int32_t *a = coord[i], *b = coord[A->col[k]];
            int32_t d[3] = {abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2])};
            bool far = d[0] > 2 || d[1] > 2 || d[2] > 2;
            int32_t needed = far ? 3 : d[0] + d[1] + d[2] > 1 ? 2 : 1;
            if (needed > reach) reach = needed;
        }
    return reach;
}

// The largest off-diagonal entry; without any, the largest.
static double find_scale(const mo_csr *A)
{
    double off = 0, any = 0;
#pragma omp parallel for schedule(static) reduction(max : off, any) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            double v = fabs(A->val[k]);
            if (v > any) any = v;
            if (A->col[k] != i && v > off) off = v;
        }
    return off > 0 ? off : any > 0 ? any : 1;
}

// The constant stencil: -1 to both neighbours along every axis the cells spread
// over.
static void constant_stencil(int32_t rows, const int32_t (*coord)[3], double regular[MO_CODES])
{
    static const int32_t stride[3] = {1, 5, 25};
    for (int32_t a = 0; a < 3; a++) {
        bool flat = true;
        for (int32_t i = 1; i < rows && flat; i++) flat = coord[i][a] == coord[0][a];
        if (flat) continue;
        regular[MO_CODES / 2 - stride[a]] = regular[MO_CODES / 2 + stride[a]] = -1;
        regular[MO_CODES / 2] += 2;
    }
}

static bool is_regular(const mo_csr *A, int32_t i, double inverse, float diagonal)
{
    if ((double)(A->row[i + 1] - A->row[i] - 1) != diagonal) return false;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
        if ((float)(A->val[k] * inverse) != (A->col[k] == i ? diagonal : -1)) return false;
    return true;
}

static mo_status allocate(mo_stencils *out, int64_t entries)
{
    size_t patterns = (size_t)out->patterns;
    out->start = mo_calloc(sizeof(int64_t) * (patterns + 1));
    out->step = mo_alloc(sizeof(int16_t) * (size_t)entries);
    out->val = mo_alloc(sizeof(float) * (size_t)entries);
    out->diagonal = mo_calloc(sizeof(float) * patterns);
    out->inverse = mo_calloc(sizeof(float) * patterns);
    return out->start && out->step && out->val && out->diagonal && out->inverse ? MO_OK : MO_ERROR_MEMORY;
}

// Pattern 0 at the start of the entries.
static void write_regular(mo_stencils *out)
{
    int64_t n = 0;
    for (int32_t code = 0; code < MO_CODES; code++) {
        if (code == MO_CODES / 2 || out->regular[code] == 0) continue;
        out->step[n] = (int16_t)(code % 5 - 2 + out->side * (code / 5 % 5 - 2 + out->side * (code / 25 - 2)));
        out->val[n++] = (float)out->regular[code];
    }
    double d = out->regular[MO_CODES / 2];
    out->start[1] = n, out->diagonal[0] = (float)d, out->inverse[0] = d > 0 ? (float)(1 / d) : 0;
}

mo_status mo_stencils_allocate(mo_stencils *out, int64_t entries)
{
    mo_status status = allocate(out, entries + MO_CODES);
    if (status == MO_OK) write_regular(out);
    return status;
}

static void write_row(const mo_csr *A, const int32_t (*coord)[3], int32_t i, double inverse, mo_stencils *out)
{
    int32_t p = out->pattern[i];
    int64_t at = out->start[p];
    float diagonal = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        float v = (float)(A->val[k] * inverse);
        const int32_t *a = coord[i], *b = coord[A->col[k]];
        if (A->col[k] == i)
            diagonal = v;
        else {
            out->step[at] = (int16_t)(b[0] - a[0] + out->side * (b[1] - a[1] + out->side * (b[2] - a[2])));
            out->val[at++] = v;
        }
    }
    out->diagonal[p] = diagonal, out->inverse[p] = diagonal > 0 ? 1 / diagonal : 0;
}

mo_status mo_stencils_create(const mo_csr *A, const int32_t (*coord)[3], int32_t edge, mo_stencils *out, double *scale)
{
    int32_t n = A->rows;
    *out = (mo_stencils){.rows = n, .reach = find_reach(A, coord)};
    if (out->reach > 2) return MO_ERROR_INPUT;
    out->side = edge + 2 * out->reach;
    *scale = find_scale(A);
    double inverse = 1 / *scale;
    if (out->reach == 1) constant_stencil(n, coord, out->regular);
    out->pattern = mo_alloc(sizeof(int32_t) * (size_t)n);
    if (!out->pattern) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t i = 0; i < n; i++)
        out->pattern[i] = is_regular(A, i, inverse, (float)out->regular[MO_CODES / 2]) ? 0 : 1;
    // Patterns and their entries, in the order of rows.
    int64_t entries = 0;
    int32_t patterns = 1;
    for (int32_t i = 0; i < n; i++)
        if (out->pattern[i]) out->pattern[i] = patterns++, entries += A->row[i + 1] - A->row[i];
    out->patterns = patterns;
    MO_TRY(mo_stencils_allocate(out, entries));
    for (int32_t i = 0; i < n; i++) {
        int32_t p = out->pattern[i];
        if (!p) continue;
        out->start[p + 1] = out->start[p];
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) out->start[p + 1] += A->col[k] != i;
    }
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t i = 0; i < n; i++)
        if (out->pattern[i]) write_row(A, coord, i, inverse, out);
    return MO_OK;
}

mo_status mo_stencils_pieces(const mo_stencils *A, const mo_lattice *l, const uint8_t *chosen, mo_csr *out)
{
    // Upper bound: every entry of the chosen rows.
    int64_t entries = 0;
    for (int32_t b = 0; b < l->blocks; b++)
        if (chosen[l->block[b].piece]) {
            int32_t i = l->block[b].start;
            for (uint64_t m = l->block[b].mask; m; m &= m - 1, i++)
                entries += A->start[A->pattern[i] + 1] - A->start[A->pattern[i]] + 1;
        }
    MO_TRY(mo_csr_create(A->rows, A->rows, entries, out));
    int64_t n = 0;
    for (int32_t b = 0; b < l->blocks; b++) {
        const mo_cells *c = &l->block[b];
        int32_t i = c->start, box[MO_COARSE_SIDE * MO_COARSE_SIDE * MO_COARSE_SIDE];
        bool wanted = chosen[c->piece];
        if (wanted) {
            int32_t first[3] = {4 * c->tile[0] - 2, 4 * c->tile[1] - 2, 4 * c->tile[2] - 2};
            mo_lattice_box(l, c->piece, first, (int32_t[3]){8, 8, 8}, box);
        }
        for (uint64_t m = c->mask; m; m &= m - 1, i++) {
            int32_t bit = __builtin_ctzll(m), place = (bit & 3) + 2 + 8 * ((bit >> 2 & 3) + 2) + 64 * ((bit >> 4) + 2);
            int32_t p = A->pattern[i];
            if (wanted) {
                out->col[n] = i, out->val[n++] = A->diagonal[p];
                for (int64_t k = A->start[p]; k < A->start[p + 1]; k++)
                    out->col[n] = box[place + A->step[k]], out->val[n++] = A->val[k];
            }
            out->row[i + 1] = n;
        }
    }
    return MO_OK;
}
