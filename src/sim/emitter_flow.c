// How much an emitter lets in: its velocity through its cross-section.
//
// Particles enter by the shape itself. For the pressure an emitter consists of whole cells, those with their centres in
// the shape, whose cross-section is different: a slot 2.4 cells high has two or three. The velocity on their faces is
// scaled, so that the liquid makes room for exactly the volume that enters.
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

mo_emitter_flow mo_sim_find_flow(const mo_sim *sim, const mo_emitter_def *e)
{
    const double speed = mo_norm(e->velocity), v[3] = {e->velocity.x, e->velocity.y, e->velocity.z};
    if (!(speed > 0)) return (mo_emitter_flow){0, 1};
    int axis = fabs(v[1]) > fabs(v[0]) ? 1 : 0;
    if (fabs(v[2]) > fabs(v[axis])) axis = 2;
    double direction[3] = {v[0] / speed, v[1] / speed, v[2] / speed};
    double volume = cross_section(sim, e, axis, direction) * fabs(v[axis]) / sim->grid->dx,
           of_cells = mo_sim_emitter_source(sim, e);
    return (mo_emitter_flow){volume, volume > 0 && of_cells > 0 ? volume / of_cells : 1};
}
