// Coloured Gauss-Seidel sweeps and SSOR.
//
// From zero, a forward sweep meets only entries whose columns come before the row in the order of the sweep, and the
// backward sweep can do with the others:
//
//     y = (D + wL)^-1 w r,    z = (D + wU)^-1 (2 - w) D y
//
// so that both together read the matrix once. The halves L and U are copies, as the order is not that of the columns.
#include "sparse/krylov.h"
#include <string.h>

enum { SMALL = 4096 };

// ---- Sweeps over coloured cubes ----

static int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static bool same_cube(const int32_t a[3], const int32_t b[3], int32_t edge)
{
    return floor_div(a[0], edge) == floor_div(b[0], edge) && floor_div(a[1], edge) == floor_div(b[1], edge) &&
           floor_div(a[2], edge) == floor_div(b[2], edge);
}

static int32_t cube_colour(const int32_t c[3], int32_t edge, bool diagonal)
{
    int32_t x = floor_div(c[0], edge) & 1, y = floor_div(c[1], edge) & 1, z = floor_div(c[2], edge) & 1;
    return diagonal ? x + 2 * y + 4 * z : x ^ y ^ z;
}

mo_status mo_sweep_create(int32_t rows, const int32_t (*coord)[3], int32_t edge, bool diagonal, mo_sweep *out)
{
    MO_ASSERT(rows >= 0 && edge > 0);
    int32_t groups = 0, colours = diagonal ? 8 : 2;
    for (int32_t i = 0; i < rows; i++) groups += i == 0 || !same_cube(coord[i], coord[i - 1], edge);
    *out = (mo_sweep){.groups = groups, .colours = colours};
    out->group = mo_alloc(sizeof(int32_t) * ((size_t)groups + 1));
    out->colour = mo_calloc(sizeof(int32_t) * ((size_t)colours + 1));
    out->member = mo_alloc(sizeof(int32_t) * (size_t)groups);
    if (!out->group || !out->colour || !out->member) {
        mo_sweep_destroy(out);
        return MO_ERROR_MEMORY;
    }
    int32_t g = 0;
    for (int32_t i = 0; i < rows; i++)
        if (i == 0 || !same_cube(coord[i], coord[i - 1], edge)) out->group[g++] = i;
    out->group[groups] = rows;
    // Stable counting sort by colour.
    int32_t place[8] = {0};
    for (g = 0; g < groups; g++) out->colour[cube_colour(coord[out->group[g]], edge, diagonal) + 1]++;
    for (int32_t c = 0; c < colours; c++) {
        out->colour[c + 1] += out->colour[c];
        place[c] = out->colour[c];
    }
    for (g = 0; g < groups; g++) out->member[place[cube_colour(coord[out->group[g]], edge, diagonal)]++] = g;
    return MO_OK;
}

mo_status mo_sweep_serial(int32_t rows, mo_sweep *out)
{
    MO_ASSERT(rows >= 0);
    *out = (mo_sweep){.groups = 1, .colours = 1};
    out->group = mo_calloc(sizeof(int32_t) * 2), out->colour = mo_calloc(sizeof(int32_t) * 2);
    out->member = mo_calloc(sizeof(int32_t));
    if (!out->group || !out->colour || !out->member) {
        mo_sweep_destroy(out);
        return MO_ERROR_MEMORY;
    }
    out->group[1] = rows, out->colour[1] = 1;
    return MO_OK;
}

void mo_sweep_destroy(mo_sweep *sweep)
{
    mo_free(sweep->group), mo_free(sweep->colour), mo_free(sweep->member);
    *sweep = (mo_sweep){0};
}

// ---- SSOR ----

// -w D^-1 times the entries of A whose columns come before their row in the order of the sweep (or behind it). Those
// that a sweep finds last come last, so that a row waits as little as it can for the row before it.
static mo_status copy_half(const mo_csr *A, const mo_ssor *s, const int32_t *rank, bool behind, mo_csr *half)
{
    int64_t entries = 0, at = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            entries += behind ? rank[A->col[k]] > rank[i] : rank[A->col[k]] < rank[i];
    MO_TRY(mo_csr_create(A->rows, A->cols, entries, half));
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t n = A->row[i + 1] - A->row[i], first = behind ? A->row[i + 1] - 1 : A->row[i], step = behind ? -1 : 1;
        for (int64_t m = 0, k = first; m < n; m++, k += step)
            if (behind ? rank[A->col[k]] > rank[i] : rank[A->col[k]] < rank[i])
                half->col[at] = A->col[k], half->val[at++] = -s->omega * s->dinv[i] * A->val[k];
        half->row[i + 1] = at;
    }
    return MO_OK;
}

mo_status mo_ssor_create(const mo_csr *A, const mo_sweep *sweep, double omega, mo_ssor *out)
{
    MO_ASSERT(A->rows == A->cols);
    MO_ASSERT(omega > 0 && omega < 2);
    MO_ASSERT(sweep->group[0] == 0 && sweep->group[sweep->groups] == A->rows);
    *out = (mo_ssor){.rows = A->rows, .sweep = sweep, .omega = omega};
    int32_t *rank = mo_alloc(sizeof(int32_t) * (size_t)A->rows), next = 0;
    mo_jacobi jacobi = {0};
    mo_status status = rank ? mo_jacobi_create(A, &jacobi) : MO_ERROR_MEMORY;
    out->dinv = jacobi.dinv;
    for (int32_t m = 0; m < sweep->groups && status == MO_OK; m++)
        for (int32_t i = sweep->group[sweep->member[m]]; i < sweep->group[sweep->member[m] + 1]; i++) rank[i] = next++;
    if (status == MO_OK) status = copy_half(A, out, rank, false, &out->L);
    if (status == MO_OK) status = copy_half(A, out, rank, true, &out->U);
    mo_free(rank);
    if (status != MO_OK) mo_ssor_destroy(out);
    return status;
}

void mo_ssor_destroy(mo_ssor *s)
{
    mo_free(s->dinv);
    mo_csr_destroy(&s->L), mo_csr_destroy(&s->U);
    *s = (mo_ssor){0};
}

void mo_ssor_apply(void *ssor, const double *r, double *z)
{
    MO_ASSERT(r != z);
    const mo_ssor *s = ssor;
    const mo_sweep *sweep = s->sweep;
#pragma omp parallel if (s->rows > SMALL && sweep->groups > 1)
    {
        for (int32_t c = 0; c < sweep->colours; c++) {
#pragma omp for schedule(static)
            for (int32_t m = sweep->colour[c]; m < sweep->colour[c + 1]; m++) {
                int32_t g = sweep->member[m];
                for (int32_t i = sweep->group[g]; i < sweep->group[g + 1]; i++)
                    z[i] = s->omega * s->dinv[i] * r[i] + mo_csr_row_product(&s->L, i, z);
            }
        }
        for (int32_t c = sweep->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
            for (int32_t m = sweep->colour[c]; m < sweep->colour[c + 1]; m++) {
                int32_t g = sweep->member[m];
                for (int32_t i = sweep->group[g + 1] - 1; i >= sweep->group[g]; i--)
                    z[i] = (2 - s->omega) * z[i] + mo_csr_row_product(&s->U, i, z);
            }
        }
    }
}
