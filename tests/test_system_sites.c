// Pressure on both sides of a sheet: two independent liquids in one system, few iterations.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fluid/surface.h"
#include "sites_test.h"
#include "system/pressure.h"
#include <math.h>

static const double dx = 0.05, density = 800, dt = 0.02, gravity = 9.81;

typedef struct tank { // a closed box, filled to another height on each side of a sheet
    mo_grid *g;
    sheet w;
    mo_arena *arena;
    float *phi, *area[3];
    uint8_t *liquid;
} tank;

static bool inside(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

static bool on_low_side(const tank *t, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(t->g, mo_site_cell(t->g, row), c);
    return c[0] < t->w.at || (c[0] == t->w.at && row < mo_grid_cells(t->g));
}

// Open parts of faces: nothing passes the box's walls; a piece of a face has its own part.
static void open_faces(tank *t)
{
    int32_t cells = (int32_t)mo_grid_cells(t->g), samples = t->g->sites ? t->g->sites->samples : 0;
    for (int a = 0; a < 3; a++)
        for (int32_t s = 0; s < cells + samples; s++) {
            mo_sample p = {.axis = a, .low = mo_grid_step(t->g, s < cells ? s : 0, a, -1), .high = s, .area = 1};
            if (mo_site_is_cut(t->g, s)) p = mo_sites_sample(t->g, a, s);
            int32_t low[3], high[3];
            if (p.axis != a || p.low < 0 || p.high < 0) continue;
            mo_grid_cell(t->g, mo_site_cell(t->g, p.low), low);
            mo_grid_cell(t->g, mo_site_cell(t->g, p.high), high);
            if (inside(t->g, low) && inside(t->g, high)) t->area[a][s] = 1; // of the piece
        }
}

static void tank_create(int32_t n, bool flat, bool divided, bool (*hole)(int32_t, int32_t), const double height[2],
                        tank *t)
{
    memset(t, 0, sizeof *t);
    t->g = whole_grid(n, n, flat ? 1 : n, dx);
    t->arena = mo_arena_create();
    t->w = (sheet){.at = MO_MARGIN + n / 3, .hole = hole};
    if (divided) assert_int_equal(sheet_create(t->g, &t->w), MO_OK);
    size_t fields = (size_t)mo_grid_fields(t->g);
    t->phi = malloc(sizeof(float) * fields), t->liquid = calloc(fields, 1);
    for (int a = 0; a < 3; a++) t->area[a] = calloc(fields, sizeof(float));
    open_faces(t);
    for (int32_t row = 0; row < (int32_t)mo_grid_cells(t->g) + (divided ? t->g->sites->rows : 0); row++) {
        int32_t c[3];
        mo_grid_cell(t->g, mo_site_cell(t->g, row), c);
        t->phi[row] = (float)(c[1] - MO_MARGIN + 0.5 - n * height[on_low_side(t, row) ? 0 : 1]);
        t->liquid[row] = t->phi[row] < 0 && inside(t->g, c) ? MO_PHASE_LIQUID : 0;
    }
}

static void tank_destroy(tank *t)
{
    if (t->w.second) sheet_destroy(&t->w);
    for (int a = 0; a < 3; a++) free(t->area[a]);
    free(t->phi), free(t->liquid);
    mo_arena_destroy(t->arena);
    mo_grid_destroy(t->g);
}

static mo_system_info tank_solve(tank *t, double pull[2], int route, double tolerance, mo_liquid_system *p)
{
    mo_pressure_def def = {
        .grid = t->g, .phi = t->phi, .liquid = t->liquid, .area = t->area, .density = density, .dt = dt, .dx = dx};
    assert_int_equal(mo_pressure_assemble(&def, t->arena, p, NULL), MO_OK);
    for (int32_t f = 0; f < p->system.faces.count; f++) {
        int32_t s = mo_face_sample(p->face_at[f]), axis = mo_face_axis(p->face_at[f]);
        double g = gravity * pull[on_low_side(t, mo_sample_high(t->g, axis, s)) ? 0 : 1];
        p->system.faces.velocity[f] = axis == 1 ? -g * dt : 0;
    }
    mo_solver_def solver = {.route = route, .tolerance = tolerance, .max_iterations = 2000};
    mo_system_info info;
    assert_int_equal(mo_system_solve(&p->system, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    return info;
}

// Both sides at rest under another gravity each: either pressure is hydrostatic, as if the other were not there.
static void sides_are_independent(void **state)
{
    (void)state;
    for (int route = 0; route < 2; route++)
        for (int flat = 0; flat < 2; flat++) {
            tank t;
            mo_liquid_system p;
            double height[2] = {0.71, 0.43}, pull[2] = {1, 3}, off = 0, speed = 0;
            tank_create(14, flat, true, NULL, height, &t);
            mo_system_info info = tank_solve(&t, pull, route ? MO_ROUTE_PAPER : MO_ROUTE_FAST, 1e-11, &p);
            const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
            for (int32_t r = 0; r < b->rows; r++) {
                double exact =
                    -density * gravity * pull[on_low_side(&t, p.cell_at[r]) ? 0 : 1] * t.phi[p.cell_at[r]] * dx;
                off = fmax(off, fabs(b->x[r] - exact) / (density * gravity * dx));
            }
            for (int32_t f = 0; f < p.system.faces.count; f++)
                speed = fmax(speed, fabs(p.system.faces.velocity[f]) / (gravity * dt));
            print_message("%dD, route %d: %d rows, %d pieces, %d iterations; pressure off by %.1e rho g dx, speed "
                          "%.1e g dt\n",
                          flat ? 2 : 3, route, b->rows, info.pieces, info.solve.iterations, off, speed);
            assert_int_equal(info.pieces, 2);
            assert_true(off < 1e-5 && speed < 1e-5);
            mo_liquid_destroy(&p);
            tank_destroy(&t);
        }
}

static bool wide_hole(int32_t y, int32_t z) { return y < 12 && z > 9 && z < 30; }
static bool comb(int32_t y, int32_t z) { return (y / 3 + z / 3) % 4 == 0; }

// Iterations beside those of the same tank without a sheet. The heights differ, so that liquid presses through a hole.
static void multigrid_needs_few_iterations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool divided;
        bool (*hole)(int32_t, int32_t);
    } cases[] = {{"no sheet", false, NULL},
                 {"sheet", true, NULL},
                 {"sheet with a hole", true, wide_hole},
                 {"sheet with many holes", true, comb}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tank t;
        mo_liquid_system p;
        double height[2] = {0.71, cases[k].divided ? 0.43 : 0.71}, pull[2] = {1, 1};
        tank_create(40, false, cases[k].divided, cases[k].hole, height, &t);
        mo_system_info info = tank_solve(&t, pull, MO_ROUTE_FAST, 1e-6, &p);
        print_message("%s: %d rows, %d iterations\n", cases[k].name, p.system.block[MO_BLOCK_PRESSURE]->rows,
                      info.solve.iterations);
        assert_in_range(info.solve.iterations, 1, 12);
        mo_liquid_destroy(&p);
        tank_destroy(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_are_independent),
                                       cmocka_unit_test(multigrid_needs_few_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
