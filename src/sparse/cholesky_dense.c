// Dense kernels of the Cholesky factor on blocks in strips: all products are tiles of 8 x 4 entries in registers. Each
// entry is one sum in the order of the columns, so that every compiler and vector length gives the same bits.
#include "sparse/cholesky_parts.h"
#include <float.h>
#include <math.h>

// Columns factored at once, and strips of the right factor that stay in the cache nearest to the core.
enum { BLOCK = 64, RESIDENT = 32 };
// Products of a loop from which on threads share it: some tenths of a millisecond.
enum { PARALLEL_LEAST = 2000000 };

// c0, c1 -= a0 b^T, a1 b^T: two strips of rows against one, over n columns.
static inline void tile_pair(int32_t n, const double *a0, const double *a1, const double *b, double *c0, double *c1)
{
    mo_lanes s00 = {0}, s01 = {0}, s02 = {0}, s03 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0};
    const mo_lanes *u = (const mo_lanes *)a0, *v = (const mo_lanes *)a1;
    for (int32_t k = 0; k < n; k++, b += LANES) {
        mo_lanes p = u[k], q = v[k];
        s00 += p * b[0], s10 += q * b[0];
        s01 += p * b[1], s11 += q * b[1];
        s02 += p * b[2], s12 += q * b[2];
        s03 += p * b[3], s13 += q * b[3];
    }
    mo_lanes *c = (mo_lanes *)c0, *d = (mo_lanes *)c1;
    c[0] -= s00, c[1] -= s01, c[2] -= s02, c[3] -= s03;
    d[0] -= s10, d[1] -= s11, d[2] -= s12, d[3] -= s13;
}

static inline void tile(int32_t n, const double *a, const double *b, double *c0)
{
    mo_lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    const mo_lanes *u = (const mo_lanes *)a;
    for (int32_t k = 0; k < n; k++, b += LANES) {
        mo_lanes p = u[k];
        s0 += p * b[0], s1 += p * b[1], s2 += p * b[2], s3 += p * b[3];
    }
    mo_lanes *c = (mo_lanes *)c0;
    c[0] -= s0, c[1] -= s1, c[2] -= s2, c[3] -= s3;
}

// Cholesky factor of a 4 x 4 tile, inverses on the diagonal, zeros above it.
static bool factor_tile(double *t)
{
    for (int j = 0; j < LANES; j++) {
        double d = t[5 * j];
        for (int k = 0; k < j; k++) d -= t[4 * k + j] * t[4 * k + j], t[4 * j + k] = 0;
        if (!(d > 0 && d <= DBL_MAX)) return false;
        double inverse = 1 / sqrt(d);
        t[5 * j] = inverse;
        for (int i = j + 1; i < LANES; i++) {
            double s = t[4 * j + i];
            for (int k = 0; k < j; k++) s -= t[4 * k + i] * t[4 * k + j];
            t[4 * j + i] = s * inverse;
        }
    }
    return true;
}

// c <- c T^-T with the factor of a diagonal tile.
static inline void solve_tile(const double *t, double *c)
{
    mo_lanes *x = (mo_lanes *)c;
    x[0] = x[0] * t[0];
    x[1] = (x[1] - x[0] * t[1]) * t[5];
    x[2] = (x[2] - x[0] * t[2] - x[1] * t[6]) * t[10];
    x[3] = (x[3] - x[0] * t[3] - x[1] * t[7] - x[2] * t[11]) * t[15];
}

// Columns from .. to of a panel are factored; what earlier columns take from them is done. Strips are in units of
// tiles: tile (i, j) of the panel is at i * 4 * columns + 16 j.
typedef struct span {
    double *panel;
    int64_t strip; // doubles from one strip to the next
    int32_t from, to;
} span;

static bool factor_corner(const span *s)
{
    for (int32_t j = s->from; j < s->to; j++) {
        double *row = s->panel + j * s->strip;
        for (int32_t k = s->from; k < j; k++) {
            const double *other = s->panel + k * s->strip;
            tile(LANES * (k - s->from), row + 16 * s->from, other + 16 * s->from, row + 16 * k);
            solve_tile(other + 16 * k, row + 16 * k);
        }
        tile(LANES * (j - s->from), row + 16 * s->from, row + 16 * s->from, row + 16 * j);
        if (!factor_tile(row + 16 * j)) return false;
    }
    return true;
}

// The strips i and, if there is a pair, i + 1 below the corner.
static void solve_strips(const span *s, int32_t i, bool pair)
{
    double *a = s->panel + i * s->strip, *b = a + s->strip;
    for (int32_t k = s->from; k < s->to; k++) {
        const double *other = s->panel + k * s->strip;
        int32_t n = LANES * (k - s->from);
        if (pair)
            tile_pair(n, a + 16 * s->from, b + 16 * s->from, other + 16 * s->from, a + 16 * k, b + 16 * k);
        else
            tile(n, a + 16 * s->from, other + 16 * s->from, a + 16 * k);
        solve_tile(other + 16 * k, a + 16 * k);
        if (pair) solve_tile(other + 16 * k, b + 16 * k);
    }
}

// What the columns of the span take from later columns of the panel.
static void reduce_columns(const span *s, int32_t tiles, int32_t strips)
{
    int32_t n = LANES * (s->to - s->from);
    for (int32_t begin = s->to; begin < tiles; begin += RESIDENT) {
        int32_t end = begin + RESIDENT < tiles ? begin + RESIDENT : tiles;
#pragma omp parallel for schedule(dynamic, 4) if (16LL * n * (end - begin) * (strips - begin) > PARALLEL_LEAST)
        for (int32_t i = begin; i < strips; i += 2) {
            double *a = s->panel + i * s->strip, *b = a + s->strip;
            bool pair = i + 1 < strips;
            for (int32_t j = begin; j < end && j <= i + pair; j++) {
                const double *other = s->panel + j * s->strip + 16 * s->from;
                if (pair && j <= i)
                    tile_pair(n, a + 16 * s->from, b + 16 * s->from, other, a + 16 * j, b + 16 * j);
                else
                    tile(n, (pair ? b : a) + 16 * s->from, other, (pair ? b : a) + 16 * j);
            }
        }
    }
}

bool mo_panel_factor(int32_t columns, int32_t strips, double *panel)
{
    int32_t tiles = columns / LANES;
    span s = {.panel = panel, .strip = (int64_t)LANES * columns};
    for (s.from = 0; s.from < tiles; s.from = s.to) {
        s.to = s.from + BLOCK / LANES < tiles ? s.from + BLOCK / LANES : tiles;
        if (!factor_corner(&s)) return false;
        int64_t products = 128LL * (s.to - s.from) * (s.to - s.from) * (strips - s.to);
#pragma omp parallel for schedule(dynamic, 4) if (products > PARALLEL_LEAST)
        for (int32_t i = s.to; i < strips; i += 2) solve_strips(&s, i, i + 1 < strips);
        reduce_columns(&s, tiles, strips);
    }
    return true;
}

void mo_panel_update(int32_t columns, int32_t strips, const double *B, double *update)
{
    int64_t strip = (int64_t)LANES * columns;
    for (int32_t from = 0; from < columns; from += 2 * BLOCK) {
        int32_t n = columns - from < 2 * BLOCK ? columns - from : 2 * BLOCK;
        const double *part = B + LANES * (int64_t)from;
        for (int32_t begin = 0; begin < strips; begin += RESIDENT) {
#pragma omp parallel for schedule(dynamic, 4) if (16LL * n * RESIDENT * (strips - begin) > PARALLEL_LEAST)
            for (int32_t i = begin; i < strips; i += 2) {
                const double *a = part + i * strip, *b = a + strip;
                double *c = update + mo_triangle(i), *d = update + mo_triangle(i + 1);
                bool pair = i + 1 < strips;
                int32_t end = begin + RESIDENT < i + 1 ? begin + RESIDENT : i + 1, j = begin;
                for (; j < end; j++)
                    if (pair)
                        tile_pair(n, a, b, part + j * strip, c + 16 * j, d + 16 * j);
                    else
                        tile(n, a, part + j * strip, c + 16 * j);
                if (pair && i + 1 < begin + RESIDENT) tile(n, b, b, d + 16 * (i + 1));
            }
        }
    }
}
