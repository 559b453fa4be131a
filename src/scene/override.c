// Parsing and applying "section[index].key.component=value".
#include "scene/override.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, DEPTH = 3 };

typedef struct entry {
    const char *text, *value; // whole text; what follows the '='
    char section[NAME_BYTES];
    char key[DEPTH][NAME_BYTES]; // of the table, of the table in it, ...
    int32_t depth, index;        // index 0: every call of the section
    bool used;
} entry;

struct mo_overrides {
    int32_t count;
    entry entries[];
};

// ---- Parsing ----

// Reads a name into `name`; returns what follows it, or NULL.
static const char *parse_name(const char *s, char name[NAME_BYTES])
{
    int32_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') {
        if (n + 1 >= NAME_BYTES) return NULL;
        name[n] = s[n];
        n++;
    }
    name[n] = 0;
    return n ? s + n : NULL;
}

static bool parse_entry(const char *text, entry *e)
{
    *e = (entry){.text = text};
    const char *s = parse_name(text, e->section);
    if (s && *s == '[') {
        char *end;
        long index = strtol(s + 1, &end, 10);
        if (index < 1 || index > 1000000 || *end != ']' || !isdigit((unsigned char)s[1])) return false;
        e->index = (int32_t)index;
        s = end + 1;
    }
    while (s && *s == '.' && e->depth < DEPTH) s = parse_name(s + 1, e->key[e->depth++]);
    if (!s || *s != '=') return false;
    e->value = s + 1;
    return true;
}

mo_status mo_overrides_create(const char *const *texts, int32_t count, mo_overrides **out, mo_error *err)
{
    MO_ASSERT(count >= 0 && (texts || count == 0));
    mo_overrides *all = mo_calloc(sizeof *all + sizeof(entry) * (size_t)count);
    if (!all) return mo_fail_memory(err);
    all->count = count;
    for (int32_t i = 0; i < count; i++)
        if (!texts[i] || !parse_entry(texts[i], &all->entries[i])) {
            mo_overrides_destroy(all);
            return mo_fail(err, MO_ERROR_INPUT, "--set %.200s: expected section.key=value, as in domain.cells=64",
                           texts[i] ? texts[i] : "");
        }
    *out = all;
    return MO_OK;
}

void mo_overrides_destroy(mo_overrides *overrides) { mo_free(overrides); }

// ---- Applying ----

static bool matches(const entry *e, const char *section, int32_t index)
{
    return strcmp(e->section, section) == 0 && (e->index == 0 || e->index == index);
}

// Pushes the vector "{1, 2, 3}"; false if it is not one.
static bool push_vector(lua_State *L, const char *s)
{
    int32_t count = 0;
    if (*s++ != '{') return false;
    lua_newtable(L);
    for (;;) {
        char *end;
        double value = strtod(s, &end);
        if (end == s || count == 16) return false;
        lua_pushnumber(L, value);
        lua_rawseti(L, -2, ++count);
        while (*end == ' ') end++;
        s = end + 1;
        if (*end == '}') return *s == 0;
        if (*end != ',') return false;
    }
}

static void push_value(lua_State *L, const char *s)
{
    size_t length = strlen(s);
    bool quoted = length >= 2 && (*s == '"' || *s == '\'') && s[length - 1] == *s;
    int top = lua_gettop(L);
    if (quoted) {
        lua_pushlstring(L, s + 1, length - 2);
    } else if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
        lua_pushboolean(L, *s == 't');
    } else if (!lua_stringtonumber(L, s) && !push_vector(L, s)) {
        lua_settop(L, top);
        lua_pushstring(L, s);
    }
}

// Pushes a copy of the table at the top in place of it.
static void copy_table(lua_State *L)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, -3);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
}

static const char *const faces[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};

// Replaces the value at the top by a table one may write a component into.
static void open_component(mo_sandbox *box, const entry *e, int32_t level)
{
    MO_ASSERT(level > 0 && level < e->depth);
    lua_State *L = box->L;
    const char *component = e->key[level];
    bool vector = strlen(component) == 1;
    if (lua_istable(L, -1)) {
        copy_table(L);
    } else if (lua_isnil(L, -1) || (!vector && lua_type(L, -1) == LUA_TSTRING)) {
        // Nothing there: a zero vector or an empty table. A wall for all faces: the same for each of them.
        lua_newtable(L);
        for (int32_t i = 0; i < 3 && vector; i++) {
            lua_pushnumber(L, 0);
            lua_rawseti(L, -2, i + 1);
        }
        for (int32_t i = 0; i < 6 && lua_type(L, -2) == LUA_TSTRING; i++) {
            lua_pushvalue(L, -2);
            lua_setfield(L, -2, faces[i]);
        }
        lua_remove(L, -2);
    } else {
        char text[64];
        luaL_error(L, "--set %s: %s is %s, which has no '%s'", e->text, e->key[level - 1],
                   mo_table_describe(L, -1, text), component);
    }
}

// Pushes the key of a level: components x, y, z are 1, 2, 3 in vectors.
static void push_key(lua_State *L, const entry *e, int32_t level)
{
    const char *name = e->key[level];
    bool in_vector = level > 0 || strcmp(e->section, "gravity") == 0;
    if (in_vector && strlen(name) == 1 && *name >= 'x' && *name <= 'z')
        lua_pushinteger(L, *name - 'x' + 1);
    else
        lua_pushstring(L, name);
}

// Writes into the table at the top, copying the tables on the way.
static void apply(mo_sandbox *box, const entry *e, int32_t level)
{
    MO_ASSERT(level >= 0 && level < e->depth && lua_istable(box->L, -1));
    lua_State *L = box->L;
    push_key(L, e, level);
    if (level + 1 == e->depth) {
        push_value(L, e->value);
    } else {
        lua_pushvalue(L, -1);
        lua_rawget(L, -3);
        open_component(box, e, level + 1);
        apply(box, e, level + 1);
    }
    lua_rawset(L, -3);
}

void mo_overrides_apply(mo_overrides *overrides, mo_sandbox *box, const char *section, int32_t index, int table)
{
    MO_ASSERT(lua_istable(box->L, table));
    lua_State *L = box->L;
    table = lua_absindex(L, table);
    bool copied = false;
    for (int32_t i = 0; i < overrides->count; i++) {
        entry *e = &overrides->entries[i];
        if (!matches(e, section, index)) continue;
        e->used = true;
        lua_pushvalue(L, table);
        if (e->depth == 0) { // the whole table: gravity={0, 0, 0}
            lua_pop(L, 1);
            push_value(L, e->value);
            if (!lua_istable(L, -1)) luaL_error(L, "--set %s: %s needs a key or a {vector}", e->text, section);
        } else {
            if (!copied) copy_table(L);
            apply(box, e, 0);
        }
        copied = true;
        lua_replace(L, table);
    }
}

bool mo_overrides_push(mo_overrides *overrides, lua_State *L, const char *section, const char *key)
{
    const entry *last = NULL;
    for (int32_t i = 0; i < overrides->count; i++) {
        entry *e = &overrides->entries[i];
        if (e->index || e->depth != 1 || strcmp(e->section, section) != 0 || strcmp(e->key[0], key) != 0) continue;
        e->used = true;
        last = e;
    }
    if (last) push_value(L, last->value);
    return last != NULL;
}

// ---- Questions ----

bool mo_overrides_any(const mo_overrides *overrides, const char *section)
{
    for (int32_t i = 0; i < overrides->count; i++)
        if (strcmp(overrides->entries[i].section, section) == 0) return true;
    return false;
}

const char *mo_override_of(const mo_overrides *overrides, const char *section, int32_t index, const char *key)
{
    for (int32_t i = overrides->count - 1; i >= 0; i--) {
        const entry *e = &overrides->entries[i];
        bool whole = e->depth == 0 || strcmp(section, key) == 0; // gravity is a vector itself
        if (matches(e, section, index) && (whole || strcmp(e->key[0], key) == 0)) return e->text;
    }
    return NULL;
}

bool mo_overrides_unused(const mo_overrides *overrides, mo_unused *unused)
{
    for (int32_t i = 0; i < overrides->count; i++) {
        const entry *e = &overrides->entries[i];
        if (e->used) continue;
        *unused = (mo_unused){.text = e->text, .section = e->section, .key = e->key[0], .index = e->index};
        return true;
    }
    return false;
}
