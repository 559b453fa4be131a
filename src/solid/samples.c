// Points on the surface of a shape. An octree (of sections: a quadtree) finds the cells the surface passes through;
// each gives one point of the surface. Where the normals of neighbouring points differ a sharp feature is looked for.
// Then points that are too near to others are left out: corners stay first, then edges.
#include "solid/contact.h"
#include "solid/feature.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST_LEVEL = 4, MOST_LEVEL = 12 };
static const double RADIUS[] = {0.75, 0.5, 0.1}; // of the disc that keeps others away, in spacings, by kind

typedef struct leaf {
    int32_t c[3];
    bool good; // has a reliable point
    mo_plane plane;
    mo_feature rough; // where the planes around meet
} leaf;

typedef struct sample {
    mo_vec3 point, normal;
    int32_t leaf;
    uint8_t kind;
} sample;

typedef struct builder {
    mo_zero_level level;
    mo_vec3 origin; // of the root cell
    double cell;    // edge of the leaves
    leaf *leaves;
    int32_t leaf_count, *table, table_size;
    sample *found; // corners, edges, then smooth points
    int32_t found_count;
    sample *kept;
    int32_t kept_count;
} builder;

static mo_vec3 cell_centre(const builder *b, const int32_t c[3], double edge)
{
    mo_vec3 x = mo_mad(b->origin, edge, mo_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5));
    if (b->level.flat) x.z = 0;
    return x;
}

// Splits the cells that may hold surface, level by level, until they are small enough or too many.
static mo_status find_leaves(builder *b, double root, double spacing, int64_t most, mo_error *err)
{
    int32_t children = b->level.flat ? 4 : 8;
    double diagonal = b->level.flat ? sqrt(2) : sqrt(3);
    leaf *now = mo_calloc(sizeof *now);
    int32_t count = 1;
    b->cell = root;
    for (int level = 0; now && level < MOST_LEVEL; level++) {
        if (level >= LEAST_LEVEL && (b->cell <= 0.5 * spacing || count > 8 * most)) break;
        leaf *next = mo_alloc(sizeof *next * (size_t)children * (size_t)(count + 1));
        int32_t total = 0;
        b->cell *= 0.5;
        for (int32_t i = 0; next && i < count; i++)
            for (int32_t k = 0; k < children; k++) {
                leaf *child = &next[total];
                *child = (leaf){.c = {2 * now[i].c[0] + (k & 1), 2 * now[i].c[1] + (k >> 1 & 1), 0}};
                if (!b->level.flat) child->c[2] = 2 * now[i].c[2] + (k >> 2);
                double d = mo_shape_distance(b->level.shape, cell_centre(b, child->c, b->cell));
                total += fabs(d) <= 0.5 * diagonal * 1.01 * b->cell;
            }
        mo_free(now);
        now = next;
        count = total;
    }
    b->leaves = now;
    b->leaf_count = count;
    return now ? MO_OK : mo_fail_memory(err);
}

static void place_points(builder *b)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < b->leaf_count; i++) {
        leaf *l = &b->leaves[i];
        mo_vec3 x = cell_centre(b, l->c, b->cell);
        if (!mo_zero_level_project(&b->level, 2 * b->cell, &x)) continue;
        mo_vec3 g = mo_zero_level_gradient(&b->level, x);
        l->plane = (mo_plane){x, mo_normalize(g)};
        l->good = mo_norm(g) > 0.9; // less: on an edge, the normal says nothing
    }
}

static uint32_t slot_of(const int32_t c[3]) // well mixed, so that neighbours do not cluster
{
    uint32_t h = (uint32_t)c[0] * 0x9e3779b1u ^ (uint32_t)c[1] * 0x85ebca6bu ^ (uint32_t)c[2] * 0xc2b2ae35u;
    return h ^ h >> 15;
}

static mo_status index_leaves(builder *b, mo_error *err)
{
    b->table_size = 16;
    while (b->table_size < 2 * b->leaf_count) b->table_size *= 2;
    b->table = mo_alloc(sizeof *b->table * (size_t)b->table_size);
    if (!b->table) return mo_fail_memory(err);
    memset(b->table, 0xff, sizeof *b->table * (size_t)b->table_size);
    for (int32_t i = 0; i < b->leaf_count; i++) {
        uint32_t s = slot_of(b->leaves[i].c) & (uint32_t)(b->table_size - 1);
        while (b->table[s] >= 0) s = (s + 1) & (uint32_t)(b->table_size - 1);
        b->table[s] = i;
    }
    return MO_OK;
}

static const leaf *find_leaf(const builder *b, int32_t x, int32_t y, int32_t z)
{
    int32_t c[3] = {x, y, z};
    for (uint32_t s = slot_of(c);; s++) {
        int32_t i = b->table[s & (uint32_t)(b->table_size - 1)];
        if (i < 0) return NULL;
        if (memcmp(b->leaves[i].c, c, sizeof c) == 0) return &b->leaves[i];
    }
}

// Where the planes of a leaf and its neighbours meet; rank 1 where the surface is smooth.
static void meet_planes(builder *b)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < b->leaf_count; i++) {
        leaf *l = &b->leaves[i];
        mo_plane plane[MO_MOST_PLANES];
        int count = 0;
        for (int k = 0; k < MO_MOST_PLANES; k++) {
            const leaf *n = find_leaf(b, l->c[0] + k % 3 - 1, l->c[1] + k / 3 % 3 - 1, l->c[2] + k / 9 - 1);
            if (n && n->good) plane[count++] = n->plane;
        }
        mo_vec3 x = l->good ? l->plane.point : cell_centre(b, l->c, b->cell);
        l->rough = (mo_feature){.point = x};
        if (count > 0) l->rough = mo_feature_fit(plane, count, x);
        if (mo_norm(mo_sub(l->rough.point, x)) > 2 * b->cell) l->rough.rank = 0;
    }
}

// Whether a point would be nearer than `radius` to one of the list that faces the same way.
static bool crowded(const sample *list, int32_t count, mo_vec3 x, mo_vec3 normal, double radius)
{
    for (int32_t i = count; i-- > 0;) { // the last ones are the likeliest
        mo_vec3 d = mo_sub(list[i].point, x);
        if (mo_dot(d, d) < radius * radius && mo_dot(list[i].normal, normal) > 0.5) return true;
    }
    return false;
}

// Features first, of the highest rank first; then all smooth points.
static void collect(builder *b, double spacing)
{
    sample *failed = b->kept; // places where there is no feature: not tried again
    int32_t failures = 0;
    for (int rank = 3; rank >= 2; rank--)
        for (int32_t i = 0; i < b->leaf_count; i++) {
            const leaf *l = &b->leaves[i];
            if (l->rough.rank != rank) continue;
            double near = (rank == 3 ? 0.02 : 0.25) * spacing;
            if (crowded(b->found, b->found_count, l->rough.point, l->rough.normal, near)) continue;
            if (crowded(failed, failures, l->rough.point, l->rough.normal, 0.3 * b->cell)) continue;
            mo_feature f = mo_feature_find(&b->level, l->rough.point, 0.5 * b->cell);
            if (f.rank < 2) failed[failures++] = (sample){.point = l->rough.point, .normal = l->rough.normal};
            bool corner = f.rank == 3 || (b->level.flat && f.rank == 2);
            if (f.rank < 2 || crowded(b->found, b->found_count, f.point, f.normal, corner ? 0.1 * b->cell : near))
                continue;
            b->found[b->found_count++] = (sample){f.point, f.normal, i, corner ? MO_POINT_CORNER : MO_POINT_EDGE};
        }
    for (int32_t i = 0; i < b->leaf_count; i++)
        if (b->leaves[i].good)
            b->found[b->found_count++] =
                (sample){b->leaves[i].plane.point, b->leaves[i].plane.normal, i, MO_POINT_SMOOTH};
}

static void thin(builder *b, double spacing)
{
    b->kept_count = 0;
    for (int kind = MO_POINT_CORNER; kind >= MO_POINT_SMOOTH; kind--)
        for (int32_t i = 0; i < b->found_count; i++) {
            const sample *s = &b->found[i];
            if (s->kind != kind) continue;
            double radius = RADIUS[kind] * spacing;
            if (!crowded(b->kept, b->kept_count, s->point, s->normal, radius)) b->kept[b->kept_count++] = *s;
        }
}

static int by_leaf(const void *a, const void *b)
{
    const sample *p = a, *q = b;
    if (p->leaf != q->leaf) return p->leaf < q->leaf ? -1 : 1;
    return q->kind - p->kind;
}

// The course of an edge through p, from points of the edge on both sides.
static void follow_edge(const builder *b, double spacing, mo_vec3 p, mo_vec3 *tangent, mo_vec3 *bend)
{
    double ahead = 0.25 * spacing, radius = 0.25 * b->cell;
    mo_feature at = mo_feature_find(&b->level, p, radius), side[2];
    *tangent = at.tangent;
    *bend = mo_v3(0, 0, 0);
    for (int k = 0; k < 2; k++) {
        mo_vec3 x = mo_mad(p, k ? -ahead : ahead, at.tangent);
        side[k] = mo_feature_find(&b->level, x, radius);
        if (side[k].rank != 2 || mo_norm(mo_sub(side[k].point, x)) > 0.3 * ahead) return; // near a corner: straight
    }
    // The circle through the three.
    mo_vec3 across = mo_sub(side[0].point, side[1].point);
    mo_vec3 in = mo_sub(mo_mul(0.5, mo_add(side[0].point, side[1].point)), p);
    *tangent = mo_normalize(across);
    *bend = mo_mul(2 / (mo_dot(in, in) + 0.25 * mo_dot(across, across)), in);
}

static mo_status emit(const builder *b, double spacing, mo_samples *out, mo_error *err)
{
    size_t n = (size_t)b->kept_count;
    mo_vec3 *block = mo_calloc(sizeof(mo_vec3) * (4 * n + 1));
    out->kind = mo_alloc(n + 1);
    out->point = block;
    if (!block || !out->kind) {
        mo_samples_destroy(out);
        return mo_fail_memory(err);
    }
    out->normal = block + n, out->tangent = block + 2 * n, out->bend = block + 3 * n;
    out->count = b->kept_count;
    out->spacing = spacing;
    out->two_dimensional = b->level.flat;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t i = 0; i < out->count; i++) {
        const sample *s = &b->kept[i];
        out->point[i] = s->point;
        out->normal[i] = s->normal;
        out->kind[i] = s->kind;
        if (s->kind == MO_POINT_EDGE) follow_edge(b, spacing, s->point, &out->tangent[i], &out->bend[i]);
    }
    return MO_OK;
}

static mo_status build(builder *b, double root, double spacing, int32_t most, mo_samples *out, mo_error *err)
{
    MO_TRY(find_leaves(b, root, spacing, most, err));
    place_points(b);
    MO_TRY(index_leaves(b, err));
    meet_planes(b);
    b->found = mo_alloc(sizeof(sample) * 2 * (size_t)(b->leaf_count + 1)); // a leaf gives a feature and a point at most
    b->kept = mo_alloc(sizeof(sample) * 2 * (size_t)(b->leaf_count + 1));
    if (!b->found || !b->kept) return mo_fail_memory(err);
    spacing = fmin(spacing, 16 * b->cell); // no coarser than the tree
    spacing = fmax(spacing, b->cell);
    collect(b, spacing);
    thin(b, spacing);
    for (int trial = 0; b->kept_count > most && trial < 60; trial++) {
        spacing *= fmax(1.02, sqrt((double)b->kept_count / most));
        thin(b, spacing);
    }
    if (b->kept_count > most) b->kept_count = most; // corners first
    qsort(b->kept, (size_t)b->kept_count, sizeof *b->kept, by_leaf);
    return emit(b, spacing, out, err);
}

static mo_status create(const mo_shape *shape, bool flat, double spacing, int32_t most, mo_samples *out, mo_error *err)
{
    *out = (mo_samples){0};
    if (!mo_shape_is_bounded(shape))
        return mo_fail(err, MO_ERROR_INPUT, "the shape has no finite bounds (a half space?), so it has no samples");
    if (!(isfinite(spacing) && spacing > 0) || most < 1)
        return mo_fail(err, MO_ERROR_INPUT, "samples need a spacing > 0 and room for one, got %g and %d", spacing,
                       most);
    mo_box3 box = mo_shape_bounds(shape);
    mo_vec3 size = mo_sub(box.hi, box.lo), centre = mo_mul(0.5, mo_add(box.lo, box.hi));
    double root = 1.0371 * fmax(size.x, fmax(size.y, size.z)); // odd: faces do not lie on cell boundaries
    builder b = {.level = mo_zero_level_of(shape, flat)};
    b.origin = mo_sub(centre, mo_mul(0.5 * root, mo_v3(1, 1, 1)));
    mo_status status = root > 0 ? build(&b, root, spacing, most, out, err) : MO_OK;
    mo_free(b.leaves);
    mo_free(b.table);
    mo_free(b.found);
    mo_free(b.kept);
    return status;
}

mo_status mo_samples_create(const mo_shape *shape, double spacing, int32_t most, mo_samples *out, mo_error *err)
{
    return create(shape, false, spacing, most, out, err);
}

mo_status mo_samples_create_2d(const mo_shape *shape, double spacing, int32_t most, mo_samples *out, mo_error *err)
{
    return create(shape, true, spacing, most, out, err);
}

void mo_samples_destroy(mo_samples *s)
{
    mo_free(s->point); // one block with the others
    mo_free(s->kind);
    *s = (mo_samples){0};
}
