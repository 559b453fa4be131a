// The triangles of a sheet in a tree of boxes, for three queries: which triangle a segment meets first, which is near,
// and how a point moves along a sheet without passing it. Sheets whose vertices move have such a tree too
// (sheet_sweep.h).
#ifndef MO_SHEET_TREE_H
#define MO_SHEET_TREE_H

#include "geometry/shape.h"
#include "geometry/sheet.h"

typedef struct mo_sheet_tree mo_sheet_tree;

// The sheet must outlive the tree. Queries may run in parallel.
mo_status mo_sheet_tree_create(const mo_sheet *s, mo_sheet_tree **out, mo_error *err);
void mo_sheet_tree_destroy(mo_sheet_tree *t);

// Returns the part of the path from a to b, 0..1, at which it first meets a triangle; 2: it meets none. The triangles
// that are met are found exactly, and touching counts, so that nothing passes between two triangles that share an edge.
double mo_sheet_tree_meet(const mo_sheet_tree *t, mo_vec3 a, mo_vec3 b, int32_t *triangle);
// The distance of p if it is below `most`, else `most`; *way leads from the sheet to p.
double mo_sheet_tree_near(const mo_sheet_tree *t, mo_vec3 p, double most, mo_vec3 *way);

enum { MO_SHEET_BOUNCES = 3 };
typedef struct mo_sheet_slide {
    mo_vec3 end;                      // where the point arrives
    int met;                          // how often it met the sheet
    mo_vec3 normal[MO_SHEET_BOUNCES]; // of the triangles that it met, towards the point
    int32_t triangle[MO_SHEET_BOUNCES];
} mo_sheet_slide;
// Moves a point from a towards b. Where it meets the sheet it slides along it, up to three times; then it stops. It
// ends at least `gap` from the sheet, or less if it began nearer, and there is a path from a to its end that does not
// pass the sheet.
mo_sheet_slide mo_sheet_tree_slide(const mo_sheet_tree *t, mo_vec3 a, mo_vec3 b, double gap);

// The sheet as a solid of that thickness (m), with rounded borders, for contacts. Sheet and tree must outlive the
// shape.
mo_shape *mo_shape_of_sheet(const mo_sheet *sheet, const mo_sheet_tree *tree, double thickness);

#endif
