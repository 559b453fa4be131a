// Emitters: liquid that enters the domain through a shape with a given velocity.
//
// For the pressure an emitter is a boundary: faces inside its shape have the emitter's velocity, or none on its
// upstream side, so that it is a source even under water. Particles enter on a lattice that drifts with that velocity.
// The faces let in as much as the particles bring (emitter_flow.c).
#include "base/parallel.h"
#include "fluid/levelset.h"
#include "sim/sim.h"
#include <math.h>

static mo_vec3 world_of(const mo_sim *sim, const double x[3]) { return mo_grid_world(sim->grid, x[0], x[1], x[2]); }

// If the shape sticks out of the domain, only the part inside counts: liquid enters at the wall.
static bool in_domain(const mo_sim *sim, const double x[3])
{
    bool in = true;
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++)
        in &= x[a] >= MO_MARGIN && x[a] < sim->grid->n[a] - MO_MARGIN;
    return in;
}

static bool holds_cell(const mo_sim *sim, const mo_emitter_def *e, const int32_t c[3])
{
    return in_domain(sim, (double[3]){c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}) &&
           mo_shape_distance(e->shape, mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5)) < 0;
}

// Faces on the shape's own sides do not belong to it, whatever the rounding error is.
static bool holds_face(const mo_sim *sim, const mo_emitter_def *e, const int32_t c[3], int axis)
{
    double at[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
    at[axis] -= 0.5;
    bool wall = at[axis] <= MO_MARGIN || at[axis] >= sim->grid->n[axis] - MO_MARGIN;
    return !wall && mo_shape_distance(e->shape, world_of(sim, at)) < -1e-6 * sim->grid->dx;
}

// Whether the low face of cell c belongs to the emitter, and the velocity that it gets. Faces in the shape belong to
// it, and those at which its cells end upstream and sideways. If these were open, the liquid that leaves downstream
// would come in through them, and the emitter would not be a source under water.
static bool prescribes(const mo_sim *sim, const mo_emitter_def *e, const int32_t c[3], int axis, float *velocity)
{
    double v = mo_get(e->velocity, axis);
    int32_t below[3] = {c[0], c[1], c[2]};
    below[axis]--;
    bool low = holds_cell(sim, e, below), high = holds_cell(sim, e, c), fed = v > 0 ? low : v < 0 && high;
    *velocity = fed ? (float)v : 0;
    return holds_face(sim, e, c, axis) || (low != high && !fed);
}

// The flow through the faces of a cell into it, cells/s; 0 if there is no other face through which it leaves again.
static double source_of(const mo_sim *sim, const mo_emitter_def *e, const int32_t c[3])
{
    double sum = 0;
    bool leaves = false;
    for (int side = 0; side < (sim->cells[2] == 1 ? 4 : 6); side++) {
        int32_t at[3] = {c[0], c[1], c[2]}, axis = side / 2, high = side & 1, last = sim->grid->n[axis] - MO_MARGIN;
        float v;
        at[axis] += high;
        if (prescribes(sim, e, at, axis, &v))
            sum += high ? -v : v;
        else
            leaves |= at[axis] > MO_MARGIN && at[axis] < last; // no face of a wall
    }
    return leaves ? sum / sim->grid->dx : 0;
}

double mo_sim_emitter_source(const mo_sim *sim, const mo_emitter_def *e)
{
    int32_t lo[3], hi[3], c[3];
    double sum = 0, dx = sim->grid->dx;
    mo_box3 box = mo_shape_bounds(e->shape);
    mo_vec3 around = mo_v3(dx, dx, dx);
    mo_sim_cell_range(sim, (mo_box3){mo_sub(box.lo, around), mo_add(box.hi, around)}, lo, hi);
    for (c[2] = lo[2]; c[2] <= hi[2]; c[2]++)
        for (c[1] = lo[1]; c[1] <= hi[1]; c[1]++)
            for (c[0] = lo[0]; c[0] <= hi[0]; c[0]++) sum += source_of(sim, e, c);
    return sum;
}

static float scaled(const mo_sim *sim, const mo_emitter_def *e, float v)
{
    return (float)sim->flow[e - sim->emitters].scale * v;
}

typedef struct target { // what a visit changes
    float *const *u, *const *area, *const *flux;
    uint8_t *const *valid, *phase;
} target;

typedef void (*visit_fn)(const mo_sim *sim, const target *t, const mo_emitter_def *e, const int32_t c[3],
                         int32_t index);

// Visits the grid's cells that may touch an active emitter, one more all around.
static void visit_cells(const mo_sim *sim, double time, visit_fn visit, const target *t)
{
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        const mo_emitter_def *e = &sim->emitters[i];
        int32_t lo[3], hi[3], c[3];
        if (!mo_sim_emitter_active(sim, i, time)) continue;
        mo_sim_cell_range(sim, mo_shape_bounds(e->shape), lo, hi);
        for (c[2] = lo[2] - 1; c[2] <= hi[2] + 1; c[2]++)
            for (c[1] = lo[1] - 1; c[1] <= hi[1] + 1; c[1]++)
                for (c[0] = lo[0] - 1; c[0] <= hi[0] + 1; c[0]++) {
                    int32_t index = mo_grid_index(sim->grid, c[0], c[1], c[2]);
                    if (index >= 0) visit(sim, t, e, c, index);
                }
    }
}

static void close_faces(const mo_sim *sim, const target *t, const mo_emitter_def *e, const int32_t c[3], int32_t index)
{
    float v;
    for (int a = 0; a < 3; a++)
        if (t->area[a][index] > 0 && prescribes(sim, e, c, a, &v)) {
            t->flux[a][index] += t->area[a][index] * scaled(sim, e, v);
            t->area[a][index] = 0;
        }
}

static void fix_velocities(const mo_sim *sim, const target *t, const mo_emitter_def *e, const int32_t c[3],
                           int32_t index)
{
    float v;
    for (int a = 0; a < 3; a++)
        if (sim->openings.area[a][index] <= 0 && t->valid[a][index] != 2 && prescribes(sim, e, c, a, &v))
            t->u[a][index] = (float)mo_get(e->velocity, a), t->valid[a][index] = 2;
    // It moves with the emitter, although it has no pressure.
    if (holds_cell(sim, e, c)) t->phase[index] = MO_PHASE_LIQUID;
}

// The velocity of a whole face, of which solids cover a part: liquid enters through the rest only. If it entered
// through all of it, it would have to leave by the other faces of the cell, which the solid may leave open by next to
// nothing: the solve once had 29 km/s there.
static float through(const mo_sim *sim, const int32_t c[3], int axis, int32_t index, float v)
{
    float open = sim->weights.fluid[MO_SAMPLE_FACE + axis][index];
    bool wall = c[axis] == MO_MARGIN || c[axis] == sim->grid->n[axis] - MO_MARGIN;
    if (wall || open >= 1) return v;
    double at[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
    at[axis] -= 0.5;
    float solid = sim->moving ? (float)mo_get(mo_sim_nearest_velocity(sim, world_of(sim, at)), axis) : 0;
    return open * v + (1 - open) * solid;
}

static void prescribe(const mo_sim *sim, const target *t, const mo_emitter_def *e, const int32_t c[3], int32_t index)
{
    float v;
    for (int a = 0; a < 3; a++)
        if (prescribes(sim, e, c, a, &v))
            t->u[a][index] = through(sim, c, a, index, scaled(sim, e, v)), t->valid[a][index] = 1;
}

// Displacements vanish in an emitter and a cell around it: its liquid is evenly spread already, a plug that only
// drifts.
static void hold(const mo_sim *sim, const target *t, const mo_emitter_def *e, const int32_t c[3], int32_t index)
{
    for (int a = 0; a < 3; a++) {
        double at[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        at[a] -= 0.5;
        if (mo_shape_distance(e->shape, world_of(sim, at)) < sim->grid->dx) t->u[a][index] = 0, t->valid[a][index] = 1;
    }
}

void mo_sim_emitter_openings(mo_sim *sim, double time)
{
    visit_cells(sim, time, close_faces, &(target){.area = sim->openings.area, .flux = sim->openings.flux});
}

void mo_sim_emitter_prescribe(const mo_sim *sim, double time, const mo_faces *faces)
{
    visit_cells(sim, time, prescribe, &(target){.u = faces->u, .valid = faces->valid});
}

void mo_sim_emitter_velocities(const mo_sim *sim, double time, const mo_faces *faces, uint8_t *phase)
{
    visit_cells(sim, time, fix_velocities, &(target){.u = faces->u, .valid = faces->valid, .phase = phase});
}

void mo_sim_emitter_hold(const mo_sim *sim, double time, const mo_faces *faces)
{
    visit_cells(sim, time, hold, &(target){.u = faces->u, .valid = faces->valid});
}

static bool holds_particle(const mo_sim *sim, const mo_emitter_def *e, int32_t q)
{
    const mo_particles *p = &sim->particles;
    mo_box3 box = mo_shape_bounds(e->shape);
    mo_vec3 x = mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
    if (x.x < box.lo.x || x.x > box.hi.x || x.y < box.lo.y || x.y > box.hi.y) return false;
    if (sim->cells[2] > 1 && (x.z < box.lo.z || x.z > box.hi.z)) return false;
    return mo_shape_distance(e->shape, x) < 0;
}

// Liquid inside the emitter has its velocity.
static void drive(mo_sim *sim, const mo_emitter_def *e)
{
    mo_particles *p = &sim->particles;
    float v[3] = {(float)e->velocity.x, (float)e->velocity.y, (float)e->velocity.z};
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) {
        if (!holds_particle(sim, e, q)) continue;
        for (int a = 0; a < 3; a++) {
            p->v[a][q] = v[a];
            for (int b = 0; b < 3; b++) p->c[a][b][q] = 0;
        }
    }
}

// The part of a particle's momentum along an axis that the system does not contain: trilinear weights as for its
// velocity, times the part of the particles' mass at a face that is not in the system's mass.
static double unknown_part(const mo_sim *sim, const mo_balance *b, int axis, int32_t q)
{
    const mo_particles *p = &sim->particles;
    int32_t low[3];
    double f[3], part = 1;
    for (int a = 0; a < 3; a++) {
        double at = p->x[a][q] - (a == axis ? 0 : 0.5);
        low[a] = (int32_t)floor(at), f[a] = at - low[a];
    }
    for (int k = 0; k < 8; k++) {
        int32_t i = mo_grid_index(sim->grid, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
        if (i < 0 || b->system[axis][i] <= 0) continue;
        double weight = (k & 1 ? f[0] : 1 - f[0]) * (k & 2 ? f[1] : 1 - f[1]) * (k & 4 ? f[2] : 1 - f[2]);
        part -= weight * mo_minf(b->system[axis][i] / b->particles[axis][i], 1);
    }
    return part;
}

// The work, per second and density, that gravity would do on a particle in an emitter and that the emitter prevents.
// For liquid in the system the solve accounts for gravity. Pieces without pressure fall, even inside an emitter.
static double held_back(const mo_sim *sim, const mo_emitter_def *e, const uint8_t *phase, const mo_balance *b,
                        int32_t q)
{
    const mo_particles *p = &sim->particles;
    int32_t c[3] = {(int32_t)p->x[0][q], (int32_t)p->x[1][q], (int32_t)p->x[2][q]};
    int32_t cell = mo_grid_index(sim->grid, c[0], c[1], c[2]);
    bool swims = cell >= 0 && (phase[cell] == MO_PHASE_LIQUID || phase[cell] == MO_PHASE_SLAVED);
    double power = 0;
    if (!swims && !holds_cell(sim, e, c)) return 0;
    for (int a = 0; a < 3; a++) {
        double along = mo_get(sim->def.gravity, a) * mo_get(e->velocity, a);
        if (along != 0) power += along * unknown_part(sim, b, a, q);
    }
    return power * p->volume[q];
}

// Liquid that an emitter carries keeps the emitter's velocity against gravity.
double mo_sim_emitter_lift(const mo_sim *sim, const uint8_t *phase, const mo_balance *b, double dt)
{
    double work = 0;
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        const mo_emitter_def *e = &sim->emitters[i];
        if (!mo_sim_emitter_active(sim, i, sim->time)) continue;
        for (int32_t q = 0; q < sim->particles.count; q++)
            if (holds_particle(sim, e, q)) work -= held_back(sim, e, phase, b, q);
    }
    return work * dt * sim->density * mo_grid_cell_volume(sim->grid);
}

// Whether a point that comes to x along `way` (cells) is in the shape at some moment and was not at first, unless the
// emitter fills its shape. The path is sampled every half sub-cell, because an emitter may be thinner than the path of
// one step.
static bool enters(const mo_sim *sim, const mo_emitter_def *e, const double x[3], const double way[3], int32_t samples,
                   bool fill)
{
    bool in = false;
    for (int32_t k = samples; k >= 0 && !in; k--) {
        double t = (double)k / samples, y[3] = {x[0] - t * way[0], x[1] - t * way[1], x[2] - t * way[2]};
        in = in_domain(sim, y) && mo_shape_distance(e->shape, world_of(sim, y)) < 0;
        if (in && k == samples && !fill) return false;
    }
    return in;
}

// Whether a point of the lattice at x would meet a solid before it leaves the shape. Its liquid could not flow on,
// because all liquid in the shape has the emitter's velocity.
static bool blocked(const mo_sim *sim, const mo_emitter_def *e, const double x[3])
{
    mo_vec3 step = mo_mul(0.25 * sim->grid->dx / mo_norm(e->velocity), e->velocity), at = world_of(sim, x);
    if (mo_sim_inside_solid(sim, at)) return true;
    for (; mo_shape_distance(e->shape, at) < 0; at = mo_add(at, step)) // shapes of emitters are bounded
        if (mo_sim_inside_solid(sim, at)) return true;
    return false;
}

// A lattice of sub-cells drifts with the emitter's velocity; its points that enter the shape between two moments become
// particles, so that the flow through the shape is the velocity times its cross-section and the spacing stays even.
// Places that are liquid already when an emitter starts are not filled again.
static mo_status enter(mo_sim *sim, int32_t emitter, double from, double to, bool fill, mo_error *err)
{
    MO_ASSERT(emitter >= 0 && emitter < sim->def.emitter_count);
    const mo_emitter_def *e = &sim->emitters[emitter];
    int32_t lo[3], hi[3], m = sim->def.particles_per_axis, samples = 1;
    double drift[3], way[3];
    int64_t first[3], last[3];
    mo_sim_cell_range(sim, mo_shape_bounds(e->shape), lo, hi);
    for (int a = 0; a < 3; a++) {
        drift[a] = mo_get(e->velocity, a) * (to - e->start) / sim->grid->dx;
        way[a] = mo_get(e->velocity, a) * (to - from) / sim->grid->dx;
        samples += (int32_t)ceil(2 * m * fabs(way[a]));
        first[a] = (int64_t)floor((lo[a] + fmin(way[a], 0) - drift[a]) * m) - 1;
        last[a] = (int64_t)ceil((hi[a] + 1 + fmax(way[a], 0) - drift[a]) * m) + 1;
    }
    if (sim->cells[2] == 1) first[2] = last[2] = MO_MARGIN * m;
    for (int64_t c = first[2]; c <= last[2]; c++)
        for (int64_t b = first[1]; b <= last[1]; b++)
            for (int64_t a = first[0]; a <= last[0]; a++) {
                double x[3];
                mo_sim_jittered(sim, a, b, c, x);
                for (int d = 0; d < 3; d++) x[d] += drift[d];
                if (!in_domain(sim, x) || !enters(sim, e, x, way, samples, fill)) continue;
                if (fill && mo_levelset_at(sim->grid, sim->level.phi, x) < 0) continue;
                if (fill ? !mo_sim_inside_solid(sim, world_of(sim, x)) : !blocked(sim, e, x))
                    MO_TRY(mo_sim_add_particle(sim, sim->def.liquid_count + emitter, x, e->velocity, err));
            }
    return MO_OK;
}

// Emits for the time from .. to; when it starts, an emitter fills its shape.
mo_status mo_sim_emit(mo_sim *sim, double from, double to, mo_error *err)
{
    MO_ASSERT(from <= to);
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        const mo_emitter_def *e = &sim->emitters[i];
        double end = e->start + e->seconds;
        if (to < e->start || from >= end || sim->stalled[i]) continue;
        bool starts = from < e->start;
        drive(sim, e);
        MO_TRY(enter(sim, i, starts ? e->start : from, fmin(to, end), starts, err));
    }
    return MO_OK;
}
