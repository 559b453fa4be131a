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

// Places all over a body's surface: the samples of a rigid one, the middles of an elastic one's faces.
static int32_t place_count(const mo_sim *sim, const mo_solid *s)
{
    return s->elastic ? s->elastic->surface.faces : sim->solids[s->twin].samples.count;
}

// Place k in the world and the normal there; false at edges, where a body tapers off. Geometry is that of the twin.
static bool place_at(const mo_sim *sim, const mo_solid *s, int32_t k, mo_vec3 *x, mo_vec3 *n)
{
    if (s->elastic) {
        const mo_elastic_surface *surface = &s->elastic->surface;
        int32_t d = surface->dimension;
        *x = mo_v3(0, 0, 0);
        for (int c = 0; c < d; c++)
            *x = mo_mad(*x, 1.0 / d, *mo_surface_corner(surface, s->elastic->body.position, k, c));
        *n = surface->face_normal[k];
        return true;
    }
    const mo_samples *samples = &sim->solids[s->twin].samples;
    *x = mo_pose_apply(s->pose, samples->point[k]);
    *n = mo_quat_rotate(s->pose.rotation, samples->normal[k]);
    return samples->kind[k] == MO_POINT_SMOOTH;
}

// Lists the thickness of a body where it is thin; *all: how many places were examined.
static int32_t thin_places(const mo_sim *sim, const mo_solid *s, double most, double *thin, int32_t *all)
{
    int32_t count = 0;
    for (int32_t k = 0; k < place_count(sim, s); k++) {
        mo_vec3 x, n;
        if (!place_at(sim, s, k, &x, &n)) continue;
        double t = thickness_at(s, x, n, most);
        ++*all;
        if (t > 0 && (t < most || !s->elastic)) thin[count++] = t; // faces of round elastic bodies are chords
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
    int32_t all = 0;
    double dx = sim->grid->dx, *thin = MO_ARENA_ARRAY(sim->arena, double, place_count(sim, s) + 1);
    if (!thin) return mo_fail_memory(err);
    int32_t count = thin_places(sim, s, thick_enough * dx, thin, &all);
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

// ---- Solids at the same place ----

// Whether the balls round two solids meet.
static bool may_meet(const mo_solid *a, const mo_solid *b)
{
    mo_vec3 way = mo_sub(mo_pose_apply(a->pose, a->centre), mo_pose_apply(b->pose, b->centre));
    return mo_norm(way) < a->radius + b->radius;
}

// Solids whose surfaces coincide have contacts without overlap. But then places inside a, a cell deep or in the middle
// of a wall of less, are as deep in b.
static bool is_inside(const mo_sim *sim, const mo_solid *a, const mo_solid *b)
{
    const double dx = sim->grid->dx, alike = 0.8;
    for (int32_t k = 0; k < place_count(sim, a); k++) {
        mo_vec3 x, n;
        if (!place_at(sim, a, k, &x, &n) || mo_solid_distance_at(b, x) > 0.5 * dx) continue;
        double t = thickness_at(a, x, n, 2 * dx), depth = t > 0 ? 0.5 * t : dx;
        mo_vec3 y = mo_mad(x, -depth, n);
        double own = -mo_solid_distance_at(a, y); // less than the depth beside edges, and by the steps of the thickness
        if (own > 0.5 * depth && -mo_solid_distance_at(b, y) > alike * own) return true;
    }
    return false;
}

static bool has_inside(const mo_solid *s) { return !s->shell && !(s->elastic && s->elastic->body.cloth); }

static mo_status check_inside(const mo_sim *sim, int32_t i, mo_error *err)
{
    const mo_solid *a = &sim->solids[i];
    for (int32_t j = 0; j < sim->solid_count && has_inside(a); j++) {
        const mo_solid *b = &sim->solids[j];
        if (j == i || !has_inside(b) || !may_meet(a, b) || !is_inside(sim, a, b)) continue;
        return mo_fail(err, MO_ERROR_INPUT, "%s '%s': lies at the place of '%s' at the start: move them apart",
                       mo_solid_kind(a), a->name, b->name);
    }
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
    for (int32_t i = 0; i < sim->solid_count; i++)
        if (mo_solid_is_body(&sim->solids[i])) MO_TRY(check_inside(sim, i, err));
    return mo_sim_check_crossing(sim, err);
}
