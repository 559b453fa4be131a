// Exact predicates: on which side of a line, a plane or a triangle's plane a point lies.
//
// The sign is that of the exact value for the doubles that are given. A rounded value decides when its error cannot
// change the sign; else the value is summed as an expansion, a list of doubles whose exact sum it is (Shewchuk 1997,
// Adaptive precision floating-point arithmetic). Compile without fused products and sums.
//
// Predicates about nodes of the lattice have no ties: the lattice is treated as moved by (e, e^2, e^3) with an
// infinitely small e > 0. So a surface in a plane of the lattice lies below that plane. All answers belong to one
// geometry that exists, so they never contradict each other.
#ifndef MO_PREDICATES_H
#define MO_PREDICATES_H

#include "base/base.h"

// Sign of the area of the triangle p q r: 1 counter-clockwise, -1 clockwise, 0 on a line.
int mo_orient2d(const double p[2], const double q[2], const double r[2]);
// Sign of (b - a) x (c - a) . (d - a): 1 if d lies on the side of the plane from which a b c go counter-clockwise.
int mo_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// A coordinate against a plane of the lattice: 1 above, -1 below.
static inline int mo_against_plane(double x, int32_t plane) { return x > plane ? 1 : -1; }
// mo_orient2d of points projected along an axis and a node; 2D coordinates are those after `axis`, in cyclic order.
// 0 only if p and q fall together.
int mo_orient_line(const double p[3], const double q[3], int axis, const int32_t node[3]);
// mo_orient3d of a triangle and a node; 0 only if the triangle has no area.
int mo_orient_node(const double a[3], const double b[3], const double c[3], const int32_t node[3]);

#endif
