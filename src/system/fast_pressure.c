// The pressure's part of the fast route: its Poisson problem, null spaces, Schur complement.
#include "base/parallel.h"
#include "sparse/dense.h"
#include "system/fast_solver.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096, MOST_WET = 36 };

mo_status mo_fast_poisson(mo_fast *s)
{
    const mo_fast_form *f = &s->form;
    double *weight = mo_alloc(sizeof(double) * (size_t)f->faces);
    mo_csr Bt = {0};
    mo_status status = weight ? mo_csr_transpose(&f->pressure->fluid, &Bt) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        for (int32_t i = 0; i < f->faces; i++) weight[i] = f->system->dt / f->system->mass[i];
        status = mo_csr_weighted_square(&f->pressure->fluid, &Bt, weight, &s->L);
    }
    mo_csr_destroy(&Bt);
    mo_free(weight);
    return status;
}

// A constant pressure in a piece that moves some body is no null space: on bodies immersed it adds up to nothing but
// rounding.
static mo_status exclude_pushing(mo_fast *s)
{
    const mo_fast_form *f = &s->form;
    size_t n = (size_t)f->extra * (size_t)s->pieces;
    double *sum = mo_calloc(sizeof(double) * 2 * n), *size = sum + n;
    if (!sum) return MO_ERROR_MEMORY;
    for (int32_t r = 0; r < f->pressures; r++)
        for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++) {
            if (f->Bp.col[k] < f->faces) continue;
            size_t at = (size_t)s->piece[r] * (size_t)f->extra + (size_t)(f->Bp.col[k] - f->faces);
            sum[at] += f->Bp.val[k], size[at] += fabs(f->Bp.val[k]);
        }
    for (size_t k = 0; k < n; k++)
        if (fabs(sum[k]) > 1e-5 * size[k]) s->enclosed[k / (size_t)f->extra] = 0;
    mo_free(sum);
    return MO_OK;
}

// Pieces whose rows all sum to zero touch no free surface: constants are their null space.
mo_status mo_fast_find_enclosed(mo_fast *s)
{
    const mo_csr *L = &s->L;
    s->piece = mo_alloc(sizeof(int32_t) * (size_t)L->rows);
    if (!s->piece || (s->pieces = mo_csr_components(L, s->piece)) < 0) return MO_ERROR_MEMORY;
    s->enclosed = mo_alloc((size_t)s->pieces);
    if (!s->enclosed) return MO_ERROR_MEMORY;
    memset(s->enclosed, 1, (size_t)s->pieces);
    for (int32_t i = 0; i < L->rows; i++) {
        double sum = 0, size = 0;
        for (int64_t k = L->row[i]; k < L->row[i + 1]; k++) sum += L->val[k], size += fabs(L->val[k]);
        if (fabs(sum) > 1e-12 * size) s->enclosed[s->piece[i]] = 0;
    }
    MO_TRY(exclude_pushing(s));
    s->enclosed_pieces = 0;
    for (int32_t q = 0; q < s->pieces; q++) s->enclosed_pieces += s->enclosed[q];
    return MO_OK;
}

int32_t mo_fast_remove_means(const mo_fast *s, const double *weight, double *v, double notable)
{
    double *sum = mo_calloc(sizeof(double) * 3 * ((size_t)s->pieces + 1)), *all = sum + s->pieces,
           *count = all + s->pieces;
    int32_t exceeded = 0;
    if (!sum) return -1;
    for (int32_t i = 0; i < s->L.rows; i++)
        sum[s->piece[i]] += v[i], all[s->piece[i]] += weight ? weight[i] : 1, count[s->piece[i]]++;
    for (int32_t q = 0; q < s->pieces; q++) {
        exceeded += s->enclosed[q] && fabs(sum[q]) > notable * count[q];
        sum[q] = s->enclosed[q] && all[q] > 0 ? sum[q] / all[q] : 0;
    }
    for (int32_t i = 0; i < s->L.rows; i++) v[i] -= sum[s->piece[i]] * (weight ? weight[i] : 1);
    mo_free(sum);
    return exceeded;
}

// b V^-1 b^T of one row, V = K less the mass, restricted to the faces of the row's cell.
static double local_schur(const mo_fast_form *f, int32_t r, double least)
{
    enum { FACES = 8 };
    double A[FACES * FACES] = {0}, b[FACES], y[FACES], sum = 0;
    int32_t face[FACES], n = 0;
    for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1] && n < FACES; k++)
        if (f->Bp.col[k] < f->faces) face[n] = f->Bp.col[k], b[n] = y[n] = f->Bp.val[k], n++;
    for (int32_t i = 0; i < n; i++) {
        for (int64_t k = f->K.row[face[i]]; k < f->K.row[face[i] + 1]; k++)
            for (int32_t j = 0; j < n; j++)
                if (face[j] == f->K.col[k]) A[i * n + j] = f->K.val[k];
        A[i * n + i] = fmax(A[i * n + i] - f->mass[face[i]], least);
    }
    mo_dense_factor(n, A, 1e-13);
    mo_dense_solve(n, A, y);
    for (int32_t i = 0; i < n; i++) sum += b[i] * y[i];
    return sum;
}

// Inside the liquid 7/3 eta times this factor; less is better there, as cut cells are stiffer than they look.
mo_status mo_fast_viscous_schur(mo_fast *s)
{
    const double factor = 0.7;
    const mo_fast_form *f = &s->form;
    double largest = 0;
    if (!(s->wd = mo_alloc(sizeof(double) * (size_t)f->pressures))) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < f->faces; i++)
        for (int64_t k = f->K.row[i]; k < f->K.row[i + 1]; k++)
            if (f->K.col[k] == i) largest = fmax(largest, f->K.val[k] - f->mass[i]);
#pragma omp parallel for schedule(static) if (f->pressures > SMALL)
    for (int32_t r = 0; r < f->pressures; r++) {
        double sum = local_schur(f, r, 1e-14 * largest);
        s->wd[r] = sum > 0 ? factor / sum : 0;
    }
    return MO_OK;
}

// ---- Specks ----

enum { SPECK = 8, SPECK_FACES = 6 * SPECK };

void mo_fast_specks_destroy(mo_fast_specks *k)
{
    mo_free(k->first), mo_free(k->row), mo_free(k->start), mo_free(k->factor);
    *k = (mo_fast_specks){0};
}

static mo_status list_specks(const mo_fast *s, mo_fast_specks *k)
{
    int32_t *size = mo_calloc(sizeof(int32_t) * (size_t)s->pieces),
            *number = mo_alloc(sizeof(int32_t) * (size_t)s->pieces);
    if (size && number) {
        for (int32_t i = 0; i < s->L.rows; i++) size[s->piece[i]]++;
        for (int32_t q = 0; q < s->pieces; q++) {
            number[q] = size[q] <= SPECK && !s->enclosed[q] ? k->count++ : -1;
            k->rows += number[q] < 0 ? 0 : size[q];
        }
        k->first = mo_calloc(sizeof(int32_t) * ((size_t)k->count + 1));
        k->start = mo_calloc(sizeof(int64_t) * ((size_t)k->count + 1));
        k->row = mo_alloc(sizeof(int32_t) * (size_t)k->rows);
    }
    bool ok = size && number && k->first && k->start && k->row;
    for (int32_t q = 0; ok && q < s->pieces; q++) {
        int32_t m = number[q];
        if (m >= 0) k->first[m + 1] = k->first[m] + size[q], k->start[m + 1] = k->start[m] + size[q] * size[q];
        size[q] = 0;
    }
    for (int32_t i = 0; ok && i < s->L.rows; i++) {
        int32_t q = s->piece[i];
        if (number[q] >= 0) k->row[k->first[number[q]] + size[q]++] = i;
    }
    mo_free(size), mo_free(number);
    return ok ? MO_OK : MO_ERROR_MEMORY;
}

// B K^-1 B^T of one speck, with K restricted to its faces.
static void form_speck(const mo_fast_form *f, const int32_t *row, int32_t rows, double *S)
{
    int32_t face[SPECK_FACES], n = 0;
    double A[SPECK_FACES * SPECK_FACES] = {0}, B[SPECK][SPECK_FACES] = {{0}}, y[SPECK_FACES];
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = f->Bp.row[row[i]]; k < f->Bp.row[row[i] + 1]; k++) {
            int32_t m = 0, c = f->Bp.col[k];
            if (c >= f->faces) continue;
            while (m < n && face[m] != c) m++;
            if (m == n) face[n++] = c;
            B[i][m] = f->Bp.val[k];
        }
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = f->K.row[face[i]]; k < f->K.row[face[i] + 1]; k++)
            for (int32_t j = 0; j < n; j++)
                if (face[j] == f->K.col[k]) A[i * n + j] = f->K.val[k];
    mo_dense_factor(n, A, 1e-13);
    for (int32_t i = 0; i < rows; i++) {
        memcpy(y, B[i], sizeof(double) * (size_t)n);
        mo_dense_solve(n, A, y);
        for (int32_t j = 0; j < rows; j++) {
            S[j * rows + i] = 0;
            for (int32_t m = 0; m < n; m++) S[j * rows + i] += B[j][m] * y[m];
        }
    }
    mo_dense_factor(rows, S, 1e-13);
}

mo_status mo_fast_find_specks(mo_fast *s)
{
    mo_fast_specks *k = &s->specks;
    MO_TRY(list_specks(s, k));
    k->factor = mo_alloc(sizeof(double) * (size_t)k->start[k->count]);
    if (!k->factor) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (k->count > 64)
    for (int32_t m = 0; m < k->count; m++)
        form_speck(&s->form, k->row + k->first[m], k->first[m + 1] - k->first[m], k->factor + k->start[m]);
    return MO_OK;
}

void mo_fast_specks_apply(const mo_fast_specks *k, const double *r, double *z)
{
    for (int32_t m = 0; m < k->count; m++) {
        double x[SPECK];
        const int32_t *row = k->row + k->first[m];
        int32_t n = k->first[m + 1] - k->first[m];
        for (int32_t i = 0; i < n; i++) x[i] = r[row[i]];
        mo_dense_solve(n, k->factor + k->start[m], x);
        for (int32_t i = 0; i < n; i++) z[row[i]] = x[i];
    }
}

// ---- Wet bodies ----

void mo_fast_wet_destroy(mo_fast_wet *w)
{
    mo_free(w->dof), mo_free(w->T);
    *w = (mo_fast_wet){0};
}

// Movable components of bodies that pressure pushes; few enough, or none.
static mo_status list_wet(const mo_fast *s, mo_fast_wet *w)
{
    const mo_fast_form *f = &s->form;
    const mo_csr *R = &f->pressure->rigid;
    uint8_t *wet = mo_calloc((size_t)f->extra);
    if (!wet) return MO_ERROR_MEMORY;
    for (int64_t k = 0; k < mo_csr_entries(R); k++)
        if (R->val[k] != 0 && f->dof[R->col[k]] >= 0) wet[f->dof[R->col[k]]] = 1;
    for (int32_t d = 0; d < f->extra; d++) w->count += wet[d];
    if (w->count > MOST_WET) w->count = 0;
    w->dof = mo_alloc(sizeof(int32_t) * (size_t)w->count);
    for (int32_t d = 0, n = 0; w->dof && w->count && d < f->extra; d++)
        if (wet[d]) w->dof[n++] = d;
    mo_free(wet);
    return w->dof ? MO_OK : MO_ERROR_MEMORY;
}

mo_status mo_fast_find_wet(mo_fast *s)
{
    const mo_fast_form *f = &s->form;
    const mo_csr *R = &f->pressure->rigid;
    mo_fast_wet *w = &s->wet;
    size_t rows = (size_t)f->pressures, extra = (size_t)f->extra;
    MO_TRY(list_wet(s, w));
    if (w->count == 0) return MO_OK;
    size_t count = (size_t)w->count;
    if (!(w->T = mo_calloc(sizeof(double) * (rows * (count + 1) + 3 * extra * extra + extra)))) return MO_ERROR_MEMORY;
    w->G = w->T + rows * (count + 1), w->core = w->G + 2 * extra * extra, w->x = w->core + extra * extra;
    for (int32_t m = 0; m < w->count; m++) { // T = L~ R, column by column
        double *column = s->work, *out = w->T + (size_t)m * rows;
        memset(column, 0, sizeof(double) * rows);
        for (int32_t r = 0; r < R->rows; r++)
            for (int64_t k = R->row[r]; k < R->row[r + 1]; k++)
                if (f->dof[R->col[k]] == w->dof[m]) column[r] += R->val[k] * f->scale[w->dof[m]];
        mo_multigrid_apply(s->cells, column, out);
        for (int32_t r = 0; r < R->rows; r++)
            for (int64_t k = R->row[r]; k < R->row[r + 1]; k++) {
                int32_t d = f->dof[R->col[k]];
                if (d >= 0) w->G[(size_t)d * extra + (size_t)w->dof[m]] += f->scale[d] * R->val[k] * out[r];
            }
    }
    mo_fast_load_wet(s, NULL);
    return MO_OK;
}

void mo_fast_load_wet(mo_fast *s, const double *springs)
{
    const mo_fast_form *f = &s->form;
    mo_fast_wet *w = &s->wet;
    int32_t n = f->extra;
    if (w->count == 0) return;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++)
            w->core[i * n + k] = 0.5 * (w->G[i * n + k] + w->G[k * n + i]) + (springs ? springs[i * n + k] : 0);
    for (int32_t k = 0; k < 6 * f->system->bodies; k++)
        for (int j = 0; j < 6; j++) {
            int32_t d = f->dof[k], e = f->dof[k / 6 * 6 + j];
            if (d >= 0 && e >= 0) w->core[d * n + e] += f->scale[d] * f->inertia[k][j] * f->scale[e];
        }
    mo_dense_factor(n, w->core, 1e-13);
}

void mo_fast_wet_apply(const mo_fast *s, const double *r, double *z)
{
    const mo_fast_wet *w = &s->wet;
    int32_t rows = s->form.pressures;
    if (w->count == 0) return;
    memset(w->x, 0, sizeof(double) * (size_t)s->form.extra);
    for (int32_t m = 0; m < w->count; m++) w->x[w->dof[m]] = mo_dot_product(rows, w->T + (size_t)m * (size_t)rows, r);
    mo_dense_solve(s->form.extra, w->core, w->x);
#pragma omp parallel for schedule(static) if (rows > SMALL)
    for (int32_t i = 0; i < rows; i++)
        for (int32_t m = 0; m < w->count; m++) z[i] -= w->T[(size_t)m * (size_t)rows + (size_t)i] * w->x[w->dof[m]];
}
