// Predicates: the sign of the exact value, and no contradictions on the lattice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/predicates.h"
#include <math.h>

typedef __int128 wide;

static uint32_t seed;
static int64_t any(int64_t most) // -most .. most
{
    uint32_t high = mo_hash(seed++, 1, 2), low = mo_hash(seed++, 3, 4);
    return (int64_t)(((uint64_t)high << 32 | low) % (uint64_t)(2 * most + 1)) - most;
}
static int sign_of(wide x) { return (x > 0) - (x < 0); }

static int exact2(const int64_t p[2], const int64_t q[2], const int64_t r[2])
{
    return sign_of((wide)(q[0] - p[0]) * (r[1] - p[1]) - (wide)(q[1] - p[1]) * (r[0] - p[0]));
}

static int exact3(int64_t x[4][3])
{
    wide sum = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        wide m = (wide)(x[1][i] - x[0][i]) * (x[2][j] - x[0][j]) - (wide)(x[1][j] - x[0][j]) * (x[2][i] - x[0][i]);
        sum += m * (x[3][k] - x[0][k]);
    }
    return sign_of(sum);
}

// Doubles that are whole multiples of a unit are integers, whose products __int128 holds.
static void signs_in_the_plane_are_exact(void **state)
{
    (void)state;
    int zeros = 0;
    for (int trial = 0; trial < 300000; trial++) {
        int64_t x[3][2];
        double unit = trial % 2 ? ldexp(1, -53) : ldexp(1, 30), d[3][2];
        int64_t most = trial % 3 ? 20 : INT64_C(1) << 60;
        for (int k = 0; k < 2; k++) x[0][k] = any(most), x[1][k] = any(most);
        for (int k = 0; k < 2; k++) { // near the line through both
            x[0][k] += INT64_C(1) << (trial % 53), x[1][k] += INT64_C(3) << (trial % 53);
            x[2][k] = (x[0][k] + x[1][k]) / 2 + any(2);
            for (int i = 0; i < 3; i++) x[i][k] = (int64_t)(double)(x[i][k] / 4), d[i][k] = unit * (double)x[i][k];
        }
        int s = exact2(x[0], x[1], x[2]);
        zeros += s == 0;
        assert_int_equal(mo_orient2d(d[0], d[1], d[2]), s);
        assert_int_equal(mo_orient2d(d[1], d[2], d[0]), s);
        assert_int_equal(mo_orient2d(d[1], d[0], d[2]), -s);
    }
    print_message("%d of 300000 on a line\n", zeros);
    assert_true(zeros > 1000);
}

static void signs_in_space_are_exact(void **state)
{
    (void)state;
    int zeros = 0;
    for (int trial = 0; trial < 100000; trial++) {
        int64_t x[4][3];
        double d[4][3], unit = ldexp(1, -37);
        int64_t most = trial % 3 ? 30 : INT64_C(1) << 38;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) x[i][k] = any(most) + (INT64_C(1) << (trial % 38)) * (i == 1);
            x[3][k] =
                x[0][k] + (x[1][k] - x[2][k]) / 2 + (trial % 2 ? any(1) : 0); // in the plane of the others, or near
            for (int i = 0; i < 4; i++) d[i][k] = unit * (double)x[i][k];
        }
        int s = exact3(x);
        zeros += s == 0;
        assert_int_equal(mo_orient3d(d[0], d[1], d[2], d[3]), s);
        assert_int_equal(mo_orient3d(d[1], d[2], d[0], d[3]), s);
        assert_int_equal(mo_orient3d(d[1], d[0], d[2], d[3]), -s);
        assert_int_equal(mo_orient3d(d[3], d[1], d[2], d[0]), -s);
    }
    print_message("%d of 100000 in a plane\n", zeros);
    assert_true(zeros > 1000);
}

// The lattice moved by (2^-20, 2^-40, 2^-60), with points that are whole multiples of 1/4: as far as an infinitely
// small shift goes.
static void lattice_is_moved_a_little(void **state)
{
    (void)state;
    int ties = 0;
    for (int trial = 0; trial < 200000; trial++) {
        double p[3][3];
        int32_t node[3];
        wide n[3], x[3][3];
        for (int k = 0; k < 3; k++) {
            node[k] = (int32_t)any(1), n[k] = node[k] * ((wide)1 << 42) + ((wide)1 << (28 - 14 * k));
            for (int i = 0; i < 3; i++)
                p[i][k] = 0.25 * (double)any(4), x[i][k] = (wide)(4 * p[i][k]) * ((wide)1 << 40);
        }
        wide normal[3], height = 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            wide a = (x[1][i] - x[0][i]) >> 40, b = (x[2][j] - x[0][j]) >> 40, c = (x[1][j] - x[0][j]) >> 40,
                 d = (x[2][i] - x[0][i]) >> 40;
            normal[k] = a * b - c * d, height += normal[k] * (n[k] - x[0][k]);
            int line = sign_of(a * (n[j] - x[0][j]) - c * (n[i] - x[0][i]));
            assert_int_equal(mo_orient_line(p[0], p[1], k, node), line);
            assert_int_equal(mo_orient_line(p[1], p[0], k, node), -line);
            assert_int_equal(mo_against_plane(p[0][k], node[k]), x[0][k] > n[k] ? 1 : -1);
            if (a || c) assert_int_not_equal(line, 0);
        }
        ties += mo_orient3d(p[0], p[1], p[2], (double[3]){node[0], node[1], node[2]}) == 0;
        assert_int_equal(mo_orient_node(p[0], p[1], p[2], node), sign_of(height));
    }
    print_message("%d ties\n", ties);
    assert_true(ties > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signs_in_the_plane_are_exact),
                                       cmocka_unit_test(signs_in_space_are_exact),
                                       cmocka_unit_test(lattice_is_moved_a_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
