// Elastic bodies of a simulation without liquid: creation and its errors, free flight, pins, energy, views, resuming.
#include "elastic_test.h"

// ---- Creation ----

typedef void (*change_fn)(world *w);

static mo_status nowhere(void *user, mo_vec3 x, bool *inside, mo_error *err)
{
    (void)user, (void)x, (void)err;
    *inside = false;
    return MO_OK;
}
static mo_tets flat_mesh;
static double flat_places[] = {0.2, 0.2, 0, 0.5, 0.2, 0, 0.2, 0.5, 0};
static int32_t flat_corners[] = {0, 1, 2};

static void no_density(world *w) { w->elastic[0].density = -3; }
static void no_young(world *w) { w->elastic[0].young = 0; }
static void bad_poisson(world *w) { w->elastic[0].poisson = 0.5; }
static void no_number(world *w) { w->elastic[0].young = NAN; }
static void bad_viscosity(world *w) { w->elastic[0].viscosity = -1; }
static void bad_drag(world *w) { w->elastic[0].drag = -1; }
static void bad_friction(world *w) { w->elastic[0].friction = -1; }
static void bad_element(world *w) { w->elastic[0].element = -0.1; }
static void open_wall(world *w) { w->elastic[0].wall = MO_WALL_OPEN; }
static void bad_velocity(world *w) { w->elastic[0].velocity.y = INFINITY; }
static void bad_model(world *w) { w->elastic[0].model = (mo_elastic_model)7; }
static void bad_count(world *w) { w->s.def.elastic_count = -1; }
static void no_body(world *w) { mo_shape_release(w->elastic[0].shape), w->elastic[0].shape = NULL; }
static void both(world *w) { w->elastic[0].mesh = &flat_mesh; }
static void flat(world *w) { no_body(w), w->elastic[0].mesh = &flat_mesh; }
static void outside(world *w)
{
    mo_shape_release(w->elastic[0].shape);
    w->elastic[0].shape = ball_at(3, 0.5, 0.5, 0.2);
}
static void endless(world *w)
{
    mo_shape_release(w->elastic[0].shape);
    w->elastic[0].shape = mo_shape_plane(mo_v3(0, 1, 0), 0.3);
}
static void empty_pin(world *w)
{
    w->pin[0].where_fn = nowhere;
    w->elastic[0].pins = w->pin, w->elastic[0].pin_count = 1;
}
static void no_pin(world *w) { w->elastic[0].pins = w->pin, w->elastic[0].pin_count = 1; }

static void mistakes_are_told(void **state)
{
    (void)state;
    flat_mesh = (mo_tets){2, 3, 1, flat_places, flat_corners};
    static const struct {
        change_fn change;
        const char *word;
    } wrong[] = {{no_density, "density must be > 0, got -3"},
                 {no_young, "young must be > 0"},
                 {no_number, "young must be > 0"},
                 {bad_poisson, "poisson must be in 0..0.499, got 0.5"},
                 {bad_viscosity, "viscosity"},
                 {bad_drag, "drag"},
                 {bad_friction, "friction"},
                 {bad_element, "element"},
                 {open_wall, "open"},
                 {bad_velocity, "velocity"},
                 {bad_model, "model"},
                 {bad_count, "negative"},
                 {no_body, "no shape and no mesh"},
                 {both, "a shape and a mesh"},
                 {flat, "triangles in a domain of three"},
                 {outside, "outside the domain"},
                 {endless, "bounds"},
                 {empty_pin, "no vertex lies where pin 1 is"},
                 {no_pin, "pin 1 needs"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        world w;
        mo_sim *sim = NULL;
        mo_error err = {0};
        world_start(&w, 8, 1);
        world_elastic(&w, "jelly", ball_at(0.5, 0.5, 0.5, 0.25));
        wrong[k].change(&w);
        assert_int_equal(mo_sim_create(&w.s.def, &sim, &err), MO_ERROR_INPUT);
        assert_null(sim);
        if (!strstr(err.text, wrong[k].word) || (wrong[k].change != bad_count && !strstr(err.text, "elastic 'jelly'")))
            fail_msg("'%s' does not say '%s'", err.text, wrong[k].word);
        if (w.s.def.elastic_count < 0) w.s.def.elastic_count = 1;
        world_end(&w);
    }
}

// Without an element the cells tell it, unless there are too many vertices. The mass is that of the mesh.
static void elements_have_the_size_of_cells(void **state)
{
    (void)state;
    for (int32_t cells = 16; cells <= 64; cells += 48) {
        world w;
        mo_elastic_state body;
        world_start(&w, cells, 1);
        world_elastic(&w, "box", box_between(0.1, 0.2, 0.1, 0.9, 0.8, 0.9))->density = 400;
        mo_sim *sim = scene_create(&w.s);
        mo_sim_elastic(sim, 0, &body);
        if (cells == 16) assert_true(body.vertex_count > 1500 && body.vertex_count < 3500);
        assert_true(body.vertex_count <= 5000);
        if (cells == 64) assert_true(body.vertex_count > 3000);
        near(body.mass, 400 * 0.8 * 0.6 * 0.8, 1e-9);
        assert_string_equal(body.name, "box");
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

static void keep_warning(void *user, mo_log_level level, const char *text)
{
    if (level == MO_LOG_WARNING) strncpy(user, text, 399);
}

// Thin bodies in liquid are told; small ones get elements that fit.
static void thin_and_small_bodies(void **state)
{
    (void)state;
    for (int thin = 0; thin < 2; thin++)
        for (int32_t two = 0; two < 2; two++) {
            world w;
            char warning[400] = "";
            int64_t particles, bytes;
            world_start(&w, 10, two ? 0 : 1);
            w.s.def.log = keep_warning, w.s.def.log_user = warning;
            scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.2, 2));
            world_elastic(&w, "plate", box_between(0.2, 0.4, two ? -1 : 0.2, 0.8, thin ? 0.5 : 0.6, two ? 1 : 0.8));
            world_elastic(&w, "pea", ball_at(0.5, 0.8, two ? 0 : 0.5, 0.055));
            mo_sim_destroy(scene_create(&w.s));
            if (thin) assert_non_null(strstr(warning, "elastic 'p"));
            assert_non_null(strstr(warning, "cells thick"));
            assert_int_equal(strstr(warning, "'plate'") != NULL, 0); // the pea came last
            w.s.def.elastic_count = 1, warning[0] = 0;
            mo_sim_destroy(scene_create(&w.s));
            assert_int_equal(strstr(warning, "elastic 'plate': about 1.1 cells") != NULL, thin);
            assert_int_equal(mo_sim_estimate(&w.s.def, &particles, &bytes, NULL), MO_OK);
            assert_true(bytes > particles * 110 + 10000);
            w.s.def.elastic_count = 2;
            world_end(&w);
        }
}

// ---- Motion ----

// A free body falls as a point does, turns, and keeps its momenta; implicit Euler only loses energy.
static void free_flight(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        world w;
        mo_elastic_state body, first;
        mo_stats stats;
        world_start(&w, 16, two ? 0 : 1);
        w.s.def.time.fps = 100, w.s.def.domain.contact = false;
        mo_elastic_def *e = world_elastic(&w, "box", box_between(0.3, 0.5, two ? -1 : 0.3, 0.7, 0.8, two ? 1 : 0.6));
        e->velocity = mo_v3(0.3, 1, 0.1), e->angular_velocity = mo_v3(1, -2, 3), e->young = 3e3;
        mo_sim *sim = scene_create(&w.s);
        mo_sim_elastic(sim, 0, &first);
        double t = 0, y = first.centre.y, speed = 1, loss = 0, total = 0;
        near(first.angular_velocity.z, 3, 1e-12);
        near(first.velocity.z, two ? 0 : 0.1, 1e-12);
        for (int k = 0; k < 20; k++) {
            stats = sim_step(sim);
            mo_sim_elastic(sim, 0, &body);
            t += stats.dt, speed -= 9.81 * stats.dt, y += stats.dt * speed;
            assert_true(stats.energy_error < 1e-9);
            assert_true(stats.energy_loss >= loss - 1e-12);
            loss = stats.energy_loss;
            double held =
                stats.energy + loss - 0.5 * stats.dt * 9.81 * body.mass * body.velocity.y; // the order of the step
            if (k == 0) total = held;
            near(held, total, 1e-12 * total);
        }
        mo_sim_elastic(sim, 0, &body);
        near(body.centre.x, first.centre.x + 0.3 * t, 1e-10);
        near(body.centre.y, y, 1e-10);
        near(body.velocity.y, speed, 1e-10);
        assert_int_equal(stats.vertices, body.vertex_count);
        assert_int_equal(stats.inverted, 0);
        assert_true(stats.least_volume > 0.5 && stats.least_volume < 1.01);
        assert_true(stats.elastic_energy > 0 && stats.newton < 1e-2);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// ---- Pins ----

static mo_status shake(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = mo_pose_identity();
    pose->position = mo_v3(0.05 * sin(20 * t), 0.1 * t, 0);
    return MO_OK;
}

// A beam held at one end, the other end carried by a script: pinned vertices are where they should be, and what the
// script puts in is what there is or was lost.
static void pins_hold_and_carry(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        world w;
        mo_stats stats = {0};
        double total = 0;
        world_start(&w, 16, two ? 0 : 0.5);
        w.s.def.time.fps = 60;
        mo_elastic_def *e = world_elastic(&w, "beam", box_between(0.2, 0.6, two ? -1 : 0.2, 0.8, 0.7, two ? 1 : 0.3));
        e->young = 1e4, e->viscosity = 2, e->drag = 0.3, e->pins = w.pin, e->pin_count = 2;
        w.pin[0].where = box_between(0, 0, -1, 0.21, 1, 1), w.pin[1].where = box_between(0.79, 0, -1, 1, 1, 1);
        w.pin[1].motion = shake;
        mo_sim *sim = scene_create(&w.s);
        const mo_elastic *body = &sim->elastics.body[0];
        for (int k = 0; k < 40; k++) {
            stats = sim_step(sim);
            for (int32_t v = 0; v < body->body.vertices; v++) {
                mo_vec3 x = body->body.position[v], X = body->body.rest[v];
                double t = stats.time, right = X.x > 0.79;
                if (X.x > 0.21 && X.x < 0.79) continue;
                near(x.x, X.x + right * 0.05 * sin(20 * t), 1e-12), near(x.y, X.y + right * 0.1 * t, 1e-12);
            }
            double held = stats.energy + stats.energy_loss - stats.energy_work, falling = 0;
            for (int32_t v = 0; v < body->body.vertices; v++)
                if (!body->pinned[v]) falling += body->body.mass[v] * body->body.velocity[v].y;
            held -= 0.5 * stats.dt * 9.81 * falling; // the order of the step
            if (k == 0) total = held;
            near(held, total, 1e-10 * total);
            assert_true(stats.energy_error < 1e-3);
        }
        assert_true(stats.energy_work > 0.1 * stats.elastic_energy && stats.energy_loss > 0);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// ---- State and views ----

static void busy_world(world *w, int32_t threads)
{
    world_start(w, 12, 1);
    w->s.def.threads = threads;
    mo_elastic_def *e = world_elastic(w, "ball", ball_at(0.3, 0.6, 0.5, 0.2));
    e->velocity = mo_v3(0.5, 0, 0), e->angular_velocity = mo_v3(0, 5, 2), e->young = 2e3;
    e = world_elastic(w, "sheet", box_between(0.5, 0.3, 0.2, 0.9, 0.4, 0.8));
    e->young = 300, e->pins = w->pin, e->pin_count = 1;
    w->pin[0].where = box_between(0.4, 0, 0, 0.55, 1, 1), w->pin[0].motion = shake;
}

static void resumes_exactly(void **state)
{
    (void)state;
    world w;
    busy_world(&w, 1);
    mo_sim *sim = scene_create(&w.s), *other = scene_create(&w.s);
    for (int k = 0; k < 3; k++) sim_step(sim);
    block b = sim_save(sim);
    assert_int_equal(mo_sim_load(other, b.data, b.bytes, NULL), MO_OK);
    for (int k = 0; k < 3; k++) sim_step(sim), sim_step(other);
    block one = sim_save(sim), two = sim_save(other);
    assert_same_blocks(&one, &two);
    block_free(&one), block_free(&two);
    mo_sim_destroy(sim);
    w.elastic[0].element = 0.15; // another mesh
    sim = scene_create(&w.s);
    mo_error err = {0};
    assert_int_equal(mo_sim_load(sim, b.data, b.bytes, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "vertices"));
    mo_sim_destroy(sim);
    mo_tets mesh; // one that differs by the place of a vertex
    w.elastic[0].element = 0;
    assert_int_equal(mo_sim_elastic_mesh(&w.s.def, 0, &mesh, &err), MO_OK);
    mo_shape_release(w.elastic[0].shape);
    w.elastic[0].shape = NULL, w.elastic[0].mesh = &mesh;
    sim = scene_create(&w.s);
    assert_int_equal(mo_sim_load(sim, b.data, b.bytes, &err), MO_OK);
    mo_sim_destroy(sim);
    mesh.position[4] += 1e-9;
    sim = scene_create(&w.s);
    assert_int_equal(mo_sim_load(sim, b.data, b.bytes, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "another mesh"));
    block_free(&b);
    mo_tets_destroy(&mesh);
    mo_sim_destroy(sim), mo_sim_destroy(other);
    world_end(&w);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    block saved[2];
    for (int k = 0; k < 2; k++) {
        world w;
        busy_world(&w, k ? 3 : 1);
        mo_sim *sim = scene_create(&w.s);
        for (int i = 0; i < 4; i++) sim_step(sim);
        saved[k] = sim_save(sim);
        mo_sim_destroy(sim);
        world_end(&w);
    }
    assert_same_blocks(&saved[0], &saved[1]);
    block_free(&saved[0]), block_free(&saved[1]);
}

static void steps_are_verified(void **state)
{
    (void)state;
    world w;
    busy_world(&w, 1);
    w.s.def.solver.verify = true;
    mo_sim *sim = scene_create(&w.s);
    for (int k = 0; k < 3; k++) {
        mo_stats stats = sim_step(sim);
        assert_true(stats.verify.done && stats.verify.velocity < 1e-6);
    }
    mo_sim_destroy(sim);
    world_end(&w);
}

// A turned body: its rotation, the closed surface with velocities, what vertices and elements say.
static void views_show_the_body(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        world w;
        mo_elastic_state body;
        mo_mesh mesh;
        world_start(&w, 16, two ? 0 : 1);
        w.s.def.gravity = mo_v3(0, 0, 0), w.s.def.time.fps = 500;
        mo_elastic_def *e = world_elastic(&w, "ball", ball_at(0.5, 0.5, two ? 0 : 0.5, 0.3));
        e->young = 1e6, e->angular_velocity = mo_v3(0, 0, 4);
        mo_sim *sim = scene_create(&w.s);
        for (int k = 0; k < 5; k++) sim_step(sim);
        mo_sim_elastic(sim, 0, &body);
        assert_int_equal(mo_sim_elastic_count(sim), 1);
        assert_int_equal(body.dimension, two ? 2 : 3);
        near(2 * atan2(body.rotation.z, body.rotation.w), 4 * 0.01, 0.001);
        near(body.angular_velocity.z, 4, 0.1);
        size_t n = (size_t)body.vertex_count, m = (size_t)body.element_count;
        double *x = malloc(sizeof(double) * (6 * n + 2 * m)), *v = x + 3 * n, *J = v + 3 * n, *stress = J + m;
        mo_sim_elastic_vertices(sim, 0, x, v), mo_sim_elastic_elements(sim, 0, J, stress);
        for (size_t k = 0; k < n; k++) near(v[3 * k], -4 * (x[3 * k + 1] - 0.5), 0.1);
        for (size_t k = 0; k < m; k++) assert_true(fabs(J[k] - 1) < 0.02 && stress[k] >= 0 && stress[k] < 1e5);
        assert_int_equal(mo_sim_elastic_surface(sim, 0, &mesh, NULL), MO_OK);
        assert_int_equal(mesh.triangle_count, two ? 2 * body.face_count + 2 * body.element_count : body.face_count);
        near(mo_mesh_volume(&mesh), body.mass / 1000, 0.01 * body.mass / 1000);
        for (int32_t t = 0; t < mesh.triangle_count; t++) {
            mo_vec3 p[3];
            for (int k = 0; k < 3; k++) {
                const float *at = mesh.position + 3 * (int64_t)mesh.triangle[3 * t + k];
                p[k] = mo_v3(at[0] - 0.5, at[1] - 0.5, at[2] - (two ? 0.5 / 16 : 0.5));
            }
            mo_vec3 outward = mo_cross(mo_sub(p[1], p[0]), mo_sub(p[2], p[0]));
            assert_true(mo_dot(outward, p[0]) > 0);
            const float *normal = mesh.normal + 3 * (int64_t)mesh.triangle[3 * t];
            assert_true(mo_dot(mo_v3(normal[0], normal[1], normal[2]), p[0]) > 0);
        }
        mo_mesh_destroy(&mesh);
        free(x);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// Fast vertices make steps short, as particles do.
static void steps_obey_vertices(void **state)
{
    (void)state;
    world w;
    world_start(&w, 10, 0);
    w.s.def.gravity = mo_v3(0, 0, 0), w.s.def.time.fps = 1, w.s.def.time.cfl = 2;
    world_elastic(&w, "box", box_between(0.2, 0.2, -1, 0.5, 0.5, 1))->velocity = mo_v3(4, 0, 0);
    mo_sim *sim = scene_create(&w.s);
    near(sim_step(sim).dt, 0.05, 1e-9);
    mo_sim_destroy(sim);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told),      cmocka_unit_test(elements_have_the_size_of_cells),
        cmocka_unit_test(thin_and_small_bodies),  cmocka_unit_test(free_flight),
        cmocka_unit_test(pins_hold_and_carry),    cmocka_unit_test(resumes_exactly),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(steps_are_verified),
        cmocka_unit_test(views_show_the_body),    cmocka_unit_test(steps_obey_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
