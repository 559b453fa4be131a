// The level set as state: storage over tiles, margins, advection, redistancing.
#include "fluid/levelset.h"
#include "fluid/levelset_near.h"
#include "fluid/sampler.h"
#include "grid/redistance.h"
#include <math.h>
#include <string.h>

static inline float clampf(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }

// The planes of a tile that are real.
static int first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static int end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// ---- Storage ----

void mo_levelset_destroy(mo_levelset *l)
{
    mo_free(l->phi), mo_free(l->press), mo_free(l->moved), mo_free(l->spare), mo_free(l->coord);
    memset(l, 0, sizeof *l);
}

// Both lists of tiles are in the order of the table.
void mo_levelset_match(const mo_levelset *l, const mo_grid *g, int32_t *from)
{
    int32_t old = 0;
    for (int32_t t = 0; t < g->tiles; t++) {
#define ORDER(c) ((c)[0] + g->tn[0] * ((c)[1] + (int64_t)g->tn[1] * (c)[2]))
        while (old < l->tiles && ORDER(l->coord[old]) < ORDER(g->coord[t])) old++;
        from[t] = old < l->tiles && ORDER(l->coord[old]) == ORDER(g->coord[t]) ? old : -1;
#undef ORDER
    }
}

static void carry(const mo_grid *g, const int32_t *from, const float *old, float fresh, float *out)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) {
        float *to = out + (int64_t)t * MO_TILE_CELLS;
        if (from[t] >= 0)
            memcpy(to, old + (int64_t)from[t] * MO_TILE_CELLS, sizeof(float) * MO_TILE_CELLS);
        else
            for (int i = 0; i < MO_TILE_CELLS; i++) to[i] = fresh;
    }
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++)
        out[i] = fresh; // rows that existed before get their values back (grid/kept_rows.h)
}

mo_status mo_levelset_settle(mo_levelset *l, const mo_grid *g, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(l->tiles >= 0);
    size_t mark = mo_arena_mark(arena);
    int32_t *from = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    if (!from) return mo_fail_memory(err);
    mo_levelset_match(l, g, from);
    float **field[3] = {&l->phi, &l->press, &l->moved};
    const float fresh[3] = {MO_LEVELSET_BAND, MO_LEVELSET_BAND, 0};
    int64_t cells = mo_grid_fields(g);
    if (cells > l->capacity || !l->spare) {
        int64_t capacity = cells + cells / 8 + MO_TILE_CELLS;
        for (int k = 0; k < 4; k++) {
            float *bigger = mo_alloc(sizeof(float) * (size_t)capacity);
            if (!bigger) return mo_fail_memory(err);
            if (k < 3) carry(g, from, *field[k], fresh[k], bigger);
            mo_free(k < 3 ? *field[k] : l->spare);
            *(k < 3 ? field[k] : &l->spare) = bigger;
        }
        l->capacity = capacity;
    } else
        for (int k = 0; k < 3; k++) {
            float *old = *field[k];
            carry(g, from, old, fresh[k], l->spare);
            *field[k] = l->spare, l->spare = old;
        }
    l->tiles = 0;
    if (!mo_reserve((void **)&l->coord, &l->coord_capacity, g->tiles + 1, sizeof *l->coord)) return mo_fail_memory(err);
    if (g->tiles) memcpy(l->coord, g->coord, sizeof *l->coord * (size_t)g->tiles);
    l->tiles = g->tiles;
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Margins and solids ----

// The cells of one tile beyond the walls of one axis.
static void fill_tile_margin(const mo_grid *g, int axis, const bool open[2], int32_t tile, float *phi)
{
    int32_t base = 8 * g->coord[tile][axis], low = MO_MARGIN, high = g->n[axis] - MO_MARGIN - 1;
    if (base >= low && base + 7 <= high) return;
    for (int32_t l = 64 * first_plane(g); l < 64 * end_plane(g); l++) {
        int32_t at = base + (l >> (3 * axis) & 7), index = tile * MO_TILE_CELLS + l, c[3];
        if ((at >= low && at <= high) || at >= g->n[axis]) continue;
        mo_grid_cell(g, index, c);
        int32_t side = at > high, edge = side ? high : low, depth = side ? at - high : low - at;
        c[axis] = edge;
        int32_t first = mo_grid_index(g, c[0], c[1], c[2]);
        c[axis] = edge + (side ? -1 : 1);
        int32_t second = mo_grid_index(g, c[0], c[1], c[2]);
        float value = first < 0 ? MO_LEVELSET_BAND : phi[first];
        if (first >= 0 && second >= 0) value += (float)depth * clampf(phi[first] - phi[second], -1, 1);
        if (open[side]) value = mo_maxf(value, (float)depth - 0.5f);
        phi[index] = clampf(value, -MO_LEVELSET_BAND, MO_LEVELSET_BAND);
    }
}

void mo_levelset_fill_margins(const mo_grid *g, const bool open_wall[6], float *phi)
{
    bool flat = mo_grid_is_2d(g);
    for (int a = 0; a < (flat ? 2 : 3); a++) { // corners are filled by the later axis
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < g->tiles; t++) fill_tile_margin(g, a, open_wall + 2 * a, t, phi);
    }
    mo_near_margins(g, open_wall, phi);
    for (int32_t t = 0; t < g->tiles && flat; t++)
        for (int z = 0; z < MO_TILE; z++)
            if (z != MO_MARGIN)
                memcpy(phi + t * MO_TILE_CELLS + 64 * z, phi + t * MO_TILE_CELLS + 64 * MO_MARGIN, 64 * sizeof(float));
}

// Extends phi to one solid cell from the neighbours that are done, which are those with a distance of at least `done`.
// Deeper cells use the line through a neighbour and the cell behind it; if any neighbour has such a line, only those
// count. Returns false if no neighbour is done.
static bool extended(const mo_grid *g, const mo_surface_walls *walls, const float *phi, int32_t q, bool deep,
                     float done, float *mean)
{
    float sum = 0, line_sum = 0;
    int count = 0, lines = 0;
    for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6); e++) {
        int axis = e >> 1, side = e & 1 ? 1 : -1;
        int32_t n = mo_grid_step(g, q, axis, side), c[3];
        if (n < 0 || walls->distance[n] < done || (!deep && walls->area[axis][e & 1 ? n : q] <= 0)) continue;
        mo_grid_cell(g, n, c);
        if (!mo_levelset_in_domain(g, c)) continue;
        sum += phi[n], count++;
        int32_t behind = deep ? mo_grid_step(g, n, axis, side) : -1;
        if (behind < 0 || walls->distance[behind] < done) continue;
        mo_grid_cell(g, behind, c);
        if (mo_levelset_in_domain(g, c)) line_sum += phi[n] + clampf(phi[n] - phi[behind], -1, 1), lines++;
    }
    if (count) *mean = lines ? line_sum / (float)lines : sum / (float)count;
    return count > 0;
}

void mo_levelset_extend(const mo_grid *g, const mo_surface_walls *walls, float *phi)
{
    // Distances are known down to -4. Bands are half a cell deep, so that every cell has neighbours outside its band,
    // because the distance grows by more than that along some axis.
    enum { BANDS = 6 };
    for (int band = 0; band <= BANDS; band++) {
        float high = band ? -1 - 0.5f * (float)band : 0, low = band ? high - 0.5f : -1.5f;
#pragma omp parallel for schedule(static, 4096)
        for (int32_t q = 0; q < (int32_t)mo_grid_cells(g); q++) {
            float d = walls->distance[q], mean;
            if (d >= high || d < low) continue;
            int32_t c[3];
            mo_grid_cell(g, q, c);
            if (!mo_levelset_in_domain(g, c) || !extended(g, walls, phi, q, band > 0, high, &mean)) continue;
            phi[q] = band ? mean : clampf(phi[q], mean - 1, mean + 1);
        }
    }
}

// ---- Advection ----

static void cubic_weights(float t, float w[4]) // Catmull and Rom
{
    w[0] = 0.5f * t * (-1 + t * (2 - t)), w[1] = 1 + 0.5f * t * t * (3 * t - 5);
    w[2] = 0.5f * t * (1 + t * (4 - 3 * t)), w[3] = 0.5f * t * t * (t - 1);
}

// Cubic value at x (cells, from the block's first cell centre), at most 0.05 beyond the 2^d values around.
static float sample_level(const float *block, const float x[3], bool flat)
{
    float w[3][4], sum = 0, lo = 1e9f, hi = -1e9f;
    int b[3];
    for (int a = 0; a < 3; a++) {
        float p = clampf(x[a], 1, (float)IN - 2.001f);
        b[a] = (int)p;
        cubic_weights(p - (float)b[a], w[a]);
    }
    if (flat) b[2] = MO_MARGIN + IN_HALO;
    for (int k = flat ? 0 : -1; k < (flat ? 1 : 3); k++)
        for (int j = -1; j < 3; j++) {
            const float *q = block + b[0] + IN * (b[1] + j + IN * (b[2] + k));
            float row = w[0][0] * q[-1] + w[0][1] * q[0] + w[0][2] * q[1] + w[0][3] * q[2];
            sum += row * w[1][j + 1] * (flat ? 1 : w[2][k + 1]);
            if (j >= 0 && j < 2 && (flat || (k >= 0 && k < 2)))
                lo = mo_minf(lo, mo_minf(q[0], q[1])), hi = mo_maxf(hi, mo_maxf(q[0], q[1]));
        }
    return clampf(sum, lo - 0.05f, hi + 0.05f);
}

static bool in_band(const float *phi, int count)
{
    for (int i = 0; i < count; i++)
        if (fabsf(phi[i]) < MO_LEVELSET_BAND) return true;
    return false;
}

// The eight cells of a row that starts at cell c, number `row` of the field.
static void advect_row(const mo_levelset *l, const mo_grid *g, const sampler *s, const float *block, float step,
                       int32_t tile, int32_t row, float *out)
{
    int32_t c[3];
    bool flat = mo_grid_is_2d(g);
    mo_grid_cell(g, row, c);
    lanes x[3], z[3], none = {0};
    for (int a = 0; a < 3; a++) x[a] = (float)c[a] + 0.5f + none;
    x[0] += (lanes){0, 1, 2, 3, 4, 5, 6, 7};
    trace_back(s, x, step, flat ? 2 : 3, z);
    for (int i = 0; i < MO_TILE; i++, c[0]++) {
        if (fabsf(l->phi[row + i]) >= MO_LEVELSET_BAND || !mo_levelset_in_domain(g, c)) continue;
        float from[3], moved = 0;
        for (int a = 0; a < 3; a++) {
            moved = mo_maxf(moved, fabsf(x[a][i] - z[a][i]));
            from[a] = z[a][i] - ((float)(8 * g->coord[tile][a] - IN_HALO) + 0.5f);
        }
        l->moved[row + i] = moved;
        if (moved > 0) out[row + i] = clampf(sample_level(block, from, flat), -MO_LEVELSET_BAND, MO_LEVELSET_BAND);
    }
}

static void advect_tile(const mo_levelset *l, const mo_grid *g, const mo_faces *faces, float step, int32_t tile,
                        float *out)
{
    int32_t first = tile * MO_TILE_CELLS;
    memcpy(out + first, l->phi + first, sizeof(float) * MO_TILE_CELLS);
    memset(l->moved + first, 0, sizeof(float) * MO_TILE_CELLS);
    if (!in_band(l->phi + first, MO_TILE_CELLS)) return;
    sampler s;
    float block[IN_CELLS];
    sampler_load(&s, g, faces, tile);
    mo_grid_block(g, l->phi, tile, IN_HALO, MO_LEVELSET_BAND, block);
    for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i += MO_TILE)
        if (in_band(l->phi + first + i, MO_TILE)) advect_row(l, g, &s, block, step, tile, first + i, out);
}

// A row near sheets reads the rows that it reaches.
static void advect_near_row(const mo_levelset *l, const mo_grid *g, const mo_faces *faces, float step, int32_t row,
                            sampler *s, float *out)
{
    enum { MIDDLE = IN / 2 - 1 };
    int32_t around[MO_REACH_MOST_CELLS], c[3];
    float phi[MO_REACH_MOST_CELLS], block[IN_CELLS], from[3], moved = 0;
    bool flat = mo_grid_is_2d(g);
    lanes x[3], z[3], none = {0};
    out[row] = l->phi[row], l->moved[row] = 0;
    mo_grid_cell(g, mo_site_cell(g, row), c);
    if (fabsf(l->phi[row]) >= MO_LEVELSET_BAND || !mo_levelset_in_domain(g, c)) return;
    int radius = mo_sampler_load_row(s, g, faces, row, step, MO_REACH_MOST, around), edge = 2 * radius + 1;
    for (int a = 0; a < 3; a++) x[a] = (float)c[a] + 0.5f + none;
    trace_back(s, x, step, flat ? 2 : 3, z);
    for (int a = 0; a < 3; a++) {
        moved = mo_maxf(moved, fabsf(x[a][0] - z[a][0]));
        from[a] = clampf(z[a][0] - (float)c[a] - 0.5f, (float)(1 - radius), (float)radius - 1.001f) + MIDDLE;
    }
    if (flat) from[2] = MO_MARGIN + IN_HALO;
    l->moved[row] = moved;
    if (!(moved > 0)) return;
    mo_reach_values(l->phi, around, radius, 1, phi);
    for (int k = 0; k < edge * edge; k++) {
        int depth = flat ? MO_MARGIN + IN_HALO + k / edge - radius : MIDDLE + k / edge - radius;
        memcpy(block + MIDDLE - radius + IN * (MIDDLE + k % edge - radius + IN * depth), phi + edge * k,
               sizeof(float) * (size_t)edge);
    }
    out[row] = clampf(sample_level(block, from, flat), -MO_LEVELSET_BAND, MO_LEVELSET_BAND);
}

// Whether a sheet is within some cells of cells of a tile.
static bool sheets_within(const mo_grid *g, int32_t tile, int radius)
{
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++)
        if (mo_reach_near(g, i, radius)) return true;
    return false;
}

static void advect_near(const mo_levelset *l, const mo_grid *g, const mo_faces *faces, float step)
{
    if (!mo_reach_of(g)) return;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t t = 0; t < g->tiles; t++) {
        int32_t first, end;
        sampler s;
        if (!sheets_within(g, t, MO_REACH_MOST)) continue;
        sampler_load(&s, g, faces, t);
        int radius = mo_sampler_radius(&s, step);
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++)
            if (mo_reach_near(g, i, radius) && (!mo_grid_is_2d(g) || (i >> 6 & 7) == MO_MARGIN))
                advect_near_row(l, g, faces, step, i, &s, l->spare);
        mo_sites_rows(g, t, &first, &end);
        for (int32_t i = first; i < end; i++) advect_near_row(l, g, faces, step, i, &s, l->spare);
    }
}

void mo_levelset_advect(mo_levelset *l, const mo_grid *g, const mo_faces *faces, float step, const bool open_wall[6])
{
    MO_ASSERT(l->tiles == g->tiles);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) advect_tile(l, g, faces, step, t, l->spare);
    advect_near(l, g, faces, step);
    float *old = l->phi;
    l->phi = l->spare, l->spare = old;
    mo_levelset_fill_margins(g, open_wall, l->phi);
}

// ---- Redistancing ----

enum { B2 = MO_TILE + 4 }; // edge of a block with two cells around

static bool at_interface(const float *q, int axes)
{
    static const int stride[3] = {1, B2, B2 * B2};
    for (int a = 0; a < axes; a++)
        if ((q[-stride[a]] < 0) != (q[0] < 0) || (q[stride[a]] < 0) != (q[0] < 0)) return true;
    return false;
}

static float slope_of(const float *q, int axes)
{
    static const int stride[3] = {1, B2, B2 * B2};
    float sum = 0;
    for (int a = 0; a < axes; a++) {
        float g = 0.5f * (q[stride[a]] - q[-stride[a]]);
        sum += g * g;
    }
    return sqrtf(sum);
}

// Cells on the interface change by a factor that varies smoothly, so that the surface between them stays: the mean
// slope of the interface cells around goes towards 1.
static float rescaled(const float *q, int axes, float rate)
{
    float sum = 0;
    int count = 0;
    for (int k = axes == 2 ? 0 : -1; k <= (axes == 2 ? 0 : 1); k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                const float *n = q + i + B2 * (j + B2 * k);
                if (at_interface(n, axes)) sum += slope_of(n, axes), count++;
            }
    float e = clampf(sum / (float)count - 1, -0.5f, 1);
    return q[0] * (1 - rate * e / (1 + e));
}

// Other cells approach the distance at the same rate; far ones take it at once.
static float approached(float phi, float distance, float rate)
{
    if (fabsf(phi) > 3 || fabsf(distance) > 3) return distance;
    float kept = distance + clampf(phi - distance, -0.5f, 0.5f);
    return kept + rate * (distance - kept);
}

static void redistance_tile(const mo_levelset *l, const mo_grid *g, const float *distance, int32_t tile, float *out)
{
    const float most = 0.3f; // of the way in one step
    int32_t first = tile * MO_TILE_CELLS;
    int axes = mo_grid_axes(g);
    memcpy(out + first, distance + first, sizeof(float) * MO_TILE_CELLS);
    if (!in_band(l->phi + first, MO_TILE_CELLS)) return;
    float block[B2 * B2 * B2];
    mo_grid_block(g, l->phi, tile, 2, MO_LEVELSET_BAND, block);
    for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i++) {
        const float *q = block + (i & 7) + 2 + B2 * ((i >> 3 & 7) + 2 + B2 * ((i >> 6) + 2));
        float rate = mo_minf(l->moved[first + i], most);
        out[first + i] = at_interface(q, axes) ? rescaled(q, axes, rate) : approached(q[0], distance[first + i], rate);
    }
}

// Rows near sheets: their 5^3 values lie in the middle of a block.
static void redistance_near(const mo_levelset *l, const mo_grid *g, const float *distance, float *out)
{
    const float most = 0.3f;
    const mo_reach *r = mo_reach_of(g);
    int axes = mo_grid_axes(g);
    if (!r) return;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) {
        float around[MO_REACH_CELLS], block[B2 * B2 * 5];
        int32_t i = r->row[k];
        const float *q = block + 2 + B2 * (2 + B2 * 2);
        if (fabsf(l->phi[i]) >= MO_LEVELSET_BAND) {
            out[i] = distance[i];
            continue;
        }
        mo_reach_values(l->phi, r->around[k], MO_REACH_AROUND, 1, around);
        for (int n = 0; n < MO_REACH_CELLS; n++) block[n % 5 + B2 * (n / 5 % 5 + B2 * (n / 25))] = around[n];
        float rate = mo_minf(l->moved[i], most);
        out[i] = at_interface(q, axes) ? rescaled(q, axes, rate) : approached(q[0], distance[i], rate);
    }
}

void mo_levelset_redistance(mo_levelset *l, const mo_grid *g, const bool open_wall[6], float *const work[2],
                            uint8_t *bytes)
{
    MO_ASSERT(l->tiles == g->tiles);
    mo_levelset_fill_margins(g, open_wall, l->phi);
    mo_redistance_both(g, l->phi, MO_LEVELSET_BAND, work[0], work[1], bytes);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) redistance_tile(l, g, work[0], t, l->spare);
    redistance_near(l, g, work[0], l->spare);
    float *old = l->phi;
    l->phi = l->spare, l->spare = old;
    mo_levelset_fill_margins(g, open_wall, l->phi);
}
