// Loading a scene file, and the calls back into it while the simulation runs.
#include "base/parallel.h"
#include "scene/scene.h"
#include "base/vec.h"
#include "geometry/shape_node.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void mo_scene_only_loading(mo_scene *scene, const char *name)
{
    if (!scene->box.loading) luaL_error(scene->box.L, "%s works only while the scene loads", name);
}

// ---- Calls back ----

mo_callback *mo_scene_add_callback(mo_scene *scene, const char *label)
{
    mo_callback *callback = mo_calloc(sizeof *callback);
    if (!callback) mo_sandbox_no_memory(&scene->box);
    *callback = (mo_callback){.next = scene->callbacks, .scene = scene};
    scene->callbacks = callback; // owned before anything can fail
    snprintf(callback->label, sizeof callback->label, "%s", label);
    for (int i = 0; i < MO_CALL_COUNT; i++) callback->call[i].ref = LUA_NOREF;
    return callback;
}

void mo_scene_set_function(mo_callback *callback, mo_call which)
{
    MO_ASSERT(which >= 0 && which < MO_CALL_COUNT && lua_isfunction(callback->scene->box.L, -1));
    lua_State *L = callback->scene->box.L;
    lua_Debug info;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &info);
    snprintf(callback->call[which].where, sizeof callback->call[which].where, "%s:%d: ", info.short_src,
             info.linedefined);
    callback->call[which].ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static mo_table callback_reader(const mo_callback *callback, mo_call which)
{
    MO_ASSERT(callback->call[which].ref != LUA_NOREF);
    mo_table r = {.box = &callback->scene->box, .section = "scene"};
    memcpy(r.label, callback->label, sizeof r.label);
    memcpy(r.where, callback->call[which].where, sizeof r.where);
    return r;
}

mo_pose mo_scene_call_motion(const mo_callback *callback, double t)
{
    static const char *const keys[] = {"position", "rotation", NULL};
    static const char *const rotation_keys[] = {"axis", "degrees", "about", NULL};
    lua_State *L = callback->scene->box.L;
    char text[64];
    int top = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, callback->call[MO_CALL_MOTION].ref);
    lua_pushnumber(L, t);
    lua_call(L, 1, 1);
    mo_table r = callback_reader(callback, MO_CALL_MOTION);
    r.table = top + 1;
    if (!lua_istable(L, -1))
        mo_table_fail(&r, NULL, "motion(%g) must return { position = {x, y, z} }, got %s", t,
                      mo_table_describe(L, -1, text));
    mo_table_keys(&r, keys);
    mo_table_require(&r, "position");
    mo_pose pose = mo_pose_identity();
    pose.position = mo_table_vector(&r, "position", pose.position);
    if (mo_table_push(&r, "rotation")) {
        if (!lua_istable(L, -1))
            mo_table_fail(&r, NULL, "rotation must be { axis = {x, y, z}, degrees = ... }, got %s",
                          mo_table_describe(L, -1, text));
        mo_table rotation = r;
        rotation.table = lua_gettop(L);
        mo_table_keys(&rotation, rotation_keys);
        mo_table_require(&rotation, "axis");
        mo_table_require(&rotation, "degrees");
        mo_vec3 axis = mo_table_vector(&rotation, "axis", mo_v3(0, 0, 1));
        double degrees = mo_table_number(&rotation, "degrees", 0, MO_ANY), norm = mo_norm(axis);
        if (!(norm > 1e-100 && norm < 1e100)) mo_table_fail(&r, NULL, "rotation: axis must not be zero");
        pose.rotation = mo_quat_axis_angle(mo_mul(1 / norm, axis), degrees * (M_PI / 180));
        mo_vec3 about = mo_table_vector(&rotation, "about", mo_v3(0, 0, 0));
        pose.position = mo_add(pose.position, mo_sub(about, mo_quat_rotate(pose.rotation, about)));
    }
    lua_settop(L, top);
    return pose;
}

typedef struct motion_call {
    const mo_callback *callback;
    double t;
    mo_pose pose;
} motion_call;

static int protected_motion(lua_State *L)
{
    motion_call *call = lua_touserdata(L, 1);
    call->pose = mo_scene_call_motion(call->callback, call->t);
    return 0;
}

mo_status mo_scene_motion(void *callback, double t, mo_pose *pose, mo_error *err)
{
    motion_call call = {.callback = callback, .t = t};
    MO_TRY(mo_sandbox_run(&call.callback->scene->box, protected_motion, &call, MO_SCENE_CALL_INSTRUCTIONS, err));
    *pose = call.pose;
    return MO_OK;
}

typedef struct velocity_call {
    const mo_callback *callback;
    double x[3], velocity[3];
} velocity_call;

static int protected_velocity(lua_State *L)
{
    velocity_call *call = lua_touserdata(L, 1);
    char text[64];
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->callback->call[MO_CALL_VELOCITY].ref);
    for (int i = 0; i < 3; i++) lua_pushnumber(L, call->x[i]);
    lua_call(L, 3, LUA_MULTRET);
    int count = lua_gettop(L) - 1;
    mo_table r = callback_reader(call->callback, MO_CALL_VELOCITY);
    if (count != 3) mo_table_fail(&r, NULL, "velocity must return three numbers, got %d values", count);
    for (int i = 0; i < 3; i++) {
        call->velocity[i] = lua_tonumber(L, i + 2);
        if (lua_type(L, i + 2) != LUA_TNUMBER || !isfinite(call->velocity[i]))
            mo_table_fail(&r, NULL, "velocity(%g, %g, %g) must return three finite numbers, got %s for %c", call->x[0],
                          call->x[1], call->x[2], mo_table_describe(L, i + 2, text), "xyz"[i]);
    }
    return 0;
}

mo_status mo_scene_velocity(void *callback, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    velocity_call call = {.callback = callback, .x = {x.x, x.y, x.z}};
    MO_TRY(mo_sandbox_run(&call.callback->scene->box, protected_velocity, &call, MO_SCENE_CALL_INSTRUCTIONS, err));
    *velocity = (mo_vec3){call.velocity[0], call.velocity[1], call.velocity[2]};
    return MO_OK;
}

typedef struct viscosity_call {
    const mo_callback *callback;
    double x[3], t, viscosity;
} viscosity_call;

static int protected_viscosity(lua_State *L)
{
    viscosity_call *call = lua_touserdata(L, 1);
    char text[64];
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->callback->call[MO_CALL_VISCOSITY].ref);
    for (int i = 0; i < 3; i++) lua_pushnumber(L, call->x[i]);
    lua_pushnumber(L, call->t); // a function without a fourth parameter does not see it
    lua_call(L, 4, 1);
    mo_table r = callback_reader(call->callback, MO_CALL_VISCOSITY);
    call->viscosity = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(call->viscosity >= 0 && call->viscosity <= FLT_MAX))
        mo_table_fail(&r, NULL, "viscosity at (%g, %g, %g), t = %g must be a finite number >= 0, got %s", call->x[0],
                      call->x[1], call->x[2], call->t, mo_table_describe(L, -1, text));
    return 0;
}

mo_status mo_scene_viscosity(void *callback, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    viscosity_call call = {.callback = callback, .x = {x.x, x.y, x.z}, .t = t};
    MO_TRY(mo_sandbox_run(&call.callback->scene->box, protected_viscosity, &call, MO_SCENE_CALL_INSTRUCTIONS, err));
    *viscosity = call.viscosity;
    return MO_OK;
}

typedef struct region_call {
    const mo_callback *callback;
    double x[3];
    bool inside;
} region_call;

static int protected_region(lua_State *L)
{
    region_call *call = lua_touserdata(L, 1);
    char text[64];
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->callback->call[MO_CALL_REGION].ref);
    for (int i = 0; i < 3; i++) lua_pushnumber(L, call->x[i]);
    lua_call(L, 3, 1);
    mo_table r = callback_reader(call->callback, MO_CALL_REGION);
    if (!lua_isboolean(L, -1)) // a forgotten return, or a number that was meant to be compared
        mo_table_fail(&r, NULL, "where(%g, %g, %g) must return true or false, got %s", call->x[0], call->x[1],
                      call->x[2], mo_table_describe(L, -1, text));
    call->inside = lua_toboolean(L, -1);
    return 0;
}

mo_status mo_scene_region(void *callback, mo_vec3 x, bool *inside, mo_error *err)
{
    region_call call = {.callback = callback, .x = {x.x, x.y, x.z}};
    MO_TRY(mo_sandbox_run(&call.callback->scene->box, protected_region, &call, MO_SCENE_CALL_INSTRUCTIONS, err));
    *inside = call.inside;
    return MO_OK;
}

// ---- Loading ----

static mo_status read_text(mo_scene *scene, FILE *file, mo_error *err)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return mo_fail(err, MO_ERROR_FILE, "%s: not a regular file", scene->path);
    if (info.st_size > MO_SCENE_FILE)
        return mo_fail(err, MO_ERROR_INPUT, "%s: the scene is larger than %d kB", scene->path, MO_SCENE_FILE >> 10);
    scene->text = mo_alloc((size_t)info.st_size + 1);
    if (!scene->text) return mo_fail_memory(err);
    scene->text_bytes = fread(scene->text, 1, (size_t)info.st_size, file);
    scene->text[scene->text_bytes] = 0;
    if (ferror(file)) return mo_fail(err, MO_ERROR_FILE, "%s: cannot read: %s", scene->path, strerror(errno));
    if (memchr(scene->text, 0, scene->text_bytes))
        return mo_fail(err, MO_ERROR_INPUT, "%s: has a zero byte: it is no text", scene->path);
    return MO_OK;
}

static mo_status read_file(mo_scene *scene, mo_error *err)
{
    struct stat info; // looked at before opening: opening a pipe would wait for its writer
    if (stat(scene->path, &info) != 0)
        return mo_fail(err, MO_ERROR_FILE, "%s: cannot read: %s", scene->path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return mo_fail(err, MO_ERROR_FILE, "%s: not a regular file", scene->path);
    FILE *file = fopen(scene->path, "rb");
    if (!file) return mo_fail(err, MO_ERROR_FILE, "%s: cannot read: %s", scene->path, strerror(errno));
    mo_status status = read_text(scene, file, err);
    fclose(file);
    return status;
}

// Reading a global that does not exist: a misspelt name, or something that scenes may not use.
static int unknown_global(lua_State *L)
{
    static const char *const fixed[] = {"domain",   "gravity", "time",   "solver",     "particles",  "volume",
                                        "liquid",   "fixed",   "rigid",  "elastic",    "moving",     "emitter",
                                        "param",    "mesh",    "union",  "math",       "string",     "table",
                                        "pairs",    "ipairs",  "type",   "select",     "assert",     "tostring",
                                        "tonumber", "error",   "output", "difference", "intersect",  "smooth_union",
                                        "shell",    "plate",   "disk",   "tube",       "hemisphere", "cup",
                                        "helix",    "revolve", "curve",  "mesh_sheet", "weld",       "cloth"};
    enum { FIXED = sizeof fixed / sizeof *fixed, MOST = FIXED + 64 };
    const char *names[MOST + 1];
    int count = FIXED;
    memcpy(names, fixed, sizeof fixed);
    for (const mo_shape_kind *const *kind = mo_named_shapes; *kind && count < MOST; kind++)
        names[count++] = (*kind)->name;
    names[count] = NULL;
    static const char *const absent[] = {
        "io",       "os",           "debug",          "package", "require", "load",   "loadstring",
        "loadfile", "dofile",       "pcall",          "xpcall",  "print",   "next",   "rawget",
        "rawset",   "setmetatable", "collectgarbage", "_G",      "utf8",    "rawlen", "rawequal",
        "warn",     "coroutine",    "getmetatable",   NULL};
    mo_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    mo_table r = mo_table_here(&scene->box, "scene");
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    for (const char *const *a = absent; *a; a++)
        if (strcmp(*a, name) == 0) mo_table_fail(&r, NULL, "'%s' is not available in scenes", name);
    const char *nearest = mo_nearest_name(name, names);
    if (nearest) mo_table_fail(&r, NULL, "unknown name '%.60s' (did you mean '%s'?)", name, nearest);
    mo_table_fail(&r, NULL, "unknown name '%.60s'", name);
}

static int protected_load(lua_State *L)
{
    mo_scene *scene = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_pushglobaltable(L);
    mo_scene_add_shapes(scene);
    mo_scene_add_sheets(scene);
    mo_scene_add_sections(scene);
    lua_newtable(L);
    lua_pushlightuserdata(L, scene);
    lua_pushcclosure(L, unknown_global, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_settop(L, 0);
    lua_pushfstring(L, "@%s", scene->path);
    size_t mark = strncmp(scene->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // byte order mark of some editors
    int status = luaL_loadbufferx(L, scene->text + mark, scene->text_bytes - mark, lua_tostring(L, 1), "t");
    if (status == LUA_ERRSYNTAX || status == LUA_ERRMEM) return lua_error(L);
    if (status != LUA_OK) return luaL_error(L, "%s: %s", scene->path, lua_tostring(L, -1)); // nested too deeply
    lua_call(L, 0, 0);
    mo_scene_finish(scene);
    return 0;
}

static mo_status load(mo_scene *scene, const char *const *overrides, int32_t override_count, mo_error *err)
{
    MO_TRY(mo_overrides_create(overrides, override_count, &scene->overrides, err));
    MO_TRY(read_file(scene, err));
    MO_TRY(mo_sandbox_open(&scene->box, scene->path, err));
    scene->box.loading = true;
    MO_TRY(mo_sandbox_run(&scene->box, protected_load, scene, MO_SCENE_LOAD_INSTRUCTIONS, err));
    scene->box.loading = false;
    // The texts of the overrides belong to the caller and are not needed any more.
    mo_overrides_destroy(scene->overrides);
    scene->overrides = NULL;
    return MO_OK;
}

mo_status mo_scene_load(const char *path, const char *const *overrides, int32_t override_count, mo_scene **out,
                        mo_error *err)
{
    if (!path || !out || override_count < 0 || (override_count && !overrides))
        return mo_fail(err, MO_ERROR_INPUT, "mo_scene_load: missing argument");
    mo_check_threads();
    *out = NULL;
    mo_scene *scene = mo_calloc(sizeof *scene);
    if (!scene) return mo_fail_memory(err);
    scene->def = mo_sim_def_default();
    scene->look = mo_look_def_default();
    size_t bytes = strlen(path) + 1;
    scene->path = mo_alloc(bytes);
    mo_status status = MO_ERROR_MEMORY;
    if (scene->path) {
        memcpy(scene->path, path, bytes);
        status = load(scene, overrides, override_count, err);
    } else {
        mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return MO_OK;
}

void mo_scene_destroy(mo_scene *scene)
{
    if (!scene) return;
    for (int32_t i = 0; i < scene->def.liquid_count; i++) mo_shape_release(scene->liquids[i].shape);
    for (int32_t i = 0; i < scene->def.emitter_count; i++) mo_shape_release(scene->emitters[i].shape);
    for (int32_t i = 0; i < scene->def.smoke_count; i++) mo_shape_release(scene->smokes[i].shape);
    for (int32_t i = 0; i < scene->def.solid_count; i++) {
        mo_shape_release(scene->solids[i].shape);
        mo_free((void *)scene->solids[i].name);
    }
    mo_scene_release_elastics(scene);
    mo_scene_release_shells(scene);
    mo_scene_release_cloths(scene);
    mo_scene_release_sheets(scene);
    mo_sandbox_close(&scene->box);
    for (mo_callback *callback = scene->callbacks; callback;) {
        mo_callback *next = callback->next;
        mo_free(callback);
        callback = next;
    }
    mo_free(scene->liquids);
    mo_free(scene->solids);
    mo_free(scene->emitters);
    mo_free(scene->smokes);
    mo_free(scene->flats);
    mo_overrides_destroy(scene->overrides);
    mo_free(scene->text);
    mo_free(scene->path);
    mo_free(scene);
}

const mo_sim_def *mo_scene_sim_def(const mo_scene *scene) { return &scene->def; }
mo_sim_def *mo_scene_sim_def_mutable(mo_scene *scene) { return &scene->def; }
const char *mo_scene_text(const mo_scene *scene) { return scene->text; }
uint64_t mo_scene_files_hash(const mo_scene *scene) { return scene->files_hash; }
