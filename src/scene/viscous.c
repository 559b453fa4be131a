// What a scene says about viscous liquids: viscosity, rheology and surface_tension of liquids and emitters, wall and
// surface_velocity of solids.
#include "scene/scene.h"
#include "fluid/rheology.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

// A function of a place is asked once for every particle, one of a place and the time in every step.
static void read_function(mo_scene *scene, const mo_table *r, mo_viscous_keys *keys, void **user)
{
    lua_State *L = r->box->L;
    lua_Debug info;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">u", &info);
    if (info.isvararg || info.nparams > 4)
        mo_table_fail(r, "viscosity", "viscosity must be a function(x, y, z) or a function(x, y, z, t)");
    if (!*user) *user = mo_scene_add_callback(scene, r->label);
    mo_scene_set_function(*user, MO_CALL_VISCOSITY);
    keys->viscosity_fn = mo_scene_viscosity;
    keys->viscosity_varies = info.nparams == 4;
}

static void read_viscosity(mo_scene *scene, const mo_table *r, mo_viscous_keys *keys, void **user)
{
    lua_State *L = r->box->L;
    char text[64];
    if (mo_table_push(r, "viscosity") && lua_isfunction(L, -1)) {
        read_function(scene, r, keys, user);
        return;
    }
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
        mo_table_fail(r, "viscosity", "viscosity must be a number or a function, got %s",
                      mo_table_describe(L, -1, text));
    lua_pop(L, 1);
    keys->viscosity = mo_table_number(r, "viscosity", keys->viscosity, MO_NOT_NEGATIVE);
    if (keys->viscosity > FLT_MAX) mo_table_fail(r, "viscosity", "viscosity is too large, got %g", keys->viscosity);
}

// True if the liquid has a rheology.
static bool read_rheology(const mo_table *r, mo_rheology *rheology)
{
    static const char *const names[] = {"consistency", "flow_index", "yield_stress", "threshold", NULL};
    lua_State *L = r->box->L;
    char text[64];
    mo_error err;
    if (!mo_table_push(r, "rheology")) {
        lua_pop(L, 1);
        return false;
    }
    if (!lua_istable(L, -1))
        mo_table_fail(r, "rheology", "rheology must be { consistency = ..., flow_index = ... }, got %s",
                      mo_table_describe(L, -1, text));
    mo_table sub = *r;
    sub.table = lua_absindex(L, -1);
    sub.parent = "rheology";
    snprintf(sub.label, sizeof sub.label, "%.80s: rheology", r->label);
    mo_table_keys(&sub, names);
    bool given = mo_table_push(&sub, "consistency");
    given = mo_table_push(&sub, "yield_stress") || given;
    lua_pop(L, 2);
    if (!given) mo_table_fail(&sub, NULL, "needs a consistency or a yield_stress");
    rheology->consistency = mo_table_number(&sub, "consistency", rheology->consistency, MO_NOT_NEGATIVE);
    rheology->flow_index = mo_table_number(&sub, "flow_index", rheology->flow_index, MO_POSITIVE);
    rheology->yield_stress = mo_table_number(&sub, "yield_stress", rheology->yield_stress, MO_NOT_NEGATIVE);
    rheology->threshold = mo_table_number(&sub, "threshold", rheology->threshold, MO_POSITIVE);
    if (mo_rheology_check(rheology, r->label, &err) != MO_OK) // its message begins with the label
        mo_table_fail(r, "rheology", "%s", err.text + strlen(r->label) + 2);
    lua_pop(L, 1);
    return true;
}

// All liquids and emitters share one surface tension: the first one read.
static double read_tension(const mo_scene *scene, const mo_table *r)
{
    double tension = mo_table_number(r, "surface_tension", 0, MO_NOT_NEGATIVE);
    double first = scene->def.liquid_count    ? scene->liquids[0].surface_tension
                   : scene->def.emitter_count ? scene->emitters[0].surface_tension
                                              : tension;
    if (tension != first)
        mo_table_fail(r, "surface_tension", "surface_tension must be the same in all liquids and emitters: %g, got %g",
                      first, tension);
    return tension;
}

mo_viscous_keys mo_scene_read_viscous(mo_scene *scene, const mo_table *r, void **user)
{
    mo_viscous_keys keys = {.rheology = mo_liquid_def_default().rheology};
    bool viscosity = mo_table_push(r, "viscosity");
    lua_pop(r->box->L, 1);
    if (read_rheology(r, &keys.rheology) && viscosity) {
        bool set = mo_override_of(scene->overrides, r->section, r->index, "viscosity") != NULL;
        mo_table_fail(r, set ? "viscosity" : "rheology",
                      "viscosity and rheology exclude each other: the consistency "
                      "takes the viscosity's place");
    }
    read_viscosity(scene, r, &keys, user);
    keys.surface_tension = read_tension(scene, r);
    return keys;
}

mo_wall mo_scene_read_wall_kind(const mo_table *r, mo_wall otherwise)
{
    static const char *const names[] = {"slip", "no-slip", NULL};
    return (mo_wall)mo_table_choice(r, "wall", names, (int32_t)otherwise);
}

void mo_scene_read_wall(const mo_table *r, mo_solid_def *solid)
{
    solid->wall = mo_scene_read_wall_kind(r, solid->wall);
    solid->surface_velocity = mo_table_vector(r, "surface_velocity", solid->surface_velocity);
}
