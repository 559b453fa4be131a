// The section cloth{...}: sheets that stretch and bend, what holds them, and their cords.
#include "scene/scene.h"
#include "base/vec.h"
#include <stdio.h>
#include <string.h>

void mo_scene_release_cloths(mo_scene *scene)
{
    for (int32_t i = 0; i < scene->def.cloth_count; i++) {
        mo_cloth_def *cloth = &scene->cloths[i];
        mo_cloth_parts *parts = &scene->cloth_parts[i];
        mo_scene_release_pins(parts->pins, cloth->pin_count);
        for (int32_t k = 0; k < cloth->attached_count; k++) {
            if (parts->attached[k].where) mo_shape_release(parts->attached[k].where);
            mo_free((void *)parts->attached[k].solid);
        }
        for (int32_t k = 0; k < cloth->cord_count; k++) mo_free((void *)parts->cords[k].solid);
        mo_free(parts->attached), mo_free(parts->cords), mo_free((void *)cloth->name);
        mo_sheet_destroy(&parts->sheet);
    }
    mo_free(scene->cloths);
    mo_free(scene->cloth_parts);
}

// Room for a cloth that owns nothing yet. From now on mo_scene_release_cloths frees what it gets, also after an error.
static int32_t add_cloth(mo_scene *scene, const mo_table *r)
{
    int32_t count = scene->def.cloth_count;
    mo_scene_grow(scene, r, (void **)&scene->cloths, &scene->cloth_capacity, count, sizeof *scene->cloths);
    mo_scene_grow(scene, r, (void **)&scene->cloth_parts, &scene->cloth_parts_capacity, count,
                  sizeof *scene->cloth_parts);
    scene->cloth_parts[count] = (mo_cloth_parts){0};
    scene->cloths[count] = mo_cloth_def_default();
    scene->def.cloth_count++;
    return count;
}

static void read_material(const mo_table *r, mo_cloth_def *cloth)
{
    cloth->density = mo_table_number(r, "density", cloth->density, MO_POSITIVE);
    cloth->stretch = mo_table_number(r, "stretch", cloth->stretch, MO_POSITIVE);
    cloth->bend = mo_table_number(r, "bend", cloth->bend, MO_NOT_NEGATIVE);
    cloth->poisson = mo_table_number(r, "poisson", cloth->poisson, MO_NOT_NEGATIVE);
    if (cloth->poisson > 0.49) mo_table_fail(r, "poisson", "poisson must be 0..0.49, got %g", cloth->poisson);
    cloth->damping = mo_table_number(r, "damping", cloth->damping, MO_NOT_NEGATIVE);
    cloth->drag = mo_table_number(r, "drag", cloth->drag, MO_NOT_NEGATIVE);
    cloth->thickness = mo_table_number(r, "thickness", cloth->thickness, MO_POSITIVE);
}

static char *copy_text(mo_scene *scene, const char *text)
{
    char *copy = mo_alloc(strlen(text) + 1);
    if (!copy) mo_sandbox_no_memory(&scene->box);
    return memcpy(copy, text, strlen(text) + 1);
}

static void read_attached(mo_scene *scene, const mo_table *r, mo_cloth_def *cloth, mo_cloth_parts *parts)
{
    static const char *const keys[] = {"solid", "where", NULL};
    lua_State *L = r->box->L;
    int32_t all = mo_scene_read_list(r, "attached", "solid = ..., where = ...", MO_SCENE_PINS);
    if (!all) return;
    int list = lua_gettop(L);
    cloth->attached = parts->attached = mo_calloc(((size_t)all + 1) * sizeof *parts->attached);
    if (!parts->attached) mo_sandbox_no_memory(&scene->box);
    for (int32_t i = 0; i < all; i++) {
        mo_attachment_def *to = &parts->attached[i];
        cloth->attached_count = i + 1;
        mo_table sub = mo_scene_open_entry(r, "attached", "attachment", i + 1, keys);
        mo_callback *callback = mo_scene_add_callback(scene, sub.label);
        mo_table_require(&sub, "solid");
        to->solid = copy_text(scene, mo_table_string(&sub, "solid"));
        to->user = callback;
        to->where = mo_scene_read_where(&sub, callback);
        if (!to->where) to->where_fn = mo_scene_region;
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

static void read_cords(mo_scene *scene, const mo_table *r, mo_cloth_def *cloth, mo_cloth_parts *parts)
{
    static const char *const keys[] = {"from", "to", "solid", "length", "stretch", NULL};
    lua_State *L = r->box->L;
    int32_t all = mo_scene_read_list(r, "cords", "from = ..., to = ...", MO_SCENE_PINS);
    if (!all) return;
    int list = lua_gettop(L);
    cloth->cords = parts->cords = mo_calloc(((size_t)all + 1) * sizeof *parts->cords);
    if (!parts->cords) mo_sandbox_no_memory(&scene->box);
    for (int32_t i = 0; i < all; i++) {
        mo_cord_def *to = &parts->cords[i];
        cloth->cord_count = i + 1;
        *to = mo_cord_def_default();
        mo_table sub = mo_scene_open_entry(r, "cords", "cord", i + 1, keys);
        mo_table_require(&sub, "from"), mo_table_require(&sub, "to");
        to->from = mo_table_vector(&sub, "from", to->from), to->to = mo_table_vector(&sub, "to", to->to);
        const char *solid = mo_table_string(&sub, "solid");
        if (solid) to->solid = copy_text(scene, solid);
        to->length = mo_table_number(&sub, "length", to->length, MO_POSITIVE);
        to->stretch = mo_table_number(&sub, "stretch", to->stretch, MO_POSITIVE);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

void mo_scene_read_cloth(mo_scene *scene, mo_table *r)
{
    const char *name = mo_scene_read_name(r);
    int32_t i = add_cloth(scene, r);
    mo_cloth_def *cloth = &scene->cloths[i];
    mo_cloth_parts *parts = &scene->cloth_parts[i];
    cloth->name = mo_scene_body_name(scene, r, name);
    parts->recipe = mo_scene_read_sheet(r);
    read_material(r, cloth);
    cloth->velocity = mo_table_vector(r, "velocity", cloth->velocity);
    cloth->angular_velocity = mo_table_vector(r, "angular_velocity", cloth->angular_velocity);
    cloth->wind = mo_table_vector(r, "wind", cloth->wind);
    mo_scene_read_pins(scene, r, &parts->pins, &cloth->pin_count);
    cloth->pins = parts->pins;
    read_attached(scene, r, cloth, parts);
    read_cords(scene, r, cloth, parts);
    cloth->friction = mo_table_number(r, "friction", cloth->friction, MO_NOT_NEGATIVE);
    cloth->wall = mo_scene_read_wall_kind(r, cloth->wall);
    cloth->look = mo_scene_read_solid_look(r);
}

void mo_scene_finish_cloths(mo_scene *scene)
{
    for (int32_t i = 0; i < scene->def.cloth_count; i++) {
        mo_cloth_parts *parts = &scene->cloth_parts[i];
        mo_scene_make_sheet(scene, parts->recipe, &parts->sheet);
        scene->cloths[i].sheet = &parts->sheet;
    }
    scene->def.cloths = scene->cloths;
}
