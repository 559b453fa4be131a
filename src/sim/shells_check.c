// How shells lie on the grid, before the first step: sheets that meet without being welded.
#include "base/parallel.h"
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

static mo_status measure(const mo_sheet *s, const int32_t cells[3], double dx, mo_shell_quality *q, mo_error *err)
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
    mo_grid_destroy(g);
    return status;
}

mo_status mo_sim_shell_quality(const mo_sim_def *def, int32_t shell, mo_shell_quality *out, mo_error *err)
{
    *out = (mo_shell_quality){0};
    if (shell < -1 || shell >= def->shell_count) return mo_fail(err, MO_ERROR_INPUT, "there is no shell %d", shell);
    mo_use_threads(def->threads);
    mo_sim_def one = *def;
    if (shell >= 0) one.shells = &def->shells[shell], one.shell_count = 1;
    MO_TRY(mo_shells_check(&one, err));
    mo_shells shells;
    mo_status status = mo_shells_create(&one, &shells, err);
    const double size[3] = {def->domain.size.x, def->domain.size.y, def->domain.size.z};
    double dx = fmax(size[0], fmax(size[1], size[2])) / def->domain.cells;
    int32_t cells[3];
    for (int a = 0; a < 3; a++) cells[a] = (int32_t)fmax(1, floor(size[a] / dx + 0.5));
    if (status == MO_OK && shells.count) status = measure(&shells.all, cells, dx, out, err);
    mo_shells_destroy(&shells);
    return status;
}

mo_status mo_sim_check_shells(const mo_sim *sim, mo_error *err)
{
    const mo_shells *s = &sim->shells;
    mo_shell_quality q;
    if (!s->count) return MO_OK;
    MO_TRY(measure(&s->all, sim->cells, sim->grid->dx, &q, err));
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
    if (q.cells == 0) mo_log_write(&sim->log, MO_LOG_WARNING, "shells lie outside the domain");
    return MO_OK;
}
