// The thickness of fixed and scripted solids, before the first step: liquid may pass solids that are thinner than a
// cell.
#include "sim/sim.h"
#include <math.h>

enum { MOST_SAMPLES = 4000 };

typedef struct thin_place {
    double thickness; // m
    mo_vec3 at;       // body frame
    int32_t count;    // of samples that are too thin
} thin_place;

static mo_vec3 normal_at(const mo_shape *shape, mo_vec3 x, double h)
{
    mo_vec3 g = {
        mo_shape_distance(shape, mo_v3(x.x + h, x.y, x.z)) - mo_shape_distance(shape, mo_v3(x.x - h, x.y, x.z)),
        mo_shape_distance(shape, mo_v3(x.x, x.y + h, x.z)) - mo_shape_distance(shape, mo_v3(x.x, x.y - h, x.z)),
        mo_shape_distance(shape, mo_v3(x.x, x.y, x.z + h)) - mo_shape_distance(shape, mo_v3(x.x, x.y, x.z - h))};
    return mo_normalize(g);
}

// The distance in metres from a point of the surface through the solid to its other side; INFINITY: more than `most`,
// or the other side is oblique, as at an edge that tapers off.
static double thickness_at(const mo_shape *shape, mo_vec3 x, mo_vec3 n, double most)
{
    enum { STEPS = 16, HALVINGS = 12 };
    const double opposite = -0.9; // cosine
    for (int k = 1; k <= STEPS; k++) {
        double hi = k * most / STEPS, lo = hi - most / STEPS;
        if (mo_shape_distance(shape, mo_mad(x, -hi, n)) <= 0) continue;
        for (int i = 0; i < HALVINGS; i++) {
            double mid = 0.5 * (lo + hi);
            *(mo_shape_distance(shape, mo_mad(x, -mid, n)) > 0 ? &hi : &lo) = mid;
        }
        mo_vec3 m = normal_at(shape, mo_mad(x, -hi, n), 1e-3 * most);
        return mo_dot(m, n) < opposite ? hi : INFINITY;
    }
    return INFINITY;
}

static thin_place find_thinnest(const mo_shape *shape, const mo_samples *samples, double enough)
{
    thin_place place = {.thickness = INFINITY};
    for (int32_t k = 0; k < samples->count; k++) {
        if (samples->kind[k] != MO_POINT_SMOOTH) continue;
        double t = thickness_at(shape, samples->point[k], samples->normal[k], enough);
        if (!(t < enough)) continue;
        place.count++;
        if (t < place.thickness) place.thickness = t, place.at = samples->point[k];
    }
    return place;
}

// Walls of exactly this thickness are thick enough; a few samples are not a wall.
static mo_status check(const mo_sim *sim, const mo_solid *s, mo_error *err)
{
    mo_samples samples = {0};
    double dx = sim->grid->dx, enough = (sim->viscous ? 2 : 1) * (1 - 1e-3) * dx;
    mo_status status = sim->cells[2] == 1 ? mo_samples_create_2d(s->shape, 0.5 * dx, MOST_SAMPLES, &samples, err)
                                          : mo_samples_create(s->shape, 0.5 * dx, MOST_SAMPLES, &samples, err);
    if (status != MO_OK) return mo_samples_destroy(&samples), status;
    thin_place place = find_thinnest(s->shape, &samples, enough);
    if (100 * place.count >= samples.count && place.count > 0) {
        mo_vec3 x = mo_pose_apply(s->pose, place.at);
        mo_log_write(&sim->log, MO_LOG_WARNING,
                     "%s '%s': only %.2g cells thick at (%.3g, %.3g, %.3g) m, and liquid may pass what is thinner than "
                     "%d: make it at least %.3g m thick, or the cells finer",
                     s->motion ? "moving" : "fixed", s->name, place.thickness / dx, x.x, x.y, x.z, sim->viscous ? 2 : 1,
                     (sim->viscous ? 2 : 1) * dx);
    }
    mo_samples_destroy(&samples);
    return MO_OK;
}

mo_status mo_sim_check_thickness(const mo_sim *sim, mo_error *err)
{
    if (!sim->def.liquid_count && !sim->def.emitter_count) return MO_OK;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!mo_solid_is_body(s) && isfinite(s->radius)) MO_TRY(check(sim, s, err));
    }
    return MO_OK;
}
