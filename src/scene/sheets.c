// Sheets for scenes: recipes that become triangles once the domain is known.
#include "scene/sheets.h"
#include "base/vec.h"
#include "scene/scene.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char type_name[] = "sheet";

typedef struct maker maker;

struct mo_scene_sheet {
    mo_scene_sheet *next; // of the scene
    const maker *made_by;
    const mo_scene_sheet *a, *b; // what it is made from; NULL: nothing
    double number[4];            // lengths, as the maker calls them
    double edge;                 // m; 0: a cell
    double (*point)[2];          // m, of a line
    int32_t points;
    char *file;
    mo_vec3 vector; // of a move; the axis of a turn
    int32_t depth, parts;
    char what[LUA_IDSIZE + 112]; // "scene.lua:12: plate"
};

typedef enum kind { PLATE, DISK, TUBE, HEMISPHERE, CUP, HELIX, REVOLVE, CURVE, MESH, MOVE, TURN, SCALE, WELD } kind;
enum { MOST_NUMBERS = 4 };
struct maker {
    kind kind;
    const char *name;
    const char *number[MOST_NUMBERS]; // keys of its lengths
};

static mo_scene *scene_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

const mo_scene_sheet *mo_scene_to_sheet(lua_State *L, int index)
{
    mo_scene_sheet *const *s = luaL_testudata(L, index, type_name);
    return s ? *s : NULL;
}

const mo_scene_sheet *mo_scene_read_sheet(const mo_table *r)
{
    char text[64];
    lua_State *L = r->box->L;
    mo_table_require(r, "sheet");
    mo_table_push(r, "sheet");
    const mo_scene_sheet *s = mo_scene_to_sheet(L, -1);
    if (!s)
        mo_table_fail(r, "sheet", "sheet must be a sheet, as plate{size = {1, 1}} or cup{...}, got %s",
                      mo_table_describe(L, -1, text));
    lua_pop(L, 1);
    return s;
}

// ---- Recipes ----

// Pushes a new recipe that the scene owns.
static mo_scene_sheet *push_sheet(mo_scene *scene, const mo_table *r, const maker *by, const mo_scene_sheet *a,
                                  const mo_scene_sheet *b)
{
    int32_t depth = 1 + (a ? a->depth : 0), parts = 1 + (a ? a->parts : 0) + (b ? b->parts : 0);
    if (b && b->depth >= depth) depth = 1 + b->depth;
    if (scene->shapes++ >= MO_SCENE_SHAPES) mo_table_fail(r, NULL, "more than %d shapes and sheets", MO_SCENE_SHAPES);
    if (depth > MO_SCENE_SHAPE_DEPTH)
        mo_table_fail(r, NULL, "more than %d operations nested in one sheet", MO_SCENE_SHAPE_DEPTH);
    if (parts > MO_SCENE_SHAPE_PARTS) mo_table_fail(r, NULL, "more than %d parts in one sheet", MO_SCENE_SHAPE_PARTS);
    mo_scene_sheet **handle = lua_newuserdatauv(scene->box.L, sizeof(mo_scene_sheet *), 0);
    *handle = NULL;
    luaL_setmetatable(scene->box.L, type_name);
    mo_scene_sheet *s = mo_calloc(sizeof *s);
    if (!s) mo_sandbox_no_memory(&scene->box);
    *s = (mo_scene_sheet){.next = scene->sheets, .made_by = by, .a = a, .b = b, .depth = depth, .parts = parts};
    snprintf(s->what, sizeof s->what, "%s%s", r->where, r->label);
    scene->sheets = s;
    return *handle = s;
}

void mo_scene_release_sheets(mo_scene *scene)
{
    while (scene->sheets) {
        mo_scene_sheet *s = scene->sheets;
        scene->sheets = s->next;
        mo_free(s->point), mo_free(s->file), mo_free(s);
    }
}

static const maker makers[] = {{PLATE, "plate", {"size"}},
                               {DISK, "disk", {"radius"}},
                               {TUBE, "tube", {"radius", "height"}},
                               {HEMISPHERE, "hemisphere", {"radius"}},
                               {CUP, "cup", {"radius", "height"}},
                               {HELIX, "helix", {"radius", "pitch", "turns", "width"}},
                               {0, NULL, {NULL}}};
static const maker revolve = {REVOLVE, "revolve", {NULL}}, curve = {CURVE, "curve", {NULL}},
                   mesh_sheet = {MESH, "mesh_sheet", {NULL}};
static const maker move = {MOVE, "move", {NULL}}, turn = {TURN, "rotate", {NULL}}, resize = {SCALE, "scale", {NULL}},
                   weld = {WELD, "weld", {NULL}};

// ---- Constructors ----

static int construct(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    const maker *by = lua_touserdata(L, lua_upvalueindex(2));
    mo_scene_only_loading(scene, by->name);
    mo_table r = mo_table_open(&scene->box, by->name, 1);
    const char *keys[MOST_NUMBERS + 2] = {0};
    int count = 0;
    while (count < MOST_NUMBERS && by->number[count]) keys[count] = by->number[count], count++;
    keys[count] = "edge";
    mo_table_keys(&r, keys);
    mo_scene_sheet *s = push_sheet(scene, &r, by, NULL, NULL);
    s->edge = mo_table_number(&r, "edge", 0, MO_POSITIVE);
    for (int i = 0; i < count; i++) {
        mo_table_require(&r, keys[i]);
        if (strcmp(keys[i], "size") != 0) {
            // A ribbon may wind downwards, or on itself in a plane; everything else is a length.
            s->number[i] = mo_table_number(&r, keys[i], 0, strcmp(keys[i], "pitch") == 0 ? MO_ANY : MO_POSITIVE);
            continue;
        }
        int32_t components;
        mo_table_push(&r, "size");
        mo_vec3 v = mo_table_to_vector(&r, "size", -1, &components);
        lua_pop(L, 1);
        if (components != 2 || !(v.x > 0 && v.y > 0))
            mo_table_fail(&r, "size", "size must be {x, z}, two lengths > 0: a plate has no thickness");
        s->number[0] = v.x, s->number[1] = v.y;
    }
    return 1;
}

// The points {{x, y}, ...} in the table at index 1, beside the key `edge`.
static void read_points(mo_scene *scene, const mo_table *r, mo_scene_sheet *s)
{
    lua_State *L = scene->box.L;
    char text[64];
    int64_t count = (int64_t)lua_rawlen(L, 1), entries = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        bool name = lua_type(L, -2) == LUA_TSTRING;
        if (name && strcmp(lua_tostring(L, -2), "edge") != 0)
            mo_table_fail(r, NULL, "unknown key '%.60s'; it takes points {{x, y}, ...} and edge", lua_tostring(L, -2));
        entries += !name;
    }
    if (count < 2 || entries != count) mo_table_fail(r, NULL, "expects two points or more, as in {{0, 0}, {0.1, 0}}");
    scene->sheet_points += count;
    if (scene->sheet_points > MO_SCENE_POINTS) mo_table_fail(r, NULL, "more than %d points", MO_SCENE_POINTS);
    s->point = mo_alloc(sizeof *s->point * (size_t)count);
    if (!s->point) mo_sandbox_no_memory(&scene->box);
    for (; s->points < count; s->points++) {
        int32_t components = 0;
        lua_rawgeti(L, 1, s->points + 1);
        if (!lua_istable(L, -1))
            mo_table_fail(r, NULL, "point %d must be {x, y}, got %s", s->points + 1, mo_table_describe(L, -1, text));
        mo_vec3 v = mo_table_to_vector(r, "a point", -1, &components);
        lua_pop(L, 1);
        if (components != 2) mo_table_fail(r, NULL, "point %d must have two numbers", s->points + 1);
        s->point[s->points][0] = v.x, s->point[s->points][1] = v.y;
        const double *p = s->point[s->points], *last = s->points ? s->point[s->points - 1] : NULL;
        if (last && p[0] == last[0] && p[1] == last[1])
            mo_table_fail(r, NULL, "points %d and %d are the same", s->points, s->points + 1);
        if (s->made_by == &revolve && !(v.x >= 0))
            mo_table_fail(r, NULL, "point %d: r, the distance from the y axis, must be >= 0, got %g", s->points + 1,
                          v.x);
    }
}

static int construct_line(lua_State *L, const maker *by)
{
    mo_scene *scene = scene_of(L);
    mo_scene_only_loading(scene, by->name);
    mo_table r = mo_table_open(&scene->box, by->name, 1);
    mo_scene_sheet *s = push_sheet(scene, &r, by, NULL, NULL);
    read_points(scene, &r, s);
    s->edge = mo_table_number(&r, "edge", 0, MO_POSITIVE);
    return 1;
}

static int construct_revolve(lua_State *L) { return construct_line(L, &revolve); }
static int construct_curve(lua_State *L) { return construct_line(L, &curve); }

// mesh_sheet "file.obj" or mesh_sheet{ file = "file.obj", edge = 0.1 }; the path is relative to the scene's folder.
static int construct_mesh(lua_State *L)
{
    static const char *const keys[] = {"file", "edge", NULL};
    mo_scene *scene = scene_of(L);
    mo_scene_only_loading(scene, "mesh_sheet");
    if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING) {
        lua_newtable(L);
        lua_insert(L, 1);
        lua_setfield(L, 1, "file");
    }
    mo_table r = mo_table_open(&scene->box, "mesh_sheet", 1);
    mo_table_keys(&r, keys);
    mo_table_require(&r, "file");
    char path[4096];
    mo_scene_find_file(scene, &r, "file", mo_table_string(&r, "file"), path);
    if (scene->meshes++ >= MO_SCENE_MESHES)
        mo_table_fail(&r, NULL, "more than %d meshes; use one several times with :move", MO_SCENE_MESHES);
    mo_scene_sheet *s = push_sheet(scene, &r, &mesh_sheet, NULL, NULL);
    s->edge = mo_table_number(&r, "edge", 0, MO_POSITIVE);
    s->file = mo_alloc(strlen(path) + 1);
    if (!s->file) mo_sandbox_no_memory(&scene->box);
    memcpy(s->file, path, strlen(path) + 1);
    return 1;
}

// ---- Methods and functions ----

static const mo_scene_sheet *sheet_argument(const mo_table *r, int index)
{
    char text[64];
    const mo_scene_sheet *s = mo_scene_to_sheet(r->box->L, index);
    if (!s) mo_table_fail(r, NULL, "expects a sheet, got %s", mo_table_describe(r->box->L, index, text));
    return s;
}

static int method_move(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "move", 3, 4, "sheet:move(x, y, z)");
    const mo_scene_sheet *a = sheet_argument(&r, 1);
    mo_vec3 by = mo_scene_move_arguments(&r);
    push_sheet(scene, &r, &move, a, NULL)->vector = by;
    return 1;
}

static int method_rotate(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "rotate", 2, 2, "sheet:rotate{axis = {0, 0, 1}, degrees = 30}");
    const mo_scene_sheet *a = sheet_argument(&r, 1);
    mo_vec3 axis;
    double degrees = mo_scene_turn_argument(scene, &axis);
    mo_scene_sheet *s = push_sheet(scene, &r, &turn, a, NULL);
    s->vector = axis, s->number[0] = degrees * (M_PI / 180);
    return 1;
}

static int method_scale(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "scale", 2, 2, "sheet:scale(factor)");
    const mo_scene_sheet *a = sheet_argument(&r, 1);
    double factor = mo_scene_length_argument(&r, 2, "factor");
    push_sheet(scene, &r, &resize, a, NULL)->number[0] = factor;
    return 1;
}

static int function_weld(lua_State *L)
{
    mo_scene *scene = scene_of(L);
    mo_table r = mo_scene_start_operation(scene, "weld", 2, 2, "weld(sheet, sheet)");
    const mo_scene_sheet *a = sheet_argument(&r, 1), *b = sheet_argument(&r, 2);
    push_sheet(scene, &r, &weld, a, b);
    return 1;
}

void mo_scene_add_sheets(mo_scene *scene)
{
    static const mo_scene_operation methods[] = {
        {"move", method_move}, {"rotate", method_rotate}, {"scale", method_scale}, {NULL, NULL}};
    static const mo_scene_operation functions[] = {{"weld", function_weld},
                                                   {"revolve", construct_revolve},
                                                   {"curve", construct_curve},
                                                   {"mesh_sheet", construct_mesh},
                                                   {NULL, NULL}};
    lua_State *L = scene->box.L;
    mo_scene_add_type(scene, type_name, methods);
    lua_pop(L, 1);
    for (const maker *by = makers; by->name; by++) {
        lua_pushlightuserdata(L, scene);
        lua_pushlightuserdata(L, (void *)by);
        lua_pushcclosure(L, construct, 2);
        lua_setfield(L, -2, by->name);
    }
    mo_scene_add_functions(scene, functions);
}

// ---- Triangles ----

static const double least_edge = 0.2, most_edge = 4, weld_reach = 0.05; // cells

typedef struct making {
    double cell; // m
    bool flat;   // two dimensions
} making;

// The triangles of a constructor. A curve is swept past the one layer of cells, so that it has no border there.
static mo_status construct_triangles(const mo_scene_sheet *s, double edge, double cell, mo_sheet *out, mo_error *err)
{
    const double *n = s->number, (*point)[2] = (const double(*)[2])s->point;
    switch (s->made_by->kind) {
    case PLATE: return mo_sheet_plate(n[0], n[1], edge, out, err);
    case DISK: return mo_sheet_disk(n[0], edge, out, err);
    case TUBE: return mo_sheet_tube(n[0], n[1], edge, out, err);
    case HEMISPHERE: return mo_sheet_hemisphere(n[0], edge, out, err);
    case CUP: return mo_sheet_cup(n[0], n[1], edge, out, err);
    case HELIX: return mo_sheet_helix(n[0], n[1], n[2], n[3], edge, out, err);
    case REVOLVE: return mo_sheet_revolve(s->points, point, edge, out, err);
    case CURVE: return mo_sheet_curve(s->points, point, edge, 2 * cell, out, err);
    case MESH: return mo_sheet_read(s->file, edge, out, err);
    default: MO_ASSERT(false); return MO_ERROR_FAILED;
    }
}

static mo_status make_leaf(const making *m, const mo_scene_sheet *s, double scale, mo_sheet *out, mo_error *err)
{
    double edge = s->edge > 0 ? s->edge : m->cell / scale, cells = edge * scale / m->cell;
    if ((s->made_by == &curve) != m->flat)
        return mo_fail(err, MO_ERROR_INPUT, "%s: %s", s->what,
                       m->flat ? "in two dimensions sheets are curves, as curve{{0, 0}, {1, 0}}"
                               : "a curve is for two dimensions; take plate{...} or revolve{...}");
    if (!(cells >= least_edge * (1 - 1e-9) && cells <= most_edge * (1 + 1e-9)))
        return mo_fail(err, MO_ERROR_INPUT, "%s: edge must be %g..%g m (%g..%g cells%s), got %g", s->what,
                       least_edge * m->cell / scale, most_edge * m->cell / scale, least_edge, most_edge,
                       scale == 1 ? "" : ", once scaled", edge);
    mo_error said = {0};
    mo_status status = construct_triangles(s, edge, m->cell / scale, out, &said);
    return status == MO_OK ? MO_OK : mo_fail(err, status, "%s: %s", s->what, said.text);
}

static mo_status make(const making *m, const mo_scene_sheet *s, double scale, mo_sheet *out, mo_error *err);

static mo_status make_weld(const making *m, const mo_scene_sheet *s, double scale, mo_sheet *out, mo_error *err)
{
    mo_sheet a = {0}, b = {0};
    mo_error said = {0};
    mo_status status = make(m, s->a, scale, &a, err);
    if (status == MO_OK) status = make(m, s->b, scale, &b, err);
    if (status == MO_OK) {
        status = mo_sheet_weld(&a, &b, weld_reach * m->cell / scale, out, &said);
        if (status != MO_OK) mo_fail(err, status, "%s: %s", s->what, said.text);
    }
    if (status == MO_OK && out->vertices == a.vertices + b.vertices)
        status = mo_fail(err, MO_ERROR_INPUT,
                         "%s: no vertices of the two are within %g cells: they do not meet, or "
                         "their edges differ",
                         s->what, weld_reach);
    mo_sheet_destroy(&a), mo_sheet_destroy(&b);
    return status;
}

// scale: what operations around it will enlarge it by.
static mo_status make(const making *m, const mo_scene_sheet *s, double scale, mo_sheet *out, mo_error *err)
{
    if (s->made_by->kind < MOVE) return make_leaf(m, s, scale, out, err);
    if (s->made_by == &weld) return make_weld(m, s, scale, out, err);
    MO_TRY(make(m, s->a, s->made_by == &resize ? scale * s->number[0] : scale, out, err));
    if (s->made_by == &resize) mo_sheet_scale(out, mo_v3(s->number[0], s->number[0], s->number[0]));
    if (m->flat && s->made_by == &move && s->vector.z != 0)
        return mo_fail(err, MO_ERROR_INPUT, "%s: z must be 0 in two dimensions", s->what);
    if (m->flat && s->made_by == &turn && (s->vector.x != 0 || s->vector.y != 0))
        return mo_fail(err, MO_ERROR_INPUT, "%s: the axis must be z in two dimensions", s->what);
    if (s->made_by == &move) mo_sheet_move(out, s->vector);
    if (s->made_by == &turn) mo_sheet_rotate(out, s->vector, s->number[0]);
    return MO_OK;
}

void mo_scene_make_sheet(mo_scene *scene, const mo_scene_sheet *sheet, mo_sheet *out)
{
    const mo_domain_def *d = &scene->def.domain;
    making m = {fmax(d->size.x, fmax(d->size.y, d->size.z)) / d->cells, d->size.z == 0};
    mo_error err = {0};
    double start = mo_sandbox_clock();
    mo_status status = make(&m, sheet, 1, out, &err);
    mo_sandbox_excuse(&scene->box, mo_sandbox_clock() - start);
    if (status == MO_ERROR_MEMORY) mo_sandbox_no_memory(&scene->box);
    scene->sheet_triangles += out->triangles;
    if (status == MO_OK && scene->sheet_triangles > mo_sheet_most)
        luaL_error(scene->box.L, "%s: more than %d triangles in all sheets: take longer edges", sheet->what,
                   (int)mo_sheet_most);
    if (status != MO_OK) luaL_error(scene->box.L, "%s", err.text);
}
