// Scenes: what a good one becomes, what a bad one says, overrides, and calls back into Lua.
#include "scene_test.h"

static const char good[] =
    "domain  { size = {2, 1, 0.5}, cells = 128, walls = {ymax = 'open', xmin = 'no-slip'} }\n"
    "gravity { 0, -1, 2 }\n"
    "time    { fps = 25, seconds = 3, cfl = 2, max_step = 0.01 }\n"
    "solver  { scheme = 'P', route = 'paper', preconditioner = 'ic0', tolerance = 1e-5, max_iterations = 77 }\n"
    "liquid  { name = 'ball', shape = sphere{radius = 0.3}:move(1, 0.7, 0.2), density = 900, viscosity = 0,\n"
    "          velocity = {0, -1, 0} }\n"
    "liquid  { shape = box{size = {1, 2, 3}}, density = 900, velocity = function(x, y, z) return y, 2*z, -x end }\n"
    "fixed   { name = 'ground', shape = plane{normal = {0, 3, 0}, offset = 0.1} }\n"
    "moving  { name = 'board', shape = box{size = {0.1, 0.2, 0.3}}, motion = function(t)\n"
    "  return { position = {t, 0.5, 1}, rotation = {axis = {0, 0, 2}, degrees = 90*t} } end }\n"
    "emitter { shape = sphere{radius = 0.02}, velocity = {0, -0.5, 0}, start = 1, seconds = 4, density = 900 }\n"
    "particles { per_axis = 3, band = 2 }\n"
    "output { surface = false }\n"
    "volume  { correct = false }\n";

static void good_scene_becomes_definition(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_string_equal(mo_scene_text(scene), good);
    assert_true(d->domain.size.x == 2 && d->domain.size.y == 1 && d->domain.size.z == 0.5);
    assert_int_equal(d->domain.cells, 128);
    const mo_wall walls[6] = {MO_WALL_NO_SLIP, MO_WALL_SLIP, MO_WALL_SLIP, MO_WALL_OPEN, MO_WALL_SLIP, MO_WALL_SLIP};
    assert_memory_equal(walls, d->domain.walls, sizeof walls);
    assert_true(d->gravity.x == 0 && d->gravity.y == -1 && d->gravity.z == 2);
    assert_true(d->time.fps == 25 && d->time.seconds == 3 && d->time.cfl == 2 && d->time.max_step == 0.01);
    assert_string_equal(d->solver.scheme, "P");
    assert_int_equal(d->solver.route, MO_ROUTE_PAPER);
    assert_int_equal(d->solver.preconditioner, MO_PRECONDITIONER_IC0);
    assert_true(d->solver.tolerance == 1e-5 && d->solver.max_iterations == 77);
    assert_int_equal(d->liquid_count, 2);
    assert_true(d->liquids[0].density == 900 && d->liquids[0].velocity.y == -1 && !d->liquids[0].velocity_fn);
    assert_true(fabs(mo_shape_distance(d->liquids[0].shape, (mo_vec3){1, 0.7, 0.2}) + 0.3) < 1e-12);
    assert_non_null(d->liquids[1].velocity_fn);
    assert_int_equal(d->solid_count, 2);
    assert_string_equal(d->solids[0].name, "ground");
    assert_null(d->solids[0].motion);
    assert_true(fabs(mo_shape_distance(d->solids[0].shape, (mo_vec3){9, 0.3, 9}) - 0.2) < 1e-12);
    assert_string_equal(d->solids[1].name, "board");
    assert_int_equal(d->emitter_count, 1);
    assert_true(d->emitters[0].velocity.y == -0.5 && d->emitters[0].start == 1 && d->emitters[0].seconds == 4);
    assert_int_equal(d->particles_per_axis, 3);
    assert_int_equal(d->particles_band, 2);
    assert_int_equal(d->surface, 0);
    assert_false(d->correct_volume);
    mo_scene_sim_def_mutable(scene)->threads = 2;
    assert_int_equal(d->threads, 2);
    mo_scene_destroy(scene);
    assert_true(mo_memory_in_use() == before);
}

static void defaults_are_the_library_s(void **state)
{
    (void)state;
    mo_scene *scene =
        load_good("domain{size = {1, 2}, cells = 20, walls = 'open'}\nliquid{shape = sphere{radius = 1}}");
    const mo_sim_def *d = mo_scene_sim_def(scene);
    mo_sim_def expected = mo_sim_def_default();
    assert_true(d->domain.size.z == 0);
    assert_int_equal(d->domain.walls[MO_YMAX], MO_WALL_OPEN);
    assert_int_equal(d->domain.walls[MO_ZMAX], MO_WALL_SLIP); // two dimensions
    assert_memory_equal(&d->time, &expected.time, sizeof d->time);
    assert_true(d->gravity.y == expected.gravity.y && d->solver.tolerance == expected.solver.tolerance);
    assert_true(d->liquids[0].density == 1000 && d->correct_volume == expected.correct_volume);
    mo_scene_destroy(scene);
}

// ---- Shapes ----

static void shapes_have_their_distances(void **state)
{
    (void)state;
    // Each solid's distance at a point, by hand.
    static const struct {
        const char *shape;
        mo_vec3 at;
        double distance;
    } cases[] = {
        {"sphere{radius = 2}", {3, 0, 0}, 1},
        {"box{size = {2, 4, 6}}", {0, 0, 5}, 2},
        {"box{size = {2, 4}}", {0, 1.5, 0.2}, -0.5}, // deep enough in z
        {"capsule{radius = 1, height = 4}", {0, 3, 0}, 1},
        {"cylinder{radius = 1, height = 4}", {3, 0, 0}, 2},
        {"torus{major = 2, minor = 0.5}", {2, 1, 0}, 0.5},
        {"plane{normal = {0, 2, 0}, offset = 1}", {5, 3, 5}, 2},
        {"hollow_sphere{radius = 2, thickness = 0.5}", {0, 0, 0}, 1.5},
        {"sphere{radius = 1}:move(1, 2, 3)", {1, 2, 5}, 1},
        {"sphere{radius = 1}:move(1, 2)", {1, 4, 0}, 1},
        {"box{size = {2, 4, 6}}:rotate{axis = {0, 0, 1}, degrees = 90}", {3, 0, 0}, 1},
        {"sphere{radius = 1}:scale(3)", {5, 0, 0}, 2},
        {"sphere{radius = 2}:shell(0.5)", {0, 0, 0}, 1.5},
        {"union(sphere{radius = 1}, sphere{radius = 1}:move(4, 0, 0), sphere{radius = 1}:move(8, 0, 0))", {8, 2, 0}, 1},
        {"intersect(sphere{radius = 1}, plane{normal = {1, 0, 0}, offset = 0})", {-2, 0, 0}, 1},
        {"difference(box{size = {9, 9, 9}}, sphere{radius = 2})", {0, 0, 0}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, "domain{size={1,1,1}, cells=8} liquid{shape=%s}", cases[i].shape);
        mo_scene *scene = load_good(text);
        double distance = mo_shape_distance(mo_scene_sim_def(scene)->liquids[0].shape, cases[i].at);
        if (fabs(distance - cases[i].distance) > 1e-9)
            fail_msg("%s: %g instead of %g", cases[i].shape, distance, cases[i].distance);
        mo_scene_destroy(scene);
    }
    // The others only need to exist.
    mo_scene_destroy(load_good("domain{size={1,1,1}, cells=8}\nliquid{shape=smooth_union(cone{radius=1, height=2}, "
                               "bowl{radius=2, thickness=0.1}, 0.3)} liquid{shape=rabbit{height=1}}"));
}

static void meshes_are_found_beside_the_scene(void **state)
{
    (void)state;
    char obj[80];
    snprintf(obj, sizeof obj, "%s/tet.obj", folder);
    FILE *f = fopen(obj, "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", f);
    fclose(f);
    mo_scene *scene = load_good("domain{size={1,1,1}, cells=8}\nliquid{shape=mesh 'tet.obj'}\n"
                                "liquid{shape=mesh{file='tet.obj', resolution=16}:move(1,0,0)}");
    assert_true(mo_shape_distance(mo_scene_sim_def(scene)->liquids[0].shape, (mo_vec3){0.2, 0.2, 0.2}) < 0);
    assert_true(mo_shape_distance(mo_scene_sim_def(scene)->liquids[1].shape, (mo_vec3){0.2, 0.2, 0.2}) > 0);
    mo_scene_destroy(scene);
    remove(obj);
}

// ---- Bad scenes ----

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "scene.lua: no domain"},
    {LIQUID, "scene.lua: no domain"},
    {DOMAIN,
     "scene.lua: no liquid{...}, no emitter{...}, no air{...}, no rigid{...}, no elastic{...} and no cloth{...}"},
    {DOMAIN LIQUID "x = = 1", "scene.lua:3: unexpected symbol near '='"},
    {DOMAIN LIQUID "foo()", "scene.lua:3: scene: unknown name 'foo'"},
    {DOMAIN "liquid{shape=shpere{radius=1}}", "scene.lua:2: scene: unknown name 'shpere' (did you mean 'sphere'?)"},
    {DOMAIN "\nliquid{shape=" BALL ",\n densty=3}",
     "scene.lua:3: liquid: unknown key 'densty' (did you mean 'density'?)"},
    {"domain{size={1,1,1}, cell=8}", "scene.lua:1: domain: unknown key 'cell' (did you mean 'cells'?)"},
    {"domain{size={1,1,1}, cells=8, qqqq=1}", "scene.lua:1: domain: unknown key 'qqqq'"},
    {"domain{size={1,1,1}}", "scene.lua:1: domain: missing key 'cells'"},
    {"domain{cells=8}", "scene.lua:1: domain: missing key 'size'"},
    {"domain{size={1,1,1}, cells=3}", "domain: cells must be 4..4096, got 3"},
    {"domain{size={1,1,1}, cells=5000}", "domain: cells must be 4..4096, got 5000"},
    {"domain{size={1,1,1}, cells=8.5}", "domain: cells must be a whole number, got 8.5"},
    {"domain{size={1,1,1}, cells='8'}", "domain: cells must be a whole number, got '8'"},
    {"domain{size={1,-1,1}, cells=8}", "domain: size must be 1e-6..1e6 m, got -1 for y"},
    {"domain{size={1,1,0}, cells=8}", "got 0 for z (leave z out for two dimensions)"},
    {"domain{size={1}, cells=8}", "domain: size must be a vector of two or three numbers"},
    {"domain{size={1,2,3,4}, cells=8}", "domain: size must be a vector of two or three numbers"},
    {"domain{size={x=1,y=1}, cells=8}", "domain: size must be a vector of two or three numbers"},
    {"domain{size=1, cells=8}", "domain: size must be a vector {x, y, z}, got 1"},
    {"domain{size={1,0/0,1}, cells=8}", "domain: size must be made of finite numbers, got"},
    {"domain{size={1,'1',1}, cells=8}", "domain: size must be made of finite numbers, got '1' for y"},
    {"domain{size={1,0.01,1}, cells=8}", "y is thinner than a cell"},
    {"domain{size={1,1,1}, cells=8, walls='sticky'}",
     "domain: walls must be one of \"slip\", \"no-slip\", \"open\", \"wind\", got 'sticky'"},
    {"domain{size={1,1,1}, cells=8, walls={xmni='open'}}", "unknown key 'xmni' (did you mean 'xmin'?)"},
    {"domain{size={1,1,1}, cells=8, walls={xmin=3}}", "domain: walls: xmin must be one of"},
    {"domain{size={1,1}, cells=8, walls={zmin='open'}}", "domain: walls in z must be \"slip\" in two dimensions"},
    {DOMAIN "\n" DOMAIN, "scene.lua:3: domain: given twice, first at"},
    {DOMAIN "domain(1)", "scene.lua:2: domain: expects one table"},
    {DOMAIN "time({}, {})", "scene.lua:2: time: expects one table"},
    {DOMAIN "time 'fast'", "scene.lua:2: time: expects one table"},
    {DOMAIN "gravity{1}", "scene.lua:2: gravity: gravity must be a vector"},
    {DOMAIN "gravity{0, -math.huge, 0}", "scene.lua:2: gravity: gravity must be made of finite numbers, got -inf"},
    {"domain{size={1,1}, cells=8}\ngravity{0,0,1}\n" LIQUID, "scene.lua:2: gravity: z must be 0 in two dimensions"},
    {"domain{size={1,1}, cells=8}\nliquid{name='a', shape=" BALL ", velocity={0,0,1}}",
     "scene.lua:2: liquid 'a': velocity.z must be 0 in two dimensions"},
    {DOMAIN "time{fps=0}", "scene.lua:2: time: fps must be > 0, got 0"},
    {DOMAIN "time{seconds=-1}", "scene.lua:2: time: seconds must be > 0, got -1"},
    {DOMAIN "time{cfl={}}", "scene.lua:2: time: cfl must be a number, got a table"},
    {DOMAIN "time{cfl=4}", "scene.lua:2: time: cfl must be <= 3.5, got 4"},
    {DOMAIN "time{max_step=-1}", "time: max_step must be >= 0, got -1"},
    {DOMAIN "time{seconds=1e300}", "time: more than a million frames"},
    {DOMAIN "time{seconds=1/0}", "time: seconds must be finite, got inf"},
    {DOMAIN "solver{route='slow'}", "solver: route must be one of \"fast\", \"paper\", got 'slow'"},
    {DOMAIN "solver{shells='thick'}", "solver: shells must be one of \"cut\", \"paper\", got 'thick'"},
    {DOMAIN "solver{preconditioner='none'}", "solver: preconditioner must be one of"},
    {DOMAIN "solver{tolerance=0}", "solver: tolerance must be > 0, got 0"},
    {DOMAIN "solver{tolerance=2}", "solver: tolerance must be < 1, got 2"},
    {DOMAIN "solver{max_iterations=0}", "solver: max_iterations must be 1.."},
    {DOMAIN "solver{scheme='QQ'}", "scene.lua:2: solver: "},
    {DOMAIN "solver{scheme=7}", "solver: scheme must be a string, got 7"},
    {DOMAIN "particles{per_axis=0}", "particles: per_axis must be 1..4, got 0"},
    {DOMAIN "particles{band=5}", "particles: band must be 0..4, got 5"},
    {DOMAIN "particles{band=1}", "band must be 0 (particles everywhere) or 2..4, got 1"},
    {DOMAIN "output{surface=5}", "output: surface must be 0..4, got 5"},
    {DOMAIN "output{surfaces=2}", "output: unknown key 'surfaces' (did you mean 'surface'?)"},
    {DOMAIN "volume{correct=1}", "volume: correct must be true, false or \"local\", got 1"},
    {DOMAIN "volume{correct=\"global\"}", "volume: correct must be true, false or \"local\", got 'global'"},
    {DOMAIN "solver{contact=\"near\"}", "contact"},
    {DOMAIN "solver{margin=2}", "solver: margin must be 0..1 cells, got 2"},
    {DOMAIN "solver{stabilisation=1.1}", "solver: stabilisation must be 0..1, got 1.1"},
    {DOMAIN "solver{decoupled_stress=\"half\"}", "decoupled_stress"},
    {DOMAIN "liquid{}", "scene.lua:2: liquid: missing key 'shape'"},
    {DOMAIN "liquid{" BALL "}", "scene.lua:2: liquid: a value without a name"},
    {DOMAIN "liquid{shape='ball'}", "liquid: shape must be a shape, got 'ball'"},
    {DOMAIN "liquid{shape=" BALL ", density=0}", "liquid: density must be > 0, got 0"},
    {DOMAIN "liquid{name='oil', shape=" BALL ", density=-3}", "scene.lua:2: liquid 'oil': density must be > 0, got -3"},
    {DOMAIN LIQUID "liquid{shape=" BALL ", density=900}",
     "scene.lua:3: liquid: density must be the same in all liquids and emitters: 1000, got 900"},
    {DOMAIN "liquid{shape=" BALL ", velocity=3}", "liquid: velocity must be a vector"},
    {DOMAIN "liquid{shape=" BALL ", name='../x'}", "liquid: name must be 1 to 60 letters"},
    {DOMAIN "fixed{shape=" BALL ", name='a'}\nmoving{shape=" BALL
            ", name='a', motion=function(t) return {position={0,0,0}} end}",
     "scene.lua:3: moving 'a': another solid is already called 'a'"},
    {DOMAIN "fixed{name='a'}", "fixed 'a': missing key 'shape'"},
    {DOMAIN "moving{shape=" BALL "}", "moving: missing key 'motion'"},
    {DOMAIN "moving{shape=" BALL ", motion={0,0,0}}", "moving: motion must be a function(t), got a table"},
    {DOMAIN "moving{shape=" BALL ",\nmotion=function(t) return 1 end}", "scene.lua:3: moving: motion(0) must return"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t) return {} end}", "scene.lua:2: moving: missing key 'position'"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t) return {positoin={0,0,0}} end}", "(did you mean 'position'?)"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t) return {position={0,0/0,0}} end}", "position must be made of"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t)\nreturn {position={0,q.x,0}} end}",
     "scene.lua:3: scene: unknown name 'q'"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t) return {position={0,0,0}, rotation=3} end}",
     "rotation must be { axis = {x, y, z}, degrees = ... }, got 3"},
    {DOMAIN "moving{shape=" BALL ", motion=function(t) return {position={0,0}, rotation={axis={0,0},degrees=1}} end}",
     "rotation: axis must not be zero"},
    {DOMAIN "emitter{shape=plane{normal={0,1,0}}, velocity={0,1,0}}", "emitter: shape must be bounded"},
    {DOMAIN "emitter{shape=" BALL "}", "emitter: missing key 'velocity'"},
    {DOMAIN "emitter{shape=" BALL ", velocity={0,0,0}}", "emitter: velocity must not be zero"},
    {DOMAIN "emitter{shape=" BALL ", velocity={0,1,0}, start=-1}", "emitter: start must be >= 0, got -1"},
    {DOMAIN "emitter{shape=" BALL ", velocity={0,1,0}, seconds=0}", "emitter: seconds must be > 0, got 0"},
    {DOMAIN "cloth{}", "scene.lua:2: cloth: missing key 'sheet'"},
    {DOMAIN "cloth{sheet=" BALL "}", "scene.lua:2: cloth: sheet must be a sheet"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, density=0}", "scene.lua:2: cloth: density must be > 0, got 0"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, poisson=0.5}", "poisson must be 0..0.49, got 0.5"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, bendd=1}", "unknown key 'bendd' (did you mean 'bend'?)"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, pins={where=" BALL "}}",
     "pins must be a list of pins, as in pins = {{ where = ... }}"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, attached={{where=" BALL "}}}", "cloth: attachment 1: missing key 'solid'"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, cords={{from={0,0,0}}}}", "cloth: cord 1: missing key 'to'"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, cords={{from={0,0,0}, to={0,1,0}, solid=3}}}", "solid must be"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, cords={{from={0,0,0}, to={0,1,0}, stretch=0}}}", "stretch must be > 0"},
    {DOMAIN "cloth{sheet=plate{size={1,1}}, wind=3}", "cloth: wind must be a vector"},
    {DOMAIN "smoke{ shape = sphere{radius = 0.1} }", "scene.lua:2: smoke{...} without air{...}"},
    {DOMAIN "air{}\nair{}", "scene.lua:3: air: given twice, first at "},
    {DOMAIN "air{ density = 0 }", "scene.lua:2: air: density must be > 0, got 0"},
    {DOMAIN "air{ margin = 3 }", "scene.lua:2: air: margin must be 4..64, got 3"},
    {DOMAIN "air{}\nsmoke{ shape = plane{normal = {0, 1, 0}, offset = 0} }", "smoke: shape must be bounded"},
    {DOMAIN "air{}\nsmoke{ shape = sphere{radius = 0.1}, temprature = 1 }", "(did you mean 'temperature'?)"},
    {DOMAIN "air{}\nliquid{ shape = sphere{radius = 0.1} }",
     "scene.lua:2: air{...} and liquid{...} or emitter{...} exclude each other"},
    {DOMAIN "air{}\nelastic{ shape = sphere{radius = 0.1} }",
     "scene.lua:2: air{...} and elastic{...} exclude each other: bodies in air are rigid{...}"},
    {DOMAIN "liquid{shape=sphere{}}", "scene.lua:2: sphere: missing key 'radius'"},
    {DOMAIN "liquid{shape=sphere{radius=-1}}", "sphere: radius must be > 0, got -1"},
    {DOMAIN "liquid{shape=sphere{raduis=1}}", "sphere: unknown key 'raduis' (did you mean 'radius'?)"},
    {DOMAIN "liquid{shape=sphere(1)}", "sphere: expects one table, as in sphere{ ... }"},
    {DOMAIN "liquid{shape=box{size={1,0,1}}}", "box: size must be > 0, got {1, 0, 1}"},
    {DOMAIN "liquid{shape=capsule{radius=1, height=1}}", "capsule: height includes both caps"},
    {DOMAIN "liquid{shape=torus{major=1, minor=2}}", "torus: minor must be <= major"},
    {DOMAIN "liquid{shape=bowl{radius=1, thickness=2}}", "bowl: thickness must be < radius"},
    {DOMAIN "liquid{shape=plane{normal={0,0,0}}}", "plane: normal must not be zero"},
    {DOMAIN "liquid{shape=mesh 'none.obj'}", "scene.lua:2: mesh: cannot read '"},
    {DOMAIN "liquid{shape=mesh '/dev/zero'}", "scene.lua:2: mesh: cannot read '/dev/zero'"},
    {DOMAIN "liquid{shape=mesh 'scene.lua'}", "scene.lua:2: mesh: "},
    {DOMAIN "liquid{shape=" BALL ":mvoe(1,2,3)}", "scene.lua:2: shape: no method 'mvoe' (did you mean 'move'?)"},
    {DOMAIN "liquid{shape=" BALL ":move(1)}", "move: expects shape:move(x, y, z)"},
    {DOMAIN "liquid{shape=" BALL ":move(1,2,'a')}", "move: z must be a finite number, got 'a'"},
    {DOMAIN "liquid{shape=" BALL ":rotate{degrees=3}}", "rotate: missing key 'axis'"},
    {DOMAIN "liquid{shape=" BALL ":scale(0)}", "scale: factor must be > 0, got 0"},
    {DOMAIN "liquid{shape=" BALL ":shell(-1)}", "shell: thickness must be > 0, got -1"},
    {DOMAIN "liquid{shape=union(1, 2)}", "union: expects a shape, got 1"},
    {DOMAIN "liquid{shape=union()}", "union: expects union(shape, shape, ...)"},
    {DOMAIN "liquid{shape=difference(" BALL ")}", "difference: expects difference(shape, shape)"},
    {DOMAIN "liquid{shape=smooth_union(" BALL "," BALL ", 0)}", "smooth_union: radius must be > 0, got 0"},
    {DOMAIN "param{box=3}", "scene.lua:2: param: the name 'box' is already taken"},
    {DOMAIN "param{a=3} param{a=4}", "param: the name 'a' is already taken"},
    {DOMAIN "param{a=" BALL "}", "param: a must be a number, true or false, a string or a vector"},
    {DOMAIN "param{3}", "param: expects names"},
    {DOMAIN "error('stop here')", "scene.lua:2: stop here"},
    {DOMAIN "error('stop\\nhere')", "scene.lua:2: stop here"},
    {"\xef\xbb\xbf" DOMAIN, "scene.lua: no liquid"},
    {DOMAIN "error({})", "the scene raised an error that is not a string"},
};

static void bad_scenes_name_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_refused(bad[i].text, NULL, bad[i].message);
}

static void bad_files_are_file_errors(void **state)
{
    (void)state;
    mo_scene *scene;
    mo_error err;
    assert_int_equal(mo_scene_load("/nonexistent/scene.lua", NULL, 0, &scene, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "/nonexistent/scene.lua: cannot read"));
    assert_int_equal(mo_scene_load("/tmp", NULL, 0, &scene, &err), MO_ERROR_FILE);
    assert_int_equal(mo_scene_load("/dev/zero", NULL, 0, &scene, &err), MO_ERROR_FILE);
    assert_int_equal(mo_scene_load(NULL, NULL, 0, &scene, NULL), MO_ERROR_INPUT);
    mo_scene_destroy(NULL);
}

// ---- Overrides ----

static const char plain[] = "param{ angle = 10, wide = false, label = 'a', way = {1, 2, 3} }\n"
                            "domain{size={1,1,1}, cells=8, walls='slip'}\n"
                            "local v = {0, -1, 0}\n"
                            "liquid{shape=sphere{radius=0.1}, velocity=v}\n"
                            "liquid{shape=sphere{radius=0.2}, velocity=v}\n"
                            "fixed{name=label, shape=plane{normal={0,1,0}, offset=angle}}\n"
                            "if wide then gravity(way) end\n";

static void overrides_change_the_tables(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "domain.cells=64",
        "time.seconds=2",
        "gravity.y=0",
        "solver.route=paper",
        "volume.correct=false",
        "liquid.density=900",
        "liquid[2].velocity.x=1",
        "domain.walls.ymax=open",
        "domain.size={2, 1,4}",
        "param.angle=20",
        "param.label='b'",
        "time.fps=10",
        "time.fps=30",
        "solver.scheme=",
    };
    mo_scene *scene;
    mo_error err;
    if (load_with(plain, sets, sizeof sets / sizeof *sets, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    assert_int_equal(d->domain.cells, 64);
    assert_true(d->domain.size.x == 2 && d->domain.size.z == 4);
    assert_int_equal(d->domain.walls[MO_YMAX], MO_WALL_OPEN);
    assert_int_equal(d->domain.walls[MO_YMIN], MO_WALL_SLIP);
    assert_true(d->time.seconds == 2 && d->time.fps == 30 && d->gravity.y == 0);
    assert_int_equal(d->solver.route, MO_ROUTE_PAPER);
    assert_false(d->correct_volume);
    assert_true(d->liquids[0].density == 900 && d->liquids[1].density == 900);
    // The two liquids share one table of velocity: only one of them changes.
    assert_true(d->liquids[0].velocity.x == 0 && d->liquids[1].velocity.x == 1 && d->liquids[1].velocity.y == -1);
    assert_string_equal(d->solids[0].name, "b");
    assert_true(mo_shape_distance(d->solids[0].shape, (mo_vec3){0, 0, 0}) == -20);
    mo_scene_destroy(scene);
    static const char *const more[] = {"param.wide=true", "param.way={4,5,6}", "gravity={7,8,9}"};
    assert_int_equal(load_with(plain, more, 2, &scene, &err), MO_OK);
    assert_true(mo_scene_sim_def(scene)->gravity.y == 5);
    mo_scene_destroy(scene);
    assert_int_equal(load_with(plain, more + 2, 1, &scene, &err), MO_OK);
    assert_true(mo_scene_sim_def(scene)->gravity.y == 8);
    mo_scene_destroy(scene);
}

static void bad_overrides_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"cells", "--set cells: expected section.key=value"},
        {"", "expected section.key=value"},
        {"domain.=3", "expected section.key=value"},
        {"liquid[0].density=3", "expected section.key=value"},
        {"liquid[x].density=3", "expected section.key=value"},
        {"a.b.c.d.e=3", "expected section.key=value"},
        {"domian.cells=9", "--set domian.cells=9: unknown section 'domian' (did you mean 'domain'?)"},
        {"domain.cels=9", "unknown key 'cels' (did you mean 'cells'?) (--set domain.cels=9)"},
        {"domain.cells=3", "scene.lua:2: domain: cells must be 4..4096, got 3 (--set domain.cells=3)"},
        {"domain.cells=many", "domain: cells must be a whole number, got 'many' (--set domain.cells=many)"},
        {"domain.walls.ymax=shut", "got 'shut' (--set domain.walls.ymax=shut)"},
        {"domain.walls.ymx=open", "unknown key 'ymx' (did you mean 'ymax'?)"},
        {"domain.size.w=3", "domain: size must be a vector of two or three numbers"},
        {"domain.cells.x=3", "--set domain.cells.x=3: cells is 8, which has no 'x'"},
        {"domain=3", "--set domain=3: domain needs a key or a {vector}"},
        {"time.seconds=nan", "scene.lua: time: seconds must be a number, got 'nan' (--set time.seconds=nan)"},
        {"time.secs=1", "time: unknown key 'secs'"},
        {"gravity.y=up", "gravity: gravity must be made of finite numbers, got 'up' for y (--set gravity.y=up)"},
        {"gravity.g=1", "gravity: gravity must be a vector"},
        {"gravity={1,2", "gravity needs a key or a {vector}"},
        {"liquid[3].density=9", "--set liquid[3].density=9: the scene has 2 liquid{...}"},
        {"liquid[2].density=9", "density must be the same in all liquids and emitters"},
        {"liquid.shape=ball", "liquid: shape must be a shape, got 'ball' (--set liquid.shape=ball)"},
        {"emitter.start=9", "--set emitter.start=9: the scene has 0 emitter{...}"},
        {"param.angel=9", "the scene has no parameter 'angel' (did you mean 'angle'?)"},
        {"param.angle=steep", "param: angle must be a number, got 'steep' (--set param.angle=steep)"},
        {"param.way={1}", "param: way must be a vector"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_refused(plain, cases[i].set, cases[i].message);
}

// ---- Calls back ----

static void callbacks_return_values(void **state)
{
    (void)state;
    mo_scene *scene = load_good(good);
    const mo_sim_def *d = mo_scene_sim_def(scene);
    const mo_liquid_def *liquid = &d->liquids[1];
    mo_vec3 v;
    mo_pose pose;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(liquid->velocity_fn(liquid->user, (mo_vec3){1, 2, i}, &v, NULL), MO_OK);
        assert_true(v.x == 2 && v.y == 2 * i && v.z == -1);
    }
    assert_int_equal(d->solids[1].motion(d->solids[1].user, 0.5, &pose, NULL), MO_OK);
    assert_true(pose.position.x == 0.5 && pose.position.y == 0.5 && pose.position.z == 1);
    assert_true(fabs(pose.rotation.w - cos(acos(-1.0) / 8)) < 1e-15); // 45 degrees about z
    assert_true(fabs(pose.rotation.z - sin(acos(-1.0) / 8)) < 1e-15 && pose.rotation.x == 0);
    mo_scene_destroy(scene);
}

static void callbacks_report_errors(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"return 1, 2", "scene.lua:2: liquid 'a': velocity must return three numbers, got 2 values"},
        {"return {1, 2, 3}", "velocity must return three numbers, got 1 values"},
        {"return 1, 'x', 3", "must return three finite numbers, got 'x' for y"},
        {"return 1, 2, 0/0", "velocity(0.5, 0, 0) must return three finite numbers"},
        {"return x.y, 0, 0", "scene.lua:2: attempt to index a number value"},
        {"\n\nwhile true do end", "scene.lua:4: the scene runs for too many instructions"},
        {"local t = {} for i = 1, 1e9 do t[i] = {} end", "scene.lua:2: the scene"},
        {"return math.random(), 0, 0", "scene.lua:2: math.random works only while the scene loads"},
        {"liquid{}", "scene.lua:2: liquid works only while the scene loads"},
        {"sphere{radius=1}", "scene.lua:2: sphere works only while the scene loads"},
        {"param{a=1}", "scene.lua:2: param works only while the scene loads"},
        {"error({})", "an error that is not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, DOMAIN "liquid{name='a', shape=" BALL ", velocity=function(x, y, z) %s end}",
                 cases[i].body);
        mo_scene *scene = load_good(text);
        const mo_liquid_def *liquid = mo_scene_sim_def(scene)->liquids;
        for (int twice = 0; twice < 2; twice++) { // an error leaves the scene usable
            mo_vec3 v;
            mo_error err = {0};
            assert_int_equal(liquid->velocity_fn(liquid->user, (mo_vec3){0.5, 0, 0}, &v, &err), MO_ERROR_INPUT);
            if (!strstr(err.text, cases[i].message))
                fail_msg("\n%s\nsays     %s\nexpected %s", cases[i].body, err.text, cases[i].message);
        }
        mo_scene_destroy(scene);
    }
}

// ---- The scenes of the project ----

static void project_scenes_load(void **state)
{
    (void)state;
    static const char *const names[] = {"dam_break_2d",    "dam_break",          "martin_moyce",      "drop",
                                        "rabbit_stairs",   "sloshing",           "sloshing_2d_mode",  "fountain",
                                        "hydrostatic_box", "hydrostatic_tilted", "hydrostatic_curved"};
    static const char *const sets[] = {"domain.cells=16", "param.fill=1", "param.three_dimensions=false",
                                       "param.three_dimensions=true"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[400];
        snprintf(file, sizeof file, "%s/scenes/%s.lua", SOURCE_DIR, names[i]);
        mo_scene *scene;
        mo_error err;
        if (mo_scene_load(file, sets, 1, &scene, &err) != MO_OK) fail_msg("%s", err.text);
        assert_int_equal(mo_scene_sim_def(scene)->domain.cells, 16);
        mo_scene_destroy(scene);
        for (int32_t k = 2; k < 4 && strstr(names[i], "hydrostatic"); k++) {
            const char *both[] = {sets[1], sets[k]};
            if (mo_scene_load(file, both, 2, &scene, &err) != MO_OK) fail_msg("%s", err.text);
            assert_int_equal(mo_scene_sim_def(scene)->domain.size.z > 0, k == 3);
            mo_scene_destroy(scene);
        }
    }
}

// The surface of the sloshing mode by tangents is the cosine within a thousandth of its amplitude or so.
static void sloshing_mode_is_a_cosine(void **state)
{
    (void)state;
    mo_scene *scene;
    mo_error err;
    if (mo_scene_load(SOURCE_DIR "/scenes/sloshing_2d_mode.lua", NULL, 0, &scene, &err) != MO_OK)
        fail_msg("%s", err.text);
    const mo_shape *shape = mo_scene_sim_def(scene)->liquids[0].shape;
    for (double x = 0; x <= 1; x += 0.01) {
        double lo = 0, hi = 1, exact = 0.5 + 0.02 * cos(acos(-1.0) * x);
        for (int i = 0; i < 40; i++) {
            double y = 0.5 * (lo + hi);
            if (mo_shape_distance(shape, (mo_vec3){x, y, 0}) < 0)
                lo = y;
            else
                hi = y;
        }
        assert_true(fabs(lo - exact) < 0.002 * 0.02);
        assert_true(mo_shape_distance(shape, (mo_vec3){x, exact - 0.1, 0}) < -0.09); // no seam in the middle
    }
    mo_scene_destroy(scene);
}

// Every key of air reaches the simulation.
static void air_becomes_definition(void **state)
{
    (void)state;
    mo_scene *scene = load_good("domain{ size = {1, 1, 1}, cells = 8 }\n"
                                "air{ density = 1.5, temperature = 300, wind = {1, 2, 3}, cooling = 0.5,\n"
                                "     vorticity = 0.25, advection = 'paper', margin = 6 }\n");
    const mo_air_def *air = mo_scene_sim_def(scene)->air;
    assert_non_null(air);
    assert_true(air->density == 1.5 && air->temperature == 300 && air->cooling == 0.5 && air->vorticity == 0.25);
    assert_true(air->wind.x == 1 && air->wind.y == 2 && air->wind.z == 3);
    assert_int_equal(air->advection, MO_ADVECTION_PAPER);
    assert_int_equal(air->margin, 6);
    mo_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_scene_becomes_definition), cmocka_unit_test(defaults_are_the_library_s),
        cmocka_unit_test(shapes_have_their_distances),   cmocka_unit_test(meshes_are_found_beside_the_scene),
        cmocka_unit_test(bad_scenes_name_the_place),     cmocka_unit_test(bad_files_are_file_errors),
        cmocka_unit_test(overrides_change_the_tables),   cmocka_unit_test(bad_overrides_are_named),
        cmocka_unit_test(callbacks_return_values),       cmocka_unit_test(callbacks_report_errors),
        cmocka_unit_test(project_scenes_load),           cmocka_unit_test(sloshing_mode_is_a_cosine),
        cmocka_unit_test(air_becomes_definition),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
