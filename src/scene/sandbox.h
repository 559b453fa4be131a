// A Lua state that a scene cannot misuse: no files, no processes, no code loading; bounded memory, string length,
// instructions and processor time. Nothing inside the state can catch the errors that these limits raise, because
// pcall, coroutines and metatables are absent.
#ifndef MO_SANDBOX_H
#define MO_SANDBOX_H

#include "base/base.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum {
    MO_SCENE_MEMORY = 64 << 20,            // bytes of the Lua state, allocation headers included
    MO_SCENE_STRING = 4096,                // bytes of one string: keeps comparisons and copies cheap
    MO_SCENE_FILE = 256 << 10,             // bytes of the scene file
    MO_SCENE_LOAD_INSTRUCTIONS = 50000000, // for the whole scene
    MO_SCENE_CALL_INSTRUCTIONS = 1000000,  // for one call of a scene's function at run time
    MO_SCENE_SECONDS = 2,                  // processor time of either, meshes excluded
};

typedef enum mo_limit { MO_LIMIT_NONE, MO_LIMIT_MEMORY, MO_LIMIT_STRING, MO_LIMIT_HOST } mo_limit;

typedef struct mo_sandbox {
    lua_State *L;
    const char *path;            // of the scene, for messages without a line; owned by the caller
    bool loading;                // sections, shapes and math.random work only while the scene loads; set by the caller
    int64_t bytes;               // in use
    int64_t budget;              // instructions left
    double started;              // processor time at the first check of a run, < 0 before
    mo_limit limit;              // why the last allocation failed...
    char where[LUA_IDSIZE + 16]; // ...and the line that asked for it, "scene.lua:12: "
    char place[LUA_IDSIZE + 16]; // the line that ran when the last error was raised, likewise; "": none did
} mo_sandbox;

// An empty state whose globals are the safe parts of Lua's base, math, string and table libraries. The struct must not
// move afterwards.
mo_status mo_sandbox_open(mo_sandbox *box, const char *path, mo_error *err);
void mo_sandbox_close(mo_sandbox *box);

// Calls fn(L) with `arg` as its only (light userdata) argument under a budget; a Lua error becomes a mo_status.
mo_status mo_sandbox_run(mo_sandbox *box, lua_CFunction fn, void *arg, int64_t instructions, mo_error *err);
// Adds seconds to the deadline, because work that is not the scene's own (reading a mesh) does not count.
void mo_sandbox_excuse(mo_sandbox *box, double seconds);
double mo_sandbox_clock(void); // processor time of this thread, s
// "scene.lua:12: " of the innermost Lua function that runs, or "scene.lua: ". Never allocates.
void mo_sandbox_where(const mo_sandbox *box, char *text, size_t size);
// Raises the error of exhausted host memory.
_Noreturn void mo_sandbox_no_memory(mo_sandbox *box);

// sandbox_text.c: functions of Lua
int mo_sandbox_tostring(lua_State *L);
int mo_sandbox_format(lua_State *L); // upvalue: string.format

#endif
