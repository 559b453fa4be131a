// Lists in the sections elastic{...} and cloth{...}: pins that hold vertices, where they do.
#include "scene/scene.h"
#include <stdio.h>

void mo_scene_release_pins(mo_pin_def *pins, int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        if (pins[k].where) mo_shape_release(pins[k].where);
    mo_free(pins);
}

int32_t mo_scene_read_list(const mo_table *r, const char *key, const char *entry, int32_t most)
{
    lua_State *L = r->box->L;
    char text[64];
    if (!mo_table_push(r, key)) {
        lua_pop(L, 1);
        return 0;
    }
    if (!lua_istable(L, -1))
        mo_table_fail(r, key, "%s must be a list {{ %s }, ...}, got %s", key, entry, mo_table_describe(L, -1, text));
    int list = lua_gettop(L);
    int64_t count = (int64_t)lua_rawlen(L, list), entries = 0;
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) entries++;
    if (entries != count) // a name: one entry without the braces of the list
        mo_table_fail(r, key, "%s must be a list of %s, as in %s = {{ %s }}", key, key, key, entry);
    if (count > most) mo_table_fail(r, key, "more than %d %s", most, key);
    if (count == 0) lua_pop(L, 1);
    return (int32_t)count;
}

mo_table mo_scene_open_entry(const mo_table *r, const char *key, const char *what, int32_t number,
                             const char *const *keys)
{
    lua_State *L = r->box->L;
    char text[64];
    mo_table sub = *r;
    lua_rawgeti(L, -1, number);
    sub.table = lua_absindex(L, -1);
    sub.parent = key;
    snprintf(sub.label, sizeof sub.label, "%.80s: %s %d", r->label, what, (int)number);
    if (!lua_istable(L, -1))
        mo_table_fail(&sub, NULL, "must be { %s = ..., %s = ... }, got %s", keys[0], keys[1],
                      mo_table_describe(L, -1, text));
    mo_table_keys(&sub, keys);
    return sub;
}

const mo_shape *mo_scene_read_where(const mo_table *r, mo_callback *callback)
{
    lua_State *L = r->box->L;
    char text[64];
    if (!mo_table_push(r, "where"))
        mo_table_fail(r, NULL, "missing key 'where': a shape, or a function(x, y, z) that returns true or false");
    const mo_shape *shape = mo_scene_to_shape(L, -1);
    if (!shape && !lua_isfunction(L, -1))
        mo_table_fail(r, NULL, "where must be a shape or a function(x, y, z), got %s", mo_table_describe(L, -1, text));
    if (!shape) {
        mo_scene_set_function(callback, MO_CALL_REGION);
        return NULL;
    }
    lua_pop(L, 1);
    return mo_shape_retain(shape);
}

static void read_pin(mo_scene *scene, const mo_table *sub, mo_pin_def *pin)
{
    lua_State *L = sub->box->L;
    char text[64];
    mo_callback *callback = mo_scene_add_callback(scene, sub->label);
    pin->user = callback;
    pin->where = mo_scene_read_where(sub, callback);
    if (!pin->where) pin->where_fn = mo_scene_region;
    if (!mo_table_push(sub, "motion")) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_isfunction(L, -1))
        mo_table_fail(sub, NULL, "motion must be a function(t), got %s", mo_table_describe(L, -1, text));
    mo_scene_set_function(callback, MO_CALL_MOTION);
    mo_scene_call_motion(callback, 0); // a mistake in it shows now rather than after the start
    pin->motion = mo_scene_motion;
}

void mo_scene_read_pins(mo_scene *scene, const mo_table *r, mo_pin_def **pins, int32_t *count)
{
    static const char *const keys[] = {"where", "motion", NULL};
    lua_State *L = r->box->L;
    int32_t all = mo_scene_read_list(r, "pins", "where = ...", MO_SCENE_PINS);
    if (!all) return;
    int list = lua_gettop(L);
    *pins = mo_calloc(((size_t)all + 1) * sizeof **pins);
    if (!*pins) mo_sandbox_no_memory(&scene->box);
    for (int32_t i = 0; i < all; i++) {
        *count = i + 1;
        mo_table sub = mo_scene_open_entry(r, "pins", "pin", i + 1, keys);
        read_pin(scene, &sub, &(*pins)[i]);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}
