// Solves with the Cholesky factor: L y = b up the tree, L^T x = y down again. They read L twice and are bound by the
// memory. One right-hand side, or four at once in the lanes of a vector; every sum has the same terms in the same order
// in both, so that the bits are the same.
#include "sparse/cholesky_parts.h"
#include <string.h>

typedef struct side { // a supernode's part of a solve
    int32_t node, columns, width, below, lanes;
    const double *panel;
    double *own, *rest; // its unknowns, padded; those of the rows below, directly behind them
    double *sum;
} side;

static inline side side_of(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work, int32_t lanes)
{
    side s = {.node = node, .columns = mo_node_columns(c, node), .below = mo_node_below(c, node), .lanes = lanes};
    s.width = LANES * mo_strips(s.columns), s.panel = c->value + c->panel[node];
    s.own = work->part, s.rest = work->part + (int64_t)lanes * s.width, s.sum = work->sum;
    return s;
}

// Numbers of a vertex, a few at a time: with a known count the copies are a few instructions each.
static inline void add_listed(const int32_t *into, int64_t n, int32_t step, int32_t lanes, const double *list,
                              double *to)
{
    for (int64_t e = 0; e < n; e++, list += step)
        for (int32_t k = 0; k < step; k++) to[(int64_t)into[e] * lanes + k] += list[k];
}
static inline void copy_listed(const int32_t *vertex, int64_t n, int32_t step, const double *x, double *list)
{
    for (int64_t e = 0; e < n; e++, list += step)
        for (int32_t k = 0; k < step; k++) list[k] = x[(int64_t)vertex[e] * step + k];
}

static inline void fetch_own(const mo_cholesky *c, const side *s)
{
    int32_t lanes = s->lanes, pad = s->width - s->columns;
    memcpy(s->own, c->x + (int64_t)c->first[s->node] * c->block * lanes, sizeof(double) * (size_t)(s->columns * lanes));
    memset(s->own + (int64_t)s->columns * lanes, 0, sizeof(double) * (size_t)(pad * lanes));
}
static inline void store_own(const mo_cholesky *c, const side *s)
{
    int32_t lanes = s->lanes;
    memcpy(c->x + (int64_t)c->first[s->node] * c->block * lanes, s->own, sizeof(double) * (size_t)(s->columns * lanes));
}

// Upwards: a supernode takes its right-hand side and what its children left for it and for the rows below.
static inline void gather_children(const mo_cholesky *c, const side *s)
{
    int32_t lanes = s->lanes;
    fetch_own(c, s);
    memset(s->rest, 0, sizeof(double) * (size_t)(LANES * mo_strips(s->below) * lanes));
    for (int32_t d = c->child[s->node]; d >= 0; d = c->sibling[d]) {
        const int32_t *into = c->into + c->below[d];
        const double *left = c->update + c->kept[d];
        int64_t n = c->below[d + 1] - c->below[d];
        if (c->block == 3)
            add_listed(into, n, 3 * lanes, lanes, left, s->own);
        else if (c->block == 2)
            add_listed(into, n, 2 * lanes, lanes, left, s->own);
        else
            add_listed(into, n, lanes, lanes, left, s->own);
    }
}
static inline void leave_for_parent(const mo_cholesky *c, const side *s)
{
    store_own(c, s);
    memcpy(c->update + c->kept[s->node], s->rest, sizeof(double) * (size_t)(s->below * s->lanes));
}

// Downwards: the unknowns of the rows below are known.
static inline void gather_below(const mo_cholesky *c, const side *s)
{
    int32_t lanes = s->lanes, tail = LANES * mo_strips(s->below) - s->below;
    const int32_t *vertex = c->vertex + c->below[s->node];
    int64_t n = c->below[s->node + 1] - c->below[s->node];
    fetch_own(c, s);
    if (c->block == 3)
        copy_listed(vertex, n, 3 * lanes, c->x, s->rest);
    else if (c->block == 2)
        copy_listed(vertex, n, 2 * lanes, c->x, s->rest);
    else
        copy_listed(vertex, n, lanes, c->x, s->rest);
    memset(s->rest + (int64_t)s->below * lanes, 0, sizeof(double) * (size_t)(tail * lanes));
}

typedef void (*node_fn)(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work);

// From the leaves up: bins, then the rest; and back down.
static void walk(const mo_cholesky *c, node_fn up, node_fn down)
{
#pragma omp parallel for schedule(dynamic, 1) if (c->bins > 1)
    for (int32_t b = 0; b < c->bins; b++)
        for (int32_t k = c->bin[b]; k < c->bin[b + 1]; k++) up(c, c->turn[k], &c->work[b]);
    for (int32_t k = c->bin[c->bins]; k < c->nodes; k++) up(c, c->turn[k], &c->work[0]);
    for (int32_t k = c->nodes - 1; k >= c->bin[c->bins]; k--) down(c, c->turn[k], &c->work[0]);
#pragma omp parallel for schedule(dynamic, 1) if (c->bins > 1)
    for (int32_t b = 0; b < c->bins; b++)
        for (int32_t k = c->bin[b + 1] - 1; k >= c->bin[b]; k--) down(c, c->turn[k], &c->work[b]);
}

// ---- One right-hand side ----

// y -= four rows of a panel times the unknowns before them, even and odd columns apart.
static inline void strip_product(int32_t n, const double *strip, const double *x, double *y)
{
    const mo_lanes *a = (const mo_lanes *)strip;
    mo_lanes even = {0}, odd = {0};
    for (int32_t k = 0; k < n; k += 2) even += a[k] * x[k], odd += a[k + 1] * x[k + 1];
    *(mo_lanes *)y -= even + odd;
}

static void forward(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work)
{
    side s = side_of(c, node, work, 1);
    int64_t strip = (int64_t)LANES * s.width;
    gather_children(c, &s);
    const double *a = s.panel;
    for (int32_t i = 0; i < s.width; i += LANES, a += strip) {
        double *y = s.own + i;
        const double *t = a + (int64_t)LANES * i;
        strip_product(i, a, s.own, y);
        y[0] = y[0] * t[0];
        y[1] = (y[1] - y[0] * t[1]) * t[5];
        y[2] = (y[2] - y[0] * t[2] - y[1] * t[6]) * t[10];
        y[3] = (y[3] - y[0] * t[3] - y[1] * t[7] - y[2] * t[11]) * t[15];
    }
    for (int32_t i = 0; i < s.below; i += LANES, a += strip) strip_product(s.width, a, s.own, s.rest + i);
    leave_for_parent(c, &s);
}

// sum[k] += column k of the strip times the four unknowns of its rows, lane by lane.
static inline void strip_gather(int32_t n, const double *strip, const double *four, double *sum)
{
    const mo_lanes *a = (const mo_lanes *)strip, x = *(const mo_lanes *)four;
    mo_lanes *t = (mo_lanes *)sum;
    for (int32_t k = 0; k < n; k++) t[k] += a[k] * x;
}

static inline double across(const double *sum) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

static void backward(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work)
{
    side s = side_of(c, node, work, 1);
    int64_t strip = (int64_t)LANES * s.width;
    const double *a = s.panel + strip * (s.width / LANES);
    double *sum = s.sum;
    gather_below(c, &s);
    memset(sum, 0, sizeof(double) * (size_t)strip);
    for (int32_t i = 0; i < s.below; i += LANES, a += strip) strip_gather(s.width, a, s.rest + i, sum);
    a = s.panel + strip * (s.width / LANES);
    for (int32_t i = s.width - LANES; i >= 0; i -= LANES) {
        a -= strip;
        double *x = s.own + i;
        const double *t = a + (int64_t)LANES * i, *u = sum + (int64_t)LANES * i;
        for (int k = 0; k < LANES; k++) x[k] -= across(u + LANES * k);
        x[3] = x[3] * t[15];
        x[2] = (x[2] - x[3] * t[11]) * t[10];
        x[1] = (x[1] - x[3] * t[7] - x[2] * t[6]) * t[5];
        x[0] = (x[0] - x[3] * t[3] - x[2] * t[2] - x[1] * t[1]) * t[0];
        strip_gather(i, a, x, sum);
    }
    store_own(c, &s);
}

void mo_cholesky_solve(const mo_cholesky *c, const double *b, double *x)
{
    MO_ASSERT(c->factored);
    int32_t d = c->block;
    for (int32_t k = 0, at = 0; k < c->vertices; k++)
        for (int32_t i = c->order[k] * d, end = i + d; i < end; i++) c->x[at++] = c->held[i] ? 0 : b[i];
    walk(c, forward, backward);
    for (int32_t k = 0, at = 0; k < c->vertices; k++)
        for (int32_t i = c->order[k] * d, end = i + d; i < end; i++) x[i] = c->x[at++];
}

// ---- Four right-hand sides: each unknown is a vector of four numbers ----

// Four rows of a panel times the unknowns before them; y[row] -= the product.
static inline void subtract_product(int32_t n, const double *a, const mo_lanes *x, mo_lanes *y)
{
    mo_lanes even[LANES] = {{0}}, odd[LANES] = {{0}};
    for (int32_t k = 0; k < n; k += 2, a += 2 * LANES)
        for (int r = 0; r < LANES; r++) even[r] += x[k] * a[r], odd[r] += x[k + 1] * a[LANES + r];
    for (int r = 0; r < LANES; r++) y[r] -= even[r] + odd[r];
}

static void forward_many(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work)
{
    side s = side_of(c, node, work, LANES);
    int64_t strip = (int64_t)LANES * s.width;
    gather_children(c, &s);
    const double *a = s.panel;
    mo_lanes *own = (mo_lanes *)s.own, *rest = (mo_lanes *)s.rest;
    for (int32_t i = 0; i < s.width; i += LANES, a += strip) {
        mo_lanes *y = own + i;
        const double *t = a + (int64_t)LANES * i;
        subtract_product(i, a, own, y);
        y[0] = y[0] * t[0];
        y[1] = (y[1] - y[0] * t[1]) * t[5];
        y[2] = (y[2] - y[0] * t[2] - y[1] * t[6]) * t[10];
        y[3] = (y[3] - y[0] * t[3] - y[1] * t[7] - y[2] * t[11]) * t[15];
    }
    for (int32_t i = 0; i < s.below; i += LANES, a += strip) subtract_product(s.width, a, own, rest + i);
    leave_for_parent(c, &s);
}

// sum[4 k + r] += entry of row r and column k of the strip times x[r].
static inline void gather_many(int32_t n, const double *a, const mo_lanes *x, mo_lanes *sum)
{
    for (int32_t k = 0; k < LANES * n; k += LANES)
        for (int r = 0; r < LANES; r++) sum[k + r] += x[r] * a[k + r];
}

static void backward_many(const mo_cholesky *c, int32_t node, const mo_cholesky_work *work)
{
    side s = side_of(c, node, work, LANES);
    int64_t strip = (int64_t)LANES * s.width;
    const double *a = s.panel + strip * (s.width / LANES);
    mo_lanes *sum = (mo_lanes *)s.sum, *own = (mo_lanes *)s.own, *rest = (mo_lanes *)s.rest;
    gather_below(c, &s);
    memset(sum, 0, sizeof(mo_lanes) * (size_t)strip);
    for (int32_t i = 0; i < s.below; i += LANES, a += strip) gather_many(s.width, a, rest + i, sum);
    a = s.panel + strip * (s.width / LANES);
    for (int32_t i = s.width - LANES; i >= 0; i -= LANES) {
        a -= strip;
        mo_lanes *x = own + i;
        const mo_lanes *u = sum + (int64_t)LANES * i;
        const double *t = a + (int64_t)LANES * i;
        for (int k = 0; k < LANES; k++, u += LANES) x[k] -= (u[0] + u[1]) + (u[2] + u[3]);
        x[3] = x[3] * t[15];
        x[2] = (x[2] - x[3] * t[11]) * t[10];
        x[1] = (x[1] - x[3] * t[7] - x[2] * t[6]) * t[5];
        x[0] = (x[0] - x[3] * t[3] - x[2] * t[2] - x[1] * t[1]) * t[0];
        gather_many(i, a, x, sum);
    }
    store_own(c, &s);
}

// At most four right-hand sides.
static void solve_lanes(const mo_cholesky *c, int32_t n, const double *b, double *x)
{
    int32_t d = c->block;
    int64_t at = 0;
    for (int32_t k = 0; k < c->vertices; k++)
        for (int32_t i = c->order[k] * d, end = i + d; i < end; i++)
            for (int32_t r = 0; r < LANES; r++) c->x[at++] = r >= n || c->held[i] ? 0 : b[r * (int64_t)c->rows + i];
    walk(c, forward_many, backward_many);
    at = 0;
    for (int32_t k = 0; k < c->vertices; k++)
        for (int32_t i = c->order[k] * d, end = i + d; i < end; i++, at += LANES)
            for (int32_t r = 0; r < n; r++) x[r * (int64_t)c->rows + i] = c->x[at + r];
}

void mo_cholesky_solve_many(const mo_cholesky *c, int32_t n, const double *b, double *x)
{
    MO_ASSERT(c->factored);
    if (c->rows == 0) return;
    for (; n > 1; n -= LANES, b += LANES * (int64_t)c->rows, x += LANES * (int64_t)c->rows)
        solve_lanes(c, n < LANES ? n : LANES, b, x);
    if (n == 1) mo_cholesky_solve(c, b, x);
}
