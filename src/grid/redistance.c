// Redistancing: inside the liquid (the closing that measures volume), and on both sides of a surface.
//
// It goes in rounds over tiles (tile_bits.h); what is left to do is kept per tile, so that quiet tiles cost next to
// nothing. In 2D only the plane k = MO_MARGIN is real; neighbours in z are absent. Sides beyond the first
// (grid/sites.h) are few: they come after the tiles in every round, one after the other.
#include "grid/redistance.h"
#include "base/lanes.h"
#include "grid/tile_bits.h"
#include <math.h>

static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float smaller(float a, float b) { return a < b ? a : b; }

// ---- Distances inside ----

// Inside cells, the others; inside cells off the interface; those that changed last, by parity of the round.
enum { INSIDE, OUTSIDE, LISTED, CHANGED };

static void split_tile(const mo_grid *g, const float *phi, int32_t tile, uint8_t *work)
{
    mo_tile_bits inside = {{0}}, outside = {{0}};
    for (int z = mo_first_plane(g); z < mo_end_plane(g); z++) {
        const float *v = phi + (int64_t)tile * MO_TILE_CELLS + 64 * z;
        for (int i = 0; i < 64; i++) inside.plane[z] |= (uint64_t)(v[i] < 0) << i;
        outside.plane[z] = ~inside.plane[z];
    }
    mo_tile_bits_put(work, tile, INSIDE, &inside);
    mo_tile_bits_put(work, tile, OUTSIDE, &outside);
}

// Rows beyond the cells: first and one past the last of all.
static int32_t more_first(const mo_grid *g) { return (int32_t)mo_grid_cells(g); }
static int32_t more_end(const mo_grid *g) { return (int32_t)mo_grid_cells(g) + (g->sites ? g->sites->rows : 0); }

static void split_more(const mo_grid *g, const float *phi, uint8_t *work)
{
    for (int32_t i = more_first(g); i < more_end(g); i++) work[i] = phi[i] < 0 ? 1 << INSIDE : 1 << OUTSIDE;
}

// The value beside a row: outside where tiles are missing, the row's own behind a sheet.
static float beside(const mo_grid *g, const float *phi, int32_t q, int axis, int side)
{
    int32_t n = mo_site_step(g, MO_SITE_ROW, q, axis, side);
    return n >= 0 ? phi[n] : mo_lattice_ends(g, MO_SITE_ROW, q, axis, side) ? 1 : phi[q];
}

// Distance to the zero level of a cell next to it: 1/sqrt(sum 1/d_a^2) over the crossings d_a of the lattice lines
// through the cell, also those extrapolated past a neighbour. That is |phi| over the upwind gradient, and exact for
// planes; without the extrapolated crossings oblique planes are off by up to 0.3 cells.
static float interface_distance(const mo_grid *g, const float *phi, int32_t q)
{
    float sign = phi[q] < 0 ? -1 : 1, c = sign * phi[q], sum = 0;
    int axes = mo_grid_axes(g);
    for (int a = 0; a < axes; a++) {
        float slope = larger(0, c - smaller(sign * beside(g, phi, q, a, -1), sign * beside(g, phi, q, a, 1)));
        sum += slope * slope;
    }
    return larger(c / sqrtf(sum), 1e-6f);
}

// Both buffers start from `out`; the known cells are the first that changed. True if there are any.
static bool start_rounds(int32_t tile, const mo_tile_bits *listed, const mo_tile_bits *known, const float *out,
                         float *other, uint8_t *work)
{
    const mo_tile_bits none = {{0}};
    uint64_t any = 0;
    memcpy(other + (int64_t)tile * MO_TILE_CELLS, out + (int64_t)tile * MO_TILE_CELLS, sizeof(float) * MO_TILE_CELLS);
    for (int z = 0; z < MO_TILE; z++) any |= known->plane[z];
    mo_tile_bits_put(work, tile, LISTED, listed);
    mo_tile_bits_put(work, tile, CHANGED, known);
    mo_tile_bits_put(work, tile, CHANGED + 1, &none);
    return any != 0;
}

// Values next to the interface, -depth elsewhere inside, and the set of cells to be solved for. True if the tile holds
// inside cells next to the interface.
static bool start_tile(const mo_grid *g, const float *phi, int32_t tile, float depth, float *out, float *other,
                       uint8_t *work)
{
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    mo_tile_bits inside = mo_tile_bits_get(work, tile, INSIDE), outside = mo_tile_bits_get(work, tile, OUTSIDE);
    mo_tile_bits near_air = mo_tile_bits_grow(g, work, MO_SITE_ROW, tile, OUTSIDE, true),
                 near_liquid = mo_tile_bits_grow(g, work, MO_SITE_ROW, tile, INSIDE, false);
    mo_tile_bits listed = {{0}}, known = {{0}};
    memcpy(out + first, phi + first, sizeof(float) * MO_TILE_CELLS);
    for (int z = mo_first_plane(g); z < mo_end_plane(g); z++) {
        float *to = out + first + 64 * z;
        for (int i = 0; i < 64; i++) to[i] = to[i] < 0 ? -depth : to[i];
        known.plane[z] = inside.plane[z] & near_air.plane[z];
        listed.plane[z] = inside.plane[z] & ~near_air.plane[z];
        for (uint64_t p = known.plane[z]; p; p &= p - 1) {
            int i = __builtin_ctzll(p);
            to[i] = -smaller(depth, interface_distance(g, phi, (int32_t)first + 64 * z + i));
        }
        for (uint64_t p = outside.plane[z] & near_liquid.plane[z]; p; p &= p - 1) {
            int i = __builtin_ctzll(p);
            to[i] = larger(to[i], interface_distance(g, phi, (int32_t)first + 64 * z + i));
        }
    }
    return start_rounds(tile, &listed, &known, out, other, work);
}

// Marks a row beyond the cells, once its value is in out; `known` is its first change.
static void start_row(int32_t i, bool listed, bool known, const float *out, float *other, uint8_t *work)
{
    other[i] = out[i];
    mo_tile_flag_put(work, i, LISTED, listed);
    mo_tile_flag_put(work, i, CHANGED, known);
    mo_tile_flag_put(work, i, CHANGED + 1, false);
}

static void start_more(const mo_grid *g, const float *phi, float depth, float *out, float *other, uint8_t *work,
                       uint8_t *moved)
{
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool inside = phi[i] < 0,
             border = mo_tile_bits_beside(g, work, MO_SITE_ROW, i, inside ? OUTSIDE : INSIDE, inside);
        float distance = border ? interface_distance(g, phi, i) : depth;
        out[i] = inside ? -smaller(depth, distance) : border ? larger(phi[i], distance) : phi[i];
        start_row(i, inside && !border, inside && border, out, other, work);
        if (inside && border) moved[mo_site_cell(g, i) / MO_TILE_CELLS] = 1;
    }
}

// Upwind solution of |grad d| = 1 from the smaller neighbour of each axis.
static float eikonal(float a, float b, float c)
{
    float t;
    if (a > b) t = a, a = b, b = t;
    if (b > c) t = b, b = c, c = t;
    if (a > b) t = a, a = b, b = t;
    t = a + 1;
    if (t <= b) return t;
    t = 0.5f * (a + b + sqrtf(larger(0, 2 - (a - b) * (a - b))));
    if (t <= c) return t;
    // Sums of differences to the smallest: no cancellation far from zero.
    b -= a, c -= a;
    return a + (b + c + sqrtf(larger(0, (b + c) * (b + c) - 3 * (b * b + c * c - 1)))) / 3;
}

// The upwind value of a row. The neighbours of a listed row lie on its own side of the surface; those of missing tiles
// have no influence.
static float upwind(const mo_grid *g, const float *from, int32_t q, float band, float sign)
{
    float d[3] = {2 * band + 2, 2 * band + 2, 2 * band + 2};
    int axes = mo_grid_axes(g);
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, MO_SITE_ROW, q, a, side);
            if (n >= 0) d[a] = smaller(d[a], larger(sign * from[n], 0));
        }
    return smaller(sign * from[q], eikonal(d[0], d[1], d[2]));
}

// The same as eikonal, for eight rows.
static inline void eikonal_lanes(lanes a, lanes b, lanes c, lanes *out)
{
    const lanes zero = {0};
    lanes low, high, one, two, three, root;
    lanes_min(&a, &b, &low), lanes_max(&a, &b, &high);
    a = low, b = high;
    lanes_min(&b, &c, &low), lanes_max(&b, &c, &high);
    b = low, c = high;
    lanes_min(&a, &b, &low), lanes_max(&a, &b, &high);
    a = low, b = high;
    one = a + 1;
    two = 2 - (a - b) * (a - b);
    lanes_max(&zero, &two, &two), lanes_sqrt(&two, &root);
    two = 0.5f * (a + b + root);
    lane_ints first = one <= b, second = two <= c;
    b -= a, c -= a;
    three = (b + c) * (b + c) - 3 * (b * b + c * c - 1);
    lanes_max(&zero, &three, &three), lanes_sqrt(&three, &root);
    three = a + (b + c + root) / 3;
    lanes_select(&second, &two, &three, &two);
    lanes_select(&first, &one, &two, out);
}

// The surroundings of a tile's cells: the tile itself and the six round it, NULL where they are missing.
typedef struct tile_around {
    const float *own, *side[3][2];
} tile_around;

static tile_around find_around(const mo_grid *g, const float *field, int32_t tile)
{
    static const int offset[3] = {1, 3, 9};
    tile_around w = {.own = field + (int64_t)tile * MO_TILE_CELLS};
    for (int a = 0; a < mo_grid_axes(g); a++)
        for (int s = 0; s < 2; s++) {
            int32_t t = g->neighbour[tile][13 + (s ? offset[a] : -offset[a])];
            w.side[a][s] = t < 0 ? NULL : field + (int64_t)t * MO_TILE_CELLS;
        }
    return w;
}

// The row beside row `y` or `z` along axis 1 or 2, NULL: none.
static inline const float *row_beside(const tile_around *w, int row, int axis, int side)
{
    int stride = axis == 1 ? 8 : 64, at = row >> (3 * axis - 3) & 7, start = 8 * row;
    if (side ? at < 7 : at > 0) return w->own + start + (side ? stride : -stride);
    const float *other = w->side[axis][side];
    return other ? other + start + (side ? -7 * stride : 7 * stride) : NULL;
}

// Upwind values of the eight cells of a row, as upwind() has them. flat: there is no third axis.
static inline void upwind_row(const tile_around *w, int row, float far, bool flat, lanes *sign, lanes *value)
{
    const lanes zero = {0}, plus = zero + 1, minus = zero - 1;
    lanes here, beside[2], d[3] = {zero + far, zero + far, zero + far};
    memcpy(&here, w->own + 8 * row, sizeof here);
    lane_ints inside = here < 0;
    lanes_select(&inside, &minus, &plus, sign);
    const float *low = w->side[0][0], *high = w->side[0][1];
    // A missing neighbour has the largest distance on the cell's own side.
    lanes_beside(&here, low ? low[8 * row + 7] : (*sign)[0] * far, high ? high[8 * row] : (*sign)[7] * far, &beside[0],
                 &beside[1]);
    for (int a = 0; a < (flat ? 2 : 3); a++)
        for (int s = 0; s < 2; s++) {
            const float *from = a ? row_beside(w, row, a, s) : w->own;
            if (!from) continue;
            if (a) memcpy(&beside[s], from, sizeof beside[s]);
            lanes v = *sign * beside[s];
            lanes_max(&v, &zero, &v), lanes_min(&d[a], &v, &d[a]);
        }
    eikonal_lanes(d[0], d[1], d[2], value);
    here *= *sign;
    lanes_min(&here, value, value);
}

// One Jacobi round of the cells `todo` of a plane; returns those that changed.
static uint64_t sweep_plane(const tile_around *w, int z, uint64_t todo, float band, bool flat, float *to)
{
    uint64_t changed = 0;
    for (int y = 0; y < MO_TILE; y++) {
        unsigned bits = todo >> (8 * y) & 255;
        if (!bits) continue;
        int row = 8 * z + y;
        lanes sign, value, old;
        lane_ints take;
        upwind_row(w, row, 2 * band + 2, flat, &sign, &value);
        value *= sign;
        memcpy(&old, w->own + 8 * row, sizeof old);
        lane_ints differs = value != old;
        changed |= (uint64_t)(lanes_to_bits(&differs) & bits) << (8 * y);
        memcpy(&old, to + 8 * row, sizeof old);
        lanes_from_bits(bits, &take);
        lanes_select(&take, &value, &old, &value);
        memcpy(to + 8 * row, &value, sizeof value);
    }
    return changed;
}

// The same, one by one: a sheet cuts the tile.
static uint64_t sweep_cut_plane(const mo_grid *g, int32_t tile, int z, uint64_t todo, float band, const float *from,
                                float *to)
{
    uint64_t changed = 0;
    for (uint64_t p = todo; p; p &= p - 1) {
        int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
        float sign = from[q] < 0 ? -1 : 1, value = upwind(g, from, q, band, sign);
        if (value != sign * from[q]) changed |= p & -p;
        to[q] = sign * value;
    }
    return changed;
}

// One Jacobi round of a tile: where a neighbour changed in the round before, or the cell itself did (the other buffer
// lags).
static bool sweep_tile(const mo_grid *g, int32_t tile, int now, float band, const float *from, float *to, uint8_t *work)
{
    mo_tile_bits listed = mo_tile_bits_get(work, tile, LISTED),
                 todo = mo_tile_bits_grow(g, work, MO_SITE_ROW, tile, CHANGED + 1 - now, false);
    mo_tile_bits before = mo_tile_bits_get(work, tile, CHANGED + 1 - now), changed = {{0}};
    bool cut = mo_site_is_cut(g, tile * MO_TILE_CELLS), flat = mo_grid_is_2d(g);
    tile_around around = find_around(g, from, tile);
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) {
        uint64_t p = (todo.plane[z] | before.plane[z]) & listed.plane[z];
        if (!p) continue;
        changed.plane[z] = cut ? sweep_cut_plane(g, tile, z, p, band, from, to)
                               : sweep_plane(&around, z, p, band, flat, to + (int64_t)tile * MO_TILE_CELLS);
        any |= changed.plane[z];
    }
    mo_tile_bits_put(work, tile, CHANGED + now, &changed);
    return any != 0;
}

static int sweep_more(const mo_grid *g, int now, float band, const float *from, float *to, uint8_t *work,
                      uint8_t *moved)
{
    int active = 0;
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool todo = mo_tile_flag(g, work, i, CHANGED + 1 - now) ||
                    mo_tile_bits_beside(g, work, MO_SITE_ROW, i, CHANGED + 1 - now, false);
        bool changed = false;
        if (todo && mo_tile_flag(g, work, i, LISTED)) {
            float sign = from[i] < 0 ? -1 : 1, value = upwind(g, from, i, band, sign);
            changed = value != sign * from[i];
            to[i] = sign * value;
        }
        mo_tile_flag_put(work, i, CHANGED + now, changed);
        if (changed) active = moved[mo_site_cell(g, i) / MO_TILE_CELLS] = 1;
    }
    return active;
}

// A tile in which, and beside which, nothing changed is final: both buffers hold the same.
static bool near_change(const mo_grid *g, const uint8_t *moved, int32_t tile)
{
    static const int around[7] = {13, 12, 14, 10, 16, 4, 22};
    for (int i = 0; i < 7; i++) {
        int32_t t = g->neighbour[tile][around[i]];
        if (t >= 0 && moved[t]) return true;
    }
    return false;
}

static void rest_tile(int32_t tile, int now, uint8_t *work)
{
    mo_tile_bits none = {{0}};
    mo_tile_bits_put(work, tile, CHANGED + now, &none);
}

// Jacobi rounds until nothing changes; buffer[0] holds the result.
static void run_rounds(const mo_grid *g, float depth, float *const buffer[2], uint8_t *const moved[2], uint8_t *work)
{
    // Values only fall and depend on smaller ones, so the rounds end early, and after one without change both buffers
    // are equal. The cap, which garbage could reach, is even: the last round writes out.
    int active = 1, cap = 2 * (4 * (int)ceilf(depth) + 8);
    for (int round = 1; active && round <= cap; round++) {
        int now = round & 1;
        active = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(| : active)
        for (int32_t t = 0; t < g->tiles; t++) {
            bool changed = false;
            if (near_change(g, moved[1 - now], t))
                changed = sweep_tile(g, t, now, depth, buffer[1 - now], buffer[now], work);
            else if (moved[now][t])
                rest_tile(t, now, work);
            moved[now][t] = changed;
            active |= changed;
        }
        active |= sweep_more(g, now, depth, buffer[1 - now], buffer[now], work, moved[now]);
    }
}

void mo_redistance_inside(const mo_grid *g, const float *phi, float depth, float *out, float *scratch)
{
    MO_ASSERT(depth > 0);
    MO_ASSERT(out != phi && scratch != phi && scratch != out);
    float *buffer[2] = {out, scratch};
    uint8_t *work = (uint8_t *)(scratch + mo_grid_fields(g)), *spare = work + mo_grid_fields(g);
    uint8_t *moved[2] = {spare, spare + g->tiles}; // tiles changed, by parity of the round
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) split_tile(g, phi, t, work);
    split_more(g, phi, work);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++)
        moved[0][t] = start_tile(g, phi, t, depth, out, scratch, work), moved[1][t] = 0;
    start_more(g, phi, depth, out, scratch, work, moved[0]);
    run_rounds(g, depth, buffer, moved, work);
}

// ---- Distances on both sides ----

// Cells on the interface, which keep their value, are the first that changed.
static bool start_both_tile(const mo_grid *g, const float *phi, int32_t tile, float band, float *out, float *other,
                            uint8_t *work)
{
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    mo_tile_bits inside = mo_tile_bits_get(work, tile, INSIDE), outside = mo_tile_bits_get(work, tile, OUTSIDE);
    mo_tile_bits near_air = mo_tile_bits_grow(g, work, MO_SITE_ROW, tile, OUTSIDE, false),
                 near_liquid = mo_tile_bits_grow(g, work, MO_SITE_ROW, tile, INSIDE, false);
    mo_tile_bits listed = {{0}}, known = {{0}};
    memcpy(out + first, phi + first, sizeof(float) * MO_TILE_CELLS);
    for (int z = mo_first_plane(g); z < mo_end_plane(g); z++) {
        known.plane[z] = (inside.plane[z] & near_air.plane[z]) | (outside.plane[z] & near_liquid.plane[z]);
        listed.plane[z] = ~known.plane[z];
        float *to = out + first + 64 * z;
        for (int i = 0; i < 64; i++)
            if (listed.plane[z] >> i & 1) to[i] = to[i] < 0 ? -band : band;
    }
    return start_rounds(tile, &listed, &known, out, other, work);
}

static void start_both_more(const mo_grid *g, const float *phi, float band, float *out, float *other, uint8_t *work,
                            uint8_t *moved)
{
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool inside = phi[i] < 0,
             known = mo_tile_bits_beside(g, work, MO_SITE_ROW, i, inside ? OUTSIDE : INSIDE, false);
        out[i] = known ? phi[i] : inside ? -band : band;
        start_row(i, !known, known, out, other, work);
        if (known) moved[mo_site_cell(g, i) / MO_TILE_CELLS] = 1;
    }
}

void mo_redistance_both(const mo_grid *g, const float *phi, float band, float *out, float *scratch, uint8_t *bytes)
{
    MO_ASSERT(band > 0);
    MO_ASSERT(out != phi && scratch != phi && scratch != out);
    float *buffer[2] = {out, scratch};
    uint8_t *work = bytes, *spare = bytes + mo_grid_fields(g);
    uint8_t *moved[2] = {spare, spare + g->tiles};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) split_tile(g, phi, t, work);
    split_more(g, phi, work);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++)
        moved[0][t] = start_both_tile(g, phi, t, band, out, scratch, work), moved[1][t] = 0;
    start_both_more(g, phi, band, out, scratch, work, moved[0]);
    run_rounds(g, band, buffer, moved, work);
}
