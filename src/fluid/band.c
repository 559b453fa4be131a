// Liquid without particles: storage over tiles, motion, and transfer to faces. See band.h.
#include "fluid/band.h"
#include "fluid/sampler.h"
#include <math.h>
#include <string.h>

static int first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static int end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// ---- Storage ----

void mo_band_destroy(mo_band *b)
{
    mo_free(b->deep), mo_free(b->next);
    for (int a = 0; a < 3; a++) mo_free(b->u[a]);
    memset(b, 0, sizeof *b);
}

mo_status mo_band_reserve(mo_band *b, int64_t cells, mo_error *err)
{
    if (cells <= b->capacity && b->deep) return MO_OK;
    int64_t capacity = cells + cells / 8 + MO_TILE_CELLS;
    mo_free(b->deep), mo_free(b->next);
    b->deep = mo_calloc((size_t)capacity), b->next = mo_calloc((size_t)capacity);
    bool all = b->deep && b->next;
    for (int a = 0; a < 3; a++) {
        mo_free(b->u[a]);
        b->u[a] = mo_calloc(sizeof(float) * (size_t)capacity);
        all &= b->u[a] != NULL;
    }
    b->capacity = all ? capacity : 0;
    return all ? MO_OK : mo_fail_memory(err);
}

// Copies the values of a field's tiles to the places that the tiles have now; element: bytes of a cell.
static void carry_tiles(const mo_grid *g, const int32_t *from, const uint8_t *old, size_t element, uint8_t *out)
{
    const size_t bytes = element * MO_TILE_CELLS;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++)
        if (from[t] >= 0)
            memcpy(out + bytes * (size_t)t, old + bytes * (size_t)from[t], bytes);
        else
            memset(out + bytes * (size_t)t, 0, bytes);
}

mo_status mo_band_settle(mo_band *b, const mo_levelset *l, const mo_grid *g, mo_arena *arena, mo_error *err)
{
    if (!b->depth) return MO_OK;
    size_t mark = mo_arena_mark(arena), cells = (size_t)mo_grid_cells(g);
    int32_t *from = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    uint8_t *deep = mo_arena_alloc(arena, cells + 1);
    float *u[3];
    for (int a = 0; a < 3; a++) u[a] = MO_ARENA_ARRAY(arena, float, cells + 1);
    if (!from || !deep || !u[0] || !u[1] || !u[2]) return mo_fail_memory(err);
    mo_levelset_match(l, g, from);
    carry_tiles(g, from, b->deep, 1, deep);
    for (int a = 0; a < 3; a++) carry_tiles(g, from, (const uint8_t *)b->u[a], sizeof(float), (uint8_t *)u[a]);
    MO_TRY(mo_band_reserve(b, (int64_t)cells, err));
    memcpy(b->deep, deep, cells);
    for (int a = 0; a < 3; a++) memcpy(b->u[a], u[a], sizeof(float) * cells);
    mo_arena_release(arena, mark);
    return MO_OK;
}

void mo_band_want_tile(const uint8_t *deep, const int32_t coord[3], mo_grid *g)
{
    int32_t lo[3] = {MO_TILE, MO_TILE, MO_TILE}, hi[3] = {-1, -1, -1};
    for (int i = 0; i < MO_TILE_CELLS; i++) {
        const int32_t at[3] = {i & 7, i >> 3 & 7, i >> 6};
        for (int a = 0; a < 3 && deep[i]; a++)
            lo[a] = at[a] < lo[a] ? at[a] : lo[a], hi[a] = at[a] > hi[a] ? at[a] : hi[a];
    }
    if (hi[0] < 0) return;
    for (int a = 0; a < 3; a++) lo[a] += MO_TILE * coord[a] - MO_REACH, hi[a] += MO_TILE * coord[a] + MO_REACH;
    mo_grid_want(g, lo, hi);
}

void mo_band_want(const mo_band *b, mo_grid *g)
{
    for (int32_t t = 0; t < g->tiles && b->cells; t++)
        mo_band_want_tile(b->deep + (int64_t)t * MO_TILE_CELLS, g->coord[t], g);
}

int64_t mo_band_count(const mo_grid *g, const uint8_t *deep)
{
    int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t i = 0; i < mo_grid_cells(g); i++) count += deep[i];
    return count;
}

void mo_band_velocity(const mo_band *b, const mo_grid *g, int32_t cell, float v[3])
{
    for (int a = 0; a < 3; a++) {
        int32_t high = mo_grid_step(g, cell, a, 1);
        v[a] = high < 0 ? b->u[a][cell] : 0.5f * (b->u[a][cell] + b->u[a][high]);
    }
    if (mo_grid_is_2d(g)) v[2] = 0;
}

double mo_band_max_speed(const mo_band *b, const mo_grid *g)
{
    float most = 0;
#pragma omp parallel for schedule(static, 4096) reduction(max : most)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        float v[3];
        if (!b->deep[i]) continue;
        mo_band_velocity(b, g, i, v);
        most = mo_maxf(most, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return sqrt(most);
}

// ---- Motion ----

enum { NEAR_KEPT = 1, NEAR_DEEP = 2 }; // bits of `around`: a cell that does not stay deep; one that is or may get deep

typedef struct nest { // the data with which the cells of one tile find where their liquid comes from
    const mo_grid *g;
    const mo_band_flow *flow;
    int32_t tile, base[3]; // base: lattice cell of the block's first
    float lo[3], hi[3];    // lattice positions of the domain
    float depth;
    sampler s;
    float phi[IN_CELLS];
    uint8_t deep[IN_CELLS];
} nest;

static void enter_tile(nest *n, const mo_grid *g, const mo_band_flow *flow, int32_t tile)
{
    n->g = g, n->flow = flow, n->tile = tile;
    for (int a = 0; a < 3; a++) {
        n->base[a] = MO_TILE * g->coord[tile][a] - IN_HALO;
        n->lo[a] = MO_MARGIN, n->hi[a] = (float)(g->n[a] - MO_MARGIN);
    }
}

static void load_faces(nest *n) { sampler_load(&n->s, n->g, n->flow->faces, n->tile); }

// Whether there is deep liquid, or may be soon, in a tile or within its halo.
static bool load_depths(nest *n, const mo_band *b, const mo_grid *g, const mo_band_flow *flow, int32_t tile)
{
    enter_tile(n, g, flow, tile);
    mo_grid_block_u8(g, b->deep, tile, IN_HALO, 0, n->deep);
    mo_grid_block(g, flow->phi, tile, IN_HALO, MO_LEVELSET_BAND, n->phi);
    n->depth = (float)b->depth;
    bool any = memchr(n->deep, 1, IN_CELLS) != NULL;
    for (int i = 0; i < IN_CELLS && !any; i++) any = n->phi[i] <= -(n->depth + 1);
    return any;
}

// The largest number of cells that liquid of this block passes.
static int reach_of(const nest *n)
{
    float most = 0;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < IN_CELLS; i++) most = mo_maxf(most, fabsf(n->s.block[c][i]));
    float way = ceilf(most * n->flow->step);
    return way < IN_HALO ? (int)way : IN_HALO;
}

// Collects the bits of all cells within reach of each cell of the tile. Cells beyond the domain do not count: no liquid
// comes from there.
static void look_around(const nest *n, int reach, uint8_t around[MO_TILE_CELLS])
{
    static const int stride[3] = {1, IN, IN * IN};
    uint8_t bits[IN_CELLS], wide[IN_CELLS];
    bool in[3][IN];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < IN; i++) in[a][i] = n->base[a] + i >= MO_MARGIN && n->base[a] + i < n->g->n[a] - MO_MARGIN;
    for (int row = 0; row < IN * IN; row++) {
        uint8_t any = in[1][row % IN] && in[2][row / IN] ? NEAR_KEPT | NEAR_DEEP : 0;
        for (int i = 0; i < IN; i++) {
            bool deep = n->deep[row * IN + i];
            float phi = n->phi[row * IN + i];
            uint8_t kept = deep && phi < -n->depth ? 0 : NEAR_KEPT,
                    near = deep || phi <= -(n->depth + 1) ? NEAR_DEEP : 0;
            bits[row * IN + i] = in[0][i] ? any & (kept | near) : 0;
        }
    }
    // Rows run into the next row here. This spoils only cells within reach of the block's edge, which do not belong to
    // the tile.
    for (int a = 0; a < 3; a++) {
        int edge = reach * stride[a];
        memcpy(wide, bits, sizeof wide);
        for (int k = -reach; k <= reach; k++)
            for (int i = edge; i < IN_CELLS - edge; i++) wide[i] |= bits[i + k * stride[a]];
        memcpy(bits, wide, sizeof bits);
    }
    for (int l = 0; l < MO_TILE_CELLS; l++)
        around[l] = bits[(l & 7) + IN_HALO + IN * ((l >> 3 & 7) + IN_HALO + IN * ((l >> 6) + IN_HALO))];
}

// phi at a lattice position, by linear interpolation.
static float depth_at(const nest *n, const float x[3])
{
    float f[3], v[8];
    int b[3];
    for (int a = 0; a < 3; a++) {
        float p = mo_minf(mo_maxf(x[a] - (float)n->base[a] - 0.5f, 0), IN - 1.001f);
        b[a] = (int)p, f[a] = p - (float)b[a];
    }
    bool flat = mo_grid_is_2d(n->g);
    if (flat) b[2] = MO_MARGIN + IN_HALO, f[2] = 0;
    for (int s = 0; s < 8; s++)
        v[s] = n->phi[b[0] + (s & 1) + IN * (b[1] + (s >> 1 & 1) + IN * (b[2] + (flat ? 0 : s >> 2)))];
    for (int k = 4, a = 0; k; k >>= 1, a++)
        for (int s = 0; s < k; s++) v[s] = v[2 * s] + f[a] * (v[2 * s + 1] - v[2 * s]);
    return v[0];
}

static bool deep_at(const nest *n, const float x[3])
{
    int b[3];
    for (int a = 0; a < 3; a++) {
        float p = mo_minf(mo_maxf(x[a] - (float)n->base[a], 0), IN - 1);
        b[a] = (int)p;
    }
    return n->deep[b[0] + IN * (b[1] + IN * b[2])] != 0;
}

// The places of a full cell's particles, and where their liquid comes from.
enum { MOST_PLACES = 64 };
typedef struct places {
    int count;
    float x[MOST_PLACES][3], from[MOST_PLACES][3];
} places;

static void trace_places(const nest *n, const int32_t c[3], places *p)
{
    int m = n->flow->per_axis, flat = mo_grid_is_2d(n->g);
    p->count = flat ? m * m : m * m * m;
    for (int s = 0; s < p->count; s++) {
        const int at[3] = {s % m, s / m % m, s / (m * m)};
        for (int a = 0; a < 3; a++) p->x[s][a] = (float)c[a] + ((float)at[a] + 0.5f) / (float)m;
        if (flat) p->x[s][2] = (float)c[2] + 0.5f;
    }
    for (int s = 0; s < p->count; s += LANES) {
        lanes x[3], z[3];
        for (int l = 0; l < LANES; l++)
            for (int a = 0; a < 3; a++) x[a][l] = p->x[s + l < p->count ? s + l : s][a];
        trace_back(&n->s, x, n->flow->step, flat ? 2 : 3, z);
        for (int l = 0; l < LANES && s + l < p->count; l++)
            for (int a = 0; a < 3; a++) p->from[s + l][a] = mo_minf(mo_maxf(z[a][l], n->lo[a]), n->hi[a] - 1e-3f);
    }
}

// One cell that deep liquid may leave or enter. Returns whether it is deep now; if not, which of its places get liquid
// from deep cells.
static bool carry_cell(const nest *n, const int32_t c[3], bool may, mo_band_gap *gap)
{
    const float rounding = 1e-3f;
    places p;
    float least = -MO_LEVELSET_BAND; // depth
    gap->count = 0, gap->free = 0;
    trace_places(n, c, &p);
    for (int s = 0; s < p.count; s++) {
        if (deep_at(n, p.from[s])) gap->count++, gap->free |= (uint64_t)1 << s;
        least = mo_maxf(least, depth_at(n, p.from[s]));
    }
    return may && (least <= -(n->depth + 1) + rounding || (gap->count == p.count && least < -n->depth));
}

static bool add_gap(mo_band_gaps *out, const mo_band_gap *gap)
{
    if (!mo_reserve((void **)&out->gap, &out->capacity, out->count + 1, sizeof *out->gap)) return false;
    out->gap[out->count++] = *gap;
    return true;
}

// How far the liquid of a tile's deep cells moves in the step, summed over the cells.
static void travel(const nest *n, double way[3])
{
    int axes = mo_grid_axes(n->g);
    for (int row = 0; row < MO_TILE * MO_TILE; row++) {
        const uint8_t *deep = n->deep + IN_HALO + IN * (row % MO_TILE + IN_HALO + IN * (row / MO_TILE + IN_HALO));
        if (!memchr(deep, 1, MO_TILE)) continue;
        lanes x[3], z[3], none = {0};
        x[0] = (float)(n->base[0] + IN_HALO) + 0.5f + none + (lanes){0, 1, 2, 3, 4, 5, 6, 7};
        x[1] = (float)(n->base[1] + IN_HALO + row % MO_TILE) + 0.5f + none;
        x[2] = (float)(n->base[2] + IN_HALO + row / MO_TILE) + 0.5f + none;
        trace_back(&n->s, x, -n->flow->step, axes, z);
        for (int a = 0; a < axes; a++)
            for (int i = 0; i < MO_TILE; i++)
                if (deep[i]) way[a] += z[a][i] - x[a][i];
    }
}

static bool carry_tile(const mo_band *b, const mo_grid *g, const mo_band_flow *flow, int32_t tile,
                       mo_band_gaps *exposed, double way[3])
{
    const int32_t first = tile * MO_TILE_CELLS;
    uint8_t around[MO_TILE_CELLS];
    nest n;
    memset(b->next + first, 0, MO_TILE_CELLS);
    if (!load_depths(&n, b, g, flow, tile)) return true;
    load_faces(&n);
    travel(&n, way);
    look_around(&n, reach_of(&n), around);
    for (int32_t l = 64 * first_plane(g); l < 64 * end_plane(g); l++) {
        mo_band_gap gap = {.cell = first + l};
        int32_t c[3];
        mo_grid_cell(g, gap.cell, c);
        if (!(around[l] & NEAR_DEEP) || !mo_levelset_in_domain(g, c)) continue;
        bool may = flow->may[gap.cell], kept = may && !(around[l] & NEAR_KEPT);
        if (kept || carry_cell(&n, c, may, &gap))
            b->next[gap.cell] = 1;
        else if (gap.count && !add_gap(exposed, &gap))
            return false;
    }
    return true;
}

typedef float four __attribute__((vector_size(16)));

// Weights of the samples -1, 0, 1, 2 for the cubic through them, at f from sample 0.
static void cubic_weights(float f, float w[4])
{
    float before = f + 1, after = f - 1, last = f - 2;
    w[0] = f * after * last * (-1 / 6.0f), w[1] = before * after * last * 0.5f;
    w[2] = before * f * last * -0.5f, w[3] = before * f * after * (1 / 6.0f);
}

// Reads a component of velocity by cubic interpolation, which hardly damps the velocity that the grid carries: linear
// interpolation took a quarter of the energy of a vortex of 32 cells in one turn. At the end of the block it is linear.
static float sample_cubic(const sampler *s, int c, const float x[3], bool flat)
{
    float w[3][4];
    int at[3];
    for (int a = 0; a < 3; a++) {
        float p = x[a] - s->base[c][a];
        at[a] = (int)p;
        if (!(p >= 1 && p < IN - 2)) return sample(s, c, x);
        cubic_weights(p - (float)at[a], w[a]);
    }
    four sum = {0};
    for (int k = flat ? 1 : 0; k < (flat ? 2 : 4); k++)
        for (int j = 0; j < 4; j++) {
            four row;
            memcpy(&row, s->block[c] + at[0] - 1 + IN * (at[1] + j - 1 + IN * (at[2] + k - 1)), sizeof row);
            sum += (flat ? w[1][j] : w[1][j] * w[2][k]) * row;
        }
    return sum[0] * w[0][0] + sum[1] * w[0][1] + sum[2] * w[0][2] + sum[3] * w[0][3];
}

// The velocity of the faces of a tile that lie round deep cells: that of the place which their liquid comes from.
static void carry_faces(const mo_band *b, const mo_grid *g, const mo_band_flow *flow, int32_t tile)
{
    const int32_t first = tile * MO_TILE_CELLS;
    uint8_t deep[1000];
    for (int a = 0; a < 3; a++) memset(b->u[a] + first, 0, sizeof(float) * MO_TILE_CELLS);
    mo_grid_block_u8(g, b->deep, tile, 1, 0, deep);
    if (!memchr(deep, 1, sizeof deep)) return;
    nest n;
    enter_tile(&n, g, flow, tile);
    load_faces(&n);
    int axes = mo_grid_axes(g);
    for (int32_t l = 64 * first_plane(g); l < 64 * end_plane(g); l += MO_TILE) {
        bool any = false;
        for (int k = 0; k < 9 && !any; k++)
            any = memchr(deep + 10 * ((l >> 3 & 7) + k % 3 + 10 * ((l >> 6) + k / 3)), 1, 10) != NULL;
        if (!any) continue;
        for (int c = 0; c < axes; c++) {
            lanes x[3], z[3], none = {0};
            x[0] = (float)(n.base[0] + IN_HALO) + (c == 0 ? 0.0f : 0.5f) + none + (lanes){0, 1, 2, 3, 4, 5, 6, 7};
            x[1] = (float)(n.base[1] + IN_HALO + (l >> 3 & 7)) + (c == 1 ? 0.0f : 0.5f) + none;
            x[2] = (float)(n.base[2] + IN_HALO + (l >> 6)) + (c == 2 ? 0.0f : 0.5f) + none;
            trace_back(&n.s, x, flow->step, axes, z);
            for (int i = 0; i < LANES; i++) {
                float from[3];
                for (int a = 0; a < 3; a++) from[a] = mo_minf(mo_maxf(z[a][i], n.lo[a]), n.hi[a]);
                b->u[c][first + l + i] = sample_cubic(&n.s, c, from, axes == 2);
            }
        }
    }
}

static bool append(mo_band_gaps *out, const mo_band_gaps *from)
{
    if (!from->count) return true;
    if (!mo_reserve((void **)&out->gap, &out->capacity, out->count + from->count, sizeof *out->gap)) return false;
    memcpy(out->gap + out->count, from->gap, sizeof *out->gap * (size_t)from->count);
    out->count += from->count;
    return true;
}

mo_status mo_band_carry(mo_band *b, const mo_grid *g, const mo_band_flow *flow, mo_band_gaps *exposed, mo_arena *arena,
                        mo_error *err)
{
    mo_band_gaps *of = MO_ARENA_ARRAY(arena, mo_band_gaps, g->tiles + 1); // of every tile, so that they have one order
    double(*way)[3] = mo_arena_alloc(arena, sizeof *way * (size_t)(g->tiles + 1));
    if (!of || !way) return mo_fail_memory(err);
    memset(of, 0, sizeof *of * (size_t)(g->tiles + 1));
    memset(way, 0, sizeof *way * (size_t)(g->tiles + 1));
    int good = 1;
#pragma omp parallel for schedule(dynamic, 4) reduction(min : good)
    for (int32_t t = 0; t < g->tiles; t++)
        if (!carry_tile(b, g, flow, t, &of[t], way[t])) good = 0;
    for (int32_t t = 0; t < g->tiles; t++) {
        if (good && !append(exposed, &of[t])) good = 0;
        mo_free(of[t].gap);
    }
    if (!good) return mo_fail_memory(err);
    for (int32_t t = 0; t < g->tiles && b->cells; t++)
        for (int a = 0; a < 3; a++) b->moment[a] += b->volume / (double)b->cells * way[t][a];
    uint8_t *old = b->deep;
    b->deep = b->next, b->next = old;
    b->cells = mo_band_count(g, b->deep);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) carry_faces(b, g, flow, t);
    return MO_OK;
}

// Makes a particle at place s, with the velocity of the place that its liquid comes from.
static void make_seed(const nest *n, const places *p, int s, mo_seed *out)
{
    bool flat = mo_grid_is_2d(n->g);
    for (int a = 0; a < 3; a++) {
        out->x[a] = p->x[s][a];
        out->v[a] = sample_gradient(&n->s, a, p->from[s], out->c[a]);
        if (flat) out->c[a][2] = 0;
    }
    if (flat) out->v[2] = 0;
}

void mo_band_fill(const mo_grid *g, const mo_band_flow *flow, const mo_band_gap *gap, int64_t gaps, mo_seed *out)
{
    nest n;
    for (int64_t k = 0; k < gaps; k++) {
        int32_t c[3], tile = gap[k].cell / MO_TILE_CELLS;
        places p;
        if (k == 0 || tile != gap[k - 1].cell / MO_TILE_CELLS) enter_tile(&n, g, flow, tile), load_faces(&n);
        mo_grid_cell(g, gap[k].cell, c);
        trace_places(&n, c, &p);
        for (int32_t s = 0, left = gap[k].count; s < p.count && left > 0; s++)
            if (gap[k].free >> s & 1) make_seed(&n, &p, s, out++), left--;
    }
}

// ---- Account ----

// Adds the centres of the cells with particles beside a deep one.
static int add_beside(const mo_band *b, const mo_grid *g, int32_t i, double sum[3])
{
    int count = 0;
    for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6); e++) {
        int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1), c[3];
        if (n < 0 || b->deep[n]) continue;
        mo_grid_cell(g, n, c);
        if (!mo_levelset_in_domain(g, c)) continue;
        for (int a = 0; a < 3; a++) sum[a] += c[a] + 0.5;
        count++;
    }
    return count;
}

void mo_band_even_moment(const mo_band *b, const mo_grid *g, double moment[3])
{
    double full[3] = {0}, beside[3] = {0}, over = b->volume - (double)b->cells;
    int64_t count = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g) && b->cells; i++) {
        int32_t c[3];
        if (!b->deep[i]) continue;
        mo_grid_cell(g, i, c);
        for (int a = 0; a < 3; a++) full[a] += c[a] + 0.5;
        count += add_beside(b, g, i, beside);
    }
    for (int a = 0; a < 3; a++) {
        double centre = b->cells ? full[a] / (double)b->cells : 0;
        moment[a] = full[a] + over * (count ? beside[a] / (double)count : centre);
    }
}

// ---- Faces ----

static void mix_tile(const mo_band *b, const mo_grid *g, const mo_faces *faces, float *const mass[3], int32_t tile)
{
    const int32_t first = tile * MO_TILE_CELLS;
    uint8_t deep[1000];
    float part[MO_TILE_CELLS];
    mo_grid_block_u8(g, b->deep, tile, 1, 0, deep);
    if (!memchr(deep, 1, sizeof deep)) return;
    for (int a = 0; a < mo_grid_axes(g); a++) {
        mo_deep_hats(deep, a, mo_grid_is_2d(g), part);
        for (int32_t l = 64 * first_plane(g); l < 64 * end_plane(g); l++) {
            int32_t i = first + l;
            if (part[l] <= 0) continue;
            float m = mass[a][i], sum = m + part[l];
            faces->u[a][i] = (m * faces->u[a][i] + part[l] * b->u[a][i]) / sum;
            mass[a][i] = sum, faces->valid[a][i] = 1;
        }
    }
}

void mo_band_mix(const mo_band *b, const mo_grid *g, const mo_faces *faces, float *const mass[3])
{
    if (!b->cells) return;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) mix_tile(b, g, faces, mass, t);
}
