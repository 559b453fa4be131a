// The oracles of cut cells, for a number of random sheets.
#ifndef CUT_ORACLES_H
#define CUT_ORACLES_H

#include "cut_test.h"
#include "geometry/predicates.h"

static const char *const names[SORTS] = {"plate",  "bowl",    "cup",    "helix",   "junction",
                                         "layers", "on grid", "sphere", "crossing"};

typedef struct worst {
    double constant, linear, volume;
    int32_t closed, tangled, pockets, cells;
} worst;

// A closed strip that is not in the plane of its triangle: its velocity is the sheet's only about.
static bool is_shut(const mo_grid *g, int32_t row)
{
    const mo_site_wall *wall;
    for (int k = 0, count = mo_site_walls(g, row, &wall); k < count; k++)
        for (int v = 0; v < 3; v++)
            if (wall[k].weight[v] < -1e-9) return true;
    return false;
}

static void check_rows(const mo_grid *g, bool clean, dice *d, worst *w)
{
    linear constant = {{0}, {{0}}}, field;
    for (int a = 0; a < 3; a++) {
        constant.c[a] = field.c[a] = between(d, -1, 1);
        for (int b = 0; b < 3; b++) field.g[a][b] = between(d, -1, 1) / g->n[0];
    }
    const mo_cut_finder *f = g->sites->finder;
    for (int32_t k = 0; k < f->cells; k++) {
        double volume = 0;
        if (!in_middle(g, f->cell[k])) continue;
        int32_t sides = k + 1 < f->cells ? f->second[k + 1] - f->second[k]
                                         : (int32_t)mo_grid_cells(g) + g->sites->rows - f->second[k];
        for (int32_t s = 0; s <= sides && f->largest[k] >= 0; s++) {
            int32_t row = s == 0 ? f->cell[k] : f->second[k] + s - 1;
            const mo_site_wall *wall;
            volume += mo_site_volume(g, row);
            if (!clean && mo_site_walls(g, row, &wall) == 0) continue; // what is closed there has no wall to go to
            w->constant = fmax(w->constant, fabs(row_error(g, row, &constant)));
            if (clean && !is_shut(g, row)) w->linear = fmax(w->linear, fabs(row_error(g, row, &field)));
        }
        if (clean) w->volume = fmax(w->volume, fabs(volume - 1));
    }
}

static void check_exactness(int32_t trials)
{
    worst w[SORTS] = {0};
    for (int32_t k = 0; k < trials; k++) {
        dice d = {(uint32_t)k, 0};
        int sort = k % SORTS;
        mo_grid *g = whole_grid(12, 12, 12, 1);
        mo_sheet s;
        mo_cut_info info;
        assert_int_equal(random_sheet(sort, &d, 12, &s), MO_OK);
        assert_int_equal(mo_cut(g, &s, &info, NULL), MO_OK);
        worst before = w[sort];
        check_rows(g, info.tangled == 0 && info.closed == 0 && info.pockets == 0, &d, &w[sort]);
        if (w[sort].linear > 1e-10 && before.linear < 1e-10) print_message("trial %d: %s\n", k, names[sort]);
        w[sort].closed += info.closed, w[sort].tangled += info.tangled, w[sort].pockets += info.pockets;
        w[sort].cells += info.cells;
        mo_sheet_destroy(&s);
        mo_grid_destroy(g);
    }
    for (int s = 0; s < SORTS; s++)
        print_message("%-9s %6d cells, %d closed, %d pockets, %d tangled; constant %.1e, linear %.1e, volume %.1e\n",
                      names[s], w[s].cells, w[s].closed, w[s].pockets, w[s].tangled, w[s].constant, w[s].linear,
                      w[s].volume);
    for (int s = 0; s < SORTS; s++) {
        assert_true(w[s].constant < 1e-12 && w[s].linear < 1e-10 && w[s].volume < 1e-10);
        assert_int_equal(w[s].closed, 0);
        assert_true(w[s].tangled == 0 || s == SORT_LAYERS || s == SORT_CROSSING);
    }
}

// ---- Sides and a flood of points ----

enum { FLOOD = 64, POINTS = FLOOD * FLOOD * FLOOD };

typedef struct flood { // points in a cell; those that see their neighbour are of one component
    int32_t cell;      // among those of the finder
    int32_t n, points; // along an axis, and all
    double x[POINTS][3];
    int32_t parent[POINTS], row[POINTS];
} flood;

static bool parted(const mo_cut_finder *f, int32_t c, const double p[3], const double q[3])
{
    for (int64_t k = f->first[c]; k < f->first[c + 1]; k++) {
        const int32_t *t = f->mesh.triangle[f->facing[k].triangle];
        const double *a = f->mesh.x[t[0]], *b = f->mesh.x[t[1]], *d = f->mesh.x[t[2]];
        if (mo_orient3d(a, b, d, p) * mo_orient3d(a, b, d, q) > 0) continue;
        int u = mo_orient3d(p, q, a, b), v = mo_orient3d(p, q, b, d), w = mo_orient3d(p, q, d, a);
        if ((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0)) return true;
    }
    return false;
}

static int32_t top(flood *f, int32_t k)
{
    while (f->parent[k] != k) k = f->parent[k] = f->parent[f->parent[k]];
    return k;
}

// With `dense` points are closer near the cell's faces, where passages are narrow.
static void fill_flood(const mo_grid *g, int32_t c, int32_t n, bool dense, flood *f)
{
    const int32_t stride[3] = {1, n, n * n};
    f->n = n, f->points = n * n * n;
    int32_t base[3];
    f->cell = c;
    mo_grid_cell(g, g->sites->finder->cell[c], base);
    for (int32_t k = 0; k < f->points; k++) {
        for (int a = 0; a < 3; a++) {
            double t = (k / stride[a] % n + 0.5 + 0.02 * mo_unit(mo_hash((uint32_t)k, (uint32_t)a, 5))) / n;
            f->x[k][a] = base[a] + (dense ? 0.5 - 0.5 * cos(M_PI * t) : t);
        }
        f->parent[k] = k, f->row[k] = mo_site_find(g, f->x[k]);
    }
    for (int32_t k = 0; k < f->points; k++)
        for (int a = 0; a < 3; a++) {
            if (k / stride[a] % n == n - 1 || parted(g->sites->finder, c, f->x[k], f->x[k + stride[a]])) continue;
            int32_t p = top(f, k), q = top(f, k + stride[a]);
            f->parent[p > q ? p : q] = p < q ? p : q;
        }
}

// Points that see each other have one row. Components of one row are joined by passages that the points are too
// coarse for, so that all but one are small.
static void check_flood(flood *f, int32_t *split, int32_t *bad)
{
    static int32_t count[POINTS];
    int32_t best = -1;
    memset(count, 0, sizeof count);
    for (int32_t k = 0; k < f->points; k++) count[top(f, k)]++;
    for (int32_t k = 0; k < f->points; k++) *bad += f->row[k] != f->row[top(f, k)];
    for (int32_t p = 0; p < f->points; p++) {
        if (count[p] < f->points / 100) continue;
        *split += best >= 0, best = p;
        for (int32_t q = 0; q < p; q++)
            if (count[q] >= f->points / 100 && f->row[p] == f->row[q]) (*bad)++;
    }
}

// Corners of one side are of one component, also where triangles are tangled.
static void check_corners(const mo_grid *g, flood *f, int32_t *bad)
{
    const mo_cut_finder *d = g->sites->finder;
    int32_t base[3], at[8];
    mo_grid_cell(g, d->cell[f->cell], base);
    for (int k = 0; k < 8; k++) {
        double corner[3];
        at[k] = 0;
        for (int a = 0; a < 3; a++) {
            at[k] += (k >> a & 1) * (f->n - 1) * (a == 0 ? 1 : a == 1 ? f->n : f->n * f->n);
            corner[a] = base[a] + (k >> a & 1);
        }
        if (parted(d, f->cell, f->x[at[k]], corner)) at[k] = -1;
        for (int j = 0; j < k; j++)
            *bad += at[k] >= 0 && at[j] >= 0 && d->corner[f->cell][k] >= 0 &&
                    d->corner[f->cell][k] == d->corner[f->cell][j] && top(f, at[k]) != top(f, at[j]);
    }
}

static void check_floods(int32_t trials)
{
    int32_t split = 0, bad[SORTS] = {0}, corners[SORTS] = {0};
    static flood f;
    for (int32_t k = 0; k < trials; k++) {
        dice d = {(uint32_t)(5000 + k), 0};
        int sort = k % SORTS;
        mo_grid *g = whole_grid(12, 12, 12, 1);
        mo_sheet s;
        mo_cut_info info;
        assert_int_equal(random_sheet(sort, &d, 12, &s), MO_OK);
        assert_int_equal(mo_cut(g, &s, &info, NULL), MO_OK);
        for (int32_t c = k % 40; c < g->sites->finder->cells; c += 40) {
            for (int32_t level = 0, wrong = 1; wrong && level < 3; level++) { // passages may be finer than the points
                int32_t w[2] = {0, 0};
                fill_flood(g, c, level ? FLOOD : 16, level == 2, &f);
                if (info.tangled == 0) check_flood(&f, &split, &w[0]);
                check_corners(g, &f, &w[1]);
                wrong = w[0] + w[1];
                if (level == 2) bad[sort] += w[0], corners[sort] += w[1];
            }
        }
        mo_sheet_destroy(&s);
        mo_grid_destroy(g);
    }
    for (int s = 0; s < SORTS; s++) print_message("%s: %d and %d wrong\n", names[s], bad[s], corners[s]);
    print_message("%d divided cells\n", split);
    for (int s = 0; s < SORTS; s++) assert_true(bad[s] == 0 && corners[s] == 0);
    assert_true(split > trials);
}

// ---- Nothing gets out of a closed sheet ----

static void spread(const mo_grid *g, int32_t row, uint8_t *seen)
{
    int32_t *stack = malloc(sizeof(int32_t) * (size_t)mo_grid_fields(g) * 8), n = 0;
    stack[n++] = row, seen[row] = 1;
    while (n > 0) {
        int32_t r = stack[--n];
        mo_row_sample six[6];
        const mo_row_sample *list;
        int32_t next[512], count = 0;
        for (int k = 0, samples = mo_row_samples(g, r, six, &list); k < samples; k++)
            next[count++] = list[k].side ? mo_sample_high(g, list[k].axis, list[k].sample)
                                         : mo_sample_low(g, list[k].axis, list[k].sample);
        for (int32_t k = 0; k < g->sites->gaps; k++)
            if (g->sites->gap[k].low == r || g->sites->gap[k].high == r)
                next[count++] = g->sites->gap[k].low == r ? g->sites->gap[k].high : g->sites->gap[k].low;
        for (int32_t k = 0; k < count; k++)
            if (next[k] >= 0 && !seen[next[k]]) seen[next[k]] = 1, stack[n++] = next[k];
    }
    free(stack);
}

// Spheres, whole or with a second one that crosses: the middle and the corner of the domain are never connected.
static void check_tightness(int32_t trials)
{
    for (int32_t k = 0; k < trials; k++) {
        dice d = {(uint32_t)(9000 + k), 0};
        mo_grid *g = whole_grid(12, 12, 12, 1);
        mo_sheet s, other;
        assert_int_equal(random_sheet(SORT_SPHERE, &d, 12, &s), MO_OK);
        double middle[3] = {MO_MARGIN, MO_MARGIN, MO_MARGIN};
        for (int32_t v = 0; v < s.vertices; v++)
            for (int a = 0; a < 3; a++) middle[a] += s.position[v][a] / s.vertices;
        if (k % 3 == 1) { // crossed by anything
            mo_sheet both;
            assert_int_equal(random_sheet(k / 3 % SORTS, &d, 12, &other), MO_OK);
            assert_int_equal(two_sheets(&s, &other, 0, &both), MO_OK);
            s = both;
        }
        if (k % 3 == 2) // on nodes of the lattice
            for (int32_t v = 0; v < s.vertices; v++)
                for (int a = 0; a < 3; a++) s.position[v][a] = round(2 * s.position[v][a]) / 2;
        mo_cut_info info;
        assert_int_equal(mo_cut(g, &s, &info, NULL), MO_OK);
        uint8_t *seen = calloc((size_t)mo_grid_fields(g), 1);
        spread(g, mo_grid_index(g, 0, 0, 0), seen);
        if (k % 3 != 1) assert_false(seen[mo_site_find(g, middle)]);
        int32_t found = 0;
        for (int32_t r = 0; r < (int32_t)mo_grid_cells(g); r++) found += seen[r];
        assert_true(found > 1000 && found < (int32_t)mo_grid_cells(g));
        free(seen);
        mo_sheet_destroy(&s);
        mo_grid_destroy(g);
    }
}

#endif
