// Viscous liquids in scenes: the keys viscosity, rheology, surface_tension, wall, surface_velocity, weights and rounds;
// what they become, what is wrong with them, overrides, and the functions that the simulation asks.
#include "scene_test.h"

static const char good[] =
    "domain  { size = {1, 1, 1}, cells = 8 }\n"
    "solver  { scheme = 'P-V-P', weights = 'raw', rounds = 7 }\n"
    "liquid  { shape = sphere{radius = 0.1}, viscosity = 12.5, surface_tension = 0.07 }\n"
    "liquid  { shape = sphere{radius = 0.1}, surface_tension = 0.07,\n"
    "          velocity = function(x, y, z) return x, y, z end,\n"
    "          viscosity = function(x, y, z) return 100*x + 10*y + z end }\n"
    "liquid  { name = 'paste', shape = sphere{radius = 0.1}, surface_tension = 0.07,\n"
    "          rheology = { consistency = 3, flow_index = 0.5, yield_stress = 20, threshold = 0.01 } }\n"
    "emitter { shape = sphere{radius = 0.1}, velocity = {0, -1, 0}, surface_tension = 0.07,\n"
    "          viscosity = function(x, y, z, t) return 1000*t + x end }\n"
    "emitter { shape = sphere{radius = 0.1}, velocity = {0, -1, 0}, surface_tension = 0.07,\n"
    "          rheology = { consistency = 4 } }\n"
    "fixed   { shape = sphere{radius = 0.1} }\n"
    "fixed   { name = 'belt', shape = sphere{radius = 0.1}, wall = 'no-slip', surface_velocity = {0.5, 0, -1} }\n"
    "moving  { shape = sphere{radius = 0.1}, wall = 'slip', surface_velocity = {1, 2},\n"
    "          motion = function(t) return { position = {t, 0, 0} } end }\n";

static void assert_rheology(const mo_rheology *r, double consistency, double index, double yield, double threshold)
{
    assert_true(r->consistency == consistency && r->flow_index == index);
    assert_true(r->yield_stress == yield && r->threshold == threshold);
}

static void keys_become_definition(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_string_equal(d->solver.scheme, "P-V-P");
    assert_true(d->solver.raw_weights && d->solver.rounds == 7);
    assert_int_equal(d->liquid_count, 3);
    assert_true(d->liquids[0].viscosity == 12.5 && !d->liquids[0].viscosity_fn && !d->liquids[0].viscosity_varies);
    assert_rheology(&d->liquids[0].rheology, 0, 1, 0, 0);
    assert_non_null(d->liquids[1].viscosity_fn);
    assert_true(d->liquids[1].viscosity == 0 && !d->liquids[1].viscosity_varies);
    assert_rheology(&d->liquids[2].rheology, 3, 0.5, 20, 0.01);
    assert_true(d->liquids[2].viscosity == 0 && !d->liquids[2].viscosity_fn);
    for (int32_t i = 0; i < 3; i++) assert_true(d->liquids[i].surface_tension == 0.07);
    assert_int_equal(d->emitter_count, 2);
    assert_non_null(d->emitters[0].viscosity_fn);
    assert_true(d->emitters[0].viscosity_varies && !d->emitters[1].viscosity_varies);
    assert_rheology(&d->emitters[1].rheology, 4, 1, 0, 0);
    assert_true(d->emitters[0].surface_tension == 0.07 && d->emitters[1].surface_tension == 0.07);
    assert_int_equal(d->solid_count, 3);
    assert_int_equal(d->solids[0].wall, MO_WALL_NO_SLIP);
    assert_true(d->solids[0].surface_velocity.x == 0);
    assert_int_equal(d->solids[1].wall, MO_WALL_NO_SLIP);
    assert_true(d->solids[1].surface_velocity.x == 0.5 && d->solids[1].surface_velocity.z == -1);
    assert_int_equal(d->solids[2].wall, MO_WALL_SLIP);
    assert_true(d->solids[2].surface_velocity.y == 2 && d->solids[2].surface_velocity.z == 0);
    mo_scene_destroy(scene);
    assert_true(mo_memory_in_use() == before);
}

static void schemes_and_weights(void **state)
{
    (void)state;
    static const char *const schemes[] = {"", "P", "PV-unified", "P-V-P"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[200];
        snprintf(text, sizeof text, DOMAIN LIQUID "solver{scheme='%s', weights='clamped', rounds=1}", schemes[i]);
        mo_scene *scene = load_good(text);
        const mo_solver_def *solver = &mo_scene_sim_def(scene)->solver;
        assert_string_equal(solver->scheme, schemes[i]);
        assert_true(!solver->raw_weights && solver->rounds == 1);
        mo_scene_destroy(scene);
    }
}

// A scene that says nothing of viscosity is what it was: the library's defaults, and no viscous simulation.
static void plain_scenes_stay_plain(void **state)
{
    (void)state;
    mo_scene *scene = load_good("domain{size={1,1}, cells=8}\nliquid{shape=box{size={1,1}}, viscosity=0}\n"
                                "emitter{shape=sphere{radius=0.2}:move(0.5,0.8), velocity={1,0}}\n"
                                "fixed{shape=sphere{radius=0.1}}");
    const mo_sim_def *d = mo_scene_sim_def(scene);
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_emitter_def emitter = mo_emitter_def_default();
    mo_solid_def solid = mo_solid_def_default();
    mo_sim_def sim_def = mo_sim_def_default();
    assert_true(liquid.viscosity == 0 && !liquid.viscosity_fn && liquid.surface_tension == 0);
    assert_memory_equal(&d->liquids[0].rheology, &liquid.rheology, sizeof liquid.rheology);
    assert_memory_equal(&d->emitters[0].rheology, &emitter.rheology, sizeof emitter.rheology);
    assert_true(d->liquids[0].viscosity == 0 && d->emitters[0].viscosity == 0);
    assert_true(!d->liquids[0].viscosity_fn && !d->emitters[0].viscosity_fn);
    assert_null(d->liquids[0].user);
    assert_null(d->emitters[0].user);
    assert_true(d->liquids[0].surface_tension == 0 && d->emitters[0].surface_tension == 0);
    assert_int_equal(d->solids[0].wall, solid.wall);
    assert_true(d->solver.rounds == sim_def.solver.rounds && !d->solver.raw_weights);
    mo_sim *sim;
    mo_error err;
    if (mo_sim_create(d, &sim, &err) != MO_OK) fail_msg("%s", err.text);
    assert_false(mo_sim_particle_viscosity(sim, NULL));
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

// ---- Bad scenes ----

#define BAD(keys)      DOMAIN "liquid{shape=" BALL ", " keys "}"
#define BAD_SOLID(key) DOMAIN LIQUID "fixed{name='belt', shape=" BALL ", " key "}"

static const struct {
    const char *text, *message;
} bad[] = {
    {BAD("viscosity=-1"), "scene.lua:2: liquid: viscosity must be >= 0, got -1"},
    {BAD("name='oil', viscosity=-1"), "scene.lua:2: liquid 'oil': viscosity must be >= 0, got -1"},
    {BAD("viscosity=0/0"), "liquid: viscosity must be finite, got"},
    {BAD("viscosity=1/0"), "liquid: viscosity must be finite, got inf"},
    {BAD("viscosity=1e39"), "liquid: viscosity is too large, got 1e+39"},
    {BAD("viscosity='10'"), "liquid: viscosity must be a number or a function, got '10'"},
    {BAD("viscosity={1}"), "liquid: viscosity must be a number or a function, got a table"},
    {BAD("viscosity=true"), "liquid: viscosity must be a number or a function, got true"},
    {BAD("viscosity=" BALL), "liquid: viscosity must be a number or a function, got a shape"},
    {BAD("viscosity=function(...) return 1 end"), "viscosity must be a function(x, y, z) or a function(x, y, z, t)"},
    {BAD("viscosity=function(x, y, z, t, u) return 1 end"), "viscosity must be a function(x, y, z) or a function("},
    {BAD("viscosity=math.abs"), "viscosity must be a function(x, y, z) or a function(x, y, z, t)"},
    {BAD("viscocity=3"), "liquid: unknown key 'viscocity' (did you mean 'viscosity'?)"},
    {BAD("rehology={}"), "liquid: unknown key 'rehology' (did you mean 'rheology'?)"},
    {BAD("surface_tenson=1"), "liquid: unknown key 'surface_tenson' (did you mean 'surface_tension'?)"},
    {BAD("wall='slip'"), "liquid: unknown key 'wall'"},
    {BAD("surface_tension=-0.1"), "liquid: surface_tension must be >= 0, got -0.1"},
    {BAD("surface_tension=0/0"), "liquid: surface_tension must be finite"},
    {BAD("surface_tension=1/0"), "liquid: surface_tension must be finite, got inf"},
    {BAD("surface_tension='much'"), "liquid: surface_tension must be a number, got 'much'"},
    {BAD("surface_tension=1}\nliquid{shape=" BALL ", surface_tension=2"),
     "scene.lua:3: liquid: surface_tension must be the same in all liquids and emitters: 1, got 2"},
    {BAD("surface_tension=1}\n" LIQUID "x = {"), "scene.lua:3: liquid: surface_tension must be the same in all"},
    {BAD("surface_tension=1}\nemitter{shape=" BALL ", velocity={1,0,0}"),
     "scene.lua:3: emitter: surface_tension must be the same in all liquids and emitters: 1, got 0"},
    {BAD("rheology=3"), "liquid: rheology must be { consistency = ..., flow_index = ... }, got 3"},
    {BAD("rheology=function(r) return 1/r end"), "liquid: rheology must be { consistency = ..., flow_index = ... }"},
    {BAD("rheology={}"), "liquid: rheology: needs a consistency or a yield_stress"},
    {BAD("rheology={flow_index=0.5, threshold=0.1}"), "liquid: rheology: needs a consistency or a yield_stress"},
    {BAD("rheology={3, 0.5}"), "liquid: rheology: a value without a name"},
    {BAD("rheology={consistancy=3}"), "rheology: unknown key 'consistancy' (did you mean 'consistency'?)"},
    {BAD("rheology={consistency=3, yield=1}"), "liquid: rheology: unknown key 'yield'"},
    {BAD("rheology={consistency=3, flow_indx=1}"), "unknown key 'flow_indx' (did you mean 'flow_index'?)"},
    {BAD("rheology={consistency=-3}"), "liquid: rheology: consistency must be >= 0, got -3"},
    {BAD("rheology={consistency=0/0}"), "liquid: rheology: consistency must be finite"},
    {BAD("rheology={consistency=1e39}"), "liquid: rheology.consistency is too large, 1e+39"},
    {BAD("rheology={consistency='3'}"), "liquid: rheology: consistency must be a number, got '3'"},
    {BAD("rheology={consistency=3, flow_index=0, threshold=1}"), "rheology: flow_index must be > 0, got 0"},
    {BAD("rheology={consistency=3, flow_index=-1}"), "liquid: rheology: flow_index must be > 0, got -1"},
    {BAD("rheology={consistency=3, flow_index=1/0}"), "liquid: rheology: flow_index must be finite, got inf"},
    {BAD("rheology={yield_stress=-1}"), "liquid: rheology: yield_stress must be >= 0, got -1"},
    {BAD("rheology={yield_stress=1, threshold=0}"), "liquid: rheology: threshold must be > 0, got 0"},
    {BAD("rheology={yield_stress=1, threshold=-1}"), "liquid: rheology: threshold must be > 0, got -1"},
    {BAD("rheology={yield_stress=1, threshold={}}"), "liquid: rheology: threshold must be a number, got a table"},
    {BAD("rheology={yield_stress=10}"),
     "scene.lua:2: liquid: rheology.threshold must be > 0 with a yield_stress of 10"},
    {BAD("name='p', rheology={consistency=1, flow_index=0.5}"),
     "scene.lua:2: liquid 'p': rheology.threshold must be > 0 with a flow_index of 0.5"},
    {BAD("rheology={consistency=1e30, flow_index=0.1, threshold=1e-30}"), "liquid: rheology: the viscosity at the"},
    {BAD("viscosity=3, rheology={consistency=3}"), "scene.lua:2: liquid: viscosity and rheology exclude each other"},
    {BAD("viscosity=0, rheology={consistency=3}"), "scene.lua:2: liquid: viscosity and rheology exclude each other"},
    {BAD("viscosity=function(x, y, z) return 1 end, rheology={consistency=3}"), "exclude each other"},
    {DOMAIN "emitter{shape=" BALL ", velocity={1,0,0}, viscosity=-1}", "emitter: viscosity must be >= 0, got -1"},
    {DOMAIN "emitter{shape=" BALL ", velocity={1,0,0}, viscosity='x'}", "emitter: viscosity must be a number or a"},
    {DOMAIN "emitter{shape=" BALL ", velocity={1,0,0}, viscosity=1, rheology={consistency=3}}",
     "emitter: viscosity and rheology exclude each other"},
    {DOMAIN "emitter{shape=" BALL ", velocity={1,0,0}, rheology={yield_stress=3}}", "emitter: rheology.threshold must"},
    {DOMAIN "emitter{shape=" BALL ", velocity={1,0,0}, surface_tension=-1}", "emitter: surface_tension must be >= 0"},
    {BAD_SOLID("wall='open'"), "fixed 'belt': wall must be one of \"slip\", \"no-slip\", got 'open'"},
    {BAD_SOLID("wall='sticky'"), "fixed 'belt': wall must be one of \"slip\", \"no-slip\", got 'sticky'"},
    {BAD_SOLID("wall=true"), "scene.lua:3: fixed 'belt': wall must be one of \"slip\", \"no-slip\", got true"},
    {BAD_SOLID("walls='slip'"), "fixed: unknown key 'walls' (did you mean 'wall'?)"},
    {BAD_SOLID("viscosity=1"), "fixed: unknown key 'viscosity'"},
    {BAD_SOLID("surface_velocity=3"), "fixed 'belt': surface_velocity must be a vector {x, y, z}, got 3"},
    {BAD_SOLID("surface_velocity={1}"), "fixed 'belt': surface_velocity must be a vector of two or three numbers"},
    {BAD_SOLID("surface_velocity={0,0/0,0}"), "fixed 'belt': surface_velocity must be made of finite numbers, got"},
    {BAD_SOLID("surface_velocity={0,1/0,0}"), "fixed 'belt': surface_velocity must be made of finite numbers, got inf"},
    {BAD_SOLID("surface_velocity=function(t) return 0,0,0 end"),
     "surface_velocity must be a vector {x, y, z}, got a fun"},
    {BAD_SOLID("surface_velocty={0,0,0}"), "unknown key 'surface_velocty' (did you mean 'surface_velocity'?)"},
    {DOMAIN LIQUID "moving{shape=" BALL ", wall='open', motion=function(t) return {position={0,0,0}} end}",
     "scene.lua:3: moving: wall must be one of \"slip\", \"no-slip\", got 'open'"},
    {"domain{size={1,1}, cells=8}\n" LIQUID "fixed{name='belt', shape=" BALL ", surface_velocity={0,0,1}}",
     "scene.lua:3: fixed 'belt': surface_velocity.z must be 0 in two dimensions"},
    {DOMAIN "solver{weights='none'}", "solver: weights must be one of \"clamped\", \"raw\", got 'none'"},
    {DOMAIN "solver{weights=0.01}", "solver: weights must be one of \"clamped\", \"raw\", got 0.01"},
    {DOMAIN "solver{weight='raw'}", "solver: unknown key 'weight' (did you mean 'weights'?)"},
    {DOMAIN "solver{rounds=0}", "solver: rounds must be 1..100, got 0"},
    {DOMAIN "solver{cone=true, route='paper'}",
     "solver: route \"paper\" bounds friction on each tangent; cone needs route \"fast\""},
    {DOMAIN "solver{cone=1}", "solver: cone must be true or false, got 1"},
    {DOMAIN "solver{rounds=101}", "solver: rounds must be 1..100, got 101"},
    {DOMAIN "solver{rounds=1.5}", "solver: rounds must be a whole number, got 1.5"},
    {DOMAIN "solver{rounds='2'}", "solver: rounds must be a whole number, got '2'"},
    {DOMAIN "solver{scheme='PV'}", "unknown scheme \"PV\"; there is "},
    {DOMAIN "solver{scheme='pv-unified'}", "unknown scheme \"pv-unified\""},
    {DOMAIN "solver{route='paper', method='ldl'}", "unknown method \"ldl\"; route \"paper\" has \"ldlt\", "},
    {DOMAIN "solver{method='ldlt'}", "method \"ldlt\" is one of route \"paper\""},
};

static void bad_scenes_name_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_refused(bad[i].text, NULL, bad[i].message);
}

// The longest name still leaves room for what is wrong with the rheology.
static void long_names_fit(void **state)
{
    (void)state;
    char text[300], message[200], name[61];
    memset(name, 'n', 60);
    name[60] = 0;
    snprintf(text, sizeof text, DOMAIN "emitter{name='%s', shape=" BALL ", velocity={1,0,0}, rheology={x=1}}", name);
    snprintf(message, sizeof message, "emitter '%s': rheology: unknown key 'x'", name);
    assert_refused(text, NULL, message);
}

// ---- Overrides ----

static const char plain[] = DOMAIN "liquid{shape=" BALL "}\n"
                                   "liquid{shape=" BALL ", viscosity=function(x, y, z) return 1 end}\n"
                                   "liquid{shape=" BALL ", rheology={consistency=2, flow_index=0.5, threshold=0.1}}\n"
                                   "emitter{shape=" BALL ", velocity={1,0,0}, viscosity=3}\n"
                                   "fixed{shape=" BALL ", surface_velocity={1,2,3}}\n"
                                   "fixed{shape=" BALL "}\n";

static void overrides_change_the_keys(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "liquid[1].viscosity=10",
        "liquid[2].viscosity=20",
        "liquid[3].rheology.yield_stress=5",
        "liquid[3].rheology.threshold=1",
        "emitter.viscosity=0.5",
        "liquid.surface_tension=0.07",
        "emitter.surface_tension=0.07",
        "fixed.wall=slip",
        "fixed[2].wall='no-slip'",
        "fixed[1].surface_velocity.y=9",
        "fixed[2].surface_velocity.x=4",
        "solver.weights=raw",
        "solver.rounds=5",
        "solver.scheme=PV-unified",
    };
    mo_scene *scene;
    mo_error err;
    if (load_with(plain, sets, sizeof sets / sizeof *sets, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_true(d->liquids[0].viscosity == 10);
    assert_true(d->liquids[1].viscosity == 20 && !d->liquids[1].viscosity_fn && !d->liquids[1].user);
    assert_rheology(&d->liquids[2].rheology, 2, 0.5, 5, 1);
    assert_true(d->emitters[0].viscosity == 0.5 && d->emitters[0].surface_tension == 0.07);
    for (int32_t i = 0; i < 3; i++) assert_true(d->liquids[i].surface_tension == 0.07);
    assert_int_equal(d->solids[0].wall, MO_WALL_SLIP);
    assert_int_equal(d->solids[1].wall, MO_WALL_NO_SLIP);
    assert_true(d->solids[0].surface_velocity.x == 1 && d->solids[0].surface_velocity.y == 9);
    assert_true(d->solids[1].surface_velocity.x == 4 && d->solids[1].surface_velocity.z == 0);
    assert_true(d->solver.raw_weights && d->solver.rounds == 5);
    assert_string_equal(d->solver.scheme, "PV-unified");
    mo_scene_destroy(scene);
    static const char *const made[] = {"liquid[1].rheology.consistency=8"}; // a table where there was none
    if (load_with(plain, made, 1, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    assert_rheology(&mo_scene_sim_def(scene)->liquids[0].rheology, 8, 1, 0, 0);
    mo_scene_destroy(scene);
}

static void bad_overrides_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"liquid[1].viscosity=-2", "viscosity must be >= 0, got -2 (--set liquid[1].viscosity=-2)"},
        {"liquid[1].viscosity=thick", "got 'thick' (--set liquid[1].viscosity=thick)"},
        {"liquid[1].viscosity.x=1", "liquid: viscosity must be a number or a function, got a table"},
        {"liquid[2].viscosity.x=1", "--set liquid[2].viscosity.x=1: viscosity is a function, which has no 'x'"},
        {"liquid.viscosity=2", "scene.lua:4: liquid: viscosity and rheology exclude each other: the consistency takes "
                               "the viscosity's place (--set liquid.viscosity=2)"},
        {"emitter.rheology.consistency=2", "place (--set emitter.rheology.consistency=2)"},
        {"liquid[3].rheology.consistency=-1", "got -1 (--set liquid[3].rheology.consistency=-1)"},
        {"liquid[3].rheology.consistancy=1", "(did you mean 'consistency'?) (--set liquid[3].rheology.consistancy=1)"},
        {"liquid[1].rheology.yield_stress=1", "yield_stress of 1"},
        {"liquid[1].rheology=3", "got 3 (--set liquid[1].rheology=3)"},
        {"liquid.surface_tension=1", "scene.lua:5: emitter: surface_tension must be the same"},
        {"liquid.surface_tension=-1", "surface_tension must be >= 0, got -1 (--set liquid.surface_tension=-1)"},
        {"fixed.wall=open", "wall must be one of \"slip\", \"no-slip\", got 'open' (--set fixed.wall=open)"},
        {"fixed.surface_velocity=fast", "got 'fast' (--set fixed.surface_velocity=fast)"},
        {"fixed.surface_velocity.x=fast", "got 'fast' for x (--set fixed.surface_velocity.x=fast)"},
        {"solver.rounds=0", "solver: rounds must be 1..100, got 0 (--set solver.rounds=0)"},
        {"solver.weights=thin", "got 'thin' (--set solver.weights=thin)"},
        {"solver.scheme=V", "(--set solver.scheme=V)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_refused(plain, cases[i].set, cases[i].message);
}

// ---- Functions ----

static void functions_return_values(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    const mo_liquid_def *liquid = &d->liquids[1];
    const mo_emitter_def *emitter = &d->emitters[0];
    double eta;
    mo_vec3 v;
    for (int i = 0; i < 1000; i++) { // the liquid's two functions share its user pointer
        assert_int_equal(liquid->viscosity_fn(liquid->user, (mo_vec3){1, 2, i}, 5, &eta, NULL), MO_OK);
        assert_true(eta == 120 + i);
        assert_int_equal(liquid->velocity_fn(liquid->user, (mo_vec3){1, 2, i}, &v, NULL), MO_OK);
        assert_true(v.x == 1 && v.y == 2 && v.z == i);
        assert_int_equal(emitter->viscosity_fn(emitter->user, (mo_vec3){i, 0, 0}, 0.5, &eta, NULL), MO_OK);
        assert_true(eta == 500 + i);
    }
    mo_scene_destroy(scene);
}

static void fewer_parameters_are_asked_once(void **state)
{
    (void)state;
    static const char *const functions[] = {"function() return 3 end", "function(x) return 3 end",
                                            "function(x, y) return 3 end", "function(x, y, z) return 3, 4 end"};
    for (size_t i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text, DOMAIN "liquid{shape=" BALL ", viscosity=%s}", functions[i]);
        mo_scene *scene = load_good(text);
        const mo_liquid_def *liquid = mo_scene_sim_def(scene)->liquids;
        double eta = 0;
        assert_false(liquid->viscosity_varies);
        assert_int_equal(liquid->viscosity_fn(liquid->user, (mo_vec3){0}, 0, &eta, NULL), MO_OK);
        assert_true(eta == 3);
        mo_scene_destroy(scene);
    }
}

static void functions_report_errors(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"", "scene.lua:2: liquid 'a': viscosity at (0.5, 0, 0.25), t = 2 must be a finite number >= 0, got nothing"},
        {"return", "got nothing"},
        {"return nil", "got nothing"},
        {"return -1", "viscosity at (0.5, 0, 0.25), t = 2 must be a finite number >= 0, got -1"},
        {"return 0/0", "must be a finite number >= 0, got"},
        {"return 1/0", "must be a finite number >= 0, got inf"},
        {"return 1e39", "must be a finite number >= 0, got 1e+39"},
        {"return '1'", "must be a finite number >= 0, got '1'"},
        {"return {1}", "must be a finite number >= 0, got a table"},
        {"return true", "must be a finite number >= 0, got true"},
        {"return x.y", "scene.lua:2: attempt to index a number value"},
        {"return math.sqroot(x)", "scene.lua:2: attempt to call a nil value"},
        {"return q", "scene.lua:2: scene: unknown name 'q'"},
        {"\n\nwhile true do end", "scene.lua:4: the scene runs for too many instructions"},
        {"local t = {} for i = 1, 1e9 do t[i] = {} end", "scene.lua:2: the scene"},
        {"return math.random()", "scene.lua:2: math.random works only while the scene loads"},
        {"liquid{}", "scene.lua:2: liquid works only while the scene loads"},
        {"error({})", "an error that is not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, DOMAIN "liquid{name='a', shape=" BALL ", viscosity=function(x, y, z, t) %s end}",
                 cases[i].body);
        mo_scene *scene = load_good(text);
        const mo_liquid_def *liquid = mo_scene_sim_def(scene)->liquids;
        for (int twice = 0; twice < 2; twice++) { // an error leaves the scene usable
            double eta;
            mo_error err = {0};
            assert_int_equal(liquid->viscosity_fn(liquid->user, (mo_vec3){0.5, 0, 0.25}, 2, &eta, &err),
                             MO_ERROR_INPUT);
            if (!strstr(err.text, cases[i].message))
                fail_msg("\n%s\nsays     %s\nexpected %s", cases[i].body, err.text, cases[i].message);
        }
        mo_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_definition),
        cmocka_unit_test(schemes_and_weights),
        cmocka_unit_test(plain_scenes_stay_plain),
        cmocka_unit_test(bad_scenes_name_the_place),
        cmocka_unit_test(long_names_fit),
        cmocka_unit_test(overrides_change_the_keys),
        cmocka_unit_test(bad_overrides_are_named),
        cmocka_unit_test(functions_return_values),
        cmocka_unit_test(fewer_parameters_are_asked_once),
        cmocka_unit_test(functions_report_errors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
