// Shear round an edge of the lattice, on each side of the sheets that pass there (stress_sheets.h).
#include "system/strain_rows.h"
#include <math.h>
#include <string.h>

static const double tiny = 1e-10; // of areas: less arises where a sheet lies on a plane of the lattice

// Of an air face: smaller pieces count as part of the sheet. The level set is known at the centres of cells, and does
// not tell whether a sliver between them and a sheet is wet; as air it would let liquid beside it slip.
static const double narrow = 0.5;

typedef struct piece { // of one of the four faces round an edge
    int32_t sample, low, high, face;
    int axis, sign;    // the difference has it with this sign
    double area, tent; // open, and times 1 - its distance to the edge
    int group;
} piece;

typedef struct edge {
    int32_t cell;
    int b, c, along; // axes of the two velocities, and of the edge
    int count, groups;
    bool crowded; // too many pieces
    piece piece[MO_EDGE_PIECES];
} edge;

static void axes_of(int component, edge *e)
{
    e->b = component == MO_STRESS_YZ, e->c = component == MO_STRESS_XY ? 1 : 2, e->along = 3 - e->b - e->c;
}

// ---- Pieces ----

static int32_t first_side(const mo_grid *g, int32_t cell, int32_t *end)
{
    int32_t lo, hi, last;
    if (!mo_site_is_cut(g, cell)) return *end = 0, 0;
    mo_sites_rows(g, cell / MO_TILE_CELLS, &lo, &hi);
    last = hi;
    while (lo < hi) {
        int32_t middle = (lo + hi) / 2;
        if (mo_site_cell(g, middle) < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (*end = lo; *end < last && mo_site_cell(g, *end) == cell;) ++*end;
    return lo;
}

// A piece across `axis`, of which the difference is taken along `across`: on the edge's high side if sign > 0.
static void add_piece(const mo_strain_world *w, edge *e, int axis, int across, int sign, int32_t sample)
{
    mo_sample s =
        mo_site_is_cut(w->g, sample) ? mo_sites_sample(w->g, axis, sample) : mo_sample_plain(w->g, sample, axis);
    double area = s.area * w->p->area[axis][sample], from = s.at[(across - axis + 2) % 3];
    if (area <= tiny || s.low < 0 || s.high < 0) return;
    if (w->face[axis][sample] < 0 && s.area < narrow) return;
    if (e->count == MO_EDGE_PIECES) {
        e->crowded = true;
        return;
    }
    e->piece[e->count] = (piece){.sample = sample,
                                 .low = s.low,
                                 .high = s.high,
                                 .face = w->face[axis][sample],
                                 .axis = axis,
                                 .sign = sign,
                                 .area = area,
                                 .tent = area * (sign > 0 ? 1 - from : from),
                                 .group = e->count};
    e->count++;
}

static void add_row_pieces(const mo_strain_world *w, edge *e, int axis, int across, int sign, int32_t row)
{
    const mo_row_sample *list;
    for (int k = 0, n = mo_sites_of_row(w->g, row, &list); k < n; k++)
        if (list[k].axis == axis && list[k].side == 0) add_piece(w, e, axis, across, sign, list[k].sample);
}

// The pieces of the low face of a cell. False: the cell does not exist.
static bool add_face(const mo_strain_world *w, edge *e, int axis, int across, int sign, int32_t cell)
{
    int32_t end;
    if (cell < 0) return false;
    if (!mo_site_is_cut(w->g, cell)) {
        add_piece(w, e, axis, across, sign, cell);
        return true;
    }
    add_row_pieces(w, e, axis, across, sign, cell);
    for (int32_t row = first_side(w->g, cell, &end); row < end; row++) add_row_pieces(w, e, axis, across, sign, row);
    return true;
}

static bool touch(const piece *p, const piece *q)
{
    return p->low == q->low || p->low == q->high || p->high == q->low || p->high == q->high;
}

// Pieces that rows join get one number.
static void join(edge *e)
{
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < e->count; i++)
            for (int j = 0; j < i; j++) {
                piece *p = &e->piece[i], *q = &e->piece[j];
                if (p->group == q->group || !touch(p, q)) continue;
                p->group = q->group = p->group < q->group ? p->group : q->group;
                again = true;
            }
    }
    int number[MO_EDGE_PIECES];
    e->groups = 0;
    for (int i = 0; i < e->count; i++) {
        number[i] = e->piece[i].group == i ? e->groups++ : number[e->piece[i].group];
        e->piece[i].group = number[i];
    }
}

static bool find_edge(const mo_strain_world *w, int32_t cell, int component, edge *e)
{
    const mo_grid *g = w->g;
    e->cell = cell, e->count = e->groups = 0, e->crowded = false;
    axes_of(component, e);
    bool ok = add_face(w, e, e->b, e->c, 1, cell) && add_face(w, e, e->b, e->c, -1, mo_grid_step(g, cell, e->c, -1)) &&
              add_face(w, e, e->c, e->b, 1, cell) && add_face(w, e, e->c, e->b, -1, mo_grid_step(g, cell, e->b, -1));
    if (!ok || e->crowded) return false;
    join(e);
    return true;
}

int mo_strain_edge_groups(const mo_strain_world *w, int32_t cell, int component)
{
    edge e;
    return find_edge(w, cell, component, &e) ? e.groups : 0;
}

// ---- What bounds a side ----

static mo_vec3 centre_of(const mo_strain_world *w, const edge *e)
{
    int32_t c[3];
    mo_grid_cell(w->g, e->cell, c);
    double x[3] = {c[0], c[1], c[2]};
    x[e->along] += 0.5;
    return mo_grid_world(w->g, x[0], x[1], x[2]);
}

// The rows of a side: those of its pieces, each once.
static int rows_of(const edge *e, int group, int32_t row[MO_EDGE_ROWS])
{
    int count = 0;
    for (int i = 0; i < e->count; i++)
        for (int end = 0; end < 2 && e->piece[i].group == group; end++) {
            int32_t r = end ? e->piece[i].high : e->piece[i].low;
            int k = 0;
            while (k < count && row[k] != r) k++;
            if (k == count && count < MO_EDGE_ROWS) row[count++] = r;
        }
    return count;
}

// A closed wall of the domain on which the edge lies.
static bool on_wall(const mo_strain_world *w, const edge *e, mo_mover *by)
{
    int32_t c[3];
    bool found = false;
    mo_grid_cell(w->g, e->cell, c);
    for (int k = 0; k < 2; k++) {
        int a = k ? e->c : e->b;
        bool low = c[a] == MO_MARGIN, high = c[a] == w->g->n[a] - MO_MARGIN;
        if ((!low && !high) || w->p->solids->open_wall[2 * a + high]) continue;
        *by = (mo_mover){.triangle = -1, .solid = -1, .slips = w->p->solids->slip_wall[2 * a + high]};
        found = true;
    }
    return found;
}

static void nearest_sheet(const mo_strain_world *w, mo_vec3 x, const int32_t *row, int rows, double *least,
                          mo_mover *by)
{
    for (int r = 0; r < rows; r++) {
        const mo_site_wall *wall;
        for (int k = 0, n = mo_site_walls(w->g, row[r], &wall); k < n; k++) {
            double d = mo_norm(mo_sub(mo_strain_wall_place(w, &wall[k]), x));
            if (!(d < *least)) continue;
            *least = d;
            *by = (mo_mover){.triangle = wall[k].triangle, .slips = w->d->slip && w->d->slip[wall[k].triangle]};
            memcpy(by->vertex, wall[k].vertex, sizeof by->vertex);
        }
    }
}

static bool beside_solid(const mo_strain_world *w, const edge *e)
{
    int32_t b = mo_grid_step(w->g, e->cell, e->b, -1), c = mo_grid_step(w->g, e->cell, e->c, -1);
    return w->p->solids->count && (w->p->area[e->b][e->cell] < 1 || w->p->area[e->b][c] < 1 ||
                                   w->p->area[e->c][e->cell] < 1 || w->p->area[e->c][b] < 1);
}

// What takes the missing part of the box round the edge: the wall, sheet or solid nearest to it.
static bool find_mover(const mo_strain_world *w, const edge *e, const int32_t *row, int rows, mo_mover *by)
{
    mo_vec3 x = centre_of(w, e);
    double least = INFINITY, distance;
    if (on_wall(w, e, by)) return true;
    nearest_sheet(w, x, row, rows, &least, by);
    int32_t solid = beside_solid(w, e) ? mo_strain_nearest(w, x, &distance) : -1;
    if (solid >= 0 && fabs(distance) < least) {
        least = 0;
        *by = (mo_mover){.triangle = -1, .solid = solid, .slips = w->p->solids->slip && w->p->solids->slip[solid]};
    }
    return least < INFINITY;
}

// ---- Rows ----

// d/T of the pieces across one axis, times `weight`: relative to what bounds them, if anything does.
static void add_difference(const mo_strain_world *w, const edge *e, int group, int axis, double weight,
                           const mo_mover *by, mo_strain_row *out)
{
    for (int i = 0; i < e->count; i++) {
        const piece *p = &e->piece[i];
        if (p->group != group || p->axis != axis) continue;
        double value = weight * p->sign * (by ? p->area : 1) / w->g->dx;
        mo_strain_add_face(out, p->face, value);
        if (by) mo_strain_add_move(out, by, mo_strain_place(w, axis, p->sample), axis, -value);
    }
}

// ---- Slopes along sheets on which liquid slips ----

enum { MOST = 3 * MO_EDGE_PIECES };

typedef struct fit { // a plane through velocities: places across and along the edge, weights
    int count;
    int32_t face[MOST];
    double x[MOST], y[MOST], weight[MOST];
} fit;

static void add_place(const mo_strain_world *w, const edge *e, int axis, int across, int32_t sample, fit *f)
{
    double x[3];
    int32_t c[3], face = w->face[axis][sample];
    if (face < 0 || f->count == MOST) return;
    mo_grid_cell(w->g, e->cell, c);
    mo_sample_place(w->g, axis, sample, x);
    f->face[f->count] = face, f->weight[f->count] = mo_sample_area(w->g, axis, sample);
    f->x[f->count] = x[across] - c[across], f->y[f->count++] = x[e->along] - c[e->along] - 0.5;
}

// The factors of the slope across the edge. False: the velocities do not show it.
static bool slope_of(const fit *f, bool flat, double *factor)
{
    double s = 0, sx = 0, sy = 0, xx = 0, xy = 0, yy = 0;
    for (int k = 0; k < f->count; k++) s += f->weight[k], sx += f->weight[k] * f->x[k], sy += f->weight[k] * f->y[k];
    for (int k = 0; k < f->count; k++) {
        double x = f->x[k] - sx / s, y = f->y[k] - sy / s;
        xx += f->weight[k] * x * x, xy += f->weight[k] * x * y, yy += f->weight[k] * y * y;
    }
    if (flat) xy = 0, yy = 1;
    double det = xx * yy - xy * xy;
    if (!(xx > 0.01 * s) || !(det > 1e-3 * xx * yy) || !(yy > 0.01 * s)) return false;
    for (int k = 0; k < f->count; k++)
        factor[k] = f->weight[k] * (yy * (f->x[k] - sx / s) - xy * (f->y[k] - sy / s)) / det;
    return true;
}

static bool add_slope(const mo_strain_world *w, const edge *e, int group, int axis, int across, double weight,
                      mo_strain_row *out)
{
    fit f = {.count = 0};
    bool flat = mo_grid_is_2d(w->g), both[2] = {false, false};
    double factor[MOST];
    for (int i = 0; i < e->count; i++) {
        const piece *p = &e->piece[i];
        if (p->group != group || p->axis != axis) continue;
        both[p->sign > 0] = true;
        add_place(w, e, axis, across, p->sample, &f);
        for (int side = -1; side <= 1 && !flat; side += 2) {
            int32_t n = mo_site_step(w->g, axis, p->sample, e->along, side);
            if (n >= 0) add_place(w, e, axis, across, n, &f);
        }
    }
    if (!both[0] || !both[1] || !slope_of(&f, flat, factor)) return false;
    for (int k = 0; k < f.count; k++) mo_strain_add_face(out, f.face[k], weight * factor[k] / w->g->dx);
    return true;
}

// ---- The row of a side ----

// False: air, or a light face. whole: nothing takes a part of the four faces.
static bool tents_of(const edge *e, int group, double tent[2], bool *whole)
{
    int count = 0, full = 0;
    tent[0] = tent[1] = 0;
    for (int i = 0; i < e->count; i++) {
        const piece *p = &e->piece[i];
        if (p->group != group) continue;
        if (p->face < 0) return false;
        tent[p->axis == e->c] += p->tent;
        count++, full += p->area > 1 - 1e-9;
    }
    *whole = count == 4 && full == 4;
    return true;
}

static bool stick_row(const mo_strain_world *w, const edge *e, const mo_strain_site *s, const double tent[2],
                      const mo_mover *by, mo_strain_row *out)
{
    double less = fmin(tent[0], tent[1]), most = fmax(tent[0], tent[1]);
    double weight = s->part == 0 ? less : most - less;
    if (!(weight > 1e-6 * most)) return false; // slivers too are held, by rows of their own weight
    bool both = s->part == 0, first = tent[0] > tent[1];
    if (both || first) add_difference(w, e, s->group, e->b, weight / tent[0], by, out);
    if (both || !first) add_difference(w, e, s->group, e->c, weight / tent[1], by, out);
    out->weight = weight;
    return true;
}

static bool slip_row(const mo_strain_world *w, const edge *e, const mo_strain_site *s, const double tent[2],
                     mo_strain_row *out)
{
    double weight = 0.5 * (tent[0] + tent[1]);
    out->weight = weight;
    return s->part == 0 && weight > 0 && add_slope(w, e, s->group, e->b, e->c, weight, out) &&
           add_slope(w, e, s->group, e->c, e->b, weight, out);
}

bool mo_strain_edge_row(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out)
{
    edge e;
    double tent[2], wet = 0;
    int32_t row[MO_EDGE_ROWS];
    mo_mover by;
    bool whole, found = false;
    mo_strain_start(out);
    if (!find_edge(w, s->at, s->component, &e) || s->group >= e.groups) return false;
    if (!tents_of(&e, s->group, tent, &whole)) return false;
    int rows = rows_of(&e, s->group, row);
    out->viscosity = mo_strain_viscosity(w, row, rows);
    out->homes = rows, memcpy(out->home, row, sizeof(int32_t) * (size_t)rows);
    if (!(out->viscosity > 0)) return false;
    if (whole)
        found = stick_row(w, &e, s, tent, NULL, out);
    else if (find_mover(w, &e, row, rows, &by))
        found = by.slips ? slip_row(w, &e, s, tent, out) : stick_row(w, &e, s, tent, &by, out);
    if (!found || out->failed) return false;
    for (int k = 0; k < rows; k++) wet += mo_strain_wet(w, row[k]) / rows;
    mo_strain_scale(out, wet);
    return true;
}
