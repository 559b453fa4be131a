// Pressure in slits: the harmonic continuation of the pressure beside them.
#include "system/slits.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Links ----

static bool in_domain(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

// Finds what lies beside a slit cell. Across the slit only its other cells count, because a thin plate may have liquid
// on its far side.
static int32_t link_to(const mo_slits *s, const mo_grid *g, const int32_t *slit_at, const int32_t *row,
                       const float *open, int32_t k, int side)
{
    int axis = side >> 1;
    int32_t n = mo_grid_step(g, s->cell[k], axis, side & 1 ? 1 : -1), c[3];
    if (n >= 0 && slit_at[n] >= 0) return slit_at[n];
    if (!(s->along[k] >> axis & 1)) return MO_SLIT_CLOSED;
    if (n < 0) { // no liquid is near enough for a tile
        mo_grid_cell(g, s->cell[k], c);
        c[axis] += side & 1 ? 1 : -1;
        return in_domain(g, c) ? MO_SLIT_AIR : MO_SLIT_CLOSED;
    }
    if (row[n] >= 0) return MO_SLIT_ROW - row[n];
    return open[n] > 0 ? MO_SLIT_AIR : MO_SLIT_CLOSED;
}

// Finds the cells that are connected to one beside liquid; the others have no pressure.
static void find_wet(mo_slit_links *l, int32_t *queue)
{
    int32_t tail = 0;
    for (int32_t k = 0; k < l->count; k++) {
        l->diagonal[k] = 0;
        for (int e = 0; e < 6 && l->diagonal[k] == 0; e++) l->diagonal[k] = l->to[k][e] <= MO_SLIT_ROW;
        if (l->diagonal[k] > 0) queue[tail++] = k;
    }
    for (int32_t head = 0; head < tail; head++)
        for (int e = 0; e < 6; e++) {
            int32_t n = l->to[queue[head]][e];
            if (n >= 0 && l->diagonal[n] == 0) l->diagonal[n] = 1, queue[tail++] = n;
        }
    for (int32_t k = 0; k < l->count; k++) {
        if (l->diagonal[k] == 0) continue;
        l->diagonal[k] = 0;
        for (int e = 0; e < 6; e++) l->diagonal[k] += l->to[k][e] != MO_SLIT_CLOSED;
    }
}

mo_status mo_slits_link(const mo_slits *slits, const mo_grid *g, const int32_t *row, const float *open, mo_arena *arena,
                        mo_slit_links *out, mo_error *err)
{
    int32_t n = slits->count;
    int64_t cells = mo_grid_cells(g);
    int32_t *slit_at = MO_ARENA_ARRAY(arena, int32_t, cells + 1), *queue = MO_ARENA_ARRAY(arena, int32_t, n + 1);
    *out = (mo_slit_links){.count = n};
    out->to = mo_arena_alloc(arena, sizeof *out->to * (size_t)(n + 1));
    out->diagonal = MO_ARENA_ARRAY(arena, double, n + 1);
    if (!slit_at || !queue || !out->to || !out->diagonal) return mo_fail_memory(err);
    for (int64_t i = 0; i < cells; i++) slit_at[i] = -1;
    for (int32_t k = 0; k < n; k++) slit_at[slits->cell[k]] = k;
    for (int32_t k = 0; k < n; k++)
        for (int e = 0; e < 6; e++)
            out->to[k][e] = e >= 4 && mo_grid_is_2d(g) ? MO_SLIT_CLOSED : link_to(slits, g, slit_at, row, open, k, e);
    find_wet(out, queue);
    return MO_OK;
}

// ---- Continuation ----

static void multiply(const mo_slit_links *l, const double *x, double *y)
{
    for (int32_t k = 0; k < l->count; k++) {
        y[k] = l->diagonal[k] * x[k];
        for (int e = 0; e < 6 && l->diagonal[k] > 0; e++)
            if (l->to[k][e] >= 0) y[k] -= x[l->to[k][e]];
    }
}

static double product(int32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

// Conjugate gradients, with the diagonal.
void mo_slits_solve(const mo_slit_links *l, const double *b, double *x, double *work)
{
    const double tolerance = 1e-10;
    int32_t n = l->count, most = 4 * n + 20;
    MO_ASSERT(b != x);
    double *r = work, *p = work + n, *q = work + 2 * n, rho = 0, start = 0;
    for (int32_t k = 0; k < n; k++) {
        x[k] = 0, r[k] = l->diagonal[k] > 0 ? b[k] : 0;
        p[k] = l->diagonal[k] > 0 ? r[k] / l->diagonal[k] : 0;
        rho += r[k] * p[k];
    }
    start = rho;
    for (int32_t i = 0; i < most && rho > tolerance * tolerance * start; i++) {
        multiply(l, p, q);
        double step = rho / product(n, p, q), next = 0;
        for (int32_t k = 0; k < n; k++) {
            x[k] += step * p[k], r[k] -= step * q[k];
            q[k] = l->diagonal[k] > 0 ? r[k] / l->diagonal[k] : 0;
            next += r[k] * q[k];
        }
        for (int32_t k = 0; k < n; k++) p[k] = q[k] + next / rho * p[k];
        rho = next;
    }
}

void mo_slits_wet(const mo_slit_links *l, double *wet, double *work)
{
    double *b = work + 3 * l->count;
    for (int32_t k = 0; k < l->count; k++) {
        b[k] = 0;
        for (int e = 0; e < 6; e++) b[k] += l->to[k][e] <= MO_SLIT_ROW;
    }
    mo_slits_solve(l, b, wet, work);
}

// ---- Rows ----

static int compare_links(const void *a, const void *b)
{
    const mo_slit_row *x = a, *y = b;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : x->slit != y->slit ? (x->slit < y->slit ? -1 : 1) : 0;
}

static mo_status list_links(const mo_slit_links *l, mo_arena *arena, mo_slit_rows *out, mo_error *err)
{
    out->link = mo_arena_alloc(arena, sizeof *out->link * (6 * (size_t)l->count + 1));
    if (!out->link) return mo_fail_memory(err);
    for (int32_t k = 0; k < l->count; k++)
        for (int e = 0; e < 6; e++)
            if (l->to[k][e] <= MO_SLIT_ROW) out->link[out->count++] = (mo_slit_row){MO_SLIT_ROW - l->to[k][e], k};
    qsort(out->link, (size_t)out->count, sizeof *out->link, compare_links);
    return MO_OK;
}

// The pressure of a slit beyond that of its rim: the weight of the liquid between them. b: count; work: 4 count.
static void find_weight(const mo_slits_def *d, const mo_slit_links *l, double *weight, double *b, double *work)
{
    const mo_grid *g = d->grid;
    mo_slits_wet(l, b, work);
    for (int32_t k = 0; k < l->count; k++) weight[k] = b[k] * mo_dot(d->gravity, d->slits->surface[k]);
    for (int32_t k = 0; k < l->count; k++) {
        b[k] = 0;
        for (int e = 0; e < 6; e++) {
            if (l->to[k][e] > MO_SLIT_ROW) continue;
            int32_t c[3];
            mo_grid_cell(g, d->slits->cell[k], c);
            c[e >> 1] += e & 1 ? 1 : -1;
            b[k] += mo_dot(d->gravity, mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5));
        }
    }
    mo_slits_solve(l, b, work + 3 * l->count, work);
    for (int32_t k = 0; k < l->count; k++) weight[k] = d->density * (weight[k] - work[3 * l->count + k]);
}

// The rows of slit cells, by column; and the impulse of the weight on the bodies.
static void fill_columns(const mo_slits_def *d, const mo_slit_links *l, const double *weight, mo_solid_row *row,
                         int32_t *column_of, double *push, mo_slit_rows *out)
{
    for (int32_t k = 0; k < l->count; k++) {
        if (l->diagonal[k] == 0) continue;
        row->count = 0;
        d->find(d->user, d->slits->cell[k], row);
        if (d->swept) out->swept[k] = d->swept(d->user, d->slits->cell[k]);
        for (int32_t i = 0; i < row->count; i++) {
            const mo_column *c = &row->column[i];
            if (c->group != MO_BODIES) continue;
            push[c->unknown] -= d->dt * c->weight * weight[k];
            if (column_of[c->unknown] < 0) {
                out->unknown[out->columns] = c->unknown;
                column_of[c->unknown] = out->columns++;
            }
            out->value[(int64_t)column_of[c->unknown] * out->slits + k] = c->weight;
        }
    }
}

// Columns are those of the bodies that slits touch: how many there may be.
static int32_t most_columns(const mo_slits_def *d, const mo_slit_links *l, mo_solid_row *row, uint8_t *seen)
{
    int32_t count = 0;
    for (int32_t k = 0; k < l->count; k++) {
        if (l->diagonal[k] == 0) continue;
        row->count = 0;
        d->find(d->user, d->slits->cell[k], row);
        for (int32_t i = 0; i < row->count; i++) {
            const mo_column *c = &row->column[i];
            if (c->group != MO_BODIES || seen[c->unknown]) continue;
            seen[c->unknown] = 1, count++;
        }
    }
    return count;
}

mo_status mo_slit_rows_create(const mo_slits_def *d, mo_arena *arena, double *push, mo_slit_rows *out, mo_error *err)
{
    mo_slit_links l;
    int32_t unknowns = mo_solid_unknowns(d->solids, MO_BODIES);
    *out = (mo_slit_rows){0};
    if (!d->slits || d->slits->count == 0 || unknowns == 0) return MO_OK;
    MO_TRY(mo_slits_link(d->slits, d->grid, d->row, d->open, arena, &l, err));
    MO_TRY(list_links(&l, arena, out, err));
    if (out->count == 0) return MO_OK;
    size_t n = (size_t)l.count, all = (size_t)(unknowns + mo_solid_unknowns(d->solids, MO_NODES));
    mo_solid_row row = {0, mo_arena_alloc(arena, sizeof(mo_column) * (all + 1))};
    uint8_t *seen = mo_arena_alloc(arena, (size_t)unknowns + 1);
    int32_t *column_of = MO_ARENA_ARRAY(arena, int32_t, unknowns + 1);
    double *work = MO_ARENA_ARRAY(arena, double, 6 * n);
    out->slits = l.count;
    out->swept = MO_ARENA_ARRAY(arena, double, n);
    out->unknown = MO_ARENA_ARRAY(arena, int32_t, unknowns + 1);
    if (!row.column || !seen || !column_of || !work || !out->swept || !out->unknown) return mo_fail_memory(err);
    memset(seen, 0, (size_t)unknowns);
    memset(out->swept, 0, sizeof(double) * n);
    for (int32_t u = 0; u < unknowns; u++) column_of[u] = -1;
    size_t room = n * (size_t)most_columns(d, &l, &row, seen);
    if (!(out->value = MO_ARENA_ARRAY(arena, double, room + 1))) return mo_fail_memory(err);
    memset(out->value, 0, sizeof(double) * room);
    find_weight(d, &l, work + 5 * n, work + 4 * n, work);
    fill_columns(d, &l, work + 5 * n, &row, column_of, push, out);
    for (int32_t c = 0; c < out->columns; c++) {
        double *value = out->value + (int64_t)c * l.count;
        memcpy(work + 3 * n, value, sizeof(double) * n);
        mo_slits_solve(&l, work + 3 * n, value, work);
    }
    memcpy(work + 3 * n, out->swept, sizeof(double) * n);
    mo_slits_solve(&l, work + 3 * n, out->swept, work);
    return MO_OK;
}

static int32_t first_link(const mo_slit_rows *rows, int32_t row)
{
    int32_t lo = 0, hi = rows->count;
    while (lo < hi) {
        int32_t mid = (lo + hi) / 2;
        if (rows->link[mid].row < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void mo_slit_rows_add(const mo_slit_rows *rows, int32_t row, mo_solid_row *to)
{
    for (int32_t k = first_link(rows, row); k < rows->count && rows->link[k].row == row; k++)
        for (int32_t c = 0; c < rows->columns; c += MO_BODY_UNKNOWNS) { // a body's unknowns come together
            const double *value = rows->value + (int64_t)c * rows->slits + rows->link[k].slit;
            bool any = false;
            for (int i = 0; i < MO_BODY_UNKNOWNS; i++) any |= value[(int64_t)i * rows->slits] != 0;
            mo_column own[MO_BODY_UNKNOWNS];
            for (int i = 0; i < MO_BODY_UNKNOWNS; i++)
                own[i] = (mo_column){MO_BODIES, rows->unknown[c + i], value[(int64_t)i * rows->slits]};
            if (any) mo_solid_row_merge(to, MO_BODY_UNKNOWNS, own, 1);
        }
}

void mo_slit_rows_sweep(const mo_slit_rows *rows, double *rhs)
{
    for (int32_t k = 0; k < rows->count; k++) rhs[rows->link[k].row] += rows->swept[rows->link[k].slit];
}
