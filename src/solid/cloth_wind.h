// Wind on cloth where no air is simulated: the pressure of the air that strikes a triangle, by the component of its
// velocity along the normal,
//
//     f = rho/2 A s |s| n,   s = n.(w - V)      A, n: area and normal at the start of the step; V: mean of the corners
//
// a third of it on each corner. With A and n fixed it has the potential of a step, Phi = rho/6 A |s|^3, which is convex
// in the velocities: wind can only draw cloth to its own speed.
#ifndef MO_CLOTH_WIND_H
#define MO_CLOTH_WIND_H

#include "solid/cloth.h"

typedef struct mo_cloth_wind {
    mo_vec3 velocity; // m/s, w
    double *strength; // [triangles] kg/m: rho/2 A of the part that the wind reaches
    mo_vec3 *normal;  // [triangles]
} mo_cloth_wind;

mo_status mo_cloth_wind_create(const mo_elastic_body *b, mo_vec3 velocity, mo_cloth_wind *out, mo_error *err);
void mo_cloth_wind_destroy(mo_cloth_wind *w);
// Takes areas and normals of the present places. density: kg/m^3 of the air; dry: [triangles] the part of each that the
// wind reaches, NULL: all.
void mo_cloth_wind_aim(const mo_elastic_body *b, double density, const double *dry, mo_cloth_wind *w);

double mo_cloth_wind_value(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v); // Phi, W
void mo_cloth_wind_add_force(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v, double scale,
                             double *force); // adds scale times f, [unknowns]
// Adds scale d2Phi/dv2 to a matrix with the pattern of stiffness.
void mo_cloth_wind_add_stiffness(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v, double scale,
                                 mo_csr *A);

#endif
