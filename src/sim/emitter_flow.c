// How much an emitter lets in: its velocity through its cross-section.
//
// Particles enter by the shape itself. For the pressure an emitter consists of whole cells, those with their centres in
// the shape, whose cross-section is different: a slot 2.4 cells high has two or three. In liquid the velocity on their
// faces is scaled, so that the liquid makes room for exactly the volume that enters. A stream in the air needs no room:
// its cells at the surface are partly air, and it moves as a whole with the emitter's velocity. If it were scaled, a
// thread 6 cells wide would leave its nozzle 12% too slow, and be as much too thick. In between, at a nozzle that is
// wet on one side, the part of the cells beside it that is liquid counts.
#include "sim/sim.h"
#include <math.h>

static double distance_at(const mo_sim *sim, const mo_emitter_def *e, const double x[3])
{
    return mo_shape_distance(e->shape, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx;
}

// How often a line along the velocity, of length `way` from x (cells), enters the part of the shape inside the domain.
// The search advances by the distance to the shape's surface.
static int entries(const mo_sim *sim, const mo_emitter_def *e, const double x[3], const double direction[3], double way)
{
    const double least = 1.0 / 16;
    bool was = true;
    int count = 0;
    for (double s = 0; s <= way;) {
        double y[3] = {x[0] + s * direction[0], x[1] + s * direction[1], x[2] + s * direction[2]};
        double d = distance_at(sim, e, y);
        bool in = d < 0;
        for (int a = 0; a < 3; a++) in &= y[a] >= MO_MARGIN && y[a] < sim->grid->n[a] - MO_MARGIN;
        count += in && !was;
        was = in;
        s += fmax(fabs(d), least);
    }
    return count;
}

// The volume in cells that enters the shape for each cell that its liquid moves along the axis of the largest velocity.
// This is its cross-section, measured by parallel lines.
static double cross_section(const mo_sim *sim, const mo_emitter_def *e, int axis, const double direction[3])
{
    enum { LINES = 40000, FINEST = 256 }; // of all; per cell along an axis
    const bool flat = sim->cells[2] == 1;
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    int32_t lo[3], hi[3];
    mo_sim_cell_range(sim, mo_shape_bounds(e->shape), lo, hi);
    double slope[3], wide[3];
    for (int a = 0; a < 3; a++) slope[a] = direction[a] / direction[axis], wide[a] = hi[a] - lo[a] + 1;
    // Lines start a cell before the shape, and are long enough to cross it.
    double length = wide[axis] + 2, spread[3] = {0};
    for (int a = 0; a < 3; a++) spread[a] = fabs(slope[a]) * length;
    double columns = (flat && b == 2 ? 1 : wide[b] + 2 + spread[b]) * (flat && c == 2 ? 1 : wide[c] + 2 + spread[c]);
    int32_t fine = (int32_t)fmin(fmax(flat ? LINES / columns : sqrt(LINES / columns), 1), FINEST);
    int32_t many[3] = {0};
    for (int a = 0; a < 3; a++) many[a] = flat && a == 2 ? 1 : fine * (int32_t)ceil(wide[a] + 2 + spread[a]);
    int64_t sum = 0;
    for (int32_t j = 0; j < many[c]; j++)
        for (int32_t i = 0; i < many[b]; i++) {
            double x[3];
            x[axis] = direction[axis] > 0 ? lo[axis] - 1 : hi[axis] + 2;
            x[b] = lo[b] - 1 - fmax(slope[b] * (direction[axis] > 0 ? 1 : -1), 0) * length + (i + 0.5) / fine;
            x[c] = lo[c] - 1 - fmax(slope[c] * (direction[axis] > 0 ? 1 : -1), 0) * length + (j + 0.5) / fine;
            if (flat) x[2] = MO_MARGIN + 0.5;
            sum += entries(sim, e, x, direction, length / fabs(direction[axis]));
        }
    return (double)sum / (flat ? fine : fine * fine);
}

// Whether a cell lies beside the shape: near it, but neither in its stream nor behind it.
static bool is_beside(const mo_sim *sim, const mo_emitter_def *e, const int32_t c[3], const double direction[3])
{
    const double near = 0.5, far = 1.5, least = 1.0 / 16; // cells
    double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, d = distance_at(sim, e, x);
    if (!(d > near && d <= far)) return false;
    mo_vec3 size = mo_sub(mo_shape_bounds(e->shape).hi, mo_shape_bounds(e->shape).lo);
    double way = mo_norm(size) / sim->grid->dx + 2 * far;
    for (int sign = -1; sign <= 1; sign += 2)
        for (double s = 0; s <= way;) {
            double y[3] = {x[0] + sign * s * direction[0], x[1] + sign * s * direction[1],
                           x[2] + sign * s * direction[2]};
            d = distance_at(sim, e, y);
            if (d <= near) return false;
            s += fmax(d - near, least);
        }
    return true;
}

// The part of the open cells beside an emitter that is liquid; 1 if none is open.
static double wet_part(const mo_sim *sim, const mo_emitter_def *e, const double direction[3])
{
    int32_t lo[3], hi[3], c[3];
    int64_t wet = 0, all = 0;
    double dx = sim->grid->dx;
    mo_box3 box = mo_shape_bounds(e->shape);
    mo_vec3 around = mo_v3(2 * dx, 2 * dx, 2 * dx);
    mo_sim_cell_range(sim, (mo_box3){mo_sub(box.lo, around), mo_add(box.hi, around)}, lo, hi);
    for (c[2] = lo[2]; c[2] <= hi[2]; c[2]++)
        for (c[1] = lo[1]; c[1] <= hi[1]; c[1]++)
            for (c[0] = lo[0]; c[0] <= hi[0]; c[0]++) {
                int32_t i = mo_grid_index(sim->grid, c[0], c[1], c[2]);
                if ((i >= 0 && sim->openings.volume[i] <= 0) || !is_beside(sim, e, c, direction)) continue;
                all++, wet += i >= 0 && sim->level.phi[i] < 0;
            }
    return all ? (double)wet / (double)all : 1;
}

bool mo_sim_scale_flow(mo_sim *sim, int32_t emitter)
{
    mo_emitter_flow *f = &sim->flow[emitter];
    const mo_emitter_def *e = &sim->emitters[emitter];
    mo_vec3 v = mo_normalize(e->velocity);
    if (f->in_liquid == 1) return false;
    double scale = 1 + wet_part(sim, e, (double[3]){v.x, v.y, v.z}) * (f->in_liquid - 1);
    bool changed = scale != f->scale;
    f->scale = scale;
    return changed;
}

mo_emitter_flow mo_sim_find_flow(const mo_sim *sim, const mo_emitter_def *e)
{
    const double speed = mo_norm(e->velocity), v[3] = {e->velocity.x, e->velocity.y, e->velocity.z};
    if (!(speed > 0)) return (mo_emitter_flow){0, 1, 1};
    int axis = fabs(v[1]) > fabs(v[0]) ? 1 : 0;
    if (fabs(v[2]) > fabs(v[axis])) axis = 2;
    double direction[3] = {v[0] / speed, v[1] / speed, v[2] / speed};
    double volume = cross_section(sim, e, axis, direction) * fabs(v[axis]) / sim->grid->dx,
           of_cells = mo_sim_emitter_source(sim, e);
    double scale = volume > 0 && of_cells > 0 ? volume / of_cells : 1;
    return (mo_emitter_flow){volume, scale, scale};
}
