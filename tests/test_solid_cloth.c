// Cloth: derivatives against differences, invariants, bending energy of a cylinder, a strip that hangs from one end
// and one that hangs from both, memory, threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "monolith/monolith.h"
#include "ration.h"
#include "solid/cloth.h"
#include "sparse/cholesky.h"
#include <stdlib.h>
#include <string.h>

static uint32_t seed;
static double uniform(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(seed++, 17, 4)); }
static mo_vec3 random_vector(double size)
{
    double z = uniform(-size, size), y = uniform(-size, size),
           x = uniform(-size, size); // in this order by any compiler
    return mo_v3(x, y, z);
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static mo_elastic_body cloth_of(mo_sheet *sheet, const mo_cloth_material *m, int32_t cords, const mo_cord *cord)
{
    mo_elastic_body b;
    mo_error err;
    if (mo_cloth_create(sheet, m, cords, cord, &b, &err) != MO_OK) fail_msg("%s", err.text);
    mo_sheet_destroy(sheet);
    return b;
}

static mo_sheet plate(double x, double z, double edge)
{
    mo_sheet s;
    assert_int_equal(mo_sheet_plate(x, z, edge, &s, NULL), MO_OK);
    return s;
}

// A piece of a bowl whose triangles are not turned alike, with a junction, cords between vertices and to a place.
static mo_elastic_body odd_cloth(double damping)
{
    mo_sheet a = plate(1, 1, 0.34), b = plate(0.5, 0.5, 0.25), all;
    for (int32_t v = 0; v < a.vertices; v++)
        a.position[v][1] = 0.3 * a.position[v][0] * a.position[v][0] + uniform(-0.02, 0.02);
    for (int32_t t = 0; t < a.triangles; t += 3) {
        int32_t keep = a.triangle[t][0];
        a.triangle[t][0] = a.triangle[t][1], a.triangle[t][1] = keep;
    }
    mo_sheet_rotate(&b, mo_v3(0, 0, 1), 1.2);
    mo_sheet_move(&b, mo_v3(1.1, 0.5, 0));
    assert_int_equal(mo_sheet_weld(&a, &b, 0.2, &all, NULL), MO_OK);
    mo_sheet_destroy(&a), mo_sheet_destroy(&b);
    mo_cord cord[] = {{0, all.vertices - 1, {0, 0, 0}, 0.5, 3, false},
                      {1, -1, {0, 1, 0}, 0.2, 2, false},
                      {2, 3, {0, 0, 0}, 9, 2, false},
                      {1, -1, {0.1, 1, 0.2}, 0.3, 2, true}};
    mo_cloth_material m = {0.2, 20, 0.3, 0.3, damping};
    return cloth_of(&all, &m, 4, cord);
}

static mo_vec3 *shaken(const mo_elastic_body *b, double size)
{
    mo_vec3 *x = mo_alloc(sizeof *x * (size_t)b->vertices);
    for (int32_t v = 0; v < b->vertices; v++) x[v] = mo_add(b->rest[v], random_vector(size));
    return x;
}

// ---- Derivatives ----

static void flaps_have_their_derivatives(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        mo_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {uniform(0, 1), 1, 0}, {uniform(0, 1), -1, 0}};
        for (int k = 0; k < 4; k++) x[k] = mo_add(x[k], random_vector(trial % 2 ? 0.4 : 1e-3));
        mo_flap flap, low, high;
        mo_flap_find(x, 2, &flap);
        for (int i = 0; i < 12; i++) {
            double *at = i % 3 == 0 ? &x[i / 3].x : i % 3 == 1 ? &x[i / 3].y : &x[i / 3].z, keep = *at, h = 1e-5;
            double scale = 0;
            for (int k = 0; k < 16 * 9; k++) scale = fmax(scale, fabs(((double *)flap.hessian)[k]));
            *at = keep + h, mo_flap_find(x, 1, &high);
            *at = keep - h, mo_flap_find(x, 1, &low);
            *at = keep;
            near(mo_get(flap.gradient[i / 3], i % 3), (high.kappa - low.kappa) / (2 * h), 1e-8 * scale);
            for (int k = 0; k < 12; k++)
                near(flap.hessian[k / 3][i / 3][k % 3][i % 3],
                     (mo_get(high.gradient[k / 3], k % 3) - mo_get(low.gradient[k / 3], k % 3)) / (2 * h),
                     1e-7 * scale);
        }
    }
}

static double energy_at(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena)
{
    double out;
    assert_int_equal(mo_elastic_energy(b, x, step, arena, &out), MO_OK);
    return out;
}

// Along random directions, with differences of fourth order.
static void forces_and_stiffness_are_derivatives(void **state)
{
    (void)state;
    static const double weight[5] = {1 / 12.0, -8 / 12.0, 0, 8 / 12.0, -1 / 12.0};
    mo_arena *arena = mo_arena_create();
    for (int damped = 0; damped < 2; damped++) {
        mo_elastic_body b = odd_cloth(damped ? 0.05 : 0);
        int32_t n = mo_elastic_unknowns(&b);
        mo_vec3 *x = shaken(&b, 0.1), *from = shaken(&b, 0.05), *y = mo_alloc(sizeof *y * (size_t)b.vertices);
        mo_elastic_step step = {from, 0.02};
        double *gradient = mo_alloc(sizeof(double) * (size_t)n), *other = mo_alloc(sizeof(double) * (size_t)n);
        double *slope = mo_alloc(sizeof(double) * (size_t)n), *d = mo_alloc(sizeof(double) * (size_t)n), h = 1e-4;
        mo_csr A;
        assert_int_equal(mo_elastic_pattern(&b, &A), MO_OK);
        assert_int_equal(mo_elastic_gradient(&b, x, &step, arena, gradient), MO_OK);
        assert_int_equal(mo_elastic_stiffness(&b, x, &step, false, arena, &A, NULL), MO_OK);
        for (int trial = 0; trial < 20; trial++) {
            double difference = 0, dot = 0;
            memset(slope, 0, sizeof(double) * (size_t)n);
            for (int32_t i = 0; i < n; i++) d[i] = uniform(-1, 1), dot += d[i] * gradient[i];
            for (int side = -2; side <= 2; side++) {
                for (int32_t v = 0; v < b.vertices; v++)
                    y[v] = mo_mad(x[v], side * h, mo_v3(d[3 * v], d[3 * v + 1], d[3 * v + 2]));
                difference += weight[side + 2] * energy_at(&b, y, &step, arena) / h;
                assert_int_equal(mo_elastic_gradient(&b, y, &step, arena, other), MO_OK);
                for (int32_t i = 0; i < n; i++) slope[i] += weight[side + 2] * other[i] / h;
            }
            near(dot, difference, 1e-7 * fmax(1, fabs(dot)));
            for (int32_t i = 0; i < n; i++) near(mo_csr_row_product(&A, i, d), slope[i], 1e-7 * 100);
        }
        for (int32_t i = 0; i < n; i++)
            for (int64_t e = A.row[i]; e < A.row[i + 1]; e++)
                assert_true(A.val[e] == mo_csr_entry(&A, A.col[e], i)); // symmetric to the last bit
        mo_csr_destroy(&A);
        mo_free(x), mo_free(from), mo_free(y), mo_free(gradient), mo_free(other), mo_free(slope), mo_free(d);
        mo_elastic_destroy(&b);
    }
    mo_arena_destroy(arena);
}

// With a little added, the projected stiffness has a factor wherever the vertices are.
static void projected_stiffness_is_not_negative(void **state)
{
    (void)state;
    mo_arena *arena = mo_arena_create();
    mo_elastic_body b = odd_cloth(0.05);
    mo_csr A;
    mo_cholesky *factor;
    int32_t exact = 0;
    assert_int_equal(mo_elastic_pattern(&b, &A), MO_OK);
    assert_int_equal(mo_cholesky_create(&A, 3, &factor, NULL), MO_OK);
    for (int trial = 0; trial < 40; trial++) {
        mo_vec3 *x = shaken(&b, 0.02 * trial);
        mo_elastic_step step = {b.rest, 0.1};
        for (int projected = 0; projected < 2; projected++) {
            bool positive;
            assert_int_equal(mo_elastic_stiffness(&b, x, &step, projected, arena, &A, NULL), MO_OK);
            for (int32_t i = 0; i < A.rows; i++)
                for (int64_t e = A.row[i]; e < A.row[i + 1]; e++)
                    if (A.col[e] == i) A.val[e] += 1e-6;
            assert_int_equal(mo_cholesky_factor(factor, &A, NULL, &positive, NULL), MO_OK);
            if (projected) assert_true(positive);
            exact += !projected && positive;
        }
        mo_free(x);
    }
    assert_true(exact < 40); // the exact one is not always positive
    mo_cholesky_destroy(factor);
    mo_csr_destroy(&A);
    mo_elastic_destroy(&b);
    mo_arena_destroy(arena);
}

// ---- Invariants ----

static void moved_and_turned_as_a_whole_nothing_changes(void **state)
{
    (void)state;
    mo_arena *arena = mo_arena_create();
    mo_sheet sheet;
    mo_cloth_material m = {0.2, 2000, 1, 0.3, 0.1};
    assert_int_equal(mo_sheet_hemisphere(1, 0.3, &sheet, NULL), MO_OK);
    mo_elastic_body b = cloth_of(&sheet, &m, 0, NULL);
    int32_t n = mo_elastic_unknowns(&b);
    double *gradient = mo_alloc(sizeof(double) * (size_t)n), *turned = mo_alloc(sizeof(double) * (size_t)n);
    mo_vec3 *x = mo_alloc(sizeof *x * (size_t)b.vertices), *y = shaken(&b, 0.05);
    mo_elastic_step step = {b.rest, 0.01};
    for (int trial = 0; trial < 10; trial++) {
        mo_quat q = mo_quat_axis_angle(random_vector(1), uniform(-3, 3));
        mo_vec3 by = random_vector(5);
        for (int32_t v = 0; v < b.vertices; v++) x[v] = mo_add(by, mo_quat_rotate(q, b.rest[v]));
        near(energy_at(&b, x, &step, arena), 0, 1e-12 * m.stretch);
        assert_int_equal(mo_elastic_gradient(&b, x, &step, arena, gradient), MO_OK);
        for (int32_t i = 0; i < n; i++) near(gradient[i], 0, 1e-11 * m.stretch);
        // Forces of a deformed cloth turn with it, and have no sum and no moment.
        for (int32_t v = 0; v < b.vertices; v++) x[v] = mo_add(by, mo_quat_rotate(q, y[v]));
        assert_int_equal(mo_elastic_gradient(&b, y, NULL, arena, gradient), MO_OK);
        assert_int_equal(mo_elastic_gradient(&b, x, NULL, arena, turned), MO_OK);
        mo_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
        for (int32_t v = 0; v < b.vertices; v++) {
            mo_vec3 f = mo_v3(gradient[3 * v], gradient[3 * v + 1], gradient[3 * v + 2]);
            mo_vec3 g = mo_v3(turned[3 * v], turned[3 * v + 1], turned[3 * v + 2]);
            near(mo_norm(mo_sub(mo_quat_rotate(q, f), g)), 0, 1e-11 * m.stretch);
            force = mo_add(force, f), moment = mo_add(moment, mo_cross(y[v], f));
        }
        near(mo_norm(force), 0, 1e-11 * m.stretch), near(mo_norm(moment), 0, 1e-11 * m.stretch);
    }
    mo_free(gradient), mo_free(turned), mo_free(x), mo_free(y);
    mo_elastic_destroy(&b);
    mo_arena_destroy(arena);
}

// A square stretched along one axis: S/2 (E^2) by nu = 0; mass is density times area.
static void stretching_and_mass_are_exact(void **state)
{
    (void)state;
    mo_sheet sheet = plate(2, 1, 0.3);
    mo_cloth_material m = {0.5, 300, 1e-3, 0.25, 0};
    mo_elastic_body b = cloth_of(&sheet, &m, 0, NULL);
    double mass = 0, s = 1.2, E = 0.5 * (s * s - 1);
    for (int32_t v = 0; v < b.vertices; v++) b.position[v].x *= s, mass += b.mass[v];
    mo_cloth_sums sums = mo_cloth_measure(&b, b.position);
    near(mass, 0.5 * 2, 1e-14);
    near(sums.stretching, 0.5 * 300 * 2 * ((1 - 0.25) * E * E + 0.25 * E * E), 1e-10);
    near(sums.bending, 0, 1e-14), near(sums.most, 0.2, 1e-12);
    mo_elastic_destroy(&b);
}

// ---- A cylinder ----

typedef enum diagonals { ONE_WAY, OTHER_WAY, ALTERNATING, ALL_DIAGONALS } diagonals;

// The triangles of a quadrangle in column i and row j.
static void put_quadrangle(mo_sheet *s, int32_t t, const int32_t v[4], int32_t i, int32_t j, diagonals turned)
{
    const int32_t two[2][2][3] = {{{v[0], v[2], v[3]}, {v[0], v[3], v[1]}}, {{v[0], v[2], v[1]}, {v[1], v[2], v[3]}}};
    bool other = turned == OTHER_WAY || (turned == ALTERNATING && (i + j) % 2);
    memcpy(s->triangle[t], two[other], sizeof two[other]);
}

// The diagonals of plates alternate: here those of n x m quadrangles are turned. One way makes a regular mesh.
static void turn_diagonals(mo_sheet *s, int32_t n, int32_t m, diagonals turned)
{
    for (int32_t k = 0; k < n * m; k++) {
        int32_t a = k % n + (n + 1) * (k / n);
        put_quadrangle(s, 2 * k, (const int32_t[4]){a, a + 1, a + n + 1, a + n + 2}, k % n, k / n, turned);
    }
}

// Bending energy of the triangles without a border, over that of a sheet with curvature 1/R in one direction.
static double cylinder_energy(double angle, double nu, int32_t edges, diagonals turned)
{
    const double R = 1;
    mo_sheet sheet = plate(1, 1, 1.0 / edges);
    turn_diagonals(&sheet, edges, edges, turned);
    mo_cloth_material m = {1, 1, 1, nu, 0};
    mo_elastic_body b = cloth_of(&sheet, &m, 0, NULL);
    mo_vec3 axis = mo_v3(mo_cos(angle), 0, mo_sin(angle)), across = mo_v3(-mo_sin(angle), 0, mo_cos(angle));
    mo_vec3 *x = mo_alloc(sizeof *x * (size_t)b.vertices);
    for (int32_t v = 0; v < b.vertices; v++) {
        double along = mo_dot(b.rest[v], axis), arc = mo_dot(b.rest[v], across) / R;
        x[v] = mo_mad(mo_mul(along, axis), R * mo_sin(arc), across);
        x[v].y = R * (1 - mo_cos(arc));
    }
    double energy = 0, area = 0;
    for (int32_t t = 0; t < b.cloth->triangles; t++) {
        const int32_t *c = b.corner + t * MO_CLOTH_CORNERS;
        if (c[3] < 0 || c[4] < 0 || c[5] < 0) continue;
        double kappa[3];
        for (int i = 0; i < 3; i++) {
            mo_flap flap;
            mo_vec3 four[4] = {x[c[(i + 1) % 3]], x[c[(i + 2) % 3]], x[c[i]], x[c[3 + i]]};
            mo_flap_find(four, 0, &flap);
            kappa[i] = flap.kappa;
        }
        for (int i = 0; i < 9; i++)
            energy += 0.5 * b.volume[t] * b.cloth->form[t][i / 3][i % 3] * kappa[i / 3] * kappa[i % 3];
        area += b.volume[t];
    }
    mo_free(x);
    mo_elastic_destroy(&b);
    return energy / (0.5 * area / (R * R));
}

static void a_bent_cylinder_has_its_energy_whichever_way_the_mesh_runs(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        double nu = k % 2 ? 0.3 : 0, angle = k * M_PI / 12;
        near(cylinder_energy(angle, nu, 24, ONE_WAY), 1, 1e-3);
        near(cylinder_energy(angle, nu, 24, OTHER_WAY), 1, 1e-3);
        near(cylinder_energy(angle, nu, 48, ONE_WAY), 1, 0.3 * 1e-3);
        double alternating = cylinder_energy(angle, nu, 24, ALTERNATING);
        print_message("%3d degrees, alternating diagonals: %.3f\n", 15 * k, alternating);
        assert_true(alternating > 0.999 && alternating < 1.7);
    }
}

// ---- Equilibria ----

typedef struct hanging {
    mo_elastic_body b;
    uint8_t *held; // [unknowns]
    mo_vec3 gravity;
} hanging;

static double potential(const hanging *h, const mo_vec3 *x, mo_arena *arena)
{
    double sum = energy_at(&h->b, x, NULL, arena);
    for (int32_t v = 0; v < h->b.vertices; v++) sum -= h->b.mass[v] * mo_dot(h->gravity, x[v]);
    return sum;
}

// Newton's method with a mass that fades as long as steps succeed.
static void find_equilibrium(hanging *h)
{
    mo_elastic_body *b = &h->b;
    int32_t n = mo_elastic_unknowns(b);
    mo_arena *arena = mo_arena_create();
    mo_csr A;
    mo_cholesky *factor;
    double *r = mo_alloc(sizeof(double) * (size_t)n), inertia = 1e4, value = potential(h, b->position, arena), rest = 1;
    mo_vec3 *x = mo_alloc(sizeof *x * (size_t)b->vertices);
    assert_int_equal(mo_elastic_pattern(b, &A), MO_OK);
    assert_int_equal(mo_cholesky_create(&A, 3, &factor, NULL), MO_OK);
    for (int step = 0; step < 3000 && rest > 1e-9; step++) {
        bool positive = false;
        assert_int_equal(mo_elastic_gradient(b, b->position, NULL, arena, r), MO_OK);
        for (int32_t i = 0; i < n; i++) r[i] -= b->mass[i / 3] * mo_get(h->gravity, i % 3);
        for (int projected = 0; projected < 2 && !positive; projected++) {
            assert_int_equal(mo_elastic_stiffness(b, b->position, NULL, projected, arena, &A, NULL), MO_OK);
            for (int32_t i = 0; i < n; i++)
                for (int64_t e = A.row[i]; e < A.row[i + 1]; e++)
                    if (A.col[e] == i) A.val[e] += inertia * b->mass[i / 3];
            assert_int_equal(mo_cholesky_factor(factor, &A, h->held, &positive, NULL), MO_OK);
        }
        assert_true(positive);
        mo_cholesky_solve(factor, r, r);
        rest = 0;
        for (int32_t i = 0; i < n; i++) rest = fmax(rest, fabs(r[i]));
        double part = 1, now = INFINITY;
        for (; part > 1e-3; part /= 2) {
            for (int32_t v = 0; v < b->vertices; v++)
                x[v] = mo_mad(b->position[v], -part, mo_v3(r[3 * v], r[3 * v + 1], r[3 * v + 2]));
            now = potential(h, x, arena);
            if (now <= value + 1e-13 * fabs(value)) break;
        }
        inertia = part == 1 ? fmax(0.3 * inertia, 1e-4) : fmin(4 * inertia, 1e6);
        if (now <= value + 1e-13 * fabs(value)) memcpy(b->position, x, sizeof *x * (size_t)b->vertices), value = now;
        if (inertia > 1e-4) rest = 1;
    }
    assert_true(rest <= 1e-9);
    mo_free(r), mo_free(x);
    mo_csr_destroy(&A);
    mo_cholesky_destroy(factor);
    mo_arena_destroy(arena);
}

static void destroy(hanging *h)
{
    mo_elastic_destroy(&h->b);
    mo_free(h->held);
}

static hanging strip_of(mo_sheet *sheet, const mo_cloth_material *m, bool (*holds)(mo_vec3 x))
{
    hanging h = {.b = cloth_of(sheet, m, 0, NULL)};
    h.held = mo_calloc((size_t)mo_elastic_unknowns(&h.b));
    for (int32_t i = 0; i < mo_elastic_unknowns(&h.b); i++) h.held[i] = holds(h.b.rest[i / 3]);
    return h;
}

enum { EDGES = 32 };
static const double strip_edge = 1 / (EDGES - 0.5);

// Both rows of the first quadrangles are held: the strip bends from the middle between them on.
static bool at_the_wall(mo_vec3 x) { return x.x < 1.5 * strip_edge; }

// How far the tip of a strip of length 1 sinks, for load q = density g, q L^3/D = load. irregular: vertices are moved
// along the strip by up to a fifth of an edge.
static double drop_of(double load, diagonals turned, bool irregular)
{
    double h = strip_edge;
    seed = 7;
    mo_sheet sheet = plate(EDGES * h, 4 * h, h);
    mo_cloth_material m = {1, 1e5, 1, 0, 0};
    mo_sheet_move(&sheet, mo_v3(0.5 * EDGES * h, 0, 0));
    turn_diagonals(&sheet, EDGES, 4, turned);
    for (int32_t v = 0; irregular && v < sheet.vertices; v++) {
        double *x = sheet.position[v];
        if (at_the_wall(mo_v3(x[0] - 0.01 * h, 0, 0)) || x[0] > (EDGES - 0.5) * h || fabs(x[2]) > 1.5 * h) continue;
        x[0] += uniform(-0.2, 0.2) * h, x[2] += uniform(-0.2, 0.2) * h;
    }
    hanging strip = strip_of(&sheet, &m, at_the_wall);
    strip.gravity = mo_v3(0, -load, 0);
    find_equilibrium(&strip);
    double least = 0;
    for (int32_t v = 0; v < strip.b.vertices; v++) least = fmin(least, strip.b.position[v].y);
    destroy(&strip);
    return -least;
}

static void a_heavy_cantilever_sinks_as_the_elastica_does(void **state)
{
    (void)state;
    static const double load[3] = {1, 10, 100}, drop[3] = {.1235, .7002, .9375};
    for (int k = 0; k < 3; k++) {
        double even[ALL_DIAGONALS], irregular = drop_of(load[k], ONE_WAY, true);
        for (int turned = 0; turned < ALL_DIAGONALS; turned++) even[turned] = drop_of(load[k], turned, false);
        print_message("q L^3/D = %3g: drop %.4f, diagonals the other way %.4f, alternating %.4f, irregular mesh %.4f, "
                      "elastica %.4f\n",
                      load[k], even[ONE_WAY], even[OTHER_WAY], even[ALTERNATING], irregular, drop[k]);
        for (int turned = 0; turned < ALL_DIAGONALS; turned++) near(even[turned], drop[k], 0.02 * drop[k]);
        near(irregular, drop[k], 0.05 * drop[k]);
    }
}

// A strip from x = 0 to about 1 whose mesh runs at 45 degrees: all quadrangles that lie in it.
static mo_sheet oblique_strip(double h, diagonals turned)
{
    enum { SIZE = 40, MOST = 2000 };
    static int32_t number[SIZE * SIZE];
    mo_sheet out = {.position = mo_alloc(sizeof(double[3]) * MOST), .triangle = mo_alloc(sizeof(int32_t[3]) * MOST)};
    memset(number, -1, sizeof number);
    for (int32_t k = 0; k < SIZE * SIZE; k++) {
        int32_t i = k % SIZE, j = k / SIZE, v[4], least = i + j - SIZE / 2;
        double z = 0.5 * h * (j - i);
        if (least < 0 || 0.5 * h * (least + 2) > 1 + 1e-9 || fabs(z) + 0.5 * h > 3.01 * h) continue;
        for (int c = 0; c < 4; c++) {
            int32_t column = i + c % 2, row = j + c / 2, *own = &number[column + SIZE * row];
            if (*own < 0) {
                *own = out.vertices++;
                out.position[*own][0] = 0.5 * h * (column + row - SIZE / 2), out.position[*own][1] = 0;
                out.position[*own][2] = 0.5 * h * (row - column);
            }
            v[c] = *own;
        }
        put_quadrangle(&out, out.triangles, v, i, j, turned);
        out.triangles += 2;
    }
    assert_true(out.vertices < MOST && out.triangles < MOST);
    return out;
}

static const double oblique_edge = 1.0 / 16;
static bool at_the_oblique_wall(mo_vec3 x) { return x.x < 1.1 * oblique_edge; }

// Regular meshes bend alike along either of their diagonals. Alternating ones are stiffer obliquely.
static void an_oblique_strip_sinks_alike_on_regular_meshes(void **state)
{
    (void)state;
    double drop[ALL_DIAGONALS];
    for (int turned = 0; turned < ALL_DIAGONALS; turned++) {
        mo_sheet sheet = oblique_strip(oblique_edge, turned);
        mo_cloth_material m = {1, 1e5, 1, 0, 0};
        hanging strip = strip_of(&sheet, &m, at_the_oblique_wall);
        strip.gravity = mo_v3(0, -10, 0);
        find_equilibrium(&strip);
        drop[turned] = 0;
        for (int32_t v = 0; v < strip.b.vertices; v++) drop[turned] = fmax(drop[turned], -strip.b.position[v].y);
        destroy(&strip);
    }
    print_message("oblique: drop %.4f, diagonals the other way %.4f, alternating %.4f\n", drop[ONE_WAY],
                  drop[OTHER_WAY], drop[ALTERNATING]);
    near(drop[ONE_WAY], drop[OTHER_WAY], 0.01 * drop[ONE_WAY]);
    assert_true(drop[ALTERNATING] > 0.8 * drop[ONE_WAY] && drop[ALTERNATING] < drop[ONE_WAY]);
}

static const double rest_length = 1.2817; // of the catenary below
static bool at_the_ends(mo_vec3 x) { return fabs(x.x) > 0.499 * rest_length; }

static void a_strip_between_two_nails_is_a_catenary(void **state)
{
    (void)state;
    const double a = 0.4, length = 2 * a * sinh(0.5 / a), sag = a * (cosh(0.5 / a) - 1);
    mo_sheet sheet = plate(1, 0.1, 1.0 / 32);
    mo_cloth_material m = {0.2, 2000, 1e-8, 0.3, 0};
    mo_sheet_scale(&sheet, mo_v3(length, 1, 1));
    hanging strip = strip_of(&sheet, &m, at_the_ends);
    for (int32_t v = 0; v < strip.b.vertices; v++) {
        mo_vec3 *x = &strip.b.position[v];
        x->x /= length, x->y = -1.2 * sag * (1 - 4 * x->x * x->x);
    }
    strip.gravity = mo_v3(0, -9.81, 0);
    find_equilibrium(&strip);
    double least = 0;
    for (int32_t v = 0; v < strip.b.vertices; v++) least = fmin(least, strip.b.position[v].y);
    print_message("sag %.5f, catenary %.5f\n", -least, sag);
    near(-least, sag, 0.01 * sag);
    destroy(&strip);
}

// ---- Cords ----

static void cords_pull_and_never_push(void **state)
{
    (void)state;
    mo_arena *arena = mo_arena_create();
    mo_sheet sheet = plate(1, 1, 1);
    mo_cord cord = {0, -1, {-0.5, 0, -0.5}, 0.5, 8, false};
    mo_cloth_material m = {1, 1e3, 0, 0, 0};
    mo_elastic_body b = cloth_of(&sheet, &m, 1, &cord);
    double gradient[12];
    for (int far = 0; far < 2; far++) {
        for (int32_t v = 0; v < 4; v++) b.position[v].y = far ? -0.75 : -0.25;
        assert_int_equal(mo_elastic_gradient(&b, b.position, NULL, arena, gradient), MO_OK);
        near(gradient[1], far ? -8 * 0.25 / 0.5 : 0, 1e-12); // a force upwards
        near(mo_cloth_measure(&b, b.position).cords, far ? 0.5 * 8 / 0.5 * 0.25 * 0.25 : 0, 1e-12);
    }
    mo_elastic_destroy(&b);
    mo_arena_destroy(arena);
}

// ---- Mistakes, memory, threads ----

static void bad_sheets_are_refused(void **state)
{
    (void)state;
    mo_cloth_material m = {1, 1, 1, 0, 0};
    mo_elastic_body b;
    mo_error err;
    mo_sheet sheet = plate(1, 1, 0.5);
    memcpy(sheet.position[1], sheet.position[0], sizeof sheet.position[0]);
    assert_int_equal(mo_cloth_create(&sheet, &m, 0, NULL, &b, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "has no area"));
    mo_sheet_destroy(&sheet);
    sheet = plate(1, 1, 0.5);
    sheet.triangles = 1;
    assert_int_equal(mo_cloth_create(&sheet, &m, 0, NULL, &b, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "belongs to no triangle"));
    mo_sheet_destroy(&sheet);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    mo_cloth_material m = {1, 1, 1, 0, 0};
    mo_sheet sheet = plate(1, 1, 0.25);
    for (int64_t fail_at = 1;; fail_at++) {
        ration r = {.fail_at = fail_at};
        mo_elastic_body b;
        mo_set_allocator(rationed, &r);
        mo_status status = mo_cloth_create(&sheet, &m, 0, NULL, &b, NULL);
        if (status == MO_OK) mo_elastic_destroy(&b);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(r.live, 0);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
    }
    mo_sheet_destroy(&sheet);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    mo_arena *arena = mo_arena_create();
    mo_sheet sheet = plate(1, 1, 0.05);
    mo_cloth_material m = {1, 100, 1e-2, 0.3, 0.1};
    mo_elastic_body b = cloth_of(&sheet, &m, 0, NULL);
    int32_t n = mo_elastic_unknowns(&b);
    mo_vec3 *x = shaken(&b, 0.01);
    mo_elastic_step step = {b.rest, 0.01};
    double energy[2], *gradient[2];
    mo_csr A[2];
    for (int k = 0; k < 2; k++) {
        mo_use_threads(k ? 4 : 1);
        gradient[k] = mo_alloc(sizeof(double) * (size_t)n);
        assert_int_equal(mo_elastic_pattern(&b, &A[k]), MO_OK);
        energy[k] = energy_at(&b, x, &step, arena);
        assert_int_equal(mo_elastic_gradient(&b, x, &step, arena, gradient[k]), MO_OK);
        assert_int_equal(mo_elastic_stiffness(&b, x, &step, false, arena, &A[k], NULL), MO_OK);
    }
    assert_true(energy[0] == energy[1]);
    assert_memory_equal(gradient[0], gradient[1], sizeof(double) * (size_t)n);
    assert_memory_equal(A[0].val, A[1].val, sizeof(double) * (size_t)A[0].row[n]);
    for (int k = 0; k < 2; k++) mo_free(gradient[k]), mo_csr_destroy(&A[k]);
    mo_free(x);
    mo_elastic_destroy(&b);
    mo_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flaps_have_their_derivatives),
        cmocka_unit_test(forces_and_stiffness_are_derivatives),
        cmocka_unit_test(projected_stiffness_is_not_negative),
        cmocka_unit_test(moved_and_turned_as_a_whole_nothing_changes),
        cmocka_unit_test(stretching_and_mass_are_exact),
        cmocka_unit_test(a_bent_cylinder_has_its_energy_whichever_way_the_mesh_runs),
        cmocka_unit_test(a_heavy_cantilever_sinks_as_the_elastica_does),
        cmocka_unit_test(an_oblique_strip_sinks_alike_on_regular_meshes),
        cmocka_unit_test(a_strip_between_two_nails_is_a_catenary),
        cmocka_unit_test(cords_pull_and_never_push),
        cmocka_unit_test(bad_sheets_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
