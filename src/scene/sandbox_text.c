// tostring and string.format for scenes. Lua's own show the addresses of tables, functions and other objects, which
// differ from run to run; a scene that used them as names or numbers would give other results each time.
#include "scene/sandbox.h"
#include <string.h>

// Pushes the text of the value at `index`: that of Lua, but the name of the type for objects.
static void push_text(lua_State *L, int index)
{
    int type = lua_type(L, index);
    bool object = type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA || type == LUA_TLIGHTUSERDATA ||
                  type == LUA_TTHREAD;
    if (!object)
        luaL_tolstring(L, index, NULL);
    else if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING)
        lua_pushstring(L, lua_typename(L, type));
}

int mo_sandbox_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

// Upvalue: Lua's own.
int mo_sandbox_format(lua_State *L)
{
    const char *c = luaL_checkstring(L, 1);
    int count = lua_gettop(L);
    while ((c = strchr(c, '%'))) {
        c += 1 + strspn(c + 1, "-+ #0123456789.");
        if (*c == 'p') return luaL_error(L, "string.format: %%p is not available in scenes");
        if (*c) c++;
    }
    for (int i = 2; i <= count; i++) {
        if (lua_type(L, i) == LUA_TSTRING || lua_type(L, i) == LUA_TNUMBER) continue;
        push_text(L, i);
        lua_replace(L, i);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}
