// Cloth that rigid bodies hang on, by attached vertices and by cords: pendulums, momentum, energy, resuming, pictures.
#include "cloth_test.h"
#include "base/parallel.h"

static mo_attachment_def attachment;
static mo_cord_def cord;

// Times at which a pendulum passes below its pivot, the second less the first: half a period, whatever it loses.
static double half_period(mo_sim *sim, double pivot)
{
    double passed[2], last = mo_sim_time(sim), x = sim->solids[0].pose.position.x - pivot;
    for (int count = 0; count < 2;) {
        mo_stats stats = sim_step(sim);
        double now = sim->solids[0].pose.position.x - pivot, time = mo_sim_time(sim);
        assert_true(stats.energy_error < 1e-3);
        assert_true(time < 2);
        if ((now > 0) != (x > 0)) passed[count++] = last + (time - last) * x / (x - now);
        last = time, x = now;
    }
    return passed[1] - passed[0];
}

static double exact_half_period(double length, double angle)
{
    return 3.14159265358979323846 * sqrt(length / 9.81) * (1 + angle * angle / 16);
}

// A ball on a cord, which goes to its centre: all of its mass is at the end of the cord.
static void a_ball_on_a_cord_is_a_pendulum(void **state)
{
    (void)state;
    const double length = 0.4, angle = 0.1;
    world w;
    world_start(&w, 16);
    mo_cloth_def *d = world_cloth(&w, "patch", 0.1, 0.05);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.8, 0.5));
    w.pin[0].where = box_between(0, 0, 0, 1, 1, 1), d->pins = w.pin, d->pin_count = 1;
    mo_vec3 at = mo_v3(0.5 + length * sin(angle), 0.8 - length * cos(angle), 0.5);
    mo_solid_def *ball = scene_solid(&w.s, "ball", ball_at(at.x, at.y, at.z, 0.05), NULL);
    ball->rigid = true, ball->density = 500;
    cord = mo_cord_def_default();
    cord.from = mo_v3(0.5, 0.8, 0.5), cord.to = at, cord.solid = "ball", cord.stretch = 1e4;
    d->cords = &cord, d->cord_count = 1;
    w.s.def.time.max_step = 0.004;
    mo_sim *sim = scene_create(&w.s);
    double measured = half_period(sim, 0.5), exact = exact_half_period(length, angle);
    print_message("cord: half a period %.5f s, exact %.5f s, turned by %g\n", measured, exact,
                  mo_norm(sim->solids[0].angular_velocity));
    near(measured, exact, 1e-3 * exact);
    near(mo_norm(sim->solids[0].angular_velocity), 0, 1e-6);
    const mo_elastic *e = world_body(sim, 0);
    mo_vec3 way = mo_sub(e->body.position[e->body.cloth->cord[0].from], sim->solids[0].pose.position);
    near(mo_norm(way), length * (1 + sim->solids[0].body.mass * 9.81 / 1e4), 1e-4 * length);
    mo_sim_destroy(sim);
    world_end(&w);
}

// A strip whose last row of vertices is attached along the axis of a ball: a hinge through its centre.
static void a_ball_on_a_strip_is_a_pendulum(void **state)
{
    (void)state;
    const double length = 0.4, angle = 0.1;
    world w;
    world_start(&w, 16);
    mo_cloth_def *d = world_cloth(&w, "strip", 0.1, 0.05);
    mo_sheet_destroy(&w.sheet[0]);
    assert_int_equal(mo_sheet_plate(length, 0.05, 0.05, &w.sheet[0], NULL), MO_OK);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5 * length, 0, 0));
    mo_sheet_rotate(&w.sheet[0], mo_v3(0, 0, 1), -0.5 * 3.14159265358979323846 + angle);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.8, 0.5));
    mo_vec3 at = mo_v3(0.5 + length * sin(angle), 0.8 - length * cos(angle), 0.5);
    mo_solid_def *ball = scene_solid(&w.s, "ball", ball_at(at.x, at.y, at.z, 0.03), NULL);
    ball->rigid = true, ball->density = 2000;
    w.pin[0].where = box_between(0, 0.79, 0, 1, 1, 1), w.pin[1].where = ball_at(at.x, at.y, at.z, 0.03);
    d->pins = w.pin, d->pin_count = 1, d->density = 1e-3, d->bend = 0, d->stretch = 1e5;
    attachment = (mo_attachment_def){.solid = "ball", .where = w.pin[1].where};
    d->attached = &attachment, d->attached_count = 1;
    w.s.def.time.max_step = 0.004;
    mo_sim *sim = scene_create(&w.s);
    double measured = half_period(sim, 0.5), exact = exact_half_period(length, angle);
    print_message("strip: half a period %.5f s, exact %.5f s\n", measured, exact);
    near(measured, exact, 1e-3 * exact);
    mo_sim_destroy(sim);
    world_end(&w);
}

// ---- Free flight ----

// A ball flies and turns with a cloth that is attached to it, and with a weight on a cord.
static void flying_world(world *w, int32_t threads)
{
    world_start(w, 16);
    w->s.def.threads = threads;
    w->s.def.gravity = mo_v3(0, 0, 0);
    mo_cloth_def *d = world_cloth(w, "cape", 0.3, 0.05);
    mo_sheet_move(&w->sheet[0], mo_v3(0.5, 0.5, 0.5));
    mo_solid_def *ball = scene_solid(&w->s, "ball", box_between(0.3, 0.46, 0.4, 0.38, 0.54, 0.6), NULL);
    ball->rigid = true, ball->density = 200;
    ball->velocity = mo_v3(0.1, 0.3, 0), ball->angular_velocity = mo_v3(1, 2, -1);
    mo_solid_def *weight = scene_solid(&w->s, "weight", ball_at(0.8, 0.5, 0.5, 0.04), NULL);
    weight->rigid = true, weight->density = 100, weight->velocity = mo_v3(0.3, 0, 0.2);
    w->pin[0].where = box_between(0.3, 0.46, 0.3, 0.38, 0.54, 0.7);
    attachment = (mo_attachment_def){.solid = "ball", .where = w->pin[0].where};
    d->attached = &attachment, d->attached_count = 1;
    cord = mo_cord_def_default();
    cord.from = mo_v3(0.65, 0.5, 0.5), cord.to = mo_v3(0.76, 0.5, 0.5), cord.solid = "weight", cord.stretch = 50;
    d->cords = &cord, d->cord_count = 1;
    w->s.def.time.max_step = 0.005;
}

typedef struct motion {
    mo_vec3 momentum, angular;
    double gap; // m, largest, between an attached vertex and its place
} motion;

static motion motion_of(const mo_sim *sim)
{
    motion m = {0};
    const mo_elastic *e = world_body(sim, 0);
    for (int32_t v = 0; v < e->body.vertices; v++) {
        mo_vec3 p = mo_mul(e->body.mass[v], e->body.velocity[v]);
        m.momentum = mo_add(m.momentum, p), m.angular = mo_add(m.angular, mo_cross(e->body.position[v], p));
        if (e->bond[v] < 0) continue;
        mo_vec3 place = mo_pose_apply(sim->solids[e->bond[v]].pose, e->anchor[v]);
        m.gap = fmax(m.gap, mo_norm(mo_sub(place, e->body.position[v])));
    }
    for (int32_t i = 0; i < 2; i++) {
        mo_rigid r = sim->solids[i].body;
        r.pose = sim->solids[i].pose, r.velocity = sim->solids[i].velocity;
        r.angular_velocity = sim->solids[i].angular_velocity;
        mo_vec3 p = mo_mul(r.mass, r.velocity);
        m.momentum = mo_add(m.momentum, p);
        m.angular = mo_add(m.angular, mo_add(mo_cross(r.pose.position, p), mo_rigid_angular_momentum(&r)));
    }
    return m;
}

static void momentum_is_kept(void **state)
{
    (void)state;
    world w;
    flying_world(&w, 1);
    mo_sim *sim = scene_create(&w.s);
    motion first = motion_of(sim), last = first;
    double gap = 0, energy = 0;
    for (int k = 0; k < 60; k++) {
        mo_stats stats = sim_step(sim);
        last = motion_of(sim), gap = fmax(gap, last.gap);
        if (k > 0) assert_true(stats.energy <= energy * (1 + 1e-6));
        energy = stats.energy;
    }
    mo_vec3 lost = mo_sub(last.momentum, first.momentum), turned = mo_sub(last.angular, first.angular);
    print_message("momentum: %.2g of %.3g kg m/s, angular %.2g of %.3g, largest gap %.2g m\n", mo_norm(lost),
                  mo_norm(first.momentum), mo_norm(turned), mo_norm(first.angular), gap);
    near(mo_norm(lost), 0, 1e-9 * mo_norm(first.momentum));
    near(mo_norm(turned), 0, 1e-3 * mo_norm(first.angular)); // forces act where the vertices were before the step
    assert_true(gap < 1e-4);
    mo_sim_destroy(sim);
    world_end(&w);
}

static void resumes_and_threads_change_nothing(void **state)
{
    (void)state;
    block saved[3];
    for (int k = 0; k < 3; k++) {
        world w;
        flying_world(&w, k == 1 ? 3 : 1);
        mo_sim *sim = scene_create(&w.s), *other = k == 2 ? scene_create(&w.s) : NULL;
        for (int i = 0; i < 4; i++) sim_step(sim);
        if (other) {
            block b = sim_save(sim);
            assert_int_equal(mo_sim_load(other, b.data, b.bytes, NULL), MO_OK);
            block_free(&b);
        }
        for (int i = 0; i < 4; i++) sim_step(other ? other : sim);
        saved[k] = sim_save(other ? other : sim);
        mo_sim_destroy(sim), mo_sim_destroy(other);
        world_end(&w);
    }
    assert_same_blocks(&saved[0], &saved[1]);
    assert_same_blocks(&saved[0], &saved[2]);
    for (int k = 0; k < 3; k++) block_free(&saved[k]);
}

// ---- Pictures and errors ----

// The mesh has a tube for the cord: it reaches from the cloth to the weight, and slack ones hang.
static void pictures_show_cords(void **state)
{
    (void)state;
    for (int slack = 0; slack < 2; slack++) {
        world w;
        flying_world(&w, 1);
        w.s.def.gravity = mo_v3(0, -9.81, 0);
        if (slack) cord.length = 0.3;
        mo_sim *sim = scene_create(&w.s);
        mo_mesh mesh;
        mo_cloth_state c;
        mo_sim_cloth(sim, 0, &c);
        assert_int_equal(c.vertex_count, w.sheet[0].vertices);
        assert_int_equal(mo_sim_cloth_surface(sim, 0, &mesh, NULL), MO_OK);
        assert_true(mesh.triangle_count > c.triangle_count && mesh.vertex_count > c.vertex_count);
        double right = 0, low = 1;
        for (int32_t v = 0; v < mesh.vertex_count; v++)
            right = fmax(right, mesh.position[3 * v]), low = fmin(low, mesh.position[3 * v + 1]);
        for (int32_t i = 0; i < 3 * mesh.triangle_count; i++)
            assert_in_range(mesh.triangle[i], 0, mesh.vertex_count - 1);
        near(right, 0.76, 2 * c.thickness);
        near(low, slack ? 0.5 - 0.25 * sqrt(3 * (0.3 * 0.3 - 0.11 * 0.11)) : 0.5, 2 * c.thickness);
        mo_mesh_destroy(&mesh);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

static void errors_name_what_is_missing(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w;
        mo_error err = {0};
        mo_sim *sim = NULL;
        flying_world(&w, 1);
        if (k == 0) cord.solid = "balloon";
        mo_shape *far = ball_at(5, 5, 5, 0.1);
        if (k == 1) attachment.where = far;
        assert_int_equal(mo_sim_create(&w.s.def, &sim, &err), MO_ERROR_INPUT);
        const char *part = k == 0 ? "cloth 'cape': cord 1 goes to 'balloon', and there is no such solid"
                                  : "cloth 'cape': no vertex lies where it is attached to a rigid solid";
        if (!strstr(err.text, part)) fail_msg("\"%s\" does not say \"%s\"", err.text, part);
        mo_shape_release(far);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_on_a_cord_is_a_pendulum),
        cmocka_unit_test(a_ball_on_a_strip_is_a_pendulum),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(resumes_and_threads_change_nothing),
        cmocka_unit_test(pictures_show_cords),
        cmocka_unit_test(errors_name_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
