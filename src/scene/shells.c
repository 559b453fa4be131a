// The section shell{...}: sheets without thickness that are fixed, follow a script or are rigid bodies.
#include "base/vec.h"
#include "scene/scene.h"
#include <math.h>
#include <stdio.h>

void mo_scene_release_shells(mo_scene *scene)
{
    for (int32_t i = 0; i < scene->def.shell_count; i++) {
        mo_free((void *)scene->shells[i].name);
        mo_sheet_destroy(&scene->shell_parts[i].sheet);
    }
    mo_free(scene->shells);
    mo_free(scene->shell_parts);
}

// Room for a shell that owns nothing yet. From now on mo_scene_release_shells frees what it gets, also after an error.
static mo_shell_def *add_shell(mo_scene *scene, const mo_table *r)
{
    int32_t count = scene->def.shell_count;
    mo_scene_grow(scene, r, (void **)&scene->shells, &scene->shell_capacity, count, sizeof *scene->shells);
    mo_scene_grow(scene, r, (void **)&scene->shell_parts, &scene->shell_parts_capacity, count,
                  sizeof *scene->shell_parts);
    mo_shell_parts *parts = &scene->shell_parts[count];
    *parts = (mo_shell_parts){0};
    snprintf(parts->what, sizeof parts->what, "%s%s", r->where, r->label);
    scene->shells[count] = mo_shell_def_default();
    scene->shells[count].name = NULL;
    scene->def.shell_count++;
    return &scene->shells[count];
}

static bool given(const mo_table *r, const char *key)
{
    bool there = mo_table_push(r, key);
    lua_pop(r->box->L, 1);
    return there;
}

// A density makes it a rigid body.
static void read_rigid(mo_scene *scene, const mo_table *r, mo_shell_def *shell)
{
    static const char *const keys[] = {"velocity", "angular_velocity"};
    for (int i = 0; i < 2 && !given(r, "density"); i++)
        if (given(r, keys[i]))
            mo_table_fail(r, keys[i], "%s is for shells that forces move: give the shell a density, in kg/m^2",
                          keys[i]);
    if (!given(r, "density")) return;
    if (given(r, "motion"))
        mo_table_fail(r, "density", "motion and density exclude each other: a script moves the shell, or forces do");
    shell->density = mo_table_number(r, "density", 1, MO_POSITIVE);
    shell->velocity = mo_table_vector(r, "velocity", shell->velocity);
    shell->angular_velocity = mo_table_vector(r, "angular_velocity", shell->angular_velocity);
    mo_scene_add_flat(scene, r, "velocity.z", shell->velocity.z);
    mo_scene_add_flat(scene, r, "angular_velocity.x", shell->angular_velocity.x);
    mo_scene_add_flat(scene, r, "angular_velocity.y", shell->angular_velocity.y);
}

void mo_scene_read_shell(mo_scene *scene, mo_table *r)
{
    const char *name = mo_scene_read_name(r);
    mo_shell_def *shell = add_shell(scene, r);
    shell->name = mo_scene_body_name(scene, r, name);
    scene->shell_parts[scene->def.shell_count - 1].recipe = mo_scene_read_sheet(r);
    read_rigid(scene, r, shell);
    if (given(r, "motion")) shell->user = mo_scene_read_motion(scene, r), shell->motion = mo_scene_motion;
    mo_scene_read_touch(r, &shell->friction, &shell->restitution);
    shell->thickness = mo_table_number(r, "thickness", 0, MO_POSITIVE);
    shell->wall = mo_scene_read_wall_kind(r, shell->wall);
    shell->look = mo_scene_read_solid_look(r);
}

void mo_scene_finish_shells(mo_scene *scene)
{
    const mo_domain_def *d = &scene->def.domain;
    double cell = fmax(d->size.x, fmax(d->size.y, d->size.z)) / d->cells;
    for (int32_t i = 0; i < scene->def.shell_count; i++) {
        mo_shell_parts *parts = &scene->shell_parts[i];
        double thick = scene->shells[i].thickness / cell;
        if (thick != 0 && !(thick >= 0.01 * (1 - 1e-9) && thick <= 0.5 * (1 + 1e-9)))
            luaL_error(scene->box.L, "%s: thickness must be %f..%f m (0.01..0.5 cells), got %f", parts->what,
                       0.01 * cell, 0.5 * cell, scene->shells[i].thickness);
        mo_scene_make_sheet(scene, parts->recipe, &parts->sheet);
        scene->shells[i].sheet = &parts->sheet;
    }
    scene->def.shells = scene->shells;
}
