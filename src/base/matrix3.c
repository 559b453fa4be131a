// Matrices of 3 x 3. Singular values by one-sided Jacobi rotations: columns of F V are turned in pairs until they are
// orthogonal. Their lengths are then the singular values, small ones as accurate as large ones.
#include "base/matrix3.h"
#include <math.h>

void mo_cofactor3(const double F[3][3], double C[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            C[i][j] = F[a][c] * F[b][d] - F[a][d] * F[b][c];
        }
}

double mo_det3(const double F[3][3])
{
    return F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) + F[0][1] * (F[1][2] * F[2][0] - F[1][0] * F[2][2]) +
           F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
}

enum { MOST_SWEEPS = 30 }; // four or five do for every matrix that was tried

// The rotation (c, s) that takes [[a, b], [b, d]] to diagonal form, by the smaller angle.
static void jacobi(double a, double b, double d, double *c, double *s)
{
    double tau = (d - a) / (2 * b), t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    *c = 1 / sqrt(1 + t * t), *s = t * *c;
}

static void turn_columns(double M[3][3], int p, int q, double c, double s)
{
    for (int i = 0; i < 3; i++) {
        double x = M[i][p], y = M[i][q];
        M[i][p] = c * x - s * y, M[i][q] = s * x + c * y;
    }
}

static double column_product(const double M[3][3], int p, int q)
{
    return M[0][p] * M[0][q] + M[1][p] * M[1][q] + M[2][p] * M[2][q];
}

static void set_identity(double M[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) M[i][j] = i == j;
}

// One pass over the three pairs; whether a pair was not yet orthogonal.
static int orthogonalise(double B[3][3], double V[3][3])
{
    int turned = 0;
    for (int p = 0; p < 2; p++)
        for (int q = p + 1; q < 3; q++) {
            double a = column_product(B, p, p), b = column_product(B, p, q), d = column_product(B, q, q), c, s;
            if (!(fabs(b) > 1e-16 * sqrt(a * d)) || fabs(b) < 1e-300) continue;
            jacobi(a, b, d, &c, &s);
            turn_columns(B, p, q, c, s), turn_columns(V, p, q, c, s);
            turned = 1;
        }
    return turned;
}

// Exchanges two columns and turns one round, which keeps the determinant.
static void exchange(double M[3][3], int p, int q)
{
    for (int i = 0; i < 3; i++) {
        double x = M[i][p];
        M[i][p] = M[i][q], M[i][q] = -x;
    }
}

static void sort_columns(double B[3][3], double V[3][3], double s[3])
{
    static const int pair[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        int p = pair[k][0], q = pair[k][1];
        if (s[p] >= s[q]) continue;
        double x = s[p];
        s[p] = s[q], s[q] = x;
        exchange(B, p, q), exchange(V, p, q);
    }
}

static void set_column(double M[3][3], int k, double x, double y, double z) { M[0][k] = x, M[1][k] = y, M[2][k] = z; }

// A unit vector at right angles to the first column.
static void complete_second(double U[3][3])
{
    int least = fabs(U[1][0]) < fabs(U[0][0]) ? 1 : 0;
    if (fabs(U[2][0]) < fabs(U[least][0])) least = 2;
    double e[3] = {0}, length = 0;
    for (int i = 0; i < 3; i++) e[i] = (i == least) - U[least][0] * U[i][0], length += e[i] * e[i];
    length = sqrt(length);
    set_column(U, 1, e[0] / length, e[1] / length, e[2] / length);
}

// The left rotation from F V: the third column is that of a rotation, whose product with F V is the signed value.
static void left_rotation(const double B[3][3], double U[3][3], double s[3])
{
    double tiny = 1e-14 * s[0];
    set_identity(U);
    if (s[0] > 0) set_column(U, 0, B[0][0] / s[0], B[1][0] / s[0], B[2][0] / s[0]);
    if (s[1] > tiny) {
        double d = column_product(U, 0, 0), e[3], length = 0; // d is 1 but for rounding
        for (int i = 0; i < 3; i++) e[i] = B[i][1];
        double along = (U[0][0] * e[0] + U[1][0] * e[1] + U[2][0] * e[2]) / d;
        for (int i = 0; i < 3; i++) e[i] -= along * U[i][0], length += e[i] * e[i];
        length = sqrt(length);
        set_column(U, 1, e[0] / length, e[1] / length, e[2] / length);
    } else
        complete_second(U);
    set_column(U, 2, U[1][0] * U[2][1] - U[2][0] * U[1][1], U[2][0] * U[0][1] - U[0][0] * U[2][1],
               U[0][0] * U[1][1] - U[1][0] * U[0][1]);
    s[2] = U[0][2] * B[0][2] + U[1][2] * B[1][2] + U[2][2] * B[2][2];
}

void mo_svd3(const double F[3][3], double U[3][3], double s[3], double V[3][3])
{
    double B[3][3], size = 0; // F without its size, whose squares could vanish
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(F[i / 3][i % 3]));
    for (int i = 0; i < 9; i++) B[i / 3][i % 3] = size > 0 ? F[i / 3][i % 3] / size : 0;
    set_identity(V);
    for (int k = 0; k < MOST_SWEEPS && orthogonalise(B, V); k++) {}
    for (int k = 0; k < 3; k++) s[k] = sqrt(column_product(B, k, k));
    sort_columns(B, V, s);
    left_rotation(B, U, s);
    for (int k = 0; k < 3; k++) s[k] *= size;
}

// A := J^T A J for the rotation of the axes p and q.
static void turn_both(int n, double A[3][3], int p, int q, double c, double s)
{
    turn_columns(A, p, q, c, s);
    for (int i = 0; i < n; i++) {
        double x = A[p][i], y = A[q][i];
        A[p][i] = c * x - s * y, A[q][i] = s * x + c * y;
    }
}

void mo_eigen3(int n, double A[3][3], double value[3], double Q[3][3])
{
    set_identity(Q);
    for (int sweep = 0, turned = 1; turned && sweep < MOST_SWEEPS; sweep++) {
        turned = 0;
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                double b = A[p][q], c, s;
                if (!(fabs(b) > 1e-17 * (fabs(A[p][p]) + fabs(A[q][q]))) || fabs(b) < 1e-300) continue;
                jacobi(A[p][p], b, A[q][q], &c, &s);
                turn_both(n, A, p, q, c, s), turn_columns(Q, p, q, c, s);
                A[p][q] = A[q][p] = 0;
                turned = 1;
            }
    }
    for (int i = 0; i < n; i++) value[i] = A[i][i];
}
