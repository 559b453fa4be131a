// Elastic bodies in scenes: what the keys of elastic{...} become, meshes from files, pins, what is wrong with them, and
// overrides.
#include "scene_test.h"
#include "ration.h"

static const char good[] =
    "domain { size = {1, 1, 1}, cells = 8 }\n"
    "elastic { name = 'beam', shape = box{size = {0.4, 0.1, 0.1}}:move(0.5, 0.6, 0.7), element = 0.05, density = 250,\n"
    "          young = 2e4, poisson = 0.25, model = 'st-venant-kirchhoff', viscosity = 3, drag = 0.5,\n"
    "          velocity = {1, -2, 3}, angular_velocity = {-4, 5, -6}, friction = 0.75, wall = 'slip',\n"
    "          self_contact = true, color = {0.1, 0.2, 0.3}, material = 'coat', visible = false,\n"
    "          pins = {{ where = plane{normal = {1, 0, 0}, offset = 0.35} },\n"
    "                  { where = function(x, y, z) return x > 0.65 and y > 0.6 end,\n"
    "                    motion = function(t) return { position = {0, t, 0},\n"
    "                        rotation = {axis = {0, 0, 1}, degrees = 180 * t, about = {0.7, 0.6, 0.7}} } end }} }\n"
    "elastic { shape = sphere{radius = 0.1} }\n";

static void assert_vector(mo_vec3 v, double x, double y, double z) { assert_true(v.x == x && v.y == y && v.z == z); }

static void keys_become_definition(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_int_equal(d->elastic_count, 2);
    const mo_elastic_def *e = &d->elastics[0];
    assert_string_equal(e->name, "beam");
    assert_true(e->shape && !e->mesh && e->element == 0.05 && e->density == 250);
    assert_true(e->young == 2e4 && e->poisson == 0.25 && e->model == MO_ST_VENANT_KIRCHHOFF);
    assert_true(e->viscosity == 3 && e->drag == 0.5 && e->friction == 0.75 && e->self_contact);
    assert_vector(e->velocity, 1, -2, 3);
    assert_vector(e->angular_velocity, -4, 5, -6);
    assert_int_equal(e->wall, MO_WALL_SLIP);
    assert_vector(e->look.color, 0.1, 0.2, 0.3);
    assert_true(e->look.material == MO_MATERIAL_COAT && !e->look.visible);
    assert_int_equal(e->pin_count, 2);
    assert_true(e->pins[0].where && !e->pins[0].where_fn && !e->pins[0].motion);
    assert_true(!e->pins[1].where && e->pins[1].where_fn && e->pins[1].motion);
    mo_scene_destroy(scene);
    assert_true(mo_memory_in_use() == before);
}

static void defaults_are_the_librarys(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    const mo_elastic_def *e = &mo_scene_sim_def(scene)->elastics[1];
    assert_string_equal(e->name, "elastic2");
    assert_true(e->element == 0 && e->density == 1000 && e->young == 1e5 && e->poisson == 0.45);
    assert_true(e->model == MO_NEO_HOOKEAN && e->viscosity == 0 && e->drag == 0 && e->friction == 0.3);
    assert_true(e->wall == MO_WALL_NO_SLIP && !e->self_contact && e->pin_count == 0 && e->look.visible);
    mo_scene_destroy(scene);
}

static void functions_of_pins_are_called(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    const mo_pin_def *pin = &mo_scene_sim_def(scene)->elastics[0].pins[1];
    mo_error err;
    bool inside = false;
    assert_int_equal(pin->where_fn(pin->user, (mo_vec3){0.7, 0.62, 0.7}, &inside, &err), MO_OK);
    assert_true(inside);
    assert_int_equal(pin->where_fn(pin->user, (mo_vec3){0.6, 0.62, 0.7}, &inside, &err), MO_OK);
    assert_false(inside);
    // Half a turn about (0.7, 0.6) and half a metre up: the place (0.7, 0.65) comes to (0.7, 0.55 + 1).
    mo_pose pose;
    assert_int_equal(pin->motion(pin->user, 1, &pose, &err), MO_OK);
    assert_true(fabs(pose.position.x - 1.4) < 1e-12 && fabs(pose.position.y - 2.2) < 1e-12);
    assert_true(fabs(pose.position.z) < 1e-12 && fabs(pose.rotation.z - 1) < 1e-12);
    mo_scene_destroy(scene);
    scene = load_good(DOMAIN "elastic{shape=" BALL ", pins={{where=function(x, y, z) return x end}}}");
    pin = mo_scene_sim_def(scene)->elastics[0].pins;
    assert_int_equal(pin->where_fn(pin->user, (mo_vec3){0.5, 0, 0}, &inside, &err), MO_ERROR_INPUT);
    assert_non_null(
        strstr(err.text, "scene.lua:2: elastic: pin 1: where(0.5, 0, 0) must return true or false, got 0.5"));
    mo_scene_destroy(scene);
}

// ---- Meshes ----

static char mesh_path[80];

static void write_mesh(const char *text)
{
    snprintf(mesh_path, sizeof mesh_path, "%s/beam.mesh", folder);
    FILE *f = fopen(mesh_path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#define TET                                                                                                            \
    "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 "    \
    "0\nEnd\n"
#define TRIANGLE "MeshVersionFormatted 1\nDimension 2\nVertices\n3\n0 0 0\n1 0 0\n0 1 0\nTriangles\n1\n1 2 3 0\nEnd\n"

static void meshes_are_read_beside_the_scene(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    write_mesh(TET);
    mo_scene *scene = load_good(DOMAIN "elastic{mesh='beam.mesh'}\nelastic{mesh='beam.mesh', name='b'}");
    const mo_elastic_def *e = mo_scene_sim_def(scene)->elastics;
    assert_true(!e[0].shape && e[0].mesh && e[0].mesh->vertex_count == 4 && e[0].mesh->element_count == 1);
    assert_int_equal(e[1].mesh->dimension, 3);
    mo_scene_destroy(scene);
    assert_true(mo_memory_in_use() == before);
    assert_refused("domain{size={1,1}, cells=8}\nelastic{name='b', mesh='beam.mesh'}", NULL,
                   "scene.lua:2: elastic 'b': the mesh has tetrahedra, the domain is two-dimensional");
    assert_refused(DOMAIN "elastic{mesh='beam.mesh', element=0.1}", NULL,
                   "scene.lua:2: elastic: element is for shapes: a mesh has its elements already");
    assert_refused(DOMAIN "elastic{mesh='beam.mesh', shape=" BALL "}", NULL,
                   "scene.lua:2: elastic: shape and mesh exclude each other");
    assert_refused(DOMAIN "elastic{shape=" BALL "}", "elastic.mesh=beam.mesh", "(--set elastic.mesh=beam.mesh)");
    write_mesh(TRIANGLE);
    assert_refused(DOMAIN "elastic{mesh='beam.mesh'}", NULL,
                   "scene.lua:2: elastic: the mesh has triangles, the domain is three-dimensional");
    mo_scene_destroy(load_good("elastic{mesh='beam.mesh'}\ndomain{size={1,1}, cells=8}"));
    write_mesh("MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 zero 0\n");
    assert_refused(DOMAIN "elastic{name='b', mesh='beam.mesh'}", NULL, "beam.mesh:6: ");
    remove(mesh_path);
    assert_refused(DOMAIN "elastic{mesh='beam.mesh'}", NULL, "scene.lua:2: elastic: cannot read '");
    assert_refused(DOMAIN "elastic{mesh=" BALL "}", NULL, "got a shape; shapes belong into 'shape'");
}

// ---- Mistakes ----

static void mistakes_are_told(void **state)
{
    (void)state;
#define BODY DOMAIN "elastic{name='b', shape=" BALL ", "
    static const struct {
        const char *text, *message;
    } cases[] = {
        {DOMAIN "solver{coupling='edges'}", "solver: coupling must be one of \"faces\", \"polygons\", got 'edges'"},
        {DOMAIN "solver{softness=0}", "solver: softness must be > 0, got 0"},
        {DOMAIN "solver{softness=0.1}", "solver: softness must be 1e-10..1e-4, got 0.1"},
        {DOMAIN "elastic{}", "scene.lua:2: elastic: missing key 'shape', or 'mesh'"},
        {DOMAIN "elastic{shape=3}", "scene.lua:2: elastic: shape must be a shape, got 3"},
        {DOMAIN "elastic{shape=plane{normal={0,1,0}}}", "shape must be bounded: intersect it with a box"},
        {BODY "yung=1}", "scene.lua:2: elastic: unknown key 'yung' (did you mean 'young'?)"},
        {BODY "young=0}", "scene.lua:2: elastic 'b': young must be > 0, got 0"},
        {BODY "young=-1e4}", "elastic 'b': young must be > 0, got -10000"},
        {BODY "poisson=0.5}", "elastic 'b': poisson must be 0..0.499 (at 0.5 no volume may change), got 0.5"},
        {BODY "poisson=-0.1}", "elastic 'b': poisson must be >= 0, got -0.1"},
        {BODY "density=0}", "elastic 'b': density must be > 0, got 0"},
        {BODY "element=0}", "elastic 'b': element must be > 0, got 0"},
        {BODY "viscosity=-1}", "elastic 'b': viscosity must be >= 0, got -1"},
        {BODY "drag=-1}", "elastic 'b': drag must be >= 0, got -1"},
        {BODY "friction=-1}", "elastic 'b': friction must be >= 0, got -1"},
        {BODY "model='corotated'}", "model must be one of \"neo-hookean\", \"st-venant-kirchhoff\", got 'corotated'"},
        {BODY "wall='open'}", "wall must be one of \"slip\", \"no-slip\", got 'open'"},
        {BODY "self_contact=1}", "self_contact must be true or false, got 1"},
        {BODY "pins={where=" BALL "}}", "pins must be a list of pins, as in pins = {{ where = ... }}"},
        {BODY "pins=" BALL "}", "pins must be a list {{ where = ... }, ...}, got a shape"},
        {BODY "pins={3}}", "elastic 'b': pin 1: must be { where = ..., motion = ... }, got 3"},
        {BODY "pins={{where=" BALL "}, {}}}", "elastic 'b': pin 2: missing key 'where': a shape, or a function"},
        {BODY "pins={{where=3}}}", "elastic 'b': pin 1: where must be a shape or a function(x, y, z), got 3"},
        {BODY "pins={{wher=" BALL "}}}", "elastic 'b': pin 1: unknown key 'wher' (did you mean 'where'?)"},
        {BODY "pins={{where=" BALL ", motion=1}}}", "pin 1: motion must be a function(t), got 1"},
        {BODY "pins={{where=" BALL ", motion=function(t) return {} end}}}", "pin 1: missing key 'position'"},
        {BODY "}\nelastic{name='b', shape=" BALL "}", "scene.lua:3: elastic 'b': another solid is already called 'b'"},
        {BODY "}\nrigid{name='b', shape=" BALL "}", "scene.lua:3: rigid 'b': another solid is already called 'b'"},
        {"domain{size={1,1}, cells=8}\nelastic{shape=" BALL ", velocity={0,0,1}}", "velocity.z must be 0 in two"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_refused(cases[i].text, NULL, cases[i].message);
}

static void solver_keys_of_elastic_bodies(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    const mo_solver_def *s = &mo_scene_sim_def(scene)->solver;
    assert_true(s->coupling == MO_COUPLING_FACES && s->softness == 1e-6);
    mo_scene_destroy(scene);
    scene = load_good(DOMAIN "solver{coupling='polygons', softness=1e-8}\nelastic{shape=" BALL "}");
    s = &mo_scene_sim_def(scene)->solver;
    assert_true(s->coupling == MO_COUPLING_POLYGONS && s->softness == 1e-8);
    mo_scene_destroy(scene);
}

static void overrides_reach_every_key(void **state)
{
    (void)state;
    static const char *const sets[] = {"elastic.young=3e4", "elastic[2].poisson=0.1", "elastic[1].velocity.y=7",
                                       "elastic.model=neo-hookean"};
    mo_scene *scene;
    mo_error err;
    if (load_with(good, sets, 4, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    const mo_elastic_def *e = mo_scene_sim_def(scene)->elastics;
    assert_true(e[0].young == 3e4 && e[1].young == 3e4 && e[0].poisson == 0.25 && e[1].poisson == 0.1);
    assert_true(e[0].model == MO_NEO_HOOKEAN && e[0].velocity.y == 7 && e[1].velocity.y == 0);
    mo_scene_destroy(scene);
    assert_refused(good, "elastic.young=-1",
                   "scene.lua:2: elastic 'beam': young must be > 0, got -1 (--set elastic.young");
    assert_refused(good, "elastic[3].young=1", "--set elastic[3].young=1: the scene has 2 elastic{...}");
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    mo_scene *scene;
    mo_error err;
    ration memory = {0};
    mo_set_allocator(rationed, &memory);
    mo_status status = MO_ERROR_MEMORY;
    int failures = 0;
    for (; status != MO_OK && failures < 5000; failures++) {
        int64_t before = mo_memory_in_use();
        memory = (ration){.fail_at = failures + 1};
        status = load_with(good, NULL, 0, &scene, &err);
        if (status == MO_OK) mo_scene_destroy(scene);
        assert_true(status == MO_OK || err.status == MO_ERROR_MEMORY);
        assert_true(mo_memory_in_use() == before);
    }
    mo_set_allocator(NULL, NULL);
    assert_int_equal(status, MO_OK);
    assert_true(failures > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_definition),
        cmocka_unit_test(defaults_are_the_librarys),
        cmocka_unit_test(functions_of_pins_are_called),
        cmocka_unit_test(meshes_are_read_beside_the_scene),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(solver_keys_of_elastic_bodies),
        cmocka_unit_test(overrides_reach_every_key),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
