// The sections of a scene: domain{...}, liquid{...}, ... Each call is checked and stored at once, so that every message
// has the line of the call; what needs the whole scene is checked in mo_scene_finish.
#include "scene/scene.h"
#include "base/vec.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DOMAIN,
    GRAVITY,
    TIME,
    SOLVER,
    PARTICLES,
    VOLUME,
    OUTPUT,
    CAMERA,
    LOOK,
    LIQUID,
    FIXED,
    RIGID,
    SHELL,
    CLOTH,
    ELASTIC,
    MOVING,
    EMITTER,
    AIR,
    SMOKE
};

typedef struct section {
    const char *name;
    bool once; // may be given only once
    const char *keys[24];
    void (*read)(mo_scene *scene, mo_table *r);
} section;

// ---- Helpers ----

void *mo_scene_grow(mo_scene *scene, const mo_table *r, void **items, int64_t *capacity, int32_t count, size_t size)
{
    if (count >= MO_SCENE_ITEMS) mo_table_fail(r, NULL, "more than %d", MO_SCENE_ITEMS);
    if (!mo_reserve(items, capacity, count + 1, size)) mo_sandbox_no_memory(&scene->box);
    return (char *)*items + (size_t)count * size;
}

void mo_scene_add_flat(mo_scene *scene, const mo_table *r, const char *key, double z)
{
    if (z == 0) return;
    mo_flat *flat =
        mo_scene_grow(scene, r, (void **)&scene->flats, &scene->flat_capacity, scene->flat_count, sizeof *scene->flats);
    snprintf(flat->what, sizeof flat->what, "%s%s: %s", r->where, r->label, key);
    flat->z = z;
    scene->flat_count++;
}

const mo_shape *mo_scene_read_shape(const mo_table *r)
{
    char text[64];
    lua_State *L = r->box->L;
    mo_table_require(r, "shape");
    mo_table_push(r, "shape");
    const mo_shape *shape = mo_scene_to_shape(L, -1);
    if (!shape) mo_table_fail(r, "shape", "shape must be a shape, got %s", mo_table_describe(L, -1, text));
    lua_pop(L, 1); // the table keeps it
    return shape;
}

const mo_shape *mo_scene_read_bounded(const mo_table *r)
{
    const mo_shape *shape = mo_scene_read_shape(r);
    mo_box3 bounds = mo_shape_bounds(shape);
    if (!mo_v3_finite(bounds.lo) || !mo_v3_finite(bounds.hi))
        mo_table_fail(r, "shape", "shape must be bounded: intersect it with a box");
    return shape;
}

const char *mo_scene_read_name(mo_table *r)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *name = mo_table_string(r, "name");
    if (!name) return NULL;
    size_t length = strlen(name);
    if (length < 1 || length > 60 || strspn(name, letters) != length)
        mo_table_fail(r, "name", "name must be 1 to 60 letters, digits, '_' or '-', got '%.60s'", name);
    snprintf(r->label, sizeof r->label, "%s '%s'", r->section, name);
    return name;
}

char *mo_scene_body_name(mo_scene *scene, const mo_table *r, const char *name)
{
    char made[80];
    if (!name) {
        snprintf(made, sizeof made, "%s%d", r->section, (int)r->index);
        name = made;
    }
    bool taken = false;
    for (int32_t i = 0; i < scene->def.solid_count; i++) taken |= strcmp(scene->solids[i].name, name) == 0;
    for (int32_t i = 0; i < scene->def.elastic_count; i++)
        taken |= scene->elastics[i].name && strcmp(scene->elastics[i].name, name) == 0;
    for (int32_t i = 0; i < scene->def.cloth_count; i++)
        taken |= scene->cloths[i].name && strcmp(scene->cloths[i].name, name) == 0;
    for (int32_t i = 0; i < scene->def.shell_count; i++)
        taken |= scene->shells[i].name && strcmp(scene->shells[i].name, name) == 0;
    if (taken) mo_table_fail(r, "name", "another solid is already called '%s'", name);
    char *copy = mo_alloc(strlen(name) + 1);
    if (!copy) mo_sandbox_no_memory(&scene->box);
    return memcpy(copy, name, strlen(name) + 1);
}

// ---- Once per scene ----

static const char *const wall_names[] = {"slip", "no-slip", "open", "wind", NULL};
static const char *const face_names[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax", NULL};

static void read_walls(mo_scene *scene, const mo_table *r)
{
    mo_domain_def *domain = &scene->def.domain;
    lua_State *L = r->box->L;
    if (mo_table_push(r, "walls")) {
        if (lua_istable(L, -1)) {
            mo_table faces = *r;
            faces.table = lua_absindex(L, -1);
            faces.parent = "walls";
            snprintf(faces.label, sizeof faces.label, "domain: walls");
            mo_table_keys(&faces, face_names);
            for (int32_t i = 0; i < 6; i++)
                domain->walls[i] = (mo_wall)mo_table_choice(&faces, face_names[i], wall_names, MO_WALL_SLIP);
        } else {
            mo_wall wall = (mo_wall)mo_table_to_choice(r, "walls", -1, wall_names);
            for (int32_t i = 0; i < (domain->size.z > 0 ? 6 : 4); i++) domain->walls[i] = wall;
        }
    }
    lua_pop(L, 1);
    bool flat = domain->size.z == 0 && (domain->walls[MO_ZMIN] || domain->walls[MO_ZMAX]);
    if (flat) mo_table_fail(r, "walls", "walls in z must be \"slip\" in two dimensions");
}

// How solids touch each other.
void mo_scene_read_touch(const mo_table *r, double *friction, double *restitution)
{
    *friction = mo_table_number(r, "friction", *friction, MO_NOT_NEGATIVE);
    *restitution = mo_table_number(r, "restitution", *restitution, MO_NOT_NEGATIVE);
    if (*restitution > 1) mo_table_fail(r, "restitution", "restitution must be in 0..1, got %g", *restitution);
}

static void read_domain(mo_scene *scene, mo_table *r)
{
    mo_domain_def *domain = &scene->def.domain;
    mo_table_require(r, "size");
    mo_table_require(r, "cells");
    int32_t components;
    mo_table_push(r, "size");
    domain->size = mo_table_to_vector(r, "size", -1, &components);
    lua_pop(r->box->L, 1);
    double size[3] = {domain->size.x, domain->size.y, domain->size.z}, longest = 0;
    for (int32_t i = 0; i < components; i++) {
        if (!(size[i] >= 1e-6 && size[i] <= 1e6))
            mo_table_fail(r, "size", "size must be 1e-6..1e6 m, got %g for %c%s", size[i], "xyz"[i],
                          i == 2 && size[2] == 0 ? " (leave z out for two dimensions)" : "");
        longest = fmax(longest, size[i]);
    }
    domain->cells = mo_table_integer(r, "cells", 0, 4, 4096);
    for (int32_t i = 0; i < components; i++)
        if (size[i] * domain->cells < 0.5 * longest)
            mo_table_fail(r, "cells", "with %d cells along the longest edge, %c is thinner than a cell", domain->cells,
                          "xyz"[i]);
    read_walls(scene, r);
    domain->contact = mo_table_boolean(r, "contact", domain->contact);
    mo_scene_read_touch(r, &domain->friction, &domain->restitution);
}

static void read_gravity(mo_scene *scene, mo_table *r)
{
    scene->def.gravity = mo_table_to_vector(r, "gravity", r->table, NULL);
    mo_scene_add_flat(scene, r, "z", scene->def.gravity.z);
}

static void read_time(mo_scene *scene, mo_table *r)
{
    mo_time_def *time = &scene->def.time;
    time->fps = mo_table_number(r, "fps", time->fps, MO_POSITIVE);
    time->seconds = mo_table_number(r, "seconds", time->seconds, MO_POSITIVE);
    time->cfl = mo_table_number(r, "cfl", time->cfl, MO_POSITIVE);
    if (time->cfl > 3.5) mo_table_fail(r, "cfl", "cfl must be <= 3.5, got %g", time->cfl);
    time->max_step = mo_table_number(r, "max_step", time->max_step, MO_NOT_NEGATIVE);
    if (time->fps * time->seconds > 1e6)
        mo_table_fail(r, "seconds", "more than a million frames (fps = %g, seconds = %g)", time->fps, time->seconds);
}

static void read_solver(mo_scene *scene, mo_table *r)
{
    static const char *const routes[] = {"fast", "paper", NULL};
    static const char *const preconditioners[] = {"ssor", "ic0", "jacobi", NULL};
    static const char *const frictions[] = {"joint", "staggered", NULL};
    static const char *const expansions[] = {"projected-cg", "fixed", NULL};
    static const char *const couplings[] = {"faces", "polygons", NULL};
    static const char *const shells[] = {"cut", "paper", NULL};
    static const char *const weights[] = {"clamped", "raw", NULL};
    static const char *const contacts[] = {"ahead", "overlap", NULL};
    static const char *const stresses[] = {"full", "reduced", NULL};
    mo_solver_def *solver = &scene->def.solver;
    const char *scheme = mo_table_string(r, "scheme");
    if (scheme) {
        mo_error err;
        if (strlen(scheme) >= sizeof solver->scheme) mo_table_fail(r, "scheme", "unknown scheme '%.60s'", scheme);
        if (mo_scheme_check(scheme, &err) != MO_OK) mo_table_fail(r, "scheme", "%s", err.text);
        snprintf(solver->scheme, sizeof solver->scheme, "%s", scheme);
    }
    solver->route = (mo_route)mo_table_choice(r, "route", routes, (int32_t)solver->route);
    const char *method = mo_table_string(r, "method");
    if (method) {
        mo_error err;
        if (mo_method_check(method, solver->route, &err) != MO_OK) mo_table_fail(r, "method", "%s", err.text);
        snprintf(solver->method, sizeof solver->method, "%s", method);
    }
    solver->friction = (mo_friction)mo_table_choice(r, "friction", frictions, (int32_t)solver->friction);
    solver->expansion = (mo_expansion)mo_table_choice(r, "expansion", expansions, (int32_t)solver->expansion);
    solver->preconditioner =
        (mo_preconditioner)mo_table_choice(r, "preconditioner", preconditioners, (int32_t)solver->preconditioner);
    solver->tolerance = mo_table_number(r, "tolerance", solver->tolerance, MO_POSITIVE);
    if (solver->tolerance >= 1) mo_table_fail(r, "tolerance", "tolerance must be < 1, got %g", solver->tolerance);
    solver->max_iterations = mo_table_integer(r, "max_iterations", solver->max_iterations, 1, 1000000000);
    solver->raw_weights = mo_table_choice(r, "weights", weights, solver->raw_weights);
    solver->rounds = mo_table_integer(r, "rounds", solver->rounds, 1, 100);
    solver->cone = mo_table_boolean(r, "cone", solver->cone);
    if (solver->cone && solver->route == MO_ROUTE_PAPER)
        mo_table_fail(r, "cone", "route \"paper\" bounds friction on each tangent; cone needs route \"fast\"");
    solver->coupling = (mo_coupling)mo_table_choice(r, "coupling", couplings, (int32_t)solver->coupling);
    solver->shells = (mo_shell_form)mo_table_choice(r, "shells", shells, (int32_t)solver->shells);
    solver->softness = mo_table_number(r, "softness", solver->softness, MO_POSITIVE);
    if (!(solver->softness >= 1e-10 && solver->softness <= 1e-4))
        mo_table_fail(r, "softness", "softness must be 1e-10..1e-4, got %g", solver->softness);
    solver->contact = (mo_touching)mo_table_choice(r, "contact", contacts, (int32_t)solver->contact);
    solver->margin = mo_table_number(r, "margin", solver->margin, MO_NOT_NEGATIVE);
    if (solver->margin > 1) mo_table_fail(r, "margin", "margin must be 0..1 cells, got %g", solver->margin);
    solver->stabilisation = mo_table_number(r, "stabilisation", solver->stabilisation, MO_NOT_NEGATIVE);
    if (solver->stabilisation > 1)
        mo_table_fail(r, "stabilisation", "stabilisation must be 0..1, got %g", solver->stabilisation);
    solver->decoupled_stress =
        (mo_decoupled_stress)mo_table_choice(r, "decoupled_stress", stresses, (int32_t)solver->decoupled_stress);
    solver->verify = mo_table_boolean(r, "verify", solver->verify);
    solver->strict = mo_table_boolean(r, "strict", solver->strict);
}

static void read_particles(mo_scene *scene, mo_table *r)
{
    scene->def.particles_per_axis = mo_table_integer(r, "per_axis", scene->def.particles_per_axis, 1, 4);
    scene->def.particles_band = mo_table_integer(r, "band", scene->def.particles_band, 0, 4);
    if (scene->def.particles_band == 1)
        mo_table_fail(r, "band", "band must be 0 (particles everywhere) or 2..4, got 1");
}

static void read_volume(mo_scene *scene, mo_table *r)
{
    lua_State *L = r->box->L;
    char text[64];
    if (mo_table_push(r, "correct")) {
        if (lua_isboolean(L, -1))
            scene->def.correct_volume = lua_toboolean(L, -1) ? MO_CORRECTION_GLOBAL : MO_CORRECTION_NONE;
        else if (lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "local"))
            scene->def.correct_volume = MO_CORRECTION_LOCAL;
        else
            mo_table_fail(r, "correct", "correct must be true, false or \"local\", got %s",
                          mo_table_describe(L, -1, text));
    }
    lua_pop(L, 1);
}

// A number, or false for none.
static void read_output(mo_scene *scene, mo_table *r)
{
    lua_State *L = r->box->L;
    bool none = mo_table_push(r, "surface") && lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    lua_pop(L, 1);
    scene->def.surface = none ? 0 : mo_table_integer(r, "surface", scene->def.surface, 0, 4);
}

// ---- Any number per scene ----

// All liquids and emitters share one density: the first one read.
static double read_density(mo_scene *scene, const mo_table *r, double otherwise)
{
    double density = mo_table_number(r, "density", otherwise, MO_POSITIVE);
    double first = scene->def.liquid_count    ? scene->liquids[0].density
                   : scene->def.emitter_count ? scene->emitters[0].density
                                              : density;
    if (density != first)
        mo_table_fail(r, "density", "density must be the same in all liquids and emitters: %g, got %g", first, density);
    return density;
}

static void read_liquid(mo_scene *scene, mo_table *r)
{
    lua_State *L = r->box->L;
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_scene_read_name(r);
    liquid.shape = mo_scene_read_shape(r);
    liquid.density = read_density(scene, r, liquid.density);
    mo_table_push(r, "velocity");
    if (lua_isfunction(L, -1)) {
        mo_callback *callback = mo_scene_add_callback(scene, r->label);
        mo_scene_set_function(callback, MO_CALL_VELOCITY);
        liquid.velocity_fn = mo_scene_velocity;
        liquid.user = callback;
    } else {
        lua_pop(L, 1);
        liquid.velocity = mo_table_vector(r, "velocity", liquid.velocity);
        mo_scene_add_flat(scene, r, "velocity.z", liquid.velocity.z);
    }
    mo_viscous_keys v = mo_scene_read_viscous(scene, r, &liquid.user);
    liquid.viscosity = v.viscosity, liquid.viscosity_fn = v.viscosity_fn;
    liquid.viscosity_varies = v.viscosity_varies;
    liquid.rheology = v.rheology, liquid.surface_tension = v.surface_tension;
    mo_liquid_def *place = mo_scene_grow(scene, r, (void **)&scene->liquids, &scene->liquid_capacity,
                                         scene->def.liquid_count, sizeof *scene->liquids);
    *place = liquid;
    mo_shape_retain(liquid.shape);
    scene->def.liquid_count++;
}

// Stores a solid under a name of its own, with the keys of its surface.
static void add_solid(mo_scene *scene, mo_table *r, mo_solid_def solid, const char *name)
{
    mo_scene_read_wall(r, &solid);
    mo_scene_read_touch(r, &solid.friction, &solid.restitution);
    mo_scene_add_flat(scene, r, "surface_velocity.z", solid.surface_velocity.z);
    mo_solid_def *place = mo_scene_grow(scene, r, (void **)&scene->solids, &scene->solid_capacity,
                                        scene->def.solid_count, sizeof *scene->solids);
    char *own = mo_scene_body_name(scene, r, name);
    *place = solid;
    place->name = own;
    mo_shape_retain(solid.shape);
    scene->def.solid_count++;
}

static void read_fixed(mo_scene *scene, mo_table *r)
{
    mo_solid_def solid = mo_solid_def_default();
    const char *name = mo_scene_read_name(r);
    solid.shape = mo_scene_read_shape(r);
    solid.look = mo_scene_read_solid_look(r);
    add_solid(scene, r, solid, name);
}

static void read_rigid(mo_scene *scene, mo_table *r)
{
    mo_solid_def solid = mo_solid_def_default();
    const char *name = mo_scene_read_name(r);
    solid.rigid = true;
    solid.shape = mo_scene_read_bounded(r);
    solid.density = mo_table_number(r, "density", solid.density, MO_POSITIVE);
    solid.velocity = mo_table_vector(r, "velocity", solid.velocity);
    solid.angular_velocity = mo_table_vector(r, "angular_velocity", solid.angular_velocity);
    mo_scene_add_flat(scene, r, "velocity.z", solid.velocity.z);
    mo_scene_add_flat(scene, r, "angular_velocity.x", solid.angular_velocity.x);
    mo_scene_add_flat(scene, r, "angular_velocity.y", solid.angular_velocity.y);
    solid.look = mo_scene_read_solid_look(r);
    add_solid(scene, r, solid, name);
}

mo_callback *mo_scene_read_motion(mo_scene *scene, const mo_table *r)
{
    char text[64];
    lua_State *L = r->box->L;
    mo_table_require(r, "motion");
    mo_table_push(r, "motion");
    if (!lua_isfunction(L, -1))
        mo_table_fail(r, "motion", "motion must be a function(t), got %s", mo_table_describe(L, -1, text));
    mo_callback *callback = mo_scene_add_callback(scene, r->label);
    mo_scene_set_function(callback, MO_CALL_MOTION);
    mo_scene_call_motion(callback, 0); // a mistake in it shows now rather than after the fill
    return callback;
}

static void read_moving(mo_scene *scene, mo_table *r)
{
    mo_solid_def solid = mo_solid_def_default();
    const char *name = mo_scene_read_name(r);
    solid.shape = mo_scene_read_shape(r);
    solid.motion = mo_scene_motion;
    solid.user = mo_scene_read_motion(scene, r);
    solid.look = mo_scene_read_solid_look(r);
    add_solid(scene, r, solid, name);
}

static void read_emitter(mo_scene *scene, mo_table *r)
{
    mo_emitter_def emitter = mo_emitter_def_default();
    mo_scene_read_name(r);
    emitter.shape = mo_scene_read_bounded(r);
    mo_table_require(r, "velocity");
    emitter.velocity = mo_table_vector(r, "velocity", emitter.velocity);
    if (!(mo_norm(emitter.velocity) > 0)) mo_table_fail(r, "velocity", "velocity must not be zero");
    mo_scene_add_flat(scene, r, "velocity.z", emitter.velocity.z);
    emitter.density = read_density(scene, r, emitter.density);
    emitter.start = mo_table_number(r, "start", emitter.start, MO_NOT_NEGATIVE);
    emitter.seconds = mo_table_number(r, "seconds", emitter.seconds, MO_POSITIVE);
    mo_viscous_keys v = mo_scene_read_viscous(scene, r, &emitter.user);
    emitter.viscosity = v.viscosity, emitter.viscosity_fn = v.viscosity_fn;
    emitter.viscosity_varies = v.viscosity_varies;
    emitter.rheology = v.rheology, emitter.surface_tension = v.surface_tension;
    mo_emitter_def *place = mo_scene_grow(scene, r, (void **)&scene->emitters, &scene->emitter_capacity,
                                          scene->def.emitter_count, sizeof *scene->emitters);
    *place = emitter;
    mo_shape_retain(emitter.shape);
    scene->def.emitter_count++;
}

static const section sections[MO_SECTION_COUNT] = {
    [DOMAIN] = {"domain", true, {"size", "cells", "walls", "contact", "friction", "restitution"}, read_domain},
    [GRAVITY] = {"gravity", true, {NULL}, read_gravity},
    [TIME] = {"time", true, {"fps", "seconds", "cfl", "max_step"}, read_time},
    [SOLVER] = {"solver",
                true,
                {"scheme",  "route",    "method",        "preconditioner",   "tolerance", "max_iterations", "weights",
                 "rounds",  "friction", "cone",          "expansion",        "coupling",  "shells",         "softness",
                 "contact", "margin",   "stabilisation", "decoupled_stress", "verify",    "strict"},
                read_solver},
    [PARTICLES] = {"particles", true, {"per_axis", "band"}, read_particles},
    [VOLUME] = {"volume", true, {"correct"}, read_volume},
    [OUTPUT] = {"output", true, {"surface"}, read_output},
    [CAMERA] = {"camera", true, {"eye", "target", "fov"}, mo_scene_read_camera},
    [LOOK] = {"look",
              true,
              {"sky", "sun", "ground", "ground_color", "liquid_color", "opaque", "smoke_color", "exposure", "edges"},
              mo_scene_read_look},
    [LIQUID] = {"liquid",
                false,
                {"shape", "density", "velocity", "name", "viscosity", "rheology", "surface_tension"},
                read_liquid},
    [FIXED] = {"fixed",
               false,
               {"shape", "name", "wall", "surface_velocity", "friction", "restitution", "color", "material", "visible"},
               read_fixed},
    [RIGID] = {"rigid",
               false,
               {"shape", "name", "density", "velocity", "angular_velocity", "wall", "surface_velocity", "friction",
                "restitution", "color", "material", "visible"},
               read_rigid},
    [CLOTH] = {"cloth",
               false,
               {"sheet",     "name",     "density",          "stretch", "bend", "poisson",  "damping", "drag",
                "thickness", "velocity", "angular_velocity", "wind",    "pins", "attached", "cords",   "friction",
                "wall",      "color",    "material",         "visible"},
               mo_scene_read_cloth},
    [SHELL] = {"shell",
               false,
               {"sheet", "name", "motion", "density", "velocity", "angular_velocity", "friction", "restitution",
                "thickness", "wall", "color", "material", "visible"},
               mo_scene_read_shell},
    [ELASTIC] = {"elastic",
                 false,
                 {"shape", "mesh", "name", "element", "density", "young", "poisson", "model", "viscosity", "drag",
                  "velocity", "angular_velocity", "pins", "friction", "wall", "self_contact", "color", "material",
                  "visible"},
                 mo_scene_read_elastic},
    [MOVING] = {"moving",
                false,
                {"shape", "motion", "name", "wall", "surface_velocity", "friction", "restitution", "color", "material",
                 "visible"},
                read_moving},
    [EMITTER] = {"emitter",
                 false,
                 {"shape", "velocity", "density", "start", "seconds", "name", "viscosity", "rheology",
                  "surface_tension"},
                 read_emitter},
    [AIR] = {"air",
             true,
             {"density", "temperature", "wind", "cooling", "vorticity", "advection", "margin"},
             mo_scene_read_air},
    [SMOKE] = {"smoke",
               false,
               {"shape", "name", "density", "temperature", "velocity", "start", "seconds"},
               mo_scene_read_smoke},
};

// ---- Calls ----

// Reads the table at stack index 1 as call number `index` of a section.
static void read_section(mo_scene *scene, int32_t which, int32_t index)
{
    const section *s = &sections[which];
    mo_table r = mo_table_open(&scene->box, s->name, 1);
    r.overrides = scene->overrides;
    r.index = index;
    if (s->once && index > 1) mo_table_fail(&r, NULL, "given twice, first at %.64s", scene->called_from[which]);
    snprintf(scene->called_from[which], sizeof scene->called_from[which], "%.*s", (int)strlen(r.where) - 2, r.where);
    mo_overrides_apply(scene->overrides, &scene->box, s->name, index, 1);
    if (which != GRAVITY) mo_table_keys(&r, s->keys);
    s->read(scene, &r);
}

static int call_section(lua_State *L)
{
    mo_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    int32_t which = (int32_t)lua_tointeger(L, lua_upvalueindex(2));
    mo_scene_only_loading(scene, sections[which].name);
    read_section(scene, which, ++scene->calls[which]);
    return 0;
}

// param{ angle = 10 }: each name becomes a global that --set param.angle=20 changes.
static void read_param(mo_scene *scene, const mo_table *r, const char *name)
{
    lua_State *L = r->box->L;
    char text[64];
    int type = lua_type(L, -1);
    bool vector = type == LUA_TTABLE;
    if (type != LUA_TNUMBER && type != LUA_TBOOLEAN && type != LUA_TSTRING && !vector)
        mo_table_fail(r, name, "%s must be a number, true or false, a string or a vector, got %s", name,
                      mo_table_describe(L, -1, text));
    if (vector) mo_table_to_vector(r, name, -1, NULL);
    if (mo_overrides_push(scene->overrides, L, "param", name)) {
        if (lua_type(L, -1) != type)
            mo_table_fail(r, name, "%s must be a %s, got %s", name, lua_typename(L, type),
                          mo_table_describe(L, -1, text));
        if (vector) mo_table_to_vector(r, name, -1, NULL);
        lua_replace(L, -2);
    }
    lua_pushglobaltable(L);
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) != LUA_TNIL) mo_table_fail(r, NULL, "the name '%s' is already taken", name);
    lua_pop(L, 1);
    lua_pushstring(L, name);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static int call_param(lua_State *L)
{
    mo_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    mo_scene_only_loading(scene, "param");
    mo_table r = mo_table_open(&scene->box, "param", 1);
    r.overrides = scene->overrides;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) mo_table_fail(&r, NULL, "expects names, as in param{ angle = 10 }");
        const char *name = lua_tostring(L, -2);
        mo_table_whole(&r, -2);
        if (strlen(name) > 31) mo_table_fail(&r, NULL, "the name '%.60s' is longer than 31 bytes", name);
        read_param(scene, &r, name);
        // Known parameters, for suggestions.
        lua_pushvalue(L, -2);
        lua_pushboolean(L, true);
        lua_rawset(L, lua_upvalueindex(2));
    }
    return 0;
}

void mo_scene_add_sections(mo_scene *scene)
{
    lua_State *L = scene->box.L;
    for (int32_t i = 0; i < MO_SECTION_COUNT; i++) {
        lua_pushlightuserdata(L, scene);
        lua_pushinteger(L, i);
        lua_pushcclosure(L, call_section, 2);
        lua_setfield(L, -2, sections[i].name);
    }
    lua_pushlightuserdata(L, scene);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "params");
    lua_pushcclosure(L, call_param, 2);
    lua_setfield(L, -2, "param");
}

// ---- After the scene ran ----

// Says why nothing in the scene took an override.
static void fail_unused(mo_scene *scene, const mo_unused *unused)
{
    lua_State *L = scene->box.L;
    const char *names[64] = {NULL}, *nearest;
    int32_t count = 0;
    if (strcmp(unused->section, "param") == 0) {
        lua_getfield(L, LUA_REGISTRYINDEX, "params");
        for (lua_pushnil(L); lua_next(L, -2) && count < 63; lua_pop(L, 1)) names[count++] = lua_tostring(L, -2);
        nearest = mo_nearest_name(unused->key, names);
        luaL_error(L, "--set %s: the scene has no parameter '%s'%s%s%s", unused->text, unused->key,
                   nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    }
    for (; count < MO_SECTION_COUNT; count++) {
        if (strcmp(unused->section, sections[count].name) == 0)
            luaL_error(L, "--set %s: the scene has %d %s{...}", unused->text, (int)scene->calls[count],
                       unused->section);
        names[count] = sections[count].name;
    }
    names[count] = "param";
    nearest = mo_nearest_name(unused->section, names);
    luaL_error(L, "--set %s: unknown section '%s'%s%s%s", unused->text, unused->section,
               nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

void mo_scene_finish(mo_scene *scene)
{
    lua_State *L = scene->box.L;
    mo_sim_def *def = &scene->def;
    // Overridden sections that the scene leaves at their defaults. A domain needs more than an override.
    for (int32_t i = GRAVITY; i < LIQUID; i++) {
        if (scene->calls[i] || !mo_overrides_any(scene->overrides, sections[i].name)) continue;
        lua_settop(L, 0);
        lua_newtable(L);
        const double gravity[3] = {def->gravity.x, def->gravity.y, def->gravity.z};
        for (int32_t k = 0; k < 3 && i == GRAVITY; k++) {
            lua_pushnumber(L, gravity[k]);
            lua_rawseti(L, 1, k + 1);
        }
        read_section(scene, i, 1);
    }
    if (!scene->calls[DOMAIN]) luaL_error(L, "%s: no domain{ size = ..., cells = ... }", scene->path);
    bool bodies = def->elastic_count + def->cloth_count > 0;
    for (int32_t i = 0; i < def->solid_count; i++) bodies |= scene->solids[i].rigid;
    for (int32_t i = 0; i < def->shell_count; i++) bodies |= scene->shells[i].density > 0;
    bool air = scene->calls[AIR] > 0, liquid = def->liquid_count || def->emitter_count;
    if (!liquid && !bodies && !air && !def->smoke_count)
        luaL_error(L,
                   "%s: no liquid{...}, no emitter{...}, no air{...}, no rigid{...}, no elastic{...} and no cloth{...}",
                   scene->path);
    if (def->smoke_count && !air) luaL_error(L, "%s: smoke{...} without air{...}", scene->called_from[SMOKE]);
    if (air && liquid)
        luaL_error(L, "%s: air{...} and liquid{...} or emitter{...} exclude each other", scene->called_from[AIR]);
    if (air && def->elastic_count)
        luaL_error(L, "%s: air{...} and elastic{...} exclude each other: bodies in air are rigid{...}",
                   scene->called_from[AIR]);
    for (int32_t i = 0; i < scene->flat_count && def->domain.size.z == 0; i++)
        luaL_error(L, "%s must be 0 in two dimensions", scene->flats[i].what);
    for (int32_t i = 0; i < def->elastic_count; i++) {
        int32_t dimension = scene->parts[i]->mesh.dimension;
        if (dimension && (dimension == 2) != (def->domain.size.z == 0))
            luaL_error(L, "%s: the mesh has %s, the domain is %s-dimensional", scene->parts[i]->what,
                       dimension == 2 ? "triangles" : "tetrahedra", dimension == 2 ? "three" : "two");
    }
    mo_scene_finish_shells(scene);
    mo_scene_finish_cloths(scene);
    mo_unused unused;
    if (mo_overrides_unused(scene->overrides, &unused)) fail_unused(scene, &unused);
    def->liquids = scene->liquids;
    def->solids = scene->solids;
    def->elastics = scene->elastics;
    def->emitters = scene->emitters;
    def->air = air ? &scene->air : NULL, def->smokes = scene->smokes;
}
