// How the surface of the liquid starts: from the shapes of liquids, continued where these end at walls, solids and
// shells (docs/surface.md).
#include "fluid/levelset.h"
#include "grid/extrapolate.h"
#include "grid/meet.h"
#include "grid/reach.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static const double touching = 0.3; // cells: a face of a liquid's shape this near to a solid counts as lying on it

// Signed distance to the liquids' shapes, in cells; x in lattice coordinates.
static double liquid_distance(const mo_sim *sim, const double x[3])
{
    double d = MO_LEVELSET_BAND;
    for (int32_t i = 0; i < sim->def.liquid_count; i++)
        d = fmin(d,
                 mo_shape_distance(sim->liquids[i].shape, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    return fmax(d, -MO_LEVELSET_BAND);
}

// Distance to the nearest solid or closed wall, in cells, negative inside.
static double wall_distance(const mo_sim *sim, const double x[3])
{
    mo_solid_set set = mo_sim_solid_set(sim);
    double d = INFINITY;
    for (int32_t k = 0; k < set.count; k++)
        d = fmin(d, set.distance(set.user, k, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++) {
        if (!set.open_wall[2 * a]) d = fmin(d, x[a] - MO_MARGIN);
        if (!set.open_wall[2 * a + 1]) d = fmin(d, sim->grid->n[a] - MO_MARGIN - x[a]);
    }
    return d;
}

// The gradient of one of these distances, by differences of a tenth of a cell.
static void gradient_at(const mo_sim *sim, double (*distance)(const mo_sim *, const double[3]), const double x[3],
                        double n[3])
{
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (distance(sim, hi) - distance(sim, lo));
    }
}

// Unit normal of the liquids' shapes; false where they have none.
static bool normal_at(const mo_sim *sim, const double x[3], double n[3])
{
    gradient_at(sim, liquid_distance, x, n);
    double length = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

// Whether a face of the liquid's shape, through the point `at` with the normal n, comes out of the solids round it. The
// face is followed along itself to where they are further away. A face on the surface of a solid does not come out, nor
// does a face that is all inside it. A face that meets a solid at an angle is the surface of the liquid, even where it
// continues inside the solid.
static bool comes_out(const mo_sim *sim, const double at[3], const double n[3])
{
    enum { STEPS = 8 };
    // Slope of 10 degrees; cells: longest step, and largest distance from the face.
    const double along = 0.17, most = 2, off = 0.5;
    double y[3] = {at[0], at[1], at[2]}, m[3] = {n[0], n[1], n[2]};
    for (int step = 0; step < STEPS; step++) {
        double d = wall_distance(sim, y), up[3], across = 0, slope = 0;
        if (d > touching) return true;
        gradient_at(sim, wall_distance, y, up);
        for (int a = 0; a < 3; a++) across += up[a] * m[a];
        for (int a = 0; a < 3; a++) up[a] -= across * m[a], slope += up[a] * up[a];
        slope = sqrt(slope);
        if (slope < along) return false;
        for (int a = 0; a < 3; a++) y[a] += fmin((touching + 0.1 - d) / slope, most) * up[a] / slope;
        double phi = liquid_distance(sim, y);
        if (fabs(phi) > off || !normal_at(sim, y, m)) return false; // there the face ends
        for (int a = 0; a < 3; a++) y[a] -= phi * m[a];
    }
    return false;
}

// Whether the nearest face of the liquid's shape to x, at the distance phi, touches a wall or solid. Then it is not a
// surface, and the true distance is different. Such a face lies within `touching` of the solid, the solid gets deeper
// beyond it, and the face does not come out of the solid. n: gets the shape's outward normal.
static bool ends_at_wall(const mo_sim *sim, const double x[3], double phi, double n[3])
{
    const double deeper = -0.5; // slope of the solid's distance
    double at[3], beyond[3];
    if (!normal_at(sim, x, n)) return false;
    for (int a = 0; a < 3; a++) at[a] = x[a] - phi * n[a], beyond[a] = at[a] + 0.5 * n[a];
    double d = wall_distance(sim, at);
    return d <= touching && wall_distance(sim, beyond) - d < 0.5 * deeper && !comes_out(sim, at, n);
}

static void cell_centre(const mo_grid *g, int32_t index, double x[3])
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    for (int a = 0; a < 3; a++) x[a] = c[a] + 0.5;
}

static mo_vec3 world_at(const mo_sim *sim, const double x[3]) { return mo_grid_world(sim->grid, x[0], x[1], x[2]); }

// Signed distance to the shape of one liquid, in cells, and its unit normal; false where it has none.
static double one_distance(const mo_sim *sim, int32_t liquid, const double x[3])
{
    double d = mo_shape_distance(sim->liquids[liquid].shape, world_at(sim, x)) / sim->grid->dx;
    return fmin(fmax(d, -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
}
static bool one_normal(const mo_sim *sim, int32_t liquid, const double x[3], double n[3])
{
    double length = 0;
    for (int a = 0; a < 3; a++) {
        double lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        lo[a] -= 0.05, hi[a] += 0.05;
        n[a] = a == 2 && sim->cells[2] == 1 ? 0 : 10 * (one_distance(sim, liquid, hi) - one_distance(sim, liquid, lo));
        length += n[a] * n[a];
    }
    for (int a = 0; a < 3; a++) n[a] /= sqrt(length);
    return length > 0.04;
}

// Moves a place that lies less than a cell deep in solids out of them. False: it lies elsewhere, or does not come out.
static bool move_out(const mo_sim *sim, double x[3])
{
    enum { BOUNCES = 3 };    // out of corners
    const double gap = 0.06; // more than the differences of normals reach
    for (int k = 0; k < BOUNCES; k++) {
        double d = wall_distance(sim, x), n[3], square = 0;
        if (d >= 0) return k > 0;
        if (d < -1) return false;
        gradient_at(sim, wall_distance, x, n);
        for (int a = 0; a < 3; a++) square += n[a] * n[a];
        if (square < 0.25) return false;
        for (int a = 0; a < 3; a++) x[a] += (gap - d) * n[a] / square;
    }
    return wall_distance(sim, x) >= 0;
}

// Whether a face of a liquid's shape, at a place on it with the normal n, lies on a wall or solid.
static bool lies_on_wall(const mo_sim *sim, const double at[3], const double n[3])
{
    const double deeper = -0.5; // slope of the solid's distance
    double beyond[3], d = wall_distance(sim, at);
    for (int a = 0; a < 3; a++) beyond[a] = at[a] + 0.5 * n[a];
    return d <= touching && wall_distance(sim, beyond) - d < 0.5 * deeper;
}

// The distance to the shape of one liquid from a place x in a solid, where y is the same place moved out of it: that at
// y, continued as a plane. Where the surface meets the solid, the shape has an edge, and the distance from x to the
// edge is more than that to the surface. In a channel between blocks water at rest came to 1 cm/s by this.
static double distance_in_solid(const mo_sim *sim, int32_t liquid, const double x[3], const double y[3])
{
    double d = one_distance(sim, liquid, y), n[3], at[3];
    if (fabs(d) >= MO_LEVELSET_BAND || !one_normal(sim, liquid, y, n)) return one_distance(sim, liquid, x);
    for (int a = 0; a < 3; a++) at[a] = y[a] - d * n[a];
    if (lies_on_wall(sim, at, n)) return one_distance(sim, liquid, x);
    for (int a = 0; a < 3; a++) d += n[a] * (x[a] - y[a]);
    return d;
}

// A face of a liquid's shape that lies on a shell is not a surface, and the space behind the shell does not belong to
// the liquid: the line from there to the inside of the shape passes the shell. Where the face lies on a solid, the line
// ends at the face: beyond it, it may pass a shell that leans over the solid.
bool mo_sim_behind_shell(const mo_sim *sim, int32_t liquid, const double x[3])
{
    const double least = 0.02;
    double phi, n[3], in[3], at[3];
    if (!sim->shells.count || (phi = one_distance(sim, liquid, x)) < -touching) return false;
    double reach = (phi + 1) * sim->grid->dx;
    if (phi >= MO_LEVELSET_BAND || !(mo_sim_shell_distance(sim, world_at(sim, x), reach) < reach)) return false;
    if (!one_normal(sim, liquid, x, n)) return false;
    for (int a = 0; a < 3; a++) at[a] = x[a] - phi * n[a];
    double inside = lies_on_wall(sim, at, n) ? least : touching;
    if (phi < -inside) return false;
    for (int a = 0; a < 3; a++) in[a] = x[a] - (phi + inside) * n[a];
    return mo_sim_shell_between(sim, world_at(sim, x), world_at(sim, in));
}

// Whether the face of a liquid's shape that is nearest to x lies on a shell.
static bool ends_at_shell(const mo_sim *sim, int32_t liquid, const double x[3], double phi)
{
    double n[3], in[3], out[3];
    if (fabs(phi) >= MO_LEVELSET_BAND || !one_normal(sim, liquid, x, n)) return false;
    for (int a = 0; a < 3; a++) in[a] = x[a] - (phi + touching) * n[a], out[a] = in[a] + 2 * touching * n[a];
    return mo_sim_shell_between(sim, world_at(sim, in), world_at(sim, out));
}

// The liquid whose shape is nearest to x.
static int32_t nearest_liquid(const mo_sim *sim, const double x[3])
{
    int32_t nearest = 0;
    for (int32_t i = 1; i < sim->def.liquid_count; i++)
        if (one_distance(sim, i, x) < one_distance(sim, nearest, x)) nearest = i;
    return nearest;
}

static bool held_by_wall(const mo_sim *sim, int32_t index, double phi)
{
    double x[3], n[3];
    if (fabs(phi) >= MO_LEVELSET_BAND || (phi >= 0 && sim->openings.distance[index] >= 0)) return false;
    if (sim->openings.distance[index] - fabs(phi) > touching) return false; // no solid is that near
    cell_centre(sim->grid, index, x);
    return ends_at_wall(sim, x, phi, n);
}

// The distance of a held cell from the surface of a film on the wall, if all cells of the film are held. A little
// further from the wall, the nearest face of the shape is that surface; from there it is continued as a plane.
// -MO_LEVELSET_BAND: there is no film, the liquid is deep.
static double film_distance(const mo_sim *sim, int32_t index)
{
    double x[3], n[3];
    cell_centre(sim->grid, index, x);
    if (!normal_at(sim, x, n)) return -MO_LEVELSET_BAND;
    for (int step = 1; step <= 4; step++) {
        double y[3], m[3], t = 0.25 * step; // half a film of two cells
        for (int a = 0; a < 3; a++) y[a] = x[a] - t * n[a];
        double phi = liquid_distance(sim, y);
        if (phi >= 0) return -MO_LEVELSET_BAND;
        if (!ends_at_wall(sim, y, phi, m) && !ends_at_shell(sim, nearest_liquid(sim, y), y, phi) &&
            normal_at(sim, y, m))
            return phi + t * (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]);
    }
    return -MO_LEVELSET_BAND;
}

// Whether a row beside has known = 1, where sheets are.
static bool told_by_row(const mo_sim *sim, int32_t row, const uint8_t *known)
{
    const mo_row_sample *list;
    for (int k = 0, count = mo_sites_of_row(sim->grid, row, &list); k < count; k++) {
        int32_t i = list[k].sample, a = list[k].axis,
                n = list[k].side ? mo_sample_high(sim->grid, a, i) : mo_sample_low(sim->grid, a, i);
        if (n >= 0 && known[n] == 1 && sim->openings.area[a][i] > 0) return true;
    }
    return false;
}

// Finds the cells from which held cells take their distances: liquid and the air above it, not the other side of a
// solid. known: 1 = such a cell, 2 = not such a cell, 0 = held. bytes: a byte field.
static void find_tellers(const mo_sim *sim, const float *phi, const uint8_t *held, uint8_t *known, uint8_t *bytes)
{
    enum { LAYERS = 6 }; // of air: along walls, where linear extrapolation needs two cells behind one
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, mo_site_cell(g, i), c);
        known[i] = held[i] ? 0 : phi[i] < 0 && mo_levelset_in_domain(g, c) ? 1 : 2;
    }
    for (int layer = 0; layer < LAYERS; layer++) {
        memcpy(bytes, known, (size_t)mo_grid_fields(g));
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < mo_grid_rows(g); i++) {
            bool reached = false;
            if (mo_site_is_cut(g, i)) {
                if (bytes[i] == 2 && o->distance[i] >= 0 && told_by_row(sim, i, bytes)) known[i] = 1;
                continue;
            }
            for (int e = 0; e < 6 && bytes[i] == 2 && o->distance[i] >= 0 && !reached; e++) {
                int32_t n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1);
                reached = n >= 0 && bytes[n] == 1 && o->area[e >> 1][e & 1 ? n : i] > 0;
            }
            if (reached) known[i] = 1;
        }
    }
}

// The same for rows near shells. A row behind a shell is dry, whatever the shape says.
static void start_near_shells(const mo_sim *sim, float *phi, float *shape, uint8_t *held)
{
    const mo_reach *r = mo_reach_of(sim->grid);
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t i = r->row[k], c[3];
        double x[3], at[3], out[3];
        mo_grid_cell(sim->grid, mo_site_cell(sim->grid, i), c);
        phi[i] = shape[i] = MO_LEVELSET_BAND, held[i] = 0;
        if (!mo_levelset_in_domain(sim->grid, c)) continue;
        for (int a = 0; a < 3; a++) x[a] = at[a] = out[a] = c[a] + 0.5;
        mo_site_place(sim->grid, i, at);
        bool moved = move_out(sim, out);
        for (int32_t n = 0; n < sim->def.liquid_count; n++) {
            float d = (float)(moved ? distance_in_solid(sim, n, x, out) : one_distance(sim, n, x));
            if (d >= phi[i] || mo_sim_behind_shell(sim, n, at)) continue;
            phi[i] = shape[i] = d;
            held[i] = held_by_wall(sim, mo_site_cell(sim->grid, i), d) ||
                      (moved ? ends_at_shell(sim, n, out, one_distance(sim, n, out)) : ends_at_shell(sim, n, x, d));
        }
    }
}

// The distance of a cell whose centre lies in a solid, if the shapes tell phi.
static float start_in_solid(const mo_sim *sim, int32_t index, float phi)
{
    const double least = 1e-4; // smaller differences are rounding
    double x[3], y[3], d = phi;
    if (phi < 0 || phi >= MO_LEVELSET_BAND || sim->openings.distance[index] >= 0) return phi;
    cell_centre(sim->grid, index, x), cell_centre(sim->grid, index, y);
    if (!move_out(sim, y)) return phi;
    for (int32_t n = 0; n < sim->def.liquid_count; n++) d = fmin(d, distance_in_solid(sim, n, x, y));
    return d < phi - least ? (float)d : phi;
}

// The distances of the shapes; where they end at walls, the surface of the open part is continued.
mo_status mo_sim_level_from_shapes(mo_sim *sim, float *phi, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    int32_t cells = (int32_t)mo_grid_cells(g);
    enum { told = 3 }; // layers of cells round the open surface; held cells further away are deep
    uint8_t *known, *held;
    float *shape = scratch->field[1];
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &known, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &held, err));
    for (int32_t i = 0; i < cells; i++) { // only one thread may call shapes
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool in = mo_levelset_in_domain(g, c);
        double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        phi[i] = shape[i] = in ? (float)liquid_distance(sim, x) : MO_LEVELSET_BAND;
        held[i] = in && held_by_wall(sim, i, phi[i]);
        if (in && !held[i]) phi[i] = shape[i] = start_in_solid(sim, i, phi[i]);
    }
    start_near_shells(sim, phi, shape, held);
    find_tellers(sim, phi, held, known, scratch->bytes);
    mo_extrapolate(g, MO_SITE_ROW, phi, known, told, told, scratch->field[0], scratch->bytes);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        if (!known[i]) phi[i] = (float)film_distance(sim, mo_site_cell(g, i));
        if (held[i] && shape[i] < 0) phi[i] = mo_minf(phi[i], shape[i]); // the rest of the surface is not nearer
        phi[i] = mo_minf(mo_maxf(phi[i], -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
    }
    return MO_OK;
}
