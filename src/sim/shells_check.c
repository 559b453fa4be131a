// How shells lie on the grid, before the first step: sheets that meet without being welded, or lie close along solids.
#include "base/parallel.h"
#include "grid/ghosts.h"
#include "sim/sim.h"
#include <math.h>

static const double near = 0.05; // cells

// The tiles that a sheet meets, and those round them.
static mo_status lay_tiles(mo_grid *g, const mo_sheet *s, mo_error *err)
{
    for (int32_t t = 0; t < s->triangles; t++) {
        int32_t lo[3], hi[3];
        for (int a = 0; a < 3; a++) {
            double x[3], origin = mo_get(g->origin, a), least, most;
            for (int k = 0; k < 3; k++) x[k] = (s->position[s->triangle[t][k]][a] - origin) / g->dx;
            least = fmin(x[0], fmin(x[1], x[2])), most = fmax(x[0], fmax(x[1], x[2]));
            lo[a] = (int32_t)floor(fmin(fmax(least, 0), g->n[a])) - 1;
            hi[a] = (int32_t)floor(fmin(fmax(most, 0), g->n[a])) + 1;
        }
        mo_grid_want(g, lo, hi);
    }
    return mo_grid_activate(g, err);
}

static mo_status measure_edges(const mo_sheet *s, mo_shell_quality *q, mo_error *err)
{
    mo_sheet_edges e;
    MO_TRY(mo_sheet_edges_create(s, &e, err));
    q->vertices = s->vertices, q->triangles = s->triangles, q->borders = e.borders, q->junctions = e.junctions;
    mo_sheet_edges_destroy(&e);
    return MO_OK;
}

static mo_status measure(const mo_sheet *s, const int32_t cells[3], double dx, mo_shell_form form, mo_shell_quality *q,
                         mo_error *err)
{
    mo_cut_info cut;
    mo_grid *g = NULL;
    *q = (mo_shell_quality){0};
    MO_TRY(measure_edges(s, q, err));
    MO_TRY(mo_sheet_loose(s, near * dx, &q->loose, &q->loose_place, err));
    MO_TRY(mo_grid_create(cells, dx, &g, err));
    mo_status status = lay_tiles(g, s, err);
    if (status == MO_OK) status = mo_cut(g, s, &cut, err);
    if (status == MO_OK) {
        int32_t first = 0, c[3];
        q->cells = cut.cells, q->sides = cut.sides, q->gaps = cut.gaps, q->pockets = cut.pockets;
        q->crossings = mo_cut_crossings(g, &first);
        mo_grid_cell(g, first, c);
        if (q->crossings) q->crossing_place = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    }
    if (status == MO_OK && form == MO_SHELLS_PAPER) {
        status = mo_ghosts_cut(g, s, &cut, err);
        q->cells = cut.cells, q->sides = cut.sides, q->gaps = q->pockets = 0;
    }
    mo_grid_destroy(g);
    return status;
}

mo_status mo_sim_shell_quality(const mo_sim_def *def, int32_t shell, mo_shell_quality *out, mo_error *err)
{
    *out = (mo_shell_quality){0};
    if (shell < -1 || shell >= def->shell_count) return mo_fail(err, MO_ERROR_INPUT, "there is no shell %d", shell);
    mo_use_threads(def->threads);
    mo_sim_def one = *def;
    one.cloth_count = 0;
    if (shell >= 0) one.shells = &def->shells[shell], one.shell_count = 1;
    MO_TRY(mo_shells_check(&one, err));
    mo_shells shells;
    mo_status status = mo_shells_create(&one, &shells, err);
    const double size[3] = {def->domain.size.x, def->domain.size.y, def->domain.size.z};
    double dx = fmax(size[0], fmax(size[1], size[2])) / def->domain.cells;
    int32_t cells[3];
    for (int a = 0; a < 3; a++) cells[a] = (int32_t)fmax(1, floor(size[a] / dx + 0.5));
    if (status == MO_OK && shells.count) status = measure(&shells.all, cells, dx, def->solver.shells, out, err);
    for (int32_t i = 0; i < shells.count; i++) out->mass += shells.shell[i].body.mass;
    mo_shells_destroy(&shells);
    return status;
}

static double solid_distance(const mo_solid_set *set, mo_vec3 x)
{
    double d = INFINITY;
    for (int32_t k = 0; k < set->count; k++) d = fmin(d, set->distance(set->user, k, x));
    return d;
}

// Whether a triangle lies along a solid, less than a cell away, without touching it.
static bool lies_along(const mo_solid_set *set, const mo_sheet *s, int32_t triangle, double dx, mo_vec3 *centre)
{
    const double along = 0.7; // cosine of the angle between both normals
    mo_vec3 x[3], slope = {0};
    for (int k = 0; k < 3; k++) {
        const double *p = s->position[s->triangle[triangle][k]];
        x[k] = mo_v3(p[0], p[1], p[2]);
    }
    *centre = mo_mul(1.0 / 3, mo_add(x[0], mo_add(x[1], x[2])));
    double d = solid_distance(set, *centre), h = 0.02 * dx;
    if (!(d > near * dx && d < dx)) return false;
    const mo_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < 3; a++) slope = mo_mad(slope, solid_distance(set, mo_mad(*centre, h, axis[a])) - d, axis[a]);
    mo_vec3 n = mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0]));
    return fabs(mo_dot(n, slope)) > along * mo_norm(n) * mo_norm(slope);
}

static void warn_of_solids(const mo_sim *sim)
{
    mo_solid_set set = mo_sim_solid_set(sim);
    mo_vec3 centre, first = {0};
    int32_t count = 0;
    for (int32_t t = 0; set.count && t < sim->shells.all.triangles; t++)
        if (lies_along(&set, &sim->shells.all, t, sim->grid->dx, &centre) && !count++) first = centre;
    if (count)
        mo_log_write(&sim->log, MO_LOG_WARNING,
                     "shells lie along solids less than a cell (%.3g m) away without touching them, with %d triangles, "
                     "the first at (%.3g, %.3g, %.3g) m: liquid between them is not resolved. Let them touch, or move "
                     "them apart",
                     sim->grid->dx, count, first.x, first.y, first.z);
}

mo_status mo_sim_check_shells(const mo_sim *sim, mo_error *err)
{
    const mo_shells *s = &sim->shells;
    mo_shell_quality q;
    if (!s->count) return MO_OK;
    MO_TRY(measure(&s->all, sim->cells, sim->grid->dx, MO_SHELLS_CUT, &q, err));
    if (q.crossings)
        mo_log_write(&sim->log, MO_LOG_WARNING,
                     "shells pass through each other or themselves, or touch without being welded, in %d cells, the "
                     "first at (%.3g, %.3g, %.3g) m: nothing flows there. weld(a, b) makes one sheet of two",
                     q.crossings, q.crossing_place.x, q.crossing_place.y, q.crossing_place.z);
    if (q.loose)
        mo_log_write(&sim->log, MO_LOG_WARNING,
                     "shells end %g cells or less before a sheet that they are not welded to, at %d vertices, the "
                     "first at (%.3g, %.3g, %.3g) m: weld(a, b) joins vertices there if edges agree",
                     near, q.loose, q.loose_place.x, q.loose_place.y, q.loose_place.z);
    warn_of_solids(sim);
    if (q.cells == 0) mo_log_write(&sim->log, MO_LOG_WARNING, "shells lie outside the domain");
    return MO_OK;
}
