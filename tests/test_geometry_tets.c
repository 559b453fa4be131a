// Simplex meshes: boxes, boundaries, measures; files of every format, and a clear refusal of everything unusable.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "geometry/tets.h"
#include "ration.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g and %.12g differ by %g > %g", a, b, fabs(a - b), tolerance);
}

static void assert_sound(const mo_tets *t)
{
    const char *fault = mo_tets_fault(t);
    if (fault) fail_msg("%s", fault);
}

// ---- Boxes ----

static double boundary_area(const mo_tets *t)
{
    int32_t *faces, count;
    mo_error err;
    if (mo_tets_boundary(t, &faces, &count, &err) != MO_OK) fail_msg("%s", err.text);
    double area = 0;
    for (int32_t f = 0; f < count; f++) {
        const int32_t *v = faces + t->dimension * f;
        mo_vec3 a = mo_tets_position(t, v[0]), e = mo_sub(mo_tets_position(t, v[1]), a);
        if (t->dimension == 2)
            area += mo_norm(e);
        else
            area += 0.5 * mo_norm(mo_cross(e, mo_sub(mo_tets_position(t, v[2]), a)));
    }
    if (t->dimension == 3) {
        mo_mesh m = {t->vertex_count, count, NULL, NULL, faces, NULL};
        if (mo_mesh_check_closed(&m, "boundary", &err) != MO_OK) fail_msg("%s", err.text);
    }
    mo_free(faces);
    return area;
}

// A dumb-bell whose bar is thinner than the elements breaks; with finer ones it is whole.
static void pieces_are_counted(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(0.3), *bar = mo_shape_box(mo_v3(1, 0.06, 0.06));
    mo_shape *left = mo_shape_move(ball, mo_v3(-0.5, 0, 0)), *right = mo_shape_move(ball, mo_v3(0.5, 0, 0));
    mo_shape *two = mo_shape_union(left, right), *all = mo_shape_union(two, bar);
    static const double element[] = {0.2, 0.05};
    for (int i = 0; i < 2; i++) {
        mo_tets t;
        mo_tets_quality q;
        assert_int_equal(mo_tets_from_shape(all, element[i], false, &t, NULL), MO_OK);
        assert_int_equal(mo_tets_measure(&t, NULL, &q, NULL), MO_OK);
        assert_int_equal(q.pieces, 2 - i);
        assert_true(q.inner > 0 && q.inner < t.vertex_count);
        mo_tets_destroy(&t);
    }
    mo_shape *const shapes[] = {ball, bar, left, right, two, all};
    for (int i = 0; i < 6; i++) mo_shape_release(shapes[i]);
}

static void boxes_are_exact(void **state)
{
    (void)state;
    mo_shape *box = mo_shape_box(mo_v3(1, 0.5, 0.3)), *big = mo_shape_scale(box, 2);
    mo_shape *turned = mo_shape_rotate(big, mo_v3(1, 1, 0.3), 33), *moved = mo_shape_move(turned, mo_v3(3, 4, 5));
    mo_tets t;
    mo_tets_quality q;
    assert_int_equal(mo_tets_from_shape(moved, 0.2, false, &t, NULL), MO_OK);
    assert_sound(&t);
    assert_int_equal(t.vertex_count, 11 * 6 * 4);
    assert_int_equal(t.element_count, 10 * 5 * 3 * 5);
    assert_near(boundary_area(&t), 8 * (0.5 + 0.15 + 0.3), 1e-12);
    assert_int_equal(mo_tets_measure(&t, moved, &q, NULL), MO_OK);
    assert_near(q.volume, 8 * 0.15, 1e-12);
    assert_int_equal(q.inner, 9 * 4 * 2);
    assert_int_equal(q.pieces, 1);
    assert_near(q.volume_error, 0, 1e-12);
    assert_near(q.shortest_edge, 0.2, 1e-12);
    assert_near(q.longest_edge, 0.2 * sqrt(2), 1e-12);
    assert_near(q.smallest_angle, mo_atan2(sqrt(2), 1) * 180 / M_PI, 1e-6); // of a corner against the middle
    assert_near(q.largest_angle, 90, 1e-6);
    assert_near(q.shortest_altitude, 0.2 / sqrt(3), 1e-12);
    mo_tets_destroy(&t);
    mo_shape_release(box);
    mo_shape_release(big);
    mo_shape_release(turned);
    mo_shape_release(moved);
}

static void rectangles_are_exact(void **state)
{
    (void)state;
    mo_shape *box = mo_shape_box(mo_v3(1, 0.5, 0.3)), *turned = mo_shape_rotate(box, mo_v3(0, 0, 1), 30);
    mo_shape *moved = mo_shape_move(turned, mo_v3(1, 2, 0.1)), *tilted = mo_shape_rotate(box, mo_v3(1, 0, 0), 30);
    mo_tets t;
    mo_tets_quality q;
    assert_int_equal(mo_tets_from_shape(moved, 0.1, true, &t, NULL), MO_OK);
    assert_sound(&t);
    assert_int_equal(t.vertex_count, 11 * 6);
    assert_int_equal(t.element_count, 100);
    assert_near(boundary_area(&t), 3, 1e-12);
    assert_int_equal(mo_tets_measure(&t, moved, &q, NULL), MO_OK);
    assert_near(q.volume, 0.5, 1e-12);
    assert_true(isnan(q.volume_error));
    assert_near(q.smallest_angle, 45, 1e-6);
    mo_tets_destroy(&t);
    // The section of a tilted box is another rectangle, filled like any shape.
    assert_int_equal(mo_tets_from_shape(tilted, 0.02, true, &t, NULL), MO_OK);
    assert_int_equal(mo_tets_measure(&t, NULL, &q, NULL), MO_OK);
    assert_near(q.volume, 0.5 / mo_cos(M_PI / 6), 5e-3);
    mo_tets_destroy(&t);
    mo_shape_release(box);
    mo_shape_release(turned);
    mo_shape_release(moved);
    mo_shape_release(tilted);
}

// ---- Boundaries ----

static const double corners[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

static void boundary_faces_are_in_order(void **state)
{
    (void)state;
    int32_t element[8] = {0, 1, 2, 3, 4, 2, 1, 3}, *faces, count;
    mo_tets t = {3, 5, 2, (double *)corners, element};
    assert_sound(&t);
    assert_int_equal(mo_tets_boundary(&t, &faces, &count, NULL), MO_OK);
    static const int32_t expected[18] = {0, 3, 2, 0, 1, 3, 0, 2, 1, 4, 3, 1, 4, 2, 3, 4, 1, 2};
    assert_int_equal(count, 6);
    assert_memory_equal(faces, expected, sizeof expected);
    mo_free(faces);
    // Three elements at one face, or two on the same side of it.
    mo_error err;
    int32_t crowded[12] = {0, 1, 2, 3, 4, 2, 1, 3, 4, 2, 1, 3}, same[8] = {0, 1, 2, 3, 0, 1, 2, 4};
    t = (mo_tets){3, 5, 3, (double *)corners, crowded};
    assert_int_equal(mo_tets_boundary(&t, &faces, &count, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "elements 0 and 2"));
    t = (mo_tets){3, 5, 2, (double *)corners, same};
    assert_int_equal(mo_tets_boundary(&t, &faces, &count, &err), MO_ERROR_INPUT);
    assert_null(faces);
}

static mo_tets copy(const mo_tets *t)
{
    mo_tets c = *t;
    size_t entries = (size_t)(t->dimension + 1) * (size_t)t->element_count;
    c.position = mo_alloc(sizeof(double) * 3 * (size_t)t->vertex_count);
    c.element = mo_alloc(sizeof(int32_t) * entries);
    memcpy(c.position, t->position, sizeof(double) * 3 * (size_t)t->vertex_count);
    memcpy(c.element, t->element, sizeof(int32_t) * entries);
    return c;
}

// Parts that meet in an edge (2D: a vertex) alone: the largest stays.
static void pinches_are_removed(void **state)
{
    (void)state;
    double x[18] = {0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -2, 0, 0, 0, -2, 0};
    int32_t edge[8] = {0, 2, 3, 1, 0, 4, 5, 1};
    mo_tets t = {3, 6, 2, x, edge}, c = copy(&t);
    assert_sound(&c);
    assert_int_equal(mo_tets_unpinch(&c, NULL), MO_OK);
    assert_int_equal(c.element_count, 1);
    assert_int_equal(c.vertex_count, 4);
    assert_near(mo_tets_volume(&c, 0), 4.0 / 6, 1e-15);
    mo_tets_destroy(&c);
    double y[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -2, 0};
    int32_t vertex[6] = {0, 1, 2, 0, 3, 4}, fan[9] = {0, 1, 2, 0, 2, 3, 0, 3, 4};
    t = (mo_tets){2, 5, 2, y, vertex}, c = copy(&t);
    assert_int_equal(mo_tets_unpinch(&c, NULL), MO_OK);
    assert_int_equal(c.element_count, 1);
    assert_near(mo_tets_volume(&c, 0), 1, 1e-15);
    mo_tets_destroy(&c);
    t = (mo_tets){2, 5, 3, y, fan}, c = copy(&t); // nothing is wrong with it
    assert_int_equal(mo_tets_unpinch(&c, NULL), MO_OK);
    assert_int_equal(c.element_count, 3);
    mo_tets_destroy(&c);
}

static void faults_are_told(void **state)
{
    (void)state;
    double x[15];
    memcpy(x, corners, sizeof x);
    int32_t element[4] = {0, 1, 2, 3};
    mo_tets t = {3, 5, 1, x, element};
    assert_null(mo_tets_fault(&t));
    element[3] = 5;
    assert_non_null(strstr(mo_tets_fault(&t), "not there"));
    element[3] = 2, element[2] = 3;
    assert_non_null(strstr(mo_tets_fault(&t), "volume"));
    x[7] = NAN;
    assert_non_null(strstr(mo_tets_fault(&t), "finite"));
    t.dimension = 4;
    assert_non_null(strstr(mo_tets_fault(&t), "dimension"));
    mo_tets_destroy(NULL);
}

// ---- Files ----

static char folder[] = "/tmp/monolith_tets_XXXXXX";

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

static void write_bytes(const char *name, const char *text, size_t bytes)
{
    FILE *f = fopen(file_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
}

// Two tetrahedra (x + y + z <= 1 of a cube's corner, and the one beyond it), as each format has them.
static const char medit[] = "MeshVersionFormatted 2\n# two\nDimension\n3\nVertices\n6\n0 0 0 1\n1 0 0 1\n0 1. 0 1\n"
                            "0 0 1e0 1\n9 9 9 0\n1 1 1 7\nEdges\n1\n1 2 0\nTriangles 1\n1 2 3 0\nCorners\n2\n1\n2\n"
                            "Tetrahedra\n2\n1 2 3 4 0\n6 3 2 4 5\nEnd\n";
static const char gmsh2[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a body\"\n"
                            "$EndPhysicalNames\n$Nodes\n6\n10 0 0 0\n20 1 0 0\n7 0 1 0\n-3 0 0 1\n99 9 9 9\n5 1 1 1\n"
                            "$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 20 7\n3 4 2 1 1 10 20 7 -3\n"
                            "4 4 0 5 7 20 -3\n$EndElements\n";
static const char gmsh4[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n"
    "$EndEntities\n$Nodes\n2 6 1 6\n2 1 1 2\n1\n2\n0 0 0 0.5 0.5\n1 0 0 0.5 0.5\n3 1 0 4\n3\n4\n"
    "6\n5\n0 1 0\n0 0 1\n9 9 9\n1 1 1\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 1 2 3\n"
    "3 1 4 2\n2 1 2 3 4\n3 5 3 2 4\n$EndElements\n";
static const char vtk3[] = "# vtk DataFile Version 3.0\nA title: POINTS\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                           "POINTS 6 double\n0 0 0 1 0 0 0 1 0\n0 0 1 9 9 9 1 1 1\n\nMETADATA\nINFORMATION 0\n\n"
                           "CELLS 3 14\n3 0 1 2\n4 0 1 2 3\n4 5 2 1 3\nCELL_TYPES 3\n5\n10\n10\nCELL_DATA 3\nSCALARS a "
                           "int\n";
static const char vtk5[] = "# vtk DataFile Version 5.1\r\nvtk output\r\nASCII\r\nDATASET UNSTRUCTURED_GRID\r\n"
                           "POINTS 6 float\r\n0 0 0 1 0 0 0 1 0\r\n0 0 1 9 9 9 1 1 1\r\nCELLS 3 8\r\n"
                           "OFFSETS vtktypeint64\r\n0 4 8\r\nCONNECTIVITY vtktypeint64\r\n0 1 2 3\r\n5 2 1 3\r\n"
                           "CELL_TYPES 2\r\n10\r\n10\r\n";
static const char node[] = "# vertices\n6 3 1 1\n0 0 0 0 2.5 1\n1 1 0 0 2.5 1\n2 0 1 0 2.5 0 # inside\n3 0 0 1 0 0\n"
                           "4 9 9 9 0 0\n5 1 1 1 0 0\n";
static const char ele[] = "2 4 1\n0 0 1 2 3 7\n1 5 2 1 3 7\n# end\n";
static const char node1[] = "6 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n6 1 1 1\n";
static const char ele1[] = "2 4 0\n1 1 2 3 4\n2 6 3 2 4\n";

// Two triangles of a square.
static const char node_flat[] = "4 2 0 1\n1 0 0 1\n2 1 0 1\n3 1 1 1\n4 0 1 1\n";
static const char ele_flat[] = "2 3 0\n1 1 2 3\n2 1 3 4\n";
static const char medit_flat[] = "MeshVersionFormatted 1\nDimension 2\nVertices 4\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
                                 "Triangles 2\n1 2 3 1\n1 3 4 1\n";
static const char gmsh_flat[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n"
                                "$EndNodes\n$Elements\n3\n1 1 2 0 1 1 2\n2 2 2 0 1 1 2 3\n3 2 2 0 1 1 3 4\n"
                                "$EndElements\n";

typedef struct example {
    const char *name, *text, *second_name, *second; // the second of two files
    int32_t dimension;
} example;
static const example examples[] = {
    {"a.mesh", medit, NULL, NULL, 3},      {"a.msh", gmsh2, NULL, NULL, 3},
    {"b.MSH", gmsh4, NULL, NULL, 3},       {"a.vtk", vtk3, NULL, NULL, 3},
    {"b.vtk", vtk5, NULL, NULL, 3},        {"a.node", node, "a.ele", ele, 3},
    {"b.ele", ele1, "b.node", node1, 3},   {"c.node", node_flat, "c.ele", ele_flat, 2},
    {"c.mesh", medit_flat, NULL, NULL, 2}, {"c.msh", gmsh_flat, NULL, NULL, 2},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static void remove_example(const example *e)
{
    unlink(file_path(e->name));
    if (e->second_name) unlink(file_path(e->second_name));
}

static mo_status read_example(const example *e, mo_tets *t, mo_error *err)
{
    write_bytes(e->name, e->text, strlen(e->text));
    if (e->second_name) write_bytes(e->second_name, e->second, strlen(e->second));
    return mo_tets_read(file_path(e->name), t, err);
}

static void check_examples(void)
{
    for (int i = 0; i < EXAMPLES; i++) {
        const example *e = &examples[i];
        mo_tets t;
        mo_error err;
        if (read_example(e, &t, &err) != MO_OK) fail_msg("%s: %s", e->name, err.text);
        assert_sound(&t);
        assert_int_equal(t.dimension, e->dimension);
        assert_int_equal(t.element_count, 2);
        assert_int_equal(t.vertex_count, e->dimension == 3 ? 5 : 4); // the unused one is gone
        double volume = mo_tets_volume(&t, 0) + mo_tets_volume(&t, 1);
        assert_near(volume, e->dimension == 3 ? 0.5 : 1, 1e-15);
        assert_near(t.position[3 * 2 + 1], 1, 0);
        mo_tets_destroy(&t);
        remove_example(e);
    }
}

static void every_format_is_read(void **state)
{
    (void)state;
    check_examples();
    // Numbers have a point, whatever the locale.
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) check_examples();
    setlocale(LC_NUMERIC, "C");
}

static void a_mesh_inside_out_is_turned(void **state)
{
    (void)state;
    example e = {"d.node", node1, "d.ele", "2 4 0\n1 2 1 3 4\n2 3 6 2 4\n", 3};
    mo_tets t;
    mo_error err;
    if (read_example(&e, &t, &err) != MO_OK) fail_msg("%s", err.text);
    assert_sound(&t);
    mo_tets_destroy(&t);
    remove_example(&e);
}

static void refuse(const char *name, const char *text, mo_status status, const char *message)
{
    example e = {name, text, NULL, NULL, 3};
    if (strstr(name, ".ele")) e.second_name = "x.node", e.second = node1;
    if (strstr(name, ".node")) e.second_name = "x.ele", e.second = ele1;
    mo_tets t;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    assert_int_equal(read_example(&e, &t, &err), status);
    assert_null(t.position);
    assert_int_equal(mo_memory_in_use(), before);
    if (!strstr(err.text, message)) fail_msg("'%s' is not in: %s", message, err.text);
    remove_example(&e);
}

#define MEDIT "MeshVersionFormatted 2\nDimension 3\n"
#define GMSH  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define VTK   "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"x.stl", "solid", "no format of simplex meshes"},
        {"x.mesh", "", "the file is empty"},
        {"x.mesh", "Dimension 3", "x.mesh:1: 'Dimension' where MeshVersionFormatted should be"},
        {"x.mesh", "MeshVersionFormatted 2\nDimension 4\n", "x.mesh:2: dimension is 4, must be 2..3"},
        {"x.mesh", MEDIT "Vertices\n2\n0 0 0 1\n", "x.mesh:6: the file ends where coordinate x of a vertex should be"},
        {"x.mesh", MEDIT "Vertices 1000000000", "x.mesh:3: number of vertices is 1000000000, must be 0..4000000"},
        {"x.mesh", MEDIT "Vertices 99999999999999999999", "is no number of vertices"},
        {"x.mesh", MEDIT "Vertices 1\n0 0 nan 1", "x.mesh:4: 'nan' is no coordinate z of a vertex"},
        {"x.mesh", MEDIT "Vertices 1\n0 0x1 0 1", "'0x1' is no coordinate y"},
        {"x.mesh", MEDIT "Vertices 1\n0 0 1e300 1", "coordinate z of a vertex is 1e300, not a usable number"},
        {"x.mesh", MEDIT "Vertices 1\n0 0 1-2 1", "'1-2' is no coordinate z"},
        {"x.mesh", MEDIT "12 13", "x.mesh:3: a keyword should be here"},
        {"x.mesh", MEDIT "Hexahedra\n3\n", "x.mesh:4: only triangles and tetrahedra"},
        {"x.mesh", MEDIT "Vertices 0\nEnd", "neither tetrahedra nor triangles"},
        {"x.mesh", MEDIT "Vertices 3 0 0 0 1 1 0 0 1 0 1 1 1\nTriangles 1 1 2 3 1",
         "x.mesh:4: triangle 1 has the vertex 3, which is not at z = 0"},
        {"x.mesh", MEDIT "Vertices 3 0 0 0 1 1 0 0 1 0 1 1 1\nTetrahedra 1\n1 2 3 4 1",
         "x.mesh:5: tetrahedron 1 has the vertex 4, which is not in the file"},
        {"x.msh", "$MeshFormat\n4 0 8\n", "x.msh:2: version 4 is not read; 2.2 and 4.1 are"},
        {"x.msh", "$MeshFormat\n2.2 1 8\n", "x.msh:2: the file is binary"},
        {"x.msh", GMSH "$Nodes\n1\n1 0 0\n", "x.msh:7: the file ends where coordinate z"},
        {"x.msh", GMSH "$Nodes\n1\n1 0 0 0\n$Elements", "x.msh:7: '$Elements' where $EndNodes should be"},
        {"x.msh", GMSH "$Nodes\n2\n1 0 0 0\n1 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 1\n$EndElements\n",
         "x.msh:7: there are two vertices of number 1"},
        {"x.msh", GMSH "$Elements\n1\n8 11 0 1 2 3 4 5 6 7 8 9 10\n", "x.msh:6: element 8 is of type 11"},
        {"x.msh", GMSH "$Data\n1\n", "the file ends where $EndData should be"},
        {"x.msh", GMSH "Nodes", "x.msh:4: a section"},
        {"x.vtk", "vtk", "x.vtk:1: 'vtk' where # should be"},
        {"x.vtk", "# vtk DataFile Version 3.0\ntitle\nBINARY\n", "x.vtk:3: the file is not text"},
        {"x.vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 1 5\n4 0 0 0 0\n", "where CELL_TYPES should be"},
        {"x.vtk", VTK "CELLS 1 5\n4 0 0 0 0\nCELL_TYPES 2\n10\n10\n", "x.vtk:7: 2 types of 1 cells"},
        {"x.vtk", VTK "CELLS 1 5\n3 0 0 0\nCELL_TYPES 1\n10\n", "x.vtk:8: cell 0 is of type 10 and has 3 points"},
        {"x.vtk", VTK "CELLS 1 5\n4 0 0 0 0\nCELL_TYPES 1\n12\n", "x.vtk:8: cell 0 is of type 12"},
        {"x.vtk", VTK "LOOKUP 1", "x.vtk:5: POINTS, CELLS or CELL_TYPES"},
        {"x.node", "1 4 0 0", "x.node:1: dimension is 4"},
        {"x.ele", "1 10 0\n", "x.ele:1: elements have 10 vertices"},
        // Shapes of elements.
        {"x.ele", "2 4 0\n1 1 2 3 4\n2 3 6 2 4\n", "x.ele:3: tetrahedron 2 is inverted"},
        {"x.ele", "2 4 0\n1 1 2 3 4\n2 1 2 3 3\n", "x.ele:3: tetrahedron 2 is flat"},
        {"x.ele", "2 4 0\n1 1 2 3 4\n2 1 2 3 6\n", "x.ele:3: tetrahedron 2 and tetrahedron 1 of line 2 overlap"},
        {"x.ele", "2 4 0\n1 1 2 3 4\n2 1 2 3 7\n", "x.ele:3: tetrahedron 2 has the vertex 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].name, cases[i].text, MO_ERROR_INPUT, cases[i].message);
    refuse("x.mesh", MEDIT "Vertices 4 0 0 0 0 1 0 0 0 0 1 0 0 .3 .3 9e-7 0\nTetrahedra 1\n1 2 3 4 0\n", MO_ERROR_INPUT,
           "is flat: its smallest altitude is 6.36e-07 of its longest edge");
    mo_tets t;
    mo_error err;
    assert_int_equal(mo_tets_read(file_path("none.msh"), &t, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "cannot open the mesh"));
    assert_int_equal(mo_tets_read(folder, &t, &err), MO_ERROR_INPUT);
    write_bytes("lone.node", node, strlen(node));
    assert_int_equal(mo_tets_read(file_path("lone.node"), &t, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "lone.ele"));
    unlink(file_path("lone.node"));
}

// ---- Damaged files ----

static uint32_t rng = 4242;
static uint32_t any(uint32_t below)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)rng * below) >> 32);
}

enum { ROOM = 2000 };

// Changes, removes or repeats a few bytes, or puts in a word.
static size_t damage(char *text, size_t bytes)
{
    static const char *const words[] = {"-1",  "0",      "99999999999", "4000000", "1e308",     "nan", "#",
                                        "$",   "\n",     " ",           "End",     "$EndNodes", "3",   "10",
                                        "0x1", "1e-320", "POINTS",      "\0",      "Tetrahedra"};
    for (uint32_t changes = 1 + any(3); changes > 0 && bytes > 1; changes--) {
        size_t at = any((uint32_t)bytes), span = 1 + any(8);
        if (at + span > bytes) span = bytes - at;
        const char *word = words[any(sizeof words / sizeof *words)];
        size_t length = strlen(word) + (word[0] == 0);
        switch (any(5)) {
        case 0: text[at] = (char)(any(3) ? 32 + any(95) : any(256)); break;
        case 1:
            memmove(text + at, text + at + span, bytes - at - span);
            bytes -= span;
            break;
        case 2:
            if (bytes + span > ROOM) break;
            memmove(text + at + span, text + at, bytes - at);
            bytes += span;
            break;
        case 3: bytes = any(10) ? bytes : at; break; // the end is missing
        default:
            if (bytes + length > ROOM) break;
            memmove(text + at + length, text + at, bytes - at);
            memcpy(text + at, word, length);
            bytes += length;
        }
    }
    return bytes;
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    int32_t read = 0;
    for (int i = 0; i < 3000; i++) {
        const example *e = &examples[i % EXAMPLES];
        static char text[ROOM];
        bool second = e->second && i / EXAMPLES % 2;
        const char *source = second ? e->second : e->text;
        memcpy(text, source, strlen(source));
        size_t bytes = damage(text, strlen(source));
        write_bytes(e->name, e->text, strlen(e->text));
        if (e->second) write_bytes(e->second_name, e->second, strlen(e->second));
        write_bytes(second ? e->second_name : e->name, text, bytes);
        mo_tets t;
        mo_error err = {0};
        mo_status status = mo_tets_read(file_path(e->name), &t, &err);
        read += status == MO_OK;
        if (status == MO_OK)
            assert_sound(&t);
        else
            assert_true(status == MO_ERROR_INPUT && strstr(err.text, folder) && !t.position);
        mo_tets_destroy(&t);
        assert_int_equal(mo_memory_in_use(), before);
    }
    for (int i = 0; i < EXAMPLES; i++) remove_example(&examples[i]);
    assert_true(read > 200 && read < 2800); // references may be anything; much else may not
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    mo_shape *box = mo_shape_box(mo_v3(1, 1, 1));
    for (int i = -1; i < EXAMPLES; i++) {
        bool done = false;
        for (int64_t count = 0; !done; count++) {
            ration r = {.fail_at = count + 1, .for_good = true};
            int64_t before = mo_memory_in_use();
            mo_tets t;
            mo_set_allocator(rationed, &r);
            mo_status status =
                i < 0 ? mo_tets_from_shape(box, 0.3, false, &t, NULL) : read_example(&examples[i], &t, NULL);
            done = status == MO_OK;
            assert_true(done || status == MO_ERROR_MEMORY);
            mo_tets_destroy(&t);
            assert_int_equal(mo_memory_in_use(), before);
            mo_set_allocator(NULL, NULL);
        }
        if (i >= 0) remove_example(&examples[i]);
    }
    mo_shape_release(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_counted),
        cmocka_unit_test(boxes_are_exact),
        cmocka_unit_test(rectangles_are_exact),
        cmocka_unit_test(boundary_faces_are_in_order),
        cmocka_unit_test(pinches_are_removed),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(every_format_is_read),
        cmocka_unit_test(a_mesh_inside_out_is_turned),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
