// Open and covered parts of cells and faces by clipping half-cell boxes and squares (docs/math.md 2.1, MO supplement
// 2).
//
// Lengths in here are in cells. Distances have slope <= 1, so one value at a centre tells that a tile or a cell cannot
// meet a solid's surface; only what can is sampled, on the lattice of half cells.
#include "grid/halves.h"
#include "grid/meet.h"
#include "grid/seal.h"
#include <math.h>
#include <string.h>

#define CELL_REACH  0.8661 // from a cell's centre to its corners
#define FACE_REACH  1.2248 // from a cell's centre to the corners of the boxes round its faces
#define BLOCK_REACH 2.599  // from the centre of 3 x 3 x 3 cells to their corners
#define TILE_REACH  10.07  // from a tile's centre to CAP beyond its last cell centres, so beyond its corners as well
#define HALF_REACH  8.661  // from a tile's centre to the corners of its half cells -2 .. 15
#define CAP         4.0    // of the distance field
#define CLOSE       0.125  // a smooth surface does not bulge into a half cell whose corners are all farther away
#define TINY        1e-6   // areas and volumes this near to 0 and 1 are 0 and 1

static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

// ---- Linear clipping ----

double mo_fraction_tet(const double phi[4])
{
    // Negative corners to the front.
    double in[4], out[4];
    int n = 0, m = 0;
    for (int i = 0; i < 4; i++)
        if (phi[i] < 0)
            in[n++] = phi[i];
        else
            out[m++] = phi[i];
    if (n == 0) return 0;
    if (n == 4) return 1;
    double a = in[0];
    if (n == 1) return a / (a - out[0]) * (a / (a - out[1])) * (a / (a - out[2]));
    if (n == 3) {
        double p = out[0];
        return 1 - p / (p - in[0]) * (p / (p - in[1])) * (p / (p - in[2]));
    }
    // A wedge of three tetrahedra; ac = part of edge a-c that is negative.
    double b = in[1], c = out[0], d = out[1];
    double ac = a / (a - c), ad = a / (a - d), bc = b / (b - c), bd = b / (b - d);
    return bc * bd + ac * ad * (1 - bd) + ac * bd * (1 - bc);
}

static double fraction_triangle(double a, double b, double c)
{
    int n = (a < 0) + (b < 0) + (c < 0);
    if (n == 0 || n == 3) return n == 3;
    // The corner alone on its side.
    double p = a, q = b, r = c;
    if ((b < 0) == (n == 1)) p = b, q = a;
    if ((c < 0) == (n == 1)) p = c, q = a, r = b;
    double part = p / (p - q) * (p / (p - r));
    return n == 1 ? part : 1 - part;
}

// Interpolation between the corners sees a curved function too high by its bending: for x^2 the mean over the box lies
// two thirds of the way from the corners' mean to the centre. Returns false if nothing crosses zero.
static bool shift_corners(int n, const double *corner, double centre, double *shifted)
{
    double mean = 0;
    int negative = centre < 0;
    for (int i = 0; i < n; i++) mean += corner[i], negative += corner[i] < 0;
    if (negative == 0 || negative == n + 1) return false;
    double shift = 2.0 / 3 * (centre - mean / n);
    for (int i = 0; i < n; i++) shifted[i] = corner[i] + shift;
    return true;
}

double mo_fraction_box(const double corner[8], double centre)
{
    // Kuhn's six tetrahedra: from corner 0 to corner 7 one axis at a time.
    static const uint8_t path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    double c[8], sum = 0;
    if (!shift_corners(8, corner, centre, c)) return centre < 0;
    for (int t = 0; t < 6; t++) sum += mo_fraction_tet((double[4]){c[0], c[path[t][0]], c[path[t][1]], c[7]});
    return smaller(sum / 6, 1);
}

double mo_fraction_square(const double corner[4], double centre)
{
    double c[4];
    if (!shift_corners(4, corner, centre, c)) return centre < 0;
    double m = 0.25 * (c[0] + c[1] + c[2] + c[3]);
    double sum = fraction_triangle(c[0], c[1], m) + fraction_triangle(c[1], c[3], m) +
                 fraction_triangle(c[3], c[2], m) + fraction_triangle(c[2], c[0], m);
    return smaller(0.25 * sum, 1);
}

// ---- Sampling one solid in one tile ----

enum { LATTICE = 2 * MO_TILE + 3 }; // half-cell corners -2 .. 16 of a tile

typedef struct sampler {
    mo_meeting m;                               // with one solid
    double corner[LATTICE * LATTICE * LATTICE]; // distance, NaN = not yet asked for
    float half[LATTICE * LATTICE * LATTICE];    // covered part of the half cell above each corner, likewise
} sampler;

static mo_meeting alone(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    return (mo_meeting){.g = g, .solids = solids, .tile = g->coord[tile], .count = 1, .solid = {solid}};
}

static void sampler_start(sampler *s, const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    s->m = alone(g, solids, solid, tile);
    memset(s->corner, 0xff, sizeof s->corner);
    memset(s->half, 0xff, sizeof s->half);
}

static double sample(const sampler *s, double x, double y, double z)
{
    return mo_meeting_distance(&s->m, s->m.solid[0], x, y, z);
}

static int lattice_index(int x, int y, int z) { return x + 2 + LATTICE * (y + 2 + LATTICE * (z + 2)); }

static double corner(sampler *s, int index)
{
    if (s->m.flat) index %= LATTICE * LATTICE;
    if (isnan(s->corner[index])) {
        int x = index % LATTICE - 2, y = index / LATTICE % LATTICE - 2, z = index / (LATTICE * LATTICE) - 2;
        s->corner[index] = sample(s, 0.5 * x, 0.5 * y, 0.5 * z);
    }
    return s->corner[index];
}

// Whether the surface may pass between corners; else their sign is the answer and the centre need not be sampled.
static bool crossed(int n, const double *c)
{
    double lo = c[0], hi = c[0];
    for (int i = 1; i < n; i++) lo = c[i] < lo ? c[i] : lo, hi = c[i] > hi ? c[i] : hi;
    return lo < CLOSE && hi > -CLOSE;
}

// Covered part of the half-cell box with low corner (x, y, z) half cells.
static double cover_box(sampler *s, int x, int y, int z)
{
    double c[8];
    int at = lattice_index(x, y, z);
    for (int i = 0; i < 8; i++) c[i] = corner(s, at + (i & 1) + LATTICE * ((i >> 1 & 1) + LATTICE * (i >> 2)));
    if (!crossed(8, c)) return c[0] < 0;
    return mo_fraction_box(c, sample(s, 0.5 * x + 0.25, 0.5 * y + 0.25, 0.5 * z + 0.25));
}

// ---- Boxes of bodies ----

// A body's edges are cut off by interpolation, which is displacement that it misses: boxes with a kink are split this
// often. A kink: the mean of opposite corners and the centre differ by more than this part of the box's edge; bodies
// are not split for being round.
// A body that is round all over its kinks, like a bowl, is split less: everything in it looks like a kink to a coarse
// grid, and each split costs eight times as much.
enum { SPLITS_FACETED = 5, SPLITS_ROUND = 1 };
#define KINK_ROUND   0.05
#define KINK_FACETED 0.002

// From one corner along three edges, any of which may go backwards.
typedef struct box {
    double at[3], edge[3]; // cells
    double corner[8];
} box;

static bool is_faceted(const sampler *s) { return s->m.solids->faceted && s->m.solids->faceted[s->m.solid[0]]; }

static bool kinked(const sampler *s, const box *b, double centre)
{
    double worst = 0;
    for (int i = 0; i < 4; i++) worst = larger(worst, fabs(0.5 * (b->corner[i] + b->corner[7 - i]) - centre));
    return worst > (is_faceted(s) ? KINK_FACETED : KINK_ROUND) * fabs(b->edge[0]);
}

static double sample_at(const sampler *s, const box *b, double x, double y, double z)
{
    return sample(s, b->at[0] + x * b->edge[0], b->at[1] + y * b->edge[1], b->at[2] + z * b->edge[2]);
}

// One of the eight parts of a box, from samples at its corners, edges, faces and centre.
static box eighth_of(const box *b, double v[3][3][3], int part)
{
    box e;
    for (int a = 0; a < 3; a++) {
        e.edge[a] = 0.5 * b->edge[a];
        e.at[a] = b->at[a] + (part >> a & 1) * e.edge[a];
    }
    for (int i = 0; i < 8; i++)
        e.corner[i] = v[(part >> 2) + (i >> 2)][(part >> 1 & 1) + (i >> 1 & 1)][(part & 1) + (i & 1)];
    return e;
}

static double cover_split(const sampler *s, const box *b, int splits)
{
    double close = 2 * CLOSE * fabs(b->edge[0]), lo = b->corner[0], hi = lo, v[3][3][3], sum = 0;
    for (int i = 1; i < 8; i++) lo = smaller(lo, b->corner[i]), hi = larger(hi, b->corner[i]);
    if (lo >= close || hi <= -close) return lo < 0;
    double centre = sample_at(s, b, 0.5, 0.5, 0.5);
    if (splits == 0 || !kinked(s, b, centre)) return mo_fraction_box(b->corner, centre);
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 3; x++) {
                bool known = (x & 1) + (y & 1) + (z & 1) == 0;
                v[z][y][x] = known ? b->corner[x / 2 + y + 2 * z] : sample_at(s, b, 0.5 * x, 0.5 * y, 0.5 * z);
            }
    for (int part = 0; part < 8; part++) {
        box e = eighth_of(b, v, part);
        sum += cover_split(s, &e, splits - 1);
    }
    return sum / 8;
}

// Covered part of a half cell of a body. Odd ones are seen from their far corner, so that a body that is symmetric
// about a grid plane covers symmetric parts.
static double cover_box_of_body(sampler *s, int x, int y, int z)
{
    const int low[3] = {x, y, z};
    box b;
    for (int a = 0; a < 3; a++) {
        bool odd = low[a] & 1;
        b.at[a] = 0.5 * (low[a] + odd), b.edge[a] = odd ? -0.5 : 0.5;
    }
    for (int i = 0; i < 8; i++) {
        int d[3];
        for (int a = 0; a < 3; a++) d[a] = (i >> a & 1) ^ (low[a] & 1);
        b.corner[i] = corner(s, lattice_index(x + d[0], y + d[1], z + d[2]));
    }
    return cover_split(s, &b, is_faceted(s) ? SPLITS_FACETED : SPLITS_ROUND);
}

// The cover of a half cell, which is kept, because it is asked for more than once.
static double cover_half(sampler *s, int x, int y, int z)
{
    float *half = &s->half[lattice_index(x, y, z)];
    if (isnan(*half))
        *half =
            (float)(mo_solid_moves(s->m.solids, s->m.solid[0]) ? cover_box_of_body(s, x, y, z) : cover_box(s, x, y, z));
    return *half;
}

// Covered part of the eight half cells from (x, y, z): those of a cell, or of the box round a face.
static double cover_eight(sampler *s, int x, int y, int z)
{
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += cover_half(s, x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
    return sum / 8;
}

static double cover_cell(sampler *s, int x, int y, int z) { return cover_eight(s, 2 * x, 2 * y, 2 * z); }

// Covered part of the box round the low face of a cell.
static double cover_round(sampler *s, int axis, const int cell[3])
{
    return cover_eight(s, 2 * cell[0] - (axis == 0), 2 * cell[1] - (axis == 1), 2 * cell[2] - (axis == 2));
}

// Covered part of the low face of a cell, from its four quarters.
static double cover_face(sampler *s, int axis, const int cell[3])
{
    static const int stride[3] = {1, LATTICE, LATTICE * LATTICE};
    int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2, at = lattice_index(2 * cell[0], 2 * cell[1], 2 * cell[2]);
    double sum = 0;
    for (int quarter = 0; quarter < 4; quarter++) {
        int low = at + (quarter & 1) * stride[u] + (quarter >> 1) * stride[v];
        double c[4];
        for (int i = 0; i < 4; i++) c[i] = corner(s, low + (i & 1) * stride[u] + (i >> 1) * stride[v]);
        if (!crossed(4, c)) {
            sum += c[0] < 0;
            continue;
        }
        double mid[3] = {cell[0], cell[1], cell[2]};
        mid[u] += 0.25 + 0.5 * (quarter & 1), mid[v] += 0.25 + 0.5 * (quarter >> 1);
        sum += mo_fraction_square(c, sample(s, mid[0], mid[1], mid[2]));
    }
    return sum / 4;
}

// ---- Openings ----

// Walls along one axis, for the cells -1 .. 7 of a tile.
typedef struct walls {
    bool closed[MO_TILE + 1]; // [cell + 1] beyond a closed wall
    double distance[MO_TILE]; // to the nearer closed wall, at most CAP
    bool any;                 // a closed wall is within CAP of the tile
} walls;

static walls find_walls(const mo_grid *g, const mo_solid_set *solids, const int32_t tile[3], int axis)
{
    walls w = {.any = false};
    bool flat = axis == 2 && mo_grid_is_2d(g);
    double lo = MO_MARGIN, hi = g->n[axis] - MO_MARGIN;
    bool lo_closed = flat || !solids->open_wall[2 * axis], hi_closed = flat || !solids->open_wall[2 * axis + 1];
    for (int c = -1; c < MO_TILE; c++) {
        double x = 8 * tile[axis] + c + 0.5, d = CAP;
        if (lo_closed) d = smaller(d, x - lo);
        if (hi_closed) d = smaller(d, hi - x);
        w.closed[c + 1] = d < 0;
        // The slip planes of 2D are no obstacles within the plane.
        if (flat && d > 0) d = CAP;
        if (c >= 0) w.distance[c] = larger(d, -CAP);
        w.any |= d < CAP;
    }
    return w;
}

// Number of the cover of a solid in a tile, -1: there is none.
static int32_t cover_of(const mo_openings *out, int32_t tile, int32_t solid)
{
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        if (out->cover[k].solid == solid) return k;
    return -1;
}

// What solids take of a face, changed along with its area.
static void scale_covers(mo_openings *out, int32_t q, int axis, float factor)
{
    MO_ASSERT(factor >= 0);
    int32_t tile = q / MO_TILE_CELLS;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++) {
        out->cover[k].part[axis][q % MO_TILE_CELLS] *= factor;
        out->spare[k].part[axis][q % MO_TILE_CELLS] *= factor;
    }
}

// Where all solids have covers, these add up to exactly 1 afterwards.
void mo_openings_close(mo_openings *out, int32_t q, int axis)
{
    const int32_t tile = q / MO_TILE_CELLS, c = q % MO_TILE_CELLS;
    float area = out->area[axis][q], taken = 1 - area, covered = 0, sum = 0, *largest = NULL;
    out->area[axis][q] = 0;
    if (area <= 0 || taken < TINY) return; // nothing moves there
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        covered += out->cover[k].part[axis][c];
    scale_covers(out, q, axis, 1 / taken), out->flux[axis][q] /= taken;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++) {
        float *part = &out->cover[k].part[axis][c];
        *part = (float)mo_whole_part(*part), sum += *part;
        if (!largest || *part > *largest) largest = part;
    }
    if (largest && covered == taken) *largest += 1 - sum;
}

void mo_openings_give(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q, int axis, double part,
                      mo_openings *out)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && axis >= 0 && axis < 3);
    MO_ASSERT(part >= 0 && part <= 1);
    int32_t cover = cover_of(out, q / MO_TILE_CELLS, solid);
    if (cover >= 0) out->cover[cover].part[axis][q % MO_TILE_CELLS] += (float)part;
    if (mo_solid_moves(solids, solid) || !solids->velocity) return;
    mo_vec3 x = mo_grid_face(g, q, axis);
    out->flux[axis][q] += (float)(part * mo_get(solids->velocity(solids->user, solid, x), axis));
}

// What a body leaves of the low faces of a cell. It takes the larger of the area and the part of the box round the face
// that it covers; what it takes beyond the box is spare (fractions.h).
static void cover_with_body(int32_t q, const double area[3], const double around[3], int32_t cover, mo_openings *out)
{
    MO_ASSERT(q / MO_TILE_CELLS == out->cover[cover].tile);
    for (int a = 0; a < 3; a++) {
        double part = mo_whole_part(smaller(larger(area[a], around[a]), out->area[a][q]));
        out->area[a][q] = (float)(out->area[a][q] - part);
        out->cover[cover].part[a][q % MO_TILE_CELLS] = (float)part;
        out->spare[cover].part[a][q % MO_TILE_CELLS] = (float)(part - around[a]);
    }
}

// What another solid leaves of the low faces of a cell, or any where several meet.
static void cover_with(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q, const double area[3],
                       mo_openings *out)
{
    for (int a = 0; a < 3; a++) {
        double part = mo_whole_part(smaller(area[a], out->area[a][q]));
        if (part <= 0) continue;
        out->area[a][q] = (float)(out->area[a][q] - part);
        mo_openings_give(g, solids, solid, q, a, part, out);
    }
}

// The solids that come within reach of each cell, in their order.
typedef struct visitors {
    uint8_t count[MO_TILE_CELLS]; // more than MO_MEETING: too many, or one of them covers the cell
    int32_t solid[MO_TILE_CELLS][MO_MEETING];
} visitors;

static void visit(visitors *v, int cell, int32_t solid, bool whole)
{
    MO_ASSERT(cell >= 0 && cell < MO_TILE_CELLS);
    int n = v->count[cell];
    if (n < MO_MEETING) v->solid[cell][n] = solid;
    v->count[cell] = (uint8_t)(whole || n >= MO_MEETING ? MO_MEETING + 1 : n + 1);
}

// The axis along which the low face of a cell beyond a closed wall is part of that wall, or -1: a cell of the domain
// lies before it.
static int wall_before(const walls w[3], const int at[3])
{
    int axis = -1;
    for (int a = 0; a < 3; a++) {
        if (!w[a].closed[at[a] + 1]) continue;
        if (axis >= 0 || w[a].closed[at[a]]) return -1;
        axis = a;
    }
    return axis;
}

// What a prescribed solid sweeps through the closed wall that the low face of a cell is part of.
static void sweep_wall(sampler *s, const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q,
                       const int at[3], int axis, mo_openings *out)
{
    double area[3] = {0};
    area[axis] = cover_face(s, axis, at);
    cover_with(g, solids, solid, q, area, out);
}

// Takes one solid out of a tile; false if it is out of reach.
static bool cover_tile(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, const walls w[3],
                       visitors *v, mo_openings *out)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && tile >= 0 && tile < g->tiles);
    mo_meeting m = alone(g, solids, solid, tile);
    double middle = mo_meeting_distance(&m, solid, 4, 4, 4);
    if (middle > TILE_REACH) return false;
    bool buried = middle < -TILE_REACH, flat = mo_grid_is_2d(g), started = false;
    int32_t cover = mo_solid_moves(solids, solid) ? cover_of(out, tile, solid) : -1;
    bool sweeps = !mo_solid_moves(solids, solid) && solids->velocity;
    double reach = cover >= 0 ? FACE_REACH : CELL_REACH;
    sampler s;
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) {
                int32_t c = x + 8 * (y + 8 * z), q = tile * MO_TILE_CELLS + c;
                double d = buried ? -CAP : mo_meeting_distance(&m, solid, x + 0.5, y + 0.5, z + 0.5);
                out->distance[q] = (float)larger(-CAP, smaller(out->distance[q], d));
                bool beyond = w[0].closed[x + 1] || w[1].closed[y + 1] || w[2].closed[z + 1];
                int wall = beyond && sweeps ? wall_before(w, (int[3]){x, y, z}) : -1;
                if (d > reach || (beyond && wall < 0)) continue;
                if (!started && (beyond || d > -reach)) sampler_start(&s, g, solids, solid, tile), started = true;
                if (beyond) {
                    sweep_wall(&s, g, solids, solid, q, (int[3]){x, y, z}, wall, out);
                    continue;
                }
                double volume = 1, area[3] = {1, 1, 1}, around[3] = {1, 1, 1};
                if (d <= CELL_REACH) visit(v, c, solid, d <= -CELL_REACH);
                if (d > -reach) {
                    volume = cover_cell(&s, x, y, z);
                    for (int a = 0; a < 3; a++) area[a] = cover_face(&s, a, (int[3]){x, y, z});
                    for (int a = 0; a < 3 && cover >= 0; a++) around[a] = cover_round(&s, a, (int[3]){x, y, z});
                }
                out->volume[q] = (float)(out->volume[q] - smaller(volume, out->volume[q]));
                if (cover >= 0)
                    cover_with_body(q, area, around, cover, out);
                else
                    cover_with(g, solids, solid, q, area, out);
            }
    return true;
}

// What the solids of a meeting cover of a cell and its low faces: cover[k] by the first k + 1.
static void cover_together(const mo_meeting *m, const int cell[3], double cover[MO_MEETING][4])
{
    double part[MO_MEETING];
    memset(cover, 0, sizeof(double[MO_MEETING][4]));
    for (int i = 0; i < 8; i++) {
        mo_meet_half(m, (double[3]){cell[0] + 0.5 * (i & 1), cell[1] + 0.5 * (i >> 1 & 1), cell[2] + 0.5 * (i >> 2)},
                     part);
        for (int32_t k = 0; k < m->count; k++) cover[k][0] += part[k] / 8;
    }
    for (int a = 0; a < 3; a++)
        for (int quarter = 0; quarter < 4; quarter++) {
            double low[3] = {cell[0], cell[1], cell[2]};
            low[a == 0 ? 1 : 0] += 0.5 * (quarter & 1), low[a == 2 ? 1 : 2] += 0.5 * (quarter >> 1);
            mo_meet_quarter(m, a, low, part);
            for (int32_t k = 0; k < m->count; k++) cover[k][a + 1] += part[k] / 4;
        }
}

// Covers a cell anew in which several solids meet: each takes what it adds to those before it.
static void meet_in_cell(const mo_grid *g, const mo_solid_set *solids, int32_t tile, int c, const visitors *v,
                         mo_openings *out)
{
    mo_meeting m = alone(g, solids, 0, tile);
    int32_t q = tile * MO_TILE_CELLS + c;
    double cover[MO_MEETING][4];
    m.count = v->count[c];
    memcpy(m.solid, v->solid[c], sizeof m.solid);
    cover_together(&m, (int[3]){c & 7, c >> 3 & 7, c >> 6}, cover);
    out->volume[q] = 1;
    for (int a = 0; a < 3; a++) scale_covers(out, q, a, 0), out->area[a][q] = 1, out->flux[a][q] = 0;
    for (int32_t k = m.count - 1; k > 0; k--)
        for (int i = 0; i < 4; i++) cover[k][i] -= cover[k - 1][i];
    for (int32_t k = 0; k < m.count; k++) {
        out->volume[q] = (float)(out->volume[q] - smaller(cover[k][0], out->volume[q]));
        cover_with(g, solids, m.solid[k], q, cover[k] + 1, out);
    }
}

// What fixed solids take of the boxes round faces beyond their part of the area is not spare.
static void crowd_spare(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, const bool *any,
                        float spare[3][MO_TILE_CELLS])
{
    mo_meeting m = alone(g, solids, solid, tile);
    bool started = false;
    sampler s;
    if (mo_meeting_distance(&m, solid, 4, 4, 4) > TILE_REACH) return;
    for (int l = 0; l < MO_TILE_CELLS; l++) {
        int cell[3] = {l & 7, l >> 3 & 7, l >> 6};
        if (!any[l]) continue;
        double d = mo_meeting_distance(&m, solid, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
        if (d > FACE_REACH) continue;
        if (!started) sampler_start(&s, g, solids, solid, tile);
        started = true;
        for (int a = 0; a < 3; a++) spare[a][l] -= (float)larger(0, cover_round(&s, a, cell) - cover_face(&s, a, cell));
    }
}

static bool has_bodies(const mo_solid_set *solids, int32_t tile, const mo_openings *out)
{
    bool any = false;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        any |= mo_solid_moves(solids, out->cover[k].solid);
    return any;
}

// Bodies share what is spare of each face; where others fill the box there is nothing.
static void share_spare(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out)
{
    float spare[3][MO_TILE_CELLS] = {{0}}, wanted[3][MO_TILE_CELLS] = {{0}};
    bool any[MO_TILE_CELLS] = {false}, some = false;
    for (int32_t k = out->first[tile]; k < out->first[tile + 1]; k++)
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < MO_TILE_CELLS; l++) {
                float one = out->spare[k].part[a][l];
                spare[a][l] += one, wanted[a][l] += one > 0 ? one : 0;
                any[l] |= one > 0, some |= one > 0;
            }
    for (int32_t i = 0; some && i < solids->count; i++)
        if (!mo_solid_moves(solids, i)) crowd_spare(g, solids, i, tile, any, spare);
    for (int32_t k = out->first[tile]; k < out->first[tile + 1]; k++)
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < MO_TILE_CELLS; l++) {
                float *one = &out->spare[k].part[a][l];
                *one = *one > 0 && spare[a][l] > 0 ? *one * spare[a][l] / wanted[a][l] : 0;
            }
}

// Whether a face may be a slit: solids meet in its cell, or it stands on a closed wall. Elsewhere a small opening is
// the rim of a surface; closing it would cost the pressure its order.
static bool may_be_slit(const visitors *v, const walls w[3], int c, int axis)
{
    int at[3] = {c & 7, c >> 3 & 7, c >> 6};
    bool slit = v->count[c] > 1;
    for (int a = 0; a < 3; a++) slit |= a != axis && w[a].distance[at[a]] < 1;
    return slit;
}

// Rounds what is nearly open or closed and closes slits, keeping area + covered = 1 for the flux.
static void snap_tile(int32_t tile, const visitors *near, const walls w[3], mo_openings *out)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) {
        int32_t q = tile * MO_TILE_CELLS + c;
        float v = out->volume[q];
        out->volume[q] = v < TINY ? 0 : v > 1 - TINY ? 1 : v;
        for (int a = 0; a < 3; a++) {
            float area = out->area[a][q];
            if (area < TINY || (area < MO_SLIT && may_be_slit(near, w, c, a)))
                mo_openings_close(out, q, a);
            else if (area > 1 - TINY)
                scale_covers(out, q, a, 0), out->flux[a][q] = 0, out->area[a][q] = 1;
        }
    }
}

// Closes cells beyond closed walls and the faces they touch. What prescribed solids sweep through a wall stays: where
// one comes in, the liquid has to give way, and where it cannot, the solve must know.
static void close_walls(int32_t tile, const walls w[3], mo_openings *out)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) {
        int32_t q = tile * MO_TILE_CELLS + c;
        int at[3] = {c & 7, c >> 3 & 7, c >> 6};
        bool closed = w[0].closed[at[0] + 1] || w[1].closed[at[1] + 1] || w[2].closed[at[2] + 1];
        if (closed) out->volume[q] = 0;
        for (int a = 0; a < 3; a++) {
            if (!closed && !w[a].closed[at[a]]) continue;
            scale_covers(out, q, a, 0), out->area[a][q] = 0;
            if (closed && wall_before(w, at) != a) out->flux[a][q] = 0;
        }
    }
}

static void fill_tile(float *field, float value)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) field[c] = value;
}

static void open_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out)
{
    walls w[3];
    visitors v;
    memset(v.count, 0, sizeof v.count);
    for (int a = 0; a < 3; a++) w[a] = find_walls(g, solids, g->coord[tile], a);
    bool walled = w[0].any || w[1].any || w[2].any, touched = false;
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    for (int a = 0; a < 3; a++) {
        fill_tile(out->area[a] + first, 1);
        fill_tile(out->flux[a] + first, 0);
    }
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        memset(out->cover[k].part, 0, sizeof out->cover[k].part), memset(&out->spare[k], 0, sizeof out->spare[k]);
    fill_tile(out->volume + first, 1);
    fill_tile(out->distance + first, CAP);
    for (int c = 0; walled && c < MO_TILE_CELLS; c++)
        out->distance[first + c] =
            (float)smaller(w[0].distance[c & 7], smaller(w[1].distance[c >> 3 & 7], w[2].distance[c >> 6]));
    for (int32_t i = 0; i < solids->count; i++) touched |= cover_tile(g, solids, i, tile, w, &v, out);
    for (int c = 0; touched && c < MO_TILE_CELLS; c++)
        if (v.count[c] > 1 && v.count[c] <= MO_MEETING) meet_in_cell(g, solids, tile, c, &v, out);
    if (has_bodies(solids, tile, out)) share_spare(g, solids, tile, out);
    if (touched) snap_tile(tile, &v, w, out);
    if (walled) close_walls(tile, w, out);
}

void mo_openings_compute(const mo_grid *g, const mo_solid_set *solids, mo_openings *out)
{
    MO_ASSERT(solids->count == 0 || solids->distance);
    MO_ASSERT(!out->cover || (out->first && out->spare));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) open_tile(g, solids, t, out);
    if (solids->count == 0) return;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) mo_openings_seal(g, solids, t, out);
}

// ---- Volume fractions ----

// From the tile's centre.
static double middle_of(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    double z = mo_grid_is_2d(g) ? MO_MARGIN + 0.5 : 4;
    mo_meeting m = alone(g, solids, solid, tile);
    return mo_meeting_distance(&m, solid, 4, 4, z);
}

bool mo_halves_near(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    return middle_of(g, solids, solid, tile) <= HALF_REACH;
}

// Covers the half cells from `first` on of cell (x, y, z), in the tile or one before it; d: the distance there.
static void cover_halves(sampler *s, double d, int x, int y, int z, int first, mo_halves *cover)
{
    for (int i = 0; i < (s->m.flat ? 4 : 8); i++) {
        int hx = 2 * x + (i & 1), hy = 2 * y + (i >> 1 & 1), hz = 2 * z + (i >> 2);
        bool asked = hx >= first && hy >= first && hz >= first;
        double part = d > CELL_REACH || !asked ? 0 : d < -CELL_REACH ? 1 : cover_half(s, hx, hy, hz);
        cover->part[hz + 2][hy + 2][hx + 2] = mo_half_round((float)part);
    }
}

// The distance at a cell's centre, which is a half-cell corner as well.
static double cell_centre(sampler *s, int x, int y, int z)
{
    return corner(s, lattice_index(2 * x + 1, 2 * y + 1, 2 * z + 1));
}

// Covers 3 x 3 x 3 cells, in the plane of 2D 3 x 3; the one in the middle may tell for all.
static void cover_block(sampler *s, int x, int y, int z, int first, mo_halves *cover)
{
    double middle = cell_centre(s, x, y, z);
    bool far = fabs(middle) > BLOCK_REACH;
    int deep = s->m.flat ? 0 : 1;
    for (int k = z - deep; k <= z + deep; k++)
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                cover_halves(s, far ? middle : cell_centre(s, i, j, k), i, j, k, first, cover);
}

bool mo_halves_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, int first, mo_halves *h)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && tile >= 0 && tile < g->tiles);
    double middle = middle_of(g, solids, solid, tile);
    if (middle > HALF_REACH) return false;
    if (middle < -HALF_REACH) {
        for (int i = 0; i < MO_HALVES * MO_HALVES * MO_HALVES; i++) ((float *)h->part)[i] = 1;
        return true;
    }
    sampler s;
    sampler_start(&s, g, solids, solid, tile);
    s.m.flat = mo_grid_is_2d(g);
    for (int z = s.m.flat ? MO_MARGIN : 0; z < (s.m.flat ? MO_MARGIN + 1 : MO_TILE); z += 3)
        for (int y = 0; y < MO_TILE; y += 3)
            for (int x = 0; x < MO_TILE; x += 3) cover_block(&s, x, y, z, first, h);
    if (s.m.flat) memcpy(h->part[2 * MO_MARGIN + 3], h->part[2 * MO_MARGIN + 2], sizeof h->part[0]);
    return true;
}

// Those gathered before a solid that come within reach of a point, and itself as the last.
static mo_meeting meeting_at(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                             const mo_gathered *before, const double x[3], double reach)
{
    mo_meeting m = alone(g, solids, solid, tile);
    m.count = 0;
    for (int32_t k = 0; k < before->count && before->solid[k] != solid && m.count < MO_MEETING - 1; k++)
        if (mo_meeting_distance(&m, before->solid[k], x[0], x[1], x[2]) <= reach) m.solid[m.count++] = before->solid[k];
    m.solid[m.count++] = solid;
    return m;
}

static void meet_half(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                      const mo_gathered *before, int at[3], float left, float *part)
{
    double low[3] = {0.5 * at[0], 0.5 * at[1], 0.5 * at[2]}, cover[MO_MEETING];
    mo_meeting m = meeting_at(g, solids, solid, tile, before, (double[3]){low[0] + 0.25, low[1] + 0.25, low[2] + 0.25},
                              0.5 * CELL_REACH);
    m.flat = mo_grid_is_2d(g);
    if (m.count < 2) return;
    mo_meet_half(&m, low, cover);
    float more = mo_half_round((float)cover[m.count - 1]) - (1 - left);
    *part = mo_maxf(more, 0);
}

void mo_halves_meet(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, mo_gathered *before,
                    const mo_halves *left, mo_halves *h)
{
    MO_ASSERT(before->count >= 0 && before->count <= MO_GATHERED);
    bool flat = mo_grid_is_2d(g);
    int first = flat ? 2 * MO_MARGIN + 2 : 0, end = flat ? first + 1 : MO_HALVES;
    for (int z = first; z < end && before->count > 0; z++)
        for (int y = 0; y < MO_HALVES; y++)
            for (int x = 0; x < MO_HALVES; x++) {
                float l = left->part[z][y][x], *part = &h->part[z][y][x];
                if (*part <= 0 || *part >= 1 || l <= 0 || l >= 1) continue;
                meet_half(g, solids, solid, tile, before, (int[3]){x - 2, y - 2, z - 2}, l, part);
            }
    if (flat) memcpy(h->part[first + 1], h->part[first], sizeof h->part[0]);
    if (before->count < MO_GATHERED) before->solid[before->count++] = solid;
}

// What the last of a meeting adds to the others on the low face of a cell.
static double add_face(const mo_meeting *m, int axis, const int cell[3])
{
    double sum = 0, cover[MO_MEETING];
    for (int quarter = 0; quarter < 4; quarter++) {
        double low[3] = {cell[0], cell[1], cell[2]};
        low[axis == 0 ? 1 : 0] += 0.5 * (quarter & 1), low[axis == 2 ? 1 : 2] += 0.5 * (quarter >> 1);
        mo_meet_quarter(m, axis, low, cover);
        sum += cover[m->count - 1] - cover[m->count - 2];
    }
    return sum / 4;
}

void mo_areas_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                    const mo_gathered *gathered, float part[3][MO_TILE_CELLS])
{
    MO_ASSERT(gathered->count >= 0 && gathered->count <= MO_GATHERED);
    bool flat = mo_grid_is_2d(g);
    sampler s;
    sampler_start(&s, g, solids, solid, tile);
    memset(part, 0, sizeof(float) * 3 * MO_TILE_CELLS);
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) {
                double d = cell_centre(&s, x, y, z);
                if (d > CELL_REACH) continue;
                mo_meeting m =
                    meeting_at(g, solids, solid, tile, gathered, (double[3]){x + 0.5, y + 0.5, z + 0.5}, CELL_REACH);
                for (int a = 0; a < (flat ? 2 : 3); a++) {
                    int cell[3] = {x, y, z};
                    double area = m.count > 1 ? add_face(&m, a, cell) : d < -CELL_REACH ? 1 : cover_face(&s, a, cell);
                    part[a][x + 8 * (y + 8 * z)] = (float)(area < TINY ? 0 : area > 1 - TINY ? 1 : area);
                }
            }
}

void mo_volume_fractions_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile,
                              float (*solid)[7][MO_TILE_CELLS], float fluid[7][MO_TILE_CELLS])
{
    MO_ASSERT(tile >= 0 && tile < g->tiles);
    mo_halves left, taken;
    mo_gathered before = {.count = 0};
    bool touched = false, flat = mo_grid_is_2d(g);
    float *out[7];
    for (int i = 0; i < MO_HALVES * MO_HALVES * MO_HALVES; i++) ((float *)left.part)[i] = 1;
    for (int32_t n = 0; n < solids->count; n++) {
        for (int kind = 0; kind < 7; kind++) out[kind] = solid[n][kind];
        if (!mo_halves_solid(g, solids, n, tile, -1, &taken)) {
            mo_halves_fill(flat, 0, out);
            continue;
        }
        touched = true;
        mo_halves_meet(g, solids, n, tile, &before, &left, &taken);
        mo_halves_take(flat, &left, &taken);
        mo_halves_gather(flat, &taken, out);
    }
    for (int kind = 0; kind < 7; kind++) out[kind] = fluid[kind];
    if (touched)
        mo_halves_gather(flat, &left, out);
    else
        mo_halves_fill(flat, 1, out);
}
