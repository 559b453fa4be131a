// Bounding volume hierarchy over triangles, by Embree. The triangles are user geometry, so that distances and
// crossings are computed here in double and do not depend on the order in which Embree visits them.
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/triangle.h"
#include <embree3/rtcore.h>
#include <stdatomic.h>

struct mo_mesh_bvh {
    const mo_mesh *mesh;
    RTCDevice device;
    RTCScene scene;
    double slack; // of Embree's float arithmetic, m
};

static void triangle_bounds(const struct RTCBoundsFunctionArguments *args)
{
    const mo_mesh *m = args->geometryUserPtr;
    struct RTCBounds *b = args->bounds_o;
    const int32_t *t = m->triangle + 3 * (int64_t)args->primID;
    float lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        float x = m->position[3 * (int64_t)t[0] + a], y = m->position[3 * (int64_t)t[1] + a],
              z = m->position[3 * (int64_t)t[2] + a];
        lo[a] = fminf(x, fminf(y, z)), hi[a] = fmaxf(x, fmaxf(y, z));
    }
    b->lower_x = lo[0], b->lower_y = lo[1], b->lower_z = lo[2];
    b->upper_x = hi[0], b->upper_y = hi[1], b->upper_z = hi[2];
}

mo_status mo_mesh_bvh_create(const mo_mesh *mesh, mo_mesh_bvh **out, mo_error *err)
{
    *out = NULL;
    MO_TRY(mo_need_threads(err));
    mo_mesh_bvh *bvh = mo_calloc(sizeof *bvh);
    if (!bvh) return mo_fail_memory(err);
    bvh->mesh = mesh;
    mo_box3 box = mo_mesh_bounds(mesh);
    bvh->slack = 1e-6 * (mo_norm(box.lo) + mo_norm(box.hi) + mo_norm(mo_sub(box.hi, box.lo)));
    bvh->device = rtcNewDevice("threads=1"); // building alone: the same tree every time
    if (bvh->device) {
        bvh->scene = rtcNewScene(bvh->device);
        RTCGeometry geometry = rtcNewGeometry(bvh->device, RTC_GEOMETRY_TYPE_USER);
        rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)mesh->triangle_count);
        rtcSetGeometryUserData(geometry, (void *)mesh);
        rtcSetGeometryBoundsFunction(geometry, triangle_bounds, NULL);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(bvh->scene, geometry);
        rtcReleaseGeometry(geometry);
        rtcCommitScene(bvh->scene);
    }
    enum RTCError failure = rtcGetDeviceError(bvh->device);
    if (failure != RTC_ERROR_NONE) {
        mo_mesh_bvh_destroy(bvh);
        if (failure == RTC_ERROR_OUT_OF_MEMORY) return mo_fail_memory(err);
        return mo_fail(err, MO_ERROR_FAILED, "Embree cannot build a hierarchy (error %d)", (int)failure);
    }
    *out = bvh;
    return MO_OK;
}

void mo_mesh_bvh_destroy(mo_mesh_bvh *bvh)
{
    if (!bvh) return;
    if (bvh->scene) rtcReleaseScene(bvh->scene);
    if (bvh->device) rtcReleaseDevice(bvh->device);
    mo_free(bvh);
}

static double length2(mo_vec3 a) { return mo_dot(a, a); }

static double triangle_distance2(const mo_mesh *m, int32_t triangle, mo_vec3 p)
{
    return length2(mo_triangle_way(mo_mesh_corner(m, triangle, 0), mo_mesh_corner(m, triangle, 1),
                                   mo_mesh_corner(m, triangle, 2), p));
}

typedef struct query {
    const mo_mesh_bvh *bvh;
    mo_vec3 p;
    double distance2;
    int32_t triangle;
} query;

static float query_radius(const query *q)
{
    return (float)(sqrt(q->distance2) * (1 + 1e-6) + q->bvh->slack + 1e-6 * mo_norm(q->p));
}

static bool visit_triangle(struct RTCPointQueryFunctionArguments *args)
{
    MO_ASSERT((int32_t)args->primID < ((query *)args->userPtr)->bvh->mesh->triangle_count);
    query *q = args->userPtr;
    double d2 = triangle_distance2(q->bvh->mesh, (int32_t)args->primID, q->p);
    if (!(d2 < q->distance2)) return false;
    q->distance2 = d2;
    q->triangle = (int32_t)args->primID;
    args->query->radius = query_radius(q);
    return true;
}

double mo_mesh_bvh_distance(const mo_mesh_bvh *bvh, mo_vec3 p, int32_t *triangle)
{
    MO_ASSERT(*triangle >= -1 && *triangle < bvh->mesh->triangle_count);
    query q = {bvh, p, INFINITY, *triangle};
    if (q.triangle >= 0) q.distance2 = triangle_distance2(bvh->mesh, q.triangle, p);
    struct RTCPointQuery point = {(float)p.x, (float)p.y, (float)p.z, 0, query_radius(&q)};
    struct RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(bvh->scene, &point, &context, visit_triangle, &q);
    *triangle = q.triangle;
    return sqrt(q.distance2);
}

// Six times the volume of the tetrahedron, 0 when it is within rounding of 0.
static double orientation(mo_vec3 a, mo_vec3 b, mo_vec3 c, mo_vec3 d)
{
    mo_vec3 u = mo_sub(b, a), v = mo_sub(c, a), w = mo_sub(d, a);
    double volume = mo_dot(mo_cross(u, v), w), size = mo_norm(u) * mo_norm(v) * mo_norm(w);
    return fabs(volume) > 1e-13 * size ? volume : 0;
}

// Touching does not count, so that neighbours (their shared corners lie exactly in both planes) never do.
static bool edge_pierces(mo_vec3 p, mo_vec3 q, const mo_vec3 t[3])
{
    double above = orientation(t[0], t[1], t[2], p), below = orientation(t[0], t[1], t[2], q);
    if (!(above * below < 0)) return false;
    double x = orientation(p, q, t[0], t[1]), y = orientation(p, q, t[1], t[2]), z = orientation(p, q, t[2], t[0]);
    return (x > 0 && y > 0 && z > 0) || (x < 0 && y < 0 && z < 0);
}

static bool triangles_cross(const mo_mesh *m, int32_t s, int32_t t)
{
    mo_vec3 a[3], b[3];
    for (int k = 0; k < 3; k++) a[k] = mo_mesh_corner(m, s, k), b[k] = mo_mesh_corner(m, t, k);
    for (int k = 0; k < 3; k++)
        if (edge_pierces(a[k], a[(k + 1) % 3], b) || edge_pierces(b[k], b[(k + 1) % 3], a)) return true;
    return false;
}

typedef struct crossing_count {
    const mo_mesh *mesh;
    _Atomic int64_t pairs;
} crossing_count;

static void count_crossings(void *user, struct RTCCollision *collisions, unsigned count)
{
    crossing_count *c = user;
    for (unsigned i = 0; i < count; i++) {
        int32_t s = (int32_t)collisions[i].primID0, t = (int32_t)collisions[i].primID1;
        if (s < t && triangles_cross(c->mesh, s, t)) atomic_fetch_add(&c->pairs, 1);
    }
}

int64_t mo_mesh_bvh_crossings(const mo_mesh_bvh *bvh)
{
    crossing_count count = {.mesh = bvh->mesh};
    rtcCollide(bvh->scene, bvh->scene, count_crossings, &count);
    return count.pairs;
}
