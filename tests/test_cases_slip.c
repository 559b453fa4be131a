// The method of tangential velocities, literally: one solve with sheets in a box (cases/slip.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/slip.h"
#include "sparse/dense.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static mo_error err;

typedef struct flow {
    mo_vec3 velocity, centre;
    mo_vec3 normal; // not 0: reversed on the side of a cell that it does not point to
} flow;

static mo_vec3 flow_at(const void *user, mo_vec3 x, mo_vec3 cell)
{
    const flow *f = user;
    (void)x;
    return mo_mul(mo_dot(mo_sub(cell, f->centre), f->normal) < 0 ? -1 : 1, f->velocity);
}

static void make(int32_t n, int32_t deep, const mo_sheet *sheet, bool open, mo_slip *out)
{
    mo_slip_def def = {.cells = {n, n, deep}, .dx = 1.0 / n, .sheet = sheet};
    for (int w = 0; w < 4; w++) def.open[w] = open;
    if (mo_slip_create(&def, out, &err) != MO_OK) fail_msg("%s", err.text);
}

static void plate(double length, double width, double angle, mo_vec3 at, mo_sheet *s)
{
    assert_int_equal(mo_sheet_plate(length, width, 0.05, s, &err), MO_OK);
    mo_sheet_rotate(s, mo_v3(0, 0, 1), angle);
    mo_sheet_move(s, at);
}

static mo_solve_info solve(mo_slip *s, bool plain)
{
    mo_solve_info info;
    if (mo_slip_solve(s, plain, 1e-11, &info, &err) != MO_OK) fail_msg("%s", err.text);
    assert_true(mo_is_solved(&info));
    return info;
}

// Both forms and a dense solve give the same velocities, which satisfy the rows.
static void forms_agree(void **state)
{
    (void)state;
    mo_sheet sheet;
    mo_slip s;
    plate(0.6, 0.6, 0.4, mo_v3(0.47, 0.52, 0.5), &sheet);
    make(7, 7, &sheet, true, &s);
    flow f = {.velocity = {1, 0.3, 0.2}};
    double *found[3], *b, worst = 0, residual = 0;
    mo_csr A;
    for (int k = 0; k < 3; k++) {
        mo_slip_start(&s, flow_at, &f, false);
        if (k < 2) solve(&s, k);
        found[k] = mo_alloc(sizeof(double) * (size_t)s.faces);
        memcpy(found[k], s.velocity, sizeof(double) * (size_t)s.faces);
    }
    assert_int_equal(mo_slip_system(&s, false, &A, &b, &err), MO_OK);
    double *full = mo_calloc(sizeof(double) * (size_t)A.rows * (size_t)A.rows);
    for (int32_t r = 0; r < A.rows; r++)
        for (int64_t k = A.row[r]; k < A.row[r + 1]; k++) full[(int64_t)r * A.rows + A.col[k]] = A.val[k];
    mo_dense_factor(A.rows, full, 1e-13);
    mo_dense_solve(A.rows, full, b);
    double *change = mo_calloc(sizeof(double) * (size_t)s.faces);
    mo_csr_push(&s.D, 1, b, change), mo_csr_push(&s.C, 1, b + s.cells, change);
    for (int32_t i = 0; i < s.faces; i++) found[2][i] -= s.inverse[i] * change[i];
    for (int32_t i = 0; i < s.faces; i++)
        worst = fmax(worst, fmax(fabs(found[0][i] - found[1][i]), fabs(found[0][i] - found[2][i])));
    for (int32_t r = 0; r < s.cells; r++) residual = fmax(residual, fabs(mo_csr_row_product(&s.D, r, found[0])));
    for (int32_t r = 0; r < s.sides; r++) residual = fmax(residual, fabs(mo_csr_row_product(&s.C, r, found[1])));
    printf("%d cells, %d of them ghosts, %d sides: (p, l), (p, l') and dense differ by %.2g, rows %.2g\n", s.cells,
           s.ghosts, s.sides, worst, residual);
    assert_true(worst < 1e-7 && residual < 1e-8 && s.sides > 10);
    for (int k = 0; k < 3; k++) mo_free(found[k]);
    mo_free(full), mo_free(b), mo_free(change);
    mo_csr_destroy(&A);
    mo_slip_destroy(&s), mo_sheet_destroy(&sheet);
}

// The largest change of open faces and sides, in the middle of the box.
static double change(const mo_slip *s, const flow *f)
{
    double worst = 0, edge = 0.25;
    for (int32_t i = 0; i < s->faces; i++) {
        const mo_slip_face *k = &s->face[i];
        if (k->kind > MO_SLIP_SIDE || k->x.x < edge || k->x.x > 1 - edge || k->x.y < edge || k->x.y > 1 - edge)
            continue;
        worst = fmax(worst, fabs(s->velocity[i] - mo_get(flow_at(f, k->x, k->cell), k->axis)));
    }
    return worst;
}

// Opposite flows on the two sides of a plate that divides the box, as in the paper's figure 5. The first solve changes
// them by a tenth. Faces between ghosts keep what it gave them, as they do from step to step, and then it is less.
static void opposite_flows(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double angle = k < 2 ? M_PI / 16 : 0.3;
        const int32_t n = k & 1 ? 32 : 16;
        mo_sheet sheet;
        mo_slip s;
        plate(1.6, 1, angle, mo_v3(0.503, 0.507, 0.1), &sheet);
        make(n, 3, &sheet, true, &s);
        flow f = {.velocity = {cos(angle), sin(angle), 0},
                  .centre = {0.503, 0.507, 0.1},
                  .normal = {-sin(angle), cos(angle), 0}};
        mo_slip_start(&s, flow_at, &f, false);
        mo_solve_info literal = solve(&s, false), plain = {0};
        double first = change(&s, &f);
        for (int i = 0; i < 40; i++) {
            mo_slip_start(&s, flow_at, &f, true);
            plain = solve(&s, true);
        }
        printf(
            "opposite flows at %.4f rad, %d cells: change %.3f, %.4f after 40 solves; %d iterations for (p, l), %d for "
            "(p, l')\n",
            angle, n, first, change(&s, &f), literal.iterations, plain.iterations);
        assert_true(first < 0.15 && change(&s, &f) < 0.05);
        mo_slip_destroy(&s), mo_sheet_destroy(&sheet);
    }
}

// Nothing leaks: no row of p joins the two sides of a plate that divides the box.
static void sides_are_apart(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const double angles[3] = {0.1963, 0.6, 1.3};
        mo_sheet sheet;
        mo_slip s;
        mo_csr A, P;
        double *b;
        plate(1.8, 1.8, angles[k], mo_v3(0.503, 0.507, 0.2), &sheet);
        make(12, 5, &sheet, true, &s);
        assert_int_equal(mo_slip_system(&s, true, &A, &b, &err), MO_OK);
        assert_int_equal(mo_csr_block(&A, 0, s.cells, 0, s.cells, &P), MO_OK);
        int32_t *label = mo_alloc(sizeof(int32_t) * (size_t)s.cells);
        assert_int_equal(mo_csr_components(&P, label), 2);
        mo_free(label), mo_free(b);
        mo_csr_destroy(&A), mo_csr_destroy(&P);
        mo_slip_destroy(&s), mo_sheet_destroy(&sheet);
    }
}

// A plate across a channel pushes the fluid: what leaves the channel over what the plate sweeps. The area of the plate
// is that of the occluded faces along its normal, and their number is whole: the error is at most half a face of
// the 16.
static void piston(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        static const double angles[4] = {0, 0.1963, 0.3, 0.6};
        mo_sheet sheet;
        mo_slip s;
        plate(1.8, 1, 0.5 * M_PI + angles[k], mo_v3(0.503, 0.507, 0.1), &sheet);
        double(*push)[3] = mo_calloc(sizeof *push * (size_t)sheet.vertices), out = 0;
        for (int32_t v = 0; v < sheet.vertices; v++) push[v][0] = 1;
        mo_slip_def def = {
            .cells = {16, 16, 3}, .dx = 1.0 / 16, .sheet = &sheet, .sheet_velocity = (const double(*)[3])push};
        def.open[0] = def.open[1] = true;
        if (mo_slip_create(&def, &s, &err) != MO_OK) fail_msg("%s", err.text);
        flow rest = {.velocity = {0, 0, 0}};
        mo_slip_start(&s, flow_at, &rest, false);
        solve(&s, true);
        for (int32_t i = 0; i < s.faces; i++)
            if (s.face[i].kind == MO_SLIP_FACE && s.face[i].axis == 0 && s.face[i].x.x > 1 - 1e-9) out += s.velocity[i];
        printf("piston at %.2f rad: flux %.4f of what it sweeps\n", angles[k], out / (16 * 3));
        assert_true(fabs(out / (16 * 3) - 1) < 0.03);
        mo_free(push);
        mo_slip_destroy(&s), mo_sheet_destroy(&sheet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(opposite_flows),
        cmocka_unit_test(sides_are_apart),
        cmocka_unit_test(piston),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
