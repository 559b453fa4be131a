// Rows of strain where sheets are: the diagonal, and the list of all rows.
#include "system/strain_rows.h"
#include <math.h>
#include <string.h>

// ---- Entries ----

void mo_strain_add_face(mo_strain_row *r, int32_t face, double value)
{
    int32_t p = r->count;
    while (p > 0 && r->col[p - 1] > face) p--;
    if (p > 0 && r->col[p - 1] == face) {
        r->val[p - 1] += value;
        return;
    }
    if (r->count == MO_STRAIN_WIDTH) {
        r->failed = true;
        return;
    }
    for (int32_t k = r->count++; k > p; k--) r->col[k] = r->col[k - 1], r->val[k] = r->val[k - 1];
    r->col[p] = face, r->val[p] = value;
}

void mo_strain_add_move(mo_strain_row *r, const mo_mover *by, mo_vec3 x, int axis, double factor)
{
    if (by->triangle < 0 && by->solid < 0) return; // at rest
    if (r->moves == MO_STRAIN_MOVES)
        r->failed = true;
    else
        r->move[r->moves++] = (mo_strain_move){*by, x, axis, factor};
}

void mo_strain_scale(mo_strain_row *r, double factor)
{
    for (int32_t k = 0; k < r->count; k++) r->val[k] *= factor;
    for (int32_t k = 0; k < r->moves; k++) r->move[k].factor *= factor;
    r->known *= factor, r->weight *= factor;
}

// ---- What the grid has ----

double mo_strain_wet(const mo_strain_world *w, int32_t row)
{
    const double least = 0.01;
    return fmax(least, fmin(1, 0.5 - w->p->phi[row]));
}

double mo_strain_viscosity(const mo_strain_world *w, const int32_t *row, int rows)
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < rows; k++) {
        double eta = w->d->viscosity[row[k]];
        if (eta < 0) continue;
        if (eta == 0) return 0;
        sum += 1 / eta, count++;
    }
    return count ? count / sum : 0;
}

mo_vec3 mo_strain_place(const mo_strain_world *w, int axis, int32_t sample)
{
    double x[3];
    mo_sample_place(w->g, axis, sample, x);
    return mo_grid_world(w->g, x[0], x[1], x[2]);
}

int32_t mo_strain_nearest(const mo_strain_world *w, mo_vec3 x, double *distance)
{
    const mo_solid_set *solids = w->p->solids;
    int32_t nearest = -1;
    *distance = INFINITY;
    for (int32_t s = 0; s < solids->count; s++) {
        double d = solids->distance(solids->user, s, x);
        if (d < *distance) *distance = d, nearest = s;
    }
    return nearest;
}

mo_vec3 mo_strain_wall_place(const mo_strain_world *w, const mo_site_wall *wall)
{
    mo_vec3 x = {0, 0, 0};
    for (int v = 0; v < 3; v++) {
        const double *p = w->p->sheet_at[wall->vertex[v]];
        x = mo_mad(x, wall->weight[v], mo_v3(p[0], p[1], p[2]));
    }
    return x;
}

// ---- Velocities ----

static mo_vec3 vector_of(const double (*field)[3], int32_t i) { return mo_v3(field[i][0], field[i][1], field[i][2]); }

// The motion of a triangle is continued off its plane: its normal turns with it.
static mo_vec3 sheet_velocity(const mo_pressure_def *p, const int32_t vertex[3], mo_vec3 x)
{
    mo_vec3 a = vector_of(p->sheet_at, vertex[0]), va = vector_of(p->sheet, vertex[0]);
    mo_vec3 e = mo_sub(vector_of(p->sheet_at, vertex[1]), a), f = mo_sub(vector_of(p->sheet_at, vertex[2]), a);
    mo_vec3 ve = mo_sub(vector_of(p->sheet, vertex[1]), va), vf = mo_sub(vector_of(p->sheet, vertex[2]), va);
    mo_vec3 n = mo_cross(e, f), turn = mo_add(mo_cross(ve, f), mo_cross(e, vf)), r = mo_sub(x, a);
    double area = mo_dot(n, n), s = mo_dot(mo_cross(r, f), n) / area, t = mo_dot(mo_cross(e, r), n) / area;
    return mo_mad(mo_mad(mo_mad(va, s, ve), t, vf), mo_dot(r, n) / area, turn);
}

// The same by the vertices' velocities: the middle of a triangle moves with their mean, its normal turns with
// dn = de x f + e x df.
bool mo_mover_columns(const mo_strain_world *w, const mo_mover *by, mo_vec3 x, int axis,
                      mo_column out[MO_CLOTH_COLUMNS])
{
    const mo_pressure_def *p = w->p;
    if (by->triangle < 0 || !p->sheet_node || p->sheet_node[by->vertex[0]] < 0) return false;
    mo_vec3 a = vector_of(p->sheet_at, by->vertex[0]), r = mo_sub(x, a);
    mo_vec3 e = mo_sub(vector_of(p->sheet_at, by->vertex[1]), a), f = mo_sub(vector_of(p->sheet_at, by->vertex[2]), a);
    mo_vec3 n = mo_cross(e, f);
    double area = mo_dot(n, n), s = mo_dot(mo_cross(r, f), n) / area, t = mo_dot(mo_cross(e, r), n) / area;
    for (int k = 0; k < 3; k++) {
        mo_vec3 unit = {k == 0, k == 1, k == 2};
        double above = mo_dot(r, n) / area, second = above * mo_get(mo_cross(unit, f), axis) + (k == axis ? s : 0),
               third = above * mo_get(mo_cross(e, unit), axis) + (k == axis ? t : 0);
        const double part[3] = {(k == axis) - second - third, second, third};
        for (int v = 0; v < 3; v++) out[3 * v + k] = (mo_column){MO_NODES, p->sheet_node[by->vertex[v]] + k, part[v]};
    }
    return true;
}

double mo_mover_velocity(const mo_strain_world *w, const mo_mover *by, mo_vec3 x, int axis)
{
    const mo_solid_set *solids = w->p->solids;
    if (by->triangle >= 0) return w->p->sheet ? mo_get(sheet_velocity(w->p, by->vertex, x), axis) : 0;
    if (by->solid < 0 || !solids->velocity || mo_solid_moves(solids, by->solid)) return 0;
    return mo_get(solids->velocity(solids->user, by->solid, x), axis);
}

// ---- The diagonal ----

// One component of the divergence over a row: the a-part of its pressure row, with the opposite sign.
typedef struct divergence {
    const mo_strain_world *w;
    int32_t row;
    int axis;
    double factor;
} divergence;

// What bodies take of a face; prescribed solids are in the flux. False: they slip.
static bool add_solids(const divergence *d, int32_t sample, double area, double sign, mo_strain_row *out)
{
    const mo_strain_world *w = d->w;
    const mo_pressure_def *p = w->p;
    int32_t cell = mo_sample_cell(w->g, d->axis, sample);
    double distance;
    mo_vec3 x = mo_strain_place(w, d->axis, sample);
    if (p->flux) out->known += sign * area * p->flux[d->axis][sample] / w->g->dx;
    if (p->area[d->axis][cell] >= 1 || !p->solids->count) return true;
    int32_t nearest = mo_strain_nearest(w, x, &distance);
    if (nearest >= 0 && distance < w->g->dx && p->solids->slip && p->solids->slip[nearest]) return false;
    for (int32_t k = 0; k < p->covers; k++) {
        const mo_cover *c = &p->cover[k];
        double part = c->tile == cell / MO_TILE_CELLS ? area * c->part[d->axis][cell % MO_TILE_CELLS] : 0;
        if (!(part > 0) || !mo_solid_moves(p->solids, c->solid)) continue;
        mo_strain_add_move(out, &(mo_mover){.triangle = -1, .solid = c->solid}, x, d->axis, sign * part / w->g->dx);
    }
    return true;
}

static bool add_faces(const divergence *d, mo_strain_row *out)
{
    const mo_strain_world *w = d->w;
    mo_row_sample six[6];
    const mo_row_sample *list;
    for (int k = 0, n = mo_row_samples(w->g, d->row, six, &list); k < n; k++) {
        if (list[k].axis != d->axis) continue;
        int32_t at = list[k].sample;
        double sign = d->factor * (list[k].side ? 1 : -1), area = mo_sample_area(w->g, d->axis, at),
               open = area * w->p->area[d->axis][at];
        if (open > 0 && w->face[d->axis][at] < 0) return false;
        if (open > 0) mo_strain_add_face(out, w->face[d->axis][at], sign * open / w->g->dx);
        if (!add_solids(d, at, area, sign, out)) return false;
    }
    return true;
}

// False: liquid slips along one of them.
static bool add_walls(const divergence *d, mo_strain_row *out)
{
    const mo_strain_world *w = d->w;
    const mo_site_wall *wall;
    for (int k = 0, n = mo_site_walls(w->g, d->row, &wall); k < n; k++) {
        mo_mover by = {.triangle = wall[k].triangle};
        if (w->d->slip && w->d->slip[by.triangle]) return false;
        memcpy(by.vertex, wall[k].vertex, sizeof by.vertex);
        mo_strain_add_move(out, &by, mo_strain_wall_place(w, &wall[k]), d->axis,
                           d->factor * wall[k].vector[d->axis] / w->g->dx);
    }
    return true;
}

// The sheet nearest to a place among the walls of the row. False: it has none.
static bool wall_beside(const divergence *d, mo_vec3 x, mo_mover *by)
{
    const mo_site_wall *wall;
    double least = INFINITY;
    for (int k = 0, n = mo_site_walls(d->w->g, d->row, &wall); k < n; k++) {
        double distance = mo_norm(mo_sub(mo_strain_wall_place(d->w, &wall[k]), x));
        if (!(distance < least)) continue;
        least = distance, *by = (mo_mover){.triangle = wall[k].triangle};
        memcpy(by->vertex, wall[k].vertex, sizeof by->vertex);
    }
    return least < INFINITY;
}

// The velocity in a gap is gap_mean u + w along its normal, and that of the sheet across it. The flow is that out of
// the row.
static bool add_gap(const divergence *d, int32_t k, double flow, mo_strain_row *out)
{
    const mo_liquid_system *l = d->w->l;
    const mo_gap *gap = &d->w->g->sites->gap[l->gap_at[k]];
    mo_vec3 x = mo_grid_world(d->w->g, gap->at[0], gap->at[1], gap->at[2]);
    double n = gap->normal[d->axis];
    mo_mover by;
    if (!wall_beside(d, x, &by)) return false;
    for (int64_t e = l->gap_mean.row[k]; e < l->gap_mean.row[k + 1]; e++)
        mo_strain_add_face(out, l->gap_mean.col[e], flow * n * n * l->gap_mean.val[e]);
    mo_strain_add_face(out, l->system.faces.count - l->gaps + k, flow * n * n);
    for (int a = 0; a < d->w->axes; a++)
        mo_strain_add_move(out, &by, x, a, flow * n * ((a == d->axis) - n * gap->normal[a]));
    return true;
}

// The first of the system's gaps that lies in this cell or behind it: they ascend by cell.
static int32_t first_gap(const mo_strain_world *w, int32_t cell)
{
    int32_t lo = 0, hi = w->l->gaps;
    while (lo < hi) {
        int32_t middle = (lo + hi) / 2;
        if (w->g->sites->gap[w->l->gap_at[middle]].cell < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static bool add_gaps(const divergence *d, mo_strain_row *out)
{
    const mo_grid *g = d->w->g;
    int32_t cell = mo_site_cell(g, d->row);
    for (int32_t k = first_gap(d->w, cell), end = first_gap(d->w, cell + 1); k < end; k++) {
        const mo_gap *gap = &g->sites->gap[d->w->l->gap_at[k]];
        if (gap->low != d->row && gap->high != d->row) continue;
        if (!add_gap(d, k, d->factor * (gap->low == d->row ? 1 : -1) * gap->area / g->dx, out)) return false;
    }
    return true;
}

static bool add_divergence(const mo_strain_world *w, int32_t row, int axis, double factor, mo_strain_row *out)
{
    divergence d = {w, row, axis, factor};
    if (!add_faces(&d, out) || !add_walls(&d, out)) return false;
    return !w->g->sites || !w->l->gaps || add_gaps(&d, out);
}

static bool diagonal_row(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out)
{
    const double least = 1e-6;
    mo_strain_start(out);
    if (w->row[s->at] < 0) return false;
    out->viscosity = mo_strain_viscosity(w, &s->at, 1);
    out->homes = 1, out->home[0] = s->at;
    out->weight = w->d->volume ? w->d->volume[s->at] : mo_site_volume(w->g, s->at);
    if (!(out->viscosity > 0) || !(out->weight > least)) return false;
    if (!add_divergence(w, s->at, s->component, 1, out)) return false;
    if (w->d->reduced && !add_divergence(w, s->at, w->axes - 1, -1, out)) return false;
    mo_strain_scale(out, mo_strain_wet(w, s->at));
    return !out->failed && out->count > 0;
}

// ---- Gaps ----

// The slope of w in a gap, in 1/dx: over a quarter of a cell. With 2 the drag of disks of 3 and 5 cells is 11% and 5%
// too small, with 4 it is 9% and 4%; without resistance it is 23% for 3 cells.
static const double steep = 4;

// w of a gap, relative to that of liquid which moves with the sheet.
static bool gap_row(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out)
{
    const mo_liquid_system *l = w->l;
    const mo_gap *gap = &w->g->sites->gap[l->gap_at[s->at]];
    divergence d = {.w = w, .row = gap->low};
    mo_vec3 x = mo_grid_world(w->g, gap->at[0], gap->at[1], gap->at[2]);
    mo_mover by;
    mo_strain_start(out);
    if (!wall_beside(&d, x, &by)) d.row = gap->high;
    if (d.row == gap->high && !wall_beside(&d, x, &by)) return false;
    out->homes = 2, out->home[0] = gap->low, out->home[1] = gap->high;
    out->viscosity = mo_strain_viscosity(w, out->home, 2);
    if (!(out->viscosity > 0)) return false;
    double value = steep * gap->area / w->g->dx;
    mo_strain_add_face(out, l->system.faces.count - l->gaps + s->at, value);
    for (int a = 0; a < w->axes; a++) mo_strain_add_move(out, &by, x, a, -value * gap->normal[a]);
    for (int64_t e = l->gap_mean.row[s->at]; e < l->gap_mean.row[s->at + 1]; e++) {
        int32_t code = l->face_at[l->gap_mean.col[e]];
        mo_vec3 place = mo_strain_place(w, mo_face_axis(code), mo_face_sample(code));
        mo_strain_add_move(out, &by, place, mo_face_axis(code), value * l->gap_mean.val[e]);
    }
    out->weight = gap->area;
    mo_strain_scale(out, 0.5 * (mo_strain_wet(w, gap->low) + mo_strain_wet(w, gap->high)));
    return !out->failed;
}

// ---- The list ----

bool mo_strain_row_find(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out)
{
    if (s->component == MO_STRAIN_GAP) return gap_row(w, s, out);
    return s->component < MO_STRESS_YZ ? diagonal_row(w, s, out) : mo_strain_edge_row(w, s, out);
}

static int32_t list_one(const mo_strain_world *w, mo_strain_site s, mo_strain_site *out)
{
    mo_strain_row row;
    if (!mo_strain_row_find(w, &s, &row)) return 0;
    if (out) *out = s;
    return 1;
}

static int32_t list_diagonal(const mo_strain_world *w, int32_t row, mo_strain_site *out)
{
    int32_t count = 0;
    if (w->row[row] < 0) return 0;
    for (int a = 0; a < w->axes - w->d->reduced; a++)
        count += list_one(w, (mo_strain_site){.at = row, .component = (int8_t)a}, out ? out + count : NULL);
    return count;
}

static int32_t list_edge(const mo_strain_world *w, int32_t cell, int component, mo_strain_site *out)
{
    int32_t count = 0;
    for (int group = 0, groups = mo_strain_edge_groups(w, cell, component); group < groups; group++)
        for (int8_t part = 0; part < 2; part++)
            count +=
                list_one(w, (mo_strain_site){cell, (int8_t)component, part, (int16_t)group}, out ? out + count : NULL);
    return count;
}

int32_t mo_strain_list(const mo_strain_world *w, int32_t tile, mo_strain_site *out)
{
    int32_t count = 0, first, end;
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        count += list_diagonal(w, i, out ? out + count : NULL);
        for (int kind = w->axes == 2 ? MO_STRESS_XY : MO_STRESS_YZ; kind <= MO_STRESS_XY; kind++)
            count += list_edge(w, i, kind, out ? out + count : NULL);
    }
    mo_sites_rows(w->g, tile, &first, &end);
    for (int32_t i = first; i < end; i++) count += list_diagonal(w, i, out ? out + count : NULL);
    if (!w->g->sites) return count;
    first = first_gap(w, tile * MO_TILE_CELLS), end = first_gap(w, (tile + 1) * MO_TILE_CELLS);
    for (int32_t k = first; k < end; k++)
        count += list_one(w, (mo_strain_site){.at = k, .component = MO_STRAIN_GAP}, out ? out + count : NULL);
    return count;
}
