// Linear clipping of tetrahedra, boxes and squares (fractions.h).
#include "grid/fractions.h"

double mo_fraction_tet(const double phi[4])
{
    // Negative corners to the front.
    double in[4], out[4];
    int n = 0, m = 0;
    for (int i = 0; i < 4; i++)
        if (phi[i] < 0)
            in[n++] = phi[i];
        else
            out[m++] = phi[i];
    if (n == 0) return 0;
    if (n == 4) return 1;
    double a = in[0];
    if (n == 1) return a / (a - out[0]) * (a / (a - out[1])) * (a / (a - out[2]));
    if (n == 3) {
        double p = out[0];
        return 1 - p / (p - in[0]) * (p / (p - in[1])) * (p / (p - in[2]));
    }
    // A wedge of three tetrahedra; ac = part of edge a-c that is negative.
    double b = in[1], c = out[0], d = out[1];
    double ac = a / (a - c), ad = a / (a - d), bc = b / (b - c), bd = b / (b - d);
    return bc * bd + ac * ad * (1 - bd) + ac * bd * (1 - bc);
}

static double fraction_triangle(double a, double b, double c)
{
    int n = (a < 0) + (b < 0) + (c < 0);
    if (n == 0 || n == 3) return n == 3;
    // The corner alone on its side.
    double p = a, q = b, r = c;
    if ((b < 0) == (n == 1)) p = b, q = a;
    if ((c < 0) == (n == 1)) p = c, q = a, r = b;
    double part = p / (p - q) * (p / (p - r));
    return n == 1 ? part : 1 - part;
}

// Interpolation between the corners sees a curved function too high by its bending: for x^2 the mean over the box lies
// two thirds of the way from the corners' mean to the centre. Returns false if nothing crosses zero.
static bool shift_corners(int n, const double *corner, double centre, double *shifted)
{
    double mean = 0;
    int negative = centre < 0;
    for (int i = 0; i < n; i++) mean += corner[i], negative += corner[i] < 0;
    if (negative == 0 || negative == n + 1) return false;
    double shift = 2.0 / 3 * (centre - mean / n);
    for (int i = 0; i < n; i++) shifted[i] = corner[i] + shift;
    return true;
}

double mo_fraction_box(const double corner[8], double centre)
{
    // Kuhn's six tetrahedra: from corner 0 to corner 7 one axis at a time.
    static const uint8_t path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    double c[8], sum = 0;
    if (!shift_corners(8, corner, centre, c)) return centre < 0;
    for (int t = 0; t < 6; t++) sum += mo_fraction_tet((double[4]){c[0], c[path[t][0]], c[path[t][1]], c[7]});
    return sum < 6 ? sum / 6 : 1;
}

double mo_fraction_square(const double corner[4], double centre)
{
    double c[4];
    if (!shift_corners(4, corner, centre, c)) return centre < 0;
    double m = 0.25 * (c[0] + c[1] + c[2] + c[3]);
    double sum = fraction_triangle(c[0], c[1], m) + fraction_triangle(c[1], c[3], m) +
                 fraction_triangle(c[3], c[2], m) + fraction_triangle(c[2], c[0], m);
    return sum < 4 ? 0.25 * sum : 1;
}
