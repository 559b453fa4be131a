// The path tracer against what is known: a white furnace, refraction by a slab and a ball, energy of glass, the same
// picture for any number of threads; files that others can read; whole runs rendered without a black pixel.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "output/file.h"
#include "output/run.h"
#include "output/writers.h"
#include "render/image.h"
#include "render/stage.h"
#include "render/tracer.h"
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 48 };

static mo_tracer_def white_def(void)
{
    return (mo_tracer_def){.light = mo_light_create(MO_SKY_WHITE, mo_v3(0, 0, 0)), .size = 1, .offset = 1e-4f};
}

static mo_tracer *make_tracer(const mo_tracer_def *def)
{
    mo_tracer *t;
    assert_int_equal(mo_tracer_create(def, &t, NULL), MO_OK);
    return t;
}

static mo_mesh mesh_of(mo_shape *shape, int32_t resolution)
{
    mo_mesh mesh;
    assert_int_equal(mo_shape_to_mesh(shape, resolution, &mesh, NULL), MO_OK);
    mo_shape_release(shape);
    return mesh;
}

static void add_solid(mo_tracer *t, mo_mesh mesh, mo_vec3 at, mo_material material, double grey)
{
    mo_solid_look look = {{grey, grey, grey}, material, true};
    assert_int_equal(mo_tracer_add_solid(t, &mesh, (mo_pose){at, {1, 0, 0, 0}}, &look, NULL), MO_OK);
    mo_mesh_destroy(&mesh);
}

// The picture of a committed tracer seen from +z, square; 3 * SIZE * SIZE numbers, freed by the caller.
static float *picture(mo_tracer *t, double fov, int32_t samples)
{
    float *rgb = malloc(3 * SIZE * SIZE * sizeof *rgb);
    mo_camera camera = mo_camera_create(mo_v3(0, 0, 4), mo_v3(0, 0, 0), fov, 1);
    mo_tracer_render(t, &camera, SIZE, SIZE, samples, rgb);
    return rgb;
}

static float at(const float *rgb, int x, int y) { return rgb[3 * (SIZE * y + x)]; }

static double mean_of(const float *rgb)
{
    double sum = 0;
    for (int k = 0; k < SIZE * SIZE; k++) sum += rgb[3 * k];
    return sum / (SIZE * SIZE);
}

static void add_sheet(mo_tracer *t, mo_sheet sheet, mo_pose pose, mo_material material, double grey)
{
    mo_solid_look look = {{grey, grey, grey}, material, true};
    mo_mesh mesh;
    assert_int_equal(mo_sheet_to_mesh(&sheet, &mesh, NULL), MO_OK);
    assert_int_equal(mo_tracer_add_shell(t, &mesh, pose, &look, NULL), MO_OK);
    mo_mesh_destroy(&mesh), mo_sheet_destroy(&sheet);
}

// ---- Sheets ----

// Panes of white glass and mirrors vanish under a white sky, however many are behind each other; a grey pane is seen
// once. A sheet that is not clear looks alike from both sides.
static void sheets_have_two_sides(void **state)
{
    (void)state;
    const double grey = 0.5, angle = 0.6;
    for (int turn = 0; turn < 2; turn++) {
        mo_quat q = {cos(0.5 * (turn ? angle : M_PI - angle)), sin(0.5 * (turn ? angle : M_PI - angle)), 0, 0};
        static const struct {
            mo_material material;
            double color, want, tolerance;
        } cases[] = {
            {MO_MATERIAL_GLASS, 1, 1, 1e-2}, {MO_MATERIAL_METAL, 1, 1, 1e-4}, {MO_MATERIAL_DIFFUSE, 0.6, 0.6, 2e-3}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            mo_tracer_def def = white_def();
            mo_tracer *t = make_tracer(&def);
            mo_sheet s;
            assert_int_equal(mo_sheet_disk(1, 0.3, &s, NULL), MO_OK);
            add_sheet(t, s, (mo_pose){{0, 0, 0}, q}, cases[i].material, cases[i].color);
            assert_int_equal(mo_sheet_disk(1, 0.3, &s, NULL), MO_OK);
            if (cases[i].material == MO_MATERIAL_GLASS)
                add_sheet(t, s, (mo_pose){{0, 0, -0.5}, q}, MO_MATERIAL_GLASS, 1);
            if (cases[i].material != MO_MATERIAL_GLASS) mo_sheet_destroy(&s);
            assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
            float *rgb = picture(t, 5, 64);
            if (fabs(mean_of(rgb) - cases[i].want) > cases[i].tolerance) fail_msg("case %zu: %g", i, mean_of(rgb));
            free(rgb);
            mo_tracer_destroy(t);
        }
    }
    // Straight through at right angles: 1 - 2 r / (1 + r), r = 0.04, is coloured; what is reflected is not.
    mo_tracer_def def = white_def();
    mo_tracer *t = make_tracer(&def);
    mo_sheet s;
    assert_int_equal(mo_sheet_disk(1, 0.3, &s, NULL), MO_OK);
    add_sheet(t, s, (mo_pose){{0, 0, 0}, {sqrt(0.5), sqrt(0.5), 0, 0}}, MO_MATERIAL_GLASS, grey);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 5, 1024);
    double reflected = 2 * 0.04 / 1.04;
    assert_true(fabs(mean_of(rgb) - reflected - (1 - reflected) * grey) < 5e-3);
    free(rgb);
    mo_tracer_destroy(t);
}

// ---- White furnace ----

// A diffuse convex body under a white sky sends back exactly its albedo; clear and perfectly mirroring ones vanish.
static void white_furnace(void **state)
{
    (void)state;
    static const struct {
        mo_material material;
        double color, want, tolerance;
    } cases[] = {
        {MO_MATERIAL_DIFFUSE, 0.6, 0.6, 2e-3}, {MO_MATERIAL_METAL, 1, 1, 1e-5}, {MO_MATERIAL_GLASS, 1, 1, 2e-2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mo_tracer_def def = white_def();
        mo_tracer *t = make_tracer(&def);
        add_solid(t, mesh_of(mo_shape_sphere(1), 48), mo_v3(0, 0, 0), cases[i].material, cases[i].color);
        assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
        float *rgb = picture(t, 20, 64);
        double sum = 0;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                assert_true(isfinite(at(rgb, x, y)) && at(rgb, x, y) > 0.3);
                if (cases[i].material != MO_MATERIAL_GLASS) assert_true(at(rgb, x, y) < 1.0001);
                sum += at(rgb, x, y);
            }
        assert_float_equal(sum / (SIZE * SIZE), cases[i].want, cases[i].tolerance);
        free(rgb);
        mo_tracer_destroy(t);
    }
}

// A diffuse cavity sees itself: with albedo a and up to MO_PATH_DIFFUSE surfaces nothing exceeds the sky.
static void furnace_with_ground(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    def.ground = true, def.ground_y = -1, def.ground_color = mo_f3(0.5f, 0.5f, 0.5f);
    mo_tracer *t = make_tracer(&def);
    add_solid(t, mesh_of(mo_shape_bowl(1, 0.1), 48), mo_v3(0, 0, 0), MO_MATERIAL_COAT, 0.8);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 45, 32);
    for (int i = 0; i < 3 * SIZE * SIZE; i++) assert_true(rgb[i] > 0.05f && rgb[i] < 1.0001f);
    free(rgb);
    mo_tracer_destroy(t);
}

// ---- Geometry of refraction ----

static mo_mesh box_mesh(mo_vec3 size) // exact, flat
{
    mo_mesh m = {8, 12, mo_alloc(24 * sizeof(float)), NULL, mo_alloc(36 * sizeof(int32_t)), NULL};
    static const int32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int i = 0; i < 8; i++) {
        m.position[3 * i] = (float)(i & 1 ? 0.5 * size.x : -0.5 * size.x);
        m.position[3 * i + 1] = (float)(i & 2 ? 0.5 * size.y : -0.5 * size.y);
        m.position[3 * i + 2] = (float)(i & 4 ? 0.5 * size.z : -0.5 * size.z);
    }
    memcpy(m.triangle, faces, sizeof faces);
    return m;
}

// Where the dark half plane x < 0 behind the stage seems to end along the middle row, in pixels.
static double edge_at(const float *rgb)
{
    double dark = 0;
    for (int x = 0; x < SIZE; x++) dark += at(rgb, x, SIZE / 2) < 0.5f;
    return dark;
}

// A slab at 45 degrees shifts what is behind it by d = w sin(a) (1 - cos(a) / sqrt(n^2 - sin(a)^2)).
static void a_slab_shifts(void **state)
{
    (void)state;
    double edges[2], width = 0.6;
    for (int slab = 0; slab < 2; slab++) {
        mo_tracer_def def = white_def();
        mo_tracer *t = make_tracer(&def);
        add_solid(t, box_mesh(mo_v3(10, 10, 0.1)), mo_v3(-5, 0, -3), MO_MATERIAL_DIFFUSE, 0);
        if (slab) {
            mo_mesh mesh = box_mesh(mo_v3(6, 4, width));
            mo_solid_look look = {{1, 1, 1}, MO_MATERIAL_GLASS, true};
            mo_pose pose = {{0, 0, 0}, mo_quat_axis_angle(mo_v3(0, 1, 0), 0.7853981633974483)};
            assert_int_equal(mo_tracer_add_solid(t, &mesh, pose, &look, NULL), MO_OK);
            mo_mesh_destroy(&mesh);
        }
        assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
        float *rgb = malloc(3 * SIZE * SIZE * sizeof *rgb);
        // From far away, so that rays are nearly parallel; the picture is 2 m wide at the stage.
        mo_camera camera =
            mo_camera_create(mo_v3(0, 0, 400), mo_v3(0, 0, 0), 2 * atan(1.0 / 400) * 180 / 3.14159265, 1);
        mo_tracer_render(t, &camera, SIZE, SIZE, 64, rgb);
        edges[slab] = edge_at(rgb);
        free(rgb);
        mo_tracer_destroy(t);
    }
    double s = sqrt(0.5), shift = width * s * (1 - s / sqrt(1.5 * 1.5 - 0.5));
    assert_float_equal(fabs(edges[1] - edges[0]) * 2.0 / SIZE, shift, 1.01 * 2.0 / SIZE);
    assert_true(shift * SIZE / 2 > 4); // the test sees it
}

// A ball of glass turns the world about: what is dark on the left shows on the right.
static void a_ball_inverts(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    mo_tracer *t = make_tracer(&def);
    add_solid(t, box_mesh(mo_v3(20, 40, 0.1)), mo_v3(-10, 0, -8), MO_MATERIAL_DIFFUSE, 0);
    add_solid(t, mesh_of(mo_shape_sphere(0.5), 64), mo_v3(0, 0, 0), MO_MATERIAL_GLASS, 1);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 20, 64);
    int middle = SIZE / 2;
    assert_true(at(rgb, middle - 6, middle) > 0.8f);
    assert_true(at(rgb, middle + 6, middle) < 0.3f);
    assert_true(at(rgb, 1, 1) < 0.1f && at(rgb, SIZE - 2, 1) > 0.9f);
    free(rgb);
    mo_tracer_destroy(t);
}

// Liquid takes exp(-a d) away and reflects 2% at each face; the sun reaches what lies in it.
static void liquid_absorbs(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    def.absorption = mo_f3(0, 0.7f, 3);
    mo_tracer *t = make_tracer(&def);
    mo_mesh mesh = box_mesh(mo_v3(3, 3, 0.5));
    assert_int_equal(mo_tracer_add_liquid(t, &mesh, NULL), MO_OK);
    mo_mesh_destroy(&mesh);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 5, 256);
    const float *c = rgb + 3 * (SIZE * SIZE / 2 + SIZE / 2);
    double r = 0.0204; // Fresnel at right angles, 1.333
    double e = exp(-0.5 * 0.7), f = exp(-0.5 * 3);
    assert_float_equal(c[0], 1, 2e-2);
    // Reflected by the front, or through after any number of inner reflections (the odd ones come back to the eye).
    assert_float_equal(c[1], r + (1 - r) * (1 - r) * (e + r * e * e) / (1 - r * r * e * e), 2e-2);
    assert_float_equal(c[2], r + (1 - r) * (1 - r) * (f + r * f * f) / (1 - r * r * f * f), 2e-2);
    free(rgb);
    mo_tracer_destroy(t);
}

// Nothing shines through an opaque liquid: its own colour under a coat that reflects 4%.
static void opaque_liquid(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    def.absorption = mo_f3(1, 1, 1);
    def.opaque = true, def.liquid_color = mo_f3(0.8f, 0.3f, 0);
    mo_tracer *t = make_tracer(&def);
    mo_mesh mesh = box_mesh(mo_v3(3, 3, 0.5));
    assert_int_equal(mo_tracer_add_liquid(t, &mesh, NULL), MO_OK);
    mo_mesh_destroy(&mesh);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 5, 64);
    double c[3] = {0};
    for (int i = 0; i < 3 * SIZE * SIZE; i++) c[i % 3] += rgb[i] / (SIZE * SIZE);
    // Pixels whose first samples all miss the reflection end early, so about half of it is lost.
    assert_float_equal(c[0], 0.04 + 0.96 * 0.8, 3e-2);
    assert_float_equal(c[1], 0.04 + 0.96 * 0.3, 3e-2);
    assert_float_equal(c[2], 0.04, 3e-2);
    free(rgb);
    mo_tracer_destroy(t);
}

// Liquid in a tank of glass whose mesh reaches into the wall: looking through, nothing is lost but reflections.
static void liquid_in_glass(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    mo_tracer *t = make_tracer(&def);
    mo_mesh mesh = box_mesh(mo_v3(2.1, 2.1, 1.1));
    assert_int_equal(mo_tracer_add_liquid(t, &mesh, NULL), MO_OK);
    mo_mesh_destroy(&mesh);
    add_solid(t, box_mesh(mo_v3(3, 3, 0.2)), mo_v3(0, 0, 0.6), MO_MATERIAL_GLASS, 1);
    add_solid(t, box_mesh(mo_v3(3, 3, 0.2)), mo_v3(0, 0, -0.6), MO_MATERIAL_GLASS, 1);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    float *rgb = picture(t, 15, 64);
    double sum = 0;
    for (int i = 0; i < 3 * SIZE * SIZE; i++) sum += rgb[i];
    assert_float_equal(sum / (3 * SIZE * SIZE), 1, 5e-3);
    free(rgb);
    mo_tracer_destroy(t);
}

// ---- Determinism ----

static void any_number_of_threads(void **state)
{
    (void)state;
    mo_tracer_def def = white_def();
    def.light = mo_light_create(MO_SKY_DAY, mo_v3(0, 0, 0));
    def.ground = true, def.ground_y = -0.5f, def.ground_tile = 0.2f, def.ground_color = mo_f3(0.5f, 0.4f, 0.3f);
    def.absorption = mo_f3(1, 0.5f, 0.2f);
    mo_tracer *t = make_tracer(&def);
    mo_mesh mesh = mesh_of(mo_shape_torus(0.6, 0.2), 48);
    assert_int_equal(mo_tracer_add_liquid(t, &mesh, NULL), MO_OK);
    mo_mesh_destroy(&mesh);
    add_solid(t, mesh_of(mo_shape_sphere(0.3), 32), mo_v3(0, 0, 0), MO_MATERIAL_COAT, 0.5);
    float sphere[8] = {0.5f, 0.5f, 0.5f, 0.1f, -0.5f, 0.5f, 0, 0.2f}, color[6] = {0.9f, 0.1f, 0.1f, 0.1f, 0.9f, 0.1f};
    assert_int_equal(mo_tracer_add_spheres(t, 2, sphere, color, NULL), MO_OK);
    assert_int_equal(mo_tracer_commit(t, NULL), MO_OK);
    int32_t before = mo_thread_count();
    float *one = NULL;
    for (int threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        float *rgb = picture(t, 30, 16);
        for (int i = 0; i < 3 * SIZE * SIZE; i++) assert_true(isfinite(rgb[i]) && rgb[i] > 0);
        if (one) assert_memory_equal(rgb, one, 3 * SIZE * SIZE * sizeof *rgb);
        if (one) free(rgb);
        if (!one) one = rgb;
    }
    mo_use_threads(before);
    free(one);
    mo_tracer_destroy(t);
}

// ---- Files ----

static int make_place(void **state)
{
    char *dir = strdup("/tmp/mo_render_XXXXXX");
    *state = dir;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    free(*state);
    return system(command);
}

// The pixels of a PNG file, freed by the caller.
static uint8_t *read_png(const char *path, int *width, int *height)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) fail_msg("%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL)) fail_msg("%s: %s", path, image.message);
    *width = (int)image.width, *height = (int)image.height;
    return pixels;
}

static void tone_curve(void **state)
{
    (void)state;
    float in[6] = {0, 0.18f, 1, 100, 0.05f, 0.5f};
    uint8_t out[6];
    mo_image_tone(in, 2, 1, out);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[3], 255);
    assert_true(out[4] < out[1] && out[1] < out[5] && out[5] < out[2] && out[2] < 255);
    assert_in_range(out[1], 90, 135); // middle grey stays in the middle
}

static void videos_as_animated_png(void **state)
{
    enum { W = 20, H = 16 };
    uint8_t rgb[3 * W * H];
    mo_video_file *v;
    assert_int_equal(mo_video_create(MO_VIDEO_APNG, *state, W, H, 25, &v, NULL), MO_OK);
    for (int frame = 0; frame < 3; frame++) {
        memset(rgb, 40 * (frame + 1), sizeof rgb);
        void *png;
        size_t bytes;
        assert_int_equal(mo_image_png(rgb, W, H, &png, &bytes, NULL), MO_OK);
        assert_int_equal(mo_video_add(v, rgb, png, bytes, NULL), MO_OK);
        mo_free(png);
    }
    assert_int_equal(mo_video_finish(v, true, NULL), MO_OK);
    char path[128];
    snprintf(path, sizeof path, "%s/video.png", (char *)*state);
    int width, height;
    uint8_t *first = read_png(path, &width, &height); // libpng checks every checksum of what it reads
    assert_true(width == W && height == H && first[0] == 40 && first[3 * W * H - 1] == 40);
    free(first);
    char *data;
    size_t bytes;
    assert_int_equal(mo_file_read(path, &data, &bytes, NULL, NULL), MO_OK);
    const uint8_t *count = memmem(data, bytes, "acTL", 4);
    assert_non_null(count);
    assert_memory_equal(count + 4, "\0\0\0\3\0\0\0\0", 8);
    int controls = 0, frames = 0;
    for (size_t i = 0; i + 4 < bytes; i++) {
        controls += memcmp(data + i, "fcTL", 4) == 0;
        frames += memcmp(data + i, "fdAT", 4) == 0;
    }
    assert_int_equal(controls, 3);
    assert_int_equal(frames, 2);
    mo_free(data);
}

// ---- Whole runs ----

static void simulate(const char *dir, const char *text)
{
    char path[200];
    mo_error err = {0};
    mo_scene *scene;
    snprintf(path, sizeof path, "%s/scene.lua", dir);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    if (mo_scene_load(path, NULL, 0, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    mo_run_def def = mo_run_def_default();
    def.directory = dir, def.scene_path = path, def.scene_text = mo_scene_text(scene);
    def.sim = mo_scene_sim_def(scene), def.look = mo_scene_look(scene);
    mo_run *run;
    mo_sim *sim;
    assert_int_equal(mo_run_create(&def, &run, &err), MO_OK);
    assert_int_equal(mo_sim_create(def.sim, &sim, &err), MO_OK);
    assert_int_equal(mo_run_start(run, sim, &err), MO_OK);
    while (!mo_sim_done(sim)) {
        mo_stats stats;
        assert_int_equal(mo_sim_step(sim, &stats, &err), MO_OK);
        assert_int_equal(mo_run_step(run, sim, &stats, &err), MO_OK);
    }
    assert_int_equal(mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err), MO_OK);
    mo_run_destroy(run);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

typedef struct seen {
    int pictures, notes;
    char path[256];
} seen;

static bool watch(void *user, const mo_render_progress *p)
{
    seen *s = user;
    s->pictures += p->path != NULL;
    s->notes += p->note != NULL;
    if (p->path) snprintf(s->path, sizeof s->path, "%s", p->path);
    return true;
}

static void check_picture(const char *path, int want_width, int want_height)
{
    int width, height;
    uint8_t *pixel = read_png(path, &width, &height);
    assert_true(width == want_width && height == want_height);
    int least = 255, most = 0;
    for (int i = 0; i < width * height; i++) {
        int sum = pixel[3 * i] + pixel[3 * i + 1] + pixel[3 * i + 2];
        assert_true(sum > 12); // no black pixel
        least = sum / 3 < least ? sum / 3 : least, most = sum / 3 > most ? sum / 3 : most;
    }
    assert_true(most - least > 40); // there is something to see
    free(pixel);
}

static void runs_without_black_pixels(void **state)
{
    static const char *const scenes[] = {
        "domain { size = {1, 0.6, 0.5}, cells = 16 }\ntime { fps = 25, seconds = 0.04 }\n"
        "liquid { shape = box{size = {0.8, 0.8, 2}} }\n"
        "fixed { shape = sphere{radius = 0.15}:move(0.7, 0.15, 0.25), material = 'metal' }\n"
        "fixed { shape = plane{normal = {0.3, 1, 0}, offset = 0.05}, color = {0.5, 0.2, 0.1} }\n",
        "domain { size = {1, 0.6}, cells = 24 }\ntime { fps = 25, seconds = 0.04 }\n"
        "liquid { shape = box{size = {0.8, 0.8}} }\n"};
    for (int i = 0; i < 2; i++) {
        char dir[128];
        snprintf(dir, sizeof dir, "%s/run%d", (char *)*state, i);
        char *folder = mo_path("", "%s", dir);
        assert_int_equal(mo_directory_create(folder, NULL, NULL), MO_OK);
        mo_free(folder);
        simulate(dir, scenes[i]);
        for (int particles = 0; particles < 2; particles++) {
            mo_render_options o = mo_render_options_default();
            o.width = 80, o.height = 45, o.samples = 12, o.particles = particles;
            mo_error err = {0};
            seen s = {0};
            if (mo_render_run(dir, &o, watch, &s, &err) != MO_OK) fail_msg("%s", err.text);
            assert_true(s.pictures == 2 && s.notes == 0);
            check_picture(s.path, 80, 45);
        }
        // A damaged frame is skipped, but not the last one there is.
        char frame[200];
        snprintf(frame, sizeof frame, "%s/frames/surface_liquid_00000.ply", dir);
        assert_int_equal(truncate(frame, 300), 0);
        mo_render_options o = mo_render_options_default();
        o.width = o.height = 16, o.samples = 1;
        seen s = {0};
        assert_int_equal(mo_render_run(dir, &o, watch, &s, NULL), MO_OK);
        assert_true(s.pictures == 1 && s.notes == 1);
        o.last = 0;
        mo_error err = {0};
        assert_int_equal(mo_render_run(dir, &o, watch, &s, &err), MO_ERROR_FILE);
        assert_non_null(strstr(err.text, "surface_liquid_00000.ply"));
    }
}

// One logarithmic scale of viscosity for all frames; a run without any is told apart.
static void particles_by_viscosity(void **state)
{
    const char *dir = *state;
    simulate(dir, "domain { size = {1, 0.6}, cells = 16 }\ntime { fps = 25, seconds = 0.08 }\n"
                  "liquid { shape = box{size = {0.8, 0.8}} }\n");
    mo_render_options o = mo_render_options_default();
    o.width = 80, o.height = 45, o.samples = 4, o.particles = true, o.color = MO_COLOR_VISCOSITY;
    mo_error err = {0};
    assert_int_equal(mo_render_run(dir, &o, NULL, NULL, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "no liquid has a viscosity to colour the particles by"));
    static const float range[3][2] = {{2, 8}, {0, 100}, {0.5f, 50}}; // of each frame; 0 is no viscosity
    for (int i = 0; i < 3; i++) {
        enum { N = 200 };
        float position[3 * N], viscosity[N];
        for (int k = 0; k < N; k++) {
            float at = (float)k / (N - 1);
            position[3 * k] = 0.8f * at, position[3 * k + 1] = 0.3f, position[3 * k + 2] = 0.03f;
            viscosity[k] = range[i][0] + at * (range[i][1] - range[i][0]);
        }
        char *path = mo_path(dir, "frames/particles_liquid_%05d.vtp", i);
        assert_int_equal(mo_write_vtp(path, N, position, NULL, NULL, viscosity, NULL), MO_OK);
        mo_free(path);
    }
    mo_reader *run;
    mo_stage stage;
    assert_int_equal(mo_reader_open(dir, &run, NULL), MO_OK);
    assert_int_equal(mo_stage_create(run, &o, &stage, NULL), MO_OK);
    assert_true(stage.thick == 100 && fabsf(stage.thin - 0.5f) < 1e-3f);
    mo_stage_destroy(&stage);
    mo_reader_close(run);
    seen s = {0};
    if (mo_render_run(dir, &o, watch, &s, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(s.pictures, 3);
    check_picture(s.path, 80, 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_furnace),
        cmocka_unit_test(sheets_have_two_sides),
        cmocka_unit_test(furnace_with_ground),
        cmocka_unit_test(a_slab_shifts),
        cmocka_unit_test(a_ball_inverts),
        cmocka_unit_test(liquid_absorbs),
        cmocka_unit_test(opaque_liquid),
        cmocka_unit_test(liquid_in_glass),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(tone_curve),
        cmocka_unit_test_setup_teardown(videos_as_animated_png, make_place, remove_place),
        cmocka_unit_test_setup_teardown(runs_without_black_pixels, make_place, remove_place),
        cmocka_unit_test_setup_teardown(particles_by_viscosity, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
