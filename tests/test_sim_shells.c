// Shells of a simulation: where they are, how they move in a step, what is refused, memory.
#include "sim_test.h"
#include "sim/shells.h"
#include "ration.h"

// Goes along x and turns about y.
static mo_status wander(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    pose->position = mo_v3(0.5 + 0.2 * t, 0.4, 0.3);
    pose->rotation = mo_quat_axis_angle(mo_v3(0, 1, 0), 0.5 * t);
    return MO_OK;
}

static mo_status lost(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = mo_pose_identity();
    if (t > 0) pose->position.y = NAN;
    return MO_OK;
}

typedef struct world {
    mo_sim_def def;
    mo_sheet plate, cup;
    mo_shell_def shell[2];
} world;

// A fixed plate that stands elsewhere, and a cup that wanders.
static void world_start(world *w)
{
    *w = (world){.def = mo_sim_def_default()};
    assert_int_equal(mo_sheet_plate(0.4, 0.2, 0.05, &w->plate, NULL), MO_OK);
    assert_int_equal(mo_sheet_cup(0.1, 0.2, 0.03, &w->cup, NULL), MO_OK);
    w->shell[0] = w->shell[1] = mo_shell_def_default();
    w->shell[0].name = "plate", w->shell[0].sheet = &w->plate, w->shell[0].pose.position = mo_v3(0.5, 0.2, 0.5);
    w->shell[1].name = "cup", w->shell[1].sheet = &w->cup, w->shell[1].motion = wander;
    w->shell[1].wall = MO_WALL_SLIP, w->shell[1].thickness = 0.002;
    w->def.shells = w->shell, w->def.shell_count = 2;
}

static void world_end(world *w) { mo_sheet_destroy(&w->plate), mo_sheet_destroy(&w->cup); }

static mo_vec3 at(const double (*x)[3], int32_t v) { return mo_v3(x[v][0], x[v][1], x[v][2]); }

static void shells_begin_where_they_are_put(void **state)
{
    (void)state;
    world w;
    mo_shells s;
    world_start(&w);
    assert_int_equal(mo_shells_check(&w.def, NULL), MO_OK);
    assert_int_equal(mo_shells_create(&w.def, &s, NULL), MO_OK);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.shell[1].name, "cup");
    assert_int_equal(s.shell[1].first_vertex, w.plate.vertices);
    assert_int_equal(s.shell[1].first_triangle, w.plate.triangles);
    assert_int_equal(s.all.vertices, w.plate.vertices + w.cup.vertices);
    assert_int_equal(s.all.triangles, w.plate.triangles + w.cup.triangles);
    assert_true(fabs(s.shell[0].thickness - 0.05 / 32) < 1e-15 && s.shell[1].thickness == 0.002);
    for (int32_t t = 0; t < s.all.triangles; t++) {
        int32_t of = t >= w.plate.triangles;
        assert_int_equal(s.of[t], of);
        for (int k = 0; k < 3; k++) {
            const mo_sheet *own = of ? &w.cup : &w.plate;
            mo_vec3 x = at(own->position, own->triangle[t - s.shell[of].first_triangle][k]);
            mo_vec3 put = mo_add(x, of ? mo_v3(0.5, 0.4, 0.3) : mo_v3(0.5, 0.2, 0.5));
            assert_true(mo_norm(mo_sub(at(s.all.position, s.all.triangle[t][k]), put)) < 1e-15);
        }
    }
    assert_true(mo_shells_speed(&s) == 0);
    mo_shells_destroy(&s);
    world_end(&w);
}

// Vertices arrive exactly where their velocities lead and where the pose puts them, step by step.
static void shells_arrive_where_they_aim(void **state)
{
    (void)state;
    world w;
    mo_shells s;
    world_start(&w);
    assert_int_equal(mo_shells_create(&w.def, &s, NULL), MO_OK);
    const double dt = 0.01;
    for (int32_t step = 0; step < 3; step++) {
        double time = step * dt;
        assert_int_equal(mo_shells_aim(&s, time, dt, NULL), MO_OK);
        mo_shell *cup = &s.shell[1];
        assert_true(mo_norm(s.shell[0].velocity) == 0);
        assert_true(mo_norm(mo_sub(cup->velocity, mo_v3(0.2, 0, 0))) < 1e-12);
        assert_true(mo_norm(mo_sub(cup->angular_velocity, mo_v3(0, 0.5, 0))) < 1e-12);
        // No vertex goes faster than the pose's position and the turn about it, and some does nearly so.
        assert_true(mo_shells_speed(&s) <= 0.2 + 0.5 * 0.1 && mo_shells_speed(&s) > 0.2 + 0.49 * 0.1);
        mo_pose end;
        wander(NULL, time + dt, &end, NULL);
        for (int32_t v = 0; v < s.all.vertices; v++) {
            mo_vec3 led = mo_mad(at(s.all.position, v), dt, at(s.velocity, v));
            assert_true(mo_norm(mo_sub(led, at(s.next, v))) < 1e-15);
            if (v < cup->first_vertex) assert_true(mo_norm(at(s.velocity, v)) == 0);
            if (v < cup->first_vertex) continue;
            mo_vec3 put = mo_pose_apply(end, at(w.cup.position, v - cup->first_vertex));
            assert_true(mo_norm(mo_sub(put, at(s.next, v))) < 1e-15);
        }
        assert_int_equal(mo_shells_arrive(&s, NULL), MO_OK);
        for (int32_t v = 0; v < s.all.vertices; v++)
            assert_memory_equal(s.all.position[v], s.next[v], sizeof s.next[v]);
        assert_memory_equal(&cup->pose, &cup->next, sizeof cup->pose);
    }
    // Poses alone tell where everything is.
    mo_shells again;
    assert_int_equal(mo_shells_create(&w.def, &again, NULL), MO_OK);
    again.shell[1].pose = s.shell[1].pose;
    mo_shells_place(&again);
    assert_memory_equal(again.all.position, s.all.position, sizeof *s.next * (size_t)s.all.vertices);
    mo_shells_destroy(&again), mo_shells_destroy(&s);
    world_end(&w);
}

static void refuse(const world *w, const char *message)
{
    mo_error err = {0};
    assert_int_equal(mo_shells_check(&w->def, &err), MO_ERROR_INPUT);
    if (!strstr(err.text, message)) fail_msg("says %s, expected %s", err.text, message);
}

static void bad_shells_are_refused(void **state)
{
    (void)state;
    world w;
    world_start(&w);
    world bad = w;
    bad.shell[0].sheet = NULL, bad.def.shells = bad.shell;
    refuse(&bad, "shell 'plate': no sheet");
    bad.shell[0] = w.shell[0], bad.shell[0].thickness = 0.1;
    refuse(&bad, "shell 'plate': thickness must be 0.0003125..0.015625 m (0.01..0.5 cells), got 0.1 m");
    bad.shell[0] = w.shell[0], bad.shell[0].wall = MO_WALL_OPEN;
    refuse(&bad, "shell 'plate': its wall must be slip or no-slip");
    bad.shell[0] = w.shell[0], bad.shell[0].pose.position.x = INFINITY;
    refuse(&bad, "shell 'plate': its pose must be finite");
    bad.shell[0] = w.shell[0];
    int32_t corner = w.plate.triangle[3][1];
    w.plate.triangle[3][1] = w.plate.vertices;
    bad.shell[0].sheet = &w.plate;
    refuse(&bad, "shell 'plate': triangle 3 has no vertex");
    w.plate.triangle[3][1] = corner, w.plate.position[2][1] = NAN;
    refuse(&bad, "shell 'plate': vertex 2 is not finite");
    bad.def.shell_count = -1;
    refuse(&bad, "negative");
    world_end(&w);
}

static void a_motion_that_leads_nowhere_ends_the_step(void **state)
{
    (void)state;
    world w;
    mo_shells s;
    mo_error err = {0};
    world_start(&w);
    w.shell[1].motion = lost;
    assert_int_equal(mo_shells_create(&w.def, &s, NULL), MO_OK);
    assert_int_equal(mo_shells_aim(&s, 0, 0.5, &err), MO_ERROR_INPUT);
    assert_string_equal(err.text, "shell 'cup': motion(0.5) is not finite");
    mo_shells_destroy(&s);
    w.shell[1].motion = wander, w.def.domain.size.z = 0;
    assert_int_equal(mo_shells_create(&w.def, &s, &err), MO_ERROR_INPUT);
    assert_string_equal(err.text, "shell 'cup': motion(0) leaves the plane of the domain");
    mo_shells_destroy(&s);
    world_end(&w);
}

// Two plates a tenth of a cell apart do not meet, crossed ones do; one that ends at another is loose.
static void the_grid_tells_what_shells_do(void **state)
{
    (void)state;
    world w;
    mo_shell_quality q;
    world_start(&w);
    w.shell[1] = w.shell[0], w.shell[1].name = "other", w.shell[1].pose.position.y += 0.1 / 32;
    assert_int_equal(mo_sim_shell_quality(&w.def, 0, &q, NULL), MO_OK);
    assert_int_equal(q.triangles, w.plate.triangles);
    assert_int_equal(q.borders, 24);
    assert_true(q.cells >= 13 * 6 && q.gaps > 0 && q.crossings + q.loose + q.junctions + q.pockets == 0);
    int32_t cells = q.cells;
    assert_int_equal(mo_sim_shell_quality(&w.def, -1, &q, NULL), MO_OK);
    assert_true(q.cells == cells && q.crossings + q.loose == 0 && q.borders == 48);
    w.shell[1].pose.rotation = mo_quat_axis_angle(mo_v3(0, 0, 1), 1.1);
    assert_int_equal(mo_sim_shell_quality(&w.def, -1, &q, NULL), MO_OK);
    assert_true(q.crossings >= 6);
    assert_true(mo_norm(mo_sub(q.crossing_place, mo_v3(0.5, 0.2, 0.41))) < 1. / 32);
    w.shell[1].pose = (mo_pose){{0.5, 0.2 + 0.2 + 0.02 / 32, 0.5}, mo_quat_axis_angle(mo_v3(0, 0, 1), M_PI / 2)};
    assert_int_equal(mo_sim_shell_quality(&w.def, -1, &q, NULL), MO_OK);
    assert_true(q.crossings == 0 && q.loose == 5 + 2); // its row, and the ends of the line that it stands on
    assert_int_equal(mo_sim_shell_quality(&w.def, 2, &q, NULL), MO_ERROR_INPUT);
    world_end(&w);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    world w;
    world_start(&w);
    mo_status status = MO_ERROR_MEMORY;
    for (int64_t at = 1; status != MO_OK; at++) {
        ration r = {.fail_at = at};
        mo_shells s;
        mo_set_allocator(rationed, &r);
        status = mo_shells_create(&w.def, &s, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        mo_shells_destroy(&s);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(r.live, 0);
        assert_true(at < 50);
    }
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_begin_where_they_are_put), cmocka_unit_test(shells_arrive_where_they_aim),
        cmocka_unit_test(bad_shells_are_refused),          cmocka_unit_test(a_motion_that_leads_nowhere_ends_the_step),
        cmocka_unit_test(the_grid_tells_what_shells_do),   cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
