// Random sheets, and what must hold for the sites that they make.
#ifndef CUT_TEST_H
#define CUT_TEST_H

#include "base/parallel.h"
#include "grid/cut.h"
#include "grid/cut_finder.h"
#include "sites_test.h"
#include <math.h>
#include <stdlib.h>

typedef struct dice {
    uint32_t seed, count;
} dice;
static inline double roll(dice *d) { return mo_unit(mo_hash(d->seed, d->count++, 77)); }
static inline double between(dice *d, double a, double b) { return a + (b - a) * roll(d); }
static inline mo_vec3 direction(dice *d)
{
    mo_vec3 v = {between(d, -1, 1), between(d, -1, 1), between(d, -1, 1)};
    return mo_norm(v) > 0.1 ? mo_normalize(v) : mo_v3(0.6, 0, 0.8);
}

enum {
    SORT_PLATE,
    SORT_BOWL,
    SORT_CUP,
    SORT_HELIX,
    SORT_JUNCTION,
    SORT_LAYERS,
    SORT_ON_GRID,
    SORT_SPHERE,
    SORT_CROSSING,
    SORTS
};

static inline mo_status two_sheets(mo_sheet *a, mo_sheet *b, double tolerance, mo_sheet *out)
{
    mo_status status = mo_sheet_weld(a, b, tolerance, out, NULL);
    mo_sheet_destroy(a), mo_sheet_destroy(b);
    return status;
}

// A sheet of one of the sorts, about the middle of a domain of n cells of size 1.
static inline mo_status random_sheet(int sort, dice *d, double n, mo_sheet *out)
{
    mo_sheet a, b;
    double edge = between(d, 0.4, 1.6), size = between(d, 0.25, 0.5) * n, angle = between(d, 0, 6.28);
    mo_vec3 axis = direction(d), to = {0.5 * n + between(d, -1, 1), 0.5 * n + between(d, -1, 1), 0.5 * n + roll(d)};
    switch (sort) {
    case SORT_PLATE: MO_TRY(mo_sheet_plate(size, 0.8 * size, edge, out, NULL)); break;
    case SORT_BOWL: MO_TRY(mo_sheet_hemisphere(0.6 * size, edge, out, NULL)); break;
    case SORT_CUP: MO_TRY(mo_sheet_cup(0.4 * size, 0.7 * size, edge, out, NULL)); break;
    case SORT_HELIX: MO_TRY(mo_sheet_helix(0.6 * size, 0.4 * size, 1.5, 0.3 * size, edge, out, NULL)); break;
    case SORT_SPHERE: {
        double arc[9][2];
        for (int k = 0; k < 9; k++)
            arc[k][0] = k % 8 ? 0.6 * size * sin(M_PI * k / 8) : 0, arc[k][1] = -0.6 * size * cos(M_PI * k / 8);
        MO_TRY(mo_sheet_revolve(9, (const double(*)[2])arc, edge, out, NULL));
        break;
    }
    case SORT_JUNCTION: // two plates through one line, the second ends there
        MO_TRY(mo_sheet_plate(size, size, edge, &a, NULL));
        MO_TRY(mo_sheet_copy(&a, &b, NULL));
        mo_sheet_move(&b, mo_v3(0.5 * size, 0, 0));
        mo_sheet_rotate(&b, mo_v3(0, 0, 1), between(d, 0.4, 2.7));
        mo_sheet_move(&b, mo_v3(-0.5 * size, 0, 0));
        MO_TRY(two_sheets(&a, &b, 1e-9, out));
        break;
    case SORT_LAYERS:
        MO_TRY(mo_sheet_plate(size, size, edge, &a, NULL));
        MO_TRY(mo_sheet_plate(size, size, between(d, 0.4, 1.6), &b, NULL));
        mo_sheet_move(&b, mo_v3(0, mo_exp(between(d, -27, -9)), 0));
        MO_TRY(two_sheets(&a, &b, 0, out));
        break;
    case SORT_ON_GRID:
        MO_TRY(mo_sheet_plate(floor(size), floor(size), roll(d) < 0.5 ? 1 : edge, out, NULL));
        axis = mo_v3(roll(d) < 0.5, 0, 1), angle = M_PI / 2 * floor(between(d, 0, 4));
        to = mo_v3(floor(to.x) + 0.5 * fmod(floor(size), 2), floor(to.y), floor(to.z) + 0.5 * fmod(floor(size), 2));
        if (axis.x > 0) axis.z = 0;
        break;
    default: // crossing
        MO_TRY(mo_sheet_plate(size, size, edge, &a, NULL));
        MO_TRY(mo_sheet_plate(size, size, edge, &b, NULL));
        mo_sheet_rotate(&b, direction(d), between(d, 0.3, 2));
        MO_TRY(two_sheets(&a, &b, 0, out));
    }
    mo_sheet_rotate(out, axis, angle);
    mo_sheet_move(out, to);
    return MO_OK;
}

typedef struct linear { // a field c + G x
    double c[3], g[3][3];
} linear;
static inline double linear_at(const linear *l, int a, const double x[3])
{
    return l->c[a] + l->g[a][0] * x[0] + l->g[a][1] * x[1] + l->g[a][2] * x[2];
}

// D u + Fw V of a row for a linear field with V = u(x), minus its divergence.
static inline double row_error(const mo_grid *g, int32_t row, const linear *l)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    const mo_site_wall *wall;
    const mo_cut_mesh *m = &g->sites->finder->mesh;
    double sum = 0, x[3];
    for (int k = 0, count = mo_row_samples(g, row, six, &list); k < count; k++) {
        int a = list[k].axis;
        mo_sample_place(g, a, list[k].sample, x);
        sum += (list[k].side ? 1 : -1) * mo_sample_area(g, a, list[k].sample) * linear_at(l, a, x);
    }
    for (int k = 0, count = mo_site_walls(g, row, &wall); k < count; k++)
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++)
                sum += wall[k].vector[a] * wall[k].weight[v] * linear_at(l, a, m->x[wall[k].vertex[v]]);
    for (int32_t k = 0; k < g->sites->gaps; k++) {
        const mo_gap *gap = &g->sites->gap[k];
        double sign = gap->low == row ? 1 : gap->high == row ? -1 : 0;
        for (int a = 0; a < 3 && sign != 0; a++) sum += sign * gap->area * gap->normal[a] * linear_at(l, a, gap->at);
    }
    return sum - (l->g[0][0] + l->g[1][1] + l->g[2][2]) * mo_site_volume(g, row);
}

static inline bool in_middle(const mo_grid *g, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    for (int a = 0; a < 3; a++)
        if (c[a] < 1 || c[a] >= g->n[a] - 1) return false;
    return true;
}

#endif
