// A sheet whose vertices move along straight lines in a step: whether a point that moves too meets it.
//
// A point and a triangle lie in one plane only where a cubic in time vanishes; where its coefficients in Bernstein's
// form have one sign they never do. The others are followed by additive conservative advancement (Li, Kaufman and Jiang
// 2021), which never reports a time after the true one.
#ifndef MO_SHEET_SWEEP_H
#define MO_SHEET_SWEEP_H

#include "geometry/sheet_tree.h"

typedef struct mo_sheet_sweep mo_sheet_sweep;

// The sheet, where it is at the start, and `to` ([vertices] m), where its vertices arrive, must outlive the sweep.
// Queries may run in parallel.
mo_status mo_sheet_sweep_create(const mo_sheet *from, const double (*to)[3], mo_sheet_sweep **out, mo_error *err);
void mo_sheet_sweep_destroy(mo_sheet_sweep *s);

typedef struct mo_sweep_hit {
    double time;      // part of the step, 0..1, up to which the point certainly meets nothing
    int32_t triangle; // that it meets first
    double weight[3]; // of its vertices: the nearest place on it at that time
    double side;      // 1: the point is where the triangle's normal leads, -1: on the other side
} mo_sweep_hit;

// Whether a point on its way from a to b comes as near to the sheet as `least`, or, if it begins nearer than twice
// that, as half of its distance.
bool mo_sheet_sweep_meet(const mo_sheet_sweep *s, mo_vec3 a, mo_vec3 b, double least, mo_sweep_hit *hit);

// Where a point would be at the end of the step if it stayed with the sheet from the time on at which it meets it on
// its way from a to b, at most `gap` above the triangle. The rest of its way is then a matter of the sheet at rest
// there (mo_sheet_tree_slide). `end`: the tree of the sheet at the end. A point that meets nothing is at b.
mo_vec3 mo_sheet_sweep_carry(const mo_sheet_sweep *s, const mo_sheet_tree *end, mo_vec3 a, mo_vec3 b, double gap);

#endif
