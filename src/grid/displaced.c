// What a body displaces in one tile, half cell by half cell.
#include "grid/displaced.h"
#include "grid/covering.h"
#include <math.h>
#include <string.h>

enum { HALO = 2, BLOCK = MO_TILE + 2 * HALO };
#define FAR 1.5 // cells: further than the corners of the box round a face are from the centres of its cells

typedef struct work {
    const mo_displacing *def;
    const mo_lifts *lifts;
    mo_displaced *sum;
    const int32_t *coord;
    bool flat;
    mo_covering covering;             // of the body
    double phi[BLOCK][BLOCK][BLOCK];  // cells -2 .. 9
    bool inside[BLOCK][BLOCK][BLOCK]; // of the body, deep
} work;

// ---- Level set ----

// The centre of the body in lattice coordinates.
static mo_vec3 body_centre(const mo_displacing *d)
{
    const mo_grid *g = d->grid;
    return mo_mul(1 / g->dx, mo_sub(d->solids->centre[d->solid], g->origin));
}

static double plane_at(const mo_displacing *d, mo_vec3 centre, const int32_t c[3])
{
    mo_vec3 x = {c[0] + 0.5 - centre.x, c[1] + 0.5 - centre.y, c[2] + 0.5 - centre.z};
    return d->offset + mo_dot(d->slope, x);
}

static void read_level(work *w)
{
    const mo_displacing *d = w->def;
    const mo_vec3 centre = body_centre(d);
    for (int n = 0; n < BLOCK * BLOCK * BLOCK; n++) {
        const int at[3] = {n % BLOCK, n / BLOCK % BLOCK, n / (BLOCK * BLOCK)};
        int32_t c[3];
        for (int a = 0; a < 3; a++) c[a] = 8 * w->coord[a] + at[a] - HALO;
        if (w->flat) c[2] = MO_MARGIN; // alike at every height
        int32_t i = mo_grid_index(d->grid, c[0], c[1], c[2]);
        w->phi[at[2]][at[1]][at[0]] = i < 0 ? plane_at(d, centre, c) : d->phi[i];
        w->inside[at[2]][at[1]][at[0]] = i < 0 || d->distance[i] < -FAR;
    }
}

static double cell_level(const work *w, const int cell[3])
{
    return w->phi[cell[2] + HALO][cell[1] + HALO][cell[0] + HALO];
}

// The level at a corner of half cells: odd ones are cell centres, even ones lie midway.
static double corner_level(const work *w, const int corner[3])
{
    int at[3][2];
    double sum = 0;
    for (int a = 0; a < 3; a++)
        at[a][0] = ((corner[a] + 1) >> 1) - 1 + HALO, at[a][1] = ((corner[a] + 2) >> 1) - 1 + HALO;
    for (int i = 0; i < 8; i++) sum += w->phi[at[2][i >> 2]][at[1][i >> 1 & 1]][at[0][i & 1]];
    return 0.125 * sum;
}

// The levels at the corners of a half cell.
static void half_levels(const work *w, const int half[3], double level[8])
{
    for (int i = 0; i < 8; i++)
        level[i] = corner_level(w, (int[3]){half[0] + (i & 1), half[1] + (i >> 1 & 1), half[2] + (i >> 2)});
}

// ---- The plane ----

typedef struct moments { // of cells near the surface: number, sums of x, phi, phi^2, x x^T, x phi
    double n, phi, phi2, side;
    double x[3], xx[3][3], xphi[3];
} moments;

static bool is_open(const mo_grid *g, float *const area[3], int32_t i)
{
    for (int a = 0; a < mo_grid_axes(g); a++) {
        int32_t next = mo_grid_step(g, i, a, 1);
        if (area[a][i] > 0 || (next >= 0 && area[a][next] > 0)) return true;
    }
    return false;
}

static void add_cell(const mo_displacing *d, int32_t i, double phi, mo_vec3 centre, moments *m)
{
    const double reach = 3;
    int32_t c[3];
    mo_grid_cell(d->grid, i, c);
    mo_vec3 at = mo_grid_world(d->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    if (d->solids->distance(d->solids->user, d->solid, at) > reach * d->grid->dx) return;
    double x[3] = {c[0] + 0.5 - centre.x, c[1] + 0.5 - centre.y, c[2] + 0.5 - centre.z};
    m->side += phi < 0 ? 1 : -1;
    if (fabs(phi) > FAR) return;
    m->n += 1, m->phi += phi, m->phi2 += phi * phi;
    for (int a = 0; a < 3; a++) {
        m->x[a] += x[a], m->xphi[a] += x[a] * phi;
        for (int b = 0; b < 3; b++) m->xx[a][b] += x[a] * x[b];
    }
}

// Solves A y = b, A symmetric and positive.
static void solve3(double A[3][3], double b[3])
{
    for (int p = 0; p < 3; p++)
        for (int i = p + 1; i < 3; i++) {
            double factor = A[i][p] / A[p][p];
            for (int k = p; k < 3; k++) A[i][k] -= factor * A[p][k];
            b[i] -= factor * b[p];
        }
    for (int p = 2; p >= 0; p--) {
        for (int k = p + 1; k < 3; k++) b[p] -= A[p][k] * b[k];
        b[p] /= A[p][p];
    }
}

// By the root mean square of the distance of the surface from the plane, in cells.
static double evenness(double misfit)
{
    const double plane = 0.05;
    return fmin(fmax(2 - misfit / plane, 0), 1);
}

void mo_displacing_plane(mo_displacing *d, int32_t tiles, const int32_t *tile, const float *level, float *const area[3])
{
    const mo_grid *g = d->grid;
    const mo_vec3 centre = body_centre(d);
    const double least = 1e-9; // of the variance along an axis: 2D, and cells in a row
    moments m = {0};
    for (int32_t t = 0; t < tiles; t++)
        for (int32_t i = tile[t] * MO_TILE_CELLS; i < (tile[t] + 1) * MO_TILE_CELLS; i++) {
            if (mo_grid_is_2d(g) && (i >> 6 & 7) != MO_MARGIN) continue;
            if (d->distance[i] < 3 && is_open(g, area, i)) add_cell(d, i, level[i], centre, &m);
        }
    d->slope = mo_v3(0, 0, 0), d->offset = m.side > 0 ? -2 : 2, d->even = 1;
    if (m.n < 3) return;
    double A[3][3], b[3], misfit = m.phi2 - m.phi * m.phi / m.n;
    for (int a = 0; a < 3; a++) {
        b[a] = m.xphi[a] - m.x[a] * m.phi / m.n;
        for (int k = 0; k < 3; k++) A[a][k] = m.xx[a][k] - m.x[a] * m.x[k] / m.n + (a == k ? least * m.n : 0);
    }
    double slope[3] = {b[0], b[1], b[2]};
    solve3(A, slope);
    for (int a = 0; a < 3; a++) misfit -= slope[a] * b[a];
    memcpy(b, slope, sizeof b);
    d->even = evenness(sqrt(fmax(misfit, 0) / m.n));
    d->slope = mo_v3(b[0], b[1], mo_grid_is_2d(g) ? 0 : b[2]);
    d->offset = (m.phi - b[0] * m.x[0] - b[1] * m.x[1] - d->slope.z * m.x[2]) / m.n;
}

// The plane at a closed cell, not further than a cell's length from the values of open cells beside it: where the
// surface is elsewhere on either side of the body, walls stay wet to their sides.
static double continued_at(const mo_displacing *d, int32_t i, float *const area[3], const float *phi)
{
    int32_t c[3];
    mo_grid_cell(d->grid, i, c);
    double value = plane_at(d, body_centre(d), c);
    for (int e = 0; e < 2 * mo_grid_axes(d->grid); e++) {
        int32_t n = mo_grid_step(d->grid, i, e >> 1, e & 1 ? 1 : -1);
        if (n >= 0 && is_open(d->grid, area, n)) value = fmin(fmax(value, phi[n] - 1.0), phi[n] + 1.0);
    }
    return value;
}

void mo_displacing_continue(const mo_displacing *d, int32_t tiles, const int32_t *tile, float *const area[3],
                            float *phi)
{
    for (int32_t t = 0; t < tiles; t++)
        for (int32_t i = tile[t] * MO_TILE_CELLS; i < (tile[t] + 1) * MO_TILE_CELLS; i++) {
            int32_t c[3];
            if (d->distance[i] >= 0 || is_open(d->grid, area, i)) continue;
            if (mo_grid_is_2d(d->grid) && (i >> 6 & 7) != MO_MARGIN) continue;
            mo_grid_cell(d->grid, i, c);
            mo_vec3 at = mo_grid_world(d->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
            if (!(d->solids->distance(d->solids->user, d->solid, at) < 0)) continue;
            phi[i] = (float)(phi[i] + d->even * (continued_at(d, i, area, phi) - phi[i]));
        }
}

// ---- Lifts ----

// The wet part of the segment between the centres beside a face.
static double segment_part(double a, double b)
{
    if (a < 0 && b < 0) return 1;
    return a < 0 ? a / (a - b) : b < 0 ? b / (b - a) : 0;
}

// The wet part of the tent round the low face of a cell: the integral of 1 - |x| over the liquid of both cells.
static double tent_part(const work *w, int axis, const int cell[3])
{
    static const double whole[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    double total = 0;
    for (int k = 0; k < 16; k++) {
        int half[3], along = (k & 3) - 2; // half cells from the face
        for (int a = 0, bit = 2; a < 3; a++) half[a] = 2 * cell[a] + (a == axis ? along : k >> bit++ & 1);
        double level[8], sum[4];
        half_levels(w, half, level);
        mo_integrate_box(whole, -1, level, sum);
        double near = along >= 0 ? 1 - 0.5 * along : 1 + 0.5 * along; // 1 - |x| at its low end
        total += (near * sum[0] + (along >= 0 ? -0.5 : 0.5) * sum[1 + axis]) / 8;
    }
    return total;
}

static mo_vec3 turn_of(mo_vec3 arm, int axis) { return mo_cross(arm, mo_v3(axis == 0, axis == 1, axis == 2)); }

// Whether a box is full of body and of liquid, as its neighbours are.
static bool is_full(const work *w, int axis, int l)
{
    const int cell[3] = {l & 7, l >> 3 & 7, l >> 6};
    return w->lifts->part[axis][l] == 1 && cell_level(w, cell) < -FAR &&
           w->inside[cell[2] + HALO][cell[1] + HALO][cell[0] + HALO];
}

static double wet_part(const work *w, int axis, int l)
{
    const int cell[3] = {l & 7, l >> 3 & 7, l >> 6};
    int before[3] = {cell[0], cell[1], cell[2]};
    before[axis]--;
    if (!w->def->tents) return segment_part(cell_level(w, before), cell_level(w, cell));
    return w->lifts->part[axis][l] == 1 ? tent_part(w, axis, cell) : w->lifts->wet[axis][l];
}

static void add_face(work *w, int axis, int l)
{
    double part = w->lifts->part[axis][l];
    bool full = is_full(w, axis, l);
    if (!(part > 0)) return;
    const mo_grid *g = w->def->grid;
    const int32_t *c = w->coord;
    mo_vec3 x = mo_grid_world(g, 8 * c[0] + (l & 7) + 0.5 * (axis != 0), 8 * c[1] + (l >> 3 & 7) + 0.5 * (axis != 1),
                              8 * c[2] + (l >> 6) + 0.5 * (axis != 2));
    mo_vec3 turn = turn_of(mo_sub(x, w->def->solids->centre[w->def->solid]), axis);
    double lift = full ? 1 : part * wet_part(w, axis, l);
    w->sum->lift[axis] += lift;
    w->sum->lift_turn[axis] = mo_mad(w->sum->lift_turn[axis], lift, turn);
    if (!full) return;
    w->sum->volume[axis] += 1;
    w->sum->volume_turn[axis] = mo_add(w->sum->volume_turn[axis], turn);
}

// ---- Volumes ----

// Whether a half cell belongs to a box along an axis that is cut.
static bool is_cut(const work *w, const int half[3], int axis)
{
    int at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = (half[a] + (a == axis)) >> 1;
        if (at[a] < 0 || at[a] >= MO_TILE) return false;
    }
    int l = at[0] + 8 * (at[1] + 8 * at[2]);
    return !(w->flat && axis == 2) && w->lifts->part[axis][l] >= 0 && !is_full(w, axis, l);
}

static void add_half(work *w, const int half[3])
{
    double level[8], sum[4];
    bool of[3], any = false;
    for (int a = 0; a < 3; a++) of[a] = is_cut(w, half, a), any |= of[a];
    if (!any) return;
    half_levels(w, half, level);
    mo_covering_wet_half(&w->covering, half, level, sum);
    if (!(sum[0] > 0)) return;
    const int32_t *c = w->coord;
    mo_vec3 x =
        mo_grid_world(w->def->grid, 8 * c[0] + sum[1] / sum[0], 8 * c[1] + sum[2] / sum[0], 8 * c[2] + sum[3] / sum[0]);
    mo_vec3 arm = mo_sub(x, w->def->solids->centre[w->def->solid]);
    for (int a = 0; a < 3; a++) {
        if (!of[a]) continue;
        w->sum->volume[a] += sum[0];
        w->sum->volume_turn[a] = mo_mad(w->sum->volume_turn[a], sum[0], turn_of(arm, a));
    }
}

void mo_displaced_tile(const mo_displacing *d, const int32_t coord[3], const mo_lifts *lifts, mo_displaced *sum)
{
    MO_ASSERT(d->solid >= 0 && d->solid < d->solids->count);
    work w = {.def = d, .lifts = lifts, .sum = sum, .coord = coord, .flat = mo_grid_is_2d(d->grid)};
    read_level(&w);
    mo_covering_start(&w.covering, d->grid, d->solids, d->solid, coord);
    for (int a = 0; a < mo_grid_axes(d->grid); a++)
        for (int l = 0; l < MO_TILE_CELLS; l++) add_face(&w, a, l);
    int first = w.flat ? 2 * MO_MARGIN : -1, end = w.flat ? 2 * MO_MARGIN + 2 : 2 * MO_TILE;
    for (int z = first; z < end; z++)
        for (int y = -1; y < 2 * MO_TILE; y++)
            for (int x = -1; x < 2 * MO_TILE; x++) add_half(&w, (int[3]){x, y, z});
}
