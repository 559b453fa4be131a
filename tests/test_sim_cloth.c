// Cloth of a simulation: creation and its errors, free flight, pins, attachments, cords, energy, views, resuming.
#include "cloth_test.h"

// ---- Creation ----

typedef void (*change_fn)(world *w);

static void no_density(world *w) { w->cloth[0].density = 0; }
static void no_stretch(world *w) { w->cloth[0].stretch = -1; }
static void bad_bend(world *w) { w->cloth[0].bend = NAN; }
static void bad_poisson(world *w) { w->cloth[0].poisson = 0.5; }
static void bad_damping(world *w) { w->cloth[0].damping = -1; }
static void too_thick(world *w) { w->cloth[0].thickness = 0.2; }
static void no_sheet(world *w) { w->cloth[0].sheet = NULL; }
static void bad_vertex(world *w) { w->sheet[0].position[3][1] = INFINITY; }
static void bad_corner(world *w) { w->sheet[0].triangle[1][0] = 1000; }
static void no_area(world *w)
{
    memcpy(w->sheet[0].position[1], w->sheet[0].position[0], sizeof w->sheet[0].position[0]);
}
static void bad_velocity(world *w) { w->cloth[0].velocity.y = INFINITY; }
static void bad_count(world *w) { w->s.def.cloth_count = -1; }
static void flat(world *w) { w->s.def.domain.size.z = 0; }
static void ketchup(world *w)
{
    scene_liquid(&w->s, box_between(0, 0, 0, 1, 0.1, 1))->rheology =
        (mo_rheology){.consistency = 10, .flow_index = 1, .yield_stress = 50, .threshold = 0.01};
}
static void pearls(world *w) { scene_liquid(&w->s, box_between(0, 0, 0, 1, 0.1, 1))->surface_tension = 0.07; }
static mo_shell_def a_shell;
static void shell(world *w)
{
    a_shell = mo_shell_def_default();
    a_shell.sheet = &w->sheet[0], w->s.def.shells = &a_shell, w->s.def.shell_count = 1;
}
static void outside(world *w) { mo_sheet_move(&w->sheet[0], mo_v3(0, 5, 0)); }
static void in_ball(world *w) { scene_solid(&w->s, "ball", ball_at(0.5, 0.6, 0.5, 0.1), NULL); }
static void in_floor(world *w) { mo_sheet_move(&w->sheet[0], mo_v3(0, -0.65, 0)); }
static void nowhere(world *w)
{
    w->pin[0].where = ball_at(5, 5, 5, 0.1), w->cloth[0].pins = w->pin, w->cloth[0].pin_count = 1;
}
static void no_region(world *w) { w->cloth[0].pins = w->pin, w->cloth[0].pin_count = 1; }

static mo_attachment_def attachment;
static mo_cord_def cord;
static void nobody(world *w)
{
    w->pin[0].where = ball_at(0.5, 0.6, 0.5, 0.2);
    attachment = (mo_attachment_def){.solid = "pole", .where = w->pin[0].where};
    w->cloth[0].attached = &attachment, w->cloth[0].attached_count = 1;
}
static void bad_cord(world *w)
{
    cord = (mo_cord_def){.length = 1};
    w->cloth[0].cords = &cord, w->cloth[0].cord_count = 1;
}
// A second cloth that goes through the first.
static void crossed(world *w)
{
    world_cloth(w, "other", 0.3, 0.1);
    mo_sheet_rotate(&w->sheet[1], mo_v3(1, 0, 0.3), 1.2);
    mo_sheet_move(&w->sheet[1], mo_v3(0.51, 0.6, 0.5));
}

static void mistakes_are_told(void **state)
{
    (void)state;
    const struct {
        change_fn change;
        const char *text;
    } mistake[] = {{no_density, "density must be > 0"},
                   {no_stretch, "stretch must be > 0"},
                   {bad_bend, "bend must be >= 0"},
                   {bad_poisson, "poisson must be in 0..0.49"},
                   {bad_damping, "damping must be >= 0"},
                   {too_thick, "thickness must be at most half of its shortest edge"},
                   {no_sheet, "no sheet"},
                   {bad_vertex, "vertex 4 of its sheet is not finite"},
                   {bad_corner, "has no vertex 1000"},
                   {no_area, "has no area"},
                   {bad_velocity, "must be finite"},
                   {bad_count, "is negative"},
                   {flat, "three dimensions"},
                   {ketchup, "scenes with cloth in liquid cannot have liquids with a rheology yet"},
                   {pearls, "scenes with cloth in liquid cannot have surface tension yet"},
                   {shell, "cloth and shells do not meet yet"},
                   {outside, "lies outside the domain"},
                   {in_ball, "goes through 'ball' at the start"},
                   {in_floor, "goes through a wall of the domain"},
                   {nowhere, "no vertex lies where pin 1 is"},
                   {no_region, "pin 1 needs a shape or a function"},
                   {nobody, "there is no such solid"},
                   {bad_cord, "a stretch > 0"},
                   {crossed, "goes through 'other' at the start"}};
    for (size_t k = 0; k < sizeof mistake / sizeof *mistake; k++) {
        world w;
        mo_sim *sim = NULL;
        mo_error err = {0};
        world_start(&w, 16);
        world_cloth(&w, "flag", 0.4, 0.1);
        mo_sheet_rotate(&w.sheet[0], mo_v3(1, 0, 0), 0.3);
        mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.6, 0.5));
        mistake[k].change(&w);
        assert_int_equal(mo_sim_create(&w.s.def, &sim, &err), MO_ERROR_INPUT);
        if (!strstr(err.text, mistake[k].text)) fail_msg("'%s' is not in '%s'", mistake[k].text, err.text);
        if (w.s.def.cloth_count < 0) w.s.def.cloth_count = 1;
        world_end(&w);
    }
}

// ---- Motion ----

// Free cloth falls as a point does, turns, and keeps its momenta; implicit Euler only loses energy.
static void free_flight(void **state)
{
    (void)state;
    world w;
    mo_cloth_state c, first;
    mo_stats stats = {0};
    world_start(&w, 16);
    w.s.def.time.fps = 100, w.s.def.domain.contact = false;
    mo_cloth_def *d = world_cloth(&w, "flag", 0.4, 0.06);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.7, 0.5));
    d->velocity = mo_v3(0.3, 1, 0.1), d->angular_velocity = mo_v3(1, -2, 3), d->stretch = 20, d->bend = 1e-3;
    mo_sim *sim = scene_create(&w.s);
    mo_sim_cloth(sim, 0, &first);
    double t = 0, y = first.centre.y, speed = 1, loss = 0, total = 0;
    near(first.mass, 0.2 * 0.16, 1e-12), near(first.angular_velocity.z, 3, 1e-12);
    for (int k = 0; k < 20; k++) {
        stats = sim_step(sim);
        mo_sim_cloth(sim, 0, &c);
        t += stats.dt, speed -= 9.81 * stats.dt, y += stats.dt * speed;
        assert_true(stats.energy_error < 1e-9);
        assert_true(stats.energy_loss >= loss - 1e-12);
        loss = stats.energy_loss;
        double held = stats.energy + loss - 0.5 * stats.dt * 9.81 * c.mass * c.velocity.y; // the order of the step
        if (k == 0) total = held;
        near(held, total, 1e-12 * total);
    }
    near(c.centre.x, first.centre.x + 0.3 * t, 1e-10);
    near(c.centre.y, y, 1e-10), near(c.velocity.y, speed, 1e-10);
    assert_int_equal(stats.cloth.vertices, c.vertex_count);
    assert_true(stats.cloth.energy > 0 && stats.cloth.stretch > 0 && stats.newton < 1e-2);
    near(stats.cloth.energy, stats.elastic_energy, 1e-12 * stats.cloth.energy);
    near(c.stretching + c.bending, stats.cloth.energy, 1e-12 * stats.cloth.energy);
    mo_sim_destroy(sim);
    world_end(&w);
}

static mo_status shake(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = mo_pose_identity();
    pose->position = mo_v3(0.03 * sin(20 * t), -0.2 * t, 0);
    return MO_OK;
}

// Cloth held at one side and carried at the other by a script: what this puts in is what there is or was lost.
static void pins_hold_and_carry(void **state)
{
    (void)state;
    world w;
    mo_stats stats = {0};
    double total = 0;
    world_start(&w, 16);
    w.s.def.time.fps = 60;
    mo_cloth_def *d = world_cloth(&w, "flag", 0.5, 0.06);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.7, 0.5));
    d->damping = 0.01, d->drag = 0.3, d->pins = w.pin, d->pin_count = 2;
    w.pin[0].where = box_between(0, 0, 0, 0.26, 1, 1), w.pin[1].where = box_between(0.74, 0, 0, 1, 1, 1);
    w.pin[1].motion = shake;
    mo_sim *sim = scene_create(&w.s);
    const mo_elastic *e = world_body(sim, 0);
    for (int k = 0; k < 25; k++) {
        stats = sim_step(sim);
        double held = stats.energy + stats.energy_loss - stats.energy_work, falling = 0;
        for (int32_t v = 0; v < e->body.vertices; v++) {
            mo_vec3 x = e->body.position[v], X = e->body.rest[v];
            if (!e->pinned[v]) falling += e->body.mass[v] * e->body.velocity[v].y;
            if (!e->pinned[v]) continue;
            double right = X.x > 0.7;
            near(x.x, X.x + right * 0.03 * sin(20 * stats.time), 1e-12);
            near(x.y, X.y - right * 0.2 * stats.time, 1e-12);
        }
        held -= 0.5 * stats.dt * 9.81 * falling; // the order of the step
        if (k == 0) total = held;
        near(held, total, 1e-9 * fabs(total));
        assert_true(stats.energy_error < 1e-3);
        assert_int_equal(stats.cloth.stopped, 0);
    }
    assert_true(stats.energy_loss > 0);
    mo_sim_destroy(sim);
    world_end(&w);
}

static mo_status turn(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){mo_v3(0.25, 0.7, 0.5), mo_quat_axis_angle(mo_v3(0, 1, 0), 0.5 + 2 * t)};
    return MO_OK;
}

// What is attached to a pole that turns goes with it.
static void attached_vertices_go_with_their_solid(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    mo_cloth_def *d = world_cloth(&w, "flag", 0.3, 0.06);
    mo_sheet_move(&w.sheet[0], mo_v3(0.45, 0.7, 0.5));
    scene_solid(&w.s, "pole", mo_shape_box(mo_v3(0.11, 0.4, 0.03)), turn);
    w.pin[0].where = box_between(0, 0, 0, 0.31, 1, 1);
    attachment = (mo_attachment_def){.solid = "pole", .where = w.pin[0].where};
    d->attached = &attachment, d->attached_count = 1;
    mo_sim *sim = scene_create(&w.s);
    const mo_elastic *e = world_body(sim, 0);
    int32_t held = 0;
    for (int k = 0; k < 6; k++) sim_step(sim);
    for (int32_t v = 0; v < e->body.vertices; v++) {
        if (!e->pinned[v]) continue;
        mo_vec3 arm = mo_sub(e->body.rest[v], mo_v3(0.25, 0.7, 0.5));
        arm = mo_quat_rotate(mo_quat_axis_angle(mo_v3(0, 1, 0), 2 * mo_sim_time(sim)), arm);
        near(mo_norm(mo_sub(e->body.position[v], mo_add(arm, mo_v3(0.25, 0.7, 0.5)))), 0, 1e-12);
        held++;
    }
    assert_int_equal(held, 6);
    mo_sim_destroy(sim);
    world_end(&w);
}

// Four cords hold a cloth: at rest they pull with its weight.
static void cords_carry_the_weight(void **state)
{
    (void)state;
    world w;
    mo_cord_def cords[4];
    world_start(&w, 16);
    mo_cloth_def *d = world_cloth(&w, "hammock", 0.3, 0.1);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.5, 0.5));
    for (int k = 0; k < 4; k++) {
        double x = k % 2 ? 0.65 : 0.35, z = k / 2 ? 0.65 : 0.35;
        cords[k] = mo_cord_def_default();
        cords[k].from = mo_v3(x, 0.5, z), cords[k].to = mo_v3(x, 0.8, z), cords[k].stretch = 10;
    }
    d->cords = cords, d->cord_count = 4, d->drag = 5, d->bend = 1e-3;
    mo_sim *sim = scene_create(&w.s);
    for (int k = 0; k < 250; k++) sim_step(sim);
    mo_cloth_state c;
    mo_sim_cloth(sim, 0, &c);
    const mo_elastic *e = world_body(sim, 0);
    double pull = 0;
    for (int k = 0; k < 4; k++) {
        const mo_cord *own = &e->body.cloth->cord[k];
        mo_vec3 way = mo_sub(own->point, e->body.position[own->from]);
        double length = mo_norm(way);
        pull += own->stretch * fmax(length / own->length - 1, 0) * way.y / length;
    }
    near(pull, 9.81 * c.mass, 1e-3 * 9.81 * c.mass);
    mo_sim_destroy(sim);
    world_end(&w);
}

// ---- State and views ----

// Two cloths over a ball and each other, one of them shaken.
static void busy_world(world *w, int32_t threads)
{
    world_start(w, 16);
    w->s.def.threads = threads;
    scene_solid(&w->s, "ball", ball_at(0.5, 0.3, 0.5, 0.15), NULL);
    world_cloth(w, "lower", 0.4, 0.08)->velocity = mo_v3(0, -1, 0);
    mo_sheet_move(&w->sheet[0], mo_v3(0.52, 0.5, 0.5));
    mo_cloth_def *d = world_cloth(w, "upper", 0.4, 0.07);
    mo_sheet_rotate(&w->sheet[1], mo_v3(0, 1, 0), 0.4);
    mo_sheet_move(&w->sheet[1], mo_v3(0.45, 0.53, 0.5));
    d->velocity = mo_v3(0, -1.5, 0), d->pins = w->pin, d->pin_count = 1;
    w->pin[0].where = box_between(0, 0, 0, 0.3, 1, 1), w->pin[0].motion = shake;
}

static void resumes_exactly(void **state)
{
    (void)state;
    world w;
    busy_world(&w, 1);
    mo_sim *sim = scene_create(&w.s), *other = scene_create(&w.s);
    for (int k = 0; k < 5; k++) sim_step(sim);
    block b = sim_save(sim);
    assert_int_equal(mo_sim_load(other, b.data, b.bytes, NULL), MO_OK);
    for (int k = 0; k < 3; k++) sim_step(sim), sim_step(other);
    block one = sim_save(sim), two = sim_save(other);
    assert_same_blocks(&one, &two);
    block_free(&b), block_free(&one), block_free(&two);
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
        for (int i = 0; i < 7; i++) sim_step(sim);
        assert_true(sim->stats.contacts > 0);
        saved[k] = sim_save(sim);
        mo_sim_destroy(sim);
        world_end(&w);
    }
    assert_same_blocks(&saved[0], &saved[1]);
    block_free(&saved[0]), block_free(&saved[1]);
}

static void views_show_the_cloth(void **state)
{
    (void)state;
    world w;
    mo_cloth_state c;
    mo_mesh mesh;
    busy_world(&w, 1);
    mo_sim *sim = scene_create(&w.s);
    assert_int_equal(mo_sim_cloth_count(sim), 2);
    assert_int_equal(mo_sim_elastic_count(sim), 0);
    mo_sim_cloth(sim, 1, &c);
    assert_string_equal(c.name, "upper");
    assert_int_equal(c.vertex_count, w.sheet[1].vertices);
    assert_int_equal(c.triangle_count, w.sheet[1].triangles);
    double *x = mo_alloc(sizeof(double) * 3 * (size_t)c.vertex_count);
    mo_sim_cloth_vertices(sim, 1, x, NULL);
    assert_memory_equal(x, w.sheet[1].position, sizeof(double) * 3 * (size_t)c.vertex_count);
    assert_int_equal(mo_sim_cloth_surface(sim, 1, &mesh, NULL), MO_OK);
    assert_int_equal(mesh.triangle_count, c.triangle_count);
    for (int32_t v = 0; v < mesh.vertex_count; v++) near(fabs(mesh.normal[3 * v + 1]), 1, 1e-6);
    mo_mesh_destroy(&mesh);
    mo_free(x);
    mo_sim_destroy(sim);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told),      cmocka_unit_test(free_flight),
        cmocka_unit_test(pins_hold_and_carry),    cmocka_unit_test(attached_vertices_go_with_their_solid),
        cmocka_unit_test(cords_carry_the_weight), cmocka_unit_test(resumes_exactly),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(views_show_the_cloth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
