// Samples of the liquid and of solids on the lattice of the mesh, and the velocity of its vertices.
//
// Nodes lie on cell corners and `refine - 1` times in between, so that walls are planes of nodes. phi comes from cell
// centres by cubic (Lagrange) interpolation. Facets lie inside the curved surface that their corners lie on: corners
// are moved out by FACETS h^2 times the curvature, the Laplacian of phi, which makes the enclosed volume right.
//
// Hidden particles, which lie outside the level set, show as |x - mean of their places| - radius (Zhu and Bridson
// 2005). One radius serves them all: that with which the mesh gains just their volume.
#include "fluid/liquid_mesh.h"
#include "fluid/liquid_mesh_near.h"
#include "geometry/cut_mesh.h"
#include <math.h>
#include <string.h>

enum { HALO = 3, BLOCK = MO_TILE + 2 * HALO, WIDE = BLOCK + 2 };
enum { MOST_NODES = MO_TILE * MO_REFINE_MOST + 3, RADII = 8 };
static const float FACETS[2] = {0.08f, 0.04f}; // 3D, 2D
static const float REACH = 1, FAR = 4;         // cells; distances beyond FAR are all the same
static const float far_away = 1e3f;

typedef struct shower { // the data of the mesh's callbacks
    const mo_liquid_surface *s;
    int32_t tiles, *tile, (*lo)[3]; // bricks
    int32_t refine[3], nodes[3];    // per cell; samples of a brick
    uint8_t *hidden;                // [particles]
    int32_t *hidden_in;             // [tiles of the grid] hidden particles in and around them
    int32_t *solid_first, *solid;   // solids near each brick
    float radius;                   // of balls round hidden particles, cells; < 0: they are not shown
    float largest;                  // radius that is tried
    bool borrowed;                  // hidden and hidden_in belong to another
} shower;

// ---- The level set on nodes ----

// Loads a tile's values with halo; where the lattice ends they are extrapolated linearly.
static void load_block(const mo_liquid_surface *s, int32_t tile, float *wide)
{
    const mo_grid *g = s->grid;
    mo_grid_block(g, s->phi, tile, HALO + 1, FAR, wide);
    for (int i = 0; i < WIDE * WIDE * WIDE; i++) wide[i] = mo_minf(mo_maxf(wide[i], -FAR), FAR);
    for (int a = 0; a < 3; a++) {
        int stride = a == 0 ? 1 : a == 1 ? WIDE : WIDE * WIDE;
        int32_t first = -MO_TILE * g->coord[tile][a] + HALO + 1, last = first + g->n[a] - 1; // cells of the lattice
        for (int i = 0; i < WIDE * WIDE; i++) {
            int u = i % WIDE, v = i / WIDE;
            float *line = wide + (a == 0 ? WIDE * (u + WIDE * v) : a == 1 ? u + WIDE * WIDE * v : u + WIDE * v);
            for (int32_t k = first - 1; k >= 0 && first < WIDE; k--)
                line[k * stride] = 2 * line[(k + 1) * stride] - line[(k + 2) * stride];
            for (int32_t k = last + 1; k < WIDE && last > 0; k++)
                line[k * stride] = 2 * line[(k - 1) * stride] - line[(k - 2) * stride];
        }
    }
}

// Moves the surface out by the distance that facets lie inside it; h: spacing of nodes.
static void shift_facets(const float *wide, float h, bool two_dimensional, float *block)
{
    static const int stride[3] = {1, WIDE, WIDE * WIDE};
    for (int z = 0; z < BLOCK; z++)
        for (int y = 0; y < BLOCK; y++)
            for (int x = 0; x < BLOCK; x++) {
                const float *q = wide + x + 1 + WIDE * (y + 1 + WIDE * (z + 1));
                float sum = 0;
                for (int a = 0; a < (two_dimensional ? 2 : 3); a++) sum += q[stride[a]] + q[-stride[a]] - 2 * q[0];
                sum = mo_minf(mo_maxf(sum, -1), 1); // larger values are kinks, not curvature
                block[x + BLOCK * (y + BLOCK * z)] =
                    q[0] - (fabsf(q[0]) < 2.5f ? FACETS[two_dimensional] * h * h * sum : 0);
            }
}

// Weights of the four cells round fine node i, the first of them in the block.
static int cubic_weights(int32_t i, int32_t refine, float w[4])
{
    int32_t twice = 2 * i - refine,
            cell = twice < 0 ? -((-twice + 2 * refine - 1) / (2 * refine)) : twice / (2 * refine);
    float t = (float)(twice - 2 * refine * cell) / (float)(2 * refine);
    mo_cubic_weights(t, w);
    return cell - 1 + HALO;
}

// One axis: `rows` lines of cells `stride` apart become lines of nodes.
static void refine_axis(const float *from, int32_t from_stride, float *to, int32_t to_stride, int32_t nodes,
                        int32_t refine)
{
    for (int32_t i = 0; i < nodes; i++) {
        float w[4];
        const float *q = from + from_stride * cubic_weights(i - 1, refine, w);
        to[i * to_stride] = w[0] * q[0] + w[1] * q[from_stride] + w[2] * q[2 * from_stride] + w[3] * q[3 * from_stride];
    }
}

static void refine_block(const shower *b, const float *block, float *phi, float *work)
{
    int32_t nx = b->nodes[0], ny = b->nodes[1], nz = b->nodes[2], r = b->refine[0];
    float *a = work, *c = work + nx * BLOCK * BLOCK; // nx x BLOCK x BLOCK, nx x ny x BLOCK
    bool two_dimensional = mo_grid_is_2d(b->s->grid);
    int z0 = two_dimensional ? MO_MARGIN + HALO : 0, z1 = two_dimensional ? z0 + 1 : BLOCK;
    for (int z = z0; z < z1; z++) {
        for (int y = 0; y < BLOCK; y++)
            refine_axis(block + BLOCK * (y + BLOCK * z), 1, a + nx * (y + BLOCK * z), 1, nx, r);
        for (int x = 0; x < nx; x++) refine_axis(a + x + nx * BLOCK * z, nx, c + x + nx * ny * z, nx, ny, r);
    }
    for (int32_t i = 0; i < nx * ny; i++) {
        if (!two_dimensional) refine_axis(c + i, nx * ny, phi + i, nx * ny, nz, r);
        for (int z = 0; z < nz && two_dimensional; z++) phi[i + nx * ny * z] = c[i + nx * ny * z0];
    }
}

static bool far_from_zero(const float *block, int64_t n)
{
    bool wet = block[0] < 0;
    for (int64_t i = 0; i < n; i++)
        if (fabsf(block[i]) < 2.99f || (block[i] < 0) != wet) return false; // cubic weights add up to 1.4 at most
    return true;
}

// ---- Hidden particles ----

static float phi_at(const mo_grid *g, const float *phi, const float x[3])
{
    int32_t c[3];
    float t[3], sum = 0, weight = 0;
    for (int a = 0; a < 3; a++) c[a] = (int32_t)floorf(x[a] - 0.5f), t[a] = x[a] - 0.5f - (float)c[a];
    if (mo_grid_is_2d(g)) c[2] = MO_MARGIN, t[2] = 0;
    for (int k = 0; k < 8; k++) {
        float w = (k & 1 ? t[0] : 1 - t[0]) * (k & 2 ? t[1] : 1 - t[1]) * (k & 4 ? t[2] : 1 - t[2]);
        int32_t i = w > 0 ? mo_grid_index(g, c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2)) : -1;
        if (i >= 0) sum += w * phi[i], weight += w;
    }
    return weight > 0 ? sum / weight : far_away;
}

// The level set at a particle, as it is on the particle's side of sheets.
static float phi_of(const mo_liquid_surface *s, int32_t q)
{
    const mo_particles *p = s->particles;
    float near;
    if (s->sheet && mo_liquid_near(s->grid, s->phi, (double[3]){p->x[0][q], p->x[1][q], p->x[2][q]}, FAR, &near))
        return near;
    return phi_at(s->grid, s->phi, (float[]){p->x[0][q], p->x[1][q], p->x[2][q]});
}

// Marks them, counts them by tile with the tiles around, and returns their volume.
static double find_hidden(shower *b)
{
    const mo_liquid_surface *s = b->s;
    const mo_grid *g = s->grid;
    const mo_particles *p = s->particles;
#pragma omp parallel for schedule(static, 4096)
    for (int32_t q = 0; q < p->count; q++) b->hidden[q] = phi_of(s, q) > MO_HIDDEN_DEPTH;
    double volume = 0;
    for (int32_t t = 0; t < g->tiles; t++) {
        int32_t count = 0;
        for (int32_t q = p->start[t * MO_TILE_CELLS]; q < p->start[(t + 1) * MO_TILE_CELLS]; q++)
            if (b->hidden[q]) count++, volume += p->volume[q];
        for (int k = 0; k < 27 && count; k++)
            if (g->neighbour[t][k] >= 0) b->hidden_in[g->neighbour[t][k]] += count;
    }
    return volume;
}

typedef struct sums {
    float w, x[3];
} sums;

// Whether a sheet stands between a place and another that lies d from it, in cells.
static bool hidden_behind(const shower *b, const float x[3], const float d[3])
{
    const mo_grid *g = b->s->grid;
    int32_t cell = mo_grid_index(g, (int32_t)floorf(x[0]), (int32_t)floorf(x[1]), (int32_t)floorf(x[2]));
    if (cell < 0 || !mo_reach_near(g, cell, 1)) return false;
    mo_vec3 from = mo_grid_world(g, x[0], x[1], x[2]);
    mo_vec3 normal;
    return b->s->sheet(b->s->user, from, mo_sub(from, mo_mul(g->dx, mo_v3(d[0], d[1], d[2]))), &normal) <= 1;
}

// Adds one particle to the nodes within REACH. Nodes count from the sample before the brick.
static void add_particle(const shower *b, const int32_t lo[3], const float x[3], sums *sum)
{
    int32_t from[3], to[3];
    bool two_dimensional = b->refine[2] == 1 && b->nodes[2] == 4;
    for (int a = 0; a < 3; a++) {
        float r = (float)b->refine[a], node = x[a] * r - (float)(lo[a] - 1);
        from[a] = (int32_t)ceilf(mo_maxf(node - REACH * r, 0));
        to[a] = (int32_t)floorf(mo_minf(node + REACH * r, (float)(b->nodes[a] - 1)));
        if (two_dimensional && a == 2) from[a] = 0, to[a] = 0; // the plane's nodes are filled later
    }
    for (int32_t k = from[2]; k <= to[2]; k++)
        for (int32_t j = from[1]; j <= to[1]; j++)
            for (int32_t i = from[0]; i <= to[0]; i++) {
                float d[3] = {x[0] - (float)(lo[0] - 1 + i) / (float)b->refine[0],
                              x[1] - (float)(lo[1] - 1 + j) / (float)b->refine[1],
                              two_dimensional ? 0 : x[2] - (float)(lo[2] - 1 + k) / (float)b->refine[2]};
                float w = 1 - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (REACH * REACH);
                if (w <= 0 || (b->s->sheet && hidden_behind(b, x, d))) continue;
                sums *s = &sum[i + b->nodes[0] * (j + b->nodes[1] * k)];
                w *= w * w;
                s->w += w;
                for (int a = 0; a < 3; a++) s->x[a] += w * d[a];
            }
}

// Distance of each node from the mean of the hidden particles around it (cells), in lexicographic order of their
// cells: bricks that share a node get the same.
static bool hidden_distance(const shower *b, int32_t brick, float *out)
{
    const mo_grid *g = b->s->grid;
    const mo_particles *p = b->s->particles;
    const int32_t *lo = b->lo[brick], *c = g->coord[b->tile[brick]];
    int64_t n = (int64_t)b->nodes[0] * b->nodes[1] * b->nodes[2];
    bool two_dimensional = mo_grid_is_2d(g);
    sums *sum = mo_calloc(sizeof *sum * (size_t)n);
    if (!sum) return false;
    for (int32_t k = 8 * c[2] - 3; k < 8 * c[2] + 11; k++)
        for (int32_t j = 8 * c[1] - 3; j < 8 * c[1] + 11; j++)
            for (int32_t i = 8 * c[0] - 3; i < 8 * c[0] + 11; i++) {
                int32_t index = mo_grid_index(g, i, j, k);
                for (int32_t q = index < 0 ? 0 : p->start[index]; index >= 0 && q < p->start[index + 1]; q++)
                    if (b->hidden[q]) add_particle(b, lo, (float[]){p->x[0][q], p->x[1][q], p->x[2][q]}, sum);
            }
    int64_t plane = (int64_t)b->nodes[0] * b->nodes[1];
    for (int64_t i = 0; i < n; i++) {
        const sums *s = &sum[two_dimensional ? i % plane : i];
        float d2 = s->x[0] * s->x[0] + s->x[1] * s->x[1] + s->x[2] * s->x[2];
        out[i] = s->w > 1e-6f ? sqrtf(d2) / s->w : far_away;
    }
    mo_free(sum);
    return true;
}

// ---- Solids ----

// In cells: distances at nodes are true within this band, which holds all cubes that a solid's surface cuts.
static double solid_band(const shower *b) { return 1.8 / b->s->refine; }

static const double half_diagonal = 0.8661; // of a cell

// Solids that can be within the band of a brick's samples, seen from the centres of cells.
static mo_status list_solids(shower *b, mo_error *err)
{
    const mo_solid_set *set = b->s->solids;
    const mo_grid *g = b->s->grid;
    int64_t capacity = 0;
    int32_t count = 0;
    for (int32_t t = 0; t < b->tiles; t++) {
        const int32_t *c = g->coord[b->tile[t]];
        b->solid_first[t] = count;
        if (!mo_reserve((void **)&b->solid, &capacity, count + set->count + 1, sizeof *b->solid))
            return mo_fail_memory(err);
        double half = MO_TILE / 2, z = mo_grid_is_2d(g) ? MO_MARGIN + 0.5 : 8 * c[2] + half;
        mo_vec3 centre = mo_grid_world(g, 8 * c[0] + half, 8 * c[1] + half, z);
        double reach = (2 * half_diagonal * (half + 1) + solid_band(b) + half_diagonal) * g->dx;
        for (int32_t i = 0; i < set->count; i++)
            if (set->distance(set->user, i, centre) < reach) b->solid[count++] = i;
    }
    b->solid_first[b->tiles] = count;
    return MO_OK;
}

// In m, at most the band and half a cell's diagonal.
static double distance_near(void *user, int32_t brick, mo_vec3 x)
{
    const shower *b = user;
    const mo_solid_set *set = b->s->solids;
    if (mo_grid_is_2d(b->s->grid)) x.z = mo_grid_world(b->s->grid, 0, 0, MO_MARGIN + 0.5).z;
    double d = (solid_band(b) + half_diagonal) * b->s->grid->dx;
    for (int32_t k = b->solid_first[brick]; k < b->solid_first[brick + 1]; k++)
        d = fmin(d, set->distance(set->user, b->solid[k], x));
    return d;
}

// The nodes that belong to a cell. All take the band's limit if the cell is far from solids, else their own distance;
// either depends on the node alone, so that bricks agree.
static void load_solid_cell(const shower *b, int32_t brick, const int32_t cell[3], const int32_t from[3],
                            const int32_t to[3], float *out)
{
    const mo_grid *g = b->s->grid;
    const int32_t *lo = b->lo[brick], *r = b->refine;
    double band = solid_band(b) * g->dx, far = band + half_diagonal * g->dx;
    double centre = distance_near((void *)b, brick, mo_grid_world(g, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5));
    for (int32_t k = from[2]; k < to[2]; k++)
        for (int32_t j = from[1]; j < to[1]; j++)
            for (int32_t i = from[0]; i < to[0]; i++) {
                double d = centre;
                if (fabs(centre) < far)
                    d = distance_near((void *)b, brick,
                                      mo_grid_world(g, (double)(lo[0] + i - 1) / r[0], (double)(lo[1] + j - 1) / r[1],
                                                    (double)(lo[2] + k - 1) / r[2]));
                out[i + b->nodes[0] * (j + b->nodes[1] * k)] = (float)fmin(fmax(d, -band), band);
            }
}

static void load_solids(const shower *b, int32_t brick, float *out)
{
    int32_t first[3], cells[3];
    for (int a = 0; a < 3; a++) {
        int32_t r = b->refine[a], low = b->lo[brick][a] - 1;
        first[a] = low < 0 ? -1 : low / r; // cells of the samples from -1 on
        cells[a] = (low + b->nodes[a] - 1) / r - first[a] + 1;
    }
    for (int32_t k = 0; k < cells[2]; k++)
        for (int32_t j = 0; j < cells[1]; j++)
            for (int32_t i = 0; i < cells[0]; i++) {
                int32_t cell[3] = {first[0] + i, first[1] + j, first[2] + k}, from[3], to[3];
                for (int a = 0; a < 3; a++) {
                    int32_t start = cell[a] * b->refine[a] - b->lo[brick][a] + 1, end = start + b->refine[a];
                    from[a] = start < 0 ? 0 : start, to[a] = end < b->nodes[a] ? end : b->nodes[a];
                }
                load_solid_cell(b, brick, cell, from, to, out);
            }
}

// ---- Bricks ----

// phi of the level set in cells.
static void load_level(const shower *b, int32_t brick, float *phi)
{
    int32_t tile = b->tile[brick];
    float wide[WIDE * WIDE * WIDE], block[BLOCK * BLOCK * BLOCK];
    int64_t n = (int64_t)b->nodes[0] * b->nodes[1] * b->nodes[2];
    float most = mo_maxf(1, 2.1f / (float)b->s->refine); // as far as slopes beside the surface need
    load_block(b->s, tile, wide);
    if (far_from_zero(wide, WIDE * WIDE * WIDE)) {
        for (int64_t i = 0; i < n; i++) phi[i] = wide[0] < 0 ? -most : most;
        return;
    }
    float work[MOST_NODES * BLOCK * BLOCK + MOST_NODES * MOST_NODES * BLOCK];
    shift_facets(wide, 1 / (float)b->refine[0], mo_grid_is_2d(b->s->grid), block);
    refine_block(b, block, phi, work);
    for (int64_t i = 0; i < n; i++) phi[i] = mo_minf(mo_maxf(phi[i], -most), most);
}

// Level set and particles become one, rounded where they meet. No particle near: b is far away.
static float blend(float a, float b)
{
    const float k = 0.25f;
    if (b > REACH) return a;
    float h = mo_maxf(k - fabsf(a - b), 0) / k;
    return mo_minf(a, b) - h * h * k * 0.25f;
}

static bool particle_within(const shower *b, const float x[3], float reach)
{
    const mo_particles *p = b->s->particles;
    int32_t from[3], to[3];
    for (int a = 0; a < 3; a++) from[a] = (int32_t)floorf(x[a] - reach), to[a] = (int32_t)floorf(x[a] + reach);
    for (int32_t k = from[2]; k <= to[2]; k++)
        for (int32_t j = from[1]; j <= to[1]; j++)
            for (int32_t i = from[0]; i <= to[0]; i++) {
                int32_t index = mo_grid_index(b->s->grid, i, j, k);
                if (index >= 0 && p->start[index] < p->start[index + 1]) return true;
            }
    return false;
}

// The level set is continued in solids, and can come out on the other side of thin ones. So open nodes that it makes
// wet by less than a cell are dry if no particle is near.
static void drop_shine(const shower *b, int32_t brick, float *phi, const float *solid)
{
    const int32_t *lo = b->lo[brick];
    bool two_dimensional = mo_grid_is_2d(b->s->grid);
    for (int32_t k = 0; k < b->nodes[2]; k++)
        for (int32_t j = 0; j < b->nodes[1]; j++)
            for (int32_t i = 0; i < b->nodes[0]; i++) {
                int64_t at = i + (int64_t)b->nodes[0] * (j + (int64_t)b->nodes[1] * k);
                if (phi[at] >= 0 || phi[at] < -1.2f || solid[at] <= 0) continue;
                float x[3] = {(float)(lo[0] + i - 1) / (float)b->refine[0],
                              (float)(lo[1] + j - 1) / (float)b->refine[1],
                              two_dimensional ? MO_MARGIN + 0.5f : (float)(lo[2] + k - 1) / (float)b->refine[2]};
                if (!particle_within(b, x, 1.25f)) phi[at] = -phi[at];
            }
}

// Where sheets are near, nodes see the rows on their own side.
static void load_sheets(const shower *b, int32_t brick, float *phi)
{
    const int32_t *lo = b->lo[brick];
    const float most = mo_maxf(1, 2.1f / (float)b->s->refine);
    for (int32_t k = 0; k < b->nodes[2]; k++)
        for (int32_t j = 0; j < b->nodes[1]; j++)
            for (int32_t i = 0; i < b->nodes[0]; i++) {
                double x[3] = {(double)(lo[0] + i - 1) / b->refine[0], (double)(lo[1] + j - 1) / b->refine[1],
                               (double)(lo[2] + k - 1) / b->refine[2]};
                float *at = &phi[i + (int64_t)b->nodes[0] * (j + (int64_t)b->nodes[1] * k)];
                if (mo_grid_is_2d(b->s->grid)) x[2] = MO_MARGIN + 0.5;
                if (mo_liquid_near(b->s->grid, b->s->phi, x, FAR, at)) *at = mo_minf(mo_maxf(*at, -most), most);
            }
}

static double meet_sheet(void *user, int32_t brick, mo_vec3 from, mo_vec3 to, mo_vec3 *normal)
{
    const shower *b = user;
    const mo_grid *g = b->s->grid;
    (void)brick;
    mo_vec3 x = mo_mul(1 / g->dx, mo_sub(mo_mul(0.5, mo_add(from, to)), g->origin));
    if (mo_grid_is_2d(g)) from.z = to.z = mo_grid_world(g, 0, 0, MO_MARGIN + 0.5).z, x.z = MO_MARGIN + 0.5;
    int32_t cell = mo_grid_index(g, (int32_t)floor(x.x), (int32_t)floor(x.y), (int32_t)floor(x.z));
    if (cell < 0 || !mo_reach_near(g, cell, MO_REACH_AROUND)) return MO_CUT_FREE;
    double at = b->s->sheet(b->s->user, from, to, normal);
    return at <= 1 ? at : MO_CUT_BESIDE;
}

static bool load_brick(void *user, int32_t brick, float *phi, float *solid)
{
    const shower *b = user;
    int64_t n = (int64_t)b->nodes[0] * b->nodes[1] * b->nodes[2];
    float dx = (float)b->s->grid->dx;
    load_level(b, brick, phi);
    if (b->s->sheet) load_sheets(b, brick, phi);
    // Without memory, hidden particles stay hidden; the mesh itself will not get any memory either.
    if (b->radius >= 0 && b->hidden_in[b->tile[brick]] && hidden_distance(b, brick, solid))
        for (int64_t i = 0; i < n; i++) phi[i] = blend(phi[i], solid[i] - b->radius);
    bool solids = b->solid_first[brick + 1] > b->solid_first[brick];
    if (solids) load_solids(b, brick, solid), drop_shine(b, brick, phi, solid);
    for (int64_t i = 0; i < n; i++) phi[i] *= dx;
    return solids;
}

// ---- The radius of hidden particles ----

// Volume (cells) of one cube of samples for the level set alone (0) and with each of the radii.
static void cube_volumes(const shower *b, const float *phi, const float *hidden, const float *solid, int32_t at,
                         double volume[RADII + 1])
{
    static const int8_t chain[6][4] = {{0, 1, 3, 7}, {0, 2, 3, 7}, {0, 1, 5, 7},
                                       {0, 4, 5, 7}, {0, 2, 6, 7}, {0, 4, 6, 7}};
    float f[8], q[8], d[8], near = far_away;
    for (int s = 0; s < 8; s++) {
        int32_t i = at + (s & 1) + b->nodes[0] * ((s >> 1 & 1) + b->nodes[1] * (s >> 2));
        f[s] = phi[i], q[s] = hidden[i], d[s] = solid ? solid[i] / (float)b->s->grid->dx : far_away;
        near = mo_minf(near, q[s]);
    }
    if (near > b->largest) return; // the same for all radii
    for (int r = 0; r <= RADII; r++) {
        double part = 0;
        for (int t = 0; t < 6; t++) {
            double v[4];
            for (int k = 0; k < 4; k++) {
                int c = chain[t][k];
                float value = r ? blend(f[c], q[c] - b->largest * (float)r / RADII) : f[c];
                v[k] = mo_maxf(value, -d[c]);
            }
            part += mo_fraction_tet(v) / 6;
        }
        volume[r] += part / ((double)b->refine[0] * b->refine[1] * b->refine[2]);
    }
}

static bool brick_volumes(const shower *b, int32_t brick, double volume[RADII + 1])
{
    int64_t n = (int64_t)b->nodes[0] * b->nodes[1] * b->nodes[2];
    float *phi = mo_alloc(3 * sizeof(float) * (size_t)n), *hidden = phi + n, *solid = phi + 2 * n;
    bool enough = phi && hidden_distance(b, brick, hidden);
    const mo_grid *g = b->s->grid;
    if (enough) {
        load_level(b, brick, phi);
        if (b->s->sheet) load_sheets(b, brick, phi);
        bool solids = b->solid_first[brick + 1] > b->solid_first[brick];
        if (solids) load_solids(b, brick, solid), drop_shine(b, brick, phi, solid);
        for (int32_t k = 1; k + 2 < b->nodes[2]; k++)
            for (int32_t j = 1; j + 2 < b->nodes[1]; j++)
                for (int32_t i = 1; i + 2 < b->nodes[0]; i++) {
                    int32_t node[3] = {b->lo[brick][0] + i - 1, b->lo[brick][1] + j - 1, b->lo[brick][2] + k - 1};
                    bool inside = true;
                    for (int a = 0; a < 3; a++)
                        inside &= node[a] >= MO_MARGIN * b->refine[a] && node[a] < (g->n[a] - MO_MARGIN) * b->refine[a];
                    if (inside)
                        cube_volumes(b, phi, hidden, solids ? solid : NULL, i + b->nodes[0] * (j + b->nodes[1] * k),
                                     volume);
                }
    }
    mo_free(phi);
    return enough;
}

// Volumes of all bricks, in order.
static mo_status try_radii(const shower *b, double total[RADII + 1], mo_error *err)
{
    double(*each)[RADII + 1] = mo_calloc(sizeof *each * (size_t)b->tiles + 1);
    if (!each) return mo_fail_memory(err);
    bool failed = false;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < b->tiles; t++)
        if (!brick_volumes(b, t, each[t])) {
#pragma omp atomic write
            failed = true;
        }
    for (int r = 0; r <= RADII; r++) total[r] = 0;
    for (int32_t t = 0; t < b->tiles; t++)
        for (int r = 0; r <= RADII; r++) total[r] += each[t][r];
    mo_free(each);
    return failed ? mo_fail_memory(err) : MO_OK;
}

// The radius at which the tried volumes have gained `volume`, at most the largest.
static float radius_for(const shower *b, const double total[RADII + 1], double volume)
{
    int r = 1;
    while (r < RADII && total[r] - total[0] < volume) r++;
    double low = r > 1 ? total[r - 1] - total[0] : 0, high = total[r] - total[0];
    double part = high > low ? fmin(fmax((volume - low) / (high - low), 0), 1) : 1;
    return b->largest * (float)((r - 1 + part) / RADII);
}

// ---- Velocity ----

// The mean velocity of the particles around, weighted by a hat of two cells; 0 if there are none.
static void velocity_at(const mo_particles *p, const mo_grid *g, const float x[3], float v[3])
{
    int32_t c[3] = {(int32_t)floorf(x[0]), (int32_t)floorf(x[1]), (int32_t)floorf(x[2])};
    float sum = 0, s[3] = {0};
    for (int ring = 1; ring <= 2 && sum == 0; ring++)
        for (int32_t k = c[2] - ring; k <= c[2] + ring; k++)
            for (int32_t j = c[1] - ring; j <= c[1] + ring; j++)
                for (int32_t i = c[0] - ring; i <= c[0] + ring; i++) {
                    int32_t index = mo_grid_index(g, i, j, k);
                    for (int32_t q = index < 0 ? 0 : p->start[index]; index >= 0 && q < p->start[index + 1]; q++) {
                        float d[3] = {x[0] - p->x[0][q], x[1] - p->x[1][q], x[2] - p->x[2][q]}, w = p->volume[q];
                        for (int a = 0; a < 3; a++) w *= mo_maxf((float)ring - fabsf(d[a]), 0);
                        if (w <= 0) continue;
                        sum += w;
                        for (int a = 0; a < 3; a++)
                            s[a] +=
                                w * (p->v[a][q] + p->c[a][0][q] * d[0] + p->c[a][1][q] * d[1] + p->c[a][2][q] * d[2]);
                    }
                }
    for (int a = 0; a < 3; a++) v[a] = sum > 0 ? s[a] / sum : 0;
}

static mo_status add_velocity(const mo_liquid_surface *s, mo_mesh *mesh, mo_error *err)
{
    const mo_grid *g = s->grid;
    mesh->velocity = mo_alloc(3 * sizeof(float) * (size_t)mesh->vertex_count + 1);
    if (!mesh->velocity) return mo_fail_memory(err);
    double origin[3] = {g->origin.x, g->origin.y, g->origin.z};
#pragma omp parallel for schedule(dynamic, 1024)
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        float x[3];
        for (int a = 0; a < 3; a++) x[a] = (float)((mesh->position[3 * (int64_t)v + a] - origin[a]) / g->dx);
        if (mo_grid_is_2d(g)) x[2] = MO_MARGIN + 0.5f;
        velocity_at(s->particles, g, x, mesh->velocity + 3 * (int64_t)v);
    }
    return MO_OK;
}

// ---- The mesh ----

static void shower_free(shower *b)
{
    mo_free(b->tile);
    mo_free(b->lo);
    mo_free(b->solid_first);
    mo_free(b->solid);
    if (b->borrowed) return;
    mo_free(b->hidden);
    mo_free(b->hidden_in);
}

// One brick per tile; or, of `whole`, those with hidden particles.
static mo_status shower_create(shower *b, const mo_liquid_surface *s, const shower *whole, mo_error *err)
{
    const mo_grid *g = s->grid;
    size_t tiles = (size_t)g->tiles + 1;
    bool two_dimensional = mo_grid_is_2d(g);
    *b = (shower){.s = s, .borrowed = whole != NULL, .largest = 0.5f + 0.4f / (float)s->refine};
    for (int a = 0; a < 3; a++) {
        b->refine[a] = two_dimensional && a == 2 ? 1 : s->refine;
        b->nodes[a] = two_dimensional && a == 2 ? 4 : MO_TILE * s->refine + 3;
    }
    b->tile = mo_alloc(sizeof(int32_t) * tiles);
    b->lo = mo_alloc(sizeof *b->lo * tiles);
    b->hidden = whole ? whole->hidden : mo_alloc((size_t)s->particles->count + 1);
    b->hidden_in = whole ? whole->hidden_in : mo_calloc(sizeof(int32_t) * tiles);
    b->solid_first = mo_alloc(sizeof(int32_t) * tiles);
    if (!b->tile || !b->lo || !b->hidden || !b->hidden_in || !b->solid_first) return mo_fail_memory(err);
    for (int32_t t = 0; t < g->tiles; t++) {
        if (whole && !whole->hidden_in[t]) continue;
        for (int a = 0; a < 3; a++) b->lo[b->tiles][a] = MO_TILE * g->coord[t][a] * b->refine[a];
        if (two_dimensional) b->lo[b->tiles][2] = MO_MARGIN;
        b->tile[b->tiles++] = t;
    }
    return list_solids(b, err);
}

static mo_status cut(shower *b, mo_mesh *out, mo_error *err)
{
    const mo_grid *g = b->s->grid;
    mo_cut_def def = {.count = b->tiles,
                      .lo = (const int32_t(*)[3])b->lo,
                      .origin = g->origin,
                      .load = load_brick,
                      .distance = distance_near,
                      .sheet = b->s->sheet ? meet_sheet : NULL,
                      .user = b};
    for (int a = 0; a < 3; a++) {
        def.edge[a] = b->nodes[a] - 3;
        def.low[a] = MO_MARGIN * b->refine[a], def.high[a] = (g->n[a] - MO_MARGIN) * b->refine[a];
        def.spacing[a] = g->dx / b->refine[a];
    }
    return mo_cut_mesh(&def, out, err);
}

// The contribution of the bricks' triangles to the enclosed volume, in cells.
static mo_status volume_with(shower *b, float radius, double *volume, mo_error *err)
{
    mo_mesh m;
    b->radius = radius;
    MO_TRY(cut(b, &m, err));
    double sum = 0, cell = b->s->grid->dx;
    for (int64_t t = 0; t < m.triangle_count; t++) {
        mo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const float *p = m.position + 3 * (int64_t)m.triangle[3 * t + k];
            x[k] = mo_v3(p[0], p[1], p[2]);
        }
        sum += mo_dot(x[0], mo_cross(x[1], x[2]));
    }
    *volume = sum / (6 * cell * cell * cell);
    mo_mesh_destroy(&m);
    return MO_OK;
}

// Finds the radius with which the mesh gains the hidden volume. Bricks without hidden particles do not change with it,
// so those with hidden particles give the gain, whether or not their mesh is closed. Tetrahedra of the samples give the
// growth with the radius; the mesh itself gives their error.
static mo_status find_radius(shower *whole, mo_liquid_account *account, mo_error *err)
{
    shower b = {0};
    double total[RADII + 1], none = 0, with = 0, goal = account->hidden;
    mo_status status = shower_create(&b, whole->s, whole, err);
    if (status == MO_OK) status = try_radii(&b, total, err);
    if (status == MO_OK) status = volume_with(&b, -1, &none, err);
    for (int pass = 0; pass < 3 && status == MO_OK; pass++) {
        float radius = radius_for(&b, total, goal);
        status = volume_with(&b, radius, &with, err);
        double gained = with - none;
        whole->radius = radius;
        account->radius = radius, account->film = fmax(account->hidden - gained, 0);
        if (fabs(gained - account->hidden) < 0.02 * account->hidden || radius >= b.largest) break;
        if (gained > 0) goal *= account->hidden / gained;
    }
    shower_free(&b);
    return status;
}

mo_status mo_liquid_mesh(const mo_liquid_surface *s, mo_mesh *out, mo_liquid_account *account, mo_error *err)
{
    MO_ASSERT(s->refine >= 1 && s->refine <= MO_REFINE_MOST);
    MO_ASSERT(s->grid && s->phi && s->particles && s->solids);
    shower b = {0};
    mo_liquid_account told = {0};
    *out = (mo_mesh){0};
    mo_status status = shower_create(&b, s, NULL, err);
    if (status == MO_OK) told.hidden = find_hidden(&b);
    if (status == MO_OK && told.hidden > 0) status = find_radius(&b, &told, err);
    if (status == MO_OK) status = cut(&b, out, err);
    if (status == MO_OK) status = add_velocity(s, out, err);
    if (status != MO_OK) mo_mesh_destroy(out);
    shower_free(&b);
    if (account) *account = told;
    return status;
}
