// Redistancing of the liquid's inside (the closing that measures volume) and extrapolation of face velocities.
//
// Both work in rounds in which every tile reads what the round before left and writes only itself, so results do not
// depend on threads, and both keep per tile what is left to do, so that quiet tiles cost next to nothing. In 2D only
// the plane k = MO_MARGIN is real; neighbours in z are absent. Sides and pieces beyond the first (grid/sites.h) are
// few: they come after the tiles in every round, one after the other.
#include "grid/levelset.h"
#include "grid/sites.h"
#include <math.h>
#include <string.h>

static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float smaller(float a, float b) { return a < b ? a : b; }

// A tile as bits, one word of x + 8 y per plane z; a few kinds of them are kept in the tile's 512 bytes of scratch.
typedef struct bits {
    uint64_t plane[MO_TILE];
} bits;
enum { KINDS = 5 };
_Static_assert(KINDS * sizeof(bits) <= MO_TILE_CELLS, "a tile's bits fit its scratch");

static bits get_bits(const uint8_t *scratch, int32_t tile, int kind)
{
    bits b;
    memcpy(&b, scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof b, sizeof b);
    return b;
}

static void put_bits(uint8_t *scratch, int32_t tile, int kind, const bits *b)
{
    memcpy(scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof *b, b, sizeof *b);
}

// The planes of a tile that are real.
static int first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static int end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// The same of one cell, side or piece. Those beyond the cells have a byte of scratch each.
static bool get_flag(const mo_grid *g, const uint8_t *scratch, int32_t i, int kind)
{
    if (i >= mo_grid_cells(g)) return scratch[i] >> kind & 1;
    bits b = get_bits(scratch, i / MO_TILE_CELLS, kind);
    return b.plane[i >> 6 & 7] >> (i & 63) & 1;
}

static void put_flag(uint8_t *scratch, int32_t i, int kind, bool value)
{
    scratch[i] = (uint8_t)((scratch[i] & ~(1u << kind)) | (unsigned)value << kind);
}

static bool lattice_ends(const mo_grid *g, int site, int32_t i, int axis, int side)
{
    int32_t cell = i < mo_grid_cells(g)  ? i
                   : site == MO_SITE_ROW ? mo_site_cell(g, i)
                                         : mo_sites_sample(g, site, i).cell;
    return mo_grid_step(g, cell, axis, side) < 0;
}

// Whether a neighbour of a cell, side or piece is of one kind; missing tiles are or not; nothing is behind a sheet.
static bool is_beside(const mo_grid *g, const uint8_t *scratch, int site, int32_t i, int kind, bool missing)
{
    int axes = mo_grid_is_2d(g) ? 2 : 3;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, site, i, a, side);
            if (n >= 0 ? get_flag(g, scratch, n, kind) : missing && lattice_ends(g, site, i, a, side)) return true;
        }
    return false;
}

static bits grow_cut(const mo_grid *g, const uint8_t *scratch, int site, int32_t tile, int kind, bool missing)
{
    bits d = {{0}};
    for (int z = first_plane(g); z < end_plane(g); z++)
        for (int i = 0; i < 64; i++)
            d.plane[z] |= (uint64_t)is_beside(g, scratch, site, tile * MO_TILE_CELLS + 64 * z + i, kind, missing) << i;
    return d;
}

// The cells next to those of one kind, across tiles; missing tiles are of that kind or not.
static bits grow(const mo_grid *g, const uint8_t *scratch, int site, int32_t tile, int kind, bool missing)
{
    if (mo_site_is_cut(g, tile * MO_TILE_CELLS)) return grow_cut(g, scratch, site, tile, kind, missing);
    const uint64_t first = 0x0101010101010101u, last = first << 7; // columns x = 0 and x = 7
    bits s = get_bits(scratch, tile, kind), d, n[6];
    static const int side[6] = {12, 14, 10, 16, 4, 22}; // x-, x+, y-, y+, z-, z+
    for (int i = 0; i < 6; i++) {
        int32_t t = g->neighbour[tile][side[i]];
        if (t >= 0)
            n[i] = get_bits(scratch, t, kind);
        else
            memset(&n[i], missing ? 0xff : 0, sizeof n[i]);
    }
    for (int z = 0; z < MO_TILE; z++) {
        uint64_t p = s.plane[z];
        d.plane[z] = (p << 1 & ~first) | (p >> 1 & ~last) | p << 8 | p >> 8;
        d.plane[z] |= (n[0].plane[z] >> 7 & first) | (n[1].plane[z] << 7 & last);
        d.plane[z] |= n[2].plane[z] >> 56 | n[3].plane[z] << 56;
        d.plane[z] |= z > 0 ? s.plane[z - 1] : n[4].plane[7];
        d.plane[z] |= z < 7 ? s.plane[z + 1] : n[5].plane[0];
    }
    return d;
}

// ---- Redistancing ----

// Inside cells, the others; inside cells off the interface; those that changed last, by parity of the round.
enum { INSIDE, OUTSIDE, LISTED, CHANGED };

static void split_tile(const mo_grid *g, const float *phi, int32_t tile, uint8_t *work)
{
    bits inside = {{0}}, outside = {{0}};
    for (int z = first_plane(g); z < end_plane(g); z++) {
        const float *v = phi + (int64_t)tile * MO_TILE_CELLS + 64 * z;
        for (int i = 0; i < 64; i++) inside.plane[z] |= (uint64_t)(v[i] < 0) << i;
        outside.plane[z] = ~inside.plane[z];
    }
    put_bits(work, tile, INSIDE, &inside);
    put_bits(work, tile, OUTSIDE, &outside);
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
    return n >= 0 ? phi[n] : lattice_ends(g, MO_SITE_ROW, q, axis, side) ? 1 : phi[q];
}

// Distance to the zero level of a cell next to it: 1/sqrt(sum 1/d_a^2) over the crossings d_a of the lattice lines
// through the cell, also those extrapolated past a neighbour. That is |phi| over the upwind gradient, and exact for
// planes; without the extrapolated crossings oblique planes are off by up to 0.3 cells.
static float interface_distance(const mo_grid *g, const float *phi, int32_t q)
{
    float sign = phi[q] < 0 ? -1 : 1, c = sign * phi[q], sum = 0;
    int axes = mo_grid_is_2d(g) ? 2 : 3;
    for (int a = 0; a < axes; a++) {
        float slope = larger(0, c - smaller(sign * beside(g, phi, q, a, -1), sign * beside(g, phi, q, a, 1)));
        sum += slope * slope;
    }
    return larger(c / sqrtf(sum), 1e-6f);
}

// Values next to the interface, -depth elsewhere inside, and the set of cells to be solved for. True if the tile holds
// inside cells next to the interface.
static bool start_tile(const mo_grid *g, const float *phi, int32_t tile, float depth, float *out, float *other,
                       uint8_t *work)
{
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    bits inside = get_bits(work, tile, INSIDE), outside = get_bits(work, tile, OUTSIDE);
    bits near_air = grow(g, work, MO_SITE_ROW, tile, OUTSIDE, true),
         near_liquid = grow(g, work, MO_SITE_ROW, tile, INSIDE, false);
    bits listed = {{0}}, known = {{0}}, none = {{0}};
    memcpy(out + first, phi + first, sizeof(float) * MO_TILE_CELLS);
    for (int z = first_plane(g); z < end_plane(g); z++) {
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
    memcpy(other + first, out + first, sizeof(float) * MO_TILE_CELLS);
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) any |= known.plane[z];
    put_bits(work, tile, LISTED, &listed);
    put_bits(work, tile, CHANGED, &known);
    put_bits(work, tile, CHANGED + 1, &none);
    return any != 0;
}

// Marks a row beyond the cells, once its value is in out; `known` is its first change.
static void start_row(int32_t i, bool listed, bool known, const float *out, float *other, uint8_t *work)
{
    other[i] = out[i];
    put_flag(work, i, LISTED, listed);
    put_flag(work, i, CHANGED, known);
    put_flag(work, i, CHANGED + 1, false);
}

static void start_more(const mo_grid *g, const float *phi, float depth, float *out, float *other, uint8_t *work,
                       uint8_t *moved)
{
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool inside = phi[i] < 0, border = is_beside(g, work, MO_SITE_ROW, i, inside ? OUTSIDE : INSIDE, inside);
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
// say nothing.
static float upwind(const mo_grid *g, const float *from, int32_t q, float band, float sign)
{
    float d[3] = {2 * band + 2, 2 * band + 2, 2 * band + 2};
    int axes = mo_grid_is_2d(g) ? 2 : 3;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, MO_SITE_ROW, q, a, side);
            if (n >= 0) d[a] = smaller(d[a], larger(sign * from[n], 0));
        }
    return smaller(sign * from[q], eikonal(d[0], d[1], d[2]));
}

// One Jacobi round of a tile: where a neighbour changed in the round before, or the cell itself did (the other buffer
// lags).
static bool sweep_tile(const mo_grid *g, int32_t tile, int now, float band, const float *from, float *to, uint8_t *work)
{
    bits listed = get_bits(work, tile, LISTED), todo = grow(g, work, MO_SITE_ROW, tile, CHANGED + 1 - now, false);
    bits before = get_bits(work, tile, CHANGED + 1 - now), changed = {{0}};
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) {
        for (uint64_t p = (todo.plane[z] | before.plane[z]) & listed.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            float sign = from[q] < 0 ? -1 : 1, value = upwind(g, from, q, band, sign);
            if (value != sign * from[q]) changed.plane[z] |= p & -p;
            to[q] = sign * value;
        }
        any |= changed.plane[z];
    }
    put_bits(work, tile, CHANGED + now, &changed);
    return any != 0;
}

static int sweep_more(const mo_grid *g, int now, float band, const float *from, float *to, uint8_t *work,
                      uint8_t *moved)
{
    int active = 0;
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool todo =
            get_flag(g, work, i, CHANGED + 1 - now) || is_beside(g, work, MO_SITE_ROW, i, CHANGED + 1 - now, false);
        bool changed = false;
        if (todo && get_flag(g, work, i, LISTED)) {
            float sign = from[i] < 0 ? -1 : 1, value = upwind(g, from, i, band, sign);
            changed = value != sign * from[i];
            to[i] = sign * value;
        }
        put_flag(work, i, CHANGED + now, changed);
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
    bits none = {{0}};
    put_bits(work, tile, CHANGED + now, &none);
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
    bits inside = get_bits(work, tile, INSIDE), outside = get_bits(work, tile, OUTSIDE);
    bits near_air = grow(g, work, MO_SITE_ROW, tile, OUTSIDE, false),
         near_liquid = grow(g, work, MO_SITE_ROW, tile, INSIDE, false);
    bits listed = {{0}}, known = {{0}}, none = {{0}};
    memcpy(out + first, phi + first, sizeof(float) * MO_TILE_CELLS);
    uint64_t any = 0;
    for (int z = first_plane(g); z < end_plane(g); z++) {
        known.plane[z] = (inside.plane[z] & near_air.plane[z]) | (outside.plane[z] & near_liquid.plane[z]);
        listed.plane[z] = ~known.plane[z];
        any |= known.plane[z];
        float *to = out + first + 64 * z;
        for (int i = 0; i < 64; i++)
            if (listed.plane[z] >> i & 1) to[i] = to[i] < 0 ? -band : band;
    }
    memcpy(other + first, out + first, sizeof(float) * MO_TILE_CELLS);
    put_bits(work, tile, LISTED, &listed);
    put_bits(work, tile, CHANGED, &known);
    put_bits(work, tile, CHANGED + 1, &none);
    return any != 0;
}

static void start_both_more(const mo_grid *g, const float *phi, float band, float *out, float *other, uint8_t *work,
                            uint8_t *moved)
{
    for (int32_t i = more_first(g); i < more_end(g); i++) {
        bool inside = phi[i] < 0, known = is_beside(g, work, MO_SITE_ROW, i, inside ? OUTSIDE : INSIDE, false);
        out[i] = known ? phi[i] : inside ? -band : band;
        start_row(i, !known, known, out, other, work);
        if (known) moved[mo_site_cell(g, i) / MO_TILE_CELLS] = 1;
    }
}

void mo_redistance_both(const mo_grid *g, const float *phi, float band, float *out, float *scratch, uint8_t *bytes)
{
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

// ---- Extrapolation ----

enum { OPEN, SOURCE, FILL }; // not yet reached; valid; reached by this layer

static void classify_tile(const mo_grid *g, const uint8_t *valid, int32_t tile, uint8_t *scratch)
{
    bits open = {{0}}, source = {{0}};
    for (int z = first_plane(g); z < end_plane(g); z++) {
        const uint8_t *v = valid + (int64_t)tile * MO_TILE_CELLS + 64 * z;
        for (int i = 0; i < 64; i++) {
            open.plane[z] |= (uint64_t)(v[i] == 0) << i;
            source.plane[z] |= (uint64_t)(v[i] == 1) << i;
        }
    }
    put_bits(scratch, tile, OPEN, &open);
    put_bits(scratch, tile, SOURCE, &source);
}

// How much face grows from the source n on, away from the two sources behind it along the axis; false without them.
static bool slope_at(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t n, int axis, int side,
                     float *slope)
{
    int32_t behind = mo_site_step(g, site, n, axis, side);
    if (behind < 0 || valid[behind] != 1) return false;
    int32_t last = mo_site_step(g, site, behind, axis, side);
    if (last < 0 || valid[last] != 1) return false;
    float near = face[n] - face[behind], far = face[behind] - face[last];
    // As it is where both agree by half; less the more they differ: in splashes a line leads astray.
    float ratio = near * far > 0 ? near / far : 0;
    *slope = near * smaller(1, smaller(1.5f * ratio, 2.25f / larger(ratio * ratio, 1e-12f)));
    return true;
}

// Neighbours with a line behind them count alone, if there are any and lines are wanted.
static float continued(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t q, bool linear)
{
    int axes = mo_grid_is_2d(g) ? 2 : 3, count = 0, lines = 0;
    double sum = 0, line_sum = 0;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, site, q, a, side);
            if (n < 0 || valid[n] != 1) continue;
            float slope;
            sum += face[n], count++;
            if (linear && slope_at(g, site, face, valid, n, a, side, &slope)) line_sum += face[n] + slope, lines++;
        }
    return (float)(lines ? line_sum / lines : sum / count);
}

// Values of the next layer into value, its places into FILL; true if there are any.
static bool reach_tile(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t tile, bool linear,
                       float *value, uint8_t *scratch)
{
    bits open = get_bits(scratch, tile, OPEN), fill = grow(g, scratch, site, tile, SOURCE, false);
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) {
        any |= fill.plane[z] &= open.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            value[q] = continued(g, site, face, valid, q, linear);
        }
    }
    put_bits(scratch, tile, FILL, &fill);
    return any != 0;
}

static void commit_tile(int32_t tile, const float *value, uint8_t *scratch, float *face, uint8_t *valid)
{
    bits fill = get_bits(scratch, tile, FILL), open = get_bits(scratch, tile, OPEN);
    bits source = get_bits(scratch, tile, SOURCE);
    for (int z = 0; z < MO_TILE; z++) {
        open.plane[z] &= ~fill.plane[z];
        source.plane[z] |= fill.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            face[q] = value[q];
            valid[q] = 1;
        }
    }
    put_bits(scratch, tile, OPEN, &open);
    put_bits(scratch, tile, SOURCE, &source);
}

// The entries of a field beyond the cells: sides, or pieces of faces across the axis.
static bool is_of(const mo_grid *g, int site, int32_t i)
{
    return site == MO_SITE_ROW || g->sites->sample[i - mo_grid_cells(g)].axis == site;
}
static int32_t end_of(const mo_grid *g, int site)
{
    int32_t count = !g->sites ? 0 : site == MO_SITE_ROW ? g->sites->rows : g->sites->samples;
    return (int32_t)mo_grid_cells(g) + count;
}

static void classify_more(const mo_grid *g, int site, const uint8_t *valid, uint8_t *scratch)
{
    for (int32_t i = more_first(g); i < end_of(g, site); i++)
        scratch[i] = !is_of(g, site, i) ? 0 : (uint8_t)((valid[i] == 0) << OPEN | (valid[i] == 1) << SOURCE);
}

static bool reach_more(const mo_grid *g, int site, const float *face, const uint8_t *valid, bool linear, float *value,
                       uint8_t *scratch)
{
    bool any = false;
    for (int32_t i = more_first(g); i < end_of(g, site); i++) {
        bool fill = get_flag(g, scratch, i, OPEN) && is_beside(g, scratch, site, i, SOURCE, false);
        put_flag(scratch, i, FILL, fill);
        if (fill) value[i] = continued(g, site, face, valid, i, linear);
        any |= fill;
    }
    return any;
}

static void commit_more(const mo_grid *g, int site, const float *value, uint8_t *scratch, float *face, uint8_t *valid)
{
    for (int32_t i = more_first(g); i < end_of(g, site); i++)
        if (get_flag(g, scratch, i, FILL)) face[i] = value[i], valid[i] = 1, scratch[i] = 1 << SOURCE;
}

void mo_extrapolate(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                    float *scratch, uint8_t *scratch_valid)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) classify_tile(g, valid, t, scratch_valid);
    classify_more(g, site, valid, scratch_valid);
    int active = 1;
    for (int32_t layer = 0; layer < layers && active; layer++) {
        active = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(| : active)
        for (int32_t t = 0; t < g->tiles; t++)
            active |= reach_tile(g, site, face, valid, t, layer < linear, scratch, scratch_valid);
        active |= reach_more(g, site, face, valid, layer < linear, scratch, scratch_valid);
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < g->tiles; t++) commit_tile(t, scratch, scratch_valid, face, valid);
        commit_more(g, site, scratch, scratch_valid, face, valid);
    }
}
