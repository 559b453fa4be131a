// Gaps of sheets that end at solids: what lies in a solid is closed.
#include "grid/cut.h"
#include "grid/cut_finder.h"
#include <math.h>
#include <string.h>

static const double least_gap = 1e-3; // of a face, between two rows; as for gaps that are small by themselves

typedef struct cover {
    double (*distance)(const void *user, const double x[3]);
    const void *user;
    const mo_cut_mesh *mesh;
} cover;

// Keeps the part of a polygon in which a field, given at its corners, is positive.
static int clip_field(int n, double (*in)[3], const double *field, double (*out)[3])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int next = (i + 1) % n;
        double a = field[i], b = field[next];
        if (a > 0) memcpy(out[count++], in[i], sizeof *out);
        if ((a > 0) == (b > 0)) continue;
        for (int k = 0; k < 3; k++) out[count][k] = in[i][k] + (in[next][k] - in[i][k]) * (a / (a - b));
        count++;
    }
    return count;
}

// The part of a gap that solids leave open; false: they do not meet it.
static bool cover_gap(const cover *c, const mo_grid *g, mo_gap *gap)
{
    double corner[MO_CUT_CORNERS][3], open[2 * MO_CUT_CORNERS][3], field[MO_CUT_CORNERS], vector[3], centre[3];
    int32_t base[3];
    bool meets = false;
    mo_grid_cell(g, gap->cell, base);
    int n = mo_cut_corners(c->mesh, gap->triangle, base, corner);
    for (int i = 0; i < n; i++) {
        double x[3] = {base[0] + corner[i][0], base[1] + corner[i][1], base[2] + corner[i][2]};
        field[i] = c->distance(c->user, x), meets |= field[i] <= 0;
    }
    int left = meets ? clip_field(n, corner, field, open) : n;
    gap->area = 0;
    if (!mo_cut_area(left, meets ? open : corner, vector, centre)) return meets;
    gap->area = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    for (int a = 0; a < 3; a++) gap->at[a] = base[a] + centre[a];
    return meets;
}

static bool same_rows(const mo_gap *a, const mo_gap *b)
{
    return (a->low == b->low && a->high == b->high) || (a->low == b->high && a->high == b->low);
}

// Of the gaps first .. end - 1, which lie in one cell.
static void close_small(mo_gap *gap, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++) {
        double area = 0;
        for (int32_t k = first; k < end; k++)
            if (same_rows(&gap[i], &gap[k])) area += gap[k].area;
        if (area >= least_gap) continue;
        for (int32_t k = i + 1; k < end; k++)
            if (same_rows(&gap[i], &gap[k])) gap[k].area = 0;
        gap[i].area = 0;
    }
}

int32_t mo_cut_cover_gaps(mo_grid *g, double (*distance)(const void *user, const double x[3]), const void *user)
{
    mo_sites *s = g->sites;
    int32_t met = 0;
    if (!s || !s->finder) return 0;
    cover c = {distance, user, &s->finder->mesh};
    for (int32_t first = 0, end; first < s->gaps; first = end) {
        bool meets = false;
        for (end = first; end < s->gaps && s->gap[end].cell == s->gap[first].cell; end++) {
            bool one = cover_gap(&c, g, &s->gap[end]);
            meets |= one, met += one;
        }
        if (meets) close_small(s->gap, first, end);
    }
    return met;
}
