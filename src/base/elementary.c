// Elementary functions: the argument is reduced to a short interval about 0, where a Taylor polynomial is as good as
// the rounding, and the small terms are added before the large ones.
#include "base/elementary.h"
#include <math.h>
#include <stdint.h>

// log 2 and pi / 2 in parts: products of the first ones with whole numbers of 20 bits are exact.
static const double ln2[2] = {0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33};
static const double half_pi[3] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e037073p-69};

// c[0] + c[1] x + c[2] x^2 + ...
static double polynomial(const double *c, int count, double x)
{
    double sum = c[count - 1];
    for (int k = count - 2; k >= 0; k--) sum = c[k] + x * sum;
    return sum;
}

double mo_exp(double x)
{
    static const double c[] = {1. / 2,         1. / 6,          1. / 24,         1. / 120,     1. / 720,
                               1. / 5040,      1. / 40320,      1. / 362880,     1. / 3628800, 1. / 39916800,
                               1. / 479001600, 1. / 6227020800, 1. / 87178291200};
    if (isnan(x)) return x;
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    double k = rint(x * 1.44269504088896340736), high = x - k * ln2[0], low = k * ln2[1], r = high - low;
    double e = 1 + (high - (low - r * r * polynomial(c, 13, r)));
    return ldexp(e, (int)k);
}

// log m + k log 2 with x = 2^k m and m about 1; s = f / (2 + f) with f = m - 1 has log m = 2 atanh s.
double mo_ln(double x)
{
    static const double c[] = {2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21};
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (isinf(x)) return x;
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752440) m *= 2, k--;
    double f = m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    return k * ln2[0] - ((half - (s * (half + z * polynomial(c, 10, z)) + k * ln2[1])) - f);
}

double mo_pow(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (x == 0) return y > 0 ? 0 : INFINITY;
    return mo_exp(y * mo_ln(x));
}

// Sine and cosine of r + low for |r| <= pi / 4; low is a rounding error of r.
static double sin_near(double r, double low)
{
    static const double c[] = {-1. / 6,         1. / 120,         -1. / 5040,           1. / 362880,
                               -1. / 39916800., 1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.};
    double z = r * r;
    return r + (z * r * polynomial(c, 8, z) + low * (1 - 0.5 * z));
}
static double cos_near(double r, double low)
{
    static const double c[] = {1. / 24,         -1. / 720,          1. / 40320,           -1. / 3628800,
                               1. / 479001600., -1. / 87178291200., 1. / 20922789888000., -1. / 6402373705728000.};
    double z = r * r, half = 0.5 * z, w = 1 - half;
    return w + (((1 - w) - half) + (z * z * polynomial(c, 8, z) - r * low));
}

// sin(x + quarter pi / 2)
static double sin_turned(double x, int quarter)
{
    if (!isfinite(x)) return NAN;
    if (fabs(x) > 1e6) x = fmod(x, 4 * half_pi[0] + 4 * half_pi[1]);
    double k = rint(x * 0.63661977236758134308), high = x - k * half_pi[0], next = high - k * half_pi[1];
    double low = ((high - next) - k * half_pi[1]) - k * half_pi[2], r = next + low;
    low = (next - r) + low;
    switch (((int64_t)k + quarter) & 3) {
    case 0: return sin_near(r, low);
    case 1: return cos_near(r, low);
    case 2: return -sin_near(r, low);
    default: return -cos_near(r, low);
    }
}

double mo_sin(double x) { return sin_turned(x, 0); }
double mo_cos(double x) { return sin_turned(x, 1); }
double mo_tan(double x) { return mo_sin(x) / mo_cos(x); }

// Of 0 <= t <= 1: atan t = atan c + atan((t - c) / (1 + c t)) with c the nearest eighth.
static double atan_unit(double t)
{
    static const double eighths[9] = {0,
                                      0.12435499454676143503,
                                      0.24497866312686415417,
                                      0.35877067027057222040,
                                      0.46364760900080611621,
                                      0.55859931534356243597,
                                      0.64350110879328438680,
                                      0.71882999962162450542,
                                      0.78539816339744830962};
    static const double c[] = {-1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13, -1. / 15};
    int k = (int)rint(8 * t);
    double u = (t - k / 8.) / (1 + t * (k / 8.)), z = u * u;
    return eighths[k] + (u + u * z * polynomial(c, 7, z));
}

double mo_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    double a = fabs(y), b = fabs(x), angle;
    if (isinf(a) && isinf(b)) a = b = 1;
    angle = a == 0 ? 0 : a <= b ? atan_unit(a / b) : half_pi[0] + (half_pi[1] - atan_unit(b / a));
    if (signbit(x)) angle = 2 * half_pi[0] + (2 * half_pi[1] - angle);
    return copysign(angle, y);
}
