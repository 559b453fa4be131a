// Meshes from files: distances against the analytic shape, and a clear refusal of everything unusable.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape_node.h"
#include "ration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/monolith_mesh_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *file_path(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_text(const char *name, const char *text)
{
    const char *path = file_path(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static const char *write_obj(const char *name, const mo_mesh *m)
{
    const char *path = file_path(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int32_t v = 0; v < m->vertex_count; v++)
        fprintf(f, "v %.9g %.9g %.9g\n", m->position[3 * v], m->position[3 * v + 1], m->position[3 * v + 2]);
    for (int32_t t = 0; t < m->triangle_count; t++)
        fprintf(f, "f %d %d %d\n", m->triangle[3 * t] + 1, m->triangle[3 * t + 1] + 1, m->triangle[3 * t + 2] + 1);
    fclose(f);
    return path;
}

// STL repeats every corner.
static const char *write_stl(const char *name, const mo_mesh *m)
{
    const char *path = file_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    char head[80] = "a mesh";
    fwrite(head, 1, 80, f);
    fwrite(&m->triangle_count, 4, 1, f);
    for (int32_t t = 0; t < m->triangle_count; t++) {
        float x[12] = {0};
        uint16_t none = 0;
        for (int k = 0; k < 3; k++) memcpy(x + 3 + 3 * k, m->position + 3 * m->triangle[3 * t + k], 12);
        fwrite(x, 4, 12, f);
        fwrite(&none, 2, 1, f);
    }
    fclose(f);
    return path;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g and %.12g differ by %g > %g", a, b, fabs(a - b), tolerance);
}

static mo_vec3 random_point(uint32_t i, double reach)
{
    return mo_v3(reach * (2 * mo_unit(mo_hash(i, 0, 0)) - 1), reach * (2 * mo_unit(mo_hash(i, 1, 0)) - 1),
                 reach * (2 * mo_unit(mo_hash(i, 2, 0)) - 1));
}

// A box as 12 triangles, appended to m (room for it must exist).
static void add_box(mo_mesh *m, mo_vec3 lo, mo_vec3 hi)
{
    static const int32_t quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    int32_t first = m->vertex_count;
    for (int c = 0; c < 8; c++) {
        float *x = m->position + 3 * m->vertex_count++;
        x[0] = (float)(c & 1 ? hi.x : lo.x), x[1] = (float)(c & 2 ? hi.y : lo.y), x[2] = (float)(c & 4 ? hi.z : lo.z);
    }
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < 2; k++) {
            int32_t *t = m->triangle + 3 * m->triangle_count++;
            t[0] = first + quad[f][0], t[1] = first + quad[f][1 + k], t[2] = first + quad[f][2 + k];
        }
}

typedef struct room {
    float position[300];
    int32_t triangle[300];
    mo_mesh mesh;
} room;

static mo_mesh *empty_room(room *r)
{
    r->mesh = (mo_mesh){0, 0, r->position, NULL, r->triangle, NULL};
    return &r->mesh;
}

// ---- Good meshes ----

static void check_against(const char *path, int32_t resolution, const mo_shape *exact, double near, double sampled)
{
    mo_shape *s;
    mo_error err;
    if (mo_shape_mesh_file(path, resolution, &s, &err) != MO_OK) fail_msg("%s", err.text);
    const mo_distance_lattice *l = &s->lattice;
    double cell = l->spacing;
    for (int32_t k = 0; k < l->n[2]; k++) // samples: the mesh itself
        for (int32_t j = 0; j < l->n[1]; j++)
            for (int32_t i = 0; i < l->n[0]; i++) {
                mo_vec3 p = mo_mad(l->origin, cell, mo_v3(i, j, k));
                assert_near(mo_shape_distance(s, p), mo_shape_distance(exact, p), sampled * cell);
            }
    for (uint32_t i = 0; i < 20000; i++) { // between them: kinks are rounded off
        mo_vec3 p = random_point(i, i % 2 ? 0.6 : 3);
        double want = mo_shape_distance(exact, p), got = mo_shape_distance(s, p);
        if (mo_box_outside(&l->box, p) > 2 * cell) { // outside the lattice: a lower bound, to interpolation
            assert_true(got <= want + 0.15 * cell && got >= 0.5 * want);
        } else {
            assert_near(got, want, cell * (fabs(want) < cell ? near : 0.6));
        }
        mo_vec3 q = mo_mad(p, 0.2, random_point(i + 77777, 1)); // slopes: 1, in a cell at most sqrt(3)
        double rise = fabs(got - mo_shape_distance(s, q)), run = mo_norm(mo_sub(p, q));
        assert_true(rise <= run + fmin(0.75 * run, cell));
    }
    mo_box3 b = mo_shape_bounds(s), e = mo_shape_bounds(exact);
    assert_near(mo_norm(mo_sub(b.lo, e.lo)), 0, sampled * cell);
    assert_near(mo_norm(mo_sub(b.hi, e.hi)), 0, sampled * cell);
    mo_shape_release(s);
    unlink(path);
}

static void boxes_come_back(void **state)
{
    (void)state;
    room r;
    mo_mesh *m = empty_room(&r);
    add_box(m, mo_v3(-0.5, -0.25, -0.4), mo_v3(0.5, 0.25, 0.4));
    mo_shape *exact = mo_shape_box(mo_v3(1, 0.5, 0.8));
    check_against(write_obj("box.obj", m), 40, exact, 0.4, 1e-4);
    check_against(write_stl("box.stl", m), 40, exact, 0.4, 1e-4);
    for (int32_t i = 0; i < m->triangle_count; i++) { // inside out: turned round
        int32_t *t = m->triangle + 3 * i, c = t[0];
        t[0] = t[1], t[1] = c;
    }
    check_against(write_obj("box.obj", m), 40, exact, 0.4, 1e-4);
    mo_shape_release(exact);
}

static void spheres_come_back(void **state)
{
    (void)state;
    mo_shape *exact = mo_shape_sphere(0.5);
    mo_mesh m;
    assert_int_equal(mo_shape_to_mesh(exact, 60, &m, NULL), MO_OK);
    check_against(write_stl("sphere.stl", &m), 32, exact, 0.05, 0.02);
    // Coordinates written with few digits: corners of STL triangles still weld.
    for (int32_t i = 0; i < 3 * m.vertex_count; i++) m.position[i] = (float)(m.position[i] * (1 + 1e-7 * (i % 3)));
    check_against(write_obj("sphere.obj", &m), 32, exact, 0.05, 0.02);
    mo_mesh_destroy(&m);
    mo_shape_release(exact);
}

static void rounding_gaps_are_welded(void **state)
{
    (void)state;
    room r;
    mo_mesh *m = empty_room(&r);
    add_box(m, mo_v3(-0.5, -0.5, -0.5), mo_v3(0.5, 0.5, 0.5));
    // Every triangle gets its own corners, each off by some 1e-7.
    static float x[108];
    static int32_t t[36];
    for (int i = 0; i < 36; i++) {
        t[i] = i;
        for (int a = 0; a < 3; a++)
            x[3 * i + a] = m->position[3 * m->triangle[i] + a] +
                           4e-7f * (float)(mo_unit(mo_hash((uint32_t)i, (uint32_t)a, 5)) - 0.5);
    }
    mo_mesh soup = {36, 12, x, NULL, t, NULL};
    mo_shape *s, *exact = mo_shape_box(mo_v3(1, 1, 1));
    mo_error err;
    if (mo_shape_from_mesh(&soup, "soup", 16, &s, &err) != MO_OK) fail_msg("%s", err.text);
    assert_near(mo_shape_distance(s, mo_v3(0.3, 0.1, -0.2)), -0.2, 1e-5);
    mo_shape_release(s);
    mo_shape_release(exact);
}

// A cavity is a second surface, oriented towards the hollow.
static void cavities_are_outside(void **state)
{
    (void)state;
    mo_shape *hollow = mo_shape_hollow_sphere(0.5, 0.2), *s;
    mo_mesh m;
    assert_int_equal(mo_shape_to_mesh(hollow, 50, &m, NULL), MO_OK);
    mo_error err;
    if (mo_shape_from_mesh(&m, "hollow", 40, &s, &err) != MO_OK) fail_msg("%s", err.text);
    for (uint32_t i = 0; i < 5000; i++) {
        mo_vec3 p = random_point(i, 0.5);
        assert_near(mo_shape_distance(s, p), mo_shape_distance(hollow, p), 0.5 / 40);
    }
    mo_mesh_destroy(&m);
    mo_shape_release(s);
    mo_shape_release(hollow);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    mo_shape *rabbit = mo_shape_rabbit(1), *first = NULL;
    mo_mesh m;
    assert_int_equal(mo_shape_to_mesh(rabbit, 30, &m, NULL), MO_OK);
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_shape *s;
        assert_int_equal(mo_shape_from_mesh(&m, "rabbit", 24, &s, NULL), MO_OK);
        if (!first) {
            first = s;
            continue;
        }
        const mo_distance_lattice *a = &first->lattice, *b = &s->lattice;
        assert_memory_equal(a->n, b->n, sizeof a->n);
        assert_memory_equal(a->sample, b->sample, 4 * (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2]);
        mo_shape_release(s);
    }
    mo_use_threads(0);
    mo_shape_release(first);
    mo_shape_release(rabbit);
    mo_mesh_destroy(&m);
}

// ---- Formats ----

// Meshes of very many triangles: samples near the surface are exact, the others nearly so, and threads do not matter.
static void many_triangles(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(0.4), *bar = mo_shape_box(mo_v3(1.2, 0.1, 0.2)), *both = mo_shape_union(ball, bar);
    mo_mesh mesh;
    mo_mesh_bvh *bvh;
    assert_int_equal(mo_shape_to_mesh(both, 110, &mesh, NULL), MO_OK);
    assert_true(mesh.triangle_count > 20000); // where the sweeps begin
    assert_int_equal(mo_mesh_weld(&mesh, 0, NULL), MO_OK);
    assert_int_equal(mo_mesh_bvh_create(&mesh, &bvh, NULL), MO_OK);
    mo_shape *s[2];
    for (int k = 0; k < 2; k++) {
        mo_use_threads(k ? 3 : 1);
        assert_int_equal(mo_shape_from_mesh(&mesh, "both", 40, &s[k], NULL), MO_OK);
    }
    const mo_distance_lattice *l = &s[0]->lattice;
    int64_t samples = (int64_t)l->n[0] * l->n[1] * l->n[2], inexact = 0;
    double worst = 0;
    assert_memory_equal(l->sample, s[1]->lattice.sample, sizeof(float) * (size_t)samples);
    int32_t triangle = -1;
    for (int64_t i = 0; i < samples; i++) {
        int64_t row = i / l->n[0];
        mo_vec3 p =
            mo_v3(l->origin.x + (double)(i % l->n[0]) * l->spacing, l->origin.y + (double)(row % l->n[1]) * l->spacing,
                  l->origin.z + (double)(row / l->n[1]) * l->spacing);
        float exact = (float)mo_mesh_bvh_distance(bvh, p, &triangle), d = fabsf(l->sample[i]);
        if (exact < 2 * l->spacing) assert_true(d == exact);
        assert_true(d >= exact);
        inexact += d != exact, worst = fmax(worst, (d - exact) / l->spacing);
    }
    print_message("%d triangles: %lld of %lld samples are not exact, by %.2g spacings at most\n", mesh.triangle_count,
                  (long long)inexact, (long long)samples, worst);
    assert_true(worst < 0.05); // a twentieth of the error of interpolation at an edge
    mo_shape_release(s[0]), mo_shape_release(s[1]);
    mo_shape_release(ball), mo_shape_release(bar), mo_shape_release(both);
    mo_mesh_bvh_destroy(bvh);
    mo_mesh_destroy(&mesh);
}

static mo_mesh read_mesh(const char *path)
{
    mo_mesh m;
    mo_error err = {0};
    if (mo_mesh_read(path, &m, &err) != MO_OK) fail_msg("%s", err.text);
    unlink(path);
    return m;
}

static void check_volume(mo_mesh m, double volume, int32_t triangles)
{
    assert_int_equal(m.triangle_count, triangles);
    mo_error err = {0};
    assert_int_equal(mo_mesh_weld(&m, 0, NULL), MO_OK);
    if (mo_mesh_check_closed(&m, "read", &err) != MO_OK) fail_msg("%s", err.text);
    assert_near(mo_mesh_mass(&m).volume, volume, 1e-6);
    mo_mesh_destroy(&m);
}

#define CUBE_PLACES "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
#define CUBE_FACES  "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n"

static void text_formats_are_read(void **state)
{
    (void)state;
    check_volume(read_mesh(write_text("cube.off", "OFF\n# a cube\n8 6 12\n" CUBE_PLACES CUBE_FACES)), 1, 12);
    check_volume(read_mesh(write_text("cube.OFF", "COFF 8 6 0\n" CUBE_PLACES CUBE_FACES)), 1, 12);
    check_volume(
        read_mesh(write_text("cube.ply", "ply\r\nformat ascii 1.0\r\ncomment end_header\r\nelement vertex 8\r\n"
                                         "property float x\r\nproperty double y\r\nproperty float32 z\r\n"
                                         "element face 6\r\nproperty list uchar int vertex_index\r\n"
                                         "end_header\r\n" CUBE_PLACES CUBE_FACES)),
        1, 12);
    check_volume(read_mesh(write_text("tet.stl", "solid a tetrahedron of words\n"
                                                 "facet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 0 1 0\n"
                                                 "vertex 1 0 0\nendloop\nendfacet\n"
                                                 "FACET NORMAL 0 0 0 OUTER LOOP VERTEX 0 0 0 VERTEX 1 0 0 VERTEX 0 0 1 "
                                                 "ENDLOOP ENDFACET\n"
                                                 "facet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 0 1 vertex 0 1 0 "
                                                 "endloop endfacet endsolid a\n"
                                                 "solid\nfacet normal 0 0 0 outer loop vertex 1 0 0 vertex 0 1e0 0 "
                                                 "vertex 0 0 +1 endloop endfacet\nendsolid")),
                 1.0 / 6, 4);
    check_volume(
        read_mesh(write_text("cube.obj", "mtllib none.mtl\no cube # words\nv 0 0 0 1 1 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
                                         "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nvt 0 0\nvn 0 0 1\ns off\nusemtl red\n"
                                         "f 4/1/1 3/1/1 2/1 1\nf 5//1 6//1 7//1 8//1\nf -8 -7 -3 \\\n -4\n"
                                         "f 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8")),
        1, 12);
}

// Vertices with a colour before the place, faces with something behind the list, and an element of no interest.
static const char *write_ply(const char *name, bool big)
{
    static const uint8_t face[6][4] = {{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                       {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    static const float place[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const char *path = file_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fprintf(f,
            "ply\nformat binary_%s_endian 1.0\nelement camera 2\nproperty list uchar short words\nelement vertex 8\n"
            "property uchar red\nproperty float x\nproperty float y\nproperty float z\nelement face 6\n"
            "property list uchar ushort vertex_indices\nproperty char flags\nend_header\n",
            big ? "big" : "little");
    fwrite("\0\2abcd", 1, 6, f);
    for (int v = 0; v < 8; v++) {
        fputc(200, f);
        for (int a = 0; a < 3; a++) {
            uint32_t bits;
            memcpy(&bits, &place[v][a], 4);
            for (int i = 0; i < 4; i++) fputc((int)(bits >> 8 * (big ? 3 - i : i) & 255), f);
        }
    }
    for (int i = 0; i < 6; i++) {
        fputc(4, f);
        for (int k = 0; k < 4; k++) fputc(big ? 0 : face[i][k], f), fputc(big ? face[i][k] : 0, f);
        fputc(7, f);
    }
    fclose(f);
    return path;
}

static void binary_ply_is_read(void **state)
{
    (void)state;
    check_volume(read_mesh(write_ply("little.ply", false)), 1, 12);
    check_volume(read_mesh(write_ply("big.ply", true)), 1, 12);
}

// A star is not convex: its triangles still cover it once, whichever way it lies and turns.
static void polygons_are_split(void **state)
{
    (void)state;
    for (int turn = 0; turn < 12; turn++) {
        char text[2000] = "OFF\n10 1 0\n";
        double area = 0, x[10][2];
        for (int k = 0; k < 10; k++) {
            double angle = (turn % 2 ? -1 : 1) * 0.628318530717959 * (k + turn), r = k % 2 ? 0.3 : 1;
            x[k][0] = r * cos(angle), x[k][1] = r * sin(angle);
            double place[3] = {0};
            place[turn % 3] = x[k][0], place[(turn + 1) % 3] = x[k][1];
            snprintf(text + strlen(text), 100, "%.9g %.9g %.9g\n", place[0], place[1], place[2]);
        }
        for (int k = 0; k < 10; k++) area += 0.5 * (x[k][0] * x[(k + 1) % 10][1] - x[k][1] * x[(k + 1) % 10][0]);
        strcat(text, "10 0 1 2 3 4 5 6 7 8 9\n");
        mo_mesh m = read_mesh(write_text("star.off", text));
        assert_int_equal(m.triangle_count, 8);
        double sum = 0; // of areas without a sign: more than the star's if triangles overlapped
        for (int32_t t = 0; t < 8; t++) {
            mo_vec3 a = mo_mesh_corner(&m, t, 0), b = mo_mesh_corner(&m, t, 1), c = mo_mesh_corner(&m, t, 2);
            sum += 0.5 * mo_norm(mo_cross(mo_sub(b, a), mo_sub(c, a)));
        }
        assert_near(sum, fabs(area), 1e-6);
        mo_mesh_destroy(&m);
    }
}

// Whatever happens to the bytes of a file: a mesh with vertices that exist, or a message.
static void damaged_files_end(void **state)
{
    (void)state;
    const char *names[] = {"little.ply", "cube.off", "cube.obj", "cube.ply", "tet.stl"};
    const char *texts[] = {
        NULL, "OFF\n8 6 12\n" CUBE_PLACES CUBE_FACES, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1/2 -1 2\n",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "solid\nfacet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 1 0 vertex 1 0 0 endloop endfacet\nendsolid"};
    for (int i = 0; i < 5; i++) {
        if (i == 0) write_ply(names[i], false);
        FILE *f = i == 0 ? fopen(file_path(names[i]), "rb") : NULL;
        char whole[2000], damaged[2000];
        size_t bytes = f ? fread(whole, 1, sizeof whole, f) : strlen(texts[i]);
        if (f) fclose(f);
        if (texts[i]) memcpy(whole, texts[i], bytes);
        int64_t before = mo_memory_in_use();
        for (uint32_t n = 0; n < 3000; n++) {
            memcpy(damaged, whole, bytes);
            size_t length = n % 4 ? bytes : mo_hash(n, 1, 0) % bytes;
            for (uint32_t k = 0; k < 1 + n % 3; k++)
                damaged[mo_hash(n, 2, k) % bytes] =
                    n % 5 ? "0123456789 -.e\n/#"[mo_hash(n, 3, k) % 17] : (char)mo_hash(n, 4, k);
            f = fopen(file_path(names[i]), "wb");
            fwrite(damaged, 1, length, f);
            fclose(f);
            mo_mesh m;
            mo_error err = {0};
            if (mo_mesh_read(file_path(names[i]), &m, &err) != MO_OK) {
                assert_true(strstr(err.text, names[i]) != NULL && err.status != MO_OK);
                continue;
            }
            for (int32_t k = 0; k < 3 * m.triangle_count; k++)
                assert_true(m.triangle[k] >= 0 && m.triangle[k] < m.vertex_count);
            mo_mesh_destroy(&m);
        }
        assert_int_equal(mo_memory_in_use(), before);
        unlink(file_path(names[i]));
    }
}

// ---- Bad ones ----

static void refuse(const char *path, mo_status status, const char *word)
{
    mo_shape *s = (mo_shape *)1;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    assert_int_equal(mo_shape_mesh_file(path, 16, &s, &err), status);
    assert_null(s);
    assert_int_equal(mo_memory_in_use(), before);
    if (!strstr(err.text, word)) fail_msg("expected '%s' in: %s", word, err.text);
    if (!strstr(err.text, path)) fail_msg("expected the file's name in: %s", err.text);
    unlink(path);
}

static void bad_surfaces_are_refused(void **state)
{
    (void)state;
    room r;
    mo_mesh *m = empty_room(&r);
    add_box(m, mo_v3(0, 0, 0), mo_v3(1, 1, 1));
    m->triangle_count--;
    refuse(write_obj("open.obj", m), MO_ERROR_INPUT, "3 open edges");
    refuse(write_stl("open.stl", m), MO_ERROR_INPUT, "3 open edges");
    m->triangle_count++;
    int32_t *t = m->triangle, corner = t[0];
    t[0] = t[1], t[1] = corner;
    refuse(write_obj("turned.obj", m), MO_ERROR_INPUT, "3 edges between triangles of opposite orientation");

    m = empty_room(&r);
    add_box(m, mo_v3(0, 0, 0), mo_v3(1, 1, 1));
    add_box(m, mo_v3(0.5, 0.4, 0.3), mo_v3(1.5, 1.4, 1.3));
    refuse(write_obj("crossing.obj", m), MO_ERROR_INPUT, "intersects itself");

    m = empty_room(&r); // overlapping with all faces aligned: no edge pierces a triangle
    add_box(m, mo_v3(0, 0, 0), mo_v3(1, 1, 1));
    add_box(m, mo_v3(0.5, 0, 0), mo_v3(1.5, 1, 1));
    refuse(write_obj("aligned.obj", m), MO_ERROR_INPUT, "overlap");

    m = empty_room(&r); // one part inside out
    add_box(m, mo_v3(0, 0, 0), mo_v3(1, 1, 1));
    add_box(m, mo_v3(3, 0, 0), mo_v3(2, 0.5, 0.5));
    refuse(write_obj("mirrored.obj", m), MO_ERROR_INPUT, "inside out");

    m = empty_room(&r); // two boxes with a common edge
    add_box(m, mo_v3(0, 0, 0), mo_v3(1, 1, 1));
    add_box(m, mo_v3(1, 1, 0), mo_v3(2, 2, 1));
    refuse(write_obj("edge.obj", m), MO_ERROR_INPUT, "1 edges shared by more than two triangles");
}

#define PLY_HEAD                                                                                                       \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\ncomment -\n"

static void bad_files_are_refused(void **state)
{
    (void)state;
    refuse(file_path("missing.obj"), MO_ERROR_FILE, "No such file");
    refuse(write_text("empty.obj", ""), MO_ERROR_INPUT, "empty");
    refuse(write_text("garbage.obj", "\x7f\x45 this is not\na mesh \x01\x02\n"), MO_ERROR_INPUT, "mesh");
    refuse(write_text("garbage.stl", "\x7f\x45 this is not a mesh at all"), MO_ERROR_INPUT, "mesh");
    refuse(write_text("garbage.ply", "ply\nformat ascii 1.0\nelement vertex 9999999\n"), MO_ERROR_INPUT, "mesh");
    refuse(write_text("short.ply", "ply\nformat ascii 1.0\nelement vertex 9999999\nproperty float x\n"
                                   "property float y\nproperty float z\nend_header\n0\n"),
           MO_ERROR_INPUT, "the file ends where");
    refuse(write_text("comment.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\ncomment end_header\n"),
           MO_ERROR_INPUT, "end_header is missing");
    refuse(write_text("none.ply", PLY_HEAD "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
                                           "0 0 0\n1 0 0\n0 1 0\n0\n"),
           MO_ERROR_INPUT, "14: a face has 0 corners");
    refuse(write_text("beyond.ply", PLY_HEAD "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
                                             "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
           MO_ERROR_INPUT, "14: a face has a vertex that is not there");
    refuse(write_text("blind.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n"),
           MO_ERROR_INPUT, "must have x, y and z");
    refuse(write_text("strips.ply", PLY_HEAD "element tristrips 1\n"), MO_ERROR_INPUT, "8: strips of triangles");
    refuse(write_text("beyond.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n"), MO_ERROR_INPUT, ":3: a face has a vertex");
    refuse(write_text("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"), MO_ERROR_INPUT, ":4: a face has a vertex");
    refuse(write_text("word.obj", "v 0 0 0\nf one two three\n"), MO_ERROR_INPUT, ":2: a corner of a face is no number");
    refuse(write_text("curve.obj", "v 0 0 0\ncstype bspline\n"), MO_ERROR_INPUT, ":2: not a mesh");
    refuse(write_text("cut.stl", "solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0\n"), MO_ERROR_INPUT,
           "the file ends");
    refuse(write_text("few.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n"), MO_ERROR_INPUT, "the file ends");
    refuse(write_text("unknown.zzz", "hello"), MO_ERROR_INPUT, "mesh");
    refuse(write_text("nothing.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), MO_ERROR_INPUT, "mesh");
    refuse(write_text("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n"), MO_ERROR_INPUT, "volume");
    refuse(write_text("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
           MO_ERROR_INPUT, ":1: 'nan' is no coordinate x");
    mo_shape *s;
    mo_error err;
    assert_int_equal(mo_shape_mesh_file("x.obj", 100000, &s, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "resolution"));
    int32_t corner[3] = {0, 1, 7};
    float x[9] = {0};
    mo_mesh wild = {3, 1, x, NULL, corner, NULL};
    assert_int_equal(mo_shape_from_mesh(&wild, "wild", 16, &s, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "uses vertex 7"));
}

// ---- Allocation failure at every call ----

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    mo_use_threads(1);
    int64_t before = mo_memory_in_use(), count = 0;
    ration r = {.for_good = true};
    mo_set_allocator(rationed, &r);
    for (bool done = false; !done; count++) {
        r.calls = 0, r.fail_at = count + 1;
        mo_shape *rabbit = mo_shape_rabbit(1), *s = NULL;
        mo_mesh m = {0};
        mo_mass mass;
        mo_status a = rabbit ? mo_shape_to_mesh(rabbit, 8, &m, NULL) : MO_ERROR_MEMORY;
        mo_status b = a == MO_OK ? mo_shape_from_mesh(&m, "rabbit", 8, &s, NULL) : MO_ERROR_MEMORY;
        mo_status c = b == MO_OK ? mo_shape_mass(s, 8, &mass, NULL) : MO_ERROR_MEMORY;
        assert_true((a == MO_OK || a == MO_ERROR_MEMORY) && (b == MO_OK || b == MO_ERROR_MEMORY));
        assert_true(c == MO_OK || c == MO_ERROR_MEMORY);
        done = c == MO_OK;
        mo_shape_release(rabbit);
        mo_shape_release(s);
        mo_mesh_destroy(&m);
        assert_int_equal(mo_memory_in_use(), before);
    }
    assert_true(count > 60);
    mo_set_allocator(NULL, NULL);
    mo_use_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_come_back),          cmocka_unit_test(spheres_come_back),
        cmocka_unit_test(rounding_gaps_are_welded), cmocka_unit_test(cavities_are_outside),
        cmocka_unit_test(threads_do_not_matter),    cmocka_unit_test(text_formats_are_read),
        cmocka_unit_test(many_triangles),           cmocka_unit_test(text_formats_are_read),
        cmocka_unit_test(binary_ply_is_read),       cmocka_unit_test(polygons_are_split),
        cmocka_unit_test(damaged_files_end),        cmocka_unit_test(bad_surfaces_are_refused),
        cmocka_unit_test(bad_files_are_refused),    cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
