// Reading a table of a scene key by key. Every function either returns a checked value or raises a Lua error that names
// file, line, section and key.
#ifndef MO_TABLE_H
#define MO_TABLE_H

#include "scene/sandbox.h"

typedef struct mo_overrides mo_overrides;

typedef struct mo_table {
    mo_sandbox *box;
    const mo_overrides *overrides; // whose text belongs into messages about an overridden key, or NULL
    const char *section;           // "liquid"
    int32_t index;                 // which call of the section, from 1
    const char *parent;            // key of the section under which the table lies, or NULL
    int table;                     // stack index of the table
    char label[96];                // "liquid 'pool'"
    char where[LUA_IDSIZE + 16];   // "scene.lua:12: "
} mo_table;

typedef enum mo_range { MO_ANY, MO_POSITIVE, MO_NOT_NEGATIVE } mo_range;

// A reader without a table, for messages of the line that runs now.
mo_table mo_table_here(mo_sandbox *box, const char *section);
// A reader for the table at stack index `table`, called from the line that runs now. Fails if it is not a table.
mo_table mo_table_open(mo_sandbox *box, const char *section, int table);
// Raises "WHERE LABEL: text", with the override that set `key` (may be NULL) if there was one.
_Noreturn void mo_table_fail(const mo_table *r, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void mo_table_whole(const mo_table *r, int index); // fails if the text there has a zero byte: C would cut it
void mo_table_keys(const mo_table *r, const char *const *keys); // NULL-terminated; any other key is an error
void mo_table_require(const mo_table *r, const char *key);      // the key must be there
bool mo_table_push(const mo_table *r, const char *key);         // pushes the value (or nil); false if absent
double mo_table_number(const mo_table *r, const char *key, double otherwise, mo_range range);
int32_t mo_table_integer(const mo_table *r, const char *key, int32_t otherwise, int32_t lo, int32_t hi);
bool mo_table_boolean(const mo_table *r, const char *key, bool otherwise);
int32_t mo_table_choice(const mo_table *r, const char *key, const char *const *names, int32_t otherwise);
const char *mo_table_string(const mo_table *r, const char *key); // NULL if absent; lives as long as the table's value
mo_vec3 mo_table_vector(const mo_table *r, const char *key, mo_vec3 otherwise);

// The pieces, for values that are not under a key. `key` is for messages.
mo_vec3 mo_table_to_vector(const mo_table *r, const char *key, int index, int32_t *components);
int32_t mo_table_to_choice(const mo_table *r, const char *key, int index, const char *const *names);
const char *mo_table_describe(lua_State *L, int index, char text[64]); // "-3", "'abc'", "a table"
// The name nearest to a misspelt one, or NULL if none is near.
const char *mo_nearest_name(const char *name, const char *const *names);

#endif
