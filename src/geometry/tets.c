// Simplex meshes of shapes: which mesher a shape gets, and what to say when the element does not suit it.
#include "base/parallel.h"
#include "geometry/tets.h"
#include "geometry/shape.h"
#include "geometry/stuffing.h"
#include <string.h>

void mo_tets_destroy(mo_tets *tets)
{
    if (!tets) return;
    mo_free(tets->position);
    mo_free(tets->element);
    *tets = (mo_tets){0};
}

// Renumbers the vertices in use without gaps. place: work of vertex_count entries.
static void renumber(mo_tets *t, int32_t *place)
{
    int64_t entries = (t->dimension + 1) * (int64_t)t->element_count;
    memset(place, 0, sizeof(int32_t) * (size_t)t->vertex_count);
    for (int64_t i = 0; i < entries; i++) place[t->element[i]] = 1;
    int32_t kept = 0;
    for (int32_t v = 0; v < t->vertex_count; v++) {
        if (!place[v]) continue;
        memmove(t->position + 3 * (int64_t)kept, t->position + 3 * (int64_t)v, 3 * sizeof(double));
        place[v] = kept++;
    }
    for (int64_t i = 0; i < entries; i++) t->element[i] = place[t->element[i]];
    t->vertex_count = kept;
}

mo_status mo_tets_drop_unused(mo_tets *t, mo_error *err)
{
    int32_t *place = mo_alloc(sizeof(int32_t) * (size_t)t->vertex_count);
    if (!place) return mo_fail_memory(err);
    renumber(t, place);
    mo_free(place);
    return MO_OK;
}

static void move_vertices(mo_tets *t, mo_pose motion)
{
    for (int32_t v = 0; v < t->vertex_count; v++) {
        mo_vec3 x = mo_pose_apply(motion, mo_tets_position(t, v));
        double *to = t->position + 3 * (int64_t)v;
        to[0] = x.x, to[1] = x.y, to[2] = x.z;
    }
}

// ---- Elements that fit ----

// About x, of two digits.
static double two_digits(double x)
{
    double scale = 1;
    if (!(x > 1e-100 && x < 1e100)) return x;
    while (x * scale < 10) scale *= 10;
    while (x * scale >= 100) scale /= 10;
    return rint(x * scale) / scale;
}

static mo_status stuff(const mo_shape *shape, double element, bool flat, mo_stuffing_outcome *outcome, mo_tets *out,
                       mo_error *err)
{
    MO_TRY(mo_stuff(shape, element, flat, outcome, out, err));
    if (*outcome != MO_STUFFED) return MO_OK;
    mo_status status = mo_tets_unpinch(out, err);
    if (status == MO_OK && out->element_count > 0) return MO_OK;
    mo_tets_destroy(out);
    *outcome = MO_STUFFED_NOTHING;
    return status;
}

static mo_status try_element(const mo_shape *shape, double element, bool flat, mo_stuffing_outcome *outcome,
                             mo_error *err)
{
    mo_tets mesh;
    MO_TRY(stuff(shape, element, flat, outcome, &mesh, err));
    mo_tets_destroy(&mesh);
    return MO_OK;
}

static double longest_edge(const mo_shape *shape)
{
    mo_box3 bounds = mo_shape_bounds(shape);
    mo_vec3 size = mo_sub(bounds.hi, bounds.lo);
    return fmax(size.x, fmax(size.y, size.z));
}

enum { MOST_TRIES = 60 };

// Finds the finest element that gives few enough vertices, from coarse ones on; 0 if there is none.
static mo_status find_fewer(const mo_shape *shape, double element, bool flat, double *fits, mo_error *err)
{
    double e = two_digits(longest_edge(shape));
    *fits = 0;
    for (int i = 0; i < MOST_TRIES && e > element; i++, e = two_digits(0.8 * e)) { // half the volume
        mo_stuffing_outcome outcome;
        MO_TRY(try_element(shape, e, flat, &outcome, err));
        if (outcome == MO_STUFFED) *fits = e;
        if (outcome == MO_STUFFED_TOO_MANY) break;
    }
    return MO_OK;
}

// Finds an element, finer than the one that gave none, that gives any; 0 if there is none.
static mo_status find_finer(const mo_shape *shape, double element, bool flat, double *fits, mo_error *err)
{
    double e = two_digits(fmin(0.5 * element, longest_edge(shape)));
    mo_stuffing_outcome outcome = MO_STUFFED_NOTHING;
    *fits = 0;
    for (int i = 0; i < MOST_TRIES && e > 0 && outcome == MO_STUFFED_NOTHING; i++, e = two_digits(0.5 * e)) {
        MO_TRY(try_element(shape, e, flat, &outcome, err));
        if (outcome == MO_STUFFED) *fits = e;
    }
    return MO_OK;
}

static mo_status explain(const mo_shape *shape, double element, bool flat, mo_stuffing_outcome outcome, mo_error *err)
{
    double fits;
    const char *section = flat ? "'s section at z = 0" : "";
    if (outcome == MO_STUFFED_TOO_MANY) {
        MO_TRY(find_fewer(shape, element, flat, &fits, err));
        if (fits > 0)
            return mo_fail(err, MO_ERROR_INPUT,
                           "elements of %g m would be too many for the shape%s: more than %d vertices; %g m fits",
                           element, section, MO_TETS_MAX_VERTICES, fits);
        return mo_fail(err, MO_ERROR_INPUT,
                       "elements of %g m would be too many for the shape%s: it is too thin for a mesh of up to %d "
                       "vertices",
                       element, section, MO_TETS_MAX_VERTICES);
    }
    MO_TRY(find_finer(shape, element, flat, &fits, err));
    if (fits > 0)
        return mo_fail(err, MO_ERROR_INPUT, "no element of %g m fits into the shape%s; %g m fits", element, section,
                       fits);
    return mo_fail(err, MO_ERROR_INPUT, "no element of any size fits into the shape%s: it is empty, or too thin",
                   section);
}

// ---- Meshes of shapes ----

static mo_status stuff_shape(const mo_shape *shape, double element, bool flat, mo_tets *out, mo_error *err)
{
    mo_stuffing_outcome outcome;
    MO_TRY(stuff(shape, element, flat, &outcome, out, err));
    return outcome == MO_STUFFED ? MO_OK : explain(shape, element, flat, outcome, err);
}

// A box whose section at z = 0 is its own rectangle.
static bool is_upright(mo_vec3 size, mo_pose motion)
{
    mo_quat q = motion.rotation;
    return q.x == 0 && q.y == 0 && fabs(motion.position.z) < 0.5 * size.z;
}

static mo_status mesh_core(const mo_shape *shape, const mo_shape *core, mo_pose motion, double element, bool flat,
                           mo_tets *out, mo_error *err)
{
    mo_vec3 size;
    if (mo_shape_is_box(core, &size) && (!flat || is_upright(size, motion)))
        return mo_tets_box(size, motion, element, flat, out, err);
    if (flat) return stuff_shape(shape, element, flat, out, err); // the section is fixed in space
    MO_TRY(stuff_shape(core, element, flat, out, err));           // a shape's mesh does not depend on where it is
    move_vertices(out, motion);
    return MO_OK;
}

mo_status mo_tets_from_shape(const mo_shape *shape, double element, bool two_dimensional, mo_tets *out, mo_error *err)
{
    *out = (mo_tets){0};
    mo_check_threads();
    if (!shape) return mo_fail(err, MO_ERROR_INPUT, "no shape to mesh");
    if (!(isfinite(element) && element > 0))
        return mo_fail(err, MO_ERROR_INPUT, "element must be > 0, got %g", element);
    if (!mo_shape_is_bounded(shape))
        return mo_fail(err, MO_ERROR_INPUT, "the shape has no finite bounds (a half space?), so it has no mesh");
    mo_pose motion;
    const mo_shape *core = mo_shape_core(shape, &motion);
    if (!core) return mo_fail_memory(err);
    mo_status status = mesh_core(shape, core, motion, element, two_dimensional, out, err);
    mo_shape_release(core);
    if (status == MO_OK) MO_ASSERT_SOUND(mo_tets_fault(out));
    return status;
}
