// Shapes for scenes: constructors sphere{...}, ..., methods :move(...), ..., functions union(...), ...
#include "scene/scene.h"
#include "base/vec.h"
#include "geometry/shape_node.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char type_name[] = "shape";

typedef struct handle {
    const mo_shape *shape;
    int32_t depth, parts; // of the tree of operations
} handle;

static mo_scene *scene_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

const mo_shape *mo_scene_to_shape(lua_State *L, int index)
{
    const handle *h = luaL_testudata(L, index, type_name);
    return h ? h->shape : NULL;
}

static int release(lua_State *L)
{
    handle *h = lua_touserdata(L, 1);
    if (h->shape) mo_shape_release(h->shape);
    h->shape = NULL;
    return 0;
}

// Pushes the handle before its shape is made, so that no error can lose the shape. Refuses shapes that grew too large.
static handle *push_handle(mo_scene *scene, const mo_table *r, int32_t depth, int32_t parts)
{
    if (scene->shapes++ >= MO_SCENE_SHAPES) mo_table_fail(r, NULL, "more than %d shapes", MO_SCENE_SHAPES);
    if (depth > MO_SCENE_SHAPE_DEPTH)
        mo_table_fail(r, NULL, "more than %d operations nested in one shape", MO_SCENE_SHAPE_DEPTH);
    if (parts > MO_SCENE_SHAPE_PARTS) mo_table_fail(r, NULL, "more than %d parts in one shape", MO_SCENE_SHAPE_PARTS);
    handle *h = lua_newuserdatauv(scene->box.L, sizeof *h, 0);
    *h = (handle){.depth = depth, .parts = parts};
    luaL_setmetatable(scene->box.L, type_name);
    return h;
}

static int keep(mo_scene *scene, handle *h, const mo_shape *shape)
{
    if (!shape) mo_sandbox_no_memory(&scene->box);
    h->shape = shape;
    return 1;
}

// ---- Constructors ----

// Reads the numbers of one parameter.
static int read_parameter(const mo_table *r, const mo_shape_parameter *p, double *out)
{
    if (p->kind != MO_PARAMETER_NUMBER) mo_table_require(r, p->name);
    if (p->kind == MO_PARAMETER_LENGTH || p->kind == MO_PARAMETER_NUMBER) {
        *out = mo_table_number(r, p->name, 0, p->kind == MO_PARAMETER_LENGTH ? MO_POSITIVE : MO_ANY);
        return 1;
    }
    int32_t components;
    mo_table_push(r, p->name);
    mo_vec3 v = mo_table_to_vector(r, p->name, -1, &components);
    lua_pop(r->box->L, 1);
    if (p->kind == MO_PARAMETER_DIRECTION) {
        double norm = mo_norm(v);
        if (!(norm > 1e-100 && norm < 1e100)) mo_table_fail(r, p->name, "%s must not be zero", p->name);
        v = mo_mul(1 / norm, v);
    } else {
        // In two dimensions a box is deep enough that its z faces are never the nearest.
        if (components == 2) v.z = 2 * fmax(v.x, v.y);
        if (!(v.x > 0 && v.y > 0 && v.z > 0))
            mo_table_fail(r, p->name, "%s must be > 0, got {%g, %g, %g}", p->name, v.x, v.y, v.z);
    }
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
    return 3;
}

static int construct(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    const mo_shape_kind *kind = lua_touserdata(L, lua_upvalueindex(2));
    mo_scene_only_loading(scene, kind->name);
    mo_table r = mo_table_open(&scene->box, kind->name, 1);
    const char *keys[MO_SHAPE_PARAMETERS + 1] = {0};
    for (int k = 0; k < MO_SHAPE_PARAMETERS; k++) keys[k] = kind->parameter[k].name;
    mo_table_keys(&r, keys);
    handle *h = push_handle(scene, &r, 1, 1);
    double given[3 * MO_SHAPE_PARAMETERS];
    int count = 0;
    for (int k = 0; keys[k]; k++) count += read_parameter(&r, &kind->parameter[k], given + count);
    char text[200];
    int wrong = kind->check ? kind->check(given, text, sizeof text) : -1;
    if (wrong >= 0) mo_table_fail(&r, keys[wrong], "%s", text);
    return keep(scene, h, mo_shape_make(kind, given));
}

// Adds the contents of a file to the scene's hash; a file that is not there adds nothing.
static void hash_file(mo_scene *scene, const char *path)
{
    char block[1 << 16];
    FILE *f = fopen(path, "rbe");
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;)
        scene->files_hash = mo_checksum(scene->files_hash, block, n);
    if (f) fclose(f);
}

// TetGen's meshes are two files, of which the scene names one.
static void hash_mesh(mo_scene *scene, const char *path)
{
    char other[4096];
    size_t n = strlen(path);
    hash_file(scene, path);
    bool node = n > 5 && strcmp(path + n - 5, ".node") == 0, ele = n > 4 && strcmp(path + n - 4, ".ele") == 0;
    if (!node && !ele) return;
    int head = (int)(node ? n - 5 : n - 4);
    if (snprintf(other, sizeof other, "%.*s%s", head, path, node ? ".ele" : ".node") < (int)sizeof other)
        hash_file(scene, other);
}

void mo_scene_find_file(mo_scene *scene, const mo_table *r, const char *key, const char *file, char path[4096])
{
    const char *slash = strrchr(scene->path, '/');
    int folder = *file != '/' && slash ? (int)(slash - scene->path) + 1 : 0;
    int bytes = snprintf(path, 4096, "%.*s%s", folder, scene->path, file);
    struct stat info;
    if (bytes >= 4096 || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || access(path, R_OK) != 0)
        mo_table_fail(r, key, "cannot read '%.300s'", path);
    hash_mesh(scene, path);
}

// mesh "file.obj" or mesh{ file = "file.obj", resolution = 128 }; the path is relative to the scene's folder.
static int construct_mesh(lua_State *L)
{
    static const char *const keys[] = {"file", "resolution", NULL};
    mo_scene *scene = scene_of(L);
    mo_scene_only_loading(scene, "mesh");
    if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING) {
        lua_newtable(L);
        lua_insert(L, 1);
        lua_setfield(L, 1, "file");
    }
    mo_table r = mo_table_open(&scene->box, "mesh", 1);
    mo_table_keys(&r, keys);
    mo_table_require(&r, "file");
    const char *file = mo_table_string(&r, "file");
    int32_t resolution = mo_table_integer(&r, "resolution", 0, 8, 512);
    char path[4096];
    mo_scene_find_file(scene, &r, "file", file, path);
    if (scene->meshes++ >= MO_SCENE_MESHES)
        mo_table_fail(&r, NULL, "more than %d meshes; use one several times with :move", MO_SCENE_MESHES);

    handle *h = push_handle(scene, &r, 1, 1);
    mo_shape *shape = NULL;
    mo_error err;
    double start = mo_sandbox_clock();
    mo_status status = mo_shape_mesh_file(path, resolution, &shape, &err);
    mo_sandbox_excuse(&scene->box, mo_sandbox_clock() - start);
    if (status == MO_ERROR_MEMORY) mo_sandbox_no_memory(&scene->box);
    if (status != MO_OK) mo_table_fail(&r, NULL, "%s", err.text);
    return keep(scene, h, shape);
}

// ---- Methods and functions ----

static const handle *shape_argument(lua_State *L, const mo_table *r, int index)
{
    char text[64];
    const handle *h = luaL_testudata(L, index, type_name);
    if (!h) mo_table_fail(r, NULL, "expects a shape, got %s", mo_table_describe(L, index, text));
    return h;
}

double mo_scene_number_argument(const mo_table *r, int index, const char *what)
{
    char text[64];
    lua_State *L = r->box->L;
    if (lua_type(L, index) != LUA_TNUMBER || !isfinite(lua_tonumber(L, index)))
        mo_table_fail(r, NULL, "%s must be a finite number, got %s", what, mo_table_describe(L, index, text));
    return lua_tonumber(L, index);
}

double mo_scene_length_argument(const mo_table *r, int index, const char *what)
{
    double value = mo_scene_number_argument(r, index, what);
    if (value <= 0) mo_table_fail(r, NULL, "%s must be > 0, got %g", what, value);
    return value;
}

mo_table mo_scene_start_operation(mo_scene *scene, const char *name, int lo, int hi, const char *usage)
{
    mo_scene_only_loading(scene, name);
    mo_table r = mo_table_here(&scene->box, name);
    int count = lua_gettop(scene->box.L);
    if (count < lo || count > hi) mo_table_fail(&r, NULL, "expects %s", usage);
    return r;
}

mo_vec3 mo_scene_move_arguments(const mo_table *r)
{
    double x = mo_scene_number_argument(r, 2, "x"), y = mo_scene_number_argument(r, 3, "y");
    return mo_v3(x, y, lua_gettop(r->box->L) > 3 ? mo_scene_number_argument(r, 4, "z") : 0);
}

double mo_scene_turn_argument(mo_scene *scene, mo_vec3 *axis)
{
    static const char *const keys[] = {"axis", "degrees", NULL};
    mo_table table = mo_table_open(&scene->box, "rotate", 2);
    mo_table_keys(&table, keys);
    mo_table_require(&table, "axis");
    mo_table_require(&table, "degrees");
    *axis = mo_table_vector(&table, "axis", mo_v3(0, 0, 1));
    double norm = mo_norm(*axis);
    if (!(norm > 1e-100 && norm < 1e100)) mo_table_fail(&table, "axis", "axis must not be zero");
    *axis = mo_mul(1 / norm, *axis);
    return mo_table_number(&table, "degrees", 0, MO_ANY);
}

static int method_move(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "move", 3, 4, "shape:move(x, y, z)");
    const handle *s = shape_argument(L, &r, 1);
    mo_vec3 by = mo_scene_move_arguments(&r);
    handle *h = push_handle(scene, &r, s->depth + 1, s->parts + 1);
    return keep(scene, h, mo_shape_move(s->shape, by));
}

static int method_rotate(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "rotate", 2, 2, "shape:rotate{axis = {0, 0, 1}, degrees = 30}");
    const handle *s = shape_argument(L, &r, 1);
    mo_vec3 axis;
    double degrees = mo_scene_turn_argument(scene, &axis);
    handle *h = push_handle(scene, &r, s->depth + 1, s->parts + 1);
    return keep(scene, h, mo_shape_rotate(s->shape, axis, degrees));
}

static int method_scale(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "scale", 2, 2, "shape:scale(factor)");
    const handle *s = shape_argument(L, &r, 1);
    double factor = mo_scene_length_argument(&r, 2, "factor");
    handle *h = push_handle(scene, &r, s->depth + 1, s->parts + 1);
    return keep(scene, h, mo_shape_scale(s->shape, factor));
}

static int method_shell(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "shell", 2, 2, "shape:shell(thickness)");
    const handle *s = shape_argument(L, &r, 1);
    double thickness = mo_scene_length_argument(&r, 2, "thickness");
    handle *h = push_handle(scene, &r, s->depth + 1, s->parts + 1);
    return keep(scene, h, mo_shape_shell(s->shape, thickness));
}

typedef mo_shape *(*pair_fn)(const mo_shape *a, const mo_shape *b);

// The arguments lo..hi combined as a balanced tree, which keeps long unions shallow. NULL = no memory.
static const mo_shape *combine(lua_State *L, pair_fn pair, int lo, int hi)
{
    if (lo == hi) return mo_shape_retain(mo_scene_to_shape(L, lo));
    int middle = lo + (hi - lo) / 2;
    const mo_shape *a = combine(L, pair, lo, middle), *b = combine(L, pair, middle + 1, hi);
    const mo_shape *both = a && b ? pair(a, b) : NULL;
    if (a) mo_shape_release(a);
    if (b) mo_shape_release(b);
    return both;
}

static int combine_all(lua_State *L, const char *name, pair_fn pair, int most, const char *usage)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, name, most == 2 ? 2 : 1, most, usage);
    int count = lua_gettop(L);
    int32_t depth = 0, parts = count - 1, levels = 0;
    for (int i = 1; i <= count; i++) {
        const handle *s = shape_argument(L, &r, i);
        depth = s->depth > depth ? s->depth : depth;
        parts += s->parts;
    }
    while ((1 << levels) < count) levels++;
    handle *h = push_handle(scene, &r, depth + levels, parts);
    return keep(scene, h, combine(L, pair, 1, count));
}

enum { MOST_OPERANDS = 10000 };

static int function_union(lua_State *L)
{
    return combine_all(L, "union", mo_shape_union, MOST_OPERANDS, "union(shape, shape, ...)");
}

static int function_intersect(lua_State *L)
{
    return combine_all(L, "intersect", mo_shape_intersect, MOST_OPERANDS, "intersect(shape, shape, ...)");
}

static int function_difference(lua_State *L)
{
    return combine_all(L, "difference", mo_shape_difference, 2, "difference(shape, shape)");
}

static int function_smooth_union(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "smooth_union", 3, 3, "smooth_union(shape, shape, radius)");
    const handle *a = shape_argument(L, &r, 1), *b = shape_argument(L, &r, 2);
    double radius = mo_scene_length_argument(&r, 3, "radius");
    handle *h = push_handle(scene, &r, 1 + (a->depth > b->depth ? a->depth : b->depth), 1 + a->parts + b->parts);
    return keep(scene, h, mo_shape_smooth_union(a->shape, b->shape, radius));
}

// ---- Installing ----

static const mo_scene_operation methods[] = {
    {"move", method_move}, {"rotate", method_rotate}, {"scale", method_scale}, {"shell", method_shell}, {NULL, NULL}};
static const mo_scene_operation functions[] = {{"union", function_union},
                                               {"intersect", function_intersect},
                                               {"difference", function_difference},
                                               {"smooth_union", function_smooth_union},
                                               {"mesh", construct_mesh},
                                               {NULL, NULL}};

// value.name of an unknown method. Upvalues: the scene, the methods as a table and as a list, the type's name.
static int find_method(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    const mo_scene_operation *method = lua_touserdata(L, lua_upvalueindex(3));
    const char *names[16];
    int count = 0;
    for (; method[count].name && count < 15; count++) names[count] = method[count].name;
    names[count] = NULL;
    char text[64];
    mo_table r = mo_table_here(&scene_of(L)->box, lua_tostring(L, lua_upvalueindex(4)));
    const char *nearest = lua_type(L, 2) == LUA_TSTRING ? mo_nearest_name(lua_tostring(L, 2), names) : NULL;
    if (nearest) mo_table_fail(&r, NULL, "no method %s (did you mean '%s'?)", mo_table_describe(L, 2, text), nearest);
    mo_table_fail(&r, NULL, "no method %s", mo_table_describe(L, 2, text));
}

void mo_scene_add_functions(mo_scene *scene, const mo_scene_operation *operation)
{
    lua_State *L = scene->box.L;
    for (; operation->name; operation++) {
        lua_pushlightuserdata(L, scene);
        lua_pushcclosure(L, operation->fn, 1);
        lua_setfield(L, -2, operation->name);
    }
}

void mo_scene_add_type(mo_scene *scene, const char *name, const mo_scene_operation *list)
{
    lua_State *L = scene->box.L;
    luaL_newmetatable(L, name);
    lua_pushlightuserdata(L, scene);
    lua_newtable(L);
    mo_scene_add_functions(scene, list);
    lua_pushlightuserdata(L, (void *)list);
    lua_pushstring(L, name);
    lua_pushcclosure(L, find_method, 4);
    lua_setfield(L, -2, "__index");
}

void mo_scene_add_shapes(mo_scene *scene)
{
    lua_State *L = scene->box.L;
    mo_scene_add_type(scene, type_name, methods);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    for (const mo_shape_kind *const *kind = mo_named_shapes; *kind; kind++) {
        lua_pushlightuserdata(L, scene);
        lua_pushlightuserdata(L, (void *)*kind);
        lua_pushcclosure(L, construct, 2);
        lua_setfield(L, -2, (*kind)->name);
    }
    mo_scene_add_functions(scene, functions);
}
