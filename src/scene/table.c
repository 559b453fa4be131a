// Checked access to the tables of a scene, and the messages of what is wrong with them.
#include "scene/table.h"
#include "scene/override.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- Messages ----

// Edit distance with swapped neighbours, for names up to 31 bytes.
static int32_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    int32_t n = (int32_t)strlen(a), m = (int32_t)strlen(b), d[LONGEST][LONGEST];
    if (n >= LONGEST || m >= LONGEST) return LONGEST;
    for (int32_t i = 0; i <= n; i++) d[i][0] = i;
    for (int32_t j = 0; j <= m; j++) d[0][j] = j;
    for (int32_t i = 1; i <= n; i++)
        for (int32_t j = 1; j <= m; j++) {
            int32_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *mo_nearest_name(const char *name, const char *const *names)
{
    const char *nearest = NULL;
    // Short names are near everything: allow one change in three letters.
    int32_t limit = ((int32_t)strlen(name) + 2) / 3, best = limit > 3 ? 4 : limit + 1;
    for (; *names; names++) {
        int32_t distance = edit_distance(name, *names);
        if (distance < best) best = distance, nearest = *names;
    }
    return nearest;
}

mo_table mo_table_here(mo_sandbox *box, const char *section)
{
    mo_table r = {.box = box, .section = section};
    snprintf(r.label, sizeof r.label, "%s", section);
    mo_sandbox_where(box, r.where, sizeof r.where);
    return r;
}

mo_table mo_table_open(mo_sandbox *box, const char *section, int table)
{
    mo_table r = mo_table_here(box, section);
    r.table = lua_absindex(box->L, table);
    if (!lua_istable(box->L, table) || lua_gettop(box->L) > r.table)
        mo_table_fail(&r, NULL, "expects one table, as in %s{ ... }", section);
    return r;
}

void mo_table_fail(const mo_table *r, const char *key, const char *format, ...)
{
    char text[600], note[160] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->parent) key = r->parent;
    const char *set = r->overrides && key ? mo_override_of(r->overrides, r->section, r->index, key) : NULL;
    if (set) snprintf(note, sizeof note, " (--set %.140s)", set);
    lua_pushfstring(r->box->L, "%s%s: %s%s", r->where, r->label, text, note);
    for (;;) lua_error(r->box->L); // does not return
}

const char *mo_table_describe(lua_State *L, int index, char text[64])
{
    switch (lua_type(L, index)) {
    case LUA_TNIL: return "nothing";
    case LUA_TNUMBER: snprintf(text, 64, "%.10g", lua_tonumber(L, index)); return text;
    case LUA_TSTRING: snprintf(text, 64, "'%.50s'", lua_tostring(L, index)); return text;
    case LUA_TBOOLEAN: return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TTABLE: return "a table";
    case LUA_TFUNCTION: return "a function";
    default: return luaL_testudata(L, index, "sheet") ? "a sheet" : "a shape";
    }
}

// ---- Keys ----

void mo_table_whole(const mo_table *r, int index)
{
    size_t bytes;
    const char *text = lua_tolstring(r->box->L, index, &bytes);
    if (strlen(text) != bytes) mo_table_fail(r, NULL, "a zero byte in the text '%.60s'", text);
}

void mo_table_keys(const mo_table *r, const char *const *keys)
{
    MO_ASSERT(lua_istable(r->box->L, r->table));
    lua_State *L = r->box->L;
    char text[64];
    const char *unknown = NULL; // the first in the alphabet: Lua's own order changes from run to run
    for (lua_pushnil(L); lua_next(L, r->table);) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            mo_table_fail(r, NULL, "a value without a name (%s); every value needs one, as in %s = ...",
                          mo_table_describe(L, -1, text), keys[0] ? keys[0] : "key");
        const char *name = lua_tostring(L, -1);
        mo_table_whole(r, -1);
        bool known = false;
        for (const char *const *key = keys; *key && !known; key++) known = strcmp(name, *key) == 0;
        if (!known && (!unknown || strcmp(name, unknown) < 0)) unknown = name;
    }
    if (!unknown) return;
    const char *nearest = mo_nearest_name(unknown, keys);
    if (nearest) mo_table_fail(r, unknown, "unknown key '%.60s' (did you mean '%s'?)", unknown, nearest);
    mo_table_fail(r, unknown, "unknown key '%.60s'", unknown);
}

bool mo_table_push(const mo_table *r, const char *key)
{
    MO_ASSERT(r->table > 0);
    lua_pushstring(r->box->L, key);
    return lua_rawget(r->box->L, r->table) != LUA_TNIL;
}

void mo_table_require(const mo_table *r, const char *key)
{
    bool there = mo_table_push(r, key);
    lua_pop(r->box->L, 1);
    if (!there) mo_table_fail(r, key, "missing key '%s'", key);
}

// ---- Values ----

double mo_table_number(const mo_table *r, const char *key, double otherwise, mo_range range)
{
    lua_State *L = r->box->L;
    char text[64];
    double value = otherwise;
    if (mo_table_push(r, key)) {
        const char *got = mo_table_describe(L, -1, text);
        if (lua_type(L, -1) != LUA_TNUMBER) mo_table_fail(r, key, "%s must be a number, got %s", key, got);
        value = lua_tonumber(L, -1);
        if (!isfinite(value)) mo_table_fail(r, key, "%s must be finite, got %s", key, got);
        if (range == MO_POSITIVE && value <= 0) mo_table_fail(r, key, "%s must be > 0, got %s", key, got);
        if (range == MO_NOT_NEGATIVE && value < 0) mo_table_fail(r, key, "%s must be >= 0, got %s", key, got);
    }
    lua_pop(L, 1);
    return value;
}

int32_t mo_table_integer(const mo_table *r, const char *key, int32_t otherwise, int32_t lo, int32_t hi)
{
    MO_ASSERT(lo <= hi);
    lua_State *L = r->box->L;
    char text[64];
    int32_t value = otherwise;
    if (mo_table_push(r, key)) {
        const char *got = mo_table_describe(L, -1, text);
        int whole;
        lua_Integer wide = lua_tointegerx(L, -1, &whole);
        if (lua_type(L, -1) != LUA_TNUMBER || !whole)
            mo_table_fail(r, key, "%s must be a whole number, got %s", key, got);
        if (wide < lo || wide > hi) mo_table_fail(r, key, "%s must be %d..%d, got %s", key, lo, hi, got);
        value = (int32_t)wide;
    }
    lua_pop(L, 1);
    return value;
}

bool mo_table_boolean(const mo_table *r, const char *key, bool otherwise)
{
    lua_State *L = r->box->L;
    char text[64];
    bool value = otherwise;
    if (mo_table_push(r, key)) {
        if (lua_type(L, -1) != LUA_TBOOLEAN)
            mo_table_fail(r, key, "%s must be true or false, got %s", key, mo_table_describe(L, -1, text));
        value = lua_toboolean(L, -1);
    }
    lua_pop(L, 1);
    return value;
}

const char *mo_table_string(const mo_table *r, const char *key)
{
    lua_State *L = r->box->L;
    char text[64];
    const char *value = NULL;
    if (mo_table_push(r, key)) {
        if (lua_type(L, -1) != LUA_TSTRING)
            mo_table_fail(r, key, "%s must be a string, got %s", key, mo_table_describe(L, -1, text));
        mo_table_whole(r, -1);
        value = lua_tostring(L, -1);
    }
    lua_pop(L, 1);
    return value;
}

int32_t mo_table_to_choice(const mo_table *r, const char *key, int index, const char *const *names)
{
    MO_ASSERT(names[0]);
    char text[64], list[200] = "";
    const char *value = lua_type(r->box->L, index) == LUA_TSTRING ? lua_tostring(r->box->L, index) : NULL;
    if (value) mo_table_whole(r, index);
    for (int32_t i = 0; names[i]; i++) {
        if (value && strcmp(value, names[i]) == 0) return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "", names[i]);
    }
    mo_table_fail(r, key, "%s must be one of %s, got %s", key, list, mo_table_describe(r->box->L, index, text));
}

int32_t mo_table_choice(const mo_table *r, const char *key, const char *const *names, int32_t otherwise)
{
    int32_t choice = mo_table_push(r, key) ? mo_table_to_choice(r, key, -1, names) : otherwise;
    lua_pop(r->box->L, 1);
    return choice;
}

mo_vec3 mo_table_to_vector(const mo_table *r, const char *key, int index, int32_t *components)
{
    lua_State *L = r->box->L;
    char text[64];
    double v[3] = {0, 0, 0};
    index = lua_absindex(L, index);
    if (lua_type(L, index) != LUA_TTABLE)
        mo_table_fail(r, key, "%s must be a vector {x, y, z}, got %s", key, mo_table_describe(L, index, text));
    int32_t count = (int32_t)lua_rawlen(L, index), entries = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) entries++;
    // A second entry count catches names and holes: {x = 1}, {1, nil, 3}.
    if (count < 2 || count > 3 || entries != count)
        mo_table_fail(r, key, "%s must be a vector of two or three numbers {x, y, z}", key);
    for (int32_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, i + 1);
        if (lua_type(L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
            mo_table_fail(r, key, "%s must be made of finite numbers, got %s for %c", key,
                          mo_table_describe(L, -1, text), "xyz"[i]);
        v[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    if (components) *components = count;
    return (mo_vec3){v[0], v[1], v[2]};
}

mo_vec3 mo_table_vector(const mo_table *r, const char *key, mo_vec3 otherwise)
{
    mo_vec3 v = mo_table_push(r, key) ? mo_table_to_vector(r, key, -1, NULL) : otherwise;
    lua_pop(r->box->L, 1);
    return v;
}
