// Contacts of elastic bodies in the system: rows against differences of gaps, common motion, both routes, bodies that
// come to rest.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "elastic_world.h"
#include "system/body_rows.h"

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static double uniform(uint32_t a, uint32_t b) { return 2 * mo_unit(mo_hash(a, b, 5)) - 1; }

// Two blocks, a rigid box and a ball on the upper one, a floor; all a little bent.
static dry_world *pile(bool flat)
{
    dry_world *w = dry_world_create(flat, 0.1, 0.005);
    mo_elastic_body *a = world_block(w, mo_v3(1, 0.3, 0.9), pose_at(0, 0.15, 0), flat ? 0.1 : 0.16, 2e4, 0.4, 500);
    mo_elastic_body *b =
        world_block(w, mo_v3(0.8, 0.3, 0.7), pose_at(0.03, 0.453, 0.02), flat ? 0.13 : 0.18, 1e4, 0.45, 300);
    world_shape(w, mo_shape_box(mo_v3(0.2, 0.1, 0.25)), pose_at(-0.15, 0.655, 0), 2000);
    world_shape(w, mo_shape_sphere(0.12), pose_at(0.21, 0.725, flat ? 0 : 0.06), 800);
    world_shape(w, mo_shape_plane(mo_v3(0, 1, 0), 0), pose_at(0, 0, 0), 0);
    mo_elastic_body *both[2] = {a, b};
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < both[k]->vertices; i++) {
            mo_vec3 *x = &both[k]->position[i];
            *x = mo_mad(*x, 0.002,
                        mo_v3(uniform((uint32_t)i, 1), uniform((uint32_t)i, 2), flat ? 0 : uniform((uint32_t)i, 3)));
        }
    w->reach = 0.02;
    return w;
}

// Velocities of all unknowns from a motion of points, and the product of a block's row with them.
static void set_motion(const dry_world *w, mo_system *s, mo_vec3 v, mo_vec3 turn)
{
    int32_t d = w->flat ? 2 : 3;
    for (int32_t i = 0; i < w->elastics; i++)
        for (int32_t k = 0; k < d * w->body[i].vertices; k++)
            s->nodes.velocity[w->first_node[i] + k] =
                mo_get(mo_add(v, mo_cross(turn, w->body[i].position[k / d])), k % d);
    for (int32_t i = w->elastics; i < w->count; i++) {
        if (w->body_of[i] < 0) continue;
        double *to = mo_body_velocity(&s->bodies, w->body_of[i]);
        mo_vec3 u = mo_add(v, mo_cross(turn, w->rigid[i].pose.position));
        for (int a = 0; a < 3; a++) to[a] = mo_get(u, a), to[3 + a] = mo_get(turn, a);
    }
}

static double speed(const mo_system *s, const mo_block *b, int32_t row, double dx)
{
    double sum = 0;
    for (int32_t g = MO_FACES + 1; g < MO_GROUPS; g++)
        if (b->on[g].rows) sum -= dx * mo_csr_row_product(&b->on[g], row, s->group[g].velocity);
    return sum;
}

// Bodies that move and turn together do not meet: rows of contact between them are 0, to rounding.
static void common_motion(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        dry_world *w = pile(flat);
        mo_system s;
        mo_elastic_law law;
        world_find(w);
        world_assemble(w, &law, &s);
        set_motion(w, &s, mo_v3(1, 2, flat ? 0 : 3), flat ? mo_v3(0, 0, 2) : mo_v3(0.5, -1, 2));
        int32_t kinds[2] = {0, 0};
        for (int32_t i = 0; i < w->contacts.count; i++) {
            const mo_contact *c = &w->contacts.contact[i];
            if (c->b == 4) continue; // the floor stays
            near(speed(&s, s.block[MO_BLOCK_CONTACT], i, w->dx), 0, 1e-9);
            kinds[c->on[0].count && c->on[1].count]++;
        }
        assert_true(kinds[0] >= (flat ? 3 : 5) && kinds[1] >= (flat ? 8 : 40));
        mo_system_destroy(&s), dry_world_destroy(w);
    }
}

// J v is how the gap changes, for any motion of vertices and bodies.
static void rows_are_changes_of_gaps(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        dry_world *w = pile(flat);
        mo_system s;
        mo_elastic_law law;
        world_find(w);
        world_assemble(w, &law, &s);
        int32_t n = w->contacts.count, compared = 0;
        double *rate = malloc(sizeof(double) * (size_t)n), *gap = malloc(sizeof(double) * (size_t)n), h = 1e-6;
        uint32_t *feature = malloc(sizeof(uint32_t) * (size_t)n);
        for (int32_t i = 0; i < s.nodes.count; i++) s.nodes.velocity[i] = uniform((uint32_t)i, 11);
        for (int32_t i = 0; i < s.bodies.count; i++) s.bodies.velocity[i] = uniform((uint32_t)i, 12);
        for (int32_t b = 0; flat && b < w->rigids; b++)
            for (int k = 2; k < 5; k++) mo_body_velocity(&s.bodies, b)[k] = 0;
        for (int32_t i = 0; i < n; i++) {
            rate[i] = speed(&s, s.block[MO_BLOCK_CONTACT], i, w->dx);
            gap[i] = w->contacts.contact[i].gap, feature[i] = w->contacts.contact[i].feature;
        }
        w->dt = h;
        world_move(w, &s);
        world_find(w);
        for (int32_t i = 0, k = 0; i < w->contacts.count && k < n; i++) {
            const mo_contact *c = &w->contacts.contact[i];
            while (k < n && feature[k] != c->feature) k++;
            if (k == n) break;
            near((c->gap - gap[k]) / h, rate[k], 2e-4);
            compared++, k++;
        }
        assert_true(compared > 0.9 * n);
        free(rate), free(gap), free(feature);
        mo_system_destroy(&s), dry_world_destroy(w);
    }
}

// Among the rows of a face the preconditioner of rows on bodies is the inverse of D + dt R M^-1 R^T.
static void rows_on_bodies_are_solved_exactly(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        dry_world *w = pile(flat);
        mo_system s;
        mo_elastic_law law;
        mo_body_rows rows;
        world_find(w);
        world_assemble(w, &law, &s);
        mo_block *block[2] = {s.block[MO_BLOCK_CONTACT], s.block[MO_BLOCK_FRICTION]};
        int32_t n = block[0]->rows, all = 3 * n, first[2] = {0, n}, bodies = s.bodies.count, checked = 0;
        assert_int_equal(mo_body_rows_create(&s, 2, block, first, &rows), MO_OK);
        double *r = calloc(3 * (size_t)all, sizeof(double)), *z = r + all, *inverse = z + all;
        double *force = calloc(2 * (size_t)bodies, sizeof(double)), *v = force + bodies;
        for (int32_t i = 0; i < all; i++) {
            inverse[i] = 1 / (0.5 + 0.4 * uniform((uint32_t)i, 21));
            r[i] = i % 5 == 0 ? 0 : uniform((uint32_t)i, 22);
        }
        mo_body_rows_apply(&rows, inverse, r, z);
        for (int32_t i = 0; i < all; i++) { // D z + dt R M^-1 R^T z = r in the face
            if (!mo_body_rows_has(&rows, i) || r[i] == 0) z[i] = 0;
            const mo_csr *R = &block[i >= n]->on[MO_BODIES];
            for (int64_t e = R->row[i < n ? i : i - n]; e < R->row[(i < n ? i : i - n) + 1]; e++)
                force[R->col[e]] += R->val[e] * z[i];
        }
        mo_group_apply_inverse(&s.bodies, s.dt, force, v);
        for (int32_t i = 0; i < all; i++) {
            if (!mo_body_rows_has(&rows, i) || r[i] == 0) continue;
            near(z[i] / inverse[i] + mo_csr_row_product(&block[i >= n]->on[MO_BODIES], i < n ? i : i - n, v), r[i],
                 1e-9);
            checked++;
        }
        assert_true(checked > 8);
        mo_body_rows_destroy(&rows);
        free(r), free(force);
        mo_system_destroy(&s), dry_world_destroy(w);
    }
}

// The papers' route finds the same motion.
static void routes_agree(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        double *v[2];
        int32_t n = 0, pushed = 0, slid = 0;
        for (int route = 0; route < 2; route++) {
            dry_world *w = pile(flat);
            mo_system s;
            mo_elastic_law law;
            mo_system_info info;
            for (int32_t k = 0; k < w->elastics; k++)
                for (int32_t i = 0; i < w->body[k].vertices; i++) w->body[k].velocity[i] = mo_v3(3 - 2 * k, k - 2, 0);
            world_find(w);
            world_assemble(w, &law, &s);
            mo_solver_def solver = {
                .route = (mo_route)route, .tolerance = 1e-10, .max_iterations = 20000, .rounds = 15};
            assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            if (!route) assert_string_equal(info.form, "joint");
            if (!route) assert_int_equal(info.fallbacks, 0);
            n = s.nodes.count + s.bodies.count;
            v[route] = malloc(sizeof(double) * (size_t)n);
            memcpy(v[route], s.nodes.velocity, sizeof(double) * (size_t)s.nodes.count);
            memcpy(v[route] + s.nodes.count, s.bodies.velocity, sizeof(double) * (size_t)s.bodies.count);
            const mo_block *c = s.block[MO_BLOCK_CONTACT], *z = s.block[MO_BLOCK_FRICTION];
            for (int32_t i = 0; i < c->rows; i++) {
                double reached = w->contacts.contact[i].gap + w->dt * speed(&s, c, i, w->dx);
                assert_true(c->x[i] >= 0 && reached > fmin(0.8 * w->contacts.contact[i].gap, 0) - 1e-5);
                pushed += c->x[i] > 0;
            }
            for (int32_t i = 0; i < z->rows; i++) {
                assert_true(fabs(z->x[i]) <= 0.5 * c->x[i / 2] * (1 + 1e-3) + 1e-6);
                slid += c->x[i / 2] > 1e-3 && fabs(z->x[i]) > 0.99 * 0.5 * c->x[i / 2];
            }
            mo_system_destroy(&s), dry_world_destroy(w);
        }
        if (pushed <= 20 || slid <= 2) fail_msg("%d push, %d slide", pushed, slid);
        for (int32_t i = 0; i < n; i++) near(v[0][i], v[1][i], 1e-4);
        free(v[0]), free(v[1]);
    }
}

// A pile comes to rest: forces carry weights, nothing overlaps, energy does not grow.
static void a_pile_comes_to_rest(void **state)
{
    (void)state;
    dry_world *w = pile(true);
    for (int32_t i = 0; i < w->elastics; i++) w->part[i].drag = 20;
    double before = world_energy(w), weight = 0, most = 0;
    for (int32_t i = 0; i < w->elastics; i++) weight += 9.81 * mo_elastic_measure(&w->body[i]).mass;
    for (int32_t i = w->elastics; i < w->count; i++) weight += w->body_of[i] >= 0 ? 9.81 * w->rigid[i].mass : 0;
    for (int n = 0; n < 400; n++) {
        world_step(w);
        double now = world_energy(w);
        assert_true(now < before + 1e-3 * fabs(before));
        before = now;
        assert_int_equal(w->info.solve.reason, MO_REASON_CONVERGED);
        for (int32_t i = 0; n > 50 && i < w->contacts.count; i++)
            if (w->contacts.contact[i].a < w->elastics) most = fmax(most, -w->contacts.contact[i].gap);
    }
    near(-w->sum[4].y, weight, 1e-3 * weight);
    assert_true(most < 1e-4);
    dry_world_destroy(w);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    double *v[2] = {NULL, NULL};
    int32_t n = 0;
    for (int k = 0; k < 2; k++) {
        mo_use_threads(k ? 3 : 1);
        dry_world *w = pile(false);
        for (int step = 0; step < 3; step++) world_step(w);
        n = w->body[0].vertices;
        v[k] = malloc(sizeof(mo_vec3) * (size_t)n);
        memcpy(v[k], w->body[0].velocity, sizeof(mo_vec3) * (size_t)n);
        dry_world_destroy(w);
    }
    assert_memory_equal(v[0], v[1], sizeof(mo_vec3) * (size_t)n);
    mo_use_threads(1);
    free(v[0]), free(v[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_motion),
        cmocka_unit_test(rows_are_changes_of_gaps),
        cmocka_unit_test(rows_on_bodies_are_solved_exactly),
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(a_pile_comes_to_rest),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
