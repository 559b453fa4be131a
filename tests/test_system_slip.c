// Pressure with rows of slip along sheets (system/pressure_slip.h, system/slip_form.h): both routes, a dense solve and
// the method written down for a box (cases/slip.h) agree.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/case.h"
#include "cases/slip.h"
#include "grid/ghosts.h"
#include "sparse/dense.h"
#include "system/pressure_slip.h"
#include "system/slip_form.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static mo_error err;

static double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

static double drop(const void *user, mo_vec3 x)
{
    (void)user;
    return mo_norm(mo_sub(x, mo_v3(0.52, 0.49, 0.5))) - 0.41;
}

static void plate(double size, double angle, mo_sheet *s)
{
    assert_int_equal(mo_sheet_plate(size, size, 0.07, s, &err), MO_OK);
    mo_sheet_rotate(s, mo_v3(0, 0, 1), angle);
    mo_sheet_rotate(s, mo_v3(1, 0, 0), 0.3);
    mo_sheet_move(s, mo_v3(0.47, 0.52, 0.5));
}

static mo_vec3 flow_at(const void *user, mo_vec3 x, mo_vec3 cell)
{
    (void)user, (void)cell;
    const double walls = sin(M_PI * x.x) * sin(M_PI * x.y) * sin(M_PI * x.z); // nothing passes them
    return mo_mul(walls, mo_v3(1, 0.3 + x.x, 0.2 - x.y * x.z));
}

// Sets u* of all samples as mo_slip_start does.
static void set_flow(mo_case *c)
{
    const mo_grid *g = c->grid;
    const mo_ghosts *s = mo_ghosts_of(g);
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 3; a++) {
            double x[3];
            if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
            mo_sample_place(g, a, i, x);
            mo_vec3 y = mo_grid_world(g, x[0], x[1], x[2]);
            c->u[a][i] = (float)mo_get(flow_at(NULL, y, y), a);
        }
    for (int32_t k = 0; k < s->sides; k++) {
        const mo_ghost_side *q = &s->side[k];
        double x[3];
        mo_sample_place(g, q->axis, q->own, x);
        mo_vec3 y = mo_grid_world(g, x[0], x[1], x[2]), v = flow_at(NULL, y, y),
                n = mo_v3(q->normal[0], q->normal[1], q->normal[2]);
        c->u[q->axis][q->beside] = (float)mo_get(mo_mad(v, -mo_dot(v, n), n), q->axis);
    }
}

static void make(int32_t n, mo_distance_fn liquid, const mo_sheet *sheet, const double (*velocity)[3], mo_case *c)
{
    mo_case_def def = {.cells = {n, n, n},
                       .dx = 1.0 / n,
                       .liquid = liquid,
                       .sheet = sheet,
                       .sheet_velocity = velocity,
                       .ghosts = true,
                       .density = 2};
    if (mo_case_create(&def, c, &err) != MO_OK) fail_msg("%s", err.text);
    set_flow(c);
}

static double *solve_dense(const mo_liquid_system *l)
{
    mo_csr A, B;
    double *b;
    const mo_system *s = &l->system;
    assert_int_equal(mo_slip_form_system(s, false, &B, &A, &b, &err), MO_OK);
    double *full = mo_calloc(sizeof(double) * (size_t)A.rows * (size_t)A.rows),
           *v = mo_alloc(sizeof(double) * (size_t)s->faces.count);
    for (int32_t r = 0; r < A.rows; r++)
        for (int64_t k = A.row[r]; k < A.row[r + 1]; k++) full[(int64_t)r * A.rows + A.col[k]] = A.val[k];
    mo_dense_factor(A.rows, full, 1e-13), mo_dense_solve(A.rows, full, b);
    double *change = mo_calloc(sizeof(double) * (size_t)s->faces.count);
    mo_csr_push(&B, 1, b, change);
    for (int32_t i = 0; i < s->faces.count; i++) v[i] = s->faces.velocity[i] - s->dt * change[i] / s->faces.mass[i];
    mo_free(full), mo_free(b), mo_free(change);
    mo_csr_destroy(&A), mo_csr_destroy(&B);
    return v;
}

static mo_system_info solve(mo_liquid_system *l, mo_route route)
{
    mo_solver_def solver = {.max_iterations = 5000, .rounds = 2};
    mo_system_info info;
    solver.route = route, solver.tolerance = 1e-11;
    if (mo_system_solve(&l->system, &solver, &info, &err) != MO_OK) fail_msg("%s", err.text);
    assert_true(mo_is_solved(&info.solve));
    assert_string_equal(info.form, "slip");
    return info;
}

// A closed box full of liquid and a drop, plates at rest and in motion: (p, l') by multigrid, (p, l) by IC(0), and a
// dense solve give the same velocities, which satisfy all rows.
static void routes_agree(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        mo_sheet sheet;
        mo_case c;
        mo_liquid_system l[2];
        mo_system_info info[2];
        plate(0.55, 0.4, &sheet);
        double(*move)[3] = mo_calloc(sizeof *move * (size_t)sheet.vertices), worst = 0, rows = 0;
        for (int32_t v = 0; v < sheet.vertices; v++) move[v][0] = 0.5, move[v][1] = sheet.position[v][0] - 0.4;
        make(8, k & 1 ? drop : everywhere, &sheet, k & 2 ? (const double(*)[3])move : NULL, &c);
        double *dense = NULL;
        for (int r = 0; r < 2; r++) {
            assert_int_equal(mo_case_pressure_assemble(&c, 0.01, &l[r], &err), MO_OK);
            if (!r) dense = solve_dense(&l[0]);
            info[r] = solve(&l[r], r ? MO_ROUTE_PAPER : MO_ROUTE_FAST);
        }
        const mo_system *s = &l[0].system;
        for (int32_t i = 0; i < s->faces.count; i++)
            worst = fmax(worst, fmax(fabs(s->faces.velocity[i] - dense[i]),
                                     fabs(s->faces.velocity[i] - l[1].system.faces.velocity[i])));
        for (int b = 0; b < 2; b++) {
            const mo_block *block = s->block[b ? MO_BLOCK_SLIP : MO_BLOCK_PRESSURE];
            double *residual = mo_alloc(sizeof(double) * (size_t)block->rows);
            mo_block_residual(s, block, residual);
            for (int32_t i = 0; i < block->rows; i++) rows = fmax(rows, fabs(residual[i]) * c.def.dx);
            mo_free(residual);
        }
        printf("%s, plate %s: %d pressures, %d of slip, %d and %d iterations, velocities differ by %.2g, rows %.2g\n",
               k & 1 ? "drop" : "box", k & 2 ? "in motion" : "at rest", s->block[MO_BLOCK_PRESSURE]->rows,
               s->block[MO_BLOCK_SLIP]->rows, info[0].solve.iterations, info[1].solve.iterations, worst, rows);
        // A closed box that a plate divides into no pieces keeps its volume: what the plate sweeps sums to nothing.
        assert_true(worst < 1e-8 && rows < 1e-8 && info[0].enclosed == !(k & 1));
        mo_free(dense), mo_free(move);
        for (int r = 0; r < 2; r++) mo_liquid_destroy(&l[r]);
        mo_case_destroy(&c), mo_sheet_destroy(&sheet);
    }
}

// The field index of the cell with this centre.
static int32_t cell_at(const mo_grid *g, mo_vec3 x)
{
    int32_t c[3];
    for (int a = 0; a < 3; a++) c[a] = (int32_t)floor((mo_get(x, a) - mo_get(g->origin, a)) / g->dx);
    return mo_grid_index(g, c[0], c[1], c[2]);
}

// The method as it was written down for a box alone, with lists of its own, finds the same velocities.
static void box_agrees(void **state)
{
    (void)state;
    enum { N = 9 };
    mo_sheet sheet;
    mo_case c;
    mo_liquid_system l;
    mo_slip box;
    mo_solve_info info;
    plate(0.55, 0.4, &sheet);
    make(N, everywhere, &sheet, NULL, &c);
    assert_int_equal(mo_case_pressure_assemble(&c, 0.01, &l, &err), MO_OK);
    solve(&l, MO_ROUTE_FAST);
    uint8_t *valid[3];
    for (int a = 0; a < 3; a++) valid[a] = mo_calloc((size_t)mo_grid_fields(c.grid));
    mo_liquid_scatter(&l, c.u, valid);
    mo_slip_def def = {.cells = {N, N, N}, .dx = 1.0 / N, .sheet = &sheet};
    assert_int_equal(mo_slip_create(&def, &box, &err), MO_OK);
    mo_slip_start(&box, flow_at, NULL, false);
    assert_int_equal(mo_slip_solve(&box, true, 1e-11, &info, &err), MO_OK);
    const mo_ghosts *s = mo_ghosts_of(c.grid);
    double worst = 0;
    int32_t own = 0;
    for (int32_t i = 0; i < box.faces; i++) {
        const mo_slip_face *f = &box.face[i];
        if (f->kind > MO_SLIP_SIDE || f->fixed) continue;
        int32_t cell = cell_at(c.grid, f->cell);
        int side = mo_get(mo_sub(f->x, f->cell), f->axis) > 0;
        int32_t sample = mo_ghost_face(c.grid, cell, f->axis, side);
        own += f->kind == MO_SLIP_SIDE;
        assert_int_equal(f->kind == MO_SLIP_SIDE, mo_ghost_owner(c.grid, f->axis, sample) >= 0);
        worst = fmax(worst, fabs(c.u[f->axis][sample] - box.velocity[i]));
    }
    printf("box of %d cells: %d ghosts and %d, %d sides and %d: velocities differ by %.2g\n", N, box.ghosts, s->rows,
           box.sides, s->sides, worst);
    assert_true(box.ghosts == s->rows && own == s->sides && worst < 2e-6); // fields are of float
    for (int a = 0; a < 3; a++) mo_free(valid[a]);
    mo_slip_destroy(&box), mo_liquid_destroy(&l), mo_case_destroy(&c), mo_sheet_destroy(&sheet);
}

// Rows and forces are adjoint: the work of the sheet's forces is what the rows' multipliers take from its motion.
static void forces_are_adjoint(void **state)
{
    (void)state;
    mo_sheet sheet;
    mo_case c;
    mo_liquid_system l;
    plate(0.55, 0.4, &sheet);
    double(*move)[3] = mo_calloc(sizeof *move * (size_t)sheet.vertices), work = 0, taken = 0;
    double(*force)[3] = mo_calloc(sizeof *force * (size_t)sheet.vertices);
    for (int32_t v = 0; v < sheet.vertices; v++)
        for (int a = 0; a < 3; a++) move[v][a] = sin(3.7 * v + a);
    make(8, drop, &sheet, (const double(*)[3])move, &c);
    assert_int_equal(mo_case_pressure_assemble(&c, 0.01, &l, &err), MO_OK);
    solve(&l, MO_ROUTE_FAST);
    mo_pressure_def def = mo_case_pressure_def(&c, 0.01);
    mo_pressure_sheet_forces(&def, &l, force), mo_slip_sheet_forces(&def, &l, force);
    for (int32_t v = 0; v < sheet.vertices; v++)
        for (int a = 0; a < 3; a++) work += force[v][a] * move[v][a];
    for (int k = 0; k < 2; k++) {
        const mo_block *b = l.system.block[k ? MO_BLOCK_SLIP : MO_BLOCK_PRESSURE];
        for (int32_t r = 0; r < b->rows; r++) taken += b->x[r] * b->rhs[r] * pow(c.def.dx, 3);
    }
    printf("work of the forces %.12g, x.c %.12g\n", work, taken);
    assert_true(fabs(work - taken) < 1e-9 * fabs(taken) && taken != 0);
    mo_free(move), mo_free(force);
    mo_liquid_destroy(&l), mo_case_destroy(&c), mo_sheet_destroy(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(box_agrees),
        cmocka_unit_test(forces_are_adjoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
