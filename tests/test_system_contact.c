// The law of contact, its linearisation, and Newton's method on it: against finite differences, MPRGP, and each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "system/clusters.h"
#include "system/solids.h"
#include "system_test.h"
#include "ration.h"

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
    assert_int_equal(mo_csr_create(rows, 6 * bodies, 12 * (int64_t)rows, &b->on[MO_BODIES]), MO_OK);
    return b;
}

// `copies` contacts of each pair, all but the same: more than the bodies' freedom. Bounds of friction as after a round.
static void add_heap(mo_system *s, int32_t copies, uint32_t seed)
{
    int32_t n = mo_body_count(&s->bodies) * copies;
    mo_block *normal = s->block[MO_BLOCK_CONTACT] = new_block(n, mo_body_count(&s->bodies));
    mo_block *friction = s->block[MO_BLOCK_FRICTION] = new_block(2 * n, mo_body_count(&s->bodies));
    s->friction = mo_alloc(sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        int32_t b = i / copies, a = b - 1 - (int32_t)(3 * mo_unit(mo_hash((uint32_t)i, seed, 1)));
        uint32_t kind = seed + 100 * (uint32_t)b + (uint32_t)(i % copies / 4);
        if (a < 0) a = -1;
        random_row(&normal->on[MO_BODIES], i, a, b, kind);
        normal->rhs[i] = 0.1 * random_number((uint32_t)i, seed + 5);
        normal->upper[i] = INFINITY;
        normal->x[i] = mo_unit(mo_hash((uint32_t)i, seed, 2));
        s->friction[i] = 0.3;
        for (int k = 0; k < 2; k++) {
            random_row(&friction->on[MO_BODIES], 2 * i + k, a, b, kind + 10 * (uint32_t)(k + 1));
            friction->upper[2 * i + k] = 0.3 * normal->x[i], friction->lower[2 * i + k] = -0.3 * normal->x[i];
            friction->x[2 * i + k] = 0.2 * normal->x[i] * random_number((uint32_t)(2 * i + k), seed + 6);
        }
    }
}

// Masses over three decades; body 1 cannot turn about x and y, as in the plane.
static void add_bodies(mo_system *s, int32_t bodies, uint32_t seed)
{
    assert_int_equal(mo_bodies_create(bodies, &s->bodies), MO_OK);
    for (int32_t b = 0; b < bodies; b++) {
        double w = pow(10, 1.5 * random_number((uint32_t)b, seed));
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++) {
                bool held = b == 1 && (i == 3 || i == 4 || k == 3 || k == 4);
                s->bodies.body[b].inverse[i][k] = held             ? 0
                                                  : i == k         ? (i < 3 ? w : 2 * w)
                                                  : i > 2 && k > 2 ? 0.3 * w
                                                                   : 0;
            }
            s->bodies.velocity[6 * b + i] = random_number((uint32_t)(6 * b + i), seed + 9);
        }
        mo_body_mass_from_inverse(&s->bodies.body[b]);
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
    mo_contact_law none = {.unknowns = l->unknowns};
    mo_clusters inverse;
    assert_int_equal(mo_clusters_create(S, &none, &inverse), MO_OK);
    mo_clusters_factor(&inverse, S, &none);
    double *A = malloc(sizeof(double) * (size_t)(n * n + 9 * n)), *work = A + n * n, *b = work + MO_MPRGP_WORK * n;
    double *column = malloc(sizeof(double) * (size_t)S->rows);
    for (int32_t j = 0; j < n; j++) {
        memset(column, 0, sizeof(double) * (size_t)S->rows);
        for (int64_t k = l->B.row[j]; k < l->B.row[j + 1]; k++) column[l->B.col[k]] = l->B.val[k];
        mo_clusters_solve(&inverse, column);
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
    mo_mprgp_options options = {.tolerance = 1e-8, .max_iterations = 400000};
    mo_mprgp_info info = mo_mprgp(n, &op, &scale, b, l->lower, l->upper, x, &options, work);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    memset(v, 0, sizeof(double) * (size_t)S->rows);
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = l->B.row[i]; k < l->B.row[i + 1]; k++) v[l->B.col[k]] -= l->B.val[k] * (x[i] - x0[i]);
    mo_clusters_solve(&inverse, v);
    for (int32_t i = 0; i < S->rows; i++) v[i] += v0[i];
    mo_clusters_destroy(&inverse);
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
            assert_int_equal(mo_solids_inertia(&s, &S), MO_OK);
            size_t rows = (size_t)l.rows, dofs = (size_t)S.rows;
            double *v = malloc(sizeof(double) * (2 * rows + 2 * dofs)), *x0 = v + 2 * dofs, *x = x0 + rows;
            for (size_t i = 0; i < rows; i++) x0[i] = random_number((uint32_t)i, 77);
            int32_t steps;
            assert_int_equal(mo_contact_law_predict(&l, &S, s.bodies.velocity, x0, v, &steps), MO_OK);
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
                bool moves = s.bodies.body[i / 6].inverse[i % 6][i % 6] > 0;
                for (int64_t e = S.row[i]; e < S.row[i + 1]; e++)
                    f[i] += S.val[e] * (v[S.col[e]] - s.bodies.velocity[S.col[e]]);
                assert_true(!moves || fabs(f[i]) <= 1e-8 * largest);
                assert_true(moves || v[i] == s.bodies.velocity[i]);
            }
            if (!cone && cases[k].copies < 40) { // MPRGP stalls at more: there the balance of forces must do
                double *w = f;
                reference_motion(&l, &S, s.bodies.velocity, x0, x, w);
                assert_true(largest_difference(S.rows, v, w) <= 1e-6 * mo_max_abs(S.rows, w));
            }
            free(v);
            mo_csr_destroy(&S);
            mo_contact_law_destroy(&l);
            mo_system_destroy(&s);
        }
}

// ---- Solves ----

enum { LIQUID = 1, HEAP = 2 };

// A dam with bodies in it that push their neighbourhood, in contact with each other and the ground.
static void create_system(mo_system *s, int32_t n, int32_t bodies, int32_t copies, int32_t what, double weight)
{
    *s = (mo_system){.dt = 0.01};
    add_bodies(s, bodies, 11);
    if (what & HEAP) add_heap(s, copies, 31);
    if (!(what & LIQUID)) { return; }
    domain D;
    domain_create(n, 3, std_liquid, no_solid, &D);
    s->dt = D.dt;
    take_faces(&D, &s->faces);
    mo_free(D.mass);
    for (int32_t f = 0; f < D.faces; f++) s->faces.velocity[f] = random_number((uint32_t)f, 11);
    mo_block *b = s->block[MO_BLOCK_PRESSURE] = mo_calloc(sizeof(mo_block));
    *b = (mo_block){.rows = D.rows, .on = {D.B}, .coord = D.coord};
    b->x = mo_calloc(sizeof(double) * (size_t)D.rows), b->rhs = mo_calloc(sizeof(double) * (size_t)D.rows);
    assert_int_equal(mo_csr_create(D.rows, 6 * bodies, 6 * (int64_t)bodies * D.rows, &b->on[MO_BODIES]), MO_OK);
    int64_t at = 0, touched = 0;
    for (int32_t i = 0; i < D.rows; i++) {
        for (int32_t q = 0; q < bodies; q++) {
            double way[3], far = 0, centre[3] = {0.3 + 0.15 * (q % 4), 0.15 + 0.1 * (q % 2), 0.5};
            for (int k = 0; k < 3; k++) way[k] = (D.coord[i][k] + 0.5) * D.dx - centre[k], far += way[k] * way[k];
            far = sqrt(far);
            if (fabs(far - 0.1) > D.dx) continue;
            for (int k = 0; k < 6; k++, at++) {
                b->on[MO_BODIES].col[at] = 6 * q + k;
                b->on[MO_BODIES].val[at] =
                    0.3 / D.dx * (k < 3 ? way[k] / far : 0.05 * random_number((uint32_t)(6 * i + k), 8));
            }
            touched++;
        }
        b->on[MO_BODIES].row[i + 1] = at;
    }
    assert_true(touched > 10);
    // The masses are those of balls `weight` times as heavy as the liquid.
    for (int32_t q = 0; q < bodies; q++) {
        for (int k = 0; k < 36; k++)
            s->bodies.body[q].inverse[k / 6][k % 6] *= D.dx * D.dx * D.dx / 0.004 / 1000 / weight;
        mo_body_mass_from_inverse(&s->bodies.body[q]);
    }
}

static mo_solver_def solver_of(mo_route route, double tolerance)
{
    return (mo_solver_def){.route = route, .tolerance = tolerance, .max_iterations = 100000, .rounds = 3};
}

static double *copied(int32_t n, const double *x)
{
    double *copy = malloc(sizeof(double) * (size_t)(n + 1));
    if (n) memcpy(copy, x, sizeof(double) * (size_t)n);
    return copy;
}

// Both routes find the same motion; what the multipliers push is what moves; forces stay within their bounds.
static void routes_agree(void **state)
{
    (void)state;
    static const struct {
        int32_t n, bodies, copies, what;
        double weight;
        mo_friction friction;
    } cases[] = {{10, 3, 4, LIQUID | HEAP, 1, MO_FRICTION_JOINT},
                 {12, 4, 8, LIQUID | HEAP, 0.1, MO_FRICTION_JOINT},
                 {12, 1, 3, LIQUID | HEAP, 0.01, MO_FRICTION_JOINT},
                 {14, 2, 4, LIQUID, 0.05, MO_FRICTION_JOINT},
                 {10, 3, 4, LIQUID | HEAP, 2, MO_FRICTION_STAGGERED},
                 {0, 8, 6, HEAP, 1, MO_FRICTION_JOINT},
                 {0, 3, 6, HEAP, 1, MO_FRICTION_STAGGERED}};
    const double tolerance = 1e-8;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double *u[2], *v[2];
        for (int route = 0; route < 2; route++) {
            mo_system s;
            mo_system_info info;
            create_system(&s, cases[c].n, cases[c].bodies, cases[c].copies, cases[c].what, cases[c].weight);
            double *before = copied(s.faces.count, s.faces.velocity),
                   *resting = copied(s.bodies.count, s.bodies.velocity);
            mo_solver_def solver = solver_of((mo_route)route, tolerance);
            solver.friction = cases[c].friction;
            assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
            print_message("case %zu, %s: %d iterations\n", c, route ? "paper" : "fast", info.solve.iterations);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_true(info.solve.residual <= tolerance && info.fallbacks == 0 &&
                        info.by_paper == 0 + (route ? info.by_paper : 0));
            u[route] = copied(s.faces.count, s.faces.velocity), v[route] = copied(s.bodies.count, s.bodies.velocity);
            double *force = calloc((size_t)(s.faces.count + s.bodies.count), sizeof(double)),
                   *turn = force + s.faces.count;
            for (int k = 0; k < MO_BLOCK_KINDS; k++) {
                const mo_block *b = s.block[k];
                for (int32_t i = 0; b && i < b->rows; i++) {
                    if (b->lower) assert_true(b->x[i] >= b->lower[i] && b->x[i] <= b->upper[i]);
                    for (int64_t e = b->on[MO_FACES].rows ? b->on[MO_FACES].row[i] : 0;
                         b->on[MO_FACES].rows && e < b->on[MO_FACES].row[i + 1]; e++)
                        force[b->on[MO_FACES].col[e]] += b->on[MO_FACES].val[e] * b->x[i];
                    for (int64_t e = b->on[MO_BODIES].row[i]; e < b->on[MO_BODIES].row[i + 1]; e++)
                        turn[b->on[MO_BODIES].col[e]] += b->on[MO_BODIES].val[e] * b->x[i];
                }
            }
            for (int32_t f = 0; f < s.faces.count; f++)
                assert_true(fabs(s.faces.velocity[f] - before[f] + s.dt / s.faces.mass[f] * force[f]) < 1e-9);
            for (int32_t i = 0; i < s.bodies.count; i++) {
                double change = 0;
                for (int k = 0; k < 6; k++)
                    change -= s.dt * s.bodies.body[i / 6].inverse[i % 6][k] * turn[i / 6 * 6 + k];
                assert_true(fabs(s.bodies.velocity[i] - resting[i] - change) < 1e-9 * (1 + fabs(change)));
            }
            free(before), free(resting), free(force);
            if (route) {
                double size = fmax(mo_max_abs(s.bodies.count, v[0]), mo_max_abs(s.faces.count, u[0]));
                double difference =
                    fmax(largest_difference(s.bodies.count, v[0], v[1]), largest_difference(s.faces.count, u[0], u[1]));
                assert_true(difference <= 10 * tolerance * size);
            }
            mo_system_destroy(&s);
        }
        for (int route = 0; route < 2; route++) free(u[route]), free(v[route]);
    }
}

// Coulomb's law, stated directly: a friction force within its bound goes with no slip but that of the softening; one at
// its bound points where the contact slides.
static void cones_obey_coulomb(void **state)
{
    (void)state;
    for (int liquid = 0; liquid < 2; liquid++) {
        mo_system s;
        mo_system_info info;
        create_system(&s, 10, 5, 5, HEAP | (liquid ? LIQUID : 0), 1);
        mo_block *z = s.block[MO_BLOCK_FRICTION];
        mo_contact_law l; // for stiffness and anchors of the one round
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-9);
        solver.cone = true, solver.rounds = 1;
        for (int32_t i = 0; i < z->rows / 2; i += 2) s.friction[i] = liquid ? 1e7 : 1e4; // bounds of the round
        double *anchor = copied(z->rows, z->x);
        assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
        assert_int_equal(info.fallbacks, 0);
        uint32_t set = 1u << MO_BLOCK_CONTACT | 1u << MO_BLOCK_FRICTION;
        assert_int_equal(mo_contact_law_create(&s, set, true, &l), MO_OK);
        double *slip = malloc(sizeof(double) * (size_t)z->rows), size = 0;
        mo_block_residual(&s, z, slip);
        for (int32_t i = 0; i < z->rows; i++) size = fmax(size, fabs(slip[i]));
        int32_t held = 0, sliding = 0;
        for (int32_t i = 0; i < z->rows; i += 2) {
            double force = hypot(z->x[i], z->x[i + 1]), w[2];
            for (int k = 0; k < 2; k++)
                w[k] = slip[i + k] - (z->x[i + k] - anchor[i + k]) / l.stiffness[l.contacts + i + k];
            assert_true(force <= (1 + 1e-12) * z->upper[i]);
            if (force < (1 - 1e-9) * z->upper[i]) {
                assert_true(hypot(w[0], w[1]) <= 1e-6 * size);
                held++;
            } else if (z->upper[i] > 0) {
                double across = w[0] * z->x[i + 1] - w[1] * z->x[i], along = w[0] * z->x[i] + w[1] * z->x[i + 1];
                assert_true(fabs(across) <= 1e-6 * size * force && along >= -1e-6 * size * force);
                sliding++;
            }
        }
        print_message("%d hold, %d slide\n", held, sliding);
        assert_true(held > 0 && sliding > 0);
        free(slip), free(anchor);
        mo_contact_law_destroy(&l);
        mo_system_destroy(&s);
    }
}

// A block pressed down slides by Coulomb's law whatever the tangents; the pyramid is too rough between them.
static void cones_know_no_direction(void **state)
{
    (void)state;
    const double dt = 0.01, gravity = 9.81, mu = 0.3, mass = 2, angle = 45 * M_PI / 180;
    for (int cone = 0; cone < 2; cone++) {
        mo_system s = {.dt = dt};
        assert_int_equal(mo_bodies_create(1, &s.bodies), MO_OK);
        for (int k = 0; k < 3; k++) s.bodies.body[0].inverse[k][k] = 1 / mass;
        mo_body_mass_from_inverse(&s.bodies.body[0]);
        mo_block *n = s.block[MO_BLOCK_CONTACT] = new_block(1, 1), *z = s.block[MO_BLOCK_FRICTION] = new_block(2, 1);
        s.friction = mo_alloc(sizeof(double));
        s.friction[0] = mu, n->upper[0] = INFINITY;
        for (int k = 0; k < 6; k++) {
            for (int row = 0; row < 2; row++)
                z->on[MO_BODIES].col[6 * row + k] = k, z->on[MO_BODIES].val[6 * row + k] = 0;
            n->on[MO_BODIES].col[k] = k, n->on[MO_BODIES].val[k] = k == 1 ? -1 : 0;
        }
        n->on[MO_BODIES].row[1] = z->on[MO_BODIES].row[1] = 6, z->on[MO_BODIES].row[2] = 12;
        z->on[MO_BODIES].val[0] = -cos(angle), z->on[MO_BODIES].val[2] = -sin(angle);
        z->on[MO_BODIES].val[6] = sin(angle), z->on[MO_BODIES].val[8] = -cos(angle);
        s.bodies.velocity[0] = 1, s.bodies.velocity[1] = -gravity * dt;
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-9);
        mo_system_info info;
        solver.cone = cone, solver.rounds = 20;
        assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
        double slower = 1 - s.bodies.velocity[0], expected = mu * gravity * dt;
        assert_true(fabs(s.bodies.velocity[2]) < 1e-6);
        assert_true(fabs(slower / expected - (cone ? 1 : sqrt(2))) < 1e-3);
        mo_system_destroy(&s);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    double *found[2];
    int32_t n = 0;
    for (int k = 0; k < 2; k++) {
        mo_system s;
        mo_system_info info;
        mo_use_threads(k ? 3 : 1);
        create_system(&s, 32, 3, 6, LIQUID | HEAP, 0.02);
        assert_true(s.block[MO_BLOCK_PRESSURE]->rows > 4096);
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
        solver.rounds = 4; // enough for columns
        assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
        assert_int_equal(info.fallbacks, 0);
        n = s.faces.count;
        found[k] = copied(n, s.faces.velocity);
        mo_system_destroy(&s);
    }
    mo_use_threads(0);
    assert_memory_equal(found[0], found[1], sizeof(double) * (size_t)n);
    free(found[0]), free(found[1]);
}

// Sets in turn until nothing changes fail as one set does.
static void memory_fails(int what, const char *scheme)
{
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        mo_system s;
        mo_system_info info;
        mo_error err;
        create_system(&s, 7, 1, 3, what, 0.01);
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
        snprintf(solver.scheme, sizeof solver.scheme, "%s", scheme);
        int64_t used = mo_memory_in_use();
        ration r = {.fail_at = at + 1};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_system_solve(&s, &solver, &info, &err);
        mo_set_allocator(NULL, NULL);
        done = r.calls <= at;
        assert_int_equal(status, done ? MO_OK : MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), used);
        mo_system_destroy(&s);
    }
}

static void failing_memory_is_told(void **state)
{
    (void)state;
    for (int what = HEAP; what <= (LIQUID | HEAP); what++) memory_fails(what, "");
    memory_fails(LIQUID | HEAP, "PC-iterative");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(predictions_match_mprgp),
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(cones_obey_coulomb),
        cmocka_unit_test(cones_know_no_direction),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(failing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
