// Overrides "section.key=value" of a scene's tables. They are parsed before the scene runs and written into a copy of
// each table before it is read, so that an overridden value passes the same checks as a written one.
#ifndef MO_OVERRIDE_H
#define MO_OVERRIDE_H

#include "scene/table.h"

// All overrides of a load. `texts` must stay valid as long as the result.
mo_status mo_overrides_create(const char *const *texts, int32_t count, mo_overrides **out, mo_error *err);
void mo_overrides_destroy(mo_overrides *overrides);

// Replaces the table at stack index `table` by a copy with the overrides of the section's call number `index` (from 1)
// applied, and marks them used. Raises errors.
void mo_overrides_apply(mo_overrides *overrides, mo_sandbox *box, const char *section, int32_t index, int table);
// Pushes the value of the last override "section.key=value" and marks it used; pushes nothing and returns false if
// there is none.
bool mo_overrides_push(mo_overrides *overrides, lua_State *L, const char *section, const char *key);
bool mo_overrides_any(const mo_overrides *overrides, const char *section); // is there one for this section?
// The text of the last override that set the key, or NULL.
const char *mo_override_of(const mo_overrides *overrides, const char *section, int32_t index, const char *key);

// An override that no table took: its text, the section and key that it names, and the section's index (0 = all).
typedef struct mo_unused {
    const char *text, *section, *key;
    int32_t index;
} mo_unused;
// Finds the first unused override; false if all were used.
bool mo_overrides_unused(const mo_overrides *overrides, mo_unused *unused);

#endif
