// Multifrontal Cholesky factorisation (Duff, Reid 1983; Liu 1992). Supernode after supernode: its front gathers the
// entries of A and the updates that its children left, its columns are factored, and what they take from the rows below
// is left as an update for its parent.
#include "sparse/cholesky_parts.h"
#include <string.h>

void mo_cholesky_destroy(mo_cholesky *c)
{
    if (!c) return;
    mo_free(c->order), mo_free(c->place), mo_free(c->first), mo_free(c->parent), mo_free(c->child), mo_free(c->sibling);
    mo_free(c->below), mo_free(c->vertex), mo_free(c->into), mo_free(c->panel), mo_free(c->value), mo_free(c->turn);
    mo_free(c->fresh), mo_free(c->kept), mo_free(c->update), mo_free(c->x), mo_free(c->held);
    for (int32_t b = 0; b < MO_BINS; b++) {
        mo_cholesky_work *w = &c->work[b];
        mo_free(w->local), mo_free(w->target), mo_free(w->part), mo_free(w->sum);
    }
    mo_free(c);
}

static bool create_tree(mo_cholesky *c)
{
    size_t n = (size_t)c->vertices, numbers = sizeof(int32_t) * n, places = sizeof(int64_t) * (n + 1);
    c->order = mo_alloc(numbers), c->place = mo_alloc(numbers), c->turn = mo_alloc(numbers);
    c->first = mo_alloc(numbers + sizeof(int32_t)), c->parent = mo_alloc(numbers);
    c->child = mo_alloc(numbers), c->sibling = mo_alloc(numbers);
    c->below = mo_alloc(places), c->panel = mo_alloc(places), c->fresh = mo_alloc(places), c->kept = mo_alloc(places);
    return c->order && c->place && c->turn && c->first && c->parent && c->child && c->sibling && c->below && c->panel &&
           c->fresh && c->kept;
}

static bool create_work(const mo_cholesky *c, mo_cholesky_work *w)
{
    w->local = mo_calloc(sizeof(int32_t) * (size_t)c->vertices);
    w->target = mo_alloc(sizeof(int32_t) * (size_t)c->longest);
    w->part = mo_alloc(sizeof(double) * LANES * (size_t)(c->widest + c->longest));
    w->sum = mo_alloc(sizeof(double) * LANES * LANES * (size_t)c->widest);
    return w->local && w->target && w->part && w->sum;
}

static bool create_values(mo_cholesky *c)
{
    c->value = mo_alloc(sizeof(double) * (size_t)c->panel[c->nodes]);
    c->update = mo_alloc(sizeof(double) * (size_t)c->stack);
    c->x = mo_alloc(sizeof(double) * LANES * (size_t)c->rows);
    c->held = mo_calloc((size_t)c->rows);
    for (int32_t b = 0; b < c->bins; b++)
        if (!create_work(c, &c->work[b])) return false;
    return c->value && c->update && c->x && c->held;
}

static mo_status create(const mo_csr *A, mo_cholesky *c, mo_error *err)
{
    if (!create_tree(c)) return mo_fail_memory(err);
    MO_TRY(mo_cholesky_analyse(A, c, err));
    return create_values(c) ? MO_OK : mo_fail_memory(err);
}

static mo_status create_new(const mo_csr *A, mo_cholesky start, mo_cholesky **out, mo_error *err)
{
    mo_cholesky *c = mo_alloc(sizeof *c);
    if (!c) return mo_fail_memory(err);
    *c = start;
    mo_status status = create(A, c, err);
    c->group = NULL;
    if (status == MO_OK)
        *out = c;
    else
        mo_cholesky_destroy(c);
    return status;
}

mo_status mo_cholesky_create(const mo_csr *A, int32_t block, mo_cholesky **out, mo_error *err)
{
    *out = NULL;
    if (block < 1 || block > 3)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: blocks have 1, 2 or 3 rows, not %d", block);
    if (A->rows != A->cols || A->rows % block)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: a matrix of %d x %d has no square blocks of %d", A->rows,
                       A->cols, block);
    return create_new(A, (mo_cholesky){.block = block, .rows = A->rows, .vertices = A->rows / block}, out, err);
}

mo_status mo_cholesky_create_grouped(const mo_csr *A, int32_t groups, const int32_t *group, mo_cholesky **out,
                                     mo_error *err)
{
    *out = NULL;
    if (A->rows != A->cols)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: a matrix of %d x %d is not square", A->rows, A->cols);
    mo_cholesky start = {.block = 1, .rows = A->rows, .vertices = A->rows, .groups = groups, .group = group};
    return create_new(A, start, out, err);
}

int64_t mo_cholesky_entries(const mo_cholesky *c) { return c->entries; }
int64_t mo_cholesky_bytes(const mo_cholesky *c)
{
    int64_t n = c->vertices, below = c->nodes ? c->below[c->nodes] : 0;
    int64_t work = 4 * (n + c->longest) + 8 * LANES * (c->widest + c->longest + LANES * c->widest);
    return (4 * 7 + 8 * 4) * n + 4 * 2 * below + 8 * (c->panel[c->nodes] + c->stack) +
           (8 * LANES + 1) * (int64_t)c->rows + c->bins * work;
}

// ---- Factorisation ----

typedef struct front {
    int32_t node, columns, width, below; // rows of its own, padded; rows below
    double *panel;                       // width columns: own rows in width / 4 strips, rows below behind them
    double *update;                      // lower half of rows below x rows below
    mo_cholesky_work *work;
} front;

// Row of a front, counted with the padding -> offset of its column 0.
static inline int64_t panel_row(const front *f, int32_t row)
{
    return (int64_t)(row / LANES) * LANES * f->width + row % LANES;
}
static inline int64_t update_row(int32_t row) { return mo_triangle(row / LANES) + row % LANES; }

// Rows of the front: local[vertex] of its first one.
static void number_rows(const mo_cholesky *c, const front *f)
{
    for (int32_t i = c->first[f->node], row = 0; i < c->first[f->node + 1]; i++, row += c->block)
        f->work->local[i] = row;
    int32_t row = f->width;
    for (int64_t e = c->below[f->node]; e < c->below[f->node + 1]; e++, row += c->block)
        f->work->local[c->vertex[e]] = row;
}

// Is vertex k (a place in the order, not before the front's own) a row of the front? Rows below are in ascending order.
static bool is_row(const mo_cholesky *c, const front *f, int32_t k)
{
    if (k < c->first[f->node + 1]) return true;
    int32_t row = f->work->local[k] - f->width;
    if (row < 0 || row >= f->below) return false;
    return c->vertex[c->below[f->node] + row / c->block] == k;
}

// Entries of A in column `column` of the front, which is row i of A. False: one is outside the pattern.
static bool add_column(const mo_cholesky *c, const mo_csr *A, const front *f, int32_t i, int32_t column)
{
    double *to = f->panel + (int64_t)LANES * column;
    if (c->held[i]) {
        to[panel_row(f, column)] = 1;
        return true;
    }
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) {
        int32_t j = A->col[e], k = c->place[j / c->block];
        if (k < c->first[f->node] || c->held[j]) continue;
        if (!is_row(c, f, k)) return false;
        int32_t row = f->work->local[k] + j % c->block;
        if (row >= column) to[panel_row(f, row)] += A->val[e];
    }
    return true;
}

static bool add_matrix(const mo_cholesky *c, const mo_csr *A, const front *f)
{
    for (int32_t k = 0; k < f->columns; k++) {
        int32_t i = c->order[c->first[f->node] + k / c->block] * c->block + k % c->block;
        if (!add_column(c, A, f, i, k)) return false;
    }
    for (int32_t k = f->columns; k < f->width; k++) f->panel[panel_row(f, k) + (int64_t)LANES * k] = 1;
    return true;
}

// Adds the update of a child: its rows below are rows of the front.
static void add_update(const mo_cholesky *c, const front *f, int32_t child)
{
    const double *update = c->update + c->kept[child];
    int32_t *row = f->work->target, n = 0, own = 0;
    for (int64_t e = c->below[child]; e < c->below[child + 1]; e++)
        for (int32_t k = 0; k < c->block; k++) row[n++] = c->into[e] + k;
    while (own < n && row[own] < f->width) own++;
    for (int32_t i = 0; i < n; i++) {
        const double *from = update + update_row(i);
        double *to = f->panel + panel_row(f, row[i]);
        int32_t end = i + 1 < own ? i + 1 : own, k = 0;
        for (; k < end; k++) to[LANES * (int64_t)row[k]] += from[LANES * k];
        if (i < own) continue;
        to = f->update + update_row(row[i] - f->width) - LANES * (int64_t)f->width;
        for (; k <= i; k++) to[LANES * (int64_t)row[k]] += from[LANES * k];
    }
}

typedef enum outcome { FACTORED, NOT_POSITIVE, OUTSIDE_PATTERN } outcome;

static outcome factor_front(const mo_cholesky *c, const mo_csr *A, int32_t node, mo_cholesky_work *work)
{
    front f = {.node = node, .columns = mo_node_columns(c, node), .below = mo_node_below(c, node), .work = work};
    int32_t strips = mo_strips(f.below);
    size_t size = sizeof(double) * (size_t)mo_triangle(strips);
    f.width = LANES * mo_strips(f.columns), f.panel = c->value + c->panel[node], f.update = c->update + c->fresh[node];
    memset(f.panel, 0, sizeof(double) * (size_t)(c->panel[node + 1] - c->panel[node]));
    memset(f.update, 0, size);
    number_rows(c, &f);
    if (!add_matrix(c, A, &f)) return OUTSIDE_PATTERN;
    for (int32_t child = c->child[node]; child >= 0; child = c->sibling[child]) add_update(c, &f, child);
    f.update = memmove(c->update + c->kept[node], f.update, size);
    if (!mo_panel_factor(f.width, f.width / LANES + strips, f.panel)) return NOT_POSITIVE;
    mo_panel_update(f.width, strips, f.panel + (int64_t)f.width * f.width, f.update);
    return FACTORED;
}

static outcome factor_bin(mo_cholesky *c, const mo_csr *A, int32_t bin)
{
    outcome result = FACTORED;
    for (int32_t k = c->bin[bin]; k < c->bin[bin + 1] && result == FACTORED; k++)
        result = factor_front(c, A, c->turn[k], &c->work[bin < c->bins ? bin : 0]);
    return result;
}

static outcome factor(mo_cholesky *c, const mo_csr *A)
{
    outcome result[MO_BINS] = {FACTORED};
#pragma omp parallel for schedule(dynamic, 1) if (c->bins > 1)
    for (int32_t bin = 0; bin < c->bins; bin++) result[bin] = factor_bin(c, A, bin);
    for (int32_t bin = 0; bin < c->bins; bin++)
        if (result[bin] == OUTSIDE_PATTERN) return OUTSIDE_PATTERN;
    for (int32_t bin = 0; bin < c->bins; bin++)
        if (result[bin] != FACTORED) return result[bin];
    return factor_bin(c, A, c->bins);
}

mo_status mo_cholesky_factor(mo_cholesky *c, const mo_csr *A, const uint8_t *held, bool *positive, mo_error *err)
{
    *positive = c->factored = false;
    if (A->rows != c->rows || A->cols != c->rows)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: %d rows and %d columns, but it was created for %d", A->rows,
                       A->cols, c->rows);
    for (int32_t i = 0; i < c->rows; i++) c->held[i] = held && held[i];
    outcome result = factor(c, A);
    if (result == OUTSIDE_PATTERN)
        return mo_fail(err, MO_ERROR_INPUT,
                       "cholesky: the matrix has an entry outside the pattern it was created with");
    *positive = c->factored = result == FACTORED;
    return MO_OK;
}
