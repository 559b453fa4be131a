// Multifrontal Cholesky factorisation (Duff, Reid 1983; Liu 1992). Supernode after supernode: its front gathers the
// entries of A and the updates that its children left, its columns are factored, and what they take from the rows below
// is left as an update for its parent. Updates lie on a stack: children come directly before their parent.
#include "sparse/cholesky_parts.h"
#include <string.h>

void mo_cholesky_destroy(mo_cholesky *c)
{
    if (!c) return;
    mo_free(c->order), mo_free(c->place), mo_free(c->first), mo_free(c->parent), mo_free(c->below), mo_free(c->vertex);
    mo_free(c->panel), mo_free(c->value), mo_free(c->update), mo_free(c->local), mo_free(c->target), mo_free(c->held);
    mo_free(c->x), mo_free(c->part), mo_free(c->sum), mo_free(c->child), mo_free(c->sibling);
    mo_free(c);
}

static bool create_tree(mo_cholesky *c)
{
    size_t n = (size_t)c->vertices;
    c->order = mo_alloc(sizeof(int32_t) * n), c->place = mo_alloc(sizeof(int32_t) * n);
    c->first = mo_alloc(sizeof(int32_t) * (n + 1)), c->parent = mo_alloc(sizeof(int32_t) * n);
    c->child = mo_alloc(sizeof(int32_t) * n), c->sibling = mo_alloc(sizeof(int32_t) * n);
    c->below = mo_alloc(sizeof(int64_t) * (n + 1)), c->panel = mo_alloc(sizeof(int64_t) * (n + 1));
    return c->order && c->place && c->first && c->parent && c->child && c->sibling && c->below && c->panel;
}

static bool create_values(mo_cholesky *c)
{
    size_t columns = 0, below = 0;
    for (int32_t s = 0; s < c->nodes; s++) {
        size_t w = (size_t)mo_strips(mo_node_columns(c, s)) * LANES, m = (size_t)mo_strips(mo_node_below(c, s)) * LANES;
        if (w > columns) columns = w;
        if (m > below) below = m;
    }
    c->value = mo_alloc(sizeof(double) * (size_t)c->panel[c->nodes]);
    c->update = mo_alloc(sizeof(double) * (size_t)c->stack);
    c->local = mo_calloc(sizeof(int32_t) * (size_t)c->vertices);
    c->target = mo_alloc(sizeof(int32_t) * (below + 1));
    c->x = mo_alloc(sizeof(double) * LANES * (size_t)c->rows);
    c->part = mo_alloc(sizeof(double) * LANES * (columns + below));
    c->sum = mo_alloc(sizeof(double) * LANES * LANES * columns);
    c->held = mo_calloc((size_t)c->rows);
    c->widest = (int64_t)columns, c->longest = (int64_t)below;
    return c->value && c->update && c->local && c->target && c->x && c->part && c->sum && c->held;
}

static mo_status create(const mo_csr *A, mo_cholesky *c, mo_error *err)
{
    if (!create_tree(c)) return mo_fail_memory(err);
    MO_TRY(mo_cholesky_analyse(A, c, err));
    return create_values(c) ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cholesky_create(const mo_csr *A, int32_t block, mo_cholesky **out, mo_error *err)
{
    *out = NULL;
    if (block < 1 || block > 3)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: blocks have 1, 2 or 3 rows, not %d", block);
    if (A->rows != A->cols || A->rows % block)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: a matrix of %d x %d has no square blocks of %d", A->rows,
                       A->cols, block);
    mo_cholesky *c = mo_calloc(sizeof *c);
    if (!c) return mo_fail_memory(err);
    c->block = block, c->rows = A->rows, c->vertices = A->rows / block;
    mo_status status = create(A, c, err);
    if (status == MO_OK)
        *out = c;
    else
        mo_cholesky_destroy(c);
    return status;
}

int64_t mo_cholesky_entries(const mo_cholesky *c) { return c->entries; }
double mo_cholesky_flops(const mo_cholesky *c) { return c->flops; }

int64_t mo_cholesky_bytes(const mo_cholesky *c)
{
    int64_t numbers = 7 * (int64_t)c->vertices + c->longest + (c->nodes ? c->below[c->nodes] : 0);
    int64_t doubles = c->panel[c->nodes] + c->stack + LANES * (c->rows + c->widest + c->longest) +
                      LANES * LANES * c->widest + 2 * (int64_t)c->vertices;
    return 4 * numbers + 8 * doubles + c->rows;
}

// ---- Factorisation ----

typedef struct front {
    int32_t node, columns, width, below; // rows of its own, padded; rows below
    double *panel;                       // width columns: own rows in width / 4 strips, rows below behind them
    double *update;                      // lower half of rows below x rows below
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
    for (int32_t i = c->first[f->node], row = 0; i < c->first[f->node + 1]; i++, row += c->block) c->local[i] = row;
    int32_t row = f->width;
    for (int64_t e = c->below[f->node]; e < c->below[f->node + 1]; e++, row += c->block) c->local[c->vertex[e]] = row;
}

// Is vertex k (a place in the order, not before the front's own) a row of the front? Rows below are in ascending order.
static bool is_row(const mo_cholesky *c, const front *f, int32_t k)
{
    if (k < c->first[f->node + 1]) return true;
    int32_t row = c->local[k] - f->width;
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
        int32_t row = c->local[k] + j % c->block;
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
static void add_update(const mo_cholesky *c, const front *f, int32_t child, const double *update)
{
    int32_t *row = c->target, n = 0, own = 0;
    for (int64_t e = c->below[child]; e < c->below[child + 1]; e++)
        for (int32_t k = 0; k < c->block; k++) row[n++] = c->local[c->vertex[e]] + k;
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

// Doubles of the update that a supernode leaves.
static int64_t update_size(const mo_cholesky *c, int32_t node)
{
    return mo_triangle(mo_strips(mo_node_below(c, node)));
}

// The front of a node. Its update comes on top of the stack, above its children's, then takes their place.
static mo_status factor_front(mo_cholesky *c, const mo_csr *A, int32_t node, double **top, bool *positive,
                              mo_error *err)
{
    front f = {.node = node, .columns = mo_node_columns(c, node), .below = mo_node_below(c, node)};
    int64_t size = update_size(c, node);
    f.width = LANES * mo_strips(f.columns), f.panel = c->value + c->panel[node], f.update = *top;
    memset(f.panel, 0, sizeof(double) * (size_t)(c->panel[node + 1] - c->panel[node]));
    memset(f.update, 0, sizeof(double) * (size_t)size);
    number_rows(c, &f);
    if (!add_matrix(c, A, &f))
        return mo_fail(err, MO_ERROR_INPUT,
                       "cholesky: the matrix has an entry outside the pattern it was created with");
    double *bottom = *top;
    for (int32_t child = c->child[node]; child >= 0; child = c->sibling[child]) { // the last is on top
        bottom -= update_size(c, child);
        add_update(c, &f, child, bottom);
    }
    memmove(bottom, f.update, sizeof(double) * (size_t)size);
    *top = bottom + size;
    *positive = mo_panel_factor(f.width, f.width / LANES + mo_strips(f.below), f.panel);
    if (*positive) mo_panel_update(f.width, mo_strips(f.below), f.panel + (int64_t)f.width * f.width, bottom);
    return MO_OK;
}

mo_status mo_cholesky_factor(mo_cholesky *c, const mo_csr *A, const uint8_t *held, bool *positive, mo_error *err)
{
    *positive = true;
    c->factored = false;
    if (A->rows != c->rows || A->cols != c->rows)
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: %d rows and %d columns, but it was created for %d", A->rows,
                       A->cols, c->rows);
    for (int32_t i = 0; i < c->rows; i++) c->held[i] = held && held[i];
    double *top = c->update;
    for (int32_t node = 0; node < c->nodes && *positive; node++) MO_TRY(factor_front(c, A, node, &top, positive, err));
    c->factored = *positive;
    return MO_OK;
}
