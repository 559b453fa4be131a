// Elastic materials: energy, stress and stiffness as functions of the deformation gradient F.
//
//     stable Neo-Hookean     Psi = mu/2 (|F|^2 - 3) - mu (J - 1) + lambda/2 (J - 1)^2      J = det F
//     St. Venant-Kirchhoff   Psi = mu |E|^2 + lambda/2 (tr E)^2                            E = (F^T F - 1)/2
//
// lambda of the first is Lame's lambda plus mu, so that small strains have the given Young's modulus and Poisson's
// ratio. Its energy is finite where elements are inverted, and drives them back. The second is for comparison with
// published benchmarks: it collapses under compression. Two dimensions are plane strain: F has F_zz = 1, and only
// directions in the plane count.
#ifndef MO_ELASTICITY_H
#define MO_ELASTICITY_H

#include "base/base.h"

typedef struct mo_elasticity {
    mo_elastic_model model;
    double mu, lambda; // Pa
    double viscosity;  // Pa s: shear stress per rate of shear, as a liquid's
    double pressure;   // Pa, from outside; its potential pressure (J - 1) is part of Psi; default 0
} mo_elasticity;

// young > 0 (Pa), 0 <= poisson < 0.5, viscosity >= 0.
mo_elasticity mo_elasticity_create(mo_elastic_model model, double young, double poisson, double viscosity);

double mo_elasticity_energy(const mo_elasticity *m, const double F[3][3]);               // Psi, J/m^3
void mo_elasticity_stress(const mo_elasticity *m, const double F[3][3], double P[3][3]); // dPsi/dF, Pa
double mo_elasticity_von_mises(const mo_elasticity *m, const double F[3][3]); // of the Cauchy stress P F^T / J, Pa

// The second derivative in its eigenvectors: d2Psi/dF2 = sum of value_i direction_i (x) direction_i. A projected
// stiffness leaves negative values out.
typedef struct mo_stiffness_modes {
    int32_t count; // 9; in two dimensions 4
    double value[9];
    double direction[9][3][3]; // orthonormal
} mo_stiffness_modes;
void mo_elasticity_modes(const mo_elasticity *m, const double F[3][3], int32_t dimension, mo_stiffness_modes *out);

#endif
