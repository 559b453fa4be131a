// Checks of bodies before the first step: they must not be outside the domain, inside one another, or too thin to
// separate the liquid on their two sides.
#include "sim/sim.h"
#include <stdlib.h>

static const double thick_enough = 2; // cells
static const double most_overlap = 1; // cells

static bool in_domain(const mo_sim *sim, mo_vec3 x)
{
    for (int a = 0; a < 3; a++)
        if (!(sim->cells[a] == 1 || (mo_get(x, a) > 0 && mo_get(x, a) < sim->cells[a] * sim->grid->dx))) return false;
    return true;
}

static mo_status check_place(const mo_sim *sim, const mo_solid *s, mo_error *err)
{
    const mo_samples *samples = &sim->solids[s->twin].samples;
    for (int32_t k = 0; k < samples->count; k++)
        if (in_domain(sim, mo_pose_apply(s->pose, samples->point[k]))) return MO_OK;
    mo_vec3 x = s->pose.position;
    return mo_fail(err, MO_ERROR_INPUT, "%s '%s': lies outside the domain, at (%g, %g, %g) m", mo_solid_kind(s),
                   s->name, x.x, x.y, x.z);
}

static bool is_cloth(const mo_sim *sim, int32_t solid)
{
    return solid < sim->solid_count && sim->solids[solid].elastic && sim->solids[solid].elastic->body.cloth;
}

// Cloth has no inside, so nothing may cross its triangles.
static mo_status check_cloth(const mo_sim *sim, const mo_contact *c, mo_error *err)
{
    bool first = is_cloth(sim, c->a);
    const mo_solid *cloth = &sim->solids[first ? c->a : c->b];
    int32_t other = first ? c->b : c->a;
    if (is_cloth(sim, other) || !(c->gap < -0.5 * cloth->elastic->drape.thickness)) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT,
                   "cloth '%s': goes through %s%s%s at the start, at (%.3g, %.3g, %.3g) m: move it", cloth->name,
                   other < sim->solid_count ? "'" : "a wall of the domain",
                   other < sim->solid_count ? sim->solids[other].name : "", other < sim->solid_count ? "'" : "",
                   c->point.x, c->point.y, c->point.z);
}

static mo_status check_overlap(const mo_sim *sim, const mo_contact *c, mo_error *err)
{
    static const char *const wall[] = {"x = 0", "the far x", "y = 0", "the far y", "z = 0", "the far z"};
    double depth = -c->gap;
    if (is_cloth(sim, c->a) || is_cloth(sim, c->b)) return check_cloth(sim, c, err);
    if (!(depth > most_overlap * sim->grid->dx)) return MO_OK;
    bool wall_is_b = c->b >= sim->solid_count, first = wall_is_b || mo_solid_is_body(&sim->solids[c->a]);
    const mo_solid *a = &sim->solids[first ? c->a : c->b], *b = &sim->solids[first ? c->b : c->a];
    const char *kind = mo_solid_kind(a);
    if (!wall_is_b)
        return mo_fail(err, MO_ERROR_INPUT, "%s '%s': lies %.3g m deep in '%s' at the start: move them apart", kind,
                       a->name, depth, b->name);
    int axis = fabs(c->normal.x) > 0.5 ? 0 : fabs(c->normal.y) > 0.5 ? 1 : 2;
    return mo_fail(err, MO_ERROR_INPUT,
                   "%s '%s': reaches %.3g m through the domain's wall at %s: move it, or let bodies pass the walls "
                   "with domain { contact = false }",
                   kind, a->name, depth, wall[2 * axis + (mo_get(c->normal, axis) < 0)]);
}

// The distance in metres from a point of the surface through the solid to its other side; 0: more than `most`. All
// places are in the world.
static double thickness_at(const mo_solid *s, mo_vec3 x, mo_vec3 n, double most)
{
    enum { STEPS = 16 };
    for (int k = 1; k <= STEPS; k++)
        if (mo_solid_distance_at(s, mo_mad(x, -k * most / STEPS, n)) > 1e-6 * most) return k * most / STEPS;
    return 0;
}

// Lists the thickness of a body where it is thin; *all: how many places were examined. Edges taper off and do not
// count.
static int32_t thin_samples(const mo_solid *s, double most, double *thin, int32_t *all)
{
    const mo_samples *samples = &s->samples;
    int32_t count = 0;
    for (int32_t k = 0; k < samples->count; k++) {
        if (samples->kind[k] != MO_POINT_SMOOTH) continue;
        double t = thickness_at(s, mo_pose_apply(s->pose, samples->point[k]),
                                mo_quat_rotate(s->pose.rotation, samples->normal[k]), most);
        ++*all;
        if (t > 0) thin[count++] = t;
    }
    return count;
}

static int32_t thin_faces(const mo_solid *s, double most, double *thin, int32_t *all)
{
    const mo_elastic_surface *surface = &s->elastic->surface;
    int32_t count = 0, d = surface->dimension;
    for (*all = 0; *all < surface->faces; ++*all) {
        mo_vec3 x = {0, 0, 0};
        for (int k = 0; k < d; k++)
            x = mo_mad(x, 1.0 / d, *mo_surface_corner(surface, s->elastic->body.position, *all, k));
        double t = thickness_at(s, x, surface->face_normal[*all], most);
        if (t > 0 && t < most) thin[count++] = t; // faces of round bodies are chords
    }
    return count;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Warns of a wall that is thin over a tenth of the surface.
static mo_status check_thickness(const mo_sim *sim, const mo_solid *s, mo_error *err)
{
    int32_t places = s->elastic ? s->elastic->surface.faces : s->samples.count, all = 0;
    double dx = sim->grid->dx, *thin = MO_ARENA_ARRAY(sim->arena, double, places + 1);
    if (!thin) return mo_fail_memory(err);
    int32_t count =
        s->elastic ? thin_faces(s, thick_enough * dx, thin, &all) : thin_samples(s, thick_enough * dx, thin, &all);
    if (10 * count < all || count == 0) return MO_OK;
    qsort(thin, (size_t)count, sizeof *thin, by_size);
    double t = thin[count / 2];
    int32_t cells = sim->cells[0];
    for (int a = 1; a < 3; a++)
        if (sim->cells[a] > cells) cells = sim->cells[a];
    mo_log_write(&sim->log, MO_LOG_WARNING,
                 "%s '%s': about %.2g cells thick, and liquid seeps through less than %g: make it at least %.3g m "
                 "thick, or use domain.cells=%d",
                 s->elastic ? "elastic" : "rigid", s->name, t / dx, thick_enough, thick_enough * dx,
                 (int)ceil(cells * thick_enough * dx / t));
    return MO_OK;
}

mo_status mo_sim_check_bodies(mo_sim *sim, mo_error *err)
{
    bool liquid = sim->def.liquid_count || sim->def.emitter_count;
    if (!sim->bodies && !sim->elastics.count) return MO_OK;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!mo_solid_is_body(s)) continue;
        if (s->rigid) MO_TRY(check_place(sim, s, err));
        if (liquid && s->twin == i && !s->shell && !(s->elastic && s->elastic->body.cloth))
            MO_TRY(check_thickness(sim, s, err));
    }
    mo_step_context start = {0};
    MO_TRY(mo_stage_contacts(sim, &start, err));
    const mo_contacts *found = start.contacts.found;
    for (int32_t i = 0; i < found->count; i++) MO_TRY(check_overlap(sim, &found->contact[i], err));
    return mo_sim_check_crossing(sim, err);
}
