// The section elastic{...}: bodies of a shape or a mesh file, and their material.
#include "scene/scene.h"
#include "base/vec.h"
#include <stdio.h>
#include <string.h>

void mo_scene_release_elastics(mo_scene *scene)
{
    for (int32_t i = 0; i < scene->def.elastic_count; i++) {
        mo_elastic_def *elastic = &scene->elastics[i];
        mo_scene_release_pins(scene->parts[i]->pins, elastic->pin_count);
        if (elastic->shape) mo_shape_release(elastic->shape);
        mo_free((void *)elastic->name);
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
    mo_scene_read_pins(scene, r, &scene->parts[elastic - scene->elastics]->pins, &elastic->pin_count);
    elastic->pins = scene->parts[elastic - scene->elastics]->pins;
    elastic->friction = mo_table_number(r, "friction", elastic->friction, MO_NOT_NEGATIVE);
    elastic->wall = mo_scene_read_wall_kind(r, elastic->wall);
    elastic->self_contact = mo_table_boolean(r, "self_contact", elastic->self_contact);
    elastic->look = mo_scene_read_solid_look(r);
}
