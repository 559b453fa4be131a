// Finds the row of a point: the point is seen from a corner of its cell, or from the triangle in between.
#include "grid/cut_finder.h"
#include "geometry/predicates.h"
#include "grid/cut.h"
#include "grid/ghosts.h"
#include <math.h>
#include <string.h>

void mo_cut_finder_destroy(mo_cut_finder *f)
{
    if (!f) return;
    mo_cut_mesh_destroy(&f->mesh);
    mo_free(f->cell), mo_free(f->second), mo_free(f->corner), mo_free(f->largest), mo_free(f->first),
        mo_free(f->facing);
    mo_free(f);
}

// Where the segment from p to q meets a triangle, 0..1; 2: nowhere; -1: it cannot be decided. *above: p is on the +
// side.
static double meet(const mo_cut_mesh *m, int32_t triangle, const double p[3], const double q[3], bool *above)
{
    const int32_t *t = m->triangle[triangle];
    const double *a = m->x[t[0]], *b = m->x[t[1]], *c = m->x[t[2]];
    int s = mo_orient3d(a, b, c, p), e = mo_orient3d(a, b, c, q);
    *above = s > 0;
    if (s * e > 0) return 2;
    int u = mo_orient3d(p, q, a, b), v = mo_orient3d(p, q, b, c), w = mo_orient3d(p, q, c, a);
    bool out = (u > 0 || v > 0 || w > 0) && (u < 0 || v < 0 || w < 0);
    if (out) return 2;
    if (s == 0 || e == 0 || u == 0 || v == 0 || w == 0) return -1;
    double hp = 0, hq = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double n = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        hp += n * (p[k] - a[k]), hq += n * (q[k] - a[k]);
    }
    double at = hp / (hp - hq);
    return at >= 0 && at <= 1 ? at : -1;
}

// The side in which p lies, seen from one corner; -1: it cannot be decided from there.
static int32_t seen_from(const mo_cut_finder *f, int32_t c, const double p[3], const double corner[3], int32_t owner)
{
    double first = 2;
    int32_t side = owner;
    for (int64_t k = f->first[c]; k < f->first[c + 1]; k++) {
        const mo_cut_facing *t = &f->facing[k];
        bool above;
        double at = meet(&f->mesh, t->triangle, p, corner, &above);
        if (at < 0) return -1;
        if (at < first) first = at, side = above ? t->plus : t->minus;
    }
    return side;
}

int32_t mo_site_find(const mo_grid *g, const double x[3])
{
    int32_t cell[3] = {(int32_t)floor(x[0]), (int32_t)floor(x[1]), (int32_t)floor(x[2])};
    int32_t index = mo_grid_index(g, cell[0], cell[1], cell[2]);
    const mo_cut_finder *f = g->sites ? g->sites->finder : NULL;
    if (index < 0 || !f) return index;
    int32_t low = mo_cut_search(f->cells, f->cell, index);
    if (low < 0) return index;
    int32_t side = -1;
    for (int k = 0; k < 8 && side < 0; k++) { // the nearest corner first
        int nearest = 0;
        for (int a = 0; a < 3; a++) nearest |= (x[a] - cell[a] > 0.5) << a;
        int c = nearest ^ k;
        double corner[3];
        for (int a = 0; a < 3; a++) corner[a] = cell[a] + (c >> a & 1);
        side = seen_from(f, low, x, corner, f->corner[low][c]);
    }
    if (side < 0) side = f->largest[low];
    return side <= 0 ? index : f->second[low] + side - 1;
}

// The centre of a whole cell; of a ghost that of one of its real cells.
static void place_of_cell(const mo_grid *g, int32_t row, double x[3])
{
    const mo_ghosts *s = mo_ghosts_of(g);
    int32_t c[3], ghost = row - (int32_t)mo_grid_cells(g);
    mo_grid_cell(g, ghost < 0 ? row : s->side[s->side_of[s->first_side[ghost]]].cell, c);
    for (int a = 0; a < 3; a++) x[a] = c[a] + 0.5;
}

void mo_site_place(const mo_grid *g, int32_t row, double x[3])
{
    const double within = 1e-6; // cells from a face
    mo_row_sample six[6];
    const mo_row_sample *list;
    double sum[4] = {0}, largest = 0;
    if (mo_ghosts_of(g)) {
        place_of_cell(g, row, x);
        return;
    }
    int count = mo_row_samples(g, row, six, &list);
    for (int k = 0; k < count; k++) {
        double at[3], area = mo_sample_area(g, list[k].axis, list[k].sample);
        mo_sample_place(g, list[k].axis, list[k].sample, at);
        for (int a = 0; a < 3; a++) sum[a] += area * at[a];
        sum[3] += area;
    }
    if (!(sum[3] > 0)) return;
    for (int a = 0; a < 3; a++) x[a] = sum[a] / sum[3];
    if (mo_site_find(g, x) == row) return;
    for (int k = 0; k < count; k++) {
        double at[3], area = mo_sample_area(g, list[k].axis, list[k].sample);
        mo_sample_place(g, list[k].axis, list[k].sample, at);
        at[list[k].axis] += list[k].side ? -within : within;
        if (area <= largest || mo_site_find(g, at) != row) continue;
        memcpy(x, at, sizeof at);
        largest = area;
    }
}
