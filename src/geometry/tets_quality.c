// Measures of simplex meshes, and what is wrong with one.
#include "base/union_find.h"
#include "geometry/shape_node.h"
#include "geometry/tets.h"

static int load(const mo_tets *t, int32_t element, mo_vec3 x[4])
{
    const int32_t *v = mo_tets_element(t, element);
    for (int k = 0; k <= t->dimension; k++) x[k] = mo_tets_position(t, v[k]);
    return t->dimension + 1;
}

// The outward normal of a face, as long as twice its area (2D: as its length).
static mo_vec3 face_normal(const mo_vec3 *x, int corners, int face)
{
    const int8_t *v = mo_tets_face[corners - 3][face];
    if (corners == 3) {
        mo_vec3 e = mo_sub(x[v[1]], x[v[0]]);
        return mo_v3(e.y, -e.x, 0);
    }
    return mo_cross(mo_sub(x[v[1]], x[v[0]]), mo_sub(x[v[2]], x[v[0]]));
}

static double volume_of(const mo_vec3 *x, int corners)
{
    mo_vec3 a = mo_sub(x[1], x[0]), b = mo_sub(x[2], x[0]);
    if (corners == 3) return 0.5 * (a.x * b.y - a.y * b.x);
    return mo_dot(a, mo_cross(b, mo_sub(x[3], x[0]))) / 6;
}

double mo_tets_volume(const mo_tets *t, int32_t element)
{
    mo_vec3 x[4];
    int corners = load(t, element, x);
    return volume_of(x, corners);
}

static double least_altitude(const mo_vec3 *x, int corners)
{
    double largest = 0; // face
    for (int f = 0; f < corners; f++) largest = fmax(largest, mo_norm(face_normal(x, corners, f)));
    double volume = fabs(volume_of(x, corners)); // area h / 3 with 2 area = largest; 2D: length h / 2
    return largest > 0 ? (corners == 3 ? 2 : 6) * volume / largest : 0;
}

static void edge_range(const mo_vec3 *x, int corners, double *shortest, double *longest)
{
    for (int i = 0; i < corners; i++)
        for (int j = 0; j < i; j++) {
            double length = mo_norm(mo_sub(x[i], x[j]));
            *shortest = fmin(*shortest, length);
            *longest = fmax(*longest, length);
        }
}

double mo_tets_flatness(const mo_tets *t, int32_t element)
{
    mo_vec3 x[4];
    int corners = load(t, element, x);
    double shortest = INFINITY, longest = 0;
    edge_range(x, corners, &shortest, &longest);
    return longest > 0 ? least_altitude(x, corners) / longest : 0;
}

// The cosines of the angles between faces: with outward normals, minus their product.
static void cosine_range(const mo_vec3 *x, int corners, double *least, double *most)
{
    mo_vec3 n[4];
    for (int f = 0; f < corners; f++) n[f] = mo_normalize(face_normal(x, corners, f));
    for (int i = 0; i < corners; i++)
        for (int j = 0; j < i; j++) {
            double cosine = -mo_dot(n[i], n[j]);
            *least = fmin(*least, cosine);
            *most = fmax(*most, cosine);
        }
}

static double angle_of(double cosine)
{
    double sine = sqrt(fmax((1 - cosine) * (1 + cosine), 0));
    return mo_atan2(sine, cosine) * (180 / M_PI);
}

// Primitives by their formula, other shapes by their surface.
static mo_status shape_volume(const mo_shape *s, double *volume, mo_error *err)
{
    bool moved = s->kind == &mo_shape_transform;
    const mo_shape *own = moved ? s->a : s;
    double scale = moved ? s->scale : 1;
    mo_moments moments;
    mo_mass mass;
    if (own->kind->moments && own->kind->moments(own, &moments)) {
        *volume = scale * scale * scale * moments.volume;
        return MO_OK;
    }
    MO_TRY(mo_shape_mass(s, 0, &mass, err));
    *volume = mass.volume;
    return MO_OK;
}

// Vertices that elements join are of one piece; those that nothing uses are none.
static mo_status count_pieces(const mo_tets *t, int32_t *pieces, mo_error *err)
{
    int32_t *parent = mo_alloc(sizeof *parent * ((size_t)t->vertex_count + 1));
    bool *used = mo_calloc((size_t)t->vertex_count + 1);
    if (!parent || !used) {
        mo_free(parent), mo_free(used);
        return mo_fail_memory(err);
    }
    for (int32_t v = 0; v < t->vertex_count; v++) parent[v] = v;
    for (int32_t e = 0; e < t->element_count; e++)
        for (int k = 0; k <= t->dimension; k++) {
            const int32_t *v = mo_tets_element(t, e);
            mo_join_sets(parent, v[k], v[0]);
            used[v[k]] = true;
        }
    *pieces = 0;
    for (int32_t v = 0; v < t->vertex_count; v++) *pieces += used[v] && parent[v] == v;
    mo_free(parent), mo_free(used);
    return MO_OK;
}

static mo_status count_inner(const mo_tets *t, int32_t *inner, mo_error *err)
{
    int32_t *face, faces;
    MO_TRY(mo_tets_boundary(t, &face, &faces, err));
    bool *outer = mo_calloc((size_t)t->vertex_count + 1);
    for (int64_t i = 0; outer && i < t->dimension * (int64_t)faces; i++) outer[face[i]] = true;
    *inner = 0;
    for (int32_t v = 0; outer && v < t->vertex_count; v++) *inner += !outer[v];
    mo_status status = outer ? MO_OK : mo_fail_memory(err);
    mo_free(outer), mo_free(face);
    return status;
}

mo_status mo_tets_measure(const mo_tets *t, const mo_shape *shape, mo_tets_quality *out, mo_error *err)
{
    *out = (mo_tets_quality){
        .shortest_altitude = INFINITY, .shortest_edge = INFINITY, .flattest = INFINITY, .volume_error = NAN};
    double least = 1, most = -1;
    for (int32_t e = 0; e < t->element_count; e++) {
        mo_vec3 x[4];
        int corners = load(t, e, x);
        double altitude = least_altitude(x, corners), longest = 0;
        out->volume += volume_of(x, corners);
        out->shortest_altitude = fmin(out->shortest_altitude, altitude);
        edge_range(x, corners, &out->shortest_edge, &longest);
        out->longest_edge = fmax(out->longest_edge, longest);
        out->flattest = fmin(out->flattest, longest > 0 ? altitude / longest : 0);
        cosine_range(x, corners, &least, &most);
    }
    out->smallest_angle = angle_of(most);
    out->largest_angle = angle_of(least);
    MO_TRY(count_pieces(t, &out->pieces, err));
    MO_TRY(count_inner(t, &out->inner, err));
    if (!shape || t->dimension == 2) return MO_OK;
    double exact = 0;
    MO_TRY(shape_volume(shape, &exact, err));
    out->volume_error = exact > 0 ? out->volume / exact - 1 : NAN;
    return MO_OK;
}

const char *mo_tets_fault(const mo_tets *t)
{
    if (t->dimension != 2 && t->dimension != 3) return "dimension is neither 2 nor 3";
    if (t->vertex_count < 0 || t->element_count < 0) return "a count is negative";
    if ((t->vertex_count > 0 && !t->position) || (t->element_count > 0 && !t->element)) return "an array is missing";
    for (int32_t v = 0; v < t->vertex_count; v++) {
        mo_vec3 x = mo_tets_position(t, v);
        if (!mo_v3_finite(x)) return "a position is not finite";
        if (t->dimension == 2 && x.z != 0) return "a vertex of a mesh in two dimensions is not at z = 0";
    }
    for (int64_t i = 0; i < (t->dimension + 1) * (int64_t)t->element_count; i++)
        if (t->element[i] < 0 || t->element[i] >= t->vertex_count) return "an element uses a vertex that is not there";
    for (int32_t e = 0; e < t->element_count; e++)
        if (!(mo_tets_volume(t, e) > 0)) return "an element has no positive volume";
    return NULL;
}
