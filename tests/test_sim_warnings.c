// Warnings: each kind from statistics made to raise it, their counts as part of the state, strict runs, what is beyond
// all bounds. And outliers: particles far faster than the rest neither shorten the step nor pass a wall.
#include "sim_test.h"
#include "sim/sim.h"

// ---- Kinds ----

static const mo_warning_bounds bounds = {.cell = 0.1, .speed = 5};

static mo_stats good_stats(void)
{
    return (mo_stats){.step = 7,
                      .time = 0.5,
                      .particles = 10000,
                      .reason = MO_REASON_CONVERGED,
                      .residual = 1e-7,
                      .volume = 1.04,
                      .volume_target = 1,
                      .volume_error = 0.04,
                      .max_penetration = 0.049,
                      .ballistic = 2000,
                      .clamped = 200,
                      .max_speed = 14.9,
                      .max_body_speed = 14.9};
}

static void raise_iterations(mo_stats *s) { s->reason = MO_REASON_MAX_ITERATIONS, s->residual = 0.3; }
static void raise_stall(mo_stats *s) { s->reason = MO_REASON_STALLED, s->residual = 0.01; }
static void raise_relaxed(mo_stats *s) { s->relaxed = 2; }
static void raise_volume(mo_stats *s) { s->volume = 0.9, s->volume_error = -0.1; }
static void raise_no_volume(mo_stats *s) { s->volume = s->volume_error = NAN; }
static void raise_overlap(mo_stats *s) { s->max_penetration = 0.06; }
static void raise_escaped(mo_stats *s) { s->escaped = 1; }
static void raise_clamped(mo_stats *s) { s->clamped = 250; }
static void raise_ballistic(mo_stats *s) { s->ballistic = 2500; }
static void raise_inverted(mo_stats *s) { s->inverted = 3; }
static void raise_newton(mo_stats *s) { s->rounds = 16, s->newton = 0.05; }
static void raise_speed(mo_stats *s) { s->max_speed = 16; }
static void raise_body_speed(mo_stats *s) { s->max_body_speed = 20; }
static void raise_no_speed(mo_stats *s) { s->max_speed = NAN; }

static const struct {
    mo_warning kind;
    void (*raise)(mo_stats *);
    double worst;
    const char *name, *shown;
} raised[] = {
    {MO_WARNING_UNSOLVED, raise_iterations, 0.3, "unsolved", "residual 3.0e-01"},
    {MO_WARNING_UNSOLVED, raise_stall, 0.01, "unsolved", "residual 1.0e-02"},
    {MO_WARNING_RELAXED, raise_relaxed, 2, "relaxed", "2 pieces"},
    {MO_WARNING_VOLUME, raise_volume, -0.1, "volume", "-10 %"},
    {MO_WARNING_VOLUME, raise_no_volume, NAN, "volume", "+nan %"},
    {MO_WARNING_OVERLAP, raise_overlap, 0.6, "overlap", "0.6 cells"},
    {MO_WARNING_ESCAPED, raise_escaped, 1, "escaped", "1 bodies"},
    {MO_WARNING_CLAMPED, raise_clamped, 0.025, "clamped", "2.5 %"},
    {MO_WARNING_BALLISTIC, raise_ballistic, 0.25, "ballistic", "25 %"},
    {MO_WARNING_INVERTED, raise_inverted, 3, "inverted", "3 elements"},
    {MO_WARNING_NEWTON, raise_newton, 0.05, "newton", "5.0 %"},
    {MO_WARNING_SPEED, raise_speed, 16, "speed", "16 m/s"},
    {MO_WARNING_SPEED, raise_body_speed, 20, "speed", "20 m/s"},
    {MO_WARNING_SPEED, raise_no_speed, NAN, "speed", "nan m/s"},
};

static void every_kind_is_raised_alone(void **state)
{
    (void)state;
    mo_warning_count count[MO_WARNING_COUNT] = {{0}};
    mo_stats good = good_stats();
    assert_int_equal(mo_warnings_judge(count, &good, &bounds), MO_WARNING_COUNT);
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
        mo_stats stats = good_stats();
        memset(count, 0, sizeof count);
        raised[i].raise(&stats);
        assert_int_equal(mo_warnings_judge(count, &stats, &bounds), raised[i].kind);
        for (int k = 0; k < MO_WARNING_COUNT; k++) assert_int_equal(count[k].steps, k == (int)raised[i].kind);
        const mo_warning_count *w = &count[raised[i].kind];
        assert_true(w->first_step == 7 && w->worst_step == 7 && w->first_time == 0.5 && w->worst_time == 0.5);
        assert_true(isnan(raised[i].worst) ? isnan(w->worst) : fabs(w->worst - raised[i].worst) < 1e-12);
        char text[32];
        mo_warning_worst(raised[i].kind, w->worst, text);
        assert_string_equal(mo_warning_name(raised[i].kind), raised[i].name);
        if (!isnan(w->worst)) assert_string_equal(text, raised[i].shown);
    }
    for (int k = 0; k < MO_WARNING_COUNT; k++) assert_true(strlen(mo_warning_text((mo_warning)k)) > 10);
    assert_string_equal(mo_warning_name(MO_WARNING_COUNT), "unknown");
}

// Little liquid has no shares, and less than a cell of volume does not count.
static void little_liquid_is_not_judged(void **state)
{
    (void)state;
    mo_warning_count count[MO_WARNING_COUNT] = {{0}};
    mo_stats stats = good_stats();
    stats.particles = 30, stats.ballistic = stats.clamped = 30;
    stats.volume_target = 0.005, stats.volume = 0.0055, stats.volume_error = 0.1;
    assert_int_equal(mo_warnings_judge(count, &stats, &bounds), MO_WARNING_COUNT);
    stats.particles = 0, stats.ballistic = stats.clamped = 0;
    assert_int_equal(mo_warnings_judge(count, &stats, &bounds), MO_WARNING_COUNT);
}

static void first_and_worst_are_kept(void **state)
{
    (void)state;
    static const double error[] = {0, 0.06, -0.2, 0.1, 0};
    mo_warning_count count[MO_WARNING_COUNT] = {{0}}, *w = &count[MO_WARNING_VOLUME];
    for (int i = 0; i < 5; i++) {
        mo_stats stats = good_stats();
        stats.step = i, stats.time = 0.1 * i, stats.volume_error = error[i], stats.volume = 1 + error[i];
        mo_warnings_judge(count, &stats, &bounds);
    }
    assert_true(w->steps == 3 && w->first_step == 1 && w->first_time == 0.1 * 1);
    assert_true(w->worst == -0.2 && w->worst_step == 2 && w->worst_time == 0.1 * 2);
}

// ---- In a simulation ----

static void scene_pool(scene *s, double top)
{
    scene_start(s, 24, 0);
    s->def.time.fps = 50;
    scene_liquid(s, box_between(-1, -1, -1, 2, top, 1));
}

static void counts_are_saved(void **state)
{
    (void)state;
    scene s;
    scene_pool(&s, 0.3);
    s.liquid[0].velocity = mo_v3(1, 0, 0);
    s.def.solver.max_iterations = 1;
    mo_sim *sim = scene_create(&s), *other = scene_create(&s);
    for (int i = 0; i < 3; i++) sim_step(sim);
    block saved = sim_save(sim);
    assert_int_equal(mo_sim_load(other, saved.data, saved.bytes, NULL), MO_OK);
    mo_warning_count a[MO_WARNING_COUNT], b[MO_WARNING_COUNT];
    mo_sim_warnings(sim, a), mo_sim_warnings(other, b);
    assert_int_equal(a[MO_WARNING_UNSOLVED].steps, 3);
    assert_memory_equal(a, b, sizeof a);
    block_free(&saved);
    mo_sim_destroy(sim), mo_sim_destroy(other);
    scene_end(&s);
}

static void count_step(void *user, const mo_stats *stats)
{
    (void)stats;
    ++*(int *)user;
}

// A strict step that raises a warning is an error, but complete: it is told, counted and can go on.
static void strict_steps_fail_and_are_complete(void **state)
{
    (void)state;
    scene s;
    scene_pool(&s, 0.3);
    s.liquid[0].velocity = mo_v3(1, 0, 0);
    s.def.solver.max_iterations = 1;
    mo_sim *easy = scene_create(&s);
    s.def.solver.strict = true;
    mo_sim *sim = scene_create(&s);
    for (int i = 0; i < 2; i++) {
        mo_stats stats = {.step = -1};
        mo_error err = {0};
        sim_step(easy);
        assert_int_equal(mo_sim_step(sim, &stats, &err), MO_ERROR_FAILED);
        assert_int_equal(stats.step, i);
        assert_non_null(strstr(err.text, i ? "strict: step 1" : "strict: step 0"));
        assert_non_null(strstr(err.text, "unsolved: a solve ended before it reached its tolerance (residual "));
    }
    block a = sim_save(easy), b = sim_save(sim);
    assert_same_blocks(&a, &b);
    block_free(&a), block_free(&b);
    int steps = 0;
    assert_int_equal(mo_sim_advance(sim, count_step, &steps, NULL), MO_ERROR_FAILED);
    assert_int_equal(steps, 1);
    mo_sim_destroy(easy), mo_sim_destroy(sim);
    scene_end(&s);
}

// Speeds beyond all bounds and numbers that are none end the simulation; the message has the step, the place and the
// speed.
static void explosions_are_errors(void **state)
{
    (void)state;
    static const struct {
        float speed;
        const char *text;
    } cases[] = {{1e5f, "step 1, "}, {1e25f, "step 1, "}, {NAN, "not finite"}};
    for (int i = 0; i < 3; i++) {
        scene s;
        scene_pool(&s, 0.3);
        mo_sim *sim = scene_create(&s);
        sim_step(sim);
        mo_particles *p = &sim->particles;
        for (int32_t q = 0; q < p->count; q++) p->v[0][q] = cases[i].speed * (q % 2 ? 1 : -1);
        mo_error err = {0};
        assert_int_equal(mo_sim_step(sim, NULL, &err), MO_ERROR_FAILED);
        assert_non_null(strstr(err.text, cases[i].text));
        if (i < 2) assert_non_null(strstr(err.text, "s: liquid at ("));
        if (i < 2)
            assert_non_null(strstr(err.text, "m/s, a hundred times what the scene can give and more (limit 527 m/s)"));
        if (i < 2) assert_int_equal(sim->warning[MO_WARNING_SPEED].steps, 1);
        assert_int_equal(mo_sim_step(sim, NULL, &err), MO_ERROR_FAILED); // and stays so
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// A ball that comes into a tank through its floor or its top, at 0.4 m/s.
static mo_status come_up(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){{0.5, -0.15 + 0.4 * t, 0}, {1, 0, 0, 0}};
    return MO_OK;
}

static mo_status come_down(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){{0.5, 1.15 - 0.4 * t, 0}, {1, 0, 0, 0}};
    return MO_OK;
}

// The ball leaves the liquid no room from its first step on, which every step has to tell. It begins outside and
// touches the wall; viscous liquid, whose weights are volumes, knows of it a step later.
static void solids_that_enter_full_tanks_are_told(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool above = kind & 1, viscous = kind & 2;
        scene s;
        scene_start(&s, 24, 0);
        scene_liquid(&s, box_between(-1, -1, -1, 2, 2, 1))->viscosity = viscous ? 1 : 0;
        scene_solid(&s, "ball", mo_shape_sphere(0.15), above ? come_down : come_up);
        mo_sim *sim = scene_create(&s);
        for (int k = 0; k < 6; k++) {
            mo_stats stats = sim_step(sim);
            assert_true((stats.relaxed == 1 || (viscous && k == 0)) && stats.max_speed < 0.5);
        }
        mo_sim_destroy(sim), scene_end(&s);
    }
}

static void escaped_and_racing_bodies(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 16, 0.5);
    s.def.gravity = mo_v3(0, 0, 0);
    scene_solid(&s, "ball", ball_at(0.5, 0.5, 0.25, 0.1), NULL)->rigid = true;
    mo_sim *sim = scene_create(&s);
    mo_stats stats = sim_step(sim);
    assert_true(stats.escaped == 0 && stats.max_body_speed == 0);
    sim->solids[0].pose.position = mo_v3(0.5, 1.5, 0.25);
    sim->solids[0].velocity = mo_v3(0, 4, 0);
    stats = sim_step(sim);
    assert_true(stats.escaped == 1 && stats.max_body_speed >= 4);
    assert_int_equal(sim->warning[MO_WARNING_ESCAPED].steps, 1);
    sim->solids[0].velocity = mo_v3(0, 1e4, 0);
    mo_error err = {0};
    assert_int_equal(mo_sim_step(sim, NULL, &err), MO_ERROR_FAILED);
    assert_non_null(strstr(err.text, "rigid 'ball' at (0.5, "));
    assert_non_null(strstr(err.text, "a hundred times what the scene can give and more"));
    mo_sim_destroy(sim);
    scene_end(&s);
}

// ---- Outliers ----

static mo_status approach(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)err;
    const scene *s = user;
    *pose = mo_pose_identity();
    pose->position = mo_v3(0.6 - s->amplitude * t, 0.5, 0.25);
    return MO_OK;
}

// A pool, and a drop of less than a cell above it that is thrown again in every frame. A wall of one and a half cells
// keeps both on its left. Returns the steps.
typedef struct throw
{
    double depth, speed, wall; // wall: its speed, m/s
    int32_t threads, frames;
    bool down;        // into the pool
    bool in_the_pool; // a handful of the pool's own particles is thrown instead
    int64_t outliers; // out
    block end;        // out
}
throw;

static int64_t count_steps(throw *t)
{
    enum { CELLS = 32 };
    scene s;
    scene_start(&s, CELLS, t->depth);
    s.def.time.fps = 50, s.def.threads = t->threads;
    s.amplitude = t->wall;
    scene_liquid(&s, box_between(-1, -1, -1, 0.57, 0.42, 1));
    if (!t->in_the_pool) scene_liquid(&s, ball_at(0.21, 0.71, 0.02, 0.014))->velocity = mo_v3(t->speed, 0, 0);
    scene_solid(&s, "wall", mo_shape_box(mo_v3(1.5 / CELLS, 2, 2)), approach);
    mo_sim *sim = scene_create(&s);
    sim->given_speed = fmax(sim->given_speed, t->speed); // thrown by the test
    mo_particles *p = &sim->particles;
    mo_stats stats = {0};
    t->outliers = 0;
    while (mo_sim_frame(sim) < t->frames) {
        if (stats.frame == mo_sim_frame(sim)) // at the beginning of each
            for (int32_t q = 0, thrown = 0; q < p->count; q++) {
                if (t->in_the_pool ? thrown >= 3 || q % 101 != 50 : p->x[1][q] < MO_MARGIN + CELLS * 0.6) continue;
                static const float way[4][3] = {{1, 0.1f, 0.05f}, {-1, 0.02f, 0}, {0.9f, 0, 0.3f}, {1, 0.4f, 0}};
                const float *w = way[mo_sim_frame(sim) % 4];
                for (int a = 0; a < (t->depth > 0 ? 3 : 2); a++) p->v[a][q] = (float)t->speed * w[a];
                if (t->down) p->v[1][q] = (float)t->speed * -0.3f;
                thrown++;
            }
        stats = sim_step(sim);
        t->outliers += stats.outliers;
        for (int32_t q = 0; q < p->count; q++) {
            double x = (p->x[0][q] - MO_MARGIN) / CELLS, wall = 0.6 - t->wall * mo_sim_time(sim);
            assert_true(x > 0 && x < wall);
            for (int a = 0; a < 3; a++)
                assert_true(p->x[a][q] > MO_MARGIN && p->x[a][q] < (float)(sim->grid->n[a] - MO_MARGIN));
        }
    }
    t->end = sim_save(sim);
    mo_sim_destroy(sim);
    scene_end(&s);
    return stats.step + 1;
}

static void outliers_do_not_shorten_the_step(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++)
        for (int moving = 0; moving < 2; moving++) {
            throw calm = {.depth = d ? 0.25 : 0, .wall = moving ? 0.3 : 0, .frames = 8, .threads = 1}, wild = calm;
            wild.speed = 100;
            int64_t without = count_steps(&calm), with = count_steps(&wild);
            assert_true(wild.outliers >= 5);
            assert_true(with <= without + 2);
            block_free(&calm.end), block_free(&wild.end);
        }
}

static void outliers_pass_no_wall_at_any_speed(void **state)
{
    (void)state;
    static const double speed[] = {12, 30, 300, 1e4, 1e9, 1e16};
    for (int i = 0; i < 6; i++)
        for (int how = 0; how < 3; how++) {
            throw t = {.speed = speed[i], .wall = 0.2, .frames = 6, .threads = 1, .down = how == 1};
            t.in_the_pool = how == 2;
            if (how && speed[i] > 1e4) continue; // the pool breaks apart
            count_steps(&t);
            block_free(&t.end);
        }
}

static void outliers_do_not_depend_on_threads(void **state)
{
    (void)state;
    throw one = {.depth = 0.25, .speed = 500, .wall = 0.3, .frames = 4, .threads = 1, .in_the_pool = true}, two = one;
    two.threads = 4;
    assert_int_equal(count_steps(&one), count_steps(&two));
    assert_true(one.outliers > 0 && one.outliers == two.outliers);
    assert_same_blocks(&one.end, &two.end);
    block_free(&one.end), block_free(&two.end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_raised_alone),
        cmocka_unit_test(little_liquid_is_not_judged),
        cmocka_unit_test(first_and_worst_are_kept),
        cmocka_unit_test(counts_are_saved),
        cmocka_unit_test(strict_steps_fail_and_are_complete),
        cmocka_unit_test(explosions_are_errors),
        cmocka_unit_test(solids_that_enter_full_tanks_are_told),
        cmocka_unit_test(escaped_and_racing_bodies),
        cmocka_unit_test(outliers_do_not_shorten_the_step),
        cmocka_unit_test(outliers_pass_no_wall_at_any_speed),
        cmocka_unit_test(outliers_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
