// The pressure block: rows against the divergence, A against the 7-point ghost-fluid matrix written directly, adjoints,
// exact hydrostatics, common rigid motion.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "fluid/surface.h"
#include "grid/fractions.h"
#include "system/pressure.h"
#include <stdlib.h>
#include <string.h>

static const double dx = 0.05, density = 800, dt = 0.02;

typedef struct fixture {
    mo_grid *g;
    mo_arena *arena;
    float *u[3], *area[3], *flux[3], *volume, *distance, *phi;
    uint8_t *liquid;
    mo_vec3 velocity, spin; // of the solid and, in the test of rigid motion, of everything
    bool flat;
} fixture;

typedef double (*distance_fn)(mo_vec3 x); // m

static double no_solid(mo_vec3 x)
{
    (void)x;
    return 1;
}
static double ball_solid(mo_vec3 x) { return mo_norm(mo_sub(x, mo_v3(0.32, 0.27, 0.3))) - 0.117; }
static double ball_liquid(mo_vec3 x) { return mo_norm(mo_sub(x, mo_v3(0.4, 0.31, 0.33))) - 0.243; }
static double slab_liquid(mo_vec3 x) { return x.y + 0.3 * x.x - 0.2 * x.z - 0.413; }

static distance_fn the_solid; // of the fixture being made
static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    (void)solid;
    if (((const fixture *)user)->flat) x.z = 0.3;
    return the_solid(x);
}

static mo_vec3 rigid_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    const fixture *f = user;
    (void)solid;
    return mo_add(f->velocity, mo_cross(f->spin, x));
}

static bool has_pressure(const fixture *f, int32_t i)
{
    int32_t c[3];
    mo_grid_cell(f->g, i, c);
    if (f->phi[i] >= 0) return false;
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= f->g->n[a] - MO_MARGIN) return false;
    for (int a = 0; a < 3; a++) {
        int32_t next = mo_grid_step(f->g, i, a, 1);
        if (f->area[a][i] > 0 || (next >= 0 && f->area[a][next] > 0)) return true;
    }
    return false;
}

static void fixture_create(fixture *f, int32_t nx, int32_t ny, int32_t nz, distance_fn liquid, distance_fn solid,
                           bool open)
{
    memset(f, 0, sizeof *f);
    f->flat = nz == 1, f->velocity = mo_v3(0.7, -0.4, nz == 1 ? 0 : 0.2);
    f->spin = nz == 1 ? mo_v3(0, 0, 1.3) : mo_v3(0.5, -0.8, 1.3);
    f->arena = mo_arena_create();
    assert_int_equal(mo_grid_create((int32_t[3]){nx, ny, nz}, dx, &f->g, NULL), MO_OK);
    mo_grid_want(f->g, (int32_t[3]){0, 0, 0}, f->g->n);
    assert_int_equal(mo_grid_activate(f->g, NULL), MO_OK);
    size_t cells = (size_t)mo_grid_cells(f->g);
    for (int a = 0; a < 3; a++) {
        f->u[a] = calloc(cells, sizeof(float)), f->area[a] = calloc(cells, sizeof(float));
        f->flux[a] = calloc(cells, sizeof(float));
    }
    f->volume = calloc(cells, sizeof(float)), f->distance = calloc(cells, sizeof(float));
    f->phi = calloc(cells, sizeof(float)), f->liquid = calloc(cells, 1);
    mo_solid_set set = {.count = 1, .distance = solid_distance, .velocity = rigid_velocity, .user = f};
    set.open_wall[MO_XMAX] = set.open_wall[MO_YMAX] = open;
    mo_openings out = {.volume = f->volume, .distance = f->distance};
    for (int a = 0; a < 3; a++) out.area[a] = f->area[a], out.flux[a] = f->flux[a];
    the_solid = solid;
    mo_openings_compute(f->g, &set, &out);
    for (int32_t i = 0; i < (int32_t)cells; i++) {
        int32_t c[3];
        mo_grid_cell(f->g, i, c);
        mo_vec3 x = mo_grid_world(f->g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        if (f->flat) x.z = 0.3;
        f->phi[i] = (float)(liquid(x) / dx);
        if (open && (c[0] >= f->g->n[0] - MO_MARGIN || c[1] >= f->g->n[1] - MO_MARGIN))
            f->phi[i] = mo_maxf(f->phi[i], 0.5f);
        // Noise in the velocities, so that nothing cancels by symmetry.
        for (int a = 0; a < 3; a++)
            f->u[a][i] = (float)(mo_unit(mo_hash((uint32_t)i, (uint32_t)a, 4)) - 0.5) * (float)!(f->flat && a == 2);
    }
    for (int32_t i = 0; i < (int32_t)cells; i++)
        f->liquid[i] = has_pressure(f, i) ? MO_PHASE_LIQUID : mo_hash((uint32_t)i, 1, 1) % 2 ? MO_PHASE_BALLISTIC : 0;
}

static void fixture_destroy(fixture *f)
{
    for (int a = 0; a < 3; a++) free(f->u[a]), free(f->area[a]), free(f->flux[a]);
    free(f->volume), free(f->distance), free(f->phi), free(f->liquid);
    mo_arena_destroy(f->arena);
    mo_grid_destroy(f->g);
}

static void assemble(fixture *f, bool moving, mo_liquid_system *p)
{
    mo_pressure_def def = {.grid = f->g,
                           .phi = f->phi,
                           .liquid = f->liquid,
                           .area = f->area,
                           .flux = moving ? f->flux : NULL,
                           .density = density,
                           .dt = dt,
                           .dx = dx};
    mo_arena_reset(f->arena);
    size_t mark = mo_arena_mark(f->arena);
    assert_int_equal(mo_pressure_assemble(&def, f->arena, p, NULL), MO_OK);
    assert_int_equal(mo_arena_mark(f->arena), mark);
}

// Index of a lattice neighbour, by coordinates: not the way the assembly goes.
static int32_t beside(const fixture *f, int32_t i, int axis, int side)
{
    int32_t c[3];
    mo_grid_cell(f->g, i, c);
    c[axis] += side;
    return mo_grid_index(f->g, c[0], c[1], c[2]);
}

static void each_fixture(void (*check)(fixture *f))
{
    static const struct {
        int32_t n[3];
        distance_fn liquid, solid;
        bool open;
    } cases[] = {{{13, 12, 13}, ball_liquid, ball_solid, false},
                 {{13, 11, 12}, slab_liquid, ball_solid, false},
                 {{13, 11, 12}, slab_liquid, no_solid, true},
                 {{17, 13, 1}, slab_liquid, ball_solid, true},
                 {{17, 13, 1}, ball_liquid, ball_solid, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        fixture_create(&f, cases[k].n[0], cases[k].n[1], cases[k].n[2], cases[k].liquid, cases[k].solid, cases[k].open);
        check(&f);
        fixture_destroy(&f);
    }
}

// Every liquid cell has its row, in order of tiles; B u is the negative divergence of area times u.
static void check_rows(fixture *f)
{
    mo_liquid_system p;
    assemble(f, true, &p);
    const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
    int32_t rows = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(f->g); i++) rows += f->liquid[i] == MO_PHASE_LIQUID;
    assert_int_equal(rows, b->rows);
    assert_true(rows > 50);
    mo_liquid_gather(&p, f->u);
    double *product = malloc(sizeof(double) * (size_t)rows);
    mo_csr_multiply(&b->on[MO_FACES], p.system.faces.velocity, product);
    for (int32_t r = 0; r < rows; r++) {
        int32_t i = p.cell_at[r], c[3];
        assert_true(r == 0 || p.cell_at[r] > p.cell_at[r - 1]);
        mo_grid_cell(f->g, i, c);
        double flow = 0, swept = 0;
        for (int a = 0; a < 3; a++) {
            int32_t high = beside(f, i, a, 1);
            assert_int_equal(b->coord[r][a], c[a]);
            flow += ((double)f->area[a][high] * f->u[a][high] - (double)f->area[a][i] * f->u[a][i]) / dx;
            swept += ((double)f->flux[a][high] - (double)f->flux[a][i]) / dx;
        }
        assert_true(fabs(product[r] + flow) < 1e-9);
        assert_true(fabs(b->rhs[r] - swept) < 1e-9); // B u - c = -(div of all that crosses)
    }
    // Columns ascend, faces are those of liquid cells only, each once.
    for (int32_t r = 0; r < rows; r++)
        for (int64_t k = b->on[MO_FACES].row[r] + 1; k < b->on[MO_FACES].row[r + 1]; k++)
            assert_true(b->on[MO_FACES].col[k] > b->on[MO_FACES].col[k - 1]);
    for (int32_t k = 0; k < p.system.faces.count; k++) {
        int32_t a = mo_face_axis(p.face_at[k]), i = mo_face_sample(p.face_at[k]), low = beside(f, i, a, -1);
        assert_true(k == 0 || p.face_at[k] > p.face_at[k - 1]);
        assert_true(p.system.faces.mass[k] > 0 && f->area[a][i] > 0);
        assert_true(f->liquid[i] == MO_PHASE_LIQUID || (low >= 0 && f->liquid[low] == MO_PHASE_LIQUID));
    }
    free(product);
    mo_liquid_destroy(&p);
}
static void rows_are_divergences(void **state)
{
    (void)state;
    each_fixture(check_rows);
}

// <B u, p> = <u, area grad p> with the gradient written out.
static void check_adjoint(fixture *f)
{
    mo_liquid_system p;
    assemble(f, false, &p);
    const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
    size_t cells = (size_t)mo_grid_cells(f->g);
    double *pressure = calloc(cells, sizeof(double)), *product = malloc(sizeof(double) * (size_t)b->rows), left = 0,
           right = 0, size = 0;
    for (int32_t r = 0; r < b->rows; r++) pressure[p.cell_at[r]] = mo_unit(mo_hash((uint32_t)r, 3, 3)) - 0.5;
    mo_liquid_gather(&p, f->u);
    mo_csr_multiply(&b->on[MO_FACES], p.system.faces.velocity, product);
    for (int32_t r = 0; r < b->rows; r++) left += product[r] * pressure[p.cell_at[r]], size += fabs(product[r]);
    for (int32_t i = 0; i < (int32_t)cells; i++)
        for (int a = 0; a < 3; a++) {
            int32_t low = beside(f, i, a, -1);
            if (low >= 0) right += (double)f->area[a][i] * f->u[a][i] * (pressure[i] - pressure[low]) / dx;
        }
    assert_true(fabs(left - right) < 1e-10 * size);
    free(pressure), free(product);
    mo_liquid_destroy(&p);
}
static void gradients_are_adjoint(void **state)
{
    (void)state;
    each_fixture(check_adjoint);
}

static double wet_part(double inside, double other)
{
    return other < 0 ? 1 : fmax(inside / (inside - other), mo_theta_minimum);
}

// Pivots of the dense factorisation L D L^T: none negative.
static bool is_semidefinite(int32_t n, double *A)
{
    double largest = 0;
    for (int32_t i = 0; i < n; i++) largest = fmax(largest, A[(int64_t)i * n + i]);
    for (int32_t k = 0; k < n; k++) {
        double pivot = A[(int64_t)k * n + k];
        if (pivot < -1e-10 * largest) return false;
        if (pivot < 1e-10 * largest) continue;
        for (int32_t i = k + 1; i < n; i++) {
            double l = A[(int64_t)i * n + k] / pivot;
            if (l == 0) continue;
            for (int32_t j = k; j < n; j++) A[(int64_t)i * n + j] -= l * A[(int64_t)k * n + j];
        }
    }
    return true;
}

static void check_matrix(fixture *f)
{
    mo_liquid_system p;
    mo_dual dual;
    assemble(f, true, &p);
    const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
    assert_int_equal(mo_dual_create(&p.system, 1u << MO_BLOCK_PRESSURE, &dual, NULL), MO_OK);
    const mo_csr A = dual.A;
    int32_t n = b->rows, *row = malloc(sizeof(int32_t) * (size_t)mo_grid_cells(f->g));
    double *dense = calloc((size_t)n * (size_t)n, sizeof(double)), scale = dt / (density * dx * dx);
    memset(row, 0xff, sizeof(int32_t) * (size_t)mo_grid_cells(f->g));
    for (int32_t r = 0; r < n; r++) row[p.cell_at[r]] = r;
    for (int32_t r = 0; r < n; r++)
        for (int64_t k = A.row[r]; k < A.row[r + 1]; k++) dense[(int64_t)r * n + A.col[k]] = A.val[k];
    for (int32_t r = 0; r < n; r++) {
        int32_t i = p.cell_at[r], entries = 1;
        double diagonal = 0;
        for (int a = 0; a < 3; a++)
            for (int side = -1; side <= 1; side += 2) {
                int32_t next = beside(f, i, a, side);
                double open = f->area[a][side < 0 ? i : next];
                if (open <= 0) continue;
                diagonal += open / wet_part(f->phi[i], f->phi[next]);
                if (row[next] < 0) continue;
                entries++;
                assert_true(fabs(dense[(int64_t)r * n + row[next]] + scale * open) < 1e-12 * scale);
            }
        assert_true(fabs(dense[(int64_t)r * n + r] - scale * diagonal) < 1e-10 * scale * diagonal);
        assert_int_equal(A.row[r + 1] - A.row[r], entries);
        for (int32_t c = 0; c < n; c++) assert_true(dense[(int64_t)r * n + c] == dense[(int64_t)c * n + r]);
    }
    assert_true(is_semidefinite(n, dense));
    free(row), free(dense);
    mo_dual_destroy(&dual);
    mo_liquid_destroy(&p);
}
static void matrix_is_the_ghost_fluid_method(void **state)
{
    (void)state;
    each_fixture(check_matrix);
}

// ---- Physics ----

static void faces_round_trip(void **state)
{
    (void)state;
    fixture f;
    mo_liquid_system p;
    fixture_create(&f, 13, 11, 12, slab_liquid, ball_solid, false);
    assemble(&f, true, &p);
    mo_liquid_gather(&p, f.u);
    for (int32_t k = 0; k < p.system.faces.count; k++)
        p.system.faces.velocity[k] = (float)(3 * p.system.faces.velocity[k]);
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(f.g);
    float *old[3];
    for (int a = 0; a < 3; a++) old[a] = malloc(bytes), memcpy(old[a], f.u[a], bytes);
    mo_liquid_scatter(&p, f.u, NULL);
    int32_t changed = 0;
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < mo_grid_cells(f.g); i++) changed += f.u[a][i] != old[a][i];
    assert_int_equal(changed, p.system.faces.count); // those, and no others
    for (int32_t k = 0; k < p.system.faces.count; k++)
        assert_true(f.u[mo_face_axis(p.face_at[k])][mo_face_sample(p.face_at[k])] ==
                    3 * old[mo_face_axis(p.face_at[k])][mo_face_sample(p.face_at[k])]);
    for (int a = 0; a < 3; a++) free(old[a]);
    mo_liquid_destroy(&p);
    fixture_destroy(&f);
}

// Liquid below an oblique plane that meets the walls of a box, gravity across the plane: at rest, p = rho g depth.
// Whole numbers for the normal keep all wet parts at 1/8 or more, off the cut at mo_theta_minimum.
static const double up[3] = {1, 4, -1};
static double oblique(mo_vec3 x) { return (up[0] * x.x + up[1] * x.y + up[2] * x.z - 26.5 * dx) / sqrt(18.0); }

static void hydrostatics_are_exact(void **state)
{
    (void)state;
    double size = sqrt(18.0), g = 9.81;
    for (int route = 0; route < 2; route++) {
        fixture f;
        mo_liquid_system p;
        mo_system_info info;
        fixture_create(&f, 13, 14, 12, oblique, no_solid, false);
        assemble(&f, false, &p);
        for (int32_t k = 0; k < p.system.faces.count; k++)
            p.system.faces.velocity[k] = -g * dt * up[mo_face_axis(p.face_at[k])] / size;
        mo_solver_def solver = {
            .route = route ? MO_ROUTE_PAPER : MO_ROUTE_FAST, .tolerance = 1e-11, .max_iterations = 500};
        assert_int_equal(mo_system_solve(&p.system, &solver, &info, NULL), MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
        const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
        double worst = 0, motion = 0;
        for (int32_t k = 0; k < p.system.faces.count; k++) motion = fmax(motion, fabs(p.system.faces.velocity[k]));
        for (int32_t r = 0; r < b->rows; r++) {
            double expected = -density * g * f.phi[p.cell_at[r]] * dx;
            worst = fmax(worst, fabs(b->x[r] - expected) / (density * g * dx));
        }
        print_message("hydrostatics, route %d: pressure off by %.1e rho g dx, speed %.1e g dt\n", route, worst,
                      motion / (g * dt));
        assert_true(worst < 1e-5 && motion < 1e-5 * g * dt); // float distances
        mo_liquid_destroy(&p);
        fixture_destroy(&f);
    }
}

// Everything in one rigid motion: what crosses every cell away from the walls sums to zero (docs/math.md 3.1).
static void rigid_motion_has_no_divergence(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        fixture f;
        mo_liquid_system p;
        fixture_create(&f, 17, 15, flat ? 1 : 16, ball_liquid, ball_solid, false);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(f.g); i++) {
            int32_t c[3];
            mo_grid_cell(f.g, i, c);
            for (int a = 0; a < 3; a++) {
                mo_vec3 x = mo_grid_world(f.g, c[0] + 0.5 * (a != 0), c[1] + 0.5 * (a != 1), c[2] + 0.5 * (a != 2));
                f.u[a][i] = (float)mo_get(rigid_velocity(&f, 0, x), a);
            }
        }
        assemble(&f, true, &p);
        mo_liquid_gather(&p, f.u);
        const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
        double *r = malloc(sizeof(double) * (size_t)b->rows), worst = 0;
        mo_block_residual(&p.system, b, r);
        int32_t cut = 0, checked = 0;
        for (int32_t k = 0; k < b->rows; k++) {
            const int32_t *c = b->coord[k];
            bool wall = false;
            for (int a = 0; a < (flat ? 2 : 3); a++) wall |= c[a] == MO_MARGIN || c[a] == f.g->n[a] - MO_MARGIN - 1;
            if (wall) continue;
            checked++, cut += f.volume[p.cell_at[k]] < 1;
            worst = fmax(worst, fabs(r[k]) * dx);
        }
        print_message("rigid motion: %d cells, %d of them cut, largest net flow %.1e m/s\n", checked, cut, worst);
        assert_true(cut > 10 && worst < 1e-6);
        free(r);
        mo_liquid_destroy(&p);
        fixture_destroy(&f);
    }
}

static void nothing_and_no_memory(void **state)
{
    (void)state;
    fixture f;
    mo_liquid_system p;
    fixture_create(&f, 9, 9, 9, no_solid, no_solid, false); // positive everywhere: no liquid
    assemble(&f, true, &p);
    assert_int_equal(p.system.faces.count, 0);
    assert_int_equal(p.system.block[MO_BLOCK_PRESSURE]->rows, 0);
    mo_solver_def solver = {.tolerance = 1e-6, .max_iterations = 10};
    mo_system_info info;
    assert_int_equal(mo_system_solve(&p.system, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    mo_liquid_destroy(&p);
    mo_liquid_destroy(&p); // twice is fine: it is empty
    fixture_destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_divergences),
        cmocka_unit_test(gradients_are_adjoint),
        cmocka_unit_test(matrix_is_the_ghost_fluid_method),
        cmocka_unit_test(faces_round_trip),
        cmocka_unit_test(hydrostatics_are_exact),
        cmocka_unit_test(rigid_motion_has_no_divergence),
        cmocka_unit_test(nothing_and_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
