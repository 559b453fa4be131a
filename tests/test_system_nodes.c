// Nodes beside a liquid and a rigid body: a chain of masses and springs, all in one solve, against a dense solve of the
// optimality conditions; and what every group must fulfil.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "system/nodes.h"
#include "system/solids.h"
#include "dense_test.h"
#include "system_test.h"
#include "ration.h"

enum { MASSES = 7, CONTACTS = 4 };

// H = M + dt^2 K of masses in a line, each with three components, joined by springs; the first cannot move.
static void chain(double dt, double mass, double stiffness, mo_group *out)
{
    mo_csr H;
    int64_t at = 0;
    assert_int_equal(mo_csr_create(3 * MASSES, 3 * MASSES, 9 * MASSES, &H), MO_OK);
    for (int32_t i = 0; i < 3 * MASSES; i++) {
        int32_t n = i / 3, ends = n == MASSES - 1 ? 1 : 2;
        double k = dt * dt * stiffness * (1 + i % 3);
        if (n > 1) H.col[at] = i - 3, H.val[at++] = -k;
        if (n > 0) H.col[at] = i, H.val[at++] = mass + ends * k;
        if (n > 0 && n < MASSES - 1) H.col[at] = i + 3, H.val[at++] = -k;
        H.row[i + 1] = at;
    }
    assert_int_equal(mo_nodes_create(&H, out, NULL), MO_OK);
    for (int32_t i = 3; i < out->count; i++) out->velocity[i] = random_number((uint32_t)i, 5);
}

static void one_body(double mass, mo_group *out)
{
    assert_int_equal(mo_bodies_create(1, out), MO_OK);
    for (int i = 0; i < 6; i++) {
        if (i == 4) continue; // cannot turn about y
        out->body[0].inverse[i][i] = (i < 3 ? 1 : 2) / mass;
        out->velocity[i] = random_number((uint32_t)i, 3);
    }
    out->body[0].inverse[3][5] = out->body[0].inverse[5][3] = 0.4 / mass;
    mo_body_mass_from_inverse(&out->body[0]);
}

// Rows of random entries on all unknowns of a group, where the chance says so.
static void couple(int32_t rows, const mo_group *g, double chance, double size, uint32_t seed, mo_csr *out)
{
    int64_t at = 0;
    assert_int_equal(mo_csr_create(rows, g->count, (int64_t)rows * g->count, out), MO_OK);
    for (int32_t i = 0; i < rows; i++) {
        bool touches = mo_unit(mo_hash((uint32_t)i, seed, 1)) < chance;
        for (int32_t k = 0; touches && k < g->count; k++)
            out->col[at] = k, out->val[at++] = size * random_number((uint32_t)(i * g->count + k), seed + 7);
        out->row[i + 1] = at;
    }
}

static void create_system(mo_system *s, uint32_t seed)
{
    domain D;
    domain_create(7, 2, std_liquid, no_solid, &D);
    *s = (mo_system){.dt = D.dt};
    take_faces(&D, &s->faces);
    mo_free(D.mass);
    for (int32_t f = 0; f < s->faces.count; f++) s->faces.velocity[f] = random_number((uint32_t)f, seed);
    one_body(700, &s->bodies);
    chain(s->dt, 300, 2e6, &s->nodes);
    mo_block *p = s->block[MO_BLOCK_PRESSURE] = mo_calloc(sizeof *p);
    mo_block *c = s->block[MO_BLOCK_CONTACT] = mo_calloc(sizeof *c);
    *p = (mo_block){.rows = D.rows, .on = {D.B}, .coord = D.coord};
    couple(p->rows, &s->bodies, 0.3, 1 / D.dx, seed + 1, &p->on[MO_BODIES]);
    couple(p->rows, &s->nodes, 0.3, 1 / D.dx, seed + 2, &p->on[MO_NODES]);
    *c = (mo_block){.rows = CONTACTS};
    couple(c->rows, &s->bodies, 0.7, 1 / D.dx, seed + 3, &c->on[MO_BODIES]);
    couple(c->rows, &s->nodes, 1, 1 / D.dx, seed + 4, &c->on[MO_NODES]);
    mo_block *both[2] = {p, c};
    for (int k = 0; k < 2; k++) {
        both[k]->x = mo_calloc(sizeof(double) * (size_t)both[k]->rows);
        both[k]->rhs = mo_calloc(sizeof(double) * (size_t)both[k]->rows);
        for (int32_t i = 0; i < both[k]->rows; i++) both[k]->rhs[i] = 0.3 * random_number((uint32_t)i, seed + 5);
    }
    c->lower = mo_calloc(sizeof(double) * CONTACTS), c->upper = mo_calloc(sizeof(double) * CONTACTS);
    c->softness = mo_calloc(sizeof(double) * CONTACTS); // firm, as the reference is
    for (int32_t i = 0; i < CONTACTS; i++) c->upper[i] = INFINITY;
}

// ---- Reference ----

// The dense conditions of optimality with the contacts of `active` as equations: H (v - v^) + dt B^T x = 0, B v = c.
static void dense_solve_active(const mo_system *s, uint32_t active, double *x)
{
    const mo_block *block[2] = {s->block[MO_BLOCK_PRESSURE], s->block[MO_BLOCK_CONTACT]};
    int32_t unknowns = s->faces.count + s->bodies.count + s->nodes.count, n = unknowns + block[0]->rows + CONTACTS;
    double *A = calloc((size_t)n * (size_t)n, sizeof(double)), *e = calloc(2 * (size_t)n, sizeof(double)), *f = e + n;
    for (int32_t g = 0, at = 0; g < MO_GROUPS; at += s->group[g++].count)
        for (int32_t i = 0; i < s->group[g].count; i++) {
            const mo_group *group = &s->group[g];
            memset(e, 0, sizeof(double) * 2 * (size_t)n);
            e[i] = 1;
            mo_group_apply(group, 1, e, f);
            bool held = f[i] == 0;
            for (int32_t k = 0; k < group->count; k++) A[(at + i) * n + at + k] = held ? k == i : f[k];
            x[at + i] = 0;
            for (int32_t k = 0; k < group->count; k++) x[at + i] += A[(at + i) * n + at + k] * group->velocity[k];
            for (int b = 0, row = unknowns; b < 2; row += block[b++]->rows) {
                const mo_csr *B = &block[b]->on[g];
                for (int32_t r = 0; r < B->rows; r++)
                    for (int64_t k = B->row[r]; k < B->row[r + 1]; k++) {
                        if (B->col[k] != i || (b && !(active >> r & 1))) continue;
                        A[(row + r) * n + at + i] += B->val[k];
                        if (!held) A[(at + i) * n + row + r] += s->dt * B->val[k];
                    }
            }
        }
    for (int b = 0, row = unknowns; b < 2; row += block[b++]->rows)
        for (int32_t r = 0; r < block[b]->rows; r++) {
            bool off = b && !(active >> r & 1);
            if (off) A[(row + r) * n + row + r] = 1;
            x[row + r] = off ? 0 : block[b]->rhs[r];
        }
    eliminate(n, A, x);
    free(A), free(e);
}

// Whether forces push, and rows that have none do not approach.
static bool admissible(const mo_system *s, const double *x)
{
    const mo_block *c = s->block[MO_BLOCK_CONTACT];
    int32_t unknowns = s->faces.count + s->bodies.count + s->nodes.count;
    double r[CONTACTS];
    const double *v[MO_GROUPS] = {x, x + s->faces.count, x + s->faces.count + s->bodies.count};
    mo_block_multiply(c, v, r);
    bool ok = true;
    for (int32_t i = 0; i < CONTACTS; i++) {
        double force = x[unknowns + s->block[MO_BLOCK_PRESSURE]->rows + i];
        ok &= force >= 0 && (force > 0 || r[i] - c->rhs[i] <= 0);
    }
    return ok;
}

static void chain_liquid_and_body_match_dense(void **state)
{
    (void)state;
    int32_t pushing = 0;
    for (uint32_t seed = 10; seed < 16; seed++) {
        mo_system s;
        create_system(&s, 100 * seed);
        int32_t unknowns = s.faces.count + s.bodies.count + s.nodes.count, p = s.block[MO_BLOCK_PRESSURE]->rows;
        double *x = calloc((size_t)(unknowns + p + CONTACTS), sizeof(double));
        int32_t found = 0;
        for (uint32_t active = 0; active < 1u << CONTACTS && !found; active++) {
            dense_solve_active(&s, active, x);
            found = admissible(&s, x);
            for (int32_t k = 0; found && k < CONTACTS; k++) pushing += active >> k & 1;
        }
        assert_true(found && p >= 15);
        static const mo_preconditioner all[] = {MO_PRECONDITIONER_SSOR, MO_PRECONDITIONER_IC0,
                                                MO_PRECONDITIONER_JACOBI};
        for (int k = 0; k < 4; k++) { // the last: route fast
            mo_system again;
            create_system(&again, 100 * seed);
            mo_solver_def solver = {.route = k < 3 ? MO_ROUTE_PAPER : MO_ROUTE_FAST,
                                    .preconditioner = all[k % 3],
                                    .tolerance = 1e-11,
                                    .max_iterations = 20000,
                                    .rounds = 1};
            mo_system_info info;
            assert_int_equal(mo_system_solve(&again, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            for (int32_t g = 0, at = 0; g < MO_GROUPS; at += again.group[g++].count)
                for (int32_t i = 0; i < again.group[g].count; i++)
                    assert_true(fabs(again.group[g].velocity[i] - x[at + i]) < 1e-7);
            double size = mo_max_abs(p + CONTACTS, x + unknowns);
            for (int32_t i = 0; i < p + CONTACTS; i++) {
                double own = i < p ? again.block[MO_BLOCK_PRESSURE]->x[i] : again.block[MO_BLOCK_CONTACT]->x[i - p];
                assert_true(fabs(own - x[unknowns + i]) < 1e-6 * size);
            }
            mo_system_destroy(&again);
        }
        mo_system_destroy(&s);
        free(x);
    }
    assert_true(pushing > 3 && pushing < 6 * CONTACTS - 3); // contacts of both kinds were met
}

// Contacts that touch nodes and a body, without liquid: the joint form, and the papers' dual form.
static void contacts_join_nodes_and_bodies(void **state)
{
    (void)state;
    int32_t pushing = 0;
    for (uint32_t seed = 10; seed < 16; seed++) {
        double v[2][64];
        for (int route = 0; route < 2; route++) {
            mo_system s;
            mo_system_info info;
            create_system(&s, 100 * seed);
            mo_block_destroy(s.block[MO_BLOCK_PRESSURE]);
            s.block[MO_BLOCK_PRESSURE] = NULL;
            mo_block *c = s.block[MO_BLOCK_CONTACT];
            for (int32_t i = 0; i < c->rows; i++) c->softness[i] = 1e-6;
            mo_solver_def solver = {.route = (mo_route)route, .tolerance = 1e-10, .max_iterations = 20000, .rounds = 1};
            assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_string_equal(info.form, route ? "dual" : "joint");
            assert_true(mo_solids_count(&s) <= 64 && info.fallbacks == 0);
            mo_solids_get(&s, v[route]);
            for (int32_t i = 0; i < c->rows; i++) pushing += c->x[i] > 0;
            if (route) assert_true(largest_difference(mo_solids_count(&s), v[0], v[1]) < 1e-8);
            mo_system_destroy(&s);
        }
    }
    assert_true(pushing > 6 && pushing < 12 * CONTACTS - 6);
}

// ---- Groups ----

// Rows of H are those that are applied; how a row yields is its product with the inverse.
static void check_rows(const mo_group *g, const double *H)
{
    if (!g->kind->row) return;
    double *f = calloc(2 * (size_t)g->count, sizeof(double)), *v = f + g->count, sum = 0, alone = 0;
    mo_csr B;
    couple(1, g, 1, 1, 3, &B);
    for (int32_t i = 0; i < g->count; i++) {
        int32_t col[64], n = g->kind->row(g, i, NULL, NULL);
        double val[64];
        assert_true(n <= 64 && g->kind->row(g, i, col, val) == n);
        memset(v, 0, sizeof(double) * (size_t)g->count);
        for (int32_t k = 0; k < n; k++) v[col[k]] = val[k];
        for (int32_t k = 0; k < g->count; k++) assert_true(fabs(v[k] - H[i * g->count + k]) <= 1e-12 * fabs(v[k]));
        f[i] = B.val[i];
    }
    memset(v, 0, sizeof(double) * (size_t)g->count);
    mo_group_apply_inverse(g, 1, f, v);
    for (int32_t i = 0; i < g->count; i++) sum += f[i] * v[i];
    double yield = mo_group_yield(g, &B, 0); // of nodes as if they moved alone
    for (int32_t i = 0; i < g->count; i++) alone += H[i * g->count + i] > 0 ? f[i] * f[i] / H[i * g->count + i] : 0;
    assert_true(fabs(yield - (strcmp(g->kind->name, "nodes") == 0 ? alone : sum)) <= 1e-12 * sum);
    mo_csr_destroy(&B);
    free(f);
}

// H is symmetric, the inverse is its inverse where something moves and 0 elsewhere, the diagonal is that of H.
static void check_group(const mo_group *g)
{
    double *e = calloc(3 * (size_t)g->count, sizeof(double)), *f = e + g->count, *v = f + g->count;
    double *H = calloc((size_t)g->count * (size_t)g->count, sizeof(double)), *d = calloc((size_t)g->count, 8);
    g->kind->diagonal(g, d);
    for (int32_t i = 0; i < g->count; i++) {
        memset(e, 0, sizeof(double) * 3 * (size_t)g->count);
        e[i] = 1;
        mo_group_apply(g, 2, e, f);
        for (int32_t k = 0; k < g->count; k++) H[i * g->count + k] = f[k] / 2;
        assert_true(fabs(H[i * g->count + i] - d[i]) <= 1e-12 * fabs(d[i]));
        mo_group_apply_inverse(g, 0.5, f, v);
        for (int32_t k = 0; k < g->count; k++) assert_true(fabs(v[k] - (d[i] > 0 && k == i)) < 1e-12);
        assert_true(fabs(mo_group_energy(g, e, f) - 0.5 * d[i]) <= 1e-12 * d[i]);
    }
    for (int32_t i = 0; i < g->count; i++)
        for (int32_t k = 0; k < i; k++)
            assert_true(fabs(H[i * g->count + k] - H[k * g->count + i]) <= 1e-13 * (d[i] + d[k]));
    check_rows(g, H);
    free(e), free(H), free(d);
}

static void groups_have_symmetric_masses(void **state)
{
    (void)state;
    mo_group g;
    assert_int_equal(mo_faces_create(9, &g), MO_OK);
    for (int32_t i = 0; i < 9; i++) g.mass[i] = 1 + i;
    check_group(&g);
    mo_group_destroy(&g);
    one_body(3, &g);
    check_group(&g);
    double added[6][6] = {{0}}, before = g.body[0].matrix[0][0], p[6] = {0};
    for (int i = 0; i < 6; i++) added[i][i] = 2, p[i] = 1;
    mo_body_add_mass(&g, 0, added, p);
    assert_true(g.body[0].matrix[0][0] == before + 2 && g.body[0].matrix[4][4] == 0); // what is held stays so
    check_group(&g);
    mo_group_destroy(&g);
    chain(0.01, 3, 100, &g);
    check_group(&g);
    mo_group_destroy(&g);
    mo_group_destroy(&g); // absent
}

static mo_status try_nodes(int64_t fail_at)
{
    ration r = {0};
    mo_csr H;
    mo_group g;
    mo_set_allocator(rationed, &r);
    assert_int_equal(mo_csr_create(2, 2, 2, &H), MO_OK);
    for (int32_t i = 0; i < 2; i++) H.col[i] = i, H.val[i] = 1, H.row[i + 1] = i + 1;
    r.calls = 0, r.fail_at = fail_at + 1;
    mo_status status = mo_nodes_create(&H, &g, NULL);
    r.fail_at = 0;
    if (status == MO_OK) mo_group_destroy(&g);
    mo_set_allocator(NULL, NULL);
    return status;
}

// H is taken over, also on failure.
static void lack_of_memory(void **state)
{
    (void)state;
    int64_t before = (int64_t)mo_memory_in_use(), k = 0;
    for (mo_status status = MO_ERROR_MEMORY; status != MO_OK; k++) {
        status = try_nodes(k);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), before);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_symmetric_masses),
        cmocka_unit_test(chain_liquid_and_body_match_dense),
        cmocka_unit_test(contacts_join_nodes_and_bodies),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
