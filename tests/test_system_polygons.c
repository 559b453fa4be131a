// The coupling `polygons` in viscous liquid: rows of pressure and stress on the pieces of elastic surfaces (EM 8 to 11)
// against those on faces, against dense conditions of optimality, against the papers' route; momentum.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "soft_test.h"
#include "stress_test.h"
#include "system/form.h"
#include "system/solids.h"
#include <math.h>

static const double step = 0.01;

static mo_solver_def solver_of(mo_route route, double tolerance)
{
    mo_solver_def out = {.route = route, .tolerance = tolerance, .max_iterations = 20000, .rounds = 1};
    if (route == MO_ROUTE_PAPER) memcpy(out.method, "delassus", 9); // the same H
    return out;
}

typedef struct assembled {
    soft_case c;
    mo_liquid_system l;
} assembled;

static void assemble(assembled *a, soft_def d, bool polygons)
{
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
    d.polygons = polygons;
    soft_case_create(&a->c, &d);
    assert_int_equal(mo_case_stokes_assemble(&a->c.c, step, &solver, &a->l, NULL), MO_OK);
}

static void drop(assembled *a) { mo_liquid_destroy(&a->l), soft_case_destroy(&a->c); }

static soft_def box_of(int32_t cells, bool flat)
{
    return (soft_def){cells, flat, 50, 1e4, 0.3, 1.1, .polygons = false};
}

// ---- Rows ----

// A motion of all nodes: moving along an axis (0 to 2), or turning about one (3 to 5).
static void motion_of(const soft_case *c, int axis, double *out)
{
    const mo_elastic_body *b = &c->soft.body[0];
    mo_vec3 centre = mo_elastic_measure(b).centre, e = mo_v3(axis % 3 == 0, axis % 3 == 1, axis % 3 == 2);
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
        mo_vec3 arm = mo_sub(b->position[i / b->dimension], centre);
        out[i] = mo_get(axis < 3 ? e : mo_cross(e, arm), i % b->dimension);
    }
}

// What the rows of two couplings make of a motion: the root mean square of their difference by that of the first,
// over rows with nodes.
static double difference_of_rows(const assembled a[2], int32_t kind, int axis, int32_t *touching)
{
    const mo_block *p = a[0].l.system.block[kind], *q = a[1].l.system.block[kind];
    double *v = malloc(sizeof(double) * (size_t)a[0].l.system.nodes.count), apart = 0, size = 0;
    assert_int_equal(p->rows, q->rows);
    motion_of(&a[0].c, axis, v);
    for (int32_t i = 0; i < p->rows; i++) {
        double one = mo_csr_row_product(&p->on[MO_NODES], i, v), two = mo_csr_row_product(&q->on[MO_NODES], i, v);
        apart += (one - two) * (one - two), size += one * one;
        *touching += one != 0;
    }
    free(v);
    return sqrt(apart / size);
}

// Moving as a whole is exact; turning is not, and comes nearer with smaller cells.
static void rows_of_rigid_motions(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        double turn[2] = {0};
        for (int fine = 0; fine < 2; fine++) {
            assembled a[2];
            int32_t touching = 0;
            for (int k = 0; k < 2; k++) assemble(&a[k], box_of((flat ? 16 : 10) << fine, flat), k);
            for (int32_t kind = MO_BLOCK_PRESSURE; kind <= MO_BLOCK_STRESS; kind++) {
                for (int axis = 0; axis < 3 - flat; axis++)
                    assert_true(difference_of_rows(a, kind, axis, &touching) < 1e-12);
                turn[fine] = fmax(turn[fine], difference_of_rows(a, kind, 5, &touching));
            }
            assert_true(touching > 100);
            for (int k = 0; k < 2; k++) drop(&a[k]);
        }
        print_message("%dD, turning: rows differ from those of faces by %.3f, with half the cells' size %.3f\n",
                      3 - flat, turn[0], turn[1]);
        assert_true(turn[0] < 0.5 && turn[1] < 0.85 * turn[0]);
    }
}

// Where no piece of the surface is, rows are those of faces.
static void rows_without_pieces(void **state)
{
    (void)state;
    assembled a[2];
    int32_t same = 0, other = 0;
    for (int k = 0; k < 2; k++) assemble(&a[k], box_of(12, false), k);
    const mo_solid_set *set = &a[1].c.soft.solids;
    const mo_block *p = a[0].l.system.block[MO_BLOCK_STRESS], *q = a[1].l.system.block[MO_BLOCK_STRESS];
    const mo_csr *A = &p->on[MO_NODES], *B = &q->on[MO_NODES];
    for (int32_t i = 0; i < p->rows; i++) {
        int32_t kind = mo_stress_component(a[1].l.sample_at[i]), unknown;
        const mo_surface_piece *first;
        int sample = kind < MO_STRESS_YZ ? MO_SAMPLE_CELL : kind;
        if (set->pieces(set->user, 0, sample, q->coord[i], &first, &unknown)) {
            other++;
            continue;
        }
        assert_int_equal(mo_csr_end(A, i) - mo_csr_begin(A, i), mo_csr_end(B, i) - mo_csr_begin(B, i));
        for (int64_t k = 0; k < mo_csr_end(A, i) - mo_csr_begin(A, i); k++)
            assert_true(A->col[A->row[i] + k] == B->col[B->row[i] + k] &&
                        A->val[A->row[i] + k] == B->val[B->row[i] + k]);
        same += mo_csr_end(A, i) > mo_csr_begin(A, i);
    }
    assert_true(same > 20 && other > 100);
    for (int k = 0; k < 2; k++) drop(&a[k]);
}

// Liquid and body move together: no divergence and no strain, where no wall is near.
static void common_motion(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        assembled a;
        soft_def d = box_of(12, flat);
        const double v[3] = {0.5, -1, 0.25};
        d.drop = true;
        assemble(&a, d, true);
        mo_system *s = &a.l.system;
        for (int32_t f = 0; f < s->faces.count; f++) s->faces.velocity[f] = v[mo_face_axis(a.l.face_at[f])];
        for (int32_t i = 0; i < s->nodes.count; i++) s->nodes.velocity[i] = v[i % (3 - flat)];
        for (int32_t kind = MO_BLOCK_PRESSURE; kind <= MO_BLOCK_STRESS; kind++) {
            const mo_block *b = s->block[kind];
            double *r = malloc(sizeof(double) * (size_t)b->rows);
            mo_block_residual(s, b, r);
            assert_true(b->rows > 20 && mo_max_abs(b->rows, r) < 1e-11 * d.cells);
            free(r);
        }
        drop(&a);
    }
}

// ---- Solves ----

static void solve(assembled *a, mo_route route, double tolerance, mo_system_info *info)
{
    mo_solver_def solver = solver_of(route, tolerance);
    assert_int_equal(mo_system_solve(&a->l.system, &solver, info, NULL), MO_OK);
    assert_int_equal(info->solve.reason, MO_REASON_CONVERGED);
    assert_int_equal(info->fallbacks, 0);
    assert_string_equal(info->form, route == MO_ROUTE_FAST ? "viscous" : "dual");
}

// Without walls the liquid and the body keep their momentum together: rows push both with the same force.
static void momentum_stays(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        assembled a;
        mo_system_info info;
        soft_def d = box_of(12, flat);
        d.drop = true;
        assemble(&a, d, true);
        mo_system *s = &a.l.system;
        const mo_elastic_body *b = &a.c.soft.body[0];
        double volume = pow(1.0 / d.cells, 3), momentum[2][3] = {{0}}, size = 0;
        for (int end = 0; end < 2; end++) {
            for (int32_t f = 0; f < s->faces.count; f++)
                momentum[end][mo_face_axis(a.l.face_at[f])] += volume * s->faces.mass[f] * s->faces.velocity[f];
            for (int32_t i = 0; i < s->nodes.count; i++)
                momentum[end][i % b->dimension] += b->mass[i / b->dimension] * s->nodes.velocity[i];
            if (!end) solve(&a, MO_ROUTE_FAST, 1e-10, &info);
        }
        double *force = calloc((size_t)s->nodes.count, sizeof(double)), push[3] = {0};
        mo_nodes_attached_force(&s->nodes, step, force); // of liquid that moves with them
        for (int32_t i = 0; i < s->nodes.count; i++) push[i % b->dimension] += step * volume * force[i];
        for (int k = 0; k < 3; k++) size = fmax(size, fabs(momentum[0][k]));
        for (int k = 0; k < b->dimension; k++)
            assert_true(fabs(momentum[1][k] - momentum[0][k] - push[k]) < 1e-9 * size);
        free(force);
        drop(&a);
    }
}

// H (v - v^) + dt B^T x = 0, B v - S x = c, dense: all groups, pressure and stress.
static void dense_solution(const mo_system *s, double *x)
{
    const mo_block *block[2] = {s->block[MO_BLOCK_PRESSURE], s->block[MO_BLOCK_STRESS]};
    int32_t unknowns = s->faces.count + s->nodes.count, n = unknowns + block[0]->rows + block[1]->rows;
    size_t room = (size_t)n;
    double *A = calloc(room * room, sizeof(double)), *e = calloc(2 * room, sizeof(double)), *f = e + n;
    double *scale = malloc(sizeof(double) * room);
    for (int32_t g = 0, at = 0; g < MO_GROUPS; at += s->group[g++].count)
        for (int32_t i = 0; i < s->group[g].count; i++) {
            const double *v = s->group[g].velocity;
            memset(e, 0, sizeof(double) * 2 * room);
            e[i] = 1;
            mo_group_apply(&s->group[g], 1, e, f);
            x[at + i] = 0, scale[at + i] = 1 / fabs(f[i]);
            for (int32_t k = 0; k < s->group[g].count; k++)
                A[(size_t)(at + i) * room + (size_t)(at + k)] = f[k], x[at + i] += f[k] * v[k];
            for (int b = 0, row = unknowns; b < 2; row += block[b++]->rows)
                for (int32_t r = 0; r < block[b]->on[g].rows; r++) {
                    double value = mo_csr_entry(&block[b]->on[g], r, i);
                    A[(size_t)(row + r) * room + (size_t)(at + i)] = value;
                    A[(size_t)(at + i) * room + (size_t)(row + r)] = s->dt * value;
                }
        }
    for (int b = 0, row = unknowns; b < 2; row += block[b++]->rows)
        for (int32_t r = 0; r < block[b]->rows; r++) {
            x[row + r] = mo_block_goal(block[b], r), scale[row + r] = 1;
            for (int32_t k = 0; b && k < block[b]->rows; k++)
                A[(size_t)(row + r) * room + (size_t)(row + k)] = -mo_csr_entry(&block[b]->compliance, r, k);
        }
    dense_lu(n, A, x, scale);
    free(A), free(e), free(scale);
}

static void one_step_matches_dense(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 10 : 5, flat, k / 2 ? 1e3 : 5, k / 2 ? 1e6 : 1e4, 0.3, flat ? 1.1 : 1.5, .drop = true};
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-10);
        assembled a;
        mo_system_info info = {0};
        assemble(&a, d, true);
        mo_system *s = &a.l.system;
        int32_t faces = s->faces.count, n = faces + s->nodes.count;
        double *x = malloc(sizeof(double) * (size_t)(n + s->block[0]->rows + s->block[1]->rows)), most = 0, size = 0;
        assert_int_equal(s->nodes.kind->linearise(&s->nodes, s->nodes.velocity, x, NULL), MO_OK);
        memcpy(s->nodes.velocity, x, sizeof(double) * (size_t)s->nodes.count);
        dense_solution(s, x);
        assert_int_equal(mo_forms_solve(s, 1u << MO_BLOCK_PRESSURE | 1u << MO_BLOCK_STRESS, &solver, &info, NULL),
                         MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
        for (int32_t i = 0; i < n; i++) {
            double own = i < faces ? s->faces.velocity[i] : s->nodes.velocity[i - faces];
            most = fmax(most, fabs(own - x[i])), size = fmax(size, fabs(x[i]));
        }
        assert_true(most < 1e-7 * size);
        free(x);
        drop(&a);
    }
}

static void routes_agree(void **state)
{
    (void)state;
    static const double eta[] = {1, 1e2, 1e4};
    static const int32_t most[] = {20, 26, 40}; // as many as faces have, and a third
    for (int k = 0; k < 6; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 24 : 10, flat, eta[k / 2], k % 4 < 2 ? 1e4 : 1e6, 0.45, 1.2, .rigid = k < 3};
        assembled a[2];
        mo_system_info info[2];
        double apart = 0, size = 0;
        d.pinned = k % 3 == 2, d.second = k >= 3;
        for (int r = 0; r < 2; r++)
            assemble(&a[r], d, true), solve(&a[r], r ? MO_ROUTE_PAPER : MO_ROUTE_FAST, 1e-8, &info[r]);
        for (int32_t i = 0; i < a[0].l.system.nodes.count; i++) {
            double one = a[0].l.system.nodes.velocity[i], two = a[1].l.system.nodes.velocity[i];
            apart = fmax(apart, fabs(one - two)), size = fmax(size, fabs(two));
        }
        print_message("%dD, eta %g: %d iterations, routes differ by %.1e\n", 3 - flat, d.viscosity,
                      info[0].solve.iterations, apart / size);
        assert_true(apart < 1e-6 * size);
        if (info[0].solve.iterations > most[k / 2]) fail_msg("too many iterations");
        for (int r = 0; r < 2; r++) drop(&a[r]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_rigid_motions),  cmocka_unit_test(rows_without_pieces),
        cmocka_unit_test(common_motion),          cmocka_unit_test(momentum_stays),
        cmocka_unit_test(one_step_matches_dense), cmocka_unit_test(routes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
