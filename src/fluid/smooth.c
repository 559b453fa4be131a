// The surface that follows from the particles' density: smooth, unbiased, the same in all directions.
//
// The hat density smoothed by (1 2 1)/4 along each axis is the integral of the liquid under a hat of twice the width,
// whose variance 2/3 is the same in all directions. For a plane at the distance d that integral is nearly Phi(-d /
// sigma), so its inverse gives the distance. At solids the integral is divided by that of open space, and the first
// moment of open space gives the place to which the distance belongs.
#include "fluid/surface.h"
#include "grid/reach.h"
#include <math.h>
#include <string.h>

enum { IN1 = MO_TILE + 2, IN3 = MO_TILE + 6 };
static const float smooth_reach = 1.35f, smooth_agree = 0.6f;

// Filters one axis of a block of edge n: out = sum of w[t] in[. + (t - r) stride], for entries that have all their
// neighbours.
static void filter_axis(const float *in, float *out, int n, int axis, const float *w, int r, bool skip)
{
    const int stride[3] = {1, n, n * n};
    if (skip) { // 2D: along z nothing varies
        memcpy(out, in, sizeof(float) * (size_t)(n * n * n));
        return;
    }
    int lo[3] = {0, 0, 0}, hi[3] = {n, n, n};
    lo[axis] = r, hi[axis] = n - r;
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                int at = x + n * (y + n * z);
                float sum = 0;
                for (int t = -r; t <= r; t++) sum += w[t + r] * in[at + t * stride[axis]];
                out[at] = sum;
            }
}

// Minus the signed distance over sigma of a plane whose integral is r (0.02 to 0.98): the normal quantile (Acklam's
// central part) and the first term of Cornish and Fisher for the kernel's kurtosis, the mean of all directions.
static float plane_distance(float r)
{
    const float sigma = 0.8164966f, excess = -0.42f; // 0.7 times that along an axis, -0.6
    float q = r - 0.5f, s = q * q;
    float z = (((((-39.69683f * s + 220.9461f) * s - 275.9285f) * s + 138.3578f) * s - 30.66480f) * s + 2.506628f) * q /
              (((((-54.47610f * s + 161.5858f) * s - 155.6990f) * s + 66.80131f) * s - 13.28068f) * s + 1);
    return -sigma * (z + excess / 24 * (z * z * z - 3 * z));
}

// Integral of open space and its first moments over the kernel, at the tile's cells and one around (edge 10).
typedef struct open_part {
    float part[IN1 * IN1 * IN1], moment[3][IN1 * IN1 * IN1];
    bool all; // everything is open
} open_part;

static void find_open(const mo_grid *g, const float *volume, int32_t tile, open_part *o)
{
    static const float s[5] = {1 / 32.f, 8 / 32.f, 14 / 32.f, 8 / 32.f, 1 / 32.f};
    static const float m[5] = {-5 / 96.f, -22 / 96.f, 0, 22 / 96.f, 5 / 96.f};
    float v[IN3 * IN3 * IN3];
    bool flat = mo_grid_is_2d(g);
    mo_grid_block(g, volume, tile, 3, 1, v);
    o->all = true;
    for (int i = 0; i < IN3 * IN3 * IN3 && o->all; i++) {
        if (flat && i / (IN3 * IN3) != MO_MARGIN + 3) continue;
        o->all = v[i] >= 1;
    }
    if (o->all) return;
    float sx[IN1 * IN3 * IN3], mx[IN1 * IN3 * IN3], ss[IN1 * IN1 * IN3], ms[IN1 * IN1 * IN3], sm[IN1 * IN1 * IN3];
    for (int r = 0; r < IN3 * IN3; r++)
        for (int x = 0; x < IN1; x++) {
            const float *q = v + x + IN3 * r;
            sx[x + IN1 * r] = s[0] * (q[0] + q[4]) + s[1] * (q[1] + q[3]) + s[2] * q[2];
            mx[x + IN1 * r] = m[4] * (q[4] - q[0]) + m[3] * (q[3] - q[1]);
        }
    for (int z = 0; z < IN3; z++)
        for (int i = 0; i < IN1 * IN1; i++) {
            const float *q = sx + i + IN1 * IN3 * z, *t = mx + i + IN1 * IN3 * z;
            int to = i + IN1 * IN1 * z;
            ss[to] = s[0] * (q[0] + q[4 * IN1]) + s[1] * (q[IN1] + q[3 * IN1]) + s[2] * q[2 * IN1];
            sm[to] = m[4] * (q[4 * IN1] - q[0]) + m[3] * (q[3 * IN1] - q[IN1]);
            ms[to] = s[0] * (t[0] + t[4 * IN1]) + s[1] * (t[IN1] + t[3 * IN1]) + s[2] * t[2 * IN1];
        }
    enum { P = IN1 * IN1 };
    for (int i = 0; i < P * IN1; i++) {
        const float *q = ss + i, *t = ms + i, *u = sm + i;
        if (flat) {
            o->part[i] = q[2 * P], o->moment[0][i] = t[2 * P], o->moment[1][i] = u[2 * P], o->moment[2][i] = 0;
            continue;
        }
        o->part[i] = s[0] * (q[0] + q[4 * P]) + s[1] * (q[P] + q[3 * P]) + s[2] * q[2 * P];
        o->moment[0][i] = s[0] * (t[0] + t[4 * P]) + s[1] * (t[P] + t[3 * P]) + s[2] * t[2 * P];
        o->moment[1][i] = s[0] * (u[0] + u[4 * P]) + s[1] * (u[P] + u[3 * P]) + s[2] * u[2 * P];
        o->moment[2][i] = m[4] * (q[4 * P] - q[0]) + m[3] * (q[3 * P] - q[P]);
    }
    for (int i = 0; i < IN1 * IN1 * IN1; i++)
        for (int c = 0; c < 3; c++) o->moment[c][i] /= mo_maxf(o->part[i], 0.05f);
}

static bool near_surface(const float *visible, int32_t tile)
{
    for (int32_t l = 0; l < MO_TILE_CELLS; l++)
        if (fabsf(visible[tile * MO_TILE_CELLS + l]) < smooth_reach) return true;
    return false;
}

// The density smoothed, where the surface is near.
static void smooth_tile(const mo_grid *g, const float *rho, const float *visible, int32_t tile, float *out)
{
    static const float w[3] = {0.25f, 0.5f, 0.25f};
    const int32_t first = tile * MO_TILE_CELLS;
    float a[IN1 * IN1 * IN1], b[IN1 * IN1 * IN1];
    mo_grid_block(g, rho, tile, 1, 0, a);
    if (near_surface(visible, tile)) {
        filter_axis(a, b, IN1, 0, w, 1, false);
        filter_axis(b, a, IN1, 1, w, 1, false);
        filter_axis(a, b, IN1, 2, w, 1, mo_grid_is_2d(g));
    } else
        memcpy(b, a, sizeof b); // its neighbours may read one cell of it
    for (int z = 0; z < MO_TILE; z++)
        for (int y = 0; y < MO_TILE; y++)
            memcpy(out + first + 8 * (y + 8 * z), b + 1 + IN1 * (y + 1 + IN1 * (z + 1)), sizeof(float) * MO_TILE);
}

// The shift from the mean place of the open part to the cell's centre, along the surface's gradient.
static float moment_shift(const float *d, const float *solid, const open_part *o, int at, int axes)
{
    static const int stride[3] = {1, IN1, IN1 * IN1};
    float length = 0, shift = 0;
    for (int a = 0; a < axes; a++) {
        int lo = at - stride[a], hi = at + stride[a];
        if (solid[lo] < 0) lo = at;
        if (solid[hi] < 0) hi = at;
        float step = (float)((hi - lo) / stride[a]) + o->moment[a][hi] - o->moment[a][lo];
        float n = step > 0.3f ? (d[hi] - d[lo]) / step : 0;
        length += n * n, shift += n * o->moment[a][at];
    }
    if (length > 1) shift /= sqrtf(length);
    return mo_minf(mo_maxf(shift, -0.6f), 0.6f);
}

// The distance of a density; densities that say nothing about the surface give the visible distance.
static inline float density_distance(float r, float visible)
{
    return r >= 0.02f && r <= 0.98f ? plane_distance(r) : visible;
}

// Takes the smooth distance where it agrees with the visible one. It writes to out, because tiles read each other's
// `visible`.
static void blend_tile(const mo_grid *g, const float *smooth, const float *volume, const float *solid,
                       const float *visible, int32_t tile, float *out)
{
    const int32_t first = tile * MO_TILE_CELLS;
    memcpy(out + first, visible + first, sizeof(float) * MO_TILE_CELLS);
    if (!near_surface(visible, tile)) return;
    open_part o;
    float d[IN1 * IN1 * IN1], distance[IN1 * IN1 * IN1], v[IN1 * IN1 * IN1];
    int axes = mo_grid_axes(g);
    find_open(g, volume, tile, &o);
    if (!o.all) {
        mo_grid_block(g, smooth, tile, 1, 0, d);
        mo_grid_block(g, solid, tile, 1, -1, distance);
        mo_grid_block(g, visible, tile, 1, 3, v);
        for (int i = 0; i < IN1 * IN1 * IN1; i++)
            if (fabsf(v[i]) < smooth_reach + 1.05f && distance[i] >= 0)
                d[i] = density_distance(d[i] / mo_maxf(o.part[i], 0.05f), v[i]);
    }
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        float *q = &out[first + l], s;
        int at = (l & 7) + 1 + IN1 * ((l >> 3 & 7) + 1 + IN1 * ((l >> 6) + 1));
        if (fabsf(*q) >= smooth_reach || mo_reach_near(g, first + l, MO_REACH_AROUND)) continue; // sheets hide the rest
        if (o.all)
            s = density_distance(smooth[first + l], *q);
        else if (distance[at] < 0)
            continue;
        else
            s = d[at] - (o.part[at] < 0.999f ? moment_shift(d, distance, &o, at, axes) : 0);
        float trust = mo_minf(mo_maxf((smooth_agree - fabsf(s - *q)) * (2 / smooth_agree), 0), 1);
        *q += trust * (s - *q);
    }
}

void mo_surface_smooth(const mo_grid *g, const float *rho, const float *volume, const float *solid_distance,
                       float *visible, float *const scratch[2])
{
    MO_ASSERT(scratch[0] != scratch[1]);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) smooth_tile(g, rho, visible, t, scratch[0]);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) blend_tile(g, scratch[0], volume, solid_distance, visible, t, scratch[1]);
    memcpy(visible, scratch[1], sizeof(float) * (size_t)mo_grid_cells(g)); // sides beyond the first keep their values
}
