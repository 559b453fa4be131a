// The limited Lua state: allocator with a ceiling, instruction hook, and the list of what scenes may call.
#include "scene/sandbox.h"
#include "base/elementary.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Bytes charged for a block beyond its content: mo_alloc's header and alignment.
enum { BLOCK_OVERHEAD = 128, HOOK_INSTRUCTIONS = 1000 };

double mo_sandbox_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Writes the place of the innermost Lua function; false if none runs.
static bool write_line(const mo_sandbox *box, char *text, size_t size)
{
    lua_Debug info;
    for (int level = 0; box->L && lua_getstack(box->L, level, &info); level++) {
        lua_getinfo(box->L, "Sl", &info);
        if (info.currentline <= 0) continue;
        snprintf(text, size, "%s:%d: ", info.short_src, info.currentline);
        return true;
    }
    return false;
}

void mo_sandbox_where(const mo_sandbox *box, char *text, size_t size)
{
    if (write_line(box, text, size)) return;
    size_t length = strlen(box->path);
    snprintf(text, size, "%s%s: ", length > 56 ? "..." : "", box->path + (length > 56 ? length - 56 : 0));
}

// ---- Memory ----

static void *refuse(mo_sandbox *box, mo_limit limit)
{
    // Lua asks once more while it unwinds: keep the line that was at fault.
    if (!write_line(box, box->where, sizeof box->where) && box->limit == MO_LIMIT_NONE)
        mo_sandbox_where(box, box->where, sizeof box->where);
    box->limit = limit;
    return NULL;
}

static int64_t charge(size_t bytes) { return bytes ? (int64_t)bytes + BLOCK_OVERHEAD : 0; }

static void *resize(void *user, void *p, size_t old_size, size_t size)
{
    mo_sandbox *box = user;
    // Without a block, Lua passes the kind of the new object in place of its size.
    size_t kind = p ? 0 : old_size;
    if (!p) old_size = 0;
    if (size == 0) {
        mo_free(p);
        box->bytes -= charge(old_size);
        MO_ASSERT(box->bytes >= 0);
        return NULL;
    }
    int64_t bytes = box->bytes + charge(size) - charge(old_size);
    if (kind == LUA_TSTRING && size > MO_SCENE_STRING + 64) return refuse(box, MO_LIMIT_STRING);
    if (size > old_size && bytes > MO_SCENE_MEMORY) return refuse(box, MO_LIMIT_MEMORY);
    void *q = mo_alloc(size);
    if (q && p) {
        memcpy(q, p, old_size < size ? old_size : size);
        mo_free(p);
    }
    if (!q) {
        if (size > old_size) return refuse(box, MO_LIMIT_HOST);
        q = p; // shrinking never fails
    }
    box->bytes = bytes;
    return q;
}

void mo_sandbox_no_memory(mo_sandbox *box)
{
    box->limit = MO_LIMIT_HOST;
    lua_pushnil(box->L);
    for (;;) lua_error(box->L); // does not return
}

// ---- Instructions and time ----

static mo_sandbox *sandbox_of(lua_State *L)
{
    void *user;
    lua_getallocf(L, &user);
    return user;
}

static void check_time(mo_sandbox *box)
{
    double now = mo_sandbox_clock();
    if (box->started < 0) box->started = now;
    if (now - box->started <= MO_SCENE_SECONDS) return;
    char where[LUA_IDSIZE + 16];
    mo_sandbox_where(box, where, sizeof where);
    lua_pushfstring(box->L, "%sthe scene computes for more than %d s (an endless loop?)", where, MO_SCENE_SECONDS);
    lua_error(box->L);
}

static void on_count(lua_State *L, lua_Debug *event)
{
    (void)event;
    mo_sandbox *box = sandbox_of(L);
    box->budget -= HOOK_INSTRUCTIONS;
    if (box->budget < 0) {
        char where[LUA_IDSIZE + 16];
        mo_sandbox_where(box, where, sizeof where);
        lua_pushfstring(L, "%sthe scene runs for too many instructions (an endless loop?)", where);
        lua_error(L);
    }
    check_time(box);
}

void mo_sandbox_excuse(mo_sandbox *box, double seconds)
{
    if (box->started >= 0) box->started += seconds;
}

// ---- Running ----

// Lua's handler of errors: notes the line. Functions of C that are called by functions of C do not know it.
static int note_place(lua_State *L)
{
    mo_sandbox *box = sandbox_of(L);
    if (!write_line(box, box->place, sizeof box->place)) box->place[0] = 0;
    return 1;
}

// Does a message begin with the name of the scene, as "scene.lua:12: " does?
static bool has_place(const mo_sandbox *box, const char *text)
{
    const char *colon = strrchr(box->place, ':');
    while (colon > box->place && colon[-1] != ':') colon--; // the one before the line's number
    size_t head = colon ? (size_t)(colon - box->place) : 0, path = strlen(box->path);
    return strncmp(text, box->place, head) == 0 || strncmp(text, box->path, path) == 0;
}

// Turns the error value on the stack's top into a message. Lua's own message of exhausted memory does not know why; it
// comes as a status or, from string buffers, as a plain text.
static mo_status report(mo_sandbox *box, int lua_status, mo_error *err)
{
    const char *text = lua_type(box->L, -1) == LUA_TSTRING ? lua_tostring(box->L, -1) : NULL;
    bool memory = lua_status == LUA_ERRMEM || !text || strcmp(text, "not enough memory") == 0;
    if (memory && box->limit == MO_LIMIT_HOST) return mo_fail_memory(err);
    if (memory && box->limit == MO_LIMIT_STRING)
        return mo_fail(err, MO_ERROR_INPUT, "%sa string is longer than %d bytes", box->where, MO_SCENE_STRING);
    if (memory && box->limit == MO_LIMIT_MEMORY)
        return mo_fail(err, MO_ERROR_INPUT, "%sthe scene needs more than %d MB of memory", box->where,
                       MO_SCENE_MEMORY >> 20);
    if (!text) return mo_fail(err, MO_ERROR_INPUT, "%s: the scene raised an error that is not a string", box->path);
    mo_fail(err, MO_ERROR_INPUT, "%s%s", has_place(box, text) ? "" : box->place, text);
    // Messages quote the scene's text; they stay one line.
    for (char *c = err ? err->text : NULL; c && *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return MO_ERROR_INPUT;
}

mo_status mo_sandbox_run(mo_sandbox *box, lua_CFunction fn, void *arg, int64_t instructions, mo_error *err)
{
    MO_ASSERT(instructions > 0 && lua_gettop(box->L) == 0);
    lua_State *L = box->L;
    box->budget = instructions;
    box->started = -1;
    box->limit = MO_LIMIT_NONE;
    lua_sethook(L, on_count, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    box->place[0] = 0;
    lua_pushcfunction(L, note_place);
    lua_pushcfunction(L, fn);
    lua_pushlightuserdata(L, arg);
    int lua_status = lua_pcall(L, 1, 0, 1);
    mo_status status = lua_status == LUA_OK ? MO_OK : report(box, lua_status, err);
    lua_settop(L, 0);
    return status;
}

// ---- What scenes may call ----

// Library functions whose one call may take long (sorting, shifting): the deadline is checked first.
static int call_timed(lua_State *L)
{
    check_time(sandbox_of(L));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

// math.random: a sequence in a motion function would make results depend on how often it was called.
static int call_random(lua_State *L)
{
    if (!sandbox_of(L)->loading) return luaL_error(L, "math.random works only while the scene loads");
    return call_timed(L);
}

static int compare_keys(lua_State *L)
{
    // Numbers before strings before the rest; equal ranks among the rest keep Lua's order.
    int a = lua_type(L, 1), b = lua_type(L, 2);
    bool less = a == b && (a == LUA_TNUMBER || a == LUA_TSTRING) ? lua_compare(L, 1, 2, LUA_OPLT) : a < b;
    lua_pushboolean(L, less);
    return 1;
}

// One step of pairs. Upvalues: the sorted keys, the table, the place.
static int pairs_next(lua_State *L)
{
    for (;;) {
        lua_Integer place = lua_tointeger(L, lua_upvalueindex(3)) + 1;
        lua_pushinteger(L, place);
        lua_replace(L, lua_upvalueindex(3));
        if (lua_rawgeti(L, lua_upvalueindex(1), place) == LUA_TNIL) return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 2;
        lua_settop(L, 0); // removed during the loop
    }
}

// pairs in the order of sorted keys: Lua's own order changes from run to run, and results must not.
// Upvalue: table.sort.
static int sorted_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    check_time(sandbox_of(L));
    lua_newtable(L);
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++count);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_pushcfunction(L, compare_keys);
    lua_call(L, 2, 0);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_next, 3);
    return 1;
}

// The functions of math that the C library computes differently on different machines, by base/elementary.h.
static int call_sin(lua_State *L) { return lua_pushnumber(L, mo_sin(luaL_checknumber(L, 1))), 1; }
static int call_cos(lua_State *L) { return lua_pushnumber(L, mo_cos(luaL_checknumber(L, 1))), 1; }
static int call_tan(lua_State *L) { return lua_pushnumber(L, mo_tan(luaL_checknumber(L, 1))), 1; }
static int call_exp(lua_State *L) { return lua_pushnumber(L, mo_exp(luaL_checknumber(L, 1))), 1; }
static int call_atan(lua_State *L)
{
    return lua_pushnumber(L, mo_atan2(luaL_checknumber(L, 1), luaL_optnumber(L, 2, 1))), 1;
}
static int call_asin(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    return lua_pushnumber(L, mo_atan2(x, sqrt((1 - x) * (1 + x)))), 1;
}
static int call_acos(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    return lua_pushnumber(L, mo_atan2(sqrt((1 - x) * (1 + x)), x)), 1;
}
static int call_log(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    if (lua_isnoneornil(L, 2)) return lua_pushnumber(L, mo_ln(x)), 1;
    lua_pushvalue(L, lua_upvalueindex(1)); // to another base: Lua's own
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

static void replace_elementary(lua_State *L, int source, int into)
{
    static const luaL_Reg function[] = {{"sin", call_sin},   {"cos", call_cos},   {"tan", call_tan},  {"exp", call_exp},
                                        {"atan", call_atan}, {"asin", call_asin}, {"acos", call_acos}};
    for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
        lua_pushcfunction(L, function[i].func);
        lua_setfield(L, into, function[i].name);
    }
    lua_getfield(L, source, "log");
    lua_pushcclosure(L, call_log, 1);
    lua_setfield(L, into, "log");
}

typedef struct library {
    const char *name; // NULL: globals
    lua_CFunction open;
    const char *keep[24];
    const char *timed[6]; // kept behind the check of the deadline
} library;

static const library libraries[] = {
    {NULL, luaopen_base, {"assert", "error", "ipairs", "select", "tonumber", "tostring", "type"}, {NULL}},
    {"math",
     luaopen_math,
     {"abs", "acos", "asin", "atan", "ceil",       "cos", "deg", "exp",  "floor", "fmod",      "huge", "log",
      "max", "min",  "modf", "pi",   "maxinteger", "rad", "sin", "sqrt", "tan",   "tointeger", "type", "ult"},
     {NULL}},
    {"string", luaopen_string, {"byte", "char", "format", "len", "lower", "reverse", "sub", "upper"}, {NULL}},
    {"table", luaopen_table, {"pack"}, {"concat", "insert", "remove", "sort", "unpack"}},
};

// Copies the permitted functions of the library table at the top into the table `into`.
static void copy_library(lua_State *L, const library *lib, int into)
{
    for (const char *const *name = lib->keep; name < lib->keep + 24 && *name; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, into, *name);
    }
    for (const char *const *name = lib->timed; name < lib->timed + 6 && *name; name++) {
        lua_getfield(L, -1, *name);
        lua_pushcclosure(L, call_timed, 1);
        lua_setfield(L, into, *name);
    }
}

// Fills a new table with what is safe and makes it the globals. The libraries' own tables become garbage.
static int install(lua_State *L)
{
    lua_settop(L, 0);
    lua_newtable(L); // 1: the new globals
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const library *lib = &libraries[i];
        lua_pushcfunction(L, lib->open);
        lua_call(L, 0, 1);
        int source = lua_gettop(L), into = 1;
        if (lib->name) {
            lua_newtable(L);
            into = lua_gettop(L);
            lua_pushvalue(L, into);
            lua_setfield(L, 1, lib->name);
            lua_pushvalue(L, source);
        }
        copy_library(L, lib, into);
        if (lib->open == luaopen_math) {
            replace_elementary(L, source, into);
            // One sequence of random numbers for every run.
            lua_getfield(L, source, "randomseed");
            lua_pushinteger(L, 1);
            lua_call(L, 1, 0);
            lua_getfield(L, source, "random");
            lua_pushcclosure(L, call_random, 1);
            lua_setfield(L, into, "random");
        }
        if (lib->open == luaopen_base) {
            lua_pushcfunction(L, mo_sandbox_tostring);
            lua_setfield(L, into, "tostring");
        }
        if (lib->open == luaopen_string) {
            lua_getfield(L, source, "format");
            lua_pushcclosure(L, mo_sandbox_format, 1);
            lua_setfield(L, into, "format");
        }
        if (lib->open == luaopen_table) {
            lua_getfield(L, source, "sort");
            lua_pushcclosure(L, sorted_pairs, 1);
            lua_setfield(L, 1, "pairs");
        }
        lua_settop(L, 1);
    }
    // ("text"):upper() finds the permitted string functions only.
    lua_pushliteral(L, "");
    lua_newtable(L);
    lua_getfield(L, 1, "string");
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_settop(L, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    return 0;
}

mo_status mo_sandbox_open(mo_sandbox *box, const char *path, mo_error *err)
{
    *box = (mo_sandbox){.path = path, .started = -1};
    box->L = lua_newstate(resize, box);
    if (!box->L) return mo_fail_memory(err);
    return mo_sandbox_run(box, install, NULL, MO_SCENE_LOAD_INSTRUCTIONS, err);
}

void mo_sandbox_close(mo_sandbox *box)
{
    if (box->L) lua_close(box->L);
    box->L = NULL;
}
