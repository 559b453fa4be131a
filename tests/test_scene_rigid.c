// Rigid bodies in scenes: the section rigid, the keys of touch of fixed, moving and domain, and the schemes with
// contact; what they become, what is wrong with them, and overrides.
#include "scene_test.h"

static const char good[] =
    "domain { size = {1, 1, 1}, cells = 8, contact = false, friction = 0.7, restitution = 0.25 }\n"
    "rigid  { name = 'crate', shape = box{size = {0.1, 0.2, 0.3}}:move(0.5, 0.6, 0.7), density = 250,\n"
    "         velocity = {1, -2, 3}, angular_velocity = {-4, 5, -6}, friction = 0.5, restitution = 0.125,\n"
    "         wall = 'slip', surface_velocity = {7, 8, 9}, color = {0.1, 0.2, 0.3}, material = 'glass',\n"
    "         visible = false }\n"
    "fixed  { shape = sphere{radius = 0.1}, friction = 2, restitution = 1 }\n"
    "moving { shape = sphere{radius = 0.1}, friction = 0, restitution = 0.5,\n"
    "         motion = function(t) return { position = {t, 0, 0} } end }\n"
    "rigid  { shape = sphere{radius = 0.1}:move(0.2, 0.8, 0.2) }\n";

static void assert_vector(mo_vec3 v, double x, double y, double z) { assert_true(v.x == x && v.y == y && v.z == z); }

static void keys_become_definition(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_true(!d->domain.contact && d->domain.friction == 0.7 && d->domain.restitution == 0.25);
    assert_int_equal(d->solid_count, 4);
    const mo_solid_def *s = &d->solids[0];
    assert_string_equal(s->name, "crate");
    assert_non_null(s->shape);
    assert_true(s->rigid && !s->motion && s->density == 250);
    assert_vector(s->velocity, 1, -2, 3);
    assert_vector(s->angular_velocity, -4, 5, -6);
    assert_true(s->friction == 0.5 && s->restitution == 0.125);
    assert_int_equal(s->wall, MO_WALL_SLIP);
    assert_vector(s->surface_velocity, 7, 8, 9);
    assert_vector(s->look.color, 0.1, 0.2, 0.3);
    assert_int_equal(s->look.material, MO_MATERIAL_GLASS);
    assert_false(s->look.visible);
    s = &d->solids[1];
    assert_true(!s->rigid && !s->motion && s->friction == 2 && s->restitution == 1);
    s = &d->solids[2];
    assert_true(!s->rigid && s->motion && s->friction == 0 && s->restitution == 0.5);
    mo_scene_destroy(scene);
    assert_true(mo_memory_in_use() == before);
}

static void defaults_are_the_librarys(void **state)
{
    (void)state;
    mo_scene *scene = load_good(DOMAIN "rigid{shape=" BALL "}\nfixed{shape=" BALL "}\nrigid{shape=" BALL "}");
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_true(d->domain.contact && d->domain.friction == 0.3 && d->domain.restitution == 0);
    assert_int_equal(d->solid_count, 3);
    assert_int_equal(d->liquid_count, 0); // a scene of bodies alone is one
    static const char *const names[] = {"rigid1", "fixed1", "rigid2"};
    for (int32_t i = 0; i < 3; i++) {
        const mo_solid_def *s = &d->solids[i];
        assert_string_equal(s->name, names[i]);
        assert_true(s->rigid == (i != 1) && !s->motion);
        assert_true(s->density == 1000 && s->friction == 0.3 && s->restitution == 0);
        assert_vector(s->velocity, 0, 0, 0);
        assert_vector(s->angular_velocity, 0, 0, 0);
        assert_vector(s->surface_velocity, 0, 0, 0);
        assert_int_equal(s->wall, MO_WALL_NO_SLIP);
        assert_true(s->look.visible);
    }
    mo_scene_destroy(scene);
}

static void schemes_with_contact(void **state)
{
    (void)state;
    static const char *const schemes[] = {"P-C",  "C-P",  "PC-iterative",  "PC-unified", "PC-VC-PC",
                                          "PV-C", "C-PV", "PVC-iterative", "PVC-unified"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[200];
        snprintf(text, sizeof text, DOMAIN "rigid{shape=" BALL "}\nsolver{scheme='%s'}", schemes[i]);
        mo_scene *scene = load_good(text);
        assert_string_equal(mo_scene_sim_def(scene)->solver.scheme, schemes[i]);
        mo_scene_destroy(scene);
        // The list of the message names it.
        char quoted[40];
        snprintf(quoted, sizeof quoted, "\"%s\"", schemes[i]);
        assert_refused(DOMAIN "solver{scheme='CP'}", NULL, quoted);
    }
}

// What the scene says is what the simulation starts with: mass, centre of mass and velocities.
static void bodies_start_as_told(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    mo_sim *sim;
    mo_error err = {0};
    mo_body_state b;
    if (mo_sim_create(mo_scene_sim_def(scene), &sim, &err) != MO_OK) fail_msg("%s", err.text);
    mo_sim_body(sim, 0, &b);
    assert_string_equal(b.name, "crate");
    assert_true(b.rigid && b.moving);
    assert_true(fabs(b.mass - 250 * 0.1 * 0.2 * 0.3) < 1e-9);
    assert_true(fabs(b.pose.position.x - 0.5) < 1e-9 && fabs(b.pose.position.y - 0.6) < 1e-9);
    assert_true(fabs(b.pose.position.z - 0.7) < 1e-9);
    assert_vector(b.velocity, 1, -2, 3);
    assert_vector(b.angular_velocity, -4, 5, -6);
    mo_sim_body(sim, 1, &b);
    assert_true(!b.rigid && !b.moving && b.mass == 0);
    mo_sim_body(sim, 2, &b);
    assert_true(!b.rigid && b.moving && b.mass == 0);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

// In two dimensions a body is the section through the slice, one cell deep.
static void flat_bodies(void **state)
{
    (void)state;
    mo_scene *scene = load_good("domain{size={1,1}, cells=8}\n"
                                "rigid{shape=box{size={0.2,0.4}}:move(0.5,0.5), velocity={1,2}, density=500,\n"
                                "      angular_velocity={0,0,3}}");
    mo_sim *sim;
    mo_error err = {0};
    mo_body_state b;
    if (mo_sim_create(mo_scene_sim_def(scene), &sim, &err) != MO_OK) fail_msg("%s", err.text);
    mo_sim_body(sim, 0, &b);
    assert_true(fabs(b.mass - 500 * 0.2 * 0.4 / 8) < 1e-5 * b.mass); // a section is measured in steps of a thousandth
    assert_true(fabs(b.pose.position.x - 0.5) < 1e-6 && fabs(b.pose.position.y - 0.5) < 1e-6);
    assert_vector(b.velocity, 1, 2, 0);
    assert_vector(b.angular_velocity, 0, 0, 3);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

// ---- Bad scenes ----

#define FLAT           "domain{size={1,1}, cells=8}\n"
#define BAD(keys)      DOMAIN "rigid{name='a', shape=" BALL ", " keys "}"
#define BAD_FIXED(key) DOMAIN LIQUID "fixed{shape=" BALL ", " key "}"
#define BAD_WALLS(key) "domain{size={1,1,1}, cells=8, " key "}\n" LIQUID
#define MOTION         "motion=function(t) return {position={0,0,0}} end"

static const struct {
    const char *text, *message;
} bad[] = {
    {DOMAIN "rigid{}", "scene.lua:2: rigid: missing key 'shape'"},
    {DOMAIN "rigid{name='a'}", "scene.lua:2: rigid 'a': missing key 'shape'"},
    {DOMAIN "rigid{" BALL "}", "scene.lua:2: rigid: a value without a name"},
    {DOMAIN "rigid(" BALL ")", "scene.lua:2: rigid: expects one table"},
    {DOMAIN "rigid{shape='ball'}", "rigid: shape must be a shape, got 'ball'"},
    {DOMAIN "\nrigid{shape=plane{normal={0,1,0}}}",
     "scene.lua:3: rigid: shape must be bounded: intersect it with a box"},
    {DOMAIN "rigid{name='a', shape=difference(plane{normal={0,1,0}}, " BALL ")}", "rigid 'a': shape must be bounded"},
    {BAD("density=0"), "scene.lua:2: rigid 'a': density must be > 0, got 0"},
    {BAD("density=-3"), "scene.lua:2: rigid 'a': density must be > 0, got -3"},
    {BAD("density=1/0"), "rigid 'a': density must be finite, got inf"},
    {BAD("density=0/0"), "rigid 'a': density must be finite"},
    {BAD("density='1'"), "rigid 'a': density must be a number, got '1'"},
    {BAD("friction=-0.1"), "scene.lua:2: rigid 'a': friction must be >= 0, got -0.1"},
    {BAD("friction=1/0"), "rigid 'a': friction must be finite, got inf"},
    {BAD("friction=true"), "rigid 'a': friction must be a number, got true"},
    {BAD("restitution=-1"), "rigid 'a': restitution must be >= 0, got -1"},
    {BAD("restitution=2"), "scene.lua:2: rigid 'a': restitution must be in 0..1, got 2"},
    {BAD("restitution=0/0"), "rigid 'a': restitution must be finite"},
    {BAD("velocity={0,0/0,0}"), "rigid 'a': velocity must be made of finite numbers, got"},
    {BAD("velocity={0,1/0,0}"), "rigid 'a': velocity must be made of finite numbers, got inf"},
    {BAD("velocity=3"), "rigid 'a': velocity must be a vector {x, y, z}, got 3"},
    {BAD("velocity=function(x, y, z) return 0, 0, 0 end"), "rigid 'a': velocity must be a vector {x, y, z}, got a fun"},
    {BAD("angular_velocity=1"), "rigid 'a': angular_velocity must be a vector {x, y, z}, got 1"},
    {BAD("angular_velocity={0/0,0,0}"), "rigid 'a': angular_velocity must be made of finite numbers"},
    {BAD("wall='open'"), "rigid 'a': wall must be one of \"slip\", \"no-slip\", got 'open'"},
    {BAD(MOTION), "scene.lua:2: rigid: unknown key 'motion'"},
    {BAD("densty=1"), "scene.lua:2: rigid: unknown key 'densty' (did you mean 'density'?)"},
    {BAD("fricton=1"), "rigid: unknown key 'fricton' (did you mean 'friction'?)"},
    {BAD("restitutoin=1"), "rigid: unknown key 'restitutoin' (did you mean 'restitution'?)"},
    {BAD("angular_velocty={0,0,0}"), "rigid: unknown key 'angular_velocty' (did you mean 'angular_velocity'?)"},
    {BAD("mass=1"), "rigid: unknown key 'mass'"},
    {BAD("viscosity=1"), "rigid: unknown key 'viscosity'"},
    {DOMAIN "rigid{name='../a', shape=" BALL "}", "rigid: name must be 1 to 60 letters"},
    {BAD("density=1}\nrigid{name='a', shape=" BALL), "scene.lua:3: rigid 'a': another solid is already called 'a'"},
    {BAD("density=1}\nfixed{name='a', shape=" BALL), "scene.lua:3: fixed 'a': another solid is already called 'a'"},
    {DOMAIN "fixed{name='rigid1', shape=" BALL "}\nrigid{shape=" BALL "}",
     "scene.lua:3: rigid: another solid is already called 'rigid1'"},
    {FLAT "rigid{name='a', shape=" BALL ", velocity={0,0,1}}",
     "scene.lua:2: rigid 'a': velocity.z must be 0 in two dimensions"},
    {FLAT "rigid{name='a', shape=" BALL ", surface_velocity={0,0,1}}",
     "scene.lua:2: rigid 'a': surface_velocity.z must be 0 in two dimensions"},
    {DOMAIN "fixed{shape=" BALL "}",
     "scene.lua: no liquid{...}, no emitter{...}, no air{...}, no rigid{...}, no elastic{...} and no cloth{...}"},
    {BAD_FIXED("friction=-1"), "scene.lua:3: fixed: friction must be >= 0, got -1"},
    {BAD_FIXED("restitution=1.5"), "scene.lua:3: fixed: restitution must be in 0..1, got 1.5"},
    {BAD_FIXED("density=1"), "fixed: unknown key 'density'"},
    {BAD_FIXED("velocity={0,0,0}"), "fixed: unknown key 'velocity'"},
    {DOMAIN LIQUID "moving{shape=" BALL ", " MOTION ", friction=-1}", "moving: friction must be >= 0, got -1"},
    {DOMAIN LIQUID "moving{shape=" BALL ", " MOTION ", restitution=2}", "moving: restitution must be in 0..1, got 2"},
    {DOMAIN LIQUID "moving{shape=" BALL ", " MOTION ", density=2}", "moving: unknown key 'density'"},
    {BAD_WALLS("friction=-1"), "scene.lua:1: domain: friction must be >= 0, got -1"},
    {BAD_WALLS("restitution=2"), "scene.lua:1: domain: restitution must be in 0..1, got 2"},
    {BAD_WALLS("contact='no'"), "scene.lua:1: domain: contact must be true or false, got 'no'"},
    {BAD_WALLS("contacts=true"), "domain: unknown key 'contacts' (did you mean 'contact'?)"},
    {DOMAIN "liquid{shape=" BALL ", friction=1}", "liquid: unknown key 'friction'"},
};

static void bad_scenes_name_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_refused(bad[i].text, NULL, bad[i].message);
}

// ---- Overrides ----

static const char plain[] = DOMAIN "rigid{name='a', shape=" BALL ", density=100, velocity={1,2,3}}\n"
                                   "rigid{name='b', shape=" BALL "}\n"
                                   "fixed{shape=" BALL "}\n";

static void overrides_change_the_keys(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "rigid.density=700",          "rigid[2].density=300", "rigid[1].velocity.y=-5",   "rigid[2].velocity={4,5,6}",
        "rigid.angular_velocity.z=2", "rigid.friction=0.9",   "rigid[1].restitution=0.5", "fixed.friction=0.1",
        "domain.contact=false",       "domain.friction=0",    "domain.restitution=1",     "solver.scheme=PC-iterative",
    };
    mo_scene *scene;
    mo_error err;
    if (load_with(plain, sets, sizeof sets / sizeof *sets, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_true(d->solids[0].density == 700 && d->solids[1].density == 300);
    assert_vector(d->solids[0].velocity, 1, -5, 3);
    assert_vector(d->solids[1].velocity, 4, 5, 6);
    for (int32_t i = 0; i < 2; i++) {
        assert_vector(d->solids[i].angular_velocity, 0, 0, 2);
        assert_true(d->solids[i].friction == 0.9 && d->solids[i].restitution == (i ? 0 : 0.5));
    }
    assert_true(d->solids[2].friction == 0.1 && d->solids[2].density == 1000);
    assert_true(!d->domain.contact && d->domain.friction == 0 && d->domain.restitution == 1);
    assert_string_equal(d->solver.scheme, "PC-iterative");
    mo_scene_destroy(scene);
}

static void bad_overrides_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"rigid.density=-1", "density must be > 0, got -1 (--set rigid.density=-1)"},
        {"rigid[2].density=heavy", "got 'heavy' (--set rigid[2].density=heavy)"},
        {"rigid.restitution=2", "restitution must be in 0..1, got 2 (--set rigid.restitution=2)"},
        {"rigid.fricton=1", "(did you mean 'friction'?) (--set rigid.fricton=1)"},
        {"rigid[3].density=1", "rigid[3].density=1"}, // there is no third
        {"rigid.velocity.x=fast", "got 'fast' for x (--set rigid.velocity.x=fast)"},
        {"domain.contact=maybe", "contact must be true or false, got 'maybe' (--set domain.contact=maybe)"},
        {"domain.restitution=-1", "got -1 (--set domain.restitution=-1)"},
        {"solver.scheme=C", "(--set solver.scheme=C)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_refused(plain, cases[i].set, cases[i].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_definition),
        cmocka_unit_test(defaults_are_the_librarys),
        cmocka_unit_test(schemes_with_contact),
        cmocka_unit_test(bodies_start_as_told),
        cmocka_unit_test(flat_bodies),
        cmocka_unit_test(bad_scenes_name_the_place),
        cmocka_unit_test(overrides_change_the_keys),
        cmocka_unit_test(bad_overrides_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
