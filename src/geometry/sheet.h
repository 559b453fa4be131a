// Sheets: open triangle surfaces without thickness, from which thin shells are made. The public header has the sheets
// themselves and their makers.
#ifndef MO_SHEET_H
#define MO_SHEET_H

#include "base/base.h"
#include "base/vec.h"

static const int32_t mo_sheet_most = 2000000; // triangles of a sheet

// The edges of a sheet, and the triangles round each of them.
typedef struct mo_sheet_edges {
    int32_t count;
    int32_t (*vertex)[2]; // [count] the lower number first
    int32_t *first;       // [count + 1]
    int32_t *around;      // [first[count]] 4 triangle + corner: the edge goes from this corner to the next one
    int32_t (*of)[3];     // [triangles] edge from each corner to the next
    int32_t borders, junctions;
} mo_sheet_edges;
mo_status mo_sheet_edges_create(const mo_sheet *s, mo_sheet_edges *out, mo_error *err);
void mo_sheet_edges_destroy(mo_sheet_edges *e);

// Counts the vertices on borders that lie within `reach` m of a triangle that is not beside them, where the user
// probably forgot to weld. *first: the place of the first.
mo_status mo_sheet_loose(const mo_sheet *s, double reach, int32_t *count, mo_vec3 *first, mo_error *err);

#endif
