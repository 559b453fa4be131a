// Sheets in scenes: plate{...}, cup{...}, ..., methods :move(...), :rotate{...}, :scale(...), weld(a, b).
//
// A sheet is a recipe until the whole scene is known, because its edges are as long as a cell of the domain. The scene
// owns all recipes.
#ifndef MO_SCENE_SHEETS_H
#define MO_SCENE_SHEETS_H

#include "geometry/sheet.h"
#include "scene/table.h"

typedef struct mo_scene_sheet mo_scene_sheet;

void mo_scene_add_sheets(mo_scene *scene); // the constructors and functions, into the table at the top
void mo_scene_release_sheets(mo_scene *scene);
const mo_scene_sheet *mo_scene_to_sheet(lua_State *L, int index); // NULL for anything else
// Reads the key `sheet`, which must be there. The result lasts as long as the scene.
const mo_scene_sheet *mo_scene_read_sheet(const mo_table *r);
// Makes the triangles, once the scene's domain is known: from mo_scene_finish. Raises errors. `out` must be empty; the
// caller destroys it, also after an error.
void mo_scene_make_sheet(mo_scene *scene, const mo_scene_sheet *sheet, mo_sheet *out);

#endif
