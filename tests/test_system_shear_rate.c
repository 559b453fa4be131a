// Shear rates from hand-made lists of stress samples: exact for linear velocities, also where neighbours are missing;
// against a sum over all pairs of samples by their positions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "system/stress.h"
#include "ration.h"
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    mo_grid *g;
    mo_arena *arena;
    mo_block block;
    mo_liquid_system liquid;
    double *strain, *rate;
    uint32_t seed;
} fixture;

static double uniform(fixture *f) { return mo_unit(mo_hash(f->seed++, 5, 91)); }

static void fixture_create(fixture *f, int32_t nx, int32_t ny, int32_t nz)
{
    *f = (fixture){.arena = mo_arena_create(), .seed = 1};
    assert_non_null(f->arena);
    assert_int_equal(mo_grid_create((int32_t[3]){nx, ny, nz}, 0.1, &f->g, NULL), MO_OK);
    int64_t most = 6 * (int64_t)f->g->n[0] * f->g->n[1] * f->g->n[2];
    f->liquid.sample_at = malloc(sizeof(int32_t) * (size_t)most);
    f->strain = malloc(sizeof(double) * (size_t)most), f->rate = malloc(sizeof(double) * (size_t)most);
    f->liquid.system.block[MO_BLOCK_STRESS] = &f->block;
}

static void whole_lattice(fixture *f)
{
    mo_grid_want(f->g, (int32_t[3]){0, 0, 0}, f->g->n);
    assert_int_equal(mo_grid_activate(f->g, NULL), MO_OK);
}

static void fixture_destroy(fixture *f)
{
    free(f->liquid.sample_at), free(f->strain), free(f->rate);
    mo_grid_destroy(f->g);
    mo_arena_destroy(f->arena);
}

static int32_t add(fixture *f, int32_t i, int32_t j, int32_t k, int component, double strain)
{
    int32_t index = mo_grid_index(f->g, i, j, k);
    assert_true(index >= 0);
    f->liquid.sample_at[f->block.rows] = 8 * index + component;
    f->strain[f->block.rows] = strain;
    return f->block.rows++;
}

static void compute(fixture *f, bool reduced)
{
    mo_error err = {0};
    for (int32_t r = 0; r < f->block.rows; r++) f->rate[r] = -7;
    size_t mark = mo_arena_mark(f->arena);
    assert_int_equal(mo_shear_rate(f->g, &f->liquid, f->strain, reduced, f->arena, f->rate, &err), MO_OK);
    assert_int_equal(mo_arena_mark(f->arena), mark);
}

static bool has_row(bool reduced, bool flat, int component)
{
    if (flat) return component == MO_STRESS_XX || component == MO_STRESS_XY || (component == MO_STRESS_YY && !reduced);
    return component != 3 && !(reduced && component == MO_STRESS_ZZ);
}

// The component of a symmetric matrix that a stress row stands for.
static double entry(double D[3][3], int component)
{
    if (component < 3) return D[component][component];
    int axis = component - MO_STRESS_YZ;
    return D[(axis + 1) % 3][(axis + 2) % 3];
}

// Samples in the cells lo <= c < n - lo, each with the probability `kept`, shuffled.
static void fill(fixture *f, double D[3][3], int32_t lo, bool reduced, double kept)
{
    bool flat = mo_grid_is_2d(f->g);
    const int32_t *n = f->g->n;
    for (int32_t k = flat ? MO_MARGIN : lo; k < (flat ? MO_MARGIN + 1 : n[2] - lo); k++)
        for (int32_t j = lo; j < n[1] - lo; j++)
            for (int32_t i = lo; i < n[0] - lo; i++)
                for (int c = 0; c <= MO_STRESS_XY; c++)
                    if (has_row(reduced, flat, c) && (kept >= 1 || uniform(f) < kept)) add(f, i, j, k, c, entry(D, c));
    for (int32_t r = f->block.rows - 1; r > 0; r--) {
        int32_t other = (int32_t)(uniform(f) * (r + 1)), at = f->liquid.sample_at[r];
        double strain = f->strain[r];
        f->liquid.sample_at[r] = f->liquid.sample_at[other], f->strain[r] = f->strain[other];
        f->liquid.sample_at[other] = at, f->strain[other] = strain;
    }
}

// The rate of strain of u = A x, in 2D of a flow in the plane.
static double strain_of(double A[3][3], double D[3][3])
{
    double square = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) D[a][b] = 0.5 * (A[a][b] + A[b][a]), square += D[a][b] * D[a][b];
    return sqrt(2 * square);
}

// With every sample there, all means are of equal numbers: also at the rim, where half of the neighbours are missing.
static void linear_velocities_are_exact(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int reduced = 0; reduced < 2; reduced++) {
            double A[3][3] = {{0.7, -1.3, 0.4}, {2.1, 0.9, -0.6}, {-0.8, 1.7, -1.6}}, D[3][3]; // without trace
            double B[3][3] = {{0.7, -1.3, 0}, {2.1, -0.7, 0}, {0, 0, 0}};
            double expected = strain_of(flat ? B : A, D);
            fixture f;
            fixture_create(&f, 17, 14, flat ? 1 : 11);
            whole_lattice(&f);
            fill(&f, D, MO_MARGIN, reduced, 1);
            compute(&f, reduced);
            int32_t exact = 0;
            for (int32_t r = 0; r < f.block.rows; r++) exact += fabs(f.rate[r] - expected) < 1e-14 * expected;
            assert_int_equal(exact, f.block.rows);
            assert_true(f.block.rows >= (flat ? 2 : 5) * 17 * 14 * (flat ? 1 : 11));
            fixture_destroy(&f);
        }
}

// Rotations have none; u = (g y, 0, 0) has g, to the last bit, at cells and edges.
static void rigid_motion_and_simple_shear(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int axis = flat ? 2 : 0; axis < 3; axis++) { // the edges that carry the shear
            fixture f;
            double D[3][3] = {{0}};
            fixture_create(&f, 9, 10, flat ? 1 : 7);
            whole_lattice(&f);
            fill(&f, D, MO_MARGIN, true, 1);
            compute(&f, true);
            for (int32_t r = 0; r < f.block.rows; r++) assert_true(f.rate[r] == 0);
            f.block.rows = 0;
            int a = (axis + 1) % 3, b = (axis + 2) % 3;
            D[a][b] = D[b][a] = -0.5 * 3;
            fill(&f, D, MO_MARGIN, true, 1);
            compute(&f, true);
            int32_t own = 0;
            for (int32_t r = 0; r < f.block.rows; r++)
                if ((f.liquid.sample_at[r] & 7) == MO_STRESS_YZ + axis || (f.liquid.sample_at[r] & 7) < 3)
                    assert_true(f.rate[r] == 3), own++;
            assert_true(own > 0);
            fixture_destroy(&f);
        }
}

// ---- Against all pairs ----

// Twice the position of a sample.
static void position(const fixture *f, int32_t r, int x[3])
{
    int32_t c[3], component = f->liquid.sample_at[r] & 7;
    mo_grid_cell(f->g, f->liquid.sample_at[r] >> 3, c);
    for (int a = 0; a < 3; a++) x[a] = 2 * c[a] + (component < 3 || component - MO_STRESS_YZ == a);
}

// Mean of D_ab^2 over the edges along `axis` round the cell at x; -1 = none.
static double pair_mean(const fixture *f, const int x[3], int axis)
{
    double sum = 0;
    int count = 0;
    for (int32_t r = 0; r < f->block.rows; r++) {
        int y[3];
        if ((f->liquid.sample_at[r] & 7) != MO_STRESS_YZ + axis) continue;
        position(f, r, y);
        bool near = true;
        for (int a = 0; a < 3; a++) near &= abs(x[a] - y[a]) == (a != axis);
        if (near) sum += f->strain[r] * f->strain[r], count++;
    }
    return count ? sum / count : -1;
}

static double diagonal_sum(const fixture *f, const int x[3], bool reduced)
{
    double d[3] = {0};
    bool any = false;
    for (int32_t r = 0; r < f->block.rows; r++) {
        int y[3], component = f->liquid.sample_at[r] & 7;
        if (component >= 3) continue;
        position(f, r, y);
        if (!memcmp(x, y, sizeof y)) d[component] = f->strain[r], any = true;
    }
    if (reduced && mo_grid_is_2d(f->g)) d[1] = -d[0];
    if (reduced && !mo_grid_is_2d(f->g)) d[2] = -d[0] - d[1];
    return any ? d[0] * d[0] + d[1] * d[1] + d[2] * d[2] : -1;
}

static double reference(const fixture *f, int32_t r, bool reduced)
{
    int x[3], component = f->liquid.sample_at[r] & 7;
    position(f, r, x);
    if (component < 3) {
        double square = diagonal_sum(f, x, reduced);
        for (int axis = 0; axis < 3; axis++) square += 2 * fmax(0, pair_mean(f, x, axis));
        return sqrt(2 * square);
    }
    int axis = component - MO_STRESS_YZ, a = (axis + 1) % 3, b = (axis + 2) % 3, count[4] = {0};
    double square = 2 * f->strain[r] * f->strain[r], sum[4] = {0};
    for (int n = 0; n < 4; n++) {
        int y[3] = {x[0], x[1], x[2]};
        y[a] += n & 1 ? 1 : -1, y[b] += n & 2 ? 1 : -1;
        double part[4] = {diagonal_sum(f, y, reduced), pair_mean(f, y, 0), pair_mean(f, y, 1), pair_mean(f, y, 2)};
        for (int k = 0; k < 4; k++)
            if (part[k] >= 0) sum[k] += part[k], count[k]++;
    }
    for (int k = 0; k < 4; k++)
        if (k != 1 + axis && count[k]) square += (k ? 2 : 1) * sum[k] / count[k];
    return sqrt(2 * square);
}

static void holes_are_left_out_of_the_means(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        bool flat = trial & 1, reduced = trial & 2;
        fixture f;
        double D[3][3] = {{0}};
        fixture_create(&f, flat ? 13 : 7, flat ? 11 : 6, flat ? 1 : 5);
        f.seed = 1000u * (uint32_t)trial;
        whole_lattice(&f);
        fill(&f, D, 1, reduced, 0.1 + 0.15 * (trial / 4)); // also beyond the walls
        for (int32_t r = 0; r < f.block.rows; r++) f.strain[r] = 2 * uniform(&f) - 1;
        compute(&f, reduced);
        for (int32_t r = 0; r < f.block.rows; r++) {
            double expected = reference(&f, r, reduced);
            assert_true(fabs(f.rate[r] - expected) < 1e-13);
        }
        assert_true(f.block.rows > (flat ? 10 : 200));
        fixture_destroy(&f);
    }
}

// By hand: what is not there counts neither as zero nor at all.
static void missing_neighbours_are_skipped(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f, 12, 12, 12);
    whole_lattice(&f);
    int32_t lone = add(&f, 4, 4, 4, MO_STRESS_XY, 1.5); // rate 2 |D_xy|
    int32_t cell = add(&f, 9, 9, 9, MO_STRESS_XX, 1);   // reduced, without yy: diag(1, 0, -1)
    int32_t edge = add(&f, 10, 10, 9, MO_STRESS_XY, 2); // its one edge: D:D = 2 + 2 * 4
    compute(&f, true);
    assert_true(f.rate[lone] == 3);
    assert_true(fabs(f.rate[cell] - sqrt(2 * 10)) < 1e-14);
    assert_true(fabs(f.rate[edge] - sqrt(2 * 10)) < 1e-14); // one cell of four: its whole share, not a quarter
    compute(&f, false);
    assert_true(fabs(f.rate[cell] - sqrt(2 * 9)) < 1e-14);
    // A second cell at that edge, a yz edge at only one of the two cells.
    add(&f, 10, 10, 9, MO_STRESS_XX, 3);
    add(&f, 9, 9, 9, MO_STRESS_YZ, 4);
    compute(&f, false);
    assert_true(fabs(f.rate[edge] - sqrt(2 * (2 * 4 + (1 + 9) / 2.0 + 2 * 16))) < 1e-13);
    f.liquid.system.block[MO_BLOCK_STRESS] = NULL; // no stress at all
    compute(&f, false);
    fixture_destroy(&f);
}

// Shear of alternating sign is shear.
static void signs_do_not_cancel(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f, 12, 12, 1);
    whole_lattice(&f);
    int32_t cell = add(&f, 6, 6, MO_MARGIN, MO_STRESS_XX, 0);
    for (int n = 0; n < 4; n++) add(&f, 6 + (n & 1), 6 + (n >> 1), MO_MARGIN, MO_STRESS_XY, n == 1 || n == 2 ? 2 : -2);
    compute(&f, true);
    assert_true(f.rate[cell] == 4);
    fixture_destroy(&f);
}

// Tiles that touch along an edge only.
static void diagonal_tiles_see_each_other(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f, 20, 20, 4);
    mo_grid_want(f.g, (int32_t[3]){3, 3, 3}, (int32_t[3]){3, 3, 3});
    mo_grid_want(f.g, (int32_t[3]){9, 9, 3}, (int32_t[3]){9, 9, 3});
    assert_int_equal(mo_grid_activate(f.g, NULL), MO_OK);
    assert_int_equal(f.g->tiles, 2);
    int32_t cell = add(&f, 7, 7, 3, MO_STRESS_XX, 1), edge = add(&f, 8, 8, 3, MO_STRESS_XY, 2);
    compute(&f, true);
    assert_true(fabs(f.rate[cell] - sqrt(20)) < 1e-14 && fabs(f.rate[edge] - sqrt(20)) < 1e-14);
    fixture_destroy(&f);
}

// A NaN is seen at the sample itself and those that average it, and nowhere else.
static void nan_is_not_hidden(void **state)
{
    (void)state;
    fixture f;
    double D[3][3] = {{0}};
    fixture_create(&f, 12, 12, 1);
    whole_lattice(&f);
    fill(&f, D, MO_MARGIN, true, 1);
    int32_t bad = f.block.rows / 2, seen = 0;
    f.strain[bad] = NAN;
    compute(&f, true);
    assert_true(isnan(f.rate[bad]));
    for (int32_t r = 0; r < f.block.rows; r++) seen += isnan(f.rate[r]);
    assert_true(seen >= 2 && seen <= 5);
    fixture_destroy(&f);
}

static void any_threads_and_no_memory(void **state)
{
    (void)state;
    fixture f;
    double D[3][3] = {{0}};
    fixture_create(&f, 30, 28, 26);
    whole_lattice(&f);
    fill(&f, D, MO_MARGIN, true, 0.9);
    for (int32_t r = 0; r < f.block.rows; r++) f.strain[r] = 2 * uniform(&f) - 1;
    mo_use_threads(1);
    compute(&f, true);
    double *first = malloc(sizeof(double) * (size_t)f.block.rows);
    memcpy(first, f.rate, sizeof(double) * (size_t)f.block.rows);
    for (int threads = 2; threads <= 4; threads++) {
        mo_use_threads(threads);
        compute(&f, true);
        assert_memory_equal(first, f.rate, sizeof(double) * (size_t)f.block.rows);
    }
    mo_use_threads(0);
    int failures = 0;
    for (int at = 1; at < 40; at++) {
        ration r = {.fail_at = at};
        mo_error err = {0};
        mo_arena *fresh = mo_arena_create();
        mo_set_allocator(rationed, &r);
        mo_status status = mo_shear_rate(f.g, &f.liquid, f.strain, true, fresh, f.rate, &err);
        mo_set_allocator(NULL, NULL);
        assert_true(status == MO_OK || (status == MO_ERROR_MEMORY && err.status == status));
        failures += status != MO_OK;
        mo_arena_destroy(fresh);
    }
    assert_true(failures > 0 && failures < 39);
    free(first);
    fixture_destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_velocities_are_exact),
        cmocka_unit_test(rigid_motion_and_simple_shear),
        cmocka_unit_test(holes_are_left_out_of_the_means),
        cmocka_unit_test(missing_neighbours_are_skipped),
        cmocka_unit_test(signs_do_not_cancel),
        cmocka_unit_test(diagonal_tiles_see_each_other),
        cmocka_unit_test(nan_is_not_hidden),
        cmocka_unit_test(any_threads_and_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
