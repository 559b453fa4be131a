// The elementary functions of simulations, by sums, products, quotients and roots alone, which every machine rounds
// alike. The C library's functions depend on whether the machine has fused multiplication: a run would not repeat bit
// for bit on another machine. Results are right within 3 units in the last place, unless
// a line says otherwise.
#ifndef MO_ELEMENTARY_H
#define MO_ELEMENTARY_H

double mo_sin(double x); // the absolute error is 1e-16 (1 + |x|)
double mo_cos(double x);
double mo_tan(double x);
double mo_atan2(double y, double x);
double mo_exp(double x);
double mo_ln(double x);            // the natural logarithm; NaN below 0
double mo_pow(double x, double y); // x >= 0; the relative error is 2e-16 (2 + |y log x|)

#endif
