// The law of contact, its linearisation, and Newton's method on it: against finite differences, MPRGP, and each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "qp/mprgp.h"
#include "solver_test.h"
#include "system/body_matrix.h"

// ---- Random bodies in a heap: contacts between neighbours in number and with the ground ----

static void random_row(mo_csr *R, int32_t row, int32_t a, int32_t b, uint32_t seed)
{
    int64_t k = R->row[row];
    for (int side = 0; side < 2; side++) {
        int32_t body = side ? b : a;
        for (int i = 0; body >= 0 && i < 6; i++) {
            double entry = random_number((uint32_t)i, seed); // rows of the two sides oppose each other
            R->col[k] = 6 * body + i;
            R->val[k++] = (side ? -1 : 1) * (i < 3 ? entry : 0.3 * random_number((uint32_t)(i + 6 * side), seed + 1));
        }
    }
    R->row[row + 1] = k;
}

static mo_block *new_block(int32_t rows, int32_t bodies)
{
    mo_block *b = mo_calloc(sizeof *b);
    size_t bytes = sizeof(double) * (size_t)rows;
    b->rows = rows;
    b->rhs = mo_calloc(bytes), b->x = mo_calloc(bytes), b->lower = mo_calloc(bytes), b->upper = mo_calloc(bytes);
    assert_int_equal(mo_csr_create(rows, 6 * bodies, 12 * (int64_t)rows, &b->rigid), MO_OK);
    return b;
}

// `copies` contacts of each pair, all but the same: more than the bodies' freedom. Bounds of friction as after a round.
static void add_heap(mo_system *s, int32_t copies, uint32_t seed)
{
    int32_t n = s->bodies * copies;
    mo_block *normal = s->block[MO_BLOCK_CONTACT] = new_block(n, s->bodies);
    mo_block *friction = s->block[MO_BLOCK_FRICTION] = new_block(2 * n, s->bodies);
    s->friction = mo_alloc(sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        int32_t b = i / copies, a = b - 1 - (int32_t)(3 * mo_unit(mo_hash((uint32_t)i, seed, 1)));
        uint32_t kind = seed + 100 * (uint32_t)b + (uint32_t)(i % copies / 4);
        if (a < 0) a = -1;
        random_row(&normal->rigid, i, a, b, kind);
        normal->rhs[i] = 0.1 * random_number((uint32_t)i, seed + 5);
        normal->upper[i] = INFINITY;
        normal->x[i] = mo_unit(mo_hash((uint32_t)i, seed, 2));
        s->friction[i] = 0.3;
        for (int k = 0; k < 2; k++) {
            random_row(&friction->rigid, 2 * i + k, a, b, kind + 10 * (uint32_t)(k + 1));
            friction->upper[2 * i + k] = 0.3 * normal->x[i], friction->lower[2 * i + k] = -0.3 * normal->x[i];
            friction->x[2 * i + k] = 0.2 * normal->x[i] * random_number((uint32_t)(2 * i + k), seed + 6);
        }
    }
}

// Masses over three decades; body 1 cannot turn about x and y, as in the plane.
static void add_bodies(mo_system *s, int32_t bodies, uint32_t seed)
{
    s->bodies = bodies;
    s->body = mo_calloc(sizeof(mo_body_mass) * (size_t)bodies);
    s->body_velocity = mo_calloc(sizeof(double) * 6 * (size_t)bodies);
    for (int32_t b = 0; b < bodies; b++) {
        double w = pow(10, 1.5 * random_number((uint32_t)b, seed));
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++)
                if (i / 3 == 1 && k / 3 == 1) s->body[b].inverse[i][k] = 0.3 * w;
            s->body[b].inverse[i][i] = i < 3 ? w : 2 * w;
            if (b == 1 && (i == 3 || i == 4))
                for (int k = 0; k < 6; k++) s->body[b].inverse[i][k] = s->body[b].inverse[k][i] = 0;
            s->body_velocity[6 * b + i] = random_number((uint32_t)(6 * b + i), seed + 9);
        }
    }
}

// ---- The law ----

// D is the derivative of the force, and the force that of a convex function: D is symmetric and positive.
static void slopes_are_derivatives(void **state)
{
    (void)state;
    for (int cone = 0; cone < 2; cone++) {
        mo_system s = {.dt = 0.01};
        add_bodies(&s, 3, 4);
        add_heap(&s, 3, 7);
        mo_contact_law l;
        uint32_t set = 1u << MO_BLOCK_CONTACT | 1u << MO_BLOCK_FRICTION;
        assert_int_equal(mo_contact_law_create(&s, set, cone, &l), MO_OK);
        double v[18], w[18], step = 1e-7;
        size_t n = (size_t)l.rows;
        double *x = malloc(sizeof(double) * 3 * n), *y = x + n, *Bv = y + n;
        int32_t sliding = 0, holding = 0;
        for (uint32_t trial = 0; trial < 20; trial++) {
            double scale = pow(10, -4 * mo_unit(mo_hash(trial, 3, 3)));
            for (int i = 0; i < 18; i++) {
                v[i] = scale * random_number((uint32_t)i, trial);
                w[i] = v[i] + step * scale * random_number((uint32_t)i, trial + 50);
            }
            mo_contact_law_linearise(&l, v);
            mo_contact_law_expect(&l, v, x);
            for (int32_t i = 0; i < l.rows; i++) assert_true(fabs(x[i] - l.x[i]) <= 1e-9 * (1 + fabs(x[i])));
            mo_csr_multiply(&l.B, w, Bv);
            mo_contact_law_force(&l, Bv, x);
            mo_contact_law_expect(&l, w, y);
            for (int32_t i = 0; i < l.rows; i++) {
                double reach = l.stiffness[i] * fabs(Bv[i] - mo_csr_row_product(&l.B, i, v)) + 1e-12;
                assert_true(fabs(x[i] - y[i]) <= 1e-4 * reach + 1e-11 * fabs(l.x[i]));
                sliding += l.cross[i] != 0, holding += l.slope[i] > 0;
                if (l.cross[i] != 0)
                    assert_true(l.slope[i] >= 0 && l.cross[i] == l.cross[i + ((i - l.contacts) % 2 ? -1 : 1)]);
            }
        }
        assert_true(holding > 0 && (!cone || sliding > 10));
        free(x);
        mo_contact_law_destroy(&l);
        mo_system_destroy(&s);
    }
}

// ---- The small problem ----

typedef struct dense {
    int32_t n;
    const double *A;
} dense;

static void dense_apply(void *context, const double *x, double *y)
{
    const dense *d = context;
    for (int32_t i = 0; i < d->n; i++) {
        y[i] = 0;
        for (int32_t j = 0; j < d->n; j++) y[i] += d->A[i * d->n + j] * x[j];
    }
}

static void dense_scale(void *context, const double *x, double *y)
{
    const dense *d = context;
    for (int32_t i = 0; i < d->n; i++) y[i] = x[i] / d->A[i * d->n + i];
}

// The same by MPRGP on the forces x: (1/k + B S^-1 B^T) x = B v0 - c + B S^-1 B^T x0 + a/k within bounds; then v. With
// redundant contacts forces are far less certain than velocities.
static void reference_motion(const mo_contact_law *l, const mo_csr *S, const double *v0, const double *x0, double *x,
                             double *v)
{
    int32_t n = l->rows;
    mo_contact_law none = {.bodies = l->bodies};
    mo_body_matrix inverse;
    assert_int_equal(mo_body_matrix_create(S, &none, &inverse), MO_OK);
    mo_body_matrix_factor(&inverse, S, &none);
    double *A = malloc(sizeof(double) * (size_t)(n * n + 9 * n)), *work = A + n * n, *b = work + MO_MPRGP_WORK * n;
    double *column = malloc(sizeof(double) * (size_t)S->rows);
    for (int32_t j = 0; j < n; j++) {
        memset(column, 0, sizeof(double) * (size_t)S->rows);
        for (int64_t k = l->B.row[j]; k < l->B.row[j + 1]; k++) column[l->B.col[k]] = l->B.val[k];
        mo_body_matrix_solve(&inverse, column);
        for (int32_t i = 0; i < n; i++) A[i * n + j] = mo_csr_row_product(&l->B, i, column);
    }
    for (int32_t i = 0; i < n; i++) {
        b[i] = mo_csr_row_product(&l->B, i, v0) - l->c[i] + l->anchor[i] / l->stiffness[i];
        for (int32_t j = 0; j < n; j++) b[i] += A[i * n + j] * x0[j];
        x[i] = 0;
    }
    for (int32_t i = 0; i < n; i++) A[i * n + i] += 1 / l->stiffness[i];
    dense d = {n, A};
    mo_operator op = {dense_apply, &d}, scale = {dense_scale, &d};
    mo_mprgp_options options = {.tolerance = 1e-7, .max_iterations = 400000};
    mo_mprgp_info info = mo_mprgp(n, &op, &scale, b, l->lower, l->upper, x, &options, work);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    memset(v, 0, sizeof(double) * (size_t)S->rows);
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = l->B.row[i]; k < l->B.row[i + 1]; k++) v[l->B.col[k]] -= l->B.val[k] * (x[i] - x0[i]);
    mo_body_matrix_solve(&inverse, v);
    for (int32_t i = 0; i < S->rows; i++) v[i] += v0[i];
    mo_body_matrix_destroy(&inverse);
    free(A), free(column);
}

static void predictions_match_mprgp(void **state)
{
    (void)state;
    static const struct {
        int32_t bodies, copies;
    } cases[] = {{1, 3}, {2, 8}, {6, 8}, {3, 40}, {12, 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int cone = 0; cone < 2; cone++) {
            mo_system s = {.dt = 0.01};
            add_bodies(&s, cases[k].bodies, (uint32_t)k);
            add_heap(&s, cases[k].copies, (uint32_t)k + 20);
            mo_contact_law l;
            mo_csr S;
            uint32_t set = 1u << MO_BLOCK_CONTACT | 1u << MO_BLOCK_FRICTION;
            assert_int_equal(mo_contact_law_create(&s, set, cone, &l), MO_OK);
            assert_int_equal(mo_body_inertia(&s, &S), MO_OK);
            size_t rows = (size_t)l.rows, dofs = (size_t)S.rows;
            double *v = malloc(sizeof(double) * (2 * rows + 2 * dofs)), *x0 = v + 2 * dofs, *x = x0 + rows;
            for (size_t i = 0; i < rows; i++) x0[i] = random_number((uint32_t)i, 77);
            int32_t steps;
            assert_int_equal(mo_contact_law_predict(&l, &S, s.body_velocity, x0, v, &steps), MO_OK);
            print_message("%d bodies, %d contacts each, %s: %d steps\n", cases[k].bodies, cases[k].copies,
                          cone ? "cone" : "pyramid", steps);
            assert_true(steps >= 0);
            // The balance of forces holds, by what the law gives there.
            double *f = v + dofs, largest = 0;
            memset(f, 0, sizeof(double) * dofs);
            for (int32_t i = 0; i < l.rows; i++)
                for (int64_t e = l.B.row[i]; e < l.B.row[i + 1]; e++)
                    f[l.B.col[e]] += l.B.val[e] * (l.x[i] - x0[i]), largest = fmax(largest, fabs(l.x[i]));
            for (int32_t i = 0; i < S.rows; i++) {
                bool moves = s.body[i / 6].inverse[i % 6][i % 6] > 0;
                for (int64_t e = S.row[i]; e < S.row[i + 1]; e++)
                    f[i] += S.val[e] * (v[S.col[e]] - s.body_velocity[S.col[e]]);
                assert_true(!moves || fabs(f[i]) <= 1e-8 * largest);
                assert_true(moves || v[i] == s.body_velocity[i]);
            }
            if (!cone) {
                double *w = f;
                reference_motion(&l, &S, s.body_velocity, x0, x, w);
                assert_true(largest_difference(S.rows, v, w) <= 1e-5 * mo_max_abs(S.rows, w));
            }
            free(v);
            mo_csr_destroy(&S);
            mo_contact_law_destroy(&l);
            mo_system_destroy(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(predictions_match_mprgp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
