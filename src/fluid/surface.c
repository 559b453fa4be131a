// Level sets from particles: union of spheres, its closing, thin parts, phases, expected density.
#include "fluid/surface.h"
#include "base/lanes.h"
#include "fluid/surface_near.h"
#include "fluid/transfer_near.h"
#include "grid/redistance.h"
#include <math.h>
#include <string.h>

mo_radii mo_radii_for(bool two_dimensional, int32_t per_axis)
{
    // Visible radius 0.54 V^(1/3) or 0.56 V^(1/2); half a cell's diagonal and 2% for pressure (docs/volume.md 5).
    if (two_dimensional) return (mo_radii){0.721f, 0.56f / (float)per_axis};
    return (mo_radii){0.883f, 0.54f / (float)per_axis};
}

// ---- Nearest particle ----

// The least of `best` and the squared distances of particles first .. last - 1. Eight are examined together; the last
// eight may begin before `first`, with particles of other cells, which count as well.
static inline float nearest_in(const mo_particles *p, int32_t first, int32_t last, const float x[3], float best)
{
    lanes least = best - (lanes){0};
    if (first >= last) return best;
    if (last < LANES) {
        for (int32_t q = first; q < last; q++) {
            float dx = p->x[0][q] - x[0], dy = p->x[1][q] - x[1], dz = p->x[2][q] - x[2];
            best = mo_minf(best, dx * dx + dy * dy + dz * dz);
        }
        return best;
    }
    for (int32_t q = first; q < last; q += LANES) {
        int32_t at = q + LANES <= last ? q : last - LANES;
        lanes d[3], square;
        for (int a = 0; a < 3; a++) lanes_load(p->x[a] + at, LANES, &d[a]), d[a] -= x[a];
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        lanes_min(&square, &least, &least);
    }
    for (int l = 0; l < LANES; l++) best = mo_minf(best, least[l]);
    return best;
}

// Over the cells from lo to hi along x; those in one tile are one run of particles.
static float nearest_in_row(const mo_particles *p, const mo_grid *g, int32_t lo, int32_t hi, int32_t j, int32_t k,
                            const float x[3], float best)
{
    int32_t a = mo_grid_index(g, lo, j, k);
    if (a >= 0 && lo >> 3 == hi >> 3 && hi < g->n[0])
        return nearest_in(p, p->start[a], p->start[a + hi - lo + 1], x, best);
    for (int32_t i = lo; i <= hi; i++) {
        a = mo_grid_index(g, i, j, k);
        if (a >= 0) best = nearest_in(p, p->start[a], p->start[a + 1], x, best);
    }
    return best;
}

// Squared distance from x (in cell c) to the nearest particle of the 27 cells around, at most 4: row by row, nearest
// rows first, those that cannot hold a nearer particle skipped. *sure: no particle further out can be nearer either.
static float nearest_close(const mo_particles *p, const mo_grid *g, const int32_t c[3], const float x[3], bool *sure)
{
    static const int8_t rows[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    float best = 4, gap[2][3], to_edge = 2; // gap[axis - 1][side + 1]: least distance to the row's cells along y and z
    for (int a = 0; a < 3; a++) {
        float f = x[a] - (float)c[a];
        to_edge = mo_minf(to_edge, 1 + mo_minf(f, 1 - f) - p->stale);
        if (a == 0) continue;
        gap[a - 1][0] = mo_maxf(f - p->stale, 0), gap[a - 1][1] = 0, gap[a - 1][2] = mo_maxf(1 - f - p->stale, 0);
    }
    for (int r = 0; r < 9; r++) {
        int j = rows[r][0], k = rows[r][1];
        float dy = gap[0][j + 1], dz = gap[1][k + 1];
        if (dy * dy + dz * dz < best) best = nearest_in_row(p, g, c[0] - 1, c[0] + 1, c[1] + j, c[2] + k, x, best);
    }
    *sure = best <= to_edge * to_edge;
    return best;
}

// Distance to the nearest particle, at most 2, also in the next ring of cells.
static float nearest_particle(const mo_particles *p, const mo_grid *g, const int32_t c[3], const float x[3])
{
    bool sure;
    float best = nearest_close(p, g, c, x, &sure);
    for (int32_t k = -2; k <= 2 && !sure; k++)
        for (int32_t j = -2; j <= 2; j++) {
            if (j < -1 || j > 1 || k < -1 || k > 1) {
                best = nearest_in_row(p, g, c[0] - 2, c[0] + 2, c[1] + j, c[2] + k, x, best);
            } else {
                best = nearest_in_row(p, g, c[0] - 2, c[0] - 2, c[1] + j, c[2] + k, x, best);
                best = nearest_in_row(p, g, c[0] + 2, c[0] + 2, c[1] + j, c[2] + k, x, best);
            }
        }
    return sqrtf(best);
}

static void cell_centre(const mo_grid *g, int32_t index, int32_t c[3], float x[3])
{
    mo_grid_cell(g, index, c);
    for (int a = 0; a < 3; a++) x[a] = (float)c[a] + 0.5f;
}

// ---- Which cells lie near the surface ----

enum { CELL_PARTICLE = 1, CELL_SOLID = 2 };
enum { DEPTH_FAR, DEPTH_BAND, DEPTH_DEEP }; // no particle within 2 cells; between; particles or solid all around

static void mark_cells(const mo_particles *p, const mo_grid *g, const float *solid_distance, uint8_t *mark)
{
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++)
        mark[i] = (uint8_t)((p->start[i + 1] > p->start[i] || (p->deep && p->deep[i]) ? CELL_PARTICLE : 0) |
                            (solid_distance[i] < 0 ? CELL_SOLID : 0));
}

// Computes "or" and "and" over the 5^3 cells around, axis by axis. `any` collects CELL_PARTICLE bits, `all` whether
// every cell is marked.
static void tile_depth(const mo_grid *g, const uint8_t *mark, int32_t tile, uint8_t depth[MO_TILE_CELLS])
{
    enum { S = 12 };
    uint8_t m[S * S * S], a[S * S * S], b[S * S * S];
    mo_grid_block_u8(g, mark, tile, 2, 0, m);
    // Bit 0: a particle; bit 1: the cell is not plain air.
    for (int i = 0; i < S * S * S; i++) m[i] = (uint8_t)((m[i] & CELL_PARTICLE) | (m[i] ? 2 : 0));
        // Two accumulators in one byte: or of bit 0, and of bit 1.
#define COMBINE(v, w) ((uint8_t)((((v) | (w)) & 1) | ((v) & (w)&2)))
    for (int z = 0; z < S; z++)
        for (int y = 0; y < S; y++)
            for (int x = 2; x < S - 2; x++) {
                const uint8_t *q = m + x + S * (y + S * z);
                a[x + S * (y + S * z)] = COMBINE(COMBINE(COMBINE(q[-2], q[-1]), COMBINE(q[0], q[1])), q[2]);
            }
    for (int z = 0; z < S; z++)
        for (int y = 2; y < S - 2; y++)
            for (int x = 2; x < S - 2; x++) {
                const uint8_t *q = a + x + S * (y + S * z);
                b[x + S * (y + S * z)] = COMBINE(COMBINE(COMBINE(q[-2 * S], q[-S]), COMBINE(q[0], q[S])), q[2 * S]);
            }
    for (int z = 0; z < MO_TILE; z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) {
                const uint8_t *q = b + x + 2 + S * (y + 2 + S * (z + 2));
                uint8_t v = COMBINE(COMBINE(COMBINE(q[-2 * S * S], q[-S * S]), COMBINE(q[0], q[S * S])), q[2 * S * S]);
                depth[x + 8 * (y + 8 * z)] = !(v & 1) ? DEPTH_FAR : v & 2 ? DEPTH_DEEP : DEPTH_BAND;
            }
#undef COMBINE
}

// ---- The pressure level set ----

// Cells beyond the open wall on side s of axis a are at least their distance to it outside.
static float beyond_open_wall(const mo_grid *g, const int32_t c[3], const bool open_wall[6])
{
    float d = -1e9f;
    for (int a = 0; a < 3; a++) {
        if (open_wall[2 * a]) d = mo_maxf(d, (float)MO_MARGIN - ((float)c[a] + 0.5f));
        if (open_wall[2 * a + 1]) d = mo_maxf(d, (float)c[a] + 0.5f - (float)(g->n[a] - MO_MARGIN));
    }
    return d;
}

// ---- Extension into solids ----

enum { EXTENSION_LAYERS = 2 };

// Extends to one cell from the known neighbours; false if there are none.
static bool extended(const mo_grid *g, const float *phi, const uint8_t *known, float *const *area, int32_t at, int axes,
                     float *value)
{
    float sum = 0, least = 1e9f;
    int open = 0;
    for (int a = 0; a < axes; a++)
        for (int side = 0; side < 2; side++) {
            int32_t n = mo_grid_step(g, at, a, side ? 1 : -1);
            if (n < 0 || !known[n]) continue;
            least = mo_minf(least, phi[n]);
            if (area && area[a][side ? n : at] > 0) sum += phi[n], open++;
        }
    *value = open ? sum / (float)open : least;
    return least < 1e9f;
}

// Extends one layer; results go to next and next_known, so that tiles do not see each other's results.
static void extend_layer(const mo_grid *g, const float *phi, const uint8_t *known, float *const *area, float *next,
                         uint8_t *next_known)
{
    int axes = mo_grid_axes(g);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        const int32_t first = t * MO_TILE_CELLS;
        memcpy(next_known + first, known + first, MO_TILE_CELLS);
        if (!memchr(known + first, 0, MO_TILE_CELLS)) continue;
        for (int32_t i = first; i < first + MO_TILE_CELLS; i++)
            if (!known[i]) next_known[i] = extended(g, phi, known, area, i, axes, &next[i]);
    }
}

static void extend_into_solids(const mo_grid *g, float *phi, uint8_t *known, float *const *area, int layers,
                               float *scratch, uint8_t *scratch_known)
{
    for (int layer = 0; layer < layers; layer++) {
        extend_layer(g, phi, known, area, scratch, scratch_known);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_cells(g); i++) {
            if (known[i] != scratch_known[i]) phi[i] = scratch[i];
            known[i] = scratch_known[i];
        }
    }
}

// One layer of the flood into solid cells; cells with solid < 0.
static void flood_layer(const mo_grid *g, const float *from, const float *solid, float *to)
{
    int axes = mo_grid_axes(g);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        float least = from[i];
        for (int e = 0; e < 2 * axes && solid[i] < 0; e++) {
            int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
            if (n >= 0) least = mo_minf(least, from[n]);
        }
        to[i] = least;
    }
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) to[i] = from[i];
}

void mo_surface_flood(const mo_grid *g, const float *phi, const float *solid_distance, int32_t layers, float *out,
                      float *scratch)
{
    MO_ASSERT(layers > 0 && out != phi && scratch != phi);
    for (int32_t layer = 0; layer < layers; layer++) { // the last layer ends in out
        bool ends = (layers - 1 - layer) % 2 == 0;
        flood_layer(g, layer == 0 ? phi : ends ? scratch : out, solid_distance, ends ? out : scratch);
    }
}

static const float pending = 1e6f; // air whose nearest particle is not known yet

// Finds the level set of one tile as far as the 27 cells around decide it: all liquid cells, and the air close to
// particles.
static void union_tile(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls,
                       const uint8_t *mark, int32_t tile, float *phi, uint8_t *known)
{
    uint8_t depth[MO_TILE_CELLS];
    tile_depth(g, mark, tile, depth);
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        int32_t index = tile * MO_TILE_CELLS + l, c[3];
        float x[3];
        bool sure = true;
        known[index] = !(mark[index] & CELL_SOLID);
        phi[index] = depth[l] == DEPTH_DEEP ? -radius : 2 - radius;
        cell_centre(g, index, c, x);
        if (p->deep && p->deep[index]) depth[l] = DEPTH_DEEP, phi[index] = -radius;
        if (depth[l] == DEPTH_BAND && known[index]) phi[index] = sqrtf(nearest_close(p, g, c, x, &sure)) - radius;
        phi[index] = sure ? mo_maxf(phi[index], beyond_open_wall(g, c, walls->open_wall)) : pending;
    }
}

static bool touches_liquid(const float *block, int at)
{
    for (int k = -100; k <= 100; k += 100)
        for (int j = -10; j <= 10; j += 10)
            for (int i = -1; i <= 1; i++)
                if (block[at + k + j + i] < 0) return true;
    return false;
}

// Resolves pending air: exactly beside liquid (both sides determine the surface), as far air elsewhere. It writes to
// out, so that tiles do not see each other's results.
static void resolve_tile(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls,
                         const float *phi, int32_t tile, float *out)
{
    const int32_t first = tile * MO_TILE_CELLS;
    float block[1000];
    bool any = false;
    for (int32_t l = 0; l < MO_TILE_CELLS && !any; l++) any = phi[first + l] == pending;
    if (!any) return;
    mo_grid_block(g, phi, tile, 1, 0, block);
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        if (phi[first + l] != pending) continue;
        int32_t c[3];
        float x[3], value = 2 - radius;
        cell_centre(g, first + l, c, x);
        if (touches_liquid(block, (l & 7) + 1 + 10 * ((l >> 3 & 7) + 1 + 10 * ((l >> 6) + 1))))
            value = nearest_particle(p, g, c, x) - radius;
        out[first + l] = mo_maxf(value, beyond_open_wall(g, c, walls->open_wall));
    }
}

void mo_surface_union(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls, float *phi,
                      float *scratch, uint8_t *bytes)
{
    MO_ASSERT(radius > 0);
    MO_ASSERT(scratch != phi);
    uint8_t *mark = bytes, *known = bytes + mo_grid_fields(g);
    mark_cells(p, g, walls->distance, mark);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) union_tile(p, g, radius, walls, mark, t, phi, known);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) resolve_tile(p, g, radius, walls, phi, t, scratch);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++)
        if (phi[i] == pending) phi[i] = scratch[i];
    extend_into_solids(g, phi, known, walls->area, EXTENSION_LAYERS, scratch, mark);
    // A cut cell that holds particles is liquid, whatever its neighbours are.
#pragma omp parallel for schedule(dynamic, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        if (walls->distance[i] >= 0 || p->start[i + 1] == p->start[i]) continue;
        int32_t c[3];
        float x[3];
        cell_centre(g, i, c, x);
        phi[i] = mo_minf(phi[i], nearest_particle(p, g, c, x) - radius);
    }
    mo_near_union(p, g, radius, walls, phi);
}

void mo_surface_visible(const mo_grid *g, const float *phi, const mo_radii *radii, const mo_surface_walls *walls,
                        float *out, float *const scratch[3], uint8_t *bytes)
{
    uint8_t *known = bytes + mo_grid_fields(g);
    mo_surface_flood(g, phi, walls->distance, 2, scratch[0], scratch[1]);
    mo_redistance_inside(g, scratch[0], 2, scratch[1], scratch[2]);
    float shift = radii->pressure - radii->visible;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++) out[i] = scratch[1][i] + shift, known[i] = walls->distance[i] >= 0;
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) out[i] = scratch[1][i] + shift;
    extend_into_solids(g, out, known, walls->area, EXTENSION_LAYERS, scratch[0], bytes);
}

// ---- Thin parts ----

// How deep a cell lies below the surface, in cells. Where layers have just become thin, phi is steeper than a distance:
// a change by more than 1 from cell to cell tells by how much.
static float depth(const mo_grid *g, const float *phi, int32_t i)
{
    float steepest = 1;
    for (int e = 0; e < 2 * mo_grid_axes(g); e++) {
        int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
        if (n >= 0) steepest = mo_maxf(steepest, phi[n] - phi[i]);
    }
    return -phi[i] / steepest;
}

void mo_surface_thin(const mo_grid *g, const float *phi, const float *solid_distance, uint8_t *deep, uint8_t *thin)
{
    enum { S = MO_TILE + 4 };
    static const int stride[3] = {1, S, S * S};
    bool flat = mo_grid_is_2d(g);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++)
        deep[i] = phi[i] < -0.7f && solid_distance[i] >= 0 && (phi[i] < -2 || depth(g, phi, i) > 0.7f);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        const int32_t first = t * MO_TILE_CELLS;
        bool all = !memchr(deep + first, 0, MO_TILE_CELLS);
        memset(thin + first, 0, MO_TILE_CELLS);
        if (all) continue;
        uint8_t a[S * S * S], b[S * S * S] = {0};
        mo_grid_block_u8(g, deep, t, 2, 0, a);
        for (int axis = 0; axis < (flat ? 2 : 3); axis++) {
            int d = stride[axis];
            for (int i = 2 * d; i < S * S * S - 2 * d; i++)
                b[i] = a[i] | a[i - d] | a[i + d] | a[i - 2 * d] | a[i + 2 * d];
            memcpy(a, b, sizeof a);
        }
        for (int32_t l = 0; l < MO_TILE_CELLS; l++)
            thin[first + l] = !a[(l & 7) + 2 + S * ((l >> 3 & 7) + 2 + S * ((l >> 6) + 2))];
    }
    mo_near_thin(g, phi, deep, thin);
}

void mo_surface_choose(const mo_particles *p, const mo_grid *g, const float *level, const uint8_t *thin, float *phi,
                       float *scratch)
{
    MO_ASSERT(scratch != phi);
    int axes = mo_grid_axes(g);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        bool touches = level[i] < 0 || p->start[i + 1] == p->start[i];
        for (int e = 0; e < 2 * axes && !touches; e++) {
            int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
            touches = n >= 0 && level[n] < 0;
        }
        scratch[i] = touches && !thin[i] ? level[i] : phi[i];
    }
    mo_near_choose(p, g, level, thin, phi, scratch);
    memcpy(phi, scratch, sizeof(float) * (size_t)mo_grid_fields(g));
}

// ---- Phases ----

static bool any_open_face(const mo_grid *g, int32_t index, float *const area[3])
{
    for (int a = 0; a < 3; a++) {
        int32_t next = mo_grid_step(g, index, a, 1);
        if (area[a][index] > 0 || (next >= 0 && area[a][next] > 0)) return true;
    }
    return false;
}

static bool in_domain(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

// Liquid cell across an open face, -1 if none.
static inline int32_t liquid_neighbour(const mo_grid *g, int32_t index, int axis, int side, float *const area[3],
                                       const uint8_t *phase)
{
    int32_t next = mo_grid_step(g, index, axis, side);
    if (next < 0 || phase[next] == MO_PHASE_AIR) return -1;
    return area[axis][side < 0 ? index : next] > 0 ? next : -1;
}

void mo_surface_slave(const mo_grid *g, uint8_t *phase, uint8_t *bytes)
{
    memcpy(bytes, phase, (size_t)mo_grid_fields(g)); // tiles must not see what others write
    int reach = mo_grid_is_2d(g) ? 0 : 1;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        uint8_t *own = phase + (int64_t)t * MO_TILE_CELLS, block[1000];
        if (!memchr(own, MO_PHASE_AIR, MO_TILE_CELLS)) continue;
        mo_grid_block_u8(g, bytes, t, 1, MO_PHASE_AIR, block);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            const uint8_t *q = block + (l & 7) + 1 + 10 * ((l >> 3 & 7) + 1 + 10 * ((l >> 6) + 1));
            bool beside = false;
            for (int k = -reach; k <= reach && own[l] == MO_PHASE_AIR; k++)
                for (int j = -1; j <= 1; j++)
                    for (int i = -1; i <= 1; i++) beside |= q[i + 10 * (j + 10 * k)] == MO_PHASE_LIQUID;
            if (beside) own[l] = MO_PHASE_SLAVED;
        }
    }
    mo_near_slave(g, bytes, phase);
}

enum { SEEN = 1, LARGE = 2 };

// Puts the neighbours of a cell that belong to its piece behind those of the stack; true: one is known to be large.
static bool stack_plain(const mo_grid *g, int32_t at, float *const area[3], const uint8_t *phase, uint8_t *seen,
                        int32_t *stack, int32_t *size)
{
    for (int e = 0; e < 6; e++) { // low neighbours first: cells that were met before lie there
        int32_t n = liquid_neighbour(g, at, e % 3, e < 3 ? -1 : 1, area, phase);
        if (n < 0 || seen[n] == SEEN) continue;
        if (seen[n] == LARGE) return true;
        seen[n] = SEEN, stack[(*size)++] = n;
    }
    return false;
}

// The same for a row where sheets are.
static bool stack_cut(const mo_grid *g, int32_t at, float *const area[3], const uint8_t *phase, uint8_t *seen,
                      int32_t *stack, int32_t *size)
{
    const mo_row_sample *list;
    for (int k = 0, count = mo_sites_of_row(g, at, &list); k < count; k++) {
        int32_t i = list[k].sample, axis = list[k].axis;
        int32_t n = list[k].side ? mo_sample_high(g, axis, i) : mo_sample_low(g, axis, i);
        if (n < 0 || phase[n] == MO_PHASE_AIR || area[axis][i] <= 0 || seen[n] == SEEN) continue;
        if (seen[n] == LARGE) return true;
        seen[n] = SEEN, stack[(*size)++] = n;
    }
    return false;
}

// Follows a piece from `seed` until it holds a cell of volume, or meets a cell of a piece that is known to be large;
// then it is large. Its cells so far are stack[0 .. *size).
static bool is_large(const mo_particles *p, const mo_grid *g, int32_t seed, float *const area[3], const uint8_t *phase,
                     uint8_t *seen, int32_t *stack, int32_t *size)
{
    double volume = 0;
    stack[0] = seed, seen[seed] = SEEN, *size = 1;
    for (int32_t next = 0; next < *size; next++) {
        int32_t row = stack[next], cell = mo_site_cell(g, row);
        bool cut = mo_site_is_cut(g, row);
        if (cut ? stack_cut(g, row, area, phase, seen, stack, size)
                : stack_plain(g, row, area, phase, seen, stack, size))
            return true;
        for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++)
            if (!cut || mo_near_is_in(p, g, q, row, cell)) volume += p->volume[q];
        if (volume >= 1 || (p->deep && p->deep[cell])) return true;
    }
    return false;
}

mo_status mo_surface_phase(const mo_particles *p, const mo_grid *g, const float *phi, float *const area[3],
                           uint8_t *phase, mo_arena *arena, mo_error *err)
{
    int32_t cells = (int32_t)mo_grid_fields(g);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        phase[i] = phi[i] < 0 && in_domain(g, c) && any_open_face(g, i, area) ? MO_PHASE_LIQUID : MO_PHASE_AIR;
    }
    mo_near_phase(g, phi, area, phase);
    size_t mark = mo_arena_mark(arena);
    uint8_t *seen = mo_arena_alloc(arena, (size_t)cells);
    int32_t *stack = MO_ARENA_ARRAY(arena, int32_t, cells);
    if (!seen || !stack) return mo_fail_memory(err);
    memset(seen, 0, (size_t)cells);
    for (int32_t i = 0; i < cells; i++) {
        if (phase[i] != MO_PHASE_LIQUID || seen[i]) continue;
        int32_t size;
        if (is_large(p, g, i, area, phase, seen, stack, &size))
            for (int32_t s = 0; s < size; s++) seen[stack[s]] = LARGE;
        else
            for (int32_t s = 0; s < size; s++) phase[stack[s]] = MO_PHASE_BALLISTIC;
    }
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Expected density ----

enum { CELLS = 10, SUB = 2 * CELLS }; // cells with halo 1, and samples along an axis

// In 2D the neighbours along z repeat the plane.
static void repeat_plane(float *block, int edge, int halo)
{
    int plane = MO_MARGIN + halo;
    for (int side = -1; side <= 1; side += 2)
        memcpy(block + edge * edge * (plane + side), block + edge * edge * plane,
               sizeof(float) * (size_t)(edge * edge));
}

// Samples lie in rows along x, the low halves of a row's cells before their high halves. Axis by axis: linear
// interpolation along x first, then whole rows are mixed along y and z.

// Finds the error of linear interpolation in the cells of a 12^3 block, except the outermost ones.
static void find_bent(const float *phi, float *bent)
{
    enum { P = CELLS + 2 };
    for (int r = 0; r < CELLS * CELLS; r++) {
        const float *q = phi + 1 + P * (r % CELLS + 1 + P * (r / CELLS + 1));
        for (int c = 0; c < CELLS; c++)
            bent[CELLS * r + c] =
                mo_eighths_error(q[c + 1] + q[c - 1] + q[c + P] + q[c - P] + q[c + P * P] + q[c - P * P] - 6 * q[c]);
    }
}

// Wet part of 2 x 2 x 2 samples per cell, from phi at centres (12^3 block), times openness.
static void wet_samples(const float *phi, const float *open, float *wet)
{
    enum { P = CELLS + 2 };
    float row[P * P * SUB], plane[2][SUB * SUB], bent[CELLS * CELLS * CELLS];
    find_bent(phi, bent);
    for (int r = 0; r < P * P; r++)
        for (int c = 0; c < CELLS; c++) {
            const float *q = phi + P * r + c + 1;
            row[SUB * r + c] = 0.75f * q[0] + 0.25f * q[-1], row[SUB * r + CELLS + c] = 0.75f * q[0] + 0.25f * q[1];
        }
    for (int z = 0; z < SUB; z++) {
        int cz = z / 2 + 1, to[2] = {cz, z & 1 ? cz + 1 : cz - 1};
        for (int n = 0; n < 2; n++)
            for (int y = 0; y < SUB; y++) {
                int cy = y / 2 + 1, ny = y & 1 ? cy + 1 : cy - 1;
                const float *a = row + SUB * (cy + P * to[n]), *b = row + SUB * (ny + P * to[n]);
                for (int x = 0; x < SUB; x++) plane[n][x + SUB * y] = 0.75f * a[x] + 0.25f * b[x];
            }
        for (int r = 0; r < 2 * SUB; r++) { // halves of rows
            int cells = CELLS * (r / 4 + CELLS * (z / 2));
            const float *a = plane[0] + CELLS * r, *b = plane[1] + CELLS * r, *o = open + cells, *e = bent + cells;
            float *out = wet + CELLS * r + SUB * SUB * z;
            for (int c = 0; c < CELLS; c++)
                out[c] = mo_minf(mo_maxf(0.5f - 2 * (0.75f * a[c] + 0.25f * b[c] - e[c]), 0), 1) * o[c];
        }
    }
}

static void open_samples(const float *open, float *sample)
{
    for (int z = 0; z < SUB; z++)
        for (int r = 0; r < 2 * SUB; r++)
            memcpy(sample + CELLS * r + SUB * SUB * z, open + CELLS * (r / 4 + CELLS * (z / 2)), sizeof(float) * CELLS);
}

// Hat integral at the centres of the tile's cells: weights (1, 3, 3, 1) / 8 along each axis.
static void hat_integral(const float *sample, float *out)
{
    static const float w[4] = {0.125f, 0.375f, 0.375f, 0.125f};
    float a[MO_TILE * SUB * SUB], b[MO_TILE * MO_TILE * SUB];
    for (int r = 0; r < SUB * SUB; r++) {
        const float *low = sample + SUB * r, *high = low + CELLS;
        for (int i = 0; i < MO_TILE; i++)
            a[i + MO_TILE * r] = w[0] * high[i] + w[1] * low[i + 1] + w[2] * high[i + 1] + w[3] * low[i + 2];
    }
    for (int z = 0; z < SUB; z++)
        for (int j = 0; j < MO_TILE; j++)
            for (int i = 0; i < MO_TILE; i++) {
                const float *s = a + i + MO_TILE * (2 * j + 1 + SUB * z);
                b[i + MO_TILE * (j + MO_TILE * z)] =
                    w[0] * s[0] + w[1] * s[MO_TILE] + w[2] * s[2 * MO_TILE] + w[3] * s[3 * MO_TILE];
            }
    for (int k = 0; k < MO_TILE; k++)
        for (int i = 0; i < MO_TILE * MO_TILE; i++) {
            const float *s = b + i + MO_TILE * MO_TILE * (2 * k + 1);
            out[i + MO_TILE * MO_TILE * k] = w[0] * s[0] + w[1] * s[64] + w[2] * s[128] + w[3] * s[192];
        }
}

static bool all_between(const float *v, int n, float lo, float hi)
{
    for (int i = 0; i < n; i++)
        if (v[i] < lo || v[i] > hi) return false;
    return true;
}

static void fill(float *v, int n, float value)
{
    for (int i = 0; i < n; i++) v[i] = value;
}

// Volume of a tile's samples inside the domain: beyond an open wall there is no liquid, whatever interpolation says.
static double sampled_volume(const mo_grid *g, int32_t tile, const float *sample)
{
    int32_t lo[3], hi[3];
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        int32_t base = MO_TILE * g->coord[tile][a], first = MO_MARGIN - base, end = g->n[a] - MO_MARGIN - base;
        lo[a] = 2 + 2 * (first > 0 ? first : 0), hi[a] = 2 + 2 * (end < MO_TILE ? end : MO_TILE);
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int c = lo[0] / 2; c < hi[0] / 2; c++) {
                const float *cell = sample + c + SUB * (y + SUB * z);
                sum += cell[0], sum += cell[CELLS];
            }
    return sum / 8;
}

double mo_surface_expected(const mo_grid *g, const float *phi_visible, const float *open_volume, float *expected,
                           float *capacity)
{
    MO_ASSERT(expected != phi_visible && capacity != phi_visible);
    bool two_dimensional = mo_grid_is_2d(g);
    double total = 0; // tiles in batches, so that their volumes fit the stack and are added in order
    enum { BATCH = 4096 };
    for (int32_t first = 0; first < g->tiles; first += BATCH) {
        double volume[BATCH] = {0};
        int32_t last = first + BATCH < g->tiles ? first + BATCH : g->tiles;
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t t = first; t < last; t++) {
            float phi[12 * 12 * 12], open[CELLS * CELLS * CELLS], sample[SUB * SUB * SUB];
            float *e = expected + (int64_t)t * MO_TILE_CELLS, *k = capacity + (int64_t)t * MO_TILE_CELLS;
            mo_grid_block(g, phi_visible, t, 2, 3, phi);
            mo_grid_block(g, open_volume, t, 1, 0, open);
            if (two_dimensional) repeat_plane(phi, 12, 2), repeat_plane(open, CELLS, 1);
            bool full = all_between(open, CELLS * CELLS * CELLS, 1, 1),
                 dry = all_between(phi, 12 * 12 * 12, 0.25f, 1e9f), wet = all_between(phi, 12 * 12 * 12, -1e9f, -0.3f);
            if (full && wet) {
                fill(e, MO_TILE_CELLS, 1), fill(k, MO_TILE_CELLS, 1);
                volume[t - first] = MO_TILE_CELLS;
                continue;
            }
            if (full || dry)
                fill(k, MO_TILE_CELLS, 1); // nothing reads the capacity of dry cells
            else {
                open_samples(open, sample);
                hat_integral(sample, k);
            }
            if (dry) {
                fill(e, MO_TILE_CELLS, 0);
                continue;
            }
            if (wet) { // liquid fills what is open: the samples are those of open space
                memcpy(e, k, sizeof(float) * MO_TILE_CELLS);
            } else {
                wet_samples(phi, open, sample);
                hat_integral(sample, e);
            }
            volume[t - first] = sampled_volume(g, t, sample);
        }
        for (int32_t t = first; t < last; t++) total += volume[t - first];
    }
    mo_near_expected(g, phi_visible, open_volume, expected, capacity);
    return total;
}
