// The group of rigid bodies: masses, and the product of rows on bodies.
#include "system/bodies.h"
#include <math.h>
#include <string.h>

enum { SIX = MO_BODY_UNKNOWNS };

static void add_product(const double M[SIX][SIX], double s, const double *x, double *y)
{
    for (int i = 0; i < SIX; i++)
        for (int k = 0; k < SIX; k++) y[i] += s * M[i][k] * x[k];
}

static void bodies_apply(const mo_group *g, double s, const double *v, double *f)
{
    for (int32_t b = 0; b < g->count / SIX; b++) add_product(g->body[b].matrix, s, v + SIX * b, f + SIX * b);
}

static void bodies_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    for (int32_t b = 0; b < g->count / SIX; b++) add_product(g->body[b].inverse, s, f + SIX * b, v + SIX * b);
}

static void bodies_diagonal(const mo_group *g, double *d)
{
    for (int32_t i = 0; i < g->count; i++) d[i] = g->body[i / SIX].matrix[i % SIX][i % SIX];
}

static int32_t bodies_row(const mo_group *g, int32_t i, int32_t *col, double *val)
{
    for (int k = 0; col && k < SIX; k++) col[k] = i / SIX * SIX + k, val[k] = g->body[i / SIX].matrix[i % SIX][k];
    return SIX;
}

// Angular velocities times the radius of gyration are speeds.
static void bodies_units(const mo_group *g, double *unit)
{
    for (int32_t i = 0; i < g->count; i++) {
        const double(*M)[SIX] = g->body[i / SIX].matrix;
        double mass = fmax(M[0][0], fmax(M[1][1], M[2][2])), trace = M[3][3] + M[4][4] + M[5][5];
        double radius = mass > 0 ? sqrt(trace / mass) : 0;
        unit[i] = i % SIX < 3 || !(radius > 0) ? 1 : 1 / radius;
    }
}

// The pressure x along an axis pushes with the displaced volume. Where a body pierces the surface, only the axes along
// the surface give the right volume, so the least one counts.
static double lightness(const mo_body_mass *m, const double *volume, double density, double size)
{
    double least = INFINITY;
    for (int a = 0; a < 3; a++)
        if (m->inverse[a][a] > 0 && volume[a] != 0)
            least = fmin(least, 0.5 * density * fabs(volume[a]) * size * m->inverse[a][a]);
    return isfinite(least) ? least : 0;
}

static void bodies_light(const mo_group *g, const mo_csr *R, const int32_t (*coord)[3], double density, double size,
                         double *light)
{
    double *volume = light; // of each body, in place of its velocity's components
    memset(light, 0, sizeof(double) * (size_t)g->count);
    for (int32_t i = 0; i < R->rows; i++)
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k++) {
            int32_t axis = R->col[k] % SIX;
            if (axis < 3) volume[R->col[k]] += R->val[k] * coord[i][axis];
        }
    for (int32_t b = 0; b < g->count / SIX; b++) {
        double of_body = lightness(&g->body[b], volume + SIX * b, density, size);
        for (int i = 0; i < SIX; i++) light[SIX * b + i] = g->body[b].inverse[i][i] > 0 ? of_body : 0;
    }
}

// Inverse of a symmetric positive matrix among the directions with a diagonal entry, by Gauss and Jordan.
static void invert(const double A[SIX][SIX], double out[SIX][SIX])
{
    bool moves[SIX];
    for (int i = 0; i < SIX; i++) moves[i] = A[i][i] > 0;
    for (int i = 0; i < SIX; i++)
        for (int k = 0; k < SIX; k++) out[i][k] = moves[i] && moves[k] ? A[i][k] : 0;
    for (int p = 0; p < SIX; p++) {
        if (!moves[p]) continue;
        double pivot = 1 / out[p][p];
        out[p][p] = 1;
        for (int k = 0; k < SIX; k++) out[p][k] *= pivot;
        for (int i = 0; i < SIX; i++) {
            double factor = out[i][p];
            if (i == p || factor == 0) continue;
            out[i][p] = 0;
            for (int k = 0; k < SIX; k++) out[i][k] -= factor * out[p][k];
        }
    }
}

void mo_body_mass_from_inverse(mo_body_mass *m) { invert(m->inverse, m->matrix); }
void mo_body_mass_from_matrix(mo_body_mass *m) { invert(m->matrix, m->inverse); }

void mo_body_add_mass(mo_group *g, int32_t body, double mass[SIX][SIX], const double p[SIX])
{
    MO_ASSERT(body >= 0 && body < mo_body_count(g));
    mo_body_mass *m = &g->body[body];
    for (int i = 0; i < SIX; i++)
        for (int k = 0; k < SIX; k++) m->matrix[i][k] += m->inverse[i][i] > 0 && m->inverse[k][k] > 0 ? mass[i][k] : 0;
    mo_body_mass_from_matrix(m);
    add_product(m->inverse, 1, p, mo_body_velocity(g, body));
}

// ---- Products of rows ----

// Rows that touch each body: row[first[b]] .. row[first[b + 1]].
typedef struct body_rows {
    int32_t *first, *row;
    const int32_t **next, **end; // [most] where the lists of one row's bodies are, for a merge
} body_rows;

static void body_rows_destroy(body_rows *r) { mo_free(r->first), mo_free(r->row), mo_free(r->next); }

static mo_status list_rows(const mo_csr *R, int32_t from, int32_t bodies, body_rows *out)
{
    int64_t entries = (R->row[R->rows] - R->row[from]) / SIX, most = 1;
    for (int32_t i = from; i < R->rows; i++)
        most = R->row[i + 1] - R->row[i] > SIX * most ? (R->row[i + 1] - R->row[i]) / SIX : most;
    *out = (body_rows){mo_calloc(sizeof(int32_t) * ((size_t)bodies + 2)), mo_alloc(sizeof(int32_t) * (size_t)entries),
                       mo_alloc(sizeof(int32_t *) * 2 * (size_t)most), NULL};
    if (!out->first || !out->row || !out->next) return MO_ERROR_MEMORY;
    out->end = out->next + most;
    int32_t *next = out->first + 1; // where the next row of body b goes, which ends as first[b + 1]
    for (int64_t k = R->row[from]; k < R->row[R->rows]; k += SIX) next[R->col[k] / SIX + 1]++;
    for (int32_t b = 1; b <= bodies; b++) next[b] += next[b - 1];
    for (int32_t i = from; i < R->rows; i++)
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k += SIX) out->row[next[R->col[k] / SIX]++] = i;
    return MO_OK;
}

// r_i H^-1 r_j^T over the bodies that two rows share.
static double row_product(const mo_group *g, const mo_csr *R, int32_t i, int32_t j)
{
    MO_ASSERT(i >= 0 && i < R->rows && j >= 0 && j < R->rows && R->cols == g->count);
    double sum = 0;
    int64_t a = R->row[i], b = R->row[j];
    while (a < R->row[i + 1] && b < R->row[j + 1]) {
        int32_t difference = R->col[a] - R->col[b];
        if (difference == 0) {
            double out[SIX] = {0};
            add_product(g->body[R->col[a] / SIX].inverse, 1, R->val + b, out);
            for (int k = 0; k < SIX; k++) sum += R->val[a + k] * out[k];
        }
        if (difference <= 0) a += SIX;
        if (difference >= 0) b += SIX;
    }
    return sum;
}

static double bodies_yield(const mo_group *g, const mo_csr *R, int32_t row) { return row_product(g, R, row, row); }

// The least row that one of n lists begins with, taken from all that do; INT32_MAX: all are empty.
static int32_t take_least(body_rows *rows, int64_t n)
{
    int32_t least = INT32_MAX;
    for (int64_t m = 0; m < n; m++)
        if (rows->next[m] < rows->end[m] && *rows->next[m] < least) least = *rows->next[m];
    for (int64_t m = 0; m < n; m++)
        if (rows->next[m] < rows->end[m] && *rows->next[m] == least) rows->next[m]++;
    return least;
}

static void fill_product(const mo_group *g, double s, const mo_csr *R, int32_t from, body_rows *rows, mo_csr *C)
{
    int64_t at = 0;
    for (int32_t i = from; i < R->rows; i++) {
        int64_t n = 0;
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k += SIX, n++) {
            rows->next[n] = rows->row + rows->first[R->col[k] / SIX];
            rows->end[n] = rows->row + rows->first[R->col[k] / SIX + 1];
        }
        for (int32_t j = take_least(rows, n); j != INT32_MAX; j = take_least(rows, n))
            C->col[at] = j, C->val[at++] = s * row_product(g, R, i, j);
        C->row[i + 1] = at;
    }
}

mo_status mo_bodies_product(const mo_group *g, double s, const mo_csr *R, int32_t from, mo_csr *out)
{
    MO_ASSERT(from >= 0 && from <= R->rows && R->cols == g->count);
    int64_t entries = 0;
    body_rows rows;
    *out = (mo_csr){0};
    mo_status status = list_rows(R, from, mo_body_count(g), &rows);
    if (status == MO_OK) {
        for (int64_t k = R->row[from]; k < R->row[R->rows]; k += SIX)
            entries += rows.first[R->col[k] / SIX + 1] - rows.first[R->col[k] / SIX];
        status = mo_csr_create(R->rows, R->rows, entries, out);
    }
    if (status == MO_OK) fill_product(g, s, R, from, &rows, out);
    body_rows_destroy(&rows);
    return status;
}

static mo_status bodies_add_square(const mo_group *g, double s, const mo_csr *R, int32_t from, mo_csr *A)
{
    mo_csr C = {0};
    mo_status status = mo_bodies_product(g, s, R, from, &C);
    if (status == MO_OK) status = mo_csr_add(A, &C);
    mo_csr_destroy(&C);
    return status;
}

// ---- The group ----

static void bodies_destroy(mo_group *g) { mo_free(g->body); }

static const mo_group_kind bodies_kind = {.name = "bodies",
                                          .apply = bodies_apply,
                                          .apply_inverse = bodies_apply_inverse,
                                          .diagonal = bodies_diagonal,
                                          .row = bodies_row,
                                          .yield = bodies_yield,
                                          .add_square = bodies_add_square,
                                          .applied = true,
                                          .units = bodies_units,
                                          .light = bodies_light,
                                          .destroy = bodies_destroy};

mo_status mo_bodies_create(int32_t bodies, mo_group *out)
{
    MO_ASSERT(bodies >= 0);
    return mo_group_create(&bodies_kind, SIX * bodies, sizeof(mo_body_mass) * (size_t)bodies, (void **)&out->body, out);
}
