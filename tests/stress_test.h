// What the tests of the blocks of viscous liquids share: random worlds of balls and planes as cases, dense references.
#ifndef STRESS_TEST_H
#define STRESS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "cases/case.h"
#include "system/stress_faces.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 4, LIQUIDS = 4 };

typedef struct shape { // a ball, or the half space below a plane
    bool plane;
    mo_vec3 at;    // centre or normal
    double radius; // or offset
} shape;

typedef struct world {
    bool flat, full; // full: liquid everywhere
    int32_t cells[3], liquids, solids;
    shape liquid[LIQUIDS], solid[SOLIDS];
    mo_vec3 linear[SOLIDS], angular[SOLIDS]; // motion of the solids, about the middle
    uint8_t slip[SOLIDS];
    bool slip_wall[6], open_wall[6];
    double density, dt, viscosity;
    mo_distance_fn viscosity_fn; // user: the world
    mo_solid_set set;
    mo_case c;
} world;

static const mo_vec3 world_middle = {0.5, 0.5, 0.5};

static inline double shape_distance(const shape *s, bool flat, mo_vec3 x)
{
    if (flat) x.z = s->plane ? 0 : s->at.z;
    return s->plane ? mo_dot(s->at, x) - s->radius : mo_norm(mo_sub(x, s->at)) - s->radius;
}
static inline double world_liquid(const void *user, mo_vec3 x)
{
    const world *w = user;
    double d = w->full ? -1 : 1e3;
    for (int32_t k = 0; k < w->liquids; k++) d = fmin(d, shape_distance(&w->liquid[k], w->flat, x));
    return d;
}
static inline double world_solid(const void *user, int32_t solid, mo_vec3 x)
{
    const world *w = user;
    return shape_distance(&w->solid[solid], w->flat, x);
}
static inline mo_vec3 world_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    const world *w = user;
    return mo_add(w->linear[solid], mo_cross(w->angular[solid], mo_sub(x, world_middle)));
}

// ---- Random worlds ----

typedef struct dice {
    uint32_t seed, next;
} dice;
static inline double roll(dice *d, double lo, double hi)
{
    return lo + (hi - lo) * mo_unit(mo_hash(d->seed, d->next++, 12345));
}
static inline mo_vec3 roll_vector(dice *d, double lo, double hi)
{
    double x = roll(d, lo, hi), y = roll(d, lo, hi);
    return mo_v3(x, y, roll(d, lo, hi));
}

// Balls of liquid, balls and a plane of solid. inside: the liquid stays off the walls.
static inline world random_world(uint32_t seed, bool flat, int32_t cells, bool inside)
{
    dice d = {seed, 0};
    world w = {.flat = flat, .cells = {cells, cells, flat ? 1 : cells}, .liquids = 3, .solids = 3};
    w.density = 1000, w.dt = 0.01, w.viscosity = 200;
    for (int32_t k = 0; k < w.liquids; k++)
        w.liquid[k] = inside ? (shape){false, roll_vector(&d, 0.4, 0.6), roll(&d, 0.15, 0.24)}
                             : (shape){false, roll_vector(&d, 0.1, 0.9), roll(&d, 0.15, 0.35)};
    for (int32_t k = 0; k < 2; k++) w.solid[k] = (shape){false, roll_vector(&d, 0.25, 0.75), roll(&d, 0.06, 0.16)};
    mo_vec3 normal = roll_vector(&d, -1, 1);
    if (flat) normal.z = 0;
    normal = mo_normalize(normal);
    mo_vec3 foot = mo_mad(world_middle, -roll(&d, 0.12, 0.3), normal);
    w.solid[2] = (shape){true, normal, mo_dot(normal, foot)};
    for (int32_t k = 0; k < w.solids; k++) {
        w.linear[k] = roll_vector(&d, -1, 1), w.angular[k] = roll_vector(&d, -2, 2);
        w.slip[k] = roll(&d, 0, 1) < 0.5;
        if (flat) w.linear[k].z = 0, w.angular[k].x = w.angular[k].y = 0;
    }
    for (int k = 0; k < 6; k++) w.slip_wall[k] = roll(&d, 0, 1) < 0.5;
    return w;
}

static inline mo_vec3 face_position(const mo_grid *g, int32_t i, int axis)
{
    int32_t at[3];
    mo_grid_cell(g, i, at);
    return mo_grid_world(g, at[0] + 0.5 * (axis != 0), at[1] + 0.5 * (axis != 1), at[2] + 0.5 * (axis != 2));
}

static inline void start_world(world *w)
{
    w->set = (mo_solid_set){
        .count = w->solids, .distance = world_solid, .velocity = world_velocity, .user = w, .slip = w->slip};
    memcpy(w->set.open_wall, w->open_wall, sizeof w->open_wall);
    mo_case_def def = {.cells = {w->cells[0], w->cells[1], w->cells[2]},
                       .dx = 1.0 / w->cells[1],
                       .liquid = world_liquid,
                       .solids = &w->set,
                       .user = w,
                       .density = w->density,
                       .viscosity = w->viscosity,
                       .viscosity_fn = w->viscosity_fn};
    memcpy(def.slip_wall, w->slip_wall, sizeof w->slip_wall);
    assert_int_equal(mo_case_create(&def, &w->c, NULL), MO_OK);
}
static inline void end_world(world *w) { mo_case_destroy(&w->c); }

// Smooth motion and noise.
static inline void stir(world *w, uint32_t seed)
{
    for (int a = 0; a < (w->flat ? 2 : 3); a++)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(w->c.grid); i++) {
            mo_vec3 x = face_position(w->c.grid, i, a);
            double noise = mo_unit(mo_hash(seed, (uint32_t)i, (uint32_t)a)) - 0.5;
            w->c.u[a][i] = (float)(sin(5 * x.x + a) + cos(4 * x.y - 2 * a) + 0.5 * noise);
        }
}
// A rigid motion about the middle.
static inline void move_rigidly(world *w, mo_vec3 linear, mo_vec3 angular)
{
    for (int a = 0; a < 3; a++)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(w->c.grid); i++) {
            mo_vec3 x = mo_sub(face_position(w->c.grid, i, a), world_middle);
            w->c.u[a][i] = (float)mo_get(mo_add(linear, mo_cross(angular, x)), a);
        }
}

static inline mo_solver_def exact_solver(const char *scheme, bool raw)
{
    mo_solver_def s = {
        .route = MO_ROUTE_PAPER, .tolerance = 1e-12, .max_iterations = 50000, .raw_weights = raw, .rounds = 2};
    snprintf(s.scheme, sizeof s.scheme, "%s", scheme);
    return s;
}

// ---- Dense algebra, row-major ----

static inline double *dense(int64_t entries) { return calloc((size_t)entries + 1, sizeof(double)); }

static inline void add_dense(const mo_csr *A, double s, double *out, int64_t stride)
{
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) out[i * stride + A->col[k]] += s * A->val[k];
}
static inline void add_dense_transposed(const mo_csr *A, double *out, int64_t stride)
{
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) out[A->col[k] * stride + i] += A->val[k];
}

// Solves K x = b by elimination with row pivots after scaling by `scale` on both sides. Where a pivot vanishes the
// unknown is 0 (consistent null spaces). b becomes x.
static inline void dense_lu(int32_t n, double *K, double *b, const double *scale)
{
    for (int32_t i = 0; i < n; i++) {
        b[i] *= scale[i];
        for (int32_t j = 0; j < n; j++) K[(int64_t)i * n + j] *= scale[i] * scale[j];
    }
    for (int32_t c = 0; c < n; c++) {
        int32_t p = c;
        for (int32_t i = c + 1; i < n; i++)
            if (fabs(K[(int64_t)i * n + c]) > fabs(K[(int64_t)p * n + c])) p = i;
        double *pivot = K + (int64_t)c * n, *other = K + (int64_t)p * n;
        for (int32_t j = 0; p != c && j < n; j++) {
            double t = pivot[j];
            pivot[j] = other[j], other[j] = t;
        }
        double t = b[c];
        b[c] = b[p], b[p] = t;
        if (fabs(pivot[c]) < 1e-12) {
            memset(pivot, 0, sizeof(double) * (size_t)n);
            pivot[c] = 1, b[c] = 0;
        }
        for (int32_t i = c + 1; i < n; i++) {
            double *row = K + (int64_t)i * n, f = row[c] / pivot[c];
            if (f == 0) continue;
            for (int32_t j = c; j < n; j++) row[j] -= f * pivot[j];
            b[i] -= f * b[c];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) b[i] -= K[(int64_t)i * n + j] * b[j];
        b[i] /= K[(int64_t)i * n + i];
    }
    for (int32_t i = 0; i < n; i++) b[i] *= scale[i];
}

// Null vectors of a symmetric positive semidefinite matrix scaled to a diagonal of 1, by Cholesky with pivots; -1: it
// is indefinite. least: smallest pivot above zero.
static inline int32_t nullity(int32_t n, double *M, double *least)
{
    double *d = dense(n);
    for (int32_t i = 0; i < n; i++) d[i] = sqrt(M[(int64_t)i * n + i]);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) M[(int64_t)i * n + j] /= d[i] * d[j];
    int32_t left = n;
    *least = 1;
    bool *done = calloc((size_t)n + 1, sizeof(bool)), indefinite = false;
    for (; left > 0; left--) {
        int32_t p = -1;
        for (int32_t i = 0; i < n; i++)
            if (!done[i] && (p < 0 || M[(int64_t)i * n + i] > M[(int64_t)p * n + p])) p = i;
        double pivot = M[(int64_t)p * n + p], *row = M + (int64_t)p * n;
        if (pivot < 1e-11) {
            for (int32_t i = 0; i < n; i++) indefinite |= !done[i] && M[(int64_t)i * n + i] < -1e-11;
            break;
        }
        *least = fmin(*least, pivot), done[p] = true;
        for (int32_t i = 0; i < n; i++) {
            double f = M[(int64_t)i * n + p] / pivot;
            if (done[i] || f == 0) continue;
            for (int32_t j = 0; j < n; j++)
                if (!done[j]) M[(int64_t)i * n + j] -= f * row[j];
        }
    }
    free(d), free(done);
    return indefinite ? -1 : left;
}

#endif
