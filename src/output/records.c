// What stats.jsonl, bodies.jsonl and run.json say; docs/output.md explains every field.
#include "output/records.h"
#include "output/look.h"
#include "base/parallel.h"
#include <time.h>

static void add_verification(mo_text *t, const mo_verify_stats *v)
{
    mo_json_begin(t, "verify", '{');
    mo_json_number(t, "velocity", v->velocity);
    mo_json_number(t, "pressure", v->pressure);
    mo_json_number(t, "contact", v->contact);
    mo_json_integer(t, "iterations", v->iterations);
    mo_json_number(t, "residual", v->residual);
    mo_json_string(t, "reason", mo_reason_name(v->reason));
    mo_json_number(t, "seconds", v->seconds);
    mo_json_number(t, "cpu_seconds", v->cpu_seconds);
    mo_json_end(t, '}');
}

static void add_smoke(mo_text *t, const mo_stats *s)
{
    mo_json_begin(t, "smoke", '{');
    mo_json_number(t, "mass", s->smoke);
    mo_json_number(t, "target", s->smoke_target);
    mo_json_number(t, "error", s->smoke_error);
    mo_json_integer(t, "tiles", s->tiles);
    mo_json_end(t, '}');
}

static void add_elastic(mo_text *t, const mo_stats *s)
{
    mo_json_begin(t, "elastic", '{');
    mo_json_number(t, "newton", s->newton);
    mo_json_integer(t, "halvings", s->halvings);
    mo_json_integer(t, "projected", s->projected);
    mo_json_number(t, "least_volume", s->least_volume);
    mo_json_integer(t, "inverted", s->inverted);
    mo_json_end(t, '}');
}

static void add_sheets(mo_text *t, const mo_sheet_stats *s)
{
    mo_json_begin(t, "sheets", '{');
    mo_json_integer(t, "cut_cells", s->cut_cells);
    mo_json_integer(t, "sides", s->sides);
    mo_json_integer(t, "gaps", s->gaps);
    mo_json_integer(t, "pockets", s->pockets);
    mo_json_integer(t, "tangled", s->tangled);
    mo_json_integer(t, "closed", s->closed);
    mo_json_integer(t, "crossed", s->crossed);
    mo_json_integer(t, "light", s->light);
    mo_json_integer(t, "slips", s->slips);
    mo_json_number(t, "penetration", s->penetration);
    mo_json_end(t, '}');
}

static void add_cloth(mo_text *t, const mo_cloth_stats *s)
{
    mo_json_begin(t, "cloth", '{');
    mo_json_integer(t, "impacts", s->impacts);
    mo_json_integer(t, "zones", s->zones);
    mo_json_integer(t, "stopped", s->stopped);
    mo_json_number(t, "stretch", s->stretch);
    mo_json_number(t, "energy", s->energy);
    mo_json_end(t, '}');
}

void mo_record_step(mo_text *t, const mo_stats *s)
{
    mo_json_begin(t, NULL, '{');
    mo_json_integer(t, "step", s->step);
    mo_json_integer(t, "frame", s->frame);
    mo_json_number(t, "time", s->time);
    mo_json_number(t, "dt", s->dt);
    mo_json_integer(t, "particles", s->particles);
    mo_json_integer(t, "deep", s->deep);
    mo_json_number(t, "deep_volume", s->deep_volume);
    mo_json_begin(t, "dofs", '{');
    mo_json_integer(t, "p", s->pressures);
    mo_json_integer(t, "s", s->stresses);
    mo_json_integer(t, "l", 0);
    mo_json_integer(t, "n", s->contacts);
    mo_json_integer(t, "e", s->vertices);
    mo_json_end(t, '}');
    mo_json_string(t, "scheme", s->scheme);
    mo_json_string(t, "route", s->route);
    mo_json_integer(t, "rounds", s->rounds);
    mo_json_number(t, "round_change", s->round_change);
    mo_json_number(t, "staggering", s->staggering);
    mo_json_integer(t, "iterations", s->iterations);
    mo_json_integer(t, "correction_iterations", s->correction_iterations);
    mo_json_number(t, "residual", s->residual);
    mo_json_string(t, "reason", mo_reason_name(s->reason));
    mo_json_number(t, "volume", s->volume);
    mo_json_number(t, "volume_target", s->volume_target);
    mo_json_number(t, "volume_error", s->volume_error);
    mo_json_number(t, "film", s->film);
    mo_json_number(t, "density_rms", s->density_rms);
    mo_json_number(t, "kinetic_energy", s->kinetic_energy);
    mo_json_number(t, "body_kinetic_energy", s->body_kinetic_energy);
    mo_json_number(t, "potential_energy", s->potential_energy);
    mo_json_number(t, "surface_energy", s->surface_energy);
    mo_json_number(t, "elastic_energy", s->elastic_energy);
    mo_json_number(t, "energy", s->energy);
    mo_json_number(t, "energy_work", s->energy_work);
    mo_json_number(t, "energy_loss", s->energy_loss);
    mo_json_number(t, "energy_correction", s->energy_correction);
    mo_json_number(t, "energy_withheld", s->energy_withheld);
    mo_json_number(t, "energy_error", s->energy_error);
    mo_json_vector(t, "momentum", s->momentum);
    mo_json_number(t, "max_speed", s->max_speed);
    mo_json_number(t, "max_body_speed", s->max_body_speed);
    mo_json_integer(t, "escaped", s->escaped);
    mo_json_number(t, "max_divergence", s->max_divergence);
    mo_json_integer(t, "pieces", s->pieces);
    mo_json_integer(t, "enclosed", s->enclosed);
    mo_json_integer(t, "ballistic", s->ballistic);
    mo_json_integer(t, "outliers", s->outliers);
    mo_json_integer(t, "crossed", s->crossed);
    mo_json_integer(t, "shared", s->shared);
    mo_json_integer(t, "limited", s->limited);
    mo_json_integer(t, "clamped", s->clamped);
    mo_json_integer(t, "stalled", s->stalled);
    mo_json_integer(t, "relaxed", s->relaxed);
    mo_json_integer(t, "fallbacks", s->fallbacks);
    mo_json_integer(t, "contacts", s->contacts);
    mo_json_number(t, "max_penetration", s->max_penetration);
    if (s->vertices) add_elastic(t, s);
    if (s->cloth.vertices) add_cloth(t, &s->cloth);
    if (s->tiles) add_smoke(t, s);
    if (s->shells) add_sheets(t, &s->sheets);
    mo_json_begin(t, "seconds", '{');
    for (int i = 0; i < MO_STAGE_COUNT; i++) mo_json_number(t, mo_stage_name[i], s->seconds[i]);
    mo_json_end(t, '}');
    mo_json_number(t, "cpu_seconds", s->cpu_seconds);
    mo_json_integer(t, "memory_bytes", s->memory_bytes);
    mo_json_integer(t, "passes", s->passes);
    mo_json_begin(t, "sets", '{');
    for (int i = 0; i < s->set_count; i++) {
        mo_json_begin(t, s->sets[i].name, '{');
        mo_json_string(t, "form", s->sets[i].form);
        mo_json_integer(t, "solves", s->sets[i].solves);
        mo_json_integer(t, "iterations", s->sets[i].iterations);
        mo_json_number(t, "seconds", s->sets[i].seconds);
        mo_json_end(t, '}');
    }
    mo_json_end(t, '}');
    if (s->verify.done) add_verification(t, &s->verify);
    mo_json_end(t, '}');
    mo_text_add(t, "\n", 1);
}

// A line begins with what all bodies have.
static void begin_body(mo_text *t, int32_t frame, double time, const char *name, mo_vec3 position, mo_quat q)
{
    mo_json_begin(t, NULL, '{');
    mo_json_integer(t, "frame", frame);
    mo_json_number(t, "time", time);
    mo_json_string(t, "name", name);
    mo_json_vector(t, "position", position);
    mo_json_begin(t, "rotation", '[');
    mo_json_number(t, NULL, q.w);
    mo_json_number(t, NULL, q.x);
    mo_json_number(t, NULL, q.y);
    mo_json_number(t, NULL, q.z);
    mo_json_end(t, ']');
}

void mo_record_elastic(mo_text *t, int32_t frame, double time, const mo_elastic_state *e)
{
    begin_body(t, frame, time, e->name, e->centre, e->rotation);
    mo_json_vector(t, "velocity", e->velocity);
    mo_json_vector(t, "angular_velocity", e->angular_velocity);
    mo_json_vector(t, "force", e->force);
    mo_json_number(t, "kinetic_energy", e->kinetic);
    mo_json_number(t, "elastic_energy", e->elastic);
    mo_json_number(t, "least_volume", e->least);
    mo_json_integer(t, "inverted", e->inverted);
    mo_json_end(t, '}');
    mo_text_add(t, "\n", 1);
}

void mo_record_cloth(mo_text *t, int32_t frame, double time, const mo_cloth_state *c)
{
    begin_body(t, frame, time, c->name, c->centre, c->rotation);
    mo_json_vector(t, "velocity", c->velocity);
    mo_json_vector(t, "angular_velocity", c->angular_velocity);
    mo_json_vector(t, "force", c->force);
    mo_json_vector(t, "held", c->held);
    mo_json_number(t, "kinetic_energy", c->kinetic);
    mo_json_number(t, "elastic_energy", c->stretching + c->bending + c->cords);
    mo_json_number(t, "bending_energy", c->bending);
    mo_json_number(t, "stretch", c->stretch);
    mo_json_end(t, '}');
    mo_text_add(t, "\n", 1);
}

void mo_record_body(mo_text *t, int32_t frame, double time, const mo_body_state *body)
{
    begin_body(t, frame, time, body->name, body->pose.position, body->pose.rotation);
    mo_json_vector(t, "velocity", body->velocity);
    mo_json_vector(t, "angular_velocity", body->angular_velocity);
    mo_json_vector(t, "force", body->force);
    mo_json_vector(t, "torque", body->torque);
    mo_json_end(t, '}');
    mo_text_add(t, "\n", 1);
}

// ---- run.json ----

static const char *const status_name[] = {"running", "done", "failed", "interrupted"};
static const char *const wall_name[] = {"slip", "no-slip", "open", "wind"};
static const char *const route_name[] = {"fast", "paper"};
static const char *const preconditioner_name[] = {"ssor", "ic0", "jacobi"};

#if defined(__clang__)
static const char compiler[] = __VERSION__; // says "Clang" itself
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static void add_date(mo_text *t, const char *key, int64_t seconds)
{
    char text[32];
    time_t when = (time_t)seconds;
    struct tm parts;
    if (seconds && gmtime_r(&when, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        mo_json_string(t, key, text);
    else
        mo_json_string(t, key, NULL);
}

// Members of the outer object stand on lines of their own.
static void line_break(mo_text *t) { mo_text_add(t, "\n", 1); }

static void next_line(mo_text *t)
{
    mo_text_add(t, ",", 1);
    line_break(t);
}

static void add_solver(mo_text *t, const mo_solver_def *s)
{
    mo_json_begin(t, "solver", '{');
    mo_json_string(t, "scheme", s->scheme);
    mo_json_string(t, "route", route_name[s->route]);
    mo_json_string(t, "method", s->method);
    mo_json_string(t, "preconditioner", preconditioner_name[s->preconditioner]);
    mo_json_number(t, "tolerance", s->tolerance);
    mo_json_integer(t, "max_iterations", s->max_iterations);
    mo_json_string(t, "weights", s->raw_weights ? "raw" : "clamped");
    mo_json_integer(t, "rounds", s->rounds);
    mo_json_string(t, "friction", s->friction == MO_FRICTION_STAGGERED ? "staggered" : "joint");
    mo_json_boolean(t, "cone", s->cone);
    mo_json_string(t, "expansion", s->expansion == MO_EXPANSION_FIXED ? "fixed" : "projected-cg");
    mo_json_string(t, "coupling", s->coupling == MO_COUPLING_POLYGONS ? "polygons" : "faces");
    mo_json_string(t, "shells", s->shells == MO_SHELLS_PAPER ? "paper" : "cut");
    mo_json_number(t, "softness", s->softness);
    mo_json_string(t, "contact", s->contact == MO_TOUCHING_OVERLAP ? "overlap" : "ahead");
    mo_json_number(t, "margin", s->margin);
    mo_json_number(t, "stabilisation", s->stabilisation);
    mo_json_string(t, "decoupled_stress", s->decoupled_stress == MO_DECOUPLED_REDUCED ? "reduced" : "full");
    mo_json_boolean(t, "verify", s->verify);
    mo_json_boolean(t, "strict", s->strict);
    mo_json_end(t, '}');
}

// Either the viscosity, a number or how a function is asked, or the rheology.
static void add_viscosity(mo_text *t, double viscosity, bool function, bool varies, const mo_rheology *r)
{
    if (function) {
        mo_json_string(t, "viscosity", varies ? "function(x, y, z, t)" : "function(x, y, z)");
    } else if (r->consistency > 0 || r->yield_stress > 0) {
        mo_json_begin(t, "rheology", '{');
        mo_json_number(t, "consistency", r->consistency);
        mo_json_number(t, "flow_index", r->flow_index);
        mo_json_number(t, "yield_stress", r->yield_stress);
        mo_json_number(t, "threshold", r->threshold);
        mo_json_end(t, '}');
    } else {
        mo_json_number(t, "viscosity", viscosity);
    }
}

static void add_material(mo_text *t, double density, double viscosity, bool has_function, bool varies,
                         const mo_rheology *rheology, double surface_tension)
{
    mo_json_begin(t, NULL, '{');
    mo_json_number(t, "density", density);
    add_viscosity(t, viscosity, has_function, varies, rheology);
    mo_json_number(t, "surface_tension", surface_tension);
    mo_json_end(t, '}');
}

static void add_liquids(mo_text *t, const mo_sim_def *d)
{
    mo_json_begin(t, "liquids", '[');
    for (int32_t i = 0; i < d->liquid_count; i++) {
        const mo_liquid_def *l = &d->liquids[i];
        add_material(t, l->density, l->viscosity, l->viscosity_fn, l->viscosity_varies, &l->rheology,
                     l->surface_tension);
    }
    mo_json_end(t, ']');
    mo_json_begin(t, "emitters", '[');
    for (int32_t i = 0; i < d->emitter_count; i++) {
        const mo_emitter_def *e = &d->emitters[i];
        add_material(t, e->density, e->viscosity, e->viscosity_fn, e->viscosity_varies, &e->rheology,
                     e->surface_tension);
    }
    mo_json_end(t, ']');
}

static void add_air(mo_text *t, const mo_sim_def *d)
{
    if (!d->air) return;
    mo_json_begin(t, "air", '{');
    mo_json_number(t, "density", d->air->density);
    mo_json_number(t, "temperature", d->air->temperature);
    mo_json_vector(t, "wind", d->air->wind);
    mo_json_number(t, "cooling", d->air->cooling);
    mo_json_number(t, "vorticity", d->air->vorticity);
    mo_json_string(t, "advection", d->air->advection == MO_ADVECTION_PAPER ? "paper" : "second-order");
    mo_json_integer(t, "margin", d->air->margin);
    mo_json_end(t, '}');
    mo_json_begin(t, "smokes", '[');
    for (int32_t i = 0; i < d->smoke_count; i++) {
        const mo_smoke_def *s = &d->smokes[i];
        mo_json_begin(t, NULL, '{');
        mo_json_number(t, "density", s->density);
        mo_json_number(t, "temperature", s->temperature ? s->temperature : d->air->temperature);
        if (s->moves) mo_json_vector(t, "velocity", s->velocity);
        mo_json_number(t, "start", s->start);
        mo_json_number(t, "seconds", s->seconds);
        mo_json_end(t, '}');
    }
    mo_json_end(t, ']');
}

static void add_settings(mo_text *t, const mo_sim_def *d)
{
    mo_json_begin(t, "settings", '{');
    mo_json_begin(t, "domain", '{');
    mo_json_vector(t, "size", d->domain.size);
    mo_json_integer(t, "cells", d->domain.cells);
    mo_json_begin(t, "walls", '[');
    for (int i = 0; i < 6; i++) mo_json_string(t, NULL, wall_name[d->domain.walls[i]]);
    mo_json_end(t, ']');
    mo_json_boolean(t, "contact", d->domain.contact);
    mo_json_number(t, "friction", d->domain.friction);
    mo_json_number(t, "restitution", d->domain.restitution);
    mo_json_end(t, '}');
    mo_json_vector(t, "gravity", d->gravity);
    mo_json_begin(t, "time", '{');
    mo_json_number(t, "fps", d->time.fps);
    mo_json_number(t, "seconds", d->time.seconds);
    mo_json_number(t, "cfl", d->time.cfl);
    mo_json_number(t, "max_step", d->time.max_step);
    mo_json_end(t, '}');
    add_solver(t, &d->solver);
    add_liquids(t, d);
    add_air(t, d);
    mo_json_integer(t, "particles_per_axis", d->particles_per_axis);
    mo_json_integer(t, "particles_band", d->particles_band);
    mo_json_integer(t, "surface", d->surface);
    if (d->correct_volume == MO_CORRECTION_LOCAL)
        mo_json_string(t, "correct_volume", "local");
    else
        mo_json_boolean(t, "correct_volume", d->correct_volume == MO_CORRECTION_GLOBAL);
    mo_json_end(t, '}');
}

static void add_solids(mo_text *t, const mo_run_record *r)
{
    mo_json_begin(t, "solids", '[');
    for (int32_t i = 0; i < r->def->sim->solid_count; i++) {
        const mo_solid_def *solid = &r->def->sim->solids[i];
        mo_json_begin(t, NULL, '{');
        mo_json_string(t, "name", solid->name);
        mo_json_string(t, "kind", solid->rigid ? "rigid" : solid->motion ? "moving" : "fixed");
        mo_json_string(t, "file", r->body_file[i]);
        mo_json_string(t, "wall", wall_name[solid->wall]);
        mo_json_vector(t, "surface_velocity", solid->surface_velocity);
        mo_json_number(t, "friction", solid->friction);
        mo_json_number(t, "restitution", solid->restitution);
        if (solid->rigid) mo_json_number(t, "density", solid->density);
        mo_solid_look_record(t, &solid->look);
        mo_json_end(t, '}');
    }
    for (int32_t i = 0; i < r->def->sim->shell_count; i++) {
        const mo_shell_def *shell = &r->def->sim->shells[i];
        mo_json_begin(t, NULL, '{');
        mo_json_string(t, "name", shell->name);
        mo_json_string(t, "kind", "shell");
        mo_json_string(t, "file", r->body_file[r->def->sim->solid_count + i]);
        mo_json_string(t, "wall", wall_name[shell->wall]);
        mo_json_boolean(t, "moving", shell->motion || shell->density > 0);
        if (shell->density > 0) mo_json_number(t, "density", shell->density);
        mo_json_number(t, "friction", shell->friction);
        mo_json_number(t, "restitution", shell->restitution);
        mo_json_integer(t, "triangles", shell->sheet->triangles);
        mo_json_number(t, "thickness", shell->thickness);
        mo_solid_look_record(t, &shell->look);
        mo_json_end(t, '}');
    }
    mo_json_end(t, ']');
}

static void add_elastics(mo_text *t, const mo_run_record *r)
{
    mo_json_begin(t, "elastics", '[');
    for (int32_t i = 0; i < r->def->sim->elastic_count; i++) {
        const mo_elastic_def *e = &r->def->sim->elastics[i];
        mo_elastic_state s;
        mo_sim_elastic(r->sim, i, &s);
        mo_json_begin(t, NULL, '{');
        mo_json_string(t, "name", s.name);
        mo_json_string(t, "file", r->elastic_file[i]);
        mo_json_integer(t, "vertices", s.vertex_count);
        mo_json_integer(t, "elements", s.element_count);
        mo_json_number(t, "mass", s.mass);
        mo_json_number(t, "element", e->element);
        mo_json_number(t, "density", e->density);
        mo_json_number(t, "young", e->young);
        mo_json_number(t, "poisson", e->poisson);
        mo_json_string(t, "model", e->model == MO_ST_VENANT_KIRCHHOFF ? "st-venant-kirchhoff" : "neo-hookean");
        mo_json_number(t, "viscosity", e->viscosity);
        mo_json_number(t, "drag", e->drag);
        mo_json_integer(t, "pins", e->pin_count);
        mo_json_number(t, "friction", e->friction);
        mo_json_string(t, "wall", wall_name[e->wall]);
        mo_json_boolean(t, "self_contact", e->self_contact);
        mo_solid_look_record(t, &e->look);
        mo_json_end(t, '}');
    }
    mo_json_end(t, ']');
}

static void add_cloths(mo_text *t, const mo_run_record *r)
{
    mo_json_begin(t, "cloths", '[');
    for (int32_t i = 0; i < r->def->sim->cloth_count; i++) {
        const mo_cloth_def *c = &r->def->sim->cloths[i];
        mo_cloth_state s;
        mo_sim_cloth(r->sim, i, &s);
        mo_json_begin(t, NULL, '{');
        mo_json_string(t, "name", s.name);
        mo_json_string(t, "file", r->cloth_file[i]);
        mo_json_integer(t, "vertices", s.vertex_count);
        mo_json_integer(t, "triangles", s.triangle_count);
        mo_json_number(t, "mass", s.mass);
        mo_json_number(t, "density", c->density);
        mo_json_number(t, "stretch", c->stretch);
        mo_json_number(t, "bend", c->bend);
        mo_json_number(t, "poisson", c->poisson);
        mo_json_number(t, "damping", c->damping);
        mo_json_number(t, "drag", c->drag);
        mo_json_number(t, "thickness", s.thickness);
        mo_json_vector(t, "wind", c->wind);
        mo_json_integer(t, "pins", c->pin_count);
        mo_json_integer(t, "attached", c->attached_count);
        mo_json_integer(t, "cords", c->cord_count);
        mo_json_number(t, "friction", c->friction);
        mo_json_string(t, "wall", c->wall == MO_WALL_SLIP ? "slip" : "no-slip");
        mo_solid_look_record(t, &c->look);
        mo_json_end(t, '}');
    }
    mo_json_end(t, ']');
}

static void add_warnings(mo_text *t, const mo_warning_count *count)
{
    mo_json_begin(t, "warnings", '[');
    for (int k = 0; count && k < MO_WARNING_COUNT; k++) {
        if (count[k].steps == 0) continue;
        char worst[32];
        mo_warning_worst((mo_warning)k, count[k].worst, worst);
        mo_json_begin(t, NULL, '{');
        mo_json_string(t, "kind", mo_warning_name((mo_warning)k));
        mo_json_string(t, "text", mo_warning_text((mo_warning)k));
        mo_json_integer(t, "steps", count[k].steps);
        mo_json_integer(t, "first_step", count[k].first_step);
        mo_json_number(t, "first_time", count[k].first_time);
        mo_json_number(t, "worst", count[k].worst);
        mo_json_string(t, "worst_text", worst);
        mo_json_integer(t, "worst_step", count[k].worst_step);
        mo_json_number(t, "worst_time", count[k].worst_time);
        mo_json_end(t, '}');
    }
    mo_json_end(t, ']');
}

static void add_scene(mo_text *t, const mo_run_def *d)
{
    mo_json_begin(t, "scene", '{');
    mo_json_string(t, "path", d->scene_path);
    mo_json_begin(t, "overrides", '[');
    for (int32_t i = 0; i < d->override_count; i++) mo_json_string(t, NULL, d->overrides[i]);
    mo_json_end(t, ']');
    mo_json_string(t, "text", d->scene_text);
    mo_json_end(t, '}');
}

void mo_record_run(mo_text *t, const mo_run_record *r)
{
    const mo_run_def *d = r->def;
    mo_json_begin(t, NULL, '{');
    line_break(t);
    mo_json_string(t, "status", status_name[r->status]);
    mo_json_string(t, "message", r->message);
    next_line(t);
    add_warnings(t, r->warnings);
    next_line(t);
    mo_json_integer(t, "frames_done", r->frames_done);
    mo_json_integer(t, "frames", r->frames);
    mo_json_number(t, "fps", d->sim->time.fps);
    next_line(t);
    add_date(t, "start", r->start);
    add_date(t, "end", r->end);
    next_line(t);
    mo_json_string(t, "version", mo_version());
    mo_json_string(t, "build", mo_build());
    mo_json_boolean(t, "mixed_builds", r->mixed);
    mo_json_string(t, "compiler", compiler);
    mo_json_integer(t, "threads", d->sim->threads ? d->sim->threads : mo_thread_count());
    next_line(t);
    mo_json_begin(t, "output", '{');
    mo_json_boolean(t, "surface", d->surface);
    mo_json_boolean(t, "particles", d->particles);
    if (d->sim->elastic_count + d->sim->cloth_count) mo_json_boolean(t, "elastic", d->elastic);
    if (d->sim->elastic_count) mo_json_boolean(t, "elements", d->elements);
    if (d->sim->air) mo_json_boolean(t, "smoke", d->smoke);
    mo_json_integer(t, "checkpoint_every", d->checkpoint_every);
    mo_json_end(t, '}');
    next_line(t);
    add_settings(t, d->sim);
    next_line(t);
    add_solids(t, r);
    next_line(t);
    if (d->sim->elastic_count) {
        add_elastics(t, r);
        next_line(t);
    }
    if (d->sim->cloth_count) {
        add_cloths(t, r);
        next_line(t);
    }
    mo_look_def look = d->look ? *d->look : mo_look_def_default();
    mo_look_record(t, &look);
    next_line(t);
    add_scene(t, d);
    line_break(t);
    mo_json_end(t, '}');
    line_break(t);
}
