// The liquid's mesh: flat pools, round drops, exact ends at solids, volume, thin liquid, velocity, 2D, threads.
#include "fluid_test.h"
#include "fluid/liquid_mesh.h"
#include "geometry/mesh.h"

static void assert_closed(const mo_mesh *mesh)
{
    mo_mesh m;
    mo_error err;
    assert_int_equal(mo_mesh_copy(mesh, &m, NULL), MO_OK);
    assert_int_equal(mo_mesh_weld(&m, 0, NULL), MO_OK);
    if (mo_mesh_check_closed(&m, "liquid", &err) != MO_OK) fail_msg("%s", err.text);
    mo_mesh_destroy(&m);
}

// Lengths in cells, positions on the lattice.
typedef struct scene {
    double level, slope;    // pool: y < level + slope x
    double centre[3], drop; // or drop
    double middle[3], wall; // inside a hollow ball, if wall > 0
} scene;

static double liquid_distance(const scene *s, const double x[3], bool flat)
{
    if (s->drop <= 0) return (x[1] - s->level - s->slope * x[0]) / sqrt(1 + s->slope * s->slope);
    double d[3] = {x[0] - s->centre[0], x[1] - s->centre[1], flat ? 0 : x[2] - s->centre[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - s->drop;
}

static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    (void)solid;
    const scene *s = user;
    double r[3] = {x.x / 0.125 + MO_MARGIN - s->middle[0], x.y / 0.125 + MO_MARGIN - s->middle[1],
                   x.z / 0.125 + MO_MARGIN - s->middle[2]};
    return 0.125 * (s->wall - sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
}

static void fill(liquid *l, const scene *s, const double velocity[3])
{
    double h = 0.5, lo = MO_MARGIN;
    bool flat = mo_grid_is_2d(l->g);
    for (double z = flat ? 2.5 : lo + h / 2; z < (flat ? 3 : l->g->n[2] - lo); z += flat ? 1 : h)
        for (double y = lo + h / 2; y < l->g->n[1] - lo; y += h)
            for (double x = lo + h / 2; x < l->g->n[0] - lo; x += h) {
                mo_vec3 world = mo_grid_world(l->g, x, y, z);
                if (liquid_distance(s, (double[]){x, y, z}, flat) >= 0) continue;
                if (s->wall > 0 && solid_distance(s, 0, world) <= 0) continue;
                liquid_add(l, x, y, z, flat ? h * h : h * h * h);
                for (int a = 0; a < 3; a++) l->p.v[a][l->p.count - 1] = (float)(velocity ? velocity[a] : 0);
            }
    liquid_sort(l);
}

static mo_mesh mesh_of(liquid *l, const scene *s, int32_t refine, mo_liquid_account *account)
{
    float *phi = new_field(l);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l->g); i++) {
        int32_t c[3];
        mo_grid_cell(l->g, i, c);
        double d = liquid_distance(s, (double[]){c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, mo_grid_is_2d(l->g));
        phi[i] = (float)fmin(fmax(d, -5), 5);
    }
    mo_solid_set solids = {.count = s->wall > 0, .distance = solid_distance, .user = s};
    mo_liquid_surface surface = {.grid = l->g, .phi = phi, .particles = &l->p, .solids = &solids, .refine = refine};
    mo_mesh m;
    assert_int_equal(mo_liquid_mesh(&surface, &m, account, NULL), MO_OK);
    free(phi);
    return m;
}

static double cells_of(const mo_mesh *m) { return mo_mesh_volume(m) / (0.125 * 0.125 * 0.125); }

static void pool_is_flat(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        liquid l;
        bool flat = k & 1;
        liquid_create(&l, 20, 17, flat ? 1 : 15);
        scene s = {.level = 7.37 + 0.9 * k, .slope = k > 3 ? 0.2 : 0};
        fill(&l, &s, (double[]){1, 2, flat ? 0 : 3});
        mo_liquid_account account;
        mo_mesh m = mesh_of(&l, &s, 1 + k % 4, &account);
        assert_closed(&m);
        assert_true(account.hidden == 0 && account.film == 0);
        for (int32_t v = 0; v < m.vertex_count; v++) {
            const float *x = m.position + 3 * (int64_t)v, *n = m.normal + 3 * (int64_t)v,
                        *u = m.velocity + 3 * (int64_t)v;
            double place[3] = {x[0] / 0.125 + 2, x[1] / 0.125 + 2, x[2] / 0.125 + 2};
            double d = liquid_distance(&s, place, flat);
            assert_true(d < 0.002);
            if (n[1] > 0.9f) assert_true(fabs(d) < 0.002);
            if (d > -1)
                assert_true(fabs(u[0] - 1) < 1e-5 && fabs(u[1] - 2) < 1e-5 && fabs(u[2] - (flat ? 0 : 3)) < 1e-5);
        }
        double exact = 20 * (s.level + s.slope * 12 - 2) * (flat ? 1 : 15);
        assert_true(fabs(cells_of(&m) / exact - 1) < 1e-6);
        mo_mesh_destroy(&m);
        liquid_destroy(&l);
    }
}

static void drop_is_round_and_holds_its_volume(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        liquid l;
        bool flat = k & 1;
        liquid_create(&l, 24, 24, flat ? 1 : 24);
        scene s = {.centre = {14.13, 13.71, 14.37}, .drop = k < 4 ? 6.1 : 9.7};
        fill(&l, &s, NULL);
        int32_t refine = 1 + k / 2 % 4;
        mo_mesh m = mesh_of(&l, &s, refine, NULL);
        assert_closed(&m);
        double low = 1e9, high = 0, exact = 3.14159265358979 * s.drop * s.drop * (flat ? 1 : 4.0 / 3 * s.drop);
        for (int32_t v = 0; v < m.vertex_count; v++) {
            const float *x = m.position + 3 * (int64_t)v;
            if (fabsf(m.normal[3 * v + 2]) > 0.999f && flat) continue; // front and back
            double d =
                s.drop + liquid_distance(&s, (double[]){x[0] / 0.125 + 2, x[1] / 0.125 + 2, x[2] / 0.125 + 2}, flat);
            low = fmin(low, d), high = fmax(high, d);
        }
        assert_true(high - low < 0.005);
        assert_true(fabs(cells_of(&m) / exact - 1) < 0.001);
        mo_mesh_destroy(&m);
        liquid_destroy(&l);
    }
}

static void liquid_in_a_ball_ends_at_it(void **state)
{
    (void)state;
    for (int refine = 1; refine <= 4; refine++) {
        liquid l;
        liquid_create(&l, 24, 24, 24);
        scene s = {.level = 11.3, .middle = {14.1, 13.8, 13.9}, .wall = 9.7};
        fill(&l, &s, NULL);
        mo_mesh m = mesh_of(&l, &s, refine, NULL);
        assert_closed(&m);
        double far = 0;
        for (int32_t v = 0; v < m.vertex_count; v++) {
            const float *x = m.position + 3 * (int64_t)v;
            double d = solid_distance(&s, 0, mo_v3(x[0], x[1], x[2])) / 0.125;
            assert_true(d > -0.01);
            if (m.normal[3 * v + 1] < 0.99f) far = fmax(far, fabs(d)); // not of the free surface
        }
        double h = s.level - (s.middle[1] - s.wall), exact = 3.14159265358979 * h * h * (s.wall - h / 3);
        assert_true(far < 0.005);
        assert_true(fabs(cells_of(&m) / exact - 1) < (refine == 1 ? 0.004 : 0.002));
        mo_mesh_destroy(&m);
        liquid_destroy(&l);
    }
}

// Spray, a rope and a film that the level set knows nothing of.
static void thin_liquid_keeps_its_volume(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) { // the last, of twice the density, is more than it may show
        liquid l;
        bool flat = kind >= 6;
        liquid_create(&l, 32, 32, flat ? 1 : 32);
        scene s = {.level = 6};
        fill(&l, &s, NULL);
        double before = mo_particles_volume(&l.p), v = flat ? 0.25 : 0.125;
        for (int i = 0; i < 300 && kind % 3 == 0; i++)
            liquid_add(&l, 3 + 30 * uniform(&l), 9 + 22 * uniform(&l), 3 + 30 * uniform(&l), v);
        for (int i = 0; i < 52 * 4 && kind % 3 == 1; i++) // a rope across
            liquid_add(&l, 4 + 0.5 * (i / 4) + 0.3 * uniform(&l), 20.2 + 0.5 * (i & 1), 16.1 + 0.5 * (i >> 1 & 1), v);
        for (int i = 0; i < 40 * 40 && kind % 3 == 2; i++) // a film one particle thick
            liquid_add(&l, 7 + 0.5 * (i % 40) + 0.3 * uniform(&l), 20.2 + 0.2 * uniform(&l),
                       7 + 0.5 * (i / 40) + 0.3 * uniform(&l), v);
        liquid_sort(&l);
        mo_liquid_account account;
        int32_t refine = kind < 3 ? 2 : 3;
        mo_mesh m = mesh_of(&l, &s, refine, &account);
        double all = mo_particles_volume(&l.p), shown = cells_of(&m) - before;
        assert_true(fabs(account.hidden - (all - before)) < 1e-3);
        assert_true(fabs(shown + (kind == 7 ? account.film : 0) - account.hidden) < 0.03 * account.hidden);
        assert_true(account.film < (kind == 7 ? 0.1 : 0.02) * account.hidden);
        mo_mesh_destroy(&m);
        liquid_destroy(&l);
    }
}

static void mesh_is_the_same_for_any_threads(void **state)
{
    (void)state;
    liquid l;
    liquid_create(&l, 24, 24, 24);
    scene s = {.level = 9.3, .slope = 0.3, .middle = {14.1, 13.8, 13.9}, .wall = 9.7};
    fill(&l, &s, NULL);
    for (int i = 0; i < 100; i++) liquid_add(&l, 9 + 9 * uniform(&l), 16 + 4 * uniform(&l), 9 + 9 * uniform(&l), 0.125);
    liquid_sort(&l);
    mo_mesh m[2];
    mo_liquid_account account[2];
    for (int k = 0; k < 2; k++) {
        mo_use_threads(k ? 4 : 1);
        m[k] = mesh_of(&l, &s, 2, &account[k]);
    }
    mo_use_threads(0);
    assert_memory_equal(&account[0], &account[1], sizeof account[0]);
    assert_int_equal(m[0].vertex_count, m[1].vertex_count);
    assert_int_equal(m[0].triangle_count, m[1].triangle_count);
    assert_memory_equal(m[0].position, m[1].position, 12 * (size_t)m[0].vertex_count);
    assert_memory_equal(m[0].normal, m[1].normal, 12 * (size_t)m[0].vertex_count);
    assert_memory_equal(m[0].velocity, m[1].velocity, 12 * (size_t)m[0].vertex_count);
    assert_memory_equal(m[0].triangle, m[1].triangle, 12 * (size_t)m[0].triangle_count);
    mo_mesh_destroy(&m[0]);
    mo_mesh_destroy(&m[1]);
    liquid_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_is_flat),
        cmocka_unit_test(drop_is_round_and_holds_its_volume),
        cmocka_unit_test(liquid_in_a_ball_ends_at_it),
        cmocka_unit_test(thin_liquid_keeps_its_volume),
        cmocka_unit_test(mesh_is_the_same_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
