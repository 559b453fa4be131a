// Extrapolation, layer by layer, in rounds over tiles (tile_bits.h). Tiles without anything to fill cost next to
// nothing. Sides and pieces beyond the first (grid/sites.h) come after the tiles in every layer.
#include "grid/extrapolate.h"
#include "grid/tile_bits.h"
#include <math.h>

enum { OPEN, SOURCE, FILL }; // not yet reached; valid; reached by this layer

// Puts the lowest bits of eight bytes side by side.
static inline uint64_t pack(uint64_t bytes) { return bytes * 0x0102040810204080u >> 56; }

static void classify_tile(const mo_grid *g, const uint8_t *valid, int32_t tile, uint8_t *scratch)
{
    const uint64_t ones = 0x0101010101010101u;
    mo_tile_bits open = {{0}}, source = {{0}};
    for (int z = mo_first_plane(g); z < mo_end_plane(g); z++)
        for (int y = 0; y < MO_TILE; y++) {
            uint64_t row, low, high; // the two bits of 0, 1 and 2
            memcpy(&row, valid + (int64_t)tile * MO_TILE_CELLS + 64 * z + 8 * y, sizeof row);
            MO_ASSERT(!(row & 0xfcfcfcfcfcfcfcfcu));
            low = row & ones, high = row >> 1 & ones;
            open.plane[z] |= pack(~(low | high) & ones) << (8 * y);
            source.plane[z] |= pack(low & ~high) << (8 * y);
        }
    mo_tile_bits_put(scratch, tile, OPEN, &open);
    mo_tile_bits_put(scratch, tile, SOURCE, &source);
}

// The slope beyond a source, where the two sources behind it along an axis are `behind` and `last`.
static float slope_of(float source, float behind, float last)
{
    return mo_limited_slope(source - behind, behind - last);
}

// The slope at the source n, away from the two sources behind it; false without them.
static bool slope_at(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t n, int axis, int side,
                     float *slope)
{
    int32_t behind = mo_site_step(g, site, n, axis, side);
    if (behind < 0 || valid[behind] != 1) return false;
    int32_t last = mo_site_step(g, site, behind, axis, side);
    if (last < 0 || valid[last] != 1) return false;
    *slope = slope_of(face[n], face[behind], face[last]);
    return true;
}

// If lines are wanted and any neighbour has a line behind it, only those count. before: NULL, or the values from which
// changes are counted if there are none.
static float continued(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t q, bool linear,
                       const float *before)
{
    int axes = mo_grid_axes(g), count = 0, lines = 0;
    double sum = 0, line_sum = 0, sum_before = 0;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, site, q, a, side);
            if (n < 0 || valid[n] != 1) continue;
            float slope;
            sum += face[n], count++;
            if (before) sum_before += before[n];
            if (linear && slope_at(g, site, face, valid, n, a, side, &slope)) line_sum += face[n] + slope, lines++;
        }
    if (lines) return (float)(line_sum / lines);
    return (float)((before ? before[q] : 0) + (sum - sum_before) / count);
}

// ---- Tiles of a grid without sheets: the bits show where sources are ----

typedef struct sources {           // seen from each cell of a tile, by direction: 2 axis + (side > 0)
    mo_tile_bits near[6], line[6]; // beside it; there, and two more behind
} sources;

// Field index of the cell d cells from q along an axis; it exists.
static inline int32_t step_by(const mo_grid *g, int32_t q, int axis, int side, int d)
{
    static const int32_t stride[3] = {1, 8, 64}, offset[3] = {1, 3, 9};
    int32_t at = (q >> (3 * axis) & 7) + side * d;
    if ((uint32_t)at < 8u) return q + side * d * stride[axis];
    return (g->neighbour[q >> 9][13 + side * offset[axis]] << 9) + (q & 511) + side * (d - 8) * stride[axis];
}

// The bits that a tile's cells see d cells further on, if the tile has s and the next one n.
static mo_tile_bits seen(const mo_tile_bits *s, const mo_tile_bits *n, int axis, int side, int d)
{
    const uint64_t column = 0x0101010101010101u,
                   inner = side > 0 ? column * (0xffu >> d) : column * (0xffu << d & 0xff);
    mo_tile_bits out;
    for (int z = 0; z < MO_TILE; z++) {
        uint64_t p = s->plane[z], q = n->plane[z];
        int to = z + side * d;
        if (axis == 0)
            out.plane[z] =
                side > 0 ? (p >> d & inner) | (q << (8 - d) & ~inner) : (p << d & inner) | (q >> (8 - d) & ~inner);
        else if (axis == 1)
            out.plane[z] = side > 0 ? p >> 8 * d | q << (64 - 8 * d) : p << 8 * d | q >> (64 - 8 * d);
        else
            out.plane[z] = to >= 0 && to < MO_TILE ? s->plane[to] : n->plane[to & 7];
    }
    return out;
}

// Returns the cells beside sources.
static mo_tile_bits find_sources(const mo_grid *g, const uint8_t *scratch, int32_t tile, bool linear, sources *found)
{
    static const int beside[6] = {12, 14, 10, 16, 4, 22};
    mo_tile_bits own = mo_tile_bits_get(scratch, tile, SOURCE), all = {{0}};
    for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6); e++) {
        int32_t t = g->neighbour[tile][beside[e]];
        mo_tile_bits other = {{0}}, second, third;
        if (t >= 0) other = mo_tile_bits_get(scratch, t, SOURCE);
        found->near[e] = seen(&own, &other, e >> 1, e & 1 ? 1 : -1, 1);
        for (int z = 0; z < MO_TILE; z++) all.plane[z] |= found->near[e].plane[z];
        if (!linear) continue;
        second = seen(&own, &other, e >> 1, e & 1 ? 1 : -1, 2), third = seen(&own, &other, e >> 1, e & 1 ? 1 : -1, 3);
        for (int z = 0; z < MO_TILE; z++)
            found->line[e].plane[z] = found->near[e].plane[z] & second.plane[z] & third.plane[z];
    }
    return all;
}

static inline bool has(const mo_tile_bits *b, int32_t q) { return b->plane[q >> 6 & 7] >> (q & 63) & 1; }

// The same as `continued`, to the last bit.
static float continued_plain(const mo_grid *g, const float *face, const sources *found, int32_t q, bool linear,
                             const float *before)
{
    int directions = mo_grid_is_2d(g) ? 4 : 6, count = 0;
    double sum = 0, sum_before = 0;
    for (int e = 0; e < directions && linear; e++) {
        if (!has(&found->line[e], q)) continue;
        int axis = e >> 1, side = e & 1 ? 1 : -1;
        float near = face[step_by(g, q, axis, side, 1)];
        sum += near + slope_of(near, face[step_by(g, q, axis, side, 2)], face[step_by(g, q, axis, side, 3)]), count++;
    }
    if (count) return (float)(sum / count);
    for (int e = 0; e < directions; e++) {
        if (!has(&found->near[e], q)) continue;
        int32_t n = step_by(g, q, e >> 1, e & 1 ? 1 : -1, 1);
        sum += face[n], count++;
        if (before) sum_before += before[n];
    }
    return (float)((before ? before[q] : 0) + (sum - sum_before) / count);
}

static bool is_empty(const mo_tile_bits *b)
{
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) any |= b->plane[z];
    return any == 0;
}

// Writes values of the next layer into value, and its places into FILL; true if there are any.
static bool reach_tile(const mo_grid *g, int site, const float *face, const uint8_t *valid, int32_t tile, bool linear,
                       const mo_faces_before *before, float *value, uint8_t *scratch)
{
    mo_tile_bits open = mo_tile_bits_get(scratch, tile, OPEN), fill = open;
    sources found;
    uint64_t any = 0;
    if (!is_empty(&open))
        fill = g->sites ? mo_tile_bits_grow(g, scratch, site, tile, SOURCE, false)
                        : find_sources(g, scratch, tile, linear, &found);
    for (int z = 0; z < MO_TILE; z++) {
        any |= fill.plane[z] &= open.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            bool changes = linear && before && before->mass[q] > 0;
            value[q] = g->sites ? continued(g, site, face, valid, q, linear, changes ? before->u : NULL)
                                : continued_plain(g, face, &found, q, linear, changes ? before->u : NULL);
        }
    }
    mo_tile_bits_put(scratch, tile, FILL, &fill);
    return any != 0;
}

static void commit_tile(int32_t tile, const float *value, uint8_t *scratch, float *face, uint8_t *valid)
{
    mo_tile_bits fill = mo_tile_bits_get(scratch, tile, FILL), open = mo_tile_bits_get(scratch, tile, OPEN);
    mo_tile_bits source = mo_tile_bits_get(scratch, tile, SOURCE);
    for (int z = 0; z < MO_TILE; z++) {
        open.plane[z] &= ~fill.plane[z];
        source.plane[z] |= fill.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            face[q] = value[q];
            valid[q] = 1;
        }
    }
    mo_tile_bits_put(scratch, tile, OPEN, &open);
    mo_tile_bits_put(scratch, tile, SOURCE, &source);
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
    for (int32_t i = (int32_t)mo_grid_cells(g); i < end_of(g, site); i++)
        scratch[i] = !is_of(g, site, i) ? 0 : (uint8_t)((valid[i] == 0) << OPEN | (valid[i] == 1) << SOURCE);
}

static bool reach_more(const mo_grid *g, int site, const float *face, const uint8_t *valid, bool linear, float *value,
                       uint8_t *scratch)
{
    bool any = false;
    for (int32_t i = (int32_t)mo_grid_cells(g); i < end_of(g, site); i++) {
        bool fill = mo_tile_flag(g, scratch, i, OPEN) && mo_tile_bits_beside(g, scratch, site, i, SOURCE, false);
        mo_tile_flag_put(scratch, i, FILL, fill);
        if (fill) value[i] = continued(g, site, face, valid, i, linear, NULL);
        any |= fill;
    }
    return any;
}

static void commit_more(const mo_grid *g, int site, const float *value, uint8_t *scratch, float *face, uint8_t *valid)
{
    for (int32_t i = (int32_t)mo_grid_cells(g); i < end_of(g, site); i++)
        if (mo_tile_flag(g, scratch, i, FILL)) face[i] = value[i], valid[i] = 1, scratch[i] = 1 << SOURCE;
}

void mo_extrapolate(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                    float *scratch, uint8_t *scratch_valid)
{
    mo_extrapolate_change(g, site, face, valid, layers, linear, NULL, scratch, scratch_valid);
}

void mo_extrapolate_change(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                           const mo_faces_before *before, float *scratch, uint8_t *scratch_valid)
{
    MO_ASSERT(layers >= 0 && linear >= 0);
    MO_ASSERT(scratch != face && scratch_valid != valid);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) classify_tile(g, valid, t, scratch_valid);
    classify_more(g, site, valid, scratch_valid);
    int active = 1;
    for (int32_t layer = 0; layer < layers && active; layer++) {
        active = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(| : active)
        for (int32_t t = 0; t < g->tiles; t++)
            active |= reach_tile(g, site, face, valid, t, layer < linear, before, scratch, scratch_valid);
        active |= reach_more(g, site, face, valid, layer < linear, scratch, scratch_valid);
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < g->tiles; t++) commit_tile(t, scratch, scratch_valid, face, valid);
        commit_more(g, site, scratch, scratch_valid, face, valid);
    }
}
