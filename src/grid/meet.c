// Clipping of half cells and quarters of faces in which several solids meet.
#include "grid/meet.h"
#include <math.h>

#define COINCIDENT 5e-7 // cells; distances are good to 1e-12

double mo_meeting_distance(const mo_meeting *m, int32_t solid, double x, double y, double z)
{
    MO_ASSERT(solid >= 0 && solid < m->solids->count);
    if (m->flat) z = MO_MARGIN + 0.5;
    mo_vec3 p = mo_grid_world(m->g, 8 * m->tile[0] + x, 8 * m->tile[1] + y, 8 * m->tile[2] + z);
    return m->solids->distance(m->solids->user, solid, p) / m->g->dx - COINCIDENT;
}

typedef struct element { // a half cell, or a quarter of a face
    const mo_meeting *m;
    int corners;
    double at[8][3]; // cells
    double corner[MO_MEETING][8], centre[MO_MEETING];
} element;

static double distance_at(const mo_meeting *m, int32_t which, const double x[3])
{
    return mo_meeting_distance(m, m->solid[which], x[0], x[1], x[2]);
}

// `axes`: those that the element extends along come first.
static void sample(const mo_meeting *m, int corners, const int axes[3], const double low[3], element *e)
{
    double middle[3] = {low[0], low[1], low[2]};
    e->m = m, e->corners = corners;
    for (int k = 0; k < (corners == 8 ? 3 : 2); k++) middle[axes[k]] += 0.25;
    for (int i = 0; i < corners; i++)
        for (int k = 0; k < 3; k++) e->at[i][axes[k]] = low[axes[k]] + 0.5 * (i >> k & 1);
    for (int32_t s = 0; s < m->count; s++) {
        for (int i = 0; i < corners; i++) e->corner[s][i] = distance_at(m, s, e->at[i]);
        e->centre[s] = distance_at(m, s, middle);
    }
}

static double clip(const element *e, const double *corner, double centre)
{
    return e->corners == 8 ? mo_fraction_box(corner, centre) : mo_fraction_square(corner, centre);
}

// Whether a point is in no solid up to t, nor in a slit's half of one.
static bool is_free(const element *e, int32_t t, const double x[3])
{
    for (int32_t s = 0; s <= t; s++)
        if (distance_at(e->m, s, x) <= 0.5 * MO_SLIT) return false;
    return true;
}

// Whether the way from corner i, in solid s, to corner j, in solid t, leads through a gap. The gap is widest where the
// distances from both are equal.
static bool leaves(const element *e, int32_t s, int i, int32_t t, int j)
{
    enum { TRIALS = 5 };
    double from = 0, to = 1, f0 = e->corner[s][i] - e->corner[t][i], f1 = e->corner[s][j] - e->corner[t][j];
    for (int trial = 0; trial < TRIALS && f0 < 0 && f1 > 0; trial++) {
        double part = trial & 1 ? 0.5 * (from + to) : from + (to - from) * f0 / (f0 - f1), x[3];
        for (int a = 0; a < 3; a++) x[a] = e->at[i][a] + part * (e->at[j][a] - e->at[i][a]);
        double one = distance_at(e->m, s, x), other = distance_at(e->m, t, x);
        if (one > 0.5 * MO_SLIT && other > 0.5 * MO_SLIT && is_free(e, t, x)) return true;
        if (one < other)
            from = part, f0 = one - other;
        else
            to = part, f1 = one - other;
    }
    return false;
}

// Whether solid t lies apart from those before it, as far as the corners inside them show.
static bool apart(const element *e, int32_t t)
{
    for (int i = 0; i < e->corners; i++)
        for (int32_t s = 0; s < t && e->corner[t][i] >= 0; s++)
            for (int j = 0; j < e->corners && e->corner[s][i] < 0; j++)
                if (e->corner[t][j] < 0 && e->corner[s][j] >= 0 && leaves(e, s, i, t, j)) return true;
    return false;
}

static void cover_element(const element *e, double *cover)
{
    double least[8], centre = INFINITY;
    for (int i = 0; i < 8; i++) least[i] = INFINITY;
    for (int32_t t = 0; t < e->m->count; t++) {
        double own = clip(e, e->corner[t], e->centre[t]), before = t ? cover[t - 1] : 0;
        centre = fmin(centre, e->centre[t]);
        for (int i = 0; i < e->corners; i++) least[i] = fmin(least[i], e->corner[t][i]);
        if (own == 0 || before == 0 || before == 1)
            cover[t] = fmin(before + own, 1);
        else if (apart(e, t))
            cover[t] = fmin(before + own, 1);
        else
            cover[t] = fmax(clip(e, least, centre), fmax(before, own));
    }
}

void mo_meet_half(const mo_meeting *m, const double low[3], double cover[MO_MEETING])
{
    MO_ASSERT(m->count > 0 && m->count <= MO_MEETING);
    element e;
    sample(m, 8, (int[3]){0, 1, 2}, low, &e);
    cover_element(&e, cover);
}

void mo_meet_quarter(const mo_meeting *m, int axis, const double low[3], double cover[MO_MEETING])
{
    MO_ASSERT(m->count > 0 && m->count <= MO_MEETING && axis >= 0 && axis < 3);
    element e;
    sample(m, 4, (int[3]){axis == 0 ? 1 : 0, axis == 2 ? 1 : 2, axis}, low, &e);
    cover_element(&e, cover);
}
