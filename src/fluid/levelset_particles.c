// The level set and the particles: where they disagree, the volume that they hold, particles that stick out.
#include "fluid/levelset.h"
#include "fluid/levelset_near.h"
#include "fluid/transfer_near.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline float clampf(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }
static int first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static int end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// ---- Following the particles ----

static const float agree = 0.5f, agree_at_solids = 0.9f, blend = 0.2f; // cells
static const float least_moved = 0.02f, moved_range = 0.1f;            // cells in a step
static const float in_solid = 1e9f;                                    // marks a change that open cells decide

// How far the particles of each cell went along an axis, in cells.
static void find_way(const mo_particles *p, float step, int32_t tile, float *way)
{
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        float most = 0;
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++)
            for (int a = 0; a < 3; a++) most = mo_maxf(most, fabsf(p->v[a][q]));
        way[i] = step * most;
    }
}

// The same for rows near sheets.
static void find_way_near(const mo_particles *p, const mo_grid *g, float step, float *way)
{
    const mo_reach *r = mo_reach_of(g);
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) way[i] = 0;
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t row = r->row[k], cell = mo_site_cell(g, row);
        float most = 0;
        for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++)
            for (int a = 0; a < 3 && mo_near_is_in(p, g, q, row, cell); a++) most = mo_maxf(most, fabsf(p->v[a][q]));
        way[row] = step * most;
    }
}

static bool undecided(const float *phi, const float *particles)
{
    for (int i = 0; i < MO_TILE_CELLS; i++)
        if (fabsf(phi[i]) < 3 || fabsf(particles[i]) < 3 || phi[i] * particles[i] < 0) return true;
    return false;
}

static float largest_around(const float *block, int at, bool flat)
{
    float most = 0;
    for (int k = flat ? 0 : -100; k <= (flat ? 0 : 100); k += 100)
        for (int j = -10; j <= 10; j += 10)
            for (int i = -1; i <= 1; i++) most = mo_maxf(most, block[at + k + j + i]);
    return most;
}

// The 27 values around a cell of the domain, at [13]; in 2D the planes beside repeat.
static void gather_around(const mo_grid *g, const float *phi, int32_t index, float v[27])
{
    if (g->sites && mo_near_values(g, phi, index, v)) return;
    const int32_t *tile = g->neighbour[index >> 9] + 13, x = index & 7, y = (index >> 3 & 7) - 1, z = index >> 6 & 7;
    int reach = mo_grid_is_2d(g) ? 0 : 1;
    if (x > 0 && x < 7 && y >= 0 && y < 6 && z >= reach && z < 8 - reach) { // all in one tile
        const float *first = phi + index - 9 - 64 * reach;
        for (int r = 0; r < 9; r++) memcpy(v + 3 * r, first + 8 * (r % 3) + 64 * reach * (r / 3), 3 * sizeof *v);
        return;
    }
    for (int r = 0; r < 9; r++, v += 3) {
        int32_t j = y + r % 3, k = z + reach * (r / 3 - 1), row = 8 * (j & 7) + 64 * (k & 7);
        const int32_t *t = tile + 3 * (j >> 3) + 9 * (k >> 3);
        if (x > 0 && x < 7 && t[0] >= 0) {
            memcpy(v, phi + (t[0] << 9) + row + x - 1, 3 * sizeof *v);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            int32_t n = t[(x + i - 1) >> 3];
            v[i] = n < 0 ? MO_LEVELSET_BAND : phi[(n << 9) + row + ((x + i - 1) & 7)];
        }
    }
}

// The same, gathered when it is first needed.
typedef struct surroundings {
    bool known;
    float v[27];
} surroundings;

static const float *values_around(const mo_grid *g, const float *phi, int32_t index, surroundings *s)
{
    if (!s->known) gather_around(g, phi, index, s->v), s->known = true;
    return s->v;
}

// How deep a cell's centre lies in liquid with a plane surface if the hat round it holds this density: along an axis
// the hat's integral beyond a distance d is (1 - d)^2/2.
static float depth_of(float density)
{
    float r = clampf(density, 0, 1);
    return r < 0.5f ? sqrtf(2 * r) - 1 : 1 - sqrtf(2 - 2 * r);
}

// The particles' own surface closes gaps of less than two balls' radii, although they are air, such as the gap between
// a film and the liquid or floor that it falls onto. Where this surface is deeper than a film can be, it adds no more
// liquid than the particles' density justifies.
static float backed(const mo_levelset_particles *p, const mo_grid *g, int32_t cell, float phi, float own)
{
    static const float hat[3] = {0.125f, 0.75f, 0.125f};
    const float film = 0.7f; // cells, half of a film's thickness (mo_surface_thin)
    float open[27], sum = 0;
    if (own >= phi || own > -film) return own;
    gather_around(g, p->open_volume, cell, open);
    for (int o = 0; o < 27; o++) sum += hat[o % 3] * hat[o / 3 % 3] * hat[o / 9] * mo_minf(open[o], 1);
    return mo_minf(mo_maxf(own, -depth_of(p->density[cell] / mo_maxf(sum, 0.05f))), phi);
}

// By how much the particles' surface changes a cell; `way` is the longest motion beside it. near: solids or sheets are
// near.
static float change_of(const mo_levelset *l, const mo_grid *g, const mo_levelset_particles *p, int32_t q, bool near,
                       float way)
{
    float phi = l->phi[q], own = clampf(p->surface[q], -1, 1), d = own - clampf(phi, -1, 1);
    float limit = near ? agree_at_solids : agree, w = clampf((fabsf(d) - limit) / blend, 0, 1);
    if (w == 0 || (fabsf(own) >= 1 && fabsf(phi) >= 1 && own * phi > 0)) return 0;
    own = backed(p, g, q, clampf(phi, -1, 1), own), d = own - clampf(phi, -1, 1);
    w = clampf((fabsf(d) - limit) / blend, 0, 1);
    return w * clampf((mo_maxf(l->moved[q], way) - least_moved) / moved_range, 0, 1) * (own - phi);
}

// Rows near sheets.
static int64_t disagree_near(const mo_levelset *l, const mo_grid *g, const mo_levelset_particles *p, const float *way,
                             float *change)
{
    const mo_reach *r = mo_reach_of(g);
    int64_t count = 0;
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) change[i] = 0;
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t q = r->row[k], c[3];
        float most = 0;
        mo_grid_cell(g, mo_site_cell(g, q), c);
        change[q] = 0;
        if (!mo_levelset_in_domain(g, c)) continue;
        for (int o = 0; o < 27; o++) {
            int32_t n = r->around[k][o % 3 + 1 + 5 * (o / 3 % 3 + 1) + 25 * (o / 9 + 1)];
            if (n >= 0) most = mo_maxf(most, way[n]);
        }
        change[q] = change_of(l, g, p, q, true, most);
        count += change[q] != 0;
    }
    return count;
}

// Finds the changes that the particles make to one tile's open cells. Returns how many cells change.
static int64_t disagree_tile(const mo_levelset *l, const mo_grid *g, const mo_levelset_particles *p, const float *way,
                             int32_t tile, float *change)
{
    const float *particles = p->surface, *solid_distance = p->solid_distance;
    int32_t first = tile * MO_TILE_CELLS;
    bool flat = mo_grid_is_2d(g);
    int64_t count = 0;
    for (int i = 0; i < MO_TILE_CELLS; i++) change[first + i] = solid_distance[first + i] < 0 ? in_solid : 0;
    if (!undecided(l->phi + first, particles + first)) return 0;
    float block[1000];
    mo_grid_block(g, way, tile, 1, 0, block);
    for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i++) {
        int32_t q = first + i;
        if (solid_distance[q] < 0 || mo_reach_near(g, q, MO_REACH_AROUND)) continue;
        int at = (i & 7) + 1 + 10 * ((i >> 3 & 7) + 1 + 10 * ((i >> 6) + 1));
        change[q] = change_of(l, g, p, q, p->near_solids && solid_distance[q] < 1, largest_around(block, at, flat));
        count += change[q] != 0;
    }
    return count;
}

// Solid cells beside open ones change as those do.
static void spread_change(const mo_grid *g, const float *change, float *out)
{
    int axes = mo_grid_axes(g);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t q = 0; q < (int32_t)mo_grid_cells(g); q++) {
        out[q] = change[q];
        if (change[q] != in_solid) continue;
        float sum = 0;
        int count = 0;
        for (int e = 0; e < 2 * axes; e++) {
            int32_t n = mo_grid_step(g, q, e >> 1, e & 1 ? 1 : -1), c[3];
            if (n < 0 || change[n] == in_solid) continue;
            mo_grid_cell(g, n, c);
            if (mo_levelset_in_domain(g, c)) sum += change[n], count++;
        }
        if (count) out[q] = sum / (float)count;
    }
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) out[i] = change[i];
}

int64_t mo_levelset_follow(mo_levelset *l, const mo_grid *g, const mo_levelset_particles *told, float step,
                           float *const work[3])
{
    MO_ASSERT(l->tiles == g->tiles);
    MO_ASSERT(step >= 0);
    const float *particles = told->surface;
    float *way = work[0], *change = work[1], *other = work[2];
    int64_t count = 0;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++) {
        int64_t first = (int64_t)t * MO_TILE_CELLS;
        if (undecided(l->phi + first, particles + first))
            find_way(told->particles, step, t, way);
        else
            memset(way + first, 0, sizeof(float) * MO_TILE_CELLS);
    }
    find_way_near(told->particles, g, step, way);
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : count)
    for (int32_t t = 0; t < g->tiles; t++) count += disagree_tile(l, g, told, way, t, change);
    count += disagree_near(l, g, told, way, change);
    if (!count) return 0;
    spread_change(g, change, other);
    spread_change(g, other, change);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_fields(g); i++)
        if (change[i] != 0 && change[i] != in_solid)
            l->phi[i] = clampf(l->phi[i] + change[i], -MO_LEVELSET_BAND, MO_LEVELSET_BAND);
    return count;
}

// ---- Volume ----

// The level set at 2 x 2 x 2 samples of a cell, minus the error of linear interpolation.
typedef struct eighths {
    float centre, bent, value[8];
} eighths;

// Axis by axis: sides of x, of y, of z.
static void find_eighths(const float v[27], eighths *e)
{
    const float *q = v + 13;
    float along_x[9][2], along_y[3][4];
    for (int r = 0; r < 9; r++)
        for (int x = 0; x < 2; x++) along_x[r][x] = 0.75f * v[3 * r + 1] + 0.25f * v[3 * r + 2 * x];
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2; x++)
                along_y[z][2 * y + x] = 0.75f * along_x[3 * z + 1][x] + 0.25f * along_x[3 * z + 2 * y][x];
    for (int z = 0; z < 2; z++)
        for (int s = 0; s < 4; s++) e->value[4 * z + s] = 0.75f * along_y[1][s] + 0.25f * along_y[2 * z][s];
    e->centre = q[0];
    e->bent = mo_eighths_error(q[1] + q[-1] + q[3] + q[-3] + q[9] + q[-9] - 6 * q[0]);
}

// Wet part of a cell when its surface is moved inwards by `shift`.
static float wet_part(const eighths *e, float shift)
{
    float sum = 0, part[8];
    if (e->centre + shift > 1.3f) return 0;
    if (e->centre + shift < -1.3f) return 1;
    shift -= e->bent;
    for (int s = 0; s < 8; s++) part[s] = clampf(0.5f - 2 * (e->value[s] + shift), 0, 1);
    for (int s = 0; s < 8; s++) sum += part[s];
    return sum / 8;
}

static double cell_volume(const mo_grid *g, const float *phi, const float *open_volume, int32_t i, surroundings *s)
{
    if (open_volume[i] <= 0 || phi[i] > 1.3f) return 0;
    if (phi[i] < -1.3f) return open_volume[i];
    eighths e;
    find_eighths(values_around(g, phi, i, s), &e);
    return wet_part(&e, 0) * open_volume[i];
}

// 0 for rows in the domain, -1 beyond it.
static int32_t label_of(const mo_grid *g, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    return mo_levelset_in_domain(g, c) ? 0 : -1;
}

double mo_levelset_volume(const mo_grid *g, const float *phi, const float *open_volume)
{
    double total = 0;
    enum { BATCH = 4096 }; // tiles; their sums are added in order
    for (int32_t from = 0; from < g->tiles; from += BATCH) {
        double sum[BATCH] = {0};
        int32_t to = from + BATCH < g->tiles ? from + BATCH : g->tiles;
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = from; t < to; t++)
            for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i++) {
                int32_t c[3];
                surroundings s;
                s.known = false;
                mo_grid_cell(g, t * MO_TILE_CELLS + i, c);
                if (mo_levelset_in_domain(g, c))
                    sum[t - from] += cell_volume(g, phi, open_volume, t * MO_TILE_CELLS + i, &s);
            }
        for (int32_t t = from; t < to; t++) total += sum[t - from];
    }
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++) {
        surroundings s;
        s.known = false;
        if (label_of(g, i) == 0) total += cell_volume(g, phi, open_volume, i, &s);
    }
    return total;
}

// phi at a place in the cell of the 27 values, by linear interpolation; at: from the cell's low corner. Along
// each axis two of the three values count: the middle one, and the one on the side of the place.
static float level_in(const float v[27], const float at[3])
{
    float w[3][2], sum = 0;
    int first = 0;
    static const int stride[3] = {1, 3, 9};
    for (int a = 0; a < 3; a++) {
        float t = at[a] - 0.5f;
        bool high = t > 0;
        w[a][0] = high ? 1 - t : -t, w[a][1] = high ? t : 1 + t;
        first += high ? stride[a] : 0;
    }
    for (int o = 0; o < 8; o++)
        sum += w[0][o & 1] * w[1][o >> 1 & 1] * w[2][o >> 2] * v[first + (o & 1) + 3 * (o >> 1 & 1) + 9 * (o >> 2)];
    return sum;
}

float mo_levelset_at(const mo_grid *g, const float *phi, const double x[3])
{
    int32_t c[3] = {(int32_t)floor(x[0]), (int32_t)floor(x[1]), (int32_t)floor(x[2])};
    int32_t cell = mo_grid_index(g, c[0], c[1], c[2]);
    if (cell < 0) return MO_LEVELSET_BAND;
    float v[27], at[3] = {(float)(x[0] - c[0]), (float)(x[1] - c[1]), (float)(x[2] - c[2])};
    gather_around(g, phi, cell, v);
    return level_in(v, at);
}

// Whether all places of a cell (1), or none of them (-1), lie in the liquid of the level set; 0: some do.
static int told_of(const float v[27])
{
    const float rounding = 1e-4f;
    float least = v[0], most = v[0];
    for (int i = 1; i < 27; i++) least = mo_minf(least, v[i]), most = mo_maxf(most, v[i]);
    return most < MO_LEVELSET_BEYOND - rounding ? 1 : least > MO_LEVELSET_BEYOND + rounding ? -1 : 0;
}

static const float sure = 2; // cells: all places of the cell lie on one side

static double told_in(const mo_grid *g, const float *phi, const mo_particles *p, int32_t row, surroundings *s)
{
    double told = 0;
    int32_t cell = mo_site_cell(g, row);
    if (p->start[cell] == p->start[cell + 1] || phi[row] > sure) return 0;
    int all = phi[row] < -sure ? 1 : told_of(values_around(g, phi, row, s));
    if (all < 0) return 0;
    int32_t c[3];
    mo_grid_cell(g, cell, c);
    for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++) {
        float at[3];
        if (!mo_near_is_in(p, g, q, row, cell)) continue;
        for (int a = 0; a < 3 && !all; a++) at[a] = clampf(p->x[a][q] - (float)c[a], 0, 1);
        if (all || level_in(s->v, at) <= MO_LEVELSET_BEYOND) told += p->volume[q];
    }
    return told;
}

static double account_cell(const mo_grid *g, const float *phi, const float *open_volume, const uint8_t *thin,
                           const mo_particles *p, int32_t i, double *film)
{
    double held = 0;
    surroundings s;
    s.known = false;
    bool deep = !thin[i] && phi[i] < -sure; // the level set decides for all of it
    int32_t cell = mo_site_cell(g, i);
    for (int32_t q = p->start[cell]; q < p->start[cell + 1] && !deep; q++)
        if (mo_near_is_in(p, g, q, i, cell)) held += p->volume[q];
    if (!thin[i] && held > 0) held -= told_in(g, phi, p, i, &s);
    *film += held;
    return held + (thin[i] ? 0 : cell_volume(g, phi, open_volume, i, &s));
}

double mo_levelset_account(const mo_grid *g, const float *phi, const float *open_volume, const uint8_t *thin,
                           const mo_particles *p, double *film)
{
    double total = 0;
    enum { BATCH = 2048 }; // tiles; their sums are added in order
    *film = 0;
    for (int32_t from = 0; from < g->tiles; from += BATCH) {
        double sum[BATCH] = {0}, part[BATCH] = {0};
        int32_t to = from + BATCH < g->tiles ? from + BATCH : g->tiles;
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = from; t < to; t++)
            for (int32_t i = t * MO_TILE_CELLS + 64 * first_plane(g); i < t * MO_TILE_CELLS + 64 * end_plane(g); i++) {
                int32_t c[3];
                mo_grid_cell(g, i, c);
                if (mo_levelset_in_domain(g, c))
                    sum[t - from] += account_cell(g, phi, open_volume, thin, p, i, &part[t - from]);
            }
        for (int32_t t = from; t < to; t++) total += sum[t - from], *film += part[t - from];
    }
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++)
        if (label_of(g, i) == 0) total += account_cell(g, phi, open_volume, thin, p, i, film);
    return total;
}

typedef struct piece {
    double volume, area, held; // cells: of the level set, of its surface, of its particles
} piece;

// 0 in the domain, -1 beyond it.
static void clear_labels(const mo_grid *g, int32_t *label)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) {
        int32_t *of = label + (int64_t)t * MO_TILE_CELLS, lo[3], hi[3];
        for (int a = 0; a < 3; a++)
            lo[a] = MO_MARGIN - 8 * g->coord[t][a], hi[a] = g->n[a] - MO_MARGIN - 8 * g->coord[t][a];
        for (int32_t i = 0; i < MO_TILE_CELLS; i++) {
            int32_t x = i & 7, y = i >> 3 & 7, z = i >> 6;
            bool in = x >= lo[0] && x < hi[0] && y >= lo[1] && y < hi[1] && z >= lo[2] && z < hi[2];
            of[i] = in ? 0 : -1;
        }
    }
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++) label[i] = label_of(g, i);
}

// Visits the neighbours of a row that are liquid, or all of them with `all`; they get the row's label.
typedef struct visitor {
    const mo_grid *grid;
    const float *phi;
    int32_t *label, *order, size;
} visitor;

static inline void visit(visitor *v, int32_t from, int32_t n, bool all)
{
    if (n >= 0 && !v->label[n] && (all || v->phi[n] < 0)) v->label[n] = v->label[from], v->order[v->size++] = n;
}

static void visit_beside(visitor *v, int32_t at, bool all)
{
    const mo_grid *g = v->grid;
    const mo_row_sample *list;
    int axes = mo_grid_axes(g);
    if (!mo_site_is_cut(g, at)) {
        for (int e = 0; e < 2 * axes; e++) visit(v, at, mo_grid_step(g, at, e >> 1, e & 1 ? 1 : -1), all);
        return;
    }
    for (int k = 0, count = mo_sites_of_row(g, at, &list); k < count; k++) {
        int32_t i = list[k].sample, a = list[k].axis;
        if (a < axes) visit(v, at, list[k].side ? mo_sample_high(g, a, i) : mo_sample_low(g, a, i), all);
    }
}

// Numbers the deep part (2k) and the thin part (2k + 1) of each connected piece k = 1, 2, ... of liquid. The three
// layers of air round a part have its number, so that they move with its surface: it would get a kink if the air above
// deep liquid, of which the cells too far above are thin, stayed behind. Particles in air
// count for the part that their own place tells (measure_pieces). Returns one more than the largest number.
// order: scratch, the cells in the order of their discovery.
static int32_t number_parts(const mo_grid *g, const float *phi, const uint8_t *thin, int32_t *label, int32_t *order)
{
    enum { AIR_LAYERS = 3 };
    visitor v = {g, phi, label, order, 0};
    int32_t next = 0, number = 0;
    clear_labels(g, label);
    for (int32_t seed = 0; seed < mo_grid_rows(g); seed++) {
        if (phi[seed] >= 0 || label[seed]) continue;
        label[seed] = ++number, order[v.size++] = seed;
        for (; next < v.size; next++) visit_beside(&v, order[next], false);
    }
    for (int32_t k = 0; k < v.size; k++) label[order[k]] = 2 * label[order[k]] + thin[order[k]];
    next = 0;
    for (int layer = 0; layer < AIR_LAYERS; layer++)
        for (int32_t end = v.size; next < end; next++) visit_beside(&v, order[next], true);
    return 2 * number + 2;
}

// Visits cells as they are stored, not in the order of their discovery, which leaps from tile to tile.
static void measure_pieces(const mo_grid *g, const float *phi, const mo_particles *p, const float *open_volume,
                           const uint8_t *thin, const int32_t *label, piece *of)
{
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        if (label[i] <= 0) continue;
        piece *s = &of[(label[i] & ~1) + thin[i]];
        surroundings around;
        around.known = false;
        s->held += told_in(g, phi, p, i, &around) + (p->deep && i < mo_grid_cells(g) && p->deep[i] ? p->deep_share : 0);
        if (open_volume[i] <= 0) continue;
        if (fabsf(phi[i]) >= 1.5f) {
            if (phi[i] < 0) s->volume += open_volume[i];
            continue;
        }
        eighths e;
        find_eighths(values_around(g, phi, i, &around), &e);
        s->volume += open_volume[i] * wet_part(&e, 0);
        s->area += open_volume[i] * 5 * (wet_part(&e, -0.1f) - wet_part(&e, 0.1f));
    }
}

// Moves the surfaces of parts, each by the mean distance that gives it its particles' volume, but none by more than
// `most`; moved: [parts] the distance so far. Returns the largest distance among parts that gained more than half a
// cell.
static double offset_pieces(mo_levelset *l, const mo_grid *g, const int32_t *label, piece *of, double *moved,
                            int32_t parts)
{
    const double dead = 0.01, most = 0.3; // cells; for larger offsets, area times offset is no longer a volume
    double largest = 0;
    for (int32_t k = 2; k < parts; k++) { // area becomes the offset
        double d = of[k].area > 0.5 ? (of[k].held - of[k].volume) / of[k].area : 0;
        d = d > dead ? d - dead : d < -dead ? d + dead : 0;
        d = fmin(fmax(d, -most), most);
        if (fabs(d) * of[k].area > 0.5) largest = fmax(largest, fabs(d));
        moved[k] += d, of[k].area = d;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(g); i++)
        if (label[i] > 0 && fabsf(l->phi[i]) < MO_LEVELSET_BAND) l->phi[i] -= (float)of[label[i]].area;
    return largest;
}

// ---- Slender parts ----

// Interpolation erodes limbs, ropes and layers of some cells, because the distance has a kink at their axis. Films on
// solids and walls lose volume where liquid lands on them. The volume that such parts lose must not be given to the
// rest of their piece: the correction of positions would carry their particles there, over many cells. So parts keep
// the volume of their own particles, averaged over a few cells, if nothing open round them is `slender` cells deep. In
// deeper liquid the noise of the particles would move the surface of waves (32 cells: 3% too slow).
static const float slender = 2.5f, slender_ramp = 0.5f; // cells
static const float slender_air = 1.5f; // cells above the surface that move along: from there it is in sight how deep
                                       // the liquid is
enum { MEAN_HALO = 4, MEAN = MO_TILE + 2 * MEAN_HALO };

// Finds how much the cells of a tile lack of their particles' volume, and the area of their surface.
static void measure_tile(const mo_grid *g, const float *phi, const mo_particles *p, const float *open_volume,
                         const uint8_t *thin, const int32_t *label, int32_t tile, float *lack, float *area)
{
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        surroundings s;
        s.known = false;
        lack[i] = area[i] = 0;
        if (label[i] <= 0 || thin[i] || mo_reach_near(g, i, MEAN_HALO)) continue;
        double held = p->deep && p->deep[i] ? p->deep_share : 0;
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++) held += p->volume[q];
        lack[i] = (float)(held - cell_volume(g, phi, open_volume, i, &s));
        if (open_volume[i] <= 0 || fabsf(phi[i]) >= 1.5f) continue;
        eighths e;
        find_eighths(values_around(g, phi, i, &s), &e);
        area[i] = open_volume[i] * 5 * (wet_part(&e, -0.1f) - wet_part(&e, 0.1f));
    }
}

// One axis of a block: sums with weights 1 2 3 4 5 4 3 2 1, or the least of the nine.
static void sum_line(const float *in, float *out, int stride)
{
    *out = 0;
    for (int t = -MEAN_HALO; t <= MEAN_HALO; t++) *out += (float)(MEAN_HALO + 1 - abs(t)) * in[t * stride];
}
static void least_line(const float *in, float *out, int stride)
{
    *out = in[0];
    for (int t = -MEAN_HALO; t <= MEAN_HALO; t++) *out = mo_minf(*out, in[t * stride]);
}
static void filter_block(float *block, float *work, bool flat, void line(const float *, float *, int))
{
    static const int stride[3] = {1, MEAN, MEAN * MEAN};
    for (int a = 0; a < (flat ? 2 : 3); a++) {
        int lo[3] = {0, 0, 0}, hi[3] = {MEAN, MEAN, MEAN};
        memcpy(work, block, sizeof(float) * MEAN * MEAN * MEAN);
        lo[a] = MEAN_HALO, hi[a] = MEAN - MEAN_HALO;
        for (int z = lo[2]; z < hi[2]; z++)
            for (int y = lo[1]; y < hi[1]; y++)
                for (int x = lo[0]; x < hi[0]; x++) {
                    int at = x + MEAN * (y + MEAN * z);
                    line(work + at, block + at, stride[a]);
                }
    }
}

static inline int mean_index(int32_t c) // of a cell of the tile, in the block
{
    return (c & 7) + MEAN_HALO + MEAN * ((c >> 3 & 7) + MEAN_HALO + MEAN * ((c >> 6) + MEAN_HALO));
}

// The deepest value of `open` within four cells of each cell; false if no part of the tile is slender.
static bool find_deepest(const float *open, const mo_grid *g, int32_t tile, float *deepest, float *work)
{
    const float *phi = open + (int64_t)tile * MO_TILE_CELLS;
    bool any = false;
    for (int32_t c = 0; c < MO_TILE_CELLS && !any; c++) any = fabsf(phi[c]) < slender_air;
    if (!any) return false;
    mo_grid_block(g, open, tile, MEAN_HALO, MO_LEVELSET_BAND, deepest);
    filter_block(deepest, work, mo_grid_is_2d(g), least_line);
    for (int32_t c = 0; c < MO_TILE_CELLS; c++)
        if (phi[c] < slender_air && deepest[mean_index(c)] > -slender) return true;
    return false;
}

typedef struct slender_fields {
    float *open; // phi of open cells in the domain; the surface that is continued in solids and beyond walls does not
                 // count
    float *lack, *area; // the volume that cells lack compared with their particles, and the area of their surface
} slender_fields;

// Corrects the surface of a tile's slender parts, the faster it moves the more, so that liquid at rest keeps its
// surface.
static void keep_slender_tile(const mo_levelset *l, const mo_grid *g, const uint8_t *thin, const int32_t *label,
                              const slender_fields *f, int32_t tile, float *out)
{
    const float most = 0.3f, all = 0.1f; // cells; cells moved in a step from which on all of the loss is corrected
    const int32_t first = tile * MO_TILE_CELLS;
    float deepest[MEAN * MEAN * MEAN], sum[2][MEAN * MEAN * MEAN], work[MEAN * MEAN * MEAN];
    if (!find_deepest(f->open, g, tile, deepest, work)) return;
    mo_grid_block(g, f->lack, tile, MEAN_HALO, 0, sum[0]), mo_grid_block(g, f->area, tile, MEAN_HALO, 0, sum[1]);
    for (int k = 0; k < 2; k++) filter_block(sum[k], work, mo_grid_is_2d(g), sum_line);
    for (int32_t c = 64 * first_plane(g); c < 64 * end_plane(g); c++) {
        int32_t i = first + c, at = mean_index(c);
        if (label[i] <= 0 || thin[i] || fabsf(l->phi[i]) >= MO_LEVELSET_BAND || l->phi[i] >= slender_air) continue;
        if (mo_reach_near(g, i, MEAN_HALO)) continue; // how deep it is cannot be seen past sheets
        if (sum[1][at] <= 1e-3f) continue;            // no surface near
        float part = clampf((deepest[at] + slender) / slender_ramp, 0, 1) * clampf(l->moved[i] / all, 0, 1);
        out[i] -= part * clampf(sum[0][at] / sum[1][at], -most, most);
    }
}

static bool beside_flag(const mo_grid *g, const uint8_t *flag, int32_t tile)
{
    for (int o = 0; o < 27; o++)
        if (g->neighbour[tile][o] >= 0 && flag[g->neighbour[tile][o]]) return true;
    return false;
}

static mo_status keep_slender(mo_levelset *l, const mo_grid *g, const mo_particles *p, const float *open_volume,
                              const uint8_t *thin, const int32_t *label, mo_arena *arena, mo_error *err)
{
    size_t bytes = sizeof(float) * (size_t)mo_grid_fields(g);
    uint8_t *is = mo_arena_alloc(arena, (size_t)g->tiles + 1);
    slender_fields f = {mo_arena_alloc(arena, bytes + 1), mo_arena_alloc(arena, bytes + 1),
                        mo_arena_alloc(arena, bytes + 1)};
    if (!is || !f.open || !f.lack || !f.area) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++)
        f.open[i] = label[i] >= 0 && open_volume[i] > 0 ? l->phi[i] : MO_LEVELSET_BAND;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        float deepest[MEAN * MEAN * MEAN], work[MEAN * MEAN * MEAN];
        is[t] = find_deepest(f.open, g, t, deepest, work);
    }
    if (g->tiles == 0 || !memchr(is, 1, (size_t)g->tiles)) return MO_OK;
    memcpy(l->spare, l->phi, bytes);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++)
        if (beside_flag(g, is, t)) measure_tile(g, l->phi, p, open_volume, thin, label, t, f.lack, f.area);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++)
        if (is[t]) keep_slender_tile(l, g, thin, label, &f, t, l->spare);
    float *old = l->phi;
    l->phi = l->spare, l->spare = old;
    return MO_OK;
}

// ---- Volume of pieces ----

mo_status mo_levelset_keep_volume(mo_levelset *l, const mo_grid *g, const mo_particles *p, const float *open_volume,
                                  const uint8_t *thin, double *offset, mo_arena *arena, mo_error *err)
{
    enum { ROUNDS = 3 };
    MO_ASSERT(l->tiles == g->tiles);
    const double exact = 0.05; // cells: after a longer displacement the area has changed, and is measured again
    size_t mark = mo_arena_mark(arena);
    int32_t cells = (int32_t)mo_grid_fields(g);
    int32_t *label = MO_ARENA_ARRAY(arena, int32_t, cells + 1), *order = MO_ARENA_ARRAY(arena, int32_t, cells + 1);
    if (!label || !order) return mo_fail_memory(err);
    int32_t parts = number_parts(g, l->phi, thin, label, order);
    piece *of = MO_ARENA_ARRAY(arena, piece, parts);
    double *moved = MO_ARENA_ARRAY(arena, double, parts), way = 1;
    if (!of || !moved) return mo_fail_memory(err);
    MO_TRY(keep_slender(l, g, p, open_volume, thin, label, arena, err));
    memset(moved, 0, sizeof *moved * (size_t)parts);
    for (int round = 0; round < ROUNDS && way > exact; round++) {
        memset(of, 0, sizeof *of * (size_t)parts);
        measure_pieces(g, l->phi, p, open_volume, thin, label, of);
        way = offset_pieces(l, g, label, of, moved, parts);
    }
    *offset = 0;
    for (int32_t k = 2; k < parts; k++) *offset = fmax(*offset, fabs(moved[k]));
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Particles that stick out ----

enum { PULL_HALO = 3, PULL = MO_TILE + 2 * PULL_HALO };

// Trilinear value at x (lattice position) and the unit normal there.
static float linear_level(const float *block, const float base[3], const float x[3], bool flat, float n[3])
{
    float p[3], v[8];
    int b[3];
    for (int a = 0; a < 3; a++) {
        p[a] = clampf(x[a] - base[a], 0, PULL - 1.001f);
        b[a] = (int)p[a], p[a] -= (float)b[a];
    }
    if (flat) b[2] = MO_MARGIN + PULL_HALO, p[2] = 0;
    for (int s = 0; s < 8; s++)
        v[s] = block[b[0] + (s & 1) + PULL * (b[1] + (s >> 1 & 1) + PULL * (b[2] + (flat ? 0 : s >> 2)))];
#define MIX(a, b, t) ((a) + (t) * ((b) - (a)))
    float y0 = MIX(MIX(v[0], v[1], p[0]), MIX(v[2], v[3], p[0]), p[1]),
          y1 = MIX(MIX(v[4], v[5], p[0]), MIX(v[6], v[7], p[0]), p[1]);
    n[0] = MIX(MIX(v[1] - v[0], v[3] - v[2], p[1]), MIX(v[5] - v[4], v[7] - v[6], p[1]), p[2]);
    n[1] = MIX(MIX(v[2] - v[0], v[3] - v[1], p[0]), MIX(v[6] - v[4], v[7] - v[5], p[0]), p[2]);
    n[2] = flat ? 0 : y1 - y0;
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) + 1e-6f;
    for (int a = 0; a < 3; a++) n[a] /= length;
    return MIX(y0, y1, p[2]);
#undef MIX
}

// A particle is pulled towards 0.1 below the surface, if the liquid below it is deep.
static bool pull_particle(const float *block, const float base[3], bool flat, mo_particles *p, int32_t q)
{
    const float keep = 0.1f, most = MO_LEVELSET_PULL;
    float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]}, n[3], m[3];
    float d = linear_level(block, base, x, flat, n) + keep;
    if (d <= 0 || d > 1.2f) return false;
    float below[3] = {x[0] - 1.2f * n[0], x[1] - 1.2f * n[1], x[2] - 1.2f * n[2]};
    if (linear_level(block, base, below, flat, m) > -0.5f + mo_maxf(d - 0.8f, 0)) return false;
    for (int a = 0; a < 3; a++) p->x[a][q] -= mo_minf(d, most) * n[a];
    return true;
}

// The block that the row of a particle near sheets sees, three cells round its cell.
static void load_row(const mo_levelset *l, const mo_grid *g, int32_t row, float *block, float base[3])
{
    enum { EDGE = 2 * PULL_HALO + 1, FIRST = 3 };
    int32_t around[EDGE * EDGE * EDGE], c[3];
    float value[EDGE * EDGE * EDGE];
    bool flat = mo_grid_is_2d(g);
    mo_grid_cell(g, mo_site_cell(g, row), c);
    mo_reach_find(g, row, PULL_HALO, around);
    mo_reach_values(l->phi, around, PULL_HALO, 1, value);
    for (int a = 0; a < 3; a++) base[a] = (float)(c[a] - PULL_HALO - FIRST) + 0.5f;
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        int z = flat ? MO_MARGIN + PULL_HALO + i / (EDGE * EDGE) - PULL_HALO : FIRST + i / (EDGE * EDGE);
        block[FIRST + i % EDGE + PULL * (FIRST + i / EDGE % EDGE + PULL * z)] = value[i];
    }
}

static int64_t pull_near(const mo_levelset *l, const mo_grid *g, mo_particles *p, int32_t list)
{
    float block[PULL * PULL * PULL] = {0}, base[3] = {0};
    int32_t loaded = -1;
    int64_t count = 0;
    for (int32_t q = p->start[list]; q < p->start[list + 1]; q++) {
        int32_t row = p->row[q];
        if (row < 0 || fabsf(l->phi[row]) > 2) continue;
        if (row != loaded) load_row(l, g, row, block, base), loaded = row;
        count += pull_particle(block, base, mo_grid_is_2d(g), p, q);
    }
    return count;
}

int64_t mo_levelset_pull(const mo_levelset *l, const mo_grid *g, mo_particles *p)
{
    MO_ASSERT(l->tiles == g->tiles);
    bool flat = mo_grid_is_2d(g);
    int64_t count = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : count)
    for (int32_t t = 0; t < g->tiles; t++) {
        const int32_t first = t * MO_TILE_CELLS;
        float block[PULL * PULL * PULL], base[3];
        bool loaded = false;
        for (int32_t i = first; i < first + MO_TILE_CELLS; i++) {
            if (p->row && p->start[i] < p->start[i + 1] && mo_reach_near(g, i, PULL_HALO)) {
                count += pull_near(l, g, p, i);
                continue;
            }
            if (fabsf(l->phi[i]) > 2 || p->start[i] == p->start[i + 1]) continue;
            if (!loaded) {
                mo_grid_block(g, l->phi, t, PULL_HALO, MO_LEVELSET_BAND, block);
                for (int a = 0; a < 3; a++) base[a] = (float)(8 * g->coord[t][a] - PULL_HALO) + 0.5f;
                loaded = true;
            }
            for (int32_t q = p->start[i]; q < p->start[i + 1]; q++) count += pull_particle(block, base, flat, p, q);
        }
    }
    p->stale += MO_LEVELSET_PULL;
    return count;
}
