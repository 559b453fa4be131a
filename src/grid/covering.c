// Samples one solid in one tile (covering.h).
#include "grid/covering.h"
#include <math.h>
#include <string.h>

#define CLOSE 0.125 // a smooth surface does not bulge into a half cell whose corners are all farther away

enum { LATTICE = MO_HALF_CORNERS };

static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

void mo_covering_start(mo_covering *s, const mo_grid *g, const mo_solid_set *solids, int32_t solid,
                       const int32_t coord[3])
{
    bool flat = solids->slices && mo_grid_is_2d(g);
    s->m = (mo_meeting){.g = g, .solids = solids, .tile = coord, .flat = flat, .count = 1, .solid = {solid}};
    memset(s->corner, 0xff, sizeof s->corner);
    memset(s->half, 0xff, sizeof s->half);
}

static double sample(const mo_covering *s, double x, double y, double z)
{
    return mo_meeting_distance(&s->m, s->m.solid[0], x, y, z);
}

static int lattice_index(int x, int y, int z) { return x + 2 + LATTICE * (y + 2 + LATTICE * (z + 2)); }

static double corner(mo_covering *s, int index)
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
static double cover_box(mo_covering *s, int x, int y, int z)
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

static bool is_faceted(const mo_covering *s) { return s->m.solids->faceted && s->m.solids->faceted[s->m.solid[0]]; }

static bool kinked(const mo_covering *s, const box *b, double centre)
{
    double worst = 0;
    for (int i = 0; i < 4; i++) worst = larger(worst, fabs(0.5 * (b->corner[i] + b->corner[7 - i]) - centre));
    return worst > (is_faceted(s) ? KINK_FACETED : KINK_ROUND) * fabs(b->edge[0]);
}

static double sample_at(const mo_covering *s, const box *b, double x, double y, double z)
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

static double cover_split(const mo_covering *s, const box *b, int splits)
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

// A half cell of a body. Odd ones are seen from their far corner, so that a body that is symmetric about a grid plane
// covers symmetric parts.
static box half_box(mo_covering *s, const int low[3])
{
    box b;
    for (int a = 0; a < 3; a++) {
        bool odd = low[a] & 1;
        b.at[a] = 0.5 * (low[a] + odd), b.edge[a] = odd ? -0.5 : 0.5;
    }
    for (int i = 0; i < 8; i++) {
        int d[3];
        for (int a = 0; a < 3; a++) d[a] = (i >> a & 1) ^ (low[a] & 1);
        b.corner[i] = corner(s, lattice_index(low[0] + d[0], low[1] + d[1], low[2] + d[2]));
    }
    return b;
}

static double cover_box_of_body(mo_covering *s, int x, int y, int z)
{
    box b = half_box(s, (int[3]){x, y, z});
    return cover_split(s, &b, is_faceted(s) ? SPLITS_FACETED : SPLITS_ROUND);
}

// The cover of a half cell, which is kept, because it is asked for more than once.
double mo_covering_half(mo_covering *s, int x, int y, int z)
{
    float *half = &s->half[lattice_index(x, y, z)];
    if (isnan(*half))
        *half =
            (float)(mo_solid_moves(s->m.solids, s->m.solid[0]) ? cover_box_of_body(s, x, y, z) : cover_box(s, x, y, z));
    return *half;
}

// Covered part of the eight half cells from (x, y, z): those of a cell, or of the box round a face.
static double cover_eight(mo_covering *s, int x, int y, int z)
{
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += mo_covering_half(s, x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
    return sum / 8;
}

double mo_covering_cell(mo_covering *s, int x, int y, int z) { return cover_eight(s, 2 * x, 2 * y, 2 * z); }

// Covered part of the box round the low face of a cell.
double mo_covering_round(mo_covering *s, int axis, const int cell[3])
{
    return cover_eight(s, 2 * cell[0] - (axis == 0), 2 * cell[1] - (axis == 1), 2 * cell[2] - (axis == 2));
}

// Covered part of the low face of a cell, from its four quarters.
double mo_covering_face(mo_covering *s, int axis, const int cell[3])
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

// A cell's centre is a half-cell corner as well.
double mo_covering_centre(mo_covering *s, int x, int y, int z)
{
    return corner(s, lattice_index(2 * x + 1, 2 * y + 1, 2 * z + 1));
}

// ---- Bodies in liquid ----

// Centroids need fewer splits than volumes.
enum { SPLITS_WET = 2 };

static double between(const double corner[8], double x, double y, double z)
{
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += corner[i] * (i & 1 ? x : 1 - x) * (i >> 1 & 1 ? y : 1 - y) * (i >> 2 ? z : 1 - z);
    return sum;
}

static const double below_all[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

// Adds the integrals over a box that is not split.
static void integrate_leaf(const box *b, double centre, const double level[8], double sum[4])
{
    double volume = fabs(b->edge[0] * b->edge[1] * b->edge[2]), part[4];
    mo_integrate_box(b->corner, centre, level, part);
    sum[0] += volume * part[0];
    for (int a = 0; a < 3; a++) sum[1 + a] += volume * (b->at[a] * part[0] + b->edge[a] * part[1 + a]);
}

// Adds the integrals over a box, split at kinks as in cover_split: `all` over the part that the body covers, `wet` over
// what of it is below the level, which is given at the box's corners.
static void integrate_split(const mo_covering *s, const box *b, const double level[8], int splits, double all[4],
                            double wet[4])
{
    double centre = sample_at(s, b, 0.5, 0.5, 0.5), v[3][3][3];
    if (splits == 0 || !kinked(s, b, centre)) {
        integrate_leaf(b, centre, below_all, all);
        integrate_leaf(b, centre, level, wet);
        return;
    }
    for (int i = 0; i < 27; i++)
        v[i / 9][i / 3 % 3][i % 3] = sample_at(s, b, 0.5 * (i % 3), 0.5 * (i / 3 % 3), 0.5 * (i / 9));
    for (int part = 0; part < 8; part++) {
        box e = eighth_of(b, v, part);
        double own[8];
        for (int i = 0; i < 8; i++)
            own[i] = between(level, 0.5 * ((part & 1) + (i & 1)), 0.5 * ((part >> 1 & 1) + (i >> 1 & 1)),
                             0.5 * ((part >> 2) + (i >> 2)));
        integrate_split(s, &e, own, splits - 1, all, wet);
    }
}

void mo_covering_wet_half(mo_covering *s, const int half[3], const double level[8], double sum[4])
{
    const double covered = mo_covering_half(s, half[0], half[1], half[2]) / 8;
    double own[8], all[4] = {0};
    int turn = (half[0] & 1) + 2 * (half[1] & 1) + 4 * (half[2] & 1), wet = 0;
    for (int i = 0; i < 4; i++) sum[i] = 0;
    for (int i = 0; i < 8; i++) own[i] = level[i ^ turn], wet += level[i] < 0;
    if (covered == 0 || wet == 0) return;
    box b = half_box(s, half);
    integrate_split(s, &b, own, SPLITS_WET, all, sum);
    // The volume is that of the cover, which was found with more splits.
    for (int i = 0; i < 4 && all[0] > 0; i++) sum[i] *= covered / all[0];
}
