// Mass properties of solids, as exact as they come: formulas for primitives, quadrature for the rest.
#ifndef MO_PRIMITIVE_MASS_H
#define MO_PRIMITIVE_MASS_H

#include "geometry/shape.h"

// By formula, for primitives however moved, turned and scaled; false for other shapes.
bool mo_primitive_mass(const mo_shape *s, mo_mass *out);

// The section at z = 0, extruded over `depth`, its middle at z = 0; about 1e-6 of its size accurate.
mo_mass mo_section_mass(const mo_shape *s, double depth);

#endif
