// Pieces and null spaces.
#include "system/pieces.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

void mo_pieces_destroy(mo_pieces *p)
{
    mo_free(p->of), mo_free(p->kind), mo_free(p->rows), mo_free(p->sum), mo_free(p->weight);
    *p = (mo_pieces){0};
}

static bool is_hard(const mo_pieces *p, int32_t i) { return !p->hard || p->hard[i]; }

// Pieces of the graph of hard rows; -1 = no memory.
static int32_t hard_components(const mo_csr *A, mo_pieces *p)
{
    if (!p->hard) return mo_csr_components(A, p->of);
    mo_csr sub; // the hard rows alone; p->of holds their numbers, then their labels
    int32_t rows = 0, pieces = -1, *label = NULL;
    int64_t entries = 0;
    for (int32_t i = 0; i < A->rows; i++) p->of[i] = p->hard[i] ? rows++ : -1;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) entries += p->hard[i] && p->hard[A->col[k]];
    label = mo_alloc(sizeof(int32_t) * (size_t)rows);
    if (mo_csr_create(rows, rows, entries, &sub) == MO_OK && label) {
        int64_t at = 0;
        for (int32_t i = 0; i < A->rows; i++) {
            for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
                if (p->hard[i] && p->hard[A->col[k]]) sub.col[at++] = p->of[A->col[k]];
            if (p->hard[i]) sub.row[p->of[i] + 1] = at;
        }
        pieces = mo_csr_components(&sub, label);
        for (int32_t i = 0; i < A->rows; i++)
            if (p->hard[i]) p->of[i] = label[p->of[i]];
    }
    mo_csr_destroy(&sub);
    mo_free(label);
    return pieces;
}

// Whether a constant pressure in the piece moves some unknown; on immersed solids it adds up to rounding errors only.
// force: [2 columns of R].
static bool pushes(const mo_pieces *p, const mo_csr *R, int32_t piece, double *force)
{
    double *sum = force, *size = force + R->cols;
    bool any = false;
    memset(force, 0, sizeof(double) * 2 * (size_t)R->cols);
    for (int32_t i = 0; i < R->rows; i++)
        for (int64_t k = R->row[i]; p->of[i] == piece && k < R->row[i + 1]; k++)
            sum[R->col[k]] += R->val[k], size[R->col[k]] += fabs(R->val[k]);
    double largest = mo_max_abs(R->cols, size); // columns along a sheet have rounding errors only
    for (int32_t e = 0; e < R->cols; e++) any |= fabs(sum[e]) > 1e-5 * size[e] + 1e-12 * largest;
    return any;
}

static void find_kinds(const mo_csr *A, int32_t groups, const mo_csr *on, double *force, mo_pieces *p)
{
    memset(p->kind, MO_PIECE_ENCLOSED, (size_t)p->count);
    memset(p->rows, 0, sizeof(int32_t) * (size_t)p->count);
    for (int32_t i = 0; i < A->rows; i++) {
        double sum = 0, size = 0;
        if (!is_hard(p, i)) continue;
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            if (is_hard(p, A->col[k])) sum += A->val[k], size += fabs(A->val[k]);
        if (fabs(sum) > 1e-12 * size) p->kind[p->of[i]] = MO_PIECE_OPEN;
        p->rows[p->of[i]]++;
    }
    for (int32_t q = 0; q < p->count; q++) {
        for (int32_t g = 0; g < groups && p->kind[q] == MO_PIECE_ENCLOSED; g++)
            if (pushes(p, &on[g], q, force)) p->kind[q] = MO_PIECE_PUSHES;
        p->enclosed += p->kind[q] == MO_PIECE_ENCLOSED, p->pushing += p->kind[q] == MO_PIECE_PUSHES;
    }
}

mo_status mo_pieces_create(const mo_csr *A, const uint8_t *hard, int32_t groups, const mo_csr *on, mo_pieces *p)
{
    MO_ASSERT(A->rows == A->cols);
    *p = (mo_pieces){.hard = hard, .of = mo_alloc(sizeof(int32_t) * (size_t)A->rows)};
    int32_t most = 0;
    for (int32_t g = 0; g < groups; g++) most = on[g].cols > most ? on[g].cols : most;
    double *force = mo_alloc(sizeof(double) * 2 * (size_t)most);
    if (p->of && force && (p->count = hard_components(A, p)) >= 0) {
        size_t n = (size_t)p->count;
        p->kind = mo_alloc(n), p->rows = mo_alloc(sizeof(int32_t) * n);
        p->sum = mo_alloc(sizeof(double) * n), p->weight = mo_alloc(sizeof(double) * n);
    }
    bool ok = p->kind && p->rows && p->sum && p->weight;
    if (ok) find_kinds(A, groups, on, force, p);
    mo_free(force);
    if (ok) return MO_OK;
    mo_pieces_destroy(p);
    return MO_ERROR_MEMORY;
}

int32_t mo_pieces_project(mo_pieces *p, int32_t n, const double *weight, double *v, double notable)
{
    MO_ASSERT(n >= 0 && notable >= 0);
    int32_t exceeded = 0;
    if (!p->enclosed) return 0;
    memset(p->sum, 0, sizeof(double) * (size_t)p->count);
    memset(p->weight, 0, sizeof(double) * (size_t)p->count);
    for (int32_t i = 0; i < n; i++)
        if (is_hard(p, i)) p->sum[p->of[i]] += v[i], p->weight[p->of[i]] += weight ? weight[i] : 1;
    for (int32_t q = 0; q < p->count; q++) {
        bool enclosed = p->kind[q] == MO_PIECE_ENCLOSED;
        exceeded += enclosed && fabs(p->sum[q]) > notable * p->rows[q];
        p->sum[q] = enclosed && p->weight[q] > 0 ? p->sum[q] / p->weight[q] : 0;
    }
    for (int32_t i = 0; i < n; i++)
        if (is_hard(p, i)) v[i] -= p->sum[p->of[i]] * (weight ? weight[i] : 1);
    return exceeded;
}

int32_t mo_pieces_relax(mo_pieces *p, const mo_csr *A, double tolerance, double *b, double *diagonal)
{
    if (!p->enclosed) return 0;
    double notable = tolerance * mo_max_abs(A->rows, b);
    mo_csr_diagonal(A, diagonal);
    return mo_pieces_project(p, A->rows, diagonal, b, notable);
}

void mo_pieces_firm(const mo_pieces *p, mo_csr *A)
{
    const double little = 1e-3; // far above rounding errors of floats, and too small to matter for anything but means
    for (int32_t i = 0; i < A->rows && p->pushing; i++)
        for (int64_t k = A->row[i]; p->kind[p->of[i]] == MO_PIECE_PUSHES && k < A->row[i + 1]; k++)
            if (A->col[k] == i) A->val[k] *= 1 + little;
}
