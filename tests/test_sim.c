// The simulation: definitions refused with a reason, time and frames, emitters, outflow, plane scenes, failing
// callbacks, crushed liquid.
#include "sim_test.h"
#include "sim/sim.h"

// ---- Definitions ----

static void bad_size_x(scene *s) { s->def.domain.size.x = 0; }
static void bad_size_y(scene *s) { s->def.domain.size.y = NAN; }
static void bad_size_z(scene *s) { s->def.domain.size.z = -1; }
static void bad_size_infinite(scene *s) { s->def.domain.size.x = INFINITY; }
static void bad_few_cells(scene *s) { s->def.domain.cells = 3; }
static void bad_many_cells(scene *s) { s->def.domain.cells = 4097; }
static void bad_lattice(scene *s) { s->def.domain.cells = 4096; }
static void bad_wall(scene *s) { s->def.domain.walls[MO_YMAX] = (mo_wall)3; }
static void bad_gravity(scene *s) { s->def.gravity.z = NAN; }
static void bad_gravity_infinite(scene *s) { s->def.gravity.y = -INFINITY; }
static void bad_fps(scene *s) { s->def.time.fps = 0; }
static void bad_fps_nan(scene *s) { s->def.time.fps = NAN; }
static void bad_seconds(scene *s) { s->def.time.seconds = -1; }
static void bad_seconds_infinite(scene *s) { s->def.time.seconds = INFINITY; }
static void bad_frames(scene *s) { s->def.time.seconds = 1e9; }
static void bad_cfl(scene *s) { s->def.time.cfl = 0; }
static void bad_cfl_large(scene *s) { s->def.time.cfl = 3.6; }
static void bad_max_step(scene *s) { s->def.time.max_step = -0.1; }
static void bad_max_step_nan(scene *s) { s->def.time.max_step = NAN; }
static void bad_tolerance(scene *s) { s->def.solver.tolerance = 0; }
static void bad_tolerance_large(scene *s) { s->def.solver.tolerance = 1; }
static void bad_tolerance_nan(scene *s) { s->def.solver.tolerance = NAN; }
static void bad_iterations(scene *s) { s->def.solver.max_iterations = 0; }
static void bad_scheme(scene *s) { strcpy(s->def.solver.scheme, "PQ"); }
static void bad_route(scene *s) { s->def.solver.route = (mo_route)7; }
static void bad_preconditioner(scene *s) { s->def.solver.preconditioner = (mo_preconditioner)7; }
static void bad_per_axis(scene *s) { s->def.particles_per_axis = 0; }
static void bad_per_axis_large(scene *s) { s->def.particles_per_axis = 5; }
static void bad_threads(scene *s) { s->def.threads = -1; }
static void bad_threads_many(scene *s) { s->def.threads = 2000; }
static void bad_contents(scene *s) { s->def.liquid_count = s->def.emitter_count = 0; }
static void bad_liquid_count(scene *s) { s->def.liquid_count = -1; }
static void bad_solid_count(scene *s) { s->def.solid_count = -1; }
static void bad_liquid_shape(scene *s) { s->liquid[0].shape = NULL; }
static void bad_liquid_density(scene *s) { s->liquid[0].density = -3; }
static void bad_liquid_density_nan(scene *s) { s->liquid[0].density = NAN; }
static void bad_liquid_velocity(scene *s) { s->liquid[0].velocity.y = NAN; }
static void bad_two_densities(scene *s) { s->liquid[1].density = 900; }
static void bad_emitter_shape(scene *s) { s->emitter[0].shape = NULL; }
static void bad_emitter_velocity(scene *s) { s->emitter[0].velocity = mo_v3(0, 0, 0); }
static void bad_emitter_velocity_nan(scene *s) { s->emitter[0].velocity.x = NAN; }
static void bad_emitter_density(scene *s) { s->emitter[0].density = 999; }
static void bad_lone_emitter_density(scene *s) { s->def.liquid_count = 0, s->emitter[0].density = -5; }
static void bad_lone_emitter_no_density(scene *s) { s->def.liquid_count = 0, s->emitter[0].density = 0; }
static void bad_lone_emitter_nan(scene *s) { s->def.liquid_count = 0, s->emitter[0].density = NAN; }
static void bad_emitter_start(scene *s) { s->emitter[0].start = -1; }
static void bad_emitter_start_nan(scene *s) { s->emitter[0].start = NAN; }
static void bad_emitter_seconds(scene *s) { s->emitter[0].seconds = 0; }
static void bad_emitter_seconds_nan(scene *s) { s->emitter[0].seconds = NAN; }
static void bad_solid_shape(scene *s) { s->solid[0].shape = NULL; }

static void bad_rounds(scene *s) { s->def.solver.rounds = 0; }
static void bad_rounds_many(scene *s) { s->def.solver.rounds = 101; }
static void bad_cone(scene *s) { s->def.solver.cone = true, s->def.solver.route = MO_ROUTE_PAPER; }
static void bad_cone_verified(scene *s) { s->def.solver.cone = s->def.solver.verify = true; }
static void bad_viscosity(scene *s) { s->liquid[1].viscosity = -2; }
static void bad_viscosity_nan(scene *s) { s->liquid[0].viscosity = NAN; }
static void bad_viscosity_infinite(scene *s) { s->liquid[0].viscosity = INFINITY; }
static void bad_viscosity_large(scene *s) { s->liquid[0].viscosity = 1e39; }
static void bad_emitter_viscosity(scene *s) { s->emitter[0].viscosity = -1; }
static void bad_emitter_viscosity_nan(scene *s) { s->emitter[0].viscosity = NAN; }
static void bad_consistency(scene *s) { s->liquid[0].rheology.consistency = -1; }
static void bad_flow_index(scene *s) { s->liquid[0].rheology.flow_index = 0; }
static void bad_yield_stress(scene *s) { s->liquid[1].rheology.yield_stress = NAN; }
static void bad_threshold(scene *s) { s->liquid[1].rheology.yield_stress = 5; }
static void bad_emitter_rheology(scene *s) { s->emitter[0].rheology.flow_index = NAN; }
static void bad_two_viscosities(scene *s) { s->liquid[0].viscosity = s->liquid[0].rheology.consistency = 1; }
static void bad_emitter_two(scene *s) { s->emitter[0].viscosity = s->emitter[0].rheology.consistency = 1; }
static void bad_tension(scene *s) { s->liquid[0].surface_tension = -0.07; }
static void bad_tension_nan(scene *s) { s->liquid[0].surface_tension = NAN; }
static void bad_tension_infinite(scene *s) { s->liquid[0].surface_tension = INFINITY; }
static void bad_two_tensions(scene *s) { s->liquid[0].surface_tension = 0.07; }
static void bad_emitter_tension(scene *s) { s->emitter[0].surface_tension = 0.07; }
static void bad_solid_open(scene *s) { s->solid[0].wall = MO_WALL_OPEN; }
static void bad_solid_wall(scene *s) { s->solid[0].wall = (mo_wall)7; }
static void bad_solid_wall_negative(scene *s) { s->solid[0].wall = (mo_wall)-1; }
static void bad_surface_velocity(scene *s) { s->solid[0].surface_velocity.z = NAN; }
static void bad_surface_velocity_infinite(scene *s) { s->solid[0].surface_velocity.x = INFINITY; }

static mo_status constant_viscosity(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    (void)user, (void)x, (void)t, (void)err;
    *viscosity = 1;
    return MO_OK;
}
static void bad_function_and_rheology(scene *s)
{
    s->liquid[0].viscosity_fn = constant_viscosity, s->liquid[0].rheology.consistency = 1;
}

static mo_status fail_silently(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    (void)user, (void)x, (void)velocity, (void)err;
    return MO_ERROR_STOPPED;
}

static mo_status blow(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    (void)user, (void)x, (void)err;
    velocity->y = NAN;
    return MO_OK;
}
static void bad_velocity_fn(scene *s) { s->liquid[0].velocity_fn = blow; }

static const struct {
    void (*spoil)(scene *s);
    const char *text;
} bad_definitions[] = {
    {bad_size_x, "domain: size must be > 0"},
    {bad_size_y, "domain: size must be > 0"},
    {bad_size_z, "domain: size must be > 0"},
    {bad_size_infinite, "domain: size must be > 0"},
    {bad_few_cells, "domain: cells must be in 4..4096, got 3"},
    {bad_many_cells, "domain: cells must be in 4..4096, got 4097"},
    {bad_lattice, "the domain has more than 2^31 cells"},
    {bad_wall, "domain: "},
    {bad_gravity, "gravity must be finite"},
    {bad_gravity_infinite, "gravity must be finite"},
    {bad_fps, "time: fps must be > 0, got 0"},
    {bad_fps_nan, "time: fps must be > 0"},
    {bad_seconds, "time: seconds must be > 0, got -1"},
    {bad_seconds_infinite, "time: seconds must be > 0, got inf"},
    {bad_frames, "time: more than a million frames"},
    {bad_cfl, "time: cfl must be in (0, 3.5], got 0"},
    {bad_cfl_large, "time: cfl must be in (0, 3.5], got 3.6"},
    {bad_max_step, "time: max_step must be >= 0, got -0.1"},
    {bad_max_step_nan, "time: max_step must be >= 0"},
    {bad_tolerance, "solver: tolerance must be in (0, 1), got 0"},
    {bad_tolerance_large, "solver: tolerance must be in (0, 1), got 1"},
    {bad_tolerance_nan, "solver: tolerance must be in (0, 1)"},
    {bad_iterations, "solver: max_iterations must be >= 1, got 0"},
    {bad_scheme, "PQ"},
    {bad_route, "solver: "},
    {bad_preconditioner, "solver: "},
    {bad_per_axis, "per_axis must be in 1..4, got 0"},
    {bad_per_axis_large, "per_axis must be in 1..4, got 5"},
    {bad_threads, "threads must be in 0..1024, got -1"},
    {bad_threads_many, "threads must be in 0..1024, got 2000"},
    {bad_contents, "nothing to simulate"},
    {bad_liquid_count, "count"},
    {bad_solid_count, "count"},
    {bad_liquid_shape, "liquid 1: no shape"},
    {bad_liquid_density, "liquid 1: density must be > 0, got -3"},
    {bad_liquid_density_nan, "liquid 1: density must be > 0"},
    {bad_liquid_velocity, "liquid 1: velocity must be finite"},
    {bad_two_densities, "liquid 2: density 900 differs from 1000"},
    {bad_emitter_shape, "emitter 1: no shape"},
    {bad_emitter_velocity, "emitter 1: velocity must be finite and not zero"},
    {bad_emitter_velocity_nan, "emitter 1: velocity must be finite and not zero"},
    {bad_emitter_density, "emitter 1: density 999 differs from 1000"},
    {bad_lone_emitter_density, "emitter 1: density must be > 0, got -5"},
    {bad_lone_emitter_no_density, "emitter 1: density must be > 0, got 0"},
    {bad_lone_emitter_nan, "emitter 1: density must be > 0"},
    {bad_emitter_start, "emitter 1: start must be >= 0"},
    {bad_emitter_start_nan, "emitter 1: start must be >= 0"},
    {bad_emitter_seconds, "seconds > 0"},
    {bad_emitter_seconds_nan, "seconds > 0"},
    {bad_solid_shape, "solid 'ledge': no shape"},
    {bad_velocity_fn, "liquid 1: velocity at ("},
    {bad_rounds, "solver: rounds must be in 1..100, got 0"},
    {bad_rounds_many, "solver: rounds must be in 1..100, got 101"},
    {bad_cone, "solver: cone is not for route paper, which bounds friction on each tangent, nor for verify"},
    {bad_cone_verified, "solver: cone is not for route paper, which bounds friction on each tangent, nor for verify"},
    {bad_viscosity, "liquid 2: viscosity must be finite and >= 0, got -2"},
    {bad_viscosity_nan, "liquid 1: viscosity must be finite and >= 0"},
    {bad_viscosity_infinite, "liquid 1: viscosity must be finite and >= 0, got inf"},
    {bad_viscosity_large, "liquid 1: viscosity must be finite and >= 0, got 1e+39"},
    {bad_emitter_viscosity, "emitter 1: viscosity must be finite and >= 0, got -1"},
    {bad_emitter_viscosity_nan, "emitter 1: viscosity must be finite and >= 0"},
    {bad_consistency, "liquid 1: rheology.consistency must be >= 0, got -1"},
    {bad_flow_index, "liquid 1: rheology.flow_index must be > 0, got 0"},
    {bad_yield_stress, "liquid 2: rheology.yield_stress must be >= 0"},
    {bad_threshold, "liquid 2: rheology.threshold must be > 0 with a yield_stress of 5"},
    {bad_emitter_rheology, "emitter 1: rheology.flow_index must be > 0"},
    {bad_two_viscosities, "liquid 1: has a viscosity and a rheology"},
    {bad_emitter_two, "emitter 1: has a viscosity and a rheology"},
    {bad_function_and_rheology, "liquid 1: has a viscosity and a rheology"},
    {bad_tension, "liquid 1: surface_tension must be finite and >= 0, got -0.07"},
    {bad_tension_nan, "liquid 1: surface_tension must be finite and >= 0"},
    {bad_tension_infinite, "liquid 1: surface_tension must be finite and >= 0, got inf"},
    {bad_two_tensions, "liquid 2: surface_tension 0 differs from 0.07 of liquid 1"},
    {bad_emitter_tension, "emitter 1: surface_tension 0.07 differs from 0 of liquid 1"},
    {bad_solid_open, "solid 'ledge': its wall cannot be open"},
    {bad_solid_wall, "solid 'ledge': its wall is of no known kind (7)"},
    {bad_solid_wall_negative, "solid 'ledge': its wall is of no known kind (-1)"},
    {bad_surface_velocity, "solid 'ledge': surface_velocity must be finite"},
    {bad_surface_velocity_infinite, "solid 'ledge': surface_velocity must be finite"},
};

static void scene_two_liquids(scene *s)
{
    scene_start(s, 8, 1);
    scene_liquid(s, box_between(-1, -1, -1, 0.5, 0.5, 2));
    scene_liquid(s, ball_at(0.7, 0.7, 0.5, 0.2));
    scene_solid(s, "ledge", box_between(0.7, -1, -1, 0.8, 0.12, 2), NULL);
    scene_emitter(s, ball_at(0.3, 0.8, 0.5, 0.1), mo_v3(1, 0, 0));
}

static void bad_definitions_are_refused(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    for (size_t i = 0; i < sizeof bad_definitions / sizeof *bad_definitions; i++) {
        scene good, s;
        scene_two_liquids(&good);
        s = good;
        s.def.liquids = s.liquid, s.def.solids = s.solid, s.def.emitters = s.emitter;
        bad_definitions[i].spoil(&s);
        mo_sim *sim = (mo_sim *)&s; // must be overwritten
        mo_error err = {0};
        mo_status status = mo_sim_create(&s.def, &sim, &err);
        if (status != MO_ERROR_INPUT || !strstr(err.text, bad_definitions[i].text))
            print_error("case %zu, \"%s\": status %d, \"%s\"\n", i, bad_definitions[i].text, status, err.text);
        assert_int_equal(status, MO_ERROR_INPUT);
        assert_int_equal(err.status, MO_ERROR_INPUT);
        assert_non_null(strstr(err.text, bad_definitions[i].text));
        assert_null(sim);
        assert_int_equal(mo_sim_create(&s.def, &sim, NULL), MO_ERROR_INPUT);
        if (bad_definitions[i].spoil != bad_velocity_fn) {
            int64_t particles, bytes;
            assert_int_equal(mo_sim_estimate(&s.def, &particles, &bytes, &err), MO_ERROR_INPUT);
        }
        scene_end(&good);
    }
    assert_int_equal(mo_memory_in_use(), before);
}

static void places_without_room_are_refused(void **state)
{
    (void)state;
    scene s;
    mo_sim *sim;
    mo_error err;
    scene_start(&s, 8, 1);
    scene_liquid(&s, ball_at(3, 3, 3, 0.5));
    assert_int_equal(mo_sim_create(&s.def, &sim, &err), MO_ERROR_INPUT);
    assert_string_equal(err.text, "liquid 1: is empty (outside the domain, or smaller than a cell)");
    scene_end(&s);
    scene_start(&s, 8, 1);
    scene_liquid(&s, ball_at(0.5, 0.5, 0.5, 0.2));
    scene_solid(&s, "rock", ball_at(0.5, 0.5, 0.5, 0.3), NULL);
    assert_int_equal(mo_sim_create(&s.def, &sim, &err), MO_ERROR_INPUT);
    assert_string_equal(err.text, "liquid 1: lies entirely inside a solid");
    scene_end(&s);
    scene_start(&s, 8, 1);
    mo_shape *plane = mo_shape_plane(mo_v3(0, 1, 0), 0.5), *slab = mo_shape_box(mo_v3(0.2, 1, 0.2));
    scene_emitter(&s, mo_shape_intersect(plane, plane), mo_v3(1, 0, 0));
    assert_int_equal(mo_sim_create(&s.def, &sim, &err), MO_ERROR_INPUT);
    assert_string_equal(err.text, "emitter 1: the shape must be bounded");
    mo_shape_release(plane), mo_shape_release(slab);
    scene_end(&s);
}

// A callback that only returns a status still stops the creation.
static void failing_callbacks_stop(void **state)
{
    (void)state;
    static const mo_status late = MO_ERROR_STOPPED;
    scene s;
    scene_start(&s, 8, 1);
    scene_liquid(&s, ball_at(0.5, 0.5, 0.5, 0.3))->velocity_fn = fail_silently;
    mo_sim *sim;
    mo_error err = {0};
    assert_int_equal(mo_sim_create(&s.def, &sim, &err), late);
    assert_null(sim);
    assert_int_equal(mo_sim_create(&s.def, &sim, NULL), late);
    assert_null(sim);
    scene_end(&s);
}

// ---- Viscosity ----

// What it gives depends on the place: x < 0.2 NaN, < 0.4 negative, < 0.6 a failure without a word, < 0.8 with one.
static mo_status odd_viscosity(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    (void)user;
    if (x.x < 0.2) *viscosity = NAN;
    if (x.x >= 0.2 && x.x < 0.4) *viscosity = -3;
    if (x.x >= 0.4 && x.x < 0.6) return MO_ERROR_STOPPED;
    if (x.x >= 0.6 && x.x < 0.8) return mo_fail(err, MO_ERROR_FAILED, "the table has a hole");
    if (x.x >= 0.8 && x.x < 0.9) *viscosity = 10 * x.y + t;
    return MO_OK;
}

static void viscosity_functions_are_checked(void **state)
{
    (void)state;
    static const struct {
        double x;
        int32_t source;
        mo_status status;
        const char *text;
    } cases[] = {
        {0.1, 1, MO_ERROR_INPUT, "liquid 2: viscosity at (0.1, 0.5, 0), t = 2 must be finite and >= 0, got"},
        {0.3, 1, MO_ERROR_INPUT, "liquid 2: viscosity at (0.3, 0.5, 0), t = 2 must be finite and >= 0, got -3"},
        {0.3, 2, MO_ERROR_INPUT, "emitter 1: viscosity at (0.3, 0.5, 0), t = 2 must be finite and >= 0, got -3"},
        {0.95, 2, MO_ERROR_INPUT, "emitter 1: viscosity at (0.95, 0.5, 0)"}, // nothing written
        {0.5, 1, MO_ERROR_STOPPED, "liquid 2: its viscosity function failed"},
        {0.7, 2, MO_ERROR_FAILED, "the table has a hole"},
    };
    scene s;
    scene_two_liquids(&s);
    s.liquid[0].rheology = (mo_rheology){.consistency = 7, .flow_index = 0.5, .threshold = 0.1};
    mo_sim *sim = scene_create(&s);
    // Functions that are wrong somewhere: after the creation, which asks them where the particles are.
    sim->liquids[1].viscosity_fn = sim->emitters[0].viscosity_fn = odd_viscosity;
    double eta;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mo_error err = {0};
        mo_vec3 x = mo_v3(cases[i].x, 0.5, 0);
        assert_int_equal(mo_sim_viscosity_at(sim, cases[i].source, x, 2, &eta, &err), cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        if (!strstr(err.text, cases[i].text)) fail_msg("says %s\nexpected %s", err.text, cases[i].text);
        assert_int_equal(mo_sim_viscosity_at(sim, cases[i].source, x, 2, &eta, NULL), cases[i].status);
    }
    assert_int_equal(mo_sim_viscosity_at(sim, 1, mo_v3(0.85, 0.5, 0), 2, &eta, NULL), MO_OK);
    assert_true(eta == 7);
    assert_int_equal(mo_sim_viscosity_at(sim, 0, mo_v3(0.1, 0.5, 0), 2, &eta, NULL), MO_OK);
    assert_true(eta == 7); // the consistency
    mo_sim_destroy(sim);
    scene_end(&s);
}

// Any liquid or emitter makes the simulation viscous; without one, particles carry nothing more than they did.
static void particles_tell_their_viscosity(void **state)
{
    (void)state;
    for (int what = 0; what < 5; what++) {
        scene s;
        scene_two_liquids(&s);
        if (what == 1) s.liquid[1].viscosity = 2;
        if (what == 2) s.liquid[0].viscosity_fn = constant_viscosity;
        if (what == 3) s.emitter[0].rheology.consistency = 3;
        if (what == 4) s.emitter[0].viscosity = 4;
        mo_sim *sim = scene_create(&s);
        int64_t n = mo_sim_particle_count(sim);
        float *viscosity = malloc(sizeof(float) * (size_t)(n + 1));
        viscosity[0] = viscosity[n] = -5;
        assert_int_equal(mo_sim_particle_viscosity(sim, viscosity), what > 0);
        assert_int_equal(mo_sim_particle_viscosity(sim, NULL), what > 0);
        assert_int_equal(viscosity[0] == -5, what == 0);
        assert_true(viscosity[n] == -5);
        static const float value[] = {0, 2, 1, 3, 4};
        int64_t with = 0;
        for (int64_t q = 0; q < n && what; q++) {
            assert_true(viscosity[q] == 0 || viscosity[q] == value[what]);
            with += viscosity[q] > 0;
        }
        assert_true(what == 0 || (with > 0 && with < n));
        free(viscosity);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

static mo_status lost(void *user, double t, mo_pose *pose, mo_error *err)
{
    const scene *s = user;
    if (t >= s->amplitude) {
        if (s->def.threads == 2) return mo_fail(err, MO_ERROR_STOPPED, "the script fell asleep");
        pose->position.x = NAN;
    }
    return MO_OK;
}

static void lost_solids_stop(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) { // not finite or failing, at the start or later
        scene s;
        scene_start(&s, 8, 1);
        s.amplitude = how & 1 ? 0.05 : 0;
        s.def.threads = how & 2 ? 2 : 1;
        scene_liquid(&s, ball_at(0.5, 0.5, 0.5, 0.3));
        scene_solid(&s, "ghost", ball_at(0.2, 0.2, 0.2, 0.1), lost);
        mo_sim *sim;
        mo_error err = {0};
        mo_status status = mo_sim_create(&s.def, &sim, &err);
        for (int step = 0; step < 30 && status == MO_OK; step++) {
            assert_true(how & 1);
            status = mo_sim_step(sim, NULL, &err);
        }
        assert_int_equal(status, how & 2 ? MO_ERROR_STOPPED : MO_ERROR_INPUT);
        assert_non_null(strstr(err.text, how & 2 ? "the script fell asleep" : "moving 'ghost': motion("));
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// ---- Time ----

static void count_steps(void *user, const mo_stats *stats)
{
    mo_stats *last = user;
    assert_int_equal(stats->step, last->step + 1);
    assert_true(stats->dt > 0 && stats->time > last->time);
    assert_true(fabs(stats->time - last->time - stats->dt) < 1e-12);
    *last = *stats;
}

static void frames_end_on_time(void **state)
{
    (void)state;
    static const struct {
        double fps, seconds;
        int32_t frames;
    } runs[] = {{50, 0.1, 5}, {30, 0.1, 3}, {24, 0.5, 12}, {10, 0.25, 3}, {7, 1, 7}, {2.5, 0.4, 1}, {1000, 0.003, 3}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        scene s;
        scene_start(&s, 8, 0);
        s.def.time.fps = runs[r].fps, s.def.time.seconds = runs[r].seconds, s.def.time.max_step = 0.03;
        scene_liquid(&s, ball_at(0.5, 0.5, 0, 0.3));
        mo_sim *sim = scene_create(&s);
        assert_int_equal(mo_sim_frame_count(sim), runs[r].frames);
        assert_true(mo_sim_time(sim) == 0 && mo_sim_frame(sim) == 0);
        mo_stats last = {.step = -1};
        for (int32_t frame = 1; frame <= runs[r].frames; frame++) {
            assert_false(mo_sim_done(sim));
            assert_int_equal(mo_sim_advance(sim, count_steps, &last, NULL), MO_OK);
            assert_int_equal(mo_sim_frame(sim), frame);
            assert_int_equal(last.frame, frame);
            assert_true(last.dt <= 0.03 * (1 + 1e-8));
            assert_true(mo_sim_time(sim) == frame / runs[r].fps && last.time == mo_sim_time(sim));
        }
        assert_true(mo_sim_done(sim));
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

static void estimates_match(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        scene s;
        scene_start(&s, flat ? 64 : 24, flat ? 0 : 1);
        scene_liquid(&s, box_between(-1, -1, -1, 0.6, 0.6, 2));
        int64_t particles, bytes, before = mo_memory_in_use();
        assert_int_equal(mo_sim_estimate(&s.def, &particles, &bytes, NULL), MO_OK);
        assert_int_equal(mo_memory_in_use(), before);
        mo_memory_reset_peak();
        mo_sim *sim = scene_create(&s);
        assert_int_equal(mo_sim_particle_count(sim), particles);
        sim_step(sim);
        double used = (double)(mo_memory_peak() - before);
        print_message("%s: %lld particles, estimated %.1f MB, used %.1f MB\n", flat ? "2D" : "3D", (long long)particles,
                      1e-6 * (double)bytes, 1e-6 * used);
        if (!flat) assert_true((double)bytes > 0.4 * used && (double)bytes < 2.5 * used);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// ---- Emitters and outflow ----

static double particle_volume(const mo_sim *sim)
{
    int64_t n = mo_sim_particle_count(sim);
    float *volume = malloc(sizeof(float) * (size_t)n + 4);
    double sum = 0;
    mo_sim_particles(sim, NULL, NULL, volume);
    for (int64_t q = 0; q < n; q++) sum += volume[q];
    free(volume);
    return sum;
}

// Volume = shape + cross-section times speed times time, whatever the step, the start and the direction.
static void emitters_emit_their_flux(void **state)
{
    (void)state;
    static const struct {
        double start, seconds;
        mo_vec3 velocity;
        int ball;
    } runs[] = {{0, INFINITY, {0, -1, 0}, 1},    {0, INFINITY, {0.6, 0, 0.8}, 1}, {0.04, INFINITY, {1, 0, 0}, 0},
                {0.05, 0.1, {0, 0, 1.5}, 0},     {0.033, 0.08, {0, 1, 0}, 1},     {0, 0.02, {0, -2, 0}, 0},
                {0.0001, INFINITY, {0, 2, 0}, 0}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        scene s;
        scene_start(&s, 20, 1);
        s.def.gravity = mo_v3(0, 0, 0);
        mo_shape *shape = runs[r].ball ? ball_at(0.5, 0.5, 0.5, 0.25) : box_between(0.4, 0.4, 0.4, 0.6, 0.6, 0.6);
        double own = runs[r].ball ? 4 * M_PI / 3 * 0.25 * 0.25 * 0.25 : 0.008;
        double flux = mo_norm(runs[r].velocity) * (runs[r].ball ? M_PI * 0.25 * 0.25 : 0.04);
        mo_emitter_def *e = scene_emitter(&s, shape, runs[r].velocity);
        e->start = runs[r].start, e->seconds = runs[r].seconds;
        mo_sim *sim = scene_create(&s);
        for (int frame = 0; frame <= 10; frame++) {
            double t = mo_sim_time(sim), emitting = fmin(t - runs[r].start, runs[r].seconds);
            double expected = emitting >= 0 ? own + flux * emitting : 0, got = particle_volume(sim);
            if (fabs(got - expected) > 0.01 * expected + 2e-4)
                print_error("run %zu, t = %g: emitted %g, expected %g\n", r, t, got, expected);
            assert_true(fabs(got - expected) <= 0.01 * expected + 2e-4);
            if (frame < 10) assert_int_equal(mo_sim_advance(sim, NULL, NULL, NULL), MO_OK);
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// Of a shape that sticks out of the domain only the part inside counts: liquid enters by the wall.
static void emitters_stick_out(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++)
        for (int flat = 0; flat < 2; flat++) {
            scene s;
            scene_start(&s, 20, flat ? 0 : 1);
            s.def.gravity = mo_v3(0, 0, 0);
            if (side) s.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
            double from = side ? 0.9 : -0.33, across = 0.2 * (flat ? 1.0 / 20 : 0.2), inside = 0.1;
            scene_emitter(&s, box_between(from, 0.4, flat ? -1 : 0.4, from + 0.43, 0.6, flat ? 1 : 0.6),
                          mo_v3(side ? -1 : 1, 0, 0));
            mo_sim *sim = scene_create(&s);
            for (int frame = 0; frame < 10; frame++) assert_int_equal(mo_sim_advance(sim, NULL, NULL, NULL), MO_OK);
            double expected = across * (inside + mo_sim_time(sim)), got = particle_volume(sim);
            print_message("sticks out: %.3g of %.3g\n", got, expected);
            assert_true(fabs(got - expected) <= 0.01 * expected + 2e-4);
            mo_sim_destroy(sim);
            scene_end(&s);
        }
}

// A nozzle thinner than the way of one step loses nothing either.
static void thin_emitters_emit_their_flux(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        scene s;
        scene_start(&s, 20, flat ? 0 : 1);
        s.def.gravity = mo_v3(0, 0, 0);
        double lo = flat ? -1 : 0.3, hi = flat ? 1 : 0.7, across = flat ? 0.4 / 20 : 0.16;
        scene_emitter(&s, box_between(0.3, 0.3, lo, 0.35, 0.7, hi), mo_v3(6, 0, 0)); // 2.4 cells a step
        mo_sim *sim = scene_create(&s);
        for (int frame = 0; frame < 4; frame++) assert_int_equal(mo_sim_advance(sim, NULL, NULL, NULL), MO_OK);
        double expected = across * (0.05 + 6 * mo_sim_time(sim)), got = particle_volume(sim);
        print_message("thin emitter: %g of %g\n", got, expected);
        assert_true(fabs(got - expected) < 0.01 * expected);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// Inside a jet in free space particles stay evenly spread: eight in every cell's volume, none on top of another.
static void jets_are_even(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 20, 1);
    s.def.gravity = mo_v3(0, 0, 0);
    scene_emitter(&s, box_between(0.25, 0.35, 0.35, 0.35, 0.65, 0.65), mo_v3(2, 0, 0));
    mo_sim *sim = scene_create(&s);
    for (int frame = 0; frame < 11; frame++) assert_int_equal(mo_sim_advance(sim, NULL, NULL, NULL), MO_OK);
    int64_t n = mo_sim_particle_count(sim), inside = 0, close = 0;
    float *x = malloc(sizeof(float) * 3 * (size_t)n), *v = malloc(sizeof(float) * 3 * (size_t)n);
    mo_sim_particles(sim, x, v, NULL);
    double speed = 0;
    for (int64_t q = 0; q < n; q++) {
        if (x[3 * q] > 0.3 && x[3 * q] < 0.7) {
            inside++, speed += v[3 * q];
            for (int64_t p = 0; p < q; p++) {
                double d = hypot(hypot(x[3 * p] - x[3 * q], x[3 * p + 1] - x[3 * q + 1]), x[3 * p + 2] - x[3 * q + 2]);
                close += d < 0.2 * 0.025;
            }
        }
    }
    double expected = 0.4 * 0.3 * 0.3 * 8000 * 8;
    print_message("jet: %lld particles for %.0f, %lld pairs nearer than a fifth of the spacing, speed %.4f\n",
                  (long long)inside, expected, (long long)close, speed / (double)inside);
    assert_true(fabs((double)inside - expected) < 0.02 * expected);
    assert_true(close < inside / 100);
    assert_true(fabs(speed / (double)inside - 2) < 0.01);
    free(x), free(v);
    mo_sim_destroy(sim);
    scene_end(&s);
}

static void open_boxes_run_empty(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        scene s;
        scene_start(&s, 12, flat ? 0 : 1);
        for (int w = 0; w < 6; w++) s.def.domain.walls[w] = MO_WALL_OPEN;
        scene_liquid(&s, ball_at(0.5, 0.5, flat ? 0 : 0.5, 0.25))->velocity = mo_v3(0.4, 1, flat ? 0 : -0.3);
        mo_sim *sim = scene_create(&s);
        double first = particle_volume(sim), last = first;
        int step = 0;
        for (; step < 400 && mo_sim_particle_count(sim); step++) {
            mo_stats stats = sim_step(sim);
            assert_true(fabs(stats.volume_target - particle_volume(sim)) < 1e-5 * first);
            assert_true(stats.volume_target <= last * (1 + 1e-6));
            assert_int_equal(stats.particles, mo_sim_particle_count(sim));
            last = stats.volume_target;
        }
        assert_int_equal(mo_sim_particle_count(sim), 0);
        assert_true(last == 0 && step > 3);
        for (step = 0; step < 3; step++) assert_true(sim_step(sim).volume == 0); // and goes on without liquid
        mo_mesh mesh;
        double volume;
        assert_int_equal(mo_sim_surface(sim, &mesh, NULL), MO_OK);
        assert_int_equal(mesh.triangle_count, 0);
        mo_mesh_destroy(&mesh);
        assert_int_equal(mo_sim_visible_volume(sim, &volume, NULL), MO_OK);
        assert_true(volume == 0);
        block b = sim_save(sim);
        assert_int_equal(mo_sim_load(sim, b.data, b.bytes, NULL), MO_OK);
        block_free(&b);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// ---- Planes and walls ----

static void plane_scenes_stay_plane(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 24, 0);
    s.def.gravity = mo_v3(0.5, -9.81, 2);
    s.amplitude = 0.1;
    scene_liquid(&s, box_between(-1, -1, -1, 0.4, 0.5, 1))->velocity = mo_v3(1, 0, 0.7);
    scene_liquid(&s, ball_at(0.7, 0.8, 0, 0.03)); // a droplet that flies
    scene_solid(&s, "bar", mo_shape_box(mo_v3(0.2, 0.08, 2)), swing);
    scene_emitter(&s, ball_at(0.8, 0.5, 0, 0.05), mo_v3(-1, 0.2, 0.9));
    mo_sim *sim = scene_create(&s);
    int64_t flown = 0;
    for (int step = 0; step < 20; step++) {
        mo_stats stats = sim_step(sim);
        flown += stats.ballistic;
        assert_true(stats.momentum.z == 0);
        int64_t n = mo_sim_particle_count(sim);
        float *x = malloc(sizeof(float) * 3 * (size_t)n), *v = malloc(sizeof(float) * 3 * (size_t)n);
        mo_sim_particles(sim, x, v, NULL);
        for (int64_t q = 0; q < n; q++) {
            assert_true(fabs(x[3 * q + 2] - 0.5 / 24) < 1e-7);
            assert_true(v[3 * q + 2] == 0);
        }
        free(x), free(v);
    }
    assert_true(flown > 0);
    mo_sim_destroy(sim);
    scene_end(&s);
}

// Beyond an open wall particles may be for the rest of a step, by at most the correction's quarter cell.
static void assert_inside_domain(const mo_sim *sim, double depth, double above)
{
    int64_t n = mo_sim_particle_count(sim);
    float *x = malloc(sizeof(float) * 3 * (size_t)n + 4);
    mo_sim_particles(sim, x, NULL, NULL);
    for (int64_t q = 0; q < n; q++) {
        bool in = x[3 * q] >= 0 && x[3 * q] <= 1 && x[3 * q + 1] >= 0 && x[3 * q + 1] <= 1 + above &&
                  x[3 * q + 2] >= 0 && x[3 * q + 2] <= depth;
        if (!in) print_error("a particle at (%g, %g, %g)\n", x[3 * q], x[3 * q + 1], x[3 * q + 2]);
        assert_true(in);
    }
    free(x);
}

// A wall that sweeps the whole domain and leaves it on the far side, with the liquid in between.
static mo_status sweep(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    pose->position = mo_v3(-0.1 + 3 * t, 0.5, 0);
    return MO_OK;
}

static mo_status sweep_back(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    pose->position = mo_v3(1.1 - 3 * t, 0.5, 0);
    return MO_OK;
}

// Liquid with nowhere to go leaves the closing gap at any speed: it stays inside, or the step fails and says why.
static bool crushes(mo_sim *sim)
{
    mo_error err = {0};
    if (mo_sim_step(sim, NULL, &err) == MO_OK) return false;
    assert_non_null(strstr(err.text, "a hundred times what the scene can give"));
    return true;
}

static void crushed_liquid_stays_inside(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) { // one wall; two that meet; two, and the ceiling is open
        scene s;
        scene_start(&s, 16, how == 1 ? 0.4 : 0);
        if (how == 2) s.def.domain.walls[MO_YMAX] = MO_WALL_OPEN;
        scene_liquid(&s, box_between(-1, -1, -1, 2, 0.4, 2));
        scene_solid(&s, "press", mo_shape_box(mo_v3(0.2, 3, 3)), sweep);
        if (how) scene_solid(&s, "counter", mo_shape_box(mo_v3(0.2, 3, 3)), sweep_back);
        mo_sim *sim = scene_create(&s);
        for (int step = 0; step < 60 && !crushes(sim); step++) {
            assert_inside_domain(sim, how == 1 ? 0.4 : 1.0 / 16, how == 2 ? 0.5 / 16 : 0);
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// A start without liquid, until the emitter opens.
static void dry_starts_work(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 10, 1);
    scene_emitter(&s, ball_at(0.5, 0.7, 0.5, 0.1), mo_v3(0, -1, 0))->start = 0.05;
    mo_sim *sim = scene_create(&s);
    double volume, rms;
    mo_mesh mesh;
    assert_int_equal(mo_sim_particle_count(sim), 0);
    assert_int_equal(mo_sim_visible_volume(sim, &volume, NULL), MO_OK);
    assert_int_equal(mo_sim_density_rms(sim, &rms, NULL), MO_OK);
    assert_int_equal(mo_sim_surface(sim, &mesh, NULL), MO_OK);
    assert_true(volume == 0 && rms == 0 && mesh.triangle_count == 0);
    mo_mesh_destroy(&mesh);
    for (int step = 0; step < 8; step++) {
        mo_stats stats = sim_step(sim);
        assert_int_equal(stats.particles > 0, stats.time >= 0.05);
    }
    mo_sim_destroy(sim);
    scene_end(&s);
}

// The visible volume does not count what bulges out of an open wall, and the mesh encloses it.
static void visible_volume_ends_at_open_walls(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        scene s;
        scene_start(&s, 16, 1);
        if (open) s.def.domain.walls[MO_XMAX] = s.def.domain.walls[MO_XMIN] = MO_WALL_OPEN;
        scene_liquid(&s, box_between(-1, -1, -1, 2, 0.5, 2));
        mo_sim *sim = scene_create(&s);
        double volume;
        mo_mesh mesh;
        assert_int_equal(mo_sim_visible_volume(sim, &volume, NULL), MO_OK);
        assert_int_equal(mo_sim_surface(sim, &mesh, NULL), MO_OK);
        double enclosed = 0;
        for (int32_t t = 0; t < mesh.triangle_count; t++) {
            mo_vec3 p[3];
            for (int i = 0; i < 3; i++) {
                const float *x = mesh.position + 3 * mesh.triangle[3 * t + i];
                p[i] = mo_v3(x[0], x[1], x[2]);
                assert_true(x[0] > -1e-6 && x[0] < 1 + 1e-6 && x[1] > -1e-6 && x[2] > -1e-6 && x[2] < 1 + 1e-6);
            }
            enclosed += mo_dot(p[0], mo_cross(p[1], p[2])) / 6;
        }
        print_message("%s: filled 0.5, visible %.4f, in the mesh %.4f\n", open ? "open" : "closed", volume, enclosed);
        assert_true(fabs(volume - 0.5) < 0.01);
        assert_true(fabs(enclosed - 0.5) < 0.01);
        mo_mesh_destroy(&mesh);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(viscosity_functions_are_checked),
        cmocka_unit_test(particles_tell_their_viscosity),
        cmocka_unit_test(places_without_room_are_refused),
        cmocka_unit_test(failing_callbacks_stop),
        cmocka_unit_test(lost_solids_stop),
        cmocka_unit_test(frames_end_on_time),
        cmocka_unit_test(estimates_match),
        cmocka_unit_test(emitters_emit_their_flux),
        cmocka_unit_test(emitters_stick_out),
        cmocka_unit_test(thin_emitters_emit_their_flux),
        cmocka_unit_test(jets_are_even),
        cmocka_unit_test(open_boxes_run_empty),
        cmocka_unit_test(plane_scenes_stay_plane),
        cmocka_unit_test(crushed_liquid_stays_inside),
        cmocka_unit_test(dry_starts_work),
        cmocka_unit_test(visible_volume_ends_at_open_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
