// The shear rate sqrt(2 D:D) at every stress sample, for viscosities that depend on it (MO 5).
//
// Components of D live at different places: the diagonal at cells, the others at edges. A sample takes its own
// component as it is and the rest as means of squares over the samples round it, so that shear which changes its sign
// from sample to sample is not averaged away. Samples that do not exist are left out of the means.
#include "grid/sites.h"
#include "system/stress.h"
#include <math.h>
#include <string.h>

enum { COMPONENTS = MO_STRESS_XY + 1, DIAGONAL = 0 }; // sums: DIAGONAL, then one for each edge direction

typedef struct samples {
    const mo_grid *g;
    const double *strain;
    int32_t *row[COMPONENTS]; // [cells] of each component, -1 = none; MO_STRESS_YZ - 1 is not used
    double *sum[4];           // [cells] sum of D_aa^2; mean of D_ab^2 over the edges along x, y, z; -1 = none
    bool reduced;
} samples;

static mo_status samples_create(samples *s, mo_arena *arena, mo_error *err)
{
    int64_t cells = mo_grid_cells(s->g);
    for (int c = 0; c < COMPONENTS; c++) {
        if (c == MO_STRESS_YZ - 1) continue;
        s->row[c] = MO_ARENA_ARRAY(arena, int32_t, cells);
        if (!s->row[c]) return mo_fail_memory(err);
    }
    for (int k = 0; k < 4; k++) {
        s->sum[k] = MO_ARENA_ARRAY(arena, double, cells);
        if (!s->sum[k]) return mo_fail_memory(err);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < cells; i++)
        for (int c = 0; c < COMPONENTS; c++)
            if (s->row[c]) s->row[c][i] = -1;
    return MO_OK;
}

// Sum of the squares on the diagonal. A missing row of the traceless stress is a stress of 0: the trace still vanishes.
static double diagonal_at(const samples *s, int32_t cell)
{
    double d[3] = {0, 0, 0};
    bool any = false;
    for (int a = 0; a < 3; a++) {
        int32_t row = s->row[MO_STRESS_XX + a][cell];
        if (row >= 0) d[a] = s->strain[row], any = true;
    }
    if (!any) return -1;
    if (s->reduced && mo_grid_is_2d(s->g))
        d[1] = -d[0];
    else if (s->reduced)
        d[2] = -(d[0] + d[1]);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

// The four cells that share the low (side -1) edge of a cell along an axis, or whose low edges along it are those of
// the cell (side +1): field indices, -1 = none.
static void four_round(const mo_grid *g, const int32_t c[3], int axis, int side, int32_t round[4])
{
    for (int n = 0; n < 4; n++) {
        int32_t at[3] = {c[0], c[1], c[2]};
        at[(axis + 1) % 3] += n & 1 ? side : 0;
        at[(axis + 2) % 3] += n & 2 ? side : 0;
        round[n] = mo_grid_index(g, at[0], at[1], at[2]);
    }
}

static void sum_cell(const samples *s, int32_t cell)
{
    int32_t c[3], round[4];
    mo_grid_cell(s->g, cell, c);
    s->sum[DIAGONAL][cell] = diagonal_at(s, cell);
    for (int axis = 0; axis < 3; axis++) {
        const int32_t *row_at = s->row[MO_STRESS_YZ + axis];
        double sum = 0;
        int count = 0;
        four_round(s->g, c, axis, 1, round);
        for (int n = 0; n < 4; n++) {
            int32_t row = round[n] >= 0 ? row_at[round[n]] : -1;
            if (row >= 0) sum += s->strain[row] * s->strain[row], count++;
        }
        s->sum[1 + axis][cell] = count ? sum / count : -1;
    }
}

// 2 D:D at a cell.
static double at_cell(const samples *s, int32_t cell)
{
    double sum = s->sum[DIAGONAL][cell];
    for (int axis = 0; axis < 3; axis++)
        if (!(s->sum[1 + axis][cell] < 0)) sum += 2 * s->sum[1 + axis][cell];
    return 2 * sum;
}

// 2 D:D at the low edge of a cell along an axis, whose own component is `own`.
static double at_edge(const samples *s, int32_t cell, int axis, double own)
{
    int32_t c[3], round[4];
    mo_grid_cell(s->g, cell, c);
    four_round(s->g, c, axis, -1, round);
    double total = 2 * own * own;
    for (int k = 0; k < 4; k++) {
        if (k == 1 + axis) continue;
        double sum = 0;
        int count = 0;
        for (int n = 0; n < 4; n++)
            if (round[n] >= 0 && !(s->sum[k][round[n]] < 0)) sum += s->sum[k][round[n]], count++;
        if (count) total += (k == DIAGONAL ? 1 : 2) * sum / count;
    }
    return 2 * total;
}

// ---- Where sheets are ----

// Sums over the rows of the grid: the diagonal as above, in whose weight the components that were added are; D_ab^2
// times the weight of its row of strain, and these weights.
typedef struct sides {
    const mo_liquid_system *l;
    const double *strain;
    double (*sum)[4], (*weight)[4]; // [rows of the grid]
} sides;

static double weight_of(const mo_liquid_system *l, int32_t r)
{
    return l->unit_compliance[l->system.block[MO_BLOCK_STRESS]->compliance.row[r]];
}

static inline bool is_shear(int component) { return component >= MO_STRESS_YZ && component <= MO_STRESS_XY; }

// Whether a row of an edge has only one of the two differences there, and the row before it has both.
static bool is_second(const mo_liquid_system *l, int32_t r)
{
    return r > 0 && is_shear(mo_stress_component(l->sample_at[r])) && l->sample_at[r - 1] == l->sample_at[r] &&
           l->home[l->first_home[r - 1]] == l->home[l->first_home[r]];
}

// Whether sheets bound the liquid in which a row of strain lies.
static bool is_bounded(const mo_grid *g, const mo_liquid_system *l, int32_t r)
{
    const mo_site_wall *wall;
    for (int64_t k = l->first_home[r]; k < l->first_home[r + 1]; k++)
        if (mo_site_walls(g, l->home[k], &wall)) return true;
    return false;
}

// Adds a row of strain to the rows of the grid in whose liquid it lies. reduced: the last component of the diagonal is
// not stored, and the trace vanishes.
static void add_to_homes(const sides *s, int32_t r, bool reduced, bool flat)
{
    const mo_liquid_system *l = s->l;
    int component = mo_stress_component(l->sample_at[r]);
    double d = s->strain[r], w = weight_of(l, r);
    for (int64_t k = l->first_home[r]; k < l->first_home[r + 1]; k++) {
        double *sum = s->sum[l->home[k]], *weight = s->weight[l->home[k]];
        if (is_shear(component)) {
            int axis = component - MO_STRESS_YZ;
            sum[1 + axis] += w * d * d, weight[1 + axis] += w;
        } else if (component < MO_STRESS_YZ) {
            sum[DIAGONAL] += (reduced ? 2 : 1) * d * d;
            if (!reduced || flat) continue;
            sum[DIAGONAL] += 2 * d * weight[DIAGONAL]; // xx^2 + yy^2 + (xx + yy)^2, one after the other
            weight[DIAGONAL] += d;
        }
    }
}

// 2 D:D of a row of strain: its own shear as it is, the rest as means over the rows in whose liquid it lies. Beside
// sheets all of it is such means, because single rows there have only a part of the shear.
static double at_homes(const sides *s, const mo_grid *g, int32_t r)
{
    const mo_liquid_system *l = s->l;
    int component = mo_stress_component(l->sample_at[r]), own = -1;
    double total = 0, count = (double)(l->first_home[r + 1] - l->first_home[r]);
    if (is_shear(component) && !is_bounded(g, l, r)) own = 1 + component - MO_STRESS_YZ;
    if (own > 0 || component > MO_STRESS_XY) total = 2 * s->strain[r] * s->strain[r];
    for (int64_t k = l->first_home[r]; k < l->first_home[r + 1]; k++) {
        const double *sum = s->sum[l->home[k]], *weight = s->weight[l->home[k]];
        total += sum[DIAGONAL] / count;
        for (int e = 1; e < 4; e++)
            if (e != own && weight[e] > 0) total += 2 * sum[e] / (weight[e] * count);
    }
    return 2 * total;
}

static mo_status rate_of_sides(const mo_grid *g, const mo_liquid_system *l, const double *strain, bool reduced,
                               mo_arena *arena, double *rate, mo_error *err)
{
    int32_t rows = l->system.block[MO_BLOCK_STRESS]->rows;
    size_t bytes = sizeof(double[4]) * (size_t)(mo_grid_fields(g) + 1), mark = mo_arena_mark(arena);
    sides s = {l, strain, mo_arena_alloc(arena, bytes), mo_arena_alloc(arena, bytes)};
    if (!s.sum || !s.weight) return mo_fail_memory(err);
    memset(s.sum, 0, bytes), memset(s.weight, 0, bytes);
    for (int32_t r = 0; r < rows; r++)
        if (!is_second(l, r)) add_to_homes(&s, r, reduced, mo_grid_is_2d(g));
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < rows; r++) rate[r] = sqrt(at_homes(&s, g, r));
    mo_arena_release(arena, mark);
    return MO_OK;
}

mo_status mo_shear_rate(const mo_grid *g, const mo_liquid_system *s, const double *strain, bool reduced,
                        mo_arena *arena, double *rate, mo_error *err)
{
    const mo_block *stress = s->system.block[MO_BLOCK_STRESS];
    if (!stress) return MO_OK;
    if (s->home) return rate_of_sides(g, s, strain, reduced, arena, rate, err);
    size_t mark = mo_arena_mark(arena);
    samples at = {.g = g, .strain = strain, .reduced = reduced};
    mo_status status = samples_create(&at, arena, err);
    if (status == MO_OK) {
#pragma omp parallel for schedule(static)
        for (int32_t r = 0; r < stress->rows; r++)
            at.row[mo_stress_component(s->sample_at[r])][mo_stress_cell(s->sample_at[r])] = r;
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) sum_cell(&at, i);
#pragma omp parallel for schedule(static)
        for (int32_t r = 0; r < stress->rows; r++) {
            int32_t cell = mo_stress_cell(s->sample_at[r]), component = mo_stress_component(s->sample_at[r]);
            double square =
                component < MO_STRESS_YZ ? at_cell(&at, cell) : at_edge(&at, cell, component - MO_STRESS_YZ, strain[r]);
            rate[r] = sqrt(square);
        }
    }
    mo_arena_release(arena, mark);
    return status;
}
