// Mass properties of solids: formulas for primitives, quadrature for sections.
#ifndef MO_PRIMITIVE_MASS_H
#define MO_PRIMITIVE_MASS_H

#include "geometry/shape.h"

// Finds the mass properties of a primitive by formula, however it is moved, turned and scaled. Returns false for other
// shapes.
bool mo_primitive_mass(const mo_shape *s, mo_mass *out);

// Finds the mass properties of the section at z = 0, extruded over `depth` with its middle at z = 0, to about 1e-6.
mo_mass mo_section_mass(const mo_shape *s, double depth);

#endif
