// The steps of a cycle on one level.
#include "sparse/level.h"
#include <string.h>

// Enough for a box, and for the windows of a tile in which every other cell is
// a piece of its own.
enum { SMALL = 4096, MAX_BOX = 12 * 12 * 12 + 8, MAX_WINDOW = 0xffff };
enum { T = MO_FINEST_TILE, W = T / 2 + 2 }; // cells and parents of a tile along an axis

typedef float vec8 __attribute__((vector_size(32)));
typedef float vec8_unaligned __attribute__((vector_size(32), aligned(4)));

// ---- Boxes ----

// Is every cell of the tile a row? Then its rows are lines of 8.
static inline bool full_tile(const mo_level *l, int32_t first, int32_t end)
{
    return l->finest && end - first == T * T * T;
}

// The box around group g. Unused places are 0: constant stencils read a little
// past their neighbours.
static inline void load_box(const mo_level *l, int32_t g, bool zero, float *box)
{
    int32_t first = l->sweep.group[g], end = l->sweep.group[g + 1], side = l->A.side;
    memset(box, 0, sizeof(float) * (size_t)(side * side * side + 8));
    for (int32_t k = l->halo[g]; k < l->halo[g + 1]; k++) box[l->halo_place[k]] = l->x[l->halo_row[k]];
    if (zero) return;
    if (full_tile(l, first, end))
        for (int32_t i = first; i < end; i += T) memcpy(box + l->place[i], l->x + i, sizeof(float) * T);
    else
        for (int32_t i = first; i < end; i++) box[l->place[i]] = l->x[i];
}

// ---- Rows: the off-diagonal part of A_i x ----

// Several sums, so that the additions need not wait for each other.
static inline float pattern_sum(const mo_stencils *A, int32_t pattern, const float *centre)
{
    int64_t k = A->start[pattern], end = A->start[pattern + 1];
    const int16_t *step = A->step;
    const float *val = A->val;
    float s = 0, t = 0, u = 0, v = 0;
    for (; k + 4 <= end; k += 4) {
        s += val[k] * centre[step[k]];
        t += val[k + 1] * centre[step[k + 1]];
        u += val[k + 2] * centre[step[k + 2]];
        v += val[k + 3] * centre[step[k + 3]];
    }
    for (; k < end; k++) s += val[k] * centre[step[k]];
    return (s + t) + (u + v);
}

// The constant stencil of a coarse level, by lines along x.
static inline float line_sum(const mo_level *l, const float *centre)
{
    vec8 s = {0}, t = {0};
    int32_t k = 0;
    for (; k + 2 <= l->lines; k += 2) {
        s += *(const vec8 *)l->line[k] * *(const vec8_unaligned *)(centre + l->line_step[k]);
        t += *(const vec8 *)l->line[k + 1] * *(const vec8_unaligned *)(centre + l->line_step[k + 1]);
    }
    if (k < l->lines) s += *(const vec8 *)l->line[k] * *(const vec8_unaligned *)(centre + l->line_step[k]);
    s += t;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// `last`: the neighbour along x that was updated just before; it is added last,
// the rest need not wait for it.
static inline float row_sum(const mo_level *l, int32_t pattern, const float *centre, int32_t last)
{
    if (pattern == 0 && l->seven_point) {
        enum { S = T + 2 };
        float others = (centre[-S] + centre[S]) + (centre[-S * S] + centre[S * S]);
        return -((others + centre[-last]) + centre[last]);
    }
    if (pattern == 0 && l->lines) return line_sum(l, centre);
    return pattern_sum(&l->A, pattern, centre);
}

// ---- Smoothing ----

static inline void relax(mo_level *l, int32_t i, float *box, int32_t last)
{
    int32_t p = l->A.pattern[i];
    float *centre = box + l->place[i];
    l->x[i] = *centre = (l->b[i] - row_sum(l, p, centre, last)) * l->A.inverse[p];
}

void mo_level_sweep_forward(mo_level *l)
{
    const mo_sweep *s = &l->sweep;
    memset(l->x, 0, sizeof(float) * (size_t)l->A.rows);
#pragma omp parallel if (l->A.rows > SMALL)
    for (int32_t c = 0; c < s->colours; c++) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[c]; m < s->colour[c + 1]; m++) {
            float box[MAX_BOX];
            int32_t g = s->member[m];
            load_box(l, g, true, box);
            for (int32_t i = s->group[g]; i < s->group[g + 1]; i++) relax(l, i, box, -1);
        }
    }
}

void mo_level_sweep_backward(mo_level *l)
{
    const mo_sweep *s = &l->sweep;
#pragma omp parallel if (l->A.rows > SMALL)
    for (int32_t c = s->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[c]; m < s->colour[c + 1]; m++) {
            float box[MAX_BOX];
            int32_t g = s->member[m];
            load_box(l, g, false, box);
            for (int32_t i = s->group[g + 1] - 1; i >= s->group[g]; i--) relax(l, i, box, 1);
        }
    }
}

// ---- Transfer of a tile with one window, axis by axis. Cell x has parents (x
// + 1) / 2 + {0, 1} in the window ----

static inline float lower_weight(int32_t cell) { return cell & 1 ? 0.75f : 0.25f; }

// sums[W][W][W] from the box of residuals, 0 where there is no row.
static void restrict_tile(const float *box, int32_t side, int32_t reach, float *sums)
{
    float plane[W][T][T] = {0}, line[W * W][T] = {0};
    for (int32_t z = 0; z < T; z++)
        for (int32_t y = 0; y < T; y++) {
            const float *from = box + reach + side * (y + reach + side * (z + reach));
            float low = lower_weight(z), *a = plane[(z + 1) / 2][y], *b = plane[(z + 1) / 2 + 1][y];
            for (int32_t x = 0; x < T; x++) a[x] += low * from[x], b[x] += (1 - low) * from[x];
        }
    for (int32_t z = 0; z < W; z++)
        for (int32_t y = 0; y < T; y++) {
            float low = lower_weight(y), *a = line[W * z + (y + 1) / 2], *b = line[W * z + (y + 1) / 2 + 1];
            for (int32_t x = 0; x < T; x++) a[x] += low * plane[z][y][x], b[x] += (1 - low) * plane[z][y][x];
        }
    for (int32_t k = 0; k < W * W; k++) {
        const float *v = line[k];
        float *out = sums + W * k;
        out[0] = 0.25f * v[0];
        for (int32_t x = 1; x < W - 1; x++)
            out[x] = 0.75f * (v[2 * x - 2] + v[2 * x - 1]) + (x > 1 ? 0.25f * v[2 * x - 3] : 0) +
                     (x < W - 2 ? 0.25f * v[2 * x] : 0);
        out[W - 1] = 0.25f * v[T - 1];
    }
}

// cells[T][T][T] interpolated from values[W][W][W].
static void interpolate_tile(const float *values, float *cells)
{
    float line[W * W][T], plane[W][T * T];
    for (int32_t k = 0; k < W * W; k++)
        for (int32_t x = 0; x < T; x++) {
            const float *v = values + W * k + (x + 1) / 2;
            line[k][x] = lower_weight(x) * v[0] + (1 - lower_weight(x)) * v[1];
        }
    for (int32_t z = 0; z < W; z++)
        for (int32_t y = 0; y < T; y++) {
            const float *a = line[W * z + (y + 1) / 2], *b = line[W * z + (y + 1) / 2 + 1], low = lower_weight(y);
            for (int32_t x = 0; x < T; x++) plane[z][T * y + x] = low * a[x] + (1 - low) * b[x];
        }
    for (int32_t z = 0; z < T; z++) {
        const float *a = plane[(z + 1) / 2], *b = plane[(z + 1) / 2 + 1], low = lower_weight(z);
        for (int32_t k = 0; k < T * T; k++) cells[T * T * z + k] = low * a[k] + (1 - low) * b[k];
    }
}

// ---- Transfer ----

static inline void scatter(const mo_level *l, int32_t i, float value, float *window)
{
    const int16_t *step = l->step[l->corner[i]];
    for (int32_t k = 0; k < l->parents; k++) window[l->near[i] + step[k]] += l->weight[k] * value;
}

static inline float gather(const mo_level *l, int32_t i, const float *window)
{
    const int16_t *step = l->step[l->corner[i]];
    float value = 0;
    for (int32_t k = 0; k < l->parents; k++) value += l->weight[k] * window[l->near[i] + step[k]];
    return value;
}

// One window, no flat axis: the transfer of the tile is a product of axes.
static inline bool separable(const mo_level *l, int32_t size) { return l->finest && size == W * W * W; }

static void restrict_group(mo_level *l, int32_t g, float *next_b)
{
    float box[MAX_BOX], residual[MAX_BOX], sums[MAX_WINDOW];
    int32_t size = l->window[g + 1] - l->window[g];
    const int32_t *row = l->window_row + l->window[g];
    bool by_axis = separable(l, size);
    load_box(l, g, false, box);
    if (by_axis)
        memset(residual, 0, sizeof residual);
    else
        memset(sums, 0, sizeof(float) * (size_t)size);
    for (int32_t i = l->sweep.group[g]; i < l->sweep.group[g + 1]; i++) {
        int32_t p = l->A.pattern[i];
        const float *centre = box + l->place[i];
        float r = l->b[i] - l->A.diagonal[p] * *centre - row_sum(l, p, centre, 1);
        if (l->near[i] == MO_NO_PARENT)
            l->r[i] = r;
        else if (by_axis)
            residual[l->place[i]] = r;
        else
            scatter(l, i, r, sums);
    }
    if (by_axis) restrict_tile(residual, l->A.side, l->A.reach, sums);
    for (int32_t k = 0; k < size; k++)
        if (row[k] >= 0) next_b[row[k]] += sums[k];
}

// Groups of one colour never share a coarse row.
void mo_level_restrict(mo_level *l, mo_level *next)
{
    const mo_sweep *s = &l->sweep;
    memset(next->b, 0, sizeof(float) * (size_t)next->A.rows);
#pragma omp parallel if (l->A.rows > SMALL)
    for (int32_t c = 0; c < s->colours; c++) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[c]; m < s->colour[c + 1]; m++) restrict_group(l, s->member[m], next->b);
    }
}

static void interpolate_group(mo_level *l, int32_t g, const float *next_x)
{
    float values[MAX_WINDOW], cells[T * T * T];
    int32_t size = l->window[g + 1] - l->window[g], first = l->sweep.group[g], end = l->sweep.group[g + 1];
    const int32_t *row = l->window_row + l->window[g];
    if (size == 0) return;
    for (int32_t k = 0; k < size; k++) values[k] = row[k] >= 0 ? next_x[row[k]] : 0;
    if (separable(l, size) && full_tile(l, first, end)) {
        interpolate_tile(values, cells);
        for (int32_t k = 0; k < T * T * T; k++) l->x[first + k] += cells[k];
        return;
    }
    for (int32_t i = first; i < end; i++)
        if (l->near[i] != MO_NO_PARENT) l->x[i] += gather(l, i, values);
}

void mo_level_interpolate(mo_level *l, const mo_level *next)
{
#pragma omp parallel for schedule(static) if (l->A.rows > SMALL)
    for (int32_t g = 0; g < l->sweep.groups; g++) interpolate_group(l, g, next->x);
}
