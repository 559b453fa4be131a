// The section elastic{...}: bodies of a shape or a mesh file, their material, and the pins that hold them.
#include "scene/scene.h"
#include "base/vec.h"
#include <stdio.h>
#include <string.h>

void mo_scene_release_elastics(mo_scene *scene)
{
    for (int32_t i = 0; i < scene->def.elastic_count; i++) {
        mo_elastic_def *elastic = &scene->elastics[i];
        for (int32_t k = 0; k < elastic->pin_count; k++)
            if (elastic->pins[k].where) mo_shape_release(elastic->pins[k].where);
        if (elastic->shape) mo_shape_release(elastic->shape);
        mo_free((void *)elastic->name);
        mo_free(scene->parts[i]->pins);
        mo_tets_destroy(&scene->parts[i]->mesh);
        mo_free(scene->parts[i]);
    }
    mo_free(scene->elastics);
    mo_free(scene->parts);
}

// Room for a body that owns nothing yet. From now on mo_scene_release_elastics frees what it gets, also after an error.
static mo_elastic_def *add_elastic(mo_scene *scene, const mo_table *r)
{
    int32_t count = scene->def.elastic_count;
    mo_scene_grow(scene, r, (void **)&scene->elastics, &scene->elastic_capacity, count, sizeof *scene->elastics);
    mo_scene_grow(scene, r, (void **)&scene->parts, &scene->parts_capacity, count, sizeof(mo_elastic_parts *));
    mo_elastic_parts *parts = mo_calloc(sizeof *parts);
    if (!parts) mo_sandbox_no_memory(&scene->box);
    snprintf(parts->what, sizeof parts->what, "%s%s", r->where, r->label);
    scene->parts[count] = parts;
    scene->elastics[count] = mo_elastic_def_default();
    scene->def.elastic_count++;
    return &scene->elastics[count];
}

// ---- The body ----

static void read_mesh(mo_scene *scene, const mo_table *r, mo_tets *mesh)
{
    const char *file = mo_table_string(r, "mesh");
    char path[4096];
    mo_error err;
    mo_scene_find_file(scene, r, "mesh", file, path);
    if (scene->meshes++ >= MO_SCENE_MESHES) mo_table_fail(r, "mesh", "more than %d meshes", MO_SCENE_MESHES);
    double start = mo_sandbox_clock();
    mo_status status = mo_tets_read(path, mesh, &err);
    mo_sandbox_excuse(&scene->box, mo_sandbox_clock() - start);
    if (status == MO_ERROR_MEMORY) mo_sandbox_no_memory(&scene->box);
    if (status != MO_OK) mo_table_fail(r, "mesh", "%s", err.text); // names the mesh's file and line
}

// Exactly one of shape and mesh.
static void read_body(mo_scene *scene, const mo_table *r, mo_elastic_def *elastic)
{
    lua_State *L = r->box->L;
    char text[64];
    mo_elastic_parts *parts = scene->parts[elastic - scene->elastics];
    bool has_mesh = mo_table_push(r, "mesh"), has_shape = mo_table_push(r, "shape");
    const mo_shape *shape = mo_scene_to_shape(L, -1);
    if (has_shape && has_mesh)
        mo_table_fail(r, mo_override_of(scene->overrides, r->section, r->index, "mesh") ? "mesh" : "shape",
                      "shape and mesh exclude each other: the body is one of them");
    if (!has_shape && !has_mesh)
        mo_table_fail(r, NULL, "missing key 'shape', or 'mesh' with the name of a file of tetrahedra");
    if (has_shape && !shape) mo_table_fail(r, "shape", "shape must be a shape, got %s", mo_table_describe(L, -1, text));
    if (has_mesh && lua_type(L, -2) != LUA_TSTRING)
        mo_table_fail(r, "mesh", "mesh must be the name of a file of tetrahedra (.msh, .mesh, .vtk, .node), got %s%s",
                      mo_table_describe(L, -2, text), mo_scene_to_shape(L, -2) ? "; shapes belong into 'shape'" : "");
    elastic->element = mo_table_number(r, "element", elastic->element, MO_POSITIVE);
    if (shape) {
        mo_box3 bounds = mo_shape_bounds(shape);
        if (!mo_v3_finite(bounds.lo) || !mo_v3_finite(bounds.hi))
            mo_table_fail(r, "shape", "shape must be bounded: intersect it with a box");
        elastic->shape = mo_shape_retain(shape);
    } else {
        if (elastic->element > 0) mo_table_fail(r, "element", "element is for shapes: a mesh has its elements already");
        read_mesh(scene, r, &parts->mesh);
        elastic->mesh = &parts->mesh;
    }
    lua_pop(L, 2);
}

static void read_material(const mo_table *r, mo_elastic_def *elastic)
{
    static const char *const models[] = {"neo-hookean", "st-venant-kirchhoff", NULL};
    elastic->density = mo_table_number(r, "density", elastic->density, MO_POSITIVE);
    elastic->young = mo_table_number(r, "young", elastic->young, MO_POSITIVE);
    elastic->poisson = mo_table_number(r, "poisson", elastic->poisson, MO_NOT_NEGATIVE);
    if (elastic->poisson > 0.499)
        mo_table_fail(r, "poisson", "poisson must be 0..0.499 (at 0.5 no volume may change), got %g", elastic->poisson);
    elastic->model = (mo_elastic_model)mo_table_choice(r, "model", models, (int32_t)elastic->model);
    elastic->viscosity = mo_table_number(r, "viscosity", elastic->viscosity, MO_NOT_NEGATIVE);
    elastic->drag = mo_table_number(r, "drag", elastic->drag, MO_NOT_NEGATIVE);
}

// ---- Pins ----

// Reads the pin whose table is at the top of the stack.
static void read_pin(mo_scene *scene, const mo_table *r, int32_t number, mo_pin_def *pin)
{
    static const char *const keys[] = {"where", "motion", NULL};
    lua_State *L = r->box->L;
    char text[64];
    mo_table sub = *r;
    sub.table = lua_absindex(L, -1);
    sub.parent = "pins";
    snprintf(sub.label, sizeof sub.label, "%.80s: pin %d", r->label, (int)number);
    if (!lua_istable(L, -1))
        mo_table_fail(&sub, NULL, "must be { where = ..., motion = ... }, got %s", mo_table_describe(L, -1, text));
    mo_table_keys(&sub, keys);
    mo_callback *callback = mo_scene_add_callback(scene, sub.label);
    pin->user = callback;
    if (!mo_table_push(&sub, "where"))
        mo_table_fail(&sub, NULL, "missing key 'where': a shape, or a function(x, y, z) that returns true or false");
    const mo_shape *shape = mo_scene_to_shape(L, -1);
    if (!shape && !lua_isfunction(L, -1))
        mo_table_fail(&sub, NULL, "where must be a shape or a function(x, y, z), got %s",
                      mo_table_describe(L, -1, text));
    if (shape) {
        pin->where = mo_shape_retain(shape);
        lua_pop(L, 1);
    } else {
        mo_scene_set_function(callback, MO_CALL_REGION);
        pin->where_fn = mo_scene_region;
    }
    if (!mo_table_push(&sub, "motion")) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_isfunction(L, -1))
        mo_table_fail(&sub, NULL, "motion must be a function(t), got %s", mo_table_describe(L, -1, text));
    mo_scene_set_function(callback, MO_CALL_MOTION);
    mo_scene_call_motion(callback, 0); // a mistake in it shows now rather than after the start
    pin->motion = mo_scene_motion;
}

static void read_pins(mo_scene *scene, const mo_table *r, mo_elastic_def *elastic)
{
    lua_State *L = r->box->L;
    char text[64];
    mo_elastic_parts *parts = scene->parts[elastic - scene->elastics];
    if (!mo_table_push(r, "pins")) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        mo_table_fail(r, "pins", "pins must be a list {{ where = ... }, ...}, got %s", mo_table_describe(L, -1, text));
    int list = lua_gettop(L);
    int64_t count = (int64_t)lua_rawlen(L, list), entries = 0;
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) entries++;
    if (entries != count) // a name: one pin without the braces of the list
        mo_table_fail(r, "pins", "pins must be a list of pins, as in pins = {{ where = ... }}");
    if (count > MO_SCENE_PINS) mo_table_fail(r, "pins", "more than %d pins", MO_SCENE_PINS);
    parts->pins = mo_calloc((size_t)(count + 1) * sizeof *parts->pins);
    if (!parts->pins) mo_sandbox_no_memory(&scene->box);
    elastic->pins = parts->pins;
    for (int32_t i = 0; i < count; i++) {
        elastic->pin_count = i + 1;
        lua_rawgeti(L, list, i + 1);
        read_pin(scene, r, i + 1, &parts->pins[i]);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

// ---- The section ----

void mo_scene_read_elastic(mo_scene *scene, mo_table *r)
{
    const char *name = mo_scene_read_name(r);
    mo_elastic_def *elastic = add_elastic(scene, r);
    elastic->name = mo_scene_body_name(scene, r, name);
    read_body(scene, r, elastic);
    read_material(r, elastic);
    elastic->velocity = mo_table_vector(r, "velocity", elastic->velocity);
    elastic->angular_velocity = mo_table_vector(r, "angular_velocity", elastic->angular_velocity);
    mo_scene_add_flat(scene, r, "velocity.z", elastic->velocity.z);
    mo_scene_add_flat(scene, r, "angular_velocity.x", elastic->angular_velocity.x);
    mo_scene_add_flat(scene, r, "angular_velocity.y", elastic->angular_velocity.y);
    read_pins(scene, r, elastic);
    elastic->friction = mo_table_number(r, "friction", elastic->friction, MO_NOT_NEGATIVE);
    elastic->wall = mo_scene_read_wall_kind(r, elastic->wall);
    elastic->self_contact = mo_table_boolean(r, "self_contact", elastic->self_contact);
    elastic->look = mo_scene_read_solid_look(r);
}
