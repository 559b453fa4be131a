// The sections air{...} and smoke{...}.
#include "base/vec.h"
#include "scene/scene.h"

static const char *const advections[] = {"second-order", "paper", NULL};

void mo_scene_read_air(mo_scene *scene, mo_table *r)
{
    mo_air_def *air = &scene->air;
    *air = mo_air_def_default();
    air->density = mo_table_number(r, "density", air->density, MO_POSITIVE);
    air->temperature = mo_table_number(r, "temperature", air->temperature, MO_POSITIVE);
    air->wind = mo_table_vector(r, "wind", air->wind);
    mo_scene_add_flat(scene, r, "wind.z", air->wind.z);
    air->cooling = mo_table_number(r, "cooling", air->cooling, MO_NOT_NEGATIVE);
    air->vorticity = mo_table_number(r, "vorticity", air->vorticity, MO_NOT_NEGATIVE);
    air->advection = (mo_advection)mo_table_choice(r, "advection", advections, MO_ADVECTION_SECOND_ORDER);
    air->margin = mo_table_integer(r, "margin", air->margin, 4, 64);
}

void mo_scene_read_smoke(mo_scene *scene, mo_table *r)
{
    mo_smoke_def smoke = mo_smoke_def_default();
    mo_scene_read_name(r);
    smoke.shape = mo_scene_read_bounded(r);
    smoke.density = mo_table_number(r, "density", smoke.density, MO_NOT_NEGATIVE);
    smoke.temperature = mo_table_number(r, "temperature", smoke.temperature, MO_POSITIVE);
    smoke.moves = mo_table_push(r, "velocity");
    lua_pop(r->box->L, 1);
    smoke.velocity = mo_table_vector(r, "velocity", smoke.velocity);
    mo_scene_add_flat(scene, r, "velocity.z", smoke.velocity.z);
    smoke.start = mo_table_number(r, "start", smoke.start, MO_NOT_NEGATIVE);
    smoke.seconds = mo_table_number(r, "seconds", smoke.seconds, MO_NOT_NEGATIVE);
    mo_smoke_def *place = mo_scene_grow(scene, r, (void **)&scene->smokes, &scene->smoke_capacity,
                                        scene->def.smoke_count, sizeof *scene->smokes);
    *place = smoke;
    mo_shape_retain(smoke.shape);
    scene->def.smoke_count++;
}
