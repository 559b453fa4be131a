// Sheets and shells in scenes: what they make, and what is refused.
#include "scene_test.h"

#define POOL DOMAIN LIQUID

// The box round a sheet.
static mo_box3 bounds(const mo_sheet *s)
{
    mo_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t v = 0; v < s->vertices; v++) {
        const double *x = s->position[v];
        b.lo = (mo_vec3){fmin(b.lo.x, x[0]), fmin(b.lo.y, x[1]), fmin(b.lo.z, x[2])};
        b.hi = (mo_vec3){fmax(b.hi.x, x[0]), fmax(b.hi.y, x[1]), fmax(b.hi.z, x[2])};
    }
    return b;
}

static double area(const mo_sheet *s)
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangles; t++) {
        const double *a = s->position[s->triangle[t][0]], *b = s->position[s->triangle[t][1]],
                     *c = s->position[s->triangle[t][2]];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return sum;
}

typedef struct made {
    const char *sheet;
    mo_box3 box;
    double area;
} made;

static void sheets_are_what_they_say(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    const made list[] = {
        {"plate{size = {0.5, 0.25}}", {{-0.25, 0, -0.125}, {0.25, 0, 0.125}}, 0.125},
        {"plate{size = {0.5, 0.25}, edge = 0.025}:move(1, 2, 3)", {{0.75, 2, 2.875}, {1.25, 2, 3.125}}, 0.125},
        {"plate{size = {0.5, 0.25}}:rotate{axis = {0, 0, 1}, degrees = 90}",
         {{0, -0.25, -0.125}, {0, 0.25, 0.125}},
         0.125},
        {"plate{size = {0.5, 0.25}}:scale(2)", {{-0.5, 0, -0.25}, {0.5, 0, 0.25}}, 0.5},
        {"disk{radius = 0.4, edge = 0.025}", {{-0.4, 0, -0.4}, {0.4, 0, 0.4}}, pi * 0.16},
        {"tube{radius = 0.2, height = 0.5, edge = 0.025}", {{-0.2, -0.25, -0.2}, {0.2, 0.25, 0.2}}, pi * 0.2},
        {"hemisphere{radius = 0.3, edge = 0.025}", {{-0.3, -0.3, -0.3}, {0.3, 0, 0.3}}, 2 * pi * 0.09},
        {"cup{radius = 0.2, height = 0.3, edge = 0.025}", {{-0.2, 0, -0.2}, {0.2, 0.3, 0.2}}, pi * (0.04 + 0.12)},
        {"revolve{{0.1, 0}, {0.2, 0}, edge = 0.025}", {{-0.2, 0, -0.2}, {0.2, 0, 0.2}}, pi * 0.03},
        {"helix{radius = 0.4, pitch = 0.2, turns = 2, width = 0.1, edge = 0.025}",
         {{-0.4, 0, -0.4}, {0.4, 0.4, 0.4}},
         2 * 2 * pi * 0.35 * 0.1},
        {"weld(plate{size = {0.5, 0.25}}, plate{size = {0.5, 0.25}}:move(0.5, 0, 0))",
         {{-0.25, 0, -0.125}, {0.75, 0, 0.125}},
         0.25},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[400];
        snprintf(text, sizeof text, POOL "shell{sheet = %s}", list[i].sheet);
        mo_scene *scene = load_good(text);
        const mo_sim_def *def = mo_scene_sim_def(scene);
        assert_int_equal(def->shell_count, 1);
        assert_string_equal(def->shells[0].name, "shell1");
        mo_box3 b = bounds(def->shells[0].sheet), want = list[i].box;
        const double *got = &b.lo.x, *expected = &want.lo.x;
        // Rings have corners, so that the box of round ones is a little smaller.
        for (int k = 0; k < 6; k++)
            if (!(fabs(got[k] - expected[k]) < 0.004))
                fail_msg("%s: side %d at %g, not %g", list[i].sheet, k, got[k], expected[k]);
        double off = area(def->shells[0].sheet) / list[i].area - 1;
        if (fabs(off) > 0.02) fail_msg("%s: area off by %g", list[i].sheet, off);
        mo_scene_destroy(scene);
    }
}

// Edges are as long as a cell of the domain, wherever the domain stands in the file and however the sheet is scaled.
static void edges_follow_the_domain(void **state)
{
    (void)state;
    const char *const texts[] = {POOL "shell{sheet = plate{size = {0.5, 0.5}}}",
                                 "shell{sheet = plate{size = {0.5, 0.5}}}\n" POOL,
                                 POOL "shell{sheet = plate{size = {50, 50}}:scale(0.01)}",
                                 POOL "shell{sheet = plate{size = {50, 50}, edge = 12.5}:scale(0.01)}",
                                 POOL "shell{sheet = plate{size = {0.5, 0.5}, edge = 0.125}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mo_scene *scene = load_good(texts[i]);
        assert_int_equal(mo_scene_sim_def(scene)->shells[0].sheet->triangles, 2 * 4 * 4);
        mo_scene_destroy(scene);
    }
}

static void keys_arrive(void **state)
{
    (void)state;
    mo_scene *scene =
        load_good(POOL "shell{name = 'lid', sheet = disk{radius = 0.2}, wall = 'slip', thickness = 0.02,\n"
                       "color = {1, 0, 0}, material = 'glass', visible = false,\n"
                       "motion = function(t) return {position = {t, 0.5, 0.5}} end}\n"
                       "shell{sheet = cup{radius = 0.2, height = 0.2}}");
    const mo_shell_def *s = mo_scene_sim_def(scene)->shells;
    assert_int_equal(mo_scene_sim_def(scene)->shell_count, 2);
    assert_string_equal(s[0].name, "lid");
    assert_string_equal(s[1].name, "shell2");
    assert_int_equal(s[0].wall, MO_WALL_SLIP);
    assert_int_equal(s[1].wall, MO_WALL_NO_SLIP);
    assert_true(s[0].thickness == 0.02 && s[1].thickness == 0);
    assert_true(s[0].look.color.x == 1 && s[0].look.material == MO_MATERIAL_GLASS && !s[0].look.visible);
    assert_null(s[1].motion);
    mo_pose pose;
    assert_int_equal(s[0].motion(s[0].user, 0.25, &pose, NULL), MO_OK);
    assert_true(pose.position.x == 0.25);
    mo_scene_destroy(scene);
}

static void curves_are_for_two_dimensions(void **state)
{
    (void)state;
    mo_scene *scene = load_good("domain{size = {1, 1}, cells = 10}\n" LIQUID
                                "shell{sheet = curve{{0.2, 0.8}, {0.2, 0.2}, {0.6, 0.2}}:move(0.1, 0)\n"
                                ":rotate{axis = {0, 0, 1}, degrees = 0}}");
    mo_box3 b = bounds(mo_scene_sim_def(scene)->shells[0].sheet);
    assert_true(fabs(b.lo.x - 0.3) < 1e-12 && fabs(b.hi.y - 0.8) < 1e-12);
    assert_true(b.lo.z <= -0.1 && b.hi.z >= 0.2); // beyond the one layer of cells
    assert_int_equal(mo_scene_sim_def(scene)->shells[0].sheet->triangles, 2 * 10);
    mo_scene_destroy(scene);
}

static void a_density_makes_a_rigid_body(void **state)
{
    (void)state;
    mo_scene *scene = load_good(DOMAIN "shell{sheet = disk{radius = 0.2}, density = 3, velocity = {1, 2, 3},\n"
                                       "angular_velocity = {4, 5, 6}, friction = 0.7, restitution = 0.5}");
    const mo_shell_def *s = mo_scene_sim_def(scene)->shells;
    assert_true(s->density == 3 && s->velocity.y == 2 && s->angular_velocity.z == 6);
    assert_true(s->friction == 0.7 && s->restitution == 0.5);
    mo_scene_destroy(scene);
    scene = load_good(POOL "shell{sheet = disk{radius = 0.2}}");
    s = mo_scene_sim_def(scene)->shells;
    assert_true(s->density == 0 && s->friction == 0.3 && s->restitution == 0);
    mo_scene_destroy(scene);
}

static void files_become_sheets(void **state)
{
    (void)state;
    char file[80];
    snprintf(file, sizeof file, "%s/sail.obj", folder);
    FILE *f = fopen(file, "wb");
    fputs("v 0 0 0\nv 0.25 0 0\nv 0 0.25 0\nf 1 2 3\n", f);
    fclose(f);
    mo_scene *scene = load_good(POOL "shell{sheet = mesh_sheet 'sail.obj'}\n"
                                     "shell{sheet = mesh_sheet{file = 'sail.obj', edge = 0.4}:move(0, 0.5, 0)}");
    assert_int_equal(mo_scene_sim_def(scene)->shells[0].sheet->triangles, 8);
    assert_int_equal(mo_scene_sim_def(scene)->shells[1].sheet->triangles, 1);
    mo_scene_destroy(scene);
    remove(file);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const list[][2] = {
        {POOL "shell{}", "scene.lua:3: shell: missing key 'sheet'"},
        {POOL "shell{sheet = " BALL "}", "scene.lua:3: shell: sheet must be a sheet"},
        {POOL "shell{sheet = " BALL "}", "got a shape"},
        {POOL "fixed{shape = disk{radius = 0.1}}", "scene.lua:3: fixed: shape must be a shape, got a sheet"},
        {POOL "elastic{shape = disk{radius = 0.1}}", "shape must be a shape, got a sheet"},
        {POOL "fixed{shape = union(" BALL ", disk{radius = 0.1})}", "union: expects a shape, got a sheet"},
        {POOL "shell{sheet = weld(disk{radius = 0.1}, " BALL ")}", "weld: expects a sheet, got a shape"},
        {POOL "shell{sheet = disk{radius = 0.1}:shell(0.1)}", "sheet: no method 'shell'"},
        {POOL "shell{sheet = disk{radius = 0.1}:mov(1, 1, 1)}", "sheet: no method 'mov' (did you mean 'move'?)"},
        {POOL "shell{sheet = disk{radius = 0.1}:move(1)}", "move: expects sheet:move(x, y, z)"},
        {POOL "shell{sheet = disk{radius = -1}}", "scene.lua:3: disk: radius must be > 0, got -1"},
        {POOL "shell{sheet = disk{}}", "disk: missing key 'radius'"},
        {POOL "shell{sheet = cup{radius = 1, hight = 1}}", "cup: unknown key 'hight' (did you mean 'height'?)"},
        {POOL "shell{sheet = plate{size = {1, 1, 1}}}", "plate: size must be {x, z}, two lengths > 0"},
        {POOL "shell{sheet = plate{size = {1, 0}}}", "plate: size must be {x, z}, two lengths > 0"},
        {POOL "shell{\nsheet = plate{size = {1, 1}, edge = 0.01}}",
         "scene.lua:4: plate: edge must be 0.025..0.5 m (0.2..4 cells), got 0.01"},
        {POOL "shell{sheet = plate{size = {1, 1}, edge = 0.6}}", "plate: edge must be 0.025..0.5 m"},
        {POOL "shell{sheet = plate{size = {1, 1}, edge = 0.1}:scale(0.1)}",
         "plate: edge must be 0.25..5 m (0.2..4 cells, once scaled), got 0.1"},
        {POOL "shell{sheet = plate{size = {1000, 1000}}}", "plate: the sheet would have"},
        {POOL "for i = 1, 3 do shell{sheet = plate{size = {100, 100}}} end", "in all sheets"},
        {POOL "shell{sheet = helix{radius = 0.1, pitch = 0.1, turns = 2, width = 0.2}}",
         "scene.lua:3: helix: the width of a helix must be below its radius"},
        {POOL "shell{sheet = revolve{{0.1, 0}}}", "revolve: expects two points or more"},
        {POOL "shell{sheet = revolve{{0.1, 0}, {-0.1, 0}}}", "revolve: point 2: r, the distance from the y axis"},
        {POOL "shell{sheet = revolve{{0.1, 0}, {0.1, 0}}}", "revolve: points 1 and 2 are the same"},
        {POOL "shell{sheet = revolve{{0.1, 0}, {0.1, 0, 1}}}", "revolve: point 2 must have two numbers"},
        {POOL "shell{sheet = revolve{{0.1, 0}, 3}}", "revolve: point 2 must be {x, y}, got 3"},
        {POOL "shell{sheet = revolve{{0.1, 0}, {0.2, 0}, radius = 1}}", "revolve: unknown key 'radius'"},
        {POOL "shell{sheet = curve{{0, 0}, {1, 0}}}", "scene.lua:3: curve: a curve is for two dimensions"},
        {POOL "shell{sheet = mesh_sheet 'none.obj'}", "mesh_sheet: cannot read"},
        {POOL "shell{sheet = weld(disk{radius = 0.1}, disk{radius = 0.1}:move(1, 0, 0))}",
         "scene.lua:3: weld: no vertices of the two are within 0.05 cells"},
        {"domain{size = {1, 1}, cells = 8}\n" LIQUID "shell{sheet = disk{radius = 0.1}}",
         "scene.lua:3: disk: in two dimensions sheets are curves"},
        {"domain{size = {1, 1}, cells = 8}\n" LIQUID "shell{sheet = curve{{0, 0}, {1, 0}}:move(0, 0, 1)}",
         "scene.lua:3: move: z must be 0 in two dimensions"},
        {"domain{size = {1, 1}, cells = 8}\n" LIQUID
         "shell{sheet = curve{{0, 0}, {1, 0}}:rotate{axis = {1, 0, 0}, degrees = 3}}",
         "scene.lua:3: rotate: the axis must be z in two dimensions"},
        {POOL "shell{sheet = disk{radius = 0.1}, motion = 3}", "shell: motion must be a function(t), got 3"},
        {POOL "shell{name = 'lid', sheet = disk{radius = 0.1}, density = 0}",
         "scene.lua:3: shell 'lid': density must be > 0"},
        {POOL "shell{sheet = disk{radius = 0.1}, density = 2, motion = function(t) return {position = {0, 0, 0}} end}",
         "shell: motion and density exclude each other"},
        {POOL "shell{sheet = disk{radius = 0.1}, velocity = {1, 0, 0}}",
         "shell: velocity is for shells that forces move"},
        {POOL "shell{sheet = disk{radius = 0.1}, thickness = 1}", "scene.lua:3: shell: thickness must be"},
        {POOL "shell{sheet = disk{radius = 0.1}, wall = 'open'}", "wall must be one of"},
        {POOL "shell{sheet = disk{radius = 0.1}, shape = " BALL "}", "shell: unknown key 'shape'"},
        {POOL "shell{name = 'a', sheet = disk{radius = 0.1}} fixed{name = 'a', shape = " BALL "}",
         "another solid is already called 'a'"},
        {DOMAIN "shell{sheet = disk{radius = 0.1}}", "no liquid{...}"},
        {POOL "shel{sheet = disk{radius = 0.1}}", "unknown name 'shel' (did you mean 'shell'?)"},
        {POOL "shell{sheet = disc{radius = 0.1}}", "unknown name 'disc' (did you mean 'disk'?)"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) assert_refused(list[i][0], NULL, list[i][1]);
}

// Deep and wide recipes end with a message, not with the stack or the memory.
static void recipes_are_bounded(void **state)
{
    (void)state;
    assert_refused(POOL "local s = disk{radius = 0.1} for i = 1, 2000 do s = s:move(0, 0, 0) end shell{sheet = s}",
                   NULL, "more than 1000 operations nested in one sheet");
    assert_refused(POOL "local s = disk{radius = 0.1} for i = 1, 20 do s = weld(s, s) end shell{sheet = s}", NULL,
                   "more than 10000 parts in one sheet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_are_what_they_say),
        cmocka_unit_test(edges_follow_the_domain),
        cmocka_unit_test(keys_arrive),
        cmocka_unit_test(curves_are_for_two_dimensions),
        cmocka_unit_test(a_density_makes_a_rigid_body),
        cmocka_unit_test(files_become_sheets),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(recipes_are_bounded),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
