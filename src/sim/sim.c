// Creation: checks of the definition, copies, initial state, field memory.
#include "sim/sim.h"
#include "fluid/liquid_mesh.h"
#include "base/parallel.h"
#include "fluid/rheology.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

mo_domain_def mo_domain_def_default(void)
{
    return (mo_domain_def){.size = {1, 1, 1}, .cells = 32, .contact = true, .friction = 0.3};
}
mo_liquid_def mo_liquid_def_default(void) { return (mo_liquid_def){.density = 1000, .rheology = {.flow_index = 1}}; }
mo_solid_def mo_solid_def_default(void)
{
    return (mo_solid_def){.name = "solid",
                          .wall = MO_WALL_NO_SLIP,
                          .density = 1000,
                          .friction = 0.3,
                          .look = {{0.70, 0.68, 0.65}, MO_MATERIAL_DIFFUSE, true}};
}

mo_elastic_def mo_elastic_def_default(void)
{
    return (mo_elastic_def){.density = 1000,
                            .young = 1e5,
                            .poisson = 0.45,
                            .friction = mo_solid_def_default().friction,
                            .wall = MO_WALL_NO_SLIP,
                            .look = mo_solid_def_default().look};
}
mo_emitter_def mo_emitter_def_default(void)
{
    return (mo_emitter_def){.density = 1000, .seconds = INFINITY, .rheology = {.flow_index = 1}};
}

mo_sim_def mo_sim_def_default(void)
{
    mo_sim_def d = {.domain = mo_domain_def_default(),
                    .gravity = {0, -9.81, 0},
                    .particles_per_axis = 2,
                    .surface = 2,
                    .correct_volume = MO_CORRECTION_GLOBAL};
    d.time = (mo_time_def){.fps = 50, .seconds = 1, .cfl = 3};
    d.solver = (mo_solver_def){
        .tolerance = 1e-6, .max_iterations = 10000, .rounds = 2, .softness = 1e-6, .margin = 0.1, .stabilisation = 0.2};
    return d;
}

// ---- Checks ----

static bool positive(double v) { return isfinite(v) && v > 0; }

static mo_status check_domain(const mo_sim_def *d, mo_error *err)
{
    mo_vec3 s = d->domain.size;
    if (!positive(s.x) || !positive(s.y) || !(isfinite(s.z) && s.z >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "domain: size must be > 0, got (%g, %g, %g)", s.x, s.y, s.z);
    if (d->domain.cells < 4 || d->domain.cells > 4096)
        return mo_fail(err, MO_ERROR_INPUT, "domain: cells must be in 4..4096, got %d", d->domain.cells);
    for (int w = 0; w < 6; w++)
        if ((unsigned)d->domain.walls[w] > MO_WALL_WIND)
            return mo_fail(err, MO_ERROR_INPUT, "domain: wall %d is of no known kind (%d)", w, (int)d->domain.walls[w]);
    if (!(isfinite(d->domain.friction) && d->domain.friction >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "domain: friction must be >= 0, got %g", d->domain.friction);
    if (!(d->domain.restitution >= 0 && d->domain.restitution <= 1))
        return mo_fail(err, MO_ERROR_INPUT, "domain: restitution must be in 0..1, got %g", d->domain.restitution);
    if (!mo_v3_finite(d->gravity)) return mo_fail(err, MO_ERROR_INPUT, "gravity must be finite");
    return MO_OK;
}

static mo_status check_numbers(const mo_sim_def *d, mo_error *err)
{
    const mo_time_def *t = &d->time;
    if (!positive(t->fps)) return mo_fail(err, MO_ERROR_INPUT, "time: fps must be > 0, got %g", t->fps);
    if (!positive(t->seconds)) return mo_fail(err, MO_ERROR_INPUT, "time: seconds must be > 0, got %g", t->seconds);
    if (!positive(t->cfl) || t->cfl > 3.5)
        return mo_fail(err, MO_ERROR_INPUT, "time: cfl must be in (0, 3.5], got %g", t->cfl);
    if (!isfinite(t->max_step) || t->max_step < 0)
        return mo_fail(err, MO_ERROR_INPUT, "time: max_step must be >= 0, got %g", t->max_step);
    if (t->fps * t->seconds > 1e6) return mo_fail(err, MO_ERROR_INPUT, "time: more than a million frames");
    const mo_solver_def *s = &d->solver;
    if (!positive(s->tolerance) || s->tolerance >= 1)
        return mo_fail(err, MO_ERROR_INPUT, "solver: tolerance must be in (0, 1), got %g", s->tolerance);
    if (s->max_iterations < 1)
        return mo_fail(err, MO_ERROR_INPUT, "solver: max_iterations must be >= 1, got %d", s->max_iterations);
    if (s->rounds < 1 || s->rounds > 100)
        return mo_fail(err, MO_ERROR_INPUT, "solver: rounds must be in 1..100, got %d", s->rounds);
    if (!(s->softness >= 1e-10 && s->softness <= 1e-4))
        return mo_fail(err, MO_ERROR_INPUT, "solver: softness must be in 1e-10..1e-4, got %g", s->softness);
    if ((unsigned)s->coupling > MO_COUPLING_POLYGONS)
        return mo_fail(err, MO_ERROR_INPUT, "solver: no such coupling (%d)", (int)s->coupling);
    if ((unsigned)s->shells > MO_SHELLS_PAPER)
        return mo_fail(err, MO_ERROR_INPUT, "solver: no such form of shells (%d)", (int)s->shells);
    if ((unsigned)s->contact > MO_TOUCHING_OVERLAP || (unsigned)s->decoupled_stress > MO_DECOUPLED_REDUCED)
        return mo_fail(err, MO_ERROR_INPUT, "solver: no such contact or decoupled_stress (%d, %d)", (int)s->contact,
                       (int)s->decoupled_stress);
    if (!(s->margin >= 0 && s->margin <= 1))
        return mo_fail(err, MO_ERROR_INPUT, "solver: margin must be in 0..1 cells, got %g", s->margin);
    if (!(s->stabilisation >= 0 && s->stabilisation <= 1))
        return mo_fail(err, MO_ERROR_INPUT, "solver: stabilisation must be in 0..1, got %g", s->stabilisation);
    if (s->contact == MO_TOUCHING_OVERLAP && d->cloth_count)
        return mo_fail(err, MO_ERROR_INPUT, "solver: contact \"overlap\" is not for cloth, which has no inside");
    MO_TRY(mo_scheme_check(s->scheme, err));
    MO_TRY(mo_method_check(s->method, s->route, err));
    if ((unsigned)s->route > MO_ROUTE_PAPER || (unsigned)s->preconditioner > MO_PRECONDITIONER_JACOBI)
        return mo_fail(err, MO_ERROR_INPUT, "solver: no such route or preconditioner (%d, %d)", (int)s->route,
                       (int)s->preconditioner);
    if (s->cone && (s->route == MO_ROUTE_PAPER || s->verify))
        return mo_fail(err, MO_ERROR_INPUT,
                       "solver: cone is not for route paper, which bounds friction on each tangent, nor for verify");
    if (d->surface < 0 || d->surface > MO_REFINE_MOST)
        return mo_fail(err, MO_ERROR_INPUT, "output: surface must be in 0..%d, got %d", MO_REFINE_MOST, d->surface);
    if (d->particles_per_axis < 1 || d->particles_per_axis > 4)
        return mo_fail(err, MO_ERROR_INPUT, "particles: per_axis must be in 1..4, got %d", d->particles_per_axis);
    if (d->particles_band && (d->particles_band < MO_BAND_LEAST || d->particles_band > MO_BAND_MOST))
        return mo_fail(err, MO_ERROR_INPUT, "particles: band must be 0 (particles everywhere) or in %d..%d, got %d",
                       MO_BAND_LEAST, MO_BAND_MOST, d->particles_band);
    if ((unsigned)d->correct_volume > MO_CORRECTION_LOCAL)
        return mo_fail(err, MO_ERROR_INPUT, "volume: no such correction (%d)", (int)d->correct_volume);
    if (d->correct_volume == MO_CORRECTION_LOCAL && d->particles_band)
        return mo_fail(err, MO_ERROR_INPUT,
                       "volume: the local correction needs particles everywhere, but particles: band is %d",
                       d->particles_band);
    if (d->threads < 0 || d->threads > 1024)
        return mo_fail(err, MO_ERROR_INPUT, "threads must be in 0..1024, got %d", d->threads);
    return MO_OK;
}

typedef struct flow { // what liquids and emitters have in common
    double density, viscosity;
    mo_viscosity_fn viscosity_fn;
    const mo_rheology *rheology;
    double tension;
    void *user;
} flow;

// Returns the flow of liquid i, or of emitter i - liquid_count; `place` gets its name: "liquid 2".
static flow flow_of(const mo_sim_def *d, int32_t i, char place[32])
{
    if (i < d->liquid_count) {
        const mo_liquid_def *l = &d->liquids[i];
        snprintf(place, 32, "liquid %d", i + 1);
        return (flow){l->density, l->viscosity, l->viscosity_fn, &l->rheology, l->surface_tension, l->user};
    }
    const mo_emitter_def *e = &d->emitters[i - d->liquid_count];
    snprintf(place, 32, "emitter %d", i - d->liquid_count + 1);
    return (flow){e->density, e->viscosity, e->viscosity_fn, &e->rheology, e->surface_tension, e->user};
}

static bool has_rheology(const mo_rheology *r) { return r->consistency > 0 || r->yield_stress > 0; }

static bool is_viscous(const flow *f) { return f->viscosity_fn || f->viscosity > 0 || has_rheology(f->rheology); }

// Particles carry it as a float.
static bool good_viscosity(double v) { return v >= 0 && v <= FLT_MAX; }

static mo_status check_flow(const mo_sim_def *d, int32_t i, mo_error *err)
{
    char place[32], first[32];
    flow f = flow_of(d, i, place), shared = flow_of(d, 0, first);
    if (!positive(f.density)) return mo_fail(err, MO_ERROR_INPUT, "%s: density must be > 0, got %g", place, f.density);
    if (f.density != shared.density)
        return mo_fail(err, MO_ERROR_INPUT, "%s: density %g differs from %g; all liquids share one density", place,
                       f.density, shared.density);
    if (!good_viscosity(f.viscosity))
        return mo_fail(err, MO_ERROR_INPUT, "%s: viscosity must be finite and >= 0, got %g", place, f.viscosity);
    MO_TRY(mo_rheology_check(f.rheology, place, err));
    if (has_rheology(f.rheology) && (f.viscosity > 0 || f.viscosity_fn))
        return mo_fail(err, MO_ERROR_INPUT, "%s: has a viscosity and a rheology, whose consistency takes its place",
                       place);
    if (!(isfinite(f.tension) && f.tension >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "%s: surface_tension must be finite and >= 0, got %g", place, f.tension);
    if (f.tension != shared.tension)
        return mo_fail(err, MO_ERROR_INPUT, "%s: surface_tension %g differs from %g of %s; all liquids share one",
                       place, f.tension, shared.tension, first);
    return MO_OK;
}

static mo_status check_liquid(const mo_sim_def *d, int32_t i, mo_error *err)
{
    const mo_liquid_def *l = &d->liquids[i];
    if (!l->shape) return mo_fail(err, MO_ERROR_INPUT, "liquid %d: no shape", i + 1);
    if (!mo_v3_finite(l->velocity)) return mo_fail(err, MO_ERROR_INPUT, "liquid %d: velocity must be finite", i + 1);
    return check_flow(d, i, err);
}

static mo_status check_emitter(const mo_sim_def *d, int32_t i, mo_error *err)
{
    const mo_emitter_def *e = &d->emitters[i];
    if (!e->shape) return mo_fail(err, MO_ERROR_INPUT, "emitter %d: no shape", i + 1);
    if (!mo_v3_finite(e->velocity) || !(mo_norm(e->velocity) > 0))
        return mo_fail(err, MO_ERROR_INPUT, "emitter %d: velocity must be finite and not zero", i + 1);
    if (!(isfinite(e->start) && e->start >= 0) || !(e->seconds > 0))
        return mo_fail(err, MO_ERROR_INPUT, "emitter %d: start must be >= 0 and seconds > 0", i + 1);
    mo_box3 box = mo_shape_bounds(e->shape);
    if (!mo_v3_finite(box.lo) || !mo_v3_finite(box.hi))
        return mo_fail(err, MO_ERROR_INPUT, "emitter %d: the shape must be bounded", i + 1);
    return check_flow(d, d->liquid_count + i, err);
}

static mo_status check_solid(const mo_solid_def *s, mo_error *err)
{
    const char *name = s->name ? s->name : "?";
    if (!s->shape) return mo_fail(err, MO_ERROR_INPUT, "solid '%s': no shape", name);
    if (s->wall == MO_WALL_OPEN) return mo_fail(err, MO_ERROR_INPUT, "solid '%s': its wall cannot be open", name);
    if ((unsigned)s->wall > MO_WALL_OPEN)
        return mo_fail(err, MO_ERROR_INPUT, "solid '%s': its wall is of no known kind (%d)", name, (int)s->wall);
    if (!mo_v3_finite(s->surface_velocity))
        return mo_fail(err, MO_ERROR_INPUT, "solid '%s': surface_velocity must be finite", name);
    if (!(isfinite(s->friction) && s->friction >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "solid '%s': friction must be >= 0, got %g", name, s->friction);
    if (!(s->restitution >= 0 && s->restitution <= 1))
        return mo_fail(err, MO_ERROR_INPUT, "solid '%s': restitution must be in 0..1, got %g", name, s->restitution);
    if (!s->rigid) return MO_OK;
    if (s->motion) return mo_fail(err, MO_ERROR_INPUT, "rigid '%s': cannot also follow a motion", name);
    if (!mo_v3_finite(s->velocity) || !mo_v3_finite(s->angular_velocity))
        return mo_fail(err, MO_ERROR_INPUT, "rigid '%s': velocity and angular_velocity must be finite", name);
    return MO_OK; // density and shape are checked when its mass is found
}

// The grid carries the velocity of liquid without particles, but nothing else that particles do.
static mo_status check_band(const mo_sim_def *d, mo_error *err)
{
    char place[32], first[32];
    for (int32_t i = 0; i < d->liquid_count + d->emitter_count; i++) {
        flow f = flow_of(d, i, place), shared = flow_of(d, 0, first);
        if (f.viscosity_fn || has_rheology(f.rheology))
            return mo_fail(err, MO_ERROR_INPUT,
                           "particles: band is for liquids of constant viscosity; that of %s is a function or depends "
                           "on the flow: use band = 0",
                           place);
        if (f.viscosity != shared.viscosity)
            return mo_fail(err, MO_ERROR_INPUT,
                           "particles: band is for liquids of one viscosity; that of %s is %g, of %s %g: use band = 0",
                           place, f.viscosity, first, shared.viscosity);
    }
    return MO_OK;
}

static mo_status check_contents(const mo_sim_def *d, mo_error *err)
{
    if (d->liquid_count < 0 || d->emitter_count < 0 || d->solid_count < 0)
        return mo_fail(err, MO_ERROR_INPUT, "a count of liquids, emitters or solids is negative");
    bool bodies = false;
    for (int32_t i = 0; i < d->solid_count; i++) bodies |= d->solids[i].rigid;
    for (int32_t i = 0; i < d->shell_count; i++) bodies |= d->shells[i].density > 0;
    MO_TRY(mo_sim_check_elastics(d, err));
    MO_TRY(mo_sim_check_cloths(d, err));
    MO_TRY(mo_sim_check_air(d, err));
    MO_TRY(mo_shells_check(d, err));
    if (d->liquid_count + d->emitter_count + d->elastic_count + d->cloth_count == 0 && !bodies && !d->air)
        return mo_fail(err, MO_ERROR_INPUT,
                       "nothing to simulate: no liquid, no emitter, no air, no rigid or elastic body, no cloth");
    for (int32_t i = 0; i < d->liquid_count; i++) MO_TRY(check_liquid(d, i, err));
    for (int32_t i = 0; i < d->emitter_count; i++) MO_TRY(check_emitter(d, i, err));
    for (int32_t i = 0; i < d->solid_count; i++) MO_TRY(check_solid(&d->solids[i], err));
    return d->particles_band ? check_band(d, err) : MO_OK;
}

mo_status mo_sim_viscosity_at(const mo_sim *sim, int32_t source, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    MO_ASSERT(source >= 0 && source < sim->def.liquid_count + sim->def.emitter_count);
    char place[32];
    flow f = flow_of(&sim->def, source, place);
    *viscosity = has_rheology(f.rheology) ? f.rheology->consistency : f.viscosity;
    if (!f.viscosity_fn) return MO_OK;
    mo_error said = {0};
    *viscosity = NAN;
    mo_status status = f.viscosity_fn(f.user, x, t, viscosity, &said);
    if (status != MO_OK && !said.text[0]) return mo_fail(err, status, "%s: its viscosity function failed", place);
    if (status != MO_OK) return mo_fail(err, status, "%s", said.text);
    if (good_viscosity(*viscosity)) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s: viscosity at (%g, %g, %g), t = %g must be finite and >= 0, got %g", place,
                   x.x, x.y, x.z, t, *viscosity);
}

// ---- Construction ----

// Finds cells per axis and dx from the domain; warns when an edge is not a whole number of cells.
static double lay_cells(const mo_domain_def *domain, int32_t cells[3], const mo_log *log)
{
    const double size[3] = {domain->size.x, domain->size.y, domain->size.z};
    double longest = fmax(size[0], fmax(size[1], size[2])), dx = longest / domain->cells;
    for (int a = 0; a < 3; a++) {
        cells[a] = (int32_t)fmax(1, floor(size[a] / dx + 0.5));
        if (size[a] > 0 && fabs(cells[a] * dx - size[a]) > 1e-6 * longest)
            mo_log_write(log, MO_LOG_WARNING, "domain: the %c edge of %g m is rounded to %d cells = %g m", 'x' + a,
                         size[a], cells[a], cells[a] * dx);
    }
    return dx;
}

static mo_status copy_definition(mo_sim *sim, const mo_sim_def *def, mo_error *err)
{
    sim->def = *def;
    sim->liquids = mo_calloc(sizeof *sim->liquids * (size_t)def->liquid_count + 1);
    sim->emitters = mo_calloc(sizeof *sim->emitters * (size_t)def->emitter_count + 1);
    sim->flow = mo_calloc(sizeof *sim->flow * (size_t)def->emitter_count + 1);
    sim->stalled = mo_calloc((size_t)def->emitter_count + 1);
    size_t solids = (size_t)(def->solid_count + def->elastic_count + def->cloth_count + mo_sim_shell_solids(def));
    sim->solids = mo_calloc(sizeof *sim->solids * solids + 1);
    sim->slip = mo_calloc(solids + 1);
    if (!sim->liquids || !sim->emitters || !sim->flow || !sim->stalled || !sim->solids || !sim->slip) {
        sim->def.liquid_count = sim->def.emitter_count = sim->def.solid_count = 0;
        return mo_fail_memory(err);
    }
    sim->solid_count = (int32_t)solids;
    sim->moving = def->elastic_count + (def->air ? 0 : def->cloth_count) > 0; // in air, sheets cover nothing
    for (int32_t i = 0; i < def->liquid_count; i++)
        sim->liquids[i] = def->liquids[i], mo_shape_retain(def->liquids[i].shape);
    for (int32_t i = 0; i < def->emitter_count; i++)
        sim->emitters[i] = def->emitters[i], mo_shape_retain(def->emitters[i].shape);
    for (int32_t i = 0; i < def->solid_count; i++) {
        const mo_solid_def *from = &def->solids[i];
        mo_solid *s = &sim->solids[i];
        *s = (mo_solid){.shape = mo_shape_retain(from->shape),
                        .motion = from->motion,
                        .user = from->user,
                        .wall = from->wall,
                        .surface_velocity = from->surface_velocity,
                        .pose = mo_pose_identity()};
        mo_box3 box = mo_shape_bounds(from->shape);
        s->centre = mo_mul(0.5, mo_add(box.lo, box.hi));
        s->radius = 0.5 * mo_norm(mo_sub(box.hi, box.lo));
        if (!isfinite(s->radius)) s->centre = mo_v3(0, 0, 0), s->radius = INFINITY;
        strncpy(s->name, from->name ? from->name : "solid", sizeof s->name - 1);
        s->rigid = from->rigid, s->friction = from->friction, s->restitution = from->restitution;
        sim->moving |= from->motion != NULL || from->rigid || mo_norm(from->surface_velocity) > 0;
        sim->slip[i] = from->wall == MO_WALL_SLIP;
    }
    sim->def.liquids = sim->liquids, sim->def.emitters = sim->emitters;
    sim->def.solids = NULL, sim->def.elastics = NULL, sim->def.shells = NULL, sim->def.cloths = NULL;
    sim->density = def->liquid_count    ? def->liquids[0].density
                   : def->emitter_count ? def->emitters[0].density
                                        : mo_liquid_def_default().density;
    for (int32_t i = 0; i < def->liquid_count + def->emitter_count; i++) {
        char place[32];
        flow f = flow_of(def, i, place);
        bool steady = !f.viscosity_fn && !has_rheology(f.rheology);
        sim->viscous |= is_viscous(&f);
        sim->non_newtonian |= has_rheology(f.rheology);
        sim->surface_tension = f.tension;
        sim->least_viscosity = fmin(i ? sim->least_viscosity : INFINITY, steady ? f.viscosity : 0);
    }
    sim->weighed = sim->viscous && def->shell_count + def->cloth_count == 0; // viscous scenes have liquid
    sim->particles.fields = sim->viscous ? MO_PARTICLE_FIELDS : MO_PLAIN_FIELDS;
    sim->band.depth = def->particles_band;
    sim->log = (mo_log){def->log, def->log_user};
    for (int w = 0; w < 6; w++) sim->open |= def->domain.walls[w] == MO_WALL_OPEN;
    return mo_sim_copy_air(sim, def, err);
}

// A plane scene has no motion along z.
static mo_status flatten(mo_sim *sim, mo_error *err)
{
    sim->def.gravity.z = 0;
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        sim->emitters[i].velocity.z = 0;
        if (!(mo_norm(sim->emitters[i].velocity) > 0))
            return mo_fail(err, MO_ERROR_INPUT, "emitter %d: velocity must not be zero in the plane of the domain",
                           i + 1);
    }
    return MO_OK;
}

mo_status mo_sim_create_empty(const mo_sim_def *def, mo_sim **out, mo_error *err)
{
    MO_TRY(check_domain(def, err));
    MO_TRY(check_numbers(def, err));
    MO_TRY(check_contents(def, err));
    mo_sim *sim = mo_calloc(sizeof *sim);
    if (!sim) return mo_fail_memory(err);
    mo_memory_hold();
    *out = sim;
    MO_TRY(copy_definition(sim, def, err));
    double dx = lay_cells(&def->domain, sim->cells, &sim->log);
    if (sim->cells[2] == 1) MO_TRY(flatten(sim, err));
    if (sim->cells[2] == 1) sim->air.def.wind.z = 0;
    sim->radii = mo_radii_for(sim->cells[2] == 1, def->particles_per_axis);
    sim->arena = mo_arena_create(), sim->step_arena = mo_arena_create();
    if (!sim->arena || !sim->step_arena) return mo_fail_memory(err);
    MO_TRY(mo_grid_create(sim->cells, dx, &sim->grid, err));
    for (int32_t i = 0; i < def->emitter_count; i++) sim->flow[i] = mo_sim_find_flow(sim, &sim->emitters[i]);
    for (int32_t i = 0; i < def->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (s->motion) MO_TRY(mo_solid_pose_at(s, 0, &s->pose, err));
        s->next = s->pose;
    }
    MO_TRY(mo_shells_create(def, &sim->shells, err));
    MO_TRY(mo_sim_enter_shells(sim, def, err));
    MO_TRY(mo_sim_create_elastics(sim, def, err));
    MO_TRY(mo_sim_wet_cloths(sim, err));
    MO_TRY(mo_sim_create_bodies(sim, def->solids, err));
    mo_sim_anchor_bonds(sim);
    MO_TRY(mo_sim_refuse_shells(sim, err));
    MO_TRY(mo_sim_check_shells(sim, err));
    MO_TRY(mo_sim_check_thickness(sim, err));
    return mo_sim_check_bodies(sim, err);
}

static mo_status lay_fields(mo_sim *sim, const mo_kept_rows *kept, mo_error *err)
{
    MO_TRY(mo_sim_cut_shells(sim, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_sim_settle_air(sim, NULL, err));
    if (sim->band.cells) MO_TRY(mo_band_settle(&sim->band, &sim->level, sim->grid, sim->arena, err));
    mo_sim_show_deep(sim);
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    return mo_sim_recall_rows(sim, kept, err);
}

// Makes tiles round the particles, with their fields.
static mo_status lay_tiles(mo_sim *sim, mo_error *err)
{
    mo_arena_reset(sim->arena);
    mo_band_want(&sim->band, sim->grid);
    mo_sim_want_air(sim);
    mo_kept_rows kept;
    MO_TRY(mo_sim_keep_rows(sim, &kept, err));
    mo_status status = mo_particles_sort(&sim->particles, sim->grid, sim->arena, err);
    if (status == MO_OK) status = lay_fields(sim, &kept, err);
    mo_kept_rows_destroy(&kept);
    MO_TRY(status);
    mo_sim_fill_air(sim);
    return mo_sim_openings(sim, 0, err);
}

static mo_status fill(mo_sim *sim, mo_error *err)
{
    if (mo_sim_seed(sim, false, err) < 0) return err ? err->status : MO_ERROR_FAILED;
    MO_TRY(lay_tiles(sim, err));
    mo_sim_start_air(sim);
    if (sim->air.present) return MO_OK;
    MO_TRY(mo_sim_start_level(sim, err));
    if (sim->def.emitter_count > 0) {
        MO_TRY(mo_sim_emit(sim, -1, 0, err));
        MO_TRY(lay_tiles(sim, err));
        MO_TRY(mo_sim_start_emitters(sim, err));
    }
    if (!sim->band.depth) return MO_OK;
    MO_TRY(mo_sim_start_band(sim, err));
    return lay_tiles(sim, err);
}

mo_status mo_sim_fill(mo_sim *sim, mo_error *err)
{
    MO_TRY(fill(sim, err));
    mo_sim_note_start(sim);
    return MO_OK;
}

mo_status mo_sim_create(const mo_sim_def *def, mo_sim **out, mo_error *err)
{
    mo_error local;
    mo_sim *sim = NULL;
    if (!err) err = &local;
    mo_use_threads(def->threads);
    mo_status status = mo_sim_create_empty(def, &sim, err);
    if (status == MO_OK) status = mo_sim_fill(sim, err);
    if (status != MO_OK) mo_sim_destroy(sim), sim = NULL;
    *out = sim;
    return status;
}

void mo_sim_destroy(mo_sim *sim)
{
    if (!sim) return;
    mo_sim_destroy_bodies(sim);
    mo_sim_destroy_elastics(sim);
    mo_sim_leave_shells(sim);
    mo_shells_destroy(&sim->shells);
    for (int32_t i = 0; i < sim->def.liquid_count; i++) mo_shape_release(sim->liquids[i].shape);
    for (int32_t i = 0; i < sim->def.emitter_count; i++) mo_shape_release(sim->emitters[i].shape);
    for (int32_t i = 0; i < sim->def.solid_count; i++) mo_shape_release(sim->solids[i].shape);
    mo_free(sim->liquids);
    mo_free(sim->emitters);
    mo_free(sim->flow);
    mo_free(sim->stalled);
    mo_free(sim->solids);
    mo_free(sim->slip);
    mo_particles_destroy(&sim->particles);
    mo_levelset_destroy(&sim->level);
    mo_band_destroy(&sim->band);
    mo_sim_destroy_air(sim);
    mo_grid_destroy(sim->grid);
    mo_weights_destroy(&sim->weights);
    mo_free(sim->field_memory);
    mo_arena_destroy(sim->arena), mo_arena_destroy(sim->step_arena);
    mo_free(sim);
    mo_memory_release();
}
